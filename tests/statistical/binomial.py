"""The one rule of every statistical test: when a count may be called wrong.

A test fails only when a correct program would show its count with probability below ``TAIL``.
To prove that it still has power, a deliberately wrong variant (draws divided by ``STARVED``,
another law) must fail the same check.

::

    assert is_plausible(rejections, SEEDS, at_least=1 - failure_probability)
    assert not is_plausible(starved_rejections, SEEDS, at_least=1 - failure_probability)
    assert fits(np.bincount(draws), masses)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

#: Probability below which a correct program is blamed: of a million such checks, one in a
#: million runs fails by chance.
TAIL = 1e-12
#: Seeds of a check of power.
SEEDS = 800
#: A starved variant makes one draw in this many.
STARVED = 50
#: Draws of a check of a law.
DRAWS = 200_000


def surprise(hits: int, trials: int, probability: float) -> float:
    """-ln of a bound on a binomial tail; inf for what cannot happen.

    Chernoff: a count at least as far from ``trials * probability``, on the same side, has
    probability at most exp(-trials * KL(hits / trials, probability)).
    """
    share = hits / trials
    parts = [(share, probability), (1 - share, 1 - probability)]
    if any(s > 0 and p <= 0 for s, p in parts):
        return math.inf
    return trials * math.fsum(s * math.log(s / p) for s, p in parts if s > 0)


def is_plausible(hits: int, trials: int, *, at_least: float) -> bool:
    """Whether ``hits`` may come from events of probability ``at_least`` or more."""
    return hits >= trials * at_least or surprise(hits, trials, at_least) <= -math.log(TAIL)


def fits(counts: Sequence[int], masses: Sequence[Fraction | float]) -> bool:
    """Whether counts of cells may come from these cell probabilities, cell by cell.

    By the union bound all cells and both sides together have probability ``TAIL``: a chi-square
    test with a proved level, exact in cells of small or no mass.
    """
    trials, limit = int(sum(counts)), math.log(2 * len(counts) / TAIL)
    return all(
        surprise(int(count), trials, float(mass)) <= limit
        for count, mass in zip(counts, masses, strict=True)
    )
