"""The database of the service: all its SQL, written once for SQLite and PostgreSQL.

What two processes could do at once is one transaction: by the lock of a file, or serializable. A
job belongs to a process for the time of a lease; what it wrote after the lease was given to another
is not taken. No private value is ever stored here; outputs that were released are.
"""

from __future__ import annotations

import hashlib
import secrets
import time
import zlib
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from liptest.service.databases import Database, PostgresDatabase, Queries, open_database
from liptest.service.records import (
    ANALYSE,
    APPROVED,
    CAP_PEOPLE,
    CHECKING,
    FIT,
    OPERATOR,
    QUEUED,
    REGISTER,
    RELEASE,
    RELEASED,
    RUNNING,
    WAITING,
    ChangedContent,
    LoggedEvent,
    LoginSession,
    People,
    PrivateTable,
    QueuedJob,
    ReleaseRequest,
    ReleaseTask,
    Result,
    ServiceError,
    Submission,
    User,
)

P = ParamSpec("P")
T = TypeVar("T")
Row = Any
#: Seconds that a process has a job for, unless it renews the lease.
LEASE = 20.0
# Bytes of a text that is stored packed: twice those of the answer of an analysis.
_MOST_TEXT = 1 << 27
_FIRST = """
CREATE TABLE users (id {id}, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL
    CHECK (role IN ('vendor', 'operator')), password TEXT NOT NULL);
CREATE TABLE sessions (hash TEXT PRIMARY KEY, user_id {whole} NOT NULL REFERENCES users,
    csrf TEXT NOT NULL, expires {real} NOT NULL);
CREATE TABLE tokens (id {id}, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    user_id {whole} NOT NULL REFERENCES users);
CREATE TABLE visits (key TEXT NOT NULL, time {real} NOT NULL);
CREATE INDEX visits_by_key ON visits (key, time);
CREATE TABLE tables (id {id}, name TEXT NOT NULL UNIQUE, file TEXT NOT NULL,
    "column" TEXT, epsilon {real} NOT NULL, delta {real} NOT NULL, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '');
CREATE TABLE tasks (id {id}, title TEXT NOT NULL,
    table_id {whole} NOT NULL REFERENCES tables, check_json TEXT NOT NULL,
    proof_only {whole} NOT NULL, approvals {whole} NOT NULL, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '');
CREATE TABLE code (hash TEXT PRIMARY KEY, content {bytes} NOT NULL);
CREATE TABLE submissions (id {id}, task_id {whole} NOT NULL REFERENCES tasks,
    vendor_id {whole} NOT NULL REFERENCES users, code TEXT NOT NULL REFERENCES code,
    file TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '', created {real} NOT NULL, key TEXT,
    UNIQUE (vendor_id, key));
CREATE TABLE results (submission_id {whole} PRIMARY KEY REFERENCES submissions,
    sealed {bytes} NOT NULL, certificate {bytes} NOT NULL, report {bytes} NOT NULL,
    summary TEXT NOT NULL, is_proof {whole} NOT NULL);
CREATE TABLE releases (id {id}, key TEXT NOT NULL UNIQUE,
    submission_id {whole} NOT NULL REFERENCES submissions, state TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '', output TEXT);
CREATE TABLE approvals (release_id {whole} NOT NULL REFERENCES releases,
    user_id {whole} NOT NULL REFERENCES users, PRIMARY KEY (release_id, user_id));
CREATE TABLE jobs (id {id}, kind TEXT NOT NULL, subject {whole} NOT NULL,
    state TEXT NOT NULL, attempts {whole} NOT NULL DEFAULT 0, token TEXT NOT NULL DEFAULT '',
    lease {real} NOT NULL DEFAULT 0, UNIQUE (kind, subject));
CREATE INDEX jobs_by_state ON jobs (state, kind, id);
CREATE TABLE events (id {id}, time {real} NOT NULL, "user" TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL);
"""
# What the second version added: tables about the same people, files for workers on other hosts.
_SECOND = """
CREATE TABLE people (id {id}, name TEXT NOT NULL UNIQUE, epsilon {real} NOT NULL,
    delta {real} NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL DEFAULT '');
CREATE TABLE people_tables (people_id {whole} NOT NULL REFERENCES people,
    table_id {whole} NOT NULL REFERENCES tables, PRIMARY KEY (people_id, table_id));
CREATE TABLE public_files (name TEXT PRIMARY KEY, hash TEXT NOT NULL, content {bytes} NOT NULL)
"""
_REPLACE_RESULT = """INSERT INTO results VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (submission_id)
    DO UPDATE SET sealed = excluded.sealed, certificate = excluded.certificate,
    report = excluded.report, summary = excluded.summary, is_proof = excluded.is_proof"""
_REPLACE_FILE = """INSERT INTO public_files VALUES (?, ?, ?) ON CONFLICT (name)
    DO UPDATE SET hash = excluded.hash, content = excluded.content"""
_VERSIONS = (_FIRST, _SECOND)
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
_SUBJECTS = {
    **{ANALYSE: "submissions", REGISTER: "tables", CAP_PEOPLE: "people", FIT: "tasks"},
    RELEASE: "releases",
}


def writes(
    *, rows_only: bool = False
) -> Callable[[Callable[Concatenate[Any, Queries, P], T]], Callable[Concatenate[Any, P], T]]:
    """The method is one transaction, and may run several times; nothing is kept where it raises.

    With ``rows_only`` the locks of the rows that it writes are enough.
    """

    def make(method: Callable[Concatenate[Any, Queries, P], T]) -> Callable[Concatenate[Any, P], T]:
        @wraps(method)
        def run(self: Any, /, *given: P.args, **more: P.kwargs) -> T:
            def action(db: Queries) -> T:
                return method(self, db, *given, **more)

            outcome: T = self.base.write(action, rows_only=rows_only)
            return outcome

        return run

    return make


class Store:
    """The database at a path or a URL; ``clock`` gives seconds, or else the database does."""

    def __init__(self, place: str | Path, clock: Callable[[], float] | None = None) -> None:
        self.base: Database = open_database(place)
        self._clock = clock

    def prepare(self) -> None:
        """Create the tables where there are none. ServiceError for those of another version."""
        self.base.prepare(_VERSIONS)

    def close(self) -> None:
        """End connections that are kept."""
        self.base.close()

    def grant(self) -> list[str]:
        """Give the accounts of a database server what each needs; which of them are there."""
        return self.base.grant() if isinstance(self.base, PostgresDatabase) else []

    def _now(self, db: Queries) -> float:
        return self.base.seconds(db) if self._clock is None else self._clock()

    def _rows(self, query: str, *values: Any) -> list[Row]:
        return self.base.rows(query, values)

    def _one(self, query: str, *values: Any) -> Row | None:
        return next(iter(self._rows(query, *values)), None)

    # Accounts.

    @writes()
    def add_user(self, db: Queries, name: str, role: str, password: str) -> None:
        """A new account; ``password`` is its hash."""
        if db.execute("SELECT 1 FROM users WHERE name = ?", (name,)).fetchone():
            raise ServiceError(409, f"there is an account {name!r} already")
        db.execute(
            "INSERT INTO users (name, role, password) VALUES (?, ?, ?)", (name, role, password)
        )
        self._note(db, name, "account made", role)

    @writes()
    def renew_user(self, db: Queries, user: User, password: str) -> None:
        """Another password, by its hash; sessions and tokens of the user are forgotten."""
        db.execute("UPDATE users SET password = ? WHERE id = ?", (password, user.id))
        for table in ("sessions", "tokens"):
            db.execute(f"DELETE FROM {table} WHERE user_id = ?", (user.id,))
        self._note(db, user.name, "account renewed", "")

    def user(self, name: str) -> User | None:
        """The account of that name."""
        row = self._one("SELECT * FROM users WHERE name = ?", name)
        return None if row is None else User(**row)

    def users(self) -> list[User]:
        """All accounts."""
        return [User(**row) for row in self._rows("SELECT * FROM users ORDER BY name")]

    @writes()
    def add_session(self, db: Queries, user: User, digest: str, csrf: str, seconds: float) -> None:
        """A browser is logged in until ``seconds`` from now; old sessions are forgotten."""
        db.execute("DELETE FROM sessions WHERE expires < ?", (self._now(db),))
        values = (digest, user.id, csrf, self._now(db) + seconds)
        db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", values)
        self._note(db, user.name, "logged in", "")

    def session(self, digest: str) -> LoginSession | None:
        """The session of a secret, by its hash, while it lasts."""
        row = self._one(
            "SELECT u.*, csrf FROM sessions s JOIN users u ON u.id = user_id "
            "WHERE hash = ? AND expires > ?",
            *(digest, time.time() if self._clock is None else self._clock()),
        )
        if row is None:
            return None
        fields = dict(row)
        csrf = fields.pop("csrf")
        return LoginSession(User(**fields), csrf)

    @writes()
    def end_session(self, db: Queries, digest: str) -> None:
        """Forget a session."""
        db.execute("DELETE FROM sessions WHERE hash = ?", (digest,))

    @writes()
    def add_token(self, db: Queries, user: User, name: str, digest: str) -> None:
        """A token of the API, by its hash."""
        values = (digest, name, user.id)
        db.execute("INSERT INTO tokens (hash, name, user_id) VALUES (?, ?, ?)", values)
        self._note(db, user.name, "token made", name)

    def tokens(self, user: User) -> list[tuple[int, str]]:
        """Number and name of each token of a user."""
        rows = self._rows("SELECT id, name FROM tokens WHERE user_id = ? ORDER BY id", user.id)
        return [(row["id"], row["name"]) for row in rows]

    @writes()
    def revoke_token(self, db: Queries, user: User, number: int) -> None:
        """Delete a token of this user."""
        db.execute("DELETE FROM tokens WHERE id = ? AND user_id = ?", (number, user.id))
        self._note(db, user.name, "token revoked", str(number))

    def token_user(self, digest: str) -> User | None:
        """Whose token it is."""
        row = self._one(
            "SELECT u.* FROM tokens t JOIN users u ON u.id = user_id WHERE hash = ?", digest
        )
        return None if row is None else User(**row)

    @writes()
    def allow(self, db: Queries, key: str, most: int, seconds: float) -> bool:
        """Count a visit; False when there were ``most`` within the last seconds."""
        db.execute("DELETE FROM visits WHERE time < ?", (self._now(db) - 3600,))
        since = (key, self._now(db) - seconds)
        query = "SELECT count(*) AS n FROM visits WHERE key = ? AND time > ?"
        if db.execute(query, since).fetchone()["n"] >= most:
            return False
        db.execute("INSERT INTO visits VALUES (?, ?)", (key, self._now(db)))
        return True

    # Tables and tasks.

    @writes()
    def add_table(
        self,
        db: Queries,
        user: User,
        name: str,
        file: str,
        column: str | None,
        epsilon: float,
        delta: float,
    ) -> int:
        """A private table, to be looked at by the releaser."""
        if db.execute("SELECT 1 FROM tables WHERE name = ?", (name,)).fetchone():
            raise ServiceError(409, f"there is a table {name!r} already")
        number = self.base.insert(
            db,
            'INSERT INTO tables (name, file, "column", epsilon, delta, state) '
            "VALUES (?, ?, ?, ?, ?, ?)",
            (name, file, column, epsilon, delta, CHECKING),
        )
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

    @writes()
    def add_people(
        self,
        db: Queries,
        user: User,
        name: str,
        tables: Sequence[int],
        epsilon: float,
        delta: float,
    ) -> int:
        """Tables that concern the same people; of a group that is there, tables that are added."""
        row = db.execute("SELECT * FROM people WHERE name = ?", (name,)).fetchone()
        if row is None:
            number = self.base.insert(
                db,
                "INSERT INTO people (name, epsilon, delta, state) VALUES (?, ?, ?, ?)",
                (name, epsilon, delta, CHECKING),
            )
        elif (row["epsilon"], row["delta"]) == (epsilon, delta):
            number = int(row["id"])
            db.execute("UPDATE people SET state = ? WHERE id = ?", (CHECKING, number))
        else:
            told = f"{row['epsilon']} at {row['delta']}"
            raise ServiceError(409, f"the people {name!r} have the cap {told} already")
        for table in tables:
            entry = db.execute("SELECT id FROM tables WHERE id = ?", (table,)).fetchone()
            _there(entry, "table", table)
            query = "INSERT INTO people_tables VALUES (?, ?) ON CONFLICT DO NOTHING"
            db.execute(query, (number, table))
        # Whoever has the job may have read the tables before: it is begun again.
        db.execute("DELETE FROM jobs WHERE kind = ? AND subject = ?", (CAP_PEOPLE, number))
        self._add_job(db, CAP_PEOPLE, number)
        self._note(db, user.name, "people named", f"{number}: {name}")
        return number

    def people(self) -> list[People]:
        """All groups of people, by name, with their tables."""
        of: dict[int, tuple[str, ...]] = {}
        query = "SELECT people_id, name FROM people_tables JOIN tables ON id = table_id ORDER BY 2"
        for row in self._rows(query):
            of[row["people_id"]] = (*of.get(row["people_id"], ()), row["name"])
        rows = self._rows("SELECT * FROM people ORDER BY name")
        return [People(**row, tables=of.get(row["id"], ())) for row in rows]

    @writes()
    def add_task(
        self,
        db: Queries,
        user: User,
        title: str,
        table: PrivateTable,
        check_json: str,
        *,
        proof_only: bool,
        approvals: int,
    ) -> int:
        """A task, to be compared with its table by the releaser."""
        number = self.base.insert(
            db,
            "INSERT INTO tasks (title, table_id, check_json, proof_only, approvals, state) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (title, table.id, check_json, int(proof_only), approvals, CHECKING),
        )
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

    @writes()
    def add_submission(
        self,
        db: Queries,
        user: User,
        task: ReleaseTask,
        *,
        digest: str,
        content: bytes,
        file: str,
        name: str,
        key: str,
        most_waiting: int,
        most_kept: int,
    ) -> int:
        """Code for a task; equal code is stored once, and a key that was used names the old one."""
        query = "SELECT id, code FROM submissions WHERE vendor_id = ? AND key = ?"
        earlier = db.execute(query, (user.id, key)).fetchone()
        if earlier is not None:
            return _same(earlier["id"], earlier["code"] == digest, key)
        query = "SELECT count(*) AS n FROM submissions WHERE vendor_id = ? AND state IN (?, ?)"
        if db.execute(query, (user.id, QUEUED, RUNNING)).fetchone()["n"] >= most_waiting:
            raise ServiceError(429, f"{most_waiting} submissions of yours wait; wait for one")
        query = "SELECT count(*) AS n FROM submissions WHERE vendor_id = ?"
        if db.execute(query, (user.id,)).fetchone()["n"] >= most_kept:
            raise ServiceError(
                429,
                f"this account has {most_kept:,} submissions, the most that are kept for one; ask "
                f"an operator for another account",
            )
        db.execute("INSERT INTO code VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, content))
        number = self.base.insert(
            db,
            "INSERT INTO submissions (task_id, vendor_id, code, file, name, state, created, "
            "key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (task.id, user.id, digest, file, name, QUEUED, self._now(db), key),
        )
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
        return _leave_unchanged(_there(row, "code", digest)["content"], "code", digest)

    @writes()
    def keep_public_file(self, db: Queries, name: str, digest: str, content: bytes) -> None:
        """Keep a public file for workers on other machines; the last of a name counts."""
        db.execute(_REPLACE_FILE, (name, digest, content))

    def public_digest(self, name: str) -> str | None:
        """The sha256 of a public file that is kept."""
        row = self._one("SELECT hash FROM public_files WHERE name = ?", name)
        return None if row is None else str(row["hash"])

    def public_file(self, name: str, digest: str) -> bytes:
        """What is in it."""
        row = self._one("SELECT content FROM public_files WHERE name = ?", name)
        return _leave_unchanged(_there(row, "file", name)["content"], "public file", digest)

    def result(self, submission: int) -> Result | None:
        """What an analysis came to; None where there is no verdict."""
        row = self._one("SELECT * FROM results WHERE submission_id = ?", submission)
        if row is None:
            return None
        texts = {name: _unpack(row[name]) for name in ("sealed", "certificate", "report")}
        return Result(**texts, summary=row["summary"], is_proof=bool(row["is_proof"]))

    def summary(self, submission: int) -> str | None:
        """The words of its verdict; None where there is none."""
        row = self._one("SELECT summary FROM results WHERE submission_id = ?", submission)
        return None if row is None else str(row["summary"])

    # Releases.

    @writes()
    def add_release(self, db: Queries, user: User, submission: Submission, key: str) -> int:
        """A request, which its author agrees with; a key that was used names the old one."""
        query = "SELECT id, submission_id FROM releases WHERE key = ?"
        earlier = db.execute(query, (key,)).fetchone()
        if earlier is not None:
            return _same(earlier["id"], earlier["submission_id"] == submission.id, key)
        number = self.base.insert(
            db,
            "INSERT INTO releases (key, submission_id, state) VALUES (?, ?, ?)",
            (key, submission.id, WAITING),
        )
        self._note(db, user.name, "release asked for", f"{number} of {submission.label}")
        self._approve(db, user, number)
        return number

    @writes()
    def approve(self, db: Queries, user: User, number: int) -> None:
        """One operator more agrees; with enough of them the releaser is told."""
        self._approve(db, user, number)

    def _approve(self, db: Queries, user: User, number: int) -> None:
        # Read inside of the transaction: an account may have lost its role.
        role = db.execute("SELECT role FROM users WHERE id = ?", (user.id,)).fetchone()["role"]
        if role != OPERATOR:
            raise ServiceError(403, "only operators approve releases")
        entry = db.execute(f"{_RELEASES} WHERE r.id = ?", (number,)).fetchone()
        row = _there(entry, "release", number)
        if row["state"] != WAITING:
            return
        db.execute("INSERT INTO approvals VALUES (?, ?) ON CONFLICT DO NOTHING", (number, user.id))
        self._note(db, user.name, "approved", f"release {number}")
        query = "SELECT count(*) AS n FROM approvals WHERE release_id = ?"
        if db.execute(query, (number,)).fetchone()["n"] >= row["needed"]:
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
        approvers: dict[int, tuple[str, ...]] = {}
        query = (
            "SELECT release_id, name FROM approvals JOIN users ON users.id = user_id ORDER BY name"
        )
        for row in self._rows(query):
            approvers[row["release_id"]] = (*approvers.get(row["release_id"], ()), row["name"])
        return approvers

    # Jobs.

    def _add_job(self, db: Queries, kind: str, subject: int) -> None:
        values = (kind, subject, QUEUED)
        db.execute("INSERT INTO jobs (kind, subject, state) VALUES (?, ?, ?)", values)

    @writes(rows_only=True)
    def claim(self, db: Queries, kinds: Sequence[str], lease: float = LEASE) -> QueuedJob | None:
        """The oldest job that nobody has, or whose lease has ended; it is the caller's now."""
        marks = ", ".join("?" * len(kinds))
        row = db.execute(
            f"SELECT * FROM jobs WHERE kind IN ({marks}) AND (state = ? OR (state = ? AND "
            f"lease < ?)) ORDER BY id LIMIT 1 {self.base.unlocked}",
            (*kinds, QUEUED, RUNNING, self._now(db)),
        ).fetchone()
        if row is None:
            return None
        token = secrets.token_hex(16)
        db.execute(
            "UPDATE jobs SET state = ?, token = ?, lease = ?, attempts = attempts + 1 WHERE id = ?",
            (RUNNING, token, self._now(db) + lease, row["id"]),
        )
        if row["kind"] == ANALYSE:
            values = (RUNNING, row["subject"])
            db.execute("UPDATE submissions SET state = ? WHERE id = ?", values)
        return QueuedJob(row["id"], row["kind"], row["subject"], row["attempts"] + 1, token)

    @writes(rows_only=True)
    def renew(self, db: Queries, job: QueuedJob, lease: float = LEASE) -> bool:
        """Keep a job; False when it is another's."""
        done = db.execute(
            "UPDATE jobs SET lease = ? WHERE id = ? AND token = ? AND state = ?",
            (self._now(db) + lease, job.id, job.token, RUNNING),
        )
        return bool(done.rowcount == 1)

    @writes(rows_only=True)
    def finish(
        self,
        db: Queries,
        job: QueuedJob,
        state: str,
        message: str = "",
        *,
        result: Result | None = None,
        output: str | None = None,
    ) -> bool:
        """Write what a job came to, once: False, and nothing is written, when it is another's."""
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
            packed = map(_pack, (result.sealed, result.certificate, result.report))
            db.execute(
                _REPLACE_RESULT, (job.subject, *packed, result.summary, int(result.is_proof))
            )
        if state == RELEASED:
            values = (output or "", "", job.subject)
            db.execute("UPDATE releases SET output = ?, message = ? WHERE id = ?", values)
        self._note(db, "", f"{job.kind}: {state}", f"{subjects.removesuffix('s')} {job.subject}")
        return True

    def waiting(self) -> int:
        """How many jobs are not done."""
        row = self._one("SELECT count(*) AS n FROM jobs WHERE state != 'done'")
        return 0 if row is None else int(row["n"])

    # Events.

    def _note(self, db: Queries, user: str, what: str, subject: str) -> None:
        values = (self._now(db), user, what, subject)
        db.execute('INSERT INTO events (time, "user", what, subject) VALUES (?, ?, ?, ?)', values)

    def events(self, most: int = 200) -> list[LoggedEvent]:
        """The last events, the last first."""
        query = 'SELECT time, "user", what, subject FROM events ORDER BY id DESC LIMIT ?'
        return [LoggedEvent(**row) for row in self._rows(query, most)]


def _there(row: Row | None, what: str, number: object) -> Row:
    if row is None:
        raise ServiceError(404, f"there is no {what} {number}")
    return row


def _leave_unchanged(content: Any, what: str, digest: str) -> bytes:
    plain = bytes(content)
    if hashlib.sha256(plain).hexdigest() != digest:
        raise ChangedContent(500, f"the {what} of sha256 {digest} was changed in the database")
    return plain


def _same(number: int, is_same: bool, key: str) -> int:
    """The number of a request that was made before, if it was this one."""
    if not is_same:
        raise ServiceError(409, f"the key {key[:40]!r} named another request; use a new one")
    return number


def _task(row: Row) -> ReleaseTask:
    fields: dict[str, Any] = dict(row)
    return ReleaseTask(**{**fields, "proof_only": bool(row["proof_only"])})


def _release(row: Row, approvers: tuple[str, ...]) -> ReleaseRequest:
    fields: dict[str, Any] = dict(row)
    label = f"{fields.pop('file').removesuffix('.py')}:{fields.pop('name')}"
    return ReleaseRequest(**fields, label=label, approvers=approvers)


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode(), 3)


def _unpack(data: bytes) -> str:
    """A text that was packed; ServiceError for one that would be longer than any that is."""
    found = zlib.decompressobj().decompress(data, _MOST_TEXT + 1)
    if len(found) > _MOST_TEXT:
        raise ChangedContent(500, "what is stored is too large")
    return found.decode()
