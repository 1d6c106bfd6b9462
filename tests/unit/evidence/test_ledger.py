"""The ledger: what it records, what it adds up to, what it refuses, what tampering it notices."""

import json
import os
import sqlite3
from fractions import Fraction as F

import pytest

import liptest as lt
from liptest.errors import GateError, InputError, LedgerError
from liptest.evidence.ledger_entries import decimal_text, write_sum
from liptest.evidence.ledger_file import START
from liptest.evidence.ledger_file import canonical_json as canonical
from liptest.evidence.ledger_file import text_digest as digest
from liptest.gate.routes import FilterGate, SensitivityGate
from liptest.privacy.claims import Claim
from tests.unit.evidence.ledgers import begin, certificate, filled, raw, tampered


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


class TestRecords:
    def test_a_new_ledger_is_empty_and_intact(self, path):
        ledger = lt.Ledger(path)
        assert ledger.attempts() == []
        assert ledger.problems() == []
        assert (ledger.summary().rows, ledger.summary().head) == (0, START)
        assert str(ledger.summary()) == "no attempts, no releases"

    def test_attempts_of_a_vendor_are_counted(self, path):
        ledger = lt.Ledger(path)
        counts = [begin(ledger, vendor).count for vendor in ("acme", "bolt", "acme", "acme")]
        assert counts == [1, 1, 2, 3]
        assert [one.count for one in lt.Ledger(path).attempts("acme")] == [1, 2, 3]

    @pytest.mark.slow
    def test_a_verdict_and_releases_follow_an_attempt(self, path):
        ledger = lt.Ledger(path)
        number = begin(ledger).number
        assert ledger.attempts()[0].decision == "none"
        decided = ledger.record_verdict(number, certificate())
        assert (decided.decision, decided.method) == ("YES", "neighbourhoods")
        assert decided.certificate == certificate().to_dict()["digest"]
        assert decided.seed_source.startswith("operating system")
        assert (decided.epsilon, decided.delta) == (1, 0)
        assert (decided.exception_mass, decided.failure_probability) == (F(1, 1000), F(1, 10**6))
        assert [ledger.record_release(number).used for _ in range(3)] == [1, 2, 3]
        assert ledger.attempts() == lt.Ledger(path, create=False).attempts()

    @pytest.mark.slow
    def test_no_more_releases_than_the_certificate_allows(self, path):
        ledger = lt.Ledger(path)
        number = begin(ledger).number
        ledger.record_verdict(number, certificate(releases=1))
        ledger.record_release(number)
        with pytest.raises(GateError, match="releases=1"):
            ledger.record_release(number)
        assert ledger.summary().rows == 3

    @pytest.mark.parametrize("decision", ["NO", None])
    def test_no_release_without_a_yes(self, path, decision):
        ledger = lt.Ledger(path)
        number = begin(ledger).number
        if decision:
            ledger.record_verdict(number, certificate(decision=decision))
        with pytest.raises(GateError, match=f"decision is {decision or 'none'}"):
            ledger.record_release(number)

    @pytest.mark.slow
    def test_no_release_from_a_test_alone(self, path):
        ledger = lt.Ledger(path)
        number = begin(ledger, private_table=None).number
        assert ledger.record_verdict(number, certificate()).releases == 0
        with pytest.raises(GateError, match="private table None"):
            ledger.record_release(number)

    def test_one_verdict_only(self, path):
        ledger = lt.Ledger(path)
        number = begin(ledger).number
        ledger.record_verdict(number, certificate())
        with pytest.raises(LedgerError, match="has its verdict already"):
            ledger.record_verdict(number, certificate())

    def test_unknown_attempts(self, path):
        ledger = filled(path)
        with pytest.raises(LedgerError, match="no attempt 99"):
            ledger.record_release(99)
        with pytest.raises(LedgerError, match="no attempt 2"):  # row 2 is a verdict
            ledger.record_verdict(2, certificate())
        with pytest.raises(InputError, match="attempt=0"):
            ledger.record_release(0)

    @pytest.mark.parametrize(
        "name", ["", " acme", "two\nlines", "\x1b[31m", "\udc80", "x" * 201, 7]
    )
    def test_names_must_be_one_printable_line(self, path, name):
        ledger = lt.Ledger(path)
        for option in ({"vendor": name}, {"private_table": name}):
            with pytest.raises(InputError, match=next(iter(option))):
                begin(ledger, **option)
        assert ledger.attempts() == []

    def test_names_in_other_scripts(self, path):
        ledger = lt.Ledger(path)
        begin(ledger, "Müller 株式会社")
        assert ledger.attempts("Müller 株式会社")[0].count == 1
        assert ledger.problems() == []

    def test_a_mechanism_may_have_any_name(self, path):
        ledger = lt.Ledger(path)
        names = ["two\nlines", "", "\udcff", "x" * 999]
        found = [begin(ledger, mechanism=name).mechanism for name in names]
        assert found == ["two?lines", "unnamed", "?", "x" * 200]

    @pytest.mark.parametrize("failure", [-0.1, 1.0, float("nan"), "1e-6"])
    def test_a_failure_probability_is_one(self, path, failure):
        with pytest.raises(InputError, match="failure_probability"):
            begin(lt.Ledger(path), failure_probability=failure)


class TestSums:
    def test_per_vendor_and_per_private_table(self, path):
        summary = filled(path).summary()
        acme, bolt = summary.vendors["acme"], summary.vendors["bolt"]
        assert (acme.attempts, acme.decisions) == (2, {"NO": 1, "YES": 1})
        assert (acme.failure_probability, acme.releases) == (F(2, 10**6), 2)
        assert (acme.epsilon, acme.delta) == (2, 0)
        assert bolt.decisions == {"none": 2}
        assert bolt.failure_probability == F(1, 4) + F(1, 10**6)
        clicks = summary.private_tables["clicks"]
        # The attempts that were aimed at the table, whoever made them, and no test alone.
        assert (clicks.attempts, clicks.joint_delta) == (3, F(1, 4) + F(2, 10**6))
        assert (clicks.epsilon, clicks.exception_mass) == (2, F(1, 1000))
        assert list(summary.private_tables) == ["clicks"]
        assert summary.total.failure_probability == F(1, 4) + F(3, 10**6)

    @pytest.mark.slow
    def test_deltas_count_where_they_are_larger_than_the_failure(self, path):
        ledger = lt.Ledger(path)
        claim = {"epsilon": 1.0, "delta": 0.01, "releases": 3, "method": "neighbourhoods"}
        told = lt.PrivacyGate(
            lt.ClosedForm([0, 1], lambda x: 0 * x[:, :2] - 0.6931471805599453),
            lt.ProductDistribution.uniform(lt.Hypercube(3)),
            ledger=ledger,
            failure_probability=0.015,
            **claim,
        )
        joint = []
        for _ in range(3):
            told.release([1, 0, 1])
            joint.append(ledger.summary().total.joint_delta)
        assert joint == [F(15, 1000), F(2, 100), F(3, 100)]
        assert ledger.summary().total.delta == F(3, 100)

    def test_what_was_decided_by_proof_adds_no_failure(self, path):
        uniform = lt.ProductDistribution.uniform(lt.Hypercube(3))
        ledger = lt.Ledger(path)
        for value in (1.0, 0.1):
            form = lt.catalogue.randomised_response(3, value)
            lt.PrivacyGate(form, uniform, epsilon=0.5, method="exhaustive", ledger=ledger)
        assert [one.decision for one in ledger.attempts()] == ["NO", "YES"]
        assert ledger.summary().total.failure_probability == 0

    def test_an_epsilon_that_is_no_decimal_is_rounded_up(self, path):
        ledger = lt.Ledger(path)
        uniform = lt.ProductDistribution.uniform(lt.Hypercube(2))
        query = SensitivityGate(
            lambda x: x.sum(1), uniform, sensitivity=1, epsilon=lt.log(3), ledger=ledger
        )
        query.release([0, 1])
        epsilon = ledger.summary().total.epsilon
        # ln 3 = 1.09861228866810969139..
        assert F("1.0986122886681096") < epsilon < F("1.098612288668112")
        assert epsilon > F("1.09861228866810969140")

    def test_the_text(self, path):
        assert str(filled(path).summary()).split("\n\n") == [
            "vendor acme\n"
            "  2 attempts (1 NO, 1 YES); the probability that one of them is a wrong YES is at "
            "most 2e-6\n"
            "  2 releases: epsilon 2, delta 0 together",
            "vendor bolt\n"
            "  2 attempts (2 without a verdict); the probability that one of them is a wrong "
            "YES is at most 0.250001\n"
            "  0 releases: epsilon 0, delta 0 together",
            "all vendors\n"
            "  4 attempts (1 NO, 1 YES, 2 without a verdict); the probability that one of "
            "them is a wrong YES is at most 0.250003\n"
            "  2 releases: epsilon 2, delta 0 together",
            "private table clicks\n"
            "  2 releases after 3 attempts: together (2, 0.250002)-private outside datasets of "
            "total probability 0.001",
        ]

    def test_too_many_attempts_promise_nothing(self, path):
        ledger = filled(path)
        for _ in range(3):
            begin(ledger, "bolt", failure_probability=0.25)
        assert "so many that together they promise nothing" in str(ledger.summary())

    def test_conditions_and_seeds_of_callers_are_told(self, path):
        uniform = lt.ProductDistribution.uniform(lt.Hypercube(2))
        FilterGate(
            lambda x: x.sum(1), uniform, epsilon=1.0, ledger=path, private_table="p"
        ).release([0, 1])
        lt.PrivacyGate(
            lt.catalogue.randomised_response(2, 0.5), uniform, epsilon=1.0, ledger=path, seed=4
        )
        text = str(lt.Ledger(path).summary())
        assert "private table p\n  1 release after 1 attempt: (1, 0)-private on every" in text
        assert "provided that the query gives one and the same finite number" in text
        assert "1 attempt with a seed chosen by the caller: valid only if" in text

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (F(0), "0"),
            (F(3), "3"),
            (F(1, 10**6), "1e-6"),
            (F(123456, 10**5), "1.23456"),
            (F(1234561, 10**6), "1.23457"),
            (F(10**12 + 1, 10**12), "1.00001"),
            (F(12345678901), "1.23457e+10"),
        ],
    )
    def test_sums_are_printed_rounded_up(self, value, text):
        assert write_sum(value) == text
        assert F(write_sum(value)) >= value

    @pytest.mark.parametrize("value", [1e-6, 0.1, 1.0, 5e-324, 1e300, 123456.789])
    def test_a_float_counts_as_what_it_prints_as(self, value):
        assert F(decimal_text(value)) == F(repr(value))
        assert F(decimal_text(3 * F(repr(value)))) == 3 * F(repr(value))


class TestAppendOnly:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE entries SET vendor = 'bolt'",
            "UPDATE entries SET entry = '{}' WHERE number = 8",
            "DELETE FROM entries",
            "DELETE FROM entries WHERE number = 8",
            "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE number = 8",
            "REPLACE INTO entries SELECT * FROM entries WHERE number = 1",
            "INSERT INTO entries SELECT number + 2, kind, vendor, attempt, entry, hash, 'x' "
            "FROM entries WHERE number = 8",
            "INSERT INTO entries SELECT number + 1, kind, vendor, attempt, entry, previous, hash "
            "FROM entries WHERE number = 8",
            "INSERT INTO entries VALUES (NULL, 'release', 'acme', 1, '{}', 'x', 'y')",
        ],
    )
    def test_sqlite_itself_refuses(self, path, statement):
        before = filled(path).summary()
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            raw(path, statement)
        assert lt.Ledger(path).summary() == before

    def test_it_is_in_wal_mode_and_flushes(self, path):
        ledger = lt.Ledger(path)
        assert raw(path, "PRAGMA journal_mode") == [("wal",)]
        with ledger._chain._writing("rw") as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def text_of(path, number):
    return raw(path, f"SELECT entry FROM entries WHERE number = {number}")[0][0]


def changed(path, number, old, new, *, rehash=False):
    text = text_of(path, number)
    assert old in text
    text = text.replace(old, new)
    change = "UPDATE entries SET entry = ? WHERE number = ?"
    statements = [(change, (text, number))]
    if rehash:
        statements.append(("UPDATE entries SET hash = ? WHERE number = ?", (digest(text), number)))
    tampered(path, *statements)


def rewritten(path):
    """Every hash made anew, as by somebody who knows how."""
    previous = START
    statements = []
    rows = raw(path, "SELECT number, entry FROM entries ORDER BY number")
    places = {number: position for position, (number, _) in enumerate(rows, start=1)}
    for number, entry in rows:
        fields = {**json.loads(entry), "previous": previous, "number": places[number]}
        fields["attempt"] = places[fields["attempt"]]
        text = canonical(fields)
        values = (places[number], fields["attempt"], text, previous, digest(text), number)
        query = "UPDATE entries SET number=?, attempt=?, entry=?, previous=?, hash=? WHERE number=?"
        statements.append((query, values))
        previous = digest(text)
    tampered(path, *statements)


class TestTampering:
    def test_a_changed_number_is_noticed(self, path):
        ledger = filled(path)
        changed(path, 5, "1e-06", "1e-09")
        assert ledger.problems() == ["row 5: its text does not fit its hash"]

    def test_with_a_new_hash_the_next_row_tells(self, path):
        ledger = filled(path)
        changed(path, 5, "1e-06", "1e-09", rehash=True)
        assert ledger.problems() == ["row 6: it does not hold the hash of the row before"]

    def test_the_last_row_with_a_new_hash_needs_the_head(self, path):
        ledger = filled(path)
        head = ledger.summary().head
        assert ledger.problems(head=head) == []
        changed(path, 8, "0.25", "0.01", rehash=True)
        assert ledger.problems() == []
        assert ledger.problems(head=head)[0].startswith(f"head: no row has the hash {head}")

    @pytest.mark.parametrize(
        ("column", "value"), [("vendor", "bolt"), ("kind", "attempt"), ("attempt", 1)]
    )
    def test_a_column_that_differs_from_the_text(self, path, column, value):
        ledger = filled(path)
        tampered(path, (f"UPDATE entries SET {column} = ? WHERE number = 6", (value,)))
        assert f"row 6: column {column} does not fit its text" in ledger.problems()

    def test_a_missing_row(self, path):
        ledger = filled(path)
        tampered(path, "DELETE FROM entries WHERE number = 4")
        assert ledger.problems() == [
            "row 5: it follows row 3: rows are missing",
            "row 5: it does not hold the hash of the row before",
        ]

    def test_a_missing_first_row(self, path):
        ledger = filled(path)
        tampered(path, "DELETE FROM entries WHERE number = 1")
        assert ledger.problems()[0] == "row 2: it follows row 0: rows are missing"

    @pytest.mark.parametrize("kept", [7, 3, 0])
    def test_a_missing_end_needs_the_head(self, path, kept):
        """What a chain cannot show; the documentation says so."""
        ledger = filled(path)
        head = ledger.summary().head
        tampered(path, f"DELETE FROM entries WHERE number > {kept}")
        assert ledger.problems() == []
        assert "rows were cut off or made anew" in ledger.problems(head=head)[0]

    def test_the_head_of_an_earlier_day_is_still_there(self, path):
        ledger = lt.Ledger(path)
        heads = [ledger.summary().head]
        for _ in range(3):
            begin(ledger)
            heads.append(ledger.summary().head)
        assert len(set(heads)) == 4
        assert all(ledger.problems(head=head) == [] for head in heads)

    def test_rows_in_another_order(self, path):
        ledger = filled(path)
        moves = [(3, 99), (4, 3), (99, 4)]
        tampered(path, *(f"UPDATE entries SET number={b} WHERE number={a}" for a, b in moves))
        wrong = ledger.problems()
        assert "row 3: column number does not fit its text" in wrong
        assert "row 4: it does not hold the hash of the row before" in wrong

    def test_renumbered_after_a_deletion(self, path):
        ledger = filled(path)
        shift = "UPDATE entries SET number=number-1, attempt=min(attempt, number-1) WHERE number="
        tampered(
            path, "DELETE FROM entries WHERE number = 4", *(f"{shift}{n}" for n in range(5, 9))
        )
        assert "row 4: it does not hold the hash of the row before" in ledger.problems()

    @pytest.mark.slow
    def test_all_made_anew_needs_the_head(self, path):
        ledger = filled(path)
        head = ledger.summary().head
        tampered(path, "DELETE FROM entries WHERE number = 8")
        changed(path, 7, "bolt", "acme")
        tampered(path, "UPDATE entries SET vendor = 'acme' WHERE number = 7")
        rewritten(path)
        # Even so the count of attempts is wrong: bolt's first is acme's third.
        assert ledger.problems() == ["row 7: 'says attempt 1, is 3'"]
        changed(path, 7, '"count":1', '"count":3', rehash=True)
        assert ledger.problems() == []
        assert ledger.problems(head=head) != []

    def test_a_release_that_was_deleted_and_all_made_anew(self, path):
        ledger = filled(path)
        tampered(path, "DELETE FROM entries WHERE number = 3")
        rewritten(path)
        assert ledger.problems() == ["row 3: 'a release that attempt 1 does not allow'"]

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("[]", "its text is not a JSON object"),
            ("not JSON", "its text is not a JSON object"),
            (b"\xff\xfe{}", "its text is not a JSON object"),
            ('{"a": 1}', "its text is not canonical JSON"),
            ('{"number":NaN}', "its text is not a JSON object"),
            ("null", "its text is not a JSON object"),
            (7, "its text is not a JSON object"),
        ],
    )
    def test_texts_that_are_none(self, path, text, problem):
        ledger = filled(path)
        tampered(path, ("UPDATE entries SET entry = ? WHERE number = 5", (text,)))
        assert f"row 5: {problem}" in ledger.problems()
        with pytest.raises(LedgerError, match="liptest ledger verify"):
            ledger.summary()

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"releases":3', '"releases":1'),
            ('"epsilon":"1.0"', '"epsilon":"1/0"'),
            ('"epsilon":"1.0"', '"epsilon":"1e999999999"'),
            ('"epsilon":"1.0"', '"epsilon":1.5'),
            ('"delta":"0",', ""),
            ('"releases":3', '"releases":"x"'),
        ],
    )
    def test_rows_that_fit_the_chain_but_not_each_other(self, path, old, new):
        ledger = filled(path)
        changed(path, 2, old, new)
        rewritten(path)
        assert any(problem.startswith(("row 2", "row 4")) for problem in ledger.problems())

    @pytest.mark.parametrize(
        ("statement", "name"),
        [
            ("DROP TRIGGER entries_are_not_changed", "entries_are_not_changed"),
            ("CREATE TABLE other (x)", "other"),
            ("CREATE TRIGGER t AFTER INSERT ON entries BEGIN SELECT 1; END", "t"),
            ("DROP INDEX entries_by_vendor", "entries_by_vendor"),
            ("ALTER TABLE entries ADD COLUMN note", "entries"),
            ("ALTER TABLE entries RENAME TO rows", "rows"),
            ("DROP TABLE entries", "entries"),
        ],
    )
    def test_a_changed_schema(self, path, statement, name):
        ledger = filled(path)
        raw(path, statement)
        assert f"schema: {name} was added, removed or changed" in ledger.problems()
        with pytest.raises(LedgerError, match="tables or triggers were changed"):
            begin(ledger)
        with pytest.raises(LedgerError, match="tables or triggers were changed"):
            lt.Ledger(path)

    def test_nothing_is_appended_to_a_changed_row(self, path):
        ledger = filled(path)
        changed(path, 8, "0.25", "0.01")
        with pytest.raises(LedgerError, match="last row was changed"):
            begin(ledger)

    def test_a_damaged_file(self, path):
        ledger = filled(path)
        raw(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        data = bytearray(path.read_bytes())
        spot = data.index(b'"vendor":"bolt"')
        data[spot : spot + 15] = b'"vendor":"acme"'
        path.write_bytes(bytes(data))
        assert any("does not fit" in problem for problem in ledger.problems())

    def test_a_file_cut_in_half(self, path):
        ledger = filled(path)
        raw(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        path.write_bytes(path.read_bytes()[: 2 * 4096])
        with pytest.raises(LedgerError, match=r"malformed|verify"):
            begin(ledger)


class TestOtherFiles:
    def refused(self, path, match):
        for make in (lt.Ledger, lambda p: lt.Ledger(p, create=False).attempts()):
            with pytest.raises(LedgerError, match=match):
                make(path)

    def test_a_text(self, path):
        path.write_text("epsilon = 1\n" * 99)
        self.refused(path, "is not a ledger of liptest")
        assert path.read_text() == "epsilon = 1\n" * 99

    def test_another_database_is_not_touched(self, path):
        raw(path, "CREATE TABLE customers (name)")
        before = path.read_bytes()
        self.refused(path, "is not a ledger of liptest")
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == ["ledger.db"]

    def test_a_newer_version(self, path):
        filled(path)
        raw(path, "PRAGMA user_version = 3")
        self.refused(path, "has version 3, this liptest knows 2")

    def test_an_older_version_is_none(self, path):
        ledger = filled(path)
        raw(path, "PRAGMA user_version = 0")
        with pytest.raises(LedgerError, match="were changed"):
            begin(ledger)

    def test_a_folder(self, path):
        path.mkdir()
        with pytest.raises(LedgerError, match="is not a file"):
            lt.Ledger(path)
        with pytest.raises(LedgerError, match="no such file"):
            lt.Ledger(path, create=False).attempts()

    def test_a_device_would_forget_everything(self):
        with pytest.raises(LedgerError, match="is not a file"):
            lt.Ledger(os.devnull)

    def test_a_missing_folder(self, path):
        with pytest.raises(LedgerError, match="folder does not exist"):
            lt.Ledger(path / "ledger.db")

    def test_reading_creates_nothing(self, path):
        with pytest.raises(LedgerError, match="no such file"):
            lt.Ledger(path, create=False).summary()
        assert not path.exists()

    def test_an_empty_file_becomes_a_ledger(self, path):
        path.touch()
        self_made = lt.Ledger(path)
        assert begin(self_made).count == 1

    def test_a_ledger_that_vanished_is_not_begun_anew(self, path):
        ledger = lt.Ledger(path)
        begin(ledger)
        for name in os.listdir(path.parent):
            os.remove(path.parent / name)
        with pytest.raises(LedgerError, match="nothing is released"):
            begin(ledger)
        path.touch()
        with pytest.raises(LedgerError, match="is not a ledger"):
            begin(ledger)

    def test_odd_names_of_files(self, tmp_path):
        for name in ("a b?c#d%20e.db", ":memory:", "é株.db", "file:x?mode=memory"):
            begin(lt.Ledger(tmp_path / name))
            assert (tmp_path / name).is_file()

    def test_a_link_is_the_file(self, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        real = filled(tmp_path / "elsewhere" / "ledger.db")
        (tmp_path / "link.db").symlink_to(real.path)
        assert begin(lt.Ledger(tmp_path / "link.db")).count == 3
        assert real.summary().rows == 9
        assert real.problems() == []

    def test_the_path_does_not_follow_the_working_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        ledger = lt.Ledger("ledger.db")
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
        begin(ledger)
        assert ledger.path == tmp_path / "ledger.db"

    def test_claims_are_told_to_the_last_digit(self, path):
        ledger = lt.Ledger(path)
        claim = Claim(0.1 + 0.2, delta=1e-9, tolerance=0.0)
        told = begin(ledger, claim=claim).claim
        assert told == "epsilon 0.30000000000000004, delta 1e-09, tolerance 0.0"
        assert begin(ledger, claim=Claim(lt.log(3))).claim.startswith("epsilon log(3)")
