"""Which pairs of laws are alike: one is the other with all numbers moved.

To move every number of an output by a constant, under both laws, changes no loss and no
divergence. So a count plus noise, on 5,000 neighbouring counts, is one pair to compare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from liptest.mechanisms.laws import Output

Leaf = TypeVar("Leaf")
#: The numbers that are added in a leaf, and all else of it.
Parts = tuple[tuple[Any, ...], Hashable]


def pair_kind(
    laws: Iterable[Mapping[Output, Sequence[Leaf]]], parts_of: Callable[[Leaf], Parts]
) -> Hashable:
    """Equal only for pairs of laws that are alike; ``laws`` are both, as leaves by output."""
    # All leaves of one description, on both sides, are moved by the numbers of the first.
    origins: dict[Output, tuple[Any, ...]] = {}
    sides = []
    for law in laws:
        parts: Counter[Hashable] = Counter()
        for skeleton, leaves in law.items():
            for leaf in leaves:
                added, rest = parts_of(leaf)
                origin = origins.setdefault(skeleton, added)
                moved = tuple(at - first for at, first in zip(added, origin, strict=True))
                parts[skeleton, moved, rest] += 1
        sides.append(frozenset(parts.items()))
    return tuple(sides)
