"""One epoch of gradient descent in four batches: clipped rows, noise in every step.

The gradients are those at the weights of the beginning; the weights of each step are released.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import liptest as lt
from examples.pipelines.epoch import BATCHES, CLAIM, TABLE, descend

__all__ = ["BUGS", "CLAIM", "TABLE", "right"]


def gradients(frame: pl.DataFrame) -> Any:
    """Of the squared error of income by age, at weights 0; of length 1 at most."""
    rows = frame.select(pl.col("age", "income") / 100).to_numpy()
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)


@lt.mechanism
def right(frame: pl.DataFrame, rng: Any) -> Any:
    return descend(np.array_split(gradients(frame), BATCHES), rng)


@lt.mechanism
def all_rows_in_each_step(frame: pl.DataFrame, rng: Any) -> Any:
    return descend([gradients(frame)] * BATCHES, rng)


@lt.mechanism
def not_clipped(frame: pl.DataFrame, rng: Any) -> Any:
    gradients(frame)
    rows = frame.select(pl.col("age", "income") / 100).to_numpy()
    return descend(np.array_split(rows, BATCHES), rng)


BUGS = {
    "a row is in all steps, and the noise is for one": all_rows_in_each_step,
    "the clipped rows are not used": not_clipped,
}
