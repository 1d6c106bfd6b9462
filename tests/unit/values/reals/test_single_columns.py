"""Real columns of 32 bits: prices against the largest change that NumPy and pandas themselves show.

The oracle adds up real columns of 32 bits, neighbours of which differ in one row; rows that bring
running sums across powers of 2 are the worst that is known (docs/theory/tables.md, B12).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.values.reals.rounded_sums import single_rounding
from tests.unit.values.frame_prices import price_of, refusal_of

SINGLE = np.float32
REGIONS = ["north", "south"]


def table_of(rows: int, relation: str = "replace") -> Any:
    columns = {"x": lt.Real(-1, 2), "any": lt.Real(), "region": lt.Category(REGIONS)}
    return lt.Table(columns, rows=rows, relation=relation)


# What a row adds, and a sum of it; every row may have any number of the table.
FOLLOWED: dict[str, tuple[Callable[[Any], Any], float]] = {
    "astype": (lambda f: f["x"].astype(SINGLE).sum(), 3),
    "by name": (lambda f: f["x"].astype("float32").sum(), 3),
    "array": (lambda f: f["x"].to_numpy().astype(SINGLE).sum(), 3),
    "to_numpy": (lambda f: f["x"].to_numpy(dtype=SINGLE).sum(), 3),
    "np.sum": (lambda f: np.sum(f["x"].to_numpy().astype(SINGLE)), 3),
    "dtype": (lambda f: np.sum(f["x"].to_numpy(), dtype=SINGLE), 3),
    "cumsum": (lambda f: np.cumsum(f["x"].to_numpy(dtype=SINGLE))[-1], 3),
    "wide sum": (lambda f: f["x"].to_numpy(dtype=SINGLE).sum(dtype=np.float64), 3),
    "frame": (lambda f: f[["x"]].astype(SINGLE)["x"].sum(), 3),
    "named": (lambda f: f.astype({"x": "float32"})["x"].sum(), 3),
    "wide again": (lambda f: f["x"].astype(SINGLE).astype(np.float64).sum(), 3),
    "as a float": (lambda f: float(f["x"].astype(SINGLE).sum()), 3),
    "clip before": (lambda f: f["any"].clip(0, 0.7).astype(SINGLE).sum(), 0.7),
    "clip after": (lambda f: f["x"].astype(SINGLE).clip(-0.5, 1.25).sum(), 1.75),
    "np.clip": (lambda f: np.clip(f["x"].to_numpy(dtype=SINGLE), 0, 0.25).sum(), 0.25),
    "products": (lambda f: (f["x"].astype(SINGLE) * 2.5 + 1).sum(), 7.5),
    "squares": (lambda f: np.square(f["x"].to_numpy(dtype=SINGLE)).sum(), 4),
    "two columns": (
        lambda f: (f["x"].astype(SINGLE) + f["any"].clip(0, 1).astype(SINGLE)).sum(),
        4,
    ),
    "selection": (lambda f: f[f["x"] > 0.3]["x"].astype(SINGLE).sum(), 2),
    "masked": (lambda f: f["x"].to_numpy(dtype=SINGLE)[(f["x"] > 0.3).to_numpy()].sum(), 2),
}
ROWS = 300


def worst_tables(rows: int, seed: int) -> list[dict[str, Any]]:
    """Rows of which sums of 32 bits are rounded often, and in one direction."""
    rng = np.random.default_rng(seed)
    many = (
        rng.uniform(-1, 2, rows),
        2 - rng.integers(0, 4, rows) * 2.0**-23,
        np.full(rows, 2.0) * rng.integers(0, 2, rows),
        2 / 3 + rng.uniform(0, 1e-7, rows),
    )
    return [{"x": x, "any": x * 1e3, "region": rng.choice(REGIONS, rows)} for x in many]


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("name", FOLLOWED)
def test_no_price_is_below_what_a_row_changes(name: str, relation: str) -> None:
    expression, exact = FOLLOWED[name]
    if relation == "add_remove" and name == "cumsum":
        pytest.skip("there may be no last row")
    proved = price_of(expression, table_of(ROWS, relation))
    largest = 0.0
    for columns in worst_tables(ROWS, seed=len(name)):
        frame = pd.DataFrame(columns)
        before = float(expression(frame))
        for row, number in ((0, -1.0), (150, 2.0), (299, 0.3)):
            other = frame.drop(index=row) if relation == "add_remove" else frame.copy()
            if relation == "replace":
                other.loc[row, ["x", "any"]] = number, number
            largest = max(largest, abs(float(expression(other)) - before))
    assert proved >= largest
    if relation == "replace":
        assert exact <= proved * (1 + 1e-6) <= exact * 1.05


@pytest.mark.parametrize(
    "rows", [2, 3, 8, 9, 129, 1_000, pytest.param(30_000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("in_pairs", [True, False])
def test_bounds_of_sums_in_a_fixed_order_hold(rows: int, in_pairs: bool) -> None:
    add: Any = np.sum if in_pairs else (lambda x: np.cumsum(x)[-1])
    rounding = single_rounding(Fraction(1), rows, in_pairs=in_pairs, is_fixed=True)
    rng = np.random.default_rng(rows)
    for _ in range(60):
        numbers = [
            rng.random(rows),
            1 - rng.integers(0, 4, rows) * 2.0**-24,
            rng.integers(0, 2, rows) * rng.random(rows),
            rng.uniform(-1, 1, rows),
        ][rng.integers(4)].astype(SINGLE)
        other = numbers.copy()
        other[rng.integers(rows)] = SINGLE(rng.choice([0, 1, rng.random()]))
        sums = [float(add(one)) for one in (numbers, other)]
        exact = [math.fsum(one.tolist()) for one in (numbers, other)]
        assert abs(sums[0] - exact[0]) <= rounding.single
        gap = abs((sums[0] - sums[1]) - (exact[0] - exact[1]))
        assert gap <= rounding.between


def rows_across_powers_of_2(rows: int, exponent: int, times: int) -> Any:
    """Two columns whose first row is 0 and 1: each power of 2 that is passed doubles this."""
    low, high, top = SINGLE(0), SINGLE(1), 2.0**exponent
    made: list[Any] = []
    for _ in range(times):
        while high < top:
            made.append(SINGLE(min(1, top - float(high))))
            low, high = low + made[-1], high + made[-1]
        while low < top:
            made.append(SINGLE(1.48 * top * 2.0**-24))
            low, high = low + made[-1], high + made[-1]
        top *= 2
    made += [SINGLE(0)] * (rows - 1 - len(made))
    return np.array([0, *made], SINGLE), np.array([1, *made], SINGLE)


def test_running_sums_are_doubled_at_each_power_of_2_and_the_bound_knows() -> None:
    for rows, times in ((11_000, 1), (25_000, 2)):
        pair = rows_across_powers_of_2(rows, 11, times)
        assert len(pair[0]) == rows
        low, high = (float(np.cumsum(side)[-1]) for side in pair)
        assert high - low == 2**times
        rounding = single_rounding(Fraction(1), rows, in_pairs=False, is_fixed=True)
        assert high - low <= 1 + rounding.between


@pytest.mark.slow
def test_the_rounding_is_printed_and_refused_where_a_claim_has_no_room() -> None:
    table = lt.Table({"x": lt.Real(0, 1)}, rows=100_000)
    exact = lt.check_privacy(narrow, table, epsilon=1, method="alignment", floats="ideal")
    assert exact.decision == "INCONCLUSIVE"
    assert "the rounding of float sums, up to 0.036, is part of it" in str(exact)
    room = lt.check_privacy(narrow, table, epsilon=1.04, method="alignment", floats="ideal")
    assert room.decision == "YES"
    assert "the rounding of float sums, up to 0.036, included" in str(room)


@lt.mechanism
def narrow_whole(frame: Any, rng: Any) -> Any:
    return frame["x"].to_numpy().astype(np.float32).sum() + rng.laplace(scale=100)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_whole_numbers_are_exact_for_so_many_rows_only(relation: str) -> None:
    for rows, is_exact in ((167_772, True), (167_773, False)):
        table: Any = lt.Table({"x": lt.Integer(0, 100)}, rows=rows, relation=relation)
        proved = lt.check_privacy(narrow_whole, table, epsilon=2, floats="ideal")
        assert proved.decision == "YES"
        assert f"for datasets of {rows:,} records" in str(proved)
        assert (proved.largest_loss == 1) is is_exact


@lt.mechanism
def narrow(frame: Any, rng: Any) -> Any:
    return frame["x"].astype(np.float32).sum() + rng.laplace()


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a quotient in 32 bits": (lambda f: f["x"].astype(SINGLE).sum() / 300, "truediv, in 32 bits"),
    "two sums": (lambda f: f["x"].astype(SINGLE).sum() * 2, "mul, in 32 bits"),
    "a comparison of a sum": (lambda f: f["x"].astype(SINGLE).sum() > 3, "comparison, in 32"),
    "a root of a sum": (lambda f: np.sqrt(f["x"].astype(SINGLE).sum()), "sqrt, in 32 bits"),
    "too large": (lambda f: f["any"].astype(SINGLE).sum(), "may not have"),
    "a bound between": (lambda f: f["x"].astype(SINGLE).clip(0, 0.1).sum(), "32 bits do not have"),
    "a wide number": (lambda f: (f["x"].astype(SINGLE) * np.float64(2)).sum(), "not a plain"),
    "both types": (lambda f: (f["x"].astype(SINGLE) + f["x"]).sum(), "another type|other records"),
    "a comparison": (lambda f: (f["x"].astype(SINGLE) > 1).sum(), "numpy.greater"),
    "an exponential": (lambda f: np.exp(f["x"].astype(SINGLE)).sum(), "numpy.exp"),
    "where": (lambda f: f["x"].astype(SINGLE).where(f["x"] > 0, 0).sum(), "numpy.where"),
    "a loop": (lambda f: sum(f["x"].astype(SINGLE)), "a loop|iter"),
    "a list": (lambda f: sum(f["x"].to_numpy(dtype=SINGLE).tolist()), "a loop"),
    "rows": (
        lambda f: f[["x", "any"]].to_numpy(dtype=SINGLE).clip(0, 1).sum(axis=0)[0],
        r"astype|to_numpy",
    ),
    "halves": (lambda f: f["x"].astype(SINGLE).astype(np.float16).sum(), "astype"),
    "the first": (lambda f: f["x"].to_numpy(dtype=SINGLE)[0], "an index"),
    "largest": (lambda f: f["x"].to_numpy(dtype=SINGLE).max(), "max"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = REFUSED[name]
    reason = refusal_of(expression, table_of(ROWS))
    assert re.search(words, reason), reason
    assert "test_single_columns.py" in reason
