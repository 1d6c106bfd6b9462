"""What may be analysed, and how a function is found again in another process."""

from __future__ import annotations

import inspect
import sys
from functools import reduce
from importlib import import_module
from typing import Any

from liptest.errors import InputError, shown


def takes_generator(function: Any) -> bool:
    """Whether the function wants ``(data, rng)``; else it takes ``(data)`` only.

    Raises InputError when it takes neither, or yields instead of returning.
    """
    name = getattr(function, "__name__", type(function).__name__)
    if not callable(function) or isinstance(function, type):
        raise InputError(
            f"function={shown(function)} must be a function (data, rng) -> output", name="function"
        )
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise InputError(f"function={name} must return its output, not yield it", name="function")
    try:
        signature = inspect.signature(function)
    except ValueError:
        return True
    if _binds(signature, None, None):
        return True
    if _binds(signature, None):
        return False
    raise InputError(
        f"function={name} takes ({', '.join(signature.parameters)}); it must take (data, rng): one "
        f"dataset, or the value of its statistic, and a random generator; or (data) only, if it "
        f"draws from random or numpy.random",
        name="function",
    )


def _binds(signature: inspect.Signature, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def found(module: str, qualname: str) -> Any:
    """The object of that name in a module that is loaded, or None."""
    parts = qualname.split(".")
    return reduce(lambda owner, part: getattr(owner, part, None), parts, sys.modules.get(module))


def imported(module: str, qualname: str) -> Any:
    """The object of that name; its module is imported first."""
    import_module(module)
    return found(module, qualname)
