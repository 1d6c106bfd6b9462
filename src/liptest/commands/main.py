"""What the commands of the command line do; imported only when one of them runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from liptest.commands.jobs import Job, Task, code_of, load_job, muted, read_task, settings_of
from liptest.commands.loading import defined_at, read_column, whole_numbers
from liptest.commands.outcome_files import write_outcomes
from liptest.commands.resuming import checkpoint_files, remove, say_how_to_go_on, was_interrupted
from liptest.commands.workers import pool
from liptest.config import CheckModel
from liptest.demo import run_clicks
from liptest.errors import BudgetError, InputError, LiptestError
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.ledger import Bookkeeper
from liptest.evidence.ledger_entries import clean_name
from liptest.gate.gate import PrivacyGate, Released
from liptest.privacy.check import check_with_settings
from liptest.privacy.request import validated_request
from liptest.report.findings import Outcome
from liptest.report.text import Screen
from liptest.runs.fingerprints import fingerprint
from liptest.runs.interrupts import interruptions
from liptest.verdicts import Decision

# Worst first.
_SEVERITY = (4, 1, 3, 2, 0)


_CODES = {Decision.YES: 0, Decision.NO: 1, Decision.INCONCLUSIVE: 3}


def run_demo(name: str) -> int:
    """``liptest demo``; 0 when every outcome is the expected one."""
    screen = Screen()
    with screen.progress(name) as progress:
        good = run_clicks(screen.paragraph, screen.verdict, progress=progress)
    return 0 if good else 1


def run_check(options: dict[str, Any]) -> int:
    """``liptest check``: every check runs, whatever became of the others."""
    screen = Screen()
    task = _guarded(screen, lambda: read_task(options))
    if task is None:
        return 2
    files = _guarded(screen, lambda: checkpoint_files(options, len(task.models)))
    if files is None:
        return 2
    before = interruptions()
    outcomes = _checked(screen, task, files)
    written = write_outcomes(options, outcomes)
    if interruptions() != before or not written or any(map(was_interrupted, outcomes)):
        say_how_to_go_on(screen, files, options["typed"])
    elif all(outcome.error is None for outcome in outcomes):
        remove(files)
    if len(outcomes) > 1:
        screen.summary([(outcome.asked, outcome.code) for outcome in outcomes])
    codes = {outcome.code for outcome in outcomes}
    return next(code for code in _SEVERITY if code in codes)


def _checked(screen: Screen, task: Task, files: list[Path | None]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    before = interruptions()
    for model, file in zip(task.models, files, strict=True):
        outcomes.append(_check(screen, model, task, file))
        left = len(task.models) - len(outcomes)
        if interruptions() != before and left:
            screen.error(BudgetError(f"interrupted: {left} more checks were not run"), 3)
            break
    return outcomes


def run_release(options: dict[str, Any]) -> int:
    """``liptest release``: test, then one draw on the private dataset."""
    screen = Screen()
    task = _guarded(screen, lambda: read_task(options))
    if task is None:
        return 2
    private: Path = options["private"]
    if len(task.models) != 1:
        return screen.error(InputError("release: name one mechanism, or a file with one check"), 2)
    if not private.is_file():
        return screen.error(InputError(f"{private}: there is no such file"), 2)
    try:
        return _release(screen, task.models[0], task, options)
    except LiptestError as error:
        return screen.error(error, code_of(error))


def _check(screen: Screen, model: CheckModel, task: Task, checkpoint: Path | None) -> Outcome:
    started = time.perf_counter()
    outcome = Outcome(model.mechanism, 2)
    try:
        job = load_job(model, task.folder)
        file, line = defined_at(job.where)
        outcome = replace(
            outcome,
            mechanism=job.mechanism,
            distribution=job.distribution,
            file=file,
            line=line,
        )
        certificate = _tested(screen, job, task, checkpoint)
    except LiptestError as error:
        screen.error(error, code_of(error), model.mechanism)
        return replace(outcome, code=code_of(error), error=error, seconds=_since(started))
    screen.verdict(certificate.verdict)
    done = _CODES[certificate.decision]
    return replace(outcome, code=done, certificate=certificate, seconds=_since(started))


def _tested(screen: Screen, job: Job, task: Task, checkpoint: Path | None) -> Certificate:
    model = job.model
    code = fingerprint(job.mechanism)
    books = Bookkeeper(task.ledger, vendor=model.vendor or clean_name(model.mechanism))
    settings = settings_of(model)
    validated_request(job.mechanism, job.distribution, settings)
    with screen.progress(job.label) as progress, muted(), pool(task.workers) as executor:
        books.begin(
            job.mechanism, code, job.distribution, settings.claim, settings.failure_probability
        )
        run = replace(settings, executor=executor, progress=progress, checkpoint=checkpoint)
        verdict = check_with_settings(job.mechanism, job.distribution, run)
    verdict = replace(verdict, mechanism=job.label)
    own_seed = model.seed is None
    certificate = books.decided(certify(verdict, code, job.distribution, own_seed=own_seed))
    try:
        books.settle()
    except LiptestError as error:
        screen.error(error, code_of(error), model.mechanism)
    return certificate


def _since(started: float) -> float:
    return time.perf_counter() - started


def _release(screen: Screen, model: CheckModel, task: Task, options: dict[str, Any]) -> int:
    job = load_job(model, task.folder)
    vendor = model.vendor or clean_name(model.mechanism)
    with screen.progress(job.label) as progress, muted(), pool(task.workers) as executor:
        settings = replace(settings_of(model), executor=executor, progress=progress)
        gate = PrivacyGate(
            job.mechanism,
            job.distribution,
            releases=model.releases,
            ledger=task.ledger,
            vendor=vendor if task.ledger else None,
            private_table=options["private_table"] if task.ledger else None,
            **settings.arguments(),
        )
    verdict = replace(gate.certificate.verdict, mechanism=job.label)
    screen.verdict(verdict)
    code = _CODES[verdict.decision]
    outcome = Outcome(
        model.mechanism, code, gate.certificate, None, job.mechanism, job.distribution
    )
    write_outcomes(options, [outcome])
    if verdict.decision is not Decision.YES:
        screen.paragraph("REFUSED - the private table was not read")
        return code
    private: Path = options["private"]
    column = read_column(private, options["private_column"], options["private_rows"], private=True)
    answer = gate.release(whole_numbers(column, private, private=True))
    assert isinstance(answer, Released)
    screen.paragraph(f"RELEASED {answer.output!r}")
    screen.paragraph(f"({gate.certificate.release_guarantee})")
    if answer.warning:
        screen.paragraph(f"WARNING, for the operator only: {answer.warning}.")
    return 0


def _guarded(screen: Screen, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except LiptestError as error:
        screen.error(error, 2)
        return None
