"""Questions of DPriv-Bench's category 2 that one program answers (arXiv 2604.15851).

These ask whether a statement of a paper holds in general. A program that breaks it answers with NO,
two datasets and an output: a whole answer. A YES is the statement at one program only, so it
answers nothing by itself; it shows that the program beside a NO is not refuted for another reason.
The programs are ours, from the published list of questions: the first 32 of its 125. Epsilon and mu
are 1, there is one step of training, gradients are numbers and the clipping norm is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from figures import Figure, Row, cpu_seconds, report

import liptest as lt

_LIE = 1 / (1 + math.e)
_MU_OF_EPSILON = NormalDist().inv_cdf(1 - _LIE)
_HALF = NormalDist().cdf(0.5)
BIT, COUNTS = lt.Hypercube(1), lt.Hypergrid([3, 3, 3])
PAIR, RECORDS = lt.Hypercube(2), lt.RecordGrid([3, 3, 3])
#: A little more than what holds with equality.
_ROUNDED = 1e-9


def response(data: Any, rng: Any) -> int:
    return int(data[0]) ^ int(rng.random() < _LIE)


def laplace(data: Any, rng: Any) -> Any:
    return int(data[0]) + rng.laplace(0, 1.0)


def normal(data: Any, rng: Any) -> Any:
    return int(data[0]) + rng.normal(0, 1.0)


def permute_and_flip(data: Any, rng: Any) -> int:
    scores = np.array([int(data[0]), 1 - int(data[0]), 0])
    return int(np.argmax(scores + rng.exponential(2.0, 3)))


def one_of_two(data: Any, rng: Any) -> int:
    """Randomised response of one record that is drawn without replacement."""
    return int(data[int(rng.integers(2))]) ^ int(rng.random() < _LIE)


def most_frequent(counts: Any, rng: Any) -> int:
    """The exponential mechanism of counts, its exponent epsilon times the count."""
    return int(np.argmax(counts + rng.gumbel(0, 1.0, 3)))


def most_frequent_doubled(counts: Any, rng: Any) -> int:
    return int(np.argmax(counts + rng.gumbel(0, 0.5, 3)))


def odd(counts: Any, rng: Any) -> int:
    """The same where a count of 0, 1, 2, .. has the score 0, 1, 0, .."""
    return int(np.argmax(counts % 2 + rng.gumbel(0, 1.0, 3)))


def most_frequent_record(data: Any, rng: Any) -> int:
    counts = np.array([np.sum(data == value) for value in range(3)])
    return int(np.argmax(counts + rng.gumbel(0, 1.0, 3)))


def clipped_from_below(data: Any, rng: Any) -> Any:
    """A gradient of 2 is multiplied by max(1, 1/4)."""
    gradients = np.array([0.0, 2.0])[data]
    return gradients.sum() + rng.normal(0, 1.0)


#: Number in the list, program, datasets, claim, published answer.
Question = tuple[int, Callable[..., Any], Any, dict[str, float], str]
QUESTIONS: list[Question] = [
    (3, response, BIT, {"mu": 2 * _MU_OF_EPSILON + _ROUNDED}, "YES"),
    (4, response, BIT, {"mu": _MU_OF_EPSILON}, "NO"),
    (5, normal, BIT, {"epsilon": math.log(_HALF / (1 - _HALF))}, "NO"),
    (7, permute_and_flip, BIT, {"rho": 1 / 8}, "NO"),
    (11, laplace, BIT, {"rho": (math.e - 1) / (math.e + 1)}, "YES"),
    (12, laplace, BIT, {"rho": (math.e - 1) / (math.e + 2)}, "NO"),
    (16, one_of_two, PAIR, {"epsilon": math.log1p((math.e - 1) / 4)}, "NO"),
    (17, one_of_two, PAIR, {"epsilon": math.log1p((math.e - 1) / 2) + _ROUNDED}, "YES"),
    (18, most_frequent, COUNTS, {"epsilon": 1.0}, "YES"),
    (19, odd, COUNTS, {"epsilon": 1.0}, "YES"),
    (20, most_frequent_record, RECORDS, {"epsilon": 1.0}, "NO"),
    (21, most_frequent, COUNTS, {"epsilon": 0.5}, "NO"),
    (22, most_frequent_doubled, COUNTS, {"epsilon": 1.0}, "NO"),
    (27, clipped_from_below, BIT, {"mu": 1.0}, "NO"),
]


def measure(quick: bool) -> list[Row]:
    rows = []
    for number, function, domain, claim, published in QUESTIONS[:2] if quick else QUESTIONS:
        found: list[Any] = []

        def ask(
            function: Any = function, domain: Any = domain, claim: Any = claim, found: Any = found
        ) -> None:
            found.append(lt.check_privacy(lt.mechanism(function), domain, **claim))

        cost = cpu_seconds(ask)
        (verdict,) = found
        agrees = int(verdict.decision == published)
        case = f"question {number}: {published}"
        rows.append(Row(case, {"agrees": agrees}, {"agrees": 1}, {"CPU s": Figure(cost)}))
    return rows


if __name__ == "__main__":
    report("DPriv-Bench, category 2", measure)
