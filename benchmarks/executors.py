"""What workers gain and what they cost: processes, loky and Dask on this machine.

Wall-clock times of the same work in the same run, so that ratios mean something on a machine that
does nothing else. The work waits instead of computing where the executor alone is to be seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from figures import Figure, Row, cpu_seconds, medians, report

import liptest as lt
from liptest.driver import Judgement, QueryBatch, Sampling, run
from liptest.executors import ordered_map
from liptest.points import from_array
from liptest.workers import WorkerPool

WALL = "wall s"
UNIFORM = lt.ProductDistribution.uniform(lt.Hypercube(20))


@dataclass(frozen=True)
class Waits:
    """A chunk that takes so many seconds, whoever runs it."""

    seconds: float

    def __call__(self, number: int) -> int:
        time.sleep(self.seconds)
        return number


def waiting(data: Any, rng: Any) -> int:
    """Two ways to fall out: about 1 ms for one law."""
    time.sleep(0.0005)
    return int(rng.random() < (0.25 if data.tolist()[0] else 0.5))


def computing(data: Any, rng: Any) -> int:
    """As long, but it wants a core of its own."""
    np.linalg.svd(np.outer(data, data) + np.eye(len(data)))
    np.linalg.svd(np.outer(data, data) - np.eye(len(data)))
    return int(rng.random() < (0.25 if data.tolist()[0] else 0.5))


def wall_seconds(task: Callable[[], object]) -> float:
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


@contextmanager
def loky(workers: int) -> Iterator[Executor]:
    from loky.process_executor import ProcessPoolExecutor

    executor = ProcessPoolExecutor(workers)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True)


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    from distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client.get_executor(pure=False)


def speed_up(function: Any, quick: bool) -> Row:
    """A whole verdict on 1 and on 2 processes."""
    laws, answers = set(), set()

    def seconds(executor: Executor | None) -> float:
        def check() -> None:
            mass = 0.5 if quick else 0.05
            options: dict[str, Any] = {"method": "neighbourhoods", "exception_mass": mass}
            mechanism = lt.mechanism(function)
            found = lt.check_privacy(
                mechanism, UNIFORM, epsilon=1, seed=1, executor=executor, **options
            )
            laws.add(found.cost.laws)
            answers.add(str(found))

        return wall_seconds(check)

    with WorkerPool(2) as pool:
        list(ordered_map(Waits(0.0), 4, pool))  # the processes are there
        one_round = lambda: {"one": seconds(None), "two": seconds(pool)}  # noqa: E731
        cost = medians(1 if quick else 3, one_round)
    draws = 20 if quick else 270
    return Row(
        f"{function.__name__}, about 1 ms a dataset: 2 processes",
        counts={"verdicts": len(answers), "laws": max(laws)},
        planned={"verdicts": 1, "laws": 21 * draws},
        figures={
            WALL: Figure(cost["two"]),
            "speed-up": Figure(cost["one"] / cost["two"], at_least=1.8),
        },
    )


def chunks_of_100_ms(quick: bool) -> list[Row]:
    """The same chunks on each executor; the time that nobody can save is known."""
    count, seconds = (4, 0.01) if quick else (60, 0.1)
    least = count * seconds / 2
    cost, results = {}, {}
    for name, make in {"own processes": WorkerPool, "loky": loky, "Dask": dask}.items():
        with make(2) as executor:
            list(ordered_map(Waits(0.0), 8, executor))

            def once(executor: Executor = executor, name: str = name) -> None:
                results[name] = len(list(ordered_map(Waits(seconds), count, executor)))

            cost[name] = medians(1 if quick else 3, lambda: {WALL: wall_seconds(once)})[WALL]
    limits = {"Dask": 1.1}
    return [
        Row(
            f"chunks of {1000 * seconds:.0f} ms on 2 workers: {name}",
            counts={"chunks": results[name]},
            planned={"chunks": count},
            figures={
                WALL: Figure(cost[name]),
                "of the least possible": Figure(cost[name] / least),
                "of loky": Figure(cost[name] / cost["loky"], at_most=limits.get(name)),
            },
        )
        for name in cost
    ]


class Burns:
    """A judge that burns 1 us of CPU a point, and knows how much it burnt."""

    burnt = 0.0

    def judge(self, batch: QueryBatch) -> Judgement:
        started = time.process_time()
        points = len(batch.points)
        while time.process_time() - started < 1e-6 * points:
            pass
        self.burnt += time.process_time() - started
        return Judgement(draws=points, queries=points, answered=True)


class Drawn:
    """Draws, and knows how long that took: drawing is the distribution's, not the driver's."""

    taken = 0.0

    def __call__(self, rng: np.random.Generator, count: int) -> QueryBatch:
        started = time.process_time()
        batch = QueryBatch(from_array(UNIFORM.sample(rng, count)))
        self.taken += time.process_time() - started
        return batch


def driver_overhead(quick: bool) -> Row:
    """The loop alone: seeds, chunks, sums."""
    judge, draw = Burns(), Drawn()
    draws = 1000 if quick else 2_000_000
    sampling = Sampling(draw, judge, draws, 1, 20, seed=1)
    found: list[int] = []
    whole = cpu_seconds(lambda: found.append(run(sampling).total.draws))
    return Row(
        "driver, a mechanism of 1 us a dataset, one process",
        counts={"draws": found[0]},
        planned={"draws": draws},
        figures={
            "CPU s": Figure(whole),
            "driver / mechanism": Figure(
                (whole - judge.burnt - draw.taken) / judge.burnt, at_most=0.05
            ),
            "drawing / mechanism": Figure(draw.taken / judge.burnt),
        },
    )


def measure(quick: bool) -> list[Row]:
    waits, works = speed_up(waiting, quick), speed_up(computing, quick)
    return [waits, works, *chunks_of_100_ms(quick), driver_overhead(quick)]


if __name__ == "__main__":
    report("Executors: what workers gain and cost", measure)
