"""liptest.toml: what to test, on which domain and distribution; several checks per file.

The same keys may stand in the table [tool.liptest] of a pyproject.toml.

::

    [domain]                       # default of every check; a check may have its own
    kind = "hypercube"             # or hypergrid, recordgrid, answergrid, answers, table: the
                                   # classes of lt in small letters; may be left out
    records = 20                   # and values = 8 for whole numbers 0..7; or sizes = [3, 3, 2]

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
    # or rho = 0.5, or mu = 1.0, or renyi = [[2, 1.0], [8, 3.0]] (orders, divergences),
    # or curve = [[1.0, 1e-3], [2.0, 1e-6]] (epsilons, deltas)
    grid_step = 0.01               # real numbers are released as multiples of it; or "1/7"
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import asdict, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from liptest.cli.claim_options import NOTIONS, read_grid_step
from liptest.cli.data_options import DataOptions, DistributionOptions, DomainOptions
from liptest.data.distributions import Distribution
from liptest.errors import ConfigError, InputError

Model = TypeVar("Model")
CONFIG, _PROJECT = Path("liptest.toml"), Path("pyproject.toml")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CheckModel(_Model):
    """One check: a mechanism and its claim."""

    mechanism: str
    rho: float | None = None
    renyi: list[tuple[float, float]] | None = None
    mu: float | None = None
    curve: list[tuple[float | str, float]] | None = None
    epsilon: float | str | None = Field(default=None, validate_default=True)
    delta: float = 0.0
    exception_mass: float = 1e-3
    failure_probability: float = 1e-6
    method: str = "auto"
    statistic: str | None = None
    tolerance: float = 1e-9
    budget: int | None = None
    search_laws: int | None = None
    floats: str = "both"
    seed: int | None = None
    max_seconds: float | None = None
    grid_step: str | float | None = None
    releases: int = 1
    vendor: str | None = None
    domain: DomainOptions | None = None
    distribution: DistributionOptions | None = None

    @property
    def library(self) -> str | None:
        """Whose frames its function gets, where that is said."""
        return None if self.domain is None else self.domain.frame

    @property
    def step(self) -> Fraction | None:
        """Of the grid on which real numbers are released, exactly as it is written."""
        return None if self.grid_step is None else read_grid_step(str(self.grid_step))

    @field_validator("epsilon")
    @classmethod
    def _is_stated(cls, value: Any, info: ValidationInfo) -> Any:
        """A claim in another form, which is read before, may stand for epsilon."""
        if value is None and all(info.data.get(key) is None for key in NOTIONS):
            raise PydanticCustomError("missing", "Field required")
        return value


class FileModel(_Model):
    """A whole liptest.toml."""

    domain: DomainOptions | None = None
    distribution: DistributionOptions | None = None
    ledger: Path | None = None
    check: list[CheckModel] = Field(min_length=1)


def read_config(path: Path) -> FileModel:
    """Read and validate a file; ConfigError names the key and the fix.

    Of a ``pyproject.toml`` its table ``[tool.liptest]`` is read, with the same keys.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file", name="config") from None
    except OSError as error:
        raise InputError(f"{path}: it cannot be read: {error.strerror}", name="config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: it cannot be read as TOML: {error}") from None
    if path.name == _PROJECT.name:
        data = _find_tool(data, path)
    for table in (data, *_tables(data.get("check"))):
        rename_records(table.get("domain"), path)
    return validate(FileModel, data, str(path))


def config_beside(folder: Path) -> Path | None:
    """The liptest.toml of a folder, else its pyproject.toml where that has [tool.liptest]."""
    own, project = folder / CONFIG, folder / _PROJECT
    if own.is_file():
        return own
    try:
        data = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    tools = data.get("tool")
    return project if isinstance(tools, dict) and "liptest" in tools else None


def _find_tool(data: dict[str, Any], path: Path) -> dict[str, Any]:
    tools = data.get("tool")
    table = tools.get("liptest") if isinstance(tools, dict) else None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: it has no table [tool.liptest]; write [[tool.liptest.check]]")
    return table


def _tables(checks: Any) -> list[dict[str, Any]]:
    return (
        [table for table in checks if isinstance(table, dict)] if isinstance(checks, list) else []
    )


def rename_records(domain: Any, path: Path) -> None:
    """``records = 5000`` of a domain says the same as ``dimension = 5000``."""
    if not isinstance(domain, dict) or "records" not in domain:
        return
    if "dimension" in domain:
        raise ConfigError(
            f"{path}: domain.records: it is the same as dimension; give one", key="domain.records"
        )
    domain["dimension"] = domain.pop("records")


def build_data(data: DataOptions) -> Distribution:
    """The distribution that arguments of the command line describe."""
    return validate(DataOptions, asdict(data), "arguments").build()


def validate(model: type[Model], data: dict[str, Any], where: str) -> Model:
    """``model`` from plain data; the first error as a ConfigError."""
    try:
        return TypeAdapter(model).validate_python(data)
    except ValidationError as error:
        # A key that is misspelt is the reason why another is missing.
        first = min(error.errors(), key=lambda problem: problem["type"] == "missing")
        raise _config_error(first, where) from None


def _config_error(first: Any, where: str) -> ConfigError:
    key = ".".join(str(part) for part in first["loc"] if not _is_type_name(part))
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        keys = sorted(_find_known_keys())
        if str(first["loc"][-1]) in keys:
            return ConfigError(f"{where}: {key}: {_at_home(first['loc'][-1])}", key=key)
        near = difflib.get_close_matches(str(first["loc"][-1]), keys, n=1)
        fix = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(keys)}"
        return ConfigError(f"{where}: {key}: unknown key{fix}", key=key)
    if first["type"] == "missing":
        example = _VALUES.get(str(first["loc"][-1]))
        write = "give it a value" if example is None else f"write {example}"
        return ConfigError(f"{where}: {key} is missing; {write}", key=key)
    given = f", not {first.get('input')!r}"
    if first["type"].startswith("dataclass"):
        example = _TABLES_OF_KEYS.get(str(first["loc"][-1]), "{key = value}")
        return ConfigError(f"{where}: {key}: it is a table of keys, such as {example}", key=key)
    said = first["msg"][0].lower() + first["msg"][1:]
    return ConfigError(f"{where}: {key}: {said}{given}", key=key)


#: What may be written for a key that must be there.
_VALUES = {
    "epsilon": "epsilon = 1.0 below [[check]], the claim (where "
    "FILL IN stands, remove the # before it)",
    "mechanism": 'mechanism = "mine.py:count" below [[check]]',
    "check": '[[check]], and below it mechanism = "mine.py:count" and epsilon = 1.0',
}
#: What may be said for a key that holds a table.
_TABLES_OF_KEYS = {
    "domain": "domain = {records = 5000}",
    "distribution": "distribution = {probabilities = 0.1}",
}


def _at_home(key: str) -> str:
    """Where a key that is known stands, when it is not here."""
    for home, model in (("domain", DomainOptions), ("distribution", DistributionOptions)):
        if key in {"records" if home == "domain" else "", *(field.name for field in fields(model))}:
            return f"not here, but in {home} = {{{key} = ..}}, or below [{home}]"
    of_file = key in FileModel.model_fields and key not in CheckModel.model_fields
    return "not here, but above the first table" if of_file else "not here, but below [[check]]"


def _is_type_name(part: Any) -> bool:
    # Unions add the name of the alternative that was tried.
    return isinstance(part, str) and (part in ("float", "str", "int") or "[" in part)


def _find_known_keys() -> set[str]:
    options = (*fields(DomainOptions), *fields(DistributionOptions))
    return {"records", *(item.name for item in options)} | {
        *CheckModel.model_fields,
        *FileModel.model_fields,
    }
