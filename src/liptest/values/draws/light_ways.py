"""What noise next to never does, left out of a law: to compare numbers far apart.

Two numbers that are farther from each other than any likely noise have one order, not two. Where
the other order is left out, and what is all but certain is not asked at all, a law has few paths
and few constraints. Let a sum c_1 z_1 + .. + c_k z_k of noise lie beyond 64 (|c_1| s_1 + .. +
|c_k| s_k), where s_i is a scale of z_i: then some |z_i| exceeds 64 s_i. Of each family that has a
probability of 2 e^-63 at most, below 2^-80, so k 2^-80 bounds what is left out (docs/theory, N10).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise

Way = tuple[Constraint, ...] | None
# Scales of noise within which it is, but for so little.
_REACH, _BEYOND = 64, Fraction(1, 1 << 80)
# More than floats round.
_SLACK = 1e-9


def heavy_ways(noises: Sequence[Noise], ways: tuple[Way, ...]) -> tuple[tuple[Way, ...], Fraction]:
    """The ways, with None for what is next to never, and a bound of the probability of these."""
    kept: list[Way] = []
    left_out = Fraction(0)
    for way in ways:
        light = None if way is None else _light_mass(noises, way)
        kept.append(way if light is None else None)
        left_out += light or 0
    return tuple(kept), left_out


def uncertain_part(
    noises: Sequence[Noise], way: tuple[Constraint, ...]
) -> tuple[tuple[Constraint, ...], Fraction]:
    """The constraints that are not all but certain, and a bound of where the others do not hold."""
    kept: list[Constraint] = []
    terms = 0
    for one in way:
        if _is_certain(noises, one):
            terms += len(one.terms)
        else:
            kept.append(one)
    return tuple(kept), terms * _BEYOND


def lies_far(noises: Sequence[Noise], form: Form) -> bool:
    """Whether a sum is on the side of 0 where its constant is, but for what is next to never."""
    reach = sum(abs(float(factor)) * _near_scale(noises[v]) for v, factor in form.terms)
    return abs(float(form.constant)) > _REACH * reach * (1 + _SLACK)


def bound_of_far(form: Form) -> Fraction:
    """Of the probability that such a sum is on the other side."""
    return len(form.terms) * _BEYOND


def _light_mass(noises: Sequence[Noise], way: tuple[Constraint, ...]) -> Fraction | None:
    """A bound of the probability of a way where it is next to nothing; else None."""
    for one in way:
        reach = _reach(noises, one)
        if (one.low is not None and one.low > reach) or (
            one.high is not None and one.high < -reach
        ):
            return len(one.terms) * _BEYOND
    return None


def _is_certain(noises: Sequence[Noise], one: Constraint) -> bool:
    reach = _reach(noises, one)
    return (one.low is None or one.low < -reach) and (one.high is None or one.high > reach)


def _reach(noises: Sequence[Noise], one: Constraint) -> Fraction:
    sizes = (abs(Fraction(factor)) * _scale(noises[v]) for v, factor in one.terms)
    return _REACH * sum(sizes, Fraction(0))


def _near_scale(noise: Noise) -> float:
    return float(_scale(noise)) if noise.is_discrete else noise.near_parameter


def _scale(noise: Noise) -> Fraction:
    """So large that noise exceeds 64 of it with a probability of 2 e^-63 at most."""
    if noise.family == "geometric":  # (1 - p)^floor(64 / p) <= e^-63
        return 1 / noise.parameter
    if noise.family == "two-sided geometric":  # 2 q^floor(64 / (1 - q)) <= 2 e^-63
        return 1 / (1 - noise.parameter)
    if noise.family.startswith("rounded"):  # the whole part is at most 1 further out
        return noise.parameter + 1
    return noise.parameter
