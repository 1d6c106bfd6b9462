"""Sums over independent records, and what is released of them: exact laws (theory 3.15)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import ProductDistribution
from liptest.errors import BudgetError
from liptest.mechanisms.closed_form import StatisticMechanism
from liptest.mechanisms.laws import LawTable
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.conditional_laws import Divergence, divergence
from liptest.privacy.left_out import Part, additive_parts, left_out_laws, relative_error
from liptest.privacy.noise_windows import UNDERFLOW, noise_window
from liptest.privacy.release_tables import affordable, release_table
from liptest.statistics.protocol import Statistic

FloatArray = NDArray[np.float64]

# Probabilities of a table "value of the statistic -> output" that fit in memory, and products.
_MOST_ENTRIES = 1 << 26
_MOST_PRODUCTS = 1 << 37


def follows(mechanism: Any, statistic: Any, distribution: ProductDistribution) -> bool:
    """Whether the laws given all values of the sum are had; those of code may be too dear."""
    if isinstance(mechanism, (StatisticMechanism, ShiftMechanism)):
        return True
    if mechanism.outputs is not None and not hasattr(mechanism, "laws_of"):
        return False
    domain = distribution.domain
    parts, _ = additive_parts(statistic, distribution)
    return affordable(mechanism, domain, _spread(parts))


def _spread(parts: list[Part]) -> int:
    """How many values the sum can have."""
    return sum(part.count * (len(part.law) - 1) for part in parts) + 1


@dataclass(frozen=True, eq=False)
class Sums:
    """A sum over independent records, released as it is or through a law given its value."""

    mechanism: Any
    statistic: Any
    distribution: ProductDistribution

    def divergences(self, factors: list[float]) -> Iterator[list[Divergence]]:
        parts, lowest = additive_parts(self.statistic, self.distribution)
        spread = _spread(parts)
        release, error, missing = self._release(lowest, spread, len(parts))
        relative = error + relative_error(self.distribution.domain.dimension, spread)
        for part, others in left_out_laws(parts):
            laws = {value: release(others, step, spread) for value, step in part.values}
            for pair in permutations(laws, 2):
                left, right = (laws[value] for value in pair)
                yield [
                    divergence(
                        left,
                        right,
                        factor,
                        relative=relative,
                        missing=missing,
                        record=part.record,
                        values=pair,
                    )
                    for factor in factors
                ]

    def _release(
        self, lowest: int, spread: int, parts: int
    ) -> tuple[Callable[[FloatArray, int, int], FloatArray], float, float]:
        """From the law of the others and what the record adds to the law of the output.

        Also its relative error, and the probability of the outputs that are left out.
        """
        if isinstance(self.mechanism, ShiftMechanism):
            noise, error, left_out = noise_window(self.mechanism)

            def noisy(others: FloatArray, step: int, size: int) -> FloatArray:
                return np.convolve(_moved(others, step, size), noise)

            return noisy, error + 2.0**-52 * spread, left_out
        if isinstance(self.mechanism, Statistic):
            return _moved, 0.0, UNDERFLOW
        if not isinstance(self.mechanism, StatisticMechanism):
            found = release_table(self.mechanism, lowest, spread, parts)

            def written(others: FloatArray, step: int, size: int) -> FloatArray:
                return found.given(_moved(others, step, size))

            return written, found.error, UNDERFLOW + found.missing
        table, error = self._table(lowest, spread, parts)

        def answered(others: FloatArray, step: int, size: int) -> FloatArray:
            return np.asarray(_moved(others, step, size) @ table)

        return answered, error, UNDERFLOW

    def _table(self, lowest: int, spread: int, parts: int) -> tuple[FloatArray, float]:
        entries = spread * len(self.mechanism.outputs)
        if entries > _MOST_ENTRIES or 2 * parts * entries > _MOST_PRODUCTS:
            raise BudgetError(
                f"mechanism: {spread:,} values of the statistic times "
                f"{len(self.mechanism.outputs):,} outputs, for {parts:,} different records, are "
                f"too many; use fewer outputs",
                needed=2 * parts * entries,
                budget=_MOST_PRODUCTS,
            )
        laws = self.mechanism.laws_of(lowest + np.arange(spread))
        assert isinstance(laws, LawTable)
        rows = laws.distinct(np.arange(spread))
        error = float(np.max(laws.errors, initial=0.0)) + 2.0**-52 * spread
        return np.exp(laws.logs)[rows], math.expm1(min(error, 700.0))


def _moved(others: FloatArray, step: int, size: int) -> FloatArray:
    law = np.zeros(size)
    law[step : step + len(others)] = others
    return law
