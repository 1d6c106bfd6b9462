"""Records in their order: prices beside the largest move of any neighbours, by brute force."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.symbolic.answer_functions import AnswerSum, Ranked

VALUES, RECORDS = 4, 5
SMALL = lt.RecordGrid([VALUES] * RECORDS)
LARGE = lt.RecordGrid([101] * 5_000)

#: What is asked of the records, without noise.
RANKED: dict[str, Callable[[Any], Any]] = {
    "median": np.median,
    "largest": np.max,
    "smallest": lambda data: data.min(),
    "quantile": lambda data: np.quantile(data, 0.3),
    "percentile": lambda data: np.percentile(data * 3 + 1, 90),
    "sorted": lambda data: sorted(data.tolist())[2],
    "from the top": lambda data: sorted(data, reverse=True)[1],
    "sorted by NumPy": lambda data: np.sort(data)[::-1][0],
    "of a list": lambda data: max(int(one) for one in data),
    "statistics": lambda data: statistics.median(data.tolist()),
    "of a part": lambda data: np.median(data[:4]),
    "range": lambda data: max(data) - min(data),
    "trimmed": lambda data: np.sort(data)[1:-1].sum(),
    "trimmed mean": lambda data: np.sort(data)[1:-1].mean(),
    "the largest two": lambda data: np.sum(np.sort(data)[::-1][:2]),
    "range of NumPy": np.ptp,
    "between quartiles": lambda data: np.quantile(data, 0.75) - np.quantile(data, 0.25),
    "of two columns": lambda data: np.max(data) - np.max(3 - data),
    "rounded down": lambda data: np.max(data) // 2,
    "with a count": lambda data: np.median(data) + (data == 0).sum(),
    "variance": np.var,
    "variance of a part": lambda data: data[:4].var(ddof=1),
    "deviation": lambda data: np.clip(data, 0, 2).std(),
    "deviation of floats": lambda data: np.std(data / 3 + 1e6, ddof=1),
    "variance of a list": lambda data: statistics.variance(data.tolist()),
    "deviation of a list": lambda data: statistics.pstdev([float(one) / 2 for one in data]),
}


# One record each; what lies between two of them never moves by all of its price.
ALONE = (
    "range",
    "range of NumPy",
    "of two columns",
    "median",
    "largest",
    "smallest",
    "sorted",
    "from the top",
    "sorted by NumPy",
    "of a list",
    *("trimmed", "trimmed mean", "the largest two"),
)
SPREAD = ("variance", "variance of a part", "deviation", "deviation of floats")
SPREAD += ("variance of a list", "deviation of a list")


def largest_move(function: Callable[[Any], Any]) -> float:
    """Between datasets of which one record differs."""
    known = {x: float(function(np.array(x))) for x in product(range(VALUES), repeat=RECORDS)}
    return max(
        abs(known[x] - known[(*x[:place], value, *x[place + 1 :])])
        for x, place, value in product(known, range(RECORDS), range(VALUES))
    )


def with_noise(name: str, scale: float) -> Any:
    function = RANKED[name]
    if name == "of a list":  # loops are followed in functions whose source can be read

        def released(data: Any, rng: Any) -> Any:
            return max(int(one) for one in data) + rng.laplace(0, scale)

    elif name == "sorted":

        def released(data: Any, rng: Any) -> Any:
            return sorted(data.tolist())[2] + rng.laplace(0, scale)

    elif name == "from the top":

        def released(data: Any, rng: Any) -> Any:
            return sorted(data, reverse=True)[1] + rng.laplace(0, scale)

    elif name == "statistics":

        def released(data: Any, rng: Any) -> Any:
            return statistics.median(data.tolist()) + rng.laplace(0, scale)

    elif name == "variance of a list":

        def released(data: Any, rng: Any) -> Any:
            return statistics.variance(data.tolist()) + rng.laplace(0, scale)

    elif name == "deviation of a list":

        def released(data: Any, rng: Any) -> Any:
            return statistics.pstdev([float(one) / 2 for one in data]) + rng.laplace(0, scale)

    elif name == "range":

        def released(data: Any, rng: Any) -> Any:
            return max(data) - min(data) + rng.laplace(0, scale)

    else:

        def released(data: Any, rng: Any) -> Any:
            return function(data) + rng.laplace(0, scale)

    return lt.mechanism(released)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKED)
def test_no_price_is_below_the_largest_move(name: str) -> None:
    found = align(with_noise(name, 1.0), SMALL)
    least = largest_move(RANKED[name])
    assert found.price is not None
    assert found.epsilon >= least - 1e-12
    if name in (*ALONE, *SPREAD):
        assert found.epsilon == pytest.approx(least)


OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in ("median", "statistics", "sorted")]


SCALES = {"percentile": 300.0, "range": 100.0, "variance": 2.0, "deviation": 0.0283}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["percentile", "range", "variance", "deviation", *OTHERS])
def test_the_largest_move_of_noise_is_enough_at_any_size_and_less_is_refuted(name: str) -> None:
    scale = SCALES.get(name, 100.0)
    assert lt.check_privacy(with_noise(name, scale), LARGE, epsilon=1.0).decision == "YES"
    assert lt.check_privacy(with_noise(name, scale / 4), LARGE, epsilon=1.0).decision == "NO"


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    factors=st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    family=st.sampled_from(["laplace", "geometric", "normal"]),
)
def test_records_in_their_order_move_to_one_side_together(factors: list[int], family: str) -> None:
    """Of any sum of them no price is below the largest move, or above those to one side."""

    def weighted(data: Any) -> Any:
        return sum(f * one for f, one in zip(factors, sorted(data.tolist()), strict=True))

    def released(data: Any, rng: Any) -> Any:
        ranked = sorted(data.tolist())
        total = factors[0] * ranked[0] + factors[1] * ranked[1]
        total += factors[2] * ranked[2] + factors[3] * ranked[3]
        if family == "laplace":
            return total + rng.laplace(0, 1.0)
        if family == "geometric":
            return total + rng.geometric(0.5) - rng.geometric(0.5)
        return total + rng.normal(0, 10.0)

    few = {x: weighted(np.array(x)) for x in product(range(3), repeat=4)}
    least = max(
        abs(few[x] - few[(*x[:place], value, *x[place + 1 :])])
        for x, place, value in product(few, range(4), range(3))
    )
    delta = Fraction(1, 10**5) if family == "normal" else Fraction(0)
    found = align(lt.mechanism(released), lt.RecordGrid([3] * 4), delta=delta)
    if family == "normal":
        exact = align(lt.mechanism(moving_by(least)), lt.Hypercube(1), delta=delta)
        assert found.epsilon >= exact.epsilon - 1e-9
        return
    rate = 1.0 if family == "laplace" else math.log(2)
    assert found.epsilon >= least * rate - 1e-9
    if family == "laplace":
        sides = (sum(max(sign * factor, 0) for factor in factors) for sign in (1, -1))
        assert found.epsilon <= 2 * max(sides) + 1e-9


def moving_by(step: float) -> Any:
    def released(data: Any, rng: Any) -> Any:
        return step * data.sum() + rng.normal(0, 10.0)

    return released


@pytest.mark.slow
def test_normal_noise_and_comparisons() -> None:
    def gaussian(data: Any, rng: Any) -> Any:
        return float(np.median(data) + rng.normal(0, 500.0))

    def is_old(data: Any, rng: Any) -> Any:
        return (np.sort(data)[2_500] > 50) + rng.laplace(0, 1.0)

    assert align(lt.mechanism(gaussian), LARGE, Fraction(1), Fraction(1, 10**5)).epsilon <= 1
    assert align(lt.mechanism(is_old), LARGE).epsilon == 1


def of_a_selection(data: Any, rng: Any) -> Any:
    return np.median(data[data > 1]) + rng.laplace(0, 100.0)


def products_of_some(data: Any, rng: Any) -> Any:
    return np.sort(data)[1:-1].prod() + rng.laplace(0, 100.0)


def variance_of_a_selection(data: Any, rng: Any) -> Any:
    return np.var(data[data > 1]) + rng.laplace(0, 100.0)


def without_noise(data: Any, rng: Any) -> Any:
    return np.median(data)


def cut_off(data: Any, rng: Any) -> Any:
    # Of NumPy's whole numbers it is a whole number.
    return statistics.pvariance(data) + rng.laplace(0, 100.0)


def around_a_number(data: Any, rng: Any) -> Any:
    return statistics.pvariance(data.tolist(), 1) + rng.laplace(0, 100.0)


def of_floats(data: Any, rng: Any) -> Any:
    return np.median(data / 3) + rng.laplace(0, 100.0)


@pytest.mark.parametrize(
    "function",
    [
        *(of_a_selection, variance_of_a_selection, products_of_some, without_noise, of_floats),
        *(cut_off, around_a_number),
    ],
)
def test_other_uses_have_no_price(function: Callable[..., Any]) -> None:
    assert align(lt.mechanism(function), SMALL).epsilon == math.inf


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=6),
    st.integers(0, 5),
    st.integers(0, 4),
    st.lists(st.integers(-3, 3), min_size=6, max_size=6),
)
def test_sums_of_ranks_move_within_their_reach(
    records: list[int], place: int, value: int, weights: list[int]
) -> None:
    changed = [*records]
    changed[place % len(records)] = value
    ranked = Ranked(
        (AnswerSum(()),) * 5,
        tuple(map(Fraction, range(5))),
        tuple((k + 1, Fraction(weights[k])) for k in range(len(records))),
        len(records),
    )
    values = []
    for some in (records, changed):
        in_order = sorted(some)
        counts = [Fraction(some.count(level)) for level in range(5)]
        values.append(ranked.value(counts))
        assert values[-1] == sum(w * r for w, r in zip(weights, in_order, strict=False))
        assert ranked.ends is not None
        assert ranked.ends[0] <= values[-1] <= ranked.ends[1]
    low, high = ranked.reach(())
    assert low <= values[1] - values[0] <= high
