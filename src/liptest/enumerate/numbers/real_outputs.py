"""Functions whose outputs are real numbers with noise, compared through their densities.

Tables of such laws are compared in closed form; cells of a grid show them. To move every number of
an output by a constant, under both laws, changes no loss and no divergence, so pairs of laws that
differ by that are one pair: a count plus noise, on 5,000 neighbouring counts, is compared once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, precision, to_fraction
from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.enumerate.numbers.boxes import Ends
from liptest.enumerate.numbers.densities import (
    ContinuousLaw,
    Leaf,
    Ratio,
    density_ratios,
    parts_of_real,
    tell_ways_apart,
)
from liptest.enumerate.numbers.density_cells import cells_of_laws
from liptest.enumerate.numbers.hockey_sticks import distinguishing_event, enclose_hockey_stick
from liptest.enumerate.numbers.noise_outputs import replace_by
from liptest.enumerate.trees.law_memory import agree
from liptest.errors import NonDeterministicError, SymbolicError, UnsupportedForm
from liptest.mechanisms.base import ClosedFormLosses, MechanismWrapper
from liptest.mechanisms.laws import (
    ZERO_LOG,
    ComparableLaws,
    FloatArray,
    LawTable,
    Output,
    OutputLaw,
    Raised,
    as_fraction,
    of_one_decision,
)
from liptest.mechanisms.likelihood_cells import PairCells
from liptest.values.draws.noise import ADVICE

# A cell is about a quarter of the scale of the noise; what lies outside all cells weighs less.
_CELLS_A_SCALE = 4
_OUTSIDE = 1e-6
_MOST_CELLS = 512


def output_cells(law: ContinuousLaw, source: str, *, tells_first: bool = False) -> OutputLaw:
    """Cells where an output has one number, else the description of the output alone.

    ``tells_first``: of several numbers cells of the first one, where nothing else tells of it.

    The mass outside all cells, and of cells too light for a number, is ``unexplored``.
    """
    masses: dict[Output, arb] = {}
    for skeleton, leaves in law.leaves.items():
        count = len(leaves[0].leaf.forms)
        if count < 1 or not (count == 1 or (tells_first and _is_first_free(leaves))):
            ends = ((None, None),) * count
            masses[replace_by(skeleton, ends)] = law.mass(skeleton)
            continue
        others = ((None, None),) * (count - 1)
        for low, high in _grid(law, skeleton, leaves):
            try:
                mass = law.probability(skeleton, ((low, high), *others))
            except SymbolicError:  # far out in a tail that falls doubly exponentially
                continue
            if not mass.is_zero():
                masses[replace_by(skeleton, ((low, high), *others))] = mass
    rest = (1 - sum(masses.values(), arb(0))).upper()
    unexplored = Fraction(0) if rest <= 0 else min(as_fraction(rest), Fraction(1))
    logs = [mass.log() for mass in masses.values()]
    return OutputLaw(
        tuple(masses),
        np.array([float(ball.mid()) for ball in logs]),
        np.array([math.nextafter(float(ball.rad()) + 1e-15, math.inf) for ball in logs]),
        unexplored=unexplored,
        source=source,
    )


def _is_first_free(leaves: list[Leaf]) -> bool:
    """Whether nothing but the first number tells of its noise, on any path."""
    for leaf in leaves:
        first, *others = (form.terms for form in leaf.leaf.forms)
        own = {variable for variable, _ in first}
        known = [*others, *(one.terms for one in leaf.leaf.constraints)]
        if len(own) != 1 or any(own & {variable for variable, _ in terms} for terms in known):
            return False
        try:
            leaf.numbers  # noqa: B018
        except UnsupportedForm:
            return False
    return True


def _grid(
    law: ContinuousLaw, skeleton: Output, leaves: list[Leaf]
) -> list[tuple[Fraction, Fraction]]:
    """Cells between multiples of a power of 2, as many as hold almost all of the mass."""
    numbers = [leaf.numbers[0] for leaf in leaves]
    scale = min(abs(number.scale) for number in numbers)
    exponent = math.floor(math.log2(scale)) - _CELLS_A_SCALE.bit_length() + 1
    step = Fraction(2) ** exponent
    low = math.floor(min(number.constant for number in numbers) / step)
    high = math.ceil(max(number.constant for number in numbers) / step)
    reach = 1
    while reach < _MOST_CELLS:
        ends = ((low - reach) * step, (high + reach) * step)
        inside = (ends, *((None, None),) * (len(leaves[0].leaf.forms) - 1))
        outside = law.mass(skeleton) - law.probability(skeleton, inside)
        if outside < _OUTSIDE:
            break
        reach *= 2
    return [(k * step, (k + 1) * step) for k in range(low - reach, high + reach)]


Indices = NDArray[np.int64]


def find_loss(left: ContinuousLaw, right: ContinuousLaw) -> arb:
    """A ball that contains the largest log ratio of the two laws, in either direction."""
    loss = arb(0)
    for ratio in density_ratios(*tell_ways_apart(left, right)):
        ends = (ratio.largest(), ratio.smallest()) if isinstance(ratio, Ratio) else (None, None)
        for end in ends:
            if end is None:
                return arb("inf")
            if not end.is_finite():
                raise SymbolicError("the ratio of two densities is not known well enough")
            loss = loss.max(abs(end))
    return loss


@contextmanager
def comparing() -> Iterator[None]:
    """Many digits; what cannot be compared is refused with what to do."""
    with precision(CERTIFIED_BITS):
        try:
            yield
        except UnsupportedForm as error:
            raise UnsupportedForm(f"{error}: such densities are not compared; {ADVICE}") from None


@dataclass(frozen=True, eq=False)
class DensityTable(ComparableLaws):
    """Laws of u distinct datasets or values, compared through their densities.

    Parameters
    ----------
    laws
        u laws.
    rows
        (q,) which law each query has; None means query i has law i.
    """

    laws: tuple[ContinuousLaw, ...]
    answered: bool
    rows: Indices | None = None
    _known: dict[tuple[int, int], arb] = field(default_factory=dict, repr=False)
    _sticks: dict[tuple[int, int, float], arb] = field(default_factory=dict, repr=False)
    _kinds: dict[tuple[int, int], Hashable] = field(default_factory=dict, repr=False)

    def new_distinct(self) -> Any:
        """What collects distinct tables of this kind."""
        return DensityPool()

    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """Loss of each pair; (p,)."""
        balls = [self._loss(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]
        return np.array([float(ball.upper()) for ball in balls], dtype=np.float64)

    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each pair, rounded up; (p,). Raises InputError."""
        balls = [
            self._stick(*pair, epsilon) for pair in zip(left.tolist(), right.tolist(), strict=True)
        ]
        return np.array([float(ball.upper()) for ball in balls], dtype=np.float64)

    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Width of the ball of each loss, and rounding; (p,)."""
        balls = [self._loss(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]
        widths = [2 * float(ball.rad()) if ball.is_finite() else 0.0 for ball in balls]
        return np.array(widths, dtype=np.float64) + 1e-15

    def is_answered(self) -> bool:
        """False when every output is a raised exception."""
        return self.answered

    def cells(self, left: int, right: int) -> PairCells:
        """Two laws as cells."""
        with comparing():
            return cells_of_laws(self.laws[left], self.laws[right])

    def pair_kind(self, left: int, right: int) -> Hashable:
        """Alike are pairs that differ by a move of all numbers of both."""
        key = (left, right) if left <= right else (right, left)
        if key not in self._kinds:
            self._kinds[key] = self._kind(*key)
        return self._kinds[key]

    def _kind(self, left: int, right: int) -> Hashable:
        one, other = self.laws[left], self.laws[right]
        return (
            pair_kind((one.leaves, other.leaves), parts_of_real),
            one.unexplored,
            other.unexplored,
        )

    def _stick(self, left: int, right: int, epsilon: float) -> arb:
        key = (min(left, right), max(left, right), epsilon)
        if key not in self._sticks:
            with comparing():
                pair = self.laws[key[0]], self.laws[key[1]]
                self._sticks[key] = enclose_hockey_stick(*pair, arb(epsilon))
        return self._sticks[key]

    def _loss(self, left: int, right: int) -> arb:
        key = (left, right) if left <= right else (right, left)
        if key not in self._known:
            with comparing():
                self._known[key] = find_loss(self.laws[key[0]], self.laws[key[1]])
        return self._known[key]


class DensityPool:
    """Distinct laws of many tables, each of them once."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, int] = {}
        self._laws: list[ContinuousLaw] = []
        self._answered = False

    def __len__(self) -> int:
        return len(self._laws)

    def add(self, table: DensityTable, queries: int) -> Indices:
        """Add the laws of ``queries`` points; returns the pool's index for each, (queries,)."""
        self._answered |= table.answered
        ids = []
        for law in table.laws:
            if law.key not in self._ids:
                self._ids[law.key] = len(self._laws)
                self._laws.append(law)
            ids.append(self._ids[law.key])
        return np.array(ids, dtype=np.int64)[table.distinct(np.arange(queries))]

    def pairs_per_slice(self) -> int:
        """Pairs to compare at once: each takes a millisecond or more."""
        return 1024

    def laws(self) -> DensityTable:
        """All distinct laws as one table."""
        return DensityTable(tuple(self._laws), self._answered)


def density_table(table: LawTable) -> DensityTable:
    """The table of laws whose outputs are ``DensityLeaf`` objects, or plain ones."""
    laws = []
    missing = np.zeros(len(table.logs)) if table.unexplored is None else table.unexplored
    for logs, error, rest in zip(table.logs, table.errors, missing, strict=True):
        places = np.flatnonzero(logs > ZERO_LOG)
        outputs = tuple(table.outputs[place] for place in places)
        errors = np.full(len(places), error)
        law = OutputLaw(outputs, logs[places], errors, unexplored=Fraction(float(rest)))
        laws.append(ContinuousLaw(law))
    answered = not all(isinstance(output, Raised) for output in table.outputs)
    return DensityTable(tuple(laws), answered, table.rows)


# How the width of an interval that tells two laws apart is looked for, from 1 downwards.
_WIDTHS = tuple(2.0**-k for k in range(0, 44, 4))
# A line that no finite loss is meant to exceed, and the smallest probability to be shown by then.
_ANY = 1e5
_SMALLEST, _DISTINGUISHING = 1e-290, 1e-3


@dataclass(frozen=True, eq=False)
class ContinuousFunction(MechanismWrapper, ClosedFormLosses):
    """A Python function seen through densities; ``inner`` gives laws with ``DensityLeaf`` outputs.

    Where it is one given pair of datasets, both laws are enumerated anew.
    """

    inner: Any
    outputs: None = field(default=None, init=False)

    def narrowed(self, domain: Domain) -> ContinuousFunction | None:
        """The same, seen through the little that it reads."""
        seen = self.inner.narrowed(domain)
        return None if seen is None else ContinuousFunction(seen)

    def laws(self, points: PointBatch) -> DensityTable:
        """Laws of all points of a batch."""
        table = density_table(self.inner.laws(points))
        first = points.centres[0]
        if not agree(self.inner.law(first), self.inner.fresh_law(first)):
            raise NonDeterministicError(
                f"{self.name}: its output distribution on one and the same dataset changed between "
                f"two calls; a mechanism may draw only from rng and must keep no state"
            )
        return table

    def laws_of(self, values: Indices) -> DensityTable:
        """Laws given values of the statistic, in the order given."""
        return density_table(self.inner.laws_of(values))

    def law(self, dataset: IntArray) -> OutputLaw:
        """By cells of a grid where there is one number; else by description of the output."""
        with precision(CERTIFIED_BITS):
            return output_cells(ContinuousLaw(self.inner.law(dataset)), self.law_source)

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """A ball that contains the loss of two datasets."""
        with comparing():
            return find_loss(*self.pair_laws(dataset, neighbour))

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """A ball that contains their hockey-stick divergence for all epsilon of a ball.

        Raises InputError where densities are compared for delta = 0 only.
        """
        return self.pair_curve(dataset, neighbour)(epsilon)

    def pair_curve(self, dataset: IntArray, neighbour: IntArray) -> Callable[[arb], arb]:
        """The same for many epsilon: both laws are enumerated anew once."""
        with comparing():
            laws = self.pair_laws(dataset, neighbour)

        def stick(epsilon: arb) -> arb:
            with comparing():
                return enclose_hockey_stick(*laws, epsilon)

        return stick

    def pair_cells(self, dataset: IntArray, neighbour: IntArray) -> PairCells:
        """Both laws as cells."""
        with comparing():
            return cells_of_laws(*self.pair_laws(dataset, neighbour))

    def pair_event(
        self, dataset: IntArray, neighbour: IntArray, epsilon: arb
    ) -> tuple[tuple[Output, ...], list[tuple[arb, arb]]]:
        """The outputs of that divergence, with both probabilities of each as balls."""
        with precision(CERTIFIED_BITS):
            event = distinguishing_event(*self.pair_laws(dataset, neighbour), epsilon)
        return tuple(output for output, _, _ in event), [(p, q) for _, p, q in event]

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """A set of outputs whose loss exceeds ``epsilon``, with both probabilities as balls.

        Where none was found, the one of the largest loss. ``_ANY`` or more asks for the largest
        that floats can show.
        """
        best: tuple[Any, Output, arb, arb] | None = None
        with precision(CERTIFIED_BITS):
            laws = tell_ways_apart(*self.pair_laws(dataset, neighbour))
            for skeleton, ends in _distinguishing_sets(*laws):
                try:
                    p, q = (law.probability(skeleton, ends) for law in laws)
                except SymbolicError:  # too far out
                    continue
                if p.is_zero() and q.is_zero():
                    continue
                if epsilon >= _ANY and _underflows(p, q) and best and best[0] > _DISTINGUISHING:
                    break
                loss = arb("inf") if p.is_zero() or q.is_zero() else abs((p / q).log())
                if best is None or loss.lower() > best[0]:
                    best = loss.lower(), replace_by(skeleton, ends), p, q
                if loss > epsilon:
                    break
        assert best is not None
        return best[1:]

    def pair_laws(
        self, dataset: IntArray, neighbour: IntArray
    ) -> tuple[ContinuousLaw, ContinuousLaw]:
        """Both laws, enumerated anew."""
        return self._anew(dataset), self._anew(neighbour)

    def _anew(self, dataset: IntArray) -> ContinuousLaw:
        own = self.inner
        return of_one_decision(own, dataset, lambda: ContinuousLaw(own.fresh_law(dataset)))


def _distinguishing_sets(
    left: ContinuousLaw, right: ContinuousLaw
) -> Iterator[tuple[Output, tuple[Ends, ...]]]:
    """Sets of outputs that tell two laws apart, the likeliest first."""
    candidates: list[tuple[float, Output, Ratio | None, bool]] = []
    for outcome in density_ratios(left, right):
        if not isinstance(outcome, Ratio):
            candidates.append((math.inf, outcome, None, True))
            continue
        for end, above in ((outcome.largest(), True), (outcome.smallest(), False)):
            size = math.inf if end is None else abs(float(end))
            candidates.append((size, outcome.skeleton, outcome, above))
    for _, skeleton, ratio, above in sorted(candidates, key=lambda item: -item[0]):
        count = len(next(iter(left.leaves.get(skeleton) or right.leaves[skeleton])).leaf.forms)
        everything: tuple[Ends, ...] = ((None, None),) * count
        yield skeleton, everything
        if ratio is not None:
            yield from ((skeleton, ends) for ends in _sets(ratio, above))


def _sets(ratio: Ratio, above: bool) -> Iterator[tuple[Ends, ...]]:
    """Half-lines beyond the distinguishing places of each number, then smaller intervals."""
    places = [number.above if above else number.below for number in ratio.numbers]
    longest = max((len(some) for some in places), default=0)
    for step in range(longest):
        chosen = [some[min(step, len(some) - 1)] if some else None for some in places]
        for shape in (_upwards, _downwards, *map(_around, _WIDTHS)):
            yield tuple((None, None) if at is None else shape(at) for at in chosen)


def _upwards(at: Any) -> Ends:
    return to_fraction(at), None


def _downwards(at: Any) -> Ends:
    return None, to_fraction(at)


def _around(width: float) -> Callable[[Any], Ends]:
    half = Fraction(width)

    def ends(at: Any) -> Ends:
        return to_fraction(at) - half, to_fraction(at) + half

    return ends


def _underflows(p: arb, q: arb) -> bool:
    return any(not ball.is_zero() and ball < _SMALLEST for ball in (p, q))


AnyLeaf = TypeVar("AnyLeaf")
#: The numbers that are added in a leaf, and all else of it.
Parts = tuple[tuple[Any, ...], Hashable]


def pair_kind(
    laws: Iterable[Mapping[Output, Sequence[AnyLeaf]]], parts_of: Callable[[AnyLeaf], Parts]
) -> Hashable:
    """Equal only for pairs of laws that are alike; ``laws`` are both, as leaves by output."""
    # All leaves of one description, on both sides, are moved by the numbers of the first.
    origins: dict[Output, tuple[Any, ...]] = {}
    sides = []
    for law in laws:
        parts: Counter[Hashable] = Counter()
        for skeleton, leaves in law.items():
            for leaf in leaves:
                added, rest = parts_of(leaf)
                origin = origins.setdefault(skeleton, added)
                moved = tuple(at - first for at, first in zip(added, origin, strict=True))
                parts[skeleton, moved, rest] += 1
        sides.append(frozenset(parts.items()))
    return tuple(sides)
