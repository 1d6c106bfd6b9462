"""One loop over the possible records of a column: what its passes add up, and the sums of them.

What they add to may be a variable, a list for each key (``groups[key].append(v)`` of a
``defaultdict(list)``, ``setdefault``), or what an object holds (``self.total += v``,
``self.counts[k] += 1``). Which keys there are depends on the data: of a constant key the list is
that of a selection of the records, empty where there are none, and nothing else can be asked. A
number of an object cannot change by another name. A table can, so nothing else may hold it: its
references are counted.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from types import MemberDescriptorType
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.folded.alike_rows import join_alike, walk_rows
from liptest.enumerate.folded.record_counts import (
    ColumnRows,
    Counts,
    RecordTable,
    find_start,
    join_places,
)
from liptest.enumerate.loops.adding_methods import AddingMethod, name_of_held
from liptest.enumerate.syntax.called_methods import PureMethods
from liptest.enumerate.syntax.pure_code import NUMBERS, NotPlain, is_plain
from liptest.values.array import SymbolicArray, make_array
from liptest.values.protocol import is_symbolic
from liptest.values.records.made_rows import MadeRows
from liptest.values.records.record_list import EntryOfRecord, RowOfRecord
from liptest.values.rounding import holds_negative_zero
from liptest.values.unfollowed import Unfollowed


class Inside(tuple[Any, ...]):
    """The keys of an entry of an entry: ``table[key][other]``."""

    __slots__ = ()


class Loop:
    """One loop over the possible records of a column."""

    def __init__(
        self,
        rows: ColumnRows,
        records: MadeRows,
        methods: PureMethods | None = None,
        folds: Any = None,
    ) -> None:
        rows.branching.walks_records = True
        self._rows = join_alike(rows, records)
        self._records = records
        self._tables: list[RecordTable] = []
        self._methods = methods
        self._folds = folds
        #: By name the methods that passes call, and all of them by object and method.
        self._calls: dict[str, AddingMethod] = {}
        self._called: dict[tuple[int, str, type | None], tuple[Any, AddingMethod]] = {}
        self._place = 0
        self._sums: dict[str, RecordTable] = {}
        self._items: dict[str, dict[Any, RecordTable]] = {}
        self._lists: dict[str, dict[int, Any]] = {}
        #: Of lists in a list or dict, by their keys.
        self._groups: dict[str, dict[Any, dict[int, Any]]] = {}
        #: Arrays: their shape, and a table for each place.
        self._vectors: dict[str, tuple[tuple[int, ...], dict[Any, RecordTable]]] = {}
        # What was added to of objects, by their ids.
        self._held: set[tuple[int, str]] = set()
        # Whose entries must be there before they are added to.
        self._with_keys: set[str] = set()
        # By name the types of keys: as keys of a dict 1, True and 1.0 are one.
        self._kinds: dict[str, set[type]] = {}

    @property
    def length(self) -> Any:
        """How many records the column has."""
        return self._rows.length

    def last_place(self, start: int = 0) -> int:
        """The index of the last record, counted from a start."""
        if type(self.length) is not int or not self.length:
            self._rows.refuse("the index of the last of some records")
        return start + self.length - 1

    def __iter__(self) -> Iterator[Any]:
        for record in self.records():
            yield record[0] if len(record) == 1 else record

    def records(self) -> Iterator[tuple[Any, ...]]:
        """Each possible record once, or one of those that no pass can tell apart."""
        for place, record in walk_rows(self._rows, self._records):
            self._place = place
            yield record
        for table in self._tables:
            table.grow(len(self._rows.values))

    def add(self, name: str, value: Any) -> None:
        """``name += value`` in this pass."""
        self._add(name, value, 1)

    def subtract(self, name: str, value: Any) -> None:
        """``name -= value``."""
        self._add(name, value, -1)

    def _add(self, name: str, value: Any, sign: int) -> None:
        """Of an array, or of a row of the record, each number for itself."""
        is_array = type(value) is np.ndarray and value.dtype == np.float64 and value.ndim
        if not (is_array or isinstance(value, RowOfRecord)):
            self._table(self._sums, name).add(self._place, value, sign, self._rows)
            return
        shape, tables = self._vectors.setdefault(name, (value.shape, {}))
        if shape != value.shape:
            self._rows.refuse("adding arrays of different shapes in a loop over the records")
        numbers = value.entries if isinstance(value, RowOfRecord) else value.ravel().tolist()
        for place, number in zip(np.ndindex(shape), numbers, strict=True):
            self._table(tables, place).add(self._place, number, sign, self._rows)

    def add_item(self, name: str, key: Any, value: Any) -> None:
        """``name[key] += value``."""
        self._with_keys.add(name)
        self._item(name, key).add(self._place, value, 1, self._rows)

    def subtract_item(self, name: str, key: Any, value: Any) -> None:
        """``name[key] -= value``."""
        self._with_keys.add(name)
        self._item(name, key).add(self._place, value, -1, self._rows)

    def count_item(self, name: str, key: Any, value: Any) -> None:
        """``name[key] = name.get(key, 0) + value``."""
        self._item(name, key).add(self._place, value, 1, self._rows)

    def add_inside(self, name: str, keys: Any, value: Any) -> None:
        """``name[key][other] += value``."""
        self._with_keys.add(name)
        self._item(name, Inside(keys)).add(self._place, value, 1, self._rows)

    def subtract_inside(self, name: str, keys: Any, value: Any) -> None:
        """``name[key][other] -= value``."""
        self._with_keys.add(name)
        self._item(name, Inside(keys)).add(self._place, value, -1, self._rows)

    def append(self, name: str, value: Any, *key: Any) -> None:
        """``name.append(value)``, once in a pass, or ``name[key].append(value)``."""
        self._with_keys |= {name} if key else set()
        self._append(name, value, *key)

    def append_new(self, name: str, value: Any, key: Any) -> None:
        """``name.setdefault(key, []).append(value)``."""
        self._append(name, value, key)

    def _append(self, name: str, value: Any, *key: Any) -> None:
        lists: Any = self._groups.setdefault(name, {}) if key else self._lists
        self._note_kinds(name, key)
        entries = lists.setdefault(*(key or (name,)), {})
        if self._place in entries or not (is_plain(value) or isinstance(value, EntryOfRecord)):
            raise NotPlain("more than one number of a record is appended")
        entries[self._place] = value

    def appended(self, name: str, before: Any) -> Any:
        """The list after a loop that appends to it, or to its entries."""
        if name in self._groups:
            return self._append_to_entries(name, before)
        if name not in self._lists:
            return before
        if type(before) is not list or before:
            self._rows.refuse("appending to what is not an empty list in a loop over the records")
        return self._map(self._lists[name])

    def _map(self, entries: dict[int, Any]) -> Any:
        places = range(len(self._rows.values))
        kept = [place in entries for place in places]
        return self._rows.mapped([entries.get(place, 0) for place in places], kept)

    def _append_to_entries(self, name: str, before: Any) -> Any:
        """Lists of a list or a dict that are there before, each an empty one of its own."""
        groups, kind = self._groups[name], type(before)
        is_list_by_default = kind is defaultdict and before.default_factory is list
        is_list_by_name = kind is dict and name not in self._with_keys
        if name not in self._lists and not before and (is_list_by_default or is_list_by_name):
            if not all(map(is_plain, groups)):
                self._rows.refuse("appending to entries of keys that are not constant")
            made = {key: self._map(entries) for key, entries in groups.items()}
            return Groups(self._rows, made, raises=is_list_by_name)
        lists = before if kind is list else list(before.values()) if kind is dict else None
        if name in self._lists:
            self._rows.refuse("appending to a list, and to entries of it")
        if lists is None or len({id(one) for one in lists}) < len(lists):
            self._rows.refuse(f"appending to entries of a {kind.__name__}, or of one list twice")
        if kind is list:
            self._require_places(name)
        for key, entries in groups.items():
            self._check_key(before, key)
            if type(before[key]) is not list or before[key]:
                self._rows.refuse("appending to what is not an empty list in a loop over records")
            before[key] = self._map(entries)
        return before

    def _check_key(self, entries: Any, key: Any) -> None:
        """A plain key that is there before."""
        is_place = type(entries) is not list or type(key) in (int, np.int64)
        if type(entries) not in (list, dict) or not is_plain(key) or not is_place:
            self._rows.refuse(f"adding to the entry {key!r} in a loop over the records")
        if type(entries) is dict and key not in entries:
            self._rows.refuse("new keys of a dict in a loop over the records")

    def leave(self, how: str) -> NoReturn:
        """The loop, or the function, ends in this pass: later records count no more."""
        self._rows.refuse(f"a loop over the records that some of them end ({how})")

    def fail(self) -> NoReturn:
        """A pass raised an exception: it would depend on which records there are."""
        error = sys.exc_info()[1]
        refuse_pass(self._rows, error)

    def total(self, name: str, before: Any) -> Any:
        """The accumulator after the loop."""
        if name in self._vectors:
            return self._total_array(name, before)
        if name not in self._sums:
            return before
        if not is_symbolic(before):
            self._require_number(before)
        return before + self._sums[name].answer(self._rows)

    def _require_number(self, before: Any) -> Any:
        """What is added to is a number, not a truth: NumPy's truths are not counted but joined."""
        if type(before) in (bool, np.bool_) or type(before) not in NUMBERS:
            self._rows.refuse(f"adding to a {type(before).__name__} in a loop over the records")
        return self._require_sign(before)

    def _require_sign(self, before: Any) -> Any:
        """What is added to is not -0.0, which zeros that are added leave, or do not."""
        if holds_negative_zero(before):
            self._rows.refuse("adding to -0.0 in a loop over the records; begin with 0.0")
        return before

    def _require_places(self, name: str) -> None:
        """Keys are whole numbers, and no truths or floats that equal them."""
        if not self._kinds[name] <= {int, np.int64}:
            self._rows.refuse("adding to entries at places that are not whole numbers")

    def _total_array(self, name: str, before: Any) -> Any:
        shape, tables = self._vectors[name]
        is_zero = type(before) in (int, float) and not before  # as sum() begins
        is_like = type(before) is np.ndarray and before.dtype == np.float64
        if not (is_zero or (is_like and before.shape == shape)) or name in self._sums:
            self._rows.refuse("adding arrays to what is not one of their shape")
        self._require_sign(before)
        begun = np.zeros(shape) if is_zero else before
        join_places(list(tables.values()), self._rows)
        cells = [begun[place] + table.answer(self._rows) for place, table in tables.items()]
        return self._array(cells, begun.dtype, shape)

    def changes(self, *attributes: str) -> None:
        """Attributes that passes add to, which no pass may read in another way."""
        if self._methods is not None:
            self._methods.changing |= set(attributes)

    def part(self, owner: Any, attribute: str) -> Any:
        """An object that an object holds."""
        return read_held_object(owner, attribute)

    def will_call(self, name: str, owner: Any, method: str) -> None:
        """Passes call a method of an object for what it adds."""
        self._calls[name] = self.calls(owner, method)

    def calls(
        self, owner: Any, method: str, depth: int = 0, before: type | None = None
    ) -> AddingMethod:
        """Such a method, looked at once; ``before`` is the class whose bases have it."""
        place = id(owner), method, before
        if place not in self._called:
            method_made = AddingMethod(self, self._folds, owner, method, depth, before)
            self._called[place] = owner, method_made
            self.changes(*(attribute for _, attribute in method_made.sums))
        return self._called[place][1]

    def call(self, name: str, *arguments: Any, **named: Any) -> None:
        """``owner.method(..)`` in this pass."""
        self._calls[name](*arguments, **named)

    def totals_of_calls(self) -> None:
        """What objects hold after the loop whose methods added to it."""
        sums = {
            (name_of_held(owner, attribute), method, attribute): owner
            for owner, made in self._called.values()
            for method, attribute in made.sums
        }
        for (name, method, attribute), owner in sums.items():
            self.total_held(method, name, attribute, owner)

    def total_held(self, method: str, name: str, attribute: str, owner: Any) -> None:
        """``owner.attribute`` after the loop, which added to it, or to entries, under this name."""
        if name in self._vectors or self._is_held_twice(owner, attribute):
            self._rows.refuse(
                f"adding arrays, or twice, to .{attribute} in a loop over the records"
            )
        if any(name in noted for noted in (self._sums, self._items, self._lists, self._groups)):
            held = read_held_number if method == "total" else read_held_table
            setattr(owner, attribute, getattr(self, method)(name, held(owner, attribute)))

    def _is_held_twice(self, owner: Any, attribute: str) -> bool:
        """Whether another name of the same object was added to."""
        place = id(owner), attribute
        is_twice = place in self._held
        self._held.add(place)
        return is_twice

    def total_items(self, name: str, before: Any) -> Any:
        """The accumulator after a loop that adds to its entries."""
        tables = self._items.get(name)
        if tables is None:
            return before
        kind = type(before)
        if any(type(key) is Inside for key in tables) and kind in (list, dict):
            if not self._kinds[name] <= {int, np.int64, str}:
                self._rows.refuse("adding to entries at places that are not whole numbers")
            return self._total_inside(before, tables)
        if kind in (dict, Counter, defaultdict) and not before:
            if any(type(key) is Inside for key in tables):
                self._rows.refuse("adding to entries of new entries in a loop over the records")
            # Which keys there are depends on the records.
            start = 0 if kind is not defaultdict else find_start(before.default_factory)
            if start is None:
                self._rows.refuse("a defaultdict of anything but 0")
            if kind is dict and name in self._with_keys:
                self._rows.refuse("adding to entries of an empty dict")
            return Counts(self._rows, tables, raises=kind is dict, start=start)
        is_array = kind in (np.ndarray, SymbolicArray)
        cells = before.cells if kind is SymbolicArray else before
        if is_array and before.ndim > 1:
            self._require_places(name)
            return self._total_cells(cells, before.dtype, tables)
        entries = list(cells) if is_array and before.ndim == 1 else before
        if type(entries) not in (list, dict):
            self._rows.refuse(f"adding to entries of a {kind.__name__}")
        if type(entries) is list:
            self._require_places(name)
        for key, table in tables.items():
            self._add_to_entry(entries, key, table)
        return self._array(entries, before.dtype) if is_array else entries

    def _add_to_entry(self, entries: Any, key: Any, table: RecordTable) -> None:
        self._check_key(entries, key)
        try:
            number = entries[key]
        except (TypeError, LookupError) as error:
            refuse_pass(self._rows, error)
        entries[key] = self._require_number(number) + table.answer(self._rows)

    def _total_inside(self, before: Any, tables: dict[Any, RecordTable]) -> Any:
        """Of lists in a list, and dicts in a dict: each entry of each is added to once."""
        seen: set[Any] = set()
        for keys, table in tables.items():
            if type(keys) is not Inside:
                self._rows.refuse("adding to entries, and to entries of them")
            self._check_key(before, keys[0])
            entries, key = before[keys[0]], keys[1]
            place = key % len(entries) if type(entries) is list and entries else key
            if (id(entries), place) in seen:
                self._rows.refuse("adding to one entry by two keys in a loop over the records")
            seen.add((id(entries), place))
            self._add_to_entry(entries, key, table)
        return before

    def _total_cells(self, cells: Any, dtype: np.dtype[Any], tables: dict[Any, RecordTable]) -> Any:
        """Of an array of several dimensions: keys are tuples of whole numbers."""
        entries = cells.astype(object)
        if dtype not in (np.int64, np.float64, object):
            self._rows.refuse(f"adding to entries of {dtype} in a loop over the records")
        for key, table in tables.items():
            is_place = type(key) in (tuple, Inside) and len(key) == cells.ndim
            if not is_place or any(type(number) not in (int, np.int64) for number in key):
                self._rows.refuse(f"adding to the entry {key!r} in a loop over the records")
            key = tuple(key)
            try:
                number = entries[key]
            except (TypeError, LookupError) as error:
                refuse_pass(self._rows, error)
            entries[key] = self._require_number(number) + table.answer(self._rows)
        return self._array(list(entries.flat), dtype, cells.shape)

    def _array(self, entries: list[Any], dtype: np.dtype[Any], shape: Any = -1) -> Any:
        cells = np.empty(len(entries), dtype=object)
        cells[:] = entries
        return make_array(self._rows.branching, cells.reshape(shape), dtype)

    def _table(self, tables: dict[Any, RecordTable], name: Any) -> RecordTable:
        if name not in tables:
            tables[name] = RecordTable(len(self._rows.values))
            self._tables.append(tables[name])
        return tables[name]

    def _note_kinds(self, name: str, keys: tuple[Any, ...]) -> None:
        self._kinds.setdefault(name, set()).update(map(type, keys))

    def _item(self, name: str, key: Any) -> RecordTable:
        self._note_kinds(name, key if isinstance(key, tuple) else (key,))
        return self._table(self._items.setdefault(name, {}), key)


def refuse_pass(rows: ColumnRows, error: BaseException | None) -> NoReturn:
    """End the run: a pass raised an exception, or does what is not followed."""
    if isinstance(error, NotPlain):
        rows.refuse(f"code where {error}")
    rows.refuse(
        f"a loop over the records: for one of them it raises {type(error).__name__} ({error})"
    )


class Groups(Unfollowed):
    """Lists by keys of which some records made each; ``raises`` where a key is missing."""

    described = "lists by keys, which depend on which records there are"

    def __init__(self, rows: ColumnRows, lists: dict[Any, Any], *, raises: bool) -> None:
        self._rows = rows
        self._lists = lists
        self._raises = raises

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self._rows.refuse(use)

    def __getitem__(self, key: Any) -> Any:
        if self._raises:
            self.refuse("an entry of a dict that is there for some records only; use .get")
        self._check(key)
        return self._lists.setdefault(key, [])

    def get(self, key: Any, default: Any = None) -> Any:
        """The list of a key; with a default that is not empty it tells whether there are any."""
        if type(default) not in (list, tuple) or default:
            self.refuse("a dict's get without an empty list as default")
        self._check(key)
        return self._lists.get(key, default)

    def _check(self, key: Any) -> None:
        if not is_plain(key):
            self.refuse("a list of a key that is not constant")


_DICTS = (dict, Counter, defaultdict)
_MISSING = object()
# As it is outside of an analysis.
_references = sys.getrefcount


def read_held_number(owner: Any, attribute: str) -> Any:
    """The number that an object holds, where reading and writing it runs no code of its class.

    Raises TypeError for all others.
    """
    value = _find_held(owner, attribute, in_class=True)
    if type(value) in NUMBERS or is_symbolic(value):
        return value
    raise _make_refusal(owner, attribute)


def read_held_object(owner: Any, attribute: str) -> Any:
    """The same of any object that it holds."""
    return _find_held(owner, attribute)


def read_held_table(owner: Any, attribute: str) -> Any:
    """The same of a list, dict or array; nothing else holds it, or its entries."""
    value = _find_held(owner, attribute)
    kind = type(value)
    is_own = kind is np.ndarray and value.base is None and not value.dtype.hasobject
    if kind is list:
        is_own = _most_holders(value) <= _ONE_HOLDER
    elif kind in _DICTS:
        is_own = _most_holders(value.values()) <= _ONE_HOLDER
    del value
    if is_own and _count_holders(owner, attribute) <= _count_holders(_Fresh(), "table"):
        return _find_held(owner, attribute)
    raise _make_refusal(owner, attribute)


def _find_held(owner: Any, attribute: str, *, in_class: bool = False) -> Any:
    """What an object, or else its class, holds. Raises TypeError where that runs code of it."""
    kind = type(owner)
    attribute_found = inspect.getattr_static(kind, attribute, _MISSING)
    is_slot = type(attribute_found) is MemberDescriptorType
    reader: Any = kind.__getattribute__
    writer: Any = kind.__setattr__
    is_bare = reader is object.__getattribute__ and writer is object.__setattr__
    value = _MISSING
    if is_bare and is_slot:
        value = getattr(owner, attribute, _MISSING)
    elif is_bare and not hasattr(type(attribute_found), "__set__"):
        value = vars(owner).get(attribute, attribute_found if in_class else _MISSING)
    if value is _MISSING:
        raise _make_refusal(owner, attribute)
    return value


def _make_refusal(owner: Any, attribute: str) -> NotPlain:
    kind = type(owner).__name__
    return NotPlain(f".{attribute} of a {kind} is added to in a loop over the records")


class _Fresh:
    """Holds a table that nothing else does."""

    def __init__(self) -> None:
        self.table: list[Any] = []


def _count_holders(owner: Any, attribute: str) -> int:
    return _references(_find_held(owner, attribute))


def _most_holders(entries: Iterable[Any]) -> int:
    """The most references to an entry that can change."""
    return max((_references(entry) for entry in entries if type(entry) not in NUMBERS), default=0)


_ONE_HOLDER = _most_holders([[]])
