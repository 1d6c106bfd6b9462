"""Words of errors and warnings as one line."""

from __future__ import annotations

from typing import Any


def as_line(words: object) -> str:
    """A text, or that of an error, as one line."""
    return " ".join(str(words).split())


def warning_line(message: Warning | str, *_: object, **__: object) -> str:
    """One line: where in liptest it was raised tells a user nothing."""
    return f"warning: {as_line(message)}\n"


def plain_line(text: Any) -> str:
    """One printable line of at most 2,000 characters: no control sequences reach a terminal."""
    if type(text) is not str:
        raise ValueError("no text")
    return "".join(letter if letter.isprintable() else " " for letter in text[:2000])
