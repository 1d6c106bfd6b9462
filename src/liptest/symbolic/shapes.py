"""What is to be computed, as expressions that forget variable numbers and locations.

A shape is a function of one variable up to a translation. Equal shapes are one object, so what is
computed of one serves every leaf and every dataset in which it occurs.
"""

from __future__ import annotations

from typing import Any, cast

from flint import arb, ctx, fmpq

from liptest.symbolic import functions
from liptest.symbolic.functions import Function, Piece
from liptest.symbolic.noise import Noise
from liptest.symbolic.rates import Rates, WholeRates, common_base, digit
from liptest.symbolic.terms import from_list

#: Shapes that are kept before all are forgotten.
MOST_SHAPES = 200_000

_ZERO = fmpq(0)


class Shape:
    """A function of one variable; ``rates`` says how it is written down."""

    __slots__ = ("arguments", "kind", "order", "rates", "total")

    def __init__(self, kind: str, rates: Rates, arguments: tuple[Any, ...], order: int) -> None:
        self.kind = kind
        self.rates = rates
        self.arguments = arguments
        #: Its place among all shapes: a cheap order.
        self.order = order
        #: Its integral, once known, with the precision that it was computed at.
        self.total: tuple[int, Any] | None = None

    def function(self) -> Function:
        """At the precision that is set."""
        key = (self, ctx.prec)
        found = self.rates.functions.get(key)
        if found is None:
            found = self.rates.functions[key] = _MAKERS[self.kind](self.rates, *self.arguments)
        return cast(Function, found)

    def integral(self) -> Any:
        """Over all t, at least at the precision that is set."""
        if self.total is None or self.total[0] < ctx.prec:
            self.total = ctx.prec, functions.total(self.rates, self.function())
        return self.total[1]


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
    key = (kind, rates, arguments)
    found = _SHAPES.get(key)
    if found is None:
        found = _SHAPES[key] = Shape(kind, rates, arguments, len(_SHAPES))
    return found


def is_crowded() -> bool:
    """Whether there are so many shapes that they should be forgotten."""
    return len(_SHAPES) > MOST_SHAPES


def rates_of(noises: frozenset[Noise]) -> Rates:
    """How functions of these are written down."""
    found = _RATES.get(noises)
    if found is None:
        key: Any
        if any(noise.is_discrete for noise in noises):
            key = tuple(sorted({q for q in map(_ratio, noises) if q != 0}))
            made: type[Rates] | type[WholeRates] = WholeRates
        else:
            key = common_base(_rational(1 / n.parameter) for n in noises if n.family != "uniform")
            made = Rates
        if key not in _RATES:
            _RATES[key] = made(key)
        found = _RATES[noises] = _RATES[key]
    return found


def _ratio(noise: Noise) -> Any:
    return noise.parameter if noise.family == "two-sided geometric" else 1 - noise.parameter


def _rational(value: Any) -> Any:
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
    """l -> integral of x(t) outer(factor * t + l): what is left once t is integrated out."""
    (one, shift), (other, other_shift) = x, outer
    mirrored = one if factor == -1 else stretching(one, -1 / factor)
    found = shape("convolution", one.rates, mirrored, other, abs(factor))
    return found, other_shift - factor * shift


def stretching(one: Shape, factor: Any, shift: Any = _ZERO) -> Shape:
    """t -> one(factor * t - shift)."""
    if factor == -1 and shift == 0 and one.kind == "density" and one.arguments[0].is_symmetric:
        return one
    return shape("stretching", one.rates, one, factor, shift)


def stretched(one: Moved, factor: Any) -> Moved:
    """t -> one(factor * t)."""
    inner, shift = one
    if factor == 1:
        return one
    if not inner.rates.step or abs(factor) == 1:
        return stretching(inner, factor), shift / factor
    return stretching(inner, factor, shift), _ZERO


def _density(rates: Rates, noise: Noise) -> Function:
    parameter = _rational(noise.parameter)
    if rates.step:
        assert isinstance(rates, WholeRates)
        return _whole_density(rates, noise, parameter)
    if noise.family == "uniform":
        return functions.constant(_ZERO, fmpq(1))
    rate = 1 / parameter
    falling = Piece(_ZERO, None, _ZERO, from_list(rates, iter([(0, -rate, arb(rate))])))
    if noise.family == "exponential":
        return [falling]
    rising = from_list(rates, iter([(0, rate, arb(rate / 2))]))
    falling = falling._replace(terms=from_list(rates, iter([(0, -rate, arb(rate / 2))])))
    return [Piece(None, _ZERO, _ZERO, rising), falling]


def _whole_density(rates: WholeRates, noise: Noise, parameter: Any) -> Function:
    ratio = _ratio(noise)
    two_sided = noise.family == "two-sided geometric"
    if ratio == 0:
        at = _ZERO if two_sided else fmpq(1)
        return functions.constant(at, at + 1)
    rate = digit(rates.ratios.index(_rational(ratio)))
    if not two_sided:
        terms = from_list(rates, iter([(0, rate, arb(parameter))]))
        return [Piece(fmpq(1), None, fmpq(1), terms)]
    mass = arb((1 - parameter) / (1 + parameter))
    up, down = (from_list(rates, iter([(0, one, mass)])) for one in (-rate, rate))
    return [Piece(None, _ZERO, _ZERO, up), Piece(_ZERO, None, _ZERO, down)]


def _interval(rates: Rates, kind: str, width: Any) -> Function:
    if kind == "below":
        return functions.constant(None, _ZERO)
    return functions.constant(_ZERO, None if kind == "above" else width)


def _product(rates: Rates, parts: tuple[Moved, ...]) -> Function:
    *some, (last, shift) = parts
    if len(some) == 1:
        first, first_shift = some[0]
    else:
        first, first_shift = shape("product", rates, tuple(some)), _ZERO
    return functions.multiplied(rates, first.function(), first_shift, last.function(), shift)


def _convolution(rates: Rates, one: Shape, other: Shape, factor: Any) -> Function:
    made = functions.convolved(rates, one.function(), other.function())
    if factor == 1 or rates.step:
        return made
    return [piece._replace(terms=_times(piece.terms, 1 / arb(factor))) for piece in made]


def _times(terms: Any, factor: Any) -> Any:
    return {key: (low, poly * factor) for key, (low, poly) in terms.items()}


def _stretching(rates: Rates, one: Shape, factor: Any, shift: Any) -> Function:
    return functions.stretched(rates, one.function(), factor, shift)


_MAKERS: dict[str, Any] = {
    "density": _density,
    "interval": _interval,
    "product": _product,
    "convolution": _convolution,
    "stretching": _stretching,
}
