"""Groups that a program names: what stands for those that do not occur; orders of those that do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from liptest.foreign import names_of_axis
from liptest.values.pandas.of_pandas import OfPandas, PartOfPandas
from liptest.values.protocol import is_symbolic


class Unfilled(PartOfPandas):
    """Answers of named groups, nan for those that do not occur.

    ``filled`` makes the answers with 0 for these.
    """

    __slots__ = ("_filled",)

    described = "answers that are nan for groups that do not occur,"
    advice = ".reindex(KEYS, fill_value=0), or .reindex(KEYS).fillna(0)"

    def __init__(self, of: OfPandas, filled: Callable[[], Any]) -> None:
        super().__init__(of)
        self._filled = filled

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("reindex without fill_value=0")

    def fillna(self, value: Any) -> Any:
        """0 for groups that do not occur; floats, as soon as one of them does not."""
        if not has_zero(value):
            return self.refuse(".fillna with another number than 0")
        return self._filled().astype(float)


def has_zero(value: Any) -> bool:
    """Whether what stands for a missing answer is 0."""
    return type(value) in (int, float) and value == 0


def list_named_keys(of: OfPandas, index: Any) -> list[Any]:
    """Keys that the program names, each once."""
    if is_symbolic(index):
        of.refuse(".reindex with keys that depend on the data")
    keys = list(index)
    if len(set(keys)) < len(keys):
        of.refuse(".reindex with a key twice")
    return keys


class NamesGroups(OfPandas):
    """Answers by group, of which it depends on the data which groups there are."""

    __slots__ = ()

    def reindex(self, index: Any, fill_value: Any = None) -> Any:
        """Answers of named groups; 0 for those that do not occur."""
        keys = list_named_keys(self, index)
        index = keys if names_of_axis(index) is None else index
        if fill_value is None:
            return Unfilled(self, lambda: self.reindex(index, fill_value=0))
        if not has_zero(fill_value):
            return self.refuse(".reindex without fill_value=0", ".reindex(KEYS, fill_value=0)")
        return self.filled_with_zeros(keys, index)

    def filled_with_zeros(self, keys: list[Any], index: Any) -> Any:
        """Answers of these groups, with names of the keys where ``index`` has some."""
        raise NotImplementedError


#: Of the entries of the records those that occur, in an order of their own.
Order = Callable[[list[Any]], list[Any]]


def keys_as_they_come(entries: list[Any]) -> list[Any]:
    """Each where it comes first, as ``value_counts(sort=False)`` has them."""
    return list(dict.fromkeys(entries))


def keys_by_count(*, ascends: bool) -> Order:
    """As ``value_counts`` has them."""
    return partial(_keys_by_count, ascends)


def _keys_by_count(ascends: bool, entries: list[Any]) -> list[Any]:
    import pandas

    return pandas.Series(entries).value_counts(ascending=ascends).index.tolist()  # type: ignore[no-any-return]
