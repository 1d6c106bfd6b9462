"""Functions under test: callables on batches, scalar callables, tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch, pack_bits
from liptest.errors import FunctionError, InputError, quote

# Arrays handed to a function stay near this size, so that they and the results fit in cache.
SLICE_BYTES = 1 << 21
# From here on floats skip whole numbers, and rounding could break a Lipschitz function.
_EXACT_INTEGERS = 1 << 53


@runtime_checkable
class AnswersBatches(Protocol):
    """A function that takes centres and their changed copies faster than points one by one."""

    def values_at(self, batch: PointBatch) -> ArrayLike:
        """Values at all points of a batch, centres first."""
        ...


@dataclass(frozen=True)
class ScalarFunction:
    """A function of one point, called row by row; made by ``lt.scalar``."""

    function: Callable[[IntArray], float]

    def __call__(self, points: IntArray) -> NDArray[np.object_]:
        # Objects, so that the oracle sees what the function gave, not what NumPy makes of it.
        values = np.empty(len(points), dtype=object)
        for i, point in enumerate(points):
            values[i] = self.function(point)
        return values

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "function")


def scalar(function: Callable[[IntArray], float]) -> ScalarFunction:
    """Wrap ``point -> float`` (a (d,) integer array) as a function of batches."""
    if not callable(function):
        raise InputError(f"function={quote(function)} must be callable", name="function")
    return ScalarFunction(function)


@dataclass(frozen=True)
class PackedFunction:
    """A function of rows of bits, 64 in a word; made by ``packed``."""

    function: Callable[[NDArray[np.uint64]], ArrayLike]

    def __call__(self, points: IntArray) -> NDArray[Any]:
        return _as_array(self.function(pack_bits(points)))

    def values_at(self, batch: PointBatch) -> NDArray[Any]:
        """Values at all points of a batch; a changed point is its centre's words with one bit."""
        return _as_array(self.function(batch.packed()))

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "function")


def packed(function: Callable[[NDArray[np.uint64]], ArrayLike]) -> PackedFunction:
    """Wrap a function of bits, for Hypercubes of many records.

    It gets (n, ceil(d / 64)) uint64 words instead of (n, d) integers: coordinate r is bit
    ``r % 64``, from the lowest, of word ``r // 64``; what is left of the last word is 0. So a count
    is ``np.bitwise_count(words).sum(axis=1)``. Use it for a function that is to be tested, or for
    the ``log_pmf`` of ``lt.ClosedForm``. Samples, verdicts and counts are the same either way.
    """
    if not callable(function):
        raise InputError(f"function={quote(function)} must be callable", name="function")
    return PackedFunction(function)


def points_at_once(function: object, dimension: int, bytes_each: int = 0) -> int:
    """How many points to hand to a function so that they, and the answers, stay near 2 MiB."""
    width = -(-dimension // 64) * 8 if isinstance(function, PackedFunction) else dimension
    return SLICE_BYTES // (width + bytes_each)


@dataclass(frozen=True, eq=False)
class TableFunction:
    """A function given by all its values, an array of shape ``domain.sizes``."""

    table: NDArray[Any]
    domain: Domain

    def __call__(self, points: IntArray) -> NDArray[Any]:
        return np.asarray(self.table.reshape(-1)[self.domain.index(points)])

    def values_at(self, batch: PointBatch) -> NDArray[Any]:
        """Values at all points of a batch; a changed point costs one addition."""
        own = self.domain.index(batch.centres)
        before = batch.centres[batch.rows, batch.coordinates]
        moved = (batch.values - before) * self.domain.strides[batch.coordinates]
        places = np.concatenate([own, own[batch.rows] + moved])
        return np.asarray(self.table.reshape(-1)[places])


@dataclass(frozen=True, eq=False)
class FunctionOracle:
    """What the driver asks: checked values of a function on batches of points.

    Parameters
    ----------
    function
        ``(n, d)`` integers -> ``(n,)`` finite floats. What is tested are its values as floats:
        Fractions are rounded to the nearest one. A method ``values_at(batch)`` is used instead
        where there is one: it gets centres and changes (``PointBatch``), and gives (n + m,).
    domain
        Where the points live.
    """

    function: Callable[[IntArray], ArrayLike]
    domain: Domain

    @property
    def name(self) -> str:
        """How verdicts call the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def values(self, batch: PointBatch) -> NDArray[np.float64]:
        """Values at all points of a batch, centres first; (n + m,) floats.

        Raises
        ------
        FunctionError
            Wrong shape, or an answer that is not a finite float: NaN, infinity, text, complex, or a
            whole number of 2**53 or more.
        """
        limit = max(16, points_at_once(self.function, self.domain.dimension))
        result = np.empty(len(batch))
        n = len(batch.centres)
        for row, change, part in batch.parts(limit):
            values = self._call(part)
            stop = row + len(part.centres)
            result[row:stop] = values[: len(part.centres)]
            first = n + change
            result[first : first + len(part.rows)] = values[len(part.centres) :]
        return result

    def _call(self, part: PointBatch) -> NDArray[np.float64]:
        function = self.function
        if isinstance(function, AnswersBatches):
            raw = _as_array(function.values_at(part))
        else:
            raw = _as_array(function(part.array()))
        if raw.shape != (len(part),):
            shape = (len(part), self.domain.dimension)
            raise FunctionError(
                f"{self.name}: shape={raw.shape} for {shape} points; return one float per row, or "
                f"wrap a function of one point in lt.scalar(...)"
            )
        values = _as_floats(raw)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            point, value = part.point(int(wrong[0])), raw[wrong].tolist()[0]
            raise FunctionError(
                f"{self.name}: value={quote(value)} at point {quote(point.tolist())}; a "
                f"Lipschitz test needs finite floats, or whole numbers below 2**53, everywhere",
                point=point,
            )
        return values


def _as_array(answer: Any) -> NDArray[Any]:
    try:
        return np.asarray(answer)
    except ValueError:  # rows of different lengths
        return np.asarray(None)


def _as_floats(raw: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) answers as floats; NaN for what is not a number or does not fit into a float."""
    kind = raw.dtype.kind
    if kind == "O":
        return np.array([_as_float(value) for value in raw], dtype=np.float64)
    if kind not in "biuf":
        return np.full(raw.shape, np.nan)
    values = raw.astype(np.float64)
    if kind in "iu":
        values[np.abs(values) >= _EXACT_INTEGERS] = np.nan
    return values


def _as_float(value: Any) -> float:
    inexact = isinstance(value, (int, np.integer)) and abs(int(value)) >= _EXACT_INTEGERS
    if inexact or isinstance(value, (str, bytes)):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def as_oracle(function: Any, domain: Domain) -> FunctionOracle:
    """Wrap a callable or a table (array of shape ``domain.sizes``) for the driver.

    Raises InputError when it is neither, or when the table has another shape.
    """
    if isinstance(function, np.ndarray):
        if function.shape != domain.sizes:
            raise InputError(
                f"function: a table of shape={function.shape} does not fit {domain}; "
                f"its shape must be domain.sizes",
                name="function",
            )
        if function.dtype.kind not in "biufO":
            raise InputError(
                f"function: a table of dtype={function.dtype} is not numeric; give numbers",
                name="function",
            )
        return FunctionOracle(TableFunction(function.copy(), domain), domain)
    if not callable(function):
        raise InputError(
            f"function={quote(function)} must be a callable (n, d) -> (n,), lt.scalar(f), or an "
            f"array of shape domain.sizes",
            name="function",
        )
    return FunctionOracle(function, domain)
