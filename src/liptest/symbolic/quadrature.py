"""Normal, Gumbel and logistic noise: integrals by quadrature whose error is bounded.

A function is analytic on pieces with exact ends. What lies further out than a radius has at most
the mass of the tails of one density, for all other factors are probabilities; it is added as a
ball. In between the integral is an enclosure (acb.integral of the flint library).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flint import acb, acb_poly, arb, ctx, fmpq

from liptest.balls import to_fmpq
from liptest.symbolic.exponential_polynomials import Rates
from liptest.symbolic.noise import Law, Noise, Range, noise_law

Analytic = Callable[[Any], Any]


class QuadraturePiece(NamedTuple):
    """A piece, in the variable of its function."""

    low: Any
    high: Any
    at: Analytic


def below(law: Law, z: Any) -> Any:
    """P(x <= z), analytic in z."""
    family, parameter = law
    if family == "normal":
        return (-z / arb(2 * parameter).sqrt()).erfc() / 2
    if family == "gumbel":
        return (-(-z / arb(parameter)).exp()).exp()
    return 1 / (1 + (-z / arb(parameter)).exp())


def above(law: Law, z: Any) -> Any:
    """P(x > z), analytic in z and precise where it is small."""
    if law[0] == "gumbel":
        return -(-(-z / arb(law[1])).exp()).expm1()
    return below(law, -z)


def between(law: Law, low: Any, high: Any) -> Any:
    """P(low < x < high), None infinite."""
    if low is None:
        return acb(1) if high is None else below(law, high)
    if high is None:
        return above(law, low)
    return above(law, low) - above(law, high)


def analytic_density(law: Law, z: Any) -> Any:
    """The density of a variable, analytic in z."""
    family, parameter = law
    if family == "normal":
        return (-z * z / arb(2 * parameter)).exp() / (arb.pi() * arb(2 * parameter)).sqrt()
    scaled = (-z / arb(parameter)).exp()
    if family == "gumbel":
        return scaled * (-scaled).exp() / arb(parameter)
    return scaled / (1 + scaled) ** 2 / arb(parameter)


def density_part(law: Law) -> list[QuadraturePiece]:
    """The density, on all numbers."""
    return [QuadraturePiece(None, None, lambda z: analytic_density(law, z))]


def reach_parts(law: Law, own: Range, factor: Any, inside: Range) -> list[QuadraturePiece]:
    """l -> P(x in own and factor * x + l in inside)."""
    turns = {
        end - factor * other
        for end in inside
        for other in own
        if end is not None and other is not None
    }
    cuts = [None, *sorted(turns), None]
    made = (_reach(law, own, factor, inside, cuts[i], cuts[i + 1]) for i in range(len(cuts) - 1))
    return [part for part in made if part is not None]


def _reach(
    law: Law, own: Range, factor: Any, inside: Range, low: Any, high: Any
) -> QuadraturePiece | None:
    middle = _middle(low, high)
    ends = inside if factor > 0 else inside[::-1]
    # Of the fixed end and the moving one, (end - l) / factor, that which counts on this piece.
    lower, upper = own
    moves = [False, False]
    if ends[0] is not None and (lower is None or (ends[0] - middle) / factor > lower):
        lower, moves[0] = ends[0], True
    if ends[1] is not None and (upper is None or (ends[1] - middle) / factor < upper):
        upper, moves[1] = ends[1], True
    fixed = [
        _at(end, moving, factor, middle) for end, moving in zip((lower, upper), moves, strict=True)
    ]
    if None not in fixed and fixed[0] >= fixed[1]:
        return None
    slope = arb(factor)

    def value(z: Any) -> Any:
        lowest = lower if lower is None else (arb(lower) - z) / slope if moves[0] else arb(lower)
        highest = upper if upper is None else (arb(upper) - z) / slope if moves[1] else arb(upper)
        return between(law, lowest, highest)

    return QuadraturePiece(low, high, value)


def _at(end: Any, moving: bool, factor: Any, place: Any) -> Any:
    return (end - place) / factor if moving and end is not None else end


def _middle(low: Any, high: Any) -> Any:
    if low is None:
        return fmpq(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def from_pieces(rates: Rates, function: Any) -> list[QuadraturePiece]:
    """Of a function whose pieces are exponentials and powers."""
    return [QuadraturePiece(piece.low, piece.high, _evaluate(rates, piece)) for piece in function]


def _evaluate(rates: Rates, piece: Any) -> Analytic:
    rows = [
        (power, arb(rates.rate(offset, low)), acb_poly([acb(c) for c in poly.coeffs()]))
        for (power, offset), (low, poly) in piece.terms.items()
    ]
    origin, base = arb(piece.origin), arb(rates.base)

    def value(z: Any) -> Any:
        place, total = z - origin, acb(0)
        growth = (place * base).exp()
        for power, rate, poly in rows:
            total += poly(growth) * (place * rate).exp() * (place**power if power else 1)
        return total

    return value


def product_parts(factors: list[tuple[list[QuadraturePiece], Any]]) -> list[QuadraturePiece]:
    """The product of functions, each moved up by a number."""
    products = [QuadraturePiece(None, None, lambda z: acb(1))]
    for parts, shift in factors:
        moved = [_move(part, shift) for part in parts]
        products = [
            both for product in products for other in moved if (both := _both(product, other))
        ]
    return products


def _move(part: QuadraturePiece, shift: Any) -> QuadraturePiece:
    low, high, at = part
    step = arb(shift)
    return QuadraturePiece(
        None if low is None else low + shift,
        None if high is None else high + shift,
        lambda z: at(z - step),
    )


def _both(one: QuadraturePiece, other: QuadraturePiece) -> QuadraturePiece | None:
    low = (
        one.low if other.low is None else other.low if one.low is None else max(one.low, other.low)
    )
    high = (
        one.high
        if other.high is None
        else other.high
        if one.high is None
        else min(one.high, other.high)
    )
    if low is not None and high is not None and low >= high:
        return None
    first, second = one.at, other.at
    return QuadraturePiece(low, high, lambda z: first(z) * second(z))


def tails(noise: Noise) -> tuple[Any, Any, Any]:
    """(low, high, mass): what lies outside has at most this mass, below 2**-precision or so."""
    digits = ctx.prec + 8
    scale = to_fmpq(noise.parameter)
    if noise.family == "uniform":
        return fmpq(0), fmpq(1), arb(0)
    size = fmpq(int(digits**0.5 * 1.2) + 1) if noise.family == "normal" else fmpq(digits * 7, 10)
    low, high = -size * scale, size * scale
    if noise.family == "exponential":
        return fmpq(0), high, arb(-size).exp()
    if noise.family == "laplace":
        return low, high, arb(-size).exp()
    law = noise_law(noise)
    if noise.family == "gumbel":
        low = -fmpq(int(digits).bit_length()) * scale
    return low, high, (below(law, acb(arb(low))) + above(law, acb(arb(high)))).real


def noise_integral(parts: list[QuadraturePiece], noise: Noise, shift: Any) -> Any:
    """The integral of a product, one factor of which is the density of noise moved by shift."""
    low, high, mass = tails(noise)
    low, high = low + shift, high + shift
    total = arb(0).union(mass)
    for part in parts:
        first = low if part.low is None else max(low, part.low)
        last = high if part.high is None else min(high, part.high)
        if first < last:
            total += _integrate(part.at, first, last)
    return total


def _integrate(at: Analytic, low: Any, high: Any) -> Any:
    made = acb.integral(
        lambda z, _: at(z),
        acb(arb(low)),
        acb(arb(high)),
        rel_tol=arb(2) ** -72,
        abs_tol=arb(2) ** -ctx.prec,
    )
    return made.real
