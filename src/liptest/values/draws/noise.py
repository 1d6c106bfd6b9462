"""Numbers that are sums of symbolic noise and constants: calculating, comparing, rounding.

A ``NoiseValue`` has continuous noise in it. A ``RoundedValue`` is a whole number k, a sum of
discrete noise or any sum rounded, and what the program has made of k since, with the program's own
floats; it is asked which k only where that is needed. What is calculated from them, other such
numbers and constants is such a number again; the rounding of floats is not followed. Comparisons
choose a branch (``noise_run``). What is neither is refused with its line.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import isfinite
from typing import Any

import numpy as np

from liptest.symbolic.forms import Form, Rational, lean
from liptest.symbolic.noise import Noise
from liptest.values.answers.free_functions import to_whole
from liptest.values.answers.functions_of_answers import result_kind
from liptest.values.draws.noise_run import (
    ROUNDED,
    NoiseRun,
    NoisyNumber,
    NoisyValue,
    WholeValue,
    constrain_sum,
)
from liptest.values.draws.questions import Cells, PathCondition, Span
from liptest.values.draws.tails import draw_by_weight
from liptest.values.faults import raises_as_numpy
from liptest.values.promotion import as_noise
from liptest.values.protocol import REFLECTED, Operation, SymbolicValue, is_symbolic
from liptest.values.rounding import is_exact_factor

ADVICE = (
    "round it (numpy.round(x), or to a grid: step * round(x / step)), answer only comparisons of "
    "it, draw discrete noise (rng.geometric(p) - rng.geometric(p)), or sample the mechanism with "
    "lt.check_samples"
)
_NO_FLOAT = (
    "leave float() out: the number itself may be compared, rounded and answered; collect such "
    "numbers in a list, not in an array of floats"
)
#: Types that a number with noise may stand for.
KINDS: frozenset[type] = frozenset({float, int, np.float64, np.int64})
_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)
# Steps from where a comparison should turn to where it does, in floats.
_MOST_STEPS = 64
# 8 binary digits behind the point, and 44 before it for k up to 2**34.
_SHORT = frozenset(1 << k for k in range(9))
_MOST_SLOPE, _MOST_SHIFT = 1 << 10, 1 << 40
_LEAST_SLOPE = Fraction(1, 1 << 100)
# Slopes of whole numbers of NumPy; shifts may be as many times as large as those of floats.
_MOST_WRAPS = 1 << 20
# Continuous noise exceeds so many times its scale with probability below 2**-64.
_REACH = 64
_LAST_DIGIT = Fraction(1, 1 << 52)
_ROUNDING = "differ only by how floats are rounded"
# Begins of uses that do not tell -0.0 from 0.0.
_ALIKE_FOR_ZEROS = ("the output", "a comparison", "int()", "index()", "hash()", "bool()")
Step = Callable[[Any], Any]


class AnyNoise(NoisyNumber):
    """What both kinds have in common: arithmetic with constants, comparisons with infinity."""

    __slots__ = ("form",)

    described = "a number with continuous noise"
    described_in_arrays = "an array with continuous noise"
    advice = ADVICE
    form: Form
    #: How often floats have rounded what the program calculated from its draws.
    roundings: int = 0

    @property
    def is_precise(self) -> bool:
        """Whether no float is rounded on its way, or that has probability 0 to matter."""
        return True

    @property
    def is_zero(self) -> bool:
        """Whether it is 0.0 or -0.0."""
        return False

    def linear(self) -> Form | None:
        """What it is as a sum of noise; None where it is rounded."""
        raise NotImplementedError

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if isinstance(other, AnyNoise):
            return self._with_noise(operation, other)
        kinds = (type(other), self.kind) if swapped else (self.kind, type(other))
        kind = self._kind_of(operation, *kinds)
        pair = (other, self.kind(1)) if swapped else (self.kind(1), other)
        if not isfinite(other):
            if operation not in (operator.add, operator.sub):
                self.refuse(f"{operation.__name__} with {other!r}")
            return operation(*pair)
        if other == 0 and operation in (operator.truediv, operator.floordiv, operator.mod):
            if not swapped and self.kind in (int, float):
                _of_known(operation, other, swapped, self.kind(1))  # ZeroDivisionError
            self.refuse(f"{operation.__name__} with 0")
        return self.with_constant(operation, other, kind, swapped=swapped)

    def _with_noise(self, operation: Operation, other: AnyNoise) -> Any:
        if operation in (operator.add, operator.sub) and self.is_zero is not other.is_zero:
            number, is_minus = (other, operation is operator.sub) if self.is_zero else (self, False)
            if not number.is_discrete:  # else it may be a zero itself
                kind = self._kind_of(operation, self.kind, other.kind)
                return (-number if is_minus else number).typed(kind)
        left, right = self._forms_with(other)
        if operation in (operator.add, operator.sub) and left is not None and right is not None:
            kind = self._kind_of(operation, self.kind, other.kind)
            form = operation(left, right)
            is_rounded = not form.terms or self._is_near(form, other)
            if is_rounded and not _is_one_float(self, other):
                self.refuse(f"{operation.__name__} of two numbers that {_ROUNDING}")
            return find_value(self.run, form, kind, self.roundings + other.roundings + 1)
        use = f"{operation.__name__} with another number with noise"
        return operation(self.concretise(use), other)

    def _kind_of(self, operation: Operation, left: Any, right: Any) -> Any:
        kind = result_kind(operation, left, right)
        if kind not in KINDS and not self.is_discrete:
            self.refuse(f"{operation.__name__} that gives a {kind.__name__}")
        return kind

    def with_constant(
        self, operation: Operation, constant: Any, kind: Any, *, swapped: bool
    ) -> Any:
        """Arithmetic with a finite number, which gives a number of a type."""
        raise NotImplementedError

    def compare(self, comparison: Operation, other: Any) -> bool:
        if not isinstance(other, AnyNoise):
            if not is_finite(other):
                return bool(comparison(0.0, other))
            return self.compared(comparison, other)
        left, right = self._forms_with(other)
        if left is not None and right is not None:
            form = left - right
            if self._is_near(form, other) and not _is_one_float(self, other):
                self.refuse(f"a comparison of two numbers that {_ROUNDING}")
            return bool(self.run.holds(comparison, form))
        use = "a comparison with another number with noise"
        if right is None:
            return bool(self.compare(comparison, other.concretise(use)))
        return bool(other.compare(REFLECTED[comparison], self.concretise(use)))

    def _forms_with(self, other: AnyNoise) -> tuple[Form | None, Form | None]:
        """Both as sums of noise; None where one is rounded, which has to be asked for its value."""
        if self.is_discrete and other.is_discrete and not (self.is_precise and other.is_precise):
            return self.linear(), None
        return self.linear(), other.linear()

    def _is_near(self, made: Form, other: AnyNoise) -> bool:
        """Whether what is left of two numbers is no more than the rounding of floats."""
        if self.is_discrete or other.is_discrete:
            return False
        times = self.roundings + other.roundings + 1
        forms = made, self.form, other.form
        left, one, two = (_size(self.run, form, float) for form in forms)
        if _is_far(left, one, two, times):
            return False
        left, one, two = (_size(self.run, form, Fraction) for form in forms)
        return bool(left <= (one + two) * times * _LAST_DIGIT)

    def compared(self, comparison: Operation, bound: Any) -> bool:
        """With a finite number."""
        raise NotImplementedError

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        return _FINITE.get(ufunc, NotImplemented)

    def advice_for(self, use: str) -> str:
        return f"{_NO_FLOAT}; else {ADVICE}" if use == "float()" else ADVICE


class NoiseValue(AnyNoise):
    """A sum of noise, some of it continuous, and a number."""

    __slots__ = ("roundings",)
    stays_symbolic = True

    __hash__ = SymbolicValue.__hash__

    def __init__(self, run: NoiseRun, form: Form, kind: Any = float, roundings: int = 0) -> None:
        self.run = run
        self.form = form
        self.kind = kind
        self.roundings = roundings

    def linear(self) -> Form | None:
        return self.form

    def compared(self, comparison: Operation, bound: Any) -> bool:
        return self.run.holds(comparison, self.form - exact_number(bound))

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if issubclass(kind, float):
            return NoiseValue(self.run, self.form, kind, self.roundings)
        if kind in KINDS:
            return self.rounded("trunc", kind)
        return kind(self.concretise(f"{kind.__name__}()"))

    def rounded(self, how: str, kind: Any) -> Any:
        if how == "trunc":
            how = "floor" if self.compared(operator.ge, 0) else "ceil"
        return RoundedValue(self.run, self.form, how, kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        if decimals == 0:
            return self.rounded("rint", kind)
        return _round_to_places(self, decimals, kind)

    def with_constant(
        self, operation: Operation, constant: Any, kind: Any, *, swapped: bool
    ) -> Any:
        form, number, times = self.form, exact_number(constant), self.roundings + 1
        if operation is operator.add:
            return NoiseValue(self.run, form + number, kind, times)
        if operation is operator.sub:
            return NoiseValue(self.run, -form + number if swapped else form - number, kind, times)
        if operation is operator.mul and not number:
            same = math.copysign(1, constant) > 0
            return RoundedValue(self.run, form if same else -form, "zero", kind)
        if operation is operator.mul:
            times -= is_exact_factor(Fraction(number))
            return find_value(self.run, form * number, kind, times)
        if not swapped and operation is operator.truediv:
            times -= is_exact_factor(Fraction(number))
            return NoiseValue(self.run, form * (1 / Fraction(number)), kind, times)
        if not swapped and operation is operator.floordiv:
            return NoiseValue(self.run, form * (1 / Fraction(number)), kind).rounded("floor", kind)
        if not swapped and operation is operator.pow and constant == 1:
            return self
        return self.refuse(f"{operation.__name__} with a number")

    def concretise(self, use: str) -> Any:
        if use != "the output":
            self.refuse(use)
        self.run.check_current()
        self.run.symbolic = True
        return NoisyValue(self.run.current(self.form))

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        return self.kind(float(self.run.value(self.form, point_in)))

    def is_integer(self) -> bool:
        """Whether a float is a whole number, which has probability 0."""
        return False


class RoundedValue(AnyNoise):
    """``steps`` after k, where k is a sum that is whole ("exact"), or is rounded as ``how``.

    With "zero" it is a sum that is multiplied by 0: 0.0, or -0.0 below 0.

    ``slope`` and ``shift`` are what the steps do, without the rounding of floats; ``precise`` says
    that there is none, but for the last step, and ``nearest`` that the number is the float that is
    nearest: floats were rounded once at most.
    """

    __slots__ = ("_how", "_is_nearest", "_precise", "_shift", "_slope", "_steps")

    __hash__ = SymbolicValue.__hash__

    def __init__(
        self,
        run: NoiseRun,
        form: Form,
        how: str,
        kind: Any,
        steps: tuple[Step, ...] = (),
        slope: Fraction = Fraction(1),
        shift: Fraction = Fraction(0),
        precise: bool = True,
        nearest: bool = True,
    ) -> None:
        self.run = run
        self.form = form
        self.kind = kind
        self._how = how
        self._is_nearest = nearest
        self._steps = steps or (kind,)
        self._slope = slope
        self._shift = shift
        whole = not issubclass(kind, float)
        self._precise = precise and (whole or _is_short(slope, shift))

    @property
    def is_discrete(self) -> bool:
        return True

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for certain."""
        return self._precise and self._slope.denominator == self._shift.denominator == 1

    @property
    def is_precise(self) -> bool:
        return self._precise and self._how == "exact"

    @property
    def _is_told(self) -> bool:
        """Whether as an output it tells k: floats of neighbours differ."""
        if self.is_whole:
            return True
        size = abs(self._slope)
        is_apart = _LEAST_SLOPE <= size <= _MOST_SLOPE and abs(self._shift) <= size * _MOST_SHIFT
        return self._is_nearest and is_apart and issubclass(self.kind, float)

    def __abs__(self) -> Any:
        size = super().__abs__()
        is_float = is_symbolic(size) and issubclass(self.kind, float)
        return size + self.kind(0) if is_float else size  # never -0.0

    @property
    def is_zero(self) -> bool:
        return self._how == "zero"

    def value(self, k: float) -> Any:
        """The program's number where the whole number is k, or -0.0."""
        number: Any = k
        for step in self._steps:
            number = step(number)
        return number

    def linear(self) -> Form | None:
        if self._how != "exact":
            return None
        if self._slope == 1:
            return Form(self.form.constant + self._shift, self.form.terms)
        return self.form * self._slope + self._shift

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if kind in KINDS and (self.is_whole or issubclass(kind, float)):
            return self._after(kind, kind, self._slope, self._shift)
        return kind(self.concretise(f"{kind.__name__}()"))

    def rounded(self, how: str, kind: Any) -> Any:
        if self.is_whole:
            return self.typed(kind)
        if how == "trunc":
            how = "floor" if self.compared(operator.ge, 0) else "ceil"
        form = self.linear()
        # Halves and whole numbers are those of the program's floats.
        if form is None or not self.is_precise:
            return to_whole(how, kind, self.concretise(how))
        return RoundedValue(self.run, form, how, kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        if issubclass(kind, (int, np.integer)) and decimals >= 0:
            return self.typed(kind)
        if decimals == 0:
            return self.rounded("rint", kind)
        if not self.is_precise:
            return kind(own(self.concretise("round()"), decimals))
        return _round_to_places(self, decimals, kind)

    def with_constant(
        self, operation: Operation, constant: Any, kind: Any, *, swapped: bool
    ) -> Any:
        number = Fraction(exact_number(constant))
        step = partial(_apply, operation, constant, swapped)
        slope, shift = self._slope, self._shift
        if kind in KINDS:
            if operation is operator.add:
                return self._after(step, kind, slope, shift + number)
            if operation is operator.sub:
                changed = (-slope, number - shift) if swapped else (slope, shift - number)
                return self._after(step, kind, *changed)
            if operation is operator.mul and number:
                return self._after(step, kind, slope * number, shift * number)
            if operation is operator.truediv and not swapped:
                return self._after(step, kind, slope / number, shift / number)
        return _of_known(operation, constant, swapped, self.concretise(operation.__name__))

    def _after(self, step: Step, kind: Any, slope: Fraction, shift: Fraction) -> Any:
        if issubclass(kind, np.integer) and max(abs(slope), abs(shift) / _MOST_SHIFT) > _MOST_WRAPS:
            # Whole numbers of NumPy wrap: what a line says of them ends there.
            return step(self.concretise("a whole number that may wrap"))
        if self.is_zero and repr(step(self.value(-0.0))) == repr(step(self.value(0.0))):
            return step(self.value(0.0))
        steps = (*self._steps, step)
        line = self._slope, self._shift
        same = (slope, shift) == line or (-slope, -shift) == line
        nearest = self._precise or (self._is_nearest and same and issubclass(kind, float))
        parts = kind, steps, slope, shift, self._precise, nearest
        return RoundedValue(self.run, self.form, self._how, *parts)

    def compared(self, comparison: Operation, bound: Any) -> bool:
        start = math.floor((exact_number(bound) - self._shift) / self._slope)
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
        return self.refuse("a comparison where floats are too coarse for it")

    def _is_in(self, *spans: Span) -> bool:
        """Whether the whole number is in the first of some spans, in one of which it is."""
        number = self._known()
        if number is not None:
            low, high = spans[0]
            return (low is None or number >= low) and (high is None or number < high)
        key = (self.run.current(self.form), self._how, spans)
        return self.run.take(key, lambda: tuple(map(self._between, spans))) == 0

    def _between(self, span: Span) -> PathCondition:
        """That the whole number is in a span: the sum is in what is rounded to it."""
        low, high = span
        below, above = _ENDS[self._how]
        bottom, closed = (None, False) if low is None else below(low)
        top, top_closed = (None, False) if high is None else above(high)
        form = self.run.current(self.form)
        return (
            constrain_sum(form, low=bottom, high=top, low_closed=closed, high_closed=top_closed),
        )

    def _known(self) -> int | None:
        """The whole number, where it was looked at before."""
        form = self.run.current(self.form)
        if self.is_zero or not form.terms:
            return ROUNDED[self._how](form.constant)
        return self.run.known.get((form, self._how))

    def concretise(self, use: str) -> Any:
        self.run.check_current()
        k = self._known()
        if k is None and use == "the output" and self.run.tree.keeps_whole and self._is_told:
            self.run.symbolic = True
            form = self.run.current(self.form)
            return WholeValue(form, self._how, self._slope, self._shift)
        k = self._choose() if k is None else k
        if k == 0 and not use.startswith(_ALIKE_FOR_ZEROS) and self._is_minus_zero():
            return self.value(-0.0)
        return self.value(k)

    def _is_minus_zero(self) -> bool:
        """Whether it is rounded to -0.0, as what lies below 0 is, and what is done tells."""
        if self._how in ("exact", "floor") or not issubclass(self.kind, float):
            return False
        if repr(self.value(-0.0)) == repr(self.value(0)):
            return False
        return self.run.holds(operator.lt, self.run.current(self.form))

    def _choose(self) -> int:
        run, form = self.run, self.run.current(self.form)
        alone = self._draw_alone(form)
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

    def _draw_alone(self, form: Form) -> int | None:
        """A single geometric draw of which nothing is known: chosen by weight, like any draw."""
        (variable, factor), *more = form.terms
        noise = self.run.noises[variable]
        if more or factor != 1 or noise.family != "geometric" or self._how != "exact":
            return None
        if any(
            variable == other
            for constraint in self.run.constraints
            for other, _ in constraint.terms
        ):
            return None
        drawn = draw_by_weight(self.run.tree, float(noise.parameter))
        self.run.fixed[variable] = Fraction(drawn)
        return int(form.constant + drawn)

    def _middle(self) -> int:
        form = self.run.current(self.form)
        used = {number for constraint in self.run.constraints for number, _ in constraint.terms}
        if used.isdisjoint(variable for variable, _ in form.terms):
            noises = self.run.noises
            likely = sum((c * _find_middle(noises[v]) for v, c in form.terms), form.constant)
        else:
            likely = self.run.value_inside(form)
        return ROUNDED[self._how](likely)

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        return self.value(ROUNDED[self._how](self.run.value(self.form, point_in)))

    def is_integer(self) -> bool:
        """Whether it is a whole number, as of a float."""
        return self.is_whole or bool(self.concretise("is_integer").is_integer())


def find_value(run: NoiseRun, form: Form, kind: Any, roundings: int = 0) -> Any:
    """A sum as what stands for it: a plain number where no noise is left in it."""
    if not form.terms:
        return kind(form.constant) if issubclass(kind, float) else kind(int(form.constant))
    own = run.own_value(form, kind)
    if own is not None:
        return own
    if run.is_discrete(form):
        return _discrete(run, form, kind)
    return NoiseValue(run, form, kind, roundings)


def _is_one_float(left: AnyNoise, right: AnyNoise) -> bool:
    """Whether two numbers that are one sum are one float: it is rounded once at most."""
    if left is right:
        return True
    return left.form == right.form and max(left.roundings, right.roundings) <= 1


def _size(run: NoiseRun, form: Form, number: Any) -> Any:
    """Which size a sum hardly exceeds: exactly with ``number=Fraction``, nearly with ``float``.

    An infinity stands for what no float can hold.
    """
    try:
        size = abs(number(form.constant))
        for variable, factor in form.terms:
            noise = run.noises[variable]
            parameter = noise.near_parameter if number is float else noise.parameter
            reach = 1 if noise.family == "uniform" else _REACH * parameter
            size += abs(number(factor)) * reach
    except OverflowError:
        return math.inf
    return size


def _is_far(left: float, one: float, two: float, times: int) -> bool:
    """Whether what is left exceeds the rounding of floats for certain, all sizes nearly known."""
    return math.isfinite(left) and left > 1e-9 * (one + two) * times


@as_noise.register
def _itself(value: AnyNoise) -> Any:
    return value


def is_finite(number: Any) -> bool:
    """Whether a plain number is finite; every whole number of Python is."""
    return type(number) is int or isfinite(number)


@lru_cache(maxsize=4096)
def exact_number(value: Any) -> Rational:
    """A finite number exactly, of Python's whole numbers."""
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    return lean(Fraction(value) if isinstance(value, Fraction) else Fraction(float(value)))


def _round_to_places(number: Any, places: int, kind: Any) -> Any:
    scale: Any = 10 ** abs(places)
    scaled = number * scale if places > 0 else number / scale
    whole = scaled.rounded("rint", kind)
    return whole / scale if places > 0 else whole * scale


def _discrete(run: NoiseRun, form: Form, kind: Any) -> RoundedValue:
    """A sum of discrete noise: a multiple of a whole number, and a number."""
    factors = [factor for _, factor in form.terms]
    step, whole = _ONE, Form(_ZERO, form.terms)
    if any(abs(ratio.numerator) != 1 or ratio.denominator != 1 for ratio in factors):
        top = math.gcd(*(ratio.numerator for ratio in factors))
        step = Fraction(top, math.lcm(*(ratio.denominator for ratio in factors)))
        whole = whole * (1 / step)
    steps = (partial(_on_lattice, step, Fraction(form.constant), kind),)
    return RoundedValue(run, whole, "exact", kind, steps, step, Fraction(form.constant))


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


def _apply(operation: Any, constant: Any, swapped: bool, value: Any) -> Any:
    return operation(constant, value) if swapped else operation(value, constant)


@raises_as_numpy
def _of_known(operation: Any, constant: Any, swapped: bool, value: Any) -> Any:
    # What the program calculates with this number, 1 // 0 among it.
    return operation(constant, value) if swapped else operation(value, constant)


def _find_middle(noise: Noise) -> Fraction:
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
_FINITE: dict[Any, Any] = {
    np.isnan: np.False_,
    np.isinf: np.False_,
    np.isfinite: np.True_,
}
# From where on a sum is at least k, up to where it is below k, and whether that is included.
_ENDS: dict[str, Any] = {
    "exact": (lambda k: (Fraction(k), True), lambda k: (Fraction(k - 1), True)),
    "floor": (lambda k: (Fraction(k), True), lambda k: (Fraction(k), False)),
    "ceil": (lambda k: (Fraction(k - 1), False), lambda k: (Fraction(k - 1), True)),
    "rint": (_below_rint, _above_rint),
}
