"""Arrays of comparisons of numbers with noise, each of which is decided when it is looked at.

``noisy > threshold`` has 2^n outcomes, but its ``any()`` depends on the first one that is true, and
so do ``all()``, ``argmax()`` and a loop that stops: n + 1 outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.whitebox.cell_arrays import CellArray, give_methods, give_operators, operator_method
from liptest.whitebox.ducks import COMPARISONS, MOVES, WRITING, Duck
from liptest.whitebox.noise.arithmetic import compared_any
from liptest.whitebox.noise.numbers import is_noisy

_BOOLEAN = np.dtype(np.bool_)


# Methods that move entries, as the functions of these names do.
_MOVING = frozenset({"ravel", "reshape", "transpose", "squeeze", "swapaxes", "flatten", "copy"})


# These write into the array, or give what does.
_OWNING = frozenset(
    {"sort", "fill", "put", "partition", "itemset", "view", "data", "ctypes", "flat", "base"}
    | {"resize", "setflags", "byteswap", "setfield", "getfield", "real", "imag", "flags"}
)


class Open:
    """A comparison that nobody has looked at, or its outcome."""

    __slots__ = ("_ask", "_found")

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask = ask
        self._found: bool | None = None

    def decided(self) -> bool:
        """The outcome, the same each time."""
        if self._found is None:
            self._found = bool(self._ask())
        return self._found


def compared_later(tree: Branching, comparison: Any, left: Any, right: Any) -> Any:
    """The comparison of two arrays of cells, plain where no noise is in it."""

    def cell(one: Any, other: Any) -> Any:
        if is_noisy(one) or is_noisy(other):
            return Open(lambda: compared_any(comparison, one, other))
        return bool(comparison(one, other))

    return truths_of(tree, np.frompyfunc(cell, 2, 1)(left, right))


def truths_of(tree: Branching, cells: Any) -> Any:
    """Cells as an array of truths; a plain one where none is open, one truth for no array."""
    if not isinstance(cells, np.ndarray):
        return np.bool_(_decided(cells))
    if any(type(one) is Open for one in cells.flat):
        return NoiseTruths(tree, cells)
    return cells.astype(np.bool_)


class NoiseTruths(CellArray):
    """See the module; what is not answered here looks at all of them."""

    __slots__ = ()

    __hash__ = Duck.__hash__
    dtype = _BOOLEAN

    def __init__(self, tree: Branching, cells: NDArray[Any]) -> None:
        self._tree = tree
        self._cells = cells

    def settled(self, use: str) -> NDArray[np.bool_]:
        plain = [_decided(one) for one in self._cells.flat]
        return np.array(plain, dtype=np.bool_).reshape(self.shape)

    def first(self, wanted: bool) -> int | None:
        """The first place in line with an outcome; nothing after it is looked at."""
        places = enumerate(self._cells.flat)
        return next((place for place, one in places if _decided(one) is wanted), None)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self._cells)))

    def __getitem__(self, index: Any) -> Any:
        cells = self._cells[_plain(index)]
        if isinstance(cells, np.ndarray):
            return NoiseTruths(self._tree, cells)
        return np.bool_(_decided(cells))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._cells[_plain(index)] = np.asarray(value).astype(np.bool_).astype(object)

    def __invert__(self) -> Any:
        return np.invert(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = self.settled("numpy.array()").astype(dtype or np.bool_)
        if copy is not True:
            found.flags.writeable = False  # what is written would not be seen here
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if type(options.get("out", (None,))[0]) is NoiseTruths:
            self.escape(f"numpy.{ufunc.__name__} with out=")
        joined = _LATER.get(ufunc)
        if method == "__call__" and not options and joined and all(map(_is_truth, inputs)):
            given = [one._cells if type(one) is NoiseTruths else _as_cells(one) for one in inputs]
            return truths_of(self._tree, np.frompyfunc(joined, len(inputs), 1)(*given))
        plain = _plain(inputs)
        return getattr(ufunc, method)(
            *plain, **{name: _plain(one) for name, one in options.items()}
        )

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        own = _FIRST.get(function)
        if own is not None and len(arguments) == 1 and not options and self.size:
            return own(self)
        if function.__name__ in WRITING:
            self.escape(f"numpy.{function.__name__}")
        if function in MOVES and arguments and arguments[0] is self:
            return self._like(function(self._cells, *_plain(arguments[1:]), **options))
        plain = {name: _plain(one) for name, one in options.items()}
        return function(*_plain(tuple(arguments)), **plain)

    def __getattr__(self, name: str) -> Any:
        if name == "T":
            return self._like(self._cells.T)
        if name in _MOVING:
            move = getattr(self._cells, name)
            return lambda *arguments, **options: self._like(move(*arguments, **options))
        if name in _OWNING:
            self.escape(f".{name}")
        return Duck.__getattr__(self, name)

    def escape(self, use: str) -> NoReturn:
        self._tree.unsupported(f"comparisons of noise used in {use}", "copy them to a list first")

    def _like(self, cells: Any) -> Any:
        if isinstance(cells, list):
            return [self._like(one) for one in cells]
        return NoiseTruths(self._tree, cells)


def _decided(cell: Any) -> bool:
    return cell.decided() if type(cell) is Open else bool(cell)


def _plain(value: Any) -> Any:
    """With plain arrays in place of comparisons; numbers with noise stay."""
    if type(value) is NoiseTruths:
        return value.settled("")
    if type(value) in (list, tuple):
        return type(value)(_plain(one) for one in value)
    return value


def _is_truth(value: Any) -> bool:
    if type(value) in (NoiseTruths, bool, np.bool_):
        return True
    return type(value) is np.ndarray and value.dtype == _BOOLEAN


def _as_cells(value: Any) -> Any:
    return np.asarray(value).astype(object)


def _not(one: Any) -> Any:
    return Open(lambda: not one.decided()) if type(one) is Open else not one


def _and(left: Any, right: Any) -> Any:
    if type(left) is Open and type(right) is Open:
        return Open(lambda: left.decided() and right.decided())
    known, other = (right, left) if type(left) is Open else (left, right)
    return other if known else False


def _or(left: Any, right: Any) -> Any:
    return _not(_and(_not(left), _not(right)))


_LATER: dict[Any, Callable[..., Any]] = {
    **{np.logical_not: _not, np.invert: _not},
    **{np.logical_and: _and, np.bitwise_and: _and},
    **{np.logical_or: _or, np.bitwise_or: _or},
}


_FIRST: dict[Any, Callable[[NoiseTruths], Any]] = {
    np.any: lambda truths: np.bool_(truths.first(True) is not None),
    np.all: lambda truths: np.bool_(truths.first(False) is None),
    np.argmax: lambda truths: np.intp(truths.first(True) or 0),
    np.argmin: lambda truths: np.intp(truths.first(False) or 0),
}


def _into(ufunc: Any) -> Callable[[NoiseTruths, Any], NoiseTruths]:
    def method(self: NoiseTruths, other: Any) -> NoiseTruths:
        if ufunc in _LATER and _is_truth(other):
            made = ufunc(self, other)
            self._cells[...] = made._cells if type(made) is NoiseTruths else _as_cells(made)
        else:
            plain = self.settled("")
            self._cells[...] = _as_cells(ufunc(plain, _plain(other), out=plain))
        return self

    return method


give_operators(
    NoiseTruths,
    {
        **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
        **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide},
        **{"floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul},
    },
    _into,
)


give_methods(NoiseTruths, ("any", "all", "argmax", "argmin"))


for _ufunc, _comparison in COMPARISONS.items():
    setattr(NoiseTruths, f"__{_comparison.__name__}__", operator_method(_ufunc))
