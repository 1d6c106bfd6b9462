"""What neighbours tell at every epsilon, at every order and to every test, from the same laws.

The delta of an epsilon is the largest hockey-stick divergence of neighbouring datasets, in both
orders; the divergence of an order is the largest one of Renyi. The trade-off curve is the largest
convex function below the curves of all pairs: the fewest misses that a test may hope for, given its
false alarms. Deltas bound it from both sides: by their lines, and by being convex (theory 6.22).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.data.domains import Domain
from liptest.errors import InputError, LiptestError, SymbolicError, UnsupportedForm
from liptest.mechanisms.base import (
    ClosedFormLosses,
    Mechanism,
    through_densities,
)
from liptest.mechanisms.laws import LawTable
from liptest.privacy.comparison import exact_law, loss_slack, round_ends, stick_error
from liptest.privacy.composition import different_pairs, worst_curve
from liptest.privacy.divergences.likelihoods import Balls, LikelihoodPair
from liptest.privacy.divergences.renyi import BITS
from liptest.privacy.divergences.screening import largest_losses, screen_orders
from liptest.privacy.divergences.tradeoff import curve_corners
from liptest.privacy.exact import visit_or_enclosed
from liptest.privacy.notions import RhoClaim, orders_between
from liptest.privacy.proofs.exhaustive import (
    PairBlock,
    check_affordable,
    exhaustive_size,
    pair_blocks,
)
from liptest.privacy.proofs.shift_notions import SizeBounds, bounds_at_any_size
from liptest.privacy.proofs.unanswered import check_answered
from liptest.privacy.searches.plain_pairs import plain_pairs
from liptest.privacy.wording.profile_result import CurvePoint, PrivacyCurves

Ends = tuple[float, float]
Floats = NDArray[np.float64]

#: Orders and probabilities of a false alarm at which curves are told.
ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0)
ALARMS = (
    *(1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.03),
    *(round(0.05 * k, 2) for k in range(1, 20)),
)
_POINTS = 40
# Until both sides of a trade-off are this close the grid grows, in so many rounds.
_CLOSE, _ROUNDS = 1e-6, 8
# Epsilons that differ by less are one.
_APART = 1e-7
# Where deltas no longer fall, or are this small, a grid of epsilons ends.
_TINY, _FAR = 1e-6, 16.0
# Different pairs that are certified one by one; of pairs in floats, those that may be the largest.
_MOST_PAIRS, _LARGEST = 256, 16
# Pairs of data of any size, and epsilons by which the dearest of them are told.
_PLAIN, _LOOKED_AT = 8, (0.0, 0.5, 1.0, 4.0)
# Rounding of a few sums and products of numbers of at most 1.
_ROUNDING = 2.0**-48


def privacy_curves(
    mechanism: Mechanism,
    domain: Domain,
    *,
    epsilons: Sequence[float] | None = None,
    executor: Executor | None = None,
) -> PrivacyCurves:
    """The three curves of a mechanism on a whole domain.

    Of a domain too large to visit the upper ends are what is proved for data of any size (theory
    S12), the lower ends those of plain pairs. Raises InputError where more than 256 pairs of laws
    without a finite table differ, and as ``exact_epsilon``.
    """

    def visit(seen: Mechanism) -> PrivacyCurves:
        check_affordable(exhaustive_size(seen, domain), None, seen)
        visited = _Visited(seen)
        # Any claim but a pure one makes every pair be visited.
        for block in pair_blocks(seen, domain, RhoClaim(1.0), executor):
            visited.add(block)
        check_answered(seen, is_answered=visited.is_answered)
        return _draw_curves(visited, epsilons, mechanism, domain)

    def enclose(checked: Mechanism, domain: Domain) -> PrivacyCurves | None:
        bounds = bounds_at_any_size(checked, domain)
        # Code that always raises is told as such by a visit.
        if bounds is None or checked.only_raises(domain.zeros) is not None:
            return None
        enclosed = _Enclosed(bounds)
        with suppress(LiptestError):
            ends = list(islice(plain_pairs(domain), _PLAIN))
            pairs = through_densities(checked, lambda seen: _pairs_at(seen, ends))
            enclosed.pairs = _dearest(pairs)
        return _draw_curves(enclosed, epsilons, mechanism, domain)

    return visit_or_enclosed(
        mechanism, domain, executor, enclose=enclose, visit=visit, at_once=True
    )


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two neighbouring datasets, certified."""

    mechanism: Mechanism
    first: Any
    second: Any

    def delta(self, epsilon: float) -> Ends:
        """The larger one of both orders."""
        with precision(BITS):
            ball = arb(epsilon)
            if isinstance(self.mechanism, ClosedFormLosses):
                delta = self._stick(ball)  # the larger one of both
                lower, upper = delta.lower(), delta.upper()
            else:
                factor, (corners, curve) = ball.exp(), self._sides
                lower = max(((1 - y - factor * x).lower() for x, y in corners), key=float)
                upper = curve(ball)
            return _round(lower.max(arb(0)), upper.min(arb(1)))

    def renyi(self, order: float) -> Ends | None:
        """The larger divergence of both orders; None where no closed form is known."""
        try:
            with precision(BITS):
                ends = [orders.renyi(Fraction(order)) for orders in self._orders]
        except (InputError, UnsupportedForm, SymbolicError):
            return None
        return _largest_ends([_round(*pair) for pair in ends])

    @cached_property
    def _stick(self) -> Callable[[arb], arb]:
        assert isinstance(self.mechanism, ClosedFormLosses)
        return self.mechanism.pair_curve(self.first, self.second)

    @cached_property
    def _orders(self) -> Any:
        return orders_between(self.mechanism, self.first, self.second, "curves")

    @cached_property
    def _listed(self) -> LikelihoodPair:
        sides = [exact_law(self.mechanism, dataset) for dataset in (self.first, self.second)]
        return LikelihoodPair.of_laws(*sides)

    @cached_property
    def _sides(self) -> tuple[list[Balls], Callable[[arb], arb]]:
        """False alarms and misses of the best tests of both orders; deltas from above."""
        pair = self._listed
        corners = [*curve_corners(pair), *curve_corners(pair.reversed())]
        return corners, worst_curve([pair])


def _pairs_at(mechanism: Mechanism, ends: list[tuple[Any, Any]]) -> list[_Pair]:
    pairs = [_Pair(mechanism, *both) for both in ends]
    for pair in pairs:
        pair.delta(1.0)  # raises where its outputs are real numbers, or it is not followed
    return pairs


class _Source(ABC):
    """Where curves come from."""

    @abstractmethod
    def delta(self, epsilon: float) -> Ends:
        """Ends of the largest delta."""

    @abstractmethod
    def renyi(self, order: float) -> Ends | None:
        """Ends of the largest divergence; None where it is not known."""

    def largest_loss(self) -> float:
        """The largest loss, about; inf where it is not known."""
        return math.inf


@dataclass(eq=False)
class _Enclosed(_Source):
    """What is proved of data of any size, and a few plain pairs."""

    bounds: SizeBounds
    pairs: list[_Pair] = field(default_factory=list)

    def delta(self, epsilon: float) -> Ends:
        upper = self.bounds.delta(epsilon)
        return min(max((p.delta(epsilon)[0] for p in self.pairs), default=0.0), upper), upper

    def renyi(self, order: float) -> Ends | None:
        upper = self.bounds.renyi(order)
        lows = [ends[0] for ends in (pair.renyi(order) for pair in self.pairs) if ends is not None]
        return min(max(lows, default=0.0), upper), upper


@dataclass(frozen=True, eq=False)
class _Screened:
    """Pairs of laws with finite tables, whose largest is sought in floats."""

    block: PairBlock
    rows: Any

    @cached_property
    def sides(self) -> tuple[Any, Any]:
        """Both laws of each pair."""
        return self.block.left[self.rows], self.block.right[self.rows]

    @cached_property
    def _losses(self) -> tuple[Floats, Floats]:
        """Bounds of the largest losses, and of the errors of losses."""
        losses, bounds = largest_losses(self.block.laws, *self.sides)
        return bounds, loss_slack(self.block.laws, *self.sides, losses)

    def sticks_above(self, epsilon: float) -> Floats:
        """Bounds of the deltas of pairs in floats; 0 where no loss exceeds epsilon."""
        bounds, slack = self._losses
        sticks = self.block.laws.hockey_sticks(*self.sides, epsilon) + stick_error(slack, epsilon)
        return np.where(bounds <= epsilon, 0.0, np.minimum(sticks, 1.0))


class _Visited(_Source):
    """All pairs of a domain."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._parts: list[_Screened] = []
        self._certified: dict[Any, _Pair] = {}
        self._located: dict[tuple[int, int], _Pair] = {}
        self._loss = 0.0
        self.is_answered = False

    def add(self, block: PairBlock) -> None:
        """Take in the pairs of a block."""
        self.is_answered |= block.laws.is_answered()
        if len(block.left) == 0:
            return
        with suppress(UnsupportedForm, SymbolicError):
            self._loss = max(self._loss, float(block.laws.losses(block.left, block.right).max()))
        rest = np.arange(len(block.left))
        if isinstance(block.laws, LawTable):
            error = block.laws.screen_error(block.left, block.right)
            is_sure = np.isfinite(error) & ~block.laws.has_uncertain_zeros(block.left, block.right)
            self._parts.append(_Screened(block, np.flatnonzero(is_sure)))
            rest = np.flatnonzero(~is_sure)
        for key, k in different_pairs(block, rest).items():
            if key not in self._certified:
                self._certified[key] = _Pair(self._mechanism, *block.locate(k))
        if len(self._certified) > _MOST_PAIRS:
            raise InputError(
                f"mechanism={self._mechanism.name}: more than {_MOST_PAIRS} different pairs of "
                f"laws without a finite table; ask for curves on a smaller domain, or round or "
                f"clip the output to finitely many values",
                name="mechanism",
            )

    def largest_loss(self) -> float:
        return self._loss

    def delta(self, epsilon: float) -> Ends:
        deltas = [pair.delta(epsilon) for pair in self._certified.values()]
        for n, part in enumerate(self._parts):
            above = part.sticks_above(epsilon)
            deltas.append(self._largest(n, above, lambda pair: pair.delta(epsilon)))
        return _largest_ends(deltas)

    def renyi(self, order: float) -> Ends | None:
        divergences = [pair.renyi(order) for pair in self._certified.values()]
        for n, part in enumerate(self._parts):
            if len(part.rows):
                assert isinstance(part.block.laws, LawTable)
                above = screen_orders(part.block.laws, *part.sides, [order]).above[:, 0]
                divergences.append(self._largest(n, above, lambda pair: pair.renyi(order)))
        present = [ends for ends in divergences if ends is not None]
        return _largest_ends(present) if len(present) == len(divergences) else None

    def _largest(self, part: int, above: Floats, of: Callable[[_Pair], Any]) -> Ends:
        """Ends of the largest of many: those that may be it are certified, at most a few."""
        low = high = 0.0
        order = np.argsort(-above, kind="stable")
        for count, k in enumerate(order.tolist()):
            if above[k] <= low:
                break
            if count == _LARGEST:
                high = max(high, float(above[k]))
                break
            ends = of(self._at(part, k)) or (0.0, float(above[k]))
            low, high = max(low, ends[0]), max(high, ends[1])
        return low, high

    def _at(self, part: int, k: int) -> _Pair:
        if (part, k) not in self._located:
            screened = self._parts[part]
            ends = screened.block.locate(int(screened.rows[k]))
            self._located[part, k] = _Pair(self._mechanism, *ends)
        return self._located[part, k]


def _dearest(pairs: Sequence[_Pair]) -> list[_Pair]:
    """For a few epsilons the pair with the largest delta, each once."""
    if not pairs:
        return []
    deltas = [[pair.delta(epsilon)[0] for pair in pairs] for epsilon in _LOOKED_AT]
    return [pairs[k] for k in dict.fromkeys(int(np.argmax(row)) for row in deltas)]


def _largest_ends(found: Sequence[Ends]) -> Ends:
    return max((low for low, _ in found), default=0.0), max((h for _, h in found), default=0.0)


def _draw_curves(
    source: _Source, epsilons: Sequence[float] | None, mechanism: Mechanism, domain: Domain
) -> PrivacyCurves:
    """The curves of a source, on grids."""
    even = np.linspace(0.0, _find_top(source), _POINTS + 1).tolist()
    grid = even if epsilons is None else list(epsilons)
    deltas = {epsilon: source.delta(epsilon) for epsilon in dict.fromkeys([*grid, *even])}
    orders = [(order, source.renyi(order)) for order in ORDERS]
    is_complete = all(ends is not None for _, ends in orders)
    return PrivacyCurves(
        tuple(CurvePoint(epsilon, *deltas[epsilon]) for epsilon in grid),
        tuple(CurvePoint(a, *ends) for a, ends in orders if ends is not None)
        if is_complete
        else (),
        _trade_off(source, deltas),
        mechanism=mechanism.name,
        domain=str(domain),
    )


def _find_top(source: _Source) -> float:
    """The largest loss, or where deltas end to fall."""
    loss = source.largest_loss()
    if loss <= _FAR:
        return loss or 1.0
    top = 0.25
    while top < _FAR and source.delta(top)[1] > _TINY:
        top *= 2
    return top


def _trade_off(source: _Source, deltas: dict[float, Ends]) -> tuple[CurvePoint, ...]:
    """From both sides by the deltas of a grid, which grows where the sides are far apart."""
    refined = deltas
    for _ in range(_ROUNDS):
        lines = _Lines(refined)
        wide = [alarm for alarm in ALARMS if lines.above(alarm) - lines.below(alarm) > _CLOSE]
        finer = {lines.open_place(alarm) for alarm in wide} - refined.keys()
        if not finer:
            break
        refined = refined | {epsilon: source.delta(epsilon) for epsilon in sorted(finer)}
    lines, points = _Lines(refined), []
    for alarm in ALARMS:
        upper = min(1 - alarm, lines.above(alarm) + _ROUNDING)
        lower = max(0.0, lines.below(alarm) - _ROUNDING)
        points.append(CurvePoint(alarm, min(lower, upper), upper))
    return tuple(points)


class _Lines:
    """The curve whose lines of slope -g, g = e^epsilon, cut the axis at 1 - delta(g)."""

    def __init__(self, deltas: dict[float, Ends]) -> None:
        kept: list[float] = []
        for epsilon in sorted(deltas):
            if not kept or epsilon > kept[-1] + _APART:
                kept.append(epsilon)
        factor = np.exp(np.array(kept))
        ends = np.array([deltas[epsilon] for epsilon in kept]).T
        # Of both orders together delta(1/g) = 1 - 1/g + delta(g)/g.
        turned = 1 - 1 / factor[:0:-1] + ends[:, :0:-1] / factor[:0:-1]
        self._factor = np.concatenate([1 / factor[:0:-1], factor])
        self._low, self._high = np.concatenate([turned, ends], axis=1)

    def below(self, alarm: float) -> float:
        """The highest line of the grid."""
        return float(np.max(1 - self._high - self._factor * (1 + _ROUNDING) * alarm))

    def above(self, alarm: float) -> float:
        """A bound of all lines: on each part of the grid, and on both sides of it."""
        factor, low = self._kinks
        sides = 1 - self._factor[-1] * alarm, self._factor[0] * (1 - alarm)
        return float(max(*sides, np.max(1 - low - factor * alarm))) + _ROUNDING

    def open_place(self, alarm: float) -> float:
        """The epsilon at which a line may be highest."""
        factor, low = self._kinks
        return abs(math.log(factor[np.argmax(1 - low - factor * alarm)]))

    @cached_property
    def _kinks(self) -> tuple[Floats, Floats]:
        """Factors where lines may be highest, and bounds of delta from below there.

        Delta is convex, does not rise and is at least 1 - g: on each part it lies above the lines
        through both parts beside it, and above its right end.
        """
        g, low, high = self._factor, self._low, self._high
        kinks: list[tuple[float, float]] = []
        for k in range(len(g) - 1):
            lines = [(g[k + 1], low[k + 1], 0.0), (1.0, 0.0, -1.0)]
            if k:
                lines.append((g[k], low[k], (low[k] - high[k - 1]) / (g[k] - g[k - 1])))
            if k + 2 < len(g):
                slope = (high[k + 2] - low[k + 1]) / (g[k + 2] - g[k + 1])
                lines.append((g[k + 1], low[k + 1], slope))
            places = [_meeting(*both) for both in combinations(lines, 2)]
            inside = [at for at in places if at is not None and g[k] < at < g[k + 1]]
            kinks += [(at, _height(lines, at)) for at in (g[k], g[k + 1], *inside)]
        factors, deltas = zip(*kinks, strict=True)
        return np.array(factors), np.array(deltas)


def _height(lines: Sequence[tuple[float, float, float]], at: float) -> float:
    """The highest of lines, each given by a point and a slope, at a place."""
    return max(y + slope * (at - x) for x, y, slope in lines)


def _meeting(one: tuple[float, ...], other: tuple[float, ...]) -> float | None:
    """Where two lines, each given by a point and a slope, meet."""
    (x, y, slope), (u, v, rise) = one, other
    return None if slope == rise else (v - y + slope * x - rise * u) / (slope - rise)


def _round(lower: arb, upper: arb) -> Ends:
    """As floats; what is exactly 0 stays so."""
    low, high = round_ends(lower, upper)
    return low, 0.0 if upper <= 0 else high
