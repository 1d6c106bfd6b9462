"""Lemma 4.9 and Claim 4.10 of the paper: what repairing one dimension does to the others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liptest.data.product import ProductDistribution
from liptest.lipschitz.repair import Table, repeat_operator, round_to_step, violation_scores
from paper.rows import ClaimRow, cube_law, in_steps, random_table, scaled

_FUNCTIONS = 4000
_LARGEST_DIMENSION = 4


@dataclass(frozen=True)
class Repair:
    """One dimension repaired: violation scores before, after B_i, and after rounding."""

    coordinate: int
    step: Fraction
    before: list[Fraction]
    closed: list[Fraction]
    rounded: list[Fraction]


def repairs(table: Table, law: ProductDistribution, step: Fraction) -> tuple[list[Repair], Table]:
    """A_1 .. A_d applied to a table of Fractions in step * Z, and the repaired table."""
    done = []
    for i in range(law.domain.dimension):
        before = violation_scores(table, law)
        p = law.exact_marginal(i)[1]
        table = repeat_operator(table, i, probability=p, range_step=step)
        closed = violation_scores(table, law)
        table = round_to_step(table, step)
        done.append(Repair(i, step, before, closed, violation_scores(table, law)))
    return done, table


def amplified(steps: int) -> tuple[Table, ProductDistribution]:
    """A function on {0,1}^2, in steps, whose second score grows by 15/16 of a step.

    The rare ends (x_1 = 1) are high enough that one of the heavy ends moves by half a step and
    is rounded up, the other by less and is rounded back.
    """
    law = ProductDistribution.bernoulli([1 / 16, 1 / 2])
    return np.array([[0, -steps], [steps + 8, 7]]), law


def lemma_4_9(share: float = 1.0) -> list[ClaimRow]:
    """Exact rationals, random functions, every repaired dimension."""
    rng = np.random.default_rng(49)
    built, law = amplified(4)
    done, _ = repairs(in_steps(built, 4), law, Fraction(1, 4))
    unrepaired = 0
    for number in range(scaled(_FUNCTIONS, share)):
        d, steps = 1 + number % _LARGEST_DIMENSION, int(rng.integers(1, 7))
        law = cube_law(rng, d)
        table = in_steps(random_table(rng, law.domain, steps), steps)
        parts, _ = repairs(table, law, Fraction(1, steps))
        done += parts
        unrepaired += any(score > 0 for score in parts[-1].rounded)
    checked = (
        f"{len(done):,} repaired dimensions of random functions, d <= {_LARGEST_DIMENSION}, "
        f"bits of probability k/16, exact rationals"
    )
    return [
        _preserved(done, checked),
        _accounting(done, checked),
        _progress(done, checked, unrepaired),
    ]


def _preserved(done: list[Repair], checked: str) -> ClaimRow:
    worst = max(c - b for part in done for c, b in zip(part.closed, part.before, strict=True))
    left = sum(part.closed[part.coordinate] > 0 for part in done)
    return ClaimRow(
        "Claim 4.10: before rounding no violation score grows",
        checked,
        f"largest growth {worst}; dimensions left violated {left}",
        worst <= 0 and left == 0,
    )


def _accounting(done: list[Repair], checked: str) -> ClaimRow:
    worst = max(
        (r - b) / part.step for part in done for r, b in zip(part.rounded, part.before, strict=True)
    )
    return ClaimRow(
        "Lemma 4.9, accounting: repairing a dimension adds at most one step to any other score",
        checked,
        f"largest growth {float(worst):.3f} steps",
        worst <= 1,
    )


def _progress(done: list[Repair], checked: str, unrepaired: int) -> ClaimRow:
    spoilt = sum(
        b == 0 < r for part in done for r, b in zip(part.rounded, part.before, strict=True)
    )
    return ClaimRow(
        "Lemma 4.9, progress: a clean dimension stays clean, so repair ends Lipschitz",
        checked,
        f"clean dimensions spoilt {spoilt}; functions with a violated edge at the end {unrepaired}",
        spoilt == 0 and unrepaired == 0,
    )
