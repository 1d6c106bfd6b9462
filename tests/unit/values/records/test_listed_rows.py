"""Rows that loops make of single numbers: no price is below what NumPy says one record changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import price_of, refusal_of
from tests.unit.values.records.test_looped_rows import LONG, ROOT, TABLE, C, largest_change, rows_of

BOUNDED: Any = lt.Table({"z": lt.Real(-3, 4), "v": lt.Real(-50, 50), "m": lt.Bit()}, rows=2)


def pairs_of(frame: Any) -> Any:
    return zip(frame["z"], frame["v"], strict=True)


def cut_list(numbers: Any, most: float) -> Any:
    norm = math.sqrt(sum(number * number for number in numbers))
    if norm <= most:
        return numbers
    return [number * most / norm for number in numbers]


def cut_by_factor(numbers: Any, most: float) -> Any:
    norm = math.sqrt(sum(number**2 for number in numbers))
    factor = 1.0 if norm == 0 else min(1.0, most / norm)
    return [number * factor for number in numbers]


def of_lists(frame: Any) -> Any:
    total = [0.0, 0.0]
    for first, second in pairs_of(frame):
        made = cut_list([first, second], C)
        total[0] += made[0]
        total[1] += made[1]
    return tuple(total)


def of_factors(frame: Any) -> Any:
    total = [0.0, 0.0]
    for first, second in pairs_of(frame):
        for place, number in enumerate(cut_by_factor([first, second], C)):
            total[place] += number
    return tuple(total)


def of_pairs(frame: Any) -> Any:
    walked = zip(frame["z"], frame["v"], frame["m"], strict=True)
    rows = [((first, second), bit) for first, second, bit in walked]
    total = np.zeros(2)
    for row, _ in rows:
        made = np.array([row[0], row[1]])
        total += made / max(1, np.linalg.norm(made) / C)
    return tuple(total)


def of_kept_rows(frame: Any) -> Any:
    rows = list(pairs_of(frame))
    first, second = 0.0, 0.0
    for one, other in rows:
        factor = min(1.0, C / max(1e-9, math.sqrt(one * one + other * other)))
        first += one * factor
        second += factor * other
    return first, second


def by_a_root(frame: Any) -> Any:
    rows = rows_of(frame, LONG)
    norms = np.sum(rows**2, axis=1) ** 0.5
    return tuple((rows / np.maximum(1, norms / C)[:, None]).sum(axis=0))


def of_squares(frame: Any) -> Any:
    norms = np.sqrt(frame["z"] ** 2 + frame["v"] ** 2.0)
    factor = np.minimum(1, C / np.maximum(norms, 1e-3))
    return (frame["z"] * factor).sum(), (frame["v"] * factor).sum()


def where_not_0(frame: Any) -> Any:
    rows = rows_of(frame, LONG)
    norms = np.linalg.norm(rows, axis=1)
    factor = np.where(norms != 0, np.minimum(1, C / norms), 1)
    return tuple((rows * factor[:, None]).sum(axis=0))


def if_above_0(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame, LONG):
        norm = np.linalg.norm(row, ord=2)
        if norm > 0:
            row = row * min(1.0, C / norm)
        total += row
    return tuple(total)


def with_a_one(frame: Any) -> Any:
    total = np.zeros(3)
    for row in rows_of(frame, LONG):
        longer = np.append(row, 1.0)
        total += longer / max(1, np.linalg.norm(longer) / C)
    return tuple(total)


def joined(frame: Any) -> Any:
    total = np.zeros(3)
    for row, bit in zip(rows_of(frame, LONG), frame["m"].to_numpy(), strict=True):
        longer = np.concatenate(([row[0] * bit], np.hstack([row])))
        total += longer * min(1, C / max(np.linalg.norm(longer), 1.0))
    return tuple(total)


def of_one_number(frame: Any) -> Any:
    total = np.zeros(2)
    for row, bit in zip(rows_of(frame, LONG), frame["m"].to_numpy(), strict=True):
        made = np.array([row[0] - bit]) * row
        total += made / max(1, np.linalg.norm(made) / C)
    return tuple(total)


def of_a_column(frame: Any) -> Any:
    first = frame[["z"]].to_numpy(dtype=float).ravel()
    second = frame[["v"]].reset_index(drop=True).to_numpy().reshape(-1)
    rows = np.column_stack([first, second])
    return tuple((rows / np.maximum(1, np.linalg.norm(rows, axis=1) / C)[:, None]).sum(axis=0))


#: The expression, and the largest change: of vectors of norm C that of opposite diagonal ones.
MADE: dict[str, tuple[Callable[[Any], Any], float]] = {
    "lists": (of_lists, 2 * ROOT * C),
    "factors": (of_factors, 2 * ROOT * C),
    "pairs": (of_pairs, 2 * ROOT * C),
    "kept rows": (of_kept_rows, 2 * ROOT * C),
    "a root": (by_a_root, 2 * ROOT * C),
    "squares": (of_squares, 2 * ROOT * C),
    "where not 0": (where_not_0, 2 * ROOT * C),
    "if above 0": (if_above_0, 2 * ROOT * C),
    "with a one": (with_a_one, 2 * math.sqrt(3) * C),
    "joined": (joined, 2 * math.sqrt(3) * C),
    "one number": (of_one_number, 2 * ROOT * C),
    "a column": (of_a_column, 2 * ROOT * C),
}


@pytest.mark.parametrize("name", mostly_slow(MADE, 4))
def test_the_price_is_that_of_opposite_vectors(name: str) -> None:
    expression, known = MADE[name]
    assert price_of(expression, BOUNDED) == pytest.approx(known, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_the_price_is_not_below_the_largest_change(name: str) -> None:
    expression, _ = MADE[name]
    assert price_of(expression, TABLE) >= largest_change(expression) * (1 - 1e-9)


@pytest.mark.parametrize("name", mostly_slow(["squares", "lists", "a root", "if above 0"], 4))
def test_normal_noise_pays_for_the_length_alone(name: str) -> None:
    def noisy(frame: Any, rng: Any) -> Any:
        return [one + rng.normal(scale=4 * C) for one in MADE[name][0](frame)]

    def line(frame: Any, rng: Any) -> Any:
        return (frame["v"].clip(-C, C).sum() + rng.normal(scale=4 * C),)

    found, of_line = (
        align(lt.mechanism(one).on_domain(BOUNDED), BOUNDED, delta=1e-5).epsilon
        for one in (noisy, line)
    )
    assert math.isclose(found, of_line, rel_tol=1e-9)


# Written out, as the names of these functions stand for others during an analysis.
#: Functions of math, each with where it is smallest and largest.
FUNCTIONS: dict[str, tuple[Callable[[float], float], float, float]] = {
    "exp": (lambda v: math.exp(v / 4), -3, 4),
    "tanh": (lambda v: math.tanh(v), -3, 4),
    "atan": (lambda v: math.atan(v), -3, 4),
    "log": (lambda v: math.log(v + 5), -3, 4),
    "log1p": (lambda v: math.log1p(v + 4), -3, 4),
    "log2": (lambda v: math.log2(v + 5), -3, 4),
    "sqrt": (lambda v: math.sqrt(v + 3), -3, 4),
    "expm1": (lambda v: math.expm1(v), -3, 4),
    "fabs": (lambda v: math.fabs(v), 0, 4),
    "power": (lambda v: (v + 3) ** 0.5, -3, 4),
    "sigmoid": (lambda v: 1.0 / (1.0 + math.exp(-v)), -3, 4),
}


@pytest.mark.parametrize("name", mostly_slow(FUNCTIONS, 3))
def test_functions_of_the_module_math_are_followed(name: str) -> None:
    function, low, high = FUNCTIONS[name]
    proved = price_of(lambda frame: sum(function(v) for v in frame["z"]), BOUNDED)
    assert proved == pytest.approx(function(high) - function(low), rel=1e-9)
    assert proved >= (function(high) - function(low)) * (1 - 1e-12)


RAISING: dict[str, Callable[[Any], Any]] = {
    "log of 0": lambda frame: sum(math.log(v + 3) for v in frame["z"]),
    "root below 0": lambda frame: sum(math.sqrt(v) for v in frame["z"]),
    "exp beyond floats": lambda frame: sum(min(1.0, math.exp(v * 20)) for v in frame["v"]),
    "by a norm of 0": lambda frame: sum(
        min(1.0, C / math.sqrt(one * one + other * other)) for one, other in pairs_of(frame)
    ),
    "by a float of a norm": lambda frame: sum(
        min(1.0, C / float(np.linalg.norm(row))) for row in rows_of(frame, LONG)
    ),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_may_raise_for_some_record_is_refused(name: str) -> None:
    expression = RAISING[name]
    nothing = pd.DataFrame({"z": [0.0, -3.0], "v": [0.0, 50.0], "m": [0, 1]})
    with pytest.raises((ValueError, ZeroDivisionError, OverflowError)):
        expression(nothing)
    assert "raise" in refusal_of(expression, BOUNDED) or "fails" in refusal_of(expression, BOUNDED)


def test_floats_of_numpy_are_divided_by_0_without_raising() -> None:
    def divided(frame: Any) -> Any:
        return sum(min(1.0, C / np.linalg.norm(row)) for row in rows_of(frame, LONG))

    assert price_of(divided, BOUNDED) == pytest.approx(1 - C / math.hypot(4, 50), rel=1e-9)


def test_a_selection_has_an_index_of_its_own() -> None:
    def renumbered(frame: Any) -> Any:
        return frame[frame["m"] == 1].reset_index(drop=True)["z"].clip(0, 1).sum()

    assert "reset_index" in refusal_of(renumbered, BOUNDED)
