"""Running code that is not trusted in a process of its own, in a jail where there is one.

With bubblewrap: no network, a read-only system, an empty /tmp, no other processes, no capabilities,
and of the user's files only Python code that is named or can be imported, no data. Without it
(macOS, locked-down containers): a plain child process with limits, on Linux also of its system
calls, which can read and write what this account can; answers say so.

A child answers with bytes, of a stated length, which are read up to a limit and never unpickled.
"""

from __future__ import annotations

import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from liptest.errors import MechanismError
from liptest.runs.cgroups import own_group
from liptest.runs.interrupts import forward_interrupts
from liptest.runs.seccomp import end_with_parent, refuse_calls
from liptest.runs.shown_code import import_paths, is_within, show_places, whole_places

#: Most bytes of an answer.
MOST_BYTES = 1 << 26
#: Most seconds of an analysis that is given no limit.
MOST_SECONDS = 3600.0
_HEADER = 16
# What a header begins with of a message before the answer.
_EARLIER = b"t"
#: Bytes of memory of a child, where nothing else is said.
CHILD_MEMORY = 8 << 30
_FILE = 1 << 26
_FILES = 256
CONFINED = "bubblewrap: no network, no other files, no other processes"
NOT_CONFINED = (
    "not confined: a plain process, which can read and write what this account can; install "
    "bubblewrap"
)
NOT_ASKED_FOR = "not confined, as requested"


_ENDED = "its process, which it ended, or of memory"


class LimitReached(MechanismError):
    """There is no answer, as the code wanted more than it may have; ``limit`` says of what."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(frozen=True)
class ChildReply:
    """What a child said, and how it was confined."""

    content: bytes
    confinement: str


@dataclass(frozen=True)
class Listener:
    """What a parent does with what a child says before its answer.

    ``told`` gets each message, ``printed`` each line that the child wrote to standard error. A
    Ctrl-C is passed on to the child, which answers what it knows; the second one ends it.
    """

    told: Callable[[bytes], None]
    printed: Callable[[str], None]


@cache
def find_bubblewrap() -> str | None:
    """The program, where it is installed and works."""
    program = shutil.which("bwrap")
    if program is None or not sys.platform.startswith("linux"):
        return None
    try:
        done = subprocess.run(
            [program, *_ISOLATION, "--ro-bind", "/", "/", *_ROOM, "/tmp", "true"],
            capture_output=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return program if done.returncode == 0 else None


def confinement() -> str:
    """How code that is not trusted runs on this machine."""
    return NOT_CONFINED if find_bubblewrap() is None else CONFINED


def run_confined(
    module: str,
    request: bytes,
    *,
    readable: Iterable[Path] = (),
    hidden: Iterable[Path] = (),
    folder: Path | None = None,
    seconds: float | None = None,
    memory: int = CHILD_MEMORY,
    workers: int = 1,
    listener: Listener | None = None,
) -> ChildReply:
    """Run ``python -m module`` with ``request`` as its input, and read its answer.

    ``readable`` are files and folders that a jail lets it read, ``hidden`` files that it must not
    see even in these. The child may start ``workers``. With a ``listener`` there may be messages
    before the answer, and inf as ``seconds``.

    Raises MechanismError when there is no answer: the process ended, took too long or said too
    much.
    """
    program = find_bubblewrap()
    # -P: no module beside the code under test takes the place of one of Python's.
    command = [sys.executable, "-P", "-m", module]
    words = NOT_CONFINED
    with ExitStack() as stack:
        if program is not None:
            shown = stack.enter_context(show_places(readable, hidden, folder))
            command = [program, *_jail(shown, folder), *command]
            words = CONFINED
        group = stack.enter_context(own_group(_most_memory(memory), workers))
        try:
            content = _find_answer(
                command if group is None else group.enter_by(command),
                request,
                folder if program is None else None,
                seconds or MOST_SECONDS,
                listener,
            )
        except LimitReached as error:
            limit = None if group is None else group.met_limit()
            if limit is not None and error.limit == _ENDED:
                told = f"the analysis was ended: it needs more {limit}"
                raise LimitReached(told, limit) from None
            raise
    return ChildReply(content, words)


def _find_answer(
    command: list[str],
    request: bytes,
    folder: Path | None,
    seconds: float,
    listener: Listener | None,
) -> bytes:
    if listener is not None and sys.platform != "win32":
        # The jail's own processes do not end by Ctrl-C; the child of ours says when it listens.
        command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if listener is None else subprocess.PIPE,
        cwd=folder,
        env=_environment(),
        start_new_session=True,
    ) as child:
        relay = None if listener is None else _relay(child, listener.printed)
        try:
            return _exchange(child, request, seconds, listener)
        finally:
            end_process(child)
            if relay is not None:
                relay.join(_RELAY_SECONDS)


def _relay(child: subprocess.Popen[bytes], printed: Callable[[str], None]) -> threading.Thread:
    """A thread that passes on what the child writes to standard error, up to a limit."""
    stream = child.stderr
    assert stream is not None

    def relay() -> None:
        left = _MOST_PRINTED
        with suppress(OSError, ValueError):
            while line := stream.readline(_LONGEST_LINE):
                if left > 0:
                    printed(line.decode("utf-8", "replace").rstrip("\r\n"))
                left -= len(line)

    thread = threading.Thread(target=relay, daemon=True)
    thread.start()
    return thread


# Bytes of standard error that are passed on, and of one line; a wait for the last of them.
_MOST_PRINTED, _LONGEST_LINE = 1 << 20, 1 << 14
_RELAY_SECONDS = 2.0


def _most_memory(wanted: int) -> int:
    """Bytes for all of a child: as many as this process may have itself, if that is less."""
    try:
        import resource
    except ImportError:  # Windows has none of them
        return wanted
    own, _ = resource.getrlimit(resource.RLIMIT_AS)
    return wanted if own == resource.RLIM_INFINITY else min(own, wanted)


def memory_here() -> int:
    """Bytes of memory of this machine; at least those that every child may have."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return CHILD_MEMORY
    return max(memory, CHILD_MEMORY)


def start_confined(
    words: Sequence[str], *, readable: Iterable[Path] = (), memory: int, confined: bool = True
) -> subprocess.Popen[bytes]:
    """Start a program of any language, with pipes to its standard input, output and error.

    In a jail it sees the system, Python and what is ``readable``, at the places where they are, and
    starts in the folder that this process is in. ``memory`` are the bytes of addresses that it may
    have.
    """
    program = find_bubblewrap() if confined else None
    limited = ["/bin/sh", "-c", f'ulimit -c 0; ulimit -v {memory >> 10}; exec "$@"', "sh", *words]
    if program is not None:
        shown = [*whole_places(), *map(Path, _OF_PROGRAMS), *Path("/etc").glob("java-*")]
        shown += [place for place in map(Path.absolute, readable) if not is_within(place, shown)]
        inside = [program, *_BASE, *_bound(shown), "--dir", str(Path.cwd())]
        limited = [*inside, "--chdir", str(Path.cwd()), *limited]
    return subprocess.Popen(
        limited,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    )


def answer_with(descriptor: int, content: bytes, *, is_last: bool = True) -> None:
    """The child's side: its whole answer, or a message before it, with its length first."""
    header = f"{len(content):0{_HEADER}d}".encode()
    data = (header if is_last else _EARLIER + header[1:]) + content
    while data:
        data = data[os.write(descriptor, data) :]


def limit_this_process(
    *,
    memory: int = CHILD_MEMORY,
    seconds: float = MOST_SECONDS,
    threads: int | None = 0,
    has_workers: bool = False,
) -> None:
    """The child's side: no core files, little memory, no process more, no network, no signal.

    Called before foreign code is loaded. ``threads`` are those that it may start, None for any
    number: outside of a jail those of all the account's processes count. With ``has_workers``
    these may be processes, which it may signal.
    """
    try:
        import resource
    except ImportError:  # Windows has none of them
        return
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_AS, memory),
    ]
    if threads is not None:
        # Processes and threads; the superuser is bound by the filter of calls alone.
        limits.append((resource.RLIMIT_NPROC, threads))
    if math.isfinite(seconds):
        limits.append((resource.RLIMIT_CPU, int(seconds)))
    for which, most in limits:
        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(which)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (least, least))
    end_with_parent()
    refuse_calls(workers=has_workers)


_ISOLATION = (
    # In the session that its start has made: what is sent to that group reaches all of the jail.
    *("--unshare-all", "--die-with-parent"),
    *("--cap-drop", "ALL", "--hostname", "jail"),
)


# Files lie in memory, which the limits of a process do not count.
_ROOM = ("--size", str(1 << 26), "--tmpfs")
_BASE = (
    # The kernel lets the superuser of the machine write its settings below /proc, in any namespace.
    *(*_ISOLATION, "--proc", "/proc", "--remount-ro", "/proc"),
    *("--dev", "/dev", *_ROOM, "/dev/shm", "--remount-ro", "/dev"),
    *(*_ROOM, "/tmp"),
)
# What programs that are not Python's need of /etc.
_OF_PROGRAMS = ("/etc/alternatives",)


def _bound(places: Iterable[Path]) -> list[str]:
    options = []
    for place in dict.fromkeys(place.absolute() for place in places):
        options += ["--ro-bind-try", str(place), str(place)]
    return options


def _jail(shown: Sequence[str], folder: Path | None) -> list[str]:
    start = "/" if folder is None else str(folder.absolute())
    return [*_BASE, *shown, "--remount-ro", "/", "--chdir", start]


def _environment() -> dict[str, str]:
    """Nothing of the operator's but what Python needs."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(import_paths()),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _exchange(
    child: subprocess.Popen[bytes], request: bytes, seconds: float, listener: Listener | None
) -> bytes:
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(BrokenPipeError):
        child.stdin.write(request)
        child.stdin.close()
    reader = _Reader(child.stdout.fileno(), time.monotonic() + seconds)
    listens = False

    def pass_on() -> bool:
        if listens and sys.platform != "win32":
            os.killpg(child.pid, signal.SIGINT)
        return listens

    with nullcontext() if listener is None else forward_interrupts(pass_on):
        while True:
            header = reader.read(_HEADER)
            is_earlier = listener is not None and header[:1] == _EARLIER
            size = header[1:] if is_earlier else header
            if not size.isdigit() or int(size) > MOST_BYTES:
                raise LimitReached(
                    f"the analysis gave no answer, or one of more than {MOST_BYTES >> 20} MiB; "
                    f"nothing was decided",
                    "output",
                )
            content = reader.read(int(size))
            if listener is None or not is_earlier:
                return content
            listens = True
            listener.told(content)


@dataclass
class _Reader:
    descriptor: int
    deadline: float

    def read(self, count: int) -> bytes:
        content = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self.descriptor, selectors.EVENT_READ)
            while len(content) < count:
                left = self.deadline - time.monotonic()
                if not selector.select(max(0.0, left) if math.isfinite(left) else None):
                    raise LimitReached("the analysis took too long and was ended", "time")
                part = os.read(self.descriptor, min(count - len(content), 1 << 20))
                if not part:
                    raise LimitReached(
                        "the analysis ended without an answer: the code ended its process, or "
                        "needed more than it may have",
                        _ENDED,
                    )
                content += part
        return bytes(content)


def end_process(child: subprocess.Popen[Any]) -> None:
    """The process and all that it started in its session."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
