"""Noiseless privacy: what the randomness of the data alone gives (theory 3.15)."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution, check_distribution
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, check_count, check_non_negative, check_open_unit, check_seed
from liptest.mechanisms.base import Mechanism, check_mechanism, through_reads
from liptest.privacy.claims import ExactLog, parse_epsilon
from liptest.privacy.noiseless_laws import (
    MAX_POINTS,
    Divergence,
    Sums,
    enumerate_divergences,
    is_additive,
    knows_law_given_sum,
    sample_divergences,
)
from liptest.privacy.verdicts import in_words
from liptest.statistics.protocol import Statistic
from liptest.verdicts import Number, Record, Text, Whole, round_up


@dataclass(frozen=True)
class NoiselessPrivacy(Record):
    """The (epsilon, delta) of a mechanism when only the data are random.

    For every record i and values a, b of positive mass, the law of the output given D_i = a and
    given D_i = b are within (epsilon, delta), D drawn from ``distribution``.

    Parameters
    ----------
    delta_lower, delta_upper
        Bounds of the least delta at ``epsilon``. They differ by rounding, declared errors, and,
        for ``method`` "sampled", by chance.
    record, values
        Where the divergence is largest, (a, b): output likelier given a.
    method
        "exact" (sum over records), "enumerated" (all datasets), "sampled".
    failure_probability
        None unless sampled: chance that a bound is wrong.
    """

    epsilon: Number
    delta_lower: Number
    delta_upper: Number
    record: Whole
    values: tuple[Whole, Whole]
    method: Text
    mechanism: Text
    distribution: Text
    records: Whole
    draws: Whole = 0
    failure_probability: Number | None = None
    seed: Whole | None = None

    def __str__(self) -> str:
        total = round_up(self.delta_upper) if self.delta_upper > 0 else 0.0
        chance = ""
        if self.failure_probability is not None:
            chance = (
                f", or this run of {self.draws:,} datasets hit an event of probability <= "
                f"{in_words(self.failure_probability)}"
            )
        below = f" (at least {self.delta_lower:.4g})" if self.delta_lower > 0 else ""
        return (
            f"{self.mechanism}   noiseless privacy, {self.method}\n"
            f"({self.epsilon:g}, {total:.4g})-private by the randomness of the data alone"
            f"{below}{chance}.\n"
            f"Largest for record {self.record}, value {self.values[0]} against "
            f"{self.values[1]}.\n"
            f"Against an adversary who knows the distribution, {self.distribution}, and no record "
            f"of the dataset. One who knows other records, or data of another law: no promise. "
            f"This is not differential privacy and no case of the exception mass."
        )


FloatArray = NDArray[np.float64]

# Searching the least epsilon: values tried in one pass, and passes.
_GRID, _PASSES = 33, 4
_LARGEST = 64.0


def noiseless_privacy(
    mechanism: Any,
    distribution: Distribution,
    *,
    epsilon: float | str | ExactLog | None = None,
    delta: float | None = None,
    draws: int = 20_000,
    failure_probability: float = 1e-6,
    seed: int | None = None,
) -> NoiselessPrivacy:
    """The (epsilon, delta) that the data's own randomness gives (Bhaskar et al. 2011).

    Parameters
    ----------
    mechanism
        A mechanism; or ``lt.Count()`` or ``lt.statistics.WeightedSum(w)``, released as they are.
    distribution
        Of the data. Exact for sums over independent records, whatever is released of them;
        by enumeration up to 2**14 datasets with known masses; bounds by sampling otherwise, with
        the true conditional laws of correlated records.
    epsilon, delta
        Exactly one. epsilon: bounds of the least delta. delta: the least epsilon whose upper
        bound is at most delta, to four digits (not by sampling); inf when there is none.
    draws, failure_probability, seed
        For sampling: datasets drawn, chance that a bound is wrong.

    Raises
    ------
    InputError
        Both or neither of epsilon and delta, unbounded outputs of no sum, delta with sampling.
    BudgetError
        The sum has too many values, or too many outputs for its number of records.
    """
    if (epsilon is None) == (delta is None):
        raise InputError("epsilon, delta: give exactly one of the two", name="epsilon")
    law = check_distribution(distribution)
    if isinstance(mechanism, Statistic) and not isinstance(mechanism, Mechanism):
        return _answer(_source(mechanism, law), epsilon, delta, draws, failure_probability, seed)
    return through_reads(
        check_mechanism(mechanism),
        law.domain,
        lambda seen: _answer(_source(seen, law), epsilon, delta, draws, failure_probability, seed),
    )


def _answer(
    source: _Source,
    epsilon: float | str | ExactLog | None,
    delta: float | None,
    draws: int,
    failure_probability: float,
    seed: int | None,
) -> NoiselessPrivacy:
    if epsilon is not None:
        number = check_non_negative("epsilon", float(parse_epsilon(epsilon)), below=700.0)
        if source.divergences is None:
            return _by_sampling(source, number, draws, failure_probability, seed)
        [worst] = source.largest([number])
        return source.result(number, worst)
    if source.divergences is None:
        raise InputError(
            "delta: this mechanism can only be bounded by sampling, at one epsilon; give epsilon",
            name="delta",
        )
    return _least_epsilon(source, check_non_negative("delta", float(delta or 0.0), below=1.0))


@dataclass(frozen=True, eq=False)
class _Source:
    """Who is asked, and how: ``divergences(factors)`` yields them for all e^epsilon at once."""

    name: str
    distribution: Distribution
    method: str
    mechanism: Mechanism | None
    divergences: Callable[[list[float]], Iterator[list[Divergence]]] | None

    def largest(self, epsilons: list[float]) -> list[Divergence]:
        """The worst record and values at each epsilon."""
        assert self.divergences is not None
        worst = [Divergence(0.0, 0.0, 0, (0, 0))] * len(epsilons)
        for divergences in self.divergences([math.exp(epsilon) for epsilon in epsilons]):
            worst = [
                max(pair, key=lambda d: d.upper) for pair in zip(worst, divergences, strict=True)
            ]
        return worst

    def result(self, epsilon: float, worst: Divergence) -> NoiselessPrivacy:
        return NoiselessPrivacy(
            epsilon=epsilon,
            delta_lower=worst.lower,
            delta_upper=min(1.0, worst.upper),
            record=worst.record,
            values=worst.values,
            method=self.method,
            mechanism=self.name,
            distribution=self.distribution.source,
            records=self.distribution.domain.dimension,
        )


def _source(mechanism: Any, distribution: Distribution) -> _Source:
    released = isinstance(mechanism, Statistic) and not isinstance(mechanism, Mechanism)
    statistic = mechanism if released else mechanism.statistic
    checked = None if released else check_mechanism(mechanism)
    name = checked.name if checked is not None else f"exact {mechanism.name}"
    if (
        is_additive(statistic)
        and isinstance(distribution, ProductDistribution)
        and (released or knows_law_given_sum(mechanism, statistic, distribution))
    ):
        sums = Sums(mechanism, statistic, distribution)
        return _Source(name, distribution, "exact", checked, sums.divergences)
    if checked is None:
        raise InputError(
            f"mechanism={mechanism.name}: released as it is, only a sum over independent records "
            f"is known here; give a mechanism with finitely many outputs",
            name="mechanism",
        )
    masses = distribution.has_log_mass
    if distribution.domain.size <= MAX_POINTS and masses:
        program = checked

        def every(factors: list[float]) -> Iterator[list[Divergence]]:
            parts = [enumerate_divergences(program, distribution, factor) for factor in factors]
            for divergences in zip(*parts, strict=True):
                yield list(divergences)

        return _Source(name, distribution, "enumerated", checked, every)
    return _Source(name, distribution, "sampled", checked, None)


def _by_sampling(
    source: _Source, epsilon: float, draws: int, failure: float, seed: int | None
) -> NoiselessPrivacy:
    assert source.mechanism is not None
    count = check_count("draws", draws, least=4)
    level = check_open_unit("failure_probability", failure)
    given = check_seed(seed)
    drawn_seed = secrets.randbits(128) if given is None else given
    divergences = list(
        sample_divergences(
            source.mechanism,
            source.distribution,
            math.exp(epsilon),
            draws=count,
            failure_probability=level,
            rng=np.random.default_rng(drawn_seed),
        )
    )
    worst = max(divergences, key=lambda d: (d.upper, d.lower), default=Divergence(0, 0, 0, (0, 0)))
    lower = max((d.lower for d in divergences), default=0.0)
    return NoiselessPrivacy(
        epsilon=epsilon,
        delta_lower=lower,
        delta_upper=worst.upper,
        record=worst.record,
        values=worst.values,
        method=source.method,
        mechanism=source.name,
        distribution=source.distribution.source,
        records=source.distribution.domain.dimension,
        draws=count,
        failure_probability=level,
        seed=drawn_seed,
    )


def _least_epsilon(source: _Source, delta: float) -> NoiselessPrivacy:
    """Narrow a grid around the least epsilon: all its values in one pass over the records."""
    low, high = 0.0, _LARGEST
    best: tuple[float, Divergence] | None = None
    for _ in range(_PASSES):
        grid = np.linspace(low, high, _GRID).tolist()
        worst = source.largest(grid)
        fits = [k for k, divergence in enumerate(worst) if divergence.upper <= delta]
        if not fits:
            break
        k = fits[0]
        best = (grid[k], worst[k])
        low, high = grid[max(0, k - 1)], grid[k]
        if k == 0:
            break
    if best is None:
        [last] = source.largest([_LARGEST])
        return source.result(math.inf, last)
    return source.result(*best)
