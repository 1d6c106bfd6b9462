"""Permute-and-flip, and tries at random, as one choice with weights."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.flip_loops import with_orders_in_loops
from liptest.enumerate.source import read_source

N = lt.RecordGrid([3] * 60)


def by_permutation(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return None


def by_shuffling(data: Any, rng: Any) -> Any:
    scores = [sum(1 for v in data if v == k) for k in range(3)]
    order = list(range(len(scores)))
    rng.shuffle(order)
    best = max(scores)
    for k in order:
        p = math.exp(0.5 * (scores[k] - best))
        if rng.random() <= p:
            return "abc"[k]
    return None


def kept_by_break(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    chances = np.exp((scores - scores.max()) / 2)
    order = rng.permutation(3).tolist()
    chosen = -1
    for k in order:
        if chances[k] > rng.random():
            chosen = k
            break
    return chosen


def by_trying_again(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    while True:
        k = int(rng.integers(3))
        if rng.random() < np.exp(0.5 * (scores[k] - scores.max())):
            return k


def of_a_list(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    candidates = [0, 1, 2]
    rng.shuffle(candidates)
    for k in candidates:
        if rng.random() < math.exp(0.5 * (scores[k] - max(scores))):
            return k
    return None


PROGRAMS = (of_a_list, by_permutation, by_shuffling, kept_by_break, by_trying_again)


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_private_at_any_size_but_for_the_grid(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "method": "alignment"}
    found = lt.check_privacy(lt.mechanism(program), N, epsilon=1.0, delta=1e-11, **options)
    assert found.decision == "YES"
    assert "for every number of records" in str(found)
    found = lt.check_privacy(lt.mechanism(program), N, epsilon=0.99, delta=1e-11, **options)
    assert found.decision == "INCONCLUSIVE"


def test_the_grid_of_floats_takes_a_delta() -> None:
    # The grid of random() has weights that are 0 at one of two neighbours.
    options: dict[str, Any] = {"seed": 1, "method": "alignment"}
    found = lt.check_privacy(lt.mechanism(by_permutation), N, epsilon=1.0, **options)
    assert found.decision == "INCONCLUSIVE"
    assert "with delta" in str(found)


def of_answers(answers: Any, rng: Any) -> Any:
    best = max(answers)
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.5 * (answers[k] - best)):
            return int(k)
    return None


def test_answers_are_scores() -> None:
    options: dict[str, Any] = {"seed": 1, "method": "alignment", "delta": 1e-11}
    found = lt.check_privacy(lt.mechanism(of_answers), lt.Answers(3), epsilon=1.0, **options)
    assert found.decision == "YES"


def with_another_factor(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < np.exp(scores[k] - scores.max()):
            return k
    return None


def chances_above_1(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < np.exp(0.5 * (scores[k] - scores.max() + 1)):
            return k
    return None


def not_of_all(data: Any, rng: Any) -> Any:
    """The largest is that of three scores, of which two are tried."""
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(2):
        if rng.random() < np.exp(0.5 * (scores[k] - scores.max())):
            return k
    return None


def by_another_generator(data: Any, rng: Any) -> Any:
    """It raises for all data, which nothing says of what it was taken for."""
    scores = np.bincount(data, minlength=3)
    order = list(range(3))
    random.shuffle(order)
    for k in order:
        if random.random() < np.exp(0.5 * (scores[k] - scores.max())):
            return k
    return None


@pytest.mark.parametrize(
    "program", [with_another_factor, chances_above_1, not_of_all, by_another_generator]
)
def test_what_is_another_choice_is_not_proved(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "method": "alignment", "delta": 1e-9}
    found = lt.check_privacy(lt.mechanism(program), N, epsilon=1.0, **options)
    assert found.decision == "INCONCLUSIVE"


def order_read_twice(data: Any, rng: Any) -> Any:
    order = rng.permutation(3)
    for k in order:
        if rng.random() < 0.5:
            return k
    return order[0]


def drawn_between(data: Any, rng: Any) -> Any:
    order = rng.permutation(3)
    z = rng.random()
    for k in order:
        if rng.random() < z:
            return k
    return None


def of_another_length(data: Any, rng: Any) -> Any:
    length = 3
    order = rng.permutation(length)
    length = 2
    for k in order:
        if rng.random() < length:
            return k
    return None


def of_a_module(data: Any, rng: Any) -> Any:
    order = list(range(3))
    random.shuffle(order)
    for k in order:
        if rng.random() < 0.5:
            return k
    return None


@pytest.mark.parametrize(
    "program", [order_read_twice, drawn_between, of_another_length, of_a_module]
)
def test_orders_stay_where_it_would_be_another_program(program: Any) -> None:
    source = read_source(program)
    assert source is not None
    assert with_orders_in_loops(source) is source
