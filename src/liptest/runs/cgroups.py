"""A control group for a child that runs foreign code (Linux), where one can be made.

Limits of a process count for each process alone, and those of processes do not bind the superuser.
A group counts what all of them use together, files in memory too, and ends them all at once,
whatever session they are in. With cgroup v2 it needs a group that was delegated to this account,
with processes in a group below or beside only, as ``systemd-run --user -p Delegate=yes
-p DelegateSubgroup=main`` makes it. Where memory and processes are controlled by cgroup v1, each
has a tree of its own, and the superuser makes a group in both.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

#: Processes and threads of one child: the jail, its Python and what libraries start on import.
#: Each worker beside the first adds one.
MOST_PROCESSES = 64
IN_GROUP = "control group (cgroup): memory and processes are limited for all of a child together"
NO_GROUP = "no control group (none can be made by this account): limits of each process alone"
_MOUNTED = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_PROCESSES = "cgroup.procs"
#: Folders that groups are made in: of memory and of processes, which are one with cgroup v2.
Parents: TypeAlias = tuple[Path, Path]


@dataclass(frozen=True)
class _Files:
    """How a version of control groups names its limits, and where it tells that they were met."""

    memory: str
    processes: str
    #: Limits that not all kernels have: without them a limit is met later, or by one process.
    more: tuple[tuple[str, int | None], ...]
    memory_met: tuple[str, str]
    processes_met: tuple[str, str] = ("pids.events", "max")


# In ``more`` None stands for the limit of memory.
_V1 = _Files(
    "memory.limit_in_bytes",
    "pids.max",
    (("memory.memsw.limit_in_bytes", None),),
    ("memory.oom_control", "oom_kill"),
)
_V2 = _Files(
    "memory.max",
    "pids.max",
    (("memory.swap.max", 0), ("memory.oom.group", 1)),
    ("memory.events", "oom_kill"),
)


@dataclass(frozen=True)
class ControlGroup:
    """One group, which lasts as long as one child: of memory and of processes."""

    memory: Path
    processes: Path

    @classmethod
    def make(cls, parents: Parents, memory: int, workers: int = 1) -> ControlGroup:
        """A new group with limits, of ``memory`` bytes; OSError where it cannot be made."""
        name = f"liptest-{os.getpid()}-{secrets.token_hex(4)}"
        group = cls(parents[0] / name, parents[1] / name)
        files = group._files
        try:
            for place in group._places:
                place.mkdir()
            (group.memory / files.memory).write_text(f"{memory}\n")
            (group.processes / files.processes).write_text(f"{MOST_PROCESSES + workers - 1}\n")
            for more, value in files.more:
                with suppress(OSError):
                    (group.memory / more).write_text(f"{memory if value is None else value}\n")
        except OSError:
            group.end()
            raise
        return group

    @property
    def _places(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((self.memory, self.processes)))

    @property
    def _files(self) -> _Files:
        return _V2 if self.memory == self.processes else _V1

    def enter_by(self, command: list[str]) -> list[str]:
        """The command, begun by a shell that joins the group before there is another process."""
        joining = 'echo $$ > "$0" && echo $$ > "$1" && shift && exec "$@"'
        places = (str(place / _PROCESSES) for place in (self.memory, self.processes))
        return ["/bin/sh", "-c", joining, *places, *command]

    def met_limit(self) -> str | None:
        """The limit that was met, if one was: of memory, or of processes."""
        for place, (name, event), limit in (
            (self.memory, self._files.memory_met, "memory"),
            (self.processes, self._files.processes_met, "processes"),
        ):
            with suppress(OSError, ValueError):
                lines = dict(line.split() for line in (place / name).read_text().splitlines())
                if int(lines.get(event, "0")) > 0:
                    return limit
        return None

    def end(self) -> None:
        """End all that is in it, and forget it."""
        for _ in range(100):
            for place in self._places:
                _end_processes(place)
                with suppress(OSError):
                    place.rmdir()
            if not any(place.exists() for place in self._places):
                return
            time.sleep(0.01)


def _end_processes(place: Path) -> None:
    """Kill all processes of a group: at once with cgroup v2, one by one before it."""
    everything = place / "cgroup.kill"
    with suppress(OSError, ValueError):
        if everything.exists():
            everything.write_text("1\n")
            return
        stopped = place / _V1.processes
        if stopped.exists():
            stopped.write_text("0\n")  # none of them can start another one meanwhile
        for process in (place / _PROCESSES).read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)


@contextmanager
def own_group(memory: int, workers: int = 1) -> Iterator[ControlGroup | None]:
    """A group for one child and its workers, which is ended with the block.

    None where none can be made.
    """
    parents = find_parents()
    group = None
    if parents is not None:
        with suppress(OSError):
            group = ControlGroup.make(parents, memory, workers)
    try:
        yield group
    finally:
        if group is not None:
            group.end()


@cache
def find_parents() -> Parents | None:
    """What groups can be made in: the groups of this process, or those above them."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        lines = [line.split(":", 2) for line in _OWN.read_text().splitlines()]
    except OSError:
        return None
    own = {name: path.lstrip("/") for _, names, path in lines for name in names.split(",")}
    found = _parents_of_v2(own) or _parents_of_v1(own)
    for parent in set(found or ()):
        forget_stale(parent)
    return found


def _parents_of_v2(own: dict[str, str]) -> Parents | None:
    if "" not in own:
        return None
    here = _MOUNTED / own[""]
    places = ((place, place) for place in (here, here.parent) if _gives_both(place))
    return next(filter(can_limit, places), None)


def _parents_of_v1(own: dict[str, str]) -> Parents | None:
    if not {"memory", "pids"} <= set(own):
        return None
    parents = _MOUNTED / "memory" / own["memory"], _MOUNTED / "pids" / own["pids"]
    return parents if can_limit(parents) else None


def forget_stale(parent: Path) -> None:
    """Remove groups of processes that ended before they could: what was in them ended with them."""
    for place in parent.glob("liptest-*-*"):
        owner = place.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            ControlGroup(place, place).end()


def _gives_both(place: Path) -> bool:
    """Whether groups below this one of cgroup v2 may have limits of memory and of processes."""
    needed = {"memory", "pids"}
    given = place / "cgroup.subtree_control"
    with suppress(OSError):
        if set((place / "cgroup.controllers").read_text().split()) >= needed:
            if not set(given.read_text().split()) >= needed:
                given.write_text("+memory +pids\n")
            return True
    return False


def can_limit(parents: Parents) -> bool:
    """Whether groups in these folders can have limits; tried, not guessed."""
    try:
        ControlGroup.make(parents, 1 << 30).end()
    except OSError:
        return False
    return all(os.access(parent / _PROCESSES, os.W_OK) for parent in parents)


def describe_group() -> str:
    """Whether children have groups of their own on this machine."""
    return NO_GROUP if find_parents() is None else IN_GROUP
