"""Canonical outputs: equal ones compare equal, the rest is refused with advice."""

from __future__ import annotations

import enum
import math
from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees.outputs import canonical_output as canonical
from liptest.enumerate.trees.outputs import make_raised
from liptest.errors import MechanismError
from liptest.mechanisms.laws import Raised


class Colour(enum.Enum):
    RED = 1


@dataclass(frozen=True)
class Point:
    x: int


Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (np.int64(3), int),
        (np.float64(0.5), float),
        (np.bool_(True), bool),
        (np.str_("a"), str),
        (np.uint8(7), int),
        (Decimal("0.1"), Decimal),
        (Fraction(1, 3), Fraction),
        ("a", str),
        (b"a", bytes),
        (None, type(None)),
        (1 + 2j, complex),
        (Colour.RED, Colour),
        (Point(1), Point),
        (..., type(...)),
        (int, type),
        (frozenset({1}), frozenset),
        (np.datetime64("2020-01-01").item(), type(np.datetime64("2020-01-01").item())),
    ],
)
def test_values_stay_what_they_are(output: Any, kind: type) -> None:
    found = canonical(output, "f")
    assert found == output
    assert type(found) is kind


def test_entries_of_tuples_are_canonical_too() -> None:
    found = canonical((np.int64(1), (np.float64(2.0), np.nan)), "f")
    assert [type(entry) for entry in found] == [int, tuple]
    assert type(found[1][0]) is float
    assert found[1][1] is math.nan
    assert canonical(Pair(np.int64(1), 2), "f") == Pair(1, 2)
    assert isinstance(canonical(Pair(np.int64(1), 2), "f"), Pair)


def test_every_nan_is_one_output() -> None:
    nans = [float("nan"), np.float64("nan"), np.float32("nan"), -math.nan]
    assert {canonical(nan, "f") for nan in nans} == {math.nan}
    assert len({canonical((nan, 1), "f") for nan in nans}) == 1
    assert canonical(frozenset({float("nan")}), "f") == canonical(frozenset({math.nan}), "f")


@dataclass
class Open:
    x: Any
    seen: int = field(default=0, compare=False)


@pytest.mark.parametrize(
    ("outputs", "shown"),
    [
        ([[1, 2], (1, 2), np.array([1, 2]), [np.int64(1), 2.0]], "(1, 2)"),
        ([np.array([[1, 2]]), [[1, 2]], ((1, 2),)], "((1, 2),)"),
        ([np.array(1), 1, True, 1.0], "1"),
        ([{1, 2}, frozenset({2, 1})], "frozenset({1, 2})"),
        ([{1: [2], "a": 3}, {"a": 3, np.int64(1): (2,)}], "{'a': 3, 1: (2,)}"),
        ([Open([1], 2), Open((1,), 3)], "Open(x=(1,))"),
        ([np.array(["a", None], dtype=object), ("a", None)], "('a', None)"),
        ([np.array([math.nan]), [float("nan")]], "(nan,)"),
    ],
)
def test_containers_compare_by_value(outputs: list[Any], shown: str) -> None:
    found = [canonical(output, "f") for output in outputs]
    assert len(set(found)) == 1
    assert repr(found[0]) == shown


@pytest.mark.parametrize(
    "outputs",
    [
        [1, True, 1.0, np.int64(1), np.array(1), np.array([1]), [1], (1,), {1}, frozenset({1})],
        [{1: 2, 3: 4}, {3: 4, 1: 2}],
        [0.0, -0.0],
        [np.zeros(2), np.zeros(2, np.float32), np.zeros((1, 2))],
        [Open(1), Open(1.0), Point(1), Point(True)],
        [[[1]], [(1,)]],
        [Decimal("1.0"), Decimal("1.00"), range(1, 1), range(2, 2)],
    ],
)
def test_types_and_order_can_count(outputs: list[Any]) -> None:
    assert len({canonical(output, "f", typed=True) for output in outputs}) == len(outputs)
    again = [canonical(output, "f", typed=True) for output in outputs]
    assert again == [canonical(output, "f", typed=True) for output in outputs]


@pytest.mark.parametrize("different", [([1], {1}), ({1: 2}, [(1, 2)]), (Open(1), (1,)), ("1", 1)])
def test_containers_of_another_kind_stay_different(different: tuple[Any, Any]) -> None:
    left, right = (canonical(output, "f") for output in different)
    assert left != right


@pytest.mark.parametrize("output", [bytearray(b"a"), (1, bytearray(b"a")), {1: bytearray()}])
@pytest.mark.parametrize("typed", [False, True])
def test_unhashable_outputs_say_what_to_return(output: Any, typed: bool) -> None:
    with pytest.raises(MechanismError, match=r"f: an output of type bytearray is unhashable; ret"):
        canonical(output, "f", typed=typed)


@pytest.mark.parametrize(
    "output", [object(), iter([1]), ValueError("x"), (i for i in [1]), (1, object())]
)
def test_outputs_that_compare_by_identity_are_refused(output: Any) -> None:
    with pytest.raises(MechanismError, match="compares by identity"):
        canonical(output, "f")


def test_messages_do_not_quote_the_output() -> None:
    with pytest.raises(MechanismError) as caught:
        canonical(bytearray(b"secret"), "f")
    assert "secret" not in str(caught.value)


class OwnError(Exception):
    pass


def test_exceptions_are_outputs_by_type() -> None:
    assert make_raised(ValueError("a")) == make_raised(ValueError("b")) == Raised("ValueError")
    assert make_raised(OwnError()) == Raised(f"{__name__}.OwnError")
    assert make_raised(KeyError()) != make_raised(IndexError())


def test_nan_is_one_output_whether_types_count_or_not() -> None:
    for typed in (False, True):
        law = lt.mechanism(
            lambda data, rng: [np.float64("nan"), np.float64("nan")][rng.integers(2)],
            typed_outputs=typed,
        ).law(np.array([0]))
        assert list(law.values()) == [1.0]


@pytest.mark.slow
def test_lists_in_lists_without_an_end_are_refused_in_words() -> None:
    def holds_itself(data: Any) -> Any:
        found: list[Any] = []
        found.append(found)
        return found

    def is_deep(data: Any) -> Any:
        found: list[Any] = []
        for _ in range(100_000):
            found = [found]
        return found

    for function in (holds_itself, is_deep):
        with pytest.raises(MechanismError, match="in each other, too deep"):
            lt.output_law(lt.mechanism(function), np.array([0]))


@pytest.mark.parametrize("entry", [int, lambda number: (number, 1)])
def test_whole_numbers_that_python_does_not_print_are_refused(entry: Any) -> None:
    """It was an internal error where the law was printed."""
    with pytest.raises(MechanismError, match="more digits than Python prints"):
        lt.mechanism(lambda data, rng: entry(10**5000)).law(np.array([1, 0]))
    assert dict(lt.mechanism(lambda data, rng: entry(10**4000)).law(np.array([1, 0])))


class Listed(list[int]):
    """A list with room for attributes."""


def with_attribute(value: Any) -> Any:
    value.hidden = 5
    return value


@pytest.mark.parametrize(
    "output",
    [
        with_attribute(Listed([1])),
        (with_attribute(Listed([1])),),
        with_attribute(Open(1)),
        with_attribute(np.zeros(2).view(type("Sub", (np.ndarray,), {}))),
        with_attribute(type("Whole", (int,), {})(3)),
        np.ma.array([7], mask=[True]),
    ],
)
@pytest.mark.parametrize("typed", [False, True])
def test_what_equality_does_not_see_is_refused(output: Any, typed: bool) -> None:
    with pytest.raises(MechanismError, match="holds attributes, which == does not compare"):
        canonical(output, "f", typed=typed)


def test_subclasses_without_attributes_are_their_entries() -> None:
    assert canonical(Listed([1]), "f") == (1,)
    assert canonical(np.array([[1]]).view(np.matrix), "f") == ((1,),)


@pytest.mark.parametrize(
    "outputs",
    [
        [np.zeros((0, 1)), np.zeros((0, 2)), np.zeros(0)],
        [np.zeros((2, 0, 3)), np.zeros((2, 0, 4))],
        [np.zeros(1, dtype=[("a", float)]), np.zeros(1, dtype=[("b", float)])],
    ],
)
def test_shapes_without_entries_and_names_of_fields_are_told_apart(outputs: list[Any]) -> None:
    assert len({canonical(output, "f") for output in outputs}) == len(outputs)
