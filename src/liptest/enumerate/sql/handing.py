"""How a program gets its data: as a frame of pandas or polars, or by a connection to a database."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from liptest.errors import InputError, quote

#: Of the table, where no other name is given.
TABLE_NAME = "data"
POSTGRESQL = ("postgresql://", "postgres://")
LIBRARIES = ("pandas", "polars")
_OF_MODULES = {
    **{"sqlite3": "sqlite", "duckdb": "duckdb", "_duckdb": "duckdb", "sqlalchemy": "sqlalchemy"},
    "sa": "sqlalchemy",
}
_MODULES = {"sqlite": ["sqlite3"], "duckdb": ["duckdb", "pandas"], "sqlalchemy": ["sqlalchemy"]}


@dataclass(frozen=True)
class TableDatabase:
    """What a function gets: ``engine`` is "sqlite", "duckdb" or the URL of a PostgreSQL server."""

    engine: str
    table: str = TABLE_NAME

    @property
    def condition(self) -> str:
        """What a verdict takes for granted."""
        named = "PostgreSQL" if self.engine.startswith(POSTGRESQL) else self.engine
        return f"given that queries answer as {named} does for a table in memory"


def find_database(frame: str) -> TableDatabase | None:
    """What ``frame=`` names; None for frames."""
    if frame.startswith(POSTGRESQL):
        return TableDatabase(frame)
    engine, _, table = frame.partition(":")
    return TableDatabase(engine, table or TABLE_NAME) if engine in _MODULES else None


def find_handing(function: Any, said: str = "") -> str:
    """How a function gets its data: as is said, or as its first parameter is annotated.

    Raises InputError where ``said`` names nothing.
    """
    if said in LIBRARIES or (isinstance(said, str) and find_database(said) is not None):
        return said
    if said:
        raise InputError(
            f"frame={quote(said)} must be 'pandas', 'polars', 'sqlite', 'duckdb' or the URL of a "
            f"PostgreSQL server",
            name="frame",
        )
    kind = _find_annotation(function)
    module = (kind if isinstance(kind, str) else kind.__module__).partition(".")[0]
    name = kind if isinstance(kind, str) else kind.__name__
    engine = _OF_MODULES.get(module, "")
    if engine and "Connection" in name:
        return engine
    return "polars" if module in ("polars", "pl") else LIBRARIES[0]


def _find_annotation(function: Any) -> type | str:
    """The class of its first parameter, or what is written there; "" for nothing."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()))
    except (TypeError, ValueError, StopIteration):
        return ""
    kind = first.annotation
    if isinstance(kind, str):
        kind = _find_named(kind, getattr(inspect.unwrap(function), "__globals__", {}))
    return kind if isinstance(kind, (str, type)) and kind is not first.empty else ""


def _find_named(name: str, space: dict[str, Any]) -> Any:
    """The class of a name with dots; the name itself where it leads nowhere."""
    first, *rest = name.split(".")
    value = space.get(first)
    for part in rest:
        value = getattr(value, part, None)
    return name if value is None else value


def find_condition(frame: str) -> set[str]:
    """What verdicts take for granted."""
    database = find_database(frame)
    return set() if database is None else {database.condition}


def import_needed(frame: str) -> None:
    """Load it before a program is analysed; InputError where it is not there."""
    database = find_database(frame)
    if database is None:
        _import(frame, f"a table reaches this mechanism as a {frame} frame", frame, "domain")
        return
    if not database.table.isidentifier():
        raise InputError(
            f"frame={quote(frame)} must name the table by letters, digits and underscores",
            name="frame",
        )
    postgresql = database.engine.startswith(POSTGRESQL)
    for module in ["psycopg"] if postgresql else _MODULES[database.engine]:
        needed = f"this mechanism queries a database by {module}, which is not there"
        _import(module, needed, "'liptest[data]'", "frame")


def _import(module: str, needed: str, what: str, name: str) -> None:
    try:
        import_module(module)
    except ImportError:
        raise InputError(f"{needed}: pip install {what}", name=name) from None
