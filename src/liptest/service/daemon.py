"""A process that takes jobs one after the other: a worker, or the releaser.

``python -m liptest.service.daemon worker FOLDER``. It may be killed at any time: its lease ends,
and another one begins the job again.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from liptest.service.jobs import KINDS, WORKER, Workplace
from liptest.service.opening import places_here
from liptest.service.processes import end_with, limit_memory
from liptest.service.records import QueuedJob
from liptest.service.store import LEASE, Store
from liptest.service.tasks import ALLOWED

_PAUSE = 0.2
#: MiB of addresses that a worker may have, and each analysis that it starts.
MEMORY = 4096


@dataclass(frozen=True)
class Daemon:
    """What takes the jobs of a role."""

    role: str
    place: Workplace
    lease: float = LEASE

    def run_one(self) -> bool:
        """Do the oldest job; False when there is none."""
        function, kinds = KINDS[self.role]
        job = self.place.store.claim(kinds, self.lease)
        if job is None:
            return False
        with self._kept(job):
            # Only what the role needs is loaded: the releaser has nothing that starts code.
            module, _, name = function.partition(":")
            vars(import_module(module))[name](job, self.place)
        return True

    @contextmanager
    def _kept(self, job: QueuedJob) -> Iterator[None]:
        """Renew the lease while the job is done."""
        done = threading.Event()

        def renew() -> None:
            while not done.wait(self.lease / 4):
                self.place.store.renew(job, self.lease)

        keeper = threading.Thread(target=renew, daemon=True)
        keeper.start()
        try:
            yield
        finally:
            done.set()
            keeper.join()


def run_daemon(arguments: Sequence[str]) -> None:
    """Take jobs until told to stop; a job that cannot be done is left to its lease."""
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=sorted(KINDS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--allow-unconfined", action="store_true")
    parser.add_argument("--allow-import", action="append", default=list(ALLOWED))
    parser.add_argument("--lease", type=float, default=LEASE)
    parser.add_argument("--memory", type=int, default=MEMORY)
    parser.add_argument("--approvals", type=int, default=1)
    parser.add_argument("--parent", type=int, default=0)
    given = parser.parse_args(arguments)
    end_with(given.parent)
    if given.role == WORKER:
        limit_memory(given.memory << 20)
    places = places_here(given.folder)
    place = Workplace(
        Store(places.database),
        places,
        tuple(given.allow_import),
        given.allow_unconfined,
        given.approvals,
    )
    daemon = Daemon(given.role, place, given.lease)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    while not stop.is_set():
        try:
            busy = daemon.run_one()
        except Exception as error:
            # Its text may quote anything; the kind of it tells enough.
            print(f"{given.role}: {type(error).__name__}; tried again", file=sys.stderr)
            time.sleep(1.0)
            continue
        if not busy:
            stop.wait(_PAUSE)


if __name__ == "__main__":
    run_daemon(sys.argv[1:])
