"""Which line of the program under analysis asks: refusals name it."""

from __future__ import annotations

import inspect
import linecache
import os
import random
import re
import secrets
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FrameType

import numpy as np

_PACKAGE = Path(__file__).resolve().parents[1]
# Frames of these are not the program's own.
_OURS = (
    *(f"{_PACKAGE / room}{os.sep}" for room in ("values", "enumerate")),
    os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
    *(
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(np.__file__))), name) + os.sep
        for name in ("pandas", "polars")
    ),
    *(os.path.abspath(inspect.getfile(module)) for module in (random, secrets)),
)
# Of Python itself, which the program calls, as in statistics.NormalDist().inv_cdf(rng.random()).
_PYTHON = (os.path.dirname(os.path.abspath(os.__file__)) + os.sep, "<frozen ")
# A refusal of a line that starts so, see ``line_in_words``.
_PRINTING = re.compile(r":\d+: (print|log|logger|logging|_log|_logger)\b[.(]")
_OF_PRINTING = "leave that line out: it only prints, and what counts is what the function returns"
_PACKAGES = re.compile(r"(?:site|dist)-packages[/\\]")
# What calls the program: further out nothing is the program's own.
_CALLER = str(_PACKAGE / "enumerate" / "trees" / "running.py")


def find_asking_line(frame: FrameType | None) -> str:
    """File, line and text of the program's own code that called a frame.

    Where an installed package asks, it is the line that called the package, and then the package's.
    """
    file, line = find_place(frame)
    if not is_of_packages(file):
        return line_in_words(file, line)
    caller, called = find_place(frame, is_inside=is_of_packages)
    if not caller:
        return line_in_words(file, line)
    inside = _PACKAGES.split(file)[-1].replace(os.sep, "/")
    return f"{line_in_words(caller, called)}, in {inside}:{line}"


def find_place(
    frame: FrameType | None, *, is_inside: Callable[[str], bool] = lambda file: False
) -> tuple[str, int]:
    """File and line of the program's own code that called a frame; "" and 0 for none.

    ``is_inside``: files that are passed over.
    """
    within = ("", 0)
    while frame is not None and frame.f_code.co_filename != _CALLER:
        file = frame.f_code.co_filename
        if not is_ours(file) and not is_inside(file):
            if not is_of_python(file):
                return file, frame.f_lineno
            within = within if within[0] else (file, frame.f_lineno)
        frame = frame.f_back
    return within


@lru_cache(maxsize=1 << 12)
def is_ours(file: str) -> bool:
    """Whether a file stands between a program and its values: never the program's own."""
    return file.startswith(_OURS)


def is_of_python(file: str) -> bool:
    """Whether a file is of Python's own modules."""
    return file.startswith(_PYTHON) and not is_of_packages(file)


def is_of_packages(file: str) -> bool:
    """Whether a file is in a folder that installed packages are in."""
    return "site-packages" in file or "dist-packages" in file


def line_in_words(name: str, line: int) -> str:
    """A line of a file with its text; nothing for no file."""
    if not name:
        return ""
    text = linecache.getline(name, line).strip()
    file = "notebook cell" if "ipykernel" in name else Path(name).name
    return f"{file}:{line}: {text}".rstrip(": ")


def advice_on(what: str, advice: str) -> str:
    """What to write instead of what is not followed, given in words that end with its line."""
    return _OF_PRINTING if _PRINTING.search(what) else advice
