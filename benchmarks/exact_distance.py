"""Time the exact distance, its bounds, and the exact exception mass of random mechanisms.

Run ``python benchmarks/exact_distance.py [--fast]``; prints CPU seconds on one core beside the
figure to reach. All answers are proved by a flow, so the times include the proof.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import liptest.data.distributions as laws
from liptest.data.domains import Hypercube
from liptest.lipschitz.covers import minimum_cover_of_pairs
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.lipschitz.repair import repair

SHARES = (0.1, 0.2, 0.25, 0.3, 0.5, 1.0)
OUTPUTS = 4


def timed(task: Callable[[], object]) -> tuple[object, float]:
    started = time.process_time()
    result = task()
    return result, time.process_time() - started


def line(what: str, answer: object, seconds: float, target: str = "") -> None:
    print(f"{what:<58} {seconds:7.2f} s {target:<8} {answer}", flush=True)


def distributions(dimension: int, rng: np.random.Generator) -> dict[str, laws.ProductDistribution]:
    return {
        "uniform": laws.ProductDistribution.uniform(Hypercube(dimension)),
        "skewed": laws.ProductDistribution.bernoulli(rng.uniform(0.05, 0.95, dimension)),
    }


def random_functions(rng: np.random.Generator) -> None:
    for name, law in distributions(12, rng).items():
        for scale in (3, 6, 100):
            function = rng.random(law.domain.sizes) * scale
            answer, seconds = timed(lambda f=function, d=law: distance_to_lipschitz(f, d))
            what = f"distance d=12 {name}, {answer.violated_pairs:,} violated pairs"
            line(what, answer, seconds, "< 2" if scale == 6 else "")


def bounded_functions(dimension: int, rng: np.random.Generator) -> None:
    for name, law in distributions(dimension, rng).items():
        function = rng.random(law.domain.sizes) * 6
        answer, seconds = timed(lambda f=function, d=law: distance_to_lipschitz(f, d))
        line(f"bounds d={dimension} {name}", answer, seconds)


def losses_of_random_mechanism(
    dimension: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """All neighbouring pairs (m, 2) of the cube, and the losses of a random mechanism on them."""
    size = 2**dimension
    logs = np.log(rng.dirichlet(np.ones(OUTPUTS), size=size))
    pairs = np.concatenate(
        [
            np.stack([low, low | 1 << r], axis=1)
            for r in range(dimension)
            for low in [np.flatnonzero(~np.arange(size) & 1 << r)]
        ]
    )
    return pairs, np.abs(logs[pairs[:, 0]] - logs[pairs[:, 1]]).max(axis=1)


def random_mechanisms(dimension: int, target: str, rng: np.random.Generator) -> None:
    pairs, losses = losses_of_random_mechanism(dimension, rng)
    for name, law in distributions(dimension, rng).items():
        for share in SHARES:
            bad = pairs[losses >= np.quantile(losses, 1.0 - share)]
            cover, seconds = timed(lambda b=bad, d=law: minimum_cover_of_pairs(d, b))
            what = f"exception mass d={dimension} {name}, {len(bad):,} bad pairs"
            line(what, f"{float(cover.value):.9f}", seconds, target)


def repairs(rng: np.random.Generator) -> None:
    law = distributions(12, rng)["skewed"]
    function = rng.random(law.domain.sizes) * 6
    table, seconds = timed(lambda: repair(function, law, range_step=0.1))
    line("repair d=12, range_step=0.1", distance_to_lipschitz(table, law), seconds)


def main() -> None:
    rng = np.random.default_rng(1)
    random_functions(rng)
    random_mechanisms(12, "< 1", rng)
    repairs(rng)
    if "--fast" not in sys.argv:
        bounded_functions(16, rng)
        random_mechanisms(16, "< 10", rng)
        bounded_functions(20, rng)


if __name__ == "__main__":
    main()
