"""``liptest samples``, and ``liptest verify`` with what it wrote."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from liptest.blackbox.check import check_samples, make_request
from liptest.blackbox.programs import ExternalProgram
from liptest.blackbox.samplers import Sampler
from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.cli.claim_options import CLAIM
from liptest.cli.codes import ANSWERED, find_code
from liptest.cli.config import CheckModel, build_data, validate
from liptest.cli.data_options import NOTHING, WHOLE, DataOptions
from liptest.cli.loading import load_sampler, mute_output
from liptest.cli.options import RUN, Seed, Workers
from liptest.cli.paths import check_paths, list_files
from liptest.cli.program_options import NO_PROGRAM, ProgramOptions
from liptest.cli.workers import pool
from liptest.data.distributions import Distribution
from liptest.errors import InputError, LiptestError
from liptest.evidence.certificate import Certificate, certify_samples
from liptest.evidence.ledger import LedgerRecorder
from liptest.evidence.ledger_entries import clean_name
from liptest.report.html import report_html
from liptest.report.text import Screen
from liptest.runs.fingerprints import fingerprint

_OUT = Group("Results")


def samples(
    sampler: Annotated[
        str | None, Parameter(help="file.py:name or package.module:name; or --command.")
    ] = None,
    /,
    *,
    epsilon: Annotated[str, Parameter(group=CLAIM, help="Number above 0, or log(3).")],
    delta: Annotated[float, Parameter(group=CLAIM, help="In [0, 1).")] = 0.0,
    resolution: Annotated[
        float, Parameter(group=CLAIM, help="What a YES may add to delta.")
    ] = 0.05,
    failure_probability: Annotated[
        float, Parameter(group=CLAIM, help="Chance of a wrong answer.")
    ] = 1e-6,
    data: DataOptions = NOTHING,
    program: ProgramOptions = NO_PROGRAM,
    samples: Annotated[
        int, Parameter(group=RUN, help="Outputs to draw at most.", **WHOLE)
    ] = 1_000_000,
    sequential: Annotated[
        bool,
        Parameter(
            group=RUN,
            help="Draw only until the claim is refuted; the error bound holds wherever it "
            "stops. Never says YES.",
            negative="",
        ),
    ] = False,
    floats: Annotated[
        str | None,
        Parameter(
            group=RUN,
            help="implemented: the lowest bits of numbers are compared, too, which show noise that "
            "was added in floats. ideal: they are not. Default: ideal for a sampler without "
            "--sequential, else implemented.",
        ),
    ] = None,
    scalar: Annotated[
        bool,
        Parameter(group=RUN, help="(dataset, rng) gives one output, not n.", negative=""),
    ] = False,
    seed: Seed = None,
    workers: Workers = 1,
    json: Annotated[
        Path | None, Parameter(group=_OUT, name="--json", help="Write the certificate.")
    ] = None,
    html: Annotated[
        Path | None, Parameter(group=_OUT, name="--html", help="Write a report.")
    ] = None,
    ledger: Annotated[
        Path | None,
        Parameter(group=_OUT, name="--ledger", help="Note the attempt in this file."),
    ] = None,
    vendor: Annotated[
        str | None,
        Parameter(group=_OUT, help="Name of the vendor in the ledger; default: the sampler."),
    ] = None,
) -> int:
    """Test a mechanism that only gives samples.

    It is a function (dataset, n, rng) that gives n outputs.

    It may also be a program of any language (--command), or a service or a
    database (--endpoint): a dataset goes in, outputs come out.

    Exit code 0: YES at the resolution; 1: NO; 3: neither; 2: wrong input;
    4: the mechanism is broken. The answer is statistical; where the output
    distribution can be computed, liptest check says more.

    Example: liptest samples vendor.py:draw --epsilon 1 --records 10 --probabilities 0.5

    Example: liptest samples --command './noiser --n {n} --seed {seed}' --epsilon 1
    --records 2 --uniform --sequential --samples 20000
    """
    return run_samples(dict(locals()))


def run_samples(options: dict[str, Any]) -> int:
    """``liptest samples``: print the verdict, write its certificate."""
    screen = Screen()
    try:
        check_paths(options, inputs=list_files(options))
        if options["vendor"] is not None and options["ledger"] is None:
            raise InputError("--vendor: it is noted in a ledger; give --ledger FILE too")
        sampler, label = _find_sampler(options)
        data = build_data(options["data"])
        vendor = options["vendor"] or clean_name(options["sampler"])
        recorder = LedgerRecorder(options["ledger"], vendor=vendor)
        verdict = _verdict(screen, sampler, label, data, recorder, options)
    except LiptestError as error:
        return screen.error(error, find_code(error), options["sampler"])
    own_seed = options["seed"] is None
    certificate = recorder.decided(certify_samples(verdict, sampler, data, own_seed=own_seed))
    screen.paragraph(str(verdict))
    if isinstance(sampler.function, ExternalProgram):
        screen.paragraph(f"How the program ran: {sampler.function.confinement}.")
    try:
        recorder.settle()
    except LiptestError as error:
        screen.error(error, find_code(error), options["sampler"])
    return ANSWERED[verdict.decision] if _write_files(options, certificate) else 2


def _find_sampler(options: dict[str, Any]) -> tuple[Sampler, str]:
    """The sampler that is named, or the program; ``options["sampler"]`` is then its command."""
    program = options["program"].build()
    if (program is None) == (options["sampler"] is None):
        raise InputError("sampler: name one, file.py:name, or give --command or --endpoint")
    if program is None:
        return load_sampler(options["sampler"], scalar=options["scalar"])
    sampler = program.sampler()
    options["floats"] = options["floats"] or "implemented"
    options["sampler"] = sampler.name
    return sampler, sampler.name


def _write_files(options: dict[str, Any], certificate: Certificate[BlackBoxVerdict]) -> bool:
    """Whether all files could be written; a full disk must lose neither the verdict nor others."""
    whole = True
    for name, text_of in (("json", Certificate.to_json), ("html", report_html)):
        path: Path | None = options[name]
        if path is None:
            continue
        try:
            path.write_text(text_of(certificate).rstrip("\n") + "\n", encoding="utf-8")
        except OSError as error:
            print(f"error: --{name} {path}: {error.strerror}", file=sys.stderr)
            whole = False
    return whole


def _verdict(
    screen: Screen,
    sampler: Sampler,
    label: str,
    data: Distribution,
    recorder: LedgerRecorder,
    options: dict[str, Any],
) -> BlackBoxVerdict:
    claim = validate(
        CheckModel, {"mechanism": "a:sampler", "epsilon": options["epsilon"]}, "arguments"
    )
    plain = ["delta", "resolution", "failure_probability", "samples", "seed"]
    plain += ["sequential", "floats"]
    given = {"epsilon": claim.epsilon, **{key: options[key] for key in plain}}
    asked = make_request(sampler, data, **given)
    with screen.progress(label) as progress, mute_output(), pool(options["workers"]) as executor:
        recorder.begin(sampler, fingerprint(sampler), data, asked.claim, asked.failure_probability)
        verdict = check_samples(sampler, data, executor=executor, progress=progress, **given)
    return replace(verdict, mechanism=label)
