"""Processes are killed, by chance and where it hurts most; everything is finished, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from liptest.evidence.ledger import Ledger
from liptest.service import actions
from liptest.service.ledger_view import view_ledger
from liptest.service.opening import VARIABLE
from liptest.service.records import RELEASE
from tests.unit.service.rooms import Room, private_mechanism

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
#: Ends like SIGKILL does, at a named place of the releaser: nothing after it is done.
KILLED_AT = """
import os, signal, sys
from pathlib import Path
import liptest.evidence.ledger_file as chain
import liptest.gate.sealed as sealed
from liptest.service import releasing
from liptest.service.daemon import Daemon
from liptest.service.jobs import RELEASER, Workplace
from liptest.service.opening import places_here
from liptest.service.store import Store
from liptest.service.tasks import ALLOWED

def end(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

folder, place = Path(sys.argv[1]), sys.argv[2]
clock = lambda: float(sys.argv[3])
if place == "before the attempt":
    releasing.LedgerRecorder.begin = end
elif place == "before the verdict":
    releasing.LedgerRecorder.decided = end
elif place == "before the table is read":
    releasing._private = end
elif place == "before the draw":
    sealed.SealedNoise.draw = end
elif place == "between the draw and its row":
    real = chain.row_after
    chain.row_after = lambda draft, last: end() if draft.kind == "release" else real(draft, last)
elif place == "after its row":
    Store.finish = end
places = places_here(folder)
Daemon(RELEASER, Workplace(Store(places.database, clock), places, ALLOWED)).run_one()
"""
PLACES = (
    *("before the attempt", "before the verdict", "before the table is read", "before the draw"),
    *("between the draw and its row", "after its row"),
)


def test_a_releaser_that_is_killed_anywhere(room: Room) -> None:
    room.decide(room.submit(), private_mechanism())
    number = actions.ask_for_release(room.store, room.user("olga"), 1, "release-1")
    drawn = None
    for place in PLACES:
        room.clock.now += 100
        command = [sys.executable, "-c", KILLED_AT, str(room.places.folder), place]
        environment = {**os.environ, VARIABLE: room.places.url or ""}
        done = subprocess.run([*command, str(room.clock.now)], check=False, env=environment)
        assert done.returncode == -signal.SIGKILL, place
        assert room.store.release(number).state == "approved"
        drawn = Ledger(room.places.ledger).released("clicks", "release-1")
        assert (drawn is None) == (place != "after its row"), place
    room.clock.now += 100
    room.work()
    found = room.store.release(number)
    assert found.state == "released"
    assert drawn is not None
    assert str(found.output) in drawn
    [budget] = view_ledger(room.places).budgets
    assert budget.releases == 1
    assert Ledger(room.places.ledger).problems() == []
    assert room.store.claim((RELEASE,)) is None


def test_random_kills() -> None:
    """Ten of them over web, worker and releaser; benchmarks/service_kills.py does hundreds."""
    script = ROOT / "benchmarks" / "service_kills.py"
    options = ["--kills", "10", "--submissions", "3", "--workers", "1", "--pause", "0.8"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script), *options],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout
    assert "10 kills" in done.stdout
    assert "0 problems" in done.stdout
