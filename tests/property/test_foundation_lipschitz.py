"""``check_lipschitz`` is one-sided and exact on ties, whatever the function, law, seed, workers."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.lipschitz.verdicts import LipschitzVerdict
from liptest.verdicts import Decision

NUMBERS = {"proximity": 0.3, "failure_probability": 0.1}


@st.composite
def laws(draw: st.DrawFn) -> lt.ProductDistribution:
    kind = draw(st.sampled_from(["cube", "grid", "records"]))
    sizes = [2] * 3 if kind == "cube" else draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    domain: Domain = {"cube": Hypercube(3), "grid": Hypergrid(sizes), "records": RecordGrid(sizes)}[
        kind
    ]
    weights = [draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)) for n in sizes]
    marginals = [
        [w / sum(law) for w in law] if sum(law) else [1.0 / len(law)] * len(law) for law in weights
    ]
    return lt.ProductDistribution(domain, marginals)


def envelope(table: np.ndarray, domain: Domain, slope: int) -> np.ndarray:
    """The largest function below the table that is slope-Lipschitz, in whole numbers."""
    points = domain.points(np.arange(domain.size))
    distances = domain.distances(points, points).astype(np.int64)
    return np.asarray((table.reshape(-1)[None, :] + slope * distances).min(axis=1))


tables = st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).integers(0, 9, 64))
seeds = st.integers(0, 2**64 - 1)


@pytest.mark.slow
@given(laws(), tables, seeds, st.sampled_from([1.0, 0.1, 1 / 3, 1e-200, 1e200]))
def test_lipschitz_functions_on_float_ties_are_accepted(
    law: lt.ProductDistribution, table: np.ndarray, seed: int, constant: float
) -> None:
    heights = envelope(table[: law.domain.size], law.domain, slope=1)
    values = (heights * constant).reshape(law.domain.sizes)
    verdict = lt.check_lipschitz(values, law, seed=seed, lipschitz_constant=constant, **NUMBERS)
    assert verdict.decision == "ACCEPT"
    assert verdict.witness is None
    assert verdict.largest_ratio <= constant * (1 + 1e-12)


@pytest.mark.slow
@given(laws(), tables, seeds, st.sampled_from([2.0**-40, 1.0, 2.0**40]))
def test_without_tolerance_a_verdict_is_exact(
    law: lt.ProductDistribution, table: np.ndarray, seed: int, unit: float
) -> None:
    """Whole multiples of a power of 2 have exact differences: rejected only if really violated."""
    domain = law.domain
    steep = envelope(table[: domain.size], domain, slope=2)
    values = (steep * unit).reshape(domain.sizes)
    verdict = lt.check_lipschitz(
        values, law, seed=seed, lipschitz_constant=unit, tolerance=0.0, **NUMBERS
    )
    if verdict.decision == "ACCEPT":
        assert verdict.witness is None
        return
    witness = verdict.witness
    assert witness is not None
    assert witness.verify(values, domain)
    assert domain.distance(witness.point, witness.neighbour).tolist() == [1]
    gap = abs(Fraction(witness.value) - Fraction(witness.neighbour_value))
    assert gap == 2 * Fraction(unit)
    assert not witness.verify(values / 2, domain)


@pytest.mark.slow
@given(laws(), tables, seeds)
def test_a_verdict_survives_json(law: lt.ProductDistribution, table: np.ndarray, seed: int) -> None:
    values = table[: law.domain.size].reshape(law.domain.sizes)
    verdict = lt.check_lipschitz(values, law, seed=seed, **NUMBERS)
    assert LipschitzVerdict.from_json(verdict.to_json()) == verdict


def cliff(points: np.ndarray) -> np.ndarray:
    """Violated at one point of the cube of 10 bits only."""
    return np.where(points.all(axis=1), 20.0, 0.5 * points[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_verdicts_do_not_depend_on_workers(pool: type[Executor], workers: int) -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(10))
    numbers: dict[str, Any] = {"proximity": 2e-4, "failure_probability": 0.5}
    decisions = set()
    with pool(workers) as executor:  # type: ignore[call-arg]
        for function, seed in ((cliff, 1), (cliff, 2), (np.zeros((2,) * 10), 3)):
            alone = lt.check_lipschitz(function, law, seed=seed, **numbers)
            pooled = lt.check_lipschitz(function, law, seed=seed, executor=executor, **numbers)
            for verdict in (alone, pooled):
                assert verdict.cost.seconds > 0
            first, second = ({**v.to_dict(), "cost": 0} for v in (alone, pooled))
            assert first == second
            counts = [
                (v.cost.queries, v.cost.draws, v.cost.pairs, v.cost.repeats)
                for v in (alone, pooled)
            ]
            assert counts[0] == counts[1]
            decisions.add(alone.decision)
    assert decisions == {Decision.ACCEPT, Decision.REJECT}


def test_ctrl_c_after_a_violation_still_rejects() -> None:
    def interrupt(done: int, planned: int) -> None:
        raise KeyboardInterrupt

    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    verdict = lt.check_lipschitz(
        lambda points: 3.0 * points[:, 0], law, seed=1, progress=interrupt, **NUMBERS
    )
    assert verdict.decision == "REJECT"
    assert verdict.witness is not None


@pytest.mark.filterwarnings("error")
def test_gaps_beyond_the_largest_float_are_rejected_quietly() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    function = lambda points: np.where(points[:, 0] == 1, 1.7e308, -1.7e308)  # noqa: E731
    verdict = lt.check_lipschitz(function, law, seed=1, **NUMBERS)
    assert verdict.decision == "REJECT"
    assert verdict.largest_ratio == float("inf")
    assert verdict.witness is not None
    assert verdict.witness.verify(function, law.domain)
    assert LipschitzVerdict.from_json(verdict.to_json()) == verdict


def test_a_function_that_overwrites_its_points_gets_a_true_witness() -> None:
    def greedy(points: np.ndarray) -> np.ndarray:
        values = 5.0 * points[:, 0]
        points[:] = 0
        return values

    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    for seed in range(5):
        witness = lt.check_lipschitz(greedy, law, seed=seed, **NUMBERS).witness
        assert witness is not None
        assert witness.verify(greedy, law.domain)


def test_counts_above_the_exact_floats_are_an_error_not_a_rejection() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(20))
    with pytest.raises(lt.errors.FunctionError, match="below 2"):
        lt.check_lipschitz(lambda points: points.sum(axis=1) + 2**53, law, seed=1, **NUMBERS)


@pytest.mark.parametrize(("proximity", "promised"), [(0.01, False), (0.003, True)])
def test_an_interrupted_run_promises_something_or_nothing(proximity: float, promised: bool) -> None:
    def interrupt(done: int, planned: int) -> None:
        raise KeyboardInterrupt

    # Chunks of 4,194 draws for d = 1000, of 32,768 for d = 100; 4 Q = d.
    law = lt.ProductDistribution.uniform(lt.Hypercube(100 if promised else 1000))
    guarantee = lt.check_lipschitz(
        lambda points: 0.0 * points[:, 0],
        law,
        proximity=proximity,
        failure_probability=1e-9,
        seed=1,
        progress=interrupt,
    ).guarantee
    assert guarantee.kind == "none"
    if not promised:
        assert "nothing is promised" in guarantee.sentence
        assert guarantee.exception_mass is None
        return
    mass = guarantee.exception_mass
    assert mass is not None
    printed = float(guarantee.sentence.split("<= ")[1].split(",")[0])
    assert mass <= printed <= mass * 1.001
