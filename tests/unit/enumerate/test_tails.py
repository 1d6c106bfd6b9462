"""Distributions without an end: ideal laws from below, and a tail that is given."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError
from liptest.values.draws.tails import MOST_VALUES, find_tailed_weights
from tests.unit.enumerate.bits import law_of

SMALL = Fraction(1, 2**64)


def law(draw: Any) -> Any:
    return lt.output_law(lt.mechanism(draw), np.array([0]))


def test_geometric_is_exact_up_to_a_tail() -> None:
    p = Fraction(0.3)
    found = law(lambda data, rng: rng.geometric(0.3))
    assert sum(found.fractions) + found.unexplored == 1
    assert 0 < found.unexplored < SMALL
    for k, mass in zip(found.outputs, found.fractions, strict=True):
        ideal = (1 - p) ** (k - 1) * p
        assert ideal - Fraction(1, 2**191) < mass <= ideal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "parameters", "first", "ratio"),
    [
        ("poisson", (3.5,), math.exp(-3.5), lambda k: 3.5 / (k + 1)),
        ("negative_binomial", (2.5, 0.3), 0.3**2.5, lambda k: (2.5 + k) / (k + 1) * 0.7),
        ("logseries", (0.4,), -0.4 / math.log(0.6), lambda k: 0.4 * k / (k + 1)),
    ],
)
def test_the_others_have_their_first_mass_and_their_ratios(
    method: str, parameters: Any, first: float, ratio: Any
) -> None:
    found = law(lambda data, rng: getattr(rng, method)(*parameters))
    assert sum(found.fractions) + found.unexplored == 1
    assert found.unexplored < SMALL
    values = sorted(found)
    assert values == list(range(values[0], values[-1] + 1))
    assert found[values[0]] == pytest.approx(first, rel=1e-14)
    for k in values[:20]:
        assert found[k + 1] / found[k] == pytest.approx(ratio(k), rel=1e-14)


def test_zipf_leaves_a_larger_tail() -> None:
    first, weights = find_tailed_weights("zipf", (2.0,)) or (0, ())
    assert (first, len(weights)) == (1, MOST_VALUES + 1)
    assert weights[0] / 2**192 == pytest.approx(6 / math.pi**2, rel=1e-14)
    assert weights[-1] / 2**192 == pytest.approx(6 / math.pi**2 / MOST_VALUES, rel=1e-3)


def test_degenerate_ones_leave_nothing() -> None:
    assert law_of(lambda rng: rng.geometric(1)) == {1: 1}
    assert law_of(lambda rng: rng.poisson(0)) == {0: 1}
    assert law_of(lambda rng: rng.logseries(0)) == {1: 1}
    assert law_of(lambda rng: rng.negative_binomial(2, 1)) == {0: 1}


@pytest.mark.parametrize("call", ["rng.zipf(1.0001)", "rng.poisson(1e7)"])
def test_a_tail_that_is_the_larger_part_is_over_budget(call: str) -> None:
    with pytest.raises(BudgetError, match=r"rng\.\w+ with these parameters.*lt\.ClosedForm"):
        law_of(lambda rng: eval(call, {"rng": rng}))


@pytest.mark.parametrize(
    "call",
    [
        "rng.geometric(0)",
        "rng.geometric(float('nan'))",
        "rng.poisson(-1)",
        "rng.negative_binomial(0, 0.5)",
        "rng.logseries(1)",
        "rng.zipf(1)",
        "rng.geometric([0.5, 2])",
    ],
)
def test_wrong_parameters_raise_what_numpy_raises(call: str) -> None:
    with pytest.raises(Exception) as caught:
        eval(call, {"rng": np.random.default_rng(0)})
    assert law_of(lambda rng: eval(call, {"rng": rng})) == {type(caught.value): 1}


@pytest.mark.slow
def test_arrays_and_sizes_are_numpys() -> None:
    for call in ("rng.poisson([0.1, 0.01])", "rng.poisson(size=(2, 1))", "rng.poisson(0.1)"):
        real = eval(call, {"rng": np.random.default_rng(0)})
        found = law(lambda data, rng, call=call: _described(eval(call, {"rng": rng})))
        assert set(found) == {_described(real)}


def _described(value: Any) -> Any:
    return type(value).__name__, np.shape(value), str(getattr(value, "dtype", ""))
