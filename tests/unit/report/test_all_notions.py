"""Claims of every form through pages, machine-readable reports, pytest, certificates and gates."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

import liptest as lt
from liptest.gate.gate import Refused, Released
from liptest.report.html import page, report_html
from liptest.report.machine import write_junit, write_sarif
from liptest.testing import ClaimNotConfirmed, assert_private
from tests.unit.report.outcomes import BITS, checked, noisy

# Of randomised response on three bits: epsilon is log(3).
CLAIMS = {
    "rho": ({"rho": 0.55}, {"rho": 0.5}),
    "renyi": ({"renyi": [(2, 1.0), (8, 1.1)]}, {"renyi": (2, 0.5)}),
    "mu": ({"mu": 1.4}, {"mu": 1.0}),
    "curve": ({"curve": {1.1: 1e-9, 0.5: 0.4}}, {"curve": {0.5: 0.1}}),
}
CASES = [(name, k) for name in CLAIMS for k in (0, 1)]


@pytest.mark.parametrize(("name", "k"), CASES)
@pytest.mark.parametrize("method", ["auto", "neighbourhoods"])
def test_every_report_takes_every_claim(name: str, k: int, method: str) -> None:
    claim = CLAIMS[name][k]
    few = {"method": method, "exception_mass": 0.1, "failure_probability": 0.1}
    outcome = checked(noisy, "vendor.py:noisy", k, epsilon=None, **few, **claim)
    assert outcome.certificate is not None
    verdict = outcome.certificate.verdict
    assert verdict.decision == ("YES", "NO")[k]
    said = str(verdict.claim)
    text = re.sub(r"\s+", " ", page([outcome]))
    assert f"claim: {said}" in text
    assert "<html" in report_html(verdict)
    found = json.loads(write_sarif([outcome]))["runs"][0]["results"]
    assert (said in json.dumps(found)) == bool(k)
    tree = ElementTree.fromstring(write_junit([outcome]))
    assert len(list(tree.iter("failure"))) == k
    assert said in str(verdict)
    assert lt.PrivacyVerdict.from_json(verdict.to_json()) == verdict
    assert outcome.certificate.from_json(outcome.certificate.to_json()).verdict == verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
def test_pytest_and_gates_take_every_claim(name: str) -> None:
    right, wrong = CLAIMS[name]
    assert assert_private(noisy, BITS, **right).decision == "YES"
    with pytest.raises(ClaimNotConfirmed, match="NO") as caught:
        assert_private(noisy, BITS, **wrong)
    witness = caught.value.verdict.witness
    assert witness is not None
    assert witness.verify(noisy)
    assert isinstance(lt.PrivacyGate(noisy, BITS, **right).release([0, 1, 1]), Released)
    assert isinstance(lt.PrivacyGate(noisy, BITS, **wrong).release([0, 1, 1]), Refused)
