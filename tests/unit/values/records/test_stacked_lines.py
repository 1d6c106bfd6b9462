"""Columns one below the other: ``numpy.array([data == k for k in range(8)]).sum(axis=1)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt

GROUPS = range(8)
DATA = lt.RecordGrid([8] * 1000)


def lines(data: Any, **options: Any) -> Any:
    return np.array([data == group for group in GROUPS], **options)


#: What is released, and the most by which all of it together changes.
RELEASED: dict[str, tuple[Callable[[Any], Any], float]] = {
    "a list": (lambda data: lines(data).sum(axis=1), 2),
    "floats": (lambda data: lines(data, dtype=float).sum(axis=1), 2),
    "means": (lambda data: lines(data).mean(axis=-1), 2 / 1000),
    "stacked": (lambda data: np.stack(list(lines(data)), axis=0).sum(1), 2),
    "below": (lambda data: np.vstack([data == group for group in GROUPS]).sum(axis=1), 2),
    "counted": (lambda data: np.count_nonzero(lines(data), axis=1), 2),
    "against a line": (lambda data: (np.arange(8)[:, None] == data).sum(axis=1), 2),
    "against a line, swapped": (lambda data: (data == np.arange(8)[:, None]).sum(axis=1), 2),
    "one by one": (lambda data: np.array([line.sum() for line in lines(data)]), 2),
    "multiplied": (lambda data: lines(data) @ np.ones(len(data)), 2),
    "of all": (lambda data: (lines(data) * np.arange(8)[:, None]).sum(), 7),
    "clipped": (lambda data: np.clip(np.stack([data, data**2]), 0, 10).sum(axis=1), 17),
    "the largest": (lambda data: np.stack([data, data**2]).max(axis=0).sum(), 49),
    "turned": (lambda data: np.array([data, 2 * data]).T.sum(axis=0), 21),
    "in one line": (lambda data: np.count_nonzero(data[None, :] > 3), 1),
    "in two dimensions": (lambda data: np.count_nonzero(np.atleast_2d(data) > 3), 1),
    "taken": (lambda data: np.take(np.array([data]), [0], axis=0).sum(), 7),
    "by their shape": (lambda data: lines(data).sum(axis=np.ndim(lines(data)) - 1), 2),
    "by their number": (lambda data: lines(data).sum(axis=1) * (np.size(lines(data), 0) // 8), 2),
    "an entry": (lambda data: np.array([data, data * 2])[1].sum(), 14),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASED)
def test_sums_of_lines_have_the_sensitivity_of_their_records(name: str) -> None:
    released, change = RELEASED[name]

    def noisy(data: Any, rng: np.random.Generator) -> Any:
        answers = released(data)
        return answers + rng.laplace(scale=change, size=np.shape(answers))

    assert lt.check_privacy(lt.mechanism(noisy), DATA, epsilon=1).decision == "YES"
    assert lt.check_privacy(lt.mechanism(noisy), DATA, epsilon=0.98).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize(
    "released",
    [
        lambda data: np.sum(lines(data), axis=1).max(),
        lambda data: np.sort(lines(data), axis=1).sum(),
        lambda data: (lines(data) + np.arange(1000)).sum(),
        lambda data: np.cumsum(lines(data), axis=1)[:, -1].sum(),
    ],
    ids=["the largest sum", "sorted", "with places", "running sums"],
)
def test_what_brings_records_together_is_not_taken_for_a_sum(released: Any) -> None:
    """Without noise none of them is private."""
    found = lt.check_privacy(lt.mechanism(lambda data: int(released(data))), DATA, epsilon=1)
    assert found.decision != "YES"


def test_one_line_is_followed_at_any_size() -> None:
    def noisy(data: Any, rng: np.random.Generator) -> Any:
        return lines(data)[3].sum() + rng.laplace()

    assert lt.check_privacy(lt.mechanism(noisy), DATA, epsilon=1).decision == "YES"
