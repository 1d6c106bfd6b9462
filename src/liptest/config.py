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
import tomllib
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liptest.commands.loading import read_column, whole_numbers
from liptest.commands.table_config import TableKeys, fitted_on_table
from liptest.data.distributions import ProductDistribution
from liptest.data.domains import AnswerGrid, Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import ConfigError, InputError

Model = TypeVar("Model", bound=BaseModel)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


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
