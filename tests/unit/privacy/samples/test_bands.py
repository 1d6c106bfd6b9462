"""Sampled profiles: what they say, their answers to claims, and what they refuse."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.wording.profile_result import PrivacyProfile
from liptest.verdicts import Decision

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(6))
NEEDLE = lt.catalogue.needle(6, [1] * 6, 1.0)
GRID = [0.5, 1.0, 3.0]
SAMPLED = ("neighbourhoods", "light-neighbourhoods")


def profile(mechanism=NEEDLE, distribution=CUBE, **options):
    options = {"method": "neighbourhoods", "seed": 1, "draws": 4000, "epsilons": GRID} | options
    return lt.privacy_profile(mechanism, distribution, **options)


def random_mechanism(domain, seed=0):
    table = np.random.default_rng(seed).dirichlet(np.ones(3), domain.size)
    return lt.ClosedForm(range(3), lambda x: np.log(table[domain.index(x)]), name="random")


@pytest.mark.parametrize("method", SAMPLED)
def test_bands_hold_the_exact_curve_of_a_needle(method):
    found = profile(method=method)
    exact = profile(method="exact")
    for band, truth in zip(found.points, exact.points, strict=True):
        assert band.lower <= truth.lower == truth.upper <= band.upper
    assert found.points[-1].lower > 0
    assert found.largest_loss == math.inf
    assert (found.method, found.draws, found.failure_probability) == (method, 4000, 1e-6)


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize(
    "domain", [lt.Hypercube(4), lt.Hypergrid([3, 4]), lt.RecordGrid([3, 4])], ids=str
)
def test_bands_hold_the_exact_curve_on_every_domain(domain, delta):
    mechanism = random_mechanism(domain)
    rng = np.random.default_rng(2)
    law = lt.ProductDistribution(domain, [rng.dirichlet(np.ones(n)) for n in domain.sizes])
    grid = [0.2, 0.5, 1.0, 2.0, 3.0, 5.0]
    exact = profile(mechanism, law, method="exact", epsilons=grid, delta=delta)
    for method in SAMPLED:
        found = profile(mechanism, law, method=method, epsilons=grid, delta=delta)
        for band, truth in zip(found.points, exact.points, strict=True):
            assert band.delta == delta
            assert band.lower <= truth.upper + 1e-12
            assert band.upper >= truth.lower - 1e-12
        assert any(band.lower > 0 for band in found.points)
        # 4,000 draws are too few for the mass of a thousandth, and losses say nothing of delta.
        assert found.certified_epsilon == math.inf


def test_bands_fall_with_epsilon_and_certify_the_largest_loss():
    mechanism = lt.catalogue.truncated_geometric_count(6, 0.7)
    found = profile(mechanism, epsilons=[0.3, 0.69, 0.7, 1.0], draws=None)
    for name in ("lower", "upper"):
        values = [getattr(point, name) for point in found.points]
        assert values == sorted(values, reverse=True)
    assert found.points[1].lower > 0.4
    assert found.points[2].upper <= 1e-3
    assert found.certified_epsilon == pytest.approx(0.7, abs=1e-9)
    assert found.smallest_epsilon(1e-3) == pytest.approx(0.7, abs=1e-9)
    assert found.smallest_epsilon(0.5) == 0.3
    assert found.smallest_epsilon(1e-4) == math.inf


def test_answers_to_claims_say_what_kind_they_are():
    found = profile()
    refused = found.gdp(epsilon=2.0, exception_mass=1e-3)
    assert (refused.decision, refused.kind) == (Decision.NO, "statistical")
    assert refused.lower > refused.exception_mass
    assert "1 in 1,000,000" in refused.sentence
    assert "not the certain NO of check_privacy" in refused.sentence
    assert "the uniform law on Hypercube(6)" in refused.sentence
    held = found.gdp(epsilon=2.0, exception_mass=0.1)
    assert held.decision is Decision.YES
    assert "1 in 1,000,000" in held.sentence
    open_one = found.gdp(epsilon=2.0, exception_mass=1 / 64)
    assert open_one.decision is Decision.INCONCLUSIVE
    assert "not decided" in open_one.sentence


def test_exact_answers_name_no_chance():
    found = profile(method="exact")
    for mass, decision in ((1e-3, Decision.NO), (0.1, Decision.YES)):
        answer = found.gdp(epsilon=2.0, exception_mass=mass)
        assert (answer.decision, answer.kind) == (decision, "exact")
        assert "1 in" not in answer.sentence
    assert found.certified_epsilon is None


def test_between_and_beyond_the_grid_its_points_bound():
    found = profile()
    between = found.at(2.0)
    assert (between.lower, between.upper) == (found.points[2].lower, found.points[1].upper)
    assert (found.at(0.1).upper, found.at(9.0).lower) == (1.0, 0.0)
    with pytest.raises(lt.errors.InputError, match="epsilon"):
        found.at(0.0)


@pytest.mark.parametrize("method", ["exact", *SAMPLED])
def test_a_profile_comes_back_from_json_and_prints(method):
    found = profile(method=method)
    assert PrivacyProfile.from_json(found.to_json()) == found
    text = str(found)
    assert found.mechanism in text.splitlines()[0]
    assert ("hit an event of probability <= 1 in 1,000,000" in text) == (method != "exact")
    with pytest.raises(lt.errors.InputError, match="not written by liptest"):
        PrivacyProfile.from_dict({"points": 3})


def test_the_same_seed_gives_the_same_bands_on_any_number_of_workers():
    with ThreadPoolExecutor(2) as executor:
        runs = [profile(), profile(), profile(executor=executor)]
    kept = {(run.points, run.certified_epsilon, run.laws) for run in runs}
    assert len(kept) == 1
    assert profile(seed=2).points != runs[0].points


@pytest.mark.slow
def test_the_default_grid_comes_from_draws_that_are_not_counted():
    found = profile(random_mechanism(lt.Hypercube(6)), epsilons=None)
    assert len(found.points) == 40
    assert found.laws == 4000 * 7


def test_a_sampler_without_masses_has_an_upper_band_only():
    plain = lt.SampledDistribution(CUBE.domain, lambda n, rng: CUBE.sample(rng, n))
    weighed = lt.SampledDistribution(CUBE.domain, lambda n, rng: CUBE.sample(rng, n), CUBE.log_mass)
    without, known = profile(distribution=plain), profile(distribution=weighed)
    assert all(point.lower == 0 for point in without.points)
    assert known.points[-1].lower > 0
    assert [p.upper for p in without.points] == [p.upper for p in known.points]


def test_masses_that_contradict_the_sampler_are_refused():
    wrong = lt.SampledDistribution(
        CUBE.domain,
        lambda n, rng: CUBE.sample(rng, n),
        lambda points: np.where(points[:, 0] == 1, 0.0, -np.inf),
    )
    with pytest.raises(lt.errors.InputError, match="probability 0"):
        profile(distribution=wrong)


def test_what_cannot_be_decided_widens_the_band_on_both_sides():
    """Undeclared zeros on both sides may hide any loss: above they count, below they do not."""
    half = math.log(0.5)
    logs = np.array([[half, half, -np.inf]] * 2)
    mechanism = lt.ClosedForm(range(3), lambda x: logs[x[:, 0]])
    found = profile(mechanism, method="neighbourhoods")
    assert [(p.lower, p.upper) for p in found.points] == [(0.0, 0.5)] * 3
    assert found.certified_epsilon == math.inf


def test_unbounded_outputs_are_profiled_by_sampling():
    mechanism = lt.ShiftMechanism(
        lt.statistics.WeightedSum([1, 2, 1, 1, 1, 1]), lt.DiscreteLaplace(1)
    )
    found = profile(mechanism, method="auto", epsilons=[0.5, 1.0, 1.5, 2.0])
    assert found.method == "neighbourhoods"
    assert found.points[2].lower > 0.4
    assert found.points[3].upper < 0.01
    with pytest.raises(lt.errors.InputError, match="unbounded"):
        lt.exception_mass(mechanism, CUBE, epsilon=1.0)


def test_large_domains_are_sampled_by_auto():
    law = lt.ProductDistribution.bernoulli(np.full(40, 0.1))
    found = profile(lt.catalogue.leak(40, 0.1), law, method="auto", epsilons=[1.0])
    [point] = found.points
    assert found.method == "neighbourhoods"
    assert point.lower <= 0.1 <= point.upper
    assert point.upper - point.lower < 0.06


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "edges"}, "method='edges' is unknown"),
        ({"epsilons": []}, "empty"),
        ({"epsilons": [0.0]}, "epsilon"),
        ({"draws": 0}, "draws"),
        ({"exception_mass": 0.0, "draws": None}, "exception_mass"),
        ({"failure_probability": 1.0}, "failure_probability"),
        ({"delta": 1.0}, "delta"),
    ],
)
def test_wrong_arguments_are_refused(options, match):
    with pytest.raises(lt.errors.InputError, match=match):
        profile(**options)


def test_a_budget_lowers_the_draws_beforehand():
    assert profile(budget=700).draws == 100
    with pytest.raises(lt.errors.BudgetError, match="one draw"):
        profile(budget=6)
    with pytest.raises(lt.errors.BudgetError, match="pilot"):
        profile(budget=700, epsilons=None)


def test_a_mechanism_that_only_raises_is_broken():
    @lt.mechanism
    def broken(data, rng):
        raise ValueError("no")

    with pytest.raises(lt.errors.MechanismError, match="every dataset"):
        profile(broken, lt.ProductDistribution.uniform(lt.Hypercube(3)), draws=20)


def test_an_interrupted_profile_says_nothing():
    def stop(done, planned):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profile(progress=stop, draws=60_000)
