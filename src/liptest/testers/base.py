"""What a Lipschitz tester is: a law of query batches and how many draws it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from liptest.distributions import Distribution
from liptest.driver import QueryBatch
from liptest.errors import InputError, check_open_unit
from liptest.verdicts import QueryPlan


@runtime_checkable
class LipschitzTester(Protocol):
    """One-sided and non-adaptive: ``plan`` says how many draws, ``draw`` makes them.

    A violated pair proves that the function is not Lipschitz. No violated pair does NOT mean
    that it is: only that, but for failure_probability, it is Lipschitz (up to
    ``approximation_factor``) off a set of mass at most proximity.
    """

    @property
    def name(self) -> str:
        """Citation key, printed in plans and verdicts."""
        ...

    @property
    def approximation_factor(self) -> float:
        """theta: what is certified is theta times the constant asked for."""
        ...

    def not_applicable(self, distribution: Distribution) -> str:
        """Why the tester cannot be used on this distribution; empty when it can."""
        ...

    def plan(
        self, distribution: Distribution, *, proximity: float, failure_probability: float
    ) -> QueryPlan:
        """Draws and queries for this task."""
        ...

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        """``count`` draws."""
        ...


@dataclass(frozen=True)
class PairTester:
    """A tester with a detection bound: one draw finds a violation with probability at least
    dist(f) / ``detection_constant``.

    A subclass gives the constant, the draw, and where it comes from. Because the bound is
    linear in the distance, one sample serves all outputs of a mechanism (theory 3.4).
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    approximation_factor: ClassVar[float] = 1.0

    def not_applicable(self, distribution: Distribution) -> str:
        raise NotImplementedError

    def detection_constant(self, distribution: Distribution) -> float:
        """K in Pr[one draw is violated] >= dist(f) / K; 0 when every function is accepted."""
        raise NotImplementedError

    def draw(self, distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
        raise NotImplementedError

    def points_per_draw(self, distribution: Distribution) -> int:
        """Function values per draw; 2 for a pair."""
        return 2

    def draws_needed(self, constant: float, proximity: float, failure: float) -> int:
        """Draws such that all are clean with probability at most ``failure``."""
        if constant <= proximity:
            return 0
        return math.ceil(math.log(failure) / math.log1p(-proximity / constant))

    def plan(
        self, distribution: Distribution, *, proximity: float, failure_probability: float
    ) -> QueryPlan:
        """Raises InputError when the tester does not apply or a number is out of range."""
        check_open_unit("proximity", proximity)
        check_open_unit("failure_probability", failure_probability)
        reason = self.not_applicable(distribution)
        if reason:
            raise InputError(f"tester={self.name}: not applicable: {reason}", name="tester")
        draws = self.draws_needed(
            self.detection_constant(distribution), proximity, failure_probability
        )
        per_draw = self.points_per_draw(distribution)
        return QueryPlan(
            tester=self.name,
            draws=draws,
            queries=draws * per_draw,
            points_per_draw=per_draw,
            approximation_factor=self.approximation_factor,
            guarantee=(
                f"Lipschitz off a set of mass at most {proximity:g}, unless an event of "
                f"probability at most {failure_probability:g} happened"
            ),
            source=self.source,
        )
