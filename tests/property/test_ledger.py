"""Whatever is recorded in whatever order, the sums are those of a plain model, exactly."""

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

import liptest as lt
from liptest.errors import GateError, LedgerError
from liptest.evidence.ledger_file import START
from liptest.privacy.claims import Claim
from tests.unit.evidence.ledgers import certificate

VENDORS = st.sampled_from(["acme", "bolt", "vendor.py:count"])
TABLES = st.sampled_from([None, "clicks", "unnamed"])
FAILURES = st.sampled_from([1e-6, 0.1, 0.3, 1 / 3, 1e-300])
EPSILON, MASS, FAILURE = Fraction(1), Fraction(1, 1000), Fraction(1, 10**6)


class LedgerMachine(RuleBasedStateMachine):
    """A ledger beside a list of [vendor, table, failure, decision, allowed, used, delta]."""

    numbers = Bundle("numbers")

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.ledger = lt.Ledger(self.folder / "ledger.db")
        self.model = {}
        self.rows = 0
        self.heads = [START]

    def teardown(self):
        shutil.rmtree(self.folder)

    def grown(self):
        self.rows += 1
        self.heads.append(self.ledger.summary().head)

    @rule(target=numbers, vendor=VENDORS, table=TABLES, failure=FAILURES)
    def begin(self, vendor, table, failure):
        told = self.ledger.record_attempt(
            vendor,
            mechanism="m",
            code="c",
            distribution="d",
            claim=Claim(1.0),
            failure_probability=failure,
            private_table=table,
        )
        before = sum(known[0] == vendor for known in self.model.values())
        assert (told.count, told.number) == (before + 1, self.rows + 1)
        self.model[told.number] = [
            vendor,
            table,
            Fraction(repr(failure)),
            "none",
            0,
            0,
            Fraction(0),
        ]
        self.grown()
        return told.number

    @rule(
        number=numbers,
        releases=st.integers(1, 3),
        decision=st.sampled_from(["YES", "YES", "NO"]),
        delta=st.sampled_from([0.0, 0.3, 4e-7, 1e-9]),
    )
    def decide(self, number, releases, decision, delta):
        known = self.model[number]
        given = certificate(releases, decision, delta)
        if known[3] != "none":
            try:
                self.ledger.record_verdict(number, given)
            except LedgerError:
                return
            raise AssertionError("a second verdict")
        self.ledger.record_verdict(number, given)
        known[3] = decision
        if decision == "YES":
            known[2], known[6] = FAILURE, Fraction(repr(delta))
            known[4] = releases if known[1] is not None else 0
        self.grown()

    @rule(number=numbers)
    def release(self, number):
        known = self.model[number]
        try:
            told = self.ledger.record_release(number)
        except GateError:
            assert known[5] == known[4]
            return
        known[5] += 1
        assert told.used == known[5] <= known[4]
        self.grown()

    @rule()
    def open_again(self):
        self.ledger = lt.Ledger(self.ledger.path)

    @invariant()
    def sums_are_those_of_the_model(self):
        summary = self.ledger.summary()
        known = list(self.model.values())
        assert summary.rows == self.rows
        for groups, place in ((summary.vendors, 0), (summary.private_tables, 1)):
            names = {one[place] for one in known} - {None}
            assert set(groups) == names
            for name in names:
                check(groups[name], [one for one in known if one[place] == name])
        check(summary.total, known)

    @invariant()
    def it_is_intact_and_every_head_is_there(self):
        assert len(set(self.heads)) == len(self.heads)
        assert self.ledger.problems(head=self.heads[len(self.heads) // 2]) == []


def check(totals, known):
    assert totals.attempts == len(known)
    assert totals.failure_probability == sum(one[2] for one in known)
    assert totals.releases == sum(one[5] for one in known)
    assert totals.epsilon == sum(one[5] for one in known) * EPSILON
    assert totals.delta == sum(one[5] * one[6] for one in known)
    assert totals.joint_delta == sum(max(one[5] * one[6], one[2]) for one in known)
    assert totals.exception_mass == sum(1 for one in known if one[5]) * MASS


TestLedger = pytest.mark.slow(LedgerMachine.TestCase)
TestLedger.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
