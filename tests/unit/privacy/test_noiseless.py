"""Noiseless privacy against brute force over all datasets, in exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.noiseless import NoiselessPrivacy, noiseless_privacy
from liptest.privacy.noiseless_laws import additive_parts, leave_one_out_laws, sample_divergences

PROBABILITIES = [0.3, 0.5, 0.25, 0.7, 0.5]


def laws_given(distribution, release, record):
    """Value -> {output: exact probability given that the record has the value}."""
    domain = distribution.domain
    masses = [distribution.exact_marginal(r) for r in range(domain.dimension)]
    found = {}
    for value in range(domain.sizes[record]):
        if not masses[record][value]:
            continue
        law = {}
        for point in product(*map(range, domain.sizes)):
            if point[record] == value:
                mass = math.prod(
                    (masses[r][v] for r, v in enumerate(point) if r != record), start=Fraction(1)
                )
                for output, chance in release(point).items():
                    law[output] = law.get(output, 0) + mass * chance
        found[value] = law
    return found


def exact_delta(distribution, release, epsilon):
    """The least delta over all records and values."""
    factor = Fraction(math.exp(epsilon))
    worst = Fraction(0)
    for record in range(distribution.domain.dimension):
        laws = laws_given(distribution, release, record)
        for a, b in permutations(laws, 2):
            total = sum(
                max(Fraction(0), p - factor * laws[b].get(o, 0)) for o, p in laws[a].items()
            )
            worst = max(worst, total)
    return float(worst)


def contains(found, value):
    return found.delta_lower <= value * (1 + 1e-12) and value <= found.delta_upper * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 3.0])
def test_an_exact_count(epsilon):
    law = lt.ProductDistribution.bernoulli(PROBABILITIES)
    found = noiseless_privacy(lt.Count(), law, epsilon=epsilon)
    truth = exact_delta(law, lambda x: {sum(x): Fraction(1)}, epsilon)
    assert found.method == "exact"
    assert truth > 0
    assert contains(found, truth)
    assert found.delta_upper - found.delta_lower < 1e-11


@pytest.mark.parametrize(
    "domain", [lt.Hypercube(4), lt.Hypergrid([3, 2, 3, 2]), lt.RecordGrid([3, 2, 3, 2])]
)
def test_a_weighted_sum_with_a_negative_weight(domain):
    weights = [2, -1, 1, 3]
    marginals = [np.arange(1, n + 1) / (n * (n + 1) / 2) for n in domain.sizes]
    law = lt.ProductDistribution(domain, marginals)

    def release(x):
        return {sum(w * v for w, v in zip(weights, x, strict=True)): Fraction(1)}

    found = noiseless_privacy(lt.statistics.WeightedSum(weights), law, epsilon=0.5)
    assert contains(found, exact_delta(law, release, 0.5))
    assert found.delta_upper - found.delta_lower < 1e-11


def test_a_noisy_count_is_exact_and_agrees_with_enumeration():
    law = lt.ProductDistribution.bernoulli(PROBABILITIES)
    mechanism = lt.catalogue.truncated_geometric_count(5, 1.0)
    known = {k: lt.output_law(mechanism, [1] * k + [0] * (5 - k)) for k in range(6)}

    def release(x):
        return {o: Fraction(p) for o, p in known[sum(x)].items()}

    found = noiseless_privacy(mechanism, law, epsilon=0.1)
    assert found.method == "exact"
    assert contains(found, exact_delta(law, release, 0.1))
    closed = lt.ClosedForm(
        mechanism.outputs, lambda x: mechanism.log_pmf(x.sum(axis=1, dtype=np.int64))
    )
    slow = noiseless_privacy(closed, law, epsilon=0.1)
    assert slow.method == "enumerated"
    assert slow.delta_upper == pytest.approx(found.delta_upper, abs=1e-11)


def test_noise_that_is_not_bounded():
    law = lt.ProductDistribution.bernoulli(PROBABILITIES)
    mechanism = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    found = noiseless_privacy(mechanism, law, epsilon=0.1)
    q = math.exp(-0.5)

    def release(x):
        peak = (1 - q) / (1 + q)
        return {j: Fraction(peak * q ** abs(j - sum(x))) for j in range(-80, 90)}

    assert found.delta_lower - 1e-12 <= exact_delta(law, release, 0.1) <= found.delta_upper + 1e-12
    assert 0 < found.delta_upper < exact_delta(law, lambda x: {sum(x): Fraction(1)}, 0.1)


def test_differential_privacy_is_stronger():
    """A 1-private mechanism is noiselessly (1, 0)-private whatever the data."""
    law = lt.ProductDistribution.bernoulli([0.01, 0.9, 0.5])
    mechanism = lt.catalogue.randomised_response(3, 1.0)
    found = noiseless_privacy(mechanism, law, epsilon=1.0)
    assert found.delta_lower == 0
    assert found.delta_upper < 1e-12


def test_a_deterministic_output_needs_delta():
    """Count 0 is impossible given that a record is 1: no finite epsilon has delta 0."""
    law = lt.ProductDistribution.bernoulli([0.5] * 4)
    found = noiseless_privacy(lt.Count(), law, epsilon=60.0)
    assert found.delta_lower == pytest.approx(1 / 8)
    assert noiseless_privacy(lt.Count(), law, delta=1e-3).epsilon == math.inf


def test_values_without_mass_are_not_compared():
    law = lt.ProductDistribution.bernoulli([1.0, 0.0, 1.0])
    assert noiseless_privacy(lt.Count(), law, epsilon=0.0).delta_upper == 0
    law = lt.ProductDistribution.bernoulli([1.0, 0.5, 1.0])
    assert noiseless_privacy(lt.Count(), law, epsilon=0.0).delta_lower == pytest.approx(1.0)


def test_the_least_epsilon():
    law = lt.ProductDistribution.bernoulli([0.3] * 200)
    found = noiseless_privacy(lt.Count(), law, delta=1e-3)
    assert found.delta_upper <= 1e-3
    below = noiseless_privacy(lt.Count(), law, epsilon=found.epsilon * (1 - 1e-3))
    assert below.delta_lower > 1e-3


def test_correlated_records_have_their_true_conditional_law():
    """Two copies of one fair bit: given the first, the second is known."""

    def log_mass(points):
        return np.where(points[:, 0] == points[:, 1], math.log(0.5), -np.inf)

    def sampler(n, rng):
        return np.repeat(rng.integers(0, 2, (n, 1)), 2, axis=1)

    cube = lt.Hypercube(2)
    mechanism = lt.ClosedForm([0, 1], lambda x: np.log(np.eye(2)[x[:, 1]] * 0.5 + 0.25))
    law = lt.SampledDistribution(cube, sampler, log_mass)
    found = noiseless_privacy(mechanism, law, epsilon=0.0)
    assert found.method == "enumerated"
    # Given the first bit the output is the second bit's: 3/4 against 1/4.
    assert found.delta_upper == pytest.approx(0.5)
    assert found.record == 0
    bands = noiseless_privacy(
        mechanism, lt.SampledDistribution(cube, sampler), epsilon=0.0, seed=1, draws=20_000
    )
    assert bands.method == "sampled"
    assert 0.4 < bands.delta_lower <= 0.5 <= bands.delta_upper < 0.6


def test_bands_are_repeated_from_their_seed():
    law = lt.ProductDistribution.uniform(lt.Hypercube(15))
    mechanism = lt.catalogue.leak(15, 0.3)
    first, again, other = (
        noiseless_privacy(mechanism, law, epsilon=0.5, seed=seed, draws=2000) for seed in (4, 4, 5)
    )
    assert first == again
    assert first != other
    assert first.delta_lower <= 0.3 <= first.delta_upper


@pytest.mark.slow
def test_bands_cover_the_truth_as_often_as_promised():
    """At a failure probability of 0.2, and a fifth as wide a band would not."""
    law = lt.ProductDistribution.bernoulli([0.5, 0.3])
    mechanism = lt.catalogue.leak(2, 0.5)
    misses = thin = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        found = list(
            sample_divergences(mechanism, law, 1.0, draws=200, failure_probability=0.2, rng=rng)
        )
        # Record 0 is shown with probability 1/2, record 1 never.
        truth = {0: 0.5, 1: 0.0}
        misses += any(not d.lower <= truth[d.record] <= d.upper for d in found)
        thin += any(abs(d.upper - truth[d.record]) > 0.2 * (d.upper - d.lower) for d in found)
    assert misses <= 60
    assert thin > 60


def test_a_value_never_seen_has_no_band():
    law = lt.ProductDistribution.bernoulli([1e-9] + [0.5] * 15)
    found = noiseless_privacy(lt.catalogue.leak(16, 0.3), law, epsilon=0.5, seed=1, draws=100)
    assert (found.delta_upper, found.record) == (1.0, 0)


def test_left_out_laws_keep_their_relative_precision():
    """Tails of 1e-200 to twelve digits, against exact rationals."""
    probabilities = [0.5**k for k in range(1, 13)] * 4
    law = lt.ProductDistribution.bernoulli(probabilities)
    parts, lowest = additive_parts(lt.Count(), law)
    assert lowest == 0
    assert len(parts) == 12
    for part, others in leave_one_out_laws(parts):
        exact = [Fraction(1)]
        rest = list(probabilities)
        del rest[part.record]
        for p in map(Fraction, rest):
            exact = [
                (exact[k] * (1 - p) if k < len(exact) else 0) + (exact[k - 1] * p if k else 0)
                for k in range(len(exact) + 1)
            ]
        assert others == pytest.approx([float(value) for value in exact], rel=1e-12)


@pytest.mark.slow
def test_ten_thousand_different_records():
    law = lt.ProductDistribution.bernoulli(np.linspace(0.1, 0.9, 10_000))
    found = noiseless_privacy(lt.Count(), law, epsilon=0.1)
    # The count of the others is close to normal with variance sum p (1 - p).
    variance = float(np.sum(law.probabilities * (1 - law.probabilities)))
    cut = 0.1 * variance - 0.5

    def tail(z):
        return 0.5 * math.erfc(z / math.sqrt(2))

    spread = math.sqrt(variance)
    about = tail((cut) / spread) - math.exp(0.1) * tail((cut + 1) / spread)
    assert found.delta_upper == pytest.approx(about, rel=0.1)
    assert found.delta_upper < found.delta_lower * 1.001


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "exactly one"),
        ({"epsilon": 1.0, "delta": 0.1}, "exactly one"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
    ],
)
def test_wrong_arguments(arguments, words):
    law = lt.ProductDistribution.bernoulli([0.5, 0.5])
    with pytest.raises(lt.errors.InputError, match=words):
        noiseless_privacy(lt.Count(), law, **arguments)


def test_what_has_no_method_is_refused():
    law = lt.ProductDistribution.uniform(lt.Hypercube(15))
    with pytest.raises(lt.errors.InputError, match="give epsilon"):
        noiseless_privacy(lt.catalogue.leak(15, 0.3), law, delta=0.1)
    grid = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))
    with pytest.raises(lt.errors.InputError, match="only a sum"):
        noiseless_privacy(lt.Histogram(3), grid, epsilon=1.0)
    with pytest.raises(lt.errors.BudgetError, match="values"):
        noiseless_privacy(lt.statistics.WeightedSum([1 << 30] * 15), law, epsilon=1.0)


def test_the_answer_is_printed_with_its_adversary_and_comes_back_from_json():
    law = lt.ProductDistribution.bernoulli([0.3] * 50)
    found = noiseless_privacy(lt.Count(), law, epsilon=0.5)
    text = str(found)
    assert "adversary who knows the distribution" in text
    assert "not differential privacy" in text
    assert NoiselessPrivacy.from_json(found.to_json()) == found


def _rounded(total, rng):
    """A coarse count, and now and then nothing."""
    return "none" if rng.integers(4) == 0 else int(total) // 2


@lt.mechanism(statistic=lt.Count())
def declared(count, rng):
    return _rounded(count, rng)


@lt.mechanism(statistic=lt.statistics.WeightedSum([2, -1, 1, 3, 1]))
def weighted(total, rng):
    return _rounded(total, rng)


@lt.mechanism
def plain(data, rng):
    return _rounded(data.sum(), rng)


@pytest.mark.parametrize(
    ("mechanism", "weights"),
    [(declared, [1] * 5), (weighted, [2, -1, 1, 3, 1]), (plain, [1] * 5)],
    ids=["declared", "weighted", "plain"],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_code_on_a_sum_is_exact(mechanism, weights, epsilon):
    law = lt.ProductDistribution.bernoulli(PROBABILITIES)

    def release(x):
        total = sum(w * v for w, v in zip(weights, x, strict=True))
        return {"none": Fraction(1, 4), total // 2: Fraction(3, 4)}

    found = noiseless_privacy(mechanism, law, epsilon=epsilon)
    truth = exact_delta(law, release, epsilon)
    assert found.method == "exact"
    assert truth > 0
    assert contains(found, truth)
    assert found.delta_upper - found.delta_lower < 1e-11
    least = noiseless_privacy(mechanism, law, delta=truth * 1.01).epsilon
    assert least <= epsilon + 1e-3


@pytest.mark.slow
def test_code_on_a_long_sum_is_what_the_sum_is():
    law = lt.ProductDistribution.bernoulli(np.linspace(0.2, 0.7, 400))
    told = noiseless_privacy(lt.Count(), law, epsilon=0.3)
    for mechanism in (
        lt.mechanism(statistic=lt.Count())(lambda count, rng: int(count)),
        lt.mechanism(lambda data, rng: int(data.sum())),
    ):
        found = noiseless_privacy(mechanism, law, epsilon=0.3)
        assert found.method == "exact"
        assert found.delta_upper == pytest.approx(told.delta_upper, rel=1e-9)


def test_noise_in_code_is_integrated():
    law = lt.ProductDistribution.bernoulli(PROBABILITIES)
    mechanism = lt.mechanism(statistic=lt.Count())(lambda k, rng: bool(k + rng.laplace(0, 1) > 2))
    found = noiseless_privacy(mechanism, law, epsilon=0.1)

    def release(x):
        gap = 2 - sum(x)
        above = Fraction(math.exp(-gap) / 2 if gap >= 0 else 1 - math.exp(gap) / 2)
        return {True: above, False: 1 - above}

    assert found.method == "exact"
    assert found.delta_upper == pytest.approx(exact_delta(law, release, 0.1), rel=1e-9)


@pytest.mark.slow
def test_code_of_too_many_ways_is_sampled():
    @lt.mechanism(statistic=lt.Count())
    def many(count, rng):
        return int(count > 4000) ^ int(sum(rng.integers(2) for _ in range(9)) == 9)

    law = lt.ProductDistribution.bernoulli(np.full(5000, 0.5))
    found = noiseless_privacy(many, law, epsilon=0.3, draws=400, seed=1)
    assert (found.method, found.draws) == ("sampled", 400)


def test_real_outputs_are_an_input_error():
    law = lt.ProductDistribution.bernoulli(PROBABILITIES)
    real = lt.mechanism(statistic=lt.Count())(lambda count, rng: count + rng.laplace(0, 1))
    with pytest.raises(lt.errors.InputError, match="not finitely many; round them"):
        noiseless_privacy(real, law, epsilon=0.3)
