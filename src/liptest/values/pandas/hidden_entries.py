"""Methods of pandas that move entries and do not look at them: pandas' own, run on hidden entries.

``.reset_index``, ``.pivot``, ``.iloc[..]``, ``pandas.concat`` put entries in another place, by
labels that are plain. Each entry is hidden in an object that tells nothing; pandas moves these
objects; the entries are put back where they went. A function that cannot look at its arguments
moves them alike, whatever they are, so the result is that of the numbers. Where pandas does look at
one (compares it, hashes it, prints it), the analysis ends.

So what moves noisy numbers is followed as pandas has it, with its labels and names, and is free.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from liptest.foreign import has_names
from liptest.values.array import CellStorage, SymbolicArray, fill_array, make_typed_cells
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.labelled import (
    UNKNOWN,
    UnknownName,
    as_index,
    describe,
    is_named,
    is_plain_frame,
    is_series,
)
from liptest.values.pandas.of_pandas import PartOfPandas
from liptest.values.protocol import NUMBERS, is_symbolic

_KEYED = (KeyedSeries, KeyedFrame)
_LOOKS = (
    *("eq", "ne", "lt", "le", "gt", "ge", "bool", "repr", "str", "format", "add", "radd", "sub"),
    *("mul", "rmul", "truediv", "neg", "abs", "float", "int", "index", "round", "reduce_ex"),
)


class LookedAt(Exception):
    """An entry was looked at that was to be moved only."""


class HiddenEntry:
    """One number of an array, of which nothing is told."""

    __slots__ = ("array", "place")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: SymbolicArray, place: int) -> None:
        self.array = array
        self.place = place

    @property
    def entry(self) -> Any:
        """The number."""
        return self.array[self.place]


def _look(self: HiddenEntry, *others: Any) -> NoReturn:
    raise LookedAt


for _name in _LOOKS:
    setattr(HiddenEntry, f"__{_name}__", _look)


def move_entries(
    owner: Any, use: str, function: Callable[..., Any], *given: Any, **options: Any
) -> Any:
    """What a function of pandas makes of series and frames whose entries it does not look at.

    ``owner`` has the words where it is not followed: ``use`` of it.
    """
    if any(_is_symbolic_within(one) for one in (*given, *options.values())):
        return owner.refuse(f"{use} with arguments that data or noise determine")
    if options.get("inplace"):
        return owner.refuse(f"{use} with inplace=True", "use what it returns")
    hidden = [hide(one) for one in given], {title: hide(one) for title, one in options.items()}
    try:
        moved = function(*hidden[0], **hidden[1])
    except Exception as error:
        raised = type(error).__name__
        what = "looks at its entries" if isinstance(error, LookedAt) else f"raised {raised}"
        if any(type(one) in _KEYED and not is_named(one) for one in given):
            what += ", or needs names that are not known"
        return owner.refuse(f"{use} (pandas {what})")
    return show_entries(moved, owner, use)


def _is_symbolic_within(value: Any) -> bool:
    if type(value) in _KEYED:
        return False
    if type(value) in (list, tuple, set):
        return any(map(_is_symbolic_within, value))
    if type(value) is dict:
        return any(map(_is_symbolic_within, (*value, *value.values())))
    return is_symbolic(value) or isinstance(value, SymbolicArray)


def hide(value: Any) -> Any:
    """A series or a frame, plain, with hidden entries; all else as it is, lists of these too."""
    if type(value) is KeyedSeries:
        return _hide_series(value)
    if type(value) is KeyedFrame:
        return _hide_frame(value)
    if type(value) in (list, tuple):
        return type(value)(map(hide, value))
    return {key: hide(one) for key, one in value.items()} if type(value) is dict else value


def _hide_series(series: KeyedSeries) -> Any:
    import pandas

    index = as_index(series.keys_, series.names_)
    name = UNKNOWN if series.names_ is None else series.names_.get("name")
    made = pandas.Series(hide_entries(series.array), index=index, name=name)
    made.attrs = dict((series.names_ or {}).get("attrs", {}))
    return made


def _hide_frame(frame: KeyedFrame) -> Any:
    import pandas

    names = frame.names_
    index = as_index(frame.keys_, names)
    columns = {k: hide_entries(one.array) for k, one in enumerate(frame.columns_.values())}
    made = pandas.DataFrame(columns, index=index)
    made.columns = as_index(frame.columns_, names, "column_names")
    made.attrs = dict((names or {}).get("attrs", {}))
    return made


def hide_entries(array: Any) -> Any:
    """Objects that stand for the entries; a plain array as it is."""
    if type(array) is not SymbolicArray:
        return array
    return fill_array([HiddenEntry(array, k) for k in range(len(array))], array.shape, object)


def show_entries(value: Any, owner: Any, use: str) -> Any:
    """What pandas has made of hidden entries, with the numbers in their places."""
    if type(value) is HiddenEntry:
        return value.entry
    if type(value) is UnknownName:
        return owner.refuse(f"{use} with names that are not known")
    if is_series(value):
        return _show_series(value, owner, use)
    if is_plain_frame(value):
        return _show_frame(value, owner, use)
    if isinstance(value, tuple):
        shown = [show_entries(one, owner, use) for one in value]
        return type(value)._make(shown) if has_names(type(value)) else tuple(shown)  # type: ignore[attr-defined]
    if type(value) is list:
        return [show_entries(one, owner, use) for one in value]
    if type(value) is dict:
        return {
            show_entries(key, owner, use): show_entries(one, owner, use)
            for key, one in value.items()
        }
    return value


def _show_series(series: Any, owner: Any, use: str) -> Any:
    entries = series.tolist()
    if not any(type(one) is HiddenEntry for one in entries) and len(entries):
        return _plain(series, owner, use)
    array = _numbers_of(entries, owner)
    if array is None:
        return HiddenRow(owner, series)
    return KeyedSeries(_labels(series.index, owner, use), array, describe(series))


def _plain(series: Any, owner: Any, use: str) -> Any:
    """A series of plain entries, whose labels are known."""
    _labels(series.index, owner, use)
    if series.dtype == object:
        series = series.infer_objects()
    if series.name is UNKNOWN:
        series = series.rename(None)
    return series.rename_axis([None if one is UNKNOWN else one for one in series.index.names])


def _show_frame(frame: Any, owner: Any, use: str) -> Any:
    names = _labels(frame.columns, owner, use)
    keys = _labels(frame.index, owner, use)
    if len(set(names)) < len(names) or not names:
        return owner.refuse(f"{use}, which makes two columns of one name or none,")
    columns = {name: _column_of(frame.iloc[:, k], owner, use, keys) for k, name in enumerate(names)}
    return KeyedFrame(keys, columns, describe(frame), owner.branching)


def _column_of(column: Any, owner: Any, use: str, keys: Any) -> KeyedSeries:
    entries = column.tolist()
    if not any(type(one) is HiddenEntry for one in entries):
        array = column.to_numpy()
        return KeyedSeries(keys, array.astype(object) if array.dtype.kind in "UT" else array, {})
    array = _numbers_of(entries, owner)
    if array is None:
        return owner.refuse(f"{use}, which puts numbers and other things in one column,")  # type: ignore[no-any-return]
    return KeyedSeries(keys, array, {})


def _labels(index: Any, owner: Any, use: str) -> list[Any]:
    labels = index.tolist()
    within = [part for one in labels for part in (one if type(one) is tuple else (one,))]
    if any(type(one) is HiddenEntry for one in within):
        owner.refuse(f"{use}, which makes labels of noisy numbers,")
    if any(one is UNKNOWN for one in within):
        owner.refuse(
            f"{use} with names that are not known",
            'name them before: .rename_axis("key").reset_index(name="n")',
        )
    return labels  # type: ignore[no-any-return]


def _numbers_of(entries: list[Any], owner: Any) -> Any:
    """The entries as an array; None where some are not numbers, or truths among numbers."""
    # Where nothing is moved to, pandas puts None among objects, NaN among numbers.
    entries = [np.nan if one is None else one for one in entries]
    cells = [one.entry if type(one) is HiddenEntry else one for one in entries]
    if not all(is_symbolic(one) or isinstance(one, NUMBERS) for one in cells):
        return None
    kinds = {
        one.array.dtype if type(one) is HiddenEntry else np.dtype(type(one)) for one in entries
    } or {np.dtype(float)}
    if np.dtype(bool) in kinds and len(kinds) > 1:
        return None
    kind = np.result_type(*kinds)
    typed = make_typed_cells(fill_array(cells, (len(cells),), object), kind)
    return SymbolicArray(CellStorage(owner.branching, typed, kind))


class HiddenRow(PartOfPandas):
    """A series of numbers and other things: a row of a frame, from which entries are taken."""

    __slots__ = ("_series",)

    described = "a row of noisy numbers and other things"
    advice = 'take one of its entries: row["n"]'

    def __init__(self, of: Any, series: Any) -> None:
        super().__init__(of)
        self._series = series

    def __getitem__(self, key: Any) -> Any:
        return move_entries(self, "an index", lambda series, key: series[key], self._series, key)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._series.index:
            return self[name]
        return super().__getattr__(name)

    def get(self, key: Any, default: Any = None) -> Any:
        """The entry of a key."""
        return self[key] if key in self._series.index else default

    def to_dict(self) -> Any:
        """Its entries by key."""
        return move_entries(self, ".to_dict", self._series.to_dict)

    def tolist(self) -> Any:
        """Its entries."""
        return move_entries(self, ".tolist", self._series.tolist)

    to_list = tolist

    def items(self) -> Any:
        """(key, entry) in order."""
        return iter(self.to_dict().items())

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __len__(self) -> int:
        return len(self._series)
