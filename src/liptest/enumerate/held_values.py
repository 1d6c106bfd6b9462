"""What objects hold that a loop over records adds to: ``self.total += v``, ``self.counts[k] += 1``.

A number cannot change by another name. A table can, so nothing else may hold it: its references are
counted.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from types import MemberDescriptorType
from typing import Any

import numpy as np

from liptest.enumerate.pure_code import NUMBERS
from liptest.values.protocol import is_symbolic

_DICTS = (dict, Counter, defaultdict)
_MISSING = object()
# As it is outside of an analysis.
_references = sys.getrefcount


def held_number(owner: Any, attribute: str) -> Any:
    """The number that an object holds, where reading and writing it runs no code of its class.

    Raises TypeError for all others.
    """
    value = _held(owner, attribute, in_class=True)
    if type(value) in NUMBERS or is_symbolic(value):
        return value
    raise _refused(owner, attribute)


def held_object(owner: Any, attribute: str) -> Any:
    """The same of any object that it holds."""
    return _held(owner, attribute)


def held_table(owner: Any, attribute: str) -> Any:
    """The same of a list, dict or array; nothing else holds it, or its entries."""
    value = _held(owner, attribute)
    kind = type(value)
    is_own = kind is np.ndarray and value.base is None and not value.dtype.hasobject
    if kind is list:
        is_own = _most_holders(value) <= _ONE_HOLDER
    elif kind in _DICTS:
        is_own = _most_holders(value.values()) <= _ONE_HOLDER
    del value
    if is_own and _count_holders(owner, attribute) <= _count_holders(_Fresh(), "table"):
        return _held(owner, attribute)
    raise _refused(owner, attribute)


def _held(owner: Any, attribute: str, *, in_class: bool = False) -> Any:
    """What an object, or else its class, holds. Raises TypeError where that runs code of it."""
    kind = type(owner)
    found = inspect.getattr_static(kind, attribute, _MISSING)
    is_slot = type(found) is MemberDescriptorType
    reader: Any = kind.__getattribute__
    writer: Any = kind.__setattr__
    is_bare = reader is object.__getattribute__ and writer is object.__setattr__
    value = _MISSING
    if is_bare and is_slot:
        value = getattr(owner, attribute, _MISSING)
    elif is_bare and not hasattr(type(found), "__set__"):
        value = vars(owner).get(attribute, found if in_class else _MISSING)
    if value is _MISSING:
        raise _refused(owner, attribute)
    return value


def _refused(owner: Any, attribute: str) -> TypeError:
    kind = type(owner).__name__
    return TypeError(f".{attribute} of a {kind} is added to in a loop over the records")


class _Fresh:
    """Holds a table that nothing else does."""

    def __init__(self) -> None:
        self.table: list[Any] = []


def _count_holders(owner: Any, attribute: str) -> int:
    return _references(_held(owner, attribute))


def _most_holders(entries: Iterable[Any]) -> int:
    """The most references to an entry that can change."""
    return max((_references(one) for one in entries if type(one) not in NUMBERS), default=0)


_ONE_HOLDER = _most_holders([[]])
