"""Whether two laws may be equal, or one a part of the other, as far as some half-lines tell."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from liptest.balls import CERTIFIED_BITS, precision
from liptest.enumerate.numbers.densities import ContinuousLaw, Leaf
from liptest.mechanisms.laws import OutputLaw, exact_ball

# Where laws are compared, in scales of their noise.
_MANY_ENDS = tuple(Fraction(k, 2) for k in (-4, -1, 0, 1, 4))


def is_below(part: OutputLaw, whole: OutputLaw) -> bool:
    """Whether a part of a law may be one of a whole law, as far as some half-lines tell."""
    with precision(CERTIFIED_BITS):
        laws = ContinuousLaw(part), ContinuousLaw(whole)
        if not laws[0].leaves.keys() <= laws[1].leaves.keys():
            return False
        left = exact_ball(part.unexplored)
        for skeleton, leaves in laws[1].leaves.items():
            for ends in _half_lines(leaves, _MANY_ENDS):
                p, q = (law.probability(skeleton, ends) for law in laws)
                if p > q or q > p + left:
                    return False
    return True


def _half_lines(
    leaves: list[Leaf], sizes: Iterable[Fraction] = (Fraction(0),)
) -> Iterable[tuple[tuple[Any, Any], ...]]:
    """Everything, and below the places where the noise of one of them has these sizes."""
    leaf = leaves[0].leaf
    scales = [
        max((abs(Fraction(by)) * leaf.noises[v].parameter for v, by in form.terms), default=0)
        for form in leaf.forms
    ]
    numbers = list(zip(leaf.forms, scales, strict=True))
    below = (tuple((None, form.constant + k * scale) for form, scale in numbers) for k in sizes)
    return dict.fromkeys((tuple((None, None) for _ in numbers), *below))


def are_near(one: OutputLaw, other: OutputLaw) -> bool:
    """Whether two whole laws of one dataset may be equal, as far as some half-lines tell.

    Numbers with continuous noise are compared below the places where their noise is 0.
    """
    if other.unexplored:
        return False
    with precision(CERTIFIED_BITS):
        laws = ContinuousLaw(one), ContinuousLaw(other)
        if laws[0].leaves.keys() != laws[1].leaves.keys():
            return False
        for skeleton, leaves in laws[0].leaves.items():
            for ends in _half_lines(leaves):
                p, q = (law.probability(skeleton, ends) for law in laws)
                if not p.overlaps(q):
                    return False
    return True
