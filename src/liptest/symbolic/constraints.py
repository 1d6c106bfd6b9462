"""Linear constraints on noise: whether they can hold, what they leave of a form, a point inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from liptest.balls import to_fmpq, to_fraction
from liptest.errors import UnsupportedForm
from liptest.symbolic.difference_bounds import gaps_of_differences
from liptest.symbolic.elimination import (
    EliminationStep,
    Key,
    components,
    normalise,
    plan_elimination,
)
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from liptest.symbolic.work import spend

# Linear inequalities with rational factors: whether they can hold, what follows, and a point.
#
# Fourier-Motzkin elimination. Over the reals all inequalities are strict, for sets of measure 0 do
# not count; over the integers none is, and bounds on differences of variables have whole solutions
# whenever they have real ones.


#: Inequalities of one elimination.
MOST = 4000
#: Of each direction (the first factor is 1 or -1) the smallest upper bound.
Rows = dict[tuple[tuple[int, Any], ...], Any]


class Stage(NamedTuple):
    """A variable that was eliminated, and the inequalities that it was in."""

    variable: int
    rows: Rows


def add_inequality(rows: Rows, factors: dict[int, Any], bound: Any, whole: bool) -> bool:
    """Add sum of factor * variable < bound (whole: <=); False where that can never hold."""
    terms = sorted((variable, factor) for variable, factor in factors.items() if factor != 0)
    if not terms:
        return bool(bound >= 0 if whole else bound > 0)
    size = abs(terms[0][1])
    key = tuple((variable, factor / size) for variable, factor in terms)
    bound = bound / size
    if key not in rows or bound < rows[key]:
        rows[key] = bound
    return True


def eliminate(rows: Rows, whole: bool) -> list[Stage] | None:
    """The stages of an elimination of all variables; None where the inequalities cannot hold."""
    stages: list[Stage] = []
    rows = dict(rows)
    while rows:
        variable = _cheapest(rows)
        inside = {key: bound for key, bound in rows.items() if _factor(key, variable) != 0}
        rows = {key: bound for key, bound in rows.items() if key not in inside}
        stages.append(Stage(variable, inside))
        below = sum(_factor(key, variable) < 0 for key in inside)
        spend(len(rows) + len(inside) + below * (len(inside) - below))
        if not _combine(rows, inside, variable, whole):
            return None
        if len(rows) > MOST:
            raise UnsupportedForm("very many sums of the same noise variables are compared")
    return stages


def _combine(rows: Rows, inside: Rows, variable: int, whole: bool) -> bool:
    for low, low_bound in inside.items():
        below = _factor(low, variable)
        for high, high_bound in inside.items() if below < 0 else ():
            above = _factor(high, variable)
            if above <= 0:
                continue
            factors: dict[int, Any] = {}
            for terms, scale in ((low, -1 / below), (high, 1 / above)):
                for v, factor in terms:
                    factors[v] = factors.get(v, fmpq(0)) + factor * scale
            factors[variable] = fmpq(0)
            bound = high_bound / above - low_bound / below
            if not add_inequality(rows, factors, bound, whole):
                return False
    return True


def _cheapest(rows: Rows) -> int:
    counts: dict[int, list[int]] = {}
    for key in rows:
        for variable, factor in key:
            counts.setdefault(variable, [0, 0])[factor > 0] += 1
    return min(counts, key=lambda variable: (counts[variable][0] * counts[variable][1], variable))


def _factor(key: tuple[tuple[int, Any], ...], variable: int) -> Any:
    return next((factor for v, factor in key if v == variable), fmpq(0))


def find_range_ends(stage: Stage, values: dict[int, Any]) -> tuple[Any, Any]:
    """Where a variable may lie, given those that were eliminated after it; None infinite."""
    low = high = None
    for key, bound in stage.rows.items():
        rest = sum(
            (f * values[variable] for variable, f in key if variable != stage.variable), fmpq(0)
        )
        factor = _factor(key, stage.variable)
        end = (bound - rest) / factor
        if factor > 0:
            high = end if high is None else min(high, end)
        else:
            low = end if low is None else max(low, end)
    return low, high


# Constraints that go around in cycles: what others imply is left out, the rest is split.
#
# Where a variable is in several forms, one of its lower bounds is the largest and one of its upper
# bounds the smallest: the cases are apart from each other and each is a constraint on the other
# variables. Between the two bounds the probability is the difference of those below each of them.


Range = tuple[Any, Any]
Bounded = dict[Key, Range]


def rows_of_ranges(ranges: Bounded, supports: dict[int, Range], whole: bool) -> Rows:
    """All inequalities."""
    rows: Rows = {}
    every = [(((variable, fmpq(1)),), ends) for variable, ends in supports.items()]
    for form, (low, high) in [*every, *ranges.items()]:
        factors = _factors(form)
        if high is not None:
            add_inequality(rows, factors, high, whole)
        if low is not None:
            add_inequality(
                rows, {variable: -factor for variable, factor in factors.items()}, -low, whole
            )
    return rows


def _factors(form: Any) -> dict[int, Any]:
    return {variable: to_fmpq(f) for variable, f in form}


def find_stages(ranges: Bounded, supports: dict[int, Range], whole: bool) -> list[Stage] | None:
    """The elimination of all variables; None where the constraints cannot hold."""
    return eliminate(rows_of_ranges(ranges, supports, whole), whole)


def without_implied(ranges: Bounded, supports: dict[int, Range], whole: bool) -> Bounded:
    """The same points with fewer bounds."""
    gaps = gaps_of_differences(ranges, supports)
    left = dict(ranges)
    for form in sorted(ranges, key=len, reverse=True):
        for side in (0, 1):
            end = left[form][side]
            if end is None:
                continue
            others = {**left, form: _with(left[form], side, None)}
            if gaps is not None:
                left = others if gaps.leave_out_implied(form, side) else left
                continue
            step = 1 if whole else 0
            opposite = (None, end - step) if side == 0 else (end + step, None)
            remaining = others[form]
            if find_stages({**others, form: _meet(remaining, opposite)}, supports, whole) is None:
                left = others
    return {form: ends for form, ends in left.items() if ends != (None, None)}


def _with(ends: Range, side: int, value: Any) -> Range:
    return (value, ends[1]) if side == 0 else (ends[0], value)


def _meet(left: Range, right: Range) -> Range:
    """One of the two has each end."""
    low, high = (a if b is None else b for a, b in zip(left, right, strict=True))
    return low, high


def check_differences(ranges: Bounded) -> None:
    """Over the integers only differences are sure to have whole solutions."""
    if any(len(form) > 1 and sorted(f for _, f in form) != [-1, 1] for form in ranges):
        raise UnsupportedForm(
            "several sums of the same discrete variables, not all of them differences, are compared"
        )


class Bound(NamedTuple):
    """factors . others + constant bounds a variable; ``form`` and ``side`` are where it is from."""

    form: Key
    side: int
    factors: dict[int, Any]
    constant: Any


def cases(
    ranges: Bounded, whole: bool
) -> list[tuple[int, list[tuple[dict[int, Any], Any]], Bounded]]:
    """(sign, further inequalities sum < or <= bound, ranges) with one variable less in a cycle."""
    variable = _simplest(ranges)
    lower, upper = _bounds(ranges, variable)
    parts = []
    for low in _or_none(lower):
        for high in _or_none(upper):
            further = _largest(low, lower, whole) + _smallest(high, upper, whole)
            kept = _keep(ranges, variable, low, high)
            if low is None or high is None or low.form == high.form:
                parts.append((1, further, kept))
                continue
            apart = _difference(low, high)
            further = [*further, apart]
            without_low = {**kept, low.form: _with(kept[low.form], low.side, None)}
            parts.append((1, further, without_low))
            # Below the lower bound: its opposite in place of both.
            swapped = {**kept, high.form: _with(kept[high.form], high.side, None)}
            end = kept[low.form][low.side]
            step = (-1 if low.side == 0 else 1) if whole else 0
            swapped[low.form] = _with((None, None), 1 - low.side, end + step)
            parts.append((-1, further, swapped))
    return parts


def _or_none(bounds: list[Bound]) -> Sequence[Bound | None]:
    return bounds if bounds else (None,)


def _simplest(ranges: Bounded) -> int:
    counts: dict[int, int] = {}
    for form in ranges:
        for variable, _ in form if len(form) > 1 else ():
            counts[variable] = counts.get(variable, 0) + 1
    return min(
        (variable for variable in counts if counts[variable] > 1),
        key=lambda variable: (counts[variable], variable),
    )


def _bounds(ranges: Bounded, variable: int) -> tuple[list[Bound], list[Bound]]:
    sides: tuple[list[Bound], list[Bound]] = ([], [])
    for form, ends in ranges.items():
        factors = _factors(form)
        own = factors.pop(variable, None)
        if own is None or len(form) == 1:
            continue
        rest = {v: -factor / own for v, factor in factors.items()}
        for side, end in enumerate(ends):
            if end is not None:
                sides[side if own > 0 else 1 - side].append(Bound(form, side, rest, end / own))
    return sides


def _difference(low: Bound, high: Bound) -> tuple[dict[int, Any], Any]:
    """low - high as factors, and what it must be at most for low <= high."""
    factors = dict(low.factors)
    for variable, factor in high.factors.items():
        factors[variable] = factors.get(variable, fmpq(0)) - factor
    return factors, high.constant - low.constant


def _largest(low: Bound | None, every: list[Bound], whole: bool) -> Any:
    return _order(low, every, whole, largest=True)


def _smallest(high: Bound | None, every: list[Bound], whole: bool) -> Any:
    return _order(high, every, whole, largest=False)


def _order(chosen: Bound | None, every: list[Bound], whole: bool, *, largest: bool) -> Any:
    """The first of the extreme ones is chosen: those before it are strictly less extreme."""
    inequalities, before = [], True
    for candidate in every:
        if candidate is chosen:
            before = False
            continue
        assert chosen is not None
        factors, bound = (
            _difference(candidate, chosen) if largest else _difference(chosen, candidate)
        )
        inequalities.append((factors, bound - 1 if whole and before else bound))
    return inequalities


def _keep(ranges: Bounded, variable: int, low: Bound | None, high: Bound | None) -> Bounded:
    """Without the bounds on a variable that are not the chosen ones."""
    chosen = {(bound.form, bound.side) for bound in (low, high) if bound is not None}
    kept: Bounded = {}
    for form, ends in ranges.items():
        if len(form) == 1 or all(v != variable for v, _ in form):
            kept[form] = ends
        else:
            kept[form] = (
                ends[0] if (form, 0) in chosen else None,
                ends[1] if (form, 1) in chosen else None,
            )
    return kept


# What constraints leave of each form: ranges, whether any point is left, and where.
#
# Over the reals a range counts where it has a length; its ends do not matter. Over the integers its
# ends are whole and closed. Propagation along the order of elimination is exact: of all (x, rest)
# with x in one range and factor * x + rest in another, the rests make up a range.


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

    steps: tuple[EliminationStep, ...]
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
    narrowed = dict(ranges)
    for factors, bound in further:
        terms = tuple(
            (variable, to_fraction(factor))
            for variable, factor in sorted(factors.items())
            if factor != 0
        )
        if not terms:
            if bound < 0:
                return None
            continue
        form, scale = normalise(terms, whole)
        ends = _divide((None, bound), to_fmpq(scale), whole)
        narrowed[form] = intersection(narrowed.get(form, (None, None)), ends)
        if is_empty(narrowed[form], whole):
            return None
    return narrowed


def gather_parts(
    noises: tuple[Noise, ...], constraints: Iterable[Constraint]
) -> list[Ranges] | None:
    """The independent parts of constraints; None where they are impossible."""
    ranges: dict[Key, Range] = {}
    for constraint in constraints:
        spend(1)
        whole = all(noises[variable].is_discrete for variable, _ in constraint.terms)
        form, low, high = prepare_range(constraint, whole)
        earlier = ranges.get(form)
        narrowed = (low, high) if earlier is None else intersection(earlier, (low, high))
        if is_empty(narrowed, whole):
            return None
        ranges[form] = narrowed
    return _parts(noises, ranges)


def _parts(noises: tuple[Noise, ...], ranges: dict[Key, Range]) -> list[Ranges] | None:
    parts: list[Ranges] = []
    for forms in components(form for form, ends in ranges.items() if ends != (None, None)):
        some = _connect(noises, {form: ranges[form] for form in forms})
        if some is None:
            return None
        parts += some
    return parts


def prepare_range(one: Constraint, whole: bool) -> tuple[Key, Any, Any]:
    """The form of a constraint with its ends; over the integers these are whole and closed."""
    low = None if one.low is None else to_fmpq(one.low)
    high = None if one.high is None else to_fmpq(one.high)
    if not whole:
        return one.terms, low, high
    form, scale = normalise(one.terms, whole=True)
    if scale != 1:
        low, high = (None if end is None else end / to_fmpq(scale) for end in (low, high))
    if low is not None:
        low = fmpq(low.ceil()) if one.low_closed else fmpq(low.floor()) + 1
    if high is not None:
        high = fmpq(high.floor()) if one.high_closed else fmpq(high.ceil()) - 1
    return form, low, high


def intersection(left: Range, right: Range) -> Range:
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


def _connect(noises: tuple[Noise, ...], ranges: dict[Key, Range]) -> list[Ranges] | None:
    variables = {variable for form in ranges for variable, _ in form}
    whole = _is_whole(noises, variables)
    smooth = frozenset(v for v in variables if noises[v].is_smooth)
    steps = plan_elimination(frozenset(ranges), whole, smooth=smooth)
    if steps is None:
        return _in_cycles(noises, whole, ranges, variables)
    spend(len(steps))
    left = _propagate(noises, whole, dict(ranges), steps)
    return None if left is None else [Tree(whole, ranges, steps, left)]


def _in_cycles(
    noises: tuple[Noise, ...], whole: bool, ranges: dict[Key, Range], variables: set[int]
) -> list[Ranges] | None:
    if whole:
        check_differences(ranges)
    supports = {variable: support(noises[variable]) for variable in variables}
    stages = find_stages(ranges, supports, whole)
    if stages is None:
        return None
    fewer = without_implied(ranges, supports, whole)
    return [Cycle(whole, ranges, stages)] if fewer == ranges else _parts(noises, fewer)


def _is_whole(noises: tuple[Noise, ...], variables: set[int]) -> bool:
    whole = {noises[variable].is_discrete for variable in variables}
    if len(whole) > 1:
        raise UnsupportedForm("sums of discrete and continuous noise are compared")
    return whole == {True}


def support(noise: Noise) -> Range:
    """The range of a variable."""
    low, high = noise.support
    return None if low is None else to_fmpq(low), None if high is None else to_fmpq(high)


def _propagate(
    noises: tuple[Noise, ...],
    whole: bool,
    ranges: dict[Key, Range],
    steps: tuple[EliminationStep, ...],
) -> tuple[tuple[Range, Range | None], ...] | None:
    pairs: list[tuple[Range, Range | None]] = []
    for step in steps:
        support_left = support(noises[step.variable])
        if step.alone in ranges:
            support_left = intersection(support_left, ranges.pop(step.alone))
        if is_empty(support_left, whole):
            return None
        if step.outer is None:
            pairs.append((support_left, None))
            continue
        outer = ranges.pop(step.outer)
        pairs.append((support_left, outer))
        rest = _divide(minus(outer, multiply_rows(support_left, step.factor)), step.scale, whole)
        earlier = ranges.get(step.after)
        rest = rest if earlier is None else intersection(earlier, rest)
        if is_empty(rest, whole):
            return None
        ranges[step.after] = rest
    return tuple(pairs)


def multiply_rows(one: Range, factor: Any) -> Range:
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


def _divide(one: Range, scale: Any, whole: bool) -> Range:
    low, high = one if scale == 1 else multiply_rows(one, _ONE / scale)
    if not whole:
        return low, high
    return (
        None if low is None else fmpq(low.ceil()),
        None if high is None else fmpq(high.floor()),
    )


_ZERO = fmpq(0)


def find_point(
    noises: tuple[Noise, ...], parts: list[Ranges], rng: np.random.Generator
) -> tuple[Fraction, ...]:
    """Values of all variables; those that occur nowhere lie in their supports."""
    values: dict[int, Any] = {}
    for part in parts:
        if isinstance(part, Tree):
            _in_tree(noises, part, values, rng)
        elif isinstance(part, Cycle):
            _in_cycle(noises, part, values, rng)
    for number, noise in enumerate(noises):
        if number not in values:
            values[number] = _choose(noise, support(noise), rng)
    return tuple(to_fraction(values[i]) for i in range(len(noises)))


def _in_tree(
    noises: tuple[Noise, ...], part: Tree, values: dict[int, Any], rng: np.random.Generator
) -> None:
    for step, (rows_inside, outer) in zip(part.steps[::-1], part.left[::-1], strict=True):
        if step.outer is not None:
            assert outer is not None
            rest = _sum(step.outer, values, step.variable)
            rows_inside = intersection(
                rows_inside, multiply_rows(minus(outer, (rest, rest)), 1 / step.factor)
            )
        values[step.variable] = _choose(noises[step.variable], rows_inside, rng)


def _in_cycle(
    noises: tuple[Noise, ...], part: Cycle, values: dict[int, Any], rng: np.random.Generator
) -> None:
    for stage in part.stages[::-1]:
        for variable in {variable for key in stage.rows for variable, _ in key} - {
            stage.variable,
            *values,
        }:
            values[variable] = _choose(noises[variable], support(noises[variable]), rng)
        ends = find_range_ends(stage, values)
        values[stage.variable] = _choose(noises[stage.variable], ends, rng)


def _sum(form: Key, values: dict[int, Any], left_out: int) -> Any:
    return sum(
        (to_fmpq(factor) * values[variable] for variable, factor in form if variable != left_out),
        start=_ZERO,
    )


def _choose(noise: Noise, ends: Range, rng: np.random.Generator) -> Any:
    low, high = ends
    if noise.is_discrete:
        return _whole(low, high, rng)
    width = to_fmpq(noise.parameter)
    # No round numbers: programs compare with these, and two of these, for equality.
    part = fmpq(int(rng.integers(3 << 30, 5 << 30)), 1 << 33)
    if low is None and high is None:
        return (part - fmpq(1, 2)) * width
    if low is None:
        low = high - width
    elif high is None:
        high = low + width
    return low + part * (high - low)


def _whole(low: Any, high: Any, rng: np.random.Generator) -> Any:
    low = None if low is None else fmpq(low.ceil())
    high = None if high is None else fmpq(high.floor())
    if low is None:
        low = _ZERO if high is None else high - 2
    if high is None:
        high = low + 2
    return low + int(rng.integers(0, min(int((high - low).p), 3) + 1))
