"""From a program to noisy sums: what it tells, and what it decides on, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.data.domains import Domain
from liptest.data.tables import RowsOfUsers
from liptest.enumerate.numbers.noise_outputs import replace_numbers
from liptest.enumerate.symbols.symbolic_paths import PathEnd, SymbolicPaths
from liptest.enumerate.symbols.user_rows import SumOverRows, UserRows
from liptest.enumerate.syntax.post_processing import place_of_cut
from liptest.errors import GateError
from liptest.gate.decisions import MOST_NODES, Chance, FirstLargest, Node, Reaches, Tell
from liptest.gate.noisy_sums import NoisySum, NoisySums
from liptest.gate.plain import SumPlace, write_text
from liptest.gate.recipe_texts import OF_USERS, plain_recipe
from liptest.gate.row_answers import RowAnswers
from liptest.gate.row_sums import RowAnswer, UserAnswer
from liptest.gate.sealed import SUM_DOMAINS
from liptest.gate.sealed_sums import SealedSums
from liptest.mechanisms.base import Mechanism
from liptest.privacy.proofs.unanswered import never_answered
from liptest.symbolic.answers import AlignedPath, Answer
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.answers.decisions import Alternative, AtLeast, Equality, LargestOf
from liptest.values.branching import Branches
from liptest.values.pandas.user_numbers import PerUser
from liptest.values.reals.recipes import RowCondition

_REFUSED = "on a grid only noisy sums, and decisions on them, are released"


def seal_sums(
    mechanism: Mechanism, domain: Domain, step: Fraction, name: str, *, as_output: bool = False
) -> SealedSums:
    """The noisy sums of which a program makes its output; GateError where it is not such.

    ``as_output``: only where they are its output, and not what that is calculated from.
    """
    followed = _follow(mechanism, domain, "released")
    [path, *more] = followed.paths
    if more or path.conditions:
        raise GateError("which sums are looked at depends on chance or on noise")
    collected = SumCollector(followed, domain)
    forms = sorted(path.places, key=lambda form: _order(form, path))
    places = {_make_key(form): collected.number_of(form, path.noises) for form in forms}
    shape = _own_shape(followed, places)
    if shape is None:
        if as_output:
            raise GateError("its output is calculated from noisy sums")
        every = tuple(map(SumPlace, range(len(set(places.values())))))
        shape = write_text(every[0] if len(every) == 1 else every)
    return SealedSums(collected.sums(), step, (Tell(shape),), name)


def seal_decisions(mechanism: Mechanism, domain: Domain, step: Fraction, name: str) -> SealedSums:
    """A tree of decisions on noisy sums, with the program's own outputs as leaves (theory S17).

    GateError where it does more with sums than compare and tell them.
    """
    followed = _follow(mechanism, domain, "every branch")
    collected = SumCollector(followed, domain)
    nodes = _NodeWriter(collected).write(_grow(followed.ends))
    return SealedSums(collected.sums(), step, nodes, name)


def _follow(mechanism: Mechanism, domain: Domain, way: str) -> SymbolicPaths:
    """Its paths; GateError where it is not followed, MechanismError where it never answers."""
    if type(domain) not in SUM_DOMAINS:
        raise GateError(f"datasets of {domain} are not added up")
    followed: Any = mechanism.align_paths(domain, way=way)
    if followed is None or not followed.paths:
        why = "there is no code to follow" if followed is None else followed.reason
        raise GateError(f"{_REFUSED}: {why}")
    if followed.rounding or followed.missing or followed.sample:
        raise GateError(f"{_REFUSED}; here data are chosen by chance, or by weights in floats")
    if all(end.raises for end in followed.ends):
        raise never_answered(mechanism.name, followed.ends[0].output.exception, domain)
    return followed  # type: ignore[no-any-return]


class SumCollector:
    """Sums of the paths of a program, equal ones once."""

    def __init__(self, followed: SymbolicPaths, domain: Domain) -> None:
        self._domain = domain
        self._rows = None
        self._added = followed.added
        if isinstance(domain, RowsOfUsers):
            self._rows = _RowCollector(followed.rows, domain)
            self._added = self._rows.added
        self._noises: dict[tuple[int, Noise], int] = {}
        self._sums: dict[NoisySum, int] = {}

    def number_of(self, form: Form, noises: Any) -> int:
        """The number of a sum, whose variables are these; GateError where it is not one."""
        added: dict[int, Fraction] = {}
        drawn: list[tuple[int, Fraction]] = []
        for v, factor in form.terms:
            source = noises[v]
            if isinstance(source, Noise):
                # What runs have in common they have drawn as the same variable.
                place = self._noises.setdefault((v, source), len(self._noises))
                drawn.append((place, Fraction(factor)))
                continue
            for value, by in self._table_of(source).items():
                added[value] = added.get(value, Fraction(0)) + factor * by
        listed = tuple((value, Fraction(by)) for value, by in sorted(added.items()) if by)
        one = NoisySum(listed, Fraction(form.constant), tuple(sorted(drawn)))
        return self._sums.setdefault(one, len(self._sums))

    def _table_of(self, source: Answer) -> dict[int, Fraction]:
        table = None if source.function is not None else self._added(source.number)
        if table is None:
            raise GateError(f"{_REFUSED}; {source} is not a sum over all records")
        return table

    def sums(self) -> NoisySums:
        """All that were collected."""
        noises = tuple(noise for _, noise in self._noises)
        answers = None if self._rows is None else self._rows.answers()
        return NoisySums(self._domain, noises, tuple(self._sums), answers)


class _RowCollector:
    """Sums over the rows of a table, equal ones once."""

    def __init__(self, data: UserRows, domain: RowsOfUsers) -> None:
        self._data = data
        self._domain = domain
        self._places: dict[Any, int] = {}
        self._answers: list[RowAnswer | UserAnswer] = []

    def added(self, number: int) -> dict[int, Fraction] | None:
        """The place of an answer; None where it is not a sum over all rows."""
        over_rows = self._data.sum_over_rows(number)
        if over_rows is None:
            return None
        answer = _find_answer(over_rows)
        low, high = answer.tables
        key = low.tobytes(), high.tobytes(), answer.recipe, answer.bound
        if key not in self._places:
            self._places[key] = len(self._answers)
            self._answers.append(answer)
        return {self._places[key]: Fraction(1)}

    def answers(self) -> RowAnswers:
        """All that were collected."""
        cells, answers = self._data.cells, tuple(self._answers)
        if cells is None:
            return RowAnswers(self._domain, {}, (), answers)
        conditions = tuple(
            RowCondition(
                condition.comparison, plain_recipe(condition.left), plain_recipe(condition.right)
            )
            for condition in cells.conditions
        )
        return RowAnswers(self._domain, cells.cuts, conditions, answers)


def _find_answer(over_rows: SumOverRows) -> RowAnswer | UserAnswer:
    low, high = (np.asarray(end, dtype=np.float64) for end in over_rows[:2])
    bound, recipe = over_rows.bound, over_rows.recipe
    if not isinstance(bound, PerUser):
        return RowAnswer(low, high, None if recipe is None else plain_recipe(recipe), bound)
    made = tuple((how, plain_recipe(own)) for how, own in bound.made)
    ends = float(low.min(initial=0.0)), float(high.max(initial=0.0))
    plain = plain_recipe(recipe, OF_USERS), replace(bound, made=made)
    return UserAnswer(*ends, *plain, is_whole=over_rows.is_whole)


@dataclass(frozen=True)
class _Fork:
    """A choice, the first run that meets it, and what comes after each branch."""

    asked: Branches
    end: PathEnd
    after: dict[int, _Fork | PathEnd]


def _grow(ends: Iterable[PathEnd]) -> _Fork | PathEnd:
    """The tree of all choices, with the ends as leaves."""
    root: dict[int, _Fork | PathEnd] = {}
    for end in ends:
        after, way = root, 0
        for asked, taken in end.choices:
            fork = after.setdefault(way, _Fork(asked, end, {}))
            assert isinstance(fork, _Fork)
            after, way = fork.after, taken
        after[way] = end
    return root[0]


class _NodeWriter:
    """Writes a tree of choices as nodes, parents before their children."""

    def __init__(self, collected: SumCollector) -> None:
        self._collected = collected
        self._nodes: list[Any] = []
        self._waiting: list[tuple[int, _Fork | PathEnd]] = []

    def write(self, root: _Fork | PathEnd) -> tuple[Node, ...]:
        self._place_of(root)
        while self._waiting:
            number, grown = self._waiting.pop()
            if isinstance(grown, PathEnd):
                self._nodes[number] = _find_leaf(grown, self._collected)
            else:
                self._write_fork(number, grown)
        return tuple(self._nodes)

    def _place_of(self, one: _Fork | PathEnd | None) -> int:
        """The number of what comes after a branch."""
        if one is None:
            raise GateError(f"{_REFUSED}; a branch of this program was not followed")
        number = self._new()
        self._waiting.append((number, one))
        return number

    def _new(self) -> int:
        if len(self._nodes) >= MOST_NODES:
            raise GateError(f"{_REFUSED}, at most {MOST_NODES:,} of them")
        self._nodes.append(None)
        return len(self._nodes) - 1

    def _write_fork(self, number: int, fork: _Fork) -> None:
        asked = fork.asked.asked if isinstance(fork.asked, Alternative) else fork.asked
        if isinstance(asked, AtLeast) and type(asked.terms) is tuple:
            self._write_bound(number, asked, fork)
        elif isinstance(asked, Equality) and type(asked.terms) is tuple:
            self._write_equality(number, asked, fork)
        elif isinstance(asked, LargestOf):
            sums = tuple(self._sum_of(form, fork) for form in asked.sums)
            ways = tuple(self._place_of(fork.after.get(way)) for way in range(len(sums)))
            self._nodes[number] = FirstLargest(sums, ways)
        elif isinstance(fork.asked, int | tuple):
            self._write_chance(number, fork.asked, fork)
        else:
            raise GateError(
                f"{_REFUSED}: comparisons of sums with constants and with each other, and which of "
                f"them is the largest; this program does more with them"
            )

    def _sum_of(self, form: Form, fork: _Fork) -> int:
        return self._collected.number_of(form, fork.end.noises)

    def _write_bound(self, number: int, asked: AtLeast, fork: _Fork) -> None:
        one, bound = self._sum_of(Form(0, asked.terms), fork), Fraction(asked.bound)
        ways = self._place_of(fork.after.get(0)), self._place_of(fork.after.get(1))
        self._nodes[number] = Reaches(one, bound, asked.strictly, ways)

    def _write_equality(self, number: int, asked: Equality, fork: _Fork) -> None:
        """Two questions: whether it is at least the bound, and then whether it is above it."""
        one, bound = self._sum_of(Form(0, asked.terms), fork), Fraction(asked.bound)
        above = self._new()
        equal, more, less = (self._place_of(fork.after.get(way)) for way in range(3))
        self._nodes[above] = Reaches(one, bound, True, (more, equal))
        self._nodes[number] = Reaches(one, bound, False, (above, less))

    def _write_chance(self, number: int, branches: int | tuple[int, ...], fork: _Fork) -> None:
        weights = (1,) * branches if isinstance(branches, int) else tuple(map(int, branches))
        ways = tuple(
            self._place_of(fork.after.get(way)) for way, weight in enumerate(weights) if weight
        )
        self._nodes[number] = Chance(tuple(filter(None, weights)), ways)


def _find_leaf(end: PathEnd, collected: SumCollector) -> Tell:
    def place(one: Any) -> SumPlace:
        if not isinstance(one, Form):
            raise GateError("its output is calculated from noisy sums")
        return SumPlace(collected.number_of(one, end.noises))

    if place_of_cut(end.output) is not None:
        raise GateError("its output is calculated from noisy sums")
    return Tell(write_text(replace_numbers(end.output, place)))


def _order(form: Form, path: AlignedPath) -> tuple[int, Any]:
    """By the first noise of a sum."""
    drawn = (v for v, _ in form.terms if isinstance(path.noises[v], Noise))
    return min(drawn, default=-1), form.terms


def _make_key(form: Any) -> Any:
    """Of a sum; of what is calculated from sums it is the key of none."""
    return (form.constant, form.terms) if isinstance(form, Form) else None


def _own_shape(followed: SymbolicPaths, places: dict[Any, int]) -> str | None:
    """The code's own output where it consists of the sums, all of them."""
    seen: set[int] = set()

    def place(one: Any) -> SumPlace:
        number = places[_make_key(one)]
        seen.add(number)
        return SumPlace(number)

    if followed.output is not None:
        with suppress(KeyError, GateError):  # of an output that is calculated from the sums
            shape = write_text(followed.output(place))
            if len(seen) == len(set(places.values())):
                return shape
    return None
