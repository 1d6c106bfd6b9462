"""A point inside constraints, chosen from the last eliminated variable back to the first."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from liptest.symbolic.bounds import Cycle, Range, Ranges, Tree, meet, minus, support, times
from liptest.symbolic.inequalities import ends_of
from liptest.symbolic.noise import Noise
from liptest.symbolic.plans import Key, exact

_ZERO = fmpq(0)


def point_of(
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
            values[number] = _chosen(noise, support(noise), rng)
    return tuple(Fraction(int(values[i].p), int(values[i].q)) for i in range(len(noises)))


def _in_tree(
    noises: tuple[Noise, ...], part: Tree, values: dict[int, Any], rng: np.random.Generator
) -> None:
    for step, (own, outer) in zip(part.steps[::-1], part.left[::-1], strict=True):
        if step.outer is not None:
            assert outer is not None
            rest = _sum(step.outer, values, step.variable)
            own = meet(own, times(minus(outer, (rest, rest)), 1 / step.factor))
        values[step.variable] = _chosen(noises[step.variable], own, rng)


def _in_cycle(
    noises: tuple[Noise, ...], part: Cycle, values: dict[int, Any], rng: np.random.Generator
) -> None:
    for stage in part.stages[::-1]:
        for one in {one for key in stage.rows for one, _ in key} - {stage.variable, *values}:
            values[one] = _chosen(noises[one], support(noises[one]), rng)
        ends = ends_of(stage, values)
        values[stage.variable] = _chosen(noises[stage.variable], ends, rng)


def _sum(form: Key, values: dict[int, Any], left_out: int) -> Any:
    return sum(
        (exact(factor) * values[one] for one, factor in form if one != left_out), start=_ZERO
    )


def _chosen(noise: Noise, ends: Range, rng: np.random.Generator) -> Any:
    low, high = ends
    if noise.is_discrete:
        return _whole(low, high, rng)
    width = exact(noise.parameter)
    # No round numbers: programs compare with these, and two of these, for equality.
    part = exact(Fraction(int(rng.integers(3 << 30, 5 << 30)), 1 << 33))
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
