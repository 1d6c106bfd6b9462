"""rho, Renyi divergences and mu of data of any size, from what neighbours move (theory S12).

Normal noise that moves by m standard deviations has D_a = a m^2 / 2, rho = m^2 / 2 and mu = m.
Laplace noise that moves by s scales has D_a in closed form, rho = s + e^-s - 1 (in the limit of
order 1), and mu = -2 Phi^-1(e^(-s/2) / 2). What changes no probability by more than a factor e^e
tells no more than randomised response of that e does, whose rho is e tanh(e / 2) and whose mu is
-2 Phi^-1(1 / (1 + e^e)). Independent parts add up: divergences, rho, and the squares of mu.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from liptest.balls import precision
from liptest.data.domains import Domain
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.claims import NotionClaim, text_above
from liptest.privacy.comparison import round_ends
from liptest.privacy.divergences.renyi import BITS
from liptest.privacy.divergences.tradeoff import gaussian_delta
from liptest.privacy.notions import MuClaim, RenyiClaim, RhoClaim
from liptest.privacy.proofs.prices import WAYS, Alignment
from liptest.symbolic.alignment import Price, price_paths
from liptest.symbolic.answers import ManyDifferences
from liptest.symbolic.joint_shifts import JointShift, NoJointShift, find_joint_shifts

Of = Callable[[Fraction], arb]


@dataclass(frozen=True)
class UpperBound:
    """An upper bound: a rational number, and what is known in balls beside it."""

    exact: Fraction
    parts: tuple[arb, ...] = ()

    def is_within(self, limit: Fraction) -> bool:
        """Whether it is certainly at most a limit; ties of rational numbers are."""
        if not self.parts:
            return self.exact <= limit
        return bool(self.ball() <= exact_ball(limit))

    def ball(self) -> arb:
        """All of it."""
        return sum(self.parts, exact_ball(self.exact))


def align_notion(mechanism: Mechanism, domain: Domain, claim: NotionClaim) -> Alignment:
    """What neighbours move, and what is proved of rho, Renyi or mu by it; or why nothing is."""
    started = time.perf_counter()
    best = Alignment(None, reason="its code is not followed with data as symbols")
    for way in WAYS:
        try:
            alignment = _align(mechanism, domain, claim, way)
        except LiptestError as error:
            alignment = Alignment(None, reason=str(error))
        if way == WAYS[0] or alignment.measured < best.measured:
            best = alignment
        if best.is_kept:
            break
    return replace(best, seconds=time.perf_counter() - started)


@dataclass(frozen=True)
class SizeBounds:
    """Upper bounds for data of any size, by each way in which code is followed."""

    ways: tuple[tuple[JointShift, ...], ...]

    def delta(self, epsilon: float) -> float:
        """The bound of the delta of an epsilon."""
        return self._least(lambda shift: bound_delta(shift, Fraction(epsilon)).min(arb(1)))

    def renyi(self, order: float) -> float:
        """The bound of the divergence of an order."""
        return self._least(lambda shift: bound_renyi(shift, Fraction(order)).ball())

    def _least(self, bound: Callable[[JointShift], arb]) -> float:
        with precision(BITS):
            ends = [max((bound(shift).upper() for shift in way), key=float) for way in self.ways]
            least = min(ends, key=float)
            return 0.0 if least <= 0 else _round(least)


def bounds_at_any_size(mechanism: Mechanism, domain: Domain) -> SizeBounds | None:
    """What neighbours move, for any claim; None where nothing is proved."""
    ways: list[tuple[JointShift, ...]] = []
    for way in WAYS:
        with suppress(LiptestError):
            followed = mechanism.align_paths(domain, way=way)
            if followed is None or not followed.paths or _why_with_delta(followed) is not None:
                continue
            shifts = _shifts(followed, way)
            if not isinstance(shifts, NoJointShift):
                ways.append(tuple(shifts))
    return SizeBounds(tuple(ways)) if ways else None


def _why_with_delta(followed: Any) -> str | None:
    if followed.rounding:
        return "choices with weights in floats"
    return None if followed.missing is None else "values that may be missing"


def _align(mechanism: Mechanism, domain: Domain, claim: NotionClaim, way: str) -> Alignment:
    followed = mechanism.align_paths(domain, way=way)
    if followed is None or not followed.paths:
        reason = "there is no code to follow" if followed is None else followed.reason
        return Alignment(None, reason=reason)
    what = _why_with_delta(followed)
    if what is not None:
        return Alignment(
            None,
            reason=f"{what} are private with a delta only, so none of rho, Renyi and mu is proved "
            f"of them",
        )
    shifts = _shifts(followed, way)
    if isinstance(shifts, NoJointShift):
        return Alignment(None, reason=shifts.why)
    measured, worst = max(
        ((measure_shift(claim, shift), shift) for shift in shifts), key=lambda pair: pair[0]
    )
    # As the claim is meant: its tolerance is not a part of the figure.
    figure = text_above(measured / (1 + claim.tolerance))
    said = f"{claim.measure} {figure}"
    if isinstance(claim, RenyiClaim):
        said = f"{figure} of the claimed divergence"
    kept = all(is_kept(claim, shift) for shift in shifts)
    return Alignment(
        Price(None, move=worst.move, shifts=worst.words),
        len(followed.paths),
        followed.reads_length,
        dearest=followed.change_of_move(worst.move) if worst.move else None,
        boundary=followed.pairs_of_moves((worst.move,)) if worst.move else (),
        measured=measured,
        said=said,
        is_kept=kept,
    )


def _shifts(followed: Any, way: str) -> list[JointShift] | NoJointShift:
    """The shifts of all sums, or where comparisons are conditions the largest loss of all."""
    if way == WAYS[0]:
        return find_joint_shifts(followed.paths, followed.differences)
    if isinstance(followed.differences, ManyDifferences):
        return NoJointShift("comparisons of several rows of a user are not shifted together")
    price = price_paths(followed.paths, followed.differences)
    if price.epsilon is None:
        return NoJointShift(price.why)
    return [JointShift(loss=price.epsilon, move=price.move, words=price.shifts)]


def is_kept(claim: NotionClaim, shift: JointShift) -> bool:
    """Whether a claim of rho, Renyi or mu certainly holds where neighbours move no more."""
    with precision(BITS):
        if isinstance(claim, RhoClaim):
            return bound_rho(shift).is_within(claim.limit)
        if isinstance(claim, MuClaim):
            return bound_mu_square(shift).is_within(claim.limit**2)
        assert isinstance(claim, RenyiClaim)
        raised = 1 + Fraction(claim.tolerance)
        return all(
            bound_renyi(shift, Fraction(order)).is_within(Fraction(tau) * raised)
            for order, tau in claim.orders
        )


def measure_shift(claim: NotionClaim, shift: JointShift) -> float:
    """The bound of what the claim measures: rho, mu, or the largest share of a divergence."""
    with precision(BITS):
        if isinstance(claim, RhoClaim):
            return _round(bound_rho(shift).ball())
        if isinstance(claim, MuClaim):
            return _round(bound_mu_square(shift).ball().sqrt())
        assert isinstance(claim, RenyiClaim)
        return max(
            _round(bound_renyi(shift, Fraction(order)).ball() / exact_ball(Fraction(tau)))
            for order, tau in claim.orders
        )


def bound_rho(shift: JointShift) -> UpperBound:
    """Of D_a / a for all orders a > 1."""
    if not shift.are_independent:
        # D_a <= a m^2 / 2 + e, so D_a / a is largest in the limit of order 1.
        return UpperBound(shift.square / 2 + shift.loss)
    return _bound(shift, shift.square / 2, _rho_of_laplace, _rho_of_loss)


def bound_renyi(shift: JointShift, order: Fraction) -> UpperBound:
    """Of the divergence of an order above 1."""
    normal = order * shift.square / 2
    if not shift.are_independent:
        return UpperBound(normal + shift.loss)
    laplace = partial(_renyi_of_laplace, order=order)
    return _bound(shift, normal, laplace, partial(_renyi_of_loss, order=order))


def bound_delta(shift: JointShift, epsilon: Fraction) -> arb:
    """Of the hockey-stick divergence: by mu, by the largest loss, of one Laplace shift alone."""
    e, delta = exact_ball(epsilon), arb(1)
    mu = bound_mu_square(shift).ball().sqrt()
    if mu.is_finite():
        delta = delta.min(gaussian_delta(mu, e).upper() if mu > 0 else arb(0))
    if not shift.square:
        loss = sum(shift.laplace, shift.loss)
        if loss <= epsilon:
            return arb(0)
        by_loss = (exact_ball(loss).exp() - e.exp()) / (1 + exact_ball(loss).exp())
        delta = delta.min(by_loss.upper())
        if not shift.loss and len(shift.laplace) == 1:
            delta = delta.min((1 - ((e - exact_ball(loss)) / 2).exp()).upper())
    return delta


def bound_mu_square(shift: JointShift) -> UpperBound:
    """Of mu^2; infinite where the parts are not independent and of both kinds."""
    if not shift.are_independent and shift.square and shift.loss:
        return UpperBound(shift.square, (arb("+inf"),))
    return _bound(shift, shift.square, _mu_square_of_laplace, _mu_square_of_loss)


def _bound(shift: JointShift, normal: Fraction, of_laplace: Of, of_loss: Of) -> UpperBound:
    """The bound of all independent parts together."""
    parts = [of_laplace(laplace) for laplace in shift.laplace]
    if shift.loss:
        parts.append(of_loss(shift.loss))
    return UpperBound(normal, tuple(parts))


def _rho_of_laplace(shift: Fraction) -> arb:
    s = exact_ball(shift)
    return s + (-s).exp() - 1


def _renyi_of_laplace(shift: Fraction, order: Fraction) -> arb:
    """Mironov 2017, proposition 6."""
    a, s = exact_ball(order), exact_ball(shift)
    total = a * ((a - 1) * s).exp() + (a - 1) * (-a * s).exp()
    return (total / (2 * a - 1)).log() / (a - 1)


def _mu_square_of_laplace(shift: Fraction) -> arb:
    """-2 Phi^-1(p / 2) is 2 sqrt(2) erfcinv(p)."""
    return 8 * (-exact_ball(shift) / 2).exp().erfcinv() ** 2


def _rho_of_loss(loss: Fraction) -> arb:
    e = exact_ball(loss)
    return e * (e / 2).tanh()


def _renyi_of_loss(loss: Fraction, order: Fraction) -> arb:
    a, e = exact_ball(order), exact_ball(loss)
    return (((a - arb(1) / 2) * e).cosh() / (e / 2).cosh()).log() / (a - 1)


def _mu_square_of_loss(loss: Fraction) -> arb:
    return 8 * (2 / (1 + exact_ball(loss).exp())).erfcinv() ** 2


def _round(above: arb) -> float:
    """The float that is not below."""
    return round_ends(above, above)[1]
