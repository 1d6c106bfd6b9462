"""How datasets of a domain become symbolic: columns of records, or answers.

Each kind also hands out plain datasets, and says what an answer is on one of them, so that a run at
a point can be compared with the run on symbols (``enumerate.symbols.symbolic_data``). And it says
where to look for a refutation: ``min(count, 100)`` moves only where the count is small, so records
are chosen with which the sums that a function is of are near the places where it moves most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, islice
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.answers import Answers as RealAnswers
from liptest.data.domains import AllAnswers, Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.real_tables import RealRows
from liptest.data.tables import AddedRows, RowsOfUsers, Table
from liptest.enumerate.intercept.draw_logs import hand
from liptest.enumerate.symbols.crossing_answers import pairs_at_turns
from liptest.enumerate.symbols.data_protocol import Data
from liptest.enumerate.symbols.real_rows import RealData
from liptest.enumerate.symbols.symbolic_paths import Pairs
from liptest.enumerate.symbols.user_rows import UserRows, check_near, note_near, plain_near
from liptest.symbolic.answer_functions import AnswerSum, answer_value, list_turns
from liptest.symbolic.answers import Answer, AnswersInGroups, Differences, Move
from liptest.symbolic.forms import Form

# Register their types.
from liptest.values.answers import open_truths  # noqa: F401
from liptest.values.answers.aligned import AlignedRun, AlignedValue
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.answers.block_statistics import pairs_of_blocks
from liptest.values.array import SymbolicArray, fill_array
from liptest.values.branching import Branching
from liptest.values.read_only import ReadOnlyCells
from liptest.values.reals import record_arrays, record_axes, record_products  # noqa: F401
from liptest.values.reals.recipes import RowCondition, evaluate
from liptest.values.reals.rounded_sums import rounding_in_words
from liptest.values.records.column import Column
from liptest.values.records.marginals import FEWEST_ROWS, Marginal, Marginals
from liptest.values.records.record_parts import Part
from liptest.values.records.row_cells import MOST_CELLS, RowCells

# Records of a balanced dataset that have any value.
_OTHERS = 4
# Where there are more records than the first number, so many are drawn, and repeated: to draw a
# million costs more than to run the program. The last ones, which fill no repetition, are others.
_MOST_DRAWN, _REPEATED = 100_000, 20_011


class Records:
    """Records of which one is replaced, or slots that one is added to or removed from."""

    def __init__(self, domain: Domain, conditions: tuple[RowCondition, ...] = ()) -> None:
        self._domain = domain
        self._sizes = domain.size_array
        #: How many values records take at most, and whether all take as many.
        self._most = int(self._sizes.max())
        self._are_alike = domain.are_alike
        #: A large dataset, what it repeats and how often, and the records after that.
        self._repeated: tuple[Any, NDArray[Any], int, NDArray[Any]] | None = None
        comes_and_goes = isinstance(domain, AddedRows)
        values, first = self._most, int(comes_and_goes)
        cells = RowCells(values - first, first, {}, {}, conditions)
        #: Values of records, by what comparisons with released numbers hold of them.
        self._cells = cells if cells.count <= MOST_CELLS else None
        self._answers = AnswerBook(
            domain.dimension,
            cells.count,
            comes_and_goes=comes_and_goes,
            has_positions=not comes_and_goes,
        )
        self._answers.cells = self._cells
        #: A dataset, and by part how many of its records have each value, or are of each kind.
        self._counted: tuple[Any, dict[tuple[Part, Marginal | None], Any]] = None, {}
        self._table = domain if isinstance(domain, Table) else None
        if self._table is not None:
            self._answers.marginals = self._find_marginals(self._table)
            note_near(self, self._table, self._answers, 1)

    def _find_marginals(self, table: Table) -> Marginals | None:
        """The kinds of rows by columns, where all rows are not divided and many."""
        are_divided = self._cells is not None and bool(self._cells.conditions)
        if table.row_values < FEWEST_ROWS or are_divided:
            return None
        return Marginals({name: len(of.values) for name, of in table.columns.items()}, table.first)

    @property
    def is_too_fine(self) -> bool:
        """Whether records are divided into more cells than are followed."""
        return self._cells is None

    @property
    def rounded(self) -> str:
        """How far the rounding of float sums may take an answer; empty where it may not."""
        return rounding_in_words(self._answers.margins)

    def refine_cells(self) -> Records | None:
        """The same with finer cells, where these were requested; None where it was not."""
        divisions = None if self._cells is None else self._cells.divisions()
        return None if divisions is None else Records(self._domain, divisions[1])

    def _values(self) -> NDArray[np.int64]:
        """By cell the value of a record."""
        if self._cells is None:
            return np.arange(self._answers.values, dtype=np.int64)
        return self._cells.row_values - (1 - self._cells.first)

    def symbolic(self, tree: Branching, run: AlignedRun) -> Any:
        if self._cells is not None:
            self._cells.forget()
        marginals = self._answers.marginals
        values = self._values() if marginals is None else marginals.every
        values.flags.writeable = False
        return SymbolicArray(Column(tree, self._answers, values))

    def plain(self, rng: np.random.Generator) -> NDArray[Any]:
        if self._table is not None and self._table.near is not None:
            return plain_near(self._table, self._table.near, rng)
        count = len(self._sizes)
        if not (self._are_alike and count > _MOST_DRAWN):
            return hand(self._draw(rng, self._sizes))  # type: ignore[no-any-return]
        times = (count - 1) // _REPEATED
        rest = count - times * _REPEATED
        repeated, last = (self._draw(rng, self._sizes[:size]) for size in (_REPEATED, rest))
        # As `hand` gives it, in one copy.
        numbers = b"".join((*[repeated.tobytes()] * times, last.tobytes()))
        dataset = np.frombuffer(numbers, dtype=np.int64)
        self._repeated = dataset, repeated, times, last
        return dataset

    def _count(self, records: NDArray[Any], kinds: Marginal | None) -> NDArray[np.int64]:
        """How many of some records have each value, or are of each kind."""
        if self._repeated is not None and records is self._repeated[0]:
            _, repeated, times, last = self._repeated
            return times * self._count(repeated, kinds) + self._count(last, kinds)
        if kinds is None:
            return np.bincount(records, minlength=self._most)
        return np.bincount(kinds.codes[records], minlength=len(kinds.rows))

    def _draw(self, rng: np.random.Generator, every_size: NDArray[Any]) -> NDArray[Any]:
        """Records of these numbers of values."""
        count = len(every_size)
        sizes = self._most if self._are_alike else every_size  # drawn faster
        ends = rng.integers(0, sizes, size=(2, count))
        chosen = rng.random(count) < rng.random()
        dataset: NDArray[Any] = np.where(chosen, ends[0], ends[1] * int(rng.integers(0, 2)))
        extreme = self._values()[self._answers.extreme_values()].tolist()
        if extreme and rng.random() < 0.5:
            # Sums that wrap, or truths that are joined, show where many records add the same.
            value, share = extreme[int(rng.integers(len(extreme)))], rng.random() * 2
            is_put = (rng.random(count) < share) & (value < every_size)
            dataset = np.where(is_put, value, dataset)
        return dataset

    def make_balanced(self, rng: np.random.Generator) -> NDArray[Any]:
        """A dataset in which values are about equally frequent, so that counts are nearly tied."""
        if self._table is not None and self._table.near is not None:
            return self.plain(rng)
        count = len(self._sizes)
        dataset = np.arange(count) % self._sizes
        others = rng.integers(0, count, size=_OTHERS)
        dataset[others] = rng.integers(0, self._sizes[others])
        return hand(dataset)  # type: ignore[no-any-return]

    def value(self, answer: Answer, dataset: NDArray[Any]) -> Fraction:
        if self._counted[0] is not dataset:
            self._counted = dataset, {}
            self._answers.dataset = dataset
        book, counts = self._answers, self._counted[1]
        if answer.block is not None:
            return answer.block.value(book.records_of(answer.number, dataset))  # type: ignore[no-any-return]
        part = book.parts[answer.number]
        kinds = book.tables.by_kinds(answer.number)[1]
        if (part, kinds) not in counts:
            counts[part, kinds] = self._count(book.records_of(answer.number, dataset), kinds)
        there = self._in_cells(counts[part, kinds]) if kinds is None else counts[part, kinds]
        recipe = book.recipes.get(answer.number)
        if recipe is None:
            return book.value(answer.number, there)
        _, calculated, kept = recipe
        every = np.arange(book.values)
        there = there if kept is None else there * np.frombuffer(kept, np.bool_)
        terms = np.broadcast_to(evaluate(calculated, every, book.cells.known), every.shape)
        pairs = zip(terms[there > 0].tolist(), there[there > 0].tolist(), strict=True)
        return sum((Fraction(by) * count for by, count in pairs), Fraction(0))

    def _in_cells(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many records are in each cell, in a run at a point, of how many have each value."""
        cells = self._cells
        if cells is None or not cells.conditions:
            return counts
        rows = np.repeat(0, cells.count)
        rows[: cells.first] = counts[: cells.first]
        places = cells.of(np.arange(1, len(counts) + 1 - cells.first), {})
        rows[places] = counts[cells.first :]
        return rows

    @property
    def is_of_released(self) -> bool:
        """See ``AnswerBook``."""
        return self._answers.depends_on_released or self.has_blocks

    def is_near(self, dataset: IntArray) -> bool:
        """See ``check_near``."""
        return check_near(self, self._answers, dataset)

    def differences(self) -> Differences:
        return self._answers.differences()

    def added(self, number: int) -> dict[int, Fraction] | None:
        if self._answers.has_parts or self.is_of_released:
            return None
        return self._answers.contributions({number: Fraction(1)})

    def vanishing(self, counts: Mapping[int, tuple[int, ...]]) -> Differences:
        """See ``AnswerBook``."""
        return self._answers.vanishing(counts)

    @property
    def sample(self) -> tuple[Fraction, Differences] | None:
        """See ``AnswerBook``."""
        return self._answers.sample()

    @property
    def in_groups(self) -> AnswersInGroups | None:
        """See ``AnswerBook``."""
        return self._answers

    def change_of_move(self, move: Move) -> tuple[int, int, int] | None:
        change = self._answers.change_of_move(move)
        if change is None:
            return None
        position, *cells = change
        before, after = self._values()[cells].tolist()
        return None if before == after else (position, before, after)

    def pairs_at(self, table: dict[int, Fraction], offset: Fraction) -> Pairs:
        """With so many records of the value that adds most that 0 is near; the others add least."""
        if self._answers.has_parts or self.is_of_released:
            return ()
        added = self._answers.contributions(table, with_all=False)
        low, high = min(added, key=lambda v: added[v]), max(added, key=lambda v: added[v])
        n, step = len(self._sizes), added[high] - added[low]
        if step == 0 or min(self._sizes) < self._answers.values:
            return ()
        if low and self._answers.comes_and_goes:
            return ()  # a record that comes takes the place of none
        wanted = -offset - n * added[low]
        crossing = floor(wanted / step)
        # The last one may bring it to 0.
        rest = wanted - crossing * step
        last = min(added, key=lambda v: (abs(added[v] - added[low] - rest), v == low))
        pairs = []
        tried = ((crossing, last), (crossing - 1, high), (crossing, high), (crossing + 1, high))
        for count, other in tried:
            if 0 <= count < n and other != low:
                left = np.repeat(np.int64(low), n)  # np.full is followed meanwhile
                left[:count] = high
                right = left.copy()
                right[count] = other
                pairs.append((left, right))
        return tuple(pairs)

    def pairs_of_functions(self, functions: tuple[Answer, ...]) -> Any:
        """By moves: neighbours between which functions of answers move much."""
        values, records = int(self._sizes.min()), len(self._sizes)
        if self.has_blocks:
            return lambda moves: pairs_of_blocks(self._answers, values)
        lows = (0,) if self._answers.comes_and_goes else range(values)
        return partial(pairs_of_functions, self, (values, records, lows), functions)

    @property
    def has_blocks(self) -> bool:
        """Whether some answer is one number of a block of the records."""
        return bool(self._answers.blocks)

    are_answers_alike = False

    @property
    def reads_length(self) -> bool:
        return self._answers.depends_on_length


#: Where a run keeps the numbers of its dataset.
_NUMBERS = "numbers of the dataset"


class Numbers:
    """Answers of which each is a number of the dataset."""

    reads_length = is_of_released = False

    def __init__(self, domain: Domain, differences: Differences) -> None:
        self._domain = domain
        self._differences = differences
        self._is_real = isinstance(domain, RealAnswers)
        self.are_answers_alike = not isinstance(domain, RealAnswers) or domain.kind != "moves"

    def symbolic(self, tree: Branching, run: AlignedRun) -> Any:
        count = self._domain.dimension
        # Kept by the run itself: whoever else holds them keeps something of the data.
        if _NUMBERS not in run.made:
            whole = not self._is_real
            kind = np.float64 if self._is_real else np.int64
            answers = [
                Answer(place, whole, f"answer {place}", is_given=not whole)
                for place in range(count)
            ]
            cells = [AlignedValue(run, Form.variable(place), kind) for place in range(count)]
            for cell in cells:
                cell.is_kept = True
            storage = ReadOnlyCells(tree, fill_array(cells, (count,), object), kind)
            run.made[_NUMBERS] = answers, SymbolicArray(storage)
        answers, array = run.made[_NUMBERS]
        run.adopt(answers)
        return array

    def plain(self, rng: np.random.Generator) -> NDArray[Any]:
        if not self._is_real:
            return hand(rng.integers(0, self._domain.size_array))  # type: ignore[no-any-return]
        size = float(10.0 ** rng.integers(0, 4))
        numbers = np.round(rng.normal(0.0, size, self._domain.dimension), 3)
        return np.frombuffer(numbers.tobytes())

    def value(self, answer: Answer, dataset: NDArray[Any]) -> Fraction:
        return Fraction(dataset[answer.number].item())

    def differences(self) -> Differences:
        return self._differences

    def added(self, number: int) -> dict[int, Fraction]:
        return {number: Fraction(1)}

    def change_of_move(self, move: Move) -> None:
        return None

    def pairs_at(self, table: dict[int, Fraction], offset: Fraction) -> Pairs:
        return ()

    def pairs_of_functions(self, functions: tuple[Answer, ...]) -> Any:
        """For moves of answers and of these functions, the pairs that move so most."""
        return partial(pairs_at_turns, self._domain, functions)


def find_data(domain: Domain) -> Data | None:
    """How datasets of a domain become symbolic; None where they do not."""
    if isinstance(domain, (Hypercube, RecordGrid, AddedRows)):
        return Records(domain)
    if isinstance(domain, RealRows):
        real_data = RealData(domain)
        return None if real_data.is_too_fine else real_data
    if isinstance(domain, RowsOfUsers):
        return UserRows(domain)
    ones = [1] * domain.dimension
    if isinstance(domain, RealAnswers):
        return Numbers(domain, _find_differences(domain))
    if isinstance(domain, AllAnswers):
        return Numbers(domain, Differences.of_box(ones, is_whole=True))
    if isinstance(domain, Hypergrid):
        return Numbers(domain, Differences.of_one(ones, is_whole=True))
    return None


def _find_differences(domain: RealAnswers) -> Differences:
    bounds = [domain.sensitivity] * domain.dimension
    if domain.kind == "all":
        return Differences.of_box(bounds)
    if domain.kind == "one":
        return Differences.of_one(bounds)
    return Differences.listed(domain.moves, size=domain.dimension)


# Pairs that are looked at, and that are told.
_MOST, _TOLD = 120, 6


def pairs_of_functions(
    data: Data,
    sizes: tuple[int, int, Sequence[int]],
    functions: tuple[Answer, ...],
    moves: tuple[Move, ...],
) -> Pairs:
    """Pairs that move the answers most as a move says, or at all.

    Parameters
    ----------
    sizes
        How many values each record takes, how many records there are, and the values that a record
        changes from.
    """
    values, records, lows = sizes
    wanted = dict(moves[0]) if moves else {}
    several = [function for function in functions if function.number in wanted] or list(functions)
    turns = [turn for function in several for turn in list_turns(function)]
    crossing = [pair for form in turns for pair in data.pairs_at(_factors(form), _constant(form))]
    levels = {abs(int(form.constant)) for form in turns} | {1, records // 3}
    mixed = _find_mixed_pairs(values, records, lows, sorted(level for level in levels if level))

    def move(pair: Any) -> Fraction:
        total = Fraction(0)
        for function in several:
            ends = [answer_value(function, lambda answer: data.value(answer, end)) for end in pair]  # noqa: B023
            step = ends[1] - ends[0]
            towards = wanted.get(function.number, step)
            total += abs(step) if step * towards >= 0 else -abs(step)
        return total

    pairs = [*crossing, *islice(mixed, _MOST - min(len(crossing), _MOST // 2))][:_MOST]
    both = [other for pair in pairs for other in (pair, pair[::-1])]
    return tuple(sorted(both, key=move, reverse=True)[:_TOLD])


def _factors(one: AnswerSum) -> dict[int, Fraction]:
    return {answer.number: Fraction(factor) for answer, factor in one.terms}


def _constant(one: AnswerSum) -> Fraction:
    return Fraction(one.constant)


def _find_mixed_pairs(
    values: int, records: int, lows: Sequence[int], levels: list[int]
) -> Iterator[Any]:
    """A record of one value becomes one of another, of which there are some, among a third one."""
    for level in levels:
        for low, high in combinations(dict.fromkeys((0, values - 1, 1, values // 2)), 2):
            rest = next((v for v in range(values) if v not in (low, high)), None)
            if low not in lows or rest is None or not 0 < 2 * level < records or high >= values:
                continue
            left = np.repeat(np.int64(rest), records)
            left[:level], left[level : 2 * level] = low, high
            right = left.copy()
            right[0] = high
            yield left, right
