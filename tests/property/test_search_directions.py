"""Searches among very many neighbours: which are looked at, and which datasets are one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.claims import Claim
from liptest.privacy.samples.symmetric_records import SymmetricChanges
from liptest.privacy.searches.search_explorer import Explorer, _first


@given(
    st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 2.0]), min_size=1, max_size=40),
    st.integers(0, 45),
    st.integers(0, 2**32),
)
def test_the_first_ones_are_those_of_a_sort(scores: list[float], most: int, seed: int) -> None:
    array, keys = np.array(scores), np.random.default_rng(seed).random(len(scores))
    wanted = np.lexsort((keys, array))[:most]
    assert np.flatnonzero(_first(array, keys, most)).tolist() == sorted(wanted.tolist())


def by_first_cell(histograms: np.ndarray) -> np.ndarray:
    """Far apart where two thirds of the records are in the first cell."""
    cells = histograms.reshape(len(histograms), -1)
    p = np.where(3 * cells[:, 0] == 2 * cells.sum(axis=1), 0.9, 0.3)
    return np.log(np.stack([p, 1 - p], axis=1))


def explorer(mechanism: Any, law: Any, budget: int = 5000) -> Explorer:
    rng = np.random.default_rng(1)
    return Explorer(mechanism, law.domain, Claim(1.0), budget=budget, rng=rng)


def test_datasets_that_a_statistic_treats_alike_are_one() -> None:
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3] * 1000))
    mechanism = lt.StatisticMechanism(lt.Histogram(3), [0, 1], by_first_cell)
    search = explorer(mechanism, law)
    one = law.sample(np.random.default_rng(2), 1)
    shuffled = one[:, np.random.default_rng(3).permutation(1000)]
    assert search.is_new(np.concatenate([one, shuffled])).tolist() == [True, False]
    first, _, _ = search.neighbourhoods(one)
    assert len(first) == 1
    # Three cells, each to one of two others, and the dataset itself.
    assert (search.total.queries, search.datasets) == (7, 7)
    assert not search.is_new(shuffled).any()


def test_a_search_among_many_records_finds_what_a_statistic_hides() -> None:
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3] * 1200))
    mechanism = lt.StatisticMechanism(lt.Histogram(3), [0, 1], by_first_cell)
    options: dict[str, Any] = {"epsilon": 1, "method": "search", "seed": 1, "budget": 50_000}
    found = lt.check_privacy(mechanism, law, **options)
    assert str(found.decision) == "NO"
    assert found.witness is not None
    assert found.witness.verify(mechanism)
    assert found.cost.laws <= 50_000


@pytest.mark.slow
@pytest.mark.parametrize("budget", [2, 100, 3000, 50_000])
def test_a_search_of_a_million_records_keeps_to_its_budget(budget: int) -> None:
    domain = lt.RecordGrid([16] * 1_000_000)
    mechanism = lt.StatisticMechanism(lt.Histogram(16), [0, 1], by_first_cell)
    search = Explorer(mechanism, domain, Claim(1.0), budget=budget, rng=np.random.default_rng(1))
    points = np.zeros((2, 1_000_000), dtype=domain.dtype)
    points[1, :16] = np.arange(16)
    search.neighbourhoods(points)
    # From one full cell to 15 others; from a dataset with all cells as many as the budget allows.
    assert search.total.queries == (2 if budget == 2 else 2 + 15 + search.directions)
    assert search.directions == {2: 16, 100: 16, 3000: 46, 50_000: 240}[budget]


def test_the_changes_that_stand_for_all_have_a_number() -> None:
    domain = lt.RecordGrid([2, 2, 3])
    changes = SymmetricChanges.of(domain, np.array([0, 0, 1]))
    # Of two values 2 changes, of three 6.
    assert len(changes) == 8
