"""What objects of users and of other libraries may have or lack.

Our own classes have a default for all that is optional, so nobody probes them. This is the one
file that asks an object for an attribute by its name, one function for each question.
"""

from __future__ import annotations

import math
from typing import Any


def looks_like_frame(table: Any) -> bool:
    """Whether it is a table of any library of frames."""
    return hasattr(table, "collect_schema") or hasattr(table, "columns")


def has_names(kind: Any) -> bool:
    """Whether a type of tuples is one of named tuples, which have no class of their own."""
    return hasattr(kind, "_make")


def names_of_axis(keys: Any) -> tuple[Any, ...] | None:
    """What an index of pandas calls its levels; None of lists, which have no names."""
    return tuple(keys.names) if hasattr(keys, "names") else None


def type_of_cell(cell: Any) -> Any:
    """The dtype of an entry of an array of objects, else its type; plain entries have no dtype."""
    return getattr(cell, "dtype", type(cell))


def list_attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object itself, by name; none for types without room for them."""
    return dict(getattr(value, "__dict__", {}))


def holds_bits(seed: Any) -> bool:
    """Whether NumPy takes a seed for a bit generator."""
    return hasattr(seed, "capsule")


def source_of_compiled(function: Any) -> Any:
    """The Python function that Numba compiled, or None."""
    return getattr(function, "py_func", None)


def count_workers(executor: Any) -> int | None:
    """How many workers an executor has; None for one that does not tell, as none need."""
    return getattr(executor, "_max_workers", None)


def code_of_error(error: Any) -> int:
    """The code that SQLite gave an error; 0 for errors of the module ``sqlite3`` itself."""
    return int(getattr(error, "sqlite_errorcode", 0))


def find_sensitivity(mechanism: Any) -> Any:
    """The sensitivity of a mechanism of diffprivlib; 1 for those on two values or categories."""
    return getattr(mechanism, "sensitivity", 1)


def find_range(mechanism: Any) -> tuple[Any, Any]:
    """Lower and upper end of what a mechanism of diffprivlib takes; infinite without one."""
    return getattr(mechanism, "lower", -math.inf), getattr(mechanism, "upper", math.inf)
