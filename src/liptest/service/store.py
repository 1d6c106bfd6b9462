"""The database of the service: SQLite in WAL mode; all SQL of the service is in this file.

What two processes could do at once is one transaction (BEGIN IMMEDIATE). A job belongs to a
process for the time of a lease; what it wrote after the lease was given to another is not taken.
No private value is ever stored here; outputs that were released are.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from liptest.service.records import (
    ANALYSE,
    APPROVED,
    CHECKING,
    FIT,
    OPERATOR,
    QUEUED,
    REGISTER,
    RELEASE,
    RELEASED,
    RUNNING,
    WAITING,
    LoggedEvent,
    LoginSession,
    PrivateTable,
    QueuedJob,
    ReleaseRequest,
    ReleaseTask,
    Result,
    ServiceError,
    Submission,
    User,
)

T = TypeVar("T")
#: Seconds that a process has a job for, unless it renews the lease.
LEASE = 20.0
_VERSION = 1
_SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL
    CHECK (role IN ('vendor', 'operator')), password TEXT NOT NULL);
CREATE TABLE sessions (hash TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users,
    csrf TEXT NOT NULL, expires REAL NOT NULL);
CREATE TABLE tokens (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users);
CREATE TABLE visits (key TEXT NOT NULL, time REAL NOT NULL);
CREATE INDEX visits_by_key ON visits (key, time);
CREATE TABLE tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, file TEXT NOT NULL,
    "column" TEXT, epsilon REAL NOT NULL, delta REAL NOT NULL, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '');
CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL,
    table_id INTEGER NOT NULL REFERENCES tables, check_json TEXT NOT NULL,
    proof_only INTEGER NOT NULL, approvals INTEGER NOT NULL, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '');
CREATE TABLE code (hash TEXT PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE submissions (id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks,
    vendor_id INTEGER NOT NULL REFERENCES users, code TEXT NOT NULL REFERENCES code,
    file TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '', created REAL NOT NULL, key TEXT,
    UNIQUE (vendor_id, key));
CREATE TABLE results (submission_id INTEGER PRIMARY KEY REFERENCES submissions,
    sealed BLOB NOT NULL, certificate BLOB NOT NULL, report BLOB NOT NULL, summary TEXT NOT NULL,
    is_proof INTEGER NOT NULL);
CREATE TABLE releases (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    submission_id INTEGER NOT NULL REFERENCES submissions, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '', output TEXT);
CREATE TABLE approvals (release_id INTEGER NOT NULL REFERENCES releases,
    user_id INTEGER NOT NULL REFERENCES users, PRIMARY KEY (release_id, user_id));
CREATE TABLE jobs (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject INTEGER NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, token TEXT NOT NULL DEFAULT '',
    lease REAL NOT NULL DEFAULT 0, UNIQUE (kind, subject));
CREATE INDEX jobs_by_state ON jobs (state, kind, id);
CREATE TABLE events (id INTEGER PRIMARY KEY, time REAL NOT NULL, user TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL);
"""
_SUBMISSIONS = """SELECT s.id, task_id, t.title AS task_title, u.name AS vendor, vendor_id, code,
    file, s.name, s.state, s.message, created
    FROM submissions s JOIN tasks t ON t.id = task_id JOIN users u ON u.id = vendor_id"""
_TASKS = """SELECT t.id, title, table_id, p.name AS table_name, check_json, proof_only, approvals,
    t.state, t.message FROM tasks t JOIN tables p ON p.id = table_id"""
_RELEASES = """SELECT r.id, r.key, submission_id, s.file, s.name, u.name AS vendor,
    p.name AS table_name, t.id AS task_id, approvals AS needed, r.state, r.message, output
    FROM releases r JOIN submissions s ON s.id = submission_id JOIN users u ON u.id = vendor_id
    JOIN tasks t ON t.id = task_id JOIN tables p ON p.id = table_id"""
# Which row a job is about.
_SUBJECTS = {ANALYSE: "submissions", REGISTER: "tables", FIT: "tasks", RELEASE: "releases"}
Row = sqlite3.Row


class Store:
    """The database at a path; ``clock`` gives seconds, and is the same for all processes."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.now = clock

    def prepare(self) -> None:
        """Create the tables where there are none. ServiceError for a file of another version."""
        with closing(self._connected()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found == 0:
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            elif found != _VERSION:
                raise ServiceError(500, f"{self.path}: version {found}, this one knows {_VERSION}")
            connection.execute("COMMIT")

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30.0, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; nothing of it is kept where its body raises."""
        with closing(self._connected()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[Row]:
        with closing(self._connected()) as connection:
            return list(connection.execute(query, values))

    def _one(self, query: str, *values: Any) -> Row | None:
        return next(iter(self._rows(query, *values)), None)

    # Accounts.

    def add_user(self, name: str, role: str, password: str) -> None:
        """A new account; ``password`` is its hash."""
        with self._writing() as db:
            if db.execute("SELECT 1 FROM users WHERE name = ?", (name,)).fetchone():
                raise ServiceError(409, f"there is an account {name!r} already")
            db.execute(
                "INSERT INTO users (name, role, password) VALUES (?, ?, ?)", (name, role, password)
            )
            self._note(db, name, "account made", role)

    def user(self, name: str) -> User | None:
        """The account of that name."""
        row = self._one("SELECT * FROM users WHERE name = ?", name)
        return None if row is None else User(**row)

    def users(self) -> list[User]:
        """All accounts."""
        return [User(**row) for row in self._rows("SELECT * FROM users ORDER BY name")]

    def add_session(self, user: User, digest: str, csrf: str, seconds: float) -> None:
        """A browser is logged in until ``seconds`` from now; old sessions are forgotten."""
        with self._writing() as db:
            db.execute("DELETE FROM sessions WHERE expires < ?", (self.now(),))
            values = (digest, user.id, csrf, self.now() + seconds)
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", values)
            self._note(db, user.name, "logged in", "")

    def session(self, digest: str) -> LoginSession | None:
        """The session of a secret, by its hash, while it lasts."""
        row = self._one(
            "SELECT u.*, csrf FROM sessions s JOIN users u ON u.id = user_id "
            "WHERE hash = ? AND expires > ?",
            *(digest, self.now()),
        )
        if row is None:
            return None
        fields = dict(row)
        csrf = fields.pop("csrf")
        return LoginSession(User(**fields), csrf)

    def end_session(self, digest: str) -> None:
        """Forget a session."""
        with self._writing() as db:
            db.execute("DELETE FROM sessions WHERE hash = ?", (digest,))

    def add_token(self, user: User, name: str, digest: str) -> None:
        """A token of the API, by its hash."""
        with self._writing() as db:
            values = (digest, name, user.id)
            db.execute("INSERT INTO tokens (hash, name, user_id) VALUES (?, ?, ?)", values)
            self._note(db, user.name, "token made", name)

    def tokens(self, user: User) -> list[tuple[int, str]]:
        """Number and name of each token of a user."""
        rows = self._rows("SELECT id, name FROM tokens WHERE user_id = ? ORDER BY id", user.id)
        return [(row["id"], row["name"]) for row in rows]

    def revoke_token(self, user: User, number: int) -> None:
        """A token of this user is no more."""
        with self._writing() as db:
            db.execute("DELETE FROM tokens WHERE id = ? AND user_id = ?", (number, user.id))
            self._note(db, user.name, "token revoked", str(number))

    def token_user(self, digest: str) -> User | None:
        """Whose token it is."""
        row = self._one(
            "SELECT u.* FROM tokens t JOIN users u ON u.id = user_id WHERE hash = ?", digest
        )
        return None if row is None else User(**row)

    def allow(self, key: str, most: int, seconds: float) -> bool:
        """Count a visit; False when there were ``most`` within the last seconds."""
        with self._writing() as db:
            db.execute("DELETE FROM visits WHERE time < ?", (self.now() - 3600,))
            since = (key, self.now() - seconds)
            query = "SELECT count(*) FROM visits WHERE key = ? AND time > ?"
            if db.execute(query, since).fetchone()[0] >= most:
                return False
            db.execute("INSERT INTO visits VALUES (?, ?)", (key, self.now()))
        return True

    # Tables and tasks.

    def add_table(
        self, user: User, name: str, file: str, column: str | None, epsilon: float, delta: float
    ) -> int:
        """A private table, to be looked at by the releaser."""
        with self._writing() as db:
            if db.execute("SELECT 1 FROM tables WHERE name = ?", (name,)).fetchone():
                raise ServiceError(409, f"there is a table {name!r} already")
            row = db.execute(
                'INSERT INTO tables (name, file, "column", epsilon, delta, state) '
                "VALUES (?, ?, ?, ?, ?, ?)",
                (name, file, column, epsilon, delta, CHECKING),
            )
            number = _number(row)
            self._add_job(db, REGISTER, number)
            self._note(db, user.name, "table registered", name)
        return number

    def tables(self) -> list[PrivateTable]:
        """All private tables, by name."""
        return [PrivateTable(**row) for row in self._rows("SELECT * FROM tables ORDER BY name")]

    def table(self, number: int) -> PrivateTable:
        """One of them; ServiceError 404."""
        row = self._one("SELECT * FROM tables WHERE id = ?", number)
        return PrivateTable(**_there(row, "table", number))

    def add_task(
        self,
        user: User,
        title: str,
        table: PrivateTable,
        check_json: str,
        *,
        proof_only: bool,
        approvals: int,
    ) -> int:
        """A task, to be compared with its table by the releaser."""
        with self._writing() as db:
            row = db.execute(
                "INSERT INTO tasks (title, table_id, check_json, proof_only, approvals, state) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (title, table.id, check_json, proof_only, approvals, CHECKING),
            )
            number = _number(row)
            self._add_job(db, FIT, number)
            self._note(db, user.name, "task made", f"{number}: {title}")
        return number

    def tasks(self) -> list[ReleaseTask]:
        """All tasks."""
        return [_task(row) for row in self._rows(f"{_TASKS} ORDER BY t.id")]

    def task(self, number: int) -> ReleaseTask:
        """One of them; ServiceError 404."""
        return _task(_there(self._one(f"{_TASKS} WHERE t.id = ?", number), "task", number))

    # Submissions.

    def add_submission(
        self,
        user: User,
        task: ReleaseTask,
        *,
        digest: str,
        content: bytes,
        file: str,
        name: str,
        key: str,
        most_waiting: int,
    ) -> int:
        """Code for a task; equal code is stored once, and a key that was used names the old one."""
        with self._writing() as db:
            query = "SELECT id, code FROM submissions WHERE vendor_id = ? AND key = ?"
            known = db.execute(query, (user.id, key)).fetchone()
            if known is not None:
                return _same(known["id"], known["code"] == digest, key)
            query = "SELECT count(*) FROM submissions WHERE vendor_id = ? AND state IN (?, ?)"
            if db.execute(query, (user.id, QUEUED, RUNNING)).fetchone()[0] >= most_waiting:
                raise ServiceError(429, f"{most_waiting} submissions of yours wait; wait for one")
            db.execute("INSERT OR IGNORE INTO code VALUES (?, ?)", (digest, content))
            row = db.execute(
                "INSERT INTO submissions (task_id, vendor_id, code, file, name, state, created, "
                "key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (task.id, user.id, digest, file, name, QUEUED, self.now(), key),
            )
            number = _number(row)
            self._add_job(db, ANALYSE, number)
            self._note(db, user.name, "submitted", f"{number}: sha256 {digest}")
        return number

    def submissions(self, vendor: User | None = None, most: int = 200) -> list[Submission]:
        """The last submissions of a vendor, or of all."""
        where, values = ("", ()) if vendor is None else ("WHERE vendor_id = ?", (vendor.id,))
        rows = self._rows(f"{_SUBMISSIONS} {where} ORDER BY s.id DESC LIMIT {most:d}", *values)
        return [Submission(**row) for row in rows]

    def submission(self, number: int) -> Submission:
        """One of them; ServiceError 404."""
        row = self._one(f"{_SUBMISSIONS} WHERE s.id = ?", number)
        return Submission(**_there(row, "submission", number))

    def code(self, digest: str) -> bytes:
        """The code of that sha256."""
        row = self._one("SELECT content FROM code WHERE hash = ?", digest)
        return bytes(_there(row, "code", digest)["content"])

    def result(self, submission: int) -> Result | None:
        """What an analysis came to; None where there is no verdict."""
        row = self._one("SELECT * FROM results WHERE submission_id = ?", submission)
        if row is None:
            return None
        texts = {name: _unpacked(row[name]) for name in ("sealed", "certificate", "report")}
        return Result(**texts, summary=row["summary"], is_proof=bool(row["is_proof"]))

    # Releases.

    def add_release(self, user: User, submission: Submission, key: str) -> int:
        """A request, which its author agrees with; a key that was used names the old one."""
        with self._writing() as db:
            query = "SELECT id, submission_id FROM releases WHERE key = ?"
            known = db.execute(query, (key,)).fetchone()
            if known is not None:
                return _same(known["id"], known["submission_id"] == submission.id, key)
            row = db.execute(
                "INSERT INTO releases (key, submission_id, state) VALUES (?, ?, ?)",
                (key, submission.id, WAITING),
            )
            number = _number(row)
            self._note(db, user.name, "release asked for", f"{number} of {submission.label}")
            self._approve(db, user, number)
        return number

    def approve(self, user: User, number: int) -> None:
        """One operator more agrees; with enough of them the releaser is told."""
        with self._writing() as db:
            self._approve(db, user, number)

    def _approve(self, db: sqlite3.Connection, user: User, number: int) -> None:
        # Read inside of the transaction: an account may have lost its role.
        role = db.execute("SELECT role FROM users WHERE id = ?", (user.id,)).fetchone()["role"]
        if role != OPERATOR:
            raise ServiceError(403, "only operators approve releases")
        found = db.execute(f"{_RELEASES} WHERE r.id = ?", (number,)).fetchone()
        row = _there(found, "release", number)
        if row["state"] != WAITING:
            return
        db.execute("INSERT OR IGNORE INTO approvals VALUES (?, ?)", (number, user.id))
        self._note(db, user.name, "approved", f"release {number}")
        query = "SELECT count(*) FROM approvals WHERE release_id = ?"
        if db.execute(query, (number,)).fetchone()[0] >= row["needed"]:
            db.execute("UPDATE releases SET state = ? WHERE id = ?", (APPROVED, number))
            self._add_job(db, RELEASE, number)

    def releases(self, submission: int | None = None) -> list[ReleaseRequest]:
        """The requests for a submission, or all."""
        where, values = (
            ("", ()) if submission is None else ("WHERE submission_id = ?", (submission,))
        )
        rows = self._rows(f"{_RELEASES} {where} ORDER BY r.id DESC", *values)
        agreed = self._approvers()
        return [_release(row, agreed.get(row["id"], ())) for row in rows]

    def release(self, number: int) -> ReleaseRequest:
        """One of them; ServiceError 404."""
        row = _there(self._one(f"{_RELEASES} WHERE r.id = ?", number), "release", number)
        return _release(row, self._approvers().get(number, ()))

    def _approvers(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        query = (
            "SELECT release_id, name FROM approvals JOIN users ON users.id = user_id ORDER BY name"
        )
        for row in self._rows(query):
            found[row["release_id"]] = (*found.get(row["release_id"], ()), row["name"])
        return found

    # Jobs.

    def _add_job(self, db: sqlite3.Connection, kind: str, subject: int) -> None:
        values = (kind, subject, QUEUED)
        db.execute("INSERT INTO jobs (kind, subject, state) VALUES (?, ?, ?)", values)

    def claim(self, kinds: Sequence[str], lease: float = LEASE) -> QueuedJob | None:
        """The oldest job that nobody has, or whose lease has ended; it is the caller's now."""
        with self._writing() as db:
            marks = ", ".join("?" * len(kinds))
            row = db.execute(
                f"SELECT * FROM jobs WHERE kind IN ({marks}) AND (state = ? OR (state = ? AND "
                f"lease < ?)) ORDER BY id LIMIT 1",
                (*kinds, QUEUED, RUNNING, self.now()),
            ).fetchone()
            if row is None:
                return None
            token = secrets.token_hex(16)
            db.execute(
                "UPDATE jobs SET state = ?, token = ?, lease = ?, attempts = attempts + 1 "
                "WHERE id = ?",
                (RUNNING, token, self.now() + lease, row["id"]),
            )
            if row["kind"] == ANALYSE:
                values = (RUNNING, row["subject"])
                db.execute("UPDATE submissions SET state = ? WHERE id = ?", values)
        return QueuedJob(row["id"], row["kind"], row["subject"], row["attempts"] + 1, token)

    def renew(self, job: QueuedJob, lease: float = LEASE) -> bool:
        """Keep a job; False when it is another's."""
        with self._writing() as db:
            done = db.execute(
                "UPDATE jobs SET lease = ? WHERE id = ? AND token = ? AND state = ?",
                (self.now() + lease, job.id, job.token, RUNNING),
            )
            return done.rowcount == 1

    def finish(
        self,
        job: QueuedJob,
        state: str,
        message: str = "",
        *,
        result: Result | None = None,
        output: str | None = None,
    ) -> bool:
        """Write what a job came to, once: False, and nothing is written, when it is another's."""
        with self._writing() as db:
            done = db.execute(
                "UPDATE jobs SET state = 'done' WHERE id = ? AND token = ? AND state = ?",
                (job.id, job.token, RUNNING),
            )
            if done.rowcount != 1:
                return False
            values = (state, message, job.subject)
            subjects = _SUBJECTS[job.kind]
            db.execute(f"UPDATE {subjects} SET state = ?, message = ? WHERE id = ?", values)
            if result is not None:
                packed = map(_packed, (result.sealed, result.certificate, result.report))
                db.execute(
                    "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)",
                    (job.subject, *packed, result.summary, result.is_proof),
                )
            if state == RELEASED:
                values = (output or "", "", job.subject)
                db.execute("UPDATE releases SET output = ?, message = ? WHERE id = ?", values)
            self._note(db, "", f"{job.kind}: {state}", str(job.subject))
        return True

    def waiting(self) -> int:
        """How many jobs are not done."""
        row = self._one("SELECT count(*) AS n FROM jobs WHERE state != 'done'")
        return 0 if row is None else int(row["n"])

    # Events.

    def _note(self, db: sqlite3.Connection, user: str, what: str, subject: str) -> None:
        values = (self.now(), user, what, subject)
        db.execute("INSERT INTO events (time, user, what, subject) VALUES (?, ?, ?, ?)", values)

    def events(self, most: int = 200) -> list[LoggedEvent]:
        """The last events, the last first."""
        query = "SELECT time, user, what, subject FROM events ORDER BY id DESC LIMIT ?"
        return [LoggedEvent(**row) for row in self._rows(query, most)]


def open_store(url: str, clock: Callable[[], float] = time.time) -> Store:
    """The database of a path; ServiceError for the URL of another kind of database."""
    if "://" in url:
        raise ServiceError(
            500, f"database={url.partition(':')[0]}: only a file for SQLite is known; name a file"
        )
    return Store(Path(url), clock)


def _there(row: Row | None, what: str, number: object) -> Row:
    if row is None:
        raise ServiceError(404, f"there is no {what} {number}")
    return row


def _same(number: int, is_same: bool, key: str) -> int:
    """The number of a request that was made before, if it was this one."""
    if not is_same:
        raise ServiceError(409, f"the key {key[:40]!r} named another request; use a new one")
    return number


def _number(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _task(row: Row) -> ReleaseTask:
    fields: dict[str, Any] = dict(row)
    return ReleaseTask(**{**fields, "proof_only": bool(row["proof_only"])})


def _release(row: Row, approvers: tuple[str, ...]) -> ReleaseRequest:
    fields: dict[str, Any] = dict(row)
    label = f"{fields.pop('file').removesuffix('.py')}:{fields.pop('name')}"
    return ReleaseRequest(**fields, label=label, approvers=approvers)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(), 3)


def _unpacked(data: bytes) -> str:
    return zlib.decompress(data).decode()
