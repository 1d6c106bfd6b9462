"""Whole numbers made of noise: rounded sums, and sums of discrete noise.

Such a number is a whole number k, the sum itself or the sum rounded, and what the program has
made of k since, with the program's own floats. It is asked which k only where that is needed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.noise_run import NoiseRun, bounded
from liptest.values.questions import Cells, Known, Span
from liptest.values.tails import drawn_by_weight
from liptest.whitebox.ducks import Duck
from liptest.whitebox.noise.numbers import Noisy, rational

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


# Steps from where a comparison should turn to where it does, in floats.
_MOST_STEPS = 64


# 8 binary digits behind the point, and 44 before it for k up to 2**34.
_SHORT = frozenset(1 << k for k in range(9))


_MOST_SLOPE, _MOST_SHIFT = 1 << 10, 1 << 40


Step = Callable[[Any], Any]


class Whole(Noisy):
    """``steps`` after k, where k is a sum that is whole ("exact"), or is rounded as ``how``.

    ``slope`` and ``shift`` are what the steps do, but for the rounding of floats; ``precise`` says
    that there is none.
    """

    __slots__ = ("_form", "_how", "_precise", "_shift", "_slope", "_steps")

    __hash__ = Duck.__hash__

    def __init__(
        self,
        run: NoiseRun,
        form: Form,
        how: str,
        looks_like: Any,
        steps: tuple[Step, ...] = (),
        slope: Fraction = Fraction(1),
        shift: Fraction = Fraction(0),
        precise: bool = True,
    ) -> None:
        self._tree = run.tree
        self._run = run
        self._form = form
        self._how = how
        self._looks_like = looks_like
        self._steps = steps or (looks_like,)
        self._slope = slope
        self._shift = shift
        whole = not issubclass(looks_like, float)
        self._precise = precise and (whole or _is_short(slope, shift))

    def value(self, k: int) -> Any:
        """The program's number where the whole number is k."""
        found: Any = k
        for step in self._steps:
            found = step(found)
        return found

    def linear(self) -> Form | None:
        if self._how != "exact":
            return None
        if self._slope == 1:
            return Form(self._form.constant + self._shift, self._form.terms)
        return self._form * self._slope + self._shift

    def typed(self, kind: Any) -> Any:
        if kind is self._looks_like:
            return self
        if self.is_whole or issubclass(kind, float):
            return self._after(kind, kind, self._slope, self._shift)
        return kind(self.settled(f"{kind.__name__}()"))

    @property
    def is_whole(self) -> bool:
        return self._precise and self._slope.denominator == self._shift.denominator == 1

    @property
    def is_precise(self) -> bool:
        return self._precise and self._how == "exact"

    def rounded(self, how: str, kind: Any) -> Any:
        if self.is_whole:
            return self.typed(kind)
        form = self.linear()
        # Halves and whole numbers are those of the program's floats.
        if form is None or not self.is_precise:
            return kind(_ROUNDED[how](self.settled(how)))
        return Whole(self._run, form, how, kind)

    def with_constant(
        self, operation: Callable[[Any, Any], Any], constant: Any, kind: Any, *, swapped: bool
    ) -> Any:
        number = Fraction(rational(constant))
        step = partial(_applied, operation, constant, swapped)
        slope, shift = self._slope, self._shift
        if operation is operator.add:
            return self._after(step, kind, slope, shift + number)
        if operation is operator.sub:
            changed = (-slope, number - shift) if swapped else (slope, shift - number)
            return self._after(step, kind, *changed)
        if operation is operator.mul and number:
            return self._after(step, kind, slope * number, shift * number)
        if operation is operator.truediv and not swapped:
            return self._after(step, kind, slope / number, shift / number)
        return step(self.settled(operation.__name__))

    def _after(self, step: Step, kind: Any, slope: Fraction, shift: Fraction) -> Whole:
        steps = (*self._steps, step)
        return Whole(self._run, self._form, self._how, kind, steps, slope, shift, self._precise)

    def compared(self, comparison: Callable[[Any, Any], Any], bound: Any) -> bool:
        start = math.floor((rational(bound) - self._shift) / self._slope)
        first = self._turn(start, lambda value: bool(value >= bound))
        after = self._turn(start, lambda value: bool(value > bound))
        if comparison in (operator.eq, operator.ne):
            low, high = sorted((first, after))
            equal = low < high and self._is_in((low, high), (None, low), (high, None))
            return equal is (comparison is operator.eq)
        cut = first if comparison in (operator.lt, operator.ge) else after
        above = self._is_in((cut, None), (None, cut)) is (self._slope > 0)
        return above is (comparison in (operator.ge, operator.gt))

    def _turn(self, k: int, holds: Callable[[Any], bool]) -> int:
        """The first k from where on it holds, or where numbers fall from where on it does not."""
        rising = self._slope > 0
        for _ in range(_MOST_STEPS):
            if holds(self.value(k)) is not rising:
                k += 1
            elif holds(self.value(k - 1)) is rising:
                k -= 1
            else:
                return k
        return self.escape("a comparison where floats are too coarse for it")

    def _is_in(self, *spans: Span) -> bool:
        """Whether the whole number is in the first of some spans, in one of which it is."""
        known = self._known()
        if known is not None:
            low, high = spans[0]
            return (low is None or known >= low) and (high is None or known < high)
        key = (self._run.current(self._form), self._how, spans)
        return self._run.take(key, lambda: tuple(map(self._between, spans))) == 0

    def _between(self, span: Span) -> Known:
        """That the whole number is in a span: the sum is in what is rounded to it."""
        low, high = span
        below, above = _ENDS[self._how]
        bottom, closed = (None, False) if low is None else below(low)
        top, top_closed = (None, False) if high is None else above(high)
        form = self._run.current(self._form)
        return (bounded(form, low=bottom, high=top, low_closed=closed, high_closed=top_closed),)

    def _known(self) -> int | None:
        """The whole number, where it was asked for before."""
        form = self._run.current(self._form)
        if not form.terms:
            return _ROUNDED[self._how](form.constant)
        return self._run.known.get((form, self._how))

    def settled(self, use: str) -> Any:
        self._run.check_current()
        k = self._known()
        return self.value(self._chosen() if k is None else k)

    def _chosen(self) -> int:
        run, form = self._run, self._run.current(self._form)
        alone = self._drawn_alone(form)
        if alone is not None:
            return alone
        asked = Cells(run.asked(), (form, self._how), self._between, self._middle)
        place, question = run.choose(asked)
        span = question.span(place)
        run.constraints += self._between(span)
        if span[0] is None or span[1] is None:
            run.tree.leave_out()
        run.known[form, self._how] = k = int(span[0])
        return k

    def _drawn_alone(self, form: Form) -> int | None:
        """A single geometric draw of which nothing is known: chosen by weight, like any draw."""
        (variable, factor), *more = form.terms
        noise = self._run.noises[variable]
        if more or factor != 1 or noise.family != "geometric" or self._how != "exact":
            return None
        if any(variable == one for known in self._run.constraints for one, _ in known.terms):
            return None
        drawn = drawn_by_weight(self._run.tree, float(noise.parameter))
        self._run.fixed[variable] = Fraction(drawn)
        return int(form.constant + drawn)

    def _middle(self) -> int:
        form = self._run.current(self._form)
        used = {one for known in self._run.constraints for one, _ in known.terms}
        if used.isdisjoint(variable for variable, _ in form.terms):
            likely = sum(
                (c * _middle_of(self._run.noises[v]) for v, c in form.terms), form.constant
            )
        else:
            likely = self._run.value_inside(form)
        return _ROUNDED[self._how](likely)

    def concrete(self, point_in: Callable[[int, int], int]) -> Any:
        return self.value(_ROUNDED[self._how](self._run.value(self._form, point_in)))

    def is_integer(self) -> bool:
        """As of a float."""
        return self.is_whole or bool(self.settled("is_integer").is_integer())


def discrete(run: NoiseRun, form: Form, kind: Any) -> Whole:
    """A sum of discrete noise: a multiple of a whole number, and a number."""
    factors = [factor for _, factor in form.terms]
    step, whole = _ONE, Form(_ZERO, form.terms)
    if any(abs(one.numerator) != 1 or one.denominator != 1 for one in factors):
        top = math.gcd(*(one.numerator for one in factors))
        step = Fraction(top, math.lcm(*(one.denominator for one in factors)))
        whole = whole * (1 / step)
    steps = (partial(_on_lattice, step, Fraction(form.constant), kind),)
    return Whole(run, whole, "exact", kind, steps, step, Fraction(form.constant))


def _is_short(slope: Fraction, shift: Fraction) -> bool:
    """Whether floats hold slope * k + shift exactly for all k that matter."""
    return (
        slope.denominator in _SHORT
        and shift.denominator in _SHORT
        and abs(slope) <= _MOST_SLOPE
        and abs(shift) <= _MOST_SHIFT
    )


def _on_lattice(step: Fraction, shift: Fraction, kind: Any, k: int) -> Any:
    number = step * k + shift
    return kind(float(number)) if issubclass(kind, float) else kind(int(number))


def _applied(operation: Any, constant: Any, swapped: bool, value: Any) -> Any:
    return operation(constant, value) if swapped else operation(value, constant)


def _middle_of(noise: Noise) -> Fraction:
    """About the median."""
    low, high = noise.support
    if low is None:
        return _ZERO
    if high is not None:
        return (low + high) / 2
    if noise.is_discrete:
        return low + Fraction(round(float(_MEDIAN / noise.parameter)))
    return _MEDIAN * noise.parameter


def _below_rint(k: int) -> tuple[Fraction, bool]:
    # Halves are rounded to even numbers.
    return k - _HALF, k % 2 == 0


def _above_rint(k: int) -> tuple[Fraction, bool]:
    return k - _HALF, k % 2 == 1


_MEDIAN = Fraction(7, 10)


_ROUNDED: dict[str, Callable[[Any], int]] = {
    "exact": int,
    "floor": math.floor,
    "ceil": math.ceil,
    "rint": round,
}


# From where on a sum is at least k, up to where it is below k, and whether that is included.
_ENDS: dict[str, Any] = {
    "exact": (lambda k: (Fraction(k), True), lambda k: (Fraction(k - 1), True)),
    "floor": (lambda k: (Fraction(k), True), lambda k: (Fraction(k), False)),
    "ceil": (lambda k: (Fraction(k - 1), False), lambda k: (Fraction(k - 1), True)),
    "rint": (_below_rint, _above_rint),
}
