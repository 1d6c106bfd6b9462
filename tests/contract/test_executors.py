"""Every executor gives the same verdict, witness and counts, and survives the death of workers.

The processes, the pools and the Dask scheduler are real ones. Tests of loky and Dask need the
packages of the extra ``cluster``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.cli.loading import load_mechanism
from liptest.cli.workers import RenewedPool
from liptest.privacy.samples import sampling_run
from liptest.runs import workers as crews
from liptest.runs.workers import map_in_order

LAW = lt.ProductDistribution.uniform(lt.Hypercube(7))


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    import dask
    from distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True}
    # The first death of a worker is told, so that our own tries are seen.
    quick = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(quick),
        LocalCluster(dashboard_address=":0", silence_logs=50, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


@contextmanager
def cluster(workers: int) -> Iterator[Executor]:
    """Dask with its scheduler and its workers as programs of their own."""
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    options = {"n_workers": workers, "worker_kwargs": {"nthreads": 1}, "silence_logs": 50}
    with SubprocessCluster(**options) as programs, Client(programs) as client:
        yield client.get_executor(pure=False)


@contextmanager
def loky(workers: int) -> Iterator[Executor]:
    from loky.process_executor import ProcessPoolExecutor as Loky

    executor = Loky(workers)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, kill_workers=True)


def standard(start: str) -> Callable[[int], Any]:
    return lambda n: ProcessPoolExecutor(n, mp_context=multiprocessing.get_context(start))


SLOW = pytest.mark.slow
#: Workers of loky and Dask take seconds to start and to come back.
KINDS = ["own", "fork", *(pytest.param(kind, marks=SLOW) for kind in ("loky", "dask"))]
PROCESSES: dict[str, Callable[[int], Any]] = {
    "own": RenewedPool,
    "fork": standard("fork"),
    "spawn": standard("spawn"),
    "loky": loky,
    "dask": dask,
}


@pytest.fixture(
    params=[
        *("threads-4", "own-1", "own-2", "fork-2"),
        *(pytest.param(name, marks=SLOW) for name in ("spawn-2", "loky-2", "cluster-2")),
    ]
)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    kind, workers = request.param.split("-")
    make = {**PROCESSES, "threads": ThreadPoolExecutor, "cluster": cluster}[kind]
    with make(int(workers)) as found:
        yield found


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sampling_run._CHUNK_POINTS, "declared", 200)
    monkeypatch.setitem(sampling_run._CHUNK_POINTS, "enumerated", 200)


@lt.mechanism
def decorated(data: Any, rng: Any) -> int:
    return int(rng.random() < (0.25 if data.tolist()[0] else 0.5))


class Own(Exception):
    """Of this module, so that it travels by value to workers that lack it."""


@lt.mechanism
def raises(data: Any, rng: Any) -> int:
    if data.tolist()[2:] == [1] * 5 and rng.random() < 0.25:
        raise Own
    return int(rng.random() < 0.5)


def needle(data: np.ndarray) -> np.ndarray:
    first = np.where(np.all(data == 1, axis=1, keepdims=True), 1e-3, 0.5)
    return np.log(np.concatenate([first, 1 - first], axis=1))


FILE = """
import helper
from random import random

def vendor(data):
    return int(random() < helper.chance(data))

unnamed = lambda data, rng: int(rng.random() < helper.chance(data))
"""
HELPER = """
def chance(data):
    values = data.tolist()
    return 0.001 if values[1:] == [1] * 6 else 0.5
"""


def first_bit(data: np.ndarray) -> np.ndarray:
    first = 0.4 + 0.2 * data[:, :1]
    return np.log(np.concatenate([first, 1 - first], axis=1))


def mechanisms(folder: Path) -> list[Any]:
    (folder / "vendor.py").write_text(FILE)
    (folder / "helper.py").write_text(HELPER)
    held = [0.5, 0.25]
    return [
        decorated,
        raises,
        lt.ClosedForm([0, 1], needle),
        lt.mechanism(lambda data, rng: int(rng.random() < held[int(data[0])])),
        load_mechanism(f"{folder}/vendor.py:vendor")[0],
        load_mechanism(f"{folder}/vendor.py:unnamed")[0],
    ]


def facts(mechanism: Any, executor: Executor | None) -> tuple[Any, ...]:
    verdict = lt.check_privacy(
        mechanism,
        LAW,
        epsilon=1.0,
        exception_mass=0.05,
        method="light-neighbourhoods",
        seed=11,
        executor=executor,
    )
    cost = verdict.cost
    counts = (cost.laws, cost.draws, cost.pairs, cost.repeats, verdict.largest_loss)
    if verdict.witness is not None:
        assert verdict.witness.verify(mechanism)
    return str(verdict.decision), str(verdict.witness), counts, verdict.guarantee


@pytest.mark.slow
def test_verdict_witness_and_counts_are_those_of_one_process(
    executor: Executor, tmp_path: Path
) -> None:
    asked = mechanisms(tmp_path)
    shared = [facts(mechanism, executor) for mechanism in asked]
    assert shared == [facts(mechanism, None) for mechanism in asked]
    assert [decision for decision, *_ in shared] == ["YES", "NO", "NO", "YES", "NO", "NO"]


@dataclass(frozen=True)
class Deadly:
    """Ends its process at one chunk, once or always, in one of two ways."""

    at: int
    way: str
    mark: str = ""

    def __call__(self, number: int) -> int:
        first = not self.mark or not os.path.exists(self.mark)
        if number == self.at and first:
            if self.mark:
                Path(self.mark).touch()
            if self.way == "exit":
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_that_dies_costs_its_chunks_which_are_run_again(kind: str, tmp_path: Path) -> None:
    with PROCESSES[kind](2) as executor:
        ways = ["kill", "exit"] if kind in ("own", "fork") else ["kill"]
        for number, way in enumerate(ways):
            task = Deadly(10 * number + 3, way, str(tmp_path / way))
            assert list(map_in_order(task, 40, executor)) == [k * k for k in range(40)]
            assert (tmp_path / way).exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_that_always_kills_is_told_and_nothing_before_it_is_lost(
    kind: str, tmp_path: Path
) -> None:
    with PROCESSES[kind](2) as executor:
        results = map_in_order(Deadly(7, "kill"), 20, executor)
        seen: list[int] = []
        with pytest.raises(lt.errors.MechanismError, match=r"4 times in a row.*chunk 7 ran alone"):
            seen.extend(results)
        assert seen == [k * k for k in range(7)]
        # The executor can be used for what comes next.
        assert list(map_in_order(Deadly(-1, ""), 5, executor)) == [k * k for k in range(5)]


@pytest.mark.parametrize("kind", ["own", pytest.param("loky", marks=SLOW)])
def test_workers_killed_from_outside_change_nothing(kind: str) -> None:
    mechanism = lt.ClosedForm([0, 1], needle)
    wanted = facts(mechanism, None)
    killed: list[int] = []

    def kill(done: int, planned: int) -> None:
        # A pool that was replaced has no processes left.
        for process in processes(executor)[: 2 - len(killed)]:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
                killed.append(process.pid)

    with PROCESSES[kind](2) as executor:
        verdict = lt.check_privacy(
            lt.ClosedForm([0, 1], needle),
            LAW,
            epsilon=1.0,
            exception_mass=0.05,
            method="light-neighbourhoods",
            seed=11,
            executor=executor,
            progress=kill,
        )
    assert killed
    assert (str(verdict.decision), str(verdict.witness)) == wanted[:2]
    assert (verdict.cost.laws, verdict.cost.draws) == wanted[2][:2]


def processes(executor: Any) -> list[Any]:
    inner = getattr(executor, "_inner", executor)
    return [p for p in dict(inner._processes).values() if p.is_alive()]


SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor
import liptest as lt
from liptest.privacy.samples import sampling_run
sampling_run._CHUNK_POINTS["enumerated"] = 64

def chance(data):
    return {first} if data.tolist()[0] else 0.5

def run(executor):
    verdict = lt.check_privacy(
        lt.mechanism(lambda data, rng: int(rng.random() < chance(data))),
        lt.ProductDistribution.uniform(lt.Hypercube(7)), epsilon=1.0, exception_mass=0.05,
        method="light-neighbourhoods", seed=1, executor=executor)
    return str(verdict.decision), str(verdict.witness), verdict.cost.laws

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as early:
        early.submit(abs, 1).result()  # these workers know the first chance only

        def chance(data):
            return {second} if data.tolist()[0] else 0.5

        wanted = run(None)
        assert run(early) == wanted, (run(early), wanted)
    import loky
    pool = loky.get_reusable_executor(2)
    assert run(pool) == wanted
    pool.shutdown()
    print(wanted[0])
"""


@SLOW
@pytest.mark.parametrize(("first", "second", "answer"), [(0.25, 0.001, "NO"), (0.001, 0.25, "YES")])
def test_code_of_a_script_or_notebook_is_never_an_older_one(
    tmp_path: Path, first: float, second: float, answer: str
) -> None:
    """Workers that were forked before a function was written anew get the new one."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(first=first, second=second))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [answer], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fork"])
def test_a_large_distribution_is_sent_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder of its own: other processes leave files of theirs in the common one.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    d = 100_000
    law = lt.ProductDistribution.bernoulli(np.full(d, 0.3) + np.arange(d) * 1e-9)

    def found(executor: Executor | None) -> tuple[Any, ...]:
        verdict = lt.check_privacy(
            lt.ClosedForm([0, 1], first_bit),
            law,
            epsilon=1.0,
            exception_mass=0.5,
            method="edges",
            budget=1000,
            seed=3,
            executor=executor,
        )
        return verdict.decision, verdict.cost.laws, verdict.largest_loss

    with PROCESSES[kind](2) as executor:
        assert found(executor) == found(None)
    assert list(tmp_path.glob("liptest-*")) == []


@SLOW
def test_a_dask_cluster_that_grows_gets_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client, LocalCluster

    monkeypatch.setattr(crews, "_RECOUNT_SECONDS", 0.0)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(silence_logs=50, **options) as cluster, Client(cluster) as client:
        crew = crews.WorkerPool(client.get_executor(pure=False))
        assert crew.workers == 1
        cluster.scale(2)
        client.wait_for_workers(2, timeout=60)
        assert crew.workers == 2
        monkeypatch.setattr(client, "nthreads", lost)
        assert crew.workers == 2


def lost() -> None:
    raise OSError("the scheduler does not answer")


@pytest.mark.slow
def test_what_cannot_be_sent_is_told_before_anything_runs() -> None:
    import threading

    lock = threading.Lock()
    mechanism = lt.mechanism(lambda data, rng: int(lock.locked()))
    with ExitStack() as stack:
        executor = stack.enter_context(RenewedPool(2))
        with pytest.raises(lt.errors.InputError, match="executor: what is tested cannot be sent"):
            facts(mechanism, executor)
