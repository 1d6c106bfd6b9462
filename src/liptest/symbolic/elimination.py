"""In which order variables are eliminated, and shapes: what is computed on the way.

Shapes are expressions that forget variable numbers and locations.

A shape is a function of one variable up to a translation. Equal shapes are one object, so what is
computed of one serves every leaf and every dataset in which it occurs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, cast

from flint import fmpq

from liptest.balls import to_fmpq
from liptest.errors import UnsupportedForm
from liptest.symbolic.exponential_polynomials import (
    ExactRates,
    Rates,
    WholeRates,
    common_base,
)
from liptest.symbolic.forms import Rational, Terms, lean
from liptest.symbolic.noise import Law, Noise, Range, noise_law

# In which order variables are eliminated: decided by the forms alone, so remembered.
#
# A variable can be eliminated where all forms that it occurs in, beside itself alone, are one
# form: what is left is a function of the rest of that form, which is a form again. Trees always
# end; so do sums of variables that occur in one combination, and sums that grow by one variable at
# a time.


#: (variable, factor); over the reals the first factor is 1, else they are whole without a common
#: divisor, the first above 0.
Key = Terms


class EliminationStep(NamedTuple):
    """Eliminate ``variable`` from the form ``outer`` (None: it is alone), where it has ``factor``.

    What is left is ``rest``, which is ``scale`` times the form ``after``.
    """

    variable: int
    alone: Key
    outer: Key | None
    factor: Any
    after: Key
    scale: Any


def normalise(terms: Key, whole: bool) -> tuple[Key, Rational]:
    """(form, scale) with terms = scale * form."""
    scale = terms[0][1]
    if whole:
        size = Fraction(
            math.gcd(*(factor.numerator for _, factor in terms)),
            math.lcm(*(factor.denominator for _, factor in terms)),
        )
        scale = size if scale > 0 else -size
    if scale == 1:
        return terms, scale
    size = Fraction(scale)
    return tuple((variable, lean(factor / size)) for variable, factor in terms), scale


_PLANS: dict[Any, tuple[EliminationStep, ...] | None] = {}
MOST_PLANS = 100_000


def plan_elimination(
    forms: frozenset[Key],
    whole: bool,
    root: int | None = None,
    *,
    smooth: frozenset[int] = frozenset(),
) -> tuple[EliminationStep, ...] | None:
    """The steps for connected forms, ``root`` the last, or None where there is no such order.

    Of the variables of one form those are next to each other that are ``smooth``, or that are not.
    """
    key = forms, whole, root, smooth
    if key not in _PLANS:
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        _PLANS[key] = _plan(forms, whole, root, smooth)
    return _PLANS[key]


def forget_plans() -> None:
    """Keep no plan."""
    _PLANS.clear()


def _plan(
    forms: frozenset[Key], whole: bool, root: int | None, smooth: frozenset[int]
) -> tuple[EliminationStep, ...] | None:
    around: dict[int, set[Key]] = {}
    for form in forms:
        _enter(around, form)
    busy = {variable: len(some) for variable, some in around.items()}
    alike = {variable: _alike(variable, some, smooth) for variable, some in around.items()}
    steps: list[EliminationStep] = []
    while around:
        free = [
            variable
            for variable, some in around.items()
            if _is_free(variable, some, whole) and (variable != root or len(around) == 1)
        ]
        if not free:
            return None
        # Centres last: of two ends of one edge the less busy one, or that which was drawn later.
        leaf = min(
            free,
            key=lambda variable: (
                _weight(variable, around),
                busy[variable],
                -alike[variable],
                -variable,
            ),
        )
        step = _step(leaf, around.pop(leaf), whole)
        steps.append(step)
        if step.outer is not None:
            for variable, _ in step.after:
                around[variable].discard(step.outer)
            _enter(around, step.after)
    return tuple(steps)


def _enter(around: dict[int, set[Key]], form: Key) -> None:
    """Note a form at its variables, unless it is one variable alone."""
    for variable, _ in form:
        some = around.setdefault(variable, set())
        if len(form) > 1:
            some.add(form)


def _is_free(variable: int, around: set[Key], whole: bool) -> bool:
    if len(around) > 1:
        return False
    return not whole or all(abs(_factor(form, variable)) == 1 for form in around)


def _alike(variable: int, around: set[Key], smooth: frozenset[int]) -> int:
    """How many variables that it is summed with are as smooth; the fewer are left for later."""
    if not smooth:
        return 0
    kind = variable in smooth
    return sum((v in smooth) is kind for form in around for v, _ in form)


def _weight(variable: int, around: dict[int, set[Key]]) -> int:
    """How many forms the other variables of a leaf's form are in: leaves of busy ones first."""
    if not around[variable]:
        return 1
    (form,) = around[variable]
    return -max(len(around[v]) for v, _ in form if v in around)


def _factor(form: Key, variable: int) -> Rational:
    return next(factor for v, factor in form if v == variable)


def _step(variable: int, around: set[Key], whole: bool) -> EliminationStep:
    alone: Key = ((variable, 1),)
    if not around:
        return EliminationStep(variable, alone, None, None, (), None)
    (outer,) = around
    rest = tuple(term for term in outer if term[0] != variable)
    after, scale = normalise(rest, whole)
    return EliminationStep(
        variable, alone, outer, to_fmpq(_factor(outer, variable)), after, to_fmpq(scale)
    )


def components(forms: Iterable[Key]) -> list[list[Key]]:
    """Forms that share no variable are independent."""
    groups: list[tuple[set[int], list[Key]]] = []
    for form in forms:
        variables, members = {variable for variable, _ in form}, [form]
        apart = []
        for group in groups:
            if group[0].isdisjoint(variables):
                apart.append(group)
            else:
                variables |= group[0]
                members += group[1]
        groups = [*apart, (variables, members)]
    return [members for _, members in groups]


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
    parts = (part for part, _ in arguments[0]) if kind == "product" else arguments
    return kind == "reach" or any(isinstance(part, Shape) and part.is_smooth for part in parts)


#: A shape moved up.
Moved = tuple[Shape, Any]
_SHAPES: dict[Any, Shape] = {}
_RATES: dict[Any, Rates] = {}


def forget_shapes() -> None:
    """Keep no shape and nothing that was computed."""
    _SHAPES.clear()
    for rates in _RATES.values():
        rates.clear()
    _RATES.clear()


def shape(kind: str, rates: Rates, *arguments: Any) -> Shape:
    """The one shape of its kind and arguments."""
    key = (kind, rates, _hash(arguments))
    cached = _SHAPES.get(key)
    if cached is None:
        cached = _SHAPES[key] = Shape(kind, rates, arguments, len(_SHAPES))
    return cached


def _hash(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with what hashes fast; each kind has numbers in places of their own."""
    return tuple(
        [
            (argument.p, argument.q)
            if type(argument) is fmpq
            else _hash(argument)
            if type(argument) is tuple
            else argument
            for argument in arguments
        ]
    )


def is_crowded() -> bool:
    """Whether there are so many shapes that they should be forgotten."""
    return len(_SHAPES) > MOST_SHAPES


def exact_rates(noises: Iterable[Noise]) -> ExactRates:
    """How functions of discrete noise are written down with rational coefficients."""
    key = "exact", tuple(sorted({q for q in map(ratio, noises) if q != 0}))
    if key not in _RATES:
        _RATES[key] = ExactRates(key[1])
    return cast(ExactRates, _RATES[key])


def find_rates(noises: frozenset[Noise]) -> Rates:
    """How functions of these are written down."""
    rates = _RATES.get(noises)
    if rates is None:
        key: Any
        if any(noise.is_discrete for noise in noises):
            key = tuple(sorted({q for q in map(ratio, noises) if q != 0}))
            made: type[Rates] | type[WholeRates] = WholeRates
        else:
            key = common_base(to_fmpq(1 / n.parameter) for n in noises if n.family in _WITH_RATES)
            made = Rates
        if key not in _RATES:
            _RATES[key] = made(key)
        rates = _RATES[noises] = _RATES[key]
    return rates


def ratio(noise: Noise) -> Fraction:
    """By which probabilities of discrete noise fall.

    Raises UnsupportedForm for rounded noise, of which only the price of a shift is known.
    """
    if noise.family not in ("geometric", "two-sided geometric"):
        raise UnsupportedForm(f"{noise.family} noise has no law here")
    return noise.parameter if noise.family == "two-sided geometric" else 1 - noise.parameter


def variable_density(rates: Rates, noise: Noise) -> Shape:
    """The density of a variable, or its probabilities."""
    return shape("density", rates, noise)


def interval(rates: Rates, low: Any, high: Any) -> Moved:
    """1 on [low, high), None infinite, not both."""
    if low is None:
        return shape("interval", rates, "below", _ZERO), high
    if high is None:
        return shape("interval", rates, "above", _ZERO), low
    return shape("interval", rates, "between", high - low), low


def multiply_shapes(factors: list[Moved]) -> Moved:
    """The product of all factors, which are at least one."""
    flat: list[Moved] = []
    for factor, shift in factors:
        if factor.kind == "product":
            flat += [(part, inner + shift) for part, inner in factor.arguments[0]]
        else:
            flat.append((factor, shift))
    if len(flat) == 1:
        return flat[0]
    base = min(shift for _, shift in flat)
    parts = sorted(((factor, shift - base) for factor, shift in flat), key=_order)
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


def stretch_shape(one: Moved, factor: Any) -> Moved:
    """t -> one(factor * t)."""
    inner, shift = one
    if factor == 1:
        return one
    if inner.kind == "reach":
        return _rescale(one, factor)
    if factor == -1:
        return _mirror(inner, shift)
    if not inner.rates.step or abs(factor) == 1:
        return stretching(inner, factor), shift / factor
    return stretching(inner, factor, shift), _ZERO


def _mirror(one: Shape, shift: Any) -> Moved:
    """t -> one(-t - shift), with densities mirrored where it is made of several."""
    if one.kind == "interval":
        kind, width = one.arguments
        ends = {"below": (None, _ZERO), "above": (_ZERO, None)}.get(kind, (_ZERO, width))
        low, high = (None if end is None else one.rates.step - end - shift for end in ends)
        return interval(one.rates, high, low)
    if one.kind == "product":
        return multiply_shapes([_mirror(part, inner + shift) for part, inner in one.arguments[0]])
    if one.kind == "convolution":
        (left, at), (right, other_at) = (_mirror(part, _ZERO) for part in one.arguments[:2])
        convolved = _convolution(left, right, one.arguments[2])
        return convolved, at + other_at - shift
    return stretching(one, fmpq(-1)), -shift


def reaching(x: Moved, factor: Any, outer: Moved) -> Moved:
    """l -> P(x in its range, factor * x + l in an interval), for smooth noise x."""
    law, own = _smooth_law(x[0], x[1])
    inner, shift = outer
    if inner.kind == "reach" and law[0] == "normal" and own == (None, None):
        # The sum of two normal variables is one.
        inner_law, known_own, known_factor, inside = inner.arguments
        if inner_law[0] == "normal" and known_own == (None, None):
            variance = law[1] * factor**2 + inner_law[1] * known_factor**2
            return _reach(inner.rates, (("normal", variance), own, fmpq(1), inside), shift)
    if inner.kind != "interval":
        raise UnsupportedForm("sums of several variables, not all normal, or chains of four")
    kind, width = inner.arguments
    inside = {"below": (None, _ZERO), "above": (_ZERO, None)}.get(kind, (_ZERO, width))
    return _reach(inner.rates, (law, own, factor, inside), shift)


def _reach(rates: Rates, arguments: tuple[Any, ...], shift: Any) -> Moved:
    return shape("reach", rates, *arguments), shift


def _smooth_law(one: Shape, shift: Any) -> tuple[Law, Range]:
    parts = one.arguments[0] if one.kind == "product" else ((one, _ZERO),)
    if any(part.kind not in ("density", "interval") for part, _ in parts):
        raise UnsupportedForm("chains of four or more variables, not all of them Laplace,")
    own: Range = (None, None)
    law: Law | None = None
    for part, inner in parts:
        if part.kind == "density":
            law = noise_law(part.arguments[0])
        else:
            kind, width = part.arguments
            at = inner + shift
            own = (None, at) if kind == "below" else (at, None if kind == "above" else at + width)
    assert law is not None
    return law, own


def _rescale(one: Moved, scale: Any) -> Moved:
    """P(factor * x + scale * l in inside), with the factor of l made 1."""
    inner, shift = one
    law, own, factor, inside = inner.arguments
    ends = tuple(None if end is None else end / scale for end in inside)
    ends = ends if scale > 0 else ends[::-1]
    lowest = next(end for end in ends if end is not None)
    ends = tuple(None if end is None else end - lowest for end in ends)
    return _reach(inner.rates, (law, own, factor / scale, ends), shift / scale + lowest)
