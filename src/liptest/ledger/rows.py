"""Rows of a ledger, the tables and triggers that hold them, and what can be wrong with them.

A row is one canonical JSON text; its hash is the sha256 of that text, and the text holds the hash
of the row before. Columns beside it repeat what is looked up. Triggers refuse changes; the chain
shows those that were made past the triggers.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import liptest

#: Stands before the first row.
START = "0" * 64
VERSION = 1
APPLICATION = 0x4C49_5054  # "LIPT"
SCHEMA = (
    """CREATE TABLE entries (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    kind TEXT NOT NULL CHECK (kind IN ('attempt', 'verdict', 'release')),
    vendor TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND number),
    entry TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
)""",
    "CREATE INDEX entries_by_vendor ON entries (vendor, kind)",
    "CREATE INDEX entries_by_attempt ON entries (attempt)",
    """CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: rows are never changed'); END""",
    """CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: rows are never deleted'); END""",
    # Also refuses INSERT OR REPLACE, for which delete triggers do not run.
    f"""CREATE TRIGGER entries_follow_each_other BEFORE INSERT ON entries
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM entries)
  OR NEW.previous IS NOT
    coalesce((SELECT hash FROM entries ORDER BY number DESC LIMIT 1), '{START}')
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: a row follows the last one'); END""",
)  # fmt: skip
COLUMNS = "number, kind, vendor, attempt, entry, previous, hash"


@dataclass(frozen=True)
class Row:
    """One row. ``attempt`` is the number of the attempt that it belongs to."""

    number: int
    kind: str
    vendor: str
    attempt: int
    entry: str
    previous: str
    hash: str

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON text, read; ValueError when it is no object."""
        found = json.loads(self.entry)
        if not isinstance(found, dict):
            raise ValueError("no JSON object")
        return found


@dataclass(frozen=True)
class Draft:
    """A row to be appended; ``attempt`` None means that the row is an attempt itself."""

    kind: str
    vendor: str
    attempt: int | None
    fields: dict[str, Any]


class Past:
    """What is in the chain when a row is appended; nobody else can append meanwhile."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def last(self) -> Row | None:
        """The last row."""
        return next(stored_rows(self._connection, "ORDER BY number DESC LIMIT 1"), None)

    def count(self, kind: str, vendor: str) -> int:
        """How many rows of a kind a vendor has."""
        query = "SELECT count(*) FROM entries WHERE vendor = ? AND kind = ?"
        return int(self._connection.execute(query, (vendor, kind)).fetchone()[0])

    def of_attempt(self, attempt: int) -> list[Row]:
        """An attempt and what followed from it."""
        return list(stored_rows(self._connection, "WHERE attempt = ? ORDER BY number", attempt))


def canonical(value: Any) -> str:
    """One text for one JSON value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(text: str) -> str:
    """sha256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def row_after(draft: Draft, last: Row | None) -> Row:
    """The row that a draft becomes after the last one."""
    number, previous = (1, START) if last is None else (last.number + 1, last.hash)
    attempt = number if draft.attempt is None else draft.attempt
    fields = {
        **draft.fields,
        "number": number,
        "kind": draft.kind,
        "vendor": draft.vendor,
        "attempt": attempt,
        "previous": previous,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "liptest": liptest.__version__,
    }
    entry = canonical(fields)
    return Row(number, draft.kind, draft.vendor, attempt, entry, previous, digest(entry))


def row_problems(row: Row, number: int, previous: str) -> list[str]:
    """What is wrong with a row that follows row ``number`` of hash ``previous``."""
    wrong = []
    if row.number != number + 1:
        wrong.append(f"it follows row {number}: rows are missing")
    if row.previous != previous:
        wrong.append("it does not hold the hash of the row before")
    if digest(str(row.entry)) != row.hash:
        wrong.append("its text does not fit its hash")
    return wrong + _text_problems(row)


def _text_problems(row: Row) -> list[str]:
    try:
        fields = row.fields
        if canonical(fields) != row.entry:
            return ["its text is not canonical JSON"]
    except (TypeError, ValueError):
        return ["its text is no JSON object"]
    names = ("number", "kind", "vendor", "attempt", "previous")
    differing = [name for name in names if fields.get(name) != getattr(row, name)]
    return [f"column {name} does not fit its text" for name in differing]


def stored_rows(connection: sqlite3.Connection, rest: str, *values: Any) -> Iterator[Row]:
    """Rows that a clause of ours selects."""
    for found in connection.execute(f"SELECT {COLUMNS} FROM entries {rest}", values):
        yield Row(*found)


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """A number in the head of the file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master"))


def table_is_there(connection: sqlite3.Connection) -> bool:
    """Whether the rows lie in the table that was made for them."""
    return any(name == "entries" for name, _ in _schema(connection) & _expected_schema())


@cache
def _expected_schema() -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
        return frozenset(_schema(connection))


def schema_problems(connection: sqlite3.Connection) -> list[str]:
    """Tables, indices and triggers that are not as they were made."""
    found, expected = _schema(connection), _expected_schema()
    names = {name: "" for name, _ in sorted(found ^ expected)}
    return [f"schema: {name} was added, removed or changed" for name in names]


def damage(connection: sqlite3.Connection) -> list[str]:
    """What SQLite's own check says about the file."""
    answers = [str(answer) for (answer,) in connection.execute("PRAGMA integrity_check(10)")]
    return [f"file: {answer}" for answer in answers if answer != "ok"]


def is_new(connection: sqlite3.Connection) -> bool:
    """Nothing was made of it yet: also an empty file, left behind by an interrupted creation."""
    marks = pragma(connection, "application_id") or pragma(connection, "user_version")
    return not marks and not _schema(connection)
