"""``pandas.cut`` with numbers of bins, and functions that are applied to each noisy number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from tests.unit.values.frame_prices import reason_of

AGES = lt.Table({"age": lt.Integer(0, 9), "region": lt.Category(["a", "b"])}, rows=500)
COMING = lt.Table(
    {"age": lt.Integer(0, 9), "region": lt.Category(["a", "b"])}, rows=500, relation="add_remove"
)
CUTS: dict[str, tuple[list[float], dict[str, Any]]] = {
    "right": ([-1, 3, 6, 9], {}),
    "left": ([0, 3, 6, 10], {"right": False}),
    "with the lowest": ([0, 3.5, 9], {"include_lowest": True}),
    "left, with the lowest": ([0, 3, 6, 10], {"right": False, "include_lowest": True}),
    "one bin": ([-1, 20], {}),
}


def price(function: Any, table: Any) -> float:
    verdict = lt.check_privacy(
        lt.mechanism(function), table, epsilon=100, floats="ideal", method="alignment"
    )
    return float(verdict.largest_loss)


@pytest.mark.parametrize("name", CUTS)
def test_numbers_of_bins_are_those_of_pandas(name: str) -> None:
    edges, options = CUTS[name]
    weights = np.array([0, 1, 10, 100])

    def weigh(frame: Any, rng: Any) -> Any:
        bins = pd.cut(frame["age"], bins=edges, labels=False, **options)
        total = sum(int(weight) * (bins == place).sum() for place, weight in enumerate(weights))
        return total + rng.laplace(0, 1)

    own = weights[pd.cut(np.arange(10), edges, labels=False, **options)]
    assert math.isclose(price(weigh, AGES), own.max() - own.min(), abs_tol=1e-9)


def outside(frame: Any, rng: Any) -> Any:
    return pd.cut(frame["age"], bins=[0, 5, 9], labels=False).sum() + rng.laplace(0, 1)


def above_all(frame: Any, rng: Any) -> Any:
    bins = pd.cut(frame["age"], [0, 3, 9], right=False, labels=False, include_lowest=True)
    return bins.sum() + rng.laplace(0, 1)


@pytest.mark.parametrize("program", [outside, above_all])
def test_entries_outside_of_all_bins_are_refused(program: Any) -> None:
    assert "outside of all bins" in reason_of(lt.mechanism(program), AGES)


def highest_edge(frame: Any, rng: Any) -> Any:
    named = pd.cut(frame["age"], [0, 3, 9], right=False, labels=["a", "b"], include_lowest=True)
    return (named == "b").sum() - (frame["age"] >= 3).sum() + rng.laplace(0, 1)


@pytest.mark.slow
def test_the_highest_edge_is_in_no_bin_that_is_closed_on_the_left() -> None:
    """``include_lowest`` of pandas is about the lowest edge alone."""
    ages = pd.Series([0, 3, 8, 9])
    named = pd.cut(ages, [0, 3, 9], right=False, labels=["a", "b"], include_lowest=True)
    assert named.isna().tolist() == [False, False, False, True]
    assert price(highest_edge, AGES) == pytest.approx(1)


def noisy(value: Any, scale: float) -> Any:
    return value + np.random.laplace(loc=0, scale=scale)


def cross_table(scale: float) -> Any:
    def release(frame: Any) -> Any:
        counts = pd.crosstab(frame["region"], frame["age"])
        counts = counts.reindex(index=["a", "b"], columns=range(10), fill_value=0)
        return counts.map(lambda v: noisy(v, scale)).to_numpy().tolist()

    return release


def series(scale: float) -> Any:
    def release(frame: Any) -> Any:
        counts = frame["region"].value_counts().reindex(["a", "b"], fill_value=0)
        doubled = counts.map(lambda v: 2 * v)
        return doubled.apply(lambda v: noisy(v, scale)).apply(lambda v: round(v, 1)).to_dict()

    return release


@pytest.mark.slow
@pytest.mark.parametrize("program", [cross_table(0.5), series(1.0)])
def test_functions_are_applied_to_each_count(program: Any) -> None:
    assert price(program, COMING) == pytest.approx(2)
    assert price(program, AGES) == pytest.approx(4)


def names(frame: Any) -> Any:
    counts = frame["region"].value_counts().reindex(["a", "b"], fill_value=0)
    return counts.apply(lambda v: "many").to_dict()


def test_other_results_are_refused() -> None:
    assert "other things than numbers" in reason_of(lt.mechanism(names), AGES)
