"""Finding what a command line names: mechanisms and samplers in files or packages."""

from __future__ import annotations

import ast
import dis
import importlib.util
import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from liptest.blackbox.samplers import Sampler
from liptest.cli.usage_examples import TABLES, functions_of_file
from liptest.data.domains import Domain
from liptest.enumerate.python_function import PythonFunction
from liptest.errors import InputError, quote
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.runs.fingerprints import is_local, module_of_file
from liptest.statistics.named import find_named_statistic


def load_object(where: str) -> tuple[Any, str]:
    """The object named ``file.py:name`` or ``package.module:name``, and a label for it.

    A name with points is a method or attribute: ``file.py:counter.release``.

    Raises InputError when there is no such file, module or name, or when importing it fails.
    """
    check_names_object(where)
    source, _, name = where.rpartition(":")
    module = _module(source)
    first, *inner = name.split(".")
    if inner and hasattr(module, first):
        loaded = _attribute(getattr(module, first), first, inner)
        return loaded, make_label(where)
    if not hasattr(module, name):
        names = sorted(
            n
            for n, value in vars(module).items()
            if not n.startswith("_") and not isinstance(value, ModuleType)
        )
        near = get_close_matches(name, names, 1)
        there = f"it has: {', '.join(names[:12])}" if names else "it defines nothing"
        raise InputError(
            f"{source} has no object {name!r}; {f'did you mean {near[0]!r}?' if near else there}",
            name="mechanism",
        )
    return getattr(module, name), make_label(where)


def check_names_object(where: str) -> None:
    """Raise InputError where a text does not name an object, or a file that is not here."""
    source, colon, name = where.rpartition(":")
    if source.endswith(":"):
        written = f"{source.rstrip(':')}:{name}"
        raise InputError(
            f"{quote(where)} has one colon too many; write {written}", name="mechanism"
        )
    if where.lower().endswith(TABLES):
        raise InputError(
            f"{where}: it is a table, not code; name the function first, mine.py:count, and a "
            f"public table by --table {where}",
            name="mechanism",
        )
    if not colon or not source or not name:
        raise InputError(
            f"{quote(where)} does not name an object; write {_write(where)}", name="mechanism"
        )
    if not source.endswith(".py") and Path(source).is_file():
        fix = "name the .py file of the function, mine.py:count"
        if source.endswith(".ipynb"):
            fix = "put the function into a .py file, or call lt.check_privacy in the notebook"
        raise InputError(f"{source}: it is not a Python file; {fix}", name="mechanism")
    if source.endswith(".py") and not Path(source).is_file():
        what = "it is a folder" if Path(source).is_dir() else "there is no such file"
        raise InputError(f"{source}: {what}", name="mechanism")


def _write(where: str) -> str:
    """How an object is named; of a file that is here by one of its names."""
    if where.endswith(".py") and not Path(where).is_file():
        return "file.py:name; there is no such file here"
    if Path(where).is_dir():
        return "a file in this folder, file.py:name"
    file, _, name = where.rpartition(".")
    if not where.endswith(".py") and name in functions_of_file(Path(f"{file}.py")):
        return f"{file}.py:{name}"
    names = functions_of_file(Path(where)) if where.endswith(".py") else []
    if not names:
        return _in_a_file_here(where) or "file.py:name or package.module:name"
    return f"{where}:{names[0]}; it has: {', '.join(names[:12])}"


# Files of a folder in which a name is looked up.
_MOST_FILES = 50


def _in_a_file_here(name: str) -> str:
    """How the one function of this name in the files of this folder is named; else ""."""
    files = sorted(Path().glob("*.py"))[:_MOST_FILES]
    found = [str(file) for file in files if name in functions_of_file(file)]
    return f"{found[0]}:{name}" if len(found) == 1 else ""


def make_label(where: str) -> str:
    """What a mechanism is called in answers: without folders."""
    source, _, name = where.rpartition(":")
    return f"{Path(source).stem if source.endswith('.py') else source}:{name}"


def _attribute(found: Any, said: str, names: list[str]) -> Any:
    """A method or attribute of an object, such as ``counter.release``."""
    for name in names:
        try:
            found = getattr(found, name)
        except AttributeError:
            there = sorted(attribute for attribute in dir(found) if not attribute.startswith("_"))
            near = get_close_matches(name, there, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"{said} has no attribute {name!r}; it has: {', '.join(there[:12])}{meant}",
                name="mechanism",
            ) from None
        said = f"{said}.{name}"
    return found


def load_mechanism(
    where: str,
    statistic: str | None = None,
    frame: str | None = None,
    domain: Callable[[], Domain] | None = None,
) -> tuple[Mechanism, str]:
    """A mechanism and its label; a plain function ``(data, rng)`` is taken as one.

    With the name of a statistic a function gets this of a dataset, and not the dataset; ``frame``
    says whose frames it gets of a table, "pandas" or "polars". Objects of other libraries that do
    not say their ``domain`` get the one that is given.
    """
    loaded, label = load_object(where)
    if statistic is not None:
        return _of_statistic(loaded, label, statistic), label
    if _is_sampler(loaded):
        raise InputError(
            f"mechanism={label} draws samples (dataset, n, rng), and has no output distribution; "
            f"test it with liptest samples {where}",
            name="mechanism",
            value=loaded,
        )
    _warn_of_no_answer(loaded, label)
    try:
        checked = check_mechanism(loaded)
    except InputError as error:
        if error.name != "domain" or domain is None:
            raise
        checked = check_mechanism(loaded, domain())
    if frame is not None and isinstance(checked, PythonFunction):
        checked = replace(checked, frame=frame)
    return checked, label


# What ends in an iterator or something to wait for returns that, without ``return``.
_NO_PLAIN_CALL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _warn_of_no_answer(found: Any, label: str) -> None:
    """Of a function without ``return`` every claim holds, which is seldom what is meant."""
    if not isinstance(found, FunctionType) or found.__code__.co_flags & _NO_PLAIN_CALL:
        return
    steps = list(dis.get_instructions(found))
    ends = [at for at, step in enumerate(steps) if step.opname == "RETURN_VALUE"]
    given = [steps[at - 1] for at in ends]
    given += [step for step in steps if step.opname == "RETURN_CONST"]
    is_none = [step.opname.endswith("_CONST") and step.argval is None for step in given]
    if given and all(is_none):
        fix = "; write return in place of print" if "print" in found.__code__.co_names else ""
        warnings.warn(f"{label} returns no value: every output is None{fix}", stacklevel=2)


def load_sampler(where: str, *, scalar: bool) -> tuple[Sampler, str]:
    """The sampler of that name, or the function of that name as one; and a label for it."""
    with mute_output():
        loaded, label = load_object(where)
    return loaded if isinstance(loaded, Sampler) else Sampler(loaded, vectorised=not scalar), label


def _of_statistic(found: Any, label: str, statistic: str) -> Mechanism:
    if isinstance(found, (Mechanism, Sampler, type)) or not callable(found):
        raise InputError(
            f"statistic={statistic}: mechanism={label} is not a plain function; leave --statistic "
            f"out, or name a function (value, rng)",
            name="statistic",
            value=statistic,
        )
    known = find_named_statistic(statistic)
    return PythonFunction(found, statistic=known, name=label.rpartition(":")[2])


@contextmanager
def mute_output() -> Iterator[None]:
    """Standard output is ours: code under test must not be able to print a verdict."""
    with open(os.devnull, "w", encoding="utf-8") as sink, redirect_stdout(sink):
        yield


def _is_sampler(found: Any) -> bool:
    """An ``lt.Sampler``, or a plain function with arguments as one wraps them."""
    if isinstance(found, Sampler):
        return True
    if not isinstance(found, FunctionType):
        return False
    return tuple(inspect.signature(found).parameters)[1:] == ("n", "rng")


def find_definition(where: str) -> tuple[Path | None, int | None]:
    """File, and line of the definition in it, of an object that ``load_object`` has loaded."""
    source, _, name = where.rpartition(":")
    module = None if source.endswith(".py") else sys.modules.get(source)
    file = Path(source) if module is None else Path(getattr(module, "__file__", None) or "")
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None, None
    first = name.partition(".")[0]
    lines = [node.lineno for node in tree.body if first in _bound_by(node)]
    return file, lines[-1] if lines else None


def _bound_by(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)):
        targets = [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _module(source: str) -> ModuleType:
    try:
        if source.endswith(".py"):
            return _from_file(Path(source))
        use_folder(None)
        _find_here(source.partition(".")[0])
        return importlib.import_module(source)
    except InputError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a vendor's file may do anything, exit included
        raise InputError(
            f"{source}: importing it failed with {type(error).__name__}: {quote(str(error), 200)}"
            f"{_find_line(source, error)}{_hint(source, error)}",
            name="mechanism",
        ) from None


def _find_here(name: str) -> None:
    """Let a module of the folder in which one is be found, after all that is installed."""
    here = Path.cwd()
    is_here = (here / name).is_dir() or (here / f"{name}.py").is_file()
    if is_here and str(here) not in sys.path and importlib.util.find_spec(name) is None:
        sys.path.append(str(here))


def _find_line(source: str, error: BaseException) -> str:
    """The line of the file at which its import failed."""
    steps = traceback.extract_tb(error.__traceback__)
    inside = [step for step in steps if Path(step.filename) == Path(source).resolve()]
    return f" ({source}:{inside[-1].lineno}: {inside[-1].line})" if inside else ""


def _hint(source: str, error: BaseException) -> str:
    """What to write instead, of imports that often fail."""
    if isinstance(error, ModuleNotFoundError) and error.name and source.endswith(".py"):
        return f"; install it beside liptest, or put {error.name}.py beside {source}"
    if isinstance(error, SystemExit) or "sys.argv" in _find_line(source, error):
        return "; put what runs a program below if __name__ == '__main__':"
    if "attempted relative import" in str(error) and source.endswith(".py"):
        parts = [Path(source).stem]
        folder = Path(source).resolve().parent
        while (folder / "__init__.py").is_file():
            parts, folder = [folder.name, *parts], folder.parent
        if len(parts) == 1:
            return "; it is in no package: write from name import .., without the dot"
        return f"; it is part of a package: name it {'.'.join(parts)}:.. in the folder {folder}"
    if "null bytes" in str(error):
        return "; save the file as UTF-8 text"
    return ""


def _from_file(path: Path) -> ModuleType:
    full = path.resolve()
    use_folder(full.parent)
    # One name per file, so that two vendors' files of one name do not meet, and functions pickle.
    name = module_of_file(full)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, full)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with import_first(full.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


# Modules beside different vendors' files are kept apart. Two vendors may each have a helper.py.
# Python knows one module of a name, so the second vendor would be tested with the helper of the
# first. Here each folder has its own shelf: only the modules of the folder in use are known to
# Python, also for imports inside of functions.


Modules = dict[str, ModuleType]
_shelves: dict[Path, Modules] = {}
# Modules from elsewhere that have the name of a file in the folder in use.
_hidden: Modules = {}
_in_use: Path | None = None
# Modules that were there before any vendor's are never taken away.
_before: frozenset[str] = frozenset()


def use_folder(folder: Path | None) -> None:
    """Let the modules beside a vendor's file be known, and no other vendor's.

    ``folder`` is resolved; None stands for a mechanism of an installed package.
    """
    global _in_use, _before
    if folder == _in_use:
        return
    if _in_use is None:
        _before = frozenset(sys.modules)
    else:
        _put_away(_in_use)
    _in_use = folder
    if folder is not None:
        _hidden.update(_take(lambda name, module: _clashes(name, module, folder)))
        sys.modules.update(_shelves.pop(folder, {}))
        sys.path.append(str(folder))


@contextmanager
def import_first(folder: Path) -> Iterator[None]:
    """Modules of the folder in use come first while its file is imported, last afterwards."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _put_away(folder: Path) -> None:
    _shelves[folder] = _take(lambda name, module: name not in _before and _lies_in(module, folder))
    sys.modules.update(_hidden)
    _hidden.clear()
    if str(folder) in sys.path:
        # The last one is ours: the user may have named the folder himself.
        place = len(sys.path) - 1 - sys.path[::-1].index(str(folder))
        del sys.path[place]


def _take(chosen: Callable[[str, ModuleType], bool]) -> Modules:
    loaded = [item for item in sys.modules.items() if not item[0].startswith("_liptest_")]
    taken = {name: module for name, module in loaded if chosen(name, module)}
    for name in taken:
        del sys.modules[name]
    return taken


def _clashes(name: str, module: ModuleType, folder: Path) -> bool:
    """Whether the folder has a module of this name, and this is another one of somebody else."""
    base = folder / name.partition(".")[0]
    if not (base.with_suffix(".py").is_file() or base.is_dir()) or _lies_in(module, folder):
        return False
    return any(is_local(path) for path in _places(module))


def _lies_in(module: ModuleType, folder: Path) -> bool:
    return any(path.is_relative_to(folder) and is_local(path) for path in _places(module))


def _places(module: ModuleType) -> list[Path]:
    places: list[object] = [getattr(module, "__file__", None)]
    # Some modules answer every attribute with an object of their own.
    with suppress(Exception):
        places += list(getattr(module, "__path__", ()))
    return [Path(place).resolve() for place in places if isinstance(place, str) and place]
