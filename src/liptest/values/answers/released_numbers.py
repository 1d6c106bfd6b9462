"""Released numbers beside records: by what they are known, and between which floats they lie.

A number that noise and sums of the data determine is *released* where it meets records. What is
made of a record with it is then known for each value of it (docs/theory/tables.md, B9).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from liptest.symbolic.answers import Answer
from liptest.symbolic.noise import CONTINUOUS
from liptest.values.answers.aligned import AlignedValue, NoisyData, ReleasedValue
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.answers.free_functions import SharedCall
from liptest.values.array import CellStorage, SymbolicArray, fill_array, make_array
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import is_symbolic
from liptest.values.reals.recipes import ENDS, is_safe

#: Between which floats sums with noise lie, which are at most so large at noise of size 1. Products
#: of a few of these, and the squares of those, are floats, too.
KNOWN, LARGEST_SUM = 2.0**400, 2**300
# Samplers of whole noise give whole numbers of 64 bits.
_LARGEST_DRAW = 2**64
#: How often released numbers meet records, where there are several paths.
MOST_MEETINGS = 2_000
_ENDS = tuple[float, float]
_OF_OPERATORS: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    max: np.maximum,
    min: np.minimum,
}

#: Of these one bound is enough for a bound.
_OF_OPEN_ENDS = (
    *(max, min, np.maximum, np.minimum, np.fmax, np.fmin, float, np.float64, np.negative),
)


class NumberBeside(NamedTuple):
    """A number that was released: the same ``key`` for the same one in a run."""

    key: Any
    low: float
    high: float


def release_beside(value: NoisyData, book: AnswerBook, use: str) -> NumberBeside:
    """Release a number that meets records; infinite ends where no more is known of it."""
    run = value.run
    known = value.released(use)
    ends = find_ends(value, book)
    low, high = (-np.inf, np.inf) if ends is None else ends
    key = (*_find_name(known), low, high)
    if run.point is None:
        book.cells.meetings += 1
    else:
        book.cells.release(key, known.evaluate())
    return NumberBeside(key, low, high)


def _find_name(value: ReleasedValue) -> tuple[Any, ...]:
    """The same whatever sums of the data are part of it, so that a second run has it, too."""
    if value.function is not None:
        return "value", value.node
    form = value.arguments[0].form
    terms, run = value.run.terms_of(form), value.run
    return "sum", list(run.released).index(terms), form.terms[0][1], form.constant


def find_ends(value: Any, book: AnswerBook) -> _ENDS | None:
    """Between which floats a number lies; None where it may be infinite, or no number."""
    ends = _find_open_ends(value, book)
    return ends if ends is not None and np.isfinite(ends).all() else None


def _find_open_ends(value: Any, book: AnswerBook) -> _ENDS | None:
    """The same, infinite where no bound is known; None where it may be no number."""
    if not is_symbolic(value):
        number = float(value)
        return (number, number) if abs(number) <= KNOWN else None
    if type(value) is AlignedValue:
        return (-KNOWN, KNOWN) if _is_of_plain_size(value, book) else (-math.inf, math.inf)
    if value.function is None:
        return _find_open_ends(value.arguments[0], book)
    # What is made of one number in several ways is looked at once.
    made, key = value.run.made, (find_ends, value.node)
    if key not in made:
        made[key] = _ends_of_function(value, book)
    found: _ENDS | None = made[key]
    if found is None and value.is_finite:
        found = -math.inf, math.inf
    return found if found is None else _on_this_path(value, found)


def _on_this_path(value: Any, ends: _ENDS) -> _ENDS:
    """The same, as far as comparisons have left it open."""
    known = value.run.interval_of(value.node)
    low, high = (
        ends[0] if known.low is None else max(ends[0], _round_down(known.low)),
        ends[1] if known.high is None else min(ends[1], -_round_down(-known.high)),
    )
    return (low, high) if low <= high else ends


def _round_down(number: Fraction) -> float:
    """A float that is not above it."""
    return math.nextafter(float(number), -math.inf)


def _ends_of_function(value: ReleasedValue, book: AnswerBook) -> _ENDS | None:
    parts = [_find_open_ends(part, book) for part in value.arguments]
    pairs = [part for part in parts if part is not None]
    if len(pairs) < len(parts):
        return None
    if not np.isfinite(pairs).all() and value.function not in _OF_OPEN_ENDS:
        return None
    if value.function in (float, np.float64):
        return pairs[0]
    if value.function in (operator.pow, np.power):
        return _ends_of_power(*pairs)
    if isinstance(value.function, partial):
        call = getattr(value.function.func, "__self__", None)
        return call.ends(pairs) if type(call) is SharedCall else None
    ufunc = _OF_OPERATORS.get(value.function, value.function)
    rule = ENDS.get(ufunc) if isinstance(ufunc, np.ufunc) else None
    lows, highs = ([np.array(pair[end]) for pair in pairs] for end in (0, 1))
    if rule is None or not is_safe(ufunc, lows, highs):
        return None
    with np.errstate(all="ignore"):
        ends = rule(ufunc, lows, highs)
    if ends is None or (np.isfinite(pairs).all() and not np.isfinite(ends).all()):
        return None
    return float(ends[0]), float(ends[1])


def _ends_of_power(base: _ENDS, exponent: _ENDS) -> _ENDS | None:
    """Of a square or a root: the C library may be off by one float."""
    if exponent == (2.0, 2.0):
        size = max(map(abs, base))
        low = 0.0 if base[0] <= 0 <= base[1] else min(map(abs, base))
        ends = low * low, size * size
    elif exponent == (0.5, 0.5) and base[0] >= 0:
        ends = math.sqrt(base[0]), math.sqrt(base[1])
    else:
        return None
    low, high = math.nextafter(ends[0], -math.inf), math.nextafter(ends[1], math.inf)
    return (max(low, 0.0), high) if math.isfinite(high) else None


def _largest(source: Answer, book: AnswerBook) -> Fraction:
    if source.span is None:
        return Fraction(LARGEST_SUM + 1) if source.function else book.largest_of(source.number)
    return max(map(abs, source.span))


def _is_of_plain_size(value: AlignedValue, book: AnswerBook) -> bool:
    """Whether no sampler of floats brings it near ``KNOWN``."""
    sizes = [abs(Fraction(value.form.constant))]
    for variable, factor in value.form.terms:
        source = value.run.noises[variable]
        if isinstance(source, Answer):
            if source.function is not None:
                return False
            size = _largest(source, book)
        else:
            is_real = source.family in CONTINUOUS
            size = source.parameter if is_real else Fraction(_LARGEST_DRAW)
        sizes.append(abs(Fraction(factor)) * size)
    return sum(sizes) <= LARGEST_SUM


# ---- edges of bins, each of which is compared with records


def find_edges(bins: Any) -> list[Any] | None:
    """The edges, where some of them are numbers with noise; None for all else."""
    if type(bins) is SymbolicArray:
        is_line = isinstance(bins.storage, CellStorage) and bins.ndim == 1
        edges = bins.cells.tolist() if is_line else []
    else:
        edges = list(bins) if isinstance(bins, (list, tuple)) else []
    return edges if any(issubclass(type(edge), NoisyData) for edge in edges) else None


def histogram_between(column: Any, array: Any, edges: list[Any]) -> Any:
    """``numpy.histogram``: the counts, and the edges; the last bin has its end."""
    if not _are_rising(column, edges):
        _raise_as_numpy()
    counts = [np.sum(inside) for inside in find_bins(array, edges)]
    cells = make_array(column.branching, fill_array(counts, (len(counts),), object), np.int64)
    return cells, make_array(column.branching, fill_array(edges, (len(edges),), object), np.float64)


def find_bins(array: Any, edges: Sequence[Any]) -> list[Any]:
    """Which records are in each bin; the last one has its end."""
    last = len(edges) - 2
    inside = []
    for place, (low, high) in enumerate(pairwise(edges)):
        below = array <= high if place == last else array < high
        inside.append((array >= low) & below)
    return inside


def has_edges_of_both(bins: Any) -> bool:
    """Whether bins are the edges of two axes, and not how many there are of them."""
    if isinstance(bins, (list, tuple)) and len(bins) == 2:
        return all(np.ndim(one) == 1 for one in bins)
    return np.ndim(bins) == 1 and len(bins) > 2


def bins_between(column: Any, array: Any, edges: list[Any], *, is_right: bool) -> Any:
    """``numpy.digitize``: below how many edges a record is not."""
    if not _are_rising(column, edges):
        column.refuse("numpy.digitize with released edges that may fall", "sort them first")
    above = [array > edge if is_right else array >= edge for edge in edges]
    return reduce(np.add, [one.astype(np.int64) for one in above])


@raises_as_numpy
def _raise_as_numpy() -> None:
    np.histogram(np.empty(0), np.array([1.0, 0.0]))


def _are_rising(column: Any, edges: list[Any]) -> bool:
    return all(_is_below(column, *pair) for pair in pairwise(edges))


def _is_below(column: Any, low: Any, high: Any) -> bool:
    """Whether an edge is not above the next one: always, or on this path."""
    ends = [find_ends(edge, column.answers) for edge in (low, high)]
    if ends[0] is not None and ends[1] is not None and ends[0][1] <= ends[1][0]:
        return True
    return bool(low <= high)
