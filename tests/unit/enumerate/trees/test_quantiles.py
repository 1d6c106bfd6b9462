"""Inverse cdfs of one uniform number, by hand and of libraries, against closed forms."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees import enumeration
from liptest.values.draws.inverse_cdf import Inverted

ONE = lt.Hypercube(1)


def ratio(data: Any, rng: Any) -> float:
    u = rng.random()
    return int(data.sum()) + 2 * math.log(u / (1 - u))


def turned_ratio(data: Any, rng: Any) -> float:
    u = rng.uniform(0, 1)
    return int(data.sum()) - 2 * np.log((1 - u) / u)


def odds(data: Any, rng: Any) -> float:
    return int(data.sum()) + 2 * math.log(1 / rng.random() - 1)


def two_logs(data: Any, rng: Any) -> float:
    u = rng.random()
    return int(data.sum()) + 2 * (math.log(u) - math.log1p(-u))


def thrice_the_odds(data: Any, rng: Any) -> float:
    u = rng.random()
    return int(data.sum()) + 2 * (math.log(3 * u) - math.log(3 - 3 * u))


LOGISTIC = [ratio, turned_ratio, odds, two_logs, thrice_the_odds]


@pytest.mark.slow
@pytest.mark.parametrize("program", LOGISTIC)
def test_logarithms_of_odds_are_logistic_noise(program: Any) -> None:
    found = lt.exact_epsilon(lt.mechanism(program), ONE)
    assert found.lower == pytest.approx(0.5, abs=1e-9)
    assert found.upper == pytest.approx(0.5, abs=1e-9)


def logarithm_of_inverse(data: Any, rng: Any) -> float:
    # -log(1 / w) = log w: minus exponential noise, of which one value rules the other out.
    return int(data.sum()) - math.log(1 / (1 - rng.random()))


def gumbel(data: Any, rng: Any) -> float:
    return int(data.sum()) - math.log(-math.log(rng.random()))


def normal(data: Any, rng: Any) -> float:
    return int(data.sum()) + statistics.NormalDist(0, 2).inv_cdf(rng.random())


def located_normal(data: Any, rng: Any) -> float:
    return statistics.NormalDist(int(data.sum()), 2).inv_cdf(1 - rng.random())


def has_delta(program: Any, epsilon: float, delta: float, within: float = 1e-7) -> bool:
    """Whether its least delta at epsilon is such a number."""
    more, less = (
        lt.check_privacy(lt.mechanism(program), ONE, epsilon=epsilon, delta=one, floats="ideal")
        for one in (delta + within, delta - within)
    )
    return (more.decision, less.decision) == ("YES", "NO")


def normal_delta(epsilon: float, scale: float) -> float:
    """Balle and Wang, ICML 2018, of a sensitivity of 1."""
    cdf = statistics.NormalDist().cdf
    half, shift = 1 / (2 * scale), epsilon * scale
    return cdf(half - shift) - math.exp(epsilon) * cdf(-half - shift)


@pytest.mark.slow
@pytest.mark.parametrize("program", [normal, located_normal])
def test_the_inverse_cdf_of_statistics_is_normal_noise(program: Any) -> None:
    assert has_delta(program, 0.5, normal_delta(0.5, 2))


@pytest.mark.slow
def test_a_logarithm_of_a_logarithm_is_gumbel_noise() -> None:
    witness = lt.check_privacy(lt.mechanism(gumbel), ONE, epsilon=1.0, floats="ideal").witness
    assert str(witness.output) == "below 0"
    assert witness.probability == pytest.approx(math.exp(-1), abs=1e-12)
    assert witness.neighbour_probability == pytest.approx(math.exp(-math.e), abs=1e-12)


@pytest.mark.slow
def test_the_inverse_of_a_uniform_number_has_an_exponential_logarithm() -> None:
    assert has_delta(logarithm_of_inverse, 1.0, 1 - math.exp(-1))


def part_of_the_odds(data: Any, rng: Any) -> float:
    u = rng.random()
    return int(data.sum()) + math.log(u / (2 - u))


def odds_times_three(data: Any, rng: Any) -> float:
    u = rng.random()
    return int(data.sum()) + math.log(3 * u) - math.log(1 - u)


def gumbel_moved(data: Any, rng: Any) -> float:
    return int(data.sum()) + math.log(-2 * math.log(rng.random()))


def both(data: Any, rng: Any) -> list[float]:
    u = rng.random()
    return [int(data.sum()) + math.log(u / (1 - u)), u]


@pytest.mark.parametrize("program", [part_of_the_odds, odds_times_three, gumbel_moved, both])
def test_what_is_not_an_inverse_cdf_of_all_values_is_refused(program: Any) -> None:
    with pytest.raises(lt.errors.UnsupportedRandomnessError):
        lt.exact_epsilon(lt.mechanism(program), ONE)


def compared_odds(data: Any, rng: Any) -> bool:
    u = rng.random()
    return bool(u / (1 - u) < 1 + 2 * int(data.sum()))


def test_odds_that_are_compared_keep_the_law_of_the_grid() -> None:
    # u / (1 - u) < c where u < c / (1 + c): 1/2 and 3/4.
    found = lt.exact_epsilon(lt.mechanism(compared_odds), ONE)
    assert found.lower == pytest.approx(math.log(2), abs=1e-9)
    law = lt.output_law(lt.mechanism(compared_odds), np.array([0]))
    assert dict(law) == {True: pytest.approx(0.5, abs=0), False: pytest.approx(0.5, abs=0)}


@pytest.mark.parametrize("slope", [2.0, -2.0])
@pytest.mark.parametrize("low", [-0.5, -0.25, 0.0])
def test_numbers_outside_of_both_ends_are_errors_and_those_between_are_not(
    slope: float, low: float
) -> None:
    """As both ends were errors, all between was taken for one: a wrong law of one leaf."""

    def program(data: Any, rng: Any) -> bool:
        u = rng.random()
        p = low + slope * u if slope > 0 else low + 2 + slope * u
        return statistics.NormalDist().inv_cdf(p) > 0

    with mock.patch.object(enumeration, "repeat", return_value=0):
        law = dict(lt.output_law(lt.mechanism(program), np.array([0])))
    [error] = law.keys() - {True, False}
    assert "StatisticsError" in str(error)
    expected = {error: 0.5, True: 0.25, False: 0.25}
    assert law == {output: pytest.approx(p, abs=1e-15) for output, p in expected.items()}


@pytest.mark.slow
def test_what_is_not_followed_float_by_float_is_not_called_a_sum() -> None:
    found = lt.check_privacy(lt.mechanism(normal), ONE, epsilon=1.0, delta=0.2)
    assert found.decision == "YES"
    assert "function of one random number" in str(found)
    assert "several continuous draws" not in str(found)


@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize(
    ("family", "quantile"),
    [
        ("gumbel", lambda tau: -math.log(-math.log(tau))),
        ("logistic", lambda tau: math.log(tau / (1 - tau))),
        ("normal", statistics.NormalDist().inv_cdf),
        ("laplace", lambda tau: math.log(2 * tau) if tau < 0.5 else -math.log(2 - 2 * tau)),
    ],
)
def test_the_grid_point_of_noise_is_found_again(rising: bool, family: str, quantile: Any) -> None:
    inverted = Inverted(rising, False, Fraction(0), Fraction(1), family)
    for tau in (0.01, 0.3, 0.5, 0.8, 0.99):
        place = inverted.point(quantile(tau)) / 2**53
        assert place == pytest.approx(tau if rising else 1 - tau, abs=1e-12)


SCIPY = [
    *((name, "ppf") for name in ("norm", "laplace", "logistic", "gumbel_r", "gumbel_l", "expon")),
    ("gumbel_l", "isf"),
    ("expon", "isf"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), SCIPY)
def test_distributions_of_scipy_have_the_law_of_their_noise(name: str, method: str) -> None:
    stats = pytest.importorskip("scipy.stats")

    def program(data: Any, rng: Any) -> float:
        moved = {"loc": int(data.sum()), "scale": 2}
        return float(getattr(getattr(stats, name), method)(rng.random(), **moved))

    witness = lt.check_privacy(lt.mechanism(program), ONE, epsilon=0.25, floats="ideal").witness
    side, bound = str(witness.output).split()
    of_first, of_second = (
        getattr(getattr(stats, name), "cdf" if side == "below" else "sf")(float(bound), shift, 2)
        for shift in ((1, 0) if witness.dataset[0] else (0, 1))
    )
    assert witness.probability == pytest.approx(of_first, rel=1e-9)
    assert witness.neighbour_probability == pytest.approx(of_second, rel=1e-9)


@pytest.mark.slow
def test_functions_of_scipy_special_are_followed_in_arrays() -> None:
    special = pytest.importorskip("scipy.special")

    def program(data: Any, rng: Any) -> Any:
        return int(data.sum()) + 2 * special.ndtri(rng.random(2))

    def logit(data: Any, rng: Any) -> Any:
        return float(int(data.sum()) + 2 * special.logit(rng.random()))

    def outside(data: Any, rng: Any) -> Any:
        found = special.logit(2 * rng.random() - 0.5)
        return "none" if math.isnan(found) else bool(found > 0)

    with mock.patch.object(enumeration, "repeat", return_value=0):
        law = dict(lt.output_law(lt.mechanism(outside), np.array([0])))
    assert law == pytest.approx({"none": 0.5, True: 0.25, False: 0.25}, abs=1e-15)
    assert has_delta(program, 0.5, normal_delta(0.5, math.sqrt(2)), within=1e-5)
    assert lt.exact_epsilon(lt.mechanism(logit), ONE).upper == pytest.approx(0.5, abs=1e-9)
