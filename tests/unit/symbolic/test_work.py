"""Counted work: attempts end at the same place whatever was computed before."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from liptest.symbolic import work
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System, forget
from liptest.symbolic.work import TooDearError, limit_work, spend


def cycle(count: int) -> tuple[System, list[Constraint]]:
    """Every variable is compared with every other one."""
    noises = [Noise("laplace", Fraction(1))] * count
    pairs = combinations(range(count), 2)
    return System(noises), [Constraint.make(((a, 1), (b, -1)), low=-a - 1) for a, b in pairs]


def used(count: int) -> int:
    """Units that the probability of a cycle takes."""
    system, constraints = cycle(count)
    with limit_work(10**6):
        system.probability(constraints)
        return 10**6 - work._GIVEN.left[-1]


def test_what_is_remembered_counts_as_if_it_were_computed_again() -> None:
    forget()
    first = used(3)
    assert first > 0
    assert used(3) == first


def test_work_ends_where_no_more_is_given() -> None:
    system, constraints = cycle(3)
    needed = used(3)
    with limit_work(needed):
        system.probability(constraints)
    with limit_work(needed - 1), pytest.raises(TooDearError):
        system.probability(constraints)
    system.probability(constraints)  # without a limit


def test_an_attempt_takes_from_the_one_around_it() -> None:
    with limit_work(10):
        with limit_work(4), pytest.raises(TooDearError):
            spend(5)
        spend(5)
        with limit_work(100), pytest.raises(TooDearError):
            spend(1)
        with pytest.raises(TooDearError):
            spend(1)
    spend(10**9)
