"""Which test refutes a claim with the fewest samples: the choice behind ``check_samples``.

Three sound ways to test K events of one pair, at the samples at which the *expected* counts just
refute the claim (about even odds for each):

- one event, learnt on half of the samples, tested on the other half by the exact conditional
  binomial test (what ``check_samples`` does in its last round);
- all K events on all samples, Clopper-Pearson bounds of both probabilities with Bonferroni;
- betting: an e-process that learns on a first part, then multiplies, block by block, the
  growth-optimal factors at the estimates of all earlier blocks; valid at any stopping time. Once
  with the first half for learning, as above, and once with a sixteenth: what could be saved if the
  event were plain from the start.

The numbers beside each test are samples, both datasets together. The certified binomial tail that
all of them rest on is measured beside the regularised incomplete beta function, which it equals:
medians of CPU seconds, in turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from figures import Figure, Row, cpu_seconds, medians, report
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.blackbox.learning import Tally, log_tail

EVENTS = 1000
BLOCKS = 24
SEED = 7


@dataclass(frozen=True)
class Case:
    """An event of probabilities p and q, and the claim that it breaks."""

    name: str
    p: float
    q: float
    claim: float


CASES = (
    Case("common event: 0.731 against 0.269, claim 0.9", 0.7310586, 0.2689414, 0.9),
    Case("rare event: 0.0272 against 0.01, claim 0.9", 0.01 * math.e, 0.01, 0.9),
    Case("impossible on one side: 0.001 against 0, claim 1", 1e-3, 0.0, 1.0),
)


def learnt_then_tested(case: Case, level: float, samples: float) -> bool:
    """Half of the samples, half of them on each side."""
    draws = samples / 4
    tally = Tally(int(draws * case.p), int(draws * case.q), np.zeros(0))
    return tally.largest_refuted(math.log(level), case.claim) >= case.claim


def bonferroni(case: Case, level: float, samples: float) -> bool:
    """Both bounds of each of K events at level / (2 K)."""
    draws, log_level = int(samples / 2), math.log(level / (2 * EVENTS))
    lower = share_above(int(draws * case.p), draws, log_level)
    upper = 1 - share_above(draws - int(draws * case.q), draws, log_level)
    return lower > math.exp(case.claim) * upper


def share_above(hits: int, draws: int, log_level: float) -> float:
    """Clopper-Pearson lower bound of a probability, by bisection of its log odds."""
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        if log_tail(hits, draws, middle) <= log_level:
            low = middle
        else:
            high = middle
    return 1 / (1 + math.exp(-low))


def betting(case: Case, level: float, samples: float, *, learnt: float) -> bool:
    """Growth-optimal e-process with the estimates of the blocks before."""
    ends = np.geomspace(learnt * samples / 2, samples / 2, BLOCKS)
    wealth = 0.0
    for first, last in pairwise(ends.tolist()):
        p, q = ((first * share + 0.5) / (first + 1) for share in (case.p, case.q))
        if p <= math.exp(case.claim) * q:
            continue
        p0, q0 = projected(p, q, math.exp(case.claim))
        draws = last - first
        for share, guess, null in ((case.p, p, p0), (case.q, q, q0)):
            wealth += draws * share * math.log(guess / null)
            wealth += draws * (1 - share) * math.log((1 - guess) / (1 - null))
    return wealth >= -math.log(level)


def projected(p: float, q: float, factor: float) -> tuple[float, float]:
    """The point with p0 = factor q0 nearest to (p, q) in KL(p, p0) + KL(q, q0)."""
    low, high = q, min(p / factor, 1 / factor)
    low, high = min(low, high), max(low, high)
    for _ in range(60):
        middle = (low + high) / 2
        p0 = factor * middle
        slope = factor * (p0 - p) / (p0 * (1 - p0)) + (middle - q) / (middle * (1 - middle))
        low, high = (low, middle) if slope > 0 else (middle, high)
    return factor * low, low


TESTS: dict[str, Callable[[Case, float, float], bool]] = {
    "learnt, then tested": learnt_then_tested,
    "Bonferroni": bonferroni,
    "betting, half learnt": partial(betting, learnt=0.5),
    "betting, 1/16 learnt": partial(betting, learnt=1 / 16),
}


def least_samples(test: Callable[[Case, float, float], bool], case: Case, level: float) -> float:
    high = 4.0
    while not test(case, level, 2**high):
        high += 1
    low = high - 1
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if test(case, level, 2**middle) else (middle, high)
    return 2**high


def power_rows() -> list[Row]:
    return [power_row(case, level) for case in CASES for level in (0.05, 1e-6)]


def power_row(case: Case, level: float) -> Row:
    found = {name: Figure(least_samples(test, case, level)) for name, test in TESTS.items()}
    return Row(f"{case.name}, failure {level:g}", {}, {}, found)


def leak(x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Randomised response at epsilon 1 of one bit, shown as it is once in a thousand draws."""
    kept = rng.random(n) < 1 / (1 + math.exp(-1.0))
    answer = np.where(kept, x[0], 1 - x[0])
    return np.where(rng.random(n) < 1e-3, 2 + x[0], answer)


def leak_row(quick: bool) -> Row:
    """check_samples on the leak, with the default failure probability, 1e-6."""
    samples = 50_000 if quick else 1_000_000
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_samples(lt.Sampler(leak), law, epsilon=1.0, samples=samples, seed=SEED)
    figures = {
        "refuted": Figure(float(verdict.witness is not None), at_least=1.0),
        "samples drawn": Figure(verdict.cost.draws, at_most=1e6),
        "bound": Figure(verdict.largest_loss),
        "seconds": Figure(verdict.cost.seconds),
    }
    return Row(
        "leak 1e-3, claim 1, failure 1e-06", {"pairs": verdict.cost.pairs}, {"pairs": 1}, figures
    )


def tail_by_beta(wins: int, trials: int, log_odds: float) -> float:
    """The logarithm of a binomial tail as an incomplete beta function."""
    with precision(64):
        chance = 1 / (1 + (-arb(log_odds)).exp())
        tail = chance.beta_lower(wins, trials - wins + 1, regularized=True)
        return float(tail.upper().log())


def tail_row(quick: bool) -> Row:
    """Tails of 1,250 trials about where a level of 1e-2 to 1e-12 lies."""
    calls = 20 if quick else 200
    tails = {"beta": tail_by_beta, "sum": log_tail}

    def one_round() -> dict[str, float]:
        return {
            name: cpu_seconds(
                lambda tail=tail: [tail(950 + k % 40, 1250, 1.0) for k in range(calls)]
            )  # type: ignore[misc]
            for name, tail in tails.items()
        }

    seconds = medians(3, one_round)
    figures = {
        "beta function / sum, CPU": Figure(seconds["beta"] / seconds["sum"], at_least=3.0),
        "a tail, us": Figure(seconds["sum"] / calls * 1e6),
    }
    return Row("a certified tail of 1,250 trials", {}, {}, figures)


def measure(quick: bool) -> list[Row]:
    return [*([] if quick else power_rows()), leak_row(quick), tail_row(quick)]


if __name__ == "__main__":
    report("Black box: samples that refute a claim", measure)
