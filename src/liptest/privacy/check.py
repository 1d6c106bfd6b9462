"""``check_privacy``: is the claim true, and in what sense?"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from liptest.data.distributions import (
    Distribution,
    distribution_or_domain,
)
from liptest.data.domains import Domain
from liptest.errors import (
    InputError,
    LiptestError,
    UnsupportedRandomnessError,
    quote,
    with_example,
)
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.mechanisms.adapting import domain_expression
from liptest.mechanisms.base import (
    SamplesOnly,
    check_by_samples,
)
from liptest.mechanisms.laws import laws_of_one_decision
from liptest.privacy.claims import ExactLog, require_epsilon
from liptest.privacy.proofs.alignment import run_alignment
from liptest.privacy.proofs.at_any_size import (
    decide_late,
    is_hopeless,
    leave_undecided,
    run_at_any_size,
    try_early,
    try_late,
    within_time,
)
from liptest.privacy.request import Task, validate_request
from liptest.privacy.settings import AT_ANY_SIZE, BLACK_BOX, IMPLEMENTED, CheckSettings
from liptest.privacy.verdicts import (
    BY_ALIGNMENT,
    BY_RECORDS,
    PrivacyVerdict,
    keep_mechanism,
)
from liptest.privacy.wording.implemented import decide_without_law, with_floats
from liptest.runs.checkpoints import Checkpoint
from liptest.runs.driver import Progress
from liptest.runs.progress import check_progress
from liptest.runs.surroundings import surroundings_kept


def _example_for(mechanism: Any = None, *_: Any, **named: Any) -> str:
    """The call for an object of a library that says its own data; "" for anything else."""
    claims = [f"{key}={named[key]!r}" for key in ("epsilon", "delta") if key in named]
    try:
        said = domain_expression(mechanism)
    except LiptestError:
        said = "lt.Hypergrid([10])"
    claim = ", ".join(claims or ["epsilon=1"])
    return f"lt.check_privacy(measurement, {said}, {claim})" if said else ""


@with_example("lt.check_privacy(count, lt.Hypercube(5000), epsilon=1)", of=_example_for)
def check_privacy(
    mechanism: Any,
    distribution: Distribution | Domain,
    *,
    epsilon: float | str | ExactLog | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    renyi: Any = None,
    mu: float | None = None,
    curve: Mapping[float | str | ExactLog, float] | None = None,
    exception_mass: float = 1e-3,
    failure_probability: float = 1e-6,
    method: str | LipschitzTester = "auto",
    tolerance: float = 1e-9,
    budget: int | None = None,
    search_laws: int | None = None,
    floats: str = "both",
    seed: int | None = None,
    max_seconds: float | None = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> PrivacyVerdict:
    """Test whether a mechanism is (epsilon, delta)-differentially private (paper Algorithm 1).

    Parameters
    ----------
    mechanism
        ``@lt.mechanism`` function, ``lt.ClosedForm``, ``lt.StatisticMechanism``,
        ``lt.ShiftMechanism``, or another ``lt.Mechanism``.
    distribution
        Of the data; its domain says which datasets exist and which are neighbours. Fit it on
        public or other data, never on the data that is to be protected. A domain alone is enough
        for a proof and for a refutation; methods that draw datasets refuse it.
    epsilon, delta
        The claim (paper: alpha, gamma). epsilon is a float above 0 or ``lt.log(3)``.
    rho, renyi, mu, curve
        The claim in another form; exactly one is stated. ``rho``: zCDP. ``renyi``: a pair
        (order, tau) or a list of pairs, RDP. ``mu``: Gaussian DP. ``curve``: a mapping of epsilons
        to deltas, all of which hold. Proofs and methods by neighbours take all of them (theory 6).
    exception_mass
        Total probability of the datasets about which a sampled YES says nothing (paper: beta).
    failure_probability
        Chance of a YES although the guarantee is wrong (paper: gamma).
    method
        "auto", "alignment" (S1: any size), "per-record" (docs/theory/records.md), "refutation"
        (3.10: a few pairs at any size), "exhaustive" (3.7), "neighbourhoods" (3.6b),
        "light-neighbourhoods" (3.6), "edges" (3.5), "group" (3.4), "search" (3.10: NO or
        INCONCLUSIVE), or a Lipschitz tester: the paper's A_test (3.3). "black-box" (3.14) is for an
        ``lt.Sampler``, and its only method: ``budget`` is then the number of samples, and the
        answer a ``BlackBoxVerdict``.
        Numbers are those of docs/theory.
    tolerance
        The claim is tested at ``epsilon * (1 + tolerance) + tolerance``.
    budget
        Most output distributions to compute; what ends it early is INCONCLUSIVE.
    search_laws
        Most output distributions of a search that follows a sampled YES and can only turn it into
        NO (3.10); 0: no search. None: a tenth of the planned ones, at most 20,000 (2,000 where code
        is enumerated).
    floats
        "ideal": noise is real numbers, as its law says. "implemented": the decision is about the
        floats that the installed NumPy returns. "both": the decision is the ideal one, and
        ``verdict.implemented`` is a second line about the floats of noise that is answered
        (docs/theory/floats.md).
    seed
        Same seed, same verdict, witness and counts on any number of workers.
    max_seconds
        Limit of time for the whole check, which then ends with what is known: most often
        INCONCLUSIVE.
    executor, progress
        As in ``check_lipschitz``; ``progress=True`` is a plain bar.
    checkpoint
        File that keeps what is done of the sampling. A run that finds it goes on where the one
        that wrote it was cut off, with its seed, and ends with the same verdict, witness and
        counts; a file of another test is refused. The file stays when the run ends.

    Returns
    -------
    PrivacyVerdict
        YES, NO with a witness, or INCONCLUSIVE; read ``.guarantee`` for what it means.

    Raises
    ------
    InputError
        An argument is wrong; nothing was decided.
    MechanismError
        The mechanism is broken; nothing was decided.
    BudgetError
        ``method="exhaustive"`` needs more than ``budget``.
    """
    return check_with_settings(
        mechanism,
        distribution,
        CheckSettings(
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            renyi=renyi,
            mu=mu,
            curve=curve,
            exception_mass=exception_mass,
            failure_probability=failure_probability,
            method=method,
            tolerance=tolerance,
            budget=budget,
            search_laws=search_laws,
            floats=floats,
            seed=seed,
            max_seconds=max_seconds,
            executor=executor,
            progress=check_progress(progress),
            checkpoint=checkpoint,
        ),
    )


@surroundings_kept()
def check_with_settings(
    mechanism: Any,
    distribution: Distribution | Domain,
    settings: CheckSettings,
    *,
    for_release: bool = False,
) -> PrivacyVerdict:
    """``check_privacy`` with the settings as one object.

    ``for_release``: what is released is drawn from an enumerated law, so only methods that look at
    these laws are used.
    """
    law: Any = distribution_or_domain(distribution)
    if settings.method == BLACK_BOX or isinstance(mechanism, SamplesOnly):
        # A verdict of its own kind, which type checkers are not told of for the sake of the others.
        by_samples: Any = _by_samples(mechanism, law, settings)
        black_box: PrivacyVerdict = by_samples
        return black_box
    asked = validate_request(mechanism, law, settings)
    is_by_paths = for_release and asked.mechanism.is_drawn_as_followed
    if is_by_paths and settings.method not in ("auto", BY_ALIGNMENT):
        raise InputError(
            f"method={quote(settings.method)}: noisy sums are compared by the price of their "
            f"noise; leave the method out",
            name="method",
        )
    draws_from_laws = for_release and not is_by_paths
    if draws_from_laws and settings.method in AT_ANY_SIZE and settings.method != BY_RECORDS:
        raise InputError(
            f"method={quote(settings.method)} looks at no output distribution, and a gate draws "
            f"from one; use another method, or declare lt.ShiftMechanism(statistic, "
            f"lt.DiscreteLaplace(scale)), whose formula can be sealed for data of any size",
            name="method",
        )
    kept = None if settings.checkpoint is None else Checkpoint.at(settings.checkpoint)
    task = replace(asked, seed=_seed(settings.seed, kept), checkpoint=kept)
    if kept is not None:
        kept.claim(task.identity())
    try:
        verdict = within_time(task, lambda: _check(task, for_release=for_release))
    except UnsupportedRandomnessError as error:
        if for_release or settings.floats != IMPLEMENTED:
            raise
        return decide_without_law(task, error)
    if not for_release or task.settings.floats == IMPLEMENTED:
        verdict = with_floats(task, verdict)
    keep_mechanism(verdict, task.mechanism)
    return verdict


@laws_of_one_decision()
def _check(task: Task, *, for_release: bool) -> PrivacyVerdict:
    if for_release and task.mechanism.is_drawn_as_followed:
        return run_alignment(task)
    if task.settings.method in AT_ANY_SIZE and task.settings.method != BY_RECORDS:
        return run_at_any_size(task)
    early = None
    if task.settings.method == "auto" and not for_release:
        early = try_early(task)
        if early.verdict is not None:
            return early.verdict
        if is_hopeless(task, early):
            return leave_undecided(task, early)
    from liptest.privacy.visits import visit_or_draw

    try:
        verdict = visit_or_draw(task, for_release=for_release)
    except LiptestError as error:
        late = None if early is None else try_late(task, early, error)
        if late is None:
            raise
        return late
    return verdict if early is None else decide_late(task, verdict)


def _by_samples(mechanism: Any, distribution: Distribution, settings: CheckSettings) -> Any:
    if settings.method not in (BLACK_BOX, "auto"):
        raise InputError(
            f"method={quote(settings.method)}: a sampler has no output distributions; use "
            f"method={BLACK_BOX!r}",
            name="method",
        )
    if settings.checkpoint is not None:
        raise InputError("checkpoint: samples alone keep none; leave it out", name="checkpoint")
    require_epsilon("a test by samples", settings.claim)
    keys = ("epsilon", "delta", "tolerance", "failure_probability", "seed", "executor", "progress")
    options = {key: getattr(settings, key) for key in keys}
    if settings.budget is not None:
        options["samples"] = settings.budget
    return check_by_samples(mechanism, distribution, **options)


def _seed(seed: int | None, checkpoint: Checkpoint | None) -> int:
    if seed is None and checkpoint is not None:
        seed = checkpoint.seed
    return secrets.randbits(128) if seed is None else seed
