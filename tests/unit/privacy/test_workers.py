"""Code that ends its process ends a worker, never the process that asks."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import liptest as lt
from liptest.privacy import exact
from liptest.privacy.searches import search
from liptest.runs.workers import elsewhere, has_processes

# A program of its own: the failure looked for would end the one that looks.
PROGRAM = """
import os, signal, sys
from concurrent.futures import ProcessPoolExecutor
import liptest as lt

def at_once(data, rng):
    signal.raise_signal(signal.SIGKILL)

def on_one_dataset(data, rng):
    if data.sum() == 20:
        signal.raise_signal(signal.SIGKILL)
    return int(rng.random() < (0.5 if data[0] else 0.4))

if __name__ == "__main__":
    law = lt.ProductDistribution.uniform(lt.Hypercube(20))
    options = {"epsilon": 1, "exception_mass": 0.1, "method": "neighbourhoods", "seed": 1}
    mechanism = lt.mechanism(globals()[sys.argv[1]])
    with ProcessPoolExecutor(1) as pool:
        try:
            if sys.argv[2] == "check":
                print(lt.check_privacy(mechanism, law, executor=pool, **options).decision)
            else:
                lt.exact_epsilon(mechanism, lt.Hypercube(5), executor=pool)
        except lt.errors.MechanismError as error:
            print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("at_once", "check"),
        pytest.param("at_once", "epsilon", marks=pytest.mark.slow),
        pytest.param("on_one_dataset", "check", marks=pytest.mark.slow),
    ],
)
def test_what_ends_its_process_is_told_of(tmp_path: Path, code: str, question: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py", code, question],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "the code under test ends its worker processes" in done.stdout
    assert done.returncode == 0


def own_process() -> int:
    return os.getpid()


@pytest.mark.slow
def test_a_job_is_done_by_a_worker() -> None:
    with ProcessPoolExecutor(1) as pool:
        assert has_processes(pool)
        assert elsewhere(own_process, pool) != os.getpid()
    with ThreadPoolExecutor(1) as threads:
        assert not has_processes(threads)
        assert elsewhere(own_process, threads) == os.getpid()
    assert elsewhere(own_process, None) == os.getpid()


@lt.mechanism
def coin(data, rng):  # type: ignore[no-untyped-def]
    return int(rng.random() < (0.5 if (data[0] and data[1]) or data[-1] else 0.4))


def checked(executor: ProcessPoolExecutor | None) -> lt.PrivacyVerdict:
    law = lt.ProductDistribution.uniform(lt.Hypercube(20))
    options = {"epsilon": 1.0, "exception_mass": 0.1, "method": "edges", "seed": 2}
    return lt.check_privacy(coin, law, executor=executor, **options)


@pytest.mark.slow
def test_the_search_of_a_worker_is_that_of_one_process() -> None:
    alone = checked(None)
    with ProcessPoolExecutor(2) as pool:
        shared = checked(pool)
    assert str(shared) == str(alone)
    assert shared.cost.search_laws == alone.cost.search_laws > 0
    assert shared.cost.search_datasets == alone.cost.search_datasets


@pytest.mark.slow
def test_an_interrupted_search_of_a_worker_leaves_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def pressed(job: object, executor: object) -> None:
        if isinstance(job, search._SearchTask):
            raise KeyboardInterrupt

    monkeypatch.setattr(search, "elsewhere", pressed)
    with ProcessPoolExecutor(1) as pool:
        verdict = checked(pool)
    assert (str(verdict.decision), verdict.cost.search_laws) == ("YES", 0)


def test_only_code_is_tried_by_a_worker_first(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[object] = []
    monkeypatch.setattr(exact, "elsewhere", lambda job, executor: jobs.append(job))
    formula = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))
    with ProcessPoolExecutor(1) as pool, ThreadPoolExecutor(1) as threads:
        for executor in (None, threads, pool):
            exact.try_in_worker(formula, lt.Hypercube(3), executor)
        assert jobs == []
        for executor in (None, threads):
            exact.try_in_worker(coin, lt.Hypercube(3), executor)
        assert jobs == []
        exact.try_in_worker(coin, lt.Hypercube(3), pool)
    assert len(jobs) == 1
