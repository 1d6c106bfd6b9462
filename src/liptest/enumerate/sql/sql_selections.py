"""Queries of a subquery that only selects rows: ``WITH a AS (SELECT * FROM data WHERE ..)``.

Each row of the subquery is one of the table, so the outer query is one of the table itself: what it
reads is calculated from the columns, and both conditions have to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liptest.enumerate.sql.sql_queries import (
    Aggregate,
    Entries,
    NotSumsError,
    QueryReader,
    SumQuery,
    find_entry,
)

Value = Callable[[Entries], Any]


@dataclass(frozen=True)
class SelectedRows:
    """The subquery: by name what each row has, and the rows ``among`` all that are left."""

    items: Mapping[str, Value]
    #: By name whether it is a column of names.
    columns: Mapping[str, bool]
    among: Value | None
    #: Which are columns of the table.
    plain: frozenset[str]

    def apply_to(self, query: SumQuery) -> SumQuery:
        """The query of the table that the outer one is."""
        keys = {query.key, *(item.column for item in query.items if item is not None)}
        if not keys <= {"", *self.plain}:
            raise NotSumsError("groups, or different values, of what a subquery calculates")
        items = tuple(None if item is None else self._summed(item) for item in query.items)
        among = self.both(query.among)
        having = query.having
        if having is not None:
            having = self._summed(having[0]), *having[1:]
        return replace(query, items=items, among=among, having=having)

    def _summed(self, one: Aggregate) -> Aggregate:
        return replace(one, value=self.of_table(one.value), among=self.of_table(one.among))

    def select_further(self, later: SelectedRows) -> SelectedRows:
        """What a subquery selects of the rows of this one."""
        items = {name: self._value(value) for name, value in later.items.items()}
        return SelectedRows(items, later.columns, self.both(later.among), later.plain & self.plain)

    def both(self, among: Value | None) -> Value | None:
        """The rows that are left of those that it selects, as a condition of the table."""
        of_table = self.of_table(among)
        if self.among is None or of_table is None:
            return of_table or self.among
        return _both(self.among, of_table)

    def of_table(self, value: Value | None) -> Value | None:
        """What is calculated of its rows, of those of the table."""
        return None if value is None else self._value(value)

    def _value(self, value: Value) -> Value:
        return lambda entries: value(lambda name: self.items[name](entries))


def _both(first: Value, second: Value) -> Value:
    return lambda entries: np.logical_and(first(entries), second(entries))


class SelectionReader(QueryReader):
    """Reads such a subquery; all else raises NotSumsError."""

    def selection(self) -> SelectedRows:
        """The whole subquery."""
        self.needs("select")
        items: dict[str, Value] = {}
        while True:
            if self.takes("*"):
                items |= {name: find_entry(name) for name in self.columns}
            else:
                name, value = self._item()
                if name in items:
                    raise NotSumsError(f"{name!r} twice in a subquery")
                items[name] = value
            if not self.takes(","):
                break
        among = self.rows_of_table()
        self.ends()
        columns = {name: self.columns.get(name, False) for name in items}
        return SelectedRows(items, columns, among, frozenset(items) & self.columns.keys())

    def _item(self) -> tuple[str, Value]:
        """A column under its own name, or a number that is calculated and has another one."""
        following = self.words[self.place + 1 : self.place + 2]
        if following in ([("sign", ",")], [("word", "from")]):
            name = self.column()
            return name, find_entry(name)
        value = self.sum()
        self.needs("as")
        kind, name = self.next()
        if kind not in ("word", "quoted") or name.lower() in map(str.lower, self.columns):
            raise NotSumsError(f"a number of a subquery that is called {name!r}, as a column")
        return name, value
