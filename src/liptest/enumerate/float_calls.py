"""``float(x)`` in the code under analysis, where x is a number with continuous noise.

``float()`` of Python must return a real float. So meanwhile the name stands, in the modules of
the program, for what hands such numbers on as floats, and is ``float`` for all else. That is done
in a module only where all its code that the program reaches does nothing but call it.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.analysis_session import Session, class_for
from liptest.enumerate.program_modules import ProgramModules, has_builtins
from liptest.enumerate.replaceable_names import is_foreign, names_in
from liptest.values.array import SymbolicArray
from liptest.values.noise import AnyNoise
from liptest.values.protocol import current, is_symbolic
from liptest.values.uniform import UniformValue

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
    # Whole numbers are branched over: what takes real floats only can take them from there.
    return _of_symbolic(float, arguments, options)


def _of_data(session: Session, *arguments: Any, **options: Any) -> Any:
    return _of_symbolic(int, arguments, options)


def _of_whole(session: Session, *arguments: Any, **options: Any) -> Any:
    if len(arguments) != 1 or options:
        return None
    value = current(arguments[0])
    is_noise = isinstance(value, AnyNoise) or _becomes_noise(value)
    return value.typed(int) if is_noise else None


def _becomes_noise(value: Any) -> bool:
    return issubclass(type(value), UniformValue) and bool(value.stays_symbolic)


def _of_symbolic(kind: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if len(arguments) != 1 or options:
        return None
    value = arguments[0]
    if type(value) is SymbolicArray and value.storage.stays_symbolic and value.size == 1:
        value = value.cells.item()
    value = current(value)
    if not is_symbolic(value):
        return None
    # Between two floats of the grid there is nothing to branch over.
    is_real = issubclass(type(value), UniformValue) and kind is float and not value.is_discrete
    return value.typed(kind) if value.stays_symbolic or is_real else None


# Loops over many records call them with numbers that are known.
_PLAIN = frozenset({bool, int, float, str, np.bool_, np.int64, np.float64})

#: ``isinstance`` and NumPy take it for ``float``, also in other threads.
FLOAT: Any = class_for(float, _of_noise, _PLAIN)
FLOAT.dtype = np.dtype(float)
#: The same for ``int``, where data are symbolic.
INT: Any = class_for(int, _of_data, _PLAIN)
INT.dtype = np.dtype(int)

#: And where whole numbers with noise are kept as they are.
WHOLE_INT: Any = class_for(int, _of_whole, _PLAIN)
WHOLE_INT.dtype = INT.dtype


STAND_INS = (FLOAT, INT, WHOLE_INT)


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
    """Of each use of the name."""
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
