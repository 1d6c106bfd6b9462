"""docs/extending.md, followed to the letter: its package is built from its blocks and tested."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import liptest as lt

PAGE = (Path(__file__).parents[3] / "docs" / "extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
COMMAND = "python -m pytest"


def run_in(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # Warnings are the package's own affair; liptest is the one under test.
    environment = {**os.environ, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    return subprocess.run(
        [sys.executable, *COMMAND.split()[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_places_that_the_page_names_are_there() -> None:
    named = re.findall(r"`([a-z]+/[\w/.]*)`", PAGE)
    places = {name.removeprefix("liptest/") for name in named if name[:5] not in ("ours/", "tests")}
    assert len(places) > 8
    source = Path(lt.__file__).parent
    assert not [place for place in places if not (source / place).exists()]


@pytest.mark.slow
def test_the_package_of_the_page_passes_its_tests(tmp_path: Path) -> None:
    assert f"\n```\n{COMMAND}\n```\n" in PAGE
    tests = [name for name in FILES if name.startswith("tests/")]
    assert len(FILES) == 17
    assert len(tests) == 7
    # No block of the page is left out.
    assert PAGE.count("\n```python\n") + PAGE.count("\n```toml\n") == len(FILES)
    done = run_in(tmp_path, FILES)
    count = sum(text.count("\ndef test_") for name, text in FILES.items() if name in tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"\b{count + 7} passed", done.stdout), done.stdout


@pytest.mark.slow
def test_a_tester_that_promises_too_much_fails_the_package(tmp_path: Path) -> None:
    name = "ours/testers.py"
    starved = FILES[name].replace("4.0 * float(", "0.2 * float(")
    assert starved != FILES[name]
    kept = {"ours/__init__.py", "tests/test_testers.py"}
    files = {key: text for key, text in FILES.items() if key in kept}
    done = run_in(tmp_path, {**files, name: starved})
    assert done.returncode == 1
    assert "rejects a function at distance" in done.stdout
