"""Whole-number weights of NumPy's infinite distributions, up to a tail that is left out.

Weights are lower bounds of the ideal probabilities, in units of 2**-192; what they leave, the
tail and the rounding, is the last weight: less than 2**-64 where that takes no more than
MOST_VALUES, which zipf never reaches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache

from flint import arb

from liptest.balls import precision
from liptest.errors import BudgetError
from liptest.values.branching import Branching
from liptest.values.draws.grid import Split
from liptest.values.faults import NUMPY

#: Values of one draw.
MOST_VALUES = 1 << 13
_UNIT_BITS = 192
_TAIL_BITS = 64
_PRECISION = 512
#: First value and weights, the last of which is the tail's.
Tailed = tuple[int, tuple[int, ...]]


@lru_cache(maxsize=64)
def find_tailed_weights(method: str, parameters: tuple[float, ...]) -> Tailed | None:
    """First value, the weights of the values from there on, and last that of the tail.

    ``method`` is one of TAILED; wrong parameters raise NumPy's error. None where the tail after
    MOST_VALUES is the larger part.
    """
    getattr(NUMPY, method)(*parameters)
    with precision(_PRECISION):
        first, masses = TAILED[method](*map(arb, parameters))
        weights, rest = _until_the_tail(masses)
    return (first, (*weights, rest)) if rest <= 1 << (_UNIT_BITS - 1) else None


def _until_the_tail(masses: Iterator[arb]) -> tuple[list[int], int]:
    weights: list[int] = []
    rest = 1 << _UNIT_BITS
    for mass in itertools.islice(masses, MOST_VALUES):
        weights.append(max(0, int((mass * (1 << _UNIT_BITS)).lower().floor().unique_fmpz() or 0)))
        rest -= weights[-1]
        if rest < 1 << (_UNIT_BITS - _TAIL_BITS):
            break
    return weights, rest


def _products(first: arb, ratio: Iterator[arb]) -> Iterator[arb]:
    mass = first
    yield mass
    for factor in ratio:
        mass = mass * factor
        yield mass


def _geometric(p: arb) -> tuple[int, Iterator[arb]]:
    return 1, _products(p, itertools.repeat(1 - p))


def _poisson(lam: arb) -> tuple[int, Iterator[arb]]:
    return 0, _products((-lam).exp(), (lam / k for k in itertools.count(1)))


def _negative_binomial(n: arb, p: arb) -> tuple[int, Iterator[arb]]:
    return 0, _products(p**n, ((n + k - 1) / k * (1 - p) for k in itertools.count(1)))


def _logseries(p: arb) -> tuple[int, Iterator[arb]]:
    if p == 0:
        return 1, iter([arb(1)])
    return 1, _products(-p / (1 - p).log(), (p * (k - 1) / k for k in itertools.count(2)))


def _zipf(a: arb) -> tuple[int, Iterator[arb]]:
    zeta = a.zeta()
    return 1, (arb(k) ** -a / zeta for k in itertools.count(1))


#: Distributions by the name of NumPy's method: first value and probabilities from there on.
TAILED: dict[str, Callable[..., tuple[int, Iterator[arb]]]] = {
    "geometric": _geometric,
    "poisson": _poisson,
    "negative_binomial": _negative_binomial,
    "logseries": _logseries,
    "zipf": _zipf,
}


@lru_cache(maxsize=64)
def _split(weights: tuple[int, ...]) -> Split:
    return Split(weights)


def draw_by_weight(tree: Branching, success: float) -> int:
    """One geometric draw, which is looked at alone."""
    return draw_tailed(tree, "geometric", success)


def draw_tailed(tree: Branching, method: str, *parameters: float) -> int:
    """One draw of a distribution, by its weights; a run in its tail is left out."""
    tailed = find_tailed_weights(method, parameters)
    if tailed is None:
        tree.fail(
            BudgetError(
                f"{tree.name}: rng.{method} with these parameters takes more than "
                f"{MOST_VALUES:,} values; draw from fewer values, or declare the law with "
                f"lt.ClosedForm",
                budget=MOST_VALUES,
            )
        )
    first, weights = tailed
    # Honesty checks put a number in the place of a draw that they know (Split).
    place = tree.choose(weights if method != "geometric" else _split(weights))
    if place == len(weights) - 1:
        tree.leave_out()
    return first + place
