"""Groups whose noisy size is large are told: the delta, by exact laws of small tables."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.told_groups import check_delta, check_has_no_such_price

KEYS = ["b", "a", "c"]
SMALL = lt.Table({"key": lt.Category(KEYS)}, rows=3)
LARGE = lt.Table(
    {"key": lt.Category(KEYS), "age": lt.Integer(17, 90), "hours": lt.Integer(1, 99)}, rows=500
)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "bound"), [(1.0, 6.0), (2.0, 15.0), (4.0, 6.0)])
def test_no_delta_is_below_the_exact_one(scale: float, bound: float) -> None:
    epsilon = Fraction(2) / Fraction(scale)
    mechanism = lt.mechanism(telling(scale, bound)).on_domain(SMALL)
    found = align(mechanism, SMALL, epsilon, Fraction(9, 10))
    check_delta(found, scale, bound, float(epsilon))


def by_name(frame: Any, rng: Any) -> Any:
    out = {}
    for key, size in frame.groupby("key").size().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out[key] = round(noisy)
    return out


def by_number(frame: Any, rng: Any) -> Any:
    sizes = frame[frame["hours"] > 20].groupby("age").size()
    return {f"age {age}": n for age, size in sizes.items() if (n := size + rng.laplace(0, 2)) > 35}


def in_a_list(frame: Any, rng: Any) -> Any:
    out = []
    for key, size in frame.groupby(["key"]).size().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out.append((key, noisy))
    return out


def telling(scale: float, bound: float) -> Any:
    def told(frame: Any, rng: Any) -> Any:
        out = {}
        for key, size in frame.groupby("key").size().items():
            noisy = size + rng.laplace(0, scale)
            if noisy > bound:
                out[key] = noisy
        return out

    return told


def without_bound(frame: Any, rng: Any) -> Any:
    out = {}
    for key, size in frame.groupby("key").size().items():
        out[key] = size + rng.laplace(0, 2.0)
    return out


def exact_test(frame: Any, rng: Any) -> Any:
    out = {}
    for key, size in frame.groupby("key").size().items():
        noisy = size + rng.laplace(0, 2.0)
        if size > 35:
            out[key] = noisy
    return out


def sums(frame: Any, rng: Any) -> Any:
    out = {}
    for key, size in frame.groupby("key")["age"].sum().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 135:
            out[key] = noisy
    return out


def as_they_come(frame: Any, rng: Any) -> Any:
    out = []
    for key, size in frame.groupby("key", sort=False).size().items():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out.append((key, noisy))
    return out


def told_twice(frame: Any, rng: Any) -> Any:
    return by_name(frame, rng), by_name(frame, rng)


@pytest.mark.slow
@pytest.mark.parametrize("program", [by_name, by_number, in_a_list])
def test_groups_above_a_bound_are_told(program: Any) -> None:
    verdict = lt.check_privacy(program, LARGE, epsilon=1, delta=1e-6, seed=1)
    assert verdict.decision == "YES", str(verdict)
    assert verdict.guarantee.kind == "proof"


WRONG = {
    **{"low bound": telling(2.0, 10.0), "small noise": telling(1.9, 35.0)},
    **{"without bound": without_bound, "exact test": exact_test, "sums": sums},
    **{"as they come": as_they_come, "told twice": told_twice},
}


@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_wrong_variants_have_no_such_price(program: Any) -> None:
    check_has_no_such_price(program, LARGE)
