"""The answers of an analysis: sums over all records of tables of what each record adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError
from liptest.symbolic.answers import (
    Answer,
    Differences,
    ManyDifferences,
    Move,
    SecondMoments,
    subtract_moves,
    without_gone,
)
from liptest.values.answers.answers_by_sample import AnswersBySample, Relation
from liptest.values.answers.balls import BallOfAnswers, find_round
from liptest.values.answers.kinds_of_values import (
    find_kinds,
    keep_lean,
    rows_at,
    steps_of_one,
    sums_of_values,
)
from liptest.values.reals.recipes import has_known
from liptest.values.reals.rounded_sums import NO_ROUNDING, Rounding
from liptest.values.records.marginals import Marginal, Marginals, Tables
from liptest.values.records.record_parts import (
    MOST_PARTS,
    DrawnPart,
    Part,
    Place,
    Places,
    find_places,
    take_part,
)
from liptest.values.records.row_bounds import RowBound

Table = NDArray[Any]
# Sums of real numbers that one record adds to, and corners of all boxes.
_MOST_WIDE, _MOST_CORNERS = 8, 100_000
# Corners of all balls together; each ball is looked at by itself where they are more.
_MOST_IN_BALLS = 2_000
# Changes of a record that are listed, over all kinds of positions.
_MOST_LISTED, _MOST_LISTED_IN_BALLS = 500_000, 2_000
_FEW_ROWS = 8


class AnswerBook(AnswersBySample):
    """The answers of an analysis: sums over all records of a table, equal ones once.

    Parameters
    ----------
    records
        How many records there are.
    values
        How many values a record takes.
    comes_and_goes
        Whether value 0 is that of no record, and neighbours have one record more or less.
    has_positions
        Whether a record stays in its place when another is replaced.
    """

    def __init__(
        self,
        records: int,
        values: int,
        *,
        comes_and_goes: bool = False,
        has_positions: bool = False,
    ) -> None:
        self.records = self.all_records = records
        self.values = values
        self.comes_and_goes = comes_and_goes
        self.relation: Relation = "added" if comes_and_goes else "replaced"
        self.has_positions = has_positions
        self.tables = Tables()
        #: The kinds of rows of a table by its columns; None where they are not told apart.
        self.marginals: Marginals | None = None
        #: How far floats may take two sums of neighbours from each other, by answer.
        self.margins: dict[int, Fraction] = {}
        #: How far they may take one sum from its exact value, where that is more than half of it.
        self.offsets: dict[int, Fraction] = {}
        #: Kinds of records, where records have real numbers.
        self.cells: Any = None
        #: Of answers that real numbers are part of: the largest that a record adds, and what it is.
        self.largest: dict[int, Table] = {}
        self.recipes: dict[int, Any] = {}
        #: Answers that are one number of a block of the records (``block_statistics``).
        self.blocks: dict[int, Any] = {}
        #: Answers that are coordinates of a vector of each record in a ball, by its key.
        self.balls: dict[Any, BallOfAnswers] = {}
        #: What rows an answer is of, where the contributions of users are bounded.
        self.bounds: list[RowBound | None] = []
        self.bound: RowBound | None = None
        #: How many rows a user has at most; None where that is not known.
        self.rows_of_user: int | None = None
        #: Which records an answer sums over, by their positions.
        self.parts: list[Part] = []
        self.part: Part = None
        self._products: dict[Any, SecondMoments] = {}
        self._numbers: dict[Any, int] = {}
        self._answers: list[Answer] = []
        self._bounded: dict[Any, AnswerBook] = {}
        self._parted: dict[Places | DrawnPart, AnswerBook] = {}
        #: Positions by number of a random order, in a run at a point.
        self.orders: dict[int, NDArray[Any]] = {}
        #: Whether loops over the values that are there are followed (``passing``).
        self.walks_values = True
        #: The records of a run at a point.
        self.dataset: NDArray[Any] | None = None
        #: Where only some datasets and their neighbours matter: what an answer is on each of them,
        #: and how many records of neighbours differ.
        self.near: tuple[Callable[[int], Iterable[Fraction]], int] | None = None
        #: Of orders that coins make: what no record is in them with more than.
        self.shares: dict[int, Fraction | None] = {}
        self._lengths_read: set[int] = set()
        self._rows: dict[tuple[int, ...], dict[Move, int]] = {}

    def of(
        self,
        table: Table,
        rounding: Rounding = NO_ROUNDING,
        use: str = "",
        marginal: Marginal | None = None,
    ) -> Answer:
        """The answer of a table, (values,) whole or finite numbers; or by the kinds of rows.

        Where sums are rounded, those of another ``use`` are another answer: they may differ.
        """
        table, names = keep_lean(table), None
        if self.marginals is not None:
            table, marginal = self.marginals.reduce(table, marginal)
            names = marginal and marginal.names
        order = (use, rounding.words) if rounding.between else ""
        key = table.dtype.char.encode() + table.tobytes(), names, self.bound, self.part, order
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            self.tables.append(table, marginal)
            self.bounds.append(self.bound)
            self.parts.append(self.part)
            whole, ends = table.dtype.kind == "i", self._ends_of(table, table, rounding)
            self._answers.append(Answer(number, whole, f"sum {number + 1}", ends))
        self._note(number, rounding)
        return self._answers[number]

    def _note(self, number: int, rounding: Rounding) -> None:
        for known, own in (
            (self.margins, rounding.between),
            (self.offsets, rounding.offset),
        ):
            if own or number in self.largest:
                known[number] = max(own, known.get(number, Fraction(0)))

    def _ends_of(self, low: Table, high: Table, rounding: Rounding) -> tuple[Fraction, Fraction]:
        """What the last exact sum lies between, of what a record adds between two numbers."""
        number = len(self.tables) - 1
        off = rounding.offset
        if self.near is not None and self._is_of_all_data(number):
            values = list(self.near[0](number))
            reach = self.reach_of(number) + 2 * max(rounding.between, off)
            return min(values) - reach, max(values) + reach
        ends = (Fraction(end.item()) * self.records for end in (low.min(), high.max()))
        least, most = ends
        zero = Fraction(0)
        if self.is_by_coins:
            least, most = min(least, zero), max(most, zero)
        return least - off, most + off

    def _is_of_all_data(self, number: int) -> bool:
        """Whether an answer is what a dataset alone determines."""
        return self.parts[number] is None and not has_known(self.recipes.get(number))

    def reach_of(self, number: int) -> Fraction:
        """By how much neighbours change an answer at most, where ``near`` is known."""
        assert self.near is not None
        low, bound = self.tables.by_kinds(number)[0], self.bounds[number]
        high = self.largest.get(number, low)
        times = self.near[1] if bound is None else min(self.near[1], bound.rows)
        return times * (Fraction(high.max().item()) - Fraction(low.min().item()))

    def is_near(self, values: Callable[[int], Fraction]) -> bool:
        """Whether answers, and those of all neighbours, lie between what they were taken to."""
        for number, answer in enumerate(self._answers):
            if self._is_of_all_data(number):
                ends = answer.span
                assert ends is not None
                off = max(known.get(number, Fraction(0)) for known in (self.margins, self.offsets))
                reach = self.reach_of(number) + 2 * off
                value = values(number)
                if not ends[0] <= value - reach <= value + reach <= ends[1]:
                    return False
        return True

    @property
    def reads_length(self) -> bool:
        """Whether the number of records was read, which is public."""
        return bool(self._lengths_read)

    def read_length(self) -> int:
        """The number of records of the part, which the program gets to know."""
        self._lengths_read.add(self.records)
        return self.records

    @property
    def has_order(self) -> bool:
        """Whether the records of neighbours stand in the same places, all but the replaced one."""
        has_slots = self.cells is not None and self.cells.first > 0
        is_replaced = self.has_positions or self.cells is not None
        return is_replaced and not (has_slots or self.comes_and_goes) and self.part is None

    def are_sums_fixed(self, table: Table) -> bool:
        """Whether each of a fixed number of records adds the same, so that the sum is known."""
        return self.has_positions and bool(np.all(table == table[0]))

    @property
    def depends_on_length(self) -> bool:
        """Whether the number of records was read, or sums of floats are rounded by it."""
        return self.reads_length or any(self.margins.values())

    @property
    def depends_on_released(self) -> bool:
        """Whether what a record adds to some answer depends on a number that was released."""
        conditions = () if self.cells is None else self.cells.conditions
        by_cells = any(condition.depends_on_known for condition in conditions)
        return by_cells or any(map(has_known, self.recipes.values()))

    def of_recipe(
        self,
        recipe: Any,
        low: Table,
        high: Table,
        rounding: Rounding,
        *,
        is_whole: bool = False,
        order: str = "",
    ) -> Answer:
        """The answer of what a record adds between two numbers, by its value, (values,) each.

        Sums of floats that are added up in another ``order`` are another answer.
        """
        key = recipe, self.bound, self.part, order
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            self.tables.append(low)
            self.largest[number], self.recipes[number] = high, recipe
            self.bounds.append(self.bound)
            self.parts.append(self.part)
            ends = self._ends_of(low, high, rounding)
            self._answers.append(Answer(number, is_whole, f"sum {number + 1}", real_ends=ends))
        self._note(number, rounding)
        return self._answers[number]

    def of_block(self, block: Any) -> Answer:
        """The answer that is one number of the records of the part (``block_statistics``)."""
        key = block, self.part
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            ends = block.low, block.high
            most = min(block.reach, ends[1] - ends[0])
            width = float(most)
            width = width if Fraction(width) >= most else math.nextafter(width, math.inf)
            self.tables.append(np.zeros(self.values))
            self.largest[number], self.recipes[number] = np.full(self.values, width), block
            self.blocks[number] = block
            self.bounds.append(self.bound)
            self.parts.append(self.part)
            words, known = f"number {len(self.blocks)} of a block", ends if block.is_whole else None
            answer = Answer(number, block.is_whole, words, known, real_ends=ends, block=block)
            self._answers.append(answer)
        self._note(number, NO_ROUNDING)
        return self._answers[number]

    def is_whole(self, number: int) -> bool:
        """Whether an answer is always a whole number."""
        return self._answers[number].is_whole

    def largest_of(self, number: int) -> Fraction:
        """What the size of an answer is at most."""
        low = self.tables.by_kinds(number)[0]
        ends = (low, self.largest.get(number, low))
        return Fraction(max(float(np.abs(end).max()) for end in ends)) * self.all_records

    def note_ball(self, key: Any, number: int, ball: Any) -> None:
        """An answer sums up coordinates of vectors in a ball; an answer is in one ball only."""
        if any(number in earlier.places.values() for earlier in self.balls.values()):
            return
        made = BallOfAnswers(ball.exponent, ball.radius, {})
        answers = self.balls.setdefault((key, self.bound, self.part), made)
        answers.places.setdefault(ball.place, number)

    def note_moments(self, key: Any, places: dict[tuple[int, int], int], size: Fraction) -> None:
        """Answers sum up the products of numbers of each record, the squares of which are small."""
        if self.part is None:
            self._products[key, self.bound] = SecondMoments(tuple(places.items()), size)

    def _moments(self, bound: RowBound | None) -> list[SecondMoments]:
        """What is known of sums of products over the rows of a bound."""
        return [
            replace(
                moments,
                margins=tuple((i, self.margins.get(i, Fraction(0))) for i in moments.answers),
            )
            for (_, own), moments in self._products.items()
            if own == bound
        ]

    def bound_rows(
        self, kept: Table, most: int, order: bytes = b"", *, by: bytes = b"", is_all: bool = False
    ) -> AnswerBook:
        """The same book, for sums over some rows of each user; itself where all are left."""
        if self.bound is not None and self.bound.rows <= most:
            return self
        bound = RowBound(self.bound, kept.tobytes(), most, order, by, is_all)
        if bound not in self._bounded:
            made = self._bounded[bound] = copy(self)  # which shares the lists
            made.bound = bound
        return self._bounded[bound]

    def in_groups(self) -> list[tuple[Table, AnswerBook]] | None:
        """By group its values, and the book of its rows; None where no groups are bounded.

        A sum over the first rows of each user in each group is the sum of those of the groups.
        """
        bound = self.bound
        if bound is None or not bound.by:
            return None
        earlier = copy(self)
        earlier.bound = bound.before
        return [
            (those, earlier.bound_rows(those, bound.most, bound.order)) for those in bound.groups()
        ]

    @property
    def most_rows(self) -> int | None:
        """How many rows of a user are left at most; None where that is not known."""
        bounds = (self.rows_of_user, None if self.bound is None else self.bound.rows)
        return min((bound for bound in bounds if bound is not None), default=None)

    def per_user(self, bound: Any) -> AnswerBook:
        """The same book, for sums over one number of each user (``user_totals``)."""
        if bound not in self._bounded:
            made = self._bounded[bound] = copy(self)  # which shares the lists
            made.bound = bound
        return self._bounded[bound]

    def part_records(self, part: Places | DrawnPart) -> AnswerBook | None:
        """The same book, for sums over the records at some positions; None for too many parts."""
        if part not in self._parted:
            if len(self._parted) >= MOST_PARTS:
                return None
            self._parted[part] = made = copy(self)  # which shares the lists
            made.part = part
            places = part.places if isinstance(part, DrawnPart) else part
            if places is None:
                made.has_positions = False
            else:
                made.records = len(places)
        return self._parted[part]

    def note_share(self, order: int, share: Fraction | None) -> None:
        """Learn what no record is in a random part with more than; None where that is not known."""
        earlier = self.shares.get(order, share)
        self.shares[order] = None if earlier is None or share is None else max(earlier, share)

    def at(self, places: Places) -> AnswerBook | None:
        """The same book, for sums over the records at some of its places; None as above."""
        part = self.part
        if not isinstance(part, DrawnPart):
            return self.part_records(places)
        return self.part_records(replace(part, places=places)) if type(places) is range else None

    @property
    def is_by_coins(self) -> bool:
        """Whether how many records there are is random."""
        return isinstance(self.part, DrawnPart) and self.part.places is None

    @property
    def positions(self) -> Places:
        """Those of the part, of a random order its places."""
        if isinstance(self.part, DrawnPart):
            return self.part.places or range(0)
        return range(self.all_records) if self.part is None else self.part

    def records_of(self, answer: int, dataset: NDArray[Any]) -> NDArray[Any]:
        """The records that an answer sums over, in a run at a point."""
        return take_part(dataset, self.parts[answer], self.orders)

    def value(self, number: int, counts: NDArray[np.int64]) -> Fraction:
        """The answer where so many records are of each kind that it tells apart."""
        table, _ = self.tables.by_kinds(number)
        added = np.flatnonzero((table != 0) & (counts != 0))
        entries, places = np.unique(table[added], return_inverse=True)
        times = np.zeros(len(entries), dtype=np.int64)
        np.add.at(times, places, counts[added])
        pairs = zip(entries.tolist(), times.tolist(), strict=True)
        return sum((Fraction(entry) * count for entry, count in pairs), Fraction(0))

    def extreme_values(self) -> list[int]:
        """Values of a record that add most to some answer, or take most from it."""
        numbers = range(len(self.tables))
        return sorted({value for number in numbers for value in self.tables.extremes(number)})

    def differences(self) -> Differences:
        """What a replaced record changes, or one that comes or goes."""
        size = len(self.tables)
        if len(set(self.parts)) > 1:
            boxed = self._box(range(size), self.relation)
            listed = self._changes(boxed)
            if listed is None:  # they are told apart step by step (``moves_of``)
                listed, boxed = [{}], self._find_widths(range(size), self.relation)
            moves = Differences.listed(listed, size=size).between(self.largest)
            return moves.widen_by(self.margins).widen_by(boxed)
        moves = self.differences_of(range(size), self.relation)
        return moves.with_moments(self._moments(None))

    def differences_of(self, numbers: Collection[int], relation: Relation) -> Differences:
        """Of answers of the same records, of which one changes."""
        boxed, size = self._box(numbers, relation), len(self.tables)
        rows = self._corners(set(numbers) - boxed.keys())
        if self.comes_and_goes:
            assert not rows[0]  # a sum over what is not there
            rows = rows[1:]
        if relation == "added":
            moves = Differences.of_tables(rows, relation="added", size=size)
        else:
            rows += [{}] if relation == "either" else []
            moves = Differences.of_tables(rows, size=size)
        margins = {number: by for number, by in self.margins.items() if number in numbers}
        moves = moves.between(self.largest).in_balls(find_round(self.balls))
        return moves.widen_by(margins).widen_by(boxed)

    def _box(self, numbers: Collection[int], relation: Relation) -> dict[int, Fraction]:
        """Sums of real numbers that are too many for corners: by how much a record moves each."""
        return self._find_widths(self.find_too_many(numbers), relation)

    def _find_widths(self, numbers: Iterable[int], relation: Relation) -> dict[int, Fraction]:
        """By how much a record moves each answer at most."""
        tables = {n: (self.tables[n], self.largest.get(n, self.tables[n])) for n in numbers}
        ends = {n: (low.min().item(), high.max().item()) for n, (low, high) in tables.items()}
        if relation == "added":
            return {n: max(Fraction(high), -Fraction(low)) for n, (low, high) in ends.items()}
        if relation == "either":
            ends = {n: (min(low, 0), max(high, 0)) for n, (low, high) in ends.items()}
        return {n: Fraction(high) - Fraction(low) for n, (low, high) in ends.items()}

    def find_too_many(self, numbers: Collection[int]) -> list[int]:
        """Answers of real numbers that have too many corners together: those in no ball, or all."""
        # A record is in one of many blocks.
        wide = [n for n in numbers if n in self.largest and n not in self.blocks]
        are_open = {n: self.largest[n] != self.tables[n] for n in wide}
        balls = [ball.corners(set(wide)) for ball in self.balls.values()]
        inside = {n for ball in balls for corner in ball for n in corner}
        counts = sum(
            (are_open[n] for n in wide if n not in inside), np.zeros(self.values, dtype=np.int64)
        )
        of_balls = math.prod(len(ball) for ball in balls if ball)
        corners = of_balls * float((2.0**counts).sum())
        are_few = of_balls <= _MOST_IN_BALLS
        if are_few and counts.max(initial=0) <= _MOST_WIDE and corners <= _MOST_CORNERS:
            return []
        are_few = are_few and of_balls * self.values <= _MOST_CORNERS
        return [n for n in wide if are_open[n].any() and not (are_few and n in inside)]

    @property
    def has_parts(self) -> bool:
        """Whether some answer is a sum over a part of the records."""
        return any(part is not None for part in self.parts)

    def places(self) -> list[Place]:
        """All kinds of positions, by the answers that they are in."""
        places = find_places(self.parts, self.all_records)
        if places is None:
            raise InputError(
                f"{len(self.parts):,} parts are too many to be told apart", name="data"
            )
        return places

    def vanishing(self, counts: Mapping[int, tuple[int, ...]]) -> Differences:
        """Differences where counts that become less are not looked at, as their value is gone."""
        rows = self._rows_of_kinds(range(len(self.tables)))[1]
        if self.depends_on_released:
            raise InputError("released numbers meet records beside values that may be missing")
        if len(rows) ** 2 > _MOST_LISTED:
            raise InputError(f"{len(rows):,} values of a record are too many", name="data")
        moves = {
            without_gone(subtract_moves(*pair), counts)
            for pair in permutations([tuple(row.items()) for row in rows], 2)
        }
        differences = Differences.listed([dict(move) for move in moves], size=len(self.tables))
        return differences.widen_by(self.margins)

    def _changes(self, boxed: Container[int]) -> list[dict[int, Fraction]] | None:
        """What a replaced record changes, at any position, in answers that are not boxed.

        None where these are too many to be listed, and some are of random samples.
        """
        moves: dict[Move, None] = {}
        listed, are_random = 0, self.has_samples
        places = find_places(self.parts, self.all_records) if are_random else self.places()
        most = _MOST_LISTED_IN_BALLS if self.balls and are_random else _MOST_LISTED
        for place in () if places is None else places:
            numbers = [number for number in place.answers if number not in boxed]
            rows = dict.fromkeys(tuple(row.items()) for row in self._corners(numbers))
            alone = {number for row in rows for number, _ in row}
            if len(alone) == 1 and len(rows) > _FEW_ROWS:
                steps = steps_of_one(alone.pop(), rows)
                moves.update(dict.fromkeys(steps))
                listed += len(steps)
                continue
            listed += len(rows) ** 2
            if listed > most and are_random:
                return None
            if listed > most:
                raise InputError(
                    f"changes of records with {len(rows):,} values in different parts are too many "
                    f"to be listed",
                    name="data",
                )
            moves.update(dict.fromkeys(subtract_moves(*pair) for pair in permutations(rows, 2)))
        return None if places is None else [dict(move) for move in moves]

    def differences_of_users(
        self, most: int
    ) -> tuple[ManyDifferences, tuple[RowBound | None, ...]]:
        """What the rows of one user change, at most ``most`` of them; the bound of each part.

        Rows that differently bounded sums are of may be different ones (tables, B5).
        """
        size, parts = len(self.tables), []
        boxed = self._box(range(size), self.relation)
        relation: Any = self.relation
        bounds = tuple(dict.fromkeys(self.bounds))
        for bound in bounds:
            numbers = {n for n, other in enumerate(self.bounds) if other == bound}
            steps = self._whole_steps(numbers)
            if steps is not None:
                parts.append(steps)
                continue
            own = {n: by for n, by in boxed.items() if n in numbers}
            rows = self._corners(numbers - own.keys())
            assert not rows[0]  # a sum over what is not there
            times = most if bound is None else min(most, bound.rows)
            kept = rows[1:] if self.comes_and_goes else rows
            part = Differences.of_tables(kept, relation=relation, size=size)
            part = part.between(self.largest).in_balls(find_round(self.balls)).widen_by(own)
            part = part.with_moments(self._moments(bound))
            parts.append((times, part))
        if any(self.margins.values()):
            nothing = Differences.listed([{}], size=size)
            parts.append((1, nothing.widen_by(self.margins)))
            bounds = (*bounds, None)
        return ManyDifferences(size, tuple(parts)), bounds

    def _whole_steps(self, numbers: set[int]) -> tuple[int, Differences] | None:
        """Of one whole number between two ends: steps of 1, by how many it changes at most."""
        [number, *others] = numbers
        if others or number not in self.largest or not self._answers[number].is_whole:
            return None
        low, high = int(self.tables[number].min()), int(self.largest[number].max())
        times = max(-low, high) if self.comes_and_goes else high - low
        return times, Differences.listed([{number: 1}], size=len(self.tables))

    def _corners(self, numbers: Iterable[int]) -> list[dict[int, Fraction]]:
        """What records of all kinds add, and the other corners of the boxes that it lies in."""
        own = sorted(numbers)
        wide = sorted(set(own) & self.largest.keys())
        kinds, rows = self._rows_of_kinds(own)
        vertices = list(rows)
        for place, (value, row) in enumerate(zip(kinds, rows, strict=True)):
            open_ones = [n for n in wide if self.largest[n][value] != self.tables[n][value]]
            there = {n for n in wide if n in row or n in open_ones}
            balls = [ball.corners(there) for ball in self.balls.values()]
            balls = [ball for ball in balls if ball]
            inside = {n for ball in balls for corner in ball for n in corner}
            others = [n for n in open_ones if n not in inside]
            count = 2 ** len(others) * math.prod(map(len, balls))
            if len(others) > _MOST_WIDE or len(vertices) + count > _MOST_CORNERS:
                raise InputError(
                    f"sums of {len(open_ones)} real numbers of one row are too many to be bounded "
                    f"together",
                    name="columns",
                )
            base = {n: by for n, by in row.items() if n not in inside}
            if balls:
                vertices[place] = base
            for chosen in product((False, True), repeat=len(others)):
                ends = {
                    n: Fraction(self.largest[n][value].item())
                    for n, is_high in zip(others, chosen, strict=True)
                    if is_high
                }
                for corners in product(*balls):
                    made = base | ends
                    for corner in corners:
                        made |= corner
                    if ends or balls:
                        vertices.append({n: by for n, by in made.items() if by})
        return vertices

    def _rows_of_kinds(self, numbers: Sequence[int]) -> tuple[list[int], list[dict[int, Fraction]]]:
        """The first value of each kind (``find_kinds``) in these answers, and what it adds."""
        first = int(self.comes_and_goes)
        ends = [self.largest[number] for number in numbers if number in self.largest]
        kinds = [*range(first), *self._first_of_kinds(numbers, ends, first)]
        return kinds, rows_at(self.tables, numbers, kinds)

    def _first_of_kinds(
        self, numbers: Sequence[int], ends: Sequence[Table] = (), first: int = 0
    ) -> list[int]:
        """The values from a first one on that ``find_kinds`` finds of answers and more tables."""
        marginals = None if ends else self.marginals
        tables, values = self.tables.together(numbers, marginals, self.values)
        there = find_kinds((table[first:] for table in [*tables, *ends]), len(values) - first)
        return [int(value) for value in values[first:][there]]

    def rows_of(self, numbers: Iterable[int] | None = None) -> list[dict[int, Fraction]]:
        """What a record of each value adds to the answers, or to those with these numbers."""
        own = range(len(self.tables)) if numbers is None else numbers
        return rows_at(self.tables, own, range(self.values))

    def contributions(
        self, factors: dict[int, Fraction], *, with_all: bool = True
    ) -> dict[int, Fraction]:
        """By value of a record, of all or of two that add the same: what one adds to this sum."""
        return sums_of_values(self.tables, factors, self.values, with_all=with_all)

    def change_of_move(self, move: Move) -> tuple[int, int, int] | None:
        """A position, and two values of its record of which the second adds so much more."""
        if not self.has_parts:
            return self._change_at(Place(0, tuple(range(len(self.tables)))), move)
        every = (self._change_at(place, move) for place in self.places())
        return next((change for change in every if change is not None), None)

    def _change_at(self, place: Place, move: Move) -> tuple[int, int, int] | None:
        places = self._look_up(place.answers)
        for row, value in [*places.items()][: 1 if self.comes_and_goes else None]:
            added = dict(row)
            for answer, step in move:
                added[answer] = added.get(answer, Fraction(0)) + step
            other = tuple(sorted((answer, amount) for answer, amount in added.items() if amount))
            if places.get(other, value) != value:
                return place.position, value, places[other]
        return None

    def _look_up(self, numbers: tuple[int, ...]) -> dict[Move, int]:
        """What a record adds to these answers, and the first value that adds so, in order."""
        # Tables are never changed.
        if numbers not in self._rows:
            kinds = self._first_of_kinds(numbers)
            rows = rows_at(self.tables, numbers, kinds)
            moves = (tuple(sorted(row.items())) for row in rows)
            self._rows[numbers] = dict(zip(moves, kinds, strict=True))
        return self._rows[numbers]
