"""Ordered, bounded mapping over any ``concurrent.futures.Executor``.

The work is cut into numbered chunks whose content depends on the number alone, so results are
the same on one worker or many; only their timing differs. Several chunks travel as one group,
which is made to take about 0.1 seconds: neither more groups than a scheduler can handle nor so
long that stopping early costs much. Groups change nothing in the results.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from liptest.crews import Crew
from liptest.errors import InputError, MechanismError, shown

T = TypeVar("T")

#: Says of a result that those after it are probably not wanted; must pickle.
Ends = Callable[[Any], bool]

# Groups in flight per worker: enough to keep workers busy, few enough to stop early cheaply.
_LOOK_AHEAD = 2
# Seconds that a group is meant to take, and how fast groups may grow towards that.
_GROUP_SECONDS = 0.1
_GROWTH = 8
# Deaths of workers without any result in between; from the second one on a chunk runs alone.
_TRIES = 4


def ordered_map(
    task: Callable[[int], T],
    count: int,
    executor: Executor | None = None,
    *,
    first: int = 0,
    ends: Ends | None = None,
) -> Generator[T, None, None]:
    """Yield ``task(first), .., task(count - 1)`` in order.

    With an executor at most ``2 * workers`` groups of chunks are in flight; closing the iterator
    cancels those that have not started, but for the last. A group stops behind a result for which
    ``ends`` holds. Chunks of a worker that dies are run again, on new workers where the executor
    has lost its own.

    Raises
    ------
    InputError
        ``executor`` has no ``submit``, or the task cannot be pickled.
    MechanismError
        Workers die each time on the same chunk; all results before it were yielded.
    """
    if executor is None:
        return (task(number) for number in range(first, count))
    if not callable(getattr(executor, "submit", None)):
        raise InputError(
            f"executor={shown(executor)} has no submit(); give a concurrent.futures.Executor, "
            f"for example ProcessPoolExecutor(2)",
            name="executor",
        )
    return _pooled(_Flight(task, ends, count, first, executor))


def has_processes(executor: Executor | None) -> bool:
    """Whether what an executor runs is run outside this process."""
    return executor is not None and not isinstance(executor, ThreadPoolExecutor)


def elsewhere(job: Callable[[], T], executor: Executor | None) -> T:
    """``job()`` by one worker of an executor; raises as ``ordered_map``."""
    with closing(ordered_map(_Once(job), 1, executor)) as results:
        return next(results)


@dataclass(frozen=True, eq=False)
class _Once(Generic[T]):
    job: Callable[[], T]

    def __call__(self, number: int) -> T:
        return self.job()


def _pooled(flight: _Flight[T]) -> Generator[T, None, None]:
    try:
        while flight.left():
            yield from flight.next_results()
    finally:
        flight.close()


@dataclass
class _Group(Generic[T]):
    """Chunks ``first`` to ``stop - 1``; no future: to be submitted again."""

    first: int
    stop: int
    future: Future[tuple[list[T], float]] | None = None

    def is_done(self) -> bool:
        """Whether its results are there, whatever became of the worker since."""
        done = self.future is not None and self.future.done() and not self.future.cancelled()
        return done and self.future is not None and self.future.exception() is None


class _Flight(Generic[T]):
    """What is under way, in order, and what became of it."""

    def __init__(
        self,
        task: Callable[[int], T],
        ends: Ends | None,
        count: int,
        first: int,
        executor: Executor,
    ) -> None:
        self._task, self._ends = task, ends
        self._count, self._next = count, first
        self._groups: deque[_Group[T]] = deque()
        self._crew = Crew(executor)
        self._packed: Any = None
        self._size = 1
        self._deaths = 0
        # Chunks below this number run one at a time: one of them kills its worker.
        self._alone_until = 0

    def left(self) -> bool:
        """Whether any results are still to come."""
        return bool(self._groups) or self._next < self._count

    def next_results(self) -> Iterator[T]:
        """Results of the group in front, waiting for them; none after a worker's death."""
        try:
            self._fill()
            front = self._groups[0]
            assert front.future is not None
            results, seconds = self._crew.answer(front.future)
        except self._crew.deaths as death:
            self._recover(death)
            return
        self._groups.popleft()
        self._deaths = 0
        self._pace(seconds / len(results))
        rest = front.first + len(results)
        if rest < front.stop:
            self._groups.appendleft(_Group(rest, front.stop))
        yield from results

    def close(self) -> None:
        """Cancel what has not started."""
        # Process pools of early CPython 3.11 (Debian 12 has 3.11.2) may hang when they are shut
        # down while only cancelled tasks are left, issue 94440: so the last one may run.
        futures = [group.future for group in self._groups if group.future is not None]
        for future in futures[:-1]:
            future.cancel()
        self._crew.close()

    def _fill(self) -> None:
        most = _LOOK_AHEAD * self._crew.workers
        while self._next < self._count and len(self._groups) < most:
            stop = min(self._next + self._group_size(), self._count)
            self._groups.append(_Group(self._next, stop))
            self._next = stop
        front = self._groups[0]
        if front.first < self._alone_until:
            if front.stop > front.first + 1 and front.future is None:
                self._groups.popleft()
                self._groups.appendleft(_Group(front.first + 1, front.stop))
                self._groups.appendleft(_Group(front.first, front.first + 1))
            self._submit(self._groups[0])
            return
        for group in self._groups:
            self._submit(group)

    def _submit(self, group: _Group[T]) -> None:
        if self._packed is None:
            self._packed = self._crew.pack((self._task, self._ends))
        if group.future is None:
            numbers = group.first, group.stop, self._deaths
            group.future = self._crew.submit(_run_group, self._packed, *numbers)

    def _group_size(self) -> int:
        # Towards the end groups shrink, so that all workers end together.
        share = math.ceil((self._count - self._next) / (_LOOK_AHEAD * self._crew.workers))
        return max(1, min(self._size, share))

    def _pace(self, seconds_each: float) -> None:
        wanted = _GROUP_SECONDS / max(seconds_each, 1e-9)
        self._size = max(1, int(min(wanted, _GROWTH * self._size)))

    def _recover(self, death: BaseException) -> None:
        # Dask has tried several workers before it says so.
        self._deaths += 1 if isinstance(death, BrokenExecutor) else _TRIES // 2
        front = self._groups[0]
        if self._deaths >= _TRIES:
            raise _killed(front.first) from death
        if self._deaths > 1:
            self._alone_until = max(self._alone_until, self._next)
        for group in self._groups:
            if not group.is_done():
                if group.future is not None:
                    group.future.cancel()
                group.future = None
        self._packed = None
        self._crew.renew(death)


def _run_group(
    work: tuple[Callable[[int], T], Ends | None], first: int, stop: int, _attempt: int
) -> tuple[list[T], float]:
    """Results and seconds; fewer results where one ends it, or before a chunk that raises."""
    task, ends = work
    started = time.perf_counter()
    results: list[T] = []
    for number in range(first, stop):
        try:
            results.append(task(number))
        except Exception:
            if not results:
                raise
            break
        if ends is not None and ends(results[-1]):
            break
    return results, time.perf_counter() - started


def _killed(chunk: int) -> MechanismError:
    return MechanismError(
        f"the code under test ends its worker processes: they died {_TRIES} times in a row, at "
        f"last while chunk {chunk} ran alone. Look for os._exit, crashing C extensions and memory "
        f"(the kernel kills what asks for too much); nothing was decided, and what was done "
        f"before that chunk is in the checkpoint, where one was given"
    )
