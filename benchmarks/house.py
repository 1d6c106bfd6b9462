"""The house in numbers: files, lines, circles of imports, the longest chain, probes, names.

Imports inside functions count: they are arrows of the plan like all others. Imports for type
checkers alone do not run, and are left out. ``tests/test_architecture.py`` keeps the goals.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "liptest"
Graph = Mapping[str, Set[str]]
#: The file that may ask, for the objects that are not ours.
FOREIGN = "foreign"
_PROBES = {"getattr", "hasattr"}


@dataclass(frozen=True)
class House:
    """A package as read from its files; modules are named below it, the package itself is ""."""

    source: Path = SOURCE

    @cached_property
    def files(self) -> dict[str, Path]:
        """Module -> file; the examples are code under test, and no part of the house."""
        known = {}
        for path in sorted(self.source.rglob("*.py")):
            if path.is_relative_to(self.source / "examples"):
                continue
            parts = path.relative_to(self.source).with_suffix("").parts
            known[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        return known

    @cached_property
    def texts(self) -> dict[str, str]:
        return {module: path.read_text(encoding="utf-8") for module, path in self.files.items()}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {module: ast.parse(text) for module, text in self.texts.items()}

    def imports(self, module: str, *, typing: bool = False) -> set[tuple[str, str]]:
        """(module below the package, name taken from it or ""), with ``typing`` all there are."""
        return set(self._imports(self.trees[module], typing))

    def _imports(self, node: ast.AST, typing: bool) -> Iterator[tuple[str, str]]:
        for child in _statements_in(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    package, _, below = alias.name.partition(".")
                    if package == self.source.name:
                        yield below, ""
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, "imports are absolute"
                package, _, below = (child.module or "").partition(".")
                for alias in child.names if package == self.source.name else []:
                    inner = f"{below}.{alias.name}".lstrip(".")
                    yield (inner, "") if inner in self.files else (below, alias.name)
            elif typing or not _is_for_type_checkers(child):
                yield from self._imports(child, typing)

    @cached_property
    def arrows(self) -> dict[str, set[str]]:
        """Module -> modules that it imports somewhere; the facade takes no part."""
        graph = {m: {target for target, _ in self.imports(m)} - {m, ""} for m in self.files}
        del graph[""]
        return {module: targets & graph.keys() for module, targets in graph.items()}

    def probes(self, *, of_others: bool = False) -> list[str]:
        """Places that ask an object for an attribute by its literal name.

        One file asks objects of users and of other libraries; ``of_others`` lists those.
        """
        return [
            f"{module}:{node.lineno} {ast.unparse(node)}"
            for module, tree in self.trees.items()
            if (module == FOREIGN) == of_others
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and _is_probe(node)
        ]

    def names_defined_twice(self) -> dict[str, list[str]]:
        """Public functions and classes of one name in two files or more -> the files."""
        homes = defaultdict(set)
        for module, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                    homes[node.name].add(module)
        return {name: sorted(where) for name, where in sorted(homes.items()) if len(where) > 1}

    def lines(self) -> dict[str, int]:
        """Module -> lines of its file."""
        return {module: len(text.splitlines()) for module, text in self.texts.items()}


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside of another, and what holds such ones: no expression does."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(node, name, ())


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _is_probe(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name) or call.func.id not in _PROBES or len(call.args) < 2:
        return False
    name = call.args[1]
    return isinstance(name, ast.Constant) and not str(name.value).startswith("__")


def components(graph: Graph) -> list[list[str]]:
    """Strongly connected components, each after all that it points to (Tarjan 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    closed: list[list[str]] = []
    done: set[str] = set()

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in order:
                visit(target)
            if target not in done:
                low[node] = min(low[node], low[target])
        if low[node] == order[node]:
            place = stack.index(node)
            closed.append(sorted(stack[place:]))
            done.update(stack[place:])
            del stack[place:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return closed


def circles(graph: Graph) -> list[list[str]]:
    """Modules that import each other in a circle, the largest first."""
    return sorted((c for c in components(graph) if len(c) > 1), key=len, reverse=True)


def longest_chain(graph: Graph) -> list[str]:
    """Modules of which each imports the next; a circle counts with all its modules."""
    chains: dict[str, list[str]] = {}
    longest: list[str] = []
    for component in components(graph):
        below = [chains[t] for m in component for t in graph[m] if t not in component]
        chain = component + max(below, key=len, default=[])
        chains.update(dict.fromkeys(component, chain))
        longest = max(longest, chain, key=len)
    return longest


def public_names() -> list[str]:
    """Names that ``dir(liptest)`` shows, private ones left out."""
    import liptest

    return [name for name in dir(liptest) if not name.startswith("_")]


def figures(house: House) -> list[tuple[str, int, int | None]]:
    """(what, how many, at most)."""
    return [
        ("files", len(house.files), None),
        ("lines", sum(house.lines().values()), 38_000),
        ("lines of the longest file", max(house.lines().values()), 700),
        ("import arrows", sum(map(len, house.arrows.values())), None),
        ("circles", len(circles(house.arrows)), 0),
        ("files in circles", sum(map(len, circles(house.arrows))), 0),
        ("longest chain", len(longest_chain(house.arrows)), 20),
        ("probes by getattr or hasattr", len(house.probes()), 0),
        ("questions to objects of others", len(house.probes(of_others=True)), None),
        ("public names defined twice", len(house.names_defined_twice()), 10),
        ("public names", len(public_names()), 50),
    ]


def main(arguments: list[str]) -> int:
    """Print the figures, with ``--all`` also what they count; 1 where a goal is missed."""
    house = House()
    wrong = 0
    for what, count, most in figures(house):
        missed = most is not None and count > most
        wrong += missed
        goal = "" if most is None else f"   goal: at most {most:,}{', missed' * missed}"
        print(f"{what:30} {count:8,}{goal}")
    if "--all" in arguments:
        details: dict[str, Callable[[], list[str]]] = {
            "circles": lambda: [" ".join(circle) for circle in circles(house.arrows)],
            "longest chain": lambda: longest_chain(house.arrows),
            "probes": house.probes,
            "questions to objects of others": lambda: house.probes(of_others=True),
            "names defined twice": lambda: [
                f"{name}: {' '.join(where)}" for name, where in house.names_defined_twice().items()
            ],
        }
        for what, listed in details.items():
            print(f"\n{what}", *listed(), sep="\n  ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
