"""Records that are treated one by one: arrays and lists of which one place is really there.

A dataset of n records is a ``RowArray`` of n rows, of which one is kept: the record under study.
What is done entry by entry is done to that row, and n is all that the program sees of the others.
Whatever could bring two rows together (a sum, a sort, an index, a shared random number) is refused.
So the place of the kept row in the output is a function of its record and of random numbers that no
other row uses, the same function for each row: docs/theory/records.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.errors import UnsupportedRandomnessError
from liptest.values.array import AnyArray, SymbolicArray, answer_by
from liptest.values.branching import Branching
from liptest.values.lines import find_asking_line
from liptest.values.protocol import ARITHMETIC, Symbolic, find_branching, is_symbolic
from liptest.values.records.record_storage import as_answer, as_answers, is_record_array

_ADVICE = (
    "treat each record by itself, with random numbers of its own (arrays of len(data) numbers, "
    "entry by entry; or for value in data: told.append(..)), or give the function of one record to "
    "@lt.mechanism(per_record=True)"
)
Handler = Callable[..., Any]
#: What is followed of NumPy's functions that are not ufuncs (``row_functions``).
FOLLOWED: dict[Any, Handler] = {}
#: Methods that may reduce within a row.
REDUCTIONS = ("sum", "mean", "prod", "any", "all", "max", "min", "argmax", "argmin")
#: Plain numbers that are the same for all rows.
PLAIN = (bool, int, float, np.generic)


class NotByRecords(UnsupportedRandomnessError):
    """The program does more than to treat its records one by one."""


class RowRun:
    """The records of one run: how many there are, and whether one of them is being treated.

    ``check_quiet`` refuses random numbers that were drawn for no row: all rows would share them.
    """

    __slots__ = (
        "_depth",
        "_known",
        "branching",
        "count",
        "in_record",
        "kinds",
        "note_refusal",
        "passes",
        "records_drew",
        "rewriting",
        "sources",
        "with_places",
    )

    def __init__(self, branching: Branching, count: int) -> None:
        self.branching = branching
        self.count = count
        #: Whether the body of a loop over the records runs, once, for the record under study.
        self.in_record = False
        #: Loops over the records: their source, and their number in it.
        self.passes: set[tuple[Any, int]] = set()
        #: Sources that were run.
        self.sources: set[Any] = set()
        #: Loops over the records that drew random numbers.
        self.records_drew = 0
        #: How functions are rewritten before they are run, where they are.
        self.rewriting: Any = None
        #: Attributes that loops change by place, as "server.counts".
        self.with_places: set[str] = set()
        #: By loop the types of the entries of columns that it has made in all runs.
        self.kinds: dict[Any, set[type]] = {}
        #: Told of a frame in which something is refused before any random number is drawn.
        self.note_refusal: Callable[[FrameType], None] | None = None
        self._depth = 0
        self._known = self._drawn()

    def refuse(self, what: str) -> NoReturn:
        """End the analysis: the records are not seen to be treated one by one."""
        frame = sys._getframe(1)
        if self.note_refusal is not None and not any(self._drawn()):
            self.note_refusal(frame)
        where = find_asking_line(frame)
        said = f" ({where})" if where else ""
        name = self.branching.name
        self.branching.fail(NotByRecords(f"{name}: {what}{said}; {_ADVICE}"))

    def check_ended(self) -> None:
        """Refuse, at the end of a run, a loop over the records that was left early."""
        if self.in_record:
            self.refuse("a loop over the records that is left before its end")
        self.check_quiet()

    def check_quiet(self) -> None:
        """Refuse a random number that was drawn, or looked at, outside of ``treating_rows``."""
        if self._depth == 0 and self._drawn() != self._known:
            self.refuse("a random number that belongs to no record")

    @contextmanager
    def treating_rows(self) -> Iterator[None]:
        """What is drawn within belongs to the rows, each of which has its own."""
        if self.in_record:
            self.refuse("a column of all records within the treatment of one")
        self.check_quiet()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self._known = self._drawn()

    def treat_record(self, record: Any) -> Iterator[Any]:
        """The one record that is there, for the body of a loop."""
        if self.in_record:
            self.refuse("a loop over the records within another one")
        self.check_quiet()
        before = self._drawn()
        self._depth, self.in_record = 1, True
        yield record
        self._depth, self.in_record = 0, False
        self._known = self._drawn()
        self.records_drew += self._known != before
        if self.records_drew > 1:
            self.refuse("two loops over the records that draw random numbers, put them into one")

    def _drawn(self) -> tuple[int, int]:
        return self.branching.depth, self.branching.draws


class DrawsRows:
    """A generator that draws for the records of a run."""

    __slots__ = ()

    rows: RowRun


class OfRows:
    """What has one place for each record, or is chosen of such."""

    __slots__ = ()

    #: Whether a loop over it goes over the records.
    is_walked = True
    #: Whether it is one of pandas, which answers operators with arrays of rows.
    is_of_pandas = False


class RowArray(OfRows, AnyArray):
    """An array whose first axis is that of the records; ``row`` keeps one of them, (1, ...)."""

    __slots__ = ("is_alone", "row", "rows")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, row: Any, rows: RowRun, *, is_alone: bool = True) -> None:
        self.row = row
        self.rows = rows
        #: Whether no view of it exists, so that it may be written to.
        self.is_alone = is_alone

    branching = find_branching("rows")

    def refuse(self, use: str) -> NoReturn:
        """End the analysis: the use may bring two records together."""
        self.rows.refuse(f"{use} of an array with one entry for each record")

    def concretise(self, use: str) -> NoReturn:
        self.refuse(use)

    @property
    def dtype(self) -> Any:
        """The type of the numbers that it stands for."""
        return self.row.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """With the number of records first."""
        return (self.rows.count, *self.row.shape[1:])

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.row.shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.rows.count

    def __iter__(self) -> Iterator[Any]:
        self.refuse("an iteration that was not seen in the source")

    def __contains__(self, value: Any) -> bool:
        self.refuse("'in'")

    def __bool__(self) -> bool:
        self.refuse("a truth value")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        self.refuse("numpy.array()")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.signature is not None:
            self.refuse(f"numpy.{ufunc.__name__}{'' if method == '__call__' else f'.{method}'}")
        if any(is_of_rows(operand) and operand.is_of_pandas for operand in inputs):
            return NotImplemented
        return self.entrywise(ufunc, inputs)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        if any(issubclass(kind, OfRows) and kind.is_of_pandas for kind in types):
            return NotImplemented
        rule = FOLLOWED.get(function)
        if rule is None:
            self.refuse(f"numpy.{function.__name__}")
        return rule(self, *arguments, **options)

    def entrywise(self, function: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
        """A function of NumPy of entries in the same place, rows and constants."""
        arrays = [operand for operand in inputs if type(operand) is RowArray]
        if any(array.ndim != self.ndim for array in arrays):
            self.refuse("arithmetic with one of another number of axes,")
        parts = [self.part(operand) for operand in inputs]
        return self.treat_row(lambda: function(*as_answers(parts)))

    def part(self, value: Any) -> Any:
        """What one row sees of an operand: its own row, or a constant that all rows see alike."""
        if type(value) is RowArray:
            return value.row
        return self.constant(value, self.ndim)

    def constant(self, value: Any, axes: int) -> Any:
        """A plain number or array that is the same for all rows, where the result has ``axes``."""
        if value is None or (isinstance(value, PLAIN) and not is_symbolic(value)):
            return value
        array = np.asarray(value) if type(value) in (list, tuple) else value
        if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
            self.refuse(f"arithmetic with a value of type {type(value).__name__}")
        if array.ndim < axes or (array.ndim == axes and array.shape[0] == 1):
            return array
        is_column = array.ndim == axes and array.shape[0] == self.rows.count
        if not is_column or not is_repeated(array):
            self.refuse(f"arithmetic with an array of the shape {array.shape}, not alike for all,")
        return array[:1]

    def treat_row(self, make: Callable[[], Any]) -> Any:
        """What ``make`` gives of the kept row, as rows again."""
        with self.rows.treating_rows():
            try:
                outcome = make()
            except Exception as error:
                # NumPy would raise where any of the records does.
                self.refuse(f"{type(error).__name__} in an operation")
        if type(outcome) is tuple:
            return tuple(self.wrapped(part) for part in outcome)
        return self.wrapped(outcome)

    def wrapped(self, row: Any, *, is_alone: bool = True) -> RowArray:
        """Another array of rows."""
        if type(row) not in (np.ndarray, SymbolicArray) or not row.shape or row.shape[0] != 1:
            self.refuse("an operation that leaves no row")
        return RowArray(row, self.rows, is_alone=is_alone)

    def view(self, move: Callable[[Any], Any]) -> RowArray:
        """The same entries in another shape, which may share its memory."""
        self.is_alone = False
        with self.rows.treating_rows():
            row = move(self.row)
        return self.wrapped(row, is_alone=False)

    # ---- entries and shapes

    def __getitem__(self, index: Any) -> Any:
        if type(index) is RowArray and index.dtype == np.bool_ and index.ndim == self.ndim == 1:
            return RowSelection(self.copy(), index)
        first, *rest = index if type(index) is tuple else (index,)
        is_plain = all(place is None or type(place) in (int, slice) for place in rest)
        is_whole = type(first) is slice and first == slice(None)
        if not is_plain or not (is_whole or (first is Ellipsis and len(rest) < self.ndim)):
            self.refuse("an index")
        return self.view(lambda row: row[(first, *rest)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.check_alone()
        mask = type(index) is RowArray and index.dtype == np.bool_ and index.ndim == self.ndim == 1
        if not mask and not (index is Ellipsis or index == slice(None)):
            self.refuse("an assignment to places")
        if mask and type(value) is RowSelection and value.is_by(index):
            value = value.chosen
        elif mask and np.ndim(value) != 0:
            self.refuse("an assignment of several values to chosen places")
        part = self.part(value)
        given = part.dtype if type(value) is RowArray else np.asarray(part).dtype
        if not np.can_cast(given, self.dtype, "same_kind"):
            self.refuse("an assignment of another type")
        dtype = self.dtype
        with self.rows.treating_rows():
            chosen = np.where(index.row if mask else True, part, self.row)
            self.row = chosen.astype(dtype)

    def check_alone(self) -> None:
        """Refuse a write that views would have to see."""
        self.rows.check_quiet()
        if self.rows.in_record:
            self.refuse("a write")
        if not self.is_alone:
            self.refuse("a write to an array that has views, or to the data,")

    def written(self, ufunc: Any, other: Any) -> RowArray:
        """``array += other`` and alike."""
        self.check_alone()
        updated = self.entrywise(ufunc, (self, other))
        if not np.can_cast(updated.dtype, self.dtype, "same_kind") or updated.shape != self.shape:
            self.refuse("an operation in place that changes its type or shape")
        self.row = updated.row.astype(self.dtype)
        return self

    def reshape(self, *shape: Any, **options: Any) -> RowArray:
        """The same entries, the rows still first."""
        sides = shape[0] if len(shape) == 1 and type(shape[0]) is tuple else shape
        entries = int(np.prod(self.row.shape))
        if options or not sides or any(type(side) is not int for side in sides):
            self.refuse(".reshape")
        is_same = sides[0] in (-1, self.rows.count) and int(np.prod(sides[1:])) == entries
        if not is_same and (sides != (-1,) or entries != 1):
            self.refuse(".reshape")
        if min(sides[1:], default=1) < 1:
            self.refuse(".reshape")
        return self.view(lambda row: row.reshape((1, *sides[1:])))

    def ravel(self, order: Any = "C") -> RowArray:
        """In one line, where each row has one entry."""
        return self.reshape(-1)

    def flatten(self, order: Any = "C") -> RowArray:
        """A copy in one line, where each row has one entry."""
        return self.reshape(-1).copy()

    def copy(self, order: Any = "C") -> RowArray:
        """Another array of the same entries."""
        return self.treat_row(lambda: self.row.copy())  # type: ignore[no-any-return]

    def astype(self, dtype: Any, **options: Any) -> RowArray:
        """The same entries in another type."""
        if options.keys() - {"copy"}:
            self.refuse(".astype with options")
        if options.get("copy") is False and np.dtype(dtype) == self.dtype:
            return self.view(lambda row: row)
        return self.treat_row(lambda: self.row.astype(dtype))  # type: ignore[no-any-return]

    def tolist(self) -> RowList:
        """A list of rows."""
        with self.rows.treating_rows():
            row = as_answer(self.row) if is_record_array(self.row) else self.row
            [entry] = row.tolist()
        return RowList(entry, self.rows)

    def fill(self, value: Any) -> None:
        """Put one number everywhere."""
        self[...] = value

    def first(self) -> Any:
        """The kept row, as iterating over an array gives it."""
        return self.row[0]


class RowSelection(OfRows, AnyArray):
    """``array[mask]`` of rows: to calculate with, and to be written to where the mask is the same.

    How many rows a mask chooses tells of all records, so nothing else is answered. What is
    calculated is calculated of all rows.
    """

    __slots__ = ("chosen", "mask", "masked")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, chosen: RowArray, mask: RowArray) -> None:
        self.chosen = chosen
        self.mask, self.masked = mask, mask.row

    branching = find_branching("chosen")

    def first(self) -> NoReturn:
        """There may be none."""
        self.refuse("an iteration")

    def written(self, ufunc: Any, other: Any) -> RowSelection:
        """``chosen += other`` and alike."""
        updated = ufunc(self, other).chosen
        if updated.dtype != self.chosen.dtype:
            self.refuse("an operation in place that changes its type")
        self.chosen = updated
        return self

    def is_by(self, mask: RowArray) -> bool:
        """Whether it was chosen by a mask as that is now."""
        return self.mask is mask and self.masked is mask.row

    def refuse(self, use: str) -> NoReturn:
        """End the analysis: the use tells how many records are chosen, or which."""
        self.chosen.rows.refuse(f"{use} of chosen entries, whose number tells of all records")

    def concretise(self, use: str) -> NoReturn:
        self.refuse(use)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.signature is not None or ufunc.nout > 1:
            self.refuse(f"numpy.{ufunc.__name__}")
        parts = []
        for operand in inputs:
            same = type(operand) is RowSelection and operand.mask is self.mask
            if not (same and operand.masked is self.masked) and not isinstance(operand, PLAIN):
                self.refuse("arithmetic with other arrays")
            parts.append(operand.chosen if same else operand)
        return RowSelection(ufunc(*parts), self.mask)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        self.refuse(f"numpy.{function.__name__}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        self.refuse("numpy.array()")

    def __len__(self) -> int:
        self.refuse("len()")

    def __iter__(self) -> Iterator[Any]:
        self.refuse("an iteration")

    def __bool__(self) -> bool:
        self.refuse("a truth value")

    def __getitem__(self, index: Any) -> Any:
        self.refuse("an index")

    def __setitem__(self, index: Any, value: Any) -> None:
        self.refuse("an assignment")

    def __contains__(self, value: Any) -> bool:
        self.refuse("'in'")


class RowList(OfRows, Symbolic):
    """A list with one entry for each record, of which ``entry`` is kept.

    As a tuple or an array it is to be returned only.
    """

    __slots__ = ("entry", "kind", "rows")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, entry: Any, rows: RowRun, kind: Any = list) -> None:
        self.entry = entry
        self.rows = rows
        self.kind = kind

    branching = find_branching("rows")

    def refuse(self, use: str) -> NoReturn:
        """End the analysis: the use may bring two records together."""
        self.rows.refuse(f"{use} of a list with one entry for each record")

    def concretise(self, use: str) -> NoReturn:
        self.refuse(use)

    def first(self) -> Any:
        """The kept entry."""
        return self.entry

    def tolist(self) -> RowList:
        """Of an array of numbers as NumPy has them: the list of those that Python has."""
        is_number = isinstance(self.entry, np.generic) or is_symbolic(self.entry)
        if self.kind is not np.ndarray or not is_number:
            self.refuse(".tolist")
        return RowList(self.entry.item(), self.rows)

    def __len__(self) -> int:
        return self.rows.count

    def __iter__(self) -> Iterator[Any]:
        self.refuse("an iteration that was not seen in the source")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'list' object has no attribute {name!r}")
        self.refuse(f".{name}")


def _refusing(name: str) -> Callable[..., Any]:
    def method(self: RowList, *arguments: Any) -> NoReturn:
        self.refuse(name.strip("_"))

    return method


for _name in (
    *("bool", "getitem", "setitem", "delitem", "contains", "reversed", "eq", "ne", "lt", "le"),
    *("gt", "ge", "add", "radd", "iadd", "mul", "rmul", "imul", "array"),
):
    setattr(RowList, f"__{_name}__", _refusing(_name))


def is_of_rows(value: Any) -> bool:
    """Whether it has one place for each record."""
    return issubclass(type(value), OfRows)


def holds_rows(value: Any) -> bool:
    """Whether it is, or holds in lists, tuples or dicts, what has one place for each record."""
    if type(value) in (list, tuple, set, frozenset):
        return any(map(holds_rows, value))
    if type(value) is dict:
        return any(map(holds_rows, value.values()))
    return is_of_rows(value)


def is_repeated(array: NDArray[Any]) -> bool:
    """Whether all rows of a plain array are equal, to the sign of zeros."""
    return len({row.tobytes() for row in array}) == 1


# ---- methods and operators


def _in_place(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: self.written(ufunc, other)


for _name in (*REDUCTIONS, "clip", "round"):
    setattr(RowArray, _name, answer_by(_name))


for _ufunc, _operation in ARITHMETIC.items():
    _name = _operation.__name__.rstrip("_")
    setattr(RowSelection, f"__i{_name}__", _in_place(_ufunc))
    setattr(RowArray, f"__i{_name}__", _in_place(_ufunc))
