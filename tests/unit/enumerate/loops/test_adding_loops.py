"""Loops over records that add up: what the law of one record proves holds of the whole program."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from liptest.errors import LiptestError
from tests.shares import mostly_slow
from tests.unit.enumerate.adding_programs import (
    LEAKING,
    PRIVATE,
    counted_in_dict,
    total_in_branches,
)


def largest_loss(laws: list[Any]) -> float:
    """Of all pairs of laws, both ways."""
    worst = 0.0
    for one, other in itertools.permutations(laws, 2):
        for output in one.outputs:
            p, q = one.exact(output), other.exact(output) if output in other.outputs else 0
            if p:
                worst = max(worst, math.log(p / q) if q else math.inf)
    return worst


def proved_loss(function: Any) -> float:
    """The smallest loss of the law of one record in a part of the function."""
    losses = [math.inf]
    for one in PythonFunction(function).inner_records(np.array([0, 1, 1, 0])):
        try:
            losses.append(largest_loss([one.law(np.array([value])) for value in range(2)]))
        except LiptestError:
            continue
    return min(losses)


def true_loss(function: Any) -> float:
    """Of the whole program on two records, by enumeration."""
    law = PythonFunction(function).law
    return max(
        largest_loss([law(np.array(pair)) for pair in pairs])
        for other in range(2)
        for pairs in ([[0, other], [1, other]], [[other, 0], [other, 1]])
    )


@pytest.mark.slow
@pytest.mark.parametrize("function", [*PRIVATE, counted_in_dict], ids=lambda f: f.__name__)
def test_no_part_is_less_than_the_truth(function: Any) -> None:
    assert true_loss(function) <= proved_loss(function) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("function", PRIVATE, ids=lambda f: f.__name__)
def test_private_sums_are_proved_for_many_records(function: Any) -> None:
    epsilon = proved_loss(function)
    assert epsilon <= 2.2
    found = lt.check_privacy(
        lt.mechanism(function), lt.Hypercube(2000), epsilon=epsilon + 1e-6, seed=1
    )
    assert (found.decision, found.method) == ("YES", "per-record")


@pytest.mark.parametrize("function", mostly_slow(LEAKING, 3), ids=lambda f: f.__name__)
def test_what_tells_more_than_sums_is_not_proved(function: Any) -> None:
    assert proved_loss(function) == math.inf
    found = lt.check_privacy(lt.mechanism(function), lt.Hypercube(3), epsilon=3.0, seed=1)
    assert found.decision != "YES"


def totals_in_one(data: Any, rng: Any) -> int:
    """Two totals in one number, of which the law is not known at this size."""
    counts = [0, 0, 0]
    for v in data:
        counts[v if rng.random() < 0.5 else int(rng.integers(3))] += 1
    return 2 * counts[0] + counts[1]


@pytest.mark.slow
def test_a_claim_below_is_left_open_with_what_is_proved() -> None:
    found = lt.check_privacy(lt.mechanism(totals_in_one), lt.Hypercube(2000), epsilon=0.5, seed=1)
    assert found.decision == "INCONCLUSIVE"
    assert "answers that it makes of each record have loss" in found.reason
    loss = proved_loss(totals_in_one)
    assert loss <= found.remedy.epsilon <= loss + 1e-4


@pytest.mark.slow
def test_a_claim_below_is_refuted_where_the_total_is_told() -> None:
    found = lt.check_privacy(
        lt.mechanism(total_in_branches), lt.Hypercube(2000), epsilon=1.098, seed=1
    )
    assert found.decision == "NO"
    assert found.largest_loss == pytest.approx(true_loss(total_in_branches), abs=1e-9)
