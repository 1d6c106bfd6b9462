"""A control group for a child that runs foreign code (Linux, cgroup v2), where one can be made.

Limits of a process count for each process alone, and those of processes do not bind the superuser.
A group counts what all of them use together, files in memory too, and ends them all at once,
whatever session they are in. It needs a group that was delegated to this account, with processes in
a group below or beside only, as ``systemd-run --user -p Delegate=yes -p DelegateSubgroup=main``
makes it.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Processes and threads of one child: the jail, its Python and what libraries start on import.
MOST_PROCESSES = 64
IN_GROUP = "control group (cgroup v2): memory and processes are limited for all of a child together"
NO_GROUP = (
    "no control group (cgroup v2 is not delegated to this account): limits of each process alone"
)
_MOUNTED = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_NEEDED = {"memory", "pids"}


@dataclass(frozen=True)
class ControlGroup:
    """One group, which lasts as long as one child."""

    place: Path

    @classmethod
    def make(cls, parent: Path, memory: int) -> ControlGroup:
        """A new group with limits; OSError where it cannot be made."""
        made = cls(parent / f"liptest-{os.getpid()}-{secrets.token_hex(4)}")
        made.place.mkdir()
        try:
            for name, value in (("memory.max", memory), ("pids.max", MOST_PROCESSES)):
                (made.place / name).write_text(f"{value}\n")
            for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
                # Not in all kernels; without them a limit is met later, or by one process.
                with suppress(OSError):
                    (made.place / name).write_text(f"{value}\n")
        except OSError:
            made.end()
            raise
        return made

    def entered_by(self, command: list[str]) -> list[str]:
        """The command, begun by a shell that joins the group before there is another process."""
        joining = 'echo $$ > "$0" && exec "$@"'
        return ["/bin/sh", "-c", joining, str(self.place / "cgroup.procs"), *command]

    def met_limit(self) -> str | None:
        """The limit that was met, if one was: of memory, or of processes."""
        for name, event, limit in (
            ("memory.events", "oom_kill", "memory"),
            ("pids.events", "max", "processes"),
        ):
            with suppress(OSError, ValueError):
                lines = dict(line.split() for line in (self.place / name).read_text().splitlines())
                if int(lines.get(event, "0")) > 0:
                    return limit
        return None

    def end(self) -> None:
        """End all that is in it, and forget it."""
        with suppress(OSError):
            (self.place / "cgroup.kill").write_text("1\n")
        for _ in range(100):
            with suppress(OSError):
                self.place.rmdir()
            if not self.place.exists():
                return
            time.sleep(0.01)


@contextmanager
def own_group(memory: int) -> Iterator[ControlGroup | None]:
    """A group for one child, which is ended with the block; None where none can be made."""
    parent = find_parent()
    group = None
    if parent is not None:
        with suppress(OSError):
            group = ControlGroup.make(parent, memory)
    try:
        yield group
    finally:
        if group is not None:
            group.end()


@cache
def find_parent() -> Path | None:
    """The group that groups can be made in: that of this process, or the one above it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        lines = _OWN.read_text().splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::/")), None)
    if own is None:
        return None
    here = _MOUNTED / own.lstrip("/")
    parent = next((place for place in (here, here.parent) if can_limit(place)), None)
    if parent is not None:
        forget_stale(parent)
    return parent


def forget_stale(parent: Path) -> None:
    """Remove groups of processes that ended before they could: what was in them ended with them."""
    for place in parent.glob("liptest-*-*"):
        owner = place.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            ControlGroup(place).end()


def can_limit(parent: Path) -> bool:
    """Whether groups below it can have limits of memory and processes; tried, not guessed."""
    try:
        if not set((parent / "cgroup.controllers").read_text().split()) >= _NEEDED:
            return False
        given = parent / "cgroup.subtree_control"
        if not set(given.read_text().split()) >= _NEEDED:
            given.write_text("+memory +pids\n")
        ControlGroup.make(parent, 1 << 30).end()
    except OSError:
        return False
    return os.access(parent / "cgroup.procs", os.W_OK)


def describe_group() -> str:
    """Whether children have groups of their own on this machine."""
    return NO_GROUP if find_parent() is None else IN_GROUP
