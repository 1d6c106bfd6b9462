"""Passes over whole domains: walks, marked pairs and workers against plain loops."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.domains import Domain
from liptest.mechanisms.laws import LawTable
from liptest.privacy.proofs import domain_laws
from liptest.privacy.proofs.domain_laws import DistinctLaws, drop_repeated_laws, mark_pairs
from liptest.privacy.proofs.exhaustive import _domain_blocks, neighbour_rows
from liptest.statistics.protocol import Statistic
from liptest.statistics.user_statistic import UserStatistic
from liptest.statistics.value_walks import values_by_block

sizes = st.lists(st.integers(1, 4), min_size=1, max_size=5)
domains = st.one_of(
    st.integers(1, 8).map(lt.Hypercube),
    sizes.map(lt.Hypergrid),
    sizes.map(lt.RecordGrid),
    sizes.map(lambda s: lt.AnswerGrid(s[:3], relation="all")),
)


@pytest.mark.slow
@given(domains, st.integers(1, 5), st.sampled_from([1, 2, 4, 16, 4096]), st.integers(0, 2**32))
def test_marked_pairs_are_those_of_all_neighbours(
    domain: Domain, laws: int, block: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, laws, domain.size).astype(np.int32)
    if seed % 2:
        rows = np.sort(rows)  # many equal blocks
    pairs = neighbour_rows(domain)
    expected = {(int(rows[a]), int(rows[b])) for a, b in pairs}
    before, domain_laws._BLOCK = domain_laws._BLOCK, block
    try:
        left, right, count = mark_pairs(domain, rows, laws)
    finally:
        domain_laws._BLOCK = before
    assert set(zip(left.tolist(), right.tolist(), strict=True)) == expected
    assert (len(left), count) == (len(expected), len(pairs))


def test_blocks_whose_hashes_collide_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain_laws, "hash", lambda block: 0, raising=False)
    which, distinct = domain_laws._distinct_blocks(np.array([[1, 2], [3, 4], [1, 2], [3, 4]]))
    assert distinct[which].tolist() == [[1, 2], [3, 4], [1, 2], [3, 4]]


def statistics(domain: Domain) -> list[Statistic]:
    d = domain.dimension
    found: list[Any] = [
        lt.statistics.WeightedSum(np.arange(d) - 1),
        lt.statistics.OrderStatistic((d + 1) // 2),
        UserStatistic(lambda points: points.max(axis=1), name="largest"),
        lt.statistics.Contributions.each(
            [np.arange(2 * n).reshape(n, 2) % 3 for n in domain.sizes]
        ),
    ]
    return [*found, lt.Count()] if isinstance(domain, lt.Hypercube) else found


@pytest.mark.slow
@given(domains.filter(lambda d: d.one_at_a_time), st.sampled_from([1, 3, 8, 4096]))
def test_a_walk_has_the_values_of_all_points(domain: Domain, block: int) -> None:
    every = domain.points(np.arange(domain.size))
    for statistic in statistics(domain):
        found = [(points.copy(), v) for points, v in values_by_block(statistic, domain, block)]
        assert np.array_equal(np.concatenate([points for points, _ in found]), every)
        values = np.concatenate([v for _, v in found])
        assert np.array_equal(values, statistic.values(every))


@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32), st.booleans())
def test_no_law_is_lost_with_its_repetitions(n: int, k: int, seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    logs = np.log(rng.dirichlet(np.ones(k), 3)[rng.integers(0, 3, n)])
    rows = rng.integers(0, n, 2 * n) if shared else None
    table = LawTable(tuple(range(k)), logs, rows, rng.random(n))
    small = drop_repeated_laws(table)
    places = np.arange(2 * n if shared else n)
    old, new = table.distinct(places), small.distinct(places)
    assert np.array_equal(small.logs[new], table.logs[old])
    assert np.all(small.errors[new] >= table.errors[old])
    assert len(small.logs) == len(np.unique(table.logs, axis=0))
    collections = DistinctLaws(), DistinctLaws()
    assert np.array_equal(
        collections[0].add(table, len(places)), collections[1].add(small, len(places))
    )


def logs_of(values: np.ndarray) -> np.ndarray:
    share = 1.0 / (1.0 + np.exp(-0.3 * (values % 5)))
    return np.log(np.stack([1 - share, share], axis=1))


def log_pmf(points: np.ndarray) -> np.ndarray:
    return logs_of(points.astype(np.int64) @ np.arange(points.shape[1]))


@given(domains.filter(lambda d: d.one_at_a_time))
@settings(max_examples=30)
def test_a_statistic_is_seen_as_the_dataset_is(domain: Domain) -> None:
    """The pairs of laws of a pass over datasets: walked by value, and asked for one by one."""
    weights = np.arange(domain.dimension)
    seen = lt.StatisticMechanism(lt.statistics.WeightedSum(weights), ["no", "yes"], logs_of)
    whole = lt.ClosedForm(["no", "yes"], log_pmf)
    largest = []
    for mechanism in (seen, whole):
        blocks = list(_domain_blocks(mechanism, domain, None))
        assert sum(block.pairs for block in blocks) == domain.neighbouring_pairs
        losses = [block.laws.losses(block.left, block.right) for block in blocks]
        largest.append(max((float(part.max(initial=0.0)) for part in losses), default=0.0))
    assert largest[0] == pytest.approx(largest[1])


@lt.mechanism
def coded(data: Any, rng: Any) -> str:
    return "yes" if rng.random() < (1 + (data * np.arange(len(data))).sum() % 3) / 5 else "no"


class Incremental(lt.ClosedForm):
    """The formula, which adds what a change adds."""

    def neighbour_laws(self, dataset: Any, changes: Any) -> LawTable:
        weights = np.arange(len(dataset))
        own = dataset @ weights
        moved = (changes.values - dataset[changes.coordinates]) * weights[changes.coordinates]
        logs = logs_of(np.append(own, own + moved))
        return LawTable(self.outputs, logs, None, np.full(len(logs), 1e-14))


MECHANISMS = [kind(["no", "yes"], log_pmf) for kind in (lt.ClosedForm, Incremental)]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 2.0])
@pytest.mark.parametrize("mechanism", [*MECHANISMS, coded])
def test_workers_change_nothing(mechanism: Any, epsilon: float) -> None:
    d = 13 if isinstance(mechanism, lt.ClosedForm) else 5
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))

    def check(executor: Any, mechanism: Any = mechanism) -> Any:
        options: dict[str, Any] = {"method": "exhaustive", "seed": 1, "executor": executor}
        found = lt.check_privacy(mechanism, law, epsilon=epsilon, **options)
        costs = found.cost.laws, found.cost.pairs
        return found.decision, found.witness, found.largest_loss, costs

    alone = check(None)
    assert alone[0] == ("NO" if epsilon < 1 else "YES")
    if isinstance(mechanism, Incremental):
        assert alone[0] == check(None, MECHANISMS[0])[0]
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        assert check(threads) == alone
        assert check(processes) == alone
        exact = [lt.exact_epsilon(mechanism, law.domain, executor=one) for one in (None, processes)]
        assert exact[0] == exact[1]


def test_laws_are_asked_for_by_the_workers() -> None:
    class Counting(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *arguments: Any, **options: Any) -> Any:
            self.submitted += 1
            return super().submit(*arguments, **options)

    law = lt.ProductDistribution.uniform(lt.Hypercube(14))
    mechanism = lt.ClosedForm(["no", "yes"], log_pmf)
    with Counting(1) as executor:
        options: dict[str, Any] = {"method": "exhaustive", "executor": executor}
        lt.check_privacy(mechanism, law, epsilon=1, **options)
        assert executor.submitted > 0
