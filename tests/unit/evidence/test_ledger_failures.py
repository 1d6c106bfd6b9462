"""No output without a record: kill -9, full disks, read-only places, Ctrl-C, many writers."""

import contextlib
import os
import shutil
import signal
import sqlite3
import tempfile
import threading
from multiprocessing import get_context
from pathlib import Path

import pytest

import liptest as lt
from liptest.errors import GateError, InputError, LedgerError
from liptest.evidence.ledger_file import Chain
from liptest.gate import gate as gate_module
from liptest.gate.gate import Refused
from liptest.gate.routes import FilterGate, SensitivityGate
from liptest.gate.sealed import SealedTable
from tests.unit.evidence.ledgers import (
    FAIR,
    LEAK,
    SECRET,
    UNIFORM,
    begin,
    certificate,
    coin,
    die,
    disk_full,
    filled,
    gate,
    in_child,
    raw,
    tampered,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def counts(path):
    """Attempts, verdicts and releases of an intact ledger."""
    ledger = lt.Ledger(path)
    assert ledger.problems() == []
    attempts = ledger.attempts()
    decided = sum(one.decision != "none" for one in attempts)
    return len(attempts), decided, sum(one.used for one in attempts)


def dying(function, *, before=False):
    """The function, and death before or after it."""

    def wrapped(*arguments, **options):
        if before:
            die()
        answer = function(*arguments, **options)
        die()
        return answer

    return wrapped


class Dying(sqlite3.Connection):
    """Dies at a statement while a release is written."""

    at = ""
    releasing = False

    def execute(self, statement, *rest):
        if statement.startswith("INSERT") and rest[0][1] == "release":
            self.releasing = True
        before, _, name = self.at.partition(" ")
        dies = self.releasing and statement.startswith(name)
        if dies and before == "before":
            die()
        cursor = super().execute(statement, *rest)
        if dies:
            die()
        return cursor


def dies_at(name, monkeypatch):
    """Arrange death at a point of the way from the attempt to the answer."""
    when, _, what = name.partition(" ")
    if what in ("INSERT", "COMMIT"):
        real = sqlite3.connect
        monkeypatch.setattr(Dying, "at", name)
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "factory": Dying}))
        return
    owners = {"draw": (SealedTable, "draw"), "test": (gate_module, "check_with_settings")}
    owner, attribute = owners.get(what, (lt.Ledger, f"record_{what}"))
    function = getattr(owner, attribute)
    monkeypatch.setattr(owner, attribute, dying(function, before=when == "before"))


class TestKilled:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("point", "left"),
        [
            ("before attempt", (0, 0, 0)),
            ("after attempt", (1, 0, 0)),
            ("before test", (1, 0, 0)),
            ("after test", (1, 0, 0)),
            ("before verdict", (1, 0, 0)),
            ("after verdict", (1, 1, 0)),
            ("before release", (1, 1, 0)),
            ("before INSERT", (1, 1, 0)),
            ("after INSERT", (1, 1, 0)),
            ("before COMMIT", (1, 1, 0)),
            ("after COMMIT", (1, 1, 1)),
            ("after release", (1, 1, 1)),
            ("before draw", (1, 1, 0)),
            ("after draw", (1, 1, 0)),
        ],
    )
    def test_at_every_point_no_output_lacks_a_record(self, path, monkeypatch, point, left):
        def test_and_release():
            dies_at(point, monkeypatch)
            return gate(path).release(SECRET).output

        told, status = in_child(test_and_release)
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert told == b""
        assert counts(path) == left
        # Whoever was killed holds up nobody.
        assert gate(path).release(SECRET).output in (0, 1)
        assert counts(path) == tuple(count + 1 for count in left)

    @pytest.mark.slow
    def test_alive_it_answers(self, path):
        told, status = in_child(lambda: gate(path).release(SECRET).output)
        assert status == 0
        assert told in (b"0", b"1")
        assert counts(path) == (1, 1, 1)

    @pytest.mark.slow
    def test_an_output_is_in_the_record_before_it_is_shown(self, path):
        told = gate(path, releases=3)
        shown = [told.release(SECRET).output for _ in range(3)]
        rows = [row.fields for row in lt.Ledger(path)._chain.rows() if row.kind == "release"]
        assert [row["output"] for row in rows] == list(map(str, shown))

    @pytest.mark.slow
    @pytest.mark.parametrize("outputs", [1, 7, 20])
    def test_killed_from_outside_at_any_moment(self, path, outputs):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                many = gate(path, releases=10**6)
                while True:
                    os.write(writing, str(many.release(SECRET).output).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, "rb", buffering=0) as pipe:
            got = b"".join(pipe.read(1) for _ in range(outputs))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            got += pipe.readall()
        recorded = counts(path)[2]
        assert len(got) <= recorded <= len(got) + 1

    def test_an_interrupted_creation_can_be_finished(self, path, monkeypatch):
        def create():
            monkeypatch.setattr("liptest.evidence.ledger_file.VERSION", _Dies())
            lt.Ledger(path)

        _, status = in_child(create)
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert path.exists()
        assert counts(path) == (0, 0, 0)


class _Dies:
    def __format__(self, how):
        die()


class TestCannotBeWritten:
    def test_a_full_disk_before_the_test(self, path):
        lt.Ledger(path)
        with disk_full(), pytest.raises(LedgerError, match="nothing is released without"):
            gate(path)
        assert counts(path) == (0, 0, 0)

    @pytest.mark.slow
    def test_on_a_full_disk_nothing_is_released(self, path):
        told = gate(path)
        for _ in range(2):
            with disk_full(), pytest.raises(LedgerError, match="nothing is released without"):
                told.release(SECRET)
        assert told.releases_left == 1
        assert counts(path) == (1, 1, 0)
        told.release(SECRET)
        assert counts(path) == (1, 1, 1)

    @pytest.mark.slow
    @pytest.mark.parametrize("decision", ["YES", "NO"])
    def test_a_full_disk_after_the_test_keeps_the_verdict(self, path, monkeypatch, decision):
        ledger = lt.Ledger(path)
        real = ledger.record_verdict

        def on_a_full_disk(*arguments):
            with disk_full():
                return real(*arguments)

        monkeypatch.setattr(ledger, "record_verdict", on_a_full_disk)
        told = gate(ledger, FAIR if decision == "YES" else LEAK)
        assert told.certificate.decision == decision
        with pytest.raises(LedgerError):
            told.release(None)  # the data are not even looked at
        assert counts(path) == (1, 0, 0)
        monkeypatch.undo()
        if decision == "YES":
            assert told.release(SECRET).output in (0, 1)
        else:
            assert told.release(SECRET) == Refused(told.certificate)
        assert counts(path) == (1, 1, int(decision == "YES"))

    @pytest.mark.slow
    def test_a_write_that_succeeded_and_was_reported_as_failed(self, path, monkeypatch):
        ledger = lt.Ledger(path)
        real = ledger.record_verdict

        def lost_answer(*arguments):
            real(*arguments)
            raise LedgerError("disk I/O error")

        monkeypatch.setattr(ledger, "record_verdict", lost_answer)
        told = gate(ledger)
        assert told.release(SECRET).output in (0, 1)
        assert counts(path) == (1, 1, 1)

    @pytest.mark.slow
    def test_a_deleted_ledger(self, path):
        told = gate(path)
        for name in os.listdir(path.parent):
            os.remove(path.parent / name)
        with pytest.raises(LedgerError, match="unable to open"):
            told.release(SECRET)
        assert not path.exists()

    @pytest.mark.slow
    def test_a_ledger_without_its_triggers(self, path):
        told = gate(path)
        raw(path, "DROP TRIGGER entries_are_not_deleted")
        with pytest.raises(LedgerError, match="triggers were changed"):
            told.release(SECRET)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "change",
        [
            'UPDATE entries SET entry = replace(entry, \'"epsilon":"1\', \'"epsilon":"0\') '
            "WHERE number = 3",
            "DELETE FROM entries WHERE number = 3",
            "UPDATE entries SET vendor = 'bolt' WHERE number = 3",
            "UPDATE entries SET kind = 'cap' WHERE number = 3",
        ],
    )
    def test_rows_that_were_changed(self, path, change):
        """What was spent before is not what the row says, so that no cap could be kept."""
        gate(path).release(SECRET)
        told = gate(path)
        tampered(path, change)
        drawn = []
        with pytest.raises(LedgerError, match=r"row [34] was changed"):
            told._recorder.release(None, lambda: drawn.append(1))
        assert drawn == []

    def test_one_that_stays_locked(self, path):
        ledger = lt.Ledger(path, patience=0.05)
        told = gate(ledger)
        other = sqlite3.connect(path, isolation_level=None)
        with contextlib.closing(other):
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerError, match="locked"):
                told.release(SECRET)
            assert ledger.attempts()[0].used == 0  # readers need not wait
        assert told.release(SECRET).output in (0, 1)

    def test_names_without_a_ledger(self):
        for name in ({"vendor": "acme"}, {"private_table": "clicks"}):
            with pytest.raises(InputError, match="ledger=None"):
                lt.PrivacyGate(FAIR, UNIFORM, epsilon=1.0, **name)


@pytest.fixture
def open_folder():
    """A folder that an ordinary user can enter; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


def as_ordinary_user(action):
    """What an action answers, or its error, in a process without the rights of root."""

    def dropped():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            return action()
        except LedgerError as error:
            return f"LedgerError: {error}"

    return in_child(dropped)[0].decode()


class TestReadOnly:
    def test_a_file(self, open_folder):
        path = open_folder / "ledger.db"
        ledger = filled(path)
        for name in os.listdir(open_folder):
            (open_folder / name).chmod(0o444)
        told = as_ordinary_user(lambda: begin(ledger))
        assert told.startswith("LedgerError")
        assert "readonly" in told
        assert "LedgerError" in as_ordinary_user(lambda: lt.Ledger(path))
        assert as_ordinary_user(lambda: lt.Ledger(path, create=False).problems()) == "[]"

    def test_a_folder(self, open_folder):
        path = open_folder / "ledger.db"
        ledger = filled(path)
        raw(path, "SELECT 1 FROM entries")  # the last to close tidies up
        assert os.listdir(open_folder) == ["ledger.db"]
        path.chmod(0o666)
        open_folder.chmod(0o555)
        told = as_ordinary_user(lambda: begin(ledger))
        assert told.startswith("LedgerError")
        assert "LedgerError" in as_ordinary_user(lambda: lt.Ledger(open_folder / "new.db"))
        reading = as_ordinary_user(lambda: lt.Ledger(path, create=False).summary().rows)
        assert reading == "8"

    def test_a_file_that_may_not_be_read(self, open_folder):
        path = open_folder / "ledger.db"
        filled(path)
        path.chmod(0)
        told = as_ordinary_user(lambda: lt.Ledger(path, create=False).problems())
        assert told.startswith("LedgerError")


class TestInterrupted:
    def test_before_the_record_is_on_disk(self, path, monkeypatch):
        told = gate(path)
        real = Chain._appended

        def interrupted(self, compose):
            def composed(past):
                compose(past)
                raise KeyboardInterrupt

            return real(self, composed)

        monkeypatch.setattr(Chain, "_appended", interrupted)
        with pytest.raises(KeyboardInterrupt):
            told.release(SECRET)
        monkeypatch.undo()
        assert counts(path) == (1, 1, 0)
        assert told.release(SECRET).output in (0, 1)

    def test_between_record_and_draw_it_counts_as_used(self, path, monkeypatch):
        told = gate(path)
        real = lt.Ledger.record_release

        def interrupted(self, number, **options):
            real(self, number, **options)
            raise KeyboardInterrupt

        monkeypatch.setattr(lt.Ledger, "record_release", interrupted)
        with pytest.raises(KeyboardInterrupt):
            told.release(SECRET)
        monkeypatch.undo()
        with pytest.raises(GateError, match="ledger has all of them as used"):
            told.release(SECRET)
        assert counts(path) == (1, 1, 1)

    def test_a_test_that_fails_is_an_attempt(self, path):
        def broken(datasets):
            return coin(datasets) - 1

        for _ in range(3):
            with pytest.raises(lt.errors.MechanismError):
                gate(path, lt.ClosedForm([0, 1], broken))
        assert counts(path) == (3, 0, 0)
        assert lt.Ledger(path).summary().vendors["acme"].failure_probability * 10**6 == 3

    def test_code_that_ends_the_process_is_an_attempt(self, path):
        def leaves(datasets):
            os._exit(0)

        in_child(lambda: gate(path, lt.ClosedForm([0, 1], leaves)))
        assert counts(path) == (1, 0, 0)

    def test_wrong_arguments_are_none(self, path):
        for wrong in ({"epsilon": 0}, {"failure_probability": 2}, {"delta": -1}, {"vendor": ""}):
            with pytest.raises(InputError):
                gate(path, **wrong)
        assert counts(path)[0] == 0


def append(path, vendor, count, start):
    start.wait(60)
    ledger = lt.Ledger(path, patience=600)  # a slow disk is not a reason to fail
    for _ in range(count):
        begin(ledger, vendor)


class TestManyWriters:
    @pytest.mark.slow
    def test_four_processes_lose_no_row(self, path):
        context = get_context("fork")
        start = context.Barrier(4)
        vendors = ["acme", "acme", "bolt", "cord"]
        processes = [
            context.Process(target=append, args=(path, vendor, 200, start)) for vendor in vendors
        ]
        # They also race to create the file.
        for process in processes:
            process.start()
        for process in processes:
            process.join(300)
        assert [process.exitcode for process in processes] == [0] * 4
        ledger = lt.Ledger(path)
        assert ledger.problems() == []
        assert [one.number for one in ledger.attempts()] == list(range(1, 801))
        for vendor, count in (("acme", 400), ("bolt", 200), ("cord", 200)):
            found = [one.count for one in ledger.attempts(vendor)]
            assert found == list(range(1, count + 1))

    @pytest.mark.slow
    def test_threads_share_one(self, path):
        ledger = lt.Ledger(path)
        number = begin(ledger).number
        ledger.record_verdict(number, certificate(releases=60))
        used = []

        def release():
            for _ in range(10):
                with contextlib.suppress(GateError):
                    used.append(ledger.record_release(number).used)

        threads = [threading.Thread(target=release) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(used) == list(range(1, 61))
        assert counts(path) == (1, 1, 60)

    @pytest.mark.slow
    def test_a_forked_gate_releases_in_its_own_process_only(self, path):
        single = gate(path)
        told, _ = in_child(lambda: single.release(SECRET).output)
        assert told == b""
        assert single.release(SECRET).output in (0, 1)
        assert counts(path) == (1, 1, 1)


class TestGates:
    @pytest.mark.slow
    def test_what_is_written_of_a_release(self, path):
        told = gate(path, private_table="clicks", releases=2)
        told.release(SECRET)
        (attempt,) = lt.Ledger(path).attempts("acme")
        assert attempt.code == told.certificate.code.code
        assert attempt.distribution == told.certificate.data_hash
        assert (attempt.private_table, attempt.releases, attempt.used) == ("clicks", 2, 1)
        assert attempt.certificate == told.certificate.to_dict()["digest"]

    @pytest.mark.slow
    def test_the_certificate_says_which_attempt_it_was(self, path):
        assert [gate(path).certificate.attempts for _ in range(3)] == [1, 2, 3]
        assert gate(path, vendor="bolt").certificate.attempts == 1
        assert gate(None, vendor=None).certificate.attempts is None

    @pytest.mark.parametrize("options", [{}, {"seed": 4}])
    def test_the_vendor_is_the_mechanism_unless_named(self, path, options):
        gate(path, vendor=None, **options)
        (attempt,) = lt.Ledger(path).attempts("coin")
        assert attempt.private_table == "unnamed"
        assert attempt.seed_source.startswith("caller" if options else "operating system")

    def test_the_other_routes(self, path):
        def query(datasets):
            return datasets.sum(axis=1)

        gates = [
            SensitivityGate(query, UNIFORM, sensitivity=1, epsilon=1.0, ledger=path, vendor="a"),
            FilterGate(query, UNIFORM, epsilon=2.0, ledger=path, vendor="b"),
        ]
        for one in gates:
            one.release(SECRET)
        found = lt.Ledger(path).attempts()
        assert [one.certificate for one in found] == [
            one.certificate.to_dict()["digest"] for one in gates
        ]
        assert [(one.method, one.used, one.epsilon) for one in found] == [
            ("neighbourhoods", 1, 1),
            ("filter", 1, 2),
        ]
        assert [one.failure_probability * 10**6 for one in found] == [1, 0]

    def test_the_private_data_decide_nothing_in_it(self, path):
        told = []
        for name, secret in (("one.db", [0, 0, 0]), ("two.db", [1, 1, 1])):
            place = path.parent / name
            gate(place, seed=1).release(secret)
            rows = [row.fields for row in lt.Ledger(place)._chain.rows()]
            # The digest is of a certificate that says how long the test took.
            own = ("time", "previous", "certificate", "output")
            told.append([{k: v for k, v in row.items() if k not in own} for row in rows])
        assert told[0] == told[1]
        assert [row["kind"] for row in told[0]] == ["attempt", "verdict", "release"]

    def test_a_refused_dataset_is_no_release(self, path):
        told = gate(path)
        with pytest.raises(lt.errors.DatasetError):
            told.release([7, 7, 7])
        assert counts(path) == (1, 1, 0)

    def test_what_cannot_be_sealed_uses_no_release(self, path):
        def fails(datasets):
            if len(datasets) == 1 and datasets[0].tolist() == SECRET:
                raise ValueError
            return coin(datasets)

        told = gate(path, lt.ClosedForm([0, 1], fails), method="exhaustive")
        # It fails when it is asked about that dataset alone: there is no law to seal.
        with pytest.raises(GateError, match="nothing is released"):
            told.release(SECRET)
        assert counts(path) == (1, 1, 0)
