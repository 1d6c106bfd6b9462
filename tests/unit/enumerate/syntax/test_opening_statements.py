"""Samplers that first look at the generator that they are given."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.syntax.opening_statements import only_hands_on
from liptest.enumerate.syntax.source import read_source

RNG = random.SystemRandom()
CALLS: list[Any] = []


def checked(seed: Any, secure: bool = False) -> Any:
    """As libraries write it: a generator is handed on, anything else makes a new one."""
    if secure:
        if isinstance(seed, secrets.SystemRandom):
            return seed
        if seed is None or seed is np.random.mtrand._rand:
            return secrets.SystemRandom()
    return np.random.default_rng(seed)


def noted(seed: Any) -> Any:
    """Keeps something of each call."""
    CALLS.append(seed)
    return seed


def bernoulli_exp(gamma: float, source: Any = None) -> int:
    """Of exp(-gamma), after Canonne, Kamath and Steinke, 2020, algorithm 1, on floats."""
    if gamma < 0:
        raise ValueError(f"gamma={gamma} is below 0")
    rng = checked(source, True)
    while gamma > 1:
        gamma -= 1
        if not bernoulli_exp(1, rng):
            return 0
    counter = 1
    while rng.random() <= gamma / counter:
        counter += 1
    return counter % 2


def with_other_source(gamma: float, source: Any = None) -> int:
    rng = source or RNG
    counter = 1
    while rng.random() <= gamma / counter:
        counter += 1
    return counter % 2


def with_notes(gamma: float, source: Any) -> int:
    rng = noted(source)
    counter = 1
    while rng.random() <= gamma / counter:
        counter += 1
    return counter % 2


def flipped(scores: Any, rng: Any, coin: Any) -> int:
    """Permute-and-flip of McKenna and Sheldon, 2020, algorithm 1."""
    left = list(range(len(scores)))
    while left:
        place = left[int(rng.random() * len(left))]
        left.remove(place)
        if coin(scores[place], rng):
            return place
    raise RuntimeError("none")


def permute_and_flip(gaps: list[float]) -> dict[int, float]:
    """What it should be, over all orders: a candidate comes if none before it did."""
    from itertools import permutations

    law = dict.fromkeys(range(len(gaps)), 0.0)
    for order in permutations(law):
        missed = 1.0
        for place in order:
            law[place] += missed * math.exp(-gaps[place]) / math.factorial(len(gaps))
            missed *= 1 - math.exp(-gaps[place])
    return law


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("coin", [bernoulli_exp, with_other_source])
def test_a_generator_that_is_handed_on_is_followed(own: bool, coin: Any) -> None:
    gaps = [0.0, 0.75, 0.25]

    def choose(data: Any, rng: np.random.Generator) -> int:
        return flipped(gaps, RNG if own else rng, coin)

    law = lt.output_law(lt.mechanism(choose), np.array([0]))
    assert law.unexplored < F(1, 2**60)
    assert law.leaves < 1000  # a coin is one choice
    for place, mass in permute_and_flip(gaps).items():
        assert law[place] == pytest.approx(mass, abs=1e-12)


@pytest.mark.slow
def test_samplers_that_call_themselves_are_enumerated_once() -> None:
    def noisy(data: Any, rng: np.random.Generator) -> int:
        return sum(bernoulli_exp(g + data[0], rng) for g in (0.5, 1.5, 3.0))

    law = lt.output_law(lt.mechanism(noisy), np.array([1]))
    hits = [math.exp(-g) for g in (1.5, 2.5, 4.0)]
    assert law[3] == pytest.approx(math.prod(hits), abs=1e-12)
    assert law[0] == pytest.approx(math.prod(1 - hit for hit in hits), abs=1e-12)


@pytest.mark.slow
def test_what_keeps_something_is_run_each_time() -> None:
    def noisy(data: Any, rng: np.random.Generator) -> int:
        return with_notes(0.5, rng) + with_notes(0.25, rng)

    law = lt.output_law(lt.mechanism(noisy), np.array([0]))
    assert law.leaves > 100
    assert law[2] == pytest.approx(math.exp(-0.75), abs=1e-12)
    CALLS.clear()


def test_what_makes_a_generator_is_not_one_that_only_draws() -> None:
    """A constant seed within a sampler gives the same coins in each call."""

    def seeded(gamma: float, source: Any) -> int:
        rng = np.random.default_rng(5) if source is not None else source
        return int(rng.random() < gamma)

    def twice(data: Any, rng: np.random.Generator) -> bool:
        return seeded(0.5, rng) == seeded(0.5, rng)

    assert lt.output_law(lt.mechanism(twice), np.array([0]))[True] == 1


def opened(function: Any, count: int, *arguments: Any) -> bool:
    source = read_source(function)
    assert source is not None
    return only_hands_on(source, source.body[:count], arguments)


def test_only_the_path_that_is_taken_counts() -> None:
    assert opened(bernoulli_exp, 3, 0.5, RNG)
    assert not opened(bernoulli_exp, 3, -0.5, RNG)  # raises
    assert not opened(bernoulli_exp, 3, 0.5, None)  # makes a generator
    assert opened(with_other_source, 1, 0.5, RNG)
    assert not opened(with_other_source, 1, 0.5, None)  # not the one that it is given
    assert not opened(with_notes, 1, 0.5, RNG)
    assert not opened(bernoulli_exp, 3, float("nan"), "text")


class Answering(type):
    """A type that answers isinstance by its own code."""

    def __instancecheck__(cls, value: Any) -> bool:
        CALLS.append(value)
        return True


class Own(metaclass=Answering):
    pass


def test_types_that_answer_by_their_own_code_are_not_asked() -> None:
    def coin(source: Any) -> int:
        rng = source if isinstance(source, Own) else RNG
        return int(rng.random() < 0.5)

    before = len(CALLS)
    assert not opened(coin, 1, RNG)
    assert len(CALLS) == before
