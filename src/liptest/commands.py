"""What the commands of the command line do; imported only when one of them runs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from liptest import testers
from liptest.certificates import Certificate, certify
from liptest.config import CheckModel, DistributionModel, DomainModel, read_config, validated
from liptest.demo import run_clicks
from liptest.distributions import ProductDistribution
from liptest.errors import (
    BudgetError,
    GateError,
    InputError,
    LiptestError,
    MechanismError,
)
from liptest.fingerprints import fingerprint
from liptest.gate import PrivacyGate, Released
from liptest.interrupts import interruptions
from liptest.loading import defined_at, load_mechanism, read_column, whole_numbers
from liptest.mechanisms.base import Mechanism
from liptest.outcomes import Outcome
from liptest.privacy.check import METHODS, check_privacy
from liptest.report.text import Screen
from liptest.verdicts import Decision
from liptest.workers import pool

# Worst first.
_SEVERITY = (4, 1, 3, 2, 0)
_CODES = {Decision.YES: 0, Decision.NO: 1, Decision.INCONCLUSIVE: 3}


@dataclass(frozen=True)
class Job:
    """One check, ready to run."""

    model: CheckModel
    where: str
    mechanism: Mechanism
    label: str
    distribution: ProductDistribution


def run_demo(name: str) -> int:
    """``liptest demo``; 0 when every outcome is the expected one."""
    screen = Screen()
    with screen.progress(name) as progress:
        good = run_clicks(screen.paragraph, screen.verdict, progress=progress)
    return 0 if good else 1


def run_check(options: dict[str, Any]) -> int:
    """``liptest check``: every check runs, whatever became of the others."""
    screen = Screen()
    folder, models = _guarded(screen, lambda: _models(options)) or (Path(), [])
    if not models:
        return 2
    outcomes = _checked(screen, models, folder, options["workers"])
    _write(screen, options["json"], [o.certificate for o in outcomes if o.certificate])
    if len(outcomes) > 1:
        screen.summary([(outcome.asked, outcome.code) for outcome in outcomes])
    codes = {outcome.code for outcome in outcomes}
    return next(code for code in _SEVERITY if code in codes)


def _checked(screen: Screen, models: list[CheckModel], folder: Path, workers: int) -> list[Outcome]:
    outcomes: list[Outcome] = []
    before = interruptions()
    for model in models:
        outcomes.append(_check(screen, model, folder, workers))
        left = len(models) - len(outcomes)
        if interruptions() != before and left:
            screen.error(BudgetError(f"interrupted: {left} more checks were not run"), 3)
            break
    return outcomes


def run_release(options: dict[str, Any]) -> int:
    """``liptest release``: test, then one draw on the private dataset."""
    screen = Screen()
    found = _guarded(screen, lambda: _models(options))
    if not found:
        return 2
    folder, models = found
    private: Path = options["private"]
    if len(models) != 1:
        return screen.error(InputError("release: name one mechanism, or a file with one check"), 2)
    if not private.is_file():
        return screen.error(InputError(f"{private}: there is no such file"), 2)
    try:
        return _release(screen, models[0], folder, options)
    except LiptestError as error:
        return screen.error(error, code_of(error))


def _models(options: dict[str, Any]) -> tuple[Path, list[CheckModel]]:
    """The checks asked for, from arguments or from a file."""
    if options["mechanism"] is None:
        path = options["config"] or Path("liptest.toml")
        if options["config"] is None and not path.is_file():
            raise InputError(
                "mechanism: none given, and there is no liptest.toml here; write for example "
                "liptest check vendor.py:count --epsilon 1 --dimension 20 --probabilities 0.1"
            )
        whole = read_config(path)
        defaults = {"domain": whole.domain, "distribution": whole.distribution}
        merged = [
            one.model_copy(update={k: v for k, v in defaults.items() if getattr(one, k) is None})
            for one in whole.check
        ]
        return path.parent, merged
    if options["epsilon"] is None:
        raise InputError("epsilon: the claim is missing; give --epsilon 1", name="epsilon")
    return Path(), [validated(CheckModel, _from_arguments(options), "arguments")]


def _from_arguments(options: dict[str, Any]) -> dict[str, Any]:
    plain = ("mechanism", "epsilon", "delta", "exception_mass", "failure_probability", "method")
    law = ("uniform", "table", "column", "group", "rows", "records", "record_rows")
    data = {key: options[key] for key in (*plain, "budget", "seed")}
    data["distribution"] = {key: options[key] for key in law}
    data["distribution"]["probabilities"] = numbers(options["probabilities"])
    data["domain"] = {
        "kind": options["domain"],
        "dimension": options["dimension"],
        "sizes": numbers(options["sizes"], always_list=True),
    }
    return data


def numbers(text: str | None, *, always_list: bool = False) -> Any:
    """A number, or a list of those with commas between them; None where nothing was said."""
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{text!r} must be numbers with commas between them") from None
    return values if always_list or len(values) > 1 else values[0]


def _job(model: CheckModel, folder: Path) -> Job:
    where = model.mechanism
    if ".py:" in where:
        where = str(folder / where)
    with muted():
        mechanism, label = load_mechanism(where)
    domain = (model.domain or DomainModel()).build()
    law = (model.distribution or DistributionModel()).build(domain, folder)
    return Job(model, where, mechanism, label, law)


def _options(model: CheckModel) -> dict[str, Any]:
    keys = ("epsilon", "delta", "exception_mass", "failure_probability", "tolerance", "budget")
    return {key: getattr(model, key) for key in (*keys, "seed")} | {"method": _method(model.method)}


def _method(name: str) -> Any:
    known = {tester.name: tester for tester in testers.ALL_TESTERS}
    if name in METHODS or name not in known:
        return name
    return known[name]


def _check(screen: Screen, model: CheckModel, folder: Path, workers: int) -> Outcome:
    started = time.perf_counter()
    outcome = Outcome(model.mechanism, 2)
    try:
        job = _job(model, folder)
        file, line = defined_at(job.where)
        outcome = replace(
            outcome,
            mechanism=job.mechanism,
            distribution=job.distribution,
            file=file,
            line=line,
        )
        code = fingerprint(job.mechanism)
        with screen.progress(job.label) as progress, muted(), pool(workers) as executor:
            verdict = check_privacy(
                job.mechanism,
                job.distribution,
                executor=executor,
                progress=progress,
                **_options(model),
            )
    except LiptestError as error:
        screen.error(error, code_of(error), model.mechanism)
        return replace(outcome, code=code_of(error), error=error, seconds=_since(started))
    verdict = replace(verdict, mechanism=job.label)
    screen.verdict(verdict)
    own_seed = model.seed is None
    certificate = certify(verdict, code, job.distribution, own_seed=own_seed)
    done = _CODES[verdict.decision]
    return replace(outcome, code=done, certificate=certificate, seconds=_since(started))


def _since(started: float) -> float:
    return time.perf_counter() - started


def _release(
    screen: Screen,
    model: CheckModel,
    folder: Path,
    options: dict[str, Any],
) -> int:
    job = _job(model, folder)
    workers = options["workers"]
    with screen.progress(job.label) as progress, muted(), pool(workers) as executor:
        gate = PrivacyGate(
            job.mechanism,
            job.distribution,
            releases=model.releases,
            executor=executor,
            progress=progress,
            **_options(model),
        )
    verdict = replace(gate.certificate.verdict, mechanism=job.label)
    screen.verdict(verdict)
    _write(screen, options["json"], [gate.certificate])
    if verdict.decision is not Decision.YES:
        screen.paragraph("REFUSED - the private table was not read")
        return _CODES[verdict.decision]
    private: Path = options["private"]
    column = read_column(private, options["private_column"], options["private_rows"], private=True)
    answer = gate.release(whole_numbers(column, private, private=True))
    assert isinstance(answer, Released)
    screen.paragraph(f"RELEASED {answer.output!r}")
    screen.paragraph(f"({gate.certificate.release_guarantee})")
    return 0


@contextmanager
def muted() -> Iterator[None]:
    """Standard output is ours: code under test must not be able to print a verdict."""
    with open(os.devnull, "w", encoding="utf-8") as sink, redirect_stdout(sink):
        yield


def code_of(error: LiptestError) -> int:
    """The exit code of an error."""
    if isinstance(error, MechanismError):
        return 4
    if isinstance(error, BudgetError):
        return 3
    return 1 if isinstance(error, GateError) else 2


def _guarded(screen: Screen, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except LiptestError as error:
        screen.error(error, 2)
        return None


def _write(screen: Screen, path: Path | None, certificates: list[Certificate]) -> None:
    if path is None or not certificates:
        return
    whole = [one.to_dict() for one in certificates]
    text = json.dumps(whole[0] if len(whole) == 1 else whole, indent=1)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        # The verdicts are on the screen already; a full disk must not lose them.
        print(f"error: --json {path}: {error.strerror}", file=sys.stderr)
