"""``liptest profile``: one profile per mechanism, as a small table and as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from liptest.cli.codes import ANSWERED, find_code, find_worst
from liptest.cli.config import CheckModel
from liptest.cli.data_options import NOTHING, WHOLE, DataOptions, read_numbers
from liptest.cli.jobs import load_job, read_task
from liptest.cli.loading import mute_output
from liptest.cli.options import RUN, Config, Seed, Workers
from liptest.cli.paths import check_paths, list_files
from liptest.cli.workers import pool
from liptest.errors import LiptestError, check_open_unit, check_positive
from liptest.privacy.profile import privacy_profile
from liptest.privacy.wording.profile_result import GdpAnswer, PrivacyProfile
from liptest.report.text import Screen

_PROFILE = Group("Profile")


def profile(
    mechanism: Annotated[
        str | None, Parameter(help="file.py:name or package.module:name; else every check.")
    ] = None,
    /,
    *,
    epsilon: Annotated[
        str | None, Parameter(group=_PROFILE, help="The grid: 0.5,1,2. Default: 40 values.")
    ] = None,
    claim: Annotated[
        float | None,
        Parameter(
            group=_PROFILE,
            help="Does this epsilon hold outside --exception-mass? Exit code 0 is YES.",
        ),
    ] = None,
    delta: Annotated[float, Parameter(group=_PROFILE, help="In [0, 1).")] = 0.0,
    exception_mass: Annotated[
        float, Parameter(group=_PROFILE, help="Mass that a sampled profile is to resolve.")
    ] = 1e-3,
    failure_probability: Annotated[
        float, Parameter(group=_PROFILE, help="Chance that anything in it is wrong.")
    ] = 1e-6,
    method: Annotated[
        str,
        Parameter(group=_PROFILE, help="auto, exact, neighbourhoods or light-neighbourhoods."),
    ] = "auto",
    curves: Annotated[
        bool,
        Parameter(
            group=_PROFILE,
            negative="",
            help="Add deltas by epsilon, Renyi divergences and the trade-off of all neighbours; "
            "without a distribution only these.",
        ),
    ] = False,
    data: DataOptions = NOTHING,
    config: Config = None,
    draws: Annotated[int | None, Parameter(group=RUN, help="Datasets to draw.", **WHOLE)] = None,
    budget: Annotated[
        int | None,
        Parameter(group=RUN, help="Most output distributions to compute, on average.", **WHOLE),
    ] = None,
    seed: Seed = None,
    json: Annotated[
        Path | None, Parameter(group=RUN, name="--json", help="Write the profiles.")
    ] = None,
    workers: Workers = 1,
) -> int:
    """Print the exception mass against epsilon.

    With --claim, exit code 0: YES; 1: NO; 3: open.

    Example: liptest profile vendor.py:count --records 20 --probabilities 0.1 --epsilon 0.5,1,2
    """
    return run_profile(dict(locals()) | {"data": asdict(data)})


def run_profile(options: dict[str, Any]) -> int:
    """``liptest profile``: every mechanism named, whatever becomes of the others."""
    screen = Screen()
    try:
        # The models need a claim, which a profile does not: the grid stands for it.
        check_paths(options, inputs=list_files(options))
        _check_claim(options)
        nothing = dict.fromkeys(("ledger", "vendor", "search_laws"))
        asked = {"epsilon": "1", "method": "auto", "floats": "both"}
        task = read_task(options | nothing | asked)
    except LiptestError as error:
        return screen.error(error, 2)
    written: list[dict[str, Any]] = []
    codes = [_one(screen, model, task.folder, options, written) for model in task.models]
    _write(options["json"], written)
    return find_worst(codes)


def _check_claim(options: dict[str, Any]) -> None:
    """What is asked of the profile, before it takes its time."""
    if options["claim"] is not None:
        check_positive("claim", options["claim"])
        check_open_unit("exception_mass", options["exception_mass"])


def _one(
    screen: Screen,
    model: CheckModel,
    folder: Path,
    options: dict[str, Any],
    written: list[dict[str, Any]],
) -> int:
    try:
        profile = _profile(screen, model, folder, options)
        answer = None
        if options["claim"] is not None:
            mass = options["exception_mass"]
            answer = profile.gdp(epsilon=options["claim"], exception_mass=mass)
    except LiptestError as error:
        return screen.error(error, find_code(error), model.mechanism)
    _print(screen, profile, answer)
    written.append(profile.to_dict() | ({"claim": answer.to_dict()} if answer else {}))
    return 0 if answer is None else ANSWERED[answer.decision]


def _profile(
    screen: Screen, model: CheckModel, folder: Path, options: dict[str, Any]
) -> PrivacyProfile:
    job = load_job(model, folder, alone=options["curves"])
    limits = ("exception_mass", "failure_probability", "draws", "budget", "seed")
    given = {key: options[key] for key in ("delta", "method", "curves", *limits)}
    with (
        screen.progress(job.label) as progress,
        mute_output(),
        pool(options["workers"]) as executor,
    ):
        measured = privacy_profile(
            job.mechanism,
            job.distribution,
            epsilons=None if options["epsilon"] is None else read_numbers(options["epsilon"]),
            tolerance=model.tolerance,
            executor=executor,
            progress=progress,
            **given,
        )
    return replace(measured, mechanism=job.label)


def _print(screen: Screen, profile: PrivacyProfile, answer: GdpAnswer | None) -> None:
    if profile.points:
        screen.paragraph("\n".join(profile.heading()))
        print("\n".join(profile.table()), end="\n\n")
        closing = profile.footing() + ([str(answer)] if answer else [])
        screen.paragraph("\n".join(closing))
    if profile.curves is not None:
        print(profile.curves, end="\n\n")


def _write(path: Path | None, profiles: list[dict[str, Any]]) -> None:
    if path is None or not profiles:
        return
    text = json.dumps(profiles[0] if len(profiles) == 1 else profiles, indent=1)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        # The tables are on the screen already; a full disk must not lose them.
        print(f"error: --json {path}: {error.strerror}", file=sys.stderr)
