"""Claims about servers that count what records tell: refuted below the loss of a note."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.evidence.verify import refutation_problems
from liptest.mechanisms.base import check_mechanism
from liptest.privacy.request import validate_request
from liptest.privacy.searches.total_search import search_totals
from liptest.privacy.settings import CheckSettings
from tests.unit.enumerate.records import total_programs as programs

K = programs.K
MANY = 300
# A value is kept with probability 1/2 + 1/6, another one comes with 1/6.
LOSS = math.log(4)
EXACT: list[Any] = [programs.counts, programs.server_object]
EXACT += [
    pytest.param(program, marks=pytest.mark.slow)
    for program in (programs.loop, programs.estimates, programs.counter, programs.bits)
]


def check(program: Any, epsilon: float, **options: Any) -> Any:
    domain = lt.RecordGrid([K] * MANY)
    return lt.check_privacy(lt.mechanism(program), domain, epsilon=epsilon, seed=1, **options)


@pytest.mark.slow
@pytest.mark.parametrize("program", EXACT)
def test_the_epsilon_of_a_note_is_exact(program: Any) -> None:
    assert check(program, LOSS + 1e-6).decision == "YES"
    verdict = check(program, LOSS - 1e-6)
    assert (verdict.decision, verdict.method) == ("NO", "refutation")
    witness = verdict.witness
    assert len(witness.changed) == 1
    assert witness.loss == pytest.approx(LOSS)
    assert witness.unexplored == ("0", "0")


@pytest.mark.slow
def test_a_witness_has_exact_probabilities_and_is_verified() -> None:
    domain = lt.RecordGrid([K] * MANY)
    mechanism = check_mechanism(lt.mechanism(programs.counts), domain)
    verdict = lt.check_privacy(mechanism, domain, epsilon=1.0, seed=1)
    witness = verdict.witness
    keep, change = Fraction(2, 3), Fraction(1, 6)
    masses = {keep**MANY, keep ** (MANY - 1) * change}
    ends = [witness.bounds[0][:2], witness.bounds[0][2:]]
    for mass in masses:
        assert any(Fraction(low) <= mass <= Fraction(high) for low, high in ends)
    assert witness.verify(mechanism)
    assert refutation_problems(verdict, mechanism, domain) == []
    assert (
        lt.check_privacy(mechanism, domain, epsilon=1.0, seed=1, method="refutation").to_dict()[
            "witness"
        ]
        == (verdict.to_dict()["witness"])
    )


def test_outputs_that_several_totals_lead_to_lose_less() -> None:
    """60 comes of the totals 599 and 600; the loss is that of an exact convolution."""
    witness = search(programs.tens, 1.37)
    masses = [mass_of(witness.output, data) for data in (witness.dataset, witness.neighbour)]
    assert witness.loss == pytest.approx(abs(math.log(masses[0] / masses[1])), abs=1e-9)
    assert 1.37 < witness.loss < LOSS - 1e-3


def mass_of(output: int, dataset: tuple[int, ...]) -> float:
    law = np.ones(1)
    for value in dataset:
        law = np.convolve(law, np.where(np.arange(K) == value, 2 / 3, 1 / 6))
    return float(law[(np.arange(len(law)) + 1) // 10 == output].sum())


def search(program: Any, epsilon: float) -> Any:
    domain = lt.RecordGrid([K] * MANY)
    task = validate_request(lt.mechanism(program), domain, CheckSettings(epsilon=epsilon))
    finding = search_totals(task).finding
    assert finding is not None
    return finding.evidence
