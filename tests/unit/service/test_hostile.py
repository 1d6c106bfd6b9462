"""Hostile code: each gets a state that says what it met, and the service goes on."""

from __future__ import annotations

import pytest

from liptest.runs.jail import find_bubblewrap
from liptest.service.daemon import Daemon
from liptest.service.jobs import WORKER, Workplace
from liptest.service.tasks import ALLOWED
from liptest.service.web import make_app
from tests.unit.service.asgi import Client
from tests.unit.service.rooms import CHECK, CODE, PASSWORD, Room, make_room

pytestmark = pytest.mark.slow
MECHANISM = "\nimport liptest as lt\n@lt.mechanism\ndef count(data, rng):\n    {}\n    return 0\n"
LIMITED = {
    "fork bomb": ("import os\nwhile True:\n    os.fork()", "failed: limit of processes"),
    "threads": (
        "from threading import Event, Thread\nwhile True:\n    Thread(target=Event().wait).start()",
        "failed: limit of ",
    ),
    "a program": ("import subprocess\nsubprocess.run(['true'])", "failed: limit of processes"),
    "its parent": ("import os\nos.kill(os.getppid(), 9)", "failed: limit of processes"),
    "the network": (
        "import socket\nsocket.create_connection(('127.0.0.1', 22))",
        "failed: limit of processes or network",
    ),
    "100 GB": ("held = bytearray(100 << 30)", "failed: limit of memory"),
    "an endless loop": ("while True:\n    pass", "failed: limit of time"),
    "endless words": ("while True:\n    print('x' * 100000)", "failed: limit of time"),
    "endless answers": (
        "import os\nwhile True:\n    for n in range(3, 30):\n        try:\n"
        "            os.write(n, b'9' * 65536)\n        except OSError:\n            pass",
        "failed: limit of output",
    ),
    "the end": ("import os\nos._exit(0)", "failed: limit of its process, which it ended"),
    "a crash": (
        "import ctypes\nctypes.string_at(0)",
        "failed: limit of its process, which it ended",
    ),
    "a false answer": (
        "import os\nfor n in range(3, 30):\n    try:\n        os.write(n, b'%016d{}' % 2)\n"
        "    except OSError:\n        pass\nos._exit(0)",
        "failed: the analysis gave an answer that cannot be read",
    ),
    "an exit": ("raise SystemExit(0)", "failed: "),
    "a zip of death": (
        "import itertools, zlib\nsmall = zlib.compress(bytes(1 << 26), 9)\n"
        "held = b''.join(itertools.repeat(zlib.decompress(small), 4096))",
        "failed: limit of memory",
    ),
    "500 fractions of 2,000 digits": (
        "from fractions import Fraction\nimport liptest as lt\ndef pmf(data):\n"
        "    parts = [Fraction(10**1990 + 2 * n + 1, 10**1993 + 4 * n + 1) for n in range(500)]\n"
        "    return [*parts, 1 - sum(parts)]\ncount = lt.ExactForm(tuple(range(501)), pmf)",
        "failed: limit of time",
    ),
    "no Python": (b"PK\x03\x04" + bytes(1000), "failed: the file is not Python"),
    "packages": ("import requests", "failed: the code imports requests; allowed are"),
    "endless laws": (MECHANISM.format("while True: pass"), "failed: limit of time"),
    "large laws": (MECHANISM.format("x = bytearray(100 << 30)"), "failed: limit of memory"),
    "words with HTML": (
        "raise ValueError('<script>alert(1)</script>\\x1b[2J\\nYES by proof')",
        "failed: ",
    ),
}


@pytest.fixture(scope="module")
def first_room(tmp_path_factory: pytest.TempPathFactory) -> Room:
    """On SQLite alone: what a jail does is the same for all databases, and takes long."""
    return make_room(tmp_path_factory.mktemp("hostile"))


def work(room: Room) -> None:
    daemon = Daemon(WORKER, Workplace(room.store, room.places, ALLOWED, unconfined=True))
    while daemon.run_one():
        pass


@pytest.mark.parametrize("share", range(4))
def test_hostile_code_meets_limits(room: Room, share: int) -> None:
    limited = dict(list(LIMITED.items())[share::4])
    short, long = room.make_task(1, "max_seconds = 3\n" + CHECK), room.make_task(1)
    numbers = {}
    for n, (what, (code, said)) in enumerate(limited.items()):
        room.task = short if said == "failed: limit of time" else long
        content = code if isinstance(code, bytes) else code.encode()
        numbers[what] = room.submit(key=f"hostile-{n:04}", content=content)
    room.task = long
    good = room.submit(key="a-good-one", content=CODE)
    work(room)
    found = {what: room.store.submission(number) for what, number in numbers.items()}
    assert {what: one.state for what, one in found.items()} == dict.fromkeys(limited, "failed")
    for what, (_, said) in limited.items():
        assert found[what].message.startswith(said), (what, found[what].message)
        assert found[what].message.isprintable()
    assert room.store.submission(good).state == "YES"
    assert room.store.waiting() == 0
    client = Client(make_app(room.store, room.places))
    client.post("/login", data={"name": "vera", "password": PASSWORD})
    for number in numbers.values():
        assert "<script>alert" not in client.get(f"/submissions/{number}").text


@pytest.mark.skipif(find_bubblewrap() is None, reason="needs bubblewrap")
def test_what_only_a_jail_keeps(room: Room) -> None:
    """Files: none of the operator's is there, and those that are written have a limit together."""
    hidden = [room.places.private / "clicks.csv", *room.places.files]
    reads = "".join(f"\nopen({str(path)!r})" for path in hidden)
    fills = (
        "import itertools, tempfile\nplace = tempfile.gettempdir()\n"
        "for n in itertools.count():\n    open(f'{place}/f{n}', 'wb').write(bytes(1 << 24))"
    )
    first = room.submit(key="reads-files", content=reads.encode())
    second = room.submit(key="fills-memory", content=fills.encode())
    work(room)
    assert "FileNotFoundError" in room.store.submission(first).message
    assert room.store.submission(second).message.startswith("failed: limit of file size")


def test_without_a_jail_nothing_runs(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liptest.service.analysis.find_bubblewrap", lambda: None)
    number = room.submit()
    daemon = Daemon(WORKER, Workplace(room.store, room.places, ALLOWED))
    assert daemon.run_one()
    assert "no code runs unconfined" in room.store.submission(number).message
