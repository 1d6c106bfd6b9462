from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from liptest.errors import InputError, LawError
from liptest.mechanisms.laws import (
    INFINITE_LOSS,
    ZERO_LOG,
    LawTable,
    OutputLaw,
    Raised,
    as_fraction,
    exact_ball,
    find_quotient,
    log_fraction,
    normalise_logs,
    sum_of_fractions,
)

THIRD = Fraction(1, 3)


def float_law(*logs: float, **options: object) -> OutputLaw:
    return OutputLaw(range(len(logs)), np.array(logs), np.full(len(logs), 1e-15), **options)


def table(*rows: list[float], zeros_exact: bool = True) -> LawTable:
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(np.array(rows)), ZERO_LOG)
    return LawTable(("a", "b"), logs, None, np.full(len(rows), 1e-15), zeros_exact)


def test_exact_laws_are_mappings_of_exact_numbers() -> None:
    law = OutputLaw.from_fractions({"a": THIRD, "b": 1 - THIRD, "c": Fraction(0)})
    assert dict(law) == {"a": 1 / 3, "b": 2 / 3}
    assert law.exact("a") == THIRD
    assert law.error == 0.0
    assert (law.exact("c"), law.is_zero("c"), law.is_zero("z")) == (0, True, True)
    assert law.log_bounds("c") == (arb("-inf"), arb("-inf"))
    assert law.source == "enumerated"
    assert "enumerated" in repr(law)


def test_exact_laws_must_sum_to_exactly_1() -> None:
    with pytest.raises(LawError, match="sum to"):
        OutputLaw.from_fractions({0: THIRD, 1: THIRD})
    left = OutputLaw.from_fractions({0: THIRD, 1: THIRD}, unexplored=THIRD)
    assert not left.is_zero(7)
    assert left.log_bounds(7)[0] == arb("-inf")
    assert abs(float(left.log_bounds(7)[1]) - math.log(1 / 3)) < 1e-14


def test_float_laws_are_balls() -> None:
    law = float_law(math.log(0.25), math.log(0.75))
    assert law[1] == pytest.approx(0.75)
    assert law.exact(0).contains(arb("0.25"))
    assert law.error == 1e-15
    with pytest.raises(KeyError):
        law[5]


def test_a_float_zero_is_certain_only_where_declared() -> None:
    certain, uncertain = (float_law(0.0, -math.inf, exact_zeros=e) for e in (True, False))
    assert certain.is_zero(1)
    assert not uncertain.is_zero(1)
    low, high = uncertain.log_bounds(1)
    assert low == arb("-inf")
    assert float(high) == pytest.approx(-1074 * math.log(2))


@pytest.mark.parametrize(
    "p", [Fraction(1, 7), Fraction(1, 10**400), Fraction(10**400), Fraction(1)]
)
def test_logs_of_fractions_do_not_underflow(p: Fraction) -> None:
    truth = float(exact_ball(p).log().mid())
    assert log_fraction(p) == pytest.approx(truth, rel=1e-15, abs=1e-15)


def test_exact_values_of_balls() -> None:
    assert as_fraction(THIRD) == THIRD
    assert as_fraction(arb("0.625")) == Fraction(5, 8)
    assert as_fraction(arb("-3")) == -3


def test_losses_of_a_table() -> None:
    laws = table([0.5, 0.5], [0.25, 0.75], [0.0, 1.0])
    left, right = np.array([0, 0, 2]), np.array([1, 2, 2])
    losses = laws.losses(left, right)
    assert losses[0] == pytest.approx(math.log(2))
    assert losses[1] >= INFINITE_LOSS
    assert losses[2] == 0.0
    sticks = laws.hockey_sticks(left, right, 0.0)
    assert sticks.tolist() == pytest.approx([0.25, 0.5, 0.0])
    assert laws.hockey_sticks(left, right, 1e6).tolist() == pytest.approx([0.0, 0.5, 0.0])
    assert laws.screen_error(left, right).tolist() == [2e-15] * 3


def test_zeros_on_both_sides_are_uncertain_unless_declared() -> None:
    pairs = np.array([0, 1, 1]), np.array([1, 0, 1])
    rows = [0.5, 0.5], [0.0, 1.0]
    assert table(*rows).has_uncertain_zeros(*pairs).tolist() == [False] * 3
    loose = table(*rows, zeros_exact=False)
    assert loose.has_uncertain_zeros(*pairs).tolist() == [False, False, True]


def test_one_output_of_a_table() -> None:
    laws = table([0.5, 0.5], [0.25, 0.75])
    assert np.exp(laws.only("b").logs).round(9).tolist() == [[0.5], [0.75]]
    assert laws.only("z").logs.tolist() == [[ZERO_LOG], [ZERO_LOG]]


def test_a_table_of_exceptions_only_is_no_answer() -> None:
    outputs, logs = (Raised("KeyError"), 0), np.array([[0.0, ZERO_LOG]])
    assert not LawTable(outputs, logs, None, np.zeros(1)).is_answered()
    logs = np.log([[0.5, 0.5]])
    assert LawTable(outputs, logs, None, np.zeros(1)).is_answered()
    assert repr(Raised("KeyError")) == "Raised('KeyError')"


def test_normalising_keeps_the_declared_law_within_the_error() -> None:
    given = np.log([[0.3, 0.7]]) + 1e-6
    logs, errors = normalise_logs(given, 2, 1, 2e-6, "m")
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-15)
    assert np.all(np.abs(logs - given) <= errors)


def test_each_output_may_have_its_own_error() -> None:
    _, errors = normalise_logs(np.log([[0.3, 0.7]]), 2, 1, [1e-6, 0.0], "m")
    assert errors.shape == (1, 2)
    assert errors[0, 0] > 1e-6 > errors[0, 1]


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        ([[0.0, 0.0]], "sums to 2.0"),
        ([[math.log(0.5), math.log(0.4)]], "sums to 0.9"),
        ([[math.nan, 0.0]], "NaN"),
        ([[0.0]], "shape="),
        ([0.0, 0.0], "shape="),
    ],
)
def test_what_is_no_law_is_an_error(logs: list[list[float]], words: str) -> None:
    with pytest.raises(LawError, match=words):
        normalise_logs(logs, 2, 1, None, "m")


@pytest.mark.parametrize("error", [-1.0, math.nan, math.inf])
def test_errors_are_0_or_more(error: float) -> None:
    with pytest.raises(InputError, match="error="):
        normalise_logs(np.log([[0.3, 0.7]]), 2, 1, error, "m")


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(-(10**30), 10**30), st.integers(1, 10**9), st.integers(0, 300)))
)
def test_fractions_are_made_and_added_exactly(parts: list[tuple[int, int, int]]) -> None:
    expected = [Fraction(top, bottom << shift) for top, bottom, shift in parts]
    made = [find_quotient(top, bottom << shift) for top, bottom, shift in parts]
    assert made == expected
    for one, two in zip(made, expected, strict=True):
        assert (one.numerator, one.denominator) == (two.numerator, two.denominator)
        assert type(one.numerator) is int
    assert sum_of_fractions(made) == sum(expected, Fraction(0))


def test_a_fraction_over_a_power_of_two_is_in_lowest_terms() -> None:
    for top in range(-40, 41):
        one = find_quotient(top, 1 << 5)
        assert (one.numerator, one.denominator) == Fraction(top, 32).as_integer_ratio()
        assert hash(one) == hash(Fraction(top, 32))
