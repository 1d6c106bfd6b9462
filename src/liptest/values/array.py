"""The one array of symbolic values. How it keeps them is its storage; what it answers is the same.

``CellStorage`` keeps an object array: each cell is a symbolic value that stands for a number of the
array's dtype, or a plain NumPy number. NumPy's own views of that array are the views of this one,
so a write is seen by every view. A kind that has a smaller way (bits, the floats of one call)
subclasses ``Storage``: it answers ``moved``, ``write``, ``cells`` and, in ``answer_ufunc`` and
``answer_function``, what it can do without its cells. Everything else is asked of the cells.

What is not answered here, in ``ufuncs`` or in ``numpy_functions`` is refused: default deny.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.values.faults import raises_as_numpy
from liptest.values.flat_entries import FlatEntries
from liptest.values.protocol import (
    ARITHMETIC,
    COMPARISONS,
    NUMPY,
    Symbolic,
    concretise_all,
    current,
    find_branching,
    is_symbolic,
    truncate,
)

Cells = NDArray[Any]
Move = Callable[[NDArray[Any]], Any]
#: Types of arrays that get room for symbolic numbers.
ROOMY = (np.dtype(np.float64), np.dtype(np.int64))
#: Types of arrays that are followed.
DTYPES = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))


class Storage:
    """How an array keeps its entries. Views share what is written."""

    __slots__ = ("branching", "dtype")

    branching: Branching
    dtype: np.dtype[Any]
    #: Whether it is known that all entries can be concretised, at once.
    is_discrete = False
    #: Whether it calculates with other columns of records, which are not asked.
    leads = False

    @property
    def stays_symbolic(self) -> bool:
        """Whether ``float()`` of its one entry is to be symbolic, too."""
        run = self.branching.noise
        return run is not None and run.has_answers

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis of the array."""
        raise NotImplementedError

    def shape_seen(self) -> tuple[Any, ...]:
        """As a program sees it: the length of a selection is an answer."""
        return self.shape

    def cells(self) -> Cells:
        """The entries as an object array, to read: symbolic values and plain numbers."""
        raise NotImplementedError

    def moved(self, move: Move) -> Any:
        """Another storage, a view where NumPy's ``move`` of an array makes a view, else a copy.

        ``move`` takes an array of the same shape (of places, or of cells). Where it gives no
        array, the one entry, as a symbolic value or a number of the dtype.
        """
        raise NotImplementedError

    def write(self, index: Any, value: Any) -> None:
        """``array[index] = value``; both may be symbolic."""
        raise NotImplementedError

    def rewritten(self, made: Storage) -> Storage | None:
        """What an array is after all of it is written anew; None where views may see that."""
        return None

    def shares_memory(self, other: Storage) -> bool:
        """Whether what is written into it is seen in another storage."""
        raise NotImplementedError

    def astype(self, dtype: np.dtype[Any]) -> Any:
        """An array of another type; NotImplemented for no own way."""
        return NotImplemented

    def as_list(self) -> Any:
        """What ``tolist`` gives; NotImplemented for no own way."""
        return NotImplemented

    def concretise(self, use: str) -> NDArray[Any]:
        """A plain array of its own, after branching over all that the entries can be."""
        plain = [concretise_all(cell, use) for cell in self.cells().flat]
        # Continuous numbers of an output stay objects.
        objects = use == "the output" and any(type(entry).__module__ != "numpy" for entry in plain)
        return fill_array(plain, self.shape, object if objects else self.dtype)

    def as_drawn(self) -> Any:
        """What stays of it whatever is written; it answers ``replay``."""
        return SymbolicArray(self.moved(np.copy))

    def replay(self, point_in: Callable[[int, int], int]) -> NDArray[Any]:
        """A plain array that it may be."""
        plain = [cell.replay(point_in) if is_symbolic(cell) else cell for cell in self.cells().flat]
        return fill_array(plain, self.shape, self.dtype)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """See ``Symbolic``."""
        return NotImplemented

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """See ``Symbolic``."""
        return NotImplemented

    def entries_at(self, index: Any) -> Any:
        """What an index gives, in a way of its own; NotImplemented for none."""
        return NotImplemented

    def entries(self) -> Iterator[Any] | None:
        """The entries one by one, in a way of its own; None for none."""
        return None

    def coins(self) -> Any:
        """What is known of random bits (``record_parts.Coins``); None for all else."""
        return None

    def copied(self, order: Any) -> Any:
        """Another storage of the same entries."""
        return self.moved(lambda array: array.copy(order))

    @property
    def spokesman(self) -> Any:
        """What has the words of refusals: an entry, that is not discrete if there is one."""
        named = [cell for cell in self.cells().flat if is_symbolic(cell)]
        continuous = (cell for cell in named if not cell.is_discrete)
        return next(continuous, named[0] if named else Symbolic)


class CellStorage(Storage):
    """One object for each entry."""

    __slots__ = ("_cells",)

    def __init__(self, branching: Branching, cells: Cells, dtype: Any) -> None:
        self.branching = branching
        self.dtype = np.dtype(dtype)
        self._cells = cells

    @property
    def shape(self) -> tuple[int, ...]:
        return self._cells.shape

    def cells(self) -> Cells:
        return self._cells

    def moved(self, move: Move) -> Any:
        moved = move(self._cells)
        if isinstance(moved, np.ndarray):
            return CellStorage(self.branching, moved, self.dtype)
        return moved.entry() if is_symbolic(moved) else moved

    def write(self, index: Any, value: Any) -> None:
        run = self.branching.noise
        if run is not None and run.write_where(self, index, value):
            return
        if issubclass(type(index), Symbolic) and index.write_into(self, value):
            return
        place = concretise_all(index, "an index")
        cells = self._cast(value)
        if isinstance(self._cells[place], np.ndarray):
            self._cells[place] = cells
        elif cells.size == 1:
            self._cells[place] = cells.item()
        else:
            np.zeros(self.shape)[place] = np.zeros(cells.shape)  # raises NumPy's own error

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        run = self.branching.noise
        return NotImplemented if run is None else run.answer_ufunc(ufunc, inputs)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        run = self.branching.noise
        return NotImplemented if run is None else run.answer_function(function, arguments, options)

    def shares_memory(self, other: Storage) -> bool:
        return type(other) is CellStorage and np.may_share_memory(self._cells, other._cells)

    def _cast(self, value: Any) -> Cells:
        """Cells of this type of what is assigned, as NumPy casts it."""
        if not issubclass(type(value), Symbolic):
            plain = np.asarray(concretise_all(value, "an assignment"))
            return as_cells(plain.astype(self.dtype))
        if np.result_type(find_dtype(value), self.dtype) != self.dtype:
            if not all(cell.is_discrete for cell in cells_of(value).flat if is_symbolic(cell)):
                value.refuse(f"an assignment to an array of {self.dtype}")
            return self._cast(value.concretise("an assignment"))
        return make_typed_cells(cells_of(value), self.dtype)


class AnyArray(Symbolic):
    """What stands for an array: its operators are functions of NumPy."""

    __slots__ = ()

    kind = np.ndarray

    def as_index(self) -> Any:
        """What selects the same entries of another array."""
        return self

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return np.positive(self)

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __invert__(self) -> Any:
        return np.invert(self)

    @raises_as_numpy
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        self.refuse(f".{name}")


def _as_index(index: Any) -> Any:
    return index.as_index() if issubclass(type(index), AnyArray) else index


class SymbolicArray(AnyArray):
    """See the module."""

    __slots__ = ("storage",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    branching = find_branching("storage")

    @property
    def described(self) -> str:  # type: ignore[override]
        """In refusals."""
        words: str = self._first.described_in_arrays
        return words

    @property
    def advice(self) -> str:  # type: ignore[override]
        """In refusals."""
        advice: str = self._first.advice
        return advice

    @property
    def _first(self) -> Any:
        return self.storage.spokesman

    @property
    def cells(self) -> Cells:
        """The entries as an object array, to read."""
        return self.storage.cells()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers that it stands for."""
        return self.storage.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.storage.shape_seen()

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """How many bytes an entry takes in a plain array."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """How many bytes the entries take in a plain array."""
        return self.itemsize * self.size

    @property
    def T(self) -> Any:
        """The same entries, transposed."""
        return self.moved(np.transpose)

    @property
    def real(self) -> Any:
        """The entries themselves, of which none is complex."""
        return self

    @property
    def flat(self) -> FlatEntries:
        """The entries in line, to read and to write."""
        return FlatEntries(self)

    def moved(self, move: Move) -> Any:
        """The array, a view or a copy, or the one entry, that NumPy makes of an array so."""
        moved = self.storage.moved(move)
        return SymbolicArray(moved) if isinstance(moved, Storage) else moved

    def concretise(self, use: str) -> NDArray[Any]:
        """A plain array after branching, of its own: what is written into it is not seen here."""
        return self.storage.concretise(use)

    def as_drawn(self) -> Any:
        return self.storage.as_drawn()

    def replay(self, point_in: Callable[[int, int], int]) -> NDArray[Any]:
        return self.storage.replay(point_in)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        return self.storage.answer_ufunc(ufunc, inputs)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return self.storage.answer_function(function, arguments, options)

    # ---- entries and shapes

    @raises_as_numpy
    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return self.storage.entries() or (self[place] for place in range(len(self)))

    @raises_as_numpy
    def __getitem__(self, index: Any) -> Any:
        if type(index) is tuple and any(issubclass(type(part), AnyArray) for part in index):
            index = tuple(map(_as_index, index)) if len(index) > 1 else _as_index(index[0])
        entries = self.storage.entries_at(_as_index(index))
        if entries is not NotImplemented:
            return entries
        place = concretise_all(index, "an index")
        return self.moved(lambda array: array[place])

    def __setitem__(self, index: Any, value: Any) -> None:
        if any(self.storage.shares_memory(array) for array in self.branching.exported):
            self.refuse("a write after numpy.asarray() of it, which shares its memory")
        self.storage.write(index, value)

    @raises_as_numpy
    def __delitem__(self, index: Any) -> None:
        del np.zeros(self.shape)[index]  # type: ignore[attr-defined]  # NumPy's own error

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    @raises_as_numpy
    def reshape(self, *shape: Any, **options: Any) -> Any:
        """The same entries in another shape."""
        return self.moved(lambda array: array.reshape(*shape, **options))

    @raises_as_numpy
    def ravel(self, order: Any = "C") -> Any:
        """The same entries in one line."""
        return self.moved(lambda array: array.ravel(order))

    @raises_as_numpy
    def flatten(self, order: Any = "C") -> Any:
        """A copy in one line."""
        return self.moved(lambda array: array.flatten(order))

    @raises_as_numpy
    def transpose(self, *axes: Any) -> Any:
        """The same entries with their axes in another order."""
        return self.moved(lambda array: array.transpose(*axes))

    @raises_as_numpy
    def copy(self, order: Any = "C") -> Any:
        """Another array of the same entries."""
        return SymbolicArray(self.storage.copied(order))

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    # ---- types and plain numbers

    def astype(self, dtype: Any, order: Any = "K", casting: Any = "unsafe", **options: Any) -> Any:
        """The same entries in another type: whole numbers are cut off, others are plain."""
        kind = np.dtype(dtype)
        copy = options.pop("copy", True)
        if kind == self.dtype:
            return self.copy() if copy else self
        if not np.can_cast(self.dtype, kind, casting):
            np.zeros(0, self.dtype).astype(kind, casting=casting)  # raises NumPy's own error
        converted = self.storage.astype(kind)
        if converted is not NotImplemented:
            return converted
        if kind == np.bool_:
            return np.not_equal(self, 0)
        cells = [truncate(cell, int) if kind.kind in "iu" else cell for cell in self.cells.flat]
        if kind in DTYPES:
            return make_array(self.branching, fill_array(cells, self.shape, object), kind)
        plain = [concretise_all(cell, f"astype({kind})") for cell in cells]
        if kind.kind in "iu" and not all(_fits(number, kind) for number in plain):
            self.refuse(f"astype({kind}), where it is out of range")
        return np.array(plain, dtype=kind).reshape(self.shape)

    def tolist(self) -> Any:
        """The entries as Python numbers, in lists of the same shape."""
        own = self.storage.as_list()
        if own is not NotImplemented:
            return own
        if self.storage.is_discrete and not self.branching.keeps_parts:
            return self.concretise("tolist()").tolist()
        entries = np.frompyfunc(lambda cell: cell.item(), 1, 1)(self.cells)
        return entries.tolist() if isinstance(entries, np.ndarray) else entries

    @raises_as_numpy
    def item(self, *place: Any) -> Any:
        """One entry as a Python number."""
        if not place and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.cells.item(*place).item()

    def tobytes(self, order: Any = "C") -> bytes:
        """A copy of the entries in memory."""
        return self.concretise("tobytes()").tobytes(order)

    def fill(self, value: Any) -> None:
        """Put a number everywhere."""
        self[...] = value

    def sort(self, axis: Any = -1, **options: Any) -> None:
        """Put the entries in order, here and in all views."""
        self[...] = np.sort(self, axis=axis, **options)

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        """Write values at places of the flat array, as ``numpy.put`` does."""
        array: Any = self
        np.put(array, indices, values, mode=mode)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is True or (dtype is not None and np.dtype(dtype) != self.dtype):
            return self.concretise("numpy.array()").astype(dtype or self.dtype)
        plain = self.concretise("numpy.asarray()")
        # What is written into one of the two would not be seen in the other.
        plain.flags.writeable = False
        self.branching.exported.append(self.storage)
        return plain

    @raises_as_numpy
    def __bool__(self) -> bool:
        if self.size != 1:
            return bool(np.zeros(self.shape))  # NumPy's own error
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())


def fill_array(values: list[Any], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of values, each one entry whatever it is."""
    array = np.empty(len(values), dtype=dtype)
    for place, entry in enumerate(values):
        array[place] = entry
    return array.reshape(shape)


def as_cells(array: NDArray[Any]) -> Cells:
    """A plain array as cells: NumPy's numbers as objects."""
    return fill_array(list(array.flat), array.shape, object)


def make_typed_cells(cells: Cells, dtype: np.dtype[Any]) -> Cells:
    """Cells that all stand for numbers of a type."""
    kind = dtype.type
    typed = [
        cell
        if type(cell) is kind or (is_symbolic(cell) and cell.kind is kind)
        else current(cell).typed(kind)
        if is_symbolic(cell)
        else kind(cell)
        for cell in cells.flat
    ]
    return fill_array(typed, cells.shape, object)


def cells_of(value: Any) -> Cells:
    """Entries as objects: symbolic values, or plain numbers."""
    kind = type(value)
    if kind is SymbolicArray:
        cells: Cells = value.cells
        return cells
    if is_symbolic(value) or kind in (int, float, bool):
        return fill_array([value], (), object)
    array = np.asarray(value)
    return array if array.dtype == object else as_cells(array)


def find_dtype(value: Any) -> np.dtype[Any]:
    """The type of an array, or of a number, symbolic or plain."""
    if is_symbolic(value):
        return np.dtype(value.kind)  # type: ignore[no-any-return]
    return value.dtype if type(value) is SymbolicArray else np.asarray(value).dtype


def make_model(value: Any) -> Any:
    """Plain numbers of the type and shape that NumPy would see."""
    if type(value) is SymbolicArray:
        return np.ones(value.shape, dtype=value.dtype)
    if is_symbolic(value):
        return value.kind(1)
    if type(value) in (int, float, bool):
        return value
    array = np.asarray(value)
    return np.ones(array.shape) if array.dtype == object else array


def numbers_in_line(values: list[Any]) -> Any:
    """Numbers as an array (numbers,), symbolic where one of them is."""
    symbolic = [entry for entry in values if is_symbolic(entry)]
    if not symbolic:
        return np.array(values)
    kinds = [entry.kind if is_symbolic(entry) else type(entry) for entry in values]
    cells = fill_array(values, (len(values),), object)
    return make_array(symbolic[0].branching, cells, np.result_type(*map(np.dtype, kinds)))


def numbers_in_lists(value: Any) -> Any:
    """Numbers in lists, and in lists of these, as an array; what is not such as it is."""
    if type(value) not in (list, tuple):
        return value
    rows = [numbers_in_lists(entry) for entry in value]
    if not any(is_symbolic(row) or type(row) is SymbolicArray for row in rows):
        return value
    shapes = {np.shape(row) for row in rows}
    if len(shapes) > 1 or any(np.asarray(row).dtype == object for row in rows if _is_list(row)):
        return value
    flat = [cell for row in rows for cell in cells_of(row).flat]
    return numbers_in_line(flat).reshape(len(rows), *shapes.pop())


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple)


def make_array(branching: Branching, cells: Any, dtype: Any) -> Any:
    """Cells as an array, a plain one where nothing is random; one entry for no array.

    Where the program's arrays have room for symbolic numbers, those of numbers keep it.
    """
    kind = np.dtype(dtype)
    if not isinstance(cells, np.ndarray):
        if is_symbolic(cells):
            typed = current(cells).typed(kind.type)
            return typed.entry() if is_symbolic(typed) else typed
        return kind.type(cells)
    has_room = branching.keeps_room and kind in ROOMY
    if not has_room and not any(is_symbolic(cell) for cell in cells.flat):
        return fill_array(list(cells.flat), cells.shape, kind)
    return SymbolicArray(CellStorage(branching, make_typed_cells(cells, kind), kind))


def _fits(number: int, kind: np.dtype[Any]) -> bool:
    limits = np.iinfo(kind)
    return int(limits.min) <= number <= int(limits.max)


def answer_by(name: str) -> Callable[..., Any]:
    """A method that NumPy's function of the same name answers."""

    def method(self: AnyArray, *arguments: Any, **options: Any) -> Any:
        return getattr(np, name)(self, *arguments, **options)

    return method


def _operator(ufunc: Any, *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    if not swapped:
        return lambda self, other: ufunc(self, other)

    def operate(self: Any, other: Any) -> Any:
        # pandas has left the operator to what stands here; its own ufuncs would not.
        if _has_own_ufuncs(other):
            return NUMPY.ufunc(ufunc, "__call__", (other, self), {})
        return ufunc(other, self)

    return operate


def _has_own_ufuncs(value: Any) -> bool:
    """Whether an object of another library answers ufuncs of NumPy."""
    kind = type(value)
    return hasattr(kind, "__array_ufunc__") and not issubclass(
        kind, (np.ndarray, np.generic, Symbolic)
    )


def _in_place(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: ufunc(self, other, out=(self,))


# Methods that NumPy's functions of the same names answer.
for _name in (
    *("sum", "mean", "std", "var", "prod", "cumsum", "cumprod", "max", "min", "argmax", "argmin"),
    *("any", "all", "nonzero", "argsort", "searchsorted", "dot", "clip", "round", "take", "repeat"),
    *("squeeze", "swapaxes", "diagonal", "trace", "compress", "choose"),
):
    setattr(SymbolicArray, _name, answer_by(_name))


for _ufunc, _operation in ARITHMETIC.items():
    _name = _operation.__name__.rstrip("_")
    setattr(AnyArray, f"__{_name}__", _operator(_ufunc))
    setattr(AnyArray, f"__r{_name}__", _operator(_ufunc, swapped=True))
    setattr(SymbolicArray, f"__i{_name}__", _in_place(_ufunc))

for _name, _is_swapped in (("divmod", False), ("rdivmod", True)):
    setattr(SymbolicArray, f"__{_name}__", _operator(np.divmod, swapped=_is_swapped))


def _comparison(ufunc: Any, operation: Any) -> Callable[[Any, Any], Any]:
    def method(self: SymbolicArray, other: Any) -> Any:
        if (other is None or isinstance(other, (str, bytes))) and self.dtype.kind in "biuf":
            # No number is equal to it, and none is smaller or larger.
            return operation(np.ones(self.shape, self.dtype), other)
        return ufunc(self, other)

    return method


for _ufunc, _operation in COMPARISONS.items():
    setattr(AnyArray, f"__{_operation.__name__}__", _operator(_ufunc))
    setattr(SymbolicArray, f"__{_operation.__name__}__", _comparison(_ufunc, _operation))
