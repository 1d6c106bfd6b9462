"""Published sparse-vector and noisy-maximum algorithms, as people write them in NumPy.

Expected are the exact losses of the shared case list: Laplace noise by piecewise integration,
geometric noise by sums to 60 digits, both independent of liptest. Neighbours differ by at most 1
in every answer (ALL) or in one (ONE); the pairs are the worst ones on {0, 1, 2}^5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.verdicts import Decision

Draw = Callable[..., Any]
Program = Callable[[Any, Any], Any]


def laplace(rng: Any, scale: float, size: Any = None) -> Any:
    return rng.laplace(0.0, scale, size)


def geometric(rng: Any, scale: float, size: Any = None) -> Any:
    p = 1.0 - math.exp(-1.0 / scale)
    return rng.geometric(p, size) - rng.geometric(p, size)


def svt1(noise: Draw) -> Program:
    """Lyu, Su and Li, Algorithm 1, one answer above the threshold 0."""

    def run(answers: Any, rng: Any) -> Any:
        threshold, found = noise(rng, 2.0), []
        for answer in answers:
            if answer + noise(rng, 4.0) >= threshold:
                found.append(1)
                break
            found.append(0)
        return tuple(found)

    return run


def svt4(noise: Draw) -> Program:
    """Algorithm 4 (Lee and Clifton): too little noise of the answers."""

    def run(answers: Any, rng: Any) -> Any:
        threshold, found = noise(rng, 4.0), []
        for answer in answers:
            if answer + noise(rng, 4.0 / 3.0) >= threshold:
                found.append(1)
                break
            found.append(0)
        return tuple(found)

    return run


def svt6(noise: Draw) -> Program:
    """Algorithm 6 (Chen et al.): it never stops. All answers at once, as arrays."""

    def run(answers: Any, rng: Any) -> Any:
        threshold = noise(rng, 2.0)
        return (answers + noise(rng, 2.0, len(answers)) >= threshold).astype(int)

    return run


def rnm1(noise: Draw) -> Program:
    """The place of the noisy maximum."""

    def run(answers: Any, rng: Any) -> Any:
        return np.argmax(answers + noise(rng, 2.0, answers.shape))

    return run


def rnm2(answers: Any, rng: Any) -> Any:
    return int(np.argmax(answers + rng.exponential(2.0, size=5)))


LATE, HIGH, EARLY = (0, 0, 0, 0, 1), (1, 1, 1, 1, 0), (1, 1, 0, 0, 0)
CASES = [
    ("SVT1 ALL", svt1(laplace), 0.8857795336653251, (1,) * 5, (2, 2, 2, 2, 0), LATE),
    ("SVT1 ONE", svt1(laplace), 0.24070115353605015, (2, 2, 2, 2, 1), (2, 2, 2, 2, 0), LATE),
    ("SVT4 ALL", svt4(laplace), 1.7388583112007643, (1,) * 5, (2, 2, 2, 2, 0), LATE),
    ("SVT4 ONE", svt4(laplace), 0.7488805542519632, (2, 2, 2, 2, 1), (2, 2, 2, 2, 0), LATE),
    ("SVT6 ALL", svt6(laplace), 2.078979723490833, (1,) * 5, (0, 0, 2, 2, 2), EARLY),
    ("SVT6 ONE", svt6(laplace), 0.4990923303525503, (0, 0, 0, 0, 1), (0, 0, 0, 0, 2), HIGH),
    ("SVT1 geom ALL", svt1(geometric), 0.9033842557365226, (1,) * 5, (2, 2, 2, 2, 0), LATE),
    ("SVT1 geom ONE", svt1(geometric), 0.23832120210645868, (2, 2, 2, 2, 1), (2, 2, 2, 2, 0), LATE),
    ("SVT4 geom ALL", svt4(geometric), 1.7466238122347724, (1,) * 5, (2, 2, 2, 2, 0), LATE),
    ("SVT4 geom ONE", svt4(geometric), 0.7496232192113101, (2, 2, 2, 2, 1), (2, 2, 2, 2, 0), LATE),
    ("SVT6 geom ALL", svt6(geometric), 2.1083572302350646, (1,) * 5, (0, 0, 2, 2, 2), EARLY),
    ("SVT6 geom ONE", svt6(geometric), 0.499757432789449, (0, 0, 0, 0, 1), (0, 0, 0, 0, 2), HIGH),
    ("RNM1 ALL", rnm1(laplace), 0.9803972919585624, (1,) * 5, (0, 2, 2, 2, 2), 0),
    ("RNM1 ONE", rnm1(laplace), 0.4964525028547997, (1, 2, 2, 2, 2), (0, 2, 2, 2, 2), 0),
    ("RNM2 ALL", rnm2, 1.0, (0, 0, 0, 1, 1), (1, 1, 1, 0, 2), 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "loss", "left", "right", "output"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_worst_pair_has_the_published_loss(
    program: Program, loss: float, left: Any, right: Any, output: Any
) -> None:
    mechanism = lt.mechanism(program)
    laws = [lt.output_law(mechanism, np.array(answers)) for answers in (left, right)]
    assert [law.source for law in laws] == ["integrated"] * 2
    assert max(law.error for law in laws) < 1e-13
    logs = [math.log(law[output]) for law in laws]
    assert abs(logs[0] - logs[1]) == pytest.approx(loss, abs=1e-9)
    for law in laws:
        assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-12)
    # No other output tells them apart by more.
    worst = max(abs(math.log(laws[0][o]) - math.log(laws[1][o])) for o in laws[0])
    assert worst == pytest.approx(loss, abs=1e-9)


@pytest.mark.slow
def test_no_pair_of_a_small_grid_is_worse_than_the_published_one() -> None:
    mechanism = lt.mechanism(svt1(laplace))
    points = np.array(list(product(range(3), repeat=4)))
    laws = [lt.output_law(mechanism, point) for point in points]
    logs = np.array([[math.log(law[output]) for output in laws[0]] for law in laws])
    far = np.abs(points[:, None] - points[None]).max(axis=2)
    losses = np.abs(logs[:, None] - logs[None]).max(axis=2)
    # With four answers instead of five the loss is less, and more than that of one answer.
    assert 0.5 < losses[far <= 1].max() < 0.8857795336653251


@pytest.mark.slow
def test_verdicts_know_that_noise_is_ideal() -> None:
    @lt.mechanism
    def noisy_count(data: Any, rng: Any) -> Any:
        return int(np.clip(np.round(data.sum() + rng.laplace(0.0, 1.0)), 0, 3))

    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    verdict = lt.check_privacy(noisy_count, law, epsilon=1.0, method="exhaustive")
    assert verdict.decision is Decision.YES
    assert "noise (Laplace, normal, geometric, ..) is taken as ideal" in str(verdict)
    refuted = lt.check_privacy(noisy_count, law, epsilon=0.99, method="exhaustive")
    assert refuted.decision is Decision.NO
    assert refuted.witness.verify(noisy_count)
    assert refuted.witness.loss_lower == pytest.approx(1.0, abs=1e-12)
