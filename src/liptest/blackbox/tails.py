"""Certified binomial tails, and what they say about a ratio of two probabilities.

The one test of the black box. Each step draws side A, side B or, for delta > 0, a token, with
probabilities proportional to 1, 1 and delta e^-epsilon. A win is a draw of A in the event S, a
loss a draw of B in S or a token. Given the number of wins and losses, the wins are binomial with
chance P / (P + Q + delta e^-epsilon), P = Pr_A[S], Q = Pr_B[S], which is at most
e^epsilon / (1 + e^epsilon) exactly when P <= e^epsilon Q + delta. So the test is exact: no
normal approximation, no split of the failure probability over two bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from liptest.balls import precision

# Bits of the certified arithmetic, and the widest relative error that a tail may have.
_PRECISIONS = tuple(1 << power for power in range(6, 14))
_STEP = 1e-4
# A bound is never quoted above this: e^50 exceeds every number of samples.
_LARGEST = 50.0


def log_tail(wins: int, trials: int, log_odds: float) -> float:
    """Certified upper bound of ln Pr[Bin(trials, p) >= wins], ln(p / (1 - p)) = ``log_odds``.

    The regularised incomplete beta function I_p(wins, trials - wins + 1).
    """
    if wins <= 0:
        return 0.0
    for bits in _PRECISIONS:
        with precision(bits):
            chance = 1 / (1 + (-arb(log_odds)).exp())
            tail = chance.beta_lower(wins, trials - wins + 1, regularized=True)
            if tail.lower() > 0 and tail.rel_accuracy_bits() > 30:
                return min(0.0, _upward(float(tail.upper().log().upper())))
    return 0.0


def _upward(value: float) -> float:
    return value + abs(value) * 2.0**-50


@dataclass(frozen=True, eq=False)
class Tally:
    """What one test saw: ``wins`` of A, ``losses`` of B, and the tokens' thresholds.

    ``tokens`` are the epsilons, ascending, up to which each token counts as a loss: -ln u, u
    uniform, so that a token counts with probability e^-epsilon, for all epsilon at once.
    """

    wins: int
    losses: int
    tokens: np.ndarray[tuple[int], np.dtype[np.float64]]

    def losses_at(self, epsilon: float) -> int:
        """Losses of B and tokens that count at epsilon."""
        alive = len(self.tokens) - int(np.searchsorted(self.tokens, epsilon, side="left"))
        return self.losses + alive

    def _rejects(self, first: float, last: float, log_level: float) -> bool:
        """Whether every epsilon in [first, last] is rejected: tokens of one end, odds of the other.

        More losses and a larger chance of a win both make the tail larger.
        """
        trials = self.wins + self.losses_at(first)
        return self.wins > 0 and log_tail(self.wins, trials, last) <= log_level

    def largest_refuted(self, log_level: float, first_step: float = 1.0) -> float:
        """An epsilon such that it and all below are rejected; -inf when there is none at 0.

        The true value of ln((P - delta) / Q) is itself rejected with probability at most
        e^log_level, so this is a lower bound of it with that confidence, whatever else holds. The
        search tries ``first_step`` itself first.
        """
        if not self._rejects(0.0, 0.0, log_level):
            return -math.inf
        if not len(self.tokens):
            return self._largest_without_tokens(log_level)
        reached, step = 0.0, first_step
        while step > _STEP and reached < _LARGEST:
            if self._rejects(reached, reached + step, log_level):
                reached, step = reached + step, step * 2
            else:
                step /= 2
        return min(reached, _LARGEST)

    def _largest_without_tokens(self, log_level: float) -> float:
        """Where the tail, which grows with epsilon, reaches the level: bisection and secants."""
        trials = self.wins + self.losses

        def above(epsilon: float) -> float:
            return log_tail(self.wins, trials, epsilon) - log_level

        low, high, below, over = 0.0, 1.0, -1.0, above(1.0)
        while over <= 0 and high < _LARGEST:
            low, high, below = high, 2 * high, over
            over = above(high)
        takes_secant = False
        while high - low > _STEP:
            share = below / (below - over) if takes_secant else 0.5
            middle = low + min(max(share, 0.02), 0.98) * (high - low)
            takes_secant = not takes_secant
            value = above(middle)
            if value <= 0:
                low, below = middle, value
            else:
                high, over = middle, value
        return min(low, _LARGEST)


def plan_sides(
    steps: int, delta: float, rng: np.random.Generator
) -> tuple[int, int, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Draws of A, draws of B and token thresholds of ``steps`` steps of the test."""
    total = 2.0 + delta
    a, b, tokens = rng.multinomial(steps, [1 / total, 1 / total, delta / total]).tolist()
    return a, b, np.sort(rng.exponential(size=tokens))
