"""The example of docs/running.md runs, and what the page names exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from liptest.privacy.samples import sampling_run
from liptest.runs import workers as executors

PAGE = (Path(__file__).parents[3] / "docs" / "running.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_gives_its_verdict(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "example.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("YES\n", "")


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    assert f"{sampling_run._CHUNK_POINTS['enumerated']} of enumerated code" in PAGE
    assert f"takes about {executors._GROUP_SECONDS} seconds" in PAGE
    assert executors._TRIES == 4
    assert "four times in a row" in PAGE
