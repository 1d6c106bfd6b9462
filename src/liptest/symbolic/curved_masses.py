"""The probability that noise meets conditions whose bounds are functions of sums of the data.

A condition is ``base + factor * Z > 0`` or ``<= 0``, with curves for base and factor and one noise
Z, so it says on which side of a threshold -base / factor Z lies. The logarithm of the probability
of one side is a monotone function of the threshold, and so is its slope, as all noise here has a
log-concave density: both are enclosed by their ends. Where a tail is one exponential its slope is
exact, which decides ties on a whole piece (docs/theory/tables.md, B17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce

from flint import arb

from liptest.balls import ball
from liptest.symbolic.curves import (
    NOWHERE,
    Applied,
    Curve,
    Enclosure,
    PlainNumber,
    add,
    divide,
    enclose,
    largest,
    multiply,
    smallest,
    subtract,
)
from liptest.symbolic.noise import Noise
from liptest.symbolic.rounded_laws import mass_beyond

#: ``rng.random()`` is a multiple of it.
_GRID = Fraction(1, 1 << 53)
_THRESHOLD = Fraction(1, 1 << 50)
_PLUS_ONE, _MINUS_ONE = PlainNumber(Fraction(1)), PlainNumber(Fraction(-1))


@dataclass(frozen=True)
class CurvedCondition:
    """``base + sum of factor * noise`` is above 0 on this path, or it ``is_above`` nothing."""

    base: Curve
    noise: tuple[tuple[int, Curve], ...]
    is_above: bool


@dataclass(frozen=True)
class CurvedPath:
    """One path: its noise, and all that it asks; each condition has one noise.

    ``weight`` is the probability of its other random choices.
    """

    noises: tuple[Noise, ...]
    conditions: tuple[tuple[int, CurvedCondition], ...]
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Mass:
    """The probability of a path on a box.

    ``log`` of it is -inf where it is 0, and not finite where it may be 0; then ``plain`` is the
    probability itself. ``off``: how far floats take it at most; ``share``: its log.
    """

    log: Enclosure
    off: arb
    share: arb = field(default_factory=lambda: arb("inf"))
    plain: Enclosure | None = None


def is_nothing(log: Enclosure) -> bool:
    """Whether it is the log of 0. (What is not a number is neither equal to that nor unequal.)"""
    return bool(log.value == arb("-inf"))


_UNKNOWN = Mass(NOWHERE, arb("inf"))
_IMPOSSIBLE = Mass(Enclosure(arb("-inf")), arb(0))


@dataclass(frozen=True)
class SumBox:
    """What answers are on a box: ``at`` on all of it, ``middle`` in a point of it.

    ``spread``: by coordinate how far the box reaches from there, a ball around 0.
    """

    at: Mapping[int, Enclosure]
    middle: Mapping[int, Enclosure]
    spread: Mapping[int, arb]

    def closer(self, number: Enclosure, in_middle: Enclosure) -> Enclosure:
        """A number by the mean value theorem, too."""
        if not (number.is_finite and in_middle.is_finite and self.spread):
            return number
        around = in_middle.value
        for k, own in number.slopes.items():
            around += own * self.spread[k]
        if not around.is_finite():
            return number
        low = number.value.lower().max(around.lower())
        high = number.value.upper().min(around.upper())
        return replace(number, value=low.union(high)) if low <= high else number


def find_path_mass(path: CurvedPath, place: SumBox) -> Mass:
    """The probability of a path where answers are enclosed."""
    at = place.at
    known: dict[Curve, Enclosure] = {}
    in_middle: dict[Curve, Enclosure] = {}
    sides: dict[int, _Sides] = {}
    for variable, condition in path.conditions:
        noise = path.noises[variable]
        threshold, is_lower = _threshold(noise, condition, at, known)
        if place.spread and threshold.is_finite:
            middle, _ = _threshold(noise, condition, place.middle, in_middle)
            threshold = place.closer(threshold, middle)
        if not threshold.is_finite:
            return _UNKNOWN
        sides_of_variable = sides.setdefault(variable, _Sides(LAWS[noise.family]))
        (sides_of_variable.lows if is_lower else sides_of_variable.highs).append(threshold)
        is_first = (
            len(sides_of_variable.lows) + len(sides_of_variable.highs) == 1
            and noise.family == "uniform"
        )
        sides_of_variable.named = _of_named_function(condition, at, known) if is_first else None
    weight = ball(path.weight)
    total, off, shares = Enclosure(weight.log()), arb(0), arb(0)
    for between in sides.values():
        mass, own_off = between.log_mass()
        if is_nothing(mass):
            return _IMPOSSIBLE
        total = add(total, mass)
        off += own_off
        shares += between.share_of_floats(mass, own_off)
    if not total.value.is_finite():
        factors = (between.mass() for between in sides.values())
        plain = reduce(multiply, factors, Enclosure(weight))
        return Mass(NOWHERE, off.upper(), plain=plain)
    # All other factors are at most 1, and relatively errors multiply.
    share = shares.expm1().upper()
    relative = (total.value.exp() * share).upper()
    return Mass(total, (off.min(relative) if relative.is_finite() else off).upper(), share)


def _of_named_function(
    condition: CurvedCondition, at: Mapping[int, Enclosure], known: dict[Curve, Enclosure]
) -> Enclosure | None:
    """The log of what ``rng.random()`` does with exp(x) or 1 / (1 + exp(-x)), whose slopes are
    closer as those of exponential and logistic noise; None for all else."""
    function = _compare_with(condition)
    if not isinstance(function, Applied):
        return None
    # U < F(x) where the noise with this F is below x, and U < exp(x) where -log(U) is above -x.
    is_below, sign, family = not condition.is_above, 1, "logistic"
    if _is_minus(condition) is False:
        is_below = not is_below
    if function.name == "exp":
        exponent, sign, family = function.parts[0], -1, "exponential"
        is_below = not is_below
    else:
        found = _exponent_of_logistic(function)
        if found is None:
            return None
        exponent, sign = found
    point = enclose(exponent, at, known)
    if not point.is_finite:
        return None
    moved = Enclosure(point.value * sign, {k: own * sign for k, own in point.slopes.items()})
    return _one_side(LAWS[family], *((None, moved) if is_below else (moved, None)))


def _is_minus(condition: CurvedCondition) -> bool | None:
    """Whether a function is taken from the noise, or the noise from it; None for all else."""
    factor = condition.noise[0][1]
    if not isinstance(factor, PlainNumber) or abs(factor.value) != 1:
        return None
    return factor.value == 1


def _compare_with(condition: CurvedCondition) -> Curve | None:
    base, is_minus = condition.base, _is_minus(condition)
    if is_minus is None:
        return None
    if not is_minus:
        return base
    is_negated = isinstance(base, Applied) and base.name == "mul" and base.parts[0] == _MINUS_ONE
    return base.parts[1] if is_negated and isinstance(base, Applied) else None


def _exponent_of_logistic(function: Applied) -> tuple[Curve, int] | None:
    """x or -x, and the sign, of 1 / (1 + exp(-x)) and of exp(x) / (1 + exp(x))."""
    if function.name != "truediv":
        return None
    above, below = function.parts
    if not (isinstance(below, Applied) and below.name == "add" and _PLUS_ONE in below.parts):
        return None
    power = below.parts[below.parts[0] == _PLUS_ONE]
    if not (isinstance(power, Applied) and power.name == "exp"):
        return None
    signs = {_PLUS_ONE: -1, power: 1}
    return (power.parts[0], signs[above]) if above in signs else None


def _threshold(
    noise: Noise,
    condition: CurvedCondition,
    at: Mapping[int, Enclosure],
    known: dict[Curve, Enclosure],
) -> tuple[Enclosure, bool]:
    """Where the noise over its scale has to be above, or below, and which of both."""
    base = enclose(condition.base, at, known)
    factor = enclose(condition.noise[0][1], at, known)
    if not (base.is_finite and factor.is_finite):
        return NOWHERE, True
    is_positive = bool(factor.value.lower() > factor.off)
    if not (is_positive or factor.value.upper() < -factor.off):
        return NOWHERE, True
    quotient = divide(base, factor)
    scale = ball(-1 / noise.parameter)
    value = quotient.value * scale
    off = quotient.off * abs(scale) + abs(value) * ball(_THRESHOLD)
    if noise.family == "uniform":
        off += ball(_GRID)
    slopes = {k: own * scale for k, own in quotient.slopes.items()}
    return Enclosure(value, slopes, off.upper()), is_positive is condition.is_above


@dataclass(frozen=True)
class Law:
    """A family with scale 1: logs of the probabilities below and above a point, and their slopes.

    Each is of an exact point. ``mode``: where the density is largest.
    """

    below: Callable[[arb], arb]
    above: Callable[[arb], arb]
    below_slope: Callable[[arb], arb]
    above_slope: Callable[[arb], arb]
    density: Callable[[arb], arb]
    mode: int


class _Sides:
    """All thresholds of one noise."""

    def __init__(self, law: Law) -> None:
        self._law = law
        self.lows: list[Enclosure] = []
        self.highs: list[Enclosure] = []
        #: The log of the probability in closer slopes, of one threshold.
        self.named: Enclosure | None = None

    @property
    def _ends(self) -> tuple[Enclosure | None, Enclosure | None]:
        low = reduce(largest, self.lows) if self.lows else None
        return low, reduce(smallest, self.highs) if self.highs else None

    def log_mass(self) -> tuple[Enclosure, arb]:
        """The log of the probability between the thresholds, and how far floats take that.

        It is -inf where that is certain of floats, too.
        """
        (low, high), law = self._ends, self._law
        off = sum((_off(law, side) for side in (low, high) if side is not None), arb(0))
        if low is None or high is None:
            return self.named or _one_side(law, low, high), off
        gap = low.value.lower() - low.off - high.value.upper() - high.off
        if gap > 0:
            return Enclosure(arb("-inf")), off
        # What is far out on the right is the difference of what is above.
        is_right = bool(low.value > 0)
        pairs = [(low, None), (high, None)] if is_right else [(None, high), (None, low)]
        inner, outer = (_one_side(law, *pair) for pair in pairs)
        less = _power(outer)
        mass = _power(inner) - less
        if not mass > 0:
            return NOWHERE, off
        # Slopes of both that are equal are that of the difference.
        slopes = {
            k: inner.slope(k) + less / mass * (inner.slope(k) - outer.slope(k))
            for k in {**low.slopes, **high.slopes}
        }
        return Enclosure(mass.log(), slopes), off

    def share_of_floats(self, log: Enclosure, off: arb) -> arb:
        """How far floats take the log of the probability at most.

        With one threshold by no more than its slope there, which is monotone: no box is too wide.
        """
        sides = self.lows + self.highs
        if len(sides) == 1 and self.named is None:
            slope_of = self._law.above_slope if self.lows else self._law.below_slope
            ends = sides[0].value.lower() - sides[0].off, sides[0].value.upper() + sides[0].off
            slopes = [abs(slope_of(end)) for end in ends]
            if all(slope.is_finite() for slope in slopes):
                return (slopes[0].max(slopes[1]) * sides[0].off).upper()
        least = log.value.exp().lower() - off
        return off / least if least > 0 else arb("inf")

    def mass(self) -> Enclosure:
        """The probability itself, 0 where the thresholds are in the wrong order."""
        low, high = self._ends
        ends = [None if end is None else self._below(end) for end in (low, high)]
        above = ends[1] or Enclosure(arb(1))
        return above if ends[0] is None else largest(subtract(above, ends[0]), Enclosure(arb(0)))

    def _below(self, threshold: Enclosure) -> Enclosure:
        law, ends = self._law, (threshold.value.lower(), threshold.value.upper())
        masses = [_exp(law.below(end)) for end in ends]
        around = [law.density(end) for end in ends]
        slope = around[0].min(around[1]).union(_most(law, threshold.value))
        slopes = {k: slope * own for k, own in threshold.slopes.items()}
        return Enclosure(masses[0].union(masses[1]), slopes)


def _power(log: Enclosure) -> arb:
    return _exp(log.value)


def _exp(log: arb) -> arb:
    return arb(0) if log == arb("-inf") else log.exp()


def _off(law: Law, threshold: Enclosure) -> arb:
    """How much probability lies within what floats take a threshold off."""
    around = threshold.value + arb(0).union(threshold.off) - arb(0).union(threshold.off)
    return (_most(law, around) * threshold.off).upper()


def _most(law: Law, points: arb) -> arb:
    """The density at most on a ball: it falls on both sides of its mode."""
    ends = [law.density(end) for end in (points.lower(), points.upper())]
    if points.contains(arb(law.mode)):
        ends.append(law.density(arb(law.mode)))
    return reduce(lambda left, right: left.max(right), ends).upper()


def _one_side(law: Law, low: Enclosure | None, high: Enclosure | None) -> Enclosure:
    side = low if high is None else high
    assert side is not None
    of, slope_of = (law.above, law.above_slope) if high is None else (law.below, law.below_slope)
    ends = side.value.lower(), side.value.upper()
    logs = [of(end) for end in ends]
    if all(log == arb("-inf") for log in logs):
        # Floats may be on the other side of where the noise ends.
        far = side.value.lower() - side.off if high is None else side.value.upper() + side.off
        return Enclosure(arb("-inf")) if of(far) == arb("-inf") else NOWHERE
    if not all(log.is_finite() for log in logs):
        return NOWHERE
    by = slope_of(ends[0]).union(slope_of(ends[1]))
    return Enclosure(logs[0].union(logs[1]), {k: by * own for k, own in side.slopes.items()})


def log_total(parts: Iterable[Mass]) -> tuple[Enclosure, arb]:
    """The log of a sum of probabilities, and how far floats take the sum, relatively."""
    there = [part for part in parts if not is_nothing(part.log)]
    if not there:
        return Enclosure(arb("-inf")), arb(0)
    lost = sum((part.off for part in there), arb(0))
    logs = [part.log for part in there if part.log.value.is_finite()]
    others = [part.plain for part in there if not part.log.value.is_finite()]
    if not logs or None in others:
        return NOWHERE, arb("inf")
    total = logs[0] if len(there) == 1 else _sum_up(logs, [other for other in others if other])
    if not total.value.is_finite():
        return NOWHERE, arb("inf")
    least = total.value.exp().lower()
    relative = (lost / least).upper() if least > 0 else arb("inf")
    # A sum is off by no larger share than its parts are.
    largest_share = reduce(lambda left, right: left.max(right), (part.share for part in there))
    return total, relative.min(largest_share) if largest_share.is_finite() else relative


def _sum_up(logs: list[Enclosure], others: list[Enclosure]) -> Enclosure:
    masses = [_power(log) for log in logs]
    mass = sum((*masses, *(other.value for other in others)), arb(0))
    # The mean of slopes: those that are equal give the same.
    first = logs[0]
    slopes: dict[int, arb] = {}
    for k in {k for one in (*logs, *others) for k in one.slopes}:
        slope = first.slope(k)
        for own, log in zip(masses[1:], logs[1:], strict=True):
            slope += own / mass * (log.slope(k) - first.slope(k))
        for one in others:
            slope += (one.slope(k) - one.value * first.slope(k)) / mass
        slopes[k] = slope
    return Enclosure(mass.log(), slopes)


# ---- families


def _laplace_below(x: arb) -> arb:
    return x - arb(2).log() if x <= 0 else (-(-x).exp() / 2).log1p()


def _laplace_slope(x: arb) -> arb:
    if x <= 0:
        return arb(1)
    half = (-x).exp() / 2
    return half / (1 - half)


def _logistic_below(x: arb) -> arb:
    return -(-x).exp().log1p() if x >= 0 else x - x.exp().log1p()


def _logistic_slope(x: arb) -> arb:
    return 1 / (1 + x.exp())


def _normal_mass(x: arb) -> arb:
    return mass_beyond("normal", 1, x, -1)


def _normal_below(x: arb) -> arb:
    return _normal_mass(x).log()


def _normal_density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _normal_slope(x: arb) -> arb:
    return _normal_density(x) / _normal_mass(x)


def _symmetric(
    below: Callable[[arb], arb], slope: Callable[[arb], arb], density: Callable[[arb], arb]
) -> Law:
    return Law(below, lambda x: below(-x), slope, lambda x: -slope(-x), density, 0)


def _gumbel_below(x: arb) -> arb:
    return -(-x).exp()


def _gumbel_above(x: arb) -> arb:
    return mass_beyond("gumbel", 1, x, 1).log()


def _gumbel_above_slope(x: arb) -> arb:
    power = (-x).exp()
    return -power / power.expm1()


def _exponential_below(x: arb) -> arb:
    return (-(-x).expm1()).log() if x > 0 else arb("-inf")


def _exponential_below_slope(x: arb) -> arb:
    return 1 / x.expm1() if x > 0 else arb("nan")


def _uniform_below(x: arb) -> arb:
    return arb(0) if x >= 1 else x.log() if x > 0 else arb("-inf")


def _uniform_slope(x: arb) -> arb:
    return arb(0) if x > 1 else 1 / x if x > 0 else arb("nan")


#: Of scale 1.
LAWS: Mapping[str, Law] = {
    "laplace": _symmetric(_laplace_below, _laplace_slope, lambda x: (-abs(x)).exp() / 2),
    "logistic": _symmetric(
        _logistic_below, _logistic_slope, lambda x: _logistic_slope(x) * _logistic_slope(-x)
    ),
    "normal": _symmetric(_normal_below, _normal_slope, _normal_density),
    "gumbel": Law(
        _gumbel_below,
        _gumbel_above,
        lambda x: (-x).exp(),
        _gumbel_above_slope,
        lambda x: (-x - (-x).exp()).exp(),
        0,
    ),
    "exponential": Law(
        _exponential_below,
        lambda x: -x if x > 0 else arb(0),
        _exponential_below_slope,
        lambda x: arb(-1) if x >= 0 else arb(0),
        lambda x: (-x).exp() if x >= 0 else arb(0),
        0,
    ),
    "uniform": Law(
        _uniform_below,
        lambda x: _uniform_below(1 - x),
        _uniform_slope,
        lambda x: -_uniform_slope(1 - x),
        lambda x: arb(1) if 0 <= x <= 1 else arb(0),
        0,
    ),
}
