"""What a check of a claim answers, and the random functions and laws that checks use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain
from liptest.data.product import ProductDistribution
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.verdicts import Flag, Record, Text

Table = NDArray[Any]
_SIXTEENTHS = 16
# A frequency is called wrong when chance explains it with probability below 2e-12.
_SURPRISE = 12 * math.log(10.0)


@dataclass(frozen=True)
class ClaimRow(Record):
    """One claim: what it was checked on, what came out, and whether it held there.

    Parameters
    ----------
    claim
        Where it is stated, and what it says.
    holds
        Whether it held in every case looked at.
    expected
        What docs/paper.md says: False for the few that are known not to hold as printed.
    """

    claim: Text
    checked_on: Text
    result: Text
    holds: Flag
    expected: Flag = True

    @property
    def as_expected(self) -> bool:
        """Whether the check came out as docs/paper.md says."""
        return self.holds == self.expected


def scaled(count: int, share: float) -> int:
    """A share of the full number of cases, at least 2."""
    return max(2, round(count * share))


def cube_law(rng: np.random.Generator, dimension: int) -> ProductDistribution:
    """Independent bits with probabilities k/16, 0 < k < 16: exact as floats."""
    return ProductDistribution.bernoulli(rng.integers(1, _SIXTEENTHS, dimension) / _SIXTEENTHS)


def random_law(rng: np.random.Generator, domain: Domain) -> ProductDistribution:
    """Marginals with random whole weights 1 .. 8."""
    weights = [rng.integers(1, 9, size) for size in domain.sizes]
    return ProductDistribution(domain, [weight / weight.sum() for weight in weights])


def random_table(rng: np.random.Generator, domain: Domain, steps: int) -> Table:
    """A function with values in (1/steps) Z, as whole numbers of steps; shape domain.sizes.

    A third of them are wild, a third Lipschitz but for a few points, a third a jump on a small
    ball: many violated pairs, few violated edges.
    """
    kind = rng.integers(3)
    wild = rng.integers(-3 * steps, 3 * steps + 1, domain.sizes)
    if kind == 0:
        return wild
    points = domain.points(np.arange(domain.size)).astype(np.int64)
    if kind == 1:
        slopes = rng.integers(-steps, steps + 1, domain.dimension)
        spikes = rng.random(domain.sizes) < 2.0 / domain.size
        return np.where(spikes, wild, (points @ slopes).reshape(domain.sizes))
    centre = points[rng.integers(domain.size)]
    near = domain.distances(points, centre[None, :])[:, 0] <= rng.integers(0, 2)
    jump = int(rng.integers(steps + 1, 4 * steps + 1))
    return np.where(near, jump, 0).reshape(domain.sizes)


def in_steps(table: Table, steps: int) -> Table:
    """A table given in whole numbers of steps, as Fractions."""
    result = np.empty(table.size, dtype=object)
    result[:] = [Fraction(value, steps) for value in table.reshape(-1).tolist()]
    return result.reshape(table.shape)


def distance(table: Table, law: ProductDistribution, limit: int) -> Fraction:
    """Exact distance of a table of whole numbers to the ``limit``-Lipschitz ones."""
    found = distance_to_lipschitz(table, law, lipschitz_constant=float(limit))
    assert found.value is not None
    return found.value


def violated_shares(table: Table, law: ProductDistribution, limit: int) -> list[Fraction]:
    """V_r of theory 2.1 for each direction of a cube: mass of its edges that exceed ``limit``."""
    shares = []
    for r in range(table.ndim):
        share: Any = (np.abs(np.diff(table, axis=r)) > limit).squeeze(r).astype(object)
        for other in reversed([q for q in range(table.ndim) if q != r]):
            zero, one = law.exact_marginal(other)
            share = share[..., 0] * zero + share[..., 1] * one
        shares.append(Fraction(np.asarray(share).item()))
    return shares


def mean(values: Sequence[Fraction]) -> Fraction:
    """Their average: of V_r it is Pr[an edge of D_E is violated]."""
    return sum(values, Fraction(0)) / len(values)


def is_plausible(hits: int, trials: int, probability: float) -> bool:
    """Whether ``hits`` of ``trials`` may come from events of this probability (Chernoff)."""
    share, surprise = hits / trials, 0.0
    for part, chance in ((share, probability), (1 - share, 1 - probability)):
        if part > 0:
            surprise += trials * part * (math.log(part / chance) if chance > 0 else math.inf)
    return surprise <= _SURPRISE
