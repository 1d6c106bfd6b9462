"""Shifts that serve all differences at once: never below the price of any of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.symbolic import block_prices
from liptest.symbolic.alignment import price_paths
from liptest.symbolic.answers import AlignedPath, Differences
from liptest.symbolic.block_prices import BlockPrice
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.path_programs import RowReader, find_blocks
from tests.unit.symbolic.programs import noisy

LAPLACE, GUMBEL = (Noise(family, Fraction(1)) for family in ("laplace", "gumbel"))
WHOLE = Noise("two-sided geometric", Fraction(1, 2))


def first_places(size: int, told: int, noise: Noise) -> AlignedPath:
    """That noisy answers 0, 1, .. are the largest ones, in this order."""
    noises, forms = noisy(size, noise)
    conditions = tuple(
        (forms[k] - other).between(0, low_closed=True)
        for k in range(told)
        for other in forms[k + 1 :]
    )
    return AlignedPath(noises, conditions)


@pytest.mark.parametrize("size", [6, 7, 30])
@pytest.mark.parametrize("told", [1, 2, 3])
@pytest.mark.parametrize("noise", [LAPLACE, GUMBEL])
def test_the_largest_in_their_order_cost_two_each(size: int, told: int, noise: Noise) -> None:
    path = first_places(size, told, noise)
    box = Differences.of_box([1] * size)
    assert price_paths([path], box).epsilon == 2 * told


def test_whole_noise_takes_back_whole_moves() -> None:
    path = first_places(8, 2, WHOLE)
    whole = price_paths([path], Differences.of_box([1] * 8, is_whole=True)).epsilon
    each = price_paths([first_places(8, 1, WHOLE)], Differences.of_box([1] * 8, is_whole=True))
    assert whole == 2 * each.epsilon  # type: ignore[operator]


def at_corners(path: AlignedPath, size: int) -> Fraction | None:
    """The exact price: it is convex, so the corners of the box are enough; None is infinite."""
    blocks, _, _ = find_blocks(path, RowReader())
    prices = [BlockPrice(block) for block in blocks]
    best = Fraction(0)
    for corner in product((-1, 1), repeat=size):
        parts = [price.price_at(dict(enumerate(corner))) for price in prices]
        if None in parts:
            return None
        best = max(best, sum(part for part in parts if part is not None))
    return best


@given(st.data())
def test_no_price_is_below_that_of_a_corner(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 4))
    noise = data.draw(st.sampled_from([LAPLACE, GUMBEL]))
    noises, forms = noisy(size, noise)
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    conditions: list[Constraint] = []
    for upper, lower in data.draw(st.lists(pairs, min_size=1, max_size=6)):
        factor = data.draw(st.sampled_from([1, 2, Fraction(1, 3)]))
        gap = forms[upper] if upper == lower else forms[upper] - factor * forms[lower]
        conditions.append(gap.between(data.draw(st.integers(-2, 2)), low_closed=True))
    shared = Form.variable(1) if data.draw(st.booleans()) else None
    places = () if shared is None else (forms[0],)
    path = AlignedPath(noises, tuple(conditions), places)
    exact = at_corners(path, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_prices, "MOST_POINTS", 1)  # no corner is tried
        robust = price_paths([path], Differences.of_box([1] * size)).epsilon
    if robust is not None:
        assert exact is not None
        assert robust >= exact
