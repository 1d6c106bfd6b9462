"""Values of sums: whole numbers times a power of two, lists, and what is calculated from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Whole numbers that are summed stay below this.
MOST = 1 << 62


def token(value: Any) -> Hashable:
    """Equal for values that no program can tell apart."""
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    return type(value), value.hex() if isinstance(value, float) else value


@dataclass(frozen=True)
class Step:
    """A function of a number, and of a constant with it."""

    function: Callable[..., Any]
    constant: Any = field(default=None, compare=False)
    swapped: bool = False
    known_by: Hashable = None

    @classmethod
    def of(cls, function: Callable[..., Any], constant: Any, swapped: bool) -> Step:
        """With a constant, on the left where it is swapped."""
        return cls(function, constant, swapped, token(constant))

    def __call__(self, value: Any) -> Any:
        if self.known_by is None:
            return self.function(value)
        if self.swapped:
            return self.function(self.constant, value)
        return self.function(value, self.constant)


@dataclass(frozen=True)
class Scaled:
    """The value ``kind((offset + factor * total) * 2**-shift)``, exactly."""

    kind: type
    shift: int = 0
    factor: int = 1
    offset: int = 0

    def __call__(self, total: int) -> Any:
        number = self.offset + self.factor * total
        return self.kind(math.ldexp(number, -self.shift) if self.shift else number)


@dataclass(frozen=True)
class Listed:
    """The value in a list."""

    values: tuple[Any, ...] = field(compare=False)
    known_by: Hashable

    @classmethod
    def of(cls, values: NDArray[Any]) -> Listed:
        """From an array."""
        return cls(tuple(values), (values.dtype.str, values.tobytes()))

    def __call__(self, total: int) -> Any:
        return self.values[total]


def whole_numbers(table: NDArray[Any]) -> tuple[NDArray[np.int64], int] | None:
    """Numbers as whole ones and a power of two that divides them; None where there is none."""
    if table.dtype.kind in "biu":
        if table.dtype == np.uint64 and table.size and int(table.max()) >= MOST:
            return None
        return table.astype(np.int64), 0
    if table.dtype not in (np.float64, np.float32) or not np.isfinite(table).all():
        return None
    if (np.signbit(table) & (table == 0)).any():
        return None
    fractions, exponents = np.frexp(table.astype(np.float64))
    used = np.where(table == 0, 0, 53 - exponents)
    shift = max(0, int(used.max(initial=0)))
    # The last of 53 digits that is not 0, over all of them.
    digits = (np.abs(fractions) * 2.0**53).astype(np.int64)
    zeros = np.array([(d & -d).bit_length() - 1 if d else 53 for d in digits.ravel().tolist()])
    needed = np.where(digits.ravel() == 0, 0, used.ravel() - zeros)
    shift = max(0, int(needed.max(initial=0)))
    scaled = np.ldexp(table.astype(np.float64), shift)
    if shift > 1000 or not (np.abs(scaled) < 2.0**53).all():
        return None
    return scaled.astype(np.int64), shift


def fits(kind: Any, least: int, most: int) -> bool:
    """Whether whole numbers up to these, in absolute value too, are exact in a type."""
    if kind is int:
        return True
    if issubclass(kind, np.integer):
        limits = np.iinfo(kind)
        return limits.min <= least and most <= limits.max and max(-least, most) < MOST
    if kind in (float, np.float64, np.float32):
        return max(-least, most) <= 1 << (24 if kind is np.float32 else 53)
    return False
