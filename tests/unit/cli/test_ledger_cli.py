"""liptest ledger show and verify: what they print and their exit codes."""

import json
from fractions import Fraction as F

import pytest

import liptest as lt
from liptest.cli import main
from liptest.evidence.ledger import LedgerRecorder as Bookkeeper
from liptest.privacy.claims import Claim
from tests.unit.cli import messages
from tests.unit.evidence.ledgers import FAIR, UNIFORM, begin, certificate, filled, raw, tampered


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def run(capsys, *arguments):
    """Exit code, standard output without line ends, standard error."""
    code = main(["ledger", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), err


class TestShow:
    @pytest.mark.slow
    def test_sums(self, path, capsys):
        filled(path)
        code, out, err = run(capsys, "show", path)
        assert (code, err) == (0, "")
        assert out.startswith("vendor acme 2 attempts (1 NO, 1 YES)")
        assert "2 releases after 3 attempts: together (2, 0.250002)-private" in out

    @pytest.mark.slow
    def test_one_vendor(self, path, capsys):
        filled(path)
        code, out, _ = run(capsys, "show", path, "--vendor", "acme")
        assert code == 0
        assert "bolt" not in out
        assert ": YES by neighbourhoods, 2 releases from clicks; code c0de 2." in out
        assert ": NO by neighbourhoods, 0 releases from clicks; code c0de" in out

    def test_json_is_exact(self, path, capsys):
        ledger = filled(path)
        assert main(["ledger", "show", str(path), "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["head"] == ledger.summary().head
        assert data["private_tables"]["clicks"]["joint_delta"] == "0.250002"
        assert main(["ledger", "show", str(path), "--json", "--vendor", "acme"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert [one["decision"] for one in data["attempts"]] == ["YES", "NO"]
        assert F(data["totals"]["failure_probability"]) == F(2, 10**6)

    def test_an_unknown_vendor(self, path, capsys):
        filled(path)
        code, out, err = run(capsys, "show", path, "--vendor", "amce")
        assert (code, out) == (2, "")
        [line] = messages(err)
        assert line == "error: vendor='amce' is not in the ledger; known: acme, bolt"

    def test_an_empty_ledger(self, path, capsys):
        lt.Ledger(path)
        assert run(capsys, "show", path) == (0, "no attempts, no releases", "")
        assert "known: none" in run(capsys, "show", path, "--vendor", "acme")[2]

    @pytest.mark.parametrize("rows", ["number = 4", "number = 1"])
    def test_one_that_is_not_intact(self, path, capsys, rows):
        filled(path)
        tampered(path, f"DELETE FROM entries WHERE {rows}")
        code, _, err = run(capsys, "show", path)
        assert code == 1
        assert "see liptest ledger verify" in err


class TestVerify:
    def test_intact(self, path, capsys):
        head = filled(path).summary().head
        code, out, err = run(capsys, "verify", path)
        assert (code, err) == (0, "")
        assert out.startswith(f"INTACT: {path}, 8 rows head {head} Removed rows at the end")
        assert run(capsys, "verify", path, "--head", head)[0] == 0

    def test_the_row_is_named(self, path, capsys):
        filled(path)
        tampered(path, "UPDATE entries SET vendor = 'x' WHERE number = 4")
        code, out, _ = run(capsys, "verify", path)
        assert code == 1
        assert out == f"NOT INTACT: {path} row 4: column vendor does not fit its text"

    def test_a_cut_end_needs_the_head(self, path, capsys):
        head = filled(path).summary().head
        tampered(path, "DELETE FROM entries WHERE number = 8")
        assert run(capsys, "verify", path)[0] == 0
        code, out, _ = run(capsys, "verify", path, "--head", head)
        assert code == 1
        assert f"head: no row has the hash {head}" in out

    def test_many_problems_are_not_all_printed(self, path, capsys):
        ledger = filled(path)
        for _ in range(30):
            begin(ledger)
        tampered(path, "UPDATE entries SET vendor = 'x'")
        code, out, _ = run(capsys, "verify", path)
        assert code == 1
        assert out.count("row ") == 20
        assert out.endswith("and 18 more")

    def test_what_is_no_ledger(self, path, capsys):
        assert run(capsys, "verify", path)[0] == 2
        assert not path.exists()
        path.write_text("text" * 999)
        code, out, err = run(capsys, "verify", path)
        assert (code, out) == (2, "")
        why = "is not a ledger of liptest; name another file"
        assert messages(err) == [f"error: ledger={str(path)!r}: {why}"]

    def test_a_newer_version(self, path, capsys):
        filled(path)
        raw(path, "PRAGMA user_version = 9")
        code, _, err = run(capsys, "verify", path)
        assert code == 2
        assert "has version 9, this liptest knows 2; update it" in err

    def test_usage(self, capsys):
        assert main(["ledger", "verify"]) == 2
        assert main(["ledger", "--help"]) == 0
        assert "verify" in capsys.readouterr().out


class TestBooks:
    """What ``liptest check`` writes: attempts of no private table."""

    def test_begun_before_the_test(self, path):
        books = Bookkeeper(path, vendor="acme")
        books.begin(FAIR, certificate().code, UNIFORM, Claim(1.0), 1e-6)
        (attempt,) = lt.Ledger(path).attempts("acme")
        assert (attempt.decision, attempt.private_table) == ("none", None)
        assert books.decided(certificate()).attempts == 1
        books.settle()
        (attempt,) = lt.Ledger(path).attempts("acme")
        # A test alone allows no release.
        assert (attempt.decision, attempt.releases) == ("YES", 0)

    def test_without_a_ledger_nothing_happens(self):
        books = Bookkeeper(None)
        books.begin(FAIR, certificate().code, UNIFORM, Claim(1.0), 1e-6)
        assert books.decided(certificate()) is certificate()
        books.settle()
        books.release()


WRONG = (
    {"method": "foo"},
    {"exception_mass": 2.0},
    {"delta": 7.0},
    {"seed": -4},
    {"search_laws": -3},
    {"budget": 0},
)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_refused_arguments_are_no_attempt(tmp_path, monkeypatch, capsys, wrong):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.py").write_text("def coin(data, rng):\n    return int(rng.integers(2))\n")
    typed = [word for k, v in wrong.items() for word in (f"--{k.replace('_', '-')}", str(v))]
    law = ["--epsilon", "1", "--dimension", "2", "--probabilities", "0.5", "--ledger", "l.db"]
    assert main(["check", "v.py:coin", *law, *typed]) == 2
    given = {"epsilon": 1.0, "ledger": "l.db"} | wrong
    with pytest.raises(lt.errors.InputError):
        lt.PrivacyGate(FAIR, UNIFORM, **given)
    assert lt.Ledger("l.db").attempts() == []
    assert main(["check", "v.py:coin", *law, "--workers", "0"]) == 2
    assert lt.Ledger("l.db").attempts() == []
    assert main(["check", "v.py:coin", *law]) == 0
    assert len(lt.Ledger("l.db").attempts()) == 1
