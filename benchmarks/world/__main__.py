"""The command: environments, rows that have no answer yet in this folder, the page.

``python -m benchmarks.world`` runs every row and keeps each answer in ``--folder``, too: the same
command goes on where it was cut off. ``--only opendp`` takes the names that hold the text,
``--new`` only rows without a stored answer, ``--again`` also those that were answered in this
folder, ``--page`` writes the page only. It needs uv.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.world.board import ROWS, environment_of
from benchmarks.world.page import PAGE, RESULTS, read_results, write_page
from benchmarks.world.rows import Environment, Row

ROOT = Path(__file__).parents[2]
#: Libraries that took a mechanism out of a later version.
_GONE = ("smartnoise-sql",)
#: CPU seconds that a row may take, and wall-clock seconds on a machine that does other work, too;
#: seconds of an installation.
LONGEST, LONGEST_WALL, LONGEST_INSTALL = 300, 3_000, 300
#: It says nothing of the library: it is tried again, and a stored answer stays.
_UNINSTALLED = "not installable here"
#: Some libraries install a package ``benchmarks`` of their own; this folder's is the one meant.
_START = f"""import runpy, sys, types
sys.modules["benchmarks"] = types.ModuleType("benchmarks")
sys.modules["benchmarks"].__path__ = [{str(ROOT / "benchmarks")!r}]
runpy.run_module("benchmarks.world.run_row", run_name="__main__")
"""
#: What two runs of one row have in common; seconds they have not.
SAME = ("claim", "verdict", "by", "epsilon", "method")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.world")
    parser.add_argument("--folder", type=Path, default=ROOT / ".world")
    parser.add_argument("--only", default="")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if not asked.page:
        asked.folder.mkdir(parents=True, exist_ok=True)
        journal = asked.folder / "answers.jsonl"
        done = read_results() if asked.new else [] if asked.again else read_results(journal)
        answered = {(r["row"], r["version"]) for r in done if r["verdict"] != _UNINSTALLED}
        for row in ROWS:
            for version in row.versions:
                if asked.only in f"{row.name} {version}" and (row.name, version) not in answered:
                    keep(journal, timed(row, version, asked.folder))
        print(summary(read_results(journal)))
    write_page()
    print(PAGE.relative_to(ROOT))


def timed(row: Row, version: str, folder: Path) -> dict[str, Any]:
    """The answer of one row with wall-clock seconds, its installation in them."""
    started = time.monotonic()
    found = run(row, version, folder)
    wall = round(time.monotonic() - started, 1)
    stored = next(
        (r for r in read_results() if (r["row"], r["version"]) == (row.name, version)), None
    )
    return {
        "row": row.name,
        "version": version,
        **found,
        "wall": wall,
        "as_stored": stored is not None and alike(stored, found),
    }


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two answers say the same; exact figures to 1e-9."""
    return all(_rounded(one.get(key)) == _rounded(other.get(key)) for key in SAME)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return value


def summary(answers: list[dict[str, Any]]) -> str:
    """How much was run in this folder, how long it took, and what differs from what was stored."""
    others = [f"{one['row']} {one['version']}" for one in answers if not one["as_stored"]]
    minutes = sum(one["wall"] for one in answers) / 60
    text = f"{len(answers)} answers in {minutes:.1f} minutes; "
    if not others:
        return text + "all are as stored before"
    return text + f"{len(others)} not as stored before: {', '.join(others)}"


def run(row: Row, version: str, folder: Path) -> dict[str, Any]:
    """The answer of one row, or why there is none."""
    environment = environment_of(row, version)
    python = folder / environment.name / "bin" / "python"
    problem = install(environment, folder / environment.name)
    if problem:
        return {"verdict": _UNINSTALLED, "by": "none", "reason": problem}
    command = [str(python), "-W", "ignore", "-c", _START, row.name, version]
    variables = {
        **os.environ,
        **dict(environment.variables),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            timeout=LONGEST_WALL,
            preexec_fn=limit_cpu,
        )
    except subprocess.TimeoutExpired:
        return {"verdict": f"no answer in {LONGEST_WALL} s", "by": "none"}
    if done.returncode == -signal.SIGXCPU:
        return {"verdict": f"no answer in {LONGEST} CPU s", "by": "none"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        gone = last.startswith("ImportError: cannot import name") and row.library in _GONE
        words = "not in this version" if gone else "does not run here"
        return {"verdict": words, "by": "none", "reason": re.sub(r" \(/.*", "", last)[:200]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def limit_cpu() -> None:
    """In the process of a row: the system ends it after so many CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST + 10))


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
    # Some need an older NumPy than liptest asks for; whether both work is what the rows show.
    overrides = where / "overrides.txt"
    overrides.write_text("\n".join(environment.packages) + "\n", encoding="utf-8")
    packages = [*environment.packages, str(ROOT), "--overrides", str(overrides)]
    command = [uv, "pip", "install", "-q", *target, *packages]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST_INSTALL, check=False
        )
    except subprocess.TimeoutExpired:
        return f"not installed in {LONGEST_INSTALL} s"
    if done.returncode:
        cause = next((line for line in done.stderr.splitlines() if "cause:" in line), "")
        return f"its packages cannot be installed for Python 3.11: {cause.strip()[:200]}"
    done_before.touch()
    return ""


def keep(journal: Path, answer: dict[str, Any]) -> None:
    """Add the answer to what this folder has and to what is stored, in place of an older one."""
    words = "" if answer["as_stored"] else " (not as stored before)"
    name = f"{answer['row']} {answer['version']}"
    print(f"{name}: {answer['verdict']} {answer.get('reason', '')}{words}", flush=True)
    stored = {key: value for key, value in answer.items() if key not in ("wall", "as_stored")}
    known = {(one["row"], one["version"]) for one in read_results()}
    if answer["verdict"] != _UNINSTALLED or (answer["row"], answer["version"]) not in known:
        replace_line(RESULTS, stored)
    replace_line(journal, answer)


def replace_line(path: Path, line: dict[str, Any]) -> None:
    """Lines in the order of the rows; the file is whole at any time."""
    order = {
        (row.name, one): k for k, (row, one) in enumerate((r, v) for r in ROWS for v in r.versions)
    }
    others = [
        r for r in read_results(path) if (r["row"], r["version"]) != (line["row"], line["version"])
    ]
    kept = sorted([*others, line], key=lambda r: order.get((r["row"], r["version"]), len(order)))
    draft = path.with_suffix(".part")
    draft.write_text("".join(json.dumps(r) + "\n" for r in kept), encoding="utf-8")
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
