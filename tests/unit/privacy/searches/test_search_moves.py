"""Paths of a search go from neighbour to neighbour, in domains of other people too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import Domain
from liptest.privacy.searches.search_explorer import find_path


class Ring(Domain):
    """One value on a circle of n."""

    neighbour_words = "moving by one"
    relation = "move by one"

    @property
    def diameter(self) -> int:
        return self.sizes[0] // 2

    def value_pairs(self, coordinate: int) -> Any:
        n = self.sizes[0]
        return np.array([(i, i + 1) for i in range(n - 1)] + [(0, n - 1)])

    def other_values(self, coordinate: int, value: int) -> Any:
        return np.sort(np.array([value - 1, value + 1]) % self.sizes[0])

    def neighbour_changes(self, points: Any) -> Any:
        rows = np.repeat(np.arange(len(points)), 2)
        near = (points[:, 0].astype(np.int64)[:, None] + [-1, 1]) % self.sizes[0]
        return rows, np.zeros(len(rows), dtype=np.int64), near.ravel()

    def _coordinate_distance(self, left: Any, right: Any) -> Any:
        around = np.abs(left - right)
        return np.minimum(around, self.sizes[0] - around)


DOMAINS = [Ring((24,)), Ring((7,)), lt.Hypercube(5), lt.Hypergrid([5, 4]), lt.RecordGrid([5, 4])]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_step_is_one_of_neighbours_and_none_is_wasted(domain: Domain) -> None:
    rng = np.random.default_rng(0)
    for start, end in rng.integers(0, domain.size, (60, 2)):
        first, last = domain.points([start, end])
        found = find_path(domain, first, last, rng)
        assert np.array_equal(found[[0, -1]], [first, last])
        assert len(found) - 1 == domain.distance(first, last)[0]
        assert np.all(domain.distance(found[:-1], found[1:]) == 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_a_search_in_another_domain_refutes_nothing_that_is_private(seed: int) -> None:
    def log_pmf(data: Any) -> Any:
        around = np.abs(data - np.arange(24))
        logs = -np.minimum(around, 24 - around) / 2.0
        return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))

    law = lt.ProductDistribution.uniform(Ring((24,)))
    noisy = lt.ClosedForm(range(24), log_pmf)
    verdict = lt.check_privacy(
        noisy, law, epsilon=0.5, method="neighbourhoods", exception_mass=0.01, seed=seed
    )
    assert verdict.decision == "YES"
    refuted = lt.check_privacy(noisy, law, epsilon=0.4, method="search", seed=seed)
    assert refuted.decision == "NO"
