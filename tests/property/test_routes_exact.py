"""The routes against arithmetic: what is refused, what is passed, and every exact loss."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.domains import Domain
from liptest.gate.routes import FilterGate, SensitivityGate
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, certify_comparison
from liptest.privacy.proofs.noisy_queries import Grid, round_to_steps
from liptest.verdicts import Decision

DOMAINS = [
    lt.Hypercube(3),
    lt.Hypergrid([4, 3]),
    lt.Hypergrid([7]),
    lt.RecordGrid([3, 3]),
    lt.RecordGrid([4, 2]),
]
METHODS = ["neighbourhoods", "light-neighbourhoods", "edges"]

domains = st.sampled_from(DOMAINS)
seeds = st.integers(0, 2**128 - 1)
values = st.one_of(
    st.integers(-8, 8).map(float),
    st.integers(-64, 64).map(lambda k: k / 8),
    st.floats(-1e3, 1e3, allow_subnormal=False),
)
steps = st.one_of(
    st.sampled_from([1.0, 0.5, 2.0, 0.1, 0.3, 3.0]).map(Fraction),
    st.fractions(Fraction(1, 50), 50, max_denominator=50),
)


@st.composite
def tables(draw: st.DrawFn, domain: Domain) -> np.ndarray:
    entries = st.lists(values, min_size=domain.size, max_size=domain.size)
    return np.array(draw(entries)).reshape(domain.sizes)


@st.composite
def laws(draw: st.DrawFn, domain: Domain) -> lt.ProductDistribution:
    marginals = []
    for size in domain.sizes:
        weights = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
        marginals.append(np.array(weights) / sum(weights))
    return lt.ProductDistribution(domain, marginals)


def neighbouring_pairs(domain: Domain) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for block in domain.all_points():
        for point in block:
            for other in domain.neighbours(point):
                yield point, other


def largest_change(table: np.ndarray, domain: Domain) -> Fraction:
    return max(
        abs(Fraction(float(table[tuple(x)])) - Fraction(float(table[tuple(y)])))
        for x, y in neighbouring_pairs(domain)
    )


def whole(value: float, step: Fraction) -> int:
    return floor(Fraction(value) / step + Fraction(1, 2))


@pytest.mark.slow
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), steps)
def test_rounding_is_exact(numbers: list[float], step: Fraction) -> None:
    found = round_to_steps(np.array(numbers), step)
    assert found.tolist() == [whole(number, step) for number in numbers]


@given(values, values, steps)
def test_rounding_changes_by_no_more_than_the_quotient(u: float, v: float, step: Fraction) -> None:
    change = abs(Fraction(u) - Fraction(v))
    left, right = round_to_steps(np.array([u, v]), step).tolist()
    assert abs(left - right) <= ceil(change / step)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data(), domains, steps, st.sampled_from([0.1, 0.7, 1.0, 3.0]))
def test_every_loss_of_a_filter_gate_is_at_most_epsilon(
    data: st.DataObject, domain: Domain, step: Fraction, epsilon: float
) -> None:
    table, law = data.draw(tables(domain)), data.draw(laws(domain))
    sensitivity = data.draw(steps)
    gate = FilterGate(table, law, epsilon=epsilon, sensitivity=sensitivity, grid_step=step)
    mechanism, claim = gate.mechanism, Claim(epsilon, tolerance=0.0)
    points = domain.points(np.arange(domain.size))
    answers = dict(
        zip(map(tuple, points), mechanism.statistic.values(points).tolist(), strict=True)
    )
    exact = Fraction(epsilon) / Grid.of(sensitivity, step).steps
    assert 1 / mechanism.noise.scale == exact
    for x, y in neighbouring_pairs(domain):
        change = abs(answers[tuple(x)] - answers[tuple(y)])
        assert change * exact <= Fraction(epsilon)
        assert certify_comparison(mechanism, x, y, claim).answer is not Answer.VIOLATED
    known = lt.exact_epsilon(with_edges(mechanism, answers, domain), domain)
    assert known.value <= epsilon * (1 + 1e-12)


def with_edges(
    mechanism: ShiftMechanism, answers: dict[tuple[int, ...], int], domain: Domain
) -> ShiftMechanism:
    """The mechanism, told which values neighbours have, so that all of them can be visited."""
    pairs = [(answers[tuple(x)], answers[tuple(y)]) for x, y in neighbouring_pairs(domain)]
    statistic = lt.statistics.UserStatistic(mechanism.statistic.compute, lambda _: np.array(pairs))
    return ShiftMechanism(statistic, mechanism.noise)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data(), domains, steps)
def test_a_filter_leaves_queries_of_the_sensitivity_alone(
    data: st.DataObject, domain: Domain, step: Fraction
) -> None:
    table, law = data.draw(tables(domain)), data.draw(laws(domain))
    change = largest_change(table, domain)
    assume(change == float(change) > 0)  # the filter's constant is a float
    gate = FilterGate(table, law, epsilon=1.0, sensitivity=change, grid_step=step)
    points = domain.points(np.arange(domain.size))
    expected = [whole(float(value), step) for value in table.reshape(-1)]
    assert gate.mechanism.statistic.values(points).tolist() == expected


@pytest.mark.slow
@settings(max_examples=80)
@given(st.data(), domains, steps, seeds, st.sampled_from(METHODS))
def test_a_query_of_the_sensitivity_is_never_refused(
    data: st.DataObject, domain: Domain, step: Fraction, seed: int, method: str
) -> None:
    table, law = data.draw(tables(domain)), data.draw(laws(domain))
    change = largest_change(table, domain) or Fraction(1)
    gate = SensitivityGate(
        table,
        law,
        sensitivity=change,
        grid_step=step,
        epsilon=0.7,
        exception_mass=0.02,
        failure_probability=0.1,
        method=method,
        seed=seed,
    )
    # INCONCLUSIVE where the method says nothing for these numbers, never NO.
    vacuous = gate.certificate.verdict.reason.startswith("this method says nothing here")
    decision = Decision.INCONCLUSIVE if vacuous else Decision.YES
    assert gate.certificate.decision is decision


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data(), domains, steps, seeds)
def test_the_answer_is_that_of_brute_force(
    data: st.DataObject, domain: Domain, step: Fraction, seed: int
) -> None:
    table = data.draw(tables(domain))
    sensitivity = data.draw(steps)
    most = Grid.of(sensitivity, step).steps
    # Every dataset has mass 1/12 or more: 500 draws miss one with probability below 1e-18.
    gate = SensitivityGate(
        table,
        lt.ProductDistribution.uniform(domain),
        sensitivity=sensitivity,
        grid_step=step,
        epsilon=0.7,
        exception_mass=0.01,
        failure_probability=0.005,
        seed=seed,
    )
    bad = [
        (x, y)
        for x, y in neighbouring_pairs(domain)
        if abs(whole(float(table[tuple(x)]), step) - whole(float(table[tuple(y)]), step)) > most
    ]
    verdict = gate.certificate.verdict
    assert verdict.decision is (Decision.NO if bad else Decision.YES)
    if bad:
        assert verdict.witness is not None
        assert verdict.witness.verify(gate.mechanism)
        shown = verdict.witness.dataset, verdict.witness.neighbour
        assert shown in [(tuple(x.tolist()), tuple(y.tolist())) for x, y in bad]
