"""What code asks of the machine, its files and its environment is refused, with the line."""

from __future__ import annotations

import gc
import glob
import inspect
import locale
import os
import platform
import posix
import select
import shutil
import socket
import sqlite3
import sys
import threading
import warnings
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.watch import set_orders, surroundings
from liptest.enumerate.watch.asked_of_machine import LiveFile
from liptest.errors import NonDeterministicError, UnsupportedRandomnessError

DATA = np.array([1, 0])
HERE = Path(__file__)
FOLDER = str(HERE.parent)


def law(function: Any) -> dict[Any, Any]:
    return dict(lt.mechanism(function).law(DATA))


ASKED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda data: os.stat(FOLDER).st_size > 0, r"os\.stat"),
    (lambda data: os.path.exists(FOLDER + "/sign"), r"os\.stat"),
    (lambda data: HERE.is_file(), r"os\.stat"),
    (lambda data: HERE.stat().st_mtime > 4e9, r"os\.stat"),
    (lambda data: HERE.is_symlink(), r"os\.l?stat"),
    (lambda data: len(os.listdir(FOLDER)), r"os\.listdir"),
    (lambda data: len(glob.glob(FOLDER + "/*.sign")), r"os\.\w+"),
    (lambda data: os.access(FOLDER, os.W_OK), r"os\.access"),
    (lambda data: len(list(HERE.parent.glob("*.sign"))), r"os\.\w+"),
    (lambda data: os.environ.get("LIPTEST_SIGN"), "the environment"),
    (lambda data: os.getenv("LIPTEST_SIGN"), "the environment"),
    (lambda data: "LIPTEST_SIGN" in os.environ, "the environment"),
    (lambda data: len(dict(os.environ)), "the environment"),
    (lambda data: len(str(Path.cwd())), r"os\.getcwd"),
    (lambda data: os.cpu_count(), r"os\.cpu_count"),
    (lambda data: shutil.disk_usage("/").free % 2, r"os\.statvfs"),
    (lambda data: socket.gethostname(), r"socket\.gethostname"),
    (lambda data: platform.node(), r"platform\.uname"),
    (lambda data: locale.getlocale()[0], r"locale\.getlocale"),
    (lambda data: threading.get_ident() % 2, r"threading\.get_ident"),
    (lambda data: threading.current_thread().name, r"threading\.current_thread"),
    (lambda data: len(gc.get_objects()) % 2, r"gc\.get_objects"),
    (lambda data: sys.getrefcount(data) > 1000, r"sys\.getrefcount"),
    (lambda data: sys.stdin.readline(), "asks for input"),
    (lambda data: [line for line in sys.stdin], "asks for input"),  # noqa: C416
    (lambda data: len(select.select([], [], [], 0)[0]), r"select\.select"),
    (lambda data: len(inspect.stack()), "who calls it"),
    (lambda data: "a".__hash__() % 2, r"__hash__\(\)"),
    (lambda data: len(posix.environ), "posix"),
]


@pytest.mark.parametrize("place", range(len(ASKED)))
def test_what_is_asked_of_the_machine_is_refused(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (surroundings, set_orders):
        monkeypatch.setattr(module, "hashes_differ", lambda: True)
    function, words = ASKED[place]
    with pytest.raises(NonDeterministicError, match=r"machine\.py:\d+.*cannot be followed"):
        law(function)
    with pytest.raises(NonDeterministicError, match=words):
        law(function)


def test_a_rare_question_is_refused_too() -> None:
    def rarely(data: Any, rng: Any) -> int:
        return int(data[0]) if rng.random() < 2.0**-30 and "SIGN" in os.environ else 0

    tested = lt.mechanism(rarely)
    with pytest.raises(NonDeterministicError, match="looks at the environment"):
        lt.check_privacy(tested, lt.ProductDistribution.bernoulli([0.5]), epsilon=1)


def test_pipes_and_sockets_that_were_opened_before() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"0123456789")
    first, second = socket.socketpair()
    second.send(b"0123456789")
    with os.fdopen(os.dup(reading), "rb", 0) as held, first, second:
        in_a_tuple = (held,)
        questions: list[Any] = [
            lambda data: os.read(reading, 1),
            lambda data: first.recv(1),
            lambda data: first.recv_into(bytearray(1)),
            lambda data: held.read(1),
            lambda data: next(held),
            lambda data: in_a_tuple[0].read(1),
        ]
        for function in questions:
            with pytest.raises(NonDeterministicError, match=r"(pipe|program).*cannot be followed"):
                law(function)
        assert held.read(3) == b"012"  # nothing was read, and all is as before
        assert first.recv(3) == b"012"
    os.close(reading)
    os.close(writing)


def test_a_database_has_random_numbers_of_its_own() -> None:
    held = sqlite3.connect(":memory:")

    def ask(data: Any) -> Any:
        return held.execute("select abs(random() % 1000) = 0").fetchone()[0]

    with pytest.raises(UnsupportedRandomnessError, match="compiled code was called: sqlite3"):
        law(ask)
    held.close()


def test_what_libraries_ask_for_themselves_is_let_pass(tmp_path: Path) -> None:
    file = tmp_path / "numbers.npy"
    np.save(file, np.array([3]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert law(lambda data: int(np.load(file)[0])) == {3: 1.0}
        assert law(lambda data: int(np.loadtxt([str(len(data))]))) == {2: 1.0}
        assert law(lambda data: zoneinfo.ZoneInfo("UTC").key) == {"UTC": 1.0}
        assert law(lambda data: warnings.warn("one", stacklevel=1)) == {None: 1.0}


def test_everything_asks_again_afterwards() -> None:
    assert not isinstance(sys.stdin, LiveFile)
    assert threading.current_thread().ident == threading.get_ident()
    assert "recv" not in vars(socket.socket)
    assert os.environ["PATH"]
    assert HERE.is_file()
