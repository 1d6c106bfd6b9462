"""Memory that nobody has filled: refused, or filled otherwise in each run, so that it shows."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from numpy import sqrt

import liptest as lt
from liptest.errors import NonDeterministicError

DATA = np.array([4, 0])
MASK = np.array([True, False])


def law(function: Any) -> dict[Any, float]:
    return dict(lt.mechanism(function).law(DATA))


LEFT: list[Any] = [
    (lambda data: np.sqrt(data, where=data > 0).tolist(), r"sqrt\(.., where=..\) without out="),
    (lambda data: sqrt(np.ones(2), where=MASK)[0], r"sqrt\(.., where=..\) without out="),
    (lambda data: np.divide(1.0, np.ones(2), where=MASK)[0], r"divide\(.., where=..\)"),
    (lambda data: np.ndarray(16)[3], r"numpy\.ndarray\(..\)"),
    (lambda data: np.ndarray(shape=(2, 2), dtype=float)[0, 0], r"numpy\.ndarray\(..\)"),
    (lambda data: np.recarray((4,), dtype=[("x", float)]).x[0], r"numpy\.recarray\(..\)"),
    (lambda data: np.char.chararray((4,))[0], r"numpy\.chararray\(..\)"),
    (lambda data: np.ndarray.__new__(np.ndarray, (16,))[3], r"numpy\.ndarray\(..\)"),
    (lambda data: np.recarray.__new__(np.recarray, (4,), [("x", float)]).x[0], r"numpy\.recarray"),
    (lambda data: np.matlib.empty((1, 16))[0, 3], r"numpy\.matlib\.empty\(..\)"),  # type: ignore[attr-defined]
]


@pytest.mark.parametrize("place", range(len(LEFT)))
def test_a_call_that_leaves_memory_unfilled_is_refused(place: int) -> None:
    """Two runs mostly found the same zeros there: "YES by proof", or a certain NO."""
    function, what = LEFT[place]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of numpy.matlib
        importlib.import_module("numpy.matlib")
    with pytest.raises(NonDeterministicError, match=rf"memory that nobody.*{what}.*test_unf"):
        law(function)


@pytest.mark.parametrize("kind", ["S8", "V8", [("x", float), ("y", "S3")]])
def test_records_and_bytes_of_numpy_empty_are_filled_otherwise(kind: Any) -> None:
    def reads(data: Any, rng: Any) -> bool:
        return bool(rng.integers(2)) and bool(np.empty(64, dtype=kind).tobytes().strip(b"\0"))

    with pytest.raises(NonDeterministicError):
        law(reads)


@pytest.mark.parametrize(
    "read",
    [
        lambda data: float(np.ma.empty(64)[7]),
        lambda data: float(np.ma.empty_like(np.ma.zeros(64))[7]),
        lambda data: np.ma.empty((64,), dtype=int).tolist()[7],
    ],
)
def test_masked_arrays_that_nobody_filled(read: Any) -> None:
    """They are made by a reference to ``numpy.empty`` that no stand-in takes the place of."""
    with pytest.raises(NonDeterministicError, match=r"nobody has filled \(test_unf.*: use nump"):
        law(read)


def test_memory_that_is_given_to_a_class_of_arrays() -> None:
    held = np.arange(4.0)
    assert law(lambda data: np.ndarray.__new__(np.ndarray, (4,), float, held)[3]) == {3.0: 1.0}
    assert law(lambda data: float(np.ma.zeros(3)[0])) == {0.0: 1.0}


@pytest.mark.parametrize("kind", ["U3", object, [("x", "U3")]])
def test_texts_and_objects_stay_what_can_be_read(kind: Any) -> None:
    assert law(lambda data: len(np.empty(4, dtype=kind).tolist())) == {4: 1.0}


def test_what_is_filled_is_let_pass() -> None:
    out = np.zeros(2)
    assert law(lambda data: np.sqrt(data, out=np.zeros(2), where=data > 0)[0]) == {2.0: 1.0}
    assert law(lambda data: np.sqrt(data, np.zeros(2), where=data > 0)[0]) == {2.0: 1.0}
    assert law(lambda data: float(np.sum(data, where=MASK))) == {4.0: 1.0}
    assert law(lambda data: np.where(data > 0, data, 0)[0]) == {4: 1.0}
    assert law(lambda data: isinstance(data, np.ndarray)) == {True: 1.0}
    assert law(lambda data: np.ndarray(2, buffer=out)[0]) == {0.0: 1.0}
    assert law(lambda data: np.ndarray((2,), float, out)[0]) == {0.0: 1.0}
