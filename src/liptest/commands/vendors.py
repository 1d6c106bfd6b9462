"""Keeps apart the modules that lie beside different vendors' files.

Two vendors may each have a ``helper.py``. Python knows one module of a name, so the second vendor
would be tested with the helper of the first. Here each folder has its own shelf: only the modules
of the folder in use are known to Python, also for imports inside of functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from liptest.runs.fingerprints import is_local

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
        _hidden.update(_taken(lambda name, module: _clashes(name, module, folder)))
        sys.modules.update(_shelves.pop(folder, {}))
        sys.path.append(str(folder))


@contextmanager
def imported_first(folder: Path) -> Iterator[None]:
    """Modules of the folder in use come first while its file is imported, last afterwards."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _put_away(folder: Path) -> None:
    _shelves[folder] = _taken(lambda name, module: name not in _before and _lies_in(module, folder))
    sys.modules.update(_hidden)
    _hidden.clear()
    if str(folder) in sys.path:
        # The last one is ours: the user may have named the folder himself.
        place = len(sys.path) - 1 - sys.path[::-1].index(str(folder))
        del sys.path[place]


def _taken(chosen: Callable[[str, ModuleType], bool]) -> Modules:
    known = [item for item in sys.modules.items() if not item[0].startswith("_liptest_")]
    found = {name: module for name, module in known if chosen(name, module)}
    for name in found:
        del sys.modules[name]
    return found


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
