"""What a Lipschitz tester is: a law of query batches and how many draws it needs.

A tester never sees a value. Every violated pair of values is a violation, whatever the tester
was designed for: those with a ``range_step`` are proved for values rounded to multiples of the
step, but a violated rounded pair differs by 1 + step or more, so its raw values differ by more
than 1 (theory 1.3). Comparing raw values therefore rejects whenever the printed tester does, and
keeps its guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from liptest.data.distributions import Distribution
from liptest.data.domains import Domain, Hypercube
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, check_open_unit, shown
from liptest.lipschitz.verdicts import QueryPlan
from liptest.runs.driver import QueryBatch

# Probabilities such as 1 - 2/3 and 1/3 are the same number.
_EQUAL = 1e-12


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
        """Function values per draw, at most; 2 for a pair."""
        return 2

    def pairs_per_draw(self, distribution: Distribution) -> int:
        """Comparisons per draw, at most; with the points they set the size of chunks."""
        return 1

    def draws_needed(self, constant: float, proximity: float, failure: float) -> int:
        """Draws such that all are clean with probability at most ``failure``."""
        if constant <= proximity:
            return 0
        return math.ceil(math.log(failure) / math.log1p(-proximity / constant))

    def plan(
        self, distribution: Distribution, *, proximity: float, failure_probability: float
    ) -> QueryPlan:
        """Raises InputError when the tester does not apply or a number is out of range."""
        check_task(self, distribution, proximity, failure_probability)
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
            guarantee=guarantee_words(proximity, failure_probability, self.approximation_factor),
            source=self.source,
        )


def printed_draws(constant: float, proximity: float, failure: float) -> int:
    """ceil((K / proximity) ln(1 / failure)): the count that published testers print."""
    return math.ceil(constant / proximity * math.log(1.0 / failure))


def check_task(
    tester: LipschitzTester, distribution: Distribution, proximity: float, failure: float
) -> None:
    """Raise InputError when a number is out of range or the tester does not apply."""
    check_open_unit("proximity", proximity)
    check_open_unit("failure_probability", failure)
    reason = tester.not_applicable(distribution)
    if reason:
        raise InputError(f"tester={tester.name}: not applicable: {reason}", name="tester")


def guarantee_words(proximity: float, failure: float, factor: float) -> str:
    """What a plan promises, for constant 1."""
    slope = "" if factor == 1 else f"{factor:g}-"
    return (
        f"{slope}Lipschitz off a set of mass at most {proximity:g}, unless an event of "
        f"probability at most {failure:g} happened"
    )


def no_product(distribution: Distribution, *domains: type[Domain]) -> str:
    """Why a tester for product laws on these domains does not apply; empty when it does."""
    if not isinstance(distribution, ProductDistribution):
        return f"needs a ProductDistribution, not {shown(distribution)}"
    if not isinstance(distribution.domain, domains):
        names = " or a ".join(domain.__name__ for domain in domains)
        return f"needs a {names}, not {distribution.domain}"
    return ""


def no_uniform(distribution: Distribution, *domains: type[Domain]) -> str:
    """Why a tester for uniform laws on these domains does not apply; empty when it does."""
    reason = no_product(distribution, *domains)
    if reason or not isinstance(distribution, ProductDistribution):
        return reason
    r = _first_uneven(distribution)
    if r is None:
        return ""
    law: list[Any] = distribution.marginal(r).tolist()
    return (
        f"needs the uniform law, but coordinate {r} has probabilities {shown(law)}; "
        f"tester='auto' takes one for product laws"
    )


def _first_uneven(distribution: ProductDistribution) -> int | None:
    if isinstance(distribution.domain, Hypercube):
        uneven = np.flatnonzero(np.abs(distribution.probabilities - 0.5) > _EQUAL)
        return int(uneven[0]) if len(uneven) else None
    laws = enumerate(distribution.marginals())
    return next((r for r, law in laws if float(np.ptp(law)) > _EQUAL), None)
