"""Uniform random numbers as intervals of NumPy's grid of 2**53 floats.

``rng.random()`` returns j * 2**-53 with j uniform on 0 .. 2**53 - 1. Here j is known to lie in an
interval, at first all of the grid, and each comparison with a number splits it in two: exactly
the probabilities of the code as it runs, floats included. Nothing but comparison is answered;
every other use aborts the analysis, because any answer would be one concrete value out of many.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.whitebox.choices import ChoiceTree
from liptest.whitebox.grid import GRID, UNIT, Line, split_weights

_ADVICE = (
    "compare it directly with a number (rng.random() < p), or draw with rng.integers, "
    "rng.choice, rng.binomial or rng.permutation"
)
_COMPARISONS: dict[Any, Callable[[Any, Any], Any]] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}
# Python compares floats with these exactly.
_EXACT = frozenset({float, int, bool, Fraction, Decimal})


_ESCAPES = (
    *("bool", "int", "float", "complex", "index", "str", "repr", "format", "bytes", "hash"),
    *("neg", "pos", "abs", "invert", "round", "trunc", "floor", "ceil"),
    *("setitem", "delitem", "contains"),
    *("array", "reduce", "reduce_ex", "copy", "deepcopy"),
)
_ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul"),
    *("lshift", "rshift", "and", "xor", "or"),
)


class _Duck:
    """Comparisons of NumPy are answered, every other use of the number aborts."""

    __slots__ = ("_tree",)

    #: What isinstance() says, as the code under analysis may ask.
    _looks_like: type = float
    _tree: ChoiceTree

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._looks_like

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc not in _COMPARISONS or method != "__call__" or options:
            self.escape(f"numpy.{ufunc.__name__}")
        return ufunc(*_cells_of(inputs))

    def __array_function__(self, function: Any, *arguments: Any) -> NoReturn:
        self.escape(f"numpy.{function.__name__}")

    def __getattr__(self, name: str) -> NoReturn:
        # NumPy looks for optional protocols before it calls __array__, which aborts.
        if name.startswith("__") or not hasattr(self._looks_like, name):
            raise AttributeError(f"{self._looks_like.__name__!r} object has no attribute {name!r}")
        self.escape(f".{name}")

    def escape(self, use: str) -> NoReturn:
        """Abort: the number was used for something else than a comparison."""
        self._tree.unsupported(f"a number from rng.random() used in {use}", _ADVICE)


def _escaping(name: str) -> Callable[..., NoReturn]:
    def escape(self: _Duck, *arguments: Any, **options: Any) -> NoReturn:
        self.escape(f"{name}()")

    return escape


_OPERATORS = [f"{prefix}{name}" for name in _ARITHMETIC for prefix in ("", "r", "i")]
for _name in (*_ESCAPES, *_OPERATORS):
    setattr(_Duck, f"__{_name}__", _escaping(_name))


class Uniform(_Duck):
    """A random float, known to lie in an interval of grid points (stands for a Python float)."""

    __slots__ = ("_high", "_line", "_low")

    __hash__ = _Duck.__hash__

    def __init__(self, tree: ChoiceTree, line: Line = UNIT) -> None:
        self._tree = tree
        self._line = line
        self._low = 0
        self._high = GRID

    def __lt__(self, bound: Any) -> Any:
        if type(bound) not in _EXACT:
            return self._compare(np.less, bound)
        # A NaN is above no value, so the cut is 0.
        return self._below(self._line.at_least(bound))

    def __ge__(self, bound: Any) -> Any:
        if type(bound) not in _EXACT:
            return self._compare(np.greater_equal, bound)
        return bound == bound and not self._below(self._line.at_least(bound))

    def __le__(self, bound: Any) -> Any:
        if type(bound) not in _EXACT:
            return self._compare(np.less_equal, bound)
        return bound == bound and self._below(self._line.above(bound))

    def __gt__(self, bound: Any) -> Any:
        if type(bound) not in _EXACT:
            return self._compare(np.greater, bound)
        return bound == bound and not self._below(self._line.above(bound))

    def __eq__(self, bound: Any) -> Any:
        if type(bound) not in _EXACT:
            return self._compare(np.equal, bound)
        if bound != bound:
            return False
        first, after = self._line.at_least(bound), self._line.above(bound)
        return first < after and not self._below(first) and self._below(after)

    def __ne__(self, bound: Any) -> Any:
        if type(bound) not in _EXACT:
            return self._compare(np.not_equal, bound)
        return not self.__eq__(bound)

    def _below(self, cut: int) -> bool:
        """Whether the grid point is below ``cut``: known, or chosen by weight."""
        low, high = self._low, self._high
        if cut <= low:
            return False
        if cut >= high:
            return True
        if self._tree.choose(split_weights(cut - low, high - cut)):
            self._low = cut
            return False
        self._high = cut
        return True

    def _compare(self, ufunc: Any, bound: Any) -> Any:
        kind, comparison = type(bound), _COMPARISONS[ufunc]
        if kind in RANDOM_NUMBERS:
            self.escape("a comparison with another random number")
        if isinstance(bound, np.ndarray):
            return ufunc(*_cells_of((self, bound)))
        if isinstance(bound, (np.float64, np.integer, np.bool_)):
            return np.bool_(comparison(self, bound.item()))
        if isinstance(bound, (np.number, complex)):
            self.escape(f"a comparison with a {kind.__name__}")
        if isinstance(bound, (int, float)):
            plain = int(bound) if isinstance(bound, int) else float(bound)
            return comparison(self, plain)
        return NotImplemented


class ArrayUniform(Uniform):
    """An entry of an array of random floats: stands for a numpy.float64, answers numpy.bool_."""

    __slots__ = ()

    _looks_like = np.float64
    __hash__ = _Duck.__hash__

    def __lt__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__lt__(self, bound))

    def __ge__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__ge__(self, bound))

    def __le__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__le__(self, bound))

    def __gt__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__gt__(self, bound))

    def __eq__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__eq__(self, bound))

    def __ne__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__ne__(self, bound))


class UniformArray(_Duck):
    """An array of independent random floats: indexing, reshaping, comparing entry by entry."""

    __slots__ = ("_cells",)

    _looks_like = np.ndarray
    __hash__ = _Duck.__hash__
    dtype = np.dtype(np.float64)

    def __init__(self, tree: ChoiceTree, cells: NDArray[Any]) -> None:
        self._tree = tree
        self._cells = cells

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return self._cells.shape

    @property
    def ndim(self) -> int:
        """As of an array."""
        return self._cells.ndim

    @property
    def size(self) -> int:
        """As of an array."""
        return self._cells.size

    def reshape(self, *shape: Any) -> UniformArray:
        """The same entries in another shape."""
        return UniformArray(self._tree, self._cells.reshape(*shape))

    def ravel(self) -> UniformArray:
        """The same entries in one line."""
        return UniformArray(self._tree, self._cells.ravel())

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._cells)))

    def __getitem__(self, index: Any) -> Any:
        chosen = self._cells[index]
        return UniformArray(self._tree, chosen) if isinstance(chosen, np.ndarray) else chosen

    def __lt__(self, bound: Any) -> Any:
        return np.less(*_cells_of((self, bound)))

    def __ge__(self, bound: Any) -> Any:
        return np.greater_equal(*_cells_of((self, bound)))

    def __le__(self, bound: Any) -> Any:
        return np.less_equal(*_cells_of((self, bound)))

    def __gt__(self, bound: Any) -> Any:
        return np.greater(*_cells_of((self, bound)))

    def __eq__(self, bound: Any) -> Any:
        return np.equal(*_cells_of((self, bound)))

    def __ne__(self, bound: Any) -> Any:
        return np.not_equal(*_cells_of((self, bound)))


#: The types that must not leave the program.
RANDOM_NUMBERS = (Uniform, ArrayUniform, UniformArray)


def uniform_array(tree: ChoiceTree, shape: tuple[int, ...], line: Line = UNIT) -> UniformArray:
    """Independent random floats of one line, in an array of the given shape."""
    count = math.prod(shape)
    cells = np.fromiter((ArrayUniform(tree, line) for _ in range(count)), object, count)
    return UniformArray(tree, cells.reshape(shape))


def _as_numpy(answer: Any) -> Any:
    return np.bool_(answer) if type(answer) is bool else answer


def _cells_of(inputs: tuple[Any, ...]) -> list[NDArray[Any]]:
    """Object arrays whose comparison compares entry by entry."""
    scalar = next((one for one in inputs if type(one) is Uniform), None)
    cells = []
    for one in inputs:
        if type(one) is UniformArray:
            cells.append(one._cells)
        elif isinstance(type(one), type) and issubclass(type(one), Uniform):
            cells.append(np.fromiter([one], object, 1).reshape(()))
        else:
            array = np.asarray(one)
            if scalar is not None and array.dtype in (np.float32, np.float16):
                # NumPy rounds a Python float to the type of the array first.
                scalar.escape(f"a comparison with an array of {array.dtype}")
            cells.append(array.astype(object))
    return cells
