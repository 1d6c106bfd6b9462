"""What code asks of the kind of a number: ``type``, ``hasattr`` and ``getattr``.

What stands for a random number is of a class of its own, with methods of its own. Python's
functions would tell that, and a leaf that asks them, if it is not repeated, would have another
answer than a real run. So in the modules of the program, and wherever it holds one of them under
another name, they stand meanwhile for what answers as for plain numbers.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from liptest.enumerate.analysis_session import Session, class_for, kept_follower
from liptest.enumerate.program_modules import ProgramModules, has_builtins, loads_global
from liptest.enumerate.replaceable_names import Site, is_others, names_in
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import Symbolic

# What a symbolic value may stand for that has no attributes but those of its class.
_PLAIN = (bool, int, float, complex, np.generic, np.ndarray)
_GETATTR, _HASATTR = getattr, hasattr


def _plain_kind(value: Any) -> Any:
    """The class of the plain number, or array, that a value stands for; None of all else."""
    if not issubclass(type(value), Symbolic):
        return None
    kind = value.__class__
    return kind if issubclass(kind, _PLAIN) else None


def _kind_of(session: Session, *arguments: Any, **options: Any) -> Any:
    if len(arguments) != 1 or options:
        return None
    [value] = arguments
    if issubclass(type(value), Symbolic):
        return value.__class__
    # As code compares it with the name, which is the stand-in there.
    return TYPE if type(value) is type else None


@raises_as_numpy
def _has(session: Session, *arguments: Any) -> bool:
    kind = _plain_kind(arguments[0]) if len(arguments) == 2 else None
    return _HASATTR(*arguments) if kind is None else _is_named(kind, arguments[1])


def _is_named(kind: type, name: str) -> bool:
    """Whether objects of a class have an attribute, and not only the class itself."""
    return any(name in vars(base) for base in kind.__mro__)


@raises_as_numpy
def _get(session: Session, *arguments: Any) -> Any:
    kind = _plain_kind(arguments[0]) if len(arguments) in (2, 3) else None
    if kind is None or _is_named(kind, arguments[1]):
        return _GETATTR(*arguments)
    if len(arguments) == 3:
        return arguments[2]
    raise AttributeError(_without(kind, arguments[1]))


def _without(kind: type, name: str) -> str:
    named = f"{kind.__module__}.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
    return f"{named!r} object has no attribute {name!r}"


TYPE: Any = class_for(type, _kind_of)
TYPE.__class_getitem__ = classmethod(lambda cls, item: type[item])
_ANSWERS: dict[Any, Callable[..., Any]] = {_HASATTR: _has, _GETATTR: _get}
#: By name what stands for them.
BY_NAME: dict[str, Any] = {"type": TYPE} | {
    original.__name__: kept_follower(original, answer, draws=False)
    for original, answer in _ANSWERS.items()
}
#: And by the id of the original.
BY_ID = {id(_GETATTR(builtins, name)): stand_in for name, stand_in in BY_NAME.items()}
STAND_INS = tuple(BY_NAME.values())


class KindQuestions(ProgramModules):
    """Modules in which these functions stand for something else during an analysis."""

    def chosen(self) -> Iterator[tuple[dict[str, Any], str, Any]]:
        for function in self.functions:
            space = function.__globals__
            module = space.get("__name__")
            if id(space) in self.compiled or is_others(module):
                continue
            for name in BY_NAME.keys() & names_in(function.__code__) - space.keys():
                if has_builtins(function, name) and loads_global(function.__code__, name):
                    yield space, name, BY_NAME[name]


def is_alias(site: Site) -> bool:
    """Whether a program holds one of these functions there, under a name of its own."""
    if not isinstance(site.put, partial):
        return False
    return _GETATTR(site.put.func, "__self__", None) is not vars(builtins)
