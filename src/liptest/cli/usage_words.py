"""What is said of a command line that cannot be read, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from liptest.cli.lines import as_line
from liptest.cli.usage_examples import TABLES, functions_of_file
from liptest.errors import meant_number

#: Options as other programs call them.
_OTHER_NAMES = {
    **dict.fromkeys(("-e", "--budget-epsilon"), "--epsilon"),
    **dict.fromkeys(("-d",), "--delta"),
    **dict.fromkeys(("-n", "-r", "--n", "--size", "--count", "--people"), "--records"),
    **dict.fromkeys(("--data", "--csv", "--file", "--input", "--dataset", "-f"), "--table"),
    **dict.fromkeys(("-o", "--out"), "--output"),
    **dict.fromkeys(("-v", "-V"), "--version"),
}


def say_of_usage(error: CycloptsError, typed: Sequence[str]) -> str:
    """One line about bad usage that says what to write, where that can be told."""
    if isinstance(error, UnusedCliTokensError):
        left = [str(word) for word in error.unused_tokens or ()]
        return _of_too_much(left, typed)
    if isinstance(error, UnknownCommandError):
        return _of_no_command(error, typed)
    if isinstance(error, UnknownOptionError):
        return _of_no_option(error)
    if isinstance(error, MissingArgumentError) and error.keyword:
        return f"{error.keyword} needs a value after it"
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        return f"{error.argument.name} is missing"
    if isinstance(error, CoercionError) and error.token is not None and "float" in str(error):
        value, option = error.token.value, error.token.keyword
        return f"{option or 'value'}={value!r} must be a number{meant_number(value)}"
    return as_line(error).replace(", ...", ", ..")


def _of_too_much(left: list[str], typed: Sequence[str]) -> str:
    words = f"{' '.join(left)!r} is too much: one mechanism, then options; "
    pairs = [word.partition("=") for word in left]
    if all(name.isidentifier() and value for name, _, value in pairs):
        return words + "write " + " ".join(f"--{name} {value}" for name, _, value in pairs)
    if left[0].lower().endswith(TABLES):
        return words + f"a public table is named by --table {left[0]}"
    file = next((word for word in typed if word.endswith(".py")), None)
    if file is not None and left[0] in functions_of_file(Path(file)):
        return words + f"write {file}:{left[0]}"
    return words + "quote a value with spaces"


def _of_no_command(error: UnknownCommandError, typed: Sequence[str]) -> str:
    word = str((error.unused_tokens or [""])[0])
    if word.startswith("-"):
        meant = _OTHER_NAMES.get(word)
        return f"Unknown option: {word}" + (f". Did you mean {meant}?" if meant else "")
    if f"--{word}" in ("--version", "--help"):
        return f"Unknown command {word!r}; write liptest --{word}"
    if word == typed[0] and (":" in word or word.endswith(".py")):
        return f"{word!r} is not a command; write liptest check {word}"
    words = as_line(error).replace(", ...", ", ..")
    return re.sub(r"(Did you mean .*\?) Available commands: .*", r"\1", words)


def _of_no_option(error: UnknownOptionError) -> str:
    word = (error.token.keyword or error.token.value).partition("=")[0]
    meant = _OTHER_NAMES.get(word)
    known = [name for one in error.argument_collection if one.parse for name in one.names]
    if meant in known:
        return f"Unknown option: {word}. Did you mean {meant}?"
    return as_line(error).replace(", ...", ", ..")
