"""``lt.compose``: what several releases cost together, as an enclosure.

Three numbers must not be confused (theory 6.11). k releases of one mechanism on one dataset cost
max over pairs of H(P^k, Q^k). Whoever may choose the data of each release after seeing the answers
before can do more. The dominating pair, whose curve is the largest over all pairs, bounds both from
above; a lower bound of it would say nothing, so lower bounds are those of actual pairs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from liptest.balls import precision
from liptest.data.domains import Domain
from liptest.errors import InputError, check_count, check_non_negative, check_open_unit, shown
from liptest.mechanisms.base import ClosedFormLosses, Mechanism, check_mechanism, through_reads
from liptest.mechanisms.laws import exact_ball
from liptest.mechanisms.shift import ShiftTable
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import exact_law
from liptest.privacy.exhaustive import check_affordable, exhaustive_size, pair_blocks
from liptest.privacy.likelihoods import LikelihoodPair
from liptest.privacy.loss_grid import Curve, GridLosses, grid_above, grid_below
from liptest.privacy.loss_lattice import (
    MixedLosses,
    covering,
    losses_above,
    losses_below,
    losses_of_claim,
    mixed,
)
from liptest.privacy.noise_likelihoods import listed_pair
from liptest.privacy.notions import MuClaim, RhoClaim
from liptest.privacy.tradeoff import gaussian_delta
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.verdicts import Decision

# Different pairs of laws that are composed.
_MOST_PAIRS = 256
# Pairs whose powers are a lower bound, or make up the cost on one dataset.
_FEW_PAIRS = 12
# Cells that all releases together take on a grid, about, and those of one release on a lattice.
_CELLS = 1 << 16
_MOST_CELLS = 1 << 17
_STRAIGHT = 64
# How many pairs are tried whether their curve lies above all others.
_TRIED = 4
# Losses beyond this are infinite, where they are not rarer than 2^-170 before.
_LARGEST = 64.0
_RARE = 2.0**-170
_CURVE_BITS = 320


@dataclass(frozen=True)
class Enclosed:
    """A number between ``lower`` and ``upper``, for certain."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Composition:
    """What releases cost together; ``epsilon_at`` and ``delta_at`` are enclosures.

    Parameters
    ----------
    names
        What is released, in the order given, each once.
    releases
        How many times each.
    adaptive
        Whether the data of a release may be chosen after the answers before it.
    above, below
        Losses from above, and those of actual pairs from below (none for claims).
    rho, mu
        Closed forms, where all parts have them, else None.
    exception_mass, failure_probability
        What verdicts by sampling except, and may get wrong, added up.
    """

    names: tuple[str, ...]
    releases: tuple[int, ...]
    adaptive: bool
    above: tuple[GridLosses | MixedLosses, ...]
    below: tuple[GridLosses | MixedLosses, ...] = ()
    rho: float | None = None
    mu: float | None = None
    exception_mass: float = 0.0
    failure_probability: float = 0.0

    def epsilon_at(self, delta: float) -> Enclosed:
        """The smallest epsilon with this delta; InputError for delta 0, which no grid decides."""
        value = check_open_unit("delta", delta)
        upper = max((one.epsilon_at(value) for one in self.above), default=math.inf)
        if self.rho is not None:
            upper = min(upper, epsilon_of_rho(self.rho, value))
        lower = max((one.epsilon_at(value) for one in self.below), default=0.0)
        return Enclosed(min(lower, upper), upper)

    def delta_at(self, epsilon: float) -> Enclosed:
        """The smallest delta with this epsilon."""
        value = check_non_negative("epsilon", epsilon)
        upper = max((one.delta_at(value) for one in self.above), default=1.0)
        lower = max((one.delta_at(value) for one in self.below), default=0.0)
        return Enclosed(min(lower, upper), upper)

    def __str__(self) -> str:
        parts = [f"{k} x {name}" for k, name in zip(self.releases, self.names, strict=True)]
        how = "adaptively chosen" if self.adaptive else "on one dataset"
        at = self.epsilon_at(1e-6)
        lines = [
            f"{' + '.join(parts)}, {how}",
            f"epsilon between {at.lower:.6g} and {at.upper:.6g} at delta 1e-6",
        ]
        lines += [f"rho {self.rho:.6g} (zCDP)"] if self.rho is not None else []
        lines += [f"mu {self.mu:.6g} (Gaussian DP)"] if self.mu is not None else []
        if self.exception_mass or self.failure_probability:
            lines.append(
                f"off datasets of total probability {self.exception_mass:.3g}, but for an event of "
                f"probability {self.failure_probability:.3g}"
            )
        return "\n".join(lines)


def compose(
    items: Sequence[Any],
    *,
    releases: int | Sequence[int] = 1,
    domain: Domain | None = None,
    adaptive: bool = True,
    step: float | None = None,
) -> Composition:
    """What releases of mechanisms, or under verdicts, cost together.

    Parameters
    ----------
    items
        Mechanisms, whose pairs on ``domain`` are composed, and YES verdicts, of which only the
        claim is known: epsilon and delta, mu, or rho (with the tolerance of the test).
    releases
        How many of each: one number for all, or one for each.
    domain
        Where neighbours of the mechanisms are looked for.
    adaptive
        False: of one mechanism, all releases on the same dataset; costs less.
    step
        Of the grid for losses that are not multiples of one number, a power of 2; the excess of
        upper bounds falls with its square. None: so that a grid of all releases is quick.

    Returns
    -------
    Composition
        ``epsilon_at(delta)``, ``delta_at(epsilon)`` with a lower and an upper bound; ``rho``,
        ``mu`` where all parts have them.

    Raises
    ------
    InputError
        No items, a verdict that is no YES, a claim that does not compose here, a mechanism without
        a domain, or with too many different pairs.
    """
    listed = list(items) if isinstance(items, (list, tuple)) else []
    if not listed:
        raise InputError(f"items={shown(items)} must be a list of mechanisms or verdicts")
    times = [releases] * len(listed) if isinstance(releases, int) else list(releases)
    if len(times) != len(listed):
        raise InputError(f"releases={shown(releases)}: one number for each item", name="releases")
    times = [check_count("releases", one) for one in times]
    size = None if step is None else _checked_step(step)
    if not adaptive:
        return _on_one_dataset(listed, times, domain, size)
    parts = [_part_of(item, domain) for item in listed]
    rho, mu = _sum([p.rho for p in parts], times), _square_sum([p.mu for p in parts], times)
    above: tuple[GridLosses | MixedLosses, ...] = ()
    size = size or _step_for(parts, times)
    if all(part.curve is not None for part in parts):
        grids = [part.above(size, k) for part, k in zip(parts, times, strict=True)]
        above = (mixed(list(zip(grids, times, strict=True))),)
    elif rho is None:
        raise InputError("items: rho composes with parts that have a rho only; claim rho of all")
    below: tuple[GridLosses | MixedLosses, ...] = ()
    if all(part.pairs for part in parts):
        both = [part.below(size, k) for part, k in zip(parts, times, strict=True)]
        below = tuple(mixed(list(zip(s, times, strict=True))) for s in zip(*both, strict=True))
    return Composition(
        tuple(part.name for part in parts),
        tuple(times),
        True,
        above,
        below,
        rho,
        mu,
        min(sum(p.mass for p in parts), 1.0),
        min(sum(p.failure for p in parts), 1.0),
    )


def epsilon_of_claims(claims: Sequence[tuple[Fraction, Fraction, int]], delta: Fraction) -> float:
    """The epsilon at delta of releases (epsilon, delta, how many), adaptively chosen, from above.

    0 for no releases.
    """
    if not claims:
        return 0.0
    target = float(delta)
    while target > 0 and Fraction(target) > delta:
        target = math.nextafter(target, 0.0)
    if target <= 0:
        return math.inf
    return mixed([(losses_of_claim(e, own), count) for e, own, count in claims]).epsilon_at(target)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """An epsilon that rho-zCDP gives at delta, rounded up: the best of many orders.

    delta <= exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1) for each a > 1 (C. Canonne, G.
    Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", 2020, corollary 13).
    """
    if rho == 0:
        return 0.0
    centre = 1 + math.sqrt(math.log(1 / delta) / rho)
    orders = [1 + (centre - 1) * 2 ** (k / 64) for k in range(-128, 129)]
    found = [
        a * rho + (math.log(1 / delta) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1)
        for a in orders
    ]
    return max(0.0, min(found) * (1 + 1e-12) + 1e-12)


@dataclass(frozen=True)
class _Part:
    """One item: its curve from above, its pairs, its closed forms."""

    name: str
    curve: Curve | None
    largest: float
    pairs: tuple[LikelihoodPair, ...] = ()
    rho: float | None = None
    mu: float | None = None
    mass: float = 0.0
    failure: float = 0.0
    lattice: GridLosses | None = None

    def above(self, step: Fraction, releases: int) -> GridLosses:
        """Its losses from above, for so many releases."""
        assert self.curve is not None
        if self.is_on_lattice(releases) and self.lattice is not None:
            return self.lattice
        return grid_above(self.curve, self.largest, step)

    def below(self, step: Fraction, releases: int) -> list[GridLosses]:
        """The losses of its dearest pair from below, in both orders."""
        chosen = max(self.pairs, key=_weight)
        return [_below(side, step, releases) for side in (chosen, chosen.reversed())]

    def is_on_lattice(self, releases: int) -> bool:
        """Whether there is a lattice that is not too fine."""
        return self.lattice is not None and _is_small(self.lattice, releases)


def _is_small(losses: GridLosses, releases: int) -> bool:
    cells = losses.weights.degree() + 1
    # Of many cells most are far out, and cut off again.
    return cells * (math.sqrt(releases) if cells > _STRAIGHT else releases) <= _MOST_CELLS


def _below(pair: LikelihoodPair, step: Fraction, releases: int) -> GridLosses:
    found = losses_below(pair)
    return grid_below(pair, step) if found is None or not _is_small(found, releases) else found


def _step_for(parts: Sequence[_Part], times: Sequence[int]) -> Fraction:
    """A power of 2, so that the losses of all releases take a given number of cells."""
    squares = mean = 0.0
    least = math.inf
    for part, releases in zip(parts, times, strict=True):
        if part.curve is None or part.is_on_lattice(releases) or not part.largest:
            continue
        with precision(_CURVE_BITS):
            apart = float(part.curve(arb(0)).upper())
        spread = min(part.largest, 3 * apart)
        mean += releases * spread * spread / 2
        squares += releases * spread * spread
        least = min(least, part.largest)
    if not squares:
        return Fraction(1, 1 << 10)
    reach = max(mean + 15 * math.sqrt(squares), least / 4)
    return Fraction(2) ** math.floor(math.log2(2 * reach / _CELLS))


def _part_of(item: Any, domain: Domain | None) -> _Part:
    if isinstance(item, PrivacyVerdict):
        return _of_verdict(item)
    checked = check_mechanism(item)
    if not isinstance(domain, Domain):
        raise InputError(
            f"domain={shown(domain)}: mechanisms are composed on a domain; give domain=, or the "
            f"verdict of lt.check_privacy",
            name="domain",
        )
    return through_reads(checked, domain, lambda seen: _of_mechanism(seen, domain))


def _of_verdict(verdict: PrivacyVerdict) -> _Part:
    if verdict.decision is not Decision.YES:
        raise InputError(f"items: the verdict on {verdict.mechanism} is {verdict.decision}, no YES")
    guarantee, claim = verdict.guarantee, verdict.claim
    mass, failure = guarantee.exception_mass or 0.0, guarantee.failure_probability or 0.0
    name = verdict.mechanism
    if isinstance(claim, RhoClaim):
        bound = _up(float(claim.limit))
        return _Part(name, None, 0.0, rho=bound, mass=mass, failure=failure)
    if isinstance(claim, MuClaim):
        mu = _up(float(claim.limit))
        curve = lambda epsilon: gaussian_delta(arb(mu), epsilon)  # noqa: E731
        largest = _finite_range(curve)
        bound = _up(mu * mu / 2)
        return _Part(name, curve, largest, rho=bound, mu=mu, mass=mass, failure=failure)
    if not isinstance(claim, Claim):
        raise InputError(f"items: claim={claim} does not compose here; claim epsilon, rho or mu")
    epsilon = _up(claim.threshold * guarantee.approximation_factor)
    delta = _up(claim.delta_threshold) if claim.delta else 0.0
    rho = None if delta else _up(epsilon * math.tanh(epsilon / 2))
    limit = lambda at: _claimed_delta(epsilon, delta, at)  # noqa: E731
    lattice = losses_of_claim(Fraction(epsilon), Fraction(delta))
    return _Part(name, limit, epsilon, rho=rho, mass=mass, failure=failure, lattice=lattice)


def _claimed_delta(epsilon: float, delta: float, at: arb) -> arb:
    """The largest delta at another epsilon of what is (epsilon, delta)-private."""
    gamma, spare = at.exp(), 1 - arb(delta)
    line = 1 - (1 + gamma) * spare / (1 + arb(epsilon).exp())
    return arb(delta).max(line).max(1 - gamma * spare)


def _of_mechanism(mechanism: Mechanism, domain: Domain) -> _Part:
    pairs, closed = _pairs_of(mechanism, domain)
    if pairs:
        largest = max((_largest_loss(pair) for pair in pairs), default=0.0)
        lattice = _above_all(pairs)
        return _Part(mechanism.name, _curve_of(pairs), largest, tuple(pairs), lattice=lattice)

    def curve(epsilon: arb) -> arb:
        found = arb(0)
        for left, right in closed:
            assert isinstance(mechanism, ClosedFormLosses)
            found = found.max(mechanism.pair_hockey_stick(left, right, epsilon).upper())
        return found

    return _Part(mechanism.name, curve, _finite_range(curve))


def _pairs_of(
    mechanism: Mechanism, domain: Domain
) -> tuple[list[LikelihoodPair], list[tuple[Any, Any]]]:
    """Different pairs of laws, as likelihood ratios, or as datasets that closed forms compare."""
    check_affordable(exhaustive_size(mechanism, domain), None, mechanism)
    pairs: dict[Any, LikelihoodPair] = {}
    closed: dict[Any, tuple[Any, Any]] = {}
    for block in pair_blocks(mechanism, domain, RhoClaim(1.0)):
        for k in range(len(block.left)):
            if len(pairs) + len(closed) > _MOST_PAIRS:
                raise InputError(
                    f"items: {mechanism.name} has more than {_MOST_PAIRS} different pairs of laws; "
                    f"compose its verdict, or a smaller domain",
                    name="items",
                )
            left, right = int(block.left[k]), int(block.right[k])
            if isinstance(block.laws, ShiftTable):
                moved = np.abs(np.atleast_1d(block.laws.centres[left] - block.laws.centres[right]))
                sizes = tuple(sorted(int(one) for one in moved if one))
                if sizes in pairs or sizes in closed:
                    continue
                one = listed_pair(block.laws.noise, sizes[0]) if len(sizes) == 1 else None
                if one is not None:
                    pairs[sizes] = one
                else:
                    closed[sizes] = block.locate(k)
                continue
            if (left, right) in closed or (left, right) in pairs:
                continue
            ends = block.locate(k)
            if isinstance(mechanism, ClosedFormLosses):
                closed[left, right] = ends
                continue
            sides = [exact_law(mechanism, end) for end in ends]
            one = LikelihoodPair.of_laws(*sides)
            pairs[one.exact or (left, right)] = one
    if pairs and closed:
        return [], list(closed.values())
    return list(pairs.values()), list(closed.values())


def _curve_of(pairs: Sequence[LikelihoodPair]) -> Curve:
    """The largest hockey-stick divergence of pairs in both orders, from above."""
    sides = [_Stick(side) for pair in pairs for side in (pair, pair.reversed())]

    def curve(epsilon: arb) -> arb:
        gamma, found = epsilon.exp(), arb(0)
        for side in sides:
            found = found.max(side.above(gamma))
        return found

    return curve


def _above_all(pairs: Sequence[LikelihoodPair]) -> GridLosses | None:
    """The losses of the pair whose curve is above those of all others, on their lattice."""
    sides = [side for pair in pairs for side in (pair, pair.reversed())]
    curves = [_Stick(side).above for side in sides]
    for side in sorted(sides, key=_weight, reverse=True)[:_TRIED]:
        losses = losses_above(side)
        found = covering(losses, curves) if losses is not None else None
        if found is not None:
            return found
    return None


def _extra(pair: LikelihoodPair) -> arb:
    """Mass that may be of infinite loss."""
    only = pair.left_only if isinstance(pair.left_only, arb) else exact_ball(pair.left_only)
    return (only + exact_ball(pair.open_left)).upper()


def _largest_loss(pair: LikelihoodPair) -> float:
    with precision(_CURVE_BITS):
        found = 0.0
        for p, q in pair.in_balls():
            for a, b in ((p, q), (q, p)):
                if b.lower() > 0 and a.upper() > 0:
                    found = max(found, float((a.upper() / b.lower()).log().upper()))
        return min(math.nextafter(found, math.inf), _LARGEST)


def _finite_range(curve: Curve) -> float:
    """A loss beyond which hardly anything is left, or the largest one that is looked at."""
    largest = 0.5
    with precision(_CURVE_BITS):
        while largest < _LARGEST and not curve(arb(largest)).upper() < _RARE:
            largest *= 1.25
    return largest


def _on_one_dataset(
    items: list[Any], times: list[int], domain: Domain | None, step: Fraction | None
) -> Composition:
    """One mechanism, every release on one dataset (theory 6.11 a)."""
    if len(items) != 1 or isinstance(items[0], PrivacyVerdict) or not isinstance(domain, Domain):
        raise InputError(
            "adaptive=False: give one mechanism, releases= and domain=; different mechanisms, and "
            "verdicts, are composed with adaptive=True",
            name="adaptive",
        )
    mechanism = check_mechanism(items[0])
    pairs, closed = through_reads(mechanism, domain, lambda seen: _pairs_of(seen, domain))
    if closed or len(pairs) > _FEW_PAIRS:
        raise InputError(
            f"adaptive=False: {mechanism.name} has {len(pairs) + len(closed)} different pairs of "
            f"laws, and {_FEW_PAIRS} finite ones are composed one by one; use adaptive=True",
            name="adaptive",
        )
    above, below = [], []
    sides = [side for pair in pairs for side in (pair, pair.reversed())]
    for side in sides:
        forth, back = (_one_curve(one) for one in (side, side.reversed()))
        part = _Part(mechanism.name, forth, _largest_loss(side), lattice=losses_above(side))
        size = step or _step_for([part], times)
        grid = part.above(size, times[0])
        if not part.is_on_lattice(times[0]):
            grid = grid_above(forth, part.largest, size, back)
        above.append(grid.power(times[0]))
        below.append(_below(side, size, times[0]).power(times[0]))
    return Composition((mechanism.name,), tuple(times), False, tuple(above), tuple(below))


def _one_curve(pair: LikelihoodPair) -> Curve:
    stick = _Stick(pair)
    return lambda epsilon: stick.above(epsilon.exp())


class _Stick:
    """The hockey-stick divergence of one ordered pair, from above: sums over falling ratios."""

    def __init__(self, pair: LikelihoodPair) -> None:
        with precision(_CURVE_BITS):
            self._extra = _extra(pair)
            atoms = pair.in_balls()
            ratios = [p / q if q > 0 else arb("+inf") for p, q in atoms]
            order = sorted(range(len(atoms)), key=lambda k: float(ratios[k].mid()), reverse=True)
            self._atoms = [atoms[k] for k in order]
            self._sums = [(arb(0), arb(0))]
            self._least: list[arb] = []
            for k in order:
                p, q = self._sums[-1]
                self._sums.append((p + atoms[k][0], q + atoms[k][1]))
                least = ratios[k].lower() if ratios[k].is_finite() else arb(0)
                self._least.append(least.min(self._least[-1]) if self._least else least)
            self._most = [arb(0)]
            for k in reversed(order):
                self._most.append(ratios[k].upper().max(self._most[-1]))
            self._most.reverse()

    def above(self, gamma: arb) -> arb:
        """sum max(0, p - gamma q), and all that may be of infinite loss."""
        # Certainly positive terms; then those that may be.
        sure = bisect_left(self._least, True, key=lambda least: not least > gamma)
        p, q = self._sums[sure]
        total = self._extra + p - gamma * q
        for k in range(sure, len(self._atoms)):
            if self._most[k] <= gamma:
                break
            total += (self._atoms[k][0] - gamma * self._atoms[k][1]).upper().max(arb(0))
        return total.upper()


def _weight(pair: LikelihoodPair) -> float:
    """The total variation distance, about: which pair is likely the dearest."""
    return float(pair.left_only) + sum(abs(float(p.mid() - q.mid())) for p, q in pair.in_balls())


def _sum(values: list[float | None], times: list[int]) -> float | None:
    if any(value is None for value in values):
        return None
    return _up(math.fsum(k * value for k, value in zip(times, values, strict=True) if value))


def _square_sum(values: list[float | None], times: list[int]) -> float | None:
    squares = _sum([None if value is None else value * value for value in values], times)
    return None if squares is None else _up(math.sqrt(squares))


def _up(value: float) -> float:
    """Rounded up by more than what a few operations on floats may lose."""
    return math.nextafter(value * (1 + 2.0**-50), math.inf) if value else 0.0


def _checked_step(step: float) -> Fraction:
    value = Fraction(check_open_unit("step", step))
    if value.numerator != 1 or value.denominator & (value.denominator - 1):
        raise InputError(f"step={shown(step)} must be a power of 2, such as 2**-10", name="step")
    return value
