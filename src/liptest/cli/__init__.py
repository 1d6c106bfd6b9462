"""The entry of the command line. Nothing is imported before Ctrl-C is looked after."""

from __future__ import annotations

import sys

#: What was typed, so that a command can say how to go on.
typed: list[str] = []


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; used by the ``liptest`` script.

    Exit codes are those of ``liptest.cli.app``; 130 after Ctrl-C.
    """
    try:
        from liptest.cli.app import run_command as run

        typed[:] = sys.argv[1:] if arguments is None else arguments
        return run(typed)
    except KeyboardInterrupt:
        print("error: interrupted before anything was decided", file=sys.stderr)
        return 130
