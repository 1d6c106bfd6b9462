"""Places in the order of noisy numbers, of which only those are found that are looked at.

``np.argsort(noisy)[::-1][:k]`` asks for the k largest. Of n numbers there are n! orders, and
n (n - 1) .. (n - k + 1) answers: a place is found by taking away the largest, or the smallest,
of what is left, from whichever end is nearer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.branching import Branching
from liptest.values.ordering import place_of_largest
from liptest.values.protocol import SymbolicValue


class Ranking:
    """The ascending order of the entries of a lane, as far as it is known."""

    def __init__(self, lane: Any) -> None:
        self._lane = lane
        self._left = list(range(len(lane)))
        self._lowest: list[int] = []
        self._highest: list[int] = []

    def place(self, rank: int) -> int:
        """Where the entry of a rank stands in the lane."""
        above = len(self._lane) - 1 - rank
        while rank >= len(self._lowest) and above >= len(self._highest):
            is_low = rank - len(self._lowest) < above - len(self._highest)
            ends = self._lowest if is_low else self._highest
            ends.append(self._left.pop(self._extreme(-1 if is_low else 1)))
        return self._lowest[rank] if rank < len(self._lowest) else self._highest[above]

    def _extreme(self, sign: int) -> int:
        if len(self._left) == 1:
            return 0
        return place_of_largest([self._lane[place] for place in self._left], sign)


class RankedPlace(SymbolicValue):
    """The place of the number of one rank."""

    __slots__ = ("_rank", "_ranking", "branching")

    __hash__ = SymbolicValue.__hash__
    kind = np.intp
    described = "a place in the order of noisy numbers"
    is_discrete = True

    def __init__(self, branching: Branching, ranking: Ranking, rank: int) -> None:
        self.branching = branching
        self._ranking = ranking
        self._rank = rank

    def concretise(self, use: str, settle: Callable[[Any], Any] | None = None) -> Any:
        place = np.intp(self._ranking.place(self._rank))
        return place if settle is None else settle(place)

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        raise NotImplementedError  # only what is drawn is replayed
