"""What can be counted: anything with column names and a GROUP BY.

Frames of any library that narwhals knows, CSV and Parquet files through duckdb, and databases,
which count by themselves, so that only counts leave them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from liptest.data.coding import Cells, Value, add_up_cells, extra, plain, too_many
from liptest.errors import InputError, quote
from liptest.foreign import looks_like_frame


@runtime_checkable
class TableSource(Protocol):
    """A public table of which only counts are read.

    ``words`` names it in verdicts. ``is_ordered`` says whether its rows have an order, so that
    ``rows`` can tell them.
    """

    words: str
    is_ordered: bool

    def names(self) -> list[str]:
        """Names of all columns."""

    def marginals(self, columns: Sequence[str], limit: int) -> list[dict[Value, int]]:
        """How often each value occurs, column by column; InputError above ``limit`` values."""

    def cells(self, columns: Sequence[str], limit: int) -> Cells:
        """How often each combination of values occurs; InputError above ``limit`` of them."""

    def rows(self, columns: Sequence[str]) -> list[list[Value]]:
        """The values of each column, in the order of the rows; InputError without an order."""


def is_table(table: object) -> bool:
    """Whether it is a source, a path, or a frame: anything but arrays, lists and columns."""
    if isinstance(table, (str, os.PathLike, TableSource)):
        return True
    if isinstance(table, (np.ndarray, list, tuple, range)) or table is None:
        return False
    return looks_like_frame(table)


def require_array(table: Any) -> None:
    """InputError, in words about tables, for what is not even an array of values."""
    if table is None or isinstance(table, (Mapping, bytes)) or not isinstance(table, Iterable):
        raise _no_table(table)


def as_source(table: Any) -> TableSource:
    """The source of a path or a frame.

    Raises InputError for anything else, and where a package is missing that reads it.
    """
    if isinstance(table, TableSource):
        return table

    if isinstance(table, str) and "://" in table:
        raise InputError(
            "table: that is an address, not a file; for a database give "
            "liptest.data.sources.SqlTable(url, table='clicks') or "
            "SqlTable(url, query='select ..')",
            name="table",
        )
    if isinstance(table, (str, os.PathLike)):
        return file_table(Path(table))
    if is_table(table):
        return FrameTable(table)
    raise _no_table(table)


def _no_table(table: Any) -> InputError:
    return InputError(
        f"table={quote(table)} must be a frame (pandas, polars, pyarrow, ..), the path of a CSV "
        f"or Parquet file, or liptest.data.sources.SqlTable(..)",
        name="table",
    )


def choose_columns(source: TableSource, columns: str | Sequence[str] | None) -> list[str]:
    """Names of the columns that are meant; None means all; InputError names an unknown one."""
    names = source.names()
    if columns is not None and not isinstance(columns, Iterable):
        raise InputError(
            f"columns={quote(columns)} must be the name of a column or a list of names",
            name="columns",
        )
    wanted = names if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if name not in names:
            raise InputError(
                f"columns: {source.words} has no column {quote(name)}; it has: "
                f"{', '.join(map(str, names[:20]))}",
                name="columns",
                value=name,
            )
    if not wanted or len(set(wanted)) < len(wanted):
        raise InputError(
            f"columns={quote(wanted)} must name at least one column, none twice", name="columns"
        )
    return wanted


_COUNT = "liptest count"
#: How names of Parquet files end.
PARQUET = (".parquet", ".pq")
# Nothing about the form is guessed but the types, and those from all rows. The name of a folder,
# such as day=1, is not a column.
_READ_CSV = (
    "SELECT * FROM read_csv(?, header = true, skip = 0, delim = ',', quote = '\"', "
    "escape = '\"', comment = '', sample_size = -1, hive_partitioning = false)"
)
_SEPARATORS = (";", "\t", "|")
# What duckdb takes for a pattern of file names.
_PATTERN = re.compile(r"[*?\[]")


class FrameTable:
    """A frame: pandas, polars, pyarrow, or another that narwhals accepts, lazy ones too.

    A lazy frame (polars, duckdb, ..) is never read whole: its backend counts.
    """

    def __init__(
        self,
        frame: Any,
        *,
        words: str = "",
        is_ordered: bool | None = None,
        connection: Any = None,
    ) -> None:
        self._nw = extra("narwhals", "a frame")
        # Names in the frame, where they are not those of the user.
        self._names_within: dict[str, str] = {}
        if _is_relation(frame) and any('"' in name for name in frame.columns):
            self._names_within = {name: str(place) for place, name in enumerate(frame.columns)}
            frame = _rename(frame, self._names_within)
        try:
            self._frame = self._nw.from_native(frame)
        except TypeError:
            raise InputError(
                f"table: narwhals knows no frames of type {type(frame).__name__}; give a pandas, "
                f"polars or pyarrow frame, a path, or liptest.data.sources.SqlTable(..)",
                name="table",
            ) from None
        except self._nw.exceptions.DuplicateError:
            raise InputError(
                f"columns={quote(list(frame.columns))}: a name occurs twice; rename the "
                f"columns first",
                name="columns",
            ) from None
        # A relation of duckdb does not keep its connection alive in every version.
        self._connection = connection
        eager = isinstance(self._frame, self._nw.DataFrame)
        self.is_ordered = eager if is_ordered is None else is_ordered
        self.words = words or f"a {type(frame).__module__.partition('.')[0]} frame"

    def names(self) -> list[str]:
        """Names of all columns."""
        if self._names_within:
            return list(self._names_within)
        names = list(self._frame.collect_schema().names())
        if not all(isinstance(name, str) for name in names):
            raise InputError(
                f"columns={quote(names)}: the names must be texts; rename the columns first",
                name="columns",
            )
        return names

    def marginals(self, columns: Sequence[str], limit: int) -> list[dict[Value, int]]:
        """How often each value occurs, column by column; InputError above ``limit`` values."""
        counted = [self.cells([name], limit) for name in columns]
        return [{value: count for (value,), count in cells.items()} for cells in counted]

    def cells(self, columns: Sequence[str], limit: int) -> Cells:
        """How often each combination of values occurs; InputError above ``limit`` of them."""
        within = [self._names_within.get(name, name) for name in columns]
        count = _COUNT
        while count in within:
            count += "s"
        # One more than allowed is enough to know that there are too many.
        groups = self._run_query(
            lambda frame: (
                frame.group_by(*within)
                .agg(self._nw.len().alias(count))
                .select(*within, count)
                .head(limit + 1)
            )
        )
        if len(groups) > limit:
            raise too_many(columns, limit)
        return add_up_cells(groups.iter_rows())

    def rows(self, columns: Sequence[str]) -> list[list[Value]]:
        """The values of each column, in the order of the rows; InputError without an order."""
        if not self.is_ordered:
            raise InputError(
                f"table: {self.words} has no order of its rows; collect it in the order that is "
                f"meant",
                name="table",
            )
        within = [self._names_within.get(name, name) for name in columns]
        whole = self._run_query(lambda frame: frame.select(*within))
        return [[plain(value) for value in whole[name].to_list()] for name in within]

    def _run_query(self, ask: Callable[[Any], Any]) -> Any:
        try:
            answer = ask(self._frame)
            return answer.collect() if isinstance(answer, self._nw.LazyFrame) else answer
        except Exception as error:  # whatever the library behind the frame raises
            raise InputError(
                f"table: {self.words} could not be counted: {type(error).__name__}: "
                f"{quote(str(error), 200)}; choose columns of numbers, texts or dates",
                name="table",
            ) from None


def _is_relation(frame: Any) -> bool:
    return type(frame).__name__ == "DuckDBPyRelation"


def _rename(relation: Any, names: Mapping[str, str]) -> Any:
    """A relation of duckdb with new names: before 2.0 it splits names at quotes."""
    quoted = {name: name.replace('"', '""') for name in names}
    return relation.project(", ".join(f'"{quoted[old]}" AS "{names[old]}"' for old in names))


def file_table(path: Path) -> FrameTable:
    """A CSV or Parquet file, counted by duckdb; InputError when it cannot be read."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", name="table")
    duckdb = extra("duckdb", "reading a file")
    # A file of its own where large tables may spill, none of the settings of the process.
    connection = duckdb.connect(":memory:")
    # This file alone, whatever its name.
    exact = _PATTERN.sub(lambda match: f"[{match[0]}]", str(path))
    try:
        if path.suffix.lower() in PARQUET:
            relation = connection.read_parquet(exact, hive_partitioning=False)
        else:
            # Read once: the types of a CSV file are known only at its end.
            connection.execute(f"CREATE TEMP TABLE source AS {_READ_CSV}", [exact])
            relation = connection.table("source")
    except duckdb.Error as error:
        raise InputError(
            f"{path}: duckdb cannot read it: {quote(_tell(str(error)), 200)}; give a CSV file in "
            f"UTF-8 with a header, commas and as many values in each row, or a Parquet file",
            name="table",
        ) from None
    _require_commas(path, relation.columns)
    # duckdb keeps the order of a file's rows (preserve_insertion_order, its default).
    return FrameTable(relation, words=path.name, is_ordered=True, connection=connection)


def _tell(error: str) -> str:
    """What duckdb says of the file; its hints on settings and the row itself are left out."""
    left_out = ("Original Line", "The search space")
    return " ".join(line for line in error.splitlines()[:3] if not line.startswith(left_out))


def _require_commas(path: Path, columns: Sequence[str]) -> None:
    """InputError when the only column of a file is a row of others."""
    other = [mark for mark in _SEPARATORS if len(columns) == 1 and mark in columns[0]]
    if other and path.suffix.lower() not in PARQUET:
        raise InputError(
            f"{path}: its one column is called {quote(columns[0])}; separate the columns with "
            f"commas, not with {other[0]!r}",
            name="table",
        )


Answer = TypeVar("Answer")
# One statement counts all columns where the database has grouping sets.
_GROUPING_SETS = ("postgresql",)
_SNAPSHOT = {"postgresql": "REPEATABLE READ"}


class SqlTable:
    """A table, view or query of a database, through SQLAlchemy (theory 3.11: public data).

    Marginals are counted by the database, as GROUP BY; no row leaves it. All counts of a product
    law come from one transaction that only reads. Names are quoted by SQLAlchemy.

    Parameters
    ----------
    engine
        An ``Engine``, or a URL such as ``"postgresql+psycopg://host/name"``.
    table
        Name of a table or view, as it is written in the database.
    schema
        Its schema, where it is not the default one.
    query
        A SELECT instead of a table. It runs as it is, with the rights of the connection.

    Raises
    ------
    InputError
        Neither or both of table and query, a URL that is none, a missing package. Later, when
        something is counted: no such table or column, the connection breaks.
    """

    is_ordered = False

    def __init__(
        self,
        engine: Any,
        *,
        table: str | None = None,
        schema: str | None = None,
        query: str | None = None,
    ) -> None:
        self._sa = extra("sqlalchemy", "a database")
        if (table is None) == (query is None) or (schema is not None and table is None):
            raise InputError(
                f"table={quote(table)}, query={quote(query)}: give either a table, with its schema "
                f"if you like, or a query",
                name="table",
            )
        self._engine = self._connect(engine)
        self._table, self._schema, self._query = table, schema, query
        place = self._engine.url.database or self._engine.dialect.name
        named = "a query" if table is None else ".".join(filter(None, (schema, table)))
        self.words = f"{named} of the database {str(place).rsplit('/', 1)[-1]}"

    def names(self) -> list[str]:
        """Names of all columns."""
        nothing = self._sa.select(self._sa.text("*")).select_from(self._relation()).limit(0)
        return self._run_query(lambda connection: list(connection.execute(nothing).keys()))

    def marginals(self, columns: Sequence[str], limit: int) -> list[dict[Value, int]]:
        """How often each value occurs, column by column; InputError above ``limit`` values."""
        if self._engine.dialect.name in _GROUPING_SETS:
            return self._run_query(lambda connection: self._all_at_once(connection, columns, limit))
        counted = self._run_query(
            lambda connection: [self._count(connection, [name], limit) for name in columns]
        )
        return [{value: count for (value,), count in cells.items()} for cells in counted]

    def cells(self, columns: Sequence[str], limit: int) -> Cells:
        """How often each combination of values occurs; InputError above ``limit`` of them."""
        return self._run_query(lambda connection: self._count(connection, columns, limit))

    def rows(self, columns: Sequence[str]) -> list[list[Value]]:
        """The rows of a database have no order: InputError."""
        raise InputError(
            f"table: the rows of {self.words} have no order; read it into a frame with ORDER BY "
            f"and give the frame",
            name="table",
        )

    def _count(self, connection: Any, columns: Sequence[str], limit: int) -> Cells:
        wanted = [self._column(name) for name in columns]
        # One more than allowed is enough to know that there are too many.
        statement = (
            self._sa.select(*wanted, self._sa.func.count())
            .select_from(self._relation())
            .group_by(*wanted)
            .limit(limit + 1)
        )
        rows = connection.execute(statement).all()
        if len(rows) > limit:
            raise too_many(columns, limit)
        return add_up_cells(tuple(row) for row in rows)

    def _all_at_once(
        self, connection: Any, columns: Sequence[str], limit: int
    ) -> list[dict[Value, int]]:
        sa = self._sa
        wanted = [self._column(name) for name in columns]
        # grouping(c) is 0 in the rows that count c, and there only.
        which = [sa.func.grouping(column) for column in wanted]
        statement = (
            sa.select(*wanted, *which, sa.func.count())
            .select_from(self._relation())
            .group_by(sa.func.grouping_sets(*(sa.tuple_(column) for column in wanted)))
            .limit(len(columns) * limit + 1)
        )
        marginals: list[dict[Value, int]] = [{} for _ in columns]
        for row in connection.execute(statement):
            place = tuple(row)[len(columns) : -1].index(0)
            value = plain(row[place])
            marginals[place][value] = marginals[place].get(value, 0) + int(row[-1])
        wide = [
            name for name, counts in zip(columns, marginals, strict=True) if len(counts) > limit
        ]
        if wide:
            raise too_many(wide, limit)
        return marginals

    def _column(self, name: str) -> Any:
        return self._sa.column(self._sa.sql.quoted_name(name, True))

    def _relation(self) -> Any:
        sa = self._sa
        if self._query is None:
            schema = None if self._schema is None else sa.sql.quoted_name(self._schema, True)
            return sa.table(sa.sql.quoted_name(self._table, True), schema=schema)
        # A colon is the start of a parameter in SQLAlchemy's text, not in the user's query.
        text = self._query.strip().rstrip(";").replace(":", r"\:")
        return sa.text(f"(\n{text}\n) AS liptest_query")

    def _connect(self, engine: Any) -> Any:
        if isinstance(engine, self._sa.Engine):
            return engine
        try:
            # No connection of ours stays open between two fits.
            engine_made = self._sa.create_engine(engine, poolclass=self._sa.NullPool)
        except ImportError as error:  # the driver that the URL names
            raise InputError(
                f"engine: the driver {quote(error.name)} is missing; install it, for PostgreSQL "
                f"with pip install 'liptest[data]' and a URL that starts with postgresql+psycopg:",
                name="engine",
            ) from None
        except (self._sa.exc.ArgumentError, TypeError, ValueError):
            # Its text is not repeated: a URL may hold a password.
            raise InputError(
                "engine: it is neither an Engine nor the URL of a database, for example "
                "postgresql+psycopg://host/name or sqlite:///file.db",
                name="engine",
            ) from None
        self._require_file(engine_made.url)
        return engine_made

    @staticmethod
    def _require_file(url: Any) -> None:
        """InputError where SQLite would make an empty database of a name that is not there."""
        name = url.database or ":memory:"
        if url.get_backend_name() != "sqlite" or name == ":memory:" or name.startswith("file:"):
            return
        if not Path(name).is_file():
            raise InputError(f"engine: there is no file {name}", name="engine", value=name)

    def _run_query(self, ask: Callable[[Any], Answer]) -> Answer:
        try:
            with self._reading() as connection:
                return ask(connection)
        except self._sa.exc.SQLAlchemyError as error:
            of_driver = isinstance(error, self._sa.exc.StatementError)
            cause = (of_driver and error.orig) or error
            first = next(iter(str(cause).splitlines()), "")
            raise InputError(
                f"{self.words}: the database answered {type(cause).__name__}: {quote(first, 200)}; "
                f"nothing was fitted",
                name="table",
            ) from None

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        level = _SNAPSHOT.get(self._engine.dialect.name)
        with self._engine.connect() as connection:
            if level is not None:
                connection = connection.execution_options(
                    isolation_level=level, postgresql_readonly=True
                )
            with connection.begin():
                yield connection
