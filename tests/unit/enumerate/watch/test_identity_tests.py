"""``is`` sees objects, not numbers: such a test of a random number is refused, others are not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import NonDeterministicError, UnsupportedRandomnessError

YES = np.True_
MISSING = object()
HIDDEN = [operator.is_]
DATA = np.array([1, 0])

Program = Callable[..., Any]


def constant(data: Any, rng: Any) -> Any:
    return [v is np.True_ for v in rng.random(2) > 0.5]


def of_a_module(data: Any, rng: Any) -> Any:
    return YES is (rng.random(2) > 0.5)[0]


def one_number(data: Any, rng: Any) -> Any:
    return rng.integers(0, 1_000_000) is np.True_


def of_data(data: Any, rng: Any) -> Any:
    return int(rng.integers(2)) + (data[0] is True)


def two_numbers(data: Any, rng: Any) -> Any:
    first, second = rng.random(2) > 0.5
    return first is second


def noise(data: Any, rng: Any) -> Any:
    return [v is not np.False_ for v in rng.laplace(size=2) > data]


def pattern(data: Any, rng: Any) -> Any:
    for v in (rng.random(2) > 0.5).tolist():
        match v:
            case True:
                return 1
    return 0


def operator_function(data: Any, rng: Any) -> Any:
    return [operator.is_not(v, YES) for v in rng.random(2) > 0.5]


def one_of_two(data: Any, rng: Any) -> Any:
    v = (rng.random(2) > 0.5)[0]
    return (v if data[0] else None) is YES


def one_of_two_on_the_right(data: Any, rng: Any) -> Any:
    """It was taken for a test of None alone, and its law was {0: 1}."""
    return int((rng.laplace(size=2) > 30)[0] is (YES if data[0] else None))


class Storing:
    def __init__(self, flag: Any, size: int = 2, name: str = "") -> None:
        self.size, self.name, self.flag = size, name, flag
        self.share = 0.25 * size
        if self.flag is True:
            self.share = 0.5


class Changing(Storing):
    def __init__(self, rng: Any) -> None:
        self.flag = True
        self.draw(rng)
        self.share = 0.5 if self.flag is True else 0.25

    def draw(self, rng: Any) -> None:
        self.flag = (rng.random(2) > 0.5)[0]


class Wrapping:
    def __init__(self, rng: Any) -> None:
        self.rng = rng
        self.flag = True
        self.share = 0.5 if self.flag is True else 0.25

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[name] = (vars(self)["rng"].random(2) > 0.5)[0] if name == "flag" else value


class Twice:
    def __init__(self, rng: Any) -> None:
        self.flag = True
        self.flag = (rng.random(2) > 0.5)[0]
        self.share = 0.5 if self.flag is True else 0.25


def drawn_before(data: Any, rng: Any) -> Any:
    return Storing((rng.random(2) > 0.5)[0]).share


def changed_by_a_method(data: Any, rng: Any) -> Any:
    return Changing(rng).share


def set_in_another_way(data: Any, rng: Any) -> Any:
    return Wrapping(rng).share


def set_twice(data: Any, rng: Any) -> Any:
    return Twice(rng).share


def stored(data: Any, rng: Any) -> Any:
    return int(rng.random() < Storing(True, 3).share)


REFUSED = [
    drawn_before,
    changed_by_a_method,
    set_in_another_way,
    set_twice,
    constant,
    of_a_module,
    one_number,
    of_data,
    two_numbers,
    noise,
    pattern,
]
REFUSED += [operator_function, one_of_two, one_of_two_on_the_right]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_identity_of_a_number_is_refused(program: Program) -> None:
    """Its law was {(False, False): 1}, as what stands for a number is another object."""
    with pytest.raises(UnsupportedRandomnessError, match=r"asks with 'is' .*write bool\(v\)") as no:
        lt.mechanism(program).law(DATA)
    assert "test_identity_tests.py:" in str(no.value)


def setting(data: Any, rng: Any, flag: Any = True) -> Any:
    return int(rng.integers(2)) if flag is True else 0


def sentinel(data: Any, rng: Any, start: Any = MISSING) -> Any:
    return int(rng.integers(2)) if start is MISSING else 0


def kind(data: Any, rng: Any) -> Any:
    v = rng.integers(2)
    return int(v) if type(data) is not int and v.__class__ is not str else 2


def truth(data: Any, rng: Any) -> Any:
    return int(bool((rng.random(2) > 0.5)[0]) is True)


def negated(data: Any, rng: Any) -> Any:
    return int((not (rng.random(2) > 0.5)[0]) is False)


def best(data: Any, rng: Any) -> Any:
    found = None
    for v in rng.random(1) > 0.5:
        if found is None or v:
            found = v
    return int(found)


class Held:
    def __init__(self) -> None:
        self.on = True

    def __call__(self, data: Any, rng: Any) -> Any:
        return int(rng.integers(2)) if self.on is True and self is not data else 0


FOLLOWED = [setting, sentinel, kind, truth, negated, best, stored, Held()]


@pytest.mark.parametrize("program", FOLLOWED, ids=lambda p: getattr(p, "__name__", "object"))
def test_identity_of_other_objects_is_followed(program: Program) -> None:
    law = lt.mechanism(program).law(DATA)
    assert dict(law) == pytest.approx({0: 0.5, 1: 0.5})


def test_each_repetition_draws_anew() -> None:
    """A test that no byte code shows is seen by repetition: eight times for a law of one leaf."""

    def program(data: Any, rng: Any) -> Any:
        return [HIDDEN[0](v, YES) for v in rng.random(2) > 0.5]

    with pytest.raises(NonDeterministicError, match="with real random numbers"):
        lt.mechanism(program).law(DATA)
