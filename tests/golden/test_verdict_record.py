"""Every check of the verdict record answers as it is written down."""

from __future__ import annotations

import pytest

from tests.golden import verdict_record

RECORDED = verdict_record.recorded()
#: Another processor may round exp and log otherwise in the last digits.
TO = 1e-11


def test_the_record_has_every_check() -> None:
    assert list(RECORDED) == list(verdict_record.CHECKS)
    decisions = [entry.get("decision") for entry in RECORDED.values()]
    for decision in ("YES", "NO", "INCONCLUSIVE", "ACCEPT", "REJECT"):
        assert decision in decisions


def test_every_witness_of_the_record_verifies() -> None:
    certain = [e for e in RECORDED.values() if e.get("decision") in ("NO", "REJECT")]
    assert len(certain) > 200
    # Functions and samplers have witnesses of their own kinds.
    assert all(entry["witness"].get("verifies", True) for entry in certain)


# Most of the quick ones are left to the slow tests, too.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.slow] * (verdict_record.is_slow(name) or number % 32 != 0)
        )
        for number, name in enumerate(verdict_record.CHECKS)
    ],
)
def test_answers_are_those_of_the_record(name: str) -> None:
    now = verdict_record.observed(verdict_record.CHECKS[name])
    assert list(verdict_record.differences(RECORDED[name], now, to=TO)) == []
