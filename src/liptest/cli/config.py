"""liptest.toml: what to test, on which domain and distribution; several checks per file.

::

    [domain]                       # default of every check; a check may have its own
    kind = "cube"                  # cube | grid | records
    dimension = 20                 # or sizes = [3, 3, 2]

    [distribution]
    probabilities = 0.1            # one number or one per coordinate
    # or marginals = [[0.2, 0.8], ...], or uniform = true, or a table:
    # table = "public.csv"
    # column = "click"
    # group = "item"               # one rate per group, shrunk towards the overall rate
    # records = "private.csv"      # whose groups are modelled (that column only is read)
    # or each row a dataset (CSV, Parquet or SQL): columns = ["smoker", "city"]
    # or a database: sql = "$CLICKS_URL" (the URL is in that environment variable)
    # sql_table = "clicks"         # or query = "select click, item from clicks"
    # more of each: histogram_of = 500, categories.city = ["Rome", "Oslo"], smoothing = 1

    [[check]]
    mechanism = "vendor.py:count"
    epsilon = 1.0                  # or "log(3)"
"""

from __future__ import annotations

import difflib
import os
import tomllib
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liptest.cli.loading import read_column, whole_numbers
from liptest.data.distributions import ProductDistribution
from liptest.data.domains import AnswerGrid, Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.sources import SqlTable, as_source
from liptest.errors import ConfigError, InputError

Model = TypeVar("Model", bound=BaseModel)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


# A distribution that is fitted on a Parquet file or a database.


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


class DomainModel(_Model):
    """Where the datasets live."""

    kind: Literal["cube", "grid", "records", "answers"] = "cube"
    dimension: int | None = None
    sizes: list[int] | None = None
    relation: Literal["all", "one"] | None = None

    def build(self) -> Domain | None:
        """The domain; None when only the distribution can tell its dimension."""
        if (self.relation is None) == (self.kind == "answers"):
            raise ConfigError(
                f"domain.relation={self.relation!r}: say 'all' or 'one' for kind='answers' (do all "
                f"answers move, or one?), nothing for other kinds",
                key="domain",
            )
        if self.kind == "cube":
            if self.sizes is not None:
                raise ConfigError("domain.sizes: a cube has a dimension, no sizes", key="domain")
            return None if self.dimension is None else Hypercube(self.dimension)
        if self.sizes is None:
            raise ConfigError(
                f"domain.sizes is missing: kind={self.kind!r} needs one size per coordinate, for "
                f"example sizes = [3, 3, 2]",
                key="domain.sizes",
            )
        if self.kind == "answers":
            return AnswerGrid(self.sizes, relation=self.relation)
        return (Hypergrid if self.kind == "grid" else RecordGrid)(self.sizes)


class DistributionModel(TableKeys):
    """The law of the data: given, uniform, or fitted on a public table."""

    probabilities: float | list[float] | None = None
    marginals: list[list[float]] | None = None
    uniform: bool = False

    def build(self, domain: Domain | None, folder: Path) -> ProductDistribution:
        """The distribution; raises ConfigError when nothing or too much is said."""
        given = [
            name
            for name in ("probabilities", "marginals", "table", "sql")
            if getattr(self, name) is not None
        ] + (["uniform"] if self.uniform else [])
        if len(given) != 1:
            raise ConfigError(
                f"distribution: give exactly one of probabilities, marginals, uniform, table, sql; "
                f"found {', '.join(given) or 'none'}",
                key="distribution",
            )
        if self.is_counted:
            return fitted_on_table(self, domain, folder)
        if self.table is not None:
            return self._fitted(domain, folder)
        if self.probabilities is not None:
            return self._bits(domain)
        known = _needed(domain)
        if self.uniform:
            return ProductDistribution.uniform(known)
        return ProductDistribution(known, self.marginals or [])

    def _bits(self, domain: Domain | None) -> ProductDistribution:
        if isinstance(self.probabilities, list):
            law = ProductDistribution.bernoulli(self.probabilities)
        else:
            law = ProductDistribution.bernoulli(
                np.full(_needed(domain).dimension, self.probabilities)
            )
        if domain is not None and law.domain != domain:
            raise ConfigError(
                f"distribution.probabilities: {law.domain.dimension} bits do not fit {domain}",
                key="distribution.probabilities",
            )
        return law

    def _fitted(self, domain: Domain | None, folder: Path) -> ProductDistribution:
        assert self.table is not None
        path = folder / self.table
        values = whole_numbers(read_column(path, self.column, self.rows), path)
        rows = f"public rows {self.rows}" if self.rows else "all rows"
        source = f"the distribution fitted on {rows} of {self.table.name}"
        if self.group is None:
            known = _needed(domain)
            return ProductDistribution.fit(
                values,
                domain=known,
                groups=np.zeros(len(values)),
                record_groups=np.zeros(known.dimension),
                shrinkage=self.shrinkage,
                smoothing=self.smoothing,
                source=source,
            )
        groups = read_column(path, self.group, self.rows).astype(str)
        records = folder / (self.records or self.table)
        targets = read_column(records, self.group, self.record_rows).astype(str)
        known = Hypercube(len(targets)) if domain is None else domain
        return ProductDistribution.fit(
            values,
            domain=known,
            groups=groups,
            record_groups=targets,
            shrinkage=self.shrinkage,
            smoothing=self.smoothing,
            source=f"{source}, one rate per {self.group}",
        )


class CheckModel(_Model):
    """One check: a mechanism and its claim."""

    mechanism: str
    epsilon: float | str
    delta: float = 0.0
    exception_mass: float = 1e-3
    failure_probability: float = 1e-6
    method: str = "auto"
    tolerance: float = 1e-9
    budget: int | None = None
    search_laws: int | None = None
    seed: int | None = None
    releases: int = 1
    vendor: str | None = None
    domain: DomainModel | None = None
    distribution: DistributionModel | None = None


class FileModel(_Model):
    """A whole liptest.toml."""

    domain: DomainModel | None = None
    distribution: DistributionModel | None = None
    ledger: Path | None = None
    check: list[CheckModel] = Field(min_length=1)


def read_config(path: Path) -> FileModel:
    """Read and validate a file; ConfigError names the key and the fix."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file", name="config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: it is no TOML: {error}") from None
    return validated(FileModel, data, str(path))


def validated(model: type[Model], data: dict[str, Any], where: str) -> Model:
    """``model`` from plain data; the first error as a ConfigError."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _config_error(model, error.errors()[0], where) from None


def _config_error(model: type[BaseModel], first: Any, where: str) -> ConfigError:
    key = ".".join(str(part) for part in first["loc"] if not _is_type_name(part))
    if first["type"] == "extra_forbidden":
        known = sorted(_known_keys())
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        fix = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(known)}"
        return ConfigError(f"{where}: {key}: unknown key{fix}", key=key)
    if first["type"] == "missing":
        return ConfigError(f"{where}: {key}: field required; give it a value", key=key)
    given = f", not {first.get('input')!r}"
    said = first["msg"][0].lower() + first["msg"][1:]
    return ConfigError(f"{where}: {key}: {said}{given}", key=key)


def _is_type_name(part: Any) -> bool:
    # Unions add the name of the alternative that was tried.
    return isinstance(part, str) and (part in ("float", "str", "int") or "[" in part)


def _known_keys() -> set[str]:
    models = (DomainModel, DistributionModel, CheckModel, FileModel)
    return {key for model in models for key in model.model_fields}


def _needed(domain: Domain | None) -> Domain:
    if domain is None:
        raise ConfigError(
            "domain.dimension is missing: the distribution does not say how many records there "
            "are; give dimension = 20, or sizes for grid and records",
            key="domain.dimension",
        )
    return domain
