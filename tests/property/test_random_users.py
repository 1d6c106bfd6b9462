"""Random numbers of users in SQLite and polars: no price is below what these show on small tables.

A price below the largest change would be a false proof. How often both are equal is counted, so
that the test would notice prices that are only safe because they are large.
"""

from __future__ import annotations

import collections
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import product
from typing import Any

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.proved_prices import compare_with_change

COLUMNS: dict[str, Any] = {
    "user": lt.Key(),
    "spend": lt.Integer(-1, 3),
    "region": lt.Category(["n", "s"]),
    "bit": lt.Bit(),
}
ROWS = tuple(product((-1, 0, 2, 3), ("n", "s"), (0, 1)))
Table = list[tuple[Any, ...]]


def ends(rng: random.Random) -> tuple[int, int]:
    low, high = sorted(rng.sample(range(-2, 5), 2))
    return low, high


def sql_column(rng: random.Random) -> str:
    low, high = ends(rng)
    return rng.choice(
        [
            *("spend", "spend", "bit", f"MIN(MAX(spend, {low}), {high})", f"MAX(spend, {low})"),
            *("ABS(spend)", f"spend * {low}", "spend + bit", f"spend > {low}", "-spend"),
            f"CASE WHEN spend > {low} THEN {high} ELSE bit END",
            f"CASE WHEN spend > {low} THEN spend END",
        ]
    )


def sql_number(rng: random.Random) -> str:
    """A number of the rows of one user."""
    column = sql_column(rng)
    kind = rng.choice(["SUM", "SUM", "COUNT", "AVG", "MIN", "MAX", "COUNT(*)", "COUNT(DISTINCT"])
    if kind == "COUNT(DISTINCT":
        return f"COUNT(DISTINCT {rng.choice(['spend', 'region', 'bit'])})"
    return kind if kind == "COUNT(*)" else f"{kind}({column})"


def sql_clipped(rng: random.Random, number: str) -> str:
    low, high = ends(rng)
    return rng.choice(
        [
            *(f"MIN(MAX({number}, {low}), {high})", f"MAX(MIN({number}, {high}), {low})"),
            *(f"ABS(MIN(MAX({number}, {low}), {high}))", f"MIN(MAX({number} * 2, {low}), {high})"),
            *(f"MIN(MAX({number} + 1, {low}), {high})", f"MIN({number}, {high})"),
        ]
    )


def sql_condition(rng: random.Random) -> str:
    bound = rng.randint(-1, 3)
    return rng.choice(
        [
            *(f"spend > {bound}", f"spend <= {bound}", "bit = 1", "region = 'n'"),
            *(f"spend >= {bound} AND bit = 0", f"NOT (spend > {bound} OR region = 's')"),
        ]
    )


def sql_query(rng: random.Random) -> str:
    """A query that gives one number of all users."""
    before, source, bound = "", "data", rng.randint(0, 3)
    if rng.random() < 0.25:
        before, source = f"WITH d AS (SELECT * FROM data WHERE {sql_condition(rng)}) ", "d"
    where = f" WHERE {sql_condition(rng)}" if rng.random() < 0.4 else ""
    sign = rng.choice([">", ">=", "<", "<=", "=", "<>"])
    having = f" HAVING {sql_number(rng)} {sign} {bound}" if rng.random() < 0.3 else ""
    total, clipped = rng.choice(["TOTAL", "COUNT"]), sql_clipped(rng, "t")
    one = f"(SELECT user, {sql_number(rng)} AS t FROM {source}{where} GROUP BY user{having})"
    two = f"(SELECT user, COUNT(*) AS n, {sql_number(rng)} AS t FROM {source}{where} GROUP BY user)"
    each = (
        f"(SELECT user, region, {sql_number(rng)} AS t FROM {source}{where} GROUP BY user, region)"
    )
    text = rng.choice(
        [
            f"SELECT {total}({clipped}) FROM {one}",
            f"SELECT {total}({clipped}) FROM {one} WHERE t {sign} {bound}",
            f"SELECT COUNT(*) FROM {one} WHERE t {sign} {bound}",
            f"SELECT {total}({clipped}) FROM {two} WHERE n {sign} {bound} AND t > 0",
            f"SELECT {total}({clipped}) FROM {each}",
            f"SELECT COUNT(DISTINCT user) FROM {source}{where}",
            f"SELECT TOTAL({sql_column(rng)}) FROM {source}{where}",
        ]
    )
    return before + text


def of_sql(rng: random.Random) -> tuple[str, Any, Callable[[Table], float]]:
    """The text of a pipeline, as a mechanism, and what SQLite itself answers."""
    text = sql_query(rng)

    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        return con.execute(text).fetchone()[0] + rng.laplace()

    def answer(rows: Table) -> float:
        with closing(sqlite3.connect(":memory:")) as con:
            con.execute("CREATE TABLE data (user INTEGER, spend INTEGER, region TEXT, bit INTEGER)")
            con.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", rows)
            return float(con.execute(text).fetchone()[0])

    return text, released, answer


def of_polars(rng: random.Random) -> tuple[str, Any, Callable[[Table], float]]:
    """The text of a pipeline, as a mechanism, and what polars itself answers."""
    pl = pytest.importorskip("polars")
    low, high = ends(rng)
    bound = rng.randint(-1, 3)
    rows = rng.choice(
        [
            *(
                "f",
                "f",
                f"f.filter(pl.col('spend') > {bound})",
                "f.filter(pl.col('region') == 'n')",
            ),
            "f.group_by('user', maintain_order=True).head(2)",
            "f.unique(['user', 'region'], keep='first', maintain_order=True)",
            "f.filter(pl.int_range(pl.len()).over('user') < 2)",
            "f.filter(pl.len().over('user') <= 2)",
            f"f.with_columns(spend=pl.col('spend').clip({low}, {high}))",
        ]
    )
    by = rng.choice(["'user'", "'user'", "'user', 'region'"])
    kind = rng.choice(["sum", "mean", "max", "min", "first", "last", "median"])
    number = f"pl.col('{rng.choice(['spend', 'spend', 'bit'])}').{kind}()"
    groups = f"{rows}.group_by({by}, maintain_order=True).agg(x={number}.clip({low}, {high}))"
    text = rng.choice(
        [
            *(f"{groups}.select(pl.sum('x')).item()", f"{groups}.select(pl.sum('x')).item()"),
            f"{groups}.filter(pl.col('x') > {bound}).select(pl.sum('x')).item()",
            f"{rows}.select(pl.col('spend').clip({low}, {high}).sum()).item()",
            *(f"{rows}['user'].n_unique()", f"{rows}.height"),
        ]
    )
    space: dict[str, Any] = {"pl": pl}
    exec(f"def answered(f):\n    return {text}", space)
    expression = space["answered"]

    @lt.mechanism(frame="polars")
    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    types = {"user": pl.Int64, "spend": pl.Int64, "region": pl.String, "bit": pl.Int64}

    def answer(table: Table) -> float:
        return float(expression(pl.DataFrame(table, schema=types, orient="row")))

    return text, released, answer


def largest_change(
    answer: Callable[[Table], float], rng: random.Random, relation: str, most: int
) -> float:
    """Over all rows of one user, few of them drawn, beside some rows of others."""
    own: list[Table] = [[], *([row] for row in ROWS)]
    own += [rng.choices(ROWS, k=rng.randint(1, most)) for _ in range(30 if most > 1 else 0)]
    worst = 0.0
    for count in range(3):
        others = [(user, *rng.choice(ROWS)) for user in range(1, count + 1)]
        found = [answer([(0, *row) for row in rows] + others) for rows in own]
        start = [found[0]] if relation == "add_remove" else found
        worst = max(worst, max(found) - min(start), max(start) - min(found))
    return worst


def compared(make: Any, seed: int) -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change."""
    rng = random.Random(seed)
    text, released, answer = make(rng)
    relation, most = rng.choice(["replace", "add_remove"]), rng.choice([None, None, 1, 2])
    table = lt.Table(COLUMNS, rows=6, unit="user", relation=relation, at_most=most)
    found = align(released.on_domain(table), table)
    change = partial(largest_change, answer, rng, relation, most or 3)
    return compare_with_change(found, change, text, relation, most)


@pytest.mark.slow
def test_prices_of_queries_of_users_are_changes() -> None:
    found = collections.Counter(compared(of_sql, seed) for seed in range(40))
    assert found["equal"] >= 13, found


@pytest.mark.slow
def test_prices_of_users_in_polars_are_changes() -> None:
    found = collections.Counter(compared(of_polars, seed) for seed in range(8))
    assert found["equal"] >= 2, found
