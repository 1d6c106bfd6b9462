"""Claims about outputs whose densities are not compared, refuted by cells of one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt


def tells_all_that_passed(answers: Any, rng: Any) -> Any:
    """Noise that was compared is told: Roth's variant, published and not private as claimed."""
    threshold = rng.laplace(0, 2.0)
    told: list[float | None] = []
    for answer in answers:
        noisy = answer + rng.laplace(0, 4.0)
        told.append(float(noisy) if noisy >= threshold else None)
    return told


def tells_all_in_an_array(answers: Any, rng: Any) -> Any:
    noisy = answers + rng.laplace(0, 4.0, len(answers))
    noisy[noisy < rng.laplace(0, 2.0)] = -1000.0
    return noisy


def tells_them_with_new_noise(answers: Any, rng: Any) -> Any:
    """The right one for one answer above: the threshold, the comparison and the value cost 1/3."""
    threshold = rng.laplace(0, 3.0)
    told: list[float | None] = []
    for answer in answers:
        if answer + rng.laplace(0, 6.0) >= threshold:
            told.append(float(answer + rng.laplace(0, 3.0)))
            return told
        told.append(None)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("program", [tells_all_that_passed, tells_all_in_an_array])
@pytest.mark.parametrize("number", [2, 5])
def test_wrong_claims_are_refuted(program: Any, number: int) -> None:
    """By shifting all noise 1/4 for each answer is proved; far down the loss comes near to that."""
    mechanism = lt.mechanism(program)
    verdict = lt.check_privacy(mechanism, lt.Answers(number), epsilon=0.15 * number, seed=1)
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert 0.15 * number < verdict.witness.loss <= 0.25 * number
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("program", [tells_all_that_passed, tells_all_in_an_array])
def test_right_claims_are_not(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), lt.Answers(3), epsilon=0.7501, seed=1)
    assert verdict.decision == "YES"


@pytest.mark.slow
def test_new_noise_is_right() -> None:
    mechanism = lt.mechanism(tells_them_with_new_noise)
    verdict = lt.check_privacy(mechanism, lt.Answers(4), epsilon=1.0, seed=1)
    assert verdict.decision == "YES"
    assert np.isfinite(verdict.largest_loss)
