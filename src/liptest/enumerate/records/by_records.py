"""The function of one record behind a function of a dataset (docs/theory/records.md).

A function that treats its records one by one has, for each place of its output, the law of one
record. ``RowFunction`` runs it for one record that stands for any place among n: a dataset is a
column of n rows of which one is there, random arrays of n rows have one row, and what could bring
rows together ends the run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from types import FrameType
from typing import Any

import numpy as np

from liptest.data.tables import Table
from liptest.enumerate.intercept.analysis_session import active
from liptest.enumerate.loops.adding_loops import AT_PLACE
from liptest.enumerate.records.number_tails import LARGEST
from liptest.enumerate.records.refused_places import (
    Refusal,
    find_expressions,
    find_place_in,
    is_evaluated,
)
from liptest.enumerate.records.row_generator import drawing_rows
from liptest.enumerate.records.row_source import RowRewriting, RowSource, rewrite_function
from liptest.enumerate.records.row_tails import RowsBody, bodies_of_rows
from liptest.enumerate.syntax.called_methods import HoldsFunction
from liptest.enumerate.syntax.function_source import find_source
from liptest.values.array import SymbolicArray
from liptest.values.pandas.row_frames import RowFrame, frame_of_rows
from liptest.values.pandas.row_series import RowSeries
from liptest.values.protocol import is_symbolic
from liptest.values.records.column import find_column
from liptest.values.records.rows import RowArray, RowList, RowRun, is_of_rows

#: How laws of one record in a part of a function are enumerated: later code may tell 1 from True,
#: and a loop without an end is not waited for.
OF_PARTS: dict[str, Any] = {"typed_outputs": True, "max_leaves": 4096, "max_choices": 64}
_MISSING: Any = object()
_WHOLE = (int, np.integer, np.bool_)


@dataclass(frozen=True, eq=False)
class RowFunction(HoldsFunction):
    """``(data, rng)`` with data of one record: its place in the output among ``count`` records.

    Parameters
    ----------
    function
        Of a dataset; ``(data, rng)``, or ``(data)`` if ``takes_generator`` is False.
    source
        The same with its loops over records seen; None where there is no source.
    count
        Records of the dataset.
    is_of_numbers
        Whether of whole numbers the value alone counts, not the type.
    are_notes
        Whether the output is what the passes of a loop add, as ``adding_loops`` notes it.
    rewriting
        How loops in the treatment of a record are rewritten, or None.
    table
        Of tables: the table of one row whose datasets are given; the function gets a frame.
    read
        Of tables: the columns that were read in any run.
    values
        Of tables: the rows that datasets of one number, 0, 1, .., stand for; () where they are
        datasets of ``table``.
    make_frame
        Of tables: makes the frame of a table and a dataset of symbols.
    kinds
        By loop the types of the entries of columns that it has made in any run.
    tells_kind
        Whether the output tells the place and of what kind of list or array it is.
    statements
        Those that it runs, as they are written; none where there is no source.
    refused
        Where it was refused, of all runs of it and of its parts (``refused_places``).
    """

    function: Any
    source: RowSource | None
    takes_generator: bool
    count: int
    is_of_numbers: bool = False
    are_notes: bool = False
    rewriting: RowRewriting | None = None
    table: Table | None = None
    read: set[str] = field(default_factory=set)
    values: tuple[int, ...] = ()
    make_frame: Any = None
    kinds: dict[Any, set[type]] = field(default_factory=dict)
    tells_kind: bool = False
    statements: list[ast.stmt] = field(default_factory=list)
    refused: set[Refusal] = field(default_factory=set)
    __name__: str = "one record"

    def with_rewritten(self, rewrite: Callable[[Any], Any]) -> RowFunction:
        """The function with loops in the treatment of a record rewritten."""
        return self if self.source is None else replace(self, rewriting=RowRewriting(rewrite))

    def __call__(self, data: Any, rng: Any) -> Any:
        rows = RowRun(rng._tree, self.count)
        rows.kinds, rows.note_refusal = self.kinds, self._note_refusal
        record = np.array([self.values[int(data[0])]]) if self.values else data
        given = self.given(record, rows)
        session = active()
        assert session is not None
        with drawing_rows(session, rows) as generator:
            function = self.bound(rows)
            output = function(given, generator) if self.takes_generator else function(given)
            if session.asks_elsewhere:
                rows.refuse("a seed, a clock or the bits of a generator")
            rows.check_ended()
            source = self.source
            expected = {
                (origin, number) for origin in rows.sources for number in range(len(origin.passes))
            }
            if source is not None and source.is_part and expected - rows.passes:
                rows.refuse("a loop over something else than the records")
            if source is not None and source.is_part and not holds_nothing_else(output):
                rows.refuse("a view, or objects for each record")
            place = place_in(output, rows)
            if self.are_notes:
                place = with_places(place, rows.with_places)
            place = as_numbers(place) if self.is_of_numbers else place
            return (kind_of_rows(output), place) if self.tells_kind else place

    def given(self, data: Any, rows: RowRun) -> Any:
        """What the function gets of a dataset of one record, which stands for all."""
        if find_column(data) is not None and self.table is not None:
            columns = self.make_frame(self.table, data).columns_of_numbers()
            return frame_of_rows(columns, rows, self.read.add)
        record = np.array(data, dtype=np.int64)
        if self.table is not None:
            return frame_of_rows(self.table.entries(record), rows, self.read.add)
        record.flags.writeable = False
        return RowArray(record, rows, is_alone=False)

    def _note_refusal(self, frame: FrameType) -> None:
        own = self.function.func if isinstance(self.function, partial) else self.function
        definition = find_source(own)
        place = None if definition is None else find_place_in(frame, own.__code__)
        if definition is not None and place is not None:
            self.refused.update(find_expressions(definition.body, place))

    def is_refused(self) -> bool:
        """Whether all runs of it end where one of it, or of its parts, was refused."""
        return is_evaluated(self.statements, self.refused)

    def bound(self, rows: RowRun) -> Callable[..., Any]:
        """The function for one run."""
        if self.source is None:
            return self.function  # type: ignore[no-any-return]
        rows.rewriting = self.rewriting
        made = self.source.make(rows)
        if isinstance(self.function, partial):
            return partial(made, *self.function.args, **self.function.keywords)
        return made


def part_functions(
    function: Any,
    takes_generator: bool,
    count: int,
    table: Table | None = None,
    *,
    refused: set[Refusal],
) -> Iterator[tuple[RowFunction, RowsBody]]:
    """Functions of one record whose outputs are all that the function calculates its own of.

    Each with where it was cut, but for those that are refused as others were.
    """
    definition = find_source(function)
    if definition is None:
        return
    is_of_data = table is None
    for body in bodies_of_rows(function, definition):
        if is_evaluated(body.statements, refused):
            continue
        source = rewrite_function(
            function,
            definition,
            body.statements,
            is_part=True,
            is_of_data=is_of_data,
            outside=body.outside,
        )
        if source is not None:
            made = RowFunction(
                function,
                source,
                takes_generator,
                count,
                body.is_of_numbers,
                body.are_notes,
                table=table,
                statements=body.statements,
                refused=refused,
            )
            yield made, body


class MappedFunction:
    """``(data, rng) -> [function(value, rng) for value in data]``; also without ``rng``."""

    def __init__(self, function: Any) -> None:
        update_wrapper(self, function)
        self.function = function

    def __call__(self, data: Any, *rng: Any) -> list[Any]:
        return [self.function(value, *rng) for value in np.asarray(data).tolist()]


@dataclass(frozen=True, eq=False)
class FirstRecord(HoldsFunction):
    """``(data, rng)`` with data of one record: what the function of one record gives."""

    function: Any
    takes_generator: bool

    def with_rewritten(self, rewrite: Callable[[Any], Any]) -> FirstRecord:
        """The function with its loops rewritten."""
        return replace(self, function=rewrite(self.function))

    def __call__(self, data: Any, rng: Any) -> Any:
        value = int(data[0])
        return self.function(value, rng) if self.takes_generator else self.function(value)


def holds_nothing_else(output: Any) -> bool:
    """Whether rows are all that can be reached from an output.

    Of an array for each record that may be a view: later code does not ask whose (``row_tails``).
    """
    if type(output) is RowArray:
        return output.is_alone
    if type(output) in (RowSeries, RowFrame):
        return output.keys_ is None
    return type(output) is RowList and _is_plain(output.entry)


def _is_plain(entry: Any) -> bool:
    kind = type(entry)
    if kind in (tuple, list):
        return all(map(_is_plain, entry))
    if kind is dict:
        return all(map(_is_plain, entry.values())) and all(map(_is_plain, entry))
    if kind is np.ndarray:
        return entry.dtype.kind in "biufc"
    kinds = (int, float, bool, str, type(None), SymbolicArray)
    return kind in kinds or issubclass(kind, np.generic) or is_symbolic(entry)


def as_numbers(entry: Any) -> Any:
    """With whole numbers as Python's, where all types of them calculate alike."""
    if type(entry) in (tuple, list):
        return type(entry)(map(as_numbers, entry))
    if is_symbolic(entry) and entry.is_discrete and issubclass(entry.kind, _WHOLE):
        entry = entry.concretise("the output")
    is_whole = isinstance(entry, _WHOLE) and not is_symbolic(entry)
    return int(entry) if is_whole and abs(int(entry)) <= LARGEST else entry


def with_places(place: Any, attributes: set[str]) -> Any:
    """Notes of changes (``adding_loops``), with the places that they point to as Python's numbers.

    ``attributes`` are those that hold arrays and lists. A truth value is not a place: of an array
    it chooses all entries, or none.
    """
    notes, *cells = place
    return ([_with_place(*note, attributes=attributes) for note in notes], *cells)


def _with_place(what: str, *parts: Any, attributes: set[str]) -> tuple[Any, ...]:
    is_at_place = what.endswith(AT_PLACE) or what.rpartition(" of ")[2] in attributes
    if len(parts) < 2 or not is_at_place:
        return (what, *parts)
    return (what, _as_place(parts[0]), *parts[1:])


def _as_place(key: Any) -> Any:
    if type(key) is tuple:
        return tuple(map(_as_place, key))
    if is_symbolic(key) and key.is_discrete and issubclass(key.kind, np.integer):
        key = key.concretise("the output")
    return int(key) if isinstance(key, np.integer) and not is_symbolic(key) else key


def kind_of_rows(output: Any) -> str:
    """Of an array the type of its numbers, of a list "list"; "" for what else there is."""
    if type(output) is RowArray:
        return str(output.dtype)
    is_list = type(output) is RowList and output.kind in (list, tuple, np.ndarray)
    return str(output.kind.__name__) if is_list else ""


def place_in(output: Any, rows: RowRun) -> Any:
    """The place of the kept record in an output of rows, or in several of them."""
    place = _place_in(output, rows)
    if place is _MISSING:
        rows.refuse("an output that is not one list with a place for each record")
    return place


def _place_in(output: Any, rows: RowRun) -> Any:
    if type(output) is RowArray:
        return output.tolist().entry
    if type(output) is RowList:
        return output.entry
    if type(output) is RowSeries:
        return _with_keys(output, _place_in(output.array, rows))
    if type(output) is RowFrame:
        columns = output.entries().values()
        return _with_keys(output, tuple(_place_in(column, rows) for column in columns))
    if type(output) is dict and output and all(map(is_of_rows, output.values())):
        output = tuple(output.values())
    if type(output) in (tuple, list) and any(map(is_of_rows, output)):
        entries = [_place_in(entry, rows) for entry in output]
        if _MISSING not in entries:
            return tuple(entries)
    return _MISSING


def _with_keys(output: Any, place: Any) -> Any:
    """The place of the kept row in a series or a frame, with its key where that is told."""
    return place if output.keys_ is None else (_place_in(output.keys_, output.rows), place)


def row_function(
    function: Any,
    takes_generator: bool,
    count: int,
    table: Table | None = None,
    *,
    refused: set[Refusal],
) -> RowFunction:
    """The function of one record among ``count``."""
    own: Any = function.func if isinstance(function, partial) else function
    definition = find_source(own)
    source = None
    if definition is not None:
        is_of_data = table is None and not (isinstance(function, partial) and function.args)
        source = rewrite_function(own, definition, definition.body, is_of_data=is_of_data)
    statements = [] if definition is None or source is None else definition.body
    return RowFunction(
        function,
        source,
        takes_generator,
        count,
        table=table,
        statements=statements,
        refused=refused,
    )
