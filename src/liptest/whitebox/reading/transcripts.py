"""Which datasets share a law, because a function reads the same of them (docs/theory/readings.md).

The first thing that a function reads is the same on every dataset; the second depends on the first
answer, and so on: a tree of reads and answers with a law at each leaf. Places in the tree are
hashes of the answers that lead there, so no dataset is kept.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from liptest.errors import NonDeterministicError
from liptest.whitebox.reading.reads import Read, answer, state_after

_ROOT = b"\0"


# Places that are kept; beyond it the tree is grown anew.
_MOST = 1 << 18


class Transcripts:
    """The reads of one function on all datasets seen so far."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next: dict[bytes, Read] = {}

    def place_of(self, dataset: NDArray[Any]) -> bytes:
        """Where a dataset leads: to a leaf, or to a place from which nothing is known yet."""
        place = _ROOT
        while (read := self._next.get(place)) is not None:
            place = state_after(place, read, answer(dataset, read))
        return place

    def reads_of(self, dataset: NDArray[Any]) -> list[Read]:
        """All that is known to be read of a dataset, in the order of first reading."""
        reads, place = [], _ROOT
        while (read := self._next.get(place)) is not None:
            reads.append(read)
            place = state_after(place, read, answer(dataset, read))
        return reads

    def add(self, known: dict[Read, Any]) -> bytes:
        """Grow the tree by the reads of one law; returns their leaf.

        Raises NonDeterministicError when the function read something else before, after the same
        answers.
        """
        if len(self._next) > _MOST:
            self._next.clear()
        place = _ROOT
        for read, found in known.items():
            if self._next.setdefault(place, read) != read:
                raise self._changed()
            place = state_after(place, read, found)
        if place in self._next:
            raise self._changed()
        return place

    def _changed(self) -> NonDeterministicError:
        return NonDeterministicError(
            f"{self._name}: non-deterministic: after the same answers it read something else of "
            f"its dataset than before; it may keep no state between calls"
        )
