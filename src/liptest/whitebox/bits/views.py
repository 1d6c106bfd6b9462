"""What an array of entries of 0/1 variables shares with its views, and how it is moved about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy
from liptest.whitebox.bits.tables import Entries
from liptest.whitebox.bits.variables import Bits
from liptest.whitebox.ducks import Duck


class Store:
    """The entries that an array and its views have in common."""

    __slots__ = ("entries",)

    def __init__(self, entries: Entries) -> None:
        self.entries = entries


@dataclass(frozen=True, eq=False)
class Born:
    """Entries as they were drawn, for a run with real numbers in their place."""

    bits: Bits
    entries: Entries

    def concrete(self, point_in: Callable[[int, int], int]) -> NDArray[Any]:
        """A plain array that it may be, of bits that ``point_in(start, stop)`` chooses."""
        return self.entries.given(self.bits.sample(point_in)).model()


class BitView(Duck):
    """``places`` are those of its entries in the store, in line; None for all."""

    __slots__ = ("_bits", "_places", "_store")

    _looks_like = np.ndarray
    __hash__ = Duck.__hash__

    def __init__(self, bits: Bits, store: Store, places: NDArray[np.int64] | None = None) -> None:
        self._tree = bits.tree
        self._bits = bits
        self._store = store
        self._places = places

    @property
    def entries(self) -> Entries:
        """With all that is known by now."""
        found = self._store.entries
        return self._bits.current(found if self._places is None else found.flat().at(self._places))

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return self._store.entries.shape if self._places is None else self._places.shape

    @property
    def ndim(self) -> int:
        """As of an array."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """As of an array."""
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> Any:
        """As of an array."""
        return self._store.entries.table.dtype

    @property
    def itemsize(self) -> int:
        """As of an array."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """As of an array."""
        return self.itemsize * self.size

    @property
    def T(self) -> Self:
        """The same entries, transposed."""
        return self._seen(self._all_places().T)

    @property
    def real(self) -> Any:
        """The entries themselves, of which none is complex."""
        return self.settled(".real").real if self.dtype.kind == "c" else self

    def _all_places(self) -> NDArray[np.int64]:
        if self._places is None:
            return np.arange(self.size).reshape(self.shape)
        return self._places

    def _seen(self, places: NDArray[np.int64]) -> Self:
        """Entries of the same store: a view."""
        return type(self)(self._bits, self._store, places)

    def _moved(self, move: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Self:
        """A view or a copy, whichever NumPy makes of an array."""
        places = self._all_places()
        found = move(places)
        return self._seen(found) if np.may_share_memory(found, places) else self._seen(found).copy()

    def as_born(self) -> Born:
        """What stays of it whatever is done to it."""
        return Born(self._bits, self.entries)

    def copy(self, order: str = "C") -> Self:
        """Another array of the same entries."""
        return type(self)(self._bits, Store(self.entries))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    @raises_as_numpy
    def reshape(self, *shape: Any, **options: Any) -> Self:
        """The same entries in another shape."""
        return self._moved(lambda places: places.reshape(*shape, **options))

    def ravel(self, *order: Any) -> Self:
        """The same entries in one line."""
        return self._moved(lambda places: places.ravel(*order))

    def flatten(self, *order: Any) -> Self:
        """A copy in one line."""
        return self.ravel(*order).copy()

    @raises_as_numpy
    def transpose(self, *axes: Any) -> Self:
        """The same entries with their axes in another order."""
        return self._moved(lambda places: places.transpose(*axes))

    @raises_as_numpy
    def swapaxes(self, one: int, other: int) -> Self:
        """The same entries with two axes exchanged."""
        return self._moved(lambda places: places.swapaxes(one, other))

    @raises_as_numpy
    def squeeze(self, axis: Any = None) -> Self:
        """The same entries without axes of length 1."""
        return self._moved(lambda places: places.squeeze(axis))
