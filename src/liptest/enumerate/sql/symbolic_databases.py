"""Queries of a table whose rows are symbols: sums over the rows, as the columns calculate them.

What a query answers is first compared with what the engine answers on small tables. Two things of
an answer depend on which rows there are: a group without rows is not in it, and a sum of no rows is
NULL. A sum that is 0 may so reach the program in several ways: as 0, as None, as a row that is not
there. The program is run for each of them, with the same noise; where its answer is not the same
with 0 put in for that sum, it is refused (docs/theory/tables.md, B10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from liptest.data.real_tables import Real, RealRows
from liptest.data.tables import Key, Table
from liptest.enumerate.sql.sql_queries import Aggregate, NotSumsError, SumQuery
from liptest.enumerate.sql.sql_users import plain_entries, read_query, rows_of_groups
from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedRun, AlignedValue
from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.pandas.record_series import KeySeries, RecordSeries
from liptest.values.reals.real_column import RealColumn
from liptest.values.records.column import Column
from liptest.values.records.record_storage import OfData

ADVICE = (
    "count and add up with SELECT COUNT(*), SUM(..) FROM the table WHERE .., one group after the "
    "other (WHERE key = ?) or GROUP BY with .get(key, 0), COALESCE(SUM(..), 0) where no rows are"
)
# Ways in which sums that are 0 may reach the program, and small tables of which engines are asked.
_MOST_WAYS, _TABLES, _MOST_ROWS = 64, 24, 7
_NUMBERS = (-1.5, 0.0, 0.5, 1.0)


@dataclass
class MaybeMissing:
    """Sums that are 0 in some way: the ways, of which 0 is that they are not."""

    ways: int
    sums: list[Any]


class SymbolicStore:
    """Answers queries as ``databases`` does, with sums over symbolic rows."""

    def __init__(self, store: Any, frame: Any) -> None:
        self.name, self.table, self.names = store.name, store.table, store.names
        self.frame = frame
        self._store = store
        self._first = next(iter(frame._series.values()))
        self.branching = self._first.branching
        self.run: AlignedRun = self.branching.noise
        #: In this run: what may be missing, in the order of the queries, and in which ways it is.
        self.missing: list[MaybeMissing] = []
        self.ways: tuple[int, ...] = ()

    def refuse(self, use: str) -> Any:
        """End the analysis."""
        return OfData(self.branching, ADVICE).refuse(use)

    def answer(self, dataset: Any, statement: str, parameters: Any) -> Any:
        """Names of columns, and rows."""
        try:
            query, numbers = self._read(statement, parameters)
            self._compare(query, numbers, statement, parameters)
            rows = list(self._rows(query))
        except NotSumsError as problem:
            return self.refuse(f"a query with {problem}")
        return list(query.names), list(map(self._store.row_of(list(query.names)), rows))

    def _read(self, statement: str, parameters: Any) -> tuple[SumQuery, list[float]]:
        columns = {name: kind.is_named for name, kind in self.table.columns.items()}
        query, numbers = read_query(statement, self.name, columns, parameters)
        if query.key and self._store.is_unordered and not query.is_ordered:
            raise NotSumsError("groups in no order: ORDER BY the key")
        return query, numbers

    # ---- on symbolic rows

    def _entries(self, name: str) -> Any:
        series = self.frame[name]
        if type(series) is not RecordSeries:
            raise NotSumsError(f"{name!r}, which says whose a row is")
        return _Named(series) if series.names is not None else series.array

    def _rows(self, query: SumQuery) -> Iterator[tuple[Any, ...]]:
        if not query.key:
            yield tuple(
                self._nullable(query, aggregate)
                for aggregate in query.items
                if aggregate is not None
            )
            return
        for key in list_keys(self.table, query):
            if query.having is not None:
                compared, comparison, number = query.having
                comparison(self._sum(query, compared, key), number)  # of data without noise
                raise NotSumsError("HAVING")
            row: list[Any] = []
            sums: list[Any] = []
            counts: list[Any] = []
            for aggregate in query.items:
                if aggregate is None:
                    row.append(key)
                    continue
                if aggregate.among is not None and aggregate.kind == "sum" and not aggregate.fills:
                    raise NotSumsError("a sum in a group that may be NULL: use COALESCE")
                value = self._sum(query, aggregate, key)
                row.append(value)
                sums.append(value)
                if aggregate.kind == "count" and aggregate.among is None:
                    counts.append(value)
            if self._way(2, [*sums, self._sum(query, Aggregate("count", None), key)], counts) == 0:
                yield tuple(row)

    def _of_users(self, query: SumQuery, one: Aggregate, key: Any) -> Any:
        """A sum over the users, of numbers of each."""
        columns = self.table.columns.items()
        declared = {
            name: kind.values.tolist()
            for name, kind in columns
            if not isinstance(kind, Key) and not kind.is_real
        }
        groups = rows_of_groups(self.frame, query, self._entries, declared, key)
        value = sum(rows.total(one) for rows in groups)
        return _give_type(value, int if one.kind == "count" else _find_kind(value, one))

    def _nullable(self, query: SumQuery, one: Aggregate) -> Any:
        return self._null_if_none(query, one, self._sum(query, one))

    def _null_if_none(self, query: SumQuery, one: Aggregate, value: Any) -> Any:
        if one.kind != "sum" or one.fills or self._has_all_rows(query, one):
            return value
        return (value, None, value.kind(0))[self._way(3, [value], [value])]

    def _has_all_rows(self, query: SumQuery, one: Aggregate) -> bool:
        is_whole = query.users is None or query.users.has_all
        return query.among is None and one.among is None and is_whole and is_full(self.table)

    def _way(self, ways: int, sums: list[Any], above: list[Any]) -> int:
        """In which way sums that may be missing are handed over; in way 0 some are not 0."""
        if not all(type(total) is AlignedValue and total.form.terms for total in sums):
            raise NotSumsError("a sum that may be NULL and is the same for all data")
        self.missing.append(MaybeMissing(ways, sums))
        place = len(self.missing) - 1
        way = self.ways[place] if place < len(self.ways) else 0
        for total in sums:
            self.run.nonzero.discard(self.run.terms_of(total.form))
        if way == 0:
            self.run.nonzero.update(self.run.terms_of(count.form) for count in above)
        return way

    def _sum(self, query: SumQuery, one: Aggregate, key: Any = None) -> Any:
        if query.users is not None:
            return self._of_users(query, one, key)
        among = [test(self._entries) for test in (query.among, one.among) if test is not None]
        if query.key:
            among.append(np.equal(self._entries(query.key), key))
        mask: Any = None
        for condition in among:
            mask = condition if mask is None else np.logical_and(mask, condition)
        if mask is not None and type(mask) is not SymbolicArray:
            raise NotSumsError("a condition that is the same for all rows")
        if one.kind == "count":
            count = self._first.count() if mask is None else np.sum(mask)
            return _give_type(count, int)
        if one.kind == "distinct":
            return self._distinct(query, one.column, mask)
        assert one.value is not None
        value = one.value(self._entries)
        if type(value) is not SymbolicArray:
            raise NotSumsError("a sum of a constant")
        if one.kind == "avg" and (mask is not None or not is_full(self.table)):
            raise NotSumsError("an average over a number of rows that is private")
        storage = (value if mask is None else value[mask]).storage
        return self._add(storage, one.kind)

    def _distinct(self, query: SumQuery, column: str, mask: Any) -> Any:
        """How many users there are, or values of another column: those of which there is a row."""
        series = self.frame[column]
        of_users = type(series) is KeySeries
        if (query.key and not of_users) or self.table.columns[column].is_real:
            raise NotSumsError("COUNT(DISTINCT ..) in groups, or of real numbers")
        if type(series) is KeySeries:
            kept = series.array if mask is None else series.array[mask]
            return _give_type(KeySeries(kept, column).nunique(), int)
        count: Any = 0
        for value in self.table.columns[column].values.tolist():
            own = np.equal(self._entries(column), value)
            count = count + (np.sum(own if mask is None else np.logical_and(mask, own)) > 0)
        return _give_type(count, int)

    def _add(self, storage: Any, kind: str) -> Any:
        use = self.run.in_own_order(kind.upper())
        if type(storage) is RealColumn:
            total = storage.sum_up(use, in_pairs=False)
        elif type(storage) is Column and storage.own.ndim == 1:
            total = storage.sums(None, use)
        else:
            raise NotSumsError("a sum of this")
        is_whole = storage.dtype.kind in "iub"
        if kind == "avg":
            storage.answers.read_length()
            return _give_type(total, float) / storage.answers.records
        return _give_type(total, int if is_whole and kind != "total" else float)

    # ---- on small tables

    def _compare(
        self, query: SumQuery, numbers: list[float], statement: str, parameters: Any
    ) -> None:
        """Refuse a query that the engine answers otherwise."""
        if self.run.point is not None or query.having is not None:
            return
        agreeing = self._store.agreeing
        asked = statement, repr(parameters)
        if asked in agreeing:
            return
        rng = _GENERATOR(_BITS(0))
        for _ in range(_TABLES):
            entries = small_table(self.table, numbers, rng)
            try:
                answered = self._store.ask_about(entries, statement, parameters)
            except Exception as error:
                raise NotSumsError(f"what the engine does not answer ({error})") from None
            expected = list(plain_rows(query, self.table, entries))
            if not _are_equal(answered, expected):
                raise NotSumsError(
                    f"a query to which the engine answers {answered!r:.100} and the analysis "
                    f"{expected!r:.100}; beside real numbers write 1.0 for 1 and 0.0 for 0"
                )
        agreeing.add(asked)


# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64


def _find_kind(value: Any, one: Aggregate) -> type:
    is_whole = isinstance(value, AlignedValue) and np.issubdtype(value.kind, np.integer)
    return int if is_whole and one.kind != "total" else float


def _give_type(value: Any, kind: type) -> Any:
    return value.typed(kind) if type(value) is AlignedValue else kind(value)


class _Named:
    """A column of names, which are compared."""

    def __init__(self, series: RecordSeries) -> None:
        self._series = series

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [operand._series if type(operand) is _Named else operand for operand in inputs]
        if ufunc not in (np.equal, np.not_equal) or type(plain[1]) is not str:
            raise NotSumsError("names that are not compared with constants")
        equal = plain[0] == plain[1]
        return (equal if ufunc is np.equal else ~equal).array


def is_full(table: Table) -> bool:
    """Whether how many rows there are is public."""
    return table.is_full if isinstance(table, RealRows) else not table.first


def list_keys(table: Table, query: SumQuery) -> list[Any]:
    """All keys of a group, in the order of an answer."""
    kind = table.columns[query.key]
    if isinstance(kind, Key) or kind.is_real:
        raise NotSumsError("groups by a column that is not declared as a few values")
    return sorted(kind.values.tolist(), reverse=query.is_falling)


def small_table(table: Table, numbers: list[float], rng: Any) -> dict[str, Any]:
    """Columns of a few rows, real numbers near those of the query."""
    rows = int(rng.integers(1 if is_full(table) else 0, _MOST_ROWS))
    entries: dict[str, Any] = {}
    for name, kind in table.columns.items():
        if isinstance(kind, Key):
            values: Any = np.arange(3)
        elif isinstance(kind, Real):
            ends = [max(kind.lower, -1e6), min(kind.upper, 1e6)]
            near = [*ends, *_NUMBERS, *numbers, *(number + 0.25 for number in numbers)]
            values = np.clip(np.array(near, dtype=np.float64), kind.lower, kind.upper)
        else:
            values = kind.values
            if values.dtype.kind in "iuf" and rng.random() < 0.5:
                close = [
                    value for value in values.tolist() if any(abs(value - n) <= 1 for n in numbers)
                ]
                values = np.array(close) if close else values
        entries[name] = values[rng.integers(0, len(values), size=rows)]
    return entries


def plain_rows(query: SumQuery, table: Table, entries: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """What a query answers on plain rows."""
    entries = entries if query.users is None else plain_entries(query.users, entries)
    rows = len(next(iter(entries.values())))

    def values(name: str) -> Any:
        return entries[name]

    def choose(condition: Any) -> Any:
        # Not np.ones, which an analysis that this may be part of follows.
        every = np.repeat(np.bool_(True), rows)
        return every if condition is None else np.logical_and(every, condition(values))

    def total(one: Aggregate, among: Any) -> Any:
        kept = np.logical_and(among, choose(one.among))
        if one.kind == "count":
            return int(kept.sum())
        if one.kind == "distinct":
            return len({*entries[one.column][kept].tolist()})
        assert one.value is not None
        numbers = np.broadcast_to(one.value(values), (rows,))[kept]
        own, is_real = numbers.tolist(), numbers.dtype.kind == "f" or one.kind == "total"
        if not own:
            return (0.0 if is_real else 0) if one.fills or one.kind == "total" else None
        return sum(own) / len(own) if one.kind == "avg" else sum(own)

    there = choose(query.among)
    if not query.key:
        yield tuple(total(aggregate, there) for aggregate in query.items if aggregate is not None)
        return
    for key in list_keys(table, query):
        rows_of_key = np.logical_and(there, entries[query.key] == key)
        if rows_of_key.any():
            yield tuple(
                key if aggregate is None else total(aggregate, rows_of_key)
                for aggregate in query.items
            )


def _are_equal(answered: list[Any], expected: list[Any]) -> bool:
    if len(answered) != len(expected):
        return False
    pairs = [
        pair
        for own, other in zip(answered, expected, strict=True)
        for pair in zip(own, other, strict=True)
    ]
    return all(_is_equal(*pair) for pair in pairs)


def _is_equal(answered: Any, expected: Any) -> bool:
    if isinstance(answered, float) and isinstance(expected, (int, float)):
        return bool(abs(answered - expected) <= 1e-9 * max(1.0, abs(expected)))
    return type(answered) is type(expected) and bool(answered == expected)


# ---- ways in which sums that are 0 reach the program


def run_in_all_ways(store: SymbolicStore, call: Callable[[], Any]) -> Any:
    """What a program answers, the same in all ways; refuses others."""
    run = store.run
    run.nonzero = set()
    before, depth = _copy(run), store.branching.depth
    answer = call()
    missing = store.missing
    if not missing or run.point is not None:
        return answer
    if store.branching.depth != depth:
        return store.refuse("a query whose groups or sums may be missing, with comparisons,")
    ways = product(*(range(gap.ways) for gap in missing))
    next(ways)
    after = _copy(run)
    for number, chosen in enumerate(ways, 2):
        if number > _MOST_WAYS:
            return store.refuse(f"more than {_MOST_WAYS} ways in which groups may be missing")
        _restore(run, before)
        store.missing, store.ways = [], chosen
        try:
            again = call()
        except Exception as error:
            return store.refuse(f"a group or sum that may be missing ({type(error).__name__})")
        gone = {
            variable
            for gap, way in zip(missing, chosen, strict=True)
            if way
            for value in gap.sums
            for variable, _ in value.form.terms
        }
        is_alike = len(store.missing) == len(missing) and store.branching.depth == depth
        if not is_alike or not _is_same(answer, again, gone):
            return store.refuse("a group or sum that may be missing, which is told,")
    _restore(run, after)
    return answer


def _copy(run: AlignedRun) -> dict[str, Any]:
    """What a run knows so far."""
    names = {name for kind in type(run).__mro__ for name in getattr(kind, "__slots__", ())}
    fields = {name: getattr(run, name) for name in names if hasattr(run, name)}
    kept = ("made", "tree")
    return {
        name: value.copy() if isinstance(value, (list, dict, set)) and name not in kept else value
        for name, value in fields.items()
    }


def _restore(run: AlignedRun, known: dict[str, Any]) -> None:
    for name, value in known.items():
        shared = isinstance(value, (list, dict, set)) and name not in ("made", "tree")
        setattr(run, name, value.copy() if shared else value)


def _is_same(first: Any, second: Any, gone: set[int]) -> bool:
    """Whether two answers are the same where some variables are 0."""
    if type(first) is AlignedValue:
        form = _without(first.form, gone)
        if type(second) is AlignedValue:
            return first.kind is second.kind and form == _without(second.form, gone)
        return type(second) is first.kind and not form.terms and form.constant == second
    if type(second) is AlignedValue:
        return _is_same(second, first, gone)
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        alike = list(map(repr, first)) == list(map(repr, second))
        pairs = zip(first.values(), second.values(), strict=True) if alike else ()
        return alike and all(_is_same(*pair, gone) for pair in pairs)
    if isinstance(first, (list, tuple)):
        alike = len(first) == len(second)
        return alike and all(_is_same(a, b, gone) for a, b in zip(first, second, strict=False))
    if type(first) is SymbolicArray:
        if not all(isinstance(array.storage, CellStorage) for array in (first, second)):
            return False
        return first.dtype == second.dtype and _is_same(
            first.cells.tolist(), second.cells.tolist(), gone
        )
    if isinstance(first, np.ndarray):
        return first.dtype.kind in "biufU" and bool(np.array_equal(first, second))
    return isinstance(first, (str, int, float, bool, type(None))) and bool(first == second)


def _without(form: Form, gone: set[int]) -> Form:
    return Form(form.constant, tuple(term for term in form.terms if term[0] not in gone))
