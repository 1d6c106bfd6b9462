"""Exact exception mass of a mechanism, for one epsilon or many (theory 1.1b, 3.1, 3.8b).

The exception mass of a claim is the least mass of a set of datasets that meets every neighbouring
pair that breaks the claim: a minimum-weight vertex cover, proved by a maximum flow on cubes and
grids. A mechanism that sees only the number of ones has one law at all datasets of one Hamming
weight, so it is enough to choose weights: the lightest set of weights that meets every bad pair
(k, k+1), a recurrence along the path 0 .. d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution, check_distribution, require_tables
from liptest.data.domains import Domain
from liptest.data.draws import hamming_weight_masses
from liptest.data.product import ProductDistribution
from liptest.errors import BudgetError, InputError
from liptest.mechanisms.base import ClosedFormLosses, Mechanism, check_mechanism
from liptest.mechanisms.laws import INFINITE_LOSS, ComparableLaws
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon
from liptest.privacy.comparison import Answer, certify_comparison, screen_pairs
from liptest.privacy.proofs.exhaustive import law_rows, neighbour_rows
from liptest.statistics.protocol import has_values_of
from liptest.statistics.sums import Count
from liptest.verdicts import Number, Record

Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

# Probabilities of outputs at all weights together that are computed.
_MOST_ENTRIES = 1 << 29
# Those at once.
_SLICE_ENTRIES = 1 << 22
#: Neighbouring pairs that are held in memory at once.
MAX_PAIRS = 4_000_000
_SLICE = 1 << 14
# Pairs of weights that are certified one by one; of more, all are left open.
_MOST_CERTIFIED = 10_000


@dataclass(frozen=True)
class ExceptionMass(Record):
    """Bounds on the least mass of a set off which a claim holds; equal where it is exact.

    ``lower`` counts only pairs that certainly break the claim, ``upper`` also those that the
    declared errors leave open; for replaced records of three or more values the cover itself
    may be known only up to bounds. Floats rounded to nearest from exact rationals; those of a
    sampled profile are rounded outwards.
    """

    epsilon: Number
    delta: Number
    lower: Number
    upper: Number


def has_count_mass(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether ``count_exception_mass`` applies: a count, a product law, not too many laws."""
    outputs = 1 if mechanism.outputs is None else len(mechanism.outputs)
    return (
        has_values_of(mechanism.statistic, Count)
        and isinstance(distribution, ProductDistribution)
        and (distribution.domain.dimension + 1) * outputs <= _MOST_ENTRIES
    )


def lightest_cover(masses: NDArray[np.float64], bad: NDArray[np.bool_]) -> float:
    """Least mass of weights that meets every bad pair (k, k+1); ``bad`` is (d,)."""
    free, taken = 0.0, float(masses[0])
    for mass, is_bad in zip(masses[1:].tolist(), bad.tolist(), strict=True):
        best = min(free, taken)
        free, taken = (taken if is_bad else best), best + mass
    return min(free, taken)


def count_exception_mass(
    mechanism: Any, distribution: ProductDistribution, claim: Claim
) -> tuple[float, float]:
    """Least mass of a set W off which a count mechanism keeps the claim, from below and above.

    The two differ only where declared errors leave pairs of weights undecided.
    """
    [bounds] = count_exception_masses(mechanism, distribution, [claim])
    return bounds


def count_exception_masses(
    mechanism: Any, distribution: ProductDistribution, claims: Sequence[Claim]
) -> list[tuple[float, float]]:
    """``count_exception_mass`` of claims that ascend by epsilon; each law is computed once."""
    masses, left_out = hamming_weight_masses(distribution.probabilities)
    bounds = []
    for bad, possible in _bad_weights(mechanism, distribution.domain, claims):
        lower, upper = lightest_cover(masses, bad), lightest_cover(masses, possible)
        bounds.append((lower, upper + (left_out if possible.any() else 0.0)))
    return bounds


def _bad_weights(
    mechanism: Any, domain: Domain, claims: Sequence[Claim]
) -> Iterator[tuple[Flags, Flags]]:
    """For each claim which pairs (k, k+1) certainly break it, and which may; (d,) each."""
    d = domain.dimension
    bad, open_pairs = (np.zeros((len(claims), d), dtype=bool) for _ in range(2))
    outputs = 1 if mechanism.outputs is None else len(mechanism.outputs)
    step = max(64, min(1 << 16, _SLICE_ENTRIES // outputs))
    for start in range(0, d, step):
        weights = np.arange(start, min(start + step, d) + 1)
        laws = mechanism.laws_of(weights)
        rows = laws.distinct(np.arange(len(weights)))
        screened = screen_pairs(laws, rows[:-1], rows[1:], claims)
        pairs, place = slice(start, start + len(rows) - 1), np.arange(len(claims))[:, None]
        bad[:, pairs] = screened.must > place
        open_pairs[:, pairs] = (screened.may > place) & ~bad[:, pairs]
    for claim, broken, left_open in zip(claims, bad, open_pairs, strict=True):
        yield _certify(mechanism, domain, claim, broken, left_open)


def _certify(
    mechanism: Any, domain: Domain, claim: Claim, bad: Flags, open_pairs: Flags
) -> tuple[Flags, Flags]:
    possible = bad | open_pairs
    for weight in np.flatnonzero(open_pairs)[:_MOST_CERTIFIED]:
        x, y = mechanism.statistic.realise(domain, weight, weight + 1)
        answer = certify_comparison(mechanism, x, y, claim).answer
        bad[weight] = answer is Answer.VIOLATED
        possible[weight] = answer is not Answer.CLEAR
    return bad, possible


def exception_mass(
    mechanism: Any,
    distribution: Distribution,
    *,
    epsilon: float | str | ExactLog,
    delta: float = 0.0,
    tolerance: float = 1e-9,
) -> ExceptionMass:
    """Exact exception mass of (epsilon, delta)-GDP (paper Definition 2.2, theory 3.1).

    Small domains with masses, and mechanisms that see only a count.

    Raises
    ------
    InputError
        A wrong argument, or a distribution without masses.
    BudgetError
        More than ``MAX_PAIRS`` neighbouring pairs.
    """
    claim = Claim(parse_epsilon(epsilon), delta, tolerance)
    return mass_source(mechanism, distribution).at(claim)


def mass_source(mechanism: Any, distribution: Distribution) -> _Points | _Weights:
    """What knows the exception mass of any claim on a mechanism; raises as ``exception_mass``."""
    checked_distribution = check_distribution(distribution, together=True)
    require_tables(checked_distribution)
    checked = check_mechanism(mechanism, checked_distribution.domain)
    if has_count_mass(checked, checked_distribution):
        assert isinstance(checked_distribution, ProductDistribution)
        return _Weights(checked, checked_distribution)
    if isinstance(checked, ClosedFormLosses):
        raise InputError(
            f"mechanism={checked.name} has unbounded outputs; its exception mass is exact only "
            f"where it sees a count on a Hypercube: use lt.privacy_profile, which samples",
            name="mechanism",
        )
    return _Points(checked, checked_distribution)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Mechanisms that see only a count: weights 0 .. d instead of datasets."""

    mechanism: Any
    distribution: ProductDistribution

    @property
    def partial(self) -> bool:
        """Whether a budget has left some law unexplored in part."""
        return is_partial(self.mechanism.laws_of(np.arange(self.distribution.domain.dimension + 1)))

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        weights = np.arange(self.distribution.domain.dimension + 1)
        laws = self.mechanism.laws_of(weights)
        rows = laws.distinct(weights)
        return _with_open_ones(laws, rows[:-1], rows[1:])

    def at(self, claim: Claim) -> ExceptionMass:
        [mass] = self.at_each([claim])
        return mass

    def at_each(self, claims: Sequence[Claim]) -> tuple[ExceptionMass, ...]:
        bounds = count_exception_masses(self.mechanism, self.distribution, claims)
        pairs = zip(claims, bounds, strict=True)
        return tuple(ExceptionMass(float(c.epsilon), c.delta, *ends) for c, ends in pairs)


@dataclass(frozen=True, eq=False)
class _Points:
    """All neighbouring pairs of a small domain."""

    mechanism: Mechanism
    distribution: Distribution

    @property
    def domain(self) -> Domain:
        return self.distribution.domain

    @cached_property
    def _laws(self) -> tuple[ComparableLaws, NDArray[np.int32]]:
        if self.domain.neighbouring_pairs > MAX_PAIRS:
            raise BudgetError(
                f"domain={self.domain} has more than {MAX_PAIRS:,} neighbouring pairs; use "
                f"check_privacy, which samples",
                budget=MAX_PAIRS,
            )
        return law_rows(self.mechanism, self.domain)

    @cached_property
    def pairs(self) -> Indices:
        return neighbour_rows(self.domain)

    @property
    def partial(self) -> bool:
        """Whether a budget has left some law unexplored in part."""
        return is_partial(self._laws[0])

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        laws, rows = self._laws
        left, right = (rows[self.pairs[:, side]].astype(np.int64) for side in (0, 1))
        starts = range(0, len(left), _SLICE)
        parts = [_with_open_ones(laws, left[s : s + _SLICE], right[s : s + _SLICE]) for s in starts]
        return np.concatenate(parts) if parts else np.zeros(0)

    def at_each(self, claims: Sequence[Claim]) -> tuple[ExceptionMass, ...]:
        return tuple(map(self.at, claims))

    def at(self, claim: Claim) -> ExceptionMass:
        certain, left_open = self._bad(claim)
        lower, upper = self._cover(certain)
        if len(left_open):
            upper = self._cover(np.concatenate([certain, left_open]))[1]
        return ExceptionMass(float(claim.epsilon), claim.delta, float(lower), float(upper))

    def _cover(self, pairs: Indices) -> tuple[Fraction, Fraction]:
        from liptest.lipschitz.covers import minimum_cover_of_pairs

        if len(pairs) == 0:
            return Fraction(0), Fraction(0)
        cover = minimum_cover_of_pairs(self.distribution, pairs)
        return cover.lower, cover.upper

    def _bad(self, claim: Claim) -> tuple[Indices, Indices]:
        laws, rows = self._laws
        answers: dict[tuple[int, int], Answer] = {}
        certain: list[Indices] = []
        undecided: list[Indices] = []
        for start in range(0, len(self.pairs), _SLICE):
            pairs = self.pairs[start : start + _SLICE]
            left, right = (rows[pairs[:, side]].astype(np.int64) for side in (0, 1))
            screened = screen_pairs(laws, left, right, [claim])
            certain.extend(pairs[screened.certain])
            for k in np.setdiff1d(screened.flagged, screened.certain):
                key = (int(left[k]), int(right[k]))
                if key not in answers:
                    answers[key] = self._decide(pairs[k], claim)
                if answers[key] is Answer.VIOLATED:
                    certain.append(pairs[k])
                elif answers[key] is Answer.DOUBT:
                    undecided.append(pairs[k])
        shape = (-1, 2)
        return (
            np.array(certain, dtype=np.int64).reshape(shape),
            np.array(undecided, dtype=np.int64).reshape(shape),
        )

    def _decide(self, pair: Indices, claim: Claim) -> Answer:
        x, y = self.domain.points(pair)
        return certify_comparison(self.mechanism, x, y, claim).answer


def is_partial(laws: ComparableLaws) -> bool:
    """Whether a budget has left some law of a table unexplored in part."""
    return laws.unexplored is not None and bool(np.any(laws.unexplored))


def _with_open_ones(laws: ComparableLaws, left: Indices, right: Indices) -> NDArray[np.float64]:
    """Losses; infinite where partial laws leave them open."""
    losses = laws.losses(left, right)
    return np.where(np.isinf(laws.screen_error(left, right)), INFINITE_LOSS, losses)
