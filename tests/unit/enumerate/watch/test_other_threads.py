"""Threads, processes and random devices: refused with the line, nothing hangs, no false verdict."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import multiprocessing
import os
import random
import secrets
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import NonDeterministicError
from tests.unit.enumerate.another_thread import another_thread

DATA = np.array([1, 0])
REFUSED = "cannot be followed"


def law(function: Any) -> dict[Any, float]:
    return dict(lt.mechanism(function).law(DATA))


def _child(_: int) -> int:
    return int(secrets.randbelow(100) == 0)


def in_a_pool(data: Any, rng: Any) -> int:
    with ThreadPoolExecutor(1) as pool:
        flip = pool.submit(lambda: np.random.default_rng().random() < 0.01).result()
    return int(data[0]) ^ int(flip)


def in_a_thread(data: Any, rng: Any) -> int:
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(_child(0)))
    thread.start()
    thread.join()
    return seen[0]


def in_a_fork(data: Any, rng: Any) -> int:
    process = os.fork()
    if process == 0:
        os._exit(int(random.SystemRandom().random() < 0.01))
    return os.waitpid(process, 0)[1]


def in_a_forked_pool(data: Any, rng: Any) -> int:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return int(data[0]) ^ pool.map(_child, [0])[0]


def in_a_spawned_process(data: Any, rng: Any) -> int:
    process = multiprocessing.get_context("spawn").Process(target=_child, args=(0,))
    process.start()
    process.join()
    return process.exitcode or 0


def in_an_executor(data: Any, rng: Any) -> int:
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(_child, 0).result()


def in_a_program(data: Any, rng: Any) -> int:
    return subprocess.run([sys.executable, "-c", "pass"], check=True).returncode


def in_a_command(data: Any, rng: Any) -> int:
    return os.system("true")


def in_a_loop_of_events(data: Any, rng: Any) -> int:
    return asyncio.run(asyncio.to_thread(_child, 0))


def although_it_catches_all(data: Any, rng: Any) -> int:
    try:
        return in_a_pool(data, rng)
    except BaseException:
        return 0


@pytest.mark.parametrize(
    "function",
    [
        in_a_pool,
        in_a_thread,
        in_a_forked_pool,
        in_a_spawned_process,
        in_an_executor,
        in_a_program,
        in_a_command,
        in_a_loop_of_events,
        although_it_catches_all,
        pytest.param(in_a_fork, marks=pytest.mark.skipif(os.name != "posix", reason="POSIX")),
    ],
)
def test_what_is_done_elsewhere_is_refused_with_the_line(function: Any) -> None:
    with pytest.raises(NonDeterministicError, match=rf"test_other_threads\.py:\d+.*{REFUSED}"):
        law(function)


def test_work_for_threads_that_exist_already_is_refused() -> None:
    with ThreadPoolExecutor(1) as pool, ThreadPool(1) as other:
        pool.submit(_child, 0).result()
        functions = [
            lambda data, rng: pool.submit(_child, 0).result(),
            lambda data, rng: next(pool.map(_child, [0])),
            lambda data, rng: other.map(_child, [0])[0],
            lambda data, rng: other.apply(_child, (0,)),
        ]
        for function in functions:
            with pytest.raises(NonDeterministicError, match=REFUSED):
                law(function)


def test_other_interpreters_are_refused() -> None:
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    interpreters: Any = importlib.import_module(name)
    held = interpreters.create()
    work = "import random\nassert random.random() < 0.99"
    try:
        for function in (
            lambda data, rng: interpreters.run_string(held, work) is None,
            lambda data, rng: interpreters.run_string(interpreters.create(), work) is None,
        ):
            with pytest.raises(NonDeterministicError, match=rf"another interpreter.*{REFUSED}"):
                law(function)
    finally:
        interpreters.destroy(held)


def test_another_thread_that_draws_meanwhile_ends_the_analysis() -> None:
    with another_thread() as elsewhere:

        def polls(data: Any, rng: Any) -> bool:
            return elsewhere(random.random) < 0.001

        with pytest.raises(NonDeterministicError, match=rf"'worker' drew.*{REFUSED}"):
            law(polls)
        assert isinstance(elsewhere(random.random), float)


def in_module(name: str) -> Any:
    """A function of a module of this name that draws."""
    space = {"__name__": name, "random": random}
    exec("def draw():\n    return random.sample([1, 2], 1)[0]", space)
    return space["draw"]


@pytest.mark.slow
def test_a_cluster_may_draw_for_itself_but_not_for_what_it_runs() -> None:
    with another_thread() as elsewhere:

        def beside(name: str) -> Any:
            # The answer is not used: what the program does with it is not followed.
            draw = in_module(name)
            return lambda data, rng: 0 * int(isinstance(elsewhere(draw), int))

        assert law(beside("dask.sizeof")) == {0: 1.0}
        for name in ("distributed.worker", "dask_of_mine", "tests.some"):
            with pytest.raises(NonDeterministicError, match=rf"'worker' drew.*{REFUSED}"):
                law(beside(name))


@pytest.mark.skipif(not Path("/dev/urandom").exists(), reason="POSIX")
def test_random_devices_are_trapped(tmp_path: Path) -> None:
    link = tmp_path / "numbers"
    link.symlink_to("/dev/urandom")
    with Path("/dev/urandom").open("rb") as held:
        for function in (
            lambda data, rng: Path("/dev/urandom").read_bytes()[:1] and 0,
            lambda data, rng: link.open("rb").read(1)[0] > 300,
            lambda data, rng: os.read(os.open("/dev/random", os.O_RDONLY), 1)[0] > 300,
            lambda data, rng: int(np.fromfile("/dev/urandom", np.uint8, 1)[0]) > 300,
            lambda data, rng: held.read(1)[0] > 300,
        ):
            with pytest.raises(NonDeterministicError, match="a random device"):
                law(function)


def test_threads_and_processes_work_again_afterwards() -> None:
    with pytest.raises(NonDeterministicError):
        law(in_a_pool)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(abs, -1).result() == 1
    assert subprocess.run([sys.executable, "-c", "pass"], check=True).returncode == 0
    assert "start" in vars(threading.Thread)
    assert threading.Thread.start.__module__ == "threading"
