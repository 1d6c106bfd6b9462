"""Sequential tests: the bets are fair to a true claim at every time, and find false ones soon."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.blackbox.betting import estimate_growth, log_doubt
from liptest.blackbox.events import Outputs, feature, low_bits
from liptest.blackbox.learning import Tally
from liptest.blackbox.verdicts import Bets, BlackBoxVerdict, count_problems
from liptest.errors import InputError
from liptest.evidence.certificate import Certificate, certify_samples
from liptest.report.html import report_html
from liptest.verdicts import Decision
from tests.unit.blackbox.mechanisms import BIT, laplace_count, raising, responses

PAIR = [([0], [1])]


def wealth(wins: int, losses: int, p: Fraction) -> Fraction:
    """The integral of B1, term by term: the binomial expansion of q^W (1-q)^L."""
    total = Fraction(0)
    for j in range(losses + 1):
        power = wins + j + 1
        total += (-1) ** j * math.comb(losses, j) * (1 - p**power) / power
    return total / (1 - p) / (p**wins * (1 - p) ** losses)


CHANCES = st.fractions(Fraction(1, 2), Fraction(99, 100), max_denominator=100)
COUNTS = st.integers(0, 25)


@pytest.mark.slow
@given(wins=COUNTS, losses=COUNTS, p=CHANCES)
def test_the_closed_form_is_the_integral(wins, losses, p):
    odds = math.log(p / (1 - p))
    exact = math.log(wealth(wins, losses, p))
    assert log_doubt(wins, wins + losses, odds) == pytest.approx(-exact, abs=1e-9)


@pytest.mark.slow
@given(wins=COUNTS, losses=COUNTS, p=CHANCES, share=st.fractions(0, 1, max_denominator=20))
def test_wealth_does_not_grow_on_average_while_the_claim_holds(wins, losses, p, share):
    now = wealth(wins, losses, p)
    r = share * p
    assert r * wealth(wins + 1, losses, p) + (1 - r) * wealth(wins, losses + 1, p) <= now
    won, lost = (wealth(wins + w, losses + 1 - w, p) for w in (1, 0))
    assert p * won + (1 - p) * lost == now


@pytest.mark.slow
@given(wins=COUNTS, losses=COUNTS, ends=st.tuples(CHANCES, CHANCES))
def test_wealth_falls_with_epsilon_and_with_losses(wins, losses, ends):
    assert wealth(wins, losses, min(ends)) >= wealth(wins, losses, max(ends))
    assert wealth(wins, losses, ends[0]) >= wealth(wins, losses + 1, ends[0])


@given(wins=st.integers(0, 400), losses=st.integers(0, 400), odds=st.floats(0, 6))
def test_the_wealth_is_at_most_its_largest_growth(wins, losses, odds):
    """What the sequential test skips: where the best stakes cannot reach the level."""
    assert -log_doubt(wins, wins + losses, odds) <= estimate_growth(wins, losses, odds) + 1e-6


def ever_refuted(epsilon: float, level: float, steps: int, odds: float | None = None) -> float:
    """The exact probability that the wealth reaches 1/level within so many counted steps."""
    p = 1 / (1 + math.exp(-(epsilon if odds is None else odds)))
    alive, refuted = np.ones(1), 0.0
    for step in range(1, steps + 1):
        following = np.zeros(step + 1)
        following[1:] += alive * p
        following[:-1] += alive * (1 - p)
        least = next(
            (
                wins
                for wins in range(max(0, int(p * step) - 1), step + 1)
                if log_doubt(wins, step, epsilon) <= math.log(level)
            ),
            step + 1,
        )
        refuted += following[least:].sum()
        following[least:] = 0.0
        alive = following
    return refuted


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_chance_of_a_false_alarm_at_any_time_is_below_the_level(epsilon):
    """By dynamic programming over all runs of 60 bets, not by chance."""
    found = ever_refuted(epsilon, 0.2, 60)
    assert 0.01 < found < 0.2
    # The same bets at a level five times too generous would be caught.
    assert ever_refuted(epsilon, 0.999, 60) > 0.2
    assert ever_refuted(epsilon, 0.2, 60, odds=2 * epsilon) > found


def check(function, data=PAIR, **options):
    settings = {"epsilon": 1.0, "samples": 2_000, "seed": 1, "sequential": True, **options}
    return lt.check_samples(lt.Sampler(function), data, **settings)


def twice(x, n, rng):
    """Randomised response of epsilon 2."""
    keep = rng.random(n) < math.exp(2) / (1 + math.exp(2))
    return np.where(keep, x[0], 1 - x[0])


def test_a_false_claim_is_refuted_by_few_samples():
    verdict = check(twice)
    assert verdict.decision == Decision.NO
    assert verdict.cost.draws < 1_000
    witness = verdict.witness
    assert witness.bets is not None
    assert 1.0 <= witness.lower_bound < 2.0
    assert witness.failure_probability == 1e-6
    assert count_problems(verdict) == []
    text = str(verdict)
    assert "drawn until enough was known" in text
    assert "NO by samples - a statistical refutation, not a certain one" in text
    assert "wherever one stops" in text
    again = witness.repeat(
        lt.Sampler(twice), samples=20_000, failure_probability=1e-3, seed=verdict.seed + 1
    )
    assert again.lower_bound > 1.5


def test_a_true_claim_is_left_open():
    verdict = check(twice, epsilon=2.0)
    assert verdict.decision == Decision.INCONCLUSIVE
    assert verdict.cost.draws <= 2_000
    assert "never says YES" in verdict.note
    assert verdict.largest_loss < 2.0


def test_pairs_sets_and_directions_are_found():
    cube = lt.ProductDistribution.uniform(lt.Hypercube(3))

    def third(x, n, rng):
        return np.stack([rng.integers(0, 2, n), np.full(n, x[2]), rng.integers(0, 2, n)], axis=1)

    verdict = check(third, cube, samples=40_000)
    assert verdict.decision == Decision.NO
    assert verdict.cost.draws < 3_000
    assert verdict.witness.changed == (2,)

    def secret(x, n, rng):
        """The exclusive or of two coordinates tells the bit: no coordinate alone does."""
        mask = rng.integers(0, 2, n)
        return np.stack([mask, mask ^ x[0], rng.integers(0, 2, n)], axis=1)

    assert check(secret).decision == Decision.NO


@pytest.mark.slow
def test_outputs_may_be_anything():
    def texts(x, n, rng):
        return [["yes", "no", (1, 2.5), None][k] for k in rng.choice(4, n, p=p_of(x))]

    def p_of(x):
        return [0.7, 0.1, 0.1, 0.1] if x[0] else [0.1, 0.1, 0.1, 0.7]

    assert check(texts).decision == Decision.NO
    scalar = lt.Sampler(raising, vectorised=False)
    settings = {"epsilon": 1.0, "samples": 2_000, "seed": 1, "sequential": True}
    verdict = lt.check_samples(scalar, BIT, **settings)
    assert verdict.decision == Decision.NO
    assert "Raised" in str(verdict.witness)
    page = report_html(verdict)
    assert "the event of its time" in page


def test_delta_is_allowed_for():
    def leak(x, n, rng):
        answer = responses(x, n, rng)[:, 0]
        return np.where(rng.random(n) < 0.3, 2 + x[0], answer)

    assert check(leak, BIT, delta=0.1).decision == Decision.NO
    assert check(leak, BIT, delta=0.3).decision == Decision.INCONCLUSIVE


def test_one_seed_one_verdict():
    first, second = (check(responses, BIT, epsilon=0.4).to_dict() for _ in range(2))
    assert {**first, "cost": 0} == {**second, "cost": 0}


def test_it_becomes_a_certificate_that_verifies():
    verdict = check(responses, BIT, epsilon=0.4)
    assert verdict.decision == Decision.NO
    sampler = lt.Sampler(responses)
    certificate = certify_samples(verdict, sampler, BIT)
    text = certificate.to_json()
    read = Certificate.from_json(text)
    assert read.verdict == verdict
    assert lt.verify(text, sampler, BIT)
    assert '"bets"' in text
    assert BlackBoxVerdict.from_json(verdict.to_json()) == verdict


def test_bounds_that_do_not_follow_from_the_bets_are_noticed():
    verdict = check(twice)
    witness = verdict.witness
    for forged in (
        replace(witness, lower_bound=1.9),
        replace(witness, bets=Bets(witness.bets.wins, witness.bets.losses + 30)),
        replace(witness, bets=Bets(10**6, 0)),
        replace(witness, bets=None),
    ):
        assert count_problems(replace(verdict, witness=forged, bounds=(forged,)))


def test_bad_settings_are_refused():
    for floats in ("both", "", 3):
        with pytest.raises(InputError, match="floats"):
            check(twice, floats=floats)


def test_low_bits_in_the_test_of_fixed_size():
    fixed = {"sequential": False, "samples": 50_000, "resolution": 0.2}
    verdict = check(laplace_count, floats="implemented", **fixed)
    assert verdict.decision == Decision.NO
    assert "low bit" in str(verdict.witness.event)
    assert lt.verify(certify_samples(verdict, s := lt.Sampler(laplace_count), PAIR), s, PAIR)
    assert verdict.floats == "implemented"
    assert check(laplace_count, **fixed).floats is None


@given(st.floats(allow_infinity=False, allow_nan=False))
def test_the_lowest_bit_of_a_float(value):
    [found] = low_bits(np.array([value]))
    if value == 0:
        assert math.isnan(found)
        return
    exact = Fraction(value)
    grid = Fraction(2) ** int(found)
    assert (exact / grid).denominator == 1
    assert (exact / grid).numerator % 2 == 1


def test_no_low_bit_where_there_is_no_number():
    assert np.isnan(low_bits(np.array([0.0, -0.0, np.nan, np.inf, -np.inf]))).all()


@given(
    st.floats(1e-250, 1e250) | st.floats(-1e250, -1e-250),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
)
def test_sums_lie_on_the_grid_of_the_first_number(s, n, close):
    if close:
        n = -s * (1 + math.remainder(n, 1.0) / 4) if math.isfinite(n) else n
    total = s + n
    if math.isfinite(total):
        grid = Fraction(2) ** (math.frexp(s)[1] - 1 - 53)
        assert (Fraction(total) / grid).denominator == 1


@pytest.mark.slow
def test_noise_added_in_floats_is_refuted_and_on_a_grid_it_is_not():
    assert check(laplace_count, samples=20_000).decision == Decision.NO
    ideal = check(laplace_count, samples=20_000, floats="ideal")
    assert ideal.decision == Decision.INCONCLUSIVE
    bits = feature(Outputs(np.array([0.75, 1.0, 6.0])), "low bit of x[0]")
    assert bits.tolist() == [-2.0, 0.0, 1.0]

    def snapped(x, n, rng):
        return np.round((x.sum() + rng.laplace(0, 1, n)) * 64) / 64

    assert check(snapped, samples=20_000).decision == Decision.INCONCLUSIVE
    # Of one grid for all: a claim of low bits would have been found in 300 samples.
    assert check(snapped, epsilon=0.25).decision == Decision.NO


def test_a_tally_of_bets_gives_its_bound():
    tally = Tally(90, 10, np.zeros(0), log_doubt)
    bound = tally.largest_refuted(math.log(0.05))
    assert log_doubt(90, 100, bound) <= math.log(0.05) < log_doubt(90, 100, bound + 2e-4)
    assert estimate_growth(90, 10, 1.0) > 0 == estimate_growth(70, 30, 1.0)
    assert json.loads(Bets(3, 1).to_json()) == {"wins": 3, "losses": 1}
