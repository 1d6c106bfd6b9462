"""One step of gradient descent for users: one row of each, scaled to length 1 at most."""

from __future__ import annotations

from typing import Any

import numpy as np

import liptest as lt

COLUMNS = {
    "user": lt.Key(),
    "age": lt.Integer(0, 100, step=10),
    "income": lt.Integer(0, 200, step=10),
}
TABLE = lt.Table(COLUMNS, rows=100_000, unit="user")
CLAIM = {"epsilon": 1.0, "delta": 1e-5}


def scaled(frame: Any) -> Any:
    rows = frame[["age", "income"]].to_numpy() / 100
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    rows = scaled(frame.drop_duplicates("user"))
    return (rows.sum(axis=0) + rng.normal(scale=8.0, size=2)).tolist()


@lt.mechanism
def all_rows(frame: Any, rng: Any) -> Any:
    return (scaled(frame).sum(axis=0) + rng.normal(scale=8.0, size=2)).tolist()


@lt.mechanism
def three_rows(frame: Any, rng: Any) -> Any:
    rows = scaled(frame.groupby("user").head(3))
    return (rows.sum(axis=0) + rng.normal(scale=8.0, size=2)).tolist()


BUGS = {
    "all rows of a user count": all_rows,
    "noise for one row, and three of them": three_rows,
}
