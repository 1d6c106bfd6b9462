"""Rows of 32 bits and their sums, against NumPy; sums in another order are other numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from tests.unit.values.frame_prices import aligned, price_of, refusal_of

PAIR = ["a", "b"]
COLUMNS = {"a": lt.Real(0, 1), "b": lt.Real(-2, 3), "m": lt.Bit()}
TABLE = lt.Table(COLUMNS, rows=40)
SINGLE = np.float32


def rows_of(frame: Any) -> Any:
    return frame[PAIR].to_numpy(dtype=SINGLE)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda f: tuple(rows_of(f).sum(axis=0)),
    "cast": lambda f: tuple(f[PAIR].to_numpy().astype(SINGLE).sum(axis=0)),
    "frame cast": lambda f: tuple(f[PAIR].astype("float32").to_numpy().sum(axis=0)),
    "copied": lambda f: tuple(rows_of(f).copy().sum(axis=0)),
    "clipped": lambda f: tuple(np.clip(rows_of(f), -0.5, 0.5).sum(axis=0)),
    "scaled": lambda f: tuple((rows_of(f) * 0.25 + 1).sum(axis=0)),
    "some": lambda f: tuple(rows_of(f)[(f["m"] == 1).to_numpy()].sum(axis=0)),
    "each": lambda f: (rows_of(f)[:, 0].sum(), rows_of(f)[:, 1].sum()),
    "mean": lambda f: tuple(rows_of(f).mean(axis=0)),
    "in 64 bits": lambda f: tuple(rows_of(f).sum(axis=0, dtype=np.float64)),
    "back to 64 bits": lambda f: tuple(rows_of(f).astype(np.float64).sum(axis=0)),
}


def largest_change(program: Callable[[Any], Any]) -> float:
    """Of the sum of both numbers, over many tables and rows at the ends of the columns."""
    rng, largest = np.random.default_rng(5), 0.0
    for _ in range(60):
        table = {"a": rng.random(40), "b": rng.uniform(-2, 3, 40), "m": rng.integers(0, 2, 40)}
        place = int(rng.integers(40))
        found = []
        for a, b, m in ((0, -2, 1), (1, 3, 1), (1, -2, 0), (0, 3, 0)):
            frame = pd.DataFrame(table)
            frame.loc[place, ["a", "b"]] = a, b
            frame.loc[place, "m"] = m
            found.append([float(one) for one in program(frame)])
        largest = max(*(abs(x[0] - y[0]) + abs(x[1] - y[1]) for x in found for y in found), largest)
    return largest


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_price_is_above_the_largest_change_and_near_it(name: str) -> None:
    proved, change = price_of(PROGRAMS[name], TABLE), largest_change(PROGRAMS[name])
    assert change <= proved <= 1.001 * change


@pytest.mark.slow
def test_the_price_holds_the_rounding() -> None:
    table = lt.Table({"a": lt.Real(0, 1), "b": lt.Real(0, 1)}, rows=2_000)
    price = price_of(lambda f: tuple(rows_of(f).sum(axis=0)), table)
    assert 2.4 < price < 2.5  # in any order; pandas itself adds a frame up pairwise


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "64 bits, copied": lambda f: (
        f[PAIR].to_numpy().sum(axis=0)[0] - f[PAIR].to_numpy().copy().sum(axis=0)[0]
    ),
    "a column": lambda f: (
        f[PAIR].to_numpy().copy().sum(axis=0)[0] - f[PAIR].to_numpy().copy()[:, 0].sum()
    ),
    "fewer columns": lambda f: (
        f[PAIR].to_numpy().copy().sum(axis=0)[0] - f[["a"]].to_numpy().copy().sum(axis=0)[0]
    ),
    "chosen columns": lambda f: (
        f[PAIR].to_numpy().sum(axis=0)[0] - f[PAIR].to_numpy()[:, [0]].sum(axis=0)[0]
    ),
    "32 bits": lambda f: float(rows_of(f).sum(axis=0)[0]) - float(rows_of(f).copy().sum(axis=0)[0]),
    "32 bits, a column": lambda f: float(rows_of(f).sum(axis=0)[0]) - float(rows_of(f)[:, 0].sum()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_sums_of_numbers_that_lie_otherwise_in_memory_are_not_the_same(name: str) -> None:
    assert aligned(LAYOUTS[name], TABLE).epsilon > 0.1


@pytest.mark.slow
def test_the_same_sum_is_the_same_number() -> None:
    rows: Callable[[Any], Any] = lambda f: f[PAIR].to_numpy().sum(axis=0)[0]  # noqa: E731
    assert price_of(lambda f: rows(f) - rows(f) + f["m"].sum(), TABLE) == 1


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "norms": (lambda f: np.linalg.norm(rows_of(f), axis=1), r"use \.astype\(np\.float64\)"),
    "sums of rows": (lambda f: rows_of(f).sum(axis=1), r"single columns and \.sum\(axis=0\)"),
    "rows times rows": (lambda f: rows_of(f) * rows_of(f), r"not a plain number"),
    "single rows": (lambda f: rows_of(f)[0], r"an index but of one column"),
    "another type": (lambda f: rows_of(f).astype(np.float16), r"astype\(float16\)"),
    "two types": (lambda f: f.astype({"a": "float32"})[PAIR].to_numpy(), r"\.to_numpy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_all_else_is_refused_with_what_to_write(name: str) -> None:
    expression, words = REFUSED[name]
    assert re.search(words, refusal_of(expression, TABLE))


@pytest.mark.slow
def test_a_running_sum_of_rows_is_refuted() -> None:
    table = lt.Table({"a": lt.Real(0, 1), "b": lt.Real(0, 1)}, rows=100_000)

    def program(frame: Any, rng: Any) -> Any:
        return rows_of(frame).copy().sum(axis=0) + rng.laplace(scale=2.1, size=2)

    verdict = lt.check_privacy(lt.mechanism(program), table, epsilon=1, floats="ideal")
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss < 2
