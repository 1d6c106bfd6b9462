"""Queries of symbolic tables against SQLite: what a change of one row does, and what is told.

The oracle is SQLite on all neighbouring tables of a few rows.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align

CITIES = ["Oslo", "Rome"]
AGES = (0, 1, 2, 3)
COLUMNS = {"city": lt.Category(CITIES), "age": lt.Integer(0, 3), "member": lt.Bit()}
ROWS = tuple(product(CITIES, AGES, (0, 1)))
# Each gives one row of numbers.
EXACT: dict[str, str] = {
    "count": "COUNT(*) FROM data",
    "some": "COUNT(*) FROM data WHERE age > 1",
    "of a name": "COUNT(*) FROM data WHERE city = 'Oslo' AND NOT member = 1",
    "one of": "COUNT(*) FROM data WHERE city IN ('Oslo', 'Paris') OR age IN (0, 3)",
    "between": "COUNT(age) FROM data WHERE age NOT BETWEEN 1 AND 2",
    "filter": "COUNT(*) FILTER (WHERE age <> 2), COUNT(*) FROM data",
    "sum": "TOTAL(age) FROM data",
    "clipped": "COALESCE(SUM(MIN(age, 2)), 0) FROM data WHERE member != 0",
    "clipped twice": "IFNULL(SUM(MAX(1, MIN(age, 2))), 0) FROM data",
    "arithmetic": "TOTAL(2 * age - 3 + member) FROM data",
    "brackets": "TOTAL((age + member) * -2) FROM data WHERE (age + 1) * 2 >= 4",
    "case": "TOTAL(CASE WHEN age > 2 THEN 10 ELSE -1 END) FROM data",
    "case without else": "TOTAL(CASE WHEN city = 'Rome' THEN age END) FROM data",
    "counted cases": "COUNT(CASE WHEN age >= 2 THEN 1 END) FROM data",
    "size": "TOTAL(ABS(age - 2)) AS away FROM data;",
    "distinct": "COUNT(DISTINCT age) FROM data",
    "distinct names": "COUNT(DISTINCT city) FROM data WHERE age > 1 AND member = 1",
    "distinct among some": "COUNT(DISTINCT age) FILTER (WHERE city = 'Oslo') FROM data",
    "precedence": "COUNT(*) FROM data WHERE age = 1 OR age = 2 AND member = 1",
}
RELATIONS = ("replace", "add_remove")


def fast(cases: list[Any], few: int) -> list[Any]:
    """The first ones as they are, the others among the slow tests."""
    return [
        *(pytest.param(*one) for one in cases[:few]),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in cases[few:]),
    ]


def table_of(relation: str = "replace", rows: int = 2) -> Any:
    return lt.Table(COLUMNS, rows=rows, relation=relation)


@cache
def answered(query: str, *rows: tuple[Any, ...]) -> tuple[float, ...]:
    with closing(sqlite3.connect(":memory:")) as con:
        con.execute("CREATE TABLE data (city TEXT, age INTEGER, member INTEGER)")
        con.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
        found: tuple[float, ...] = con.execute(f"SELECT {query}").fetchone()
    return found


def largest_change(query: str, relation: str) -> float:
    other = ("Oslo", 1, 0)
    beside = [answered(query, row, other) for row in ROWS]
    against = beside if relation == "replace" else [answered(query, other)]
    pairs = product(dict.fromkeys(beside), against)
    return max(sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs)


def price(query: str, table: Any) -> float:
    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        return [one + rng.laplace() for one in con.execute(f"SELECT {query}").fetchone()]

    found = align(released.on_domain(table), table)
    assert found.price is not None, found.reason
    return found.epsilon


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "name"), fast(list(product(RELATIONS, EXACT)), 8))
def test_the_price_is_the_largest_change(name: str, relation: str) -> None:
    proved = price(EXACT[name], table_of(relation))
    true = largest_change(EXACT[name], relation)
    assert math.isclose(proved, true, rel_tol=1e-12)


@pytest.mark.slow
def test_sums_of_real_numbers_are_bounded_as_the_query_clips_them() -> None:
    table = lt.Table({"x": lt.Real(), "y": lt.Real(0, 5)}, rows=100)
    assert price("COALESCE(SUM(MAX(0.0, MIN(x, 10.0))), 0.0) FROM data", table) == pytest.approx(10)
    assert price("COUNT(*) FROM data WHERE x + y > 1.5", table) == 1
    assert price("TOTAL(y) FROM data WHERE y <= 2", table) == pytest.approx(2)
    assert price("AVG(y) FROM data", table) == pytest.approx(0.05)


# ---- what is told by what is not there

BY_CITY = "SELECT city, COUNT(*) FROM data GROUP BY city"


def _by_get(con: Any, rng: Any) -> Any:
    found = dict(con.execute(BY_CITY).fetchall())
    return {one: found.get(one, 0) + rng.laplace(scale=2) for one in CITIES}


def _by_loop(con: Any, rng: Any) -> Any:
    counts = dict.fromkeys(CITIES, 0)
    for city, count in con.execute(BY_CITY):
        counts[city] = count
    return [counts[one] + rng.laplace(scale=2) for one in CITIES]


def _by_update(con: Any, rng: Any) -> Any:
    found = dict.fromkeys(CITIES, 0) | {row[0]: row[1] for row in con.execute(BY_CITY)}
    return tuple(found[one] + rng.laplace(scale=2) for one in CITIES)


def _or_nothing(con: Any, rng: Any) -> Any:
    total = con.execute("SELECT SUM(age) FROM data WHERE city = 'Oslo'").fetchone()[0] or 0
    return total + rng.laplace(scale=3)


def _not_none(con: Any, rng: Any) -> Any:
    (total,) = con.execute("SELECT SUM(age) FROM data WHERE city = ?", ("Oslo",)).fetchone()
    return (total if total is not None else 0) + rng.laplace(scale=3)


def _sums_by_city(con: Any, rng: Any) -> Any:
    query = "SELECT city, SUM(age), COUNT(*) FROM data WHERE age > :least GROUP BY 1 ORDER BY city"
    query = query.replace("BY 1", "BY city")
    found = {city: (total, n) for city, total, n in con.execute(query, {"least": 1})}
    sums = [found.get(one, (0, 0)) for one in CITIES]
    return [(total + rng.laplace(scale=12), n + rng.laplace(scale=4)) for total, n in sums]


RIGHT = [_by_get, _by_loop, _by_update, _or_nothing, _not_none, _sums_by_city]


def _keys(con: Any, rng: Any) -> Any:
    return {one: n + rng.laplace(scale=2) for one, n in con.execute(BY_CITY)}


def _how_many(con: Any, rng: Any) -> Any:
    rows = con.execute(BY_CITY).fetchall()
    return len(rows), sum(n for _, n in rows) + rng.laplace(scale=2)


def _is_there(con: Any, rng: Any) -> Any:
    found = dict(con.execute(BY_CITY).fetchall())
    return "Oslo" in found


def _one_where_none(con: Any, rng: Any) -> Any:
    found = dict(con.execute(BY_CITY).fetchall())
    return [found.get(one, 1) + rng.laplace(scale=2) for one in CITIES]


def _noise_for_those(con: Any, rng: Any) -> Any:
    return sum(n + rng.laplace(scale=2) for _, n in con.execute(BY_CITY))


def _raises(con: Any, rng: Any) -> Any:
    found = dict(con.execute(BY_CITY).fetchall())
    return [found[one] + rng.laplace(scale=2) for one in CITIES]


def _first_city(con: Any, rng: Any) -> Any:
    city, n = con.execute(BY_CITY).fetchone()
    return city, n + rng.laplace(scale=2)


def _nothing_is_far(con: Any, rng: Any) -> Any:
    total = con.execute("SELECT SUM(age) FROM data WHERE city = 'Oslo'").fetchone()[0] or -9
    return total + rng.laplace(scale=3)


def _is_none(con: Any, rng: Any) -> Any:
    (total,) = con.execute("SELECT SUM(age) FROM data WHERE city = 'Oslo'").fetchone()
    return None if total is None else total + rng.laplace(scale=3)


def _flag(con: Any, rng: Any) -> Any:
    found = dict(con.execute(BY_CITY).fetchall())
    (n,) = con.execute("SELECT COUNT(*) FROM data WHERE city = 'Oslo'").fetchone()
    return bool(n), found.get("Oslo", 0) + rng.laplace(scale=2)


def _flag_of_a_sum(con: Any, rng: Any) -> Any:
    rows = con.execute("SELECT city, SUM(age) FROM data GROUP BY city").fetchall()
    found = {city: total or 5 for city, total in rows}
    return [found.get(one, 0) + rng.laplace(scale=6) for one in CITIES]


def _few_are_left_out(con: Any, rng: Any) -> Any:
    rows = con.execute(f"{BY_CITY} HAVING COUNT(*) > 10").fetchall()
    return {one: n + rng.laplace(scale=2) for one, n in rows}


LEAKS = [
    *(_keys, _how_many, _is_there, _one_where_none, _noise_for_those, _raises, _first_city),
    *(_nothing_is_far, _is_none, _flag, _flag_of_a_sum, _few_are_left_out),
]
made = lt.mechanism(frame="sqlite")


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "program"), fast(list(product(RELATIONS, RIGHT)), 1))
def test_what_is_not_there_may_be_0(program: Callable[..., Any], relation: str) -> None:
    table = table_of(relation, rows=5_000)
    verdict = lt.check_privacy(made(program), table, epsilon=1, floats="ideal")
    assert verdict.decision == "YES", verdict.reason
    assert "given that queries answer as sqlite does" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("program", fast([(one,) for one in LEAKS], 2))
def test_what_is_told_is_refused(program: Callable[..., Any]) -> None:
    table = table_of(rows=50)
    assert align(made(program).on_domain(table), table).price is None, program.__name__


@pytest.mark.slow
def test_groups_that_are_left_out_by_their_counts_are_shown_by_two_tables() -> None:
    table = table_of(rows=5_000)
    verdict = lt.check_privacy(made(_few_are_left_out), table, epsilon=1, floats="ideal")
    assert verdict.decision == "NO"


# ---- what is not followed

NOT_SUMS: dict[str, str] = {
    "SELECT MAX(age) FROM data": r"'max'|largest or smallest|not a column",
    "SELECT COUNT(DISTINCT age + 1) FROM data": r"'\+' where",
    "SELECT city, COUNT(DISTINCT age) FROM data GROUP BY city": r"DISTINCT",
    "SELECT SUM(age / 2) FROM data": r"a division",
    "SELECT age FROM data": r"not added up",
    "SELECT city, COUNT(*) FROM data GROUP BY city ORDER BY COUNT(*)": r"not a column",
    "SELECT city, COUNT(*) FROM data GROUP BY city LIMIT 1": r"limit",
    "SELECT COUNT(*) FROM (SELECT * FROM data LIMIT 1)": r"another table",
    "SELECT COUNT(*) FROM data WHERE city > 'Oslo'": r"order of names",
    "SELECT COUNT(*) FROM data WHERE age = 'Oslo'": r"a name with a number",
    "SELECT COUNT(*) FROM data WHERE member": r"ends too early",
    "SELECT COUNT(*) FROM data WHERE age IS NOT NULL": r"not a comparison",
    "SELECT AVG(age) FROM data WHERE age > 1": r"number of rows that is private",
    "SELECT SUM(age * 99999999999) FROM data": r"small number",
    "SELECT COALESCE(SUM(age), 7) FROM data": r"another number than 0",
    "SELECT SUM(CASE WHEN age > 1 THEN 1.5 ELSE 0 END) FROM data": r"write 1\.0 for 1",
    "SELECT COUNT(*) FROM data AS d JOIN data AS e ON d.age = e.age": r"'as'",
}


@pytest.mark.parametrize("query", NOT_SUMS)
def test_other_queries_are_refused_with_the_line(query: str) -> None:
    @made
    def released(con: Any, rng: Any) -> Any:
        return con.execute(query).fetchone()[0] + rng.laplace()

    table = table_of(rows=5_000)
    found = released.on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert re.search(NOT_SUMS[query], found.reason), found.reason
    assert "test_symbolic_databases.py" in found.reason


def test_engines_that_answer_otherwise_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the translation shows on small tables."""
    monkeypatch.setitem(_comparisons(), ">", _comparisons()[">="])
    table = table_of(rows=4_999)

    @made
    def released(con: Any, rng: Any) -> Any:
        return con.execute("SELECT COUNT(*) FROM data WHERE age > 2").fetchone()[0] + rng.laplace()

    found = released.on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert "to which the engine answers" in found.reason


def _comparisons() -> Any:
    from liptest.enumerate.sql import sql_queries

    return sql_queries._COMPARED


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["duckdb", "sqlalchemy"])
def test_other_engines(frame: str) -> None:
    pytest.importorskip(frame)
    sa = pytest.importorskip("sqlalchemy")
    query = f"{BY_CITY} ORDER BY city"

    @lt.mechanism(frame=frame)
    def released(con: Any, rng: Any) -> Any:
        rows = con.execute(sa.text(query) if frame == "sqlalchemy" else query).fetchall()
        found = {row[0]: row[1] for row in rows}
        return [found.get(one, 0) + rng.laplace(scale=2) for one in CITIES]

    verdict = lt.check_privacy(released, table_of(rows=300), epsilon=1, floats="ideal")
    assert verdict.decision == "YES", verdict.reason


# Sums of the same real numbers, by queries of which each has one number.
SAME_SUMS = [
    "TOTAL(x) FROM data WHERE city = 'Oslo'",
    "TOTAL(x) FILTER (WHERE city = 'Oslo') FROM data",
    "COALESCE(SUM(x), 0.0) FROM data WHERE city = 'Oslo'",
    "TOTAL(CASE WHEN city = 'Oslo' THEN x ELSE 0.0 END) FROM data",
    "TOTAL(x) FROM (SELECT x FROM data WHERE city = 'Oslo') AS chosen",
]


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [*combinations_with_replacement(SAME_SUMS, 2)])
def test_sums_of_two_queries_do_not_cancel(one: str, other: str) -> None:
    """In which order an engine adds up real numbers is not known, and their last digits differ."""

    def released(con: Any, rng: Any) -> Any:
        first, second = (con.execute(f"SELECT {own}").fetchone()[0] for own in (one, other))
        return first - second + rng.laplace(scale=1e-14)

    assert gap_of(released) > 100


def _of_a_group(con: Any, rng: Any) -> Any:
    groups = dict(con.execute("SELECT city, TOTAL(x) FROM data GROUP BY city").fetchall())
    chosen = con.execute("SELECT TOTAL(x) FROM data WHERE city = 'Oslo'").fetchone()[0]
    return groups.get("Oslo", 0.0) - chosen + rng.laplace(scale=1e-14)


def _of_one_row(con: Any, rng: Any) -> Any:
    query = "SELECT TOTAL(x), TOTAL(x) FILTER (WHERE city <> 'Bern') FROM data"
    first, second = con.execute(query).fetchone()
    return first - second + rng.laplace(scale=1e-14)


def _of_users(con: Any, rng: Any) -> Any:
    query = "SELECT TOTAL(MIN(own, 1.0)) FROM (SELECT SUM(x) AS own FROM data GROUP BY who) AS a"
    first, second = (con.execute(query).fetchone()[0] for _ in range(2))
    return first - second + rng.laplace(scale=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("program", [_of_a_group, _of_one_row, _of_users])
def test_sums_of_groups_and_users_do_not_cancel(program: Any) -> None:
    assert gap_of(program, has_users=program is _of_users) > 100


def gap_of(program: Any, *, has_users: bool = False) -> float:
    columns = {"x": lt.Real(0, 1), "city": lt.Category(CITIES)}
    users = {"who": lt.Key()} if has_users else {}
    unit = {"unit": "who", "at_most": 3} if has_users else {}
    table: Any = lt.Table(columns | users, rows=1_000, **unit)
    found = align(lt.mechanism(program, frame="sqlite").on_domain(table), table)
    assert found.price is not None, found.reason
    return float(found.epsilon)
