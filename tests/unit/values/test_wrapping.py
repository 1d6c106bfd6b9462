"""Whole numbers of NumPy that wrap beyond their type: never a proof from the line before that."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import liptest as lt

PEOPLE = 300
TOP = 2**63 - 1
Statistic = Callable[[Any], Any]

# Each is a line of slope 1 or 2 in the count but for the counts at which it wraps.
WRAPS: dict[str, Statistic] = {
    "a constant": lambda data: data.sum() + (TOP - PEOPLE + 1),
    "below": lambda data: -data.sum() - (TOP - PEOPLE + 2),
    "twice": lambda data: (data.sum() + (2**62 - PEOPLE)) * 2,
    "itself": lambda data: (data.sum() + 2**62) + (data.sum() + (2**62 - 2 * PEOPLE)),
    "only in the middle": lambda data: (
        (np.minimum(data.sum(), PEOPLE - data.sum()) + (2**62 - PEOPLE // 2)) * 2
    ),
    "of Python": lambda data: (min(data.sum(), PEOPLE - data.sum()) + (2**62 - PEOPLE // 2)) * 2,
    "a distance": lambda data: (-abs(data.sum() - PEOPLE // 2) + 2**62) * 2,
    "kept between": lambda data: np.clip(data.sum(), 100, 200) + (TOP - 199),
    "made NumPy's": lambda data: np.abs(int(data.sum()) + (2**62 - PEOPLE)) * 2,
    "of counts": lambda data: np.bincount(data, minlength=2)[1] + np.int64(TOP - PEOPLE + 1),
    "half of it": lambda data: (data.sum() + (2**62 - PEOPLE)) * 2 / 2,
    "a narrow type": lambda data: np.int32(data.sum()) + np.int32(2**31 - PEOPLE),
}
# One less, and nothing wraps: the same lines are proved.
FITS: dict[str, Statistic] = {
    "a constant": lambda data: data.sum() + (TOP - PEOPLE),
    "below": lambda data: -data.sum() - (TOP - PEOPLE + 1),
    "twice": lambda data: (data.sum() + (2**62 - PEOPLE - 1)) * 2,
    "itself": lambda data: (data.sum() + 2**61) + (data.sum() + 1),
    "kept between": lambda data: np.clip(data.sum(), 100, 200) + (TOP - 200),
    "of counts": lambda data: np.bincount(data, minlength=2)[1] + np.int64(TOP - PEOPLE),
    "no constant": lambda data: data.sum() * 2**20,
    "of Python": lambda data: int(data.sum()) + 2**70,
}


def price_of(statistic: Statistic) -> int:
    """By how much neighbours move it at most, whole numbers as they are."""
    counts = np.tri(PEOPLE + 1, PEOPLE, -1, dtype=np.int64)
    with np.errstate(all="ignore"):
        values = [int(statistic(row)) for row in counts]
    return max(abs(after - before) for before, after in pairwise(values))


def verdict_of(statistic: Statistic, scale: float, epsilon: float) -> lt.PrivacyVerdict:
    def noisy(data: Any, rng: Any) -> Any:
        return statistic(data) + rng.laplace(0, scale)

    mechanism, people = lt.mechanism(noisy), lt.Hypercube(PEOPLE)
    return lt.check_privacy(mechanism, people, epsilon=epsilon, method="alignment", floats="ideal")


@pytest.mark.filterwarnings("ignore:.*overflow")
@pytest.mark.parametrize("name", WRAPS)
def test_what_some_count_makes_too_large_is_not_proved(name: str) -> None:
    statistic = WRAPS[name]
    assert price_of(statistic) > 2**30, "it wraps"
    assert verdict_of(statistic, 2.0, 1.001).decision == "INCONCLUSIVE"


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_what_fits_for_every_count_is_proved(name: str) -> None:
    statistic = FITS[name]
    price = price_of(statistic)
    assert price <= 2**20
    verdict = verdict_of(statistic, price / 2, 2.0001)
    assert verdict.decision == "YES"
    assert verdict_of(statistic, price / 2, 1.9999).decision != "YES"
    # With more records it would wrap, unless Python calculates.
    is_of_any_size = "for every number of records" in str(verdict)
    assert is_of_any_size is (name in ("of Python", "no constant", "itself"))
