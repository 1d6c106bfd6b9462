"""Theorem 4.1 and Corollary 4.2 of the paper: how often Algorithm 3 rejects, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liptest.data.domains import Hypercube
from liptest.data.product import ProductDistribution
from liptest.lipschitz.check import check_lipschitz
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.verdicts import Decision
from paper.rows import (
    ClaimRow,
    Table,
    cube_law,
    distance,
    is_plausible,
    mean,
    random_table,
    scaled,
    violated_shares,
)
from paper.sample_range import extremes_law

_FUNCTIONS = 900
_RUNS = 2000
_FAILURES = (0.5, 0.1, 0.01)
# Units per step of the real-valued functions.
_FINE = 4


@dataclass(frozen=True)
class Task:
    """A function, in whole numbers of steps of 1/steps, and the other inputs of Algorithm 3."""

    table: Table
    law: ProductDistribution
    steps: int
    proximity: float
    failure: float

    @property
    def tester(self) -> DJT12:
        """Algorithm 3 with this step."""
        return DJT12(range_step=1.0 / self.steps)

    def acceptance(self) -> float:
        """Exact probability that Algorithm 3 accepts.

        The law of the sample diameter r, and for each r the probability that none of its edges
        is violated.
        """
        tester, law = self.tester, self.law
        domain = law.domain
        masses = law.mass(domain.points(np.arange(domain.size)))
        clean = 1.0 - float(mean(violated_shares(self.table, law, self.steps)))
        numbers = self.proximity, self.failure
        points = tester.diameter_points(law, *numbers)
        total = 0.0
        for low, high, chance in extremes_law(self.table.reshape(-1), masses, points):
            spread = Fraction(high - low, self.steps)
            if spread <= tester.largest_diameter(law):
                total += chance * clean ** tester.pairs_needed(law, spread, *numbers)
        return total

    def rejections(self, runs: int) -> int:
        """How many of ``runs`` runs of the program reject."""
        values = self.table / self.steps
        verdicts = (
            check_lipschitz(
                values,
                self.law,
                proximity=self.proximity,
                failure_probability=self.failure,
                tester=self.tester,
                seed=seed,
            )
            for seed in range(runs)
        )
        return sum(verdict.decision is Decision.REJECT for verdict in verdicts)


def theorem_4_1(share: float = 1.0) -> list[ClaimRow]:
    """Bound, formula and measured frequency; real ranges; Lipschitz functions."""
    return [_bound(share), _real_ranges(share), _measured(share), _one_sided(share)]


def _far_task(rng: np.random.Generator, number: int) -> Task | None:
    """A random function at distance exactly ``proximity``, the step as large as it may be."""
    d, fine = 1 + number % 4, int(rng.choice([2, 5, 16]))
    law = cube_law(rng, d)
    table = random_table(rng, law.domain, fine)
    far = distance(table, law, fine)
    if not 0 < far < 1:
        return None
    # Multiples of a step stay multiples of a finer one.
    finer = d * d * far.denominator // (far.numerator * fine) + 1
    return Task(table * finer, law, fine * finer, float(far), _FAILURES[number % len(_FAILURES)])


def _bound(share: float) -> ClaimRow:
    rng = np.random.default_rng(41)
    drawn = (_far_task(rng, number) for number in range(scaled(_FUNCTIONS, share)))
    tasks = [task for task in drawn if task is not None]
    worst = max(task.acceptance() / task.failure for task in tasks)
    return ClaimRow(
        "Theorem 4.1: a function at distance >= proximity is rejected with probability "
        ">= 1 - failure",
        f"{len(tasks):,} functions at distance exactly proximity, d <= 4, the largest admissible "
        f"steps, failure 0.5, 0.1, 0.01; exact probabilities",
        f"largest probability of accepting over failure: {worst:.3g}",
        worst <= 1,
    )


def _real_ranges(share: float) -> ClaimRow:
    """Corollary 4.2: the rounded function is tested, the raw one is far from (1 + step)."""
    rng = np.random.default_rng(42)
    worst, count = 0.0, 0
    for number in range(scaled(_FUNCTIONS // 3, share)):
        d, steps = 1 + number % 3, int(rng.choice([16, 64]))
        law = cube_law(rng, d)
        raw = random_table(rng, law.domain, steps * _FINE)
        far = float(distance(raw, law, (steps + 1) * _FINE))
        if not d * d / steps < far < 1:
            continue
        rounded = (2 * raw + _FINE) // (2 * _FINE)
        failure = _FAILURES[number % len(_FAILURES)]
        worst = max(worst, Task(rounded, law, steps, far, failure).acceptance() / failure)
        count += 1
    return ClaimRow(
        "Corollary 4.2: a real function at distance >= proximity from (1 + step)-Lipschitz is "
        "rejected with probability >= 1 - failure",
        f"{count:,} functions with values in quarters of a step, d <= 3, rounded as printed; exact "
        f"probabilities",
        f"largest probability of accepting over failure: {worst:.3g}",
        worst <= 1,
    )


def near_task() -> Task:
    """A function much nearer than proximity: accepted and rejected about equally often.

    Its only violated edges meet at the rarest point, of mass 1/4096.
    """
    law = ProductDistribution.bernoulli([1 / 16] * 3)
    points = law.domain.points(np.arange(8)).astype(np.int64)
    table = 40 * points[:, 0] + 40 * points[:, 1]
    table[-1] = 64 * 3
    return Task(table.reshape(2, 2, 2), law, 64, 0.5, 0.5)


def _measured(share: float) -> ClaimRow:
    near, runs = near_task(), scaled(_RUNS, share)
    far = Task(np.array([[0, -20], [21, 0]]), _uniform(2), 20, 0.25, 0.1)
    lines, plausible = [], True
    for task, name in ((far, "the example of Lemma 4.3"), (near, "a nearer function")):
        chance, hits = 1.0 - task.acceptance(), task.rejections(runs)
        plausible = plausible and is_plausible(hits, runs, chance)
        lines.append(f"{name}: exact {chance:.4f}, measured {hits / runs:.4f}")
    return ClaimRow(
        "Theorem 4.1, measured: the program's DJT12 rejects as often as Algorithm 3",
        f"{runs:,} seeds on each of two functions, d = 2 and 3",
        "; ".join(lines),
        plausible,
    )


def _one_sided(share: float) -> ClaimRow:
    rng = np.random.default_rng(40)
    runs, rejected = scaled(_RUNS, share), 0
    for number in range(runs):
        d = 1 + number % 4
        law, slopes = cube_law(rng, d), rng.integers(-10, 11, d)
        points = law.domain.points(np.arange(law.domain.size)).astype(np.int64)
        table = np.abs(points @ slopes).reshape(law.domain.sizes)
        # 1/10 as a float: the ties are not exact.
        verdict = check_lipschitz(
            table / 10,
            law,
            proximity=0.5,
            failure_probability=0.5,
            tester=DJT12(range_step=1 / 50),
            seed=number,
        )
        rejected += verdict.decision is Decision.REJECT
    return ClaimRow(
        "Theorem 4.1, one-sided error: Lipschitz functions are always accepted",
        f"{runs:,} Lipschitz functions with values in tenths, many on the boundary, d <= 4",
        f"{rejected} rejected",
        rejected == 0,
    )


def _uniform(dimension: int) -> ProductDistribution:
    return ProductDistribution.uniform(Hypercube(dimension))
