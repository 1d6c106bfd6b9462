"""What practitioners write with frames, against pandas: queries, aggregates, cross tables, joins.

The oracle is that of ``test_frames``: the largest change by pandas over all neighbouring tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from tests.shares import in_turns
from tests.unit.values.frame_prices import change_of, check_price, price_of, refusal_of
from tests.unit.values.pandas.test_frames import REGIONS, RELATIONS, TABLES

LIMIT = 3
PUBLIC = pd.DataFrame({"region": REGIONS, "weight": [1.0, 0.5], "code": ["a", "b"]})
BY_AGE = pd.DataFrame({"age": [3, 9], "points": [2, 7]})
BOTH = pd.MultiIndex.from_product([REGIONS, [0, 1]])
OF_REGIONS = pd.CategoricalDtype(REGIONS)


def with_column(frame: Any) -> Any:
    frame = frame.copy()
    frame["old"] = frame["age"] > 3
    frame["age"] = frame["age"].clip(0, 5)
    return frame


def written_to_rows(frame: Any) -> Any:
    frame.loc[frame["age"] > 4, "age"] = 4
    frame.loc[frame["member"] == 1, "age"] = frame["member"]
    return frame


def chosen(frame: Any) -> Any:
    conditions = [frame["age"] > 6, frame["member"] == 1]
    return frame.assign(a=np.select(conditions, [7, frame["age"] + 1], default=-1))


def written_sum(frame: Any) -> Any:
    sums = frame[["age", "member"]].sum()
    sums["age"] = sums["member"]
    return sums


def with_array(frame: Any) -> Any:
    frame["half"] = np.minimum(frame["age"].to_numpy(), 4)
    return frame


def by_region(frame: Any) -> Any:
    groups = frame.groupby("region").agg(n=("age", "size"), total=("age", "sum"))
    return groups.reindex(REGIONS, fill_value=0)


def crossed(frame: Any) -> Any:
    found = pd.crosstab(frame["region"], frame["member"])
    return found.reindex(index=REGIONS, columns=[0, 1], fill_value=0)


def pivoted(frame: Any, how: Any = "sum") -> Any:
    options = {"index": "region", "columns": "member", "values": "age"}
    found = frame.pivot_table(**options, aggfunc=how, fill_value=0)
    return found.reindex(index=REGIONS, fill_value=0).reindex(columns=[0, 1], fill_value=0)


def in_two_columns(frame: Any) -> Any:
    return frame.groupby(["region", "member"])["age"].sum()


def local_limit(frame: Any) -> Any:
    limit, names = 3, ["north"]  # noqa: F841 (a query reads them)
    return len(frame.query("age > @limit and region in @names"))


def unfilled(frame: Any, *, first: bool = False, **options: Any) -> Any:
    found = frame.pivot_table(index="region", columns="member", values="age", **options)
    found = found.fillna(0) if first else found
    return found.reindex(index=REGIONS, columns=[0, 1]).fillna(0)


def of_one_key(frame: Any, how: Any) -> Any:
    found = frame.pivot_table(index=["region"], values="age", aggfunc=how)
    return found.reindex(REGIONS).fillna(0)["age"]


def in_two_levels(frame: Any) -> Any:
    groups = frame.groupby("region").agg({"age": ["sum", "count"], "member": "sum"})
    return groups.reindex(REGIONS, fill_value=0)


def in_texts(frame: Any) -> Any:
    return frame.assign(n=frame["region"].str.len(), up=frame["region"].str.upper())


def shares(frame: Any) -> Any:
    found = pd.crosstab(frame["region"], frame["member"], normalize=True)
    return found.reindex(index=REGIONS, columns=[0, 1], fill_value=0)


EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "nothing missing": lambda f: f.dropna(subset=["age"]).dropna(how="all")["age"].sum(),
    "written after dropna": lambda f: with_array(f.dropna(subset="age"))["half"].sum(),
    "query": lambda f: len(f.query("age >= 3 and region == 'north'")),
    "query of signs": lambda f: f.query("(age > 3) | (member == 1)")["age"].sum(),
    "query between": lambda f: len(f.query("3 <= age < 9")),
    "query in": lambda f: len(f.query('region in ["south"] and not member == 1')),
    "query not in": lambda f: len(f.query("age not in [3, 9]")),
    "query of columns": lambda f: len(f.query("member < age")),
    "query from the right": lambda f: len(f.query("3 < age")),
    "query of a truth": lambda f: len(with_column(f).query("old & ~(member == 1)")),
    "query of a name of the program": local_limit,
    "query of a constant": lambda f: len(f.query("age > @LIMIT")),
    "new column": lambda f: with_column(f)["age"].sum(),
    "written to rows": lambda f: written_to_rows(f)["age"].sum(),
    "selected": lambda f: chosen(f)["a"].sum(),
    "a sum written": lambda f: written_sum(f)["age"],
    "named dummies": lambda f: (
        pd.get_dummies(f["region"]).reindex(columns=REGIONS, fill_value=0).sum()["south"]
    ),
    "new truth": lambda f: with_column(f)["old"].sum(),
    "group by a new column": lambda f: with_column(f).groupby("old").size().get(True, 0),
    "new array": lambda f: with_array(f)["half"].sum(),
    "drop and rename": lambda f: f.drop(columns=["member"]).rename(columns={"age": "x"})["x"].sum(),
    "drop an axis": lambda f: f.drop("member", axis=1)["age"].sum(),
    "pipe": lambda f: f.pipe(lambda g: g[g["age"] > 3])["age"].sum(),
    "frame clip": lambda f: f[["age", "member"]].clip(0, 4).sum()["age"],
    "agg by a dict": lambda f: (
        f.groupby("region").agg({"age": "sum"}).reindex(REGIONS, fill_value=0)["age"]["south"]
    ),
    "named aggregation": lambda f: by_region(f)["total"]["north"],
    "counts of a named aggregation": lambda f: by_region(f).loc["south", "n"],
    "sums of columns of groups": lambda f: by_region(f).sum()["n"],
    "array of groups": lambda f: by_region(f).to_numpy()[0, 1],
    "agg of a column": lambda f: f.groupby("region")["age"].agg("sum").get("south", 0),
    "agg of names": lambda f: (
        f.groupby("region")["age"]
        .agg(["sum", "count"])
        .reindex(REGIONS, fill_value=0)["count"]["north"]
    ),
    "agg by a function": lambda f: f.groupby("region")["age"].agg(len).get("north", 0),
    "sum of some columns": lambda f: (
        f.groupby("region")[["age", "member"]]
        .sum()
        .reindex(REGIONS, fill_value=0)["member"]["north"]
    ),
    "agg of a series": lambda f: f["age"].agg("sum"),
    "agg of a frame": lambda f: f[["age"]].agg("sum")["age"],
    "two keys": lambda f: in_two_columns(f).get(("north", 1), 0),
    "two keys by an index": lambda f: (
        in_two_columns(f).reindex(BOTH, fill_value=0).to_dict()[("north", 1)]
    ),
    "unstacked": lambda f: (
        in_two_columns(f)
        .unstack(fill_value=0)
        .reindex(index=REGIONS, columns=[0, 1], fill_value=0)
        .loc["south", 1]
    ),
    "filled later": lambda f: f.groupby("region").size().reindex(REGIONS).fillna(0)["north"],
    "crosstab": lambda f: crossed(f).to_numpy()[1, 1],
    "crosstab of a column": lambda f: crossed(f)[1]["north"],
    "pivot table": lambda f: pivoted(f).loc["north", 1],
    "pivot table filled later": lambda f: unfilled(f, aggfunc="sum").loc["north", 1],
    "pivot table of counts filled": lambda f: unfilled(f, aggfunc="count")[0]["south"],
    "pivot table filled at first": lambda f: unfilled(f, aggfunc="sum", first=True)[1]["north"],
    "pivot table filled twice": lambda f: unfilled(f, aggfunc="sum", fill_value=0)[1]["south"],
    "unstacked and filled": lambda f: (
        in_two_columns(f).unstack().reindex(index=REGIONS, columns=[0, 1]).fillna(0).loc["south", 1]
    ),
    "two levels": lambda f: in_two_levels(f)[("age", "sum")]["north"],
    "one of two levels": lambda f: in_two_levels(f)["age"]["count"]["south"],
    "all of two levels": lambda f: in_two_levels(f).to_dict()[("member", "sum")]["north"],
    "length of texts": lambda f: in_texts(f)["n"].clip(0, 4).sum(),
    "upper texts": lambda f: (in_texts(f)["up"] == "NORTH").sum(),
    "starts of texts": lambda f: f["region"].str.startswith("n").sum(),
    "letters of texts": lambda f: (f["region"].str[0] == "s").sum(),
    "gaps": lambda f: f["age"].isna().sum() + f["region"].notna().sum(),
    "no gaps": lambda f: f[f["age"].notnull()]["age"].sum(),
    "sum of rows": lambda f: f[["age", "member"]].sum(axis=1).clip(0, 4).sum(),
    "eval": lambda f: f.eval("age * 2 - member").sum(),
    "eval of a ratio": lambda f: f.eval("(age + 1) / 4").sum(),
    "eval of a new column": lambda f: f.eval("z = 3 * age + member")["z"].sum(),
    "eval of a condition": lambda f: f.eval("age > 3 & member == 1").sum(),
    "query of arithmetic": lambda f: len(f.query("age + 2 * member > @LIMIT + 1")),
    "query of a difference": lambda f: f.query("3 <= age - member < 9")["age"].sum(),
    "condition as a function": lambda f: f[lambda g: g["age"] > 3]["age"].sum(),
    "rows by a function": lambda f: f.loc[lambda g: g["member"] == 1, "age"].sum(),
    "join": lambda f: f.join(PUBLIC.set_index("region"), on="region")["weight"].sum(),
    "merge of named keys": lambda f: pd.merge(f, PUBLIC, left_on="region", right_on="region")[
        "weight"
    ].sum(),
    "pivot table of counts": lambda f: pivoted(f, "count").loc["north", 0],
    "dummies": lambda f: pd.get_dummies(f["region"]).sum().reindex(REGIONS, fill_value=0)["south"],
    "merge": lambda f: f.merge(PUBLIC, on="region", how="left")["weight"].sum(),
    "merge of names": lambda f: (f.merge(PUBLIC, on="region")["code"] == "b").sum(),
    "inner merge": lambda f: f.merge(BY_AGE, on="age")["points"].sum(),
    "rows of an inner merge": lambda f: len(pd.merge(f, BY_AGE, on=["age"])),
    "map of numbers": lambda f: f["age"].map({0: 1, 3: 5, 6: 2, 9: 2}).sum(),
    "map of a series": lambda f: f["region"].map(PUBLIC.set_index("region")["weight"]).sum(),
    "categories": lambda f: f["region"].astype(OF_REGIONS).value_counts(sort=False)["south"],
    "in a category": lambda f: (f["region"].astype(OF_REGIONS) == "south").sum(),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 7))
def test_the_price_is_the_sensitivity(name: str, relation: str) -> None:
    check_price(EXPRESSIONS[name], TABLES[relation])


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "query of powers": (lambda f: len(f.query("age ** 2 > 3")), r"\.query with 'age \*\* 2'"),
    "query of names": (lambda f: len(f.query("region + region > 3")), r"\.query with 'region \+"),
    "eval of two lines": (lambda f: f.eval("a = age\nb = age"), r"\.eval with a text"),
    "eval of nothing": (lambda f: f.eval("age +"), r"\.eval with a text"),
    "query of a method": (lambda f: len(f.query("region.isin(['north'])")), r"\.query with"),
    "query of a sum": (lambda f: len(f.query("age > @f.age.sum()")), r"\.query with"),
    "query of nothing": (lambda f: len(f.query("age >")), r"not an expression"),
    "a constant column": (lambda f: f.__setitem__("x", [1]) or 0, r"an assignment"),
    "a column of others": (
        lambda f: f.__setitem__("x", f[f["age"] > 3]["age"]) or 0,
        r"an assignment of other rows",
    ),
    "means by group": (
        lambda f: f.groupby("region")["age"].agg("mean").get("north", 0),
        r"\.agg with 'mean'",
    ),
    "keys of named aggregation": (
        lambda f: f.groupby("region").agg(n=("age", "sum"))["n"].sum(),
        r"groups that occur",
    ),
    "nan of a group": (
        lambda f: f.groupby("region").size().reindex(REGIONS)["north"],
        r"nan for groups",
    ),
    "keys of a crosstab": (
        lambda f: pd.crosstab(f["region"], f["member"]).to_numpy().sum(),
        r"groups that occur",
    ),
    "crosstab with margins": (
        lambda f: pd.crosstab(f["region"], f["member"], margins=True).sum(),
        r"crosstab",
    ),
    "pivot table with gaps": (
        lambda f: (
            f.pivot_table(index="region", columns="member", values="age", aggfunc="sum")
            .reindex(index=REGIONS, columns=[0, 1])
            .to_numpy()
            .sum()
        ),
        r"write|\.fillna\(0\)",
    ),
    "gaps in cells only": (
        lambda f: (
            f.pivot_table(index="region", columns="member", values="age", aggfunc="sum")
            .reindex(index=REGIONS, columns=[0, 1], fill_value=0)
            .loc["north", 1]
        ),
        r"\.fillna\(0\)",
    ),
    "pivot table by columns": (
        lambda f: f.pivot_table(columns="region", values="age", aggfunc="sum"),
        r"name a column for index",
    ),
    "pivot table of listed values": (
        lambda f: f.pivot_table(
            index="region", columns="member", values=["age"], aggfunc="sum", fill_value=0
        ),
        r"name one column",
    ),
    "pivot table of some rows": (
        lambda f: of_one_key(f[f["age"] > 3], "sum")["north"],
        r"there may be no rows",
    ),
    "texts of some": (
        lambda f: f[f["age"] > 3]["region"].str.len().sum(),
        r"of selected names",
    ),
    "split texts": (lambda f: f["region"].str.split("o"), r"\.split"),
    "sum with numbers": (lambda f: f["age"].sum(min_count=1), r"leave out min_count"),
    "sum over another axis": (lambda f: f[["age", "member"]].sum(axis=2), r"another axis"),
    "sums of truths": (lambda f: f.assign(a=f["age"] > 3).sum(axis=1), r"add its columns"),
    "mode": (lambda f: f["region"].mode()[0], r"\.idxmax\(\) of the noisy counts"),
    "quantile of names": (lambda f: f["region"].quantile(0.5), r"look for it in the noisy counts"),
    "spread": (lambda f: f[["age"]].std()["age"], r"add noise to the sums of the columns"),
    "order": (lambda f: f.sort_values("age"), r"places in an order depend on all rows"),
    "mean of groups": (lambda f: f.groupby("region")["age"].mean(), r"sum and count each group"),
    "concatenated": (lambda f: pd.concat([f, f])["age"].sum(), r"a function of pandas"),
    "columns that occur": (lambda f: pd.get_dummies(f["region"])["north"].sum(), r"occurs"),
    "merge of a key twice": (
        lambda f: len(f.merge(pd.concat([PUBLIC, PUBLIC]), on="region")),
        r"a key, or a name",
    ),
    "merge without a key": (
        lambda f: len(f.merge(BY_AGE, on="age", how="left")),
        r"\.merge without an entry",
    ),
    "merge with itself": (lambda f: len(f.merge(f, on="age")), r"not a public frame"),
    "map without a key": (lambda f: f["age"].map({0: 1}).sum(), r"\.map without an entry"),
    # Where no row is left, pandas gives the sum of texts: ''.
    "map of some names": (
        lambda f: f[f["age"] > 3]["region"].map({"north": 1, "south": 4}).sum(),
        r"of selected names",
    ),
    "apply to some names": (
        lambda f: f[f["age"] > 3]["region"].apply(lambda one: 1 if one == "north" else 2).sum(),
        r"of selected names",
    ),
    # And another frame by rows of none.
    "apply to some rows": (
        lambda f: f[f["age"] > 3].apply(lambda row: row["age"], axis=1).sum(),
        r"there may be none",
    ),
    "categories of the data": (
        lambda f: f["region"].astype("category").value_counts()["north"],
        r"those of the data",
    ),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = NOT_FOLLOWED[name]
    reason = refusal_of(expression, TABLES["replace"])
    assert re.search(words, reason), reason
    assert "test_frame_idioms.py" in reason, reason


OF_PUBLIC_SIZE: list[Callable[[Any], Any]] = [
    lambda f: of_one_key(f, "sum")["north"],
    lambda f: of_one_key(f, len)["south"],
    lambda f: f["region"].value_counts(normalize=True).reindex(REGIONS, fill_value=0)["north"],
    lambda f: shares(f).loc["south", 1],
]


@pytest.mark.slow
@pytest.mark.parametrize("share", OF_PUBLIC_SIZE)
def test_a_public_number_of_rows(share: Callable[[Any], Any]) -> None:
    table = TABLES["replace"]
    assert math.isclose(price_of(share, table), change_of(share, table), rel_tol=1e-9)


def in_rows(frame: Any) -> Any:
    total = 0
    for row in frame.itertuples(index=False):
        if row.region == "north" and row.age >= 3:
            total += min(row.age, 5)
    return total


def in_rows_by_place(frame: Any) -> Any:
    total = 0
    for age, member in frame[["age", "member"]].itertuples(index=False, name=None):
        total += age * member
    return total


def in_series(frame: Any) -> Any:
    counts: dict[str, int] = {}
    for _, row in frame.iterrows():
        counts[row["region"]] = counts.get(row["region"], 0) + row["age"]
    return counts.get("south", 0)


def in_dicts(frame: Any) -> Any:
    count = 0
    for one in frame.to_dict("records"):
        count += one["member"]
    return count


def in_pairs(frame: Any) -> Any:
    total = 0
    for age, region in zip(frame["age"], frame["region"], strict=True):
        if region == "south":
            total += age
    return total


def score(row: Any) -> int:
    if row["age"] > 3:
        return 2
    return 1 if row["member"] == 1 else 0


IN_ROWS: dict[str, Callable[[Any], Any]] = {
    "rows": in_rows,
    "rows by place": in_rows_by_place,
    "rows as series": in_series,
    "rows as dicts": in_dicts,
    "columns together": in_pairs,
    "rows of some": lambda f: in_dicts(f[f["age"] > 3]),
    "a sum of rows": lambda f: sum(row.age for row in f.itertuples()),
    "pairs of a sum": lambda f: sum(
        a for a, b in zip(f["age"], f["member"], strict=True) if b == 1
    ),
    "apply by rows": lambda f: f.apply(lambda row: row["age"] * row["member"], axis=1).sum(),
    "apply a function by rows": lambda f: f.apply(score, axis=1).sum(),
    "apply": lambda f: f["age"].apply(lambda age: min(age, 5)).sum(),
    "map, then some": lambda f: f.assign(x=f["region"].map({"north": 1, "south": 4}))[f["age"] > 3][
        "x"
    ].sum(),
    "map of a function": lambda f: f["region"].map(lambda one: 1 if one == "south" else 3).sum(),
    "a column by apply": lambda f: f.assign(x=f["age"].apply(lambda age: age // 2))["x"].sum(),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), in_turns(IN_ROWS, RELATIONS, 7))
def test_rows_are_walked_as_pandas_walks_them(name: str, relation: str) -> None:
    expression, table = IN_ROWS[name], TABLES[relation]
    if relation == "add_remove" and "by rows" in name:
        return  # refused: there may be none
    proved, true = price_of(expression, table), change_of(expression, table)
    assert math.isclose(proved, true, rel_tol=1e-9, abs_tol=1e-12)


def by_number_of_row(frame: Any) -> Any:
    total = 0
    for number, row in frame.iterrows():
        if number == 0:
            total += row["age"]
    return total


def last_row(frame: Any) -> Any:
    last = 0
    for row in frame.itertuples():
        last = row.age
    return last


def earlier_rows(frame: Any) -> Any:
    total, before = 0, 0
    for row in frame.itertuples():
        total += before
        before = row.age
    return total


def other_rows(frame: Any) -> Any:
    return sum(a for a, b in zip(frame["age"][frame["age"] > 3], frame["member"], strict=False))


NOT_IN_ROWS: dict[str, Callable[[Any], Any]] = {
    "the number of a row": by_number_of_row,
    "the last row": last_row,
    "a row and the one before": earlier_rows,
    "columns of different rows": other_rows,
    "the index": lambda f: sum(1 for row in f.itertuples() if row.Index == 0),
    "apply to columns": lambda f: f[["age"]].apply(lambda column: column.sum())["age"],
    "apply what keeps": lambda f: f["age"].apply([].append).sum(),
    "apply to groups": lambda f: f.groupby("region")["age"].apply(lambda age: age.sum()).sum(),
    "apply two types": lambda f: f["age"].apply(lambda age: age if age else 0.5).sum(),
}


@pytest.mark.parametrize("name", NOT_IN_ROWS)
def test_rows_that_are_not_walked_alike_are_refused(name: str) -> None:
    expression = NOT_IN_ROWS[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    table = TABLES["replace"]
    found = lt.mechanism(released).on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert "test_frame_idioms.py" in found.reason, found.reason


REAL = lt.Table({"income": lt.Real(), "age": lt.Real(0, 120), "member": lt.Bit()}, rows=1000)


def real_rows(frame: Any) -> Any:
    total = 0.0
    for row in frame.itertuples(index=False):
        if row.member == 1 and row.age >= 18:
            total += min(max(row.income, 0.0), 50.0)
    return total


def real_apply(frame: Any) -> Any:
    return frame["income"].apply(lambda x: min(max(x, 0.0), 50.0)).sum()


@pytest.mark.slow
@pytest.mark.parametrize("expression", [real_rows, real_apply])
def test_rows_with_real_numbers(expression: Callable[[Any], Any]) -> None:
    assert math.isclose(price_of(expression, REAL), 50, rel_tol=1e-6)


PEOPLE = lt.Table(
    {"age": lt.Integer(0, 9), "region": lt.Category(REGIONS), "member": lt.Bit()}, rows=20_000
)


@lt.mechanism
def cells_that_occur(frame: Any, rng: Any) -> Any:
    cells = frame.pivot_table(
        index="region", columns="member", values="age", aggfunc="count", fill_value=0
    )
    return (cells + rng.laplace(scale=2, size=cells.shape)).to_dict()


@pytest.mark.slow
def test_plain_frames_meet_noise() -> None:
    verdict = lt.check_privacy(cells_that_occur, PEOPLE, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)


@lt.mechanism
def in_pandas_itself(frame: Any, rng: Any) -> Any:
    return pd.DataFrame({"age": frame["age"].to_numpy()[:3] + rng.laplace(size=3)}).rank()


def test_refusals_name_the_line_of_the_program() -> None:
    with pytest.raises(lt.errors.LiptestError, match=r"test_frame_idioms\.py"):
        in_pandas_itself.on_domain(PEOPLE).law(np.zeros(PEOPLE.rows, dtype=np.int64))
