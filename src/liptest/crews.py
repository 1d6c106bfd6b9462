"""The workers behind an executor: how many, how tasks reach them, what to do when they die."""

from __future__ import annotations

import os
import pickle
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

from liptest.parcels import Parcel, pack, packed_answer

_UNKNOWN_WORKERS = 4
# How often to ask Dask for the number of its workers, which come and go.
_RECOUNT_SECONDS = 1.0
# From this size on a parcel goes apart from the tasks, in bytes: given to Dask once, or in a file.
_LARGE_PARCEL = 1 << 18


@runtime_checkable
class Renewable(Protocol):
    """An executor that replaces dead workers of its own, forked after the code was loaded."""

    def renew(self) -> None:
        """New processes for the dead ones."""
        ...


class Crew:
    """One executor while one map runs on it.

    ``deaths`` are the exceptions that say that a worker died. A pool that is broken is replaced by
    one like it, until ``close``.
    """

    def __init__(self, executor: Executor) -> None:
        self._given = self._executor = executor
        self._files: list[str] = []
        self._client = getattr(executor, "_client", None)  # of Dask
        if self._client is not None:
            _separate_dask()
        self._workers, self._counted = self._count(), time.monotonic()
        self.deaths: tuple[type[BaseException], ...] = (BrokenExecutor, *self._deaths_of_dask())

    @property
    def workers(self) -> int:
        """How many tasks run at once; of a Dask cluster as it is now."""
        if self._client is not None and time.monotonic() - self._counted >= _RECOUNT_SECONDS:
            with suppress(OSError):  # a scheduler that is lost tells of itself elsewhere
                self._workers = self._count()
            self._counted = time.monotonic()
        return self._workers

    def pack(self, task: Any) -> Any:
        """What ``submit`` wants in the place of a task; pickled here, and not for each chunk."""
        if isinstance(self._given, ThreadPoolExecutor):
            return task
        parcel = pack(task, by_name=isinstance(self._given, Renewable))
        if len(parcel.data) < _LARGE_PARCEL:
            return parcel
        if self._client is not None:
            return self._client.scatter(parcel, broadcast=True, hash=False)
        if not self._is_local():
            return parcel
        filed = parcel.filed()
        self._files.append(filed.path)
        return filed

    def submit(self, run: Callable[..., Any], packed: Any, *numbers: int) -> Future[Any]:
        """Let a worker call ``run(task, *numbers)``."""
        if self._client is None:
            return self._executor.submit(_unpacked, run, packed, *numbers)
        # Dask's executor wraps futures of its own, and logs an error for each that is cancelled.
        options = {**getattr(self._executor, "_kwargs", {}), "pure": False}
        future: Future[Any] = self._client.submit(_on_dask, run, packed, *numbers, **options)
        return future

    def renew(self, death: BaseException) -> None:
        """Have workers again; Dask has them by itself."""
        if isinstance(self._executor, Renewable):
            self._executor.renew()
        elif isinstance(death, BrokenExecutor):
            self._executor.shutdown(wait=True)
            self._executor = _like(self._executor, death)

    def close(self) -> None:
        """End the workers that replaced others; nothing that was handed in is wanted any more."""
        for path in self._files:
            with suppress(OSError):
                os.unlink(path)
        if self._executor is not self._given:
            self._executor.shutdown(wait=False)

    def answer(self, future: Future[Any]) -> Any:
        """What ``run`` returned, waiting for it."""
        found = future.result()
        return pickle.loads(found.data) if isinstance(found, _Answer) else found

    def _is_local(self) -> bool:
        known = isinstance(self._given, (Renewable, ProcessPoolExecutor))
        return known or _is_loky(self._given)

    def _count(self) -> int:
        if self._client is not None:
            return sum(self._client.nthreads().values()) or _UNKNOWN_WORKERS
        return int(getattr(self._given, "_max_workers", None) or _UNKNOWN_WORKERS)

    def _deaths_of_dask(self) -> tuple[type[BaseException], ...]:
        if self._client is None:
            return ()
        from distributed.scheduler import KilledWorker

        # A parcel whose last copy was on a dead worker cancels the tasks that want it.
        return KilledWorker, CancelledError


@dataclass(frozen=True)
class _Answer:
    data: bytes


def _unpacked(run: Callable[..., Any], packed: Any, *numbers: int) -> Any:
    if not isinstance(packed, Parcel):
        return run(packed, *numbers)
    return _Answer(packed_answer(run(packed.open(), *numbers)))


def _is_loky(executor: Executor) -> bool:
    return type(executor).__module__.partition(".")[0] == "loky"


def _on_dask(run: Callable[..., Any], packed: Any, *numbers: int) -> Any:
    _once()
    return _unpacked(run, packed, *numbers)


@cache
def _once() -> None:
    _separate_dask()


def _separate_dask() -> None:
    """Keep what Dask does in this process apart from what is analysed in it.

    Dask's own random choices, in other threads, move the generator of the module ``random``; here
    they get one of their own. Its look at the memory after garbage collections opens a file in
    whichever thread they happen; it is switched off.
    """
    place = "distributed.gc" if find_spec("distributed.gc") else "distributed.utils_perf"
    import_module(place).disable_gc_diagnosis(force=True)
    own = random.Random()
    for name, module in list(sys.modules.items()):
        is_dasks = name.partition(".")[0] in ("dask", "distributed", "tornado")
        if is_dasks and vars(module).get("random") is random:
            vars(module)["random"] = own


def _like(executor: Executor, death: BaseException) -> Executor:
    """Another pool like a broken one."""
    start: dict[str, Any] = {
        "max_workers": getattr(executor, "_max_workers", None),
        "initializer": getattr(executor, "_initializer", None),
        "initargs": getattr(executor, "_initargs", ()),
    }
    if isinstance(executor, ProcessPoolExecutor):
        return ProcessPoolExecutor(mp_context=executor._mp_context, **start)
    if not _is_loky(executor):
        raise death
    from loky.process_executor import ProcessPoolExecutor as Loky

    again: Executor = Loky(context=executor._context, **start)  # type: ignore[attr-defined]
    return again
