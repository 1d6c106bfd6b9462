"""Ordered, bounded mapping: order, look-ahead, cancellation."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from liptest.errors import InputError
from liptest.runs import workers as workers_module
from liptest.runs.workers import map_in_order


class Lazy(Executor):
    """Runs a task only when its result is asked for; counts what is in flight."""

    def __init__(self, workers: int | None) -> None:
        if workers is not None:
            self._max_workers = workers
        self.submitted = 0
        self.in_flight: list[LazyFuture] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future = LazyFuture(lambda: fn(*args), args)
        self.in_flight.append(future)
        return future


class LazyFuture(Future):  # type: ignore[type-arg]
    def __init__(self, work: Callable[[], Any], arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self._work = work
        self.first, stop = arguments[2:4]
        self.size = stop - self.first

    def answer(self) -> list[int]:
        """The results that came back."""
        results, _ = pickle.loads(self.result().data)
        return list(results)

    def result(self, timeout: float | None = None) -> Any:
        if not self.done():
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
    results = map_in_order(lambda k: started.append(k), 5)
    next(results)
    assert started == [0]


@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_results_come_in_order(count: int, workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        assert list(map_in_order(square, count, pool)) == [square(k) for k in range(count)]
    assert list(map_in_order(square, count)) == [square(k) for k in range(count)]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("workers", "ahead"), [(1, 2), (3, 6), (None, 8)])
def test_at_most_two_groups_per_worker_are_in_flight(workers: int | None, ahead: int) -> None:
    pool = Lazy(workers)
    results = map_in_order(partial(takes, 1e-4), 3000, pool)
    assert pool.submitted == 0
    for k in range(2500):
        assert next(results) == square(k)
        assert sum(not future.done() for future in pool.in_flight) <= ahead
    assert ahead <= pool.submitted < 2500


def test_closing_cancels_what_has_not_started_but_for_the_last() -> None:
    """CPython issue 94440: a pool with nothing but cancelled tasks never shuts down."""
    pool = Lazy(2)
    results = map_in_order(square, 100, pool)
    next(results)
    assert isinstance(results, Iterator)
    results.close()  # type: ignore[attr-defined]
    assert [future.cancelled() for future in pool.in_flight] == [False, True, True, False]


def test_an_error_stops_the_rest() -> None:
    pool = Lazy(2)
    results = map_in_order(fail_at_2, 100, pool)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(RuntimeError, match="task 2"):
        next(results)
    assert [future.cancelled() for future in pool.in_flight[3:]] == [True, True, False]
    assert pool.submitted == 6


@pytest.mark.parametrize("wrong", [2, "threads", object()])
def test_an_executor_must_submit(wrong: Any) -> None:
    with pytest.raises(InputError, match="executor="):
        map_in_order(square, 3, wrong)


def fail_at_500(number: int) -> int:
    if number == 500:
        raise RuntimeError("task 500")
    return number


def test_results_before_an_error_in_the_same_group_are_not_lost() -> None:
    seen: list[int] = []
    with ThreadPoolExecutor(2) as pool, pytest.raises(RuntimeError, match="task 500"):
        seen.extend(map_in_order(fail_at_500, 5000, pool))
    assert seen == list(range(500))


class Clock:
    """Time that passes only where a task says so."""

    now = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The executors' clock is ``Clock``."""
    told = SimpleNamespace(perf_counter=lambda: Clock.now, monotonic=lambda: Clock.now)
    monkeypatch.setattr(workers_module, "time", told)


def takes(seconds: float, number: int) -> int:
    Clock.now += seconds
    return square(number)


@pytest.mark.usefixtures("clock")
def test_groups_grow_when_chunks_are_quick_and_shrink_towards_the_end() -> None:
    pool = Lazy(2)
    quick = partial(takes, 1e-4)
    assert list(map_in_order(quick, 5000, pool)) == [square(k) for k in range(5000)]
    sizes = [group.size for group in pool.in_flight]
    assert max(sizes) > 50
    assert sizes[:4] == [1, 1, 1, 1]
    assert sizes[-1] == 1
    assert sum(sizes) == 5000


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
def test_a_chunk_that_takes_longer_than_a_group_should_is_a_group() -> None:
    pool = Lazy(1)
    assert list(map_in_order(partial(takes, 0.12), 6, pool)) == [square(k) for k in range(6)]
    assert [group.size for group in pool.in_flight] == [1] * 6


def is_large(result: int) -> bool:
    return result >= square(2000)


@pytest.mark.usefixtures("clock")
def test_a_group_stops_behind_a_result_that_ends_the_run() -> None:
    pool = Lazy(1)
    results = map_in_order(partial(takes, 1e-4), 100_000, pool, ends=is_large)
    assert [next(results) for _ in range(2001)][-1] == square(2000)
    last = next(group for group in pool.in_flight if group.first + group.size > 2000)
    assert len(last.answer()) == 2000 - last.first + 1 < last.size
    # Whoever goes on all the same gets the rest.
    assert [next(results) for _ in range(5)] == [square(k) for k in range(2001, 2006)]


@pytest.mark.parametrize("first", [0, 1, 6, 7])
def test_a_map_may_begin_anywhere(first: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        for executor in (pool, None):
            found = list(map_in_order(square, 7, executor, first=first))
            assert found == [square(k) for k in range(first, 7)]
