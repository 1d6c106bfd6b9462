"""A list with a number for each record: ``column.tolist()``, or a comprehension over the records.

What walks it is not followed here: loops that only add up are rewritten before a program is run
(``enumerate.folded.folding``). NumPy's functions of it are those of the column that it would be.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.values.protocol import Symbolic

#: The column of a table and of the values that are kept.
ToColumn = Callable[[Any, NDArray[np.bool_]], Any]
# Of one dtype, whichever of them there are.
_OF_STACKS = inspect.unwrap(np.stack).__code__.co_filename
_LIKE = {int: "i", np.int64: "i", float: "f", np.float64: "f", bool: "b", np.bool_: "b"}


class EntryOfRecord:
    """A number of one record that is not plain: a real one (``real_column``)."""

    __slots__ = ()

    #: Which possible record it is of.
    cell: int
    #: Makes a row of numbers of one record, in a list; None of all else (``looped_rows``).
    in_row: ClassVar[Callable[[Sequence[Any]], Any]]

    @property
    def is_calculated(self) -> bool:
        """Whether it is something else than an entry of a column."""
        return True

    def refuse(self, use: str) -> Any:
        """End the analysis."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse(f".{name} of the number, or the row, of one record")

    def calculated(self, ufunc: Any, *inputs: Any) -> Any:
        """What a ufunc of NumPy gives, of itself and others."""
        raise NotImplementedError

    def apply_math(self, function: Any, *more: Any) -> Any:
        """A function of the module math, of itself first."""
        return function(self, *more)

    def as_float(self) -> Any:
        """What ``float`` of it is; None where that is not followed."""
        return None

    def __neg__(self) -> Any:
        return self.calculated(np.negative, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.calculated(np.absolute, self)


class TruthOfRecord:
    """A comparison of one record that some records of its cell hold and others do not."""

    __slots__ = ()

    def either(self, value: Any, holds: Any, fails: Any) -> Any:
        """``holds(value) if self else fails(value)``; the value is what is compared."""
        raise NotImplementedError


class RowOfRecord(EntryOfRecord):
    """Numbers of one record that are not plain (``looped_rows``)."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        raise NotImplementedError

    @property
    def entries(self) -> list[Any]:
        """Each number by itself, or a plain one."""
        raise NotImplementedError


class RecordList(Symbolic):
    """See the module.

    Parameters
    ----------
    values
        The number of a record of each value.
    kept
        Whether records of this value are in the list.
    to_column
        Makes a column of the same records.
    length
        What len() gives.
    """

    __slots__ = ("branching", "kept", "length", "to_column", "values")

    kind = list
    described = described_in_arrays = "a list with a number for each record"
    advice = "sum it up, or take its length, in a function whose source can be read"

    def __init__(
        self,
        branching: Branching,
        values: list[Any],
        kept: list[bool],
        to_column: ToColumn,
        length: Callable[[], Any],
    ) -> None:
        branching.walks_records = True
        self.branching = branching
        self.values = values
        self.kept = kept
        self.to_column = to_column
        self.length = length

    @property
    def is_of_numpy(self) -> bool:
        """Whether its entries are numbers of NumPy."""
        return any(isinstance(entry, np.generic) for entry in self.values)

    def column(self) -> Any:
        """The records as an array of NumPy would have them."""
        kept = [entry for entry, is_kept in zip(self.values, self.kept, strict=True) if is_kept]
        if any(isinstance(entry, EntryOfRecord) for entry in kept):
            return self.to_column(self.values, np.array(self.kept))
        kinds = {_LIKE.get(type(entry)) for entry in kept}
        if len(kinds) != 1 or None in kinds:
            self.refuse("an array of it, whose type depends on which records there are")
        table = np.zeros(len(self.values), np.array(kept).dtype)
        table[self.kept] = kept
        return self.to_column(table, np.array(self.kept))

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        named = {name: _as_column(option) for name, option in options.items()}
        if function in (np.stack, np.vstack) and len(arguments) == 1 and arguments[0] is self:
            rows = self.column()
            if named or (function is np.vstack and rows.ndim == 1):
                self.refuse(f"numpy.{function.__name__}")
            return rows
        return function(*map(_as_column, arguments), **named)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            self.refuse(f"numpy.{ufunc.__name__}.{method}")
        named = {name: _as_column(option) for name, option in options.items()}
        return ufunc(*map(_as_column, inputs), **named)

    def __len__(self) -> int:
        length = self.length()
        if type(length) is not int:
            self.refuse("len()")
        return length

    def __bool__(self) -> bool:
        return bool(self.length() > 0)

    def count(self, value: Any) -> Any:
        """How many entries equal a constant."""
        if isinstance(value, Symbolic) or type(value) not in (*_LIKE, str):
            self.refuse("count() of what is not a constant number or name")
        kept = zip(self.values, self.kept, strict=True)
        mask = np.array([is_kept and bool(entry == value) for entry, is_kept in kept])
        return self.to_column(np.zeros(len(mask), np.int64), mask).tolist().length()

    def __contains__(self, value: Any) -> bool:
        return bool(self.count(value) > 0)

    def __iter__(self) -> Iterator[Any]:
        if sys._getframe(1).f_code.co_filename == _OF_STACKS:
            return iter((self,))  # it asks whose function answers
        return self.refuse("a loop that does more than to add up, or whose source is not known")


def _as_column(value: Any) -> Any:
    return value.column() if type(value) is RecordList else value


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(self: RecordList, *arguments: Any) -> NoReturn:
        self.refuse(f"{name} of it")

    return method


for _name in (
    *("add", "radd", "iadd", "mul", "rmul", "imul", "eq", "ne", "lt", "le", "gt", "ge"),
    *("getitem", "setitem", "delitem", "reversed"),
):
    setattr(RecordList, f"__{_name}__", _refusing(_name))
