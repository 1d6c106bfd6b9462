"""Two laws with continuous outputs as cells, for notions that see more than the largest loss.

Of each description of the output: numbers of one law on both sides drop out; free normal numbers
of one scale count by their squared distance; of other numbers the densities are compared piece by
piece, as sums of powers times exponentials. On a piece both are analytic and above 0, so that
integrals of p^a q^(1 - a) are enclosed to many digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, acb_poly, arb

from liptest.enumerate.numbers.densities import (
    ContinuousLaw,
    Number,
    are_free_normal,
    find_densities,
    not_answered,
    require_whole,
    tell_ways_apart,
)
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.mechanisms.laws import Output
from liptest.mechanisms.likelihood_cells import Cell, CellProduct, Factor, PairCells
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.densities import (
    BoundedRatio,
    PowerTail,
    TailRatio,
    end_of_mass,
    has_powers,
    lowest_powers,
    piece_on,
    stretches,
)
from liptest.symbolic.exponential_polynomials import (
    Piece,
    Rates,
    Terms,
    restrict,
    to_list,
    total,
)

# What an integral may be off by, as a share and at all.
_SHARE, _LEAST = arb(2) ** -90, arb(2) ** -110


def cells_of_laws(left: ContinuousLaw, right: ContinuousLaw) -> PairCells:
    """Raises UnsupportedForm where densities are not compared so, BudgetError for partial laws."""
    require_whole(left, right)
    left, right = tell_ways_apart(left, right)
    products, alone = [], [arb(0), arb(0)]
    for skeleton in dict.fromkeys((*left.leaves, *right.leaves)):
        if skeleton not in right.leaves:
            alone[0] += left.mass(skeleton)
        elif skeleton not in left.leaves:
            alone[1] += right.mass(skeleton)
        else:
            products.append(_product(left, right, skeleton))
    return PairCells(tuple(products), *alone)


Weighted = list[tuple[Number, arb]]


def _product(left: ContinuousLaw, right: ContinuousLaw, skeleton: Output) -> CellProduct:
    one, other = left.leaves[skeleton], right.leaves[skeleton]
    if not one[0].leaf.forms:
        return CellProduct(left.mass(skeleton), right.mass(skeleton))
    if len(one) == len(other) == 1:
        factors, squares = [], Fraction(0)
        for x, y in zip(one[0].numbers, other[0].numbers, strict=True):
            if x.is_like(y):
                continue
            if are_free_normal(x, y):
                squares += ((x.constant - y.constant) / x.scale) ** 2
            else:
                factors.append(_factor([(x, arb(1))], [(y, arb(1))]))
        return CellProduct(one[0].mass, other[0].mass, tuple(factors), squares)
    if any(len(leaf.leaf.forms) != 1 for leaf in (*one, *other)):
        raise UnsupportedForm("outputs of several numbers that the code comes to in several ways")
    sides = [[(leaf.numbers[0], leaf.mass) for leaf in side] for side in (one, other)]
    return CellProduct(arb(1), arb(1), (_factor(*sides),))


def _factor(left: Weighted, right: Weighted) -> Factor:
    rates, above, below = find_densities(left, right, not_answered, "compared, mixed or scaled")
    cells, alone = [], [arb(0), arb(0)]
    for low, high in stretches(above, below):
        pieces = [piece_on(function, low, high) for function in (above, below)]
        if pieces == [None, None]:
            continue
        if None in pieces:
            side = pieces.index(None)
            alone[1 - side] += _mass(rates, pieces[1 - side], low, high)
            continue
        cells += _cells_on(rates, pieces, low, high)
    return Factor(tuple(cells), *alone)


def _mass(rates: Rates, piece: Any, low: Any, high: Any) -> arb:
    terms = restrict(rates, piece, low, high, 0)
    mass: arb = total(rates, [Piece(low, high, functions.find_origin(low, high), terms)])
    return mass


def _cells_on(rates: Rates, pieces: list[Any], low: Any, high: Any) -> list[Cell]:
    p, q = (restrict(rates, piece, low, high, 0) for piece in pieces)
    if _are_proportional(rates, p, q):
        first, second = (_mass(rates, piece, low, high) for piece in pieces)
        return [Cell(first, second, first / second, first / second)]
    if low is not None and high is not None:
        on = _make_bounded_stretch(rates, p, q, low, high)
        return [SmoothCell.on(on, arb(0), arb(high - low))]
    if not has_powers(p, q):
        return [SmoothCell.on(_tail_stretch(rates, p, q, low, high), arb(0), arb(1))]
    tail = PowerTail.of(rates, p, q, low, high)
    if tail.unbounded:
        raise UnsupportedForm("densities whose ratio has no bound in a tail")
    start = tail.origin + tail.outwards * tail.start
    ends = [end_of_mass(rates, part, (low, high), int(high is None)) for part in pieces]
    if high is None:
        end = max(*ends, start + 1)
        near, far, beyond = (low, start), (start, end), (end, None)
    else:
        end = min(*ends, start - 1)
        near, far, beyond = (start, high), (end, start), (None, end)
    p, q = (restrict(rates, part, *far, 0) for part in pieces)
    on = _far_stretch(_TailPart(tail, far[0]), _make_bounded_stretch(rates, p, q, *far))
    return [
        *_cells_on(rates, pieces, *near),
        SmoothCell.on(on, arb(0), arb(far[1] - far[0])),
        _far_cell(tail, rates, pieces, *beyond),
    ]


@dataclass(frozen=True)
class _TailPart:
    """The ratio on a part of a tail, in the distance from the lower end of the part."""

    tail: PowerTail
    low: Any

    def log(self, box: arb) -> arb:
        logarithm: arb = self.tail.log(self._coordinate(box))
        return logarithm

    def log_around(self, middle: arb, box: arb) -> arb:
        logarithm: arb = self.tail.log_around(self._coordinate(middle), self._coordinate(box))
        return logarithm

    def distance(self, z: acb) -> acb:
        """From the origin of the tail."""
        return (z + arb(self.low - self.tail.origin)) * self.tail.outwards

    def common(self, z: acb) -> acb:
        """What both sides have in common."""
        distance = self.distance(z)
        return distance**self.tail.power * (distance * -arb(self.tail.fall)).exp()

    def sides(self, z: acb) -> tuple[acb, acb]:
        """Both sides without that."""
        distance = self.distance(z)
        first, second = (
            sum((c * distance**-n * (distance * -arb(b)).exp() for n, b, c in side), acb(0))
            for side in (self.tail.p, self.tail.q)
        )
        return first, second

    def _coordinate(self, box: arb) -> arb:
        distances = [
            abs(end + arb(self.low - self.tail.origin)) for end in (box.lower(), box.upper())
        ]
        return (1 / distances[0]).union(1 / distances[1]).min(self.tail.last)


def _far_cell(tail: PowerTail, rates: Rates, pieces: list[Any], low: Any, high: Any) -> Cell:
    """All of a tail beyond an end, where next to nothing is left of both densities."""
    end = high if low is None else low
    p, q = (_mass(rates, piece, low, high) for piece in pieces)
    log = tail.log(arb(0).union(1 / arb(abs(end - tail.origin))))
    return Cell(p, q, log.lower().exp().lower(), log.upper().exp().upper())


def _are_proportional(rates: Rates, p: Terms, q: Terms) -> bool:
    """Whether both are one exponential of one rate."""
    one, other = list(to_list(rates, p)), list(to_list(rates, q))
    return len(one) == len(other) == 1 and one[0][:2] == other[0][:2]


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Two densities in a coordinate: values at complex numbers, primitives, the log of the ratio.

    ``logs`` gives their logarithms up to what both have in common.
    """

    ratio: Any
    density: Callable[[acb, acb], acb]
    logs: Callable[[acb, bool], tuple[acb, acb]]
    primitives: tuple[Callable[[arb], arb], Callable[[arb], arb]]


def _make_bounded_stretch(rates: Rates, p: Terms, q: Terms, low: Any, high: Any) -> _Stretch:
    sides = [_Sum(rates, terms) for terms in (p, q)]
    return _Stretch(
        BoundedRatio(rates, p, q, 0, arb(high - low), low),
        lambda z, log: log.exp(),
        lambda z, analytic: (sides[0](z).log(analytic), sides[1](z).log(analytic)),
        (sides[0].primitive, sides[1].primitive),
    )


def _far_stretch(part: _TailPart, whole: _Stretch) -> _Stretch:
    """In the same coordinate, with the exponential that falls slowest taken out of logarithms."""

    def logs(z: acb, analytic: bool) -> tuple[acb, acb]:
        p, q = part.sides(z)
        return p.log(analytic), q.log(analytic)

    return _Stretch(part, lambda z, log: log.exp() * part.common(z), logs, whole.primitives)


class _Sum:
    """A sum of powers times exponentials at complex numbers, and its primitive at real ones."""

    def __init__(self, rates: Rates, terms: Terms) -> None:
        self._rows = [
            (power, arb(rates.rate(offset, low)), acb_poly([acb(c) for c in poly.coeffs()]))
            for (power, offset), (low, poly) in terms.items()
        ]
        self._base = arb(rates.base)
        self._parts = [
            (coefficient, arb(rate), rates.primitive(power, rate))
            for power, rate, coefficient in to_list(rates, terms)
        ]

    def __call__(self, z: acb) -> acb:
        summed, growth = acb(0), (z * self._base).exp()
        for power, rate, poly in self._rows:
            summed += poly(growth) * (z * rate).exp() * (z**power if power else 1)
        return summed

    def primitive(self, t: arb) -> arb:
        integral = arb(0)
        for coefficient, rate, row in self._parts:
            value = arb(0)
            for entry in reversed(row):
                value = value * t + entry
            integral += coefficient * value * (rate * t).exp()
        return integral


def _tail_stretch(rates: Rates, p: Terms, q: Terms, low: Any, high: Any) -> _Stretch:
    """In u = e^(slope (t - origin)), which runs from 0 far out to 1."""
    ratio = TailRatio.of(rates, p, q, low, high)
    if ratio.unbounded:
        raise UnsupportedForm("densities whose ratio has no bound in a tail")
    power = arb(lowest_powers(rates, p, low is not None)[1])
    if not power > 0:
        raise SymbolicError("a density that does not fall in its tail")
    speed = abs(arb(rates.base))
    polys = [acb_poly([acb(c) for c in side.coeffs()]) for side in (ratio.p, ratio.q)]

    def density(z: acb, log: acb) -> acb:
        more = power - 1
        return log.exp() * (z ** acb(more) if not more.is_zero() else 1) / speed

    def primitive(side: Any) -> Callable[[arb], arb]:
        parts = [c / ((power + k) * speed) for k, c in enumerate(side.coeffs())]

        def at(u: arb) -> arb:
            value = arb(0)
            for part in reversed(parts):
                value = value * u + part
            return value * u**power

        return at

    return _Stretch(
        ratio,
        density,
        lambda z, analytic: (polys[0](z).log(analytic), polys[1](z).log(analytic)),
        (primitive(ratio.p), primitive(ratio.q)),
    )


@dataclass(frozen=True, eq=False)
class SmoothCell(Cell):
    """A part of a stretch, from one coordinate to another; ``known`` are the primitives there."""

    stretch: _Stretch
    first: arb
    last: arb
    known: tuple[tuple[arb, arb], tuple[arb, arb]]

    @classmethod
    def on(
        cls,
        stretch: _Stretch,
        first: arb,
        last: arb,
        known: tuple[tuple[arb, arb], tuple[arb, arb]] | None = None,
    ) -> SmoothCell:
        """The part from first to last."""
        if known is None:
            p, q = stretch.primitives
            known = (p(first), q(first)), (p(last), q(last))
        box = first.union(last)
        logs = [stretch.ratio.log_around(box.mid(), box), stretch.ratio.log(box)]
        finite = [log for log in logs if log.is_finite()]
        if not finite:
            low, high = arb(0), arb("+inf")
        else:
            low = max((log.lower() for log in finite), key=float).exp().lower()
            high = min((log.upper() for log in finite), key=float).exp().upper()
        masses = [known[1][k] - known[0][k] for k in (0, 1)]
        return cls(masses[0], masses[1], low, high, stretch, first, last, known)

    def halves(self) -> tuple[Cell, Cell] | None:
        middle = ((self.first + self.last) / 2).mid()
        p, q = self.stretch.primitives
        between = p(middle), q(middle)
        return (
            SmoothCell.on(self.stretch, self.first, middle, (self.known[0], between)),
            SmoothCell.on(self.stretch, middle, self.last, (between, self.known[1])),
        )

    def power(self, order: arb) -> arb:
        def value(z: acb, analytic: bool) -> acb:
            p, q = self.stretch.logs(z, analytic)
            return self.stretch.density(z, p * order + q * (1 - order))

        integral = self._integral(value)
        return integral if integral.is_finite() else Cell.power(self, order)

    def log_moment(self, power: int) -> arb:
        def value(z: acb, analytic: bool) -> acb:
            p, q = self.stretch.logs(z, analytic)
            return self.stretch.density(z, p) * (p - q) ** power

        return self._integral(value)

    def _integral(self, value: Callable[[acb, bool], acb]) -> arb:
        integral = acb.integral(
            value, acb(self.first), acb(self.last), rel_tol=_SHARE, abs_tol=_LEAST
        )
        real: arb = integral.real
        return real
