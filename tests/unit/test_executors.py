"""Ordered, bounded mapping: order, look-ahead, cancellation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from liptest.errors import InputError
from liptest.executors import ordered_map


class Lazy(Executor):
    """Runs a task only when its result is asked for; counts what is in flight."""

    def __init__(self, workers: int | None) -> None:
        if workers is not None:
            self._max_workers = workers
        self.submitted = 0
        self.in_flight: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future = LazyFuture(lambda: fn(*args))
        self.in_flight.append(future)
        return future


class LazyFuture(Future):  # type: ignore[type-arg]
    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work

    def result(self, timeout: float | None = None) -> Any:
        self.set_result(self._work())
        return super().result()


def square(number: int) -> int:
    return number * number


def fail_at_2(number: int) -> int:
    if number == 2:
        raise RuntimeError("task 2")
    return number


def test_without_an_executor_nothing_runs_ahead() -> None:
    started: list[int] = []
    results = ordered_map(lambda k: started.append(k), 5)
    next(results)
    assert started == [0]


@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_results_come_in_order(count: int, workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        assert list(ordered_map(square, count, pool)) == [square(k) for k in range(count)]
    assert list(ordered_map(square, count)) == [square(k) for k in range(count)]


@pytest.mark.parametrize(("workers", "ahead"), [(1, 2), (3, 6), (None, 8)])
def test_at_most_two_groups_per_worker_are_in_flight(workers: int | None, ahead: int) -> None:
    pool = Lazy(workers)
    results = ordered_map(square, 3000, pool)
    assert pool.submitted == 0
    for k in range(2500):
        assert next(results) == square(k)
        assert sum(not future.done() for future in pool.in_flight) <= ahead
    assert ahead <= pool.submitted < 2500


def test_closing_cancels_what_has_not_started_but_for_the_last() -> None:
    """CPython issue 94440: a pool with nothing but cancelled tasks never shuts down."""
    pool = Lazy(2)
    results = ordered_map(square, 100, pool)
    next(results)
    assert isinstance(results, Iterator)
    results.close()  # type: ignore[attr-defined]
    assert [future.cancelled() for future in pool.in_flight] == [False, True, True, False]


def test_an_error_stops_the_rest() -> None:
    pool = Lazy(2)
    results = ordered_map(fail_at_2, 100, pool)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(RuntimeError, match="task 2"):
        next(results)
    assert [future.cancelled() for future in pool.in_flight[3:]] == [True, True, False]
    assert pool.submitted == 6


@pytest.mark.parametrize("wrong", [2, "threads", object()])
def test_an_executor_must_submit(wrong: Any) -> None:
    with pytest.raises(InputError, match="executor="):
        ordered_map(square, 3, wrong)
