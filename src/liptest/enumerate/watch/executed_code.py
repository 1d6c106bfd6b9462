"""Which code a law has run: cheaper to note than what each of its calls does.

Python's profiling hook costs a call for each call. Where only some of the code that a program can
reach must be looked at, the runs of a law are noted by the profiler that is written in C; only
where such code has run are they repeated with the hook.
"""

from __future__ import annotations

import cProfile
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType

from liptest.enumerate.intercept.replaceable_names import FOREIGN

_OWN = str(Path(__file__).resolve().parents[2]) + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_FROZEN = "<frozen "


class ExecutedCode:
    """A context that notes all code that runs within it."""

    def __init__(self) -> None:
        self._profiler = cProfile.Profile(builtins=False)

    def __enter__(self) -> ExecutedCode:
        self._profiler.enable()
        return self

    def __exit__(self, *error: object) -> None:
        self._profiler.disable()

    @staticmethod
    def is_possible() -> bool:
        """Whether no other profiler is on: from Python 3.12 on there may be one of them."""
        if sys.version_info < (3, 12):
            return True
        return sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is None

    def codes(self) -> Iterator[CodeType]:
        """Code of the program that has run."""
        own = _find_generated_code(len(sys.modules))
        for entry in self._profiler.getstats():
            code = entry.code
            if isinstance(code, CodeType) and id(code) not in own and not _is_of_others(code):
                yield code


def _is_of_others(code: CodeType) -> bool:
    """Whether code is that of liptest, of the standard library, NumPy or alike."""
    name = code.co_filename
    if name.startswith(_LIBRARY):
        return "-packages" not in name[len(_LIBRARY) :]
    return name.startswith((_OWN, _FROZEN, *_packages(len(sys.modules))))


@lru_cache(maxsize=1)
def _packages(modules: int) -> tuple[str, ...]:
    """Folders of packages that are not part of any program; anew where more modules are loaded."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in FOREIGN)
    return tuple(
        os.path.dirname(file) + os.sep
        for file in files
        if isinstance(file, str) and file.endswith("__init__.py")
    )


@lru_cache(maxsize=1)
def _find_generated_code(modules: int) -> dict[int, CodeType]:
    """Methods of liptest that dataclasses and named tuples wrote, which no file holds; by id."""
    codes = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "liptest":
            continue
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__.startswith("liptest"):
                for member in vars(kind).values():
                    method = getattr(member, "__func__", member)  # __new__ is a static method
                    if type(method) is FunctionType and method.__code__.co_filename == "<string>":
                        codes[id(method.__code__)] = method.__code__
    return codes
