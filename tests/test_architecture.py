"""The drawing of docs/design.md stays true: who imports whom, how long files are, public names."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from liptest.testers import ALL_TESTERS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "liptest"

# Layer: its modules (a package stands for all that is in it), and the layers that they may import
# beside their own. A new module goes into the layer whose imports suffice for it.
POINTS = {"errors", "points"}
DATA = POINTS | {"distributions", "functions"}
TESTED = DATA | {"testers", "lipschitz", "ground truth"}
SEEN = POINTS | {"functions", "statistics"}
CLAIMS = TESTED | {"statistics", "mechanisms", "privacy", "long runs"}
LAYERS: dict[str, tuple[set[str], set[str]]] = {
    "errors": ({"errors"}, set()),
    "points": (
        {
            *("domains", "answers", "points", "marginals", "sampling", "fitting", "sums_of_bits"),
            *("parcels", "crews", "executors", "interrupts", "balls"),
        },
        {"errors"},
    ),
    "distributions": ({"distributions", "sampled", "edges", "data"}, POINTS),
    "functions": ({"oracles", "verdicts", "driver"}, POINTS),
    "long runs": ({"checkpoints", "fingerprints"}, DATA),
    "testers": ({"testers"}, DATA),
    "lipschitz": ({"lipschitz"}, DATA | {"testers"}),
    "ground truth": ({"ground_truth"}, DATA | {"testers"}),
    "statistics": ({"statistics"}, POINTS | {"functions"}),
    "mechanisms": ({"mechanisms"}, SEEN),
    "symbolic": ({"symbolic"}, POINTS),
    "values": ({"values"}, POINTS | {"statistics", "mechanisms", "symbolic"}),
    "whitebox": ({"whitebox"}, POINTS | {"statistics", "mechanisms", "symbolic", "values"}),
    "adapters": ({"adapters"}, POINTS | {"statistics", "mechanisms", "whitebox"}),
    "privacy": ({"privacy"}, TESTED | {"statistics", "mechanisms", "long runs"}),
    "noisy queries": ({"noisy_queries"}, CLAIMS),
    "black box": ({"blackbox"}, CLAIMS),
    "certificates": (
        {"certificates", "check_witness"},
        CLAIMS | {"noisy queries", "black box"},
    ),
    "ledger": ({"ledger"}, CLAIMS | {"certificates"}),
    "gate": ({"gate", "routes"}, CLAIMS | {"noisy queries", "certificates", "ledger"}),
    "plans": ({"plans", "privacy_plans"}, DATA | {"testers", "privacy"}),
    "report": (
        {"report"},
        DATA
        | {
            "long runs",
            "statistics",
            "mechanisms",
            "privacy",
            "black box",
            "certificates",
            "plans",
        },
    ),
}
# These may import everything; nothing but each other may import them.
SHELL = {
    *("", "__main__", "cli", "commands", "config", "demo", "examples"),
    *("pytest_plugin", "strategies", "testing"),
}

# A file holds one concept.
LONGEST = 700


@cache
def modules() -> dict[str, Path]:
    """Dotted name below liptest -> file; the package itself is ""."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(nodes: Iterator[ast.AST]) -> Iterator[tuple[str, str]]:
    """(module below liptest, name imported from it or "") of each import among the nodes."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "liptest":
                    yield alias.name.partition(".")[2], ""
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            package, _, below = (node.module or "").partition(".")
            for alias in node.names if package == "liptest" else []:
                inner = f"{below}.{alias.name}".lstrip(".")
                yield (inner, "") if inner in modules() else (below, alias.name)


def at_module_level(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes outside of functions: what runs on import, and ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from at_module_level(child)


def is_shell(module: str) -> bool:
    return module.split(".")[0] in SHELL


def layer(module: str) -> str:
    """The layer that names the longest package around a module."""
    homes = {name: home for home, (names, _) in LAYERS.items() for name in names}
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (name := ".".join(parts[:length])) in homes:
            return homes[name]
    pytest.fail(
        f"src/liptest/{module.replace('.', '/')}.py is in no layer: add {parts[0]!r} to LAYERS in "
        f"tests/test_architecture.py, and to the table of docs/design.md"
    )


def test_every_module_imports_only_what_its_layer_may() -> None:
    wrong = []
    for module, path in modules().items():
        if is_shell(module):
            continue
        home = layer(module)
        for target, _ in imports(ast.walk(tree(path))):
            if target == "":  # the facade, for its version
                continue
            if is_shell(target) or layer(target) not in {home, *LAYERS[home][1]}:
                wrong.append(f"{module} ({home}) imports {target}")
    assert not wrong, "not allowed by LAYERS: " + "; ".join(sorted(wrong))


def test_a_module_in_no_layer_is_told_where_to_go() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"newcomer/part.py .* LAYERS"):
        layer("newcomer.part")
    assert layer("testers.cs12") == "testers"


def test_no_import_cycles() -> None:
    graph = {
        module: {target for target, _ in imports(at_module_level(tree(path)))} - {module, ""}
        for module, path in modules().items()
        if module != ""
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, "import cycle: " + " -> ".join((*path, module))
        if module not in done:
            for target in graph.get(module, ()):
                visit(target, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())
    assert done >= set(graph)


def test_privacy_knows_no_concrete_tester() -> None:
    concrete = {type(tester).__name__ for tester in ALL_TESTERS}
    homes = {type(tester).__module__.removeprefix("liptest.") for tester in ALL_TESTERS}
    assert len(concrete) == len(homes) >= 2
    for module, path in modules().items():
        if module.split(".")[0] == "privacy":
            for target, name in imports(ast.walk(tree(path))):
                assert target not in homes, f"{module} imports {target}"
                assert name not in concrete, f"{module} imports {name}"


def test_files_are_short() -> None:
    lengths = {
        path.relative_to(SOURCE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in modules().values()
    }
    assert not {name for name, length in lengths.items() if length > LONGEST}


def test_every_module_is_in_the_table_of_the_design_page() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")]
    told = {name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row[2])}
    own = {name.split(".")[0] for name in modules() if name and not name.startswith("__")}
    missing = {name for name in own if not any(fnmatch(name, one) for one in told)}
    assert not missing, f"name these modules in a row of docs/design.md: {sorted(missing)}"
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    gone = {one for one in told if not any(fnmatch(name, one) for name in own | folders)}
    inner = {path.stem for path in SOURCE.glob("*/*.py")}
    gone = {one for one in gone if not any(fnmatch(name, one) for name in inner)}
    assert not gone, f"docs/design.md names what is not there: {sorted(gone)}"


def test_public_names_are_documented_and_annotated() -> None:
    for module, path in modules().items():
        if module.split(".")[0] == "examples":
            continue
        assert ast.get_docstring(tree(path)), f"{module}: no docstring"
        for node in tree(path).body:
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
        for number, line in enumerate(text.splitlines(), start=1):
            for what, pattern in FORBIDDEN.items():
                assert not pattern.search(line), f"{name}:{number} holds {what}: {line.strip()}"
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
