"""Rows by their places: parts that constants tell, and samples that random numbers choose."""

from __future__ import annotations

from typing import Any

import numpy as np

from liptest.values.chosen_places import read_mask
from liptest.values.draws.drawn_order import DrawnOrder
from liptest.values.pandas.of_pandas import OfPandas, PartOfPandas

# Kept: while a program is analysed the name may stand for something else.
_GENERATOR = np.random.Generator


class HasPlaces(OfPandas):
    """What has rows in an order, of which constant places tell a part (theory, size, S9).

    Parts of other rows do not meet: pandas would look for rows with the same index.
    """

    __slots__ = ()

    @property
    def iloc(self) -> Any:
        """Rows by their places."""
        return RowsByPlace(self)

    def part(self, places: Any) -> Any:
        """The rows at some places."""
        return self.refuse("an index")

    def sample(
        self, n: Any = None, frac: Any = None, *, replace: Any = False, random_state: Any = None
    ) -> Any:
        """So many rows, in a random order: of a number of rows that is public."""
        length = len(self)
        if type(length) is not int or replace is not False or (n is None) == (frac is None):
            return self.refuse(".sample with these arguments")
        if random_state is not None and not isinstance(random_state, _GENERATOR):
            return self.refuse(".sample with a seed")
        # As pandas says how many rows there are, and draws them.
        size = round(frac * length) if type(frac) in (int, float) else n
        if type(size) is not int or not 0 <= size <= length:
            return self.refuse(".sample of another number of rows")
        source: Any = np.random if random_state is None else random_state
        return self.part(source.choice(length, size=size, replace=False, p=None))

    def is_whole(self) -> bool:
        """Whether these are all rows of the table, in their order."""
        return False

    def reset_index(self, *, drop: Any = False) -> Any:
        """The same rows: those of the whole table have 0, 1, .. as index."""
        if drop is not True or not self.is_whole():
            advice = "leave it out: rows are summed up and counted without their index"
            return self.refuse(".reset_index", advice)
        return self.part(slice(None))

    def head(self, n: int = 5) -> Any:
        """The first rows; of a negative number all but so many of the last."""
        return self.iloc[:n]

    def tail(self, n: int = 5) -> Any:
        """The last rows; of a negative number all but so many of the first."""
        return self.iloc[-n:] if n else self.iloc[:0]


class RowsByPlace(PartOfPandas):
    """``.iloc`` of a frame or a series."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if type(key) is tuple and len(key) == 2 and self._of.has_columns:
            rows, place = key
            if type(place) is int and is_constant_slice(rows):
                frame = self._of if rows == slice(None) else self._of.part(rows)
                return frame[list(frame.columns)[place]]
        are_random = read_mask(key) is not None or type(key) is DrawnOrder
        if not are_random and not is_constant_slice(key):
            return self.refuse(".iloc of anything but a slice with constant ends")
        return self._of.part(key)


def is_constant_slice(key: Any) -> bool:
    """Whether an index is a slice whose ends are constant."""
    return type(key) is slice and all(
        end is None or type(end) is int for end in (key.start, key.stop, key.step)
    )
