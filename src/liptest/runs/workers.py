"""Worker pools and task payloads: ordered, bounded mapping over any executor.

The work is cut into numbered chunks whose content depends on the number alone, so results are
the same on one worker or many; only their timing differs. Several chunks travel as one group,
which is made to take about 0.1 seconds: neither more groups than a scheduler can handle nor so
long that stopping early costs much. Groups change nothing in the results.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import random
import sys
import sysconfig
import tempfile
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterator
from concurrent import futures
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from liptest.errors import InputError, MechanismError, quote
from liptest.foreign import count_workers

# A task on its way to other processes: pickled once, unpickled once per process.
#
# Code travels by value where cloudpickle is installed: functions of ``__main__`` (scripts, notebook
# cells), lambdas, and modules outside of installed packages, such as a vendor's file. A worker that
# started before a function was written, or that runs on another machine, then has the code that the
# caller sees, and never an older one of the same name. Without cloudpickle, and for workers that
# were forked after the code was loaded, functions travel by their names.


# Unpickled tasks that a process keeps: one run has one, its stages a few.
_KEPT = 4
_opened: OrderedDict[str, Any] = OrderedDict()
_by_value: ContextVar[bool] = ContextVar("by_value", default=False)
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class TaskPayload:
    """A pickled task; ``digest`` is the sha256 of its bytes, which lie in ``data`` or a file."""

    digest: str
    data: bytes
    path: str = ""

    def put_in_file(self) -> TaskPayload:
        """The same, in a file: for workers on this machine that want it again and again."""
        handle, path = tempfile.mkstemp(prefix="liptest-")
        with os.fdopen(handle, "wb") as file:
            file.write(self.data)
        return replace(self, data=b"", path=path)

    def open(self) -> Any:
        """The task; the same object for each call in one process."""
        if self.digest not in _opened:
            data = Path(self.path).read_bytes() if self.path else self.data
            _opened[self.digest] = pickle.loads(data)
            while len(_opened) > _KEPT:
                _opened.popitem(last=False)
        return _opened[self.digest]


def travels_by_value() -> bool:
    """Whether what is being pickled must not rely on the modules of the other process."""
    return _by_value.get()


def find_by_name(module: str, qualname: str) -> Any:
    """The object of that name in a module that is loaded, or None."""
    parts = qualname.split(".")
    return reduce(lambda owner, part: getattr(owner, part, None), parts, sys.modules.get(module))


def import_by_name(module: str, qualname: str) -> Any:
    """The object of that name; its module is imported first."""
    import_module(module)
    return find_by_name(module, qualname)


def pack(task: Any, *, by_name: bool = False) -> TaskPayload:
    """Pickle a task.

    ``by_name`` is for workers that are known to have the modules of this process. Raises
    InputError when the task holds something that no pickler takes.
    """
    ways: list[Callable[[Any], bytes]] = [*_value_ways(), _name]
    problem: Exception | None = None
    for way in (_name, *ways) if by_name else ways:
        try:
            data = way(task)
        except Exception as error:  # picklers raise whatever the objects raise
            problem = problem or error
            continue
        return TaskPayload(hashlib.sha256(data).hexdigest(), data)
    advice = "" if len(ways) > 1 else "; install cloudpickle (extra 'cluster') for lambdas"
    raise InputError(
        f"executor: what is tested cannot be sent to another process "
        f"({quote(str(problem), 200)}); define it in a file without open files or locks, or test "
        f"it without executor={advice}",
        name="executor",
    )


def pack_answer(answer: Any) -> bytes:
    """An answer on its way back; classes that travelled by value travel back by value."""
    try:
        return _name(answer)
    except Exception:
        ways = _value_ways()
        if not ways:
            raise
        return ways[-1](answer)


def _name(task: Any) -> bytes:
    return pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)


def _value_ways() -> list[Callable[[Any], bytes]]:
    try:
        import cloudpickle
    except ImportError:
        return []

    def whole(task: Any) -> bytes:
        with _register(cloudpickle):
            return bytes(cloudpickle.dumps(task))

    return [whole, cloudpickle.dumps]


@contextmanager
def _register(cloudpickle: Any) -> Iterator[None]:
    """Within, the modules outside of installed packages travel by value."""
    before = set(cloudpickle.list_registry_pickle_by_value())
    ours = [m for name, m in list(sys.modules.items()) if name not in before and _is_local(name, m)]
    token = _by_value.set(True)
    try:
        for module in ours:
            cloudpickle.register_pickle_by_value(module)
        yield
    finally:
        _by_value.reset(token)
        for module in ours:
            with suppress(ValueError):
                cloudpickle.unregister_pickle_by_value(module)


def _is_local(name: str, module: ModuleType) -> bool:
    # cloudpickle looks modules up by their own names.
    is_named = getattr(module, "__name__", None) == name and name != "__main__"
    path = getattr(module, "__file__", None)
    return is_named and isinstance(path, str) and _is_users(path)


@cache
def _is_users(path: str) -> bool:
    full = Path(path).resolve()
    if "site-packages" in full.parts or "dist-packages" in full.parts:
        return False
    return not any(full.is_relative_to(folder) for folder in _find_installed())


@cache
def _find_installed() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    return (_PACKAGE, *(Path(paths[key]).resolve() for key in keys))


_UNKNOWN_WORKERS = 4
# How often to ask Dask for the number of its workers, which come and go.
_RECOUNT_SECONDS = 1.0
# From this size on a payload goes apart from the tasks, in bytes: given to Dask once, or in a file.
_LARGE_PAYLOAD = 1 << 18


@runtime_checkable
class Submits(Protocol):
    """What every executor can do, also one that is not a subclass of ``Executor``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """A future of ``fn(*args, **kwargs)``."""
        ...


@runtime_checkable
class Renewable(Protocol):
    """An executor that replaces dead workers of its own, forked after the code was loaded."""

    def renew(self) -> None:
        """New processes for the dead ones."""
        ...


class WorkerPool:
    """One executor while one map runs on it.

    ``deaths`` are the exceptions that say that a worker died. A pool that is broken is replaced by
    one like it, until ``close``.
    """

    def __init__(self, executor: Executor) -> None:
        self._given = self._executor = executor
        self._files: list[str] = []
        self._client: Any = None
        if _is_of("distributed", executor):
            self._client = executor._client  # type: ignore[attr-defined]
            _separate_dask()
        self._workers, self._counted = self._count(), time.monotonic()
        self.deaths: tuple[type[BaseException], ...] = (BrokenExecutor, *self._list_dask_deaths())

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
        if isinstance(self._given, futures.ThreadPoolExecutor):
            return task
        payload = pack(task, by_name=isinstance(self._given, Renewable))
        if len(payload.data) < _LARGE_PAYLOAD:
            return payload
        if self._client is not None:
            return self._client.scatter(payload, broadcast=True, hash=False)
        if not self._is_local():
            return payload
        filed = payload.put_in_file()
        self._files.append(filed.path)
        return filed

    def submit(self, run: Callable[..., Any], packed: Any, *numbers: int) -> Future[Any]:
        """Let a worker call ``run(task, *numbers)``."""
        if self._client is None:
            return self._executor.submit(_unpack, run, packed, *numbers)
        # Dask's executor wraps futures of its own, and logs an error for each that is cancelled.
        options = {**self._executor._kwargs, "pure": False}  # type: ignore[attr-defined]
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
        outcome = future.result()
        return pickle.loads(outcome.data) if isinstance(outcome, _Answer) else outcome

    def _is_local(self) -> bool:
        is_local = isinstance(self._given, (Renewable, futures.ProcessPoolExecutor))
        return is_local or _is_of("loky", self._given)

    def _count(self) -> int:
        if self._client is not None:
            return sum(self._client.nthreads().values()) or _UNKNOWN_WORKERS
        return int(count_workers(self._given) or _UNKNOWN_WORKERS)

    def _list_dask_deaths(self) -> tuple[type[BaseException], ...]:
        if self._client is None:
            return ()
        from distributed.scheduler import KilledWorker

        # A task payload whose last copy was on a dead worker cancels the tasks that want it.
        return KilledWorker, CancelledError


@dataclass(frozen=True)
class _Answer:
    data: bytes


def _unpack(run: Callable[..., Any], packed: Any, *numbers: int) -> Any:
    if not isinstance(packed, TaskPayload):
        return run(packed, *numbers)
    return _Answer(pack_answer(run(packed.open(), *numbers)))


def _is_of(library: str, executor: Executor) -> bool:
    return any(kind.__module__.partition(".")[0] == library for kind in type(executor).__mro__)


def _on_dask(run: Callable[..., Any], packed: Any, *numbers: int) -> Any:
    _once()
    return _unpack(run, packed, *numbers)


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
    broken: Any = executor
    if isinstance(executor, futures.ProcessPoolExecutor):
        kind: Any = partial(futures.ProcessPoolExecutor, mp_context=broken._mp_context)
    elif _is_of("loky", executor):
        from loky.process_executor import ProcessPoolExecutor as Loky

        kind = partial(Loky, context=broken._context)
    else:
        raise death
    again: Executor = kind(
        max_workers=broken._max_workers, initializer=broken._initializer, initargs=broken._initargs
    )
    return again


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


def map_in_order(
    task: Callable[[int], T],
    count: int,
    executor: Executor | None = None,
    *,
    first: int = 0,
    ends: Ends | None = None,
) -> Generator[T, None, None]:
    """Yield ``task(first), .., task(count - 1)`` in order.

    With an executor at most ``2 * workers`` groups of chunks are in flight; closing the iterator
    cancels those that have not started, except the last. A group stops behind a result for which
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
    if not isinstance(executor, Submits):
        raise InputError(
            f"executor={quote(executor)} has no submit(); give a concurrent.futures.Executor, "
            f"for example ProcessPoolExecutor(2)",
            name="executor",
        )
    return _pool(_Flight(task, ends, count, first, executor))


def has_processes(executor: Executor | None) -> bool:
    """Whether what an executor runs is run outside this process."""
    return executor is not None and not isinstance(executor, futures.ThreadPoolExecutor)


def elsewhere(job: Callable[[], T], executor: Executor | None) -> T:
    """``job()`` by one worker of an executor; raises as ``map_in_order``."""
    with closing(map_in_order(_Once(job), 1, executor)) as results:
        return next(results)


@dataclass(frozen=True, eq=False)
class _Once(Generic[T]):
    job: Callable[[], T]

    def __call__(self, number: int) -> T:
        return self.job()


def _pool(flight: _Flight[T]) -> Generator[T, None, None]:
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
        self._pool = WorkerPool(executor)
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
            results, seconds = self._pool.answer(front.future)
        except self._pool.deaths as death:
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
        waiting = [group.future for group in self._groups if group.future is not None]
        for future in waiting[:-1]:
            future.cancel()
        self._pool.close()

    def _fill(self) -> None:
        most = _LOOK_AHEAD * self._pool.workers
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
            self._packed = self._pool.pack((self._task, self._ends))
        if group.future is None:
            numbers = group.first, group.stop, self._deaths
            group.future = self._pool.submit(_run_group, self._packed, *numbers)

    def _group_size(self) -> int:
        # Towards the end groups shrink, so that all workers end together.
        share = math.ceil((self._count - self._next) / (_LOOK_AHEAD * self._pool.workers))
        return max(1, min(self._size, share))

    def _pace(self, seconds_each: float) -> None:
        wanted = _GROUP_SECONDS / max(seconds_each, 1e-9)
        self._size = max(1, int(min(wanted, _GROWTH * self._size)))

    def _recover(self, death: BaseException) -> None:
        # Dask has tried several workers before it says so.
        self._deaths += 1 if isinstance(death, BrokenExecutor) else _TRIES // 2
        front = self._groups[0]
        if self._deaths >= _TRIES:
            raise _make_killed_error(front.first) from death
        if self._deaths > 1:
            self._alone_until = max(self._alone_until, self._next)
        for group in self._groups:
            if not group.is_done():
                if group.future is not None:
                    group.future.cancel()
                group.future = None
        self._packed = None
        self._pool.renew(death)


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


def _make_killed_error(chunk: int) -> MechanismError:
    return MechanismError(
        f"the code under test ends its worker processes: they died {_TRIES} times in a row, at "
        f"last while chunk {chunk} ran alone. Look for os._exit, crashing C extensions and memory "
        f"(the kernel kills what asks for too much); nothing was decided, and what was done "
        f"before that chunk is in the checkpoint, where one was given"
    )
