"""pandas imports pyarrow for itself; what a program asks pandas to import is for the program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from liptest.enumerate.watch.compiled_code import is_import_of_parts


def called_through(*modules: str) -> Callable[[Callable[[], Any]], Any]:
    """A function of each of these modules, from the outermost, which calls the next one."""

    def call(innermost: Callable[[], Any]) -> Any:
        inner = innermost
        for module in reversed(modules):
            space: dict[str, Any] = {"__name__": module, "inner": inner}
            exec("def outer():\n    return inner()", space)
            inner = space["outer"]
        return inner()

    return call


@pytest.mark.parametrize(
    ("callers", "imported", "is_own"),
    [
        (("program", "pandas.core.frame", "pandas.compat", "importlib"), "pyarrow", True),
        (("program", "pandas.core.frame", "pandas.compat", "importlib"), "pyarrow.lib", True),
        (("program", "pandas.compat", "importlib"), "pyarrow", False),
        (("program", "importlib"), "pyarrow", False),
        (("program", "pandas.core.frame", "pandas.compat", "importlib"), "settings", False),
        (("program", "numpy.core", "numpy.compat", "importlib"), "pyarrow", False),
    ],
)
def test_who_imports_is_told_by_the_callers(
    callers: tuple[str, ...], imported: str, is_own: bool
) -> None:
    asked = called_through(*callers)(lambda: is_import_of_parts(sys._getframe().f_back, imported))
    assert asked is is_own
