"""Prices of alignments: published limits, many answers, and how often they are exact.

The last rows price random small programs and find their losses by brute force: a price below the
loss would be a false proof. ``equal`` is the share of prices that the brute force attains to 0.01
(or both are infinite); noise that is cut off, and data on a small grid, leave some short of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report
from random_programs import largest_loss, random_program

from liptest.errors import UnsupportedForm
from liptest.symbolic.alignment import Price, price_paths
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.forms import Form, Rational
from liptest.symbolic.noise import Noise

NEAR = 0.01


def laplace(scale: Rational) -> Noise:
    return Noise("laplace", Fraction(scale))


def sparse_vector(size: int, threshold: Rational, query: Rational) -> list[AlignedPath]:
    """Which of some noisy answers first exceeds a noisy threshold."""
    noises = (laplace(threshold), *(v for i in range(size) for v in (Answer(i), laplace(query))))
    line = Form.variable(0)
    forms = [Form.variable(1 + 2 * i) + Form.variable(2 + 2 * i) for i in range(size)]
    no = [(form - line).between(high=0) for form in forms]
    yes = [(form - line).between(low=0, low_closed=True) for form in forms]
    ends = [tuple(no), *((*no[:i], yes[i]) for i in range(size))]
    return [AlignedPath(noises, conditions) for conditions in ends]


def noisy(size: int, noise: Noise) -> tuple[tuple[Noise | Answer, ...], list[Form]]:
    noises = tuple(v for i in range(size) for v in (Answer(i), noise))
    return noises, [Form.variable(2 * i) + Form.variable(2 * i + 1) for i in range(size)]


def noisy_maximum(size: int, noise: Noise) -> list[AlignedPath]:
    """Which noisy answer is the largest."""
    noises, forms = noisy(size, noise)
    return [
        AlignedPath(noises, tuple((one - form).between(high=0) for one in forms if one is not form))
        for form in forms
    ]


def histogram(size: int, noise: Noise) -> list[AlignedPath]:
    """All noisy answers."""
    noises, forms = noisy(size, noise)
    return [AlignedPath(noises, (), tuple(forms))]


def priced(
    case: str, paths: list[AlignedPath], different: Differences, limit: Fraction, most: float
) -> Row:
    """A price beside its published limit, in millionths."""
    found: list[Price] = []
    seconds = cpu_seconds(lambda: found.append(price_paths(paths, different)))
    price = found[0].epsilon
    return Row(
        case,
        {"price, millionths": -1 if price is None else round(price * 10**6)},
        {"price, millionths": round(limit * 10**6)},
        {SECONDS: Figure(seconds, at_most=most)},
    )


def random_row(name: str, count: int, *, whole: bool, halves: bool) -> Row:
    """Programs whose price is below their loss (there must be none), and how many are equal."""
    rng = np.random.default_rng(7)
    below = finite = equal = done = 0
    seconds = 0.0
    while done < count:
        program = random_program(rng, whole=whole, halves=halves)
        try:
            loss = largest_loss(program)
        except UnsupportedForm:
            continue
        done += 1
        found: list[Price] = []
        paths = program.paths()
        seconds += cpu_seconds(lambda: found.append(price_paths(paths, program.differences)))  # noqa: B023
        price = math.inf if found[0].epsilon is None else float(found[0].epsilon)
        below += price < loss - 1e-9
        finite += math.isfinite(price)
        equal += math.isfinite(price) and abs(price - loss) < NEAR
    return Row(
        f"{count:,} random programs, {name}",
        {"below the loss": below},
        {"below the loss": 0},
        {
            "finite": Figure(finite / count),
            "of these equal": Figure(equal / max(1, finite)),
            "CPU ms each": Figure(1000 * seconds / count),
        },
    )


def measure(quick: bool) -> list[Row]:
    one = Fraction(1)
    sizes: Sequence[int] = (5, 45) if quick else (5, 100, 1000)
    rows = []
    for size in sizes:
        box = Differences.of_box([1] * size)
        cells = Differences.of_tables([{i: 1} for i in range(size)])
        svt1, svt4 = (sparse_vector(size, *scales) for scales in ((2, 4), (4, Fraction(4, 3))))
        rows += [
            priced(f"SVT1, {size:,} answers", svt1, box, one, 20),
            priced(f"SVT4, {size:,} answers", svt4, box, Fraction(7, 4), 20),
            priced(f"noisy maximum, {size:,}", noisy_maximum(size, laplace(2)), box, one, 20),
            priced(f"histogram, {size:,} cells", histogram(size, laplace(1)), cells, 2 * one, 5),
        ]
    count = 20 if quick else 1000
    rows += [
        random_row("whole noise and answers", count, whole=True, halves=False),
        random_row("real noise and answers", count, whole=False, halves=True),
        random_row("whole noise, real answers", count, whole=True, halves=True),
    ]
    return rows


if __name__ == "__main__":
    report("Prices of alignments", measure)
