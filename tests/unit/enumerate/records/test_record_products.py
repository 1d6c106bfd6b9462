"""Records whose outputs have independent parts: their laws part by part, and nothing else."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liptest.enumerate.python_function import OneRecord, PythonFunction
from liptest.enumerate.trees.product_leaves import parts_in
from liptest.errors import LiptestError
from liptest.mechanisms.product_laws import (
    PartPlace,
    PartsLaw,
    ProductLaw,
    comparable,
    merge,
)
from tests.unit.enumerate import product_programs
from tests.unit.enumerate.product_programs import APART, DEPENDENT


def _name(function: Any) -> str:
    return str(getattr(function, "name", None) or function.__name__)


def one_record(function: Any) -> OneRecord:
    mechanism = function if isinstance(function, PythonFunction) else PythonFunction(function)
    found = mechanism.of_one_record(np.arange(6) % 3)
    assert isinstance(found, OneRecord)
    return found


def listed(law: ProductLaw) -> dict[Any, Fraction]:
    """All outputs of a product, by their parts."""
    masses: dict[Any, Fraction] = {}
    for chosen in itertools.product(*(factor.law for factor in law.factors)):
        parts: dict[int, Any] = {}
        mass = Fraction(1)
        for factor, (outcomes, share) in zip(law.factors, chosen, strict=True):
            parts |= dict(zip(factor.places, outcomes, strict=True))
            mass *= share
        key = tuple(parts[place] for place in sorted(parts))
        masses[key] = masses.get(key, Fraction(0)) + mass
    return masses


def enumerated(one: OneRecord, value: int, skeleton: Any) -> dict[Any, Fraction]:
    law = one.law(np.array([value]))
    return {parts_in(skeleton, output): law.exact(output) for output in law.outputs}  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize("function", APART, ids=_name)
def test_the_product_is_the_law(function: Any) -> None:
    one = one_record(function)
    for value in range(3):
        law = one.product_law(value)
        assert all(len(factor.places) == 1 for factor in law.factors)
        assert listed(law) == enumerated(one, value, law.skeleton)


@pytest.mark.parametrize("function", DEPENDENT, ids=_name)
def test_parts_that_depend_on_each_other_are_no_factors(function: Any) -> None:
    """Where they are one factor together, or enumerated, the law is that of the program."""
    one = one_record(function)
    try:
        law = one.product_law(1)
    except LiptestError:
        return
    assert listed(law) == enumerated(one, 1, law.skeleton)


def test_an_exception_of_a_part_is_not_a_product() -> None:
    with pytest.raises(LiptestError):
        one_record(product_programs.caught).product_law(0)


def test_sums_of_columns_are_later_code() -> None:
    inner = next(PythonFunction(product_programs.columns).inner_records(np.arange(6) % 3))
    assert inner.product_law(0).size == 2**product_programs.BITS


def two(first: Fraction, second: Fraction) -> ProductLaw:
    factors = [
        PartsLaw.of((place,), {(1,): share, (0,): 1 - share})
        for place, share in enumerate((first, second))
    ]
    return ProductLaw((PartPlace(0), PartPlace(1)), tuple(factors))


def test_a_mixture_is_a_product_or_one_factor() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    alike = merge([(half, two(third, half)), (half, two(third, third))])
    assert alike is not None
    assert listed(alike) == listed(two(third, Fraction(5, 12)))
    mixed = merge([(half, two(Fraction(1), Fraction(1))), (half, two(Fraction(0), Fraction(0)))])
    assert mixed is not None
    assert listed(mixed) == {(1, 1): half, (0, 0): half}
    assert [factor.places for factor in mixed.factors] == [(0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("function", [product_programs.arrays, product_programs.by_place])
def test_pairs_are_compared_as_by_all_outputs(function: Any) -> None:
    """Both laws, by what tells them apart, have the ratios of all outputs, and their masses."""
    one = one_record(function)
    for left, right in itertools.combinations(range(3), 2):
        laws = [listed(one.product_law(value)) for value in (left, right)]
        pair = comparable(Wide(one), left, right)  # type: ignore[arg-type]
        found = [pair.law(np.array([value])) for value in (left, right)]
        assert by_ratio(*laws) == by_ratio(
            *(dict(zip(law.outputs, law.fractions or (), strict=True)) for law in found)
        )


class Wide:
    """A mechanism whose parts always count as many."""

    law_source = "enumerated"

    def __init__(self, one: OneRecord) -> None:
        self.one = one

    def product_law(self, value: int) -> ProductLaw:
        law = self.one.product_law(value)
        many = [
            PartsLaw.of((place,), {(0,): Fraction(1, 2), (1,): Fraction(1, 2)})
            for place in range(9, 16)
        ]
        return ProductLaw(law.skeleton, (*law.factors, *many))


def by_ratio(left: dict[Any, Fraction], right: dict[Any, Fraction]) -> dict[Any, Fraction]:
    masses: dict[Any, Fraction] = {}
    for output in {*left, *right}:
        p, q = left.get(output, Fraction(0)), right.get(output, Fraction(0))
        if p or q:
            ratio = p / q if q else None
            masses[ratio] = masses.get(ratio, Fraction(0)) + p
    return masses


@pytest.mark.slow
def test_what_is_refused_stays_refused() -> None:
    """A function that looks at types is not replayed: neither its product nor its law is known."""
    one = one_record(product_programs.asking_types)
    for _ in range(2):
        with pytest.raises(LiptestError):
            one.product_law(0)
        with pytest.raises(LiptestError):
            one.law(np.array([0]))
