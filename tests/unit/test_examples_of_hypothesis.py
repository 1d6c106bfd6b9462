"""The same examples for the README's command, in CI, and wherever else the tests run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = """
import tests.conftest
from hypothesis import settings
now = settings()
print(now.derandomize, now.database, now.deadline, now.max_examples, now.phases)
"""


@pytest.mark.slow
def test_examples_do_not_depend_on_the_environment():
    bare = {key: value for key, value in os.environ.items() if key != "CI"}
    bare["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    shown = [
        subprocess.run(
            [sys.executable, "-c", SHOWN], cwd=ROOT, env=one, capture_output=True, check=True
        ).stdout
        for one in (bare, {**bare, "CI": "1"})
    ]
    assert shown[0] == shown[1]
    assert shown[0].startswith(b"True None None")
