"""A thread that runs before an analysis, and is given work without waiting for it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def another_thread() -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Calls a function in that thread."""
    work: Any = queue.SimpleQueue()
    answers: list[Any] = []

    def serve() -> None:
        while (function := work.get()) is not None:
            try:
                answers.append(function())
            except BaseException as error:
                answers.append(error)

    def call(function: Callable[[], Any]) -> Any:
        work.put(function)
        while not answers:
            time.sleep(0.001)
        return answers.pop()

    thread = threading.Thread(target=serve, name="worker")
    thread.start()
    try:
        yield call
    finally:
        work.put(None)
        thread.join()
