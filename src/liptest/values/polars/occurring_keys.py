"""Frames of polars with a row for each group that occurs, which depends on the data.

The number of a constant key is an answer, 0 where the group is missing: that is what
``dict(zip(frame["key"], frame["len"])).get(key, 0)`` asks for, and a join to declared keys. Rows
are walked by loops only that tell those groups whose noisy size is large (``counted_groups``). In
which order polars gives them is not known unless they are sorted by their keys.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.pandas.answers_by_key import AnswersInDict
from liptest.values.pandas.counted_groups import count_groups
from liptest.values.pandas.named_groups import Order, has_zero, keys_as_they_come
from liptest.values.pandas.record_series import RecordSeries
from liptest.values.polars.polars_frames import KEYS_ADVICE, PolarsFrame
from liptest.values.polars.polars_known import KnownFrame, OfPolars, read_compared_key, value_of
from liptest.values.polars.polars_nodes import name_expressions
from liptest.values.protocol import find_branching, is_symbolic

_DESCRIBED = "numbers for those groups that occur, which depends on the data,"


class OccurringKeys(OfPolars):
    """Numbers by key, of which it depends on the data which keys there are.

    Parameters
    ----------
    frame
        Whose groups they are.
    name
        Of the column of keys.
    of_key
        By name the numbers of a key.
    order
        In which the keys come; None for their own.
    are_of_rows
        Whether each group that has rows is there.
    """

    __slots__ = ("_are_of_rows", "_frame", "_is_lazy", "_name", "_of_key", "_order")

    described = _DESCRIBED
    advice = KEYS_ADVICE

    def __init__(
        self,
        frame: Any,
        name: str,
        of_key: Callable[[Any], dict[str, Any]],
        *,
        order: Order | None = keys_as_they_come,
        are_of_rows: bool = True,
        is_lazy: bool = False,
    ) -> None:
        self._frame, self._name, self._of_key = frame, name, of_key
        self._order, self._are_of_rows, self._is_lazy = order, are_of_rows, is_lazy

    branching = find_branching("_frame")

    # ---- rows

    def sort(self, by: Any, *more: Any, descending: bool = False, **options: Any) -> Any:
        """In the order of the keys, each of which is there once."""
        is_known = options in ({}, {"maintain_order": True}) and type(descending) is bool
        if by not in (self._name, [self._name]) or more or not is_known:
            return self.refuse(".sort but by the keys", "sort by the column of keys")
        return self._made(order=_falling_keys if descending else None)

    def _made(self, **changes: Any) -> OccurringKeys:
        own = {
            "order": self._order,
            "are_of_rows": self._are_of_rows,
            "is_lazy": self._is_lazy,
        }
        return OccurringKeys(self._frame, self._name, self._of_key, **(own | changes))

    def collect(self) -> Any:
        """The frame, where it is lazy."""
        if not self._is_lazy:
            return self.refuse(".collect of a frame that is not lazy")
        return self._made(is_lazy=False)

    def filter(self, predicate: Any) -> Any:
        """The row of one key, ``pl.col(key) == "a"``, if it is there."""
        nodes = name_expressions([predicate], self.columns, self.refuse)
        name, key = read_compared_key(nodes, self.refuse)
        if name != self._name or not self.is_key(key):
            return self.refuse(".filter but by one key", "pl.col(key) == 'a'")
        return RowOfKey(self, key)

    # ---- columns

    @property
    def columns(self) -> list[str]:
        """The names."""
        return [self._name, *self.number_names]

    @property
    def number_names(self) -> list[str]:
        """Those of the numbers."""
        return list(self._of_key(self._possible()[0]))

    def __getitem__(self, key: Any) -> Any:
        return self.get_column(key) if isinstance(key, str) else self.refuse("an index")

    def get_column(self, name: str) -> Any:
        """One column."""
        self._refuse_lazy()
        if name not in self.columns:
            return self.refuse(f"the column {name!r}, which is not there")
        return OccurringColumn(self, name, is_of_keys=name == self._name)

    def rows(self, *, named: bool = False) -> Any:
        """The rows: keys with their numbers."""
        self._refuse_lazy()
        names = self.number_names
        if len(names) != 1:
            return self.refuse(".rows of several numbers")
        return OccurringRows(self, names[0], are_named=named)

    iter_rows = rows

    def to_dicts(self) -> Any:
        """The rows, by column."""
        return self.rows(named=True)

    def _refuse_lazy(self) -> None:
        if self._is_lazy:
            self.refuse("entries of a lazy frame", "call .collect() before")

    # ---- groups

    @property
    def _by(self) -> RecordSeries:
        by: RecordSeries = self._frame.series_of(self._name)
        return by

    def is_key(self, key: Any) -> bool:
        """Whether a constant is of the type that the keys have."""
        by = self._by
        kinds = (str,) if by.names is not None else (int, np.int64)
        return type(key) in kinds and by.array.dtype.kind in "iu"

    def has(self, key: Any) -> Any:
        """Whether a group occurs: a comparison of a private count where it may be missing."""
        if not (self._are_of_rows and self.is_key(key)):
            return self.refuse("a question for a group")
        by = self._by
        return by[operator.eq(by, key)].count() > 0

    def number_of(self, key: Any, name: str) -> Any:
        """The number of a group, 0 where it does not occur."""
        if not self.is_key(key):
            return self.refuse("a key that is not one of its groups")
        return value_of(self._of_key(key)[name])

    def _possible(self) -> list[Any]:
        groups = count_groups(self._by, self._order)
        if groups is None:
            return self.refuse("keys that are not followed")  # type: ignore[no-any-return]
        return list(groups.values.possible)

    def pairs_of(self, name: str, *, are_named: bool = False) -> Any:
        """The groups with their sizes, for a loop that tells those that are large; else None."""
        names = (self._name, name) if are_named else None
        groups = count_groups(self._by, self._order, names=names)
        if groups is None or not self._are_of_rows:
            return None
        is_size = all(
            _is_same(self.number_of(key, name), groups.values.count_of(key))
            for key in groups.values.possible
        )
        return groups if is_size else None

    def join_to(self, keys: Any, options: dict[str, Any]) -> Any:
        """``keys.join(self, ..)`` of a plain frame of declared keys."""
        expected = {"on": self._name, "how": "left"}
        given = dict(options)
        order = given.pop("maintain_order", None)
        if isinstance(given.get("on"), list) and len(given["on"]) == 1:
            given["on"] = given["on"][0]
        is_known = order in (None, "none", "left", "left_right")
        if given != expected or keys.columns != [self._name] or not is_known or self._is_lazy:
            return self.refuse(".join with other options, or of other columns")
        declared = keys[self._name].to_list()
        alike = self._by.names is not None
        if len(set(declared)) < len(declared) or not declared:
            return self.refuse(".join of a key twice, or of none")
        if not all(type(label) is (str if alike else int) for label in declared):
            return self.refuse(".join of keys of another type")
        by_key = [self._of_key(key) for key in declared]
        columns = {name: [row[name] for row in by_key] for name in by_key[0]}
        made = {self._name: declared} | columns
        is_ordered = order in ("left", "left_right")
        return KnownFrame(self.branching, made, set(columns), is_ordered=is_ordered)


def _falling_keys(entries: list[Any]) -> list[Any]:
    return sorted(set(entries), reverse=True)


def _is_same(number: Any, count: Any) -> bool:
    """Whether a number is the count of the records of a group."""
    if not (is_symbolic(number) and is_symbolic(count)):
        return False
    return type(number) is type(count) and bool(number.form == count.form)


class OccurringColumn(OfPolars):
    """A column of such a frame: its keys, or a number of each."""

    __slots__ = ("_groups", "_name", "is_of_keys")

    _stands_for = "Series"
    described = _DESCRIBED
    advice = KEYS_ADVICE

    def __init__(self, groups: OccurringKeys, name: str, *, is_of_keys: bool) -> None:
        self._groups, self._name, self.is_of_keys = groups, name, is_of_keys

    branching = find_branching("_groups")

    def to_list(self) -> Any:
        """The entries, of Python's types."""
        return self

    def zipped_with(self, other: Any) -> Any:
        """``zip(keys, numbers)`` of one frame."""
        is_column = type(other) is OccurringColumn and other._groups is self._groups
        if not is_column or not self.is_of_keys or other.is_of_keys:
            return None
        return OccurringRows(self._groups, other._name)


class OccurringRows(OfPolars):
    """Keys with one number each: ``zip`` of two columns, or the rows of such a frame.

    ``are_named``: each row is a dict.
    """

    __slots__ = ("_are_named", "_groups", "_name")

    kind = object
    described = _DESCRIBED
    advice = KEYS_ADVICE

    def __init__(self, groups: OccurringKeys, name: str, *, are_named: bool = False) -> None:
        self._groups, self._name, self._are_named = groups, name, are_named

    branching = find_branching("_groups")

    def in_dict(self) -> Any:
        """``dict(rows)``."""
        if self._are_named:
            return self.refuse("dict() of rows that are dicts")
        return AnswersInDict(NumbersByKey(self._groups, self._name))

    def walked_groups(self) -> Any:
        """The groups with their sizes, for a loop that tells those that are large."""
        pairs = self._groups.pairs_of(self._name, are_named=self._are_named)
        return self if pairs is None else pairs


class NumbersByKey:
    """A number of each group that occurs, by its key, as a dict has them."""

    def __init__(self, groups: OccurringKeys, name: str) -> None:
        self._groups, self._name = groups, name

    def __getitem__(self, key: Any) -> Any:
        if key in self:
            return self._groups.number_of(key, self._name)
        raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        return bool(self._groups.has(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """The number of a key, 0 where it is not there."""
        if not has_zero(default):
            return self.refuse(".get without a 0 for groups that do not occur", ".get(key, 0)")
        return self._groups.number_of(key, self._name)

    def items(self) -> OccurringRows:
        """The keys that are there with their numbers."""
        return OccurringRows(self._groups, self._name)

    def refuse(self, use: str, advice: str = "") -> Any:
        """End the analysis."""
        return self._groups.refuse(use, advice)


class RowOfKey(OfPolars):
    """The row of one key, if it is there."""

    __slots__ = ("_groups", "_key")

    described = _DESCRIBED
    advice = KEYS_ADVICE

    def __init__(self, groups: OccurringKeys, key: Any) -> None:
        self._groups, self._key = groups, key

    branching = find_branching("_groups")

    def __getitem__(self, key: Any) -> Any:
        return self.get_column(key) if isinstance(key, str) else self.refuse("an index")

    def get_column(self, name: str) -> Any:
        """A number, if it is there."""
        if name not in self._groups.number_names:
            return self.refuse(f"the column {name!r} of a group")
        return NumberOfKey(self._groups, self._key, name)


class NumberOfKey(OfPolars):
    """A number of one group, if it occurs."""

    __slots__ = ("_groups", "_key", "_name")

    _stands_for = "Series"
    described = _DESCRIBED
    advice = KEYS_ADVICE

    def __init__(self, groups: OccurringKeys, key: Any, name: str) -> None:
        self._groups, self._key, self._name = groups, key, name

    branching = find_branching("_groups")

    def sum(self) -> Any:
        """The number, 0 where there is none."""
        return self._groups.number_of(self._key, self._name)


PolarsFrame.occurring = OccurringKeys
