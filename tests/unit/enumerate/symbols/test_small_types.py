"""Sums that NumPy keeps in a small type, and truths that it joins instead of counting them.

They wrap, or stop, only where many records add the same: plain runs on random data do not show it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from statistics import fmean, mean
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_datasets import Records
from liptest.privacy.proofs.prices import align
from liptest.values.answers.answer_book import AnswerBook

Program = Callable[[Any, Any], Any]
# Of 150 records a sum of int8 wraps where nearly all have the value 2; 777 is rare among 1,000.
MANY, RARE = lt.RecordGrid([4] * 150), lt.RecordGrid([1000] * 3)
ONES = np.ones(150, dtype=np.int8)
SWAPPED = np.array([[0, 1], [0, 0]])


def _in_table(data: Any, rng: Any) -> Any:
    table = np.zeros((2, 2), dtype=np.int8)
    for v in data:
        table[v // 2, v % 2] += 1
    return table[1, 0] + rng.laplace()


WRAPPING: dict[str, Program] = {
    "sum with a dtype": lambda data, rng: (data == 2).sum(dtype=np.int8) + rng.laplace(),
    "np.sum with a dtype": lambda data, rng: np.sum(data == 2, dtype="i1") + rng.laplace(),
    "add.reduce": lambda data, rng: np.add.reduce(data == 2, dtype=np.int8) + rng.laplace(),
    "dot": lambda data, rng: np.dot((data == 2).astype(np.int8), ONES) + rng.laplace(),
    "vdot": lambda data, rng: np.vdot((data == 2).astype(np.int8), ONES) + rng.laplace(),
    "matmul": lambda data, rng: (data == 2).astype(np.int8) @ ONES + rng.laplace(),
    "inner": lambda data, rng: (
        np.inner((data == 2).astype(np.int8), (data < 3).astype(np.int8)) + rng.laplace()
    ),
    "a table": _in_table,
}


def _joined(data: Any, rng: Any) -> Any:
    seen = False
    for v in data:
        seen += v == 777
    return seen - (data == 777).sum() + rng.laplace()


def _joined_entries(data: Any, rng: Any) -> Any:
    seen = [False]
    for v in data:
        seen[0] += v == 777
    return seen[0] - (data == 777).sum() + rng.laplace()


def _at_a_truth(data: Any, rng: Any) -> Any:
    table = np.zeros((2, 2))
    for v in data:
        table[0, 1] += 0
        table[0, True] += int(v == 777)  # both entries of the row
    return table[0, 0] + rng.laplace()


def _at_a_float(data: Any, rng: Any) -> Any:
    counts = [0, 0]
    for v in data:
        counts[1] += 1
        if v == 777:
            counts[1.0] += 1  # type: ignore[call-overload]
    return counts[0] + rng.laplace()


def _below_zero(data: Any, rng: Any) -> Any:
    table = np.zeros((2, 2), dtype=np.uint8)
    for v in data:
        table[0, 0] -= 1 if v == 777 else 0
    return table[0, 0] + rng.laplace()


JOINED: dict[str, Program] = {
    "a name": _joined,
    "an entry": _joined_entries,
    "sum": lambda data, rng: (
        sum((v == 777 for v in data), False) - (data == 777).sum() + rng.laplace()
    ),
    "reduce": lambda data, rng: reduce(add, data == 777) - (data == 777).sum() + rng.laplace(),
    "dot": lambda data, rng: (data == 777) @ (data == 777) - (data == 777).sum() + rng.laplace(),
    "below zero": _below_zero,
    # As keys of a dict 1, True and 1.0 are one; as places they are not.
    "at a truth": _at_a_truth,
    "at a float": _at_a_float,
    # The mean of NumPy's whole numbers is cut off: three records move it from 0 to 1.
    "mean": lambda data, rng: mean((data == 777).astype(int)) + rng.laplace(),
    # The product with the transposed matrix.
    "inner": lambda data, rng: (
        np.inner(np.stack([data == 777, data == 778], axis=1), SWAPPED).sum(axis=0)[0]
        - (data == 777).sum()
        + rng.laplace()
    ),
}


@pytest.mark.parametrize("program", WRAPPING.values(), ids=WRAPPING)
def test_sums_of_small_numbers_are_not_followed(program: Program) -> None:
    assert align(lt.mechanism(program).on_domain(MANY), MANY).price is None


@pytest.mark.parametrize("program", JOINED.values(), ids=JOINED)
def test_truths_that_are_joined_are_not_counted(program: Program) -> None:
    found = align(lt.mechanism(program).on_domain(RARE), RARE)
    assert found.price is None or found.epsilon >= 1


@pytest.mark.parametrize(
    "program",
    [
        lambda data, rng: (data == 2).sum(dtype=np.int64) + rng.laplace(),
        lambda data, rng: (data == 2).sum(dtype=float) + rng.laplace(),
        lambda data, rng: np.dot((data == 2).astype(int), ONES) + rng.laplace(),
        lambda data, rng: (data == 2).astype(np.int8).sum() + rng.laplace(),
        lambda data, rng: reduce(add, (data == 2).tolist()) + rng.laplace(),
        lambda data, rng: 150 * fmean(data == 2) + rng.laplace(),
        lambda data, rng: 150 * mean((data == 2).tolist()) + rng.laplace(),
    ],
)
def test_sums_of_large_numbers_are(program: Program) -> None:
    assert align(lt.mechanism(program).on_domain(MANY), MANY).epsilon == pytest.approx(1)


def test_datasets_of_plain_runs_have_the_values_that_tell() -> None:
    data = Records(RARE)
    book: AnswerBook = data._answers
    book.of(np.arange(1000) == 777)
    book.of(-2 * (np.arange(1000) == 5))
    assert book.extreme_values() == [0, 5, 777]
    datasets = [data.plain(np.random.default_rng(seed)) for seed in range(100)]
    assert sum(int((one == 777).sum() > 1) for one in datasets) >= 5
    assert all(((one >= 0) & (one < 1000)).all() for one in datasets)


FRAME = lt.Table({"x": lt.Integer(0, 199), "y": lt.Integer(0, 2)}, rows=3)


@pytest.mark.parametrize("kind", ["int8", "bool"])
def test_products_of_series_of_small_numbers_are_not_followed(kind: str) -> None:
    def released(frame: Any, rng: Any) -> Any:
        rare = (frame["x"] == 177).astype(kind)
        return rare.dot(rare) - rare.sum() + rng.laplace()

    found = align(lt.mechanism(released).on_domain(FRAME), FRAME)
    assert "which may wrap" in found.reason


def test_products_of_series_are() -> None:
    def released(frame: Any, rng: Any) -> Any:
        return (frame["x"] > 3).astype(int).dot(frame["y"]) + rng.laplace()

    assert align(lt.mechanism(released).on_domain(FRAME), FRAME).epsilon == pytest.approx(2)
