"""Arrays of random floats: each entry is a number of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.values.faults import raises_as_numpy
from liptest.values.transforms import BINARY, FINITE, UNARY, rounded
from liptest.whitebox.cell_arrays import CellArray, give_operators
from liptest.whitebox.ducks import COMPARISONS, Duck, settled_in, with_noise
from liptest.whitebox.floats.monotone import applied, cells_of, is_number

_OPERATORS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "pow": np.power,
}


# Methods that answer with something new, and leave the array as it is.
_PURE = frozenset(
    {"sum", "mean", "min", "max", "std", "var", "argmax", "argmin", "argsort", "all", "any"}
    | {"cumsum", "cumprod", "prod", "dot", "nonzero", "clip", "searchsorted", "tobytes"}
)


class UniformArray(CellArray):
    """An array of independent random floats: indexing, reshaping, what is done entry by entry."""

    __slots__ = ()

    __hash__ = Duck.__hash__
    dtype = np.dtype(np.float64)

    def __init__(self, tree: Branching, cells: NDArray[Any]) -> None:
        self._tree = tree
        self._cells = cells

    def as_born(self) -> UniformArray:
        """The same entries in an array that nobody writes to."""
        return UniformArray(self._tree, self._cells.copy())

    def concrete(self, point_in: Callable[[int, int], int]) -> NDArray[np.float64]:
        """An array of floats that it may be: of the grid points that ``point_in`` chooses."""
        floats = [cell.concrete(point_in) for cell in self._cells.flat]
        return np.array(floats, dtype=np.float64).reshape(self._cells.shape)

    @property
    def T(self) -> UniformArray:
        """The same entries, transposed."""
        return UniformArray(self._tree, self._cells.T)

    @raises_as_numpy
    def reshape(self, *shape: Any) -> UniformArray:
        """The same entries in another shape."""
        return UniformArray(self._tree, self._cells.reshape(*shape))

    def ravel(self) -> UniformArray:
        """The same entries in one line."""
        return UniformArray(self._tree, self._cells.ravel())

    def flatten(self) -> UniformArray:
        """A copy in one line."""
        return UniformArray(self._tree, self._cells.flatten())

    def copy(self) -> UniformArray:
        """Another array of the same entries."""
        return UniformArray(self._tree, self._cells.copy())

    @raises_as_numpy
    def astype(self, dtype: Any) -> Any:
        """A plain array of whole numbers, cut off as NumPy does; or a copy."""
        kind = np.dtype(dtype)
        if kind == np.float64:
            return self.copy()
        if kind.kind not in "iu":
            return self.settled("astype()").astype(kind)
        plain = [one.settled("astype()", int) if is_number(one) else one for one in self]
        limits = np.iinfo(kind)
        if not all(limits.min <= one <= limits.max for one in plain):
            self.escape(f"astype({kind}), where it is out of range")
        return np.array(plain, dtype=kind).reshape(self.shape)

    def round(self, decimals: int = 0) -> Any:
        """As ``numpy.round``."""
        return _rounded(self, decimals)

    @raises_as_numpy
    def item(self) -> Any:
        """The one entry."""
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        one = self._cells.flat[0]
        return one.item() if is_number(one) else float(one)

    def tolist(self) -> Any:
        """The entries as Python floats, in lists of the same shape."""
        cells = np.frompyfunc(lambda one: one.item(), 1, 1)(self._cells)
        return cells.tolist() if isinstance(cells, np.ndarray) else cells

    def settled(self, use: str) -> NDArray[Any]:
        plain = [one.settled(use) if is_number(one) else one for one in self._cells.flat]
        return np.array(plain, dtype=np.float64).reshape(self.shape)

    def _entries(self) -> NDArray[Any]:
        return self._cells

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._cells)))

    @raises_as_numpy
    def __getitem__(self, index: Any) -> Any:
        chosen = self._cells[index]
        return UniformArray(self._tree, chosen) if isinstance(chosen, np.ndarray) else chosen

    def __setitem__(self, index: Any, value: Any) -> None:
        random = issubclass(type(value), UniformArray)
        if not is_number(value) and not random:
            value = np.asarray(value, dtype=np.float64).astype(object)
        self._cells[index] = value._entries() if random else value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is not True:
            self.escape("numpy.asarray()")
        return self.settled("numpy.array()").astype(dtype or np.float64)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if with_noise(inputs):
            return NotImplemented
        if method != "__call__" or options:
            self.escape(f"numpy.{ufunc.__name__}")
        if ufunc in COMPARISONS:
            return ufunc(*cells_of(inputs))
        return entrywise(self._tree, ufunc, inputs)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        if function in (np.round, np.around) and not options and len(arguments) <= 2:
            return _rounded(*arguments)
        if function is np.clip and not options and len(arguments) == 3:
            return np.minimum(arguments[2], np.maximum(arguments[0], arguments[1]))
        return Duck.__array_function__(self, function, types, arguments, options)

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name) and not name.startswith("__") and name not in _PURE:
            self.escape(f".{name}")
        return Duck.__getattr__(self, name)

    def __neg__(self) -> Any:
        return np.negative(self)

    def __pos__(self) -> Any:
        return np.positive(self)

    def __abs__(self) -> Any:
        return np.absolute(self)

    def __lt__(self, bound: Any) -> Any:
        return np.less(*cells_of((self, bound)))

    def __ge__(self, bound: Any) -> Any:
        return np.greater_equal(*cells_of((self, bound)))

    def __le__(self, bound: Any) -> Any:
        return np.less_equal(*cells_of((self, bound)))

    def __gt__(self, bound: Any) -> Any:
        return np.greater(*cells_of((self, bound)))

    def __eq__(self, bound: Any) -> Any:
        return np.equal(*cells_of((self, bound)))

    def __ne__(self, bound: Any) -> Any:
        return np.not_equal(*cells_of((self, bound)))


give_operators(UniformArray, _OPERATORS)


def entrywise(tree: Branching, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """A function of NumPy of arrays or numbers, entry by entry, as an array of numbers.

    Aborts where NumPy's result is no array of 64-bit floats.
    """
    use = f"numpy.{ufunc.__name__}"
    if ufunc in FINITE:
        answer = np.frompyfunc(lambda one: applied(ufunc, one), 1, 1)
        return answer(*cells_of(inputs)).astype(bool)
    if ufunc not in UNARY and ufunc not in BINARY:
        return ufunc(*(settled_in(one, use) for one in inputs))
    models = [_model(one) for one in inputs]
    with np.errstate(all="ignore"):
        model = ufunc(*models)
    if model.dtype != np.float64:
        inputs[0 if issubclass(type(inputs[0]), Duck) else 1].escape(f"{use} to {model.dtype}")
    cells = cells_of(tuple(one.entry() if is_number(one) else one for one in inputs))
    found = np.frompyfunc(lambda *entries: applied(ufunc, *map(_as_float, entries)), len(cells), 1)(
        *cells
    )
    if not isinstance(found, np.ndarray):
        return found
    if not any(is_number(one) for one in found.flat):
        return found.astype(np.float64)
    return UniformArray(tree, found)


def _model(value: Any) -> Any:
    """Plain numbers of the types and shapes that NumPy would see."""
    if issubclass(type(value), UniformArray):
        return np.full(value.shape, 0.5)
    if is_number(value):
        return value._looks_like(0.5)
    return value


def _as_float(entry: Any) -> Any:
    """A constant as the float that NumPy converts it to."""
    return entry if is_number(entry) else np.float64(entry)


def _rounded(value: Any, decimals: int = 0) -> Any:
    step = rounded(np.round, decimals)
    cells = [
        np.float64(one) if not is_number(one) else one.after(step) for one in value._cells.flat
    ]
    return UniformArray(value._tree, np.fromiter(cells, object, len(cells)).reshape(value.shape))
