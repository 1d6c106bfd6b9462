"""The number of passes of a loop of coins, drawn as geometric noise of the run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import Any

from liptest.symbolic.noise import Noise
from liptest.values.branching import Branching
from liptest.values.grid import GRID, UNIT
from liptest.values.noise import value_of
from liptest.values.noise_run import NoiseRun

# Of how many grid points a float compares so with a threshold.
_PASSING: dict[str, Callable[[Fraction], int]] = {
    "Lt": lambda threshold: ceil(threshold * GRID),
    "LtE": lambda threshold: floor(threshold * GRID) + 1,
    "GtE": lambda threshold: GRID - ceil(threshold * GRID),
    "Gt": lambda threshold: GRID - floor(threshold * GRID) - 1,
}


def probability_of_a_pass(threshold: float, comparison: str) -> Fraction:
    """That a number of ``rng.random()`` compares so with a threshold, exactly."""
    return Fraction(_PASSING[comparison](Fraction(threshold)), GRID)


def draw_passes(tree: Branching, threshold: float, comparison: str, *, counts_last: bool) -> Any:
    """How many passes there are; None where they never end, or never begin.

    ``counts_last``: the pass in which the coin ends the loop is one of them.
    """
    going_on = probability_of_a_pass(threshold, comparison)
    if not 0 < going_on < 1:
        return None
    tree.count_draws(1)
    run = NoiseRun.of(tree)
    form = run.new(Noise("geometric", 1 - going_on))
    passes = value_of(run, form if counts_last else form - 1, int)
    if tree.draw_log is not None:
        coins = DrawnCoins(value_of(run, form, int), threshold, comparison)
        tree.draw_log.hand_out(coins, UNIT.law)
    return passes


class DrawnCoins:
    """The coins of a loop, for a run with real random numbers: as many floats as were thrown."""

    def __init__(self, thrown: Any, threshold: float, comparison: str) -> None:
        self._thrown = thrown
        self._threshold = Fraction(threshold)
        self._comparison = comparison

    def as_drawn(self) -> DrawnCoins:
        """What stays of it."""
        return self

    def replay(self, point_in: Callable[[int, int], int]) -> list[float]:
        """Floats of which all but the last go on with the loop."""
        going_on = _PASSING[self._comparison](self._threshold)
        below = self._comparison in ("Lt", "LtE")
        border = going_on if below else GRID - going_on
        ends = (0, border), (border, GRID)
        thrown = int(self._thrown.replay(point_in))
        passing, ending = ends if below else ends[::-1]
        points = [point_in(*passing) for _ in range(thrown - 1)] + [point_in(*ending)]
        return [point / GRID for point in points]
