"""Frames of polars of which it is known how many rows there are: sums, by declared keys perhaps.

What is taken from them is an answer, or an array of answers, and may meet noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from liptest.values.array import numbers_in_line
from liptest.values.branching import Branching
from liptest.values.pandas.of_pandas import OfPandas
from liptest.values.polars.polars_nodes import name_expressions, read_literal
from liptest.values.polars.polars_parts import ADVICE, RowsTotal

_ORDER = "join with maintain_order='left', or .sort() by the keys"


class OfPolars(OfPandas):
    """What stands for an object of polars."""

    __slots__ = ()

    advice = ADVICE
    _stands_for = "DataFrame"

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import polars

        return getattr(polars, self._stands_for)

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def __len__(self) -> int:
        return self.refuse("len()")  # type: ignore[no-any-return]


class KnownFrame(OfPolars):
    """Rows of which it is known how many there are: plain keys, and numbers of the data.

    Parameters
    ----------
    branching
        The analysis.
    columns
        By name plain entries, or ``RowsTotal``.
    missing
        Columns of which null stands for groups that do not occur.
    is_lazy
        Whether it is to be collected.
    is_ordered
        Whether it is determined in which order the rows come.
    """

    __slots__ = ("_columns", "_is_lazy", "_is_ordered", "_missing", "branching")

    described = "a frame of sums"
    advice = "take its numbers with .item(), .to_list() or .to_numpy(), and calculate with these"

    def __init__(
        self,
        branching: Branching,
        columns: dict[str, list[Any]],
        missing: set[str],
        *,
        is_lazy: bool = False,
        is_ordered: bool = True,
    ) -> None:
        self.branching = branching
        self._is_lazy, self._is_ordered = is_lazy, is_ordered
        self._columns = columns
        self._missing = missing

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._columns)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values())))

    def __len__(self) -> int:
        return self.height

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.height, len(self._columns)

    def collect(self) -> Any:
        """The frame, where it is lazy."""
        if not self._is_lazy:
            return self.refuse(".collect of a frame that is not lazy")
        return self._made(self._columns, self._missing, is_lazy=False)

    def _made(self, columns: dict[str, list[Any]], missing: set[str], **changes: bool) -> Any:
        own = {"is_lazy": self._is_lazy, "is_ordered": self._is_ordered} | changes
        return KnownFrame(self.branching, columns, missing, **own)

    def sort(self, by: Any, *more: Any, descending: bool = False, **options: Any) -> Any:
        """By a column of keys, each of which is there once."""
        keys = self._columns.get(by) if isinstance(by, str) else None
        is_plain = keys is not None and not any(type(key) is RowsTotal for key in keys)
        is_known = options in ({}, {"maintain_order": True}) and isinstance(descending, bool)
        if not is_plain or not is_known or more or len(set(keys or ())) < len(keys or ()):
            return self.refuse(".sort but by declared keys", "sort by the column of keys")
        assert keys is not None
        order = sorted(range(len(keys)), key=lambda place: keys[place], reverse=descending)
        return self._rows_at(order, is_ordered=True)

    def filter(self, predicate: Any) -> Any:
        """The row of a declared key: ``pl.col(key) == "a"``."""
        nodes = name_expressions([predicate], self.columns, self.refuse)
        name, value = read_compared_key(nodes, self.refuse)
        keys = self._columns.get(name, [])
        if not keys or any(type(key) is not type(value) for key in keys):
            return self.refuse(".filter but by one declared key", "pl.col(key) == 'a'")
        own = [place for place, key in enumerate(keys) if key == value]
        return self._rows_at(own, is_ordered=self._is_ordered or len(own) == 1)

    def _rows_at(self, places: list[int], *, is_ordered: bool) -> Any:
        columns = {name: [one[place] for place in places] for name, one in self._columns.items()}
        return self._made(columns, self._missing, is_ordered=is_ordered)

    def with_columns(self, *exprs: Any, **named_exprs: Any) -> Any:
        """With 0 for groups that do not occur: ``pl.col("n").fill_null(0)``."""
        nodes = name_expressions(flat(exprs), self.columns, self.refuse)
        for name, expression in named_exprs.items():
            [nodes[name]] = name_expressions([expression], self.columns, self.refuse).values()
        filled = {name: _read_filled_column(node) for name, node in nodes.items()}
        if not filled or not all(own in self._columns for own in filled.values()):
            return self.refuse(".with_columns but of .fill_null(0)", "calculate after .to_list()")
        made = {name: self._columns[own] for name, own in filled.items()}
        return self._made(self._columns | made, self._missing - set(made))

    def select(self, *names: Any) -> Any:
        """Some columns."""
        chosen = flat(names)
        if not chosen or not all(
            isinstance(label, str) and label in self._columns for label in chosen
        ):
            return self.refuse(".select of what is not the name of a column")
        kept = {name: self._columns[name] for name in chosen}
        return self._made(kept, self._missing & set(kept))

    def fill_null(self, value: Any) -> Any:
        """0 for groups that do not occur."""
        if type(value) is not int or value != 0:
            return self.refuse(".fill_null with another number than 0", ".fill_null(0)")
        return self._made(self._columns, set())

    def _entries(self, name: str) -> list[Any]:
        if self._is_lazy:
            self.refuse("entries of a lazy frame", "call .collect() before")
        if name not in self._columns:
            self.refuse(f"the column {name!r}, which is not there")
        if not self._is_ordered:
            self.refuse("entries in an order that is not determined", _ORDER)
        if name in self._missing:
            self.refuse("numbers of groups that may not occur", ".fill_null(0)")
        return self._columns[name]

    def __getitem__(self, key: Any) -> Any:
        return self.get_column(key) if isinstance(key, str) else self.refuse("an index")

    def __contains__(self, item: Any) -> bool:
        return item in self._columns

    def get_column(self, name: str) -> Any:
        """One column."""
        return KnownSeries(self.branching, self._entries(name))

    def item(self, row: Any = None, column: Any = None) -> Any:
        """One number."""
        if row is None and column is None and self.shape == (1, 1):
            row, column = 0, 0
        if type(row) is not int or type(column) not in (int, str):
            return self.refuse(".item with these arguments")
        name = self.columns[column] if type(column) is int else column
        return value_of(self._entries(name)[row])

    def row(self, index: Any, *, named: bool = False) -> Any:
        """The entries of one row."""
        if type(index) is not int:
            return self.refuse(".row with these arguments")
        entries = {name: value_of(self._entries(name)[index]) for name in self._columns}
        return entries if named else tuple(entries.values())

    def rows(self, *, named: bool = False) -> list[Any]:
        """The entries of all rows."""
        return [self.row(place, named=named) for place in range(self.height)]

    def iter_rows(self, *, named: bool = False) -> Iterator[Any]:
        """The entries of all rows."""
        return iter(self.rows(named=named))

    def to_dicts(self) -> list[Any]:
        """The entries of all rows, by column."""
        return self.rows(named=True)


def read_compared_key(nodes: dict[str, Any], refuse: Any) -> tuple[str, Any]:
    """The column and the constant of ``pl.col(name) == constant``; an empty name for all else."""
    [node] = nodes.values()
    said = node.get("BinaryExpr", {}) if isinstance(node, dict) else {}
    left, right = said.get("left"), said.get("right")
    sides = (left, right) if isinstance(left, dict) and isinstance(right, dict) else ({}, {})
    if said.get("op") != "Eq" or "Column" not in sides[0] or "Literal" not in sides[1]:
        return "", None
    return sides[0]["Column"], read_literal(refuse, sides[1]["Literal"]).value


def _read_filled_column(node: Any) -> Any:
    """The column in which ``pl.col(name).fill_null(0)`` puts 0; None for all else."""
    if isinstance(node, dict) and "Alias" in node:
        node = node["Alias"][0]
    called = node.get("Function", {}) if isinstance(node, dict) else {}
    inputs = called.get("input", [])
    if called.get("function") != "FillNull" or len(inputs) != 2 or "Literal" not in inputs[1]:
        return None
    is_column = isinstance(inputs[0], dict) and inputs[0].keys() == {"Column"}
    value = read_literal(_of_nothing, inputs[1]["Literal"]).value
    return inputs[0]["Column"] if is_column and type(value) is int and value == 0 else None


def _of_nothing(use: str, advice: str = "") -> None:
    """What a constant of another type is: none."""


def value_of(entry: Any) -> Any:
    """A number of all records, or a constant, by itself."""
    return entry.value if type(entry) is RowsTotal else entry


class KnownSeries(OfPolars):
    """A column of a frame of sums."""

    __slots__ = ("_entries", "branching")

    _stands_for = "Series"
    described = KnownFrame.described
    advice = KnownFrame.advice

    def __init__(self, branching: Branching, entries: list[Any]) -> None:
        self.branching = branching
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def len(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def to_list(self) -> list[Any]:
        """The entries, of Python's types."""
        return [value_of(entry) for entry in self._entries]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def item(self, index: Any = None) -> Any:
        """One entry."""
        if index is None and len(self._entries) == 1:
            index = 0
        return self[index]

    def __getitem__(self, key: Any) -> Any:
        return self.to_list()[key] if type(key) is int else self.refuse("an index")

    def to_numpy(self) -> Any:
        """The numbers as an array."""
        if not all(type(entry) is RowsTotal for entry in self._entries):
            return self.refuse(".to_numpy of keys", "they are the declared ones")
        if any(entry.is_unsigned for entry in self._entries):
            advice = "cast them before: pl.len().cast(pl.Int64), or take .to_list()"
            return self.refuse(".to_numpy of counts, which have no sign in polars", advice)
        return numbers_in_line(self.to_list())


def flat(values: Any) -> list[Any]:
    """Arguments, and what lists among them hold."""
    entries: list[Any] = []
    for value in values:
        entries += list(value) if isinstance(value, (list, tuple)) else [value]
    return entries
