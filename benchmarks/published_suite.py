"""Lower bounds of epsilon on the published suite, beside those that dp-sniper found.

``bound`` holds with 95 % confidence; where dp-sniper has a figure it is the median of five
seeds, ``least`` the smallest. dp-sniper's figures are quoted: measured on one core, about
60 million samples a row, epsilon 1 (docs/black_box.md says where they come from); ours may use a
tenth. Words on the command line choose rows by name.
"""

from __future__ import annotations

import statistics
import sys

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report
from published_mechanisms import Published, rows

import liptest as lt
from liptest.blackbox.check import epsilon_lower_bound
from liptest.blackbox.verdicts import LossBound

SAMPLES = 6_000_000
# Runs of the rows that are compared; the others have one.
SEEDS = (20, 21, 22, 23, 24)
# The tiny mode: few samples, the first rows.
QUICK, QUICK_ROWS = 20_000, 4


def bound(case: Published, samples: int, seed: int) -> tuple[float, int, float]:
    """The bound, the samples drawn and CPU seconds."""
    drawn = 0

    def counted(x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        nonlocal drawn
        drawn += n
        return case.draw(x, n, rng)

    data = lt.ProductDistribution.uniform(lt.Hypercube(case.domain)) if case.domain else case.pairs
    found: list[LossBound] = []
    sampler = lt.Sampler(counted, name=case.name)
    seconds = cpu_seconds(
        lambda: found.append(
            epsilon_lower_bound(sampler, data, failure_probability=0.05, samples=samples, seed=seed)
        )
    )
    return max(0.0, found[0].lower_bound), drawn, seconds


def row(case: Published, epsilon: float, samples: int, seeds: tuple[int, ...]) -> Row:
    """Medians over the seeds."""
    runs = [bound(case, samples, seed) for seed in seeds]
    found, drawn, seconds = (statistics.median(values) for values in zip(*runs, strict=True))
    figures = {"bound": Figure(found)}
    if case.quoted is not None:
        figures["bound"] = Figure(found, at_least=case.quoted if case.finite else None)
        figures["least"] = Figure(min(value for value, _, _ in runs))
        figures["dp-sniper"] = Figure(case.quoted)
    if case.true is not None:
        figures["true"] = Figure(case.true)
    figures[SECONDS] = Figure(seconds)
    return Row(
        f"{case.name}, epsilon {epsilon:g}", {"samples": drawn}, {"samples": samples}, figures
    )


def measure(quick: bool) -> list[Row]:
    samples = QUICK if quick else SAMPLES
    wanted = [a for a in sys.argv[1:] if not a.startswith("--")]
    cases = [(case, epsilon) for epsilon in (1.0, 0.1) for case in rows(epsilon)]
    if wanted:
        cases = [item for item in cases if any(word in item[0].name for word in wanted)]
    if quick:
        return [row(case, epsilon, samples, SEEDS[:1]) for case, epsilon in cases[:QUICK_ROWS]]
    return [
        row(case, epsilon, samples, SEEDS if case.quoted is not None else SEEDS[:1])
        for case, epsilon in cases
    ]


if __name__ == "__main__":
    report("Lower bounds of epsilon on the published suite", measure)
