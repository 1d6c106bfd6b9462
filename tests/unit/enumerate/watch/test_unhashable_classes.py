"""Classes of a metaclass without a hash: refused in words, or harmless; never a TypeError."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.watch.unhashable_classes import unhashable_classes_refused
from liptest.errors import InputError, MechanismError

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


#: In a process of its own: libraries that look through all exceptions need their hash.
RAISES = """
import liptest as lt

class Equal(type):
    def __eq__(cls, other):
        return cls is other

class Broken(Exception, metaclass=Equal):
    pass

def raises(data, rng):
    if data[0] == 1:
        raise Broken("x")
    return int(rng.integers(0, 2))

law = lt.ProductDistribution.bernoulli([0.5, 0.5])
print(lt.check_privacy(lt.mechanism(raises), law, epsilon=1.0, method="exhaustive").decision)
"""


@pytest.mark.slow
def test_an_exception_of_such_a_class_is_an_output(tmp_path: Path) -> None:
    script = tmp_path / "raises.py"
    script.write_text(RAISES)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "NO"


def test_other_type_errors_pass() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"), unhashable_classes_refused("m"):
        hash([])
