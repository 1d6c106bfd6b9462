"""Parts of the records: slices and blocks, which positions choose and the data do not.

A sum over a part changes only where a record of the part changes. So neighbours that differ at one
position move just the answers whose parts hold it (docs/theory/size.md, S9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.errors import UnsupportedRandomnessError
from liptest.values.faults import raises_as_numpy


@dataclass(frozen=True)
class DrawnPart:
    """Records at places of an order that was drawn without the data, each at one place or at none.

    Parameters
    ----------
    order
        Its number.
    length
        How many places it has.
    places
        Those of the part; None where a coin of its own says of each record whether it is in it.
    """

    order: int
    length: int
    places: range | None


@dataclass(frozen=True)
class ListedPlaces:
    """Different positions in any order, as a range has them in line; at least one."""

    #: Whole numbers of 8 bytes.
    data: bytes
    #: They are not next to each other.
    step: ClassVar[int] = 2

    @classmethod
    def of(cls, positions: NDArray[Any]) -> ListedPlaces | None:
        """None where a record would count twice, or there is none."""
        if positions.ndim != 1 or not len(positions):
            return None
        is_once = len(np.unique(positions)) == len(positions)
        return cls(positions.astype(np.int64).tobytes()) if is_once else None

    @cached_property
    def _places(self) -> frozenset[int]:
        return frozenset(np.asarray(self).tolist())

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.frombuffer(self.data, np.int64)

    def __len__(self) -> int:
        return len(self.data) // 8

    def __contains__(self, position: int) -> bool:
        return position in self._places

    def __getitem__(self, index: slice) -> ListedPlaces | range:
        chosen = np.asarray(self)[index]
        return ListedPlaces.of(chosen) or range(0)


#: Positions that are looked at, of all records or of an order.
Places = range | ListedPlaces
#: Positions of records; None for all.
Part = Places | DrawnPart | None
#: Answers of parts, and kinds of positions, that are told apart at most.
MOST_PARTS = 4096
# Positions that are looked at one by one, times parts, where a part leaves some out between.
_MOST_LOOKED_AT = 20_000_000
# Kinds of positions of records in random orders.
_MOST_KINDS = 10_000


@dataclass(frozen=True)
class Place:
    """Positions that are in the same parts: one of them, and the answers that it is in."""

    position: int
    answers: tuple[int, ...]


def find_places(parts: Sequence[Part], records: int) -> list[Place] | None:
    """All kinds of positions, each once; None where there are too many to tell apart.

    Parameters
    ----------
    parts
        By answer, the positions that it sums over.
    records
        How many positions there are.
    """
    fixed: list[Places | None]
    fixed = [range(0) if isinstance(part, DrawnPart) else part for part in parts]
    places = _find_fixed_places(fixed, records)
    for order in dict.fromkeys(part.order for part in parts if isinstance(part, DrawnPart)):
        kinds = _kinds_in_order(
            [
                part if isinstance(part, DrawnPart) and part.order == order else None
                for part in parts
            ],
            records,
        )
        if places is None or kinds is None or len(places) * len(kinds) > _MOST_KINDS:
            return None
        places = [
            Place(place.position, tuple(sorted((*place.answers, *more))))
            for place in places
            for more in kinds
        ]
    return places


def _kinds_in_order(
    parts: Sequence[DrawnPart | None], records: int
) -> list[tuple[int, ...]] | None:
    """The answers that a record may be in by its place in one order."""
    numbers = [number for number, part in enumerate(parts) if part is not None]
    some = [part for part in parts if part is not None]
    ranges = [part.places for part in some if part.places is not None]
    if not ranges:
        return [(), tuple(numbers)]
    assert len(ranges) == len(some)  # an order has places, or coins
    inside = _find_fixed_places(ranges, some[0].length)
    if inside is None:
        return None
    kinds = [tuple(numbers[n] for n in place.answers) for place in inside]
    return kinds if some[0].length == records else list(dict.fromkeys([*kinds, ()]))


def _find_fixed_places(parts: Sequence[Places | None], records: int) -> list[Place] | None:
    some = [part for part in dict.fromkeys(parts) if part is not None and len(part)]
    if len(some) > MOST_PARTS:
        return None
    if all(abs(part.step) == 1 for part in some):
        cuts = {0, records, *(end for part in some for end in _ends(part))}
        looked_at = [low for low, high in pairwise(sorted(cuts)) if low < high]
    elif records * len(some) <= _MOST_LOOKED_AT:
        looked_at = _distinct(some, records)
    else:
        return None
    positions: dict[tuple[int, ...], int] = {}
    for position in looked_at:
        answers = tuple(n for n, part in enumerate(parts) if part is None or position in part)
        positions.setdefault(answers, position)
    return [Place(position, answers) for answers, position in positions.items()]


def _ends(part: Places) -> tuple[int, int]:
    positions = np.asarray(part)
    return int(positions.min()), int(positions.max()) + 1


def _distinct(parts: Iterable[Places], records: int) -> list[int]:
    """One position of each kind, the first."""
    kind = np.zeros(records, dtype=np.int64)
    for part in parts:
        inside = np.zeros(records, dtype=np.int64)
        inside[np.asarray(part)] = 1
        _, kind = np.unique(2 * kind + inside, return_inverse=True)
    _, first = np.unique(kind, return_index=True)
    return [int(position) for position in np.sort(first)]


def take_part(
    dataset: NDArray[Any], part: Part, orders: Mapping[int, NDArray[Any]]
) -> NDArray[Any]:
    """The records of a part, in a run at a point that drew these orders."""
    if not isinstance(part, DrawnPart):
        return dataset if part is None else dataset.take(np.asarray(part))
    if part.order not in orders:
        raise UnsupportedRandomnessError("a sample is known only in the run that drew it")
    drawn = orders[part.order]
    return dataset.take(drawn if part.places is None else drawn[np.asarray(part.places)])


@raises_as_numpy
def positions_at(positions: NDArray[Any], index: Any) -> NDArray[Any]:
    """Positions at places, or where truths are: with NumPy's errors."""
    return positions[index]  # type: ignore[no-any-return]


def find_part(positions: NDArray[Any]) -> Places | None:
    """Positions as a range, or listed; None where one is there twice, or there are none."""
    return find_line(positions) or ListedPlaces.of(positions)


def find_line(positions: NDArray[Any]) -> range | None:
    """Positions as a range; None where steps differ, or there are none."""
    if positions.ndim != 1 or not len(positions):
        return None
    start = int(positions[0])
    step = int(positions[1]) - start if len(positions) > 1 else 1
    line = range(start, start + step * len(positions), step) if step else None
    return line if line is not None and np.array_equal(positions, np.asarray(line)) else None


def is_grid(positions: NDArray[Any]) -> bool:
    """Whether all rows and columns of positions are ranges."""
    if positions.ndim != 2 or not positions.size:
        return False
    steps = [np.diff(positions, axis=axis) for axis in (0, 1)]
    return all(step.size == 0 or (step[0, 0] != 0 and np.all(step == step[0, 0])) for step in steps)
