"""Whether a function is one of (data, rng) or of (data) alone, by its signature."""

from __future__ import annotations

import inspect
from typing import Any

from liptest.errors import InputError, shown


def takes_generator(function: Any) -> bool:
    """Whether the function wants ``(data, rng)``; else it takes ``(data)`` only.

    A second parameter with a default is a generator only where its name, annotation or default
    says so: others, as ``epsilon=1.0``, keep their defaults.

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
        return not _has_another_second(signature)
    if _binds(signature, None):
        return False
    raise InputError(
        f"function={name} takes {_bare(signature)}; it must take (data, rng): one dataset, or the "
        f"value of its statistic, and a random generator; or (data) only, if it draws from random "
        f"or numpy.random; bind other parameters with functools.partial, or give them defaults",
        name="function",
    )


def _has_another_second(signature: inspect.Signature) -> bool:
    """Whether the second parameter has a default and is not a generator."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [one for one in signature.parameters.values() if one.kind in positional]
    if len(places) < 2 or places[1].default is inspect.Parameter.empty:
        return False
    second = places[1]
    says = f"{second.name} {second.annotation} {type(second.default).__name__}".lower()
    return not any(word in says for word in ("rng", "generator"))


def _bare(signature: inspect.Signature) -> str:
    """A signature without annotations."""
    parameters = [
        one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _binds(signature: inspect.Signature, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True
