"""Maximum flow, its cut, and the proof that goes with it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from liptest.errors import LiptestError
from liptest.lipschitz.flow import Arcs, MinimumCut, _certify, minimum_cut


def arcs_of(edges: list[tuple[int, int]], left_count: int) -> Arcs:
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Arcs.of(pairs[:, 0], pairs[:, 1], left_count)


def lightest_cover(supply: list[int], demand: list[int], edges: list[tuple[int, int]]) -> int:
    weights = supply + demand
    masks = itertools.product([0, 1], repeat=len(weights))
    return min(
        sum(w for w, taken in zip(weights, mask, strict=True) if taken)
        for mask in masks
        if all(mask[x] or mask[len(supply) + y] for x, y in edges)
    )


def test_arcs_know_their_rows() -> None:
    arcs = arcs_of([(2, 1), (0, 3), (0, 1)], 3)
    assert arcs.row(0).tolist() == [1, 3]
    assert arcs.row(1).tolist() == []
    assert arcs.rows(np.array([2, 0])).tolist() == [1, 1, 3]
    assert arcs.contains(0, 3)
    assert not arcs.contains(0, 2)
    assert not arcs.contains(1, 1)


def test_augmenting_path_through_undone_flow() -> None:
    # Greedy takes 0-1 and starves 1; the maximum needs both.
    arcs = arcs_of([(0, 0), (0, 1), (1, 1)], 2)
    cut = minimum_cut([1, 1], [1, 1], arcs)
    assert cut.value == 2


def test_random_graphs_against_brute_force() -> None:
    rng = np.random.default_rng(3)
    for _ in range(150):
        left, right = rng.integers(1, 5, size=2).tolist()
        edges = [e for e in itertools.product(range(left), range(right)) if rng.random() < 0.5]
        supply = rng.integers(0, 9, left).tolist()
        demand = rng.integers(0, 9, right).tolist()
        cut = minimum_cut(supply, demand, arcs_of(edges, left))
        assert cut.value == lightest_cover(supply, demand, edges)
        assert all(cut.left[x] or cut.right[y] for x, y in edges)


def test_weights_beyond_machine_words() -> None:
    # 2**32 and 2**64 must not vanish: library routines take capacities modulo 2**32.
    huge = [2**32, 2**64, 3 * 2**200]
    arcs = arcs_of([(0, 0), (1, 0), (1, 1), (2, 1)], 3)
    assert minimum_cut(huge, [2**65 + 1, 2**300], arcs).value == 2**32 + 2**64 + 3 * 2**200
    assert minimum_cut(huge, [2**64, 2**199], arcs).value == 2**64 + 2**199


def test_no_edges() -> None:
    cut = minimum_cut([5], [], arcs_of([], 1))
    assert cut.value == 0
    assert cut.left.tolist() == [False]


def test_long_alternating_path() -> None:
    # 4000 vertices in a path: one augmenting path visits them all, without recursion.
    n = 2000
    edges = [(x, x) for x in range(n)] + [(x + 1, x) for x in range(n - 1)]
    assert minimum_cut([1] * n, [1] * n, arcs_of(edges, n)).value == n


@pytest.mark.parametrize(
    ("left", "right", "flows", "message"),
    [
        ([True, False], [False], [{0: 2}], "cover"),  # edge 1-0 uncovered
        ([True, True], [True], [{0: 2}], "cover"),  # too heavy
        ([False, False], [True], [{0: 1}], "cover"),  # flow smaller than the cover
        ([False, False], [True], [{0: 4}], "cover"),  # more than vertex 0 has
        ([False, False], [True], [{0: 4, 1: -1}], "impossible"),
    ],
)
def test_a_wrong_answer_is_refused(
    left: list[bool], right: list[bool], flows: list[dict[int, int]], message: str
) -> None:
    arcs = arcs_of([(0, 0), (1, 0)], 2)
    value = sum(sum(flow.values()) for flow in flows)
    cut = MinimumCut(value, np.array(left), np.array(right))
    with pytest.raises(LiptestError, match=message):
        _certify(cut, flows, [2, 3], [3], arcs)


def test_flow_off_the_edges_is_refused() -> None:
    cut = MinimumCut(1, np.array([True, False]), np.array([False, False]))
    with pytest.raises(LiptestError, match="from 0 to 1 is impossible"):
        _certify(cut, [{}, {0: 1}], [1, 1], [1, 1], arcs_of([(0, 0)], 2))
