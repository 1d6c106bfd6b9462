"""Loops over rows of real numbers against NumPy: no price is below what one record changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import price_of, refusal_of

C = 2.0
ROOT = math.sqrt(2)
COLUMNS: dict[str, Any] = {
    "x": lt.Real(),
    "y": lt.Real(),
    "z": lt.Real(-3, 4),
    "v": lt.Real(-50, 50),
    "m": lt.Bit(),
}
LONG = ("z", "v")
TABLE: Any = lt.Table(COLUMNS, rows=2)
NUMBERS = (0.0, 1.0, -1.5, 3.0, -1e6, 1e6, 1e300, -1e308, 1e-170, 5e-324)
WEIGHTS = np.array([0.5, -1.0])


def rows_of(frame: Any, names: Any = ("x", "y")) -> Any:
    return frame[list(names)].to_numpy()


def cut(row: Any, most: float) -> Any:
    return row / max(1, np.linalg.norm(row) / most)


def slope(row: Any, label: Any) -> Any:
    return (row @ WEIGHTS - label) * row


def cut_slope(row: Any, label: Any) -> Any:
    return cut(slope(row, label), C)


def added_up(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        total += row / max(1.0, np.linalg.norm(row) / C)
    return tuple(total)


def by_factor(frame: Any) -> Any:
    total = np.zeros(2)
    for row, label in zip(rows_of(frame, LONG), frame["m"].to_numpy(), strict=True):
        gradient = slope(row, label)
        total += gradient * min(1, C / np.linalg.norm(gradient))
    return tuple(total)


def subtracted(frame: Any) -> Any:
    rows, total = rows_of(frame), np.zeros(2)
    for i in range(len(rows)):
        total -= cut(rows[i], C)
    return tuple(total)


def of_a_list(frame: Any) -> Any:
    made = []
    for row, label in zip(rows_of(frame, LONG), frame["m"].to_numpy(), strict=True):
        made.append(cut_slope(row, label))
    return tuple(np.sum(made, axis=0))


def stacked(frame: Any) -> Any:
    made = [cut(row, C) for row in rows_of(frame)]
    return tuple(np.stack(made).sum(axis=0))


def mean_of_array(frame: Any) -> Any:
    made = np.array([cut(row, C) for row in rows_of(frame)])
    return tuple(2 * made.mean(axis=0))


def cut_later(frame: Any) -> Any:
    made = np.array([slope(row, 1) for row in rows_of(frame, LONG)])
    made = made / np.maximum(1, np.linalg.norm(made, axis=1, keepdims=True) / C)
    return tuple(made.sum(axis=0))


def summed_by_python(frame: Any) -> Any:
    return tuple(sum(cut(row, C) for row in rows_of(frame)))


def of_selected(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame[frame["m"] == 1]):
        total += cut(row, C)
    return tuple(total)


def in_branches(frame: Any) -> Any:
    # One of both coordinates twice, of half of the records: not a vector of norm C.
    total = np.zeros(2)
    for row, label in zip(rows_of(frame), frame["m"].to_numpy(), strict=True):
        short = cut(row, C)
        first, second = short[0], short[1]
        if label == 1:
            second = first
        total[0] += first
        total[1] += second
    return tuple(total)


def coordinates(frame: Any) -> Any:
    first, second = 0.0, 0.0
    for row in rows_of(frame):
        short = cut(row, C)
        first += short[0]
        second += short[1]
    return first, second


def outer(frame: Any) -> Any:
    total = np.zeros((2, 2))
    for row in rows_of(frame, ["z", "m"]):
        total += np.outer(row, row)
    return tuple(total.ravel())


def outer_by_axes(frame: Any) -> Any:
    return tuple(sum(np.outer(row, row) for row in rows_of(frame, ["z", "m"])).ravel())


def clipped(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        total += np.clip(row * 2, -1, 3)
    return tuple(total)


def inner(frame: Any) -> Any:
    total = 0.0
    for row in rows_of(frame, ["z", "m"]):
        total += row.dot(WEIGHTS) + np.sum(row) + row[0]
    return total


def by_if(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        norm = np.linalg.norm(row)
        if norm > C:
            row = row * (C / norm)
        total += row
    return tuple(total)


def cut_if_long(row: Any, most: float) -> Any:
    norm = np.linalg.norm(row)
    if norm > most:
        row = row * (most / norm)
    return row


def cut_or_left(row: Any, most: float) -> Any:
    norm = np.linalg.norm(row)
    if norm > most:
        return row / norm * most
    return row


def cut_twice(row: Any) -> Any:
    return cut_or_left(cut_if_long(row, C), 9.0)


def if_of_a_function(frame: Any) -> Any:
    return tuple(sum(cut_if_long(row, C) for row in rows_of(frame)))


def if_of_functions(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        total += cut_or_left(row, C)
    return tuple(total)


def if_of_calling_functions(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        total += cut_twice(row)
    return tuple(total)


def in_place(frame: Any) -> Any:
    total = np.zeros(2)
    for row, label in zip(rows_of(frame, LONG), frame["m"].to_numpy(), strict=True):
        gradient = slope(row, label) * 1.0
        gradient /= max(1, np.linalg.norm(gradient) / C)
        total += gradient
    return tuple(total)


def if_in_place(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame, LONG):
        gradient = 2 * row
        norm = np.linalg.norm(gradient)
        if norm > C:
            gradient *= C / norm
        total += gradient
    return tuple(total)


def by_choice(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        size = np.linalg.norm(row)
        factor = 1.0 if size <= C else C / size
        total += factor * row
    return tuple(total)


def by_choice_of_rows(frame: Any) -> Any:
    rows = rows_of(frame)
    made = [row / np.linalg.norm(row) * C if np.linalg.norm(row) > C else row for row in rows]
    return tuple(np.sum(made, axis=0))


def by_where(frame: Any) -> Any:
    rows = rows_of(frame)
    norms = np.linalg.norm(rows, axis=1)
    return tuple((rows * np.where(norms > C, C / norms, 1.0)[:, None]).sum(axis=0))


def by_where_below(frame: Any) -> Any:
    rows = rows_of(frame)
    norms = np.linalg.norm(rows, axis=1)
    return tuple((rows * np.where(norms <= C, 1.0, C / norms)[:, None]).sum(axis=0))


def longer_below(frame: Any) -> Any:
    rows = rows_of(frame)
    norms = np.linalg.norm(rows, axis=1)
    return tuple((rows * np.where(norms > C, C / norms, 3.0)[:, None]).sum(axis=0))


def how_many_long(frame: Any) -> Any:
    total = 0.0
    for row in rows_of(frame):
        total += 1 if np.linalg.norm(row) > C else 0
    return total


def how_many_rows(frame: Any) -> Any:
    return np.sum(np.linalg.norm(rows_of(frame), axis=1) > C) * 1.0


def share_of_rows(frame: Any) -> Any:
    return float(np.mean(np.linalg.norm(rows_of(frame, LONG), axis=1) <= C))


#: The expression and its price; where that is the largest change, too.
LOOPS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "added up": (added_up, 2 * ROOT * C),
    "by a factor": (by_factor, 2 * ROOT * C),
    "subtracted": (subtracted, 2 * ROOT * C),
    "a list": (of_a_list, 2 * ROOT * C),
    "stacked": (stacked, 2 * ROOT * C),
    "mean of an array": (mean_of_array, 2 * ROOT * C),
    "cut later": (cut_later, 2 * ROOT * C),
    "sum": (summed_by_python, 2 * ROOT * C),
    "selected": (of_selected, 2 * ROOT * C),
    "branches": (in_branches, 4 * C),
    "coordinates": (coordinates, 2 * ROOT * C),
    "outer": (outer, 16 + 2 * 7 + 1),
    "outer, by python": (outer_by_axes, 16 + 2 * 7 + 1),
    "clipped": (clipped, 8.0),
    "inner": (inner, 18.5),
    "if": (by_if, 2 * ROOT * C),
    "if, of a function": (if_of_a_function, 2 * ROOT * C),
    "if, of functions": (if_of_functions, 2 * ROOT * C),
    "if, of calling functions": (if_of_calling_functions, 18 * ROOT),
    "in place": (in_place, 2 * ROOT * C),
    "if, in place": (if_in_place, 2 * ROOT * C),
    "a choice": (by_choice, 2 * ROOT * C),
    "a choice of rows": (by_choice_of_rows, 2 * ROOT * C),
    "where": (by_where, 2 * ROOT * C),
    "where, below": (by_where_below, 2 * ROOT * C),
    "longer below": (longer_below, 6 * ROOT * C),
    "how many": (how_many_long, 1.0),
    "how many rows": (how_many_rows, 1.0),
    "share of rows": (share_of_rows, 0.5),
}


def largest_change(expression: Callable[[Any], Any]) -> float:
    other = (0.25, 3.0, 0.5, 2.0, 1)
    found = []
    with np.errstate(all="ignore"):
        for row in product((*NUMBERS, 3.0), NUMBERS[1::2], (-3.0, 0.5, 4.0), (-50, 50), (0, 1)):
            made = expression(pd.DataFrame([row, other], columns=list(COLUMNS)))
            found.append(np.atleast_1d(np.asarray(made, dtype=float)))
    different = np.unique(found, axis=0)
    return float(np.abs(different[:, None] - different[None]).sum(axis=2).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_the_price_is_not_below_the_largest_change(name: str) -> None:
    expression, known = LOOPS[name]
    proved = price_of(expression, TABLE)
    assert proved >= largest_change(expression) * (1 - 1e-9)
    assert proved <= known * (1 + 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["added up", "a list", "cut later"])
def test_normal_noise_pays_for_the_length_of_the_row_alone(name: str) -> None:
    def released(expression: Callable[[Any], Any]) -> Any:
        def noisy(frame: Any, rng: Any) -> Any:
            made = expression(frame)
            return [one + rng.normal(scale=4 * C) for one in made]

        return lt.mechanism(noisy).on_domain(TABLE)

    def line(frame: Any) -> Any:
        return (frame["x"].clip(-C, C).sum(),)

    found, of_line = (
        align(released(one), TABLE, delta=1e-5).epsilon for one in (LOOPS[name][0], line)
    )
    assert math.isclose(found, of_line, rel_tol=1e-9)


@pytest.mark.slow
def test_twice_one_coordinate_is_not_a_vector_in_the_ball() -> None:
    def noisy(frame: Any, rng: Any) -> Any:
        return [one + rng.normal(scale=4 * C) for one in in_branches(frame)]

    def both(frame: Any, rng: Any) -> Any:
        total = frame["x"].clip(-C, C).sum()
        return [total + rng.normal(scale=4 * C), total + rng.normal(scale=4 * C)]

    found, least = (
        align(lt.mechanism(one).on_domain(TABLE), TABLE, delta=1e-5).epsilon
        for one in (noisy, both)
    )
    assert found >= least * (1 - 1e-9)


def without_clipping(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        total += row
    return total[0]


def by_the_norm_of_another(frame: Any) -> Any:
    total = np.zeros(2)
    for row, other in zip(rows_of(frame), rows_of(frame, ["z", "m"]), strict=True):
        total += row / max(1.0, np.linalg.norm(other))
    return total[0]


def of_the_one_before(frame: Any) -> Any:
    total, before = np.zeros(2), np.zeros(2)
    for row in rows_of(frame):
        total += cut(before, C)
        before = row
    return total[0]


def compared(frame: Any) -> Any:
    total = 0
    for row in rows_of(frame):
        if np.linalg.norm(row) > 1:
            total += 1
    return total


def scaled_below(frame: Any) -> Any:
    rows = rows_of(frame)
    norms = np.linalg.norm(rows, axis=1)
    return (rows * np.where(norms > C, 1.0, C / norms)[:, None]).sum(axis=0)[0]


def of_another_norm(frame: Any) -> Any:
    rows = rows_of(frame)
    norms = np.linalg.norm(rows_of(frame, LONG), axis=1)
    return (rows * np.where(norms > C, C / norms, 1.0)[:, None]).sum(axis=0)[0]


def if_short(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame):
        norm = np.linalg.norm(row)
        if norm < C:
            row = row * (C / norm)
        total += row
    return total[0]


def if_the_other_is_long(frame: Any) -> Any:
    total = np.zeros(2)
    for row, other in zip(rows_of(frame), rows_of(frame, LONG), strict=True):
        norm = np.linalg.norm(other)
        if norm > C:
            row = row * (C / norm)
        total += row
    return total[0]


def matrix_product(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame, ["z", "m"]):
        total += np.eye(2) @ row
    return total[0]


def in_place_of_another(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame, ["z", "m"]):
        twice = row * 2
        other = twice
        twice *= 2
        total += other
    return total[0]


def in_place_of_data(frame: Any) -> Any:
    total = np.zeros(2)
    for row in rows_of(frame, ["z", "m"]):
        row *= 2
        total += row
    return total[0]


def in_place_of_a_list(frame: Any) -> Any:
    made = []
    for row in rows_of(frame, ["z", "m"]):
        twice = row * 2
        made.append(twice)
        twice *= 2
    return np.sum(made, axis=0)[0]


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no clipping": (without_clipping, "may overflow"),
    "of another row": (by_the_norm_of_another, "may overflow"),
    "the one before": (of_the_one_before, "not followed"),
    "compared": (compared, "greater of what is made"),
    "in place of another": (in_place_of_another, "is added to in a loop"),
    "in place of data": (in_place_of_data, "is added to in a loop"),
    "in place of a list": (in_place_of_a_list, "is added to in a loop"),
    "scaled below": (scaled_below, "may be infinite"),
    "of another norm": (of_another_norm, "clip them first"),
    "if short": (if_short, "may be infinite"),
    "if another is long": (if_the_other_is_long, "clip them first"),
    "count of norms": (
        lambda f: (np.linalg.norm(rows_of(f), axis=1) > C).sum(),
        "comparison of norms",
    ),
    "matrix": (matrix_product, "not followed"),
}


@pytest.mark.parametrize("name", mostly_slow(NOT_FOLLOWED, 3))
def test_all_else_is_refused(name: str) -> None:
    expression, words = NOT_FOLLOWED[name]
    assert words in refusal_of(expression, TABLE)


def descent(frame: Any, rng: Any, scale: float) -> Any:
    rows, labels, weights = rows_of(frame, ["x", "z"]), frame["m"].to_numpy(), np.zeros(2)
    for _ in range(3):
        gradients = [
            cut((1 / (1 + np.exp(-row @ weights)) - label) * row, 1.0)
            for row, label in zip(rows, labels, strict=True)
        ]
        noise = rng.normal(0, scale, size=2)
        weights = weights - 0.1 * (np.sum(gradients, axis=0) + noise) / len(rows)
    return weights


@pytest.mark.slow
def test_steps_of_descent_over_rows() -> None:
    table = lt.Table(COLUMNS, rows=50)

    def enough(frame: Any, rng: Any) -> Any:
        return descent(frame, rng, 14.0)

    def too_little(frame: Any, rng: Any) -> Any:
        return descent(frame, rng, 7.0)

    good, bad = (
        lt.check_privacy(lt.mechanism(one), table, epsilon=1, delta=1e-5, floats="ideal", seed=1)
        for one in (enough, too_little)
    )
    assert good.decision == "YES"
    assert bad.decision != "YES"


def test_norms_are_not_counted_where_rows_come_and_go() -> None:
    """How NumPy adds up a row may depend on how many there are, so others may count otherwise."""
    table: Any = lt.Table(
        {"z": lt.Real(-3, 4), "v": lt.Real(-50, 50)}, rows=9, relation="add_remove"
    )
    assert "comparison of norms" in refusal_of(lambda frame: share_of_all(frame), table)


def share_of_all(frame: Any) -> Any:
    return np.sum(np.linalg.norm(frame[["z", "v"]].to_numpy(), axis=1) > C)
