"""Loops that draw noise again until it fits: private as their single pass is (theory L10)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.half_lines import is_below
from liptest.enumerate.samplers.single_passes import AGAIN

N = lt.Hypercube(5000)
P = 1 - math.exp(-1)


def laplace(data: Any, rng: Any) -> float:
    z = rng.laplace(0, 1)
    while abs(z) > 5:
        z = rng.laplace(0, 1)
    return int(data.sum()) + z


def laplace_above(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace(0, 1)
        if z > -5:
            break
    return int(data.sum()) + z


def geometric(data: Any, rng: Any) -> int:
    while True:
        z = int(rng.geometric(P)) - int(rng.geometric(P))
        if -5 <= z <= 5:
            return int(data.sum()) + z


def laplace_of_items(data: Any, rng: Any) -> float:
    while True:
        v = rng.laplace(0, 1)
        if abs(v) <= 5:
            # The name of its items is that of the noise.
            return sum(v for v in data if v == 1) + v


def laplace_mass(low: float, high: float) -> float:
    def below(z: float) -> float:
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    return below(high) - below(low)


def geometric_mass(low: int, high: int) -> float:
    ratio = math.exp(-1)
    return sum((1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(low, high + 1))


# What a neighbour cannot answer, which is all that noise of scale 1 loses beyond epsilon 1.
DELTAS = {
    laplace: laplace_mass(-5, -4) / laplace_mass(-5, 5),
    laplace_of_items: laplace_mass(-5, -4) / laplace_mass(-5, 5),
    laplace_above: laplace_mass(-5, -4) / (1 - math.exp(-5) / 2),
    geometric: geometric_mass(-5, -5) / geometric_mass(-5, 5),
}


def verdict(program: Any, delta: float, epsilon: float = 1.0, domain: Any = N) -> Any:
    mechanism = lt.mechanism(program)
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "method": "alignment"}
    return lt.check_privacy(mechanism, domain, epsilon=epsilon, delta=delta, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [laplace, laplace_above, pytest.param(geometric, marks=pytest.mark.slow)]
)
def test_the_true_delta_is_proved_and_less_is_refuted(program: Any) -> None:
    delta = DELTAS[program]
    found = verdict(program, 1.0001 * delta)
    assert found.decision == "YES"
    assert "for every number of records" in str(found)
    assert "(theory L10)" in str(found) or "(theory L3, L5)" in str(found)
    assert verdict(program, 0.9999 * delta).decision == "INCONCLUSIVE"
    options: dict[str, Any] = {
        "seed": 1,
        "floats": "ideal",
        "epsilon": 1.0,
        "delta": 0.9999 * delta,
    }
    refuted = lt.check_privacy(lt.mechanism(program), N, **options)
    assert refuted.decision == "NO"
    assert f"at least {delta:.6g}, claim" in str(refuted)


@pytest.mark.slow
def test_the_law_is_that_of_the_truncated_noise() -> None:
    law = lt.output_law(lt.mechanism(geometric), [1, 1, 0])
    total = geometric_mass(-5, 5)
    assert set(law) == set(range(-3, 8))
    for z in range(-5, 6):
        assert law[2 + z] == pytest.approx(geometric_mass(z, z) / total, rel=1e-14)


def of_the_data(data: Any, rng: Any) -> float:
    while True:
        z = int(data.sum()) + rng.laplace(0, 1)
        if z > 3:
            return z


def scale_drawn_before(data: Any, rng: Any) -> float:
    """Where a pass leaves less often counts more: that is not the law of a single pass."""
    scale = 9.0 if rng.random() < 0.5 else 1.0
    while True:
        z = rng.laplace(0, scale)
        if abs(z) < 1:
            return int(data.sum()) + z


def coin_in_the_loop(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace(0, 1)
        if z > -5 and rng.random() < 0.5:
            return int(data.sum()) + z


def twice(data: Any, rng: Any) -> tuple[float, float]:
    while True:
        y = rng.laplace(0, 1)
        if y > -5:
            break
    while True:
        z = rng.laplace(0, 1)
        if z > -5:
            break
    return int(data.sum()) + y, int(data.sum()) + z


@pytest.mark.slow
def test_how_often_a_pass_leaves_may_depend_on_the_data() -> None:
    # At 0 and 1 records: the density at 0 is 1 and exp(-1) / (2 - exp(-1)).
    exact = lt.exact_epsilon(lt.mechanism(until_positive), lt.Hypercube(2))
    assert exact.lower <= math.log(2 * math.e - 1) <= exact.upper
    assert exact.upper - exact.lower < 1e-9


def until_positive(data: Any, rng: Any) -> float:
    while True:
        z = int(data.sum()) + rng.laplace(0, 1)
        if z >= 0:
            return z


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 5000])
def test_too_little_noise_in_such_a_loop_is_refuted(size: int) -> None:
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "epsilon": 1.0}
    found = lt.check_privacy(lt.mechanism(until_positive), lt.Hypercube(size), **options)
    assert found.decision == "NO"
    assert found.witness is not None
    assert found.witness.loss > 1
    assert found.witness.loss <= math.log(2 * math.e - 1) + 1e-9


@pytest.mark.slow
def test_two_loops_one_after_another() -> None:
    one = laplace_mass(-5, -4) / (1 - math.exp(-5) / 2)
    law = lt.mechanism(twice).densities()
    assert law is not None
    ((_, mass),) = law.law([1, 1, 0]).items()
    assert mass == pytest.approx(1, rel=1e-14)
    found = lt.exact_epsilon(lt.mechanism(twice), lt.Hypercube(2))
    assert found.value == math.inf
    assert found.witness is not None
    assert found.witness.probability <= one


@pytest.mark.slow
def test_a_coin_in_the_loop() -> None:
    delta = laplace_mass(-5, -4) / laplace_mass(-5, math.inf)
    for factor, decision in ((1.0001, "YES"), (0.9999, "NO")):
        options: dict[str, Any] = {"seed": 1, "floats": "ideal", "method": "exhaustive"}
        mechanism = lt.mechanism(coin_in_the_loop)
        claim: dict[str, Any] = {"epsilon": 1.0, "delta": factor * delta}
        found = lt.check_privacy(mechanism, lt.Hypercube(2), **claim, **options)
        assert found.decision == decision


@pytest.mark.slow
def test_where_loops_differ_from_run_to_run_they_are_not_counted_so() -> None:
    mechanism = lt.mechanism(scale_drawn_before)
    assert verdict(scale_drawn_before, 0.9).decision == "INCONCLUSIVE"
    assert "theory L10" not in mechanism.law_source


def keeps_the_last(data: Any, rng: Any) -> float:
    """A pass knows what the one before has drawn: it does not start over."""
    z = 0.0
    while z < 1:
        z += rng.laplace(0, 1)
    return int(data.sum()) + z


def test_a_loop_that_goes_on_with_what_it_has_is_not_counted_so() -> None:
    followed = lt.mechanism(keeps_the_last).align_paths(N, way="passes")
    assert not getattr(followed, "leaves_by_noise", False)


@pytest.mark.slow
def test_paths_of_sums_that_grow_are_given_up_early() -> None:
    followed = lt.mechanism(keeps_the_last).align_paths(N, way="branches")
    assert not followed.paths
    assert "more than 4" in followed.reason


class _Named(Exception):
    pass


_Named.__qualname__ = AGAIN.exception


def raises_what_stands_for_it(data: Any, rng: Any) -> float:
    """Of a count of 0 it raises what the single pass answers where the loop goes on."""
    while True:
        z = rng.laplace(0, 1)
        if z > -0.1:
            break
    if int(data.sum()) + z < 0.5:
        raise _Named
    return int(data.sum()) + z


def test_no_program_hides_behind_a_second_pass() -> None:
    assert verdict(raises_what_stands_for_it, 0.4, 0.01).decision == "INCONCLUSIVE"


def within(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 1:
            return int(data.sum()) + z


def within_moved(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 1:
            return int(data.sum()) + z + 1


def within_stretched(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 1:
            return int(data.sum()) + 2 * z


def within_less(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 0.5:
            return int(data.sum()) + z


def law_of(mechanism: Any) -> Any:
    return mechanism.densities().inner.law(np.array([1, 0]))


@pytest.mark.slow
def test_a_few_passes_as_they_are_written_fit_below_the_law() -> None:
    part = law_of(lt.mechanism(within).as_written(64, 8))
    assert 0 < part.unexplored < 0.05
    assert is_below(part, law_of(lt.mechanism(within)))
    for other in (within_moved, within_stretched, within_less):
        assert not is_below(part, law_of(lt.mechanism(other)))
