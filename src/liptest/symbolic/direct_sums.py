"""Sums of answers and fresh noise, and all that is made of them: epsilon at a delta.

Where data reach a program only through such sums, the program is post-processing of them, and the
shifts are forced (docs/theory/size.md, S6). Laplace and its like cost an epsilon. Normal noise
costs a delta at an epsilon, by the closed form of Balle and Wang (2018) for the joint shift.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, ball, precision
from liptest.errors import InputError
from liptest.symbolic.alignment import Price, find_bare_move, words_of_shifts
from liptest.symbolic.answers import (
    AlignedPath,
    Answer,
    Differences,
    ManyDifferences,
    Move,
    subtract_moves,
)
from liptest.symbolic.block_prices import MOST_POINTS, price_blocks
from liptest.symbolic.farthest_points import find_farthest
from liptest.symbolic.forms import Rational
from liptest.symbolic.noise import Noise
from liptest.symbolic.path_programs import Block, Factors, RowReader, find_blocks
from liptest.symbolic.shifts import upper_end

# Differences at which both kinds of noise are looked at together.
_MOST_TOGETHER = 500
_MOST_PAIRS = 200_000
# Of more rows floats find which are far apart.
_FEW_ROWS = 32
# Halvings of an interval, and the largest epsilon that is looked for.
_HALVINGS = 80
_LARGEST = 1 << 20
NO_SHIFT = "no noise can be shifted so"
_ZERO = Fraction(0)


@dataclass(frozen=True)
class _Normal:
    """A sum of answers with normal noise of this variance."""

    answers: Factors
    variance: Fraction


class NormalSums:
    """Several of them; their noises are independent."""

    def __init__(self, sums: Sequence[_Normal]) -> None:
        self.sums = sums
        self.by_answer: dict[int, list[tuple[int, Rational]]] = {}
        for number, normal_sum in enumerate(sums):
            for i, factor in normal_sum.answers.items():
                self.by_answer.setdefault(i, []).append((number, factor))

    def shifts(self, move: Move) -> dict[int, Fraction]:
        """By how much a difference of the answers moves each sum."""
        shifts: dict[int, Fraction] = {}
        for i, by in move:
            for number, factor in self.by_answer.get(i, ()):
                shifts[number] = shifts.get(number, _ZERO) + factor * by
        return shifts

    def square(self, move: Move) -> Fraction:
        """Of the length of all shifts, in standard deviations."""
        shifts = self.shifts(move)
        parts = (shift**2 / self.sums[number].variance for number, shift in shifts.items())
        return sum(parts, _ZERO)

    def points(self, rows: Sequence[Move]) -> NDArray[np.float64]:
        """The shifts of rows in standard deviations, as floats; (rows, sums)."""
        made = np.zeros((len(rows), len(self.sums)))
        roots = [math.sqrt(one.variance) for one in self.sums]
        for place, row in enumerate(rows):
            for number, shift in self.shifts(row).items():
                made[place, number] = float(shift) / roots[number]
        return made

    def alone_of(self, balls: Sequence[tuple[frozenset[int], Fraction]]) -> list[frozenset[int]]:
        """Answers of a ball of which each is in sums without any other answer.

        The squares of these sums are those of single answers times factors, which are largest on
        an axis of the ball (tables, B7).
        """
        shared = {
            i for normal_sum in self.sums if len(normal_sum.answers) > 1 for i in normal_sum.answers
        }
        return [own for own, _ in balls if shared.isdisjoint(own)]

    def weights_of(self, answers: frozenset[int]) -> dict[int, Fraction] | None:
        """By answer what its square is multiplied with; None where sums have others beside."""
        weights: dict[int, Fraction] = {}
        for normal_sum in self.sums:
            if not answers.isdisjoint(normal_sum.answers):
                if len(normal_sum.answers) > 1:
                    return None
                [(i, factor)] = normal_sum.answers.items()
                weights[i] = weights.get(i, _ZERO) + Fraction(factor) ** 2 / normal_sum.variance
        return weights

    def without(self, answers: frozenset[int]) -> NormalSums:
        """The sums without any of these."""
        return NormalSums([one for one in self.sums if answers.isdisjoint(one.answers)])

    def are_one_sided(self, rows: Sequence[Move]) -> bool:
        """Whether no sum is above 0 for one row and below 0 for another."""
        signs = {
            (number, shift > 0)
            for row in rows
            for number, shift in self.shifts(row).items()
            if shift
        }
        return all((number, not side) not in signs for number, side in signs)


@dataclass(frozen=True)
class ReleasedSums:
    """What one path releases: sums whose noise has a price, or none, and those of normal noise."""

    path: AlignedPath
    pure: list[Block]
    normal: NormalSums


def price_direct_sums(
    released: AlignedPath | Sequence[AlignedPath],
    differences: Differences,
    *,
    delta: Rational = 0,
) -> Price:
    """The smallest epsilon that is proved at a delta for all that is made of the places released.

    Paths have no conditions: which of several is taken depends on random choices and on what was
    released before. Epsilon is None where there is no proof: a sum without noise, normal noise at
    delta 0, noise that is in several sums with others.
    """
    delta = _check(delta)
    sums = _price_sums(released, (differences,), delta)
    if isinstance(sums, Price):
        return sums
    if any(path_sums.normal.sums for path_sums in sums):
        return _with_normal(sums, differences, delta)
    return _dearest_pure(sums, differences, delta)


def price_many_sums(
    released: AlignedPath | Sequence[AlignedPath],
    many: ManyDifferences,
    *,
    delta: Rational = 0,
) -> Price:
    """``price_direct_sums`` for sums of differences, each part and each kind of noise at its worst.

    Shifts add up: of Laplace noise and its like the prices do, of normal noise the lengths (tables,
    B4).
    """
    delta = _check(delta)
    sums = _price_sums(released, [part for _, part in many.parts], delta)
    if isinstance(sums, Price):
        return sums
    total, shift = Price(_ZERO, delta), _ZERO
    for times, part in many.parts:
        pure = _dearest_pure(sums, part, delta)
        if pure.epsilon is None or total.epsilon is None:
            return pure
        total = replace(pure, epsilon=total.epsilon + times * pure.epsilon)
        shift += times * max(largest_normal_shift(path_sums.normal, part)[0] for path_sums in sums)
    return _mix(total, shift, (), delta)


def _check(delta: Rational) -> Fraction:
    if not 0 <= delta < 1:
        raise InputError(f"delta={delta} must be in [0, 1)", name="delta")
    return Fraction(delta)


def _price_sums(
    released: AlignedPath | Sequence[AlignedPath], parts: Sequence[Differences], delta: Fraction
) -> list[ReleasedSums] | Price:
    sums = find_released_sums(released, parts, delta)
    if isinstance(sums, Price) or delta:
        return sums
    normal = (number for number, path_sums in enumerate(sums) if path_sums.normal.sums)
    number = next(normal, None)
    if number is None:
        return sums
    return Price(None, delta, number, why="normal noise has no epsilon at delta 0")


def find_released_sums(
    released: AlignedPath | Sequence[AlignedPath],
    parts: Sequence[Differences],
    delta: Fraction = _ZERO,
) -> list[ReleasedSums] | Price:
    """What each path releases; where some of it has no noise, a price without epsilon, and why."""
    paths = [released] if isinstance(released, AlignedPath) else list(released)
    if not paths:
        raise InputError("released=() is not a program", name="released")
    sums = []
    reader = RowReader()
    for number, path in enumerate(paths):
        if path.conditions:
            raise InputError("direct sums have no conditions; use price_paths", name="released")
        blocks, _, bare = find_blocks(path, reader)
        for part in parts:
            seen = find_bare_move(path, bare, part)
            if seen is not None:
                return Price(None, delta, number, seen[0], why=seen[1])
        pure, normal = split_blocks(path, blocks)
        sums.append(ReleasedSums(path, pure, NormalSums(normal)))
    return sums


def _dearest_pure(
    found: Sequence[ReleasedSums], differences: Differences, delta: Fraction
) -> Price:
    prices = []
    for number, path_sums in enumerate(found):
        total = price_blocks(path_sums.pure, differences)
        if total.price is None:
            return Price(None, delta, number, total.move, why=NO_SHIFT)
        words = words_of_shifts(path_sums.path, total.parts)
        prices.append(Price(total.price, delta, number, total.move, words))
    return max(prices, key=lambda price: price.epsilon or 0)


def split_blocks(
    released: AlignedPath, blocks: Sequence[Block]
) -> tuple[list[Block], list[_Normal]]:
    """Blocks with a price, or without any, and sums with normal noise only."""
    pure, normal = [], []
    for block in blocks:
        noises = {v: released.noises[v] for v in block.costs}
        sums = None if block.conditions else _normal_sums(noises, block)
        if sums is None:
            pure.append(block)
        else:
            normal += sums
    return pure, normal


def _normal_sums(noises: Mapping[int, Noise | Answer], block: Block) -> list[_Normal] | None:
    """The sums of a block with normal noise alone, each less what the ones before tell of it.

    What is left of their noises is independent (Gram-Schmidt, in rationals). None for other noise,
    and where answers would be told without any (docs/theory/size.md, S6).
    """
    variances: dict[int, Fraction] = {}
    for v, noise in noises.items():
        if isinstance(noise, Answer) or noise.family != "normal":
            return None
        variances[v] = Fraction(noise.parameter) ** 2
    told: list[tuple[Factors, _Normal]] = []
    for row in block.equations:
        factors, answers = dict(row.noise), dict(row.answers)
        for before, one in told:
            shared = (factors[v] * by * variances[v] for v, by in before.items() if v in factors)
            share = sum(shared, _ZERO) / one.variance
            _subtract(factors, before, share)
            _subtract(answers, one.answers, share)
        variance = sum((by**2 * variances[v] for v, by in factors.items()), _ZERO)
        if variance:
            told.append((factors, _Normal(answers, variance)))
        elif answers:
            return None
    return [one for _, one in told]


def _subtract(terms: dict[int, Rational], other: Factors, times: Fraction) -> None:
    for i, by in other.items() if times else ():
        left = terms.get(i, 0) - times * by
        if left:
            terms[i] = left
        else:
            terms.pop(i, None)


def _with_normal(found: Sequence[ReleasedSums], differences: Differences, delta: Fraction) -> Price:
    """At each difference both kinds together where these are few, each at its worst else.

    Of each kind the dearest path counts, whether or not it is one path (S6).
    """
    moves = few_moves(found, differences)
    if moves is None:
        shift, at = max(largest_normal_shift(path_sums.normal, differences) for path_sums in found)
        pure = _dearest_pure(found, differences, delta)
        return _mix(pure, shift, at, delta)
    prices = [Price(Fraction(0), delta)]
    for move in moves:
        here = Differences(differences.size, (move,), "listed")
        pure = _dearest_pure(found, here, delta)
        shift = root_above(max(path_sums.normal.square(move) for path_sums in found))
        prices.append(_mix(pure, shift, move, delta))
        if prices[-1].epsilon is None:
            return prices[-1]
    return max(prices, key=lambda price: price.epsilon or 0)


def _mix(pure: Price, shift: Fraction, move: Move, delta: Fraction) -> Price:
    if pure.epsilon is None:
        return pure
    epsilon = normal_epsilon(shift, delta, pure.epsilon)
    why = f"no epsilon below {_LARGEST}" if epsilon is None else ""
    words = (f"normal noise by {float(shift):.6g} standard deviations",) if shift else ()
    return Price(epsilon, delta, pure.path, move or pure.move, (*words, *pure.shifts), why)


def few_moves(found: Sequence[ReleasedSums], differences: Differences) -> list[Move] | None:
    """All that matter: between a difference and its opposite both costs are smaller."""
    blocks = [block for path_sums in found for block in path_sums.pure]
    answers = {i for block in blocks for i in block.answers}
    answers |= {i for path_sums in found for i in path_sums.normal.by_answer}
    if differences.box or not differences.reals.isdisjoint(answers):
        return None
    if differences.spans and any(piece.shifts_whole_noise for piece in blocks):
        return None
    some = list(islice(differences.moves(answers), _MOST_TOGETHER + 1))
    return some if len(some) <= _MOST_TOGETHER else None


def largest_normal_shift(normal: NormalSums, differences: Differences) -> tuple[Fraction, Move]:
    """Of all sums together, in standard deviations, at most; and where, for moves without a box.

    Where products are summed up the least of what is known of them counts.
    """
    shift, at = _shift_of_moves(normal, differences)
    square = _ZERO
    for moments in differences.moments:
        weights = normal.weights_of(moments.answers)
        is_replaced = differences.relation != "added"
        own = None if weights is None else moments.square(weights, is_replaced=is_replaced)
        if weights and own is not None:
            square += (root_above(own) + root_above(moments.square_of_margins(weights))) ** 2
            normal = normal.without(moments.answers)
    if square and shift:
        others, _ = _shift_of_moves(normal, differences)
        shift = min(shift, root_above(others**2 + square))
    return shift, at


def _shift_of_moves(normal: NormalSums, differences: Differences) -> tuple[Fraction, Move]:
    """By the moves and the box; lengths of sums are no larger than sums of lengths."""
    core, box = differences.without_box(), differences.only_box()
    square, at = largest_square(normal, core)
    towards = {i: factor for normal_sum in normal.sums for i, factor in normal_sum.answers.items()}
    shift = root_above(square) + root_above(_largest_in_box(normal, box))
    if square and box.box:
        shift = min(shift, root_above(_apart_from_box(normal, core, box)))
    return shift, at or box.find_largest(towards)


def _apart_from_box(normal: NormalSums, core: Differences, box: Differences) -> Fraction:
    """The square where each sum that a box moves is at its own worst, and the others together."""
    boxed = [one for one in normal.sums if box.largest(one.answers)]
    others = NormalSums([one for one in normal.sums if not box.largest(one.answers)])
    square, _ = largest_square(others, core)
    for one in boxed:
        turned = {i: -factor for i, factor in one.answers.items()}
        move = max(Fraction(core.largest(side)) for side in (one.answers, turned))
        square += (move + Fraction(box.largest(one.answers))) ** 2 / one.variance
    return square


def largest_square(normal: NormalSums, core: Differences) -> tuple[Fraction, Move]:
    """Of the length of all shifts together, for differences without a box; and where."""
    core = core.on_balls(normal.alone_of(core.balls))
    rows = core.distinct_rows(normal.by_answer)
    best: tuple[Fraction, Move] = (_ZERO, ())
    if core.relation != "replaced":
        for move in rows:
            best = max(best, (normal.square(move), move))
        return best
    pairs = _find_far_rows(normal, rows) if len(rows) > _FEW_ROWS else None
    if pairs is not None:
        moves = (subtract_moves(rows[i], rows[j]) for i, j in pairs)
        return max(((normal.square(move), move) for move in moves), default=best)
    # Where no sum is above 0 for one row and below 0 for another, |w - v|^2 <= |w|^2 + |v|^2.
    times = 1 if normal.are_one_sided(rows) else 2
    order = sorted(((normal.square(row), row) for row in rows), reverse=True)
    tried = 0
    for above, left in order:
        for below, right in order:
            limit = times * (above + below)
            if limit <= best[0]:
                break
            if tried == _MOST_PAIRS:
                return max(best[0], times * 2 * order[0][0]), best[1]
            tried += 1
            move = subtract_moves(left, right)
            best = max(best, (normal.square(move), move))
    return best


def _find_far_rows(normal: NormalSums, rows: Sequence[Move]) -> list[tuple[int, int]] | None:
    """Pairs of rows, one of which has the largest shift; None where floats do not tell."""
    try:
        return find_farthest(normal.points(rows))
    except (OverflowError, ZeroDivisionError):
        return None


def _largest_in_box(normal: NormalSums, box: Differences) -> Fraction:
    """At a corner, for squares are convex; each sum at its own worst where corners are many."""
    corners = box.find_corners(normal.by_answer, MOST_POINTS)
    if corners is not None:
        return max(map(normal.square, corners))
    return sum(
        (
            Fraction(box.largest(normal_sum.answers)) ** 2 / normal_sum.variance
            for normal_sum in normal.sums
        ),
        _ZERO,
    )


def root_above(square: Fraction) -> Fraction:
    """The square root, rounded up."""
    if not square:
        return square
    with precision(CERTIFIED_BITS):
        return upper_end(ball(square).sqrt())


def normal_delta(shift: Fraction, epsilon: Fraction) -> arb:
    """The delta of normal noise whose mean moves by ``shift`` standard deviations, in a ball.

    Balle and Wang 2018: Phi(m/2 - e/m) - exp(e) Phi(-m/2 - e/m). For any real epsilon.
    """
    e, m = ball(epsilon), ball(shift)
    if not shift:
        return (1 - e.exp()).max(arb(0))
    root = arb(2).sqrt()
    upper, lower = ((e / m - m / 2) / root).erfc() / 2, ((e / m + m / 2) / root).erfc() / 2
    return upper - e.exp() * lower


@lru_cache(maxsize=1024)
def normal_epsilon(shift: Fraction, delta: Fraction, aside: Fraction) -> Fraction | None:
    """The smallest epsilon at a delta, at most, beside losses of ``aside``; None beyond 2**20.

    The law of the normal sums is compared at epsilon - aside (docs/theory/size.md, S6).
    """
    with precision(CERTIFIED_BITS):

        def holds(epsilon: Fraction) -> bool:
            needed = normal_delta(shift, epsilon - aside)
            return bool(needed <= ball(delta))

        low, high = Fraction(0), aside + 1
        if holds(low):
            return low
        while not holds(high):
            low, high = high, 2 * high
            if high > _LARGEST:
                return None
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high
