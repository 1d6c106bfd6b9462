"""Two laws with continuous outputs: the largest log ratio of their densities, exactly.

A law is a list of leaves: a description of the output with ``RealPlace`` in the place of each
number with noise, and the density of these numbers. Where every number is independent of the others
given the leaf, the density is a product, and so the extremes of the log ratio add up. Leaves of
one description add up where there is one number: the noisy maximum is such a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

from liptest.balls import to_fmpq, to_fraction
from liptest.enumerate.numbers.bells import FARTHER, Bell, bell_extremes
from liptest.enumerate.numbers.boxes import Box, Ends, InBox, are_told_apart
from liptest.enumerate.numbers.noise_outputs import DensityLeaf
from liptest.errors import BudgetError, LiptestError, UnsupportedForm
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction
from liptest.symbolic import elimination as shapes
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.densities import (
    Joint,
    RatioExtremes,
    extremes,
    find_density,
    in_terms_of,
    joint,
    without_bound,
)
from liptest.symbolic.exponential_polynomials import Rates
from liptest.symbolic.noise import EXPONENTIAL, Noise
from liptest.symbolic.probability import System

_LIGHT = range(1, 40)


@dataclass(frozen=True)
class Number:
    """One number of an output: factor * sum + constant, and what is known of the sum."""

    known: Joint
    factor: Fraction
    constant: Fraction

    @property
    def noise(self) -> Noise:
        """The law of its variable, where it is one; of a sum that of its narrowest part."""
        return min(self._parts)[2]

    @property
    def _parts(self) -> list[tuple[Fraction, int, Noise]]:
        terms = ((variable, abs(Fraction(factor))) for variable, factor in self.known.terms)
        noises = self.known.noises
        return [
            (noises[variable].parameter * size, variable, noises[variable])
            for variable, size in terms
        ]

    @property
    def scale(self) -> Fraction:
        """The size of its noise, with the sign where that matters."""
        sized = self.factor * min(self._parts)[0]
        return abs(sized) if self.noise.is_symmetric else sized

    def bell(self) -> Bell | None:
        """Its law, where it is normal noise of which at most an interval is known."""
        if self.noise.family != "normal" or len(self.known.terms) > 1:
            return None
        span = self.span()
        return None if span is None else Bell(self.constant, self.scale, *span)

    def span(self) -> Ends | None:
        """Between which ends it lies; None where more than that is known of its noise."""
        if self.known.part is None:
            return None, None
        ranges = list(self.known.part.ranges.items())
        if len(ranges) > 1 or ranges[0][0] != self.known.terms:
            return None
        low, high = (None if end is None else self._at(end) for end in ranges[0][1])
        return (low, high) if self.factor > 0 else (high, low)

    def _at(self, value: Any) -> Fraction:
        """The number where its variable has a value."""
        return self.factor * to_fraction(value) + self.constant

    def is_like(self, other: Number) -> bool:
        """Whether both have one law, seen from their descriptions."""
        if self.known.is_free and other.known.is_free:
            mine, its = (number.noise.family for number in (self, other))
            return (mine, self.scale, self.constant) == (its, other.scale, other.constant)
        return self == other

    @cached_property
    def description(self) -> tuple[Any, ...] | None:
        """Equal for equal laws of numbers, of whose own variable alone something is known."""
        part = self.known.part
        ranges: tuple[Any, ...] = ()
        if len(self.known.variables) > 1:
            return None
        if part is not None:
            ranges = tuple(
                (tuple(factor for _, factor in form), ends) for form, ends in part.half_open()
            )
        return self.noise, ranges, self.factor, self.constant

    def density(self, rates: Rates) -> functions.Function:
        """The density of the number, given the leaf."""
        made = find_density(self.known, rates)
        total = functions.total(rates, made)
        return functions.enlarge(in_terms_of(rates, made, self.factor, self.constant), 1 / total)


def are_free_normal(one: Number, other: Number) -> bool:
    """Whether both are normal noise of one scale, of which nothing more is known."""
    free = one.known.is_free and other.known.is_free
    return free and one.noise.family == other.noise.family == "normal" and one.scale == other.scale


@dataclass(frozen=True)
class Leaf:
    """A leaf with its probability."""

    leaf: DensityLeaf
    mass: arb

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Its numbers, independent of each other; UnsupportedForm where they are not."""
        leaf = self.leaf
        numbers = []
        for form in leaf.forms:
            terms, factor = shapes.normalise(form.terms, whole=False)
            joined = joint(leaf.noises, leaf.constraints, terms)
            assert joined is not None
            numbers.append(Number(joined, Fraction(factor), Fraction(form.constant)))
        several = [number.known.variables for number in numbers]
        if len(set().union(*several)) < sum(map(len, several)):
            raise UnsupportedForm("several numbers of an output that are compared together")
        return tuple(numbers)

    @cached_property
    def box(self) -> Box | None:
        """Between which ends its numbers lie; None where more than that is known of them."""
        try:
            spans = [number.span() for number in self.numbers]
        except UnsupportedForm:
            return None
        known = [span for span in spans if span is not None]
        return tuple(known) if len(known) == len(spans) else None

    def probability(self, ends: tuple[tuple[Any, Any], ...]) -> arb:
        """That the leaf is taken and each number lies between its ends; None is infinite."""
        leaf, system = self.leaf, System(self.leaf.noises)
        if all(pair == (None, None) for pair in ends):
            return self.mass
        inside = [
            form.between(low, high)
            for form, (low, high) in zip(leaf.forms, ends, strict=True)
            if (low, high) != (None, None)
        ]
        some = system.probability((*leaf.constraints, *inside))
        return self.mass * some / system.probability(leaf.constraints)


def parts_of_real(leaf: Leaf) -> tuple[tuple[Fraction, ...], Hashable]:
    """The constant that is added to each number, and all else: what is known of noise stays."""
    forms = leaf.leaf.forms
    weight = as_fraction(leaf.mass.lower()), as_fraction(leaf.mass.upper())
    rest = tuple(form.terms for form in forms), leaf.leaf.noises, leaf.leaf.constraints, weight
    return tuple(Fraction(form.constant) for form in forms), rest


class ContinuousLaw:
    """The law of outputs with continuous noise on one dataset, by description of the output."""

    def __init__(self, law: OutputLaw) -> None:
        self.leaves: dict[Output, list[Leaf]] = {}
        #: Probability that was not walked.
        self.unexplored = law.unexplored
        #: Equal for equal laws only.
        self.key = frozenset(zip(law.outputs, law.log_probabilities.tolist(), strict=True))
        for output in law.outputs:
            leaf = output if isinstance(output, DensityLeaf) else DensityLeaf(output, (), (), ())
            mass = law.exact(output)
            ball = arb(to_fmpq(mass)) if isinstance(mass, Fraction) else mass
            self.leaves.setdefault(leaf.skeleton, []).append(Leaf(leaf, ball))

    def with_leaves(self, leaves: dict[Output, list[Leaf]]) -> ContinuousLaw:
        """The same law, by other descriptions."""
        law = copy(self)
        law.leaves = leaves
        return law

    def mass(self, skeleton: Output) -> arb:
        """The probability of all outputs of one description."""
        return sum((leaf.mass for leaf in self.leaves.get(skeleton, ())), arb(0))

    def probability(self, skeleton: Output, ends: tuple[tuple[Any, Any], ...]) -> arb:
        """Of the outputs of one description with each number between its ends."""
        masses = (leaf.probability(ends) for leaf in self.leaves.get(skeleton, ()))
        return sum(masses, arb(0))


def tell_ways_apart(
    left: ContinuousLaw, right: ContinuousLaw
) -> tuple[ContinuousLaw, ContinuousLaw]:
    """Both laws, with a description for each box of ways that the outputs tell apart (N11)."""
    skeletons = dict.fromkeys((*left.leaves, *right.leaves))
    apart = [
        skeleton
        for skeleton in skeletons
        if _are_apart(*(law.leaves.get(skeleton, []) for law in (left, right)))
    ]
    return (_by_boxes(left, apart), _by_boxes(right, apart)) if apart else (left, right)


def _are_apart(left: list[Leaf], right: list[Leaf]) -> bool:
    ways = [*left, *right]
    if (len(left) < 2 and len(right) < 2) or len(ways[0].leaf.forms) < 2:
        return False  # of one number the densities are added
    return are_told_apart(*([leaf.box for leaf in side] for side in (left, right)))


def _by_boxes(law: ContinuousLaw, apart: list[Output]) -> ContinuousLaw:
    leaves: dict[Output, list[Leaf]] = {}
    for skeleton, ways in law.leaves.items():
        if skeleton not in apart:
            leaves[skeleton] = ways
            continue
        for leaf in ways:
            assert leaf.box is not None
            leaves[InBox(skeleton, leaf.box)] = [leaf]
    return law.with_leaves(leaves)


@dataclass(frozen=True)
class Ratio:
    """The log ratio of two laws on the outputs of one description.

    ``extremes`` of each number; ``masses`` is the log ratio of what does not depend on them.
    """

    skeleton: Output
    masses: arb
    numbers: tuple[RatioExtremes, ...]

    def largest(self) -> arb | None:
        """The largest log ratio; None without bound."""
        return self._sum([number.largest for number in self.numbers])

    def smallest(self) -> arb | None:
        """The smallest log ratio; None without bound."""
        return self._sum([number.smallest for number in self.numbers])

    def _sum(self, parts: list[arb | None]) -> arb | None:
        total = self.masses
        for part in parts:
            if part is None:
                return None
            total = total + part
        return total


def require_whole(left: ContinuousLaw, right: ContinuousLaw) -> None:
    """Raise BudgetError for partial laws: what is missing may have any density anywhere."""
    missing = max(left.unexplored, right.unexplored)
    if missing:
        raise BudgetError(
            f"{float(missing):.2g} of the probability of a law was not walked, and real numbers "
            f"with noise are compared by whole laws; bound the loop, numpy.clip a number that is "
            f"rounded or discrete, raise @lt.mechanism(max_leaves=...), or declare the law with "
            f"lt.ClosedForm"
        )


def density_ratios(left: ContinuousLaw, right: ContinuousLaw) -> Iterator[Ratio | Output]:
    """Of each description of outputs; the description alone where one side has none of it.

    Raises BudgetError for partial laws.
    """
    require_whole(left, right)
    cached: KnownExtremes = {}
    for skeleton in dict.fromkeys((*left.leaves, *right.leaves)):
        one, other = left.leaves.get(skeleton), right.leaves.get(skeleton)
        if one is None or other is None:
            yield skeleton
        else:
            yield _ratio(skeleton, one, other, cached)


#: By the descriptions of two numbers: leaves of many paths have few that differ.
KnownExtremes = dict[Any, RatioExtremes]


def _ratio(skeleton: Output, left: list[Leaf], right: list[Leaf], known: KnownExtremes) -> Ratio:
    if len(left) == len(right) == 1:
        pairs = zip(left[0].numbers, right[0].numbers, strict=True)
        numbers = tuple(_find_known_extremes(x, y, known) for x, y in pairs)
        return Ratio(skeleton, (left[0].mass / right[0].mass).log(), numbers)
    if any(len(leaf.leaf.forms) != 1 for leaf in (*left, *right)):
        raise UnsupportedForm("outputs of several numbers that the code comes to in several ways")
    sides = [[(leaf.numbers[0], leaf.mass) for leaf in side] for side in (left, right)]
    return Ratio(skeleton, arb(0), (_number_extremes(*sides),))


def _find_known_extremes(left: Number, right: Number, known: KnownExtremes) -> RatioExtremes:
    pair = left.description, right.description
    if pair[0] is not None and pair[0] == pair[1]:
        return RatioExtremes(arb(0), arb(0))
    if None in pair:
        return _number_extremes([(left, arb(1))], [(right, arb(1))])
    if pair not in known:
        known[pair] = _number_extremes([(left, arb(1))], [(right, arb(1))])
    return known[pair]


Weighted = list[tuple[Number, arb]]


def list_bells(numbers: Weighted) -> list[tuple[Bell, arb]]:
    """Weighted numbers as bells; none where one of them is something else."""
    bells = [(number.bell(), weight) for number, weight in numbers]
    known = [(bell, weight) for bell, weight in bells if bell is not None]
    return known if len(known) == len(bells) else []


def _number_extremes(left: Weighted, right: Weighted) -> RatioExtremes:
    """Of the log ratio of two weighted sums of densities of one number."""
    bells = list_bells(left), list_bells(right)
    found = bell_extremes(*bells) if bells[0] and bells[1] else None
    if found is None and len(left) == len(right) == 1:
        found = _find_moved_extremes(left[0][0], right[0][0])
    if found is not None:
        return found
    rates, above, below = find_densities(left, right, not_answered, "compared, or mixed with other")
    return extremes(rates, above, below)


def not_answered(what: str) -> UnsupportedForm:
    """The error for what is not answered."""
    return UnsupportedForm(f"{what}, and answered")


def find_densities(
    left: Weighted, right: Weighted, refusal: Callable[[str], LiptestError], odd_use: str
) -> tuple[Any, Any, Any]:
    """The rates of two weighted sums of densities of one number, and both sums.

    Raises a refusal of noise that is not exponential, which is ``odd_use``.
    """
    noises = {
        number.known.noises[variable]
        for number, _ in (*left, *right)
        for variable in number.known.variables
    }
    odd = sorted({noise.family for noise in noises} - set(EXPONENTIAL))
    if odd:
        raise refusal(f"{odd[0]} noise that is {odd_use}")
    rates = shapes.find_rates(frozenset(noises))
    above, below = (
        functions.add_functions(
            rates, [functions.enlarge(number.density(rates), mass) for number, mass in side]
        )
        for side in (left, right)
    )
    return rates, above, below


def _find_moved_extremes(left: Number, right: Number) -> RatioExtremes | None:
    """Where both are one noise that nothing is known of, moved; None for others."""
    if not (left.known.is_free and right.known.is_free) or left.noise.family != right.noise.family:
        return None
    moved, family, scale = left.constant - right.constant, left.noise.family, left.scale
    if scale != right.scale:
        # In their tails the ratio of all other families has no bound either.
        wider, at = abs(scale) > abs(right.scale), max(left.constant, right.constant)
        size = max(abs(scale), abs(right.scale))
        outwards = 1 if left.scale > 0 else -1  # where Gumbel noise is not light
        at = at if outwards > 0 else min(left.constant, right.constant)
        places = _places(at + outwards * size * far for far in FARTHER)
        return None if family in EXPONENTIAL else without_bound(places, above=wider)
    if not moved:
        return RatioExtremes(arb(0), arb(0))
    if family in ("laplace", "logistic"):
        bound = arb(to_fmpq(abs(moved) / scale))
        # The ratio is largest beyond the left one, seen from the right one.
        step = scale if moved > 0 else -scale
        far = (0,) if family == "laplace" else (4, 10, 40)
        places = _places(left.constant + step * k for k in far)
        return RatioExtremes(bound, -bound, places, _places(right.constant - step * k for k in far))
    return _find_extremes_without_bound(left, right, moved)


def _find_extremes_without_bound(left: Number, right: Number, moved: Fraction) -> RatioExtremes:
    """Gumbel noise in its light tail; exponential and uniform where one has nothing."""
    family, scale = left.noise.family, left.scale
    if family == "gumbel":
        # The light tail: the one that lies further out is the larger one there.
        outwards = -1 if scale > 0 else 1
        at = min(left.constant * outwards, right.constant * outwards) * outwards
        places = _places(at + outwards * abs(scale) * far for far in _LIGHT)
        return without_bound(places, above=moved * outwards > 0)
    above = moved * scale < 0
    inside = min(abs(moved), abs(scale)) / 2
    at = (left if above else right).constant + (inside if scale > 0 else -inside)
    return without_bound(_places([at]), above=above)


def _places(values: Iterable[Fraction]) -> tuple[Any, ...]:
    return tuple(map(to_fmpq, values))
