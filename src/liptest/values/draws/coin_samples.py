"""Random samples of records in one run that coins have chosen, and which depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class SamplesOfCoins:
    """The random samples of one run that coins have chosen."""

    __slots__ = ("_are_free", "_owners")

    def __init__(self) -> None:
        self._are_free: list[Callable[[], bool]] = []
        #: By variable the number of the sample that it is a coin of; -1 for none.
        self._owners = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._are_free)

    @property
    def are_kept(self) -> bool:
        """Whether nothing tells which records were chosen."""
        return all(are_free() for are_free in self._are_free)

    def add(self, number: int, coins: Any) -> list[int]:
        """Note the coins of a sample; the numbers of samples of which coins depend on each other.

        Whether a record is in one of these says something about the others.
        """
        self._are_free.append(coins.are_free)
        missing = int(coins.variables.max(initial=-1)) + 1 - len(self._owners)
        if missing > 0:
            self._owners = np.concatenate([self._owners, np.repeat(np.int64(-1), missing)])
        owners = self._owners[coins.variables]
        others = sorted({*owners[(owners >= 0) & (owners != number)].tolist()})
        self._owners[coins.variables] = number
        return [*others, number] if others else []
