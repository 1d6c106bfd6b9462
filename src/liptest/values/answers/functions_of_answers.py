"""Functions of data without noise in them that neighbours move a little: answers of their own.

Maxima and minima, clipping, absolute values, rounding, comparisons that are added up, roots: what
``symbolic.answer_functions`` knows the reach of. All else is not answered here (NotImplemented).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from liptest.symbolic.answer_functions import (
    AnswerFunction,
    AnswerSum,
    Bent,
    Clipped,
    IsAbove,
    IsZero,
    LargestSum,
    Rounded,
    may_be_rounded,
)
from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.values.rounding import holds_negative_zero

Operation = Callable[[Any, Any], Any]
#: What to write instead, where data are records, and where they are answers.
ADVICE = (
    "add noise first, and look only at the noisy number; what is done with data before must be "
    "the same for every record (numpy functions entry by entry), then summed up or counted"
)
_ADVICE_OF_ANSWERS = (
    "add noise first, and look only at the noisy number; of answers without noise followed are "
    "sums, products with constants, abs, minimum, maximum, clip, sort, median, floor, round, and "
    "comparisons with constants that are added up"
)
_EXTREMES: dict[Any, int] = {np.maximum: 1, np.fmax: 1, np.minimum: -1, np.fmin: -1}
_ROUNDING: dict[Any, str] = {np.floor: "floor", np.ceil: "ceil", np.rint: "rint", np.trunc: "trunc"}
_BENT: dict[Any, str] = {
    np.sqrt: "sqrt",
    np.log1p: "log1p",
    math.sqrt: "sqrt",
    math.log1p: "log1p",
}
_LOGS = (np.log, math.log)
_ZERO = Fraction(0)
#: Of numbers that floats may take anywhere: cancelled, of few digits, or not known.
UNKNOWN = 1 << 30
# So often numbers are rounded by less than what a comparison is off by.
_MOST_ROUNDINGS = 1000
_WHOLE, _FLOATS = (int, np.int64), (float, np.float64)
# Whole numbers that are exact in all types, and factors at which floats keep their digits.
_EXACT, _LARGEST_FACTOR = 1 << 53, 1 << 200


class AnsweringRun(Protocol):
    """A run that has answers (``decisions.DecidingRun``)."""

    noises: list[Any]
    depends_on_size: bool

    def function_of_answers(self, function: AnswerFunction) -> Form:
        """The variable of a function of answers, the same for the same one."""
        ...

    def own_value(self, form: Form, kind: Any) -> Any:
        """A number of the run."""
        ...

    def has_noise(self, form: Form) -> bool:
        """Whether it is more than answers."""
        ...

    def sum_of_answers(self, form: Form) -> AnswerSum:
        """What a form without noise is."""
        ...

    def form_of_answers(self, one: AnswerSum) -> Form:
        """The opposite of ``sum_of_answers``."""
        ...


class BlockTable:
    """How statistics of blocks are clipped; ``block_statistics`` fills it in."""

    #: ``(run, form, low, high)``; None for all else.
    clipped: Callable[..., Form | None]
    #: ``(run, comparison, form)``.
    truth: Callable[..., Form | None]


OF_BLOCKS = BlockTable()


class ScoreTable:
    """How answers become weights of choices; ``weights`` fills it in."""

    #: What stands for scores and weights, and calculates with answers in a way of its own.
    types: frozenset[type] = frozenset()
    #: ``(number, how, kind)`` of a number with noise in it.
    rounded: Callable[[Any, str, Any], Any]
    #: ``(score, kind)``.
    exp: Callable[[Any, Any], Any]
    #: Whether numbers are ``(scores)``.
    are_scores: Callable[[list[Any]], bool]
    #: ``(scores, kind, sign)``, -1 for the smallest.
    largest: Callable[..., Any]
    #: ``(uniform, weight)``: whether the number is known by its place among weights from now on.
    locate: Callable[[Any, Any], bool]
    #: ``(run, answer, rounding)`` of a sum of 32 bits.
    single: Callable[..., Any]


OF_SCORES = ScoreTable()


def find_advice(value: Any) -> str:
    """What to write instead of a use of a number that is not followed."""
    run: AnsweringRun = value.run
    are_given = any(type(noise) is Answer and noise.is_given for noise in run.noises)
    return _ADVICE_OF_ANSWERS if are_given else ADVICE


def is_neutral(function: Any, number: Any) -> bool:
    """Whether a bound bounds nothing."""
    return function in _EXTREMES and bool(number == -_EXTREMES[function] * math.inf)


def of_function(run: AnsweringRun, function: Any, forms: Sequence[Form]) -> Form | None:
    """What a function of NumPy or of the module math gives; None where that is not followed."""
    if function in _EXTREMES:
        return largest_form(run, forms, _EXTREMES[function])
    if function in (np.absolute, np.fabs, math.fabs):
        return absolute_form(run, forms[0])
    if function in _ROUNDING:
        return round_form(run, forms[0], _ROUNDING[function])
    if function in _BENT:
        return _bend_form(run, forms[0], _BENT[function])
    if function in _LOGS:
        return _bend_form(run, forms[0] - 1, "log1p")
    return None


def absolute_form(run: AnsweringRun, form: Form) -> Form:
    """The size of a sum."""
    total = run.sum_of_answers(form)
    for sign in (1, -1):
        if _is_at_least(run, run.sum_of_answers(form * sign), _ZERO):
            return form * sign
    return run.function_of_answers(LargestSum((total, run.sum_of_answers(-form))))


def largest_form(run: AnsweringRun, forms: Sequence[Form], sign: int = 1) -> Form:
    """The largest of some sums, or with the sign -1 the smallest."""
    turned = [form * sign for form in forms]
    constants = [Fraction(part.constant) for part in turned if not part.terms]
    several = list(dict.fromkeys(part for part in turned if part.terms))
    if not several:
        return Form(max(constants)) * sign
    bound = max(constants, default=None)
    if len(several) > 1:
        constant = [] if bound is None else [Form(bound)]
        parts = tuple(run.sum_of_answers(part) for part in (*several, *constant))
        return run.function_of_answers(LargestSum(parts)) * sign
    if bound is None:
        return several[0] * sign
    return clip_form(run, several[0] * sign, *((bound, None) if sign > 0 else (None, -bound)))


def clip_form(run: AnsweringRun, form: Form, low: Fraction | None, high: Fraction | None) -> Form:
    """A sum that is kept between two numbers."""
    block = OF_BLOCKS.clipped(run, form, low, high)
    if block is not None:
        return block
    total = run.sum_of_answers(form)
    inner = total.terms[0][0].function if len(total.terms) == 1 else None
    if type(inner) is Clipped and total.terms[0][1] == 1 and not total.constant:
        crosses = (low, inner.high), (inner.low, high)
        if all(a is None or b is None or a <= b for a, b in crosses):
            lows, highs = (
                [end for end in ends if end is not None]
                for ends in ((low, inner.low), (high, inner.high))
            )
            kept = max(lows, default=None), min(highs, default=None)
            return run.function_of_answers(Clipped(inner.parts, *kept))
    if low is not None and _is_at_least(run, total, low):
        low = None
    if high is not None and _is_at_least(run, run.sum_of_answers(-form), -high):
        high = None
    if low is None and high is None:
        return form
    return run.function_of_answers(Clipped((total,), low, high))


def floor_form(run: AnsweringRun, form: Form) -> Form:
    """A whole sum that whole numbers have divided, rounded down."""
    total = run.sum_of_answers(form)
    return form if total.is_whole else run.function_of_answers(Rounded((total,), "floor", True))


def round_form(run: AnsweringRun, form: Form, how: str) -> Form | None:
    """A sum as a whole number; None where floats may take it far."""
    total = run.sum_of_answers(form)
    if total.is_whole:
        return form
    if not may_be_rounded(total):
        return None
    if total.is_given:
        return run.function_of_answers(Rounded((total,), how, is_exact=True))
    run.depends_on_size = True
    return run.function_of_answers(Rounded((total,), how))


def _bend_form(run: AnsweringRun, form: Form, how: str) -> Form | None:
    total = run.sum_of_answers(form)
    whole = all(answer.is_whole for answer, _ in total.terms)
    ends = total.ends
    if not whole or ends is None or ends[0] < 0:
        return None
    least = Fraction(total.constant)
    if not total.is_at_least_its_constant:
        run.depends_on_size, least = True, ends[0]
    return None if least < 0 else run.function_of_answers(Bent((total,), how, least))


def truth_form(run: AnsweringRun, comparison: Operation, form: Form) -> Form | None:
    """1 where a sum compares so with 0, else 0; None where floats may take it far."""
    block = OF_BLOCKS.truth(run, comparison, form)
    if block is not None:
        return block
    total = run.sum_of_answers(form)
    if not total.follows_one_count:
        return None
    if comparison in (operator.ge, operator.gt):
        return run.function_of_answers(IsAbove((total,), comparison is operator.gt))
    if comparison in (operator.le, operator.lt):
        return 1 - run.function_of_answers(IsAbove((total,), comparison is operator.le))
    is_zero = IsZero((total,))
    if total.is_whole and total.is_at_least_its_constant and total.constant == 0:
        truth = 1 - run.function_of_answers(IsAbove((total,)))
    else:
        truth = run.function_of_answers(is_zero)
    return truth if comparison is operator.eq else 1 - truth


def is_zero_times(run: AnsweringRun, form: Form, zero: Any, kind: Any) -> bool:
    """Whether a number times 0 is 0 or 0.0, and never -0.0, whatever the data are."""
    if not issubclass(kind, (float, np.floating)):
        return True
    ends = None if run.has_noise(form) else run.sum_of_answers(form).ends
    return ends is not None and ends[0] >= 0 and not holds_negative_zero(zero)


def result_kind(operation: Operation, left: Any, right: Any) -> Any:
    """The type of what an operation gives."""
    return type(operation(left(2), right(2)))


def find_roundings(made: Form, kind: Any, parts: Sequence[Any]) -> int:
    """How often floats have rounded a number of data that is made of these, one or two to add.

    Each rounding is relative to what the number is made of; ``UNKNOWN`` where some of that may be
    gone, as of ``(x + 1e20) - 1e20``. Whole numbers are not rounded.
    """
    if kind not in (*_WHOLE, *_FLOATS) or not parts:
        return UNKNOWN
    own = type(parts[0])  # the second may be a plain number
    forms = [part.form if type(part) is own else Form(part) for part in parts]
    times: int = sum(part.roundings for part in parts if type(part) is own)
    if len(made.terms) < sum(len(form.terms) for form in forms) or times >= UNKNOWN:
        return UNKNOWN
    if len(forms) > 1 and abs(made.constant) < max(abs(form.constant) for form in forms):
        return UNKNOWN
    for number in (made.constant, *(factor for _, factor in made.terms)):
        if number and not 1 <= abs(Fraction(number)) * _LARGEST_FACTOR <= _LARGEST_FACTOR**2:
            return UNKNOWN
    is_same = len(forms) == 1 and made == forms[0]
    return times if is_same or kind in _WHOLE else times + 1


def settle_comparison(
    run: AnsweringRun, comparison: Operation, form: Form, left: Any, right: Any
) -> bool | None:
    """How a sum, left less right, compares with 0 where what it lies between says it; None where
    it does not, or where floats may say something else, as of noise that both sides have."""
    times, size, is_exact = 0, _ZERO, True
    for operand, own in ((left, left.form), (right, left.form - form)):
        if run.has_noise(own):
            return None
        times += operand.roundings if type(operand) is type(left) else 0
        own_size = run.sum_of_answers(own).size
        if own_size is None or times > _MOST_ROUNDINGS:
            return None
        size += own_size
        is_exact &= own_size < _EXACT
    verdict = run.sum_of_answers(form).compared(comparison, size, is_exact=is_exact and not times)
    run.depends_on_size |= verdict is not None
    return verdict


def find_compared_form(run: AnsweringRun, form: Form) -> Form | None:
    """Of a truth: what was compared with 0; None for other sums."""
    if len(form.terms) != 1:
        return None
    noise = run.noises[form.terms[0][0]]
    function = noise.function if type(noise) is Answer else None
    if not isinstance(function, (IsAbove, IsZero)):
        return None
    return run.form_of_answers(function.parts[0])


def _is_at_least(run: AnsweringRun, one: AnswerSum, low: Fraction) -> bool:
    """Whether no data make a sum less; noted where that depends on how many records there are."""
    if one.is_at_least_its_constant and one.constant >= low:
        return True
    if not one.minus(AnswerSum((), low)).compared(operator.ge):
        return False
    run.depends_on_size = True
    return True
