"""Choices with weights exp(score): the price is that of the exponential mechanism's exact law."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import precision
from liptest.enumerate.intercept.finite_draws import cdf_weights
from liptest.privacy.proofs.prices import align
from liptest.symbolic.forms import Form
from liptest.values.answers.weight_unknowns import Largest, has_its_largest
from liptest.values.answers.weights import _is_at_most_its_largest

N, VALUES = 3, 3
SMALL = lt.RecordGrid([VALUES] * N)
ROUNDED = 1e-6
Scores = Callable[[Any], Any]


def drawn_by(scores: Scores, factor: float) -> Any:
    """The exponential mechanism as it is mostly written."""

    def draw(data: Any, rng: Any) -> int:
        found = scores(data)
        weights = np.exp(factor * (found - found.max()))
        return int(rng.choice(len(found), p=weights / weights.sum()))

    return draw


def largest_loss(scores: Scores, factor: float) -> float:
    """By brute force over all neighbours: logs of the probabilities, by their formula."""
    logs = {}
    for one in product(range(VALUES), repeat=N):
        found = factor * np.asarray(scores(np.array(one)), dtype=float)
        logs[one] = found - found.max() - math.log(np.exp(found - found.max()).sum())
    return max(
        float(np.abs(logs[one] - logs[(*one[:place], value, *one[place + 1 :])]).max())
        for one in logs
        for place in range(N)
        for value in range(VALUES)
    )


tables = st.lists(
    st.lists(st.integers(-2, 2), min_size=VALUES, max_size=VALUES), min_size=3, max_size=4
)


@pytest.mark.slow
@settings(max_examples=12)
@given(tables, st.sampled_from([0.25, 0.5, 1.0]))
def test_the_price_is_no_less_than_the_largest_loss(rows: list[list[int]], factor: float) -> None:
    table = np.array(rows)
    scores = lambda data: np.array([row[data].sum() for row in table])  # noqa: E731
    if any(len(set(row)) == 1 for row in rows) and not np.ptp(table):
        return
    found = align(lt.mechanism(drawn_by(scores, factor)), SMALL, wanted=None)
    assert found.price is None  # without a delta nothing is proved of floats
    loss = largest_loss(scores, factor)
    spread = max(np.ptp(table[:, v] - table[:, w]) for v in range(VALUES) for w in range(VALUES))
    for claim in (loss * 0.999, factor * spread * 1.001 + 1e-6):
        if claim <= 0:
            continue
        found = align(lt.mechanism(drawn_by(scores, factor)), SMALL, _exact(claim), _exact(ROUNDED))
        assert (found.epsilon <= claim) is (claim > loss)


def _exact(number: float) -> Any:
    return Fraction(number)


@pytest.mark.slow
def test_counts_of_many_records() -> None:
    """Half of epsilon for each count, of which two change: tight, and refuted without the half."""
    counts = lambda data: np.bincount(data, minlength=8)  # noqa: E731
    people = lt.RecordGrid([8] * 500)
    verdict = lt.check_privacy(drawn_by(counts, 0.5), people, epsilon=1, delta=ROUNDED)
    assert verdict.decision == "YES"
    assert "for every number of records" in str(verdict)
    verdict = lt.check_privacy(drawn_by(counts, 0.5), people, epsilon=0.99, delta=ROUNDED)
    assert verdict.decision != "YES"
    verdict = lt.check_privacy(drawn_by(counts, 1.0), people, epsilon=1, delta=ROUNDED)
    assert verdict.decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize(("size", "price"), [(1, 1.0), ((1,), 1.0), (2, 2.0), ((2, 2), 4.0)])
def test_several_choices_cost_as_much_as_each(size: Any, price: float) -> None:
    """``rng.choice(names, size, p=..)`` is so many choices, each by itself."""

    def draw(data: Any, rng: Any) -> Any:
        counts = np.bincount(data, minlength=4)
        weights = np.exp(0.5 * (counts - counts.max()))
        return rng.choice(["a", "b", "c", "d"], size, p=weights / weights.sum()).tolist()

    people = lt.RecordGrid([4] * 500)
    for epsilon in (price, 0.99 * price):
        verdict = lt.check_privacy(lt.mechanism(draw), people, epsilon=epsilon, delta=ROUNDED)
        assert (verdict.decision == "YES") is (epsilon == price)


@pytest.mark.slow
def test_without_a_delta_the_delta_that_is_proved_is_said() -> None:
    counts = lambda data: np.bincount(data, minlength=8)  # noqa: E731
    verdict = lt.check_privacy(drawn_by(counts, 0.5), lt.RecordGrid([8] * 1000), epsilon=1)
    # A probability below 2^-53 is one that floats may never choose, or choose.
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert 0 < verdict.witness.least_delta < 2.0**-52
    assert "It holds, proved on the same domain, with epsilon 1 and delta >= 7.3" in str(verdict)
    enough = verdict.sufficient_delta
    assert enough is not None
    again = lt.check_privacy(
        drawn_by(counts, 0.5), lt.RecordGrid([8] * 1000), epsilon=1, delta=enough
    )
    assert again.decision == "YES"


def chosen_then_counted(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=4)
    weights = np.exp(0.25 * (counts - np.max(counts)))
    weights /= np.sum(weights)
    place = rng.choice(4, p=weights)
    return place, counts[place] + rng.laplace(0, 2.0)


def in_other_words(data: Any, rng: Any) -> Any:
    below = [(data < edge).sum() for edge in range(1, 4)]
    scores = -0.5 * np.array(below)
    scores = scores - scores.max()
    weights = np.exp(scores) * 3
    return rng.choice(["low", "middle", "high"], p=weights / np.sum(weights))


def by_losses(data: Any, rng: Any) -> Any:
    """Weights of losses, of which the smallest is best; one place is a constant."""
    losses = np.array([(data != value).sum() for value in range(3)] + [7])
    weights = 2 * np.exp(-0.5 * (losses - losses.min()))
    return int(rng.choice(4, p=weights / weights.sum()))


def in_plain_python(data: Any, rng: Any) -> Any:
    scores = [int((data == value).sum()) for value in range(4)]
    top = max(scores)
    weights = [math.exp(0.5 * (score - top)) for score in scores]
    total = sum(weights)
    return int(rng.choice(4, p=[one / total for one in weights]))


@pytest.mark.parametrize(
    ("program", "price"),
    [(chosen_then_counted, 1.0), (in_other_words, 0.5), (by_losses, 1.0), (in_plain_python, 1.0)],
)
def test_other_words(program: Any, price: float) -> None:
    found = align(lt.mechanism(program), lt.RecordGrid([4] * 1000), _exact(1.0), _exact(ROUNDED))
    assert found.epsilon == pytest.approx(price)
    assert not found.reads_length


def unshifted(data: Any, rng: Any) -> int:
    weights = np.exp(0.5 * np.bincount(data, minlength=4))
    return int(rng.choice(4, p=weights / weights.sum()))


def test_without_the_largest_score_the_size_counts() -> None:
    """exp(0.5 * n) is a float up to n = 1,400 or so: the proof is one for this n."""
    mechanism = lt.mechanism(unshifted)
    found = align(mechanism, lt.RecordGrid([4] * 1000), _exact(1.0), _exact(ROUNDED))
    assert found.epsilon == 1.0
    assert found.reads_length
    found = align(mechanism, lt.RecordGrid([4] * 2000), _exact(1.0), _exact(ROUNDED))
    assert found.price is None
    assert "subtract the largest score first" in found.reason


def _weights(data: Any) -> Any:
    counts = np.bincount(data, minlength=4)
    return np.exp(0.5 * (counts - counts.max()))


NOT_FOLLOWED: dict[str, Callable[[Any, Any], Any]] = {
    "they do not add up to 1": lambda d, r: r.choice(4, p=_weights(d)),
    "divided by a sum of others": lambda d, r: r.choice(4, p=_weights(d) / _weights(d)[:3].sum()),
    "fewer than places": lambda d, r: r.choice(5, p=_weights(d) / _weights(d).sum()),
    "some of them": lambda d, r: r.choice(3, p=_weights(d)[:3] / _weights(d)[:3].sum()),
    "none at all": lambda d, r: r.choice(4, size=0, p=_weights(d) / _weights(d).sum()),
    "two of them": lambda d, r: r.choice(
        4, size=2, replace=False, p=_weights(d) / _weights(d).sum()
    ),
    "another largest": lambda d, r: r.choice(
        4, p=np.exp(np.bincount(d, minlength=4) - (d > 1).sum())
    ),
    "half of the largest": lambda d, r: np.exp(
        np.bincount(d, minlength=4) - np.bincount(d, minlength=4).max() / 2
    ),
    "a smallest that is not a bound": lambda d, r: np.exp(
        np.bincount(d, minlength=4) - np.bincount(d, minlength=4).min()
    ),
    "factors beyond floats": lambda d, r: r.choice(
        4, p=_weights(d) * 2.0**-700 * 2.0**-700 / (_weights(d) * 2.0**-700 * 2.0**-700).sum()
    ),
    "a weight": lambda d, r: float(_weights(d)[0]) + r.laplace(0, 1.0),
    "a comparison of weights": lambda d, r: _weights(d)[0] > 0.5 + r.laplace(0, 1.0),
    "a power": lambda d, r: _weights(d) ** 2,
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_is_no_choice_with_weights_has_no_price(name: str) -> None:
    program = lt.mechanism(name=name)(NOT_FOLLOWED[name])
    found = align(program, lt.RecordGrid([4] * 1000), _exact(5.0), _exact(1e-6))
    assert found.price is None
    assert "liptest itself" not in found.reason


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 1200), min_size=3, max_size=40),
    st.sampled_from([0.5, 0.1, 1 / 3, 0.05]),
    st.booleans(),
)
def test_what_numpy_draws_is_as_near_as_is_said(
    scores: list[int], factor: float, is_shifted: bool
) -> None:
    """Total variation between exact weights and the grid points that NumPy gives each place."""
    array = np.array(scores)
    weights = np.exp(factor * (array - array.max() if is_shifted else array))
    drawn = cdf_weights(weights / weights.sum())
    with precision(300):
        exact = [(arb(factor) * (one - max(scores))).exp() for one in scores]
        total = sum(exact, arb(0))
        pairs = zip(drawn, exact, strict=True)
        shares = (abs(arb(fmpq(one, sum(drawn))) - other / total) for one, other in pairs)
        apart = float(sum(shares, arb(0))) / 2
    assert apart < (len(scores) + 2048) * 2.0**-50 / 20


@pytest.mark.parametrize("factor", [math.inf, math.nan, 0.0, -1.0])
def test_factors_that_make_no_weights_are_refused(factor: float) -> None:
    program = lt.mechanism(name="scaled")(
        lambda data, rng: rng.choice(4, p=_weights(data) * factor)
    )
    found = align(program, lt.RecordGrid([4] * 1000), _exact(1.0), _exact(ROUNDED))
    assert found.price is None
    assert "liptest itself" not in found.reason


def chosen_by_python(scores: Scores, factor: float) -> Any:
    """The same with ``random.choices``, which needs no probabilities."""

    def draw(data: Any) -> int:
        found = [int(one) for one in scores(data)]
        top = max(found)
        return random.choices(
            range(len(found)), weights=[math.exp(factor * (s - top)) for s in found]
        )[0]

    return draw


few = st.lists(
    st.lists(st.integers(-2, 2), min_size=VALUES, max_size=VALUES), min_size=2, max_size=2
)


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(few, st.booleans())
def test_choices_of_python_and_of_two_places(rows: list[list[int]], in_python: bool) -> None:
    table = np.array(rows)
    if any(len(set(row)) == 1 for row in rows):
        return
    scores = lambda data: np.array([row[data].sum() for row in table])  # noqa: E731
    program = (chosen_by_python if in_python else drawn_by)(scores, 0.5)
    loss = largest_loss(scores, 0.5)
    spread = max(np.ptp(table[:, v] - table[:, w]) for v in range(VALUES) for w in range(VALUES))
    for claim in (loss * 0.999, 0.5 * spread * 1.001 + 1e-6):
        if claim <= 0:
            continue
        found = align(lt.mechanism(program), SMALL, _exact(claim), _exact(ROUNDED))
        assert (found.epsilon <= claim) is (claim > loss)


def letters(data: Any) -> Any:
    counts = Counter(data.tolist())
    best = max(counts[k] for k in range(4))
    weights = [math.exp(0.5 * (counts[k] - best)) for k in range(4)]
    total = sum(weights)
    return random.choices("abcd", [one / total for one in weights], k=2)


def larger_half(data: Any) -> Any:
    ones = int((data == 0).sum())
    scores = [500 - ones, ones]
    top = max(500 - ones, ones)
    return random.choices([0, 1], [math.exp(0.5 * (one - top)) for one in scores])


@pytest.mark.slow
@pytest.mark.parametrize(("program", "price"), [(letters, 2.0), (larger_half, 1.0)])
def test_choices_of_python_at_any_size(program: Any, price: float) -> None:
    people = lt.RecordGrid([4] * 500)
    found = align(lt.mechanism(program), people, _exact(price), _exact(ROUNDED))
    assert found.epsilon == price
    found = align(lt.mechanism(program), people, _exact(price * 0.99), _exact(ROUNDED))
    assert found.epsilon > price * 0.99


@pytest.mark.slow
@given(st.lists(st.floats(-40, 0), min_size=2, max_size=30))
def test_what_python_draws_is_within_the_stated_bound(scores: list[float]) -> None:
    weights = [math.exp(one) for one in scores]
    sums = list(accumulate(weights))
    cuts = [0]
    for bound in sums[:-1]:
        low, high = 0, 1 << 53  # the first grid point whose product is not below the bound
        while low < high:
            middle = (low + high) // 2
            below = middle * 2.0**-53 * (sums[-1] + 0.0) < bound
            low, high = (middle + 1, high) if below else (low, middle)
        cuts.append(low)
    cuts.append(1 << 53)
    total = sum(map(Fraction, weights))
    gaps = (
        abs(Fraction(after - before, 1 << 53) - Fraction(one) / total)
        for one, (before, after) in zip(weights, pairwise(cuts), strict=True)
    )
    assert sum(gaps) / 2 <= Fraction(len(weights) + 2048, 1 << 50)


def median_of(count: int) -> Any:
    """Twice the distance of ranks from the middle is halved; the largest one drops out before."""

    def median(data: Any, rng: Any) -> int:
        candidates = np.arange(count)
        utility = np.array([-abs((data < c).sum() - (data > c).sum()) / 2 for c in candidates])
        utility = utility - utility.max()
        weights = np.exp(utility / 2)
        return int(rng.choice(candidates, p=weights / weights.sum()))

    return median


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, 12, pytest.param(64, marks=pytest.mark.slow)])
def test_scores_that_are_divided_without_their_largest_stay_scores(count: int) -> None:
    domain = lt.RecordGrid([count] * 5000)
    verdict = lt.check_privacy(lt.mechanism(median_of(count)), domain, epsilon=1, delta=1e-9)
    assert verdict.decision == "YES"
    assert "for every number of records: loss at most 1.000000" in str(verdict)


def test_the_largest_of_scores_is_compared_with_few_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = 0

    def counting(operation: Any) -> Any:
        def counted(one: Form, other: Any) -> Form:
            nonlocal sums
            sums += 1
            return operation(one, other)

        return counted

    def of(count: int) -> int:
        nonlocal sums
        sums = 0
        scores = [Form(place, ((place, 1),)) for place in range(count)]
        largest = Largest(tuple(scores))
        weights = tuple((score, ((largest, Fraction(-1)),)) for score in scores)
        assert has_its_largest(weights)
        assert all(_is_at_most_its_largest(*weight) for weight in weights)
        assert not has_its_largest(weights[1:])
        assert not _is_at_most_its_largest(scores[0] * 2, weights[0][1])
        return sums

    for name in ("__add__", "__mul__"):
        monkeypatch.setattr(Form, name, counting(getattr(Form, name)))
    assert 0 < of(20) <= 2.5 * of(10)
