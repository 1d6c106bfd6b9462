"""The local filter: Lipschitz for every function, the identity on Lipschitz ones."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import BudgetError, DatasetError, FunctionError, InputError
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.lipschitz.local_filter import LocalFilter, reference_chains

DOMAINS = [
    Hypercube(1),
    Hypercube(3),
    Hypergrid([7]),
    Hypergrid([4, 3]),
    RecordGrid([3, 3]),
    RecordGrid([5]),
    Hypergrid([3, 2, 3]),
]


def random_law(domain: Domain, rng: np.random.Generator) -> ProductDistribution:
    weights = [rng.random(n) * (rng.random(n) < 0.8) + 1e-3 * np.eye(n)[0] for n in domain.sizes]
    return ProductDistribution(domain, [w / w.sum() for w in weights])


def filtered_table(made: LocalFilter) -> np.ndarray:
    points = made.domain.points(np.arange(made.domain.size))
    values = np.empty(made.domain.size, dtype=object)
    values[:] = [made.exact(point) for point in points]
    return values.reshape(made.domain.sizes)


def is_lipschitz(table: np.ndarray, domain: Domain) -> bool:
    found = distance_to_lipschitz(table, ProductDistribution.uniform(domain))
    return found.violated_pairs == 0


def by_definition(function: np.ndarray, law: ProductDistribution) -> np.ndarray:
    """Theory 3.13 word for word: clip by ALL other points of N(x)."""
    domain = law.domain
    chains = [
        reference_chains(law.marginal(r), ordered=isinstance(domain, Hypergrid))
        for r in range(domain.dimension)
    ]
    known: dict[tuple[int, ...], Fraction] = {}

    def value(x: tuple[int, ...]) -> Fraction:
        if x not in known:
            box = itertools.product(*(chain[i] for chain, i in zip(chains, x, strict=True)))
            others = [(z, int(domain.distance([z], [x])[0])) for z in box if z != x]
            raw = Fraction(function[x])
            floor = max((value(z) - d for z, d in others), default=raw)
            ceiling = min((value(z) + d for z, d in others), default=raw)
            known[x] = min(max(raw, floor), ceiling)
        return known[x]

    table = np.empty(domain.sizes, dtype=object)
    for x in np.ndindex(*domain.sizes):
        table[x] = value(x)
    return table


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_always_lipschitz_and_as_defined(domain: Domain) -> None:
    rng = np.random.default_rng(5)
    for number in range(20):
        law = random_law(domain, rng)
        function = rng.random(domain.sizes) * 6 if number % 2 else rng.integers(0, 7, domain.sizes)
        function = function.astype(np.float64)
        made = LocalFilter(function, law)
        table = filtered_table(made)
        assert is_lipschitz(table, domain)
        assert (table == by_definition(function, law)).all()
        assert made.queries == domain.size


@pytest.mark.slow
@pytest.mark.parametrize("domain", [Hypercube(2), Hypergrid([4]), RecordGrid([4])], ids=repr)
def test_every_small_function(domain: Domain) -> None:
    law = random_law(domain, np.random.default_rng(6))
    for values in itertools.product([0.0, 1.0, 2.0, 4.0], repeat=4):
        function = np.array(values).reshape(domain.sizes)
        table = filtered_table(LocalFilter(function, law))
        assert is_lipschitz(table, domain)
        assert (table == function).all() == is_lipschitz(function, domain)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_lipschitz_functions_pass_unchanged(domain: Domain) -> None:
    rng = np.random.default_rng(7)
    law = random_law(domain, rng)
    function = filtered_table(LocalFilter(rng.integers(0, 9, domain.sizes) * 1.0, law))
    assert is_lipschitz(function, domain)
    other = random_law(domain, rng)
    assert (filtered_table(LocalFilter(function, other)) == function).all()


def test_value_does_not_depend_on_what_was_asked_before() -> None:
    law = random_law(Hypercube(4), np.random.default_rng(1))
    function = np.random.default_rng(2).random((2, 2, 2, 2)) * 9
    forward, backward = LocalFilter(function, law), LocalFilter(function, law)
    points = law.domain.points(np.arange(16))
    assert forward(points).tolist() == backward(points[::-1])[::-1].tolist()


def test_queries_are_counted_once() -> None:
    law = ProductDistribution.bernoulli([0.1, 0.2, 0.9])
    made = LocalFilter(np.zeros((2, 2, 2)), law)
    assert made.references([0, 0, 1]) == 1
    made.exact([0, 0, 1])
    assert made.queries == 1
    assert made.references([1, 0, 0]) == 4
    made.exact([1, 0, 0])
    assert made.queries == 4
    made.exact([1, 0, 1])
    assert made.queries == 4


def test_expected_references_are_the_product_of_depths() -> None:
    law = ProductDistribution(Hypergrid([5, 3]), [[0.1, 0.4, 0.2, 0.2, 0.1], [0.5, 0.3, 0.2]])
    made = LocalFilter(np.zeros((5, 3)), law)
    points = law.domain.points(np.arange(15))
    mean = sum(law.exact_mass(p) * made.references(p) for p in points)
    depths = [
        sum(
            mass * len(chain)
            for mass, chain in zip(
                law.exact_marginal(r), reference_chains(law.marginal(r), ordered=True), strict=True
            )
        )
        for r in range(2)
    ]
    assert mean == math.prod(depths)


def test_ordered_chains_are_a_search_tree() -> None:
    rng = np.random.default_rng(4)
    for mass in (rng.random(9), np.zeros(8), np.eye(7)[6], np.full(1, 1.0)):
        chains = reference_chains(mass, ordered=True)
        for low, high in itertools.combinations(range(len(mass)), 2):
            common = [a for a in chains[low] if a in chains[high]]
            assert low <= common[-1] <= high
        assert all(chain[-1] == value for value, chain in enumerate(chains))
    assert max(map(len, reference_chains(np.eye(500)[3], ordered=True))) <= 11


def test_typical_values_have_short_chains() -> None:
    mass = np.array([0.1, 0.7, 0.2])
    assert reference_chains(mass, ordered=False) == [[1, 2, 0], [1], [1, 2]]
    assert reference_chains(mass, ordered=True)[1] == [1]


def test_constant_scales_the_slope() -> None:
    law = ProductDistribution.bernoulli([0.2])
    made = LocalFilter(np.array([0.0, 9.0]), law, lipschitz_constant=0.1)
    assert made.exact([1]) == Fraction(0.1)
    assert made([[0], [1]]).tolist() == [0.0, 0.1]


def test_large_domains_cost_only_the_neighbourhood() -> None:
    law = ProductDistribution.bernoulli(np.full(5000, 0.01))
    made = LocalFilter(lambda x: 10.0 * x.sum(axis=1), law)
    point = np.zeros(5000, dtype=np.int8)
    point[[7, 4000, 4999]] = 1
    assert made.exact(point) == 3
    assert made.queries == 8


def test_too_many_references_are_refused_without_the_data() -> None:
    made = LocalFilter(
        np.zeros((2,) * 4), ProductDistribution.bernoulli([0.1] * 4), max_references=8
    )
    assert made.exact([1, 1, 1, 0]) == 0
    with pytest.raises(BudgetError, match="16 values") as caught:
        made.exact([1, 1, 1, 1])
    assert (caught.value.needed, caught.value.budget) == (16, 8)
    assert "[1" not in str(caught.value)


def test_bad_input() -> None:
    law = ProductDistribution.bernoulli([0.1])
    with pytest.raises(DatasetError):
        LocalFilter(np.zeros(2), law).exact([2])
    with pytest.raises(FunctionError, match="nan"):
        LocalFilter(lambda x: np.full(len(x), np.nan), law).exact([1])
    with pytest.raises(InputError, match="lipschitz_constant"):
        LocalFilter(np.zeros(2), law, lipschitz_constant=0.0)
    with pytest.raises(InputError, match="ProductDistribution"):
        LocalFilter(np.zeros(2), SampledDistribution(Hypercube(1), lambda n, rng: [[0]] * n))
