"""Precision of ball arithmetic: how many binary digits flint calculates with.

flint keeps the precision in one global of the process. Balls are right at any precision, but what
they decide, and how wide they come out, depends on it, so each thread must get the one it asked
for. ``precision`` is the only place that sets it; it holds one lock meanwhile.

The order of locks is: an analysis of code (``enumerate.intercept.interception``) first, then this
one. Code under test is therefore run outside of it: ``outside_precision`` gives the lock up for so
long.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

#: For sums of probabilities and what is printed of them: many more bits than a loss is known to.
CERTIFIED_BITS = 256
#: As many as a float has, and what flint starts with.
FLOAT_BITS = 53
_LOCK = threading.RLock()


def to_fmpq(value: Any) -> Any:
    """A rational as a number of the flint library, which is faster."""
    return fmpq(value.numerator, value.denominator)


def to_fraction(value: Any) -> Fraction:
    """A rational of the flint library as one of Python's."""
    return Fraction(int(value.p), int(value.q))


def end_to_fraction(end: Any) -> Fraction | None:
    """The same of an end of an interval; None where there is none."""
    return None if end is None else to_fraction(end)


def ball(number: Fraction | int) -> arb:
    """A number as a ball, at the current precision."""
    return arb(to_fmpq(number))


def float_above(number: Fraction) -> float:
    """The least float that is not below a rational."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def float_below(number: Fraction) -> float:
    """The largest float that is not above a rational."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


class _Entered(threading.local):
    """The precisions to return to, the outermost first; each thread has its own."""

    def __init__(self) -> None:
        self.before: list[int] = []


_ENTERED = _Entered()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Calculate with balls of ``bits`` binary digits in this thread; others wait for the end.

    Re-entrant. On any exit, exceptions included, the precision is what it was before.
    """
    with _LOCK:
        _ENTERED.before.append(ctx.prec)
        try:
            ctx.prec = bits
            yield
        finally:
            ctx.prec = _ENTERED.before.pop()


@contextmanager
def outside_precision() -> Iterator[None]:
    """Leave every ``precision`` that this thread is in, and come back to it at the end.

    For code of others: while it runs nobody waits for this thread's lock.
    """
    before = _ENTERED.before
    if not before:
        yield
        return
    bits = ctx.prec
    ctx.prec, _ENTERED.before = before[0], []
    for _ in before:
        _LOCK.release()
    try:
        yield
    finally:
        for _ in before:
            _LOCK.acquire()
        ctx.prec, _ENTERED.before = bits, before


# A child process starts with a lock that nobody holds, and with the precision of its parent.
if sys.platform != "win32":
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )
