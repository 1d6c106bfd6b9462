"""Boxes in which the numbers of an output lie, and which of them two laws have in common.

``first = a + noise``, then ``second = (b if first > 0 else c) + noise``: two ways, but an output
shows which of them was taken, by the sign of its first number (theory N11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from liptest.mechanisms.laws import Output
from liptest.symbolic.constraints import intersection

#: Between which two numbers something lies; None is infinite.
Ends = tuple[Any, Any]
Box = tuple[Ends, ...]


@dataclass(frozen=True)
class InBox:
    """The outputs of one description whose numbers lie in a box."""

    skeleton: Output
    box: Box

    def cut(self, ends: Box) -> Box:
        """What an interval for each number has in common with the box."""
        return tuple(map(intersection, self.box, ends))


def are_told_apart(left: Sequence[Box | None], right: Sequence[Box | None]) -> bool:
    """Whether no two boxes of one side meet, and those of both sides are the same or apart.

    Each box has two numbers or more; None stands for one that is not known.
    """
    known = [[box for box in side if box is not None and len(box) > 1] for side in (left, right)]
    if [len(side) for side in known] != [len(left), len(right)]:
        return False
    if any(_meet(*pair) for side in known for pair in combinations(side, 2)):
        return False
    return all(one == other or not _meet(one, other) for one, other in product(*known))


def _meet(one: Box, other: Box) -> bool:
    """Whether two boxes have more in common than a border."""
    return all(_overlap(*pair) for pair in zip(one, other, strict=True))


def _overlap(one: Ends, other: Ends) -> bool:
    return _is_below(one[0], other[1]) and _is_below(other[0], one[1])


def _is_below(low: Any, high: Any) -> bool:
    return low is None or high is None or bool(low < high)
