"""``numpy.isclose`` and ``math.isclose`` of random numbers: two comparisons each.

The floats that are close to a plain number are all those between two of them, which bisection finds
with the function itself; so ``isclose(x, c)`` says that x is not below the one, and not above the
other. Of two random numbers the difference is compared with the width that the formula gives.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from liptest.values.array import cells_of, make_array, make_model
from liptest.values.booleans import LazyBoolean
from liptest.values.protocol import current, first_symbolic, is_symbolic

# Beyond, an end moves by more than the last digits of floats that the bisection looks at.
_MOST_RELATIVE = 0.5
# Where whole numbers are floats exactly.
_WHOLES = 2.0**53
Ends = tuple[float, float]
Close = Callable[[float], bool]
_NUMPY, _MATH = np.isclose, math.isclose


def is_close(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """``numpy.isclose`` of numbers or arrays, one of them random; None where it is not followed."""
    if equal_nan or not _are_plain(rtol, atol):
        return None
    model = _NUMPY(make_model(a), make_model(b), rtol, atol)
    cells = cells_of(a), cells_of(b)
    followed = partial(_is_close_pair, float(rtol), float(atol))
    if any(followed(*pair) is None for pair in np.broadcast(*cells)):
        return None
    if not np.ndim(model):
        return np.bool_(_answer(followed(cells[0].item(), cells[1].item())))
    branching = first_symbolic((a, b)).branching

    def later(one: Any, other: Any) -> Any:
        truth = followed(one, other)
        return LazyBoolean(branching, truth) if callable(truth) else np.bool_(truth)

    return make_array(branching, np.frompyfunc(later, 2, 1)(*cells), np.bool_)


def is_close_number(left: Any, right: Any, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> bool | None:
    """``math.isclose`` of two numbers, one of them random; None where it is not followed."""
    if not _are_plain(rel_tol, abs_tol):
        return None
    number, other = (left, right) if is_symbolic(left) else (right, left)
    if is_symbolic(other) or not isinstance(other, (int, float, np.integer, np.floating)):
        return None
    options = {"rel_tol": float(rel_tol), "abs_tol": float(abs_tol)}
    truth = _of_plain(number, float(other), lambda: _math_ends(float(other), **options), rel_tol)
    return None if truth is None else _answer(truth)


def _are_plain(*tolerances: Any) -> bool:
    """Whether these are numbers that are 0 or more."""
    return all(
        not is_symbolic(tolerance)
        and isinstance(tolerance, (int, float, np.integer, np.floating))
        and 0 <= tolerance < math.inf
        for tolerance in tolerances
    )


def _answer(truth: Any) -> bool:
    return bool(truth() if callable(truth) else truth)


def _is_close_pair(rtol: float, atol: float, left: Any, right: Any) -> Any:
    """Of two cells: a truth, or what asks for it, or None where it is not followed."""
    left, right = current(left), current(right)
    if not is_symbolic(left) and not is_symbolic(right):
        return bool(_NUMPY(left, right, rtol, atol))
    if is_symbolic(left) and is_symbolic(right):
        # Of whole numbers the product with rtol would have to be looked at.
        is_followed = not rtol or not (left.is_discrete or right.is_discrete)
        return partial(_is_close_to_other, rtol, atol, left, right) if is_followed else None
    number, plain = (left, float(right)) if is_symbolic(left) else (right, float(left))
    ends = partial(_ends_of_first if number is left else _ends_of_second, plain, rtol, atol)
    return _of_plain(number, plain, ends, 0.0 if number is left else rtol)


def _is_close_to_other(rtol: float, atol: float, left: Any, right: Any) -> bool:
    gap = left - right
    width = atol + rtol * abs(right) if rtol else atol
    return bool(gap <= width) and bool(gap >= -width)


def _of_plain(number: Any, plain: float, ends_of: Callable[[], Ends], relative: float) -> Any:
    """What asks whether a random number is between the ends."""
    if not math.isfinite(plain):
        return False
    if relative > _MOST_RELATIVE:
        return None
    low, high = ends_of()
    # Beyond, floats that are compared are not the whole numbers that they stand for.
    if not issubclass(number.kind, float) and max(abs(low), abs(high)) >= _WHOLES:
        return None
    return lambda: bool(number >= low) and bool(number <= high)


# ---- ends


@lru_cache(maxsize=1024)
def _ends_of_first(right: float, rtol: float, atol: float) -> Ends:
    return _ends(right, lambda left: bool(_NUMPY(left, right, rtol, atol)))


@lru_cache(maxsize=1024)
def _ends_of_second(left: float, rtol: float, atol: float) -> Ends:
    return _ends(left, lambda right: bool(_NUMPY(left, right, rtol, atol)))


@lru_cache(maxsize=1024)
def _math_ends(other: float, *, rel_tol: float, abs_tol: float) -> Ends:
    return _ends(other, lambda number: _MATH(number, other, rel_tol=rel_tol, abs_tol=abs_tol))


def _ends(centre: float, holds: Close) -> Ends:
    """The least and the largest float that are close; ``centre`` is."""
    with np.errstate(all="ignore"):
        return _last(centre, -1, holds), _last(centre, 1, holds)


def _last(centre: float, side: int, holds: Close) -> float:
    """The last float on a side that is close."""
    inside, outside = _find_place(centre), side * _find_place(math.inf)
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if holds(_at(middle)) else (inside, middle)
    return _at(inside)


def _find_place(number: float) -> int:
    """Floats in their order, as whole numbers; 0.0 and -0.0 are one."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return int(-bits if number < 0 else bits)


def _at(place: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return float(-number if place < 0 else number)
