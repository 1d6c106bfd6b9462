"""DPriv-Bench's 588 questions on noise and selection, answered from code (arXiv 2604.15851).

Category 1 asks of each of 49 functions of n numbers in [0, 1], six times over, whether noise for
the stated sensitivity is private, and whether half of it (half of the variance, of normal noise)
is. Here n is 4, the numbers are 0, 1/2 and 1, and any one may be replaced: a NO answers the
question, a YES is a proof on that grid only. Three topics add noise to the function (Laplace noise
under pure privacy, normal noise under GDP and zCDP). Three select the column of a table with the
largest noisy score (Gumbel, Laplace and exponential noise): a YES is a proof for all scores that
move by at most 1, together with the exact sensitivity on the grid; a NO is two tables that differ
in one row, and a column. The functions are written down from the published list; its files are not
part of this repository.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from figures import Figure, Row, cpu_seconds, report

import liptest as lt
from liptest.data.answers import Answers

#: Numbers of a dataset, columns of a table, and the claim: epsilon, mu, or twice rho.
N, COLUMNS, EPSILON = 4, 4, 1.0
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


#: Topic -> the claim, the noise, and its scale by the sensitivity: enough, and half.
RELEASES: dict[str, tuple[dict[str, float], str, float, float]] = {
    "Laplace noise": ({"epsilon": EPSILON}, "laplace", 1.0, 0.5),
    "normal noise, GDP": ({"mu": EPSILON}, "normal", 1.0, math.sqrt(0.5)),
    "normal noise, zCDP": ({"rho": EPSILON / 2}, "normal", 1.0, math.sqrt(0.5)),
}
SELECTIONS: dict[str, tuple[str, float, float]] = {
    "exponential mechanism": ("gumbel", 2.0, 1.0),
    "noisy maximum": ("laplace", 2.0, 1.0),
    "permute and flip": ("exponential", 2.0, 1.0),
}


def ask(function: Callable[[Numbers], Any], topic: str, half: bool, sensitivity: float) -> str:
    """Whether the function with the topic's noise keeps its claim on the grid."""
    claim, noise, enough, too_little = RELEASES[topic]
    scale = sensitivity * (too_little if half else enough)

    def noisy(data: Any, rng: Any) -> Any:
        numbers = np.array([int(k) / 2 for k in data])
        return float(function(numbers)) + getattr(rng, noise)(0, scale)

    # Equal sensitivities are rounded differently by different formulas: 1e-9 of tolerance.
    verdict = lt.check_privacy(lt.mechanism(noisy), lt.RecordGrid([3] * N), **claim, tolerance=1e-9)
    return str(verdict.decision.value)


def furthest(function: Callable[[Numbers], Any]) -> tuple[float, Numbers, Numbers]:
    """The sensitivity on the grid, and two neighbours that have it, the larger value first."""
    grid = [np.array(numbers) / 2 for numbers in product(range(3), repeat=N)]
    values = np.array([float(function(numbers)) for numbers in grid])
    table = values.reshape((3,) * N)
    best = (-1.0, grid[0], grid[0])
    for axis in range(N):
        moved = np.moveaxis(table, axis, 0)
        for i, j in product(range(3), repeat=2):
            differences = moved[i] - moved[j]
            place = np.unravel_index(int(np.argmax(differences)), differences.shape)
            if differences[place] > best[0]:
                rest = [int(k) for k in place]
                pair = (np.array([*rest[:axis], k, *rest[axis:]]) / 2 for k in (i, j))
                best = (float(differences[place]), *pair)
    return best


def add(noise: str, scale: float, scores: Any, rng: Any) -> int:
    """The place of the largest noisy score."""
    only_scale = (scale, COLUMNS) if noise == "exponential" else (0, scale, COLUMNS)
    return int(np.argmax(scores + getattr(rng, noise)(*only_scale)))


def is_proved(topic: str) -> bool:
    """Whether the selection is 1-private for all scores that move by at most 1."""
    noise, enough, _ = SELECTIONS[topic]
    selection = lt.mechanism(lambda scores, rng: add(noise, enough, scores, rng))
    verdict = lt.check_privacy(selection, Answers(COLUMNS), epsilon=EPSILON)
    return str(verdict.decision.value) == "YES"


def select(function: Callable[[Numbers], Any], topic: str, sensitivity: float) -> str:
    """The verdict on half of the noise, on two tables whose columns are the furthest datasets."""
    noise, _, too_little = SELECTIONS[topic]
    _, high, low = furthest(function)
    tables = [np.array([high] + [low] * (COLUMNS - 1)).T, np.array([low] + [high] * 3).T]

    def selected(bit: Any, rng: Any) -> int:
        table = tables[int(bit[0])]
        scores = np.array([float(function(table[:, j])) for j in range(COLUMNS)])
        return add(noise, too_little * sensitivity, scores, rng)

    verdict = lt.check_privacy(lt.mechanism(selected), lt.Hypercube(1), epsilon=EPSILON)
    return str(verdict.decision.value)


def measure(quick: bool) -> list[Row]:
    functions = FUNCTIONS[:1] if quick else FUNCTIONS
    rows = []
    for topic in RELEASES:
        answers: list[tuple[str, str]] = []

        def run(topic: str = topic, answers: list[tuple[str, str]] = answers) -> None:
            for _, function, sensitivity in functions:
                both = (ask(function, topic, half, sensitivity) for half in (False, True))
                answers.append(tuple(both))  # type: ignore[arg-type]

        cost = cpu_seconds(run)
        rows.append(_row(topic, len(functions), answers, cost))
    for topic in SELECTIONS:
        chosen: list[tuple[str, str]] = []

        def choose(topic: str = topic, chosen: list[tuple[str, str]] = chosen) -> None:
            proved = is_proved(topic)
            for _, function, sensitivity in functions:
                within = furthest(function)[0] <= sensitivity * (1 + 1e-9)
                first = "YES" if proved and within else "open"
                chosen.append((first, select(function, topic, sensitivity)))

        cost = cpu_seconds(choose)
        rows.append(_row(topic, len(functions), chosen, cost))
    return rows


def _row(topic: str, count: int, answers: list[tuple[str, str]], cost: float) -> Row:
    found = {
        "questions": 2 * len(answers),
        "YES": sum(first == "YES" for first, _ in answers),
        "NO": sum(second == "NO" for _, second in answers),
    }
    planned = {"questions": 2 * count, "YES": count, "NO": count}
    return Row(topic, found, planned, {"CPU s": Figure(cost)})


if __name__ == "__main__":
    report("DPriv-Bench, category 1", measure)
