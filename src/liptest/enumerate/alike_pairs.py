"""Which pairs of laws of whole numbers are alike: one is the other with all numbers moved.

To move every whole number of an output by a constant, under both laws, changes no loss and no
divergence. So a count plus noise, on 5,000 neighbouring counts, is one pair to compare.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from fractions import Fraction

from liptest.enumerate.whole_outputs import WholeLeaf, WholePlace
from liptest.mechanisms.laws import Output

Leaves = dict[Output, list[WholeLeaf]]


def pair_kind(left: Leaves, right: Leaves) -> Hashable:
    """Equal only for pairs of laws that are alike; ``left`` and ``right`` are leaves by output."""
    origins: dict[Output, tuple[int, ...]] = {}
    return _moved(left, origins), _moved(right, origins)


def _moved(law: Leaves, origins: dict[Output, tuple[int, ...]]) -> Hashable:
    parts: Counter[Hashable] = Counter()
    for skeleton, leaves in law.items():
        for leaf in leaves:
            wholes, rests = _split(leaf.places)
            origin = origins.setdefault(skeleton, wholes)
            moved = tuple(at - first for at, first in zip(wholes, origin, strict=True))
            parts[skeleton, rests, moved, leaf.noises, leaf.constraints, leaf.weight] += 1
    return frozenset(parts.items())


def _split(places: Iterable[WholePlace]) -> tuple[tuple[int, ...], Hashable]:
    """The whole number that is added to each place, and all else of it.

    Whole numbers are added after rounding as well as before, ties apart, which continuous noise
    never meets.
    """
    wholes, rests = [], []
    for place in places:
        whole = math.floor(place.form.constant)
        wholes.append(place.sign * whole + place.shift)
        rest = Fraction(place.form.constant) - whole
        rests.append((place.form.terms, rest, place.how, place.sign))
    return tuple(wholes), tuple(rests)
