"""What is not known of weights of choices: the largest score, their sum, constant factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from liptest.symbolic.answer_functions import Ends
from liptest.symbolic.forms import Form, Terms
from liptest.values.answers.functions_of_answers import AnsweringRun

_ZERO, _ONE = Fraction(0), Fraction(1)
# Totals of totals that divide a weight: the constant factors of each are at most 2**80.
_MOST_TOTALS = 8


@dataclass(frozen=True)
class _Unknown:
    """Base of what is not known of a weight: equal for equal parts, which are hashed once."""

    parts: Any

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, self.parts))


class Largest(_Unknown):
    """The largest of some scores, which are its parts."""

    parts: tuple[Form, ...]

    @cached_property
    def _by_terms(self) -> dict[Fraction, dict[Terms, list[Form]]]:
        return {}

    def with_terms(self, terms: Terms, factor: Fraction) -> list[Form]:
        """The scores that have these terms, once they are multiplied by a factor."""
        largest = self._by_terms.get(factor)
        if largest is None:
            largest = self._by_terms[factor] = {}
            for score in self.parts:
                largest.setdefault((score * factor).terms, []).append(score)
        return largest.get(terms, [])

    def ends(self, run: AnsweringRun) -> Ends | None:
        """Between what it lies, whatever the data; None for any number."""
        several = [run.sum_of_answers(part).ends for part in self.parts]
        ends_known = [pair for pair in several if pair is not None]
        if len(ends_known) < len(several):
            return None
        return max(low for low, _ in ends_known), max(high for _, high in ends_known)


class Constant(_Unknown):
    """A factor of all weights."""

    parts: Fraction


class WeightTotal(_Unknown):
    """A sum of weights: the form and the unknowns of each."""

    parts: tuple[Part, ...]

    @cached_property
    def different(self) -> frozenset[Part]:
        """The parts, to look them up."""
        return frozenset(self.parts)

    @cached_property
    def depth(self) -> int:
        """Of how many totals it is made, itself among them."""
        return 1 + sum(total.depth for total in totals_in(self.parts[0][1]))

    @cached_property
    def has_its_largest(self) -> bool:
        """Whether floats are neither 0 nor infinite for it, as its largest weight is not."""
        return has_its_largest(self.parts)

    @property
    def is_shifted(self) -> bool:
        """Whether its scores are such less the largest one."""
        return any(type(unknown) is Largest for unknown, _ in self.parts[0][1])

    def size(self, run: AnsweringRun) -> Fraction | None:
        """What floats lose digits by, where its logarithm is subtracted; None for any number."""
        return _ZERO


class LoggedTotal(WeightTotal):
    """A sum of weights of which the logarithm was taken."""

    def size(self, run: AnsweringRun) -> Fraction | None:
        several = [run.sum_of_answers(form).ends for form, _ in self.parts]
        known = [Fraction(abs(end)) for ends in several if ends is not None for end in ends]
        return max(known) if len(known) == 2 * len(several) else None


#: What is not known, by what it is, with a factor of each.
Unknowns: TypeAlias = tuple[tuple[_Unknown, Fraction], ...]
#: A weight: exp of the form times the unknowns.
Part: TypeAlias = tuple[Form, Unknowns]


def add_unknowns(left: Unknowns, right: Unknowns, factor: int = 1) -> Unknowns:
    """The unknowns of a product, or with the factor -1 of a quotient."""
    sums = dict(left)
    for unknown, by in right:
        sums[unknown] = sums.get(unknown, Fraction(0)) + factor * by
    return tuple(sorted(((unknown, by) for unknown, by in sums.items() if by), key=_order))


def _order(entry: tuple[_Unknown, Fraction]) -> int:
    return hash(entry[0])


def totals_in(unknowns: Unknowns) -> list[WeightTotal]:
    """The totals that divide."""
    return [one for one, by in unknowns if isinstance(one, WeightTotal) and by == -1]


def times(part: Part, total: WeightTotal) -> Part:
    """A weight times a total."""
    form, unknowns = part
    return form, add_unknowns(unknowns, ((total, _ONE),))


def are_in_floats(parts: Sequence[Part]) -> bool:
    """Whether weights, up to exp(600) by themselves, are divided so that floats stay numbers.

    A total of scores less the largest one is about 1 to their number. Another total may be of any
    size: it divides only what it adds up.
    """
    every = {one for _, unknowns in parts for one, by in unknowns if isinstance(one, WeightTotal)}
    if any(unknown in every and by != -1 for _, unknowns in parts for unknown, by in unknowns):
        return False
    if sum(total.depth for total in every) > _MOST_TOTALS:
        return False
    return all(
        total.has_its_largest
        and all(
            total.is_shifted or times(part, total) in total.different
            for part in parts
            if total in totals_in(part[1])
        )
        for total in every
    )


def _but_constants(part: Part) -> Unknowns:
    return tuple(entry for entry in part[1] if type(entry[0]) is not Constant)


def scores_of(parts: Sequence[Part]) -> tuple[Form, ...]:
    """What weights are exp of, but for what all of them have in common."""
    constants = [tuple(one for one in part[1] if type(one[0]) is Constant) for part in parts]
    if all(own == constants[0] for own in constants):
        return tuple(form for form, _ in parts)
    return tuple(
        form + sum(Fraction(math.log(one.parts)) * by for one, by in own)
        for (form, _), own in zip(parts, constants, strict=True)
    )


def has_its_largest(parts: Sequence[Part]) -> bool:
    """Whether what is common to all weights is, and one of them is not small in floats."""
    common = _but_constants(parts[0])
    if any(_but_constants(part) != common for part in parts) or not are_in_floats(parts):
        return False
    largest = [(unknown, by) for unknown, by in common if type(unknown) is Largest]
    if len(largest) != 1:
        return not largest
    ((maximum, factor),) = largest
    reached = {other for form, _ in parts for other in maximum.with_terms(form.terms, -factor)}
    return reached == set(maximum.parts)
