"""``check_samples`` and ``epsilon_lower_bound``: claims about mechanisms known by samples only.

The request is validated before anything is drawn.
"""

from __future__ import annotations

import math
import secrets
import time
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liptest.blackbox.learning import Aim, empirical_divergence, normal_quantile, radius
from liptest.blackbox.race import LEAST_DRAWS, Look, Pairs, Progress, Round, Tested, choose_pairs
from liptest.blackbox.samplers import Sampler, Source, check_sampler
from liptest.blackbox.sequential import Play
from liptest.blackbox.verdicts import (
    BlackBoxVerdict,
    LossBound,
    find_bound,
    no_sentence,
    open_reason,
    open_sentence,
    say_unrefuted,
    yes_sentence,
)
from liptest.data.distributions import Distribution
from liptest.errors import (
    InputError,
    check_count,
    check_non_negative,
    check_open_unit,
    check_seed,
    quote,
)
from liptest.mechanisms.base import check_by_samples
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon
from liptest.runs.progress import check_progress
from liptest.verdicts import Cost, Decision, Guarantee

#: Fewer samples than this are refused.
LEAST_SAMPLES = 2_000
_PAIRING = 9998


@dataclass(frozen=True, eq=False)
class SampleTask:
    """A sampler with its seed, the pairs to try, and the samples to draw at most."""

    source: Source
    pairs: Pairs
    samples: int


def make_sample_task(
    sampler: Sampler, data: Any, samples: int, seed: int | None, executor: Executor | None
) -> SampleTask:
    """The pairs are chosen, the seed is drawn where none is given; raises InputError."""
    budget = check_count("samples", samples, least=LEAST_SAMPLES)
    given = check_seed(seed)
    chosen_seed = secrets.randbits(128) if given is None else given
    source = Source(check_sampler(sampler), chosen_seed, executor)
    pairs = choose_pairs(data, budget // (5 * LEAST_DRAWS), source.rng(_PAIRING))
    if not pairs.pairs:
        raise InputError(
            "data: the domain has no neighbouring pairs; every coordinate has one value",
            name="data",
        )
    if budget < 5 * LEAST_DRAWS * len(pairs.datasets):
        raise InputError(
            f"samples={budget:,} are too few for {len(pairs.datasets):,} datasets; give at least "
            f"{5 * LEAST_DRAWS * len(pairs.datasets):,} or fewer pairs",
            name="samples",
            value=samples,
        )
    return SampleTask(source, pairs, budget)


@dataclass(frozen=True)
class SampleRequest:
    """The arguments of ``check_samples``, checked."""

    claim: Claim
    resolution: float
    failure_probability: float
    sequential: bool
    floats: str

    @property
    def low_bits(self) -> bool:
        """Whether numbers are also compared by their lowest bits."""
        return self.floats == "implemented"


def make_request(
    sampler: Sampler,
    data: Any,
    *,
    epsilon: float | str | ExactLog,
    delta: float = 0.0,
    resolution: float = 0.05,
    failure_probability: float = 1e-6,
    samples: int = 1_000_000,
    tolerance: float = 1e-9,
    seed: int | None = None,
    sequential: bool = False,
    floats: str | None = None,
) -> SampleRequest:
    """The request; nothing is drawn from the sampler.

    Who counts attempts makes it first: what it refuses is not an attempt. Raises InputError.
    """
    # Which pairs are chosen depends on the seed, whether they can be had does not.
    make_sample_task(sampler, data, samples, 0 if seed is None else seed, None)
    if floats not in (None, "ideal", "implemented"):
        raise InputError(
            f'floats={quote(floats)} must be "ideal" or "implemented"', name="floats", value=floats
        )
    return SampleRequest(
        claim=Claim(parse_epsilon(epsilon), delta, tolerance),
        resolution=check_open_unit("resolution", resolution),
        failure_probability=check_open_unit("failure_probability", failure_probability),
        sequential=bool(sequential),
        floats=floats or ("implemented" if sequential else "ideal"),
    )


# Share of the failure probability that a NO may spend; a YES has the rest.
_REFUTING = 0.9
# Rounds: share of the samples, and of what a NO may spend. Gross violations end the first ones.
_ROUNDS = ((1 / 64, 0.05), (1 / 8, 0.05), (1.0, 0.9))
# Share of a round that is tested, for the aim of learning.
_TESTED = 0.6
_SOURCE = "theory 3.14"


def check_samples(
    sampler: Sampler,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    epsilon: float | str | ExactLog,
    delta: float = 0.0,
    resolution: float = 0.05,
    failure_probability: float = 1e-6,
    samples: int = 1_000_000,
    tolerance: float = 1e-9,
    seed: int | None = None,
    sequential: bool = False,
    floats: str | None = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
) -> BlackBoxVerdict:
    """Test (epsilon, delta)-differential privacy of a mechanism that can only be sampled.

    Parameters
    ----------
    sampler
        ``lt.Sampler(function)``.
    data
        The distribution of the data: all neighbouring pairs of a small domain, otherwise pairs
        of drawn and extreme datasets. Or a list of (dataset, neighbour) pairs, which the caller
        declares to be neighbours.
    epsilon, delta
        The claim; epsilon is a float above 0 or ``lt.log(3)``.
    resolution
        A YES says (epsilon, delta + resolution) at most: in (0, 1).
    failure_probability
        Chance that the verdict is wrong, everything that is tried included.
    samples
        Outputs to draw at most, on all datasets together.
    tolerance
        Relative and absolute slack of the claim.
    seed
        The sampler's generators are made from it; None draws one.
    sequential
        Draw until the claim is refuted, and no further: hundreds of samples where the loss is twice
        the claim (docs/theory/sequential.md). The error bound holds wherever it stops. NO or
        INCONCLUSIVE, never YES.
    floats
        "implemented": also compare the lowest bits of numbers, which show noise that was added in
        floats; the default of sequential tests. "ideal": do not; the default of others.
    executor, progress
        Any ``concurrent.futures.Executor``; ``progress(samples so far, samples)``, True
        for a plain bar.

    Raises
    ------
    InputError
        An argument is wrong, or there are too few samples for one pair.
    MechanismError
        The sampler does not return outputs.
    """
    started = time.perf_counter()
    report_progress = check_progress(progress)
    asked = make_request(
        sampler,
        data,
        epsilon=epsilon,
        delta=delta,
        resolution=resolution,
        failure_probability=failure_probability,
        samples=samples,
        tolerance=tolerance,
        seed=seed,
        sequential=sequential,
        floats=floats,
    )
    task = make_sample_task(sampler, data, samples, seed, executor)
    run = _play if asked.sequential else _test_in_rounds
    return run(task, asked, started, report_progress)


def _test_in_rounds(
    task: SampleTask, asked: SampleRequest, started: float, progress: Progress | None
) -> BlackBoxVerdict:
    """The test of fixed size: rounds that may refute the claim, and the first look of the last."""
    claim, eta, failure = asked.claim, asked.resolution, asked.failure_probability
    look, bounds = _run_rounds(task, asked, progress)
    refuted = bool(bounds) and bounds[-1].lower_bound >= claim.threshold
    reached = _find_reached(look, task.pairs, claim, failure * (1 - _REFUTING))
    decision = Decision.NO if refuted else Decision.INCONCLUSIVE
    reason = ""
    if not refuted and reached <= eta:
        decision = Decision.YES
    elif not refuted:
        reason = open_reason(reached, eta, _count_needed(task, claim, eta, failure))
    return _make_verdict(task, asked, started, decision, look, bounds, reached, reason)


def _run_rounds(
    task: SampleTask, asked: SampleRequest, progress: Progress | None
) -> tuple[Look, list[LossBound]]:
    """The look of the last round that ran, and the bounds of all; a refuted claim ends them."""
    claim, eta, failure = asked.claim, asked.resolution, asked.failure_probability
    bounds: list[LossBound] = []
    look = None
    for number, (share, spent) in enumerate(_rounds(task)):
        level = failure * _REFUTING * spent
        size = int((task.samples - task.source.used) * share)
        least = _yes_draws(task, claim, eta, failure, size) if share == 1.0 else 0
        aim = Aim(
            claim.delta_threshold, claim.threshold, _TESTED * size / 2, normal_quantile(level)
        )
        look, tested = Round(
            task.source, task.pairs, size, aim, number, least, asked.low_bits
        ).run()
        if tested is not None:
            bounds.append(_bound(task.pairs, tested, aim.delta, level, claim.threshold))
        if progress is not None:
            progress(task.source.used, task.samples)
        if tested is not None and bounds[-1].lower_bound >= claim.threshold:
            break
    assert look is not None
    return look, bounds


def _play(
    task: SampleTask, asked: SampleRequest, started: float, progress: Progress | None
) -> BlackBoxVerdict:
    """The sequential test: all of the failure probability is that of a NO."""
    claim, failure = asked.claim, asked.failure_probability
    bound = Play(task.source, task.pairs, task.samples, claim, failure, asked.floats).run(progress)
    refuted = bound is not None and bound.lower_bound >= claim.threshold
    decision = Decision.NO if refuted else Decision.INCONCLUSIVE
    reason = "" if refuted else say_unrefuted(task.samples)
    look, bounds = Look(0, False, (), ()), [] if bound is None else [bound]
    return _make_verdict(task, asked, started, decision, look, bounds, math.inf, reason)


def _make_verdict(
    task: SampleTask,
    asked: SampleRequest,
    started: float,
    decision: Decision,
    look: Look,
    bounds: list[LossBound],
    reached: float,
    reason: str,
) -> BlackBoxVerdict:
    """The record of a test; the last bound refutes the claim where anything does."""
    claim, pairs, failure = asked.claim, task.pairs, asked.failure_probability
    return BlackBoxVerdict(
        decision=decision,
        mechanism=task.source.sampler.name,
        claim=claim,
        witness=bounds[-1] if decision is Decision.NO else None,
        bounds=tuple(bounds),
        resolution=asked.resolution,
        resolution_reached=reached,
        is_finite=look.is_finite,
        guarantee=_guarantee(decision, claim, pairs, look, reached, failure),
        cost=Cost(
            draws=task.source.used, pairs=len(pairs.pairs), seconds=time.perf_counter() - started
        ),
        seed=task.source.seed,
        relation=pairs.relation,
        tried=pairs.words,
        samples=task.samples,
        reason=reason,
        sequential=True if asked.sequential else None,
        floats="implemented" if asked.low_bits else None,
    )


check_by_samples.register(Sampler, check_samples)


def epsilon_lower_bound(
    sampler: Sampler,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    delta: float = 0.0,
    failure_probability: float = 0.05,
    samples: int = 1_000_000,
    seed: int | None = None,
    executor: Executor | None = None,
) -> LossBound:
    """A lower bound of the epsilon of a mechanism that can only be sampled.

    With probability at least 1 - failure_probability the mechanism is not (e, delta)-private for
    any e below ``.lower_bound``: a number to quote with its confidence, pair and event.

    Parameters
    ----------
    sampler
        ``lt.Sampler(function)``.
    data
        One pair (dataset, neighbour), a list of pairs, or the distribution of the data.
    delta, failure_probability, samples, seed, executor
        As for ``check_samples``. All of ``failure_probability`` goes to the one test at the end.

    Raises InputError and MechanismError as ``check_samples``.
    """
    checked_delta = check_non_negative("delta", delta, below=1.0)
    level = check_open_unit("failure_probability", failure_probability)
    task = make_sample_task(sampler, list_pairs(data), samples, seed, executor)
    aim = Aim(checked_delta, None, _TESTED * task.samples / 2, normal_quantile(level))
    _, tested = Round(task.source, task.pairs, task.samples, aim, 0).run()
    assert tested is not None
    return _bound(task.pairs, tested, checked_delta, level, 1.0)


def list_pairs(data: Any) -> Any:
    """One pair as a list of it; anything else as it is."""
    return [data] if _is_pair(data) else data


def _is_pair(data: Any) -> bool:
    return (
        isinstance(data, (list, tuple, np.ndarray))
        and len(data) == 2
        and all(np.ndim(side) == 1 for side in data)
    )


def _rounds(task: SampleTask) -> list[tuple[float, float]]:
    """The rounds that have enough samples for every dataset; the last takes what others leave."""
    least = 5 * LEAST_DRAWS * len(task.pairs.datasets)
    kept = [item for item in _ROUNDS[:-1] if item[0] * task.samples >= least]
    return [*kept, (1.0, 1.0 - sum(spent for _, spent in kept))]


def _comparisons(pairs: Pairs, views: int) -> int:
    return 2 * len(pairs.pairs) * max(1, views)


def _least_yes(task: SampleTask, claim: Claim, eta: float, failure: float) -> int:
    """Draws on each dataset so that radius and bias together are likely to stay below eta."""
    log_level = math.log(failure * (1 - _REFUTING) / _comparisons(task.pairs, 1))
    spread = 1.0 + math.exp(min(2.0 * claim.threshold, 700.0))
    return math.ceil(min(1e15, 2.0 * spread * -log_level / (2.0 * eta**2)))


def _count_needed(task: SampleTask, claim: Claim, eta: float, failure: float) -> int:
    """Samples with which the last round, after the others, has the draws of a YES."""
    last = math.prod(1.0 - share for share, _ in _ROUNDS[:-1])
    draws = 2 * len(task.pairs.datasets) * (_least_yes(task, claim, eta, failure) + 1)
    return math.ceil(draws / last) + 1


def _yes_draws(task: SampleTask, claim: Claim, eta: float, failure: float, size: int) -> int:
    """Draws of the first look that a YES needs; 0 when they would not leave half for a NO."""
    draws = _least_yes(task, claim, eta, failure)
    return draws if 2 * draws * len(task.pairs.datasets) <= size else 0


def _find_reached(look: Look, pairs: Pairs, claim: Claim, failure: float) -> float:
    """The resolution that the first look proves, all pairs, views and directions together."""
    tables = look.tables[:1] if look.is_finite else look.tables
    if not tables:
        return math.inf
    log_level = math.log(failure / _comparisons(pairs, len(tables)))
    margin = radius(look.draws, look.draws, claim.threshold, log_level)
    largest = max(
        empirical_divergence(table[a], table[b], claim.threshold)
        for table in tables
        for a, b in pairs.pairs
    )
    return max(0.0, largest + margin - claim.delta)


def _bound(pairs: Pairs, tested: Tested, delta: float, level: float, hint: float) -> LossBound:
    left, right = (pairs.datasets[end].tolist() for end in tested.pair)
    return find_bound(left, right, tested.event, tested.draws, tested.tally, delta, level, hint)


def _guarantee(
    decision: Decision, claim: Claim, pairs: Pairs, look: Look, reached: float, failure: float
) -> Guarantee:
    condition = "the samples of one dataset are independent and of one law"
    if pairs.is_declared:
        condition = f"the pairs listed are neighbours, and {condition}"
    guarantee = Guarantee(
        "",
        "none",
        _SOURCE,
        failure_probability=failure,
        epsilon=float(claim.epsilon),
        delta=claim.delta,
        tolerance=claim.tolerance,
        condition=condition,
    )
    if decision is Decision.NO:
        sentence = no_sentence(claim, failure, condition)
        return replace(guarantee, sentence=sentence, kind="statistical refutation")
    if decision is Decision.YES:
        sentence = yes_sentence(
            claim,
            reached,
            failure,
            condition,
            pairs=len(pairs.pairs),
            is_all=pairs.is_all,
            is_finite=look.is_finite,
        )
        return replace(
            guarantee, sentence=sentence, kind="statistical comparison", delta=claim.delta + reached
        )
    return replace(guarantee, sentence=open_sentence())
