"""Claims: epsilon as a number or an exact logarithm, delta, tolerance."""

import math
import pickle
from fractions import Fraction as F

import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon


@pytest.mark.parametrize("argument", [3, "3", F(3), 3.0, "3/1"])
def test_log_of_rationals(argument):
    assert lt.log(argument) == ExactLog(F(3))
    assert float(lt.log(argument)) == pytest.approx(math.log(3), rel=1e-15)


@pytest.mark.parametrize(
    "argument",
    [1, 0, -2, F(1, 2), "one", "1/0", None, math.nan, math.inf, -math.inf, [3], True, ""],
)
def test_log_of_anything_else_is_an_input_error(argument):
    with pytest.raises(InputError, match="argument="):
        lt.log(argument)


def test_logs_far_outside_of_floats():
    assert float(lt.log(10**400)) == pytest.approx(400 * math.log(10), rel=1e-14)
    assert Claim(lt.log(10**400)).threshold > 921


@pytest.mark.parametrize("text", ["log(3)", " log( 3 ) ", "log(3/2)", "log(1.5)"])
def test_logs_as_text(text):
    assert isinstance(parse_epsilon(text), ExactLog)


@pytest.mark.parametrize("text", ["log 3", "log(3", "ln(3)", "one", "", "log()", "log(1)"])
def test_other_text_is_an_input_error(text):
    with pytest.raises(InputError):
        parse_epsilon(text)


@pytest.mark.parametrize("epsilon", [0, 0.0, -1, math.inf, math.nan, True, "1", None, 1j, [1.0]])
def test_epsilon_must_be_a_positive_number(epsilon):
    with pytest.raises(InputError, match="epsilon="):
        Claim(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.0, 2, math.nan, math.inf, False, "0", None])
def test_delta_must_lie_between_0_and_1(delta):
    with pytest.raises(InputError, match="delta="):
        Claim(1.0, delta)


@pytest.mark.parametrize("tolerance", [-1e-12, 1, math.nan, True, "1e-9", None])
def test_tolerance_must_lie_between_0_and_1(tolerance):
    with pytest.raises(InputError, match="tolerance="):
        Claim(1.0, 0.0, tolerance)


@pytest.mark.parametrize(
    "claim",
    [
        Claim(1.0),
        Claim(1, 0.5, 0),
        Claim(lt.log(3), 1e-300),
        Claim(lt.log("7/5"), 0.999, 0.9),
        Claim(5e-324),
    ],
)
def test_claims_survive_json_and_pickle(claim):
    assert Claim.from_dict(claim.to_dict()) == claim
    assert pickle.loads(pickle.dumps(claim)) == claim


def test_the_threshold_is_the_one_of_the_theory():
    claim = Claim(2.0, 0.25, 0.5)
    assert claim.threshold == 2.0 * 1.5 + 0.5
    assert claim.delta_threshold == 0.375
    assert claim.exact_factor() is None
    assert Claim(lt.log(3), 0.0, 0.0).exact_factor() == 3
    assert Claim(lt.log(3), 0.0, 1e-9).exact_factor() is None


def test_claims_are_printed_as_they_were_given():
    assert str(Claim(1.0)) == "epsilon 1"
    assert str(Claim(lt.log(3), 0.5)) == "epsilon log(3), delta 0.5"
