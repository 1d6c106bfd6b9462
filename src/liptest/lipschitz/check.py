"""``check_lipschitz``: is a function Lipschitz, up to a set of small mass?"""

from __future__ import annotations

import math
import secrets
from concurrent.futures import Executor
from typing import Any

from liptest.distributions import Distribution, check_distribution
from liptest.driver import Finding, Outcome, Progress
from liptest.errors import check_non_negative, check_positive, check_seed
from liptest.lipschitz.stages import TesterTask, run_tester
from liptest.oracles import as_oracle
from liptest.testers import LipschitzTester, PairTester, resolve_tester
from liptest.verdicts import Cost, Decision, Guarantee, LipschitzVerdict, Witness, rounded_up

#: Default relative tolerance: ties at the exact constant are the normal case (theory 1.5).
TOLERANCE = 1e-9


def check_lipschitz(
    function: Any,
    distribution: Distribution,
    *,
    proximity: float,
    failure_probability: float,
    tester: LipschitzTester | str = "auto",
    lipschitz_constant: float = 1.0,
    tolerance: float = TOLERANCE,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LipschitzVerdict:
    """Test whether a function is ``lipschitz_constant``-Lipschitz (paper Definition 3.2).

    Parameters
    ----------
    function
        A callable (n, d) integers -> (n,) floats, ``lt.scalar(f)``, or a table of shape
        ``domain.sizes``.
    distribution
        Says what "almost everywhere" means; its domain is the function's.
    proximity
        Mass of the set off which an accepted function is Lipschitz (paper: epsilon).
    failure_probability
        Chance that a function further than that is accepted (paper: omega).
    tester
        ``"auto"`` or a tester object such as ``lt.VarianceEdges()``.
    tolerance
        A pair at distance k is violated above ``constant * (1 + 2 * tolerance) * k``.
    seed
        Same seed, same verdict, witness and counts; None takes one from the operating system.
    executor
        Any ``concurrent.futures.Executor``.
    progress
        Called as ``progress(draws done, draws planned)``.

    Returns
    -------
    LipschitzVerdict
        ACCEPT, REJECT with a witness, or INCONCLUSIVE after Ctrl-C.

    Raises
    ------
    InputError
        An argument is out of range, or the tester does not apply.
    FunctionError
        The function gives NaN, infinity, a wrong shape, or changes its answer.
    """
    distribution = check_distribution(distribution)
    constant = check_positive("lipschitz_constant", lipschitz_constant)
    slack = check_non_negative("tolerance", tolerance, below=1.0)
    given = check_seed(seed)
    chosen = resolve_tester(tester, distribution)
    plan = chosen.plan(distribution, proximity=proximity, failure_probability=failure_probability)
    task = TesterTask(
        chosen,
        plan,
        distribution,
        as_oracle(function, distribution.domain),
        limit=constant * (1.0 + slack) + constant * slack,
        constant=constant,
        tolerance=slack,
        proximity=proximity,
        failure=failure_probability,
        seed=secrets.randbits(64) if given is None else given,
        executor=executor,
        progress=progress,
    )
    return _verdict(task, run_tester(task))


def _verdict(task: TesterTask, outcome: Outcome) -> LipschitzVerdict:
    decision, reason, guarantee = _meaning(task, outcome)
    return LipschitzVerdict(
        decision=decision,
        function=task.oracle.name,
        lipschitz_constant=task.constant,
        witness=_witness(outcome.total.violation, task.limit),
        guarantee=guarantee,
        cost=_cost(outcome),
        plan=task.plan,
        seed=task.seed,
        largest_ratio=outcome.total.largest,
        reason=reason,
    )


def _cost(outcome: Outcome) -> Cost:
    total = outcome.total
    return Cost(
        queries=total.queries,
        draws=total.draws,
        pairs=total.pairs,
        repeats=total.repeats,
        seconds=outcome.seconds,
    )


def _witness(finding: Finding | None, limit: float) -> Witness | None:
    if finding is None:
        return None
    return Witness(
        point=tuple(finding.point.tolist()),
        neighbour=tuple(finding.other.tolist()),
        value=finding.evidence[0],
        neighbour_value=finding.evidence[1],
        distance=finding.distance,
        limit=limit,
    )


def _meaning(task: TesterTask, outcome: Outcome) -> tuple[Decision, str, Guarantee]:
    if outcome.ended == "violation":
        sentence = f"the function is not {task.constant:g}-Lipschitz; the witness proves it."
        return (
            Decision.REJECT,
            "",
            Guarantee(sentence, "refutation", task.plan.source, tolerance=task.tolerance),
        )
    if outcome.ended == "complete":
        return Decision.ACCEPT, *_accepted(task)
    return Decision.INCONCLUSIVE, outcome.ended, _partial(task, outcome.total.draws)


def _accepted(task: TesterTask) -> tuple[str, Guarantee]:
    factor = task.plan.approximation_factor
    claim = (
        f"{task.constant * factor:g}-Lipschitz off a set of points of total probability <= "
        f"{task.proximity:g}"
    )
    if task.planned == 0:
        reason, kind, failure = "nothing to test", "proof", None
        sentence = f"every function is {claim} here, so nothing was queried."
    else:
        reason, kind, failure = "by sampling, not a proof", "sampling", task.failure
        sentence = (
            f"either the function is {claim}, or this test hit an event of probability <= "
            f"{task.failure:g}."
        )
    return reason, Guarantee(
        sentence,
        kind,
        task.plan.source,
        exception_mass=task.proximity,
        failure_probability=failure,
        approximation_factor=factor,
        tolerance=task.tolerance,
    )


def _partial(task: TesterTask, draws: int) -> Guarantee:
    """What an interrupted run certifies: its clean draws are fewer, the bound is the same."""
    made = f"{draws:,} of {task.planned:,} draws were made, all clean"
    mass = 1.0
    if draws > 0 and isinstance(task.tester, PairTester):
        constant = task.tester.detection_constant(task.distribution)
        mass = -constant * math.expm1(math.log(task.failure) / draws)
    if mass >= 1.0:
        return Guarantee(f"nothing is promised: {made}.", "none", task.plan.source)
    return Guarantee(
        f"less than was asked for: {made}; either the function is {task.constant:g}-Lipschitz off "
        f"a set of points of total probability <= {rounded_up(mass):.4g}, or this test hit an "
        f"event of probability <= {task.failure:g}.",
        "none",
        task.plan.source,
        exception_mass=mass,
        failure_probability=task.failure,
        tolerance=task.tolerance,
    )
