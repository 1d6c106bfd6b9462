"""Whole numbers of steps, exactly; noise of exactly the right scale; the work of a filter."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.errors import FunctionError, InputError
from liptest.lipschitz.local_filter import LocalFilter
from liptest.lipschitz.oracles import as_oracle, scalar
from liptest.privacy.claims import log
from liptest.privacy.proofs.noisy_queries import (
    Grid,
    OneAtATime,
    RoundedQuery,
    epsilon_below,
    float_below,
    round_to_steps,
    unaffordable_mass,
)

CUBE = Hypercube(2)
DATASETS = CUBE.points(np.arange(4))


@pytest.mark.parametrize(
    ("sensitivity", "grid_step", "steps"),
    [
        (1.0, None, 1),
        (0.3, None, 1),
        (0.3, 0.1, 3),
        (1.0, 0.1, 10),
        (0.9, 0.3, 4),  # the floats: 0.9 is more than three times 0.3
        (Fraction(9, 10), Fraction(3, 10), 3),
        (0.3, 0.2, 2),
        (1.0, 3.0, 1),
        (7, 2, 4),
    ],
)
def test_steps_are_the_exact_quotient_rounded_up(
    sensitivity: float, grid_step: float | None, steps: int
) -> None:
    grid = Grid.of(sensitivity, grid_step)
    assert grid.steps == steps
    assert (grid.steps - 1) * grid.step < grid.sensitivity <= grid.steps * grid.step


@pytest.mark.parametrize("step", [1e-201, 1e201, 1e-16])
def test_a_grid_out_of_range_is_refused(step: float) -> None:
    with pytest.raises(InputError, match="sensitivity / step below"):
        Grid.of(1.0, step)


@pytest.mark.parametrize("wrong", [0, -1.0, math.nan, math.inf, "1", None])
def test_sensitivity_and_step_are_above_zero(wrong: object) -> None:
    with pytest.raises(InputError, match="sensitivity="):
        Grid.of(wrong, 1.0)  # type: ignore[arg-type]
    if wrong is not None:
        with pytest.raises(InputError, match="grid_step="):
            Grid.of(1.0, wrong)  # type: ignore[arg-type]


def test_the_scale_of_the_noise_is_exact() -> None:
    noisy = Grid.of(0.3, 0.1).noisy(lambda x: x[:, 0], 0.1, "first")
    assert noisy.noise.scale == 3 / Fraction(0.1)
    with pytest.raises(InputError, match="epsilon=1e-300 is too small"):
        Grid.of(1.0, None).noisy(lambda x: x[:, 0], 1e-300, "first")


def test_epsilon_is_never_rounded_up() -> None:
    assert epsilon_below(0.1) == Fraction(0.1)
    below = epsilon_below(log(3))
    assert 0 < math.log(3) - below < 1e-15
    # e^x > sum of x^k / k!, so a sum of 40 terms above 3 would refute "below".
    assert sum(below**k / math.factorial(k) for k in range(40)) < 3
    assert float_below(Fraction(1, 10)) < Fraction(1, 10) < math.nextafter(0.1, 1.0)
    assert float_below(Fraction(0.1)) == 0.1


def test_rounding_at_ties_goes_up() -> None:
    values = np.array([-1.5, -0.5, 0.49999999999999994, 0.5, 1.5, 2.5])
    assert round_to_steps(values, Fraction(1)).tolist() == [-1, 0, 0, 1, 2, 3]
    assert round_to_steps(values, Fraction(1, 3)).tolist() == [-4, -1, 1, 2, 5, 8]


@pytest.mark.parametrize("step", [Fraction(0.1), Fraction(1, 3), Fraction(7), Fraction(2)])
def test_rounding_is_exact_beside_ties_where_floats_alone_are_not(step: Fraction) -> None:
    rng = np.random.default_rng(8)
    ties = [float((int(k) + Fraction(1, 2)) * step) for k in rng.integers(-(2**48), 2**48, 300)]
    values = np.array([math.nextafter(tie, way) for tie in ties for way in (-math.inf, math.inf)])
    values = np.concatenate([values, ties])
    exact = [math.floor(Fraction(float(value)) / step + Fraction(1, 2)) for value in values]
    assert round_to_steps(values, step).tolist() == exact
    floats = np.floor(values / float(step) + 0.5).astype(np.int64)
    assert (floats.tolist() == exact) == (step in (2, 7))


@pytest.mark.parametrize("value", [2.0**50, -(2.0**51), 1e308])
def test_values_too_many_steps_away_are_refused(value: float) -> None:
    with pytest.raises(FunctionError, match="give a larger grid_step"):
        round_to_steps(np.array([0.0, value]), Fraction(1))
    with pytest.raises(FunctionError, match="give a larger grid_step"):
        round_to_steps(np.array([value]), Fraction(1, 10**100))


def rounded(function: object, step: Fraction = Fraction(1)) -> RoundedQuery:
    return RoundedQuery(as_oracle(function, CUBE), step)


def test_a_rounded_query_answers_whole_numbers() -> None:
    query = rounded(lambda x: x.sum(axis=1) * 0.75, Fraction(1, 2))
    assert query(DATASETS).tolist() == [0, 2, 2, 3]
    assert query(DATASETS).dtype == np.int64
    assert query(DATASETS[:0]).tolist() == []


def test_a_query_that_changes_its_answer_is_an_error() -> None:
    calls = []

    def restless(x: np.ndarray) -> np.ndarray:
        calls.append(None)
        return x.sum(axis=1) + 0.1 * len(calls)

    with pytest.raises(FunctionError, match="must not depend on state, time or chance"):
        rounded(restless)(DATASETS)
    with pytest.raises(FunctionError, match="must not depend on state, time or chance"):
        OneAtATime(as_oracle(restless, CUBE))(DATASETS)


def by_batch(x: np.ndarray) -> np.ndarray:
    """Half a step, but an ulp less in a batch of several: what a matrix product may do."""
    return np.full(len(x), 0.5 if len(x) == 1 else 0.49999999999999994)


def test_a_tie_that_depends_on_the_batch_is_an_error() -> None:
    with pytest.raises(FunctionError, match=r"wrap a query of one dataset in lt[.]scalar"):
        rounded(by_batch)(DATASETS)
    assert rounded(lambda x: by_batch(x) + 0.25)(DATASETS).tolist() == [1, 1, 1, 1]
    assert rounded(scalar(lambda x: by_batch(x[None])[0]))(DATASETS).tolist() == [1, 1, 1, 1]


def test_a_filter_asks_one_dataset_at_a_time() -> None:
    assert OneAtATime(as_oracle(by_batch, CUBE))(DATASETS).tolist() == [0.5] * 4


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_finite_number_is_an_error(bad: float) -> None:
    def broken(x: np.ndarray) -> np.ndarray:
        return np.where(x.sum(axis=1) == 2, bad, 0.0)

    with pytest.raises(FunctionError, match="needs finite floats"):
        rounded(broken)(DATASETS)
    with pytest.raises(FunctionError, match="needs finite floats"):
        OneAtATime(as_oracle(broken, CUBE))(DATASETS)


@pytest.mark.parametrize(
    "domain", [Hypercube(5), Hypergrid([5, 4, 3]), RecordGrid([4, 3, 2])], ids=repr
)
def test_mass_of_datasets_that_need_more(domain: Hypercube) -> None:
    rng = np.random.default_rng(3)
    law = ProductDistribution(domain, [rng.dirichlet(np.ones(n)) for n in domain.sizes])
    made = LocalFilter(np.zeros(domain.sizes), law)
    points = domain.points(np.arange(domain.size))
    needed = np.array([made.references(point) for point in points])
    masses = [law.exact_mass(point) for point in points]
    for most in (1, 2, 5, int(needed.max()) - 1):
        true = sum((mass for mass, n in zip(masses, needed, strict=True) if n > most), Fraction(0))
        assert true <= Fraction(unaffordable_mass(law, most)) <= true * Fraction(1 + 1e-8)
    assert unaffordable_mass(law, int(needed.max())) == 0.0


def test_datasets_of_mass_zero_that_need_more_are_not_forgotten() -> None:
    law = ProductDistribution.bernoulli([0.0, 0.0])
    assert unaffordable_mass(law, 4) == 0.0
    assert 0.0 < unaffordable_mass(law, 3) < 1e-300
