"""Records at public places in any order, and public weights that differ from record to record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.values.records.record_parts import ListedPlaces, find_part
from liptest.values.records.weighted_sums import MOST_WEIGHTS
from tests.unit.values.frame_prices import price_of as frame_price

Expressions = list[Callable[[Any], Any]]
N = 5


def price_of(expressions: Expressions, domain: Any) -> Any:
    """What a release of all of them with Laplace noise of scale 1 costs."""

    def noisy(data: Any, rng: Any) -> Any:
        return [expression(data) + rng.laplace() for expression in expressions]

    return align(lt.mechanism(noisy), domain)


def change_of(expressions: Expressions, domain: lt.RecordGrid | lt.Hypercube) -> float:
    """The largest change of all together, over all neighbouring datasets."""
    points = np.concatenate(list(domain.all_points()))
    return max(
        sum(abs(float(one(left)) - float(one(right))) for one in expressions)
        for left, right in itertools.combinations(points, 2)
        if np.count_nonzero(left != right) == 1
    )


WHOLE = st.lists(st.integers(-3, 3), min_size=N, max_size=N)
FLOATS = st.lists(st.floats(-4, 4), min_size=N, max_size=N)
LINES = st.one_of(WHOLE, FLOATS).map(np.array)
PLACES = st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True)
MASKS = st.lists(st.booleans(), min_size=N, max_size=N).filter(any).map(np.array)


@settings(max_examples=40, deadline=None)
@given(st.lists(LINES, max_size=2), PLACES, MASKS, st.booleans())
def test_the_price_is_the_largest_change(
    weights: list[Any], places: list[int], mask: Any, is_cube: bool
) -> None:
    domain = lt.Hypercube(N) if is_cube else lt.RecordGrid([3] * N)
    expressions: Expressions = [lambda data, own=own: own @ data for own in weights]
    expressions.append(lambda data: data[places].sum())
    expressions.append(lambda data: (data[mask] >= 1).sum())
    found, true = price_of(expressions, domain), change_of(expressions, domain)
    assert found.price is not None, found.reason
    assert true - 1e-9 <= found.epsilon <= true + 1e-9


SPELLINGS = {
    "a dot": lambda data, own: np.dot(own, data),
    "a dot from the right": lambda data, own: data @ own,
    "of a comparison": lambda data, own: own @ (data == 1),
    "of a list": lambda data, own: np.dot(own.tolist(), data),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_weights_of_many_records(spelling: Callable[[Any, Any], Any]) -> None:
    own = np.arange(5000) % 7 / 8
    found = price_of([lambda data: spelling(data, own)], lt.Hypercube(5000))
    assert found.epsilon == 6 / 8


def test_rounding_is_paid_for() -> None:
    """Products of floats are rounded: two results differ by no more than what is proved."""
    rng = np.random.default_rng(1)
    own = rng.normal(size=400) / 7
    found = price_of([lambda data: own @ data], lt.Hypercube(400))
    largest = np.abs(own).max()
    assert largest < found.epsilon < largest * (1 + 1e-9)
    place = int(np.abs(own).argmax())
    for _ in range(200):
        data = rng.integers(0, 2, 400)
        other = data.copy()
        other[place] ^= 1
        assert abs(float(own @ data) - float(own @ other)) <= found.epsilon


def test_parts_of_listed_places_are_listed() -> None:
    places = np.array([4, 1, 7, 2])
    domain = lt.Hypercube(8)
    for expression in (
        lambda data: data[places][::2].sum(),
        lambda data: data[places][1],
        lambda data: data[places][[0, 2]].sum(),
        lambda data: data[::-1][places].sum(),
        lambda data: sum(value for value in data[places]),
    ):
        assert price_of([expression], domain).epsilon == 1
    assert price_of([lambda data: data[places].mean()], domain).epsilon == 0.25


TABLE = lt.Table({"x": lt.Real(-1, 1), "k": lt.Integer(0, 3)}, rows=50)
OF_FRAMES = {
    "real numbers": (lambda frame: frame.x.to_numpy()[[1, 3, 0]].sum(), 2),
    "beside all": (lambda frame: (frame.x.to_numpy()[[1, 3, 0]].sum(), frame.x.sum()), 4),
    "rows": (lambda frame: tuple(frame[["x", "k"]].to_numpy()[[7, 3, 0]].sum(axis=0)), 5),
    "weights": (lambda frame: np.arange(50) % 3 @ frame.k.to_numpy(), 6),
}


@pytest.mark.parametrize("name", OF_FRAMES)
def test_columns_of_frames_have_them_too(name: str) -> None:
    expression, expected = OF_FRAMES[name]
    assert math.isclose(frame_price(expression, TABLE), expected, rel_tol=1e-9)


REFUSED = {
    "a place twice": lambda data: data[[1, 1]].sum(),
    "one by two names": lambda data: data[[0, -8]].sum(),
    "none": lambda data: data[np.zeros(8, np.bool_)].sum(),
    "in blocks": lambda data: data[[4, 1, 7, 2]].reshape(2, 2).sum(axis=1)[0],
    "with other records": lambda data: (data[[4, 1, 7]] * data[[0, 3, 6]]).sum(),
    "weights of a part": lambda data: np.array([1, 2, 3]) @ data[[4, 1, 7]],
}


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED)
def test_what_is_not_followed_is_not_proved(expression: Callable[[Any], Any]) -> None:
    found = price_of([expression], lt.Hypercube(8))
    assert found.price is None or math.isinf(found.epsilon)


def test_an_index_is_refused_by_its_own_reason() -> None:
    twice = price_of([lambda data: data[[1, 1]].sum()], lt.Hypercube(8))
    assert "one of them twice" in twice.reason
    grid = price_of([lambda data: data[[[1, 2], [3, 4]]].sum()], lt.Hypercube(8))
    assert "twice" not in grid.reason


def test_too_many_weights_are_refused() -> None:
    count = MOST_WEIGHTS + 2
    found = price_of([lambda data: np.arange(count) @ data], lt.Hypercube(count))
    assert "differs from record to record" in found.reason


@given(st.lists(st.integers(-5, 5), max_size=6))
def test_listed_places_are_as_arrays_are(positions: list[int]) -> None:
    array = np.array(positions, dtype=np.int64)
    part = find_part(array)
    if len(set(positions)) < len(positions) or not positions:
        assert part is None
        return
    assert part is not None
    assert np.asarray(part).tolist() == positions
    assert len(part) == len(positions)
    assert all((place in part) is (place in positions) for place in range(-6, 7))
    listed = ListedPlaces.of(array)
    assert listed is not None
    assert np.asarray(listed[1:]).tolist() == positions[1:]
