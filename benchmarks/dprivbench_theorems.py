"""Questions of DPriv-Bench's category 2 that one program answers (arXiv 2604.15851).

These ask whether a statement of a paper holds in general. A program that breaks it answers with NO,
two datasets and an output: a whole answer. A YES is the statement at one program only, so it
answers nothing by itself; it shows that the program beside a NO is not refuted for another reason.
The programs are ours, written with the published answers and comments at hand; some are the
counterexamples of these comments. There are 125 questions. Epsilon and mu are 1 and delta is
1/100 where they are free and nothing else is said. Gradients are numbers, the clipping norm is 1,
and there is one step of training, in question 34 two. Of a projection (40, 41, 43) only the label
of its answer is looked at: what is private stays so when a part of it is left out.
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


def stopped_openly(data: Any, rng: Any) -> Any:
    """Two steps of sizes 0 and 1, stopped where the loss is high, which is the datum itself."""
    theta = 0.0
    for step in (0.0, 1.0):
        theta = theta - step * rng.normal(0, math.sqrt(2))
        if data[0] >= 1:
            break
    return theta


def replaced(data: Any, rng: Any) -> Any:
    """Gradients -1 and 1 of the one record that is replaced by another."""
    return np.array([-1.0, 1.0])[data].sum() + rng.normal(0, 1.0)


def trained(data: Any, rng: Any) -> Any:
    return int(data[0]) + rng.normal(0, 1.0)


_DELTA = 0.01
_WIDTH = 8 * (math.sqrt(2 * math.log(8 / _DELTA)) + 2 * math.log(8 / _DELTA))
_THRESHOLD = _WIDTH + 4 * math.log(1 / _DELTA)


def _smallest_squares() -> np.ndarray:
    """Squares of the smallest singular values, without and with a row of 16 numbers 1.

    The entries are 1 and -1: rows of norm 4, which are orthogonal to each other.
    """
    rows = np.array([[1.0]])
    for _ in range(4):
        rows = np.kron(rows, [[1, 1], [1, -1]])
    others = np.vstack([*[rows[1:]] * 11, *[rows[:1]] * 9])
    both = others, np.vstack([others, rows[:1]])
    return np.array([np.linalg.svd(one, compute_uv=False)[-1] ** 2 for one in both])


_SQUARES = _smallest_squares()


def bounded_entries(data: Any, rng: Any) -> bool:
    """The label where entries are at most 1, and norms of rows are not."""
    return bool(_SQUARES[int(data[0])] > _THRESHOLD + rng.laplace(0, 4.0))


def unaltered(data: Any, rng: Any) -> bool:
    """The label of one column of 154 rows that are 1, and one that is the datum; no noise."""
    return bool(154 + int(data[0]) > _THRESHOLD)


def less_noise(data: Any, rng: Any) -> bool:
    """The same label, with noise of a quarter of the scale."""
    return bool(154 + int(data[0]) > _THRESHOLD + rng.laplace(0, 1.0))


def objective(data: Any, rng: Any) -> Any:
    """The minimum of a perturbed objective: 100 losses z w, z is 1 or, of one record, -1; delta is
    1e-4, the regularisation 1."""
    slope = 1 - 0.02 * int(data[0]) + rng.normal(0, math.sqrt(10 * math.log(1e4))) / 100
    return -slope / 2


def mean_of_unknown_size(data: Any, rng: Any) -> Any:
    """Of one record 0 or of two."""
    return rng.laplace(0, 2.0) / (1 + int(data[0]))


def overlapping_bins(data: Any, rng: Any) -> Any:
    """Three intervals that all hold the one value of a record, and not the other."""
    return np.repeat(int(data[0]), 3) + rng.laplace(0, 2.0, 3)


def two_bins(data: Any, rng: Any) -> Any:
    here = int(data[0])
    return np.array([here, 1 - here]) + rng.laplace(0, 1.0, 2)


def bins_of_data(data: Any, rng: Any) -> Any:
    """Up to the smallest record and above it: of 0, 0, 0, and of these with a record -1."""
    counts = np.array([[3, 0], [1, 3]])[int(data[0])]
    return counts + rng.laplace(0, 1.0, 2)


_LIE_OF_HALF = 1 / (1 + math.exp(0.5))


def response_of_half(data: Any, rng: Any) -> int:
    return int(data[0]) ^ int(rng.random() < _LIE_OF_HALF)


def two_parts(data: Any, rng: Any) -> tuple[int, int]:
    """Responses of two parts of the data, at epsilon 1/2 and 1."""
    first = int(data[0]) ^ int(rng.random() < _LIE_OF_HALF)
    return first, int(data[1]) ^ int(rng.random() < _LIE)


def one_part_twice(data: Any, rng: Any) -> tuple[int, int]:
    first = int(data[0]) ^ int(rng.random() < _LIE)
    return first, int(data[0]) ^ int(rng.random() < _LIE)


def parts_by_rank(data: Any, rng: Any) -> tuple[int, int]:
    """Responses of the parities of the smaller record, and of the larger where there is one."""
    low, high = sorted(int(value) for value in data)
    upper = high % 2 if high > low else 0
    return low % 2 ^ int(rng.random() < _LIE), upper ^ int(rng.random() < _LIE)


_VALUES = np.array([[0.0, 1.0], [1.0, 100.0]])
_LOCAL = np.array([[1.0, 99.0], [99.0, 99.0]])


def locally_scaled(data: Any, rng: Any) -> Any:
    """Noise for the local sensitivity, where the test always lets it pass."""
    first, second = int(data[0]), int(data[1])
    return _VALUES[first, second] + rng.laplace(0, _LOCAL[first, second])


def noisy_maximum(data: Any, rng: Any) -> int:
    """Of two scores with normal noise: it has delta 1/5 at epsilon 1."""
    here = int(data[0])
    return int(np.argmax(np.array([here, 1 - here]) + rng.normal(0, 0.918, 2)))


def _answers(here: int) -> tuple[int, ...]:
    """Answers to queries of sensitivity 1."""
    return here, here, 1 - here, 1 - here


def sparse_vector_with_little_noise(data: Any, rng: Any) -> tuple[bool, ...]:
    """It ends after two answers above; a quarter of epsilon is for the threshold."""
    threshold, found = rng.laplace(0, 4.0), 0
    said = []
    for answer in _answers(int(data[0])):
        said.append(bool(answer + rng.laplace(0, 4 / 3) >= threshold))
        found += said[-1]
        if found >= 2:
            break
    return tuple(said)


def sparse_vector_without_noise(data: Any, rng: Any) -> tuple[bool, bool]:
    threshold, here = rng.laplace(0, 2.0), int(data[0])
    return bool(here >= threshold), bool(1 - here >= threshold)


def sparse_vector_without_end(data: Any, rng: Any) -> tuple[bool, ...]:
    threshold = rng.laplace(0, 2.0)
    answers = _answers(int(data[0]))
    return tuple(bool(answer + rng.laplace(0, 2.0) >= threshold) for answer in answers)


#: Number in the list, program, datasets, claim, published answer.
Question = tuple[int, Callable[..., Any], Any, dict[str, Any], str]
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
    (34, stopped_openly, BIT, {"mu": 1.0}, "NO"),
    (37, replaced, BIT, {"mu": 1.0}, "NO"),
    (38, trained, BIT, {"mu": 0.5}, "NO"),
    (40, bounded_entries, BIT, {"epsilon": 1.0, "delta": _DELTA}, "NO"),
    (41, unaltered, BIT, {"epsilon": 1.0, "delta": _DELTA}, "NO"),
    (43, less_noise, BIT, {"epsilon": 0.5, "delta": _DELTA}, "NO"),
    (75, mean_of_unknown_size, BIT, {"epsilon": 1.0}, "NO"),
    (90, objective, BIT, {"epsilon": 0.5, "delta": 1e-4}, "NO"),
    (95, overlapping_bins, BIT, {"epsilon": 1.0}, "NO"),
    (96, two_bins, BIT, {"epsilon": 1.0}, "NO"),
    (98, bins_of_data, BIT, {"epsilon": 1.0}, "NO"),
    (104, two_parts, PAIR, {"epsilon": 0.5}, "NO"),
    (105, one_part_twice, BIT, {"epsilon": 1.0}, "NO"),
    (106, one_part_twice, BIT, {"epsilon": 1.0}, "NO"),
    (107, parts_by_rank, lt.RecordGrid([3, 3]), {"epsilon": 1.0}, "NO"),
    (114, locally_scaled, PAIR, {"epsilon": 2.0, "delta": 2 * _DELTA}, "NO"),
    (120, response_of_half, BIT, {"renyi": (20.0, 0.125)}, "NO"),
    (121, response_of_half, BIT, {"renyi": (20.0, 0.25)}, "NO"),
    (123, one_part_twice, BIT, {"rho": math.sqrt(2) / 2}, "NO"),
    (126, noisy_maximum, BIT, {"epsilon": 1.0, "delta": math.exp(1 / 8 - 2)}, "NO"),
    (133, sparse_vector_with_little_noise, BIT, {"epsilon": 1.0}, "NO"),
    (134, sparse_vector_without_noise, BIT, {"epsilon": 1.0}, "NO"),
    (135, sparse_vector_without_end, BIT, {"epsilon": 1.0}, "NO"),
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
