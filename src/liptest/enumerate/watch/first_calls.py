"""What a function held before it was first called: put back before each run of an analysis.

A law is that of a call as it would be in a new process. A table that a call fills when it is first
needed (``if self.total is None: self.total = data.sum()``) would else be filled with one dataset,
and be met by the runs on all others. What cannot be put back, such as a generator that has gone on,
and is changed by a call, is an error.
"""

from __future__ import annotations

import dis
import gc
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from operator import is_
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import find_attribute, names_in
from liptest.enumerate.trees.choice_tree import Abort
from liptest.enumerate.watch.kept_state import (
    CHANGING,
    describe_held,
    is_read,
    leaves_state,
    leaves_state_in,
    without_attributes,
)
from liptest.enumerate.watch.set_orders import find_steps
from liptest.enumerate.watch.unread_attributes import unread_attributes
from liptest.errors import NonDeterministicError
from liptest.runs.fingerprints import is_local
from liptest.runs.surroundings import without_hooks
from liptest.values.faults import codes_in

#: Entries that are compared before each run; where there are more, only those of a few runs.
_MOST_EACH_RUN = 200
# Larger arrays and lists are not copied.
_MOST_BYTES, _MOST_ENTRIES = 1 << 16, 10_000
_STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_STORING = frozenset(dis.opmap[name] for name in _STORES)
_CHANGES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_ATTR", "DELETE_ATTR"})
_CHANGING = CHANGING | {"setdefault", "insert", "pop"}
_APART = ("liptest", "logging", "pytest", "_pytest", "pluggy", "hypothesis")
_MISSING = object()
#: What is held now; how to put an earlier content in its place.
Place = tuple[Callable[[], list[Any]], Callable[[list[Any]], None]]


class HeldBefore:
    """What lists, dicts, objects, cells and global names of a program held when it was noted."""

    def __init__(self, values: Iterable[Any]) -> None:
        values = list(values)
        left = _only_written(values) | _parts_of_others(values)
        places = [_find_place(value) for value in values if id(value) not in left]
        places += [_place_of_globals(value) for value in values if type(value) is FunctionType]
        noted = [(now, put, now()) for now, put in filter(None, places)]
        self._noted = [one for one in noted if len(one[2]) <= _MOST_ENTRIES]
        #: Whether it is looked at before each run.
        self.is_small = sum(len(content) for _, _, content in self._noted) <= _MOST_EACH_RUN

    def __bool__(self) -> bool:
        return bool(self._noted)

    def put_back(self) -> bool:
        """Put back what has changed, and say whether anything had."""
        has_changed = False
        with without_hooks():
            for now, put, content in self._noted:
                if _differ(now(), content):
                    put(content)
                    has_changed = True
        return has_changed


class FirstCalls:
    """The calls of one mechanism: whether the first ones change what cannot be put back."""

    def __init__(self) -> None:
        self._sessions = 0
        self._error: NonDeterministicError | None = None

    @contextmanager
    def watched(self, session: Any) -> Iterator[None]:
        """A session, after which the program holds what it held before."""
        if self._error is not None:
            raise self._error
        reached, session.reached = session.reached, []
        session.held = held = HeldBefore(reached)
        self._sessions += 1
        # Of what can count calls the first session tells already: later ones are samples.
        is_looked_at = self._sessions & (self._sessions - 1) == 0
        before = _describe_held(session) if is_looked_at else None
        loaded = frozenset(sys.modules) if is_looked_at else frozenset()
        try:
            yield
        finally:
            session.held = None
            held.put_back()
            if before is not None:
                self._error = _find_left_in(session, before, frozenset(sys.modules) - loaded)
        if self._error is not None:
            raise self._error


def _describe_held(session: Any, left_out: frozenset[str] = frozenset()) -> list[str]:
    """Lines that determine what the program holds."""
    with session.watch.set_aside(is_heard=False):
        return describe_held(session.program, left_out=left_out)


def _find_left_in(
    session: Any, before: list[str], imported: frozenset[str]
) -> NonDeterministicError | None:
    """The error where the program holds something else than before, which it may read.

    What it has imported meanwhile was not there; so nothing in it may be changed by code.
    """
    for name in sorted(imported):
        module = sys.modules.get(name)
        path = find_attribute(module, "__file__")
        if module is not None and path and is_local(Path(path)) and changes_its_names(module):
            return leaves_state_in(session.name, name)
    after = _describe_held(session, imported)
    if before == after:
        return None
    try:
        unread = unread_attributes(session.program)
    except (Abort, Exception):  # of what it reaches and looks at: then all is taken for read
        unread = frozenset()
    before, after = (without_attributes(lines, unread) for lines in (before, after))
    if before == after:
        return None
    return leaves_state(session.name, session.program, before, after)


def changes_its_names(module: ModuleType) -> bool:
    """Whether code of a module may change what its names stand for."""
    values = [*vars(module).values()]
    own_values = [
        value for value in values if find_attribute(value, "__module__") == module.__name__
    ]
    parts = [part for kind in own_values if isinstance(kind, type) for part in vars(kind).values()]
    functions = [value for value in (*own_values, *parts) if type(value) is FunctionType]
    steps = {
        (step.name, str(step.value))
        for function in functions
        for code in codes_in(function.__code__)
        for step in find_steps(code)
    }
    stored = {name for name, _ in steps}
    if stored & _STORES:
        return True
    changes = bool(stored & _CHANGES or {value for _, value in steps} & _CHANGING)
    held = [value for value in values if _is_container(value)]
    held += [value for value in own_values if not isinstance(value, type)]
    return changes and any(map(_find_place, held))


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, dict, set, deque, bytearray, np.ndarray))


def _differ(current: list[Any], content: list[Any]) -> bool:
    if len(current) != len(content):
        return True
    # Almost always all are the same objects.
    return not all(map(is_, current, content)) and any(map(_is_other, current, content))


def _is_other(one: Any, other: Any) -> bool:
    return one is not other and not (type(one) is bytes and one == other)


def _only_written(values: list[Any]) -> set[int]:
    """The ids of values that the program's code adds to and never reads."""
    read: dict[bool, set[int]] = {True: set(), False: set()}
    for function in values:
        if type(function) is not FunctionType:
            continue
        code, space = function.__code__, function.__globals__
        for name in names_in(code) & space.keys():
            read[is_read(code, name, space[name])].add(id(space[name]))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            seen = is_read(code, name, value)
            read[seen] |= {id(value), id(cell)}
    return read[False] - read[True]


def _find_place(value: Any) -> Place | None:
    """Where a value keeps what it holds; None for what holds nothing that can be put back."""
    kind = type(value)
    if isinstance(value, dict):
        is_module = "__builtins__" in value or "__spec__" in value
        return None if is_module else (partial(_items, value), partial(_put_items, value))
    if isinstance(value, (list, deque, bytearray)):
        return partial(list, value), partial(_put_entries, value)
    if isinstance(value, set):
        return partial(list, value), partial(_put_members, value)
    if isinstance(value, CellType):
        return partial(_content, value), partial(_put_content, value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or value.nbytes > _MOST_BYTES or not value.flags.writeable:
            return None
        return lambda: [value.tobytes()], partial(_put_bytes, value)
    if isinstance(value, type):
        return _place_of_class(value)
    inside = None if _is_of_others(kind) else _find_attributes(value)
    return (partial(_items, inside), partial(_put_items, inside)) if type(inside) is dict else None


def _is_of_others(kind: type) -> bool:
    """Whether objects of a class are not put back: modules, and events that threads wait for."""
    first = str(kind.__module__).partition(".")[0]
    is_standard = first in sys.stdlib_module_names and first != "builtins"
    if first in _APART or issubclass(kind, ModuleType):
        return True
    return is_standard and kind not in (threading.local, SimpleNamespace)


def _find_attributes(value: Any) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def _parts_of_others(values: list[Any]) -> set[int]:
    """The ids of lists and the like that such objects keep themselves."""
    insides = [
        _find_attributes(value)
        for value in values
        if _is_of_others(type(value)) and not isinstance(value, ModuleType)
    ]
    parts = (part for inside in insides if type(inside) is dict for part in [*inside.values()])
    # A cycle keeps what it has given in a list of its own, and goes on where it is.
    given = (part for value in values if type(value) is cycle for part in gc.get_referents(value))
    return {*map(id, insides), *map(id, parts), *map(id, given)}


def _place_of_class(kind: type) -> Place | None:
    if str(kind.__module__).partition(".")[0] in (*_APART, "builtins", "numpy"):
        return None

    def put(content: list[Any]) -> None:
        before, current = _as_dict(content), dict(vars(kind))
        for name in filter(_is_changed, current.keys() - before.keys()):
            delattr(kind, name)
        for name, value in before.items():
            if _is_changed(name) and current.get(name, _MISSING) is not value:
                setattr(kind, name, value)

    return (lambda: [*vars(kind), *vars(kind).values()]), put


def _is_changed(name: str) -> bool:
    """Whether it is a name in a class that programs change, and not Python itself."""
    return not name.startswith(("__", "_abc"))


def _place_of_globals(function: FunctionType) -> Place | None:
    """The global names that its code assigns."""
    space, names = function.__globals__, _find_assigned_in(function.__code__)
    if not names:
        return None

    def put(content: list[Any]) -> None:
        for name, value in zip(names, content, strict=True):
            if value is not _MISSING:
                space[name] = value
            else:
                space.pop(name, None)

    return (lambda: [space.get(name, _MISSING) for name in names]), put


def _find_assigned_in(code: CodeType) -> list[str]:
    assigning = (one for one in codes_in(code) if not _STORING.isdisjoint(one.co_code[::2]))
    steps = (step for inner in assigning for step in find_steps(inner))
    return sorted({str(step.value) for step in steps if step.name in _STORES})


def _items(held: dict[Any, Any]) -> list[Any]:
    return [*dict.keys(held), *dict.values(held)]


def _as_dict(items: list[Any]) -> dict[Any, Any]:
    """The dictionary that ``_items`` took apart."""
    half = len(items) // 2
    return dict(zip(items[:half], items[half:], strict=True))


def _put_items(held: dict[Any, Any], content: list[Any]) -> None:
    # Not the methods of a class of the program, but that of Python which keeps an order of its own.
    kind: Any = OrderedDict if isinstance(held, OrderedDict) else dict
    kind.clear(held)
    for key, value in _as_dict(content).items():
        kind.__setitem__(held, key, value)


def _put_entries(held: Any, content: list[Any]) -> None:
    if isinstance(held, deque):
        held.clear()
        held.extend(content)
    else:
        held[:] = content


def _put_members(held: set[Any], content: list[Any]) -> None:
    set.clear(held)
    set.update(held, content)


def _content(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _put_content(cell: CellType, content: list[Any]) -> None:
    if content:
        cell.cell_contents = content[0]
    else:
        del cell.cell_contents


def _put_bytes(held: Any, content: list[Any]) -> None:
    held[...] = np.frombuffer(content[0], held.dtype).reshape(held.shape)
