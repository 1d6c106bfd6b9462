"""Parts of the records: slices and blocks, which positions choose and the data do not.

A sum over a part changes only where a record of the part changes. So neighbours that differ at one
position move just the answers whose parts hold it (docs/theory/size.md, S9).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Positions of records; None for all.
Part = range | None
#: Answers of parts, and kinds of positions, that are told apart at most.
MOST_PARTS = 4096
# Positions that are looked at one by one, times parts, where a part leaves some out between.
_MOST_LOOKED_AT = 20_000_000


@dataclass(frozen=True)
class Place:
    """Positions that are in the same parts: one of them, and the answers that it is in."""

    position: int
    answers: tuple[int, ...]


def places_of(parts: Sequence[Part], records: int) -> list[Place] | None:
    """All kinds of positions, each once; None where there are too many to tell apart.

    Parameters
    ----------
    parts
        By answer, the positions that it sums over.
    records
        How many positions there are.
    """
    some = list(dict.fromkeys(one for one in parts if one is not None))
    if len(some) > MOST_PARTS:
        return None
    if all(abs(one.step) == 1 for one in some):
        cuts = {0, records, *(end for one in some for end in _ends(one))}
        looked_at = [low for low, high in pairwise(sorted(cuts)) if low < high]
    elif records * len(some) <= _MOST_LOOKED_AT:
        looked_at = _distinct(some, records)
    else:
        return None
    found: dict[tuple[int, ...], int] = {}
    for position in looked_at:
        answers = tuple(n for n, one in enumerate(parts) if one is None or position in one)
        found.setdefault(answers, position)
    return [Place(position, answers) for answers, position in found.items()]


def _ends(part: range) -> tuple[int, int]:
    return min(part), max(part) + 1


def _distinct(parts: Iterable[range], records: int) -> list[int]:
    """One position of each kind, the first."""
    kind = np.zeros(records, dtype=np.int64)
    for part in parts:
        inside = np.zeros(records, dtype=np.int64)
        inside[np.asarray(part)] = 1
        _, kind = np.unique(2 * kind + inside, return_inverse=True)
    _, first = np.unique(kind, return_index=True)
    return [int(one) for one in np.sort(first)]


def line_of(positions: NDArray[Any]) -> range | None:
    """Positions as a range; None where steps differ, or there are none."""
    if positions.ndim != 1 or not len(positions):
        return None
    start = int(positions[0])
    step = int(positions[1]) - start if len(positions) > 1 else 1
    found = range(start, start + step * len(positions), step) if step else None
    return found if found is not None and np.array_equal(positions, np.asarray(found)) else None
