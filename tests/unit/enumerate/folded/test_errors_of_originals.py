"""What a function raises that we stand in for is an output of the program, and never a fault."""

from __future__ import annotations

import collections
import functools
import heapq
import math
import operator
import statistics
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.folded.best_of import RankedEntries
from liptest.enumerate.folded.folds import Folds
from liptest.values.faults import call_original, fault_in
from tests.unit.written_programs import program

PEOPLE = lt.RecordGrid([3] * 500)
PROGRAM = """scored = []
for kind in range(3):
    scored.append((data == kind).sum() + rng.laplace(scale=2))
if rng.random() < 0.5:
    return {raising}
return scored"""
MODULES = (collections, functools, heapq, math, operator, statistics)
#: One for each function that has a stand-in; what is raised stands in Python's documentation.
RAISING = {
    "scored[3]": IndexError,
    "{1: 2}[3]": KeyError,
    "sorted([(x, 1) for x in scored])[5]": IndexError,
    "max([])": ValueError,
    "max(1, 'a')": TypeError,
    "max(scored, key=5)": TypeError,
    "sorted([1, 'a'])": TypeError,
    "sum(['a'])": TypeError,
    "list(zip(scored, [1], strict=True))": ValueError,
    "list(5)": TypeError,
    "tuple(5)": TypeError,
    "dict([(1, 2, 3)])": ValueError,
    "iter(5)": TypeError,
    "any(5)": TypeError,
    "all(5)": TypeError,
    "len(5)": TypeError,
    "len(set(5))": TypeError,
    "collections.Counter(5)": TypeError,
    "functools.reduce(operator.add, [])": TypeError,
    "heapq.nlargest('a', [1])": TypeError,
    "heapq.nlargest(1, [])[0]": IndexError,
    "statistics.median([])": ValueError,
    "statistics.fmean([])": ValueError,
    "math.fsum(['a'])": TypeError,
    "np.argmax([])": ValueError,
    "np.mean(['a'])": TypeError,
    "np.array([1, 2])[5]": IndexError,
}


def write(raising: str) -> Any:
    return program(
        PROGRAM.format(raising=raising), **{module.__name__: module for module in MODULES}
    )


@pytest.mark.parametrize("raising", RAISING)
def test_an_error_of_the_original_is_an_output(raising: str) -> None:
    verdict = lt.check_privacy(write(raising), PEOPLE, epsilon=1, floats="ideal", seed=1)
    assert str(verdict.decision) == "YES", verdict
    assert verdict.method == "alignment"


@pytest.mark.parametrize("raising", RAISING)
def test_python_raises_it(raising: str) -> None:
    mech, zeros = write(raising), np.zeros(500, dtype=np.int64)
    rng = SimpleNamespace(laplace=lambda scale: 0.0, random=lambda: 0.0)
    with pytest.raises(RAISING[raising]):
        mech(zeros, rng)


OF_OURS = {
    "length": (len, RankedEntries([3, 4], [], descends=False)),
    "order": (sorted, [RankedEntries([], [], descends=True)] * 2),
    "key": (operator.getitem, {}, RankedEntries),
}


@pytest.mark.parametrize("call", OF_OURS.values(), ids=OF_OURS)
def test_an_error_that_names_a_class_of_ours_is_a_fault(call: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, KeyError)) as raised:
        call_original(*call)
    assert fault_in(raised.value, None) is not None


@pytest.mark.parametrize("function", [heapq.nlargest, heapq.nsmallest])
def test_a_number_that_heapq_takes_and_a_slice_does_not_is_its_own(function: Any) -> None:
    stand_in = getattr(Folds(lambda value: None), function.__name__)
    assert stand_in(1.0, [3, 5, 4]) == function(1.0, [3, 5, 4])
    assert stand_in(2, [3, 5, 4])[:2] == function(2, [3, 5, 4])
