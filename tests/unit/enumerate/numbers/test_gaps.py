"""Numbers that are released after a comparison of them: sparse vector and noisy maximum with gaps.

Their laws, and largest losses, against exact sums over windows of the threshold and the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.balls import precision
from liptest.enumerate.numbers.whole_numbers import WholeFunction, noise_rates
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.paired_noise import pair_noise
from liptest.symbolic.probability import System

Law = Callable[[Any, int, int], Fraction]
REACH, HALF, ZERO = 45, Fraction(1, 2), Fraction(0)
POINTS = [np.array(one) for one in ((0, 0, 1), (1, 0, 1), (1, 1, 0))]


def noise(rng: Any) -> Any:
    return rng.geometric(0.5) - rng.geometric(0.5)


def released_answer(data: Any, rng: Any) -> Any:
    """The answer itself, not its noisy difference from the threshold."""
    threshold = 1 + noise(rng)
    for place, query in enumerate(data):
        answer = int(query) + noise(rng)
        if answer >= threshold:
            return place, answer
    return None


def largest_and_gap(data: Any, rng: Any) -> Any:
    answers = [int(query) + noise(rng) for query in data]
    best = max(range(len(answers)), key=lambda i: answers[i])
    return best, answers[best] - max(one for i, one in enumerate(answers) if i != best)


def mass(k: int) -> Fraction:
    return HALF ** abs(k) / 3


def at_most(k: int) -> Fraction:
    """P(noise <= k)."""
    return HALF**-k * 2 / 3 if k < 0 else 1 - HALF**k / 3


def law_of_answer(data: Any, place: int, answer: int) -> Fraction:
    found = ZERO
    for threshold in range(-REACH, answer + 1):
        before = math.prod((at_most(threshold - 1 - int(q)) for q in data[:place]), start=HALF * 2)
        found += mass(threshold - 1) * before
    return found * mass(answer - int(data[place]))


def law_of_gap(data: Any, place: int, gap: int) -> Fraction:
    def others_at_most(second: int, top: int) -> Fraction:
        # Of equal answers the first is the largest.
        bounds = (min(second, top - (j < place)) for j in range(len(data)) if j != place)
        rest = (int(q) for j, q in enumerate(data) if j != place)
        return math.prod(
            (at_most(b - q) for b, q in zip(bounds, rest, strict=True)), start=HALF * 2
        )

    found = ZERO
    for top in range(-REACH, REACH):
        share = others_at_most(top - gap, top) - others_at_most(top - gap - 1, top)
        found += mass(top - int(data[place])) * share
    return found


CASES: list[Any] = [(released_answer, law_of_answer), (largest_and_gap, law_of_gap)]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "law"), CASES)
def test_laws_are_sums_over_windows(program: Any, law: Law) -> None:
    seen: Any = lt.mechanism(program).over_all_numbers(POINTS[0])
    assert isinstance(seen, WholeFunction)
    for data in POINTS:
        found = seen.whole_law(data)
        rates = noise_rates(found, found)
        with precision(128):
            for skeleton in found.leaves:
                if skeleton is None:
                    continue
                for number in (-3, 0, 1, 2, 6):
                    expected = law(data, skeleton[0], number) if number >= 0 else None
                    if law is law_of_answer:
                        expected = law(data, skeleton[0], number)
                    got = float(found.probability(rates, skeleton, (number,)))
                    assert got == pytest.approx(float(expected or 0), abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "law"), CASES)
def test_the_largest_loss_is_that_of_windows(program: Any, law: Law) -> None:
    seen: Any = lt.mechanism(program).over_all_numbers(POINTS[0])
    left, right = POINTS[:2]
    start = 0 if law is law_of_gap else -12
    with precision(128):
        found = float(seen.pair_loss(left, right))
    losses = [
        abs(math.log(law(left, place, number) / law(right, place, number)))
        for place in range(3)
        for number in range(start, 12)
        if law(left, place, number)
    ]
    assert max(losses) <= found + 1e-9
    assert max(losses) >= found - 1e-3


def test_pairs_are_found_where_every_sum_has_their_difference() -> None:
    noises = tuple(Noise("geometric", HALF) for _ in range(4))
    a, b, c, d = map(Form.variable, range(4))
    sums = [(a - b).terms, (a - b - c + d).terms]
    paired = pair_noise(noises, sums)
    assert paired is not None
    assert set(paired.pairs) == {(0, 1), (2, 3)}
    assert [len(paired.terms(one)) for one in sums] == [1, 2]
    assert pair_noise(noises, [(a - b).terms, a.terms]) is None
    assert pair_noise(noises, [(a + b).terms]) is None
    other = (noises[0], Noise("geometric", Fraction(1, 3)))
    assert pair_noise(other, [(a - b).terms]) is None


def test_points_are_inside_and_probabilities_those_of_sums() -> None:
    """Sums of four variables in cycles, which differences of two-sided noise are not."""
    noises = tuple(Noise("geometric", HALF) for _ in range(6))
    x, y, z = (Form.variable(k) - Form.variable(k + 1) for k in (0, 2, 4))
    constraints = [
        form.between(low, None, low_closed=True) for form, low in ((x - y, 0), (y - z, 1), (x, 1))
    ]
    system = System(noises)
    found = float(system.probability(constraints))
    window = range(-REACH, REACH)
    expected = sum(
        mass(one) * mass(two) * at_most(two - 1)
        for one in window
        for two in window
        if one >= max(two, 1)
    )
    assert found == pytest.approx(float(expected), abs=1e-12)
    point = system.points_inside(constraints)(np.random.default_rng(1))
    assert all(value >= 1 and value.denominator == 1 for value in point)
    for one in constraints:
        value = sum((Fraction(f) * point[v] for v, f in one.terms), ZERO)
        assert one.low is None or value >= one.low
        assert one.high is None or value <= one.high
