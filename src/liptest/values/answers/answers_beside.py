"""Sums of the data beside known numbers: ``gradient + 0.1 * w``, before noise is added.

Where ``w`` is a function of what was released, such a sum is known as soon as it has noise: it is
then the noisy sum of the data, which is released, and what is known is added to it. Before that it
is looked at by nothing.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NoReturn

from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedValue, NoisyData, ReleasedValue
from liptest.values.answers.functions_of_answers import result_kind
from liptest.values.protocol import Operation, SymbolicValue, is_symbolic

_LINEAR = (operator.add, operator.sub)


class AnswerBeside(NoisyData):
    """``answer + known``, of a sum of the data without noise and a known number."""

    __slots__ = ("answer", "known")

    __hash__ = SymbolicValue.__hash__

    def __init__(self, answer: Any, known: Any, kind: Any) -> None:
        self.run = answer.run
        self.kind = kind
        self.answer = answer
        self.known = known

    def _refuse(self, use: str) -> NoReturn:
        raise AssertionError(self.answer.refuse_data(use))

    def linear(self) -> Form | None:
        return None

    def in_output(self) -> Any:
        self._refuse("the output")

    def concretise(self, use: str) -> Any:
        self._refuse(use)

    def released(self, use: str) -> ReleasedValue:
        self._refuse(use)

    def evaluate(self) -> Any:
        known = self.known.evaluate() if is_symbolic(self.known) else self.known
        return self.kind(self.answer.evaluate() + known)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        kinds = [self.kind, other.kind if is_symbolic(other) else type(other)]
        kind = result_kind(operation, *(reversed(kinds) if swapped else kinds))
        if operation in _LINEAR:
            is_minus = operation is operator.sub
            if swapped:
                negated = AnswerBeside(-self.answer, -self.known, self.kind)
                return join_beside(negated if is_minus else self, other, kind)
            return join_beside(self, other * -1 if is_minus else other, kind)
        is_factor = operation is operator.mul or (operation is operator.truediv and not swapped)
        if not is_factor or is_symbolic(other) or not math.isfinite(other) or other == 0:
            self._refuse(operation.__name__)
        return AnswerBeside(operation(self.answer, other), operation(self.known, other), kind)

    def compare(self, comparison: Operation, other: Any) -> Any:
        self._refuse("a comparison")


def put_beside(answer: Any, operation: Operation, known: Any, *, swapped: bool) -> Any:
    """``answer + known``, or another linear operation; ``swapped``: of ``known`` first."""
    kind = result_kind(
        operation, *((known.kind, answer.kind) if swapped else (answer.kind, known.kind))
    )
    if operation is operator.sub:
        answer, known = (-answer, known) if swapped else (answer, -known)
    return AnswerBeside(answer, known, kind)


def join_beside(beside: AnswerBeside, other: Any, kind: Any) -> Any:
    """``beside + other``: known as soon as there is noise in it."""
    answer, known = beside.answer, beside.known
    if isinstance(other, AnswerBeside):
        known, other = known + other.known, other.answer
    if type(other) is not AlignedValue:  # a known number, or a constant
        return AnswerBeside(answer, known + other, kind)
    total = answer + other
    if type(total) is AlignedValue and total.is_answer:
        return AnswerBeside(total, known, kind)
    return known + total


AlignedValue.beside = staticmethod(put_beside)
