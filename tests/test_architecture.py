"""The drawing of docs/design.md stays true: who imports whom, how long files are, public names."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

import liptest as lt
from benchmarks import house
from liptest.lipschitz.testers import ALL_TESTERS

ROOT = Path(__file__).parents[1]
HOUSE = house.House()

# The rooms in the order of imports (docs/design.md): a room may import those above it, imports
# inside functions included.
ROOMS = (
    *("errors", "verdicts", "balls", "foreign", "data", "runs"),
    *("lipschitz", "statistics", "mechanisms"),
    *("symbolic", "floats", "values", "enumerate", "privacy"),
    *("blackbox", "evidence", "gate"),
    *("adapters", "report", "testing", "cli", "service"),
    *("__main__",),
)
# Files of which each imports the next, imports inside functions included.
CHAIN = 20
# Attributes asked for by name, public names in two files or more, names of the package.
PROBES = 0
DEFINED_TWICE = 4
# Fifty, what tables are declared with, and what samplers are.
PUBLIC_NAMES = 50
# Lines of a file, which holds one concept.
LONGEST = 700


def room(module: str) -> str:
    """The room that a module is in."""
    first = module.split(".")[0]
    assert first in ROOMS, f"liptest/{first} is in no room: add it to ROOMS, and to docs/design.md"
    return first


def test_rooms_import_only_rooms_above_them() -> None:
    upward = {
        (room(module), room(target))
        for module, targets in HOUSE.arrows.items()
        for target in targets
        if ROOMS.index(room(target)) > ROOMS.index(room(module))
    }
    assert upward == set()


def test_the_design_page_has_the_rooms_in_their_order() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    drawn = [name.rstrip("/") for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    there = {module.split(".")[0] for module in HOUSE.files} - {"", "__main__"}
    assert drawn == [name for name in ROOMS if name in there]
    files = set(re.findall(r"`(\w+/[\w/]+\.py)`", page)) - {"tests/test_architecture.py"}
    assert len(files) > 10
    gone = [name for name in files if not (house.SOURCE / name).exists()]
    assert not gone, f"docs/design.md names what is not there: {gone}"


def test_no_import_cycles() -> None:
    """Imports inside functions count."""
    assert house.circles(HOUSE.arrows) == []


def test_chains_of_imports_are_short() -> None:
    chain = house.longest_chain(HOUSE.arrows)
    assert len(chain) <= CHAIN, " -> ".join(chain)


def test_what_is_to_become_less_does_not_become_more() -> None:
    probes, twice = HOUSE.probes(), HOUSE.names_defined_twice()
    assert len(probes) <= PROBES, "attributes asked for by name: " + "; ".join(probes)
    assert len(twice) <= DEFINED_TWICE, f"public names defined twice: {twice}"
    assert len(lt.__all__) <= PUBLIC_NAMES


def test_circles_and_chains_by_hand() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"e"}}
    assert house.circles(graph) == [["a", "b", "c"]]
    assert house.longest_chain(graph) == ["a", "b", "c", "d", "e"]
    assert house.circles({"a": {"b"}, "b": set()}) == []


def test_imports_inside_functions_are_seen(tmp_path: Path) -> None:
    (tmp_path / "liptest").mkdir()
    for name, text in {
        "one.py": "def f():\n    from liptest import two\n    return hasattr(two, 'a')\n",
        "two.py": "if TYPE_CHECKING:\n    import liptest.three\n",
        "three.py": "class C:\n    from liptest.one import f\n",
        "__init__.py": "",
    }.items():
        (tmp_path / "liptest" / name).write_text(text)
    small = house.House(tmp_path / "liptest")
    assert small.arrows == {"one": {"two"}, "two": set(), "three": {"one"}}
    assert small.imports("two", typing=True) - small.imports("two") == {("three", "")}
    assert small.probes() == ["one:3 hasattr(two, 'a')"]
    assert small.names_defined_twice() == {}


def test_privacy_knows_no_concrete_tester() -> None:
    concrete = {type(tester).__name__ for tester in ALL_TESTERS}
    homes = {type(tester).__module__.removeprefix("liptest.") for tester in ALL_TESTERS}
    assert len(concrete) == len(homes) >= 2
    for module in HOUSE.files:
        if module.split(".")[0] == "privacy":
            for target, name in HOUSE.imports(module, typing=True):
                assert target not in homes, f"{module} imports {target}"
                assert name not in concrete, f"{module} imports {name}"


def test_files_hold_one_concept() -> None:
    assert {name: lines for name, lines in HOUSE.lines().items() if lines > LONGEST} == {}


def test_public_names_are_documented_and_annotated() -> None:
    for module, tree in HOUSE.trees.items():
        assert ast.get_docstring(tree), f"{module}: no docstring"
        for node in tree.body:
            if is_public(node):
                assert ast.get_docstring(node), f"{module}.{node.name}: no docstring"
            for function in methods_of(node):
                missing = unannotated(function)
                assert not missing, f"{module}.{function.name}: no annotation of {missing}"


def is_public(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.ClassDef]:
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
        return False
    return not any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)


def methods_of(node: ast.AST) -> list[ast.FunctionDef]:
    if isinstance(node, ast.ClassDef):
        return [child for child in node.body if isinstance(child, ast.FunctionDef)]
    return [node] if isinstance(node, ast.FunctionDef) else []


def unannotated(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    missing = [a.arg for a in every if a.annotation is None and a.arg not in ("self", "cls")]
    return missing + ["the result"] * (function.returns is None)


def texts() -> Iterator[tuple[str, str]]:
    """Every text file of the repository; hidden folders hold environments and caches."""
    places = [*ROOT.glob("*"), ROOT / ".ci"]
    for place in places:
        if place.name == "uv.lock" or (place.name.startswith(".") and place.name != ".ci"):
            continue
        for path in [place] if place.is_file() else place.rglob("*"):
            hidden = any(p.startswith((".", "__pycache__")) for p in path.relative_to(place).parts)
            if path.is_file() and not hidden:
                data = path.read_bytes()
                if b"\0" not in data:
                    yield path.relative_to(ROOT).as_posix(), data.decode("utf-8")


# Written so that this file does not contain them.
FORBIDDEN = {
    "unfinished work": re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"),
    "a path of one machine": re.compile(r"(?<![\w.\]])/(?:root|home|work|tmp|opt|Users)/"),
    "a package index": re.compile(
        r"py" + r"pi\.|python" + r"hosted|(?<!emit-)index" + r"-url|find" + r"-links"
    ),
}


def test_texts_are_clean() -> None:
    seen = 0
    for name, text in texts():
        seen += 1
        for what, pattern in FORBIDDEN.items():
            found = pattern.search(text)
            assert not found, f"{name}:{text.count(chr(10), 0, found.start()) + 1} holds {what}"
    assert seen > 100


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("# TO" + "DO: later", "unfinished work"),
        ('open("/ro' + 'ot/x")', "a path of one machine"),
        ("--index" + "-url x", "a package index"),
    ],
)
def test_the_patterns_find_what_they_forbid(line: str, what: str) -> None:
    assert FORBIDDEN[what].search(line)


def test_test_folders_are_packages() -> None:
    """Otherwise two test files of the same name would clash, and helpers could not be imported."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        assert (path.parent / "__init__.py").exists(), f"{path.parent} has no __init__.py"


def test_requirements_hold_every_dependency_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    core = project["project"]["dependencies"]
    for name, wanted in (
        ("requirements.txt", core),
        ("requirements-dev.txt", core + project["dependency-groups"]["dev"]),
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        pinned = set(re.findall(r"^([a-z0-9-]+)==", text, flags=re.MULTILINE))
        names = {re.split(r"[<>=!~\[; ]", item)[0].lower() for item in wanted}
        assert names <= pinned, f"{name} lacks {names - pinned}; CONTRIBUTING.md says how to renew"
        for entry in re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]:
            assert "--hash=sha256:" in entry


def test_the_commands_of_the_readme_are_what_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"^readme_command '(.+)'$", script, flags=re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert f"\n{command}\n" in readme
    assert script.rstrip().endswith(f"readme_command '{commands[1]}'")
    assert commands[1].endswith("uv run pytest")
