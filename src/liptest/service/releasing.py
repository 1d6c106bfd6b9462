"""The work of the releaser: the only process that reads private tables and writes their ledger.

It imports no vendor's code. What it releases is drawn from sealed laws, which it tests itself: of
other processes it believes nothing but what they could have chosen freely, the laws. The cap of a
table is in the ledger and is checked where the output is drawn, in one transaction.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from liptest.cli.frame_columns import check_private_columns, read_private_frame
from liptest.cli.sealed_release import NamedCode
from liptest.cli.tables import check_has_column, read_column, read_whole_numbers
from liptest.data.domains import Domain
from liptest.data.tables import Table
from liptest.errors import GateError, InputError, LedgerError, LiptestError, quote
from liptest.evidence.ledger import Ledger, LedgerRecorder
from liptest.evidence.ledger_caps import Cap
from liptest.evidence.ledger_entries import claim_text
from liptest.gate.gate import Released, SealedGate
from liptest.gate.plain import FAILED as DRAW_FAILED
from liptest.gate.plain import read_output
from liptest.gate.sealed_sums import SealedSums
from liptest.gate.sealing import read_sealed
from liptest.privacy.verdicts import BY_ALIGNMENT
from liptest.runs.fingerprints import Fingerprint
from liptest.service.jobs import Workplace
from liptest.service.public_files import store_files
from liptest.service.records import (
    CAP_PEOPLE,
    FAILED,
    FAILED_TOO_OFTEN,
    FIT,
    MOST_OF_RELEASER,
    READY,
    REFUSED,
    REGISTER,
    RELEASE,
    RELEASED,
    People,
    Places,
    PrivateTable,
    QueuedJob,
    ReleaseRequest,
    ReleaseTask,
    Result,
)
from liptest.service.tasks import check_file, from_json, settings_of_test, task_law
from liptest.verdicts import Decision

Answer = tuple[str, str, str | None]


def answer_job(job: QueuedJob, place: Workplace) -> None:
    """Do what a job asks for, and write what it came to."""
    store = place.store
    if job.attempts > MOST_OF_RELEASER:
        state, message, output = _give_up(job, place)
    elif job.kind == REGISTER:
        state, message, output = register_file(store.table(job.subject), place.places)
    elif job.kind == CAP_PEOPLE:
        named = next(group for group in store.people() if group.id == job.subject)
        state, message, output = cap_people(named, place.places)
    elif job.kind == FIT:
        task = store.task(job.subject)
        state, message, output = fit_table(task, store.table(task.table_id), place.places)
        if state == READY:
            store_files(from_json(task.check_json), store, place.places)
    else:
        state, message, output = _answer(store.release(job.subject), place)
    store.finish(job, state, message, output=output)


def _answer(request: ReleaseRequest, place: Workplace) -> Answer:
    task, result = (
        place.store.task(request.task_id),
        place.store.result(request.submission_id),
    )
    if result is None:
        return REFUSED, "there is no verdict", None
    if len(request.approvers) < place.approvals:
        told = f"{place.approvals} operators must agree in this service, and fewer did"
        return REFUSED, told, None
    table = place.store.table(task.table_id)
    return answer_request(request, task, table, result, place.places)


def _give_up(job: QueuedJob, place: Workplace) -> Answer:
    """After too many attempts: what the ledger has under the key, or nothing."""
    if job.kind != RELEASE:
        return FAILED, FAILED_TOO_OFTEN, None
    request = place.store.release(job.subject)
    task, result = place.store.task(request.task_id), place.store.result(request.submission_id)
    try:
        if result is not None:
            stored = _find_stored(request, task, result, Ledger(place.places.ledger))
            if stored is not None:
                return _show(stored)
        return REFUSED, FAILED_TOO_OFTEN, None
    except GateError as error:
        return REFUSED, _plain(error), None


def _find_stored(
    request: ReleaseRequest, task: ReleaseTask, result: Result, ledger: Ledger
) -> str | None:
    """What the ledger has under the key; GateError where the key named another request."""
    found = ledger.answered(request.table_name, request.key)
    if found is None:
        return None
    attempt, text = found
    code = json.loads(result.sealed)["code"][0]
    claim = claim_text(settings_of_test(from_json(task.check_json)).claim)
    if (attempt.vendor, attempt.code, attempt.claim) != (request.vendor, code, claim):
        raise GateError(
            f"the key {quote(request.key)} named another request for {request.table_name}: other "
            f"code, another claim or another vendor; ask under a new key"
        )
    return text


def _show(stored: str) -> Answer:
    if stored == DRAW_FAILED:
        return REFUSED, "the draw failed; it counts, and the reason is withheld", None
    return RELEASED, "", repr(read_output(stored))


def register_file(table: PrivateTable, places: Places) -> Answer:
    """Look whether a table can be read, and cap it; a cap is never raised from here."""
    try:
        path = _find_file(table, places)
        check_has_column(path, table.column)
        ledger = Ledger(places.ledger)
        cap = ledger.caps().get(table.name)
        if cap not in (None, Cap.checked(table.name, table.epsilon, table.delta)):
            raise InputError(f"{table.name}: the ledger has a cap for it already: {cap}")
        if cap is None:
            ledger.set_cap(table.name, epsilon=table.epsilon, delta=table.delta)
    except (LiptestError, OSError) as error:
        return FAILED, _plain(error), None
    return READY, "", None


def cap_people(people: People, places: Places) -> Answer:
    """Write the cap that tables share; from here it is never raised, and no table leaves it."""
    try:
        given = {"epsilon": people.epsilon, "delta": people.delta}
        Ledger(places.ledger).set_people(people.name, people.tables, **given, widen_only=True)
    except LedgerError:
        raise
    except (LiptestError, OSError) as error:
        return FAILED, _plain(error), None
    return READY, "", None


def fit_table(task: ReleaseTask, table: PrivateTable, places: Places) -> Answer:
    """Look whether the private table lies in the domain of a task; the operator is told no more."""
    try:
        if table.state != READY:
            raise InputError(f"the table {table.name} is not ready")
        domain = task_law(from_json(task.check_json), places.public).domain
        private = _private(table, places, domain)
        if isinstance(domain, Table):
            domain.encode(private)
        elif len(domain.check_points(private, private=True)) != 1:
            raise InputError("the table is not a dataset of the domain")
    except (LiptestError, OSError) as error:
        return FAILED, _plain(error), None
    return READY, "", None


def answer_request(
    request: ReleaseRequest, task: ReleaseTask, table: PrivateTable, result: Result, places: Places
) -> Answer:
    """Answer a request, once: what the ledger has under its key is given again."""
    try:
        ledger = Ledger(places.ledger)
        stored = _find_stored(request, task, result, ledger)
        if stored is None:
            if table.name not in ledger.caps():
                raise GateError(f"the ledger has no cap for {table.name}; register it")
            stored = _draw(request, task, table, result, places, ledger)
    except LedgerError:
        raise  # for another attempt: the disk may be full, and something may be written
    except (LiptestError, OSError) as error:
        return REFUSED, _plain(error), None
    return _show(stored)


def _draw(
    request: ReleaseRequest,
    task: ReleaseTask,
    table: PrivateTable,
    result: Result,
    places: Places,
    ledger: Ledger,
) -> str:
    model = from_json(task.check_json)
    law, settings = task_law(model, places.public), settings_of_test(model)
    document: dict[str, Any] = json.loads(result.sealed)
    sealed = read_sealed(document["sealed"], str(document["label"]), law.domain)
    if task.proof_only:
        # Every case is looked at, so that no answer is wrong, and an attempt that is cut off costs
        # nothing; one that draws might have ended in a wrong YES, and counts for ever.
        method = BY_ALIGNMENT if isinstance(sealed, SealedSums) else "exhaustive"
        settings = replace(settings, method=method)
    code = Fingerprint(*document["code"])
    recorder = LedgerRecorder.of_gate(ledger, vendor=request.vendor, private_table=table.name)
    failure = 0.0 if task.proof_only else settings.failure_probability
    recorder.begin(NamedCode(request.label), code, law, settings.claim, failure)
    gate = SealedGate(
        sealed,
        law,
        settings,
        code=code,
        law_source=str(document["source"]),
        recorder=recorder,
    )
    verdict = gate.certificate.verdict
    if verdict.decision is not Decision.YES:
        raise GateError(f"the releaser's own test says {verdict.decision}; nothing was read")
    if task.proof_only and verdict.guarantee.kind != "proof":
        raise GateError("the task requires a proof, and this YES is by sampling")
    answer = gate.release(_private(table, places, law.domain), key=request.key)
    assert isinstance(answer, Released)
    stored = ledger.released(table.name, request.key)
    assert stored is not None
    return stored


def _find_file(table: PrivateTable, places: Places) -> Path:
    """Its file in the folder itself, not one that a link leads to."""
    path = places.private / check_file(table.file)
    if not path.is_file() or path.resolve().parent != places.private.resolve():
        raise InputError(f"file={table.file}: no private file has that name")
    return path


def _private(table: PrivateTable, places: Places, domain: Domain) -> Any:
    """What a private file holds: for a task on tables its columns, else one of whole numbers."""
    path = _find_file(table, places)
    if isinstance(domain, Table):
        check_private_columns(path, domain, table.column, None)
        return read_private_frame(path, domain, None)
    return read_whole_numbers(read_column(path, table.column, private=True), path, private=True)


def _plain(error: Exception) -> str:
    """One line; of an error of the system only what kind it is."""
    if isinstance(error, OSError):
        return f"a file could not be read or written: {error.strerror}"
    return " ".join(str(error).split())
