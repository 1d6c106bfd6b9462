"""What people write: 43 small programs at everyday sizes, and what a check must answer.

Each is an ``Everyday``: a function of data and generator as it is found in notebooks, the domain
of its data, a claim, and the right decision. Nothing is declared about any of them.
"""

# Nobody's notebook is tidy.
# ruff: noqa: RUF046, PERF401

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import liptest as lt
from liptest.data.domains import Domain

Program = Callable[[Any, Any], Any]
RATIO = math.exp(-1.0)
YES, NO = "YES", "NO"


@dataclass(frozen=True)
class Everyday:
    """A program, its claim, and whether the claim is true."""

    program: Program
    domain: Callable[[], Domain]
    expected: str = YES
    epsilon: float = 1.0
    delta: float = 0.0
    name: str = ""


PROGRAMS: dict[str, Everyday] = {}


def everyday(domain: Callable[[], Domain], **more: Any) -> Callable[[Program], Program]:
    """Enter a program in the list."""

    def enter(program: Program) -> Program:
        name = more.get("name", program.__name__)
        PROGRAMS[name] = Everyday(program, domain, **{**more, "name": name})
        return program

    return enter


def people() -> Domain:
    """5,000 yes-or-no answers, one of which changes."""
    return lt.Hypercube(5000)


def eight_groups() -> Domain:
    """10,000 people in 8 groups, one of whom is replaced."""
    return lt.RecordGrid([8] * 10_000)


def thousand_ages() -> Domain:
    """1,000 ages from 0 to 120, one of which is replaced."""
    return lt.RecordGrid([121] * 1000)


def four_kinds(n: int) -> Callable[[], Domain]:
    """n records of 4 kinds, one of which is replaced."""
    return lambda: lt.RecordGrid([4] * n)


def answers(m: int) -> Callable[[], Domain]:
    """m real answers of any size, all of which may move by 1."""
    return lambda: lt.Answers(m)


# Thirteen ways to count the ones.
COUNTS: dict[str, Callable[[Any], Any]] = {
    "sum_method": lambda data: data.sum(),
    "numpy_sum": lambda data: np.sum(data),
    "python_sum": lambda data: sum(data),
    "python_ints": lambda data: sum(int(bit) for bit in data),
    "clip": lambda data: np.clip(data, 0, 1).sum(),
    "asarray": lambda data: np.asarray(data).sum(),
    "astype": lambda data: data.astype(float).sum(),
    "equal": lambda data: (data == 1).sum(),
    "minimum": lambda data: np.minimum(data, 1).sum(),
    "filter_length": lambda data: len(data[data == 1]),
    "dot": lambda data: np.dot(data, np.ones(len(data))),
    "generator": lambda data: sum(1 for bit in data if bit),
    "bincount": lambda data: np.bincount(data, minlength=2)[1],
}


def _enter_counts() -> None:
    for name, count in COUNTS.items():

        def noisy(data: Any, rng: Any, count: Any = count) -> float:
            return float(count(data) + rng.laplace(0, 1.0))

        everyday(people, name=f"count_{name}")(noisy)


_enter_counts()


@everyday(people, expected=NO)
def count_too_little_noise(data: Any, rng: Any) -> float:
    """Scale 0.9 where 1 is needed."""
    return float(data.sum() + rng.laplace(0, 0.9))


# Whole numbers.
@everyday(people)
def two_geometrics(data: Any, rng: Any) -> int:
    """The difference of two geometric numbers."""
    p = 1 - RATIO
    return int(data.sum() + rng.geometric(p) - rng.geometric(p))


@everyday(people)
def rounded_laplace(data: Any, rng: Any) -> int:
    """Rounding is free."""
    return int(round(data.sum() + rng.laplace(0, 1.0)))


@everyday(people)
def rounded_not_negative(data: Any, rng: Any) -> int:
    """So is a bound."""
    return max(0, int(round(data.sum() + rng.laplace(0, 1.0))))


@everyday(people)
def loops_of_coins(data: Any, rng: Any) -> int:
    """Geometric numbers, coin by coin."""
    up = down = 0
    while rng.random() < RATIO:
        up += 1
    while rng.random() < RATIO:
        down += 1
    return int(data.sum()) + up - down


def _is_heads(rng: Any, top: int, bottom: int) -> bool:
    # A coin of probability exp(-top / bottom), from whole numbers alone.
    rolls = 1
    while rng.integers(0, bottom * rolls) < top:
        rolls += 1
    return rolls % 2 == 1


@everyday(people, delta=1e-12)
def discrete_laplace_by_rejection(data: Any, rng: Any) -> int:
    """Exact discrete Laplace noise (Canonne, Kamath, Steinke 2020)."""
    while True:
        size = 0
        while _is_heads(rng, 1, 1):
            size += 1
        is_negative = rng.integers(0, 2)
        if not (is_negative and size == 0):
            return int(data.sum()) + (size if is_negative == 0 else -size)


@everyday(people, expected=NO)
def inverse_cdf(data: Any, rng: Any) -> int:
    """Geometric numbers from floats, which end: far outputs are possible on one side only."""
    up = math.floor(math.log(1 - rng.random()) / math.log(RATIO))
    down = math.floor(math.log(1 - rng.random()) / math.log(RATIO))
    return int(data.sum()) + up - down


# Histograms: a replaced record moves two cells.
@everyday(eight_groups)
def histogram(data: Any, rng: Any) -> list[float]:
    """All cells, noise of scale 2."""
    noisy: list[float] = (np.bincount(data, minlength=8) + rng.laplace(0, 2.0, size=8)).tolist()
    return noisy


@everyday(eight_groups, expected=NO)
def histogram_half_noise(data: Any, rng: Any) -> list[float]:
    """Noise for one cell."""
    noisy: list[float] = (np.bincount(data, minlength=8) + rng.laplace(0, 1.0, size=8)).tolist()
    return noisy


@everyday(eight_groups)
def histogram_loop(data: Any, rng: Any) -> dict[int, float]:
    """Cell by cell, in a dictionary."""
    return {group: float((data == group).sum() + rng.laplace(0, 2.0)) for group in range(8)}


@everyday(eight_groups)
def histogram_whole(data: Any, rng: Any) -> tuple[int, ...]:
    """By fixed edges, rounded, not negative."""
    counts, _ = np.histogram(data, bins=np.arange(9) - 0.5)
    rounded = np.clip(np.round(counts + rng.laplace(0, 2.0, size=8)), 0, None)
    return tuple(rounded.astype(int).tolist())


@everyday(eight_groups)
def histogram_large_cells_only(data: Any, rng: Any) -> list[float | None]:
    """Small cells are left out after the noise."""
    noisy = np.bincount(data, minlength=8) + rng.laplace(0, 2.0, size=8)
    return [float(cell) if cell > 20 else None for cell in noisy]


@everyday(eight_groups)
def most_frequent(data: Any, rng: Any) -> int:
    """The group with the largest noisy count."""
    return int(np.argmax(np.bincount(data, minlength=8) + rng.laplace(0, 2.0, size=8)))


@everyday(eight_groups, expected=NO)
def most_frequent_half_noise(data: Any, rng: Any) -> int:
    """Half of the noise."""
    return int(np.argmax(np.bincount(data, minlength=8) + rng.laplace(0, 1.0, size=8)))


# Sums and means.
@everyday(thousand_ages)
def mean_age(data: Any, rng: Any) -> float:
    """Clipped, then averaged."""
    ages = np.clip(data, 18, 90)
    return float(ages.mean() + rng.laplace(0, 72 / len(data)))


@everyday(thousand_ages, expected=NO)
def mean_age_unclipped(data: Any, rng: Any) -> float:
    """The clipped ages are not the ones that are averaged."""
    ages = np.clip(data, 18, 90)
    return float(data.sum() / len(ages) + rng.laplace(0, 72 / len(data)))


@everyday(thousand_ages)
def mean_and_square(data: Any, rng: Any) -> tuple[float, float]:
    """Two sums of the same records, half of the budget each."""
    ages = np.clip(data, 18, 90) - 18
    total = ages.sum() + rng.laplace(0, 2 * 72)
    squares = (ages**2).sum() + rng.laplace(0, 2 * 72**2)
    return float(total / len(data)), float(squares / len(data))


@everyday(thousand_ages, delta=1e-5)
def gaussian_sum(data: Any, rng: Any) -> float:
    """Normal noise that is enough: delta 3.7e-6 at epsilon 1."""
    return float(np.clip(data, 0, 1).sum() + rng.normal(0, 4.0))


@everyday(thousand_ages, expected=NO, delta=1e-5)
def gaussian_sum_too_little(data: Any, rng: Any) -> float:
    """Normal noise that is not: delta 2.8e-5 at epsilon 1."""
    return float(np.clip(data, 0, 1).sum() + rng.normal(0, 3.5))


GRADIENTS = np.array([[0.6, -2.0, 1.0], [3.0, 0.5, 0.0], [0.0, 0.0, 0.2], [-1.0, 4.0, 0.3]])


@everyday(four_kinds(2000), delta=1e-5)
def clipped_gradients(data: Any, rng: Any) -> list[float]:
    """One step of DP-SGD: every record's gradient is cut to length 1."""
    own = GRADIENTS[data]
    lengths = np.linalg.norm(own, axis=1, keepdims=True)
    noise = rng.normal(0, 8.0, size=3)
    step: list[float] = (np.sum(own / np.maximum(1.0, lengths), axis=0) + noise).tolist()
    return step


@everyday(four_kinds(2000), expected=NO, delta=1e-5)
def unclipped_gradients(data: Any, rng: Any) -> list[float]:
    """Lengths are computed and not used."""
    own = GRADIENTS[data]
    np.linalg.norm(own, axis=1)
    step: list[float] = (np.sum(own, axis=0) + rng.normal(0, 4.0, size=3)).tolist()
    return step


# Local privacy: every record for itself.
TRUTH = (math.e - 1) / (math.e + 3)


@everyday(four_kinds(10_000))
def randomised_response(data: Any, rng: Any) -> list[int]:
    """The truth, or one of four answers at random."""
    others = rng.integers(0, 4, len(data))
    told: list[int] = np.where(rng.random(len(data)) < TRUTH, data, others).tolist()
    return told


@everyday(four_kinds(10_000))
def randomised_response_loop(data: Any, rng: Any) -> list[int]:
    """The same, record by record."""
    told = []
    for kind in data:
        told.append(int(kind) if rng.random() < TRUTH else int(rng.integers(0, 4)))
    return told


@everyday(four_kinds(10_000), expected=NO)
def randomised_response_too_true(data: Any, rng: Any) -> list[int]:
    """The truth too often."""
    others = rng.integers(0, 4, len(data))
    told: list[int] = np.where(rng.random(len(data)) < 0.5, data, others).tolist()
    return told


# Many answers of any size.
@everyday(answers(100))
def sparse_vector(answers: Any, rng: Any) -> tuple[bool, ...]:
    """Which answer is the first above a threshold."""
    threshold, told = rng.laplace(0, 2.0), []
    for answer in answers:
        told.append(bool(answer + rng.laplace(0, 4.0) >= threshold))
        if told[-1]:
            break
    return tuple(told)


@everyday(answers(100), expected=NO)
def sparse_vector_4(answers: Any, rng: Any) -> tuple[bool, ...]:
    """The budget is cut wrongly: 1.75 (Lee and Clifton 2014, algorithm 4)."""
    threshold, told = rng.laplace(0, 4.0), []
    for answer in answers:
        told.append(bool(answer + rng.laplace(0, 4 / 3) >= threshold))
        if told[-1]:
            break
    return tuple(told)


@everyday(answers(8), expected=NO)
def sparse_vector_one_too_many(answers: Any, rng: Any) -> tuple[bool, ...]:
    """Goes on until the second answer above."""
    threshold, told, above = rng.laplace(0, 2.0), [], 0
    for answer in answers:
        told.append(bool(answer + rng.laplace(0, 4.0) >= threshold))
        above += told[-1]
        if above > 1:
            break
    return tuple(told)


@everyday(answers(100))
def noisy_maximum(answers: Any, rng: Any) -> int:
    """Where the largest noisy answer is."""
    return int(np.argmax(answers + rng.laplace(0, 2.0, size=len(answers))))


@everyday(answers(20), epsilon=10.0)
def noisy_answers_summed_up(answers: Any, rng: Any) -> list[float]:
    """20 noisy answers, then their running sums."""
    noisy = answers + rng.laplace(0, 2.0, size=len(answers))
    sums: list[float] = np.cumsum(noisy).tolist()
    return sums


@everyday(answers(2), expected=NO)
def same_noise_twice(answers: Any, rng: Any) -> tuple[float, float]:
    """The difference of the two outputs has no noise."""
    noise = rng.laplace(0, 10.0)
    return float(answers[0] + noise), float(answers[1] + noise)
