"""Both densities of one number of an output, for a picture: means over small cells.

A mean is the probability of a cell over its width, calculated like any other probability; so the
curves are those of every kind of noise that has probabilities, and steps are a cell wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import IntArray
from liptest.enumerate.numbers.boxes import Ends
from liptest.enumerate.numbers.densities import ContinuousLaw, Leaf
from liptest.enumerate.numbers.noise_outputs import list_intervals, replace_by
from liptest.enumerate.numbers.real_outputs import ContinuousFunction
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output
from liptest.verdicts import Number, Record, Whole

_CELLS = 240
# Probabilities to be calculated for one picture: a second or two.
_MOST = 12_000
# Beyond both ends of the picture lies less, where it does not go to the end of the event.
_OUTSIDE = 0.004
# A rarer event would not be seen on a plain scale.
RARE = 0.02
# In units of the noise: a picture goes so far out to show the event.
_FARTHEST = 60


@dataclass(frozen=True)
class DensityCurves(Record):
    """Mean densities over the cells between ``edges``, on the first and on the second dataset.

    Of number ``place`` of the ``numbers`` of the output; ``shaded`` are its intervals in the event
    that decides, None for an end that there is not. ``is_rare``: the event is too rare to be seen
    on a plain scale.
    """

    edges: tuple[Number, ...]
    first: tuple[Number, ...]
    second: tuple[Number, ...]
    shaded: tuple[tuple[Number | None, Number | None], ...]
    place: Whole
    numbers: Whole
    is_rare: bool


def density_curves(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, event: tuple[Output, ...]
) -> DensityCurves | None:
    """The curves of the number that the event is about; None where there are none to draw."""
    seen = mechanism.densities()
    if not isinstance(seen, ContinuousFunction):
        return None
    with precision(CERTIFIED_BITS):
        try:
            return _curves(seen.pair_laws(dataset, neighbour), event)
        except (SymbolicError, UnsupportedForm):
            return None


def _curves(
    laws: tuple[ContinuousLaw, ContinuousLaw], event: tuple[Output, ...]
) -> DensityCurves | None:
    skeleton, told = _description(laws, event)
    leaves = [leaf for law in laws for leaf in law.leaves.get(skeleton, ())]
    if not told or _CELLS * len(leaves) > _MOST:
        return None
    place = next((k for k, ends in enumerate(told[0]) if ends != (None, None)), 0)
    shaded = [ends[place] for ends in told]
    count = len(told[0])
    masses = [sum(float(law.probability(skeleton, ends).mid()) for ends in told) for law in laws]
    is_rare = max(masses) < RARE
    low, high = _range(laws, skeleton, leaves, place, shaded if is_rare else [])
    step = (high - low) / _CELLS
    edges = [low + step * k for k in range(_CELLS + 1)]

    def means(law: ContinuousLaw) -> Iterator[float]:
        for left in edges[:-1]:
            ends = _one(place, count, (left, left + step))
            yield max(0.0, float(law.probability(skeleton, ends).mid())) / float(step)

    return DensityCurves(
        edges=tuple(map(float, edges)),
        first=tuple(means(laws[0])),
        second=tuple(means(laws[1])),
        shaded=tuple((_float(a), _float(b)) for a, b in shaded),
        place=place,
        numbers=count,
        is_rare=is_rare,
    )


def _description(
    laws: tuple[ContinuousLaw, ContinuousLaw], event: tuple[Output, ...]
) -> tuple[Output, list[tuple[Ends, ...]]]:
    """The first description of outputs that the event is about, and its intervals there."""
    for skeleton in dict.fromkeys((*laws[0].leaves, *laws[1].leaves)):
        some = next(iter(laws[0].leaves.get(skeleton) or laws[1].leaves[skeleton]))
        count = len(some.leaf.forms)
        told = [
            ends
            for ends in map(list_intervals, event)
            if count and len(ends) == count and replace_by(skeleton, ends) in event
        ]
        if told:
            return skeleton, told
    return None, []


def _range(
    laws: tuple[ContinuousLaw, ContinuousLaw],
    skeleton: Output,
    leaves: list[Leaf],
    place: int,
    shaded: list[Ends],
) -> tuple[Fraction, Fraction]:
    """Where nearly all of both densities is; of a rare event its finite ends, too."""
    numbers = [leaf.numbers[place] for leaf in leaves]
    scale = max(abs(number.scale) for number in numbers)
    low, high = (f(number.constant for number in numbers) for f in (min, max))
    reach = scale
    count = len(leaves[0].numbers)
    for _ in range(12):
        ends = _one(place, count, (low - reach, high + reach))
        if all(law.mass(skeleton) - law.probability(skeleton, ends) < _OUTSIDE for law in laws):
            break
        reach = reach * 3 / 2
    low, high = low - reach, high + reach
    for end in (end for pair in shaded for end in pair if end is not None):
        if low - _FARTHEST * scale <= end <= high + _FARTHEST * scale:
            low, high = min(low, end - scale), max(high, end + scale)
    return low, high


def _one(place: int, count: int, ends: Ends) -> tuple[Ends, ...]:
    everything: list[Ends] = [(None, None)] * count
    everything[place] = ends
    return tuple(everything)


def _float(end: Any) -> float | None:
    return None if end is None else float(end)
