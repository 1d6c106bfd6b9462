"""Points of many random numbers at once: as those of one after another."""

from __future__ import annotations

import numpy as np
import pytest

from liptest.values.draws.coin_samples import SamplesOfCoins
from liptest.values.draws.coins import Coins
from liptest.values.draws.grid import UNIT, CoarseLine, FusedLine, Line, WholeLine
from liptest.values.draws.interval_points import IntervalPoints


@pytest.mark.parametrize("bits", [0, 1, 10, 53])
def test_many_points_are_all_over_their_intervals(bits: int) -> None:
    low = np.arange(3000, dtype=np.int64)
    high = low + (1 << bits)
    points = IntervalPoints(np.random.default_rng(0)).many(low, high)
    assert ((low <= points) & (points < high)).all()
    assert (points == low).any()
    assert (points == high - 1).any()
    inside = (points - low)[(low < points) & (points < high - 1)]
    assert bits < 2 or set((inside >> (bits - 2)).tolist()) == set(range(4))


def test_without_ends_each_point_is_as_likely() -> None:
    points = IntervalPoints(np.random.default_rng(1), ends=0.0)
    low, high = np.zeros(4000, np.int64), np.full(4000, 4, np.int64)
    counts = np.bincount(points.many(low, high), minlength=4)
    assert (np.abs(counts - 1000) < 200).all()


@pytest.mark.parametrize(
    "line", [UNIT, Line(-0.3, 0.7), FusedLine(0.1, 0.9), CoarseLine(0.0, 1.0), WholeLine(7)]
)
def test_floats_at_many_points_are_those_at_each(line: Line) -> None:
    points = np.random.default_rng(2).integers(0, line.stop, size=200)
    each = [line.value(point) for point in points.tolist()]
    assert line.values(points).tolist() == [float(number) for number in each]


def coins(*variables: int) -> Coins:
    own = np.array(variables, dtype=np.int64)
    return Coins(variables, lambda rng: own, lambda: None, lambda: True, own)


def test_samples_that_share_a_coin_depend_on_each_other() -> None:
    samples = SamplesOfCoins()
    assert samples.add(0, coins(0, 1, 2)) == []
    assert samples.add(1, coins(3, 4)) == []
    assert samples.add(0, coins(0, 1, 2)) == []  # the same sample again
    assert samples.add(2, coins(2, 7)) == [0, 2]
    assert samples.add(3, coins(7, 4)) == [1, 2, 3]
    assert samples.add(4, coins(9)) == []
    assert len(samples) == 6
    assert samples.are_kept
