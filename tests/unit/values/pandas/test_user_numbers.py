"""What is made of the rows of each user is what pandas makes of them; sums are rounded once."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from liptest.values.pandas.user_numbers import HOWS, RowsByUser
from liptest.values.reals.recipes import evaluate

FLOATS = st.one_of(
    st.floats(),
    st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 1e16, -1e16, 1e308, math.inf, -math.inf, math.nan]),
)
KINDS = {"floats": FLOATS, "integers": st.integers(-(2**40), 2**40), "truths": st.booleans()}


def same(left: float, right: float, within: float = 0.0) -> bool:
    return left == right or abs(left - right) <= within or (math.isnan(left) and math.isnan(right))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_numbers_are_those_of_pandas(kind, data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 3), KINDS[kind]), min_size=1, max_size=12))
    users, terms = (np.array(own) for own in zip(*rows, strict=True))
    finite = terms[np.isfinite(terms)].astype(float)
    # Beyond the largest float pandas has NaN or infinity, by how it adds up.
    assume(math.fsum(abs(finite) / len(terms)) < 1e308 / len(terms))
    made = RowsByUser.of(users)
    for how in HOWS:
        if kind == "truths" and how == "median":
            continue
        expected = getattr(pd.Series(terms).groupby(users), how)()
        own = made.number(how, terms)
        assert len(own) == len(expected)
        adds_up = kind == "floats" and how in ("sum", "mean")
        within = 1e-14 * float(abs(finite).sum()) if adds_up else 0.0
        assert all(same(*pair, within) for pair in zip(own.tolist(), expected, strict=True))


@pytest.mark.parametrize("how", HOWS)
def test_no_rows_are_no_users(how):
    made = RowsByUser.of(np.array([], dtype=np.int64))
    assert made.number(how, np.array([])).tolist() == []


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_what_a_row_adds_does_not_depend_on_its_place(ufunc, zero):
    """Of 0.0 and -0.0 NumPy takes this one or that one, by place: 1 over it is either infinity."""
    largest = ufunc, ("real", "x"), ("number", np.float64, np.float64(-zero))
    recipe = np.divide, ("number", np.float64, np.float64(1)), largest
    for count in range(1, 20):
        cells = np.zeros(count, dtype=np.int64)
        made = evaluate(recipe, cells, {"x": np.full(count, zero)})
        assert set(made.tolist()) == {math.inf}
