"""Run every benchmark, each in a process of its own; print their tables, draw what they measured.

``python benchmarks/run_all.py`` takes about a quarter of an hour, with ``--quick`` about a minute
(tiny sizes: the counts are checked, no figure is). ``--plots FOLDER`` writes drawings there, if
matplotlib is installed. Exits 1 when a script fails: a count is not the planned one, or a figure
misses its limit by more than a factor of 3.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import plots

HERE = Path(__file__).parent
SCRIPTS = (
    "startup.py",
    "sampler.py",
    "faster_sampler.py",
    "exhaustive.py",
    "large_domains.py",
    "neighbourhoods.py",
    "methods_cost.py",
    "scaling.py",
    "sizes.py",
    "replay.py",
    "randomised_response.py",
    "routes.py",
    "black_box.py",
    "published_suite.py",
    "published_exact.py",
    "alignment.py",
    "checkdp.py",
    "recorder_peer.py",
    "dprivbench.py",
    "dprivbench_theorems.py",
    "search.py",
    "profile_bands.py",
    "executors.py",
    "fit.py",
)
# Scripts that print no rows, and have no quick mode.
TEXTS = (
    *("composition.py", "exact_distance.py", "everyday.py", "house.py", "hops.py"),
    "any_size.py",
    *("sequential.py", "discrete_gaussian.py", "tight_claims.py"),
)

# What takes an hour, or starts processes that listen.
ALONE = (
    *("compose.py", "mutants.py", "mutant_runs.py", "service.py", "service_kills.py"),
    *("compiled.py", "sequential_whole.py"),
)


def main() -> int:
    options = arguments()
    quick = ["--quick"] if options.quick else []
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    with TemporaryDirectory() as folder:
        for script in options.only or SCRIPTS:
            file = Path(folder) / f"{script}.json"
            if run(script, [*quick, f"--rows={file}"]) != 0:
                failed.append(script)
            rows += json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    if not options.quick and not options.only:
        failed += [script for script in TEXTS if run(script, []) != 0]
    if options.plots is not None:
        files = plots.draw(rows, options.plots)
        print("", *(files or [plots.MISSING]), sep="\n")
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nevery count is the planned one")
    return int(bool(failed))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="write drawings there")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, metavar="SCRIPT", help="only these")
    return parser.parse_args()


def run(script: str, options: list[str]) -> int:
    print(f"\n== {script}", flush=True)
    return subprocess.run([sys.executable, str(HERE / script), *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
