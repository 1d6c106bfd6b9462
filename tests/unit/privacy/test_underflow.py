"""Probabilities too small for floats: never a NO that is not true, never a YES by accident."""

import math

import numpy as np
import pytest

import liptest as lt
from liptest.errors import LawError
from liptest.mechanisms.laws import normalise_logs
from liptest.verdicts import Decision


def pmf(epsilon, outputs, values):
    """Truncated two-sided geometric noise on counts, as a vendor would write it, in floats."""
    q, last = math.exp(-epsilon), outputs - 1
    away = np.abs(np.arange(outputs) - values[:, None]).astype(float)
    mass = (1 - q) / (1 + q) * q**away
    mass[:, 0] = q ** values.astype(float) / (1 + q)
    mass[:, last] = q ** (last - values).astype(float) / (1 + q)
    return mass


def noisy_count(epsilon, outputs, **options):
    def log_pmf(values):
        with np.errstate(divide="ignore"):
            return np.log(pmf(epsilon, outputs, values))

    return lt.StatisticMechanism(lt.Count(), range(outputs), log_pmf, **options)


def in_logs(epsilon, outputs):
    """The same law computed in logs, in which nothing underflows."""

    def log_pmf(values):
        last = outputs - 1
        away = np.abs(np.arange(outputs) - values[:, None]).astype(float)
        peak = math.log(-math.expm1(-epsilon)) - math.log1p(math.exp(-epsilon))
        logs = peak - epsilon * away
        ends = math.log1p(math.exp(-epsilon))
        logs[:, 0] = -epsilon * values - ends
        logs[:, last] = -epsilon * (last - values) - ends
        return logs

    return lt.StatisticMechanism(lt.Count(), range(outputs), log_pmf)


def check(mechanism, d, epsilon, method="exhaustive", **options):
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))
    options = {"exception_mass": 0.1, "failure_probability": 0.1, "seed": 1, **options}
    return lt.check_privacy(mechanism, law, epsilon=epsilon, method=method, **options)


@pytest.mark.slow
# The least probability is about exp(-epsilon (outputs - 1)): normal, below the normal range, 0.
@pytest.mark.parametrize(
    ("epsilon", "outputs", "expected"),
    [
        (1.0, 701, Decision.YES),
        (1.0, 731, Decision.INCONCLUSIVE),
        (1.0, 741, Decision.INCONCLUSIVE),
        (1.0, 745, Decision.INCONCLUSIVE),
        (1.0, 747, Decision.INCONCLUSIVE),
        (1.1, 660, Decision.INCONCLUSIVE),
        (1.7, 445, Decision.INCONCLUSIVE),
        (2.5, 298, Decision.INCONCLUSIVE),
        (2.5, 301, Decision.INCONCLUSIVE),
        (5.3, 141, Decision.INCONCLUSIVE),
        (5.3, 142, Decision.INCONCLUSIVE),
        (37.0, 22, Decision.INCONCLUSIVE),
    ],
)
def test_a_tight_mechanism_that_underflows_is_left_open(epsilon, outputs, expected):
    mechanism = noisy_count(epsilon, outputs)
    for method in ("exhaustive", "neighbourhoods"):
        assert check(mechanism, 3, epsilon, method).decision is expected
    assert check(mechanism, outputs - 1, epsilon).decision is expected
    found = lt.exact_epsilon(mechanism, lt.Hypercube(outputs - 1))
    assert found.lower <= epsilon * (1 + 1e-12) <= found.upper * (1 + 1e-11)


@pytest.mark.parametrize(
    ("epsilon", "outputs"), [(1.0, 731), (1.0, 747), (1.0, 2000), (2.5, 301), (5.3, 142)]
)
def test_the_same_law_in_logs_is_proved(epsilon, outputs):
    verdict = check(in_logs(epsilon, outputs), outputs - 1, epsilon)
    assert verdict.decision is Decision.YES
    assert verdict.largest_loss == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [731, 747])
def test_a_claim_that_is_false_elsewhere_stays_refuted(outputs):
    verdict = check(noisy_count(1.0, outputs), outputs - 1, 0.9)
    assert verdict.decision is Decision.NO
    assert 0.9 < verdict.witness.loss_lower <= 1.0 + 1e-12
    assert verdict.witness.verify(noisy_count(1.0, outputs))


@pytest.mark.slow
def test_a_zero_on_both_sides_is_left_open_unless_it_is_declared():
    def log_pmf(datasets):
        return np.tile([math.log(0.5), math.log(0.5), -math.inf], (len(datasets), 1))

    for options, expected in (
        ({}, Decision.INCONCLUSIVE),
        ({"exact_zeros": True}, Decision.YES),
        ({"error": 0.0}, Decision.YES),
        ({"error": 1e-12}, Decision.INCONCLUSIVE),
    ):
        mechanism = lt.ClosedForm("abc", log_pmf, **options)
        for method in (
            "exhaustive",
            "neighbourhoods",
            "edges",
            "group",
            lt.testers.VarianceEdges(),
        ):
            assert check(mechanism, 3, 1.0, method).decision is expected
        upper = lt.exact_epsilon(mechanism, lt.Hypercube(3)).upper
        assert (upper == math.inf) is (expected is Decision.INCONCLUSIVE)


@pytest.mark.parametrize(
    "claim", [{"rho": 0.5}, {"mu": 1.0}, {"renyi": (2.0, 1.0)}, {"renyi": [(2.0, 1.0), (9.0, 1.0)]}]
)
@pytest.mark.parametrize("method", ["exhaustive", "neighbourhoods"])
def test_no_notion_is_proved_where_both_zeros_may_be_underflow(claim, method):
    # Really e^-800 and e^-5000, whose Renyi divergence of order 2 is at least 3,400.
    logs = np.array(
        [[-800.0, math.log(0.5), math.log(0.5)], [-5000.0, math.log(0.4), math.log(0.6)]]
    )

    def log_pmf(datasets):
        with np.errstate(divide="ignore"):
            return np.log(np.exp(logs[datasets[:, 0]]))

    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    options = {"method": method, "seed": 1, **claim}
    if method != "exhaustive":
        options |= {"exception_mass": 0.1, "failure_probability": 0.1}
    for exact, expected in (({}, Decision.INCONCLUSIVE), ({"exact_zeros": True}, Decision.YES)):
        mechanism = lt.ClosedForm("abc", log_pmf, **exact)
        assert lt.check_privacy(mechanism, law, **options).decision is expected
    in_logs = lt.ClosedForm("abc", lambda datasets: logs[datasets[:, 0]])
    verdict = lt.check_privacy(in_logs, law, **options)
    assert verdict.decision is Decision.NO
    assert verdict.witness.verify(in_logs)


def test_a_zero_against_a_half_is_refuted_also_when_it_is_not_declared():
    def log_pmf(datasets):
        with np.errstate(divide="ignore"):
            return np.log(np.stack([1 - datasets[:, 0] / 2, datasets[:, 0] / 2], axis=1))

    for options, lower in (({}, 1073 * math.log(2)), ({"exact_zeros": True}, math.inf)):
        mechanism = lt.ClosedForm([0, 1], log_pmf, **options)
        verdict = check(mechanism, 2, 1.0)
        assert verdict.decision is Decision.NO
        assert verdict.witness.loss_lower == pytest.approx(lower)
        assert verdict.witness.verify(mechanism)
        assert check(mechanism, 2, 744.0).decision is (
            Decision.INCONCLUSIVE if options == {} else Decision.NO
        )


def test_underflow_does_not_loosen_the_check_of_sums():
    row = [math.log(0.5), 5e-324]
    with np.errstate(divide="ignore"), pytest.raises(LawError, match=r"sums to 0\.5"):
        normalise_logs([[row[0], np.log(row[1])]], 2, 1, None, "mechanism")


def test_only_logs_of_tiny_floats_get_the_larger_error():
    tiny = float(np.log(3 * 2.0**-1074))
    for value, large in ((tiny, True), (tiny + 0.01, False), (-700.0, False), (-1000.0, False)):
        _, errors = normalise_logs([[0.0, value]], 2, 1, None, "mechanism", each=True)
        assert bool(errors[0, 1] > 0.1) is large
        assert errors[0, 0] < 1e-14
    _, errors = normalise_logs([[0.0, tiny]], 2, 1, 1e-12, "mechanism", each=True)
    assert errors[0, 1] < 1e-11


def test_an_infinite_log_is_no_probability():
    def log_pmf(datasets):
        return np.where(datasets[:, :1] == np.array([0, 1]), math.inf, -math.inf)

    with pytest.raises(LawError, match="inf"):
        check(lt.ClosedForm([0, 1], log_pmf, exact_zeros=True), 2, 1.0)
