"""A whole-number statistic plus noise: unbounded outputs, compared in closed form."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.errors import InputError, call_user_code, shown
from liptest.mechanisms.additive import AdditiveNoise, RandBelow
from liptest.mechanisms.base import ClosedFormLosses
from liptest.mechanisms.declared import distinct_values, value_of
from liptest.mechanisms.laws import ComparableLaws, FloatArray, OutputLaw, default_error
from liptest.mechanisms.neighbourhoods import Changes
from liptest.statistics.protocol import Statistic

# Several whole numbers, each with noise of its own: unbounded outputs, compared in closed form.


Indices = NDArray[np.int64]


# As for one number: a listed law leaves out less than this, unless it would list more outputs.
_LEFT_OUT = Fraction(1, 2**64)


_MOST_LISTED = 1 << 19


@dataclass(frozen=True, eq=False)
class VectorShiftTable(ComparableLaws):
    """Laws "values + independent noise" of u distinct vectors, compared through differences.

    Parameters
    ----------
    centres
        (u, k) values of the statistic.
    noise
        What is added to each number.
    rows
        (q,) which vector each query has; None means query i has vector i.
    """

    centres: Indices
    noise: AdditiveNoise
    rows: Indices | None = None

    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """Loss of each pair, ``inf`` where infinite; (p,).

        The numbers are independent, so the largest log ratio is the sum of the largest ones.
        """
        return np.asarray(self.noise.loss(self._shifts(left, right)).sum(axis=1))

    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each pair; (p,).

        Numbers of equal value have equal noise and drop out, so a pair that differs in one
        number has the divergence of this number. InputError for pairs that differ in more.
        """
        shifts = self._shifts(left, right)
        if (np.count_nonzero(shifts, axis=1) > 1).any():
            raise _several()
        return np.asarray(self.noise.hockey_stick(shifts.sum(axis=1), epsilon))

    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Rounding of ``losses``: 4 ulp of max(1, loss) for each number; (p,)."""
        losses = self.losses(left, right)
        each = default_error(np.where(np.isinf(losses), 0.0, losses))
        return np.asarray(self.centres.shape[1] * each)

    def certified_loss(self, left: int, right: int) -> arb:
        """A ball that contains the loss of one pair of distinct laws."""
        return sum((self.noise.loss_ball(shift) for shift in self._shift(left, right)), arb(0))

    def certified_hockey_stick(self, left: int, right: int, epsilon: arb) -> arb:
        """A ball that contains the divergence of one pair for all epsilon of a ball."""
        moved = [shift for shift in self._shift(left, right) if shift]
        if len(moved) > 1:
            raise _several()
        return self.noise.hockey_stick_ball(moved[0], epsilon) if moved else arb(0)

    def _shifts(self, left: Indices, right: Indices) -> Indices:
        return np.asarray(self.centres[right] - self.centres[left])

    def _shift(self, left: int, right: int) -> list[int]:
        shifts: list[int] = (self.centres[right] - self.centres[left]).tolist()
        return shifts


@dataclass(frozen=True, eq=False)
class VectorShift(ClosedFormLosses):
    """Adds independent whole-number noise to each number of a statistic; outputs are tuples.

    Parameters
    ----------
    statistic
        k whole numbers per dataset, (n, k).
    noise
        ``lt.DiscreteLaplace(scale)`` or another ``AdditiveNoise``.
    name
        Printed in verdicts.
    """

    statistic: Statistic = field()
    noise: AdditiveNoise = field()
    name: str = ""

    def points_per_slice(self, domain: Domain) -> int:
        """Large: no law is written out."""
        return 1 << 14

    def laws(self, points: PointBatch) -> VectorShiftTable:
        """One law per distinct value of the statistic."""
        values, rows = distinct_values(self.statistic, points)
        return VectorShiftTable(values, self.noise, rows)

    def laws_of(self, values: Indices) -> VectorShiftTable:
        """Laws given m values of the statistic, (m, k), in the order given."""
        return VectorShiftTable(values, self.noise)

    def law(self, dataset: IntArray) -> OutputLaw:
        """The law on a box about the value; ``unexplored`` bounds the mass outside it."""
        values = self._values(dataset)
        reach = self._window(len(values))
        logs = self.noise.log_pmf(np.arange(-reach, reach + 1))
        totals = np.zeros(1)
        for _ in values:
            totals = np.add.outer(totals, logs).ravel()
        sides = [range(value - reach, value + reach + 1) for value in values]
        return OutputLaw(
            tuple(itertools.product(*sides)),
            totals,
            len(values) * default_error(totals),
            unexplored=min(Fraction(1), len(values) * self.noise.tail(reach)),
            source=self.source,
        )

    def draw(self, dataset: IntArray, randbelow: RandBelow) -> tuple[int, ...]:
        """One exact draw of the output; ``randbelow(n)`` is uniform on 0 .. n-1."""
        return tuple(value + self.noise.draw(randbelow) for value in self._values(dataset))

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """A ball that contains the loss of two datasets."""
        return self._pair(dataset, neighbour).certified_loss(0, 1)

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """A ball that contains their hockey-stick divergence for all epsilon of a ball."""
        return self._pair(dataset, neighbour).certified_hockey_stick(0, 1, epsilon)

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[tuple[int, ...], arb, arb]:
        """An output whose loss exceeds ``epsilon``, with both probabilities as balls.

        Where no output's loss does, the output of the largest loss.
        """
        here, there = self._values(dataset), self._values(neighbour)
        output = tuple(
            a + self.noise.telling_value(b - a, epsilon) for a, b in zip(here, there, strict=True)
        )
        left, right = (
            sum((self.noise.log_pmf_ball(o - v) for o, v in zip(output, at, strict=True)), arb(0))
            for at in (here, there)
        )
        return output, left.exp(), right.exp()

    def _pair(self, dataset: IntArray, neighbour: IntArray) -> VectorShiftTable:
        return self.laws_of(np.array([self._values(dataset), self._values(neighbour)]))

    def _values(self, dataset: IntArray) -> list[int]:
        values: list[int] = value_of(self.statistic, dataset)[0].tolist()
        return values

    def _window(self, count: int) -> int:
        reach = 0
        while (2 * reach + 3) ** count <= _MOST_LISTED:
            if count * self.noise.tail(reach) < _LEFT_OUT:
                break
            reach += 1
        return reach


def _several() -> InputError:
    return InputError(
        "delta: two datasets differ in several noisy numbers, whose divergence has no closed form "
        "here; claim delta=0, or use a domain where neighbours differ in one number (Hypergrid)",
        name="delta",
    )


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ShiftTable(ComparableLaws):
    """Laws "value + noise" of u distinct values, compared through the differences of values.

    Parameters
    ----------
    centres
        (u,) values of the statistic.
    noise
        What is added.
    rows
        (q,) which value each query has; None means query i has value i.
    """

    centres: Indices
    noise: AdditiveNoise
    rows: Indices | None = None

    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """Loss of each pair, ``inf`` where infinite; (p,)."""
        return self._asked(self.noise.loss, self._shifts(left, right))

    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each pair, the same in both directions; (p,)."""
        return self._asked(self.noise.hockey_stick, self._shifts(left, right), epsilon)

    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Rounding of ``losses``: 4 ulp of max(1, loss); (p,)."""
        losses = self.losses(left, right)
        return default_error(np.where(np.isinf(losses), 0.0, losses))

    def certified_loss(self, left: int, right: int) -> arb:
        """A ball that contains the loss of one pair of distinct laws."""
        return self._asked(self.noise.loss_ball, self._shift(left, right))

    def certified_hockey_stick(self, left: int, right: int, epsilon: arb) -> arb:
        """A ball that contains the divergence of one pair for all epsilon of a ball."""
        return self._asked(self.noise.hockey_stick_ball, self._shift(left, right), epsilon)

    def _asked(self, function: Callable[..., T], *arguments: Any) -> T:
        return call_user_code(repr(self.noise), function.__name__, function, *arguments)

    def _shifts(self, left: Indices, right: Indices) -> Indices:
        return np.asarray(self.centres[right] - self.centres[left])

    def _shift(self, left: int, right: int) -> int:
        return int(self.centres[right]) - int(self.centres[left])


@dataclass(frozen=True, eq=False)
class ShiftMechanism(ClosedFormLosses):
    """Adds whole-number noise to a whole-number statistic; the output is not truncated.

    ``ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))`` is 1-DP. A statistic that neighbours
    change by at most K, with ``DiscreteLaplace(K / epsilon)``, is epsilon-DP (theory 3.12).

    Parameters
    ----------
    statistic
        One whole number per dataset.
    noise
        ``lt.DiscreteLaplace(scale)``, ``lt.DiscreteGaussian(sigma)`` or another ``AdditiveNoise``.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        No statistic, no noise; on use, a statistic with more than one number per dataset.
    """

    statistic: Statistic = field()
    noise: AdditiveNoise = field()
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.statistic, Statistic):
            raise InputError(
                f"statistic={shown(self.statistic)} is no statistic; use lt.Count() or "
                f"lt.WeightedSum(weights)",
                name="statistic",
            )
        if not isinstance(self.noise, AdditiveNoise) or isinstance(self.noise, type):
            raise InputError(
                f"noise={shown(self.noise)} is no noise; use lt.DiscreteLaplace(scale)",
                name="noise",
            )
        object.__setattr__(self, "name", self.name or f"{self.statistic.name} + {self.noise!r}")

    def points_per_slice(self, domain: Domain) -> int:
        """Large: neighbours cost an addition each, and no law is written out."""
        return 1 << 16

    def laws(self, points: PointBatch) -> ShiftTable:
        """One law per distinct value of the statistic."""
        values, rows = distinct_values(self.statistic, points)
        return ShiftTable(self._whole(values), self.noise, rows)

    def neighbour_laws(self, dataset: IntArray, changes: Changes) -> ShiftTable:
        """Laws at a dataset and at changed copies of it; an addition each."""
        return self.laws(changes.of(dataset))

    def laws_of(self, values: Indices) -> ShiftTable:
        """Laws given m values of the statistic, in the order given."""
        return ShiftTable(self._whole(values), self.noise)

    def law(self, dataset: IntArray) -> OutputLaw:
        """The law on a window about the value; ``unexplored`` bounds the mass outside it.

        It is below 2**-64 unless the window would list more than 2**19 outputs.
        """
        reach = self._window()
        offsets = np.arange(-reach, reach + 1)
        logs = call_user_code(self.name, "log_pmf", self.noise.log_pmf, offsets)
        return OutputLaw(
            (self._value(dataset) + offsets).tolist(),
            logs,
            default_error(logs),
            unexplored=self.noise.tail(reach),
            source=self.source,
        )

    def draw(self, dataset: IntArray, randbelow: RandBelow) -> int:
        """One exact draw of the output; ``randbelow(n)`` is uniform on 0 .. n-1."""
        return self._value(dataset) + self.noise.draw(randbelow)

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """A ball that contains the loss of two datasets."""
        return self._pair(dataset, neighbour).certified_loss(0, 1)

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """A ball that contains their hockey-stick divergence for all epsilon of a ball."""
        return self._pair(dataset, neighbour).certified_hockey_stick(0, 1, epsilon)

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[int, arb, arb]:
        """An output whose loss exceeds ``epsilon``, with both probabilities as balls.

        Where no output's loss does, the output of the largest loss.
        """
        value, other = self._value(dataset), self._value(neighbour)
        offset = self.noise.telling_value(other - value, epsilon)
        balls = [
            self.noise.log_pmf_ball(value + offset - centre).exp() for centre in (value, other)
        ]
        return value + offset, balls[0], balls[1]

    def _pair(self, dataset: IntArray, neighbour: IntArray) -> ShiftTable:
        return self.laws_of(np.array([self._value(dataset), self._value(neighbour)]))

    def _value(self, dataset: IntArray) -> int:
        return int(self._whole(value_of(self.statistic, dataset))[0])

    def _whole(self, values: Indices) -> Indices:
        if values.ndim != 1:
            raise InputError(
                f"statistic={self.statistic.name} has {values.shape[1]} numbers per dataset; "
                f"ShiftMechanism adds noise to one number, use lt.StatisticMechanism",
                name="statistic",
            )
        return values

    def _window(self) -> int:
        """Smallest window, by bisection, whose tail is small enough; at most half the limit."""
        low, high = 0, (_MOST_LISTED - 1) // 2
        while low < high:
            middle = (low + high) // 2
            if self.noise.tail(middle) < _LEFT_OUT:
                high = middle
            else:
                low = middle + 1
        return low
