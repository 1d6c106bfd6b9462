"""The largest loss of neighbours where probabilities are functions of sums that lie in a box.

Branch and bound (docs/theory/tables.md, B17): pairs of neighbouring values of the sums are covered
by boxes, each with an upper bound of the loss in balls; the box with the largest bound is divided,
until bound and a loss that is taken are close. What is not finite counts as infinite.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product

from flint import arb

from liptest.balls import ball, precision
from liptest.symbolic.curved_masses import CurvedPath, SumBox, find_path_mass, is_nothing, log_total
from liptest.symbolic.curves import Curve, Enclosure, enclose
from liptest.symbolic.shifts import upper_end

_BITS = 128
#: How close bound and loss come, and how many boxes are looked at.
GAP, MOST_BOXES = Fraction(1, 1 << 33), 6_000
# Boxes for what floats add, and what is conceded of it.
_MOST_COVERED, _SMALL, _LARGEST_OFF = 1_000, 1e-12, 0.1
_FEW_BOXES, _MANY_BOXES = 400, 1_500
_ZERO = Fraction(0)
_NEAR_ZERO = (
    "the probability of an output comes so near to 0 that floats may take it there (rng.random() "
    "is a multiple of 2**-53): keep probabilities away from 0 and 1"
)
_NOT_KEPT = (
    "for some values of its sums a scale, a divisor or what a logarithm or a root is taken of may "
    "be 0, or a number may be too large"
)
_NOT_CLOSED = "the largest loss was not bounded within the boxes that are looked at"

Ends = tuple[Fraction, Fraction]
Box = tuple[Ends, ...]


@dataclass(frozen=True)
class CurvedLaws:
    """The laws of a program: of each output its paths; ``sums`` are what the data are asked for.

    ``ends`` and ``steps``: by the number of a sum what it lies between, and by how much neighbours
    change it at most. ``positive`` are curves that must be above 0 everywhere, ``finite`` ones that
    must be between -limit and limit: else the code does something else than what is said here.
    """

    outputs: tuple[tuple[CurvedPath, ...], ...]
    ends: Mapping[int, Ends]
    steps: Mapping[int, Fraction]
    positive: tuple[Curve, ...] = ()
    finite: tuple[tuple[Curve, Fraction], ...] = ()


@dataclass(frozen=True)
class LargestLoss:
    """At most and at least how large it is, and the two values of each sum where it is that."""

    most: Fraction | None
    least: float
    at: tuple[dict[int, Fraction], dict[int, Fraction]] | None
    boxes: int
    #: Why it is not known what it is at most.
    why: str = ""


def largest_loss(
    laws: CurvedLaws, *, wanted: Fraction | None = None, most_boxes: int = MOST_BOXES
) -> LargestLoss:
    """The largest log ratio of probabilities of neighbours; ``most`` is None where none is known.

    Where a loss of more than ``wanted`` is found the search ends, and where none is more it does
    not go on for long to find how much less it is.
    """
    with precision(_BITS):
        off = _floats_add(laws)
        why = off if isinstance(off, str) else "" if _are_kept(laws) else _NOT_KEPT
        search = _Search(laws, wanted)
        search.run(_FEW_BOXES if why else most_boxes)
        most = search.most
        found = search.least, search.at, search.boxes
        if isinstance(off, str) or why or not math.isfinite(most):
            return LargestLoss(None, *found, why or _NOT_CLOSED)
        return LargestLoss(max(upper_end(ball(Fraction(most)) + off), _ZERO), *found)


class _Region:
    """Pairs of values of the sums as a box of coordinates; which sums, in which way.

    Of a sum in [lo, hi] that moves by at most d: "falls", s = u and s' = u + v with u between
    lo + d and hi and v between -d and 0; "rises", the same with both exchanged; "both", s = u and
    s' = v between lo and lo + d. All pairs are in one of the three, and no box has to be cut off.
    """

    def __init__(self, ways: Sequence[tuple[int, str]]) -> None:
        self._ways = ways

    def pair(self, box: Box) -> tuple[SumBox, SumBox]:
        """Both values of each sum on a box."""
        spread = _spread(box)
        middle = tuple((_middle(ends), _middle(ends)) for ends in box) if spread else box
        pairs = zip(self._sides(box), self._sides(middle), strict=True)
        left, right = (SumBox(*both, spread) for both in pairs)
        return left, right

    def _sides(self, box: Box) -> tuple[dict[int, Enclosure], dict[int, Enclosure]]:
        """With slopes by coordinate."""
        left: dict[int, Enclosure] = {}
        right: dict[int, Enclosure] = {}
        for place, (number, way) in enumerate(self._ways):
            u, v = (2 * place, box[2 * place]), (2 * place + 1, box[2 * place + 1])
            first = _coordinate(*u)
            if way == "both":
                left[number], right[number] = first, _coordinate(*v)
                continue
            moved = _coordinate(*v)
            other = Enclosure(first.value + moved.value, {u[0]: arb(1), v[0]: arb(1)})
            pair = (first, other) if way == "falls" else (other, first)
            left[number], right[number] = pair
        return left, right

    def numbers(self, point: Sequence[Fraction]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """The same at a point."""
        left, right = {}, {}
        for place, (number, way) in enumerate(self._ways):
            u, v = point[2 * place : 2 * place + 2]
            pair = (u, v) if way == "both" else (u, u + v) if way == "falls" else (u + v, u)
            left[number], right[number] = pair
        return left, right


def _coordinate(number: int, ends: Ends) -> Enclosure:
    return Enclosure(
        ball(ends[0]).union(ball(ends[1])) if ends[0] != ends[1] else ball(ends[0]),
        {number: arb(1)},
    )


def _middle(ends: Ends) -> Fraction:
    return (ends[0] + ends[1]) / 2


def _spread(box: Box) -> dict[int, arb]:
    """By coordinate how far a box reaches from its middle; nothing of what is one number."""
    reaches = {k: ball((high - low) / 2) for k, (low, high) in enumerate(box) if low != high}
    return {k: (-reach).union(reach) for k, reach in reaches.items()}


def _regions(laws: CurvedLaws) -> Iterator[tuple[_Region, Box]]:
    several: list[list[tuple[tuple[int, str], tuple[Ends, Ends]]]] = []
    for number, (low, high) in laws.ends.items():
        step = min(laws.steps.get(number, _ZERO), high - low)
        ways = [((number, "both"), ((low, low + step), (low, low + step)))]
        if low + step < high:
            moved = (low + step, high), (-step, _ZERO)
            ways += [((number, way), moved) for way in ("falls", "rises")]
        several.append(ways)
    for chosen in product(*several):
        region = _Region([way for way, _ in chosen])
        yield region, tuple(ends for _, pair in chosen for ends in pair)


@dataclass(frozen=True)
class _Open:
    """A box that is to be divided: of an output, in a region."""

    output: int
    region: _Region
    box: Box
    cut: int


class _Search:
    """Best-first bisection."""

    def __init__(self, laws: CurvedLaws, wanted: Fraction | None) -> None:
        self._laws = laws
        self._wanted = math.inf if wanted is None else float(wanted)
        self._heap: list[tuple[float, int, _Open]] = []
        self.least, self.boxes = 0.0, 0
        self.at: tuple[dict[int, Fraction], dict[int, Fraction]] | None = None

    @property
    def most(self) -> float:
        """No loss is larger."""
        return max(self.least, -self._heap[0][0] if self._heap else 0.0)

    def run(self, most_boxes: int) -> None:
        """Divide until both ends are close, or boxes are used up."""
        for region, box in _regions(self._laws):
            for output in range(len(self._laws.outputs)):
                self._add(output, region, box)
        while self._heap and self.boxes < most_boxes:
            is_close = self.most - self.least <= GAP
            is_enough = self.boxes >= _MANY_BOXES and self.most <= self._wanted < math.inf
            if is_close or is_enough or self.least > self._wanted:
                return
            _, _, widest = heapq.heappop(self._heap)
            low, high = widest.box[widest.cut]
            middle = (low + high) / 2
            for half in ((low, middle), (middle, high)):
                divided = (*widest.box[: widest.cut], half, *widest.box[widest.cut + 1 :])
                self._add(widest.output, widest.region, divided)

    def _add(self, output: int, region: _Region, box: Box) -> None:
        self.boxes += 1
        bounded = _Bounded(self._laws.outputs[output], region)
        bound, cut = bounded.bound(box)
        for point, reached in bounded.reached:
            if reached > self.least:
                self.least, self.at = reached, region.numbers(point)
        if bound > self.least:
            heapq.heappush(self._heap, (-bound, self.boxes, _Open(output, region, box, cut)))


class _Bounded:
    """The loss of one output: log of its probability on the left less that on the right."""

    def __init__(self, paths: Sequence[CurvedPath], region: _Region) -> None:
        self._paths = paths
        self._region = region
        #: Points with a loss that is taken there, rounded down.
        self.reached: list[tuple[list[Fraction], float]] = []

    def _loss(self, box: Box) -> tuple[arb, dict[int, arb]]:
        """A ball that holds the loss on a box, -inf where the left side has none; its slopes."""
        logs = [
            log_total(find_path_mass(path, side) for path in self._paths)[0]
            for side in self._region.pair(box)
        ]
        if is_nothing(logs[0]):
            return arb("-inf"), {}
        if not all(log.value.is_finite() for log in logs):
            return arb("inf"), {}
        slopes = {
            k: logs[0].slope(k) - logs[1].slope(k) for k in {**logs[0].slopes, **logs[1].slopes}
        }
        return logs[0].value - logs[1].value, slopes

    def bound(self, box: Box) -> tuple[float, int]:
        """No loss on the box is larger; where to divide it."""
        value, slopes = self._loss(box)
        best, cut = _top(value), _widest(box)
        middle, far = [(low + high) / 2 for low, high in box], [low for low, _ in box]
        are_known = value.is_finite() and all(own.is_finite() for own in slopes.values())
        if not are_known:  # without slopes nothing is said of what lies around a point
            for point in (middle, far):
                self._at(point)
            return best, cut
        # From where the loss is largest it is lost by slopes of the other sign at most.
        slack = spread = arb(0)
        widths = []
        for k, (low, high) in enumerate(box):
            own, width = slopes.get(k, arb(0)), ball(high - low)
            rises = bool(own.mid() >= 0)
            far[k] = high if rises else low
            slack += width * (-own.lower() if rises else own.upper()).max(arb(0))
            spread += width / 2 * abs(own)
            widths.append(float((width * own).rad()))
        best = min(best, _top(self._at(far) + slack.upper()))
        best = min(best, _top(self._at(middle) + spread.upper()))
        if 0 < max(widths, default=0.0) < math.inf:
            cut = widths.index(max(widths))
        return best, cut

    def _at(self, point: list[Fraction]) -> arb:
        value, _ = self._loss(_point(point))
        if value.is_finite():
            self.reached.append((point, math.nextafter(float(value.lower()), -math.inf)))
        return value


def _point(point: Sequence[Fraction]) -> Box:
    return tuple((number, number) for number in point)


def _widest(box: Box) -> int:
    widths = [high - low for low, high in box]
    return widths.index(max(widths))


def _top(value: arb) -> float:
    """The upper end of a ball, rounded up; infinite where there is none."""
    if value == arb("-inf"):
        return -math.inf
    if not value.is_finite():
        return math.inf
    return math.nextafter(float(value.upper()), math.inf)


# ---- what the code must keep, and what its floats add


def _cover(laws: CurvedLaws, is_small: Callable[[SumBox], bool | None]) -> bool:
    """Whether something holds on boxes that cover all values of the sums; None: never."""
    numbers = list(laws.ends)
    left: list[Box] = [tuple(laws.ends.values())]
    for _ in range(_MOST_COVERED):
        if not left:
            return True
        box = left.pop()
        holds = is_small(_place(numbers, box))
        if holds:
            continue
        if holds is None or not box:
            return False
        cut = _widest(box)
        low, high = box[cut]
        if low == high:
            return False
        middle = (low + high) / 2
        left += [(*box[:cut], half, *box[cut + 1 :]) for half in ((low, middle), (middle, high))]
    return not left


def _place(numbers: Sequence[int], box: Box) -> SumBox:
    at = {number: _coordinate(k, box[k]) for k, number in enumerate(numbers)}
    middle = {number: Enclosure(ball(_middle(box[k]))) for k, number in enumerate(numbers)}
    return SumBox(at, middle, _spread(box))


def _find_middle(place: SumBox) -> SumBox:
    return SumBox(place.middle, place.middle, {})


def _are_kept(laws: CurvedLaws) -> bool:
    def are_kept(place: SumBox) -> bool:
        known: dict[Curve, Enclosure] = {}
        for curve in laws.positive:
            one = enclose(curve, place.at, known)
            if not (one.is_finite and one.value.lower() > one.off):
                return False
        for curve, limit in laws.finite:
            one = enclose(curve, place.at, known)
            if not (one.is_finite and abs(one.value).upper() + one.off < ball(limit)):
                return False
        return True

    return _cover(laws, are_kept)


def _floats_add(laws: CurvedLaws) -> arb | str:
    """What floats of functions of the data add to a loss, or why that is not known to be small."""
    most, why = arb(0), _NOT_CLOSED

    def off_on(at: SumBox) -> arb:
        every = (log_total(find_path_mass(path, at) for path in paths)[1] for paths in laws.outputs)
        return reduce(lambda left, right: left.max(right), every, arb(0))

    def is_small(at: SumBox) -> bool | None:
        nonlocal most, why
        own = off_on(at)
        if not own <= _SMALL:
            inside = off_on(_find_middle(at))
            if inside > _LARGEST_OFF:
                why = _NEAR_ZERO
                return None
            if not (own < _LARGEST_OFF and own <= 2 * inside):
                return False  # the box is too wide to say what it is
        most = most.max(own)
        return True

    if not _cover(laws, is_small):
        return why
    return ((1 + most).log() - (1 - most).log()).upper()
