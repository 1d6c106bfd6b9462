"""The file under a ledger: SQLite in WAL mode, flushed to the disk at every row.

Every operation opens the file anew, so that threads and forked processes may share a chain.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar

from liptest.errors import LedgerError
from liptest.ledger.rows import (
    APPLICATION,
    COLUMNS,
    SCHEMA,
    START,
    VERSION,
    Draft,
    Past,
    Row,
    damage,
    digest,
    is_new,
    pragma,
    row_after,
    row_problems,
    schema_problems,
    stored_rows,
    table_is_there,
)

T = TypeVar("T")
# Somebody else writes; everything else is final. PROTOCOL: the same, while a file is recovered.
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
# WAL needs two files beside the ledger, even to read it.
_NO_FOLDER = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


class Chain:
    """A ledger's file.

    Raises LedgerError wherever the file cannot be opened, is no ledger, was written by a newer
    version, or stays locked by others for ``patience`` seconds.
    """

    def __init__(self, path: str | PathLike[str], *, patience: float = 30.0) -> None:
        self.path = Path(fspath(path)).absolute()
        self._patience = patience

    def prepare(self) -> None:
        """Create the file if there is none, and make sure that it can be written."""
        if self.path.exists() and not self.path.is_file():
            raise self._error("is no file; name a file, such as liptest-ledger.db")
        if not self.path.parent.is_dir():
            raise self._error("its folder does not exist; create it first")
        self._patiently(self._prepared)

    def append(self, compose: Callable[[Past], Draft]) -> Row:
        """Append the row that ``compose`` makes of the past; on the disk when this returns.

        ``compose`` may run several times. When it raises, nothing is written.
        """
        return self._patiently(lambda: self._appended(compose))

    def rows(self) -> list[Row]:
        """All rows, in order."""
        with self._reading() as connection:
            return list(stored_rows(connection, "ORDER BY number"))

    def problems(self) -> list[str]:
        """What is wrong, in sentences that name the row; nothing when the chain is intact."""
        with self._reading() as connection:
            wrong = schema_problems(connection)
            if not table_is_there(connection):
                return wrong
            wrong += damage(connection)
            before = (0, START)
            for row in stored_rows(connection, "ORDER BY number"):
                wrong += [f"row {row.number}: {text}" for text in row_problems(row, *before)]
                before = (row.number, row.hash)
        return wrong

    def _appended(self, compose: Callable[[Past], Draft]) -> Row:
        with self._writing("rw") as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_ours(connection)
            past = Past(connection)
            last = past.last()
            if last is not None and digest(last.entry) != last.hash:
                raise self._error("its last row was changed; see liptest ledger verify")
            row = row_after(compose(past), last)
            values = (row.number, row.kind, row.vendor, row.attempt, row.entry)
            connection.execute(
                f"INSERT INTO entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*values, row.previous, row.hash),
            )
            connection.execute("COMMIT")
        return row

    def _prepared(self) -> None:
        with self._writing("rwc") as connection:
            if not is_new(connection):
                self._check_ours(connection)
            # Nothing of a stranger's file was touched up to here.
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise self._error(f"journal mode {mode!r}, not WAL; keep it on a local disk")
            connection.execute("BEGIN IMMEDIATE")
            if is_new(connection):
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
            else:
                self._check_ours(connection)
            # Written even where it is there: only a write shows that one can write.
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")

    def _check_ours(self, connection: sqlite3.Connection, *, schema: bool = True) -> None:
        application, version = (
            pragma(connection, name) for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise self._error("is no ledger of liptest; name another file")
        if version > VERSION:
            raise self._error(f"has version {version}, this liptest knows {VERSION}; update it")
        if schema and (version != VERSION or schema_problems(connection)):
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
        connection = self._connected("ro")
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
        return self._connected("ro&immutable=1")

    @contextmanager
    def _writing(self, mode: str) -> Iterator[sqlite3.Connection]:
        with closing(self._connected(mode)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            yield connection

    def _connected(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._patience,
            isolation_level=None,
        )
        # Text that is no UTF-8 must be reported as damage, not end the check.
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
            return self._error("is no ledger of liptest; name another file")
        return self._error(f"{error}; nothing is released without a record in it")

    def _error(self, text: str) -> LedgerError:
        return LedgerError(f"ledger={str(self.path)!r}: {text}")


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
