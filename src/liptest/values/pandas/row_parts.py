"""``frame.iloc[i:i + k]``: rows that stand together, as slices of arrays are (theory, size, S9)."""

from __future__ import annotations

from typing import Any

from liptest.values.pandas.of_pandas import OfPandas, PartOfPandas


class HasPlaces(OfPandas):
    """What has rows in an order, of which a part may be taken by constant places.

    Parts of other rows do not meet: pandas would look for rows with the same index.
    """

    __slots__ = ()

    @property
    def iloc(self) -> Any:
        """Rows by their places."""
        return RowsByPlace(self)

    def part(self, places: slice) -> Any:
        """The rows at some places."""
        return self.refuse("an index")

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
        if not is_constant_slice(key):
            return self.refuse(".iloc of anything but a slice with constant ends")
        return self._of.part(key)


def is_constant_slice(key: Any) -> bool:
    """Whether an index is a slice whose ends are constant."""
    return type(key) is slice and all(
        end is None or type(end) is int for end in (key.start, key.stop, key.step)
    )
