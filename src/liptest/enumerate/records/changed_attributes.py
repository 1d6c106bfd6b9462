"""Objects of a program that loops over its records change: ``server.counts[told] += 1``.

What such a loop leaves in the object is later code of what each pass adds, where the treatment of a
record reads nothing that is changed (docs/theory/records.md, P2d). That is checked when it runs,
with the objects at hand.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import getattr_static
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.loops.written_out import OwnMethod
from liptest.enumerate.records.record_code import NotAlike
from liptest.enumerate.records.record_values import (
    attribute_in_place,
    is_class_of_program,
    is_plain_object,
    look_up_name,
    original_of,
)

Lookup = Callable[[str], Any]
_MISSING: Any = object()
_NUMBERS = (int, float, bool, complex, str, bytes, type(None), np.generic)
_HOLDERS = (list, tuple, dict, set, frozenset, Counter, defaultdict, deque, np.ndarray)
# Objects in objects, so deep.
_DEEPEST = 4


@dataclass(frozen=True)
class Outside:
    """What rewritten statements name beyond the names of their function.

    ``names`` are names of other modules, ``methods`` what was written out, and ``attributes`` what
    loops change, by the lists that they fill.
    """

    names: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    methods: tuple[OwnMethod, ...] = ()
    attributes: dict[str, frozenset[str]] = field(default_factory=dict)
    #: Objects that earlier runs changed; a run that finds them again shares them.
    _seen: list[Any] = field(default_factory=list)

    def values(self) -> dict[str, Any]:
        """What the names stand for now."""
        return {new: look_up_name(name, space) for new, (space, name) in self.names.items()}

    def check_methods(self, lookup: Lookup) -> None:
        """Whether what was written out is what would be called. Raises NotAlike."""
        for method in self.methods:
            owner = lookup(method.owner)
            if owner is _MISSING or not is_plain_object(owner):
                continue
            held = original_of(attribute_in_place(owner, method.name))
            if type(owner) is not method.kind or held is not method.function:
                raise NotAlike(
                    f"{method.owner}.{method.name}, which is not the method of its class,"
                )

    def check_changes(self, told: str, lookup: Lookup, read: list[Any]) -> set[str]:
        """Whether nothing that a loop changes is read by its passes, or by other runs.

        ``read`` are the objects that the passes read. Gives the attributes that are arrays or lists
        of numbers and the like, into which whole numbers of all types point alike. Raises NotAlike.
        """
        names = sorted(self.attributes.get(told, ()))
        if not names:
            return set()
        parts = [part for held in read for part in _parts(held)]
        with_places = set()
        for name in names:
            changed = _resolve(name, lookup)
            own = list(_parts(changed))
            if any(_shares(one, other) for one in own for other in parts):
                raise NotAlike(f"{name}, which the treatment of a record reads and changes,")
            if any(_shares(one, other) for one in own for other in self._seen):
                raise NotAlike(f"{name}, an object that all calls of the function share,")
            if _points_alike(changed):
                with_places.add(name)
        self._note(lookup, told)
        return with_places

    def _note(self, lookup: Lookup, told: str) -> None:
        if not self._seen:
            for name in self.attributes.get(told, ()):
                self._seen.extend(_parts(_resolve(name, lookup)))


def changed_names(attributes: frozenset[str]) -> frozenset[str]:
    """The last names of attributes, which the treatment of a record may not read of any object."""
    return frozenset(name.rpartition(".")[2] for name in attributes)


def makes_plain_objects(kind: type) -> bool:
    """Whether a class is the program's, and its objects keep attributes as Python does."""
    if not is_class_of_program(kind):
        return False
    usual = {name: getattr(object, name) for name in ("__setattr__", "__delattr__")}
    if any(getattr_static(kind, name, None) is not own for name, own in usual.items()):
        return False
    return getattr_static(kind, "__new__", None) is object.__new__


def _resolve(name: str, lookup: Lookup) -> Any:
    first, *others = name.split(".")
    value = lookup(first)
    for other in others:
        is_plain = is_plain_object(value) and makes_plain_objects(type(value))
        value = attribute_in_place(value, other, _MISSING) if is_plain else _MISSING
    if value is _MISSING or not isinstance(value, (*_NUMBERS, *_HOLDERS)):
        raise NotAlike(f"{name}, which is changed, and is not a number, a list or an array,")
    return value


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """What can be changed in an object, itself among it. Raises NotAlike for what is not known."""
    if isinstance(value, (*_NUMBERS, FunctionType, type, np.dtype)):
        return
    if type(value) not in _HOLDERS or depth > _DEEPEST:
        raise NotAlike(f"a {type(value).__name__} in an object that is changed")
    yield value
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise NotAlike("an array of objects in an object that is changed")
        return
    inside = [*value, *value.values()] if isinstance(value, dict) else value
    for entry in inside:
        yield from _parts(entry, depth + 1)


def _shares(one: Any, other: Any) -> bool:
    if one is other:
        return not isinstance(one, (tuple, frozenset))
    are_arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    return are_arrays and np.may_share_memory(one, other)


def _points_alike(value: Any) -> bool:
    """Whether it is an array, or a list of numbers, or a list of such lists."""
    if type(value) is np.ndarray:
        return True
    return type(value) is list and all(
        isinstance(entry, _NUMBERS) or _points_alike(entry) for entry in value
    )
