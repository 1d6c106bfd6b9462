"""What would mend a claim: the numbers that are named are enough, and hardly more than needed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.claims import Claim
from liptest.privacy.judge import make_witness
from liptest.privacy.proofs.domain_laws import DistinctLaws
from liptest.privacy.verdicts import PrivacyVerdict

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(1))
PAIRS = lt.ProductDistribution.uniform(lt.Hypercube(2))


def table(rows, law=CUBE, **options):
    """A mechanism with these exact probabilities, a row for each dataset."""
    exact = [[Fraction(p) for p in row] for row in rows]
    width = len(exact[0])

    def log_pmf(points):
        index = law.domain.index(points)
        with np.errstate(divide="ignore"):
            return np.log(np.array(exact, dtype=float))[index]

    return lt.ClosedForm(list(range(width)), log_pmf, exact_zeros=True, **options)


def weights(total):
    counts = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)
    return counts.map(lambda row: [Fraction(n, sum(row)) for n in row])


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(weights(20), min_size=4, max_size=4),
    st.sampled_from([0.05, 0.3, 1.0, 2.0]),
    st.sampled_from([0.0, 0.0, 0.001, 0.1]),
)
def test_what_is_named_is_enough_and_hardly_more_than_needed(rows, epsilon, delta):
    mechanism = table(rows, PAIRS)
    verdict = lt.check_privacy(mechanism, PAIRS, epsilon=epsilon, delta=delta)
    if verdict.decision != "NO":
        assert verdict.remedy is None
        return

    def answer(**claim):
        return lt.check_privacy(mechanism, PAIRS, **claim).decision

    assert verdict.sufficient_delta is not None or _disjoint(rows, epsilon) > 1 - 1e-6
    if verdict.sufficient_delta is not None:
        assert answer(epsilon=epsilon, delta=verdict.sufficient_delta) == "YES"
        assert answer(epsilon=epsilon, delta=verdict.sufficient_delta * 0.9999) == "NO"
    if verdict.sufficient_epsilon is not None:
        assert answer(epsilon=verdict.sufficient_epsilon, delta=delta) == "YES"
        assert answer(epsilon=verdict.sufficient_epsilon * 0.999, delta=delta) == "NO"
    assert verdict.witness.least_delta <= (verdict.sufficient_delta or 1.0)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_remedy_is_for_all_blocks_of_pairs(monkeypatch, delta):
    rows = [["1/2", "1/2"], ["1/4", "3/4"], ["1/2", "1/2"], ["9/10", "1/10"]]
    for order in (rows, rows[::-1]):
        whole = lt.check_privacy(table(order, PAIRS), PAIRS, epsilon=0.1, delta=delta)
        with monkeypatch.context() as patch:
            patch.setattr(DistinctLaws, "pairs_per_slice", lambda self: 1)
            parts = lt.check_privacy(table(order, PAIRS), PAIRS, epsilon=0.1, delta=delta)
        assert parts.remedy == whole.remedy
        assert whole.sufficient_delta > 0.3


def _disjoint(rows, epsilon):
    factor = math.exp(epsilon)
    pairs = [(0, 1), (0, 2), (1, 3), (2, 3)]
    sticks = [
        sum(max(0.0, float(p) - factor * float(q)) for p, q in zip(rows[a], rows[b], strict=True))
        for pair in pairs
        for a, b in (pair, pair[::-1])
    ]
    return max(sticks)


def test_the_witness_is_the_bug_and_not_a_tail_of_infinite_loss():
    tail = Fraction(1, 10**16)
    rows = [[Fraction(63, 100), tail, Fraction(37, 100) - tail], [tail, 0, 1 - tail]]
    verdict = lt.check_privacy(table(rows), CUBE, epsilon=1.0)
    assert (verdict.witness.output, verdict.largest_loss) == (0, math.inf)
    assert "output 0: probability 0.63 against 1e-16" in str(verdict)
    assert "epsilon 1 and delta >= 0.63" in str(verdict)


def test_the_pair_of_datasets_is_the_bug_too():
    tail = Fraction(1, 10**16)
    fair = [Fraction(1, 2), Fraction(1, 2), 0]
    tailed = [Fraction(1, 2) - tail, Fraction(1, 2), tail]
    rows = [fair, tailed, fair, [Fraction(1, 10), Fraction(9, 10), 0]]
    verdict = lt.check_privacy(table(rows, PAIRS), PAIRS, epsilon=1.0, method="exhaustive")
    assert verdict.largest_loss == math.inf
    assert verdict.witness.loss < 2


def test_a_loss_that_is_infinite_in_a_tail_only_is_told_with_both():
    tail = Fraction(2, 10**16)
    rows = [
        [Fraction(84, 100), Fraction(16, 100) - tail, tail],
        [Fraction(16, 100), Fraction(84, 100), 0],
    ]
    verdict = lt.check_privacy(table(rows), CUBE, epsilon=2.0)
    assert verdict.remedy.apart == (pytest.approx(math.log(84 / 16), rel=1e-5), 2e-16)
    assert (
        "Only outputs of total probability 2e-16 at most have an infinite loss; without them it is "
        "1.65823: proved with epsilon 1.65823 and delta 2e-16." in str(verdict)
    )
    epsilon, delta = verdict.remedy.apart
    again = lt.check_privacy(table(rows), CUBE, epsilon=epsilon, delta=delta)
    assert again.decision == "YES"


def _geometric(data, rng):
    k = 0
    while rng.random() < 0.36787944117144233:
        k = k + 1  # not counted as a loop of coins
    sign = 1 if rng.random() < 0.5 else -1
    return int(data.sum()) + sign * k


@pytest.mark.slow
def test_what_a_tail_leaves_open_is_proved_with_a_delta():
    mechanism = lt.mechanism(max_choices=60)(_geometric)
    verdict = lt.check_privacy(mechanism, CUBE, epsilon=2.0)
    assert verdict.decision == "INCONCLUSIVE"
    assert 0 < verdict.sufficient_delta < 1e-15
    assert f"epsilon 2 and delta {verdict.sufficient_delta:g}" in str(verdict)
    proved = lt.check_privacy(mechanism, CUBE, epsilon=2.0, delta=verdict.sufficient_delta)
    assert (proved.decision, proved.guarantee.kind) == ("YES", "proof")


def _count_of_heads(data, rng):
    """Ends of itself after 20 or 21 heads, for some datasets only."""
    k = 0
    while rng.random() < 0.5 and (data[0] or k < 20 + data[1]):
        k += 1
    return k


@pytest.mark.slow
def test_some_laws_with_a_tail_beside_whole_ones_have_a_remedy():
    mechanism = lt.mechanism(max_choices=60)(_count_of_heads)
    verdict = lt.check_privacy(mechanism, PAIRS, epsilon=2.0)
    assert verdict.decision == "NO"
    assert 2.0**-22 < verdict.sufficient_delta < 2.0**-19
    claim = {"epsilon": 2.0, "delta": verdict.sufficient_delta}
    assert lt.check_privacy(mechanism, PAIRS, **claim).decision == "YES"


@pytest.mark.slow
def test_noise_with_formulas_has_a_remedy():
    mechanism = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(2))
    law = lt.ProductDistribution.uniform(lt.Hypercube(30))
    verdict = lt.check_privacy(mechanism, law, epsilon=0.5)
    assert (verdict.decision, verdict.sufficient_epsilon) == ("NO", None)
    for claim in ({"delta": verdict.sufficient_delta}, {"delta": verdict.sufficient_delta * 0.999}):
        expected = "YES" if claim["delta"] == verdict.sufficient_delta else "NO"
        assert lt.check_privacy(mechanism, law, epsilon=0.5, **claim).decision == expected


@pytest.mark.slow
def test_a_claim_with_delta_on_real_outputs_has_no_largest_loss():
    mechanism = lt.mechanism(lambda data, rng: float(data[0]) + rng.normal(0, 1))
    for delta in (0.01, 0.2):
        text = str(lt.check_privacy(mechanism, CUBE, epsilon=1.0, delta=delta))
        assert "infinite" not in text
        assert "Largest loss" not in text


@pytest.mark.slow
def test_the_largest_loss_of_laws_with_a_tail_is_what_is_certain():
    mechanism = lt.mechanism(max_choices=60)(_count_of_heads)
    for method in ("exhaustive", "neighbourhoods"):
        verdict = lt.check_privacy(mechanism, PAIRS, epsilon=0.1, method=method, seed=1)
        assert verdict.decision == "NO"
        assert 0.1 < verdict.witness.loss_lower <= verdict.largest_loss


@pytest.mark.slow
def test_a_refutation_by_sampling_says_what_is_needed_at_least():
    law = lt.ProductDistribution.uniform(lt.Hypercube(12))
    mechanism = lt.mechanism(lambda data, rng: int(data.sum()) + int(rng.integers(0, 2)))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0, method="neighbourhoods", seed=1)
    assert verdict.remedy is None
    assert "With epsilon 1 no delta below 0.5 would be enough." in str(verdict)


def test_where_everything_is_told_no_delta_helps():
    verdict = lt.check_privacy(lt.mechanism(lambda data: int(data[0])), CUBE, epsilon=1.0)
    assert verdict.remedy is None
    assert "no delta below 1 would be enough" in str(verdict)


def test_a_remedy_is_kept_in_json_and_left_out_where_there_is_none():
    found = lt.check_privacy(table([["3/4", "1/4"], ["1/4", "3/4"]]), CUBE, epsilon=0.5)
    assert PrivacyVerdict.from_json(found.to_json()) == found
    kept = lt.check_privacy(table([["3/4", "1/4"], ["1/4", "3/4"]]), CUBE, epsilon=1.5)
    assert "remedy" not in kept.to_dict()
    assert PrivacyVerdict.from_json(kept.to_json()) == kept


def test_least_delta_is_rounded_down():
    mechanism = table([["2/3", "1/3"], ["1/3", "2/3"]])
    ends = np.array([[0], [1]], dtype=np.int8)
    witness = make_witness(mechanism, ends[0], ends[1], Claim(0.1, 0.0, 0.0))
    exact = 2 / 3 - math.exp(0.1) / 3
    assert witness.least_delta <= exact < witness.least_delta * 1.001
