"""What each sampling method compares: every neighbouring pair, once, where it should."""

from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.methods import (
    edge_pairs,
    find_uncovered_records,
    full_neighbourhoods,
    light_neighbourhoods,
    mean_neighbours,
)
from tests.unit.privacy.cases import all_datasets, neighbouring

LAWS = {
    "cube": lt.ProductDistribution.bernoulli([0.3, 0.5, 0.9, 0.0, 1.0]),
    "cube of one record": lt.ProductDistribution.bernoulli([0.5]),
    "uniform cube": lt.ProductDistribution.uniform(lt.Hypercube(4)),
    "grid": lt.ProductDistribution(
        lt.Hypergrid([3, 1, 4]), [[0.2, 0.5, 0.3], [1.0], [0.0, 0.5, 0.5, 0.0]]
    ),
    "uniform grid": lt.ProductDistribution.uniform(lt.Hypergrid([3, 3])),
    "records": lt.ProductDistribution(
        lt.RecordGrid([3, 1, 4]), [[0.2, 0.2, 0.6], [1.0], [0.0, 0.7, 0.3, 0.0]]
    ),
    "uniform records": lt.ProductDistribution.uniform(lt.RecordGrid([3, 3])),
    "certain records": lt.ProductDistribution(lt.RecordGrid([2, 3]), [[0, 1], [0, 0, 1]]),
}
CASES = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


class Everything:
    """Stands in for a product law; its sample is every dataset once."""

    def __init__(self, law):
        self.domain = law.domain
        self.marginals = law.marginals
        if isinstance(law.domain, lt.Hypercube):
            self.probabilities = law.probabilities

    def sample(self, rng, count):
        return np.array(all_datasets(self.domain), dtype=self.domain.dtype)


def compared(batch, domain):
    """How often each pair of indices (centre, neighbour) is compared."""
    left, right = batch.pair_positions()
    index = domain.index(batch.points.array())
    return Counter(zip(index[left].tolist(), index[right].tolist(), strict=True))


@CASES
def test_full_neighbourhoods_visit_every_neighbour_of_every_dataset_once(law):
    batch = full_neighbourhoods(Everything(law), None, 0)
    both = chain.from_iterable(((i, j), (j, i)) for i, j in neighbouring(law.domain))
    assert compared(batch, law.domain) == Counter(both)


@CASES
def test_light_neighbourhoods_give_each_pair_to_exactly_one_end(law):
    found = compared(light_neighbourhoods(Everything(law), None, 0), law.domain)
    assert set(found.values()) <= {1}
    assert sorted((min(pair), max(pair)) for pair in found) == neighbouring(law.domain)


@CASES
def test_light_neighbourhoods_give_each_pair_to_its_lighter_end(law):
    points = all_datasets(law.domain)
    masses = [law.exact_mass(point) for point in points]
    for i, j in compared(light_neighbourhoods(Everything(law), None, 0), law.domain):
        assert masses[i] <= masses[j]


@CASES
def test_edges_are_drawn_with_the_smaller_mass(law):
    masses = [law.exact_mass(point) for point in all_datasets(law.domain)]
    possible = {pair for pair in neighbouring(law.domain) if min(masses[i] for i in pair) > 0}
    if law is LAWS["certain records"]:
        assert not possible
        return
    found = compared(edge_pairs(law, np.random.default_rng(1), 4000), law.domain)
    found = {(min(pair), max(pair)) for pair in found}
    assert found <= possible
    # A pair of positive mass has at least 2 % of all min-masses here.
    assert found == possible


@CASES
def test_the_mean_number_of_neighbours(law):
    points = all_datasets(law.domain)
    index = {point: i for i, point in enumerate(points)}
    degree = Counter(chain.from_iterable(neighbouring(law.domain)))
    expected = sum(law.exact_mass(point) * degree[index[point]] for point in points)
    assert mean_neighbours(law) == pytest.approx(float(expected), rel=1e-12)


def lightest_hiding_place(law, record):
    """Least mass of values of a record that meet all its pairs of values, over all subsets."""
    mass, pairs = law.exact_marginal(record), law.domain.value_pairs(record).tolist()
    values = range(len(mass))
    subsets = chain.from_iterable(combinations(values, k) for k in range(len(mass) + 1))
    return min(
        sum((mass[v] for v in chosen), 0)
        for chosen in subsets
        if all(a in chosen or b in chosen for a, b in pairs)
    )


@CASES
def test_records_are_not_covered_when_their_pairs_can_hide(law):
    for mass in (0.01, 0.1, 0.25, 0.45):
        expected = [r for r in range(law.domain.dimension) if lightest_hiding_place(law, r) <= mass]
        assert list(find_uncovered_records(law, mass)) == expected
