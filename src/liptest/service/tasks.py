"""What a task says of the data and of the claim: a check as in a liptest.toml, without code."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from liptest.cli.config import CheckModel, rename_records, validate
from liptest.data.distributions import Distribution
from liptest.errors import InputError, quote
from liptest.gate.sealed import SUM_DOMAINS
from liptest.privacy.settings import CheckSettings

#: Seconds of an analysis when a task says nothing, and the most that it may say.
SECONDS, MOST_SECONDS = 120.0, 3600.0
#: What code may import beside the standard library.
ALLOWED = ("liptest", "numpy")
# Keys of a check that are not a task's to say: who, with which code, from which random choices.
_NOT_OURS = ("mechanism", "vendor", "seed", "releases", "budget", "search_laws")
_DATABASES = ("sql", "sql_table", "sql_schema", "query")


def read_check(text: str) -> CheckModel:
    """A check in TOML without a mechanism; InputError for what a task cannot say."""
    try:
        return make_check(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"check: it cannot be read as TOML: {error}") from None


def make_check(data: dict[str, Any]) -> CheckModel:
    """The same from plain values."""
    said = [key for key in _NOT_OURS if key in data]
    if said:
        raise InputError(f"check: {said[0]} is not said by a task; leave it out")
    rename_records(data.get("domain"), Path("check"))
    model = validate(CheckModel, {**data, "mechanism": "submission.py:mechanism"}, "check")
    law = model.distribution
    if law is not None and any(getattr(law, key) is not None for key in _DATABASES):
        raise InputError("check: a task reads no database; fit on a file among the public tables")
    for path in () if law is None else (law.table, law.records):
        if path is not None:
            check_file(str(path))
    _jobs().make_settings(model)
    _ = model.step  # which is refused here where it is none
    if not 0 < find_seconds(model) <= MOST_SECONDS:
        raise InputError(f"check: max_seconds={model.max_seconds}: 1 to {MOST_SECONDS:g}")
    return model


def check_file(name: str) -> str:
    """A plain name of a file in a folder of the service; InputError for a path."""
    if name != Path(name).name or name.startswith(".") or not name.isprintable():
        raise InputError(f"file={quote(name)}: name a file, without a folder")
    return name


def to_json(model: CheckModel) -> str:
    """The text of a check as it is stored."""
    return json.dumps(model.model_dump(mode="json", exclude_none=True), sort_keys=True)


def from_json(text: str) -> CheckModel:
    """What was stored."""
    return validate(CheckModel, json.loads(text), "check")


def find_seconds(model: CheckModel) -> float:
    """Seconds of an analysis."""
    return SECONDS if model.max_seconds is None else model.max_seconds


def task_law(model: CheckModel, public: Path) -> Distribution:
    """The distribution of a task, or its domain alone; InputError where it cannot be sealed."""
    law: Distribution = _jobs().make_distribution(model, public, alone=True)
    if type(law.domain) not in SUM_DOMAINS:
        raise InputError(
            f"domain={law.domain}: its laws cannot be sealed; use kind hypercube, hypergrid, "
            f"recordgrid, answergrid or table"
        )
    return law


def settings_of_test(model: CheckModel) -> CheckSettings:
    """How the sealed laws are tested; the seed is drawn when the test begins."""
    limited = model.model_copy(update={"max_seconds": find_seconds(model)})
    settings: CheckSettings = _jobs().make_settings(limited)
    return settings


def _jobs() -> Any:
    """By name: it knows all that can be tested, and pages need a task's text alone."""
    return import_module("liptest.cli.jobs")


def foreign_imports(content: bytes, allowed: tuple[str, ...]) -> list[str]:
    """Packages that code imports by name and that are not allowed; InputError for no Python.

    A rule for those who keep rules: the jail is what holds the others.
    """
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InputError(f"the file is not Python: {quote(str(error))}") from None
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            packages.add((node.module or ".").partition(".")[0] if node.level == 0 else ".")
    return sorted(packages - sys.stdlib_module_names - set(allowed))
