"""Answers by key, of which it depends on the data which keys there are.

The answer of a constant key is a sum over its records, 0 where there are none. Whether a key is
there is a comparison of a count without noise: it is asked where a program would raise a KeyError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar, NoReturn

import numpy as np

from liptest.foreign import names_of_axis
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.labelled import UNKNOWN, say_names
from liptest.values.pandas.named_groups import NamesGroups, has_zero
from liptest.values.pandas.of_pandas import PartOfPandas, SeriesOfRecords
from liptest.values.unfollowed import Unfollowed

_KINDS_OF_KEYS = (str, int, np.int64)


class ByKey(NamesGroups, SeriesOfRecords):
    """Answers by key, of which it depends on the data which keys there are.

    Parameters
    ----------
    by
        The columns whose entries are the keys; of several the keys are tuples.
    series
        What is summed up.
    answer
        Of the records of a group.
    """

    __slots__ = ("_answer", "_by", "_series", "_title")

    #: Makes a table of answers by two columns (``keyed_frame``).
    crossed: ClassVar[Any]
    #: Makes such of sizes, whose groups may be walked (``counted_groups``).
    sizes: ClassVar[Any]

    described = "answers for those groups that occur, which depends on the data,"
    advice = "name the groups: .reindex(KEYS, fill_value=0), or .get(key, 0)"

    def __init__(self, by: tuple[Any, ...], series: Any, answer: Callable[[Any], Any]) -> None:
        self._by, self._series, self._answer = by, series, answer
        self._title: Any = UNKNOWN

    def called(self, title: Any) -> Any:
        """The same, which pandas gives this name."""
        self._title = title
        return self

    def names_with(self, index: Any) -> dict[str, Any]:
        """What is said of it with these keys, whose own names come first."""
        own = names_of_axis(index)
        return say_names(self._title, self.key_names if own is None else own)

    @property
    def key_names(self) -> list[Any]:
        """What the columns of keys are called."""
        return [by.name for by in self._by]

    @property
    def array(self) -> Any:
        """The array of the same records."""
        return self._by[0].array

    def __getitem__(self, key: Any) -> Any:
        if self._has_key(key, "an index"):
            return self.answer_of(key)
        raise KeyError(key)

    def __contains__(self, item: Any) -> bool:
        return self._has_key(item, "in")

    def _has_key(self, key: Any, use: str) -> bool:
        """Whether a group occurs: a comparison of a private count where it may be missing."""
        if len(self._by) > 1 or type(key) not in _KINDS_OF_KEYS:
            return bool(self.refuse(use))
        (by,) = self._by
        return bool(by[by == key].count() > 0)

    @property
    def loc(self) -> Any:
        """The answer of one key."""
        return _AnswerOfKey(self)

    at = loc

    @property
    def index(self) -> Any:
        """The keys that occur."""
        return _KeysThatOccur(self)

    def keys(self) -> Any:
        """The keys that occur."""
        return _KeysThatOccur(self)

    def items(self) -> Any:
        """The keys that occur with their answers."""
        return self.refuse(".items")

    def to_dict(self) -> Any:
        """The answers by key."""
        return AnswersInDict(self)

    def in_dict(self) -> Any:
        """The same."""
        return self.to_dict()

    def count_groups(self) -> Any:
        """How many groups occur."""
        return self.refuse("len()")

    def answer_of(self, key: Any) -> Any:
        """The answer of one group, 0 where it does not occur."""
        keys = key if len(self._by) > 1 else (key,)
        if type(keys) is not tuple or len(keys) != len(self._by):
            return self.refuse("a key that is not one of its groups")
        masks = [by == one for by, one in zip(self._by, keys, strict=True)]
        return self._answer(self._series[reduce(operator.and_, masks)])

    def get(self, key: Any, default: Any = None) -> Any:
        """The answer of one group; 0 where it does not occur."""
        if not has_zero(default):
            return self.refuse(".get without a 0 for groups that do not occur", ".get(key, 0)")
        return self.answer_of(key)

    def unstack(self, level: Any = -1, fill_value: Any = None) -> Any:
        """Of two columns the first as rows, the second as columns."""
        if level != -1 or not (fill_value is None or has_zero(fill_value)) or len(self._by) != 2:
            return self.refuse(".unstack with these arguments", ".unstack(fill_value=0)")
        return self.crossed(self, is_filled=fill_value is not None)

    def filled_with_zeros(self, keys: list[Any], index: Any) -> Any:
        names = self.names_with(index)
        return KeyedSeries.of({key: self.answer_of(key) for key in keys}, names)


class _AnswerOfKey(PartOfPandas):
    """``.loc`` of answers by key."""

    __slots__ = ()

    described, advice = ByKey.described, ByKey.advice

    def __getitem__(self, key: Any) -> Any:
        return self._of[key]


class _KeysThatOccur(PartOfPandas):
    """The index of answers by key, in which a key is looked for."""

    __slots__ = ()

    described, advice = ByKey.described, ByKey.advice

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def __contains__(self, item: Any) -> bool:
        return item in self._of


class AnswersInDict(Unfollowed):
    """A dict of answers by key: as these, but for what pandas or polars alone has.

    ``answers`` are a ``ByKey``, or what has its methods.
    """

    __slots__ = ("_answers",)

    described = "a dict of those groups that occur, which depends on the data"

    def __init__(self, answers: Any) -> None:
        self._answers = answers

    def __getitem__(self, key: Any) -> Any:
        return self._answers[key]

    def __contains__(self, item: Any) -> bool:
        return item in self._answers

    def get(self, key: Any, default: Any = None) -> Any:
        """The answer of one group; 0 where it does not occur."""
        return self._answers.get(key, default)

    def items(self) -> Any:
        """The groups that occur with their answers."""
        return self._answers.items()

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        raise AssertionError(self._answers.refuse(use))
