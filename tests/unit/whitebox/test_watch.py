"""Randomness that does not come from rng is noticed and named; nothing stays changed."""

from __future__ import annotations

import functools
import os
import random
import secrets
import sys
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from liptest.errors import NonDeterministicError
from liptest.whitebox.function import mechanism
from liptest.whitebox.watch import RandomnessWatch

HELD = np.random.default_rng(0)
HELD_LEGACY = np.random.RandomState(0)
HELD_PYTHON = random.Random(0)


def helper() -> int:
    return int(HELD.integers(2))


def by_default(data: Any, rng: Any, generator: Any = np.random.default_rng(1)) -> int:  # noqa: B008
    return int(generator.integers(2))


class Noisy:
    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def __call__(self, data: Any, rng: Any) -> int:
        return int(self.generator.integers(2))

    def answer(self, data: Any, rng: Any) -> int:
        return int(self.generator.integers(2))


def closing_over(generator: Any) -> Callable[[Any, Any], int]:
    def inner(data: Any, rng: Any) -> int:
        return int(generator.integers(2))

    return inner


def keeps_the_metadata(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(data: Any, rng: Any) -> Any:
        return function(data, rng)

    return wrapper


# Outputs are constant: only the states tell.
SOURCES: list[tuple[Any, str]] = [
    (lambda data, rng: np.random.random() < 2, r"numpy\.random"),
    (lambda data, rng: random.random() < 2, "the module random"),
    (lambda data, rng: HELD.random() < 2, r"a generator that it holds \(HELD\)"),
    (lambda data, rng: HELD_LEGACY.random() < 2, "HELD_LEGACY"),
    (lambda data, rng: HELD_PYTHON.random() < 2, "HELD_PYTHON"),
    (lambda data, rng: helper() < 2, "HELD"),
    (lambda data, rng: [HELD.random() for _ in data] and 0, "HELD"),
    (keeps_the_metadata(lambda data, rng: HELD.random() < 2), "HELD"),
    (functools.partial(lambda data, rng: HELD.random() < 2), "HELD"),
    (lambda data, rng: np.random.Generator.random(rng) < 2, "rng past its public methods"),
    (lambda data, rng: secrets.randbelow(5) < 5, "the operating system"),
    (lambda data, rng: len(os.urandom(2)), "the operating system"),
    (lambda data, rng: uuid.uuid4().version, "the operating system"),
    (lambda data, rng: np.random.default_rng().random() < 2, "the operating system"),
    (lambda data, rng: random.SystemRandom().random() < 2, "the operating system"),
]


@pytest.mark.parametrize(("function", "where"), SOURCES)
def test_each_source_is_named(function: Any, where: str) -> None:
    with pytest.raises(NonDeterministicError, match=f"{where}.*from the rng argument"):
        mechanism(function).law(np.array([0, 1]))


@pytest.mark.parametrize(
    "function", [by_default, Noisy(), Noisy().answer, closing_over(np.random.default_rng(2))]
)
def test_generators_in_defaults_attributes_and_closures_are_noticed(function: Any) -> None:
    # Such an output changes from run to run, so either check may speak first.
    with pytest.raises(NonDeterministicError, match="non-deterministic"):
        mechanism(function).law(np.array([0, 1]))


def test_a_watched_generator_that_stands_still_is_fine() -> None:
    assert mechanism(lambda data, rng: HELD is None).law(np.array([1])) == {False: 1.0}


def test_a_generator_seeded_inside_is_deterministic() -> None:
    function = lambda data, rng: int(np.random.default_rng(7).integers(10))  # noqa: E731
    assert len(mechanism(function).law(np.array([1]))) == 1


def test_a_noticed_law_is_not_remembered() -> None:
    tested = mechanism(lambda data, rng: np.random.random() < 2)
    for _ in range(2):
        with pytest.raises(NonDeterministicError):
            tested.laws_of(np.array([[1, 2]]))


def test_the_profiling_hook_is_given_back() -> None:
    before = sys.getprofile()
    mechanism(lambda data, rng: rng.integers(2)).law(np.array([1]))
    assert sys.getprofile() is before


def test_a_profiler_that_runs_already_is_left_alone() -> None:
    events: list[str] = []

    def profiler(frame: Any, event: str, argument: Any) -> None:
        events.append(event)

    watch = RandomnessWatch("f", helper)
    sys.setprofile(profiler)
    try:
        with watch.no_system_randomness():
            assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert events
