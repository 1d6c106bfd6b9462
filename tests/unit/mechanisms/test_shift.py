from __future__ import annotations

import math
import pickle
import secrets
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from liptest.data.domains import Hypercube
from liptest.data.points import PointBatch
from liptest.enumerate.numbers.whole_numbers import output_law
from liptest.errors import InputError
from liptest.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.base import check_mechanism
from liptest.mechanisms.shift import ShiftMechanism, ShiftTable, VectorShift
from liptest.privacy.claims import Claim
from liptest.privacy.judge import make_witness
from liptest.statistics.sums import Count, Histogram, WeightedSum

ZERO, ONE, THREE = (np.array(bits, dtype=np.int8) for bits in ([0, 0, 0], [0, 1, 0], [1, 1, 1]))


def shift(noise: object = None) -> ShiftMechanism:
    return ShiftMechanism(Count(), noise or DiscreteLaplace(2))


def test_is_a_mechanism_with_unbounded_outputs() -> None:
    mechanism = check_mechanism(shift())
    assert mechanism.outputs is None
    assert mechanism.source == "declared"
    assert mechanism.name == "count + DiscreteLaplace(scale=2.0)"
    assert ShiftMechanism(Count(), DiscreteLaplace(2), name="mine").name == "mine"
    assert pickle.loads(pickle.dumps(mechanism)).noise == DiscreteLaplace(2)


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="is not a statistic"):
        ShiftMechanism(lambda x: x, DiscreteLaplace(1))
    with pytest.raises(InputError, match="is not noise"):
        ShiftMechanism(Count(), 1.0)
    with pytest.raises(InputError, match="is not noise"):
        ShiftMechanism(Count(), DiscreteLaplace)


def test_a_statistic_of_several_numbers_is_refused_on_use() -> None:
    mechanism = ShiftMechanism(Histogram(2), DiscreteLaplace(1))
    batch = PointBatch(np.zeros((1, 3), dtype=np.int8))
    with pytest.raises(InputError, match="2 numbers per dataset"):
        mechanism.laws(batch)
    with pytest.raises(InputError, match=r"use lt[.]StatisticMechanism"):
        mechanism.law(ZERO)


def test_equal_values_share_a_law() -> None:
    batch = PointBatch(np.stack([ZERO, ONE]), *map(np.array, ([0, 0, 1], [0, 1, 1], [1, 1, 0])))
    table = shift().laws(batch)
    assert isinstance(table, ShiftTable)
    assert table.centres.tolist() == [0, 1]
    assert table.distinct(np.arange(5)).tolist() == [0, 1, 1, 1, 0]


def test_table_in_floats_and_balls() -> None:
    table = shift(DiscreteLaplace(Fraction(3, 2))).laws_of(np.array([0, 1, 5]))
    left, right = np.array([0, 0, 2]), np.array([1, 2, 2])
    assert table.losses(left, right).tolist() == pytest.approx([2 / 3, 10 / 3, 0.0])
    assert table.certify_loss(0, 2).contains(arb(10) / 3)
    sticks = table.hockey_sticks(left, right, 0.5)
    for k in range(3):
        ball = table.certify_hockey_stick(int(left[k]), int(right[k]), arb("0.5"))
        assert abs(float(ball.mid()) - sticks[k]) < 1e-15
    assert table.is_answered()
    assert not table.has_uncertain_zeros(left, right).any()
    assert np.all((table.screen_error(left, right) > 0) & (table.screen_error(left, right) < 1e-14))


def test_an_infinite_loss_has_a_finite_screen_error() -> None:
    table = shift(DiscreteGaussian(2)).laws_of(np.array([0, 1]))
    left, right = np.array([0]), np.array([1])
    assert table.losses(left, right)[0] == math.inf
    assert math.isfinite(table.screen_error(left, right)[0])


def test_law_lists_all_but_less_than_2_to_the_minus_64() -> None:
    law = output_law(shift(), ONE.tolist())
    assert 0 < law.unexplored < Fraction(1, 2**64)
    assert law[1] == pytest.approx(math.tanh(0.25))
    assert law[4] == law[-2]
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-14)
    assert not law.is_zero(10**9)
    total = sum((law.exact(output) for output in law), arb(0))
    assert (total + arb(0).union(arb(2) ** -64)).contains(arb(1))
    # One output fewer at each end would leave out too much.
    reach = len(law) // 2
    assert DiscreteLaplace(2).tail(reach - 1) >= Fraction(1, 2**64)


@pytest.mark.slow
def test_law_of_very_wide_noise_leaves_more_out_and_says_so() -> None:
    law = shift(DiscreteLaplace(10**6)).law(ZERO)
    assert len(law) <= 2**19
    assert Fraction(1, 2) < law.unexplored < 1
    assert sum(law.values()) + float(law.unexplored) >= 1 - 1e-9


def test_pairs_of_datasets() -> None:
    mechanism = shift()
    assert mechanism.pair_loss(ZERO, THREE) == arb(3) / 2
    both = [mechanism.pair_hockey_stick(*pair, arb(1)) for pair in ((ZERO, THREE), (THREE, ZERO))]
    assert both[0].mid() == both[1].mid()
    assert float(both[0].mid()) == pytest.approx(float(DiscreteLaplace(2).hockey_stick(3, 1.0)))


@pytest.mark.parametrize("noise", [DiscreteLaplace(2), DiscreteGaussian(2)])
@pytest.mark.parametrize("pair", [(ZERO, ONE), (THREE, ZERO)])
def test_pair_witness_shows_an_output_beyond_epsilon(
    noise: object, pair: tuple[np.ndarray, np.ndarray]
) -> None:
    output, probability, other = shift(noise).pair_witness(*pair, 0.45)
    assert (probability / other).log() > arb("0.45")
    law = shift(noise).law(pair[0])
    assert float(probability.mid()) == pytest.approx(law[output])


def test_draws_are_the_value_plus_the_noise() -> None:
    narrow = ShiftMechanism(WeightedSum([2, -5, 7]), DiscreteLaplace(Fraction(1, 1000)))
    assert narrow.draw(THREE, secrets.randbelow) == 4
    script = iter([0, 0, 1, 0])
    assert shift(_Three()).draw(ONE, lambda n: next(script)) == 4


class _Three(DiscreteLaplace):
    def __init__(self) -> None:
        super().__init__(1)

    def draw(self, randbelow: object) -> int:
        return 3


def test_neighbours_are_compared_many_at_a_time() -> None:
    vector = VectorShift(Histogram(3), DiscreteLaplace(2))
    for mechanism in (shift(), vector):
        assert mechanism.points_per_slice(Hypercube(3)) >= 1024


@pytest.mark.slow
def test_no_more_than_all_of_a_law_is_unexplored() -> None:
    # The box holds a small part of three numbers with so wide noise.
    law = VectorShift(Histogram(3), DiscreteLaplace(10**6)).law(np.array([0, 1, 2]))
    assert law.unexplored == 1


def test_a_witness_has_the_probabilities_of_each_side() -> None:
    dataset, neighbour = np.array([0, 0, 0], np.int8), np.array([1, 0, 0], np.int8)
    for first, second in ((dataset, neighbour), (neighbour, dataset)):
        found = make_witness(shift(DiscreteLaplace(1)), first, second, Claim(0.5, 0.0, 0.0))
        sides = [shift(DiscreteLaplace(1)).law(side) for side in (first, second)]
        likely = [sum(law.get(output, 0.0) for output in found.event) for law in sides]
        assert found.probability == pytest.approx(likely[0], rel=1e-9)
        assert found.neighbour_probability == pytest.approx(likely[1], rel=1e-9)
        texts = [float(arb(text).mid()) for text in found.exact]
        assert texts == pytest.approx(likely, rel=1e-9)
