"""Certificates of random small mechanisms: they fit, they hold, witnesses are decided alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.evidence.certificate import form_problems
from liptest.evidence.check_witness import BREAKS
from liptest.evidence.check_witness import check_certificate as check
from liptest.evidence.verify import examine
from tests.unit.privacy.cases import closed, exact, from_weights

DOMAINS = st.sampled_from([lt.Hypercube(2), lt.Hypergrid([3, 2]), lt.RecordGrid([3, 2])])
METHODS = st.sampled_from(
    [
        *("auto", "exhaustive", "neighbourhoods", "light-neighbourhoods", "edges"),
        *(
            lt.testers.VarianceEdges(),
            lt.testers.CDJS15(),
            lt.testers.HammingLines(),
            lt.testers.AJMR12(range_step=0.25),
        ),
    ]
)
EPSILONS = st.one_of(st.floats(0.05, 3.0), st.sampled_from([lt.log(2), lt.log("3/2"), lt.log(3)]))


@st.composite
def gates(draw: st.DrawFn) -> tuple[Any, lt.ProductDistribution, dict[str, Any]]:
    """A mechanism, a distribution and a task."""
    domain = draw(DOMAINS)
    width = draw(st.integers(2, 3))
    weights = st.lists(st.integers(0, 4), min_size=width, max_size=width).filter(any)
    rows = [from_weights(draw(weights)) for _ in range(domain.size)]
    make = exact if draw(st.booleans()) else closed
    law = lt.ProductDistribution.uniform(domain)
    task = {
        "epsilon": draw(EPSILONS),
        "method": draw(METHODS),
        "tolerance": draw(st.sampled_from([0.0, 1e-9, 1e-3])),
        "budget": draw(st.sampled_from([None, None, 30])),
        "seed": draw(st.integers(0, 99)),
        "exception_mass": 0.2,
        "failure_probability": 0.1,
    }
    if isinstance(task["method"], str):
        task["delta"] = draw(st.sampled_from([0.0, 0.0, 0.125]))
    return make(domain, rows), law, task


@pytest.mark.slow
@settings(max_examples=150)
@given(gates())
def test_a_certificate_holds(case: tuple[Any, lt.ProductDistribution, dict[str, Any]]) -> None:
    mechanism, law, task = case
    try:
        certificate = lt.PrivacyGate(mechanism, law, **task).certificate
    except (lt.errors.InputError, lt.errors.BudgetError, lt.errors.LawError):
        return
    text = certificate.to_json()
    assert form_problems(certificate.to_dict()) == []
    assert lt.Certificate.from_json(text) == certificate
    found = examine(text, mechanism, law)
    assert found.problems == []
    assert found.certain
    if certificate.decision == "NO":
        assert check(certificate.to_dict()) == BREAKS
        witness = certificate.verdict.witness
        assert witness is not None
        for low, high, *_ in witness.bounds:
            assert Fraction(low) <= Fraction(high)
