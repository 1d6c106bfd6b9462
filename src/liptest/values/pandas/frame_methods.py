"""Methods of a frame of noisy numbers: those of its columns, or of its rows, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liptest.values.array import SymbolicArray
from liptest.values.pandas.grouped_rows import group_rows
from liptest.values.pandas.hidden_entries import move_entries
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.labelled import say_names
from liptest.values.pandas.moving_methods import take_entries
from liptest.values.pandas.series_methods import (
    REDUCTIONS,
    call_with,
    check_orders,
    find_key_order,
    reduce_to_number,
)
from liptest.values.protocol import NUMBERS, is_symbolic

_ROWS, _COLUMNS = (0, "index", "rows"), (1, "columns")
_ENTRY_BY_ENTRY = ("abs", "cumsum", "diff", "fillna", "isna", "isnull")


def _numeric(frame: KeyedFrame, use: str, numeric_only: bool = False) -> KeyedFrame:
    """Its columns of numbers; all must be, unless others are to be left out."""
    kept = {k: one for k, one in frame.columns_.items() if one.array.dtype.kind in "biuf"}
    if len(kept) < len(frame.columns_):
        if not numeric_only or not kept:
            frame.refuse(f"{use} with columns that are not numbers", "choose its columns")
        return KeyedFrame(frame.keys_, kept, frame.names_, frame.branching)
    return frame


def _reducing(name: str) -> Callable[..., Any]:
    def method(frame: KeyedFrame, axis: Any = 0, numeric_only: bool = False, **options: Any) -> Any:
        if name == "quantile" or axis not in (*_ROWS, *_COLUMNS):
            return frame.refuse(f".{name} with these arguments", "name a column: frame['n']")
        numbers = _numeric(frame, f".{name}", numeric_only)
        lines = numbers.transpose() if axis in _COLUMNS else numbers
        made = {k: reduce_to_number(one, name, **options) for k, one in lines.columns_.items()}
        return KeyedSeries.of(made, _names_of_columns(lines))

    return method


def _names_of_columns(frame: KeyedFrame) -> Any:
    """What is said of a series with an entry for each column."""
    if frame.names_ is None:
        return None
    names = frame.names_.get("column_names")
    return {} if names is None else {"index_names": names}


def _each(name: str) -> Callable[..., Any]:
    def method(frame: KeyedFrame, *given: Any, **options: Any) -> Any:
        numbers = _numeric(frame, f".{name}")
        return _put_together(
            numbers, {k: getattr(one, name)(*given, **options) for k, one in _parts(numbers)}
        )

    return method


def _parts(frame: KeyedFrame) -> Any:
    return list(frame.columns_.items())


def _put_together(frame: KeyedFrame, columns: dict[Any, Any]) -> KeyedFrame:
    return KeyedFrame(frame.keys_, columns, frame.names_, frame.branching)


def add_columns(frame: KeyedFrame, **named: Any) -> Any:
    """``.assign``: further columns, one after another."""
    made: KeyedFrame = frame.copy()
    for name, given in named.items():
        is_function = callable(given) and not is_symbolic(given)
        made[name] = given(made) if is_function else given
    return made


def _operating(name: str) -> Callable[..., Any]:
    def method(frame: KeyedFrame, other: Any, axis: Any = 1) -> Any:
        if type(other) is not KeyedSeries:
            return getattr(frame, f"__{name}__")(other)
        numbers = _numeric(frame, f".{name}")
        lines = numbers if axis in _ROWS else numbers.transpose()
        if other.keys_ != lines.keys_:
            return frame.refuse(f".{name} with a series of other keys", ".reindex(KEYS) first")
        parts = {k: getattr(one, f"__{name}__")(other) for k, one in lines.columns_.items()}
        made = _put_together(lines, parts)
        return made if lines is numbers else made.transpose()

    return method


def apply_to_lines(frame: KeyedFrame, func: Any, axis: Any = 0) -> Any:
    """``.apply`` of a function of each column, or of each row."""
    if not callable(func) or axis not in (*_ROWS, *_COLUMNS):
        return frame.refuse(".apply with these arguments")
    return apply_by(frame, lambda lines: [func(line) for line in lines], axis in _COLUMNS)


def apply_by(frame: KeyedFrame, function: Any, by_rows: bool) -> Any:
    """The same; ``function`` makes a list of a list of lines."""
    if by_rows:
        keys, lines = zip(*frame.iterrows(), strict=True)
    else:
        keys, lines = tuple(frame.columns_), tuple(frame[name] for name in frame.columns_)
    if len(set(keys)) < len(keys):
        return frame.refuse(".apply by rows of one key")
    made = dict(zip(keys, function(list(lines)), strict=True))
    if all(is_symbolic(one) or isinstance(one, NUMBERS) for one in made.values()):
        names = frame.names_ and frame.names_.get("index_names" if by_rows else "column_names")
        return KeyedSeries.of(made, None if frame.names_ is None else say_names(None, names or ()))
    if not all(type(one) is KeyedSeries and one.keys_ == _keys(made) for one in made.values()):
        return frame.refuse(".apply of a function that makes other things than numbers")
    columns = {key: KeyedSeries(one.keys_, one.array, {}) for key, one in made.items()}
    if not by_rows:
        return KeyedFrame(_keys(made), columns, frame.names_, frame.branching)
    turned = {"index_names": "column_names", "column_names": "index_names"}
    names = {turned.get(title, title): part for title, part in (frame.names_ or {}).items()}
    return KeyedFrame(_keys(made), columns, names, frame.branching).transpose()


def _keys(made: dict[Any, Any]) -> Any:
    first = next(iter(made.values()))
    return first.keys_ if type(first) is KeyedSeries else ()


def sort_frame(
    frame: KeyedFrame,
    by: Any = None,
    ascending: Any = True,
    kind: Any = None,
    ignore_index: bool = False,
    **options: Any,
) -> Any:
    """Its rows in the order of one column."""
    name = by[0] if type(by) is list and len(by) == 1 else by
    if type(by) is list and all(_is_constant(frame, one) for one in by):
        name = None
    if name is None or _is_constant(frame, name):

        def call(own: Any) -> Any:
            return own.sort_values(
                by, ascending=ascending, kind=kind, ignore_index=ignore_index, **options
            )

        return move_entries(frame, ".sort_values", call, frame)
    if type(name) is list or ascending not in (True, False) or options:
        return frame.refuse(".sort_values with these arguments", 'frame.sort_values("n")')
    count = len(frame)
    return _in_order(frame, name, count, bool(ascending), kind, ignore_index)


def _is_constant(frame: KeyedFrame, name: Any) -> bool:
    column = frame.columns_.get(name)
    return column is None or type(column.array) is not SymbolicArray


def _in_order(
    frame: KeyedFrame, name: Any, count: int, ascending: bool, kind: Any, is_numbered: bool
) -> Any:
    order = find_key_order(frame[name], ascending=ascending, kind=kind, use=".sort_values")
    check_orders(frame[name], count)
    taken = take_entries(frame, [order(rank) for rank in range(count)], ".sort_values", "iloc")
    return taken.reset_index(drop=True) if is_numbered else taken


def _extremes(name: str, *, ascending: bool) -> Callable[..., Any]:
    def method(frame: KeyedFrame, n: int, columns: Any, keep: str = "first") -> Any:
        column = columns[0] if type(columns) is list and len(columns) == 1 else columns
        if keep != "first" or _is_constant(frame, column):
            return frame.refuse(f".{name} with these arguments", f'frame.{name}(3, "n")')
        count = min(n, len(frame))
        kind = None if n >= len(frame) else "stable"
        return _in_order(frame, column, count, ascending, kind, False)

    return method


#: By name.
FRAME_METHODS: dict[str, Callable[..., Any]] = (
    {name: _reducing(name) for name in REDUCTIONS}
    | {name: _each(name) for name in _ENTRY_BY_ENTRY}
    | {name: _operating(name) for name in ("add", "sub", "mul", "truediv")}
    | {"div": _operating("truediv"), "assign": add_columns, "apply": apply_to_lines}
    | {"apply_by": apply_by, "groupby": group_rows}
    | {"sort_values": sort_frame, "pipe": call_with}
    | {"nlargest": _extremes("nlargest", ascending=False)}
    | {"nsmallest": _extremes("nsmallest", ascending=True)}
)
