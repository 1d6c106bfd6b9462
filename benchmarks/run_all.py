"""Run every benchmark, each in a process of its own, and print their tables.

``python benchmarks/run_all.py`` takes about eight minutes of one core, with ``--quick`` a few
seconds (tiny sizes: the counts are checked, no figure is). Exits 1 when a script fails.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = (
    "startup.py",
    "sampler.py",
    "exhaustive.py",
    "neighbourhoods.py",
    "methods_cost.py",
    "replay.py",
    "randomised_response.py",
    "routes.py",
    "black_box.py",
    "published_suite.py",
    "search.py",
    "profile_bands.py",
    "executors.py",
)


def main() -> int:
    commands = [[script, *sys.argv[1:]] for script in SCRIPTS]
    if "--quick" not in sys.argv:
        commands.append(["exact_distance.py"])
    codes = [run(HERE / script, arguments) for script, *arguments in commands]
    return int(any(codes))


def run(script: Path, arguments: list[str]) -> int:
    print(f"\n== {script.name}", flush=True)
    return subprocess.run([sys.executable, str(script), *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
