"""Hypothesis strategies: domains, distributions, datasets and mechanisms with known exact laws.

For property tests of code that takes these, and of your own gates and adapters::

    from hypothesis import given, strategies as st
    from liptest.testing.strategies import domains, mechanisms, neighbouring_pairs

    @given(st.data())
    def test_mine(data):
        domain = data.draw(domains())
        mechanism = data.draw(mechanisms(domain))
        x, y = data.draw(neighbouring_pairs(domain))
        ...

All mechanisms have few outputs and small domains, so that ``method="exhaustive"`` decides them at
once. Ties, probabilities of 0 and probabilities too small for a float are frequent on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, check_count
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import ClosedForm, ExactForm, StatisticMechanism
from liptest.mechanisms.laws import log_fraction
from liptest.statistics.sums import Count

try:
    from hypothesis import strategies as st
except ImportError:
    raise ImportError(
        "liptest.testing.strategies needs Hypothesis, which is not installed; run: "
        "pip install hypothesis"
    ) from None


Row = tuple[Fraction, ...]
# 2^-1100 is not a float; 2^-1060 is one without full precision.
_TINY = (Fraction(1, 2**1100), Fraction(1, 2**1060))
_MOST_TUPLES = 64


@dataclass(frozen=True)
class ExactRows:
    """``pmf`` of an ``ExactForm``: one row of exact probabilities per dataset, in index order."""

    domain: Domain
    rows: tuple[Row, ...]

    def __call__(self, dataset: IntArray) -> Row:
        return self.rows[int(self.domain.index(dataset)[0])]


@dataclass(frozen=True)
class LogRows:
    """``log_pmf`` of a ``ClosedForm``: the natural logs of ``rows``, -inf for 0."""

    domain: Domain
    rows: tuple[Row, ...]

    def __call__(self, datasets: IntArray) -> NDArray[np.float64]:
        return _logs(self.rows)[self.domain.index(datasets)]


@dataclass(frozen=True)
class CountRows:
    """``log_pmf`` of a ``StatisticMechanism`` on a count: the natural logs of ``rows``."""

    rows: tuple[Row, ...]

    def __call__(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return _logs(self.rows)[counts]


@dataclass(frozen=True)
class ResponseRows:
    """``pmf`` of an ``ExactForm`` that answers each record for itself, all by one table.

    ``rows[v][a]`` is the probability of the answer a to the value v; outputs are tuples.
    """

    rows: tuple[Row, ...]

    def __call__(self, dataset: IntArray) -> Row:
        answers = [self.rows[int(value)] for value in dataset]
        return tuple(_product(chosen) for chosen in product(*answers))


def domains(*, max_dimension: int = 3, max_size: int = 3) -> st.SearchStrategy[Domain]:
    """Cubes, grids and replaceable records of 1 to ``max_dimension`` coordinates.

    Coordinates of grids and records have 1 to ``max_size`` values; one of size 1 never changes,
    so that a domain may have no neighbours at all.
    """
    most = check_count("max_dimension", max_dimension)
    values = st.integers(1, check_count("max_size", max_size))
    sizes = st.lists(values, min_size=1, max_size=most)
    return st.one_of(
        st.integers(1, most).map(Hypercube), sizes.map(Hypergrid), sizes.map(RecordGrid)
    )


def datasets(domain: Domain) -> st.SearchStrategy[IntArray]:
    """One dataset of the domain: a (d,) array of its integer type."""
    values = st.tuples(*(st.integers(0, size - 1) for size in domain.sizes))
    return values.map(lambda dataset: np.array(dataset, dtype=domain.dtype))


def neighbouring_pairs(domain: Domain) -> st.SearchStrategy[tuple[IntArray, IntArray]]:
    """Two datasets at distance 1. InputError when the domain has no neighbours."""
    free = [r for r in range(domain.dimension) if len(domain.value_pairs(r))]
    if not free:
        raise InputError(
            f"domain={domain} has no neighbouring datasets; a coordinate needs 2 values",
            name="domain",
            value=domain,
        )
    return _pairs(domain, free)


@st.composite
def _pairs(draw: st.DrawFn, domain: Domain, free: list[int]) -> tuple[IntArray, IntArray]:
    dataset = draw(datasets(domain))
    coordinate = draw(st.sampled_from(free))
    others = domain.other_values(coordinate, int(dataset[coordinate])).tolist()
    neighbour = dataset.copy()
    neighbour[coordinate] = draw(st.sampled_from(others))
    return dataset, neighbour


@st.composite
def exact_laws(draw: st.DrawFn, outputs: int) -> Row:
    """Exact probabilities of so many outputs; zeros, ties and tiny ones are frequent."""
    common = st.integers(0, 4).map(Fraction)
    rare = st.sampled_from(_TINY)
    weights = draw(st.lists(st.one_of(common, common, rare), min_size=outputs, max_size=outputs))
    total = sum(weights, Fraction(0))
    if not total:
        return (Fraction(1),) + (Fraction(0),) * (outputs - 1)
    return tuple(weight / total for weight in weights)


@st.composite
def law_tables(draw: st.DrawFn, rows: int, *, max_outputs: int = 3) -> tuple[Row, ...]:
    """So many laws on common outputs, few of them different, so that ties are frequent."""
    outputs = draw(st.integers(1, check_count("max_outputs", max_outputs)))
    laws = draw(st.lists(exact_laws(outputs), min_size=1, max_size=3))
    return tuple(draw(st.lists(st.sampled_from(laws), min_size=rows, max_size=rows)))


@st.composite
def product_distributions(draw: st.DrawFn, domain: Domain | None = None) -> ProductDistribution:
    """A product law on the domain (default: on any); values of mass 0 and 1 are frequent."""
    where = draw(domains()) if domain is None else domain
    marginals = [[float(p) for p in draw(exact_laws(size))] for size in where.sizes]
    return ProductDistribution(where, marginals)


def exact_mechanisms(domain: Domain, *, max_outputs: int = 3) -> st.SearchStrategy[ExactForm]:
    """Any laws at all, as exact fractions; claims about them are decided exactly."""
    tables = law_tables(domain.size, max_outputs=max_outputs)
    return tables.map(lambda rows: ExactForm(_numbers(rows), ExactRows(domain, rows)))


def closed_forms(domain: Domain, *, max_outputs: int = 3) -> st.SearchStrategy[ClosedForm]:
    """Any laws at all, as logs in floats; -inf is an exact 0."""
    tables = law_tables(domain.size, max_outputs=max_outputs)
    return tables.map(
        lambda rows: ClosedForm(_numbers(rows), LogRows(domain, rows), exact_zeros=True)
    )


def count_mechanisms(
    domain: Hypercube, *, max_outputs: int = 3
) -> st.SearchStrategy[StatisticMechanism]:
    """Mechanisms that see the number of ones only. InputError when the domain is not a cube."""
    Count().check(domain)
    tables = law_tables(domain.dimension + 1, max_outputs=max_outputs)
    return tables.map(
        lambda rows: StatisticMechanism(Count(), _numbers(rows), CountRows(rows), exact_zeros=True)
    )


@st.composite
def response_mechanisms(draw: st.DrawFn, domain: Domain, *, max_outputs: int = 3) -> ExactForm:
    """Randomised response with a random table: each record is answered for itself.

    Outputs are tuples of answers, at most 64 of them.
    """
    most = min(max_outputs, int(_MOST_TUPLES ** (1 / domain.dimension) + 1e-9))
    table = draw(law_tables(max(domain.sizes), max_outputs=max(1, most)))
    answers = list(product(range(len(table[0])), repeat=domain.dimension))
    return ExactForm(tuple(answers), ResponseRows(table))


def mechanisms(domain: Domain, *, max_outputs: int = 3) -> st.SearchStrategy[Mechanism]:
    """Any of the mechanisms above."""
    kinds: list[st.SearchStrategy[Any]] = [
        exact_mechanisms(domain, max_outputs=max_outputs),
        closed_forms(domain, max_outputs=max_outputs),
        response_mechanisms(domain, max_outputs=max_outputs),
    ]
    if isinstance(domain, Hypercube):
        kinds.append(count_mechanisms(domain, max_outputs=max_outputs))
    return st.one_of(kinds)


def exact_row(mechanism: Any, dataset: Sequence[int] | IntArray) -> Row:
    """Exact probabilities of the outputs of a mechanism drawn here, in their order.

    The truth to test against; it does not pass through liptest's comparison of laws.
    """
    array = np.asarray(dataset)
    source = mechanism.pmf if isinstance(mechanism, ExactForm) else mechanism.log_pmf
    if isinstance(source, (ExactRows, ResponseRows)):
        return source(array)
    if isinstance(source, CountRows):
        return source.rows[int(array.sum())]
    if isinstance(source, LogRows):
        return source.rows[int(source.domain.index(array)[0])]
    raise InputError(
        f"mechanism={mechanism!r} was not drawn from liptest.testing.strategies", name="mechanism"
    )


def _numbers(rows: tuple[Row, ...]) -> tuple[int, ...]:
    return tuple(range(len(rows[0])))


def _logs(rows: tuple[Row, ...]) -> NDArray[np.float64]:
    return np.array([[log_fraction(p) if p else -np.inf for p in row] for row in rows])


def _product(factors: Sequence[Fraction]) -> Fraction:
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result
