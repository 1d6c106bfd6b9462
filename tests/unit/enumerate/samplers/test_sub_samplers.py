"""Samplers with fractions and generators of the module random: the laws of what programs add."""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.samplers.added_law import AddedLaw

RNG = random.SystemRandom()
SEEDED = random.Random(7)
RECORDS = 5_000


def added(function: Any, records: int = 12) -> Any:
    return lt.mechanism(function).find_added_law(lt.Hypercube(records))


def bernoulli(p: F, rng: Any) -> bool:
    if not 0 <= p <= 1:  # pytest would rewrite an assertion
        raise ValueError(p)
    return rng.randrange(p.denominator) < p.numerator


def bernoulli_exp1(x: F, rng: Any) -> bool:
    k = 1
    while bernoulli(x / k, rng):
        k += 1
    return k % 2 == 1


def bernoulli_exp(x: F, rng: Any) -> bool:
    if not isinstance(x, F):
        raise TypeError("a fraction")
    while x > 1:
        if not bernoulli_exp1(F(1), rng):
            return False
        x -= 1
    return bernoulli_exp1(x, rng)


def geometric_exp(x: F, rng: Any) -> int:
    while True:
        u = rng.randrange(x.denominator)
        if bernoulli_exp(F(u, x.denominator), rng):
            break
    v = 0
    while bernoulli_exp(F(1), rng):
        v += 1
    return (v * x.denominator + u) // x.numerator


def discrete_laplace(scale: F, rng: Any) -> int:
    while True:
        positive = rng.getrandbits(1) == 1
        size = geometric_exp(1 / scale, rng)
        if positive or size != 0:
            return size if positive else -size


def discrete_gaussian(variance: F, rng: Any = None) -> int:
    t = math.isqrt(int(variance)) + 1
    while True:
        candidate = discrete_laplace(F(t), rng=rng)
        off = abs(candidate) - variance / t
        if bernoulli_exp(off * off / (2 * variance), rng):
            return candidate


def with_laplace(data: Any) -> int:
    return int(data.sum()) + discrete_laplace(F(3, 2), random.SystemRandom())


def with_gaussian(data: Any) -> int:
    return int(data.sum()) + discrete_gaussian(F(4), rng=RNG)


def with_wide_gaussian(data: Any) -> int:
    """Its samplers are called with 2,400 different arguments: millions of lines in one run."""
    return int(data.sum()) + discrete_gaussian(F(100), rng=RNG)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "weight", "epsilon", "enough"),
    [
        (with_laplace, lambda k: math.exp(-2 * abs(k) / 3), F(2, 3), 1e-15),
        pytest.param(
            with_gaussian, lambda k: math.exp(-k * k / 8), F(4), 1e-12, marks=pytest.mark.slow
        ),
        pytest.param(
            *(with_wide_gaussian, lambda k: math.exp(-k * k / 200), F(1), 1e-12),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_samplers_with_fractions_have_the_laws_of_their_formulas(
    program: Any, weight: Any, epsilon: F, enough: float
) -> None:
    law = added(program, RECORDS)
    assert isinstance(law, AddedLaw)
    total = sum(map(weight, range(-200, 201)))
    for (k,), mass in law.masses.items():
        assert float(mass) == pytest.approx(weight(int(k)) / total, abs=1e-15)
    assert law.unexplored < 1e-16
    assert float(law.delta_at(epsilon + F(1, 10**9))) < max(
        enough, 1e-12 + delta_of(weight, float(epsilon))
    )


def delta_of(weight: Any, epsilon: float) -> float:
    """The divergence of a law on -200 .. 200 from itself moved by 1."""
    total = sum(map(weight, range(-200, 201)))
    gaps = (weight(k) - math.exp(epsilon) * weight(k - 1) for k in range(-199, 201))
    return float(sum(max(0.0, gap) for gap in gaps) / total)


def comparisons(rng: Any) -> int:
    """Each way to compare a draw with a number, on either side."""
    found = 0
    if rng.integers(3, 10) <= 5:
        found += 1
    if F(9, 2) > rng.integers(8):
        found += 2
    if rng.integers(0, 3) == 1:
        found += 4
    if rng.integers(5) != 2:
        found += 8
    return found


def of_drawn_bounds(rng: Any) -> int:
    """Bounds of NumPy's types, as numbers that are drawn or calculated have them."""
    found = 0
    if rng.integers(3, 10) <= np.int64(5):
        found += 1
    if np.float64(4.5) > rng.integers(8):
        found += 2
    if rng.integers(0, 3) == rng.integers(1, 2):
        found += 4
    if rng.integers(5) != np.int64(2):
        found += 8
    return found


def of_python(n: int) -> int:
    found = 0
    if random.randrange(3, 10) <= n:
        found += 1
    if F(9, 2) > RNG.randrange(8):
        found += 2
    if random.randint(0, 2) == 1:
        found += 4
    if secrets.randbelow(5) != 2:
        found += 8
    return found


@pytest.mark.parametrize("of", ["NumPy", "bounds of NumPy", "Python"])
def test_a_draw_that_is_compared_only_has_two_ways(of: str) -> None:
    def program(data: Any, rng: Any) -> int:
        if of == "Python":
            return int(data.sum()) + of_python(5)
        return int(data.sum()) + (comparisons(rng) if of == "NumPy" else of_drawn_bounds(rng))

    law = added(program)
    assert isinstance(law, AddedLaw)
    assert law.unexplored == 0
    chances = F(3, 7), F(5, 8), F(1, 3), F(4, 5)
    for (k,), mass in law.masses.items():
        exact = math.prod(p if int(k) >> place & 1 else 1 - p for place, p in enumerate(chances))
        assert mass == exact
    assert len(law.masses) == 16


def coin() -> bool:
    return RNG.random() < 0.25


def seeded_coin() -> int:
    return SEEDED.randrange(4)


def coin_of(rng: Any) -> int:
    return int(rng.randrange(4))


class Counting(random.Random):
    """Each number is one more than the one before."""

    drawn = 0

    def randrange(self, *arguments: Any) -> int:
        Counting.drawn += 1
        return Counting.drawn % 4


def with_seeds(data: Any) -> int:
    return int(data.sum()) + 10 * seeded_coin() + seeded_coin()


def with_seeding(data: Any) -> int:
    random.seed(3)
    return int(data.sum()) + 10 * coin_of(random._inst) + coin_of(random._inst)


def with_a_generator_of_its_own(data: Any) -> int:
    rng = random.Random(5)
    return int(data.sum()) + 10 * coin_of(rng) + coin_of(rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(with_seeds, marks=pytest.mark.slow),
        with_seeding,
        with_a_generator_of_its_own,
    ],
)
def test_seeded_generators_have_no_law(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), lt.Hypercube(8), epsilon=1.0, delta=0.5)
    assert verdict.decision == "NO"


def test_generators_of_classes_of_ones_own_are_run() -> None:
    def program(data: Any) -> int:
        rng = Counting()
        return int(data.sum()) + coin_of(rng) - coin_of(rng)

    with pytest.raises(lt.errors.NonDeterministicError):
        lt.check_privacy(lt.mechanism(program), lt.Hypercube(4), epsilon=1.0, delta=0.5)


def test_generators_of_a_module_are_followed() -> None:
    def program(data: Any) -> int:
        k = 0
        while coin():
            k += 1
        return int(data.sum()) + k

    law = added(program)
    assert isinstance(law, AddedLaw)
    for (k,), mass in law.masses.items():
        assert float(mass) == pytest.approx(0.75 * 0.25 ** int(k), abs=1e-16)


def test_a_sampler_that_raises_is_run() -> None:
    def program(data: Any) -> int:
        return int(data.sum()) + int(bernoulli_exp(1, RNG))  # type: ignore[arg-type]

    assert isinstance(added(program), str)


# ---- declared samplers

WEIGHTS = {"low": [3, 1]}


@lt.sampler(lambda k: {0: F(k + 2, k + 3), 1: F(1, k + 3)})
def by_table(k: int, rng: Any) -> int:
    """Not known to only draw: it reads a table."""
    weights = [WEIGHTS["low"][0] + k - 1, WEIGHTS["low"][1]]
    return 0 if rng.integers(sum(weights)) < weights[0] else 1


@lt.sampler({0: 0.5, 1: 0.5})
def three_quarters(rng: Any) -> int:
    return int(rng.random() < 0.75)


@lt.sampler(lt.DiscreteLaplace(F(3, 2)))
def right_noise() -> int:
    return discrete_laplace(F(3, 2), RNG)


@lt.sampler(lt.DiscreteLaplace(2))
def narrow_noise() -> int:
    return discrete_laplace(F(3, 2), RNG)


@lt.sampler(lambda: lt.DiscreteLaplace(2))
def takes_no_arguments(k: int) -> int:
    return k + discrete_laplace(F(2), RNG)


@pytest.mark.slow
def test_a_declared_sampler_is_one_draw_and_verdicts_say_so() -> None:
    def program(data: Any, rng: Any) -> int:
        k = 0
        while by_table(1, rng):
            k += 1
        return int(data.sum()) + k

    law = added(program)
    assert isinstance(law, AddedLaw)
    for (k,), mass in law.masses.items():
        assert mass <= F(3, 4) * F(1, 4) ** int(k)
    assert law.unexplored < F(1, 2**60)
    (condition,) = law.conditions
    assert "by_table (test_sub_samplers.py:" in condition


@pytest.mark.slow
def test_declared_noise_is_proved_from_what_was_enumerated() -> None:
    def program(data: Any) -> int:
        return int(data.sum()) + right_noise()

    verdict = lt.check_privacy(
        lt.mechanism(program), lt.Hypercube(RECORDS), epsilon=2 / 3, delta=1e-12
    )
    assert verdict.decision == "YES"
    assert "right_noise (test_sub_samplers.py:" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (three_quarters, "has 1 with probability 0.5, and draws it with 0.75 or more"),
        (
            lambda rng: narrow_noise(),
            "which has -1 with probability 0.148551",
        ),
        (lambda rng: takes_no_arguments(0), "raised TypeError"),
    ],
)
def test_a_sampler_with_another_law_is_an_error(draw: Any, words: str) -> None:
    def program(data: Any, rng: Any) -> int:
        return int(data.sum()) + draw(rng)

    with pytest.raises(lt.errors.LawError, match=words):
        lt.check_privacy(lt.mechanism(program), lt.Hypercube(RECORDS), epsilon=0.1, delta=1e-6)


@pytest.mark.parametrize("law", [3, "laplace", None])
def test_a_law_is_noise_a_mapping_or_a_function(law: Any) -> None:
    with pytest.raises(lt.errors.InputError, match="must be noise"):
        lt.sampler(law)


def test_a_sampler_is_a_plain_function() -> None:
    with pytest.raises(lt.errors.InputError, match="decorate a plain function"):
        lt.sampler({0: 1.0})(RNG.random)


def coin_below(rng: Any, top: Any, bottom: Any) -> bool:
    """True with probability exp(-top / bottom)."""
    k = 1
    while rng.integers(0, bottom * k) < top:
        k += 1
    return k % 2 == 1


def of_a_drawn_number(rng: Any) -> int:
    while True:
        number = rng.integers(0, 3)
        if coin_below(rng, number, 3):
            return int(number)


@pytest.mark.slow
def test_a_sampler_of_a_drawn_number_is_summed_up() -> None:
    """NumPy's whole numbers are bounds like Python's: two ways a pass, not one a value."""

    def program(data: Any, rng: Any) -> int:
        return int(data.sum()) + of_a_drawn_number(rng)

    law = added(program)
    assert isinstance(law, AddedLaw)
    assert law.unexplored < 1e-18
    weights = [math.exp(-k / 3) for k in range(3)]
    for (k,), mass in law.masses.items():
        assert float(mass) == pytest.approx(weights[int(k)] / sum(weights), rel=1e-12)
