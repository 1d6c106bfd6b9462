"""What workers gain and what they cost: processes, loky and Dask on this machine.

Wall-clock times of the same work in the same run, so that ratios mean something on a machine that
does nothing else. The work waits instead of computing where the executor alone is to be seen.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from figures import Figure, Place, Row, cpu_seconds, medians, report

import liptest as lt
from liptest.cli.workers import RenewedPool
from liptest.data.points import from_array
from liptest.enumerate.trees.enumeration import Enumeration
from liptest.runs.driver import Judgement, QueryBatch, Sampling, run
from liptest.runs.workers import map_in_order

WALL = "wall s"
#: Bits of a dataset: of 20 hardly any dataset comes again, of 12 most do.
BITS, REPEATING_BITS = 20, 12
#: Exception masses: of jobs of some ten seconds, of a job of about a minute.
SHORT, LONG = 0.05, 0.0065


@dataclass(frozen=True)
class Waits:
    """A chunk that takes so many seconds, whoever runs it."""

    seconds: float

    def __call__(self, number: int) -> int:
        time.sleep(self.seconds)
        return number


def waiting(data: Any, rng: Any) -> int:
    """Two ways to fall out, each run and repeated: about 1 ms for one law."""
    time.sleep(0.0001)
    return int(rng.random() < (0.25 if data.tolist()[0] else 0.5))


def computing(data: Any, rng: Any) -> int:
    """As long, but it wants a core of its own."""
    np.linalg.svd(np.outer(data, data) + np.eye(len(data)))
    np.linalg.svd(np.outer(data, data) - np.eye(len(data)))
    return int(rng.random() < (0.25 if data.tolist()[0] else 0.5))


def whole(data: Any, rng: Any) -> int:
    """Reads all records, in a few microseconds: what is walked is what it costs."""
    return int(rng.random() < (0.25 if sum(data.tolist()) % 3 else 0.5))


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


@dataclass(frozen=True)
class Check:
    """A test by draws; ``searched`` adds the search after a YES, which this process does alone.

    Of jobs of seconds a good part is what each worker repeats of its first laws: only a long one
    has a limit.
    """

    function: Any
    mass: float
    searched: bool
    bits: int = BITS

    @property
    def draws(self) -> int:
        return math.ceil(math.log(1e-6) / math.log1p(-self.mass))

    def run(self, executor: Executor | None, seed: int) -> lt.PrivacyVerdict:
        # Another seed in each round: workers keep the laws that they know.
        return lt.check_privacy(
            lt.mechanism(self.function),
            lt.ProductDistribution.uniform(lt.Hypercube(self.bits)),
            epsilon=1,
            exception_mass=self.mass,
            method="neighbourhoods",
            search_laws=None if self.searched else 0,
            seed=seed,
            executor=executor,
        )


def speed_ups(check: Check, sizes: tuple[int, ...], rounds: int) -> list[Row]:
    """The same verdicts on one process and on more."""
    verdicts: dict[int, set[str]] = {}
    laws: set[int] = set()
    seeds = iter(range(rounds))

    def seconds(executor: Executor | None, seed: int) -> float:
        found: list[lt.PrivacyVerdict] = []
        cost = wall_seconds(lambda: found.append(check.run(executor, seed)))
        verdicts.setdefault(seed, set()).add(str(found[0]))
        laws.add(found[0].cost.laws)
        return cost

    replace(check, mass=0.9).run(None, rounds)  # its modules are loaded, as the command line's are
    with ExitStack() as stack:
        pools = {1: None, **{size: stack.enter_context(RenewedPool(size)) for size in sizes}}
        for executor in filter(None, pools.values()):
            list(map_in_order(Waits(0.0), 8, executor))  # the processes are there

        def one_round() -> dict[int, float]:
            seed = next(seeds)
            return {size: seconds(executor, seed) for size, executor in pools.items()}

        cost = medians(rounds, one_round)
    kind = ", with search" if check.searched else ", a minute" if check.mass == LONG else ""
    name = f"{check.function.__name__}{kind}"
    counts = {"verdicts": max(map(len, verdicts.values())), "laws": max(laws)}
    planned = {"verdicts": 1, "laws": (check.bits + 1) * check.draws}
    return [
        Row(
            f"{name}: {size} process{'es' * (size > 1)}",
            counts,
            planned,
            {
                WALL: Figure(cost[size]),
                "ms a law": Figure(1e3 * cost[size] / max(laws)),
                "speed-up": Figure(
                    cost[1] / cost[size],
                    at_least=1.8 if size == 2 and check.mass == LONG else None,
                ),
            },
            Place("workers", size, name),
        )
        for size in pools
    ]


def best_of_short_runs(check: Check, rounds: int) -> Row:
    """The same short checks on one process and on two, in turns; the fastest of each.

    Others on the machine make runs slower and none faster, so the fastest ones are nearest to
    what two idle cores give.
    """
    least, laws = {1: math.inf, 2: math.inf}, set()
    replace(check, mass=0.9).run(None, rounds)
    with RenewedPool(2) as pool:
        list(map_in_order(Waits(0.0), 8, pool))
        for seed in range(rounds):
            for size, executor in ((1, None), (2, pool)):
                started = time.perf_counter()
                laws.add(check.run(executor, seed).cost.laws)
                least[size] = min(least[size], time.perf_counter() - started)
    return Row(
        f"{check.function.__name__}: 2 processes, the fastest of {rounds} short runs each",
        {"laws": max(laws)},
        {"laws": (check.bits + 1) * check.draws},
        {
            WALL: Figure(least[2]),
            "of one process": Figure(least[1]),
            "speed-up": Figure(least[1] / least[2]),
        },
    )


def all_cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def cpu_of_two(check: Check, rounds: int) -> Row:
    """What two processes use beside one: their speed-up on idle cores is 2 divided by that."""
    seeds = iter(range(100, 100 + rounds))
    laws: set[int] = set()

    def used(make: Callable[[], AbstractContextManager[Executor | None]], seed: int) -> float:
        begun = all_cpu_seconds()
        with make() as executor:
            laws.add(check.run(executor, seed).cost.laws)
        return all_cpu_seconds() - begun

    def one_round() -> dict[str, float]:
        seed = next(seeds)
        return {"one": used(nullcontext, seed), "two": used(lambda: RenewedPool(2), seed)}

    cost = medians(rounds, one_round)
    ratio = cost["two"] / cost["one"]
    return Row(
        f"{check.function.__name__}, {check.bits} bits: CPU of 2 processes",
        {"laws": max(laws)},
        {"laws": (check.bits + 1) * check.draws},
        {
            "CPU s": Figure(cost["two"]),
            "of one process": Figure(ratio, at_most=2 / 1.8),
            "speed-up when idle": Figure(2 / ratio),
        },
    )


@contextmanager
def walks_counted() -> Iterator[Any]:
    """Counts the laws that are walked in this process and in those forked from it."""
    count, before = multiprocessing.Value("q", 0), Enumeration.recorded

    def counted(self: Enumeration, *arguments: Any) -> Any:
        found = before(self, *arguments)
        with count.get_lock():
            count.value += 1
        return found

    Enumeration.recorded = counted  # type: ignore[method-assign]
    try:
        yield count
    finally:
        Enumeration.recorded = before  # type: ignore[method-assign]


def walks_of_workers(check: Check) -> list[Row]:
    """How many laws are walked by how many workers, where most datasets come again."""
    walked: dict[int, int] = {}
    laws: set[int] = set()
    sizes = (1, 2, 4)
    for size in sizes:
        with walks_counted() as count, nullcontext() if size == 1 else RenewedPool(size) as pool:
            laws.add(check.run(pool, 7).cost.laws)
        walked[size] = count.value
    name = f"{check.function.__name__}, {check.bits} bits: laws walked by"
    return [
        Row(
            f"{name} {size} process{'es' * (size > 1)}",
            {"laws": max(laws)},
            {"laws": (check.bits + 1) * check.draws},
            {
                "walked": Figure(walked[size]),
                "of one process": Figure(walked[size] / walked[1], at_most=1.05),
            },
        )
        for size in sizes
    ]


def chunks_of_100_ms(quick: bool) -> list[Row]:
    """The same chunks on each executor; the time that nobody can save is known."""
    count, seconds = (4, 0.01) if quick else (60, 0.1)
    least = count * seconds / 2
    cost, results = {}, {}
    for name, make in {"own processes": RenewedPool, "loky": loky, "Dask": dask}.items():
        with make(2) as executor:
            list(map_in_order(Waits(0.0), 8, executor))

            def once(executor: Executor = executor, name: str = name) -> None:
                results[name] = len(list(map_in_order(Waits(seconds), count, executor)))

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
    law = lt.ProductDistribution.uniform(lt.Hypercube(BITS))

    def __call__(self, rng: np.random.Generator, count: int) -> QueryBatch:
        started = time.process_time()
        batch = QueryBatch(from_array(self.law.sample(rng, count)))
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
    mass, rounds = (0.5, 1) if quick else (SHORT, 3)
    rows = [
        *speed_ups(Check(waiting, mass, False), (2, 4), rounds),
        *speed_ups(Check(computing, mass, False), (2,), rounds),
        *speed_ups(Check(waiting, mass, True), (2,), rounds),
        *([] if quick else speed_ups(Check(computing, LONG, False), (2,), 1)),
        best_of_short_runs(Check(computing, mass if quick else 0.2, False), 1 if quick else 20),
        cpu_of_two(Check(computing, mass, False), rounds),
        cpu_of_two(Check(whole, mass / 2, False, REPEATING_BITS), rounds),
        *walks_of_workers(Check(whole, mass / 2, False, REPEATING_BITS)),
    ]
    return [*rows, *chunks_of_100_ms(quick), driver_overhead(quick)]


if __name__ == "__main__":
    report("Executors: what workers gain and cost", measure)
