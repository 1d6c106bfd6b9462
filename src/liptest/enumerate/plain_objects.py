"""Objects of the program whose attributes are what is kept in them: no code runs when one is read.

A client of a local protocol, say, that holds its probabilities and is asked once for each record
(docs/theory/records.md).
"""

from __future__ import annotations

from inspect import getattr_static
from types import FunctionType
from typing import Any

from liptest.enumerate.replaceable_names import is_foreign

# With these of a class, an attribute may be calculated.
_CALCULATING = ("__getattribute__", "__getattr__", "__slots__")


def is_plain_object(value: Any) -> bool:
    """Whether it is an object of the program that keeps its attributes as Python does."""
    kind = type(value)
    if type(kind) is not type or "__dict__" not in dir(kind) or is_foreign(kind.__module__):
        return False
    if kind.__module__.partition(".")[0] in ("builtins", "liptest"):
        return False
    classes = [one for one in kind.__mro__ if one is not object]
    return not any(name in vars(one) for one in classes for name in _CALCULATING)


def attribute_in_place(value: Any, name: str, missing: Any = None) -> Any:
    """An attribute of a plain object, or the function behind a method; ``missing`` for others.

    Properties and other descriptors are others.
    """
    held = vars(value)
    of_class = getattr_static(type(value), name, missing)
    is_method = isinstance(of_class, FunctionType)
    if not is_method and any(hasattr(type(of_class), own) for own in ("__get__", "__set__")):
        return missing
    return held.get(name, of_class)
