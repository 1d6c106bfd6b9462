"""Sums of answers and fresh noise: by how much neighbours move all of them, whatever is claimed.

As in ``direct_sums`` the program is post-processing of the sums. What a difference moves is told by
three numbers, from which every notion of privacy is bounded (docs/theory/size.md, S12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from liptest.symbolic.alignment import words_of_shifts
from liptest.symbolic.answers import (
    AlignedPath,
    Answer,
    Differences,
    ManyDifferences,
    Move,
    subtract_moves,
)
from liptest.symbolic.block_prices import BlockPrice, price_blocks
from liptest.symbolic.direct_sums import (
    NO_SHIFT,
    NormalSums,
    ReleasedSums,
    few_moves,
    find_released_sums,
    largest_normal_shift,
    largest_square,
)
from liptest.symbolic.path_programs import Block

_ZERO = Fraction(0)


@dataclass(frozen=True)
class JointShift:
    """What neighbours move at most.

    Parameters
    ----------
    square
        Of the length of the shifts of normal noise, in standard deviations.
    laplace
        Shifts of variables with Laplace noise, in scales, one for each.
    loss
        The largest log ratio, in both orders, of all other noise together.
    are_independent
        Whether these parts are: then a path is the only one.
    move
        Of the answers.
    words
        The shifts, for people.
    """

    square: Fraction = _ZERO
    laplace: tuple[Fraction, ...] = ()
    loss: Fraction = _ZERO
    are_independent: bool = True
    move: Move = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoJointShift:
    """Why there are no such numbers."""

    why: str


def find_joint_shifts(
    paths: Sequence[AlignedPath], differences: Differences | ManyDifferences
) -> list[JointShift] | NoJointShift:
    """What each difference of neighbours moves; of many differences one bound for all.

    Paths have no conditions: which of several is taken depends on random choices and on what was
    released before.
    """
    if isinstance(differences, ManyDifferences):
        return _of_many(paths, differences)
    sums = find_released_sums(paths, (differences,))
    if not isinstance(sums, list):
        return NoJointShift(sums.why)
    moves = few_moves(sums, differences)
    if moves is None:
        shift = _of_all(sums, differences)
        return shift if isinstance(shift, NoJointShift) else [shift]
    listed = []
    for move in moves:
        here = _at(sums, differences.size, move)
        if isinstance(here, NoJointShift):
            return here
        listed.append(here)
    return listed or [JointShift()]


def _at(found: Sequence[ReleasedSums], size: int, move: Move) -> JointShift | NoJointShift:
    """The price of one difference, and of its opposite."""
    square = max(path_sums.normal.square(move) for path_sums in found)
    words = _words(found[0].path, square)
    if len(found) > 1:
        loss = _largest_loss([path_sums.pure for path_sums in found], size, move)
        if loss is None:
            return NoJointShift(NO_SHIFT)
        return JointShift(square, (), loss, False, move, words)
    (path_sums,) = found
    laplace = tuple(
        price
        for block in path_sums.pure
        if _is_laplace(path_sums.path, block) and (price := _at_move(block, move))
    )
    others = [block for block in path_sums.pure if not _is_laplace(path_sums.path, block)]
    loss = _largest_loss([others], size, move)
    if loss is None:
        return NoJointShift(NO_SHIFT)
    here = Differences(size, (move,), "listed")
    words += words_of_shifts(path_sums.path, price_blocks(path_sums.pure, here).parts)
    return JointShift(square, laplace, loss, True, move, words)


def _of_all(found: Sequence[ReleasedSums], differences: Differences) -> JointShift | NoJointShift:
    """Each kind of noise at its own worst."""
    totals = [price_blocks(path_sums.pure, differences) for path_sums in found]
    losses = [total.price for total in totals if total.price is not None]
    if len(losses) < len(totals):
        return NoJointShift(NO_SHIFT)
    square, move = max(_square(path_sums.normal, differences) for path_sums in found)
    words = _words(found[0].path, square)
    return JointShift(square, (), max(losses), len(found) == 1, move or totals[0].move, words)


def _of_many(
    paths: Sequence[AlignedPath], many: ManyDifferences
) -> list[JointShift] | NoJointShift:
    released = find_released_sums(paths, [part for _, part in many.parts])
    if not isinstance(released, list):
        return NoJointShift(released.why)
    length, loss = _ZERO, _ZERO
    for times, part in many.parts:
        shift = _of_all(released, part)
        if isinstance(shift, NoJointShift):
            return shift
        length += times * max(largest_normal_shift(sums.normal, part)[0] for sums in released)
        loss += times * shift.loss
    square = length**2
    return [JointShift(square, (), loss, len(released) == 1, (), _words(released[0].path, square))]


def _square(normal: NormalSums, differences: Differences) -> tuple[Fraction, Move]:
    if not differences.box:
        return largest_square(normal, differences)
    length, move = largest_normal_shift(normal, differences)
    return length**2, move


def _largest_loss(paths: Sequence[Sequence[Block]], size: int, move: Move) -> Fraction | None:
    """Of all paths, for a difference and its opposite."""
    both = [Differences(size, (side,), "listed") for side in (move, subtract_moves((), move))]
    prices = [price_blocks(blocks, side).price for blocks in paths for side in both]
    losses = [price for price in prices if price is not None]
    return max(losses) if len(losses) == len(prices) else None


def _at_move(block: Block, move: Move) -> Fraction | None:
    return BlockPrice(block).price_at(dict(move))


def _is_laplace(path: AlignedPath, block: Block) -> bool:
    """Whether it is a sum with one variable of Laplace noise, and nothing else."""
    if len(block.equations) != 1 or block.conditions or len(block.costs) != 1:
        return False
    ((variable, _),) = block.costs.items()
    noise = path.noises[variable]
    return not isinstance(noise, Answer) and noise.family == "laplace"


def _words(path: AlignedPath, square: Fraction) -> tuple[str, ...]:
    return (f"normal noise by {float(square) ** 0.5:.6g} standard deviations",) if square else ()
