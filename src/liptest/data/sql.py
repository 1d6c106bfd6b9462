"""A table or query of a database, counted by the database: only counts leave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from liptest.data.values import Cells, Value, add_up, extra, plain, too_many
from liptest.errors import InputError, shown

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
                f"table={shown(table)}, query={shown(query)}: give either a table, with its schema "
                f"if you like, or a query",
                name="table",
            )
        self._engine = self._connected(engine)
        self._table, self._schema, self._query = table, schema, query
        place = self._engine.url.database or self._engine.dialect.name
        named = "a query" if table is None else ".".join(filter(None, (schema, table)))
        self.words = f"{named} of the database {str(place).rsplit('/', 1)[-1]}"

    def names(self) -> list[str]:
        """Names of all columns."""
        nothing = self._sa.select(self._sa.text("*")).select_from(self._relation()).limit(0)
        return self._asked(lambda connection: list(connection.execute(nothing).keys()))

    def marginals(self, columns: Sequence[str], limit: int) -> list[dict[Value, int]]:
        """How often each value occurs, column by column; InputError above ``limit`` values."""
        if self._engine.dialect.name in _GROUPING_SETS:
            return self._asked(lambda connection: self._all_at_once(connection, columns, limit))
        found = self._asked(
            lambda connection: [self._counted(connection, [name], limit) for name in columns]
        )
        return [{value: count for (value,), count in cells.items()} for cells in found]

    def cells(self, columns: Sequence[str], limit: int) -> Cells:
        """How often each combination of values occurs; InputError above ``limit`` of them."""
        return self._asked(lambda connection: self._counted(connection, columns, limit))

    def rows(self, columns: Sequence[str]) -> list[list[Value]]:
        """The rows of a database have no order: InputError."""
        raise InputError(
            f"table: the rows of {self.words} have no order; read it into a frame with ORDER BY "
            f"and give the frame",
            name="table",
        )

    def _counted(self, connection: Any, columns: Sequence[str], limit: int) -> Cells:
        wanted = [self._column(name) for name in columns]
        # One more than allowed is enough to know that there are too many.
        statement = (
            self._sa.select(*wanted, self._sa.func.count())
            .select_from(self._relation())
            .group_by(*wanted)
            .limit(limit + 1)
        )
        found = connection.execute(statement).all()
        if len(found) > limit:
            raise too_many(columns, limit)
        return add_up(tuple(row) for row in found)

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
        found: list[dict[Value, int]] = [{} for _ in columns]
        for row in connection.execute(statement):
            place = tuple(row)[len(columns) : -1].index(0)
            value = plain(row[place])
            found[place][value] = found[place].get(value, 0) + int(row[-1])
        wide = [name for name, counts in zip(columns, found, strict=True) if len(counts) > limit]
        if wide:
            raise too_many(wide, limit)
        return found

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

    def _connected(self, engine: Any) -> Any:
        if isinstance(engine, self._sa.Engine):
            return engine
        try:
            # No connection of ours stays open between two fits.
            made = self._sa.create_engine(engine, poolclass=self._sa.NullPool)
        except ImportError as error:  # the driver that the URL names
            raise InputError(
                f"engine: the driver {shown(error.name)} is missing; install it, for PostgreSQL "
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
        self._require_file(made.url)
        return made

    @staticmethod
    def _require_file(url: Any) -> None:
        """InputError where SQLite would make an empty database of a name that is not there."""
        name = url.database or ":memory:"
        if url.get_backend_name() != "sqlite" or name == ":memory:" or name.startswith("file:"):
            return
        if not Path(name).is_file():
            raise InputError(f"engine: there is no file {name}", name="engine", value=name)

    def _asked(self, ask: Callable[[Any], Answer]) -> Answer:
        try:
            with self._reading() as connection:
                return ask(connection)
        except self._sa.exc.SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            first = next(iter(str(cause).splitlines()), "")
            raise InputError(
                f"{self.words}: the database answered {type(cause).__name__}: {shown(first, 200)}; "
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
