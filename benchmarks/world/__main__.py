"""The command: environments, rows that have no answer yet, the page.

``python -m benchmarks.world --folder .world`` (everything), ``--only opendp`` (names that hold the
text), ``--again`` (also rows that have an answer), ``--page`` (write the page only). It needs uv.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.world.board import ROWS, environment_of
from benchmarks.world.page import PAGE, RESULTS, read_results, write_page
from benchmarks.world.rows import Environment, Row

ROOT = Path(__file__).parents[2]
#: Libraries that took a mechanism out of a later version.
_GONE = ("smartnoise-sql",)
#: Seconds that a row may take, and an installation.
LONGEST, LONGEST_INSTALL = 300, 300


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.world")
    parser.add_argument("--folder", type=Path, default=ROOT / ".world")
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if not asked.page:
        for row in ROWS:
            for version in row.versions:
                name = f"{row.name} {version}"
                known = any(f"{r['row']} {r['version']}" == name for r in read_results())
                if asked.only in name and (asked.again or not known):
                    keep(row, version, run(row, version, asked.folder))
    write_page()
    print(PAGE.relative_to(ROOT))


def run(row: Row, version: str, folder: Path) -> dict[str, Any]:
    """The answer of one row, or why there is none."""
    environment = environment_of(row, version)
    python = folder / environment.name / "bin" / "python"
    problem = install(environment, folder / environment.name)
    if problem:
        return {"verdict": "not installable here", "by": "none", "reason": problem}
    command = [str(python), "-W", "ignore", "-m", "benchmarks.world.run_row", row.name, version]
    variables = {
        **os.environ,
        **dict(environment.variables),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return {"verdict": f"no answer in {LONGEST} s", "by": "none"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        gone = last.startswith("ImportError: cannot import name") and row.library in _GONE
        words = "not in this version" if gone else "does not run here"
        return {"verdict": words, "by": "none", "reason": re.sub(r" \(/.*", "", last)[:200]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def install(environment: Environment, where: Path) -> str:
    """Make the environment where it is not there yet; what went wrong, or nothing."""
    done_before = where / ".ok"
    if done_before.exists():
        return ""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is needed: pip install uv")
    shutil.rmtree(where, ignore_errors=True)
    python = ["--python", "3.11"]
    subprocess.run([uv, "venv", "-q", *python, str(where)], check=True)
    target = ["--python", str(where / "bin" / "python")]
    packages = [*environment.packages, str(ROOT)]
    command = [uv, "pip", "install", "-q", *target, *packages]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LONGEST_INSTALL, check=False)
    except subprocess.TimeoutExpired:
        return f"not installed in {LONGEST_INSTALL} s"
    if done.returncode:
        return "its packages cannot be installed for Python 3.11"
    done_before.touch()
    return ""


def keep(row: Row, version: str, found: dict[str, Any]) -> None:
    """Add the answer, in place of an older one; the file is whole at any time."""
    line = {"row": row.name, "version": version, **found}
    print(f"{row.name} {version}: {found['verdict']} {found.get('reason', '')}", flush=True)
    order = {
        f"{r.name} {v}": k for k, (r, v) in enumerate((r, v) for r in ROWS for v in r.versions)
    }
    others = [r for r in read_results() if (r["row"], r["version"]) != (row.name, version)]
    kept = sorted(
        [*others, line], key=lambda r: order.get(f"{r['row']} {r['version']}", len(order))
    )
    draft = RESULTS.with_suffix(".part")
    draft.write_text("".join(json.dumps(r) + "\n" for r in kept), encoding="utf-8")
    draft.replace(RESULTS)


if __name__ == "__main__":
    sys.exit(main())
