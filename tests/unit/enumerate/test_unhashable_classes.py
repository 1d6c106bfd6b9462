"""Classes of a metaclass without a hash: refused in words, or harmless; never a TypeError."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.unhashable_classes import unhashable_classes_refused
from liptest.errors import InputError, MechanismError
from liptest.verdicts import Decision

LAW = lt.ProductDistribution.bernoulli([0.5, 0.5])


class Equal(type):
    def __eq__(cls, other: object) -> bool:
        return cls is other


class Held(metaclass=Equal):
    def __init__(self, value: int) -> None:
        self.value = value


class Whole(int, metaclass=Equal):
    pass


class Pair(tuple[int, ...], metaclass=Equal):
    pass


class Broken(Exception, metaclass=Equal):
    pass


class Called(metaclass=Equal):
    def __call__(self, data: Any, rng: Any) -> int:
        return int(data[0]) ^ int(rng.random() < 0.25)


HELD = Held(3)


def answers_whole(data: Any, rng: Any) -> Any:
    return Whole(int(data.sum()) + int(rng.integers(0, 2)))


def answers_pair(data: Any, rng: Any) -> Any:
    return Pair((int(data.sum()), int(rng.integers(0, 2))))


def answers_object(data: Any, rng: Any) -> Any:
    return Held(int(data.sum()))


def holds(data: Any, rng: Any) -> Any:
    return HELD.value + int(rng.integers(0, 2))


def raises(data: Any, rng: Any) -> Any:
    if data[0] == 1:
        raise Broken("x")
    return int(rng.integers(0, 2))


@pytest.mark.parametrize("function", [answers_whole, answers_pair, answers_object, holds])
def test_an_object_of_such_a_class_is_refused_in_words(function: Any) -> None:
    said = "the metaclass Equal, which has no __hash__.*write `__hash__ = type.__hash__`"
    with pytest.raises(MechanismError, match=said):
        lt.output_law(lt.mechanism(function), np.array([1, 0]))
    with pytest.raises(MechanismError, match=said):
        lt.check_privacy(lt.mechanism(function), LAW, epsilon=1.0, method="exhaustive")
    with pytest.raises(MechanismError, match=said):
        lt.exact_epsilon(lt.mechanism(function), lt.Hypercube(2))


def test_a_callable_of_such_a_class_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="the metaclass Equal of its class Called has no __hash__"):
        lt.mechanism(Called())


def test_an_exception_of_such_a_class_is_an_output() -> None:
    verdict = lt.check_privacy(lt.mechanism(raises), LAW, epsilon=1.0, method="exhaustive")
    assert verdict.decision is Decision.NO


def test_other_type_errors_pass() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"), unhashable_classes_refused("m"):
        hash([])
