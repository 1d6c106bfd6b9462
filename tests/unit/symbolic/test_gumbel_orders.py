"""Orders of numbers with Gumbel noise: the closed form beside sums over orders, and integrals."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.balls import precision
from liptest.symbolic import gumbel_orders
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.gumbel_orders import probability_of_order
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System

SCALE = Fraction(3, 2)
GUMBEL = Noise("gumbel", SCALE)


def above(upper: int, lower: int, locations: list[int]) -> Constraint:
    """That one noisy number is at least another, as a condition on the noise."""
    gap = Fraction(locations[upper] - locations[lower])
    return (Form.variable(upper) - Form.variable(lower) + gap).between(0, low_closed=True)


def share_of_order(order: tuple[int, ...], locations: list[int]) -> float:
    """The law of Plackett and Luce: one after the other by their weights."""
    weights = [exp(locations[v] / float(SCALE)) for v in order]
    return prod(weight / sum(weights[k:]) for k, weight in enumerate(weights))


@given(st.data())
def test_a_forest_is_a_sum_over_orders(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 5))
    locations = data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size))
    parents = [data.draw(st.one_of(st.none(), st.integers(0, v - 1))) for v in range(1, size)]
    names = data.draw(st.permutations(range(size)))
    pairs = {(names[parent], names[v]) for v, parent in enumerate(parents, 1) if parent is not None}
    if not pairs:
        return
    # What follows from the others may be asked, too.
    follows = {(a, d) for a, b in pairs for c, d in pairs if b == c}
    more = data.draw(st.lists(st.sampled_from(sorted(follows)))) if follows else []
    asked = [*pairs, *more]
    constraints = [above(*pair, locations) for pair in asked]
    with precision(128):
        found = probability_of_order([GUMBEL] * size, constraints)
    expected = sum(
        share_of_order(order, locations)
        for order in permutations(range(size))
        if all(order.index(a) < order.index(b) for a, b in pairs)
    )
    assert found is not None
    assert float(found.mid()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("pairs", [[(0, 1)], [(0, 1), (0, 2)], [(1, 0), (0, 2), (1, 2)]])
def test_it_is_what_integrals_say(
    pairs: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    constraints = [above(*pair, [0, 1, -1]) for pair in pairs]
    system = System([GUMBEL] * 3)
    by_order = system.probability(constraints)
    monkeypatch.setattr("liptest.symbolic.probability.probability_of_order", lambda *_: None)
    assert float(by_order.mid()) == pytest.approx(
        float(system.probability(constraints).mid()), rel=1e-11
    )


def test_a_thousand_numbers_have_a_largest_one() -> None:
    locations = [v % 7 for v in range(1000)]
    constraints = [above(3, v, locations) for v in range(1000) if v != 3]
    mass = System([GUMBEL] * 1000).probability(constraints)
    weights = [exp(location / 1.5) for location in locations]
    assert float(mass.mid()) == pytest.approx(weights[3] / sum(weights), rel=1e-12)


@pytest.mark.parametrize(
    "constraints",
    [
        [above(0, 1, [0, 0, 0]), above(1, 2, [0, 0, 0]), above(2, 0, [0, 0, 0])],  # a circle
        [above(0, 2, [0, 0, 0]), above(1, 2, [0, 0, 0])],  # two that are above one
        [above(0, 1, [0, 0, 0]), above(0, 1, [1, 0, 0])],  # two bounds of one difference
        [above(0, 1, [0, 0, 0]), above(1, 2, [0, 0, 0]), above(0, 2, [5, 0, 0])],  # no locations
        [(Form.variable(0) - Form.variable(1)).between(0, 1)],
        [(Form.variable(0) - 2 * Form.variable(1)).between(0)],
        [Form.variable(0).between(0)],
        [],
    ],
)
def test_what_is_no_order_is_left_to_others(constraints: list[Constraint]) -> None:
    assert probability_of_order([GUMBEL] * 3, constraints) is None


def test_so_is_noise_of_several_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    constraint = above(0, 1, [0, 0])
    assert probability_of_order([GUMBEL, Noise("gumbel", Fraction(1))], [constraint]) is None
    assert probability_of_order([Noise("laplace", SCALE)] * 2, [constraint]) is None
    monkeypatch.setattr(gumbel_orders, "_MOST_RELATIONS", 3)
    chain = [above(v, v + 1, [0] * 9) for v in range(8)]
    assert probability_of_order([GUMBEL] * 9, chain) is None
