"""Outputs of servers that only notes of one kind lead to, with exact probabilities.

Where a function calculates from totals of its records' notes alone, it is known of which values of
each total an output comes. At an end of a total all records have notes that add most, or least; so
such an output has the product of the probabilities of these notes, on any dataset. These outputs,
and whether there is another one, are what a law says here: a function of the output, so losses and
divergences of it are at most those of the function (docs/theory/records.md, P7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations
from typing import Any, cast

import numpy as np

from liptest.data.domains import IntArray
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.records.by_records import OF_PARTS, part_functions
from liptest.enumerate.records.factored_passes import PartsTree
from liptest.enumerate.records.note_lists import Notes
from liptest.enumerate.records.note_tails import NoteTail, NotTold, ToldNotes, compile_tail
from liptest.enumerate.records.note_totals import NoteTotals, Steps
from liptest.enumerate.trees.outputs import Items, Typed, are_same, canonical_output
from liptest.enumerate.trees.running import Run
from liptest.errors import LiptestError, UnsupportedForm
from liptest.mechanisms.base import Mechanism, MechanismWrapper
from liptest.mechanisms.laws import Output, OutputLaw, Raised
from liptest.mechanisms.total_laws import law_of_count
from liptest.runs.surroundings import surroundings_kept
from liptest.values.array import SymbolicArray
from liptest.values.draws.factor_values import FactorValue
from liptest.values.protocol import is_symbolic

# Notes that a record may have.
_MOST_NOTES = 1 << 12
# Runs of the function itself, each of which has to give an output that is known.
_RUNS = 3
# Kept: while a program is analysed the name stands for something else.
_new_generator = np.random.default_rng
_PLAIN = {"int": int, "float": float, "str": str, "NoneType": type(None)}
# Arrays of numbers of these types, by name.
_ARRAYS = ("int64", "float64", "bool")
_OF_NUMPY = {"int64": np.int64, "float64": np.float64}
Law = dict[Output, Fraction]


@dataclass(frozen=True)
class AnyOther:
    """All outputs that are not listed, as one."""

    def __repr__(self) -> str:
        return "any other output"


@dataclass(frozen=True)
class PlaceOfTotal:
    """In an output a function of one count: what it is for each value."""

    steps: Steps
    outcomes: tuple[Output, ...]


@dataclass(frozen=True)
class Keyed:
    """In an output a dict: its entries by their keys."""

    entries: tuple[tuple[Output, Any], ...]


@dataclass(frozen=True, eq=False)
class NotePart:
    """A function that calculates from the notes of its records alone.

    ``one`` gives the law of the note of one record, and what kind of rows the notes are in.
    """

    function: Any
    one: Any
    tail: NoteTail
    _laws: dict[int, Law] = field(default_factory=dict)

    def law(self, value: int) -> Law:
        """Of the note of a record of this value."""
        if value not in self._laws:
            self._note(value, self.one.law(np.array([value], dtype=np.int64)))
        return self._laws[value]

    def _note(self, value: int, law: OutputLaw) -> None:
        if law.fractions is None or law.unexplored or len(law.outputs) > _MOST_NOTES:
            raise UnsupportedForm(f"{self.one.name}: notes of many kinds")
        self._laws[value] = dict(zip(law.outputs, law.fractions, strict=True))

    def pairs(self, values: int) -> list[tuple[Fraction | None, int, int]]:
        """Pairs of values, those first of which one note tells most; None: it tells all."""
        every = np.arange(values, dtype=np.int64)[:, None]
        for value, law in enumerate(self.one.laws_and_reads(every)[0]):  # in one session
            self._note(value, law)
        laws = [self._laws[value] for value in range(values)]
        told = [
            (_largest_ratio(laws[low], laws[high]), low, high)
            for low, high in permutations(range(values), 2)
        ]
        return sorted(told, key=lambda entry: (entry[0] is not None, -(entry[0] or 0)))

    def views(self, dataset: IntArray) -> Iterator[Mechanism]:
        """Laws of datasets with values of this one, by what is known of outputs."""
        laws = {int(value): self.law(int(value)) for value in np.unique(dataset)}
        every = list(dict.fromkeys(note for law in laws.values() for note in law))
        if len(every) > _MOST_NOTES:
            return
        template = None
        with self.function._session() as session:
            following = _Following(self, every, len(dataset), session)
            with suppress(LiptestError):
                template = following.template()
            following.check_keeps_no_state()
            line = following.steps if len(following.counts) == 1 else None
        if template is not None:
            self._check_runs(dataset, lambda output: _may_be(template, output))
            events = _find_events(template, every, len(dataset))
            if events:
                yield _EndsOfTotals(self.function, laws, events)
        if line is None:
            return
        with self.function._session() as session:
            following = _Following(self, every, len(dataset), session)
            outcomes = following.outcomes(line)
        self._check_runs(dataset, set(outcomes).__contains__)
        steps = dict(zip(every, line, strict=True))
        yield _LineOfTotals(self.function, laws, steps, outcomes)

    def _check_runs(self, dataset: IntArray, may_be: Callable[[Output], bool]) -> None:
        """Raise UnsupportedForm where the function gives another output than those known."""
        if not self.tail.takes_generator:
            return
        for seed in range(_RUNS):
            given = np.array(dataset, dtype=np.int64)
            given.flags.writeable = False
            with surroundings_kept():
                output = self.function.function(given, _new_generator(seed))
            if not may_be(canonical_output(output, self.function.name)):
                raise UnsupportedForm("totals that are not those of the function")


def _largest_ratio(left: Law, right: Law) -> Fraction | None:
    if any(mass and not right.get(note) for note, mass in left.items()):
        return None
    return max(mass / right[note] for note, mass in left.items() if mass)


def as_written(output: Any) -> Any:
    """The object that a typed output stands for. Raises UnsupportedForm for what is not told."""
    if type(output) is Typed:
        kind, value = output.kind, cast(Any, output.value)
        if kind in _PLAIN and type(value) is _PLAIN[kind]:
            return value
        if kind in _OF_NUMPY:
            return _OF_NUMPY[kind](value)
        if kind in ("list", "tuple"):
            made = map(as_written, value)
            return list(made) if kind == "list" else tuple(made)
        words = kind.split(" ", 3)
        if words[:2] == ["ndarray", "of"] and words[2] in _ARRAYS:
            shape = tuple(int(one) for one in words[3].strip("()").split(",") if one.strip())
            return np.array(value, dtype=words[2]).reshape(shape)
    raise UnsupportedForm("notes of a type that is not followed")


class _Following:
    """The rest of a function, run with totals."""

    def __init__(self, part: NotePart, notes: list[Output], count: int, session: Any) -> None:
        self.part, self.count, self.session = part, count, session
        # Of a pair of the kind of rows, and the note.
        told = [cast(Any, note.value) for note in notes if type(note) is Typed]
        if len(told) != len(notes):
            raise UnsupportedForm("notes of a type that is not followed")
        kinds = {kind.value for kind, _ in told}
        self.kind: str = kinds.pop() if len(kinds) == 1 else ""
        self.notes = [self._read(note) for _, note in told]
        self.counts: dict[Steps, Any] = {}

    @property
    def steps(self) -> Steps:
        """Of the only count."""
        [steps] = self.counts
        return steps

    def _read(self, note: Any) -> Any:
        if self.kind in _ARRAYS:
            return np.array([_plain_entries(note)], dtype=self.kind)
        return as_written(note)

    def template(self) -> Any:
        """The output as a function of counts; None where the function asks what they are."""
        law = self._law(None, 2, self._template)
        return next(iter(law)) if len(law) == 1 else None

    def check_keeps_no_state(self) -> None:
        """Raise NonDeterministicError where each run changes what is held between calls."""

        def again() -> None:
            with suppress(LiptestError):
                self._law(None, 2, self._template)

        self.session.check_keeps_no_state(again)

    def outcomes(self, steps: Steps) -> list[Output]:
        """The output for each value of the only count."""
        values = max(steps) * self.count + 1
        law = self._law(values, values + 1, self._plain)
        if len(law) != values or any(mass != Fraction(1, values) for mass in law.values()):
            raise UnsupportedForm("a rest of a function that draws, or raises")
        by_value = dict(law)
        return [output for _, output in sorted(by_value, key=lambda entry: entry[0])]

    def _law(self, values: int | None, leaves: int, canonical: Callable[[Any], Any]) -> Any:
        name = self.part.one.name
        tree = PartsTree(name, max_leaves=leaves)

        def program(data: Any, rng: Any) -> Any:
            at = None if values is None else tree.choose((1,) * values)
            totals = NoteTotals(tree, self.count, len(self.notes), at)
            self.counts = totals.counts
            answer = self._call(data, rng, totals)
            if tree.noise is not None:
                totals.refuse("noise of the server's own")
            return at, answer

        data = np.zeros(self.count, dtype=np.int64)
        data.flags.writeable = False
        rng = ChoiceGenerator(tree)
        self.session.follow(tree)
        run = Run(program, lambda: data, rng, name, canonical, self.session)
        try:
            law = self.session.watching(lambda: tree.law(run))
        finally:
            tree.close()
        if law is None:  # the second time all runs are watched
            return self._law(values, leaves, canonical)
        if tree.unexplored or any(isinstance(output, Raised) for output in law):
            return {}
        return law

    def _call(self, data: Any, rng: Any, totals: NoteTotals) -> Any:
        rows = None
        if self.part.tail.changes is None:
            if self.kind not in (*_ARRAYS, "ndarray", "list"):
                totals.refuse("rows of another kind")
            rows = Notes(totals, list(self.notes), is_array=self.kind in _ARRAYS)
            rows = rows.as_array() if self.kind == "ndarray" else rows
        told = ToldNotes(totals, self.notes, rows, self.part.tail)
        function = self.part.tail.function(told)
        return function(data, rng) if self.part.tail.takes_generator else function(data)

    def _template(self, answer: Any) -> Any:
        steps = {id(variable): own for own, variable in self.counts.items()}
        return _describe(answer[1], steps, self.part.one.name)

    def _plain(self, answer: Any) -> Any:
        return answer[0], canonical_output(answer[1], self.part.one.name)


def _plain_entries(value: Any) -> Any:
    """Numbers of a row of an array, as Python has them."""
    if type(value) is Typed:
        return _plain_entries(value.value)
    return [_plain_entries(one) for one in value] if type(value) is tuple else value


def _describe(output: Any, steps: dict[int, Steps], name: str) -> Any:
    """The output with a place where a count decides."""
    if type(output) is FactorValue and output.variable.taken is None:
        outcomes = tuple(canonical_output(value, name) for value in output.values)
        return PlaceOfTotal(steps[id(output.variable)], outcomes)
    if type(output) is SymbolicArray:
        return _describe_cells(output.cells, steps, name)
    if type(output) in (list, tuple):
        return tuple(_describe(one, steps, name) for one in output)
    if type(output) is dict and not any(map(is_symbolic, output)):
        pairs = ((key, _describe(one, steps, name)) for key, one in output.items())
        return Keyed(tuple((canonical_output(key, name), one) for key, one in pairs))
    return canonical_output(output, name)


def _describe_cells(cells: Any, steps: dict[int, Steps], name: str) -> Any:
    if cells.ndim == 0:
        return _describe(cells.item(), steps, name)
    return tuple(
        _describe_cells(row, steps, name)
        if isinstance(row, np.ndarray) and type(row) is np.ndarray
        else _describe(row, steps, name)
        for row in cells
    )


def _output_at(template: Any, at: dict[Steps, int]) -> Output:
    """The output for these values of the counts."""
    if type(template) is PlaceOfTotal:
        return template.outcomes[at[template.steps]]
    if type(template) is tuple:
        return tuple(_output_at(part, at) for part in template)
    if type(template) is Keyed:
        return Items(frozenset((key, _output_at(part, at)) for key, part in template.entries))
    return template  # type: ignore[no-any-return]


def _pin(template: Any, output: Any, left: dict[Steps, set[int]]) -> None:
    """Leave the values of counts that this output may come of."""
    if type(template) is PlaceOfTotal:
        fits = {k for k, one in enumerate(template.outcomes) if are_same(one, output)}
        left[template.steps] = left.get(template.steps, fits) & fits
    elif type(template) is tuple:
        for part, own in zip(template, output, strict=True):
            _pin(part, own, left)
    elif type(template) is Keyed:
        values = dict(output.items)
        for key, part in template.entries:
            _pin(part, values[key], left)


def _may_be(template: Any, output: Any) -> bool:
    """Whether some values of the counts lead to an output."""
    if type(template) is PlaceOfTotal:
        return any(are_same(one, output) for one in template.outcomes)
    if type(template) is tuple:
        is_tuple = type(output) is tuple and len(output) == len(template)
        return is_tuple and all(map(_may_be, template, output))
    if type(template) is Keyed:
        values = dict(output.items) if type(output) is Items else {}
        is_dict = values.keys() == {key for key, _ in template.entries}
        return is_dict and all(_may_be(part, values[key]) for key, part in template.entries)
    return are_same(template, output)


def _find_events(template: Any, notes: list[Output], count: int) -> dict[Output, frozenset[Output]]:
    """Outputs that come of some notes only, whichever records have them; with these notes.

    That all records have such notes is the same event as the output.
    """
    every: set[Steps] = set()
    _collect(template, every)
    events: dict[Output, frozenset[Output]] = {}
    for place in range(len(notes)):
        at = {steps: steps[place] * count for steps in every}
        output = _output_at(template, at)
        left: dict[Steps, set[int]] = {}
        _pin(template, output, left)
        # At an end of a count all notes add as much as this one.
        pinned = [
            steps
            for steps, values in left.items()
            if len(values) == 1 and steps[place] in (0, max(steps))
        ]
        alike = [k for k in range(len(notes)) if all(s[k] == s[place] for s in pinned)]
        if all(len({steps[k] for k in alike}) == 1 for steps in every):
            events[output] = frozenset(notes[k] for k in alike)
    return events


def _collect(template: Any, every: set[Steps]) -> None:
    if type(template) is PlaceOfTotal:
        every.add(template.steps)
    elif type(template) is tuple:
        for part in template:
            _collect(part, every)
    elif type(template) is Keyed:
        for _, part in template.entries:
            _collect(part, every)


@dataclass(frozen=True, eq=False)
class _OfTotals(MechanismWrapper):
    laws_of_notes: dict[int, Law] = field(default_factory=dict)

    has_trace = False

    def law(self, dataset: IntArray) -> OutputLaw:
        raise NotImplementedError

    def fresh_law(self, dataset: IntArray) -> OutputLaw:
        return self.law(dataset)

    def _counts(self, dataset: IntArray) -> dict[int, int]:
        values, counts = np.unique(dataset, return_counts=True)
        if not set(values.tolist()) <= self.laws_of_notes.keys():
            raise UnsupportedForm(f"{self.name}: a value whose notes are not among those compared")
        return dict(zip(values.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class _EndsOfTotals(_OfTotals):
    """The law of whether the output is one of some, each of which comes of some notes only."""

    events: dict[Output, frozenset[Output]] = field(default_factory=dict)

    def law(self, dataset: IntArray) -> OutputLaw:
        law: dict[Output, Fraction] = {}
        for output, notes in self.events.items():
            mass = Fraction(1)
            for value, count in self._counts(dataset).items():
                own = self.laws_of_notes[value]
                share = sum((own.get(note, Fraction(0)) for note in notes), Fraction(0))
                mass = mass * Fraction(share**count)
            law[output] = mass
        rest = 1 - sum(law.values(), Fraction(0))
        if rest:
            law[AnyOther()] = rest
        return OutputLaw.from_fractions(law)


@dataclass(frozen=True, eq=False)
class _LineOfTotals(_OfTotals):
    """The law of outputs that one count decides."""

    steps: dict[Output, int] = field(default_factory=dict)
    outcomes: list[Output] = field(default_factory=list)

    def law(self, dataset: IntArray) -> OutputLaw:
        parts = [
            ([(self.steps[note], mass) for note, mass in self.laws_of_notes[value].items()], count)
            for value, count in self._counts(dataset).items()
        ]
        return law_of_count(parts, self.outcomes)


def note_parts(function: Any, count: int) -> Iterator[NotePart]:
    """Of a ``PythonFunction`` and datasets of so many records."""
    own, takes_generator = function.function, function._takes_generator
    refused = function._known.refused
    for rows, body in part_functions(own, takes_generator, count, refused=refused):
        with suppress(NotTold):
            tail = compile_tail(own, body, takes_generator=takes_generator)
            one = replace(function._one_record(replace(rows, tells_kind=True)), **OF_PARTS)
            yield NotePart(function, one, tail)
