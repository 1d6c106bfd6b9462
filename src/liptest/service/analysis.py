"""The work of a worker: a vendor's code is run in the jail, its laws are sealed and tested.

This process never imports the code and has no private table. A verdict here releases nothing: the
releaser tests the sealed laws again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from liptest.cli.codes import ANSWERED
from liptest.cli.config import CheckModel
from liptest.cli.confined_check import refute_elsewhere
from liptest.cli.sealed_release import NamedCode, SealedCode, code_on_disk, seal_elsewhere
from liptest.errors import BudgetError, GateError, InputError, LiptestError
from liptest.evidence.certificate import Certificate
from liptest.evidence.ledger import Ledger, LedgerRecorder
from liptest.evidence.ledger_file import canonical_json
from liptest.gate.gate import SealedGate
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.findings import Outcome
from liptest.report.html import page
from liptest.runs.jail import CHILD_MEMORY, LimitReached, find_bubblewrap
from liptest.service.jobs import Workplace
from liptest.service.public_files import fetch_files
from liptest.service.records import (
    FAILED,
    FAILED_TOO_OFTEN,
    MOST_ATTEMPTS,
    ChangedContent,
    Places,
    QueuedJob,
    Result,
    Submission,
)
from liptest.service.tasks import (
    find_seconds,
    foreign_imports,
    from_json,
    settings_of_test,
    task_law,
)
from liptest.verdicts import Decision

# What code that met a limit is reported to have raised; the words are the code's, perhaps.
_LIMITS = {
    "MemoryError": "memory",
    "can't start new thread": "processes",
    "BlockingIOError": "processes",
    "Operation not permitted": "processes or network",
    "File too large": "file size",
    "No space left on device": "file size",
}

# Where the code lay says nothing to its author.
_FOLDER = re.compile(r"\S*/liptest-\w+/")


@dataclass(frozen=True)
class Analysis:
    """What an analysis came to: a state, a line about it, and after a verdict the rest."""

    state: str
    message: str
    result: Result | None = None


def analyse_job(job: QueuedJob, place: Workplace) -> None:
    """Analyse a submission, and write what it came to."""
    store = place.store
    if job.attempts > MOST_ATTEMPTS:
        store.finish(job, FAILED, FAILED_TOO_OFTEN)
        return
    submission = store.submission(job.subject)
    check = store.task(submission.task_id).check_json
    try:
        content = store.code(submission.code)
        analysis = analyse(submission, content, check, place)
    except ChangedContent as error:
        analysis = Analysis(FAILED, f"failed: {error}")
    store.finish(job, analysis.state, analysis.message, result=analysis.result)


def analyse(submission: Submission, content: bytes, check_json: str, place: Workplace) -> Analysis:
    """Test one submission; whatever the code does, there is a finding."""
    if find_bubblewrap() is None and not place.unconfined:
        return Analysis(FAILED, "failed: bubblewrap is missing here, and no code runs unconfined")
    try:
        foreign = foreign_imports(content, place.allowed)
        if foreign:
            raise InputError(
                f"the code imports {', '.join(foreign)[:200]}; allowed are the standard library, "
                f"{', '.join(place.allowed)}"
            )
        model = from_json(check_json)
        fetch_files(model, place.store, place.places)
        sealed_code, certificate = _test(submission, content, model, place.places)
    except BudgetError as error:
        return Analysis(str(Decision.INCONCLUSIVE), str(error))
    except LiptestError as error:
        return Analysis(FAILED, words_of_failure(error))
    except MemoryError:
        return Analysis(FAILED, "failed: limit of memory, for its laws")
    return _tell(submission, sealed_code, certificate)


def _test(
    submission: Submission, content: bytes, model: CheckModel, places: Places
) -> tuple[SealedCode, Certificate[PrivacyVerdict]]:
    law, settings = task_law(model, places.public), settings_of_test(model)
    recorder = LedgerRecorder(Ledger(places.tests), vendor=submission.vendor)
    with TemporaryDirectory(prefix="liptest-") as folder:
        file = Path(folder) / submission.file
        file.write_bytes(content)
        where = f"{file}:{submission.name}"
        code, failure = code_on_disk(where), settings.failure_probability
        recorder.begin(NamedCode(submission.label), code, law, settings.claim, failure)
        sealed_code = seal_elsewhere(
            *(where, law.domain),
            hidden=places.hidden,
            seconds=find_seconds(model),
            frame=model.library,
            step=model.step,
        )
        limited = {"mechanism": where, "max_seconds": find_seconds(model)}
        gate = SealedGate(
            sealed_code.sealed,
            law,
            settings,
            code=sealed_code.code,
            law_source=sealed_code.source,
            recorder=recorder,
            refuted=lambda: refute_elsewhere(
                *(model.model_copy(update=limited), places.public, law, settings),
                where=where,
                hidden=places.hidden,
                memory=CHILD_MEMORY,
            ),
        )
    recorder.settle()
    return sealed_code, gate.certificate


def _tell(
    submission: Submission, found: SealedCode, certificate: Certificate[PrivacyVerdict]
) -> Analysis:
    verdict = replace(certificate.verdict, mechanism=submission.label)
    named = replace(certificate, verdict=verdict)
    outcome = Outcome(submission.label, ANSWERED[named.decision], named)
    result = Result(
        sealed=write_sealed(found),
        certificate=named.to_json(),
        report=page([outcome]),
        summary=str(verdict),
        is_proof=verdict.guarantee.kind == "proof",
    )
    return Analysis(str(named.decision), "", result)


def write_sealed(found: SealedCode) -> str:
    """Sealed laws, and what the other process said of its code, as JSON."""
    code = found.code
    return canonical_json(
        {
            "sealed": found.sealed.to_dict(),
            "label": found.label,
            "source": found.source,
            "code": [code.code, code.files, code.packages, code.parameters],
        }
    )


def words_of_failure(error: LiptestError) -> str:
    """A line about code that came to no verdict; limits are named."""
    text = _FOLDER.sub("", " ".join(str(error).split()))
    if isinstance(error, LimitReached):
        return f"failed: limit of {error.limit}"
    met = next((limit for words, limit in _LIMITS.items() if words in text), None)
    if met is not None:
        return f"failed: limit of {met} ({text})"
    return (
        f"failed: its laws cannot be sealed: {text}"
        if isinstance(error, GateError)
        else f"failed: {text}"
    )
