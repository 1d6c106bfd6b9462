"""Checkpoint files of ``liptest check``: which check has which, how to go on, when they go."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from liptest.errors import InputError
from liptest.report.findings import Outcome
from liptest.report.text import Screen


def checkpoint_files(options: dict[str, Any], checks: int) -> list[Path | None]:
    """The file of each check; of several checks each has one of its own, ``FILE-2`` and so on.

    Raises InputError when a run would overwrite one, or when there is none to go on with.
    """
    given: Path | None = options["checkpoint"]
    if given is None:
        if options["resume"]:
            raise InputError("resume: say which file; give --checkpoint FILE", name="resume")
        return [None] * checks
    files = [given] if checks == 1 else [_numbered(given, n) for n in range(1, checks + 1)]
    there = [file for file in files if file.exists()]
    if there and not options["resume"]:
        raise InputError(
            f"checkpoint={str(there[0])!r} is there already; add --resume to go on with it, or "
            f"remove it to begin again",
            name="checkpoint",
        )
    if options["resume"] and not there:
        raise InputError(
            f"checkpoint={str(files[0])!r}: there is no such file to go on with; leave --resume "
            f"away to begin",
            name="checkpoint",
        )
    return [*files]


def _numbered(file: Path, number: int) -> Path:
    return file.with_name(f"{file.stem}-{number}{file.suffix}")


def was_interrupted(outcome: Outcome) -> bool:
    """Whether a check was cut off, also by a KeyboardInterrupt of the code under test."""
    found = outcome.certificate
    return found is not None and found.verdict.reason.startswith("interrupted")


def say_how_to_go_on(screen: Screen, files: list[Path | None], typed: list[str]) -> None:
    """What to type when not everything was done or written down; nothing where no file is."""
    there = [str(file) for file in files if file is not None and file.exists()]
    if not there:
        return
    # A full disk may have kept the last chunks out.
    kept = ", ".join(there)
    screen.paragraph(f"Kept in {kept}: what was done when it was written last. To go on from it:")
    screen.command(shlex.join(["liptest", *typed, *(["--resume"] * ("--resume" not in typed))]))


def remove(files: list[Path | None]) -> None:
    """After the last answer was written down."""
    for file in files:
        if file is not None:
            with suppress(OSError):
                file.unlink(missing_ok=True)
