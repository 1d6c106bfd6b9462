"""Renyi divergences of two laws, and rho: their supremum over all orders, certified.

``D_a(P, Q) = ln(sum_o P(o)^a Q(o)^(1-a)) / (a - 1)`` for a > 1, the Kullback-Leibler divergence at
a = 1. A mechanism is (a, tau)-RDP when D_a <= tau and rho-zCDP when D_a <= rho a for all a > 1, for
all neighbouring pairs in both orders. I. Mironov, "Renyi Differential Privacy", 2017; M. Bun and
T. Steinke, "Concentrated Differential Privacy", 2016.

``psi(a) = (a - 1) D_a`` is convex with psi(1) = 0. So between two orders psi lies below its chord,
and finitely many orders decide about all of them (theory 6.2); close to 1 the second derivative
does it (6.3), beyond the largest loss nothing is left to decide (6.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from operator import mul
from typing import Protocol

from flint import arb

from liptest.balls import precision
from liptest.mechanisms.laws import as_fraction, exact_ball
from liptest.privacy.divergences.likelihoods import Balls, LikelihoodPair

#: Bits with which divergences are calculated.
BITS = 192
# The end of the first interval of orders, where the second derivative decides.
_NEAR_ONE = Fraction(1025, 1024)
# Orders that are looked at before a supremum is given up: constant quotients need millions.
_MOST_ORDERS = 1500
_LARGEST_ORDER = Fraction(2**40)
#: An enclosure: what is certainly reached, and what is certainly not exceeded.
Ends = tuple[arb, arb]


class Orders(Protocol):
    """D_a of one ordered pair for every order; all at the current precision of flint."""

    def renyi(self, order: Fraction) -> Ends:
        """Bounds of D_a for one order a > 1."""

    def kullback_leibler(self) -> Ends:
        """Bounds of D_1."""

    def curvature(self, end: Fraction) -> arb:
        """An upper bound of psi'' on [1, end]."""

    def largest_loss(self) -> arb:
        """An upper bound of D_a for all a."""

    def known_rho(self) -> Fraction | None:
        """sup D_a / a, where it is known as a number."""


@dataclass(frozen=True, eq=False)
class PairOrders:
    """The divergences of a pair with finitely many atoms."""

    pair: LikelihoodPair

    def known_rho(self) -> Fraction | None:
        return None

    @cached_property
    def _atoms(self) -> tuple[list[Balls], list[Balls]]:
        """Atoms that certainly have both probabilities, and the others."""
        sure: list[Balls] = []
        unsure: list[Balls] = []
        for p, q in self.pair.in_balls():
            (sure if p > 0 and q > 0 else unsure).append((p, q))
        return sure, unsure

    @cached_property
    def _logs(self) -> list[Balls]:
        return [(p.log(), q.log()) for p, q in self._atoms[0]]

    @cached_property
    def _never(self) -> bool:
        """Whether P certainly has an output that Q has not."""
        return bool(self.pair.left_only > 0) and not self.pair.open_right

    @cached_property
    def _maybe(self) -> bool:
        """Whether P may have an output that Q has not: then nothing is certain from above."""
        certain = self.pair.is_whole and bool(self.pair.left_only == 0)
        return not certain or any(not q > 0 for _, q in self._atoms[1])

    def renyi(self, order: Fraction) -> Ends:
        if self._never:
            return arb("+inf"), arb("+inf")
        a, total, more = exact_ball(order), arb(0), arb(0)
        for log_p, log_q in self._logs:
            total += (a * log_p - (a - 1) * log_q).exp()
        least, most = total.lower(), total.upper()
        for p, q in self._atoms[1]:
            if p.lower() > 0:
                least += (a * p.lower().log() - (a - 1) * q.upper().log()).exp().lower()
            if q.lower() > 0 and p.upper() > 0:
                more += (a * p.upper().log() - (a - 1) * q.lower().log()).exp().upper()
        low = (least.log() / (a - 1)).lower().max(arb(0)) if least > 0 else arb(0)
        if self._maybe:
            return low, arb("+inf")
        return low, ((most + more).log() / (a - 1)).upper().max(arb(0))

    def kullback_leibler(self) -> Ends:
        if self._never:
            return arb("+inf"), arb("+inf")
        if self._maybe or self._atoms[1]:
            return arb(0), self.largest_loss()
        atoms = zip(self._atoms[0], self._logs, strict=True)
        total = sum((p * (log_p - log_q) for (p, _), (log_p, log_q) in atoms), arb(0))
        return total.lower().max(arb(0)), total.upper().max(arb(0))

    def curvature(self, end: Fraction) -> arb:
        """psi'' is the variance of ln(p/q) under the law in proportion to p^a q^(1-a)."""
        if self._maybe or self._atoms[1]:
            return arb("+inf")
        a = arb(1).union(exact_ball(end))
        losses = [log_p - log_q for log_p, log_q in self._logs]
        weights = [(log_q + a * x).exp() for (_, log_q), x in zip(self._logs, losses, strict=True)]
        total = sum(weights, arb(0))
        pairs = list(zip(weights, losses, strict=True))
        # The mean square about any number is at least the variance; near the mean little more.
        centre = (sum((w * x for w, x in pairs), arb(0)) / total).mid()
        return (sum((w * (x - centre) ** 2 for w, x in pairs), arb(0)) / total).upper()

    def largest_loss(self) -> arb:
        if self._never or self._maybe:
            return arb("+inf")
        top = arb(0)
        for p, q in (*self._atoms[0], *self._atoms[1]):
            top = top.max((p.upper() / q.lower()).log().upper()) if p.upper() > 0 else top
        return top


@dataclass(frozen=True, eq=False)
class SumOfOrders:
    """Independent parts: divergences of a product of laws add up."""

    parts: Sequence[Orders]

    def renyi(self, order: Fraction) -> Ends:
        return _add([part.renyi(order) for part in self.parts])

    def kullback_leibler(self) -> Ends:
        return _add([part.kullback_leibler() for part in self.parts])

    def curvature(self, end: Fraction) -> arb:
        return sum((part.curvature(end) for part in self.parts), arb(0))

    def largest_loss(self) -> arb:
        return sum((part.largest_loss() for part in self.parts), arb(0))

    def known_rho(self) -> Fraction | None:
        rhos = [part.known_rho() for part in self.parts]
        # Suprema add up where they are reached at one order, as they are at 2 for Gaussians.
        if any(rho is None for rho in rhos):
            return None
        return sum((rho for rho in rhos if rho is not None), Fraction(0))


def _add(ends: list[Ends]) -> Ends:
    return sum((low for low, _ in ends), arb(0)), sum((high for _, high in ends), arb(0))


@dataclass
class OrderSearch:
    """Looks for an order whose quotient D_a / a is large, and proves that there is none.

    ``best`` is the largest quotient that is certainly reached, ``order`` where (1: in the limit).
    """

    orders: Orders
    best: arb = field(default_factory=lambda: arb(0))
    order: Fraction = Fraction(1)
    seen: dict[Fraction, Ends] = field(default_factory=dict)

    def value(self, order: Fraction) -> Ends:
        """D_a, remembered."""
        ends = self.seen.get(order)
        if ends is None:
            ends = self.orders.kullback_leibler() if order == 1 else self.orders.renyi(order)
            self.seen[order] = ends
            quotient = (ends[0] / exact_ball(order)).lower()
            if quotient > self.best:
                self.best, self.order = quotient, order
        return ends

    def settle(self, target: Callable[[arb], arb], *, stop: Callable[[arb], bool]) -> bool:
        """Whether no quotient exceeds ``target(best)``, for certain.

        Ends at once when ``stop(best)``. False: it is not known.
        """
        most = len(self.seen) + _MOST_ORDERS
        for start in (Fraction(2), Fraction(1), _NEAR_ONE, Fraction(8), Fraction(64)):
            self.value(start)
            if stop(self.best):
                return False
        largest = self.orders.largest_loss()
        top = _last_order(largest, target(self.best))
        if top is None:
            return False
        self.value(top)
        waiting = [(a, b) for a, b in _starts(top)]
        while waiting:
            if stop(self.best) or len(self.seen) > most:
                return False
            a, b = waiting.pop()
            if self._is_below(a, b, target(self.best)):
                continue
            middle = Fraction(a + b) / 2 if b <= 4 * a else _between(a, b)
            self.value(middle)
            # The half near the larger quotient is looked at first.
            waiting += [(a, middle), (middle, b)]
        return True

    def _is_below(self, a: Fraction, b: Fraction, bound: arb) -> bool:
        high_b = self.value(b)[1]
        if a == 1:
            first = self.value(a)[1]
            slope = self.orders.curvature(b) / 2
            ends = [first, (first + exact_ball(b - 1) * slope) / exact_ball(b)]
            return all(end <= bound for end in ends) or bool(high_b <= bound)
        low, high = exact_ball(a), exact_ball(b)
        psi_a, psi_b = (low - 1) * self.value(a)[1], (high - 1) * high_b
        # bound x (x - 1) - chord(x), a parabola: its least value on [a, b].
        slope = (psi_b - psi_a) / (high - low)
        turn = (bound + slope) / (2 * bound)
        if turn <= low:
            return bool(psi_a <= bound * low * (low - 1))
        if turn >= high:
            return bool(psi_b <= bound * high * (high - 1))
        rest = slope * low - psi_a - (bound + slope) ** 2 / (4 * bound)
        ends_hold = psi_a <= bound * low * (low - 1) and psi_b <= bound * high * (high - 1)
        return bool(ends_hold) and bool(rest >= 0)


def _starts(top: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Intervals from 1 to the last order, each twice as far from 1 as the one before."""
    ends, far = [Fraction(1)], _NEAR_ONE - 1
    while 1 + far < top:
        ends.append(1 + far)
        far *= 2
    ends.append(top)
    return list(pairwise(ends))


def _between(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.floor(a * b)) + 1)


def _last_order(largest: arb, bound: arb) -> Fraction | None:
    """From here on the largest loss alone keeps D_a / a below the bound."""
    if not largest.is_finite() or not bound > 0:
        return None
    order = Fraction(math.ceil(as_fraction((largest / bound).upper()))) + 2
    return order if order <= _LARGEST_ORDER else None


@dataclass(frozen=True)
class RhoEnclosure:
    """sup over all orders of D_a / a: between ``lower``, reached near ``order``, and ``upper``."""

    lower: arb
    upper: arb
    order: Fraction


def enclose_rho(orders: Orders, gap: float = 1e-9) -> RhoEnclosure:
    """The rho of one ordered pair, to a relative ``gap`` where the budget of orders allows it."""
    with precision(BITS):
        rho = orders.known_rho()
        if rho is not None:
            ball = exact_ball(rho)
            return RhoEnclosure(ball.lower(), ball.upper(), Fraction(2))
        search = OrderSearch(orders)
        low = search.value(Fraction(2))[0]
        if not low.is_finite():
            return RhoEnclosure(low, low, Fraction(2))
        largest = orders.largest_loss()
        if largest <= 0:
            return RhoEnclosure(arb(0), arb(0), Fraction(1))
        for wide in (gap, 1e-6, 1e-3) if largest.is_finite() else ():
            factor = 1 + arb(wide)
            if search.settle(partial(mul, factor), stop=lambda best: False):
                return RhoEnclosure(search.best, (search.best * factor).upper(), search.order)
        # No more is known than that D_a / a < D_a <= the largest loss.
        return RhoEnclosure(search.best, largest, search.order)


def refute_rho(orders: Orders, limit: Fraction) -> tuple[bool | None, Fraction, Ends]:
    """Whether D_a > limit a for some order: True with the order, False for all, None: not known.

    With the order that tells most come the bounds of its divergence.
    """
    with precision(BITS):
        bound, rho = exact_ball(limit), orders.known_rho()
        search = OrderSearch(orders)
        if rho is not None and rho <= limit:
            return False, Fraction(2), search.value(Fraction(2))
        clear = search.settle(lambda best: bound, stop=lambda best: bool(best > bound))
        ends = search.value(search.order)
        if search.best > bound:
            for bits in (10, 20, 30, 40) if search.order == 1 else ():
                # The limit at 1 exceeds the line: so does an order above 1.
                near = 1 + Fraction(1, 2**bits)
                if (search.value(near)[0] / exact_ball(near)) > bound:
                    return True, near, search.value(near)
            return True, search.order, ends
        return (False if clear else None), search.order, ends


def refute_renyi(orders: Orders, order: Fraction, limit: Fraction) -> tuple[bool | None, Ends]:
    """Whether D_a > limit at one order: True, False, or None: not known; and its bounds."""
    with precision(BITS):
        low, high = ends = orders.renyi(order)
        bound = exact_ball(limit)
        return (True if low > bound else False if high <= bound else None), ends
