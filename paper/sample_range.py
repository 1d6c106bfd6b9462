"""Exact law of the smallest and the largest of t sampled values, and Claim 4.4 of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paper.rows import ClaimRow, Table, scaled

Floats = NDArray[np.float64]
_LAWS = 400


def extremes_law(values: Table, masses: Floats, draws: int) -> Iterator[tuple[int, int, float]]:
    """(smallest, largest, probability) for ``draws`` independent values; values are whole numbers.

    All draws lie in [a, b] with probability mass(a, b)^draws; differences give the law.
    """
    support = np.unique(values[masses > 0])
    weights = np.array([masses[values == value].sum() for value in support])
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    for i in range(len(support)):
        for j in range(i, len(support)):
            inside = (sums[j + 1] - sums[i]) ** draws
            inside -= (sums[j + 1] - sums[i + 1]) ** draws + (sums[j] - sums[i]) ** draws
            if j > i:
                inside += (sums[j] - sums[i + 1]) ** draws
            yield int(support[i]), int(support[j]), max(0.0, float(inside))


def too_narrow(weights: Floats, proximity: float, failure: float) -> float:
    """Pr[f is not proximity-close to having diameter r] for f with values 0, 1, 2, ..

    f is close when some interval of length r holds mass 1 - proximity; r is the range of
    ceil((2 / proximity) ln(2 / failure)) values, as printed.
    """
    draws = math.ceil(2.0 / proximity * math.log(2.0 / failure))
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    lost = 0.0
    for low, high, chance in extremes_law(np.arange(len(weights)), weights, draws):
        width = high - low + 1
        heaviest = float(np.max(sums[width:] - sums[:-width]))
        if 1.0 - heaviest > proximity * (1 + 1e-9):
            lost += chance
    return lost


def claim_4_4(share: float = 1.0) -> list[ClaimRow]:
    """The sample diameter, exactly: for usual failure probabilities, and for any below 1."""
    usual = [0.5, 0.1, 0.01, 1e-3]
    rng = np.random.default_rng(44)
    worst = 0.0
    count = scaled(_LAWS, share)
    for number in range(count):
        weights = rng.dirichlet(np.full(2 ** int(rng.integers(1, 6)), float(rng.choice([0.2, 5]))))
        proximity, failure = float(rng.choice([0.05, 0.1, 0.3])), usual[number % len(usual)]
        worst = max(worst, too_narrow(weights, proximity, failure) / (failure / 2))
    for failure in usual:
        worst = max(worst, too_narrow(np.full(64, 1 / 64), 0.1, failure) / (failure / 2))
    claim = "Claim 4.4: dist(f, diameter <= r) <= proximity but for failure/2"
    large, allowed = too_narrow(np.full(128, 1 / 128), 0.1, 0.9), 0.9 / 2
    return [
        ClaimRow(
            f"{claim}, failure <= 1/2",
            f"{count} random laws of up to 32 values and 64 equally likely ones, exact law of the "
            f"sample's range",
            f"largest exact probability of failing over failure/2: {worst:.3g}",
            worst <= 1,
        ),
        ClaimRow(
            f"{claim}, for every failure < 1",
            "128 equally likely values (f injective, d = 7), proximity 0.1, failure 0.9",
            f"exact probability of failing {large:.4f}, allowed {allowed:.4f}",
            large <= allowed,
            expected=False,
        ),
    ]
