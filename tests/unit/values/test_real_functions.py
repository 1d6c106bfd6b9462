"""Functions, bins and statements in place of real columns, against NumPy on many rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import price_of, refusal_of

COLUMNS: dict[str, Any] = {"x": lt.Real(-3, 4), "z": lt.Real(0.5, 2), "w": lt.Real(), "m": lt.Bit()}
TABLE: Any = lt.Table(COLUMNS, rows=2)
XS = np.unique([-3.0, 4.0, 0.0, -0.0, *np.linspace(-3, 4, 57), *np.nextafter([-1, 1, 2, 3], -9)])
ZS = np.linspace(0.5, 2, 4)
WS = (-1e300, -2.0, 0.0, 1.0, 1e300)
ROWS = [(x, ZS[k % 4], WS[k % 5], m) for k, x in enumerate([*XS, *XS[::-1]]) for m in (0, 1)]


def x_of(frame: Any) -> Any:
    return frame["x"].to_numpy()


def rows_of(frame: Any) -> Any:
    return frame[["x", "z"]].to_numpy()


def sigmoid(frame: Any) -> Any:
    return 1 / (1 + np.exp(-frame["w"].to_numpy()))


def in_place(frame: Any) -> Any:
    made = x_of(frame) + 1
    made *= 2
    made -= frame["m"].to_numpy()
    return made.sum()


def rows_in_place(frame: Any) -> Any:
    rows = rows_of(frame) * 2
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return tuple(rows.sum(axis=0))


def joined_before(frame: Any) -> Any:
    made = x_of(frame) + 1
    both = np.column_stack([x_of(frame), made])
    made *= 9
    return both[:, 1].sum()


def with_another_name(frame: Any) -> Any:
    made = x_of(frame) + 1
    other = made
    other *= 2
    return made.sum()


def logistic_gradient(frame: Any) -> Any:
    rows = frame[["w", "x"]].to_numpy()
    chances = 1 / (1 + np.exp(-(rows @ np.array([0.0, 1.0]))))
    gradients = (chances - frame["m"].to_numpy())[:, None] * np.clip(rows, -1, 1)
    return tuple(gradients.sum(axis=0))


#: The largest change, to be computed with NumPy where it is None.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float | None]] = {
    "exp": (lambda f: np.exp(x_of(f)).sum(), None),
    "tanh": (lambda f: np.tanh(f["w"].to_numpy()).sum(), 2.0),
    "log": (lambda f: np.log(f["z"].to_numpy()).sum(), None),
    "log1p": (lambda f: np.log1p(np.clip(f["w"].to_numpy(), 0, 3)).mean() * 2, math.log(4)),
    "arctan, cbrt": (lambda f: (np.arctan(x_of(f)) + np.cbrt(x_of(f))).sum(), None),
    "sigmoid": (lambda f: sigmoid(f).sum(), 1.0),
    "floor_divide": (lambda f: (x_of(f) // 0.7).sum(), None),
    "in place": (in_place, 15.0),
    "joined before": (joined_before, 7.0),
    "another name": (with_another_name, 14.0),
    "whole numbers": (lambda f: x_of(f).astype(int).sum(), 7.0),
    "a whole number": (lambda f: (np.clip(x_of(f), 1.2, 1.7).astype(int) + f["m"]).sum(), 1.0),
    "bins": (lambda f: tuple(np.bincount(x_of(f).astype(int) + 3, minlength=8)), 2.0),
    "tens": (lambda f: tuple(np.bincount(((x_of(f) + 3) // 2).astype(int), minlength=4)), 2.0),
    "digitize": (lambda f: np.digitize(x_of(f), [-1, 1, 2]).sum(), 3.0),
    "digitize, right": (lambda f: (np.digitize(x_of(f), [-3, 1, 4], right=True) > 0).sum(), 1.0),
    "searchsorted": (lambda f: np.searchsorted([-1, 1, 4], x_of(f), side="right").sum(), 3.0),
    "searchsorted, left": (lambda f: np.searchsorted([-1, 1, 4], x_of(f)).sum(), 2.0),
}
ABOVE: dict[str, Callable[[Any], Any]] = {"rows": rows_in_place, "gradient": logistic_gradient}


def numbers(value: Any) -> Any:
    return np.atleast_1d(np.asarray(value, dtype=float))


def changes_of(expression: Callable[[Any], Any]) -> float:
    other = (0.25, 1.0, 0.5, 1)
    with np.errstate(all="ignore"):
        sums = [numbers(expression(_pair(row, other))) for row in ROWS]
    found = np.unique(sums, axis=0)
    if found.shape[1] == 1:
        return float(np.ptp(found))
    return float(np.abs(found[:, None] - found[None]).sum(axis=2).max())


def _pair(row: Any, other: Any) -> Any:
    return pd.DataFrame([row, other], columns=list(COLUMNS))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_price_is_the_largest_change(name: str) -> None:
    expression, true = FUNCTIONS[name]
    proved, found = price_of(expression, TABLE), changes_of(expression)
    assert proved >= found * (1 - 1e-12)
    assert math.isclose(proved, found if true is None else true, rel_tol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ABOVE)
def test_the_price_of_rows_is_not_below_the_largest_change(name: str) -> None:
    assert price_of(ABOVE[name], TABLE) >= changes_of(ABOVE[name]) * (1 - 1e-12)


def view_before(frame: Any) -> Any:
    rows = rows_of(frame) * 2
    first = rows[:, 0]
    rows *= 9
    return first.sum()


def in_data(frame: Any) -> Any:
    values = x_of(frame)
    values *= 2
    return frame["x"].sum()


def in_a_frame(frame: Any) -> Any:
    made = x_of(frame) + 1
    frame["made"] = made
    made *= 9
    return frame["made"].sum()


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a view": (view_before, "a write into data"),
    "data": (in_data, "a write into data"),
    "a frame": (in_a_frame, "a write into data"),
    "log of 0": (lambda f: np.log(x_of(f)).sum(), "log, which fails"),
    "compared": (lambda f: (np.exp(x_of(f)) > 2).sum(), "greater of what is made"),
    "no bounds": (lambda f: np.exp(f["w"].to_numpy()).sum(), "without bounds"),
    "by a negative number": (lambda f: (x_of(f) // -2).sum(), "floor_divide, which fails"),
    "far": (lambda f: (x_of(f) // 1e-20).sum(), "floor_divide, which fails"),
    "many": (lambda f: (x_of(f) * 1000).astype(int).sum(), "more than 512 whole numbers"),
    "falling edges": (lambda f: np.digitize(x_of(f), [2, 1]).sum(), "numpy.digitize"),
}


@pytest.mark.parametrize("name", mostly_slow(NOT_FOLLOWED, 5))
def test_all_else_is_refused(name: str) -> None:
    expression, words = NOT_FOLLOWED[name]
    assert words in refusal_of(expression, TABLE)


@pytest.mark.slow
def test_a_quotient_is_cut_where_it_changes() -> None:
    rng = np.random.default_rng(1)
    for step in (0.1, 0.3, 7.0, 1 / 3):
        edges = np.arange(1, 200) * step
        near = np.concatenate([np.nextafter(edges, 0), edges, np.nextafter(edges, 1e9)])
        numbers = np.sort(np.concatenate([near, rng.uniform(0, 200 * step, 2000)]))
        assert (np.diff(numbers // step) >= 0).all()
