"""Functions whose outputs are whole numbers with noise without an end, compared over all of them.

The law of such a number is an exponential polynomial on pieces of all whole numbers (theory T8):
the largest loss and the hockey-stick divergence of two of them are exact (T6), limits that no
output attains included. Outputs of several numbers are compared where these are independent given
the way that the code took, and there is one such way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import ArrayLike

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.enumerate.folded.folding import SUMMED_UP, Rewritten
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.numbers.boxes import are_told_apart
from liptest.enumerate.numbers.law_formulas import formula_lines
from liptest.enumerate.numbers.noise_outputs import list_entries, with_entries
from liptest.enumerate.numbers.number_laws import (
    NumberLaw,
    Way,
    add_numbers,
    find_way,
    number_excess,
    number_extremes,
)
from liptest.enumerate.numbers.real_outputs import DensityPool, DensityTable, pair_kind
from liptest.enumerate.numbers.split_ways import join_ways
from liptest.enumerate.numbers.whole_cells import cells_of_whole
from liptest.enumerate.numbers.whole_outputs import (
    MOST_LEAVES,
    SeeingTree,
    Whole,
    WholeLeaf,
    WholePlace,
    WholeSeen,
    has_no_end,
    may_meet,
    number_output,
    numbers_within,
    parts_of_whole,
)
from liptest.enumerate.samplers.sub_samplers import SamplerLaws
from liptest.errors import BudgetError, InputError, LiptestError, UnsupportedForm, with_example
from liptest.mechanisms.base import ClosedFormLosses, MechanismWrapper, check_mechanism
from liptest.mechanisms.laws import (
    ZERO_LOG,
    LawTable,
    Output,
    OutputLaw,
    Raised,
    find_once,
    of_one_decision,
)
from liptest.mechanisms.likelihood_cells import PairCells
from liptest.symbolic.elimination import exact_rates
from liptest.symbolic.exponential_polynomials import ExactRates
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.whole_laws import Extreme, QuotientExtremes
from liptest.symbolic.work import limit_work

_ZERO = fmpq(0)
# What rounding may add to a probability that was enumerated, in proportion.
_SLACK = 1e-9
# No finite loss is meant to exceed it; the smallest probability to be shown by then.
_ANY, _SMALLEST = 1e5, 1e-290


class WholeLaw:
    """The law of outputs with whole numbers on one dataset, by description of the output."""

    def __init__(self, law: OutputLaw) -> None:
        if law.unexplored:
            raise BudgetError(
                f"{float(law.unexplored):.2g} of the probability of a law was not walked"
            )
        leaves = [output for output in law.outputs if isinstance(output, WholeLeaf)]
        assert len(leaves) == len(law.outputs)
        #: Equal for equal laws only.
        self.key = frozenset(leaves)
        self.noises = {noise for leaf in leaves for noise in leaf.noises}
        self.leaves = _merge(leaves)
        self._made: dict[Any, list[Way]] = {}

    @property
    def is_answered(self) -> bool:
        """Whether some output is not a raised exception."""
        return not all(isinstance(skeleton, Raised) for skeleton in self.leaves)

    def ways(self, rates: ExactRates, skeleton: Output, *, joined: bool = True) -> list[Way]:
        """The ways to the outputs of one description, ``joined`` to one where that is known."""
        key = (rates, skeleton, joined)
        if key not in self._made:
            leaves = self.leaves.get(skeleton, [])
            together = None
            if joined and len(leaves) > 1 and len(leaves[0].places) > 1:
                together = join_ways(rates, leaves)
            self._made[key] = [together] if together else [find_way(rates, leaf) for leaf in leaves]
        return self._made[key]

    def mass(self, rates: ExactRates, skeleton: Output) -> Any:
        """The probability of all outputs of one description."""
        total = _ZERO
        for way in self.ways(rates, skeleton):
            mass = way.weight
            for number in way.numbers:
                mass = mass * number.total()
            total = total + mass
        return total

    def number(self, rates: ExactRates, skeleton: Output) -> NumberLaw:
        """The law of the one number of a description."""
        return add_numbers(
            [way.numbers[0].enlarge_by(way.weight) for way in self.ways(rates, skeleton)]
        )

    def probability(self, rates: ExactRates, skeleton: Output, numbers: tuple[int, ...]) -> arb:
        """That the output is this one; exactly 0 where it is."""
        total = arb(0)
        for way in self.ways(rates, skeleton):
            mass = arb(way.weight)
            for law, number in zip(way.numbers, numbers, strict=True):
                mass *= law.probability(number)
            total += mass
        return total

    def probability_of(self, rates: ExactRates, output: Output) -> arb:
        """That the output is this one, whatever its description."""
        mass = arb(0)
        for skeleton in self.leaves:
            numbers = numbers_within(output, skeleton)
            if numbers is not None:
                mass += self.probability(rates, skeleton, tuple(int(n or 0) for n in numbers))
        return mass


def _merge(leaves: list[WholeLeaf]) -> dict[Output, list[WholeLeaf]]:
    """Leaves by description; plain numbers are counted with the whole numbers they are among."""
    merged: dict[Output, list[WholeLeaf]] = {}
    for leaf in leaves:
        merged.setdefault(leaf.skeleton, []).append(leaf)
    counts = {skeleton: len(list(_places(skeleton))) for skeleton in merged}
    # The widest first: a number that is plain in some ways may be so in each place by itself.
    wide = sorted(filter(counts.__getitem__, merged), key=counts.__getitem__, reverse=True)
    for one in list(merged):
        for other in wide:
            if counts[other] <= counts[one]:
                break
            numbers = numbers_within(one, other)
            if numbers is not None:
                merged[other] += [_widen(leaf, other, numbers) for leaf in merged.pop(one)]
                break
    left = [skeleton for skeleton in wide if skeleton in merged]
    if any(one != other and may_meet(one, other) for one in merged for other in left):
        raise UnsupportedForm("outputs that are whole numbers of several kinds")
    return merged


def _places(skeleton: Output) -> Iterator[Whole]:
    return (part for part in _parts(skeleton) if isinstance(part, Whole))


def _parts(output: Output) -> Iterator[Output]:
    """All that is in an output and has no entries of its own."""
    entries = list_entries(output)
    if entries is None:
        yield output
    for entry in entries or ():
        yield from _parts(entry)


def _widen(leaf: WholeLeaf, skeleton: Output, numbers: list[int | None]) -> WholeLeaf:
    kept = iter(leaf.places)
    places = tuple(
        next(kept) if number is None else WholePlace(Form.of(number), "exact", 1, 0)
        for number in numbers
    )
    parts = leaf.noises, leaf.constraints, leaf.weight, leaf.number, leaf.rounding
    return WholeLeaf(skeleton, places, *parts)


@dataclass(frozen=True)
class _Compared:
    """Two laws on the outputs of one description: what the masses add, and each number.

    No extremes: only one side has such outputs, with these numbers for example.
    """

    skeleton: Output
    masses: arb
    numbers: tuple[QuotientExtremes, ...]
    alone: bool = False

    def log(self, *, largest: bool) -> arb:
        """The largest or the smallest log ratio."""
        log_ratio = self.masses
        for number in self.numbers:
            extreme = number.largest if largest else number.smallest
            if extreme.value is None or extreme.value == 0:
                return arb("inf") if largest else arb("-inf")
            log_ratio += arb(extreme.value).log()
        return log_ratio


# Runs that show whether whole numbers are answered; what is enumerated of a function as it is
# written, where its loops are summed up.
_FEW_RUNS, _SOME_RUNS, _SOME_CHOICES = 64, 400, 40
# Passes of a loop that is not summed up, each of which draws noise.
_MOST_PASSES = 8
#: Work of the first of these.
PROBE_WORK = 1_000_000
# Whole numbers of an output that is looked for value by value.
_MOST_TRACED, _FINEST_TRACED = 2, Fraction(1, 1000)
# Outputs that are rarer are not looked for.
_RAREST = 1e-120


def find_over_all_numbers(function: Any, dataset: IntArray) -> WholeFunction | None:
    """A Python function seen so; None where that is not followed, or tells no more."""
    samplers = SamplerLaws(function.name)
    folds = Folds(lambda value: None, samplers=samplers)
    own = function._rewrite
    rewrite = own or Rewritten(function, folds)
    try:
        if own is None and function.draws_noise_again():
            return None
        if not _may_be_whole(function, rewrite, folds, dataset):
            return None
        probing = function.of_leaves(_FEW_RUNS, rewrite)
        with limit_work(PROBE_WORK):
            probe = probing._find_known_laws(probing._argument(dataset)[None])[0]
        if not folds.loops_summed_up:
            # A law that is complete in few runs is the same in more.
            kept = {} if probe.unexplored else {"_known": probing._known}
            whole = function.of_leaves(MOST_LEAVES, own, **kept)
            return WholeFunction(whole, function) if any(map(has_no_end, probe.outputs)) else None
        if probe.unexplored and _goes_on(probe.outputs):
            return None
        over_all = WholeFunction(function.of_leaves(MOST_LEAVES, rewrite), function)
        part = function.as_written(_SOME_RUNS, _SOME_CHOICES).fresh_law(dataset)
        check_below(part, over_all.whole_law(dataset), function.name)
        over_all.inner._known.conditions |= {SUMMED_UP} | samplers.conditions
    except LiptestError:
        return None
    return over_all


def _may_be_whole(function: Any, rewrite: Any, folds: Folds, dataset: IntArray) -> bool:
    """Whether outputs of a few runs have such numbers, or loops were summed up: no law yet."""
    try:
        with limit_work(PROBE_WORK):
            function.of_leaves(_FEW_RUNS, rewrite, _tree=SeeingTree).fresh_law(dataset)
    except WholeSeen as seen:
        return seen.is_seen or bool(folds.loops_summed_up)
    return True


def _goes_on(leaves: Sequence[WholeLeaf]) -> bool:
    """Whether runs that are not all known have nothing to follow, or draw more and more noise."""
    draws = {len(leaf.noises) for leaf in leaves}
    return len(draws) > _MOST_PASSES or not any(map(has_no_end, leaves))


def with_formula(mechanism: Any, law: OutputLaw, dataset: IntArray) -> OutputLaw:
    """The law, which knows its formula where it has no end and one was found."""
    if not law.unexplored or law.formula:
        return law
    with suppress(LiptestError):
        seen = mechanism.over_all_numbers(dataset)
        if isinstance(seen, WholeFunction):
            whole_law = seen.whole_law(dataset)
            with precision(CERTIFIED_BITS):
                rates = noise_rates(whole_law, whole_law)
                ways = (
                    way for skeleton in whole_law.leaves for way in whole_law.ways(rates, skeleton)
                )
                if any(way.numbers for way in ways):
                    law.formula = tuple(formula_lines(whole_law, rates))
    return law


def check_below(listed: OutputLaw, law: WholeLaw, name: str) -> None:
    """A part of a law that was enumerated value by value must fit below the law.

    Raises UnsupportedForm where it does not.
    """
    rates = noise_rates(law, law)
    with precision(CERTIFIED_BITS):
        for output in listed.outputs:
            mass = law.probability_of(rates, output)
            low, _ = listed.log_bounds(output)
            if not low.exp() * (1 - _SLACK) <= mass:
                raise UnsupportedForm(f"{name}: run as it is written, its outputs have another law")


def noise_rates(left: WholeLaw, right: WholeLaw) -> ExactRates:
    """The rates of the noise of both laws."""
    noises: set[Noise] = left.noises | right.noises
    return exact_rates(noise for noise in noises if noise.is_discrete)


def _comparisons(left: WholeLaw, right: WholeLaw) -> Iterator[_Compared]:
    rates = noise_rates(left, right)
    for skeleton in dict.fromkeys((*left.leaves, *right.leaves)):
        count = len(list(_places(skeleton)))
        masses = [law.mass(rates, skeleton) for law in (left, right)]
        if any(mass == 0 for mass in masses):
            if not all(mass == 0 for mass in masses):
                yield _Compared(skeleton, arb(0), (), alone=True)
        elif count == 0:
            yield _Compared(skeleton, arb(masses[0] / masses[1]).log(), ())
        elif count == 1:
            sides = [law.number(rates, skeleton) for law in (left, right)]
            key = left.key, right.key, skeleton, ctx.prec
            extremes = find_once(key, partial(number_extremes, *sides))
            yield _Compared(skeleton, arb(0), (extremes,))
        else:
            ways = [law.ways(rates, skeleton) for law in (left, right)]
            if any(len(side) > 1 for side in ways):
                ways = [law.ways(rates, skeleton, joined=False) for law in (left, right)]
            for one, other in _pair_ways(*ways):
                pairs = zip(one.numbers, other.numbers, strict=True)
                numbers = tuple(number_extremes(*pair) for pair in pairs)
                yield _Compared(skeleton, arb(one.weight / other.weight).log(), numbers)


def _pair_ways(left: list[Way], right: list[Way]) -> list[tuple[Way, Way]]:
    """Ways to the same outputs: the only ones, or those that the outputs tell apart (N11)."""
    if len(left) == len(right) == 1:
        return [(left[0], right[0])]
    boxes = [[way.box for way in side] for side in (left, right)]
    if not are_told_apart(*boxes) or set(boxes[0]) != set(boxes[1]):
        raise UnsupportedForm("several numbers that the code comes to in several ways")
    others = dict(zip(boxes[1], right, strict=True))
    return [(way, others[box]) for way, box in zip(left, boxes[0], strict=True)]


def loss_of_whole(left: WholeLaw, right: WholeLaw) -> arb:
    """A ball that contains the largest log ratio of the two laws, in either direction."""
    loss = arb(0)
    for compared in _comparisons(left, right):
        if compared.alone:
            return arb("inf")
        for largest in (True, False):
            loss = loss.max(abs(compared.log(largest=largest)))
    return loss


Told = tuple[Output, arb, arb]


@dataclass(frozen=True)
class WholeSpan:
    """In the place of a whole number: one of [low, high), None where there is no end."""

    place: Whole
    low: int | None
    high: int | None

    def __repr__(self) -> str:
        low, high = (
            None if end is None else self.place.number(end)
            for end in (self.low, None if self.high is None else self.high - 1)
        )
        if low is None:
            kind = "whole" if self.place.is_exact else "such"
            return f"any {kind} number" if high is None else f"at most {high}"
        return f"at least {low}" if high is None else f"{low} to {high}"


def stick_of_whole(left: WholeLaw, right: WholeLaw, epsilon: arb) -> arb:
    """A ball that contains the larger one of the two hockey-stick divergences."""
    forth, _ = _divergence(left, right, epsilon)
    back, _ = _divergence(right, left, epsilon)
    return forth.max(back)


def _divergence(left: WholeLaw, right: WholeLaw, epsilon: arb) -> tuple[arb, list[Told]]:
    rates, factor = noise_rates(left, right), epsilon.exp()
    size, told = arb(0), list[Told]()
    for skeleton in left.leaves:
        places = list(_places(skeleton))
        masses = [law.mass(rates, skeleton) for law in (left, right)]
        if masses[0] == 0:
            continue
        if masses[1] == 0 or not places:
            gap = arb(masses[0]) - factor * arb(masses[1])
            spans = [WholeSpan(place, None, None) for place in places]
            if not gap <= 0:
                size += gap.max(arb(0))
            if gap > 0:
                told.append((_describe(skeleton, spans), arb(masses[0]), arb(masses[1])))
            continue
        place, sides = _differing(rates, left, right, skeleton)
        excess = number_excess(*sides, factor)
        size += excess.size
        for low, high in excess.where:
            spans = [WholeSpan(position, None, None) for position in places]
            spans[place] = WholeSpan(places[place], low, high)
            p, q = (side.mass(low, high) for side in sides)
            told.append((_describe(skeleton, spans), p, q))
    return size, told


def _differing(
    rates: ExactRates, left: WholeLaw, right: WholeLaw, skeleton: Output
) -> tuple[int, tuple[NumberLaw, NumberLaw]]:
    """The place of the one number that differs, with its law on both sides."""
    ways = [law.ways(rates, skeleton) for law in (left, right)]
    if len(ways[0][0].numbers) == 1:
        return 0, (left.number(rates, skeleton), right.number(rates, skeleton))
    if any(len(side) > 1 for side in ways):
        raise UnsupportedForm("several numbers that the code comes to in several ways")
    one, other = ways[0][0], ways[1][0]
    moved = [
        place
        for place, pair in enumerate(zip(one.numbers, other.numbers, strict=True))
        if not number_extremes(*pair).are_one
    ]
    if len(moved) > 1:
        raise UnsupportedForm("several numbers of an output that differ")
    place = moved[0] if moved else 0
    sides = []
    for way in (one, other):
        rest = way.weight
        for k, number in enumerate(way.numbers):
            rest = rest if k == place else rest * number.total()
        sides.append(way.numbers[place].enlarge_by(rest))
    return place, (sides[0], sides[1])


def _describe(skeleton: Output, spans: list[WholeSpan]) -> Output:
    left = iter(spans)

    def fill(part: Output) -> Any:
        if isinstance(part, Whole):
            span = next(left)
            if span.low is not None and span.high == span.low + 1:
                return part.number(span.low)
            return span
        entries = list_entries(part)
        return part if entries is None else with_entries(part, [fill(entry) for entry in entries])

    described: Output = fill(skeleton)
    return described


@dataclass(frozen=True, eq=False)
class WholeTable(DensityTable):
    """Laws of distinct datasets, compared over all whole numbers; pairs that are alike once."""

    _alike: dict[Any, arb] = field(default_factory=dict, repr=False)

    def new_distinct(self) -> Any:
        return WholePool()

    def _stick(self, left: int, right: int, epsilon: float) -> arb:
        pair = self.pair_kind(left, right), epsilon
        if pair not in self._alike:
            with precision(CERTIFIED_BITS):
                self._alike[pair] = stick_of_whole(*self._pair(left, right), arb(epsilon))
        return self._alike[pair]

    def _loss(self, left: int, right: int) -> arb:
        pair = self.pair_kind(left, right)
        if pair not in self._alike:
            with precision(CERTIFIED_BITS):
                self._alike[pair] = loss_of_whole(*self._pair(left, right))
        return self._alike[pair]

    def _kind(self, left: int, right: int) -> Hashable:
        one, other = self._pair(left, right)
        return pair_kind((one.leaves, other.leaves), parts_of_whole)

    def cells(self, left: int, right: int) -> PairCells:
        return _cells(*self._pair(left, right))

    def _pair(self, left: int, right: int) -> tuple[WholeLaw, WholeLaw]:
        laws: Any = self.laws
        return laws[left], laws[right]


def _cells(left: WholeLaw, right: WholeLaw) -> PairCells:
    with precision(CERTIFIED_BITS):
        return cells_of_whole(noise_rates(left, right), left, right)


class WholePool(DensityPool):
    """Distinct laws of many tables, each of them once."""

    def laws(self) -> WholeTable:
        return WholeTable(tuple(self._laws), self._answered)


def whole_table(table: LawTable) -> WholeTable:
    """The table of laws whose outputs are leaves."""
    laws: list[Any] = []
    missing = np.zeros(len(table.logs)) if table.unexplored is None else table.unexplored
    for logs, rest in zip(table.logs, missing, strict=True):
        places = np.flatnonzero(logs > ZERO_LOG)
        outputs = tuple(table.outputs[place] for place in places)
        rest_of_it = Fraction(float(rest))
        laws.append(WholeLaw(OutputLaw(outputs, logs[places], logs[places], unexplored=rest_of_it)))
    answered = any(law.is_answered for law in laws)
    return WholeTable(tuple(laws), answered, table.rows)


@dataclass(frozen=True, eq=False)
class WholeFunction(MechanismWrapper, ClosedFormLosses):
    """A Python function whose laws are compared over all whole numbers.

    ``inner`` gives laws of leaves, ``plain`` lists values up to a tail.
    """

    inner: Any
    plain: Any = None
    outputs: None = field(default=None, init=False)

    def narrowed(self, domain: Domain) -> WholeFunction | None:
        """The same, seen through the little that it reads."""
        seen = self.inner.narrowed(domain)
        return None if seen is None else WholeFunction(seen, self.plain)

    def laws(self, points: PointBatch) -> WholeTable:
        """Laws of all points of a batch."""
        return whole_table(self.inner.laws(points))

    def laws_of(self, values: Any) -> WholeTable:
        """Laws given values of the statistic, in the order given."""
        return whole_table(self.inner.laws_of(values))

    @property
    def has_trace(self) -> bool:
        """Whether an output has a trace; a range of outputs has none."""
        return True

    def trace(self, dataset: IntArray, *outputs: Output) -> Any:
        """Random choices that lead to one of the outputs, as ``PythonFunction.trace``."""
        spans = any(isinstance(part, WholeSpan) for output in outputs for part in _parts(output))
        if spans or self._has_several_numbers(dataset):
            return None
        if not any(self._may_be_met(dataset, output) for output in outputs):
            return None
        with suppress(BudgetError):  # a draw of very many numbers
            return self.plain.trace(dataset, *outputs)
        return None

    def _may_be_met(self, dataset: IntArray, output: Output) -> bool:
        """Whether an output is not so rare that no walk over likely values comes to it."""
        law = self.whole_law(dataset)
        with precision(CERTIFIED_BITS):
            rates = noise_rates(law, law)
            return not law.probability_of(rates, output) < _RAREST

    def _has_several_numbers(self, dataset: IntArray) -> bool:
        """Whether outputs are of so many values that one is hardly met by walking over them."""
        leaves = self.whole_law(dataset).leaves
        places = [list(_places(skeleton)) for skeleton in leaves]
        if any(len(some) > 1 < len(leaves[way]) for way, some in zip(leaves, places, strict=True)):
            return True  # of which each way has its own values
        most = max(map(len, places), default=0)
        finest = min((place.step for listed in places for place in listed), default=1)
        return most > _MOST_TRACED or finest < (1 if most > 1 else _FINEST_TRACED)

    def law(self, dataset: IntArray) -> OutputLaw:
        """Its values up to a tail."""
        law: OutputLaw = self.plain.law(dataset)
        return law

    def whole_law(self, dataset: IntArray) -> WholeLaw:
        """Its law on all whole numbers."""
        return of_one_decision(self.inner, dataset, lambda: WholeLaw(self.inner.fresh_law(dataset)))

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """A ball that contains the loss of two datasets."""
        left, right = self.whole_law(dataset), self.whole_law(neighbour)
        with precision(CERTIFIED_BITS):
            return loss_of_whole(left, right)

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """A ball that contains their hockey-stick divergence for all epsilon of a ball."""
        return self.pair_curve(dataset, neighbour)(epsilon)

    def pair_curve(self, dataset: IntArray, neighbour: IntArray) -> Callable[[arb], arb]:
        """The same for many epsilon: both laws are enumerated anew once."""
        left, right = self.whole_law(dataset), self.whole_law(neighbour)

        def stick(epsilon: arb) -> arb:
            with precision(CERTIFIED_BITS):
                return stick_of_whole(left, right, epsilon)

        return stick

    def pair_cells(self, dataset: IntArray, neighbour: IntArray) -> PairCells:
        """Both laws as cells."""
        return _cells(self.whole_law(dataset), self.whole_law(neighbour))

    def pair_event(
        self, dataset: IntArray, neighbour: IntArray, epsilon: arb
    ) -> tuple[tuple[Output, ...], list[tuple[arb, arb]]]:
        """The outputs of that divergence, with both probabilities of each as balls."""
        left, right = self.whole_law(dataset), self.whole_law(neighbour)
        with precision(CERTIFIED_BITS):
            forth, outputs = _divergence(left, right, epsilon)
            back, others = _divergence(right, left, epsilon)
        if not forth.lower() >= back.lower():
            outputs = [(output, q, p) for output, p, q in others]
        return tuple(output for output, _, _ in outputs), [(p, q) for _, p, q in outputs]

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """The first output found whose loss exceeds ``epsilon``, else that of the largest loss."""
        left, right = self.whole_law(dataset), self.whole_law(neighbour)
        best: tuple[Any, Output, arb, arb] | None = None
        with precision(CERTIFIED_BITS):
            rates = noise_rates(left, right)
            for skeleton, numbers in distinguishing_numbers(left, right):
                p, q = (law.probability(rates, skeleton, numbers) for law in (left, right))
                if p.is_zero() and q.is_zero():
                    continue
                if best is not None and epsilon >= _ANY and (p < _SMALLEST or q < _SMALLEST):
                    break
                loss = arb("inf") if p.is_zero() or q.is_zero() else abs((p / q).log())
                if best is None or loss.lower() > best[0]:
                    best = loss.lower(), number_output(skeleton, numbers), p, q
                if loss > epsilon:
                    break
        assert best is not None
        return best[1:]


def distinguishing_numbers(
    left: WholeLaw, right: WholeLaw
) -> Iterator[tuple[Output, tuple[int, ...]]]:
    """Outputs on the way to the largest losses, largest first."""
    rates = noise_rates(left, right)
    candidates: list[tuple[float, Output, list[tuple[int, ...]]]] = []
    for compared in _comparisons(left, right):
        if compared.alone:
            side = left if compared.skeleton in left.leaves else right
            ways = side.ways(rates, compared.skeleton)
            places = tuple(number.some_number() for number in ways[0].numbers)
            candidates.append((np.inf, compared.skeleton, [places]))
            continue
        for largest in (True, False):
            extremes = [ends.largest if largest else ends.smallest for ends in compared.numbers]
            numbers = _together(extremes)
            candidates.append(
                (abs(float(compared.log(largest=largest))), compared.skeleton, numbers)
            )
    for _, skeleton, numbers in sorted(candidates, key=lambda item: -item[0]):
        for some in numbers:
            yield skeleton, some


def _together(extremes: list[Extreme]) -> list[tuple[int, ...]]:
    """Step by step towards all of them at once."""
    longest = max((len(extreme.numbers) for extreme in extremes), default=1)
    return [
        tuple(extreme.numbers[min(step, len(extreme.numbers) - 1)] for extreme in extremes)
        for step in range(longest)
    ]


@with_example("lt.output_law(count, [0, 1, 1])")
def output_law(mechanism: object, dataset: ArrayLike) -> OutputLaw:
    """Exact output distribution of a mechanism on one dataset, (d,) whole numbers.

    Its ``formula`` tells the law of whole numbers without an end.

    Raises InputError for what is not a mechanism or not a dataset, MechanismError for a broken one.
    """
    checked = check_mechanism(mechanism)
    array = np.asarray(dataset)
    if array.ndim != 1 or array.dtype.kind not in "iub" or array.size == 0:
        raise InputError(
            f"dataset: shape={array.shape}, dtype={array.dtype}; give one dataset as a 1-d array "
            f"of whole numbers",
            name="dataset",
        )
    return with_formula(checked, checked.law(array), array)
