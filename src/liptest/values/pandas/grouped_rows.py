"""``.groupby`` of noisy numbers by what is constant: a column of labels, or a level of the keys."""

from __future__ import annotations

from typing import Any

from liptest.values.array import SymbolicArray
from liptest.values.pandas.hidden_entries import move_entries
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.labelled import UNKNOWN, say_names
from liptest.values.pandas.of_pandas import PartOfPandas
from liptest.values.pandas.series_methods import REDUCTIONS, reduce_to_number


def group_rows(owner: Any, by: Any = None, level: Any = None, sort: bool = True) -> GroupedRows:
    """Rows of a series or a frame by labels; pandas finds the groups."""

    def call(own: Any) -> Any:
        return list(own.groupby(by, level=level, sort=sort))

    if not (type(by) is str or type(by) is list or (by is None and level is not None)):
        return owner.refuse(".groupby by other things than columns of labels")  # type: ignore[no-any-return]
    groups = move_entries(owner, ".groupby", call, owner)
    several = by if type(by) is list else [by]
    listed = by if by is not None else level
    if type(listed) is list and len(listed) == 1:
        groups = [(key[0], rows) for key, rows in groups]
    names = several if by is not None else _level_names(owner, level)
    return GroupedRows(owner, groups, names, set(several) if by is not None else set())


def _level_names(owner: Any, level: Any) -> list[Any]:
    own = None if owner.names_ is None else owner.names_.get("index_names", (None,))
    listed = level if type(level) is list else [level]
    return [UNKNOWN if own is None else own[one] if type(one) is int else one for one in listed]


class GroupedRows(PartOfPandas):
    """Rows by group, of which numbers are made that have a name."""

    __slots__ = ("_by", "_groups", "_names")

    described = "groups of noisy numbers"
    advice = "take .sum(), .mean(), .max() or .min() of a column"

    def __init__(self, of: Any, groups: list[Any], names: list[Any], by: set[Any]) -> None:
        super().__init__(of)
        self._groups, self._names, self._by = groups, names, by

    def __getitem__(self, name: Any) -> Any:
        return GroupedRows(
            self._of[name], [(key, rows[name]) for key, rows in self._groups], self._names, set()
        )

    def __iter__(self) -> Any:
        return iter(self._groups)

    def agg(self, func: Any = None) -> Any:
        """What a name says."""
        if func not in REDUCTIONS or func == "quantile" or not self._groups:
            return self.refuse(".agg")
        if type(self._of) is KeyedSeries:
            own = self._of.names_
            title = UNKNOWN if own is None else own.get("name")
            made = {key: reduce_to_number(rows, func) for key, rows in self._groups}
            return KeyedSeries.of(made, say_names(title, self._names))
        columns = {k: one for k, one in self._of.columns_.items() if k not in self._by}
        if not columns or any(type(one.array) is not SymbolicArray for one in columns.values()):
            return self.refuse(f".{func} of columns that are constants", "choose its columns")
        frame = {
            name: KeyedSeries.of(
                {key: reduce_to_number(rows[name], func) for key, rows in self._groups}, {}
            )
            for name in columns
        }
        keys = [key for key, _ in self._groups]
        return KeyedFrame(keys, frame, say_names(None, self._names), self._of.branching)

    def __getattr__(self, name: str) -> Any:
        return (lambda: self.agg(name)) if name in REDUCTIONS else super().__getattr__(name)
