"""Output laws of OpenDP's measurements as this program's mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.domains import Domain, IntArray
from liptest.errors import InputError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.closed_form import ClosedForm, StatisticMechanism
from liptest.mechanisms.exact_table import ExactForm
from liptest.mechanisms.noise import Noise
from liptest.mechanisms.shift import ShiftMechanism
from liptest.mechanisms.vector_shift import VectorShift
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.protocol import Values
from liptest.statistics.weighted_sum import WeightedSum

# For so many scores the nodes next to 1 are 0.002 off it, so that 40 factors 1 - t q are known to
# 40 x 1e-13 each: well below the error that is declared.
_MOST_SCORES = 40
_SELECTION_ERROR = 1e-10


class Offset(WeightedSum):
    """A weighted sum and a constant; neighbours have the same differences."""

    name = "sum"

    def __init__(self, weights: Sequence[int], constant: int) -> None:
        super().__init__(weights)
        self.constant = constant

    def __repr__(self) -> str:
        return f"Offset({self.weights[:40].tolist()}, {self.constant})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Offset) and repr(self) == repr(other) and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.weights.tobytes(), self.constant))

    def values(self, points: IntArray) -> Values:
        return super().values(points) + self.constant

    def kinds(self, domain: Domain) -> Values:
        """Those of the sum."""
        return super().kinds(domain)

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        for left, right in super().edges(domain):
            yield left + self.constant, right + self.constant

    def difference_sets(self, domain: Domain) -> None:
        """Not kept: they are those of the sum without the constant."""
        return

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        return super().realise(domain, left - self.constant, right - self.constant)


@dataclass(frozen=True)
class OffsetCoordinates(Coordinates):
    """The numbers of the dataset, counted from a lower bound."""

    constant: int = 0

    def values(self, points: IntArray) -> Values:
        return super().values(points) + self.constant

    def changed_values(self, batch: Any, values: Values) -> Values:
        return super().changed_values(batch, values - self.constant) + self.constant

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        for left, right in super().edges(domain):
            yield left + self.constant, right + self.constant

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        return super().realise(domain, left - self.constant, right - self.constant)


@dataclass(frozen=True)
class ResponseLaw:
    """The truth with a probability, else another category, all alike.

    What is no category, the last value, is answered by any category, all alike.
    """

    truth: Fraction
    count: int

    def __call__(self, dataset: IntArray) -> list[Fraction]:
        value = int(dataset[0])
        if value == self.count:
            return [Fraction(1, self.count)] * self.count
        lie = (1 - self.truth) / (self.count - 1)
        return [self.truth if k == value else lie for k in range(self.count)]


def response(categories: Sequence[Any], truth: Fraction, name: str) -> Mechanism:
    """Randomised response with the float ``prob`` as the binary fraction that it is."""
    return ExactForm(tuple(categories), ResponseLaw(truth, len(categories)), name)


@dataclass(frozen=True)
class BoundedLaw:
    """OpenDP's geometric sampler with bounds: a fixed number of trials, ends clipped.

    With q = exp(-1/scale), m = upper - lower and both ends included, the input is clipped to the
    bounds; |noise| = k has weight q^k (1-q) for k < m and q^m for k = m, on either side, where a
    negative 0 is drawn again; so the noise k has 1/(2 - (1-q)) times this weight. The output is
    clipped again. OpenDP rounds 1-q down to a float, which is what ``error`` is for.
    """

    scale: float
    lower: int
    upper: int

    @property
    def error(self) -> float:
        """Bound on what rounding 1-q to a float moves a log: m + 1 times that of ln q."""
        stay = -math.expm1(-1.0 / self.scale)
        return (self.upper - self.lower + 2) * 2.0**-49 * max(1.0, math.exp(1 / self.scale) / stay)

    def __call__(self, values: Any) -> Any:
        count, rate = self.upper - self.lower, 1.0 / self.scale
        if count == 0:
            return np.zeros((len(values), 1))
        stay = -math.expm1(-rate)
        steps = np.arange(count + 1)
        size = -rate * steps + np.where(steps < count, math.log(stay), 0.0)
        tail = -rate * steps
        rows = []
        for value in np.clip(values, self.lower, self.upper) - self.lower:
            inner = size[np.abs(steps - value)]
            # All that reaches an end, or goes beyond it, is at the end.
            inner[0], inner[-1] = tail[value], tail[count - value]
            rows.append(inner - math.log(2.0 - stay))
        return np.array(rows)


@dataclass(frozen=True)
class NoisyMaxLaw:
    """The place of the largest of k scores with noise on each.

    Gumbel noise: P(r) is proportional to exp(score_r / scale), the exponential mechanism.
    Exponential noise: with q_r = exp((score_r - largest) / scale) the place is r with probability
    q_r times the integral over t in 0 .. 1 of the product over j != r of 1 - t q_j, the law of
    permute-and-flip (Ding, Kifer and others 2021; McKenna and Sheldon 2020). The integrand is a
    polynomial of degree k - 1, so that Gauss and Legendre's rule is exact, and without signs.
    """

    scale: float
    negate: bool
    gumbel: bool

    def __call__(self, datasets: Any) -> Any:
        scores = np.asarray(datasets, dtype=np.float64) * (-1.0 if self.negate else 1.0)
        logs = (scores - scores.max(axis=1, keepdims=True)) / self.scale
        if self.gumbel:
            return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        count = logs.shape[1]
        nodes, weights = np.polynomial.legendre.leggauss(count // 2 + 1)
        factors = 1.0 - np.exp(logs)[:, :, None] * ((nodes + 1) / 2)
        rest = np.stack([np.delete(factors, r, axis=1).prod(axis=1) for r in range(count)], axis=1)
        return logs + np.log(rest @ (weights / 2))


def noisy_max(scale: float, count: int, negate: bool, gumbel: bool, name: str) -> Mechanism:
    """The place of the largest, or least, of ``count`` scores."""
    if count > _MOST_SCORES:
        raise InputError(
            f"domain: {count} scores are more than the {_MOST_SCORES} that a law is computed for",
            name="domain",
        )
    return ClosedForm(
        range(count), NoisyMaxLaw(scale, negate, gumbel), error=_SELECTION_ERROR, name=name
    )


def noisy_vector(noise: Noise, domain: Domain, lowest: int, name: str) -> Mechanism:
    """Noise on each number of the dataset."""
    every = tuple(range(domain.dimension))
    return VectorShift(OffsetCoordinates(every, domain.sizes, constant=lowest), noise, name)


def noisy_number(noise: Noise, lowest: int, name: str) -> Mechanism:
    """Noise on the one number of the dataset."""
    return ShiftMechanism(Offset([1], lowest), noise, name)


def bounded_number(scale: float, lowest: int, bounds: Sequence[int], name: str) -> Mechanism:
    """Noise on the one number of the dataset that ends at bounds."""
    low, high = (int(end) for end in bounds)
    law = BoundedLaw(scale, low, high)
    number, outputs = Offset([1], lowest), range(low, high + 1)
    return StatisticMechanism(number, outputs, law, error=law.error, exact_zeros=True, name=name)
