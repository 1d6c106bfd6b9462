"""Which bounds of differences follow from others: the shortest way says it.

``x_u - x_v <= c`` is an arrow from v to u of length c, and a bound of one variable is one of its
difference from 0. What the others say of a difference is the length of the shortest way between
both ends (Bellman 1958), so a bound is implied where that is no longer than the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import fmpq

from liptest.symbolic.work import spend

_ORIGIN = -1
_ONE, _MINUS_ONE = fmpq(1), fmpq(-1)
#: From one variable to another, and whether it is a bound that may be left out.
Arrow = tuple[int, int]


class Gaps:
    """The least bounds of all differences, as far as some bounds say them."""

    def __init__(self) -> None:
        #: Lengths of arrows, by their ends and by the bound that they are from.
        self._arrows: dict[Arrow, dict[Any, Any]] = {}
        self._ends: dict[Any, Arrow] = {}

    def add(self, origin: Any, start: int, stop: int, length: Any) -> None:
        """Add an arrow."""
        self._arrows.setdefault((start, stop), {})[origin] = length
        self._ends[origin] = start, stop

    def leave_out_implied(self, form: Any, side: int) -> bool:
        """Whether all other bounds imply one, which is then left out for good."""
        start, stop = self._ends[form, side]
        several = self._arrows[start, stop]
        length = several.pop((form, side))
        shortest = self._find_shortest(start, stop)
        if shortest is not None and shortest <= length:
            return True
        several[form, side] = length
        return False

    def _find_shortest(self, start: int, stop: int) -> Any:
        """The length of the shortest way; None where there is none."""
        arrows = [
            (ends, min(several.values())) for ends, several in self._arrows.items() if several
        ]
        reached = {start: fmpq(0)}
        changes = True
        while changes:
            changes = False
            spend(len(arrows))
            for (here, there), length in arrows:
                if here not in reached:
                    continue
                way = reached[here] + length
                if there not in reached or way < reached[there]:
                    reached[there] = way
                    changes = True
        return reached.get(stop)


def gaps_of_differences(
    ranges: Mapping[Any, tuple[Any, Any]], supports: Mapping[int, tuple[Any, Any]]
) -> Gaps | None:
    """Of bounds, which can hold together, of differences and single variables; None of others."""
    gaps = Gaps()
    for variable, ends in supports.items():
        _add_range(gaps, (variable,), variable, _ORIGIN, ends)
    for form, ends in ranges.items():
        factors = [factor for _, factor in form]
        if factors == [1]:
            _add_range(gaps, form, form[0][0], _ORIGIN, ends)
        elif factors == [1, -1]:
            _add_range(gaps, form, form[0][0], form[1][0], ends)
        else:
            return None
    return gaps


def _add_range(gaps: Gaps, form: Any, upper: int, lower: int, ends: tuple[Any, Any]) -> None:
    low, high = ends
    if low is not None:
        gaps.add((form, 0), upper, lower, -low)
    if high is not None:
        gaps.add((form, 1), lower, upper, high)
