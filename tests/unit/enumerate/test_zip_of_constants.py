"""``zip(data, [1.0] * n)``: one number beside each record, as weights that are all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt

AGES = lt.RecordGrid([21] * 5000)


def of_a_list(data: Any, rng: Any) -> Any:
    weights = [1.0] * len(data)
    pairs = zip(data.tolist(), weights, strict=True)
    return sum(min(x, 10) * w for x, w in pairs) + rng.laplace(0, 10)


def of_an_array(data: Any, rng: Any) -> Any:
    total = 0.0
    for weight, x in zip(np.full(len(data), 2.0), data, strict=True):
        total += weight * min(int(x), 5)
    return total + rng.laplace(0, 10)


@pytest.mark.slow
@pytest.mark.parametrize("program", [of_a_list, of_an_array])
def test_one_number_for_all_records_is_followed(program: Any) -> None:
    found = lt.check_privacy(program, AGES, epsilon=1.0, floats="ideal")
    assert (found.decision, found.guarantee.kind) == ("YES", "proof")
    assert lt.check_privacy(program, AGES, epsilon=0.5, floats="ideal").decision == "NO"


def one_is_heavier(data: Any, rng: Any) -> Any:
    weights = [1.0] * (len(data) - 1) + [2.0]
    pairs = zip(data.tolist(), weights, strict=True)
    return sum(min(x, 10) * w for x, w in pairs) + rng.laplace(0, 10)


def too_few(data: Any, rng: Any) -> Any:
    pairs = zip(data.tolist(), [1.0] * 3, strict=False)
    return sum(min(x, 10) * w for x, w in pairs) + rng.laplace(0, 20)


def of_signed_zeros(data: Any, rng: Any) -> Any:
    pairs = zip(data.tolist(), [0.0] + [-0.0] * (len(data) - 1), strict=True)
    return sum(x + w for x, w in pairs) + rng.laplace(0, 10)


@pytest.mark.parametrize("program", [one_is_heavier, of_signed_zeros])
def test_numbers_that_differ_are_not_one_number(program: Any) -> None:
    found = lt.check_privacy(program, lt.RecordGrid([21] * 5), epsilon=1.0, floats="ideal")
    assert found.decision != "YES"


@pytest.mark.slow
def test_a_shorter_list_is_not_taken_for_one_number_a_record() -> None:
    found = lt.check_privacy(too_few, lt.RecordGrid([21] * 5), epsilon=0.25, floats="ideal")
    assert found.decision != "YES"
