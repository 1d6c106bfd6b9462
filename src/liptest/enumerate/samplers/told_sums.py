"""What a program makes of whole sums of its data plus whole noise, once it looks at them.

In a ``ToldRun`` noise is a constant of the run, and a sum of answers plus such a constant is told
as soon as anything but sums is made of it. What follows is described with the sum in the place of
its parts. Where the description is the same whatever the constant was, the rest of the program is
post-processing of the sum (docs/theory/loops.md, L4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from liptest.enumerate.numbers.noise_outputs import list_entries, replace_numbers, with_entries
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.mechanisms.laws import Output
from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form, Rational, Terms
from liptest.values.answers.aligned import AlignedRun, AlignedValue, ReleasedValue
from liptest.values.answers.decisions import (
    Alternative,
    AtLeast,
    BoundQuestion,
    Equality,
    normal_form,
)
from liptest.values.answers.free_functions import SharedCall
from liptest.values.draws.noise_run import ReleasedNumber
from liptest.values.protocol import is_symbolic

#: Answers by number with their factors, the first of which is 1.
Place = tuple[tuple[int, Fraction], ...]
_ADVICE = "answer the noisy number, or what follows from it alone"


@dataclass(frozen=True)
class ToldSum:
    """The number ``factor * sum + offset``, as a number of a type."""

    place: int
    factor: Fraction
    offset: Fraction
    kind: Any

    def at(self, sums: list[Fraction]) -> Any:
        """What it is where the sums are these."""
        return self.kind(int(self.factor * sums[self.place] + self.offset))


@dataclass(frozen=True)
class FromTold:
    """A function of what was told, the same for the same ``key``."""

    key: Any
    arguments: tuple[Any, ...]
    function: Callable[..., Any] = field(compare=False)

    def at(self, sums: list[Fraction]) -> Any:
        """What it is where the sums are these."""
        with np.errstate(all="ignore"):
            return self.function(*(_value(part, sums) for part in self.arguments))


class Plain(NamedTuple):
    """A constant, which is the same for the same words."""

    words: str
    type: Any
    value: Any

    def at(self, sums: list[Fraction]) -> Any:
        """What it is."""
        return self.value


def _value(part: ToldSum | FromTold | Plain, sums: list[Fraction]) -> Any:
    return part.at(sums)


@dataclass(frozen=True)
class ToldQuestion:
    """A question about what was told, with the way that was taken."""

    subject: ToldSum | FromTold
    #: ``AtLeast``, or ``Equality`` with three ways.
    strictly: bool | None
    bound: Fraction
    way: int

    def holds(self, sums: list[Fraction]) -> bool:
        """Whether this way is taken where the sums are these."""
        gap = Fraction(self.subject.at(sums)) - self.bound
        if self.strictly is None:
            return self.way == (0 if not gap else 1 if gap > 0 else 2)
        return self.way == int(not (gap > 0 if self.strictly else gap >= 0))


class ToldPath(NamedTuple):
    """What a path asks, and what it answers, with the sums in the place of their parts."""

    places: tuple[Place, ...]
    asked: tuple[ToldQuestion, ...]
    skeleton: Output

    def output(self, sums: list[Fraction]) -> Output:
        """The output where the sums are these."""
        output: Output = _fill(self.skeleton, sums)
        return output


class ToldRun(AlignedRun):
    """A run in which sums of answers and drawn constants are told when they are looked at."""

    __slots__ = ("offsets", "told")

    def __init__(self, tree: ChoiceTree) -> None:
        super().__init__(tree, releases=True)

    def begin(self) -> None:
        super().begin()
        #: Constants of the sums that were told, by their terms, in their order.
        self.offsets: dict[Terms, Rational] = {}
        #: What was asked about, by its node.
        self.told: dict[Any, ToldSum | FromTold] = {}

    def has_noise(self, form: Form) -> bool:
        """Whether it is a sum of data: its noise is in its constant."""
        return bool(form.terms)

    def release(self, form: Form) -> None:
        self.sum_of(form)
        super().release(form)

    def settle(self, asked: BoundQuestion) -> bool:
        self.sum_of(Form(-asked.bound, asked.terms))
        return super().settle(asked)

    def node_of(self, value: Any) -> Any:
        return self._describe(value)

    def sum_of(self, form: Form, kind: Any = int) -> ToldSum:
        """A sum as it was told, or is told now."""
        if not self.is_whole(form) or not self._is_of_sums(form):
            self.tree.forbid("a sum that is not a whole number", "round it")
        terms, first = normal_form(form)
        constant = Fraction(form.constant) / first
        if terms not in self.offsets and not self._has_drawn():
            self.tree.forbid("a sum that is told before anything is drawn", _ADVICE)
        offset = constant - Fraction(self.offsets.setdefault(terms, constant))
        place = list(self.offsets).index(terms)
        return ToldSum(place, Fraction(first), first * offset, kind)

    def _has_drawn(self) -> bool:
        """Whether anything was drawn yet that a sum may have as its noise."""
        asked = self.tree.path[: self.tree.depth]
        return any(type(branches) is not Alternative for branches, _ in asked)

    def _is_of_sums(self, form: Form) -> bool:
        """Whether nothing but sums of the data are in it."""
        parts = [self.noises[variable] for variable, _ in form.terms]
        return all(type(part) is Answer and part.function is None for part in parts)

    def _describe(self, value: Any) -> Any:
        """A number as it follows from what was told."""
        if not is_symbolic(value):
            return Plain(repr(value), type(value), value)
        if type(value) is AlignedValue:
            return self.sum_of(value.form, value.kind)
        if type(value) is not ReleasedValue:
            return self._refuse(f"{type(value).__name__} of data")
        if value.function is None:
            return self._describe(value.arguments[0])
        key = _make_key(value.function)
        if key is None:
            return self._refuse("a function of a noisy number that has no name")
        return FromTold(
            (key, value.kind), tuple(map(self._describe, value.arguments)), value.function
        )

    def _refuse(self, what: str) -> Any:
        self.tree.forbid(what, _ADVICE)

    def shape(self, tree: ChoiceTree, output: Output) -> tuple[ToldPath, tuple[Fraction, ...]]:
        """What the run that a tree is at has asked and answers, and the constants of its sums."""
        if self.contests or self.missing or self.rounding or self.coins or self.orders or self.more:
            self._refuse("a comparison of data")
        asked = [
            self._question(branches.asked, way)
            for branches, way in tree.path
            if type(branches) is Alternative
        ]
        skeleton = replace_numbers(output, self._in_output)
        places = tuple(map(self._answers_of, self.offsets))
        return ToldPath(places, tuple(asked), skeleton), tuple(map(Fraction, self.offsets.values()))

    def _in_output(self, one: Any) -> Any:
        if isinstance(one, Form):
            return self.sum_of(one)
        if type(one) is ReleasedNumber:
            return self._describe(one.value)
        return self._refuse("an output that is more than a sum")

    def _question(self, asked: Any, way: int) -> ToldQuestion:
        if type(asked) not in (AtLeast, Equality):
            return self._refuse("a comparison of several noisy numbers")  # type: ignore[no-any-return]
        bound, terms = Fraction(asked.bound), asked.terms
        if type(terms) is tuple:
            offset = Fraction(self.offsets[terms])
            subject = ToldSum(list(self.offsets).index(terms), Fraction(1), Fraction(0), Fraction)
            bound += offset
        else:
            subject = terms
        return ToldQuestion(subject, asked.strictly if type(asked) is AtLeast else None, bound, way)

    def _answers_of(self, terms: Terms) -> Place:
        return tuple(sorted((self.noises[v].number, Fraction(by)) for v, by in terms))


def find_told_end(tree: Any, output: Output) -> tuple[Any, ToldPath, tuple[Fraction, ...]]:
    """The random choices of a run, what it told, and the constants of its sums."""
    run: ToldRun = tree.noise
    drawn = tuple(way for branches, way in tree.path if type(branches) is not Alternative)
    return drawn, *run.shape(tree, output)


class ToldLaw:
    """The law of the constants of sums that were told, of runs that then go on alike."""

    def __init__(self) -> None:
        self.shapes: set[ToldPath] = set()
        # By their random choices: constants, weight, and the shapes that were seen.
        self._runs: dict[Any, tuple[tuple[Fraction, ...], Fraction, set[ToldPath]] | None] = {}

    def add(self, end: tuple[Any, ToldPath, tuple[Fraction, ...]], weight: Fraction) -> None:
        """One run with its weight, without the questions about what was told."""
        drawn, shape, constants = end
        self.shapes.add(shape)
        run_told = self._runs.setdefault(drawn, (constants, weight, set()))
        if run_told is None or run_told[:2] != (constants, weight) or shape in run_told[2]:
            self._runs[drawn] = None
        else:
            run_told[2].add(shape)

    def masses(self) -> dict[tuple[Fraction, ...], Fraction] | None:
        """Of the constants; None where runs do not go on alike. What is not known is left out."""
        if len({shape.places for shape in self.shapes}) > 1 or not are_all_ways(self.shapes):
            return None
        masses: dict[tuple[Fraction, ...], Fraction] = {}
        for run in self._runs.values():
            if run is not None and run[2] == self.shapes:
                masses[run[0]] = masses.get(run[0], Fraction(0)) + run[1]
        return masses

    def output(self, constants: tuple[Fraction, ...], sums: list[Fraction]) -> Output:
        """The output where the sums of the data are these."""
        told = [by + constant for by, constant in zip(sums, constants, strict=True)]
        shape = next(one for one in self.shapes if all(asked.holds(told) for asked in one.asked))
        return shape.output(told)


def _make_key(function: Any) -> Any:
    """What a function is known by; None where it may differ from run to run."""
    if type(function) is partial:
        inner, arguments = function.func, function.args
        owner = getattr(inner, "__self__", None)
        if type(owner) is SharedCall:
            return (*owner.key, arguments)
        key = None if function.keywords else _make_key(inner)
        plain = all(
            isinstance(argument, (str, int, type)) or callable(argument) for argument in arguments
        )
        return (key, arguments) if key is not None and plain else None
    if isinstance(function, FunctionType):
        return None if function.__closure__ or "<" in function.__qualname__ else function
    return function if isinstance(function, (np.ufunc, type, BuiltinFunctionType)) else None


def are_all_ways(shapes: Iterable[ToldPath]) -> bool:
    """Whether exactly one of some paths is taken, whatever the sums are."""
    return _are_all_ways([shape.asked for shape in shapes], 0)


def _are_all_ways(paths: list[tuple[ToldQuestion, ...]], depth: int) -> bool:
    if len(paths) == 1 and len(paths[0]) == depth:
        return True
    if any(len(path) == depth for path in paths):
        return False
    questions = {replace(path[depth], way=0) for path in paths}
    if len(questions) != 1:
        return False
    ways = 3 if questions.pop().strictly is None else 2
    split = [[path for path in paths if path[depth].way == way] for way in range(ways)]
    return all(part and _are_all_ways(part, depth + 1) for part in split)


def _fill(skeleton: Any, sums: list[Fraction]) -> Any:
    if isinstance(skeleton, (ToldSum, FromTold)):
        return skeleton.at(sums)
    entries = list_entries(skeleton)
    if entries is None:
        return skeleton
    return with_entries(skeleton, [_fill(entry, sums) for entry in entries])
