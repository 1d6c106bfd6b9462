"""How many draws, pairs and laws each method takes: exact numbers, by hand from theory 3."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.samples.intervals import certify_mass, clean_draws
from liptest.verdicts import Decision
from tests.statistical.binomial import fits

UNIFORM = lt.ProductDistribution.uniform(lt.Hypercube(6))
SKEWED = lt.ProductDistribution.bernoulli([0.5, 0.25, 0.9, 0.0])
GRID = lt.ProductDistribution(lt.Hypergrid([3, 1, 2]), [[0.25, 0.5, 0.25], [1], [0.75, 0.25]])
RECORDS = lt.ProductDistribution(lt.RecordGrid([3, 1, 2]), [[0.25, 0.5, 0.25], [1], [0.75, 0.25]])


def is_binomial(hits, trials, share):
    return fits([hits, trials - hits], [share, 1 - share])


def coin(datasets):
    return np.log(np.full((len(datasets), 2), 0.5))


FAIR = lt.ClosedForm([0, 1], coin)
LEVEL = lt.StatisticMechanism(lt.Count(), [0, 1], lambda values: coin(values[:, None]))


def check(distribution, method, mechanism=FAIR, *, mass=0.01, failure=1e-6, **options):
    return lt.check_privacy(
        mechanism,
        distribution,
        epsilon=1.0,
        exception_mass=mass,
        failure_probability=failure,
        method=method,
        seed=5,
        **options,
    )


@pytest.mark.parametrize(
    ("mass", "failure"), [(0.01, 1e-6), (0.1, 0.05), (0.5, 0.5), (1e-3, 1e-3), (0.999, 0.9)]
)
def test_clean_draws_is_the_least_number_that_suffices(mass, failure):
    n = clean_draws(mass, failure)
    stay = 1 - F(mass)
    assert stay**n <= F(failure) < stay ** (n - 1)


def test_certified_mass_inverts_clean_draws():
    assert certify_mass(0, 0.05) == 1.0
    for draws in (1, 7, 1000):
        mass = certify_mass(draws, 0.05)
        assert (1 - mass) ** draws == pytest.approx(0.05, rel=1e-12)
    assert clean_draws(0.01, 1e-6) == 1375
    assert certify_mass(1375, 1e-6) <= 0.01 < certify_mass(1374, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [FAIR, LEVEL], ids=["datasets", "statistic"])
def test_neighbourhoods_of_a_cube(mechanism):
    verdict = check(UNIFORM, "neighbourhoods", mechanism)
    assert (verdict.decision, verdict.cost.draws) == (Decision.YES, 1375)
    assert verdict.cost.laws == verdict.plan.laws == 1375 * (1 + 6)
    assert verdict.cost.pairs == 1375 * 6


@pytest.mark.slow
def test_neighbourhoods_of_records():
    verdict = check(RECORDS, "neighbourhoods")
    assert verdict.cost.laws == verdict.plan.laws == 1375 * (1 + 2 + 0 + 1)


def test_neighbourhoods_of_a_grid():
    verdict = check(GRID, "neighbourhoods")
    assert verdict.cost.draws == 1375
    assert verdict.cost.laws == 1375 + verdict.cost.pairs
    # Half the datasets have two neighbours in the first coordinate, all have one in the last.
    assert verdict.plan.laws == 1375 * (1 + 1.5 + 1)
    assert is_binomial(verdict.cost.pairs - 2 * 1375, 1375, 0.5)


@pytest.mark.parametrize(
    ("law", "trials", "share"),
    [
        (UNIFORM, 6, 0.5),
        (lt.ProductDistribution.bernoulli([0.1] * 6), 6, 0.1),
        (lt.ProductDistribution.bernoulli([0.9] * 6), 6, 0.1),
    ],
    ids=["uniform", "rare ones", "rare zeros"],
)
def test_light_neighbourhoods_take_n_draws_and_s_pairs_each(law, trials, share):
    verdict = check(law, "light-neighbourhoods")
    assert verdict.cost.draws == 1375
    assert verdict.cost.laws == 1375 + verdict.cost.pairs
    assert verdict.plan.laws == pytest.approx(1375 * (1 + trials * share), rel=1e-12)
    assert is_binomial(verdict.cost.pairs, 1375 * trials, share)
    assert not is_binomial(verdict.cost.pairs, 1375 * trials, share + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "total"), [(GRID, 0.25 + 0.25 + 0.25), (RECORDS, 0.25 + 0.25 + 0.25 + 0.25)]
)
def test_light_neighbourhoods_of_other_domains(law, total):
    verdict = check(law, "light-neighbourhoods")
    assert verdict.cost.draws == 1375
    assert verdict.plan.laws == 1375 * (1 + total)
    # At most 3 pairs a draw, so the mean of 1375 draws is within 0.6 but for 1e-100 (Hoeffding).
    assert abs(verdict.cost.pairs / 1375 - total) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "total"), [(UNIFORM, 3.0), (SKEWED, 0.5 + 0.25 + 0.1), (GRID, 0.75), (RECORDS, 1.0)]
)
def test_edges(law, total):
    verdict = check(law, "edges")
    n = math.ceil(total / 0.01 * math.log(1e6))
    assert (verdict.cost.draws, verdict.cost.pairs, verdict.cost.laws) == (n, n, 2 * n)
    assert verdict.plan.laws == 2 * n


@pytest.mark.parametrize(
    ("law", "constant", "points", "source"),
    [
        # 4 Q, Q = sum p (1 - p): pairs
        (UNIFORM, 6.0, 2, "VarianceEdges"),
        (SKEWED, 4 * (0.25 + 0.1875 + 0.09), 2, "VarianceEdges"),
        # 4 T, T = sum (1 - max D_r): lines
        (RECORDS, 4 * (0.5 + 0.25), None, "HammingLines"),
        # 4 Delta: expected depths of the best trees, 1/2 and 1/4
        (GRID, 4 * (0.5 + 0.25), 2, "CDJS15"),
    ],
)
def test_group(law, constant, points, source):
    verdict = check(law, "group", mass=0.1, failure=0.01)
    n = math.ceil(constant * 2 / 0.1 * math.log(100))
    assert source in verdict.plan.source
    assert verdict.cost.draws == n
    assert verdict.guarantee.form == "group"
    if points is not None:
        assert verdict.cost.laws == verdict.plan.laws == points * n


def test_the_papers_test_takes_one_run_per_output():
    verdict = check(UNIFORM, lt.testers.VarianceEdges(), mass=0.1, failure=0.01)
    n = math.ceil(math.log(0.005) / math.log1p(-0.05 / 6))
    assert (verdict.cost.draws, verdict.cost.laws) == (2 * n, 4 * n)
    assert verdict.plan.draws == 2 * n
    assert verdict.method == "VarianceEdges"


def test_the_papers_test_certifies_theta_epsilon():
    verdict = check(UNIFORM, lt.testers.JR11(range_step=0.5), mass=0.5, failure=0.5)
    assert verdict.decision is Decision.YES
    assert verdict.guarantee.approximation_factor == 1.5
    assert verdict.guarantee.epsilon == 1.5
    assert "1.5 times epsilon" in verdict.guarantee.sentence


def test_exhaustive():
    verdict = check(UNIFORM, "exhaustive")
    assert (verdict.cost.laws, verdict.cost.pairs) == (64, 6 * 32)
    through = check(UNIFORM, "exhaustive", LEVEL)
    assert (through.cost.laws, through.cost.pairs) == (7, 6)


@pytest.mark.parametrize(
    "method", ["light-neighbourhoods", "edges", "group", lt.testers.VarianceEdges()]
)
def test_a_method_that_could_not_fail_says_so(method):
    """S <= exception_mass (or its like): no set of pairs weighs more, so a YES would be empty."""
    law = lt.ProductDistribution.bernoulli([0.001, 0.999, 0.0])
    verdict = check(law, method, mass=0.1)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.reason
    assert (verdict.cost.laws, verdict.cost.draws) == (0, 0)
    assert verdict.guarantee.exception_mass is None
    assert check(law, "neighbourhoods", mass=0.1).decision is Decision.YES


def test_auto_never_takes_a_method_that_could_not_fail():
    d = 60
    law = lt.ProductDistribution.bernoulli([1e-4] * d)
    assert check(law, "auto", mass=0.1).method == "neighbourhoods"
    assert check(law, "auto", mass=0.1, budget=50).method == "neighbourhoods"
    assert check(law, "auto", mass=1e-3, budget=50).method == "light-neighbourhoods"


def test_auto_prefers_a_proof_and_then_full_neighbourhoods():
    assert check(UNIFORM, "auto").method == "exhaustive"
    large = lt.ProductDistribution.uniform(lt.Hypercube(60))
    assert check(large, "auto", LEVEL).method == "exhaustive"
    assert check(large, "auto").method == "neighbourhoods"
    assert check(large, "auto", budget=20_000).method == "light-neighbourhoods"


@pytest.mark.slow
def test_the_printed_cost_of_the_paper_stands_beside_ours():
    verdict = check(UNIFORM, "neighbourhoods")
    assert verdict.plan.paper_laws > 1e6 * verdict.cost.laws
    assert check(RECORDS, "neighbourhoods").plan.paper_laws == math.inf


@pytest.mark.parametrize(
    ("method", "not_covered", "per_record"),
    [
        ("neighbourhoods", (), True),
        ("exhaustive", (), True),
        ("light-neighbourhoods", (1, 3), False),
        ("edges", (1, 3), False),
        ("group", (1, 3), False),
        (lt.testers.VarianceEdges(), (1, 3), False),
    ],
)
def test_records_that_are_not_covered_are_listed(method, not_covered, per_record):
    law = lt.ProductDistribution.bernoulli([0.5, 0.01, 0.5, 0.995])
    verdict = check(law, method, mass=0.01, failure=0.1)
    assert verdict.decision is Decision.YES
    assert verdict.guarantee.not_covered == not_covered
    assert verdict.guarantee.per_record is per_record
    assert ("Not covered: 2 records" in str(verdict)) is bool(not_covered)
