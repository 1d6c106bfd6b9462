"""What random bits choose, such as the places of those that are 1, until the bits are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import CellStorage, Move, Storage, SymbolicArray, as_cells


class Chosen(Storage):
    """What bits choose; plain as soon as something else is done than what is known here."""

    __slots__ = ("_plain", "mask")

    is_discrete = True

    def __init__(self, mask: SymbolicArray, dtype: Any) -> None:
        self.branching = mask.branching
        self.dtype = np.dtype(dtype)
        self.mask = mask
        self._plain: CellStorage | None = None

    @property
    def is_open(self) -> bool:
        """Whether no bit was looked at for it."""
        return self._plain is None

    def made_of(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        """What it is where the bits are known."""
        raise NotImplementedError

    def looked_at(self) -> CellStorage:
        """The plain entries, after looking at all bits."""
        if self._plain is None:
            made = self.made_of(self.mask.concretise("a random selection"))
            self._plain = CellStorage(self.branching, as_cells(made), self.dtype)
        return self._plain

    @property
    def shape(self) -> tuple[int, ...]:
        return self.looked_at().shape

    def cells(self) -> NDArray[Any]:
        return self.looked_at().cells()

    def moved(self, move: Move) -> Any:
        return self.looked_at().moved(move)

    def write(self, index: Any, value: Any) -> None:
        self.looked_at().write(index, value)

    def shares_memory(self, other: Storage) -> bool:
        return self._plain is not None and self._plain.shares_memory(other)

    def copied(self, order: Any) -> Any:
        return self.looked_at().copied(order)


class ChosenPlaces(Chosen):
    """The places of the bits that are 1: ``numpy.flatnonzero(mask)``."""

    __slots__ = ()

    def __init__(self, mask: SymbolicArray) -> None:
        super().__init__(mask, np.int64)

    def made_of(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        return np.flatnonzero(mask)


def read_mask(index: Any) -> SymbolicArray | None:
    """The random bits that an index is, or that it has the places of; None for all else."""
    if type(index) is not SymbolicArray:
        return None
    storage = index.storage
    if type(storage) is ChosenPlaces:
        return storage.mask if storage.is_open else None
    if storage.dtype != np.bool_ or storage.coins() is None or len(storage.shape) != 1:
        return None
    return index.copy()  # type: ignore[no-any-return]


def is_sample(index: Any) -> bool:
    """Whether an index is random bits themselves."""
    return read_mask(index) is not None and index.dtype == np.bool_


def find_bit_places(array: Any) -> SymbolicArray | None:
    """``numpy.flatnonzero`` of random bits; None for all else."""
    mask = read_mask(array)
    return None if mask is None else SymbolicArray(ChosenPlaces(mask))
