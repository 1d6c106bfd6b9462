"""Generators of which one is a copy of another draw the same numbers, so they are refused."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept.constant_seeds import find_copies
from liptest.verdicts import Decision
from tests.unit.written_programs import program


def moved(generator: Any, draws: int) -> Any:
    for _ in range(draws):
        generator.random()
    return generator


MAKERS = {
    "PCG64": np.random.default_rng,
    "PCG64DXSM": lambda: np.random.Generator(np.random.PCG64DXSM()),
    "Philox": lambda: np.random.Generator(np.random.Philox()),
    "SFC64": lambda: np.random.Generator(np.random.SFC64()),
    "MT19937": lambda: np.random.Generator(np.random.MT19937()),
    "RandomState": np.random.RandomState,
    "random": random.Random,
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("draws", [0, 1, 2_000])
def test_copies_are_found_and_others_are_not(name: str, draws: int) -> None:
    first, other = MAKERS[name](), MAKERS[name]()
    assert find_copies([first, other]) is None
    for made in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        made = moved(made, 0 if name == "SFC64" else draws)
        assert find_copies([other, first, made]) == (first, made)
        assert find_copies([made, first]) == (made, first)


def test_generators_that_share_their_bits_or_are_spawned_are_none() -> None:
    rng = np.random.default_rng()
    assert find_copies([rng, np.random.Generator(rng.bit_generator), *rng.spawn(3)]) is None
    assert find_copies([rng, rng]) is None
    assert find_copies([]) is None


@pytest.mark.slow
def test_noise_of_a_copy_is_not_new() -> None:
    first = np.random.default_rng()
    text = "return data.sum() + first.laplace(0, 3), second.laplace(0, 3)"
    for second, is_copy in ((copy.deepcopy(first), True), (np.random.default_rng(), False)):
        function = program(text, first=first, second=second)
        mechanism = lt.mechanism(function)
        verdict = lt.check_privacy(mechanism, lt.RecordGrid([4] * 50), epsilon=1, seed=1)
        assert (verdict.decision is Decision.YES) is not is_copy
        assert ("as a copy of a generator does" in str(verdict)) is is_copy
