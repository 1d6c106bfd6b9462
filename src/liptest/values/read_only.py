"""Arrays of symbolic numbers that a program gets, and may not write into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from liptest.values.array import CellStorage, SymbolicArray


class ReadOnlyCells(CellStorage):
    """Cells that cannot be written, nor their views."""

    __slots__ = ()

    def moved(self, move: Any) -> Any:
        moved = super().moved(move)
        if type(moved) is CellStorage and np.may_share_memory(moved.cells(), self._cells):
            return ReadOnlyCells(moved.branching, moved.cells(), moved.dtype)
        return moved

    def write(self, index: Any, value: Any) -> None:
        SymbolicArray(self).refuse("a write into data")

    def shares_memory(self, other: Any) -> bool:
        return False

    def entries(self) -> Iterator[Any] | None:
        return (cell.entry() for cell in self._cells) if self._cells.ndim == 1 else None
