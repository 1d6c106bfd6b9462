"""Tables with real columns as symbols: rows by cells, between whose ends real numbers lie.

A comparison of a real column cuts the cells at its constant: ``refine_cells`` is then the same with
finer cells, and the program is followed again (docs/theory/tables.md, B6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.data.real_tables import RealRows
from liptest.enumerate.intercept.draw_logs import hand
from liptest.enumerate.symbols.symbolic_paths import Pairs
from liptest.enumerate.symbols.user_rows import (
    SumOverRows,
    UserRows,
    exact_sum,
    find_kept_rows,
    note_near,
    plain_near,
)
from liptest.symbolic.answer_functions import FIRST_FUNCTION
from liptest.symbolic.answers import Answer, AnswersInGroups, Differences, ManyDifferences, Move
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.pandas.user_numbers import PerUser, add_by_users
from liptest.values.reals.recipes import RowCondition, evaluate
from liptest.values.records.row_bounds import RowBound
from liptest.values.records.row_cells import MOST_CELLS, RowCells

# Numbers that are shown where larger ones tell no more.
_PLAIN = 1e6
# Rows that are tried for a pair.
_MOST_TRIED = 20_000


class RealData(UserRows):
    """How tables with real columns reach a program; see ``data_protocol.Data``."""

    _domain: RealRows

    def __init__(
        self,
        domain: RealRows,
        cuts: Mapping[str, frozenset[float]] | None = None,
        conditions: tuple[RowCondition, ...] = (),
    ) -> None:
        self._domain = domain
        limits = {name: (kind.lower, kind.upper) for name, kind in domain.reals.items()}
        first = 0 if domain.is_full else 1
        self._cells = RowCells(domain.row_values - 1, first, limits, cuts or {}, conditions)
        comes_and_goes = domain.kind == "add_remove"
        self._answers = AnswerBook(
            domain.rows,
            self._cells.count,
            comes_and_goes=comes_and_goes,
            has_positions=domain.is_full,
        )
        self._answers.cells, self._answers.walks_values = self._cells, False
        self._answers.rows_of_user = domain.at_most
        self._counted: tuple[Any, dict[Any, Any]] = (None, {})
        note_near(self, domain, self._answers, domain.most if domain.has_users else 1)

    @property
    def is_too_fine(self) -> bool:
        """Whether there are more cells than are followed."""
        return self._cells.count > MOST_CELLS

    def refine_cells(self) -> RealData | None:
        """The same with finer cells, where these were requested; None where it was not."""
        divisions = self._cells.divisions()
        return None if divisions is None else RealData(self._domain, *divisions)

    def table_of_data(self) -> NDArray[np.int64]:
        return self._cells.row_values

    def plain(self, rng: np.random.Generator) -> NDArray[Any]:
        """Some dataset, with numbers at which cells are cut."""
        if self._domain.near is not None:
            return plain_near(self._domain, self._domain.near, rng)
        special = {name: sorted(cuts) for name, cuts in self._cells.cuts.items()}
        drawn = self._domain.draw(rng, int(rng.integers(1, 5)), special)
        return hand(drawn)  # type: ignore[no-any-return]

    def value(self, answer: Answer, dataset: NDArray[Any]) -> Fraction:
        """An answer of a dataset."""
        if self._counted[0] is not dataset:
            self._counted = dataset, {}
        bound, cells_known = self._answers.bounds[answer.number], self._counted[1]
        if isinstance(bound, PerUser):
            return self._value_of_users(bound, answer.number, dataset)
        key = bound, self._cells.releases
        if key not in cells_known:
            cells_known[key] = self._rows_left(bound, dataset)
        cells, entries = cells_known[key]
        if self._answers.parts[answer.number] is not None:  # of tables that have all rows
            at = self._answers.records_of(answer.number, np.arange(len(cells)))
            cells, entries = cells[at], {name: own[at] for name, own in entries.items()}
        recipe = self._answers.recipes.get(answer.number)
        if recipe is None:
            counts = np.bincount(cells, minlength=self._answers.values)
            return self._answers.value(answer.number, counts)
        _, calculated, kept = recipe
        mask = (
            np.ones(len(cells), np.bool_) if kept is None else np.frombuffer(kept, np.bool_)[cells]
        )
        cells_known = entries | self._cells.known
        terms = np.broadcast_to(evaluate(calculated, cells, cells_known), cells.shape)[mask]
        return exact_sum(terms)

    @property
    def cells(self) -> RowCells:
        """What rows have in common."""
        return self._cells

    def sum_over_rows(self, number: int) -> SumOverRows | None:
        over_rows, book = super().sum_over_rows(number), self._answers
        if over_rows is None or over_rows.recipe is not None:
            return over_rows
        low, recipe = over_rows.low, book.recipes.get(number)
        if recipe is None:
            return over_rows
        _, calculated, kept = recipe
        there = np.ones(len(low), np.bool_) if kept is None else np.frombuffer(kept, np.bool_)
        low, high = (np.where(there, end, 0.0) for end in (low, book.largest[number]))
        return SumOverRows(low, high, calculated, over_rows.bound)

    def _list_rows(self, dataset: NDArray[Any]) -> tuple[Any, Any, dict[str, Any]]:
        slots = self._domain.slots_in(dataset)
        there = slots > 0
        entries = {name: own[there] for name, own in self._domain.entries_in(dataset).items()}
        rows, users = self._domain.rows_in(slots[there]), self._domain.users_in(slots[there])
        return users, self._cells.of(rows, entries), entries

    def _cells_of(self, rows: NDArray[np.int64], entries: Any) -> NDArray[np.int64]:
        return self._cells.of(rows, entries)

    def _rows_left(self, bound: RowBound | None, dataset: NDArray[Any]) -> tuple[Any, Any]:
        users, cells, entries = self._list_rows(dataset)
        left = find_kept_rows(bound, cells, users)
        return cells[left], {name: own[left] for name, own in entries.items()}

    def differences(self) -> Differences | ManyDifferences:  # type: ignore[override]
        """How far neighbours move the answers."""
        if self._domain.has_users:
            return super().differences()
        return self._answers.differences()

    @property
    def sample(self) -> tuple[Fraction, Differences] | None:
        """See ``AnswerBook``."""
        return self._answers.sample()

    @property
    def in_groups(self) -> AnswersInGroups | None:
        """See ``AnswerBook``."""
        return None if self._domain.has_users else self._answers

    @property
    def reads_length(self) -> bool:
        """Whether the number of rows was read, or the price depends on it."""
        if self._domain.has_users:
            return super().reads_length
        return self._answers.depends_on_length

    @property
    def hint(self) -> str:
        """What to write where a user may bring all rows; what the rounding of sums is."""
        told = super().hint if self._domain.has_users else ""
        rounded = self.rounded and f"{self.rounded}, is part of it"
        return "; ".join(remark for remark in (told, rounded) if remark)

    def pairs_at(self, table: dict[int, Fraction], offset: Fraction) -> Pairs:
        """With so many rows of the value that adds most that 0 is near; others add least."""
        rows, entries = self._candidates()
        if not len(rows) or self._answers.has_parts:
            return ()
        cells = self._cells.of(rows, entries)
        score = sum(float(by) * self._add(number, cells, entries) for number, by in table.items())
        assert isinstance(score, np.ndarray)
        is_full, room = self._domain.is_full, self._domain.rows
        high = int(score.argmax() if is_full else np.abs(score).argmax())
        low = int(score.argmin())
        least = float(score[low]) if is_full else 0.0
        step = float(score[high]) - least
        if step == 0 or not math.isfinite(step) or not math.isfinite(room * least):
            return ()
        crossing = math.floor((-float(offset) - room * least) / step)
        counts = [size for size in (crossing - 1, crossing, crossing + 1) if 0 <= size < room]
        chosen = [
            self._many(count, (rows, entries), high, low)
            for size in counts
            for count in (size, size + 1)
        ]
        return tuple(zip(chosen[::2], chosen[1::2], strict=True))

    def _many(self, count: int, known: tuple[Any, Any], high: int, low: int) -> IntArray:
        """So many rows of one value; the others of another one, or none."""
        rows, entries = known
        places = [high] * count
        if self._domain.is_full:
            places += [low] * (self._domain.rows - count)
        users = range(len(places)) if self._domain.has_users else [0] * len(places)
        slots = [
            self._domain.slot(user, int(rows[at])) for user, at in zip(users, places, strict=True)
        ]
        numbers = {name: own[places] for name, own in entries.items()}
        return self._domain.made(slots, numbers)

    def pairs_of_moves(self, moves: Sequence[Move]) -> Pairs:
        """Rows that change the answers most in the direction of each move."""
        pairs: list[tuple[IntArray, IntArray]] = []
        room = self._domain.rows
        times, bounds = [1], tuple[Any, ...]((None,))
        if self._domain.has_users:
            many, bounds = self._answers.differences_of_users(self._domain.most)
            times = [few for few, _ in many.parts]
        for move, few, bound in zip(moves, times, bounds, strict=False):
            if isinstance(bound, PerUser):
                pairs += self._pairs_of_users(bound, dict(move))
                continue
            ends = self._dearest(dict(move))
            if ends is None:
                continue
            low, high = ends
            rest = [self._domain.slot(1, 1)] * (room - few) if self._domain.is_full else []
            bases = [high[1] or {}, low[1] or {}] if self._domain.is_full else [{}]
            if self._answers.has_parts:  # the others add nothing, whoever of them is in a sample
                bases = [{}]
            for base in bases:
                pair = [low] * few, [high] * few
                pairs.append(self._domain.pair(*pair, rest, base))
        return tuple(pairs)

    def _pairs_of_users(self, bound: PerUser, move: dict[int, Fraction]) -> list[Any]:
        """A user whose rows add most, and one whose rows add least, or who has none."""
        ends = self.dearest_users(bound, move)
        if ends is None:
            return []
        most, nothing = max(end.times for end in ends), (1, None)
        own = [
            [(end.row, end.entries)] * end.times + [nothing] * (most - end.times) for end in ends
        ]
        return [self._domain.pair(own[0], own[1], [], {})]

    def _dearest(self, move: dict[int, Fraction]) -> tuple[Any, Any] | None:
        """Two rows, None for none, between which the answers change most in a direction."""
        rows, entries = self._candidates()
        if not move or not len(rows):
            return None
        cells = self._cells.of(rows, entries)
        score = np.repeat(0.0, len(rows))
        for number, step in move.items():
            if number < FIRST_FUNCTION:  # functions of sums follow from the sums
                score += float(step) * self._add(number, cells, entries)
        order = [int(score.argmin()), int(score.argmax())]
        ends: list[tuple[int, dict[str, float] | None]] = [
            (int(rows[at]), {name: float(own[at]) for name, own in entries.items()}) for at in order
        ]
        if self._domain.is_full:
            return ends[0], ends[1]
        nothing = (1, None)
        if self._answers.comes_and_goes or not score[order[0]] < 0 < score[order[1]]:
            at = int(np.abs(score).argmax())
            return nothing, ends[0] if at == order[0] else ends[1]
        return ends[0], ends[1]

    def _candidates(self) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
        """All corners of cells that are not too many, small numbers first."""
        cells = self._cells
        rows = cells.row_values[cells.first :]
        names = list(cells.low)
        small = [
            {
                name: np.clip(
                    np.clip(end[name], -_PLAIN, _PLAIN), cells.low[name], cells.high[name]
                )
                for name in names
            }
            for end in (cells.low, cells.high)
        ]
        nearest = {name: np.clip(0.0, cells.low[name], cells.high[name]) for name in names}
        corners: list[tuple[Any, ...]] = [
            tuple(end if own == name else nearest for own in names)
            for name in names
            for end in small
        ]
        far = product((cells.low, cells.high), repeat=len(names))
        every = chain(product(small, repeat=len(names)), far)
        corners += islice(every, max(1, _MOST_TRIED // max(1, len(rows)) - len(corners)))
        entries = {
            name: np.concatenate([corner[k][name][cells.first :] for corner in corners])
            for k, name in enumerate(names)
        }
        return np.tile(rows, len(corners)), entries

    def _add(self, number: int, cells: NDArray[np.int64], entries: Any) -> NDArray[np.float64]:
        recipe = self._answers.recipes.get(number)
        if recipe is None:
            return np.asarray(self._answers.tables[number], dtype=np.float64)[cells]
        bound = self._answers.bounds[number]
        if isinstance(bound, PerUser):
            return add_by_users(recipe, bound.of_equal_rows(1, cells, entries))
        _, calculated, kept = recipe
        mask = True if kept is None else np.frombuffer(kept, np.bool_)[cells]
        with np.errstate(all="ignore"):
            return np.where(mask, evaluate(calculated, cells, entries), 0.0)
