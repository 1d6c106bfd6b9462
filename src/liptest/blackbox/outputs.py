"""Batches of sampled outputs, whatever they are: numbers, vectors, texts, exceptions.

A batch keeps one exact key for each output (for events on finite outputs) and a matrix of
numbers (for events on large or continuous outputs). Equal outputs have equal keys; 0.0 and -0.0,
1 and 1.0, and all NaNs are one output each.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import MechanismError, shown
from liptest.mechanisms.laws import Output

# Longer vectors are looked at through their first coordinates; keys keep all of them.
_MOST_COORDINATES = 64
_NAN = ("nan",)


class Outputs:
    """n outputs of one dataset.

    Parameters
    ----------
    array
        (n,) or (n, k) numbers, or (n,) objects, each hashable or a list or array.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def part(self, first: int, last: int) -> Outputs:
        """The outputs ``first .. last - 1``."""
        return Outputs(self.array[first:last])

    @property
    def is_numeric(self) -> bool:
        """Whether every output is a number or a vector of one length."""
        return self.array.dtype.kind in "biuf"

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """(n, k) floats, NaN where an output has no such number."""
        if self.is_numeric:
            return self.array.reshape(len(self), -1)[:, :_MOST_COORDINATES].astype(np.float64)
        rows = [_numbers(output) for output in self.array]
        width = max(1, min(_MOST_COORDINATES, max(map(len, rows), default=1)))
        table = np.full((len(rows), width), np.nan)
        for row, found in zip(table, rows, strict=True):
            row[: len(found)] = found[:width]
        return table

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """(n,) how many numbers each output has, -1 for what is no number; 0 for a lone number."""
        if self.is_numeric:
            length = 0 if self.array.ndim == 1 else self.array.shape[1]
            return np.full(len(self), float(length))
        return np.array([_length(output) for output in self.array], dtype=np.float64)

    def distinct(self) -> tuple[list[Output], NDArray[np.int64]]:
        """Keys of the distinct outputs, and which of them each output is."""
        if not self.is_numeric:
            return _distinct_keys(canonical(output) for output in self.array)
        array = self.array + 0.0 if self.array.dtype.kind == "f" else self.array
        if array.ndim == 1:
            values, rows = np.unique(array, return_inverse=True)
            return [canonical(value) for value in values.tolist()], rows.reshape(-1)
        return _distinct_rows(np.ascontiguousarray(array))


def _distinct_rows(array: NDArray[Any]) -> tuple[list[Output], NDArray[np.int64]]:
    if array.shape[1] == 0:
        return [()], np.zeros(len(array), dtype=np.int64)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)
    whole = np.ascontiguousarray(array)
    packed = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).reshape(-1)
    _, first, rows = np.unique(packed, return_index=True, return_inverse=True)
    return [canonical(tuple(row)) for row in array[first].tolist()], rows.reshape(-1)


def _distinct_keys(keys: Iterable[Output]) -> tuple[list[Output], NDArray[np.int64]]:
    known: dict[Output, int] = {}
    rows = [known.setdefault(key, len(known)) for key in keys]
    return list(known), np.array(rows, dtype=np.int64)


def canonical(output: Any) -> Output:
    """A hashable key, equal for equal outputs: lists and arrays become tuples."""
    if isinstance(output, (np.ndarray, np.generic)):
        output = output.tolist()
    if isinstance(output, (list, tuple)):
        return tuple(canonical(item) for item in output)
    if isinstance(output, float) and math.isnan(output):
        return _NAN
    if isinstance(output, Hashable):
        return output
    raise MechanismError(
        f"an output, {shown(output)}, is not hashable; return numbers, texts, tuples or arrays"
    )


def as_outputs(drawn: Any, count: int, who: str) -> Outputs:
    """Check what a sampler returned for ``count`` draws; MechanismError when it is not that."""
    array = drawn if isinstance(drawn, np.ndarray) else _listed(drawn, who)
    if array.dtype.kind not in "biuf" and not (array.dtype.kind == "O" and array.ndim == 1):
        array = _objects(list(array))
    if array.ndim == 0 or len(array) != count:
        raise MechanismError(
            f"{who}: asked for {count} outputs, got shape {array.shape}; a vectorised sampler "
            f"(dataset, n, rng) returns n outputs, along the first axis"
        )
    return Outputs(array.reshape(count, -1) if array.ndim > 2 else array)


def _listed(drawn: Any, who: str) -> NDArray[Any]:
    if isinstance(drawn, (str, bytes)) or not isinstance(drawn, Sequence):
        raise MechanismError(
            f"{who}: a vectorised sampler returned {shown(drawn)}; return an array or list of n "
            f"outputs, or pass vectorised=False for a function (dataset, rng) -> one output"
        )
    return collected(list(drawn))


def collected(outputs: list[Any]) -> NDArray[Any]:
    """Single outputs as one array: of numbers where all are of one kind, else of objects."""
    shapes = {_shape(output) for output in outputs}
    if len(shapes) == 1 and None not in shapes:
        array = np.array(outputs)
        # Whole numbers beyond 64 bits would turn into floats or objects.
        if array.dtype.kind in "bi" or all(_has_floats(output) for output in outputs):
            return array
    return _objects(outputs)


def _has_floats(output: Any) -> bool:
    if isinstance(output, (list, tuple)):
        return all(_has_floats(item) for item in output)
    return isinstance(output, (float, np.floating)) or (
        isinstance(output, np.ndarray) and output.dtype.kind == "f"
    )


def _objects(outputs: list[Any]) -> NDArray[Any]:
    array = np.empty(len(outputs), dtype=object)
    for k, output in enumerate(outputs):
        array[k] = output
    return array


def _shape(output: Any) -> tuple[int, ...] | None:
    """() for a number, (k,) for k of them, None for anything else."""
    if _is_number(output):
        return ()
    if isinstance(output, np.ndarray):
        return output.shape if output.dtype.kind in "biuf" and output.ndim == 1 else None
    if isinstance(output, (list, tuple)) and all(map(_is_number, output)):
        return (len(output),)
    return None


def _is_number(output: Any) -> bool:
    return isinstance(output, (bool, int, float, np.bool_, np.integer, np.floating))


def _numbers(output: Any) -> list[float]:
    shape = _shape(output)
    if shape is None:
        return []
    return [_as_float(item) for item in ([output] if shape == () else output)]


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _length(output: Any) -> float:
    shape = _shape(output)
    return -1.0 if shape is None else float(sum(shape))
