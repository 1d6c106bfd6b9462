"""The median income, by noisy counts of how many earn no more than each threshold."""

from __future__ import annotations

from typing import Any

import liptest as lt

TABLE = lt.Table({"income": lt.Real()}, rows=100_000, relation="add_remove")
CLAIM = {"epsilon": 1.0}
THRESHOLDS = [10_000 * step for step in range(1, 11)]


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    income, low, below, found = frame["income"], -1e300, 0.0, THRESHOLDS[-1]
    total = len(frame) + rng.laplace(scale=2)
    for threshold in THRESHOLDS:
        below += ((income > low) & (income <= threshold)).sum() + rng.laplace(scale=2)
        low = threshold
        if below > total / 2:
            found = threshold
            break
    return found


@lt.mechanism
def median_of_the_data(frame: Any, rng: Any) -> Any:
    return frame["income"].clip(0, 100_000).median() + rng.laplace(scale=10)


@lt.mechanism
def each_threshold_counts_all_below(frame: Any, rng: Any) -> Any:
    return [(frame["income"] <= one).sum() + rng.laplace(scale=2) for one in THRESHOLDS]


@lt.mechanism
def bounds_of_the_data(frame: Any, rng: Any) -> Any:
    """As in google/dpsynth, issue 34: quantiles with noise between ends that have none."""
    income = frame["income"]
    low, high = float(income.min()), float(income.max())
    edges = [low + (high - low) * step / 4 for step in range(1, 4)]
    return low, high, [(income <= edge).sum() + rng.laplace(scale=3) for edge in edges]


BUGS = {
    "the smallest and the largest are answered": bounds_of_the_data,
    "a median with noise for few rows": median_of_the_data,
    "one row is below many thresholds": each_threshold_counts_all_below,
}
