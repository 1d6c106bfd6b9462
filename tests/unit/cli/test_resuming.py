"""--checkpoint and --resume, Ctrl-C and kill -9 as a terminal and a cluster send them; the pace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liptest.cli import main
from liptest.runs import progress as pace
from liptest.runs.progress import Pace

# The laws of the 13th and later datasets wait for the file "go": a library looks for it, since a
# program that asks for files is refused.
WAITS = """
from held import hold
def f(data, rng):
    hold()
    values = data.tolist()
    return int(rng.random() < (0.5 if values[0] else 0.25))
"""
HELD = """
import json, pathlib, time
here = pathlib.Path(__file__).parent.parent
def is_begun():
    try:
        stages = json.loads((here / "long.json").read_text())["stages"].values()
    except (OSError, ValueError):
        return False
    return any(stage["chunks"] for stage in stages)
def hold():
    while is_begun() and not (here / "go").exists():
        (here / "waits").touch()
        time.sleep(0.01)
"""
KILLS = """
import os, signal
def f(data, rng):
    if data.tolist()[0]:
        signal.raise_signal(signal.SIGKILL)
    return int(rng.random() < 0.5)
"""
CHECK = "check f.py:f --epsilon 1 --dimension 6 --probabilities 0.5 --exception-mass 0.1 "
CHECK += "--method neighbourhoods --search-laws 0"
# As the script does, but the file is written after each chunk of 4 draws, and workers share no
# laws beforehand, which the code would hold up.
RUN = """
import sys
from liptest.runs import checkpoints, lessons
from liptest.cli import main
from liptest.privacy.samples import sampling_run
checkpoints.SECONDS = 0.0
lessons._WORTH = 2.0
sampling_run._CHUNK_POINTS["enumerated"] = 28
sys.exit(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.py").write_text(WAITS)
    (tmp_path / "run.py").write_text(RUN)
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "held.py").write_text(HELD)
    return tmp_path


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "run.py", *CHECK.split(), "--checkpoint", "long.json", *more],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_paths(folder))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _paths(folder: Path) -> list[str]:
    own = os.environ.get("PYTHONPATH")
    return [str(folder / "site-packages"), *([own] if own else [])]


def cut(folder: Path, sent: Callable[[int], None], *more: str) -> tuple[int, str]:
    """Start a run, wait until it hangs with some chunks done, end it; code and output."""
    process = start(folder, *more)
    try:
        while process.poll() is None and not ((folder / "waits").exists() and chunks(folder)):
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()
        sent(process.pid)
        output, _ = process.communicate(timeout=100)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output


def chunks(folder: Path) -> int:
    file = folder / "long.json"
    if not file.exists():
        return 0
    stages = json.loads(file.read_text())["stages"].values()
    return sum(stage["chunks"] for stage in stages)


def verdict(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text())["verdict"]
    found["cost"].pop("seconds")
    return found


def finished(folder: Path, *more: str) -> str:
    (folder / "go").touch()
    process = start(folder, *more)
    output, errors = process.communicate(timeout=100)
    assert process.returncode == 0, output + errors
    return output


@pytest.mark.parametrize(
    ("way", "workers"),
    [
        pytest.param("ctrl-c", "1", marks=pytest.mark.slow),
        pytest.param("kill -9", "2", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_was_ended_goes_on_to_the_same_end(folder: Path, way: str, workers: str) -> None:
    ends: dict[str, Callable[[int], None]] = {
        "ctrl-c": lambda pid: os.killpg(pid, signal.SIGINT),
        "kill -9": lambda pid: os.kill(pid, signal.SIGKILL),
    }
    code, output = cut(folder, ends[way], "--workers", workers)
    done = chunks(folder)
    assert done > 0
    if way == "ctrl-c":
        assert code == 3
        assert f"INCONCLUSIVE interrupted after {4 * done} of 132 draws" in output
        last = output.strip().splitlines()[-1]
        wanted = f"liptest {CHECK} --checkpoint long.json --workers {workers} --resume"
        assert last == wanted
    else:
        assert code == -signal.SIGKILL
    seed = json.loads((folder / "long.json").read_text())["identity"]["seed"]
    finished(folder, "--resume", "--workers", workers, "--json", "resumed.json")
    assert not (folder / "long.json").exists()  # it goes with the last answer
    finished(folder, "--seed", seed, "--json", "whole.json")
    assert verdict(folder, "resumed.json") == verdict(folder, "whole.json")


@pytest.mark.slow
def test_workers_end_soon_after_a_parent_that_was_killed(folder: Path) -> None:
    before = {int(pid) for pid in os.listdir("/proc") if pid.isdigit()}
    cut(folder, lambda pid: os.kill(pid, signal.SIGKILL), "--workers", "2")
    for _ in range(1000):
        left = {int(pid) for pid in os.listdir("/proc") if pid.isdigit()} - before
        if not any(_runs_here(pid, folder) for pid in left):
            return
        time.sleep(0.02)
    pytest.fail("a worker has survived its parent")


def _runs_here(pid: int, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False


@pytest.mark.slow
def test_a_mechanism_that_ends_its_workers_is_broken(folder: Path) -> None:
    (folder / "f.py").write_text(KILLS)
    process = start(folder, "--workers", "2")
    output, errors = process.communicate(timeout=100)
    assert process.returncode == 4
    assert output == ""
    assert "error: f.py:f: the code under test ends its worker processes" in errors
    assert "Traceback" not in errors
    assert (folder / "long.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "way", ["os._exit(0)", pytest.param("os.execv('/bin/true', ['true'])", marks=pytest.mark.slow)]
)
def test_code_that_ends_the_process_well_is_no_yes(folder: Path, way: str, workers: str) -> None:
    code = KILLS.replace("signal.raise_signal(signal.SIGKILL)", way)
    (folder / "f.py").write_text(code)
    process = start(folder, "--workers", workers)
    output, errors = process.communicate(timeout=100)
    assert (process.returncode, output) == (4, "")
    name = way.partition("(")[0]
    assert f"error: f.py:f: it called {name}, which ends the process" in errors


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "f.py").write_text(
        "def f(data, rng): return int(rng.random() < (0.5 if data.tolist()[0] else 0.25))\n"
        "def bad(data, rng): return 1 / 0\n"
        "def stops(data, rng):\n"
        "    if sum(data.tolist()) == 6: raise KeyboardInterrupt\n"
        "    return int(rng.random() < 0.5)\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_file_that_is_there_is_never_overwritten(
    quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (quick / "long.json").write_text("precious")
    assert main([*CHECK.split(), "--checkpoint", "long.json"]) == 2
    assert "is there already; add --resume" in capsys.readouterr().err
    assert main([*CHECK.split(), "--checkpoint", "long.json", "--resume"]) == 2
    assert "is not a checkpoint that can be used" in capsys.readouterr().err
    assert (quick / "long.json").read_text() == "precious"


@pytest.mark.parametrize(
    ("more", "word"),
    [(["--resume"], "say which file"), (["--resume", "--checkpoint", "no.json"], "no such file")],
)
def test_there_must_be_something_to_go_on_with(
    quick: Path, more: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CHECK.split(), *more]) == 2
    assert word in capsys.readouterr().err


@pytest.mark.slow
def test_each_of_several_checks_has_a_file_which_stays_while_one_failed(quick: Path) -> None:
    (quick / "liptest.toml").write_text(
        '[domain]\nkind = "hypercube"\ndimension = 6\n[distribution]\nprobabilities = 0.5\n'
        '[[check]]\nmechanism = "f.py:f"\nepsilon = 1\nexception_mass = 0.1\nmethod = "edges"\n'
        '[[check]]\nmechanism = "f.py:bad"\nepsilon = 1\nexception_mass = 0.1\nmethod = "edges"\n'
    )
    assert main(["check", "--checkpoint", "long.json"]) == 4
    assert {f.name for f in quick.glob("long*")} == {"long-1.json", "long-2.json"}
    assert main(["check", "--checkpoint", "long.json", "--resume"]) == 4


@pytest.mark.slow
def test_the_file_stays_while_an_answer_could_not_be_written_down(
    quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = [*CHECK.split(), "--checkpoint", "long.json", "--json", "/dev/full"]
    assert main(typed) == 2
    found = capsys.readouterr()
    assert "No space left on device" in found.err
    assert "What was done is kept in long.json" in found.out
    assert main([*typed[:-1], "whole.json", "--resume"]) == 0
    assert (quick / "whole.json").exists()
    assert not (quick / "long.json").exists()


@pytest.mark.slow
def test_the_file_stays_when_the_code_under_test_raises_keyboard_interrupt(
    quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CHECK.replace("f.py:f", "f.py:stops").split(), "--checkpoint", "long.json"]) == 3
    assert "INCONCLUSIVE interrupted after" in (said := capsys.readouterr().out)
    assert "What was done is kept in long.json" in said
    assert (quick / "long.json").exists()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_log_has_a_line_every_ten_seconds_at_most() -> None:
    clock = Clock()
    found = Pace("f.py:f", clock)
    lines = []
    for done in range(0, 4001, 100):
        lines.append(found.line(10_000 + done, 20_000))
        clock.now += 1
    said = [line for line in lines if line]
    assert len(said) == 4
    assert said[0] == "f.py:f: 11,000 of 20,000, 100 a second, about 90 s left"
    assert said[-1] == "f.py:f: 14,000 of 20,000, 100 a second, about 60 s left"


def test_no_rate_is_told_from_the_first_second() -> None:
    clock = Clock()
    found = Pace("", clock)
    assert found.words(6, 684) == "6 of 684"
    clock.now = 0.001  # chunks of one group come at once
    assert found.words(12, 684) == "12 of 684"
    clock.now = 1.5
    assert found.words(21, 684) == "21 of 684, 10 a second, about 66 s left"


@pytest.mark.parametrize(
    ("step", "planned", "words"),
    [
        (0.01, 1000, "1 of 1,000, 0.6 a minute, about 28 h left"),
        (1, 10**6, "100 of 1,000,000, 1 a second, about 12 days left"),
        (50, 5000, "5,000 of 5,000, 50 a second, about 0 s left"),
        (50, 20_000, "5,000 of 20,000, 50 a second, about 5 min left"),
    ],
)
def test_rates_are_told_in_units_that_fit(step: float, planned: int, words: str) -> None:
    clock = Clock()
    found = Pace("", clock)
    assert found.words(0, planned) == f"0 of {planned:,}"
    clock.now = 100.0
    assert found.words(int(100 * step), planned) == words


@pytest.mark.slow
def test_a_pipe_is_told_how_far_a_run_is(
    quick: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(CHECK.split())
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(pace, "SECONDS", 0.0)
    main(CHECK.split())
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("f:f: 132 of 132")
