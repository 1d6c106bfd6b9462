"""Numbers of a run in which data are symbolic, too: sums of noise and answers, and what they tell.

An ``AlignedValue`` is a constant plus factors times noise and *answers* (``symbolic.answers``), of
which nothing is asked but the form. What is done with it that is not linear, and the comparisons of
a run that ``releases``, make it known to the outside: it becomes a place of the output, and from
then on all that follows from it is free (docs/theory/size.md). A ``ReleasedValue`` is such a
number: any function of what was released, kept as an expression. Other comparisons are conditions.
An answer without noise is never looked at: that is refused with its line.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Constraint, Form, Rational, Terms, lean
from liptest.symbolic.noise import Noise
from liptest.values.array import SymbolicArray, array_of, filled
from liptest.values.branching import Branching, UnweightedBranches
from liptest.values.lines import line_in_words, place_of
from liptest.values.noise_run import NoiseRun, NoisyValue
from liptest.values.promotion import as_noise
from liptest.values.protocol import REFLECTED, Operation, Symbolic, SymbolicValue, is_symbolic
from liptest.values.questions import Known

ADVICE = (
    "add noise first, and look only at the noisy number; what is done with data before must be "
    "the same for every record (numpy functions entry by entry), then summed up or counted"
)
_ZERO = Fraction(0)
_LINEAR = (operator.add, operator.sub)
_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
Evaluate = Callable[[Any], Any]


class Decision(UnweightedBranches):
    """Which of some ways holds; ``at_point()`` says it for the point of a run that has one."""

    __slots__ = ("_key", "_ways", "at_point")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, key: Any, ways: int, at_point: Callable[[], int]) -> None:
        self._key = key
        self._ways = ways
        self.at_point = at_point

    def __eq__(self, other: object) -> bool:
        return type(other) is Decision and self._ways == other._ways and self._key == other._key

    def __len__(self) -> int:
        return self._ways

    def __getitem__(self, place: int) -> int:
        return 1

    def following(self, branch: int) -> int | None:
        return branch + 1 if branch + 1 < self._ways else None

    def weights(self) -> tuple[int, ...]:
        return (1,) * self._ways


class Interval:
    """What is known of one number: it lies between two ends, which belong to it or not."""

    __slots__ = ("high", "high_closed", "low", "low_closed")

    def __init__(self) -> None:
        self.low: Rational | None = None
        self.high: Rational | None = None
        self.low_closed = self.high_closed = False

    def reaches(self, bound: Rational, *, strictly: bool) -> bool | None:
        """Whether it is at least a bound, or above it; None where that is not known."""
        low, high = self.low, self.high
        if low is not None and (
            low > bound or (low == bound and not (strictly and self.low_closed))
        ):
            return True
        if high is not None and (
            high < bound or (high == bound and (strictly or not self.high_closed))
        ):
            return False
        return None

    def note(self, bound: Rational, *, strictly: bool, reaches: bool) -> None:
        """Learn what was asked."""
        if reaches:
            self.low, self.low_closed = bound, not strictly
        else:
            self.high, self.high_closed = bound, strictly

    def note_equal(self, bound: Rational) -> None:
        """Learn that it is this number."""
        self.low = self.high = bound
        self.low_closed = self.high_closed = True


class AlignedRun(NoiseRun):
    """All noise and all answers of one run, its conditions, and what it has made known.

    Parameters
    ----------
    tree
        The analysis.
    releases
        Whether a comparison makes known what it compares; else it is a condition.
    point
        ``(variable) -> value``, where the run is one at a point: every decision is answered
        there.
    """

    __slots__ = ("_intervals", "_known_ways", "_nodes", "_variables", "more", "point", "released")
    __slots__ += ("releases", "values")

    noises: list[Any]
    has_answers = True

    def __init__(
        self,
        tree: Branching,
        *,
        releases: bool,
        point: Callable[[Noise | Answer], Fraction] | None = None,
    ) -> None:
        super().__init__(tree)
        self.releases = releases
        self.point = point
        #: At the point, by variable.
        self.values: list[Fraction] = []
        #: Forms that became known, by their terms with the first factor 1.
        self.released: dict[Terms, Form] = {}
        #: Conditions that are no comparison of one form with a number.
        self.more: list[Constraint] = []
        self._intervals: dict[Any, Interval] = {}
        self._known_ways: dict[Any, int] = {}
        self._variables: dict[int, int] = {}
        self._nodes = 0

    # ---- variables

    def new(self, noise: Any) -> Form:
        self.noises.append(noise)
        if self.point is not None:
            self.values.append(self.point(noise))
        return Form.variable(len(self.noises) - 1)

    def answer(self, answer: Answer) -> Form:
        """The variable of an answer, the same for the same one."""
        variable = self._variables.get(answer.number)
        if variable is None:
            self.new(answer)
            variable = self._variables[answer.number] = len(self.noises) - 1
        return Form.variable(variable)

    def own_value(self, form: Form, kind: Any) -> Any:
        return AlignedValue(self, form, kind)

    def is_whole(self, form: Form) -> bool:
        """Whether it is a whole number for certain."""
        return Fraction(form.constant).denominator == 1 and all(
            Fraction(factor).denominator == 1 and self.noises[variable].is_discrete
            for variable, factor in form.terms
        )

    def has_noise(self, form: Form) -> bool:
        """Whether it is more than answers."""
        return any(type(self.noises[variable]) is not Answer for variable, _ in form.terms)

    def has_continuous_noise(self, form: Form) -> bool:
        """Whether it takes each value with probability 0."""
        return any(
            type(self.noises[variable]) is not Answer and not self.noises[variable].is_discrete
            for variable, _ in form.terms
        )

    def at_point(self, form: Form) -> Fraction:
        """What a form is at the point."""
        return Fraction(form.constant) + sum(
            (factor * self.values[variable] for variable, factor in form.terms), _ZERO
        )

    def size_of(self, form: Form) -> Fraction:
        """How large the parts of a form are at the point: floats are rounded in such steps."""
        parts = (abs(factor * self.values[variable]) for variable, factor in form.terms)
        return abs(Fraction(form.constant)) + sum(parts, _ZERO)

    def size_at(self, value: Any) -> Fraction:
        """The same of a released number."""
        own = value.evaluate()
        size = abs(Fraction(float(own))) if np.isfinite(own) else _ZERO
        if type(value) is AlignedValue:
            return self.size_of(value.form)
        return max([size, *(self.size_at(one) for one in value.arguments if is_symbolic(one))])

    def terms_of(self, form: Form) -> Terms:
        """The terms with the first factor 1."""
        return _normal(form)[0]

    def conditions(self) -> tuple[Constraint, ...]:
        """All that this run asked of what is not known to the outside."""
        found = []
        for terms, one in self._intervals.items():
            if type(terms) is tuple and terms not in self.released:
                found.append(
                    Constraint(
                        terms,
                        None if one.low is None else Fraction(one.low),
                        None if one.high is None else Fraction(one.high),
                        one.low is not None and one.low_closed,
                        one.high is not None and one.high_closed,
                    )
                )
        return (*found, *self.more)

    # ---- decisions

    def release(self, form: Form) -> None:
        """Make a form known to the outside."""
        terms, _ = _normal(form)
        self.released.setdefault(terms, form)

    def is_released(self, form: Form) -> bool:
        """Whether a form is known to the outside."""
        return not form.terms or _normal(form)[0] in self.released

    def holds(self, comparison: Operation, form: Form) -> bool:
        """Whether a form compares so with 0: known, or chosen."""
        if not form.terms:
            return bool(comparison(form.constant, 0))
        terms, first = _normal(form)
        if self.releases:
            self.released.setdefault(terms, form)
        bound = lean(-Fraction(form.constant) / first)
        comparison = comparison if first > 0 else REFLECTED[comparison]
        interval = self._intervals.get(terms)
        if interval is None:
            interval = self._intervals[terms] = Interval()
        if comparison in (operator.eq, operator.ne):
            if self.has_continuous_noise(form):
                return comparison is operator.ne
            gap = lambda: self.at_point(Form(-bound, terms))  # noqa: E731
            return self._is_equal(terms, interval, bound, gap) is (comparison is operator.eq)
        gap = lambda: self.at_point(Form(-bound, terms))  # noqa: E731
        return self._reaches(comparison, terms, interval, bound, gap)

    def _reaches(
        self, comparison: Operation, key: Any, interval: Interval, bound: Rational, gap: Any
    ) -> bool:
        strictly = comparison in (operator.gt, operator.le)
        reaches = interval.reaches(bound, strictly=strictly)
        if reaches is None:
            asked = Decision(
                (key, strictly, bound),
                2,
                lambda: int(not (gap() > 0 if strictly else gap() >= 0)),
            )
            reaches = self.tree.choose(asked) == 0
            interval.note(bound, strictly=strictly, reaches=reaches)
        return reaches is (comparison in (operator.gt, operator.ge))

    def _is_equal(self, key: Any, interval: Interval, bound: Rational, gap: Any) -> bool:
        below = interval.reaches(bound, strictly=False) is False
        above = interval.reaches(bound, strictly=True) is True
        if below or above:
            return False
        if interval.low == interval.high == bound:
            return True
        asked = Decision((key, "equal", bound), 3, lambda: (gap() > 0) + 2 * (gap() < 0))
        way = self.tree.choose(asked)
        if way == 0:
            interval.note_equal(bound)
        else:
            interval.note(bound, strictly=way == 1, reaches=way == 1)
        return way == 0

    def first_of(self, sums: list[Form], way: Callable[[int], Known | None]) -> int:
        if len({one.terms for one in sums}) < len(sums):
            return super().first_of(sums, way)
        key = tuple(sums)
        known = self._known_ways.get(key)
        if known is None:

            def at_point() -> int:
                values = list(map(self.at_point, sums))
                return values.index(max(values))

            known = self.tree.choose(Decision(key, len(sums), at_point))
            self._known_ways[key] = known
            self._note(way(known) or ())
        return known

    def _note(self, way: Known) -> None:
        """Learn what a branch says, which must not be about answers alone."""
        for one in way:
            if one.terms in self.released:
                continue
            if not self.has_noise(Form(0, one.terms)):
                where = line_in_words(*place_of(sys._getframe(1)))
                said = f" ({where})" if where else ""
                self.tree.unsupported(f"a comparison of data without noise in it{said}", ADVICE)
            if self.releases:
                self.released[one.terms] = Form(0, one.terms)
            else:
                self.more.append(one)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """Functions of arrays that become known: what follows from them is known, too."""
        if not (function in FREE_FUNCTIONS and (self.releases or function in ALWAYS_RELEASED)):
            return NotImplemented
        array, *more = arguments
        if type(array) is not SymbolicArray or not array.size:
            return NotImplemented
        cells = array.cells
        if not all(_is_of_data(one) or not is_symbolic(one) for one in cells.flat):
            return NotImplemented
        if any(issubclass(type(one), Symbolic) for one in (*more, *options.values())):
            return NotImplemented
        use = f"numpy.{function.__name__}"
        known = [one.released(use) if is_symbolic(one) else one for one in cells.flat]
        if not all(getattr(one, "is_finite", True) for one in known):
            return NotImplemented
        model = function(np.ones(array.shape, array.dtype), *more, **options)
        call = SharedCall(function, tuple(more), options, array)
        choices = array.size if function in (np.argmax, np.argmin) else 0

        def entry(place: int) -> ReleasedValue:
            kind = np.asarray(model).dtype.type
            return ReleasedValue(
                self, kind, partial(call.entry, place), tuple(known), choices=choices
            )

        if not isinstance(model, np.ndarray):
            return entry(0)
        cells = filled([entry(place) for place in range(model.size)], model.shape, object)
        return array_of(self.tree, cells, model.dtype)

    def take(self, key: Any, ways: Callable[[], tuple[Known | None, ...]]) -> int:
        """Which of some ways, exactly one of which holds, this run takes."""
        words = repr(key)
        known = self._known_ways.get(words)
        if known is not None:
            return known
        every = ways()
        places = [place for place, way in enumerate(every) if way is not None]

        def at_point() -> int:
            return next(k for k, place in enumerate(places) if self._all_hold(every[place]))

        taken = places[0]
        if len(places) > 1:
            taken = places[self.tree.choose(Decision(words, len(places), at_point))]
        self._note(every[taken] or ())
        self._known_ways[words] = taken
        return taken

    def _all_hold(self, way: Known | None) -> bool:
        return all(holds_at(one, self.at_point(Form(0, one.terms))) for one in way or ())

    # ---- released numbers

    def decide(self, key: Any, at_point: Callable[[], bool]) -> bool:
        """Whether something holds that follows from what is known: chosen, once for each key."""
        known = self._known_ways.get(key)
        if known is None:
            known = self.tree.choose(Decision(key, 2, lambda: int(not at_point())))
            self._known_ways[key] = known
        return known == 0

    def choose_value(self, key: Any, choices: int, at_point: Callable[[], Any]) -> int:
        """Which of the whole numbers from 0 on a known number is: chosen, once for each key."""
        known = self._known_ways.get(("value", key))
        if known is None:
            known = self.tree.choose(Decision(("value", key), choices, lambda: int(at_point())))
            self._known_ways["value", key] = known
        return known

    def number_node(self) -> int:
        """A number for an expression, the same whenever the run is repeated."""
        self._nodes += 1
        return self._nodes

    def interval_of(self, node: int) -> Interval:
        """What is known of an expression."""
        return self._intervals.setdefault(node, Interval())


def _normal(form: Form) -> tuple[Terms, Fraction]:
    """Terms with the first factor 1, and that factor."""
    first = form.terms[0][1]
    if first == 1:
        return form.terms, Fraction(1)
    factor = Fraction(first)
    return tuple((variable, lean(one / factor)) for variable, one in form.terms), factor


def holds_at(constraint: Constraint, value: Fraction) -> bool:
    """Whether a sum of this value meets a constraint."""
    low, high = constraint.low, constraint.high
    if low is not None and (value < low or (value == low and not constraint.low_closed)):
        return False
    return high is None or value < high or (value == high and constraint.high_closed)


class _OfData(SymbolicValue):
    """What both kinds have in common."""

    __slots__ = ("kind", "run")

    __hash__ = SymbolicValue.__hash__
    family = "noise"
    calculates_with_its_own = True
    stays_symbolic = True
    described = "a number that data and noise determine"
    described_in_arrays = "an array that data and noise determine"
    advice = ADVICE
    run: AlignedRun

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self.run.tree

    @property
    def __array__(self) -> Any:
        """None: an array of such numbers is an array of objects."""
        raise AttributeError("__array__")

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
        if not all(isinstance(one, (int, float, np.generic)) or _is_of_data(one) for one in inputs):
            return NotImplemented
        kind = type(ufunc(*(one.kind(1) if is_symbolic(one) else one for one in inputs)))
        known = [one.released(ufunc.__name__) if is_symbolic(one) else one for one in inputs]
        finite = ufunc in TOTAL and all(getattr(one, "is_finite", True) for one in known)
        return ReleasedValue(self.run, kind, ufunc, tuple(known), is_finite=finite)

    @property
    def is_finite(self) -> bool:
        """Whether it is neither infinite nor NaN."""
        return True

    def concretise(self, use: str) -> Any:
        if use != "the output":
            self.refuse(use)
        self.run.check_current()
        return NoisyValue(self.in_output())

    def in_output(self) -> Any:
        """What stands for it in an output."""
        raise NotImplementedError


def _is_of_data(value: Any) -> bool:
    return isinstance(type(value), type) and issubclass(type(value), _OfData)


class AlignedValue(_OfData):
    """A constant plus factors times noise and answers."""

    __slots__ = ("form",)

    __hash__ = SymbolicValue.__hash__

    def __init__(self, run: AlignedRun, form: Form, kind: Any = float) -> None:
        self.run = run
        self.form = form
        self.kind = kind

    def linear(self) -> Form | None:
        return self.form

    def in_output(self) -> Any:
        return self.form

    def evaluate(self) -> Any:
        value = self.run.at_point(self.form)
        return self.kind(float(value)) if issubclass(self.kind, float) else self.kind(int(value))

    def released(self, use: str) -> ReleasedValue:
        run = self.run
        if not run.has_noise(self.form):
            self.refuse_data(use)
        run.release(self.form)
        return ReleasedValue(run, self.kind, None, (self,))

    def refuse_data(self, use: str) -> Any:
        """Refuse what looks at data without noise."""
        self.refuse(f"{use}, without noise in it,")

    def _of(self, form: Form, kind: Any) -> Any:
        if not form.terms:
            whole = not issubclass(kind, (float, np.floating))
            return kind(int(form.constant)) if whole else kind(form.constant)
        return AlignedValue(self.run, form, kind)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if is_symbolic(other):
            if type(other) is AlignedValue and operation in _LINEAR:
                kind = result_kind(operation, self.kind, other.kind)
                return self._of(operation(self.form, other.form), kind)
            return self._known(operation, other)
        kinds = (type(other), self.kind) if swapped else (self.kind, type(other))
        if not math.isfinite(other):
            return self._known(operation, other, swapped=swapped)
        number = _exact(other)
        if operation in _LINEAR or (operation is operator.mul and number):
            kind = result_kind(operation, *kinds)
            form = self.form
            if operation is operator.mul:
                return self._of(form * number, kind)
            if operation is operator.add:
                return self._of(form + number, kind)
            return self._of(number - form if swapped else form - number, kind)
        if operation is operator.truediv and not swapped and number:
            kind = result_kind(operation, *kinds)
            return self._of(self.form * (1 / Fraction(number)), kind)
        return self._known(operation, other, swapped=swapped)

    def _known(self, operation: Operation, other: Any, *, swapped: bool = False) -> Any:
        use = operation.__name__
        return self.released(use).binary(operation, _known(other, use), swapped=swapped)

    def check_divisor(self, plain: Any) -> None:
        return None

    def compare(self, comparison: Operation, other: Any) -> Any:
        if not is_symbolic(other):
            if not math.isfinite(other):
                return bool(comparison(0.0, other))
            form = self.form - _exact(other)
        elif type(other) is AlignedValue:
            form = self.form - other.form
        else:
            return _known(self, "a comparison").compare(comparison, other)
        if form.terms and not self.run.has_noise(form) and not self.run.is_released(form):
            self.refuse_data("a comparison")
        return self.run.holds(comparison, form)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if issubclass(kind, (float, np.float64)) or self.run.is_whole(self.form):
            if kind in (bool, np.bool_):
                return kind(bool(self))
            return AlignedValue(self.run, self.form, kind)
        if issubclass(kind, (int, np.integer)) and kind not in (bool, np.bool_):
            return self.rounded("trunc", kind)
        return kind(bool(self)) if kind in (bool, np.bool_) else self.refuse(f"{kind.__name__}()")

    def rounded(self, how: str, kind: Any) -> Any:
        if self.run.is_whole(self.form):
            return self.typed(kind)
        return self.released(how).rounded(how, kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        if self.run.is_whole(self.form) and decimals >= 0:
            return self.typed(kind)
        return self.released("round()").rounded_to(decimals, kind, own)

    def is_integer(self) -> bool:
        if self.run.is_whole(self.form):
            return True
        if self.run.has_continuous_noise(self.form):
            return False
        return bool(self.refuse("is_integer"))


class ReleasedValue(_OfData):
    """A function of what is known to the outside: ``function(*arguments)``, None of a form."""

    __slots__ = ("_choices", "_finite", "arguments", "function", "node")

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
        self._finite = is_finite
        self._choices = choices
        self.node = run.number_node()

    def concretise(self, use: str) -> Any:
        if use == "the output" or not self._choices:
            return super().concretise(use)
        return self.kind(self.run.choose_value(self.node, self._choices, self.evaluate))

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
        values = [one.evaluate() if is_symbolic(one) else one for one in self.arguments]
        if self.function is None:
            return values[0]
        with np.errstate(all="ignore"):
            return self.function(*values)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        known = _known(other, operation.__name__)
        pair = (known, self) if swapped else (self, known)
        kinds = [one.kind if is_symbolic(one) else type(one) for one in pair]
        if operation in _DIVISIONS:
            divisor = pair[1]
            zero = bool(divisor == 0) if is_symbolic(divisor) else divisor == 0
            if zero:
                return operation(kinds[0](1), kinds[1](0))  # ZeroDivisionError, or infinite
        elif operation is operator.pow:
            if is_symbolic(pair[1]) or pair[1] not in (1, 2, 3, 4):
                self.refuse("a power that is not 1, 2, 3 or 4")
        elif operation not in (*_LINEAR, operator.mul):
            self.refuse(operation.__name__)
        finite = all(one.is_finite if is_symbolic(one) else math.isfinite(one) for one in pair)
        kind = result_kind(operation, *kinds)
        return ReleasedValue(self.run, kind, operation, pair, is_finite=finite)

    def check_divisor(self, plain: Any) -> None:
        return None

    def compare(self, comparison: Operation, other: Any) -> Any:
        run = self.run
        if is_symbolic(other):
            known = _known(other, "a comparison")
            at = lambda: bool(comparison(self.evaluate(), known.evaluate()))  # noqa: E731
            return run.decide((comparison.__name__, self.node, known.node), at)
        if self.function is None and self._finite:
            return self.arguments[0].compare(comparison, other)
        if not (self._finite and math.isfinite(other)):
            at = lambda: bool(comparison(self.evaluate(), other))  # noqa: E731
            return run.decide((comparison.__name__, self.node, repr(other)), at)
        interval, bound = run.interval_of(self.node), Fraction(_exact(other))
        gap = lambda: Fraction(_exact(self.evaluate())) - bound  # noqa: E731
        if comparison in (operator.eq, operator.ne):
            equal = run._is_equal(self.node, interval, bound, gap)
            return equal is (comparison is operator.eq)
        return run._reaches(comparison, self.node, interval, bound, gap)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if kind in (bool, np.bool_):
            return kind(bool(self))
        if not self._finite and issubclass(kind, (int, np.integer)):
            self.refuse(f"{kind.__name__}() of what may be NaN or infinite")
        return ReleasedValue(
            self.run, kind, kind, (self,), is_finite=self._finite, choices=self._choices
        )

    def rounded(self, how: str, kind: Any) -> Any:
        if not self._finite and not issubclass(kind, float):
            self.refuse(f"{how} of what may be NaN or infinite")
        cut = getattr(np, how)
        function = lambda value: kind(cut(value))  # noqa: E731
        return ReleasedValue(self.run, kind, function, (self,), is_finite=self._finite)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        function = lambda value: kind(own(value, decimals))  # noqa: E731
        return ReleasedValue(self.run, kind, function, (self,), is_finite=self._finite)

    def is_integer(self) -> bool:
        return self.run.decide(("whole", self.node), lambda: bool(self.evaluate().is_integer()))


class SharedCall:
    """A function of NumPy of an array of known numbers, with all its entries."""

    def __init__(self, function: Any, more: Any, options: Any, array: SymbolicArray) -> None:
        self._function = function
        self._more = more
        self._options = options
        self._shape = array.shape
        self._dtype = array.dtype

    def entry(self, place: int, *values: Any) -> Any:
        """One entry of the result."""
        array = np.array(values, self._dtype).reshape(self._shape)
        return np.ravel(self._function(array, *self._more, **self._options))[place]


class ReleasedNumber:
    """In the place of a released number in an output."""

    __slots__ = ("value",)

    def __init__(self, value: ReleasedValue) -> None:
        self.value = value


def _known(value: Any, use: str) -> Any:
    return value.released(use) if _is_of_data(value) else value


def _exact(value: Any) -> Rational:
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    return lean(Fraction(value) if isinstance(value, Fraction) else Fraction(float(value)))


def result_kind(operation: Operation, left: Any, right: Any) -> Any:
    """The type of what an operation gives."""
    return type(operation(left(2), right(2)))


@as_noise.register
def _itself(value: _OfData) -> Any:
    return value


#: Functions of numbers that are known that follow from them, finite where they are.
TOTAL = frozenset(
    {np.maximum, np.minimum, np.fmax, np.fmin, np.absolute, np.fabs, np.sign, np.square}
    | {np.rint, np.floor, np.ceil, np.trunc, np.tanh, np.arctan, np.sin, np.cos}
)
FREE = TOTAL | {np.exp, np.log, np.sqrt, np.log1p, np.expm1, np.log2, np.log10, np.exp2}
#: Functions of arrays, of which the shape of the result follows from that of the array.
ALWAYS_RELEASED = frozenset({np.median, np.percentile, np.quantile, np.std, np.var, np.ptp})
FREE_FUNCTIONS = ALWAYS_RELEASED | {
    *(np.argmax, np.argmin, np.max, np.min, np.amax, np.amin, np.sort, np.argsort),
}
FINITE: dict[Any, Any] = {np.isnan: np.False_, np.isinf: np.False_, np.isfinite: np.True_}
