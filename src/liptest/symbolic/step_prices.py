"""The price of a program in steps: groups of answers that are told by noise of their own.

What a record adds to one group says nothing of what it adds to another, so each group counts at its
own worst. Costs of pure noise add up, and so do squares of shifts of normal noise; groups of one
random sample are amplified together (docs/theory/size.md, S21).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from liptest.symbolic.alignment import Price, find_bare_move
from liptest.symbolic.answers import (
    AlignedPath,
    AnswersInGroups,
    AnswersOfSample,
    Differences,
    Move,
)
from liptest.symbolic.block_prices import price_blocks
from liptest.symbolic.direct_sums import (
    NO_SHIFT,
    NormalSums,
    largest_normal_shift,
    normal_epsilon,
    root_above,
    split_blocks,
)
from liptest.symbolic.loss_compositions import SampledLoss, compose_losses
from liptest.symbolic.path_programs import Block, RowReader, find_blocks

_ZERO = Fraction(0)
# Floats of exp and log are far less off than this, relatively.
_NEAR = Fraction(1, 1 << 45)
_LARGEST = 30


@dataclass
class _Group:
    """Answers in blocks of noise, by path."""

    moves: AnswersOfSample
    blocks: list[list[Block]]


@dataclass(frozen=True)
class _Cost:
    """What pure noise costs, and by what normal noise is shifted."""

    pure: Fraction = _ZERO
    square: Fraction = _ZERO
    #: Where that is taken, more or less.
    move: Move = ()

    def plus(self, other: _Cost) -> _Cost:
        """Of two groups, each at its own worst."""
        pure, square = self.pure + other.pure, self.square + other.square
        is_dearer = (self.square, self.pure) >= (other.square, other.pure)
        return _Cost(pure, square, (self if is_dearer else other).move)


def price_steps(
    paths: Sequence[AlignedPath], answers: AnswersInGroups, *, delta: Fraction
) -> Price:
    """The smallest epsilon that is proved at a delta, group by group.

    Paths have no conditions: which of several is taken depends on random choices and on what was
    released before. Epsilon is None where there is no proof.
    """
    if any(path.conditions for path in paths):
        return Price(None, delta, why="conditions")
    groups = _find_groups(paths, answers, delta)
    if isinstance(groups, Price):
        return groups
    totals: dict[int | None, tuple[Fraction, _Cost, _Cost]] = {}
    for group in groups:
        share, *before = totals.get(group.moves.order, (group.moves.share, _Cost(), _Cost()))
        costs = []
        for differences, total in zip(
            (group.moves.replaced, group.moves.missing), before, strict=True
        ):
            cost = _dearest(paths, group.blocks, differences)
            if cost is None:
                return Price(None, delta, why=NO_SHIFT)
            costs.append(total.plus(cost))
        totals[group.moves.order] = max(share, group.moves.share), costs[0], costs[1]
    return _join(list(totals.values()), delta)


def _find_groups(
    paths: Sequence[AlignedPath], answers: AnswersInGroups, delta: Fraction
) -> list[_Group] | Price:
    reader, every, bares = RowReader(), [], []
    for path in paths:
        blocks, conditions, equations = find_blocks(path, reader)
        every.append(blocks)
        bares.append((path, [*conditions, *equations]))
    sets = [block.answers for blocks in every for block in blocks]
    together = answers.split_answers(frozenset().union(*sets))
    groups = []
    for joined in _join_sets([*together, *sets]):
        moves = answers.moves_of(joined)
        if moves is None:
            return Price(None, delta, why="sums of different samples meet")
        own = [[block for block in blocks if block.answers & joined] for blocks in every]
        groups.append(_Group(moves, own))
    told = {i for path, rows in bares for row in rows for i, _ in row.answers}
    for answer in sorted(told):
        moves = answers.moves_of(frozenset((answer,)))
        if moves is None or any(
            find_bare_move(path, rows, differences) is not None
            for path, rows in bares
            for differences in (moves.replaced, moves.missing)
        ):
            return Price(None, delta, why="a sum is told without noise")
    return groups


def _join_sets(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """The sets, those that have something in common as one."""
    joined: list[frozenset[int]] = []
    for one in dict.fromkeys(sets):
        if one:
            met = [other for other in joined if other & one]
            joined = [other for other in joined if not other & one]
            joined.append(one.union(*met))
    return joined


def _dearest(
    paths: Sequence[AlignedPath], every: Sequence[Sequence[Block]], differences: Differences
) -> _Cost | None:
    """Of a group on all paths, each kind of noise at its worst; None for no shift."""
    pure, shift = _ZERO, _ZERO
    at: Move = ()
    for path, blocks in zip(paths, every, strict=True):
        priced, normal = split_blocks(path, blocks)
        total = price_blocks(priced, differences)
        if total.price is None:
            return None
        own, move = largest_normal_shift(NormalSums(normal), differences)
        at = move if own > shift else total.move if total.price > pure else at
        pure, shift = max(pure, total.price), max(shift, own)
    return _Cost(pure, shift**2, at)


def _join(totals: Sequence[tuple[Fraction, _Cost, _Cost]], delta: Fraction) -> Price:
    losses = [
        SampledLoss(
            share, cost.pure, root_above(cost.square), missing.pure, root_above(missing.square)
        )
        for share, cost, missing in totals
    ]
    shift = max((max(loss.shift, loss.shift_missing) for loss in losses), default=_ZERO)
    if shift and not delta:
        return Price(None, delta, why="normal noise has no epsilon at delta 0")
    by_sums = None if shift else sum(map(_amplify, losses), _ZERO)
    proved = [by_sums] if by_sums is not None else []
    if delta and len(losses) == 1 and shift and losses[0].share >= 1:
        composed = normal_epsilon(losses[0].shift, delta, losses[0].pure)
    else:
        composed = compose_losses(losses, delta) if delta else None
    proved += [composed] if composed is not None else []
    why = "" if proved else "no epsilon is proved for all steps together"
    costs = (cost for _, cost, _ in totals)
    at = max(costs, key=lambda cost: (cost.square, cost.pure), default=_Cost()).move
    return Price(min(proved, default=None), delta, move=at, shifts=_say(losses, shift), why=why)


def _say(losses: Sequence[SampledLoss], shift: Fraction) -> tuple[str, ...]:
    shares = [float(loss.share) for loss in losses if loss.share < 1]
    noise = f"normal noise by up to {float(shift):.6g} standard deviations" if shift else "noise"
    if not shares:
        return (noise,) if shift else ()
    each = "a random sample" if len(shares) == 1 else f"each of {len(shares)} random samples"
    return (f"{noise} in {each} of a share of up to {max(shares):.4g}",)


def _amplify(loss: SampledLoss) -> Fraction:
    """What a pure loss of a sample costs of the whole (S11)."""
    pure = max(loss.pure, loss.pure_missing)
    if loss.share >= 1 or pure > _LARGEST:
        return pure
    return Fraction(math.log1p(float(loss.share) * math.expm1(pure))) * (1 + _NEAR)
