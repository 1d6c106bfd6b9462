"""The median age, from noisy counts of those at most so old."""

from __future__ import annotations

from typing import Any

import numpy as np

import liptest as lt

EDGES = list(range(10, 100, 10))
TABLE = lt.Table({"age": lt.Integer(0, 99)}, rows=100_000)
CLAIM = {"epsilon": 1.0}


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    below = [(frame["age"] <= edge).sum() + rng.laplace(scale=len(EDGES)) for edge in EDGES]
    return next((edge for edge, count in zip(EDGES, below, strict=True) if count > 50_000), 100)


@lt.mechanism
def noise_of_one_count(frame: Any, rng: Any) -> Any:
    return [(frame["age"] <= edge).sum() + rng.laplace(scale=1) for edge in EDGES]


@lt.mechanism
def edges_from_the_data(frame: Any, rng: Any) -> Any:
    edges = np.linspace(frame["age"].min(), frame["age"].max(), 3)
    return float(edges[2]), (frame["age"] <= edges[1]).sum() + rng.laplace(scale=1)


BUGS = {
    "one row changes all counts": noise_of_one_count,
    "the edges are those of the data": edges_from_the_data,
}
