"""Access tracking: a dataset that notes what is read of it, and datasets that share a law for it.

It stands for a read-only 1-d NumPy array and answers as one, with NumPy's own answers. What it
does not know how to note (a ufunc of two arrays, conversion, printing, ..) reads everything. It is
not a subclass of ndarray: compiled code reads those without asking.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import NonDeterministicError
from liptest.values.protocol import is_symbolic

# What can be read of a dataset: a read, its answer on any dataset, and lists of them.
#
# A read is ``(steps, kind)``: steps that lead from the dataset to an array (a slice, a comparison
# with a number, ..) and what is then asked of it (an entry, the sum, everything). A function that
# sees its dataset only through such reads, and whose random choices are known, runs alike on all
# datasets that give the same answers.


Step = tuple[Hashable, ...]
Read = tuple[tuple[Step, ...], tuple[Hashable, ...]]
#: Reads of one law beyond which the whole dataset counts as read.
MAX_READS = 64
#: Everything that can be known of a dataset.
WHOLE: Read = ((), ("whole",))
COMPARISONS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
ARITHMETIC = {name: getattr(operator, name) for name in ("add", "sub", "mul")}
#: Questions without further arguments, as methods and as functions of NumPy.
METHODS = ("sum", "mean", "max", "min", "any", "all")
FUNCTIONS = {getattr(np, name): name for name in (*METHODS, "count_nonzero", "amax", "amin")}
_KINDS: dict[Hashable, Callable[..., Any]] = {
    **{name: operator.methodcaller(name) for name in METHODS},
    "amax": np.max,
    "amin": np.min,
    "count_nonzero": np.count_nonzero,
    "entry": lambda array, place: array[place],
    "whole": lambda array: array,
    "bincount": lambda array, least: np.bincount(array, minlength=least),
    "dot": lambda array, weights, kind: np.dot(array, np.frombuffer(weights, dtype=kind)),
}
# On bits these depend on the number of ones alone, whatever was done entry by entry before;
# float sums do not, their rounding depends on the order.
_SYMMETRIC = frozenset({*METHODS, "amax", "amin", "count_nonzero", "bincount"})


@dataclass(frozen=True)
class TypedNumber:
    """A number of a step: 1, 1.0 and True are other ones, and so are 0.0 and -0.0."""

    kind: type
    text: str
    value: Any = field(compare=False)

    @classmethod
    def of(cls, value: Any) -> TypedNumber:
        """Of a number of Python or of NumPy."""
        return cls(type(value), repr(value), value)


def take_from(array: NDArray[Any], step: Step) -> NDArray[Any]:
    """The array after one step."""
    name, *rest = step
    taken: Any
    if name == "slice":
        taken = array[slice(*rest)]
    elif name == "take":
        taken = array[list(rest[0])]  # type: ignore[call-overload]
    elif name == "astype":
        taken = array.astype(rest[0])  # type: ignore[call-overload]
    elif name == "invert":
        taken = ~array
    else:
        action: Any = (COMPARISONS | ARITHMETIC)[str(name)]
        number, reflected = rest
        value = number.value  # type: ignore[attr-defined]
        taken = action(value, array) if reflected else action(array, value)
    return np.asarray(taken)


def ask_array(array: NDArray[Any], kind: tuple[Hashable, ...]) -> Any:
    """The answer to a question about an array, as NumPy gives it."""
    name, *arguments = kind
    return _KINDS[name](array, *arguments)


def answer(dataset: NDArray[Any], read: Read) -> Any:
    """The answer to a read on any dataset."""
    steps, kind = read
    for step in steps:
        dataset = take_from(dataset, step)
    return ask_array(dataset, kind)


def state_after(state: bytes, found: Any) -> bytes:
    """A hash of all answers so far; no dataset can be had from it."""
    if isinstance(found, np.ndarray):
        content = found.dtype.str.encode() + np.ascontiguousarray(found).tobytes()
    else:
        content = f"{type(found).__name__} {found!r}".encode()
    return blake2b(state + content, digest_size=24).digest()


def reads_only_a_count(reads: list[Read]) -> bool:
    """Whether on bits every answer is a function of the number of ones."""
    return all(_is_symmetric(read) for read in reads)


def _is_symmetric(read: Read) -> bool:
    steps, kind = read
    probe = np.zeros(2, dtype=np.int64)
    for step in steps:
        if step[0] in ("slice", "take"):
            return False
        probe = take_from(probe, step)
    arithmetic = any(step[0] in ARITHMETIC for step in steps)
    return (
        kind[0] in _SYMMETRIC
        and probe.dtype.kind in "bi"
        and not (arithmetic and kind == ("mean",))
    )


def coordinates_read(reads: list[Read]) -> set[int] | None:
    """The coordinates that were read one by one; None when anything else was read."""
    if any(steps or kind[0] != "entry" for steps, kind in reads):
        return None
    return {int(str(kind[1])) for _, kind in reads}


# Which datasets share a law, because a function reads the same of them (docs/theory/readings.md).
#
# The first thing that a function reads is the same on every dataset; the second depends on the
# first answer, and so on: a tree of reads and answers with a law at each leaf. Places in the tree
# are hashes of the answers that lead there, so no dataset is kept.


_ROOT = b"\0"
# Places that are kept; beyond it the tree is grown anew.
_MOST = 1 << 18


class Transcripts:
    """The reads of one function on all datasets seen so far."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next: dict[bytes, Read] = {}

    def place_of(self, dataset: NDArray[Any]) -> bytes:
        """Where a dataset leads: to a leaf, or to a place from which nothing is known yet."""
        place = _ROOT
        while (read := self._next.get(place)) is not None:
            place = state_after(place, answer(dataset, read))
        return place

    def reads_of(self, dataset: NDArray[Any]) -> list[Read]:
        """All that is known to be read of a dataset, in the order of first reading."""
        reads, place = [], _ROOT
        while (read := self._next.get(place)) is not None:
            reads.append(read)
            place = state_after(place, answer(dataset, read))
        return reads

    def add(self, known: dict[Read, Any]) -> bytes:
        """Grow the tree by the reads of one law; returns their leaf.

        Raises NonDeterministicError when the function read something else before, after the same
        answers.
        """
        if len(self._next) > _MOST:
            self._next.clear()
        place = _ROOT
        for read, reply in known.items():
            if self._next.setdefault(place, read) != read:
                raise self._find_change()
            place = state_after(place, reply)
        if place in self._next:
            raise self._find_change()
        return place

    def _find_change(self) -> NonDeterministicError:
        return NonDeterministicError(
            f"{self._name}: non-deterministic: after the same answers it read something else of "
            f"its dataset than before; it may keep no state between calls"
        )


_STEPS_AT_MOST = 4
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)
_UFUNCS: dict[Any, str] = {
    **dict(zip((np.less, np.less_equal, np.greater), ("lt", "le", "gt"), strict=True)),
    **dict(zip((np.greater_equal, np.equal, np.not_equal), ("ge", "eq", "ne"), strict=True)),
    **dict(zip((np.add, np.subtract, np.multiply), ("add", "sub", "mul"), strict=True)),
}
#: Properties and functions that tell nothing of the entries.
_SHAPE = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})
_SHAPE_FUNCTIONS = (np.shape, np.size, np.ndim, np.zeros_like, np.ones_like, np.empty_like)


class Reads:
    """What was read of one dataset, in the order of first reading, with the answers."""

    __slots__ = ("_unread", "array", "known")

    def __init__(self, array: NDArray[np.int64]) -> None:
        self.array = array
        self.known: dict[Read, Any] = {}
        self._unread = len(array)

    @property
    def everything(self) -> bool:
        """Whether nothing of the dataset is unknown any more."""
        return self._unread == 0 or WHOLE in self.known

    def note(self, read: Read, found: Any) -> None:
        """Note a read with its answer."""
        if read in self.known or WHOLE in self.known:
            return
        if len(self.known) >= MAX_READS or read[1] == WHOLE[1]:
            self.known[WHOLE] = self.array
            return
        self.known[read] = found
        self._unread -= read[1][0] == "entry" and not read[0]


class TrackedArray:
    """See the module."""

    __slots__ = ("_reads", "_steps", "_values")

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, reads: Reads, values: NDArray[Any] | None = None, steps: tuple[Step, ...] = ()
    ) -> None:
        self._reads = reads
        self._values = reads.array if values is None else values
        self._steps = steps

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray

    def _ask(self, *kind: Any) -> Any:
        reply = ask_array(self._values, kind)
        self._reads.note((self._steps, kind), reply)
        return reply

    def _whole(self) -> NDArray[Any]:
        self._reads.note(WHOLE, self._reads.array)
        return self._values

    def _after(self, *step: Any) -> Any:
        if len(self._steps) >= _STEPS_AT_MOST:
            return take_from(self._whole(), step)
        values = take_from(self._values, step)
        values.flags.writeable = False
        return TrackedArray(self._reads, values, (*self._steps, step))

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self._values)):
            yield self._ask("entry", place)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            bounds = index.indices(len(self._values))
            return self._after("slice", *_slice_arguments(bounds))
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            place = operator.index(index)
            size = len(self._values)
            if -size <= place < size:
                return self._ask("entry", place % size)
            return self._values[place]  # raises
        if isinstance(index, list) and index and all(type(i) is int for i in index):
            self._values[index]  # raises
            return self._after("take", tuple(index))
        return self._whole()[_plain(index)]

    def __invert__(self) -> Any:
        return self._after("invert")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        whole = self._whole()
        return whole if dtype is None and not copy else np.array(whole, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = _UFUNCS.get(ufunc)
        if name is not None and method == "__call__" and not options:
            first, second = inputs
            number, reflected = (second, False) if first is self else (first, True)
            return self._compare(name, number, reflected)
        plain = {key: _plain(value) for key, value in options.items()}
        return getattr(ufunc, method)(*map(_plain, inputs), **plain)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        alone = len(inputs) == 1 and inputs[0] is self
        if alone and not options and function in FUNCTIONS:
            return self._ask(FUNCTIONS[function])
        if alone and function in _SHAPE_FUNCTIONS:
            return function(self._values, **options)
        if alone and function is np.bincount and set(options) <= {"minlength"}:
            return self._ask("bincount", operator.index(options.get("minlength", 0)))
        if function is np.dot and len(inputs) == 2 and not options:
            return self._dot(*inputs)
        plain = {key: _plain(value) for key, value in options.items()}
        return function(*map(_plain, inputs), **plain)

    def __matmul__(self, other: Any) -> Any:
        return self._dot(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._dot(other, self)

    def _dot(self, left: Any, right: Any) -> Any:
        weights = right if left is self else left
        exact = type(weights) is np.ndarray and weights.shape == self._values.shape
        # The order of the factors is of no account for whole numbers only.
        if exact and weights.dtype.kind in "biu" and self._values.dtype.kind in "bi":
            return self._ask("dot", weights.tobytes(), weights.dtype.str)
        return np.dot(_plain(left), _plain(right))

    def _compare(self, name: str, number: Any, reflected: bool) -> Any:
        has_no_text = is_symbolic(number) and not number.is_discrete
        if isinstance(number, _NUMBERS) and not has_no_text:
            return self._after(name, TypedNumber.of(number), reflected)
        action: Callable[[Any, Any], Any] = (COMPARISONS | ARITHMETIC)[name]
        whole, other = self._whole(), _plain(number)
        return action(other, whole) if reflected else action(whole, other)

    def __getattr__(self, name: str) -> Any:
        if name in _SHAPE:
            return getattr(self._values, name)
        if name.startswith("__"):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return getattr(self._whole(), name)

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        if arguments or options:
            return self._whole().astype(dtype, *arguments, **options)
        return self._after("astype", np.dtype(dtype).str)

    def dot(self, other: Any, *arguments: Any, **options: Any) -> Any:
        if arguments or options:
            return self._whole().dot(_plain(other), *arguments, **options)
        return self._dot(self, other)


def _slice_arguments(bounds: tuple[int, int, int]) -> tuple[int | None, int | None, int]:
    start, stop, step = bounds
    # Counting down to the first entry, the stop of indices() is -1, which would mean the last.
    return start, None if step < 0 and stop < 0 else stop, step


def _plain(value: Any) -> Any:
    """The same with every recorded array read wholly."""
    if type(value) is TrackedArray:
        return value._whole()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def _question(name: str) -> Callable[..., Any]:
    def ask(self: TrackedArray, *arguments: Any, **options: Any) -> Any:
        if arguments or options:
            return getattr(self._whole(), name)(*map(_plain, arguments), **options)
        return self._ask(name)

    return ask


def _compare(name: str, reflected: bool) -> Callable[..., Any]:
    def compare(self: TrackedArray, other: Any) -> Any:
        return self._compare(name, other, reflected)

    return compare


def _reading(name: str) -> Callable[..., Any]:
    def read(self: TrackedArray, *arguments: Any) -> Any:
        return getattr(self._whole(), name)(*map(_plain, arguments))

    return read


for _name in METHODS:
    setattr(TrackedArray, _name, _question(_name))


for _name in COMPARISONS:
    setattr(TrackedArray, f"__{_name}__", _compare(_name, False))


for _name in ARITHMETIC:
    setattr(TrackedArray, f"__{_name}__", _compare(_name, False))
    setattr(TrackedArray, f"__r{_name}__", _compare(_name, True))


_OTHERS = (
    *("truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or"),
    *("rtruediv", "rfloordiv", "rmod", "rdivmod", "rpow", "rlshift", "rrshift", "rand", "rxor"),
    *("ror", "iadd", "isub", "imul", "itruediv", "iand", "ior", "ixor", "neg", "pos", "abs"),
    *("bool", "int", "float", "complex", "index", "str", "repr", "format", "contains"),
    *("setitem", "delitem", "copy", "deepcopy", "reduce", "reduce_ex"),
)


for _name in _OTHERS:
    setattr(TrackedArray, f"__{_name}__", _reading(f"__{_name}__"))
