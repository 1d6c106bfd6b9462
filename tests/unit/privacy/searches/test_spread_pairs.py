"""Violations of programs that compare many noisy counts: data whose counts are far apart."""

import heapq
from collections import Counter
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.searches.spread_pairs import spread_pairs
from liptest.verdicts import Decision

CELLS = lt.RecordGrid([8] * 5000)


def top_three_of_heap(data: Any, rng: np.random.Generator) -> Any:
    counts = Counter(data.tolist())
    noisy = [(counts[k] + rng.laplace(0, 0.5), k) for k in range(8)]
    return [k for _, k in heapq.nlargest(3, noisy)]


def top_three(data: Any, rng: np.random.Generator) -> Any:
    noisy = np.bincount(data, minlength=8) + rng.laplace(0, 0.5, size=8)
    return np.argsort(-noisy)[:3].tolist()


def sorted_counts(data: Any, rng: np.random.Generator) -> Any:
    return sorted(int((data == k).sum()) + rng.laplace(0, 0.5) for k in range(6))


def both_ends(data: Any, rng: np.random.Generator) -> Any:
    noisy = [(data == k).sum() + rng.laplace(0, 0.5) for k in range(8)]
    return max(noisy), min(noisy)


def test_spread_pairs_are_neighbours_whose_counts_differ_by_one_record() -> None:
    pairs = list(spread_pairs(CELLS, 1.0))
    assert len(pairs) == 7
    for left, right in pairs:
        assert left.shape == right.shape == (5000,)
        assert (left != right).sum() == 1
        assert min(left.min(), right.min()) >= 0
        assert max(left.max(), right.max()) < 8


def test_ranks_are_near_by_the_gap_and_the_record_makes_it_wider() -> None:
    _, _, (left, right), *_ = spread_pairs(CELLS, 2.0)
    before, after = (np.sort(np.bincount(side, minlength=8)) for side in (left, right))
    assert 4 <= before[-1] - before[-2] <= 6
    assert after[-1] - after[-2] == before[-1] - before[-2] + 2
    assert (np.diff(before)[:-1] > 100).all()


@pytest.mark.parametrize(
    "domain", [lt.RecordGrid([8] * 100), lt.RecordGrid([2] * 5000), lt.Hypercube(5000)]
)
def test_few_records_for_each_value_have_no_spread_pairs(domain: Any) -> None:
    assert not list(spread_pairs(domain, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("program", [top_three_of_heap, top_three, sorted_counts, both_ends])
def test_orders_of_many_counts_are_refuted(program: Any) -> None:
    verdict = lt.check_privacy(program, CELLS, epsilon=1.5, seed=1)
    assert verdict.decision is Decision.NO
    assert verdict.witness is not None
    # No pair loses more than all noisy counts do.
    assert 1.5 < verdict.witness.loss_lower <= 4 * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("program", [top_three_of_heap, top_three, sorted_counts, both_ends])
def test_what_all_noisy_counts_keep_is_proved(program: Any) -> None:
    assert lt.check_privacy(program, CELLS, epsilon=4.0, seed=1).decision is Decision.YES


@pytest.mark.slow
def test_sorted_counts_lose_at_most_what_one_record_moves() -> None:
    """One record moves two counts by 1: 2 / 0.5. The least count alone tells half of it."""
    below = lt.check_privacy(sorted_counts, CELLS, epsilon=1.99, seed=1)
    assert below.decision is Decision.NO
    assert lt.check_privacy(sorted_counts, CELLS, epsilon=4.01, seed=1).decision is Decision.YES
