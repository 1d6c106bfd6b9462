"""Random SIGKILLs over web, workers and releaser under load: is anything lost, or released twice?

``python benchmarks/service_kills.py --kills 300 --submissions 50``; ends with exit code 1 when
something is. Vendors and operators try again with the same key when they get no answer.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from service_room import CODE, Room, running

from liptest.evidence.ledger import Ledger
from liptest.evidence.ledger_file import Chain
from liptest.evidence.ledger_postgres import PostgresChain


def kill_at_random(room: Room, kills: int, pause: float, draw: random.Random) -> Counter[str]:
    """Kill one process after the other; which ones."""
    killed: Counter[str] = Counter()
    while sum(killed.values()) < kills:
        time.sleep(draw.uniform(0.0, 2 * pause))
        [kind] = draw.choices(("web", "releaser", "worker"), (1, 2, 2))
        chosen = draw.choice([p for p in room.supervisor.processes if p.name.startswith(kind)])
        if chosen.running is not None and chosen.running.poll() is None:
            chosen.running.send_signal(signal.SIGKILL)
            killed[kind] += 1
    return killed


def send_all(room: Room, count: int, pause: float, sent: list[int]) -> None:
    """Submit, and note the numbers of the submissions."""
    for n in range(count):
        body = {"task": 1, "file": "mine.py", "name": "count", "code": f"{CODE}# {n}\n"}
        sent.append(room.vendor.call("POST", "/api/submissions", body, f"submission-{n}")["id"])
        time.sleep(pause)


def release_all(room: Room, count: int, sent: list[int], deadline: float) -> None:
    """Ask once for a release of each submission that got a YES, as soon as it has."""
    decided: set[int] = set()
    while len(decided) < count and time.monotonic() < deadline:
        for number in [one for one in sent if one not in decided]:
            state = room.vendor.call("GET", f"/api/submissions/{number}")["state"]
            if state not in ("queued", "running"):
                decided.add(number)
            if state == "YES":
                body = {"submission": number}
                room.operator.call("POST", "/api/releases", body, f"release-{number}")
        time.sleep(0.5)


def problems_of(room: Room, sent: list[int]) -> list[str]:
    """What was lost, released twice, or released without a record."""
    states = {number: room.store.submission(number).state for number in sent}
    wrong = [f"submission {n}: {state}" for n, state in states.items() if state != "YES"]
    if len(set(sent)) != len(sent) or len(room.store.submissions(most=10**6)) != len(sent):
        wrong.append("a submission is there twice, or not at all")
    releases = room.store.releases()
    wrong += [f"release {r.id}: {r.state}" for r in releases if r.state != "released"]
    if len(releases) != len(sent):
        wrong.append(f"{len(releases)} releases of {len(sent)} submissions")
    kind = PostgresChain if room.places.url else Chain
    rows: list[Any] = [row.fields for row in kind(str(room.places.ledger)).rows()]
    drawn = {row["key"]: row["output"] for row in rows if row["kind"] == "release"}
    if len(drawn) != sum(row["kind"] == "release" for row in rows):
        wrong.append("the ledger has a key twice")
    for one in releases:
        if one.key not in drawn or str(one.output) not in drawn[one.key]:
            wrong.append(f"release {one.id}: its output is not in the ledger")
    if set(drawn) - {one.key for one in releases}:
        wrong.append("the ledger has a release that nobody asked for")
    return wrong + Ledger(room.places.ledger).problems() + Ledger(room.places.tests).problems()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--submissions", type=int, default=50)
    parser.add_argument("--database", default=None)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--pause", type=float, default=1.5)
    parser.add_argument("--patience", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="liptest-kills-") as folder,
        running(Path(folder), workers=given.workers, lease=3.0, database=given.database) as room,
    ):
        killed: Counter[str] = Counter()

        def kill() -> None:
            draw = random.Random(seed)
            killed.update(kill_at_random(room, given.kills, given.pause, draw))

        # The load falls into the time of the kills, with some of them left for what comes after.
        sent: list[int] = []
        pause = 0.6 * given.kills * given.pause / given.submissions
        deadline = began + given.kills * given.pause + given.patience
        threads = [
            threading.Thread(target=kill),
            threading.Thread(target=send_all, args=(room, given.submissions, pause, sent)),
            threading.Thread(target=release_all, args=(room, given.submissions, sent, deadline)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while room.store.waiting() and time.monotonic() < deadline:
            time.sleep(0.5)
        wrong = problems_of(room, sent)
        failures = room.vendor.failures + room.operator.failures
    told = ", ".join(f"{count} of {kind}" for kind, count in sorted(killed.items()))
    print(f"seed {seed}: {sum(killed.values())} kills ({told}) in {time.monotonic() - began:.0f} s")
    print(f"{len(sent)} submissions, {failures} calls made again, {len(wrong)} problems")
    for one in wrong:
        print(f"  {one}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
