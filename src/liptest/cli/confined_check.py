"""A check whose code runs in another process: this one imports none of it.

What the other process answers is a certificate in JSON. Its claim, domain, distribution, seed,
files and versions are held against the request, and it must follow from itself; the probabilities
in it are the word of a process that ran foreign code.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from liptest import cli, errors
from liptest.cli.config import CheckModel
from liptest.cli.lines import plain_line
from liptest.cli.loading import find_definition, make_label
from liptest.data.distributions import Distribution
from liptest.data.domains import Domain
from liptest.errors import InputError, LiptestError, MechanismError
from liptest.evidence.certificate import (
    CALLER_SEED,
    Certificate,
    identify_data,
    versions_here,
)
from liptest.evidence.domain_form import domain_to_dict, read_domain
from liptest.privacy.settings import CheckSettings
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.findings import Findings
from liptest.report.text import printable
from liptest.runs.jail import ChildReply, Listener, find_bubblewrap, memory_here, run_confined
from liptest.runs.progress import Told
from liptest.runs.shown_code import code_files
from liptest.verdicts import Decision

_MODULE = "liptest.cli.checking_child"
# Seconds without a word, after which it is said how a check is ended.
_SILENCE = 30.0
_AT_WORK = (
    "still at work; Ctrl-C ends the check with what is known, --max-seconds 60 does so itself"
)
# Seconds beyond those of the request, in which a child says what it knows.
_GRACE = 60.0
#: What a verdict is worth whose code ran in another process; how it was confined is put in front.
WORD = (
    "The verdict is what the process that ran this code reports. Against an author who attacks, "
    "add --sealed; for code of your own --in-process is enough."
)
_NO_FILES = (
    "; code that is confined sees Python files and the public tables of the request, no other "
    "file and no network; for code of your own add --in-process"
)
_SIGNS = ("FileNotFoundError", "No such file", "Operation not permitted", "PermissionError")


@dataclass(frozen=True)
class CheckedElsewhere:
    """What another process said of a check, and how it was confined."""

    certificate: Certificate[PrivacyVerdict]
    file: Path | None
    line: int | None
    findings: Findings | None
    confinement: str
    distribution: Distribution

    @property
    def words(self) -> str:
        """For the reader of the verdict."""
        return f"({self.confinement[:1].upper()}{self.confinement[1:]}. {WORD})"


class InternalError(Exception):
    """A fault of liptest, or of code that changed it, in the other process."""


def check_elsewhere(
    model: CheckModel,
    folder: Path,
    law: Distribution | Callable[[Domain], Distribution],
    settings: CheckSettings,
    *,
    where: str,
    workers: int = 1,
    checkpoint: Path | None = None,
    pictures: bool = False,
    hidden: Iterable[Path] = (),
    memory: int | None = None,
    is_quiet: bool = False,
    progress: Told | None = None,
) -> CheckedElsewhere:
    """Have the code at ``where`` checked in a jail, where there is one, and read the certificate.

    ``law``: the distribution, or what makes it of the domain that the object says, before the test.
    Raises what the other process says that it raised, and MechanismError where it gives no answer
    or one to another request.
    """
    if model.distribution is not None and model.distribution.sql is not None:
        raise InputError(
            "sql: code that is confined reaches no database; add --sealed, or --in-process for "
            "code of your own",
            name="sql",
        )
    heard = _Heard(checkpoint, progress, law)
    reply = _ask(
        model,
        folder,
        where,
        Listener(heard.message, _ignore_line if is_quiet else _print_line),
        hidden=hidden,
        memory=memory,
        workers=workers,
        pictures=pictures,
        checkpoint=None if checkpoint is None else str(checkpoint),
        kept=_keep(checkpoint),
        asks_domain=callable(law),
    )
    answer = _answer(reply.content)
    if callable(heard.law):
        raise _unreadable("it does not say its data")
    return _read(answer, reply.confinement, _Asked(model, heard.law, settings, where))


def domain_elsewhere(
    model: CheckModel, folder: Path, where: str, *, hidden: Iterable[Path]
) -> Domain:
    """The domain that the object at ``where`` has of its own, as another process says."""
    listener = Listener(_Heard(None, None, _stop_at).message, _ignore_line)
    try:
        reply = _ask(model, folder, where, listener, hidden=hidden, asks_domain=True)
    except _DomainSaid as said:
        return said.domain
    _answer(reply.content)
    raise _unreadable("it does not say its data")


class _DomainSaid(Exception):
    """All that was asked of a child is said."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.domain = domain


def _stop_at(domain: Domain) -> Distribution:
    raise _DomainSaid(domain)


def _ask(
    model: CheckModel,
    folder: Path,
    where: str,
    listener: Listener,
    *,
    hidden: Iterable[Path],
    memory: int | None = None,
    workers: int = 1,
    **asked: Any,
) -> ChildReply:
    """What another process that runs the code answers; ``asked`` stands in the request."""
    memory = memory_here() if memory is None else memory
    unsaid = {"pictures": False, "checkpoint": None, "kept": None}
    request = {
        "check": model.model_dump(mode="json", exclude_none=True),
        "folder": str(folder),
        "memory": memory,
        "workers": workers,
        "is_jailed": find_bubblewrap() is not None,
        "debug": cli.DEBUG in sys.argv,
        "asks_domain": False,
        **unsaid,
        **asked,
    }
    return run_confined(
        _MODULE,
        json.dumps(request).encode(),
        readable=_readable(model, folder, where),
        hidden=hidden,
        folder=Path.cwd(),
        seconds=math.inf if model.max_seconds is None else model.max_seconds + _GRACE,
        memory=memory,
        workers=workers,
        listener=listener,
    )


def refute_elsewhere(
    model: CheckModel,
    folder: Path,
    law: Distribution,
    settings: CheckSettings,
    *,
    where: str,
    hidden: Iterable[Path],
    memory: int | None = None,
) -> PrivacyVerdict | None:
    """The NO of another process to the code at ``where``, with its witness; None for all else.

    It is the word of a process that ran the code: good for a refusal, and for nothing else.
    """
    try:
        checked = check_elsewhere(
            *(model, folder, law, settings),
            where=where,
            hidden=hidden,
            memory=memory,
            is_quiet=True,
        )
    except (LiptestError, InternalError):
        return None
    verdict = checked.certificate.verdict
    if verdict.decision is not Decision.NO:
        return None
    told = f"{verdict.law_source}; checked in another process, as that process reports"
    return replace(verdict, law_source=f"{told} ({checked.confinement})")


@contextmanager
def begin_late(
    begin: Callable[[], AbstractContextManager[Told | None]], *, silence: float = _SILENCE
) -> Iterator[Told]:
    """Progress that is shown from the first message on: until then the other process starts.

    Where no message comes for ``silence`` seconds, a line says how to end the check.
    """
    with ExitStack() as stack:
        begun: list[Told | None] = []
        patience = threading.Timer(silence, _print_line, [_AT_WORK])
        patience.daemon = True
        patience.start()
        stack.callback(patience.cancel)

        def tell(done: int, planned: int) -> None:
            patience.cancel()
            if not begun:
                begun.append(stack.enter_context(begin()))
            if begun[0] is not None:
                begun[0](done, planned)

        yield tell


def _readable(model: CheckModel, folder: Path, where: str) -> list[Path]:
    """The code, and the public tables that the request names."""
    file = Path(where.rpartition(":")[0])
    files = [file, *code_files(file.resolve().parent)] if file.suffix == ".py" else []
    files += [] if file.suffix == ".py" else code_files(Path.cwd())
    law = model.distribution
    tables = [] if law is None else [law.table, law.records]
    return [*files, *(folder / table for table in tables if table is not None)]


def _keep(checkpoint: Path | None) -> str | None:
    if checkpoint is None or not checkpoint.exists():
        return None
    return checkpoint.read_text(encoding="utf-8", errors="replace")


@dataclass
class _Heard:
    """What is done with messages before the answer."""

    checkpoint: Path | None
    progress: Told | None
    law: Distribution | Callable[[Domain], Distribution]

    def message(self, content: bytes) -> None:
        domain = None
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            message = json.loads(content)
            if "progress" in message and self.progress is not None:
                done, planned = message["progress"]
                if type(done) is int and type(planned) is int:
                    self.progress(done, planned)
            if "checkpoint" in message and self.checkpoint is not None:
                self.checkpoint.write_text(message["checkpoint"], encoding="utf-8")
            domain = read_domain(message["domain"]) if "domain" in message else None
        if domain is not None and callable(self.law):
            self.law = self.law(domain)


def _print_line(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)


def _ignore_line(line: str) -> None:
    """Code that is looked at again has said what it says."""


@dataclass(frozen=True)
class _Asked:
    """What an answer must be about."""

    model: CheckModel
    law: Distribution
    settings: CheckSettings
    where: str

    def departs(self, found: Certificate[PrivacyVerdict]) -> str | None:
        """The first thing in which a certificate is about something else."""
        verdict = found.verdict
        same = {
            "mechanism": verdict.mechanism == make_label(self.where),
            "claim": verdict.claim == self.settings.claim,
            "domain": found.domain is not None
            and domain_to_dict(found.domain) == domain_to_dict(self.law.domain),
            "distribution": (found.data_hash, found.data_source) == identify_data(self.law),
            "seed": self.model.seed in (None, verdict.seed)
            and (found.seed_source == CALLER_SEED) == (self.model.seed is not None),
            "versions": found.versions == versions_here(),
            "releases": (found.releases, found.attempts, found.release_source) == (1, None, None),
            "files": self._files_are_here(found, Path(self.where.rpartition(":")[0])),
        }
        return next((name for name, is_same in same.items() if not is_same), None)

    def _files_are_here(self, found: Certificate[PrivacyVerdict], file: Path) -> bool:
        """Whether the files that it says it tested, if they are here, are these."""
        if file.suffix != ".py":
            return True
        for name, digest in found.code.files.items():
            path = file.parent / name
            if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                return False
        return True


def _read(answer: dict[str, Any], confined: str, asked: _Asked) -> CheckedElsewhere:
    try:
        _check_printable(answer)
        certificate = Certificate.from_json(json.dumps(answer["certificate"]))
        pictures = None if answer["findings"] is None else Findings.from_dict(answer["findings"])
        file, line = _place(answer, asked)
        other = asked.departs(certificate)
    except _NOT_READ as error:
        raise _unreadable(str(error)) from None
    if other is not None:
        raise MechanismError(
            f"the process that ran the code answered another request: its {other} is not the "
            f"requested one; nothing was decided"
        )
    return CheckedElsewhere(certificate, file, line, pictures, confined, asked.law)


_NOT_READ = (ValueError, TypeError, LookupError, RecursionError, AttributeError, OverflowError)


def _answer(content: bytes) -> dict[str, Any]:
    """What the child says it found; raises what it says that it raised."""
    try:
        answer: dict[str, Any] = json.loads(content)
        said = {key: plain_line(answer[key]) for key in _FAULTS if key in answer}
        interrupted = "interrupted" in answer
    except _NOT_READ as error:
        raise _unreadable(str(error)) from None
    if interrupted:
        raise KeyboardInterrupt
    if "internal" in said:
        words = f"{said['internal']}: {said.get('text', '')}"
        raise InternalError(f"in the process that ran the code: {words}")
    if "error" in said:
        raise _report(said["error"], said.get("text", ""))
    return answer


_FAULTS = ("error", "internal", "text")


def _report(name: str, words: str) -> LiptestError:
    """The error of that name; what it says are the words of the other process."""
    kind = getattr(errors, name, None)
    told = words + (_NO_FILES if any(sign in words for sign in _SIGNS) else "")
    if isinstance(kind, type) and issubclass(kind, LiptestError):
        return kind(told)
    return MechanismError(told)


def _unreadable(why: str) -> MechanismError:
    return MechanismError(
        f"the process that ran the code gave an answer that cannot be read; nothing was decided "
        f"({plain_line(why)[:200]})"
    )


def _check_printable(found: Any) -> None:
    """ValueError for a text that a terminal would obey."""
    if isinstance(found, dict):
        for key, value in found.items():
            _check_printable(key)
            _check_printable(value)
    elif isinstance(found, list):
        for value in found:
            _check_printable(value)
    elif isinstance(found, str) and not found.replace("\n", " ").isprintable():
        raise ValueError("it has control characters")


def _place(found: dict[str, Any], asked: _Asked) -> tuple[Path | None, int | None]:
    """Where the mechanism is defined; of a package what the other process says."""
    if asked.where.rpartition(":")[0].endswith(".py") or found["file"] is None:
        return find_definition(asked.where)
    line = found["line"]
    return Path(plain_line(found["file"])), line if type(line) is int else None
