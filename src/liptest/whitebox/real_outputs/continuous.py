"""Functions whose outputs are real numbers with noise, compared through their densities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.errors import NonDeterministicError, SymbolicError
from liptest.mechanisms.base import ClosedFormLosses, MechanismWrapper
from liptest.mechanisms.laws import Output, OutputLaw
from liptest.whitebox.noise.outputs import replaced_by
from liptest.whitebox.real_outputs.cells import cells_of
from liptest.whitebox.real_outputs.densities import ContinuousLaw, Ratio, ratios
from liptest.whitebox.real_outputs.hockey_sticks import hockey_stick_of, telling_event
from liptest.whitebox.real_outputs.tables import DensityTable, comparing, density_table, loss_of
from liptest.whitebox.tree.memo import agree

Indices = NDArray[np.int64]


Ends = tuple[Any, Any]


# How the width of an interval that tells two laws apart is looked for, from 1 downwards.
_WIDTHS = tuple(2.0**-k for k in range(0, 44, 4))


# A line that no finite loss is meant to exceed, and the smallest probability to be shown by then.
_ANY = 1e5


_SMALLEST, _TELLING = 1e-290, 1e-3


@dataclass(frozen=True, eq=False)
class ContinuousFunction(MechanismWrapper, ClosedFormLosses):
    """A Python function seen through densities; ``inner`` gives laws with ``DensityLeaf`` outputs.

    Where it is one pair of datasets that is asked for, both laws are enumerated anew.
    """

    inner: Any
    outputs: None = field(default=None, init=False)

    def narrowed(self, domain: Domain) -> ContinuousFunction | None:
        """The same, seen through the little that it reads."""
        seen = self.inner.narrowed(domain)
        return None if seen is None else ContinuousFunction(seen)

    def laws(self, points: PointBatch) -> DensityTable:
        """Laws of all points of a batch."""
        found = density_table(self.inner.laws(points))
        first = points.centres[0]
        if not agree(self.inner.law(first), self.inner.fresh_law(first)):
            raise NonDeterministicError(
                f"{self.name}: its output law on one and the same dataset changed between two "
                f"calls; a mechanism may draw only from rng and must keep no state"
            )
        return found

    def laws_of(self, values: Indices) -> DensityTable:
        """Laws given values of the statistic, in the order given."""
        return density_table(self.inner.laws_of(values))

    def law(self, dataset: IntArray) -> OutputLaw:
        """By cells of a grid where there is one number; else by description of the output."""
        with precision(CERTIFIED_BITS):
            return cells_of(ContinuousLaw(self.inner.law(dataset)), self.law_source)

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """A ball that contains the loss of two datasets."""
        with comparing():
            return loss_of(*self._pair(dataset, neighbour))

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """A ball that contains their hockey-stick divergence for all epsilon of a ball.

        Raises InputError where densities are compared for delta = 0 only.
        """
        with comparing():
            return hockey_stick_of(*self._pair(dataset, neighbour), epsilon)

    def pair_event(
        self, dataset: IntArray, neighbour: IntArray, epsilon: arb
    ) -> tuple[tuple[Output, ...], list[tuple[arb, arb]]]:
        """The outputs of that divergence, with both probabilities of each as balls."""
        with precision(CERTIFIED_BITS):
            told = telling_event(*self._pair(dataset, neighbour), epsilon)
        return tuple(output for output, _, _ in told), [(p, q) for _, p, q in told]

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """A set of outputs whose loss exceeds ``epsilon``, with both probabilities as balls.

        Where none was found, the one of the largest loss. ``_ANY`` or more asks for the largest
        that floats can show.
        """
        best: tuple[Any, Output, arb, arb] | None = None
        with precision(CERTIFIED_BITS):
            laws = self._pair(dataset, neighbour)
            for skeleton, ends in _telling(*laws):
                try:
                    p, q = (law.probability(skeleton, ends) for law in laws)
                except SymbolicError:  # too far out
                    continue
                if p.is_zero() and q.is_zero():
                    continue
                if epsilon >= _ANY and _underflows(p, q) and best and best[0] > _TELLING:
                    break
                loss = arb("inf") if p.is_zero() or q.is_zero() else abs((p / q).log())
                if best is None or loss.lower() > best[0]:
                    best = loss.lower(), replaced_by(skeleton, ends), p, q
                if loss > epsilon:
                    break
        assert best is not None
        return best[1:]

    def _pair(self, dataset: IntArray, neighbour: IntArray) -> tuple[ContinuousLaw, ContinuousLaw]:
        left, right = (ContinuousLaw(self.inner.fresh_law(side)) for side in (dataset, neighbour))
        return left, right


def _telling(
    left: ContinuousLaw, right: ContinuousLaw
) -> Iterator[tuple[Output, tuple[Ends, ...]]]:
    """Sets of outputs that tell two laws apart, the likeliest first."""
    found: list[tuple[float, Output, Ratio | None, bool]] = []
    for one in ratios(left, right):
        if not isinstance(one, Ratio):
            found.append((math.inf, one, None, True))
            continue
        for end, above in ((one.largest(), True), (one.smallest(), False)):
            size = math.inf if end is None else abs(float(end))
            found.append((size, one.skeleton, one, above))
    for _, skeleton, ratio, above in sorted(found, key=lambda item: -item[0]):
        count = len(next(iter(left.leaves.get(skeleton) or right.leaves[skeleton])).leaf.forms)
        everything: tuple[Ends, ...] = ((None, None),) * count
        yield skeleton, everything
        if ratio is not None:
            yield from ((skeleton, ends) for ends in _sets(ratio, above))


def _sets(ratio: Ratio, above: bool) -> Iterator[tuple[Ends, ...]]:
    """Half-lines beyond the telling places of each number, then shrinking intervals there."""
    places = [one.above if above else one.below for one in ratio.numbers]
    longest = max((len(some) for some in places), default=0)
    for step in range(longest):
        chosen = [some[min(step, len(some) - 1)] if some else None for some in places]
        for shape in (_upwards, _downwards, *map(_around, _WIDTHS)):
            yield tuple((None, None) if at is None else shape(at) for at in chosen)


def _upwards(at: Any) -> Ends:
    return _fraction(at), None


def _downwards(at: Any) -> Ends:
    return None, _fraction(at)


def _around(width: float) -> Callable[[Any], Ends]:
    half = Fraction(width)

    def ends(at: Any) -> Ends:
        return _fraction(at) - half, _fraction(at) + half

    return ends


def _underflows(p: arb, q: arb) -> bool:
    return any(not ball.is_zero() and ball < _SMALLEST for ball in (p, q))


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
