"""Sequential tests: samples until a loss of twice the claim is found, and false alarms.

Run ``python benchmarks/sequential.py [--seeds 200] [--runs 10000]``. Two tables: samples to a NO
where the true epsilon is twice the claim; and the share of runs of fair bets on a claim that holds
with equality whose wealth ever reached 1/w, at any of 5,000 bets (runs side by side in arrays).
Whole tests on mechanisms exactly on their claim: ``sequential_whole.py``.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import liptest as lt
from liptest.blackbox.betting import log_doubt
from liptest.verdicts import Decision

PAIR = [([0], [1])]
BETS = 5_000
MOST = 2_000
Draw = Callable[[Any, int, np.random.Generator], Any]


def response(epsilon: float) -> Draw:
    """Randomised response of a bit."""
    keep = 1 / (1 + math.exp(-epsilon))
    return lambda x, n, rng: np.where(rng.random(n) < keep, x[0], 1 - x[0])


def geometric(epsilon: float) -> Draw:
    """A count with two-sided geometric noise."""
    stop = -math.expm1(-epsilon)
    return lambda x, n, rng: int(x[0]) + rng.geometric(stop, n) - rng.geometric(stop, n)


def laplace(epsilon: float) -> Draw:
    """A count with Laplace noise, as real numbers: low bits are not looked at here."""
    return lambda x, n, rng: x[0] + rng.laplace(0.0, 1 / epsilon, n)


MECHANISMS = {"randomised response": response, "geometric": geometric, "Laplace": laplace}


def run(draw: Draw, epsilon: float, failure: float, seed: int) -> tuple[bool, int]:
    """Whether the claim was refuted within 2,000 samples, and how many were drawn."""
    verdict = lt.check_samples(
        lt.Sampler(draw),
        PAIR,
        epsilon=epsilon,
        failure_probability=failure,
        samples=MOST,
        seed=seed,
        sequential=True,
        floats="ideal",
    )
    return verdict.decision == Decision.NO, verdict.cost.draws


def least_wins(epsilon: float, failure: float, most: int) -> np.ndarray[Any, Any]:
    """For each number of bets the least number of wins that refutes; more than bets: none."""
    wins, found = 0, [1]
    for bets in range(1, most + 1):
        while wins <= bets and log_doubt(wins, bets, epsilon) > math.log(failure):
            wins += 1
        found.append(wins)
    return np.array(found)


def false_alarms(epsilon: float, failure: float, runs: int, seed: int) -> int:
    """Of so many runs of fair bets, those whose wealth reached 1 / failure at any time."""
    rng = np.random.default_rng(seed)
    least = least_wins(epsilon, failure, BETS)
    p = 1 / (1 + math.exp(-epsilon))
    count = 0
    for first in range(0, runs, 500):
        won = rng.random((min(500, runs - first), BETS)) < p
        wins = np.cumsum(won, axis=1, dtype=np.int32)
        count += int((wins >= least[1:]).any(axis=1).sum())
    return count


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    print("True epsilon 2, claim 1: samples to a NO (at most 2,000)")
    print(f"{'mechanism':<22}{'failure':>9}{'found':>9}{'median':>8}{'95 %':>8}{'s':>8}")
    for name, kind in MECHANISMS.items():
        for failure in (0.05, 1e-6):
            started = time.process_time()
            found = [run(kind(2.0), 1.0, failure, seed) for seed in range(options.seeds)]
            seconds = (time.process_time() - started) / options.seeds
            used = sorted(draws for _, draws in found)
            share = sum(refuted for refuted, _ in found) / len(found)
            row = [f"{used[len(used) // 2]:,}", f"{used[int(0.95 * len(used))]:,}"]
            print(f"{name:<22}{failure:>9g}{share:>9.1%}{row[0]:>8}{row[1]:>8}{seconds:>8.3f}")
    print(f"\nFalse alarms of fair bets at any of {BETS:,} bets, {options.runs:,} runs")
    print(f"{'epsilon':<22}{'failure':>9}{'alarms':>9}{'allowed':>9}")
    for epsilon in (0.1, 1.0, 3.0):
        for failure in (0.05, 0.01):
            alarms = false_alarms(epsilon, failure, options.runs, 7)
            print(f"{epsilon:<22g}{failure:>9g}{alarms:>9,}{failure * options.runs:>9,.0f}")
            assert alarms <= failure * options.runs


if __name__ == "__main__":
    main()
