"""What README.md prints is what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from liptest.cli import main

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "code"), [("0.9", 1), ("1.0", 0)])
def test_the_own_file_is_answered_as_printed(
    scale: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    [source] = re.findall(r"^```python\n(def count.*?)^```", README, re.MULTILINE | re.DOTALL)
    Path("mine.py").write_text(source.replace("0.9", scale))
    commands = re.findall(r"^liptest (.*)$", README, re.MULTILINE)
    assert [line.split()[0] for line in commands] == ["init", "check"]
    assert main(shlex.split(commands[0])) == 0
    capsys.readouterr()
    assert main(shlex.split(commands[1])) == code
    out = capsys.readouterr().out
    printed = re.findall(r"^```\n(mine:count .*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(printed) == 2
    assert out.startswith(printed[1 - code])
    if code == 1:
        assert out.rstrip() == printed[0].rstrip()


def test_no_flag_of_the_table_is_made_up() -> None:
    from liptest.cli.app import app

    known = {one for arg in app["check"].assemble_argument_collection() for one in arg.names}
    said = set(re.findall(r"--(?:records|table|columns|epsilon|html)\b", README))
    assert said <= known
