"""What ``liptest`` alone prints: the next three commands, which work as they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

CONFIG = Path("liptest.toml")
_EXAMPLE = "liptest.examples.clicks.vendor_a:count --epsilon 1 --records 1000"
_FORMS = ("ClosedForm", "ExactForm", "ShiftMechanism", "StatisticMechanism")
_TOOLS = ("[tool.liptest", "[[tool.liptest")
_MOST_FILES = 50
_MOST_BYTES = 1 << 20


def run_welcome() -> int:
    """``liptest`` without arguments."""
    print("liptest tests a claim of differential privacy before the code touches the data.\n")
    rows = next_commands(Path())
    width = max(len(words) for words, _ in rows)
    for words, command in rows:
        print(f"  {words:{width}}   {command}")
    print("\nAll commands: liptest --help. Does it work on this machine? liptest doctor")
    return 0


def next_commands(folder: Path) -> list[tuple[str, str]]:
    """What can be done in this folder, and the command that does it."""
    demo = ("see it test three vendors' code", "liptest demo clicks")
    config = _config_in(folder)
    if config:
        check = (f"test the claims of this {config}", "liptest check")
        return [check, ("what can be said about a claim", "liptest check --help"), demo]
    mechanism = next(mechanisms_in(folder), None)
    if mechanism is not None:
        init = (f"write a {CONFIG} for this mechanism", f"liptest init {mechanism}")
        return [init, ("then test what it says", "liptest check"), demo]
    return [
        demo,
        ("test one claim by hand", f"liptest check {_EXAMPLE}"),
        ("start with your own function (data, rng)", "liptest init file.py:name"),
    ]


def _config_in(folder: Path) -> str:
    """The name of the file that ``liptest check`` would read; "" for none."""
    if (folder / CONFIG).is_file():
        return str(CONFIG)
    project = folder / "pyproject.toml"
    try:
        lines = project.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    return project.name if any(line.startswith(_TOOLS) for line in lines) else ""


def mechanisms_in(folder: Path) -> Iterator[str]:
    """``file.py:name`` of what looks like a mechanism in the folder; nothing is imported."""
    for path in islice(sorted(folder.glob("*.py")), _MOST_FILES):
        for name in _names_in(path):
            yield f"{path.name}:{name}"


def _names_in(path: Path) -> Iterator[str]:
    try:
        content = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
        tree = ast.parse(content)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _is_mechanism(node):
            yield node.name
        elif isinstance(node, ast.Assign) and _find_called(node.value) in _FORMS:
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_mechanism(node: ast.FunctionDef) -> bool:
    """Decorated, or a function (data, rng)."""
    if any(_find_called(decorator) == "mechanism" for decorator in node.decorator_list):
        return True
    names = [argument.arg for argument in node.args.args]
    return len(names) == 2 and names[1] == "rng" and not node.decorator_list


def _find_called(node: ast.expr) -> str:
    """The last part of the name of a function that is called or used as a decorator."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
