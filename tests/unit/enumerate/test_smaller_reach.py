"""Iterators as answers, draws in single precision, and draws of many bits that are compared."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError, LiptestError, MechanismError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Raised

Function = Callable[..., Any]
BITS = np.array([1, 0, 1])


def law(function: Function, *, typed: bool = False) -> dict[Any, Fraction]:
    found = lt.output_law(lt.mechanism(function, typed_outputs=typed), BITS)
    return dict(zip(found.outputs, found.fractions or (), strict=True))


def flipped(v: Any, rng: Any) -> int:
    return int(v) if rng.random() < 0.75 else 1 - int(v)


SPELLINGS: dict[str, Function] = {
    "list": lambda data, rng: [flipped(v, rng) for v in data],
    "generator": lambda data, rng: (flipped(v, rng) for v in data),
    "map": lambda data, rng: map(flipped, data, itertools.repeat(rng)),
    "list_iterator": lambda data, rng: iter([flipped(v, rng) for v in data]),
    "chain": lambda data, rng: itertools.chain((flipped(v, rng) for v in data), ()),
    "reversed": lambda data, rng: reversed([flipped(v, rng) for v in data[::-1]]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_iterators_are_walked_to_their_ends(name: str) -> None:
    function = SPELLINGS[name]
    expected = {
        bits: math.prod(
            (Fraction(3 if bit == one else 1, 4) for bit, one in zip(bits, BITS, strict=True)),
            start=Fraction(1),
        )
        for bits in itertools.product((0, 1), repeat=3)
    }
    assert law(function) == expected
    verdict = lt.check_privacy(lt.mechanism(function), lt.Hypercube(3), epsilon=math.log(3), seed=1)
    assert verdict.decision == "YES"


def test_pairs_of_a_zip_are_tuples() -> None:
    found = law(lambda data, rng: zip([rng.random() < 0.5], data, strict=False))
    assert found == {((True, 1),): Fraction(1, 2), ((False, 1),): Fraction(1, 2)}


@pytest.mark.slow
def test_types_tell_iterators_apart_where_they_count() -> None:
    def leaky(data: Any, rng: Any) -> Any:
        numbers = [flipped(1, rng)]
        return iter(numbers) if data[0] else (one for one in numbers)

    claim: dict[str, Any] = {"epsilon": 0.1, "seed": 1}
    assert lt.check_privacy(lt.mechanism(leaky), lt.Hypercube(1), **claim).decision == "YES"
    typed = lt.mechanism(leaky, typed_outputs=True)
    assert lt.check_privacy(typed, lt.Hypercube(1), **claim).decision == "NO"
    assert {output.kind for output in law(leaky, typed=True)} == {"list_iterator"}


def test_exceptions_of_a_generator_are_outputs() -> None:
    def failing(data: Any, rng: Any) -> Any:
        return (1 // int(v) for v in data if rng.random() < 0.5)

    found = law(failing)
    assert sum(found.values()) == 1
    assert found[Raised("ZeroDivisionError")] > 0


def test_what_does_not_end_is_refused() -> None:
    with pytest.raises(MechanismError, match="has more than 65,536 entries"):
        law(lambda data, rng: itertools.count(int(rng.random() < 0.5)))


def test_iterators_of_others_are_refused_as_before() -> None:
    class Own:
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> int:
            raise StopIteration

    for made in (Own, lambda: iter({1, 2})):
        with pytest.raises(MechanismError, match="compares by identity"):
            law(lambda data, rng, made=made: made())


@pytest.mark.parametrize("bound", [0.25, 0.3, 1e-9, 0.0, 1.0, 2.0**-24])
def test_single_precision_has_a_grid_of_its_own(bound: float) -> None:
    """2^24 floats; the law of ``<`` is a count of grid points."""
    found = law(lambda data, rng: rng.random(dtype=np.float32) < bound)
    points = math.ceil(Fraction(bound) * 2**24)
    assert found.get(True, 0) == Fraction(min(points, 2**24), 2**24)


def test_the_grid_of_single_precision_is_numpys() -> None:
    drawn = [np.random.default_rng(seed).random(dtype=np.float32) for seed in range(200)]
    assert all(type(one) is float and (one * 2**24).is_integer() for one in drawn)
    assert not all((one * 2**23).is_integer() for one in drawn)


def test_single_precision_is_compared_again_and_calculated_with() -> None:
    def twice(data: Any, rng: Any) -> Any:
        u = rng.random(dtype="float32")
        return u < 0.5, u < 0.25, 1 - u > 0.9

    found = law(twice)
    assert sum(found.values()) == 1
    assert found[True, True, False] == Fraction(1, 4) - Fraction(math.ceil(0.1 * 2**24), 2**24)


def test_arrays_of_single_precision_are_refused() -> None:
    with pytest.raises(UnsupportedRandomnessError, match="dtype="):
        law(lambda data, rng: bool(rng.random(2, dtype=np.float32)[0] < 0.5))


@pytest.mark.parametrize("low", [0, -5, 2**40])
@pytest.mark.parametrize("bound", [2**60, 3, 0, -1, 2.0**61, 1.5, float("inf"), np.int64(77)])
def test_whole_numbers_of_many_bits_are_compared(low: int, bound: Any) -> None:
    def below(data: Any, rng: Any) -> Any:
        return bool(rng.integers(low, 2**62) < bound)

    count = 2**62 - low
    points = count if bound == math.inf else math.ceil(Fraction(bound)) - low
    if isinstance(bound, float) and math.isfinite(bound) and bound > 2**53:
        # NumPy compares with floats as floats: those that are rounded up to it are not below.
        points = sum_below(low, bound)
    assert law(below).get(True, 0) == Fraction(min(max(points, 0), count), count)


def sum_below(low: int, bound: float) -> int:
    near = int(bound)
    while float(np.int64(near)) >= bound:
        near -= 1
    return near + 1 - low


@pytest.mark.slow
def test_numpys_whole_numbers_are_calculated_with_only_as_floats() -> None:
    third = law(lambda data, rng: bool(rng.integers(3**39) / 3**39 < 0.5))
    assert abs(float(third[True]) - 0.5) < 1e-12
    for function in (
        lambda data, rng: rng.integers(2**62) + 1 < 5,
        lambda data, rng: rng.integers(2**62) % 3**30 == 0,
        lambda data, rng: rng.integers(2**62),
    ):
        with pytest.raises((UnsupportedRandomnessError, BudgetError)):
            law(function)


@pytest.mark.parametrize("mask", [0, 1, 2**63, 0xDEADBEEF, 2**64 - 1])
def test_bits_combined_with_a_mask_are_uniform(mask: int) -> None:
    def below(data: Any, rng: Any) -> Any:
        x = random.getrandbits(64) ^ mask
        return x < 2**62, x >= 3 * 2**62

    found = law(below)
    assert found == {
        (True, False): Fraction(1, 4),
        (False, False): Fraction(1, 2),
        (False, True): Fraction(1, 4),
    }


def test_a_number_and_its_combination_are_not_taken_for_independent() -> None:
    def both(data: Any, rng: Any) -> Any:
        x = random.getrandbits(64)
        high = x >> 63
        y = x ^ 5
        return y < 2**63, high == 1

    def once_compared(data: Any, rng: Any) -> Any:
        x = random.getrandbits(64)
        return x < 2**63 and (x ^ 1) < 2**62

    with pytest.raises(LiptestError):
        law(both)
    # What is left is a block of numbers that differ in their last digits only.
    assert law(once_compared) == {True: Fraction(1, 4), False: Fraction(3, 4)}


def test_a_mask_of_the_data_is_hidden_by_fair_bits() -> None:
    def padded(data: Any, rng: Any) -> Any:
        return (random.getrandbits(64) ^ int(data[0])) < 2**63

    verdict = lt.check_privacy(lt.mechanism(padded), lt.Hypercube(1), epsilon=0.01, seed=1)
    assert verdict.decision == "YES"
