"""Random orders and samples of positions: ``rng.permutation(n)``, ``rng.choice(n, k, False)``.

An order that is drawn without the data stays unknown: each record is at one place of the order, or
at none (docs/theory/size.md, S9). It is followed as an index of all records; a slice of it is the
same order at fewer places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.values.opaque_arrays import OpaqueArray


class DrawnOrder(OpaqueArray):
    """Positions in a random order.

    Parameters
    ----------
    branching
        The analysis.
    number
        Which order of its run it is.
    total
        The positions are below it.
    length
        How many were drawn.
    places
        Places in the order, which are those of a slice of it.
    positions
        What was drawn, (length,), in a run at a point.
    """

    __slots__ = ("branching", "length", "number", "places", "positions", "total")

    described = described_in_arrays = "a random order"
    advice = "use it, or slices of it, as an index of all records: data[order[:k]]"
    dtype = np.dtype(np.int64)
    ndim = 1

    def __init__(
        self,
        branching: Branching,
        number: int,
        total: int,
        length: int,
        positions: NDArray[Any] | None,
        places: range | None = None,
    ) -> None:
        self.branching = branching
        self.number = number
        self.total = total
        self.length = length
        self.positions = positions
        self.places = range(length) if places is None else places

    @property
    def shape(self) -> tuple[int]:
        """The length of the only axis."""
        return (len(self.places),)

    @property
    def size(self) -> int:
        """How many entries the array has."""
        return len(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def tolist(self) -> DrawnOrder:
        """A list of the same places, which is the same as an index."""
        return self

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not slice:
            self.refuse("an index")
        parts = self.branching, self.number, self.total, self.length, self.positions
        return DrawnOrder(*parts, self.places[index])
