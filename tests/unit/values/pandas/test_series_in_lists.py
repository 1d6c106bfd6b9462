"""Functions of NumPy that are given a list of columns of a frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from tests.unit.values.frame_prices import price_of, refusal_of

TABLE = lt.Table({"age": lt.Integer(0, 100), "income": lt.Real(0, 1000)}, rows=500)


def stacked(frame: Any) -> Any:
    return np.stack([frame.age / 100, frame.income / 500], 1)


def by_name(frame: Any) -> Any:
    return np.stack(arrays=[frame.age / 100, frame.income / 500], axis=1)


def in_columns(frame: Any) -> Any:
    return np.column_stack((frame.age / 100, frame.income / 500))


@pytest.mark.parametrize("make", [stacked, by_name, in_columns])
def test_they_are_columns_of_rows(make: Callable[[Any], Any]) -> None:
    """Both sums move, by 1 and by 2 at most."""
    price = price_of(lambda frame: tuple(make(frame).sum(axis=0)), TABLE)
    assert math.isclose(price, 3, rel_tol=1e-6)


def test_a_list_in_a_list_is_refused_by_name() -> None:
    """It ended in a RecursionError, said to be the program's."""
    why = refusal_of(lambda frame: np.block([[frame.age], [frame.age]]).sum(), TABLE)
    assert "numpy.block" in why
