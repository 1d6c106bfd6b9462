"""What was written for speed gives what the plain definition gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.data.draws import GRID, BitSampler, grid_thresholds, uniform_integers
from liptest.data.points import PointBatch
from liptest.mechanisms.laws import INFINITE_LOSS, ZERO_LOG, LawTable, normalise_logs

SEEDS = st.integers(0, 2**32 - 1)


def random_logs(rng: np.random.Generator, laws: int, outputs: int, zeros: float) -> np.ndarray:
    weights = rng.random((laws, outputs)) * (rng.random((laws, outputs)) >= zeros)
    weights[:, 0] += 1e-3
    with np.errstate(divide="ignore"):
        return np.log(weights / weights.sum(axis=1, keepdims=True))


@given(SEEDS, st.sampled_from([1, 2, 21, 63, 64, 65, 130]), st.sampled_from([0.0, 0.3]))
def test_losses_are_the_largest_difference_of_logs(seed: int, outputs: int, zeros: float) -> None:
    rng = np.random.default_rng(seed)
    logs = random_logs(rng, 7, outputs, zeros)
    table = LawTable(
        tuple(range(outputs)), np.maximum(logs, ZERO_LOG), None, np.zeros(7), zeros_exact=False
    )
    left, right = rng.integers(0, 7, size=(2, 40))
    with np.errstate(invalid="ignore"):
        gaps = np.abs(logs[left] - logs[right])
    expected = np.nan_to_num(gaps, nan=0.0, posinf=np.inf).max(axis=1)
    found = table.losses(left, right)
    infinite = np.isinf(expected)
    assert np.array_equal(found >= INFINITE_LOSS, infinite)
    assert np.array_equal(found[~infinite], expected[~infinite])
    both = np.isinf(logs[left]) & np.isinf(logs[right])
    assert np.array_equal(table.has_uncertain_zeros(left, right), both.any(axis=1))


@given(SEEDS, st.sampled_from([2, 21, 100]), st.sampled_from([0.0, 0.3]))
def test_normalising_leaves_zeros_and_sums_to_1(seed: int, outputs: int, zeros: float) -> None:
    logs = random_logs(np.random.default_rng(seed), 5, outputs, zeros) + 1e-7
    found, errors = normalise_logs(logs, outputs, 5, 1e-6, "law")
    assert np.array_equal(found == ZERO_LOG, np.isinf(logs))
    assert np.exp(found).sum(axis=1) == pytest.approx(1.0, abs=1e-14)
    finite = np.isfinite(logs)
    assert np.all((np.abs(found - logs) <= errors)[finite])


@pytest.mark.slow
@given(SEEDS, st.sampled_from([(20, 30_000), (1000, 600), (4096, 150)]))
def test_bits_of_many_pieces_are_those_of_one(seed: int, shape: tuple[int, int]) -> None:
    d, count = shape
    p = np.random.default_rng(seed).random(d)
    drawn = BitSampler(p).draw(np.random.default_rng(seed), count)
    # All first bytes come first, whatever the pieces; then 45 bits for each tie, in order.
    rng, width = np.random.default_rng(seed), max(1, 4096 // d) * d
    words = rng.integers(0, 2**64, size=-(-count * d // width) * width // 8, dtype=np.uint64)
    high = words.view(np.uint8)[: count * d].astype(np.int64)
    thresholds = np.tile(grid_thresholds(p), count)
    ties = np.flatnonzero(high == thresholds >> 45)
    number = high << 45
    number[ties] += uniform_integers(rng, len(ties)) >> 8
    assert np.all(thresholds < GRID)
    assert len(ties) > 0
    assert np.array_equal(drawn.reshape(-1), number < thresholds)


@given(SEEDS, st.integers(1, 4))
def test_a_block_holds_the_points_one_by_one(seed: int, centres: int) -> None:
    rng = np.random.default_rng(seed)
    batch = PointBatch(
        rng.integers(0, 5, size=(centres, 6), dtype=np.int8),
        np.sort(rng.integers(0, centres, size=9)),
        rng.integers(0, 6, size=9),
        rng.integers(0, 5, size=9),
    )
    assert np.array_equal(batch.array(), [batch.point(i) for i in range(len(batch))])
