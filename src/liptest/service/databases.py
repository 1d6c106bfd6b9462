"""The two databases of a service: a file of SQLite, or PostgreSQL by its URL.

What differs between them is here, and nothing else: how tables are made, how a transaction begins,
what the number of a new row is, and how a job is taken that others may take at the same time.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, TypeVar

from liptest.errors import InputError
from liptest.evidence.postgres import (
    READ_COMMITTED,
    SERIALIZABLE,
    Postgres,
    PostgresSession,
    first_line,
    is_url,
)
from liptest.service.records import ServiceError

T = TypeVar("T")
#: The schema of PostgreSQL that holds all but the ledgers.
SCHEMA = "service"
#: Accounts of PostgreSQL that get what each kind of process needs, where they are there.
ACCOUNTS = {"web": "liptest_web", "worker": "liptest_worker", "releaser": "liptest_releaser"}
# Of each kind, what it may do with which tables of the service; columns where not with all.
_RIGHTS = {
    "web": ("SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA service",),
    "worker": (
        "SELECT ON about, tasks, tables, submissions, code, jobs, results, public_files",
        "SELECT (id, name) ON users",
        "UPDATE ON jobs, results",
        "UPDATE (state, message) ON submissions",
        "INSERT ON results, events",
    ),
    "releaser": (
        "SELECT ON about, tasks, tables, submissions, code, jobs, results, releases, approvals, "
        "people, people_tables, public_files",
        "SELECT (id, name) ON users",
        "UPDATE ON jobs, public_files",
        "UPDATE (state, message) ON tables, tasks, people",
        "UPDATE (state, message, output) ON releases",
        "INSERT ON events, public_files",
    ),
}
#: Of each ledger by its schema, who may read it, and who may append.
LEDGER_RIGHTS = {
    "ledger": {"web": "SELECT", "releaser": "SELECT, INSERT"},
    "tests": {"worker": "SELECT, INSERT"},
}


class Queries(Protocol):
    """A connection in a transaction."""

    def execute(self, query: str, values: Any = ..., /) -> Any: ...


class Database(Protocol):
    """What a store asks of its database; rows are read by the names of their columns."""

    #: Ends the query for a job: of rows that another transaction has, nothing is waited for.
    unlocked: str

    def prepare(self, versions: Sequence[str]) -> None: ...

    def write(self, action: Callable[[Any], T], *, rows_only: bool) -> T: ...

    def rows(self, query: str, values: Sequence[Any]) -> list[Any]: ...

    def insert(self, db: Any, query: str, values: Sequence[Any]) -> int: ...

    def seconds(self, db: Any) -> float: ...

    def close(self) -> None: ...


class SqliteDatabase:
    """A file in WAL mode; one transaction writes at a time (BEGIN IMMEDIATE)."""

    unlocked = ""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self, versions: Sequence[str]) -> None:
        """Make what ``versions`` add one after the other and is not there yet.

        ServiceError for a file of a later version.
        """
        types = {"id": "INTEGER PRIMARY KEY", "whole": "INTEGER", "real": "REAL", "bytes": "BLOB"}
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(versions):
                raise other_version(str(self.path), version, len(versions))
            for added in versions[version:]:
                for statement in added.format(**types).split(";"):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(versions)}")
            connection.execute("COMMIT")

    def write(self, action: Callable[[Any], T], *, rows_only: bool) -> T:
        """One transaction; nothing of it is kept where ``action`` raises."""
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            outcome = action(connection)
            connection.execute("COMMIT")
        return outcome

    def rows(self, query: str, values: Sequence[Any]) -> list[Any]:
        """What a query finds."""
        with closing(self._connect()) as connection:
            return list(connection.execute(query, values))

    def insert(self, db: Any, query: str, values: Sequence[Any]) -> int:
        """The number of a new row."""
        return int(db.execute(query, values).lastrowid)

    def seconds(self, db: Any) -> float:
        """The time of this machine, which all processes are on."""
        return time.time()

    def close(self) -> None:
        """Nothing is kept open."""

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30.0, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection


class PostgresDatabase:
    """A schema of PostgreSQL: transactions are serializable, jobs are held by row locks."""

    unlocked = "FOR UPDATE SKIP LOCKED"

    def __init__(self, url: str) -> None:
        try:
            self._base = Postgres(url, SCHEMA, named=True)
        except InputError as error:
            raise ServiceError(500, str(error)) from None

    def prepare(self, versions: Sequence[str]) -> None:
        """Make the tables where there are none. ServiceError for those of another version."""
        made = ";".join(versions).format(
            id="BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
            whole="BIGINT",
            real="DOUBLE PRECISION",
            bytes="BYTEA",
        )

        def make(session: PostgresSession) -> None:
            for statement in filter(str.strip, made.split(";")):
                session.execute(statement)

        version = self._asked(lambda: self._base.prepare(make, len(versions)))
        if version != len(versions):
            raise other_version("database", version, len(versions))

    def grant(self) -> list[str]:
        """Give each account of ``ACCOUNTS`` that is there what it needs; which ones are there.

        Called by the owner of the tables, once all of them are made.
        """

        def give(session: PostgresSession) -> list[str]:
            query = "SELECT rolname FROM pg_roles WHERE rolname IN (?, ?, ?) ORDER BY rolname"
            names = tuple(ACCOUNTS.values())
            there = [row["rolname"] for row in session.execute(query, names)]
            for kind, account in ACCOUNTS.items():
                if account in there:
                    for statement in _grants(kind):
                        session.execute(f"{statement} TO {account}")
            return there

        return self._asked(lambda: self._base.write(give))

    def write(self, action: Callable[[Any], T], *, rows_only: bool) -> T:
        """One transaction, which may begin anew; ``rows_only``: locks of its rows are enough."""
        level = READ_COMMITTED if rows_only else SERIALIZABLE
        return self._asked(lambda: self._base.write(action, level))

    def rows(self, query: str, values: Sequence[Any]) -> list[Any]:
        """What a query finds."""
        return self._asked(lambda: self._base.rows(query, values))

    def insert(self, db: Any, query: str, values: Sequence[Any]) -> int:
        """The number of a new row."""
        return int(db.execute(f"{query} RETURNING id", values).fetchone()["id"])

    def seconds(self, db: Any) -> float:
        """The time of the server, which is one for all hosts."""
        return self._base.seconds(db)

    def close(self) -> None:
        """End the connections that are idle."""
        self._base.close()

    def _asked(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except self._base.failures as error:
            raise ServiceError(503, f"the database gives no answer: {first_line(error)}") from error


def open_database(place: str | Path) -> Database:
    """The database of a path or a URL; ServiceError for the URL of another kind of database."""
    if is_url(place):
        return PostgresDatabase(str(place))
    if "://" in str(place):
        kind = str(place).partition(":")[0]
        raise ServiceError(500, f"database={kind}: name a file, or postgresql://host/name")
    return SqliteDatabase(Path(place))


def other_version(what: str, found: int, known: int) -> ServiceError:
    """That tables were made by another version."""
    return ServiceError(500, f"{what}: version {found}, this one knows {known}")


def _grants(kind: str) -> list[str]:
    schemas = [SCHEMA, *(name for name, rights in LEDGER_RIGHTS.items() if kind in rights)]
    grants = [f"GRANT USAGE ON SCHEMA {', '.join(schemas)}"]
    grants += [f"GRANT {right}" for right in _RIGHTS[kind]]
    for name, rights in LEDGER_RIGHTS.items():
        if kind in rights:
            grants.append(f"GRANT {rights[kind]} ON {name}.entries")
            grants.append(f"GRANT SELECT ON {name}.about")
    return grants
