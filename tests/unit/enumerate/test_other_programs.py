"""What another program or the machine says is not random: the analysis ends with the line."""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import NonDeterministicError

LAW = lt.ProductDistribution.uniform(lt.Hypercube(1))
DATA = np.array([1])


def _by_udp(data: Any) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"x", ("127.0.0.1", 9))


def _listens(data: Any) -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return 0


def _asks_names(data: Any) -> int:
    return len(socket.gethostbyname("localhost"))


def _asks_somebody(data: Any) -> int:
    return len(input())


def _reads_of_the_machine(data: Any) -> int:
    return len(Path("/proc/uptime").read_text())


def _reads_flags(data: Any) -> int:
    with open("/sys/kernel/uevent_seqnum") as file:
        return len(file.read())


def _connects(data: Any) -> int:
    with socket.socket() as one:
        try:
            one.connect(("127.0.0.1", 9))
        except OSError:
            return 0
    return 1


ASKING: dict[Callable[[Any], int], str] = {
    _by_udp: r"it connects to another program \(test_other_programs\.py:\d+: return one\.sendto",
    _connects: r"it connects to another program \(.*one\.connect",
    _listens: r"it connects to another program \(.*one\.bind",
    _asks_names: r"it asks the network \(.*socket\.gethostbyname",
    _asks_somebody: r"it asks for input \(.*input\(\)",
}
if sys.platform == "linux":
    ASKING |= {
        _reads_of_the_machine: r"it opens a pipe, a device or a file of /proc \(.*read_text",
        _reads_flags: r"it opens a pipe, a device or a file of /proc \(.*uevent_seqnum",
    }
MACHINE: dict[str, Callable[[], Any]] = {
    "os.getpid": lambda: os.getpid(),
    "os.getppid": lambda: os.getppid(),
    "os.times": lambda: os.times(),
    "os.getloadavg": lambda: os.getloadavg(),
    "gc.get_count": lambda: gc.get_count(),
}


@pytest.mark.parametrize("function", ASKING, ids=lambda function: function.__name__)
def test_who_asks_others_is_refused_with_the_line(function: Callable[[Any], int]) -> None:
    with pytest.raises(NonDeterministicError, match=ASKING[function]):
        lt.check_privacy(lt.mechanism(function), LAW, epsilon=1)


@pytest.mark.parametrize("name", MACHINE)
def test_what_the_machine_says_is_refused_with_the_line(name: str) -> None:
    ask = MACHINE[name]
    with pytest.raises(NonDeterministicError, match=rf"it asks {name} \(test_other_programs\.py"):
        lt.mechanism(lambda data: len(str(ask()))).law(DATA)


def test_a_pipe_that_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(NonDeterministicError, match="it opens a pipe"):
        lt.mechanism(lambda data: len(path.read_bytes())).law(DATA)


def test_a_random_device_that_was_opened_before() -> None:
    number = os.open("/dev/urandom", os.O_RDONLY)
    try:
        with pytest.raises(NonDeterministicError, match="a random device of the operating system"):
            lt.mechanism(lambda data: os.read(number, 1)[0] == 1).law(DATA)
    finally:
        os.close(number)


def test_other_files_that_are_open_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"7")
    number = os.open(path, os.O_RDONLY)
    try:
        with pytest.warns(UserWarning, match="had opened the file .*numbers"):
            law = lt.mechanism(lambda data: os.pread(number, 1, 0)).law(DATA)
        assert law[b"7"] == 1.0
    finally:
        os.close(number)


def test_a_verdict_says_which_files_must_stay(tmp_path: Path) -> None:
    path = tmp_path / "rate; or so.json"
    path.write_text("0.25")

    def reads(data: Any, rng: Any) -> int:
        return int(data[0]) ^ int(rng.random() < json.loads(path.read_text()))

    with pytest.warns(UserWarning, match="opened the file .* to read"):
        verdict = lt.check_privacy(lt.mechanism(reads), LAW, epsilon=1.2)
    assert verdict.decision == "YES"
    assert verdict.law_source.count("; ") == 1
    assert re.search(r"; given that the file .*rate, or so\.json.* stays as it is\.", str(verdict))


def test_of_a_file_that_is_written_nothing_is_taken_for_granted(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def writes(data: Any) -> int:
        with open(path, "a") as file:
            file.write("x")
        return 0

    with pytest.warns(UserWarning, match="opened the file"):
        verdict = lt.check_privacy(lt.mechanism(writes), LAW, epsilon=1.2)
    assert "given that" not in str(verdict)


def test_a_module_that_reads_the_clock_is_to_be_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outer_of_clock.py").write_text("import inner_of_clock\n")
    (tmp_path / "inner_of_clock.py").write_text("import time\nYEAR = time.localtime().tm_year\n")
    monkeypatch.syspath_prepend(tmp_path)

    def imports(data: Any) -> int:
        import outer_of_clock

        return len(outer_of_clock.__name__)

    says = r"it imports outer_of_clock, which reads the clock: time\.localtime .*at the top"
    with pytest.raises(NonDeterministicError, match=says):
        lt.mechanism(imports).law(DATA)
    importlib.import_module("outer_of_clock")
    assert lt.mechanism(imports).law(DATA)[14] == 1.0
