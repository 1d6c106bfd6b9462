"""In which order variables are eliminated: decided by the forms alone, so remembered.

A variable can be eliminated where all forms that it occurs in, beside itself alone, are one form:
what is left is a function of the rest of that form, which is a form again. Trees always end; so do
sums of variables that occur in one combination, and sums that grow by one variable at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from flint import fmpq

from liptest.symbolic.forms import Rational, Terms, lean

#: (variable, factor); over the reals the first factor is 1, else they are whole without a common
#: divisor, the first above 0.
Key = Terms


class Step(NamedTuple):
    """Eliminate ``variable`` from the form ``outer`` (None: it is alone), where it has ``factor``.

    What is left is ``rest``, which is ``scale`` times the form ``after``.
    """

    variable: int
    alone: Key
    outer: Key | None
    factor: Any
    after: Key
    scale: Any


def normalised(terms: Key, whole: bool) -> tuple[Key, Rational]:
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


_PLANS: dict[Any, tuple[Step, ...] | None] = {}
MOST_PLANS = 100_000


def plan(
    forms: frozenset[Key],
    whole: bool,
    root: int | None = None,
    *,
    smooth: frozenset[int] = frozenset(),
) -> tuple[Step, ...] | None:
    """The steps for connected forms, ``root`` the last, or None where there is no such order.

    Of the variables of one form those are next to each other that are ``smooth``, or that are not.
    """
    key = forms, whole, root, smooth
    if key not in _PLANS:
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        _PLANS[key] = _plan(forms, whole, root, smooth)
    return _PLANS[key]


def forget() -> None:
    """Keep no plan."""
    _PLANS.clear()


def _plan(
    forms: frozenset[Key], whole: bool, root: int | None, smooth: frozenset[int]
) -> tuple[Step, ...] | None:
    around: dict[int, set[Key]] = {}
    for form in forms:
        _entered(around, form)
    busy = {one: len(some) for one, some in around.items()}
    alike = {one: _alike(one, some, smooth) for one, some in around.items()}
    steps: list[Step] = []
    while around:
        free = [
            one
            for one, some in around.items()
            if _is_free(one, some, whole) and (one != root or len(around) == 1)
        ]
        if not free:
            return None
        # Centres last: of two ends of one edge the less busy one, or that which was drawn later.
        leaf = min(free, key=lambda one: (_weight(one, around), busy[one], -alike[one], -one))
        step = _step(leaf, around.pop(leaf), whole)
        steps.append(step)
        if step.outer is not None:
            for one, _ in step.after:
                around[one].discard(step.outer)
            _entered(around, step.after)
    return tuple(steps)


def _entered(around: dict[int, set[Key]], form: Key) -> None:
    """Note a form at its variables, unless it is one variable alone."""
    for one, _ in form:
        some = around.setdefault(one, set())
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
    return sum((one in smooth) is kind for form in around for one, _ in form)


def _weight(variable: int, around: dict[int, set[Key]]) -> int:
    """How many forms the other variables of a leaf's form are in: leaves of busy ones first."""
    if not around[variable]:
        return 1
    (form,) = around[variable]
    return -max(len(around[one]) for one, _ in form if one in around)


def _factor(form: Key, variable: int) -> Rational:
    return next(factor for one, factor in form if one == variable)


def _step(variable: int, around: set[Key], whole: bool) -> Step:
    alone: Key = ((variable, 1),)
    if not around:
        return Step(variable, alone, None, None, (), None)
    (outer,) = around
    rest = tuple(term for term in outer if term[0] != variable)
    after, scale = normalised(rest, whole)
    return Step(variable, alone, outer, exact(_factor(outer, variable)), after, exact(scale))


def exact(value: Rational) -> Any:
    """As a number of the flint library, which is faster."""
    return fmpq(value.numerator, value.denominator)


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
