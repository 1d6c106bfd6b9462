"""For notebooks: ``%load_ext terminal`` gives an empty folder and cells that are run by bash.

Unlike IPython's own ``%%bash`` it shows the whole output in one piece, as one would see it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Any

_folders: list[tempfile.TemporaryDirectory[str]] = []


def bash(line: str, cell: str) -> None:
    """Run a cell; a command that fails is an error of the notebook, and so of the build."""
    done = subprocess.run(
        ["bash", "-eu", "-c", cell],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout.rstrip())
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}")


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext``."""
    _folders.append(tempfile.TemporaryDirectory())
    os.chdir(_folders[-1].name)
    shell.register_magic_function(bash, "cell", "bash")
