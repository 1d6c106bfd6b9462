"""Queries of one number of each user: a query whose rows another one makes, with one for each user.

``SELECT SUM(LEAST(t, 100)) FROM (SELECT user, SUM(amount) AS t FROM data GROUP BY user)``, also in
``WITH t AS (..)``. What is made of the rows of each user, and then of that, is calculated by
``UserTotals``; in which order a database adds floats is not known (docs/theory/tables.md, B16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from typing import Any, ClassVar

import numpy as np

from liptest.enumerate.sql.sql_queries import (
    Aggregate,
    Entries,
    NotSumsError,
    PlacedParameter,
    QueryReader,
    SumQuery,
    find_entry,
)
from liptest.enumerate.sql.sql_selections import SelectedRows, SelectionReader
from liptest.enumerate.sql.sql_statements import read_tokens
from liptest.values.array import SymbolicArray
from liptest.values.pandas.record_series import KeySeries, RecordSeries
from liptest.values.pandas.user_totals import UserTotals

#: What is made of the rows of each user, as pandas calls it.
_MADE = {"sum": "sum", "total": "sum", "avg": "mean", "min": "min", "max": "max", "count": "size"}
# What says that a subquery has fewer rows than the table.
_ADDING_UP = ("group", "distinct", "sum", "total", "avg", "count")
_STANDS_FOR = "(rows of users)"
_NAMED = ("quoted", _STANDS_FOR)
# Groups of each user.
_MOST_GROUPS = 64
_ADVICE = (
    "clip what each user adds: SELECT SUM(MIN(t, 100)) FROM (SELECT user, SUM(..) AS t FROM the "
    "table GROUP BY user), LEAST for MIN elsewhere; clip real numbers of rows, too"
)


@dataclass(frozen=True)
class Made:
    """What is made of the rows of each user: "distinct" are the values of a ``column``."""

    how: str
    value: Callable[[Entries], Any] | None = None
    column: str = ""


@dataclass(frozen=True)
class UserQuery:
    """The inner query: of rows ``among`` all, by users, what is made of them, by name.

    ``by`` are the columns of its groups, those of users and of entries; ``shown`` are selected.
    """

    by: tuple[str, ...]
    shown: tuple[str, ...]
    made: tuple[Made, ...]
    items: Mapping[str, Callable[[Entries], Any]]
    among: Callable[[Entries], Any] | None
    having: Callable[[Entries], Any] | None

    @property
    def has_all(self) -> bool:
        """Whether each user has a row in it."""
        return self.among is None and self.having is None


@dataclass
class _InnerReader(QueryReader):
    """Reads the inner query: sums of the rows of a user are numbers, which are calculated with."""

    made: list[Made] = field(default_factory=list)

    functions: ClassVar[frozenset[str]] = QueryReader.functions | _MADE.keys()

    def users(self) -> UserQuery:
        """The whole query."""
        self.needs("select")
        if self.takes("distinct"):
            return self.distinct_users()
        items: dict[str, Any] = {}
        keys: list[str] = []
        while True:
            name, value = self.name_number()
            if value is None:
                keys.append(name)
            else:
                items[name] = value
            if not self.takes(","):
                break
        among = self.rows_of_table()
        self.needs("group", "by")
        by = self.names_of_columns()
        having = self.condition() if self.takes("having") else None
        self.ends()
        if not set(keys) <= {*by} or len({*keys}) < len(keys):
            raise NotSumsError("a column beside what is made of the rows of each group")
        return UserQuery(by, tuple(keys), tuple(self.made), items, among, having)

    def names_of_columns(self) -> tuple[str, ...]:
        """Columns in a row, each once."""
        names = [self.column()]
        while self.takes(","):
            names.append(self.column())
        if len({*names}) < len(names):
            raise NotSumsError("a column twice in GROUP BY")
        return tuple(names)

    def distinct_users(self) -> UserQuery:
        """``SELECT DISTINCT user, region FROM ..``."""
        by = self.names_of_columns()
        among = self.rows_of_table()
        self.ends()
        return UserQuery(by, by, (), {}, among, None)

    def rows_of_table(self) -> Callable[[Entries], Any] | None:
        """The same of WHERE, in which nothing is made of several rows."""
        before = len(self.made)
        among: Callable[[Entries], Any] | None = super().rows_of_table()
        if len(self.made) > before:
            raise NotSumsError("a sum in WHERE")
        return among

    def name_number(self) -> tuple[str, Any]:
        """A number of each user and its name; no number for the column of users."""
        kind, word = self.words[self.place] if self.place < len(self.words) else ("", "")
        matching = [name for name in self.columns if name.lower() == word.lower()]
        following = self.words[self.place + 1 : self.place + 2]
        if (
            kind in ("word", "quoted")
            and matching
            and following in ([("sign", ",")], [("word", "from")])
        ):
            return self.column(), None
        value = self.sum()
        if not self.takes("as") and self.word in ("", ",", "from"):
            raise NotSumsError("a number of a subquery without a name: write AS name")
        name = self.next()[1]
        return name, value

    def factor(self) -> Callable[[Entries], Any]:
        if self.word not in _MADE:
            return super().factor()
        before = self.place, self.taken, len(self.made)
        how = self.next()[1]
        self.needs("(")
        if how == "count" and self.takes("*"):
            number = Made("size")
        elif how == "count" and self.takes("distinct"):
            number = Made("distinct", column=self.column())
        else:
            value = self.sum()
            if self.word == ",":  # the larger of two numbers
                self.place, self.taken = before[:2]
                del self.made[before[2] :]
                return super().factor()
            if len(self.made) > before[2]:
                raise NotSumsError("a sum of sums")
            number = Made(_MADE[how], value)
        self.needs(")")
        self.made.append(number)
        return find_entry(str(len(self.made) - 1))


def read_query(
    statement: str, table: str, columns: Mapping[str, bool], parameters: Any
) -> tuple[SumQuery, list[float]]:
    """The query, and the numbers in it; ``columns`` says by name whether it holds names.

    Raises NotSumsError.
    """
    visible = dict(columns)
    *inner, outer = _levels(list(_place(read_tokens(statement))))
    selection: SelectedRows | None = None
    users: UserQuery | None = None
    numbers: list[float] = []
    taken = 0
    for words in inner:
        try:
            if users is not None:
                raise NotSumsError("numbers of users, in a subquery")
            is_by_users = {("word", word) for word in _ADDING_UP} & {*words}
            kind = _InnerReader if is_by_users else SelectionReader
            inside = kind(words, table, visible, parameters)
            if isinstance(inside, SelectionReader):
                rows = inside.selection()
                selection = rows if selection is None else selection.select_further(rows)
                visible = dict(selection.columns)
            else:
                users = inside.users()
                visible = {name: visible[name] for name in users.shown} | dict.fromkeys(
                    users.items, False
                )
        except NotSumsError as problem:
            raise NotSumsError(f"another table, or a subquery with {problem}") from None
        numbers, taken, table = [*numbers, *inside.numbers], taken + inside.taken, _STANDS_FOR
    reader = QueryReader(outer, table, visible, parameters)
    query = reader.query()
    if users is not None:
        of_table = users if selection is None else _of_selected(users, selection)
        query = replace(query, users=of_table)
    elif selection is not None:
        query = selection.apply_to(query)
    given = parameters if isinstance(parameters, (list, tuple)) else ()
    if reader.taken + taken < len(given):
        raise NotSumsError("parameters that are not used")
    if users is not None and query.key not in ("", *users.shown):
        raise NotSumsError("groups of numbers of users")
    return query, [*numbers, *reader.numbers]


def _of_selected(users: UserQuery, selection: SelectedRows) -> UserQuery:
    """The same of the rows of the table itself, where it is of those that a subquery selects."""
    columns = {*users.by, *(number.column for number in users.made if number.column)}
    if not columns <= selection.plain:
        raise NotSumsError("groups, or different values, of what a subquery calculates")
    made = tuple(replace(number, value=selection.of_table(number.value)) for number in users.made)
    return replace(users, made=made, among=selection.both(users.among))


def _place(tokens: Any) -> Iterator[tuple[str, str]]:
    """Parameters without names with their places."""
    place = 0
    for kind, word in tokens:
        if kind == "parameter" and word in ("?", "%s"):
            made = PlacedParameter(word)
            made.place = place
            place += 1
            yield kind, made
        else:
            yield kind, word


def _levels(words: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """The queries from the innermost one on; each has a name for what makes its rows."""
    texts = [word if kind in ("word", "sign") else "" for kind, word in words]
    if texts[:1] == ["with"]:
        return _levels_of_with(words, texts)
    for place in range(len(texts) - 1):
        if texts[place : place + 2] == ["from", "("]:
            stop = _closing(texts, place + 1)
            after = words[stop + 1 :]
            if after[:1] == [("word", "as")]:
                after = after[1:]
            if (
                after
                and after[0][0] in ("word", "quoted")
                and after[0][1] not in ("where", "order", "group")
            ):
                after = after[1:]
            return [*_levels(words[place + 2 : stop]), [*words[: place + 1], _NAMED, *after]]
    return [words]


def _levels_of_with(words: list[tuple[str, str]], texts: list[str]) -> list[list[tuple[str, str]]]:
    """``WITH a AS (..), b AS (.. FROM a ..) SELECT .. FROM b``."""
    parts: dict[str, list[tuple[str, str]]] = {}
    stop = 0
    while not parts or texts[stop + 1 : stop + 2] == [","]:
        place = stop + (2 if parts else 1)
        if texts[place + 1 : place + 3] != ["as", "("] or words[place][1] in parts:
            raise NotSumsError("WITH otherwise than WITH name AS (..)")
        stop = _closing(texts, place + 2)
        parts[words[place][1]] = words[place + 3 : stop]
    levels: list[list[tuple[str, str]]] = []
    query = words[stop + 1 :]
    for name in reversed(parts):
        renamed = [
            _NAMED if word[1] == name and before == ("word", "from") else word
            for before, word in zip([("", ""), *query], query, strict=False)
        ]
        if renamed.count(_NAMED) != 1:
            raise NotSumsError("WITH that is not the only table")
        levels, query = [renamed, *levels], parts[name]
    return [*_levels(query), *levels]


def _closing(texts: list[str], place: int) -> int:
    """Where the bracket is closed that is opened at a place."""
    depth = 0
    for at in range(place, len(texts)):
        depth += {"(": 1, ")": -1}.get(texts[at], 0)
        if depth == 0:
            return at
    raise NotSumsError("a bracket that is not closed")


# ---- on symbolic rows


class TotalsOfSql(UserTotals):
    """A number of each user, as a database makes it."""

    __slots__ = ()

    advice = _ADVICE
    keeps_order = may_overflow = False

    def _combine(self, ufunc: Any, other: Any) -> Any:
        if isinstance(other, (bool, np.bool_)) and self.is_truth:
            # What the group says leaves a condition of users as it is, or decides.
            return other if bool(other) is (ufunc is np.logical_or) else self
        return super()._combine(ufunc, other)


class UserRowsOfQuery:
    """The rows of the inner query on a symbolic frame, of which the outer one makes sums.

    Only those of one group of entries, ``known`` by name.
    """

    def __init__(
        self, frame: Any, query: SumQuery, entries: Entries, known: Mapping[str, Any]
    ) -> None:
        self._query, self._users, self._known = query, query.users, known
        [users] = [frame[name] for name in self._users.by if name not in known]
        tests = [] if self._users.among is None else [self._users.among(entries)]
        tests += [np.equal(entries(name), entry) for name, entry in known.items()]
        self._mask = reduce(np.logical_and, tests) if tests else None
        if self._mask is not None and type(self._mask) is not SymbolicArray:
            raise NotSumsError("a condition that is the same for all rows")
        self._by = self._select(users)
        self._frame = frame
        self._made = [self._make_of(number, entries) for number in self._users.made]

    def _select(self, series: Any) -> Any:
        return series if self._mask is None else series[RecordSeries(self._mask)]

    def _make_of(self, number: Made, entries: Entries) -> UserTotals:
        if number.how == "size":
            return self._totals(self._by, "size")
        if number.how == "distinct":
            series = self._frame[number.column]
            if type(series) is not RecordSeries:
                raise NotSumsError("COUNT(DISTINCT ..) of users in a subquery by users")
            return self._totals(self._select(series), "nunique")
        assert number.value is not None
        value = number.value(entries)
        if type(value) is not SymbolicArray:
            raise NotSumsError("a sum of a constant")
        return self._totals(self._select(RecordSeries(value)), number.how)

    def _totals(self, series: Any, how: str) -> UserTotals:
        totals: UserTotals = TotalsOfSql.of(series, how, series.refuse)
        return totals

    def _entries(self, name: str) -> Any:
        if name in self._known:
            return self._known[name]
        if name not in self._users.items:
            raise NotSumsError(f"{name!r}, which says whose a row is")
        return self._users.items[name](lambda place: self._made[int(place)])

    def total(self, one: Aggregate) -> Any:
        """A sum over the users, or how many there are."""
        tests = self._conditions(one)
        of_users: list[Any] = [test for test in tests if isinstance(test, UserTotals)]
        if not all(test for test in tests if not isinstance(test, UserTotals)):
            return 0
        among = reduce(np.logical_and, of_users) if of_users else None
        if one.kind == "count":
            if among is not None:
                return among.sum()
            return self._by.nunique()
        if one.kind not in ("sum", "total") or one.value is None:
            raise NotSumsError(f"{one.kind.upper()} of numbers of users")
        value = one.value(self._entries)
        if not isinstance(value, UserTotals):
            raise NotSumsError("a sum of a constant")
        return (value if among is None else value[among]).sum()

    def _conditions(self, aggregate: Aggregate) -> list[Any]:
        """Those of users, and what conditions on the group say."""
        tests = [test for test in (self._query.among, aggregate.among) if test is not None]
        truths = [test(self._entries) for test in tests]
        if self._users.having is not None:
            truths.append(self._users.having(lambda place: self._made[int(place)]))
        if not all(isinstance(test, (bool, np.bool_, UserTotals)) for test in truths):
            raise NotSumsError("a condition of users that is not followed")
        return truths


def rows_of_groups(
    frame: Any, query: SumQuery, entries: Entries, declared: Mapping[str, Any], key: Any = None
) -> list[UserRowsOfQuery]:
    """By group of entries the rows of the inner query; only those of a key of the outer one.

    ``declared`` are the values of columns by name.
    """
    users = [name for name in query.users.by if type(frame[name]) is KeySeries]
    if len(users) != 1:
        raise NotSumsError("a subquery with groups that are not users")
    others = [name for name in query.users.by if name not in users]
    if query.key in users or not {*others} <= declared.keys():
        raise NotSumsError("groups by a column that is not declared as a few values")
    choices = [[key] if name == query.key else list(declared[name]) for name in others]
    if math.prod(map(len, choices)) > _MOST_GROUPS:
        raise NotSumsError(f"more than {_MOST_GROUPS} groups of each user")
    known = [dict(zip(others, chosen, strict=True)) for chosen in product(*choices)]
    return [UserRowsOfQuery(frame, query, entries, one) for one in known]


# ---- on plain rows


def plain_entries(users: UserQuery, entries: Mapping[str, Any]) -> dict[str, Any]:
    """By name the numbers of each user, of plain rows; and the users."""

    def of_rows(name: str) -> Any:
        return entries[name]

    rows_of = [entries[name].tolist() for name in users.by]
    every = np.repeat(np.bool_(True), len(rows_of[0]))
    those = every if users.among is None else np.logical_and(every, users.among(of_rows))
    groups = list(zip(*rows_of, strict=True))
    keys = sorted(
        {group for group, is_there in zip(groups, those.tolist(), strict=True) if is_there}
    )
    rows_of_users = [
        np.logical_and(those, np.array([group == key for group in groups], dtype=np.bool_))
        for key in keys
    ]

    def make(number: Made) -> Any:
        if number.how == "size":
            return np.array([int(rows.sum()) for rows in rows_of_users], dtype=np.int64)
        if number.how == "distinct":
            return np.array(
                [len({*entries[number.column][rows].tolist()}) for rows in rows_of_users], np.int64
            )
        assert number.value is not None
        numbers = np.broadcast_to(number.value(of_rows), every.shape)
        calculated = [getattr(numbers[rows], number.how)() for rows in rows_of_users]
        return np.array(calculated, dtype=None if calculated else numbers.dtype)

    totals = [make(number) for number in users.made]

    def of_user(place: str) -> Any:
        return totals[int(place)]

    kept = np.repeat(np.bool_(True), len(keys))
    if users.having is not None:
        kept = np.logical_and(kept, users.having(of_user))
    numbers = {
        name: np.broadcast_to(item(of_user), kept.shape) for name, item in users.items.items()
    }
    shown = {
        name: np.array([key[users.by.index(name)] for key in keys], dtype=entries[name].dtype)
        for name in users.by
    }
    return {name: column[kept] for name, column in (shown | numbers).items()}
