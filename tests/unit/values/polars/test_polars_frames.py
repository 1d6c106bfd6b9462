"""Symbolic frames of polars against polars: what a change of one row does to an answer.

The oracle is polars itself on all pairs of neighbouring small tables. A price below the sensitivity
that it finds would be a false proof. Each analysis compares with polars at random tables, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.errors import InputError, MechanismError
from liptest.privacy.proofs.prices import align
from tests.shares import in_turns, mostly_slow
from tests.unit.values.frame_prices import change_of

REGIONS = ["north", "south"]
COLUMNS: dict[str, Any] = {
    "age": lt.Integer(-3, 6, step=3),
    "region": lt.Category(REGIONS),
    "member": lt.Bit(),
}
RELATIONS = ("replace", "add_remove")
TABLES = {one: lt.Table(COLUMNS, rows=2, relation=one) for one in RELATIONS}
KEYS = pl.DataFrame({"region": REGIONS})
AGE, MEMBER, REGION = pl.col("age"), pl.col("member"), pl.col("region")
JOIN: dict[str, Any] = {"on": "region", "how": "left", "maintain_order": "left"}
ORDER: dict[str, Any] = {"maintain_order": True}


def grouped(frame: Any) -> Any:
    found = frame.group_by("region", **ORDER).agg(pl.len(), AGE.sum().alias("total"))
    return KEYS.join(found, **JOIN).fill_null(0)


PUBLIC = pl.DataFrame({"region": ["south", "north", "west"], "w": [5, -2, 9], "is_far": [1, 0, 1]})
PLACES = pl.DataFrame({"member": [1, 0], "place": ["in", "out"], "share": [0.5, -1.5]})
LEFT: dict[str, Any] = {"maintain_order": "left"}


def banded(frame: Any, **options: Any) -> Any:
    """The ages of each band of ages, their ends on rows; one band is empty."""
    bins = AGE.bin_intervals([-3, 1, 3, 4], labels=list("abcde"), **options)
    banded_rows = frame.with_columns(band=bins.cast(pl.String))
    found = banded_rows.group_by("band", **ORDER).agg(AGE.sum())
    keys = pl.DataFrame({"band": list("abcde")})
    return keys.join(found, **(JOIN | {"on": "band"})).fill_null(0)["age"].to_list()


# Each is a number of a frame.
EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "select a sum": lambda f: f.select(AGE.clip(-1, 4).sum()).item(),
    "rows": lambda f: f.height,
    "filter": lambda f: f.filter(REGION == "north", AGE > 0).height,
    "group by": lambda f: grouped(f)["total"].to_list()[1],
    "series": lambda f: f["age"].clip(-1, 2).sum(),
    "when": lambda f: f.select(pl.when(AGE > 0).then(AGE).otherwise(1).sum()).item(),
    "len": lambda f: len(f),
    "shape": lambda f: f.shape[0] + 0,
    "pl.len": lambda f: f.select(pl.len()).item(),
    "pl.sum": lambda f: f.select(pl.sum("age")).item(),
    "named": lambda f: f.select(total=AGE.sum())["total"].item(),
    "index": lambda f: f.select(AGE.sum(), MEMBER.sum())["member"][0],
    "item of a place": lambda f: f.select(AGE.sum(), MEMBER.sum()).item(0, "age"),
    "a row": lambda f: f.select(AGE.sum(), MEMBER.sum()).row(0)[1],
    "a named row": lambda f: f.select(AGE.sum(), MEMBER.sum()).row(0, named=True)["age"],
    "sum of a frame": lambda f: f.select("age", "member").sum().row(0)[0],
    "sums of two columns": lambda f: f.select(pl.col("age", "member").sum())["member"].item(),
    "clip below": lambda f: f.select(AGE.clip(lower_bound=1).sum()).item(),
    "clip above": lambda f: f.select(AGE.clip(upper_bound=1).sum()).item(),
    "filter by keyword": lambda f: f.filter(region="south").height,
    "filter by a list": lambda f: f.filter([REGION != "south", MEMBER == 1]).height,
    "filter by a series": lambda f: f.filter(f["age"] > 0)["age"].sum(),
    "filter in an expression": lambda f: f.select(AGE.filter(MEMBER == 1).sum()).item(),
    "a name that is none": lambda f: f.filter(REGION == "elsewhere").height,
    "both": lambda f: f.filter((AGE > 0) & (MEMBER == 1)).height,
    "either": lambda f: f.filter((AGE > 4) | (MEMBER == 0)).height,
    "one of both": lambda f: f.filter((AGE > 4) ^ (MEMBER == 0)).height,
    "not": lambda f: f.filter(~(AGE > 4)).height,
    "constant before": lambda f: f.filter(AGE < 4).height,
    "columns compared": lambda f: f.filter(AGE > MEMBER).height,
    "selected twice": lambda f: f.filter(AGE > 0).filter(MEMBER == 1)["age"].sum(),
    "is_in": lambda f: f.filter(AGE.is_in([3, 9])).height,
    "is_in names": lambda f: f.filter(REGION.is_in(["south", "west"])).height,
    "is_between": lambda f: f.filter(AGE.is_between(0, 3)).height,
    "is_between, open": lambda f: f.filter(AGE.is_between(0, 6, closed="none")).height,
    "sum of truths": lambda f: f.select((AGE > 2).sum()).item(),
    "arithmetic": lambda f: f.select((2 * AGE - 3 * MEMBER + 1).sum()).item(),
    "subtracted": lambda f: f.select((5 - AGE).sum()).item(),
    "product": lambda f: f.select((AGE * MEMBER).sum()).item(),
    "dot": lambda f: f.select(AGE.dot(MEMBER)).item(),
    "division": lambda f: f.select((AGE / 4).sum()).item(),
    "whole division": lambda f: f.select((AGE // 2).sum()).item(),
    "remainder": lambda f: f.select((AGE % 4).sum()).item(),
    "remainder by a negative": lambda f: f.select((AGE % -4).sum()).item(),
    "power": lambda f: f.select((AGE**2).sum()).item(),
    "negative": lambda f: f.select((-AGE).sum()).item(),
    "abs": lambda f: f.select(AGE.abs().sum()).item(),
    "sqrt": lambda f: f.select(AGE.abs().cast(pl.Float64).sqrt().floor().sum()).item(),
    "floor": lambda f: f.select((AGE / 2).floor().sum()).item(),
    "ceil": lambda f: f.select((AGE / 2).ceil().sum()).item(),
    "cast": lambda f: f.select((AGE > 0).cast(pl.Int64).sum()).item(),
    "cast truths": lambda f: f.select(((AGE > 0).cast(pl.Int64) * AGE).sum()).item(),
    "cast to floats": lambda f: f.select((AGE.cast(pl.Float64) * 0.5).sum()).item(),
    "cast back": lambda f: f.select((AGE / 2).cast(pl.Int64).sum()).item(),
    "when between constants": lambda f: f.select(
        pl.when(AGE > 0).then(1).otherwise(-2).sum()
    ).item(),
    "when of floats": lambda f: f.select(
        pl.when(MEMBER == 1).then(AGE).otherwise(0.5).sum()
    ).item(),
    "when twice": lambda f: f.select(
        pl.when(AGE > 3).then(AGE).when(MEMBER == 1).then(MEMBER).otherwise(-1).sum()
    ).item(),
    "fill_null": lambda f: f.select(AGE.fill_null(0).sum()).item(),
    "count": lambda f: f.select(AGE.count()).item(),
    "with_columns": lambda f: f.with_columns(more=AGE + 1)["more"].sum(),
    "with_columns of the same name": lambda f: f.with_columns(AGE.clip(0, 3))["age"].sum(),
    "with_columns twice": lambda f: (
        f.with_columns((AGE * 2).alias("a"), (AGE + 1).alias("b"))
        .select((pl.col("a") - pl.col("b")).sum())
        .item()
    ),
    "select columns": lambda f: f.select("age", "member").filter(MEMBER == 1)["age"].sum(),
    "select expressions": lambda f: f.select(AGE.clip(0, 3), "region")["age"].sum(),
    "drop": lambda f: f.drop("region")["age"].sum(),
    "lazy": lambda f: f.lazy().filter(AGE > 0).collect().height,
    "lazy sum": lambda f: f.lazy().filter(AGE > 0).select(AGE.sum()).collect().item(),
    "loop": lambda f: sum(age for age in f["age"] if age > 0),
    "list": lambda f: sum(f["age"].to_list()),
    "group sizes": lambda f: (
        KEYS.join(f.group_by("region", **ORDER).len(), **JOIN).fill_null(0)["len"].to_list()[0]
    ),
    "rows of groups": lambda f: {row[0]: row[2] for row in grouped(f).iter_rows()}["north"],
    "columns of groups": lambda f: dict(grouped(f).select("region", "len").rows())["south"],
    "named rows of groups": lambda f: grouped(f).to_dicts()[0]["len"],
    "groups in any order": lambda f: (
        KEYS.join(f.group_by("region").len(), on="region", how="left")
        .with_columns(pl.col("len").fill_null(0))
        .sort("region", descending=True)["len"][0]
    ),
    "one of the groups": lambda f: (
        KEYS.join(f["region"].value_counts(), on="region", how="left")
        .fill_null(0)
        .filter(REGION == "south")["count"]
        .item()
    ),
    "bands": lambda f: banded(f)[3],
    "rows joined": lambda f: f.join(PUBLIC, on="region", how="left", **LEFT)["w"].sum(),
    "rows joined by a number": lambda f: (
        f.join(PLACES, on="member", how="left", **LEFT)
        .filter(pl.col("place") == "in")
        .select((AGE * pl.col("share")).sum())
        .item()
    ),
    "rows that are joined": lambda f: (
        f.join(PUBLIC[:1], on=["region"], how="inner", **LEFT)
        .select((AGE * pl.col("w")).sum())
        .item()
    ),
    "rows with a key": lambda f: f.join(PUBLIC[1:2], on="region", how="semi", **LEFT)["age"].sum(),
    "rows without": lambda f: f.join(PUBLIC[1:2], on="region", how="anti", **LEFT).height,
    "groups of what is joined": lambda f: (
        pl.DataFrame({"place": ["in", "out"]})
        .join(
            f.join(PLACES, on="member", how="left", **LEFT)
            .group_by("place", **ORDER)
            .agg(AGE.sum()),
            **(JOIN | {"on": "place"}),
        )
        .fill_null(0)["age"]
        .to_list()[0]
    ),
    "bands that hold their upper ends": lambda f: banded(f, right_closed=True)[2],
    "the lowest band": lambda f: (
        f.with_columns(
            band=AGE.bin_intervals([0, 3], labels=["low", "some", "high"]).cast(pl.String)
        )
        .filter(pl.col("band") == "low")["age"]
        .sum()
    ),
    "groups as an array": lambda f: grouped(f)["total"].to_numpy().sum(),
    "groups by a number": lambda f: (
        pl.DataFrame({"member": [0, 1]})
        .join(
            f.group_by("member", **ORDER).agg(n=AGE.clip(0, 3).sum()), **(JOIN | {"on": "member"})
        )
        .fill_null(0)["n"]
        .to_list()[1]
    ),
    "counts of groups with a sign": lambda f: (
        KEYS.join(f.group_by("region", **ORDER).agg(n=pl.len().cast(pl.Int64)), **JOIN)
        .fill_null(0)["n"]
        .to_numpy()[1]
        + 0
    ),
    "series by a condition": lambda f: f["age"].filter(f["member"] == 1).sum(),
    "series arithmetic": lambda f: (2 * f["age"] - f["member"]).sum(),
    "series of truths": lambda f: (f["age"] > 3).sum(),
    "series is_in": lambda f: f["region"].is_in(["north", "west"]).sum(),
    "series is_between": lambda f: f["age"].is_between(0, 3).sum(),
    "series abs": lambda f: f["age"].abs().sum(),
    "series cast": lambda f: (f["age"] > 0).cast(pl.Int64).sum(),
    "series len": lambda f: f["age"].len(),
    "series to_numpy": lambda f: np.minimum(f["age"].to_numpy(), 5).sum(),
    "frame to_numpy": lambda f: f.select("age", "member").to_numpy().clip(0, 4).sum(axis=0)[0],
}
MEANS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda f: f["age"].mean(),
    "mean in an expression": lambda f: f.select(AGE.clip(0, 5).mean()).item(),
}


def released(expression: Callable[[Any], Any]) -> Any:
    def release(frame: pl.DataFrame, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    return lt.mechanism(release)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 41))
def test_the_price_is_the_sensitivity(name: str, relation: str) -> None:
    expression, table = EXPRESSIONS[name], TABLES[relation]
    found = align(released(expression).on_domain(table), table)
    assert found.price is not None, found.reason
    assert math.isclose(found.epsilon, change_of(expression, table, "polars"), rel_tol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANS)
def test_means_are_followed_where_the_number_of_rows_is_public(name: str) -> None:
    expression, table = MEANS[name], TABLES["replace"]
    found = align(released(expression).on_domain(table), table)
    assert math.isclose(found.epsilon, change_of(expression, table, "polars"), rel_tol=1e-9)
    open_table = TABLES["add_remove"]
    mechanism = released(expression).on_domain(open_table)
    assert isinstance(mechanism.align_paths(open_table), NoPaths)


NOT_FOLLOWED: dict[str, Callable[[Any], Any]] = {
    "largest": lambda f: f["age"].max(),
    "largest by expression": lambda f: f.select(AGE.max()).item(),
    "a row of data": lambda f: f.row(0)[0],
    "sorted": lambda f: f.sort("age", **ORDER)["age"].sum(),
    "keys that occur": lambda f: f.group_by("region", **ORDER).len()["len"][0],
    "groups without order": lambda f: f.group_by("region").len()["len"][0],
    "join without order": lambda f: KEYS.join(
        f.group_by("region", **ORDER).len(), on="region", how="left"
    ).fill_null(0)["len"][0],
    "nulls": lambda f: KEYS.join(f.group_by("region", **ORDER).len(), **JOIN)["len"][0],
    "inner join": lambda f: (
        KEYS.join(
            f.group_by("region", **ORDER).len(), on="region", how="inner", maintain_order="left"
        ).height
    ),
    "names": lambda f: f.select(REGION.sum()).item(),
    "no column": lambda f: f.select(pl.col("ages").sum()).item(),
    "clip by a float": lambda f: f.select(AGE.clip(0.5, 2.5).sum()).item(),
    "clip by data": lambda f: f.select(AGE.clip(0, AGE.sum()).sum()).item(),
    "truths multiplied": lambda f: f.select(((AGE > 0) * AGE).sum()).item(),
    "a sum in an expression": lambda f: f.select(AGE.sum() - 5).item(),
    "a constant": lambda f: f.select(pl.lit(3)).item(),
    "sum beside columns": lambda f: f.with_columns(AGE.sum())["age"].sum(),
    "32 bits": lambda f: f.with_columns(a=pl.when(AGE > 0).then(1).otherwise(0))["a"].sum(),
    "null": lambda f: f.select(pl.when(AGE > 0).then(AGE).sum()).item(),
    "window": lambda f: f.select(AGE.sum().over("region").sum()).item(),
    "floats divided whole": lambda f: f.select((AGE / 2 // 2).sum()).item(),
    "decimals": lambda f: f.select((AGE / 4).round(1).sum()).item(),
    "exp": lambda f: f.select(AGE.exp().sum()).item(),
    "counts as an array": lambda f: grouped(f)["len"].to_numpy()[0],
    "write": lambda f: f["age"].to_numpy().__setitem__(0, 3) or 0,
    "pandas": lambda f: f.loc[0],
    "lazy height": lambda f: f.lazy().height,
    "joined in any order": lambda f: f.join(PUBLIC, on="region", how="left")["w"].sum(),
    "joined keys that are missing": lambda f: f.join(PUBLIC[:1], on="region", how="left", **LEFT)[
        "w"
    ].sum(),
    "joined keys twice": lambda f: (
        f.join(pl.concat([PUBLIC, PUBLIC]), on="region", how="inner", **LEFT).height
    ),
    "joined to itself": lambda f: f.join(f, on="region", how="inner", **LEFT).height,
    "joined by another type": lambda f: (
        f.join(PLACES.cast({"member": pl.Float64}), on="member", how="inner", **LEFT).height
    ),
    "joined to entries that are missing": lambda f: f.join(
        PUBLIC.with_columns(w=None), on="region", how="left", **LEFT
    )["w"].sum(),
    "bins of categories": lambda f: f.with_columns(b=AGE.bin_intervals([1], labels=["a", "b"])),
    "bins of the data": lambda f: f.filter(
        AGE.bin_intervals(2, labels=["a", "b"]).cast(pl.String) == "a"
    ),
    "bins without names": lambda f: f.filter(
        AGE.bin_intervals([1], labels=False).cast(pl.String) == "0"
    ),
}
WORDS = {
    "largest": r"used in \.max",
    "largest by expression": r"\.max\(\)",
    "a row of data": r"used in \.row",
    "sorted": r"used in \.sort",
    "keys that occur": r"groups that occur",
    "groups without order": r"order",
    "join without order": r"order|other options",
    "nulls": r"fill_null\(0\)",
    "inner join": r"other options",
    "names": r"of names",
    "no column": r"not there",
    "clip by a float": r"clip of whole numbers with floats",
    "clip by data": r"a sum of all rows",
    "truths multiplied": r"of truths",
    "a sum in an expression": r"after \.item\(\)",
    "a constant": r"constants beside columns",
    "sum beside columns": r"sums or constants beside",
    "32 bits": r"32 bits",
    "null": r"another type than",
    "window": r"over\(\) but of users",
    "floats divided whole": r"FloorDivide of floats",
    "decimals": r"round to decimals",
    "exp": r"Exp",
    "counts as an array": r"no sign in polars",
    "write": r"a write into data",
    "pandas": r"used in \.loc",
    "lazy height": r"a lazy frame",
    "joined in any order": r"used in \.join",
    "joined keys that are missing": r"without an entry for some",
    "joined keys twice": r"\.join with a key.* twice",
    "joined to itself": r"not a public frame",
    "joined by another type": r"keys of another type",
    "joined to entries that are missing": r"entries that are missing",
    "bins of categories": r"cast\(pl\.String\)",
    "bins of the data": r"constants that rise",
    "bins without names": r"a label for each",
}


@pytest.mark.parametrize("name", mostly_slow(NOT_FOLLOWED, 9))
def test_all_else_is_refused_with_the_line(name: str) -> None:
    table = TABLES["replace"]
    found = released(NOT_FOLLOWED[name]).on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert re.search(WORDS[name], found.reason), found.reason
    assert "test_polars_frames.py" in found.reason


# ---- users and real numbers: as the same in pandas, which has tests of its own


def price_of(expression: Callable[[Any], Any], table: Any, library: str) -> float:
    def release(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    found = align(lt.mechanism(release, frame=library).on_domain(table), table)
    assert found.price is not None, found.reason
    return found.epsilon


SPEND = pl.col("spend")
OF_USERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "users": (
        lambda f: f.unique("user", keep="first", **ORDER).height,
        lambda f: len(f.drop_duplicates("user")),
    ),
    "two rows": (
        lambda f: f.group_by("user", **ORDER).head(2).select(SPEND.clip(0, 3).sum()).item(),
        lambda f: f.groupby("user").head(2)["spend"].clip(0, 3).sum(),
    ),
    "number of users": (lambda f: f["user"].n_unique(), lambda f: f["user"].nunique()),
    "number by expression": (
        lambda f: f.select(pl.col("user").n_unique()).item(),
        lambda f: f["user"].nunique(),
    ),
    "bounded twice": (
        lambda f: (
            f.group_by("user", **ORDER)
            .head(2)
            .filter(SPEND > 0)
            .unique(["user"], keep="first", **ORDER)["spend"]
            .sum()
        ),
        lambda f: (
            (lambda g: g[g["spend"] > 0])(f.groupby("user").head(2))
            .drop_duplicates("user")["spend"]
            .sum()
        ),
    ),
    "all rows": (lambda f: f["spend"].sum(), lambda f: f["spend"].sum()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_USERS)
def test_users_are_bounded_as_in_pandas(name: str) -> None:
    columns = {"user": lt.Key(), "spend": lt.Integer(-3, 3, step=3)}
    for relation in RELATIONS:
        table = lt.Table(columns, rows=9, unit="user", relation=relation, at_most=4)
        ours, theirs = OF_USERS[name]
        assert price_of(ours, table, "polars") == price_of(theirs, table, "pandas")


INCOME = pl.col("income")
OF_REALS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "clipped": (
        lambda f: f.filter(AGE >= 18).select(INCOME.clip(0, 50.5).sum()).item(),
        lambda f: f[f["age"] >= 18]["income"].clip(0, 50.5).sum(),
    ),
    "bins": (
        lambda f: (
            f.filter(AGE.bin_intervals([18, 65], labels=["a", "b", "c"]).cast(pl.String) == "b")[
                "income"
            ]
            .clip(0, 50.5)
            .sum()
        ),
        lambda f: f[(f["age"] >= 18) & (f["age"] < 65)]["income"].clip(0, 50.5).sum(),
    ),
    "squares": (
        lambda f: f.select((INCOME.clip(-2, 3) ** 2).sum()).item(),
        lambda f: (f["income"].clip(-2, 3) ** 2).sum(),
    ),
    "groups": (
        lambda f: (
            KEYS.join(f.group_by("region", **ORDER).agg(INCOME.clip(0, 4).sum().alias("n")), **JOIN)
            .fill_null(0)["n"]
            .to_numpy()[0]
        ),
        lambda f: f.assign(n=f["income"].clip(0, 4)).groupby("region")["n"].sum().get("north", 0),
    ),
    "when": (
        lambda f: f.select(pl.when(AGE < 40).then(INCOME.clip(0, 2)).otherwise(1.5).sum()).item(),
        lambda f: np.where(f["age"] < 40, f["income"].clip(0, 2), 1.5).sum(),
    ),
    "mean": (
        lambda f: f.select((AGE - 60).abs().mean()).item(),
        lambda f: (f["age"] - 60).abs().mean(),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_REALS)
def test_real_numbers_are_as_in_pandas(name: str) -> None:
    columns = {"age": lt.Real(0, 120), "income": lt.Real(), "region": lt.Category(REGIONS)}
    table = lt.Table(columns, rows=500)
    ours, theirs = OF_REALS[name]
    found, known = price_of(ours, table, "polars"), price_of(theirs, table, "pandas")
    assert known <= found <= known * (1 + 1e-9)  # the order of polars' sums is not known


# ---- which frames a function gets


def test_the_annotation_or_an_option_says_which_frames() -> None:
    table = TABLES["replace"]

    def by_name(frame: pl.DataFrame, rng: Any) -> Any:
        return type(frame).__module__.partition(".")[0]

    def plain(frame: Any, rng: Any) -> Any:
        return type(frame).__module__.partition(".")[0]

    for mechanism, library in (
        (lt.mechanism(by_name), "polars"),
        (lt.mechanism(plain), "pandas"),
        (lt.mechanism(frame="polars")(plain), "polars"),
        (lt.mechanism(frame="pandas")(by_name), "pandas"),
    ):
        assert lt.output_law(mechanism.on_domain(table), [0, 1]).outputs == (library,)
    with pytest.raises(InputError, match="must be 'pandas', 'polars', "):
        lt.mechanism(plain, frame="arrow")


def test_polars_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(InputError, match="pip install polars"):
        lt.mechanism(lambda frame, rng: 0, frame="polars").on_domain(TABLES["replace"])


def test_processes_that_are_forked_too_late_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism: Any = lt.mechanism(lambda frame, rng: 0, frame="polars")
    mechanism = mechanism.on_domain(TABLES["replace"])
    assert lt.output_law(mechanism, [0, 1]).outputs == (0,)
    monkeypatch.setattr("liptest.enumerate.sql.frame_programs._OF_POLARS", {-1})
    with pytest.raises(MechanismError, match="hangs in processes that are forked"):
        mechanism.fresh_law(np.array([1, 1]))
