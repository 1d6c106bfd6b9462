"""Local responses that a function with defaults makes, counted: P2 of docs/theory/records.md.

Nothing can be put into a default that is a number or a text; into a list it can.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt

FOUR = lt.RecordGrid([4] * 5000)
#: At this chance of the value itself, beside a quarter of the rest, the price is 1.
KEPT = (math.e - 1) / (math.e + 3)
STORE: list[Any] = []


def responses(data: Any, rng: Any, kept: float = KEPT) -> Any:
    is_kept = rng.random(len(data)) < kept
    return np.where(is_kept, data, rng.integers(0, 4, size=len(data)))


def named(data: Any, rng: Any, *, kept: float = KEPT, kinds: int = 4) -> Any:
    is_kept = rng.random(len(data)) < kept
    return np.where(is_kept, data, rng.integers(0, kinds, size=len(data)))


def with_a_store(data: Any, rng: Any, kept: float = KEPT, store: list[Any] = STORE) -> Any:
    store.append(data.sum())
    is_kept = rng.random(len(data)) < kept
    return np.where(is_kept, data, rng.integers(0, 4, size=len(data)))


def as_they_are(data: Any, rng: Any, kept: float = KEPT) -> Any:
    return data


COUNTED = {
    "counts": lambda data, rng: np.bincount(responses(data, rng), minlength=4).tolist(),
    "sum": lambda data, rng: int(responses(data, rng).sum()),
    "mean": lambda data, rng: float(responses(data, rng).mean()),
    "by name": lambda data, rng: np.bincount(named(data, rng), minlength=4).tolist(),
    "each": lambda data, rng: [int((named(data, rng) == 2).sum())],
}
#: The same with what a claim of 1 does not hold for, or is not known to.
OTHERS = {
    "kept more often": lambda data, rng: np.bincount(
        responses(data, rng, 0.6), minlength=4
    ).tolist(),
    "kept by the data": lambda data, rng: int(responses(data, rng, data.mean() / 9).sum()),
    "in a store": lambda data, rng: [int(with_a_store(data, rng).sum()), int(STORE[-1])],
    "as they are": lambda data, rng: np.bincount(as_they_are(data, rng), minlength=4).tolist(),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_responses_are_proved_at_their_price(name: str) -> None:
    verdict = lt.check_privacy(COUNTED[name], FOUR, epsilon=1.0 + 1e-9)
    assert verdict.decision == "YES"


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_others_are_not_proved(name: str) -> None:
    assert lt.check_privacy(OTHERS[name], FOUR, epsilon=1.0).decision != "YES"
