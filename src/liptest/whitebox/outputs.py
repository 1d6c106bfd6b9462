"""Outputs of Python functions in a form in which equal ones compare equal."""

from __future__ import annotations

import math
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from liptest.errors import MechanismError
from liptest.mechanisms.laws import Output, Raised
from liptest.whitebox.uniforms import RANDOM_NUMBERS

_PLAIN = frozenset({int, str, bool, bytes, type(None)})
# Each of these is one object with one meaning, so that identity is equality.
_SINGLE = (Enum, type, FunctionType, BuiltinFunctionType, type(...), type(NotImplemented))


def canonical(output: Any, name: str) -> Output:
    """The output as a hashable value: numpy scalars as Python's, every NaN as ``math.nan``.

    Entries of tuples and frozensets are treated alike.

    Raises
    ------
    MechanismError
        The output is unhashable, or compares by identity; the message says what to return.
        It begins with ``name``, the mechanism's, and does not quote the output.
    """
    kind = type(output)
    if kind in _PLAIN:
        return output  # type: ignore[no-any-return]
    if kind in RANDOM_NUMBERS:
        output.escape("the output")
    if kind is float:
        return output if output == output else math.nan
    if kind is tuple and _PLAIN.issuperset(map(type, output)):
        return output  # type: ignore[no-any-return]
    if isinstance(output, tuple):
        entries = (canonical(entry, name) for entry in output)
        return kind._make(entries) if hasattr(kind, "_make") else tuple(entries)
    if isinstance(output, frozenset):
        return frozenset(canonical(entry, name) for entry in output)
    if isinstance(output, np.generic):
        plain = output.item()
        if isinstance(plain, np.generic):
            return _hashable(plain, name)
        return canonical(plain, name)
    return _hashable(output, name)


def raised(error: BaseException) -> Raised:
    """The output "an exception of this type was raised"."""
    kind = type(error)
    if kind.__module__ == "builtins":
        return Raised(kind.__qualname__)
    # The main module of a worker process has another name.
    module = "__main__" if kind.__module__ == "__mp_main__" else kind.__module__
    return Raised(f"{module}.{kind.__qualname__}")


def _hashable(output: Any, name: str) -> Output:
    kind = type(output)
    equality: Any = kind.__eq__
    if equality is object.__eq__ and not isinstance(output, _SINGLE):
        raise MechanismError(
            f"{name}: an output of type {kind.__name__} compares by identity, so no two runs give "
            f"the same; return a number, a string or a tuple of them"
        )
    try:
        hash(output)
    except Exception:
        pass
    else:
        return output  # type: ignore[no-any-return]
    raise MechanismError(
        f"{name}: an output of type {kind.__name__} is unhashable; {_advice(output)}"
    )


def _advice(output: Any) -> str:
    if isinstance(output, np.ndarray):
        return ("return array.item()" if output.ndim == 0 else "return tuple(array.tolist())") + (
            ", for more dimensions tuple(map(tuple, array.tolist()))" if output.ndim > 1 else ""
        )
    if isinstance(output, dict):
        return "return tuple(sorted(output.items()))"
    if isinstance(output, set):
        return "return frozenset(output)"
    return "return tuple(output), with tuples for the lists inside"
