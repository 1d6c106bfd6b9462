"""A service in a folder, with accounts, a private table and a task; analyses without processes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import liptest as lt
from liptest.cli.sealed_release import SealedCode
from liptest.evidence.ledger import LedgerRecorder
from liptest.evidence.postgres import Postgres
from liptest.gate.gate import SealedGate
from liptest.gate.sealing import seal, seal_on_grid
from liptest.runs.fingerprints import fingerprint
from liptest.service import actions
from liptest.service.analysis import write_sealed
from liptest.service.daemon import Daemon
from liptest.service.jobs import RELEASER, Workplace
from liptest.service.opening import prepare_all
from liptest.service.records import ANALYSE, OPERATOR, VENDOR, Places, Result, User
from liptest.service.store import Store
from liptest.service.tasks import ALLOWED, from_json, settings_of_test, task_law
from tests.unit.data.postgres import USER, running_server

#: Records of the private table, and a value that no domain of it holds.
RECORDS, STRANGE = 12, 770077
CHECK = f"epsilon = 1.0\n[domain]\nrecords = {RECORDS}\n"
CODE = b"import liptest as lt\ncount = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))\n"
#: Fast to verify: the cost of a password is not what is tested here.
PASSWORD = "correct horse"


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Room:
    """Everything that a test needs."""

    store: Store
    places: Places
    clock: Clock
    task: int = 0

    def user(self, name: str) -> User:
        found = self.store.user(name)
        assert found is not None
        return found

    def stored(self) -> bytes:
        """All that is stored: of files their bytes, of tables in a server their rows."""
        found = [path.read_bytes() for path in self.places.folder.rglob("*.db*")]
        if self.places.url is not None:
            for schema in ("service", "ledger", "tests"):
                base = Postgres(self.places.url, schema, named=False)
                query = "SELECT tablename FROM pg_tables WHERE schemaname = ?"
                for (name,) in base.rows(query, (schema,)):
                    found += [repr(row).encode() for row in base.rows(f"SELECT * FROM {name}")]
        return b"".join(found)

    def work(self) -> None:
        """Let the releaser do what there is."""
        daemon = Daemon(RELEASER, Workplace(self.store, self.places, ALLOWED))
        while daemon.run_one():
            pass

    def register(
        self,
        name: str = "clicks",
        file: str = "clicks.csv",
        cap: float = 2.0,
        column: str = "click",
    ) -> int:
        more = {"column": column, "epsilon": cap, "delta": 1e-9}
        number = actions.register_table(
            *(self.store, self.user("olga")), name=name, file=file, **more
        )
        self.work()
        return number

    def make_task(self, table: int, check: str = CHECK, approvals: int = 1) -> int:
        number = actions.make_task(
            *(self.store, self.user("olga")),
            title="How many?",
            table=table,
            check=check,
            proof_only=True,
            approvals=approvals,
        )
        self.work()
        return number

    def submit(self, vendor: str = "vera", key: str = "key-00001", content: bytes = CODE) -> int:
        return actions.submit_code(
            *(self.store, self.user(vendor)),
            task=self.task,
            file="mine.py",
            name="count",
            content=content,
            key=key,
        )

    def decide(self, number: int, mechanism: lt.Mechanism) -> None:
        """Write the verdict on a mechanism, as a worker does, for the oldest submission."""
        job = self.store.claim((ANALYSE,))
        assert job is not None
        assert job.subject == number
        result, decision = analysed(self, mechanism)
        assert self.store.finish(job, decision, result=result)


def analysed(room: Room, mechanism: lt.Mechanism) -> tuple[Result, str]:
    """What a worker would come to; the code runs here."""
    model = from_json(room.store.task(room.task).check_json)
    law = task_law(model, room.places.public)
    own, code = mechanism.on_domain(law.domain), fingerprint(mechanism)
    given = own, law.domain
    sealed = seal(*given) if model.step is None else seal_on_grid(*given, model.step)
    found = SealedCode(sealed, "mine:count", "declared", code)
    gate = SealedGate(
        found.sealed,
        law,
        settings_of_test(model),
        code=code,
        law_source="declared",
        recorder=LedgerRecorder(None),
    )
    certificate = gate.certificate
    verdict = certificate.verdict
    is_proof = verdict.guarantee.kind == "proof"
    page = "<p>report</p>"
    result = Result(write_sealed(found), certificate.to_json(), page, str(verdict), is_proof)
    return result, str(certificate.decision)


def private_mechanism() -> lt.Mechanism:
    """Epsilon 1."""
    return lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))


@dataclass(frozen=True)
class DatabaseServer:
    """A PostgreSQL server: databases by their names, each copied from another one."""

    engine: Any

    def url(self, name: str, user: str = USER) -> str:
        return f"postgresql://{user}@/{name}?host={self.engine.url.query['host']}"

    def run(self, statement: str) -> None:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(statement)

    def make_account(self, name: str) -> None:
        """An account that may log in, where it is not there from another test."""
        self.run(
            f"DO $$ BEGIN CREATE ROLE {name} LOGIN; EXCEPTION WHEN duplicate_object THEN END $$"
        )

    def create(self, name: str, template: str = "template1") -> str:
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)


def name_of_database(url: str) -> str:
    from sqlalchemy import make_url

    name = make_url(url).database
    assert name is not None
    return name


@contextmanager
def running_databases() -> Iterator[DatabaseServer]:
    with running_server() as engine:
        yield DatabaseServer(engine)


def make_room(folder: Path, url: str | None = None) -> Room:
    """Two operators, two vendors, a table and a task; in PostgreSQL where a URL is named."""
    places, clock = Places(folder / "room", url), Clock()
    store = Store(places.database, clock)
    prepare_all(store, places)
    hashed = quick_hash(PASSWORD)
    for name, role in (("olga", OPERATOR), ("oleg", OPERATOR), ("vera", VENDOR), ("viki", VENDOR)):
        store.add_user(name, role, hashed)
    write(places, "clicks.csv", [0, 1] * (RECORDS // 2))
    room = Room(store, places, clock)
    room.task = room.make_task(room.register())
    return room


def write(places: Places, file: str, values: list[int]) -> None:
    text = "\n".join(["click", *map(str, values)])
    (places.private / file).write_text(text + "\n", encoding="utf-8")


def quick_hash(password: str) -> str:
    from argon2 import PasswordHasher

    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    return str(hasher.hash(password))


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
