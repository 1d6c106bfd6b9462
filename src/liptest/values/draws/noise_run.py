"""Noise of one run that stays symbolic: its variables, what is known of them, and the questions.

A variable is independent noise (``symbolic.noise``); what the program compares are sums of
variables with factors (``symbolic.forms``). A comparison asks the tree which of several ways the
run takes; each way is a conjunction of constraints on such sums. Ways have no weights: that of a
whole path is the probability of all its constraints, found at the leaf.
"""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from flint import arb

from liptest.errors import (
    LiptestError,
    NonDeterministicError,
    SymbolicError,
    UnsupportedForm,
    UnsupportedRandomnessError,
)
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System
from liptest.values.branching import Branching
from liptest.values.draws.light_ways import bound_of_far, heavy_ways, lies_far, uncertain_part
from liptest.values.draws.questions import ListedBranches, PathCondition, Question, QuestionContext
from liptest.values.lines import find_place, line_in_words
from liptest.values.protocol import SymbolicValue

_ADVICE = (
    "round the noise or draw discrete noise (rng.geometric(p) - rng.geometric(p)), compare fewer "
    "sums of the same noise, or sample with lt.check_samples"
)
# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64
_ZERO = Fraction(0)
_PACKAGE = str(Path(__file__).resolve().parents[2]) + os.sep


class ReleasedNumber:
    """In the place of a number in an output that is a function of what was released."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True)
class NoisyValue:
    """In the place of a number with continuous noise, in an output in its canonical form."""

    form: Form


@dataclass(frozen=True)
class WholeValue(NoisyValue):
    """In the place of slope * k + shift where k is a sum of noise that is whole, or rounded.

    ``how`` is "exact", "rint", "floor" or "ceil". Where slope and shift are not whole, the number
    is the float that is nearest.
    """

    how: str
    slope: Fraction
    shift: Fraction

    def number(self, value: Fraction) -> int | float:
        """What it is where the sum has a value."""
        return nearest_number(self.slope * ROUNDED[self.how](value) + self.shift)


def nearest_number(value: Fraction) -> int | float:
    """A whole number, or the float that is nearest."""
    return value.numerator if value.denominator == 1 else float(value)


ROUNDED: dict[str, Callable[[Any], int]] = {
    "exact": int,
    "zero": lambda sum_: 0,
    "floor": math.floor,
    "ceil": math.ceil,
    "rint": round,
}


class NoiseRun:
    """All noise of one run. ``NoiseRun.of(tree)`` is that of the run that is under way."""

    __slots__ = (
        *("_asked", "_inside", "_place", "_point", "constraints", "fixed", "known"),
        *("left_out", "noises", "rounding", "symbolic"),
        "tree",
    )

    #: Whether data are symbolic, too.
    has_answers = False
    #: Whether functions of them are (``values.answers.curved``).
    is_curved = False

    def __init__(self, tree: Branching) -> None:
        self.tree = tree
        self.noises: list[Noise] = []
        self.constraints: PathCondition = ()
        #: Variables that were chosen by weight, with their values.
        self.fixed: dict[int, Fraction] = {}
        #: Whole numbers that were looked at, by the sums that they are of.
        self.known: dict[Any, int] = {}
        #: Whether symbolic noise is to be an output.
        self.symbolic = False
        #: How far, in total variation, what was drawn may be from what the code draws.
        self.rounding = _ZERO
        #: A bound of the probability of what was taken as next to never.
        self.left_out = _ZERO
        self._asked = 0
        #: File and line of the last question.
        self._place = ("", 0)
        self._point: tuple[Fraction, ...] | None = None
        #: What draws points, with the constraints and the number of variables that it is for.
        self._inside: tuple[PathCondition, int, Callable[..., tuple[Fraction, ...]]] | None = None

    @classmethod
    def of(cls, tree: Branching) -> NoiseRun:
        """The noise of the run that is under way."""
        if tree.noise is None:
            tree.noise = cls(tree)
        run: NoiseRun = tree.noise
        return run

    def new(self, noise: Noise) -> Form:
        """A new variable."""
        self.noises.append(noise)
        return Form.variable(len(self.noises) - 1)

    def own_value(self, form: Form, kind: Any) -> Any:
        """What stands for a sum in a run of another sort; None: what stands for noise."""
        return None

    def as_curve(self, value: Any) -> Any:
        """A sum where functions of data are followed."""
        raise NotImplementedError

    def larger(self, name: str, left: Any, right: Any) -> Any:
        """The "maximum" or "minimum" of two numbers there."""
        raise NotImplementedError

    def draw_again(self, *draw: Any) -> Any:
        """What such a draw gave on another path; None: it is new."""
        return None

    def note_draw(self, drawn: Any, first: int, *draw: Any) -> None:
        """Remember what a draw gave, whose first variable has a number."""

    def write_where(self, storage: Any, mask: Any, value: Any) -> bool:
        """Write into an array where a mask says, in a way of its own; False: not done."""
        return False

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """A function of NumPy entry by entry in a way of its own; NotImplemented for none."""
        return NotImplemented

    def first_of(self, sums: list[Form], way: Callable[[int], PathCondition | None]) -> int:
        """The place of the first of the largest of some sums; ``way(place)`` says when it is."""
        return self.take(sums, lambda: tuple(map(way, range(len(sums)))))

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """A function of NumPy of an array with noise in a way of its own; NotImplemented: none."""
        return NotImplemented

    def check_current(self) -> None:
        """Abort where noise of an earlier run is used."""
        if self.tree.noise is not self:
            self.tree.fail(
                NonDeterministicError(
                    f"{self.tree.name}: non-deterministic: a random number drawn in an earlier "
                    f"run is used again; a mechanism may keep no state"
                )
            )

    def asked(self) -> QuestionContext:
        """What a question needs to know; the noise drawn before it is part of what it is."""
        self.check_current()
        place = find_place(sys._getframe(1))
        # What is asked of an output after the program has ended is due to its last question.
        is_after = not place[0] or place[0].startswith(_PACKAGE)
        self._place = self._place if is_after else place
        noises = tuple(self.noises)
        drawn, self._asked = noises[self._asked :], len(noises)
        return QuestionContext(
            drawn, noises, self.constraints, partial(self.refuse, place=self._place), place
        )

    def take(self, key: Any, ways: Callable[[], tuple[PathCondition | None, ...]]) -> int:
        """Which of some ways, exactly one of which holds, this run takes; None is impossible.

        ``key`` is equal for equal ways.
        """
        if self.tree.leaves_out_light:
            return self._take_heavy(key, ways())
        again = self._find_repeated(key)
        question: Question = ListedBranches(self.asked(), key, ways) if again is None else again
        taken, question = self.choose(question)
        self.constraints += question.way(taken) or ()
        return taken

    def _take_heavy(self, key: Any, ways: tuple[PathCondition | None, ...]) -> int:
        """``take`` a way that is not next to never; the only one is not asked for."""
        heavy, light = heavy_ways(self.noises, ways)
        places = [place for place, way in enumerate(heavy) if way is not None]
        if len(places) == 1:
            self.check_current()
            self.left_out += light
            return places[0]
        question: Question = ListedBranches(self.asked(), key, lambda: heavy)
        taken, question = self.choose(question)
        asked, light = uncertain_part(self.noises, question.way(taken) or ())
        self.constraints += asked
        self.left_out += light
        return taken

    def _find_repeated(self, key: Any) -> ListedBranches | None:
        """The question as it was asked first, where this run repeats it; most do."""
        path, depth = self.tree.path, self.tree.depth
        listed = path[depth][0] if depth < len(path) else None
        if type(listed) is not ListedBranches:
            return None
        self.check_current()
        if not listed.is_asked_by(key, tuple(self.noises[self._asked :])):
            return None
        self._asked, self._place = len(self.noises), listed.place
        return listed

    def choose(self, question: Question) -> tuple[int, Any]:
        """The way to take, and the question as it was asked first, which knows most."""
        taken = self.tree.choose(question)
        before, _ = self.tree.path[self.tree.depth - 1]
        return taken, before if type(before) is type(question) else question

    def holds(self, comparison: Callable[[Any, Any], Any], form: Form) -> bool:
        """Whether a sum compares so with 0: known, or chosen."""
        form = self.current(form)
        if not form.terms:
            return bool(comparison(form.constant, 0))
        if comparison in (operator.eq, operator.ne):
            return self._is_zero(form) is (comparison is operator.eq)
        if self.tree.leaves_out_light and lies_far(self.noises, form):
            self.check_current()
            self.left_out += bound_of_far(form)
            return bool(comparison(form.constant, 0))
        return self.take((comparison, form), partial(_two_sides, comparison, form)) == 0

    def _is_zero(self, form: Form) -> bool:
        if not self.is_discrete(form):
            return False
        return self.take((operator.eq, form), partial(_zero_or_not, form)) == 0

    def is_discrete(self, form: Form) -> bool:
        """Whether a sum has no continuous noise in it."""
        noises = self.noises
        for variable, _ in form.terms:  # noqa: SIM110  asked of every sum
            if not noises[variable].is_discrete:
                return False
        return True

    def current(self, form: Form) -> Form:
        """A sum with all that was chosen by weight put in."""
        if not self.fixed or self.fixed.keys().isdisjoint(v for v, _ in form.terms):
            return form
        constant = sum((c * self.fixed[v] for v, c in form.terms if v in self.fixed), _ZERO)
        left = tuple((v, c) for v, c in form.terms if v not in self.fixed)
        return Form(form.constant + constant, left)

    def law_of(self, form: Form) -> Any:
        """Equal for sums of one law that were just drawn."""
        return form.constant, tuple((factor, self.noises[v]) for v, factor in form.terms)

    def probability(self) -> arb:
        """Of all that was chosen; aborts where that is not followed."""
        try:
            return System(self.noises).probability(self.constraints)
        except LiptestError as error:
            self.refuse(error, self._place)

    def refuse(self, error: LiptestError, place: tuple[str, int] = ("", 0)) -> NoReturn:
        """Abort, with what is not followed and the line that asks for it."""
        if not isinstance(error, UnsupportedForm):
            self.tree.fail(error)
        where = line_in_words(*place)
        self.tree.forbid(f"{error}{f' ({where})' if where else ''}", _ADVICE)

    def _point_inside(self, rng: np.random.Generator) -> tuple[Fraction, ...]:
        """Values of all variables that agree with all that was chosen."""
        point = self._inside
        if point is None or point[0] is not self.constraints or point[1] != len(self.noises):
            points = System(self.noises).points_inside(self.constraints)
            point = self._inside = self.constraints, len(self.noises), points
        return point[2](rng)

    def value_inside(self, form: Form) -> Fraction:
        """What a sum may be now, given all that was chosen; the same each time."""
        point = self._point_inside(_GENERATOR(_BITS(0)))
        return form.constant + sum((c * point[v] for v, c in form.terms), _ZERO)

    def check_possible(self) -> None:
        """UnsupportedRandomnessError where no values of the noise agree with all that was chosen.

        Each choice was possible when it was made; all of them together must be.
        """
        try:
            self.value_inside(Form(_ZERO, ()))
        except SymbolicError as error:
            where = line_in_words(*self._place)
            raise UnsupportedRandomnessError(
                f"{self.tree.name}: comparisons of noise that cannot all hold were followed as "
                f"possible{f' (the last at {where})' if where else ''}: {error}; {_ADVICE}, or "
                f"declare the law with lt.ClosedForm(outputs, log_pmf)"
            ) from None

    def value_at_point(self, form: Form) -> Fraction:
        """What a sum is at the point that ``value`` has chosen."""
        assert self._point is not None
        point, now = self._point, self.current(form)
        return now.constant + sum((c * point[v] for v, c in now.terms), _ZERO)

    def forget_point(self) -> None:
        """Let ``value`` choose another point."""
        self._point = None

    def value(self, form: Form, point_in: Callable[[int, int], int]) -> Fraction:
        """What a sum may be, the same point of all variables until it is forgotten."""
        if self._point is None:
            rng = _GENERATOR(_BITS(point_in(0, 1 << 62)))
            self._point = self._point_inside(rng)
        return self.value_at_point(form)


def constrain_sum(
    form: Form,
    *,
    low: Fraction | None = None,
    high: Fraction | None = None,
    low_closed: bool = False,
    high_closed: bool = False,
) -> Constraint:
    """The constraint that a sum lies between two numbers, or on one side of one."""
    return form.between(low, high, low_closed=low_closed, high_closed=high_closed)


def _two_sides(comparison: Callable[[Any, Any], Any], form: Form) -> tuple[PathCondition, ...]:
    yes, no = _SIDES[comparison]
    return (constrain_sum(form, **yes),), (constrain_sum(form, **no),)


def _zero_or_not(form: Form) -> tuple[PathCondition, ...]:
    zero = constrain_sum(form, low=_ZERO, high=_ZERO, low_closed=True, high_closed=True)
    return (zero,), (constrain_sum(form, high=_ZERO),), (constrain_sum(form, low=_ZERO),)


_SIDES: dict[Any, Any] = {
    operator.lt: ({"high": _ZERO}, {"low": _ZERO, "low_closed": True}),
    operator.le: ({"high": _ZERO, "high_closed": True}, {"low": _ZERO}),
    operator.gt: ({"low": _ZERO}, {"high": _ZERO, "high_closed": True}),
    operator.ge: ({"low": _ZERO, "low_closed": True}, {"high": _ZERO}),
}


class NoisyNumber(SymbolicValue):
    """Base of numbers that noise determines, and data: they belong to a run."""

    __slots__ = ("kind", "run")

    family = "noise"
    calculates_with_its_own = True
    run: NoiseRun

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self.run.tree

    @property
    def __array__(self) -> Any:
        """None: an array of such numbers is an array of objects."""
        raise AttributeError("__array__")


class LocatedNumber(NoisyNumber):
    """What a uniform number is, once it is known by its place among other numbers."""

    __slots__ = ()

    def on_line(self, value: Any, slope: Fraction, shift: Fraction) -> Any:
        """What stands for a number that is on this line in what was drawn."""
        raise NotImplementedError

    def drawn(self, point_in: Callable[[int, int], int]) -> float:
        """What may have been drawn."""
        raise NotImplementedError
