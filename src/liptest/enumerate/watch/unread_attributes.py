"""Attributes that a program counts in and never reads: ``self.calls += 1``.

No answer depends on what nobody reads. That nobody reads an attribute is shown, not guessed: no
code that the program reaches loads it but to change it, no text spells its name, no code makes up
names of attributes or copies objects, nothing else holds the object, and it is never handed on.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import (
    MAKING_NAMES,
    find_attribute,
    is_others,
    is_plain_state,
    names_in,
    reachable,
)
from liptest.enumerate.watch.set_orders import CodeStep, adds_little, find_steps
from liptest.values.faults import codes_in

# What reads attributes that it does not name, by the module that it is of.
_READERS = frozenset(
    {"copy", "copyreg", "pickle", "_pickle", "marshal", "json", "inspect", "dataclasses", "gc"}
    | {"ctypes", "_ctypes", "weakref", "_weakref", "operator", "_operator", "pprint", "types"}
    | {"reprlib", "builtins.vars", "shelve", "string"}
)
_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_USES = _LOADS | {"STORE_ATTR"}
# Members of sets and keys of dicts are compared by what is added to them.
_CHANGING = frozenset({"append", "appendleft", "extend", "clear"})
_TELLING = MAKING_NAMES | {"__self__", "format", "format_map"}
_PLAIN = frozenset({int, float, bool, str, type(None), list, set, dict})


def unread_attributes(program: Any) -> frozenset[str]:
    """Names of attributes of which it is shown that the program never reads them."""
    codes: dict[int, CodeType] = {}
    holders: list[Any] = []
    objects: list[FunctionType] = []
    readers: list[Any] = []
    inside: set[int] = set()

    def note(value: Any) -> bool:
        inside.update(map(id, _find_held_by(value)))
        if type(value) is FunctionType:
            module = value.__globals__.get("__name__")
            if not is_others(module):
                codes.update((id(code), code) for code in codes_in(value.__code__))
                objects.append(value)
            elif _first(module) in _READERS:
                readers.append(value)
        elif isinstance(value, ModuleType | BuiltinFunctionType):
            module = value.__name__ if isinstance(value, ModuleType) else value.__module__
            if _first(module) in _READERS:
                readers.append(value)
        elif isinstance(value, weakref.ref | ContextVar):
            readers.append(value)
        elif not isinstance(value, type) and type(find_attribute(value, "__dict__")) is dict:
            holders.append(value)
        return False

    reachable(program, note)
    every = list(codes.values())
    if readers or any(not names_in(code).isdisjoint(_TELLING) for code in every):
        return frozenset()
    read = {name for code in every for name in _read_in(code)}
    owned: set[str] = set()
    escaping: set[str] = set()
    for holder in holders:
        names = set(vars(holder))
        is_kept = id(holder) not in inside and not is_others(type(holder).__module__)
        is_kept = is_kept and all(map(is_plain_state, vars(holder).values()))
        is_kept = is_kept and _stays(holder, objects)
        (owned if is_kept else escaping).update(names)
    return frozenset(owned - escaping - read)


def _find_held_by(value: Any) -> Iterator[Any]:
    """What a value holds in another way than by the name of a variable, or as a method does."""
    if isinstance(value, FunctionType):
        yield from (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        yield from vars(value).values()
    elif isinstance(value, np.ndarray):
        yield from value.ravel().tolist() if value.dtype.hasobject else ()
    elif isinstance(value, MethodType | CellType | ModuleType):
        return
    elif _first(type(value).__module__) != "liptest":
        yield from gc.get_referents(value)
        inside = find_attribute(value, "__dict__")
        yield from inside.values() if isinstance(inside, Mapping) else ()


def _first(module: Any) -> str:
    return str(module).partition(".")[0]


def _read_in(code: CodeType) -> Iterator[str]:
    """Names that code may read of some object: it loads them, or a text in it spells them."""
    steps = find_steps(code)
    for place, step in enumerate(steps):
        if step.name in _LOADS and not _is_write(steps, place):
            yield step.value
    for text in _texts(code.co_consts):
        yield from text.replace("{", " ").replace(".", " ").replace("}", " ").split()


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from _texts(value)


def _is_write(steps: tuple[CodeStep, ...], place: int) -> bool:
    """``x.n += 1``, ``x.n = x.n + 1`` and ``x.n.append(..)``."""
    following = steps[place + 1 : place + 5]
    names = tuple(step.name for step in following)
    if names[:1] and names[0] in _LOADS:
        return following[0].value in _CHANGING
    if names[:2] != ("LOAD_CONST", "BINARY_OP"):
        return False
    stored = names[2:] in (("SWAP", "STORE_ATTR"), ("LOAD_FAST", "STORE_ATTR"))
    is_same = stored and following[3].value == steps[place].value
    is_same = is_same and adds_little(*following[:2])
    return is_same and (names[2] == "SWAP" or following[2].value == steps[place - 1].value)


def _stays(holder: Any, functions: list[FunctionType]) -> bool:
    """Whether an object is asked for attributes and called only, and its class has no surprises."""
    for base in type(holder).__mro__[:-1]:
        inside = vars(base)
        if is_others(base.__module__) or not _OVERRIDES.isdisjoint(inside):
            return False
        if any(type(inside.get(name)) not in _PLAIN for name in vars(holder)):
            return False
        for member in inside.values():
            for method in _methods(member):
                code = getattr(method, "__code__", None)
                if not isinstance(code, CodeType) or not _keeps(code, code.co_varnames[:1]):
                    return False
    if not _find_names(holder).isdisjoint(_attributes(functions)):
        return False
    for function in functions:
        names = [name for name, item in function.__globals__.items() if item is holder]
        names += [name for name in function.__code__.co_freevars if _cell(function, name) is holder]
        if not all(_keeps(code, names) for code in codes_in(function.__code__)):
            return False
    return True


# What all objects have, and tells what is in them.
_OF_OBJECTS = frozenset(dir(object)) - {"__init__", "__class__"}
_OVERRIDES = frozenset({"__getattribute__", "__getattr__", "__setattr__", "__slots__", "__eq__"})


def _methods(member: Any) -> Iterator[Any]:
    if isinstance(member, staticmethod | classmethod | MethodType):
        yield member.__func__
    elif isinstance(member, property):
        yield from (
            accessor for accessor in (member.fget, member.fset, member.fdel) if accessor is not None
        )
    elif not isinstance(member, type | GetSetDescriptorType) and (
        callable(member) or hasattr(member, "__get__")
    ):
        yield member


def _find_names(holder: Any) -> set[str]:
    """Names that it has in modules of programs."""
    spaces = [
        vars(module) for module in list(sys.modules.values()) if not is_others(module.__name__)
    ]
    return {name for space in spaces for name, item in list(space.items()) if item is holder}


def _attributes(functions: list[FunctionType]) -> set[str]:
    """Names of attributes that code loads, or imports from modules."""
    steps = (
        step for each in functions for code in codes_in(each.__code__) for step in find_steps(code)
    )
    return {step.value for step in steps if step.name in _LOADS | {"IMPORT_FROM"}}


def _cell(function: FunctionType, name: str) -> Any:
    place = function.__code__.co_freevars.index(name)
    try:
        return (function.__closure__ or ())[place].cell_contents
    except ValueError:
        return None


def _keeps(code: CodeType, names: Iterable[str]) -> bool:
    """Whether code only asks what has one of these names for attributes, or calls it."""
    steps = find_steps(code)
    for place, step in enumerate(steps):
        if step.value not in names or not step.name.startswith("LOAD_") or step.name in _LOADS:
            continue
        if step.name == "LOAD_CONST" or step.is_called:
            continue
        following = [later.name for later in steps[place + 1 : place + 3]]
        if following[:1] == ["COPY"]:
            del following[0]
        if not following or following[0] not in _USES:
            return False
        used = next(later for later in steps[place + 1 :] if later.name in _USES)
        if used.value in _OF_OBJECTS:
            return False
    return True
