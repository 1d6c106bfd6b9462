"""Code that gets a statistic is followed as the same code on the records that it is a sum over."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

BITS = lt.Hypercube(5000)
KINDS = lt.RecordGrid([3] * 5000)
WEIGHTS = lt.statistics.Contributions([0, 2, 5])
TWO = lt.statistics.Contributions([[0, 1], [3, 0], [1, 1]])


def noisy(value: Any, rng: Any) -> Any:
    return value + rng.laplace(0, 2)


def every_entry(values: Any, rng: Any) -> Any:
    return [value + rng.laplace(0, 2) for value in values]


def largest(values: Any, rng: Any) -> int:
    return int(np.argmax(values + rng.laplace(0, 2, size=len(values))))


def two_geometrics(value: Any, rng: Any) -> Any:
    return value + rng.geometric(0.5) - rng.geometric(0.5)


@pytest.mark.parametrize(
    ("function", "statistic", "domain", "price"),
    [
        (noisy, lt.Count(), BITS, Fraction(1, 2)),
        (noisy, WEIGHTS, KINDS, Fraction(5, 2)),
        (every_entry, lt.Histogram(3), KINDS, Fraction(1)),
        (every_entry, TWO, KINDS, Fraction(2)),
        (largest, lt.Histogram(3), KINDS, Fraction(1)),
    ],
)
def test_the_price_is_that_of_the_sums(
    function: Any, statistic: Any, domain: Any, price: Fraction
) -> None:
    found = align(lt.mechanism(function, statistic=statistic), domain)
    assert found.price is not None, found.reason
    assert found.price.epsilon == price


@pytest.mark.slow
def test_noise_of_two_parts_on_a_count_of_many() -> None:
    mechanism = lt.mechanism(two_geometrics, statistic=lt.Count())
    assert lt.check_privacy(mechanism, BITS, epsilon=0.7).guarantee.kind == "proof"
    found = lt.check_privacy(mechanism, BITS, epsilon=0.69)
    assert found.decision == "NO"
    assert found.witness is not None
    assert found.witness.verify(mechanism)


class Lies(lt.Count):
    """Records are told, whatever its table says."""

    def values(self, points: Any) -> Any:
        return points.sum(axis=1) ** 2


@pytest.mark.parametrize(
    "statistic",
    [Lies(), lt.statistics.WeightedSum(np.arange(5000)), lt.statistics.OrderStatistic(3)],
)
def test_what_is_not_one_table_for_certain_is_not_followed(statistic: Any) -> None:
    found = align(lt.mechanism(noisy, statistic=statistic), BITS)
    assert found.price is None
    assert "statistic" in found.reason


def test_histograms_of_counts_are_not_followed() -> None:
    statistic = lt.Histogram(3, given="counts")
    found = align(lt.mechanism(every_entry, statistic=statistic), lt.Hypergrid([50] * 3))
    assert found.price is None


def test_a_statistic_of_other_records_is_refused() -> None:
    mechanism = lt.mechanism(every_entry, statistic=lt.Histogram(3))
    found = align(mechanism, lt.RecordGrid([4] * 5000))
    assert found.price is None
    assert "other records" in found.reason
    with pytest.raises(lt.errors.InputError, match="statistic"):
        lt.exact_epsilon(mechanism, lt.RecordGrid([4] * 5000))


def test_a_statistic_cannot_be_written_to() -> None:
    def writes(values: Any, rng: Any) -> Any:
        values[0] = 0
        return values[1] + rng.laplace()

    found = align(lt.mechanism(writes, statistic=lt.Histogram(3)), KINDS)
    assert found.price is None
    assert "write" in found.reason


def test_an_int_is_an_int() -> None:
    seen = []

    def asks(value: Any, rng: Any) -> Any:
        seen.append(isinstance(value, np.integer))
        return value + rng.laplace()

    align(lt.mechanism(asks, statistic=lt.Count()), BITS)
    assert seen
    assert not any(seen)


@pytest.mark.slow
def test_code_that_always_raises_is_broken_and_raising_on_some_data_is_a_no() -> None:
    def always(value: Any, rng: Any) -> Any:
        raise ValueError("none" if rng.integers(2) else "nothing")

    with pytest.raises(lt.errors.MechanismError, match="broken"):
        lt.check_privacy(lt.mechanism(always, statistic=lt.Count()), BITS, epsilon=1.0)

    def on_few(value: Any, rng: Any) -> Any:
        if value < 5000:
            raise ValueError("too few")
        return value + rng.laplace()

    mechanism = lt.mechanism(on_few, statistic=lt.Count())
    line = on_few.__code__.co_firstlineno + 2
    assert mechanism.only_raises(np.zeros(5000, dtype=int)) == (
        f"ValueError: 'too few' at test_statistic_programs.py:{line}: raise ValueError(\"too few\")"
    )
    assert mechanism.only_raises(np.ones(5000, dtype=int)) is None
    found = lt.check_privacy(mechanism, BITS, epsilon=1.0)
    assert found.decision == "NO"


@pytest.mark.slow
def test_code_that_chooses_for_ever_ends_where_one_run_is_looked_at() -> None:
    def forever(data: Any, rng: Any) -> int:
        while rng.integers(3) < 3:
            pass
        return 0

    assert lt.mechanism(forever).only_raises(np.zeros(3, dtype=int)) is None
