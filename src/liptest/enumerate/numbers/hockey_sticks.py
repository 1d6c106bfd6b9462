"""Two laws with continuous outputs for delta > 0: their hockey-stick divergence.

It is by how much one law exceeds e^epsilon times the other, and adds up over the descriptions of
the outputs. Of one description

* numbers of the same law on both sides cancel;
* of one number that differs the densities are compared: normal noise, also between two ends or of
  two scales, by the normal distribution function; Laplace, exponential and uniform noise, also
  where it was compared or mixed, by pieces;
* of several normal numbers that differ only the projection on the line between their centres
  counts, which is normal again.

The log of the ratio of two normal densities of different scales is a polynomial of degree 2 in the
number: one of them exceeds a multiple of the other between two numbers, or outside of them.

Everything else is refused. The outputs on which one law exceeds the other are the event that a
witness shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from liptest.balls import end_to_fraction, to_fmpq
from liptest.enumerate.numbers.bells import Bell, End, bell_excess
from liptest.enumerate.numbers.boxes import Ends, InBox
from liptest.enumerate.numbers.densities import (
    ContinuousLaw,
    Leaf,
    are_free_normal,
    find_densities,
    list_bells,
    require_whole,
    tell_ways_apart,
)
from liptest.enumerate.numbers.noise_outputs import replace_by
from liptest.errors import InputError, SymbolicError
from liptest.mechanisms.laws import Output
from liptest.symbolic.densities import excess

#: An output, or a set of them, with its probability on both sides.
Told = tuple[Output, arb, arb]


@dataclass(frozen=True)
class Beyond:
    """In the place of an output: those whose numbers have a weighted sum above a value."""

    skeleton: Output
    weights: tuple[Fraction, ...]
    low: Fraction

    def __repr__(self) -> str:
        parts = (f"{float(w):.6g} * x{k}" for k, w in enumerate(self.weights) if w)
        return f"{self.skeleton!r} with {' + '.join(parts)} above {float(self.low):.12g}"


@dataclass(frozen=True)
class DivergencePart:
    """What the outputs of one description add to the divergence, and where they do."""

    size: arb
    told: tuple[Told, ...]


def enclose_hockey_stick(left: ContinuousLaw, right: ContinuousLaw, epsilon: arb) -> arb:
    """A ball that contains the divergence, the larger one of both directions.

    Raises InputError where densities are not compared so, BudgetError for partial laws.
    """
    sides = [_size(divergence_parts(*pair, epsilon)) for pair in ((left, right), (right, left))]
    return sides[0].max(sides[1])


def distinguishing_event(left: ContinuousLaw, right: ContinuousLaw, epsilon: arb) -> list[Told]:
    """The outputs of the larger divergence; the probability on the left side comes first."""
    forwards, backwards = (
        list(divergence_parts(*pair, epsilon)) for pair in ((left, right), (right, left))
    )
    if _size(forwards).lower() >= _size(backwards).lower():
        return [told for part in forwards for told in part.told]
    return [(output, q, p) for part in backwards for output, p, q in part.told]


def _size(parts: Any) -> arb:
    return sum((part.size for part in parts), arb(0))


def divergence_parts(
    left: ContinuousLaw, right: ContinuousLaw, epsilon: arb
) -> Iterator[DivergencePart]:
    """Of the outputs of each description that the left law has."""
    require_whole(left, right)
    left, right = tell_ways_apart(left, right)
    factor = epsilon.exp()
    for skeleton, leaves in left.leaves.items():
        others = right.leaves.get(skeleton)
        if others is None:
            yield _whole(left, right, skeleton, left.mass(skeleton))
        elif len(leaves) == len(others) == 1:
            yield _of_one_way(left, right, skeleton, factor)
        else:
            yield _of_several_ways(left, right, skeleton, factor)


def _whole(
    left: ContinuousLaw, right: ContinuousLaw, skeleton: Output, size: arb
) -> DivergencePart:
    """All outputs of a description, where their gap is certain."""
    leaves = (*left.leaves.get(skeleton, ()), *right.leaves.get(skeleton, ()))
    everything: tuple[Ends, ...] = ((None, None),) * len(leaves[0].leaf.forms)
    event = replace_by(skeleton, everything), left.mass(skeleton), right.mass(skeleton)
    return DivergencePart(size, (event,) if size > 0 else ())


def _of_one_way(
    left: ContinuousLaw, right: ContinuousLaw, skeleton: Output, factor: arb
) -> DivergencePart:
    one, other = left.leaves[skeleton][0], right.leaves[skeleton][0]
    pairs = list(zip(one.numbers, other.numbers, strict=True))
    differing = [place for place, (x, y) in enumerate(pairs) if not x.is_like(y)]
    if not differing:
        gap = one.mass - factor * other.mass
        return _whole(left, right, skeleton, gap.max(arb(0)))
    moved = [pairs[place] for place in differing]
    is_cut = isinstance(skeleton, InBox) and len(moved) > 1  # an event is a box or a half-space
    if all(are_free_normal(x, y) for x, y in moved) and not is_cut:
        return _of_normal(left, right, skeleton, factor, differing)
    if len(moved) == 1 and (part := _of_bells(left, right, skeleton, factor, differing[0])):
        return part
    if len(moved) == 1 and (part := _of_scales(left, right, skeleton, factor, differing[0])):
        return part
    if len(moved) > 1:
        raise not_compared("several numbers of an output that differ, not all of them normal")
    return _of_densities(left, right, skeleton, factor, differing[0])


def _of_several_ways(
    left: ContinuousLaw, right: ContinuousLaw, skeleton: Output, factor: arb
) -> DivergencePart:
    leaves = (*left.leaves[skeleton], *right.leaves[skeleton])
    count = len(leaves[0].leaf.forms)
    if count > 1:
        raise not_compared("outputs of several numbers that the code comes to in several ways")
    if not count:
        gap = left.mass(skeleton) - factor * right.mass(skeleton)
        return _whole(left, right, skeleton, gap.max(arb(0)))
    part = _of_bells(left, right, skeleton, factor, 0)
    return part or _of_densities(left, right, skeleton, factor, 0)


def _of_normal(
    left: ContinuousLaw,
    right: ContinuousLaw,
    skeleton: Output,
    factor: arb,
    differing: list[int],
) -> DivergencePart:
    """Along the line between the two centres: standard normal laws at distance d from each other.

    The event is s > t for the projection s, where ln of the ratio of the densities is
    s - (its middle) and d is its standard deviation.
    """
    one, other = left.leaves[skeleton][0], right.leaves[skeleton][0]
    weights, centres, square = [Fraction(0)] * len(one.numbers), [Fraction(0)] * 2, Fraction(0)
    for place in differing:
        x, y = one.numbers[place], other.numbers[place]
        weights[place] = (x.constant - y.constant) / x.scale**2
        centres[0] += weights[place] * x.constant
        centres[1] += weights[place] * y.constant
        square += weights[place] * (x.constant - y.constant)
    distance = arb(to_fmpq(square)).sqrt()
    middle = arb(to_fmpq((centres[0] + centres[1]) / 2))
    turn = middle + (factor * other.mass / one.mass).log()
    if not turn.is_finite():
        raise SymbolicError("epsilon is too large for the divergence of two densities")
    p, q = _beyond(one, other, centres, distance, turn)
    low = Fraction(float(turn.mid()))
    event = _tell_normal(skeleton, weights, differing, low)
    return DivergencePart(
        (p - factor * q).max(arb(0)),
        ((event, *_beyond(one, other, centres, distance, arb(to_fmpq(low)))),),
    )


def _of_bells(
    left: ContinuousLaw, right: ContinuousLaw, skeleton: Output, factor: arb, place: int
) -> DivergencePart | None:
    """Of normal noise between ends, of which several ways may tell; None for other numbers."""
    one, other = (
        list_bells([(leaf.numbers[place], leaf.mass * by) for leaf in law.leaves[skeleton]])
        for law, by in ((left, arb(1)), (right, factor))
    )
    excess = bell_excess(one, other) if one and other else None
    if excess is None:
        return None
    return _find_told_between(left, right, skeleton, place, *excess)


def _of_scales(
    left: ContinuousLaw, right: ContinuousLaw, skeleton: Output, factor: arb, place: int
) -> DivergencePart | None:
    """Of whole normal noise of two scales; None for other numbers."""
    leaves = [law.leaves[skeleton][0] for law in (left, right)]
    one, other = (leaf.numbers[place].bell() for leaf in leaves)
    if one is None or other is None or one.scale == other.scale:
        return None
    if any(end is not None for bell in (one, other) for end in (bell.low, bell.high)):
        return None
    excess = find_scaled_excess(one, other, leaves[0].mass, factor * leaves[1].mass)
    return _find_told_between(left, right, skeleton, place, *excess)


def _find_told_between(
    left: ContinuousLaw,
    right: ContinuousLaw,
    skeleton: Output,
    place: int,
    size: arb,
    intervals: Any,
) -> DivergencePart:
    """The outputs of which one number is in some intervals."""
    events = []
    for ends in intervals:
        every: list[Ends] = [(None, None)] * len(left.leaves[skeleton][0].numbers)
        every[place] = ends
        p, q = (law.probability(skeleton, tuple(every)) for law in (left, right))
        events.append((replace_by(skeleton, tuple(every)), p, q))
    return DivergencePart(size, tuple(events))


def _beyond(
    one: Leaf, other: Leaf, centres: list[Fraction], distance: arb, turn: arb
) -> tuple[arb, arb]:
    p, q = (
        leaf.mass * _above((turn - arb(to_fmpq(centre))) / distance)
        for leaf, centre in zip((one, other), centres, strict=True)
    )
    return p, q


def _above(z: arb) -> arb:
    """That a standard normal number is above z."""
    return (z / arb(2).sqrt()).erfc() / 2


def _tell_normal(
    skeleton: Output, weights: list[Fraction], differing: list[int], low: Fraction
) -> Output:
    if len(differing) > 1:
        return Beyond(skeleton, tuple(weights), low)
    ends: list[Ends] = [(None, None)] * len(weights)
    weight = weights[differing[0]]
    end = low / weight
    ends[differing[0]] = (end, None) if weight > 0 else (None, end)
    return replace_by(skeleton, tuple(ends))


def _of_densities(
    left: ContinuousLaw, right: ContinuousLaw, skeleton: Output, factor: arb, place: int
) -> DivergencePart:
    """Of one number, through the pieces of its densities."""
    one, other = (
        [(leaf.numbers[place], leaf.mass) for leaf in law.leaves[skeleton]] for law in (left, right)
    )
    odd_use = "compared, mixed or scaled by the data"
    rates, above, below = find_densities(one, other, not_compared, odd_use)
    surplus = excess(rates, above, below, factor)
    where = [(end_to_fraction(low), end_to_fraction(high)) for low, high in surplus.where]
    return _find_told_between(left, right, skeleton, place, surplus.size.max(arb(0)), where)


def not_compared(what: str) -> InputError:
    """The error for what is compared for delta = 0 only."""
    return InputError(
        f"delta: {what}: compared for delta = 0 only; round the output, or sample the mechanism "
        f"with lt.check_samples",
        name="delta",
    )


def find_scaled_excess(
    one: Bell, other: Bell, weight: arb, factor: arb
) -> tuple[arb, list[tuple[End, End]]]:
    """By how much ``weight`` times a normal law exceeds ``factor`` times another, and where.

    Both are whole, and their scales differ.
    """
    turns = _turns(one, other, weight, factor)
    if turns is None and one.scale < other.scale:
        return arb(0), []
    if turns is None:
        return (weight - factor).max(arb(0)), [(None, None)]
    low, high = turns
    inside = [bell.between(low, high) for bell in (one, other)]
    if one.scale > other.scale:
        inside = [bell.between(None, low) + bell.between(high, None) for bell in (one, other)]
    # Where it is not known whether there are turns the excess may be 0, and its ball holds 0.
    size = weight * inside[0] - factor * inside[1]
    ends = [Fraction(float(turn.mid())) for turn in (low, high)]
    where: list[tuple[End, End]] = [(ends[0], ends[1])]
    if one.scale > other.scale:
        where = [(None, ends[0]), (ends[1], None)]
    return size.max(arb(0)), where


def _turns(one: Bell, other: Bell, weight: arb, factor: arb) -> tuple[arb, arb] | None:
    """Where both densities are equal; None where the narrower one is the smaller one everywhere."""
    widths = [arb(to_fmpq(bell.scale)) for bell in (one, other)]
    centres = [arb(to_fmpq(bell.centre)) for bell in (one, other)]
    # The log of the ratio is square * x^2 + slope * x + level.
    halves = [1 / (2 * width * width) for width in widths]
    square = halves[1] - halves[0]
    slope = 2 * (centres[0] * halves[0] - centres[1] * halves[1])
    level = centres[1] ** 2 * halves[1] - centres[0] ** 2 * halves[0]
    level += (weight * widths[1] / (factor * widths[0])).log()
    inner = slope * slope - 4 * square * level
    if not inner.is_finite():
        raise SymbolicError("epsilon is too large for the divergence of two densities")
    if inner < 0:
        return None
    # A ball that holds 0: the turns are nearly one, and the root is at most that of its upper end.
    root = inner.sqrt() if inner > 0 else _from_zero(inner.upper().sqrt())
    turns = [(-slope - root) / (2 * square), (-slope + root) / (2 * square)]
    return (turns[0], turns[1]) if square > 0 else (turns[1], turns[0])


def _from_zero(end: arb) -> arb:
    return arb(0).union(end)
