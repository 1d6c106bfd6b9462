"""Functions under test: callables, scalar functions, tables, and every way to answer badly."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import liptest.lipschitz.oracles as oracles
from liptest.data.domains import Hypercube, Hypergrid
from liptest.data.points import PointBatch, from_array
from liptest.errors import FunctionError, InputError
from liptest.lipschitz.oracles import as_oracle, scalar

CUBE = Hypercube(3)
POINTS = from_array(CUBE.points(np.arange(8)))


def values(function: Any) -> list[float]:
    return as_oracle(function, CUBE).values(POINTS).tolist()  # type: ignore[no-any-return]


def total(points: np.ndarray) -> np.ndarray:
    return np.asarray(points.sum(axis=1))


COUNTS = [0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "function",
    [
        total,
        lambda points: [int(point.sum()) for point in points],
        lambda points: total(points).astype(np.uint8),
        lambda points: total(points).astype(np.float32),
        lambda points: np.array([Fraction(int(k)) for k in total(points)], dtype=object),
        scalar(lambda point: point.sum()),
        scalar(lambda point: int(point.sum())),
        scalar(lambda point: Decimal(int(point.sum()))),
        scalar(lambda point: np.float64(point.sum())),
        np.array(COUNTS).reshape(2, 2, 2),
        np.array(COUNTS, dtype=np.int8).reshape(2, 2, 2),
        np.array([Fraction(k) for k in COUNTS], dtype=object).reshape(2, 2, 2),
    ],
)
def test_answers_of_many_kinds_are_floats(function: Any) -> None:
    assert values(function) == COUNTS


def test_names() -> None:
    assert as_oracle(total, CUBE).name == "total"
    assert as_oracle(scalar(total), CUBE).name == "total"
    assert as_oracle(partial(total), CUBE).name == "partial"
    assert as_oracle(np.zeros((2, 2, 2)), CUBE).name == "TableFunction"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: total(x)[:-1], r"shape=\(7,\) for \(8, 3\) points"),
        (lambda x: total(x)[:, None], r"shape=\(8, 1\)"),
        (lambda x: 1.0, r"shape=\(\)"),
        (lambda x: None, r"shape=\(\)"),
        (lambda x: [[1.0], [1.0, 2.0]], r"shape=\(\)"),
        (lambda x: x, r"shape=\(8, 3\)"),
        (lambda x: np.where(x[:, 2] == 1, math.nan, 0), r"value=nan at point \[0, 0, 1\]"),
        (lambda x: np.where(x[:, 1] == 1, math.inf, 0), r"value=inf at point \[0, 1, 0\]"),
        (lambda x: np.where(x[:, 0] == 1, -math.inf, 0), r"value=-inf at point \[1, 0, 0\]"),
        (lambda x: total(x) * 1j, r"value=0j at point \[0, 0, 0\]"),
        (lambda x: np.array(["1.5"] * 8), "value='1.5'"),
        (lambda x: np.array([None] * 8), "value=None"),
        (lambda x: np.zeros(8, dtype="datetime64[s]"), "value="),
        (lambda x: np.array([0, 0, 0, "1", 0, 0, 0, 0], dtype=object), r"'1' at point \[0, 1, 1\]"),
        (lambda x: np.array([10**400] * 8, dtype=object), "value=1000"),
        (scalar(lambda point: None), "value=None"),
        (scalar(lambda point: "2"), "value='2'"),
        (scalar(lambda point: [1.0, 2.0]), "value="),
        (scalar(lambda point: math.nan), "value=nan"),
        (np.full((2, 2, 2), math.nan), "value=nan"),
    ],
)
def test_a_bad_answer_is_an_error_that_shows_it(function: Any, message: str) -> None:
    with pytest.raises(FunctionError, match=message):
        values(function)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: total(x) + 2**53,
        lambda x: -total(x) - 2**53,
        lambda x: total(x).astype(np.uint64) + np.uint64(2**63),
        lambda x: np.array([2**53 + int(k) for k in total(x)], dtype=object),
        scalar(lambda point: 2**53 + int(point.sum())),
        np.array(COUNTS).astype(np.int64).reshape(2, 2, 2) + 2**60,
    ],
)
def test_whole_numbers_that_floats_cannot_tell_apart_are_refused(function: Any) -> None:
    """Rounded to floats, neighbouring counts above 2**53 would differ by 2: a false rejection."""
    with pytest.raises(FunctionError, match=r"whole numbers below 2\*\*53"):
        values(function)


def test_the_largest_whole_numbers_are_exact() -> None:
    base = 2**53 - 4
    assert values(lambda x: base + total(x)) == [base + k for k in COUNTS]


def test_the_point_of_an_error_is_found_in_any_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracles, "SLICE_BYTES", 1)
    domain = Hypergrid([50, 50])
    centres = domain.points(np.arange(40))
    batch = PointBatch(centres, *domain.neighbour_changes(centres))
    bad = batch.point(len(batch) - 1)

    def spoilt(points: np.ndarray) -> np.ndarray:
        assert len(points) <= 16
        wrong = np.all(points == bad, axis=1)
        points[:] = 0
        return np.where(wrong, math.nan, 0.0)

    with pytest.raises(FunctionError) as caught:
        as_oracle(spoilt, domain).values(batch)
    assert caught.value.point.tolist() == bad.tolist()
    assert str(bad.tolist()) in str(caught.value)


def test_a_function_may_overwrite_its_points() -> None:
    def greedy(points: np.ndarray) -> np.ndarray:
        counts = total(points)
        points[:] = 9
        return counts

    assert values(greedy) == COUNTS
    assert values(greedy) == COUNTS


def test_errors_of_the_function_itself_pass() -> None:
    def broken(points: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("mine")

    for function in (broken, scalar(broken)):
        with pytest.raises(ZeroDivisionError, match="mine"):
            values(function)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (np.zeros(8), r"shape=\(8,\) does not fit Hypercube\(3\)"),
        (np.zeros((2, 2, 2), dtype=complex), "dtype=complex128"),
        (np.full((2, 2, 2), "a"), "dtype=<U1"),
        (3, "function=3 must be"),
        ([[0, 1], [1, 2]], "function="),
    ],
)
def test_what_is_no_function_is_refused(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_oracle(function, CUBE)


def test_scalar_needs_a_callable() -> None:
    with pytest.raises(InputError, match="function=3"):
        scalar(3)  # type: ignore[arg-type]


def test_a_table_is_copied() -> None:
    table = np.zeros((2, 2, 2))
    oracle = as_oracle(table, CUBE)
    table[:] = 5
    assert oracle.values(POINTS).tolist() == [0.0] * 8


@pytest.mark.parametrize("wrap", [lambda f: f, scalar], ids=["batch", "scalar"])
def test_oracles_go_to_other_processes(wrap: Callable[[Any], Any]) -> None:
    oracle = as_oracle(wrap(total) if wrap is not scalar else scalar(np.sum), CUBE)
    assert pickle.loads(pickle.dumps(oracle)).values(POINTS).tolist() == COUNTS
