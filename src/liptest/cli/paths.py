"""Files that a command reads and writes, looked at before anything runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from liptest.errors import InputError, quote

#: Options that name a file which is written.
OUTPUTS = ("json", "html", "junit", "sarif", "output")


def check_paths(options: Mapping[str, Any], *, inputs: Iterable[Path | None]) -> None:
    """Raise InputError where a file cannot be written, or two options name one file.

    ``inputs`` are files that are read: none of them is written over.
    """
    named: dict[Path, str] = {}
    for path in inputs:
        if path is not None:
            named.setdefault(_resolve(path, "an input"), "what is read")
    for option in (*OUTPUTS, "ledger", "checkpoint"):
        path = options.get(option)
        if path is None:
            continue
        check_writable(path, f"--{option}")
        full = _resolve(path, f"--{option}")
        if full in named and not _is_device(full):
            raise InputError(
                f"--{option} {path}: {named[full]} has this file already; name another one",
                name=option,
            )
        named[full] = f"--{option}"


def check_writable(path: Path, option: str) -> None:
    """Raise InputError where a file cannot be written, as far as that can be seen."""
    try:
        if path.is_dir():
            raise InputError(f"{option} {path}: it is a folder; name a file in it")
        folder = path.resolve().parent
        if not folder.is_dir():
            raise InputError(f"{option} {path}: there is no folder {folder}; make it first")
        # One that is there is replaced or added to, one that is not is made in the folder.
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise InputError(f"{option} {path}: it cannot be written (permission denied)")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{option} {quote(str(path))}: {_reason(error)}") from None


def check_readable(path: Path) -> None:
    """Raise InputError where the private table is not there, or unreadable; nothing is read."""
    try:
        if not path.exists():
            raise InputError(f"--private {path}: there is no such file")
        if path.is_dir():
            raise InputError(f"--private {path}: it is a folder; name a file")
        if not os.access(path, os.R_OK):
            raise InputError(f"--private {path}: it cannot be read (permission denied)")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--private {quote(str(path))}: {_reason(error)}") from None


def list_files(options: Mapping[str, Any]) -> list[Path | None]:
    """The files that options of a command read: code, configuration, tables, private data."""
    data = options.get("data")
    law = data.get("distribution", {}) if isinstance(data, dict) else {}
    where = options.get("mechanism") or options.get("sampler") or options.get("function") or ""
    code = where.rpartition(":")[0] if ".py:" in where else where
    files = [law.get("table"), law.get("records"), options.get("config"), options.get("private")]
    return [*files, Path(code) if code.endswith((".py", ".npy")) else None]


def _resolve(path: Path, option: str) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{option} {quote(str(path))}: {_reason(error)}") from None


def _is_device(path: Path) -> bool:
    """As /dev/null, which any number of options may name."""
    return path.exists() and not path.is_file()


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
