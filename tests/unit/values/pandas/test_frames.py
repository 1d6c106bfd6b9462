"""Symbolic frames against pandas: what a change of one row does to an answer.

The oracle is pandas itself on all pairs of neighbouring small tables. A price below the sensitivity
that it finds would be a false proof.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from tests.shares import in_turns
from tests.unit.values.frame_prices import change_of, check_price, price_of, refusal_of

REGIONS = ["north", "south"]
COLUMNS: dict[str, Any] = {
    "age": lt.Integer(0, 9, step=3),
    "region": lt.Category(REGIONS),
    "member": lt.Bit(),
}
ROWS = 2
RELATIONS = ("replace", "add_remove")
TABLES = {one: lt.Table(COLUMNS, rows=ROWS, relation=one) for one in RELATIONS}
WEIGHTS = {"north": 1, "south": 4}


def twice_selected(frame: Any) -> Any:
    old = frame[frame["age"] > 0]
    return old[old["member"] == 1]


# Each is a number of a frame.
EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda f: f["age"].sum(),
    "attribute": lambda f: f.age.sum(),
    "clip": lambda f: f["age"].clip(2, 7).sum(),
    "clip below": lambda f: f["age"].clip(lower=4).sum(),
    "np.clip": lambda f: np.clip(f["age"], 2, 7).sum(),
    "np.sum": lambda f: np.sum(f["age"]),
    "to_numpy": lambda f: np.minimum(f["age"].to_numpy(), 5).sum(),
    "values": lambda f: (f["age"].values > 3).sum(),
    "rows": lambda f: len(f),
    "shape": lambda f: f.shape[0] + 0,
    "selected": lambda f: len(f[f["age"] > 3]),
    "selected sum": lambda f: f[f["age"] > 3]["age"].sum(),
    "selected by name": lambda f: len(f[f["region"] == "north"]),
    "not that name": lambda f: len(f[f["region"] != "north"]),
    "a name that is none": lambda f: len(f[f["region"] == "elsewhere"]),
    "loc": lambda f: f.loc[f["member"] == 1, "age"].sum(),
    "loc of rows": lambda f: f.loc[f["member"] == 1].age.sum(),
    "all rows": lambda f: f.loc[:, "age"].sum(),
    "series by condition": lambda f: f["age"][f["member"] == 1].sum(),
    "series by loc": lambda f: f["age"].loc[f["age"] >= 6].sum(),
    "two conditions": lambda f: len(f[(f["age"] > 3) & (f["region"] == "south")]),
    "either": lambda f: len(f[(f["age"] > 6) | (f["member"] == 0)]),
    "not": lambda f: len(f[~(f["age"] > 6)]),
    "selected twice": lambda f: twice_selected(f)["age"].sum(),
    "distinct names": lambda f: f["region"].nunique(),
    "distinct ages of some": lambda f: f[f["member"] == 1]["age"].nunique(),
    "isin": lambda f: f["age"].isin([3, 9]).sum(),
    "isin names": lambda f: f["region"].isin(["south", "west"]).sum(),
    "between": lambda f: f["age"].between(3, 6).sum(),
    "arithmetic": lambda f: (2 * f["age"] - 3 * f["member"] + 1).sum(),
    "product": lambda f: (f["age"] * f["member"]).sum(),
    "dot": lambda f: f["age"].dot(f["member"]),
    "power": lambda f: (f["age"] ** 2).sum(),
    "division": lambda f: (f["age"] / 4).sum(),
    "whole division": lambda f: (f["age"] // 4).sum(),
    "remainder": lambda f: (f["age"] % 4).sum(),
    "methods": lambda f: f["age"].mul(2).add(1).sub(f["member"]).sum(),
    "comparison methods": lambda f: f["age"].ge(6).sum() + f["age"].ne(3).sum(),
    "negative": lambda f: (-f["age"]).abs().sum(),
    "where": lambda f: f["age"].where(f["member"] == 1, 0).sum(),
    "mask": lambda f: f["age"].mask(f["member"] == 1, 5).sum(),
    "np.where": lambda f: np.where(f["age"] > 3, 1, 0).sum(),
    "np.maximum": lambda f: np.maximum(f["age"], 4).sum(),
    "map": lambda f: f["region"].map(WEIGHTS).sum(),
    "astype": lambda f: f["age"].astype(float).sum(),
    "round": lambda f: (f["age"] / 2).round().sum(),
    "fillna": lambda f: f["age"].fillna(0).sum(),
    "count": lambda f: f["age"].count(),
    "size": lambda f: f["age"].size + 0,
    "assign": lambda f: f.assign(more=f["age"] + 1)["more"].sum(),
    "assign a function": lambda f: f.assign(more=lambda g: g.age * 2).more.sum(),
    "columns": lambda f: f[["age", "member"]]["age"].sum(),
    "copy": lambda f: f.copy()["age"].sum(),
    "group size": lambda f: f.groupby("region").size().get("south", 0),
    "group sum": lambda f: f.groupby("region")["age"].sum().get("north", 0),
    "group attribute": lambda f: f.groupby("region").age.sum().get("north", 0),
    "group count": lambda f: f.groupby("region")["age"].count().get("north", 0),
    "group by number": lambda f: f.groupby("member")["age"].sum().reindex([0, 1], fill_value=0)[1],
    "value counts": lambda f: f["region"].value_counts().reindex(REGIONS, fill_value=0)["south"],
    "value counts of numbers": lambda f: f["age"].value_counts().get(6, 0),
    "sum of groups": lambda f: f.groupby("region").size().reindex(REGIONS, fill_value=0).sum(),
    "items": lambda f: dict(f.groupby("region").size().reindex(REGIONS, fill_value=0).items())[
        "south"
    ],
    "loop": lambda f: sum(age for age in f["age"]),
    "loop with filter": lambda f: sum(1 for age in f["age"] if age > 3),
    "loop over names": lambda f: sum(1 for one in f["region"] if one == "north"),
    "tolist": lambda f: sum(f["age"].tolist()),
}
MEANS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda f: f["age"].mean(),
    "np.mean": lambda f: np.mean(f["age"].clip(0, 5)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 7))
def test_the_price_is_the_sensitivity(name: str, relation: str) -> None:
    check_price(EXPRESSIONS[name], TABLES[relation])


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANS)
def test_means_are_followed_where_the_number_of_rows_is_public(name: str) -> None:
    expression = MEANS[name]
    table = TABLES["replace"]
    proved, true = price_of(expression, table), change_of(expression, table)
    assert true - 1e-12 <= proved <= true + 1e-9

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    open_table = TABLES["add_remove"]
    found = lt.mechanism(released).on_domain(open_table).align_paths(open_table)
    assert isinstance(found, NoPaths)


NOT_FOLLOWED: dict[str, Callable[[Any], Any]] = {
    "the largest": lambda f: f["region"].max(),
    "a row": lambda f: f.iloc[0]["age"],
    "a sample": lambda f: len(f.sample(1, replace=True)),
    "keys that occur": lambda f: f.groupby("region").size().iloc[0],
    "reindex without 0": lambda f: f.groupby("region").size().reindex(REGIONS)["north"],
    "get without 0": lambda f: f["region"].value_counts().get("north"),
    "sum of names": lambda f: f["region"].sum(),
    "another column": lambda f: f.ages.sum(),
    "truth": lambda f: 1 if (f["age"] > 3).any() else 0,
    "write": lambda f: f.__setitem__("age", 0) or 0,
    "clip by data": lambda f: f["age"].clip(0, f["age"].sum()).sum(),
    "unknown function": lambda f: np.nanmedian(f["age"]),
    "an option that is not taken": lambda f: f["age"].clip(0, 1, inplace=True),
    "numbers of 32 bits": lambda f: f["age"].to_numpy(dtype=np.float32).sum() / 2,
    "all of it": lambda f: np.asarray(f).sum(),
    "another operator": lambda f: (f["region"] + "x").count(),
}
# Not beside the expressions: a refusal quotes the line.
WORDS = {
    "the largest": r"used in \.max",
    "a row": r"used in \.iloc",
    "a sample": r"used in \.sample with these arguments",
    "keys that occur": r"groups that occur",
    "reindex without 0": r"reindex without fill_value=0",
    "get without 0": r"\.get without a 0",
    "sum of names": r"\.sum of names",
    "another column": r"used in \.ages",
    "truth": r"used in \.any",
    "write": r"an assignment",
    "clip by data": r"not constants",
    "unknown function": r"numpy\.nanmedian",
    "an option that is not taken": r"leave out inplace",
    "numbers of 32 bits": r"truediv, in 32 bits and without noise",
    "all of it": r"numpy\.array",
    "another operator": r"an operator of names",
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = NOT_FOLLOWED[name], WORDS[name]
    reason = refusal_of(expression, TABLES["replace"])
    assert re.search(words, reason), reason
    assert "test_frames.py" in reason
