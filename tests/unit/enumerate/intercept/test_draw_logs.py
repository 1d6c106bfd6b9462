"""What code under analysis is handed, arrays that nobody can write to, and points of its draws."""

from __future__ import annotations

import numpy as np
import pytest

from liptest.enumerate.intercept.draw_logs import hand
from liptest.values.draws.interval_points import IntervalPoints


def test_data_that_were_handed_once_are_not_copied_again() -> None:
    first = hand(np.arange(1000))
    again = hand(first)
    assert again is not first
    assert np.shares_memory(again, first)
    with pytest.raises(ValueError, match="WRITEABLE"):
        again.flags.writeable = True


@pytest.mark.parametrize(
    "view",
    [
        hand(np.arange(10))[::-1],
        hand(np.arange(10))[2:],
        hand(np.arange(10)).astype(np.int32),
        np.frombuffer(np.arange(10, dtype=np.float64).tobytes()),
        np.frombuffer(np.arange(10).tobytes(), dtype=np.int64, offset=8),
        np.ndarray((3,), np.int64, np.arange(10).tobytes(), strides=(16,)),
    ],
)
def test_other_arrays_are_handed_as_they_look(view: np.ndarray) -> None:
    made = hand(view)
    assert made.dtype == np.int64
    assert made.tolist() == view.tolist()
    assert not made.flags.writeable


@pytest.mark.parametrize("bits", [10, 53, 80])
def test_points_are_all_over_an_interval(bits: int) -> None:
    """At which the analysis is compared with the unmodified program."""
    low, high = 7, 7 + (1 << bits)
    rng = np.random.default_rng(0)
    point_in = IntervalPoints(rng)
    points = [point_in(low, high) for _ in range(400)]
    assert all(low <= point < high for point in points)
    assert {low, high - 1} <= set(points)
    inside = [(point - low) * 8 // (high - low) for point in points if low < point < high - 1]
    assert set(inside) == set(range(8))
