"""Functions that query a database: they get a connection to one that holds a dataset of a table.

A dataset becomes the one table of a database: SQLite or DuckDB in memory, or a temporary table of a
PostgreSQL server. Queries only read (``sql_statements``), so that all runs find the same; what else
a connection can do is refused with the line of the program. The engines have locks of their own,
too: SQLite asks an authorizer, DuckDB has no access to anything outside, PostgreSQL reads only.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.data.tables import Key, Table
from liptest.enumerate.sql import frame_programs
from liptest.enumerate.sql.handing import POSTGRESQL, TableDatabase, find_database
from liptest.enumerate.sql.sql_statements import FUNCTIONS, find_fault
from liptest.enumerate.sql.symbolic_databases import SymbolicStore, run_in_all_ways
from liptest.errors import InputError, UnsupportedRandomnessError
from liptest.values.lines import find_asking_line
from liptest.values.records.column import find_column

_ADVICE = (
    "read the data with one SELECT of columns, counts and sums, and calculate the rest in Python"
)
# Steps of one query of SQLite: a few seconds; a table of 100,000 rows joined to itself has more.
_MOST_STEPS, _STEPS_AT_ONCE = 100_000_000, 1_000_000
# Datasets whose answers are kept, and queries of each.
_KEPT, _KEPT_QUERIES = 256, 64


def present(function: Any, table: Table, frame: str) -> Callable[[Any, Any], Any]:
    """A function of what a program gets, as one of datasets."""
    database = find_database(frame)
    if database is None:
        return frame_programs.OnFrames(function, table, frame)
    return OnDatabase(function, table, database)


class OnDatabase:
    """A function ``(connection, rng) -> output`` that gets a dataset of a table in a database."""

    def __init__(self, function: Any, table: Table, database: TableDatabase) -> None:
        self._function = function
        self._table = table
        self._database = database

    def __call__(self, data: Any, rng: Any) -> Any:
        store = _store(self._database, self._table, os.getpid())
        if find_column(data) is not None:
            frame = frame_programs.make_frame(self._table, data)
            symbolic = SymbolicStore(store, frame)
            refuse = _refuser(rng)

            def call() -> Any:
                return self._function(store.connection(None, refuse, symbolic), rng)

            return run_in_all_ways(symbolic, call)
        return self._function(store.connection(np.asarray(data), _refuser(rng)), rng)


def _refuser(rng: Any) -> Callable[[str], Any]:
    def refuse(what: str) -> Any:
        tree = rng._tree
        where = find_asking_line(sys._getframe(1))
        tree.fail(
            UnsupportedRandomnessError(
                f"{tree.name}: a query of a database uses {what}{f' ({where})' if where else ''}; "
                f"{_ADVICE}"
            )
        )

    return refuse


class TooLong(Exception):
    """A query whose answer takes too long."""


class _Store:
    """The database, and what it said of which dataset."""

    #: Whether groups come in any order where none is asked for.
    is_unordered = True

    def __init__(self, database: TableDatabase, table: Table) -> None:
        self.name, self.table = database.table, table
        self.names = (database.table, *table.columns)
        self._held: bytes | None = None
        self._known: OrderedDict[bytes, dict[Any, Any]] = OrderedDict()
        #: Queries that were compared with how they are followed (``symbolic_databases``).
        self.agreeing: set[tuple[str, str]] = set()

    def connection(self, dataset: Any, refuse: Callable[[str], Any], symbolic: Any = None) -> Any:
        """Of a new run; what answers it where data are symbols."""
        return ReadingConnection(symbolic or self, dataset, refuse)

    def row_of(self, names: list[str]) -> Callable[[Iterable[Any]], Any]:
        """What makes a row of its entries."""
        return tuple

    def ask_about(self, entries: dict[str, Any], statement: str, parameters: Any) -> list[Any]:
        """The rows that a query answers of some columns."""
        self._held = None
        self._fill(entries)
        return self._ask(statement, parameters)[1]  # type: ignore[no-any-return]

    def answer(self, dataset: Any, statement: str, parameters: Any) -> Any:
        """Names of columns, and rows."""
        key = dataset.tobytes()
        answers = self._known.setdefault(key, {})
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        asked = statement, repr(parameters)
        if asked not in answers:
            if self._held != key:
                self._held = None
                self._fill(self.table.entries(dataset))
                self._held = key
            if len(answers) >= _KEPT_QUERIES:
                answers.clear()
            answers[asked] = self._ask(statement, parameters)
        return answers[asked]

    def definition(self, words: dict[str, str]) -> str:
        """Columns with their types."""
        parts = []
        for name, kind in self.table.columns.items():
            plain = "whole" if isinstance(kind, Key) else "real" if kind.is_real else ""
            plain = plain or ("text" if kind.is_named else "whole")
            parts.append(f'"{name}" {words[plain]} NOT NULL')
        return f"{self.name} ({', '.join(parts)})"

    def _fill(self, entries: dict[str, Any]) -> None:
        raise NotImplementedError

    def _ask(self, statement: str, parameters: Any) -> Any:
        raise NotImplementedError


def _find_rows(entries: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Rows of Python's numbers and strings."""
    return list(zip(*(own.tolist() for own in entries.values()), strict=True))


# ---- connections of our own, which ask


class ReadingConnection:
    """A connection of one run, as those of sqlite3, DuckDB and psycopg are used; it reads only."""

    __slots__ = ("_dataset", "_is_closed", "_refuse", "_result", "_store")

    def __init__(self, store: _Store, dataset: Any, refuse: Callable[[str], Any]) -> None:
        self._store = store
        self._dataset = dataset
        self._refuse = refuse
        self._is_closed = False
        self._result: Any = None

    def execute(self, query: Any, parameters: Any = None, **options: Any) -> ReadingConnection:
        """One query, whose answer is fetched from what is given back."""
        if type(query) is not str or options:
            self._refuse("a query that is not a plain string")
        if self._is_closed:
            self._refuse("a connection that is closed")
        fault = find_fault(query, self._store.names)
        if fault:
            self._refuse(fault)
        made = type(self)(self._store, self._dataset, self._refuse)
        try:
            names, rows = self._store.answer(self._dataset, query, parameters)
        except TooLong:
            self._refuse(f"a query of more than {_MOST_STEPS:,} steps of the engine; ask for less")
        self._result = made._result = names, list(rows)
        return made

    sql = query = execute

    def cursor(self, *arguments: Any) -> ReadingConnection:
        """Another one on the same data."""
        if arguments:
            self._refuse("a cursor with options")
        return ReadingConnection(self._store, self._dataset, self._refuse)

    def _rows(self) -> list[Any]:
        if self._result is None:
            self._refuse("an answer that was not requested")
        return self._result[1]  # type: ignore[no-any-return]

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        rows = self._rows()
        fetched, rows[:] = list(rows), []
        return fetched

    def fetchone(self) -> Any:
        """The next row, or None."""
        rows = self._rows()
        return rows.pop(0) if rows else None

    def fetchmany(self, size: int = 1) -> list[Any]:
        """The next rows."""
        rows = self._rows()
        fetched, rows[:] = rows[:size], rows[size:]
        return fetched

    def df(self) -> Any:
        """All rows as a pandas frame."""
        import pandas

        names = self._rows() and self._result[0]
        return pandas.DataFrame(self.fetchall(), columns=list(names or self._result[0]))

    fetchdf = df

    @property
    def description(self) -> Any:
        """Names of the columns."""
        return None if self._result is None else [(name,) for name in self._result[0]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())

    def __enter__(self) -> ReadingConnection:
        return self

    def __exit__(self, *error: object) -> None:
        return

    def commit(self) -> None:
        """Nothing was written."""

    rollback = commit

    def close(self) -> None:
        """For this run."""
        self._is_closed = True

    @property
    def row_factory(self) -> Any:
        """Rows are tuples."""
        return None

    @row_factory.setter
    def row_factory(self, factory: Any) -> None:
        self._refuse("a row_factory")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "keys":  # which dict() looks for
            raise AttributeError(name)
        return self._refuse(f".{name}")


class _SqliteStore(_Store):
    """One database in memory; an authorizer knows what statements do."""

    is_unordered = False  # groups are sorted

    def __init__(self, database: TableDatabase, table: Table) -> None:
        super().__init__(database, table)
        self._made = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._made.close)  # from Python 3.13 on, others are warned of
        words = {"whole": "INTEGER", "real": "REAL", "text": "TEXT"}
        self._definition = self.definition(words)

    def _fill(self, entries: dict[str, Any]) -> None:
        self._made.set_authorizer(None)
        self._made.execute(f"DROP TABLE IF EXISTS {self.name}")
        self._made.execute(f"CREATE TABLE {self._definition}")
        marks = ", ".join("?" * len(self.table.columns))
        rows = _find_rows(entries)
        self._made.executemany(f"INSERT INTO {self.name} VALUES ({marks})", rows)
        self._made.commit()
        self._made.set_authorizer(authorize_reading)

    def _ask(self, statement: str, parameters: Any) -> Any:
        # Steps are counted, not seconds: the same query is refused everywhere.
        left = iter(range(_MOST_STEPS // _STEPS_AT_ONCE))
        self._made.set_progress_handler(lambda: next(left, None) is None, _STEPS_AT_ONCE)
        try:
            cursor = self._made.execute(statement, () if parameters is None else parameters)
            return [column[0] for column in cursor.description], cursor.fetchall()
        except sqlite3.OperationalError as error:
            if next(left, None) is None:
                raise TooLong from error
            raise
        finally:
            self._made.set_progress_handler(None, 0)


def authorize_reading(action: int, first: Any, second: Any, *others: Any) -> int:
    """SQLite asks before a statement does something."""
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = str(second).lower() in FUNCTIONS | {"like", "glob"}
    else:
        allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


class AlchemyConnection(ReadingConnection):
    """As SQLAlchemy's connections are used, with ``text("SELECT ..")``."""

    __slots__ = ()

    def execute(self, query: Any, parameters: Any = None, **options: Any) -> Any:
        if type(query).__name__ != "TextClause":
            self._refuse('a query that is not text("SELECT ..")')
        return super().execute(query.text, parameters or {}, **options)

    def scalar(self, *query: Any) -> Any:
        """The first entry of the first row; with a query, of its answer."""
        if query:
            return self.execute(*query).scalar()
        row = self.fetchone()
        return None if row is None else row[0]

    def scalars(self, *query: Any) -> Any:
        """The first entries of all rows."""
        return self.execute(*query).scalars() if query else _Scalars(self.fetchall())

    def one(self) -> Any:
        """The only row."""
        [row] = self.fetchall()
        return row

    def scalar_one(self) -> Any:
        """The only entry."""
        return self.one()[0]

    def keys(self) -> list[str]:
        """Names of the columns."""
        return [name for (name,) in self.description]

    first = ReadingConnection.fetchone
    all = ReadingConnection.fetchall


class _Scalars(list[Any]):
    """First entries."""

    def __init__(self, rows: list[Any]) -> None:
        super().__init__(row[0] for row in rows)

    def all(self) -> list[Any]:
        """All first entries, as a plain list."""
        return list(self)


class _AlchemyStore(_SqliteStore):
    """SQLite's database, as SQLAlchemy would ask it."""

    def connection(self, dataset: Any, refuse: Callable[[str], Any], symbolic: Any = None) -> Any:
        return AlchemyConnection(symbolic or self, dataset, refuse)

    def row_of(self, names: list[str]) -> Callable[[Iterable[Any]], Any]:
        made: Any = namedtuple("row", names, rename=True)  # type: ignore[misc]
        return made._make

    def _ask(self, statement: str, parameters: Any) -> Any:
        names, rows = super()._ask(statement, parameters)
        return names, list(map(self.row_of(names), rows))


class _DuckStore(_Store):
    """One database in memory, without access to anything outside of it."""

    def __init__(self, database: TableDatabase, table: Table) -> None:
        super().__init__(database, table)
        import duckdb

        self._made = duckdb.connect(":memory:", config={"threads": "1"})
        self._made.execute("SET python_enable_replacements = false")
        self._made.execute("SET enable_external_access = false")
        self._made.execute("SET lock_configuration = true")

    def _fill(self, entries: dict[str, Any]) -> None:
        words = {"whole": "BIGINT", "real": "DOUBLE", "text": "VARCHAR"}
        self._made.execute(f"CREATE OR REPLACE TABLE {self.definition(words)}")
        # A statement: in a run import_module() would have the program looked through once more.
        import pandas

        # Older versions of duckdb do not know the texts of pandas 3.
        frame = pandas.DataFrame(entries)
        texts = {name: object for name in frame if frame[name].dtype == "str"}
        if len(frame):
            frame = frame.astype(texts)
            self._made.append(self.name, frame)

    def _ask(self, statement: str, parameters: Any) -> Any:
        cursor = self._made.execute(statement, parameters)
        return [column[0] for column in cursor.description], cursor.fetchall()


class _PostgresStore(_Store):
    """A temporary table of a server; queries are of transactions that only read.

    It is asked through libpq, which waits without Python's clock.
    """

    def __init__(self, database: TableDatabase, table: Table) -> None:
        super().__init__(database, table)
        from psycopg import pq

        self._made = pq.PGconn.connect(database.engine.encode())
        if self._made.status != pq.ConnStatus.OK:
            raise InputError("frame: the PostgreSQL server does not answer", name="frame")
        words = {"whole": "BIGINT", "real": "DOUBLE PRECISION", "text": "TEXT"}
        self._send(f"CREATE TEMPORARY TABLE {self.definition(words)}")
        self._send("SET search_path = pg_temp")
        self._send("SET max_parallel_workers_per_gather = 0")

    def _send(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        from psycopg import errors, pq

        values = [
            None if parameter is None else str(parameter).encode() for parameter in parameters
        ]
        reply = self._made.exec_params(statement.encode(), values)
        if reply.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            raise errors.error_from_result(reply)
        return reply

    def _fill(self, entries: dict[str, Any]) -> None:
        self._send(f"TRUNCATE {self.name}")
        rows = _find_rows(entries)
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            marks = [
                ", ".join(f"${len(row) * place + k + 1}" for k in range(len(row)))
                for place, row in enumerate(part)
            ]
            values = [entry for row in part for entry in row]
            self._send(f"INSERT INTO {self.name} VALUES ({'), ('.join(marks)})", values)

    def _ask(self, statement: str, parameters: Any) -> Any:
        self._send("BEGIN READ ONLY")
        try:
            reply = self._send(*_number(statement, parameters))
            names = [reply.fname(k).decode() for k in range(reply.nfields)]
            kinds = [_OF_TYPES.get(reply.ftype(k), str) for k in range(reply.nfields)]
            rows = [
                tuple(_plain(reply.get_value(row, k), kind) for k, kind in enumerate(kinds))
                for row in range(reply.ntuples)
            ]
            return names, rows
        finally:
            self._send("ROLLBACK")


def _plain(value: bytes | None, kind: Callable[[str], Any]) -> Any:
    return None if value is None else kind(value.decode())


def _is_true(word: str) -> bool:
    return word == "t"


def _number(statement: str, parameters: Any) -> tuple[str, Sequence[Any]]:
    """With $1, $2 for psycopg's %s and %(name)s."""
    if parameters is None:
        return statement, ()
    named = isinstance(parameters, dict)
    values: list[Any] = []

    def number(found: re.Match[str]) -> str:
        if found["name"] is None and not found[0].startswith("%s"):
            return "%" if found[0] == "%%" else found[0]
        values.append(parameters[found["name"]] if named else parameters[len(values)])
        return f"${len(values)}"

    return _PARAMETERS.sub(number, statement), values


_PARAMETERS = re.compile(r"'(?:[^']|'')*'|%%|%s|%\((?P<name>\w+)\)s")
# Rows that are written at once.
_AT_ONCE = 500
# By number of PostgreSQL's type what psycopg makes of it.
_OF_TYPES: dict[int, Callable[[str], Any]] = {
    **dict.fromkeys((20, 21, 23), int),
    **dict.fromkeys((700, 701), float),
    16: _is_true,
    1700: Decimal,
}


@lru_cache(maxsize=8)
def _store(database: TableDatabase, table: Table, process: int) -> _Store:
    """Of this process: connections do not live through a fork."""
    if database.engine.startswith(POSTGRESQL):
        return _PostgresStore(database, table)
    stores = {"sqlite": _SqliteStore, "duckdb": _DuckStore, "sqlalchemy": _AlchemyStore}
    return stores[database.engine](database, table)
