"""Probabilities of conjunctions of linear constraints on independent noise, at a set precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
from flint import acb, arb, ctx, fmpq

from liptest.balls import precision, to_fmpq
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic import elimination as shapes
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic import quadrature as smooth
from liptest.symbolic.constraints import Cycle, Ranges, Tree, find_point, gather_parts
from liptest.symbolic.elimination import Moved, Shape, ratio, shape
from liptest.symbolic.exponential_polynomials import (
    Function,
    Piece,
    Rates,
    WholeRates,
    digit,
    from_list,
)
from liptest.symbolic.forms import Constraint
from liptest.symbolic.gumbel_orders import probability_of_order
from liptest.symbolic.noise import Noise, noise_law
from liptest.symbolic.paired_noise import PairedNoise, pair_noise
from liptest.symbolic.work import spend

_ZERO = fmpq(0)
_FEW = 12


def find_function(one: Shape) -> Function:
    """The density of a shape that is not smooth."""
    key = (one, ctx.prec)
    function = one.rates.functions.get(key)
    if function is None:
        function = one.rates.functions[key] = _MAKERS[one.kind](one.rates, *one.arguments)
    return cast(Function, function)


def find_integral(one: Shape) -> Any:
    """Over all t, at least at the precision that is set."""
    if one.total is None or one.total[0] < ctx.prec:
        exact = not one.is_smooth
        made = functions.total(one.rates, find_function(one)) if exact else _smooth_integral(one)
        one.total = ctx.prec, made
    return one.total[1]


def analytic_parts(one: Shape) -> list[smooth.QuadraturePiece]:
    """The density of a shape as analytic functions on pieces."""
    key = (one, ctx.prec, "parts")
    parts = one.rates.functions.get(key)
    if parts is None:
        parts = one.rates.functions[key] = _parts(one)
    return cast("list[smooth.QuadraturePiece]", parts)


def _parts(one: Shape) -> list[smooth.QuadraturePiece]:
    if not one.is_smooth:
        return smooth.from_pieces(one.rates, find_function(one))
    if one.kind == "density":
        return smooth.density_part(noise_law(one.arguments[0]))
    if one.kind == "reach":
        return smooth.reach_parts(*one.arguments)
    if one.kind == "stretching":
        raise AssertionError("smooth shapes are stretched where they are made")
    return smooth.product_parts([(analytic_parts(part), shift) for part, shift in one.arguments[0]])


def _smooth_integral(one: Shape) -> Any:
    factors = one.arguments[0] if one.kind == "product" else ((one, _ZERO),)
    ((noise, shift),) = (
        (part.arguments[0], shift) for part, shift in factors if part.kind == "density"
    )
    others = [(part, at) for part, at in factors if part.kind != "density"]
    if len(others) <= 1 and all(part.kind == "interval" for part, _ in others):
        ends = analytic_parts(others[0][0])[0][:2] if others else (None, None)
        at = others[0][1] - shift if others else _ZERO
        low, high = (None if end is None else acb(arb(end + at)) for end in ends)
        return smooth.between(noise_law(noise), low, high).real
    return smooth.noise_integral(analytic_parts(one), noise, shift)


def _density(rates: Rates, noise: Noise) -> Function:
    parameter = to_fmpq(noise.parameter)
    if rates.step:
        assert isinstance(rates, WholeRates)
        return _whole_density(rates, noise, parameter)
    if noise.family == "uniform":
        return functions.constant_on(rates, _ZERO, fmpq(1))
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
        return functions.constant_on(rates, at, at + 1)
    rate = digit(rates.ratios.index(to_fmpq(falls)))
    if not two_sided:
        terms = from_list(rates, iter([(0, rate, rates.number(parameter))]))
        return [Piece(fmpq(1), None, fmpq(1), terms)]
    mass = rates.number((1 - parameter) / (1 + parameter))
    up, down = (from_list(rates, iter([(0, exponent, mass)])) for exponent in (-rate, rate))
    return [Piece(None, _ZERO, _ZERO, up), Piece(_ZERO, None, _ZERO, down)]


def _interval(rates: Rates, kind: str, width: Any) -> Function:
    if kind == "below":
        return functions.constant_on(rates, None, _ZERO)
    return functions.constant_on(rates, _ZERO, None if kind == "above" else width)


def _product(rates: Rates, parts: tuple[Moved, ...]) -> Function:
    # Few at a time share the product of all but the last; many are multiplied by halves.
    middle = len(parts) - 1 if len(parts) <= _FEW else len(parts) // 2
    some, rest = parts[:middle], parts[middle:]
    last, shift = rest[0] if len(rest) == 1 else (shape("product", rates, rest), _ZERO)
    if len(some) == 1:
        first, first_shift = some[0]
    else:
        first, first_shift = shape("product", rates, some), _ZERO
    return functions.multiply_both(
        rates, find_function(first), first_shift, find_function(last), shift
    )


def _convolution(rates: Rates, one: Shape, other: Shape, factor: Any) -> Function:
    made = functions.convolve(rates, find_function(one), find_function(other))
    if factor == 1 or rates.step:
        return made
    return functions.enlarge(made, 1 / arb(factor))


def _stretching(rates: Rates, one: Shape, factor: Any, shift: Any) -> Function:
    return functions.stretch_function(rates, find_function(one), factor, shift)


_MAKERS: dict[str, Any] = {
    "density": _density,
    "interval": _interval,
    "product": _product,
    "convolution": _convolution,
    "stretching": _stretching,
}
_PRECISIONS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
#: Binary digits of each factor that are certain: a product of a thousand is known to 1e-13.
_ACCURACY = 56
#: Variables that are taken out of cycles one after the other.
_MOST_SPLITS = 4
# What an integral counts as work, beside pairs of inequalities.
_INTEGRAL = 5


class System:
    """Independent noise variables, by their numbers.

    Probabilities are those of the ideal laws: over the reals, not over floats.
    """

    __slots__ = ("noises",)

    def __init__(self, noises: Sequence[Noise]) -> None:
        self.noises = tuple(noises)

    def probability(self, constraints: Iterable[Constraint]) -> arb:
        """A ball that contains the probability that all constraints hold.

        Exactly 0 iff that is impossible (of measure 0 for continuous noise); else its relative
        radius is at most 1e-13. Raises UnsupportedForm and SymbolicError.
        """
        listed = list(constraints)
        with precision(_PRECISIONS[0]):
            of_order = probability_of_order(self.noises, listed)
        if of_order is not None and of_order.rel_accuracy_bits() >= _ACCURACY:
            return of_order
        noises, parts, _ = self._parts(listed)
        if parts is None:
            return arb(0)
        with precision(_PRECISIONS[0]):
            probability = arb(1)
            for part in parts:
                mass = _mass(noises, part)
                if mass.is_zero():
                    return mass
                probability *= mass
        return probability

    def is_possible(self, constraints: Iterable[Constraint]) -> bool:
        """Whether the probability is above 0. Raises UnsupportedForm."""
        return self._parts(constraints)[1] is not None

    def points_inside(
        self, constraints: Iterable[Constraint]
    ) -> Callable[[np.random.Generator], tuple[Fraction, ...]]:
        """Draws values of all variables, well inside all constraints; whole of discrete noise.

        Raises SymbolicError where the constraints are impossible.
        """
        noises, parts, paired = self._parts(constraints)
        if parts is None:
            raise SymbolicError("constraints that cannot hold have no point inside")

        def point(rng: np.random.Generator) -> tuple[Fraction, ...]:
            inside = find_point(noises, parts, rng)
            return inside if paired is None else paired.point(inside)

        return point

    def _parts(
        self, constraints: Iterable[Constraint]
    ) -> tuple[tuple[Noise, ...], list[Ranges] | None, PairedNoise | None]:
        """Independent parts that are possible, each with its ranges; None if impossible.

        What is not followed so is looked at with differences of geometric noise as one variable.
        """
        listed = list(constraints)
        try:
            return self.noises, gather_parts(self.noises, listed), None
        except UnsupportedForm:
            paired = pair_noise(self.noises, [constraint.terms for constraint in listed])
            if paired is None:
                raise
            fewer = [paired.constraint(constraint) for constraint in listed]
            return paired.noises, gather_parts(paired.noises, fewer), paired


def forget() -> None:
    """Empty all caches."""
    with precision(_PRECISIONS[0]):
        shapes.forget_shapes()
        shapes.forget_plans()


#: A sum of products of integrals, with signs, each of which may be such a sum itself.
Sum = list[tuple[int, list["shapes.Shape | Sum"]]]


def _mass(noises: tuple[Noise, ...], part: Ranges) -> arb:
    if shapes.is_crowded():
        shapes.forget_shapes()
    parts = _sum_up(noises, part, 0)
    for bits in _PRECISIONS:
        try:
            with precision(bits):
                mass = _evaluate(parts)
        except RecursionError:
            raise SymbolicError(
                f"{len(part.ranges)} constraints on sums of noise, each with one variable more, "
                f"are not integrated; compare sums of fewer variables"
            ) from None
        if mass.is_finite() and mass.rel_accuracy_bits() >= _ACCURACY:
            return mass
    raise SymbolicError(
        f"the probability of {len(part.ranges)} constraints is only known as {mass}: their "
        f"numbers are too large or too close to each other; rescale the noise"
    )


def _evaluate(parts: Sum) -> arb:
    total = arb(0)
    for sign, factors in parts:
        product = arb(sign)
        spend(_INTEGRAL * len(factors))
        for factor in factors:
            product *= _evaluate(factor) if isinstance(factor, list) else find_integral(factor)
        total += product
    return total


def _sum_up(noises: tuple[Noise, ...], part: Ranges, depth: int) -> Sum:
    if isinstance(part, Tree):
        rates = shapes.find_rates(frozenset(noises[variable] for variable in part.variables))
        return [(1, list(find_totals(noises, part, rates)))]
    if not isinstance(part, Cycle) or depth >= _MOST_SPLITS:
        raise UnsupportedForm("many sums of the same noise variables are compared in cycles")
    return [
        (sign, [_sum_up(noises, piece, depth + 1) for piece in parts])
        for sign, parts in part.split(noises)
    ]


def find_totals(noises: tuple[Noise, ...], part: Tree, rates: Rates) -> list[shapes.Shape]:
    """Shapes whose integrals multiply to the probability."""
    factors: dict[shapes.Key, list[shapes.Moved]] = {
        form: [shapes.interval(rates, *ends)] for form, ends in part.half_open()
    }
    totals = []
    for step in part.steps:
        own = [(shapes.variable_density(rates, noises[step.variable]), _ZERO_PROBABILITY)]
        inner = shapes.multiply_shapes(own + factors.pop(step.alone, []))
        if step.outer is None:
            totals.append(inner[0])
            continue
        left = shapes.convolution(
            inner, step.factor, shapes.multiply_shapes(factors.pop(step.outer))
        )
        factors.setdefault(step.after, []).append(shapes.stretch_shape(left, step.scale))
    return totals


_ZERO_PROBABILITY = to_fmpq(Fraction(0))
