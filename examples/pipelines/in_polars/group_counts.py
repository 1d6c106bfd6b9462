"""How many people live in each region; small counts are left out after the noise."""

from __future__ import annotations

from typing import Any

import polars as pl

import liptest as lt
from examples.pipelines.group_counts import CLAIM, REGIONS, TABLE

__all__ = ["BUGS", "CLAIM", "TABLE", "right"]
KEYS = pl.DataFrame({"region": REGIONS})


def counted(frame: pl.DataFrame) -> pl.DataFrame:
    there = frame.group_by("region", maintain_order=True).len()
    return KEYS.join(there, on="region", how="left", maintain_order="left").fill_null(0)


@lt.mechanism
def right(frame: pl.DataFrame, rng: Any) -> Any:
    noisy = {region: count + rng.laplace(scale=2) for region, count in counted(frame).iter_rows()}
    return {region: count for region, count in noisy.items() if count > 20}


@lt.mechanism
def keys_of_the_data(frame: pl.DataFrame, rng: Any) -> Any:
    counts = frame.group_by("region", maintain_order=True).len()
    return {region: count + rng.laplace(scale=2) for region, count in counts.iter_rows()}


@lt.mechanism
def threshold_before_noise(frame: pl.DataFrame, rng: Any) -> Any:
    counts = {region: count for region, count in counted(frame).iter_rows() if count > 20}
    return {region: count + rng.laplace(scale=2) for region, count in counts.items()}


@lt.mechanism
def noise_for_one_group(frame: pl.DataFrame, rng: Any) -> Any:
    return {region: count + rng.laplace(scale=1) for region, count in counted(frame).iter_rows()}


BUGS = {
    "keys are those that occur": keys_of_the_data,
    "the threshold looks at exact counts": threshold_before_noise,
    "a replaced row changes two groups": noise_for_one_group,
}
