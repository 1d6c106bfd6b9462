"""What practitioners write with the rows of users, against pandas: frames of one row for each.

The oracle is pandas on all lists of up to two rows of two users, as in ``test_user_frames``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pandas as pd
import pytest

import liptest as lt
from tests.shares import in_turns, mostly_slow
from tests.unit.values.frame_prices import aligned

SPENDS, REGIONS, ROWS = (-3, 0, 3), ("n", "s"), 2
COLUMNS: dict[str, Any] = {
    "user": lt.Key(),
    "spend": lt.Integer(-3, 3, step=3),
    "region": lt.Category(list(REGIONS)),
}
NAMES = list(COLUMNS)
BOTH = ["user", "region"]
RELATIONS = ("replace", "add_remove")


def written(frame: Any) -> Any:
    totals = frame.groupby("user").agg({"spend": "sum", "region": "nunique"})
    totals["spend"] = totals["spend"].clip(0, 3)
    return totals


def reset(frame: Any) -> Any:
    return frame.groupby("user")["spend"].sum().reset_index(name="t")


def early(frame: Any, most: int) -> Any:
    return frame[frame.groupby("user").cumcount() < most]


def ranked(frame: Any, most: int, **options: Any) -> Any:
    ranks = frame.groupby("user")["spend"].rank(method="first", **options)
    return frame[ranks <= most]


def by_region(sums: Any) -> Any:
    return sums.reindex(list(REGIONS), fill_value=0)


def cells(frame: Any) -> Any:
    """A clipped sum of each user in each region, as a frame."""
    made = frame.groupby(BOTH, as_index=False)["spend"].sum()
    made["spend"] = made["spend"].clip(-3, 3)
    return made.assign(spend=lambda own: own.spend * 2)


def both(frame: Any) -> Any:
    return frame.groupby("user").agg(n=("spend", "size"), t=("spend", "sum"))


def twice(frame: Any) -> Any:
    some = both(frame)[both(frame)["n"] >= 2]
    return some[some["t"] > 0]


def placed(frame: Any) -> Any:
    return frame.assign(k=frame.groupby("user").cumcount() + 1)


def once(frame: Any) -> Any:
    return frame.drop_duplicates(subset=["user", "region"])


def rows_of_user(frame: Any) -> Any:
    return frame.groupby("user")["spend"].transform("count")


# Each is a number of a frame.
EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "written": lambda f: written(f)["spend"].sum(),
    "as a frame": lambda f: f.groupby("user", as_index=False)["spend"].sum().spend.clip(0, 3).sum(),
    "by region": lambda f: f.groupby(BOTH)["spend"].sum().clip(0, 3).sum(),
    "first rows": lambda f: early(f, 1)["spend"].sum(),
    "agg by a dict": lambda f: written(f)["region"].clip(0, 1).sum(),
    "reset": lambda f: reset(f)["t"].clip(-3, 3).sum(),
    "reset and selected": lambda f: len(reset(f)[reset(f)["t"] > 0]),
    "sizes reset": lambda f: f.groupby("user").size().reset_index(name="n")["n"].clip(0, 1).sum(),
    "sizes as a frame": lambda f: (f.groupby("user", as_index=False).size()["size"] > 1).sum(),
    "rows of a frame": lambda f: len(f.groupby("user", as_index=False)["spend"].max()),
    "up to two rows": lambda f: f[f.groupby("user").cumcount() <= 1]["spend"].clip(0, 3).sum(),
    "region first": lambda f: f.groupby(["region", "user"])["spend"].max().sum(),
    "sizes by region": lambda f: f.groupby(BOTH).size().clip(upper=1).sum(),
    "two conditions": lambda f: ((both(f)["n"] >= 2) & (both(f)["t"] > 0)).sum(),
    "one of two conditions": lambda f: len(both(f)[(both(f)["n"] < 2) | ~(both(f)["t"] < 3)]),
    "another number": lambda f: both(f)[both(f)["n"] >= 2]["t"].clip(-3, 3).sum(),
    "filtered twice": lambda f: twice(f)["t"].clip(0, 6).sum(),
    "dearest row": lambda f: ranked(f, 1, ascending=False)["spend"].clip(0, 3).sum(),
    "cheapest row": lambda f: ranked(f, 1)["spend"].sum(),
    "regions of dearest rows": lambda f: by_region(
        ranked(f, 1, ascending=False).groupby("region").size()
    )["n"],
    "dearest of some": lambda f: ranked(f[f["region"] == "n"], 1, ascending=False)["spend"].sum(),
    "users with a dear row": lambda f: ranked(f[f["spend"] != 0], 2)["user"].nunique(),
    "dearest rows clipped again": lambda f: (
        ranked(f, 2).groupby("user")["spend"].sum().clip(0, 3).sum()
    ),
    "first of dearest": lambda f: ranked(f, 2, ascending=False).groupby("user").head(1).spend.sum(),
    "region by region": lambda f: by_region(
        f.groupby(BOTH)["spend"].sum().clip(0, 3).groupby("region").sum()
    ).sum(),
    "one region": lambda f: by_region(
        f.groupby(BOTH)["spend"].sum().clip(0, 3).groupby(level=1).sum()
    )["n"],
    "users of one region": lambda f: (
        f.groupby(BOTH)["spend"].max().groupby("region").size().get("s", 0)
    ),
    "cells of a frame": lambda f: by_region(cells(f).groupby("region")["spend"].sum())["s"],
    "cells that are named": lambda f: by_region(
        f.groupby(BOTH)
        .agg(n=("spend", "size"), t=("spend", "sum"))
        .reset_index()
        .groupby("region")
        .t.size()
    )["n"],
    "cells that are reset": lambda f: by_region(
        f.groupby(["region", "user"])["spend"]
        .max()
        .abs()
        .reset_index(name="m")
        .groupby(["region"])["m"]
        .agg("sum")
    )["n"],
    "users with one row": lambda f: f[rows_of_user(f) <= 1]["spend"].sum(),
    "users with few rows": lambda f: f[f["user"].map(f["user"].value_counts()) < 2].spend.sum(),
    "first rows of few": lambda f: f[rows_of_user(f) <= 2].drop_duplicates("user").spend.sum(),
    "counts of users": lambda f: f["user"].value_counts().clip(upper=1).sum(),
    "once in each region": lambda f: by_region(once(f).groupby("region")["spend"].sum())["n"],
    "once in a region": lambda f: len(once(f)),
    "once, then once more": lambda f: once(f).groupby("user").head(1)["spend"].sum(),
    "places in each region": lambda f: len(f[f.groupby(["region", "user"]).cumcount().lt(1)]),
    "not duplicated": lambda f: f.loc[~f.duplicated("user"), "spend"].sum(),
    "a column of places": lambda f: placed(f)[placed(f)["k"] <= 1]["spend"].sum(),
    "places and a condition": lambda f: f[
        (f["region"] == "n") & (f.groupby("user").cumcount() < 1)
    ]["spend"].sum(),
    "totals of once": lambda f: once(f).groupby("user")["spend"].sum().clip(0, 4).sum(),
    "pairs of users and regions": lambda f: len(f.groupby(BOTH)["spend"].sum()),
}
#: Whose numbers by region are proved each at its own worst.
BY_REGION = {"by region": 6, "region first": 12, "region by region": 6}


@cache
def answers(name: str) -> dict[Any, float]:
    pairs = list(product(range(2), SPENDS, REGIONS))
    found = {}
    for rows in (one for size in range(ROWS + 1) for one in product(pairs, repeat=size)):
        columns = zip(*rows, strict=True) if rows else ([], [], [])
        frame = pd.DataFrame(dict(zip(NAMES, map(list, columns), strict=True)))
        kinds = {"user": "int64", "spend": "int64", "region": "str"}
        found[rows] = float(EXPRESSIONS[name](frame.astype(kinds)))
    return found


def largest_change(name: str, relation: str) -> float:
    known, alike = answers(name), {}
    for rows in known:
        for user in range(2):
            rest = tuple(one for one in rows if one[0] != user)
            alike.setdefault((user, rest), set()).add(known[rows])
    if relation == "replace":
        return max(max(own) - min(own) for own in alike.values())
    return max(abs(one - known[rest]) for (_, rest), own in alike.items() for one in own)


def table_of(relation: str) -> Any:
    return lt.Table(COLUMNS, rows=ROWS, unit="user", relation=relation)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 15))
def test_the_price_is_what_a_user_changes(name: str, relation: str) -> None:
    found = aligned(EXPRESSIONS[name], table_of(relation))
    assert found.price is not None, found.reason
    true = largest_change(name, relation)
    assert true - 1e-12 <= found.epsilon
    most = max(true, BY_REGION.get(name, true))
    assert math.isclose(found.epsilon, true) or (name in BY_REGION and found.epsilon <= most)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "users of a frame": (lambda f: reset(f)["user"].sum(), "an index"),
    "later rows": (lambda f: len(f[f.groupby("user").cumcount() > 0]), "an operator"),
    "equal ranks": (lambda f: len(f[f.groupby("user")["spend"].rank() <= 1]), "equal entries"),
    "ranks added up": (lambda f: f.groupby("user")["spend"].rank(method="first").sum(), r"\.sum"),
    "no rank": (lambda f: len(f[f.groupby("user")["spend"].rank(method="first") < 1]), "constant"),
    "ranks of other rows": (
        lambda f: len(f[f["spend"] > 0][f.groupby("user")["spend"].rank(method="first") < 2]),
        "an index",
    ),
    "places after a selection": (
        lambda f: placed(f)[f["region"] == "n"].pipe(lambda own: len(own[own["k"] < 2])),
        "selected",
    ),
    "sums of users at rows": (
        lambda f: (f["spend"] / f.groupby("user")["spend"].transform("sum")).sum(),
        "transform, but",
    ),
    "users with many rows": (lambda f: len(f[rows_of_user(f) >= 2]), "an operator"),
    "last of each region": (lambda f: len(f.drop_duplicates(BOTH, keep="last")), "first row"),
    "places added up": (lambda f: f.groupby("user").cumcount().sum(), r"\.sum"),
    "other rows": (
        lambda f: len(f[f["spend"] > 0][f.groupby("user").cumcount() < 1]),
        "an index",
    ),
    "not clipped": (lambda f: written(f).assign(a=1), r"\.assign"),
    "keys of regions": (
        lambda f: f.groupby(BOTH).size().clip(0, 1).groupby("region").sum().sum(),
        "name the groups",
    ),
    "cells that are not clipped": (
        lambda f: by_region(f.groupby(BOTH)["spend"].sum().groupby("region").sum())["n"],
        "not clipped",
    ),
    "users of cells": (
        lambda f: f.groupby(BOTH)["spend"].max().groupby("user").sum(),
        "besides the users",
    ),
    "cells of other rows": (lambda f: cells(f).assign(spend=cells(f).spend), "other rows"),
    "sums by region": (lambda f: f.groupby(BOTH)["spend"].sum().sum(), "not clipped"),
    "a number without a name": (lambda f: len(f.groupby("user").size().reset_index()), "no name"),
    "other users": (
        lambda f: both(f)[both(f[f["spend"] > 0])["n"] > 1]["t"].clip(0, 3).sum(),
        "other users",
    ),
    "a condition and a number": (lambda f: (both(f)["n"] & (both(f)["t"] > 0)).sum(), "conditions"),
    "several of one column": (lambda f: f.groupby("user").agg({"spend": ["sum"]}), r"\.agg"),
}


@pytest.mark.parametrize("name", mostly_slow(REFUSED, 3))
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = REFUSED[name]
    found = aligned(expression, table_of("replace"))
    assert found.price is None
    assert re.search(words, found.reason), found.reason
    assert "test_user_idioms.py" in found.reason
