"""A PostgreSQL database: connections that are kept, transactions that are tried again.

Queries are those of SQLite, with ``?`` for values, so that they are written once for both. What
belongs together lies in a schema of its own.
"""

from __future__ import annotations

import os
import random
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import urlsplit

from liptest.errors import InputError

T = TypeVar("T")
SERIALIZABLE, READ_COMMITTED = "SERIALIZABLE", "READ COMMITTED"
_SCHEMES = ("postgresql://", "postgres://")
# One lock for all who make tables: "LIPT".
_MAKING = 0x4C49_5054
_MOST_IDLE = 8


def is_url(place: object) -> bool:
    """Whether it names a PostgreSQL database, and not a file."""
    return isinstance(place, str) and place.startswith(_SCHEMES)


def show_url(url: str) -> str:
    """The URL without its password and options."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "postgresql:"
    user, at, hosts = parts.netloc.rpartition("@")
    return f"postgresql://{user.partition(':')[0]}{at}{hosts}{parts.path}"


class PostgresSession:
    """A connection; values stand for question marks, rows are tuples, or named."""

    def __init__(self, connection: Any, rows: Any) -> None:
        self._connection = connection
        self._rows = rows

    def execute(self, query: str, values: Sequence[Any] = ()) -> Any:
        """A cursor that has run the query."""
        cursor = self._connection.cursor(row_factory=self._rows)
        # PostgreSQL has no text with this letter, and no row that holds it.
        told = [
            value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in values
        ]
        return cursor.execute(query.replace("?", "%s"), told)


class Postgres:
    """A schema of a database, by its URL.

    ``named`` rows are dictionaries, others tuples. InputError where the driver is missing;
    ``failures`` are what the methods raise when there is no answer.
    """

    def __init__(self, url: str, schema: str, *, named: bool, patience: float = 30.0) -> None:
        try:
            driver: Any = import_module("psycopg")
        except ImportError:
            raise InputError(
                "database: PostgreSQL needs psycopg: pip install 'liptest[postgres]'"
            ) from None
        self.url, self.schema = url, schema
        self.failures: type[Exception] = driver.Error
        self._driver, self._patience = driver, patience
        self._rows = driver.rows.dict_row if named else driver.rows.tuple_row
        errors = driver.errors
        # Another transaction was faster: this one begins anew, and sees what that one wrote.
        self._again = (
            errors.SerializationFailure,
            errors.DeadlockDetected,
            errors.UniqueViolation,
        )
        self._idle: list[Any] = []
        self._owner = os.getpid()
        self.close = weakref.finalize(self, _close_all, self._idle, self._owner)

    def write(self, action: Callable[[PostgresSession], T], level: str = SERIALIZABLE) -> T:
        """One transaction; ``action`` may run several times, nothing is kept where it raises.

        When this returns, what was written is on the disk of the server.
        """
        deadline = time.monotonic() + self._patience
        while True:
            try:
                with self._session() as session:
                    session.execute(f"BEGIN ISOLATION LEVEL {level}")
                    done = action(session)
                    session.execute("COMMIT")
                return done
            except self._again:
                if time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(0.001, 0.02))

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """What one query finds."""
        with self._session() as session:
            return list(session.execute(query, values))

    def prepare(self, make: Callable[[PostgresSession], None], version: int) -> int:
        """Make the tables of the schema where there are none; the version that is there."""

        def once(session: PostgresSession) -> int:
            session.execute("SELECT pg_advisory_xact_lock(?)", (_MAKING,))
            there = "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'about'"
            if session.execute(there, (self.schema,)).fetchone() is None:
                session.execute(f"CREATE SCHEMA IF NOT EXISTS {self.schema}")
                session.execute("CREATE TABLE about (version BIGINT NOT NULL)")
                session.execute("INSERT INTO about VALUES (?)", (version,))
                make(session)
            return self._version(session)

        return self.write(once, READ_COMMITTED)

    def version(self) -> int:
        """The version of the tables; raises one of ``failures`` where there are none."""
        with self._session() as session:
            return self._version(session)

    def seconds(self, session: PostgresSession) -> float:
        """The time of the server, which is one for all hosts."""
        cursor = session.execute("SELECT extract(epoch FROM clock_timestamp())::float8 AS now")
        return float(self._value(cursor.fetchone()))

    def _version(self, session: PostgresSession) -> int:
        return int(self._value(session.execute("SELECT version FROM about").fetchone()))

    @staticmethod
    def _value(row: Any) -> Any:
        return next(iter(row.values() if isinstance(row, dict) else row))

    @contextmanager
    def _session(self) -> Iterator[PostgresSession]:
        connection = self._take()
        try:
            yield PostgresSession(connection, self._rows)
        except BaseException:
            connection.close()
            raise
        if len(self._idle) < _MOST_IDLE and self._owner == os.getpid():
            self._idle.append(connection)
        else:
            connection.close()

    def _take(self) -> Any:
        """A connection that answers: one that is idle, or a new one."""
        while self._owner == os.getpid():
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            with suppress(self.failures):
                connection.execute("SELECT 1")
                return connection
            connection.close()
        settings = {
            "search_path": self.schema,
            "synchronous_commit": "on",
            "idle_in_transaction_session_timeout": "60000",
        }
        return self._driver.connect(
            self.url,
            autocommit=True,
            connect_timeout=10,
            application_name="liptest",
            # Poolers between us and the server know no prepared statements.
            prepare_threshold=None,
            options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
        )


def _close_all(connections: list[Any], owner: int) -> None:
    # In a fork they are the parent's.
    while connections and owner == os.getpid():
        connections.pop().close()


def first_line(error: BaseException) -> str:
    """What a driver says, in one line; it repeats no password."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
