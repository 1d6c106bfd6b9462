"""What a report shows beyond the verdict, against brute force; and why something is not shown."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.report.findings import (
    exact_profile,
    exposure_rows,
    findings,
    losses_by_record,
)
from liptest.report.law_rows import Missing, witness_rows
from liptest.testing import strategies as lts
from tests.unit.report.pages import (
    DELTA,
    LAW,
    LONG_LAW,
    NO,
    OPEN,
    SAMPLED,
    VERDICTS,
    WIDE,
    YES,
    enumerated,
)


def loss(left, right):
    found = [(left.get(output, 0.0), right.get(output, 0.0)) for output in {*left, *right}]
    return max(
        math.inf if 0 in pair else abs(math.log(pair[0] / pair[1]))
        for pair in found
        if max(pair) > 0
    )


def losses_one_by_one(mechanism, domain):
    """Every neighbouring pair, law by law."""
    found = [0.0] * domain.dimension
    points = domain.points(np.arange(domain.size))
    for left, right in itertools.combinations(points, 2):
        if domain.distance(left, right)[0] == 1:
            [record] = np.flatnonzero(left != right)
            pair = lt.output_law(mechanism, left), lt.output_law(mechanism, right)
            found[record] = max(found[record], loss(*pair))
    return found


@enumerated
def mixed(data, rng):
    keep = (0.5, 0.75, 0.9)
    return tuple(int(v) if rng.random() < keep[i] else 0 for i, v in enumerate(data))


@enumerated
def first_only(data, rng):
    return int(data[0]) if rng.random() < 0.75 else 1 - int(data[0])


@enumerated
def noisy_sum(data, rng):
    return int(data.sum()) + int(rng.integers(2)) * 7


SUM = lt.ShiftMechanism(lt.statistics.WeightedSum([1, -3, 2]), lt.DiscreteLaplace(2))


@pytest.mark.parametrize(
    ("mechanism", "domain"),
    [
        (mixed, lt.Hypercube(3)),
        (first_only, lt.RecordGrid((2, 3))),
        (noisy_sum, lt.Hypercube(4)),
        (noisy_sum, lt.Hypergrid((3, 2))),
        (lt.catalogue.truncated_geometric_count(5, 0.5), lt.Hypercube(5)),
    ],
    ids=["records", "coordinates", "count", "grid", "declared"],
)
def test_exposure_is_the_largest_loss_of_each_record(mechanism, domain):
    found = losses_by_record(mechanism, domain)
    assert found.tolist() == pytest.approx(losses_one_by_one(mechanism, domain))


@pytest.mark.parametrize(
    "domain", [lt.Hypercube(3), lt.RecordGrid((3, 2, 4)), lt.Hypergrid((3,) * 3)]
)
def test_exposure_of_a_weighted_sum_with_unbounded_outputs(domain):
    expected = [
        max(SUM.noise.loss(np.array([w * int(b - a)]))[0] for a, b in domain.value_pairs(axis))
        for axis, w in enumerate((1, -3, 2))
    ]
    assert losses_by_record(SUM, domain).tolist() == pytest.approx(expected)
    largest = lt.exact_epsilon(SUM, domain).value
    assert max(expected) == pytest.approx(largest)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(lts.mechanisms(lt.Hypercube(2)))
def test_the_most_exposed_record_is_the_exact_epsilon(mechanism):
    domain = lt.Hypercube(2)
    try:
        losses = losses_by_record(mechanism, domain)
    except Missing:
        # Probabilities like 2**-1000 are known from their float logs to a few digits only.
        assert max(lt.output_law(mechanism, x).error for x in domain.points(range(4))) > 4e-7
        return
    assert max(losses) == pytest.approx(lt.exact_epsilon(mechanism, domain).value, abs=1e-9)


def test_what_is_not_known_by_record_says_why():
    with pytest.raises(Missing, match="4,194,304 datasets would have to be visited"):
        losses_by_record(YES.mechanism, lt.Hypercube(22))
    with pytest.raises(Missing, match="too many datasets"):
        losses_by_record(YES.mechanism, lt.Hypercube(400))
    with pytest.raises(Missing, match="unexplored"):
        losses_by_record(OPEN.mechanism, LAW.domain)
    blurred = lt.ClosedForm([0, 1], lambda x: np.log(np.stack([1 - x[:, 0], x[:, 0]], 1) + 0.0))
    with pytest.raises(Missing, match="not declared exact"), np.errstate(divide="ignore"):
        losses_by_record(blurred, lt.Hypercube(2))


@pytest.mark.slow
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf]), min_size=1, max_size=200))
def test_records_of_equal_loss_share_a_row(losses):
    rows = exposure_rows(losses)
    assert sum(row.count for row in rows) == len(losses)
    assert max(row.loss for row in rows) == max(losses)
    assert all(losses[record] == row.loss for row in rows for record in row.records)


def test_a_thousand_different_losses_are_cut_with_a_statement():
    rows = exposure_rows([float(k) for k in range(1000)])
    assert len(rows) == 20
    assert [row.records[0] for row in rows[:3]] == [999, 998, 997]
    assert rows[-1].label() == "981 others, at most"
    assert rows[-1].loss == 980


@pytest.mark.parametrize("outcome", [one for one in VERDICTS if one.certificate.verdict.witness])
def test_the_rows_of_both_laws_add_up(outcome):
    verdict = outcome.certificate.verdict
    if not verdict.witness.event:
        return
    rows = witness_rows(outcome.mechanism, verdict.witness)
    assert len(rows) <= 20
    for side in ("probability", "neighbour_probability"):
        assert math.fsum(getattr(row, side) for row in rows) == pytest.approx(1)
        decides = math.fsum(getattr(row, side) for row in rows if row.decides)
        assert decides == pytest.approx(getattr(verdict.witness, side), abs=1e-15)


@pytest.mark.slow
def test_thousands_of_faint_outputs_are_drawn_in_runs():
    wide = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(3000))
    verdict = lt.check_privacy(wide, LAW, epsilon=1e-4, method="exhaustive")
    rows = witness_rows(wide, verdict.witness)
    assert sum(row.outputs for row in rows) > 100_000
    assert len(rows) <= 20
    assert max(row.probability for row in rows) < 0.2
    assert [row.decides for row in rows].count(True) == 1
    assert any(" to " in row.label for row in rows)
    assert math.fsum(row.probability for row in rows) == pytest.approx(1)


def test_the_curve_has_every_step():
    profile = exact_profile(mixed, lt.ProductDistribution.uniform(lt.Hypercube(3)), claim(1.0))
    for point, after in itertools.pairwise(profile.points):
        middle = (point.epsilon + after.epsilon) / 2
        between = lt.exception_mass(
            mixed, lt.ProductDistribution.uniform(lt.Hypercube(3)), epsilon=middle
        )
        assert (between.lower, between.upper) == (point.lower, point.upper)
    assert 1.0 in [point.epsilon for point in profile.points]


def claim(epsilon):
    return lt.check_privacy(YES.mechanism, LAW, epsilon=epsilon).claim


@pytest.mark.slow
def test_the_curve_of_a_count_is_exact():
    found = exact_profile(SAMPLED.mechanism, LONG_LAW, claim(0.5))
    assert [p.upper for p in found.points if p.epsilon >= 1.0 + 1e-8] == [0.0]
    assert found.at(0.5).lower == found.at(0.5).upper > 0.4


@pytest.mark.slow
def test_what_is_not_drawn_of_a_profile_says_why():
    cases = [
        (WIDE.mechanism, LONG_LAW, "unbounded"),
        (YES.mechanism, LONG_LAW, "more than 4,096 datasets"),
        (OPEN.mechanism, LAW, "unexplored"),
        (NO.mechanism, lt.SampledDistribution(lt.Hypercube(4), sampler), "is not known for"),
    ]
    for mechanism, law, reason in cases:
        with pytest.raises(Missing, match=reason):
            exact_profile(mechanism, law, claim(1.0))


def sampler(count, rng):
    return rng.integers(2, size=(count, 4))


@pytest.mark.slow
def test_the_exact_epsilon_is_told_only_where_it_is_known():
    def known(outcome, distribution=None):
        verdict = outcome.certificate.verdict
        return findings(verdict, outcome.mechanism, distribution).exact_epsilon

    assert known(YES, LAW) == known(YES) == pytest.approx(1)
    assert known(NO, LAW) == math.inf
    assert known(NO) is None
    assert known(OPEN, LAW) is None
    assert known(SAMPLED) is None
    assert known(SAMPLED, LONG_LAW) == pytest.approx(1)
    assert known(DELTA) is None


def test_a_mechanism_that_is_not_at_hand_or_breaks_costs_only_the_drawings():
    verdict = NO.certificate.verdict
    nothing = findings(verdict, None, None)
    assert nothing.laws == nothing.profile == nothing.exposure == "the mechanism is not at hand"

    @enumerated
    def breaks(data, rng):
        raise SystemError("no\n  more")

    told = findings(verdict, breaks, LAW)
    assert isinstance(told.laws, str)
    assert told.exact_epsilon is None or told.exact_epsilon == 0
