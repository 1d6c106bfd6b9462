"""Certified comparison: ties, zeros, underflow, mass that was not explored."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb, ctx

import liptest as lt
from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, compare_closed_form, compare_laws, enclose_loss
from tests.unit.privacy.cases import exp_of


def law(*probabilities, **options):
    return OutputLaw.from_fractions({i: F(p) for i, p in enumerate(probabilities)}, **options)


def declared(*logs, error=0.0, exact_zeros=True):
    values = np.array(logs, dtype=float)
    return OutputLaw(
        range(len(values)), values, np.full(len(values), error), exact_zeros=exact_zeros
    )


def answer(left, right, epsilon, *, delta=0.0, tolerance=0.0, distance=1):
    return compare_laws(left, right, Claim(epsilon, delta, tolerance), distance).answer


QUARTERS = law(F(3, 4), F(1, 4)), law(F(1, 4), F(3, 4))


def test_an_exact_tie_is_clear():
    assert answer(*QUARTERS, lt.log(3)) is Answer.CLEAR


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        (math.nextafter(math.log(3), 0), Answer.VIOLATED),
        # The float nearest to ln 3 lies above it: 1.0986122886681098 > 1.09861228866810969..
        (math.log(3), Answer.CLEAR),
        (lt.log(F(3) - F(1, 10**200)), Answer.VIOLATED),
        (lt.log(F(3) + F(1, 10**200)), Answer.CLEAR),
    ],
)
def test_the_last_digit_decides_without_tolerance(epsilon, expected):
    assert answer(*QUARTERS, epsilon) is expected


def test_tolerance_is_relative_and_absolute():
    limit = exp_of(F(1) * (1 + F(1e-9)) + F(1e-9))
    for factor, expected in ((1 - F(1, 10**20), Answer.CLEAR), (1 + F(1, 10**20), Answer.VIOLATED)):
        odds = limit * factor
        keep = odds / (1 + odds)
        pair = law(keep, 1 - keep), law(1 - keep, keep)
        assert answer(*pair, 1.0, tolerance=1e-9) is expected
        assert answer(*pair, 1.0, tolerance=0.0) is Answer.VIOLATED
        assert answer(*pair, 1.0, tolerance=1e-3) is Answer.CLEAR


def test_the_loss_scales_with_the_distance():
    ninth = law(F(9, 10), F(1, 10)), law(F(1, 10), F(9, 10))
    assert answer(*ninth, lt.log(3), distance=2) is Answer.CLEAR
    assert answer(*ninth, math.nextafter(math.log(3), 0), distance=2) is Answer.VIOLATED


def test_zero_on_both_sides_is_no_loss():
    assert answer(law(1, 0), law(1, 0), 1e-9) is Answer.CLEAR
    assert answer(declared(0.0, -math.inf), declared(0.0, -math.inf), 1e-9) is Answer.CLEAR


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 700.0, 1e300, 1e308])
def test_zero_on_one_side_breaks_every_epsilon(epsilon):
    found = compare_laws(law(1, 0), law(F(1, 2), F(1, 2)), Claim(epsilon))
    assert found.answer is Answer.VIOLATED
    assert found.lower == found.upper == math.inf
    assert found.event == (1,)


def test_a_zero_that_is_not_declared_on_both_sides_leaves_doubt():
    pair = [declared(0.0, -math.inf, exact_zeros=False)] * 2
    found = compare_laws(*pair, Claim(700.0))
    assert found.answer is Answer.DOUBT
    assert (found.lower, found.upper) == (0.0, math.inf)


def test_a_zero_that_is_not_declared_against_a_half_is_a_certain_loss_of_743():
    pair = (
        declared(math.log(0.5), math.log(0.5), exact_zeros=False),
        declared(0.0, -math.inf, exact_zeros=False),
    )
    found = compare_laws(*pair, Claim(743.0))
    assert found.answer is Answer.VIOLATED
    # ln(1/2) - ln(2**-1074) = 1073 ln 2
    assert found.lower == pytest.approx(1073 * math.log(2), rel=1e-12)
    assert found.lower <= 1073 * math.log(2)
    assert found.upper == math.inf
    assert answer(*pair, 744.0) is Answer.DOUBT


def test_a_zero_that_is_not_declared_against_a_tiny_probability_leaves_doubt():
    small = declared(math.log1p(-math.exp(-744)), -744.0, exact_zeros=False)
    gone = declared(0.0, -math.inf, exact_zeros=False)
    assert answer(small, gone, 1.0) is Answer.DOUBT
    assert answer(small, gone, 0.1) is Answer.VIOLATED


@pytest.mark.parametrize("error", [1e-12, 1e-6])
def test_declared_errors_leave_doubt_on_both_sides_of_the_line(error):
    for shift, expected in (
        (-3, Answer.CLEAR),
        (-1, Answer.DOUBT),
        (1, Answer.DOUBT),
        (3, Answer.VIOLATED),
    ):
        odds = math.exp(1.0 + shift * error)
        logs = math.log(odds / (1 + odds)), math.log(1 / (1 + odds))
        pair = declared(*logs, error=error), declared(*logs[::-1], error=error)
        assert answer(*pair, 1.0) is expected


def test_a_certain_violation_wins_over_doubt():
    half = math.log(0.5)
    left = declared(half, -math.inf, half - 1, exact_zeros=False)
    right = declared(half, -math.inf, half + 1, exact_zeros=False)
    found = compare_laws(left, right, Claim(1.0))
    assert found.answer is Answer.VIOLATED
    assert found.event == (2,)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e7, 1e200])
def test_huge_logs_are_compared_exactly(size):
    left, right = declared(0.0, -size), declared(0.0, -size - np.spacing(size))
    loss = float(np.spacing(size))
    assert answer(left, right, loss) is Answer.CLEAR
    assert answer(left, right, math.nextafter(loss, 0)) is Answer.VIOLATED


def test_outputs_that_one_law_does_not_list_have_probability_0():
    left = OutputLaw.from_fractions({"a": F(1)})
    right = OutputLaw.from_fractions({"a": F(1, 2), "b": F(1, 2)})
    found = compare_laws(left, right, Claim(700.0))
    assert (found.answer, found.event) == (Answer.VIOLATED, ("b",))


class TestDelta:
    THREE_AND_ONE = law(F(3, 4), F(1, 4)), law(F(1, 4), F(3, 4))

    @pytest.mark.parametrize(
        ("delta", "expected"),
        [(0.4999, Answer.VIOLATED), (0.5001, Answer.CLEAR)],
    )
    def test_a_plain_sum_decides(self, delta, expected):
        # At e^epsilon = 1 the divergence is 3/4 - 1/4; epsilon must be above 0.
        assert answer(*self.THREE_AND_ONE, 1e-12, delta=delta) is expected

    def test_the_event_and_the_excess_are_those_of_the_divergence(self):
        found = compare_laws(*self.THREE_AND_ONE, Claim(lt.log(2), 0.1, 0.0))
        assert (found.answer, found.event) == (Answer.VIOLATED, (0,))
        assert found.excess <= F(1, 4) <= found.excess + 1e-12
        assert found.lower <= math.log(3) <= found.upper

    def test_either_direction_counts(self):
        left, right = law(F(1, 10), F(9, 10), 0), law(F(1, 10), F(8, 10), F(1, 10))
        for pair in ((left, right), (right, left)):
            assert answer(*pair, 1.0, delta=0.09) is Answer.VIOLATED
            assert answer(*pair, 1.0, delta=0.11) is Answer.CLEAR

    @pytest.mark.parametrize("delta", [1e-300, 1e-9, 0.999])
    def test_equal_laws_are_clear_at_any_delta(self, delta):
        assert answer(QUARTERS[0], QUARTERS[0], 1e-9, delta=delta) is Answer.CLEAR

    def test_a_tiny_delta_is_no_licence(self):
        assert answer(law(1, 0), law(F(1, 2), F(1, 2)), 700.0, delta=1e-300) is Answer.VIOLATED

    def test_a_tiny_probability_fits_into_a_tiny_delta(self):
        tiny = F(1, 10**310)
        assert answer(law(1, 0), law(1 - tiny, tiny), 1.0, delta=1e-300) is Answer.CLEAR
        assert answer(law(1, 0), law(1 - tiny, tiny), 1.0, delta=1e-320) is Answer.VIOLATED

    def test_a_zero_that_is_not_declared_hides_less_than_any_delta(self):
        gone = declared(0.0, -math.inf, exact_zeros=False)
        assert answer(gone, gone, 1.0, delta=1e-300) is Answer.CLEAR

    def test_bounds_beside_a_zero_that_is_not_declared_are_numbers(self):
        left = declared(math.log(0.5), math.log(0.5), exact_zeros=False)
        right = declared(0.0, -math.inf, exact_zeros=False)
        found = compare_laws(left, right, Claim(1.0, 0.1))
        assert found.answer is Answer.VIOLATED
        assert 743 < found.lower < found.upper == math.inf

    def test_tolerance_on_delta_is_relative_only(self):
        left, right = law(1, 0), law(F(1, 2), F(1, 2))
        assert answer(left, right, 1.0, delta=0.5 / 1.001, tolerance=1e-3) is Answer.CLEAR
        assert answer(left, right, 1.0, delta=0.5 / 1.002, tolerance=1e-3) is Answer.VIOLATED

    def test_many_small_excesses_add_up(self):
        k = 1000
        even, odd = law(*([F(2, k), 0] * (k // 2))), law(*([0, F(2, k)] * (k // 2)))
        assert answer(even, odd, 1.0, delta=0.999) is Answer.VIOLATED


class TestUnexplored:
    """Mass that may fall on any output, listed or not."""

    HALF = OutputLaw.from_fractions({"a": F(1, 2)}, unexplored=F(1, 2))
    ALL = OutputLaw.from_fractions({"a": F(1)})

    @pytest.mark.parametrize("delta", [0.0, 0.1])
    def test_it_may_make_up_the_difference(self, delta):
        assert answer(self.HALF, self.ALL, 0.1, delta=delta) is Answer.DOUBT
        assert answer(self.ALL, self.HALF, 0.1, delta=delta) is Answer.DOUBT

    @pytest.mark.parametrize("delta", [0.0, 0.1])
    def test_it_may_fall_on_outputs_that_nobody_lists(self, delta):
        assert answer(self.HALF, self.HALF, 0.1, delta=delta) is Answer.DOUBT

    def test_what_it_cannot_make_up_is_a_violation(self):
        low = OutputLaw.from_fractions({"a": F(1, 10), "b": F(8, 10)}, unexplored=F(1, 10))
        assert answer(low, self.ALL, 1.0) is Answer.VIOLATED
        assert answer(low, self.ALL, 1.0, delta=0.25) is Answer.VIOLATED

    def test_a_delta_above_it_is_clear(self):
        nearly = OutputLaw.from_fractions({"a": F(99, 100)}, unexplored=F(1, 100))
        assert answer(nearly, nearly, 1.0, delta=0.02) is Answer.CLEAR


class TestEnclosure:
    def test_it_contains_the_loss_tightly(self):
        found = enclose_loss(*QUARTERS)
        assert found.lower <= math.log(3) <= found.upper
        assert found.upper - found.lower < 1e-15

    def test_a_worse_output_that_is_uncertain_widens_it(self):
        left = declared(math.log(0.5), math.log(0.5), -math.inf, exact_zeros=False)
        right = declared(math.log(0.6), math.log(0.4), -math.inf, exact_zeros=False)
        found = enclose_loss(left, right)
        assert found.lower == pytest.approx(math.log(1.25), rel=1e-9)
        assert found.upper == math.inf


def test_precision_is_restored():
    before = ctx.prec
    compare_laws(*QUARTERS, Claim(math.log(3), 0.0, 0.0))
    enclose_loss(*QUARTERS)
    assert ctx.prec == before


def test_balls_of_closed_forms_are_refined_until_they_decide():
    def loss():
        return arb(3).log()

    def never(epsilon):
        raise AssertionError("pure claims ask for no divergence")

    for epsilon, expected in (
        (math.nextafter(math.log(3), 0), Answer.VIOLATED),
        (math.nextafter(math.log(3), 2), Answer.CLEAR),
    ):
        found = compare_closed_form(loss, never, Claim(epsilon, 0.0, 0.0))
        assert found.answer is expected
    tie = compare_closed_form(loss, never, Claim(lt.log(3), 0.0, 0.0))
    assert tie.answer is Answer.DOUBT


def test_divergences_of_closed_forms_are_taken_at_the_claim():
    def stick(epsilon):
        return (-epsilon).exp()

    for delta, expected in ((0.36, Answer.VIOLATED), (0.37, Answer.CLEAR)):
        found = compare_closed_form(lambda: arb(9), stick, Claim(1.0, delta))
        assert found.answer is expected


def test_a_loss_that_may_just_reach_the_line_is_a_doubt():
    # Output 0 has the loss 0.5 at least, just what is claimed, and more where the rest is 0 too.
    logs = np.array([-0.5])
    left = OutputLaw([0], logs, np.zeros(1), unexplored=F(39, 100))
    right = declared(-1.0, math.log(0.3), math.log(1 - math.exp(-1) - 0.3), error=1e-15)
    right.errors[0] = 0.0
    assert compare_laws(left, right, Claim(0.5, 0.0, 0.0)).answer is Answer.DOUBT


def test_of_exact_laws_the_output_of_the_largest_gap_is_shown():
    left = law(F(80, 100), F(10, 100), F(5, 100), F(5, 100))
    right = law(F(20, 100), F(6, 100), F(37, 100), F(37, 100))
    found = compare_laws(left, right, Claim(lt.log(F(11, 10)), 0.0, 0.0))
    assert (found.answer, found.event) == (Answer.VIOLATED, (0,))


def test_of_what_was_not_explored_no_loss_is_certain():
    part = law(F(1, 4), F(1, 4), unexplored=F(1, 2))
    found = compare_laws(part, part, Claim(50.0, 0.0, 0.0))
    assert found.answer is Answer.DOUBT
    assert (found.lower, found.upper) == (0.0, math.inf)
