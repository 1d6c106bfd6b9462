"""Laws that a search needs where sampling does not look, beside what random sampling would need.

Random sampling compares draws with all their neighbours; its mean number of laws until a draw is
an end of a bad pair is (1 + neighbours) / (probability of such a draw). A needle at a random
dataset is the honest control: the search must not find it.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report

import liptest as lt
from liptest.verdicts import Decision

BUDGET = 20_000
SEEDS = 10


@dataclass(frozen=True)
class Case:
    """A wrong mechanism; ``seen`` is the probability that a draw is an end of a bad pair."""

    words: str
    mechanism: Any
    distribution: Any
    epsilon: float
    seen: float | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Flag:
    """A coin that is unfair where a table is odd."""

    is_odd: Any

    def __call__(self, datasets: Any) -> Any:
        odd = self.is_odd(datasets)[:, None]
        return np.log(np.where(odd, [0.1, 0.9], [0.5, 0.5]))


@dataclass(frozen=True)
class SparseVector:
    """Above or below for each signed count, without a cutoff (Lyu, Su, Li 2017, algorithm 6)."""

    signs: Any
    threshold: int
    epsilon: float

    @property
    def answers(self) -> Any:
        return np.array(list(itertools.product((0, 1), repeat=len(self.signs))))

    def __call__(self, datasets: Any) -> Any:
        ratio, noise = np.exp(-self.epsilon), np.arange(-60, 61)
        weights = ratio ** np.abs(noise)
        counts = datasets.astype(np.int64) @ self.signs.T
        gap = (self.threshold + noise)[None, :, None] - counts[:, None, :]
        up = np.where(gap >= 1, ratio**gap / (1 + ratio), 1 - ratio ** (1.0 - gap) / (1 + ratio))
        both = np.log(np.stack([1 - up, up], axis=-1))
        bits = self.answers
        logs = sum(both[:, :, i, bits[:, i]] for i in range(bits.shape[1]))
        law = np.einsum("nro,r->no", np.exp(logs), weights / weights.sum())
        return np.log(law / law.sum(axis=1, keepdims=True))


def flag(words: str, domain: Any, is_odd: Any, seen: float) -> Case:
    mechanism = lt.ClosedForm([0, 1], Flag(is_odd), name=words)
    return Case(words, mechanism, lt.ProductDistribution.uniform(domain), 0.5, seen)


def cases() -> list[Case]:
    cube = lt.ProductDistribution.uniform(lt.Hypercube(20))
    corner = lt.catalogue.needle(20, [1] * 20, 1.0)
    anywhere = lt.catalogue.needle(20, np.random.default_rng(7).integers(0, 2, 20), 1.0)
    signs = np.random.default_rng(3).choice([-1, 1], size=(4, 30))
    law = SparseVector(signs, 8, 0.5)
    sparse = lt.ClosedForm([tuple(a) for a in law.answers.tolist()], law, error=1e-9)
    far = lt.ProductDistribution.uniform(lt.Hypercube(30))
    records, histogram = lt.RecordGrid([5] * 12), lt.Hypergrid([6] * 10)
    return [
        Case("needle at all ones, 2^20", corner, cube, 1.0, 21 / 2**20),
        Case("needle at a random dataset, 2^20", anywhere, cube, 1.0, 21 / 2**20, hidden=True),
        flag("empty histogram, 6^10", histogram, lambda x: x.sum(axis=1) == 0, 11 / 6**10),
        flag(
            "one distinct value, 5^12",
            records,
            lambda x: (x == x[:, :1]).all(axis=1),
            5 * 49 / 5**12,
        ),
        Case("sparse vector, 4 signed counts of 30 bits, claim 1.96", sparse, far, 1.96),
    ]


def row(case: Case, seeds: int) -> Row:
    verdicts: list[lt.PrivacyVerdict] = []

    def search_all() -> None:
        for seed in range(seeds):
            options = {"epsilon": case.epsilon, "method": "search", "budget": BUDGET, "seed": seed}
            verdicts.append(lt.check_privacy(case.mechanism, case.distribution, **options))

    seconds = cpu_seconds(search_all) / seeds
    found = [v for v in verdicts if v.decision is Decision.NO]
    laws = [v.cost.laws for v in found]
    figures = {SECONDS: Figure(seconds)}
    if laws:
        figures["median laws"] = Figure(statistics.median(laws))
        figures["most laws"] = Figure(max(laws), at_most=BUDGET)
    if case.seen is not None:
        neighbours = len(
            case.distribution.domain.neighbours([0] * case.distribution.domain.dimension)
        )
        figures["laws of sampling"] = Figure((1 + neighbours) / case.seen)
    planned = 0 if case.hidden else seeds
    return Row(case.words, {"found": len(found)}, {"found": planned}, figures)


def measure(quick: bool) -> list[Row]:
    return [row(case, 1 if quick else SEEDS) for case in cases()]


if __name__ == "__main__":
    report(f"Searches with at most {BUDGET:,} laws, {SEEDS} seeds", measure)
