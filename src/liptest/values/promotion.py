"""How values of different kinds meet: one place, the same for both orders of the operands.

A kind that can become noise registers how with ``as_noise.register(type)``; others need nothing.
Two values meet by these rules, of which the first that applies decides:

* two of one family that calculates with its own members stay as they are;
* where one of them can be concretised (it takes finitely many values), that one is;
* a uniform number that meets weights of a choice is known by its place among them;
* both become noise; where one cannot, the analysis refuses it.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any


@singledispatch
def as_noise(value: Any) -> Any:
    """A value as noise, from then on and with all that was derived from it; None: it cannot be."""
    return None


def promote(value: Any) -> Any:
    """``as_noise`` by the real type of a value, whose ``__class__`` is the one it stands for."""
    return as_noise.dispatch(type(value))(value)


def meet(left: Any, right: Any, use: str) -> tuple[Any, Any]:
    """Two values that calculate with each other: of one family, or one of them a plain number."""
    kept = left.calculates_with_its_own and left.family == right.family
    if kept and left.is_discrete == right.is_discrete:
        return left, right
    # To look at one may promote the other: a comparison that was not decided yet knows of it.
    if right.is_discrete and not left.is_discrete:
        number = right.concretise(use)
        return left.current(), number
    if left.is_discrete:
        return left.concretise(use), right.current()
    if left.locates(right) or right.locates(left):
        return left.current(), right.current()
    pair = promote(left), promote(right)
    for value, noise in zip((left, right), pair, strict=True):
        if noise is None:
            value.refuse(use)
    return pair
