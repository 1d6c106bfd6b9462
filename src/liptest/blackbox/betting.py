"""Bets against a claim: evidence that may be read at any time (docs/theory/sequential.md).

Before each sample a pair of neighbours and two sets of outputs are chosen from earlier samples. A
fair coin chooses the side that is drawn. Who claims (epsilon, delta) claims that the side that is
named by the set the output falls into is the right one with odds of e^epsilon to 1 at most. So a
fortune that is bet on the named side does not grow on average, and exceeds 1/w at any time with
probability w at most (Ville).
"""

from __future__ import annotations

import math

from flint import arb

from liptest.balls import precision

#: Bits of the certified arithmetic.
PRECISIONS = tuple(1 << power for power in range(6, 14))


def log_doubt(wins: int, trials: int, log_odds: float) -> float:
    """Certified upper bound of -ln wealth of bets of which ``wins`` of ``trials`` were won.

    The wealth is the mean over q, uniform on [p, 1], of (q/p)^wins ((1-q)/(1-p))^losses, p the
    chance with these log odds: sequential, B1. It falls as p grows and as losses are added (B2).
    """
    losses = trials - wins
    for bits in PRECISIONS:
        with precision(bits):
            other = 1 / (1 + arb(log_odds).exp())
            chance = 1 / (1 + (-arb(log_odds)).exp())
            above = other.beta_lower(losses + 1, wins + 1, regularized=True)
            if above.lower() > 0 and above.rel_accuracy_bits() > 30:
                whole = arb(wins + 1).lgamma() + arb(losses + 1).lgamma() - arb(trials + 2).lgamma()
                log_wealth = whole + above.log() - wins * chance.log() - (losses + 1) * other.log()
                return upward(float((-log_wealth).upper()))
    return 0.0


def upward(value: float) -> float:
    """A little more, so that it is above what was rounded to it."""
    return value + abs(value) * 2.0**-50


def estimate_growth(wins: float, losses: float, log_odds: float) -> float:
    """About the logarithm of the wealth of such bets at the best stakes; 0 when they do not pay."""
    trials = wins + losses
    p = 1.0 / (1.0 + math.exp(-log_odds))
    share = wins / trials if trials else 0.0
    if share <= p:
        return 0.0
    lost = losses * math.log((1.0 - share) / (1.0 - p)) if losses else 0.0
    return wins * math.log(share / p) + lost
