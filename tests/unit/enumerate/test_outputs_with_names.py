"""Numbers with noise in named tuples and dataclasses are numbers with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import liptest as lt

PEOPLE = lt.Hypercube(3000)


class Two(NamedTuple):
    ones: float
    zeros: float


@dataclass
class Report:
    title: str
    value: float


@dataclass
class Nested:
    inner: Report
    more: list[Any]


def named(data: Any, rng: Any) -> Any:
    return Two(ones=data.sum() + rng.laplace(0, 2), zeros=(1 - data).sum() + rng.laplace(0, 2))


def reported(data: Any, rng: Any) -> Any:
    return Report("ones", data.sum() + rng.laplace(0, 1))


def nested(data: Any, rng: Any) -> Any:
    total = data.sum()
    return Nested(Report("ones", total + rng.laplace(0, 2)), [Two(total + rng.laplace(0, 2), 0.0)])


def with_parity(data: Any, rng: Any) -> Any:
    return Report(f"{int(data.sum()) % 2}", data.sum() + rng.laplace(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("program", [named, reported, nested])
def test_decided_as_the_numbers_are(program: Any) -> None:
    for epsilon, decision in ((1.0, "YES"), (0.95, "NO")):
        verdict = lt.check_privacy(lt.mechanism(program), PEOPLE, epsilon=epsilon, floats="ideal")
        assert verdict.decision == decision, str(verdict)


def test_what_stands_beside_them_counts() -> None:
    verdict = lt.check_privacy(lt.mechanism(with_parity), PEOPLE, epsilon=1, floats="ideal")
    assert verdict.decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("program", [named, reported, nested])
def test_exact_epsilon_of_a_few_records(program: Any) -> None:
    found = lt.exact_epsilon(lt.mechanism(program), lt.Hypercube(2))
    assert float(found) == pytest.approx(1, abs=1e-9)
