"""The package of examples/ci: green as it is, red when its noise is halved."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from liptest.cli import main
from liptest.cli.app import app

ROOT = Path(__file__).parents[3]
yaml = pytest.importorskip("yaml")


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "package"
    shutil.copytree(ROOT / "examples" / "ci", folder)
    monkeypatch.chdir(folder)
    return folder


def halve(folder):
    file = folder / "tinydp.py"
    text = file.read_text()
    assert text.count("SCALE = 1.0") == 1
    file.write_text(text.replace("SCALE = 1.0", "SCALE = 0.5"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_halved", "code"), [pytest.param(False, 0, marks=pytest.mark.slow), (True, 1)]
)
def test_the_checks_of_its_pyproject(package, capsys, is_halved, code):
    if is_halved:
        halve(package)
    assert main(["check", "--junit", "report.xml", "--sarif", "report.sarif"]) == code
    out = capsys.readouterr().out
    answers = re.findall(r"^(tinydp:\w+)   .*\n(YES|NO) ", out, re.MULTILINE)
    expected = "NO" if is_halved else "YES"
    assert answers == [("tinydp:count", expected), ("tinydp:histogram", expected)]
    assert {"report.xml", "report.sarif"} <= {path.name for path in package.iterdir()}


@pytest.mark.slow  # a pytest of its own
@pytest.mark.parametrize(("is_halved", "words"), [(False, "2 passed"), (True, "2 failed")])
def test_its_tests(package, is_halved, words):
    if is_halved:
        halve(package)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert words in done.stdout, done.stdout + done.stderr
    assert done.returncode == int(is_halved)


def test_the_action_and_the_hook_use_options_that_exist():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "liptest check"
    [step] = [one for one in action["runs"]["steps"] if one["name"] == "check"]
    known = {name for one in app["check"].assemble_argument_collection() for name in one.names}
    assert set(re.findall(r"--[a-z]+", step["run"])) <= known
    workflow = yaml.safe_load((ROOT / "examples" / "ci" / "workflow.yml").read_text())
    [used] = [s for s in workflow["jobs"]["claims"]["steps"] if "liptest" in s["uses"]]
    assert set(used["with"]) <= set(action["inputs"])


@pytest.mark.slow  # bash, and a liptest of its own
@pytest.mark.parametrize(("is_halved", "code"), [(False, 0), (True, 1)])
def test_the_step_of_the_action_is_bash_that_runs(package, monkeypatch, tmp_path, is_halved, code):
    if is_halved:
        halve(package)
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    [step] = [one for one in action["runs"]["steps"] if one["name"] == "check"]
    binary = tmp_path / "bin"
    binary.mkdir()
    script = binary / "liptest"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m liptest "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{binary}:/usr/bin:/bin")
    monkeypatch.setenv("CONFIG", "")
    monkeypatch.setenv("SARIF", "report.sarif")
    done = subprocess.run(["bash", "-eu", "-c", step["run"]], capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    assert (package / "report.sarif").is_file()


def test_the_citation_is_of_this_version():
    import liptest as lt

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == lt.__version__
