"""The law of one whole number of an output: exact in pieces, or of rounded continuous noise.

Both kinds answer the same: the mass of a span, the quotient of two laws over all numbers, and what
one law has beyond a multiple of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from flint import arb, fmpq

from liptest.balls import to_fmpq
from liptest.enumerate.numbers.boxes import Box, Ends
from liptest.enumerate.numbers.whole_outputs import WholeLeaf, WholePlace
from liptest.errors import UnsupportedForm
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.elimination import find_rates, normalise
from liptest.symbolic.exponential_polynomials import ExactRates, Function
from liptest.symbolic.forms import Constraint, Form, Terms
from liptest.symbolic.free_sums import exact_mass, independent_groups, law_of_sum
from liptest.symbolic.noise import EXPONENTIAL, Noise
from liptest.symbolic.paired_noise import pair_noise
from liptest.symbolic.probability import System
from liptest.symbolic.rounded_comparison import find_rounded_excess, find_rounded_extremes
from liptest.symbolic.rounded_laws import (
    NoiseSource,
    NoiseSum,
    OneNoise,
    RoundedLaw,
    RoundedPart,
    make_mixture,
)
from liptest.symbolic.whole_laws import (
    QuotientExtremes,
    WholeExcess,
    WholeMasses,
    find_excess,
    quotient_extremes,
    tail_mass,
)

# Beyond it numbers are not looked at exactly.
_NEAR = 1 << 12
# Which part of a cell lies below the whole number that a sum in it is rounded to.
_BELOW = {"rint": Fraction(1, 2), "floor": Fraction(0), "ceil": Fraction(1)}


@dataclass(frozen=True)
class ExactLaw:
    """A function in pieces with rational coefficients."""

    rates: ExactRates
    function: Function

    def total(self) -> Any:
        """The probability of all numbers together."""
        return functions.total(self.rates, self.function)

    def enlarge_by(self, factor: Any) -> ExactLaw | RoundedLaw:
        """All masses times a factor."""
        if isinstance(factor, arb):
            return self.rounded().enlarge_by(factor)
        return ExactLaw(self.rates, functions.enlarge(self.function, factor))

    def mass(self, first: int | None, end: int | None) -> arb:
        """Of the numbers from ``first`` on, before ``end``."""
        return tail_mass(self.rates, self.function, first, end)

    def probability(self, number: int) -> arb:
        """Of one number; exactly 0 where it is."""
        if abs(number) < _NEAR:
            return arb(self._masses.at(number))
        return self._masses.near(number)

    @cached_property
    def _masses(self) -> WholeMasses:
        return WholeMasses(self.rates, self.function)

    @property
    def span(self) -> Ends:
        """From which number on, and before which one, it has numbers."""
        lows, highs = zip(*((piece.low, piece.high) for piece in self.function), strict=True)
        return None if None in lows else min(lows), None if None in highs else max(highs)

    def some_number(self) -> int:
        """One that it has."""
        piece = self.function[0]
        end = piece.high - 1 if piece.low is None else piece.low
        return int(end.p)

    def rounded(self) -> RoundedLaw:
        """The same where it has one number only."""
        if any(
            piece.low is None or piece.high is None or piece.high - piece.low != 1
            for piece in self.function
        ):
            raise UnsupportedForm("whole numbers with discrete noise beside rounded ones")
        numbers = [int(piece.low.p) for piece in self.function]
        return RoundedLaw([], {number: self.probability(number) for number in numbers})


NumberLaw = ExactLaw | RoundedLaw


def add_numbers(laws: list[NumberLaw]) -> NumberLaw:
    """All masses added."""
    exact = [law for law in laws if isinstance(law, ExactLaw)]
    if len(exact) < len(laws):
        return make_mixture([as_rounded(law) for law in laws])
    rates = exact[0].rates
    return ExactLaw(rates, functions.add_functions(rates, [law.function for law in exact]))


def number_extremes(above: NumberLaw, below: NumberLaw) -> QuotientExtremes:
    """Of the quotient of two laws over all numbers where one of them is not 0."""
    if isinstance(above, ExactLaw) and isinstance(below, ExactLaw):
        return quotient_extremes(above.rates, above.function, below.function)
    return find_rounded_extremes(as_rounded(above), as_rounded(below))


def number_excess(above: NumberLaw, below: NumberLaw, factor: arb) -> WholeExcess:
    """Of one law over ``factor`` times another, over all whole numbers."""
    if isinstance(above, ExactLaw) and isinstance(below, ExactLaw):
        return find_excess(above.rates, above.function, below.function, factor)
    return find_rounded_excess(as_rounded(above), as_rounded(below), factor)


def as_rounded(law: NumberLaw) -> RoundedLaw:
    """The law as a mixture of parts and of single numbers."""
    return law.rounded() if isinstance(law, ExactLaw) else law


@dataclass(frozen=True)
class Way:
    """A leaf: independent numbers, each with its law, and the mass of what is apart from them."""

    weight: Any
    numbers: tuple[NumberLaw, ...]

    @property
    def box(self) -> Box | None:
        """Between which ends its numbers lie; None of rounded ones, whose ends are in a cell."""
        exact = [number for number in self.numbers if isinstance(number, ExactLaw)]
        return tuple(one.span for one in exact) if len(exact) == len(self.numbers) else None


def find_way(rates: ExactRates, leaf: WholeLeaf) -> Way:
    """The numbers of a leaf; UnsupportedForm where they depend on each other, or are not followed.

    ``rates`` are those of all discrete noise.
    """
    leaf = _with_pairs(leaf)
    weight = to_fmpq(leaf.weight)
    sums = [place.form.terms for place in leaf.places]
    groups = independent_groups([*(constraint.terms for constraint in leaf.constraints), *sums])
    numbers: dict[int, NumberLaw] = {}
    for group in filter(None, groups):
        inside = [constraint for constraint in leaf.constraints if constraint.terms[0][0] in group]
        sums_of_group = [k for k, terms in enumerate(sums) if terms and terms[0][0] in group]
        discrete = {leaf.noises[variable].is_discrete for variable in group}
        if len(discrete) > 1:
            raise UnsupportedForm("sums of discrete and continuous noise")
        if len(sums_of_group) > 1:
            raise UnsupportedForm("several whole numbers of an output that depend on each other")
        if not sums_of_group:
            own_mass = partial(exact_mass, rates=rates) if discrete == {True} else _ball_mass
            weight = weight * own_mass(leaf.noises, inside)
            continue
        place = leaf.places[sums_of_group[0]]
        made = _exact if discrete == {True} else _round
        numbers[sums_of_group[0]] = made(rates, leaf.noises, inside, place)
    for k, place in enumerate(leaf.places):
        if k not in numbers:
            at = fmpq(int(place.form.constant) * place.sign + place.shift)
            numbers[k] = ExactLaw(rates, functions.constant_on(rates, at, at + 1))
    return Way(weight, tuple(numbers[k] for k in range(len(leaf.places))))


def _ball_mass(noises: tuple[Noise, ...], inside: list[Constraint]) -> arb:
    return System(noises).probability(inside)


def _with_pairs(leaf: WholeLeaf) -> WholeLeaf:
    """The same leaf with differences of geometric noise as one variable, where they are."""
    sums = [place.form.terms for place in leaf.places]
    paired = pair_noise(
        leaf.noises, [*(constraint.terms for constraint in leaf.constraints), *sums]
    )
    if paired is None:
        return leaf
    forms = [Form(place.form.constant, paired.terms(place.form.terms)) for place in leaf.places]
    return replace(
        leaf,
        noises=paired.noises,
        constraints=tuple(map(paired.constraint, leaf.constraints)),
        places=tuple(
            replace(place, form=form) for place, form in zip(leaf.places, forms, strict=True)
        ),
    )


def _exact(
    rates: ExactRates, noises: tuple[Noise, ...], inside: list[Constraint], place: WholePlace
) -> NumberLaw:
    """The law of m = sign * (v + constant) + shift, where v is the sum of the noise."""
    if place.how != "exact":
        raise UnsupportedForm("a rounded sum of discrete noise")
    made = law_of_sum(noises, inside, place.form.terms, rates)
    sign, constant = fmpq(place.sign), int(place.form.constant)
    # v = sign * m - (sign * shift + constant)
    moved = fmpq(place.sign * place.shift + constant)
    return ExactLaw(rates, functions.stretch_function(rates, made, sign, moved))


def _round(
    _: ExactRates, noises: tuple[Noise, ...], inside: list[Constraint], place: WholePlace
) -> NumberLaw:
    """The law of m where m <= U < m + 1 for U = sign * (v + constant) + what rounding adds."""
    below = _BELOW[place.how]
    at = place.sign * Fraction(place.form.constant) + place.shift
    at += below if place.sign > 0 else 1 - below
    terms = tuple((variable, factor * place.sign) for variable, factor in place.form.terms)
    cut = _cut(terms, inside)
    constraints = inside if cut is None else []
    source = _source(noises, constraints, terms)
    low, high = (None, None) if cut is None else cut
    ends = (None if end is None else to_fmpq(end + at) for end in (low, high))
    return RoundedLaw([RoundedPart(arb(1), source, to_fmpq(at), *ends)], {})


def _cut(terms: Terms, inside: list[Constraint]) -> tuple[Fraction | None, Fraction | None] | None:
    """Between which two numbers the sum lies, where no more is known; None where more is."""
    form, scale = normalise(terms, False)
    low: Fraction | None = None
    high: Fraction | None = None
    for constraint in inside:
        if constraint.terms != form:
            return None
        ends = [
            None if end is None else end * Fraction(scale)
            for end in (constraint.low, constraint.high)
        ]
        first, last = ends if scale > 0 else ends[::-1]
        low = first if low is None else low if first is None else max(low, first)
        high = last if high is None else high if last is None else min(high, last)
    return low, high


def _source(noises: tuple[Noise, ...], known: list[Constraint], terms: Terms) -> NoiseSource:
    if len(terms) == 1 and not known:
        ((variable, factor),) = terms
        return OneNoise(noises[variable], to_fmpq(factor))
    used = {variable for constraint in known for variable, _ in constraint.terms}
    used |= {variable for variable, _ in terms}
    if any(noises[variable].family not in EXPONENTIAL for variable in used):
        raise UnsupportedForm("sums of noise whose densities are not made of exponentials, rounded")
    rates = find_rates(frozenset(noises[variable] for variable in used))
    law = law_of_sum(noises, known, terms, rates)
    if not law:
        raise UnsupportedForm("a rounded sum that has no law")
    if known:
        return NoiseSum(rates, law, None, (None, None))
    parts = sorted(
        (OneNoise(noises[number], to_fmpq(factor)) for number, factor in terms), key=_order
    )
    tails = tuple(_slowest(parts, direction) for direction in (-1, 1))
    return NoiseSum(rates, law, tuple(part.key for part in parts), (tails[0], tails[1]))


def _order(part: OneNoise) -> str:
    return repr(part.key)


def _slowest(parts: list[OneNoise], direction: int) -> Any:
    """The rate of the sum: the smallest one of those without an end in that direction."""
    open_ = [part for part in parts if part.support[direction > 0] is None]
    return min((part.rate(direction) for part in open_), default=None)
