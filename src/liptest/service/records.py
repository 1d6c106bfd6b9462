"""What the service stores, as plain records, and the places of its files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

#: States of a submission before and without a verdict; after one it is the decision.
QUEUED, RUNNING, FAILED = "queued", "running", "failed"
#: States of a table and of a task.
CHECKING, READY = "checking", "ready"
#: States of a request for a release.
WAITING, APPROVED, RELEASED, REFUSED = "waiting", "approved", "released", "refused"
VENDOR, OPERATOR = "vendor", "operator"
#: Kinds of jobs: of workers, and of the releaser.
ANALYSE, REGISTER, FIT, RELEASE = "analyse", "register", "fit", "release"
CAP_PEOPLE = "cap people"
#: Times that a job is begun, when the process that has it dies: code may be the reason for that,
#: the releaser runs none.
MOST_ATTEMPTS, MOST_OF_RELEASER = 6, 25
FAILED_TOO_OFTEN = "failed: limit of attempts: the process that ran it ended, again and again"


class ServiceError(Exception):
    """What is refused, in one line, and the HTTP status that says so."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class ChangedContent(ServiceError):
    """What is stored under a hash does not have it."""


@dataclass(frozen=True)
class Places:
    """Where the files of a service lie, below one folder.

    With the ``url`` of a PostgreSQL database, what processes share is there, and only tables are
    files.
    """

    folder: Path
    url: str | None = field(default=None, repr=False)

    @property
    def database(self) -> Path | str:
        """Accounts, code, jobs and verdicts; no private value."""
        return self.folder / "service.db" if self.url is None else self.url

    @property
    def public(self) -> Path:
        """Public tables that distributions are fitted on."""
        return self.folder / "public"

    @property
    def private(self) -> Path:
        """Private tables: for the releaser alone."""
        return self.folder / "private"

    @property
    def ledger(self) -> Path | str:
        """Caps and releases: written by the releaser alone."""
        return self._ledgers[0] if self.url is None else f"{self.url}#ledger"

    @property
    def tests(self) -> Path | str:
        """The tests of the workers, each vendor's counted."""
        return self._ledgers[1] if self.url is None else f"{self.url}#tests"

    @property
    def files(self) -> list[Path]:
        """The databases that are files."""
        return [] if self.url is not None else [self.folder / "service.db", *self._ledgers]

    @property
    def hidden(self) -> list[Path]:
        """What no code of a vendor's may see, wherever the folder is."""
        beside = [f"{file}{end}" for file in self.files for end in ("", "-wal", "-shm")]
        return [self.private, self.public, *map(Path, beside)]

    @property
    def _ledgers(self) -> tuple[Path, Path]:
        return self.folder / "ledger" / "releases.db", self.folder / "tests" / "tests.db"

    def make(self) -> None:
        """Make the folders; others than this account see nothing of them."""
        for place in (self.folder, self.public, self.private, *(p.parent for p in self.files[1:])):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)


@dataclass(frozen=True)
class User:
    """An account."""

    id: int
    name: str
    role: str
    password: str

    @property
    def is_operator(self) -> bool:
        """Whether tables, tasks and releases are theirs to decide."""
        return self.role == OPERATOR


@dataclass(frozen=True)
class LoginSession:
    """A browser that is logged in, and the secret that its forms carry."""

    user: User
    csrf: str


@dataclass(frozen=True)
class PrivateTable:
    """A private table by name; ``cap`` is what all releases together may cost."""

    id: int
    name: str
    file: str
    column: str | None
    epsilon: float
    delta: float
    state: str
    message: str


@dataclass(frozen=True)
class People:
    """Tables that concern the same people, and what their releases together may cost."""

    id: int
    name: str
    epsilon: float
    delta: float
    state: str
    message: str
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReleaseTask:
    """What vendors shall submit: a claim, on a domain, for a private table.

    ``check`` is the JSON of a check as in a liptest.toml, without a mechanism. With ``proof_only``
    nothing is released on a verdict by sampling. ``approvals`` is how many operators must agree.
    """

    id: int
    title: str
    table_id: int
    table_name: str
    check_json: str
    proof_only: bool
    approvals: int
    state: str
    message: str

    @property
    def described(self) -> str:
        """The check as in a liptest.toml, without what says nothing."""
        said: dict[str, object] = json.loads(self.check_json)
        plain = {k: v for k, v in said.items() if k not in ("mechanism", "releases")}
        lines = [f"{k} = {json.dumps(v)}" for k, v in plain.items() if not isinstance(v, dict)]
        for name, inner in plain.items():
            if isinstance(inner, dict):
                lines += ["", f"[{name}]"]
                lines += [f"{k} = {json.dumps(v)}" for k, v in inner.items() if v not in ({}, [])]
        return "\n".join(lines)


@dataclass(frozen=True)
class Submission:
    """Code that a vendor sent for a task, and what became of it."""

    id: int
    task_id: int
    task_title: str
    vendor: str
    vendor_id: int
    code: str
    file: str
    name: str
    state: str
    message: str
    created: float

    @property
    def label(self) -> str:
        """The submission as verdicts name it."""
        return f"{self.file.removesuffix('.py')}:{self.name}"

    @property
    def is_decided(self) -> bool:
        """Whether there will be no change any more."""
        return self.state not in (QUEUED, RUNNING)


@dataclass(frozen=True)
class Result:
    """What an analysis came to: the sealed laws as JSON, the certificate and its page."""

    sealed: str
    certificate: str
    report: str
    summary: str
    is_proof: bool


@dataclass(frozen=True)
class ReleaseRequest:
    """A wish to release once; ``key`` names it in the ledger, so it is answered once."""

    id: int
    key: str
    submission_id: int
    label: str
    vendor: str
    table_name: str
    task_id: int
    needed: int
    state: str
    message: str
    output: str | None
    approvers: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueuedJob:
    """Work that one process has for a time; ``token`` shows that it still has it."""

    id: int
    kind: str
    subject: int
    attempts: int
    token: str


@dataclass(frozen=True)
class LoggedEvent:
    """Who did what, when."""

    time: float
    user: str
    what: str
    subject: str
