"""Uniform random numbers as intervals of NumPy's grid of 2**53 floats.

``rng.random()`` returns j * 2**-53 with j uniform on 0 .. 2**53 - 1. Here j is known to lie in an
interval, at first all of the grid, and each comparison with a number splits it in two: exactly
the probabilities of the code as it runs, floats included. What is calculated from it and
constants is a monotone function of j (``images``), hence compared alike: a ``DerivedUniform``
keeps no interval of its own, it asks its ``base``. What rounds it branches over its values.

Where it is compared with or added to another random number there is no cut of the grid. The base
is then promoted: from there on it is ideal uniform noise on the interval in which it is known to
lie, and so is all that was derived from it, before or after, as long as it is linear in it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from liptest.errors import BudgetError
from liptest.symbolic.noise import Noise
from liptest.values.branching import Branching
from liptest.values.draws.grid import COARSE, GRID, UNIT, Line, split_weights
from liptest.values.draws.images import UNCERTAIN, Image, Step, one_sided, pieces, regions
from liptest.values.draws.inverse_cdf import (
    ABSOLUTES,
    EXPONENTIAL,
    Inverted,
    Quantile,
    half_width,
    is_bare_logarithm,
    join_lines,
    linear_in_base,
    quantile_in_base,
    roundings_from_grid,
)
from liptest.values.draws.noise import NoiseValue, find_value
from liptest.values.draws.noise_run import LocatedNumber, NoiseRun
from liptest.values.draws.quantile_steps import of_ufunc
from liptest.values.draws.transforms import (
    ABSOLUTE,
    AS_ENTRY,
    AS_FLOAT,
    BINARY,
    FINITE,
    MATH,
    NEGATIVE,
    POSITIVE,
    UNARY,
    binary,
    log_to_base,
    make_rounding,
    make_sign,
)
from liptest.values.faults import raises_as_numpy
from liptest.values.promotion import as_noise, promote
from liptest.values.protocol import (
    COMPARISONS,
    Operation,
    SymbolicValue,
    concretise_all,
    is_symbolic,
)
from liptest.values.protocol import compare as compare_any

# Python compares floats with these exactly.
_EXACT = frozenset({float, int, bool, Fraction, Decimal})
_UNIFORM = Noise("uniform", Fraction(1))
# In place of a choice that was made before.
_NOTHING: tuple[Any, int] = (None, 0)
# Kept: while a program is analysed the names stand for something else.
_COPYSIGN, _LOG, _POW = math.copysign, math.log, math.pow
_JOINING = frozenset({"add", "sub", "truediv"})
# Functions of NumPy that look at a number with noise.
_ASKING = frozenset(
    {np.maximum, np.minimum, np.fmax, np.fmin, np.sign, np.absolute, np.fabs, np.floor_divide}
)
_ROUNDING = frozenset({np.floor, np.ceil, np.rint, np.trunc})
_OPERATIONS = frozenset({"add", "sub", "mul", "truediv", "floordiv", "pow", "rshift"})
#: What int() and round() do to a plain number.
TO_WHOLE: dict[str, Callable[[Any], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "rint": round,
}


class Folding:
    """What |u| of a number u is that is uniform around 0; ``folded_uniform`` fills it in."""

    #: ``(number, step)``.
    folded: Callable[[Any, Step], Any]


FOLDING = Folding()


class UniformValue(SymbolicValue):
    """A random float: ``low`` .. ``high`` - 1 are the grid points that it may be."""

    __slots__ = ("branching", "high", "inverted", "line", "low", "noise")

    __hash__ = SymbolicValue.__hash__
    family = "uniform"
    #: Whether it is known up to the side of 0 on which another number lies.
    is_folded = False
    described = "a number from rng.random()"
    described_in_arrays = "an array of numbers from rng.random()"
    advice = (
        "compare it with a number (rng.random() < p), calculate with it and constants only, round "
        "it (int(), numpy.floor), or draw with rng.integers, rng.choice, rng.binomial or "
        "rng.permutation"
    )

    def __init__(self, branching: Branching, line: Line = UNIT) -> None:
        self.branching = branching
        self.line: Any = line
        self.low = 0
        self.high = line.stop
        #: The grid point over GRID as noise, once it is promoted.
        self.noise: NoiseValue | LocatedNumber | None = None
        #: How the grid point follows from the noise, where that was made by an inverse cdf.
        self.inverted: Inverted | None = None

    # ---- what it is

    @property
    def base(self) -> UniformValue:
        """The random number that it is a function of: what all that is derived shares."""
        return self

    @property
    def is_discrete(self) -> bool:
        return bool(self._line_seen().discrete)

    @property
    def stays_symbolic(self) -> bool:  # type: ignore[override]
        """Where it is to become noise."""
        return self.base.noise is None and self._quantile() is not None

    def current(self) -> Any:
        return self if self.base.noise is None else self._as_noise()

    def _line_seen(self) -> Any:
        """Its values, of the type that the code sees."""
        return self.line

    def _derive(self, image: Image) -> Any:
        return DerivedUniform(self.base, image)

    # ---- comparisons

    def __lt__(self, bound: Any) -> Any:
        if type(bound) is not float or self.high != GRID or self.low != 0:
            return self._compare_exactly(np.less, bound)
        # The first comparison of a number, mostly the only one: all short cuts are taken.
        line = self.line
        cut, weights = line.known_halves.get(bound) or line.halves(bound)
        if weights is None:
            return bool(cut)
        branching = self.branching
        path, depth = branching.path, branching.depth
        recorded, upper = path[depth] if depth < len(path) else _NOTHING
        if recorded is weights:
            branching.depth = depth + 1
        else:
            upper = branching.choose(weights)
        if upper:
            self.low = cut
            return False
        self.high = cut
        return True

    def __ge__(self, bound: Any) -> Any:
        return self._compare_exactly(np.greater_equal, bound)

    def __le__(self, bound: Any) -> Any:
        return self._compare_exactly(np.less_equal, bound)

    def __gt__(self, bound: Any) -> Any:
        return self._compare_exactly(np.greater, bound)

    def __eq__(self, bound: Any) -> Any:
        return self._compare_exactly(np.equal, bound)

    def __ne__(self, bound: Any) -> Any:
        return self._compare_exactly(np.not_equal, bound)

    def _compare_exactly(self, ufunc: Any, bound: Any) -> Any:
        if type(bound) not in _EXACT or self.base.noise is not None:
            return compare_any(COMPARISONS[ufunc], self, bound)
        truth = self.compare(COMPARISONS[ufunc], bound)
        return np.bool_(truth) if issubclass(self.kind, np.generic) else truth

    def compare(self, comparison: Operation, other: Any) -> bool:
        bound = other
        if type(bound) not in _EXACT:
            if isinstance(bound, (np.float64, np.integer, np.bool_)):
                bound = bound.item()
            elif isinstance(bound, np.floating):
                self.refuse(f"a comparison with a {type(bound).__name__}")
            else:  # a subclass
                bound = int(bound) if isinstance(bound, int) else float(bound)
        if bound != bound:
            return comparison is _NE
        noise = None if is_bare_logarithm(self.line) else self.as_own_noise()
        if noise is not None:
            return bool(noise.compare(comparison, bound))
        line = self.line
        if comparison is _LT:
            return self._below(line.at_least(bound))
        if comparison is _GE:
            return not self._below(line.at_least(bound))
        if comparison is _LE:
            return self._below(line.above(bound))
        if comparison is _GT:
            return not self._below(line.above(bound))
        first, after = line.at_least(bound), line.above(bound)
        equal = first != after and not self._below(first) and self._below(after)
        return equal is (comparison is _EQ)

    def _below(self, cut: int) -> bool:
        """Whether the grid point is below ``cut``: known, or chosen by weight."""
        low, high = self.low, self.high
        if cut <= low:
            return False
        if cut >= high:
            return True
        if self.branching.choose(split_weights(cut - low, high - cut)):
            self.low = cut
            return False
        self.high = cut
        return True

    # ---- calculating

    def after(self, step: Step) -> Any:
        """What an operation makes of the number: a number again, or a plain one."""
        base = self.base
        base.check_own(step.name)
        if base.noise is not None:
            self.refuse(f"{step.name}, after a comparison or a sum with other noise")
        if step.name in ABSOLUTES and half_width(self.line, base.low, base.high) is not None:
            return FOLDING.folded(self, step)
        return self.directly(step)

    def directly(self, step: Step) -> Any:
        """What an operation makes of the number, on the part of the grid where it lies."""
        base, line = self.base, self._line_seen()
        region = None
        if step.name in ABSOLUTES and base.low >= 0:
            region = one_sided(line, step, base.low, base.high)
        if region is None:
            spans = regions(line, step)
            region = spans[base.part([span.stop for span in spans[:-1]])]
        if region.refused is not None:
            self.refuse(region.refused)
        if region.image is None:
            return step.of_number(line.value(max(base.low, region.start)))
        return self._derive(region.image)

    def part(self, stops: Sequence[int]) -> int:
        """Which part of the grid, cut at ``stops``, the number lies in: known, or chosen."""
        for place, stop in enumerate(stops):
            if self._below(stop):
                return place
        return len(stops)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        name = operation.__name__
        noise = self._noise_to_round() if name == "floordiv" and not swapped else None
        if noise is not None:
            return noise.binary(operation, other, swapped=False)
        step = binary(operation, other, swapped=swapped) if name in _OPERATIONS else None
        if step is not None:
            return self.after(step)
        answer = self.base.of_whole(self, operation, other, swapped=swapped)
        if answer is not NotImplemented:
            return answer
        return super().binary(operation, other, swapped=swapped)

    def of_whole(
        self, value: UniformValue, operation: Operation, other: Any, *, swapped: bool
    ) -> Any:
        """An operation on what is derived from it that is not monotone; NotImplemented for none."""
        return NotImplemented

    def answered(self, value: UniformValue) -> Any:
        """In the place of what is derived from it in an output of leaves; None for none."""
        return None

    def check_own(self, use: str) -> None:
        """Refuse a use of what is known through another number by now."""

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc in _ROUNDING and self.own_quantile() is not None:
            return self.rounded(ufunc.__name__, np.float64)
        noise = self.as_own_noise() if ufunc in _ASKING else None
        if noise is not None:
            return ufunc(*(noise if part is self else part for part in inputs))
        if len(inputs) == 1:
            step = UNARY.get(ufunc) or of_ufunc(ufunc)
            if step is not None:
                return self.after(step)
            return FINITE.get(ufunc, NotImplemented)
        other, swapped = (inputs[0], True) if inputs[1] is self else (inputs[1], False)
        if ufunc not in BINARY or issubclass(type(other), SymbolicValue):
            return NotImplemented
        step = binary(ufunc, other, swapped=swapped, rounded=self.is_discrete)
        return NotImplemented if step is None else self.after(step)

    def __neg__(self) -> Any:
        return super().__neg__() if self.base.noise is not None else self.after(NEGATIVE)

    def __pos__(self) -> Any:
        return self if self.base.noise is not None else self.after(POSITIVE)

    def __abs__(self) -> Any:
        if self.base.noise is not None or self.as_own_noise() is not None:
            return super().__abs__()
        return self.after(ABSOLUTE)

    # ---- rounding, types and plain numbers

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if kind is float:
            return self.after(AS_FLOAT)
        if kind is np.float64:
            return self.after(AS_ENTRY)
        if issubclass(kind, (int, np.integer)):
            return self.rounded("trunc", kind)
        return kind(self.concretise(f"{kind.__name__}()"))

    def rounded(self, how: str, kind: Any) -> Any:
        noise = self._noise_to_round()
        if noise is not None:
            return noise.rounded(how, kind)
        if issubclass(kind, float):
            return self.after(UNARY[getattr(np, how)])
        return kind(self.concretise(f"{how}()", TO_WHOLE[how]))

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        noise = self._noise_to_round()
        if noise is not None:
            return noise.rounded_to(decimals, kind, own)
        return self.after(make_rounding(own, decimals))

    def concretise(self, use: str, settle: Callable[[Any], Any] | None = None) -> Any:
        """``settle(number)``, or a rounded number itself, after branching over all it can be."""
        line, base = self._line_seen(), self.base
        base.check_own(use)
        if base.noise is not None:
            return concretise_all(self._as_noise(), use)
        if settle is None and not line.discrete:
            noise = self._as_noise_of_output() if use == "the output" else None
            if noise is None:
                self.refuse(use)
            return concretise_all(noise, use)
        parts = pieces(line, base.low, base.high, settle or line.kind)
        if parts is None:
            answered = base.answered(self) if use == "the output" else None
            if answered is None:
                self._too_many(use)
            return answered
        chosen = self.branching.choose(parts.weights) if len(parts.weights) > 1 else 0
        if chosen == len(parts.values):
            self.branching.leave_out()
        base.low, base.high = parts.ends[chosen]
        return parts.values[chosen]

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        located = self.noise
        if located is not None and issubclass(type(located), LocatedNumber):
            return located.drawn(point_in)
        if self.inverted is not None and self.noise is not None:
            return self.line.value(self.inverted.point(self.noise.replay(point_in)))
        if self.noise is not None:
            number = self._as_noise()  # a plain one of slope 0
            return number.replay(point_in) if is_symbolic(number) else number
        return self.line.value(point_in(self.low, self.high))

    def _too_many(self, use: str) -> NoReturn:
        name = self.branching.name
        self.branching.fail(
            BudgetError(
                f"{name}: {self.base.described} used in {use} takes too many values to be "
                f"enumerated; draw from fewer values, or declare the law with lt.ClosedForm"
            )
        )

    # ---- promotion

    def as_own_noise(self) -> Any:
        """As noise, from then on, where it is the inverse cdf of that; None for others."""
        return None if self.own_quantile() is None else promote(self)

    def _as_noise_of_output(self) -> Any:
        """As noise where it is told: a line of a uniform number is uniform noise, too."""
        is_line = self.branching.inverts and self.base.noise is None and self._linear() is not None
        return promote(self) if is_line else self.as_own_noise()

    def own_quantile(self) -> Quantile | None:
        """What it is as an inverse cdf, where it may still become noise."""
        is_open = self.base.noise is None and self.branching.inverts
        return self._quantile() if is_open else None

    def _noise_to_round(self) -> Any:
        """As noise, where that may be rounded: exponential noise alone is cut off on the grid."""
        quantile = self.own_quantile()
        return None if quantile is None or quantile.family == EXPONENTIAL else promote(self)

    def _as_noise(self) -> Any:
        """The uniform number as noise, once its base is noise."""
        linear, noise = self._linear(), self.base.noise
        if linear is None or noise is None:
            self.refuse("other ways than linear, after a comparison or a sum with other noise")
        slope, shift = linear
        if issubclass(type(noise), LocatedNumber):
            return noise.on_line(self, slope, shift)
        form = noise.form * slope + shift
        return find_value(noise.run, form, self.kind, self._count_roundings())

    def _count_roundings(self) -> int:
        """How many operations of floats lead to it that may have rounded."""
        return roundings_from_grid(self.line)

    def _linear(self) -> tuple[Fraction, Fraction] | None:
        """(slope, shift) of what it is of the noise of its base; None where it is not a line."""
        inverted = self.base.inverted
        if inverted is None:
            return linear_in_base(self.line)
        quantile = quantile_in_base(self.line)
        if quantile is not None and not inverted.folded and quantile.family == inverted.family:
            quantile = quantile.over(inverted.start, inverted.start + inverted.width)
            if quantile is not None and quantile.is_rising == inverted.rising:
                return quantile.per_noise, quantile.constant
        return None

    def _quantile(self) -> Quantile | None:
        """What it is as an inverse cdf of a number that is uniform on (0, 1); None for others."""
        ends = self._ends_of_quantile()
        quantile = quantile_in_base(self.line)
        return None if ends is None or quantile is None else quantile.over(*ends)

    def _ends_of_quantile(self) -> tuple[Fraction, Fraction] | None:
        quantile = quantile_in_base(self.line)
        return None if quantile is None else quantile.ends_on_grid(self.base.low, self.base.high)

    def joined(self, operation: Operation, other: Any) -> Any:
        if not _is_uniform(other) or self.base is not other.base:
            return NotImplemented
        if operation is not operator.mul:
            return self._join_lines(operation, other)
        for sign, folded in ((self, other), (other, self)):
            if folded.is_folded and folded.takes(sign):
                return folded.signed(sign)
        return NotImplemented

    def _join_lines(self, operation: Operation, other: UniformValue) -> Any:
        name, base = operation.__name__, self.base
        is_open = base.noise is None and not self.is_folded and not other.is_folded
        if not is_open or name not in _JOINING or base.line.discrete:
            return NotImplemented
        step = join_lines(name, self._line_seen(), other._line_seen())
        return NotImplemented if step is None else base.directly(step)

    def with_sign_of(self, other: UniformValue) -> Any:
        """``math.copysign(self, other)``; NotImplemented where that is not followed."""
        return NotImplemented

    def inversion(self) -> Inverted | None:
        """How its base follows from noise in which it is linear; None if there is none."""
        quantile, ends = self._quantile(), self._ends_of_quantile()
        if quantile is None or ends is None:
            return None
        width = ends[1] - ends[0]
        return Inverted(quantile.is_rising, False, ends[0], width, quantile.family)


class UniformEntry(UniformValue):
    """An entry of an array of random floats."""

    __slots__ = ()

    __hash__ = SymbolicValue.__hash__
    kind = np.float64

    def __lt__(self, bound: Any) -> Any:
        truth = UniformValue.__lt__(self, bound)
        return np.bool_(truth) if type(truth) is bool else truth

    def _line_seen(self) -> Any:
        return regions(self.line, AS_ENTRY)[0].image


class DerivedUniform(UniformValue):
    """A monotone function of a random number; known together with it."""

    __slots__ = ("_base", "kind")

    __hash__ = SymbolicValue.__hash__

    def __init__(self, base: UniformValue, image: Image) -> None:
        self.branching = base.branching
        self._base = base
        self.line = image
        # No interval of its own: never the short cut of a comparison.
        self.low = self.high = -1
        self.kind = image.kind

    @property
    def base(self) -> UniformValue:
        return self._base

    def _below(self, cut: int) -> bool:
        """Whether the value is on the lower side of a cut of the grid."""
        if cut == UNCERTAIN:
            self.refuse("a comparison, where it is not monotone in its last digits")
        return self._base._below(cut) == bool(self.line.rising)

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        raise NotImplementedError  # only what is drawn is replayed


_LT, _LE, _GT, _GE, _EQ, _NE = (
    COMPARISONS[one]
    for one in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
)


def _invert(value: UniformValue) -> bool:
    """Make the base of an inverse cdf the noise of that; whether it is one."""
    base = value.base
    inverted = value.inversion()
    if inverted is None:
        return False
    run = NoiseRun.of(base.branching)
    noise = Noise("laplace" if inverted.folded else inverted.family, Fraction(1))
    form = run.new(noise)
    base.inverted, base.noise = inverted, find_value(run, form, float)
    base.low = base.high = -1
    return True


@as_noise.register
def _promote(value: UniformValue) -> Any:
    base = value.base
    base.check_own("a sum with other noise")
    if base.noise is None and _invert(value):
        return value.current()
    if base.noise is None:
        if value.is_folded or linear_in_base(value.line) is None:
            return None
        run = NoiseRun.of(base.branching)
        start, stop = Fraction(base.low, GRID), Fraction(base.high, GRID)
        base.noise = find_value(run, run.new(_UNIFORM) * (stop - start) + start, float)
        base.low = base.high = -1
    return value.current()


def coarse_uniform(branching: Branching) -> Any:
    """What ``random(dtype=numpy.float32)`` gives."""
    branching.count_draws(1)
    number = UniformValue(branching, COARSE)
    return number if branching.draw_log is None else branching.draw_log.hand_out(number, COARSE.law)


@raises_as_numpy
def of_math(function: Any, x: Any, *more: Any) -> Any:
    """A function of the module math, of a random number or any other."""
    if function is _COPYSIGN and len(more) == 1 and _is_uniform(more[0]):
        if not _is_uniform(x):
            return more[0].after(make_sign(float(x)))
        answer = x.with_sign_of(more[0])
        if answer is not NotImplemented:
            return answer
    if not more and is_symbolic(x):
        answer = x.apply_math(function)
        if answer is not NotImplemented:
            return answer
    if not _is_uniform(x) or len(more) > 1 or (more and _is_uniform(more[0])):
        return function(x, *more)
    if function in FINITE:
        return FINITE[function]
    if function is _POW and more:
        return x.after(binary(_POW, float(more[0]), swapped=False))
    if function is _LOG and more:
        return x.after(log_to_base(function, float(more[0])))
    return function(x, *more) if more or function not in MATH else x.after(MATH[function])


def _is_uniform(value: Any) -> bool:
    return issubclass(type(value), UniformValue)
