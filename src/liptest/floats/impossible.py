"""Which float outputs can occur on one dataset and on no draw under another (I2).

By "rounding": no float at all leads to it through the steps of the code, whatever is drawn. By
"inversion": every grid point that could lead to it was tried with the installed sampler. By
"granularity": near 0, the sum of a place and a noise is a multiple of half a last place of it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from liptest.floats.chains import FloatChain
from liptest.floats.grid import GridSource, fresh
from liptest.floats.samplers import SCALED, Draw, is_far, window

ROUNDING, INVERSION = "rounding", "inversion"
GRANULARITY, CONSTANT = "granularity", "constant"
#: A number of an output on one path: a constant, or one draw and what was done with it.
Entry = float | FloatChain
#: Grid points that are tried for one output.
MOST_POINTS = 4096


@dataclass(frozen=True)
class Exclusion:
    """Why an entry of a path is never a number: by which way, and the grid points tried."""

    way: str
    first: int = 0
    last: int = -1


def exclude(entry: Entry, output: float) -> Exclusion | None:
    """Why an entry is never this output; None where it can be, or where that is not known."""
    if not isinstance(entry, FloatChain):
        return Exclusion(CONSTANT) if entry != output and entry == entry else None
    if is_far(output) or not entry.is_plain:
        return None
    reals = entry.find_drawn_between(output)
    if reals is None:
        return Exclusion(INVERSION if entry.has_logarithms else ROUNDING)
    if entry.draw.sampler() is not None:
        return _by_inversion(entry, output, window(entry.draw, *reals))
    return Exclusion(GRANULARITY) if is_too_fine(entry, output) else None


def _by_inversion(chain: FloatChain, output: float, points: range) -> Exclusion | None:
    if len(points) > MOST_POINTS or leading_to(chain, output, points) is not None:
        return None
    return Exclusion(INVERSION, points.start, points.stop - 1)


_SOURCES: dict[str, GridSource] = {}


def grid_source(origin: str) -> GridSource:
    """A generator to try grid points with."""
    if origin not in _SOURCES:
        _SOURCES[origin] = GridSource(origin)
    return _SOURCES[origin]


def leading_to(chain: FloatChain, output: float, points: range) -> int | None:
    """The first of some grid points at which the installed sampler leads to the output."""
    source = grid_source(chain.draw.origin)
    for point in points:
        with suppress(ValueError, OverflowError):  # of a logarithm of 0: no number at all
            if chain.run(source.at(point)) == output:
                return point
    return None


def is_too_fine(chain: FloatChain, output: float) -> bool:
    """Whether c + n, for a constant c and any float n, is never this output (I4).

    Let q be the unit in the last place of |c| / 2. Where |c + n| < |c| / 2, n is a multiple of q,
    and so is c; the sum is one of fewer than 2**53 units, and so it is exact, a multiple of q.
    """
    constant = _find_added_last(chain)
    if constant is None or constant == 0.0 or abs(constant) < 2.0**-900:
        return False
    half = abs(constant) / 2
    return abs(output) < half and not (output / math.ulp(half)).is_integer()


def _find_added_last(chain: FloatChain) -> float | None:
    """The constant of a last step that is a sum; or the place of a draw that adds it so."""
    if chain.steps:
        last = chain.steps[-1]
        return last.constant if last.name in ("add", "subtract", "from") else None
    return chain.draw.loc if adds_its_place(chain.draw) else None


_COMPARED: dict[Draw, bool] = {}
# A build that multiplies and adds in one rounding differs at one draw of seven.
_DRAWS = 1000


def adds_its_place(draw: Draw) -> bool:
    """Whether this build adds ``loc`` in an operation of its own: compared bit by bit."""
    if draw.method not in SCALED or len(draw.parameters) < 2:
        return False
    is_added = _COMPARED.get(draw)
    if is_added is None:
        alone: Any = Draw(draw.origin, draw.method, (0.0, draw.scale))
        first, second = (fresh(draw.origin, 5), fresh(draw.origin, 5))
        is_added = all(draw.loc + alone.run(first) == draw.run(second) for _ in range(_DRAWS))
        _COMPARED[draw] = is_added
    return is_added
