"""Draws of NumPy's distributions, made of choices with whole-number weights.

Finite distributions, distributions without an end (their tail stays unexplored), vectors of
counts, permutations and choices.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import BudgetError
from liptest.values.binary.bits import draw_bits
from liptest.values.branching import Branches, Branching
from liptest.values.draws.grid import UNIT
from liptest.values.draws.tails import draw_tailed
from liptest.values.faults import NUMPY, raises_as_numpy
from liptest.values.lines import find_asking_line

_FLOATS = (np.float16, np.float32, np.float64)


@lru_cache(maxsize=256)
def integer_range(low: int, high: int | None, dtype: Any, endpoint: bool) -> tuple[int, int, Any]:
    """Least value, number of values, and type of ``integers(low, high)``."""
    kind = type(NUMPY.integers(low, high, dtype=dtype, endpoint=endpoint))
    first, last = (0, low) if high is None else (low, high)
    return first, last - first + endpoint, kind


def probabilities(p: Any) -> tuple[bytes, str] | None:
    """``p=`` as a hashable key; None for what is not a vector of floats."""
    array = np.asarray(p)
    # NumPy allows less rounding when p is given as 64-bit floats or as a list.
    dtype = array.dtype if isinstance(p, np.ndarray) else np.dtype(np.float64)
    if array.ndim != 1 or (array.dtype.kind in "fc" and array.dtype not in _FLOATS):
        return None
    return array.astype(np.float64).tobytes(), dtype.str


@lru_cache(maxsize=64)
def choice_weights(count: int, masses: bytes, dtype: str) -> Branches:
    """Weights of ``choice(count, p=p)`` as NumPy draws it.

    It looks up a grid point u in the cumulative sum of p, divided by its last entry, all in
    floats: item j is drawn when cdf[j-1] <= u < cdf[j]. Hence differences of grid points.
    """
    p = np.frombuffer(masses)
    NUMPY.choice(count, p=p.astype(dtype))
    return cdf_weights(p)


def cdf_weights(p: NDArray[np.float64]) -> Branches:
    """Grid points that a search in the float cdf of p assigns to each item."""
    cdf = p.cumsum()
    cdf /= cdf[-1]
    cuts = [0, *(UNIT.at_least(bound) for bound in cdf.tolist())]
    weights = [after - before for before, after in pairwise(cuts)]
    common = math.gcd(*weights)
    return tuple(weight // common for weight in weights)


@lru_cache(maxsize=4)
def binomial_weights(n: int, p: float) -> Branches:
    """Ideal weights of 0 .. n successes, p being exactly the float given.

    NumPy's samplers follow this law up to rounding and leave out tails beyond ten standard
    deviations.
    """
    NUMPY.binomial(n, p)
    success = Fraction(p)
    a, b = success.numerator, success.denominator - success.numerator
    failures = [1]
    for _ in range(n):
        failures.append(failures[-1] * b)
    weights, power, ways = [], 1, 1
    for k in range(n + 1):
        weights.append(ways * power * failures[n - k])
        power, ways = power * a, ways * (n - k) // (k + 1)
    return tuple(weights)


def binomial_bits(p: float) -> int:
    """Binary digits that each trial adds to the weights."""
    return Fraction(p).denominator.bit_length()


@lru_cache(maxsize=4)
def hypergeometric_weights(good: int, bad: int, drawn: int) -> Branches:
    """Ideal weights of 0 .. drawn good items."""
    NUMPY.hypergeometric(good, bad, drawn)
    return tuple(math.comb(good, k) * math.comb(bad, drawn - k) for k in range(drawn + 1))


class TailedDraws:
    """Methods of a Generator for distributions without an end; the tail stays unexplored."""

    _tree: Branching
    _entries: Callable[..., Any]

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        return self._draw_tailed("poisson", (lam,), size)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._draw_tailed("negative_binomial", (n, p), size)

    def logseries(self, p: Any, size: Any = None) -> Any:
        return self._draw_tailed("logseries", (p,), size)

    def zipf(self, a: Any, size: Any = None) -> Any:
        return self._draw_tailed("zipf", (a,), size)

    def _draw_tailed(self, method: str, parameters: tuple[Any, ...], size: Any) -> Any:
        draw = partial(draw_tailed, self._tree, method)
        return self._entries(method, draw, parameters, (float,) * len(parameters), size)


class CountVectorDraws:
    """``multinomial`` and ``multivariate_hypergeometric``, by the laws of one count."""

    _guard: Callable[[Any], None]
    require_whole: Callable[..., None]
    binomial: Callable[..., Any]
    hypergeometric: Callable[..., Any]

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        self.require_whole("multinomial", n)
        self._guard(size)
        model = NUMPY.multinomial(n, pvals, size)
        trials = np.broadcast_to(n, model.shape[:-1])
        masses = np.broadcast_to(np.asarray(pvals, dtype=np.float64), model.shape)
        for place in np.ndindex(trials.shape):
            model[place] = self._multinomial_row(int(trials[place]), masses[place].tolist())
        return model

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        self.require_whole("multivariate_hypergeometric", colors, nsample)
        self._guard(size)
        # The other method of NumPy has the same law, but makes a list of all items.
        checked: Any = method if method != "count" else "marginals"
        model = NUMPY.multivariate_hypergeometric(colors, nsample, size, method=checked)
        counts = np.asarray(colors).tolist()
        for place in np.ndindex(model.shape[:-1]):
            model[place] = self._draw_row(int(nsample), counts)
        return model

    def _multinomial_row(self, n: int, masses: Sequence[float]) -> list[int]:
        # As NumPy: one binomial after the other, with the float probabilities it computes.
        counts, left, mass = [0] * len(masses), n, 1.0
        for place, p in enumerate(masses[:-1]):
            if left <= 0:
                break
            counts[place] = self.binomial(left, min(p / mass, 1.0))
            left -= counts[place]
            mass -= p
        counts[-1] += left
        return counts

    def _draw_row(self, n: int, colors: Sequence[int]) -> list[int]:
        counts, left, others = [0] * len(colors), n, sum(colors)
        for place, here in enumerate(colors):
            if left == 0:
                break
            others -= here
            counts[place] = left if others == 0 else self.hypergeometric(here, others, left)
            left -= counts[place]
        return counts


# Weights of one binomial draw: 64 MiB.
_MAX_WEIGHT_BITS = 1 << 29


def check_digits(tree: Branching, method: str, trials: int, bits: int) -> None:
    """BudgetError when ``trials`` weights of ``trials * bits`` binary digits are too many."""
    if trials > 0 and trials * trials * bits > _MAX_WEIGHT_BITS:
        tree.fail(
            BudgetError(
                f"{tree.name}: the probabilities of rng.{method} have too many digits to be "
                f"enumerated exactly: about {trials:.3g} outcomes; draw fewer, use a p with few "
                f"binary digits, or declare the law with lt.ClosedForm",
                needed=trials,
            )
        )


def too_many_bytes(name: str, length: int) -> BudgetError:
    """Of what ``bytes(length)`` gives each value would be a path of its own."""
    where = find_asking_line(sys._getframe(2))
    said = f" ({where})" if where else ""
    return BudgetError(
        f"{name}: {length:,} random bytes{said} take too many values to be enumerated; draw a "
        f"number (secrets.randbits({8 * length})), or declare the law with lt.ClosedForm"
    )


def draw_order(tree: Branching, count: int) -> list[int]:
    """A uniform order of 0 .. count-1."""
    left = list(range(count))
    return [left.pop(tree.choose(len(left))) for _ in range(count - 1)] + left


def draw_distinct(tree: Branching, count: int, number: int, shuffle: bool) -> list[int]:
    """``number`` different ones of 0 .. count-1, ``choice(count, number, replace=False)``."""
    if shuffle:
        # A shuffle of which only the changed places are kept: count may be large.
        moved: dict[int, int] = {}
        drawn = []
        for last in range(count - 1, count - number - 1, -1):
            place = tree.choose(last + 1)
            drawn.append(moved.get(place, place))
            moved[place] = moved.get(last, last)
        return drawn
    # Floyd's algorithm, whose order is not uniform; NumPy has another way only for samples that
    # are far beyond any budget here.
    distinct: dict[int, None] = {}
    for last in range(count - number, count):
        choice = tree.choose(last + 1)
        distinct[last if choice in distinct else choice] = None
    return list(distinct)


@raises_as_numpy
def distinct_by_weight(tree: Branching, p: NDArray[np.float64], number: int) -> list[int]:
    """As above with probabilities ``p``, which is used up.

    NumPy draws all that are missing at once, keeps what is new, sets its mass to 0 and draws
    again. Raises its ValueError when too few items have a mass.
    """
    if np.count_nonzero(p > 0) < number:
        raise ValueError("Fewer non-zero entries in p than size")
    distinct: list[int] = []
    while len(distinct) < number:
        p[distinct] = 0.0
        weights = cdf_weights(p)
        drawn = [tree.choose(weights) for _ in range(number - len(distinct))]
        distinct.extend(dict.fromkeys(drawn))
    return distinct


def take_items(
    items: NDArray[Any], drawn: list[int], shape: tuple[int, ...] | None, axis: int
) -> Any:
    """Items at drawn positions, with the types and shapes that NumPy returns."""
    if shape is None:
        return drawn[0] if items.ndim == 0 else items.take(drawn[0], axis=axis)
    positions = np.array(drawn, dtype=np.int64).reshape(shape)
    if items.ndim == 0:
        return positions
    if not shape and items.ndim == 1:
        entry = np.empty((), dtype=items.dtype)
        entry[()] = items[drawn[0]]
        return entry
    return items.take(positions, axis=axis)


def draw_ranged(tree: Branching, model: Any, lows: Any, highs: Any, *, endpoint: bool) -> Any:
    """Uniform whole numbers from lows to highs in the place of those that NumPy drew, ``model``.

    Types and shapes are the model's; both limits are broadcast to its shape.
    """
    drawn = np.asarray(model)
    ends = [np.broadcast_to(np.asarray(a, dtype=object), drawn.shape) for a in (lows, highs)]
    if drawn.size and np.all(ends[1] - ends[0] + endpoint == 2):
        two = draw_bits(tree, [(1, 1)], np.stack([ends[0], ends[0] + 1], -1).astype(drawn.dtype))
        if two is not None:
            return two
    for cell, (first, last) in enumerate(zip(ends[0].flat, ends[1].flat, strict=True)):
        drawn.flat[cell] = int(first) + tree.choose(int(last) - int(first) + endpoint)
    if isinstance(model, np.ndarray):
        return drawn
    return type(model)(drawn[()])


def of_two(
    tree: Branching, items: NDArray[Any], shape: tuple[int, ...], weights: Branches | None
) -> Any:
    """``choice`` of two items, or of 0 and 1, as 0/1 variables; None where they are none."""
    if items.ndim > 1:
        return None
    pair = weights if isinstance(weights, tuple) else (1, 1)
    values = np.arange(2) if items.ndim == 0 else items
    return draw_bits(tree, [pair], np.broadcast_to(values, (*shape, 2)))


def draw_single_trials(tree: Branching, model: NDArray[Any], n: Any, p: Any) -> Any:
    """``binomial(1, p)`` as 0/1 variables, in the shape of ``model``; None where they are none."""
    if not model.size or not np.all(np.asarray(n) == 1):
        return None
    each = p if np.ndim(p) == 0 else np.broadcast_to(p, model.shape).flat
    ratios = [float(chance).as_integer_ratio() for chance in np.atleast_1d(each)]
    weights = [(whole - part, part) for part, whole in ratios]
    values = np.arange(2).astype(model.dtype)
    return draw_bits(tree, weights, np.broadcast_to(values, (*model.shape, 2)))
