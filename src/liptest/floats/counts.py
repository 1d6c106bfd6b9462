"""The exact law of rounded outputs as they are implemented: counts of grid points (I5).

An output that is a monotone function of one number drawn, piece by piece, changes at finitely many
floats, found by bisection. How many grid points lead to a number of at least such a float is known
but for a window, all of which is executed with the installed sampler.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from flint import arb

from liptest.balls import ball, precision
from liptest.floats.chains import FloatChain, Number
from liptest.floats.grid import GRID
from liptest.floats.impossible import MOST_POINTS, Entry, grid_source
from liptest.floats.samplers import Draw, find_middle, window

#: Different outputs that are counted; more are those of a number that is not rounded.
MOST_LEVELS = 2000
# No noise of these samplers is larger, in scales: it is a logarithm of 2**-53 at most.
_REACH = 40.0
_BITS = 160
# Records that all real runs of one comparison read.
_READ, _FEWEST = 2_000_000, 2


def runs_over(records: int, most: int) -> int:
    """How many of so many runs are made: over many records fewer, over any a few."""
    return max(_FEWEST, min(most, _READ // max(1, records)))


@dataclass(frozen=True)
class Condition:
    """That a chain compares so with a number: "<", "<=", ">", ">=", "==" or "!="."""

    chain: FloatChain
    comparison: str
    bound: float


@dataclass(frozen=True)
class OutputPiece:
    """An output where conditions hold: a constant, or one draw and what was done with it."""

    output: Entry
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class CountedLaw:
    """How many of ``total`` grid points lead to each output."""

    counts: dict[Number, int]
    total: int


class NotCounted(Exception):
    """The outputs are not steps of one number drawn, or too many; with the reason."""


def count_outputs(pieces: Sequence[OutputPiece], most: int = MOST_LEVELS) -> CountedLaw:
    """The law of an output with such pieces, one of which holds for each number drawn."""
    draw = _only_draw(pieces)
    levels = [
        level
        for piece in pieces
        for low, high in _where(piece, draw)
        for level in islice(_levels(piece.output, low, high), most + 1)
    ]
    if len(levels) > most:
        raise NotCounted(f"more than {most:,} different outputs")
    counter = _Counter(draw)
    counts: dict[Number, int] = {}
    for output, first, last in levels:
        count = counter.between(first, last)
        if count:
            counts[output] = counts.get(output, 0) + count
    if sum(counts.values()) != counter.total:
        raise NotCounted("its paths do not add up")
    return CountedLaw(counts, counter.total)


def find_output(pieces: Sequence[OutputPiece], generator: Any) -> Number | None:
    """The output that the pieces give for what a real generator draws; None where none holds."""
    drawn = _only_draw(pieces).run(generator)
    for piece in pieces:
        if all(holds(condition, drawn) for condition in piece.conditions):
            output = piece.output
            return output.finished(drawn) if isinstance(output, FloatChain) else output
    return None


def holds(condition: Condition, drawn: Number) -> bool:
    """Whether a comparison comes out so for a number drawn."""
    is_met: bool = _COMPARED[condition.comparison](condition.chain.finished(drawn), condition.bound)
    return is_met


_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _only_draw(pieces: Sequence[OutputPiece]) -> Draw:
    chains = [piece.output for piece in pieces if isinstance(piece.output, FloatChain)]
    chains += [condition.chain for piece in pieces for condition in piece.conditions]
    draws = {chain.draw for chain in chains}
    if len(draws) != 1:
        raise NotCounted("several draws, or none, lead to an output")
    if not all(chain.is_plain for chain in chains):
        raise NotCounted("its numbers are too large for floats")
    if any(chain.has_logarithms for chain in chains):
        raise NotCounted("libraries may round its logarithms otherwise than in their order")
    answered = [piece.output for piece in pieces if isinstance(piece.output, FloatChain)]
    if any(not any(step.is_rounding for step in chain.steps) for chain in answered):
        raise NotCounted("its outputs are not rounded")
    [draw] = draws
    if draw.sampler() is None:
        raise NotCounted(f"{draw.origin}.{draw.method} is not inverted")
    return draw


Span = tuple[float, float]


def _where(piece: OutputPiece, draw: Draw) -> list[Span]:
    """Where all conditions hold, as spans of the number drawn, ends included."""
    reach = abs(draw.loc) + _REACH * draw.scale
    spans = [(-reach, reach)]
    for condition in piece.conditions:
        spans = [kept for span in spans for kept in _keep(condition, span)]
    return spans


def _keep(condition: Condition, span: Span) -> Iterator[Span]:
    """The parts of a span in which a condition holds."""
    run, bound = condition.chain.finished, condition.bound
    rising = condition.chain.is_rising
    at_least = lambda drawn: (run(drawn) >= bound) is rising  # noqa: E731
    above = lambda drawn: (run(drawn) > bound) is rising  # noqa: E731
    # Rising: below the bound, equal to it, above it. Falling: the other way round.
    turns = [_first(at_least, *span), _first(above, *span)]
    turns.sort()
    parts = [
        (span[0], math.nextafter(turns[0], -math.inf)),
        (turns[0], math.nextafter(turns[1], -math.inf)),
        (turns[1], span[1]),
    ]
    signs = "<=>" if rising else ">=<"
    for sign, (low, high) in zip(signs, parts, strict=True):
        if sign in _SIGNS[condition.comparison] and low <= high:
            yield low, high


# In which of the three cases a comparison holds.
_SIGNS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}


def _levels(output: Entry, low: float, high: float) -> Iterator[tuple[Number, float, float]]:
    """The outputs between two numbers drawn, each with the first and the last of its numbers."""
    if not isinstance(output, FloatChain):
        yield output, low, high
        return
    while low <= high:
        here = output.finished(low)
        last = _last(lambda drawn: output.finished(drawn) == here, low, high)  # noqa: B023
        yield here, low, last
        low = math.nextafter(last, math.inf)


def _first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The first float of a span from where on it holds; the one after the span for none."""
    first, end = _place(low), _place(high) + 1
    while first < end:
        middle = (first + end) // 2
        if holds(_float_at(middle)):
            end = middle
        else:
            first = middle + 1
    return _float_at(first)


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last float of a span up to which it holds; it does at the first."""
    turn = _first(lambda drawn: not holds(drawn), low, high)
    return math.nextafter(turn, -math.inf)


def _place(number: float) -> int:
    """Floats in their order as whole numbers; both zeros are one."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _float_at(place: int) -> float:
    size: float = struct.unpack("<d", struct.pack("<q", abs(place)))[0]
    return size if place >= 0 else -size


class _Counter:
    """Counts the grid points of a draw between two numbers."""

    def __init__(self, draw: Draw) -> None:
        sampler = draw.sampler()
        assert sampler is not None
        self._draw, self._first = draw, sampler.first
        self._rises = sampler.rises
        self._known: dict[float, int] = {}
        self.total = GRID - sampler.first

    def between(self, low: float, high: float) -> int:
        """How many lead to a number from one to another, both included."""
        return self.from_on(low) - self.from_on(math.nextafter(high, math.inf))

    def from_on(self, number: float) -> int:
        """How many lead to a number of at least this one."""
        count = self._known.get(number)
        if count is None:
            count = self._known[number] = self._count(number)
        return count

    def _count(self, number: float) -> int:
        below = math.nextafter(number, -math.inf)
        points = window(self._draw, (Fraction(below) + Fraction(number)) / 2, Fraction(number))
        if len(points) > MOST_POINTS:
            raise NotCounted("the grid is too fine there")
        source, run = grid_source(self._draw.origin), self._draw.run
        inside = sum(run(source.at(point)) >= number for point in points)
        if self._rises:
            return inside + GRID - max(points.stop, self._first)
        return inside + max(min(points.start, GRID) - self._first, 0)


def loss_between(left: CountedLaw, right: CountedLaw) -> tuple[arb, Number | None]:
    """The largest log ratio of two laws, either way, and the output that has it."""
    worst, where = Fraction(1), None
    for output in dict.fromkeys((*left.counts, *right.counts)):
        share = Fraction(left.counts.get(output, 0), left.total)
        other = Fraction(right.counts.get(output, 0), right.total)
        if not (share and other):
            return arb("inf"), output
        ratio = max(share / other, other / share)
        if ratio > worst:
            worst, where = ratio, output
    with precision(_BITS):
        return ball(worst).log(), where


def delta_between(left: CountedLaw, right: CountedLaw, factor: Fraction) -> Fraction:
    """The least delta with which, for e^epsilon = ``factor``, both directions hold."""
    return max(_excess(left, right, factor), _excess(right, left, factor))


def _excess(left: CountedLaw, right: CountedLaw, factor: Fraction) -> Fraction:
    excess = Fraction(0)
    for output, count in left.counts.items():
        part = Fraction(count, left.total)
        excess += max(
            Fraction(0), part - factor * Fraction(right.counts.get(output, 0), right.total)
        )
    return excess


def bounds_of_exp(epsilon: Any) -> tuple[Fraction, Fraction]:
    """Rationals around e^epsilon."""
    with precision(_BITS):
        ball = epsilon.exp()
        return find_middle(ball.lower()), find_middle(ball.upper())
