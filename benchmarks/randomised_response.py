"""The law of a count after randomised response, from the code: one run for each total.

Each repetition keeps a bit with another probability of 53 binary digits, so that no law of a sum
is known from before. Runs are counted by the law itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, medians, report

import liptest as lt

#: Records, repetitions, and seconds of one law at most.
CASES = ((40, 15, 0.020), (2_000, 3, 10.0))
_KEEP = math.e / (1 + math.e)


def counted(keep: float) -> Callable[[Any, Any], int]:
    """Randomised response of each bit, of which the sum is answered."""

    def randomised_count(data: Any, rng: Any) -> int:
        kept = rng.random(len(data)) < keep
        return int(np.where(kept, data, 1 - data).sum())

    return randomised_count


def estimated(keep: float) -> Callable[[Any, Any], float]:
    """The usual estimate of the mean from it."""

    def estimated_mean(data: Any, rng: Any) -> float:
        answers = (rng.random(len(data)) >= keep) ^ (data == 1)
        return float((answers.mean() - (1 - keep)) / (2 * keep - 1))

    return estimated_mean


def row(
    make: Callable[[float], Callable[[Any, Any], Any]], records: int, repetitions: int, most: float
) -> Row:
    data = np.arange(records) % 2
    mechanisms = iter([lt.mechanism(make(_KEEP - k / 1024)) for k in range(repetitions + 1)])
    leaves = next(mechanisms).law(data).leaves
    cost = medians(repetitions, lambda: {"law": cpu_seconds(lambda: next(mechanisms).law(data))})
    return Row(
        f"{make.__name__}, {records:,} records",
        {"runs": leaves or 0},
        {"runs": records + 1},
        {SECONDS: Figure(cost["law"], at_most=most)},
    )


def measure(quick: bool) -> list[Row]:
    cases = ((5, 1, 1.0),) if quick else CASES
    return [row(make, *case) for case in cases for make in (counted, estimated)]


if __name__ == "__main__":
    report("Randomised response by many records", measure)
