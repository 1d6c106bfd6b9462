"""Modules of a program in which names stand for something else during an analysis.

What stands for a random number is of a class of its own, with methods of its own. ``type``,
``hasattr`` and ``getattr`` would tell that, and a leaf that asks them, if it is not repeated, would
have another answer than a real run. So in the modules of the program, and wherever it holds one of
them under another name, they stand meanwhile for what answers as for plain numbers.

``float`` of Python must return a real float. So the name stands for what hands a number with
continuous noise on as it is, and is ``float`` for all else: only in a module where all code that
the program reaches does nothing but call it.
"""

from __future__ import annotations

import builtins
import dis
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.analysis_session import Session, class_for, kept_follower
from liptest.enumerate.intercept.replaceable_names import (
    MOST,
    Site,
    is_foreign,
    is_others,
    is_plain_kind,
    names_in,
    numba_source,
)
from liptest.values.array import SymbolicArray
from liptest.values.draws.noise import AnyNoise
from liptest.values.draws.uniform import UniformValue
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import Symbolic, current, is_symbolic
from liptest.values.records.record_list import EntryOfRecord


class ProgramModules(ABC):
    """See the module.

    Every object that the program reaches is noted; ``choose`` then chooses the modules.
    """

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        #: Ids of namespaces of code that a compiler takes, which knows the real names only.
        self.compiled: set[int] = set()
        self._count = 0
        self._places: list[tuple[dict[str, Any], str, Any]] = []

    def note(self, value: Any) -> None:
        """Note what the program reaches."""
        self._count += 1
        kind: Any = type(value)
        if isinstance(value, FunctionType):
            self.functions.append(value)
        elif not is_plain_kind(kind) and (source := numba_source(value)) is not None:
            self.compiled.add(id(source.__globals__))

    @property
    def is_cut_off(self) -> bool:
        """Whether the program reaches more than was looked at."""
        return self._count >= MOST

    @abstractmethod
    def chosen(self) -> Iterator[tuple[dict[str, Any], str, Any]]:
        """Namespaces, names in them, and what is to stand there."""

    def choose(self) -> None:
        """Choose the modules."""
        if not self.is_cut_off:
            self._places = list(self.chosen())

    def put(self) -> None:
        """Put the stand-ins into the modules that were chosen."""
        for space, name, stand_in in self._places:
            space[name] = stand_in

    def take_back(self) -> None:
        """Take them away, wherever they are."""
        for space, name, _ in self._places:
            space.pop(name, None)

    def is_named_elsewhere(self, name: str) -> bool:
        """Whether the program also uses a name where no stand-in is put."""
        if self.is_cut_off:
            return True
        put = {id(space) for space, own, _ in self._places if own == name}
        return any(
            loads_global(function.__code__, name)
            and id(function.__globals__) not in put
            and not is_others(function.__globals__.get("__name__"))
            for function in self.functions
        )


@lru_cache(maxsize=1 << 12)
def loads_global(code: CodeType, name: str) -> bool:
    """Whether code, with functions inside it, loads a global name, not an attribute."""
    if name not in names_in(code):
        return False
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    if any(step.opname in loads and step.argval == name for step in dis.get_instructions(code)):
        return True
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return any(loads_global(nested, name) for nested in inner)


def has_builtins(function: FunctionType, name: str) -> bool:
    """Whether a function finds Python's own function under a name."""
    untyped: Any = function  # type checkers do not agree whether functions have __builtins__
    return untyped.__builtins__.get(name) is getattr(builtins, name)


# What a symbolic value may stand for that has no attributes but those of its class.
_PLAIN = (bool, int, float, complex, np.generic, np.ndarray)
_GETATTR, _HASATTR = getattr, hasattr


def _plain_kind(value: Any) -> Any:
    """The class of the plain number, or array, that a value stands for; None of all else."""
    if not issubclass(type(value), Symbolic):
        return None
    kind = value.__class__
    return kind if issubclass(kind, _PLAIN) else None


def _find_kind(session: Session, *arguments: Any, **options: Any) -> Any:
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


TYPE: Any = class_for(type, _find_kind)
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


_BUILTINS = ("float", "int", "isinstance")
# Code with these may look at names that are not written down.
_LOOKING = frozenset({"eval", "exec", "globals", "vars", "__globals__"})


_LOOKING |= {"get_type_hints", "get_annotations"}


# With these a first argument starts, or the call comes at once.
_CALLS = frozenset({"CALL", "PRECALL", "CALL_KW", "CALL_FUNCTION_EX"})
_STARTS = _CALLS | {"PUSH_NULL"}
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_TAKING_DTYPES = frozenset({"sum", "mean", "cumsum", "zeros", "ones", "full", "array", "asarray"})
_SILENT = frozenset({"EXTENDED_ARG", "NOP", "CACHE"})


def _of_noise(session: Session, *arguments: Any, **options: Any) -> Any:
    # Whole numbers are branched over, where they are not kept: what takes real floats only can
    # take them from there.
    if session.tree.keeps_whole and (kept := _keep_whole(float, arguments, options)) is not None:
        return kept
    return _of_symbolic(float, arguments, options)


def _of_data(session: Session, *arguments: Any, **options: Any) -> Any:
    return _of_symbolic(int, arguments, options)


def _of_whole(session: Session, *arguments: Any, **options: Any) -> Any:
    return _keep_whole(int, arguments, options)


def _keep_whole(kind: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if len(arguments) != 1 or options:
        return None
    value = current(arguments[0])
    is_noise = isinstance(value, AnyNoise) or _becomes_noise(value)
    return value.typed(kind) if is_noise else None


def _becomes_noise(value: Any) -> bool:
    return issubclass(type(value), UniformValue) and bool(value.stays_symbolic)


def _of_symbolic(kind: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if len(arguments) != 1 or options:
        return None
    value = arguments[0]
    if type(value) is SymbolicArray and value.storage.stays_symbolic and value.size == 1:
        value = value.cells.item()
    if issubclass(type(value), EntryOfRecord):  # others may be asked by their class
        return value.as_float() if kind is float else None
    value = current(value)
    if not is_symbolic(value):
        return None
    # Between two floats of the grid there is nothing to branch over.
    is_real = issubclass(type(value), UniformValue) and kind is float and not value.is_discrete
    return value.typed(kind) if value.stays_symbolic or is_real else None


# Loops over many records call them with numbers that are known.
_TAKEN_AS_THEY_ARE = frozenset({bool, int, float, str, np.bool_, np.int64, np.float64})

#: ``isinstance`` and NumPy take it for ``float``, also in other threads.
FLOAT: Any = class_for(float, _of_noise, _TAKEN_AS_THEY_ARE)
FLOAT.dtype = np.dtype(float)
#: The same for ``int``, where data are symbolic.
INT: Any = class_for(int, _of_data, _TAKEN_AS_THEY_ARE)
INT.dtype = np.dtype(int)

#: And where whole numbers with noise are kept as they are.
WHOLE_INT: Any = class_for(int, _of_whole, _TAKEN_AS_THEY_ARE)
WHOLE_INT.dtype = INT.dtype


ALL_STAND_INS = (*STAND_INS, FLOAT, INT, WHOLE_INT)


class FloatCalls(ProgramModules):
    """Modules in which ``float`` stands for something else during an analysis.

    ``stand_in`` may be that of another class.
    """

    def __init__(self, stand_in: Any = FLOAT) -> None:
        super().__init__()
        self._stand_in = stand_in

    def chosen(self) -> Iterator[tuple[dict[str, Any], str, Any]]:
        name = str(self._stand_in.__name__)
        by_space: dict[int, list[FunctionType]] = {}
        for function in self.functions:
            by_space.setdefault(id(function.__globals__), []).append(function)
        for space, functions in by_space.items():
            if space not in self.compiled and _may_be_replaced(functions, name):
                yield functions[0].__globals__, name, self._stand_in


def _may_be_replaced(functions: list[FunctionType], name: str) -> bool:
    """Whether some of the functions of one module name it, and nothing else than that is done."""
    space = functions[0].__globals__
    if not any(name in names_in(function.__code__) for function in functions):
        return False
    module = space.get("__name__")
    if (
        is_foreign(module)
        or str(module).partition(".")[0] == "liptest"
        or name in space
        or "isinstance" in space
    ):
        return False
    if not all(has_builtins(function, own) for function in functions for own in _BUILTINS):
        return False
    return all(only_called(function.__code__, name) for function in functions)


@lru_cache(maxsize=1 << 12)
def only_called(code: CodeType, name: str = "float") -> bool:
    """Whether code, with functions inside it, only calls ``float`` or asks ``isinstance`` of it."""
    names = names_in(code)
    if not names.isdisjoint(_LOOKING):
        return False
    if name not in names:
        return True
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return all(_plain_uses(code, name)) and all(only_called(nested, name) for nested in inner)


def _plain_uses(code: CodeType, name: str) -> Iterator[bool]:
    """Yield for each use of the name in the code whether it is a plain one."""
    steps = [op for op in dis.get_instructions(code) if op.opname not in _SILENT]
    calls = {_start(op) for op in steps if op.opname in _CALLS}
    called = {_start(op): op.argval for op in steps if _is_loaded(op, to_call=True)}
    for place, step in enumerate(steps):
        if step.opcode in dis.hasname and step.argval == name:
            after = steps[place + 1 :]
            if _is_loaded(step, to_call=True):
                yield _start(step) in calls and _starts_an_argument(after[0])
            else:
                yield _is_loaded(step, to_call=False) and (
                    _is_asked_of(after, called)
                    or _is_cast_to(steps[:place], after)
                    or _is_a_dtype(code, steps, after)
                )


def _is_loaded(step: dis.Instruction, *, to_call: bool) -> bool:
    """Whether a global name is loaded; Python loads what it calls together with a NULL."""
    return step.opname == "LOAD_GLOBAL" and bool((step.arg or 0) & 1) is to_call


def _start(step: dis.Instruction) -> tuple[int, int]:
    """Where its text begins: a call begins where what it calls does; where not known, nowhere."""
    place = step.positions
    if place is None or place.lineno is None or place.col_offset is None:
        return -step.offset, -1
    return place.lineno, place.col_offset


def _starts_an_argument(step: dis.Instruction) -> bool:
    # An attribute of the name, or a choice, may be what is called.
    name = step.opname
    if name.startswith("BUILD_"):
        return not step.arg
    return name in _STARTS or (name.startswith("LOAD_") and name not in _ATTRIBUTES)


def _is_a_dtype(code: CodeType, steps: list[dis.Instruction], after: list[dis.Instruction]) -> bool:
    """Whether it is what ``np.sum(.., dtype=name)``, or the like, ends with."""
    names, *rest = after
    if names.opname == "KW_NAMES":
        options = code.co_consts[names.arg or 0]
    elif names.opname == "LOAD_CONST" and rest[0].opname == "CALL_KW":  # from Python 3.13 on
        options = names.argval
    else:
        return False
    if options[-1] != "dtype":
        return False
    call = next((step for step in rest if step.opname in _CALLS), None)
    methods = [
        step.argval
        for step in steps
        if call is not None and step.opname in _ATTRIBUTES and _start(step) == _start(call)
    ]
    return bool(methods) and _TAKING_DTYPES.issuperset(methods)


def _is_cast_to(before: list[dis.Instruction], after: list[dis.Instruction]) -> bool:
    """Whether it is all that ``.astype(name)`` is given."""
    last = before[-1]
    return (
        last.opname in _ATTRIBUTES
        and last.argval == "astype"
        and after[0].opname in _CALLS
        and after[0].arg == 1
    )


def _is_asked_of(after: list[dis.Instruction], called: dict[tuple[int, int], str]) -> bool:
    """Whether ``isinstance(.., name)`` follows, or ``isinstance(.., (name, ..))`` of names."""
    names = 1
    rest = iter(after)
    for step in rest:
        if _is_loaded(step, to_call=False):
            names += 1
        elif names == 1 or step.opname not in _ATTRIBUTES:  # an attribute of another name
            break
    if step.opname == "BUILD_TUPLE" and (step.arg or 0) >= names:
        step = next(rest)
    elif names > 1:
        return False
    return step.opname in _CALLS and step.arg == 2 and called.get(_start(step)) == "isinstance"
