"""The files that check and release leave behind, and the ledger that they keep."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from liptest.cli import main
from liptest.evidence.ledger import Ledger

VENDOR = """
def good(data, rng):
    return int(data[0]) if rng.random() < 0.7 else 1 - int(data[0])

def bad(data, rng):
    return int(data[0])

def broken(data, rng):
    raise ValueError
"""
ARGUMENTS = ["--epsilon", "1", "--dimension", "3", "--probabilities", "0.3"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "vendor.py").write_text(VENDOR)
    (tmp_path / "private.csv").write_text("bit\n1\n0\n1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(name: str, *options: str) -> int:
    return main(["check", f"vendor.py:{name}", *ARGUMENTS, *options])


@pytest.mark.slow
def test_every_format_at_once(folder: Path) -> None:
    files = {name: folder / f"out.{name}" for name in ("json", "html", "junit", "sarif")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert check("bad", *options) == 1
    assert json.loads(files["json"].read_text())["verdict"]["decision"] == "NO"
    assert "<html" in files["html"].read_text()
    assert ElementTree.fromstring(files["junit"].read_text()).find(".//failure") is not None
    result = json.loads(files["sarif"].read_text())["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "vendor.py"
    assert place["region"]["startLine"] == VENDOR.splitlines().index("def bad(data, rng):") + 1


@pytest.mark.slow
def test_a_broken_mechanism_is_in_the_reports(folder: Path) -> None:
    assert check("broken", "--junit", "j.xml", "--html", "r.html", "--json", "c.json") == 4
    assert ElementTree.fromstring(Path("j.xml").read_text()).find(".//error") is not None
    assert "ValueError" in Path("r.html").read_text()
    assert not Path("c.json").exists()


@pytest.mark.slow
def test_one_file_that_cannot_be_written_loses_no_other(folder: Path, capsys) -> None:
    assert check("good", "--json", "/dev/full", "--junit", "j.xml") == 2
    assert Path("j.xml").exists()
    printed = capsys.readouterr()
    assert printed.out.count("YES") == 1
    assert "--json /dev/full" in printed.err


@pytest.mark.slow
def test_a_report_that_fails_loses_no_other(folder: Path, capsys, monkeypatch) -> None:
    def fails(outcomes, *, root):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr("liptest.report.machine.write_junit", fails)
    assert check("good", "--junit", "j.xml", "--sarif", "s.json") == 2
    assert Path("s.json").exists()
    assert "ZeroDivisionError: by design" in capsys.readouterr().err


@pytest.mark.slow
def test_check_keeps_the_books(folder: Path) -> None:
    assert check("good", "--ledger", "l.db", "--vendor", "acme") == 0
    assert check("bad", "--ledger", "l.db", "--vendor", "acme") == 1
    assert check("broken", "--ledger", "l.db") == 4
    attempts = Ledger("l.db").attempts()
    assert [one.vendor for one in attempts] == ["acme", "acme", "vendor.py:broken"]
    assert [str(one.decision) for one in attempts[:2]] == ["YES", "NO"]
    assert main(["ledger", "verify", "l.db"]) == 0


@pytest.mark.slow
def test_release_keeps_the_books(folder: Path, capsys) -> None:
    private = ["--private", "private.csv", "--ledger", "l.db"]
    for name, code in [("good", 0), ("bad", 1)]:
        assert main(["release", f"vendor.py:{name}", *ARGUMENTS, *private]) == code
    with sqlite3.connect("l.db") as raw:
        text = "\n".join(str(row) for row in raw.execute("select * from entries"))
    raw.close()
    assert text.count("private.csv") >= 1
    assert main(["ledger", "show", "l.db", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out.split("\n\n")[-1])
    assert "private.csv" in json.dumps(shown)


@pytest.mark.slow
def test_the_file_names_ledger_and_vendor(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "liptest.toml").write_text(
        'ledger = "books.db"\n[domain]\ndimension = 3\n[distribution]\nprobabilities = 0.3\n'
        '[[check]]\nmechanism = "../vendor.py:good"\nepsilon = 1\nvendor = "acme"\n'
    )
    assert main(["check", "--config", "inner/liptest.toml"]) == 0
    assert [one.vendor for one in Ledger(inner / "books.db").attempts()] == ["acme"]


def test_a_ledger_that_cannot_be_written_means_no_test(folder: Path, capsys) -> None:
    assert check("good", "--ledger", "no/where.db") == 2
    assert "YES" not in capsys.readouterr().out


@pytest.mark.slow
def test_what_was_found_is_written_where_nobody_reads_it(tmp_path: Path) -> None:
    """As in ``liptest check .. --json cert.json | head -1``."""
    (tmp_path / "mine.py").write_text(
        "def count(data, rng):\n    return int(data.sum()) + rng.laplace(0, 1)\n"
    )
    check = ["check", "mine.py:count", "--epsilon", "1", "--records", "50", "--in-process"]
    command = [sys.executable, "-m", "liptest", *check, "--json", "cert.json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert process.returncode == 0
    assert json.loads((tmp_path / "cert.json").read_text())
