"""Loops over the groups of a frame: those above a bound, and all of declared categories."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.unit.values.frame_prices import change_of, check_price

KEYS = ["b", "a", "c"]
SMALL = lt.Table({"key": lt.Category(KEYS), "x": lt.Integer(-1, 2)}, rows=2)
LARGE = lt.Table({"key": lt.Category(KEYS), "x": lt.Integer(-3, 9)}, rows=500)


def proved(program: Any, table: lt.Table = LARGE) -> Any:
    """The price at epsilon 1 and delta 1e-6; None where it is not followed."""
    found = align(lt.mechanism(program).on_domain(table), table, Fraction(1), Fraction(1, 10**6))
    price = found.price
    is_within = price is not None and price.epsilon is not None and price.epsilon <= 1
    return price if is_within and price.delta <= Fraction(1, 10**6) else None


def sizes(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        noisy = len(group) + rng.laplace(0, 2.0)
        if noisy > 35:
            out[key] = noisy
    return out


def sums_beside(frame: Any, rng: Any) -> Any:
    out = []
    for key, group in frame.groupby(["x", "key"][1]):
        noisy = group.shape[0] + rng.laplace(0, 4.0)
        if noisy > 70:
            out.append((key, group["x"].clip(0, 5).sum() + rng.laplace(0, 20.0)))
    return out


def sums_before(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby(frame["key"]):
        noisy = len(group) + rng.laplace(0, 4.0)
        total = group["x"].clip(-3, 3).sum() + rng.laplace(0, 12.0)
        if noisy > 70:
            out[key] = (noisy, total)
    return out


def of_one_column(frame: Any, rng: Any) -> Any:
    found = {}
    for key, numbers in frame.groupby("key")["x"]:
        noisy = numbers.count() + rng.laplace(0, 2.0)
        if noisy > 35:
            found[key] = round(noisy)
    return found


def clipped_sums(low: int, high: int, scale: float) -> Any:
    """Sums of groups above a bound, each clipped, with noise of a scale."""

    def program(frame: Any, rng: Any) -> Any:
        out = {}
        for key, group in frame.groupby("key"):
            noisy = len(group) + rng.laplace(0, 4.0)
            if noisy > 70:
                out[key] = group["x"].clip(low, high).sum() + rng.laplace(0, scale)
        return out

    return program


RIGHT = [sizes, sums_beside, sums_before, of_one_column, clipped_sums(0, 5, 20.0)]


@pytest.mark.slow
@pytest.mark.parametrize("program", RIGHT)
def test_groups_above_a_bound_are_told(program: Any) -> None:
    verdict = lt.check_privacy(program, LARGE, epsilon=1, delta=1e-6, seed=1)
    assert verdict.decision == "YES", str(verdict)
    assert verdict.guarantee.kind == "proof"


@pytest.mark.slow
def test_the_delta_is_that_of_one_record_alone() -> None:
    price = proved(sums_before)
    assert float(price.delta) == pytest.approx(math.exp(-69 / 4) / 2, rel=1e-6)


def low_bound(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        noisy = len(group) + rng.laplace(0, 2.0)
        if noisy > 9:
            out[key] = noisy
    return out


def same_noise(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        noise = rng.laplace(0, 20.0)
        noisy = len(group) + noise
        if noisy > 900:
            out[key] = group["x"].clip(0, 5).sum() + noise
    return out


def of_all_rows(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        noisy = len(group) + rng.laplace(0, 4.0)
        if noisy > 70:
            out[key] = frame["x"].clip(0, 1).sum() + rng.laplace(0, 4.0)
    return out


def without_noise(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        noisy = len(group) + rng.laplace(0, 4.0)
        if noisy > 70:
            out[key] = group["x"].clip(0, 5).sum()
    return out


def count_again(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        noisy = len(group) + rng.laplace(0, 2.0)
        if noisy > 35:
            out[key] = len(group) + rng.laplace(0, 2.0)
    return out


def exact_test(frame: Any, rng: Any) -> Any:
    out = {}
    for key, group in frame.groupby("key"):
        if len(group) > 35:
            out[key] = len(group) + rng.laplace(0, 2.0)
    return out


def as_they_come(frame: Any, rng: Any) -> Any:
    out = []
    for key, group in frame.groupby("key", sort=False):
        noisy = len(group) + rng.laplace(0, 2.0)
        if noisy > 35:
            out.append((key, noisy))
    return out


# Half the noise that the clip needs, and twice the width that the noise allows.
half_noise, wide_clip = clipped_sums(0, 5, 10.0), clipped_sums(-3, 7, 20.0)
WRONG = [low_bound, half_noise, wide_clip, same_noise, of_all_rows, without_noise]


@pytest.mark.slow
@pytest.mark.parametrize("program", [*WRONG, count_again, exact_test, as_they_come])
def test_wrong_variants_have_no_such_price(program: Any) -> None:
    assert proved(program) is None


def declared(frame: Any) -> Any:
    frame["key"] = pd.Categorical(frame["key"], categories=KEYS)
    return frame.groupby("key", observed=False)


def size_in_loop(frame: Any) -> Any:
    found = {key: len(group) for key, group in declared(frame)}
    return found["a"] + 2 * found["c"]


def sum_in_loop(frame: Any) -> Any:
    total = 0
    for number, (_, group) in enumerate(declared(frame)):
        total = total + (number + 1) * group["x"].clip(0, 1).sum()
    return total


def applied(frame: Any) -> Any:
    return declared(frame)["x"].apply(lambda numbers: numbers.clip(-1, 1).sum())["c"]


def of_a_series(frame: Any) -> Any:
    sums = frame["x"].clip(-1, 1).groupby(frame["key"]).sum().reindex(KEYS, fill_value=0)
    return sums.sub(3)["b"]


def written_by_key(frame: Any) -> Any:
    sums = frame.groupby("key")["x"].sum().reindex(KEYS, fill_value=0)
    sums.at["a"] = sums.loc["a"] + 2 * sums.at["b"]
    sums.loc["c"] += 5
    return sums["a"] - sums.loc["c"]


EXPRESSIONS = [size_in_loop, sum_in_loop, applied, of_a_series, written_by_key]


@pytest.mark.slow
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_price_of_a_group_is_its_largest_change(expression: Any) -> None:
    assert change_of(expression, SMALL) > 0
    check_price(expression, SMALL)


def test_there_are_no_records_of_others() -> None:
    def all_groups(frame: Any) -> Any:
        return sum(len(group) for _, group in declared(frame))

    point = np.array([0, 5])
    assert all_groups(SMALL.frame(point, "pandas")) == 2


def of_those_that_occur(frame: Any, rng: Any) -> Any:
    return {key: len(group) + rng.laplace(0, 2.0) for key, group in frame.groupby("key")}


def half_of_declared(frame: Any, rng: Any) -> Any:
    return [len(group) + rng.laplace(0, 1.0) for _, group in declared(frame)]


def got(frame: Any, rng: Any) -> Any:
    return len(frame.groupby("key").get_group("a")) + rng.laplace(0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("program", [of_those_that_occur, half_of_declared, got, low_bound])
def test_wrong_variants_are_refuted(program: Any) -> None:
    verdict = lt.check_privacy(program, LARGE, epsilon=1, delta=0, seed=1)
    assert verdict.decision == "NO", str(verdict)
