"""The median income, by noisy counts of how many earn no more than each threshold."""

from __future__ import annotations

from typing import Any

import polars as pl

import liptest as lt
from examples.pipelines.income_quantile import CLAIM, TABLE, THRESHOLDS

__all__ = ["BUGS", "CLAIM", "TABLE", "right"]
INCOME = pl.col("income")


@lt.mechanism
def right(frame: pl.DataFrame, rng: Any) -> Any:
    low, below, found = -1e300, 0.0, THRESHOLDS[-1]
    total = frame.height + rng.laplace(scale=2)
    for threshold in THRESHOLDS:
        within = frame.filter(low < INCOME, threshold >= INCOME).height
        below += within + rng.laplace(scale=2)
        low = threshold
        if below > total / 2:
            found = threshold
            break
    return found


@lt.mechanism
def median_of_the_data(frame: pl.DataFrame, rng: Any) -> Any:
    median = frame.select(INCOME.clip(0, 100_000).median().fill_null(0)).item()
    return median + rng.laplace(scale=10)


@lt.mechanism
def each_threshold_counts_all_below(frame: pl.DataFrame, rng: Any) -> Any:
    counts = [frame.select((one >= INCOME).sum()).item() for one in THRESHOLDS]
    return [one + rng.laplace(scale=2) for one in counts]


BUGS = {
    "a median with noise for few rows": median_of_the_data,
    "one row is below many thresholds": each_threshold_counts_all_below,
}
