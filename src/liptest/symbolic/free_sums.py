"""The law of a sum of noise under constraints, as a function of its value (T8).

The sum takes the place of one of its variables: that variable is the sum less the others, so its
density is a factor on a sum of the new variables. All others are eliminated, and what is left is a
function of the sum. Groups of variables that neither a constraint nor the sum ties to each other
are independent.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from flint import fmpq

from liptest.balls import end_to_fraction, to_fmpq
from liptest.errors import UnsupportedForm
from liptest.symbolic import elimination as shapes
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.constraints import (
    Range,
    Tree,
    find_stages,
    gather_parts,
    intersection,
    prepare_range,
    support,
    without_implied,
)
from liptest.symbolic.elimination import Key, Moved, normalise, plan_elimination
from liptest.symbolic.exponential_polynomials import Function, Rates
from liptest.symbolic.forms import Constraint, Terms
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import find_function, find_totals

_ZERO = fmpq(0)


def law_of_sum(
    noises: tuple[Noise, ...], constraints: Iterable[Constraint], terms: Terms, rates: Rates
) -> Function:
    """v -> the density of the sum at v times the probability of all constraints given that.

    Over the integers it is a probability. All constraints hang together with the sum. Raises
    UnsupportedForm where no order of the variables leads there.
    """
    listed = list(constraints)
    law = _law_of_sum(noises, listed, terms, rates)
    if law is None and listed:
        fewer = _not_implied(noises, listed, bool(rates.step))
        law = None if fewer is None else _law_of_sum(noises, fewer, terms, rates)
    if law is None:
        raise UnsupportedForm("several sums of the same noise variables are compared and answered")
    return law


def _law_of_sum(
    noises: tuple[Noise, ...], listed: list[Constraint], terms: Terms, rates: Rates
) -> Function | None:
    for variable, factor in terms:
        if rates.step and abs(factor) != 1:
            continue
        factors = _factors(noises, listed, (variable, Fraction(factor)), terms, rates)
        eliminated = _eliminate(noises, factors, len(noises), rates)
        if eliminated is not None:
            shape, shift = eliminated
            return functions.stretch_function(rates, find_function(shape), fmpq(1), shift)
    return None


def _not_implied(
    noises: tuple[Noise, ...], constraints: list[Constraint], whole: bool
) -> list[Constraint] | None:
    """Fewer constraints that say the same; None where they cannot hold."""
    ranges: dict[Key, Range] = {}
    for constraint in constraints:
        form, low, high = prepare_range(constraint, whole)
        ranges[form] = intersection(ranges.get(form, (None, None)), (low, high))
    supports = {v: support(noises[v]) for form in ranges for v, _ in form}
    if find_stages(ranges, supports, whole) is None:
        return None
    return [
        Constraint.make(form, *map(end_to_fraction, ends), low_closed=whole, high_closed=whole)
        for form, ends in without_implied(ranges, supports, whole).items()
    ]


def _factors(
    noises: tuple[Noise, ...],
    constraints: list[Constraint],
    chosen: tuple[int, Fraction],
    terms: Terms,
    rates: Rates,
) -> dict[Key, list[Moved]]:
    """What constraints and the density of the chosen variable are once the sum replaces it."""
    variable, factor = chosen
    root, whole = len(noises), bool(rates.step)
    instead = {root: 1 / factor}
    instead |= {v: -Fraction(other) / factor for v, other in terms if v != variable}
    ranges: dict[Key, Range] = {}
    for constraint in constraints:
        form, low, high = prepare_range(_replace(constraint, variable, instead), whole)
        ranges[form] = intersection(ranges.get(form, (None, None)), (low, high))
    factors: dict[Key, list[Moved]] = {}
    for form, (low, high) in ranges.items():
        if (low, high) != (None, None):
            above = high + 1 if whole and high is not None else high
            factors[form] = [shapes.interval(rates, low, above)]
    form, scale = normalise(tuple(sorted(instead.items())), whole)
    density = shapes.variable_density(rates, noises[variable]), _ZERO
    factors.setdefault(form, []).append(shapes.stretch_shape(density, to_fmpq(scale)))
    return factors


def _replace(one: Constraint, variable: int, instead: dict[int, Fraction]) -> Constraint:
    factors: list[tuple[int, Any]] = []
    for other, factor in one.terms:
        if other == variable:
            factors += [(new, factor * part) for new, part in instead.items()]
        else:
            factors.append((other, factor))
    return Constraint.make(
        factors, one.low, one.high, low_closed=one.low_closed, high_closed=one.high_closed
    )


def _eliminate(
    noises: tuple[Noise, ...], factors: dict[Key, list[Moved]], root: int, rates: Rates
) -> Moved | None:
    """What is left of the root; None where there is no order of elimination."""
    steps = plan_elimination(frozenset(factors), bool(rates.step), root)
    if steps is None:
        return None
    for step in steps:
        if step.outer is None:
            return shapes.multiply_shapes(factors.pop(step.alone))
        own = [(shapes.variable_density(rates, noises[step.variable]), _ZERO)]
        inner = shapes.multiply_shapes(own + factors.pop(step.alone, []))
        left = shapes.convolution(
            inner, step.factor, shapes.multiply_shapes(factors.pop(step.outer))
        )
        factors.setdefault(step.after, []).append(shapes.stretch_shape(left, step.scale))
    raise AssertionError("the root is eliminated last")


def exact_mass(noises: tuple[Noise, ...], constraints: Iterable[Constraint], rates: Rates) -> Any:
    """The probability that all constraints hold, at exact rates as a rational number.

    Raises UnsupportedForm where sums are compared in cycles.
    """
    mass = rates.number(1)
    parts = gather_parts(noises, constraints)
    if parts is None:
        return rates.number(0)
    for part in parts:
        if not isinstance(part, Tree):
            raise UnsupportedForm("many sums of the same noise variables are compared in cycles")
        for shape in find_totals(noises, part, rates):
            mass *= functions.total(rates, find_function(shape))
    return mass


def independent_groups(several: Iterable[Terms]) -> list[set[int]]:
    """Sets of variables, of which no sum ties two together."""
    groups: list[set[int]] = []
    for terms in several:
        joined = {variable for variable, _ in terms}
        apart = []
        for group in groups:
            if group.isdisjoint(joined):
                apart.append(group)
            else:
                joined |= group
        groups = [*apart, joined]
    return groups
