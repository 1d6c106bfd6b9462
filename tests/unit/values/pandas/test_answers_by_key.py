"""Counts by key that a program asks for by name: ``value_counts().get(k, 0)``, ``[k]``, ``in``."""

# ruff: noqa: SIM401

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import change_of, check_price

KEYS = ["b", "a", "c"]
SMALL = lt.Table({"key": lt.Category(KEYS), "x": lt.Integer(0, 2)}, rows=2)
LARGE = lt.Table({"key": lt.Category(KEYS), "x": lt.Integer(0, 9)}, rows=500)


def entry_if_in(frame: Any) -> Any:
    counts = frame["key"].value_counts()
    return counts["b"] if "b" in counts else 0


def entry_if_in_index(frame: Any) -> Any:
    counts = frame["key"].value_counts()
    return counts.loc["b"] if "b" in counts.index else 0


def entry_of_dict(frame: Any) -> Any:
    return frame["key"].value_counts().to_dict().get("b", 0)


def entry_of_dict_if_in(frame: Any) -> Any:
    sums = dict(frame.groupby("key")["x"].sum())
    return sums["c"] if "c" in sums else 0


def two_entries(frame: Any) -> Any:
    sums = frame.groupby("key")["x"].sum().to_dict()
    return sums.get("a", 0) + 3 * sums.get("c", 0)


def of_sizes(frame: Any) -> Any:
    return frame.groupby("key").size().sort_index().get("b", 0)


def of_a_list(frame: Any) -> Any:
    return Counter(frame["key"].tolist())["b"] + 2 * frame["key"].tolist().count("c")


def how_many(frame: Any) -> Any:
    return len(frame["key"].value_counts()) + 3 * len(frame.groupby("x").size())


EXPRESSIONS = [of_a_list, entry_if_in, entry_if_in_index, entry_of_dict, entry_of_dict_if_in]


@pytest.mark.parametrize(
    "expression", mostly_slow([*EXPRESSIONS, two_entries, of_sizes, how_many], 3)
)
def test_price_of_a_named_entry_is_its_largest_change(expression: Any) -> None:
    assert change_of(expression, SMALL) > 0
    check_price(expression, SMALL)


def one_entry(frame: Any, rng: Any) -> Any:
    return frame["key"].value_counts()["b"] + rng.laplace(0, 1)


def all_entries(frame: Any, rng: Any) -> Any:
    counts = frame["key"].value_counts()
    return {key: counts.loc[key] + rng.laplace(0, 2) for key in KEYS}


def half_noise(frame: Any, rng: Any) -> Any:
    counts = frame["key"].value_counts()
    return [(counts[key] if key in counts else 0) + rng.laplace(0, 1) for key in KEYS]


def missing_told(frame: Any, rng: Any) -> Any:
    counts = frame["key"].value_counts()
    return [(counts[key] if key in counts else 10) + rng.laplace(0, 2) for key in KEYS]


def is_there(frame: Any, rng: Any) -> Any:
    return "b" in frame["key"].value_counts().to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("program", [one_entry, all_entries, half_noise, missing_told, is_there])
def test_wrong_variants_are_refuted(program: Any) -> None:
    verdict = lt.check_privacy(program, LARGE, epsilon=1, seed=1)
    assert verdict.decision == "NO", str(verdict)


def above_a_bound(frame: Any, rng: Any) -> Any:
    out = {}
    for key, size in frame["key"].value_counts().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out[key] = noisy
    return out


def above_by_key(frame: Any, rng: Any) -> Any:
    out = []
    for key, size in frame["key"].value_counts(sort=False).sort_index().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out.append((key, noisy))
    return out


def above_in_order(frame: Any, rng: Any) -> Any:
    out = []
    for key, size in frame["key"].value_counts().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out.append((key, noisy))
    return out


def above_a_low_bound(frame: Any, rng: Any) -> Any:
    counts = frame["key"].value_counts()
    return {key: n for key, size in counts.items() if (n := size + rng.laplace(0, 2)) > 5}


@pytest.mark.slow
@pytest.mark.parametrize("program", [above_a_bound, above_by_key])
def test_values_above_a_bound_are_told(program: Any) -> None:
    verdict = lt.check_privacy(program, LARGE, epsilon=1, delta=1e-6, seed=1)
    assert verdict.decision == "YES", str(verdict)
    assert verdict.guarantee.kind == "proof"


@pytest.mark.slow
@pytest.mark.parametrize("program", [above_in_order, above_a_low_bound])
def test_values_told_in_the_order_of_their_counts_have_no_price(program: Any) -> None:
    found = align(lt.mechanism(program).on_domain(LARGE), LARGE, Fraction(1), Fraction(1, 10**6))
    assert found.price is None or found.price.delta > Fraction(1, 10**6)
