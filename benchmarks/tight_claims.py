"""Discrete Laplace noise without an end, claimed exactly at what it costs: all answers counted.

Run ``python benchmarks/tight_claims.py [claims]``. The claim is the smallest float that is
not below the loss, or 1e-9 of it less. One claim in fifty is made of code, ``count + geometric -
geometric``, the
others of a declared law; no tight claim may be a NO, and no lower one a YES.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
from flint import arb, fmpq

import liptest as lt
from liptest.balls import precision

CLAIMS, SEED, OF_CODE = 100_000, 1, 50
LESS = 1 - 1e-9


def float_above(ball: arb) -> float:
    """The smallest float that is not below a number."""
    found = float(ball.mid())
    while not arb(found) >= ball:
        found = math.nextafter(found, math.inf)
    return found


def of_code(rng: random.Random) -> tuple[Any, float]:
    """A program and its loss."""
    p = rng.choice((rng.uniform(0.01, 0.99), rng.uniform(0.3, 0.9), rng.randrange(1, 64) / 64))
    moved = rng.choice((1, 1, 2, 3))

    def count(data: Any, noise: np.random.Generator) -> int:
        return moved * int(data[0]) + noise.geometric(p) - noise.geometric(p)

    numerator, denominator = p.as_integer_ratio()
    with precision(256):
        loss = -moved * arb(1 - fmpq(numerator, denominator)).log()
        return lt.mechanism(count), float_above(loss)


def declared(rng: random.Random) -> tuple[Any, float]:
    """A declared law and its loss."""
    scale = rng.choice((rng.uniform(0.2, 3), rng.uniform(3, 500), rng.randrange(1, 200) / 7))
    moved = rng.choice((1, 2, 4, 8))
    mechanism = lt.ShiftMechanism(lt.statistics.WeightedSum([moved]), lt.DiscreteLaplace(scale))
    numerator, denominator = scale.as_integer_ratio()
    with precision(256):
        return mechanism, float_above(arb(fmpq(moved * denominator, numerator)))


def count_answers(claims: int) -> dict[str, Counter[str]]:
    """How often each answer came to tight and to lower claims."""
    rng = random.Random(SEED)
    found: dict[str, Counter[str]] = {"tight": Counter(), "1e-9 less": Counter()}
    for number in range(claims):
        mechanism, epsilon = (of_code if number % OF_CODE == 0 else declared)(rng)
        for name, claim in (("tight", epsilon), ("1e-9 less", epsilon * LESS)):
            if name == "tight" or number % 10 == 0:
                verdict = lt.check_privacy(mechanism, lt.Hypercube(1), epsilon=claim, tolerance=0.0)
                found[name][str(verdict.decision)] += 1
    return found


def main() -> None:
    """Print how often each answer came."""
    claims = int(sys.argv[1]) if len(sys.argv) > 1 else CLAIMS
    started = time.process_time()
    found = count_answers(claims)
    for name, counts in found.items():
        print(f"{sum(counts.values()):,} claims, {name}: {dict(counts)}")
    print(f"{time.process_time() - started:.0f} CPU s")


if __name__ == "__main__":
    main()
