"""The mean income of each region, of which the number of people is private."""

from __future__ import annotations

from typing import Any

import polars as pl

import liptest as lt
from examples.pipelines.group_means import CLAIM, REGIONS, TABLE

__all__ = ["BUGS", "CLAIM", "TABLE", "right"]
KEYS = pl.DataFrame({"region": REGIONS})
INCOME = pl.col("income")


def summed(frame: pl.DataFrame, income: pl.Expr) -> pl.DataFrame:
    there = frame.group_by("region", maintain_order=True).agg(
        pl.len().alias("people"), income.sum().alias("total")
    )
    return KEYS.join(there, on="region", how="left", maintain_order="left").fill_null(0)


@lt.mechanism
def right(frame: pl.DataFrame, rng: Any) -> Any:
    means = {}
    for region, people, total in summed(frame, INCOME.clip(0, 100)).iter_rows():
        noisy = people + rng.laplace(scale=2)
        means[region] = (total + rng.laplace(scale=200)) / max(noisy, 1.0)
    return means


@lt.mechanism
def exact_counts(frame: pl.DataFrame, rng: Any) -> Any:
    sums = summed(frame, INCOME.clip(0, 100))
    noisy = sums["total"].to_numpy() + rng.laplace(scale=100, size=len(REGIONS))
    return noisy.tolist(), sums["people"].to_list()[0] > 1000


@lt.mechanism
def mean_with_private_n(frame: pl.DataFrame, rng: Any) -> Any:
    mean = frame.select(INCOME.clip(0, 100).mean().fill_null(0)).item()
    return mean + rng.laplace(scale=100 / 1000)


@lt.mechanism
def clip_not_used(frame: pl.DataFrame, rng: Any) -> Any:
    frame.with_columns(INCOME.clip(0, 100))
    sums = summed(frame, INCOME)
    return (sums["total"].to_numpy() + rng.laplace(scale=100, size=len(REGIONS))).tolist()


BUGS = {
    "counts are told without noise": exact_counts,
    "the mean of few rows moves more": mean_with_private_n,
    "with_columns makes another frame": clip_not_used,
}
