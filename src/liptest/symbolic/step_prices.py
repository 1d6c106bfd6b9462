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
from functools import reduce
from itertools import pairwise

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
        return _Cost(pure, square, self._dearer_move(other))

    def either(self, other: _Cost) -> _Cost:
        """Of two groups, of which a record is in one."""
        pure, square = max(self.pure, other.pure), max(self.square, other.square)
        return _Cost(pure, square, self._dearer_move(other))

    def _dearer_move(self, other: _Cost) -> Move:
        is_dearer = (self.square, self.pure) >= (other.square, other.pure)
        return (self if is_dearer else other).move


@dataclass(frozen=True)
class _OfPlaces:
    """What groups of some places of an order cost, where a record is replaced, or missing."""

    share: Fraction
    replaced: _Cost
    missing: _Cost

    def plus(self, other: _OfPlaces) -> _OfPlaces:
        """With other groups that a record may be in, too."""
        replaced, missing = self.replaced.plus(other.replaced), self.missing.plus(other.missing)
        return _OfPlaces(max(self.share, other.share), replaced, missing)

    def either(self, other: _OfPlaces) -> _OfPlaces:
        """Of these groups and others, of which a record is in one."""
        replaced = self.replaced.either(other.replaced)
        missing = self.missing.either(other.missing)
        return _OfPlaces(max(self.share, other.share), replaced, missing)


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
    every = range(len(paths))
    # Of all records the largest sum of a path counts, of samples the largest of each group.
    scopes = [every] if answers.has_samples else [[place] for place in every]
    totals: dict[int | None, _OfPlaces] = {}
    for places in scopes:
        found = _price_groups(groups, paths, places)
        if found is None:
            return Price(None, delta, why=NO_SHIFT)
        for order, total in found.items():
            totals[order] = totals[order].either(total) if order in totals else total
    return _join(list(totals.values()), delta)


def _price_groups(
    groups: Sequence[_Group], paths: Sequence[AlignedPath], places: Sequence[int]
) -> dict[int | None, _OfPlaces] | None:
    """By order of a sample what its groups cost on the paths at some places; None for no shift."""
    by_order: dict[int | None, dict[range | None, _OfPlaces]] = {}
    for group in groups:
        moves = group.moves
        of_order = by_order.setdefault(moves.order, {})
        own_paths = [(paths[place], group.blocks[place]) for place in places]
        costs = [_dearest(own_paths, side) for side in (moves.replaced, moves.missing)]
        if costs[0] is None or costs[1] is None:
            return None
        own = _OfPlaces(moves.share, costs[0], costs[1])
        known = of_order.get(moves.places)
        of_order[moves.places] = own if known is None else known.plus(own)
    return {order: _join_places(of_order) for order, of_order in by_order.items()}


def _join_places(of_order: dict[range | None, _OfPlaces]) -> _OfPlaces:
    """Of all places of one order: where they are apart, a record is at some of them only."""
    join = _OfPlaces.either if _are_apart(list(of_order)) else _OfPlaces.plus
    return reduce(join, of_order.values())


def _are_apart(places: Sequence[range | None]) -> bool:
    """Whether no place is in two of several stretches; False where that is not seen."""
    stretches = [one for one in places if one is not None and abs(one.step) == 1 and len(one)]
    if len(stretches) < len(places):
        return False
    ends = sorted((min(one[0], one[-1]), max(one[0], one[-1])) for one in stretches)
    return all(before[1] < after[0] for before, after in pairwise(ends))


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
    every: Iterable[tuple[AlignedPath, Sequence[Block]]], differences: Differences
) -> _Cost | None:
    """Of a group on all paths, each kind of noise at its worst; None for no shift."""
    pure, shift = _ZERO, _ZERO
    at: Move = ()
    for path, blocks in every:
        if not blocks:  # nothing of the group is told here
            continue
        priced, normal = split_blocks(path, blocks)
        total = price_blocks(priced, differences)
        if total.price is None:
            return None
        own, move = largest_normal_shift(NormalSums(normal), differences)
        at = move if own > shift else total.move if total.price > pure else at
        pure, shift = max(pure, total.price), max(shift, own)
    return _Cost(pure, shift**2, at)


def _join(totals: Sequence[_OfPlaces], delta: Fraction) -> Price:
    losses = list(map(_make_loss, _join_whole(totals)))
    shift = max((max(loss.shift, loss.shift_missing) for loss in losses), default=_ZERO)
    if shift and not delta:
        return Price(None, delta, why="normal noise has no epsilon at delta 0")
    proved = [] if shift else [_add_up(losses)]
    if delta and len(losses) == 1 and shift and losses[0].share >= 1:
        composed = normal_epsilon(losses[0].shift, delta, losses[0].pure)
    else:
        composed = compose_losses(losses, delta) if delta else None
    proved += [composed] if composed is not None else []
    why = "" if proved else "no epsilon is proved for all steps together"
    costs = (total.replaced for total in totals)
    at = max(costs, key=lambda cost: (cost.square, cost.pure), default=_Cost()).move
    return Price(min(proved, default=None), delta, move=at, shifts=_say(losses, shift), why=why)


def _join_whole(totals: Sequence[_OfPlaces]) -> list[_OfPlaces]:
    """Those of samples, and one of all that is told of all records."""
    sampled = [total for total in totals if total.share < 1]
    whole = [total for total in totals if total.share >= 1]
    return [*sampled, reduce(_OfPlaces.plus, whole)] if whole else sampled


def _make_loss(total: _OfPlaces) -> SampledLoss:
    replaced, missing = total.replaced, total.missing
    shifts = root_above(replaced.square), root_above(missing.square)
    return SampledLoss(total.share, replaced.pure, shifts[0], missing.pure, shifts[1])


def _say(losses: Sequence[SampledLoss], shift: Fraction) -> tuple[str, ...]:
    shares = [float(loss.share) for loss in losses if loss.share < 1]
    noise = f"normal noise by up to {float(shift):.6g} standard deviations" if shift else "noise"
    if not shares:
        return (noise,) if shift else ()
    each = "a random sample" if len(shares) == 1 else f"each of {len(shares)} random samples"
    return (f"{noise} in {each} of a share of up to {max(shares):.4g}",)


def _add_up(losses: Sequence[SampledLoss]) -> Fraction:
    """Of samples without normal noise."""
    pure = ((max(loss.pure, loss.pure_missing), loss.share) for loss in losses)
    return sum((amplify_loss(epsilon, share) for epsilon, share in pure), _ZERO)


def amplify_loss(epsilon: Fraction, share: Fraction) -> Fraction:
    """What a loss given a sample, of such a share at most, is without it, rounded up (S11)."""
    if share >= 1 or epsilon > _LARGEST:
        return epsilon
    return Fraction(math.log1p(float(share) * math.expm1(epsilon))) * (1 + _NEAR)
