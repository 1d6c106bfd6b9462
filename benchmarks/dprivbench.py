"""DPriv-Bench's questions on Laplace noise, answered from code (arXiv 2604.15851, category 1).

Each of its 49 functions of n numbers in [0, 1] is asked about twice: with noise for the stated
sensitivity, which is private, and with half of it, which is not. Here n is 4, the numbers are 0,
1/2 and 1, and any one may be replaced: a NO answers the question, a YES is a proof on that grid
only. The functions are written down from the published list; its files are not part of this
repository.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from figures import Figure, Row, cpu_seconds, report

import liptest as lt

N, EPSILON = 4, 1.0
#: What the questions leave open: a mean, an interval, a threshold, an index, an offset.
MU, LOW, HIGH, TAU, PLACE, OFFSET = 0.0, 0.25, 0.75, 0.25, 0, 1.5
_SOFT = math.e / (math.e + N - 1)
_SLOPE = (1 - math.exp(-1)) / (2 * (1 + math.exp(-1)))
Numbers = Any


def _softmax(x: Numbers) -> Any:
    weights = np.exp(x)
    return np.sum(weights * x) / np.sum(weights)


def _pairs(x: Numbers) -> float:
    return float(sum(x[i] * x[j] for i in range(N) for j in range(i + 1, N)))


def _quartiles(x: Numbers) -> float:
    """Of four sorted numbers the third and the first: quartiles without interpolation."""
    ordered = np.sort(x)
    return float(ordered[2] - ordered[0])


#: Number in the list, function, sensitivity.
FUNCTIONS: list[tuple[int, Callable[[Numbers], Any], float]] = [
    (1, np.sum, 1),
    (2, np.prod, 1),
    (3, np.max, 1),
    (4, np.min, 1),
    (5, np.mean, 1 / N),
    (6, lambda x: math.sqrt(np.sum(x**2)), 1),
    (7, lambda x: np.sum(np.abs(np.diff(x))), 2),
    (8, lambda x: np.sum(np.abs(x - np.mean(x))), 2 * (N - 1) / N),
    (9, lambda x: np.sum((x - np.mean(x)) ** 2), (N - 1) / N),
    (10, lambda x: np.sum((x - MU) ** 2), 1),
    (11, lambda x: np.sum(x**2), 1),
    (12, lambda x: np.sum(x**3), 1),
    (13, lambda x: np.sum(np.sqrt(x)), 1),
    (14, lambda x: np.sum(np.log(x + 1)), math.log(2)),
    (15, lambda x: np.sum(np.exp(x)), math.e - 1),
    (16, lambda x: np.sum(np.sin(math.pi * x)), 1),
    (17, lambda x: np.sum(np.cos(math.pi * x)), 2),
    (18, lambda x: np.sum(np.arctan(x)), math.pi / 4),
    (19, lambda x: np.sum(x * (1 - x)), 1 / 4),
    (20, lambda x: np.sum(x**2 * (1 - x) ** 2), 1 / 16),
    (21, lambda x: np.sort(x)[N // 2], 1),
    (22, _quartiles, 1),
    (23, lambda x: np.sum(x > 0.5), 1),
    (24, lambda x: np.sum((x >= LOW) & (x <= HIGH)), 1),
    (25, lambda x: np.sum(x[:-1] * x[1:]), 2),
    (26, _pairs, N - 1),
    (27, lambda x: x[0] - x[1] + x[2] - x[3], 1),
    (28, lambda x: np.sum(x) ** 2, 2 * N - 1),
    (29, lambda x: np.sum(np.arange(1, N + 1) * x), N),
    (30, lambda x: float(np.sum(x) > N / 2), 1),
    (31, lambda x: np.sum(x > 0.7), 1),
    (32, lambda x: np.prod(x > TAU), 1),
    (33, lambda x: float(x[0] > x[1]), 1),
    (34, lambda x: np.sum(x > 0.5) % 2, 1),
    (35, lambda x: math.log(1 + np.sum(x**2)), math.log(2)),
    (36, lambda x: math.sqrt(np.sum((x - np.roll(x, -1)) ** 2)), math.sqrt(2)),
    (37, lambda x: np.sum(x**2) / (1 + np.sum(x)), 1 / 2),
    (38, lambda x: math.exp(-np.sum(x**2)), 1 - math.exp(-1)),
    (39, lambda x: np.sum(1 / (1 + x**2)), 1 / 2),
    (40, lambda x: np.sum(1 / (1 + np.exp(-x))), _SLOPE),
    (41, _softmax, _SOFT),
    (42, lambda x: np.sum(np.abs(x - 0.5)), 1 / 2),
    (43, lambda x: np.sum(np.diff(x) ** 2), 2),
    (44, lambda x: np.sum(x[[2, 0, 3, 1]]), 1),
    (45, lambda x: float(np.sum(x < x[PLACE])), N - 1),
    (46, lambda x: np.sum(x[1::2]), 1),
    (47, lambda x: np.sum(x / np.arange(1, N + 1)), 1),
    (48, lambda x: -np.sum(x * np.log(x + OFFSET)), math.log(1 + OFFSET)),
    (49, lambda x: np.sum(np.abs(x - np.arange(1, N + 1) / N)), 1),
]


def ask(function: Callable[[Numbers], Any], scale: float) -> str:
    """Whether the function with Laplace noise of that scale is 1-private on the grid."""

    def noisy(data: Any, rng: Any) -> Any:
        numbers = np.array([int(k) / 2 for k in data])
        return float(function(numbers)) + rng.laplace(0, scale)

    # Equal sensitivities are rounded differently by different formulas: 1e-9 of tolerance.
    verdict = lt.check_privacy(
        lt.mechanism(noisy), lt.RecordGrid([3] * N), epsilon=EPSILON, tolerance=1e-9
    )
    return str(verdict.decision.value)


def measure(quick: bool) -> list[Row]:
    functions = FUNCTIONS[:3] if quick else FUNCTIONS
    answers: list[tuple[int, str, str]] = []

    def run() -> None:
        for number, function, sensitivity in functions:
            both = (ask(function, factor * sensitivity / EPSILON) for factor in (1, 0.5))
            answers.append((number, *both))  # type: ignore[arg-type]

    cost = cpu_seconds(run)
    private = [first for _, first, _ in answers]
    half = [second for _, _, second in answers]
    return [
        Row(
            "noise for the sensitivity",
            {"questions": len(private), "YES on the grid": private.count("YES")},
            {"questions": len(functions), "YES on the grid": len(functions)},
            {},
        ),
        Row(
            "half of it",
            {"questions": len(half), "NO": half.count("NO")},
            {"questions": len(functions), "NO": len(functions)},
            {"CPU s of all": Figure(cost)},
        ),
    ]


if __name__ == "__main__":
    report("DPriv-Bench, category 1, Laplace noise", measure)
