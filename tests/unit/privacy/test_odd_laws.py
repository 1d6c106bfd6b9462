"""Laws and claims at the far ends: neither a false YES nor a false NO."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.verdicts import Decision
from tests.shares import mostly_slow
from tests.unit.privacy.cases import closed, exact, exp_of

ONE = lt.Hypercube(1)
METHODS = [
    "exhaustive",
    "neighbourhoods",
    "light-neighbourhoods",
    "edges",
    "group",
    lt.testers.VarianceEdges(),
]
ALL = pytest.mark.parametrize("method", METHODS, ids=str)
SIX = lt.log(6)


def check(mechanism, domain=ONE, *, distribution=None, **options):
    return lt.check_privacy(
        mechanism,
        distribution or lt.ProductDistribution.uniform(domain),
        **{
            "epsilon": 1.0,
            "exception_mass": 0.1,
            "failure_probability": 0.01,
            "seed": 1,
            **options,
        },
    )


def response(odds):
    """Randomised response of one bit with exact odds of showing the truth."""
    keep = F(odds) / (1 + F(odds))
    return exact(ONE, [[keep, 1 - keep], [1 - keep, keep]])


@ALL
@pytest.mark.parametrize("epsilon", mostly_slow([1e-9, 1e-3, 1.0, 30.0, 700.0, 5000.0], 5))
@pytest.mark.parametrize("tolerance", [0.0, 1e-9, 0.5])
def test_tiny_and_huge_epsilons(epsilon, tolerance, method):
    odds = exp_of(F(epsilon) * (1 + F(tolerance)) + F(tolerance))
    for nudge, expected in ((1 - F(1, 10**15), "YES"), (1 + F(1, 10**15), "NO")):
        found = check(response(odds * nudge), epsilon=epsilon, tolerance=tolerance, method=method)
        assert found.decision == expected


@ALL
@pytest.mark.parametrize("epsilon", [1e-9, 700.0, 1e6, 1e299, 1e300, 1e307])
def test_no_epsilon_covers_an_impossible_output(epsilon, method):
    shown = closed(ONE, [[1, 0], [0, 1]])
    verdict = check(shown, epsilon=epsilon, method=method)
    assert verdict.decision is Decision.NO
    assert verdict.witness.loss == verdict.largest_loss == math.inf


@ALL
def test_one_output_only(method):
    for domain in (ONE, lt.Hypercube(4)):
        silent = closed(domain, [[1.0]] * domain.size, error=0.0)
        verdict = check(silent, domain, epsilon=1e-9, tolerance=0.0, method=method)
        assert (verdict.decision, verdict.largest_loss) == (Decision.YES, 0.0)


def huge(size, epsilon):
    """Three outputs, one of probability exp(-size); the rare one moves by epsilon."""

    def log_pmf(datasets):
        rare = -size - epsilon * datasets[:, 0]
        return np.stack([np.full(len(rare), -math.log(2))] * 2 + [rare], axis=1)

    return log_pmf


@ALL
@pytest.mark.parametrize("size", [1e3, 1e5, 1e7])
def test_huge_logs(size, method):
    """Default errors are 4 units in the last place, here up to 1e-8."""
    spread = 10 * float(np.spacing(size)) + 1e-9
    options = {"epsilon": 1.0, "tolerance": 0.0, "method": method}
    assert check(lt.ClosedForm("abc", huge(size, 1.0)), **options).decision is not Decision.NO
    for epsilon, expected in ((1 - 2 * spread, "YES"), (1 + 2 * spread, "NO")):
        found = check(lt.ClosedForm("abc", huge(size, epsilon)), **options)
        assert found.decision == expected


@ALL
@pytest.mark.parametrize("error", [0.0, 1e-12, 1e-6, 0.1])
def test_declared_errors_widen_the_doubt_and_nothing_else(error, method):
    for shift, expected in ((-5, "YES"), (0, "INCONCLUSIVE"), (5, "NO")):
        gap = shift * (error or 1e-13)
        p = 1 / (1 + math.exp(-1.0 - gap))
        q = 1 / (1 + math.exp(1.0 + gap))
        mechanism = closed(ONE, [[p, q], [q, p]], error=error)
        verdict = check(mechanism, tolerance=0.0, method=method)
        # Without errors a float tie falls on either side.
        assert verdict.decision == expected or error == shift == 0


@pytest.mark.parametrize("method", METHODS[:4])
@pytest.mark.parametrize("delta", [1e-300, 1e-9, 0.5, 0.999])
def test_deltas_from_end_to_end(delta, method):
    """Output 2 appears on one side only, with a probability beside delta."""
    for nudge, expected in ((F(1) - F(1, 10**6), "YES"), (F(1) + F(1, 10**6), "NO")):
        mass = F(delta) * nudge
        told = exact(ONE, [[1, 0], [1 - mass, mass]])
        verdict = check(told, epsilon=2.0, delta=delta, method=method)
        assert verdict.decision == expected
        floats = closed(ONE, [[1, 0], [float(1 - mass), float(mass)]])
        assert check(floats, epsilon=2.0, delta=delta, method=method).decision == expected


@pytest.mark.parametrize("method", METHODS[:4])
def test_catalogue_mechanisms_have_their_exact_delta(method):
    d, limit = 5, 1 - math.exp(-1.0)
    domain = lt.Hypercube(d)
    for mechanism, delta in (
        (lt.catalogue.one_sided_noise_count(d, 1.0), limit),
        (lt.catalogue.leak(d, 0.25), 0.25),
    ):
        for factor, expected in ((1 + 1e-6, "YES"), (1 - 1e-6, "NO")):
            verdict = check(mechanism, domain, delta=delta * factor, method=method)
            assert verdict.decision == expected
        assert check(mechanism, domain, method=method).decision is Decision.NO


@ALL
@pytest.mark.parametrize(
    "distribution",
    [
        lt.ProductDistribution(lt.Hypergrid([1, 3, 1]), [[1], [0.3, 0.3, 0.4], [1]]),
        lt.ProductDistribution(lt.RecordGrid([1, 3, 1]), [[1], [0.3, 0.3, 0.4], [1]]),
    ],
    ids=str,
)
def test_records_of_one_value(distribution, method):
    domain = distribution.domain
    if method == lt.testers.VarianceEdges():
        method = (
            lt.testers.CDJS15() if isinstance(domain, lt.Hypergrid) else lt.testers.HammingLines()
        )
    thirds = exact(domain, [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)], [F(2, 3), F(1, 3)]])
    # Values 0 and 2 are neighbours among records, not among counts.
    worst = F(3, 2) if isinstance(domain, lt.Hypergrid) else F(2)
    for epsilon, expected in ((lt.log(worst), "YES"), (lt.log(worst - F(1, 100)), "NO")):
        verdict = check(
            thirds,
            distribution=distribution,
            epsilon=epsilon,
            tolerance=0.0,
            method=method,
            exception_mass=0.02,
        )
        assert verdict.decision == expected


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_data_that_never_vary(p):
    """Only full neighbourhoods and proofs look at neighbours that never occur."""
    law = lt.ProductDistribution.bernoulli([p] * 3)
    told = closed(lt.Hypercube(3), [[0.9, 0.1]] + [[0.1, 0.9]] * 6 + [[0.9, 0.1]])
    for method in ("exhaustive", "neighbourhoods", "auto"):
        assert check(told, distribution=law, method=method).decision is Decision.NO
    for method in ("light-neighbourhoods", "edges", "group", lt.testers.VarianceEdges()):
        verdict = check(told, distribution=law, method=method)
        assert verdict.decision is Decision.INCONCLUSIVE
        assert verdict.cost.laws == 0


@pytest.mark.slow
def test_a_tie_through_every_method_and_representation():
    """Odds of exactly 6 at epsilon = log(6), tolerance 0: rationals decide, floats abstain."""
    for method in METHODS:
        options = {"epsilon": SIX, "tolerance": 0.0, "method": method}
        assert check(response(6), **options).decision is Decision.YES
        assert check(response(6 + F(1, 10**30)), **options).decision is Decision.NO
        assert check(response(6 - F(1, 10**30)), **options).decision is Decision.YES
        floats = closed(ONE, [[6 / 7, 1 / 7], [1 / 7, 6 / 7]])
        assert check(floats, **options).decision is Decision.INCONCLUSIVE
        assert check(floats, epsilon=SIX, method=method).decision is Decision.YES


def test_laws_that_differ_beyond_floats_are_not_taken_for_each_other():
    """Pairs (0, 1) and (2, 3) agree in floats; only the second breaks the claim."""
    tiny = F(1, 10**20)
    rows = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]] * 2
    rows[2] = [F(3, 4) + tiny, F(1, 4) - tiny]
    mechanism = exact(lt.Hypercube(2), rows)
    for method in METHODS[1:]:
        verdict = check(mechanism, lt.Hypercube(2), epsilon=lt.log(3), tolerance=0.0, method=method)
        assert verdict.decision is Decision.NO


@pytest.mark.slow
def test_an_interval_that_one_side_never_gives_has_an_infinite_loss():
    mechanism = lt.mechanism(lambda data, rng: float(data[0]) + rng.exponential())
    witness = check(mechanism, epsilon=1.0).witness
    assert (witness.loss_lower, witness.loss_upper) == (math.inf, math.inf)
    assert min(witness.probability, witness.neighbour_probability) == 0.0
