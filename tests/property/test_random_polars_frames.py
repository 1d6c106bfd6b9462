"""Random pipelines in polars: no price is below what polars itself shows on small tables.

A price below the largest change would be a false proof. How often both are equal is counted, so
that the test would notice prices that are only safe because they are large.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import liptest as lt
from tests.unit.values.frame_prices import compare

COLUMNS: dict[str, Any] = {
    "age": lt.Integer(-2, 7, step=3),
    "region": lt.Category(["north", "south"]),
    "member": lt.Bit(),
}
TABLES = {one: lt.Table(COLUMNS, rows=2, relation=one) for one in ("replace", "add_remove")}
Expression = Callable[[Any], Any]


def numbers(rng: random.Random, depth: int) -> pl.Expr:
    """A column of numbers."""
    if depth == 0 or rng.random() < 0.2:
        return pl.col(rng.choice(["age", "member"]))
    inner, other = numbers(rng, depth - 1), numbers(rng, depth - 1)
    low, high = sorted(rng.sample(range(-4, 12), 2))
    condition = conditions(rng, depth - 1)
    kinds: list[Callable[[], pl.Expr]] = [
        lambda: inner.clip(low, high),
        lambda: rng.choice([-2, -1, 2, 3]) * inner,
        lambda: inner + other,
        lambda: inner - other,
        lambda: inner * other,
        lambda: pl.when(condition).then(inner).otherwise(low),
        lambda: pl.when(condition).then(inner).otherwise(other),
        lambda: inner.abs(),
        lambda: inner // 2,
        lambda: inner % 3,
        lambda: inner / 4,
        lambda: -inner,
        lambda: condition.cast(pl.Int64),
        lambda: (inner / 2).floor(),
        lambda: (inner / 2).round(0),
    ]
    return rng.choice(kinds)()


def conditions(rng: random.Random, depth: int) -> pl.Expr:
    """A column of truths."""
    bound, place = rng.randint(-2, 10), rng.choice(["north", "south", "west"])
    inner = numbers(rng, max(depth - 1, 0))
    kinds: list[Callable[[], pl.Expr]] = [
        lambda: inner > bound,
        lambda: inner <= bound,
        lambda: inner == bound,
        lambda: pl.col("region") == place,
        lambda: pl.col("region").is_in([place, "south"]),
        lambda: pl.col("age").is_in([1, bound]),
        lambda: inner.is_between(0, bound),
    ]
    if depth > 0:
        left, right = conditions(rng, depth - 1), conditions(rng, depth - 1)
        kinds += [lambda: left & right, lambda: left | right, lambda: ~left, lambda: left ^ right]
    return rng.choice(kinds)()


def answers(rng: random.Random) -> Expression:
    """One number of a frame."""
    column, condition = numbers(rng, 2), conditions(rng, 2)
    key, by = rng.choice([("north", "region"), ("south", "region"), (1, "member"), (4, "age")])
    keys = pl.DataFrame({by: [key]})

    def of_group(frame: Any) -> Any:
        groups = frame.filter(condition).group_by(by, maintain_order=True).agg(new=column.sum())
        found = keys.join(groups, on=by, how="left", maintain_order="left")
        return found.fill_null(0)["new"].item()

    kinds: list[Expression] = [
        lambda f: f.select(column.sum()).item(),
        lambda f: f.filter(condition).height,
        lambda f: f.filter(condition).select(column.sum()).item(),
        lambda f: f.select(column.filter(condition).sum()).item(),
        lambda f: f.with_columns(new=column).filter(condition)["new"].sum(),
        lambda f: f.select(condition.sum()).item(),
        of_group,
    ]
    return rng.choice(kinds)


def compared(seed: int) -> str:
    rng = random.Random(seed)
    expression = answers(rng)
    return compare(expression, TABLES[rng.choice(list(TABLES))], "polars")


@pytest.mark.slow
def test_prices_are_changes() -> None:
    found = [compared(seed) for seed in range(6)]
    assert found.count("equal") >= 4, found
