"""Ordered, bounded mapping over any ``concurrent.futures.Executor``.

The work is cut into numbered tasks whose content depends on the number alone, so results are
the same on one worker or many; only their timing differs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from typing import TypeVar

from liptest.errors import InputError, shown

T = TypeVar("T")

# Tasks in flight per worker: enough to keep workers busy, few enough to stop early cheaply.
_LOOK_AHEAD = 2
_UNKNOWN_WORKERS = 4


def ordered_map(
    task: Callable[[int], T], count: int, executor: Executor | None = None
) -> Generator[T, None, None]:
    """Yield ``task(0), task(1), .., task(count - 1)`` in order.

    With an executor at most ``2 * workers`` tasks are in flight; closing the iterator cancels
    those that have not started, but for the last. Raises InputError when ``executor`` has no
    ``submit``.
    """
    if executor is None:
        return (task(number) for number in range(count))
    if not callable(getattr(executor, "submit", None)):
        raise InputError(
            f"executor={shown(executor)} has no submit(); give a concurrent.futures.Executor, "
            f"for example ProcessPoolExecutor(2)",
            name="executor",
        )
    return _pooled(task, count, executor)


def _pooled(task: Callable[[int], T], count: int, executor: Executor) -> Generator[T, None, None]:
    workers = getattr(executor, "_max_workers", None) or _UNKNOWN_WORKERS
    pending: deque[Future[T]] = deque()
    submitted = 0
    try:
        for _ in range(count):
            while submitted < count and len(pending) < _LOOK_AHEAD * int(workers):
                pending.append(executor.submit(task, submitted))
                submitted += 1
            yield pending.popleft().result()
    finally:
        # Process pools of early CPython 3.11 (Debian 12 has 3.11.2) may hang when they are shut
        # down while only cancelled tasks are left, issue 94440: so the last one may run.
        for future in list(pending)[:-1]:
            future.cancel()
