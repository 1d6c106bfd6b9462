"""A uniform number among totals of weights: the law and the price of ``rng.choice`` by weights."""

from __future__ import annotations

import bisect
import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import precision
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow

ROUNDED = Fraction(1, 10**6)
PEOPLE = lt.RecordGrid([4] * 200)
SMALL = lt.RecordGrid([3] * 3)
SIZES = np.array([1.0, 2.0, 4.0, 0.5])
Scores = Callable[[Any], Any]


def half_counts(data: Any) -> Any:
    return 0.5 * np.bincount(data, minlength=4)


def of(scores: Scores, data: Any) -> Any:
    """Weights as they are mostly written."""
    found = scores(data)
    return np.exp(found - found.max())


def by_searchsorted(w: Any, rng: Any) -> Any:
    return int(np.searchsorted(np.cumsum(w / w.sum()), rng.random()))


def by_searchsorted_of_the_total(w: Any, rng: Any) -> Any:
    cum = np.cumsum(w)
    return int(np.searchsorted(cum, rng.random() * cum[-1], side="right"))


def by_searchsorted_of_shares(w: Any, rng: Any) -> Any:
    cum = w.cumsum()
    cum /= cum[-1]
    return int(np.searchsorted(cum, 1 - rng.random()))


def by_searchsorted_up_to_1(w: Any, rng: Any) -> Any:
    cum = np.cumsum(w / w.sum())
    cum[-1] = 1.0
    return int(np.searchsorted(cum, rng.random(), side="right"))


def by_searchsorted_of_a_list(w: Any, rng: Any) -> Any:
    total = sum(w)
    return int(np.searchsorted(np.cumsum([one / total for one in w]), np.random.uniform(0, 1)))


def by_ends(w: Any, rng: Any) -> Any:
    ends = np.concatenate([[0.0], np.cumsum(w / w.sum())])
    return int(np.searchsorted(ends, rng.random(), side="right") - 1)


def by_exact_sums(w: Any, rng: Any) -> Any:
    weights = w.tolist()
    total = math.fsum(weights)
    if not math.isfinite(total) or any(math.isnan(one) for one in weights):
        raise ValueError("no weights")
    r = rng.random() * math.fsum(one for one in weights)
    return next(k for k in range(len(weights)) if r <= math.fsum(weights[: k + 1]))


def by_digitize(w: Any, rng: Any) -> Any:
    return int(np.digitize(rng.random(), np.cumsum(w / w.sum())))


def by_argmax(w: Any, rng: Any) -> Any:
    return int(np.argmax(np.cumsum(w / w.sum()) > rng.random()))


def by_count(w: Any, rng: Any) -> Any:
    return int((np.cumsum(w / np.sum(w)) < rng.random()).sum())


def by_nonzero(w: Any, rng: Any) -> Any:
    return int(np.where(rng.random() <= np.cumsum(w / np.sum(w)))[0][0])


def by_bisect(w: Any, rng: Any) -> Any:
    shares = (w / w.sum()).tolist()
    return bisect.bisect(list(itertools.accumulate(shares)), rng.random())


def by_bisect_left(w: Any, rng: Any) -> Any:
    shares = list(w / w.sum())
    return bisect.bisect_left(list(itertools.accumulate(shares)), random.random())


def by_running_total(w: Any, rng: Any) -> Any:
    u, total = rng.random(), 0
    for k, share in enumerate(w / w.sum()):
        total += share
        if u < total:
            return k
    return None


def by_running_total_with_an_end(w: Any, rng: Any) -> Any:
    p, u, total = w / w.sum(), rng.random(), 0.0
    for k in range(len(p)):
        total += p[k]
        if total >= u:
            return k
    return len(p) - 1


def by_what_is_left(w: Any, rng: Any) -> Any:
    u = rng.random()
    for k, share in enumerate(w / w.sum()):
        u -= share
        if u < 0:
            return k
    return len(w) - 1


def by_what_is_left_of_the_total(w: Any, rng: Any) -> Any:
    w = list(w)
    r = random.random() * sum(w)
    for k, one in enumerate(w):
        if r < one:
            return k
        r = r - one
    raise AssertionError


def by_while(w: Any, rng: Any) -> Any:
    p, u = w / w.sum(), rng.random()
    k, total = 0, p[0]
    while u > total:
        k += 1
        total = total + p[k]
    return k


def from_the_last(w: Any, rng: Any) -> Any:
    p, u, total = w / w.sum(), rng.random(), 0.0
    for k in (1, 3, 2, 0)[-len(p) :]:
        total += p[k]
        if u <= total:
            return k
    return 0


def by_uniform_below_the_total(w: Any, rng: Any) -> Any:
    r, total = rng.uniform(0, w.sum()), 0.0
    for k, one in enumerate(w):
        total += one
        if r < total:
            return k
    return len(w) - 1


def by_uniform_of_python(w: Any, rng: Any) -> Any:
    weights = w.tolist()
    r, total = random.uniform(0, sum(weights)), 0
    for k, one in enumerate(weights):
        if total + one >= r:
            return k
        total += one
    raise AssertionError


def by_choices_of_totals(w: Any, rng: Any) -> Any:
    return random.choices(range(len(w)), cum_weights=list(itertools.accumulate(w.tolist())))[0]


def by_choices_of_cumsum(w: Any, rng: Any) -> Any:
    return random.choices(list(range(len(w))), cum_weights=np.cumsum(w / w.sum()), k=1)[0]


def by_multinomial(w: Any, rng: Any) -> Any:
    return int(np.argmax(rng.multinomial(1, w / w.sum())))


def by_multinomial_of_a_list(w: Any, rng: Any) -> Any:
    total = sum(w)
    return rng.multinomial(1, [one / total for one in w]).tolist().index(1)


SPELLINGS = [
    *(by_uniform_below_the_total, by_uniform_of_python, by_multinomial, by_multinomial_of_a_list),
    *(by_choices_of_totals, by_choices_of_cumsum),
    *(by_searchsorted_up_to_1, by_searchsorted_of_a_list, by_ends, by_exact_sums),
    *(by_searchsorted, by_searchsorted_of_the_total, by_searchsorted_of_shares, by_digitize),
    *(by_argmax, by_count, by_nonzero, by_bisect, by_bisect_left, by_running_total, by_while),
    *(by_running_total_with_an_end, by_what_is_left, by_what_is_left_of_the_total),
]


def program(spelling: Any, scores: Scores = half_counts, sizes: Any = None) -> Any:
    def draw(data: Any, rng: Any) -> Any:
        w = of(scores, data)
        return spelling(w if sizes is None else sizes[: len(w)] * w, rng)

    return lt.mechanism(name=spelling.__name__)(draw)


def epsilon(mechanism: Any, domain: Any = PEOPLE, wanted: Any = 9) -> float:
    return float(align(mechanism, domain, Fraction(wanted), ROUNDED).epsilon)


@pytest.mark.slow
def test_the_commonest_spelling_has_the_price_of_the_exponential_mechanism() -> None:
    assert epsilon(program(by_searchsorted)) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("spelling", [*SPELLINGS, from_the_last])
def test_the_price_is_that_of_the_exponential_mechanism(spelling: Any) -> None:
    found = align(program(spelling), PEOPLE, Fraction(1), ROUNDED)
    assert found.epsilon == pytest.approx(1)
    assert not found.reads_length
    assert align(program(spelling), PEOPLE, Fraction(1)).price is None  # floats, without a delta


@pytest.mark.slow
@pytest.mark.parametrize("spelling", [*SPELLINGS, from_the_last])
def test_the_law_is_that_of_a_choice_by_weights(spelling: Any) -> None:
    """Of the code as it is, enumerated on the grid of ``random()``."""
    for data in ([0, 1, 1, 3, 3, 3], [2, 2, 2, 2, 2, 2, 2, 2]):
        law = lt.output_law(program(spelling), np.array(data))
        weights = of(half_counts, np.array(data))
        masses = dict(law.items())
        for k, share in enumerate(weights / weights.sum()):
            assert masses.pop(k) == pytest.approx(share, abs=1e-14)
        assert sum(masses.values(), 0.0) < 1e-14  # None or len(p), beyond the last total


def largest_loss(scores: Scores) -> float:
    """By brute force over all neighbours."""
    logs = {}
    for one in product(range(3), repeat=3):
        found = np.asarray(scores(np.array(one)), dtype=float)
        logs[one] = found - found.max() - math.log(np.exp(found - found.max()).sum())
    return max(
        float(np.abs(logs[one] - logs[(*one[:place], value, *one[place + 1 :])]).max())
        for one in logs
        for place in range(3)
        for value in range(3)
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=2, max_size=4),
    st.sampled_from(SPELLINGS),
    st.booleans(),
)
def test_the_price_is_no_less_than_the_largest_loss(
    rows: Any, spelling: Any, has_sizes: bool
) -> None:
    table = np.array(rows)
    if not all(np.ptp(row) for row in table):
        return
    scores = lambda data: 0.5 * np.array([row[data].sum() for row in table])  # noqa: E731
    sizes = SIZES if has_sizes else None
    logs = np.log(SIZES[: len(table)]) if has_sizes else 0.0
    loss = largest_loss(lambda data: scores(data) + logs)
    spread = max(np.ptp(table[:, v] - table[:, w]) for v in range(3) for w in range(3))
    for claim in (loss * 0.999, 0.5 * spread * 1.001 + 1e-6):
        if claim > 0:
            price = epsilon(program(spelling, scores, sizes), SMALL, claim)
            assert price > claim or claim > loss
            if claim > loss and not has_sizes:
                assert price <= claim


@pytest.mark.slow
def test_wrong_claims_are_refuted() -> None:
    """Twice the weights that the claim allows, or half of the claim."""
    sharp = lambda data: np.bincount(data, minlength=4)  # noqa: E731
    for spelling in (by_searchsorted, by_running_total, by_what_is_left):
        for scores, claim in ((sharp, 1), (half_counts, 0.5)):
            verdict = lt.check_privacy(
                program(spelling, scores), PEOPLE, epsilon=claim, delta=1e-6, seed=1
            )
            assert verdict.decision == "NO"


@pytest.mark.slow
def test_without_a_delta_it_is_no_more_than_a_choice_by_weights() -> None:
    verdict = lt.check_privacy(program(by_searchsorted), PEOPLE, epsilon=1, seed=1)
    assert verdict.decision != "YES"
    enough = verdict.sufficient_delta
    assert enough is not None
    assert enough < 1e-11
    again = lt.check_privacy(program(by_searchsorted), PEOPLE, epsilon=1, delta=enough, seed=1)
    assert again.decision == "YES"


@pytest.mark.slow
def test_beyond_the_last_total_of_floats_is_an_output_of_its_own() -> None:
    """Floats add up to less than 1 on some data, and not on others: no delta is too little."""
    verdict = lt.check_privacy(program(by_running_total), PEOPLE, epsilon=1, seed=1)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert 0 < verdict.witness.least_delta < 2.0**-50


def cumulative(data: Any) -> Any:
    w = of(half_counts, data)
    return np.cumsum(w / w.sum())


def told(data: Any, rng: Any) -> Any:
    u = rng.random()
    return int(np.searchsorted(cumulative(data), u)), u


def compared_before(data: Any, rng: Any) -> Any:
    u = rng.random()
    return u < 0.5, int(np.searchsorted(cumulative(data), u))


def compared_after(data: Any, rng: Any) -> Any:
    u = rng.random()
    return int(np.searchsorted(cumulative(data), u)), u < 0.5


def compared_later(data: Any, rng: Any) -> Any:
    u = rng.random(2)
    is_large = u > 0.5
    return int(np.searchsorted(cumulative(data), u[0])), bool(is_large[0])


def calculated_before(data: Any, rng: Any) -> Any:
    u = rng.random()
    twice = 2 * u
    return int(np.searchsorted(cumulative(data), u)), twice > 0.7


def from_both_ends(data: Any, rng: Any) -> Any:
    u, cum = rng.random(), cumulative(data)
    return int(np.searchsorted(cum, u)), int(np.searchsorted(cum, 1 - u))


def of_two_weights(data: Any, rng: Any) -> Any:
    u, w = rng.random(), of(half_counts, data)
    p = w / w.sum()
    return bool(u < p[0]), bool(u < p[1])


def of_other_weights(data: Any, rng: Any) -> Any:
    u, w = rng.random(), of(lambda data: np.bincount(data, minlength=4) / 4, data)
    return int(np.searchsorted(cumulative(data), u)), int((np.cumsum(w / w.sum()) < u).sum())


def unscaled(data: Any, rng: Any) -> Any:
    return int(np.searchsorted(np.cumsum(of(half_counts, data)), rng.random()))


def scaled_twice(data: Any, rng: Any) -> Any:
    w = of(half_counts, data)
    return int(np.searchsorted(np.cumsum(w), rng.random() * w.sum() * w.sum()))


def over_another_total(data: Any, rng: Any) -> Any:
    w = of(half_counts, data)
    return int(np.searchsorted(np.cumsum(w / w[:3].sum()), rng.random()))


def without_the_best(data: Any, rng: Any) -> Any:
    """The largest score is not among those that are chosen from: all weights may be 0."""
    w = of(half_counts, data)[:3]
    return int(np.searchsorted(np.cumsum(w / w.sum()), rng.random()))


def twice_the_same(data: Any, rng: Any) -> Any:
    w = of(half_counts, data)
    p, u = w / w.sum(), rng.random()
    return int(u < p[0] + p[0])


def above_the_rest(data: Any, rng: Any) -> Any:
    w = of(half_counts, data)
    p, u = w / w.sum(), rng.random()
    return next((k for k in range(4) if u > 1 - p[k]), 4)


def short(data: Any, rng: Any) -> Any:
    """A grid of 2**-24 is too coarse."""
    return int(np.searchsorted(cumulative(data), rng.random(dtype=np.float32)))


def beside_noise(data: Any, rng: Any) -> Any:
    u = rng.random()
    return int(np.searchsorted(cumulative(data), u)), bool(u < (data == 0).sum() + rng.laplace())


NOT_FOLLOWED = [
    *(told, compared_before, compared_after, compared_later, calculated_before, from_both_ends),
    *(of_two_weights, of_other_weights, unscaled, scaled_twice, over_another_total, short),
    *(without_the_best, twice_the_same, above_the_rest, beside_noise),
]


@pytest.mark.parametrize("one", mostly_slow(NOT_FOLLOWED, 3))
def test_other_uses_of_the_number_have_no_price(one: Any) -> None:
    found = align(lt.mechanism(one), PEOPLE, Fraction(5), ROUNDED)
    assert found.price is None
    assert "liptest itself" not in found.reason


def test_several_numbers_are_several_choices() -> None:
    def draw(data: Any, rng: Any) -> Any:
        return np.searchsorted(cumulative(data), rng.random(2)).tolist()

    assert epsilon(lt.mechanism(draw)) == pytest.approx(2)


def test_one_number_that_is_asked_twice_is_one_choice() -> None:
    def draw(data: Any, rng: Any) -> Any:
        u, cum = rng.random(), cumulative(data)
        return int(np.searchsorted(cum, u)), int(np.argmax(cum > u))

    assert epsilon(lt.mechanism(draw)) == pytest.approx(1)


def test_a_part_of_the_weights_is_a_coin() -> None:
    def flip(data: Any, rng: Any) -> Any:
        w = of(half_counts, data)
        return bool(rng.random() < w[2] / w.sum())

    assert epsilon(lt.mechanism(flip)) == pytest.approx(1)


def test_weights_that_are_equal_are_told_apart_by_their_order() -> None:
    def draw(data: Any, rng: Any) -> Any:
        zeros = int((data == 0).sum())
        scores = 0.5 * np.array([zeros, zeros, len(data) - zeros])
        w = np.exp(scores - scores.max())
        return int(np.searchsorted(np.cumsum(w / w.sum()), rng.random()))

    assert epsilon(lt.mechanism(draw)) == pytest.approx(1)


class At:
    """A generator whose ``random()`` is one grid point."""

    def __init__(self, point: int) -> None:
        self.point = point

    def random(self) -> float:
        return self.point * 2.0**-53


@settings(max_examples=40)
@given(
    st.lists(st.floats(-40, 0), min_size=2, max_size=20),
    st.sampled_from([by_searchsorted, by_running_total_with_an_end, by_what_is_left]),
)
def test_what_floats_choose_is_within_the_stated_bound(scores: list[float], spelling: Any) -> None:
    """The place that the code gives never falls as the grid point rises: where it rises, counts."""
    weights = np.exp(np.array(scores))
    grid, count = range(1 << 53), len(scores)
    cuts = [
        bisect.bisect_left(grid, k, key=lambda point: spelling(weights, At(point)))
        for k in range(1, count)
    ]
    total = sum(map(Fraction, weights.tolist()))
    gaps = (
        abs(Fraction(after - before, 1 << 53) - Fraction(one) / total)
        for one, (before, after) in zip(
            weights.tolist(), pairwise([0, *cuts, 1 << 53]), strict=True
        )
    )
    bound = Fraction(count + 2048, 1 << 50) + Fraction(count * (count + 16), 1 << 52)
    assert sum(gaps) / 2 <= bound


def by_log_of_the_total(data: Any, rng: Any) -> Any:
    s = half_counts(data)
    s = s - s.max()
    return int(rng.choice(4, p=np.exp(s - np.log(np.sum(np.exp(s))))))


def by_logs_in_python(data: Any, rng: Any) -> Any:
    counts = [0.5 * int((data == k).sum()) for k in range(4)]
    top = max(counts)
    log = math.log(sum(math.exp(one - top) for one in counts))
    shares = [math.exp(one - top - log) for one in counts]
    return random.choices(range(4), weights=shares)[0]


def checked(data: Any, rng: Any) -> Any:
    p = of(half_counts, data)
    p /= p.sum()
    if abs(sum(p) - 1) > 1e-6 or abs(1.0 - np.sum(p)) > 1e-9 or np.any(p < 0):
        raise ValueError("no probabilities")
    if not (np.isclose(p.sum(), 1) and math.isclose(sum(p), 1.0, rel_tol=1e-6)):
        raise ValueError("no probabilities")
    if not np.allclose(p.sum(), 1.0) or round(float(p.sum()), 6) != 1 or not 0.99 < p.sum() <= 1.01:
        raise ValueError("no probabilities")
    return int(rng.choice(4, p=p))


@pytest.mark.parametrize("one", [by_log_of_the_total, by_logs_in_python, checked])
def test_logarithms_and_checks_of_the_sum(one: Any) -> None:
    found = align(lt.mechanism(one), PEOPLE, Fraction(1), ROUNDED)
    assert found.epsilon == pytest.approx(1)
    assert found.reads_length is (one is not checked)  # floats lose more of larger scores


def checked_too_closely(data: Any, rng: Any) -> Any:
    p = of(half_counts, data)
    p /= p.sum()
    if p.sum() != 1:
        raise ValueError("no probabilities")
    return int(rng.choice(4, p=p))


def checked_in_part(data: Any, rng: Any) -> Any:
    p = of(half_counts, data)
    p /= p.sum()
    return abs(p[:3].sum() - 1) > 1e-6


def checked_before(data: Any, rng: Any) -> Any:
    w = of(half_counts, data)
    return abs(w.sum() - 1) > 1e-6


def checked_with_noise(data: Any, rng: Any) -> Any:
    p = of(half_counts, data)
    p /= p.sum()
    return bool(p.sum() - 1 > (data == 1).sum() + rng.laplace())


def log_of_others(data: Any, rng: Any) -> Any:
    s = half_counts(data)
    s = s - s.max()
    return int(rng.choice(4, p=np.exp(s - np.log(np.sum(np.exp(s[:3]))))))


def twice_the_log(data: Any, rng: Any) -> Any:
    s = half_counts(data)
    s = s - s.max()
    p = np.exp(2 * (s - np.log(np.sum(np.exp(s)))))
    return int(rng.choice(4, p=p))


def log_of_a_weight(data: Any, rng: Any) -> Any:
    """In floats exp(-800) is 0, and so is exp(0.01 * log(0))."""
    w = np.exp(0.01 * np.log(of(half_counts, data)))
    return int(rng.choice(4, p=w / w.sum()))


def log_of_a_part(data: Any, rng: Any) -> Any:
    w = of(half_counts, data)
    return int(rng.choice(3, p=w[:3] / np.exp(np.log(w[:3].sum()))))


def log_with_noise(data: Any, rng: Any) -> Any:
    return float(np.log(of(half_counts, data).sum()) + rng.laplace())


@pytest.mark.parametrize(
    "one",
    [
        *(checked_too_closely, checked_in_part, checked_before, checked_with_noise),
        *(log_of_others, twice_the_log, log_with_noise, log_of_a_weight, log_of_a_part),
    ],
)
def test_other_logarithms_and_checks_have_no_price(one: Any) -> None:
    found = align(lt.mechanism(one), PEOPLE, Fraction(5), ROUNDED)
    assert found.price is None
    assert "liptest itself" not in found.reason


@pytest.mark.slow
def test_logsumexp_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")

    def by_logsumexp(data: Any, rng: Any) -> Any:
        s = half_counts(data)
        return int(rng.choice(4, p=np.exp(s - special.logsumexp(s))))

    def by_log_softmax(data: Any, rng: Any) -> Any:
        p = np.exp(special.log_softmax(half_counts(data)))
        return int(np.searchsorted(np.cumsum(p), rng.random()))

    small, large = PEOPLE, lt.RecordGrid([4] * 20_000)
    for program in (by_logsumexp, by_log_softmax):
        found = align(lt.mechanism(program), small, Fraction(1), ROUNDED)
        assert found.epsilon == pytest.approx(1)
        assert found.reads_length  # scores are not shifted: floats lose more of larger ones
        more = align(lt.mechanism(program), large, Fraction(1), ROUNDED)
        assert more.epsilon == pytest.approx(1)


def by_sizes(data: Any, rng: Any) -> Any:
    """Weights times constants: what places have before any data."""
    w = SIZES * of(half_counts, data)
    return int(rng.choice(4, p=w / w.sum()))


def by_totals_of_sizes(data: Any, rng: Any) -> Any:
    w = SIZES * of(half_counts, data)
    return int(np.searchsorted(np.cumsum(w), rng.random() * w.sum()))


def by_choices_of_sizes(data: Any, rng: Any) -> Any:
    return random.choices(range(4), weights=(SIZES * of(half_counts, data)).tolist())[0]


@pytest.mark.parametrize("one", [by_sizes, by_totals_of_sizes, by_choices_of_sizes])
def test_constants_that_differ_change_no_price(one: Any) -> None:
    assert epsilon(lt.mechanism(one)) == pytest.approx(1)
    law = dict(lt.output_law(lt.mechanism(one), np.array([0, 1, 1, 3])).items())
    weights = SIZES * of(half_counts, np.array([0, 1, 1, 3]))
    for k, share in enumerate(weights / weights.sum()):
        assert law[k] == pytest.approx(share, abs=1e-14)


def test_divided_by_ever_more_totals_is_refused() -> None:
    def draw(data: Any, rng: Any) -> Any:
        p = of(half_counts, data)
        for _ in range(5):
            p = p / p.sum()
        return int(rng.choice(4, p=p))

    assert align(lt.mechanism(draw), PEOPLE, Fraction(5), ROUNDED).price is None


def scores_far_apart(data: Any) -> Any:
    """Up to 755, which one dataset has, of halves that are not alike: exp(-755) is 0 in floats."""
    first, second = (data[:2500] == 1).sum(), (data[2500:] == 2).sum()
    return np.array([0.151 * (first + second), 0.0])


def is_above_0(data: Any, rng: Any) -> Any:
    return bool(of(scores_far_apart, data)[1] > 0)


def is_not_0(data: Any, rng: Any) -> Any:
    w = of(scores_far_apart, data)
    return bool(w[1] / w.sum() != 0)


def is_something(data: Any, rng: Any) -> Any:
    return 1 if of(scores_far_apart, data)[1] else 0


def has_a_part(data: Any, rng: Any) -> Any:
    return bool(of(scores_far_apart, data)[1:].sum() > 0)


def divided_by_a_part(data: Any, rng: Any) -> Any:
    """NumPy raises an exception where p is 0 / 0."""
    w = of(scores_far_apart, data)
    w = w / w[1:].sum()
    return int(rng.choice(2, p=w / w.sum()))


def without_nan(data: Any, rng: Any) -> Any:
    w = of(scores_far_apart, data)
    return bool(np.isnan(w / w[1:].sum()).any())


def at_least_0(data: Any, rng: Any) -> Any:
    w = of(scores_far_apart, data)
    return bool(np.all(w / w[1:].sum() >= 0))


@pytest.mark.parametrize(
    "one",
    [
        *(is_above_0, is_not_0, is_something, has_a_part),
        *(divided_by_a_part, without_nan, at_least_0),
    ],
)
def test_weights_that_may_be_0_in_floats_are_not_told_from_it(one: Any) -> None:
    """On one dataset out of 4**5000 they are: what chance would never draw."""
    found = align(lt.mechanism(one), lt.RecordGrid([4] * 5000), Fraction(1), ROUNDED)
    assert found.price is None
    assert "liptest itself" not in found.reason


def test_weights_that_are_never_0_are_told_from_it() -> None:
    def draw(data: Any, rng: Any) -> Any:
        w = np.exp(half_counts(data))
        total = w.sum()
        if total == 0 or np.any(w <= 0) or np.any(np.isnan(w / total)) or not np.isfinite(total):
            return None
        p = w / total if total > 0 else np.ones(4) / 4
        return int(rng.choice(4, p=p))

    assert epsilon(lt.mechanism(draw)) == pytest.approx(1)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 20_000), min_size=2, max_size=12), st.sampled_from([0.5, 0.1, 1 / 3])
)
def test_what_floats_lose_in_logarithms_is_within_the_stated_bound(
    counts: list[int], factor: float
) -> None:
    """Shares by the logarithm of the total of scores that are not shifted."""
    scores = np.array(counts) * factor
    top = scores.max()
    shares = np.exp(scores - (np.log(np.sum(np.exp(scores - top))) + top))
    with precision(200):
        exact = [(arb(factor) * (one - max(counts))).exp() for one in counts]
        total = sum(exact, arb(0))
        gaps = [abs(arb(one) - other / total) for one, other in zip(shares, exact, strict=True)]
    size = max(600.0, float(top))
    assert float(sum(gaps, arb(0))) < 2.0**-48 * size / 4 + 2.0**-50 * 2048 / 4
    assert abs(sum(shares.tolist()) - 1) < 2.0**-50 * (len(counts) + 2048) + 2.0**-48 * float(top)
