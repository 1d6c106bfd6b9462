"""A column for tests: it may be asked what a column may be asked, and knows its records."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.folded.folding import fold_loops
from liptest.enumerate.folded.folds import Folds


class Refusal(BaseException):
    """What a column does not follow."""


class FakeColumn:
    """Records by their places among the possible values."""

    #: All are of the same records, in the same order.
    answers = None

    def __init__(
        self, records: Sequence[int], values: list[Any], kept: list[bool] | None = None
    ) -> None:
        self.records = records
        self.values = values
        self.kept = [True] * len(values) if kept is None else kept

    def __iter__(self) -> NoReturn:
        raise Refusal("walked")

    def __getitem__(self, index: Any) -> NoReturn:
        raise Refusal("indexed")

    def __len__(self) -> int:
        assert all(self.kept)
        return len(self.records)


class FakeRows:
    """Answers of a column, as plain numbers."""

    branching: Any = SimpleNamespace(keeps_room=False)

    def __init__(self, column: FakeColumn) -> None:
        self.column = column
        self.values, self.kept = list(column.values), list(column.kept)
        self.length = sum(self.kept[place] for place in column.records)

    def answer(self, table: list[Any], kind: type, largest: Any, steps: int) -> Any:
        return kind(sum(table[place] for place in self.column.records))

    def mapped(self, values: list[Any], kept: list[bool]) -> Any:
        return FakeColumn(self.column.records, values, kept)

    def refuse(self, words: str) -> NoReturn:
        raise Refusal(words)


def rows_of(value: Any) -> Any:
    """The rows of a fake column."""
    return FakeRows(value) if type(value) is FakeColumn else None


def column_of(records: Sequence[int], values: Sequence[int]) -> FakeColumn:
    """As an array of records would be walked."""
    places = [list(values).index(one) for one in records]
    return FakeColumn(places, [np.int64(one) for one in values])


def fold(function: Any) -> Any:
    """The function with folded loops over fake columns, itself where there are none."""
    return fold_loops(function, Folds(rows_of))


_numbers = count()


def made(text: str, name: str = "f", **space: Any) -> Callable[..., Any]:
    """A function of a text that can be read again."""
    file = f"<generated {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)
    found: Callable[..., Any] = space[name]
    return found
