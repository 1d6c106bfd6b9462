from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from liptest.service.records import Places
from liptest.service.store import Store
from tests.unit.service.rooms import Clock, Room, make_room


@pytest.fixture(scope="session")
def first_room(tmp_path_factory: pytest.TempPathFactory) -> Room:
    return make_room(tmp_path_factory.mktemp("service"))


@pytest.fixture
def room(first_room: Room, tmp_path: Path) -> Room:
    """A copy of the first room."""
    places, clock = Places(tmp_path / "room"), Clock()
    shutil.copytree(first_room.places.folder, places.folder)
    return Room(Store(places.database, clock), places, clock, first_room.task)
