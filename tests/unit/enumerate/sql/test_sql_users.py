"""Queries of one number of each user against SQLite: what the rows of one user change.

The oracle is SQLite on all lists of up to two rows of two users. Two lists are neighbours where the
rows of all other users are the same. A price below the largest change would be a false proof.
"""

from __future__ import annotations

import math
import re
import sqlite3
from contextlib import closing
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align

SPENDS, ROWS = (-3, 0, 3), 2
COLUMNS: dict[str, Any] = {"who": lt.Key(), "spend": lt.Integer(-3, 3, step=3), "vip": lt.Bit()}
RELATIONS = ("replace", "add_remove")
CELLS = (
    "(SELECT who, vip, MAX(-3, MIN(SUM(spend), 3)) AS t, COUNT(*) AS n FROM data GROUP BY who, vip)"
)
CHAIN = "WITH a AS (SELECT who, 2 * spend AS s, vip FROM data WHERE spend >= 0), "
TOTALS = "(SELECT who, SUM(spend) AS t, COUNT(*) AS n FROM data GROUP BY who)"
# Each gives one row of numbers.
EXACT: dict[str, str] = {
    "clipped sums": f"SELECT COALESCE(SUM(MAX(-3, MIN(t, 3))), 0) FROM {TOTALS}",
    "with": f"WITH s AS {TOTALS} SELECT TOTAL(MIN(n, 2)) FROM s WHERE n > 1",
    "clipped inside": (
        "SELECT TOTAL(c) FROM (SELECT who, MAX(0, MIN(SUM(spend), 3)) AS c FROM data GROUP BY who) "
        "AS x"
    ),
    "some rows": (
        "SELECT IFNULL(SUM(MIN(t, 3)), 0) AS total FROM (SELECT SUM(spend) t FROM data "
        "WHERE spend > 0 AND vip = 1 GROUP BY who) AS sums;"
    ),
    "users": f"SELECT COUNT(*) FROM {TOTALS}",
    "users of some rows": "SELECT COUNT(*) FROM (SELECT DISTINCT who FROM data WHERE spend > 0)",
    "users with two rows": f"SELECT COUNT(*) FROM {TOTALS} WHERE n >= 2",
    "having": ("SELECT COUNT(*) FROM (SELECT who FROM data GROUP BY who HAVING COUNT(*) >= 2)"),
    "selected rows": (
        "WITH some AS (SELECT who, MAX(spend, 0) AS s FROM data WHERE vip = 1) "
        "SELECT TOTAL(s), COUNT(*) FROM some WHERE s < 5"
    ),
    "users of selected rows": (
        "SELECT COUNT(DISTINCT who) FROM (SELECT * FROM data WHERE spend > 0) AS x WHERE vip = 0"
    ),
    "two conditions": f"SELECT COUNT(*) FROM {TOTALS} WHERE t > 0 AND NOT n < 2",
    "having two": (
        "SELECT TOTAL(MAX(0, MIN(t, 3))) FROM (SELECT SUM(spend) AS t FROM data GROUP BY who "
        "HAVING COUNT(*) >= 2 OR MAX(vip) = 1) WHERE t > 0"
    ),
    "another number": f"SELECT TOTAL(MAX(-3, MIN(t, 3))) FROM {TOTALS} WHERE n >= 2",
    "filter": f"SELECT COUNT(*) FILTER (WHERE t > 0), TOTAL(ABS(MAX(MIN(t, 0), -3))) FROM {TOTALS}",
    "largest": "SELECT TOTAL(m) FROM (SELECT MAX(spend) AS m FROM data GROUP BY who)",
    "different": (
        "SELECT TOTAL(k) FROM (SELECT MIN(COUNT(DISTINCT spend), 2) AS k FROM data GROUP BY who)"
    ),
    "bits": "SELECT TOTAL(v) FROM (SELECT MAX(vip) AS v FROM data GROUP BY who)",
    "two levels of WITH": (
        CHAIN + "t AS (SELECT who, MIN(SUM(s), 3) AS x FROM a WHERE vip = 1 GROUP BY who) "
        "SELECT TOTAL(x), COUNT(*) FROM t WHERE x > 0"
    ),
    "rows selected twice": (
        CHAIN + "b AS (SELECT s + 1 AS r FROM a WHERE s > 0) SELECT TOTAL(r) FROM b WHERE r < 5"
    ),
    "three levels": (
        "SELECT COUNT(*) FROM (SELECT who, COUNT(DISTINCT vip) AS k FROM (SELECT * FROM data "
        "WHERE spend < 3) AS some GROUP BY who) WHERE k = 2"
    ),
    "one group of cells": f"SELECT TOTAL(t) FROM {CELLS} WHERE vip = 1 AND n > 0",
    "some cells": f"SELECT TOTAL(ABS(t)) FROM {CELLS} WHERE (vip = 1 OR t > 0) AND NOT vip = 2",
    "pairs": f"SELECT COUNT(*) FROM {CELLS}",
    "different pairs": (
        "SELECT COUNT(*) FROM (SELECT DISTINCT vip, who FROM data WHERE spend > 0) WHERE vip = 0"
    ),
    "calculated": f"SELECT TOTAL(2 * MIN(n, 1) - 1) FROM {TOTALS}",
}
#: Bounds that are proved by a clip, or by the ends of what is made of it.
ABOVE = {("calculated", "replace"): 2, ("filter", "replace"): 4, ("filter", "add_remove"): 4}
QUICK = {("clipped sums", "replace"), ("with", "add_remove"), ("having", "replace")}


def listed(query: str, rows: tuple[tuple[Any, ...], ...]) -> list[tuple[float, ...]]:
    with closing(sqlite3.connect(":memory:")) as con:
        con.execute("CREATE TABLE data (who INTEGER, spend INTEGER, vip INTEGER)")
        con.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
        return con.execute(query).fetchall()


@cache
def answered(query: str, rows: tuple[tuple[Any, ...], ...]) -> tuple[float, ...]:
    return listed(query, rows)[0]


def largest_change(query: str, relation: str) -> float:
    pairs = list(product(range(2), SPENDS, (0, 1)))
    lists = [one for size in range(ROWS + 1) for one in product(pairs, repeat=size)]
    alike: dict[Any, dict[tuple[float, ...], None]] = {}
    for rows in lists:
        for user in range(2):
            rest = tuple(one for one in rows if one[0] != user)
            alike.setdefault((user, rest), {})[answered(query, rows)] = None
    return max(
        sum(abs(a - b) for a, b in zip(one, other, strict=True))
        for (_, rest), own in alike.items()
        for one in own
        for other in (own if relation == "replace" else [answered(query, rest)])
    )


def table_of(relation: str = "replace", rows: int = ROWS, **columns: Any) -> Any:
    return lt.Table(columns or COLUMNS, rows=rows, unit="who", relation=relation)


def aligned(query: str, table: Any) -> Any:
    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        return [one + rng.laplace() for one in con.execute(query).fetchone()]

    return align(released.on_domain(table), table)


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        pytest.param(*one, marks=[] if one in QUICK else [pytest.mark.slow])
        for one in product(EXACT, RELATIONS)
    ],
)
def test_the_price_is_what_a_user_changes(name: str, relation: str) -> None:
    found = aligned(EXACT[name], table_of(relation))
    assert found.price is not None, found.reason
    true = largest_change(EXACT[name], relation)
    assert found.epsilon >= true - 1e-12
    assert math.isclose(found.epsilon, ABOVE.get((name, relation), true), rel_tol=1e-9)


#: By the entry vip; prices of both groups, each at its own worst.
BY_GROUP = {
    f"SELECT vip, COALESCE(SUM(t), 0) FROM {CELLS} GROUP BY vip": 12,
    f"SELECT vip, TOTAL(ABS(t)) FROM {CELLS} WHERE n > 1 OR t < 0 GROUP BY vip ORDER BY vip": 6,
    f"SELECT vip, COUNT(*) FROM {CELLS} WHERE t > 0 GROUP BY vip": 2,
    "SELECT vip, COUNT(*) FROM (SELECT DISTINCT who, vip FROM data) GROUP BY vip ORDER BY 1": 2,
    CHAIN
    + "t AS (SELECT vip, MIN(SUM(s), 9) AS x FROM a GROUP BY who, vip) "
    + "SELECT vip, SUM(x) FROM t GROUP BY vip": 18,
}


def of_groups(query: str, *, is_told: bool = False) -> Any:
    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        rows = con.execute(query).fetchall()
        if is_told:
            return [(vip, total + rng.laplace()) for vip, total in rows]
        found = dict(rows)
        return [found.get(vip, 0) + rng.laplace() for vip in (0, 1)]

    return align(released.on_domain(table_of()), table_of())


@pytest.mark.parametrize("query", [pytest.param(q, marks=pytest.mark.slow) for q in BY_GROUP])
def test_groups_of_users_and_entries_cost_what_a_user_changes(query: str) -> None:
    found = of_groups(query)
    assert found.price is not None, found.reason
    alike: dict[Any, list[NDArray[Any]]] = {}
    pairs = list(product(range(2), SPENDS, (0, 1)))
    for rows in (one for size in range(ROWS + 1) for one in product(pairs, repeat=size)):
        told = dict(listed(query, rows))
        for user in range(2):
            rest = tuple(one for one in rows if one[0] != user)
            alike.setdefault((user, rest), []).append(np.array([told.get(0, 0), told.get(1, 0)]))
    true = max(
        float(np.abs(one - other).sum()) for own in alike.values() for one in own for other in own
    )
    assert true - 1e-12 <= found.epsilon
    assert math.isclose(found.epsilon, BY_GROUP[query], rel_tol=1e-9)


def test_groups_that_occur_are_not_told() -> None:
    found = of_groups(next(iter(BY_GROUP)), is_told=True)
    assert found.price is None
    assert "may be missing" in found.reason


def test_parameters_are_those_of_both_levels() -> None:
    query = (
        "SELECT TOTAL(MIN(t, ?)) FROM (SELECT SUM(spend) AS t FROM data WHERE spend > ? "
        "GROUP BY who) WHERE t < ?"
    )

    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        return con.execute(query, (2, -1, 50)).fetchone()[0] + rng.laplace()

    found = align(released.on_domain(table_of()), table_of())
    assert math.isclose(found.epsilon, 2)


@pytest.mark.slow
def test_a_sum_over_no_users_is_told_where_it_is_not_replaced() -> None:
    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        (total,) = con.execute(f"SELECT SUM(MIN(n, 1)) FROM {TOTALS}").fetchone()
        return "nobody" if total is None else total + rng.laplace()

    table = table_of("add_remove")
    assert isinstance(released.on_domain(table).align_paths(table), NoPaths)


NOT_FOLLOWED = {
    "SELECT s, COUNT(*) FROM (SELECT spend + 1 AS s FROM data) GROUP BY s": "of what a subquery",
    "SELECT COUNT(*) FROM (SELECT spend AS vip FROM data)": "called 'vip'",
    "SELECT COUNT(*) FROM (SELECT * FROM data LIMIT 1)": "'limit' in a subquery",
    "SELECT AVG(spend) FROM (SELECT * FROM data WHERE vip = 1)": "number of rows that is private",
    f"SELECT SUM(t) FROM {TOTALS}": "not clipped",
    f"SELECT AVG(MIN(t, 3)) FROM {TOTALS}": "AVG of numbers of users",
    f"SELECT t, COUNT(*) FROM {TOTALS} GROUP BY t": "groups of numbers of users",
    f"SELECT who, COUNT(*) FROM {CELLS} GROUP BY who": "as a few values",
    f"SELECT COUNT(*) FROM {CELLS} WHERE who > 1": "whose a row is",
    f"SELECT COUNT(*) FROM (SELECT t FROM {TOTALS} WHERE t > 1)": "numbers of users",
    CHAIN
    + "t AS (SELECT who, MIN(SUM(s), 3) AS x FROM a GROUP BY who, s) SELECT TOTAL(x) FROM t": (
        "of what a subquery calculates"
    ),
    CHAIN + "t AS (SELECT * FROM a) SELECT COUNT(*) FROM a": "not the only table",
    f"SELECT MAX(t) FROM {TOTALS}": "'max'|not a column",
    f"SELECT COUNT(*) FROM {TOTALS} WHERE t > n": "not a constant",
    "SELECT SUM(MIN(t, 1)) FROM (SELECT SUM(spend) AS t FROM data GROUP BY vip)": "not users",
    "SELECT SUM(MIN(t, 1)) FROM (SELECT vip, SUM(spend) AS t FROM data GROUP BY who)": "a column",
    "SELECT SUM(MIN(t, 1)) FROM (SELECT SUM(spend) AS t FROM data GROUP BY who LIMIT 3)": "limit",
    "WITH s AS (SELECT SUM(spend) AS t FROM data) SELECT SUM(MIN(t, 1)) FROM s": "group by",
}


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(q, marks=[pytest.mark.slow] if n % 4 else [])
        for n, q in enumerate(NOT_FOLLOWED)
    ],
)
def test_all_else_is_refused(query: str) -> None:
    found = aligned(query, table_of())
    assert found.price is None
    assert re.search(NOT_FOLLOWED[query], found.reason), found.reason


REAL: dict[str, Any] = {"who": lt.Key(), "spend": lt.Real()}
CLIPPED = "MAX(0.0, MIN(SUM({}), 3.0))"


@pytest.mark.parametrize(
    ("rows", "is_followed"),
    [("spend", False), ("MAX(spend, 0.0)", False), ("MAX(-9.0, MIN(spend, 9.0))", True)],
)
def test_rows_of_real_numbers_have_to_be_bounded(rows: str, is_followed: bool) -> None:
    """A sum that overflows is an error in some databases."""
    own = f"SELECT {CLIPPED.format(rows)} AS t FROM data GROUP BY who"
    found = aligned(f"SELECT COALESCE(SUM(t), 0.0) FROM ({own})", table_of(rows=100, **REAL))
    if not is_followed:
        assert found.price is None
        assert "clip the rows, too" in found.reason
        return
    assert 3 < found.epsilon < 3 + 1e-8


def by_users(con: sqlite3.Connection, rng: Any) -> Any:
    (total,) = con.execute(f"SELECT SUM(MAX(0, MIN(t, 9))) FROM {TOTALS}").fetchone()
    return (total or 0) + rng.laplace(scale=9)


def by_rows(con: sqlite3.Connection, rng: Any) -> Any:
    own = "(SELECT SUM(MAX(0, MIN(spend, 9))) AS t FROM data GROUP BY who)"
    return (con.execute(f"SELECT SUM(t) FROM {own}").fetchone()[0] or 0) + rng.laplace(scale=9)


@pytest.mark.parametrize(
    ("released", "decision"),
    [(by_users, "YES"), pytest.param(by_rows, "NO", marks=pytest.mark.slow)],
)
def test_large_tables_of_users(released: Any, decision: str) -> None:
    columns = {"who": lt.Key(), "spend": lt.Integer(-3, 50)}
    table = table_of("add_remove", 50_000, **columns)
    found = lt.check_privacy(lt.mechanism(released), table, epsilon=1, floats="ideal")
    assert found.decision == decision, str(found)


@pytest.mark.slow
def test_the_annotation_of_a_connection_is_no_code_of_the_program() -> None:
    duckdb = pytest.importorskip("duckdb")

    def released(con: Any, rng: Any) -> Any:
        own = "SELECT who, SUM(spend) AS t FROM data GROUP BY who"
        query = f"WITH s AS ({own}) SELECT COALESCE(SUM(LEAST(GREATEST(t, 0), 2)), 0) FROM s"
        return con.execute(query).fetchone()[0] + rng.laplace()

    released.__annotations__["con"] = duckdb.DuckDBPyConnection
    found = align(lt.mechanism(released).on_domain(table_of()), table_of())
    assert math.isclose(found.epsilon, 2), found.reason
