"""``check_lipschitz``: is a function Lipschitz, up to a set of small mass?

The driver runs a tester in one stage or two; a judge decides whether two values differ too much.
"""

from __future__ import annotations

import math
import secrets
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from liptest.data.distributions import Distribution, check_distribution
from liptest.data.domains import IntArray
from liptest.data.points import Geodesic, from_array
from liptest.errors import FunctionError, InputError, check_non_negative, check_positive, check_seed
from liptest.lipschitz.oracles import FunctionOracle, as_oracle
from liptest.lipschitz.testers import resolve_tester
from liptest.lipschitz.testers.base import DiameterTester, LipschitzTester, PairTester
from liptest.lipschitz.verdicts import LipschitzVerdict, QueryPlan, Witness
from liptest.runs.driver import Finding, Judgement, Progress, QueryBatch, RunOutcome, Sampling, run
from liptest.runs.progress import check_progress
from liptest.runs.surroundings import surroundings_kept
from liptest.verdicts import Cost, Decision, Guarantee, round_up

# Float differences and products are off by at most a few units in the last place.
_SCREEN = 1.0 - 2.0**-50
# The same function may round otherwise on an array of another length (matrix products do).
_SAME_VALUE = 1e-9


def is_violated(left: float, right: float, distance: int, limit: float) -> bool:
    """|left - right| > limit * distance, decided exactly."""
    gap = abs(Fraction(float(left)) - Fraction(float(right)))
    return gap > Fraction(limit) * distance


def ask_again(
    oracle: FunctionOracle, points: IntArray, known: list[float], limit: float
) -> list[float]:
    """Values of (n, d) points that are known already; FunctionError where one has changed."""
    again = [float(value) for value in oracle.values(from_array(points))]
    for point, before, value in zip(points, known, again, strict=True):
        if not math.isclose(before, value, rel_tol=_SAME_VALUE, abs_tol=_SAME_VALUE * limit):
            raise FunctionError(
                f"{oracle.name}: value={before!r}, then {value!r} at the same point; a "
                f"function under test must not depend on state, time or chance, nor (beyond the "
                f"rounding of 64-bit floats) on the points asked with it",
                point=point,
            )
    return again


@dataclass(frozen=True, eq=False)
class DifferenceJudge:
    """A pair at distance k is violated when |f(x) - f(y)| > limit * k, decided exactly."""

    oracle: FunctionOracle
    limit: float

    def judge(self, batch: QueryBatch) -> Judgement:
        values = self.oracle.values(batch.points)
        ask_again(self.oracle, batch.points.centres[:1], [float(values[0])], self.limit)
        left, right = batch.pair_positions()
        distances = batch.pair_distances()
        with np.errstate(over="ignore"):  # an infinite gap is violated, and decided exactly
            gaps = np.abs(values[left] - values[right])
        for pair in np.flatnonzero(gaps > self.limit * distances * _SCREEN):
            i, j, distance = int(left[pair]), int(right[pair]), int(distances[pair])
            if is_violated(values[i], values[j], distance, self.limit):
                draw = max(batch.draw_of(i), batch.draw_of(j))
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


@dataclass(frozen=True, eq=False)
class ValueExtremes:
    """The first smallest and the first largest of a sequence of values, and where they are."""

    low: float
    high: float
    low_point: IntArray
    high_point: IntArray

    def __add__(self, later: ValueExtremes) -> ValueExtremes:
        first_low = self.low <= later.low
        first_high = self.high >= later.high
        return ValueExtremes(
            self.low if first_low else later.low,
            self.high if first_high else later.high,
            self.low_point if first_low else later.low_point,
            self.high_point if first_high else later.high_point,
        )

    def diameter(self, limit: float, steps: int) -> Fraction | float:
        """Largest minus smallest value of f / limit, rounded to multiples of 1/steps.

        Logarithms of probabilities may be -inf (theory 1.4): all of them give 0, some of them
        inf.
        """
        if self.low == -math.inf:
            return Fraction(0) if self.high == -math.inf else math.inf
        high, low = (round_steps(value, limit, steps) for value in (self.high, self.low))
        return Fraction(high - low, steps)


def round_steps(value: float, limit: float, steps: int) -> int:
    """The multiple of 1/steps nearest to value / limit, ties upwards, exactly (theory 1.3)."""
    return math.floor(Fraction(value) * steps / Fraction(limit) + Fraction(1, 2))


@dataclass(frozen=True, eq=False)
class ExtremesJudge:
    """Finds the smallest and the largest value; rejects nothing."""

    oracle: FunctionOracle
    limit: float

    def judge(self, batch: QueryBatch) -> Judgement:
        values = self.oracle.values(batch.points)
        ask_again(self.oracle, batch.points.centres[:1], [float(values[0])], self.limit)
        low, high = int(np.argmin(values)), int(np.argmax(values))
        extremes = ValueExtremes(
            float(values[low]),
            float(values[high]),
            batch.points.point(low),
            batch.points.point(high),
        )
        draws = len(batch.points.centres)
        return Judgement(draws, len(values), 0, 1, 0.0, True, evidence=extremes)


# A violated pair at a distance contains a violated pair of neighbours (theory 1.2).


@dataclass(frozen=True)
class Narrowed:
    """A violated pair of neighbours, and the queries that it took to find and to confirm it."""

    finding: Finding
    queries: int
    repeats: int


def narrow(finding: Finding, oracle: FunctionOracle, limit: float) -> Narrowed:
    """Bisect the path between the ends of a violated pair, whose evidence are their values.

    Takes at most ceil(log2(distance)) queries: of two halves of a violated pair one is violated,
    because the limit is proportional to the distance. Then both ends are asked again. On a domain
    of another distance, where the path leads over no neighbours, the pair stays as it is.

    Raises
    ------
    FunctionError
        The function changes its answers.
    """
    path = Geodesic(oracle.domain, finding.point, finding.other)
    low, high, queries = 0, path.length, 0
    left, right = finding.evidence
    if not path.shows(low, high):
        return _confirm(finding, oracle, limit, queries)
    while high - low > 1:
        middle = (low + high) // 2
        value = float(oracle.values(from_array(path.point(middle)[None, :]))[0])
        queries += 1
        if is_violated(left, value, middle - low, limit):
            high, right = middle, value
        else:
            low, left = middle, value
    if not path.shows(low, high):
        return _confirm(finding, oracle, limit, queries)
    near = Finding(path.point(low), path.point(high), high - low, (left, right))
    return _confirm(near, oracle, limit, queries)


def _confirm(finding: Finding, oracle: FunctionOracle, limit: float, queries: int) -> Narrowed:
    ends = np.stack([finding.point, finding.other])
    left, right = ask_again(oracle, ends, list(finding.evidence), limit)
    if not is_violated(left, right, finding.distance, limit):
        raise FunctionError(
            f"{oracle.name}: whether |{left!r} - {right!r}| exceeds {limit!r} depends on how many "
            f"points are asked at once; make its rounding independent of that, or raise tolerance",
            point=ends[0],
        )
    confirmed = Finding(ends[0], ends[1], finding.distance, (left, right))
    return Narrowed(confirmed, queries, 2)


@dataclass(frozen=True, eq=False)
class TesterTask:
    """Everything ``check_lipschitz`` was asked, checked; ``limit`` is the constant and its
    tolerance.
    """

    tester: LipschitzTester
    plan: QueryPlan
    distribution: Distribution
    oracle: FunctionOracle
    limit: float
    constant: float
    tolerance: float
    proximity: float
    failure: float
    seed: int
    executor: Executor | None
    progress: Progress | None

    @property
    def planned(self) -> int:
        """Draws of all stages at most."""
        return self.plan.diameter_draws + self.plan.draws


def run_tester(task: TesterTask) -> RunOutcome:
    """Run a tester; a violated pair is narrowed to neighbours (theory 1.2).

    Raises FunctionError when the function gives NaN, infinity or a wrong shape, or changes its
    answers.
    """
    outcome = _run(task)
    if outcome.total.violation is None:
        return outcome
    return replace(outcome, total=_narrow(task, outcome.total, outcome.total.violation))


def _run(task: TesterTask) -> RunOutcome:
    if not isinstance(task.tester, DiameterTester):
        return _pairs(task, task.plan.draws)
    first = _diameter(task)
    if first.ended != "complete" or first.total.draws == 0:
        return first
    extremes: ValueExtremes = first.total.evidence
    diameter = extremes.diameter(task.limit, task.tester.steps_per_unit)
    if diameter > task.tester.largest_diameter(task.distribution):
        return _too_wide(task, first, extremes)
    pairs = task.tester.pairs_needed(
        task.distribution, Fraction(diameter), task.proximity, task.failure
    )
    second = _pairs(task, pairs, first.total.draws)
    return RunOutcome(first.total + second.total, second.ended, first.seconds + second.seconds)


def _pairs(task: TesterTask, draws: int, before: int = 0) -> RunOutcome:
    """Draw pairs (or lines) and compare them; ``before`` draws were made in an earlier stage."""
    per_draw = task.plan.points_per_draw
    if isinstance(task.tester, PairTester):
        per_draw = max(per_draw, task.tester.pairs_per_draw(task.distribution))
    return run(
        Sampling(
            draw=partial(task.tester.draw, task.distribution),
            judge=DifferenceJudge(task.oracle, task.limit),
            draws=draws,
            points_per_draw=per_draw,
            dimension=task.distribution.domain.dimension,
            seed=task.seed,
            stage=int(before > 0),
        ),
        executor=task.executor,
        progress=_shift(task.progress, before, before + draws),
    )


def _diameter(task: TesterTask) -> RunOutcome:
    """Draw points and find the smallest and the largest value."""
    return run(
        Sampling(
            draw=partial(_points, task.distribution),
            judge=ExtremesJudge(task.oracle, task.limit),
            draws=task.plan.diameter_draws,
            points_per_draw=1,
            dimension=task.distribution.domain.dimension,
            seed=task.seed,
        ),
        executor=task.executor,
        progress=_shift(task.progress, 0, task.planned),
    )


def _points(distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
    return QueryBatch(from_array(distribution.sample(rng, count)))


def _shift(progress: Progress | None, before: int, planned: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, planned)


def _too_wide(task: TesterTask, first: RunOutcome, extremes: ValueExtremes) -> RunOutcome:
    """The diameter rejects: no Lipschitz function has two values so far apart."""
    high, low = extremes.high_point, extremes.low_point
    distance = int(task.distribution.domain.distance(high, low)[0])
    judgement = Judgement(
        pairs=1,
        largest=(extremes.high - extremes.low) / max(distance, 1),
        violation=Finding(high, low, distance, (extremes.high, extremes.low)),
    )
    return replace(first, total=first.total + judgement, ended="violation")


def _narrow(task: TesterTask, total: Judgement, violation: Finding) -> Judgement:
    narrowed = narrow(violation, task.oracle, task.limit)
    left, right = narrowed.finding.evidence
    return replace(
        total,
        violation=narrowed.finding,
        queries=total.queries + narrowed.queries,
        repeats=total.repeats + narrowed.repeats,
        largest=max(total.largest, abs(left - right)),
    )


#: Default relative tolerance: ties at the exact constant are the normal case (theory 1.5).
TOLERANCE = 1e-9


@surroundings_kept()
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
    progress: Progress | bool | None = None,
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
        ``"auto"`` or a tester object such as ``lt.testers.VarianceEdges()``.
    tolerance
        A pair at distance k is violated above ``constant * (1 + 2 * tolerance) * k``.
    seed
        Same seed, same verdict, witness and counts; None takes one from the operating system.
    executor
        Any ``concurrent.futures.Executor``.
    progress
        Called as ``progress(draws done, draws planned)``; True for a plain bar, in terminals and
        notebooks.

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
    _check_plan(plan, proximity)
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
        progress=check_progress(progress),
    )
    return _verdict(task, run_tester(task))


#: At a million a second, so many draws take four months.
_MOST_DRAWS = 10**13


def _check_plan(plan: QueryPlan, proximity: float) -> None:
    if plan.draws > _MOST_DRAWS:
        raise InputError(
            f"proximity={proximity:g} asks for about 10^{len(str(plan.draws)) - 1} draws, which "
            f"would take years; choose a larger proximity, such as 1e-6",
            name="proximity",
            value=proximity,
        )


def _verdict(task: TesterTask, outcome: RunOutcome) -> LipschitzVerdict:
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


def _cost(outcome: RunOutcome) -> Cost:
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


def _meaning(task: TesterTask, outcome: RunOutcome) -> tuple[Decision, str, Guarantee]:
    if outcome.ended == "violation":
        sentence = f"the function is not {task.constant:g}-Lipschitz; the witness proves it."
        return (
            Decision.REJECT,
            "",
            Guarantee(sentence, "refutation", task.plan.source, tolerance=task.tolerance),
        )
    if outcome.ended == "complete":
        return Decision.ACCEPT, *_accept(task)
    return Decision.INCONCLUSIVE, outcome.ended, _partial(task, outcome.total.draws)


def _accept(task: TesterTask) -> tuple[str, Guarantee]:
    factor = task.plan.approximation_factor
    claim = (
        f"{task.constant * factor:g}-Lipschitz outside a set of points of total probability <= "
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
        f"less than was requested: {made}; either the function is {task.constant:g}-Lipschitz "
        f"outside a set of points of total probability <= {round_up(mass):.4g}, or this test hit "
        f"an event of probability <= {task.failure:g}.",
        "none",
        task.plan.source,
        exception_mass=mass,
        failure_probability=task.failure,
        tolerance=task.tolerance,
    )
