"""The objects that code for one record names: constants, generators, functions known to be pure.

Objects of the program are among them, say a client of a local protocol that holds its
probabilities, where their attributes are what is kept in them: no code runs when one is read
(docs/theory/records.md). What is not known to stay as it is from one record to the next is refused.
"""

from __future__ import annotations

import binascii
import builtins
import cmath
import hashlib
import math
import os
import pickle
import random
import secrets
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from inspect import getattr_static
from io import BytesIO
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import is_drawing, is_others
from liptest.enumerate.records.record_code import (
    DRAWS,
    FRESH_CALLS,
    HASHES,
    READING,
    CallResult,
    Chain,
    NotAlike,
    RecordCode,
    analyse_function,
    makes_anew,
    most_arguments,
)
from liptest.enumerate.syntax.function_source import read_definition
from liptest.values.records.rows import DrawsRows, is_of_rows

#: Looks a name up where the code does.
Lookup = Callable[[str], Any]
_CONSTANTS = (int, float, complex, bool, str, bytes, type(None), range, Fraction, Decimal)
_TYPES = (int, float, bool, str, complex, bytes, np.generic)
_BUILTINS = frozenset(
    {"int", "float", "bool", "str", "abs", "min", "max", "round", "len", "range", "tuple", "list"}
    | {"dict", "set", "frozenset", "sorted", "sum", "divmod", "pow", "zip", "enumerate", "any"}
    | {"all", "isinstance", "complex", "bytes", "hex", "bin", "ord", "chr", "reversed"}
)
_OF_NUMPY = frozenset(
    {"where", "clip", "array", "asarray", "zeros", "ones", "full", "arange", "sum", "mean"}
    | {"round", "around", "eye", "concatenate", "stack", "dot", "argmax", "argmin", "max", "min"}
    | {"cumsum", "any", "all", "prod", "linspace", "outer", "abs", "count_nonzero", "identity"}
)
_OF_NUMPY_TYPES = (np.integer, np.floating, np.bool_)
# Positional arguments before the one that is written to.
_MOST_ARGUMENTS = {"clip": 3, "where": 3, "full": 3, "arange": 3, "linspace": 3}
_MATHS = (math, cmath)
# Of the standard library: they calculate, and change nothing that they are given.
_PURE = (
    *(getattr(hashlib, name) for name in sorted(HASHES) if hasattr(hashlib, name)),
    *(struct.pack, struct.unpack, struct.calcsize, zlib.crc32, zlib.adler32),
    *(binascii.hexlify, binascii.unhexlify, binascii.crc32),
)
_RANDOM = (random, secrets, np.random)
_MISSING = object()


@dataclass
class _Search:
    """What was looked through: code, and the number of the object whose method it is."""

    changed: frozenset[str]
    seen: set[tuple[CodeType, int | None]] = field(default_factory=set)

    def is_new(self, code: CodeType, owner: int | None) -> bool:
        """Whether it is looked through for the first time."""
        if (code, owner) in self.seen:
            return False
        self.seen.add((code, owner))
        return True

    def check_names(self, code: RecordCode) -> None:
        """Raise NotAlike where an attribute is named that the loop around it changes."""
        chains = {*code.read, *code.called_in, *(chain for chain, _ in (*code.called, *code.asked))}
        for chain in sorted(chains):
            if not self.changed.isdisjoint(chain[1:]):
                raise NotAlike(f"{'.'.join(chain)}, which the loop over the records changes,")


def check_record_code(
    code: RecordCode, lookup: Lookup, changed: frozenset[str] = frozenset()
) -> Iterator[Any]:
    """Check all objects that code for one record names; yields those that could be changed.

    ``changed`` are attributes that the loop around it changes: none of that name is read, of
    whatever object. Raises NotAlike.
    """
    yield from _check(code, lookup, _Search(changed))


def is_number(value: Any) -> bool:
    """Whether a record is a number, a text, or several of them, which nothing changes in place."""
    if type(value) is tuple:
        return all(map(is_number, value))
    return isinstance(value, (*_CONSTANTS, np.generic))


def changes_seen(objects: list[Any]) -> Callable[[], bool]:
    """A function that tells whether one of some objects has changed since."""
    before = [_content(watched) for watched in objects]
    return lambda: [_content(watched) for watched in objects] != before


def _content(value: Any) -> bytes:
    written = BytesIO()
    _Content(written).dump(value)
    return written.getvalue()


class _Content(pickle.Pickler):
    """Writes functions as which object they are."""

    def persistent_id(self, entry: Any) -> int | None:
        """The number of a function."""
        return id(entry) if isinstance(entry, FunctionType) else None


def _check(code: RecordCode, lookup: Lookup, search: _Search) -> Iterator[Any]:
    search.check_names(code)
    for chain, what in code.asked:
        value = _resolve(chain, lookup)
        if what == "len" and not is_of_rows(value):
            _check_constant(chain, value)
    for chain in code.read:
        if _is_absent(chain, lookup):
            continue
        value = _resolve(chain, lookup)
        _check_constant(chain, value)
        if type(value) in (list, dict, set, np.ndarray):
            yield value
    for chain, count in code.called:
        if not _is_absent(chain, lookup):
            yield from _check_call(chain, count, lookup, search)
    for chain in code.called_in:
        if _is_absent(chain, lookup):
            continue
        for function in _list_functions(chain, _resolve(chain, lookup)):
            yield from _check_function(function, search)
    for result in code.changed:
        if not _is_absent(result.function, lookup):
            _check_made_anew(result, lookup)


def _is_absent(chain: Chain, lookup: Lookup) -> bool:
    """Whether a plain object lacks an attribute, so that reading it raises.

    No pass can add one, as writes to attributes are refused.
    """
    value = lookup(chain[0])
    for name in chain[1:]:
        if not is_plain_object(value):
            return False
        if getattr_static(value, name, _MISSING) is _MISSING:
            return True
        value = attribute_in_place(value, name, _MISSING)
    return False


def _list_functions(chain: Chain, value: Any) -> Iterator[FunctionType]:
    """All functions in lists, of which any may be called."""
    value = original_of(value)
    if type(value) in (list, tuple):
        for entry in value:
            yield from _list_functions(chain, entry)
    elif isinstance(value, FunctionType) and not _is_of_library(value):
        yield value
    else:
        raise NotAlike(f"a call of a {type(value).__name__} in {'.'.join(chain)},")


def _check_function(function: FunctionType, search: _Search) -> Iterator[Any]:
    if search.is_new(function.__code__, id(function)):
        yield from _check(_find_code(function), _lookup_in(function), search)


def _check_made_anew(result: CallResult, lookup: Lookup) -> None:
    """What a call returns, and the code changes, must be new."""
    chain = result.function
    owner = _resolve(chain[:-1], lookup) if len(chain) > 1 else None
    is_of_object = owner is not None and is_plain_object(owner)
    if is_of_object:
        function = original_of(attribute_in_place(owner, chain[-1]))
    elif owner is None or isinstance(owner, ModuleType):
        function = original_of(_resolve(chain, lookup))
    else:  # a method of a generator or of a constant
        function = None
    if isinstance(function, FunctionType) and not _is_of_library(function):
        is_method = is_of_object and chain[-1] not in vars(owner)
        definition = read_definition(function)
        is_new = definition is not None and makes_anew(
            definition, result.place, is_method=is_method
        )
    else:
        is_new = result.is_new_by_name
    if not is_new:
        words = ".".join(chain)
        raise NotAlike(f"a change of what {words} returns, which may be an object of outside,")


def _resolve(chain: Chain, lookup: Lookup) -> Any:
    """What a name with attributes is: of modules only are attributes looked up."""
    value = lookup(chain[0])
    for name in chain[1:]:
        if isinstance(value, ModuleType):
            value = getattr(value, name, _MISSING)
        elif is_plain_object(value):
            value = attribute_in_place(value, name, _MISSING)
        else:
            raise NotAlike(f"{'.'.join(chain)}, an attribute of a {type(value).__name__},")
    if value is _MISSING:
        raise NotAlike(f"{'.'.join(chain)}, a name that is not known,")
    return value


def _check_constant(chain: Chain, value: Any) -> None:
    if not (isinstance(value, DrawsRows) or _is_constant(value)):
        kind = "data of all records" if is_of_rows(value) else f"a {type(value).__name__}"
        raise NotAlike(f"{'.'.join(chain)}, {kind}, in the treatment of a record")


def _is_constant(value: Any) -> bool:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return all(map(_is_constant, value))
    if kind is dict:
        return all(_is_constant(key) and _is_constant(entry) for key, entry in value.items())
    if kind is np.ndarray:
        return value.dtype.kind in "biufcSU"
    if kind is FunctionType:  # what calls it is looked at
        return True
    if isinstance(value, type):
        return issubclass(value, _TYPES)
    return kind in _CONSTANTS or issubclass(kind, np.generic) or isinstance(value, np.dtype)


def _check_call(chain: Chain, count: int, lookup: Lookup, search: _Search) -> Iterator[Any]:
    owner = _resolve(chain[:-1], lookup) if len(chain) > 1 else None
    name, words = chain[-1], ".".join(chain)
    if owner is not None and is_plain_object(owner):
        yield from _check_own_method(words, owner, name, search)
        return
    if owner is not None and not isinstance(owner, ModuleType):
        _check_method(words, owner, name, count)
        if type(owner) in (list, dict, set, np.ndarray):
            yield owner
        return
    value = original_of(_resolve(chain, lookup))
    is_function = isinstance(value, FunctionType) and not _is_of_library(value)
    if is_function and name not in FRESH_CALLS:
        if search.is_new(value.__code__, None):
            yield from _check(_find_code(value), _lookup_in(value), search)
    elif not _is_pure(owner, value, name, count):
        raise NotAlike(f"a call of {words}, which may change something,")


def _check_own_method(words: str, owner: Any, name: str, search: _Search) -> Iterator[Any]:
    """A method of an object of the program, of which nothing but constants is read."""
    method = original_of(attribute_in_place(owner, name))
    if method is None and name in vars(owner):
        return  # a call of it raises
    if not isinstance(method, FunctionType):
        raise NotAlike(f"a call of {words}, which is not a plain method,")
    if name in vars(owner):
        yield from _check_function(method, search)
        return
    if not search.is_new(method.__code__, id(owner)):
        return
    names = _lookup_in(method)
    own = method.__code__.co_varnames[:1]

    def lookup(asked: str) -> Any:
        return owner if asked in own else names(asked)

    yield from _check(_find_code(method, is_method=True), lookup, search)


def _check_method(words: str, owner: Any, name: str, count: int) -> None:
    if isinstance(owner, DrawsRows):
        if name not in DRAWS:
            raise NotAlike(f"a call of {words}")
    elif name not in READING or count > most_arguments(name) or not _is_constant(owner):
        raise NotAlike(f"a call of {words}, which may change something,")


def _is_of_library(function: FunctionType) -> bool:
    module = str(function.__module__).partition(".")[0]
    return module in ("numpy", "math", "random", "secrets", "builtins")


def _is_pure(owner: Any, value: Any, name: str, count: int) -> bool:
    """Whether a call of Python, NumPy or random changes no object that it is given."""
    if is_drawing(value):
        return value.__name__ in DRAWS
    if owner in _RANDOM:
        return name in DRAWS or (name == "default_rng" and not count)
    if owner in _MATHS or getattr(value, "__module__", "") in ("math", "cmath"):
        return True
    if isinstance(value, np.ufunc):
        return count <= value.nin
    if any(value is pure for pure in _PURE):
        return True
    if name in _OF_NUMPY and value is getattr(np, name):
        return count <= _MOST_ARGUMENTS.get(name, 2)
    if isinstance(value, type) and issubclass(value, _OF_NUMPY_TYPES):
        return True
    builtin = getattr(builtins, name, None)
    if isinstance(builtin, type) and issubclass(builtin, Exception) and value is builtin:
        return True
    stands_for = str(getattr(type(value), "__module__", "")).startswith("liptest.")
    return name in _BUILTINS and (value is builtin or stands_for)


def original_of(value: Any) -> Any:
    """What a name stands for outside of the analysis."""
    while isinstance(value, FunctionType) and value.__code__.co_filename == _FOLLOWERS:
        value = vars(value).get("__wrapped__", _MISSING)
    return value


# Where functions that are followed are made.
_FOLLOWERS = os.path.join(
    *(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "intercept"),
    "analysis_session.py",
)


def _find_code(function: FunctionType, *, is_method: bool = False) -> RecordCode:
    definition = read_definition(function)
    if definition is None:
        raise NotAlike(f"a call of {function.__name__}, whose source is not at hand,")
    try:
        return analyse_function(definition, is_method=is_method)
    except NotAlike as error:
        raise NotAlike(f"{error} of {function.__name__}") from None


def _lookup_in(function: FunctionType) -> Lookup:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def lookup(name: str) -> Any:
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                return _MISSING
        return look_up_name(name, function.__globals__)

    return lookup


def look_up_name(name: str, names: dict[str, Any]) -> Any:
    """A name of a module, or of Python; ``_MISSING`` for none."""
    if name in names:
        return names[name]
    return getattr(builtins, name, _MISSING)


# With these of a class, an attribute may be calculated.
_CALCULATING = ("__getattribute__", "__getattr__", "__slots__")


def is_class_of_program(kind: type) -> bool:
    """Whether a class is the program's, and a plain one, without a metaclass."""
    module = kind.__module__
    return type(kind) is type and isinstance(module, str) and not is_others(module)


def is_plain_object(value: Any) -> bool:
    """Whether it is an object of the program that keeps its attributes as Python does."""
    kind = type(value)
    if not is_class_of_program(kind) or "__dict__" not in dir(kind):
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
