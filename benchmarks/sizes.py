"""Which method for which size: laws and CPU seconds of whole checks, as ``docs/performance.md`` has
them.

A noisy count that is told only the count, the same as a formula of all records, and Python code of
which every random choice is followed. No search after the YES. The method is the one that
``method="auto"`` takes, but for light-neighbourhoods, which is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report
from methods_cost import recounted
from workloads import EPSILON, NoisyWindow

import liptest as lt
from liptest.privacy.methods import light

FAILURE = 1e-6
LIGHT = "light-neighbourhoods"


def noisy_bit(data: Any, rng: Any) -> int:
    """Randomised response about the parity of the ones: reads every record."""
    return int(rng.random() < (0.25 if sum(data.tolist()) % 2 else 0.5))


def told_count(d: int, centre: int) -> Any:
    window = NoisyWindow(centre - 10)
    return lt.StatisticMechanism(lt.Count(), window.outputs, window.of_counts)


def formula(d: int, centre: int) -> Any:
    window = NoisyWindow(centre - 10)
    return lt.ClosedForm(window.outputs, window.formula)


def code(d: int, centre: int) -> Any:
    return lt.mechanism(noisy_bit)


def counts(case: Case) -> int:
    return case.d + max(1, math.ceil(case.d / (1 << 16)))


def datasets(case: Case) -> int:
    return int(2**case.d)


def with_neighbours(case: Case) -> int:
    return math.ceil(math.log(FAILURE) / math.log1p(-case.mass)) * (1 + case.d)


def light_ends(case: Case) -> int:
    return recounted(case, light(case.distribution, case.mass, FAILURE))


@dataclass(frozen=True)
class Case:
    """A mechanism of d records, an exception mass, the method taken, its laws; ``asked`` for it."""

    words: str
    make: Callable[[int, int], Any]
    d: int
    method: str
    planned: Callable[[Case], int]
    mass: float = 1e-3
    probability: float = 0.5
    asked: str = "auto"

    @property
    def name(self) -> str:
        law = "uniform" if self.probability == 0.5 else f"ones {self.probability:g}"
        kind = "proof" if self.method == "exhaustive" else f"off a mass of {self.mass:g}"
        return f"{self.words}, d = {self.d:,}, {law}: {self.method}, {kind}"

    @property
    def distribution(self) -> lt.ProductDistribution:
        return lt.ProductDistribution.bernoulli(np.full(self.d, self.probability))

    @property
    def mechanism(self) -> Any:
        return self.make(self.d, round(self.d * self.probability))


CASES = (
    Case("told only the count", told_count, 20, "exhaustive", counts),
    Case("told only the count", told_count, 1000, "exhaustive", counts),
    Case("told only the count", told_count, 1_000_000, "exhaustive", counts),
    Case("formula of all records", formula, 10, "exhaustive", datasets),
    Case("formula of all records", formula, 20, "exhaustive", datasets),
    Case("formula of all records", formula, 100, "neighbourhoods", with_neighbours),
    Case("formula of all records", formula, 1000, "neighbourhoods", with_neighbours),
    Case("formula of all records", formula, 5000, LIGHT, light_ends, 1e-3, 0.004, LIGHT),
    Case("Python code", code, 10, "exhaustive", datasets),
    Case("Python code", code, 20, "neighbourhoods", with_neighbours, 1e-2),
    Case("Python code", code, 100, "neighbourhoods", with_neighbours, 5e-2),
)
QUICK = 20_000


def row(case: Case) -> Row:
    law, mechanism = case.distribution, case.mechanism
    found: list[lt.PrivacyVerdict] = []
    options: dict[str, Any] = {"exception_mass": case.mass, "method": case.asked, "seed": 1}
    seconds = cpu_seconds(
        lambda: found.append(
            lt.check_privacy(mechanism, law, epsilon=EPSILON, search_laws=0, **options)
        )
    )
    verdict = found[0]
    assert (verdict.decision, verdict.method) == ("YES", case.method), verdict
    return Row(
        case.name,
        {"laws": verdict.cost.laws, "pairs": verdict.cost.pairs},
        {"laws": case.planned(case), "pairs": verdict.cost.pairs},
        {SECONDS: Figure(seconds), "us a law": Figure(1e6 * seconds / verdict.cost.laws)},
    )


def measure(quick: bool) -> list[Row]:
    row(CASES[0])  # what it imports
    chosen = [c for c in CASES if not quick or c.planned(c) <= QUICK]
    return [row(case) for case in chosen]


if __name__ == "__main__":
    report("Sizes: what a whole check costs", measure)
