"""Testers with a diameter stage: how far the values spread decides how many pairs to draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from liptest.data.distributions import Distribution
from liptest.errors import InputError, check_positive, shown
from liptest.lipschitz.testers.base import check_task, guarantee_words
from liptest.lipschitz.verdicts import QueryPlan
from liptest.runs.driver import QueryBatch

# Floats of ordinary functions resolve no finer step.
_FINEST = 1e-15


@dataclass(frozen=True)
class DiameterTester:
    """First points of D give the sample diameter r of the rounded function, then pairs.

    ``check_lipschitz`` rejects when r exceeds ``largest_diameter``, accepts when r = 0, and
    else draws ``pairs_needed`` pairs. A subclass gives these numbers, the draw of the pairs, and
    where they come from.

    Parameters
    ----------
    range_step
        Values are rounded to its multiples; 1/range_step is a whole number, else rounding is
        not safe (theory 1.3). A function is certified (1 + range_step)-Lipschitz
        (paper: delta).

    Raises
    ------
    InputError
        range_step is not above 0, or not 1 over a whole number.
    """

    range_step: float = 0.1

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""

    def __post_init__(self) -> None:
        steps = steps_per_unit(self.range_step)
        object.__setattr__(self, "range_step", 1.0 / steps)

    @property
    def approximation_factor(self) -> float:
        """theta = 1 + range_step."""
        return 1.0 + self.range_step

    @property
    def steps_per_unit(self) -> int:
        """1 / range_step."""
        return steps_per_unit(self.range_step)

    def not_applicable(self, distribution: Distribution) -> str:
        raise NotImplementedError

    def largest_diameter(self, distribution: Distribution) -> int:
        """The largest distance of two points of D: a Lipschitz function spreads no further."""
        return distribution.domain.diameter

    def diameter_points(self, distribution: Distribution, proximity: float, failure: float) -> int:
        """Points whose values give the sample diameter."""
        raise NotImplementedError

    def pairs_needed(
        self, distribution: Distribution, diameter: Fraction, proximity: float, failure: float
    ) -> int:
        """Pairs to draw after a sample diameter, a multiple of range_step."""
        raise NotImplementedError

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        """``count`` pairs of the second stage."""
        raise NotImplementedError

    def plan(
        self, distribution: Distribution, *, proximity: float, failure_probability: float
    ) -> QueryPlan:
        """The worst case: the sample diameter is the largest one that is not rejected.

        Raises InputError when the tester does not apply or a number is out of range.
        """
        check_task(self, distribution, proximity, failure_probability)
        numbers = proximity, failure_probability
        largest = self.largest_diameter(distribution)
        # Where no two points differ every function is Lipschitz.
        points = self.diameter_points(distribution, *numbers) if largest else 0
        pairs = self.pairs_needed(distribution, Fraction(largest), *numbers)
        return QueryPlan(
            tester=self.name,
            draws=pairs,
            queries=points + 2 * pairs,
            points_per_draw=2,
            approximation_factor=self.approximation_factor,
            guarantee=guarantee_words(*numbers, self.approximation_factor),
            source=self.source,
            diameter_draws=points,
        )


def steps_per_unit(range_step: float) -> int:
    """1/range_step as a whole number; InputError naming the nearest admissible step."""
    step = check_positive("range_step", range_step)
    steps = max(1, round(1.0 / step)) if step > _FINEST else round(1.0 / _FINEST)
    if step == 1.0 / steps:
        return steps
    step = max(step, _FINEST)
    near = {max(1, math.floor(1.0 / step)), math.ceil(1.0 / step)}
    steps = min(near, key=lambda k: abs(1.0 / k - step))
    raise InputError(
        f"range_step={shown(range_step)} must be 1 over a whole number, or rounding may break "
        f"a Lipschitz function; the nearest is 1/{steps} = {1.0 / steps:.6g}",
        name="range_step",
        value=range_step,
    )


def admissible_step(bound: float) -> float:
    """The largest 1 over a whole number that is at most ``bound``, a number above 0."""
    return 1.0 / max(1, math.ceil(1.0 / bound))
