"""Control groups: a folder stands for one that was delegated; what the kernel does is tried too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from liptest.runs import cgroups, jail
from liptest.runs.cgroups import ControlGroup, can_limit, describe_group, find_parents, own_group


@pytest.fixture
def delegated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files of a group, below which folders can be made."""
    unit = tmp_path / "fs" / "user.slice" / "liptest.service"
    (unit / "main").mkdir(parents=True)
    for place in (unit, unit / "main"):
        (place / "cgroup.controllers").write_text("cpu memory pids\n")
        (place / "cgroup.procs").write_text("")
    (unit / "cgroup.subtree_control").write_text("memory pids\n")
    own = tmp_path / "own"
    own.write_text("1:cpu:/\n0::/user.slice/liptest.service/main\n")
    monkeypatch.setattr(cgroups, "_MOUNTED", tmp_path / "fs")
    monkeypatch.setattr(cgroups, "_OWN", own)
    # A kernel forgets a group with its files.
    monkeypatch.setattr(ControlGroup, "end", lambda self: ended.append(read(self.memory)))
    ended.clear()
    find_parents.cache_clear()
    yield unit
    find_parents.cache_clear()


ended: list[dict[str, str]] = []


def read(place: Path) -> dict[str, str]:
    found = {path.name: path.read_text().strip() for path in place.iterdir()}
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    return found


def test_the_group_above_is_taken_where_the_own_has_processes(delegated: Path) -> None:
    # There is no file for it in the own one: as where the kernel refuses that it is written.
    assert find_parents() == (delegated, delegated)
    assert describe_group() == cgroups.IN_GROUP
    ended.clear()
    with own_group(1 << 20, workers=3) as group:
        assert group is not None
        assert group.memory.parent == group.processes.parent == delegated
    limits = {"memory.max": "1048576", "pids.max": "66", "memory.swap.max": "0"}
    assert [limits.items() <= one.items() for one in ended] == [True]


def test_groups_of_processes_that_are_gone_are_forgotten(delegated: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    for owner in (gone.pid, os.getpid()):
        place = delegated / f"liptest-{owner}-x"
        place.mkdir()
        (place / "owner").write_text(str(owner))
    assert find_parents() == (delegated, delegated)
    assert [one["owner"] for one in ended if "owner" in one] == [str(gone.pid)]


def test_without_what_is_needed_there_is_none(delegated: Path) -> None:
    (delegated / "cgroup.controllers").write_text("cpu pids\n")
    assert find_parents() is None
    assert describe_group() == cgroups.NO_GROUP
    with own_group(1 << 20) as group:
        assert group is None
    assert not can_limit((delegated / "nowhere",) * 2)


def test_a_child_joins_before_it_begins(delegated: Path) -> None:
    """The shell writes its own number, and is the child then; limits that it met are told."""
    group = ControlGroup(delegated, delegated)
    code = "import os; print(os.getpid())"
    command = group.enter_by([sys.executable, "-c", code])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (delegated / "cgroup.procs").read_text() == done.stdout
    assert group.met_limit() is None
    (delegated / "pids.events").write_text("max 3\n")
    assert group.met_limit() == "processes"
    (delegated / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.met_limit() == "memory"


def test_a_limit_of_the_group_is_what_is_told(
    delegated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ControlGroup, "met_limit", lambda self: "memory")
    with pytest.raises(jail.LimitReached) as caught:
        jail.run_confined("liptest.no_such_module", b"")
    assert caught.value.limit == "memory"
    assert ended[-1]["cgroup.procs"].isdigit()


def real_parent() -> Path | None:
    """A group of this machine's in which one can be made, whatever its controllers are."""
    for mounted in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        tried = mounted / "liptest-tried"
        if (mounted / "cgroup.procs").exists():
            try:
                tried.mkdir()
                there = (tried / "cgroup.kill").exists()
                tried.rmdir()
            except OSError:
                continue
            if there:
                return mounted
    return None


# Leaves its session and its parent, says so, and goes on.
LEAVES = """
import os, time
if os.fork():
    os._exit(0)
os.setsid()
print(1, flush=True)
time.sleep(99)
"""
# Says how many processes there are when there can be no more.
FORKS = """
import os, time
count = 0
try:
    for count in range(1, 500):
        if not os.fork():
            time.sleep(99)
except OSError:
    print(count, flush=True)
    time.sleep(99)
"""
ALLOCATES = "print(1, flush=True)\nlarge = bytearray(1 << 29)\nprint(2, flush=True)"


@pytest.mark.skipif(real_parent() is None, reason="no group can be made here")
def test_all_of_a_group_end_together() -> None:
    """Also a process that left its session and its parent."""
    parent = real_parent()
    assert parent is not None
    place = parent / f"liptest-test-{id(parent)}"
    place.mkdir()
    assert_all_end(ControlGroup(place, place))


def assert_all_end(group: ControlGroup, code: str = LEAVES, said: bytes = b"1\n") -> str | None:
    """What a child says before its group ends; the limit that was met."""
    command = group.enter_by([sys.executable, "-c", code])
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == said
        assert (group.memory / "cgroup.procs").read_text()
        met = group.met_limit()
        group.end()
        assert child.stdout.read() == b""
    assert not group.memory.exists()
    assert not group.processes.exists()
    return met


needs_limits = pytest.mark.skipif(find_parents() is None, reason="no group with limits here")


@needs_limits
@pytest.mark.parametrize(
    ("code", "said", "limit"),
    [(LEAVES, b"1\n", None), (FORKS, b"%d\n" % cgroups.MOST_PROCESSES, "processes")],
)
def test_processes_of_a_real_group_are_counted_and_end(
    code: str, said: bytes, limit: str | None
) -> None:
    with own_group(1 << 28) as group:
        assert group is not None
        assert assert_all_end(group, code, said) == limit


@pytest.mark.slow
@needs_limits
def test_memory_of_a_real_group_is_counted() -> None:
    with own_group(1 << 28) as group:
        assert group is not None
        command = group.enter_by([sys.executable, "-c", ALLOCATES])
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        assert done.stdout == b"1\n"
        assert group.met_limit() == "memory"
    assert not group.memory.exists()
