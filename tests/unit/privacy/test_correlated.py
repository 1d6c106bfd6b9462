"""Data whose records are not independent: full neighbourhoods, and nothing that needs masses."""

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.verdicts import Decision

D = 30


def mostly_equal(n, rng):
    """All records agree, but for one coin in a hundred each."""
    return (rng.integers(0, 2, (n, 1)) ^ (rng.random((n, D)) < 0.01)).astype(int)


SAMPLED = lt.SampledDistribution(lt.Hypercube(D), mostly_equal, source="records that agree")
INDEPENDENT = lt.ProductDistribution.uniform(lt.Hypercube(D))


def told_when_equal(datasets):
    """Tells whether all records agree: fine for independent bits, fatal for these."""
    same = (datasets == datasets[:, :1]).all(axis=1)
    p = np.where(same, 0.9, 0.5)
    return np.log(np.stack([p, 1 - p], axis=1))


MECHANISM = lt.ClosedForm([0, 1], told_when_equal)
CALM = lt.ClosedForm([0, 1], lambda datasets: np.log(np.full((len(datasets), 2), 0.5)))


def check(mechanism, distribution, **options):
    numbers = {"epsilon": 0.5, "exception_mass": 0.01, "failure_probability": 1e-6, "seed": 4}
    return lt.check_privacy(mechanism, distribution, **numbers, **options)


@pytest.mark.parametrize("method", ["auto", "neighbourhoods"])
def test_neighbourhoods_see_what_the_data_look_like(method):
    verdict = check(MECHANISM, SAMPLED, method=method)
    assert (verdict.method, verdict.decision) == ("neighbourhoods", Decision.NO)
    assert verdict.distribution == "records that agree"
    assert verdict.witness.verify(MECHANISM)
    typical = check(MECHANISM, INDEPENDENT, method=method, search_laws=0)
    assert typical.decision is Decision.YES
    # A search looks at untypical datasets, too.
    assert check(MECHANISM, INDEPENDENT, method=method).decision is Decision.NO


def test_a_yes_counts_and_reads_like_any_other():
    verdict = check(CALM, SAMPLED)
    assert verdict.decision is Decision.YES
    assert verdict.cost.laws == verdict.plan.laws == 1375 * (1 + D)
    assert verdict.guarantee.per_record
    assert "records that agree" in str(verdict)


@pytest.mark.parametrize(
    "method",
    ["light-neighbourhoods", "edges", "group", lt.testers.VarianceEdges(), lt.testers.CDJS15()],
)
def test_methods_that_weigh_refuse_and_name_the_way_out(method):
    with pytest.raises(InputError, match="ProductDistribution"):
        check(CALM, SAMPLED, method=method)


def test_masses_do_not_make_it_a_product():
    weighed = lt.SampledDistribution(
        lt.Hypercube(D), mostly_equal, log_mass=lambda points: np.zeros(len(points))
    )
    with pytest.raises(InputError, match="neighbourhoods"):
        check(CALM, weighed, method="light-neighbourhoods")


def test_a_small_domain_is_proved_whatever_the_data():
    small = lt.SampledDistribution(lt.Hypercube(4), lambda n, rng: rng.integers(0, 2, (n, 4)))
    assert check(MECHANISM, small).decision is Decision.NO
    assert check(CALM, small).method == "exhaustive"


@pytest.mark.slow
def test_grids_have_an_expected_cost_and_exact_counts():
    grid = lt.Hypergrid([3, 5])
    sampled = lt.SampledDistribution(grid, lambda n, rng: np.zeros((n, 2), dtype=int))
    verdict = check(CALM, sampled, method="neighbourhoods")
    assert verdict.cost.laws == 1375 * (1 + 2)
    assert verdict.plan.laws >= verdict.cost.laws


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        (lambda n, rng: np.zeros((n, D + 1), dtype=int), "shape="),
        (lambda n, rng: np.zeros((n + 1, D), dtype=int), "points were requested"),
        (lambda n, rng: np.full((n, D), 2), "outside"),
        (lambda n, rng: np.full((n, D), 0.5), "outside"),
    ],
)
def test_a_broken_sampler_is_an_input_error(sampler, words):
    with pytest.raises(InputError, match=words):
        check(CALM, lt.SampledDistribution(lt.Hypercube(D), sampler))
