"""NumPy's functions of arrays of rows: those that treat each row by itself, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.records.rows import FOLLOWED, REDUCTIONS, Handler, RowArray


def _follows(*functions: Any) -> Callable[[Handler], Handler]:
    def keep(rule: Handler) -> Handler:
        FOLLOWED.update(dict.fromkeys(functions, rule))
        return rule

    return keep


@_follows(np.where)
def _where(one: RowArray, condition: Any, *pair: Any) -> Any:
    if len(pair) != 2:
        one.refuse("numpy.where without values")
    if any(map(_is_text, pair)):
        return _choose_text(one, condition, pair)
    return one.entrywise(np.where, (condition, *pair))


def _is_text(side: Any) -> bool:
    return type(side) is str or (type(side) is RowArray and side.dtype.kind in "OU")


def _choose_text(one: RowArray, condition: Any, pair: tuple[Any, ...]) -> Any:
    """Texts are not symbolic: the run branches over the condition of its row."""
    if type(condition) is not RowArray or condition.ndim != 1 or not all(map(_is_text, pair)):
        one.refuse("numpy.where of texts and others")

    def choose() -> Any:
        chosen = pair[0] if bool(condition.row[0]) else pair[1]
        entry = chosen.row[0] if type(chosen) is RowArray else chosen
        return np.array([str(entry)], dtype=object)

    return one.treat_row(choose)


@_follows(np.clip)
def _clip(one: RowArray, array: Any, a_min: Any = None, a_max: Any = None, **options: Any) -> Any:
    if options or type(array) is not RowArray:
        one.refuse("numpy.clip with options")
    return array.entrywise(np.clip, (array, a_min, a_max))


@_follows(np.round, np.around)
def _round(one: RowArray, array: Any, decimals: int = 0, out: Any = None) -> Any:
    if out is not None or type(decimals) is not int:
        one.refuse("numpy.round with out=")
    return one.treat_row(lambda: np.round(one.row, decimals))


@_follows(np.nan_to_num)
def _nan_to_num(one: RowArray, array: Any) -> Any:
    return one.treat_row(lambda: np.nan_to_num(one.row))


@_follows(np.copy)
def _copy(one: RowArray, array: Any) -> Any:
    return one.copy()


@_follows(np.reshape)
def _reshape(one: RowArray, array: Any, *shape: Any) -> Any:
    return one.reshape(*shape)


@_follows(np.expand_dims)
def _expand_dims(one: RowArray, array: Any, axis: Any) -> Any:
    if type(axis) is not int or axis % (one.ndim + 1) == 0:
        one.refuse("numpy.expand_dims of the first axis")
    return one.view(lambda row: np.reshape(row, np.expand_dims(np.empty(row.shape), axis).shape))


@_follows(np.shape)
def _shape(one: RowArray, array: Any) -> Any:
    return one.shape


@_follows(np.ndim)
def _ndim(one: RowArray, array: Any) -> Any:
    return one.ndim


@_follows(np.size)
def _size(one: RowArray, array: Any) -> Any:
    return one.size


def _like(make: Any) -> Handler:
    def rule(one: RowArray, array: Any, *value: Any, **options: Any) -> Any:
        if options.keys() - {"dtype"} or any(np.ndim(given) for given in value):
            one.refuse(f"numpy.{make.__name__} with options")
        model = np.empty(one.row.shape, dtype=one.dtype)
        return one.wrapped(make(model, *value, **options))

    return rule


for _make in (np.zeros_like, np.ones_like, np.full_like):
    FOLLOWED[_make] = _like(_make)


def _joining(function: Any) -> Handler:
    """Arrays of rows side by side, never one below the other."""

    def rule(one: RowArray, arrays: Any, axis: Any = None) -> Any:
        if type(arrays) not in (list, tuple) or not all(type(a) is RowArray for a in arrays):
            one.refuse(f"numpy.{function.__name__} of rows and others")
        if function is np.column_stack:
            if axis is not None:
                one.refuse("numpy.column_stack with options")
            axis = 1
        ends = max(one.ndim + (function is np.stack), 1 + (function is np.column_stack))
        if type(axis) is not int or axis % ends == 0:
            one.refuse(f"numpy.{function.__name__} along the records")
        parts = [
            row.row.reshape(1, -1) if function is np.column_stack and row.ndim == 1 else row.row
            for row in arrays
        ]
        join = np.concatenate if function is np.column_stack else function
        return one.treat_row(lambda: join(parts, axis=axis))

    return rule


for _join in (np.stack, np.concatenate, np.column_stack):
    FOLLOWED[_join] = _joining(_join)


def _within(function: Any) -> Handler:
    """Reductions within a row."""

    def rule(one: RowArray, array: Any, *given: Any, **options: Any) -> Any:
        axis = given[0] if given else options.get("axis")
        rest = {key for key, value in options.items() if value is not None and key != "axis"}
        if len(given) > 1 or type(axis) is not int or axis % one.ndim == 0 or rest - {"keepdims"}:
            one.refuse(f"numpy.{function.__name__} over the records")
        keep = {"keepdims": True} if options.get("keepdims") is True else {}
        return one.treat_row(lambda: function(one.row, axis=axis, **keep))

    return rule


for _name in REDUCTIONS:
    FOLLOWED[getattr(np, _name)] = _within(getattr(np, _name))


@_follows(np.take)
def _take(one: RowArray, table: Any, places: Any, axis: Any = None, **options: Any) -> Any:
    is_first = axis == 0 or (axis is None and np.ndim(table) == 1)
    if options or type(places) is not RowArray or not is_first:
        one.refuse("numpy.take")
    return entry_of_table(table, places)


def entry_of_table(table: Any, places: RowArray) -> Any:
    """``table[places]`` of a constant table: each row looks up its own entries."""
    if type(table) is not np.ndarray or places.dtype.kind not in "iu":
        places.refuse("an index")
    return places.treat_row(lambda: table[places.row])


@_follows(np.digitize)
def _digitize(one: RowArray, numbers: Any, bins: Any, right: bool = False) -> Any:
    if type(numbers) is not RowArray or type(bins) not in (list, tuple, np.ndarray):
        one.refuse("numpy.digitize by rows")
    return one.treat_row(lambda: np.digitize(numbers.row, bins, right))


@_follows(np.searchsorted)
def _searchsorted(one: RowArray, bins: Any, numbers: Any, side: str = "left") -> Any:
    if type(numbers) is not RowArray or type(bins) not in (list, tuple, np.ndarray):
        one.refuse("numpy.searchsorted in rows")
    row: Any = numbers.row
    return one.treat_row(lambda: np.searchsorted(bins, row, "right" if side == "right" else "left"))
