"""Arrays of entries that are functions of independent 0/1 variables, calculated by NumPy.

``rng.random(n) < p`` gives one. What is calculated entry by entry stays one, sums are numbers that
nobody looked at (``bits.sums``), and every other use is answered with a plain array, after one
choice for each entry.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy
from liptest.whitebox.bits.sums import BitSum, number_of
from liptest.whitebox.bits.tables import Entries, combined, placed, plain_entries
from liptest.whitebox.bits.variables import Bits
from liptest.whitebox.bits.views import BitView, Store
from liptest.whitebox.cell_arrays import give_methods, give_operators, operator_method
from liptest.whitebox.ducks import Duck, settled_in

_OPERATORS: dict[str, Any] = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide},
    **{"floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul},
    **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
    **{"lshift": np.left_shift, "rshift": np.right_shift},
}


_COMPARISONS: dict[str, Any] = {
    **{"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal},
}


# Arrays answer what cannot be compared.
_EQUALITIES: dict[str, Any] = {"eq": operator.eq, "ne": operator.ne}


_ALONE: dict[str, Any] = {
    **{"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert},
}


# These write into the array, or give what does.
_WRITING = frozenset({"sort", "fill", "put", "partition", "itemset"})


_OWNING = frozenset({"view", "data", "ctypes", "flat", "base", "resize", "setflags", "byteswap"})


_OWNED = frozenset({"setfield", "getfield", "imag", "dump", "strides", "flags"})


class BitArray(BitView):
    """See the module."""

    __slots__ = ()

    __hash__ = Duck.__hash__

    def astype(self, dtype: Any, *arguments: Any, copy: bool = True, **options: Any) -> Any:
        """The entries in another type."""
        if not copy and self.dtype == np.dtype(dtype):
            return self
        if arguments or options:
            return self.settled("astype()").astype(dtype, *arguments, **options)
        return entrywise(self._bits, lambda array: np.asarray(array).astype(dtype), (self,))

    def settled(self, use: str) -> NDArray[Any]:
        flat = self.entries.flat()
        if flat.count == 1:
            self._bits.resolve_all(flat.variables[flat.variables >= 0].tolist())
            flat = self._bits.current(flat)
        values = flat.table[:, 0].copy()
        for place in range(len(values) if flat.count else 0):
            one = number_of(self._bits, self._bits.current(flat.at(place)))
            values[place] = one.settled(use) if issubclass(type(one), Duck) else one
        return values.reshape(self.shape)

    def item(self, *place: Any) -> Any:
        """One entry as a Python number."""
        if place or self.size != 1:
            return self.settled("item()").item(*place)
        return self.ravel()[0].item()

    def __len__(self) -> int:
        return len(self._store.entries.table if self._places is None else self._places)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    @raises_as_numpy
    def __getitem__(self, index: Any) -> Any:
        index = settled_in(index, "an index")
        places = self._all_places()
        found = places[index]
        if isinstance(found, np.ndarray):
            return self._moved(lambda places: places[index])
        return number_of(self._bits, self._bits.current(self._store.entries.flat().at(found)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(index) is BitArray and index.dtype == np.bool_ and np.ndim(value) == 0:
            # Where a bit says so.
            index, value = ..., entrywise(self._bits, np.where, (index, value, self))
        places = np.asarray(self._all_places()[settled_in(index, "an index")])
        given = as_entries(self._bits, value)
        if given is not None:
            given = combined(lambda array: np.asarray(array).astype(self.dtype), (given,))
        if given is None:
            cast = np.empty(places.shape, dtype=self.dtype)
            cast[...] = settled_in(value, "an assignment")
            given = plain_entries(cast)
        store = self._store.entries
        made = placed(store.flat(), places, given)
        self._store.entries = Entries(
            made.variables.reshape(*store.shape, made.count),
            made.table.reshape(*store.shape, 1 << made.count),
        )

    @raises_as_numpy
    def __bool__(self) -> bool:
        if self.size != 1:
            return bool(np.zeros(self.shape, dtype=self.dtype))  # NumPy's own error
        return bool(self.ravel()[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = self.settled("numpy.array()")
        return found if dtype is None else found.astype(dtype)

    @raises_as_numpy
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out", (None,))[0]
        if type(out) is BitArray and method == "__call__" and set(options) == {"out"}:
            return _into(out, ufunc, inputs)
        if type(out) is BitArray:
            self.escape(f"numpy.{ufunc.__name__}(out=)")
        if method == "__call__" and not options and ufunc.nout == 1:
            if ufunc is np.matmul:
                from liptest.whitebox.bits.functions import dot

                return dot(*inputs)
            if ufunc.signature is None:
                return entrywise(self._bits, ufunc, inputs)
        plain = settled_in(inputs, ufunc.__name__)
        return getattr(ufunc, method)(*plain, **settled_options(options))

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        # The functions need arrays, arrays need functions only here.
        from liptest.whitebox.bits.functions import answered

        return answered(self, function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        if name in _WRITING:
            return self._written(name)
        if name in _OWNING or name in _OWNED:
            self.escape(f".{name}")
        return Duck.__getattr__(self, name)

    def _written(self, name: str) -> Callable[..., None]:
        def write(*arguments: Any, **options: Any) -> None:
            plain = self.settled(f".{name}")
            getattr(plain, name)(*settled_in(arguments, name), **options)
            self[...] = plain

        return write


def settled_options(options: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments with plain numbers in place of all that stand for one."""
    return {name: settled_in(one, name) for name, one in options.items()}


def array_of(bits: Bits, entries: Entries) -> Any:
    """Entries as what NumPy gives: an array, a plain one where nothing is random, or a number."""
    if not entries.shape:
        return number_of(bits, entries)
    if not entries.count or not entries.table.size:
        return entries.model().copy()
    return BitArray(bits, Store(entries))


def as_entries(bits: Bits, value: Any) -> Entries | None:
    """An array, or a number, of functions of variables; None for anything else."""
    if type(value) is BitArray:
        return value.entries
    if type(value) is BitSum:
        return value.entry()
    return None


def entrywise(bits: Bits, function: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    """A function that NumPy calculates entry by entry."""
    given: list[Any] = []
    for one in inputs:
        entries = as_entries(bits, one)
        if entries is None and issubclass(type(one), Duck):
            # A sum, looked at now, or random floats: their way.
            entries = one.settled("") if type(one) is BitSum else None
            if entries is None:
                return function(*(_plain(other) for other in inputs))
        given.append(_as_input(one) if entries is None else entries)
    found = combined(function, tuple(given))
    if found is None:
        return function(*(_plain(one) for one in inputs))
    return array_of(bits, found)


def _as_input(one: Any) -> Any:
    """Constants as they are, all other as plain arrays."""
    if isinstance(one, (bool, int, float, complex, str, bytes, np.generic, np.ndarray)):
        return one if type(one).__module__ in ("builtins", "numpy") else np.asarray(one)
    return np.asarray(one)


def _plain(one: Any) -> Any:
    return one.settled("") if type(one) in (BitArray, BitSum) else one


@raises_as_numpy
def _into(out: BitArray, ufunc: Any, inputs: tuple[Any, ...]) -> BitArray:
    """``ufunc(*inputs, out=out)``."""
    found = ufunc(*inputs)
    kind = getattr(found, "dtype", np.dtype(type(found)))
    if not np.can_cast(kind, out.dtype, "same_kind"):
        model = np.zeros(1, dtype=out.dtype)
        np.add(np.zeros(1, dtype=kind), 0, out=model)  # raises NumPy's own error
    if np.broadcast_shapes(np.shape(found), out.shape) != out.shape:
        raise ValueError(f"non-broadcastable output operand with shape {out.shape}")
    out[...] = found
    return out


def _comparison(equality: Any) -> Callable[[BitArray, Any], Any]:
    return lambda self, other: entrywise(self._bits, equality, (self, other))


def _in_place(ufunc: Any) -> Callable[[BitArray, Any], BitArray]:
    def method(self: BitArray, other: Any) -> BitArray:
        return _into(self, ufunc, (self, other))

    return method


def _sign(ufunc: Any) -> Callable[[BitArray], Any]:
    return lambda self: ufunc(self)


give_operators(BitArray, _OPERATORS, _in_place)


for _name, _ufunc in _COMPARISONS.items():
    setattr(BitArray, f"__{_name}__", operator_method(_ufunc))


for _name, _equality in _EQUALITIES.items():
    setattr(BitArray, f"__{_name}__", _comparison(_equality))


for _name, _ufunc in _ALONE.items():
    setattr(BitArray, f"__{_name}__", _sign(_ufunc))


give_methods(
    BitArray,
    ("sum", "mean", "any", "all", "max", "min", "argmax", "argmin", "dot", "clip", "round"),
)
