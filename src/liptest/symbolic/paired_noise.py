"""Differences of two geometric numbers as one number that falls to both sides.

G - G' of the same success probability p has probabilities proportional to (1 - p)^|k|. Where two
such variables occur in every sum as this difference, one two-sided
variable takes the place of both:
sums that are not differences of variables become such, and forms that go around in cycles fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from liptest.symbolic.forms import Constraint, Terms
from liptest.symbolic.noise import Noise


@dataclass(frozen=True)
class PairedNoise:
    """``noises`` with a two-sided variable in the place of the first of each pair (first, second).

    The second occurs nowhere any more.
    """

    noises: tuple[Noise, ...]
    pairs: tuple[tuple[int, int], ...]

    def terms(self, terms: Terms) -> Terms:
        """A sum without the second of each pair."""
        left_out = {second for _, second in self.pairs}
        return tuple((variable, factor) for variable, factor in terms if variable not in left_out)

    def constraint(self, one: Constraint) -> Constraint:
        """The same constraint."""
        return Constraint.make(
            self.terms(one.terms),
            one.low,
            one.high,
            low_closed=one.low_closed,
            high_closed=one.high_closed,
        )

    def point(self, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Values of all variables as they were before."""
        coordinates = list(point)
        for first, second in self.pairs:
            difference = coordinates[first]
            coordinates[second] = max(Fraction(1), 1 - difference)
            coordinates[first] = difference + coordinates[second]
        return tuple(coordinates)


def pair_noise(noises: tuple[Noise, ...], several: Iterable[Terms]) -> PairedNoise | None:
    """All pairs that occur in these sums as differences; None where there is none."""
    seen: dict[int, list[tuple[int, object]]] = {}
    for number, terms in enumerate(several):
        for variable, factor in terms:
            if noises[variable].family == "geometric":
                seen.setdefault(variable, []).append((number, factor))
    waiting: dict[object, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    changed = list(noises)
    for variable, places in seen.items():
        parameter = noises[variable].parameter
        opposite = tuple((number, -factor) for number, factor in places)  # type: ignore[operator]
        fitting = waiting.get((parameter, opposite))
        if not fitting:
            waiting.setdefault((parameter, tuple(places)), []).append(variable)
            continue
        first = fitting.pop()
        pairs.append((first, variable))
        changed[first] = Noise("two-sided geometric", 1 - parameter)
    return PairedNoise(tuple(changed), tuple(pairs)) if pairs else None
