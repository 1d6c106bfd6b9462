"""Rows of a frame as a loop meets them: ``itertuples``, ``iterrows``, ``to_dict("records")``, zip.

What walks them is not followed here, as for lists of records (``record_list``): a loop that only
adds up asks for the row of each possible record (``enumerate.folded.folding``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from liptest.values.protocol import Symbolic, find_branching
from liptest.values.records.made_rows import ColumnEntries, MadeRows
from liptest.values.records.record_list import EntryOfRecord, RowOfRecord


class RecordRows(Symbolic):
    """A row for each record.

    Parameters
    ----------
    array
        A column of these records; of real numbers, if a row has one.
    values
        The row of a record of each value.
    """

    __slots__ = ("array", "values")

    kind = list
    described = described_in_arrays = "the rows of a frame, one by one,"
    advice = "add up in a loop whose source can be read, or use sums of columns"

    def __init__(self, array: Any, values: Sequence[Any]) -> None:
        self.array, self.values = array, values

    branching = find_branching("array")

    def __iter__(self) -> NoReturn:
        self.refuse("a loop that does more than to add up, or whose source is not known")

    def __len__(self) -> int:
        return int(self.refuse("len()"))


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(self: RecordRows, *arguments: Any) -> NoReturn:
        self.refuse(f"{name} of it")

    return method


for _name in ("getitem", "contains", "reversed", "eq", "ne", "add", "bool"):
    setattr(RecordRows, f"__{_name}__", _refusing(_name))


class PlaceOfRow:
    """Where a row stands, which a pass over one possible record does not know: not to be used."""

    __slots__ = ()

    __hash__ = None  # type: ignore[assignment]


def _unknown(self: PlaceOfRow, *arguments: Any) -> NoReturn:
    raise TypeError("it uses the number of a row")


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "str", "repr", "format"):
    setattr(PlaceOfRow, f"__{_name}__", _unknown)

PLACE = PlaceOfRow()


class RowOfFrame:
    """One row, by place or by name, to read."""

    __slots__ = ("_entries", "_names")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, names: Sequence[Any], entries: Sequence[Any]) -> None:
        self._names, self._entries = tuple(names), entries

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(name)
        return self._entries[self._names.index(name)]


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "str", "repr", "format"):
    setattr(RowOfFrame, f"__{_name}__", _unknown)


class RowByPlace(RowOfFrame):
    """A row whose entries have places and names, as ``itertuples`` gives it."""

    __slots__ = ()

    def __getitem__(self, place: Any) -> Any:
        return self._entries[place]

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class RowByName(RowOfFrame):
    """A row whose entries have names, as ``iterrows`` gives it."""

    __slots__ = ()

    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str) or name not in self._names:
            raise KeyError(name)
        return self._entries[self._names.index(name)]


def first_number(value: Any) -> Any:
    """The first number that is not plain within a row, or a tuple or list; None where all are."""
    if isinstance(value, EntryOfRecord):
        return value.entries[0] if isinstance(value, RowOfRecord) else value
    is_row = isinstance(value, RowOfFrame)
    entries = value._entries if is_row else value if type(value) in (tuple, list) else ()
    found = map(first_number, entries)
    return next((number for number in found if number is not None), None)


def rows_by_name(names: Sequence[str], columns: Sequence[Sequence[Any]], plain: Any) -> MadeRows:
    """Rows as series of pandas: of one type where no text is among them."""
    if plain is not None:
        columns = [_give_type(column, plain) for column in columns]
    return MadeRows(columns, partial(RowByName, names))


def _give_type(column: Sequence[Any], plain: Any) -> Sequence[Any]:
    if type(column) is ColumnEntries:
        return column.made(plain)
    return [entry if isinstance(entry, EntryOfRecord) else plain(entry) for entry in column]


def common_type(kinds: Iterable[np.dtype[Any]]) -> Any:
    """Of a series of numbers of these types; None where each keeps its own."""
    kinds_known = set(kinds)
    if len(kinds_known) > 1 and any(one.kind == "b" for one in kinds_known):
        return None
    return np.result_type(*kinds_known).type
