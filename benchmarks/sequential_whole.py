"""False alarms of whole sequential tests: shipped code, mechanisms exactly on their claim.

Run ``python -m benchmarks.sequential_whole [--runs 10000] [--samples 2000] [--only text]``. A run
is ``lt.check_samples(.., sequential=True)`` with a seed of its own, without the bound that a run
left open reports in the end: it learns its pair and its sets, bets, looks after every batch and
stops at the first NO. So the share of NO is the chance of a false alarm at any time that it looks.
Each mechanism spends its claim wholly. Beside it, power: the same mechanisms with a true loss of
twice the claim. And a control that must fail: the exact test of fixed size at every look.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import liptest as lt
from benchmarks.sequential import MECHANISMS
from liptest.blackbox import check, sequential
from liptest.blackbox.learning import log_tail
from liptest.blackbox.verdicts import LossBound
from liptest.verdicts import Decision

FAILURE = 0.05
Draw = Callable[[Any, int, np.random.Generator], Any]


def many_values(epsilon: float) -> Draw:
    """Randomised response on 16 values, of which neighbours have two: 14 cells tell nothing."""
    other = 1 / (math.exp(epsilon) + 15)

    def draw(x: Any, n: int, rng: np.random.Generator) -> Any:
        kept = rng.random(n) < other * (math.exp(epsilon) - 1)
        return np.where(kept, 5 * x[0], rng.integers(0, 16, n))

    return draw


def two_bits(epsilon: float) -> Draw:
    """Each of two bits by randomised response: four pairs, vectors as answers."""
    keep = 1 / (1 + math.exp(-epsilon))

    def draw(x: Any, n: int, rng: np.random.Generator) -> Any:
        bits = np.asarray(x)[None, :]
        return np.where(rng.random((n, bits.shape[1])) < keep, bits, 1 - bits)

    return draw


def leak(epsilon: float) -> Draw:
    """Tells the bit with probability 1/10, else randomised response: exactly (epsilon, 1/10)."""
    keep = 1 / (1 + math.exp(-epsilon))

    def draw(x: Any, n: int, rng: np.random.Generator) -> Any:
        told = rng.random(n) < 0.1
        answer = np.where(rng.random(n) < keep, x[0], 1 - x[0])
        return np.where(told, 2 + x[0], answer)

    return draw


def quarters(epsilon: float) -> Draw:
    """Two-sided geometric noise on a grid of quarters: low bits are looked at, too."""
    stop = -math.expm1(-epsilon / 4)
    return lambda x, n, rng: x[0] + (rng.geometric(stop, n) - rng.geometric(stop, n)) / 4


@dataclass(frozen=True)
class Case:
    """A kind of mechanism with its data and what else is asked."""

    kind: Callable[[float], Draw]
    data: Any
    delta: float = 0.0
    floats: str = "ideal"


_BIT = [([0], [1])]
CASES = {
    **{name: Case(kind, _BIT) for name, kind in MECHANISMS.items()},
    "16 values": Case(many_values, _BIT),
    "two bits": Case(two_bits, lt.ProductDistribution.uniform(lt.Hypercube(2))),
    "leak, delta 0.1": Case(leak, _BIT, delta=0.1),
    "quarters, low bits": Case(quarters, _BIT, floats="implemented"),
}


class Whole(sequential.Play):
    """As shipped; runs that are left open do not calculate the bound that they would report."""

    def bound(self) -> LossBound | None:
        return super().bound() if self.is_refuted else None


class Repeated(Whole):
    """The control: an exact test of fixed size, made anew at every look until it rejects."""

    @property
    def is_refuted(self) -> bool:
        trials, threshold = self.wins + self._tally.losses_at(0.0), self.claim.threshold
        level = math.log(self.failure_probability)
        return self.wins > 0 and log_tail(self.wins, trials, threshold) <= level

    def bound(self) -> LossBound | None:
        bound = sequential.Play.bound(self)
        if bound is None or not self.is_refuted:
            return None
        return replace(bound, lower_bound=self.claim.threshold)


def run(case: Case, true: float, seed: int, samples: int) -> tuple[bool, int]:
    """Whether claim 1 was refuted, and how many samples were drawn."""
    verdict = lt.check_samples(
        lt.Sampler(case.kind(true)),
        case.data,
        epsilon=1.0,
        delta=case.delta,
        failure_probability=FAILURE,
        samples=samples,
        seed=seed,
        sequential=True,
        floats=case.floats,
    )
    return verdict.decision == Decision.NO, verdict.cost.draws


def alarms(
    case: Case, runs: int, samples: int, play: type[sequential.Play] = Whole, first: int = 0
) -> int:
    """How many of so many runs are a NO, where the true loss is the claim."""
    shipped, check.Play = check.Play, play  # type: ignore[misc]
    try:
        seeds = range(first, first + runs)
        return sum(run(case, 1.0, seed, samples)[0] for seed in seeds)
    finally:
        check.Play = shipped  # type: ignore[misc]


def main() -> None:
    """Print one line a mechanism."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    few = max(1, options.runs // 20)
    print(f"Claim 1, failure {FAILURE}, at most {options.samples:,} samples a run")
    print("NO of runs exactly on the claim; of the control; of a true loss of 2, median and 95 %")
    for name in (name for name in CASES if options.only in name):
        case, started = CASES[name], time.process_time()
        found = alarms(case, options.runs, options.samples)
        allowed = FAILURE * options.runs
        seconds = time.process_time() - started
        wrong = alarms(case, few, options.samples, Repeated)
        power = [run(case, 2.0, seed, options.samples) for seed in range(few)]
        used = sorted(draws for _, draws in power)
        share = sum(refuted for refuted, _ in power) / few
        line = [f"{found:,} of {options.runs:,} (allowed {allowed:,.0f})", f"{wrong} of {few:,}"]
        line += [f"{share:.1%} {used[few // 2]:,} {used[int(0.95 * few)]:,}", f"{seconds:.0f} s"]
        print(f"{name:<20} | {' | '.join(line)}", flush=True)
        assert found <= allowed


if __name__ == "__main__":
    main()
