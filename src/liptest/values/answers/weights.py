"""Choices with weights exp(score), where scores are sums of answers: the exponential mechanism.

Which of some places is drawn with probabilities proportional to exp(s_1), .. exp(s_k) has the law
of the place of the largest of s_i + g_i with independent Gumbel noise g_i (Gumbel-max; docs/theory/
size.md, S10), and that is how it is followed. What is the same for all places drops out: so the
largest score and the sum of all weights stay *unknowns*, of which only their factors are kept.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedRun, AlignedValue
from liptest.values.answers.free_functions import FINITE
from liptest.values.answers.functions_of_answers import OF_SCORES, largest_form, result_kind
from liptest.values.answers.near_numbers import NearNumber
from liptest.values.answers.weight_choices import select
from liptest.values.answers.weight_unknowns import (
    Constant,
    Largest,
    LoggedTotal,
    Part,
    Unknowns,
    WeightTotal,
    add_unknowns,
    are_in_floats,
    has_its_largest,
    scores_of,
    times,
    totals_in,
)
from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.draws.noise_run import LocatedNumber, NoisyNumber
from liptest.values.protocol import (
    ARITHMETIC,
    REFLECTED,
    Operation,
    calculate,
    compare,
    is_symbolic,
)

# Of an argument of exp, from where on a float may become infinite, or the sum of weights 0.
_LARGEST = 600
# Of constant factors of weights, which stay far from the ends of floats with them.
_DIGITS = 80
# What each of so many probabilities, and some more, adds to the error of their sum.
_NEAR_ONE, _FEW = Fraction(1, 1 << 50), 2048
# Scores so large leave no digits to their differences from the logarithm of a total.
_MOST_IN_LOG = 1 << 20
# What floats lose of such differences, for each unit of size: some roundings of each number.
_LOST = Fraction(1, 1 << 48)
_ZERO, _ONE, _EXP, _LOG = Fraction(0), Fraction(1), math.exp, math.log
_ARE_FINITE: dict[Any, bool] = {math.isnan: False, math.isinf: False, math.isfinite: True}
_SHIFT = "subtract the largest score first: np.exp(factor * (scores - scores.max()))"
_ADVICE = (
    "give weights to rng.choice(k, p=weights / weights.sum()), with weights = np.exp(factor * "
    "(scores - scores.max())), and use neither of them otherwise"
)


class _OfScores(NoisyNumber):
    """Base of what is calculated on the way from scores to weights."""

    __slots__ = ()

    stays_symbolic = True
    advice = _ADVICE
    run: AlignedRun

    def concretise(self, use: str) -> Any:
        self.refuse(use)

    def typed(self, kind: Any) -> Any:
        if not issubclass(kind, (float, np.float64)):
            self.refuse(f"{kind.__name__}()")
        return self if kind is self.kind else self.of_kind(kind)

    def of_kind(self, kind: Any) -> Any:
        """The same number of another type."""
        raise NotImplementedError

    def compare(self, comparison: Operation, other: Any) -> Any:
        return self.refuse("a comparison")


class _Positive(_OfScores):
    """Base of weights and their sums, of which floats are never below 0."""

    __slots__ = ()

    def log(self, kind: Any) -> Any:
        """Its logarithm; a weight may be 0 in floats, and has none."""
        return self.refuse("a logarithm")

    @property
    def is_finite(self) -> bool:
        """Whether floats never divide it by 0, nor go beyond their ends."""
        raise NotImplementedError

    @property
    def is_positive(self) -> bool:
        """Whether floats are never so small that they are 0."""
        raise NotImplementedError

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc in FINITE and self.is_finite:
            return FINITE[ufunc]
        return self.log(np.float64) if ufunc is np.log else super().apply(ufunc, inputs)

    def apply_math(self, function: Any) -> Any:
        if function in _ARE_FINITE and self.is_finite:
            return _ARE_FINITE[function]
        return self.log(float) if function is _LOG else super().apply_math(function)

    def locates(self, value: Any) -> bool:
        return value.family == "uniform" and OF_SCORES.locate(value, self)

    def compare(self, comparison: Operation, other: Any) -> Any:
        if issubclass(type(other), LocatedNumber):
            return other.compare(REFLECTED[comparison], self)
        is_number = isinstance(other, (int, float, np.integer, np.floating))
        if is_number and other == 0 and self.is_finite and self._is_settled(comparison):
            return comparison(1.0, 0.0)
        return super().compare(comparison, other)

    def _is_settled(self, comparison: Operation) -> bool:
        """Whether it compares so with 0 whatever the data; small numbers may be 0 in floats."""
        return comparison(1.0, 0.0) is comparison(0.0, 0.0) or self.is_positive


class _Terms(_OfScores):
    """Base of what is a sum of answers, and of unknowns times their factors, or its exp."""

    __slots__ = ("form", "unknowns")

    def __init__(self, run: AlignedRun, form: Form, unknowns: Unknowns, kind: Any) -> None:
        self.run = run
        self.form = form
        self.unknowns = unknowns
        self.kind = kind

    def of_kind(self, kind: Any) -> Any:
        return type(self)(self.run, self.form, self.unknowns, kind)


class Score(_Terms):
    """A sum of answers, and of unknowns times their factors."""

    __slots__ = ()

    described = "a score less the largest one"
    described_in_arrays = "an array of scores less the largest one"

    def typed(self, kind: Any) -> Any:
        if issubclass(kind, (int, np.int64)) and kind is not bool and self._is_whole():
            return self.of_kind(kind)
        if issubclass(kind, (float, np.float64)):
            return super().typed(kind)
        return self.as_answer().typed(kind)

    @property
    def is_largest(self) -> bool:
        """Whether it is the largest or the smallest of some sums, and nothing else."""
        return bool(self.unknowns) and all(type(one) is Largest for one, _ in self.unknowns)

    def as_answer(self) -> AlignedValue:
        """The same number, where the largest one is an answer of its own (size.md, S14)."""
        form = self.form
        for unknown, by in self.unknowns:
            if type(unknown) is not Largest:
                self.refuse("a sum with another number")
            form = form + largest_form(self.run, unknown.parts) * by
        return AlignedValue(self.run, form, self.kind)

    def concretise(self, use: str) -> Any:
        return self.as_answer().concretise(use)

    def compare(self, comparison: Operation, other: Any) -> Any:
        return compare(comparison, self.as_answer(), other)

    def rounded(self, how: str, kind: Any) -> Any:
        return self.as_answer().rounded(how, kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        return self.as_answer().rounded_to(decimals, kind, own)

    def __abs__(self) -> Any:
        return abs(self.as_answer())

    def _is_whole(self) -> bool:
        """Whether it is a whole number, as the scores are that the largest one is of."""
        whole = self.run.is_whole(self.form)
        return whole and all(
            by.denominator == 1 and all(map(self.run.is_whole, unknown.parts))
            for unknown, by in self.unknowns
        )

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        kind = self._kind_with(operation, other, swapped=swapped)
        if operation in (operator.add, operator.sub):
            mine, theirs = (self.form, self.unknowns), self._parts(other)
            if theirs is None:
                return self._calculate(operation, other, swapped=swapped)
            left, right = (theirs, mine) if swapped else (mine, theirs)
            sign = 1 if operation is operator.add else -1
            form = left[0] + right[0] if sign == 1 else left[0] - right[0]
            return self._made(form, add_unknowns(left[1], right[1], sign), kind)
        is_factor = isinstance(other, (int, float, np.integer, np.floating))
        if is_factor and math.isfinite(other) and (operation is operator.mul or not swapped):
            factor = _exact(other)
            if operation is operator.truediv and factor:
                factor = 1 / factor
            elif operation is not operator.mul:
                return self.refuse(operation.__name__)
            times = ((unknown, by * factor) for unknown, by in self.unknowns if factor)
            return self._made(self.form * factor, tuple(times), kind)
        return self._calculate(operation, other, swapped=swapped)

    def _calculate(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        answer = self.as_answer()
        return calculate(operation, *((other, answer) if swapped else (answer, other)))

    def _kind_with(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        """The type of what an operation gives."""
        kinds = self.kind, other.kind if is_symbolic(other) else type(other)
        if not all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
            self.refuse(f"{operation.__name__} with a {kinds[1].__name__}")
        return result_kind(operation, *(reversed(kinds) if swapped else kinds))

    def _made(self, form: Form, unknowns: Unknowns, kind: Any) -> Any:
        largest = (
            (one.ends(self.run) if type(one) is Largest else None, by) for one, by in unknowns
        )
        self.run.require_room(self, form, kind, largest)
        if unknowns or not form.terms:
            return Score(self.run, form, unknowns, kind)
        return AlignedValue(self.run, form, kind)

    def _parts(self, value: Any) -> tuple[Form, Unknowns] | None:
        if type(value) is Score:
            return value.form, value.unknowns
        if type(value) is AlignedValue:
            return None if value.run.has_noise(value.form) else (value.form, ())
        if isinstance(value, (int, float, np.integer, np.floating)) and math.isfinite(value):
            return Form(_exact(value), ()), ()
        return None

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.exp:
            return exp_of_score(self, np.float64)
        if ufunc in ARITHMETIC:
            return NotImplemented  # by the operator, as a score still
        answer = self.as_answer()
        return answer.apply(ufunc, tuple(answer if other is self else other for other in inputs))

    def apply_math(self, function: Any) -> Any:
        return exp_of_score(self, float) if function is _EXP else NotImplemented


class Weight(_Positive, _Terms):
    """exp of a sum of answers and unknowns times their factors: a float above 0."""

    __slots__ = ()

    described = "a weight of a choice"
    described_in_arrays = "an array of weights of a choice"

    @property
    def key(self) -> Part:
        """The same for the same number."""
        return self.form, self.unknowns

    @property
    def totals(self) -> list[WeightTotal]:
        """What it is divided by."""
        return totals_in(self.unknowns)

    def times(self, total: WeightTotal) -> Part:
        """The key of it times a total."""
        return times(self.key, total)

    @property
    def is_finite(self) -> bool:
        return are_in_floats((self.key,))

    @property
    def is_positive(self) -> bool:
        return all(type(unknown) is Constant for unknown, _ in self.unknowns)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        kind = self.kind
        if issubclass(type(other), LocatedNumber):
            return other.binary(operation, self, swapped=not swapped)
        if operation is operator.add:
            return _add(self, other)
        if operation is operator.truediv and not swapped and type(other) is SumOfWeights:
            return other.divide(self)
        is_number = isinstance(other, (int, float, np.integer, np.floating))
        if is_number and not is_symbolic(other) and 0 < other < math.inf:
            sign = {operator.mul: 1, operator.truediv: -1}.get(operation)
            if sign is not None and not (swapped and sign == -1):
                constant = Constant(_exact(other)), _ONE
                unknowns = add_unknowns(self.unknowns, (constant,), sign)
                if _digits_of_constants(unknowns) <= _DIGITS:
                    return Weight(self.run, self.form, unknowns, kind)
        return self.refuse(operation.__name__)


class SumOfWeights(_Positive):
    """A sum of weights, which all of them may be divided by."""

    __slots__ = ("_key", "_quotients", "weights")

    described = "a sum of weights of a choice"
    described_in_arrays = "an array of sums of weights"

    def __init__(self, run: AlignedRun, weights: tuple[Weight, ...], kind: Any) -> None:
        self._key: WeightTotal | None = None
        #: Weights that it has divided, with what came of them, by object.
        self._quotients: dict[int, tuple[Weight, Weight]] = {}
        self.run = run
        self.weights = weights
        self.kind = kind

    def of_kind(self, kind: Any) -> Any:
        return SumOfWeights(self.run, self.weights, kind)

    @property
    def key(self) -> WeightTotal:
        """The same for the same number."""
        if self._key is None:
            self._key = WeightTotal(tuple(weight.key for weight in self.weights))
        return self._key

    @property
    def is_finite(self) -> bool:
        return are_in_floats(self.key.parts)

    @property
    def is_positive(self) -> bool:
        return self.key.has_its_largest

    def log(self, kind: Any) -> Any:
        if not self.is_positive:
            self.refuse("a logarithm, where all of its weights may be 0")
        total = LoggedTotal(self.key.parts)
        size = total.size(self.run)
        self.run.depends_on_size = True
        if size is None or size > _MOST_IN_LOG:
            self.refuse("a logarithm, where scores may be of any size")
        return Score(self.run, Form(0, ()), ((total, _ONE),), kind)

    def off_one(self) -> Fraction | None:
        """By how much floats miss 1 at most, if it adds up all of some probabilities; else None."""
        for total in self.weights[0].totals:
            parts = Counter(weight.times(total) for weight in self.weights)
            if parts == Counter(total.parts) and total.has_its_largest:
                size = total.size(self.run)
                several = len(total.parts) + _FEW
                return None if size is None else several * _NEAR_ONE + size * _LOST
        return None

    def _near_one(self) -> NearNumber | None:
        off = self.off_one()
        return None if off is None else NearNumber(self.run, _ONE, off, self.kind)

    def compare(self, comparison: Operation, other: Any) -> Any:
        near = self._near_one() if not is_symbolic(other) and other != 0 else None
        if near is not None:
            return near.compare(comparison, other)
        return super().compare(comparison, other)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        near = self._near_one()
        return self.refuse("round()") if near is None else near.rounded_to(decimals, kind, own)

    def divide(self, weight: Weight) -> Weight:
        """The quotient of a weight, the same object for the same one: running totals share it."""
        known = self._quotients.get(id(weight))
        if known is None:
            unknowns = add_unknowns(weight.unknowns, ((self.key, _ONE),), -1)
            known = weight, Weight(weight.run, weight.form, unknowns, weight.kind)
            self._quotients[id(weight)] = known
        return known[1]

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if issubclass(type(other), LocatedNumber):
            return other.binary(operation, self, swapped=not swapped)
        if operation is operator.add:
            return _add(self, other)
        if operation is operator.truediv and swapped and type(other) is Weight:
            return self.divide(other)
        if operation is operator.truediv and not swapped and type(other) is SumOfWeights:
            return SumOfWeights(self.run, tuple(map(other.divide, self.weights)), self.kind)
        if operation is operator.sub and not is_symbolic(other):
            near = self._near_one() if swapped or other != 0 else self
            if near is not None:
                return near if near is self else near.binary(operation, other, swapped=swapped)
        return self.refuse(operation.__name__)


def _exact(number: Any) -> Fraction:
    return Fraction(int(number) if isinstance(number, (int, np.integer)) else float(number))


def _digits_of_constants(unknowns: Unknowns) -> float:
    """How many binary digits constant factors make weights longer or shorter."""
    constants = ((constant.parts, by) for constant, by in unknowns if type(constant) is Constant)
    return sum(abs(float(by) * math.log2(number)) for number, by in constants)


def _add(left: _OfScores, right: Any) -> Any:
    """A sum of weights; 0 is none."""
    if type(right) not in OF_SCORES.types and isinstance(right, (int, float)) and right == 0:
        return SumOfWeights(left.run, _weights_in(left), left.kind)
    if type(right) not in (Weight, SumOfWeights):
        return left.refuse("add")
    return SumOfWeights(left.run, (*_weights_in(left), *_weights_in(right)), left.kind)


def _weights_in(value: Any) -> tuple[Weight, ...]:
    return value.weights if type(value) is SumOfWeights else (value,)


def are_running_totals(cells: list[Any]) -> bool:
    """Whether each of them is the one before with more weights added, so that they ascend."""
    before: tuple[Weight, ...] = ()
    plain = [isinstance(cell, (int, float)) and not is_symbolic(cell) for cell in cells]
    first = next((k for k, one in enumerate(plain) if not one or cells[k] > 0), 0)
    is_one_last = plain[-1] and cells[-1] >= 1  # more than floats of the totals before it, or u is
    for cell in cells[first : len(cells) - is_one_last]:
        weights = _weights_in(cell) if type(cell) in (Weight, SumOfWeights) else ()
        if not weights or len(weights) < len(before) or not all(map(_is_same, before, weights)):
            return False
        before = weights
    return bool(before)


def _is_same(left: Weight, right: Weight) -> bool:
    return left is right or left.key == right.key


def exp_of_score(score: Any, kind: Any) -> Any:
    """exp of a score; refused where a float would be infinite, or all weights of a choice 0."""
    unknowns = score.unknowns if type(score) is Score else ()
    if not (_is_at_most_its_largest(score.form, unknowns) or _is_share(score.form, unknowns)):
        score.run.depends_on_size = True
        ends = None if unknowns else score.run.sum_of_answers(score.form).ends
        if ends is None or max(map(abs, ends)) > _LARGEST:
            size = "any size" if ends is None else f"size {float(max(map(abs, ends))):.6g}"
            score.run.tree.forbid(f"exp of a score of {size}, which is not a float", _SHIFT)
    return Weight(score.run, score.form, unknowns, kind)


def _is_at_most_its_largest(form: Form, unknowns: Unknowns) -> bool:
    """Whether it is a score less the largest one, times a factor above 0, plus a small constant."""
    if len(unknowns) != 1:
        return False
    largest, factor = unknowns[0]
    if type(largest) is not Largest or factor >= 0:
        return False
    alike = largest.with_terms(form.terms, -factor)
    return any(abs(form.constant + other.constant * factor) <= _LARGEST for other in alike)


def _is_share(form: Form, unknowns: Unknowns) -> bool:
    """Whether it is a score less the logarithm of a total that it is in."""
    return any(times((form, unknowns), total) in total.different for total in totals_in(unknowns))


def log_of_total(scores: list[Any]) -> Any:
    """The logarithm of the sum of exp of scores, in which floats are never infinite."""
    if not are_scores(scores):
        return None
    run = next(score.run for score in scores if is_symbolic(score))
    parts = [
        (score.form, score.unknowns if type(score) is Score else ())
        if is_symbolic(score)
        else (Form(_exact(score), ()), ())
        for score in scores
    ]
    weights = tuple(Weight(run, form, unknowns, np.float64) for form, unknowns in parts)
    return SumOfWeights(run, weights, np.float64).log(np.float64)


def are_scores(numbers: list[Any]) -> bool:
    """Whether they are answers without noise, and constants; or such less the largest of them."""
    if all(type(number) is Score for number in numbers):
        return _are_shifted(numbers)
    answers = [number for number in numbers if type(number) is AlignedValue]
    plain = (number for number in numbers if type(number) is not AlignedValue)
    return (
        bool(answers)
        and not any(answer.run.has_noise(answer.form) for answer in answers)
        and all(isinstance(number, (int, float, np.integer, np.floating)) for number in plain)
    )


def _are_shifted(scores: list[Score]) -> bool:
    """Whether they are all that the largest one was found of, less it, times a factor above 0."""
    if len({score.unknowns for score in scores}) != 1 or len(scores[0].unknowns) != 1:
        return False
    largest, factor = scores[0].unknowns[0]
    if type(largest) is not Largest or factor >= 0:
        return False
    return {score.form for score in scores} == {part * -factor for part in largest.parts}


def largest_of(numbers: list[Any], kind: Any = None, *, sign: int) -> Any:
    """The largest of scores (``are_scores``), or the smallest, which drops out of weights.

    Of scores less the largest of them it is 0, in floats, too.
    """
    if type(numbers[0]) is Score:
        if sign < 0:
            numbers[0].refuse("the smallest of them")
        return (kind or numbers[0].kind)(0)
    answers = [number for number in numbers if type(number) is AlignedValue]
    forms = [
        (number.form if type(number) is AlignedValue else Form(_exact(number), ())) * sign
        for number in numbers
    ]
    unknown = Largest(tuple(forms)), Fraction(sign)
    kinds = [number.kind if type(number) is AlignedValue else type(number) for number in numbers]
    is_real = any(issubclass(own_kind, (float, np.floating)) for own_kind in kinds)
    kind = kind or (float if is_real else answers[0].kind)
    return Score(answers[0].run, Form(0, ()), (unknown,), kind)


def place_by_weights(items: NDArray[Any], p: Any) -> int | None:
    """The place that a choice draws whose probabilities are weights; None for all others.

    ``items`` are as in ``rng.choice``: their number, or what is chosen from.
    """
    weights = _list(p)
    if weights is None or items.ndim > 1:
        return None
    first, count = weights[0], items.item() if items.ndim == 0 else len(items)
    if len(weights) != count or count < 2:
        return first.refuse(f"a choice of {count}")
    for total in first.totals:
        before = tuple(weight.times(total) for weight in weights)
        if before == total.parts and has_its_largest(before):
            note_sizes(first)
            return select(first.run, scores_of(before))[0]
    return first.refuse("a choice whose probabilities are not seen to add up to 1")


def place_by_any_weights(weights: Any, count: int) -> int | None:
    """The place that Python's ``random.choices`` draws, whose weights need not add up to 1.

    It looks up a grid point times the sum in the cumulative sums (docs/theory/size.md, S10). None
    where the weights are plain.
    """
    listed = _list(weights)
    if listed is None:
        return None
    first = listed[0]
    if len(listed) != count or count < 2:
        return first.refuse(f"a choice of {count}")
    if first.totals:
        return place_by_weights(np.array(count), listed)
    parts = tuple(weight.key for weight in listed)
    if not has_its_largest(parts):
        return first.refuse("a choice whose weights have no common size")
    return select(first.run, scores_of(parts))[0]


def note_sizes(weight: Weight) -> None:
    """Add what floats lose of a score that is large, less the logarithm of a total of such."""
    sizes = [total.size(weight.run) for total in weight.totals]
    size = max((one for one in sizes if one is not None), default=_ZERO)
    if size > _LARGEST:
        weight.run.rounding += size * _LOST


def _list(p: Any) -> list[Weight] | None:
    if type(p) is SymbolicArray:
        if type(p.storage) is not CellStorage or p.ndim != 1:
            return None
        cells = p.cells.tolist()
    elif type(p) in (list, tuple):
        cells = list(p)
    else:
        return None
    return cells if cells and all(type(cell) is Weight for cell in cells) else None


OF_SCORES.types |= frozenset({Score, Weight, SumOfWeights, NearNumber})
OF_SCORES.exp = exp_of_score
OF_SCORES.are_scores = are_scores
OF_SCORES.largest = largest_of
