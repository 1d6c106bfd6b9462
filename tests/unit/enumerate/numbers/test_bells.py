"""Pieces of normal densities, compared with what a fine grid of numbers says."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from liptest.enumerate.numbers.bells import Bell, Bells, bell_excess, bell_extremes
from liptest.errors import SymbolicError

GRID = np.linspace(-19.99, 19.987, 2001)
STEP = GRID[1] - GRID[0]
OUTER = (Fraction(-5), Fraction(4))


def pieces(rng: Any, scale: Fraction, low: Any, high: Any) -> Bells:
    """Normal pieces from one end to another, of which some may be missing."""
    inner = sorted({int(x) for x in rng.integers(-4, 4, size=rng.integers(0, 3))})
    ends = [low, *map(Fraction, inner), high]
    weights = rng.random(len(ends) - 1) + 0.1
    centres = (Fraction(int(rng.integers(-3, 4)), 2) for _ in weights)
    spans = zip(centres, pairwise(ends), weights / weights.sum(), strict=True)
    return [(Bell(centre, scale, *span), arb(by)) for centre, span, by in spans]


def phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def density(bells: Bells, numbers: NDArray[np.float64] = GRID) -> NDArray[np.float64]:
    total = np.zeros(len(numbers))
    for bell, weight in bells:
        low = -math.inf if bell.low is None else float(bell.low)
        high = math.inf if bell.high is None else float(bell.high)
        centre, scale = float(bell.centre), float(bell.scale)
        mass = phi((high - centre) / scale) - phi((low - centre) / scale)
        height = float(weight) / mass / scale / math.sqrt(2 * math.pi)
        inside = (low < numbers) & (numbers < high)
        total += inside * height * np.exp(-(((numbers - centre) / scale) ** 2) / 2)
    return total


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("seed", range(40))
def test_extremes_are_those_of_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = Fraction(int(rng.integers(1, 4)))
    one, other = (pieces(rng, scale, *OUTER) for _ in range(2))
    found = bell_extremes(one, other)
    p, q = density(one), density(other)
    ratios = np.log(p[p > 0] / q[p > 0])
    assert found is not None
    assert found.largest is not None
    assert found.smallest is not None
    assert ratios.max() - 1e-9 < found.largest < ratios.max() + 0.2
    assert ratios.min() - 0.2 < found.smallest < ratios.min() + 1e-9
    for places, extreme in ((found.above, found.largest), (found.below, found.smallest)):
        at = np.array([float(Fraction(int(places[-1].p), int(places[-1].q)))])
        at = at + np.array([-1e-9, 1e-9])  # beyond the outer ends there is nothing
        near = np.log(density(one, at) / density(other, at))
        assert np.nanmin(abs(float(extreme) - near)) < 1e-6


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("seed", range(60))
def test_where_one_has_nothing_or_no_end_there_is_no_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = Fraction(int(rng.integers(1, 4)))
    ends = [(None, Fraction(4)), (Fraction(-5), None), (None, None), (Fraction(-6), Fraction(4))]
    one, other = (pieces(rng, scale, *ends[int(rng.integers(4))]) for _ in range(2))
    del one[1:2]
    found = bell_extremes(one, other)
    p, q = density(one), density(other)
    lone = {"above": bool(((p > 0) & (q == 0)).any()), "below": bool(((q > 0) & (p == 0)).any())}
    assert found is not None
    if found.largest is not None:
        assert not any(lone.values())
        return
    way = "above" if found.above else "below"
    far = [float(Fraction(int(at.p), int(at.q))) for at in getattr(found, way)]
    if len(far) == 1:
        assert lone[way]
    else:
        # The ratio grows, or falls, from place to place.
        p, q = (density(bells, np.array(far[:4])) for bells in (one, other))
        steps = np.diff(np.log(p / q)) * (1 if way == "above" else -1)
        assert (steps[np.isfinite(steps)] > 0).all()


@pytest.mark.parametrize("seed", range(40))
def test_the_excess_is_that_of_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = Fraction(int(rng.integers(1, 4)))
    ends = [OUTER, (None, Fraction(4)), (Fraction(-5), None), (None, None), (Fraction(-6), 5)]
    one, other = (pieces(rng, scale, *ends[int(rng.integers(5))]) for _ in range(2))
    other = [(bell, weight * arb(int(rng.integers(1, 4)))) for bell, weight in other]
    found = bell_excess(one, other)
    assert found is not None
    p, q = density(one), density(other)
    assert float(found[0]) == pytest.approx(np.maximum(p - q, 0).sum() * STEP, abs=0.03)
    # It is all within the places that are told, and nothing else is.
    inside = np.zeros(len(GRID), dtype=bool)
    for low, high in found[1]:
        below = True if high is None else float(high) > GRID
        inside |= (True if low is None else float(low) < GRID) & below
    assert ((p - q) * (~inside) < 1e-9).all()
    assert ((p - q) * inside > -1e-9).all()


def test_what_is_not_compared_so() -> None:
    one = [(Bell(Fraction(0), Fraction(1)), arb(1))]
    assert bell_extremes(one, [(Bell(Fraction(0), Fraction(2)), arb(1))]) is None
    twice = [(Bell(Fraction(c), Fraction(1)), arb(0.5)) for c in (0, 1)]
    assert bell_extremes(one, twice) is None
    assert bell_excess(twice, one) is None


def test_nothing_between_the_ends_is_refused() -> None:
    for low, high in ((2, 2), (3, 1)):
        bell = Bell(Fraction(0), Fraction(1), Fraction(low), Fraction(high))
        with pytest.raises(SymbolicError, match="too far out"):
            bell_extremes([(bell, arb(1))], [(bell, arb(1))])
