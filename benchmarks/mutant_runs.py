"""Mutants of ``mutants.py`` in one process: the tests are loaded once, each mutant is a fork.

    nice -n 19 python benchmarks/mutant_runs.py --sites 150 --seed 3 --log fates.txt

First all tests run once, with a mark before each statement of the files under test: so it is known
which tests reach which statement, and how long they take. Then for each site a fork replaces the
byte code of the function by that of the mutant, and runs the tests that reach its statement, the
quickest first, until one fails. What only runs while modules are imported (schemas) is mutated as
``mutants.py`` does it, in a copy of the sources.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import functools
import gc
import importlib
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FunctionType
from typing import Any

import mutants
import pytest
from _pytest.runner import runtestprotocol

from liptest.values.faults import codes_in

SOURCE = mutants.ROOT / "src" / "liptest"
TESTS = tuple(dict.fromkeys(name for names in mutants.COVERED.values() for name in names))
#: What may notice a mutant beside the tests that cover its file; more than twice as long.
MORE = (
    *(f"tests/unit/{room}" for room in ("privacy", "mechanisms", "evidence", "statistics")),
    *("tests/property", "tests/contract", "tests/unit/enumerate/trees/test_tracing.py"),
    *(f"tests/unit/enumerate/test_{name}.py" for name in ("hockey_sticks", "partial_laws")),
)
# CPU seconds of tests after which a mutant lives, and after which it does not end; a mutant that
# waits is given up after an hour.
MOST, ENDLESS, WAITING = 20.0, 120, 3600.0
Place = tuple[str, int]


class Marking(ast.NodeTransformer):
    """Puts a call before each statement in functions: ``__reached__(file, number)``."""

    def __init__(self, file: str, tree: ast.AST) -> None:
        self.file = file
        self.numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.Module, ast.ClassDef)):
            return node
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                setattr(node, field, [one for old in body for one in (self._mark(old), old)])
        return node

    def _mark(self, statement: ast.stmt) -> ast.stmt:
        call = f"__import__('builtins').__reached__({self.file!r}, {self.numbers[id(statement)]})"
        [made] = ast.parse(call).body
        for node in ast.walk(made):
            ast.copy_location(node, statement)
        return made


def statements(tree: ast.AST) -> dict[int, int]:
    """The innermost statement of each node, both by their numbers."""
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    found: dict[int, int] = {}

    def look(node: ast.AST, statement: int) -> None:
        if isinstance(node, ast.stmt):
            statement = numbers[id(node)]
        found[numbers[id(node)]] = statement
        for child in ast.iter_child_nodes(node):
            look(child, statement)

    look(tree, 0)
    return found


class Functions:
    """All functions of the files under test, whose byte code can be replaced."""

    def __init__(self, files: list[str]) -> None:
        for file in files:
            importlib.import_module("liptest." + file.removesuffix(".py").replace("/", "."))
        paths = {str(SOURCE / file): file for file in files}
        self._found: dict[tuple[str, str, int], list[FunctionType]] = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in paths:
                code = one.__code__
                key = paths[code.co_filename], code.co_qualname, code.co_firstlineno
                self._found.setdefault(key, []).append(one)
        self._caches = [o for o in gc.get_objects() if isinstance(o, functools._lru_cache_wrapper)]

    def replace(self, file: str, tree: ast.AST, only: str = "") -> int:
        """Put in the code of a changed file, or of one function of it; how many there were."""
        for node in ast.walk(tree):
            if isinstance(node, (ast.Attribute, ast.Name)) and not hasattr(node, "ctx"):
                node.ctx = ast.Load()
        ast.fix_missing_locations(tree)
        count = 0
        for code in codes_in(compile(tree, str(SOURCE / file), "exec", dont_inherit=True)):  # type: ignore[arg-type]
            for one in self._found.get((file, code.co_qualname, code.co_firstlineno), ()):
                is_wanted = not only or f"{code.co_qualname}.".startswith(f"{only}.")
                if is_wanted and one.__code__.co_freevars == code.co_freevars:
                    one.__code__ = code
                    count += 1
        for cache in self._caches:
            cache.cache_clear()
        return count


class Plugin:
    """Runs mutants where pytest would run its tests."""

    def __init__(
        self, sites: list[mutants.Site], files: list[str], log: Path | None = None
    ) -> None:
        self.sites, self.files, self.log = sites, files, log
        self.counts = dict.fromkeys(("killed", "endless", "LIVED", "equivalent"), 0)

    def pytest_runtestloop(self, session: Any) -> bool:
        functions = Functions(self.files)
        reached = _in_fork(lambda: pickle.dumps(self._reached(session.items, functions)), 3600)
        assert reached is not None, "the tests did not end"
        known = pickle.loads(reached)
        before = noticed_before(self.log)
        gc.collect()
        gc.freeze()  # so that forks share their memory
        for site in self.sites:
            word = "equivalent"
            if site.name not in mutants.EQUIVALENT:
                word = before.get(site.name) or fate(site, session.items, known, functions)
            self.counts[word] += 1
            print(f"{word:10} {site.file}:{site.line} {site.function}: {site.old} -> {site.new}")
            sys.stdout.flush()
            if self.log is not None:
                with self.log.open("a", encoding="utf-8") as file:
                    file.write(f"{word:10} {site.name}\n")
        print(mutants.told(self.counts))
        return True

    def _reached(
        self, items: list[Any], functions: Functions
    ) -> dict[Place, list[tuple[float, int]]]:
        """By statement: the tests that reach it, with their seconds; those that pass."""
        places: set[Place] = set()
        builtins.__reached__ = lambda *place: places.add(place)  # type: ignore[attr-defined]
        for file in self.files:
            tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
            functions.replace(file, Marking(file, tree).visit(tree))
        found: dict[Place, list[tuple[float, int]]] = {}
        for number, item in enumerate(items):
            places.clear()
            started = time.perf_counter()
            if _passes(item):
                for place in places:
                    found.setdefault(place, []).append((time.perf_counter() - started, number))
            else:
                print(f"fails with marks, and is left out: {item.nodeid}", flush=True)
        return found


def noticed_before(log: Path | None) -> dict[str, str]:
    """By the name of a site: what a run before this one wrote of it, if it was noticed."""
    if log is None or not log.exists():
        return {}
    lines = (line.partition(" ") for line in log.read_text(encoding="utf-8").splitlines())
    return {name.strip(): word for word, _, name in lines if word in ("killed", "endless")}


def fate(
    site: mutants.Site,
    items: list[Any],
    reached: dict[Place, list[tuple[float, int]]],
    functions: Functions,
) -> str:
    """What becomes of a mutant under the tests that reach its statement."""
    tree = ast.parse((SOURCE / site.file).read_text(encoding="utf-8"))
    tests = sorted(reached.get((site.file, statements(tree)[site.node]), ()))
    wanted = list(ast.walk(tree))[site.node]
    if not tests:
        with tempfile.TemporaryDirectory() as made:
            shutil.copytree(mutants.ROOT / "src", Path(made) / "src")
            return mutants.fate(site, Path(made))

    def run() -> bytes:
        if not functions.replace(site.file, mutants.Replacing(wanted).visit(tree), site.function):
            return b"LIVED"
        started = time.process_time()
        for _, number in tests:
            if not _passes(items[number]):
                return b"killed"
            if time.process_time() - started > MOST:
                break
        return b"LIVED"

    answer = _in_fork(run, ENDLESS)
    # A mutant that ends its process is noticed, too.
    return "endless" if answer is None else answer.decode() or "killed"


def _passes(item: Any) -> bool:
    return not any(one.failed for one in runtestprotocol(item, nextitem=None, log=False))


def _in_fork(run: Any, seconds: int) -> bytes | None:
    """What a function answers in a fork; None where it takes more CPU seconds, or waits."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        try:
            with os.fdopen(writing, "wb") as file:
                file.write(run())
        finally:
            os._exit(0)
    os.close(writing)
    signal.signal(signal.SIGALRM, lambda number, frame: os.killpg(process, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, WAITING)
    with os.fdopen(reading, "rb") as file:
        answer = file.read()
    is_late = signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    _, status = os.waitpid(process, 0)
    is_late |= os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    return None if is_late else answer


def main() -> int:
    """Print what became of each mutant, and the share that was noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sites", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--more", action="store_true", help="run tests of all rooms around, too")
    parser.add_argument("--log", type=Path, help="what became of each, to go on from")
    parser.add_argument("--only", choices=sorted(mutants.COVERED), action="append")
    options = parser.parse_args()
    log = options.log and options.log.absolute()
    files = options.only or list(mutants.COVERED)
    every = [
        site
        for file in files
        for site in mutants.sites_of(file, (SOURCE / file).read_text(encoding="utf-8"))
    ]
    os.chdir(mutants.ROOT)
    tests = [name for name in (MORE if options.more else options.tests) if Path(name).exists()]
    plugin = Plugin(mutants.chosen(every, options.sites, options.seed), files, log)
    flags = ["-q", "-s", "-n", "0", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    # liptest is imported before pytest could rewrite its assertions: it has none of tests.
    flags += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = pytest.main([*flags, *tests], plugins=[plugin])
    return int(bool(plugin.counts["LIVED"])) or int(code not in (0, 5))


if __name__ == "__main__":
    sys.exit(main())
