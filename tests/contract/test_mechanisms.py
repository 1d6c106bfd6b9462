"""What every mechanism must do, whatever its kind; run over all kinds and the whole catalogue."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.points import PointBatch
from liptest.enumerate.numbers.whole_numbers import output_law
from liptest.mechanisms import catalogue
from liptest.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.mechanisms.declared import ClosedForm, ExactForm, StatisticMechanism
from liptest.mechanisms.laws import INFINITE_LOSS, ZERO_LOG, LawTable, OutputLaw
from liptest.mechanisms.shift import ShiftMechanism
from liptest.statistics.order_statistics import OrderStatistic
from liptest.statistics.sums import ContingencyTables, Contributions, Count, Histogram, WeightedSum
from liptest.statistics.user_statistic import UserStatistic


def parity(datasets: np.ndarray) -> np.ndarray:
    odd = datasets.sum(axis=1) % 2
    with np.errstate(divide="ignore"):
        return np.log(np.stack([1 - 0.75 * odd, 0.75 * odd], axis=1))


def by_value(values: np.ndarray) -> np.ndarray:
    shares = 1.0 / (2.0 + np.abs(values))
    return np.log(np.stack([shares, 1 - shares], axis=1))


def by_cells(values: np.ndarray) -> np.ndarray:
    return np.log((values + 1) / (values + 1).sum(axis=1, keepdims=True))


def thirds(dataset: np.ndarray) -> list[Fraction]:
    share = Fraction(int(dataset.sum()), 3)
    return [1 - share, share]


def maximum(points: np.ndarray) -> np.ndarray:
    return points.max(axis=1)


CUBE = Hypercube(3)
CASES: dict[str, tuple[Any, Domain]] = {
    "closed form": (ClosedForm("ab", parity, error=0.0), CUBE),
    "closed form, zeros not declared": (ClosedForm("ab", parity), CUBE),
    "statistic: weighted sum": (
        StatisticMechanism(WeightedSum([2, -1]), "ab", by_value),
        Hypergrid([3, 3]),
    ),
    "statistic: histogram of records": (
        StatisticMechanism(Histogram(3), "abc", by_cells),
        RecordGrid([3] * 3),
    ),
    "statistic: histogram of counts": (
        StatisticMechanism(Histogram(2, given="counts"), "ab", by_cells),
        Hypergrid([3, 3]),
    ),
    "statistic: contributions": (
        StatisticMechanism(Contributions([0, 2, -1]), "ab", by_value),
        RecordGrid([3] * 3),
    ),
    "statistic: contingency tables": (
        StatisticMechanism(ContingencyTables((2, 2), margins=[(0,), (1,)]), range(4), by_cells),
        RecordGrid([4] * 2),
    ),
    "statistic: order statistic": (
        StatisticMechanism(OrderStatistic(2), "ab", by_value),
        RecordGrid([4, 2, 3]),
    ),
    "statistic: the user's": (
        StatisticMechanism(UserStatistic(maximum), "ab", by_value),
        Hypergrid([4, 2]),
    ),
    "exact form": (ExactForm(("a", "b"), thirds), CUBE),
    "shift: Laplace": (
        ShiftMechanism(WeightedSum([1, 2, -3]), DiscreteLaplace(Fraction(3, 2))),
        CUBE,
    ),
    "shift: Gaussian": (ShiftMechanism(Count(), DiscreteGaussian(2)), CUBE),
    "randomised response": (catalogue.randomised_response(3, 0.7), CUBE),
    "exact randomised response": (catalogue.exact_randomised_response(3, Fraction(2, 3)), CUBE),
    "k-ary": (catalogue.k_ary_randomised_response(4, 1.0), RecordGrid([4])),
    "truncated": (catalogue.truncated_geometric_count(3, 1.0), CUBE),
    "truncated, 2 outputs": (catalogue.truncated_geometric_count(3, 900.0, outputs=2), CUBE),
    "clamped": (catalogue.clamped_geometric_count(3, 1.0, 1, 2), CUBE),
    "one-sided": (catalogue.one_sided_noise_count(3, 1.0), CUBE),
    "data-dependent clamp": (catalogue.data_dependent_clamp(3, 1.0), CUBE),
    "subsampled": (catalogue.subsampled_count(3, 1.0, 0.2), CUBE),
    "exponential": (catalogue.exponential_mechanism(3, 1.0), RecordGrid([3] * 3)),
    "permute and flip": (catalogue.permute_and_flip(3, 1.0), RecordGrid([3] * 3)),
    "leak": (catalogue.leak(3, 0.25), CUBE),
    "needle": (catalogue.needle(3, [0, 1, 1], 1.0), CUBE),
}
every_case = pytest.mark.parametrize(("mechanism", "domain"), CASES.values(), ids=CASES)


def everything(domain: Domain) -> PointBatch:
    """All datasets as centres, and all their neighbours as changes."""
    points = domain.points(np.arange(domain.size))
    return PointBatch(points, *domain.neighbour_changes(points))


def laws_of(mechanism: Mechanism, batch: PointBatch) -> list[OutputLaw]:
    return [mechanism.law(batch.point(k)) for k in range(len(batch))]


def log_of(law: OutputLaw, output: Any) -> float | None:
    """The log probability; None for an output in the tail that a law does not list."""
    if output in law:
        return float(law.log_probabilities[law.outputs.index(output)])
    return None if law.unexplored else -math.inf


def plain_loss(left: OutputLaw, right: OutputLaw) -> float:
    """Largest |ln p - ln q| over the outputs that both laws list; inf for a one-sided zero."""
    worst = 0.0
    for output in {*left, *right}:
        p, q = log_of(left, output), log_of(right, output)
        if p != q and p is not None and q is not None:
            worst = max(worst, abs(p - q))
    return worst


@every_case
def test_keeps_the_protocol(mechanism: Any, domain: Domain) -> None:
    assert check_mechanism(mechanism) is mechanism
    assert mechanism.name
    assert mechanism.source == "declared"
    assert mechanism.points_per_slice(domain) >= 1
    if mechanism.outputs is not None:
        assert len(set(mechanism.outputs)) == len(mechanism.outputs) > 0
    if mechanism.statistic is not None:
        mechanism.statistic.check(domain)


@every_case
def test_laws_add_up_to_1(mechanism: Any, domain: Domain) -> None:
    for point in domain.points(np.arange(domain.size)):
        law = output_law(mechanism, point)
        assert law.source == mechanism.source
        masses = [law.exact(output) for output in law]
        if law.fractions is not None:
            assert sum(masses) == 1
        else:
            unexplored = Fraction(law.unexplored)
            rest = arb(unexplored.numerator) / unexplored.denominator
            assert (sum(masses, arb(0)) + arb(0).union(rest)).contains(arb(1))
        assert all(0.0 <= p <= 1.0 for p in law.values())


@every_case
def test_outputs_of_a_law_are_declared(mechanism: Any, domain: Domain) -> None:
    if mechanism.outputs is not None:
        for point in domain.points(np.arange(domain.size)):
            assert set(mechanism.law(point)) <= set(mechanism.outputs)


@every_case
def test_rows_of_a_batch_are_the_laws_of_its_points(mechanism: Any, domain: Domain) -> None:
    batch = everything(domain)
    table, laws = mechanism.laws(batch), laws_of(mechanism, batch)
    rows = table.distinct(np.arange(len(batch)))
    assert rows.shape == (len(batch),)
    assert table.is_answered()
    if not isinstance(table, LawTable):
        return
    assert table.outputs == mechanism.outputs
    for law, row in zip(laws, rows, strict=True):
        for output, value in zip(table.outputs, table.logs[row], strict=True):
            if log_of(law, output) == -math.inf:
                assert value == ZERO_LOG
            else:
                assert value == pytest.approx(log_of(law, output), abs=2 * table.errors[row])


@every_case
def test_losses_are_those_of_a_plain_loop(mechanism: Any, domain: Domain) -> None:
    batch = everything(domain)
    table, laws = mechanism.laws(batch), laws_of(mechanism, batch)
    n = len(batch.centres)
    left, right = table.distinct(batch.rows), table.distinct(np.arange(n, len(batch)))
    losses, errors = table.losses(left, right), table.screen_error(left, right)
    assert np.array_equal(losses, table.losses(right, left))
    assert np.all(np.isfinite(errors) & (errors >= 0))
    for k, row in enumerate(batch.rows):
        truth = plain_loss(laws[row], laws[n + k])
        if mechanism.outputs is None and losses[k] == math.inf:
            # Reached by no output, only in the limit: see test_shift.py.
            assert mechanism.noise.loss_ball(1) == arb("+inf")
        elif losses[k] >= INFINITE_LOSS:
            assert truth == math.inf
        else:
            assert losses[k] == pytest.approx(truth, abs=2 * errors[k] + 1e-12)
    assert np.all(table.losses(left, left) == 0.0)


@every_case
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_divergences_are_those_of_a_plain_loop(
    mechanism: Any, domain: Domain, epsilon: float
) -> None:
    batch = everything(domain)
    table, laws = mechanism.laws(batch), laws_of(mechanism, batch)
    n = len(batch.centres)
    found = table.hockey_sticks(
        table.distinct(batch.rows), table.distinct(np.arange(n, len(batch))), epsilon
    )
    for k, row in enumerate(batch.rows):
        p, q = laws[row], laws[n + k]
        both = [(p.get(o, 0.0), q.get(o, 0.0)) for o in {*p, *q}]
        factor = math.exp(epsilon)
        forth = sum(max(0.0, a - factor * b) for a, b in both)
        back = sum(max(0.0, b - factor * a) for a, b in both)
        assert found[k] == pytest.approx(max(forth, back), abs=1e-12)


@every_case
def test_pickles(mechanism: Any, domain: Domain) -> None:
    again = pickle.loads(pickle.dumps(mechanism))
    point = domain.points([domain.size - 1])[0]
    assert dict(again.law(point)) == dict(mechanism.law(point))
    assert again.name == mechanism.name


@every_case
def test_a_statistic_decides_the_law(mechanism: Any, domain: Domain) -> None:
    if mechanism.statistic is None:
        return
    points = domain.points(np.arange(domain.size))
    values = mechanism.statistic.values(points)
    table = mechanism.laws_of(values)
    assert table.distinct(np.arange(len(values))).tolist() == list(range(len(values)))
    whole = mechanism.laws(PointBatch(points))
    rows = whole.distinct(np.arange(len(points)))
    if isinstance(table, LawTable):
        assert np.allclose(table.logs, whole.logs[rows], rtol=0, atol=1e-12)
    else:
        assert np.array_equal(table.centres, whole.centres[rows])


@every_case
def test_zeros_twice_are_certain_or_flagged(mechanism: Any, domain: Domain) -> None:
    batch = everything(domain)
    table, laws = mechanism.laws(batch), laws_of(mechanism, batch)
    left = table.distinct(batch.rows)
    twice = table.has_uncertain_zeros(left, left)
    for k, row in enumerate(batch.rows):
        zeros = [o for o in mechanism.outputs or () if log_of(laws[row], o) == -math.inf]
        certain = all(laws[row].is_zero(output) for output in zeros)
        assert bool(twice[k]) == (not certain)


def test_every_function_of_the_catalogue_is_here() -> None:
    names = {mechanism.name.split("(")[0] for mechanism, _ in CASES.values()}
    assert set(catalogue.__all__) <= names
