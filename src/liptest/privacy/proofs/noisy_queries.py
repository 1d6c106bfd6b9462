"""Queries made whole numbers, exactly, and given exact noise (theory 3.12, 3.13).

A query gives floats. Its answer becomes k = floor(value / step + 1/2), decided by
rationals where floats leave it open, so that |f(x) - f(y)| <= c implies |k(x) - k(y)| <=
ceil(c / step) for every c-Lipschitz query, at ties too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.balls import float_below
from liptest.data.domains import Hypergrid, IntArray
from liptest.data.points import from_array
from liptest.data.product import ProductDistribution
from liptest.errors import FunctionError, InputError, check_positive, quote
from liptest.lipschitz.check import ask_again
from liptest.lipschitz.local_filter import LocalFilter, reference_chains
from liptest.lipschitz.oracles import FunctionOracle
from liptest.mechanisms.additive import DiscreteLaplace, exact_positive
from liptest.mechanisms.laws import as_fraction
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim, ExactLog
from liptest.statistics.user_statistic import UserStatistic

Number = float | Fraction
_HALF = Fraction(1, 2)
# From here on floats are too coarse to be rounded to whole steps.
_MOST_STEPS = 1 << 50
# value / step + 1/2 in floats is off by less than this times (|value / step| + 1).
_ROUNDING = 2.0**-50
# Steps and scales stay far inside the range of floats, so that no release overflows.
_LEAST, _MOST = 1e-200, 1e200
# Sums and products of up to millions of masses are off by less, relatively.
_MASSES = 1e-9


@dataclass(frozen=True)
class Grid:
    """Sensitivity c and step g, exactly: k of a c-Lipschitz query changes by at most ceil(c / g).

    Floats count as the binary fractions that they are: 0.9 / 0.3 is a little more than 3.
    """

    sensitivity: Fraction
    step: Fraction

    @classmethod
    def of(cls, sensitivity: Number, grid_step: Number | None) -> Grid:
        """``grid_step=None`` means the sensitivity; InputError outside the range of floats."""
        bound = exact_positive("sensitivity", sensitivity)
        step = bound if grid_step is None else exact_positive("grid_step", grid_step)
        if not _LEAST <= step <= _MOST or bound / step >= _MOST_STEPS:
            raise InputError(
                f"grid_step={quote(grid_step)}, sensitivity={quote(sensitivity)}: the step must "
                f"lie between {_LEAST:g} and {_MOST:g}, and sensitivity / step below 2**50",
                name="grid_step",
                value=grid_step,
            )
        return cls(bound, step)

    @property
    def steps(self) -> int:
        """K = ceil(c / g)."""
        return math.ceil(self.sensitivity / self.step)

    def noisy(
        self,
        whole: Callable[[IntArray], ArrayLike],
        epsilon: float | ExactLog,
        name: str,
    ) -> ShiftMechanism:
        """k plus discrete Laplace noise of scale K / epsilon, in units of the step."""
        scale = self.steps / epsilon_below(epsilon)
        if scale > _MOST:
            raise InputError(
                f"epsilon={quote(epsilon)} is too small: the noise would leave the range of "
                f"floats; give a larger epsilon",
                name="epsilon",
                value=epsilon,
            )
        return ShiftMechanism(UserStatistic(whole, name=name), DiscreteLaplace(scale), name=name)


@dataclass(frozen=True, eq=False)
class RoundedQuery:
    """k of a query, (n, d) datasets -> (n,) whole numbers; the first dataset is asked twice."""

    oracle: FunctionOracle
    step: Fraction

    def __call__(self, datasets: IntArray) -> NDArray[np.int64]:
        """Raises FunctionError for an answer that is not a finite number or that changes."""
        values = self.oracle.values(from_array(datasets))
        again = ask_again(self.oracle, datasets[:1], values[:1].tolist(), float(self.step))
        steps = round_to_steps(values, self.step)
        if np.any(round_to_steps(np.array(again), self.step) != steps[:1]):
            raise FunctionError(
                f"{self.oracle.name}: its floats depend on the batch that a dataset comes in, and "
                f"one rounds to another multiple of grid_step; wrap a query of one dataset in "
                f"lt.scalar(...)"
            )
        return steps


@dataclass(frozen=True, eq=False)
class OneAtATime:
    """A query asked about one dataset at a time, the first one twice.

    A float may depend on the batch that a dataset comes in, and the filters at two neighbouring
    datasets must see one and the same function.
    """

    oracle: FunctionOracle

    def __call__(self, datasets: IntArray) -> NDArray[np.float64]:
        """(n, d) datasets, n >= 1 -> (n,) floats; FunctionError as ``RoundedQuery``."""
        single = [self.oracle.values(from_array(dataset[None])) for dataset in datasets]
        ask_again(self.oracle, datasets[:1], single[0].tolist(), 0.0)
        return np.concatenate(single)


@dataclass(frozen=True, eq=False)
class FilteredQuery:
    """k of a filtered query, from its exact value; a fresh filter each time keeps no data."""

    query: OneAtATime
    distribution: ProductDistribution
    grid: Grid
    max_references: int

    def __call__(self, datasets: IntArray) -> NDArray[np.int64]:
        """(n, d) datasets -> (n,); BudgetError, FunctionError as ``LocalFilter.exact``."""
        local = LocalFilter(
            self.query,
            self.distribution,
            lipschitz_constant=float_below(self.grid.sensitivity),
            max_references=self.max_references,
        )
        steps = [math.floor(local.exact(dataset) / self.grid.step + _HALF) for dataset in datasets]
        if max(map(abs, steps), default=0) >= _MOST_STEPS:
            raise _too_large(self.grid.step)
        return np.array(steps, dtype=np.int64)


def round_to_steps(values: NDArray[np.float64], step: Fraction) -> NDArray[np.int64]:
    """floor(value / step + 1/2) for (n,) floats, exactly; FunctionError from 2**50 steps on.

    Where floats leave two whole numbers open, as they do at ties, rationals decide.
    """
    with np.errstate(over="ignore"):
        raised = values / float(step) + 0.5
    if np.any(np.abs(raised) >= _MOST_STEPS):
        raise _too_large(step)
    slack = _ROUNDING * (np.abs(raised) + 1.0)
    steps = np.floor(raised - slack)
    unsure = np.floor(raised + slack) != steps
    distinct, where = np.unique(values[unsure], return_inverse=True)
    exact = [math.floor(Fraction(float(value)) / step + _HALF) for value in distinct]
    steps[unsure] = np.array(exact, dtype=np.float64)[where]
    return steps.astype(np.int64)


def unaffordable_mass(distribution: ProductDistribution, most: int) -> float:
    """Pr[|N(x)| > most], rounded up: datasets whose filter needs more values of the query.

    |N(x)| is a product over the coordinates. 0 means that there is no such dataset at all.
    """
    affordable, lost, largest = {1: 1.0}, 0.0, 1
    for lengths in _chain_lengths(distribution):
        before, affordable = affordable, {}
        largest *= max(lengths)
        for needed, mass in before.items():
            for length, share in lengths.items():
                if needed * length > most:
                    lost += mass * share
                else:
                    product = needed * length
                    affordable[product] = affordable.get(product, 0.0) + mass * share
    return 0.0 if largest <= most else math.nextafter(lost * (1 + _MASSES), 1.0)


def _chain_lengths(distribution: ProductDistribution) -> Iterator[dict[int, float]]:
    """For each coordinate the law of |A_r(x_r)|: length -> mass."""
    ordered = isinstance(distribution.domain, Hypergrid)
    cached: dict[bytes, dict[int, float]] = {}
    for marginal in distribution.marginals():
        key = marginal.tobytes()
        if key not in cached:
            chains = reference_chains(marginal, ordered=ordered)
            cached[key] = {}
            for chain, mass in zip(chains, marginal.tolist(), strict=True):
                cached[key][len(chain)] = cached[key].get(len(chain), 0.0) + mass
        yield cached[key]


def epsilon_below(epsilon: float | ExactLog) -> Fraction:
    """Epsilon exactly, or just below it where it is not a rational number."""
    if isinstance(epsilon, ExactLog):
        return as_fraction(Claim(epsilon, tolerance=0.0).ball().lower())
    return Fraction(check_positive("epsilon", epsilon))


def _too_large(step: Fraction) -> FunctionError:
    return FunctionError(
        f"grid_step={float(step):g}: the query is 2**50 steps or more away from 0, where floats "
        f"are too coarse to be rounded to whole steps; give a larger grid_step"
    )
