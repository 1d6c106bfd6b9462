"""``liptest check`` and ``liptest release``: test first, then perhaps one draw.

Also the checkpoints that a check leaves behind.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from liptest.cli import typed
from liptest.cli.claim_options import read_grid_step
from liptest.cli.codes import ANSWERED, find_code, find_worst
from liptest.cli.config import CheckModel
from liptest.cli.confined_check import (
    begin_late,
    check_elsewhere,
    domain_elsewhere,
    refute_elsewhere,
)
from liptest.cli.frame_columns import check_private_columns, read_private_frame
from liptest.cli.jobs import (
    CodePlace,
    CommandJob,
    Job,
    check_file_says_it_all,
    load_job,
    make_distribution,
    make_settings,
    read_task,
    where_is,
)
from liptest.cli.loading import find_definition, make_label, mute_output
from liptest.cli.options import DEFAULTS, RUN, Checkpoint, Mechanism, Options, Resume
from liptest.cli.outcome_files import write_outcomes
from liptest.cli.own_domain import says_no_data, with_own_domain, words_for_options
from liptest.cli.paths import check_paths, check_readable, list_files
from liptest.cli.sealed_release import NamedCode, SealedCode, code_on_disk, seal_elsewhere
from liptest.cli.tables import check_column, read_column, read_whole_numbers
from liptest.cli.workers import pool
from liptest.data.distributions import Distribution
from liptest.data.domains import Domain
from liptest.data.tables import Table
from liptest.errors import BudgetError, GateError, InputError, LiptestError
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.ledger import LedgerRecorder
from liptest.evidence.ledger_entries import clean_name
from liptest.gate.gate import Gate, PrivacyGate, Released, SealedGate
from liptest.gate.sealed import in_plain_values
from liptest.privacy.check import check_with_settings
from liptest.privacy.request import validate_request
from liptest.privacy.settings import CheckSettings
from liptest.report.findings import Outcome
from liptest.report.text import Screen
from liptest.runs.fingerprints import fingerprint
from liptest.runs.interrupts import interruptions
from liptest.verdicts import Decision


def check(
    mechanism: Mechanism = None,
    /,
    *,
    checkpoint: Checkpoint = None,
    resume: Resume = False,
    sealed: Annotated[
        bool,
        Parameter(
            group=RUN,
            help="Against authors who attack: output distributions are computed in another "
            "process, and compared in this one.",
            negative="",
        ),
    ] = False,
    in_process: Annotated[
        bool,
        Parameter(
            group=RUN,
            help="Run code of your own here, not confined (LIPTEST_IN_PROCESS=1 does the same).",
            negative="",
        ),
    ] = False,
    options: Options = DEFAULTS,
) -> int:
    """Test one mechanism, or all checks of a liptest.toml.

    A count of 5,000 yes/no records.
    Example: liptest check mine.py:count --epsilon 1 --records 5000

    A data frame.
    Example: liptest check mine.py:groups --epsilon 1 --records 10000
    --columns 'age:0..120,region:north|south'

    In CI: exit code 0 only when all are YES.
    Example: liptest check --config liptest.toml --junit report.xml --sarif report.sarif
    """
    run = {"checkpoint": checkpoint, "resume": resume, "typed": [*typed]}
    run |= {"sealed": sealed, "in_process": in_process}
    return run_check(asdict(options) | run | {"mechanism": mechanism})


def release(
    mechanism: Mechanism = None,
    /,
    *,
    private: Annotated[Path, Parameter(help="Private data: a CSV or .npy file, or a JSON list.")],
    private_column: Annotated[str | None, Parameter(help="Column of the CSV.")] = None,
    private_rows: Annotated[str | None, Parameter(help="Rows of it, first:stop.")] = None,
    private_table: Annotated[
        str | None, Parameter(help="Its name in the ledger; default: that of the file.")
    ] = None,
    trust_code: Annotated[
        bool,
        Parameter(
            help="Let the code see the private data where it cannot be sealed.",
            negative="",
        ),
    ] = False,
    in_process: Annotated[
        bool,
        Parameter(help="Run code of your own here, not confined.", negative=""),
    ] = False,
    grid_step: Annotated[
        str | None,
        Parameter(help="Release noisy sums of the code, exactly, as multiples of it: 1, 0.01."),
    ] = None,
    key: Annotated[
        str | None,
        Parameter(help="Names this request: a retry gets the answer that --ledger holds."),
    ] = None,
    options: Options = DEFAULTS,
) -> int:
    """Test a mechanism; after a YES only, print one output on the private data.

    Example: liptest release vendor.py:count --epsilon 1 --records 3
    --private private.csv --private-column click

    Real answers, exactly, as multiples of a hundredth.
    Example: liptest release vendor.py:mean --epsilon 1 --records 5000 --values 121
    --private ages.csv --private-column age --grid-step 0.01

    Of a data frame; the private file has all its columns.
    Example: liptest release vendor.py:report --epsilon 1 --records 5000
    --domain table --columns "age:real:0..120,region:north|south"
    --private people.csv --grid-step 0.01
    """
    dataset = {
        "private": private,
        "private_column": private_column,
        "private_rows": private_rows,
        "private_table": private_table or private.name,
        "trust_code": trust_code,
        "in_process": in_process,
        "key": key,
        "grid_step": None if grid_step is None else read_grid_step(grid_step),
    }
    return run_release(asdict(options) | dataset | {"mechanism": mechanism})


#: Set to 1 in the environment, code runs in the process of a check: for code of one's own.
IN_PROCESS = "LIPTEST_IN_PROCESS"


def run_check(options: dict[str, Any]) -> int:
    """``liptest check``: every check runs, whatever became of the others."""
    screen = Screen()
    task = _guard(screen, lambda: _task(options))
    if task is None:
        return 2
    files = _guard(screen, lambda: checkpoint_files(options, len(task.models)))
    if files is None:
        return 2
    before = interruptions()
    outcomes = _check_all(screen, task, files, pictures=options["html"] is not None)
    _offer_deltas(screen, task, outcomes, options["typed"])
    written = write_outcomes(options, outcomes)
    if interruptions() != before or not written or any(map(was_interrupted, outcomes)):
        say_how_to_go_on(screen, files, options["typed"])
    elif all(outcome.error is None for outcome in outcomes):
        remove(files)
    if len(outcomes) > 1:
        screen.summary([(outcome.asked, outcome.code) for outcome in outcomes])
    codes = {outcome.code for outcome in outcomes} | ({0} if written else {2})
    return find_worst(codes)


def _task(options: dict[str, Any]) -> CommandJob:
    """The request, once all files that are named can be read or written."""
    task = read_task(options)
    if task.is_from_file:
        check_file_says_it_all(options)
    check_paths(options | {"ledger": task.ledger}, inputs=list_files(options))
    task = replace(task, place=_find_place(options))
    if options["vendor"] is not None and task.ledger is None:
        raise InputError("--vendor: it is noted in a ledger; give --ledger FILE too", name="vendor")
    return task


def _find_place(options: dict[str, Any]) -> CodePlace:
    """Where the code under test runs; InputError where two places are asked for."""
    here = options.get("in_process", False)
    if options.get("sealed", False):
        if here:
            raise InputError("--sealed and --in-process: code runs in one place; give one of them")
        return CodePlace.SEALED
    is_default = here or os.environ.get(IN_PROCESS) == "1"
    return CodePlace.HERE if is_default else CodePlace.CONFINED


def _check_all(
    screen: Screen, task: CommandJob, files: list[Path | None], *, pictures: bool
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    before = interruptions()
    for model, file in zip(task.models, files, strict=True):
        outcomes.append(_check(screen, model, task, file, pictures=pictures))
        left = len(task.models) - len(outcomes)
        if interruptions() != before and left:
            screen.error(BudgetError(f"interrupted: {left} more checks were not run"), 3)
            break
    return outcomes


def _offer_deltas(
    screen: Screen, task: CommandJob, outcomes: Sequence[Outcome], typed: list[str]
) -> None:
    """The command that asks for what is proved, after an INCONCLUSIVE because of a tail."""
    for outcome in outcomes:
        verdict = None if outcome.certificate is None else outcome.certificate.verdict
        if verdict is None or verdict.decision is not Decision.INCONCLUSIVE:
            continue
        delta = verdict.sufficient_delta
        if delta is None:
            continue
        if len(outcomes) > 1 or task.is_from_file:
            screen.paragraph(
                f"To have it proved: delta = {delta!r} for {outcome.asked} in the file."
            )
        else:
            screen.paragraph("To have it proved with that delta:")
            screen.command(shlex.join(["liptest", *_with_delta(typed, delta)]))


def _with_delta(typed: list[str], delta: float) -> list[str]:
    """The same command with another delta."""
    kept, skipped = [], False
    for word in typed:
        if not skipped and word != "--delta" and not word.startswith("--delta="):
            kept.append(word)
        skipped = word == "--delta"
    return [*kept, "--delta", repr(delta)]


def run_release(options: dict[str, Any]) -> int:
    """``liptest release``: test, then one draw on the private dataset."""
    screen = Screen()
    task = _guard(screen, lambda: _task(options))
    if task is None:
        return 2
    try:
        if len(task.models) != 1:
            raise InputError("release: name one mechanism, or a file with one check")
        if options["key"] is not None and task.ledger is None:
            raise InputError("--key: answers are stored in a ledger; give --ledger FILE too")
        check_readable(options["private"])
        return _release(screen, task.models[0], task, options)
    except LiptestError as error:
        return screen.error(error, find_code(error))


def _check(
    screen: Screen,
    model: CheckModel,
    task: CommandJob,
    checkpoint: Path | None,
    *,
    pictures: bool,
) -> Outcome:
    started = time.perf_counter()
    outcome, words = Outcome(model.mechanism, 2), ""
    certificate: Certificate | None
    try:
        own = ""
        if task.place is not CodePlace.HERE:
            file, line = find_definition(where_is(model, task.folder))
            outcome = replace(outcome, file=file, line=line)
        if task.place is CodePlace.SEALED:
            model, own = _with_domain_elsewhere(model, task)
            certificate = _test_elsewhere(screen, model, task)
        elif task.place is CodePlace.CONFINED:
            outcome, own, words = _test_in_jail(
                screen, model, task, checkpoint, outcome, pictures=pictures
            )
            certificate = outcome.certificate
        else:
            job = load_job(model, task.folder, alone=True)
            own, (file, line) = job.words, find_definition(job.where)
            outcome = replace(
                outcome,
                mechanism=job.mechanism,
                distribution=job.distribution,
                file=file,
                line=line,
            )
            certificate = _test(screen, job, task, checkpoint)
    except LiptestError as error:
        screen.error(error, find_code(error), model.mechanism)
        return replace(outcome, code=find_code(error), error=error, seconds=_since(started))
    assert certificate is not None
    screen.verdict(certificate.verdict)
    for told in filter(None, (own, words)):
        screen.paragraph(told)
    done = ANSWERED[certificate.decision]
    return replace(outcome, code=done, certificate=certificate, seconds=_since(started))


def _with_domain_elsewhere(model: CheckModel, task: CommandJob) -> tuple[CheckModel, str]:
    """A check with the domain of its object, where nothing is said of the data; a word on that."""
    where = where_is(model, task.folder)
    if not says_no_data(model, where):
        return model, ""
    return with_own_domain(model, domain_elsewhere(model, task.folder, where, hidden=task.hidden))


def _test(screen: Screen, job: Job, task: CommandJob, checkpoint: Path | None) -> Certificate:
    model = job.model
    code = fingerprint(job.mechanism)
    recorder = LedgerRecorder(task.ledger, vendor=model.vendor or clean_name(model.mechanism))
    settings = make_settings(model)
    validate_request(job.mechanism, job.distribution, settings)
    with screen.progress(job.label) as progress, mute_output(), pool(task.workers) as executor:
        recorder.begin(
            job.mechanism, code, job.distribution, settings.claim, settings.failure_probability
        )
        run = replace(settings, executor=executor, progress=progress, checkpoint=checkpoint)
        verdict = check_with_settings(job.mechanism, job.distribution, run)
    verdict = replace(verdict, mechanism=job.label)
    made = certify(verdict, code, job.distribution, own_seed=model.seed is None)
    return _write_down(screen, model, recorder, made)


def _test_in_jail(
    screen: Screen,
    model: CheckModel,
    task: CommandJob,
    checkpoint: Path | None,
    outcome: Outcome,
    *,
    pictures: bool,
) -> tuple[Outcome, str, str]:
    """The same, by another process that runs the code; whose the data and the verdict are."""
    where, settings = where_is(model, task.folder), make_settings(model)
    recorder = LedgerRecorder(task.ledger, vendor=model.vendor or clean_name(model.mechanism))
    own = ""

    def begin(domain: Domain | None = None) -> Distribution:
        nonlocal own
        said = model
        if domain is not None:
            said, own = with_own_domain(model, domain)
        law = make_distribution(said, task.folder, alone=True)
        _begin_unseen(recorder, model, where, law, settings)
        return law

    with begin_late(lambda: screen.progress(make_label(where))) as progress:
        checked = check_elsewhere(
            model,
            task.folder,
            begin if says_no_data(model, where) else begin(),
            settings,
            where=where,
            workers=task.workers,
            checkpoint=checkpoint,
            pictures=pictures,
            hidden=task.hidden,
            progress=progress,
        )
    made = _write_down(screen, model, recorder, checked.certificate)
    outcome = replace(
        outcome,
        certificate=made,
        file=checked.file,
        line=checked.line,
        findings=checked.findings,
        distribution=checked.distribution,
    )
    return outcome, own, checked.words


def _test_elsewhere(screen: Screen, model: CheckModel, task: CommandJob) -> Certificate:
    """The same of all laws that another process had from the code, which is not imported here."""
    law, settings = make_distribution(model, task.folder, alone=True), make_settings(model)
    recorder = LedgerRecorder(task.ledger, vendor=model.vendor or clean_name(model.mechanism))
    sealed_code = _seal_elsewhere(model, task, law, settings, recorder, task.hidden)
    with screen.progress(sealed_code.label) as progress, pool(task.workers) as executor:
        run = replace(settings, executor=executor, progress=progress)
        verdict = check_with_settings(sealed_code.sealed.mechanism, law, run)
    verdict = replace(in_plain_values(verdict), law_source=sealed_code.source)
    made = certify(verdict, sealed_code.code, law, own_seed=model.seed is None)
    return _write_down(screen, model, recorder, made)


def _begin_unseen(
    recorder: LedgerRecorder,
    model: CheckModel,
    where: str,
    law: Distribution,
    settings: CheckSettings,
) -> None:
    """Write the attempt down by the files on disk: the code is not imported here."""
    named, failure = NamedCode(model.mechanism), settings.failure_probability
    recorder.begin(named, code_on_disk(where), law, settings.claim, failure)


def _seal_elsewhere(
    model: CheckModel,
    task: CommandJob,
    law: Distribution,
    settings: CheckSettings,
    recorder: LedgerRecorder,
    hidden: Sequence[Path],
    *,
    step: Fraction | None = None,
) -> SealedCode:
    """The laws that another process had from the code, once the attempt is written down."""
    where = where_is(model, task.folder)
    _begin_unseen(recorder, model, where, law, settings)
    try:
        return seal_elsewhere(
            where,
            law.domain,
            hidden=hidden,
            seconds=settings.max_seconds,
            statistic=model.statistic,
            frame=model.library,
            step=step,
        )
    except GateError as error:
        raise GateError(
            f"not all of its laws can be sealed in another process; of real numbers release with "
            f"--grid-step 0.01, of an author you trust with --trust-code: {error}"
        ) from None


def _write_down(
    screen: Screen, model: CheckModel, recorder: LedgerRecorder, made: Certificate
) -> Certificate:
    certificate = recorder.decided(made)
    try:
        recorder.settle()
    except LiptestError as error:
        screen.error(error, find_code(error), model.mechanism)
    return certificate


def _since(started: float) -> float:
    return time.perf_counter() - started


def _release(screen: Screen, model: CheckModel, task: CommandJob, options: dict[str, Any]) -> int:
    _check_says_data(model, task, options)
    law = make_distribution(model, task.folder, alone=True)
    _check_private(law.domain, options)
    in_process = options["trust_code"] or options["in_process"]
    opened = _gate_in_process if in_process else _gate_on_sealed
    gate, label, mechanism = opened(screen, model, task, options, law)
    verdict = replace(gate.certificate.verdict, mechanism=label)
    screen.verdict(verdict)
    code = ANSWERED[verdict.decision]
    outcome = Outcome(model.mechanism, code, gate.certificate, None, mechanism, law)
    is_written = write_outcomes(options, [outcome])
    if verdict.decision is not Decision.YES:
        screen.paragraph("REFUSED - the private table was not read")
        return code
    if not is_written:
        screen.paragraph("NOT RELEASED - a file could not be written; the table was not read")
        return 2
    answer = gate.release(_private_data(law.domain, options), key=options["key"])
    assert isinstance(answer, Released)
    screen.paragraph(f"RELEASED {answer.output!r}")
    screen.paragraph(f"({gate.certificate.release_guarantee})")
    screen.paragraph(f"({gate.certificate.release_source})")
    if answer.warning:
        screen.paragraph(f"WARNING, for the operator only: {answer.warning}.")
    return 0


def _check_says_data(model: CheckModel, task: CommandJob, options: dict[str, Any]) -> None:
    """InputError, with what an object says, where nothing else says what the private data are.

    Who is a neighbour is part of the promise: the owner of the data says it, and no vendor.
    """
    where = where_is(model, task.folder)
    if not says_no_data(model, where):
        return
    if options["trust_code"] or options["in_process"]:
        domain = load_job(model, task.folder, alone=True).distribution.domain
    else:
        hidden = [options["private"], *task.hidden]
        domain = domain_elsewhere(model, task.folder, where, hidden=hidden)
    raise InputError(
        f"domain: for a release you say what the data are, and with that who is a neighbour; the "
        f"object says {words_for_options(domain)}: give that if it is true of the private data",
        name="domain",
    )


def _gate_in_process(
    screen: Screen,
    model: CheckModel,
    task: CommandJob,
    options: dict[str, Any],
    law: Distribution,
) -> tuple[Gate, str, Any]:
    job = load_job(model, task.folder, law=law)
    vendor = model.vendor or clean_name(model.mechanism)
    with screen.progress(job.label) as progress, mute_output(), pool(task.workers) as executor:
        settings = replace(make_settings(model), executor=executor, progress=progress)
        gate = PrivacyGate(
            job.mechanism,
            job.distribution,
            releases=model.releases,
            ledger=task.ledger,
            vendor=vendor if task.ledger else None,
            private_table=options["private_table"] if task.ledger else None,
            trust_code=options["trust_code"],
            grid_step=_step(model, options),
            **settings.arguments(),
        )
    return gate, job.label, job.mechanism


def _gate_on_sealed(
    screen: Screen,
    model: CheckModel,
    task: CommandJob,
    options: dict[str, Any],
    law: Distribution,
) -> tuple[Gate, str, Any]:
    """The code runs in another process, which knows the domain; this one never imports it."""
    settings = make_settings(model)
    vendor = (model.vendor or clean_name(model.mechanism)) if task.ledger else None
    table = options["private_table"] if task.ledger else None
    recorder = LedgerRecorder.of_gate(task.ledger, vendor=vendor, private_table=table)
    step = _step(model, options)
    hidden = [options["private"], *task.hidden]
    sealed_code = _seal_elsewhere(model, task, law, settings, recorder, hidden, step=step)
    with screen.progress(sealed_code.label) as progress, pool(task.workers) as executor:
        gate = SealedGate(
            sealed_code.sealed,
            law,
            replace(settings, executor=executor, progress=progress),
            code=sealed_code.code,
            law_source=sealed_code.source,
            recorder=recorder,
            releases=model.releases,
            refuted=lambda: refute_elsewhere(
                *(model, task.folder, law, settings),
                where=where_is(model, task.folder),
                hidden=hidden,
            ),
        )
    return gate, sealed_code.label, None


def _check_private(domain: Domain, options: dict[str, Any]) -> None:
    """InputError where the private file cannot be meant; no entry is read."""
    said = options["private_column"], options["private_rows"]
    if isinstance(domain, Table):
        check_private_columns(options["private"], domain, *said)
    else:
        check_column(options["private"], *said)


def _private_data(domain: Domain, options: dict[str, Any]) -> Any:
    """What the private file holds: of a table its columns, else one column of whole numbers."""
    private, rows = options["private"], options["private_rows"]
    if isinstance(domain, Table):
        return read_private_frame(private, domain, rows)
    column = read_column(private, options["private_column"], rows, private=True)
    return read_whole_numbers(column, private, private=True)


def _step(model: CheckModel, options: dict[str, Any]) -> Fraction | None:
    """Of the grid of what is released: as on the command line, else as in the file."""
    step: Fraction | None = options["grid_step"]
    return model.step if step is None else step


def _guard(screen: Screen, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except LiptestError as error:
        screen.error(error, 2)
        return None


def checkpoint_files(options: dict[str, Any], checks: int) -> list[Path | None]:
    """The file of each check; of several checks each has one of its own, ``FILE-2`` and so on.

    Raises InputError when a run would overwrite one, or when there is none to go on with.
    """
    given: Path | None = options["checkpoint"]
    if given is None:
        if options["resume"]:
            raise InputError("resume: say which file; give --checkpoint FILE", name="resume")
        return [None] * checks
    files = [given] if checks == 1 else [_number(given, n) for n in range(1, checks + 1)]
    there = [file for file in files if file.exists()]
    if there and not options["resume"]:
        raise InputError(
            f"checkpoint={str(there[0])!r} is there already; add --resume to go on with it, or "
            f"remove it to begin again",
            name="checkpoint",
        )
    if options["resume"] and not there:
        raise InputError(
            f"checkpoint={str(files[0])!r}: there is no such file to go on with; leave --resume "
            f"out to begin",
            name="checkpoint",
        )
    return [*files]


def _number(file: Path, number: int) -> Path:
    return file.with_name(f"{file.stem}-{number}{file.suffix}")


def was_interrupted(outcome: Outcome) -> bool:
    """Whether a check was cut off, also by a KeyboardInterrupt of the code under test."""
    certificate = outcome.certificate
    return certificate is not None and certificate.verdict.was_cut_off


def say_how_to_go_on(screen: Screen, files: list[Path | None], typed: list[str]) -> None:
    """What to type when not everything was done or written down; nothing where no file is."""
    there = [str(file) for file in files if file is not None and file.exists()]
    if not there:
        return
    # A full disk may have kept the last chunks out.
    kept = ", ".join(there)
    screen.paragraph(f"What was done is kept in {kept}. To continue from there:")
    screen.command(shlex.join(["liptest", *typed, *(["--resume"] * ("--resume" not in typed))]))


def remove(files: list[Path | None]) -> None:
    """After the last answer was written down."""
    for file in files:
        if file is not None:
            with suppress(OSError):
                file.unlink(missing_ok=True)
