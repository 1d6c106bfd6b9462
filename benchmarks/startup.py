"""How long ``import liptest`` and ``liptest --help`` take in a fresh process.

The baseline is ``python -c pass``. CPU seconds of the child, not wall clock.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from figures import SECONDS, Figure, Row, fresh_process, medians, report

REPETITIONS = 15
HELP = "import sys; from liptest.cli import main; sys.exit(main())"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import liptest": ["-c", "import liptest"],
    "import liptest, use check_privacy": ["-c", "import liptest; liptest.check_privacy"],
    "liptest --help": ["-c", HELP, "--help"],
}
TARGETS = {"import liptest": 0.3, "liptest --help": 0.4}
HEAVY = ("numpy", "flint", "rich", "cyclopts", "pydantic", "scipy")


def child_seconds(arguments: list[str]) -> float:
    """CPU seconds of a Python process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def heavy_modules() -> dict[str, int]:
    """Packages of consequence that ``import liptest`` loads: none."""
    code = f"import json, sys, liptest; print(json.dumps({{m: m in sys.modules for m in {HEAVY}}}))"
    return {"heavy modules": sum(fresh_process("-c", code).values())}


def measure(quick: bool) -> list[Row]:
    cost = medians(
        1 if quick else REPETITIONS,
        lambda: {name: child_seconds(arguments) for name, arguments in COMMANDS.items()},
    )
    rows = []
    for name, seconds in cost.items():
        counts = heavy_modules() if name == "import liptest" else {}
        figures = {
            SECONDS: Figure(seconds, at_most=TARGETS.get(name)),
            "less the baseline": Figure(seconds - cost["python -c pass"]),
        }
        rows.append(Row(name, counts, dict.fromkeys(counts, 0), figures))
    return rows


if __name__ == "__main__":
    report("Start: CPU seconds of fresh processes", measure)
