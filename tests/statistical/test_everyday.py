"""Programs as people write them: no answer is wrong, and almost all are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "everyday.py"


@pytest.mark.slow
def test_no_answer_to_an_everyday_program_is_wrong() -> None:
    command = [sys.executable, str(SCRIPT), "--together"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    told = done.stdout.splitlines()[-1]
    assert told.startswith("43 programs: ")
    assert " 0 wrong, " in told
