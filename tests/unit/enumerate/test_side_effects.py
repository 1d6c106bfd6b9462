"""Files, sockets and programs that are opened during an analysis are warned of, once."""

from __future__ import annotations

import datetime
import logging
import socket
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate import side_effects as surroundings
from liptest.enumerate.side_effects import SideEffectWarning

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


def test_sockets() -> None:
    def asks(data: Any, rng: Any) -> int:
        with socket.socket() as one:
            one.settimeout(0.01)
            try:
                one.connect(("127.0.0.1", 9))
            except OSError:
                return 0
        return 1

    with pytest.warns(SideEffectWarning, match=r"connected to \('127"):
        lt.mechanism(asks).law(DATA)


def test_imports_and_quiet_code_are_not() -> None:
    def imports(data: Any, rng: Any) -> int:
        import colorsys

        return int(colorsys.rgb_to_hsv(0, 0, 0)[0])

    sys.modules.pop("colorsys", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lt.mechanism(imports).law(DATA)


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


def _clocks() -> list[Any]:
    def date(data: Any, rng: Any) -> bool:
        return datetime.datetime.now().year > 1

    def seconds(data: Any, rng: Any) -> bool:
        return time.time() > 1.0

    def formatted(data: Any, rng: Any) -> bool:
        return time.strftime("%Y") > "1"

    return [(date, r"datetime\.now"), (seconds, r"time\.time"), (formatted, r"time\.strftime")]


@pytest.mark.parametrize(("function", "words"), _clocks())
def test_reading_the_clock(function: Any, words: str) -> None:
    with pytest.warns(SideEffectWarning, match=rf"read the clock \({words}\); what it answers at"):
        assert dict(lt.mechanism(function).law(DATA)) == {True: 1.0}


def _hashes() -> list[Any]:
    def hashed(data: Any, rng: Any) -> int:
        return hash(("a", int(data[0]))) % 2 * 0

    def walked(data: Any, rng: Any) -> int:
        return 0 * sum(len(word) for word in {"a", "bb", "ccc"})

    def held(data: Any, rng: Any) -> int:
        words = {str(int(data[0])), "other"}
        return 0 * len(sorted(words))

    def made(data: Any, rng: Any) -> int:
        words = frozenset(["a", "b"])
        return 0 * len(words)

    return [
        (hashed, r"called hash\(\) \(line \d+\)"),
        (walked, "made a set of strings .in walked"),
        (held, "made a set of strings .in held"),
        (made, "made a set of strings .in made"),
    ]


@pytest.mark.parametrize(("function", "words"), _hashes())
def test_hashes_of_strings(function: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "hashes_differ", lambda: True)
    with pytest.warns(SideEffectWarning, match=f"{words}.*another process was not tested"):
        lt.mechanism(function).law(DATA)


@pytest.mark.parametrize(("function", "words"), _hashes())
def test_fixed_hashes_are_no_trouble(
    function: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lt.mechanism(function).law(DATA)


def test_sets_of_numbers_words_looked_up_and_logs_are_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dataclass(frozen=True)
    class Cell:
        row: int

    def quiet(data: Any, rng: Any) -> int:
        values = set(data.tolist())
        assert Cell(1) in {Cell(int(data[0])): 5, Cell(1): 6}
        logging.getLogger(__name__).warning("one run")
        return len(values) + ("b" in {"a", "b"}) + len({3, 4})

    monkeypatch.setattr(surroundings, "hashes_differ", lambda: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(lt.mechanism(quiet).law(DATA)) == {5: 1.0}
