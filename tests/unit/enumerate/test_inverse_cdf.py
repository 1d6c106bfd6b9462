"""Noise by inverse cdfs that programs write themselves: its ideal law.

As implemented, rounded and compared numbers have the law of the grid, as the code has it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.values.draws.grid import UNIT, Line
from liptest.values.draws.inverse_cdf import (
    Inverted,
    Quantile,
    TooCoarse,
    half_width,
    linear_in_base,
)

N = 30
LOGISTIC = Inverted(True, False, Fraction(0), Fraction(1), "logistic")


def laplace(rng: Any, scale: float) -> Any:
    u = rng.random() - 0.5
    return -scale * np.sign(u) * np.log(1 - 2 * abs(u))


def of_numpy(data: Any, rng: Any) -> float:
    return float(data.sum() + laplace(rng, 1.0))


def of_math(data: Any, rng: Any) -> float:
    u = rng.uniform(-0.5, 0.5)
    return float(data.sum()) - math.copysign(1.0, u) * math.log1p(-2 * math.fabs(u))


def turned(data: Any, rng: Any) -> float:
    u = 0.5 - rng.random()
    return float(data.sum() + np.log(1 - 2 * np.abs(u)) * np.sign(u) / 1.0)


def two_exponentials(data: Any, rng: Any) -> float:
    return float(data.sum()) + math.log(1 - rng.random()) - math.log(1 - rng.random())


def entries(data: Any, rng: Any) -> Any:
    u = rng.random(2) - 0.5
    return np.array([data[:9].sum(), data[9:].sum()]) - np.sign(u) * np.log(1 - 2 * np.abs(u))


def branch_above(data: Any, rng: Any) -> float:
    u = rng.random() - 0.5
    sign = 1 if u > 0 else -1
    return int(data.sum()) - sign * math.log(1 - 2 * abs(u))


def branch_from(data: Any, rng: Any) -> float:
    u = rng.random() - 0.5
    return int(data.sum()) - (1 if u >= 0 else -1) * np.log1p(-2 * abs(u))


def two_halves(data: Any, rng: Any) -> float:
    u = rng.random()
    noise = math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))
    return int(data.sum()) + noise


def lower_half_closed(data: Any, rng: Any) -> float:
    u = rng.random()
    return int(data.sum()) + (np.log(2 * u) if u <= 0.5 else -np.log(2 - 2 * u))


def sign_and_size(data: Any, rng: Any) -> float:
    size = -math.log(rng.random())
    return int(data.sum()) + (size if rng.random() < 0.5 else -size)


BRANCHES = [branch_above, branch_from, two_halves, lower_half_closed, sign_and_size]


@pytest.mark.slow
@pytest.mark.parametrize("program", BRANCHES)
def test_a_branch_on_the_sign_leaves_the_same_law(program: Any) -> None:
    found = lt.exact_epsilon(lt.mechanism(program), lt.Hypercube(1))
    assert found.lower == pytest.approx(1, abs=1e-12)
    assert found.upper == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("program", BRANCHES)
def test_branches_are_decided_for_many_records(program: Any) -> None:
    many = lt.Hypercube(5000)
    found = lt.check_privacy(lt.mechanism(program), many, epsilon=1.0, seed=1)
    assert found.decision == "YES"
    assert found.implemented.decision == "NO"
    found = lt.check_privacy(lt.mechanism(program), many, epsilon=0.9, seed=1)
    assert found.decision == "NO"
    assert 0.9 < found.witness.loss <= 1 + 1e-9


def verdict(program: Any, epsilon: float, **options: Any) -> Any:
    return lt.check_privacy(
        lt.mechanism(program), lt.Hypercube(N), epsilon=epsilon, seed=1, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("program", [of_numpy, of_math, turned, two_exponentials, entries])
def test_a_tight_claim_is_proved_and_less_is_refuted(program: Any) -> None:
    assert verdict(program, 1.0).decision == "YES"
    found = verdict(program, 0.95)
    assert found.decision == "NO"
    witness = found.witness
    assert 0.95 < witness.loss <= 1 + 1e-9


@pytest.mark.slow
def test_the_densities_are_those_of_laplace_noise() -> None:
    found = lt.exact_epsilon(lt.mechanism(of_numpy), lt.Hypercube(2))
    assert found.lower == pytest.approx(1, abs=1e-9)
    assert found.upper == pytest.approx(1, abs=1e-9)
    by_hand, of_library = (
        lt.output_law(lt.mechanism(one).densities(), np.array([0, 1]))
        for one in (of_numpy, lambda data, rng: float(data.sum() + rng.laplace(0, 1.0)))
    )
    assert by_hand.outputs == of_library.outputs
    assert by_hand.log_probabilities == pytest.approx(of_library.log_probabilities)


@pytest.mark.slow
def test_as_implemented_it_is_still_refuted() -> None:
    found = verdict(of_numpy, 1.0)
    assert found.decision == "YES"
    assert found.implemented.decision == "NO"


def rounded(data: Any, rng: Any) -> int:
    return round(float(data.sum() + laplace(rng, 1.0)))


def not_below_zero(data: Any, rng: Any) -> int:
    u = rng.random() - 0.5
    return max(0, round(int(data.sum()) + math.copysign(math.log(1 - 2 * abs(u)), u)))


def floored(data: Any, rng: Any) -> int:
    return math.floor(int(data.sum()) + laplace(rng, 1.0))


def cut_off(data: Any, rng: Any) -> int:
    return int(data.sum() + laplace(rng, 1.0))


def clipped(data: Any, rng: Any) -> float:
    return float(np.clip(data.sum() + laplace(rng, 1.0), 3, 20))


def compared(data: Any, rng: Any) -> bool:
    return bool(data.sum() + laplace(rng, 1.0) > 45)


def logistic(data: Any, rng: Any) -> int:
    u = rng.random()
    return round(int(data.sum()) + math.log(u / (1 - u)))


def of_two_exponentials(data: Any, rng: Any) -> int:
    return round(int(data.sum()) + math.log(rng.random()) - math.log(rng.random()))


LOOKED_AT = [rounded, not_below_zero, floored, cut_off, clipped, compared, logistic]


@pytest.mark.slow
@pytest.mark.parametrize("program", [*LOOKED_AT, of_two_exponentials])
def test_what_is_rounded_or_compared_has_the_law_of_its_noise(program: Any) -> None:
    """On the grid there is a largest noise, 36.04 scales: beyond it answers have probability 0."""
    assert verdict(program, 1.0, floats="ideal").decision == "YES"
    assert verdict(program, 0.99, floats="ideal").decision != "YES"


def largest(data: Any, rng: Any) -> int:
    """Report noisy max by Gumbel noise: two counts, each moved by one."""
    return int(np.argmax(0.5 * np.bincount(data, minlength=2) - np.log(-np.log(rng.random(2)))))


def cells(data: Any, rng: Any) -> Any:
    u = rng.random(2) - 0.5
    noise = 2.0 * np.sign(u) * np.log(1 - 2 * np.abs(u))
    return np.round(np.bincount(data, minlength=2) - noise).astype(int)


def first_above(data: Any, rng: Any) -> int:
    threshold = 5 + laplace(rng, 4.0)
    for query, weight in enumerate((1, 0, 1)):
        if weight * int(data.sum()) + laplace(rng, 8.0 / 3) >= threshold:
            return query
    return -1


@pytest.mark.parametrize("program", [largest, cells, first_above])
def test_what_asks_for_several_numbers_is_proved(program: Any) -> None:
    assert verdict(program, 1.0, floats="ideal").decision == "YES"


@pytest.mark.slow
def test_rounded_it_has_the_law_of_the_noise_of_numpy() -> None:
    def drawn(data: Any, rng: Any) -> int:
        return max(0, round(int(data.sum()) + rng.laplace(0, 1.0)))

    for point in (np.zeros(N, int), np.arange(N) % 2):
        by_hand, by_numpy = (
            dict(lt.output_law(lt.mechanism(program), point)) for program in (not_below_zero, drawn)
        )
        likely = [output for output, mass in by_numpy.items() if mass > 1e-12]
        assert len(likely) > 20
        for output in likely:
            assert by_hand[output] == pytest.approx(by_numpy[output], rel=1e-12)


@pytest.mark.slow
def test_as_implemented_what_is_rounded_has_the_law_of_the_grid() -> None:
    one = lt.Hypercube(1)
    found = lt.check_privacy(lt.mechanism(rounded), one, epsilon=1.0).implemented
    assert found.decision == "NO"
    assert math.isinf(found.loss[1])
    # The same sum of all excesses as of the law on the grid of one pair.
    assert 0 < found.delta < 1e-14
    inside = lt.check_privacy(
        lt.mechanism(lambda data, rng: min(max(rounded(data, rng), 0), 5)),
        one,
        epsilon=1.0,
    )
    assert inside.implemented.decision == "YES"


def told_again(data: Any, rng: Any) -> Any:
    """What the noise is made of is the same number twice: both outputs tell the count."""
    u = rng.random()
    noise = math.log(u / (1 - u))
    return [round(int(data.sum()) + noise), round(noise)]


def one_way_and_the_other(data: Any, rng: Any) -> Any:
    u = rng.random()
    return [math.floor(int(data.sum()) - math.log(u)), math.floor(-math.log(1 - u))]


def compared_as_it_is(data: Any, rng: Any) -> Any:
    u = rng.random()
    number = round(int(data.sum()) + math.log(u / (1 - u)))
    return [number, u < 0.5]


@pytest.mark.slow
@pytest.mark.parametrize("program", [told_again, one_way_and_the_other, compared_as_it_is])
def test_a_number_used_twice_is_one_number(program: Any) -> None:
    """Never YES: one number of rng.random() is not two noises."""
    try:
        found = verdict(program, 1.0)
    except lt.errors.LiptestError:
        return
    assert found.decision != "YES"


def one_sided(data: Any, rng: Any) -> float:
    return float(data.sum()) - math.log(1 - rng.random())


def noise_told(data: Any, rng: Any) -> Any:
    noise = laplace(rng, 1.0)
    return [data.sum() + noise, 2 * noise]


def shared(data: Any, rng: Any) -> Any:
    noise = laplace(rng, 1.0)
    return [data.sum() + noise, data[0] - noise]


def sign_known(data: Any, rng: Any) -> float:
    """Exponential noise of scale 1 or 2: never below the count."""
    u = rng.random() - 0.5
    noise = np.log(1 - 2 * abs(u))
    return float(data.sum() - (noise if u > 0 else 2 * noise))


def other_way_round(data: Any, rng: Any) -> Any:
    """The second noise is minus the first one: their sum tells the count."""
    u = rng.random() - 0.5
    v = -u
    return [
        data.sum() - np.sign(u) * np.log(1 - 2 * abs(u)),
        data.sum() - np.sign(v) * np.log(1 - 2 * abs(v)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("program", [one_sided, noise_told, shared, other_way_round, sign_known])
def test_wrong_uses_are_refuted(program: Any) -> None:
    assert verdict(program, 1.0).decision == "NO"


def not_all_of_it(data: Any, rng: Any) -> float:
    u = rng.random() - 0.5
    return float(data.sum() - np.sign(u) * np.log(1 - abs(u)))


def the_uniform_too(data: Any, rng: Any) -> Any:
    u = rng.random() - 0.5
    return [data.sum() - np.sign(u) * np.log(1 - 2 * abs(u)), u]


def another_sign(data: Any, rng: Any) -> float:
    u = rng.random() - 0.5
    return float(data.sum() - np.sign(u - 0.25) * np.log(1 - 2 * abs(u)))


def part_of_a_half(data: Any, rng: Any) -> float:
    """Above 1/4 the first noise ends at 0.69, and what is left is not all of it."""
    u = rng.random()
    return float(data.sum()) + (math.log(2 * u) if u > 0.25 else -math.log(1 - u))


def another_number(data: Any, rng: Any) -> float:
    u, v = rng.random() - 0.5, rng.random() - 0.5
    return float(data.sum() - 2 * np.sign(v) * np.log(1 - 2 * abs(u)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [not_all_of_it, the_uniform_too, another_sign, another_number, part_of_a_half],
)
def test_what_is_not_such_noise_is_refused(program: Any) -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError):
        lt.check_privacy(lt.mechanism(program), lt.Hypercube(2), epsilon=1.0, seed=1)


@pytest.mark.slow
def test_exponential_noise_of_either_scale_has_its_own_law() -> None:
    remedy = lt.check_privacy(sign_known, lt.Hypercube(2), epsilon=1.0).remedy
    below = 1 - (math.exp(-1) + math.exp(-0.5)) / 2  # of 1: what the neighbour never gives
    assert remedy is not None
    assert remedy.delta == pytest.approx(below, rel=1e-5)


def squared(data: Any, rng: Any) -> bool:
    u = rng.random() - 0.5
    return bool(abs(u) * abs(u) < 0.01 + 0.01 * data[0])


@pytest.mark.slow
def test_a_distance_from_0_times_itself_is_refused() -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match="mul with another random"):
        lt.check_privacy(lt.mechanism(squared), lt.Hypercube(2), epsilon=1.0, seed=1)


def test_lines_and_what_they_are() -> None:
    assert linear_in_base(UNIT) == (1, 0)
    assert half_width(Line(-0.5, 1.0), 0, 1 << 53) == Fraction(1, 2)
    assert half_width(Line(-0.25, 1.0), 0, 1 << 53) is None
    one = Quantile(Fraction(1), Fraction(0), Fraction(-1), Fraction(1))
    assert one.over(Fraction(0), Fraction(1)) == one
    assert one.over(Fraction(0), Fraction(1, 2)) is None


def test_a_part_of_the_grid_may_miss_one_point_at_a_cut() -> None:
    grid, half = 1 << 53, 1 << 52
    upper = Quantile(Fraction(1), Fraction(0), Fraction(-2), Fraction(2))  # 2 - 2 t
    lower = Quantile(Fraction(1), Fraction(0), Fraction(2), Fraction(0))
    assert upper.ends_on_grid(half, grid) == (Fraction(1, 2), 1)
    assert upper.ends_on_grid(half + 1, grid) == (Fraction(1, 2), 1)
    assert lower.ends_on_grid(1, half + 1) == (0, Fraction(1, 2))
    for low, high in [(half - 1, grid), (half + 2, grid), (half, grid - 1), (0, grid)]:
        assert upper.ends_on_grid(low, high) is None
    for low, high in [(2, half), (0, half - 1), (0, half + 2), (0, grid)]:
        assert lower.ends_on_grid(low, high) is None
    beyond = Quantile(Fraction(1), Fraction(0), Fraction(1), Fraction(1, grid))
    assert beyond.ends_on_grid(0, grid) is None  # log(u + 2**-53) is bounded


def refused_output(data: Any, rng: Any) -> float:
    return float(data.sum()) + rng.random() ** 2


def test_a_refused_output_names_no_line_of_who_called() -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError) as refused:
        lt.output_law(lt.mechanism(refused_output), np.array([0, 1]))
    assert "used in the output cannot" in str(refused.value)


@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize("noise", [1e-6, 0.3, 2.0, 13.0])
def test_grid_points_follow_from_noise(rising: bool, noise: float) -> None:
    inverted = Inverted(rising, False, Fraction(0), Fraction(1))
    t = inverted.point(noise) / 2.0**53
    assert -math.log(t if rising else 1 - t) == pytest.approx(noise, rel=1e-6)
    folded = Inverted(rising, True, Fraction(1, 2), Fraction(1, 2))
    for value in (noise, -noise):
        u = folded.point(value) / 2.0**53 - 0.5
        tau = 2 * abs(u)
        assert math.copysign(1, u) == math.copysign(1, value)
        assert -math.log(tau if rising else 1 - tau) == pytest.approx(noise, rel=1e-6)


def test_noise_beyond_the_grid_is_not_repeated() -> None:
    for inverted in (Inverted(True, False, Fraction(0), Fraction(1)), LOGISTIC):
        with pytest.raises(TooCoarse):
            inverted.point(20.0)


def sign_copied(data: Any, rng: Any) -> float:
    u = rng.random() - 0.5
    return data.sum() - math.copysign(math.log(1 - 2 * abs(u)), u)


def sign_copied_times(data: Any, rng: Any) -> float:
    u = rng.uniform(-0.5, 0.5)
    return 3 + data.sum() + math.copysign(2 * math.log(1 - 2 * abs(u)), -u) / 2


def float_of_it(data: Any, rng: Any) -> float:
    u = rng.uniform(-0.5, 0.5)
    return data.sum() - math.copysign(1, float(u)) * math.log(1 - 2 * abs(u))


@pytest.mark.slow
@pytest.mark.parametrize("program", [sign_copied, sign_copied_times, float_of_it])
def test_the_sign_may_be_copied_to_the_logarithm(program: Any) -> None:
    domain = lt.Hypercube(N)
    verdict = lt.check_privacy(lt.mechanism(program), domain, epsilon=1.0, floats="ideal")
    assert (verdict.decision, verdict.method) == ("YES", "alignment")
    verdict = lt.check_privacy(lt.mechanism(program), domain, epsilon=0.9, floats="ideal")
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss == pytest.approx(1.0)


def another_sign(data: Any, rng: Any) -> float:
    u, v = rng.random() - 0.5, rng.random() - 0.5
    return data.sum() - math.copysign(math.log(1 - 2 * abs(u)), v)


@pytest.mark.slow
def test_the_sign_of_another_number_is_not_copied() -> None:
    verdict = lt.check_privacy(
        lt.mechanism(another_sign), lt.Hypercube(N), epsilon=1.0, floats="ideal"
    )
    assert verdict.decision == "INCONCLUSIVE"
