"""Arrays of numbers with noise: each entry is a number of its own, or a plain one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy
from liptest.values.lines import line_in_words, place_of
from liptest.values.noise import ADVICE
from liptest.values.noise_run import NoiseRun
from liptest.whitebox.cell_arrays import CellArray, give_methods, give_operators, operator_method
from liptest.whitebox.ducks import COMPARISONS, Duck, settled_in
from liptest.whitebox.floats.uniform_arrays import UniformArray
from liptest.whitebox.noise.lifting import lifted
from liptest.whitebox.noise.numbers import is_noisy
from liptest.whitebox.noise.rounding import truncated

Cells = NDArray[Any]


#: Types of arrays that are followed.
DTYPES = (np.dtype(np.float64), np.dtype(np.int64))


class NoiseArray(CellArray):
    """Entries with noise: indexing, reshaping, what is done entry by entry, and functions."""

    __slots__ = ("_run", "dtype")

    _is_noise = True
    __hash__ = Duck.__hash__
    _run: NoiseRun

    def __init__(self, run: NoiseRun, cells: Cells, dtype: Any) -> None:
        self._tree = run.tree
        self._run = run
        self._cells = cells
        self.dtype = np.dtype(dtype)

    @property
    def T(self) -> NoiseArray:
        """The same entries, transposed."""
        return NoiseArray(self._run, self._cells.T, self.dtype)

    @property
    def flat(self) -> Iterator[Any]:
        """The entries in line."""
        return iter(self.ravel())

    def like(self, cells: Any) -> Any:
        """An array of the same type, or the one entry."""
        if isinstance(cells, np.ndarray):
            return NoiseArray(self._run, cells, self.dtype)
        return as_entry(cells, self.dtype)

    def as_born(self) -> NoiseArray:
        """The same entries in an array that nobody writes to."""
        return NoiseArray(self._run, self._cells.copy(), self.dtype)

    def concrete(self, point_in: Callable[[int, int], int]) -> NDArray[Any]:
        """An array of numbers that it may be."""
        plain = [one.concrete(point_in) if is_noisy(one) else one for one in self._cells.flat]
        return np.array(plain, dtype=self.dtype).reshape(self.shape)

    def escape(self, use: str) -> NoReturn:
        where = line_in_words(*place_of(sys._getframe(1)))
        said = f" ({where})" if where else ""
        self._tree.unsupported(f"an array with continuous noise used in {use}{said}", ADVICE)

    def settled(self, use: str) -> NDArray[Any]:
        plain = [one.settled(use) if is_noisy(one) else one for one in self._cells.flat]
        # Symbolic numbers of an output stay objects.
        whole = use != "the output" or not self._run.symbolic
        return _filled(plain, self.shape, self.dtype if whole else object)

    @raises_as_numpy
    def reshape(self, *shape: Any, **options: Any) -> Any:
        """The same entries in another shape."""
        return self.like(self._cells.reshape(*shape, **options))

    def ravel(self, order: Any = "C") -> Any:
        """The same entries in one line."""
        return self.like(self._cells.ravel(order))

    def flatten(self, order: Any = "C") -> Any:
        """A copy in one line."""
        return self.like(self._cells.flatten(order))

    def copy(self, order: Any = "C") -> Any:
        """Another array of the same entries."""
        return self.like(self._cells.copy())

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def astype(self, dtype: Any, **options: Any) -> Any:
        """The same entries as floats, or cut off to whole numbers; else plain ones."""
        kind = np.dtype(dtype)
        if kind not in DTYPES:
            return self.settled(f"astype({kind})").astype(kind)
        cells = [truncated(one, int) if kind.kind == "i" else one for one in self._cells.flat]
        return NoiseArray(self._run, _filled(cells, self.shape, object), kind)

    def tolist(self) -> Any:
        """The entries as Python numbers, in lists of the same shape."""
        return np.frompyfunc(_as_item, 1, 1)(self._cells).tolist()

    @raises_as_numpy
    def item(self, *place: Any) -> Any:
        """One entry as a Python number."""
        if not place and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _as_item(self._cells.item(*place))

    def fill(self, value: Any) -> None:
        """Put a number everywhere."""
        self[...] = value

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._cells)))

    @raises_as_numpy
    def __getitem__(self, index: Any) -> Any:
        return self.like(self._cells[settled_in(index, "an index")])

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.dtype.kind == "i" and np.result_type(model_of(value)).kind == "f":
            self.escape("an assignment to whole numbers")
        self._cells[settled_in(index, "an index")] = cells_of(value)

    def __contains__(self, value: Any) -> bool:
        return any(bool(one == value) for one in self.ravel())

    def __int__(self) -> int:
        return int(self.item())

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return self.copy()

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is not True:
            self.escape("numpy.asarray()")
        return self.settled("numpy.array()").astype(dtype or self.dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # Functions need arrays; arrays need functions only here.
        from liptest.whitebox.noise.ufuncs import of_ufunc

        return of_ufunc(self._run, ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        from liptest.whitebox.noise.functions import answered

        return answered(self._run, function, arguments, options)


def as_entry(cell: Any, dtype: Any) -> Any:
    """A cell as an entry of an array of a type."""
    return cell.typed(dtype.type) if is_noisy(cell) else dtype.type(cell)


def _as_item(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell


def _filled(values: list[Any], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    array = np.empty(len(values), dtype=dtype)
    array[:] = values
    return array.reshape(shape)


def cells_of(value: Any) -> Cells:
    """Entries as objects: numbers with noise, or plain ones."""
    if type(value) is NoiseArray:
        return value._cells
    if is_noisy(value):
        return _filled([value], (), object)
    if issubclass(type(value), UniformArray):
        cells: Cells = np.frompyfunc(_lifted_or_itself, 1, 1)(value._cells)
        return cells
    if issubclass(type(value), Duck):
        noise = lifted(value)
        if noise is not None:
            return _filled([noise], (), object)
        value = value.settled("a function of an array with noise")
    return np.asarray(value).astype(object)


def _lifted_or_itself(cell: Any) -> Any:
    noise = lifted(cell)
    return cell if noise is None else noise


def model_of(value: Any) -> Any:
    """Plain numbers of the type and shape that NumPy would see."""
    if type(value) is NoiseArray:
        return np.ones(value.shape, dtype=value.dtype)
    if is_noisy(value):
        return value._looks_like(1)
    if issubclass(type(value), Duck):
        return np.ones(getattr(value, "shape", ()), dtype=getattr(value, "dtype", np.float64))
    array = np.asarray(value)
    if array.dtype == object:
        return np.ones(array.shape)
    return value


def first_noisy(values: Any) -> Any:
    """The first of some arguments that has noise."""
    return next(one for one in values if is_noisy(one) or type(one) is NoiseArray)


def array_of(run: NoiseRun, cells: Any, dtype: Any) -> Any:
    """Cells as an array, a plain one where no noise is left; one entry for no array."""
    if not isinstance(cells, np.ndarray):
        return as_entry(cells, dtype)
    if not any(is_noisy(one) for one in cells.flat):
        return _filled(list(cells.flat), cells.shape, dtype)
    return NoiseArray(run, cells, dtype)


_NAMES = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide},
    **{"floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul},
}


give_operators(NoiseArray, _NAMES)


for _ufunc, _comparison in COMPARISONS.items():
    setattr(NoiseArray, f"__{_comparison.__name__}__", operator_method(_ufunc))


give_methods(
    NoiseArray,
    (
        *("sum", "mean", "max", "min", "argmax", "argmin", "cumsum", "dot", "clip", "round"),
        *("any", "all", "argsort", "take", "repeat", "squeeze", "transpose", "swapaxes"),
        "nonzero",
    ),
)
