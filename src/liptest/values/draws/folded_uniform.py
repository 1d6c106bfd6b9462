"""Numbers made of |u| and the sign of u, u uniform around 0, before either is looked at.

|u| and the sign of u are independent. Until one is asked for, ``sign(u) * log(1 - 2 |u|)`` may
become Laplace noise (``inverse_cdf``). Any other use asks on which side of 0 u lies, and goes on
with the floats of that side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.values.draws.grid import GRID
from liptest.values.draws.images import Image, Step
from liptest.values.draws.inverse_cdf import (
    ABSOLUTES,
    Inverted,
    Quantile,
    half_width,
    is_logarithm,
    linear_in_base,
    log_of_steps,
    roundings_from_grid,
)
from liptest.values.draws.transforms import make_sign
from liptest.values.draws.uniform import FOLDING, TO_WHOLE, DerivedUniform, UniformValue
from liptest.values.faults import raises_as_numpy
from liptest.values.promotion import promote
from liptest.values.protocol import Operation, SymbolicValue


def _is_uniform(value: Any) -> bool:
    return issubclass(type(value), UniformValue)


class FoldedUniform(DerivedUniform):
    """What steps make of |u|, and perhaps of that times the sign of u; u is uniform around 0.

    It may become noise while the sign is open. Any other use settles on which side of 0 u lies.
    """

    __slots__ = ("_after", "_factor", "_found", "_sign", "_source", "_steps")

    __hash__ = SymbolicValue.__hash__
    is_discrete = False
    is_folded = True

    def __init__(
        self,
        source: UniformValue,
        steps: tuple[Step, ...],
        sign: UniformValue | None = None,
        after: tuple[Step, ...] = (),
    ) -> None:
        self.branching = source.branching
        self._base = source.base
        self._source, self._steps, self._sign, self._after = source, steps, sign, after
        self._factor = Fraction(0) if sign is None else find_sign(sign, source)
        self.low = self.high = -1
        self._found: Any = None
        self.kind = type(self._model())

    def _model(self) -> Any:
        """A number of its type."""
        point = (self._base.low + 3 * self._base.high) // 4
        model = self._source.kind(self._source.line.value(point))
        with np.errstate(all="ignore"):
            for step in self._steps:
                model = step.apply(model)
            if self._sign is not None:
                model = model * self._sign.kind(1)
            for step in self._after:
                model = step.apply(model)
        return model

    def takes(self, sign: UniformValue) -> bool:
        """Whether a number is a multiple of the sign of u, and this has none yet."""
        return self._sign is None and self._found is None and find_sign(sign, self._source) != 0

    def signed(self, sign: UniformValue) -> FoldedUniform:
        """Times a multiple of the sign of u."""
        return FoldedUniform(self._source, self._steps, sign)

    def with_sign_of(self, other: UniformValue) -> Any:
        """A logarithm of |u| is on one side of 0: this is it times the sign of u, or minus it."""
        if self.kind is not float or self.base is not other.base:
            return NotImplemented
        sign = other.after(make_sign(1.0)) * (-1.0 if self._model() <= 0 else 1.0)
        if not self.takes(sign):
            return NotImplemented
        number = self.signed(sign)
        return NotImplemented if number.inversion() is None else number

    def resolve_number(self) -> Any:
        """The same number, or a plain one, once it is known on which side of 0 u lies."""
        if self._found is None:
            number: Any = self._source.current()
            for step in self._steps:
                number = _step(number, step)
            if self._sign is not None:
                number = number * self._sign
            for step in self._after:
                number = _step(number, step)
            self._found = number
        return self._found

    def _count_roundings(self) -> int:
        # One more: a logarithm is not always the float next to the exact one.
        before = roundings_from_grid(self._source.line)
        return before + len(self._steps) + len(self._after) + 1

    def current(self) -> Any:
        base = self._base
        if base.noise is None or base.inverted is not None or self._sign is not None:
            return super().current()
        return self.resolve_number()

    def after(self, step: Step) -> Any:
        is_open = self._found is None and self.base.noise is None
        if is_open and (step.linear is not None or (is_logarithm(step) and self._sign is None)):
            if self._sign is None:
                return FoldedUniform(self._source, (*self._steps, step))
            return FoldedUniform(self._source, self._steps, self._sign, (*self._after, step))
        return _step(self.resolve_number(), step)

    def compare(self, comparison: Operation, other: Any) -> Any:
        noise = self.as_own_noise()
        return comparison(self.resolve_number() if noise is None else noise, other)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind or kind in (float, np.float64):
            return super().typed(kind)
        noise = self.as_own_noise()
        return _give_type(self.resolve_number(), kind) if noise is None else noise.typed(kind)

    def rounded(self, how: str, kind: Any) -> Any:
        noise = self.as_own_noise()
        if noise is not None:
            return noise.rounded(how, kind)
        number = self.resolve_number()
        if not _is_uniform(number):
            return _round(number, how, kind)
        return number.rounded(how, kind)

    def concretise(self, use: str, settle: Callable[[Any], Any] | None = None) -> Any:
        if use == "the output" and settle is None:
            noise = promote(self)
            if noise is not None:
                return noise.concretise(use)
        number = self.resolve_number()
        if _is_uniform(number):
            return number.concretise(use, settle)
        return number if settle is None else _settle(number, settle)

    def inversion(self) -> Inverted | None:
        low, high, logarithm = self._base.low, self._base.high, self._quantile()
        if logarithm is None:
            return None
        middle, width = Fraction(low + high, 2 * GRID), Fraction(high - low, 2 * GRID)
        slope, _ = self._source_line()
        return Inverted(logarithm.is_rising, True, middle, width if slope > 0 else -width)

    def _quantile(self) -> Quantile | None:
        size = half_width(self._source.line, self._base.low, self._base.high)
        return None if size is None else self._of_size(size)

    def _source_line(self) -> tuple[Fraction, Fraction]:
        line = linear_in_base(self._source.line)
        assert line is not None
        return line

    def _of_size(self, size: Fraction) -> Quantile | None:
        """What it is as sign(u) times a logarithm, and a constant, where |u| is at most size."""
        logarithm = log_of_steps(self._steps[1:], size)
        if self._sign is None or self._found is not None or logarithm is None or logarithm.constant:
            return None
        logarithm = logarithm.after((self._factor, Fraction(0)))
        for step in self._after:
            assert step.linear is not None
            logarithm = logarithm.after(step.linear)
        return logarithm

    def _linear(self) -> tuple[Fraction, Fraction] | None:
        inverted = self._base.inverted
        if inverted is None or not inverted.folded:
            return None
        # Less than 0 where u is minus the number of which the noise has the sign.
        size = self._source_line()[0] * inverted.width
        logarithm = self._of_size(abs(size))
        if logarithm is None or logarithm.is_rising != inverted.rising:
            return None
        return -logarithm.factor if size > 0 else logarithm.factor, logarithm.constant


def find_sign(value: UniformValue, source: UniformValue) -> Fraction:
    """c where a number is c times the sign of another, which is uniform around 0; else 0."""
    line: Any = None if value.is_folded else value.line
    while isinstance(line, Image) and line.step.linear is not None and not line.step.linear[1]:
        line = line.inner
    if not isinstance(line, Image) or line.step.name not in ("sign", "copysign"):
        return Fraction(0)
    base, inner, own = value.base, linear_in_base(line.inner), linear_in_base(source.line)
    ends = value.line.value(base.low), value.line.value(base.high - 1)
    if inner is None or own is None or inner[0] * own[1] != inner[1] * own[0]:
        return Fraction(0)
    if ends[0] != -ends[1] or not math.isfinite(ends[0]):
        return Fraction(0)
    return Fraction(float(ends[1])) * (1 if own[0] > 0 else -1)


def _step(value: Any, step: Step) -> Any:
    if not _is_uniform(value):
        return step.of_number(value)
    return value.directly(step) if step.name in ABSOLUTES else value.after(step)


@raises_as_numpy
def _give_type(value: Any, kind: Any) -> Any:
    return value.typed(kind) if _is_uniform(value) else kind(value)


@raises_as_numpy
def _round(plain: Any, how: str, kind: Any) -> Any:
    return kind(getattr(np, how)(plain) if issubclass(kind, float) else TO_WHOLE[how](plain))


@raises_as_numpy
def _settle(plain: Any, settle: Callable[[Any], Any]) -> Any:
    return settle(plain)


def _fold(value: UniformValue, step: Step) -> FoldedUniform:
    return FoldedUniform(value, (step,))


FOLDING.folded = _fold
