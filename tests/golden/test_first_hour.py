"""The scripts of examples/first_hour print what they say they print."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "first_hour"
#: Scripts that need another library; diffprivlib has a session of its own (noxfile.py).
NEEDED = {"libraries.py": "opendp", "diffprivlib_objects.py": "diffprivlib"}
SESSION = os.environ.get("LIPTEST_LIBRARIES", "")
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "asking.py")


def promised(script: str) -> str:
    """What the script's docstring says that it prints."""
    said = ast.get_docstring(ast.parse((FOLDER / script).read_text("utf-8")))
    assert said is not None
    return said.partition("prints")[2].partition(":\n\n")[2].strip()


def test_every_script_promises_answers_and_stands_in_the_table():
    table = (FOLDER / "README.md").read_text("utf-8")
    assert len(SCRIPTS) >= 7
    for script in SCRIPTS:
        assert promised(script)
        assert f"`{script}`" in table


@pytest.mark.slow  # a process each
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_what_it_promises(script):
    if SESSION and not SESSION.startswith(NEEDED.get(script, "no library")):
        pytest.skip("a session of its own")
    if script in NEEDED:
        pytest.importorskip(NEEDED[script])
    source = Path(__file__).parents[2] / "src"
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-B", script]
    done = subprocess.run(
        command,
        cwd=FOLDER,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == promised(script), done.stderr
