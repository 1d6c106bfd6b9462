"""43 programs as people write them, at everyday sizes: decisions, methods, CPU seconds.

Every check runs in a process of its own, which is ended after ``CAP`` CPU seconds: then the
answer is "none". Right is a decision within ``LIMIT`` seconds, for a YES by proof.

    python benchmarks/everyday.py                    # the table; with names: only these
    python benchmarks/everyday.py --together         # all in this process: quicker, without ends
    python benchmarks/everyday.py --child NAME       # one of them here, as JSON
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from everyday_programs import PROGRAMS

import liptest as lt
from liptest.errors import LiptestError

LIMIT, CAP = 10, 20


def check(name: str) -> dict[str, Any]:
    """The answer to one program's claim, with what it cost."""
    case = PROGRAMS[name]
    started = time.process_time()
    found: dict[str, Any] = {"answered": "none", "kind": "", "method": "", "words": ""}
    try:
        verdict = lt.check_privacy(
            lt.mechanism(name=name)(case.program),
            case.domain(),
            epsilon=case.epsilon,
            delta=case.delta,
            seed=1,
        )
    except LiptestError as error:
        found["words"] = f"{type(error).__name__}: {error}"
    else:
        found |= {
            "answered": str(verdict.decision),
            "kind": verdict.guarantee.kind,
            "method": verdict.method,
            "laws": verdict.cost.laws,
            "words": verdict.reason,
        }
    return found | {"seconds": time.process_time() - started}


def check_apart(name: str, cap: int = CAP) -> dict[str, Any]:
    """``check`` in a process of its own, ended after ``cap`` CPU seconds."""
    command = [sys.executable, str(Path(__file__).resolve()), "--child", name, str(cap)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return dict(json.loads(lines[-1]))
    words = "ended by its time" if done.returncode < 0 else done.stderr.strip()[-200:]
    return {"answered": "none", "kind": "", "method": "", "words": words, "seconds": float(cap)}


def judge(name: str, found: dict[str, Any], limit: float = LIMIT) -> str:
    """right, wrong (a false decision), or none (no decision, no proof, or too late)."""
    expected, answered = PROGRAMS[name].expected, found["answered"]
    if answered in ("YES", "NO") and answered != expected:
        return "wrong"
    is_proved = answered == "NO" or found["kind"] == "proof"
    return "right" if answered == expected and is_proved and found["seconds"] <= limit else "none"


def main() -> int:
    """Print the table; 1 when an answer is wrong."""
    if "--child" in sys.argv:
        name, cap = sys.argv[-2], int(sys.argv[-1])
        resource.setrlimit(resource.RLIMIT_CPU, (cap, cap + 5))
        print(json.dumps(check(name)))
        return 0
    names = [name for name in sys.argv[1:] if name in PROGRAMS] or list(PROGRAMS)
    counts = {"right": 0, "wrong": 0, "none": 0}
    seconds = []
    print(f"{'program':32} {'expected':8} {'answered':12} {'':5} {'method':20} {'CPU s':>7}")
    for name in names:
        found = check(name) if "--together" in sys.argv else check_apart(name)
        grade = judge(name, found)
        counts[grade] += 1
        seconds.append(found["seconds"])
        words = f"  {found['words'][:90]}" if grade != "right" else ""
        print(
            f"{name:32} {PROGRAMS[name].expected:8} {found['answered']:12} {grade:5} "
            f"{found['method']:20} {found['seconds']:7.2f}{words}",
            flush=True,
        )
    told = ", ".join(f"{count} {grade}" for grade, count in counts.items())
    print(f"{len(names)} programs: {told}; median {statistics.median(seconds):.2f} CPU s")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
