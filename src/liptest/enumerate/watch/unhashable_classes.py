"""Classes of a metaclass without a hash, which no table of classes can be asked for.

A metaclass that says what equals and nothing else has none. Objects of such classes are rare, and
each place of an analysis that looks up the class of an object would have to think of them: code
that holds or answers one is refused, in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from liptest.errors import InputError, MechanismError

_WORDS = re.compile(r"unhashable type: '([^']+)'")
_ADVICE = "write `__hash__ = type.__hash__` into that metaclass"


def has_hash(kind: type) -> bool:
    """Whether a class can be looked up."""
    return type(kind).__hash__ is not None


def check_class_has_hash(function: Any) -> None:
    """InputError for a callable whose class has none."""
    kind = type(function)
    if not has_hash(kind):
        raise InputError(
            f"function: the metaclass {type(kind).__name__} of its class {kind.__name__} has no "
            f"__hash__, so the class cannot be looked up; {_ADVICE}",
            name="function",
        )


@contextmanager
def unhashable_classes_refused(name: str) -> Iterator[None]:
    """MechanismError where an analysis met a class that has none."""
    try:
        yield
    except TypeError as error:
        match = _WORDS.search(str(error))
        if match is None or match[1] not in _metaclasses_without_hash():
            raise
        raise MechanismError(
            f"{name}: it holds or answers an object whose class has the metaclass {match[1]}, "
            f"which has no __hash__, so the class cannot be looked up; {_ADVICE}"
        ) from error


def _metaclasses_without_hash() -> set[str]:
    seen: list[type] = [type]
    for kind in seen:
        seen += type.__subclasses__(kind)
    return {kind.__name__ for kind in seen if kind.__hash__ is None}
