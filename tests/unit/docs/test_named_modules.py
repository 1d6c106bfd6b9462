"""What docstrings and comments name in double backquotes is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import liptest as lt
from benchmarks import house

HOUSE = house.House()
ROOMS = {module.split(".")[0] for module in HOUSE.files} - {""}
# Not of the room: what a program asks of its argument.
OF_ARGUMENTS = {"data.shape", "data.size"}
PATHS = re.compile(r"``((?:liptest|[a-z_]+)(?:\.\w+)+)``")
FILES = re.compile(r"``(?:liptest/)?(\w+(?:/\w+)*\.py)``")


def is_there(name: str) -> bool:
    """Whether this is a module, what a module has, or an attribute of a class of a module."""
    module, _, rest = name.rpartition(".")
    parts = [rest]
    while name not in HOUSE.files and module not in HOUSE.files:
        module, _, rest = module.rpartition(".")
        parts.insert(0, rest)
    return name in HOUSE.files or _has(_tree_of(module), parts)


@cache
def _tree_of(module: str) -> ast.Module:
    # Few modules are named: the trees of all of them take seconds.
    return ast.parse(HOUSE.texts[module])


def _has(node: ast.AST, parts: list[str]) -> bool:
    """Whether the statements of a module or of a class define the first name, and it the others."""
    for child in ast.iter_child_nodes(node):
        if parts[0] in set(_names(child)):
            return len(parts) == 1 or _has(child, parts[1:])
    return False


def _names(statement: ast.AST) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name for alias in statement.names)
    else:
        yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name))


def test_modules_that_texts_name_exist() -> None:
    gone = []
    for module, text in HOUSE.texts.items():
        for name in PATHS.findall(text):
            first, _, rest = name.partition(".")
            below = rest if first == "liptest" else name
            if name in OF_ARGUMENTS or (first == "liptest" and rest.split(".")[0] in dir(lt)):
                continue
            if (first == "liptest" or first in ROOMS) and not is_there(below):
                gone.append(f"{module}: {name}")
    assert gone == []


def test_files_that_texts_name_exist() -> None:
    paths = {path.relative_to(HOUSE.source).as_posix() for path in HOUSE.files.values()}
    gone = [
        f"{module}: {name}"
        for module, text in HOUSE.texts.items()
        for name in FILES.findall(text)
        if not any(path == name or path.endswith(f"/{name}") for path in paths)
    ]
    assert gone == []


def test_names_by_hand() -> None:
    assert is_there("runs.driver")
    assert is_there("runs.driver.Journal.begin")
    assert not is_there("runs.journal")
    assert not is_there("runs.driver.Journal.nothing")
    assert not is_there("checkpoints")
