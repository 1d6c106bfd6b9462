"""Files that are opened during an analysis are warned of, once."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.watch.side_effects import SideEffectWarning, side_effects_noticed
from liptest.errors import NonDeterministicError

DATA = np.array([1, 0])


def test_a_file_that_is_read_is_warned_of_once(tmp_path: Path) -> None:
    file = tmp_path / "rates.txt"
    file.write_text("0.5")

    def reads(data: Any, rng: Any) -> bool:
        return rng.random() < float(file.read_text())

    mechanism = lt.mechanism(reads)
    with pytest.warns(SideEffectWarning, match=r"reads: .*opened the file .*rates\.txt") as found:
        assert mechanism.law(DATA)[True] == 0.5
    assert len(found) == 1
    mechanism.law(np.array([1, 1]))


@pytest.mark.slow
def test_what_it_prints_is_not_shown_but_said_once(capsys: Any) -> None:
    def prints(data: Any, rng: Any) -> int:
        print("the count is", sum(data))
        sys.stdout.writelines(["a", "b"])
        sys.stdout.flush()
        return int(sum(data)) + int(rng.integers(0, 50))

    before = sys.stdout
    with pytest.warns(SideEffectWarning) as found:
        verdict = lt.check_privacy(prints, lt.Hypercube(3), epsilon=1.0)
    assert verdict.decision == "NO"
    assert {str(one.message) for one in found} == {
        "prints: while it was analysed its code printed; what it prints is not shown, because the "
        "analysis runs it many times"
    }
    assert (sys.stdout, capsys.readouterr().out) == (before, "")
    prints(DATA, np.random.default_rng(1))
    assert capsys.readouterr().out == "the count is 1\nab"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lt.check_privacy(prints, lt.Hypercube(3), epsilon=1.0).decision == "NO"


def test_analyses_that_overlap_swallow_nothing_that_is_printed_later(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that began first ended first: its stand-in for standard output stayed for good."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    began, ended = threading.Event(), threading.Event()

    def other() -> None:
        with side_effects_noticed("other", set()):
            began.set()
            ended.wait(30)

    thread = threading.Thread(target=other)
    with side_effects_noticed("first", set()):
        thread.start()
        assert began.wait(30)
    ended.set()
    thread.join()
    print("later")
    assert capsys.readouterr().out == "later\n"


def test_what_another_thread_prints_is_shown(capsys: Any) -> None:
    def waits(data: Any, rng: Any) -> int:
        said.set()
        while not done.is_set():
            time.sleep(0.001)
        return 0

    def other() -> None:
        said.wait()
        print("here")
        done.set()

    said, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=other)
    thread.start()
    with contextlib.suppress(NonDeterministicError):  # it sets an event, and leaves it set
        lt.mechanism(waits).law(DATA)
    thread.join()
    assert capsys.readouterr().out == "here\n"


def test_imports_and_quiet_code_are_not() -> None:
    def imports(data: Any, rng: Any) -> int:
        import colorsys

        return int(colorsys.rgb_to_hsv(0, 0, 0)[0])

    sys.modules.pop("colorsys", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lt.mechanism(imports).law(DATA)


def test_a_text_without_a_file_is_not_warned_of(tmp_path: Path, monkeypatch: Any) -> None:
    """Python 3.14 asks for ``<unknown>`` when it warns of a text that it compiles."""

    def asks(data: Any, rng: Any) -> int:
        try:
            with open("<unknown>") as file:
                return len(file.read())
        except FileNotFoundError:
            return 0

    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lt.mechanism(asks).law(DATA)
    (tmp_path / "<unknown>").write_text("10")
    with pytest.warns(SideEffectWarning, match="opened the file '<unknown>' to read"):
        lt.mechanism(asks).law(DATA)


def test_other_threads_and_other_times_are_not(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("")
    reading, done = threading.Event(), threading.Event()

    def other() -> None:
        reading.wait()
        file.read_text()
        done.set()

    def waits(data: Any, rng: Any) -> int:
        reading.set()
        while not done.is_set():
            time.sleep(0.001)
        return 0

    thread = threading.Thread(target=other)
    thread.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contextlib.suppress(NonDeterministicError):  # it sets an event, and leaves it set
            lt.mechanism(waits).law(DATA)
        file.read_text()
    thread.join()


def test_a_warning_that_is_made_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("")
    mechanism = lt.mechanism(lambda data, rng: len(file.read_text()))
    with pytest.raises(SideEffectWarning):
        mechanism.law(DATA)
    assert mechanism.law(DATA)[0] == 1.0
