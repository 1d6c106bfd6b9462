"""One step of gradient descent: rows are scaled to length 1 at most, and summed up."""

from __future__ import annotations

from typing import Any

import numpy as np

import liptest as lt

COLUMNS = {"age": lt.Integer(0, 100, step=4), "income": lt.Integer(0, 200, step=4)}
TABLE = lt.Table(COLUMNS, rows=100_000)
CLAIM = {"epsilon": 1.0, "delta": 1e-5}


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    rows = frame[["age", "income"]].to_numpy() / 100
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    return (rows.sum(axis=0) + rng.normal(scale=8.0, size=2)).tolist()


@lt.mechanism
def not_scaled(frame: Any, rng: Any) -> Any:
    rows = frame[["age", "income"]].to_numpy() / 100
    np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    return (rows.sum(axis=0) + rng.normal(scale=8.0 / 3, size=2)).tolist()


@lt.mechanism
def noise_too_small(frame: Any, rng: Any) -> Any:
    rows = frame[["age", "income"]].to_numpy() / 100
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    return (rows.sum(axis=0) + rng.normal(scale=1.0, size=2)).tolist()


BUGS = {
    "the scaled rows are not used": not_scaled,
    "the noise is that of another claim": noise_too_small,
}
