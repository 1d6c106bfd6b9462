"""Lemma 4.3 of the paper: the statement, and the step of its printed proof that does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liptest.data.domains import Hypercube
from liptest.data.product import ProductDistribution
from paper.repairing import repairs
from paper.rows import (
    ClaimRow,
    Table,
    cube_law,
    distance,
    in_steps,
    mean,
    random_table,
    scaled,
    violated_shares,
)

_FUNCTIONS = 3000
_PROOF_FUNCTIONS = 300


def lemma_4_3(share: float = 1.0) -> list[ClaimRow]:
    """The inequality, the sharper one behind it, and the printed chain of its proof."""
    return [*_statement(share), _printed_step(share), _honest_step()]


@dataclass(frozen=True)
class _Case:
    # Pr_{D_E}[violated], exact distance, image diameter, step, d.
    violated: Fraction
    far: Fraction
    diameter: Fraction
    step: Fraction
    d: int

    @property
    def printed(self) -> Fraction:
        """The right side of Lemma 4.3."""
        rest = self.far - self.d**2 * self.step
        return self.step * rest / (self.d * self.diameter)


def _statement(share: float) -> list[ClaimRow]:
    rng = np.random.default_rng(43)
    cases = []
    for number in range(scaled(_FUNCTIONS, share)):
        d, steps = 1 + number % 4, int(rng.choice([2, 8, 64, 512]))
        law = cube_law(rng, d)
        table = random_table(rng, law.domain, steps)
        far = distance(table, law, steps)
        if far > 0:
            violated = mean(violated_shares(table, law, steps))
            cases.append(
                _Case(violated, far, Fraction(int(np.ptp(table)), steps), Fraction(1, steps), d)
            )
    telling = [case for case in cases if case.printed > 0]
    least = min(case.violated / case.printed for case in telling)
    sharp = min(case.violated * case.d / case.far for case in cases)
    on = f"{len(cases):,} functions of exactly known distance > 0, d <= 4, steps 1/2 to 1/512"
    return [
        ClaimRow(
            "Lemma 4.3: Pr_{D_E}[violated] >= step (dist - d^2 step) / (d ImD)",
            f"{on}; the right side is above 0 for {len(telling):,}",
            f"smallest left over right side {float(least):.4g}",
            all(case.violated >= case.printed for case in cases),
        ),
        ClaimRow(
            "Theory 2.1, which proves Lemma 4.3: Pr_{D_E}[violated] >= dist / d",
            on,
            f"smallest left over right side {float(sharp):.4g}",
            sharp >= 1,
        ),
    ]


def small_example(steps: int) -> tuple[Table, ProductDistribution]:
    """A function on the uniform square, in steps, that breaks the printed chain at i = d = 2.

    The one edge along 1 that is violated, {00, 10}, closes by half a step at each end; rounding,
    ties upwards, takes the whole step at 00, which pulls it away from 01.
    """
    law = ProductDistribution.uniform(Hypercube(2))
    return np.array([[0, -steps], [steps + 1, 0]]), law


def _excess(table: Table, law: ProductDistribution, steps: int) -> list[Fraction]:
    """Left minus right side of VS^i(f_{i-1})/step <= VS^i(f)/step + 2(d-i) step, for each i."""
    step, d = Fraction(1, steps), law.domain.dimension
    parts, _ = repairs(in_steps(table, steps), law, step)
    first = parts[0].before
    return [
        (part.before[part.coordinate] - first[part.coordinate]) / step
        - 2 * (d - 1 - part.coordinate) * step
        for part in parts
    ]


def _printed_step(share: float) -> ClaimRow:
    rng = np.random.default_rng(34)
    failing, total = 0, scaled(_PROOF_FUNCTIONS, share)
    for number in range(total):
        d, steps = 2 + number % 3, int(rng.choice([8, 64]))
        law = cube_law(rng, d)
        failing += any(e > 0 for e in _excess(random_table(rng, law.domain, steps), law, steps))
    table, law = small_example(20)
    far, worst = distance(table, law, 20), _excess(table, law, 20)[1]
    return ClaimRow(
        "Lemma 4.3, printed proof, third inequality: "
        "VS^i(f_{i-1})/step <= VS^i(f)/step + 2(d-i) step",
        f"f(00), f(01), f(10), f(11) = 0, -1, 21/20, 0 on the uniform square, step 1/20, "
        f"distance {far} > d^2 step = 1/5; and {total:,} random functions, d = 2 .. 4",
        f"at i = d = 2 the left side is {worst} larger, where nothing is allowed for; it fails "
        f"for {failing:,} of the random functions",
        worst <= 0 and failing == 0,
        expected=False,
    )


def _honest_step() -> ClaimRow:
    """What the chain gives with Lemma 4.9's own growth, a step per repaired dimension."""
    losses = {d: sum(i - 1 for i in range(1, d + 1)) for d in range(1, 9)}
    useful = [d for d, loss in losses.items() if loss < 1]
    return ClaimRow(
        "Lemma 4.3, printed proof with the growth that Lemma 4.9 gives: i-1 instead of 2(d-i) step",
        f"the sum of the losses, d(d-1)/2, for d = 1 .. {max(losses)}; every distance is at most 1",
        f"says something for d = {', '.join(map(str, useful))} only: d = 2 loses 1, all there is",
        len(useful) == len(losses),
        expected=False,
    )
