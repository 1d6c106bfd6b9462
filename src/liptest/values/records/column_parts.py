"""Columns of parts of the records: at positions that are told, in a random order, by coins."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.chosen_places import read_mask
from liptest.values.draws.drawn_order import DrawnOrder
from liptest.values.records.record_parts import DrawnPart, Places, find_part, positions_at
from liptest.values.records.record_storage import RecordStorage


class ColumnInParts(RecordStorage):
    """A column of which parts are columns, too (docs/theory/size.md, S9 and S11)."""

    __slots__ = ()

    is_in_parts = True
    #: Its book, and whether its entries are not next to each other in memory.
    answers: Any
    is_strided: Any

    @property
    def is_selection(self) -> bool:
        """Whether it has some records only, by their values."""
        raise NotImplementedError

    def in_book(self, book: Any) -> Self:
        """The same entries of the records of a part, to read."""
        raise NotImplementedError

    def whole_view(self) -> Self:
        """All of it, with the same memory."""
        raise NotImplementedError

    def refuse_length(self) -> None:
        """Refuse to tell how many records there are, where that is random."""
        if self.answers.is_by_coins:
            self.refuse("how many records a random selection has", "divide by a constant instead")

    def refuse_places(self) -> None:
        """Refuse to look at places, where it is random which records have them."""
        if self.answers.is_by_coins:
            self.refuse("places in a random selection", "sum or count all that is selected")

    def read_length(self) -> int:
        """How many records there are, which is public."""
        self.refuse_length()
        return self.answers.read_length()  # type: ignore[no-any-return]

    def find_part(self, index: Any) -> Self | None:
        """The records at an index that tells no values; None for all else."""
        mask = read_mask(index)
        if mask is not None:
            return self._choose_by_coins(mask)
        if type(index) is DrawnOrder:
            return self._draw_part(index)
        if type(index) is slice and index != slice(None):
            return self.part_at(self.positions_of(index))
        if type(index) in (np.ndarray, list):
            return self._copy_at(index)
        return None

    def take_rows(self, rows: Any, index: tuple[Any, ...]) -> Any:
        """``rows[those, places]``, of the rows that it is a column of."""
        first, *rest = index
        are_plain = all(type(place) is slice or type(place) is int for place in rest)
        if type(first) is int or not are_plain:
            return self.refuse("an index")
        return SymbolicArray(rows)[first][:, *rest]

    def positions_of(self, index: slice) -> Places | None:
        """Positions of a slice, of all records or of this part of them."""
        self.refuse_places()
        try:
            positions: Places = self.answers.positions[index]
            return positions
        except Exception:  # NumPy has its own words for it
            return self.refuse("an index")  # type: ignore[no-any-return]

    def in_part(self, part: ColumnInParts) -> Self:
        """The same entries of those records that another column is of."""
        column = self.in_book(part.answers)
        column.is_strided = part.is_strided
        return column

    def copy_entries(self) -> None:
        """Let its entries be in a memory of their own, to read."""

    def _copy_at(self, index: Any) -> Self:
        """The records at the places of an array, or of truths, that the program names."""
        self.refuse_places()
        positions = positions_at(np.asarray(self.answers.positions), index)
        places = find_part(positions)
        if places is None and positions.ndim == 1 and positions.size:
            self.refuse(
                "a use that looks at single records, one of them twice",
                "take each once, or weigh them by public numbers: np.dot(times, data)",
            )
        part = self.part_at(places)
        part.copy_entries()
        return part

    def part_at(self, positions: Places | None) -> Self:
        """The records at these positions, to read."""
        book = self.answers
        if self.is_selection:
            self.refuse("positions in a selection")
        if positions == book.positions:
            return self.whole_view()
        if not book.has_positions:
            self.refuse("a use that looks at single records")
        return self._of_part(book.at(positions) if positions else None)

    def _of_part(self, book: Any) -> Self:
        if book is None:
            return self.refuse("a use that looks at single records")  # type: ignore[no-any-return]
        if not book.is_by_coins:
            book.read_length()
        column = self.in_book(book)
        column.is_strided = self.is_strided or abs(book.positions.step) != 1
        return column

    def shape_seen(self) -> tuple[Any, ...]:
        return (self.count(), *self.shape_of_record) if self.is_selection else self.shape

    @property
    def shape_of_record(self) -> tuple[int, ...]:
        """Of the numbers of one record."""
        return ()

    def count(self) -> Any:
        """How many records there are."""
        raise NotImplementedError

    def is_whole(self) -> bool:
        """Whether it is of all records, of which the program knows how many there are."""
        book = self.answers
        return book.part is None and book.has_positions and not self.is_selection

    def _draw_part(self, order: DrawnOrder) -> Self:
        """The records at the places of a random order."""
        book = self.answers
        if not self.is_whole() or order.total > book.records or not len(order):
            self.refuse("a random order of some of the records")
        if order.positions is not None:
            book.orders[order.number] = order.positions
        return self._of_part(book.part_records(DrawnPart(order.number, order.length, order.places)))

    def _choose_by_coins(self, mask: SymbolicArray) -> Self | None:
        """The records of which coins that are tossed without the data say that they are in."""
        book, coins = self.answers, mask.storage.coins()
        if coins is None or not self.is_whole() or mask.shape != (book.records,):
            return None
        run: Any = self.branching.noise
        number = run.order_of(coins.key)
        book.note_share(number, coins.find_share())
        for dependent in run.coins.add(number, coins):
            book.note_share(dependent, None)
        if run.point is not None:
            book.orders[number] = np.flatnonzero(coins.draw(run.rng))
        return self._of_part(book.part_records(DrawnPart(number, book.records, None)))
