"""Places that are tried with weights as chances: permute-and-flip, and tries at random.

Each place is tried once in random order: it is the largest of s_i + E_i with independent
exponential noise E_i that is kept (docs/theory/size.md, S10). Where a place may be tried again,
it is that of a choice with weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.answers.aligned import AlignedValue
from liptest.values.answers.weight_choices import choose_contest
from liptest.values.answers.weight_unknowns import Largest
from liptest.values.answers.weights import Score, Weight
from liptest.values.array import SymbolicArray
from liptest.values.draws.grid import GRID

# What a float weight, and the grid of 2**-53, change the chance of one try by, at most.
_ROUNDING = Fraction(1, 1 << 42)
# The same where the scores are a factor times whole numbers, and one place of a float times len().
_ROUNDING_OF_WHOLE, _GRID = Fraction(1, 1 << 47), Fraction(1, GRID)
_MOST = 1 << 12
# At a point: how near to a chance a coin is, which places are missed before the hit, and how many.
_NEAR = 2.0**-30
_MISSED, _AGAIN = 0.5, 3
# Of shares as whole numbers.
_UNITS = 1 << 60
_ONE = Fraction(1)


def pop_places(rng: Any, count: Any, how: str) -> Iterator[Any]:
    """Places that are taken out of a list of the numbers below a count; "!" for ever."""
    left = [*range(count)]
    way, is_endless = how.rstrip("!"), how.endswith("!")
    while left or is_endless:
        if way == "unit":
            item = left[int(rng.random() * len(left))]
        elif way == "integers":
            item = left[rng.integers(len(left))]
        else:
            item = rng.choice(left)
            item = int(item) if way == "choice int" else item
        left.remove(item)
        yield item


class FallingCoin(Protocol):
    """A function that throws a coin."""

    def draws(self, chance: float, *, falls: bool, rng: np.random.Generator) -> list[float]:
        """Numbers of ``random()`` with which a coin of this chance falls so."""
        ...


class CoinFunctions(Protocol):
    """Functions that throw coins."""

    def coin_of(self, function: Any, rng: Any, generator: int) -> FallingCoin | None:
        """The coin that a function throws, which gets its generator at this place."""
        ...

    def tree_of(self, values: tuple[Any, ...]) -> Any:
        """The tree that the draws of generators ask."""
        ...


class Tried(NamedTuple):
    """How places are tried: each once, how one is taken out of a list, and by which coin."""

    is_order: bool
    how: str = ""
    coin: FallingCoin | None = None


class PlaceByFlips(Protocol):
    """The place that is kept of some, by the weights that are their chances; None: to be run."""

    def __call__(
        self, tree: Any, count: int, weight_of: Callable[[Any], Any], tried: Tried
    ) -> int | None:
        """Choose one of so many places; None where the loop is to be run."""
        ...


class Hit(NamedTuple):
    """A place that was hit, as NumPy and as Python give it."""

    numpy: np.int64
    plain: int


def is_of_scores(value: Any) -> bool:
    """Whether it is a symbolic number or array that chances are made of."""
    return type(value) in (AlignedValue, SymbolicArray, Score, Weight)


class Tries:
    """The tries of one loop at a point, up to the hit: an order or places, and coins.

    Each coin is next to the chance that it is compared with, so that any other chance is noticed.
    """

    def __init__(
        self, weights: NDArray[np.float64], place: int, rng: np.random.Generator, *, tried: Tried
    ) -> None:
        count = len(weights)
        #: What ``random()`` gives.
        self.coins: list[float] = []
        unsure = [k for k in range(count) if _above(weights[k]) < 1]
        #: What the program as it is written chooses from, and what it takes.
        self.choices: list[tuple[int, int]] = []
        if tried.is_order:
            others = [k for k in rng.permutation(count).tolist() if k != place]
            missed = [k for k in others if k in unsure and rng.random() < _MISSED]
            left = list(range(count))
            rest = [k for k in others if k not in missed]
            for k in () if tried.how else (*missed, place, *rest)[:-1]:
                self.choices.append((len(left), left.index(k)))
                left.remove(k)
        else:
            several = rng.integers(0, len(unsure), size=_AGAIN) if unsure else ()
            missed = [unsure[k] for k in several]
            self.choices = [(count, k) for k in (*missed, place)]
        for number, k in enumerate((*missed, place)):
            falls = number == len(missed)
            if tried.how:
                size, at = len(left), left.index(k)
                if tried.how == "unit":
                    self.coins.append((at + 0.5) / size)
                elif size > 1:
                    self.choices.append((size, at))
                left.remove(k)
            if tried.coin is not None:
                self.coins += tried.coin.draws(weights[k], falls=falls, rng=rng)
            else:
                self.coins.append(_below(weights[k]) if falls else _above(weights[k]))

    def as_drawn(self) -> Tries:
        """What stays of it."""
        return self

    def replay(self, point_in: Callable[[int, int], int]) -> list[float]:
        """What ``random()`` gives, one after another."""
        return self.coins


def _above(chance: float) -> float:
    """A number of ``random()`` that is hardly too large for a hit; 1 where there is none."""
    return min(math.ceil(chance * (1 + _NEAR) * GRID) + 1, GRID) / GRID


def _below(chance: float) -> float:
    """A number of ``random()`` that is hardly small enough for a hit."""
    return max(math.floor(chance * (1 - _NEAR) * GRID) - 1, 0) / GRID


def place_by_scores(
    tree: Any, count: int, weight_of: Callable[[Any], Any], tried: Tried
) -> int | None:
    """The first place with a hit; None where the weights are not those of symbolic scores."""
    weights = _weights(count, weight_of, tried)
    is_order = tried.is_order
    if not weights or not all(type(weight) is Weight for weight in weights):
        return None
    if not _are_chances(weights):
        return None
    run = weights[0].run
    scores = tuple(weight.form for weight in weights)
    noise = Noise("exponential" if is_order else "gumbel", _ONE)
    place = choose_contest(run, scores, noise, partial(Tries, tried=tried))
    largest: Any = weights[0].unknowns[0][0]
    is_whole = all(map(run.is_whole, largest.parts))
    run.rounding += len(scores) * (_ROUNDING_OF_WHOLE if is_whole else _ROUNDING)
    if tried.how == "unit":
        run.rounding += len(scores) ** 2 * _GRID
    return place


def place_by_floats(
    tree: Any, count: int, weight_of: Callable[[Any], Any], tried: Tried
) -> int | None:
    """The first place with a hit, by its law; None where the weights are not plain chances."""
    weights = np.array(_weights(count, weight_of, tried))
    if weights.dtype != np.float64 or not len(weights):
        return None
    if weights.max() != 1 or weights.min() < 0:
        return None
    shares = shares_of_flips(weights) if tried.is_order else shares_of_tries(weights)
    return int(tree.choose(tuple(int(share * _UNITS) for share in shares)))


def _weights(count: int, weight_of: Callable[[Any], Any], tried: Tried) -> list[Any]:
    """Of each place, which is tried as NumPy gives it, or Python."""
    few = range(count) if 1 < count <= _MOST else ()
    return [
        weight_of(np.int64(place) if tried.is_order and tried.how in ("", "choice") else place)
        for place in few
    ]


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
