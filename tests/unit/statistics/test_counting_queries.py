"""Counting queries with signs: their answers, and the pairs of neighbouring answers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.points import PointBatch
from liptest.errors import InputError


@pytest.mark.parametrize("seed", range(6))
def test_edges_are_the_neighbouring_answers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    signs, base = rng.integers(-1, 2, (m, d)), rng.integers(-3, 4, m)
    queries, cube = lt.statistics.CountingQueries(signs, base=base), lt.Hypercube(d)
    points = cube.points(np.arange(cube.size))
    answers = queries.values(points)
    assert np.array_equal(answers, base + points.astype(int) @ signs.T)
    wanted = set()
    for x, y in product(range(cube.size), repeat=2):
        if cube.distance(points[x], points[y])[0] == 1 and (answers[x] != answers[y]).any():
            wanted.add(frozenset((tuple(answers[x].tolist()), tuple(answers[y].tolist()))))
    found = [
        frozenset((tuple(a), tuple(b)))
        for left, right in queries.edges(cube)
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert set(found) == wanted
    assert len(found) == len(wanted) == queries.edge_count(cube)
    for pair in wanted:
        left, right = map(np.array, sorted(pair))
        ends = queries.realise(cube, left, right)
        assert cube.distance(*ends)[0] == 1
        assert np.array_equal(queries.values(np.stack(ends)), [left, right])


def test_changes_of_a_batch() -> None:
    queries = lt.statistics.CountingQueries([[1, -1, 0], [0, 1, 1]], base=[5, 0])
    cube = lt.Hypercube(3)
    centres = cube.points(np.arange(8))
    batch = PointBatch(centres, *cube.neighbour_changes(centres))
    whole = queries.values(batch.array())
    assert np.array_equal(queries.changed_values(batch, whole[:8]), whole[8:])


def test_neighbouring_answers_are_neighbours_on_the_answer_grid() -> None:
    queries = lt.statistics.CountingQueries(
        [[1, -1, 0, 1], [0, 1, 1, 1], [-1, 1, 0, 1]], base=[1, 0, 1]
    )
    grid = lt.AnswerGrid([6, 6, 6], relation="all")
    for left, right in queries.edges(lt.Hypercube(4)):
        assert set(grid.distance(left, right)) == {1}


@pytest.mark.parametrize(
    ("signs", "base"),
    [
        ([], None),
        ([1, 0], None),
        ([[2]], None),
        ([[0.5]], None),
        ([[1], [1, 0]], None),
        ([[1, 0]], [1, 2]),
        ([[1, 0]], [0.5]),
    ],
)
def test_what_is_refused(signs: Any, base: Any) -> None:
    with pytest.raises(InputError, match=r"signs=|base="):
        lt.statistics.CountingQueries(signs, base=base)


def test_it_needs_its_cube() -> None:
    queries = lt.statistics.CountingQueries([[1, -1]])
    for domain in (lt.Hypercube(3), lt.RecordGrid([2, 2]), lt.AnswerGrid([2, 2], relation="all")):
        with pytest.raises(InputError):
            queries.check(domain)
    queries.check(lt.Hypercube(2))
    assert queries == lt.statistics.CountingQueries([[1, -1]])
    assert queries != lt.statistics.CountingQueries([[1, -1]], base=[1])
    assert repr(queries) == "CountingQueries(<shape 1 x 2>)"
