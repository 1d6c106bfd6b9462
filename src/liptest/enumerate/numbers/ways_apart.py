"""Ways to outputs of several numbers that the outputs tell apart (theory N11).

``first = a + noise``, then ``second = (b if first > 0 else c) + noise``: two ways, but an output
shows which of them was taken, by the sign of its first number. The numbers of each way lie in a box
of its own. Where boxes of one law do not meet, the density of an output is that of the one way in
whose box it lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from liptest.enumerate.numbers.boxes import Box, Ends, are_told_apart
from liptest.enumerate.numbers.densities import ContinuousLaw, Leaf
from liptest.enumerate.numbers.noise_outputs import replace_by
from liptest.mechanisms.laws import Output


@dataclass(frozen=True)
class InBox:
    """The outputs of one description whose numbers lie in a box."""

    skeleton: Output
    box: Box


def tell_ways_apart(
    left: ContinuousLaw, right: ContinuousLaw
) -> tuple[ContinuousLaw, ContinuousLaw]:
    """Both laws, with a description for each box of ways that the outputs tell apart."""
    apart = [
        skeleton
        for skeleton in dict.fromkeys((*left.leaves, *right.leaves))
        if _are_apart(left.leaves.get(skeleton, []), right.leaves.get(skeleton, []))
    ]
    if not apart:
        return left, right
    return _by_boxes(left, apart), _by_boxes(right, apart)


def _are_apart(left: list[Leaf], right: list[Leaf]) -> bool:
    if len(left) < 2 and len(right) < 2:
        return False
    return are_told_apart(*([leaf.box for leaf in side] for side in (left, right)))


def _by_boxes(law: ContinuousLaw, apart: list[Output]) -> ContinuousLaw:
    leaves: dict[Output, list[Leaf]] = {}
    for skeleton, ways in law.leaves.items():
        if skeleton not in apart:
            leaves[skeleton] = ways
            continue
        for leaf in ways:
            assert leaf.box is not None
            leaves[InBox(skeleton, leaf.box)] = [leaf]
    return law.with_leaves(leaves)


def describe(skeleton: Output, ends: Box) -> Output:
    """A description of outputs with an interval for each number, in the box of their way."""
    if not isinstance(skeleton, InBox):
        return replace_by(skeleton, ends)
    return replace_by(skeleton.skeleton, tuple(_cut(skeleton.box, ends)))


def _cut(box: Box, ends: Box) -> Iterator[Ends]:
    for (low, high), (inner_low, inner_high) in zip(box, ends, strict=True):
        lows = [end for end in (low, inner_low) if end is not None]
        highs = [end for end in (high, inner_high) if end is not None]
        yield max(lows, default=None), min(highs, default=None)
