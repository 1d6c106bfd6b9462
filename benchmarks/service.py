"""The service under load: so many submissions a minute, and how long pages take meanwhile.

``python benchmarks/service.py --minutes 2 --rate 20``.
"""

from __future__ import annotations

import argparse
import http.client
import re
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from service_room import CODE, PASSWORD, Room, running

PAGES = {"vendor": ("/", "/tasks/1", "/submissions/1"), "operator": ("/", "/tables", "/ledger")}


def log_in(room: Room, name: str) -> str:
    """The cookie of a session."""
    wire = http.client.HTTPConnection("127.0.0.1", room.vendor.port, timeout=10)
    form = urllib.parse.urlencode({"name": name, "password": PASSWORD})
    kind = {"content-type": "application/x-www-form-urlencoded"}
    wire.request("POST", "/login", form, kind)
    answer = wire.getresponse()
    answer.read()
    found = re.match("[^;]+", answer.headers["set-cookie"])
    assert answer.status == 303
    assert found is not None
    return found[0]


def look(room: Room, name: str, stop: threading.Event, seconds: list[float]) -> None:
    """Load pages, ten a second, and note how long each takes."""
    wire = http.client.HTTPConnection("127.0.0.1", room.vendor.port, timeout=30)
    headers = {"cookie": log_in(room, name)}
    while not stop.is_set():
        for path in PAGES[name]:
            began = time.perf_counter()
            wire.request("GET", path, headers=headers)
            answer = wire.getresponse()
            answer.read()
            seconds.append(time.perf_counter() - began)
            assert answer.status == 200, (path, answer.status)
            stop.wait(0.1)


def submit_and_release(room: Room, n: int) -> None:
    body = {"task": 1, "file": "mine.py", "name": "count", "code": f"{CODE}# {n}\n"}
    number = room.vendor.call("POST", "/api/submissions", body, f"submission-{n}")["id"]
    if number % 5 == 0:
        earlier = number - 4
        if room.store.submission(earlier).state == "YES":
            asked = {"submission": earlier}
            room.operator.call("POST", "/api/releases", asked, f"release-{earlier}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--database", default=None)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    count = max(1, round(given.minutes * given.rate))
    with (
        tempfile.TemporaryDirectory(prefix="liptest-load-") as folder,
        running(Path(folder), workers=given.workers, lease=20.0, database=given.database) as room,
    ):
        submit_and_release(room, 0)
        stop = threading.Event()
        seconds: list[list[float]] = [[], []]
        lookers = [
            threading.Thread(target=look, args=(room, name, stop, taken))
            for name, taken in zip(PAGES, seconds, strict=True)
        ]
        for one in lookers:
            one.start()
        began = time.monotonic()
        for n in range(1, count):
            time.sleep(max(0.0, began + n * 60 / given.rate - time.monotonic()))
            submit_and_release(room, n)
        sent = time.monotonic()
        while room.store.waiting():
            time.sleep(0.1)
        behind = time.monotonic() - sent
        stop.set()
        for one in lookers:
            one.join()
        states = {one.state for one in room.store.submissions(most=10**6)}
    for name, taken in zip(PAGES, seconds, strict=True):
        cuts = statistics.quantiles(taken, n=100)
        print(
            f"pages of a {name}: {len(taken)} loads, median {1000 * cuts[49]:.0f} ms, "
            f"95 % below {1000 * cuts[94]:.0f} ms, longest {1000 * max(taken):.0f} ms"
        )
    print(f"{count} submissions at {given.rate:g} a minute; the last was done {behind:.1f} s later")
    return 0 if states == {"YES"} else 1


if __name__ == "__main__":
    sys.exit(main())
