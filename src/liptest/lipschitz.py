"""``check_lipschitz``: is a function Lipschitz, up to a set of small mass?"""

from __future__ import annotations

import math
import secrets
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from liptest.distributions import Distribution, check_distribution
from liptest.driver import Finding, Judgement, Outcome, Progress, QueryBatch, Sampling, run
from liptest.errors import FunctionError, check_non_negative, check_positive, check_seed
from liptest.oracles import FunctionOracle, as_oracle
from liptest.points import PointBatch
from liptest.testers import LipschitzTester, resolve_tester
from liptest.verdicts import Cost, Decision, Guarantee, LipschitzVerdict, QueryPlan, Witness

#: Default relative tolerance: ties at the exact constant are the normal case (theory 1.5).
TOLERANCE = 1e-9
# Float differences and products are off by at most a few units in the last place.
_SCREEN = 1.0 - 2.0**-50


@dataclass(frozen=True, eq=False)
class DifferenceJudge:
    """A pair at distance k is violated when |f(x) - f(y)| > limit * k, decided exactly."""

    oracle: FunctionOracle
    limit: float

    def judge(self, batch: QueryBatch) -> Judgement:
        values = self.oracle.values(batch.points)
        self._check_repeat(batch, values[0])
        left, right = batch.pair_positions()
        distances = batch.pair_distances()
        gaps = np.abs(values[left] - values[right])
        for pair in np.flatnonzero(gaps > self.limit * distances * _SCREEN):
            i, j, distance = int(left[pair]), int(right[pair]), int(distances[pair])
            if self._is_violated(values[i], values[j], distance):
                draw = batch.draw_of(max(i, j))
                finding = Finding(
                    batch.points.point(i),
                    batch.points.point(j),
                    distance,
                    (float(values[i]), float(values[j])),
                )
                ratio = float(gaps[pair]) / distance
                return Judgement(draw + 1, len(values), int(pair) + 1, 1, ratio, True, finding)
        ratio = float(np.max(gaps / distances, initial=0.0))
        return Judgement(len(batch.points.centres), len(values), len(gaps), 1, ratio, True)

    def _is_violated(self, left: float, right: float, distance: int) -> bool:
        gap = abs(Fraction(float(left)) - Fraction(float(right)))
        return gap > Fraction(self.limit) * distance

    def _check_repeat(self, batch: QueryBatch, value: float) -> None:
        first = batch.points.centres[:1]
        again = float(self.oracle.values(PointBatch(first))[0])
        if again != float(value):
            raise FunctionError(
                f"{self.oracle.name}: value={value!r}, then {again!r} at the same point; a "
                f"function under test must not depend on state, time or chance",
                point=first[0],
            )


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
    oracle = as_oracle(function, distribution.domain)
    limit = constant * (1.0 + slack) + constant * slack
    used_seed = secrets.randbits(64) if given is None else given
    sampling = Sampling(
        draw=partial(chosen.draw, distribution),
        judge=DifferenceJudge(oracle, limit),
        draws=plan.draws,
        points_per_draw=plan.points_per_draw,
        dimension=distribution.domain.dimension,
        seed=used_seed,
    )
    outcome = run(sampling, executor=executor, progress=progress)
    decision, reason, guarantee = _meaning(
        outcome, plan, proximity, failure_probability, constant, slack
    )
    return LipschitzVerdict(
        decision=decision,
        function=oracle.name,
        lipschitz_constant=constant,
        witness=_witness(outcome.total.violation, limit),
        guarantee=guarantee,
        cost=_cost(outcome),
        plan=plan,
        seed=used_seed,
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
        limit=math.nextafter(limit * finding.distance, 0.0) if finding.distance > 1 else limit,
    )


def _meaning(
    outcome: Outcome,
    plan: QueryPlan,
    proximity: float,
    failure: float,
    constant: float,
    tolerance: float,
) -> tuple[Decision, str, Guarantee]:
    bound = constant * plan.approximation_factor
    if outcome.ended == "violation":
        sentence = f"the function is not {constant:g}-Lipschitz; the witness proves it."
        return (
            Decision.REJECT,
            "",
            Guarantee(sentence, "refutation", plan.source, tolerance=tolerance),
        )
    if outcome.ended == "complete":
        sentence = (
            f"either the function is {bound:g}-Lipschitz off a set of points of total "
            f"probability <= {proximity:g}, or this test hit an event of probability <= "
            f"{failure:g}."
        )
        return (
            Decision.ACCEPT,
            "by sampling, not a proof",
            Guarantee(
                sentence,
                "sampling",
                plan.source,
                exception_mass=proximity,
                failure_probability=failure,
                approximation_factor=plan.approximation_factor,
                tolerance=tolerance,
            ),
        )
    sentence = f"nothing is promised: {outcome.total.draws:,} of {plan.draws:,} draws were made, all clean."
    return Decision.INCONCLUSIVE, outcome.ended, Guarantee(sentence, "none", plan.source)
