"""The code that a jail shows: Python files at their places, and no data beside them.

A mount for each file takes long: a thousand of them nine seconds, three thousand a minute. So files
are gathered in a folder of their own, by links where that is possible, and a jail shows its parts.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import liptest

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
_CODE = (".py", ".so")
_NO_CODE = {"node_modules", "site-packages", "venv", "env", "build", "dist"}
_MOST_FOLDERS = 2_000
_MOST_FILES = 4_000
# Files that are not copied, and mounts of single files.
_LARGE, _MOST_MOUNTS = 1 << 24, 100
# What a jail makes anew, so that nothing is shown in its place.
_MADE_ANEW = {Path(place) for place in ("/", "/tmp", "/dev", "/dev/shm", "/proc")}


def whole_places() -> list[Path]:
    """The system, Python and its packages, and this package."""
    named = [*_SYSTEM, sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"]]
    return [Path(place).absolute() for place in named] + [Path(liptest.__file__).parent]


def import_paths() -> list[str]:
    """Where this process finds modules."""
    return [str(Path(place).absolute()) for place in sys.path if place and Path(place).exists()]


def code_files(folder: Path) -> list[Path]:
    """The Python files below a folder, and no data: what a jail shows of it.

    Hidden folders and environments are passed over, and so is what lies beyond the first thousands.
    """
    if any(folder.is_relative_to(place) for place in whole_places()):
        return []
    paths: list[Path] = []
    for seen, (place, folders, files) in enumerate(os.walk(folder)):
        folders[:] = sorted(
            name for name in folders if name[0] not in "._" and name not in _NO_CODE
        )
        paths += [file for name in sorted(files) if _is_code(file := Path(place, name))]
        if seen > _MOST_FOLDERS or len(paths) > _MOST_FILES:
            break
    return paths[:_MOST_FILES]


def _is_code(file: Path) -> bool:
    """By its name; of a link also by that of the file itself, which may be data."""
    if not file.name.endswith(_CODE):
        return False
    return not file.is_symlink() or file.resolve().name.endswith(_CODE)


@contextmanager
def show_places(
    wanted: Iterable[Path], hidden: Iterable[Path], start: Path | None
) -> Iterator[list[str]]:
    """Options of bubblewrap that show the system, what is ``wanted`` and Python's import paths.

    Of import paths their Python files; none of the files and folders that are ``hidden``; and
    ``start``, the folder to begin in, maybe empty. The options hold in the block.
    """
    kept_out = list(dict.fromkeys(file.resolve() for file in hidden))
    named = [place.absolute() for place in wanted]
    for place in map(Path, import_paths()):
        named += code_files(place) if place.is_dir() else [place]
    seen = [path for path in dict.fromkeys(named) if not is_within(path.resolve(), kept_out)]
    whole = list(dict.fromkeys(whole_places()))
    gathered = [path for path in seen if _is_gathered(path) and not is_within(path, whole)]
    single = [path for path in seen if path not in set(gathered) and not is_within(path, whole)]
    roots = _roots(gathered)
    with tempfile.TemporaryDirectory(prefix="liptest-shown-") as name:
        copy = Path(name)
        for file in gathered:
            _put(file, copy)
        begin = [] if start is None else [start.absolute()]
        for place in (*whole, *single, *begin):
            if is_within(place, roots):
                _make_place(copy, place)
        options: list[str] = []
        for root in roots:
            options += ["--ro-bind", str(_inside(copy, root)), str(root)]
        for place in (*whole, *single[:_MOST_MOUNTS]):
            options += ["--ro-bind-try", str(place), str(place)]
        for place in _find_seen_in(whole, kept_out):
            if place.is_dir():
                options += ["--size", "4096", "--tmpfs", str(place), "--remount-ro", str(place)]
            else:
                options += ["--ro-bind", "/dev/null", str(place)]
        for place in begin:
            options += [] if is_within(place, (*roots, *whole)) else ["--dir", str(place)]
        yield options


def _find_seen_in(whole: Iterable[Path], kept_out: Iterable[Path]) -> list[Path]:
    """Where whole places would show what is kept out: under each name that a place has."""
    found = []
    for place in whole:
        real = place.resolve()
        found += [place / one.relative_to(real) for one in kept_out if one.is_relative_to(real)]
    return [one for one in dict.fromkeys(found) if one.exists()]


def _is_gathered(place: Path) -> bool:
    """Whether a place is a small file of code in a folder that can be shown as a whole."""
    try:
        is_small = place.is_file() and place.stat().st_size <= _LARGE
    except OSError:
        return False
    return is_small and place.name.endswith(_CODE) and place.parent not in _MADE_ANEW


def is_within(place: Path, folders: Iterable[Path]) -> bool:
    """Whether a place lies in one of these folders, or is one of them."""
    return any(place.is_relative_to(folder) for folder in folders)


def _roots(files: Iterable[Path]) -> list[Path]:
    """Few folders that hold all the files, none within another."""
    roots = _outermost({file.parent for file in files})
    while len(roots) > _MOST_MOUNTS:
        above = {root.parent if root.parent not in _MADE_ANEW else root for root in roots}
        fewer = _outermost(above)
        if len(fewer) == len(roots):
            break
        roots = fewer
    return roots


def _outermost(folders: Iterable[Path]) -> list[Path]:
    outermost: list[Path] = []
    for folder in sorted(folders):  # one that holds another comes first
        if not is_within(folder, outermost):
            outermost.append(folder)
    return outermost


def _inside(copy: Path, place: Path) -> Path:
    return copy / place.relative_to(place.anchor)


def _put(file: Path, copy: Path) -> None:
    """The file's content in the copy; one that cannot be read is left out."""
    there = _inside(copy, file)
    with suppress(OSError):
        there.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file.resolve(), there)
        except OSError:
            shutil.copyfile(file, there)


def _make_place(copy: Path, place: Path) -> None:
    """Something that the place itself can be shown on."""
    there = _inside(copy, place)
    there.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        there.mkdir(exist_ok=True)
    elif not there.exists():
        there.touch()
