"""Sums for a regression of income on age, clipped."""

from __future__ import annotations

from typing import Any

import polars as pl

import liptest as lt

TABLE = lt.Table(
    {"age": lt.Integer(0, 120, step=4), "income": lt.Integer(0, 300, step=10)}, rows=100_000
)
CLAIM = {"epsilon": 1.0}
AGE = pl.col("age").clip(18, 68) - 43
INCOME = pl.col("income").clip(0, 100)


@lt.mechanism
def right(frame: pl.DataFrame, rng: Any) -> Any:
    sums = frame.select(products=(AGE * INCOME).sum(), squares=(AGE * AGE).sum())
    products = sums["products"].item() + rng.laplace(scale=2 * 25 * 200)
    return products, sums["squares"].item() + rng.laplace(scale=2 * 25 * 25)


@lt.mechanism
def noise_for_one_sum(frame: pl.DataFrame, rng: Any) -> Any:
    products, squares = frame.select((AGE * INCOME).sum(), s=(AGE * AGE).sum()).row(0)
    return products + rng.laplace(scale=25 * 200), squares


@lt.mechanism
def income_not_clipped(frame: pl.DataFrame, rng: Any) -> Any:
    sums = frame.select(products=(AGE * pl.col("income")).sum(), squares=(AGE * AGE).sum())
    products = sums["products"].item() + rng.laplace(scale=2 * 25 * 200)
    return products, sums["squares"].item() + rng.laplace(scale=2 * 25 * 25)


BUGS = {
    "one sum has no noise": noise_for_one_sum,
    "one factor is not clipped": income_not_clipped,
}
