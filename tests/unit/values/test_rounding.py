"""Numbers that are equal up to the rounding of floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.values.rounding import Near

ONE = Fraction(1)
SPECIAL = [math.inf, -math.inf, math.nan, np.float64("inf"), np.float64("nan")]


def name(value):
    return f"{type(value).__name__} {value}"


@pytest.mark.slow
@given(st.fractions(), st.fractions(min_value=0, max_value=10**6), st.floats(-2, 2))
def test_steps_have_the_size_of_the_parts(value, size, steps):
    step = max(size, ONE) / 10**9
    other = value + Fraction(steps) * step
    assert (Near(value, size) == other) is (abs(steps) <= 1)
    assert (other == Near(value, size)) is (abs(steps) <= 1)


@pytest.mark.parametrize("value", [*SPECIAL, 0, 0.3, True], ids=name)
@pytest.mark.parametrize("other", [*SPECIAL, 0.1 + 0.2, 0, 1], ids=name)
def test_what_is_not_finite_equals_itself(value, other):
    if math.inf in (abs(value), abs(other)) or value != value or other != other:
        same = value == other or (value != value and other != other)
        assert (Near(value, ONE) == other) is bool(same)
    else:
        assert (Near(value, ONE) == other) is (abs(Fraction(value) - Fraction(other)) < 1e-8)


@pytest.mark.parametrize("special", SPECIAL)
def test_whole_numbers_may_be_larger_than_floats(special):
    assert Near(10**400, ONE) == 10**400
    assert Near(10**400, ONE) != special
    assert Near(special, ONE) != 10**400


@pytest.mark.parametrize("other", ["0", None, (0,), 0j, np.array([0.0])])
def test_only_numbers_are_near(other):
    assert (Near(0, ONE) == other) is False
