"""What all columns of the records' numbers have in common: single records are not to be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import CellStorage, Storage, SymbolicArray, fill_array, make_array
from liptest.values.branching import Branching
from liptest.values.protocol import Symbolic, is_symbolic

_PAIR = 2
# Functions whose results share no memory with what they are given.
_WITHOUT_VIEWS = (np.sum, np.mean, np.linalg.norm, np.dot, np.clip, np.where)
ADVICE = (
    "treat all records alike with numpy functions entry by entry (arithmetic, clip, where, "
    "comparisons), then sum or count; liptest then knows the sensitivity for every size"
)


def beside_records(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Where records are among the values: arrays with room for noise, and none, as plain ones."""
    arrays = [value.storage for value in values if type(value) is SymbolicArray]
    if len(arrays) < _PAIR or not any(isinstance(storage, RecordStorage) for storage in arrays):
        return values
    return tuple(map(_constant, values))


def is_record_array(value: Any) -> bool:
    """Whether it is a column, or rows, of records."""
    return type(value) is SymbolicArray and isinstance(value.storage, RecordStorage)


def as_answers(values: list[Any]) -> list[Any]:
    """Operands of one record: where columns meet other random numbers, they are their sums.

    A column of one record has its sum as its only entry.
    """
    are_columns = list(map(is_record_array, values))
    others = [value for value, is_column in zip(values, are_columns, strict=True) if not is_column]
    if not any(are_columns) or not any(type(value) is SymbolicArray for value in others):
        return values
    return [
        as_answer(value) if is_column else value
        for value, is_column in zip(values, are_columns, strict=True)
    ]


def as_answer(column: SymbolicArray) -> Any:
    """The entry of a column of one record, as an array of an answer."""
    if len(column.shape) != 1 or column.dtype.kind not in "if":
        column.refuse("an operation with noise that is not of one number of each record")
    cells = np.empty(1, dtype=object)
    cells[0] = np.sum(column)
    return make_array(column.branching, cells, column.dtype)


def is_everything(index: Any) -> bool:
    """Whether it is the index of ``array[:]`` or ``array[...]``."""
    return index is Ellipsis or (type(index) is slice and index == slice(None))


def makes_upright(index: Any) -> bool:
    """Whether it is the index of ``line[:, None]``."""
    if type(index) is not tuple or len(index) != 2 or index[1] is not None:
        return False
    return is_everything(index[0])


def keeps_records(places: tuple[Any, ...], dimensions: int) -> bool:
    """Whether an index that begins with ``...`` says nothing of the records' own axis."""
    rest = [place for place in places[1:] if place is not None]
    are_plain = all(type(place) in (int, slice) for place in rest)
    return places[:1] in ((), (Ellipsis,)) and are_plain and len(rest) < dimensions


def _constant(value: Any) -> Any:
    constant = read_constant(value)
    return value if constant is None else constant


def read_constant(value: Any) -> NDArray[Any] | None:
    """The plain array that one with room for symbolic numbers is; None for all else."""
    if type(value) is not SymbolicArray or type(value.storage) is not CellStorage:
        return None
    cells = value.cells
    if any(is_symbolic(cell) for cell in cells.flat):
        return None
    return fill_array(list(cells.flat), cells.shape, value.dtype)


def read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a function of NumPy that say more than that they are not there."""
    return {
        name: option
        for name, option in options.items()
        if option is not None and option is not np._NoValue
    }


class OfData(Symbolic):
    """Has the words of refusals of data."""

    described = described_in_arrays = "the data (only sums over all records are followed)"
    advice = ADVICE
    is_discrete = False

    def __init__(self, branching: Branching, advice: str) -> None:
        self.branching = branching
        self.advice = advice


class RecordStorage(Storage):
    """Numbers of records. What looks at single ones, writes or draws is refused."""

    __slots__ = ()

    #: What to write instead.
    advice = ADVICE
    #: Whether random bits may choose records of it.
    is_in_parts = False
    #: Rows of numbers that are moved, products of them, and sums of products (``record_products``).
    move_rows: ClassVar[Any]
    multiply: ClassVar[Any]
    einsum: ClassVar[Any]
    join: ClassVar[Any]
    meet_upright: ClassVar[Any]
    add_at: ClassVar[Any]

    def refuse(self, use: str, advice: str | None = None) -> Any:
        """End the analysis."""
        return OfData(self.branching, advice or self.advice).refuse(use)

    def answer_by(
        self,
        rules: Mapping[Any, Callable[..., Any]],
        function: Any,
        arguments: Any,
        options: dict[str, Any],
    ) -> Any:
        """A function of NumPy by its rule (storage, argument.., option=..), if that follows it."""
        rule = rules.get(function)
        given = read_options(options)
        answer = NotImplemented if rule is None else rule(self, *arguments, **given)
        if answer is NotImplemented:
            return self.refuse(f"numpy.{function.__name__}")
        return answer

    def cells(self) -> Any:
        return self.refuse("a use that looks at single records")

    def concretise(self, use: str) -> NDArray[Any]:
        return self.refuse(use)  # type: ignore[no-any-return]

    @property
    def spokesman(self) -> Any:
        return OfData

    def write(self, index: Any, value: Any) -> None:
        self.refuse("a write into data")

    def shares_memory(self, other: Storage) -> bool:
        return False

    def as_drawn(self) -> Any:
        return self.refuse("a draw")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self.refuse(f"astype({dtype})")


class OwnNumbers(RecordStorage):
    """Numbers that a statement such as ``rows *= factors`` may replace.

    It may where a ufunc has made them and no view has been taken since: then nobody sees the memory
    but by the one array, which is another one afterwards.
    """

    __slots__ = ("is_own",)

    #: Whether they are.
    is_own: bool

    def lend(self, function: Any = None) -> None:
        """Note that there may be views from now on, unless a function gives none."""
        if function not in _WITHOUT_VIEWS:
            self.is_own = False

    def rewritten(self, made: Storage) -> Storage | None:
        return made if self.is_own and self.is_alike(made) else None

    def is_alike(self, other: Storage) -> bool:
        """Whether another storage has as many numbers of the same records and of the same type."""
        raise NotImplementedError


def transpose(storage: RecordStorage, array: Any, axes: Any = None) -> Any:
    """``numpy.transpose`` of such an array."""
    return array.T if axes is None and array.storage is storage else NotImplemented


def _joining(function: Any) -> Callable[..., Any]:
    def rule(storage: RecordStorage, arrays: Any, axis: Any = None, **options: Any) -> Any:
        return NotImplemented if options else storage.join(storage, arrays, axis, function)

    return rule


#: Functions that put arrays of the same records side by side.
JOINS = {
    function: _joining(function)
    for function in (np.column_stack, np.stack, np.vstack, np.hstack, np.concatenate)
}


#: What is asked of the shape alone.
OF_SHAPE: dict[Any, Callable[..., Any]] = {
    np.ndim: lambda storage, array: array.ndim,
    np.shape: lambda storage, array: array.shape,
}


def answer_einsum(storage: RecordStorage, *arguments: Any, **options: Any) -> Any:
    """``numpy.einsum`` with such an array."""
    return storage.einsum(*arguments, **options)


def take_records(array: Any, places: Any, axis: Any = None, **options: Any) -> Any:
    """``numpy.take`` of records, at places that tell no values; NotImplemented for all else."""
    if options or not is_record_array(array):
        return NotImplemented
    is_along = axis == 0 or (axis is None and array.ndim == 1)
    return array[places] if is_along else NotImplemented
