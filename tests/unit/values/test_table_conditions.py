"""Conditions without which statements on tables are false: a program for each that breaks one.

They come from the referees of the theory (docs/theory/tables.md, B2, B6, B11 to B13); none may have
a proof below what its worst pair of tables costs. Edges beside deletions of rows are compared in
tests/unit/data/test_tables.py, drawn tables in tests/unit/privacy/samples/test_sampled_tables.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import liptest as lt
from liptest.errors import DatasetError, InputError
from liptest.privacy.proofs.prices import align
from liptest.privacy.samples.intervals import clean_draws

X = {"x": lt.Real()}
UNIT = {"x": lt.Real(0, 1)}
FIXED = lt.Table(UNIT, rows=10)
FREE = lt.Table(X, rows=10)
OPEN = lt.Table(UNIT, rows=10, relation="add_remove")
MANY = lt.Table(UNIT, rows=100_000)


def decided(program: Callable[..., Any], table: lt.Table, epsilon: float, **options: Any) -> Any:
    claim = {"epsilon": epsilon, "floats": "ideal", "seed": 1} | options
    return lt.check_privacy(lt.mechanism(program), table, **claim)


def noise(rng: Any, scale: float = 1) -> Any:
    return rng.laplace(scale=scale)


def listed(numbers: Any, rng: Any) -> list[float]:
    return [float(number + noise(rng, 2)) for number in numbers]


def between(frame: Any) -> Any:
    """Numbers of which a selection leaves some: 0 is one of the contributions."""
    numbers = frame["x"].clip(5, 6)
    return numbers[numbers > 5.5]


def bounded(frame: Any) -> Any:
    return frame["x"].clip(0, 0.1)


#: By the condition: a program that breaks it, the tables, and an epsilon that it does not have.
BROKEN: dict[str, tuple[Callable[[Any, Any], Any], lt.Table, float]] = {
    "a private number of rows after the noise": (
        lambda f, rng: (f["x"].sum() + noise(rng)) / len(f) if len(f) else 0.0,
        OPEN,
        100,
    ),
    "whole noise on a sum that is not whole": (
        lambda f, rng: f["x"].sum() + rng.geometric(0.5) - rng.geometric(0.5),
        FIXED,
        100,
    ),
    "two sums, each at its own worst": (
        lambda f, rng: [(f["x"] * sign).sum() + noise(rng) for sign in (1, -1)],
        FIXED,
        1.999,
    ),
    "a delta of what is compared": (
        lambda f, rng: bool(f["x"].sum() + noise(rng) < 5),
        FIXED,
        0.5,
    ),
    "a jump": (lambda f, rng: bool(rng.random() < (0.9 if f["x"].sum() > 5 else 0.1)), FIXED, 2.19),
    "a tie": (lambda f, rng: bool(f["x"].sum() + noise(rng) < 5), FIXED, 0.9999),
    "a square of a sum": (
        lambda f, rng: int(rng.choice(3, p=_shares(f["x"].mean()))),
        lt.Table(UNIT, rows=1),
        0.07,
    ),
    "a scale of the data": (
        lambda f, rng: bool(f["x"].sum() + (1 + f["x"].sum() / 10) * noise(rng) < 5),
        FIXED,
        1.0,
    ),
    "a sum of selected rows": (lambda f, rng: between(f).sum() + noise(rng), FREE, 5.999),
    "a mean of selected rows": (lambda f, rng: between(f).mean() + noise(rng), FREE, 5.0),
    "a mean of rows that come and go": (lambda f, rng: f["x"].mean() + noise(rng, 10), OPEN, 0.099),
    "whether there are rows": (lambda f, rng: "none" if f.empty else "some", OPEN, 100),
    "no rows to divide by": (lambda f, rng: 1 / len(f) > 2, OPEN, 100),
    "which row is the first": (lambda f, rng: float(f["x"].iloc[0]) > 0.5, FIXED, 100),
    "an order of rows": (
        lambda f, rng: (f["x"] > 0.5).tolist() == [True] + [False] * 9,
        FIXED,
        100,
    ),
    "rows that come and go in any place": (
        lambda f, rng: (f["x"] > 0.5).tolist() == [True, False, False],
        OPEN,
        100,
    ),
    "as many counts as the data have": (
        lambda f, rng: listed(np.bincount(f["x"].clip(0, 5).astype(int)), rng),
        FREE,
        100,
    ),
    "shares of rows in bins": (
        lambda f, rng: listed(np.histogram(f["x"], bins=[0, 0.5, 1], density=True)[0], rng),
        OPEN,
        100,
    ),
    "edges of the data": (lambda f, rng: listed(np.histogram(f["x"], bins=4)[0], rng), FREE, 1.0),
    "float32, whose clip is larger": (
        lambda f, rng: float(bounded(f.astype(np.float32)).sum()) + noise(rng, 0.1),
        MANY,
        1.0,
    ),
    "a running sum of float32": (
        lambda f, rng: float(np.cumsum(f["x"].to_numpy(dtype=np.float32))[-1]) + noise(rng),
        MANY,
        1.0,
    ),
    "a sum of float32 by dtype=": (
        lambda f, rng: float(np.sum(f["x"].to_numpy(), dtype=np.float32)) + noise(rng),
        MANY,
        1.0,
    ),
    "a running sum": (lambda f, rng: float(np.cumsum(f["x"].to_numpy())[-1]) + noise(rng), MANY, 1),
    "a sum in the other order of bytes": (
        lambda f, rng: float(f["x"].to_numpy().astype(">f8").sum()) + noise(rng),
        MANY,
        1.0,
    ),
    "a sum along an axis": (lambda f, rng: f[["x"]].to_numpy().sum(axis=0) + noise(rng), MANY, 1.0),
    "numbers without ends": (lambda f, rng: f["x"].sum() / 1e308 + noise(rng), FREE, 1.0),
}


def _shares(mean: Any) -> list[Any]:
    small = mean * mean - mean + 0.26
    return [0.5, 0.5 - small / 2, small / 2]


@pytest.mark.slow
@pytest.mark.parametrize("condition", BROKEN)
def test_what_breaks_a_condition_has_no_proof(condition: str) -> None:
    program, table, epsilon = BROKEN[condition]
    delta = 1e-3 if condition == "a delta of what is compared" else 0.0
    verdict = decided(program, table, epsilon, delta=delta, method="alignment")
    assert verdict.decision != "YES", str(verdict)


#: Of those above, what is refuted: two tables are shown.
REFUTED = (
    *("two sums, each at its own worst", "a jump", "a tie", "a scale of the data"),
    *("a sum of selected rows", "whether there are rows", "no rows to divide by"),
    *("as many counts as the data have", "edges of the data", "which row is the first"),
    "a private number of rows after the noise",
)


@pytest.mark.slow
@pytest.mark.parametrize("condition", REFUTED)
def test_two_tables_show_it(condition: str) -> None:
    program, table, epsilon = BROKEN[condition]
    verdict = decided(program, table, epsilon)
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(program).on_domain(table))


def _largest(h: Callable[[float], float], top: float, step: float) -> float:
    """Of a concave function: by how much it changes within a step, at its ends."""
    return max(abs(h(0) - h(step)), abs(h(top) - h(top - step)))


def _log_normal(z: float) -> float:
    return math.log(math.erfc(-z / math.sqrt(2)) / 2)


def _log_logistic(z: float) -> float:
    return -math.log1p(math.exp(-z))


#: Programs of sums in [0, rows] that are compared with noise, and their largest losses.
COMPARED: dict[str, tuple[Callable[[Any, Any], Any], int, float]] = {
    "laplace": (lambda f, rng: bool(f["x"].sum() + rng.laplace() < 5), 10, 1.0),
    "logistic": (
        lambda f, rng: bool(f["x"].sum() + rng.logistic() < 5),
        10,
        _largest(lambda s: _log_logistic(5 - s), 10, 1),
    ),
    "normal": (
        lambda f, rng: bool(f["x"].sum() + rng.normal() < 1.5),
        3,
        _largest(lambda s: _log_normal(1.5 - s), 3, 1),
    ),
    "coin": (lambda f, rng: bool(rng.random() < 0.2 + 0.6 * f["x"].mean()), 2, math.log(2.5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", COMPARED)
def test_the_largest_loss_of_a_compared_sum_is_found_to_nine_digits(family: str) -> None:
    program, rows, loss = COMPARED[family]
    table = lt.Table(UNIT, rows=rows)
    proved = decided(program, table, loss * 1.0001)
    assert proved.decision == "YES", str(proved)
    assert proved.largest_loss == pytest.approx(loss, abs=1e-9)
    refuted = decided(program, table, loss * 0.9999)
    assert refuted.decision == "NO", str(refuted)
    assert refuted.witness is not None
    assert refuted.witness.loss == pytest.approx(loss, abs=1e-9)


@pytest.mark.slow
def test_a_sum_of_selected_rows_costs_the_hull_with_nothing() -> None:
    proved = decided(lambda f, rng: between(f).sum() + noise(rng, 6), FREE, 1 + 1e-9)
    assert proved.decision == "YES", str(proved)


@pytest.mark.slow
def test_whole_numbers_have_no_rounding() -> None:
    table = lt.Table({"n": lt.Integer(0, 100)}, rows=100_000)
    proved = decided(lambda f, rng: f["n"].sum() + noise(rng, 100), table, 1.0, tolerance=0.0)
    assert proved.decision == "YES", str(proved)
    assert proved.largest_loss == 1.0


def test_no_number_is_nan() -> None:
    for ends in ((math.nan, 1), (0, math.nan), (0, math.inf)):
        with pytest.raises(InputError):
            lt.Real(*ends)
    with pytest.raises(DatasetError):
        FIXED.encode({"x": [math.nan] * 10})


def test_draws_are_rounded_up() -> None:
    for mass, failure in ((0.01, 1e-6), (0.5, 0.5), (1e-9, 0.1)):
        draws = clean_draws(mass, failure)
        assert draws * math.log1p(-mass) <= math.log(failure) < (draws - 1) * math.log1p(-mass)


def in_a_small_interval(frame: Any, rng: Any) -> Any:
    there = ((frame["x"] >= 0.5) & (frame["x"] <= 0.5 + 2.0**-40)).sum()
    return "there" if there > 0 else noise(rng)


@pytest.mark.slow
def test_an_interval_that_no_draw_meets_is_seen() -> None:
    """Of drawn tables all real neighbours are proved, not only some."""
    drawn = lt.SampledDistribution.of_tables(FIXED, lambda rng: {"x": rng.random(10)})
    settings: dict[str, Any] = {"exception_mass": 0.3, "failure_probability": 0.1}
    for program, decision in (
        (in_a_small_interval, "INCONCLUSIVE"),
        (lambda f, rng: f["x"].sum() + noise(rng), "YES"),
    ):
        options = {"method": "neighbourhoods", "search_laws": 0, **settings}
        verdict = lt.check_privacy(
            lt.mechanism(program), drawn, epsilon=1.0001, floats="ideal", **options
        )
        assert verdict.decision == decision, str(verdict)


SAME_SUMS: dict[str, Any] = {
    "a group": lambda f: f.groupby("one")["x"].sum().reindex(["a"], fill_value=0)["a"],
    "a selection": lambda f: f[f["one"] == "a"]["x"].sum(),
    "a running sum": lambda f: np.cumsum(f["x"].to_numpy())[-1],
    "a loop": lambda f: sum(f["x"].tolist()),
    "by a type": lambda f: np.sum(f["x"].to_numpy(), dtype=np.float64),
    "in pairs": lambda f: f["x"].sum(),
    "32 bits": lambda f: f["x"].astype(np.float32).sum(),
    "32 bits, one by one": lambda f: np.cumsum(f["x"].to_numpy(dtype=np.float32))[-1],
    "32 bits, by a type": lambda f: np.sum(f["x"].to_numpy(), dtype=np.float32),
}


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [*combinations(SAME_SUMS, 2)])
def test_sums_in_two_orders_do_not_cancel(one: str, other: str) -> None:
    table: Any = lt.Table({"x": lt.Real(0, 1), "one": lt.Category(["a", "b"])}, rows=1_000)

    def released(frame: Any, rng: Any) -> Any:
        gap = float(SAME_SUMS[one](frame)) - float(SAME_SUMS[other](frame))
        return gap + rng.laplace(scale=1e-14)

    found = align(lt.mechanism(released).on_domain(table), table)
    assert found.price is None or found.epsilon > 100


@pytest.mark.slow
def test_two_sums_of_polars_do_not_cancel() -> None:
    table: Any = lt.Table({"x": lt.Real(0, 1), "one": lt.Category(["a", "b"])}, rows=1_000)

    def released(frame: Any, rng: Any) -> Any:
        chosen = pl.col("one") == "a"
        first = frame.filter(chosen).select(pl.col("x").sum()).item()
        return first - frame.select(pl.col("x").filter(chosen).sum()).item() + rng.laplace(0, 1e-14)

    found = align(lt.mechanism(released, frame="polars").on_domain(table), table)
    assert found.price is not None
    assert found.epsilon > 100


@pytest.mark.slow
def test_sums_over_users_in_two_orders_do_not_cancel() -> None:
    columns = {"x": lt.Real(0, 1), "who": lt.Key()}
    table: Any = lt.Table(columns, rows=1_000, unit="who", at_most=3)

    def released(frame: Any, rng: Any) -> Any:
        first = frame.groupby("who")["x"].sum().clip(0, 1).sum()
        second = frame.groupby("who", sort=False)["x"].sum().clip(0, 1).sum()
        return first - second + rng.laplace(scale=1e-14)

    found = align(lt.mechanism(released).on_domain(table), table)
    assert found.price is not None
    assert found.epsilon > 100
