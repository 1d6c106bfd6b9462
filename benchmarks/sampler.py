"""How fast independent bits are drawn, against ``rng.random((n, d)) < p``.

The sampler's bits have probabilities exact to 53 bits; so have those of the baseline. Both draw
from the same kind of generator.
"""

from __future__ import annotations

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, medians, report
from numpy.typing import NDArray

import liptest as lt

BITS, REPETITIONS, TARGET = 5_000_000, 15, 3.5


def row(case: str, probabilities: NDArray[np.float64], quick: bool) -> Row:
    d = len(probabilities)
    n = (BITS // 100 if quick else BITS) // d
    distribution = lt.ProductDistribution.bernoulli(probabilities)
    ours, theirs = np.random.default_rng(1), np.random.default_rng(2)
    points = distribution.sample(ours, n)
    cost = medians(
        1 if quick else REPETITIONS,
        lambda: {
            "ours": cpu_seconds(lambda: distribution.sample(ours, n)),
            "numpy": cpu_seconds(lambda: theirs.random((n, d)) < probabilities),
        },
    )
    return Row(
        f"d = {d:,}, {case}",
        counts={"bits": points.size},
        planned={"bits": n * d},
        figures={
            SECONDS: Figure(cost["ours"]),
            "NumPy": Figure(cost["numpy"]),
            "NumPy / ours": Figure(cost["numpy"] / cost["ours"], at_least=TARGET),
        },
    )


def measure(quick: bool) -> list[Row]:
    rng = np.random.default_rng(0)
    cases = [
        ("random p", rng.random(20)),
        ("random p", rng.random(1000)),
        ("p about 0.004, as of clicks", 0.004 * rng.uniform(0.5, 2.0, 5000)),
        ("p = 1/2", np.full(1000, 0.5)),
    ]
    return [row(case, probabilities, quick) for case, probabilities in cases]


if __name__ == "__main__":
    report("Sampler: independent bits, against rng.random((n, d)) < p", measure)
