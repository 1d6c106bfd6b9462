"""Work that is counted, where an attempt may be given up because it grows too dear.

What is counted is what systems of constraints ask for: constraints, steps of an elimination, pairs
of inequalities that are combined, integrals; and the choices that runs of a program make again.
Counts are not clocks: the same attempt ends at the same place on every machine. What is remembered
of earlier systems counts as if it were computed again, so that what was asked before changes
nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from liptest.errors import BudgetError

# So many choices cost what one constraint does.
_CHOICES = 8


class TooDearError(BudgetError):
    """An attempt has used all the work that it was given."""


class _Given(threading.local):
    """What is left of each attempt that is under way, the outermost first, in each thread."""

    def __init__(self) -> None:
        self.left: list[int] = []


_GIVEN = _Given()


@contextmanager
def limit_work(most: int) -> Iterator[None]:
    """Give what is done within so many units, and no more than an attempt around it has left.

    Once they are used up, everything that counts raises TooDearError until the end of the attempt.
    """
    left = _GIVEN.left
    own = min(most, left[-1]) if left else most
    left.append(own)
    try:
        yield
    finally:
        used = own - left.pop()
        if left:
            left[-1] -= used


def spend_on_choices(count: int) -> None:
    """Count a run that makes so many choices again, each of which is quick."""
    spend(1 + count // _CHOICES)


def spend(units: int) -> None:
    """Count work; raises TooDearError where no more is given."""
    left = _GIVEN.left
    if not left:
        return
    left[-1] -= units
    if left[-1] < 0:
        raise TooDearError(
            "its runs and comparisons of noise ask for more work than one attempt is given"
        )
