"""What a privacy profile says: points, bands, certified epsilons, answers to GDP claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from liptest.errors import check_open_unit, check_positive
from liptest.privacy.exception_mass import ExceptionMass
from liptest.privacy.verdicts import in_words
from liptest.verdicts import Decision, Number, Record, Text, Whole, round_up


@dataclass(frozen=True)
class GdpAnswer(Record):
    """What a profile says about (epsilon, delta, exception_mass)-GDP (theory 3.1, 3.16).

    ``kind`` is "exact" or "statistical". A statistical NO is about the distribution and holds up
    to ``failure_probability``; it shows no pair of datasets and is not the certain NO of
    ``check_privacy``.
    """

    decision: Decision
    kind: Text
    epsilon: Number
    delta: Number
    exception_mass: Number
    lower: Number
    upper: Number
    failure_probability: Number
    sentence: Text

    def __str__(self) -> str:
        return f"{self.decision}: {self.sentence}"


@dataclass(frozen=True)
class CurvePoint(Record):
    """A value of a curve at one place, between ``lower`` and ``upper`` for certain."""

    at: Number
    lower: Number
    upper: Number


@dataclass(frozen=True)
class PrivacyCurves(Record):
    """What all neighbouring datasets of a domain tell, in three ways; enclosures throughout.

    Parameters
    ----------
    deltas
        By epsilon: the least delta with which it holds.
    divergences
        By order: the largest Renyi divergence; empty where no closed form is known.
    trade_off
        By the probability of a false alarm: the least probability of a miss that a test of two
        neighbouring datasets has, the largest convex curve below those of all pairs.
    mechanism, domain
        What they are of, in words.
    """

    deltas: tuple[CurvePoint, ...]
    divergences: tuple[CurvePoint, ...]
    trade_off: tuple[CurvePoint, ...]
    mechanism: Text = ""
    domain: Text = ""

    @property
    def ends_meet(self) -> bool:
        """Whether lower and upper ends of all deltas are the same but for rounding."""
        return all(point.upper <= point.lower + 1e-9 for point in self.deltas)

    def __str__(self) -> str:
        title = f"{self.mechanism}   what neighbours of {self.domain} tell"
        parts = [
            _table("epsilon", "delta", self.deltas),
            _table("order", "Renyi divergence", self.divergences),
            _table("false alarms", "misses of the best test", self.trade_off),
        ]
        return "\n\n".join([title, *(part for part in parts if part)])


@dataclass(frozen=True)
class PrivacyProfile(Record):
    """Exception mass against epsilon, exact or as bands that hold at all epsilons at once.

    Parameters
    ----------
    points
        One entry per epsilon of the grid, ascending.
    largest_loss
        The exact epsilon of the mechanism; of a sampled profile the largest loss seen, which is
        not a bound. Of curves alone inf.
    method
        "exact", "neighbourhoods" or "light-neighbourhoods".
    failure_probability
        Chance that the bands of a sampled profile, or its certified epsilon, are wrong; else 0.
    exception_mass, certified_epsilon
        At this mass, given beforehand, every claim of at least ``certified_epsilon`` holds;
        inf where the sample is too small. None for an exact profile.
    curves
        What all neighbours tell, where it was asked: epsilon-delta, Renyi and trade-off curves.
    """

    points: tuple[ExceptionMass, ...]
    largest_loss: Number
    method: Text = "exact"
    failure_probability: Number = 0.0
    exception_mass: Number | None = None
    certified_epsilon: Number | None = None
    tolerance: Number = 1e-9
    mechanism: Text = ""
    distribution: Text = ""
    draws: Whole = 0
    laws: Whole = 0
    seed: Whole | None = None
    seconds: Number = 0.0
    curves: PrivacyCurves | None = None

    optional: ClassVar[frozenset[str]] = frozenset({"curves"})

    def smallest_epsilon(self, exception_mass: float) -> float:
        """Least epsilon that is known to hold except on datasets of that mass; inf for none.

        One of the grid, or ``certified_epsilon`` where that mass is at most the one asked about.
        """
        fits = [p.epsilon for p in self.points if p.upper <= exception_mass]
        mass = self.exception_mass
        if mass is not None and mass <= exception_mass and self.certified_epsilon is not None:
            fits.append(self.certified_epsilon)
        return min(fits, default=math.inf)

    def at(self, epsilon: float) -> ExceptionMass:
        """Bounds at any epsilon: the exception mass falls, so points of the grid bound it."""
        value = check_positive("epsilon", epsilon)
        delta = self.points[0].delta if self.points else 0.0
        lower = max((p.lower for p in self.points if p.epsilon >= value), default=0.0)
        upper = min((p.upper for p in self.points if p.epsilon <= value), default=1.0)
        if self.certified_epsilon is not None and value >= self.certified_epsilon:
            upper = min(upper, self.exception_mass or 1.0)
        return ExceptionMass(value, delta, lower, upper)

    def gdp(self, *, epsilon: float, exception_mass: float) -> GdpAnswer:
        """Whether the claim holds except on datasets of total probability ``exception_mass``.

        Raises InputError unless epsilon > 0 and 0 < exception_mass < 1.
        """
        mass = check_open_unit("exception_mass", exception_mass)
        point = self.at(epsilon)
        decision = Decision.INCONCLUSIVE
        if point.lower > mass:
            decision = Decision.NO
        elif point.upper <= mass:
            decision = Decision.YES
        return GdpAnswer(
            decision,
            "exact" if self.method == "exact" else "statistical",
            point.epsilon,
            point.delta,
            mass,
            point.lower,
            point.upper,
            self.failure_probability,
            self._sentence(decision, point, mass),
        )

    def _sentence(self, decision: Decision, found: ExceptionMass, mass: float) -> str:
        claim = f"epsilon {found.epsilon:g}" + (f", delta {found.delta:g}" if found.delta else "")
        if decision is Decision.INCONCLUSIVE:
            return (
                f"the exception mass of {claim} lies between {found.lower:.4g} and "
                f"{found.upper:.4g}; {mass:g} is not decided."
            )
        chance = ""
        if self.method != "exact":
            chance = (
                f", or this run hit an event of probability <= {in_words(self.failure_probability)}"
            )
        if decision is Decision.YES:
            return (
                f"{claim} holds for all neighbouring datasets outside a set of untypical datasets "
                f"of total probability <= {round_up(max(found.upper, 1e-300)):g}{chance}."
                if found.upper > 0
                else f"{claim} holds for all neighbouring datasets of positive probability."
            )
        words = (
            f"every set of datasets outside which {claim} holds has total probability >= "
            f"{_round_down(found.lower):g}, more than {mass:g}{chance}."
        )
        if self.method == "exact":
            return words
        return (
            f"{words} A statistical statement about {self.distribution}; no pair of datasets is "
            f"shown, and it is not the certain NO of check_privacy."
        )

    def __str__(self) -> str:
        drawn = [] if self.curves is None else ["", str(self.curves)]
        if not self.points and self.curves is not None:
            return str(self.curves)
        return "\n".join([*self.heading(), *self.table(), *self.footing(), *drawn])

    def heading(self) -> list[str]:
        """What was profiled, and how."""
        delta = self.points[0].delta if self.points else 0.0
        title = f"{self.mechanism}   privacy profile" + (f" at delta {delta:g}" if delta else "")
        if self.method == "exact":
            how = f"Exact, under {self.distribution}." if self.distribution else "Exact."
            return [title, how]
        return [
            title,
            f"Sampled: {self.draws:,} datasets drawn from {self.distribution}, method "
            f"{self.method}: computed {self.laws:,} output distributions. Seed: {self.seed}.",
        ]

    def table(self, most: int = 20) -> list[str]:
        """Lines of at most ``most`` points, evenly spread, the last one included."""
        count = len(self.points)
        shown = min(most, count)
        picked = [self.points[round(k * (count - 1) / max(1, shown - 1))] for k in range(shown)]
        if self.method == "exact" and all(p.lower == p.upper for p in picked):
            return ["  epsilon  exception mass"] + [
                f"{p.epsilon:9.4g}  {p.upper:14.6g}" for p in picked
            ]
        return ["  epsilon  exception mass from        to"] + [
            f"{p.epsilon:9.4g}  {p.lower:19.6g}  {p.upper:8.6g}" for p in picked
        ]

    def footing(self) -> list[str]:
        """What holds, with which probability."""
        loss = "infinite" if math.isinf(self.largest_loss) else f"{self.largest_loss:.6f}"
        if self.method == "exact":
            return [f"Largest loss {loss}: the exact epsilon of the mechanism."]
        lines = [
            f"All rows hold at once, or this run hit an event of probability <= "
            f"{in_words(self.failure_probability)}. Largest loss seen {loss}, no bound.",
        ]
        if self.certified_epsilon is not None and math.isfinite(self.certified_epsilon):
            lines.append(
                f"With them: epsilon {self.certified_epsilon:.6g} and above hold outside a set of "
                f"datasets of total probability <= {self.exception_mass:g}."
            )
        return lines


def _round_down(mass: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(mass)) - 3)
    return math.floor(mass / unit) * unit


def _table(at: str, value: str, points: Sequence[CurvePoint]) -> str:
    if not points:
        return ""
    met = all(point.upper <= point.lower * (1 + 1e-6) + 1e-12 for point in points)
    rows = [f"{at:>12}  {value}" if met else f"{at:>12}  {value}, from and to"]
    for point in points:
        ends = f"{point.upper:.6g}" if met else f"{point.lower:<12.6g}  {point.upper:.6g}"
        rows.append(f"{point.at:12.6g}  {ends}")
    return "\n".join(rows)
