"""Programs with noise that are made to mislead: no wrong law, no wrong verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError

Program = Callable[[Any, Any], Any]
PAIR = lt.Hypercube(2)


def rarely_reveals(data: Any, rng: Any) -> Any:
    steps = 0
    while rng.random() < 0.5:
        steps += 1
    return (data.sum() if steps > 3 else 0) + rng.laplace(0, 1.0)


def counts_beside(data: Any, rng: Any) -> Any:
    return rng.geometric(0.5), data.sum() + rng.laplace(0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "options"),
    [
        (rarely_reveals, {"max_leaves": 8}),
        pytest.param(rarely_reveals, {}, marks=pytest.mark.slow),
        (counts_beside, {}),
    ],
)
def test_partial_laws_of_real_numbers_have_no_epsilon(
    program: Program, options: dict[str, Any]
) -> None:
    with pytest.raises(BudgetError, match="not walked"):
        lt.exact_epsilon(lt.mechanism(program, **options), PAIR)
    law = lt.ProductDistribution.uniform(PAIR)
    with pytest.raises(BudgetError, match="not walked"):
        lt.check_privacy(lt.mechanism(program, **options), law, epsilon=5.0, method="exhaustive")


def outputs_of_floats(step: Callable[[Any], Any], p: float, most: int) -> dict[Any, float]:
    """The law of ``step(min(k, most))`` for a geometric k, from the floats of this machine."""
    found: dict[Any, float] = {}
    for k in range(1, most + 1):
        weight = (1 - p) ** (k - 1) * (p if k < most else 1.0)
        found[step(k)] = found.get(step(k), 0.0) + weight
    return found


@pytest.mark.parametrize(
    "step",
    [
        lambda k: int(k * 0.01 * 100),
        lambda k: round(k * 0.05, 1),
        lambda k: float(np.round(k * 0.05, 1)),
        lambda k: float(np.floor(k / 49 * 49)),
        lambda k: float(np.ceil(k / 49 * 49)),
        lambda k: float(np.trunc(-k / 49 * 49)),
    ],
)
def test_discrete_noise_is_rounded_as_its_floats_are(step: Callable[[Any], Any]) -> None:
    def program(data: Any, rng: Any) -> Any:
        # A difference stays symbolic, unlike a draw alone.
        noise = rng.geometric(0.25) - rng.geometric(0.999999999999)
        return step(1 + min(max(noise, 0), 49))

    law = lt.output_law(lt.mechanism(program), np.array([0]))
    expected = outputs_of_floats(step, 0.25, 50)
    found = {
        float(output): float(np.exp(law.log_probabilities[i]))
        for i, output in enumerate(law.outputs)
    }
    for output in expected.keys() | found.keys():
        assert found.get(output, 0.0) == pytest.approx(expected.get(output, 0.0), abs=1e-9)


def test_int_of_a_rounded_number_that_was_scaled() -> None:
    def program(data: Any, rng: Any) -> int:
        return int(np.clip(np.round(rng.laplace(0, 2.0)), -3, 3) * 0.5)

    law = lt.output_law(lt.mechanism(program), np.array([0]))
    assert set(law.outputs) == {-1, 0, 1}


@pytest.mark.parametrize(
    "made",
    [
        lambda x: int(np.argmax(x)),
        lambda x: int(np.argmin(x)),
        lambda x: bool(np.max(x) > 1),
        lambda x: bool(np.maximum(x, np.nan)[0] > 0),
        lambda x: bool(np.minimum(np.nan, x)[0] < 0),
        lambda x: bool(np.fmin(x, 5.0)[1] == 5.0),
        lambda x: np.isnan(np.sign(x)).tolist(),
        lambda x: np.isnan(np.clip(x, np.nan, 3)).tolist(),
        lambda x: np.isnan(np.sort(x)).tolist(),
        lambda x: int(np.argsort(x)[2]),
    ],
)
def test_what_is_no_number_goes_where_numpy_has_it(made: Callable[[Any], Any]) -> None:
    def program(data: Any, rng: Any) -> Any:
        return made(np.array([1.0, np.nan, 2.0]) + rng.laplace(size=3))

    law = lt.output_law(lt.mechanism(program), np.array([0]))
    plain = program(np.array([0]), np.random.default_rng(1))
    assert law.outputs == (tuple(plain) if isinstance(plain, list) else plain,)


def test_a_tail_too_light_for_a_number_is_left_out_alone() -> None:
    def program(data: Any, rng: Any) -> Any:
        return np.round(rng.gumbel())

    law = lt.output_law(lt.mechanism(program), np.array([0]))
    assert 0 < law.unexplored < 2.0**-60
    found = dict(zip(law.outputs, np.exp(law.log_probabilities), strict=True))
    for k in (-3, 0, 10):
        expected = np.exp(-np.exp(-k - 0.5)) - np.exp(-np.exp(-k + 0.5))
        assert found[k] == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        lambda data, rng: data[0] + 2 * data[1] + rng.laplace(0, 1.0),
        lambda data, rng: [data[0] + rng.laplace(0, 1.0), rng.exponential(1) - data[1]],
    ],
)
def test_real_numbers_of_more_than_a_count_are_refuted(program: Program) -> None:
    law = lt.ProductDistribution.uniform(PAIR)
    verdict = lt.check_privacy(lt.mechanism(program), law, epsilon=0.5, method="exhaustive")
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss > 0.5
