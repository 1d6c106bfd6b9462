"""Rows of real numbers scaled by their norm, and loops over real numbers, against NumPy.

The oracle is the code itself on rows with all kinds of numbers: a price below the largest change
that is found would be a false proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align
from liptest.values.reals.real_norms import Operand, find_ball, find_factor, norm_of_rows
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import price_of

C = 2.0
ROOT = math.sqrt(2)
PAIR = ["x", "y"]
COLUMNS: dict[str, Any] = {"x": lt.Real(), "y": lt.Real(), "z": lt.Real(-3, 4), "m": lt.Bit()}
TABLE: Any = lt.Table(COLUMNS, rows=2)
# Where floats vanish, overflow, or are at a corner.
NUMBERS = (0.0, 1.0, -1.5, 3.0, -1e6, 1e6, 1e300, -1e308, 1e-170, 5e-324)
ZS, MS = (-3.0, 0.5, 4.0), (0, 1)


def rows_of(frame: Any, names: Any = PAIR) -> Any:
    return frame[names].to_numpy()


def scaled(frame: Any, order: Any = None) -> Any:
    rows = rows_of(frame)
    return rows * np.minimum(1, C / np.linalg.norm(rows, order, axis=1))[:, None]


def of_root(frame: Any) -> Any:
    rows = rows_of(frame)
    scale = C / np.maximum(np.sqrt((rows**2).sum(axis=1)), C)
    return (rows * scale[:, np.newaxis]).sum(axis=0)


def with_small(frame: Any) -> Any:
    rows = rows_of(frame)
    return (rows * np.clip(C / (np.linalg.norm(rows, axis=1) + 1e-9), None, 1)[:, None]).sum(axis=0)


def divided(frame: Any) -> Any:
    rows = rows_of(frame)
    sizes = np.abs(rows).sum(axis=1, keepdims=True)
    return (rows / np.maximum(1, sizes / C)).sum(axis=0)


def one_by_one(frame: Any) -> Any:
    scale = np.minimum(1, C / np.linalg.norm(rows_of(frame), axis=1))
    return (frame["x"].to_numpy() * scale).sum(), (scale * frame["y"].to_numpy()).sum()


def largest_norm(frame: Any) -> Any:
    rows = rows_of(frame)
    return (rows / np.maximum(np.abs(rows).max(axis=1), C).reshape(-1, 1) * C).sum(axis=0)


def with_cells(frame: Any) -> Any:
    north, east = scaled(frame).sum(axis=0)
    return north, east, (frame["x"] == 3).sum(), (frame["y"] > 0).sum()


def of_selected(frame: Any) -> Any:
    chosen = frame[(frame["m"] == 1) & (frame["x"] >= 1)]
    return scaled(chosen).sum(axis=0)


#: Two numbers, and their price with Laplace noise of scale 1 each.
MATRICES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "euclidean": (lambda f: scaled(f).sum(axis=0), 2 * ROOT * C),
    "absolute": (lambda f: scaled(f, 1).sum(axis=0), 2 * C),
    "largest": (lambda f: scaled(f, np.inf).sum(axis=0), 4 * C),
    "root of squares": (of_root, 2 * ROOT * C),
    "with something small": (with_small, 2 * ROOT * C),
    "divided": (divided, 2 * C),
    "one by one": (one_by_one, 2 * ROOT * C),
    "largest size": (largest_norm, 4 * C),
    "half": (lambda f: (scaled(f) / 2).sum(axis=0), ROOT * C),
    "clipped": (lambda f: np.clip(rows_of(f), -1, 3).sum(axis=0), 8.0),
    "with a bit": (lambda f: np.clip(rows_of(f, ["x", "m"]), 0, 5).sum(axis=0), 6.0),
    "affine": (lambda f: (rows_of(f, ["z", "m"]) * [2, 1] - 1).sum(axis=0), 15.0),
    "one column": (lambda f: rows_of(f, ["z", "m"])[:, 0].sum(), 7.0),
    "some columns": (lambda f: scaled(f)[:, :1].sum(axis=0), 2 * C),
    "bounded norms": (lambda f: np.minimum(np.linalg.norm(rows_of(f), axis=1), C).sum(), C),
    "sum of rows": (lambda f: rows_of(f, ["z", "m"]).sum(axis=1).sum(), 8.0),
    "selected": (of_selected, 2 * ROOT * C),
    "mean": (lambda f: 2 * scaled(f).mean(axis=0), 2 * ROOT * C),
    "with cells": (with_cells, 2 * ROOT * C + 2),
}


def sum_of_clipped(frame: Any) -> Any:
    total = 0.0
    for value in frame["x"]:
        total += min(max(value, -1), 3)
    return total


def sum_in_branches(frame: Any) -> Any:
    total = 0
    for value in frame["x"].to_numpy():
        if value > 3:
            total += 3.0
        elif value > 0:
            total += value / 2 + 1
        else:
            total -= 1
    return total


def sum_of_list(frame: Any) -> Any:
    few = [min(max(value, 0), 3) ** 2 for value in frame["y"].tolist()]
    return sum(few)


def sum_of_array(frame: Any) -> Any:
    few = []
    for value in frame["z"]:
        few.append(abs(value) * 2)  # noqa: PERF401
    return np.sum(few)


def sum_of_generator(frame: Any) -> Any:
    return sum(1 - value if value < 1 else 0 for value in frame["z"])


def sum_of_selected(frame: Any) -> Any:
    total = 0.0
    for value in frame[frame["m"] == 1]["z"]:
        total += value
        total += 1
    return total


def clipped_by_numpy(frame: Any) -> Any:
    total = 0.0
    for value in frame["x"]:
        total += np.clip(value, 0, 3)
    return total


LOOPS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "clipped": (sum_of_clipped, 4.0),
    "branches": (sum_in_branches, 4.0),
    "list": (sum_of_list, 9.0),
    "array": (sum_of_array, 8.0),
    "generator": (sum_of_generator, 4.0),
    "selected": (sum_of_selected, 7.0),
    "np.clip": (clipped_by_numpy, 3.0),
}


def numbers(value: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(value, dtype=float))


def largest_change(expression: Callable[[Any], Any]) -> float:
    other = (0.25, 3.0, 0.5, 1)
    with np.errstate(all="ignore"):
        found = np.array(
            [
                numbers(expression(pd.DataFrame([row, other], columns=list(COLUMNS))))
                for row in product((*NUMBERS[::2], 3.0), NUMBERS[1::2], ZS[::2], MS)
            ]
        )
    return float(np.abs(found[:, None] - found[None]).sum(axis=2).max())


EVERY = MATRICES | {f"loop: {name}": case for name, case in LOOPS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_the_price_is_the_largest_change(name: str) -> None:
    expression, true = EVERY[name]

    def as_tuple(frame: Any) -> Any:
        found = expression(frame)
        is_line = not isinstance(found, tuple) and getattr(found, "shape", ()) != ()
        return tuple(found) if is_line else found

    proved = price_of(as_tuple, TABLE)
    assert proved >= largest_change(expression) * (1 - 1e-9)
    assert math.isclose(proved, true, rel_tol=1e-8)


def noisy(expression: Callable[[Any], Any], scale: float = 4 * C) -> Any:
    def released(frame: Any, rng: Any) -> Any:
        found = numbers_of(expression(frame))
        return [one + rng.normal(scale=scale) for one in found]

    return lt.mechanism(released).on_domain(TABLE)


def numbers_of(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) or getattr(found, "shape", ()) else [found]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one by one", "euclidean", "root of squares"])
def test_normal_noise_pays_for_the_length_of_the_row_alone(name: str) -> None:
    def clipped(frame: Any) -> Any:
        return frame["x"].clip(-C, C).sum()

    expression, _ = MATRICES[name]
    found, line = (align(noisy(one), TABLE, delta=1e-5).epsilon for one in (expression, clipped))
    assert math.isclose(found, line, rel_tol=1e-9)


@pytest.mark.slow
def test_normal_noise_on_cells_and_on_sums_of_coordinates() -> None:
    # Two answers more, each of which moves by 1; a sum of both coordinates moves by 2 C root 2.
    def as_one(frame: Any) -> Any:
        north, east = scaled(frame).sum(axis=0)
        return north + east

    def with_others(frame: Any) -> Any:
        north, east = scaled(frame).sum(axis=0)
        return north, (frame["x"] == 3).sum(), east, (frame["y"] > 0).sum()

    def of_length(length: float) -> Any:
        return lambda frame: frame["x"].clip(0, length).sum()

    for expression, length in ((as_one, 2 * C * ROOT), (with_others, math.hypot(2 * C, 1, 1))):
        found, line = (
            align(noisy(one), TABLE, delta=1e-5).epsilon for one in (expression, of_length(length))
        )
        assert line * (1 - 1e-9) <= found <= line * (1 + 1e-8)


def clip_not_used(frame: Any, rng: Any) -> Any:
    rows = rows_of(frame)
    _ = rows * np.minimum(1, C / np.linalg.norm(rows, axis=1))[:, None]
    return rows.sum(axis=0) + rng.laplace(scale=2 * C, size=2)


def noise_of_one(frame: Any, rng: Any) -> Any:
    return scaled(frame).sum(axis=0) + rng.laplace(scale=2 * C, size=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [noise_of_one, pytest.param(clip_not_used, marks=[pytest.mark.slow])]
)
def test_bugs_are_shown_by_two_tables(function: Any) -> None:
    table = lt.Table(COLUMNS, rows=200)
    verdict = lt.check_privacy(lt.mechanism(function), table, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    witness = verdict.witness
    assert witness is not None
    assert witness.verify(lt.mechanism(function).on_domain(table))
    assert table.distance(np.array(witness.dataset), np.array(witness.neighbour)).tolist() == [1]


@pytest.mark.slow
def test_the_rounding_of_sums_over_rows_is_part_of_the_price() -> None:
    def released(frame: Any, rng: Any) -> Any:
        return scaled(frame).sum(axis=0) + rng.laplace(scale=2 * ROOT * C, size=2)

    table = lt.Table(COLUMNS, rows=100_000)
    tight, loose = (
        lt.check_privacy(lt.mechanism(released), table, epsilon=one, floats="ideal")
        for one in (1, 1.00001)
    )
    assert tight.decision == "INCONCLUSIVE"
    assert "rounding of float sums" in str(tight)
    assert loose.decision == "YES"
    assert "rounding of float sums" in str(loose)


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "not bounded": (lambda f: rows_of(f).sum(axis=0)[0], r"without bounds.*clip"),
    "by the norm": (
        lambda f: (rows_of(f) / np.linalg.norm(rows_of(f), axis=1)[:, None]).sum(axis=0)[0],
        r"divide, which fails",
    ),
    "of other rows": (
        lambda f: (
            rows_of(f) * np.minimum(1, C / np.linalg.norm(rows_of(f, ["z", "m"]), axis=1))[:, None]
        ).sum(axis=0)[0],
        r"clip them first",
    ),
    "less than the norm": (
        lambda f: (
            rows_of(f)
            * np.minimum(1, C / np.minimum(np.linalg.norm(rows_of(f), axis=1), 9))[:, None]
        ).sum(axis=0)[0],
        r"clip them first",
    ),
    "twice": (lambda f: rows_of(f, ["z", "z"]).sum(axis=0)[0], r"names a column twice"),
    "a row": (lambda f: rows_of(f, ["z", "m"])[0, 0], r"single records"),
    "all entries": (lambda f: rows_of(f, ["z", "m"]).sum(), r"numpy\.sum"),
    "transposed": (lambda f: rows_of(f, ["z", "m"]).T[:, 0].sum(), r"an index"),
    "comparison": (lambda f: (rows_of(f, ["z", "m"]) > 0).sum(axis=0)[0], r"greater of rows"),
    "single precision": (lambda f: rows_of(f).astype(np.float32).sum(), r"astype\(float32\)"),
    "infinite": (lambda f: (f["z"].to_numpy() * np.inf).sum(), r"may be infinite"),
    "rounded": (lambda f: sum(round(v) for v in f["z"].tolist()), r"Python's floats"),
    "without bounds": (lambda f: sum(v for v in f["x"].tolist()), r"clip them first"),
    "root": (lambda f: sum(math.sqrt(v) for v in f["z"].tolist()), r"Python's floats"),
    "comparison of what is made": (
        lambda f: sum(1 for v in f["z"].tolist() if v * v > 2),
        r"made of a real column",
    ),
}


@pytest.mark.parametrize("name", mostly_slow(NOT_FOLLOWED, 5))
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = NOT_FOLLOWED[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    found = lt.mechanism(released).on_domain(TABLE).align_paths(TABLE)
    assert isinstance(found, NoPaths)
    assert re.search(words, found.reason), found.reason
    assert "test_real_matrix.py" in found.reason


# ---- what is known of norms, against floats

FINITE = st.floats(allow_nan=False, allow_infinity=False)
STEPS = (np.multiply, np.divide, np.add, np.maximum, np.minimum)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data())
def test_bounds_of_scaled_rows_hold_for_floats(data: st.DataObject) -> None:
    """Random chains from a norm to a factor; every row keeps what is said of it."""
    exponent = data.draw(st.sampled_from([1, 2, math.inf]))
    names = ("real", "x"), ("real", "y")
    drawn = data.draw(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=20))
    rows = np.array(drawn + list(product(NUMBERS, NUMBERS)))
    with np.errstate(all="ignore"):
        value = np.linalg.norm(rows, exponent, axis=1)
        known: Any = norm_of_rows(exponent, names)
        for _ in range(data.draw(st.integers(1, 4))):
            ufunc = data.draw(st.sampled_from(STEPS))
            constant = data.draw(st.sampled_from([1e-9, 0.3, 1.0, 2.5, 1e5]))
            number = Operand(("number", float, constant), constant, constant)
            # Beginning and end do not matter here but for what the column is divided by.
            column = Operand(("made",), 0.0, math.inf, known)
            swapped = ufunc is np.divide and data.draw(st.booleans())
            pair = [number, column] if swapped else [column, number]
            known = find_factor(ufunc, pair)
            value = ufunc(constant, value) if swapped else ufunc(value, constant)
        if known is None:
            return
        factor = Operand(("made",), float(np.min(value)), float(np.max(value)), known)
        entry = Operand(names[0], -math.inf, math.inf)
        for ufunc in (np.multiply, np.divide):
            ball = find_ball(ufunc, [entry, factor])
            if ball is not None:
                found = ufunc(rows, value[:, None])
                lengths = [length_of(row, exponent) for row in found.tolist()]
                assert max(lengths) <= float(ball.radius) * (1 + 1e-12)


def length_of(row: list[float], exponent: float) -> float:
    return {1: sum(map(abs, row)), 2: math.hypot(*row), math.inf: max(map(abs, row))}[exponent]
