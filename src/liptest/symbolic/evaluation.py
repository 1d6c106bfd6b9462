"""What shapes come to: functions, integrals, at the precision that is set."""

from __future__ import annotations

from typing import Any, cast

from flint import acb, arb, ctx, fmpq

from liptest.symbolic import functions, smooth
from liptest.symbolic.functions import Function, Piece
from liptest.symbolic.noise import Noise
from liptest.symbolic.rates import Rates, WholeRates, digit
from liptest.symbolic.shapes import Moved, Shape, ratio, rational, shape
from liptest.symbolic.terms import from_list

_ZERO = fmpq(0)
_FEW = 12


def function_of(one: Shape) -> Function:
    """Of a shape that is not smooth."""
    key = (one, ctx.prec)
    found = one.rates.functions.get(key)
    if found is None:
        found = one.rates.functions[key] = _MAKERS[one.kind](one.rates, *one.arguments)
    return cast(Function, found)


def integral_of(one: Shape) -> Any:
    """Over all t, at least at the precision that is set."""
    if one.total is None or one.total[0] < ctx.prec:
        exact = not one.is_smooth
        made = functions.total(one.rates, function_of(one)) if exact else _smooth_integral(one)
        one.total = ctx.prec, made
    return one.total[1]


def parts_of(one: Shape) -> list[smooth.Part]:
    """As analytic functions on pieces."""
    key = (one, ctx.prec, "parts")
    found = one.rates.functions.get(key)
    if found is None:
        found = one.rates.functions[key] = _parts(one)
    return cast("list[smooth.Part]", found)


def _parts(one: Shape) -> list[smooth.Part]:
    if not one.is_smooth:
        return smooth.from_pieces(one.rates, function_of(one))
    if one.kind == "density":
        return smooth.density_part(smooth.law_of(one.arguments[0]))
    if one.kind == "reach":
        return smooth.reach_parts(*one.arguments)
    if one.kind == "stretching":
        raise AssertionError("smooth shapes are stretched where they are made")
    return smooth.product_parts([(parts_of(part), shift) for part, shift in one.arguments[0]])


def _smooth_integral(one: Shape) -> Any:
    factors = one.arguments[0] if one.kind == "product" else ((one, _ZERO),)
    ((noise, shift),) = (
        (part.arguments[0], shift) for part, shift in factors if part.kind == "density"
    )
    others = [(part, at) for part, at in factors if part.kind != "density"]
    if len(others) <= 1 and all(part.kind == "interval" for part, _ in others):
        ends = parts_of(others[0][0])[0][:2] if others else (None, None)
        at = others[0][1] - shift if others else _ZERO
        low, high = (None if end is None else acb(arb(end + at)) for end in ends)
        return smooth.between(smooth.law_of(noise), low, high).real
    return smooth.integral(parts_of(one), noise, shift)


def _density(rates: Rates, noise: Noise) -> Function:
    parameter = rational(noise.parameter)
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
    falls = ratio(noise)
    two_sided = noise.family == "two-sided geometric"
    if falls == 0:
        at = _ZERO if two_sided else fmpq(1)
        return functions.constant(at, at + 1)
    rate = digit(rates.ratios.index(rational(falls)))
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
    # Few at a time share the product of all but the last; many are multiplied by halves.
    middle = len(parts) - 1 if len(parts) <= _FEW else len(parts) // 2
    some, rest = parts[:middle], parts[middle:]
    last, shift = rest[0] if len(rest) == 1 else (shape("product", rates, rest), _ZERO)
    if len(some) == 1:
        first, first_shift = some[0]
    else:
        first, first_shift = shape("product", rates, some), _ZERO
    return functions.multiplied(rates, function_of(first), first_shift, function_of(last), shift)


def _convolution(rates: Rates, one: Shape, other: Shape, factor: Any) -> Function:
    made = functions.convolved(rates, function_of(one), function_of(other))
    if factor == 1 or rates.step:
        return made
    return functions.enlarged(made, 1 / arb(factor))


def _stretching(rates: Rates, one: Shape, factor: Any, shift: Any) -> Function:
    return functions.stretched(rates, function_of(one), factor, shift)


_MAKERS: dict[str, Any] = {
    "density": _density,
    "interval": _interval,
    "product": _product,
    "convolution": _convolution,
    "stretching": _stretching,
}
