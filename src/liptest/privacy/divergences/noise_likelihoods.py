"""Divergences and curves of declared whole-number noise against itself, shifted; no truncation.

Two-sided geometric noise shifted by s has s + 1 likelihood ratios, so that the infinitely many
outputs are s + 1 atoms (theory 6.6). For discrete Gaussian noise D_a is at most
a s^2 / (2 sigma^2), with equality at each whole order: its rho is s^2 / (2 sigma^2), exactly (6.7;
C. Canonne, G. Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", 2020,
proposition 5). Its mu is above s / sigma, the mu of the noise without rounding: the corners
{j >= k} of masses T(k - s) and T(k), T the tail, are calculated up to some K, beyond which none
exceeds what the first ones reach (theory 6.19).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.data.domains import IntArray
from liptest.mechanisms.additive import AdditiveNoise, DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import statistic_value
from liptest.mechanisms.laws import exact_ball
from liptest.mechanisms.shift import ShiftMechanism, ShiftTable, VectorShift
from liptest.privacy.divergences.likelihoods import Balls, LikelihoodPair
from liptest.privacy.divergences.renyi import Ends, Orders, PairOrders, SumOfOrders
from liptest.privacy.divergences.tradeoff import MuEnclosure, enclose_mu, gaussian_quantile

Indices = NDArray[np.int64]

#: A shift has at most so many atoms.
_MOST_ATOMS = 1 << 14
#: Bits beyond the precision to which a theta sum is taken.
_SPARE_BITS = 16
# What a window of outputs leaves out at most.
_LEFT_OUT = Fraction(1, 2**180)


@singledispatch
def orders_of_noise(noise: AdditiveNoise, shift: int) -> Orders | None:
    """The divergences of noise against itself plus a shift; None where they are not known."""
    return None


@singledispatch
def pair_of_noise(noise: AdditiveNoise, shift: int) -> LikelihoodPair | None:
    """The likelihood ratios of noise against itself plus a shift; None where not finitely many."""
    return None


@orders_of_noise.register
def _(noise: DiscreteLaplace, shift: int) -> Orders | None:
    pair = pair_of_noise(noise, shift)
    return None if pair is None else PairOrders(pair)


@pair_of_noise.register
def _(noise: DiscreteLaplace, shift: int) -> LikelihoodPair | None:
    size = abs(shift)
    return None if size > _MOST_ATOMS else LikelihoodPair(None, _Geometric(noise.scale, size))


@orders_of_noise.register
def _(noise: DiscreteGaussian, shift: int) -> Orders | None:
    return GaussianOrders(noise.sigma, abs(shift))


@dataclass(frozen=True)
class _Geometric:
    """Atoms of P(j) = (1-q)/(1+q) q^|j| against P(j - size): j <= 0, 0 < j < size, j >= size."""

    scale: Fraction
    size: int

    def __call__(self) -> list[Balls]:
        q = exact_ball(-1 / self.scale).exp()
        if self.size == 0:
            return [(arb(1), arb(1))]
        near = 1 / (1 + q)
        far = exact_ball(-self.size / self.scale).exp() * near
        peak = (1 - q) * near
        powers = [peak * exact_ball(-j / self.scale).exp() for j in range(1, self.size)]
        return [(near, far), *zip(powers, reversed(powers), strict=True), (far, near)]


def list_pair(noise: AdditiveNoise, shift: int) -> LikelihoodPair | None:
    """As ``pair_of_noise``; else outputs of a long window, and beside them what these leave out."""
    pair = pair_of_noise(noise, shift)
    if pair is not None:
        return pair
    size, window = abs(shift), 1
    while noise.tail(window) > _LEFT_OUT:
        window *= 2
        if window > _MOST_ATOMS:
            return None
    left_out = noise.tail(window)
    return LikelihoodPair(
        None, _Window(noise, size, window), open_left=left_out, open_right=left_out
    )


@dataclass(frozen=True)
class _Window:
    """Atoms of outputs -window .. window + size; each law leaves out the tail of one noise."""

    noise: AdditiveNoise
    size: int
    window: int

    def __call__(self) -> list[Balls]:
        far = self.window + self.size
        logs = [self.noise.log_pmf_ball(j).exp() for j in range(far + 1)]
        outputs = range(-self.window, far + 1)
        return [(logs[abs(j)], logs[abs(j - self.size)]) for j in outputs]


@dataclass(frozen=True)
class GaussianOrders:
    """Divergences of discrete Gaussian noise against itself, ``size`` further."""

    sigma: Fraction
    size: int

    def renyi(self, order: Fraction) -> Ends:
        """a s^2 / (2 sigma^2) + ln(theta((1 - a) s) / theta(0)) / (a - 1).

        theta(c) = sum_j exp(-(j - c)^2 / (2 sigma^2)), at most theta(0), and of period 1.
        """
        line = exact_ball(order * self.known_rho())
        centre = (1 - order) * self.size
        centre -= round(centre)
        if centre == 0:
            return line.lower(), line.upper()
        ratio = self._theta(centre) / self._theta(Fraction(0))
        divergence = line + ratio.log() / exact_ball(order - 1)
        return divergence.lower().max(arb(0)), divergence.upper().min(line.upper())

    def kullback_leibler(self) -> Ends:
        """E[(s^2 - 2 s X) / (2 sigma^2)] with X symmetric: the line at order 1."""
        line = exact_ball(self.known_rho())
        return line.lower(), line.upper()

    def curvature(self, end: Fraction) -> arb:
        return arb("+inf")

    def largest_loss(self) -> arb:
        return arb("+inf") if self.size else arb(0)

    def known_rho(self) -> Fraction:
        return Fraction(self.size**2) / (2 * self.sigma**2)

    def _theta(self, centre: Fraction) -> arb:
        # For |centre| <= 1/2, terms beyond w fall at least as a geometric series does.
        double = 2 * self.sigma**2
        window, bits = 1, ctx.prec + _SPARE_BITS
        while (window - 1) ** 2 < double * bits:
            window *= 2
        total = arb(0)
        for j in range(-window, window + 1):
            total += exact_ball(-((j - centre) ** 2) / double).exp()
        first = exact_ball(-((window + 1 - abs(centre)) ** 2) / double).exp()
        ratio = exact_ball(-(2 * (window + 1 - abs(centre)) + 1) / double).exp()
        return total + arb(0).union((2 * first / (1 - ratio)).upper())


def find_noise_shifts(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray
) -> tuple[AdditiveNoise, list[int]] | None:
    """The noise of a mechanism and how far each noisy number moves; None: it is not a shift."""
    if not isinstance(mechanism, (ShiftMechanism, VectorShift)):
        return None
    ends = [statistic_value(mechanism.statistic, end) for end in (dataset, neighbour)]
    moved = (ends[1] - ends[0]).reshape(-1).tolist()
    return mechanism.noise, [abs(int(shift)) for shift in moved if shift]


def shifts_between(laws: ShiftTable, left: Indices, right: Indices) -> tuple[Indices, Indices]:
    """Different moves of pairs of laws, (m, k) sizes, and which of them each pair has, (p,)."""
    moved = np.abs(laws.centres[right] - laws.centres[left]).reshape(len(left), -1)
    different, which = np.unique(np.sort(moved, axis=1), axis=0, return_inverse=True)
    return different, which.reshape(-1)


def orders_of_shifts(noise: AdditiveNoise, shifts: Sequence[int]) -> Orders | None:
    """Divergences of independent shifts; None where they are not known."""
    parts = [orders_of_noise(noise, int(shift)) for shift in shifts if shift]
    orders = [part for part in parts if part is not None]
    return SumOfOrders(orders) if len(orders) == len(parts) else None


def mu_of_shifts(noise: AdditiveNoise, shifts: Sequence[int]) -> MuEnclosure | None:
    """mu of one shift; None for several, or where outputs cannot be listed.

    Of curves with infinitely many corners those of a long window bound mu from below only.
    """
    moved = [int(shift) for shift in shifts if shift]
    if not moved:
        return enclose_mu(LikelihoodPair.of_masses([(Fraction(1), Fraction(1))]))
    if len(moved) == 1 and isinstance(noise, DiscreteGaussian):
        enclosure = enclose_gaussian_mu(noise.sigma, moved[0])
        if enclosure is not None and enclosure.upper.is_finite():
            return enclosure
    pair = list_pair(noise, moved[0]) if len(moved) == 1 else None
    return None if pair is None else enclose_mu(pair)


BITS = 192
# Corners that are looked at, and by what share mu is taken larger for those beyond.
_MOST, _MORE = 1 << 13, arb(2) ** -80


def enclose_gaussian_mu(sigma: Fraction, shift: int) -> MuEnclosure | None:
    """None where corners beyond all that are looked at may be larger."""
    with precision(BITS):
        first = math.ceil(4 * sigma) + shift + 4
        enclosure = _largest(sigma, shift, first)
        last = first
        while not _is_settled(sigma, shift, enclosure.upper * (1 + _MORE), last):
            last *= 2
            if last > _MOST:
                return None
        return enclosure if last == first else _largest(sigma, shift, last)


def _largest(sigma: Fraction, shift: int, last: int) -> MuEnclosure:
    tails = _tails(sigma, last)
    infinite = arb("+inf")
    best, upper = MuEnclosure(arb(0), arb(0), infinite, (arb(0), arb(0))), arb(0)
    # The corner of s + 1 - k has the mu of that of k.
    for k in range((shift + 1) // 2, last + 1):
        (p, p_rest), (q, q_rest) = (_masses(tails, at) for at in (k - shift, k))
        mu = gaussian_quantile(p, p_rest) - gaussian_quantile(q, q_rest)
        if not mu.is_finite():
            return MuEnclosure(best.lower, infinite, best.ratio, best.masses)
        upper = upper.max(mu.upper())
        if mu.lower() > best.lower:
            ratio = exact_ball(Fraction(shift * (2 * k - shift)) / (2 * sigma**2)).exp()
            best = MuEnclosure(mu.lower(), upper, ratio, (p, q))
    return MuEnclosure(best.lower, upper, best.ratio, best.masses)


def _masses(tails: list[arb], k: int) -> tuple[arb, arb]:
    """T(k) and 1 - T(k)."""
    if k > 0:
        return tails[k], 1 - tails[k]
    return 1 - tails[1 - k], tails[1 - k]


def _tails(sigma: Fraction, last: int) -> list[arb]:
    """T(0), .., T(last); each sum ends where a geometric series bounds the rest."""
    double = 2 * sigma**2
    far = last + 1
    while (far - last) * (far + last) <= BITS * double:
        far += max(1, (far - last) // 2)
    weights = [exact_ball(-(j**2) / double).exp() for j in range(far + 1)]
    rest = weights[far] * _geometric(sigma, far)
    sums = [weights[far].union(rest)]
    for weight in reversed(weights[:far]):
        sums.append(sums[-1] + weight)
    sums.reverse()
    total = sums[0] + sums[1]
    return [mass / total for mass in sums[: last + 2]]


def _geometric(sigma: Fraction, k: int) -> arb:
    """T(k) is at most so many times P(k): P(j + 1)/P(j) falls with j."""
    return 1 / (1 - exact_ball(-Fraction(2 * k + 1) / (2 * sigma**2)).exp())


def _is_settled(sigma: Fraction, shift: int, mu: arb, k: int) -> bool:
    """Whether no corner from k on has a mu above this one (theory 6.19)."""
    spread, s = exact_ball(sigma), arb(shift)
    x, c = k / spread, 1 / spread
    if not (mu >= s / spread and x - c >= 1 / c and k > shift):
        return False
    total = exact_ball(sigma) * (2 * arb.pi()).sqrt()  # the sum of all weights is at least that
    tail = (c * x - c**2 / 2).exp() * (x - c) / (1 + (x - c) ** 2) * total
    if not tail / (_geometric(sigma, k) * (2 * arb.pi()).sqrt()) >= 1:
        return False
    ratio = exact_ball(-Fraction(2 * k + 1) / (2 * sigma**2)).exp()
    moved = ratio * (s / spread**2).exp()
    if not moved < 1:
        return False
    mean = ((1 - ratio) / (1 - moved)).log()
    gap = mu * (x - c) - mu**2 / 2 - s * k / spread**2 + s**2 / (2 * spread**2) - mean
    return bool(gap >= 0)
