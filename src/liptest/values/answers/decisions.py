"""Decisions of a run in which data are symbolic, too: conditions, and what became known.

A comparison of a sum of noise and answers chooses a branch, which is asked nothing but whether what
was asked before settles it: it may be impossible. The branch is a condition of the path, or, in a
run that ``releases``, the sum is made known to the outside, where comparing it costs nothing. A sum
of answers alone is never decided on.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from liptest.symbolic.answer_functions import FIRST_FUNCTION, AnswerFunction, AnswerSum, Ends
from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Constraint, Form, Rational, Terms, lean
from liptest.symbolic.noise import Noise
from liptest.values.answers.contests import Contest
from liptest.values.answers.functions_of_answers import ADVICE
from liptest.values.branching import Branching, UnweightedBranches
from liptest.values.draws.coin_samples import SamplesOfCoins
from liptest.values.draws.noise_run import NoiseRun
from liptest.values.draws.questions import PathCondition
from liptest.values.lines import find_asking_line
from liptest.values.protocol import REFLECTED, Operation
from liptest.values.rounding import Near

_ZERO, _FAR = Fraction(0), 1 << 40


class AtLeast(NamedTuple):
    """Way 0 where a sum of terms is above a bound, or at least it; else way 1."""

    terms: Any
    strictly: bool
    bound: Rational


class Equality(NamedTuple):
    """Way 0 where a sum of terms is this number, way 1 where it is more, way 2 where less."""

    terms: Any
    bound: Rational


class LargestOf(NamedTuple):
    """The way of the largest of some sums, of the first of equal ones."""

    sums: tuple[Form, ...]


class Alternative(UnweightedBranches):
    """Which of some ways holds; ``at_point()`` says it for the point of a run that has one.

    ``asked`` is an ``AtLeast``, ``Equality`` or ``LargestOf`` where it is a question about sums.
    """

    __slots__ = ("_ways", "asked", "at_point")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, asked: Any, ways: int, at_point: Callable[[], int]) -> None:
        self.asked = asked
        self._ways = ways
        self.at_point = at_point

    def __eq__(self, other: object) -> bool:
        if type(other) is not Alternative:
            return False
        return self._ways == other._ways and bool(self.asked == other.asked)

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

    __slots__ = ("constraint", "high", "high_closed", "low", "low_closed")

    def __init__(self) -> None:
        #: The same as a constraint, where it is made already.
        self.constraint: Constraint | None = None
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
        self.constraint = None
        if reaches:
            self.low, self.low_closed = bound, not strictly
        else:
            self.high, self.high_closed = bound, strictly

    def note_equal(self, bound: Rational) -> None:
        """Learn that it is this number."""
        self.constraint = None
        self.low = self.high = bound
        self.low_closed = self.high_closed = True

    @property
    def is_bounded(self) -> bool:
        """Whether anything is known."""
        return self.low is not None or self.high is not None

    def constraint_on(self, terms: Terms) -> Constraint:
        """What is known, of a sum of these terms."""
        return Constraint(
            terms,
            None if self.low is None else Fraction(self.low),
            None if self.high is None else Fraction(self.high),
            self.low is not None and self.low_closed,
            self.high is not None and self.high_closed,
        )


def _two_ways(key: Any, bound: Rational, gap: Any, *, strictly: bool) -> Alternative:
    at_point = lambda: int(not (gap() > 0 if strictly else gap() >= 0))  # noqa: E731
    return Alternative(AtLeast(key, strictly, bound), 2, at_point)


class BoundQuestion:
    """Whether a sum is above a bound, or equal to it: the same on all paths that ask it."""

    __slots__ = (
        *("_sides", "alternative", "bound", "comparison", "gap", "has_density"),
        *("is_of_equality", "strictly", "terms", "wants_more"),
    )

    def __init__(
        self,
        terms: Terms,
        bound: Rational,
        comparison: Operation,
        gap: Callable[[], Fraction],
        *,
        has_density: bool,
    ) -> None:
        self.terms = terms
        self.bound = bound
        self.comparison = comparison
        self.gap = gap
        self.has_density = has_density
        self.is_of_equality = comparison in (operator.eq, operator.ne)
        self.strictly = comparison in (operator.gt, operator.le)
        self.wants_more = comparison in (operator.gt, operator.ge)
        self.alternative = _two_ways(terms, bound, gap, strictly=self.strictly)
        self._sides: list[Constraint | None] = [None, None]

    def side(self, reaches: bool) -> Constraint:
        """The condition of one answer, where nothing else is known."""
        constraint = self._sides[reaches]
        if constraint is None:
            interval = Interval()
            interval.note(self.bound, strictly=self.strictly, reaches=reaches)
            constraint = self._sides[reaches] = interval.constraint_on(self.terms)
        return constraint


class DecidingRun(NoiseRun):
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

    __slots__ = (
        *("_intervals", "_known_ways", "_nodes", "_variables", "more", "point", "released"),
        *("_kept", "boundary", "contests", "depends_on_size", "made", "path", "releases"),
        *("orders", "rng", "coins", "functions", "missing", "nonzero", "rounding", "values"),
        *("coarseness", "notes_asked", "wholes"),
    )

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
        #: What draws at the point what is not noise.
        self.rng: Any = None
        #: Values and questions that were made on another path, by what they were made of.
        self.made: dict[Any, Any] = {}
        #: Answers that are functions of others, the same on all paths.
        self.functions: dict[AnswerFunction, Answer] = {}
        #: What a refused comparison of data without noise compared with 0.
        self.boundary: Form | None = None
        #: Whether what is followed depends on how large answers may become.
        self.depends_on_size = False
        #: The number of the path that is followed.
        self.path = 0
        #: Is told the terms of each sum that is compared with a number.
        self.notes_asked: Callable[[Terms], None] | None = None
        self.begin()

    def begin(self) -> None:
        """Start another path. What was made stays: the same is made of the same variables."""
        self.path += 1
        self.noises = []
        #: At the point, by variable.
        self.values: list[Fraction] = []
        #: By how much more than floats of 64 bits its sums are rounded.
        self.coarseness = Fraction(1)
        #: Forms that became known, by their terms with the first factor 1.
        self.released: dict[Terms, Form] = {}
        #: Conditions other than a comparison of one form with a number.
        self.more: list[Constraint] = []
        self._intervals: dict[Any, Interval] = {}
        self._known_ways: dict[Any, int] = {}
        self._variables: dict[int, int] = {}
        self._nodes = 0
        #: Contests with the place that won.
        self.contests: list[tuple[Contest, int]] = []
        #: How far choices with weights are from exact ones, in total variation at most.
        self.rounding = _ZERO
        #: Of loops over values that may be missing: with what probability one record alone makes
        #: its value told, at most, and the answers that are the counts.
        self.missing: list[tuple[Fraction, tuple[tuple[int, ...], ...]]] = []
        #: Answers that are not 0 on this path, as forms that ``find_terms`` has.
        self.nonzero: set[Terms] = set()
        #: Noise that stands for other noise rounded, by the variable that was rounded.
        self.wholes: dict[int, tuple[Any, Form]] = {}
        #: Random orders of records, by what tells them apart.
        self.orders: dict[Any, int] = {}
        #: Of coins that choose records.
        self.coins = SamplesOfCoins()
        # So that no id is used twice on a path.
        self._kept: list[Any] = []

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

    def in_own_order(self, use: str) -> str:
        """Words of a sum that may be added up in another order than those before."""
        return f"{use} (sum {len(self._variables) + 1})"

    def function_of_answers(self, function: AnswerFunction) -> Form:
        """The variable of a function of answers, the same for the same one."""
        answer = self.functions.get(function)
        if answer is None:
            number = FIRST_FUNCTION + len(self.functions)
            words = f"function {len(self.functions) + 1} of sums"
            answer = Answer(number, function.is_whole, words, function.ends, function)
            self.functions[function] = answer
        return self.answer(answer)

    def sum_of_answers(self, form: Form) -> AnswerSum:
        """What a form without noise is."""
        return AnswerSum(tuple((self.noises[v], f) for v, f in form.terms), form.constant)

    def form_of_answers(self, one: AnswerSum) -> Form:
        """The opposite of ``sum_of_answers``."""
        parts = (self.answer(answer) * factor for answer, factor in one.terms)
        return sum(parts, Form(one.constant))

    @property
    def keeps_sample(self) -> bool:
        """Whether nothing tells which records were chosen by coins."""
        return self.coins.are_kept

    def order_of(self, key: Any = None) -> int:
        """The number of a random order, the same for the same key; None stands for a new one."""
        return self.orders.setdefault((len(self.orders),) if key is None else key, len(self.orders))

    def adopt(self, answers: list[Answer]) -> None:
        """Make the first variables of a path those of answers 0, 1 and so on."""
        self.noises.extend(answers)
        self._variables.update((place, place) for place in range(len(answers)))
        if self.point is not None:
            self.values.extend(map(self.point, answers))

    def is_whole(self, form: Form) -> bool:
        """Whether it is a whole number for certain."""
        return Fraction(form.constant).denominator == 1 and all(
            Fraction(factor).denominator == 1 and self.noises[variable].is_discrete
            for variable, factor in form.terms
        )

    def require_room(
        self, value: Any, form: Form, kind: Any, more: Iterable[tuple[Ends | None, Rational]] = ()
    ) -> None:
        """Refuse a whole number of NumPy that some data make too large for its type: it wraps.

        ``more`` are parts beside the form: what they lie between, and their factors. Noise is taken
        to be below 2**40. Where sums over so many records would be too large, what is proved holds
        for this number of records only.
        """
        if not issubclass(kind, np.integer):
            return
        noises = ((self.noises[variable], factor) for variable, factor in form.terms)
        own = ((one.span if type(one) is Answer else None, factor) for one, factor in noises)
        limits, low = np.iinfo(kind), Fraction(form.constant)
        high, wide = low, abs(low)
        for known, factor in chain(own, more):
            ends = sorted(Fraction(factor) * end for end in known or (-_FAR, _FAR))
            low, high, wide = low + ends[0], high + ends[1], wide + abs(Fraction(factor)) * _FAR
        if not limits.min <= low <= high <= limits.max:
            value.refuse(f"a whole number that may be too large for {kind.__name__}, and wrap,")
        self.depends_on_size |= wide > limits.max

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

    def law_of(self, form: Form) -> Any:
        """As drawn with plain data, where answers are numbers that floats have rounded."""
        answers = tuple(term for term in form.terms if type(self.noises[term[0]]) is Answer)
        drawn = (term for term in form.terms if term not in answers)
        noise = tuple((factor, self.noises[variable]) for variable, factor in drawn)
        if not answers:
            return form.constant, noise
        location = Form(form.constant, answers)
        return Near(self.at_point(location), self.size_of(location)), noise

    def size_of(self, form: Form) -> Fraction:
        """How large the parts of a form are at the point: floats are rounded in such steps."""
        parts = (abs(factor * self.values[variable]) for variable, factor in form.terms)
        return (abs(Fraction(form.constant)) + sum(parts, _ZERO)) * self.coarseness

    def terms_of(self, form: Form) -> Terms:
        """The terms with the first factor 1."""
        return normal_form(form)[0]

    def conditions(self) -> tuple[Constraint, ...]:
        """All that this run asked of what is not known to the outside."""
        released = self.released
        constraints = [
            interval.constraint or interval.constraint_on(terms)
            for terms, interval in self._intervals.items()
            if type(terms) is tuple and terms not in released and interval.is_bounded
        ]
        return (*constraints, *self.more)

    def find_known_of(self, terms: Terms) -> Any:
        """The ends between which a sum of these terms is known to lie, and if they belong to it."""
        interval = self._intervals.get(terms)
        if interval is None:
            return None
        return interval.low, interval.low_closed, interval.high, interval.high_closed

    @property
    def known_ways(self) -> int:
        """How many choices were made otherwise than by comparing a sum with a number."""
        return len(self._known_ways)

    def conditions_of_contests(self) -> PathCondition:
        """The same of which sum was the largest."""
        return tuple(
            constraint for contest, place in self.contests for constraint in contest.way(place)
        )

    # ---- decisions

    def release(self, form: Form) -> None:
        """Make a form known to the outside."""
        terms, _ = normal_form(form)
        self.released.setdefault(terms, form)

    def is_released(self, form: Form) -> bool:
        """Whether a form is known to the outside."""
        return not form.terms or normal_form(form)[0] in self.released

    def is_not_zero(self, comparison: Operation, form: Form) -> bool:
        """Whether a form that is compared for equality with 0 is certainly another number."""
        of_equality = comparison in (operator.eq, operator.ne)
        return of_equality and not form.constant and normal_form(form)[0] in self.nonzero

    def holds(self, comparison: Operation, form: Form) -> bool:
        """Whether a form compares so with 0: known, or chosen."""
        if not form.terms:
            return bool(comparison(form.constant, 0))
        return self.settle(self.question(comparison, form))

    def question(self, comparison: Operation, form: Form) -> BoundQuestion:
        """Whether a form, which is not a constant, compares so with 0; the same for each path."""
        terms, first = normal_form(form)
        bound = lean(-Fraction(form.constant) / first)
        gap = partial(self.at_point, Form(-bound, terms))
        return BoundQuestion(
            terms,
            bound,
            comparison if first > 0 else REFLECTED[comparison],
            gap,
            has_density=self.has_continuous_noise(form),
        )

    def settle(self, asked: BoundQuestion) -> bool:
        """The answer of a question on this path: known, or chosen."""
        terms = asked.terms
        if self.notes_asked is not None:
            self.notes_asked(terms)
        if self.releases and terms not in self.released:
            self.released[terms] = Form(0, terms)
        if asked.is_of_equality:
            if asked.has_density:
                return asked.comparison is operator.ne
            interval = self.interval_of(terms)
            equal = self._is_equal(terms, interval, asked.bound, asked.gap)
            return equal is (asked.comparison is operator.eq)
        earlier = self._intervals.get(terms)
        if earlier is None:
            # The first question about it, mostly the only one.
            interval = self._intervals[terms] = Interval()
            reaches = self.tree.choose(asked.alternative) == 0
            interval.note(asked.bound, strictly=asked.strictly, reaches=reaches)
            interval.constraint = asked.side(reaches)
            return reaches is asked.wants_more
        return self._reaches(asked.comparison, terms, earlier, asked.bound, asked.gap)

    def _reaches(
        self, comparison: Operation, key: Any, interval: Interval, bound: Rational, gap: Any
    ) -> bool:
        strictly = comparison in (operator.gt, operator.le)
        reaches = interval.reaches(bound, strictly=strictly)
        if reaches is None:
            asked = _two_ways(key, bound, gap, strictly=strictly)
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
        at_point = lambda: (gap() > 0) + 2 * (gap() < 0)  # noqa: E731
        asked = Alternative(Equality(key, bound), 3, at_point)
        way = self.tree.choose(asked)
        if way == 0:
            interval.note_equal(bound)
        else:
            interval.note(bound, strictly=way == 1, reaches=way == 1)
        return way == 0

    def first_of(self, sums: list[Form], way: Callable[[int], PathCondition | None]) -> int:
        contest = self.contest(sums)
        return super().first_of(sums, way) if contest is None else self.settle_contest(contest)

    def contest(self, sums: list[Form]) -> Contest | None:
        """Which of some sums is the largest; None where two of them differ by a constant.

        The same object for the same sums: a path that knows the answer does not ask again.
        """
        variables = sorted({variable for form in sums for variable, _ in form.terms})
        key = Contest, tuple(sums), tuple(self.noises[variable] for variable in variables)
        cached: Contest | None = self.made.get(key)
        if cached is not None or len({form.terms for form in sums}) < len(sums):
            return cached

        def at_point() -> int:
            values = list(map(self.at_point, sums))
            return values.index(max(values))

        asked = Alternative(LargestOf(tuple(sums)), len(sums), at_point)
        made = Contest(sums, asked, self.noises)
        self.made[key] = made
        return made

    def settle_contest(self, contest: Contest) -> int:
        """The place of the largest on this path: known, or chosen."""
        key = id(contest)
        place = self._known_ways.get(key)
        if place is None:
            place = self.tree.choose(contest.alternative)
            self._known_ways[key] = place
            if not self.releases and all(map(self.has_noise, contest.sums)):
                self.contests.append((contest, place))
            else:
                self._kept.append(contest)
                self._note(contest.way(place))
        return place

    def _note(self, way: PathCondition) -> None:
        """Learn what a branch says, which must not be about answers alone."""
        for constraint in way:
            if constraint.terms in self.released:
                continue
            if not self.has_noise(Form(0, constraint.terms)):
                where = find_asking_line(sys._getframe(1))
                said = f" ({where})" if where else ""
                self.tree.forbid(f"a comparison of data without noise in it{said}", ADVICE)
            if self.releases:
                self.released[constraint.terms] = Form(0, constraint.terms)
            else:
                self.more.append(constraint)

    def take(self, key: Any, ways: Callable[[], tuple[PathCondition | None, ...]]) -> int:
        """Which of some ways, exactly one of which holds, this run takes."""
        words = repr(key)
        earlier = self._known_ways.get(words)
        if earlier is not None:
            return earlier
        every = ways()
        places = [place for place, way in enumerate(every) if way is not None]

        def at_point() -> int:
            return next(k for k, place in enumerate(places) if self._all_hold(every[place]))

        taken = places[0]
        if len(places) > 1:
            taken = places[self.tree.choose(Alternative(words, len(places), at_point))]
        self._note(every[taken] or ())
        self._known_ways[words] = taken
        return taken

    def _all_hold(self, way: PathCondition | None) -> bool:
        return all(
            holds_at(constraint, self.at_point(Form(0, constraint.terms)))
            for constraint in way or ()
        )

    # ---- released numbers

    def decide(self, key: Any, at_point: Callable[[], bool]) -> bool:
        """Whether something holds that follows from what is known: chosen, once for each key."""
        taken = self._known_ways.get(key)
        if taken is None:
            taken = self.tree.choose(Alternative(key, 2, lambda: int(not at_point())))
            self._known_ways[key] = taken
        return taken == 0

    def choose_value(self, key: Any, choices: int, at_point: Callable[[], Any]) -> int:
        """Which of the whole numbers from 0 on a known number is: chosen, once for each key."""
        chosen = self._known_ways.get(("value", key))
        if chosen is None:
            chosen = self.tree.choose(Alternative(("value", key), choices, lambda: int(at_point())))
            self._known_ways["value", key] = chosen
        return chosen

    def number_node(self) -> int:
        """A number for an expression, the same whenever the run is repeated."""
        self._nodes += 1
        return self._nodes

    def node_of(self, value: Any) -> Any:
        """What stands for an expression, which has a function and arguments."""
        return self.number_node()

    def interval_of(self, node: Any) -> Interval:
        """What is known of an expression."""
        return self._intervals.setdefault(node, Interval())


def normal_form(form: Form) -> tuple[Terms, Fraction]:
    """The terms with the first factor 1, and that factor."""
    first = form.terms[0][1]
    if first == 1:
        return form.terms, Fraction(1)
    factor = Fraction(first)
    return tuple(
        (variable, lean(coefficient / factor)) for variable, coefficient in form.terms
    ), factor


def holds_at(constraint: Constraint, value: Fraction) -> bool:
    """Whether a sum of this value meets a constraint."""
    low, high = constraint.low, constraint.high
    if low is not None and (value < low or (value == low and not constraint.low_closed)):
        return False
    return high is None or value < high or (value == high and constraint.high_closed)
