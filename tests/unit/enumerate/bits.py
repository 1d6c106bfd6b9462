"""A real NumPy generator whose ``random()`` returns chosen points of the 2**53 grid.

MT19937 makes a float of two 32-bit words, 27 bits of the first and 26 of the second. Its state
holds words before a bijective mixing ("tempering"), which is undone here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import liptest as lt
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.values.protocol import concretise_all

_WORDS = 624


def generator_at(points: Sequence[int]) -> np.random.Generator:
    """A generator whose next floats are ``points[i] * 2**-53``; at most 312 of them."""
    words = [half for point in points for half in (point >> 26 << 5, (point & (1 << 26) - 1) << 6)]
    bits = np.random.MT19937(0)
    state: Any = bits.state
    key = np.zeros(_WORDS, dtype=np.uint32)
    key[: len(words)] = [_untempered(word) for word in words]
    state["state"] = {"key": key, "pos": 0}
    bits.state = state
    return np.random.Generator(bits)


def _untempered(word: int) -> int:
    word ^= word >> 18
    word ^= word << 15 & 0xEFC60000
    known = word
    for _ in range(5):
        known = word ^ (known << 7 & 0x9D2C5680)
    word = known & 0xFFFFFFFF
    known = word
    for _ in range(3):
        known = word ^ known >> 11
    return known


def on_grid(function: Callable[[Any], Any]) -> dict[Any, Fraction]:
    """Exact law of ``function(data)`` where no number stands for noise."""
    dataset = np.array([0])
    law = lt.mechanism(function).float_paths(dataset).on_grid.law(dataset)
    return dict(zip(law.outputs, law.fractions, strict=True))


def law_of(program: Callable[[Any], Any], **budgets: int) -> dict[Any, Fraction]:
    """Exact law of ``program(rng)``; exceptions are outputs by their type."""
    tree = ChoiceTree("program", **budgets)
    rng = ChoiceGenerator(tree)

    def run() -> Any:
        try:
            return concretise_all(program(rng), "the output")
        except Exception as error:
            return type(error)

    return tree.law(run)
