"""Ties, ends and choices of the comparison of two laws, and what is reported of them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.points import PointBatch
from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.claims import Claim, parse_epsilon
from liptest.privacy.comparison import (
    Answer,
    compare_closed_form,
    compare_laws,
    enclose_loss,
    find_rounding,
    round_ends,
)
from liptest.privacy.judge import LossJudge, _loss_of_event
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.privacy.witnesses import PrivacyWitness
from liptest.privacy.wording.remedies import _few_digits, find_remedy
from liptest.runs.driver import QueryBatch
from tests.unit.privacy.cases import exp_of

HALF = Fraction(1, 2)


def _law(*probabilities: Fraction | int, rest: Fraction | int = 0) -> OutputLaw:
    listed = {k: Fraction(p) for k, p in enumerate(probabilities)}
    return OutputLaw.from_fractions(listed, unexplored=Fraction(rest))


def _in_floats(law: dict[str, float]) -> OutputLaw:
    logs = np.log(list(law.values()))
    return OutputLaw(list(law), logs, np.full(len(logs), 1e-15), exact_zeros=True)


@pytest.mark.parametrize("rests", [(0, Fraction(1, 10)), (Fraction(1, 10), 0)])
def test_one_partial_law_leaves_a_pure_claim_open(rests: tuple[Fraction, Fraction]) -> None:
    left, right = (_law(HALF, HALF - rest, rest=rest) for rest in rests)
    found = compare_laws(left, right, Claim(5.0))
    assert (found.answer, found.event, found.upper) == (Answer.DOUBT, (), math.inf)
    assert math.isinf(enclose_loss(left, right).upper)


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_losses_in_closed_form_are_shared_among_the_distance(distance: int) -> None:
    def never(epsilon: arb) -> arb:
        raise AssertionError("delta is 0")

    for share, expected in ((0.999, Answer.CLEAR), (1.001, Answer.VIOLATED)):
        found = compare_closed_form(
            lambda share=share: arb(share * distance), never, Claim(1.0, 0.0, 0.0), distance
        )
        assert found.answer is expected
        assert found.lower < share * distance < found.upper < found.lower + 1e-12
        assert found.excess == 0.0
    wide = compare_closed_form(lambda: arb(1, 0.5) * distance, never, Claim(1.0), distance)
    assert wide.answer is Answer.DOUBT
    assert wide.lower <= 0.5 * distance
    assert wide.upper >= 1.5 * distance


def test_closed_forms_are_refined_as_long_as_they_are_in_doubt() -> None:
    asked: list[int] = []

    def loss() -> arb:
        # At 128 bits it may lie on either side, at 512 it does not.
        asked.append(ctx.prec)
        return arb(1.001, 0.01 if ctx.prec < 512 else 1e-9)

    found = compare_closed_form(loss, lambda epsilon: arb(0), Claim(1.0, 0.0, 0.0))
    assert (found.answer, asked) == (Answer.VIOLATED, [128, 512])


def test_the_excess_of_a_wide_divergence_is_its_lower_end() -> None:
    found = compare_closed_form(lambda: arb(9), lambda e: arb(0.25, 0.05), Claim(1.0, 0.1, 0.0))
    assert found.answer is Answer.VIOLATED
    assert found.excess == pytest.approx(0.2, rel=1e-6)


def test_the_excess_in_closed_form_is_that_of_the_divergence() -> None:
    found = compare_closed_form(lambda: arb("+inf"), lambda e: arb(0.25), Claim(1.0, 0.125, 0.0))
    assert found.answer is Answer.VIOLATED
    assert 0.25 - 1e-15 < found.excess < 0.25, "it is a lower bound"
    tie = compare_closed_form(lambda: arb("+inf"), lambda e: arb(0.125), Claim(1.0, 0.125, 0.0))
    assert tie.answer is Answer.CLEAR


def test_a_divergence_of_just_delta_is_clear() -> None:
    # What the other law never gives has no factor: the sum is a number, and equals delta.
    assert compare_laws(_law(HALF, HALF), _law(1), Claim(1.0, 0.5, 0.0)).answer is Answer.CLEAR
    over = compare_laws(_law(HALF, HALF), _law(1), Claim(1.0, 0.4999, 0.0))
    assert (over.answer, over.event) == (Answer.VIOLATED, (1,))


def test_of_outputs_on_one_side_the_likeliest_is_shown() -> None:
    sides = {"a": 0.9, "b": 0.1}, {"c": 0.5, "d": 0.5}
    for left, right in (sides, sides[::-1]):
        found = compare_laws(_in_floats(left), _in_floats(right), Claim(1.0))
        assert (found.answer, found.event) == (Answer.VIOLATED, ("a",))


def test_of_equal_outputs_the_first_is_shown() -> None:
    more, less = Fraction(3, 8), Fraction(1, 8)
    for left in ((more, more, less, less), (less, more, less, more)):
        right = [HALF - one for one in left]
        found = compare_laws(_law(*left), _law(*right), Claim(lt.log(2), 0.0, 0.0))
        assert found.event == (0,)


def test_rounding_grows_with_the_loss_up_to_where_nothing_is_told() -> None:
    found = find_rounding(np.array([0.0, 0.5, 1.0, 8.0, 1e6, 1e9, np.inf]))
    assert (found * 2.0**48).tolist() == [1.0, 1.0, 1.0, 8.0, 1e6, 1e6, 1e6]


@given(st.floats(-5, 5), st.floats(0, 5))
def test_ends_are_rounded_outwards(middle: float, radius: float) -> None:
    with precision(CERTIFIED_BITS):
        ball = arb(middle, radius)
        low, high = round_ends(ball.lower(), ball.upper())
    assert low <= max(middle - radius, 0.0)
    assert high >= max(middle + radius, 0.0)


def test_the_loss_of_an_event_in_wide_balls_is_enclosed() -> None:
    p, q = arb(0.5, 0.01), arb(0.1, 0.01)
    for first, second in ((p, q), (q, p)):
        low, high = _loss_of_event(first, second)
        assert low <= math.log(0.49 / 0.11) < math.log(0.51 / 0.09) <= high
        assert high - low < 0.3


@pytest.mark.parametrize("text", ["log(3", "3)", "log 3)", "log(", ")", "log()"])
def test_half_a_logarithm_is_no_epsilon(text: str) -> None:
    with pytest.raises(lt.errors.InputError):
        parse_epsilon(text)
    assert parse_epsilon(" log(3) ") == lt.log(3)


@given(st.integers(1, 400), st.integers(1, 50), st.booleans())
def test_a_delta_that_is_named_is_needed(hundredths: int, share: int, over: bool) -> None:
    """p is within 1e-40 of the line: then no delta is needed, and none may be named."""
    epsilon = Fraction(hundredths, 128)
    q = Fraction(share, 100 * 2**20)
    line = exp_of(epsilon) * q
    p = line * (1 - Fraction(1, 10**40)) if not over else line * (1 + Fraction(1, 10**6))
    text = tuple(f"{one.limit_denominator(10**60)}" for one in (p, p, q, q))
    witness = PrivacyWitness(
        (0,), (1,), (0,), 0.1, 0.1, 1.0, 1.0, Claim(float(epsilon), 0.0, 0.0), bounds=(text,)
    )
    needed = float(p - line) if over else 0.0
    assert witness.least_delta <= needed
    if over and needed > 1e-9:
        assert witness.least_delta >= needed * 0.99


def test_numbers_are_shortened_only_where_they_still_allow_what_is_needed() -> None:
    for value in (0.5, 0.123456, 7.0):
        assert _few_digits(value, float) == value
    assert _few_digits(1 / 3, float) > 1 / 3
    assert _few_digits(1 / 3, lambda short: short * 1.001) == 0.333333
    assert _few_digits(2 / 3, float) == 0.666667


def test_remedies_are_not_looked_for_where_only_the_worst_pairs_are_visited() -> None:
    domain = lt.Hypercube(3)
    mechanism = lt.StatisticMechanism(lt.Count(), [0, 1], _logistic)
    claim, size = Claim(0.1), exhaustive_size(mechanism, domain)
    assert find_remedy(mechanism, domain, claim, size) is not None
    for other in (
        replace(size, windows=True),
        replace(size, condition="somebody says so"),
        replace(size, pairs=1 << 40),
    ):
        assert find_remedy(mechanism, domain, claim, other) is None


def _logistic(values: np.ndarray) -> np.ndarray:
    logit = 0.3 * np.asarray(values, dtype=float)
    return np.stack([-np.logaddexp(0, -logit), -np.logaddexp(0, logit)], axis=-1)


def test_a_shift_is_compared_at_both_ends_of_each_difference() -> None:
    domain = lt.Hypercube(2000)
    mechanism = lt.ShiftMechanism(
        lt.statistics.WeightedSum([1, 2, 3, 4] * 500), lt.DiscreteLaplace(8)
    )
    size = exhaustive_size(mechanism, domain)
    if size.differences is not None:
        assert size.laws == 2 * len(size.differences.lower)
    found = lt.exact_epsilon(mechanism, domain)
    assert found.value == pytest.approx(0.5)
    assert found.pairs == size.pairs


class TestPairsThatAreGiven:
    def test_large_numbers_are_not_cut(self) -> None:
        seen = []

        def first(data, rng):
            seen.append(int(data[0]))
            return int(data[0]) > 250

        pairs = [([0], [1]), ([299], [300]), ([200], [201])]
        found = lt.exact_loss(lt.mechanism(first), pairs)
        assert (found.value, found.pairs) == (0.0, 3)
        assert set(seen) >= {0, 1, 200, 201, 299, 300}
        assert lt.exact_loss(lt.mechanism(first), [([250], [251])]).value == math.inf

    @pytest.mark.parametrize("pair", [([5], [0]), ([0], [5]), ([3], [4])])
    def test_both_must_lie_in_the_domain(self, pair: tuple[list[int], list[int]]) -> None:
        mechanism = lt.mechanism(lambda data, rng: int(data[0]) % 2)
        with pytest.raises(lt.errors.InputError):
            lt.exact_loss(mechanism, [pair], domain=lt.Hypergrid([4]))
        assert lt.exact_loss(mechanism, [([2], [3])], domain=lt.Hypergrid([4])).value == math.inf
        with pytest.raises(lt.errors.InputError, match=r"pairs\[1\].*not neighbours"):
            lt.exact_loss(mechanism, [([2], [3]), ([1], [3])], domain=lt.Hypergrid([4]))


def test_a_doubt_about_a_larger_distance_counts_its_share() -> None:
    """Half of the laws is left open; what is certain is a loss, shared among the distance."""
    domain = lt.Hypergrid([5])
    open_half = Fraction(1, 100)

    class Partial(lt.ClosedForm):
        def fresh_law(self, dataset):
            share = Fraction(1, 2 + 2 * int(dataset[0]))
            return OutputLaw.from_fractions(
                {0: share, 1: 1 - share - open_half}, unexplored=open_half
            )

        def laws(self, points):
            from liptest.mechanisms.laws import LawTable

            array = points.array()
            laws = [self.fresh_law(row) for row in array]
            logs = np.log([[float(law.exact(k)) for k in (0, 1)] for law in laws])
            full = np.full(len(laws), float(open_half))
            return LawTable((0, 1), logs, None, np.full(len(laws), np.inf), unexplored=full)

    mechanism = Partial([0, 1], lambda points: np.zeros((len(points), 2)) - math.log(2))
    points = np.array([[0], [2]], dtype=domain.dtype)
    batch = QueryBatch(PointBatch(points), pairs=np.array([[0, 1]]), distances=np.array([2]))
    found = LossJudge(mechanism, domain, Claim(0.54)).judge(batch)
    certain = math.log(0.5 / (1 / 6 + 0.01))
    assert found.violation is None
    assert found.doubt is not None
    assert found.largest == pytest.approx(certain / 2, rel=1e-9)


def test_an_interrupted_proof_promises_nothing() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    mechanism = lt.ClosedForm([0, 1], lambda points: _logistic(points.sum(axis=1)))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0, method="exhaustive", progress=stop)
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.guarantee.sentence == "nothing is promised before every pair was visited."


def test_the_largest_finite_loss_beside_a_rare_infinite_one_may_be_small() -> None:
    rows = [[0.5, 0.5 - 1e-12, 1e-12], [0.45, 0.55, 0.0]]

    def log_pmf(points: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(np.array(rows))[points[:, 0]]

    mechanism = lt.ClosedForm([0, 1, 2], log_pmf, exact_zeros=True)
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_privacy(mechanism, law, epsilon=0.5)
    assert verdict.remedy is not None
    loss, mass = verdict.remedy.apart
    assert loss == pytest.approx(math.log(0.5 / 0.45), rel=1e-5)
    assert mass == pytest.approx(1e-12, rel=1e-5)


@pytest.mark.parametrize(
    ("trials", "mass", "failure"), list(product([20, 100], [0.1, 0.5], [1e-6, 0.1]))
)
def test_the_quantile_is_the_largest_that_is_certain(
    trials: int, mass: float, failure: float
) -> None:
    from liptest.privacy.samples.intervals import clean_quantile

    def tail(hits: int) -> float:
        terms = (math.comb(trials, j) * mass**j * (1 - mass) ** (trials - j) for j in range(hits))
        return sum(terms)

    found = clean_quantile(mass, trials, failure)
    expected = max((k for k in range(1, trials + 1) if tail(k) <= failure), default=0)
    assert found == expected


def test_the_worst_output_is_named() -> None:
    left, right = (
        _law(HALF, Fraction(1, 4), Fraction(1, 4)),
        _law(HALF, Fraction(3, 8), Fraction(1, 8)),
    )
    for ends in ((left, right), (right, left)):
        found = enclose_loss(*ends)
        assert found.event == (2,)
        assert found.lower <= math.log(2) <= found.upper


@pytest.mark.parametrize("scale", [1, 3, 7, Fraction(10, 3)])
def test_an_exact_epsilon_is_enclosed(scale: Fraction) -> None:
    mechanism = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(scale))
    found = lt.exact_epsilon(mechanism, lt.Hypercube(4))
    assert Fraction(found.lower) <= 1 / Fraction(scale) <= Fraction(found.upper)
    assert found.upper - found.lower < 1e-12


@pytest.mark.slow
@given(st.integers(1, 20), st.integers(1, 20), st.fractions(0, 30, max_denominator=50))
def test_beyond_its_loss_geometric_noise_has_no_divergence(
    scale: int, size: int, more: Fraction
) -> None:
    noise = lt.DiscreteLaplace(scale)
    with precision(CERTIFIED_BITS):
        assert noise.hockey_stick_at(size, Fraction(size, scale) + more) == 0
        below = noise.hockey_stick_at(size, Fraction(size, scale) * Fraction(99, 100))
        assert below > 0


@pytest.mark.parametrize(("largest", "kind"), [(126, "int8"), (127, "int8"), (128, "int16")])
def test_a_witness_is_verified_with_the_integers_of_the_test(largest: int, kind: str) -> None:
    seen = set()

    class Noting(lt.ClosedForm):
        def fresh_law(self, dataset):
            seen.add(str(dataset.dtype))
            return super().fresh_law(dataset)

    mechanism = Noting([0, 1], lambda points: _logistic(4 * points[:, 0].astype(float)))
    domain = lt.Hypergrid([largest + 1])
    witness = lt.exact_loss(mechanism, [([0], [largest])]).witness
    assert witness is not None
    assert domain.dtype == kind
    seen.clear()
    witness.verify(mechanism)
    assert seen == {kind}


@pytest.mark.parametrize("error", [1e-3, 0.02])
def test_a_remedy_covers_declared_errors(error: float) -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    mechanism = lt.ClosedForm([0, 1], lambda points: _logistic(3 * points.sum(axis=1)), error=error)
    verdict = lt.check_privacy(mechanism, law, epsilon=0.1)
    assert verdict.decision == "NO"
    assert verdict.sufficient_delta is not None
    again = lt.check_privacy(mechanism, law, epsilon=0.1, delta=verdict.sufficient_delta)
    assert again.decision == "YES"
    less = lt.check_privacy(mechanism, law, epsilon=0.1, delta=verdict.sufficient_delta - 3 * error)
    assert less.decision != "YES"


def test_zeros_are_as_certain_by_difference_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_zero(values: np.ndarray) -> np.ndarray:
        both = _logistic(values)
        return np.concatenate([both, np.full((len(both), 1), -np.inf)], axis=1)

    domain = lt.Hypercube(9)
    statistic = lt.statistics.WeightedSum([1, 2, 4, 3, 1, 5, 2, 1, 3])
    mechanism = lt.StatisticMechanism(statistic, [0, 1, 2], with_zero, exact_zeros=True)
    plain = lt.exact_epsilon(mechanism, domain)
    monkeypatch.setattr("liptest.privacy.proofs.exhaustive.FEW_EDGES", 0)
    size = exhaustive_size(mechanism, domain)
    assert size.windows
    found = lt.exact_epsilon(mechanism, domain)
    assert found.value == plain.value
    assert found.upper == pytest.approx(plain.upper, rel=1e-9)
    assert found.upper < math.inf
    shift = lt.ShiftMechanism(statistic, lt.DiscreteLaplace(8))
    by_shift = exhaustive_size(shift, domain)
    assert by_shift.differences is not None
    assert by_shift.laws == 2 * len(by_shift.differences.lower) == 10
    assert lt.exact_epsilon(shift, domain).laws == 10


@pytest.mark.parametrize("failure", [1e-300, 1e-6, 0.5])
@pytest.mark.parametrize("trials", [1, 2, 50])
def test_bounds_of_a_probability_are_probabilities(trials: int, failure: float) -> None:
    from liptest.privacy.samples.intervals import binomial_lower, binomial_upper

    for hits in range(min(trials, 3) + 1):
        assert 0.0 <= binomial_lower(hits, trials, failure) <= hits / trials
        assert hits / trials <= binomial_upper(hits, trials, failure) <= 1.0


def test_the_plan_of_a_refutation_draws_nothing() -> None:
    mechanism = lt.mechanism(lambda data, rng: int(data[0]) + int(rng.integers(0, 2)))
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0, method="refutation")
    assert verdict.decision == "NO"
    assert (verdict.plan.method, verdict.plan.draws) == ("refutation", 0)
    assert verdict.plan.laws_per_draw == 0.0
