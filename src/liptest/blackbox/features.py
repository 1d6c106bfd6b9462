"""Numbers by which outputs are told apart: coordinates, sums, extremes, places, differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.outputs import Outputs

FloatArray = NDArray[np.float64]

# Wider vectors are not compared coordinate by coordinate, or at all beyond the second number.
_MOST_COMPARED = 6
_MOST_SINGLE = 32


def feature_names(outputs: Outputs) -> list[str]:
    """The features that may tell such outputs apart."""
    width = outputs.numbers.shape[1]
    names = [f"x[{i}]" for i in range(min(width, _MOST_SINGLE))]
    if not outputs.is_numeric:
        names.append("length")
    if width > 1:
        names += ["sum", "max", "min", "argmax", "argmin", "nonzeros"]
    if 1 < width <= _MOST_COMPARED:
        names += [f"x[{i}]-x[{j}]" for i in range(width) for j in range(i)]
    return names


def feature(outputs: Outputs, name: str) -> FloatArray:
    """(n,) values of a feature; NaN where an output has none."""
    if name == "length":
        return outputs.lengths
    numbers = outputs.numbers
    if not name.startswith("x["):
        return np.asarray(_WHOLE[name](numbers), dtype=np.float64)
    parts = [_column(numbers, int(part.strip("x[]"))) for part in name.split("-")]
    with np.errstate(invalid="ignore"):
        return parts[0] if len(parts) == 1 else parts[0] - parts[1]


def _column(numbers: FloatArray, place: int) -> FloatArray:
    if place >= numbers.shape[1]:
        return np.full(len(numbers), np.nan)
    return numbers[:, place]


def _sum(numbers: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where(np.isnan(numbers), 0.0, numbers).sum(axis=1))


def _low(numbers: FloatArray) -> FloatArray:
    return np.where(np.isnan(numbers), -np.inf, numbers)


def _high(numbers: FloatArray) -> FloatArray:
    return np.where(np.isnan(numbers), np.inf, numbers)


def _nonzeros(numbers: FloatArray) -> Any:
    return (np.nan_to_num(numbers) != 0).sum(axis=1)


_WHOLE: dict[str, Callable[[FloatArray], Any]] = {
    "sum": _sum,
    "max": lambda numbers: _low(numbers).max(axis=1),
    "min": lambda numbers: _high(numbers).min(axis=1),
    "argmax": lambda numbers: _low(numbers).argmax(axis=1),
    "argmin": lambda numbers: _high(numbers).argmin(axis=1),
    "nonzeros": _nonzeros,
}
