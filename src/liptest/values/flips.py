"""Places that are tried with weights as chances: permute-and-flip, and tries at random.

Each place is tried once in random order: it is the largest of s_i + E_i with independent
exponential noise E_i that is kept (docs/theory/size.md, S10). Where a place may be tried again,
it is that of a choice with weights.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.aligned import AlignedValue
from liptest.values.array import SymbolicArray
from liptest.values.weights import (
    GivenWeights,
    Largest,
    Score,
    Weight,
    choose_contest,
)

# What a float weight, and the grid of 2**-53, change the chance of one try by, at most.
_ROUNDING = Fraction(1, 1 << 42)
_MOST = 1 << 12
# Of shares as whole numbers.
_UNITS = 1 << 60
_ONE = Fraction(1)


class Hit(NamedTuple):
    """A place that was hit, as NumPy and as Python give it."""

    numpy: np.int64
    plain: int


def is_of_scores(value: Any) -> bool:
    """Whether it is a symbolic number or array that chances are made of."""
    return type(value) in (AlignedValue, SymbolicArray, Score, Weight)


def place_by_flips(
    tree: Any, count: int, weight_of: Callable[[Any], Any], *, is_order: bool
) -> int | None:
    """The first place with a hit; None where the weights are not those of scores.

    On plain data it is drawn by its law where a run with symbolic data has drawn it so.
    """
    if not 1 < count <= _MOST:
        return None
    weights = [weight_of(np.int64(place) if is_order else place) for place in range(count)]
    shares = shares_of_flips if is_order else shares_of_tries
    if all(type(weight) is Weight for weight in weights):
        return _chosen(weights, is_order=is_order)
    path, depth = tree.path, tree.depth
    if depth >= len(path) or type(path[depth][0]) is not GivenWeights:
        return None
    masses = shares(np.array(weights, dtype=float))
    return int(tree.choose(tuple(int(mass * _UNITS) for mass in masses)))


def _chosen(weights: list[Weight], *, is_order: bool) -> int | None:
    run = weights[0].run
    if not _are_chances(weights):
        return None
    scores = tuple(weight.form for weight in weights)
    noise = Noise("exponential" if is_order else "gumbel", _ONE)
    shares: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    shares = shares_of_flips if is_order else shares_of_tries
    place = choose_contest(run, scores, noise, shares)
    run.rounding += len(scores) * _ROUNDING
    return place


def _are_chances(weights: list[Weight]) -> bool:
    """Whether they are exp of each score less the largest of them, times one factor above 0."""
    common = weights[0].unknowns
    if len(common) != 1 or any(weight.unknowns != common for weight in weights):
        return False
    largest, factor = common[0]
    if type(largest) is not Largest or factor >= 0:
        return False
    scaled: set[Form] = {part * -factor for part in largest.parts}
    return {weight.form for weight in weights} == scaled


def shares_of_tries(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The law where a place may be tried again: that of a choice with weights."""
    made: NDArray[np.float64] = weights / weights.sum()
    return made


def shares_of_flips(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The law of permute-and-flip: of place i w_i times the integral of all other 1 - t w_j.

    Each place comes at a time t, uniform on [0, 1]. It is kept if it is hit, and all that came
    before were not.
    """
    times, lengths = np.polynomial.legendre.leggauss(len(weights) // 2 + 1)
    misses = 1 - np.outer((times + 1) / 2, weights)
    others = np.stack(
        [np.delete(misses, place, axis=1).prod(axis=1) for place in range(len(weights))]
    )
    made: NDArray[np.float64] = weights * (others @ lengths) / 2
    return made
