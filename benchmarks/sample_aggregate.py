"""Sample and aggregate, for comparison only: ask about parts of the data, release one number.

The records are split at random into blocks; one record changes the answer of one block, so the
aggregate is as steady as its own arithmetic, whatever the query does. Two aggregates:

* the mean of the answers, each cut to 0 .. cap, with Laplace noise of scale cap / (blocks epsilon)
  (GUPT: P. Mohan, A. Thakurta, E. Shi, D. Song, D. Culler, 2012): epsilon-DP;
* their median, with Laplace noise of scale 2 S / epsilon for its smooth sensitivity S (K. Nissim,
  S. Raskhodnikova, A. Smith, 2007, sections 2 to 4): (epsilon, delta)-DP.

Noise here is real, not whole: a release in floats would be weaker than the two promises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Query = Callable[[IntArray], FloatArray]


@dataclass(frozen=True)
class Release:
    """What is released: ``centre`` plus Laplace noise of the given scale."""

    centre: float
    scale: float

    def mean_error(self, truth: float) -> float:
        """E|centre + noise - truth|, in closed form."""
        bias = abs(self.centre - truth)
        return bias + self.scale * math.exp(-bias / self.scale)


@dataclass(frozen=True)
class SampleAggregate:
    """Answers of ``blocks`` blocks, cut to 0 .. cap; one of them stands for 1 / blocks**power
    of the whole answer (1 for counts of records, 2 for counts of pairs).

    ``delta`` = 0 takes the mean, else the median.
    """

    blocks: int
    cap: float
    power: int
    epsilon: float
    delta: float = 0.0

    def release(self, answers: FloatArray) -> Release:
        """From (blocks,) answers of the query."""
        cut, whole = np.clip(answers, 0.0, self.cap), float(self.blocks) ** self.power
        if self.delta == 0.0:
            scale = self.cap / (self.blocks * self.epsilon)
            return Release(whole * float(cut.mean()), whole * scale)
        beta = self.epsilon / (2 * math.log(2 / self.delta))
        steadiness = smooth_sensitivity_of_median(cut, self.cap, beta)
        return Release(whole * float(np.median(cut)), whole * 2 * steadiness / self.epsilon)


def smooth_sensitivity_of_median(values: FloatArray, cap: float, beta: float) -> float:
    """max_k e^(-beta k) max_t (z_(m+t) - z_(m+t-k-1)), t = 0 .. k+1, for an odd number of values
    in 0 .. cap; z is 0 before the first and ``cap`` after the last (NRS07, section 3.1).
    """
    n, ordered = len(values), np.sort(values)
    padded = np.concatenate([np.zeros(n + 1), ordered, np.full(n + 1, cap)])
    middle = n + 1 + n // 2
    best = 0.0
    for k in range(n + 1):
        t = np.arange(k + 2)
        widest = float(np.max(padded[middle + t] - padded[middle + t - k - 1]))
        best = max(best, math.exp(-beta * k) * widest)
    return best


def block_answers(
    query: Query,
    cells_of_clicks: IntArray,
    clicked: IntArray,
    records: int,
    blocks: int,
    cells: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Answers on blocks of equal size, records at random: (blocks,).

    ``clicked`` are the numbers of the records with a click, ``cells_of_clicks`` their cells.
    """
    block = rng.permutation(records)[clicked] * blocks // records
    tables = np.zeros((blocks, cells), dtype=np.int64)
    np.add.at(tables, (block, cells_of_clicks), 1)
    return query(tables)
