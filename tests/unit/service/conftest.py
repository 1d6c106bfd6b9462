from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from liptest.service.records import Places
from liptest.service.store import Store
from tests.unit.service.rooms import (
    Clock,
    DatabaseServer,
    Room,
    make_room,
    name_of_database,
    running_databases,
)

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def database_server() -> Iterator[DatabaseServer]:
    with running_databases() as server:
        yield server


@pytest.fixture(
    scope="session", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
)
def first_room(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Room:
    url = None
    if request.param == "postgres":
        url = request.getfixturevalue("database_server").create(f"first_{next(_NUMBERS)}")
    room = make_room(tmp_path_factory.mktemp("service"), url)
    room.store.close()
    return room


@pytest.fixture
def room(first_room: Room, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    """A copy of the first room."""
    clock, url = Clock(), None
    shutil.copytree(first_room.places.folder, tmp_path / "room")
    if (first := first_room.places.url) is not None:
        server = request.getfixturevalue("database_server")
        url = server.create(f"room_{next(_NUMBERS)}", name_of_database(first))
    places = Places(tmp_path / "room", url)
    store = Store(places.database, clock)
    yield Room(store, places, clock, first_room.task)
    store.close()
