"""The arithmetic of the checker that needs no library: bounds hold, are close, and decide."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from liptest.balls import precision
from liptest.evidence import check_witness
from liptest.evidence.check_witness import (
    BREAKS,
    KEEPS,
    LARGEST_EXPONENT,
    OPEN,
    StatedClaim,
    decide_event,
    exp_bounds,
    log_bounds,
    masses,
)
from liptest.mechanisms.laws import exact_ball

NONE = Fraction(0)


def _claim(epsilon: Fraction | None = None, argument: Fraction | None = None) -> StatedClaim:
    return StatedClaim(epsilon, argument, NONE, NONE)


@pytest.mark.parametrize("distance", [1, 2, 3, 7])
@pytest.mark.parametrize("claim", [_claim(Fraction(1, 3)), _claim(None, Fraction(7, 5))])
def test_a_claim_holds_as_many_times_as_the_distance(claim: StatedClaim, distance: int) -> None:
    epsilon = Fraction(1, 3) if claim.argument is None else Fraction(math.log(1.4))
    for share, expected in ((Fraction(999, 1000), KEEPS), (Fraction(1001, 1000), BREAKS)):
        ratio = Fraction(math.exp(epsilon * distance)) * share
        p, q = ratio / 100, Fraction(1, 100)
        for ends in (((p, p), (q, q)), ((q, q), (p, p))):
            assert decide_event(claim, *ends, distance) == expected


def test_what_is_too_large_for_an_exponential_is_open() -> None:
    half = (Fraction(1, 2), Fraction(1, 2))
    claim = _claim(Fraction(LARGEST_EXPONENT, 2))
    assert decide_event(claim, half, half, 1) == KEEPS
    assert decide_event(claim, half, half, 3) == OPEN
    assert decide_event(_claim(Fraction(LARGEST_EXPONENT + 1)), half, half, 1) == OPEN
    # But not where one side is impossible.
    assert decide_event(claim, half, (NONE, NONE), 3) == BREAKS


def test_what_may_be_impossible_on_both_sides_is_open() -> None:
    claim = _claim(Fraction(1, 2))
    may_be = (NONE, Fraction(1, 2))
    for ends in ((may_be, (NONE, NONE)), ((NONE, NONE), may_be)):
        assert decide_event(claim, *ends, 1) == OPEN
    for ends in (((Fraction(1, 9), Fraction(1, 2)), (NONE, NONE)),):
        assert decide_event(claim, *ends, 1) == BREAKS


@pytest.mark.parametrize("bits", [100, 1000])
def test_what_is_exact_is_decided_however_close(bits: int) -> None:
    low, high = exp_bounds(Fraction(1, 2), 1600)
    q, gap = Fraction(1, 8), Fraction(1, 2**bits)
    claim = _claim(Fraction(1, 2))
    for p, expected in ((q * high + gap, BREAKS), (q * low - gap, KEEPS)):
        assert decide_event(claim, (p, p), (q, q), 1) == expected
        assert decide_event(claim, (q, q), (p, p), 1) == expected


def test_intervals_around_the_line_are_open() -> None:
    low, high = exp_bounds(Fraction(1, 2), 200)
    q, gap = Fraction(1, 8), Fraction(1, 2**60)
    around = (q * low - gap, q * high + gap)
    for ends in ((around, (q, q)), ((q, q), around)):
        assert decide_event(_claim(Fraction(1, 2)), *ends, 1) == OPEN


@pytest.mark.slow
@given(st.fractions(0, 40, max_denominator=1000), st.sampled_from([16, 64, 128, 300]))
def test_exponentials_are_enclosed(exponent: Fraction, bits: int) -> None:
    low, high = exp_bounds(exponent, bits)
    with precision(600):
        true = exact_ball(exponent).exp()
        assert exact_ball(low) <= true or low == high == 1
        assert exact_ball(high) >= true
    assert high - low <= Fraction(2) ** -bits * max(1, high)


@pytest.mark.slow
@given(
    st.fractions(Fraction(1), 10**6, max_denominator=10**4).filter(lambda value: value > 1),
    st.sampled_from([16, 64, 128, 300]),
)
def test_logarithms_are_enclosed(value: Fraction, bits: int) -> None:
    low, high = log_bounds(value, bits)
    with precision(600):
        true = exact_ball(value).log()
        assert exact_ball(low) <= true
        assert exact_ball(high) >= true
    assert high - low <= Fraction(2) ** -bits
    assert (low, high) != (arb(0), arb(0))


@pytest.mark.slow
def test_sums_of_many_unlike_probabilities_are_kept_apart() -> None:
    """Denominators that have nothing in common: the ends are rounded outwards, not one number."""
    values = [Fraction(1, 3**4000 + 2 * k) for k in range(40)]
    tiny = sum(values)
    rows = [[f"{v.numerator}/{v.denominator}"] * 4 for v in values]
    digits = {"event": list(range(40)), "bounds": rows, "unexplored": ["0", "1/4"]}
    first, second = masses(digits)
    assert first[0] < tiny < first[1]
    assert second[0] < tiny < second[1]
    assert first[1] - first[0] < tiny / 2**1000
    assert second[1] - Fraction(1, 4) == pytest.approx(0, abs=1e-300)
    exact = masses(
        {"event": [1], "bounds": [["1/3", "1/2", "1/5", "1/4"]], "unexplored": ["0", "0"]}
    )
    assert exact == (
        (Fraction(1, 3), Fraction(1, 2)),
        (Fraction(1, 5), Fraction(1, 4)),
    )


@pytest.mark.parametrize(("answer", "code"), [(BREAKS, 0), (KEEPS, 1), (OPEN, 3)])
def test_each_answer_has_its_exit_code(
    answer: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_witness, "check_certificate", lambda document: answer)
    found, sentence = check_witness._tell({"verdict": {"decision": "NO"}})
    assert found == code
    assert sentence.startswith("the stated ")


@pytest.mark.slow
@given(
    st.fractions(Fraction(1, 100), 5, max_denominator=100),
    st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 100)]),
    st.integers(1, 3),
)
def test_the_factor_of_a_claim_has_its_tolerance(
    epsilon: Fraction, tolerance: Fraction, distance: int
) -> None:
    for claim in (
        StatedClaim(epsilon, None, NONE, tolerance),
        StatedClaim(None, 1 + epsilon, NONE, tolerance),
    ):
        low, high = claim.factor(distance, 128)
        with precision(300):
            stated = (
                exact_ball(epsilon) if claim.argument is None else exact_ball(1 + epsilon).log()
            )
            share = exact_ball(tolerance)
            true = ((stated * (1 + share) + share) * distance).exp()
            assert exact_ball(low) < true * (1 + arb(2) ** -100)
            assert exact_ball(high) > true * (1 - arb(2) ** -100)
        assert low <= high <= low * (1 + Fraction(1, 2**80))


def test_a_file_may_be_as_deep_as_stated_and_no_deeper() -> None:
    deepest = check_witness._DEEPEST
    check_witness.strict_json("[" * deepest + "]" * deepest)
    with pytest.raises(check_witness.Unreadable, match="nested"):
        check_witness.strict_json("[" * (deepest + 1) + "]" * (deepest + 1))
