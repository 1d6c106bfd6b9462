"""Code that asks whether there are records at all, before it divides by their number."""

from __future__ import annotations

from typing import Any

import pytest

import liptest as lt
from liptest.data.domains import Domain

COLUMNS = {"a": lt.Integer(0, 2), "b": lt.Integer(0, 3)}
FIXED = lt.Table(COLUMNS, rows=2000)
OPEN = lt.Table(COLUMNS, rows=2000, relation="add_remove")
BITS = lt.Hypercube(2000)


def of_a_frame(frame: Any, rng: Any) -> Any:
    if frame.empty:
        return 0.0
    return float(frame["a"].sum() + rng.laplace(0, 2))


def of_a_column(frame: Any, rng: Any) -> Any:
    return None if frame["a"].empty else float(frame["a"].sum() + rng.laplace(0, 2))


def of_a_list(frame: Any, rng: Any) -> Any:
    values = frame["a"].tolist()
    if not values:
        return 0.0
    return sum(values) / len(values) + rng.laplace(0, 2 / 2000)


def of_all(data: Any, rng: Any) -> Any:
    values = list(data)
    return sum(values) + rng.laplace(0, 1) if values else 0.0


def of_the_ones(data: Any, rng: Any) -> Any:
    ones = [value for value in data if value == 1]
    return len(ones) + rng.laplace(0, 1) if ones else 0.0


CASES: list[tuple[Any, Domain, str]] = [
    (of_a_frame, FIXED, "YES"),
    (of_a_column, FIXED, "YES"),
    (of_a_list, FIXED, "YES"),
    (of_all, BITS, "YES"),
    # Whether there are rows is private, and is told without noise.
    (of_a_frame, OPEN, "NO"),
    (of_a_column, OPEN, "NO"),
    (of_a_list, OPEN, "NO"),
    (of_the_ones, BITS, "NO"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "domain", "decision"), CASES)
def test_a_public_number_of_records_may_be_asked_for(
    program: Any, domain: Domain, decision: str
) -> None:
    assert lt.check_privacy(lt.mechanism(program), domain, epsilon=1).decision == decision
