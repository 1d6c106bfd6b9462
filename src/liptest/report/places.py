"""Names of files as reports write them: relative to the folder of the project, with slashes."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def relative_place(file: Path, root: Path | None = None) -> str | None:
    """The file seen from ``root`` (default: the current folder); None when it lies elsewhere."""
    start = (root or Path.cwd()).resolve()
    full = (start / file).resolve()
    return full.relative_to(start).as_posix() if full.is_relative_to(start) else None


def relative_uri(file: Path, root: Path | None = None) -> str | None:
    """As ``relative_place``, as a URI reference."""
    place = relative_place(file, root)
    return None if place is None else quote(place)
