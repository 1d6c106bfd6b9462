"""Ways out of a jail: all are tried in one child, which tells of those that are open."""

from __future__ import annotations

import json
import platform
import socket
import sys
from pathlib import Path

import pytest

from liptest.runs import jail, shown_code

SECRET = "770077"
# Name -> what is tried; an exception, or a false value, is a door that is shut.
ESCAPES = {
    "the folder of the private file": "os.listdir(place)",
    "the private file": "open(place + '/private.csv').read()",
    "the private file by the root of another process": (
        "open('/proc/1/root' + place + '/private.csv').read()"
    ),
    "the private file by its own root": "open('/proc/self/root' + place + '/private.csv').read()",
    "the private file through a link": (
        "os.symlink(place + '/private.csv', room + 'l') or open(room + 'l').read()"
    ),
    "the private file through a hard link": "os.link(place + '/private.csv', room + 'h') is None",
    "accounts": "open('/etc/passwd').read()",
    "passwords": "open('/etc/shadow').read()",
    "homes": "os.listdir('/root') + os.listdir('/home')",
    "mounts that name other places": "'/etc/hostname' in open('/proc/self/mountinfo').read()",
    "the environment of the operator": f"{SECRET!r} in repr(dict(os.environ))",
    "the environment of the first process": f"{SECRET!r} in open('/proc/1/environ').read()",
    "the command line of the first process": "place in open('/proc/1/cmdline').read()",
    "memory of the first process": "open('/proc/1/mem', 'rb').read(1)",
    "other processes": "[p for p in os.listdir('/proc') if p.isdigit() and int(p) > 9]",
    "files that the operator has open": "[n for n in os.listdir('/proc/self/fd') if int(n) > 9]",
    "the name of the machine": f"os.uname().nodename == {socket.gethostname()!r}",
    "users of the system": "os.listdir('/var') or os.listdir('/run')",
    "block devices": "[n for n in os.listdir('/dev') if n[:2] in ('sd', 'vd', 'nv', 'lo')]",
    "a device of its own": "os.mknod(room + 'd', 0o600 | 0o060000, os.makedev(254, 0)) is None",
    "virtual machines": "open('/dev/kvm', 'rb')",
    "the kernel's settings": "open('/proc/sys/kernel/core_pattern', 'r+')",
    "its own score for a lack of memory": "open('/proc/self/oom_score_adj', 'r+')",
    "the kernel's keys": "open('/proc/sysrq-trigger', 'w')",
    "the system": "open('/usr/written', 'w')",
    "its own code": "open(os.path.abspath(__file__), 'a')",
    "the root": "open('/written', 'w')",
    "control groups": "os.listdir('/sys/fs/cgroup')",
    "a terminal": "open('/dev/tty', 'w')",
    "words for the terminal": "not fcntl.ioctl(0, 0x5412, b'x')",
    "core files": "resource.setrlimit(resource.RLIMIT_CORE, (1, 1)) is None",
    "more memory": "bytearray(64 << 30)",
    "a large file": "open(room + 'large', 'wb').write(bytes(1 << 27))",
    "many large files": "[open(f'{room}{n}', 'wb').write(bytes(1 << 24)) for n in range(9)]",
    "shared memory": "[open(f'/dev/shm/{n}', 'wb').write(bytes(1 << 24)) for n in range(9)]",
    "many open files": "[open('/dev/null') for _ in range(1000)]",
    "the network": "socket.create_connection(('127.0.0.1', port), 2)",
    "a datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a socket of the machine": "socket.socket(socket.AF_UNIX).connect('\\0liptest-open')",
    "the kernel's own network": "socket.socket(16, 3, 0)",
    "hosts of virtual machines": "socket.socket(40, 1, 0)",
    "a pair of sockets": "socket.socketpair()",
    "a process": "os.fork() is not None",
    "a program": "subprocess.run(['true'])",
    "a program by posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "a program from memory": "os.execve(os.memfd_create('x'), ['x'], {})",
    "its parent": "os.kill(os.getppid(), 0) is None",
    "all processes": "os.kill(-1, 0) is None",
    "its group": "os.killpg(0, 0) is None",
    "another root": "os.chroot('/tmp') is None",
    "another account": "os.setuid(12345) is None",
    "another clock": "time.clock_settime(time.CLOCK_REALTIME, time.time()) is None",
    "another name": "socket.sethostname(socket.gethostname()) is None",
    "a new namespace": "call(272, 0x10000000) == 0",
    "a new namespace by clone": "call(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0",
    "a process by clone3": "call(435, ctypes.create_string_buffer(88), 88) >= 0",
    "a process by vfork": "call(58) >= 0",
    "a mount": "call(165, b'none', b'/tmp', b'tmpfs', 0, 0) == 0",
    "a mount by the new calls": "call(430, b'tmpfs', 0) >= 0",
    "a root by its handle": "call(304, 3, 0, 0) >= 0",
    "rings of calls": "call(425, 8, ctypes.create_string_buffer(120)) >= 0",
    "programs of the kernel": "call(321, 0, 0, 0) >= 0",
    "modules of the kernel": "call(313, 0, b'', 0) == 0",
    "another kernel": "call(246, 0, 0, 0, 0) == 0",
    "faults of pages": "call(323, 0) >= 0",
    "counters of the processor": "call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0",
    "the memory of its parent": "call(310, os.getppid(), 0, 0, 0, 0, 0) >= 0",
    "a hold on its parent": "call(101, 16, os.getppid(), 0, 0) == 0",
    "the files of its parent": "call(438, 3, 0, 0) >= 0",
    "keys": "call(250, 0, -3) >= 0",
    "memory in files without a name": "os.memfd_create('x') > 0",
    "memory that nobody maps": "call(29, 0, 1 << 12, 0o1600) >= 0",
    "secret memory": "call(447, 0) >= 0",
    "queues of messages": "call(68, 0, 0o1600) >= 0 or call(240, b'x', 0o102, 0o600, None) >= 0",
    "semaphores of the system": "call(64, 0, 1, 0o1600) >= 0",
    "events of all files": "call(300, 4, 0) >= 0",
    "calls by their other numbers": "call(0x40000000 + 520, b'/bin/true', 0, 0) == 0",
    "a restart": "call(169, 0xfee1dead, 672274793, 0, 0) == 0",
}
CHILD = """
import ctypes, fcntl, json, os, resource, socket, subprocess, sys, tempfile, time
from liptest.runs.jail import answer_with, limit_this_process
asked = json.loads(sys.stdin.read())
place, port, room = asked["place"], asked["port"], tempfile.gettempdir() + "/"
descriptor = os.dup(1)
nowhere = os.open(os.devnull, os.O_RDWR)
for stream in (0, 1, 2):
    os.dup2(nowhere, stream)
library = ctypes.CDLL(None, use_errno=True)
library.syscall.restype = ctypes.c_long
call = library.syscall
limit_this_process()
found = []
for name, code in asked["escapes"].items():
    try:
        if eval(code):
            found.append(name)
    except BaseException:
        pass
    for file in os.listdir(room) if asked["is_jail"] else []:
        try:
            os.unlink(room + file)
        except OSError:
            pass
answer_with(descriptor, json.dumps(found).encode())
os._exit(0)
"""


def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> list[str]:
    place = tmp_path / "operator"
    place.mkdir()
    (place / "private.csv").write_text(SECRET)
    code = tmp_path / "code"
    code.mkdir()
    (code / "escaping_child.py").write_text(CHILD)
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.setenv("A_SECRET", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = {
            "place": str(place),
            "port": server.getsockname()[1],
            # Its own /tmp is emptied after each; nobody else's.
            "is_jail": jail.find_bubblewrap() is not None,
            "escapes": {name: ESCAPES[name] for name in names},
        }
        reply = jail.run_confined("escaping_child", json.dumps(asked).encode(), seconds=300)
    found: list[str] = json.loads(reply.content)
    return found


needs_calls = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64",
    reason="its numbers are those of the calls of one kind of machine",
)


@needs_calls
@pytest.mark.skipif(jail.find_bubblewrap() is None, reason="there is no bubblewrap")
def test_no_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(tmp_path, monkeypatch, list(ESCAPES)) == []


@needs_calls
def test_what_a_filter_keeps_without_a_jail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files can be read then; processes, the network and the kernel stay out of reach."""
    monkeypatch.setattr(jail, "find_bubblewrap", lambda: None)
    # All that is tried is harmless where it would work: to the superuser it is open but for that.
    names = [name for name, code in ESCAPES.items() if code.startswith(_BY_FILTER)]
    assert len(names) > 20
    assert tried(tmp_path, monkeypatch, [*names, "accounts"]) == ["accounts"]


_BY_FILTER = (
    "call(",
    "os.memfd",
    "socket.",
    "os.fork",
    "os.kill",
    "os.posix",
    "os.execve",
    "subprocess",
)


HIDDEN = """
import json, os, sys
from liptest.runs.jail import answer_with
found, places = [], json.loads(sys.stdin.read())
for place in places:
    try:
        if os.path.isdir(place):
            found += os.listdir(place)
            open(place + "/more", "w")
        found.append(open(place).read())
    except OSError as error:
        found.append(type(error).__name__)
answer_with(1, json.dumps(found).encode())
"""


@pytest.mark.skipif(jail.find_bubblewrap() is None, reason="there is no bubblewrap")
def test_hidden_places_within_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service in a folder of the system, or of Python, under each of its names."""
    system, other_name = tmp_path / "system", tmp_path / "other"
    private, ledger = system / "room" / "private", system / "room" / "ledger.db"
    private.mkdir(parents=True)
    (private / "clicks.csv").write_text(SECRET)
    (private / "code.py").write_text(SECRET)
    ledger.write_text(SECRET)
    (system / "public.txt").write_text("open to all")
    other_name.symlink_to(system)
    code = tmp_path / "code"
    code.mkdir()
    (code / "hidden_child.py").write_text(HIDDEN)
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.syspath_prepend(str(private))
    whole = [*shown_code.whole_places(), system, other_name]
    monkeypatch.setattr(shown_code, "whole_places", lambda: whole)
    asked = [
        str(place / name)
        for place in (system, other_name)
        for name in ("room/private", "room/private/clicks.csv", "room/ledger.db", "public.txt")
    ]
    reply = jail.run_confined(
        "hidden_child", json.dumps(asked).encode(), hidden=[private, ledger], seconds=60
    )
    each = ["OSError", "FileNotFoundError", "PermissionError", "open to all"]
    assert json.loads(reply.content) == each * 2
