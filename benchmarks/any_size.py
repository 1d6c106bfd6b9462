"""What a million records cost beside a hundred: the everyday programs that alignment proves.

Each is checked in a process of its own, first once for whatever is made once in a process; the
seconds are CPU seconds of the check after that. A refusal or another method is a row without them.

    python benchmarks/any_size.py                    # the table; with names: only these
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from everyday_programs import PROGRAMS

import liptest as lt
from liptest.data.domains import Domain

FEW, MANY = 100, 1_000_000


def of_size(domain: Domain, records: int) -> Domain | None:
    """The domain with another number of records; None where it has no records."""
    if isinstance(domain, lt.Hypercube):
        return lt.Hypercube(records)
    if isinstance(domain, lt.RecordGrid):
        return lt.RecordGrid([int(domain.size_array[0])] * records)
    return None


def check(name: str, records: int) -> tuple[str, str, float]:
    """Decision, method and CPU seconds."""
    case = PROGRAMS[name]
    domain = of_size(case.domain(), records)
    assert domain is not None
    mechanism = lt.mechanism(name=name)(case.program)
    started = time.process_time()
    found = lt.check_privacy(mechanism, domain, epsilon=case.epsilon, delta=case.delta, seed=1)
    return str(found.decision), found.method, time.process_time() - started


def compare(name: str) -> None:
    """Print one row of the table, as JSON."""
    check(name, FEW)
    print(json.dumps([check(name, FEW), check(name, MANY)]))


def main() -> int:
    """Print the table; 1 when the decisions of a program differ between the sizes."""
    if "--child" in sys.argv:
        compare(sys.argv[-1])
        return 0
    listed = [name for name in sys.argv[1:] if name in PROGRAMS] or list(PROGRAMS)
    names = [name for name in listed if PROGRAMS[name].expected == "YES"]
    ratios, differ = [], 0
    print(f"{'program':32} {'decision':9} {f'{FEW:,}':>9} {f'{MANY:,}':>10} {'ratio':>7}")
    for name in names:
        if of_size(PROGRAMS[name].domain(), FEW) is None:
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--child", name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            print(f"{name:32} {done.stderr.strip().splitlines()[-1][-90:]}", flush=True)
            differ += 1
            continue
        (few, method, short), (many, other, long) = json.loads(done.stdout.splitlines()[-1])
        differ += few != many
        if "alignment" not in (method, other):
            continue
        ratios.append(long / short)
        words = few if few == many else f"{few}/{many}"
        print(f"{name:32} {words:9} {short:9.2f} {long:10.2f} {long / short:7.1f}", flush=True)
    if ratios:
        print(f"{len(ratios)} programs by alignment: median ratio {statistics.median(ratios):.1f}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
