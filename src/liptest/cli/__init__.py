"""The entry of the command line. Nothing is imported before Ctrl-C is looked after."""

from __future__ import annotations

import sys

DEBUG = "--debug"
#: The exit code of a fault of liptest itself (EX_SOFTWARE of sysexits.h).
INTERNAL = 70
_LONGEST = 400
#: What was typed, so that a command can say how to go on.
typed: list[str] = []


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; used by the ``liptest`` script.

    Exit codes are those of ``liptest.cli.app``; 130 after Ctrl-C, 70 after a fault of liptest
    itself, whose traceback ``--debug`` shows.
    """
    given = sys.argv[1:] if arguments is None else arguments
    # An option of no command in particular, so that it also tells of what fails before any.
    is_debugged = DEBUG in given
    typed[:] = [word for word in given if word != DEBUG]
    try:
        from liptest.cli.app import run_command as run

        return run(typed)
    except KeyboardInterrupt:
        print("error: interrupted before anything was decided", file=sys.stderr)
        return 130
    except Exception as error:
        return _tell_internal(error, is_debugged)


def _tell_internal(error: Exception, is_debugged: bool) -> int:
    """One line about a fault of liptest itself; its exit code is not a verdict's."""
    if is_debugged:
        import traceback

        traceback.print_exception(error)
    try:
        words = " ".join(str(error).split())
    except Exception:
        words = ""
    if isinstance(error, MemoryError) and not words:
        words = "this machine has too little memory for it; ask for fewer records"
    line = f"error: internal error, nothing was decided: {type(error).__name__}: {words}"[:_LONGEST]
    line += "" if is_debugged else f" (add {DEBUG} for the traceback)"
    print(line.encode("ascii", "backslashreplace").decode(), file=sys.stderr)
    return INTERNAL
