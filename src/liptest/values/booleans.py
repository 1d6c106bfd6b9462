"""Comparisons that are decided when they are looked at.

``noisy > threshold`` of arrays has 2^n outcomes, but its ``any()`` depends on the first one that
is true, and so do ``all()``, ``argmax()`` and a loop that stops: n + 1 outcomes. They are entries
of arrays only: taken out of one, they are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.branching import Branching
from liptest.values.protocol import SymbolicValue, compare, is_symbolic


class LazyBoolean(SymbolicValue):
    """A comparison that nobody has looked at, or its outcome."""

    __slots__ = ("_ask", "_known", "branching")

    __hash__ = SymbolicValue.__hash__
    family = "boolean"
    kind = np.bool_
    described = "a comparison of random numbers"
    described_in_arrays = "an array of comparisons of random numbers"
    advice = "copy the comparisons to a list first"

    def __init__(self, branching: Branching, ask: Callable[[], Any]) -> None:
        self.branching = branching
        self._ask = ask
        self._known: bool | None = None

    @property
    def is_discrete(self) -> bool:
        return True

    @property
    def is_decided(self) -> bool:
        """Whether somebody has looked at it."""
        return self._known is not None

    def concretise(self, use: str) -> Any:
        """The outcome, the same each time."""
        if self._known is None:
            self._known = bool(self._ask())
        return np.bool_(self._known)

    def typed(self, kind: Any) -> Any:
        return self if kind is np.bool_ else kind(self.concretise(""))

    def entry(self) -> Any:
        return self.concretise("")

    def item(self) -> Any:
        """The outcome as a Python bool."""
        return bool(self.concretise(""))


def compare_later(comparison: Any, left: Any, right: Any) -> Any:
    """A comparison of two numbers, decided later where one is symbolic."""
    value = left if is_symbolic(left) else right
    if not is_symbolic(value):
        return np.bool_(comparison(left, right))
    return LazyBoolean(value.branching, lambda: compare(comparison, left, right))


def find_truth(cell: Any) -> Any:
    """Whether a number is not 0: decided later where it is symbolic."""
    if type(cell) is LazyBoolean:
        return cell
    return LazyBoolean(cell.branching, lambda: bool(cell)) if is_symbolic(cell) else bool(cell)


def decide(cell: Any) -> bool:
    """Look at a truth."""
    return bool(cell.concretise("") if type(cell) is LazyBoolean else cell)


def negate(cell: Any) -> Any:
    """The other truth, decided later."""
    truth = find_truth(cell)
    return (
        LazyBoolean(truth.branching, lambda: not decide(truth)) if is_symbolic(truth) else not truth
    )


def conjoin(left: Any, right: Any) -> Any:
    """Whether both hold; the second is looked at only where the first does."""
    one, other = find_truth(left), find_truth(right)
    if is_symbolic(one) and is_symbolic(other):
        return LazyBoolean(one.branching, lambda: decide(one) and decide(other))
    known, open_ = (other, one) if is_symbolic(one) else (one, other)
    return open_ if known else False


def disjoin(left: Any, right: Any) -> Any:
    """Whether one of them holds."""
    return negate(conjoin(negate(left), negate(right)))


def differ(left: Any, right: Any) -> Any:
    """Whether exactly one of them holds."""
    one, other = find_truth(left), find_truth(right)
    value = one if is_symbolic(one) else other
    if not is_symbolic(value):
        return one != other
    return LazyBoolean(value.branching, lambda: decide(one) != decide(other))
