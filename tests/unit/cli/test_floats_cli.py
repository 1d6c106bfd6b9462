"""``--floats`` and ``floats =``: which floats decide, and a witness that ``verify`` replays."""

from __future__ import annotations

import json

import pytest

from liptest.cli import main

VENDOR = """
def textbook(data, rng):
    return data.sum() + rng.laplace(0, 1)
"""
TOML = """
[domain]
dimension = 6
[[check]]
mechanism = "vendor.py:textbook"
epsilon = 1
floats = "implemented"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vendor.py").write_text(VENDOR)
    return tmp_path


def check(*options: str) -> int:
    return main(["check", "vendor.py:textbook", "--epsilon", "1", "--dimension", "6", *options])


@pytest.mark.slow
def test_the_second_line_is_printed_and_does_not_decide(capsys: pytest.CaptureFixture) -> None:
    assert check("--html", "page.html") == 0
    assert "As implemented: NO." in capsys.readouterr().out
    assert check("--floats", "ideal") == 0
    assert "As implemented" not in capsys.readouterr().out
    assert check("--floats", "every") == 2


@pytest.mark.slow
def test_the_floats_decide_and_verify_replays_them(folder, capsys) -> None:
    assert check("--floats", "implemented", "--json", "c.json") == 1
    assert main(["verify", "c.json", "vendor.py:textbook"]) == 0
    assert "replayed by NumPy alone" in capsys.readouterr().out
    document = json.loads((folder / "c.json").read_text())
    found = document[0] if isinstance(document, list) else document
    assert found["verdict"]["settings"]["floats"] == "implemented"


@pytest.mark.slow
def test_a_file_may_ask_for_it(folder, capsys) -> None:
    (folder / "liptest.toml").write_text(TOML)
    assert main(["check"]) == 1
    assert "NO as implemented" in capsys.readouterr().out
