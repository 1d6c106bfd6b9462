"""Functions under test: callables on batches, scalar callables, tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain, IntArray
from liptest.errors import FunctionError, InputError, shown
from liptest.points import PointBatch

# Arrays handed to a function stay near this size, so that they and the results fit in cache.
SLICE_BYTES = 1 << 21


@dataclass(frozen=True)
class ScalarFunction:
    """A function of one point, called row by row; made by ``lt.scalar``."""

    function: Callable[[IntArray], float]

    def __call__(self, points: IntArray) -> NDArray[np.float64]:
        return np.array([float(self.function(point)) for point in points], dtype=np.float64)

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "function")


def scalar(function: Callable[[IntArray], float]) -> ScalarFunction:
    """Wrap ``point -> float`` (a (d,) integer array) as a function of batches."""
    if not callable(function):
        raise InputError(f"function={shown(function)} must be callable", name="function")
    return ScalarFunction(function)


@dataclass(frozen=True, eq=False)
class TableFunction:
    """A function given by all its values, an array of shape ``domain.sizes``."""

    table: NDArray[np.float64]
    domain: Domain

    def __call__(self, points: IntArray) -> NDArray[np.float64]:
        return np.asarray(self.table.reshape(-1)[self.domain.index(points)])


@dataclass(frozen=True, eq=False)
class FunctionOracle:
    """What the driver asks: checked values of a function on batches of points.

    Parameters
    ----------
    function
        ``(n, d)`` integers -> ``(n,)`` finite floats.
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
            Wrong shape, NaN or infinity.
        """
        limit = max(16, SLICE_BYTES // self.domain.dimension)
        result = np.empty(len(batch))
        n = len(batch.centres)
        for row, change, part in batch.parts(limit):
            values = self._call(part.array())
            stop = row + len(part.centres)
            result[row:stop] = values[: len(part.centres)]
            first = n + change
            result[first : first + len(part.rows)] = values[len(part.centres) :]
        return result

    def _call(self, points: IntArray) -> NDArray[np.float64]:
        raw = np.asarray(self.function(points))
        if raw.shape != (len(points),):
            raise FunctionError(
                f"{self.name}: shape={raw.shape} for {points.shape} points; return one float per "
                f"row, or wrap a function of one point in lt.scalar(...)"
            )
        try:
            values = raw.astype(np.float64)
        except (TypeError, ValueError):
            raise FunctionError(
                f"{self.name}: dtype={raw.dtype} is not numeric; return floats"
            ) from None
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            point = points[wrong[0]]
            raise FunctionError(
                f"{self.name}: value={values[wrong[0]]} at point {shown(point.tolist())}; a "
                f"Lipschitz test needs finite values everywhere",
                point=point,
            )
        return values


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
        return FunctionOracle(TableFunction(function.astype(np.float64), domain), domain)
    if not callable(function):
        raise InputError(
            f"function={shown(function)} must be a callable (n, d) -> (n,), lt.scalar(f), or an "
            f"array of shape domain.sizes",
            name="function",
        )
    return FunctionOracle(function, domain)
