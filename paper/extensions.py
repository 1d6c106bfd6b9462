"""Our own inequalities: theory 2.1, 2.2, 2.4 and 3.8b against exact answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.draws import hamming_weight_masses
from liptest.data.product import ProductDistribution
from liptest.lipschitz.covers import minimum_cover_of_pairs
from liptest.privacy.exception_mass import lightest_cover
from paper.rows import (
    ClaimRow,
    Table,
    cube_law,
    distance,
    random_law,
    random_table,
    scaled,
    violated_shares,
)

_FUNCTIONS = 1500
_STARTS = 16
_MOVES = 150
_COUNTS = 300
_STEPS = 1

Ratio = Callable[[Table, ProductDistribution], float]


@dataclass(frozen=True)
class Extreme:
    """The smallest ratio that a search found, and how many functions it looked at."""

    domain: Domain
    ratio: float
    tried: int


def cube_ratio(table: Table, law: ProductDistribution) -> float:
    """sum_r v_r V_r / dist(f), at least 1/4 by theory 2.1; inf for Lipschitz f."""
    far = distance(table, law, _STEPS)
    if far == 0:
        return float("inf")
    shares = violated_shares(table, law, _STEPS)
    variances = [zero * one for zero, one in map(law.exact_marginal, range(table.ndim))]
    return float(sum(v * share for v, share in zip(variances, shares, strict=True)) / far)


def line_ratio(table: Table, law: ProductDistribution) -> float:
    """sum_r E[dist of f on an r-line] / dist(f), at least 1/4 by theory 2.2."""
    far = distance(table, law, _STEPS)
    if far == 0:
        return float("inf")
    return sum(_mean_line_distance(table, law, r) for r in range(table.ndim)) / float(far)


def _mean_line_distance(table: Table, law: ProductDistribution, direction: int) -> float:
    kind = RecordGrid if isinstance(law.domain, RecordGrid) else Hypergrid
    line_law = ProductDistribution(kind([table.shape[direction]]), [law.marginal(direction)])
    others = [law.marginal(r) for r in range(table.ndim) if r != direction]
    masses = np.ones(1)
    for mass in others:
        masses = np.multiply.outer(masses, mass).reshape(-1)
    lines = np.moveaxis(table, direction, -1).reshape(-1, table.shape[direction])
    pairs = zip(lines, masses, strict=True)
    return sum(float(mass) * float(distance(line, line_law, _STEPS)) for line, mass in pairs)


def hill_climb(rng: np.random.Generator, domain: Domain, ratio: Ratio, *, starts: int) -> Extreme:
    """Change one value, or the law a little, at a time; keep what does not raise the ratio."""
    best, tried = float("inf"), 0
    for _ in range(starts):
        table, law = random_table(rng, domain, _STEPS), random_law(rng, domain)
        here = ratio(table, law)
        for _ in range(_MOVES):
            moved = _moved(rng, table, law)
            there = ratio(*moved)
            if there <= here:
                (table, law), here = moved, there
        best, tried = min(best, here), tried + _MOVES + 1
    return Extreme(domain, best, tried)


def _moved(
    rng: np.random.Generator, table: Table, law: ProductDistribution
) -> tuple[Table, ProductDistribution]:
    if rng.random() < 0.6:
        table = table.copy()
        table.reshape(-1)[rng.integers(table.size)] += rng.integers(-2, 3)
        return table, law
    marginals = law.marginals()
    r = int(rng.integers(len(marginals)))
    weights = marginals[r] * np.exp(rng.normal(0.0, 0.5, len(marginals[r])))
    marginals[r] = weights / weights.sum()
    return table, ProductDistribution(law.domain, marginals)


def theory_2_1(share: float = 1.0) -> list[ClaimRow]:
    """dist(f) <= 4 sum_r v_r V_r on the cube."""
    rng = np.random.default_rng(21)
    domains = [Hypercube(d) for d in (1, 2, 3, 4)]
    found = [hill_climb(rng, cube, cube_ratio, starts=scaled(_STARTS, share)) for cube in domains]
    return [_ratio_row("Theory 2.1: dist(f) <= 4 sum_r v_r V_r", found, "; conjectured 0.5")]


def theory_2_2(share: float = 1.0) -> list[ClaimRow]:
    """dist(f) <= 4 sum_r E[dist on an r-line] on cubes, grids and records."""
    rng = np.random.default_rng(22)
    domains = [Hypercube(3), Hypergrid([3, 3]), RecordGrid([2, 3]), RecordGrid([3, 3])]
    starts = scaled(_STARTS // 2, share)
    found = [hill_climb(rng, domain, line_ratio, starts=starts) for domain in domains]
    return [_ratio_row("Theory 2.2: dist(f) <= 4 sum_r E[dist of f on an r-line]", found, "")]


def _ratio_row(claim: str, found: list[Extreme], more: str) -> ClaimRow:
    tried = sum(one.tried for one in found)
    listed = ", ".join(f"{one.domain} {one.ratio:.4g}" for one in found)
    return ClaimRow(
        claim,
        f"{tried:,} functions and product laws, random and hill-climbed",
        f"smallest ratio of the sum to the distance: {listed}; proved 0.25{more}",
        min(one.ratio for one in found) >= 0.25,
    )


def theory_2_4(share: float = 1.0) -> list[ClaimRow]:
    """max_r s_r V_r <= dist(f) <= 4 sum_r v_r V_r, both sides exact."""
    rng = np.random.default_rng(24)
    count = scaled(_FUNCTIONS, share)
    broken = tight = 0
    for number in range(count):
        law = cube_law(rng, 1 + number % 4)
        table = random_table(rng, law.domain, _STEPS)
        far, shares = distance(table, law, _STEPS), violated_shares(table, law, _STEPS)
        laws = [law.exact_marginal(r) for r in range(table.ndim)]
        lower = max(min(mass) * share for mass, share in zip(laws, shares, strict=True))
        upper = 4 * sum(
            (mass[0] * mass[1] * share for mass, share in zip(laws, shares, strict=True)),
            Fraction(0),
        )
        broken += not lower <= far <= upper
        tight += lower == far
    return [
        ClaimRow(
            "Theory 2.4: max_r s_r V_r <= dist(f) <= 4 sum_r v_r V_r",
            f"{count:,} functions, d <= 4, exact rationals",
            f"{broken} outside; the lower bound is the distance for {tight:,}",
            broken == 0,
        )
    ]


def theory_3_8b(share: float = 1.0) -> list[ClaimRow]:
    """The path recurrence of levels against a minimum cover of all bad pairs of datasets."""
    rng = np.random.default_rng(38)
    worst, count = 0.0, scaled(_COUNTS, share)
    for number in range(count):
        d = 1 + number % 8
        law = cube_law(rng, d)
        bad = rng.random(d) < rng.choice([0.3, 0.7, 1.0])
        path = lightest_cover(hamming_weight_masses(law.probabilities)[0], bad)
        exact = minimum_cover_of_pairs(law, _pairs_between(law.domain, bad)).value
        assert exact is not None
        worst = max(worst, abs(path - float(exact)))
    return [
        ClaimRow(
            "Theory 3.8b: the exception mass of a count mechanism is a cover of levels",
            f"{count} random sets of bad levels, d <= 8, against exact minimum covers of the "
            f"neighbouring datasets by maximum flow",
            f"largest difference {worst:.1g}",
            worst <= 1e-12,
        )
    ]


def _pairs_between(domain: Domain, bad: np.ndarray) -> np.ndarray:
    points = domain.points(np.arange(domain.size)).astype(np.int64)
    lower, direction = np.nonzero(points == 0)
    chosen = bad[points.sum(axis=1)[lower]]
    lower, direction = lower[chosen], direction[chosen]
    return np.stack([lower, lower + domain.strides[direction]], axis=1).reshape(-1, 2)
