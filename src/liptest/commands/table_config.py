"""A distribution that a liptest.toml or the command line fits on a Parquet file or a database."""

from __future__ import annotations

import os
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from liptest.data.distributions import ProductDistribution
from liptest.data.domains import Domain
from liptest.data.sources import SqlTable, as_source
from liptest.errors import ConfigError

_PARQUET = (".parquet", ".pq")


_ONLY_SQL = ("sql_table", "sql_schema", "query")


class TableKeys(BaseModel):
    """The keys of a distribution that name a public table, and how it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: Path | None = None
    column: str | None = None
    group: str | None = None
    rows: str | None = None
    records: Path | None = None
    record_rows: str | None = None
    shrinkage: float = 10.0
    smoothing: float = 0.0
    columns: list[str] | None = None
    categories: dict[str, list[int | float | str | datetime | date]] = Field(default_factory=dict)
    histogram_of: float | None = None
    sql: str | None = None
    sql_table: str | None = None
    sql_schema: str | None = None
    query: str | None = None

    @property
    def is_counted(self) -> bool:
        """Whether a table is counted by duckdb or a database, not read as a CSV column."""
        parquet = self.table is not None and self.table.suffix.lower() in _PARQUET
        return parquet or any(
            value is not None for value in (self.sql, self.columns, self.histogram_of)
        )


def fitted_on_table(model: TableKeys, domain: Domain | None, folder: Path) -> ProductDistribution:
    """Fit as the keys say; ConfigError where they contradict each other."""
    if model.rows is not None:
        raise _wrong(
            "rows", "only a column of a CSV file is cut into rows; use a query, or columns"
        )
    if (model.column is None) == (model.columns is None):
        raise _wrong(
            "columns",
            "give either column = the value of a record (each row is a record), or columns = [..] "
            "(each row is a dataset)",
        )
    if model.columns is not None and model.group is not None:
        raise _wrong("group", "rows that are datasets have no groups; give column, not columns")
    options: dict[str, Any] = {
        "domain": domain,
        "categories": model.categories,
        "shrinkage": model.shrinkage,
        "smoothing": model.smoothing,
    }
    source = _source(model, folder)
    if model.columns is not None:
        if model.histogram_of is not None:
            options["histogram_of"] = model.histogram_of
        return ProductDistribution.fit(source, columns=model.columns, **options)
    return ProductDistribution.fit(
        source, columns=model.column, **options, **_rows(model, domain, folder)
    )


def _rows(model: TableKeys, domain: Domain | None, folder: Path) -> dict[str, Any]:
    if model.histogram_of is not None:
        return {"histogram_of": model.histogram_of}
    if model.group is None:
        if domain is None:
            raise ConfigError(
                "domain.dimension is missing: the table does not say how many records a dataset "
                "has; give dimension = 20, or group",
                key="domain.dimension",
            )
        return {"records": domain.dimension}
    if model.records is None:
        return {"groups": model.group}
    labels = as_source(folder / model.records).rows([model.group])[0]
    return {"groups": model.group, "record_groups": labels[_slice(model.record_rows)]}


def _slice(rows: str | None) -> slice:
    first, colon, stop = (rows or ":").partition(":")
    try:
        if not colon:
            raise ValueError
        return slice(int(first) if first else None, int(stop) if stop else None)
    except ValueError:
        raise _wrong("record_rows", f"{rows!r} must be first:stop, for example 0:5000") from None


def _source(model: TableKeys, folder: Path) -> Any:
    if model.sql is None:
        strange = [key for key in _ONLY_SQL if getattr(model, key) is not None]
        if strange:
            raise _wrong(strange[0], "it belongs to a database; give sql = its URL, too")
        assert model.table is not None
        return as_source(folder / model.table)
    return SqlTable(
        _address(model.sql), table=model.sql_table, schema=model.sql_schema, query=model.query
    )


def _address(sql: str) -> str:
    """A URL, or the content of the environment variable that "$NAME" names."""
    if not sql.startswith("$"):
        return sql
    name = sql[1:]
    if name not in os.environ:
        raise _wrong("sql", f"the environment has no variable {name}; set it to the URL")
    return os.environ[name]


def _wrong(key: str, what: str) -> ConfigError:
    return ConfigError(f"distribution.{key}: {what}", key=f"distribution.{key}")
