"""Later code that is not followed: whether it could tell the states of random generators.

Post-processing may draw, and calculate with what it is given. A state tells what was drawn before,
so it would tell the noise. To come to a state, code has to name it, or an object that leads there:
a module, a generator, a method of one. So none of these may be a value, but what attributes are
asked of or what is called, and nothing may be there that finds attributes by text: ``getattr``,
``str.format``, import by name, ``operator.attrgetter``, libraries that are not known. What is not
seen to be harmless counts as telling (docs/theory/records.md, P2; loops.md, L2).
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import datetime
import functools
import importlib
import operator
import pathlib
import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    BuiltinMethodType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from uuid import UUID

import numpy as np

from liptest.enumerate.intercept.replaceable_names import (
    GENERATORS,
    is_drawing,
    names_in,
)
from liptest.enumerate.syntax.function_source import names_anywhere, names_assigned
from liptest.enumerate.syntax.source import LOOKING, read_source, stored_by_name
from liptest.enumerate.syntax.tree_pieces import name_chain
from liptest.values.lines import is_of_packages, is_of_python, is_ours

#: Reads of a generator that tell what it drew before.
STATES = frozenset(
    {"getstate", "get_state", "bit_generator", "_bit_generator", "__getstate__", "__reduce__"}
    | {"_rand", "spawn", "jumped", "seed_seq"}
)
#: Names that lead to states, or to whatever a text says.
TELLING = LOOKING | {
    *(*STATES, "__reduce_ex__", "_inst", "mtrand", "pickle", "query", "eval", "getattr", "hasattr"),
    *("attrgetter", "methodcaller", "import_module"),
    *("modules", "getmembers", "getattr_static", "resolve_name", "__getattribute__", "__self__"),
    *("__func__", "__wrapped__", "__subclasses__", "__mro__", "__bases__", "__reduce_cython__"),
    *("format_map", "Formatter", "vformat", "get_bit_generator", "set_bit_generator"),
    *("lib", "__get__", "__objclass__", "get_type_hints", "ForwardRef", "make_dataclass"),
    *("dictConfig", "fileConfig", "handlers"),
    # What asks for attributes whose names are texts, or gives objects some.
    *("update_wrapper", "wraps", "singledispatch", "singledispatchmethod", "dataclass", "Enum"),
    *("setattr", "__getattr__", "deserialize"),
    # What reads files, in which anything may stand, or memory.
    *("open", "fdopen", "load", "loadtxt", "genfromtxt", "fromregex", "loadmat", "fromfile"),
    *("memmap", "DataSource", "HDFStore", "ctypes", "as_strided", "__array_interface__"),
    *("__array_struct__", "__array__"),
}
_FINDING: tuple[Any, ...] = (
    *(getattr, hasattr, vars, dir, eval, exec, compile, globals, locals, builtins.__import__),
    *(operator.attrgetter, operator.methodcaller, importlib.import_module),
    *(str.format, str.format_map, object.__getattribute__, type.__getattribute__, open),
    setattr,
)
# Methods of pandas that take names of methods; ``Expr.map_batches`` and the like take functions.
_TAKE_NAMES = frozenset({"agg", "aggregate", "transform", "apply"})
# Libraries none of whose functions finds attributes by text, but for those named above.
_KNOWN = frozenset(
    {"builtins", "json", "math", "cmath", "numpy", "pandas", "polars", "scipy", "statistics", "re"}
    | {"collections", "itertools", "decimal", "_decimal", "fractions", "datetime", "time", "abc"}
    | {"textwrap", "csv", "_csv", "io", "_io", "base64", "binascii", "hashlib", "_hashlib", "enum"}
    | {"struct", "_struct", "zlib", "random", "_random", "secrets", "dataclasses", "typing", "copy"}
    | {"bisect", "_bisect", "heapq", "_heapq", "operator", "_operator", "numbers", "string", "html"}
    | {"functools", "_functools", "_collections", "_json", "_statistics", "calendar", "warnings"}
    | {"_collections_abc", "_thread", "reprlib", "pathlib", "uuid", "_sha2"}
)
#: Modules of functions that are objects of NumPy's classes.
_OF_NUMPY = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special")
_SLOTS = (GetSetDescriptorType, MemberDescriptorType)
_METHODS_OF_TYPES = (*(WrapperDescriptorType, MethodDescriptorType, ClassMethodDescriptorType),)
_PLAIN = (int, float, complex, str, bytes, type(None), np.generic, np.dtype, range)
_HOLDERS = (list, tuple, set, frozenset, dict, Counter, OrderedDict, defaultdict, deque)
# Types whose methods find nothing that is not in the object, but for those named above.
_OF_DATA = (*_PLAIN, *_HOLDERS, np.ndarray)
_OF_DATACLASSES = ("_DataclassParams", "_HAS_DEFAULT_FACTORY_CLASS")
# Objects that hold nothing of a program.
_INERT = frozenset(
    {re.Pattern, datetime.date, datetime.datetime, datetime.timedelta, Decimal, Fraction, UUID}
    | {pathlib.PosixPath, pathlib.WindowsPath}
    | {type(dataclasses.MISSING), *map(vars(dataclasses).get, _OF_DATACLASSES)}
)
# Where the functions are that stand for functions of NumPy and Python in an analysis.
_STANDING_IN = ("liptest.enumerate.intercept.", "liptest.values.")
# The flag of classes that are made by statements.
_MADE_BY_PROGRAMS = 1 << 9
_DEEPEST = 12
_MISSING: Any = object()
# Entries of one object of the program that are looked at.
_MOST = 10_000


def may_tell_states(
    nodes: Iterable[ast.AST], local: Iterable[str], value_of: Callable[[str], Any]
) -> bool:
    """Whether statements, or functions that they name, could tell the state of a generator.

    ``local`` are names of their own; ``value_of`` gives what other names stand for, and raises
    KeyError where that is not known.
    """
    return _or_unknown(lambda: _Search().is_telling(list(nodes), set(local), value_of))


def value_may_tell_states(function: Any) -> bool:
    """The same of a function of the program, or an object that is called."""
    return _or_unknown(lambda: _Search().is_telling_value(function))


def _or_unknown(ask: Callable[[], bool]) -> bool:
    """The answer; objects that answer in ways of their own count as telling."""
    try:
        return ask()
    except (AttributeError, TypeError, ValueError, RecursionError):
        return True


class _Search:
    def __init__(self) -> None:
        # The objects are kept, so that no id is used twice.
        self._seen: dict[int, Any] = {}

    def is_telling(
        self, nodes: list[ast.AST], local: set[str], value_of: Callable[[str], Any]
    ) -> bool:
        if any(map(_is_telling_name, names_anywhere(*nodes))):
            return True
        parts = [part for node in nodes for part in ast.walk(node)]
        imports = [part for part in parts if isinstance(part, (ast.Import, ast.ImportFrom))]
        if any(map(self._is_telling_import, imports)):
            return True
        imported = names_assigned(*(part for part in imports if isinstance(part, ast.Import)))
        defined = {part.name for part in parts if isinstance(part, ast.FunctionDef)}
        if any(map(_is_telling_name, defined)):
            return True
        if any(_formats_unknown(part) or _makes_class(part) for part in parts):
            return True
        seen = _SeenNames(local - defined.difference(stored_by_name(*nodes)), value_of)
        if any(seen.are_asked_for(part) for part in parts):
            return True
        called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
        return any(
            self._is_telling_chain(chain, id(node) in called, local, imported, value_of)
            for node, chain in _find_chains(nodes)
        )

    def _is_telling_import(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Whether what is imported by name is, or leads to, a module or a generator."""
        words = {word for one in node.names for word in one.name.split(".")}
        if isinstance(node, ast.Import):
            first = {one.name.partition(".")[0] for one in node.names}
            return not first <= _KNOWN or any(map(_is_telling_name, words))
        words |= set((node.module or "").split("."))
        module = sys.modules.get(node.module or "") if node.level == 0 else None
        if module is None or module.__name__.startswith("liptest"):
            return True
        if any(map(_is_telling_name, words)):
            return True
        values = [vars(module).get(one.name, _MISSING) for one in node.names]
        return any(
            one is _MISSING or is_drawing(one) or self.is_telling_value(one) for one in values
        )

    def _is_telling_chain(
        self,
        chain: tuple[str, ...],
        is_called: bool,
        local: set[str],
        imported: set[str],
        value_of: Callable[[str], Any],
    ) -> bool:
        root, *others = chain
        if root in imported:
            return not others
        if root in local:
            return False
        try:
            value = value_of(root)
        except KeyError:
            return False
        for place, name in enumerate(others):
            if isinstance(value, ModuleType) and value.__name__.startswith("liptest"):
                return True
            if not isinstance(value, ModuleType):
                # Attributes of a generator are its methods, which have to be called.
                if isinstance(value, GENERATORS):
                    return not (is_called and place == len(others) - 1)
                break
            value = vars(value).get(name, _MISSING)
            if value is _MISSING:
                return True
        if is_called and is_drawing(value) and not isinstance(value, GENERATORS):
            return False
        return is_drawing(value) or self.is_telling_value(value)

    def is_telling_value(self, value: Any, deep: int = 0) -> bool:
        kind = type(value)
        module = _module_of(kind)
        if module in ("builtins", "numpy", "numpy.dtypes") and issubclass(kind, _PLAIN):
            return False
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = value
        # What stands for objects in an analysis is not asked anything.
        is_stand_in = module.startswith("liptest.")
        if is_stand_in and isinstance(value, type) and _calls_as_liptest(kind):
            return self.is_telling_value(vars(value).get("original", value), deep + 1)
        if deep > _DEEPEST or is_stand_in or isinstance(value, (ModuleType, *GENERATORS)):
            return True
        if _is_in(value, _FINDING):
            return True
        if kind is FunctionType or isinstance(value, type):
            return self._is_telling_code(value, deep)
        if kind in (BuiltinFunctionType, BuiltinMethodType, MethodWrapperType):
            return self._is_telling_builtin(value, deep)
        if kind in _METHODS_OF_TYPES:
            return not _is_harmless_method(value)
        if kind in _SLOTS:
            return _is_known(value.__objclass__)
        if kind in _INERT or _is_named_by_numpy(value):
            return False
        if kind is np.ndarray:
            return bool(value.dtype.hasobject)
        inside = _find_inside(value)
        return inside is None or any(
            is_drawing(one) or self.is_telling_value(one, deep + 1) for one in inside
        )

    def _is_telling_code(self, value: Any, deep: int) -> bool:
        if _is_known(value):
            return _is_telling_name(value.__name__)
        if isinstance(value, type):
            return self._is_telling_class(value, deep)
        return self._is_telling_function(value, deep)

    def _is_telling_builtin(self, value: Any, deep: int) -> bool:
        """Of functions that are not written in Python, with the object that they belong to."""
        if is_drawing(value) or _is_telling_name(value.__name__):
            return True
        owner = value.__self__
        if owner is None or isinstance(owner, ModuleType):
            return not _is_of_known_library(value)
        return self.is_telling_value(owner, deep + 1)

    def _is_telling_function(self, function: FunctionType, deep: int) -> bool:
        source = read_source(function) or read_source(function, gives_generators=True)
        code = function.__code__
        local = {*code.co_varnames, *code.co_cellvars}
        given = [function.__defaults__ or (), function.__kwdefaults__ or {}]
        if source is None:  # methods of dataclasses, which Python writes
            given += [cell.cell_contents for cell in function.__closure__ or ()]
            names = names_in(code)
            given += [function.__globals__[name] for name in names if name in function.__globals__]
        if self.is_telling_value(given, deep + 1):
            return True
        if source is None:
            return any(map(_is_telling_name, names_in(code))) or bool(_calls_by_text(code))
        return self.is_telling(list(source.body), local, source.value_of)

    def _is_telling_class(self, kind: type, deep: int) -> bool:
        for one in kind.__mro__[:-1]:
            if _is_known(one):
                continue
            if any(self.is_telling_value(member, deep + 1) for member in vars(one).values()):
                return True
        return False


def _calls_by_text(code: CodeType) -> frozenset[str]:
    """Functions of Python among its names that find attributes by text."""
    finding = {name for name, value in vars(builtins).items() if _is_in(value, _FINDING)}
    return names_in(code) & (finding | {"format"})


def _is_telling_name(name: str) -> bool:
    return name in TELLING or name.startswith("read_")


def _is_harmless_method(value: Any) -> bool:
    """Whether it is a method of a type of data, which takes its object as an argument."""
    return value.__objclass__ in _OF_DATA and not _is_telling_name(value.__name__)


def _is_in(value: Any, those: tuple[Any, ...]) -> bool:
    return any(value is one for one in those)


def _find_inside(value: Any) -> list[Any] | None:
    """What an object holds; None where that is not known, or very much."""
    kind = type(value)
    if kind in _HOLDERS:
        inside = [*value, *value.values()] if isinstance(value, dict) else list(value)
        if kind is defaultdict:
            inside.append(value.default_factory)
    elif kind is MethodType:
        inside = [value.__func__, value.__self__]
    elif kind is functools.partial:
        inside = [value.func, value.args, value.keywords]
    elif kind in (classmethod, staticmethod):
        inside = [value.__func__]
    elif kind is property:
        inside = [value.fget, value.fset, value.fdel]
    elif kind is dataclasses.Field:
        inside = [value.default, value.default_factory]
    elif kind is type(functools.cache(abs)):
        inside = [value.__wrapped__]
    elif kind is object:
        inside = []
    elif not kind.__flags__ & _MADE_BY_PROGRAMS or _is_known(kind):
        return None  # an object of a library or of Python, of which nothing is known
    else:
        inside = [kind, _held_by(value)]
    return inside if len(inside) <= _MOST else None


def _calls_as_liptest(kind: type) -> bool:
    """Whether it is the class of what stands for a class in an analysis."""
    call = vars(kind).get("__call__")
    return isinstance(call, FunctionType) and _is_known(call)


def _held_by(value: Any) -> dict[str, Any]:
    """What an object of the program holds, found without code of its class."""
    try:
        return dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return {}


def _is_known(value: Any) -> bool:
    """Whether a function or class is one of a library that is known, and not only says so."""
    if isinstance(value, FunctionType):
        file, space = value.__code__.co_filename, value.__globals__
        module = sys.modules.get(str(space.get("__name__")))
        if module is None or vars(module) is not space:
            return False
        if module.__name__.startswith(_STANDING_IN) and is_ours(file):
            return True
        if not (is_of_python(file) or is_of_packages(file)):
            return False
    if not _is_of_known_library(value):
        return False
    if isinstance(value, type) and not value.__flags__ & _MADE_BY_PROGRAMS:
        return True
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    if isinstance(found, type) and _calls_as_liptest(type(found)):
        found = vars(found).get("original", found)
    return getattr(found, "__func__", found) is value


def _module_of(kind: type) -> str:
    """The module that a class says it is of; classes of Cython say it in another way."""
    return kind.__module__ if isinstance(kind.__module__, str) else ""


def _is_of_known_library(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    if module is None:
        module = getattr(getattr(value, "__objclass__", None), "__module__", "builtins")
    return isinstance(module, str) and module.partition(".")[0] in _KNOWN


def _is_named_by_numpy(value: Any) -> bool:
    """Whether it is a function of NumPy's own, and no other that is made to be like one."""
    if not isinstance(value, (np.ufunc, type(np.mean))):
        return False
    modules = [sys.modules[name] for name in _OF_NUMPY if name in sys.modules]
    return any(vars(module).get(value.__name__) is value for module in modules)


def _formats_unknown(node: ast.AST) -> bool:
    """``text.format(..)`` whose text is not written there, or asks for attributes."""
    if not isinstance(node, ast.Attribute) or node.attr != "format":
        return False
    text = node.value
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return True
    fields = text.value.replace("{{", "").split("{")[1:]
    return any(
        mark in field.partition("}")[0].partition(":")[0] for field in fields for mark in ".["
    )


def _makes_class(node: ast.AST) -> bool:
    """``type(name, bases, space)``, whose attributes may have any names."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id == "type" and (len(node.args) != 1 or bool(node.keywords))


@dataclasses.dataclass(frozen=True)
class _SeenNames:
    """Calls of methods of pandas that take names of methods (``frame.agg("mean")``)."""

    local: set[str]
    value_of: Callable[[str], Any]

    def are_asked_for(self, node: ast.AST) -> bool:
        """Whether a node is such a call, and what it asks for is not seen, or may tell."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr not in _TAKE_NAMES:
            return False
        given = [*node.args, *(one.value for one in node.keywords)]
        return not all(map(self._is_seen, given))

    def _is_seen(self, node: ast.AST) -> bool:
        match node:
            case ast.Constant():
                return not isinstance(node.value, str) or not _is_telling_name(node.value)
            case ast.List() | ast.Tuple():
                return all(map(self._is_seen, node.elts))
            case ast.Dict():
                return all(map(self._is_seen, node.values))
            case ast.Name():
                return node.id not in self.local and self._is_function(node.id)
        return isinstance(node, (ast.Lambda, ast.Attribute))

    def _is_function(self, name: str) -> bool:
        try:
            return not isinstance(self.value_of(name), (str, *_HOLDERS))
        except KeyError:
            return True


def _find_chains(nodes: list[ast.AST]) -> Iterator[tuple[ast.AST, tuple[str, ...]]]:
    """All names that are read, each with the attributes that are asked of it."""
    left: list[ast.AST] = list(nodes)
    while left:
        node = left.pop()
        chain = name_chain(node)
        if not chain:
            left += ast.iter_child_nodes(node)
        elif not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
            yield node, chain
