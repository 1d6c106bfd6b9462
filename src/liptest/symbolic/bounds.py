"""What constraints leave of each form: ranges, whether any point is left, and where.

Over the reals a range counts where it has a length; its ends do not matter. Over the integers its
ends are whole and closed. Propagation along the order of elimination is exact: of all (x, rest)
with x in one range and factor * x + rest in another, the rests make up a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from liptest.errors import UnsupportedForm
from liptest.symbolic.cycles import cases, check_differences, stages_of, without_implied
from liptest.symbolic.forms import Constraint
from liptest.symbolic.inequalities import Stage
from liptest.symbolic.noise import Noise
from liptest.symbolic.plans import Key, Step, components, exact, normalised, plan

#: Lowest and highest value, None where infinite.
Range = tuple[Any, Any]
_ONE = fmpq(1)


@dataclass(frozen=True)
class Ranges:
    """Connected forms with their ranges, which are possible."""

    whole: bool
    ranges: dict[Key, Range]

    @property
    def variables(self) -> list[int]:
        """All that occur."""
        return sorted({variable for form in self.ranges for variable, _ in form})

    def half_open(self) -> Iterator[tuple[Key, Range]]:
        """Forms with [low, high)."""
        for form, (low, high) in self.ranges.items():
            yield form, (low, high + 1 if self.whole and high is not None else high)


@dataclass(frozen=True)
class Tree(Ranges):
    """Their variables can be eliminated by ``steps``."""

    steps: tuple[Step, ...]
    #: What is left of each variable, and of the rest of its form, when it is eliminated.
    left: tuple[tuple[Range, Range | None], ...]


@dataclass(frozen=True)
class Cycle(Ranges):
    """No order eliminates them; ``stages`` lead to a point."""

    stages: list[Stage]

    def split(self, noises: tuple[Noise, ...]) -> Iterator[tuple[int, list[Ranges]]]:
        """Signs and systems, whose probabilities add up to that of this one."""
        for sign, further, kept in cases(self.ranges, self.whole):
            ranges = _with_further(kept, further, self.whole)
            parts = None if ranges is None else _parts(noises, ranges)
            if parts is not None:
                yield sign, parts


def _with_further(ranges: dict[Key, Range], further: Any, whole: bool) -> dict[Key, Range] | None:
    found = dict(ranges)
    for factors, bound in further:
        terms = tuple(
            (one, Fraction(int(factor.p), int(factor.q)))
            for one, factor in sorted(factors.items())
            if factor != 0
        )
        if not terms:
            if bound < 0:
                return None
            continue
        form, scale = normalised(terms, whole)
        ends = _divided((None, bound), exact(scale), whole)
        found[form] = meet(found.get(form, (None, None)), ends)
        if is_empty(found[form], whole):
            return None
    return found


def gathered(noises: tuple[Noise, ...], constraints: Iterable[Constraint]) -> list[Ranges] | None:
    """The independent parts of constraints; None where they are impossible."""
    ranges: dict[Key, Range] = {}
    for one in constraints:
        whole = all(noises[variable].is_discrete for variable, _ in one.terms)
        form, low, high = _prepared(one, whole)
        known = ranges.get(form)
        found = (low, high) if known is None else meet(known, (low, high))
        if is_empty(found, whole):
            return None
        ranges[form] = found
    return _parts(noises, ranges)


def _parts(noises: tuple[Noise, ...], ranges: dict[Key, Range]) -> list[Ranges] | None:
    found: list[Ranges] = []
    for forms in components(form for form, ends in ranges.items() if ends != (None, None)):
        some = _connected(noises, {form: ranges[form] for form in forms})
        if some is None:
            return None
        found += some
    return found


def _prepared(one: Constraint, whole: bool) -> tuple[Key, Any, Any]:
    low = None if one.low is None else exact(one.low)
    high = None if one.high is None else exact(one.high)
    if not whole:
        return one.terms, low, high
    form, scale = normalised(one.terms, whole=True)
    if scale != 1:
        low, high = (None if end is None else end / exact(scale) for end in (low, high))
    if low is not None:
        low = fmpq(low.ceil()) if one.low_closed else fmpq(low.floor()) + 1
    if high is not None:
        high = fmpq(high.floor()) if one.high_closed else fmpq(high.ceil()) - 1
    return form, low, high


def meet(left: Range, right: Range) -> Range:
    """What is in both."""
    low = right[0] if left[0] is None else left[0] if right[0] is None else max(left[0], right[0])
    high = right[1] if left[1] is None else left[1] if right[1] is None else min(left[1], right[1])
    return low, high


def is_empty(one: Range, whole: bool) -> bool:
    """Whether nothing, or over the reals only a point, is left."""
    low, high = one
    if low is None or high is None:
        return False
    return bool(low > high if whole else low >= high)


def _connected(noises: tuple[Noise, ...], ranges: dict[Key, Range]) -> list[Ranges] | None:
    variables = {variable for form in ranges for variable, _ in form}
    whole = _is_whole(noises, variables)
    smooth = frozenset(one for one in variables if noises[one].is_smooth)
    steps = plan(frozenset(ranges), whole, smooth=smooth)
    if steps is None:
        return _in_cycles(noises, whole, ranges, variables)
    left = _propagated(noises, whole, dict(ranges), steps)
    return None if left is None else [Tree(whole, ranges, steps, left)]


def _in_cycles(
    noises: tuple[Noise, ...], whole: bool, ranges: dict[Key, Range], variables: set[int]
) -> list[Ranges] | None:
    if whole:
        check_differences(ranges)
    supports = {one: support(noises[one]) for one in variables}
    stages = stages_of(ranges, supports, whole)
    if stages is None:
        return None
    fewer = without_implied(ranges, supports, whole)
    return [Cycle(whole, ranges, stages)] if fewer == ranges else _parts(noises, fewer)


def _is_whole(noises: tuple[Noise, ...], variables: set[int]) -> bool:
    whole = {noises[one].is_discrete for one in variables}
    if len(whole) > 1:
        raise UnsupportedForm("sums of discrete and continuous noise are compared")
    return whole == {True}


def support(noise: Noise) -> Range:
    """The range of a variable."""
    low, high = noise.support
    return None if low is None else exact(low), None if high is None else exact(high)


def _propagated(
    noises: tuple[Noise, ...], whole: bool, ranges: dict[Key, Range], steps: tuple[Step, ...]
) -> tuple[tuple[Range, Range | None], ...] | None:
    found: list[tuple[Range, Range | None]] = []
    for step in steps:
        own = support(noises[step.variable])
        if step.alone in ranges:
            own = meet(own, ranges.pop(step.alone))
        if is_empty(own, whole):
            return None
        if step.outer is None:
            found.append((own, None))
            continue
        outer = ranges.pop(step.outer)
        found.append((own, outer))
        rest = _divided(minus(outer, times(own, step.factor)), step.scale, whole)
        known = ranges.get(step.after)
        rest = rest if known is None else meet(known, rest)
        if is_empty(rest, whole):
            return None
        ranges[step.after] = rest
    return tuple(found)


def times(one: Range, factor: Any) -> Range:
    """All multiples."""
    if factor == 1:
        return one
    low, high = one
    low = None if low is None else low * factor
    high = None if high is None else high * factor
    return (low, high) if factor > 0 else (high, low)


def minus(left: Range, right: Range) -> Range:
    """All differences."""
    low = None if left[0] is None or right[1] is None else left[0] - right[1]
    high = None if left[1] is None or right[0] is None else left[1] - right[0]
    return low, high


def _divided(one: Range, scale: Any, whole: bool) -> Range:
    low, high = one if scale == 1 else times(one, _ONE / scale)
    if not whole:
        return low, high
    return (
        None if low is None else fmpq(low.ceil()),
        None if high is None else fmpq(high.floor()),
    )
