"""One epoch of gradient descent in four batches: clipped rows, noise in every step.

The gradients are those at the weights of the beginning; the weights of each step are released.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import liptest as lt

COLUMNS = {"age": lt.Integer(0, 100, step=20), "income": lt.Integer(0, 200, step=20)}
TABLE = lt.Table(COLUMNS, rows=100_000)
CLAIM = {"epsilon": 1.0, "delta": 1e-5}
BATCHES, RATE, NOISE = 4, 0.01, 8.0


def gradients(frame: Any) -> Any:
    """Of the squared error of income by age, at weights 0; of length 1 at most."""
    rows = frame[["age", "income"]].to_numpy() / 100
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)


def descend(batches: Any, rng: Any) -> Any:
    """The weights after each batch, from its sum of gradients with noise."""
    weights, path = np.zeros(2), []
    for batch in batches:
        weights = weights - RATE * (batch.sum(axis=0) + rng.normal(scale=NOISE, size=2))
        path.append(weights.tolist())
    return path


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    return descend(np.array_split(gradients(frame), BATCHES), rng)


@lt.mechanism
def all_rows_in_each_step(frame: Any, rng: Any) -> Any:
    return descend([gradients(frame)] * BATCHES, rng)


@lt.mechanism
def not_clipped(frame: Any, rng: Any) -> Any:
    gradients(frame)
    rows = frame[["age", "income"]].to_numpy() / 100
    return descend(np.array_split(rows, BATCHES), rng)


BUGS = {
    "a row is in all steps, and the noise is for one": all_rows_in_each_step,
    "the clipped rows are not used": not_clipped,
}
