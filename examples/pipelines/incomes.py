"""What adults earn in all, and how many they are: real numbers, clipped."""

from __future__ import annotations

from typing import Any

import numpy as np

import liptest as lt

TABLE = lt.Table({"age": lt.Real(0, 120), "income": lt.Real()}, rows=100_000, relation="add_remove")
CLAIM = {"epsilon": 1.0 + 1e-8}
MOST = 200_000


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    adults = frame[frame["age"] >= 18]
    total = adults["income"].clip(0, MOST).sum() + rng.laplace(scale=2 * MOST)
    return total, len(adults) + rng.laplace(scale=2)


@lt.mechanism
def clip_not_used(frame: Any, rng: Any) -> Any:
    adults = frame[frame["age"] >= 18]
    adults["income"].clip(0, MOST)
    total = adults["income"].sum() + rng.laplace(scale=2 * MOST)
    return total, len(adults) + rng.laplace(scale=2)


@lt.mechanism
def bounds_of_the_data(frame: Any, rng: Any) -> Any:
    most = frame["income"].clip(0, MOST).max() if len(frame) else 0.0
    return frame["income"].clip(0, most).sum() + rng.laplace(scale=1 + most)


@lt.mechanism
def count_without_noise(frame: Any, rng: Any) -> Any:
    adults = frame[frame["age"] >= 18]
    total = adults["income"].clip(0, MOST).sum() + rng.laplace(scale=MOST)
    return total, len(adults)


@lt.mechanism
def in_32_bits(frame: Any, rng: Any) -> Any:
    incomes = frame[frame["age"] >= 18]["income"].clip(0, MOST)
    total = 0.0
    if len(incomes):
        total = float(np.cumsum(incomes.to_numpy(dtype=np.float32))[-1])
    return total + rng.laplace(scale=MOST)


BUGS = {
    "clip makes another column": clip_not_used,
    "the largest income says how much noise": bounds_of_the_data,
    "the count is told without noise": count_without_noise,
    "floats of 32 bits are added up one by one": in_32_bits,
}
