"""What people spend in all: who comes often counts three times at most."""

from __future__ import annotations

from typing import Any

import polars as pl

import liptest as lt
from examples.pipelines.visits import CLAIM, MOST, TABLE, VISITS

__all__ = ["BUGS", "CLAIM", "TABLE", "right"]
SPEND = pl.col("spend").clip(0, MOST)


@lt.mechanism
def right(frame: pl.DataFrame, rng: Any) -> Any:
    few = frame.group_by("user", maintain_order=True).head(VISITS)
    return few.select(SPEND.sum()).item() + rng.laplace(scale=VISITS * MOST)


@lt.mechanism
def one_row_more(frame: pl.DataFrame, rng: Any) -> Any:
    few = frame.group_by("user", maintain_order=True).head(VISITS + 1)
    return few.select(SPEND.sum()).item() + rng.laplace(scale=VISITS * MOST)


@lt.mechanism
def not_bounded(frame: pl.DataFrame, rng: Any) -> Any:
    frame.group_by("user", maintain_order=True).head(VISITS)
    return frame.select(SPEND.sum()).item() + rng.laplace(scale=VISITS * MOST)


@lt.mechanism
def noise_for_rows(frame: pl.DataFrame, rng: Any) -> Any:
    few = frame.group_by("user", maintain_order=True).head(VISITS)
    return few.select(SPEND.sum()).item() + rng.laplace(scale=MOST)


BUGS = {
    "one row more than the noise is for": one_row_more,
    "the bounded rows are not used": not_bounded,
    "the noise is for one row": noise_for_rows,
}
