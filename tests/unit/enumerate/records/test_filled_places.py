"""Loops that write what they make of a record to its place: ``out[i] = E`` (P2c)."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from liptest.values.records.rows import NotByRecords
from tests.unit.enumerate import place_programs
from tests.unit.enumerate.place_programs import EPSILON, FILLING, JOINT, OTHERWISE
from tests.unit.enumerate.records.test_by_records import product_law

KINDS = lt.RecordGrid([4] * 2000)


def one_record(function: Any, records: int) -> Any:
    return PythonFunction(function).of_one_record(np.arange(records) % 4)


@pytest.mark.parametrize("function", [*FILLING, *OTHERWISE], ids=lambda f: f.__name__)
def test_the_law_of_all_is_the_product(function: Any) -> None:
    for dataset in (np.array([2, 0]), np.array([3, 1])):
        one = one_record(function, 2)
        laws = [one.law(dataset[place : place + 1]) for place in range(2)]
        whole = PythonFunction(function).law(dataset)
        expected = {o: p for o, p in product_law(laws, False).items() if p}
        assert {o: whole.exact(o) for o in whole.outputs if whole.exact(o)} == expected


@pytest.mark.slow
@pytest.mark.parametrize("function", FILLING, ids=lambda f: f.__name__)
def test_they_are_proved_and_refuted_at_any_size(function: Any) -> None:
    mechanism = lt.mechanism(function)
    verdict = lt.check_privacy(mechanism, KINDS, epsilon=EPSILON + 1e-9)
    assert (verdict.decision, verdict.method) == ("YES", "per-record")
    assert lt.check_privacy(mechanism, KINDS, epsilon=EPSILON / 2).decision == "NO"


@pytest.mark.parametrize("function", JOINT, ids=lambda f: f.__name__)
def test_places_of_other_records_are_refused(function: Any) -> None:
    with pytest.raises(NotByRecords):
        one_record(function, 50).law(np.array([1]))


def test_what_is_written_is_cut_to_the_type_of_the_array() -> None:
    law = one_record(place_programs.cut_to_whole, 30).law(np.array([2]))
    assert {o: float(law.exact(o)) for o in law.outputs} == {1: 0.5, 2: 0.5}


def test_helpers_of_other_data_are_left_as_they_are() -> None:
    weights = np.array([0.5, 1.5])

    def scaled(data: Any) -> Any:
        factor = place_programs.doubled(weights)[1]
        return [value * factor if random.random() < 0.5 else 0.0 for value in data]

    law = one_record(scaled, 30).law(np.array([1]))
    assert set(law.outputs) == {0.0, 3.0}
    assert math.isclose(float(law.exact(3.0)), 0.5)
