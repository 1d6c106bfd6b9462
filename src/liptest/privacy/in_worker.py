"""Work that is not cut into chunks, done by a worker where there are worker processes.

Code under test may end its process: a crash of native code, no memory left. A worker that dies is
noticed and told of; the process that asks would take everything with it.
"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from liptest.data.domains import Domain
from liptest.errors import LiptestError
from liptest.privacy.request import Task
from liptest.privacy.search import SearchOutcome, search
from liptest.runs.driver import Judgement
from liptest.runs.workers import elsewhere, has_processes


@dataclass(frozen=True, eq=False)
class _Narrowing:
    mechanism: Any
    domain: Domain

    def __call__(self) -> None:
        with suppress(LiptestError):  # whoever asks next says what is wrong
            self.mechanism.narrowed(self.domain)


@dataclass(frozen=True, eq=False)
class _Search:
    task: Task
    budget: int

    def __call__(self) -> SearchOutcome:
        return search(self.task, self.budget)


def try_in_worker(mechanism: Any, domain: Domain, executor: Executor | None) -> None:
    """Let a worker find out first what code reads of a dataset, before this process does.

    Raises MechanismError where that ends each worker.
    """
    is_code = mechanism.source != "declared"
    if has_processes(executor) and domain.one_at_a_time and is_code:
        elsewhere(_Narrowing(mechanism, domain), executor)


def search_in_worker(task: Task, budget: int) -> SearchOutcome:
    """``search`` by one worker, without progress; Ctrl-C here ends the waiting."""
    alone = task.alone()
    if not has_processes(task.settings.executor):
        return search(alone, budget)
    try:
        return elsewhere(_Search(alone, budget), task.settings.executor)
    except KeyboardInterrupt:
        return SearchOutcome(Judgement(), 0, "interrupted", 0.0)
