"""Discrete Gaussian noise claimed exactly at its rho, and a millionth below: all answers counted.

Run ``python benchmarks/discrete_gaussian.py``. Scales and sensitivities are drawn at random; each
claim is tested by ``lt.check_privacy`` on an answer that moves by the sensitivity.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from fractions import Fraction

import liptest as lt

SCALES, SEED = 10_000, 1
BELOW = 1 - 1e-6


def main() -> None:
    """Print how often each answer came."""
    rng = random.Random(SEED)
    found: dict[str, Counter[str]] = {"at rho": Counter(), "1e-6 below": Counter()}
    started = time.process_time()
    for _ in range(SCALES):
        sigma = rng.choice((rng.uniform(0.3, 3), rng.uniform(3, 60), rng.randrange(1, 200) / 7))
        width, noise = rng.randrange(1, 40), lt.DiscreteGaussian(sigma)
        exact = Fraction(width**2) / (2 * noise.sigma**2)
        rho = float(exact) if Fraction(float(exact)) >= exact else math.nextafter(exact, math.inf)
        mechanism = lt.ShiftMechanism(lt.statistics.WeightedSum([width]), noise)
        for name, claim in (("at rho", rho), ("1e-6 below", rho * BELOW)):
            verdict = lt.check_privacy(mechanism, lt.Hypercube(1), rho=claim, tolerance=0.0)
            found[name][str(verdict.decision)] += 1
    seconds = time.process_time() - started
    for name, counts in found.items():
        print(f"{SCALES:,} discrete Gaussians {name}: {dict(counts)}")
    print(f"{seconds:.0f} CPU s")


if __name__ == "__main__":
    main()
