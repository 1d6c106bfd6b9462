"""The exception tree and the argument checks."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import liptest.errors as errors
from liptest.errors import (
    BudgetError,
    ConfigError,
    DatasetError,
    FunctionError,
    InputError,
    LiptestError,
    check_count,
    check_non_negative,
    check_open_unit,
    check_positive,
    check_seed,
    quote,
)

NO_NUMBERS = [None, "0.5", b"0.5", True, np.True_, [0.5], 1j, {}]


def test_every_error_is_in_the_tree_and_its_picture() -> None:
    classes = [
        c for c in vars(errors).values() if isinstance(c, type) and c.__module__ == errors.__name__
    ]
    assert len(classes) > 10
    for found in classes:
        assert issubclass(found, LiptestError)
        assert found.__name__ in (errors.__doc__ or "")
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize(
    "error",
    [
        InputError("m", name="n", value=3),
        ConfigError("m", key="a.b"),
        DatasetError("m"),
        FunctionError("m", point=(1, 2)),
        BudgetError("m", needed=5, budget=3),
    ],
)
def test_errors_come_back_from_another_process(error: LiptestError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == "m"
    assert vars(again) == vars(error)


@pytest.mark.parametrize("value", [0.5, np.float64(1e-300), Fraction(1, 3), 1 - 2**-53])
def test_open_unit_accepts(value: float) -> None:
    assert check_open_unit("proximity", value) == float(value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, math.inf, *NO_NUMBERS])
def test_open_unit_refuses_and_names_the_value(value: object) -> None:
    with pytest.raises(InputError, match="proximity=") as caught:
        check_open_unit("proximity", value)  # type: ignore[arg-type]
    assert caught.value.name == "proximity"
    assert caught.value.value is value
    assert quote(value) in str(caught.value)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 10**400, *NO_NUMBERS])
def test_positive_refuses(value: object) -> None:
    with pytest.raises(InputError, match="scale="):
        check_positive("scale", value)  # type: ignore[arg-type]


def test_positive_accepts_the_smallest_and_the_largest_float() -> None:
    assert check_positive("scale", 5e-324) == 5e-324
    assert check_positive("scale", 1.7e308) == 1.7e308


@pytest.mark.parametrize("value", [-1e-300, 1, 2.0, math.nan, math.inf, *NO_NUMBERS])
def test_non_negative_below_one_refuses(value: object) -> None:
    with pytest.raises(InputError, match="delta="):
        check_non_negative("delta", value, below=1)  # type: ignore[arg-type]


def test_non_negative_accepts_zero_and_says_its_limit() -> None:
    assert check_non_negative("delta", 0, below=1) == 0.0
    assert check_non_negative("delta", 10.0) == 10.0
    with pytest.raises(InputError, match=r"below 1$"):
        check_non_negative("delta", 1, below=1)


@pytest.mark.parametrize("value", [0, -3, 2.0, math.nan, *NO_NUMBERS])
def test_count_refuses(value: object) -> None:
    with pytest.raises(InputError, match="draws="):
        check_count("draws", value)  # type: ignore[arg-type]


def test_count_accepts_whole_numbers_of_any_kind() -> None:
    assert check_count("draws", np.int8(3)) == 3
    assert type(check_count("draws", np.int8(3))) is int
    assert check_count("draws", 0, least=0) == 0


def test_seed() -> None:
    assert check_seed(None) is None
    assert check_seed(2**70) == 2**70
    for wrong in (-1, 1.0, "1", True):
        with pytest.raises(InputError, match="seed="):
            check_seed(wrong)  # type: ignore[arg-type]


def test_shown_is_cut() -> None:
    assert quote([1, 2]) == "[1, 2]"
    assert len(quote(list(range(1000)))) == 80
    assert quote(list(range(1000))).endswith("...")
