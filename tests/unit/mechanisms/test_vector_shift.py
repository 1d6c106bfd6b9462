"""Several numbers with noise of their own: closed forms against plain sums over outputs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.gate.gate import Released
from liptest.mechanisms.shift import VectorShift
from liptest.statistics.coordinates import Coordinates

LAPLACE, GAUSSIAN = lt.DiscreteLaplace(Fraction(4, 5)), lt.DiscreteGaussian(Fraction(3, 2))


def noisy(noise: Any, *sizes: int) -> VectorShift:
    return VectorShift(Coordinates(tuple(range(len(sizes))), sizes), noise, "numbers")


def plain_law(noise: Any, values: Any, reach: int) -> dict[tuple[int, ...], float]:
    sides = [range(-reach, reach + 1) for _ in values]
    return {
        output: math.exp(
            sum(float(noise.log_pmf(o - v)) for o, v in zip(output, values, strict=True))
        )
        for output in itertools.product(*sides)
    }


@pytest.mark.parametrize(("left", "right"), [((0, 0), (1, 0)), ((0, 2), (2, 1)), ((1, 1), (1, 1))])
def test_the_loss_is_the_largest_log_ratio(left: Any, right: Any) -> None:
    mechanism = noisy(LAPLACE, 3, 3)
    p, q = (plain_law(LAPLACE, values, 12) for values in (left, right))
    wanted = max(abs(math.log(p[output] / q[output])) for output in p)
    table = mechanism.laws_of(np.array([left, right]))
    first, second = np.array([0]), np.array([1])
    assert table.losses(first, second)[0] == pytest.approx(wanted, abs=1e-12)
    ball = mechanism.pair_loss(np.array(left), np.array(right))
    assert float(ball) == pytest.approx(wanted, abs=1e-12)
    output, here, there = mechanism.pair_witness(np.array(left), np.array(right), 0.0)
    assert float((here / there).log()) == pytest.approx(wanted, abs=1e-9)
    assert float(here) == pytest.approx(p[output], rel=1e-9)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("epsilon", [0.2, 0.9])
def test_the_divergence_of_one_moved_number_is_the_sum_over_all_outputs(
    noise: Any, epsilon: float
) -> None:
    left, right = (1, 0), (1, 2)
    p, q = (plain_law(noise, values, 30) for values in (left, right))
    wanted = sum(max(0.0, p[output] - math.exp(epsilon) * q[output]) for output in p)
    table = noisy(noise, 3, 3).laws_of(np.array([left, right]))
    found = table.hockey_sticks(np.array([0]), np.array([1]), epsilon)
    assert found[0] == pytest.approx(wanted, abs=1e-9)


def test_two_moved_numbers_have_no_closed_divergence() -> None:
    mechanism = noisy(GAUSSIAN, 3, 3)
    table = mechanism.laws_of(np.array([[0, 0], [1, 1]]))
    with pytest.raises(lt.errors.InputError, match="several noisy numbers"):
        table.hockey_sticks(np.array([0]), np.array([1]), 1.0)
    with pytest.raises(lt.errors.InputError, match="several noisy numbers"):
        mechanism.pair_hockey_stick(np.array([0, 0]), np.array([1, 1]), table.certify_loss(0, 0))
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))
    assert lt.check_privacy(mechanism, law, epsilon=5.0, delta=0.5).decision == "YES"


@pytest.mark.parametrize("sizes", [(3,), (3, 2), (2,) * 6])
def test_a_listed_law_is_a_law(sizes: tuple[int, ...]) -> None:
    law = lt.output_law(noisy(LAPLACE, *sizes), np.zeros(len(sizes), dtype=int))
    total = math.fsum(law.values())
    assert total <= 1 + 1e-9
    assert 1 - total <= float(law.unexplored) + 1e-9
    assert len(law) <= 1 << 19


@pytest.mark.slow
def test_many_numbers_are_tested_and_drawn() -> None:
    domain = lt.Hypergrid([4] * 50)
    mechanism = noisy(LAPLACE, *domain.sizes)
    law = lt.ProductDistribution.uniform(domain)
    verdict = lt.check_privacy(mechanism, law, epsilon=1.25, exception_mass=0.05, seed=3)
    assert verdict.decision == "YES"
    refuted = lt.check_privacy(mechanism, law, epsilon=1.2, exception_mass=0.05, seed=3)
    assert refuted.decision == "NO"
    assert refuted.witness is not None
    assert refuted.witness.verify(mechanism)
    gate = lt.PrivacyGate(mechanism, law, epsilon=1.25, exception_mass=0.05, search_laws=0)
    released = gate.release(np.zeros(50, dtype=int))
    assert isinstance(released, Released)
    assert len(released.output) == 50


def test_what_draws_otherwise_is_not_released() -> None:
    class Loud(VectorShift):
        def draw(self, dataset: Any, randbelow: Any) -> tuple[int, ...]:
            return tuple(int(x) for x in dataset)

    plain = noisy(LAPLACE, 2, 2)
    loud = Loud(plain.statistic, plain.noise, "loud")
    law = lt.ProductDistribution.uniform(lt.Hypergrid([2, 2]))
    with pytest.raises(lt.errors.InputError, match="only noise of this package is drawn"):
        lt.PrivacyGate(loud, law, epsilon=2.5, search_laws=0)
    gate = lt.PrivacyGate(loud, law, epsilon=2.5, search_laws=0, trust_code=True)
    with pytest.raises(lt.errors.GateError):
        gate.release(np.zeros(2, dtype=int))


def test_one_pair_of_many_that_moves_several_numbers_has_no_divergence() -> None:
    """The other pairs of the batch move one number each."""
    table = noisy(LAPLACE, 3, 3).laws_of(np.array([[0, 0], [1, 0], [1, 1]]))
    first = np.array([0, 1])
    alone = table.hockey_sticks(first, np.array([1, 2]), 0.5)
    assert alone.tolist() == pytest.approx([float(LAPLACE.hockey_stick(1, 0.5))] * 2)
    with pytest.raises(lt.errors.InputError, match="several"):
        table.hockey_sticks(first, np.array([2, 2]), 0.5)
