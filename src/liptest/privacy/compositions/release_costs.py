"""What is known of one release, and what that says of it together with others.

A release has a curve of deltas, a bound of its Renyi divergences, or both. Curves are composed as
losses (theory 6.11 to 6.15). Divergences of each order add up, and what they add up to is a curve
again (6.16), which is composed with those of the other releases.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from flint import arb

from liptest.balls import precision
from liptest.privacy.claims import AnyClaim, Claim
from liptest.privacy.compositions.loss_grid import Curve, GridLosses, grid_above, grid_below
from liptest.privacy.compositions.loss_lattice import (
    MixedLosses,
    curve_of_points,
    losses_below,
    losses_of_claim,
    losses_of_points,
    mix,
)
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.tradeoff import gaussian_delta
from liptest.privacy.notions import CurveClaim, MuClaim, RenyiClaim, RhoClaim

#: Bits with which curves are calculated.
CURVE_BITS = 320
# Cells that all releases together take on a grid, about, and those of one release on a lattice.
_CELLS = 1 << 18
_MOST_CELLS = 1 << 18
_STRAIGHT = 64
_MOST_FITTED = 1 << 13
# Losses beyond this are infinite, where they are not rarer than 2^-170 before.
LARGEST = 64.0
_RARE = 2.0**-170
# How often a curve that is dear is asked, and where its chords are close enough.
_CHORDS = 100
_CLOSE_CHORD = 1e-13


@dataclass(frozen=True)
class ReleaseTerms:
    """What a claim says of one release; each field holds, and empty ones say nothing.

    Parameters
    ----------
    points
        Pairs (epsilon, delta).
    rho, mu
        Of zCDP and of Gaussian DP.
    orders
        Pairs (order, Renyi divergence).
    """

    points: tuple[tuple[Fraction, Fraction], ...] = ()
    rho: Fraction | None = None
    mu: Fraction | None = None
    orders: tuple[tuple[Fraction, Fraction], ...] = ()

    @classmethod
    def of_claim(cls, claim: AnyClaim, factor: float = 1.0) -> ReleaseTerms:
        """With the tolerance of its test; a claim that was tested up to a factor holds with it."""
        if isinstance(claim, RhoClaim):
            return cls(rho=claim.limit)
        if isinstance(claim, MuClaim):
            return cls(mu=claim.limit)
        if isinstance(claim, RenyiClaim):
            raised = 1 + Fraction(claim.tolerance)
            return cls(
                orders=tuple((Fraction(a), Fraction(tau) * raised) for a, tau in claim.orders)
            )
        points = claim.points if isinstance(claim, CurveClaim) else (claim,)
        assert all(isinstance(point, Claim) for point in points)
        return cls(
            points=tuple(_point(stated, factor) for stated in points if isinstance(stated, Claim))
        )


@dataclass(frozen=True)
class ReleasePart:
    """One item: its curve from above, its pairs, its closed forms."""

    name: str
    curve: Curve | None = None
    largest: float = 0.0
    pairs: tuple[LikelihoodPair, ...] = ()
    rho: float | None = None
    mu: float | None = None
    mass: float = 0.0
    failure: float = 0.0
    lattice: GridLosses | None = None
    orders: tuple[tuple[float, float], ...] = ()
    conditions: tuple[str, ...] = ()
    is_convex: bool = True

    @classmethod
    def of_terms(
        cls, terms: ReleaseTerms, name: str, mass: float = 0.0, failure: float = 0.0
    ) -> ReleasePart:
        """Make a part of terms; nothing else is known of it."""
        if terms.mu is not None:
            mu = raise_slightly(float(terms.mu))
            normal = GaussianCurve(mu)
            part = cls(name, normal, finite_range(normal), rho=raise_slightly(mu * mu / 2), mu=mu)
        elif terms.rho is not None:
            part = cls(name, rho=raise_slightly(float(terms.rho)))
        elif terms.orders:
            listed = [(float(a), raise_slightly(float(tau))) for a, tau in terms.orders]
            part = cls(name, orders=tuple(listed))
        else:
            largest = math.nextafter(float(max(end for end, _ in terms.points)), math.inf)
            part = cls(name, curve_of_points(terms.points), largest, rho=_find_rho(terms.points))
            part = replace(part, lattice=_lattice(terms.points))
        return replace(part, mass=mass, failure=failure)

    def above(self, step: Fraction, releases: int) -> GridLosses:
        """Its losses from above, for so many releases."""
        assert self.curve is not None
        if self.is_on_lattice(releases) and self.lattice is not None:
            return self.lattice
        return _grid_above(self.curve, self.largest, step, self.is_convex)

    def dearest(self) -> LikelihoodPair:
        """The actual pair that is likely the dearest."""
        return max(self.pairs, key=pair_weight)

    def is_exact_below(self, releases: int) -> bool:
        """Whether the losses of that pair have a lattice that is not too fine."""
        losses = losses_below(self.dearest())
        return losses is not None and _is_small(losses, releases)

    def is_on_lattice(self, releases: int) -> bool:
        """Whether there is a lattice that is not too fine."""
        return self.lattice is not None and _is_small(self.lattice, releases)

    def divergence(self, order: float) -> float | None:
        """A bound of its Renyi divergence of an order; None where none is known."""
        if self.rho is not None:
            return raise_slightly(self.rho * order)
        # Divergences do not fall with the order.
        return min((tau for a, tau in self.orders if a >= order), default=None)


@lru_cache(maxsize=8)
def _grid_above(curve: Curve, largest: float, step: Fraction, is_convex: bool) -> GridLosses:
    """Of a ledger that is asked again and again they are the same, and dear."""
    return grid_above(curve, largest, step, is_convex=is_convex)


@dataclass(frozen=True)
class GaussianCurve:
    """The deltas of Gaussian DP; curves of one mu are equal."""

    mu: float

    def __call__(self, epsilon: arb) -> arb:
        """The delta at an epsilon."""
        return gaussian_delta(arb(self.mu), epsilon)


#: Losses of releases together, on one lattice or on several.
Losses = GridLosses | MixedLosses


def losses_together(
    parts: Sequence[ReleasePart], times: Sequence[int], step: Fraction | None = None
) -> tuple[Losses, ...]:
    """Of all releases from above; none where divergences alone say all."""
    curved = [(part, k) for part, k in zip(parts, times, strict=True) if part.curve is not None]
    if not curved:
        return ()
    # Divergences are added up before they become a curve: less is lost.
    rest = [(part, k) for part, k in zip(parts, times, strict=True) if part.curve is None]
    for some in (
        [release for release in rest if release[0].rho is not None],
        [o for o in rest if o[0].orders],
    ):
        if some:
            curve = OrdersCurve(*divergences(*zip(*some, strict=True)))
            part = ReleasePart("", curve, finite_range(curve), is_convex=False)
            curved.append((part, 1))
    size = step or step_for(curved)
    return (mix([(part.above(size, k), k) for part, k in curved]),)


def divergences(
    parts: Sequence[ReleasePart], times: Sequence[int]
) -> tuple[float | None, tuple[tuple[float, float], ...]]:
    """What divergences add up to: rho where all parts have one, and those of single orders."""
    rho = add_up([part.rho for part in parts], times)
    listed = sorted({a for part in parts for a, _ in part.orders})
    sums = [(a, add_up([part.divergence(a) for part in parts], times)) for a in listed]
    return rho, tuple((a, total) for a, total in sums if total is not None)


@dataclass(frozen=True)
class OrdersCurve:
    """The deltas that rho and divergences of single orders leave possible (theory 6.16).

    Curves of the same numbers are equal.
    """

    rho: float | None
    orders: tuple[tuple[float, float], ...]

    def __call__(self, epsilon: arb) -> arb:
        """The delta at an epsilon."""
        at = float(epsilon.mid())
        best, least = arb(1), 0.0
        for a, tau in _choose(self.rho, self.orders, at):
            about = _log_delta(a, tau, at)
            if about < least:
                best, least = _find_delta(a, tau, epsilon), about
        return best.min(arb(1))


def _choose(
    rho: float | None, orders: tuple[tuple[float, float], ...], at: float
) -> Iterable[tuple[float, float]]:
    yield from orders
    if rho:
        centre = max((at / rho + 1) / 2, 1.0)
        for k in (0, 1, 2, 4, 8):
            a = centre * (1 + k / 16) + 2.0**-k / 8
            yield a, raise_slightly(a * rho)


def _log_delta(a: float, tau: float, epsilon: float) -> float:
    return (a - 1) * (tau - epsilon) + a * math.log1p(-1 / a) - math.log(a - 1)


def _find_delta(a: float, tau: float, epsilon: arb) -> arb:
    order = arb(a)
    return ((order - 1) * (arb(tau) - epsilon)).exp() * (1 - 1 / order) ** order / (order - 1)


def epsilon_of_orders(
    found: tuple[float | None, tuple[tuple[float, float], ...]], delta: float
) -> float:
    """An epsilon that rho, and divergences of single orders, give at delta, rounded up.

    delta <= exp((a - 1)(tau - epsilon)) (1 - 1/a)^a / (a - 1) for each a > 1 (C. Canonne, G.
    Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", 2020, corollary 13).
    """
    rho, orders = found
    if rho == 0:
        return 0.0
    listed = list(orders)
    if rho is not None:
        centre = 1 + math.sqrt(math.log(1 / delta) / rho)
        chosen = [1 + (centre - 1) * 2 ** (k / 64) for k in range(-128, 129)]
        listed += [(a, a * rho) for a in chosen]
    epsilons = [
        tau + (math.log(1 / delta) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1)
        for a, tau in listed
    ]
    return max(0.0, min(epsilons, default=math.inf) * (1 + 1e-12) + 1e-12)


def step_for(parts: Iterable[tuple[ReleasePart, int]], *, of_all: bool = False) -> Fraction:
    """A power of 2, so that the losses of all releases take a given number of cells.

    Those on a lattice of their own need no step; ``of_all``: they count, too.
    """
    squares = mean = 0.0
    least = math.inf
    for part, releases in parts:
        if part.curve is None or not part.largest:
            continue
        if not of_all and part.is_on_lattice(releases):
            continue
        with precision(CURVE_BITS):
            apart = float(part.curve(arb(0)).upper())
        spread = min(part.largest, 3 * apart)
        mean += releases * spread * spread / 2
        squares += releases * spread * spread
        least = min(least, part.largest)
    if not squares:
        return Fraction(1, 1 << 10)
    reach = max(mean + 15 * math.sqrt(squares), least / 4)
    return Fraction(2) ** math.floor(math.log2(2 * reach / _CELLS))


def pair_below(pair: LikelihoodPair, step: Fraction, releases: int) -> GridLosses:
    """The losses of an actual pair from below, on a lattice of its own or on the grid."""
    cells = _MOST_CELLS // (releases if releases <= _STRAIGHT else round(8 * math.sqrt(releases)))
    losses = losses_below(pair, min(cells, _MOST_FITTED))
    return grid_below(pair, step) if losses is None or not _is_small(losses, releases) else losses


def finite_range(curve: Curve) -> float:
    """A loss beyond which hardly anything is left, or the largest one that is looked at."""
    largest = 0.5
    with precision(CURVE_BITS):
        while largest < LARGEST and not curve(arb(largest)).upper() < _RARE:
            largest *= 1.25
    return largest


class ChordCurve:
    """A bound of a curve that is dear to ask: its chords between a few points (theory 6.11).

    delta is convex in e^epsilon, so that chords lie above it; it is asked where they lie above it
    furthest. Beyond ``largest`` it is what it is there.
    """

    def __init__(self, curve: Curve, largest: float, points: int = _CHORDS) -> None:
        self._ends = [0.0, largest]
        with precision(CURVE_BITS):
            self._deltas = [curve(arb(end)).upper() for end in self._ends]
            # By how much the chord over each stretch may be too high, about; the worst one first.
            worst = [(-math.inf, 0.0, largest)]
            for _ in range(points):
                gap, low, high = heapq.heappop(worst)
                if -gap < _CLOSE_CHORD:
                    break
                middle = (low + high) / 2
                delta = curve(arb(middle)).upper()
                over = float((self(arb(middle)) - delta).mid())
                place = bisect(self._ends, middle)
                self._ends.insert(place, middle)
                self._deltas.insert(place, delta)
                for half in ((low, middle), (middle, high)):
                    heapq.heappush(worst, (-over / 4, *half))

    def __call__(self, epsilon: arb) -> arb:
        """The bound; epsilon a number of no width."""
        place = bisect(self._ends, float(epsilon.mid()))
        if place == len(self._ends):
            return self._deltas[-1]
        low, high = (arb(end).exp() for end in self._ends[place - 1 : place + 1])
        first, second = self._deltas[place - 1 : place + 1]
        return first + (second - first) * (epsilon.exp() - low) / (high - low)


def add_up(values: Sequence[float | None], times: Sequence[int]) -> float | None:
    """The sum over releases, rounded up; None where one value is not known."""
    if any(value is None for value in values):
        return None
    return raise_slightly(
        math.fsum(k * value for k, value in zip(times, values, strict=True) if value)
    )


def raise_slightly(value: float) -> float:
    """Rounded up by more than what a few operations on floats may lose."""
    return math.nextafter(value * (1 + 2.0**-50), math.inf) if value else 0.0


def _find_rho(points: Sequence[tuple[Fraction, Fraction]]) -> float | None:
    """By the largest loss alone (theory 6.9)."""
    pure = [epsilon for epsilon, delta in points if not delta]
    if not pure:
        return None
    least = raise_slightly(float(min(pure)))
    return raise_slightly(least * math.tanh(least / 2))


def _lattice(points: Sequence[tuple[Fraction, Fraction]]) -> GridLosses | None:
    if len(points) == 1:
        return losses_of_claim(*points[0])
    return losses_of_points(points)


def _point(claim: Claim, factor: float) -> tuple[Fraction, Fraction]:
    epsilon = Fraction(raise_slightly(claim.threshold * factor))
    return epsilon, Fraction(raise_slightly(claim.delta_threshold) if claim.delta else 0.0)


def _is_small(losses: GridLosses, releases: int) -> bool:
    cells = losses.weights.degree() + 1
    # Of many cells most are far out, and cut off again.
    return cells * (math.sqrt(releases) if cells > _STRAIGHT else releases) <= _MOST_CELLS


def pair_weight(pair: LikelihoodPair) -> float:
    """The total variation distance, about: which pair is likely the dearest."""
    return float(pair.left_only) + sum(abs(float(p.mid() - q.mid())) for p, q in pair.in_balls())
