"""Which two of many points are farthest apart: floats find the pairs that may be, exactly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# What floats are off by is far less, for points with coordinates of at most 1.
_CLOSE = 1e-9
_MOST_POINTS, _MOST_COORDINATES, _MOST_PAIRS = 4_000, 1_000, 2_000
# Floats of one block of distances.
_AT_ONCE = 1 << 20
Points = NDArray[np.float64]


def find_farthest(points: Points) -> list[tuple[int, int]] | None:
    """All pairs of points that may be farthest apart; None where these, or the points, are many.

    Coordinates may be off by a few units in their last place: then the farthest pair is among them.
    """
    count, coordinates = points.shape
    if not count or count > _MOST_POINTS or coordinates > _MOST_COORDINATES:
        return None
    scale = np.abs(points).max(initial=0.0)
    if not np.isfinite(scale):
        return None
    scaled = points / scale if scale else points
    far = max(float(distances.max()) for _, distances in _squares(scaled))
    pairs: list[tuple[int, int]] = []
    for start, distances in _squares(scaled):
        for one, other in np.argwhere(distances >= far - _CLOSE).tolist():
            if start + one < other:
                pairs.append((start + one, other))
        if len(pairs) > _MOST_PAIRS:
            return None
    return pairs


def _squares(points: Points) -> Iterator[tuple[int, Points]]:
    """Of the distances of some points from all, with the number of the first of them."""
    count, coordinates = points.shape
    step = max(1, _AT_ONCE // max(1, count * coordinates))
    for start in range(0, count, step):
        apart = points[start : start + step, None, :] - points[None, :, :]
        yield start, np.square(apart, out=apart).sum(axis=2)
