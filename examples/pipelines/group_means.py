"""The mean income of each region, of which the number of people is private."""

from __future__ import annotations

from typing import Any

import liptest as lt

REGIONS = ["north", "south", "east", "west"]
COLUMNS = {"income": lt.Integer(0, 200, step=10), "region": lt.Category(REGIONS)}
TABLE = lt.Table(COLUMNS, rows=100_000, relation="add_remove")
CLAIM = {"epsilon": 1.0}


def clipped_sums(frame: Any) -> Any:
    incomes = frame.assign(income=frame.income.clip(0, 100))
    return incomes.groupby("region")["income"].sum().reindex(REGIONS, fill_value=0)


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    counts = frame.groupby("region").size().reindex(REGIONS, fill_value=0)
    counts = counts + rng.laplace(scale=2, size=len(REGIONS))
    sums = clipped_sums(frame) + rng.laplace(scale=200, size=len(REGIONS))
    return {one: sums[one] / max(counts[one], 1.0) for one in REGIONS}


@lt.mechanism
def exact_counts(frame: Any, rng: Any) -> Any:
    sums = clipped_sums(frame) + rng.laplace(scale=100, size=len(REGIONS))
    counts = frame.groupby("region").size().reindex(REGIONS, fill_value=0)
    return sums.to_dict(), counts["north"] > 1000


@lt.mechanism
def mean_with_private_n(frame: Any, rng: Any) -> Any:
    return frame.income.clip(0, 100).mean() + rng.laplace(scale=100 / 1000)


@lt.mechanism
def clip_not_used(frame: Any, rng: Any) -> Any:
    frame.income.clip(0, 100)
    sums = frame.groupby("region")["income"].sum().reindex(REGIONS, fill_value=0)
    return (sums + rng.laplace(scale=100, size=len(REGIONS))).to_dict()


BUGS = {
    "counts are told without noise": exact_counts,
    "the mean of few rows moves more": mean_with_private_n,
    "clip makes another column": clip_not_used,
}
