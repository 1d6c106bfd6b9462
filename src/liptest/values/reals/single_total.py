"""Sums of 32 bits: numbers of the data to which noise is added, and nothing else is done.

The price knows how far 32 bits take the sum itself (``rounded_sums``). What is calculated of it in
32 bits before noise hides it would be rounded by as much again, by another amount for each
neighbour: that is refused. ``float(total)`` is a number as all others.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedRun, AlignedValue, NoisyData, ReleasedValue
from liptest.values.answers.functions_of_answers import OF_SCORES, result_kind
from liptest.values.protocol import Operation, SymbolicValue
from liptest.values.reals.rounded_sums import Rounding
from liptest.values.rounding import SHARE_OF_FLOATS

# Some last digits of 32 bits, of what follows a sum.
_STEPS = Fraction(1, 1 << 20)
_ADVICE = "write float(total) first, or add up in 64 bits: .sum(dtype=np.float64)"


class SingleTotal(NoisyData):
    """See the module."""

    __slots__ = ("form",)

    __hash__ = SymbolicValue.__hash__

    def __init__(self, run: AlignedRun, form: Form) -> None:
        self.run = run
        self.form = form
        self.kind = np.float32

    def _refuse(self, use: str) -> Any:
        return self.refuse(f"{use}, in 32 bits and without noise in it,")

    def advice_for(self, use: str) -> str:
        return _ADVICE

    def entry(self) -> Any:
        return self

    def linear(self) -> Form | None:
        return None

    def released(self, use: str) -> ReleasedValue:
        return self._refuse(use)  # type: ignore[no-any-return]

    def in_output(self) -> Any:
        return self.form

    def evaluate(self) -> Any:
        return AlignedValue(self.run, self.form, np.float32).evaluate()

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        is_noise = type(other) is AlignedValue and self.run.has_noise(other.form)
        if operation not in (operator.add, operator.sub) or not is_noise:
            return self._refuse(operation.__name__)
        kinds = (other.kind, self.kind) if swapped else (self.kind, other.kind)
        forms = (other.form, self.form) if swapped else (self.form, other.form)
        return AlignedValue(self.run, operation(*forms), result_kind(operation, *kinds))

    def compare(self, comparison: Operation, other: Any) -> Any:
        return self._refuse("a comparison")

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        return self._refuse(ufunc.__name__)

    def apply_math(self, function: Any) -> Any:
        return self._refuse(function.__name__)

    def __abs__(self) -> Any:
        return self._refuse("abs")

    def __bool__(self) -> bool:
        return bool(self._refuse("a comparison"))

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if kind in (float, np.float64):
            return AlignedValue(self.run, self.form, kind)
        return self._refuse(f"{kind.__name__}()")

    def rounded(self, how: str, kind: Any) -> Any:
        return self._refuse(how)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        return self._refuse("round()")

    def is_integer(self) -> bool:
        return bool(self._refuse("is_integer"))


def total_in_32_bits(run: AlignedRun, answer: Answer, rounding: Rounding) -> SingleTotal:
    """A sum of 32 bits."""
    assert answer.span is not None
    size = max(abs(end) for end in answer.span)
    share = rounding.single / size + _STEPS
    run.depends_on_size = True  # of more records sums may be rounded more
    run.coarseness = max(run.coarseness, share / SHARE_OF_FLOATS)
    return SingleTotal(run, run.value_of_answer(answer, np.float64).form)


OF_SCORES.types |= {SingleTotal}
OF_SCORES.single = total_in_32_bits
