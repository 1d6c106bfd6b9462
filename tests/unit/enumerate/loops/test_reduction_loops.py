"""``functools.reduce`` with a start is the loop that it is."""

from __future__ import annotations

import functools
from collections import Counter
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.loops.reduction_loops import with_reductions_as_loops
from liptest.verdicts import Decision

LIMIT = 3


def _plus(total: int, v: int) -> int:
    """A step with a docstring."""
    if v > LIMIT:
        return total + LIMIT
    return total + v


def _add(a: int, b: int) -> int:
    return a + b


def by_a_function(data: Any) -> Any:
    return float(reduce(_plus, data, 0)) + 0.5


def by_a_local_function(data: Any) -> Any:
    factor = 2

    def step(total: int, v: int) -> int:
        w = factor * v
        return total if v == 1 else total + w

    return functools.reduce(step, data, 7)


def by_a_choice(data: Any) -> Any:
    v = 5
    return reduce(lambda total, v: total + 1 if v >= 2 else total - v, data, 0) + v


def by_parts(data: Any) -> Any:
    s, n = reduce(lambda a, v: (a[0] + v, a[1] + 1), data, (0, 0))
    return s, n


def by_names_of_parts(data: Any) -> Any:
    def step(pair: Any, v: int) -> Any:
        low, high = pair
        if v < 2:
            return low + 1, high
        return low, high + v

    return reduce(step, data, (0, 10))


def by_keys(data: Any) -> Any:
    def tally(counts: dict[int, int], v: int) -> dict[int, int]:
        counts[v] = counts.get(v, 0) + 1
        return counts

    counts = reduce(tally, data, {})  # type: ignore[var-annotated]
    return sorted(counts.items())


def by_a_counter(data: Any) -> Any:
    def tally(counts: Any, v: int) -> Any:
        counts[v] += 1
        return counts

    return sorted(reduce(tally, [v for v in data if v], Counter()).items())


def two_of_them(data: Any) -> Any:
    total = reduce(_plus, data, 0)
    total_1 = 3
    return reduce(_plus, data, total) + total_1


def start_that_takes_one(data: Any) -> Any:
    left = [1, 2, *data]
    return reduce(_plus, [left.pop(), *left], left.pop())


CHANGED = [
    *(by_a_function, by_a_local_function, by_a_choice, by_parts, by_names_of_parts, by_keys),
    *(by_a_counter, two_of_them, start_that_takes_one),
]


def without_a_start(data: Any) -> Any:
    return reduce(_add, [1, *data])


@pytest.mark.parametrize("program", [*CHANGED, without_a_start])
@given(st.lists(st.integers(0, 6), max_size=8))
@settings(max_examples=40, deadline=None)
def test_the_loop_gives_what_the_call_gives(program: Any, data: list[int]) -> None:
    made = with_reductions_as_loops(program)
    assert made is not program
    assert made(data) == program(data)


def crossed_parts(data: Any) -> Any:
    return reduce(lambda a, v: (a[1] + v, a[0]), data, (0, 1))


def evaluated_later(data: Any) -> Any:
    return data.pop() + reduce(_plus, data, 0)


def gives_nothing(data: Any) -> Any:
    def step(total: Any, v: int) -> Any:  # noqa: RET503
        if v > 2:
            return v

    return reduce(step, data, None)


def shadowed(data: Any) -> Any:
    LIMIT = 100
    return reduce(_plus, data, 0) + LIMIT


def by_several_words(data: Any) -> Any:
    def step(total: int, v: int, w: int = 1) -> int:
        return total + v + w

    return reduce(step, data, 0)


@pytest.mark.parametrize(
    "program",
    [crossed_parts, evaluated_later, gives_nothing, shadowed, by_several_words],
)
def test_what_might_do_something_else_stays(program: Any) -> None:
    assert with_reductions_as_loops(program) is program


def noisy_count(data: Any, rng: Any) -> Any:
    return reduce(_add, data) + rng.laplace(0, 1.0)


def noisy_keys(data: Any, rng: Any) -> Any:
    def tally(counts: dict[int, int], v: int) -> dict[int, int]:
        counts[v] = counts.get(v, 0) + 1
        return counts

    counts = reduce(tally, data, {})  # type: ignore[var-annotated]
    return [counts.get(k, 0) + rng.laplace(0, 2.0) for k in range(3)]


def noisy_mean(data: Any, rng: Any) -> Any:
    s, n = reduce(lambda a, v: (a[0] + min(v, 1), a[1] + 1), data, (0, 0))
    return s / n + rng.laplace(0, 1 / n)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "domain"),
    [
        (noisy_count, lt.Hypercube(5000)),
        (noisy_keys, lt.RecordGrid([3] * 300)),
        (noisy_mean, lt.RecordGrid([3] * 300)),
    ],
)
def test_programs_with_reductions_are_decided(program: Any, domain: Any) -> None:
    for epsilon, expected in ((1.0, Decision.YES), (0.9, Decision.NO)):
        verdict = lt.check_privacy(lt.mechanism()(program), domain, epsilon=epsilon, seed=1)
        assert verdict.decision is expected, verdict.reason
