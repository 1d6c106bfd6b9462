"""Numbers of a run in which data are symbolic, too: sums of noise and answers, and what they tell.

An ``AlignedValue`` is a constant plus factors times noise and *answers* (``symbolic.answers``), of
which nothing is asked but the form. What is done with it that is not linear, and the comparisons of
a run that ``releases``, make it known to the outside: it becomes a place of the output, and from
then on all that follows from it is free (docs/theory/size.md, S7). A ``ReleasedValue`` is such a
number: any function of what was released, kept as an expression. Other comparisons are conditions.
An answer without noise is never looked at: that is refused with its line.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import islice, repeat
from typing import Any, ClassVar

import numpy as np

from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.values.answers.decisions import DecidingRun
from liptest.values.answers.free_functions import (
    ALWAYS_RELEASED,
    FINITE,
    FREE,
    FREE_FUNCTIONS,
    OF_KNOWN,
    TOTAL,
    SharedCall,
    is_positive,
    to_decimals,
    to_whole,
)
from liptest.values.answers.functions_of_answers import (
    OF_SCORES,
    UNKNOWN,
    absolute_form,
    find_advice,
    find_compared_form,
    find_roundings,
    floor_form,
    is_neutral,
    is_zero_times,
    of_function,
    result_kind,
    round_form,
    settle_comparison,
    truth_form,
)
from liptest.values.answers.kept_values import keep_results
from liptest.values.answers.ordered_answers import OF_ORDERS, answer_in_order
from liptest.values.array import (
    DTYPES,
    CellStorage,
    SymbolicArray,
    fill_array,
    find_dtype,
    make_array,
    make_model,
)
from liptest.values.draws.noise import exact_number, is_finite
from liptest.values.draws.noise_run import NoisyNumber, NoisyValue, ReleasedNumber
from liptest.values.promotion import as_noise
from liptest.values.protocol import COMPARISONS, Operation, Symbolic, SymbolicValue, is_symbolic

_ZERO, _EXP = Fraction(0), math.exp
_LINEAR = (operator.add, operator.sub)
_PLAIN = frozenset({int, float, np.int64, np.float64})
_OF_CELLS = {np.add: operator.add, np.subtract: operator.sub}
# Where the largest is, and the smallest; by function, as the names stand for others meanwhile.
_PLACES: dict[Any, int] = {np.argmax: 1, np.argmin: -1}
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
_NUMBERS, _ROUNDING = (int, float, np.generic), (np.floor, np.ceil, np.rint, np.trunc)
_LARGEST: dict[Any, int] = {np.max: 1, np.amax: 1, np.min: -1, np.amin: -1}


class AlignedRun(DecidingRun):
    """A run whose numbers are these."""

    __slots__ = ()

    def own_value(self, form: Form, kind: Any) -> Any:
        return AlignedValue(self, form, kind)

    def value_of_answer(self, answer: Answer, kind: Any) -> AlignedValue:
        """An answer as a number of a type."""
        form = self.answer(answer)
        key = form.terms, answer.number, kind
        cached: AlignedValue | None = self.made.get(key)
        if cached is None:
            off = 0 if kind in _PLAIN else UNKNOWN
            cached = self.made[key] = AlignedValue(self, form, kind, off)
            cached.is_kept = True
        return cached.handed_out()

    def draw_again(self, *draw: Any) -> Any:
        if self.point is not None:
            return None
        try:
            earlier = self.made.get((len(self.noises), draw))
        except TypeError:  # arrays of parameters
            return None
        if earlier is None:
            return None
        drawn, noises = earlier
        self.noises.extend(noises)
        return drawn.copy() if type(drawn) is SymbolicArray else drawn

    def note_draw(self, drawn: Any, first: int, *draw: Any) -> None:
        cells = list(drawn.cells.flat) if type(drawn) is SymbolicArray else [drawn]
        if self.point is not None or not all(type(cell) is AlignedValue for cell in cells):
            return
        for cell in cells:
            cell.is_kept = True
        kept = drawn.copy() if type(drawn) is SymbolicArray else drawn
        try:
            self.made[first, draw] = kept, self.noises[first:]
        except TypeError:  # arrays of parameters
            return

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        operation: Any = _OF_CELLS.get(ufunc)
        if ufunc in COMPARISONS and self._are_answers(inputs):
            operation = COMPARISONS[ufunc]
        elif ufunc in COMPARISONS and self.releases:
            operation = partial(self._compared, ufunc)
        if operation is None or len(inputs) != 2:
            return NotImplemented
        lanes = [_lane(part) for part in inputs]
        length = max(len(lane or ()) for lane in lanes)
        if any(lane is not None and len(lane) != length for lane in lanes):
            return NotImplemented
        for place, part in enumerate(inputs):
            if lanes[place] is None and type(part) not in _PLAIN and not is_symbolic(part):
                return NotImplemented
        dtype = ufunc(*map(make_model, inputs)).dtype
        if dtype not in DTYPES:
            return NotImplemented
        left, right = (
            repeat(part) if lane is None else lane for part, lane in zip(inputs, lanes, strict=True)
        )
        cells = list(map(operation, left, right))
        return make_array(self.tree, fill_array(cells, (length,), object), dtype)

    def _are_answers(self, values: Any) -> bool:
        """Whether numbers, and entries of arrays in a line, are constants or data without noise."""
        cells = [entry for value in values for entry in (_lane(value) or [value])]
        return all(
            not self.has_noise(cell.form) if type(cell) is AlignedValue else not is_symbolic(cell)
            for cell in cells
        )

    def _compared(self, ufunc: Any, left: Any, right: Any) -> Any:
        """A comparison of released numbers, which is released, and not looked at."""
        if type(left) is AlignedValue and isinstance(right, (int, float, np.generic)):
            self.boundary = (
                left.form - exact_number(right) if not self.has_noise(left.form) else None
            )
        pair = tuple(_find_known(part, ufunc.__name__) for part in (left, right))
        if not any(map(is_symbolic, pair)):
            return ufunc(*pair)
        return ReleasedValue(self, np.bool_, ufunc, pair)

    def write_where(self, storage: CellStorage, mask: Any, value: Any) -> bool:
        places = _lane(mask) if self.releases else None
        if places is None or mask.dtype != np.bool_ or storage.shape != (len(places),):
            return False
        if not (type(value) in _PLAIN or _is_of_data(value)):
            return False
        if not all(type(entry) in (np.bool_, bool, ReleasedValue) for entry in places):
            return False
        if np.result_type(find_dtype(value), storage.dtype) != storage.dtype:
            return False
        chosen = self._choose(mask, value, SymbolicArray(storage))
        if chosen is NotImplemented:
            return False
        storage.write(Ellipsis, chosen)
        return True

    def _choose(self, condition: Any, *pair: Any) -> Any:
        """``numpy.where`` of released comparisons in a line."""
        lanes = [_lane(part) for part in (condition, *pair)]
        if len(pair) != 2 or not self.releases or lanes[0] is None:
            return NotImplemented
        length = len(lanes[0])
        if any(lane is not None and len(lane) != length for lane in lanes):
            return NotImplemented
        plain = [part for lane, part in zip(lanes, (condition, *pair), strict=True) if lane is None]
        if not all(type(part) in _PLAIN or _is_of_data(part) for part in plain):
            return NotImplemented
        dtype = np.where(np.ones(1, bool), *(make_model(part) for part in pair)).dtype
        columns = [
            repeat(part) if lane is None else lane
            for lane, part in zip(lanes, (condition, *pair), strict=True)
        ]
        if not all(type(truth) in (np.bool_, bool, ReleasedValue) for truth in lanes[0]):
            return NotImplemented
        cells = []
        for entry in islice(zip(*columns, strict=False), length):
            operands = tuple(_find_known(part, "numpy.where") for part in entry)
            cells.append(ReleasedValue(self, dtype.type, np.where, operands))
        return make_array(self.tree, fill_array(cells, (length,), object), dtype)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """Functions of arrays that become known: what follows from them is known, too."""
        if function in _LARGEST and len(arguments) == 1 and not options:
            lane = _lane(arguments[0])
            if lane and OF_SCORES.are_scores(lane):
                return OF_SCORES.largest(lane, arguments[0].dtype.type, sign=_LARGEST[function])
        is_count = function is np.count_nonzero and len(arguments) == 1 and not options
        if is_count and _lane(arguments[0]) and self._are_answers(arguments):
            is_truth = arguments[0].dtype == np.bool_
            return np.sum(arguments[0] if is_truth else arguments[0] != 0).item()
        if function in OF_ORDERS and _lane(arguments[0]) and self._are_answers(arguments[:1]):
            return answer_in_order(function, arguments[0], arguments[1:], options)
        if function in _PLACES and not self.releases:
            return self._place_of_largest(_PLACES[function], arguments, options)
        if function is np.where and not options:
            return self._choose(*arguments)
        is_sum, is_free = function in OF_KNOWN, self.releases and function in FREE_FUNCTIONS
        if not (is_sum or is_free or function in ALWAYS_RELEASED):
            return NotImplemented
        array, *more = arguments
        if type(array) is not SymbolicArray or not array.size:
            return NotImplemented
        if function is np.bincount and not _has_place_for_all(array, *more, **options):
            return NotImplemented
        cells = array.cells
        is_known = all(type(cell) is ReleasedValue for cell in cells.flat)
        of_data = all(_is_of_data(cell) or not is_symbolic(cell) for cell in cells.flat)
        if not (is_known if is_sum else of_data):
            return NotImplemented
        if any(issubclass(type(option), Symbolic) for option in (*more, *options.values())):
            return NotImplemented
        released = [_find_known(cell, f"numpy.{function.__name__}") for cell in cells.flat]
        if not all(map(_is_finite, released)):
            return NotImplemented
        model = function(np.zeros(array.shape, array.dtype), *more, **options)
        call = SharedCall(function, tuple(more), options, array)
        choices = array.size if function in _PLACES else 0

        def entry(place: int) -> ReleasedValue:
            kind = np.asarray(model).dtype.type
            return ReleasedValue(
                self, kind, partial(call.entry, place), tuple(released), choices=choices
            )

        if not isinstance(model, np.ndarray):
            return entry(0)
        cells = fill_array([entry(place) for place in range(model.size)], model.shape, object)
        return make_array(self.tree, cells, model.dtype)

    def _place_of_largest(self, sign: int, arguments: Any, options: Any) -> Any:
        lane = _lane(arguments[0])
        if not lane or len(arguments) > 1 or options or self.point is not None:
            return NotImplemented
        if not all(type(entry) is AlignedValue and entry.is_kept for entry in lane):
            return NotImplemented
        key = (sign, *map(id, lane))
        contest = self.made.get(key)
        if contest is None:
            contest = self.contest([entry.form if sign > 0 else -entry.form for entry in lane])
            self.made[key] = contest
        return NotImplemented if contest is None else np.int64(self.settle_contest(contest))


class NoisyData(NoisyNumber):
    """What both kinds have in common."""

    __slots__ = ()

    stays_symbolic = True
    described = "a number that data and noise determine"
    described_in_arrays = "an array that data and noise determine"
    advice = property(find_advice)
    run: AlignedRun

    def released(self, use: str) -> ReleasedValue:
        """As a number that is known to the outside."""
        raise NotImplementedError

    def evaluate(self) -> Any:
        """What it is at the point of the run."""
        raise NotImplementedError

    def linear(self) -> Form | None:
        """Its form; None where it has none."""
        raise NotImplementedError

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        return self.evaluate()

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc in FINITE:
            return FINITE[ufunc] if self.is_finite else NotImplemented
        if ufunc not in FREE:
            return NotImplemented
        if not all(isinstance(part, _NUMBERS) or _is_of_data(part) for part in inputs):
            return NotImplemented
        kind = type(ufunc(*(part.kind(1) if is_symbolic(part) else part for part in inputs)))
        if ufunc in _ROUNDING:
            return self.rounded(ufunc.__name__, kind)
        released = [part.released(ufunc.__name__) if is_symbolic(part) else part for part in inputs]
        finite = ufunc in TOTAL and all(map(_is_finite, released))
        return ReleasedValue(self.run, kind, ufunc, tuple(released), is_finite=finite)

    @property
    def is_finite(self) -> bool:
        """Whether it is neither infinite nor NaN."""
        return True

    def concretise(self, use: str) -> Any:
        if use != "the output":
            if not self.run.has_noise(self.form):
                self.run.boundary = find_compared_form(self.run, self.form) or self.form
            self.refuse(use)
        self.run.check_current()
        return NoisyValue(self.in_output())

    def in_output(self) -> Any:
        """What stands for it in an output."""
        raise NotImplementedError


def _is_of_data(value: Any) -> bool:
    return issubclass(type(value), NoisyData)


def _is_finite(value: Any) -> bool:
    """Whether a number, symbolic or not, is neither infinite nor NaN."""
    return bool(value.is_finite if _is_of_data(value) else np.isfinite(value))


class AlignedValue(NoisyData):
    """A constant plus factors times noise and answers.

    One that ``is_kept`` is the same object on all paths, and so is what is calculated from it. Two
    calculations on one path give two objects, as those of numbers do.
    """

    __slots__ = ("form", "is_kept", "path", "roundings")

    __hash__ = SymbolicValue.__hash__
    #: Puts a known number beside a sum of the data (``answers_beside``).
    beside: ClassVar[Any]

    def __init__(self, run: AlignedRun, form: Form, kind: Any = float, off: int = UNKNOWN) -> None:
        self.run = run
        self.form = form
        self.kind = kind
        #: How often floats have rounded what data made of it (``find_roundings``).
        self.roundings = off
        self.is_kept = False
        #: The last path on which it was handed to the program, by number.
        self.path = 0

    def handed_out(self) -> AlignedValue:
        """It, or on a path that has it already another one of the same value."""
        if self.path == self.run.path:
            return AlignedValue(self.run, self.form, self.kind, self.roundings)
        self.path = self.run.path
        return self

    def entry(self) -> Any:
        return self if issubclass(self.kind, np.generic) else super().entry()

    def linear(self) -> Form | None:
        return self.form

    def in_output(self) -> Any:
        return self.form

    def evaluate(self) -> Any:
        return self._of(Form(self.run.at_point(self.form)), self.kind)

    def released(self, use: str) -> ReleasedValue:
        run = self.run
        if not run.has_noise(self.form):
            self.refuse_data(use)
        run.release(self.form)
        return ReleasedValue(run, self.kind, None, (self,))

    def refuse_data(self, use: str) -> Any:
        """Refuse what looks at data without noise."""
        self.refuse(f"{use}, without noise in it,")

    def _of(self, form: Form, kind: Any, *parts: Any) -> Any:
        if not form.terms:
            whole = not issubclass(kind, (float, np.floating))
            return kind(int(form.constant)) if whole else kind(form.constant)
        self.run.require_room(self, form, kind)
        return AlignedValue(self.run, form, kind, find_roundings(form, kind, parts))

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if is_symbolic(other):
            if type(other) in OF_SCORES.types:
                return other.binary(operation, self, swapped=not swapped)
            if type(other) is AlignedValue and operation in _LINEAR:
                kind = result_kind(operation, self.kind, other.kind)
                if kind is not np.bool_:
                    return self._of(operation(self.form, other.form), kind, self, other)
            return self._known(operation, other)
        kinds = (type(other), self.kind) if swapped else (self.kind, type(other))
        if not math.isfinite(other):
            if operation in _LINEAR:  # infinite, or NaN, whatever is added to it
                return operation(other, self.kind(0)) if swapped else operation(self.kind(0), other)
            return self._known(operation, other, swapped=swapped)
        number = exact_number(other)
        if operation in _LINEAR or operation is operator.mul:
            kind = result_kind(operation, *kinds)
            if operation is operator.mul:
                if not number and not is_zero_times(self.run, self.form, other, kind):
                    return self._known(operation, other, swapped=swapped)
                return self._of(self.form * number, kind, self)
            pair: Any = (number, self.form) if swapped else (self.form, number)
            return self._of(operation(*pair), kind, self, number)
        if operation is operator.truediv and not swapped and number:
            kind = result_kind(operation, *kinds)
            return self._of(self.form * (1 / Fraction(number)), kind, self)
        is_floor = operation is operator.floordiv and not swapped and type(number) is int
        if is_floor and number > 0 and self.is_answer and self.run.is_whole(self.form):
            quotient = self.form * Fraction(1, number)
            return self._of(floor_form(self.run, quotient), result_kind(operation, *kinds))
        return self._known(operation, other, swapped=swapped)

    @property
    def is_answer(self) -> bool:
        """Whether data alone determine it."""
        return not self.run.has_noise(self.form)

    def _known(self, operation: Operation, other: Any, *, swapped: bool = False) -> Any:
        if type(other) is ReleasedValue and operation in _LINEAR and self.is_answer:
            return self.beside(self, operation, other, swapped=swapped)
        use = operation.__name__
        return self.released(use).binary(operation, _find_known(other, use), swapped=swapped)

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if self.run._are_answers(inputs):
            if ufunc is np.exp:
                return OF_SCORES.exp(self, np.float64)
            answer = self._answer(ufunc, inputs)
            if answer is not NotImplemented:
                return answer
        return super().apply(ufunc, inputs)

    def apply_math(self, function: Any) -> Any:
        if function is _EXP and self.is_answer:
            return OF_SCORES.exp(self, float)
        return self._answer(function, (self,)) if self.is_answer else NotImplemented

    def _answer(self, function: Any, inputs: tuple[Any, ...]) -> Any:
        """A function of answers that is an answer, too; NotImplemented for others."""
        parts = [part for part in inputs if is_symbolic(part) or not is_neutral(function, part)]
        if not all(is_symbolic(part) or math.isfinite(part) for part in parts):
            return NotImplemented
        forms = [part.form if is_symbolic(part) else Form(exact_number(part)) for part in parts]
        form = of_function(self.run, function, forms)
        if form is None:
            return NotImplemented
        return self._of(form, type(function(*map(make_model, inputs))))

    def current(self) -> Any:
        return self.run.as_curve(self) if self.run.is_curved else self

    def __abs__(self) -> Any:
        if self.run.is_curved:
            return abs(self.current())
        if not self.is_answer:
            return super().__abs__()
        return self._of(absolute_form(self.run, self.form), type(abs(self.kind(1))))

    def __bool__(self) -> bool:
        compared = find_compared_form(self.run, self.form)
        if compared is None:
            return super().__bool__()
        self.run.boundary = compared
        return bool(self.refuse_data("a comparison"))

    def compare(self, comparison: Operation, other: Any) -> Any:
        if not is_symbolic(other):
            if not is_finite(other):
                return bool(comparison(0.0, other))
            form = self.form - exact_number(other)
        elif type(other) is AlignedValue:
            form = self.form - other.form
        else:
            return _find_known(self, "a comparison").compare(comparison, other)
        if form.terms and not self.run.has_noise(form) and not self.run.is_released(form):
            if self.run.is_not_zero(comparison, form):
                return comparison is operator.ne
            answer = settle_comparison(self.run, comparison, form, self, other)
            if answer is not None:
                return answer
            truth = truth_form(self.run, comparison, form)
            if truth is not None:
                return self._of(truth, type(comparison(self.kind(1), make_model(other))))
            self.run.boundary = form
            self.refuse_data("a comparison")
        return self.run.holds(comparison, form)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if issubclass(kind, (float, np.float64)) or self.run.is_whole(self.form):
            if kind in (bool, np.bool_) and self.kind not in (bool, np.bool_):
                return kind(bool(self))
            return self._of(self.form, kind, self)
        if issubclass(kind, (int, np.integer)) and kind not in (bool, np.bool_):
            return self.rounded("trunc", kind)
        return kind(bool(self)) if kind in (bool, np.bool_) else self.refuse(f"{kind.__name__}()")

    def rounded(self, how: str, kind: Any) -> Any:
        if self.run.is_whole(self.form):
            return self.typed(kind)
        if not self.is_answer:
            return OF_SCORES.rounded(self, how, kind)
        form = round_form(self.run, self.form, how)
        return self.refuse_data(how) if form is None else self._of(form, kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        if self.run.is_whole(self.form) and decimals >= 0:
            return self.typed(kind)
        if not decimals and not self.is_answer:
            return self.rounded("rint", kind)
        scale = Fraction(10) ** decimals
        form = round_form(self.run, self.form * scale, "rint") if self.is_answer else None
        if form is not None:
            return self._of(form * (1 / scale), kind)
        return self.released("round()").rounded_to(decimals, kind, own)

    def is_integer(self) -> bool:
        if self.run.is_whole(self.form):
            return True
        if self.run.has_continuous_noise(self.form):
            return False
        return bool(self.refuse("is_integer"))


class ReleasedValue(NoisyData):
    """A function of what is known to the outside: ``function(*arguments)``, None of a form."""

    __slots__ = ("_at_point", "_finite", "arguments", "choices", "function", "node")

    __hash__ = SymbolicValue.__hash__

    def __init__(
        self,
        run: AlignedRun,
        kind: Any,
        function: Any,
        arguments: tuple[Any, ...],
        *,
        is_finite: bool = True,
        choices: int = 0,
    ) -> None:
        self.run = run
        self.kind = kind
        self.function = function
        self.arguments = arguments
        # Its value and size at the point of the run, once they were computed.
        self._at_point: tuple[Any, Fraction] | None = None
        self._finite = is_finite
        self.choices = choices
        self.node = run.node_of(self)

    def concretise(self, use: str) -> Any:
        if use == "the output":
            return super().concretise(use)
        if not self.choices:
            self.refuse(use)
        return self.kind(self.run.choose_value(self.node, self.choices, self.evaluate))

    @property
    def is_finite(self) -> bool:
        return self._finite

    def linear(self) -> Form | None:
        return None

    def released(self, use: str) -> ReleasedValue:
        return self

    def in_output(self) -> Any:
        return ReleasedNumber(self)

    def evaluate(self) -> Any:
        return self.at_point[0]

    @property
    def at_point(self) -> tuple[Any, Fraction]:
        """Its value at the point of the run, and how large what it was made of is."""
        if self._at_point is None:
            points = [_at_point_of(part) for part in self.arguments if is_symbolic(part)]
            left = iter(points)
            values = [next(left)[0] if is_symbolic(part) else part for part in self.arguments]
            with np.errstate(all="ignore"):
                value = values[0] if self.function is None else self.function(*values)
            size = abs(Fraction(float(value))) if np.isfinite(value) else _ZERO
            self._at_point = value, max([size, *(magnitude for _, magnitude in points)])
        return self._at_point

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if type(other) is AlignedValue and operation in _LINEAR and other.is_answer:
            return other.beside(other, operation, self, swapped=not swapped)
        released = _find_known(other, operation.__name__)
        pair = (released, self) if swapped else (self, released)
        kinds: list[Any] = [part.kind if is_symbolic(part) else type(part) for part in pair]
        finite = all(map(_is_finite, pair))
        if operation in _DIVISIONS:
            if not is_positive(pair[1], ReleasedValue) and bool(pair[1] == 0):
                operation(kinds[0](1), kinds[1](0))  # Python raises, NumPy does not
                finite = False
        elif operation is operator.pow:
            if is_symbolic(pair[1]) or pair[1] not in (1, 2, 3, 4):
                self.refuse("a power that is not 1, 2, 3 or 4")
        elif operation not in (*_LINEAR, operator.mul):
            self.refuse(operation.__name__)
        kind = result_kind(operation, *kinds)
        return ReleasedValue(self.run, kind, operation, pair, is_finite=finite)

    def compare(self, comparison: Operation, other: Any) -> Any:
        run = self.run
        if is_symbolic(other):
            released = _find_known(other, "a comparison")
            at = lambda: bool(comparison(self.evaluate(), released.evaluate()))  # noqa: E731
            return run.decide((comparison.__name__, self.node, released.node), at)
        chosen = run._known_ways.get(("value", self.node)) if self.choices else None
        if chosen is not None:
            return comparison(self.kind(chosen), other)
        if self.function is None and self._finite:
            return self.arguments[0].compare(comparison, other)
        if not (self._finite and is_finite(other)):
            at = lambda: bool(comparison(self.evaluate(), other))  # noqa: E731
            return run.decide((comparison.__name__, self.node, repr(other)), at)
        interval, bound = run.interval_of(self.node), Fraction(exact_number(other))
        gap = lambda: Fraction(exact_number(self.evaluate())) - bound  # noqa: E731
        if comparison in (operator.eq, operator.ne):
            equal = run._is_equal(self.node, interval, bound, gap)
            return equal is (comparison is operator.eq)
        return run._reaches(comparison, self.node, interval, bound, gap)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if kind in (bool, np.bool_):
            return kind(bool(self))
        finite = self._finite
        if not finite and issubclass(kind, (int, np.integer)):
            self.refuse(f"{kind.__name__}() of what may be NaN or infinite")
        return ReleasedValue(self.run, kind, kind, (self,), is_finite=finite, choices=self.choices)

    def rounded(self, how: str, kind: Any) -> Any:
        if not self._finite and not issubclass(kind, float):
            self.refuse(f"{how} of what may be NaN or infinite")
        function = partial(to_whole, how, kind)
        return ReleasedValue(self.run, kind, function, (self,), is_finite=self._finite)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        function = partial(to_decimals, own, kind, decimals)
        return ReleasedValue(self.run, kind, function, (self,), is_finite=self._finite)

    def is_integer(self) -> bool:
        return self.run.decide(("whole", self.node), lambda: bool(self.evaluate().is_integer()))


def _at_point_of(value: Any) -> tuple[Any, Fraction]:
    if type(value) is AlignedValue:
        return value.evaluate(), value.run.size_of(value.form)
    point: tuple[Any, Fraction] = value.at_point
    return point


def _lane(value: Any) -> list[Any] | None:
    """The entries of an array in one line; None for all else."""
    is_line = type(value) is SymbolicArray and isinstance(value.storage, CellStorage)
    return value.cells.tolist() if is_line and value.ndim == 1 else None


def _has_place_for_all(array: SymbolicArray, weights: Any = None, minlength: Any = 0) -> bool:
    """Whether ``numpy.bincount`` has as many places, whatever is drawn: whole numbers below k."""
    if array.ndim != 1 or weights is not None:
        return False
    drawn = [cell.choices if type(cell) is ReleasedValue else 0 for cell in array.cells]
    return min(drawn) > 0 and max(drawn) <= minlength


def _find_known(value: Any, use: str) -> Any:
    return value.released(use) if is_symbolic(value) else value


keep_results(AlignedValue, exact_number)


@as_noise.register
def _itself(value: NoisyData) -> Any:
    return value
