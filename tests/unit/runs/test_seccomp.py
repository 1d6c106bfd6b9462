"""The filter of calls: what it says of each number, and what a process meets that has it."""

from __future__ import annotations

import errno
import struct
import subprocess
import sys

import pytest

from liptest.runs import seccomp

ALLOWED, REFUSED = seccomp._ALLOW, 0x00050000 | errno.EPERM
TRIED = """
import os, socket
from liptest.runs.jail import limit_this_process
limit_this_process()
tried = [os.fork, socket.socket, lambda: os.kill(os.getppid(), 9),
         lambda: os.execv("/bin/true", ["true"]), lambda: bytearray(100 << 30)]
for one in tried:
    try:
        one()
    except (OSError, RuntimeError, MemoryError) as error:
        print(type(error).__name__)
print(open("/dev/null").read() == "", os.system("true") != 0)
"""


def decide(program: bytes, mark: int, number: int, flags: int = 0) -> int:
    """What the kernel would make of it: the machine for these instructions, in a few lines."""
    steps = list(struct.iter_unpack("HBBI", program))
    held, at = 0, 0
    while True:
        code, on_true, on_false, constant = steps[at]
        at += 1
        if code == seccomp._LOAD:
            held = {0: number, 4: mark, 16: flags}[constant]
        elif code == seccomp._RETURN:
            return constant
        else:
            equal, most = held == constant, held >= constant
            tests = {seccomp._EQUAL: equal, seccomp._AT_LEAST: most}
            met = tests.get(code, bool(held & constant))
            at += on_true if met else on_false


@pytest.mark.parametrize("machine", seccomp._MACHINES)
def test_exactly_the_named_calls_are_refused(machine: str) -> None:
    mark, clone, numbers = seccomp._MACHINES[machine]
    program = seccomp._program(mark, clone, numbers)
    assert len({clone, *numbers}) == 1 + len(numbers) <= 1 + len(seccomp._NAMES)
    assert decide(program, mark, clone, 0x3D0F00) == ALLOWED  # a thread, as glibc starts one
    assert decide(program, mark, clone, 0x01200011) == REFUSED  # fork
    assert decide(program, mark, clone, 0x4111) == REFUSED  # vfork
    for number in range(600):
        expected = REFUSED if number in (clone, *numbers) else ALLOWED
        expected = seccomp._NO_SUCH_CALL if number == 435 else expected
        assert decide(program, mark, number) == expected, number
        # The numbers of another way to call, and of another machine, are other calls.
        assert decide(program, mark, number + seccomp._OTHER_CALLS) == REFUSED
        assert decide(program, 0x40000003, number) == REFUSED


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a filter of Linux")
def test_what_a_process_with_it_cannot_do() -> None:
    done = subprocess.run([sys.executable, "-c", TRIED], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [
        *("PermissionError", "PermissionError", "PermissionError", "PermissionError"),
        *("MemoryError", "True True"),
    ]


def test_other_machines_go_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "riscv64")
    assert seccomp.refuse_calls() is False
