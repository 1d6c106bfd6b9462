"""The complete command that an error about usage ends with, for the case at hand."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from liptest.runs.jail import find_bubblewrap

_MECHANISM = re.compile(r"[^\s:=-][^\s:=]*:[A-Za-z_][\w.]*")
_EXAMPLE = re.compile(r"Example: (liptest .+?)(?:\n\s*\n|\s*\Z)", re.DOTALL)
_NAMED = "mine.py:count"
_RECORDS = "--records 5000"
#: The first option of these that was typed tells how the data are described.
_DATA = {
    "--values": "--records 10000 --values 8",
    "--fields": "--records 10000 --columns 'age:0..120,region:north|south'",
    "--column": "--records 1000 --table public.csv --column click",
    "--columns": "--table people.csv --columns 'age:0..120,region'",
    "--table": "--table people.csv --columns 'age:0..120,region'",
    "--sql": "--records 1000 --sql '$CLICKS_URL' --sql-table clicks --column click",
    "--sizes": "--domain recordgrid --sizes 3,3,2",
    "--probabilities": "--records 20 --probabilities 0.1",
    "--uniform": "--records 20 --uniform",
}
_DOMAINS = {
    "hypergrid": "--domain hypergrid --sizes 3,3,2",
    "recordgrid": "--records 10000 --values 8",
    "answergrid": "--domain answergrid --relation all --sizes 3,3,2",
    "answers": "--domain answers --relation all --records 5",
    "table": _DATA["--columns"],
}
# The part of a command that its example is about when none was typed.
_PARTS = {"ledger": "show", "service": "submit"}
_LIBRARIES = ("opendp", "diffprivlib")
# Classes of diffprivlib whose objects take any number, and those whose noise is continuous.
_UNBOUNDED = {"Geometric"}
_BY_SAMPLES = {
    *("Laplace", "LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain", "Snapping"),
    *("LaplaceBoundedNoise", "Gaussian", "GaussianAnalytic", "GaussianDiscrete", "Staircase"),
}
#: Ends of the names of files that hold data.
TABLES = (".csv", ".tsv", ".parquet", ".pq", ".xlsx", ".xls", ".json", ".npy")
# A data frame, which init does not write down.
_FRAMES = {"--table", "--columns", "--fields"}
_CLAIMS = {
    "--rho": "--rho 0.5",
    "--renyi": "--renyi 2:1.0,8:3",
    "--mu": "--mu 1",
    "--curve": "--curve 1:1e-3,2:1e-6",
    "--delta": "--epsilon 1 --delta 1e-6",
}


def example_for(typed: Sequence[str], commands: dict[str, tuple[str, str]]) -> str:
    """A command that is complete, for what was typed; its files are those of the user or made up.

    ``commands`` are the module of each command and its help.
    """
    command = typed[0] if typed and typed[0] in commands else "check"
    options = _options(typed[1:])
    if command == "check" and "--config" in options:
        return "liptest check --config liptest.toml"
    named = _find_known(_mechanism(typed if typed[:1] != [command] else typed[1:]))
    if command in ("check", "release") and named is not None and _draws_samples(named):
        return f"liptest samples {shlex.quote(named)} --epsilon 1 --records 10 --probabilities 0.5"
    mechanism = shlex.quote(named or _NAMED)
    is_known = named is not None and _says_its_data(named)
    if is_known and command == "check" and not _DATA.keys() & options.keys():
        kind = _kind_made(named or "")
        if kind in _BY_SAMPLES:
            return "liptest samples mine.py:draw --scalar --epsilon 1 --records 10 --uniform"
        if kind in _UNBOUNDED:
            return f"liptest check {mechanism} {_claim(options)} --domain hypergrid --sizes 10"
    if is_known and command == "release":
        return f"liptest init {mechanism} {_claim(options)}"
    if command in ("check", "release"):
        private = " --private private.csv --private-column click" if command == "release" else ""
        data = "" if is_known else f" {_data(options)}"
        return f"liptest {command} {mechanism} {_claim(options)}{data}{private}"
    if command == "samples" and named is not None and (shape := _parameters(named)):
        scalar = " --scalar" if len(shape) == 2 else ""
        return f"liptest samples {mechanism}{scalar} --epsilon 1 --records 10 --probabilities 0.5"
    if command == "init" and "--column" not in options and _FRAMES & options.keys():
        return f"liptest check {mechanism} --epsilon 1 {_DATA['--columns']}"
    if command == "init":
        return f"liptest init {mechanism} --epsilon 1{'' if is_known else f' {_RECORDS}'}"
    if command == "serve" and "--demo" in options and find_bubblewrap() is None:
        return "liptest serve --demo --allow-unconfined"
    return _find_printed(commands[command][0], command, typed[1] if len(typed) > 1 else "")


def functions_of_file(file: Path) -> list[str]:
    """The functions of a file, in its order; none where it cannot be read."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []
    names = [statement.name for statement in body if isinstance(statement, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


def is_function(mechanism: str) -> bool:
    """Whether its file defines a function of that name; False where that cannot be seen."""
    return ".py:" in mechanism and isinstance(_bound(mechanism), ast.FunctionDef)


def _options(typed: Sequence[str]) -> dict[str, str]:
    """What was typed for each option, as far as it can be told."""
    options = {}
    for word, following in zip(typed, [*typed[1:], ""], strict=False):
        name, sign, value = word.partition("=")
        if name.startswith("--"):
            options[name] = value if sign else following
    return options


def _mechanism(typed: Sequence[str]) -> str | None:
    """The first word that has the form of one and is not a value of an option."""
    for before, word in zip(["", *typed], typed, strict=False):
        if before.startswith("--"):
            continue
        if _MECHANISM.fullmatch(word):
            return word
        if word.endswith(".py") and (names := functions_of_file(Path(word))):
            return f"{word}:{names[0]}"
    return None


def _find_known(mechanism: str | None) -> str | None:
    """The mechanism, unless its file is not here, or has no such name, or a plain value for it."""
    if mechanism is None or ".py:" not in mechanism:
        is_other_file = mechanism is not None and Path(mechanism.rpartition(":")[0]).is_file()
        return None if is_other_file else mechanism
    bound = _bound(mechanism)
    is_plain = isinstance(bound, (ast.Assign, ast.AnnAssign)) and isinstance(
        bound.value, ast.Constant
    )
    if bound is None or is_plain or not _is_one(bound, mechanism):
        return None
    return _find_method(bound, mechanism) or mechanism


def _find_method(bound: ast.stmt, mechanism: str) -> str | None:
    """The first method of an object of a class of the file, which cannot be called itself."""
    if not isinstance(bound, ast.Assign) or not isinstance(bound.value, ast.Call):
        return None
    made, (file, _, name) = bound.value.func, mechanism.rpartition(":")
    kind = _bound(f"{file}:{made.id}") if isinstance(made, ast.Name) else None
    if "." in name or not isinstance(kind, ast.ClassDef):
        return None
    methods = [step.name for step in kind.body if isinstance(step, ast.FunctionDef)]
    public = [method for method in methods if not method.startswith("_")]
    return None if "__call__" in methods or not public else f"{mechanism}.{public[0]}"


def _is_one(bound: ast.stmt, mechanism: str) -> bool:
    """Whether a definition may be a mechanism: no class, and nothing that waits or yields."""
    if isinstance(bound, ast.ClassDef):
        methods = {inner.name: inner for inner in bound.body if isinstance(inner, ast.FunctionDef)}
        method = methods.get(mechanism.rpartition(".")[2])
        return method is not None and bool(method.decorator_list)
    if not isinstance(bound, ast.FunctionDef) and "." in mechanism.rpartition(":")[2]:
        return _has_method(mechanism)
    if isinstance(bound, ast.AsyncFunctionDef):
        return False
    if not isinstance(bound, ast.FunctionDef):
        return True
    names = [parameter.arg for parameter in (*bound.args.posonlyargs, *bound.args.args)]
    needed = len(names) - len(bound.args.defaults)
    is_called = bool(names) and (needed <= 2 or names[1:] == ["n", "rng"])
    is_plain = None not in bound.args.kw_defaults and "rng" not in names[:1]
    return (
        is_called and is_plain and not any(isinstance(node, ast.Yield) for node in ast.walk(bound))
    )


def _read_file(mechanism: str) -> tuple[list[ast.stmt], str]:
    """The statements of its file, none where it cannot be read, and its name there."""
    file, _, name = mechanism.rpartition(":")
    try:
        return ast.parse(Path(file).read_bytes()).body, name
    except (OSError, ValueError, SyntaxError):
        return [], name


def _has_method(mechanism: str) -> bool:
    """Whether a class of the file has a method of the last name of the mechanism."""
    body, name = _read_file(mechanism)
    classes = [statement for statement in body if isinstance(statement, ast.ClassDef)]
    within = [statement for own_class in classes for statement in own_class.body]
    methods = {method.name for method in within if isinstance(method, ast.FunctionDef)}
    return name.rpartition(".")[2] in methods


def _bound(mechanism: str) -> ast.stmt | None:
    """The last statement of its file that gives the name of a mechanism something to name."""
    body, name = _read_file(mechanism)
    bound = None
    for statement in body:
        if name.partition(".")[0] in _find_names(statement):
            bound = statement
    return bound


def _find_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _draws_samples(mechanism: str) -> bool:
    """Whether it is a function (dataset, n, rng), seen from its text."""
    return _parameters(mechanism)[1:] == ["n", "rng"]


def _parameters(mechanism: str) -> list[str]:
    """Those of a function of a file, seen from its text; none of anything else."""
    bound = _bound(mechanism) if ".py:" in mechanism else None
    if not isinstance(bound, ast.FunctionDef) or "." in mechanism.rpartition(":")[2]:
        return []
    return [parameter.arg for parameter in bound.args.args]


def _says_its_data(mechanism: str) -> bool:
    """Whether it is an object in a file that uses a library whose objects have a domain."""
    bound = _bound(mechanism) if ".py:" in mechanism else None
    if not isinstance(bound, ast.Assign) or isinstance(bound.value, ast.Lambda):
        return False
    text = Path(mechanism.rpartition(":")[0]).read_text(encoding="utf-8")
    return any(f"{word} {name}" in text for word in ("import", "from") for name in _LIBRARIES)


def _kind_made(mechanism: str) -> str:
    """The class whose call makes an object of a file, seen from its text."""
    bound = _bound(mechanism) if ".py:" in mechanism else None
    value = bound.value if isinstance(bound, ast.Assign) else None
    if not isinstance(value, ast.Call):
        return ""
    if isinstance(value.func, ast.Attribute):
        return value.func.attr
    return value.func.id if isinstance(value.func, ast.Name) else ""


def _claim(options: dict[str, str]) -> str:
    return next((text for name, text in _CLAIMS.items() if name in options), "--epsilon 1")


def _data(options: dict[str, str]) -> str:
    if options.get("--domain") in _DOMAINS:
        return _DOMAINS[options["--domain"]]
    # Claims in other forms compare all counts, one by one.
    few = any(name in options for name in _CLAIMS if name != "--delta")
    usual = "--records 20" if few else _RECORDS
    return next((text for name, text in _DATA.items() if name in options), usual)


def _find_printed(module: str, command: str, part: str) -> str:
    """The first example of the command's own help, or of its part's."""
    room = importlib.import_module(module if "." in module else f"liptest.cli.{module}")
    names = (part, _PARTS[command]) if command in _PARTS else (command,)
    texts = [getattr(getattr(room, name, None), "__doc__", None) or "" for name in names]
    example = next((match for match in map(_EXAMPLE.search, texts) if match), None)
    return f"liptest {command} --help" if example is None else " ".join(example[1].split())
