"""Clients that hold functions, choose among them, and change what their own methods made."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from tests.unit.enumerate.records.test_by_records import one_record, product_law

FOUR = lt.RecordGrid([4] * 500)
FLIPPED = 0.25
KEPT = [0, 0]


def halved(value: int) -> int:
    return int(value) // 2


def odd(value: int) -> int:
    return int(value) % 2


def remembered(value: int) -> int:
    before = KEPT[0]
    KEPT[0] = int(value) % 2
    return before


class Mapping:
    """Tells one bit of what a function makes of the value."""

    def __init__(self, mapper: Callable[[int], int] | None = None) -> None:
        self.mapper = halved if mapper is None else mapper

    def tell(self, value: int) -> int:
        bit = self.mapper(value)
        return bit if random.random() >= FLIPPED else 1 - bit


class Choosing:
    """Tells one bit of what one of some functions makes of the value, and of which."""

    def __init__(self, functions: Any = (halved, odd)) -> None:
        self.functions = functions

    def tell(self, value: int) -> tuple[int, int]:
        number = random.randint(0, 1)
        function = self.functions[number]
        bit = function(value)
        return (bit if random.random() >= FLIPPED else 1 - bit), number

    def tell_at_once(self, value: int) -> int:
        bit = self.functions[random.randint(0, 1)](value)
        return bit if random.random() >= FLIPPED else 1 - bit


class Vectors:
    """A vector of signs in which that of the value is another, each flipped by chance."""

    def __init__(self) -> None:
        self.kept = np.full(2, -1)
        self.names = ["a", "b"]

    def one_hot(self, value: int) -> tuple[Any, int]:
        vector = np.full(2, -1)
        vector[int(value) % 2] = 1
        return vector, 7

    def tell(self, value: int) -> Any:
        vector, number = self.one_hot(value)
        vector[np.random.rand(*vector.shape) < FLIPPED] *= -1
        if number < 0:
            return self.unknown
        return vector

    def pick(self, value: int) -> str:
        left = self.names.copy()
        if odd(value) and random.random() < 0.5:
            left.remove("a")
        return left[0]


class KeptVectors(Vectors):
    """The same vector for all records: a later one finds what an earlier one left."""

    def one_hot(self, value: int) -> tuple[Any, int]:
        return self.kept, 7


class OwnZeros(Vectors):
    """A method with a name of NumPy, whose result is kept."""

    def zeros(self) -> Any:
        return self.kept

    def tell(self, value: int) -> Any:
        vector = self.zeros()
        before = int(vector[0])
        vector[0] = int(value)
        return before


class NamedAsNumpys(Vectors):
    """Functions with names of NumPy and of generators that give out what is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.zeros = lambda: KEPT

    def normal(self, size: int) -> Any:
        return KEPT

    def first(self) -> Any:
        vector = self.zeros()
        vector.sort()
        return vector

    def second(self) -> Any:
        return self.normal(size=2)

    def tell(self, value: int) -> int:
        vector = self.first()
        before = vector[0]
        vector[0] = int(value) % 2
        return before

    def pick(self, value: int) -> Any:
        vector = self.second()
        before = vector[0]
        vector[0] = int(value) % 2
        return before

    def tell_at_once(self, value: int) -> Any:
        vector = self.normal(size=2) if value else self.normal(size=3)
        before = vector[0]
        vector[0] = int(value) % 2
        return before


class ListOfOthers(list[Any]):
    """Gives out another function each time."""

    turn = itertools.count()

    def __getitem__(self, place: Any) -> Any:
        return (halved, odd)[next(self.turn) % 2]


def program_of(client: Any, method: str = "tell") -> Any:
    """A function of records that asks a client of each; the client is made before."""
    if method == "tell":

        def program(data: Any) -> list[Any]:
            return [client.tell(value) for value in data]

    elif method == "pick":

        def program(data: Any) -> list[Any]:
            return [client.pick(value) for value in data]

    else:

        def program(data: Any) -> list[Any]:
            return [client.tell_at_once(value) for value in data]

    return program


RIGHT = {
    "a function": program_of(Mapping()),
    "a lambda": program_of(Mapping(lambda value: int(value) // 2)),
    "one of some": program_of(Choosing()),
    "one of a list": program_of(Choosing([halved, odd])),
    "called where it is chosen": program_of(Choosing(), "tell_at_once"),
    "a vector of its own": program_of(Vectors()),
    "a copy": program_of(Vectors(), "pick"),
}
WRONG = {
    "a function that keeps": (program_of(Mapping(remembered)), "outside"),
    "one that keeps": (program_of(Choosing((halved, remembered))), "outside"),
    "another list": (program_of(Choosing(ListOfOthers((halved, odd)))), "ListOfOthers"),
    "a kept vector": (program_of(KeptVectors()), "a change of what self.one_hot returns"),
    "its own zeros": (program_of(OwnZeros()), "zeros"),
    "an attribute named as NumPy's": (program_of(NamedAsNumpys()), "a change of what"),
    "a method named as a draw": (program_of(NamedAsNumpys(), "pick"), "a change of what"),
    "one of two of them": (program_of(NamedAsNumpys(), "tell_at_once"), "a change of what"),
}


@pytest.mark.parametrize("program", RIGHT.values(), ids=list(RIGHT))
def test_the_law_of_two_is_the_product(program: Any) -> None:
    dataset = np.array([3, 0])
    one = one_record(program, 2)
    laws = [one.law(dataset[place : place + 1]) for place in range(2)]
    whole = PythonFunction(program).law(dataset)
    assert {o: whole.exact(o) for o in whole.outputs} == product_law(laws, several=False)


@pytest.mark.parametrize(("program", "what"), WRONG.values(), ids=list(WRONG))
def test_what_may_be_kept_is_not_taken_apart(program: Any, what: str) -> None:
    one = one_record(program, 2)
    for value in range(2):
        with pytest.raises(lt.errors.LiptestError, match=what):
            one.law(np.array([value]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a function", "one of some", "called where it is chosen"])
def test_clients_with_functions_are_proved_and_refuted(name: str) -> None:
    for epsilon, decision in ((1.0987, "YES"), (1.0, "NO")):
        verdict = lt.check_privacy(lt.mechanism(RIGHT[name]), FOUR, epsilon=epsilon, seed=1)
        assert (verdict.decision, verdict.method) == (decision, "per-record")
