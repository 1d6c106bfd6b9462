"""Jobs belong to one process at a time; requests that are sent twice are one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liptest.service import actions
from liptest.service import store as store_module
from liptest.service.records import ANALYSE, FAILED, RELEASE, ServiceError
from liptest.service.store import LEASE, Store
from tests.unit.service.rooms import Clock, Room, private_mechanism


def test_a_job_is_one_process_at_a_time(room: Room) -> None:
    number = room.submit()
    job = room.store.claim((ANALYSE,))
    assert job is not None
    assert (job.subject, job.attempts) == (number, 1)
    assert room.store.claim((ANALYSE,)) is None
    room.clock.now += LEASE / 2
    assert room.store.renew(job)
    room.clock.now += LEASE * 0.75
    assert room.store.claim((ANALYSE,)) is None


def test_what_comes_after_the_lease_is_not_taken(room: Room) -> None:
    number = room.submit()
    late = room.store.claim((ANALYSE,))
    room.clock.now += LEASE + 1
    other = room.store.claim((ANALYSE,))
    assert late is not None
    assert other is not None
    assert other.attempts == 2
    assert not room.store.renew(late)
    assert not room.store.finish(late, FAILED, "late")
    assert room.store.submission(number).state == "running"
    assert room.store.finish(other, FAILED, "in time")
    assert not room.store.finish(other, FAILED, "twice")
    assert room.store.submission(number).message == "in time"
    room.clock.now += 10 * LEASE
    assert room.store.claim((ANALYSE,)) is None


def test_a_request_that_is_sent_twice_is_one(room: Room) -> None:
    first = room.submit(key="the-same-key")
    assert room.submit(key="the-same-key") == first
    assert room.submit(vendor="viki", key="the-same-key") != first
    with pytest.raises(ServiceError, match="named another request"):
        room.submit(key="the-same-key", content=b"other = 1")


def test_equal_code_is_stored_once(room: Room) -> None:
    for key in ("key-00001", "key-00002"):
        room.submit(key=key)
    [row] = room.store.base.rows("SELECT count(*) AS n FROM code", ())
    assert row["n"] == 1


def test_two_operators_when_two_are_asked_for(room: Room) -> None:
    room.task = room.make_task(1, approvals=2)
    number = room.submit()
    room.decide(number, private_mechanism())
    asked = actions.ask_for_release(room.store, room.user("olga"), number, "release-1")
    room.store.approve(room.user("olga"), asked)
    assert room.store.release(asked).state == "waiting"
    assert room.store.claim((RELEASE,)) is None
    with pytest.raises(ServiceError, match="only operators"):
        room.store.approve(room.user("vera"), asked)
    room.store.approve(room.user("oleg"), asked)
    room.store.approve(room.user("oleg"), asked)
    assert room.store.release(asked).approvers == ("oleg", "olga")
    assert room.store.claim((RELEASE,)) is not None
    assert room.store.claim((RELEASE,)) is None


def test_visits_are_counted(room: Room) -> None:
    assert all(room.store.allow("login:x", 3, 60) for _ in range(3))
    assert not room.store.allow("login:x", 3, 60)
    assert room.store.allow("login:y", 3, 60)
    room.clock.now += 61
    assert room.store.allow("login:x", 3, 60)


def test_another_database_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="database=mysql: name a file, or postgresql:"):
        Store("mysql://ada:secret@host/db")
    newer = Store(tmp_path / "newer.db")
    with closing(sqlite3.connect(tmp_path / "newer.db")) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(ServiceError, match="version 99"):
        newer.prepare()


NUMBERS = count(1)


def test_a_file_of_the_first_version_gets_what_was_added(tmp_path: Path) -> None:
    store = Store(tmp_path / "service.db")
    store.base.prepare(store_module._VERSIONS[:1])
    store.add_user("olga", "operator", "")
    olga = store.user("olga")
    assert olga is not None
    number = store.add_table(olga, "clicks", "x.csv", None, 1.0, 1e-9)
    for _ in range(2):
        store.prepare()
    store.add_people(olga, "all", [number], 1.0, 1e-9)
    assert [one.tables for one in store.people()] == [("clicks",)]
    assert [one.name for one in store.users()] == ["olga"]


# Each step of each process: claims, dies with its job, is slow beyond its lease, or finishes.
STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("cdslf")), max_size=40)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_whatever_dies_every_job_is_finished_once(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    kind: str,
    steps: list[tuple[int, str]],
) -> None:
    clock = Clock()
    place: Path | str = tmp_path_factory.mktemp("jobs") / "service.db"
    if kind == "postgres":
        place = request.getfixturevalue("database_server").create(f"jobs_{next(NUMBERS)}")
    store = Store(place, clock)
    store.prepare()
    store.add_user("o", "operator", "")
    user = store.user("o")
    assert user is not None
    for n in range(3):
        store.add_table(user, f"table {n}", "x.csv", None, 1.0, 1e-9)
    held = {}
    finished: list[int] = []
    for who, step in steps:
        job = held.get(who)
        if step == "c" and job is None:
            held[who] = store.claim(("register",))
        elif step == "d":
            held[who] = None
        elif step == "s":
            clock.now += LEASE + 1
        elif step == "l" and job is not None:
            store.renew(job)
        elif step == "f" and job is not None:
            finished += [job.subject] * store.finish(job, "ready")
            held[who] = None
    clock.now += LEASE + 1
    while (job := store.claim(("register",))) is not None:
        finished += [job.subject] * store.finish(job, "ready")
    assert sorted(finished) == [1, 2, 3]
    assert store.waiting() == 0
    store.close()
