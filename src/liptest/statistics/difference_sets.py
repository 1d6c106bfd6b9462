"""Edges of a whole-number statistic, grouped by the difference of their two values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from liptest.data.domains import Domain

# Bytes that the sets of all differences may take together.
_MOST_BYTES = 1 << 29


@dataclass(frozen=True)
class DifferenceSets:
    """All edges of a statistic whose values are ``base + unit * position``.

    Parameters
    ----------
    base, unit
        What turns a position, 0 .. top, into a value; unit is above 0.
    top
        No position is above it.
    reached
        Bit p is 1 when some dataset has the value at position p.
    lower
        For each difference of positions, above 0, the set of the smaller positions of its edges.
    """

    base: int
    unit: int
    top: int
    reached: int
    lower: dict[int, int]

    @property
    def edges(self) -> int:
        """Number of edges."""
        return sum(bits.bit_count() for bits in self.lower.values())

    @property
    def values(self) -> int:
        """Number of values that datasets have."""
        return self.reached.bit_count()


@runtime_checkable
class HasDifferences(Protocol):
    """A statistic that knows its edges by difference, however many there are."""

    def difference_sets(self, domain: Domain) -> DifferenceSets | None:
        """The edges by difference; None where the sets would not fit into memory."""
        ...


def fits(differences: int, top: int) -> bool:
    """Whether sets of positions up to ``top`` for so many differences fit into memory."""
    return (differences + 2) * (top // 8 + 1) <= _MOST_BYTES
