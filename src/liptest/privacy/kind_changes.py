"""Which records a statistic treats alike, and the changes of a few that stand for those of all.

Let two records be of one *kind* when exchanging their values leaves the statistic as it is. In a
dataset all records of one kind and one value then have the same neighbours as the mechanism sees
them, and one of them stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain, Hypercube, IntArray, RecordGrid
from liptest.mechanisms.base import Mechanism

Indices = NDArray[np.int64]

# Domains with fewer neighbours are compared neighbour by neighbour.
_MANY = 1 << 10


@runtime_checkable
class HasKinds(Protocol):
    """A statistic that knows which records it treats alike."""

    def kinds(self, domain: Domain) -> Indices:
        """(d,) the kind of each record, numbered from 0; exchanging two of one kind is not seen."""
        ...


def few_kinds(mechanism: Mechanism, domain: Domain) -> Indices | None:
    """(d,) kind of each record, where comparing one of each kind and value saves most of the work.

    Mechanisms that merely happened to read no more than a statistic are asked on all neighbours.
    """
    statistic = mechanism.statistic
    if not isinstance(statistic, HasKinds) or not says_itself(statistic, "kinds"):
        return None
    if getattr(mechanism, "reads_only", False) or not isinstance(domain, (Hypercube, RecordGrid)):
        return None
    neighbours, widest = neighbours_of(domain), max(domain.sizes)
    if neighbours < _MANY:
        return None
    kinds = statistic.kinds(domain)
    few = 2 * (int(kinds.max()) + 1) * widest * (widest - 1) <= neighbours
    return kinds if few else None


def says_itself(statistic: object, method: str) -> bool:
    """Whether a method is about the statistic's own values, not those of a class it inherits."""
    named = ({"values", method} & vars(one).keys() for one in type(statistic).__mro__)
    return method in next((names for names in named if names), ())


def neighbours_of(domain: Domain) -> int:
    """Number of neighbours of a dataset whose records are replaced."""
    return int((domain.size_array - 1).sum())


@dataclass(frozen=True, eq=False)
class KindChanges:
    """One changed copy of a dataset for each kind, value and other value.

    Parameters
    ----------
    kinds
        (d,) kind of each record.
    places, others
        (k,) each: a change of kind and value ``places[j]``, a number ``kind * widest + value``,
        to the value ``others[j]``; ``places`` ascend.
    widest
        Most values of a record.
    """

    kinds: Indices
    places: Indices
    others: Indices
    widest: int

    @classmethod
    def of(cls, domain: Domain, kinds: Indices) -> KindChanges:
        """The changes that stand for all of a domain."""
        widest = max(domain.sizes)
        sizes = np.zeros(int(kinds.max()) + 1, dtype=np.int64)
        sizes[kinds] = domain.size_array
        values = np.arange(widest)
        inside = values < sizes[:, None]
        changes = inside[:, :, None] & inside[:, None, :] & (values[:, None] != values)
        kind, value, other = np.nonzero(changes)
        return cls(kinds, kind * widest + value, other, widest)

    @property
    def cells(self) -> int:
        """Number of kinds times the most values of a record."""
        return (int(self.kinds.max()) + 1) * self.widest

    @property
    def targets(self) -> Indices:
        """(k,) where each change leads to, as ``places``."""
        return self.places // self.widest * self.widest + self.others

    def __len__(self) -> int:
        """The most that a dataset has."""
        return len(self.others)

    def neighbour_changes(self, points: IntArray) -> tuple[Indices, Indices, Indices]:
        """Rows, coordinates and values, (m,) each, as those of a domain but one for many."""
        held = np.full((len(points), self.cells), -1)
        codes = self.kinds * self.widest + points
        np.put_along_axis(held, codes, np.arange(points.shape[1])[None, :], axis=1)
        changed = held[:, self.places]
        rows, which = np.nonzero(changed >= 0)
        return rows, changed[rows, which], self.others[which]
