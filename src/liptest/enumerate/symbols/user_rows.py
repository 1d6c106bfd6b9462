"""Tables of users as symbols: neighbours differ in the rows of one user (docs/theory, tables, B4).

The answers are sums over rows, or over the first rows of each user. What a user's rows change is a
sum of what single rows change, of so many as the table or the code allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.data.tables import NearTables, RowsOfUsers, Table
from liptest.enumerate.intercept.draw_logs import hand
from liptest.enumerate.symbols.symbolic_paths import Pairs
from liptest.symbolic.answers import Answer, AnswersInGroups, Differences, ManyDifferences, Move
from liptest.values.answers.aligned import AlignedRun
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.array import SymbolicArray
from liptest.values.branching import Branching
from liptest.values.pandas.user_numbers import PerUser, add_by_users
from liptest.values.reals.rounded_sums import rounding_in_words
from liptest.values.records.column import Column
from liptest.values.records.row_bounds import RowBound
from liptest.values.records.row_cells import RowCells

# Users, more or less, of plain tables.
_FEW = 4
# Rows of one user that are tried.
_TIMES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 512, 1000)


class UserRows:
    """How tables of users reach a program; see ``data_protocol.Data``."""

    are_answers_alike = False

    def __init__(self, domain: RowsOfUsers) -> None:
        self._domain = domain
        comes_and_goes = domain.kind == "add_remove"
        self._answers = AnswerBook(
            domain.dimension, domain.row_values, comes_and_goes=comes_and_goes
        )
        #: A dataset, and by bound how many of its rows have each value.
        self._counted: tuple[Any, dict[RowBound | None, NDArray[np.int64]]] = None, {}
        self._answers.rows_of_user = domain.at_most
        note_near(self, domain, self._answers, domain.most)

    def symbolic(self, tree: Branching, run: AlignedRun) -> Any:
        """What stands for a dataset."""
        if self.cells is not None:
            self.cells.forget()
        values = self.table_of_data()
        values.flags.writeable = False
        return SymbolicArray(Column(tree, self._answers, values))

    def table_of_data(self) -> NDArray[np.int64]:
        """By kind of a row the value of its columns, 0 for none."""
        return np.arange(self._answers.values, dtype=np.int64)

    def plain(self, rng: np.random.Generator) -> NDArray[Any]:
        """Some dataset."""
        if self._domain.near is not None:
            return plain_near(self._domain, self._domain.near, rng)
        return hand(self._domain.draw(rng, int(rng.integers(1, _FEW + 1))))  # type: ignore[no-any-return]

    def value(self, answer: Answer, dataset: NDArray[Any]) -> Fraction:
        """An answer of a dataset."""
        if self._counted[0] is not dataset:
            self._counted = dataset, {}
        bound, counts = self._answers.bounds[answer.number], self._counted[1]
        if isinstance(bound, PerUser):
            return self._value_of_users(bound, answer.number, dataset)
        if bound not in counts:
            slots = dataset[dataset > 0]
            rows, users = self._domain.rows_in(slots), self._domain.users_in(slots)
            rows = rows[find_kept_rows(bound, rows, users)]
            counts[bound] = np.bincount(rows, minlength=self._answers.values)
        return self._answers.value(answer.number, counts[bound])

    @property
    def cells(self) -> RowCells | None:
        """What rows with real columns have in common; None where there are none."""
        return None

    @property
    def sample(self) -> tuple[Fraction, Differences] | None:
        """As of ``AnswerBook``; no random sample of users is followed."""
        return None

    @property
    def in_groups(self) -> AnswersInGroups | None:
        """As of ``AnswerBook``; None for users, who have several rows."""
        return None

    @property
    def is_of_released(self) -> bool:
        """See ``AnswerBook``."""
        return self._answers.depends_on_released

    def sum_over_rows(self, number: int) -> SumOverRows | None:
        """What rows add to an answer; None where it is not a sum over rows alone."""
        book = self._answers
        bound, table = book.bounds[number], book.tables[number]
        if book.parts[number] is not None:
            return None
        if isinstance(bound, PerUser):
            ends = table, book.largest[number]
            return SumOverRows(*ends, book.recipes[number], bound, book.is_whole(number))
        return SumOverRows(table, table, None, bound)

    def _value_of_users(self, bound: PerUser, number: int, dataset: NDArray[Any]) -> Fraction:
        """What all users add to an answer."""
        users, cells, entries = self._list_rows(dataset)
        left = find_kept_rows(bound.before, cells, users)
        own = {name: numbers[left] for name, numbers in entries.items()}
        totals = bound.of_rows(users[left], cells[left], own)
        return exact_sum(add_by_users(self._answers.recipes[number], totals))

    def _list_rows(self, dataset: NDArray[Any]) -> tuple[Any, Any, dict[str, Any]]:
        """Of all rows the users, the values, and the real numbers."""
        slots = dataset[dataset > 0]
        return self._domain.users_in(slots), self._domain.rows_in(slots), {}

    def _candidates(self) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
        """Rows that are tried for a pair."""
        return np.arange(1, self._answers.values, dtype=np.int64), {}

    def _cells_of(self, rows: NDArray[np.int64], entries: Any) -> NDArray[np.int64]:
        return rows

    def _is_of(self, number: int, bound: Any) -> bool:
        """Whether it is an answer, and sums over what a bound leaves."""
        bounds = self._answers.bounds
        return number < len(bounds) and bounds[number] == bound

    def dearest_users(
        self, bound: PerUser, move: Mapping[int, Fraction]
    ) -> tuple[UserWithRows, UserWithRows] | None:
        """How many equal rows of which kind a user has, before and after a dear change."""
        rows, entries = self._candidates()
        if not move or not len(rows):
            return None
        cells = self._cells_of(rows, entries)
        most, nothing = self._domain.most, UserWithRows(0.0, 0, 0, {})
        users = [nothing]
        for times in sorted({min(times, most) for times in _TIMES}):
            totals = bound.of_equal_rows(times, cells, entries)
            added = [
                float(by) * add_by_users(self._answers.recipes[number], totals)
                for number, by in move.items()
                if self._is_of(number, bound)
            ]
            score = sum(added, np.zeros(len(rows)))
            for at in (int(score.argmin()), int(score.argmax())):
                own = {name: float(numbers[at]) for name, numbers in entries.items()}
                users.append(UserWithRows(float(score[at]), times, int(rows[at]), own))
        low, high = min(users, key=_score), max(users, key=_score)
        if self._answers.comes_and_goes:
            low, high = nothing, max(low, high, key=lambda one: abs(one.score))
        return low, high

    def differences(self) -> ManyDifferences:
        """How far neighbours move the answers."""
        return self._answers.differences_of_users(self._domain.most)[0]

    def added(self, number: int) -> None:
        return None

    def is_near(self, dataset: IntArray) -> bool:
        """See ``check_near``."""
        return check_near(self, self._answers, dataset)

    def change_of_move(self, move: Move) -> None:
        """It is several records that change."""
        return

    @property
    def hint(self) -> str:
        """What to write where a user may bring all rows, and sums are over all of them."""
        unit = self._domain.unit
        if self._domain.at_most is not None or None not in self._answers.bounds:
            return ""
        return (
            f"one {unit} may bring all {self._domain.dimension:,} rows: write at_most= in the "
            f"table, or frame.groupby({unit!r}).head(k) in the code"
        )

    @property
    def rounded(self) -> str:
        """How far the rounding of float sums may take an answer; empty where it may not."""
        return rounding_in_words(self._answers.margins)

    @property
    def reads_length(self) -> bool:
        """Whether the price depends on how many rows there may be."""
        may_bring_all = self._domain.at_most is None and None in self._answers.bounds
        return may_bring_all or any(self._answers.margins.values())

    def pairs_of_moves(self, moves: Sequence[Move]) -> Pairs:
        """A user who brings so many rows as each part of the differences allows."""
        differences, bounds = self._answers.differences_of_users(self._domain.most)
        pairs: list[tuple[IntArray, IntArray]] = []
        together: tuple[list[int], list[int]] = [], []
        for move, (times, _), bound in zip(moves, differences.parts, bounds, strict=False):
            if isinstance(bound, PerUser):
                ends = self.dearest_users(bound, dict(move))
                if ends is not None:
                    own = [[end.row] * end.times for end in ends]
                    pairs += [self._pair(*own, other) for other in (0, ends[1].row)]
                continue
            rows = self._rows_of_move(move, bound)
            for low, high in rows[:1]:
                left, right = [low] * times, [high] * times
                together[0].extend(left)
                together[1].extend(right)
                others = dict.fromkeys((0, high, low))
                pairs += [self._pair(left, right, other) for other in others]
        if len(differences.parts) > 1 and 0 < len(together[0]) <= self._domain.most:
            # Differently bounded sums may be of different rows.
            pairs.insert(0, self._pair(*together, 0))
        return tuple(pairs)

    def pairs_at(self, table: dict[int, Fraction], offset: Fraction) -> Pairs:
        """With so many users of one row each that a sum of answers and an offset is near 0."""
        added = self._answers.contributions(table, with_all=False)
        pairs: list[tuple[IntArray, IntArray]] = []
        for row in {max(added, key=lambda v: added[v]), min(added, key=lambda v: added[v])}:
            if row == 0 or not added[row]:
                continue
            crossing = floor(-offset / added[row])
            counts = (crossing - 1, crossing, crossing + 1)
            possible = [count for count in counts if 0 <= count < self._domain.dimension]
            pairs += [self._pair([], [row], row, count) for count in possible]
        return tuple(pairs)

    def _rows_of_move(self, move: Move, bound: RowBound | None) -> list[tuple[int, int]]:
        """Values of rows, 0 for none, of which the second adds so much more than the first."""
        numbers = {n for n, other in enumerate(self._answers.bounds) if other == bound}
        rows = [tuple(sorted(table.items())) for table in self._answers.rows_of(numbers)]
        places = {row: value for value, row in reversed(list(enumerate(rows)))}
        pairs = []
        for value, row in enumerate(rows[:1] if self._answers.comes_and_goes else rows):
            for sign in (1, -1):
                changed = dict(row)
                for answer, step in move:
                    changed[answer] = changed.get(answer, Fraction(0)) + sign * step
                other = tuple(
                    sorted((answer, change) for answer, change in changed.items() if change)
                )
                if places.get(other, value) != value:
                    pairs.append((value, places[other]))
        return pairs

    def _pair(
        self, left: Sequence[int], right: Sequence[int], other: int, count: int | None = None
    ) -> tuple[IntArray, IntArray]:
        """User 0 with these rows, and others with one row each; all there is room for."""
        room, own = self._domain.dimension, max(len(left), len(right))
        others = room - own if count is None else min(count, room - own)
        sides = []
        for rows in (left, right):
            dataset = np.repeat(np.int64(0), room)  # np.zeros is followed meanwhile
            dataset[: len(rows)] = [self._domain.slot(0, row) if row else 0 for row in rows]
            if other:
                first = self._domain.slot(1, other)
                dataset[own : own + others] = first + np.arange(others)
            sides.append(dataset)
        return sides[0], sides[1]


class SumOverRows(NamedTuple):
    """What a row adds to an answer: between two numbers of its cell, by a recipe, if it is kept.

    Or what a user adds who has such rows; ``is_whole``: these are whole numbers.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    recipe: Any
    bound: RowBound | PerUser | None
    is_whole: bool = False


class UserWithRows(NamedTuple):
    """A user who has some equal rows, and what these add in some direction."""

    score: float
    times: int
    row: int
    entries: dict[str, float]


def _score(one: UserWithRows) -> float:
    return one.score


class ValuesOfAnswers(Protocol):
    """What knows the answers of a dataset."""

    def value(self, answer: Answer, dataset: NDArray[Any]) -> Fraction:
        """An answer of a dataset."""
        ...


def note_near(data: ValuesOfAnswers, domain: Table, answers: AnswerBook, changed: int) -> None:
    """Where only some tables matter: what answers lie between there and on their neighbours."""
    near = domain.near
    if near is not None:
        answers.near = (
            lambda number: (data.value(Answer(number), table) for table in near.tables),
            changed,
        )


def check_near(data: ValuesOfAnswers, answers: AnswerBook, dataset: IntArray) -> bool:
    """Whether the answers of a dataset and its neighbours lie between the same."""
    return answers.is_near(lambda number: data.value(Answer(number), dataset))


def plain_near(domain: Table, near: NearTables, rng: np.random.Generator) -> NDArray[Any]:
    """One of some tables, or a neighbour of it."""
    dataset = near.tables[int(rng.integers(len(near.tables)))]
    if rng.random() < 0.5:
        dataset = domain.neighbour_of(dataset, rng)
    return hand(np.asarray(dataset).copy())  # type: ignore[no-any-return]


def find_kept_rows(
    bound: RowBound | None, rows: NDArray[np.int64], users: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which rows a bound leaves, of those that are kept (``RowBound``)."""
    if bound is None:
        return np.ones(len(rows), dtype=np.bool_)
    those = find_kept_rows(bound.before, rows, users)
    those &= np.frombuffer(bound.kept, dtype=np.bool_)[rows]
    places = np.flatnonzero(those)
    if bound.is_all:
        _, whose, counts = np.unique(users[places], return_inverse=True, return_counts=True)
        those[places] = counts[whose] <= bound.most
        return those
    seen: dict[tuple[int, int], int] = {}
    codes = np.frombuffer(bound.by, dtype=np.int64)[rows] if bound.by else np.zeros_like(rows)
    if bound.order:
        order = np.frombuffer(bound.order, dtype=np.float64)[rows[places]]
        places = places[np.argsort(order, kind="stable")]
    for place in places.tolist():
        group = int(users[place]), int(codes[place])
        seen[group] = seen.get(group, 0) + 1
        those[place] = seen[group] <= bound.most
    return those


def exact_sum(numbers: NDArray[np.float64]) -> Fraction:
    """The sum of finite floats, without rounding."""
    mantissas, exponents = np.frexp(np.asarray(numbers, dtype=np.float64))
    whole = (mantissas * 2.0**53).astype(np.int64)
    total = Fraction(0)
    for exponent in np.unique(exponents).tolist():
        own = whole[exponents == exponent]
        added = (int((own >> 26).sum()) << 26) + int((own & (2**26 - 1)).sum())
        total += Fraction(added) * Fraction(2) ** (exponent - 53)
    return total
