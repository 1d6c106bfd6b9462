"""``python -m paper``: every claim, what it was checked on and what came out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from liptest.errors import LiptestError, check_open_unit
from liptest.report.text import Screen, columns_text
from paper import CHECKS, ClaimRow


def run(screen: Screen, share: float, path: Path | None) -> int:
    """Print all rows; 0 when every one is as documented, else 1. InputError: a wrong share."""
    if share != 1:
        check_open_unit("share", share)
    rows: list[ClaimRow] = []
    with screen.progress("claims") as progress:
        for number, check in enumerate(CHECKS):
            rows += check(share)
            if progress is not None:
                progress(number + 1, len(CHECKS))
    header = ("claim", "checked on", "result", "holds")
    cells = [(row.claim, row.checked_on, row.result, _holds(row)) for row in rows]
    screen.paragraph(columns_text(header, cells, spaced=True))
    wrong = [row.claim for row in rows if not row.as_expected]
    screen.paragraph(
        "Not as documented: " + "; ".join(wrong)
        if wrong
        else f"All {len(rows)} rows are as docs/paper.md says."
    )
    if path is not None:
        _write(path, rows)
    return 1 if wrong else 0


def _write(path: Path, rows: list[ClaimRow]) -> None:
    try:
        path.write_text(json.dumps([row.to_dict() for row in rows], indent=1) + "\n", "utf-8")
    except OSError as error:
        # The rows are on the screen already; a full disk must not lose the exit code.
        print(f"error: --json {path}: {error.strerror}", file=sys.stderr)


def _holds(row: ClaimRow) -> str:
    if row.as_expected:
        return "yes" if row.holds else "no, as known"
    return "YES, unexpectedly" if row.holds else "NO, unexpectedly"


def main(arguments: list[str]) -> int:
    """The exit code: 0 as documented, 1 not, 2 for arguments that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="Part of the cases, up to 1.")
    parser.add_argument("--json", type=Path, help="Write the rows to this file.")
    options = parser.parse_args(arguments)
    screen = Screen()
    try:
        return run(screen, options.share, options.json)
    except LiptestError as error:
        return screen.error(error, 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
