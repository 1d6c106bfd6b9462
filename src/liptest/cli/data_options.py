"""Domain and distribution of the data, as the command line, liptest.toml and Python say them.

One class for all three: ``DataOptions().domain`` are the keys of the table [domain] and
``.distribution`` those of [distribution]; the command line has an option for each but the few
that only a file can hold.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from cyclopts import Group, Parameter, Token, convert
from pydantic import BeforeValidator

from liptest.cli import typed
from liptest.cli.frame_columns import (
    check_inside,
    column_kind,
    frame_of_cells,
    is_meant_to_say,
    read_cells,
    read_names,
    says_what_it_holds,
)
from liptest.cli.tables import parse_rows, read_column, read_whole_numbers
from liptest.data.answers import Answers
from liptest.data.distributions import Distribution, DomainAlone
from liptest.data.domains import AnswerGrid, Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.data.sources import PARQUET, SqlTable, as_source
from liptest.data.tables import MOST_ROWS, Key, Table
from liptest.errors import MOST_RECORDS, ConfigError, InputError, check_count, meant_number, quote

DATA = Group("Domain and distribution of the data")
_ONLY_SQL = ("sql_table", "sql_schema", "query")


def read_numbers(text: str) -> list[float]:
    """Numbers with commas between them, whole ones as ints; raises InputError."""
    try:
        return [_read_number(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{quote(text)} must be numbers with commas between them, none infinite"
        ) from None


def _read_number(text: str) -> float:
    try:
        return int(text)  # also where a float would lose digits
    except ValueError:
        value = float(text)
        return int(value) if value.is_integer() else _finite(value)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError
    return value


def _whole_numbers(_: Any, tokens: Sequence[Token]) -> list[float]:
    text = tokens[0].value
    values = read_numbers(text)
    if not all(isinstance(value, int) for value in values):
        raise InputError(f"{text!r} must be whole numbers with commas between them")
    return values


def read_whole_number(text: str) -> int:
    """A whole number, never rounded; raises InputError."""
    try:
        return int(text)
    except ValueError:
        meant = meant_number(text, whole=True)
        raise InputError(f"{quote(text)} must be a whole number{meant}") from None


def _whole_number(_: Any, tokens: Sequence[Token]) -> int:
    return read_whole_number(tokens[0].value)


def _record_count(_: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if text.lower().endswith((".csv", *PARQUET)):
        raise InputError(
            f"{quote(text)} must be a whole number, how many records there are; the table whose "
            f"groups are modelled is named by --record-table"
        )
    return read_whole_number(text)


def _one_or_more(_: Any, tokens: Sequence[Token]) -> float | list[float]:
    values = read_numbers(tokens[0].value)
    return values if len(values) > 1 else values[0]


def _names(_: Any, tokens: Sequence[Token]) -> list[str]:
    return [":".join(map(str.strip, one.split(":"))) for one in tokens[0].value.split(",")]


#: Options that are one text with commas on the command line, and a list in a file.
WHOLE_NUMBERS: dict[str, Any] = {
    "converter": _whole_numbers,
    "n_tokens": 1,
    "metavar": "STR",
    "negative": "",
}
WHOLE: dict[str, Any] = {"converter": _whole_number, "n_tokens": 1}
ONE_OR_MORE: dict[str, Any] = {**WHOLE_NUMBERS, "converter": _one_or_more}
NAMES: dict[str, Any] = {**WHOLE_NUMBERS, "converter": _names}


def _fields(_: Any, tokens: Sequence[Token]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for part in tokens[0].value.split(","):
        name, sign, said = part.partition("=")
        if not sign or not name or name in columns:
            raise InputError(
                f"{quote(part)} must be a column and what it holds, each once, as age=0..120"
            )
        columns[name] = said
    return columns


FIELDS: dict[str, Any] = {**WHOLE_NUMBERS, "converter": _fields}
_OF_ROWS = ("replace", "add_remove")


def _option(help: str, **more: Any) -> Parameter:
    return Parameter(group=DATA, help=help, **more)


#: A key that only a file or Python can give.
_NO_OPTION = Parameter(parse=False)


def find_named_kind(said: Any) -> Any:
    """A kind of domain by its name; what files said for it before is understood."""
    if not isinstance(said, str):
        return said
    return FORMER_KINDS.get(said.lower(), said.lower())


def _kind(type_: Any, tokens: Sequence[Token]) -> Any:
    return convert(type_, [token.evolve(value=find_named_kind(token.value)) for token in tokens])


#: What kinds were called before, in files of settings and on the command line.
FORMER_KINDS = {"cube": "hypercube", "grid": "hypergrid", "records": "recordgrid"}
KIND: dict[str, Any] = {"converter": _kind}
#: The names of the classes lt.Hypercube, lt.Hypergrid, .., in small letters.
Kind = Literal["hypercube", "hypergrid", "recordgrid", "answergrid", "answers", "table"]
_ANSWERS = ("answergrid", "answers")


def _name_of_records() -> str:
    """What the number of records was called: by its option, or in a file."""
    options = {word.partition("=")[0] for word in typed}
    said = [name for name in ("records", "dimension") if f"--{name}" in options]
    return " or ".join(said or ("records", "dimension"))


@dataclass(frozen=True)
class DomainOptions:
    """Where the datasets live."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    kind: Annotated[
        Kind | None,
        BeforeValidator(find_named_kind),
        _option(
            "What neighbours differ in: one bit, one count by 1, one record, query answers "
            "(whole or real), or one row.",
            name="--domain",
            show_default=lambda _: "hypercube",
            **KIND,
        ),
    ] = None
    relation: Annotated[
        Literal["all", "one", "replace", "add_remove"] | None,
        _option("Answers: do all move, or one? Table: what happens to a row?"),
    ] = None
    dimension: Annotated[
        int | None,
        _option(
            "Number of records, rows or answers.",
            name=("--records", "--dimension"),
            n_tokens=1,
            converter=_record_count,
        ),
    ] = None
    values: Annotated[
        int | None,
        _option(
            "Values of a record: 8 means 0 to 7; default 2, yes or no.",
            **WHOLE,
        ),
    ] = None
    fields: Annotated[
        dict[str, str | list[str]] | None,
        _option("As --columns: age=0..120,pay=real:0..9e4,user=key.", **FIELDS),
    ] = None
    at_most: Annotated[
        int | None,
        _option("Rows of one user at most, where a column is a key.", **WHOLE),
    ] = None
    frame: Annotated[
        Literal["pandas", "polars"] | None,
        _option("Frames that the function gets; default: as annotated, else pandas."),
    ] = None
    sizes: Annotated[
        list[int] | None,
        _option("Values of each record, where they differ: 3,3,2.", **WHOLE_NUMBERS),
    ] = None

    def build(self) -> Domain | None:
        """The domain; None when only the distribution can tell its dimension."""
        kind: Kind = find_named_kind(self.kind) or (
            "hypercube" if self.values in (None, 2) else "recordgrid"
        )
        if kind == "table":
            return self._table()
        if self.values is not None and (kind, self.values) != ("hypercube", 2):
            return self._of_equal_sizes(kind, self.values)
        if self.fields is not None:
            raise ConfigError("domain.fields are those of kind='table'", key="domain.fields")
        for name in ("frame", "at_most"):
            if getattr(self, name) is not None:
                raise ConfigError(f"domain.{name} is said of kind='table'", key=f"domain.{name}")
        if self.relation in _OF_ROWS or (self.relation is None) == (kind in _ANSWERS):
            raise ConfigError(
                f"domain.relation={self.relation!r}: say 'all' or 'one' of answers (do all of "
                f"them move, or one?), nothing for other kinds",
                key="domain",
            )
        if kind == "hypercube":
            if self.sizes is not None:
                raise ConfigError(
                    "domain.sizes: a hypercube has a number of records, no sizes", key="domain"
                )
            if self.dimension is None:
                return None
            return Hypercube(check_count(_name_of_records(), self.dimension, most=MOST_RECORDS))
        if kind == "answers" and self.sizes is None and self.dimension is not None:
            return Answers(self.dimension, relation=str(self.relation))
        if self.sizes is None:
            raise ConfigError(
                f"domain.sizes is missing: kind={kind!r} needs one size per coordinate, for "
                f"example sizes = [3, 3, 2]",
                key="domain.sizes",
            )
        if kind in _ANSWERS:
            return AnswerGrid(self.sizes, relation=self.relation)
        return (Hypergrid if kind == "hypergrid" else RecordGrid)(self.sizes)

    def _of_equal_sizes(self, kind: Kind, values: int) -> Domain | None:
        """Of records that are all whole numbers below ``values``."""
        check_count("values", values, least=2)
        if kind == "hypercube":
            raise ConfigError(
                f"domain.values={values}: a bit has 2 values; leave kind = 'hypercube' (--domain "
                f"hypercube) out for records that are replaced, or say 'hypergrid'",
                key="domain.values",
            )
        if self.dimension is None or self.sizes is not None:
            raise ConfigError(
                f"domain.values={values} needs the number of records, and no sizes; give --records "
                f"10000, in a file records = 10000",
                key="domain.values",
            )
        count = check_count("records", self.dimension, most=MOST_RECORDS)
        return replace(self, kind=kind, values=None, dimension=None, sizes=[values] * count).build()

    def _table(self) -> Domain:
        """The domain of the rows of a data frame."""
        left_out = (self.sizes, self.values) == (None, None)
        if self.fields is None or self.dimension is None or not left_out:
            raise ConfigError(
                "domain: a table needs columns and the number of its rows, and no sizes or "
                "values; give --columns 'age:0..120,region:north|south' --records 10000 (in a "
                "file: fields and records)",
                key="domain",
            )
        relation = self.relation or "replace"
        if relation not in _OF_ROWS:
            raise ConfigError(
                f"domain.relation={self.relation!r}: of a table say 'replace' or 'add_remove'",
                key="domain.relation",
            )
        kinds = {name: column_kind(name, said) for name, said in self.fields.items()}
        keys = [name for name, kind in kinds.items() if isinstance(kind, Key)]
        unit = keys[0] if keys else "row"
        return Table(kinds, rows=self.dimension, relation=relation, unit=unit, at_most=self.at_most)


# What DistributionOptions say of a table that is read.
_OF_A_TABLE = (
    *("column", "columns", "group", "rows", "records", "record_rows", "sql_table", "sql_schema"),
    *("query", "histogram_of"),
)


@dataclass(frozen=True)
class DistributionOptions:
    """The law of the data: given, uniform, or fitted on a public table."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    probabilities: Annotated[
        float | list[float] | None,
        _option("Chance of a 1: one number, or one per bit.", **ONE_OR_MORE),
    ] = None
    marginals: Annotated[list[list[float]] | None, _NO_OPTION] = None
    uniform: Annotated[bool, _option("Every dataset is equally likely.", negative="")] = False
    table: Annotated[Path | None, _option("Public CSV or Parquet file.")] = None
    column: Annotated[str | None, _option("Its column that holds 0, 1, ..")] = None
    group: Annotated[
        str | None, _option("Column of groups, each with a rate of its own.", name="--group")
    ] = None
    rows: Annotated[str | None, _option("Rows to fit on, first:stop.")] = None
    records: Annotated[
        Path | None,
        _option(
            "Table with the groups of the modelled records.",
            name="--record-table",
        ),
    ] = None
    record_rows: Annotated[str | None, _option("Rows of it, first:stop.")] = None
    shrinkage: Annotated[float, _NO_OPTION] = 10.0
    smoothing: Annotated[float, _NO_OPTION] = 0.0
    columns: Annotated[
        list[str] | None,
        _option(
            "Columns of a data frame: age:0..120,region:north|south. The rest is read from "
            "--table; of names alone, each row is a dataset.",
            **NAMES,
        ),
    ] = None
    categories: Annotated[dict[str, list[int | float | str | datetime | date]], _NO_OPTION] = field(
        default_factory=dict
    )
    sql: Annotated[str | None, _option("URL of a public database, or '$VARIABLE'.")] = None
    sql_table: Annotated[str | None, _option("Its table to fit on.")] = None
    sql_schema: Annotated[str | None, _NO_OPTION] = None
    query: Annotated[str | None, _option("Or a SELECT of rows to fit on.")] = None
    histogram_of: Annotated[float | None, _option("Model histograms of about so many records.")] = (
        None
    )
    drawn_rows: Annotated[
        str | None,
        _option("Draw frames of so many rows, or users, of the table: 1000, 900:1101."),
    ] = None

    @property
    def is_counted(self) -> bool:
        """Whether a table is counted by duckdb or a database, not read as a CSV column."""
        parquet = self.table is not None and self.table.suffix.lower() in PARQUET
        return parquet or any(
            value is not None for value in (self.sql, self.columns, self.histogram_of)
        )

    @property
    def given(self) -> list[str]:
        """What is said of the distribution; one of it is enough."""
        named = ("probabilities", "marginals", "table", "sql")
        given = [name for name in named if getattr(self, name) is not None]
        return given + (["uniform"] if self.uniform else [])

    def build(self, domain: Domain | None, folder: Path) -> ProductDistribution:
        """The distribution; raises ConfigError when nothing or too much is said."""
        self.check_has_table()
        given = self.given
        if len(given) != 1:
            raise ConfigError(
                f"distribution: give exactly one of --probabilities, --uniform, --table and --sql "
                f"(in a file also marginals); found {', '.join(given) or 'none'}",
                key="distribution",
            )
        if self.is_counted:
            return _fit_on_table(self, domain, folder)
        if self.table is not None:
            return self._fit(domain, folder)
        if self.probabilities is not None:
            return self._bits(domain)
        space = _find_needed(domain)
        if self.uniform:
            return ProductDistribution.uniform(space)
        return ProductDistribution(space, self.marginals or [])

    def build_if_given(self, domain: Domain | None, folder: Path) -> Distribution:
        """The distribution, or the domain alone: enough for a proof and for a refutation."""
        self.check_has_table()
        if not self.given:
            if domain is None:
                raise ConfigError(
                    "domain.records is missing: give --records 5000 (yes or no each), or --records "
                    "10000 --values 8 (0 to 7 each); in a file records = 5000",
                    key="domain.records",
                )
            return DomainAlone(domain)
        return self.build(domain, folder)

    def check_has_table(self) -> None:
        """ConfigError where something is said of a table, and none is given."""
        if self.table is not None or self.sql is not None:
            return
        said = next((name for name in _OF_A_TABLE if getattr(self, name) is not None), None)
        if said == "columns":
            raise _wrong(
                said,
                "names alone are columns of a public table, and none is given; give --table "
                "people.csv, or say what columns of a data frame hold: --columns age:0..120",
            )
        if said is not None:
            raise _wrong(
                said,
                f"this describes a public table, and none is given; give --table people.csv (in a "
                f"file: table), or leave {said} out",
            )

    def _bits(self, domain: Domain | None) -> ProductDistribution:
        if isinstance(self.probabilities, list):
            law = ProductDistribution.bernoulli(self.probabilities)
        else:
            law = ProductDistribution.bernoulli(
                np.full(_find_needed(domain).dimension, self.probabilities)
            )
        if domain is not None and law.domain != domain:
            raise ConfigError(
                f"distribution.probabilities: {law.domain.dimension} bits do not fit {domain}",
                key="distribution.probabilities",
            )
        return law

    def _fit(self, domain: Domain | None, folder: Path) -> ProductDistribution:
        assert self.table is not None
        path = folder / self.table
        values = read_whole_numbers(read_column(path, self.column, self.rows), path)
        rows = f"public rows {self.rows}" if self.rows else "all rows"
        source = f"the distribution fitted on {rows} of {self.table.name}"
        if self.group is None:
            space = _find_needed(domain)
            return ProductDistribution.fit(
                values,
                domain=space,
                groups=np.zeros(len(values)),
                record_groups=np.zeros(space.dimension),
                shrinkage=self.shrinkage,
                smoothing=self.smoothing,
                source=source,
            )
        groups = read_column(path, self.group, self.rows).astype(str)
        records = folder / (self.records or self.table)
        targets = read_column(records, self.group, self.record_rows).astype(str)
        space = Hypercube(len(targets)) if domain is None else domain
        return ProductDistribution.fit(
            values,
            domain=space,
            groups=groups,
            record_groups=targets,
            shrinkage=self.shrinkage,
            smoothing=self.smoothing,
            source=f"{source}, one rate per {self.group}",
        )


@Parameter(name="*")
@dataclass(frozen=True)
class DataOptions:
    """Domain and distribution of the data."""

    domain: Annotated[DomainOptions, Parameter(name="*")] = DomainOptions()
    distribution: Annotated[DistributionOptions, Parameter(name="*")] = DistributionOptions()

    def build(self, folder: Path = Path(), *, alone: bool = False) -> Distribution:
        """The distribution; files are looked for from ``folder``. Raises InputError.

        ``alone``: the domain is enough, as it is for a proof and for a refutation.
        """
        domain, law = as_frame(self.domain, self.distribution, folder)
        if law.drawn_rows is not None:
            return _draw_tables(self.distribution, domain.build(), folder)
        build = law.build_if_given if alone or law is not self.distribution else law.build
        return build(domain.build(), folder)


#: Where nothing is said of the data.
NOTHING = DataOptions()


# Columns of a data frame, said as --columns age:0..120,region beside a table that has them.


def as_frame(
    domain: DomainOptions, law: DistributionOptions, folder: Path
) -> tuple[DomainOptions, DistributionOptions]:
    """The same, with the columns of a data frame and their file moved to the domain.

    Columns are those of a frame where one of them says what it holds, or the kind is "table".
    """
    columns = law.columns
    for column in columns or ():
        if is_meant_to_say(column.partition(":")[2]):
            column_kind(*column.split(":", 1))
    if columns is None or domain.fields is not None or domain.sizes is not None:
        return domain, law
    if domain.kind != "table" and not any(map(says_what_it_holds, columns)):
        return domain, law
    if domain.kind not in (None, "table"):
        raise _wrong("columns", f"columns with ranges are a table's, not of kind={domain.kind!r}")
    kinds = [column.partition(":") for column in columns]
    names = [name for name, _, _ in kinds]
    if len(set(names)) < len(names) or "" in names:
        raise _wrong("columns", f"{quote(columns)}: each column has one name, and is said once")
    path = None if law.table is None else folder / law.table
    fields = {name: said or read_names(path, name) for name, _, said in kinds}
    rows = domain.dimension
    if rows is None:
        if path is None:
            raise ConfigError(
                "domain.records is missing: say how many rows a table has, --records 10000, or "
                "name a public table of that length, --table people.csv",
                key="domain.records",
            )
        rows = len(read_cells(path, names[0]))
    for name, said in fields.items():
        if path is not None and said is not None:
            check_inside(path, name, said)
    moved = replace(domain, kind="table", fields=fields, dimension=rows)
    return moved, replace(law, columns=None, table=None)


def _draw_tables(
    law: DistributionOptions, domain: Domain | None, folder: Path
) -> SampledDistribution:
    """Tables of rows of a public one, drawn with replacement."""
    assert law.drawn_rows is not None
    if not isinstance(domain, Table) or (law.table is None and law.sql is None):
        raise _wrong(
            "drawn_rows",
            "rows are drawn from a public table with the columns of a data frame: give --table "
            "people.csv --columns 'age:0..120,region:north|south'",
        )
    if law.sql is None:
        assert law.table is not None
        cells = {name: read_cells(folder / law.table, name) for name in domain.columns}
    else:
        # The rows of a database have no order; the law of drawn ones does not depend on it.
        counted = _source(law, folder).cells(list(domain.columns), MOST_ROWS).items()
        rows = [row for row, count in sorted(counted, key=repr) for _ in range(count)]
        cells = {name: [row[k] for row in rows] for k, name in enumerate(domain.columns)}
    public = frame_of_cells(cells, domain, law.table or Path(law.sql_table or "the query"))
    first, colon, stop = law.drawn_rows.partition(":")
    if not (first.isdecimal() and (stop.isdecimal() if colon else True)):
        raise _wrong("drawn_rows", f"{quote(law.drawn_rows)} must be 1000 or 900:1101")
    counts = range(int(first), int(stop) if colon else int(first) + 1)
    return SampledDistribution.of_rows(domain, public, rows=counts)


# Tables that are counted: Parquet files and databases.


def _fit_on_table(
    model: DistributionOptions, domain: Domain | None, folder: Path
) -> ProductDistribution:
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
        _check_rows_are_datasets(model, domain)
        if model.sql is None and find_spec("duckdb") is None:
            raise _wrong(
                "columns",
                f"names alone say that each row of the table is a dataset, which needs duckdb: pip "
                f"install 'liptest[data]'. Of a data frame say what they hold, "
                f"{model.columns[0]}:0..120, or add --domain table",
            )
        if model.histogram_of is not None:
            options["histogram_of"] = model.histogram_of
        return ProductDistribution.fit(source, columns=model.columns, **options)
    return ProductDistribution.fit(
        source, columns=model.column, **options, **_rows(model, domain, folder)
    )


def _check_rows_are_datasets(model: DistributionOptions, domain: Domain | None) -> None:
    """One name alone is not read as datasets of one record: a column of records is meant."""
    (first, *more) = model.columns or [""]
    if not more and model.sql is None and domain is None and model.histogram_of is None:
        raise _wrong(
            "columns",
            f"{first}: with one name alone each row would be a dataset of one record. For a data "
            f"frame say what the column holds, {first}:0..120 or {first}:north|south; for a "
            f"column of records write --column {first} --records 1000",
        )


def _rows(model: DistributionOptions, domain: Domain | None, folder: Path) -> dict[str, Any]:
    if model.histogram_of is not None:
        return {"histogram_of": model.histogram_of}
    if model.group is None:
        if domain is None:
            raise ConfigError(
                "domain.records is missing: the table does not say how many records a dataset "
                "has; give records = 20 (--records 20), or group",
                key="domain.records",
            )
        return {"records": domain.dimension}
    if model.records is None:
        return {"groups": model.group}
    labels = as_source(folder / model.records).rows([model.group])[0]
    return {"groups": model.group, "record_groups": labels[_slice(model.record_rows)]}


def _slice(rows: str | None) -> slice:
    try:
        return parse_rows(rows)
    except ValueError:
        raise _wrong("record_rows", f"{rows!r} must be first:stop, for example 0:5000") from None


def _source(model: DistributionOptions, folder: Path) -> Any:
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


def _find_needed(domain: Domain | None) -> Domain:
    if domain is None:
        raise ConfigError(
            "domain.records is missing: the distribution does not say how many records there "
            "are; give records = 20 (--records 20), or sizes",
            key="domain.records",
        )
    return domain
