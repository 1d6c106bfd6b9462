"""A service for measurements: its processes in a folder, and a client that tries again."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liptest.runs.jail import find_bubblewrap
from liptest.service import actions
from liptest.service.daemon import Daemon
from liptest.service.jobs import RELEASER, Workplace
from liptest.service.opening import VARIABLE, prepare_all
from liptest.service.passwords import hash_secret, new_secret
from liptest.service.processes import Process, Supervisor
from liptest.service.records import OPERATOR, VENDOR, Places
from liptest.service.store import Store
from liptest.service.tasks import ALLOWED

RECORDS = 40
CODE = "import liptest as lt\ncount = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))\n"
CHECK = f"epsilon = 1.0\n[domain]\nrecords = {RECORDS}\n"
PASSWORD = "for measurements only"


@dataclass
class Caller:
    """The API with a token; a call that fails is made again, with the same key."""

    port: int
    token: str
    failures: int = 0

    def call(self, method: str, path: str, body: Any = None, key: str = "") -> Any:
        """The answer; raises RuntimeError for a refusal."""
        headers = {"authorization": f"Bearer {self.token}", "idempotency-key": key}
        data = None if body is None else json.dumps(body)
        while True:
            try:
                wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
                wire.request(method, path, data, headers)
                answer = wire.getresponse()
                found = json.loads(answer.read())
                wire.close()
            except (OSError, http.client.HTTPException, ValueError):
                self.failures += 1
                time.sleep(0.2)
                continue
            if answer.status == 429:  # the limit of calls in a minute
                time.sleep(2.0)
                continue
            if answer.status >= 400:
                raise RuntimeError(f"{path}: {answer.status} {found}")
            return found


@dataclass
class Room:
    """A service that runs."""

    places: Places
    store: Store
    supervisor: Supervisor
    vendor: Caller
    operator: Caller


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def prepare(folder: Path, database: str | None) -> tuple[Store, Places, list[str]]:
    """A private table, a task, an operator and a vendor; their tokens."""
    places = Places(folder, database)
    store = Store(places.database)
    prepare_all(store, places)
    tokens = []
    for name, role in (("vendor", VENDOR), ("operator", OPERATOR)):
        actions.add_account(store, name, role, PASSWORD)
        user = store.user(name)
        assert user is not None
        tokens.append(new_secret())
        store.add_token(user, "measurements", hash_secret(tokens[-1]))
    values = "\n".join(["click", *("01" * (RECORDS // 2))])
    (places.private / "clicks.csv").write_text(values + "\n", encoding="utf-8")
    table = actions.register_table(
        store, user, name="clicks", file="clicks.csv", column="click", epsilon=900.0, delta=1e-9
    )
    actions.make_task(
        store, user, title="How many?", table=table, check=CHECK, proof_only=True, approvals=1
    )
    daemon = Daemon(RELEASER, Workplace(store, places, ALLOWED))
    while daemon.run_one():
        pass
    return store, places, tokens


@contextmanager
def running(
    folder: Path, *, workers: int, lease: float, database: str | None = None
) -> Iterator[Room]:
    """All processes, until the end of the block; on PostgreSQL where a URL is named."""
    store, places, (vendor, operator) = prepare(folder, database)
    environment = {VARIABLE: database or ""}
    port, where = free_port(), str(folder)
    more = ["--lease", str(lease)]
    more += [] if find_bubblewrap() else ["--allow-unconfined"]
    module = "liptest.service.daemon"
    processes = [
        Process("web", "liptest.service.web", [where, "--port", str(port)], environment),
        Process("releaser", module, ["releaser", where, *more], environment),
        *(
            Process(f"worker {n}", module, ["worker", where, *more], environment)
            for n in range(workers)
        ),
    ]
    supervisor = Supervisor(processes)
    keeper = threading.Thread(target=supervisor.run)
    keeper.start()
    try:
        room = Room(places, store, supervisor, Caller(port, vendor), Caller(port, operator))
        room.vendor.call("GET", "/api/tasks")
        room.vendor.failures = 0
        yield room
    finally:
        supervisor.stop.set()
        keeper.join()
