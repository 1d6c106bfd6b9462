"""The one test of the black box: certified tails, and an exact level."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.blackbox.learning import Tally, log_tail, plan_sides

NO_TOKENS = np.zeros(0)


def exact_tail(wins, trials, chance):
    return sum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k)
        for k in range(wins, trials + 1)
    )


@given(trials=st.integers(1, 60), data=st.data(), log_odds=st.floats(-5, 5))
@settings(max_examples=100, deadline=None)
def test_a_tail_is_never_below_the_exact_one_and_close_to_it(trials, data, log_odds):
    wins = data.draw(st.integers(0, trials))
    chance = Fraction(1 / (1 + math.exp(-log_odds)))
    exact = math.log(exact_tail(wins, trials, chance))
    found = log_tail(wins, trials, log_odds)
    assert found == pytest.approx(exact, rel=1e-7, abs=1e-12)


def test_a_tail_of_many_trials():
    """Ten million wins of ten million: p^n; and one half at the median."""
    n = 10**7
    assert log_tail(n, n, 1.0) == pytest.approx(-n * math.log1p(math.exp(-1.0)), rel=1e-9)
    assert log_tail(n // 2, n, 0.0) == pytest.approx(math.log(0.5), abs=1e-3)
    assert log_tail(0, n, -3.0) == 0.0


def multinomial(counts, chances):
    ways = math.factorial(sum(counts))
    for count in counts:
        ways //= math.factorial(count)
    return ways * math.prod(c**k for c, k in zip(chances, counts, strict=True))


@pytest.mark.parametrize("level", [0.3, 0.1, 0.02])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.25), (0.9, 0.45), (0.02, 0.01), (1.0, 0.5)])
def test_the_level_is_exact(p, q, level):
    """All outcomes of 14 steps at the boundary P = 2 Q: a bound above ln 2 is that rare."""
    steps, wrong = 14, 0.0
    for wins in range(steps + 1):
        for losses in range(steps + 1 - wins):
            bound = Tally(wins, losses, NO_TOKENS).largest_refuted(math.log(level))
            if bound > math.log(2):
                rest = steps - wins - losses
                wrong += multinomial((wins, losses, rest), (p / 2, q / 2, 1 - (p + q) / 2))
    assert wrong <= level


def test_tokens_stand_for_delta_exactly():
    """At P = 2 Q + delta a win is binomial with chance 2/3, given wins and losses."""
    p, q, delta, epsilon, level = 0.5, 0.2, 0.1, math.log(2), 0.1
    total, steps = 2 + delta, 12
    chances = [p / total, (q + delta / 2) / total]
    assert chances[0] / sum(chances) == pytest.approx(2 / 3)
    wrong = 0.0
    for wins in range(steps + 1):
        for losses in range(steps + 1 - wins):
            if wins and log_tail(wins, wins + losses, epsilon) <= math.log(level):
                rest = steps - wins - losses
                wrong += multinomial((wins, losses, rest), (*chances, 1 - sum(chances)))
    assert 0 < wrong <= level


@pytest.mark.slow
@given(
    wins=st.integers(0, 300),
    losses=st.integers(0, 300),
    tokens=st.lists(st.floats(0, 6), max_size=40),
    step=st.sampled_from([0.3, 1.0, 2.5]),
)
@settings(max_examples=60, deadline=None)
def test_everything_up_to_the_bound_is_rejected(wins, losses, tokens, step):
    tally = Tally(wins, losses, np.sort(np.array(tokens)))
    level = math.log(0.05)
    bound = tally.largest_refuted(level, step)
    if bound == -math.inf:
        assert wins == 0 or log_tail(wins, wins + tally.losses_at(0.0), 0.0) > level
        return
    for epsilon in np.linspace(0, bound, 7):
        trials = wins + tally.losses_at(float(epsilon))
        assert log_tail(wins, trials, float(epsilon)) <= level


def test_a_bound_is_as_large_as_it_can_be():
    tally = Tally(731, 269, NO_TOKENS)
    bound = tally.largest_refuted(math.log(0.05))
    assert log_tail(731, 1000, bound) <= math.log(0.05) < log_tail(731, 1000, bound + 3e-4)


def test_sides_are_as_likely_as_the_test_needs():
    a, b, tokens = plan_sides(400_000, 0.5, np.random.default_rng(1))
    assert a + b + len(tokens) == 400_000
    for found, share in ((a, 0.4), (b, 0.4), (len(tokens), 0.2)):
        assert abs(found - 400_000 * share) < 6 * math.sqrt(400_000 * share)
    assert np.all(np.diff(tokens) >= 0)
    assert abs(np.mean(tokens > 1.0) - math.exp(-1)) < 0.01
    assert len(plan_sides(1000, 0.0, np.random.default_rng(1))[2]) == 0
