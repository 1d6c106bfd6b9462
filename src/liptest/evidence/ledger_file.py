"""The file under a ledger: SQLite in WAL mode, flushed to the disk at every row.

Every operation opens the file anew, so that threads and forked processes may share a chain.
"""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, TypeVar

import liptest
from liptest.errors import LedgerError
from liptest.foreign import code_of_error

# Rows of a ledger, the tables and triggers that hold them, and what can be wrong with them.
#
# A row is one canonical JSON text; its hash is the sha256 of that text, and the text holds the hash
# of the row before. Columns beside it repeat what is looked up. Triggers refuse changes; the chain
# shows those that were made past the triggers.


#: Stands before the first row.
START = "0" * 64
VERSION = 2
APPLICATION = 0x4C49_5054  # "LIPT"
TABLE = (
    """CREATE TABLE entries (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    kind TEXT NOT NULL CHECK (kind IN ('attempt', 'verdict', 'release', 'cap')),
    vendor TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND number),
    entry TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
)""",
    "CREATE INDEX entries_by_vendor ON entries (vendor, kind)",
    "CREATE INDEX entries_by_attempt ON entries (attempt)",
)
SCHEMA = (
    *TABLE,
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
# Version 1 had no caps of private tables; its ledgers are read and written as they are.
_KINDS = {1: "('attempt', 'verdict', 'release')", 2: "('attempt', 'verdict', 'release', 'cap')"}
COLUMNS = "number, kind, vendor, attempt, entry, previous, hash"


# Columns that the text of a row repeats.
_TOLD = ("number", "kind", "vendor", "attempt", "previous")


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
        """The JSON text, read; ValueError when it is not an object."""
        fields = json.loads(self.entry)
        if not isinstance(fields, dict):
            raise ValueError("not a JSON object")
        return fields


@dataclass(frozen=True)
class Draft:
    """A row to be appended; ``attempt`` None means that the row is an attempt itself."""

    kind: str
    vendor: str
    attempt: int | None
    fields: dict[str, Any]


class LastRowChanged(Exception):
    """Nothing is appended to a row that does not fit its hash."""


class Connection(Protocol):
    """What runs queries: SQLite's own, or a session of another database."""

    def execute(self, query: str, values: Any = ..., /) -> Any: ...


class Past:
    """What is in the chain when a row is appended; nobody else can append meanwhile.

    ``has_caps`` says whether the file is of a version that knows caps of private tables.
    """

    def __init__(self, connection: Connection, *, has_caps: bool) -> None:
        self._connection = connection
        self.has_caps = has_caps

    def last(self) -> Row | None:
        """The last row."""
        return next(find_stored_rows(self._connection, "ORDER BY number DESC LIMIT 1"), None)

    def count(self, kind: str, vendor: str) -> int:
        """How many rows of a kind a vendor has."""
        query = "SELECT count(*) FROM entries WHERE vendor = ? AND kind = ?"
        return int(self._connection.execute(query, (vendor, kind)).fetchone()[0])

    def rows(self) -> list[Row]:
        """All rows, in order."""
        return list(find_stored_rows(self._connection, "ORDER BY number"))

    def of_kind(self, kind: str, vendor: str) -> list[Row]:
        """The rows of a kind that a vendor has."""
        return list(
            find_stored_rows(
                self._connection, "WHERE vendor = ? AND kind = ? ORDER BY number", vendor, kind
            )
        )

    def caps(self) -> list[Row]:
        """All rows that cap something."""
        return list(find_stored_rows(self._connection, "WHERE kind = 'cap' ORDER BY number"))

    def of_attempt(self, attempt: int) -> list[Row]:
        """An attempt and what followed from it."""
        return list(
            find_stored_rows(self._connection, "WHERE attempt = ? ORDER BY number", attempt)
        )


def canonical_json(value: Any) -> str:
    """One text for one JSON value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def text_digest(text: str) -> str:
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
    entry = canonical_json(fields)
    return Row(number, draft.kind, draft.vendor, attempt, entry, previous, text_digest(entry))


def row_problems(row: Row, number: int, previous: str) -> list[str]:
    """What is wrong with a row that follows row ``number`` of hash ``previous``."""
    wrong = []
    if row.number != number + 1:
        wrong.append(f"it follows row {number}: rows are missing")
    if row.previous != previous:
        wrong.append("it does not hold the hash of the row before")
    if text_digest(str(row.entry)) != row.hash:
        wrong.append("its text does not fit its hash")
    return wrong + _text_problems(row)


def chain_problems(rows: Iterable[Row]) -> list[str]:
    """What is wrong with rows that should follow each other from the first."""
    wrong = []
    before = (0, START)
    for row in rows:
        wrong += [f"row {row.number}: {text}" for text in row_problems(row, *before)]
        before = (row.number, row.hash)
    return wrong


def first_changed(rows: Iterable[Row]) -> int | None:
    """The number of the first row that does not fit its hash, its columns or the row before it."""
    previous = START
    for number, row in enumerate(rows, 1):
        if (row.number, row.previous) != (number, previous) or row.hash != text_digest(row.entry):
            return row.number
        if any(row.fields.get(name) != getattr(row, name) for name in _TOLD):
            return row.number
        previous = row.hash
    return None


def append_row(connection: Connection, past: Past, compose: Callable[[Past], Draft]) -> Row:
    """Write the row that ``compose`` makes of the past; LastRowChanged where that was."""
    last = past.last()
    if last is not None and text_digest(last.entry) != last.hash:
        raise LastRowChanged("its last row was changed; see liptest ledger verify")
    row = row_after(compose(past), last)
    values = (row.number, row.kind, row.vendor, row.attempt, row.entry)
    connection.execute(
        f"INSERT INTO entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*values, row.previous, row.hash),
    )
    return row


def _text_problems(row: Row) -> list[str]:
    try:
        fields = row.fields
        if canonical_json(fields) != row.entry:
            return ["its text is not canonical JSON"]
    except (TypeError, ValueError):
        return ["its text is not a JSON object"]
    differing = [name for name in _TOLD if fields.get(name) != getattr(row, name)]
    return [f"column {name} does not fit its text" for name in differing]


def find_stored_rows(connection: Connection, rest: str, *values: Any) -> Iterator[Row]:
    """Rows that a clause of ours selects."""
    for entry in connection.execute(f"SELECT {COLUMNS} FROM entries {rest}", values):
        yield Row(*entry)


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """A number in the head of the file."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master"))


def table_is_there(connection: sqlite3.Connection) -> bool:
    """Whether the rows lie in the table that was made for them."""
    expected = _make_expected_schema(pragma(connection, "user_version"))
    return any(name == "entries" for name, _ in _schema(connection) & expected)


@cache
def _make_expected_schema(version: int) -> frozenset[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in SCHEMA:
            kinds = _KINDS.get(version, _KINDS[VERSION])
            connection.execute(statement.replace(_KINDS[VERSION], kinds))
        return frozenset(_schema(connection))


def schema_problems(connection: sqlite3.Connection) -> list[str]:
    """Tables, indices and triggers that are not as they were made."""
    expected = _make_expected_schema(pragma(connection, "user_version"))
    actual = _schema(connection)
    names = {name: "" for name, _ in sorted(actual ^ expected)}
    return [f"schema: {name} was added, removed or changed" for name in names]


def damage(connection: sqlite3.Connection) -> list[str]:
    """What SQLite's own check says about the file."""
    answers = [str(answer) for (answer,) in connection.execute("PRAGMA integrity_check(10)")]
    return [f"file: {answer}" for answer in answers if answer != "ok"]


def is_new(connection: sqlite3.Connection) -> bool:
    """Nothing was made of it yet: also an empty file, left behind by an interrupted creation."""
    marks = pragma(connection, "application_id") or pragma(connection, "user_version")
    return not marks and not _schema(connection)


T = TypeVar("T")
# Somebody else writes; everything else is final. PROTOCOL: the same, while a file is recovered.
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
# WAL needs two files beside the ledger, even to read it.
_NO_FOLDER = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


class Chain:
    """A ledger's file.

    Raises LedgerError wherever the file cannot be opened, is not a ledger, was written by a newer
    version, or stays locked by others for ``patience`` seconds.
    """

    def __init__(self, path: str | PathLike[str], *, patience: float = 30.0) -> None:
        self.path = Path(fspath(path)).absolute()
        self._patience = patience

    def prepare(self) -> None:
        """Create the file if there is none, and make sure that it can be written."""
        if self.path.exists() and not self.path.is_file():
            raise self._error("is not a file; name a file, such as liptest-ledger.db")
        if not self.path.parent.is_dir():
            raise self._error("its folder does not exist; create it first")
        self._patiently(self._prepare)

    def append(self, compose: Callable[[Past], Draft]) -> Row:
        """Append the row that ``compose`` makes of the past; on the disk when this returns.

        ``compose`` may run several times. When it raises, nothing is written.
        """
        return self._patiently(lambda: self._appended(compose))

    def rows(self) -> list[Row]:
        """All rows, in order."""
        with self._reading() as connection:
            return list(find_stored_rows(connection, "ORDER BY number"))

    def problems(self) -> list[str]:
        """What is wrong, in sentences that name the row; nothing when the chain is intact."""
        with self._reading() as connection:
            wrong = schema_problems(connection)
            if not table_is_there(connection):
                return wrong
            wrong += damage(connection)
            wrong += chain_problems(find_stored_rows(connection, "ORDER BY number"))
        return wrong

    def _appended(self, compose: Callable[[Past], Draft]) -> Row:
        with self._writing("rw") as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_ours(connection)
            past = Past(connection, has_caps=pragma(connection, "user_version") >= 2)
            try:
                row = append_row(connection, past, compose)
            except LastRowChanged as error:
                raise self._error(str(error)) from None
            connection.execute("COMMIT")
        return row

    def _prepare(self) -> None:
        with self._writing("rwc") as connection:
            if not is_new(connection):
                self._check_ours(connection)
            # Nothing of a stranger's file was touched up to here.
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise self._error(f"journal mode {mode!r}, not WAL; keep it on a local disk")
            connection.execute("BEGIN IMMEDIATE")
            version = VERSION
            if is_new(connection):
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
            else:
                self._check_ours(connection)
                version = pragma(connection, "user_version")
            # Written even where it is there: only a write shows that one can write.
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")

    def _check_ours(self, connection: sqlite3.Connection, *, schema: bool = True) -> None:
        application, version = (
            pragma(connection, name) for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise self._error("is not a ledger of liptest; name another file")
        if version > VERSION:
            raise self._error(f"has version {version}, this liptest knows {VERSION}; update it")
        if schema and (version not in _KINDS or schema_problems(connection)):
            raise self._error("its tables or triggers were changed; see liptest ledger verify")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise self._error("there is no such file")
        try:
            with closing(self._readable()) as connection:
                self._check_ours(connection, schema=False)
                yield connection
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _readable(self) -> sqlite3.Connection:
        """A connection with a snapshot; in a folder that cannot be written, of the bare file."""
        connection = self._connect("ro")
        try:
            connection.execute("BEGIN")
            pragma(connection, "application_id")
            return connection
        except sqlite3.Error as error:
            connection.close()
            beside = Path(f"{self.path.resolve()}-wal")
            unfinished = beside.exists() and beside.stat().st_size > 0
            if _code(error) not in _NO_FOLDER or unfinished:
                raise
        return self._connect("ro&immutable=1")

    @contextmanager
    def _writing(self, mode: str) -> Iterator[sqlite3.Connection]:
        with closing(self._connect(mode)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            yield connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._patience,
            isolation_level=None,
        )
        # Text that is not UTF-8 must be reported as damage, not end the check.
        connection.text_factory = lambda data: str(data, "utf-8", "replace")
        return connection

    def _patiently(self, action: Callable[[], T]) -> T:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return action()
            except sqlite3.Error as error:
                if _code(error) not in _BUSY or time.monotonic() > deadline:
                    raise self._failure(error) from error
            time.sleep(random.uniform(0.001, 0.02))

    def _failure(self, error: sqlite3.Error) -> LedgerError:
        if _code(error) == sqlite3.SQLITE_NOTADB:
            return self._error("is not a ledger of liptest; name another file")
        return self._error(f"{error}; nothing is released without a record in it")

    def _error(self, text: str) -> LedgerError:
        return LedgerError(f"ledger={str(self.path)!r}: {text}")


def _code(error: sqlite3.Error) -> int:
    return code_of_error(error) & 0xFF
