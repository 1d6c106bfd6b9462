"""Running code that is not trusted in a process of its own, in a jail where there is one.

With bubblewrap: no network, a read-only system, an empty /tmp, no other processes, no capabilities,
and of the user's files only Python code that is named or can be imported, no data. Without it
(macOS, locked-down containers): a plain child process with limits, on Linux also of its system
calls, which can read and write what this account can; answers say so.

A child answers with bytes, of a stated length, which are read up to a limit and never unpickled.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import liptest
from liptest.errors import MechanismError
from liptest.runs.cgroups import own_group
from liptest.runs.seccomp import end_with_parent, refuse_calls

#: Most bytes of an answer.
MOST_BYTES = 1 << 26
#: Most seconds of an analysis that is given no limit.
MOST_SECONDS = 3600.0
_HEADER = 16
_MEMORY = 8 << 30
_FILE = 1 << 26
_FILES = 256
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
)
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
) -> ChildReply:
    """Run ``python -m module`` with ``request`` as its input, and read its answer.

    ``readable`` are files and folders that a jail lets it read, ``hidden`` files that it must not
    see even in these.

    Raises MechanismError when there is no answer: the process ended, took too long or said too
    much.
    """
    program = find_bubblewrap()
    command = [sys.executable, "-m", module]
    words = NOT_CONFINED
    if program is not None:
        command = [program, *_jail(readable, hidden, folder), *command]
        words = CONFINED
    with own_group(_most_memory()) as group:
        try:
            content = _answer_of(
                command if group is None else group.entered_by(command),
                request,
                folder if program is None else None,
                seconds or MOST_SECONDS,
            )
        except LimitReached as error:
            limit = None if group is None else group.met_limit()
            if limit is not None and error.limit == _ENDED:
                told = f"the analysis was ended: it needs more {limit}"
                raise LimitReached(told, limit) from None
            raise
    return ChildReply(content, words)


def _answer_of(command: list[str], request: bytes, folder: Path | None, seconds: float) -> bytes:
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=_environment(),
        start_new_session=True,
    ) as child:
        try:
            return _exchange(child, request, seconds)
        finally:
            end_process(child)


def _most_memory() -> int:
    """Bytes for all of a child: as many as this process may have itself, if that is less."""
    try:
        import resource
    except ImportError:  # Windows has none of them
        return _MEMORY
    own, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _MEMORY if own == resource.RLIM_INFINITY else min(own, _MEMORY)


def start_confined(
    words: Sequence[str], *, readable: Iterable[Path] = (), memory: int, confined: bool = True
) -> subprocess.Popen[bytes]:
    """Start a program of any language, with pipes to its standard input and output.

    In a jail it sees the system, Python and what is ``readable``, at the places where they are, and
    starts in the folder that this process is in. ``memory`` are the bytes of addresses that it may
    have.
    """
    program = find_bubblewrap() if confined else None
    limited = ["/bin/sh", "-c", f'ulimit -c 0; ulimit -v {memory >> 10}; exec "$@"', "sh", *words]
    if program is not None:
        shown = [*_whole_places(), *map(Path, _OF_PROGRAMS), *Path("/etc").glob("java-*")]
        shown += [place for place in map(Path.absolute, readable) if not _is_within(place, shown)]
        inside = [program, *_BASE, *_bound(shown), "--dir", str(Path.cwd())]
        limited = [*inside, "--chdir", str(Path.cwd()), *limited]
    return subprocess.Popen(
        limited,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        start_new_session=True,
    )


def answer_with(descriptor: int, content: bytes) -> None:
    """The child's side: its whole answer, with its length first."""
    data = f"{len(content):0{_HEADER}d}".encode() + content
    while data:
        data = data[os.write(descriptor, data) :]


def limit_this_process() -> None:
    """The child's side: no core files, little memory, no process more, no network, no signal.

    Called before foreign code is loaded.
    """
    try:
        import resource
    except ImportError:  # Windows has none of them
        return
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, int(MOST_SECONDS)),
        # No process and no thread more; the superuser is bound by the filter of calls alone.
        (resource.RLIMIT_NPROC, 0),
    ]
    for which, most in limits:
        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(which)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(which, (least, least))
    end_with_parent()
    refuse_calls()


_ISOLATION = (
    *("--unshare-all", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--hostname", "jail"),
)


# Files lie in memory, which the limits of a process do not count.
_ROOM = ("--size", str(1 << 26), "--tmpfs")
_BASE = (
    *(*_ISOLATION, "--proc", "/proc", "--dev", "/dev", *_ROOM, "/dev/shm", "--remount-ro", "/dev"),
    *(*_ROOM, "/tmp"),
)
# What programs that are not Python's need of /etc.
_OF_PROGRAMS = ("/etc/alternatives",)


def _is_within(place: Path, folders: Iterable[Path]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _bound(places: Iterable[Path]) -> list[str]:
    options = []
    for place in dict.fromkeys(place.absolute() for place in places):
        options += ["--ro-bind-try", str(place), str(place)]
    return options


def _jail(readable: Iterable[Path], hidden: Iterable[Path], folder: Path | None) -> list[str]:
    wanted = [*_whole_places(), *readable]
    for place in map(Path, _import_paths()):
        wanted += code_files(place) if place.is_dir() else [place]
    # bubblewrap takes 9,000 arguments; the system and what was named come first.
    places = list(dict.fromkeys(place.absolute() for place in wanted))[:_MOST_BOUND]
    options = [*_BASE, *_bound(places)]
    for path in (file.resolve() for file in hidden):
        if path.exists() and any(path.is_relative_to(place) for place in places):
            options += ["--ro-bind", "/dev/null", str(path)]
    start = "/" if folder is None else str(folder.absolute())
    return [*options, "--remount-ro", "/", "--chdir", start]


def code_files(folder: Path) -> list[Path]:
    """The Python files below a folder, and no data: what a jail shows of it.

    Hidden folders and environments are passed over, and so is what lies beyond the first thousands.
    """
    if any(folder.is_relative_to(place) for place in _whole_places()):
        return []
    found: list[Path] = []
    for seen, (place, folders, files) in enumerate(os.walk(folder)):
        folders[:] = sorted(one for one in folders if one[0] not in "._" and one not in _NO_CODE)
        found += [Path(place, one) for one in sorted(files) if one.endswith(_CODE)]
        if seen > _MOST_FOLDERS or len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


_CODE = (".py", ".so")
_NO_CODE = {"node_modules", "site-packages", "venv", "env", "build", "dist"}
_MOST_FOLDERS = 2_000
_MOST_FILES = 4_000
_MOST_BOUND = 2_900


def _whole_places() -> list[Path]:
    """The system, Python and its packages, and this package."""
    named = [*_SYSTEM, sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"]]
    return [Path(place).absolute() for place in named] + [Path(liptest.__file__).parent]


def _import_paths() -> Sequence[str]:
    return [str(Path(place).absolute()) for place in sys.path if place and Path(place).exists()]


def _environment() -> dict[str, str]:
    """Nothing of the operator's but what Python needs."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(_import_paths()),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _exchange(child: subprocess.Popen[bytes], request: bytes, seconds: float) -> bytes:
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(BrokenPipeError):
        child.stdin.write(request)
        child.stdin.close()
    reader = _Reader(child.stdout.fileno(), time.monotonic() + seconds)
    header = reader.read(_HEADER)
    if not header.isdigit() or int(header) > MOST_BYTES:
        raise LimitReached(
            f"the analysis gave no answer, or one of more than {MOST_BYTES >> 20} MiB; nothing was "
            f"decided",
            "output",
        )
    return reader.read(int(header))


@dataclass
class _Reader:
    descriptor: int
    deadline: float

    def read(self, count: int) -> bytes:
        found = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self.descriptor, selectors.EVENT_READ)
            while len(found) < count:
                if not selector.select(max(0.0, self.deadline - time.monotonic())):
                    raise LimitReached("the analysis took too long and was ended", "time")
                part = os.read(self.descriptor, min(count - len(found), 1 << 20))
                if not part:
                    raise LimitReached(
                        "the analysis ended without an answer: the code ended its process, or "
                        "needed more than it may have",
                        _ENDED,
                    )
                found += part
        return bytes(found)


def end_process(child: subprocess.Popen[Any]) -> None:
    """The process and all that it started in its session."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
