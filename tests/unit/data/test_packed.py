"""Functions and mechanisms that take bits: the same verdicts, from other arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import liptest as lt
from liptest.data.points import PointBatch, pack_bits
from liptest.errors import InputError
from liptest.lipschitz.oracles import as_oracle, packed

Words = NDArray[np.uint64]


def count_of_bits(words: Words) -> NDArray[np.int64]:
    return np.bitwise_count(words).sum(axis=1).astype(np.int64)


def logs_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    share = 1.0 / (1.0 + np.exp(-0.5 * counts))
    return np.log(np.stack([1 - share, share], axis=1))


@given(st.integers(1, 140), st.integers(0, 2**32))
def test_each_coordinate_has_its_bit(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 2, (3, d)).astype(np.int8)
    words = pack_bits(points)
    assert words.dtype == np.uint64
    assert words.shape == (3, -(-d // 64))
    for row, point in zip(words.tolist(), points.tolist(), strict=True):
        whole = sum(word << 64 * k for k, word in enumerate(row))
        assert whole == sum(bit << r for r, bit in enumerate(point))


@given(st.integers(1, 140), st.integers(0, 2**32))
def test_a_batch_is_packed_like_its_array(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 2, (4, d)).astype(np.int8)
    rows = np.sort(rng.integers(0, 4, 9))
    batch = PointBatch(centres, rows, rng.integers(0, d, 9), rng.integers(0, 2, 9))
    assert np.array_equal(batch.packed(), pack_bits(batch.array()))
    assert np.array_equal(as_oracle(packed(count_of_bits), lt.Hypercube(d)).values(batch),
                          batch.array().sum(axis=1))  # fmt: skip


@pytest.mark.parametrize(
    "method", ["neighbourhoods", "light-neighbourhoods", "exhaustive", "search"]
)
@pytest.mark.parametrize("epsilon", [0.3, 0.6])
def test_verdicts_are_those_of_plain_arrays(method: str, epsilon: float) -> None:
    formula = lambda points: logs_of(points.sum(axis=1))  # noqa: E731
    of_bits = packed(lambda words: logs_of(count_of_bits(words)))
    law = lt.ProductDistribution.bernoulli(np.linspace(0.1, 0.9, 11))
    found, expected = (
        lt.check_privacy(
            lt.ClosedForm(["no", "yes"], log_pmf, name="coin"),
            law,
            epsilon=epsilon,
            exception_mass=0.05,
            method=method,
            seed=3,
        )
        for log_pmf in (of_bits, formula)
    )
    assert found.decision == expected.decision
    assert found.witness == expected.witness
    assert found.largest_loss == expected.largest_loss
    costs = [(v.cost.laws, v.cost.draws, v.cost.pairs) for v in (found, expected)]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("factor", [1, 2])
def test_a_function_of_bits_is_tested_on_the_same_points(factor: int) -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(70))
    options: dict[str, Any] = {"proximity": 0.5, "failure_probability": 1e-3, "seed": 5}
    found = lt.check_lipschitz(packed(lambda w: factor * count_of_bits(w)), law, **options)
    expected = lt.check_lipschitz(lambda points: factor * points.sum(axis=1), law, **options)
    assert (found.decision, found.cost.queries) == (expected.decision, expected.cost.queries)
    assert found.witness == expected.witness
    assert found.decision == ("ACCEPT" if factor == 1 else "REJECT")


def test_what_is_no_bit_is_refused() -> None:
    with pytest.raises(InputError, match="values from 0 to 2 are not bits"):
        pack_bits(np.array([[0, 2]]))
    batch = PointBatch(np.zeros((1, 2), np.int8), *(np.array([k]) for k in (0, 1, 2)))
    with pytest.raises(InputError, match="are not bits"):
        batch.packed()
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))
    mechanism = lt.ClosedForm(["no", "yes"], packed(lambda words: logs_of(count_of_bits(words))))
    with pytest.raises(InputError, match="Hypercube"):
        lt.check_privacy(mechanism, law, epsilon=1, method="exhaustive")
    with pytest.raises(InputError, match="must be callable"):
        packed(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="values of the statistic"):
        lt.StatisticMechanism(lt.Count(), ["no", "yes"], packed(logs_of))  # type: ignore[arg-type]
