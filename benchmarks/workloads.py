"""A mechanism to measure with: a noisy count answered on a window of few values, 21 of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

OUTPUTS = 21
EPSILON = 1.0


class NoisyWindow:
    """The count, clamped to ``low .. low + width - 1``, plus two-sided geometric noise cut alike.

    Exactly 1-DP. The logs are computed by formula, with few passes over the array, so that the
    mechanism is a hard one to be compared with.
    """

    def __init__(self, low: int, width: int = OUTPUTS) -> None:
        self.low, self.width = low, width
        self._offsets = np.arange(width, dtype=np.float64)
        self._peak = float(np.log(np.tanh(EPSILON / 2)))
        self._tail = -float(np.log1p(np.exp(-EPSILON)))

    @property
    def outputs(self) -> range:
        return range(self.low, self.low + self.width)

    def of_counts(self, counts: NDArray[np.int64]) -> FloatArray:
        """(n,) counts -> (n, width) logs."""
        value = np.clip(counts - self.low, 0, self.width - 1).astype(np.float64)[:, None]
        logs = np.abs(self._offsets - value)
        logs *= -EPSILON
        logs += self._peak
        logs[:, 0] = self._tail - EPSILON * value[:, 0]
        logs[:, -1] = self._tail - EPSILON * (self.width - 1 - value[:, 0])
        return logs

    def formula(self, datasets: NDArray[np.signedinteger]) -> FloatArray:
        """(n, d) datasets -> (n, width) logs."""
        return self.of_counts(datasets.sum(axis=1))

    def lookup(self, datasets: NDArray[np.signedinteger]) -> FloatArray:
        """The same from a table of a row for each value."""
        rows = np.clip(datasets.sum(axis=1) - self.low, 0, self.width - 1)
        return self._table[rows]

    @property
    def _table(self) -> FloatArray:
        if "_known" not in self.__dict__:
            self._known = self.of_counts(np.arange(self.low, self.low + self.width))
        return self._known
