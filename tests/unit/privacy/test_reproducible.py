"""One seed gives one verdict, witness and count, on any number of workers of any kind."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import liptest as lt

UNIFORM = lt.ProductDistribution.uniform(lt.Hypercube(30))
METHODS = ["neighbourhoods", "light-neighbourhoods", "edges", "group", lt.testers.VarianceEdges()]


def by_ones(limit, datasets):
    """A coin, biased when the first bit is 1 and the others have at least ``limit`` ones."""
    ones = datasets[:, 1:].sum(axis=1, dtype=np.int64)
    p = np.where(ones >= limit, 0.5 + 0.4 * datasets[:, 0], 0.5 + 0.005 * ones / 30)
    return np.log(np.stack([p, 1 - p], axis=1))


def rarely(datasets):
    return by_ones(23, datasets)


def never(datasets):
    return by_ones(99, datasets)


def straddling(datasets):
    """A tie at the claim, known to 1e-6 only."""
    p = np.where(datasets[:, 0] == 1, 1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(0.5)))
    return np.log(np.stack([p, 1 - p], axis=1))


MECHANISMS = {
    "NO": lt.ClosedForm([0, 1], rarely),
    "YES": lt.ClosedForm([0, 1], never),
    "INCONCLUSIVE": lt.ClosedForm([0, 1], straddling, error=1e-6),
}


def outcome(mechanism, method, executor=None, **options):
    numbers = {"exception_mass": 0.003, "failure_probability": 1e-6, "seed": 11}
    if not isinstance(method, str) or method == "group":
        numbers |= {"exception_mass": 0.01, "failure_probability": 1e-3}
    verdict = lt.check_privacy(
        mechanism,
        UNIFORM,
        **{"epsilon": 0.5, "method": method, "executor": executor, **numbers, **options},
    )
    kept = verdict.to_dict()
    del kept["cost"]["seconds"]
    return kept


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        yield pool


@pytest.mark.slow
@pytest.mark.parametrize(
    "decision", ["NO", "YES", pytest.param("INCONCLUSIVE", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_workers_change_nothing(method, decision, processes):
    alone = outcome(MECHANISMS[decision], method)
    assert alone["decision"] == decision
    assert alone["seed"] == 11
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as threads:
            assert outcome(MECHANISMS[decision], method, threads) == alone
    assert outcome(MECHANISMS[decision], method, processes) == alone


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_runs_above_have_several_chunks(method):
    seen = []
    outcome(MECHANISMS["YES"], method, progress=lambda *numbers: seen.append(numbers))
    assert len(seen) > 1


def test_another_seed_draws_other_datasets():
    first, second = (outcome(MECHANISMS["NO"], "neighbourhoods", seed=seed) for seed in (1, 2))
    assert first["witness"]["dataset"] != second["witness"]["dataset"]


def test_a_seed_of_the_operating_system_is_recorded_and_repeats_the_run():
    free = outcome(MECHANISMS["NO"], "neighbourhoods", seed=None)
    other = outcome(MECHANISMS["NO"], "neighbourhoods", seed=None)
    assert free["seed"] != other["seed"]
    assert outcome(MECHANISMS["NO"], "neighbourhoods", seed=free["seed"]) == free


@pytest.mark.parametrize("seed", [0, 2**127, np.int64(5)])
def test_any_whole_number_is_a_seed(seed):
    assert outcome(MECHANISMS["YES"], "edges", seed=seed)["seed"] == seed


@pytest.mark.slow
def test_outputs_have_runs_of_their_own():
    """The runs of A_test are independent: one seed per output, not one sample for all."""
    seen = []

    def spy(datasets):
        seen.append(datasets.copy())
        return never(datasets)

    lt.check_privacy(
        lt.ClosedForm([0, 1], spy),
        UNIFORM,
        epsilon=0.5,
        method=lt.testers.VarianceEdges(),
        exception_mass=0.5,
        failure_probability=0.5,
        search_laws=0,
        seed=1,
    )
    # The first law of a run is asked for again, by itself, after the first piece of the run.
    starts = [number - 1 for number, batch in enumerate(seen) if len(batch) == 1]
    assert len(starts) == 2
    assert starts[0] == 0
    runs = [
        np.concatenate([batch for batch in part if len(batch) > 1])
        for part in (seen[: starts[1]], seen[starts[1] :])
    ]
    assert len(runs[0]) == len(runs[1])
    assert not np.array_equal(runs[0], runs[1])
