"""Random pipelines on frames: no price is below what pandas itself shows on small tables.

A price below the largest change would be a false proof. How often both are equal is counted, so
that the test would notice prices that are only safe because they are large.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from tests.unit.values.frame_prices import compare

Frame = Any
Expression = Callable[[Frame], Any]
COLUMNS: dict[str, Any] = {
    "age": lt.Integer(0, 8, step=4),
    "region": lt.Category(["north", "south"]),
    "member": lt.Bit(),
}
TABLES = {one: lt.Table(COLUMNS, rows=2, relation=one) for one in ("replace", "add_remove")}


def numbers(rng: random.Random, depth: int) -> Expression:
    """A column of numbers."""
    if depth == 0 or rng.random() < 0.25:
        name = rng.choice(["age", "member"])
        return lambda f: f[name]
    inner, other = numbers(rng, depth - 1), numbers(rng, depth - 1)
    low, high = sorted(rng.sample(range(-4, 12), 2))
    factor, condition = rng.choice([-2, -1, 2, 3]), conditions(rng, depth - 1)
    weights = {"north": rng.randint(-3, 3), "south": rng.randint(-3, 3)}
    kinds: list[Expression] = [
        lambda f: inner(f).clip(low, high),
        lambda f: factor * inner(f),
        lambda f: inner(f) + other(f),
        lambda f: inner(f) - other(f),
        lambda f: inner(f) * other(f),
        lambda f: inner(f).where(condition(f), low),
        lambda f: inner(f).mask(condition(f), other(f)),
        lambda f: inner(f).abs(),
        lambda f: inner(f) // 2,
        lambda f: inner(f) % 3,
        lambda f: inner(f) / 4,
        lambda f: np.maximum(inner(f), low),
        lambda f: f["region"].map(weights),
        lambda f: 1 * condition(f),
    ]
    return rng.choice(kinds)


def conditions(rng: random.Random, depth: int) -> Expression:
    """A column of truths."""
    bound, place = rng.randint(-2, 10), rng.choice(["north", "south", "west"])
    inner = numbers(rng, max(depth - 1, 0))
    kinds: list[Expression] = [
        lambda f: inner(f) > bound,
        lambda f: inner(f) <= bound,
        lambda f: inner(f) == bound,
        lambda f: f["region"] == place,
        lambda f: f["region"].isin([place, "south"]),
        lambda f: inner(f).between(0, bound),
    ]
    if depth > 0:
        left, right = conditions(rng, depth - 1), conditions(rng, depth - 1)
        kinds += [lambda f: left(f) & right(f), lambda f: left(f) | right(f), lambda f: ~left(f)]
    return rng.choice(kinds)


def answers(rng: random.Random) -> Expression:
    """One number of a frame."""
    column, condition = numbers(rng, 2), conditions(rng, 2)
    key, by = rng.choice([("north", "region"), ("south", "region"), (1, "member"), (4, "age")])
    kinds: list[Expression] = [
        lambda f: column(f).sum(),
        lambda f: len(f[condition(f)]),
        lambda f: column(f)[condition(f)].sum(),
        lambda f: f[condition(f)]["age"].clip(1, 6).sum(),
        lambda f: f.loc[condition(f), "age"].count(),
        lambda f: condition(f).sum(),
        lambda f: f[condition(f)].groupby(by).size().get(key, 0),
        lambda f: f.assign(new=column(f)).groupby(by)["new"].sum().get(key, 0),
        lambda f: f[condition(f)][by].value_counts().reindex([key], fill_value=0)[key],
        lambda f: column(f).dot(f["member"]),
    ]
    return rng.choice(kinds)


def compared(seed: int) -> str:
    rng = random.Random(seed)
    expression = answers(rng)
    return compare(expression, TABLES[rng.choice(list(TABLES))])


def counted(seeds: range) -> dict[str, int]:
    found = [compared(seed) for seed in seeds]
    return {kind: found.count(kind) for kind in ("equal", "above", "refused")}


@pytest.mark.slow
def test_prices_are_changes() -> None:
    assert counted(range(8))["equal"] >= 6


@pytest.mark.slow
def test_prices_are_changes_of_many_pipelines() -> None:
    assert counted(range(1_000, 1_010))["equal"] >= 8
