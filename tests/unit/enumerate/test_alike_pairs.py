"""Pairs of laws that differ by a move of all numbers are compared once, and no others are alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.alike_pairs import pair_kind
from liptest.enumerate.whole_numbers import WholeFunction, WholeTable, loss_of_whole

N = 6


def rounded(data: Any, rng: Any) -> int:
    return round(float(data.sum() + rng.laplace(0, 1.0)))


def discrete(data: Any, rng: Any) -> int:
    return int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))


def two_numbers(data: Any, rng: Any) -> Any:
    return [int(data.sum()) + int(rng.geometric(0.5)), round(data.sum() / 2 + rng.laplace(0, 2))]


def towards_zero(data: Any, rng: Any) -> int:
    return int(data.sum() + rng.laplace(0, 1.0))


def not_negative(data: Any, rng: Any) -> int:
    return max(0, discrete(data, rng))


def scale_of_the_data(data: Any, rng: Any) -> int:
    return round(data.sum() + rng.laplace(0, 1.0 + data.sum()))


def table(program: Any) -> WholeTable:
    function = lt.mechanism(program).over_all_numbers(np.zeros(N, dtype=np.int64))
    assert isinstance(function, WholeFunction)
    counts = (np.arange(N) < np.arange(N + 1)[:, None]).astype(np.int64)
    return WholeTable(tuple(function.whole_law(one) for one in counts), True)


@pytest.mark.parametrize(
    ("program", "kinds"),
    # A half is half a cell: even and odd counts are apart. int() and max() know where 0 is.
    [(rounded, 1), (discrete, 1), (two_numbers, 2), (towards_zero, N), (not_negative, N)],
)
def test_how_many_kinds_of_pairs_there_are(program: Any, kinds: int) -> None:
    laws = table(program)
    found = [laws.pair_kind(k, k + 1) for k in range(N)]
    assert len(set(found)) == kinds
    assert laws.pair_kind(1, 0) == found[0]
    assert laws.pair_kind(0, 2) not in found
    losses = laws.losses(np.arange(N), np.arange(1, N + 1))
    for k in (0, 1, N - 1):
        assert losses[k] == pytest.approx(float(loss_of_whole(*laws._pair(k, k + 1)).mid()))


def test_other_noise_is_another_kind() -> None:
    laws = table(scale_of_the_data)
    assert len({laws.pair_kind(k, k + 1) for k in range(N)}) == N


def test_a_number_beside_another_one_is_moved_for_itself() -> None:
    def both(data: Any, rng: Any) -> Any:
        one = int(data.sum()) + int(rng.geometric(0.5) - rng.geometric(0.5))
        return one, int(data[:3].sum()) + int(rng.geometric(0.5) - rng.geometric(0.5))

    laws = table(both)
    kinds = [laws.pair_kind(k, k + 1) for k in range(N)]
    assert kinds[:3] == kinds[:1] * 3
    assert kinds[3:] == kinds[3:4] * 3
    assert kinds[0] != kinds[3]
    assert pair_kind(laws._pair(0, 1)[0].leaves, laws._pair(0, 1)[1].leaves) == kinds[0]


@pytest.mark.slow
def test_rho_of_a_rounded_count_is_that_of_one_pair() -> None:
    small, large = (lt.exact_rho(lt.mechanism(rounded), lt.Hypercube(n)) for n in (2, 40))
    assert (small.lower, small.upper) == (large.lower, large.upper)
    # Of order 1: the divergence of Kullback and Leibler, by the cells themselves.
    cells = [_cell(k) for k in range(-60, 61)]
    moved = [_cell(k - 1) for k in range(-60, 61)]
    order_1 = sum(p * math.log(p / q) for p, q in zip(cells, moved, strict=True))
    assert large.lower >= order_1 - 1e-9
    assert large.upper <= 1 + math.exp(-1) - 1  # of the noise before it is rounded


def _cell(k: int) -> float:
    if k == 0:
        return 1 - math.exp(-0.5)
    return math.exp(-abs(k)) * math.sinh(0.5)
