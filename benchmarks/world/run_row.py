"""Run one row in this environment: ``python -m benchmarks.world.run_row NAME VERSION``."""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version

from benchmarks.world.board import ROWS
from benchmarks.world.rows import answer
from liptest.errors import LiptestError


def main(name: str, pinned: str) -> None:
    warnings.simplefilter("ignore")
    row = next(row for row in ROWS if row.name == name)
    installed = version(row.library)
    if installed != pinned:
        raise SystemExit(f"{row.library} {installed} is installed, {pinned} is asked for")
    try:
        found = answer(row, pinned)
    except LiptestError as refusal:
        found = {
            "verdict": "REFUSED",
            "by": "none",
            "epsilon": None,
            "reason": str(refusal).splitlines()[0][:300],
            "seconds": 0.0,
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
