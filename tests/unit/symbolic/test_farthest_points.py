"""The farthest pair of points by floats, against all pairs in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.direct_sums import NormalSums, largest_square, split_blocks
from liptest.symbolic.farthest_points import find_farthest
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.path_programs import RowReader, find_blocks


def squares(points: np.ndarray) -> dict[tuple[int, int], Fraction]:
    exact = [[Fraction(entry) for entry in point] for point in points.tolist()]
    return {
        (i, j): sum(((a - b) ** 2 for a, b in zip(exact[i], exact[j], strict=True)), Fraction(0))
        for i, j in combinations(range(len(exact)), 2)
    }


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 30), size=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_the_farthest_pair_is_among_them(seed: int, count: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (count, size)) * 10.0 ** rng.integers(-150, 150)
    points = points * (1 + 1e-15 * rng.integers(-3, 4, (count, size)))
    found = find_farthest(points)
    every = squares(points)
    most = max(every.values())
    assert found is not None
    assert {pair for pair, square in every.items() if square == most} <= set(found)


def test_a_pair_that_is_hardly_nearer_is_kept_and_a_near_one_is_not() -> None:
    points = np.array([[0.0], [1.0], [1.0 - 1e-12], [0.5]])
    assert find_farthest(points) == [(0, 1), (0, 2)]


@pytest.mark.parametrize(
    "points",
    [np.zeros((100, 2)), np.zeros((0, 3)), np.array([[np.inf], [0.0]]), np.zeros((5_000, 1))],
)
def test_too_many_pairs_or_points_are_not_told(points: np.ndarray) -> None:
    assert find_farthest(points) is None


@pytest.mark.parametrize("seed", range(4))
def test_rows_by_floats_are_those_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = rng.integers(-5, 6, (60, 3)).tolist()
    moves = Differences.of_tables([{i: by for i, by in enumerate(row) if by} for row in tables])
    answers, noises = range(3), [Noise("normal", Fraction(int(d), 3)) for d in (1, 5, 2)]
    places = tuple(Form.variable(i) + Form.variable(3 + i) for i in answers)
    path = AlignedPath((*map(Answer, answers), *noises), (), places)
    normal = NormalSums(split_blocks(path, find_blocks(path, RowReader())[0])[1])
    exact = squares(np.array(tables) / 1)
    expected = max(
        sum(Fraction(a - b) ** 2 / d for a, b, d in zip(tables[i], tables[j], widths, strict=True))
        for widths in [[noise.parameter**2 for noise in noises]]
        for i, j in exact
    )
    found, move = largest_square(normal, moves)
    assert found == expected
    assert normal.square(move) == expected
