"""Permute-and-flip, and tries at random, as one choice with weights."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.loops.flip_loops import with_orders_in_loops
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.enumerate.syntax.source import read_source
from liptest.values.answers.flips import shares_of_flips

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


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_private_at_any_size_but_for_the_grid(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "method": "alignment"}
    found = lt.check_privacy(lt.mechanism(program), N, epsilon=1.0, delta=1e-11, **options)
    assert found.decision == "YES"
    assert "for every number of records" in str(found)
    found = lt.check_privacy(lt.mechanism(program), N, epsilon=0.99, delta=1e-11, **options)
    assert found.decision == "INCONCLUSIVE"


@pytest.mark.slow
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


@pytest.mark.slow
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


def tells_how_many(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    tried: list[int] = []
    for k in rng.permutation(3):
        z = tried.append(k)  # type: ignore[func-returns-value]
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k), len(tried), z
    return None


def tells_the_last(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    previous = -1
    for k in rng.permutation(3):
        last = previous
        previous = k
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k), int(last)
    return None


def counts_tries(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    tries = 0
    while True:
        k = rng.integers(3)
        tries = tries + 1
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k), tries


def draws_beside(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        z = rng.integers(5)
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k), int(z)
    return None


def scores_that_change(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        scores = scores * 0.5
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return None


def steeper_later(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    factor = 0.5
    for k in rng.permutation(3):
        chance = math.exp(factor * (scores[k] - scores.max()))
        factor = 5.0
        if rng.random() < chance:
            return int(k)
    return None


def more_for_the_first(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max()) - 0.1 * k):
            return int(k)
    return -1


def half_the_chance(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < 0.5 * math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return -1


def clipped_at_1(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < min(1.0, math.exp(0.5 * (scores[k] - scores.max() + 2))):
            return int(k)
    return None


def in_a_fixed_order(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in [2, 1, 0]:
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return None


def some_places_twice(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation([0, 0, 0, 1, 2]):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return None


def sorted_again(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    order = rng.permutation(3)
    order.sort()
    for k in order:
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return None


def of_a_lambda(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    ask = lambda: k  # noqa: E731
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(ask())
    return None


def a_name_of_its_own(data: Any, rng: Any) -> Any:
    scores = [sum(1 for v in data if v == j) for j in range(3)]
    for k in rng.permutation(3):
        q = scores[k]
        if rng.random() < math.exp(0.5 * (q - max(q for q in scores))):
            return int(k)
    return None


def answers_where_none_is_hit(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(2):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            break
    else:
        k = 2
    return int(k)


def assigned_in_the_test(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    tries = 0
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max()) + 0 * (tries := tries + 1)):
            return int(k), tries
    return None


OTHERS = (
    *(chances_above_1, not_of_all, by_another_generator, tells_how_many, tells_the_last),
    *(counts_tries, draws_beside, scores_that_change, steeper_later, more_for_the_first),
    *(half_the_chance, clipped_at_1, in_a_fixed_order, some_places_twice, sorted_again),
    *(of_a_lambda, a_name_of_its_own, answers_where_none_is_hit, assigned_in_the_test),
)


@pytest.mark.parametrize("program", OTHERS)
def test_what_is_another_choice_is_not_followed(program: Any) -> None:
    for way in ("released", "branches"):
        assert isinstance(lt.mechanism(program).align_paths(N, way=way), NoPaths)


@pytest.mark.slow
def test_another_factor_has_another_price() -> None:
    options: dict[str, Any] = {"seed": 1, "method": "alignment", "delta": 1e-9}
    found = lt.check_privacy(lt.mechanism(with_another_factor), N, epsilon=1.0, **options)
    assert found.decision == "INCONCLUSIVE"
    assert "proved at most 2" in str(found)


def told_at_last(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    told = []
    try:
        for k in rng.permutation(3):
            if rng.random() < math.exp(-0.5 * (scores[k] - scores.min())):
                told.append(int(k))
                return told
    finally:
        told.append(9)
    return None


def beside_noise(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    first = rng.laplace(0, 2)
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.25 * (scores[k] - scores.max())):
            break
    return int(k), float(scores[k] + rng.laplace(0, 4)), float(len(data) + first)


def of_nine(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=9)
    best = scores.max()
    for k in rng.permutation(9):
        if rng.random() < math.exp(0.5 * (scores[k] - best)):
            return int(k)
    return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "values"), [(told_at_last, 3), (beside_noise, 3), (of_nine, 9)]
)
def test_what_is_around_it_stays(program: Any, values: int) -> None:
    paths = lt.mechanism(program).align_paths(lt.RecordGrid([values] * 60), way="released")
    assert len(paths.paths) == values
    assert len(paths.rules) == 1


def test_the_program_as_it_is_written_has_this_law() -> None:
    data = np.array([0, 1, 1, 2, 2, 2])
    law = lt.mechanism(by_permutation).law(data)
    shares = shares_of_flips(np.exp(0.5 * np.array([-2.0, -1.0, 0.0])))
    assert [law[k] for k in range(3)] == pytest.approx(shares.tolist(), rel=1e-12)


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
