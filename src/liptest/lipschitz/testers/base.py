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
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from liptest.data.distributions import Distribution
from liptest.data.domains import Domain, Hypercube
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, check_open_unit, check_positive, quote
from liptest.runs.driver import QueryBatch

if TYPE_CHECKING:
    from liptest.lipschitz.verdicts import QueryPlan

# Probabilities such as 1 - 2/3 and 1/3 are the same number.
_EQUAL = 1e-12
# Floats of ordinary functions resolve no finer step.
_FINEST = 1e-15


@runtime_checkable
class LipschitzTester(Protocol):
    """One-sided and non-adaptive: ``plan`` says how many draws, ``draw`` makes them.

    A violated pair proves that the function is not Lipschitz. No violated pair does NOT mean
    that it is: only that, except for failure_probability, it is Lipschitz (up to
    ``approximation_factor``) except on a set of mass at most proximity.
    """

    @property
    def name(self) -> str:
        """Citation key, printed in plans and verdicts."""
        ...

    @property
    def approximation_factor(self) -> float:
        """theta: what is certified is theta times the given constant."""
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
        from liptest.lipschitz.verdicts import QueryPlan

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
        return math.ceil(4.0 / proximity * math.log(4.0 / failure))

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
        from liptest.lipschitz.verdicts import QueryPlan

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
        f"range_step={quote(range_step)} must be 1 over a whole number, or rounding may break "
        f"a Lipschitz function; the nearest is 1/{steps} = {1.0 / steps:.6g}",
        name="range_step",
        value=range_step,
    )


def admissible_step(bound: float) -> float:
    """The largest 1 over a whole number that is at most ``bound``, a number above 0."""
    return 1.0 / max(1, math.ceil(1.0 / bound))


def count_printed_draws(constant: float, proximity: float, failure: float) -> int:
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
        f"{slope}Lipschitz outside a set of mass at most {proximity:g}, unless an event of "
        f"probability at most {failure:g} happened"
    )


def no_product(distribution: Distribution, *domains: type[Domain]) -> str:
    """Why a tester for product laws on these domains does not apply; empty when it does."""
    if not isinstance(distribution, ProductDistribution):
        return f"needs a ProductDistribution, not {quote(distribution)}"
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
        f"needs the uniform law, but coordinate {r} has probabilities {quote(law)}; "
        f"tester='auto' takes one for product laws"
    )


def _first_uneven(distribution: ProductDistribution) -> int | None:
    if isinstance(distribution.domain, Hypercube):
        uneven = np.flatnonzero(np.abs(distribution.probabilities - 0.5) > _EQUAL)
        return int(uneven[0]) if len(uneven) else None
    laws = enumerate(distribution.marginals())
    return next((r for r, law in laws if float(np.ptp(law)) > _EQUAL), None)
