"""Counts that are walked in an order of their own: sorted keys, ``most_common``; the delta."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align
from tests.told_groups import check_delta
from tests.unit.enumerate.folded.test_passing import SMALL

Told = Callable[[Any, Any], Any]


def sorted_items(scale: float, bound: float) -> Told:
    def told(data: Any, rng: Any) -> Any:
        out = []
        for key, count in sorted(Counter(data.tolist()).items()):
            noisy = count + rng.laplace(0, scale)
            if noisy > bound:
                out.append((key, noisy))
        return out

    return told


def sorted_keys(scale: float, bound: float) -> Told:
    def told(data: Any, rng: Any) -> Any:
        counts: dict[int, int] = defaultdict(int)
        for one in data.tolist():
            counts[one] += 1
        out = {}
        for key in sorted(counts, reverse=True):
            noisy = counts[key] + rng.laplace(0, scale)
            if noisy > bound:
                out[key] = noisy
        return out

    return told


def most_common(scale: float, bound: float) -> Told:
    def told(data: Any, rng: Any) -> Any:
        out = {}
        for key, count in Counter(data.tolist()).most_common():
            noisy = count + rng.laplace(0, scale)
            if noisy > bound:
                out[key] = noisy
        return out

    return told


MADE = [sorted_items, sorted_keys, most_common]


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize(("scale", "bound"), [(1.0, 6.0), (4.0, 6.0)])
def test_no_delta_is_below_the_exact_one(make: Any, scale: float, bound: float) -> None:
    epsilon = Fraction(2) / Fraction(scale)
    found = align(lt.mechanism(make(scale, bound)), SMALL, epsilon, Fraction(9, 10))
    check_delta(found, scale, bound, float(epsilon))


def largest_two(data: Any, rng: Any) -> Any:
    out = {}
    for key, count in Counter(data.tolist()).most_common(2):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            out[key] = noisy
    return out


def largest_first(data: Any, rng: Any) -> Any:
    out = []
    for key, count in Counter(data.tolist()).most_common():
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            out.append(key)
    return out


def by_count(data: Any, rng: Any) -> Any:
    out = []
    for key, count in sorted(Counter(data.tolist()).items(), key=lambda pair: pair[1]):
        noisy = count + rng.laplace(0, 2.0)
        if noisy > 40:
            out.append(key)
    return out


def keys_told(data: Any, rng: Any) -> Any:
    return [key for key in sorted(Counter(data.tolist()))]  # noqa: C416


def all_told(data: Any, rng: Any) -> Any:
    return sorted(Counter(data.tolist()).items())


def copied_and_told(data: Any, rng: Any) -> Any:
    return {key: count for key, count in Counter(data.tolist()).items()}  # noqa: C416


def all_told_with_noise(data: Any, rng: Any) -> Any:
    return [count + rng.laplace(0, 2.0) for _, count in sorted(Counter(data.tolist()).items())]


TELLING = [largest_two, largest_first, by_count, keys_told]
TELLING += [all_told, copied_and_told, all_told_with_noise]


@pytest.mark.parametrize("function", TELLING)
def test_what_tells_which_counts_are_large_is_refused(function: Told) -> None:
    assert isinstance(lt.mechanism(function).on_domain(SMALL).align_paths(SMALL), NoPaths)


LARGE = lt.RecordGrid([4] * 2000)


@pytest.mark.slow
@pytest.mark.parametrize("make", MADE)
def test_they_are_decided_at_any_size(make: Any) -> None:
    right = lt.check_privacy(make(2.0, 35.0), LARGE, epsilon=1, delta=1e-6, seed=1)
    assert (right.decision, right.guarantee.kind) == ("YES", "proof"), str(right)
    wrong = lt.check_privacy(make(2.0, 35.0), LARGE, epsilon=1, delta=1e-12, seed=1)
    assert wrong.decision == "NO", str(wrong)
