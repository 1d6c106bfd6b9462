"""Random queries of SQLite: no price is below what SQLite itself shows on small tables.

A price below the largest change would be a false proof. How often both are equal is counted, so
that the test would notice prices that are only safe because they are large.
"""

from __future__ import annotations

import collections
import random
import sqlite3
from contextlib import closing
from itertools import product
from typing import Any

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

COLUMNS: dict[str, Any] = {
    "city": lt.Category(["Oslo", "Rome"]),
    "age": lt.Integer(-1, 2),
    "member": lt.Bit(),
}
ROWS = tuple(product(["Oslo", "Rome"], (-1, 0, 1, 2), (0, 1)))


def number(rng: random.Random, depth: int) -> str:
    """An expression of one row."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["age", "age", "member", str(rng.randint(-2, 3))])
    one, other = number(rng, depth - 1), number(rng, depth - 1)
    truth, constant = condition(rng, depth - 1), rng.randint(-2, 3)
    return rng.choice(
        [
            *(f"({one} + {other})", f"({one} - {other})", f"({one} * {constant})", f"-({one})"),
            *(f"MIN({one}, {constant})", f"MAX({one}, {constant})", f"ABS({one})"),
            *(f"MIN({one}, {other})", f"({one} * {other})", f"({one} / 2)", f"({one} % 2)"),
            f"CASE WHEN {truth} THEN {one} ELSE {other} END",
            f"CASE WHEN {truth} THEN {one} END",
            *(f"IIF({truth}, {one}, {constant})", f"COALESCE({one}, 1)", f"({truth})"),
        ]
    )


def condition(rng: random.Random, depth: int) -> str:
    """A truth of one row."""
    one, constant = number(rng, max(depth - 1, 0)), rng.randint(-2, 3)
    city = rng.choice(["Oslo", "Rome", "Paris", "rome"])
    kinds = [
        f"{one} {rng.choice(['>', '>=', '<', '<=', '=', '<>', '!=', 'IS'])} {constant}",
        *(f"city = '{city}'", f"city IN ('{city}', 'Rome')", f"city <> '{city}'"),
        *(f"age IN (1, {constant})", f"{one} BETWEEN -1 AND {constant}", "member"),
        *(f"{one} NOT BETWEEN {constant} AND 2", f"{one} IS NOT NULL", f"city LIKE '{city[0]}%'"),
        f"city > '{city}'",
    ]
    if depth > 0:
        left, right = condition(rng, depth - 1), condition(rng, depth - 1)
        kinds += [f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"]
        kinds += [f"NOT {left}", f"{left} AND {right} OR {left}"]
    return rng.choice(kinds)


def query(rng: random.Random) -> str:
    """A query that gives one number."""
    inner, truth = number(rng, 2), condition(rng, 2)
    total = rng.choice(
        [
            *("COUNT(*)", f"COUNT({inner})", f"TOTAL({inner})", f"COALESCE(SUM({inner}), 0)"),
            *(f"COUNT(DISTINCT {inner})", f"TOTAL({inner}) / 2", f"2 * COUNT(*) - TOTAL({inner})"),
            *(f"COUNT(*) FILTER (WHERE {truth})", f"IFNULL(SUM({inner}), {rng.randint(0, 2)})"),
            *(f"TOTAL({inner}) FILTER (WHERE {condition(rng, 1)})", f"MAX({inner})"),
            f"TOTAL(DISTINCT {inner})",
        ]
    )
    return f"{total} FROM data{rng.choice(['', f' WHERE {truth}', f' WHERE {truth}'])}"


def largest_change(text: str, relation: str) -> float:
    """By SQLite, over all neighbouring tables of two rows."""
    found: dict[Any, float] = {}
    with closing(sqlite3.connect(":memory:")) as con:
        con.execute("CREATE TABLE data (city TEXT, age INTEGER, member INTEGER)")
        tables: list[tuple[Any, ...]] = [(one,) for one in ROWS]
        tables += [pair for pair in product(ROWS, ROWS) if pair[0] <= pair[1]]
        for rows in tables:
            con.execute("DELETE FROM data")
            con.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
            (answer,) = con.execute(f"SELECT {text}").fetchone()
            found[rows] = float("nan") if answer is None else float(answer)
    pairs = [(one, other) for one in ROWS for other in ROWS]
    if relation == "add_remove":
        return max(abs(found[(one,)] - found[tuple(sorted((one, other)))]) for one, other in pairs)
    return max(
        abs(found[tuple(sorted((one, kept)))] - found[tuple(sorted((other, kept)))])
        for one, other in pairs
        for kept in ROWS
    )


def compared(seed: int) -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change."""
    rng = random.Random(seed)
    text, relation = query(rng), rng.choice(["replace", "add_remove"])

    @lt.mechanism(frame="sqlite")
    def released(con: Any, rng: Any) -> Any:
        return con.execute(f"SELECT {text}").fetchone()[0] + rng.laplace()

    table = lt.Table(COLUMNS, rows=2, relation=relation)
    found = align(released.on_domain(table), table)
    if found.price is None:
        return "refused"
    change = largest_change(text, relation)
    assert found.epsilon >= change - 1e-9, (text, relation, found.epsilon, change)
    return "equal" if found.epsilon <= change + 1e-9 else "above"


@pytest.mark.slow
def test_prices_are_changes() -> None:
    found = collections.Counter(map(compared, range(40)))
    assert found["equal"] >= 6, found
