"""Scores from which the largest is subtracted again: of these the largest is 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt

GROUPS = lt.RecordGrid([4] * 500)


def softmax(scores: Any) -> Any:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def shifted_twice(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=4)
    return int(rng.choice(4, p=softmax(0.5 * (counts - counts.max()))))


def shifted_by_hand(data: Any, rng: Any) -> Any:
    scores = [0.5 * int((data == value).sum()) for value in range(4)]
    most = max(scores)
    scores = [score - most for score in scores]
    most = max(scores)
    return int(rng.choice(4, p=softmax(np.array([score - most for score in scores]))))


def of_some(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=4)
    scores = (counts - counts.max())[:3]
    return int(rng.choice(3, p=softmax(0.5 * scores)))


def from_the_smallest(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=4)
    scores = counts - counts.max()
    weights = np.exp(0.5 * (scores - scores.min()))
    return int(rng.choice(4, p=weights / weights.sum()))


def decide(program: Any, epsilon: float) -> Any:
    return lt.check_privacy(lt.mechanism(program), GROUPS, epsilon=epsilon, delta=1e-9).decision


@pytest.mark.slow
@pytest.mark.parametrize("program", [shifted_twice, shifted_by_hand])
def test_the_choice_is_that_of_the_scores(program: Any) -> None:
    assert (decide(program, 1.0), decide(program, 0.5)) == ("YES", "NO")


@pytest.mark.slow
@pytest.mark.parametrize("program", [of_some, from_the_smallest])
def test_another_largest_or_the_smallest_is_not_taken_for_0(program: Any) -> None:
    """The largest of some of them is not 0; weights above 1 may be infinite as floats."""
    assert decide(program, 0.5) != "YES"
    assert decide(program, 1.0) != "NO"


@pytest.mark.slow
def test_softmax_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")

    def by_softmax(data: Any, rng: Any) -> Any:
        counts = np.bincount(data, minlength=4)
        return int(rng.choice(4, p=special.softmax(0.5 * counts)))

    assert (decide(by_softmax, 1.0), decide(by_softmax, 0.5)) == ("YES", "NO")
