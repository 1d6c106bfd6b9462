"""Where a program holds random generators: places that can be given another object and back.

``reachable`` walks from a function over what its code names, closures, defaults, attributes,
classes and containers. ``module_sites`` finds names in all modules that are loaded.
"""

from __future__ import annotations

import builtins
import dis
import gc
import io
import math
import random
import sys
import weakref
from abc import ABC
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from operator import is_
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from liptest.enumerate.watch.unhashable_classes import has_hash
from liptest.foreign import source_of_compiled
from liptest.values.faults import CheckingBits

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
#: Objects that one walk looks at; a library is a few thousand.
MOST = 50_000
# Types of entries of containers of which nothing more can be said.
_ATOMS = {int, float, complex, bool, str, bytes, type(None), np.float64, np.int64, np.bool_}
_PLAIN = (
    *(int, float, complex, bool, str, bytes, bytearray, type(None), type(...), CodeType, range),
    *(np.generic, np.dtype),
    *(GetSetDescriptorType, MemberDescriptorType),
    type(vars(ABC)["_abc_impl"]),  # sets of classes that only isinstance asks
)
# Types of which all is looked at; an object of a subclass may hold more.
_WALKED = {FunctionType, CellType, dict, list, tuple, set, frozenset, deque, np.ndarray}
#: Functions that import what is named by a text.
COMPUTED = frozenset({"import_module", "__import__"})
# Functions that name one of these reach globals that they do not name,
_MAKING_GLOBALS = frozenset(
    {"globals", "vars", "eval", "exec", "modules", "__globals__", *COMPUTED}
    | {"f_globals", "f_locals", "_getframe", "currentframe", "getmodule"}
)
# of these any module,
_MAKING_MODULES = COMPUTED | {"modules"}
#: and of these what modules that they name hold under other names.
MAKING_NAMES = _MAKING_GLOBALS | {"getattr", "attrgetter", "methodcaller"}
MAKING_NAMES |= {"__dict__", "__getattribute__"}


#: What these packages do with random numbers goes through names that are replaced everywhere.
FOREIGN = frozenset(
    sys.stdlib_module_names
    | {"numpy", "scipy", "pandas", "polars", "sklearn", "matplotlib"}
    | {"pytest", "_pytest", "hypothesis"}
)
# Objects of these are not part of a program that they run: their files are their own,
_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "xdist", "execnet"})
# nor is what liptest has found out of a mechanism that the program names.
_NOTES = frozenset(
    {"liptest.enumerate.trees.enumeration", "liptest.enumerate.watch.access_tracking"}
)


@dataclass(frozen=True, eq=False)
class Site:
    """One place that holds a value; ``put`` puts another one there, None where nobody can."""

    name: str
    value: Any
    put: Callable[[Any], None] | None


_DRAWING = (*GENERATORS, np.random.BitGenerator)
# What modules name most.
_NEVER_DRAWING = _ATOMS | {FunctionType, type, ModuleType, dict, list, tuple, set, frozenset}


def is_drawing(value: Any) -> bool:
    """Whether it is a random generator, the bits of one, or a method of one."""
    kind = type(value)
    if has_hash(kind) and kind in _NEVER_DRAWING:
        return False
    if isinstance(value, _DRAWING):
        return not isinstance(value, type)
    bound = isinstance(value, (BuiltinMethodType, MethodType))
    return bound and isinstance(value.__self__, GENERATORS)


# Kept: while a program is analysed the name stands for something else.
_SEQUENCE = np.random.SeedSequence


def has_fresh_entropy(value: Any) -> bool:
    """Whether it is a SeedSequence with bits of the operating system, as far as its size tells."""
    if type(value) is not _SEQUENCE:
        return False
    return isinstance(value.entropy, int) and value.entropy >= 1 << 64


@lru_cache(maxsize=1 << 12)
def is_plain_kind(kind: type) -> bool:
    """Whether no object of a class is code, a set, a file or anything that draws."""
    telling: tuple[type, ...] = (
        BuiltinMethodType,
        MethodType,
        FunctionType,
        np.random.BitGenerator,
    )
    telling += (*GENERATORS, np.random.BitGenerator, _SEQUENCE, np.ndarray)
    if issubclass(kind, (*telling, set, frozenset, io.IOBase, *weakref.ProxyTypes)):
        return False
    claims = any("__class__" in vars(base) for base in kind.__mro__ if base is not object)
    return not claims and not str(kind.__module__).startswith("numba.")


def is_compiled_drawing(value: Any) -> bool:
    """Whether Numba compiled it, and its code names random numbers."""
    source = numba_source(value)
    return source is not None and "random" in names_in(source.__code__)


def numba_source(value: Any) -> FunctionType | None:
    """The Python function that Numba compiled; None for what Numba did not make."""
    if not str(type(value).__module__).startswith("numba."):
        return None
    source = source_of_compiled(value)
    return source if isinstance(source, FunctionType) else None


def is_plain_state(value: Any) -> bool:
    """Whether to add to a value calls nothing of the program's: a number, text, or list of others.

    A class of its own may count in ``__iadd__``, ``append`` or ``__eq__``, and tell.
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if kind is np.ndarray:
        return not value.dtype.hasobject
    if kind is defaultdict and value.default_factory not in _ATOMS | {None, list, dict, set}:
        return False
    if kind in (dict, Counter, defaultdict):
        return _are_of_others(value) and _are_of_others(value.values())
    return kind in (list, set, deque) and _are_of_others(value)


def _are_of_others(values: Iterable[Any]) -> bool:
    if not _is_telling(values):
        return True
    return all(
        _are_of_others(entry)
        if type(entry) in (tuple, frozenset)
        else is_others(type(entry).__module__)
        for entry in values
    )


def reachable(
    function: Any, wanted: Callable[[Any], bool], modules: Iterable[ModuleType] = ()
) -> list[Site]:
    """Sites of all wanted values that the function can reach, or any name of these modules.

    Where it reaches too many objects, any generator of this process may be one of them; objects
    that are frozen (``gc.freeze``) are not listed, so then the walk goes on to its end.
    """
    walk = _Walk(wanted)
    walk.visit("the mechanism", function, None)
    for module in modules:
        space = vars(module)
        for name, value in list(space.items()):
            walk.visit(f"{module.__name__}.{name}", value, partial(space.__setitem__, name))
    most = math.inf if gc.get_freeze_count() else MOST
    while walk.queue and len(walk.seen) < most:
        walk.visit(*walk.queue.pop())
    if walk.queue:
        for value in gc.get_objects():
            if not isinstance(value, np.random.BitGenerator) or isinstance(value, CheckingBits):
                continue
            if wanted(value):
                walk.found.append(Site("one of very many objects", value, None))
    return walk.found


class _Walk:
    def __init__(self, wanted: Callable[[Any], bool]) -> None:
        self.wanted = wanted
        self.found: list[Site] = []
        self.queue: list[tuple[str, Any, Callable[[Any], None] | None]] = []
        #: By id; the objects are kept so that no id is used twice.
        self.seen: dict[int, Any] = {}

    def visit(self, name: str, value: Any, put: Callable[[Any], None] | None) -> None:
        # What was seen was not wanted, and no number or text ever is.
        seen = self.seen
        if id(value) in seen:
            return
        if self.wanted(value):
            self.found.append(Site(name, value, put))
            return
        if isinstance(value, _PLAIN):
            return
        seen[id(value)] = value
        for inner, item, setter in _parts(value):
            if type(item) not in _ATOMS and id(item) not in seen:
                self.queue.append((inner or name, item, setter))


def _parts(value: Any) -> Iterator[tuple[str, Any, Callable[[Any], None] | None]]:
    """What an object holds: name ("" for the object's own), value, how to put another there."""
    if isinstance(value, FunctionType):
        yield from _of_function(value)
    elif isinstance(value, ModuleType):
        return
    elif isinstance(value, BuiltinMethodType):
        yield "", value.__self__, None
        return
    elif isinstance(value, CellType):
        try:
            yield "", value.cell_contents, partial(setattr, value, "cell_contents")
        except ValueError:
            return
    elif isinstance(value, dict):
        for key in _telling(value):
            yield "", key, None
        for key, item in list(value.items()) if _is_telling(value.values()) else ():
            name = key if isinstance(key, str) else ""
            if type(item) not in _ATOMS:
                yield name, item, partial(value.__setitem__, key)
    elif isinstance(value, (list, deque)):
        for place, item in enumerate(list(value)) if _is_telling(value) else ():
            if type(item) not in _ATOMS:
                yield "", item, partial(value.__setitem__, place)
    elif isinstance(value, (tuple, set, frozenset)):
        for item in _telling(value):
            yield "", item, None
    elif isinstance(value, np.ndarray):
        for item in _telling(value.ravel().tolist()) if value.dtype.hasobject else ():
            yield "", item, None
    elif isinstance(value, type):
        yield from _of_class(value)
    elif _is_apart(type(value)):
        return
    elif is_frame(value):
        yield from _of_frame(value)
        return
    if type(value) not in _WALKED and not isinstance(value, type):
        yield from _of_object(value)


def _is_apart(kind: type) -> bool:
    """Whether objects of a class are part of no program, though one may hold them."""
    module = str(kind.__module__)
    return module.partition(".")[0] in _RUNNERS or module in _NOTES


def is_frame(value: Any) -> bool:
    """Whether it is a frame, a series or an index of pandas itself, of no subclass of them."""
    kind = type(value)
    return kind.__name__ in _FRAMES and kind.__module__ in ("pandas", *_FRAMES[kind.__name__])


#: By the class of pandas the modules that may say that it is theirs.
_FRAMES = {
    "DataFrame": ("pandas.core.frame",),
    "Series": ("pandas.core.series",),
    "Index": ("pandas.core.indexes.base",),
    "RangeIndex": ("pandas.core.indexes.range",),
    "MultiIndex": ("pandas.core.indexes.multi",),
}


def _of_frame(frame: Any) -> Iterator[tuple[str, Any, Any]]:
    """What it holds: columns of objects, and what was put into its attributes.

    Not its classes, nor the compiled parts of others that keep its texts: they draw nothing.
    """
    kind = type(frame).__name__
    series = [one for _, one in frame.items()] if kind == "DataFrame" else [frame]
    for one in series:
        dtype = one.dtype
        if isinstance(dtype, np.dtype) and dtype.hasobject:
            yield "", one.to_numpy(), None
        elif not is_others(type(dtype).__module__):
            yield "", one.array, None
    own = {name: one for name, one in vars(frame).items() if not name.startswith("_")}
    yield "", own, None
    for name in ("attrs", "index", "columns", "levels"):
        yield "", find_attribute(frame, name), None


def _is_telling(values: Iterable[Any]) -> bool:
    """Whether any of them is more than a number or a text; a million take some 20 ms."""
    return not _ATOMS.issuperset(map(type, values))


def _telling(values: Iterable[Any]) -> Iterator[Any]:
    if _is_telling(values):
        yield from (entry for entry in list(values) if type(entry) not in _ATOMS)


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any, Any]]:
    # By where the code is: stand-ins say that they come from elsewhere.
    module = function.__globals__.get("__name__")
    if is_own_module(module):
        return
    # What functions of the standard library, of NumPy or of liptest name is not the program's.
    if not is_others(module):
        yield from _find_globals(function)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell, None
    defaults = list(function.__defaults__ or ())
    for place, item in enumerate(defaults):
        yield "a default argument", item, partial(_put_default, function, place)
    by_name = function.__kwdefaults__ or {}
    for name, item in by_name.items():
        yield name, item, partial(by_name.__setitem__, name)
    for inside in (vars(function), function.__annotations__):
        for name, item in inside.items():
            if not (inside is function.__annotations__ and _is_connection(item)):
                yield name, item, partial(inside.__setitem__, name)


def _is_connection(kind: Any) -> bool:
    """Whether it says that a function gets a connection, which is another object then."""
    module = find_attribute(kind, "__module__") if isinstance(kind, type) else None
    return isinstance(module, str) and module.partition(".")[0] in _CONNECTING


def _find_globals(function: FunctionType) -> Iterator[tuple[str, Any, Any]]:
    named = names_in(function.__code__)
    # Where names are made up, any name may be meant.
    any_global = not named.isdisjoint(_MAKING_GLOBALS)
    any_name = not named.isdisjoint(MAKING_NAMES)
    space = function.__globals__
    modules = []
    for name in space.keys() if any_global else named & space.keys():
        item = space[name]
        if isinstance(item, ModuleType):
            modules.append(item)
        yield name, item, partial(space.__setitem__, name)
    if not named.isdisjoint(_MAKING_MODULES):
        yield from _of_any_module()
    everywhere = vars(builtins)
    for name in named & everywhere.keys() - space.keys():
        yield name, everywhere[name], partial(everywhere.__setitem__, name)
    modules += [
        imported for imported in find_imported(function.__code__, space) if imported is not None
    ]
    while modules:
        module = modules.pop()
        if is_others(module.__name__):
            continue
        inside = vars(module)
        for name in inside.keys() if any_name else named & inside.keys():
            item = inside[name]
            inner = f"{module.__name__}.{name}"
            is_part = isinstance(item, ModuleType) and item.__name__ == inner
            if is_part and name in named:
                modules.append(item)
            yield inner, item, partial(inside.__setitem__, name)


def _of_any_module() -> Iterator[tuple[str, Any, Any]]:
    """The generators that modules of programs hold."""
    for module in list(sys.modules.values()):
        space = find_attribute(module, "__dict__")
        if type(space) is not dict or is_others(space.get("__name__")):
            continue
        for name, item in list(space.items()):
            if is_drawing(item):
                yield f"{space.get('__name__')}.{name}", item, partial(space.__setitem__, name)


def _put_default(function: FunctionType, place: int, value: Any) -> None:
    defaults = list(function.__defaults__ or ())
    defaults[place] = value
    function.__defaults__ = tuple(defaults)


def _of_class(kind: type) -> Iterator[tuple[str, Any, Any]]:
    if is_others(kind.__module__):
        return
    for base in (*kind.__mro__[1:], type(kind)):
        yield "", base, None
    for name, item in list(vars(kind).items()):
        if isinstance(item, (staticmethod, classmethod)):
            yield name, item.__func__, None
        elif isinstance(item, property):
            for method in (item.fget, item.fset, item.fdel):
                yield name, method, None
        else:
            yield name, item, partial(setattr, kind, name)


def _of_object(value: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, MethodType):
        yield "", value.__self__, None
        yield "", value.__func__, None
        return
    if isinstance(value, partial):
        yield "", value.func, None
        for place, item in enumerate(value.args):
            yield "an argument of a partial", item, partial(_put_argument, value, place)
        yield "", value.keywords, None
        return
    if isinstance(value, ContextVar):
        if value in copy_context():
            yield value.name, value.get(), value.set
    elif issubclass(type(value), (weakref.ref, *weakref.ProxyTypes)):
        yield "", _find_target(value), None
    inner = find_attribute(value, "__wrapped__")
    if isinstance(inner, FunctionType):
        yield "", inner, None
    attributes = find_attribute(value, "__dict__")
    if isinstance(attributes, dict):
        for name, item in list(attributes.items()):
            yield str(name), item, partial(attributes.__setitem__, name)
    kind: Any = type(value)
    for name in _slots(kind):
        yield name, find_attribute(value, name), partial(object.__setattr__, value, name)
    yield "", type(value), None
    # What C holds, in places that nobody can write to: it is watched.
    for item in _telling(gc.get_referents(value)):
        yield "", item, None


def _find_target(value: Any) -> Any:
    """What a weak reference or a weak proxy is of; None of one that is gone."""
    if issubclass(type(value), weakref.ref):
        return weakref.ref.__call__(value)
    try:
        return value.__init__.__self__
    except (AttributeError, ReferenceError):
        return None


def _put_argument(function: partial[Any], place: int, value: Any) -> None:
    arguments = [*function.args]
    arguments[place] = value
    state = function.func, tuple(arguments), function.keywords, vars(function)
    function.__setstate__(state)  # type: ignore[attr-defined]


@lru_cache(maxsize=1 << 12)
def _slots(kind: type) -> tuple[str, ...]:
    return tuple(
        name
        for base in kind.__mro__
        for name, item in vars(base).items()
        if isinstance(item, MemberDescriptorType) and not is_foreign(base.__module__)
    )


def is_foreign(module: Any) -> bool:
    """Whether it is the standard library's, NumPy's or alike."""
    return isinstance(module, str) and module.partition(".")[0] in FOREIGN


def is_others(module: Any) -> bool:
    """Whether it is foreign, or a module of liptest: no part of any program."""
    return is_foreign(module) or (isinstance(module, str) and module.partition(".")[0] == "liptest")


#: Of databases that a program may get a connection to (``databases``).
_CONNECTING = ("duckdb", "_duckdb", "sqlalchemy")
_OWN = ("liptest.values", "liptest.enumerate")


def is_own_module(module: Any) -> bool:
    """Whether it is a module of this package."""
    return isinstance(module, str) and module.startswith(_OWN)


@lru_cache(maxsize=1 << 14)
def names_in(code: CodeType) -> frozenset[str]:
    """Global and attribute names in code, that of functions inside it included."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


def find_imported(code: CodeType, space: dict[str, Any]) -> list[ModuleType | None]:
    """Modules that code imports when it runs; None for one that is not loaded yet.

    ``space`` are the globals of the code. A module inside a package stands for the package, too.
    """
    modules: list[ModuleType | None] = []
    for name, level in _import_steps(code):
        parents = str(space.get("__package__") or "").split(".") if level else []
        path = [*parents[: len(parents) - level + 1], *(name.split(".") if name else [])]
        for end in range(1, len(path) + 1):
            module = sys.modules.get(".".join(path[:end]))
            modules.append(module if isinstance(module, ModuleType) else None)
    return modules


def has_step(code: CodeType, *names: str) -> bool:
    """Whether one of the steps of code, without functions inside it, has one of these names."""
    steps = code.co_code[::2]
    return any(dis.opmap[name] in steps for name in names)


@lru_cache(maxsize=1 << 14)
def _import_steps(code: CodeType) -> tuple[tuple[str, int], ...]:
    """(name, how many packages up) of each import in code, that of functions inside it included."""
    steps = []
    if has_step(code, "IMPORT_NAME"):
        steps = [
            instruction
            for instruction in dis.get_instructions(code)
            if instruction.opname != "EXTENDED_ARG"
        ]
    imports = [
        (str(step.argval), int(steps[place - 2].argval))
        for place, step in enumerate(steps)
        if step.opname == "IMPORT_NAME"
    ]
    inner = (
        _import_steps(constant) for constant in code.co_consts if isinstance(constant, CodeType)
    )
    return tuple(dict.fromkeys([*imports, *chain.from_iterable(inner)]))


class _Looked:
    """Modules as they were when they were looked at, and what was found in them."""

    def __init__(self) -> None:
        self.modules: list[Any] = []
        self.spaces: list[dict[str, Any]] = []
        self.sizes: list[int] = []
        self.found: dict[int, list[Site]] = {}
        #: All that was found: the names of a module, a name, what it stood for, and the site.
        self.holding: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.values: list[Any] = []
        self.sites: list[Site] = []

    def is_as_before(self, modules: list[Any]) -> bool:
        """Whether the loaded modules, and their numbers of names, are those looked at."""
        # Not by ``id``, each call of which is an event for hooks.
        if len(modules) != len(self.modules) or not all(map(is_, modules, self.modules)):
            return False
        return self.sizes == list(map(len, self.spaces))

    def gather(self) -> None:
        """List all that was found."""
        spaces = {id(space): space for space in self.spaces}
        for place, sites in self.found.items():
            self.holding += [spaces[place]] * len(sites)
            self.sites += sites
        self.names = [site.name for site in self.sites]
        self.values = [site.value for site in self.sites]


_looked = _Looked()


def module_sites(replaced: dict[int, Any]) -> list[Site]:
    """Sites where loaded modules name any of the objects with these ids.

    These are all that any analysis replaces: a module is looked at again only when its number of
    names has changed.
    """
    global _looked
    modules = list(sys.modules.values())
    if not _looked.is_as_before(modules):
        _looked = _look(modules, replaced, _looked)
    values = list(map(dict.get, _looked.holding, _looked.names))
    if all(map(is_, values, _looked.values)):
        return _looked.sites
    return [
        site if value is site.value else _site_in(space, site.name)
        for space, site, value in zip(_looked.holding, _looked.sites, values, strict=True)
        if id(value) in replaced
    ]


def _look(modules: list[Any], replaced: dict[int, Any], before: _Looked) -> _Looked:
    """All that is unlike before looked at again; what is gone is not kept."""
    now = _Looked()
    now.modules = modules
    sizes = dict(zip(map(id, before.spaces), before.sizes, strict=True))
    for module in modules:
        space = getattr(module, "__dict__", None)
        if type(space) is not dict:
            continue
        now.spaces.append(space)
        now.sizes.append(len(space))
        if sizes.get(id(space)) == len(space):
            sites = before.found.get(id(space))
        else:
            sites = [
                _site_in(space, name)
                for name, value in list(space.items())
                if id(value) in replaced and not _is_internal(str(module.__name__), value)
            ]
        if sites:
            now.found[id(space)] = sites
    now.gather()
    return now


def _site_in(space: dict[str, Any], name: str) -> Site:
    return Site(name, space[name], partial(space.__setitem__, name))


def _is_internal(module: str, value: Any) -> bool:
    """Whether a module needs the original: liptest itself, and NumPy to make its own objects."""
    if module.startswith("numpy.random."):
        return module != "numpy.random.mtrand" or isinstance(value, type)
    return is_own_module(module)


#: Classes whose own objects have no attributes and are not code: nothing need be asked of them.
_BARE_KINDS: tuple[type, ...] = (int, float, complex, bool, str, bytes, slice, range)
_BARE_KINDS += (
    tuple,
    list,
    dict,
    set,
    frozenset,
    type(None),
    np.ndarray,
    np.float64,
    np.int64,
    np.bool_,
)
#: By id, as classes of the program may have a hash of their own; these classes stay.
BARE_KINDS = frozenset(map(id, _BARE_KINDS))


def list_insides(values: Iterable[Any]) -> list[dict[str, Any]]:
    """The attributes of those of some objects that have any."""
    found = (
        find_attribute(value, "__dict__") for value in values if id(type(value)) not in BARE_KINDS
    )
    return [inside for inside in found if isinstance(inside, dict)]


def find_attribute(value: Any, name: str) -> Any:
    """What an object has under a name, None for nothing; none of its own ``__getattr__`` is run."""
    try:
        return object.__getattribute__(value, name)
    except Exception:  # a property of its own may raise anything
        return None
