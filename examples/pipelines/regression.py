"""Sums for a regression of income on age, clipped."""

from __future__ import annotations

from typing import Any

import liptest as lt

TABLE = lt.Table({"age": lt.Integer(0, 120, step=2), "income": lt.Integer(0, 300)}, rows=100_000)
CLAIM = {"epsilon": 1.0}


def clipped(frame: Any) -> tuple[Any, Any]:
    return frame["age"].clip(18, 68) - 43, frame["income"].clip(0, 100)


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    age, income = clipped(frame)
    products = (age * income).sum() + rng.laplace(scale=2 * 25 * 200)
    squares = (age * age).sum() + rng.laplace(scale=2 * 25 * 25)
    return products, squares


@lt.mechanism
def noise_for_one_sum(frame: Any, rng: Any) -> Any:
    age, income = clipped(frame)
    return (age * income).sum() + rng.laplace(scale=25 * 200), int((age * age).sum())


@lt.mechanism
def income_not_clipped(frame: Any, rng: Any) -> Any:
    age = frame["age"].clip(18, 68) - 43
    products = (age * frame["income"]).sum() + rng.laplace(scale=2 * 25 * 200)
    squares = (age * age).sum() + rng.laplace(scale=2 * 25 * 25)
    return products, squares


BUGS = {
    "one sum has no noise": noise_for_one_sum,
    "one factor is not clipped": income_not_clipped,
}
