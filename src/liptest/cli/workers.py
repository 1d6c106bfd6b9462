"""Worker processes of the command line."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from liptest.errors import check_count

# How often a worker looks whether its parent is still there.
_LOOK_SECONDS = 1.0


class RenewedPool(Executor):
    """Forked processes that are replaced when they die.

    To be used after the mechanism was loaded: only workers that are forked afterwards have the
    modules of a vendor's file.
    """

    def __init__(self, workers: int) -> None:
        self._max_workers = check_count("workers", workers)
        self._others = set(multiprocessing.active_children())
        self._inner = self._start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` in one of the processes."""
        return self._inner.submit(fn, *args, **kwargs)

    def renew(self) -> None:
        """New processes for dead ones; what was in flight is lost."""
        self._inner.shutdown(wait=True, cancel_futures=True)
        self._inner = self._start()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes at once, whatever they are doing."""
        inner: Any = self._inner
        manager = inner._executor_manager_thread
        self._inner.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - self._others:
            process.terminate()
            process.join()
        # Python wakes it up when it ends, through pipes that the thread may be closing just then.
        if manager is not None:
            manager.join(_LOOK_SECONDS)

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("fork")
        return ProcessPoolExecutor(
            self._max_workers, mp_context=context, initializer=_begin, initargs=(os.getpid(),)
        )


@contextmanager
def pool(workers: int) -> Iterator[Executor | None]:
    """Processes to work with while one check runs; none for one worker.

    To be entered after the mechanism was loaded. On exit they are ended at once: what they have
    not delivered is not wanted (Ctrl-C, early stop).
    """
    if check_count("workers", workers) == 1:
        yield None
        return
    with RenewedPool(workers) as executor:
        yield executor


def _begin(parent: int) -> None:
    # A terminal sends Ctrl-C to all processes; only the first one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker soon after its parent, which cannot say so when it is killed."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)
