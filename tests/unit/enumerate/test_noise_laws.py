"""Laws of code with symbolic noise, against closed forms."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import OutputLaw, Raised

Program = Callable[[Any, Any], Any]

# What draws nothing is looked for in all objects of the process.
SLOW = pytest.mark.slow


def law(program: Program, *data: int) -> OutputLaw:
    return lt.output_law(lt.mechanism(program), np.array(data or (2,)))


def above(distance: float, scale: float = 1.0) -> float:
    """P(Laplace > distance)."""
    tail = math.exp(-abs(distance) / scale) / 2
    return tail if distance >= 0 else 1 - tail


def check(found: Any, expected: dict[Any, float], rel: float = 1e-13) -> None:
    assert dict(found) == pytest.approx(expected, rel=rel)
    assert not found.unexplored
    assert found.source == "integrated"
    assert found.error < 1e-13


@pytest.mark.parametrize(
    ("condition", "probability"),
    [
        (lambda d, g: d[0] + g.laplace(0, 2.0) >= 3, above(1, 2.0)),
        (lambda d, g: d[0] + g.laplace(0, 2.0) > 3, above(1, 2.0)),
        (lambda d, g: g.laplace(d[0], 2.0) > 3, above(1, 2.0)),
        (lambda d, g: g.laplace(loc=2.0, scale=2.0) > 3, above(1, 2.0)),
        (lambda d, g: (d + g.laplace(0, 2.0, 1))[0] > 3, above(1, 2.0)),
        (lambda d, g: (d + g.laplace(0, [2.0]) > 3)[0], above(1, 2.0)),
        (lambda d, g: -2 * (d[0] + g.laplace(0, 2.0)) < -6, above(1, 2.0)),
        (lambda d, g: 1 - (d[0] + g.laplace(0, 2.0)) / 3 < 0, above(1, 2.0)),
        (lambda d, g: abs(g.laplace()) < 1, 1 - math.exp(-1)),
        (lambda d, g: -1 < g.laplace() < 1, 1 - math.exp(-1)),
        (lambda d, g: np.random.laplace() > 1, above(1)),
        (lambda d, g: np.random.RandomState().laplace(1, 1) > 2, above(1)),
        (lambda d, g: g.exponential(2.0) > 1, math.exp(-0.5)),
        (lambda d, g: g.standard_exponential() > 1, math.exp(-1)),
        (lambda d, g: np.random.exponential(2.0, size=(1, 1))[0, 0] > 1, math.exp(-0.5)),
        (lambda d, g: g.normal(d[0], 2.0) > 3, math.erfc(0.5 / math.sqrt(2)) / 2),
        (lambda d, g: g.standard_normal() > 1, math.erfc(1 / math.sqrt(2)) / 2),
        (lambda d, g: np.random.randn(1)[0] > 1, math.erfc(1 / math.sqrt(2)) / 2),
        (lambda d, g: random.gauss(1, 2) > 2, math.erfc(0.5 / math.sqrt(2)) / 2),
        (lambda d, g: random.normalvariate(1, 2) > 2, math.erfc(0.5 / math.sqrt(2)) / 2),
        (lambda d, g: g.gumbel(1, 2) > 3, 1 - math.exp(-math.exp(-1))),
        (lambda d, g: g.logistic(1, 2) > 3, 1 / (1 + math.e)),
        (lambda d, g: g.random() < g.random(), 0.5),
        (lambda d, g: (g.random(2) < g.random(2)).all(), 0.25),
        (lambda d, g: g.random() + g.random() < 0.5, 0.125),
        (lambda d, g: max(g.random(3)) < 0.5, 0.125),
        (lambda d, g: sorted([g.random(), g.random()])[0] > 0.5, 0.25),
        (lambda d, g: g.random() > g.laplace(), 1 - (1 - math.exp(-1)) / 2),
        (lambda d, g: g.laplace() < g.uniform(0, 1), 1 - (1 - math.exp(-1)) / 2),
        (lambda d, g: g.uniform(-1, 1) + g.uniform(-1, 1) > 1, 0.125),
        (lambda d, g: (g.random(2) > g.laplace(size=2)).all(), (1 - (1 - math.exp(-1)) / 2) ** 2),
        (lambda d, g: random.random() > np.random.random(), 0.5),
        (lambda d, g: g.geometric(0.25) > 2, 0.75**2),
        (lambda d, g: np.random.geometric(0.25) == 2, 0.75 * 0.25),
        (lambda d, g: g.laplace() > g.laplace(), 0.5),
        (lambda d, g: g.exponential(1.0) > g.exponential(3.0), 0.25),
        (lambda d, g: g.geometric(0.5) - g.geometric(0.5) == 0, 1 / 3),
        (lambda d, g: g.geometric(0.5) > g.geometric(0.5), 1 / 3),
        (lambda d, g: np.floor(g.exponential(1.0)) == 1, math.exp(-1) - math.exp(-2)),
        (lambda d, g: round(g.laplace()) > 1.5, above(1.5)),
        (lambda d, g: np.rint(g.laplace()) * 2 + 1 > 4, above(1.5)),
        (lambda d, g: np.ceil(g.laplace()) <= -1, above(1)),
        (lambda d, g: math.floor(g.laplace()) >= 2, above(2)),
        (lambda d, g: np.trunc(g.laplace()) == 0, 1 - math.exp(-1)),
        (lambda d, g: round(g.laplace(), 1) > 0.95, above(0.95)),
        (lambda d, g: np.round(g.laplace(size=1), 1)[0] > 0.99, above(0.95)),
        (lambda d, g: g.laplace() // 0.5 >= 3, above(1.5)),
        (lambda d, g: max(g.laplace(), 0) > 1, above(1)),
        (lambda d, g: min(g.laplace(), 0) < -1, above(1)),
        (lambda d, g: np.maximum(g.laplace(size=2), 0).max() < 1, (1 - above(1)) ** 2),
        (lambda d, g: g.laplace(size=3).sum() > 0, 0.5),
        (lambda d, g: np.any(g.laplace(size=3) > 1), 1 - (1 - above(1)) ** 3),
        (lambda d, g: (g.laplace(size=3) > 1).all(), above(1) ** 3),
        (lambda d, g: np.count_nonzero(g.laplace(size=3) > 1) == 1, 3 * above(1) * above(-1) ** 2),
        (lambda d, g: np.isnan(g.laplace()) or np.isinf(g.laplace()), 0.0),
    ],
)
def test_comparisons_have_the_probabilities_of_the_ideal_law(
    condition: Program, probability: float
) -> None:
    found = law(lambda data, rng: bool(condition(data, rng)))
    if probability in (0.0, 1.0):
        assert dict(found) == {bool(probability): 1.0}
    else:
        check(found, {True: probability, False: 1 - probability})


def test_rounded_noise_between_bounds_is_exact() -> None:
    def clipped(data: Any, rng: Any) -> Any:
        return int(np.clip(np.round(data[0] + rng.laplace(0, 0.7)), 0, 3))

    expected = {0: 1 - above(-1.5, 0.7), 3: above(0.5, 0.7)}
    expected |= {k: above(k - 2.5, 0.7) - above(k - 1.5, 0.7) for k in (1, 2)}
    check(law(clipped), expected)
    check(law(lambda d, g: max(0, min(3, round(d[0] + g.laplace(0, 0.7))))), expected)
    check(law(lambda d, g: np.round(np.clip(d + g.laplace(0, 0.7, 1), 0, 3))[0]), expected)
    check(law(lambda d, g: (d + g.laplace(0, 0.7, 1)).round().clip(0, 3).tolist()[0]), expected)


def test_two_sided_geometric_noise_between_bounds_is_exact() -> None:
    q, d = 0.5, 2
    total = (1 - q) / (1 + q)
    expected = {k: total * q ** abs(k - d) for k in (1, 2, 3)}
    expected |= {0: q**2 / (1 + q), 4: q**2 / (1 + q)}
    check(law(lambda d, g: np.clip(d[0] + g.geometric(0.5) - g.geometric(0.5), 0, 4)), expected)
    check(
        law(lambda d, g: int(np.clip(d[0] - g.geometric(0.5) + g.geometric(0.5), 0, 4))), expected
    )


def test_halves_are_rounded_to_even_numbers() -> None:
    def half(data: Any, rng: Any) -> Any:
        return round((rng.geometric(0.5) + 0.0) / 2) < 2

    # 1/2 and 1 and 3/2 and 2: only the first two, and 5/2 -> 2 is not below.
    check(law(half), {True: 0.75, False: 0.25})


def test_what_has_no_end_goes_on_to_a_tail() -> None:
    found = law(lambda data, rng: round(data[0] + rng.laplace()))
    assert 0 < found.unexplored < 2.0**-64
    assert found[2] == pytest.approx(1 - math.exp(-0.5), rel=1e-14)
    assert found[12] == pytest.approx(above(9.5) - above(10.5), rel=1e-12)
    assert sorted(found) == list(range(min(found), max(found) + 1))
    assert found.error < 1e-12


def test_a_geometric_number_alone_is_drawn_by_weight() -> None:
    found = law(lambda data, rng: data[0] + rng.geometric(0.5))
    assert found.source == "enumerated"
    assert found.fractions is not None


def test_argmax_is_one_choice_and_takes_the_first_of_equal_ones() -> None:
    found = law(lambda d, g: np.argmax(d + g.geometric(0.5, 2)), 0, 0)
    check(found, {0: 2 / 3, 1: 1 / 3})
    found = law(lambda d, g: np.argmin(d + g.geometric(0.5, 2)), 0, 0)
    check(found, {0: 2 / 3, 1: 1 / 3})
    ten = law(lambda d, g: int(np.argmax(d + g.laplace(size=10))), *range(10))
    assert ten.leaves == 10


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            lambda d, g: tuple(int(x + g.laplace() > 1) for x in d),
            lambda d, g: (d + g.laplace(size=3) > 1).astype(int),
        ),
        (
            lambda d, g: np.argmax(d + g.exponential(2, 3)),
            lambda d, g: np.argmax([x + g.exponential(2) for x in d]),
        ),
        (
            lambda d, g: int((d + g.normal(size=3)).argmax()),
            lambda d, g: int(np.argsort(d + g.normal(size=3))[-1]),
        ),
        (
            lambda d, g: np.cumsum(g.laplace(size=3))[-1] > d[0],
            lambda d, g: np.dot(g.laplace(size=3), [1.0, 1.0, 1.0]) > d[0],
        ),
        (
            lambda d, g: bool(np.sort(d + g.laplace(size=3))[0] > 0),
            lambda d, g: bool(np.min(d + g.laplace(size=3)) > 0),
        ),
        (
            lambda d, g: np.where(d + g.laplace(size=3) > 1, 1, 0),
            lambda d, g: [int(one) for one in np.concatenate([d + g.laplace(size=3), []]) > 1],
        ),
        (
            lambda d, g: min([x + g.laplace() for x in d]) > 0,
            lambda d, g: np.append(d[:2] + g.laplace(size=2), d[2] + g.laplace()).min() > 0,
        ),
        (
            lambda d, g: bool(g.laplace(size=3).mean() > 1),
            lambda d, g: bool((g.laplace() + g.laplace() + g.laplace()) / 3 > 1),
        ),
        (
            lambda d, g: bool(g.laplace(0, 2, (2, 2)).reshape(-1)[1:3].sum() > 1),
            lambda d, g: bool(g.laplace(0, 2) - g.laplace(0, 2) > 1),
        ),
    ],
)
def test_ways_to_write_the_same_have_one_law(left: Program, right: Program) -> None:
    first, second = law(left, 0, 1, 2), law(right, 0, 1, 2)
    assert dict(first) == pytest.approx(dict(second), rel=1e-12)
    assert first.source == second.source == "integrated"


def test_the_shape_of_a_loop_does_not_matter() -> None:
    def loop(data: Any, rng: Any) -> int:
        tries = 0
        while rng.laplace() > 0 and tries < 3:
            tries += 1
        return tries

    check(law(loop), {0: 0.5, 1: 0.25, 2: 0.125, 3: 0.125})


def test_infinite_bounds_and_sums() -> None:
    check(
        law(lambda d, g: (max([-np.inf, g.laplace()]) > 0, g.laplace() + np.inf)),
        {(True, math.inf): 0.5, (False, math.inf): 0.5},
    )
    found = law(lambda d, g: (g.laplace() < math.inf, g.laplace() > math.nan, g.laplace() == 0))
    assert dict(found) == {(True, False, False): 1.0}


@pytest.mark.parametrize(
    "family",
    ["laplace", *(pytest.param(f, marks=SLOW) for f in ("normal", "gumbel", "logistic"))],
)
def test_noise_of_scale_0_is_its_place(family: str) -> None:
    assert dict(law(lambda d, g: getattr(g, family)(3.0, 0.0))) == {3.0: 1.0}


WRONG = ["g.laplace(0, -1)", "g.geometric(0)", "g.normal(0, -1, size=2)"]
WRONG_TOO = [
    *("g.exponential(-1.0)", "g.gumbel(0, -1)", "g.geometric(1.5, 2)"),
    *("g.laplace(size=-1)", "g.laplace('a')"),
]


@pytest.mark.slow
@pytest.mark.parametrize("call", [*WRONG, *(pytest.param(c, marks=SLOW) for c in WRONG_TOO)])
def test_wrong_arguments_raise_what_numpy_raises(call: str) -> None:
    with pytest.raises(Exception) as caught:
        eval(call, {"g": np.random.default_rng(0)})
    found = law(lambda d, g: eval(call, {"g": g}))
    assert dict(found) == {Raised(type(caught.value).__name__): 1.0}


def test_a_uniform_number_that_was_cut_is_noise_of_its_interval() -> None:
    def program(data: Any, rng: Any) -> Any:
        u = rng.random()
        if u < 0.5:
            return "low"
        return bool(u > rng.random()), bool(u > 0.75), u + 0.0 > 0.5

    check(
        law(program),
        {
            "low": 0.5,
            (True, True, True): 0.25 * 0.875,
            (True, False, True): 0.25 * 0.625,
            (False, True, True): 0.25 * 0.125,
            (False, False, True): 0.25 * 0.375,
        },
    )


def test_noise_together_with_other_random_choices() -> None:
    def mixed(data: Any, rng: Any) -> Any:
        if rng.random() < 0.25:
            return "coin"
        return bool(data.sum() + rng.integers(2) + rng.laplace() > 2)

    yes = (above(0) + above(-1)) / 2
    check(law(mixed), {"coin": 0.25, True: 0.75 * yes, False: 0.75 * (1 - yes)})


def test_symbolic_bits_are_settled_where_they_meet_noise() -> None:
    def program(data: Any, rng: Any) -> Any:
        return bool((rng.random(2) < 0.5).sum() + rng.laplace() > 1)

    yes = above(1) / 4 + above(0) / 2 + above(-1) / 4
    check(law(program), {True: yes, False: 1 - yes})


def clipped_counts(data, rng):
    noise = rng.geometric(0.5) - rng.geometric(0.5)
    return int(np.clip(data.sum() + noise, 0, 150))


def clipped_and_rounded(data, rng):
    return int(np.clip(np.round(data.sum() + rng.laplace(0, 1 / np.log(2))), 0, 150))


@pytest.mark.slow
@pytest.mark.parametrize("function", [clipped_counts, clipped_and_rounded])
def test_values_between_two_ends_are_all_asked_for_however_unlikely(function):
    law = lt.output_law(lt.mechanism(function), np.zeros(150, dtype=np.int64))
    assert law.unexplored == 0
    assert set(law) == set(range(151))
    # From 1 on the probabilities halve; the last value has all that lies beyond it, too.
    for output in (1, 60, 149):
        ratio = law.exact(output) / law.exact(1)
        assert abs(ratio * 2 ** (output - 1) - 1) < 1e-9
    assert abs(law.exact(150) / law.exact(149) - 1) < 1e-9
    assert lt.exact_epsilon(lt.mechanism(function), lt.Hypercube(60)).value == pytest.approx(
        np.log(2), abs=1e-12
    )


def test_a_far_end_is_left_out():
    def far(data, rng):
        return int(np.clip(data.sum() + rng.geometric(0.5), 0, 100_000))

    assert 0 < lt.output_law(lt.mechanism(far), np.array([0, 1])).unexplored < 1e-18
