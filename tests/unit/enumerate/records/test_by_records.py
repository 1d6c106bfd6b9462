"""One record of programs that treat their records one by one: the law of all is the product."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liptest.enumerate.python_function import PythonFunction
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import OutputLaw
from liptest.values.records.rows import NotByRecords
from tests.unit.enumerate import row_programs
from tests.unit.enumerate.row_programs import ALONE, JOINT


def one_record(function: Any, records: int) -> Mechanism:
    example = np.arange(records) % 3
    found = PythonFunction(function).of_one_record(example)
    assert found is not None
    return found


def all_laws(one: Mechanism) -> list[OutputLaw]:
    return [one.law(np.array([value])) for value in range(3)]


def product_law(laws: list[Any], several: bool) -> dict[Any, Fraction]:
    """The law of a list whose places are independent."""
    found: dict[Any, Fraction] = {}
    for outputs in itertools.product(*laws):
        chance = Fraction(1)
        for law, output in zip(laws, outputs, strict=True):
            chance *= law.exact(output)
        output = tuple(zip(*outputs, strict=True)) if several else outputs
        found[output] = found.get(output, Fraction(0)) + chance
    return found


@pytest.mark.slow
@pytest.mark.parametrize("function", ALONE, ids=lambda f: f.__name__)
def test_the_law_of_all_is_the_product(function: Any) -> None:
    several = function is row_programs.several_columns
    wide = function in (row_programs.table_rows, row_programs.rappor)
    dataset = np.array([1, 2] if wide else [2, 0, 1][:2])
    one = one_record(function, len(dataset))
    laws = [one.law(dataset[place : place + 1]) for place in range(len(dataset))]
    whole = PythonFunction(function).law(dataset)
    expected = product_law(laws, several)
    assert sum(expected.values()) == 1
    assert {o: whole.exact(o) for o in whole.outputs if whole.exact(o)} == {
        o: p for o, p in expected.items() if p
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["response", "loop", "comprehension", "masked"])
def test_three_records(name: str) -> None:
    function = getattr(row_programs, name)
    dataset = np.array([1, 0, 1])
    one = one_record(function, 3)
    laws = [one.law(dataset[place : place + 1]) for place in range(3)]
    whole = PythonFunction(function).law(dataset)
    assert {o: whole.exact(o) for o in whole.outputs} == product_law(laws, False)


@pytest.mark.parametrize("function", JOINT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("records", [3, 50])
def test_what_brings_records_together_is_refused(function: Any, records: int) -> None:
    one = one_record(function, records)
    with pytest.raises(NotByRecords):
        all_laws(one)


@pytest.mark.slow
@pytest.mark.parametrize("function", ALONE, ids=lambda f: f.__name__)
def test_the_number_of_records_does_not_matter(function: Any) -> None:
    few, many = one_record(function, 2), one_record(function, 10_000)
    for value in range(3):
        left, right = few.law(np.array([value])), many.law(np.array([value]))
        assert {o: left.exact(o) for o in left} == {o: right.exact(o) for o in right}


def test_a_length_by_hand_is_that_of_the_data_or_none() -> None:
    def by_hand(data: Any, rng: Any) -> Any:
        return np.where(rng.random(40) < 0.5, data, 0).tolist()

    assert one_record(by_hand, 40).law(np.array([1])).exact(1) == Fraction(1, 2)
    with pytest.raises(NotByRecords, match="41 records"):
        one_record(by_hand, 41).law(np.array([1]))


def test_the_length_is_that_of_all_records() -> None:
    def rare(data: Any, rng: Any) -> Any:
        return np.where(rng.random(len(data)) < 1 / len(data), data, 0).tolist()

    law = one_record(rare, 4).law(np.array([1]))
    assert law.exact(1) == Fraction(1, 4)


def test_refusals_say_the_line_and_what_to_write() -> None:
    with pytest.raises(NotByRecords, match=r"row_programs.py:\d+: coin = rng.integers") as refused:
        one_record(row_programs.shared_coin, 5).law(np.array([1]))
    assert "per_record=True" in str(refused.value)
