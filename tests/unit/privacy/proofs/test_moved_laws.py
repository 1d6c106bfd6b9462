"""Programs whose answer the data only move: one pair for each difference of neighbours (S16)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt

N = lt.Hypercube(5000)


def verdict(program: Any, epsilon: float, delta: float = 0.0, domain: Any = N, **more: Any) -> Any:
    mechanism = lt.mechanism(program)
    return lt.check_privacy(
        mechanism, domain, epsilon=epsilon, delta=delta, seed=1, floats="ideal", **more
    )


def sign_drawn(data: Any, rng: Any) -> float:
    size = rng.exponential(2.0)
    return int(data.sum()) + (size if rng.random() < 0.5 else -size)


def sign_drawn_and_rounded(data: Any, rng: Any) -> int:
    return round(sign_drawn(data, rng))


def two_scales(data: Any, rng: Any) -> float:
    return int(data.sum()) + rng.laplace(0, 3.0 if rng.random() < 0.5 else 1.0)


def sign_and_whole(data: Any, rng: Any) -> int:
    size = int(rng.geometric(0.5)) - 1
    return int(data.sum()) + (size if rng.random() < 0.5 else -size)


def loss_of_two_scales() -> float:
    """Its densities on a fine grid."""
    x = np.arange(-60, 60, 1 / 64)

    def log_density(x: Any) -> Any:
        return np.log(np.exp(-np.abs(x)) / 4 + np.exp(-np.abs(x) / 3) / 12)

    return float(np.abs(log_density(x) - log_density(x - 1)).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "epsilon"),
    [
        (sign_drawn, 0.5),
        (two_scales, loss_of_two_scales()),
        (sign_drawn_and_rounded, 0.5),
        (sign_and_whole, math.log(4)),  # P(0) = 1/2, P(1) = 1/8
    ],
)
def test_the_true_epsilon_is_proved_and_less_is_refuted(program: Any, epsilon: float) -> None:
    found = verdict(program, epsilon)
    assert found.decision == "YES"
    assert found.method == "alignment"
    assert found.cost.queries == 0
    assert "For each of 1 difference of neighbours one pair of datasets was compared" in str(found)
    refuted = verdict(program, 0.9 * epsilon)
    assert refuted.decision == "NO"
    assert 0.9 * epsilon < refuted.witness.loss <= epsilon + 1e-9


@pytest.mark.slow
def test_a_delta_is_that_of_laplace_noise() -> None:
    """For a shift by t scales, and epsilon below t: 1 - exp((epsilon - t) / 2)."""
    delta = 1 - math.exp((0.4 - 0.5) / 2)
    assert verdict(sign_drawn, 0.4, 1.0001 * delta, method="alignment").decision == "YES"
    assert verdict(sign_drawn, 0.4, 0.9999 * delta, method="alignment").decision == "INCONCLUSIVE"


@pytest.mark.slow
def test_each_difference_of_neighbours_is_compared() -> None:
    grid = lt.RecordGrid([4] * 2000)
    assert verdict(sign_drawn, 1.5, domain=grid).decision == "YES"
    assert "each of 3 differences" in str(verdict(sign_drawn, 1.5, domain=grid))
    assert verdict(sign_drawn, 1.4, domain=grid).decision == "NO"


def read(data: Any, rng: Any) -> float:
    noise = rng.laplace(0, 2.0)
    return int(data.sum()) + noise if int(data[0]) else int(data.sum()) - noise


def noisy_read(data: Any, rng: Any) -> float:
    total = int(data.sum())
    return total + rng.laplace(0, 2.0) if total + rng.laplace(0, 1.0) > 10 else total - 5.0


def other_factor(data: Any, rng: Any) -> float:
    total = int(data.sum())
    return (total if rng.random() < 0.5 else 2 * total) + rng.laplace(0, 2.0)


def other_place(data: Any, rng: Any) -> Any:
    noisy = int(data.sum()) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))
    return [7, noisy] if rng.random() < 0.5 else [noisy, 7]


def plain_beside(data: Any, rng: Any) -> int:
    noisy = int(data.sum()) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))
    return 5 if rng.random() < 0.5 else noisy


def rounded_to_twos(data: Any, rng: Any) -> int:
    return 2 * round((int(data.sum()) + rng.laplace(0, 2.0)) / 2)


def rounded_to_a_float(data: Any, rng: Any) -> float:
    return float(np.round(int(data.sum()) + rng.laplace(0, 2.0)))


def rounded_and_compared(data: Any, rng: Any) -> int:
    noisy = int(data.sum()) + rng.laplace(0, 2.0)
    return round(noisy) if noisy > 10 else 5 + round(noisy)


def cut_off(data: Any, rng: Any) -> int:
    return int(int(data.sum()) + rng.laplace(0, 2.0))


def looked_at_afterwards(data: Any, rng: Any) -> bool:
    """Never true for 3 ones, since the noise is never small; often for 4."""
    size = 1 + rng.exponential(2.0)
    noisy = int(data.sum()) + (size if rng.random() < 0.5 else -size)
    return round(noisy) in {3}


@pytest.mark.parametrize(
    "program",
    [
        looked_at_afterwards,
        rounded_to_twos,
        rounded_and_compared,
        rounded_to_a_float,
        read,
        noisy_read,
        other_factor,
        other_place,
        plain_beside,
        cut_off,
    ],
)
def test_what_data_do_more_than_move_is_not_taken_for_it(program: Any) -> None:
    paths: Any = lt.mechanism(program).on_domain(N).align_paths(N, way="branches")
    assert not paths.paths or paths.moved is None


def test_what_data_move() -> None:
    paths: Any = lt.mechanism(sign_drawn).on_domain(N).align_paths(N, way="branches")
    ((answer, factor),) = paths.moved[0]
    assert (len(paths.moved), factor) == (1, 1)
    assert paths.differences.bounds[answer] == 1


@pytest.mark.slow
def test_what_is_made_of_a_moved_number_is_not_moved() -> None:
    """At 0 and 1 ones the loss is 0.5, at 3 and 4 it is infinite."""
    assert verdict(looked_at_afterwards, 1.0, method="alignment").decision == "INCONCLUSIVE"
    assert verdict(looked_at_afterwards, 1.0, domain=lt.Hypercube(4)).decision == "NO"


def far_too_little(data: Any, rng: Any) -> int:
    size = int(rng.geometric(0.5))  # never 0: the count itself is never told
    return int(data.sum()) + (size if rng.random() < 0.5 else -size)


@pytest.mark.slow
def test_a_gap_in_the_noise_is_refuted() -> None:
    assert verdict(far_too_little, 5.0).decision == "NO"
