"""All commands, by name; each is imported when it is used, so that --help answers at once.

Exit codes: 0 YES or released, 1 NO or refused, 2 bad usage or input, 3 INCONCLUSIVE or budget
ended, 4 the mechanism is broken. Of several checks the worst wins, in the order 4, 1, 3, 2, 0: a
broken or refuted mechanism is never masked.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Literal

from cyclopts import App, CycloptsError, Parameter

from liptest.cli.lines import as_line, warning_line

#: The module of each command, below this package or in whole, and the first sentence of its
#: docstring.
COMMANDS = {
    "demo": ("demo", "Test three vendors' click counts, and release one."),
    "check": ("check", "Test one mechanism, or all checks of a liptest.toml."),
    "release": (
        "check",
        "Test a mechanism; after a YES only, print one output on the private data.",
    ),
    "law": ("law", "Print the exact output distribution on one dataset."),
    "init": ("init", "Write a liptest.toml for a mechanism."),
    "doctor": ("doctor", "Say whether all that is installed works here."),
    "lipschitz": (
        "laboratory",
        "Test whether a function is Lipschitz.",
    ),
    "distance": (
        "laboratory",
        "Print how far a function is from Lipschitz.",
    ),
    "repair": ("laboratory", "Write a 1-Lipschitz function near the given one."),
    "plan": (
        "laboratory",
        "Print what every tester would cost.",
    ),
    "paper": (
        "laboratory",
        "Check the paper's claims on small domains.",
    ),
    "ledger": ("ledger", "Read a ledger of attempts and releases; cap a private table."),
    "verify": (
        "verify",
        "Check a certificate: compute its witness and repeat its test.",
    ),
    "sign": (
        "sign",
        "Sign a certificate, as a receipt.",
    ),
    "profile": (
        "profile",
        "Print the exception mass against epsilon.",
    ),
    "samples": (
        "samples",
        "Test a mechanism that only gives samples.",
    ),
    "serve": (
        "liptest.service.command",
        "Serve vendors who submit code, and operators who release.",
    ),
    "service": (
        "liptest.service.client",
        "Ask a running service: submit, look, release.",
    ),
}
# Commands of several parts, which say what they are in their list.
_APPS = ("ledger", "service")
_BAD_USAGE = 2


def find_module(name: str) -> str:
    """The module that a command is in, as it is imported."""
    module = COMMANDS[name][0]
    return module if "." in module else f"liptest.cli.{module}"


def _find_default(value: object) -> str | None:
    """What is shown of a default: nothing where it is not a value, or a switch that is off."""
    return None if value is False or value is None or value == () else str(value)


app = App(
    name="liptest",
    help="Tests a claim of differential privacy before the code touches the data.",
    help_epilogue="Exit codes: 0 YES or released, 1 NO or refused, 2 bad usage or input, "
    "3 INCONCLUSIVE or budget ended, 4 broken mechanism, 70 error of liptest itself (--debug "
    "shows more).",
    help_format="plaintext",
    version_flags=["--version"],
    # Ctrl-C is told of as every error is, in one line.
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(show_default=_find_default),
)


for _name, (_, _help) in COMMANDS.items():
    app.command(f"{find_module(_name)}:{_name}", name=_name, help=_help)


@app.command
def completion(shell: Literal["bash", "zsh", "fish", "powershell"], /) -> int:
    """Print a script that completes commands and options in a shell.

    Example: liptest completion bash > ~/.local/share/bash-completion/completions/liptest
    """
    print(app.generate_completion(shell=shell))
    return 0


def run_command(tokens: list[str]) -> int:
    """Run what was typed and return the exit code; bad usage ends with an example."""
    before, warnings.formatwarning = warnings.formatwarning, warning_line
    try:
        code = _run(tokens)
    finally:
        warnings.formatwarning = before
    if code == _BAD_USAGE:
        from liptest.cli.usage_examples import example_for

        print(f"Example: {example_for(tokens, COMMANDS)}", file=sys.stderr)
    return code


def _run(tokens: list[str]) -> int:
    if not tokens:
        from liptest.cli.first_contact import run_welcome

        return run_welcome()
    if tokens[0] == "help":
        tokens = [*tokens[1:], "--help"]
    if tokens[0] in COMMANDS and tokens[0] not in _APPS:
        app[tokens[0]].help = None  # its docstring says more
    _print_anything()
    try:
        answer = app(
            tokens,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        from liptest.cli.usage_words import say_of_usage

        words = say_of_usage(error, tokens)
        more = f"See {_write_help(tokens)}" if words.endswith("?") else f"see {_write_help(tokens)}"
        ended = words if words.endswith("..") else words.rstrip(".")
        joined = f"{words} {more}" if words.endswith("?") else f"{ended}; {more}"
        print(f"error: {joined}", file=sys.stderr)
        return _BAD_USAGE
    except BrokenPipeError:
        # The reader of our output has gone, as in `liptest .. | head`; nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except Exception as error:
        return _code_of_refusal(error)
    return answer if isinstance(answer, int) else 0


def _write_help(tokens: list[str]) -> str:
    return f"liptest {tokens[0]} --help" if tokens[0] in COMMANDS else "liptest --help"


def _print_anything() -> None:
    """What the terminal cannot print is escaped, and is not a reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _code_of_refusal(error: Exception) -> int:
    """The exit code of an error of liptest that a command let through; others are its faults."""
    from liptest.cli.codes import find_code
    from liptest.errors import LiptestError

    if not isinstance(error, LiptestError):
        raise error
    print(f"error: {as_line(error)}", file=sys.stderr)
    return find_code(error)
