"""Numbers that floats have up to a known error: what the probabilities of a choice add up to."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.values.answers.functions_of_answers import result_kind
from liptest.values.draws.noise_run import NoiseRun, NoisyNumber
from liptest.values.protocol import Operation, is_symbolic

# What arithmetic with a plain number adds to the error, relative to both.
_ROUNDING = Fraction(1, 1 << 50)


class NearNumber(NoisyNumber):
    """A number that lies within ``off`` of a plain one, whatever the data are.

    It is compared with numbers that are further away; what is nearer is refused.
    """

    __slots__ = ("off", "value")

    stays_symbolic = True
    described = "the sum of the probabilities of a choice"
    described_in_arrays = "an array of sums of probabilities"
    advice = "compare its distance from 1 with 1e-6 or so, or leave the check out"

    def __init__(self, run: NoiseRun, value: Fraction, off: Fraction, kind: Any) -> None:
        self.run = run
        self.value = value
        self.off = off
        self.kind = kind

    def concretise(self, use: str) -> Any:
        self.refuse(use)

    def typed(self, kind: Any) -> Any:
        if not issubclass(kind, (float, np.float64)):
            self.refuse(f"{kind.__name__}()")
        return NearNumber(self.run, self.value, self.off, kind)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if operation not in (operator.add, operator.sub) or not _is_plain(other):
            return self.refuse(operation.__name__)
        number = Fraction(int(other) if isinstance(other, (int, np.integer)) else float(other))
        pair = (number, self.value) if swapped else (self.value, number)
        off = self.off + (abs(number) + abs(self.value)) * _ROUNDING
        kind = result_kind(operation, self.kind, type(other))
        return NearNumber(self.run, operation(*pair), off, kind)

    def __neg__(self) -> Any:
        return NearNumber(self.run, -self.value, self.off, self.kind)

    def __abs__(self) -> Any:
        return NearNumber(self.run, abs(self.value), self.off, self.kind)

    def compare(self, comparison: Operation, other: Any) -> Any:
        if not _is_plain(other) or abs(self.value - Fraction(float(other))) <= self.off:
            return self.refuse("a comparison")
        return bool(comparison(self.value, Fraction(float(other))))

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        ends = {round(self.value + sign * self.off, decimals) for sign in (1, -1)}
        if len(ends) > 1:
            self.refuse("round()")
        return kind(float(ends.pop()))


def _is_plain(value: Any) -> bool:
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return is_number and not is_symbolic(value) and bool(np.isfinite(value))
