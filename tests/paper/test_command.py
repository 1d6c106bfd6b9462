"""``python -m paper``, and ``liptest paper`` in a checkout."""

from __future__ import annotations

import json

import pytest

from liptest.cli import main
from paper import ClaimRow
from paper import __main__ as command


@pytest.fixture(params=["python -m paper", "liptest paper"])
def run(request):
    """Both ways to run it, as functions of the arguments."""
    return command.main if request.param.startswith("python") else lambda a: main(["paper", *a])


def as_known(share):
    return [
        ClaimRow("Claim 1", "all", "0 broken", True),
        ClaimRow("Claim 2", "one", "1", False, False),
    ]


def otherwise(share):
    return [ClaimRow("Claim 3", f"share {share:g}", "surprise", False)]


def test_paper_prints_its_rows(run, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "CHECKS", (as_known,))
    assert run(["--json", str(tmp_path / "rows.json")]) == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines() if line.startswith("Claim")] == [
        ["Claim", "1", "all", "0", "broken", "yes"],
        ["Claim", "2", "one", "1", "no,", "as", "known"],
    ]
    assert "All 2 rows are as docs/paper.md says." in out
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [ClaimRow.from_dict(row) for row in rows] == as_known(1.0)


def test_paper_fails_when_a_row_is_not_as_documented(run, capsys, monkeypatch):
    monkeypatch.setattr(command, "CHECKS", (as_known, otherwise))
    assert run(["--share", "0.5"]) == 1
    out = capsys.readouterr().out
    assert "share 0.5" in out
    assert "NO, unexpectedly" in out
    assert "Not as documented: Claim 3" in out


@pytest.mark.parametrize("share", ["0", "1.5"])
def test_wrong_shares(run, capsys, share):
    assert run(["--share", share]) == 2
    assert "share=" in capsys.readouterr().err
