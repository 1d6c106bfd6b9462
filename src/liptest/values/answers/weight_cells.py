"""A uniform number among totals of weights: a choice with these weights that is written by hand.

Let u be uniform on [0, 1), and let parts of weights w_1, .. w_k with the sum T be compared with it:
u T < S_A, where S_A adds up the weights at the places A. If of any two such parts A one holds the
other, all these truths have the law of "the place is in A", where the place is drawn with the
weights w (docs/theory/size.md, S10). So the place is chosen as ``rng.choice`` chooses it, where
u meets the first weight, and all comparisons follow from it: however a program walks its totals.
What else is asked of u is refused.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.values.answers.aligned import AlignedRun
from liptest.values.answers.functions_of_answers import OF_SCORES, result_kind
from liptest.values.answers.weight_choices import Selection, note_comparisons, select
from liptest.values.answers.weight_unknowns import Part, WeightTotal, scores_of
from liptest.values.answers.weights import SumOfWeights, Weight, note_sizes
from liptest.values.draws.grid import GRID, UNIT
from liptest.values.draws.inverse_cdf import linear_in_base
from liptest.values.draws.noise_run import LocatedNumber
from liptest.values.draws.uniform import UniformValue
from liptest.values.protocol import Operation, is_symbolic

# So far from the ends of a cell a number of a point is, as long as the cell is not smaller.
_FAR = 1e-9
_ONE, _ZERO = Fraction(1), Fraction(0)
_ADVICE = (
    "compare it with totals of weights, one after another: np.searchsorted(np.cumsum(weights / "
    "weights.sum()), rng.random()); or write rng.choice(k, p=weights / weights.sum())"
)
_LESS, _MORE = (operator.lt, operator.le), (operator.gt, operator.ge)


class WeightCells:
    """Weights with their total, the place that was chosen, and with what it was compared."""

    def __init__(self, total: WeightTotal, place: int, chosen: Selection) -> None:
        self.total = total
        self.place = place
        self._chosen = chosen
        self._places: dict[Part, list[int]] = {}
        for number, part in enumerate(total.parts):
            self._places.setdefault(part, []).append(number)
        #: By object, as an entry of many totals is looked up once.
        self._known: dict[tuple[int, bool], tuple[Weight, list[int]]] = {}
        #: Parts that were compared with, each of which holds the one before.
        self._nested: list[frozenset[int]] = [frozenset(), frozenset(range(len(total.parts)))]

    def places(self, weights: Sequence[Weight], *, times_total: bool) -> frozenset[int] | None:
        """At which places weights are, of the total or divided by it; None where they are not."""
        found: list[int] = []
        met: dict[int, int] = {}
        for weight in weights:
            several = self._places_of(weight, times_total)
            number = met.get(id(several), 0)
            if number >= len(several):
                return None
            met[id(several)] = number + 1
            found.append(several[number])
        return frozenset(found)

    def _places_of(self, weight: Weight, times_total: bool) -> list[int]:
        known = self._known.get((id(weight), times_total))
        if known is None:
            key = weight.key if times_total else weight.times(self.total)
            known = weight, self._places.get(key, _NOWHERE)
            self._known[id(weight), times_total] = known
        return known[1]

    def holds(self, part: frozenset[int]) -> bool | None:
        """Whether the place is in a part; None where that is not nested with those before."""
        at = bisect_left(self._nested, len(part), key=len)
        smaller, larger = self._nested[max(at - 1, 0)], self._nested[at]
        if not smaller <= part <= larger:
            return None
        if part != larger:
            self._nested.insert(at, part)
        return self.place in part

    def number(self, point_in: Callable[[int, int], int]) -> float:
        """A number of [0, 1) in the cell of the place, at the point of the run."""
        after = next(number for number, part in enumerate(self._nested) if self.place in part)
        chances = self._chosen.chances()
        chances /= chances.sum()
        low, high = (
            math.fsum(chances[sorted(part)]) for part in self._nested[after - 1 : after + 1]
        )
        margin = min(_FAR, (high - low) / 4)
        share = point_in(0, GRID) / GRID
        return low + margin + (high - low - 2 * margin) * share


_NOWHERE: list[int] = []


class LocatedUniform(LocatedNumber):
    """A uniform number u by the place that it chooses: u or u T, less some of the weights."""

    __slots__ = ("_cells", "_is_scaled", "_less", "_line", "_times_total")

    stays_symbolic = True
    described = "a uniform number that was compared with weights of a choice"
    described_in_arrays = "an array of uniform numbers compared with weights of a choice"
    advice = _ADVICE
    run: AlignedRun

    def __init__(
        self, run: AlignedRun, cells: WeightCells, line: tuple[Fraction, Fraction], kind: Any
    ) -> None:
        self.run = run
        self.kind = kind
        self._cells = cells
        #: (slope, shift) of it in what was drawn.
        self._line = line
        self._times_total = self._is_scaled = False
        self._less: tuple[Weight, ...] = ()

    def _changed(
        self, kind: Any, *, times_total: bool | None = None, less: tuple[Weight, ...] = ()
    ) -> LocatedUniform:
        made = LocatedUniform(self.run, self._cells, self._line, kind)
        made._is_scaled = self._is_scaled or times_total is not None
        made._times_total = self._times_total if times_total is None else times_total
        made._less = self._less + less
        return made

    def on_line(self, value: UniformValue, slope: Fraction, shift: Fraction) -> Any:
        if (slope, shift) != self._line:
            value.refuse("other ways, after a comparison with weights of a choice")
        return self._changed(value.kind)

    def drawn(self, point_in: Callable[[int, int], int]) -> float:
        slope, shift = map(float, self._line)
        number = (self._cells.number(point_in) - shift) / slope
        return min(max(math.floor(number * GRID), 0), GRID - 1) / GRID

    def concretise(self, use: str) -> Any:
        self.refuse(use)

    def typed(self, kind: Any) -> Any:
        if not issubclass(kind, (float, np.float64)):
            self.refuse(f"{kind.__name__}()")
        return self if kind is self.kind else self._changed(kind)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        kind = result_kind(operation, float, np.float64 if self._is_numpys(other) else float)
        weights = _weights_in(other)
        if operation is operator.mul and weights and self._may_be_scaled(weights):
            whole = frozenset(range(len(self._cells.total.parts)))
            for times_total in (True, False):  # of probabilities the total is 1
                if self._cells.places(weights, times_total=times_total) == whole:
                    return self._changed(kind, times_total=times_total)
        if operation is operator.sub and not swapped and weights:
            less = (*self._less, *weights)
            if self._cells.places(less, times_total=self._times_total) is not None:
                return self._changed(kind, less=weights)
        is_nothing = _is_plain(other) and other == 0 and operation in (operator.add, operator.sub)
        if is_nothing and not (swapped and operation is operator.sub):
            return self._changed(kind)
        return self.refuse(operation.__name__)

    def _is_numpys(self, other: Any) -> bool:
        kinds = (self.kind, type(other) if _is_plain(other) else other.kind)
        return any(issubclass(kind, np.generic) for kind in kinds)

    def _may_be_scaled(self, weights: Sequence[Weight]) -> bool:
        is_whole = len(weights) == len(self._cells.total.parts)
        return is_whole and not self._is_scaled and not self._less

    def compare(self, comparison: Operation, other: Any) -> Any:
        weights = _weights_in(other)
        if comparison not in (*_LESS, *_MORE) and (weights or _is_plain(other)):
            return comparison is operator.ne  # one grid point, which is among the roundings
        if not weights:
            is_less = self._is_below(other)
        else:
            every = (*self._less, *weights)
            part = self._cells.places(every, times_total=self._times_total)
            is_less = None if part is None else self._cells.holds(part)
        if is_less is None:
            return self.refuse("a comparison with what is not a total of the weights before it")
        return is_less is (comparison in _LESS)

    def _is_below(self, number: Any) -> bool | None:
        """Whether it is below a plain number; None where that is not followed."""
        if not _is_plain(number):
            return None
        if number == 0:
            part = self._cells.places(self._less, times_total=self._times_total)
            return None if part is None else self._cells.holds(part)
        if self._less or self._times_total or 0 < number < 1:
            return None
        return bool(number >= 1)


def _weights_in(value: Any) -> tuple[Weight, ...]:
    kind = type(value)
    return value.weights if kind is SumOfWeights else (value,) if kind is Weight else ()


def _is_plain(value: Any) -> bool:
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return is_number and not is_symbolic(value) and bool(value == value)


def locate(value: Any, other: Weight | SumOfWeights) -> bool:
    """Let a uniform number be known by its place among weights; refused where it is none."""
    base, line = value.base, linear_in_base(value.line)
    is_new = (
        base.noise is None and base.low == 0 and base.high == GRID and base.line.law == UNIT.law
    )
    if not is_new or line not in _WAYS or value.is_folded:
        value.refuse("a comparison with weights of a choice, after another use of it")
    weights = _weights_in(other)
    total = _find_total(weights)
    if total is None:
        return bool(other.refuse("a comparison with a random number"))
    run = other.run
    run.check_current()
    place, chosen = select(run, scores_of(total.parts), is_by_uniform=True)
    note_comparisons(run, len(total.parts))
    note_sizes(weights[0])
    assert line is not None
    base.noise = LocatedUniform(run, WeightCells(total, place, chosen), line, float)
    base.low = base.high = -1
    return True


_WAYS = ((_ONE, _ZERO), (-_ONE, _ONE))


def _find_total(weights: Sequence[Weight]) -> WeightTotal | None:
    """The total that weights are parts of, divided by it, or which they are; None for none."""
    first = weights[0]
    own = WeightTotal(tuple(weight.key for weight in weights))
    for total in (*first.totals, own):
        is_part = total is own or all(weight.times(total) in total.different for weight in weights)
        if is_part and len(total.parts) > 1 and total.has_its_largest:
            return total
    return None


OF_SCORES.types |= frozenset({LocatedUniform})
OF_SCORES.locate = locate
