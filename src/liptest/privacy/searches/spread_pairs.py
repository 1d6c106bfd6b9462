"""Neighbours whose records are spread: counts of most values are far apart, few are near.

A program that compares noisy counts with each other comes to as many paths as there are orders of
them. What it makes of counts far apart is next to certain, so that laws without what is next to
never (``Mechanism.without_light``) have few paths on such data, however many counts there are
(theory 3.10).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from liptest.data.domains import Domain, RecordGrid
from liptest.privacy.searches.plain_pairs import Dataset, Pair

# Fewer values have few orders, with fewer records of each their counts are not far apart.
_FEW_VALUES, _FEW_RECORDS = 3, 16
# Ranks whose count and the next one are near, those that programs tell most often first.
_RANKS = (1, 3, 2, 5, 4, 10)
# How far from each other near counts are, in units of 1 / epsilon: the loss of the wrong order
# grows with it, and its probability falls.
_GAP, _LEAST_GAP, _MOST_GAP = 10, 4, 1000


def spread_pairs(domain: Domain, epsilon: float) -> Iterator[Pair]:
    """Such pairs; none of other domains, or of few records for each value."""
    if not isinstance(domain, RecordGrid):
        return
    size, n = int(domain.size_array.min()), domain.dimension
    if size < _FEW_VALUES or n < _FEW_RECORDS * size or size < int(domain.size_array.max()):
        return
    gap = min(max(math.ceil(_GAP / epsilon), _LEAST_GAP), _MOST_GAP) if epsilon > 0 else _MOST_GAP
    rising = _rising_counts(size, n)
    yield _move_one(rising, size - 1, 0)
    yield _move_one(_with_peak(size, n), 0, 1)
    for rank in _RANKS:
        if rank < size:
            yield _move_one(_with_near(rising, size - rank, gap), size - rank - 1, size - rank)


def _rising_counts(size: int, n: int) -> Dataset:
    """Counts of which each is as much more than the one before."""
    ends = np.arange(size + 1, dtype=np.int64) ** 2 * n // size**2
    return np.diff(ends)


def _with_near(counts: Dataset, value: int, gap: int) -> Dataset:
    """The counts, those of a value and of the one before as near as the gap."""
    near = counts.copy()
    both = int(counts[value] + counts[value - 1])
    near[value] = (both + min(gap, both)) // 2
    near[value - 1] = both - near[value]
    return near


def _with_peak(size: int, n: int) -> Dataset:
    """One count more than all others, which are equal, and one that is 0."""
    counts = np.full(size, n // size, dtype=np.int64)
    counts[1] = 0
    counts[0] += n - int(counts.sum())
    return counts


def _move_one(counts: Dataset, out_of: int, into: int) -> Pair:
    """Records with these counts, and the same with one record of another value."""
    left = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    right = left.copy()
    right[int(counts[:out_of].sum())] = into
    return left, right
