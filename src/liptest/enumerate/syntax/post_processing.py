"""The rest of a function that knows of the data only what was told: it need not be followed.

If from some statement on all that a function reads are constants and sums that have noise of their
own, the rest is post-processing of these, whatever it calls (docs/theory/loops.md, L2): it costs
nothing. What the function has kept elsewhere - in globals, attributes, closures, iterators - is
looked for among all objects that are alive: none may hold anything else of the run.
"""

from __future__ import annotations

import ast
import copy
import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import is_drawing, is_others, names_in, reachable
from liptest.enumerate.loops.key_tests import with_plain_loops
from liptest.enumerate.syntax.function_parts import FunctionParts, cut_call
from liptest.enumerate.syntax.pure_code import is_plain
from liptest.enumerate.syntax.source import OWN_NAMES, read_source
from liptest.enumerate.syntax.untold_states import TELLING, value_may_tell_states
from liptest.values.answers.aligned import AlignedValue, ReleasedValue
from liptest.values.array import CellStorage, Storage, SymbolicArray
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries, as_keyed
from liptest.values.pandas.labelled import is_named, known_names
from liptest.values.protocol import Symbolic

CUT = f"{OWN_NAMES}cut_here"
# Kept: while a program is analysed the names stand for something else.
_objects, _holders, _references = gc.get_objects, gc.get_referrers, sys.getrefcount
_count_frozen, _freeze, _unfreeze = gc.get_freeze_count, gc.freeze, gc.unfreeze
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, type)
_MARK = "the rest is post-processing"


class Cut:
    """What a function has told where it is cut."""

    def __init__(self, place: int, values: dict[str, Any]) -> None:
        self.place = place
        self.values = values

    def output(self) -> tuple[Any, ...]:
        """As an output: the numbers that the rest reads, in their order."""
        return (_MARK, self.place, *_numbers(list(self.values.values())))


class Tail:
    """Cuts one function; ``of`` knows whether that can be done."""

    def __init__(self, parts: FunctionParts, written: Any) -> None:
        self.parts = parts
        #: The function as it is written: reductions are loops in the one that is cut.
        self.written = written

    @classmethod
    def of(cls, function: Any) -> Tail | None:
        """None where its source is not known, or where it may look at what is not its own."""
        source = read_source(with_plain_loops(function))
        if source is None or len(source.body) == 0:
            return None
        seen: list[FunctionType] = []

        def wanted(value: Any) -> bool:
            if isinstance(value, FunctionType) and not _is_of_libraries(value):
                seen.append(value)
            return is_drawing(value) or _looks_into_frames(value)

        # Generators are looked for below; what they hold is not walked through.
        if not all(is_drawing(site.value) for site in reachable(function, wanted)):
            return None
        if any(not names_in(callee.__code__).isdisjoint(TELLING) for callee in (*seen, function)):
            return None
        if value_may_tell_states(function):
            return None
        parts = FunctionParts(source)
        return cls(parts, function) if len(parts.statements) > 1 else None

    def calls(self) -> dict[int, list[ast.stmt]]:
        """What is put before statements of the function."""
        return {
            place: cut_call(CUT, place, self.parts.names_at(place))
            for place in range(1, len(self.parts.statements))
        }

    def at(self, place: int, names: Callable[[], dict[str, Any]]) -> Cut | None:
        """A cut, where the rest reads only what is told."""
        try:
            values = names()
        except NameError:
            return None
        return Cut(place, values) if all(map(_is_told, values.values())) else None

    def run(self, function: Any, *, takes_generator: bool) -> Callable[[Any, Any], Any]:
        """The rewritten function as one of data and generator, with outputs of cuts."""

        def run(data: Any, rng: Any) -> Any:
            held, tree = [data], rng._tree
            del data
            answer = function(held.pop(), rng) if takes_generator else function(held.pop())
            if type(answer) is not Cut:
                return answer
            if tree.noise.point is None and is_kept_elsewhere(answer, tree):
                tree.forbid(
                    "a function that keeps something of its data beside its names",
                    "return what it has found out",
                )
            return answer.output()

        return run

    def checked(
        self, place: int, canonical: Callable[[Any], Any], *, takes_generator: bool
    ) -> Callable[[Any, Any], Any]:
        """The function as it is written, which answers what is told at a cut.

        Where the rest alone, given what is told, answers otherwise than the function does, it
        answers that.
        """
        noted: list[dict[str, Any]] = []
        name = f"{OWN_NAMES}note"
        calls = cut_call(name, place, self.parts.names_at(place))
        body = self.parts.with_calls({place: calls[:1]})
        source = self.parts.source

        def note(_: int, names: Callable[[], dict[str, Any]]) -> None:
            noted.append(copy.deepcopy(names()))

        whole = source.compiled(source.with_body(body), {name: note})
        rest = self.parts.rest(place)

        def run(data: Any, rng: Any) -> Any:
            if whole is None or rest is None:
                return "it cannot be cut there"
            noted.clear()
            expected = whole(data, rng) if takes_generator else whole(data)
            if len(noted) != 1:
                return "it did not get there"
            numbers = tuple(_numbers(list(noted[0].values())))
            answer = rest(**noted[0])
            if canonical(answer) != canonical(expected):
                return "the rest answers otherwise"
            return (_MARK, place, *numbers)

        return run


def call_without_tuple(function: Any) -> Callable[[Any, Any], Any]:
    """The same; a call of an object would keep its arguments in a tuple until it ends."""
    method: Callable[[Any, Any], Any] = function.__call__
    return function if isinstance(function, FunctionType) else method


def place_of_cut(output: Any) -> int | None:
    """The place where a run was cut, by its output; None where it was not."""
    is_cut = type(output) is tuple and len(output) >= 2 and output[0] == _MARK
    return output[1] if is_cut else None


@contextmanager
def old_objects_apart() -> Iterator[None]:
    """The collector neither looks at objects that are alive now nor lists them, until the end.

    A process may have millions of them, and what is kept of a run is looked for at every cut. All
    that belongs to a tree of runs is newer than the tree, so the tree is made inside. An old object
    that holds a new one is not listed as its holder, but its reference counts. What the caller has
    frozen stays so: then nothing is set apart.
    """
    if _count_frozen():
        yield
        return
    _freeze()
    try:
        yield
    finally:
        _unfreeze()


def is_kept_elsewhere(cut: Cut, tree: Any) -> bool:
    """Whether the program holds something symbolic of this run that is not part of what is told.

    What the analysis itself holds - noise that was drawn - may be held by nobody else.
    """
    if not _seems_kept(cut, tree):
        return False
    gc.collect()  # what nobody reaches any more may have held it
    return _seems_kept(cut, tree)


def _seems_kept(cut: Cut, tree: Any) -> bool:
    """The same, where what is to be collected counts as a holder."""
    told = {id(inside) for inside in _find_parts(list(cut.values.values()))}
    held = _HeldByAnalysis(tree)
    alive = [
        candidate
        for candidate in _objects()
        if issubclass(type(candidate), (Symbolic, Storage))
        and candidate.branching is tree
        and id(candidate) not in told
    ]
    if not alive:
        return False
    ids = set(map(id, alive))
    here, holder = sys._getframe(), None
    for holder in _holders(*alive):
        if holder is alive or holder is here or id(holder) in held.ids:
            continue
        if any(id(part) in ids for part in gc.get_referents(holder)):
            return True
    del holder
    # The collector does not know what arrays of objects hold.
    return any(
        count > held.held[key] + held.in_arrays[key]
        for count, key in zip(_count_references(alive), map(id, alive), strict=True)
    )


def _count_references(those: list[Any]) -> list[int]:
    """How often each is held, but for the list and for what asks."""
    counts = [_references(one) for one in (object(), *those)]
    return [count - counts[0] - 1 for count in counts[1:]]


class _HeldByAnalysis:
    """What the analysis holds of a run: the noise that was drawn."""

    def __init__(self, tree: Any) -> None:
        self.ids: set[int] = set()
        #: How often these hold an object.
        self.held: Counter[int] = Counter()
        #: How often an object is an entry of an array.
        self.in_arrays: Counter[int] = Counter()
        self._roots = [tree.noise, tree.draw_log]
        left = list(self._roots)
        while left:
            referent = left.pop()
            if id(referent) not in self.ids and self._is_ours(referent):
                self.ids.add(id(referent))
                parts = gc.get_referents(referent)
                self.held.update(map(id, parts))
                left += parts
                if type(referent) is np.ndarray and referent.dtype.hasobject:
                    left += self._entries_of(referent)

    def _is_ours(self, one: Any) -> bool:
        kinds = (dict, list, tuple, np.ndarray, Symbolic, Storage)
        return issubclass(type(one), kinds) or any(one is root for root in self._roots)

    def _entries_of(self, array: Any) -> list[Any]:
        if isinstance(array.base, np.ndarray):
            return [array.base]
        entries: list[Any] = array.ravel().tolist()
        self.in_arrays.update(map(id, entries))
        return entries


def _is_of_libraries(function: FunctionType) -> bool:
    return is_others(function.__globals__.get("__name__"))


def _looks_into_frames(value: Any) -> bool:
    spaces = ("inspect", "traceback", "pdb", "bdb")
    return isinstance(value, FunctionType) and value.__globals__.get("__name__") in spaces


def _is_told(value: Any) -> bool:
    """Whether it is constant, or made of numbers with noise of their own and constants."""
    kind = type(value)
    if kind is AlignedValue:
        return bool(value.run.has_noise(value.form))
    if kind is ReleasedValue:
        return True
    if kind is SymbolicArray:
        cells = value.storage if type(value.storage) is CellStorage else None
        return cells is not None and all(map(_is_told, cells.cells().flat))
    if kind in (KeyedSeries, KeyedFrame):
        return is_named(value) and all(map(_is_told, _arrays_of(value)))
    if kind in (list, tuple):
        return all(map(_is_told, value))
    if kind is dict:
        return all(map(is_plain, value)) and all(map(_is_told, value.values()))
    return kind in _CODE or is_plain(value)


def _arrays_of(value: KeyedSeries | KeyedFrame) -> list[Any]:
    """The arrays of a series or a frame; constants as lists."""
    series = [value] if type(value) is KeyedSeries else list(value.columns_.values())
    arrays = [one.array for one in series]
    return [one.tolist() if type(one) is np.ndarray else one for one in arrays]


def _labels_of(value: KeyedSeries | KeyedFrame) -> list[Any]:
    """What a path may tell by the labels and names of a series or a frame."""
    columns = list(value.columns_) if type(value) is KeyedFrame else []
    names = sorted(known_names(value.names_).items())
    return [*value.keys_, *columns, *(part for pair in names for part in pair)]


def _numbers(value: Any) -> Iterator[Any]:
    """All numbers with noise, or in the places of such, in their order; and labels beside them."""
    value = as_keyed(value)
    kind = type(value)
    if kind in (list, tuple):
        for entry in value:
            yield from _numbers(entry)
    elif kind is dict:
        for key, entry in value.items():
            yield key
            yield from _numbers(entry)
    elif kind in (KeyedSeries, KeyedFrame):
        yield from _labels_of(value)
        yield from _numbers(_arrays_of(value))
    elif kind is SymbolicArray or (kind is np.ndarray and not value.dtype.hasobject):
        yield from _numbers(list(value.flat) if kind is np.ndarray else list(value.cells.flat))
    elif kind not in _CODE:
        yield value.item() if isinstance(value, np.generic) else value


def _find_parts(value: Any) -> Iterator[Any]:
    """Symbolic objects that a value is made of."""
    kind = type(value)
    if issubclass(kind, (Symbolic, Storage)):
        yield value
    inner: list[Any] = []
    if kind in (list, tuple):
        inner = list(value)
    elif kind is dict:
        inner = list(value.values())
    elif kind is ReleasedValue:
        inner = list(value.arguments)
    elif kind is SymbolicArray:
        inner = [value.storage]
    elif kind is KeyedSeries:
        inner = [value.array]
    elif kind is KeyedFrame:
        inner = list(value.columns_.values())
    elif issubclass(kind, CellStorage):
        inner = list(value.cells().flat)
    for entry in inner:
        yield from _find_parts(entry)
