"""A real PostgreSQL server in a folder of its own, for one test module.

It needs Debian's package ``postgresql`` (any version that has initdb and pg_ctl). Outside of CI a
missing server skips the tests and says so; in CI it is a failure.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

# initdb refuses to run as root.
_UNPRIVILEGED = ("postgres", "nobody")
USER = "tester"


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl: the newest that Debian installed, or the one on the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    found = [str(path) for path in debian] + [shutil.which("initdb") or ""]
    usable = [Path(name).parent for name in reversed(found) if name]
    return next((folder for folder in usable if (folder / "pg_ctl").exists()), None)


def _version(path: Path) -> float:
    try:
        return float(path.parents[1].name)
    except ValueError:
        return 0.0


@contextmanager
def running_server() -> Iterator[sa.Engine]:
    """An engine of a fresh server; it listens on a socket in its own folder, on no network."""
    folder = binaries()
    if folder is None:
        reason = "no PostgreSQL server: install Debian's package postgresql"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # The name of a socket is short by law, so no folder of pytest's.
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as name:
        home = Path(name)
        who = _as_nobody(home)
        control = [folder / "pg_ctl", "-D", home / "data", "-w", "-s"]
        _run([folder / "initdb", "-D", home / "data", "-U", USER, *_INITDB], home, who)
        settings = f"-k {home} -c listen_addresses='' -c fsync=off"
        _run([*control, "-l", home / "log", "-o", settings, "start"], home, who)
        url = sa.URL.create("postgresql+psycopg", USER, database="postgres", query={"host": name})
        engine = sa.create_engine(url)
        try:
            yield engine
        finally:
            engine.dispose()
            _run([*control, "-m", "immediate", "stop"], home, who)


_INITDB = ("-A", "trust", "-N", "--no-locale", "-E", "UTF8")


def _as_nobody(home: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(names[name] for name in _UNPRIVILEGED if name in names)
    os.chown(home, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _run(command: list[Any], home: Path, who: dict[str, Any]) -> None:
    environment = {"LC_ALL": "C", "HOME": str(home), "PATH": os.defpath}
    # A file, as the server keeps the streams of the one that starts it.
    with (home / "said").open("w+") as said:
        done = subprocess.run(
            command, cwd=home, env=environment, stdout=said, stderr=said, check=False, **who
        )
        said.seek(0)
        assert done.returncode == 0, said.read()
