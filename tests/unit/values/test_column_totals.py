"""Last running totals, means in another type and ``numpy.fromiter``, beside all plain datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.property.test_random_loops import largest_change

DOMAIN = lt.RecordGrid([4] * 3)


def last_total(data: Any, rng: Any) -> Any:
    return np.cumsum(np.minimum(data, 2))[-1] + rng.laplace()


def last_total_of_floats(data: Any, rng: Any) -> Any:
    return (data / 2.0).cumsum()[-1] + rng.laplace()


def last_total_of_truths(data: Any, rng: Any) -> Any:
    return np.cumsum(data > 1)[-1] + rng.laplace()


def mean_in_a_type(data: Any, rng: Any) -> Any:
    return np.asarray(data, dtype=np.float32).mean(dtype=np.float64) + rng.laplace()


def mean_of_whole_numbers(data: Any, rng: Any) -> Any:
    return np.mean(data, dtype=float) + rng.laplace()


def from_a_generator(data: Any, rng: Any) -> Any:
    return np.fromiter((min(v, 2) for v in data), float, len(data)).sum() + rng.laplace()


def from_a_filter(data: Any, rng: Any) -> Any:
    return np.fromiter(filter(lambda v: v != 2, data), dtype=np.int64).sum() + rng.laplace()


FOLLOWED = (
    *(last_total, last_total_of_floats, last_total_of_truths, mean_in_a_type),
    *(mean_of_whole_numbers, from_a_generator, from_a_filter),
)


@pytest.mark.parametrize("function", FOLLOWED)
def test_the_price_is_the_largest_change(function: Any) -> None:
    found = align(lt.mechanism(function).on_domain(DOMAIN), DOMAIN)
    assert found.price is not None
    assert found.epsilon == pytest.approx(largest_change(function), abs=1e-9)


def first_total(data: Any, rng: Any) -> Any:
    return np.cumsum(data)[0] + rng.laplace()


def all_totals(data: Any, rng: Any) -> Any:
    return list(np.cumsum(data) + rng.laplace())


def last_total_that_wraps(data: Any, rng: Any) -> Any:
    return np.cumsum(data, dtype=np.int8)[-1] + rng.laplace()


def mean_in_a_small_type(data: Any, rng: Any) -> Any:
    return data.mean(dtype=np.float16) + rng.laplace()


def first_ones_only(data: Any, rng: Any) -> Any:
    return np.fromiter((v for v in data), float, 2).sum() + rng.laplace()


@pytest.mark.parametrize(
    "function",
    [first_total, all_totals, last_total_that_wraps, mean_in_a_small_type, first_ones_only],
)
def test_others_are_refused(function: Any) -> None:
    assert align(lt.mechanism(function).on_domain(DOMAIN), DOMAIN).price is None
