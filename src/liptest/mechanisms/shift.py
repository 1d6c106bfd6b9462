"""Statistics plus whole-number noise: unbounded outputs, compared in closed form."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.errors import InputError, call_user_code, quote
from liptest.mechanisms.base import ClosedFormLosses
from liptest.mechanisms.declared import distinct_values, statistic_value
from liptest.mechanisms.laws import ComparableLaws, FloatArray, Output, OutputLaw, default_error
from liptest.mechanisms.neighbourhoods import Changes
from liptest.statistics.protocol import Statistic, check_is_statistic

if TYPE_CHECKING:
    from liptest.mechanisms.additive import AdditiveNoise, RandBelow

Indices = NDArray[np.int64]
T = TypeVar("T")

# A listed law leaves out less than this, unless that would list more than _MOST_LISTED outputs.
_LEFT_OUT = Fraction(1, 2**64)
_MOST_LISTED = 1 << 19


@dataclass(frozen=True, eq=False)
class ShiftTable(ComparableLaws):
    """Laws "value + noise" of u distinct values, compared through the differences of values.

    Of several numbers each has noise of its own. These are independent, so the largest log ratio is
    the sum of the largest ones. Numbers of equal value have equal noise and drop out, so a pair
    that differs in one number has the divergence of this number.

    Parameters
    ----------
    centres
        (u,) or (u, k) values of the statistic.
    noise
        What is added to each number.
    rows
        (q,) which value each query has; None means query i has value i.
    """

    centres: Indices
    noise: AdditiveNoise
    rows: Indices | None = None

    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """Loss of each pair, ``inf`` where infinite; (p,)."""
        losses = self._call_noise(self.noise.loss, self._shifts(left, right))
        return losses if losses.ndim == 1 else np.asarray(losses.sum(axis=1))

    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each pair, the same in both directions; (p,).

        InputError for pairs that differ in several numbers.
        """
        shifts = self._shifts(left, right)
        if shifts.ndim == 2:
            if (np.count_nonzero(shifts, axis=1) > 1).any():
                raise _several_moved()
            shifts = shifts.sum(axis=1)
        return self._call_noise(self.noise.hockey_stick, shifts, epsilon)

    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Rounding of ``losses``: 4 ulp of max(1, loss) for each number; (p,)."""
        losses = self.losses(left, right)
        each = default_error(np.where(np.isinf(losses), 0.0, losses))
        return np.asarray(math.prod(self.centres.shape[1:]) * each)

    def certify_loss(self, left: int, right: int) -> arb:
        """A ball that contains the loss of one pair of distinct laws."""
        shifts = np.atleast_1d(self._shifts(left, right)).tolist()
        return _add_balls(self._call_noise(self.noise.loss_ball, shift) for shift in shifts)

    def certify_hockey_stick(self, left: int, right: int, epsilon: arb) -> arb:
        """A ball that contains the divergence of one pair for all epsilon of a ball."""
        moved = [shift for shift in np.atleast_1d(self._shifts(left, right)).tolist() if shift]
        if len(moved) > 1:
            raise _several_moved()
        return self._call_noise(self.noise.hockey_stick_ball, sum(moved), epsilon)

    def _call_noise(self, function: Callable[..., T], *arguments: Any) -> T:
        return call_user_code(repr(self.noise), function.__name__, function, *arguments)

    def _shifts(self, left: Indices | int, right: Indices | int) -> Indices:
        return np.asarray(self.centres[right] - self.centres[left])


@dataclass(frozen=True, eq=False)
class _Shift(ClosedFormLosses):
    """Adds independent whole-number noise to each number of a statistic."""

    statistic: Statistic = field()
    noise: AdditiveNoise = field()
    name: str = ""

    def __post_init__(self) -> None:
        from liptest.mechanisms.additive import AdditiveNoise

        check_is_statistic(self.statistic)
        if not isinstance(self.noise, AdditiveNoise):
            raise InputError(
                f"noise={quote(self.noise)} is not noise; use lt.DiscreteLaplace(scale)",
                name="noise",
            )
        object.__setattr__(self, "name", self.name or f"{self.statistic.name} + {self.noise!r}")

    def laws(self, points: PointBatch) -> ShiftTable:
        """One law per distinct value of the statistic."""
        values, rows = distinct_values(self.statistic, points)
        return ShiftTable(self._checked(values), self.noise, rows)

    def neighbour_laws(self, dataset: IntArray, changes: Changes) -> ShiftTable:
        """Laws at a dataset and at changed copies of it; an addition each."""
        return self.laws(changes.of(dataset))

    def laws_of(self, values: Indices) -> ShiftTable:
        """Laws given m values of the statistic, (m,) or (m, k), in the order given."""
        return ShiftTable(self._checked(values), self.noise)

    def law(self, dataset: IntArray) -> OutputLaw:
        """The law on a box about the value; ``unexplored`` bounds the mass outside it.

        It is below 2**-64 unless the box would list more than 2**19 outputs.
        """
        numbers = self._numbers(dataset)
        reach = self._window(len(numbers))
        offsets = np.arange(-reach, reach + 1)
        logs = call_user_code(self.name, "log_pmf", self.noise.log_pmf, offsets)
        totals = np.zeros(1)
        for _ in numbers:
            totals = np.add.outer(totals, logs).ravel()
        sides = [range(number - reach, number + reach + 1) for number in numbers]
        return OutputLaw(
            [self._output(output) for output in itertools.product(*sides)],
            totals,
            len(numbers) * default_error(totals),
            unexplored=min(Fraction(1), len(numbers) * self.noise.tail(reach)),
            source=self.source,
        )

    def draw(self, dataset: IntArray, randbelow: RandBelow) -> Output:
        """One exact draw of the output; ``randbelow(n)`` is uniform on 0 .. n-1."""
        numbers = self._numbers(dataset)
        return self._output(tuple(number + self.noise.draw(randbelow) for number in numbers))

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """A ball that contains the loss of two datasets."""
        return self._pair(dataset, neighbour).certify_loss(0, 1)

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """A ball that contains their hockey-stick divergence for all epsilon of a ball."""
        return self._pair(dataset, neighbour).certify_hockey_stick(0, 1, epsilon)

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """An output whose loss exceeds ``epsilon``, with both probabilities as balls.

        Where no output's loss does, the output of the largest loss.
        """
        ends = self._numbers(dataset), self._numbers(neighbour)
        numbers = tuple(
            here + self.noise.distinguishing_value(there - here, epsilon)
            for here, there in zip(*ends, strict=True)
        )
        left, right = (
            _add_balls(
                self.noise.log_pmf_ball(number - value)
                for number, value in zip(numbers, values, strict=True)
            ).exp()
            for values in ends
        )
        return self._output(numbers), left, right

    @abstractmethod
    def _checked(self, values: Indices) -> Indices:
        """The values of the statistic, or InputError."""

    @abstractmethod
    def _output(self, numbers: tuple[int, ...]) -> Output:
        """The output of these numbers."""

    def _pair(self, dataset: IntArray, neighbour: IntArray) -> ShiftTable:
        ends = [statistic_value(self.statistic, end) for end in (dataset, neighbour)]
        return self.laws_of(np.concatenate(ends))

    def _numbers(self, dataset: IntArray) -> list[int]:
        numbers: list[int] = (
            self._checked(statistic_value(self.statistic, dataset)).reshape(-1).tolist()
        )
        return numbers

    def _window(self, count: int) -> int:
        """Smallest window, by bisection, whose tail is small enough; no more than can be listed."""
        low, high = 0, (_MOST_LISTED - 1) // 2
        while low < high:
            middle = (low + high) // 2
            too_many = (2 * middle + 3) ** count > _MOST_LISTED
            if too_many or count * self.noise.tail(middle) < _LEFT_OUT:
                high = middle
            else:
                low = middle + 1
        return low


@dataclass(frozen=True, eq=False)
class ShiftMechanism(_Shift):
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

    def points_per_slice(self, domain: Domain) -> int:
        """Large: neighbours cost an addition each, and no law is written out."""
        return 1 << 16

    def _checked(self, values: Indices) -> Indices:
        if values.ndim != 1:
            raise InputError(
                f"statistic={self.statistic.name} has {values.shape[1]} numbers per dataset; "
                f"ShiftMechanism adds noise to one number, use lt.StatisticMechanism",
                name="statistic",
            )
        return values

    def _output(self, numbers: tuple[int, ...]) -> Output:
        return numbers[0]


@dataclass(frozen=True, eq=False)
class VectorShift(_Shift):
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

    def points_per_slice(self, domain: Domain) -> int:
        """Large: no law is written out."""
        return 1 << 14

    def _checked(self, values: Indices) -> Indices:
        return values

    def _output(self, numbers: tuple[int, ...]) -> Output:
        return numbers


def _add_balls(balls: Iterable[arb]) -> arb:
    listed = list(balls)
    return reduce(add, listed) if listed else arb(0)


def _several_moved() -> InputError:
    return InputError(
        "delta: two datasets differ in several noisy numbers, whose divergence has no closed form "
        "here; claim delta=0, or use a domain where neighbours differ in one number (Hypergrid)",
        name="delta",
    )
