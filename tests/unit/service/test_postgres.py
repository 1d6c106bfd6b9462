"""PostgreSQL behind the service: what a file of SQLite does not show."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from liptest.cli import main
from liptest.errors import LedgerError
from liptest.evidence.ledger import Ledger
from liptest.evidence.postgres import show_url
from liptest.privacy.claims import Claim
from liptest.service import actions
from liptest.service.daemon import Daemon
from liptest.service.databases import ACCOUNTS
from liptest.service.jobs import WORKER, Workplace
from liptest.service.ledger_view import view_ledger
from liptest.service.records import OPERATOR, Places, ServiceError
from liptest.service.store import Store
from liptest.service.tasks import ALLOWED
from tests.unit.service.rooms import (
    CHECK,
    DatabaseServer,
    Room,
    make_room,
    private_mechanism,
)

slow = pytest.mark.slow


@pytest.fixture
def url(database_server: DatabaseServer, request: pytest.FixtureRequest) -> str:
    name = "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[:60]
    return database_server.create(name)


def at_once(count: int, action: Callable[[int], Any]) -> list[Any]:
    """What so many threads come to that begin together."""
    found: list[Any] = [None] * count
    start = threading.Barrier(count)

    def run(n: int) -> None:
        start.wait()
        try:
            found[n] = action(n)
        except Exception as error:
            found[n] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


def begin(ledger: Ledger, vendor: str = "vera") -> Any:
    more = {"mechanism": "m", "code": "0" * 64, "distribution": "0" * 64}
    return ledger.record_attempt(vendor, claim=Claim(1.0), failure_probability=1e-6, **more)


@slow
def test_a_ledger_whose_rows_are_appended_at_once(url: str) -> None:
    Ledger(url)
    counts = at_once(6, lambda n: [begin(Ledger(url)).count for _ in range(5)])
    assert sorted(n for one in counts for n in one) == list(range(1, 31))
    ledger = Ledger(url, create=False)
    assert ledger.problems() == []
    assert ledger.summary().rows == 30
    assert Ledger(f"{url}#tests").summary().rows == 0


@slow
def test_a_ledger_is_not_changed_unnoticed(url: str) -> None:
    ledger = Ledger(url)
    for _ in range(3):
        begin(ledger)
    changes = (
        *("DELETE FROM ledger.entries", "TRUNCATE ledger.entries"),
        "UPDATE ledger.entries SET vendor = 'x'",
        "INSERT INTO ledger.entries SELECT number + 9, kind, vendor, attempt, entry, previous, "
        "hash FROM ledger.entries",
    )
    with closing(psycopg.connect(url, autocommit=True)) as owner:
        for change in changes:
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                owner.execute(change)
        assert ledger.problems() == []
        owner.execute("ALTER TABLE ledger.entries DISABLE TRIGGER USER")
        assert len(ledger.problems()) == 2
        with pytest.raises(LedgerError, match="its triggers were changed"):
            begin(ledger)
        owner.execute("DELETE FROM ledger.entries WHERE number = 2")
        owner.execute("ALTER TABLE ledger.entries ENABLE TRIGGER USER")
        assert any("row 3" in problem for problem in ledger.problems())
        owner.execute(
            "CREATE OR REPLACE FUNCTION ledger.refuse_change() RETURNS trigger "
            "LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
        )
        assert any("entries_are_not_changed" in problem for problem in ledger.problems())


@slow
def test_where_there_is_no_ledger(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger(url, create=False).summary()
    with pytest.raises(LedgerError, match="name of a schema"):
        Ledger(f"{url}#No such; schema")
    with pytest.raises(LedgerError, match="nothing is released"):
        Ledger("postgresql://x:hidden@/y?host=/nowhere")
    Ledger(url).set_cap("clicks", epsilon=1.0, delta=1e-9)
    assert main(["ledger", "verify", url]) == 0
    assert main(["ledger", "cap", url, "clicks", "--epsilon", "2", "--delta", "1e-9"]) == 0
    assert main(["ledger", "show", url]) == 0
    assert "epsilon 2" in capsys.readouterr().out


@slow
def test_of_many_who_ask_each_job_is_one_process(database_server: DatabaseServer, url: str) -> None:
    """Rows that others hold are passed over: nobody waits, nobody has another's."""
    with closing(Store(url)) as store:
        store.prepare()
        store.add_user("o", OPERATOR, "")
        user = store.user("o")
        assert user is not None
        for n in range(12):
            store.add_table(user, f"table {n}", "x.csv", None, 1.0, 1e-9)
        taken = at_once(8, lambda n: [store.claim(("register",)) for _ in range(2)])
        subjects = [job.subject for jobs in taken for job in jobs if job is not None]
        assert sorted(subjects) == list(range(1, 13))
        jobs = [job for jobs in taken for job in jobs if job is not None]
        assert all(at_once(12, lambda n: store.finish(jobs[n], "ready")))
        assert store.waiting() == 0


@slow
def test_what_is_sent_at_once_with_one_key_is_one(url: str, tmp_path: Path) -> None:
    room = make_room(tmp_path, url)
    numbers = at_once(6, lambda n: room.submit(key="the-same-key"))
    assert set(numbers) == {1}
    room.decide(1, private_mechanism())
    olga, oleg = room.user("olga"), room.user("oleg")
    asked = at_once(
        6, lambda n: actions.ask_for_release(room.store, (olga, oleg)[n % 2], 1, "release-1")
    )
    # A number that was given to a row which was taken back is not given again.
    (release,) = set(asked)
    visits = at_once(8, lambda n: room.store.allow("login:x", 3, 60))
    assert visits.count(True) == 3
    names = at_once(4, lambda n: room.store.add_user("new", "vendor", ""))
    assert sum(isinstance(one, ServiceError) for one in names) == 3
    # Two releasers, one wish: one row.
    at_once(2, lambda n: room.work())
    assert room.store.release(release).state == "released"
    assert [one.releases for one in view_ledger(room.places).budgets] == [1]
    assert Ledger(room.places.ledger).problems() == []
    room.store.close()


@slow
def test_a_connection_that_was_ended_is_made_anew(url: str) -> None:
    with closing(Store(url)) as store:
        store.prepare()
        with closing(psycopg.connect(url, autocommit=True)) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        assert store.users() == []
        store.add_user("zero\0", "vendor", "")
        assert [one.name for one in store.users()] == ["zero\ufffd"]
    with pytest.raises(ServiceError, match="the database gives no answer"):
        Store("postgresql://x:hidden@/y?host=/nowhere").users()


@slow
def test_each_kind_of_process_has_an_account_that_can_do_no_more(
    database_server: DatabaseServer,
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for account in ACCOUNTS.values():
        database_server.make_account(account)
    assert main(["service", "prepare", "--database", url]) == 0
    assert "liptest_releaser, liptest_web, liptest_worker" in capsys.readouterr().out
    of = {kind: url.replace("tester@", f"{name}@") for kind, name in ACCOUNTS.items()}

    def as_kind(room: Room, kind: str) -> Room:
        places = Places(room.places.folder, of[kind])
        return Room(Store(of[kind], room.clock), places, room.clock, room.task)

    owner = make_room(tmp_path, url)
    web, worker, releaser = (as_kind(owner, kind) for kind in ACCOUNTS)
    number = web.submit()
    worker.decide(number, private_mechanism())
    begin(Ledger(worker.places.tests))
    actions.ask_for_release(web.store, web.user("olga"), number, "release-1")
    releaser.work()
    assert web.store.release(1).state == "released"
    assert [one.releases for one in view_ledger(web.places).budgets] == [1]
    for room in (web, worker, releaser):
        room.store.prepare()
    refused = {
        "web": (
            "INSERT INTO ledger.entries SELECT * FROM ledger.entries",
            "SELECT FROM tests.about",
        ),
        "worker": (
            *("SELECT * FROM ledger.entries", "SELECT password FROM service.users"),
            *("SELECT * FROM service.tokens", "INSERT INTO service.approvals VALUES (1, 1)"),
            *("UPDATE service.releases SET state = 'approved'", "DELETE FROM service.code"),
            *("UPDATE tests.entries SET vendor = 'x'", "SELECT * FROM service.sessions"),
            "UPDATE service.submissions SET code = ''",
        ),
        "releaser": (
            *("UPDATE ledger.entries SET vendor = 'x'", "DELETE FROM ledger.entries"),
            *("ALTER TABLE ledger.entries DISABLE TRIGGER USER", "SELECT * FROM service.tokens"),
            "SELECT password FROM service.users",
        ),
    }
    for kind, statements in refused.items():
        with closing(psycopg.connect(of[kind], autocommit=True)) as connection:
            for statement in statements:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)
    for room in (owner, web, worker, releaser):
        room.store.close()


@slow
def test_code_that_was_exchanged_in_the_database_is_not_run(url: str, tmp_path: Path) -> None:
    room = make_room(tmp_path, url)
    submission = room.store.submission(room.submit())
    with closing(psycopg.connect(url, autocommit=True)) as owner:
        owner.execute("UPDATE service.code SET content = 'other = 1'")
    with pytest.raises(ServiceError, match="was changed in the database"):
        room.store.code(submission.code)
    daemon = Daemon(WORKER, Workplace(room.store, room.places, ALLOWED, unconfined=True))
    assert daemon.run_one()
    assert "was changed in the database" in room.store.submission(1).message
    room.store.close()


@slow
def test_public_tables_come_to_workers_without_them(url: str, tmp_path: Path) -> None:
    """The first submission is analysed in an empty folder; a table that is new is fetched anew."""
    room = make_room(tmp_path, url)
    fitted = f'{CHECK}[distribution]\ntable = "public.csv"\ncolumn = "click"\n'
    away = Places(tmp_path / "away", url)
    away.make()
    for values in ("0\n1\n", "0\n1\n1\n"):
        (room.places.public / "public.csv").write_text("click\n" + values)
        room.task = room.make_task(1, fitted)
        number = room.submit(key=f"key-{len(values):05}")
        daemon = Daemon(WORKER, Workplace(room.store, away, ALLOWED, unconfined=True))
        while daemon.run_one():
            pass
        assert room.store.submission(number).state == "YES", room.store.submission(number).message
        assert (away.public / "public.csv").read_text() == "click\n" + values
    room.store.close()


def test_no_password_is_shown() -> None:
    url = "postgresql://ada:se:cr@et@one:1,two:2/room?password=hidden&host=/x"
    assert show_url(url) == "postgresql://ada@one:1,two:2/room"
    assert "hidden" not in repr(Places(Path("x"), url))
