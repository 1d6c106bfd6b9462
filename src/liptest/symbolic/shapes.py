"""What is to be computed, as expressions that forget variable numbers and locations.

A shape is a function of one variable up to a translation. Equal shapes are one object, so what is
computed of one serves every leaf and every dataset in which it occurs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from flint import fmpq

from liptest.errors import UnsupportedForm
from liptest.symbolic import smooth
from liptest.symbolic.noise import Noise
from liptest.symbolic.rates import Rates, WholeRates, common_base

#: Shapes that are kept before all are forgotten.
MOST_SHAPES = 30_000

_ZERO = fmpq(0)
_WITH_RATES = ("laplace", "exponential")


class Shape:
    """A function of one variable; ``rates`` says how it is written down."""

    __slots__ = ("arguments", "is_smooth", "kind", "order", "rates", "total")

    def __init__(self, kind: str, rates: Rates, arguments: tuple[Any, ...], order: int) -> None:
        self.kind = kind
        self.rates = rates
        self.arguments = arguments
        #: Its place among all shapes: a cheap order.
        self.order = order
        #: Its integral, once known, with the precision that it was computed at.
        self.total: tuple[int, Any] | None = None
        #: Whether quadrature is needed.
        self.is_smooth = _is_smooth(kind, arguments)


def _is_smooth(kind: str, arguments: tuple[Any, ...]) -> bool:
    if kind == "density":
        return bool(arguments[0].is_smooth)
    parts = (one for one, _ in arguments[0]) if kind == "product" else arguments
    return kind == "reach" or any(isinstance(one, Shape) and one.is_smooth for one in parts)


#: A shape moved up.
Moved = tuple[Shape, Any]

_SHAPES: dict[Any, Shape] = {}
_RATES: dict[Any, Rates] = {}


def forget() -> None:
    """Keep no shape and nothing that was computed."""
    _SHAPES.clear()
    for rates in _RATES.values():
        rates.clear()
    _RATES.clear()


def shape(kind: str, rates: Rates, *arguments: Any) -> Shape:
    """The one shape of its kind and arguments."""
    key = (kind, rates, _hashed(arguments))
    found = _SHAPES.get(key)
    if found is None:
        found = _SHAPES[key] = Shape(kind, rates, arguments, len(_SHAPES))
    return found


def _hashed(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with what hashes fast; each kind has numbers in places of their own."""
    return tuple(
        [
            (one.p, one.q) if type(one) is fmpq else _hashed(one) if type(one) is tuple else one
            for one in arguments
        ]
    )


def is_crowded() -> bool:
    """Whether there are so many shapes that they should be forgotten."""
    return len(_SHAPES) > MOST_SHAPES


def rates_of(noises: frozenset[Noise]) -> Rates:
    """How functions of these are written down."""
    found = _RATES.get(noises)
    if found is None:
        key: Any
        if any(noise.is_discrete for noise in noises):
            key = tuple(sorted({q for q in map(ratio, noises) if q != 0}))
            made: type[Rates] | type[WholeRates] = WholeRates
        else:
            key = common_base(rational(1 / n.parameter) for n in noises if n.family in _WITH_RATES)
            made = Rates
        if key not in _RATES:
            _RATES[key] = made(key)
        found = _RATES[noises] = _RATES[key]
    return found


def ratio(noise: Noise) -> Fraction:
    """By which probabilities of discrete noise fall."""
    return noise.parameter if noise.family == "two-sided geometric" else 1 - noise.parameter


def rational(value: Any) -> Any:
    """A fraction as a number of the flint library."""
    return fmpq(value.numerator, value.denominator)


def density(rates: Rates, noise: Noise) -> Shape:
    """The density of a variable, or its probabilities."""
    return shape("density", rates, noise)


def interval(rates: Rates, low: Any, high: Any) -> Moved:
    """1 on [low, high), None infinite, not both."""
    if low is None:
        return shape("interval", rates, "below", _ZERO), high
    if high is None:
        return shape("interval", rates, "above", _ZERO), low
    return shape("interval", rates, "between", high - low), low


def product(factors: list[Moved]) -> Moved:
    """Of all, at least one."""
    flat: list[Moved] = []
    for one, shift in factors:
        if one.kind == "product":
            flat += [(part, inner + shift) for part, inner in one.arguments[0]]
        else:
            flat.append((one, shift))
    if len(flat) == 1:
        return flat[0]
    base = min(shift for _, shift in flat)
    parts = sorted(((one, shift - base) for one, shift in flat), key=_order)
    return shape("product", flat[0][0].rates, tuple(parts)), base


def _order(moved: Moved) -> Any:
    return moved[0].order, moved[1]


def convolution(x: Moved, factor: Any, outer: Moved) -> Moved:
    """l -> integral of x(t) outer(factor * t + l): what is left once t is integrated out.

    Raises UnsupportedForm where that would be an integral within an integral.
    """
    (one, shift), (other, other_shift) = x, outer
    if one.is_smooth or other.is_smooth:
        return reaching(x, factor, outer)
    mirrored = one if factor == -1 else stretching(one, -1 / factor)
    return _convolution(mirrored, other, abs(factor)), other_shift - factor * shift


def _convolution(left: Shape, right: Shape, factor: Any) -> Shape:
    return shape("convolution", left.rates, left, right, factor)


def stretching(one: Shape, factor: Any, shift: Any = _ZERO) -> Shape:
    """t -> one(factor * t - shift)."""
    if factor == -1 and shift == 0:
        if one.kind == "density" and one.arguments[0].is_symmetric:
            return one
        if one.kind == "stretching" and one.arguments[1:] == (-1, 0):
            return cast(Shape, one.arguments[0])
    return shape("stretching", one.rates, one, factor, shift)


def stretched(one: Moved, factor: Any) -> Moved:
    """t -> one(factor * t)."""
    inner, shift = one
    if factor == 1:
        return one
    if inner.kind == "reach":
        return _rescaled(one, factor)
    if factor == -1:
        return _mirrored(inner, shift)
    if not inner.rates.step or abs(factor) == 1:
        return stretching(inner, factor), shift / factor
    return stretching(inner, factor, shift), _ZERO


def _mirrored(one: Shape, shift: Any) -> Moved:
    """t -> one(-t - shift), with densities mirrored where it is made of several."""
    if one.kind == "interval":
        kind, width = one.arguments
        ends = {"below": (None, _ZERO), "above": (_ZERO, None)}.get(kind, (_ZERO, width))
        low, high = (None if end is None else one.rates.step - end - shift for end in ends)
        return interval(one.rates, high, low)
    if one.kind == "product":
        return product([_mirrored(part, inner + shift) for part, inner in one.arguments[0]])
    if one.kind == "convolution":
        (left, at), (right, other_at) = (_mirrored(part, _ZERO) for part in one.arguments[:2])
        found = _convolution(left, right, one.arguments[2])
        return found, at + other_at - shift
    return stretching(one, fmpq(-1)), -shift


def reaching(x: Moved, factor: Any, outer: Moved) -> Moved:
    """l -> P(x in its range, factor * x + l in an interval), for smooth noise x."""
    law, own = _smooth_law(x[0], x[1])
    inner, shift = outer
    if inner.kind == "reach" and law[0] == "normal" and own == (None, None):
        # The sum of two normal variables is one.
        known, known_own, known_factor, inside = inner.arguments
        if known[0] == "normal" and known_own == (None, None):
            variance = law[1] * factor**2 + known[1] * known_factor**2
            return _reach(inner.rates, (("normal", variance), own, fmpq(1), inside), shift)
    if inner.kind != "interval":
        raise UnsupportedForm("sums of several variables, not all normal, or chains of four")
    kind, width = inner.arguments
    inside = {"below": (None, _ZERO), "above": (_ZERO, None)}.get(kind, (_ZERO, width))
    return _reach(inner.rates, (law, own, factor, inside), shift)


def _reach(rates: Rates, arguments: tuple[Any, ...], shift: Any) -> Moved:
    return shape("reach", rates, *arguments), shift


def _smooth_law(one: Shape, shift: Any) -> tuple[smooth.Law, smooth.Range]:
    parts = one.arguments[0] if one.kind == "product" else ((one, _ZERO),)
    if any(part.kind not in ("density", "interval") for part, _ in parts):
        raise UnsupportedForm("chains of four or more variables, not all of them Laplace,")
    own: smooth.Range = (None, None)
    law: smooth.Law | None = None
    for part, inner in parts:
        if part.kind == "density":
            law = smooth.law_of(part.arguments[0])
        else:
            kind, width = part.arguments
            at = inner + shift
            own = (None, at) if kind == "below" else (at, None if kind == "above" else at + width)
    assert law is not None
    return law, own


def _rescaled(one: Moved, scale: Any) -> Moved:
    """P(factor * x + scale * l in inside), with the factor of l made 1."""
    inner, shift = one
    law, own, factor, inside = inner.arguments
    ends = tuple(None if end is None else end / scale for end in inside)
    ends = ends if scale > 0 else ends[::-1]
    lowest = next(end for end in ends if end is not None)
    ends = tuple(None if end is None else end - lowest for end in ends)
    return _reach(inner.rates, (law, own, factor / scale, ends), shift / scale + lowest)
