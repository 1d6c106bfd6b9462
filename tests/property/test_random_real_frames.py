"""Random pipelines on frames of real numbers and of users: no price is below what pandas shows.

Rows are tried at the constants that the pipelines compare with, the floats next to these, and at
ends. A price below the largest change that is found would be a false proof.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

Frame = Any
Expression = Callable[[Frame], Any]
COLUMNS: dict[str, Any] = {
    "age": lt.Real(-2, 8),
    "income": lt.Real(),
    "region": lt.Category(["north", "south"]),
}
BOUNDS = (-1.0, 0.0, 2.5, 4.0, 6.0)
AGES = sorted({-2.0, 8.0, 1.7, *BOUNDS, *(math.nextafter(one, math.inf) for one in BOUNDS)})
INCOMES = (-1e9, 0.0, 2.5, math.nextafter(2.5, 3), 3.3, 1e9)
ROWS = list(product(AGES, INCOMES, ("north", "south")))
NAMES = ["age", "income", "region"]


def numbers(rng: random.Random, depth: int) -> Expression:
    """A column of numbers with ends."""
    if depth == 0 or rng.random() < 0.2:
        low, high = sorted(rng.sample(BOUNDS, 2))
        return rng.choice([lambda f: f["age"], lambda f: f["income"].clip(low, high)])
    inner, other = numbers(rng, depth - 1), numbers(rng, depth - 1)
    low, high = sorted(rng.sample(BOUNDS, 2))
    factor, condition = rng.choice([-2, 0.3, 2, 3]), conditions(rng, depth - 1)
    weights = {"north": rng.randint(-3, 3), "south": rng.randint(-3, 3)}
    kinds: list[Expression] = [
        lambda f: inner(f).clip(low, high),
        lambda f: factor * inner(f),
        lambda f: inner(f) + other(f),
        lambda f: inner(f) - other(f),
        lambda f: inner(f) * other(f),
        lambda f: low - inner(f),
        lambda f: inner(f).where(condition(f), low),
        lambda f: inner(f).mask(condition(f), other(f)),
        lambda f: inner(f).abs(),
        lambda f: inner(f) / 4,
        lambda f: inner(f) ** 2,
        lambda f: np.sqrt(inner(f).abs()),
        lambda f: np.maximum(inner(f), low),
        lambda f: np.floor(inner(f)),
        lambda f: inner(f) * f["region"].map(weights),
        lambda f: inner(f) * condition(f),
    ]
    return rng.choice(kinds)


def conditions(rng: random.Random, depth: int) -> Expression:
    """A column of truths."""
    bound, name = rng.choice(BOUNDS), rng.choice(["age", "income"])
    kinds: list[Expression] = [
        lambda f: f[name] > bound,
        lambda f: f[name] <= bound,
        lambda f: f[name] == bound,
        lambda f: f["age"].between(0, bound),
        lambda f: f["region"] == "north",
    ]
    if depth > 0:
        left, right = conditions(rng, depth - 1), conditions(rng, depth - 1)
        kinds += [lambda f: left(f) & right(f), lambda f: left(f) | right(f), lambda f: ~left(f)]
    return rng.choice(kinds)


def answers(rng: random.Random) -> Expression:
    """One number of a frame."""
    column, condition = numbers(rng, 2), conditions(rng, 1)
    edges = sorted(rng.sample(BOUNDS, 3))
    kinds: list[Expression] = [
        lambda f: column(f).sum(),
        lambda f: len(f[condition(f)]),
        lambda f: column(f)[condition(f)].sum(),
        lambda f: f[condition(f)]["age"].clip(1, 6).sum(),
        lambda f: condition(f).sum(),
        lambda f: f[condition(f)].groupby("region").size().get("north", 0),
        lambda f: f.assign(new=column(f)).groupby("region")["new"].sum().get("south", 0),
        lambda f: pd.cut(f["age"], edges, labels=["a", "b"]).value_counts(sort=False)["b"],
        lambda f: (
            f.assign(new=column(f), band=pd.cut(f["age"], edges, labels=["a", "b"], right=False))
            .groupby("band", observed=False)["new"]
            .sum()["a"]
        ),
    ]
    return rng.choice(kinds)


def views(rng: random.Random) -> Expression:
    """Rows of users of which so many are kept."""
    condition, few = conditions(rng, 1), rng.choice([1, 2])
    kinds: list[Expression] = [
        lambda f: f,
        lambda f: f.groupby("user").head(few),
        lambda f: f.drop_duplicates("user"),
        lambda f: f[condition(f)].groupby("user").head(few),
        lambda f: f.groupby("user").head(2)[condition(f.groupby("user").head(2))],
        lambda f: f[condition(f)].groupby("user").head(2).drop_duplicates("user"),
    ]
    return rng.choice(kinds)


def pipeline(rng: random.Random, *, of_users: bool) -> Expression:
    """One number, or two."""
    made = []
    for _ in range(rng.choice([1, 1, 2])):
        answer, view = answers(rng), views(rng) if of_users else None
        made.append((answer, view))

    def released(frame: Any) -> list[Any]:
        return [one(frame if of is None else of(frame)) for one, of in made]

    return released


def frames_of_one_row() -> tuple[list[pd.DataFrame], pd.DataFrame]:
    other = (1.0, 2.0, "north")
    return [pd.DataFrame([row, other], columns=NAMES) for row in ROWS], pd.DataFrame(
        [other], columns=NAMES
    )


def frames_of_one_user(rng: random.Random) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """A user with up to two rows, before and after another one."""
    other = (1, 1.0, 2.0, "north")
    some = [(0, *row) for row in rng.sample(ROWS, 14)]
    lists = [[one, other] for one in some] + [[one, other, two] for one in some for two in some]
    columns = ["user", *NAMES]
    return [pd.DataFrame(one, columns=columns) for one in lists], pd.DataFrame(
        [other], columns=columns
    )


def compare(seed: int) -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change."""
    rng = random.Random(seed)
    of_users = rng.random() < 0.5
    relation = rng.choice(["replace", "add_remove"])
    expression = pipeline(rng, of_users=of_users)
    table = (
        lt.Table({"user": lt.Key(), **COLUMNS}, rows=3, unit="user", relation=relation, at_most=2)
        if of_users
        else lt.Table(COLUMNS, rows=2, relation=relation)
    )

    def released(frame: Any, rng: Any) -> Any:
        return [one + rng.laplace() for one in expression(frame)]

    found = align(lt.mechanism(released).on_domain(table), table)
    if found.price is None:
        return "refused"
    frames, alone = frames_of_one_user(rng) if of_users else frames_of_one_row()
    values = {tuple(map(float, expression(one))) for one in frames}
    others = {tuple(map(float, expression(alone)))}
    if relation == "replace":
        others = values | others if of_users else values
    change = max(
        sum(abs(a - b) for a, b in zip(one, two, strict=True))
        for one, two in product(values, others)
    )
    assert found.epsilon >= change * (1 - 1e-12) - 1e-12, (seed, found.epsilon, change)
    return "equal" if found.epsilon <= change + 1e-9 * (1 + change) else "above"


def counted(seeds: range) -> dict[str, int]:
    found = [compare(seed) for seed in seeds]
    return {kind: found.count(kind) for kind in ("equal", "above", "refused")}


@pytest.mark.slow
def test_prices_are_no_less_than_changes() -> None:
    found = counted(range(2))
    assert found["refused"] <= 1


@pytest.mark.slow
def test_prices_are_no_less_than_changes_of_many_pipelines() -> None:
    found = counted(range(1_000, 1_007))
    assert found["equal"] >= 3
    assert found["refused"] <= 2
