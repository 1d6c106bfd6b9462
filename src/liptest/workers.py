"""Worker processes of the command line."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

from liptest.errors import check_count


@contextmanager
def pool(workers: int) -> Iterator[Executor | None]:
    """Processes to work with while one check runs; none for one worker.

    To be entered after the mechanism was loaded: only workers that are forked afterwards have the
    modules of a vendor's file. On exit they are ended at once, whatever they are doing: what they
    have not delivered is not wanted (Ctrl-C, early stop).
    """
    if check_count("workers", workers) == 1:
        yield None
        return
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("fork")
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_to_parent)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
            process.join()


def _leave_to_parent() -> None:
    # A terminal sends Ctrl-C to all processes; only the first one decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
