"""The corners of rows that are enough for convex prices, beside brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from liptest.symbolic.answers import Move, subtract_moves
from liptest.symbolic.block_prices import extreme_rows


def _rows(points: Any) -> list[Move]:
    return [tuple((i, Fraction(int(by))) for i, by in enumerate(one) if by) for one in points]


@pytest.mark.parametrize("seed", range(20))
def test_convex_functions_of_differences_are_largest_at_corners(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 3))
    rows = list(dict.fromkeys(_rows(rng.integers(-6, 7, size=(40, size)))))
    corners = extreme_rows(rows)
    assert set(corners) <= set(rows)
    assert len(corners) < len(rows)
    slopes = rng.integers(-5, 6, size=(5, size))

    def largest(some: list[Move]) -> Fraction:
        moves = [dict(subtract_moves(*pair)) for pair in permutations(some, 2)]
        values = (sum(int(s[i]) * by for i, by in one.items()) for one in moves for s in slopes)
        return max(values, default=Fraction(0))  # type: ignore[return-value]

    assert largest(corners) == largest(rows)


def test_three_answers_and_equal_rows_stay() -> None:
    rows = _rows([(1, 2, 3), (0, 0, 0), (1, 1, 1)])
    assert extreme_rows(rows) == rows
    assert extreme_rows([()]) == [()]
    in_line = _rows([(0, 0), (1, 1), (2, 2), (3, 3)])
    assert set(extreme_rows(in_line)) == {in_line[0], in_line[3]}
