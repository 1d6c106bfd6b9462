"""Random numbers past all stand-ins are noticed and named; nothing stays changed."""

from __future__ import annotations

import os
import pickle
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest import errors
from liptest.enumerate.watch import side_effects
from liptest.enumerate.watch.side_effects import RandomnessWatch
from liptest.errors import NonDeterministicError


@pytest.mark.parametrize(
    ("draw", "where"),
    [
        (np.random.rand, r"numpy\.random"),
        (random.random, "the module random"),
    ],
)
def test_a_state_that_moves_is_named(draw: Any, where: str) -> None:
    with (
        pytest.raises(NonDeterministicError, match=f"f: non-deterministic.*{where}"),
        RandomnessWatch("f", []).standing_still(),
    ):
        draw()


@pytest.mark.parametrize(
    "generator", [np.random.default_rng(0), np.random.RandomState(0), random.Random(0)]
)
def test_a_held_generator_that_moves_is_named(generator: Any) -> None:
    with (
        pytest.raises(NonDeterministicError, match=r"a generator that it holds \(HELD\)"),
        RandomnessWatch("f", [("HELD", generator)]).standing_still(),
    ):
        generator.random()


def test_generators_that_stand_still_are_fine() -> None:
    held: Any = [("a", np.random.default_rng(0)), ("b", random.SystemRandom())]
    with RandomnessWatch("f", held).standing_still():
        pass


def test_the_operating_system_is_seen_through_the_profiling_hook() -> None:
    held = (os.urandom,)
    with (
        pytest.raises(NonDeterministicError, match="the operating system"),
        RandomnessWatch("f", []).no_system_randomness(),
    ):
        held[0](2)


def test_a_noticed_law_is_not_remembered() -> None:
    tested = lt.mechanism(lambda data, rng: os.urandom(2) and 0)
    for _ in range(2):
        with pytest.raises(NonDeterministicError):
            tested.laws_of(np.array([[1, 2]]))


def test_the_profiling_hook_is_given_back() -> None:
    before = sys.getprofile()
    lt.mechanism(lambda data, rng: rng.integers(2)).law(np.array([1]))
    assert sys.getprofile() is before


def test_a_profiler_that_runs_already_is_left_alone() -> None:
    events: list[str] = []

    def profiler(frame: Any, event: str, argument: Any) -> None:
        events.append(event)

    watch = RandomnessWatch("f", [])
    sys.setprofile(profiler)
    try:
        with watch.no_system_randomness():
            assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert events


def test_the_global_state_is_told_as_numpy_tells_it() -> None:
    kept = np.random.get_state(legacy=False)
    bits = np.random.get_bit_generator()
    other = np.random.PCG64(1)
    steps: list[Callable[[], object]] = [
        np.random.rand,
        np.random.randn,  # the second of two only takes what the first has left
        lambda: np.random.seed(3),
        lambda: np.random.set_state(kept),
    ]
    choices = random.Random(1)

    def is_told() -> bool:
        whole = pickle.dumps(np.random.get_state(legacy=False))
        return bool(side_effects._state(np.random.rand) == whole)

    try:
        for _ in range(1_000):
            choices.choice(steps)()
            assert is_told()
        np.random.set_bit_generator(other)
        assert is_told()
        np.random.rand()
        assert is_told()
    finally:
        np.random.set_bit_generator(bits)
        np.random.set_state(kept)


def test_frames_of_liptest_are_told_by_what_they_name_and_not_by_their_word() -> None:
    """A program may call itself a part of liptest: its calls are heard all the same."""
    program: dict[str, Any] = {"__name__": errors.__name__}
    exec(compile("def count(): return len((1, 2))", "program.py", "exec"), program)
    heard: list[tuple[str, Any]] = []

    def look(frame: Any, event: str, argument: Any) -> bool:
        heard.append((event, argument if event == "c_call" else frame.f_code.co_name))
        return False

    with RandomnessWatch("f", []).no_system_randomness(look):
        for _ in range(2):
            errors.quote([1])  # its frames are known from here on
            program["count"]()
    assert heard.count(("call", "count")) == 2
    assert ("call", "quote") not in heard
