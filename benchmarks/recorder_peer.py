"""Faults that the authors of dp-recorder (arXiv 2602.17454) documented, asked of liptest.

Its examples are reduced analogues of faults in public libraries: two runs on a pair of datasets
that is given, with hooks written into the code. Here the same six mechanisms are plain code of ours
without hooks, the pair is searched, and the noise is looked at, too. ``counts`` are numbers of
records of each value, of which one may come or go. Two more are what an issue of theirs (mbi 65)
and a report of theirs (Synthcity, ``is_weak_mi``) say in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figures import Figure, Row, cpu_seconds, report

import liptest as lt

EPSILON = 1.0


def divided_by_the_size(counts: Any, rng: Any) -> Any:
    """The number of records is taken for public."""
    return (counts[1] + rng.laplace(0, 1 / EPSILON)) / (1 + counts[0] + counts[1])


def noise_of_scale_zero(counts: Any, rng: Any) -> Any:
    """A sensitivity that is 0 when a parameter has a certain value."""
    features, parents = 5, 5
    return counts[1] + rng.laplace(0, float(features - parents) / EPSILON)


def sum_of_what_is_not_clipped(data: Any, rng: Any) -> Any:
    """Noise for numbers of at most 5, added to the sum of others."""
    numbers = np.array([0.0, 3.0, 100.0])[data]
    np.clip(numbers, -5, 5)
    return numbers.sum() + rng.laplace(0, 5 / EPSILON)


def groups_that_are_there(counts: Any, rng: Any) -> Any:
    """One noisy count for each value that occurs, and none for others."""
    there = [int(count) for count in counts if count > 0]
    return [count + rng.laplace(0, len(there) / EPSILON) for count in there]


def budget_spent_twice(counts: Any, rng: Any) -> Any:
    """Sum and number of records, each for the whole epsilon."""
    both = counts[1], counts[0] + counts[1]
    return [float(number) + rng.laplace(0, 1 / EPSILON) for number in both]


def numbers_that_are_none(data: Any, rng: Any) -> Any:
    """Clipping leaves what is not a number as it is."""
    numbers = np.clip(np.array([1.0, np.nan])[data], -5, 5)
    return numbers.sum() + rng.laplace(0, 10 / EPSILON)


def score_of_two_errors(data: Any, rng: Any) -> int:
    """The selection of JAM (mbi issue 65): an error less another, both of the data.

    One record moves either by 2, in opposite directions, and the noise is for 2 in all.
    """
    ones = np.array([np.sum(data & 1), np.sum(data >> 1)])
    to_model, to_public = 2 * ones, 2 * (len(data) - ones)
    scores = (to_model - to_public) * np.array([1, -1])
    return int(np.argmax(scores + rng.gumbel(0, 2 * 2 / EPSILON, 2)))


def parent_where_related(counts: Any, rng: Any) -> Any:
    """Whether a column gets a parent is read off the data; its table has noise."""
    is_weak = abs(int(counts[0]) - int(counts[1])) <= 1
    return ("no parent" if is_weak else "parent"), counts[0] + rng.laplace(0, 1 / EPSILON)


COUNTS, VALUES = lt.Hypergrid([3, 3]), lt.RecordGrid([3, 3])
CASES: list[tuple[Callable[..., Any], Any]] = [
    (divided_by_the_size, COUNTS),
    (noise_of_scale_zero, COUNTS),
    (sum_of_what_is_not_clipped, VALUES),
    (groups_that_are_there, COUNTS),
    (budget_spent_twice, COUNTS),
    (numbers_that_are_none, lt.RecordGrid([2, 2])),
    (score_of_two_errors, lt.RecordGrid([4, 4, 4])),
    (parent_where_related, COUNTS),
]


def measure(quick: bool) -> list[Row]:
    rows = []
    for function, domain in CASES[:2] if quick else CASES:
        found: list[Any] = []

        def check(function: Any = function, domain: Any = domain, found: Any = found) -> None:
            found.append(lt.check_privacy(lt.mechanism(function), domain, epsilon=EPSILON))

        cost = cpu_seconds(check)
        (verdict,) = found
        refuted = int(verdict.decision == "NO")
        rows.append(Row(function.__name__, {"NO": refuted}, {"NO": 1}, {"CPU s": Figure(cost)}))
    return rows


if __name__ == "__main__":
    report("Faults that dp-recorder's authors documented", measure)
