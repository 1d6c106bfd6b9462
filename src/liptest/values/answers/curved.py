"""Numbers of a run in which data are symbolic, and are used in other ways than added to noise.

A ``CurvedValue`` is a function of sums of the data (``symbolic.curves``) plus noise times such
functions: ``mean + scale(mean) * noise``, ``rng.random() < 1 / (1 + exp(-mean))``. A comparison of
one with noise chooses a branch, which is a condition of the path; no noise is shifted here, so
nothing else may be done with noise, and a jump of the data alone is refused (docs/theory/tables.md,
B17).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from liptest.balls import ball, precision
from liptest.symbolic.answers import Answer
from liptest.symbolic.curves import (
    AT_NUMBERS,
    Applied,
    Curve,
    DataSum,
    Enclosure,
    PlainNumber,
    answers_in,
    at_numbers,
    enclose,
)
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.answers.aligned import AlignedRun, AlignedValue, NoisyData
from liptest.values.answers.functions_of_answers import result_kind
from liptest.values.promotion import as_noise
from liptest.values.protocol import Operation, SymbolicValue, current, is_symbolic
from liptest.values.rounding import Near

if TYPE_CHECKING:
    from liptest.symbolic.curved_masses import CurvedCondition

_ZERO, _ONE, _MINUS_ONE = (PlainNumber(Fraction(number)) for number in (0, 1, -1))
#: Functions of NumPy and of the module math that are followed.
_UNARY: dict[Any, str] = {
    **{getattr(np, name): name for name in ("exp", "expm1", "log", "log1p", "sqrt", "tanh")},
    **{getattr(math, name): name for name in ("exp", "expm1", "log", "log1p", "sqrt", "tanh")},
    **{np.square: "square", np.absolute: "absolute", np.fabs: "absolute", math.fabs: "absolute"},
}
_BINARY: dict[Any, str] = {
    np.maximum: "maximum",
    np.fmax: "maximum",
    np.minimum: "minimum",
    np.fmin: "minimum",
}
_LINEAR = (operator.add, operator.sub)
_LARGEST_POWER = 4
# exp() of more is not a float, whole numbers wrap, and other numbers keep away from infinity.
_MOST_EXPONENT, _MOST_WHOLE, _MOST = Fraction(700), Fraction(1 << 62), Fraction(1 << 300)
# As ``answer_functions`` compares sums: floats are off by less, by how large both sides are.
_FLOATS, _BITS = Fraction(1, 1 << 30), 128
_ADVICE = (
    "of sums of data followed are + - * /, exp, log, sqrt, tanh, abs, minimum, maximum, clip, and "
    "comparisons with one noise each"
)
Noises = tuple[tuple[int, Curve], ...]


class CurvedRun(AlignedRun):
    """A run whose numbers become these as soon as anything is done with them."""

    __slots__ = ("curved", "finite", "positive")

    is_curved = True

    def begin(self) -> None:
        super().begin()
        #: What was asked, in order.
        self.curved: list[CurvedCondition] = []
        #: Curves that the code takes to be above 0.
        self.positive: list[Curve] = []
        #: Curves with what their size has to be below.
        self.finite: list[tuple[Curve, Fraction]] = []

    def end(self) -> tuple[Any, Any, Any] | None:
        """What was asked on this path, and what has to be positive and finite; None where records
        were chosen by chance."""
        if self.orders or self.coins:
            return None
        finite = dict.fromkeys(self.finite)
        return tuple(self.curved), tuple(dict.fromkeys(self.positive)), tuple(finite)

    def larger(self, name: str, left: Any, right: Any) -> Any:
        pair = current(left), current(right)
        return next(one for one in pair if type(one) is CurvedValue).best(name, *pair)

    def value_of_answer(self, answer: Answer, kind: Any) -> AlignedValue:
        return AlignedValue(self, self.answer(answer), kind)

    def note_draw(self, drawn: Any, first: int, *draw: Any) -> None:
        return None

    def as_curve(self, value: Any) -> CurvedValue:
        told, noises, form = [], [], value.form
        for variable, factor in form.terms:
            one = self.noises[variable]
            if isinstance(one, Answer):
                told.append((one, factor))
            else:
                noises.append((variable, PlainNumber(Fraction(factor))))
        constant = Fraction(form.constant)
        base: Curve = DataSum(tuple(told), form.constant) if told else PlainNumber(constant)
        return CurvedValue(self, base, tuple(noises), value.kind)

    def number_at_point(self, value: CurvedValue) -> Fraction:
        """What a number is at the point of the run."""
        total = Fraction(self.curve_at_point(value.base))
        for variable, factor in value.noise:
            total += Fraction(self.curve_at_point(factor)) * self.values[variable]
        return total

    def curve_at_point(self, curve: Curve) -> float:
        """The same of a curve; what fails on some data is not followed."""
        try:
            return at_numbers(curve, lambda answer: self.at_point(self.answer(answer)))
        except (ArithmeticError, ValueError):
            return self.tree.forbid("a function that fails for some data", _ADVICE)

    def law_of(self, form: Any) -> Any:
        if type(form) is not CurvedValue:
            return super().law_of(form)
        location = Fraction(self.curve_at_point(form.base))
        noises = []
        for variable, factor in form.noise:
            scale = Fraction(self.curve_at_point(factor))
            noises.append((1, _NearNoise(self.noises[variable], scale)))
        return Near(location, abs(location)), tuple(noises)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        return NotImplemented

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return NotImplemented


class _NearNoise:
    """Equal to noise of the same family whose scale is nearly this one."""

    __slots__ = ("_noise", "_scale")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, noise: Noise, scale: Fraction) -> None:
        self._noise = noise
        self._scale = scale * noise.parameter

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Noise) or other.family != self._noise.family:
            return False
        return Near(self._scale, self._scale) == other.parameter


class CurvedValue(NoisyData):
    """A curve plus noise times curves."""

    __slots__ = ("base", "noise")

    __hash__ = SymbolicValue.__hash__
    advice = _ADVICE
    run: CurvedRun

    def __init__(self, run: CurvedRun, base: Curve, noise: Noises, kind: Any = float) -> None:
        self.run = run
        self.base = base
        self.noise = noise
        self.kind = kind

    @property
    def form(self) -> Any:
        """What ``make_law`` is asked for."""
        return self

    def linear(self) -> Form | None:
        return None

    def released(self, use: str) -> Any:
        self.refuse(use)

    def evaluate(self) -> Any:
        value = float(self.run.number_at_point(self))
        return self.kind(value)

    def concretise(self, use: str) -> Any:
        self.refuse(use)

    def entry(self) -> Any:
        return self

    def advice_for(self, use: str) -> str:
        return _ADVICE

    # ---- arithmetic

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        right = self._operand(other)
        if right is None:
            self.refuse(f"{operation.__name__} with {other!r}")
        kind = result_kind(operation, *_in_order(self.kind, right.kind, swapped))
        pair = _in_order(self, right, swapped)
        if operation in _LINEAR:
            return self._linear(operation.__name__, *pair, kind)
        if operation is operator.mul and not (self.noise and right.noise):
            noisy, scale = (self, right) if self.noise else (right, self)
            return noisy._times(scale.base, kind)
        if operation is operator.truediv and not pair[1].noise:
            return pair[0]._over(pair[1].base, kind)
        if operation is operator.pow and not swapped and not is_symbolic(other):
            return self._power(other, kind)
        return self.refuse(operation.__name__)

    def _operand(self, other: Any) -> CurvedValue | None:
        if type(other) is CurvedValue:
            return other
        if is_symbolic(other) or not math.isfinite(other):
            return None
        return CurvedValue(self.run, PlainNumber(Fraction(other)), (), type(other))

    def _linear(self, name: str, left: CurvedValue, right: CurvedValue, kind: Any) -> Any:
        noises: dict[int, Curve] = dict(left.noise)
        for variable, factor in right.noise:
            before = noises.get(variable, _ZERO)
            noises[variable] = _make(name, before, factor)
        return self._of(_make(name, left.base, right.base), tuple(sorted(noises.items())), kind)

    def _times(self, scale: Curve, kind: Any) -> Any:
        noises = tuple((v, _make("mul", factor, scale)) for v, factor in self.noise)
        return self._of(_make("mul", self.base, scale), noises, kind)

    def _over(self, divisor: Curve, kind: Any) -> Any:
        if isinstance(divisor, PlainNumber) and not divisor.value:
            self.refuse("a division by 0")
        if not isinstance(divisor, PlainNumber):
            self.run.positive.append(Applied("absolute", (divisor,)))
        noises = tuple((v, _make("truediv", factor, divisor)) for v, factor in self.noise)
        return self._of(_make("truediv", self.base, divisor), noises, kind)

    def _power(self, exponent: Any, kind: Any) -> Any:
        if self.noise or exponent not in range(1, _LARGEST_POWER + 1):
            self.refuse("a power that is not 1, 2, 3 or 4")
        product = self.base
        for _ in range(int(exponent) - 1):
            product = _make("mul", product, self.base)
        return self._of(product, (), kind)

    def _of(self, base: Curve, noise: Noises, kind: Any) -> Any:
        """A number that has been made; it has to stay far from where floats end."""
        if not (issubclass(kind, (int, float, np.int64, np.float64)) and kind is not bool):
            self.refuse(f"arithmetic that gives a {kind.__name__}")
        whole = not issubclass(kind, (float, np.floating))
        for curve in (base, *(factor for _, factor in noise)):
            if not isinstance(curve, PlainNumber):
                self.run.finite.append((curve, _MOST_WHOLE if whole else _MOST))
        if not noise and isinstance(base, PlainNumber):
            return kind(int(base.value)) if whole else kind(base.value)
        return CurvedValue(self.run, base, noise, kind)

    # ---- functions

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc in _UNARY:
            return self._apply(_UNARY[ufunc], np.float64)
        if ufunc in _BINARY and len(inputs) == 2:
            return self.best(_BINARY[ufunc], *inputs)
        return NotImplemented

    def apply_math(self, function: Any) -> Any:
        return self._apply(_UNARY[function], float) if function in _UNARY else NotImplemented

    def best(self, name: str, left: Any, right: Any) -> Any:
        """The larger or the smaller of two numbers."""
        for side, plain in ((left, right), (right, left)):
            if not is_symbolic(plain) and math.isinf(plain):
                return side if (plain < 0) is (name == "maximum") else plain
        pair = [self._operand(side) for side in (left, right)]
        if any(side is None or side.noise for side in pair):
            self.refuse(name)
        bases = [side.base for side in pair if side is not None]
        kinds = [side.kind for side in pair if side is not None]
        kind = kinds[0] if kinds[0] is kinds[1] else result_kind(operator.add, *kinds)
        return self._of(_make(name, *bases), (), kind)

    def _apply(self, name: str, kind: Any) -> Any:
        if self.noise:
            self.refuse(name)
        if name in ("exp", "expm1", "tanh"):
            self.run.finite.append((self.base, _MOST_EXPONENT))
        if name in ("log", "sqrt"):
            self.run.positive.append(self.base)
        if name == "log1p":
            self.run.positive.append(_make("add", _ONE, self.base))
        return self._of(_make(name, self.base), (), kind)

    def __abs__(self) -> Any:
        return self._apply("absolute", self.kind)

    def typed(self, kind: Any) -> Any:
        is_wider = issubclass(kind, (float, np.float64)) and kind is not bool
        if kind is self.kind or is_wider:
            return CurvedValue(self.run, self.base, self.noise, kind)
        return self.refuse(f"{kind.__name__}()")

    def rounded(self, how: str, kind: Any) -> Any:
        return self.refuse(how)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        return self.refuse("round()")

    # ---- comparisons

    def compare(self, comparison: Operation, other: Any) -> Any:
        from liptest.symbolic.curved_masses import CurvedCondition

        if not is_symbolic(other) and not math.isfinite(other):
            return bool(comparison(0.0, other))
        right = self._operand(other)
        if right is None:
            return self.refuse("a comparison")
        gap = self._linear("sub", self, right, float)
        if not is_symbolic(gap):
            return bool(comparison(gap, 0))
        run = self.run
        if not gap.noise:
            sign = _find_sign(self.base, right.base)
            if sign is None:
                return self.refuse("a comparison, without noise in it,")
            run.depends_on_size = True
            return bool(comparison(sign, 0))
        if any(run.noises[variable].is_discrete for variable, _ in gap.noise):
            return self.refuse("a comparison with whole noise")
        if comparison in (operator.eq, operator.ne):
            return comparison is operator.ne
        key = "curved", gap.base, gap.noise
        is_above = run.decide(key, lambda: run.number_at_point(gap) > 0)
        asked = CurvedCondition(gap.base, gap.noise, is_above)
        if asked not in run.curved:
            run.curved.append(asked)
        return is_above is (comparison in (operator.gt, operator.ge))

    def is_integer(self) -> bool:
        return bool(self.refuse("is_integer"))


def _find_sign(left: Curve, right: Curve) -> int | None:
    """1 where one curve is above another, whatever the data, -1 where it is below; None: neither.

    Floats must not change it, so the distance has to be 2**-30 of what both sides are.
    """
    answers = answers_in(left) | answers_in(right)
    with precision(_BITS):
        at = {}
        for number, answer in answers.items():
            reach = answer.span
            if reach is None:
                return None
            at[number] = Enclosure(ball(reach[0]).union(ball(reach[1])), {number: ball(1)})
        sides = [enclose(curve, at) for curve in (left, right)]
        if not all(side.is_finite for side in sides):
            return None
        size = sum((abs(side.value).upper() for side in sides), ball(0))
        off = sum((side.off for side in sides), size * ball(_FLOATS))
        gap = sides[0].value - sides[1].value
        return 1 if gap.lower() > off else -1 if gap.upper() < -off else None


def _in_order(left: Any, right: Any, swapped: bool) -> tuple[Any, Any]:
    return (right, left) if swapped else (left, right)


def _make(name: str, *parts: Curve) -> Curve:
    """A curve by its name; of numbers alone a number, and without what changes nothing."""
    if all(isinstance(part, PlainNumber) for part in parts):
        values = [part.value for part in parts if isinstance(part, PlainNumber)]
        if name in ("add", "sub", "mul", "truediv"):
            return PlainNumber(Fraction(getattr(operator, name)(*values)))
        return PlainNumber(Fraction(AT_NUMBERS[name](*map(float, values))))
    if name in ("add", "sub") and parts[1] == _ZERO:
        return parts[0]
    if name == "add" and parts[0] == _ZERO:
        return parts[1]
    if name == "sub" and parts[0] == _ZERO:
        return Applied("mul", (_MINUS_ONE, parts[1]))
    if name == "mul" and _ZERO in parts:
        return _ZERO
    if name in ("mul", "truediv") and parts[1] == _ONE:
        return parts[0]
    if name == "mul" and parts[0] == _ONE:
        return parts[1]
    return Applied(name, parts)


def scale_noise(draw: Callable[[], Any], location: Any, scale: Any) -> CurvedValue:
    """Noise whose scale the data determine: NumPy multiplies a draw of scale 1, and adds to it."""
    if type(scale) is AlignedValue:
        scale = scale.current()
    if type(scale) is not CurvedValue or scale.noise:
        return scale.refuse("a scale of noise")  # type: ignore[no-any-return]
    scale.run.positive.append(scale.base)
    drawn = draw() * scale
    made = drawn if not is_symbolic(location) and location == 0 else drawn + location
    return made.typed(float)  # type: ignore[no-any-return]


@as_noise.register
def _itself(value: CurvedValue) -> Any:
    return value
