"""Runs a sampling method through the driver and says what came of it."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

from liptest.checkpoints import Checkpoint
from liptest.distributions import Distribution
from liptest.driver import Judgement, Outcome, Progress, Sampling, run
from liptest.errors import InputError, MechanismError
from liptest.mechanisms.base import Mechanism
from liptest.privacy import wording
from liptest.privacy.claims import Claim
from liptest.privacy.count_mass import count_exception_mass, has_count_mass
from liptest.privacy.judge import LossJudge, Unexplored
from liptest.privacy.kind_draws import few_neighbours
from liptest.privacy.long_runs import identity_of, journal_of
from liptest.privacy.methods import (
    Draw,
    SamplingMethod,
    certified_mass,
    finite_outputs,
    paper_laws,
)
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict, Settings
from liptest.privacy.witnesses import PrivacyWitness
from liptest.verdicts import Cost, Decision, Guarantee, rounded_up

# Enumerated laws may take long: small chunks, so that little is lost when a run stops.
_PIECE = 1 << 12
_CHUNK_POINTS = {"enumerated": 1 << 7, "enumerated by type": 1 << 7}


@dataclass(frozen=True)
class Task:
    """Everything ``check_privacy`` was asked, checked."""

    mechanism: Mechanism
    distribution: Distribution
    claim: Claim
    exception_mass: float
    failure_probability: float
    seed: int
    budget: int | None = None
    executor: Executor | None = None
    progress: Progress | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    search_laws: int | None = 0
    checkpoint: Checkpoint | None = None

    def identity(self, method: Any) -> dict[str, Any]:
        """Everything that fixes verdict, witness and counts, for a checkpoint."""
        numbers = {
            "claim": self.claim.to_dict(),
            "exception_mass": self.exception_mass,
            "failure_probability": self.failure_probability,
            "budget": self.budget,
            "search_laws": self.search_laws,
            "seed": str(self.seed),
        }
        return identity_of(self.mechanism, self.distribution, method, numbers)

    @property
    def settings(self) -> Settings:
        """What a verdict keeps, so that the test can be repeated."""
        return Settings(
            self.exception_mass,
            self.failure_probability,
            self.budget,
            dict(self.parameters),
            self.search_laws,
        )


def run_sampling(task: Task, method: SamplingMethod) -> PrivacyVerdict:
    """Theory 3.4 to 3.6b through the one driver."""
    plan = with_paper_cost(task, method.plan)
    if task.claim.delta > 0 and method.group_form:
        raise delta_error(f"method={plan.method!r}", task.claim)
    if method.vacuous:
        empty = Outcome(Judgement(answered=True), "vacuous", 0.0)
        return verdict_of(task, plan, empty, nothing(method.vacuous, plan.source), method.vacuous)
    asked = task.mechanism, task.distribution, task.claim
    full = plan.method == "neighbourhoods"
    few = few_neighbours(*asked, draws=plan.draws, seed=task.seed) if full else None
    if few is not None:
        outcome = _run_within_budget(task, few, plan)
    else:
        outcome = run_draws(task, method.draw, plan, pairs_per_draw=method.pairs_per_draw)
    return verdict_of(task, plan, outcome, *_meaning(task, method, outcome))


def run_draws(
    task: Task,
    draw: Draw,
    plan: PrivacyPlan,
    *,
    pairs_per_draw: float = 1.0,
    stage: int = 0,
    output: tuple[Any] | None = None,
) -> Outcome:
    """Hand a law of batches to the driver with the privacy judge."""
    domain = task.distribution.domain
    sampling = Sampling(
        draw=draw,
        judge=LossJudge(task.mechanism, domain, task.claim, output),
        draws=plan.draws,
        points_per_draw=max(plan.laws_per_draw, pairs_per_draw),
        dimension=domain.dimension,
        seed=task.seed,
        stage=stage,
    )
    if task.mechanism.statistic is None:
        sampling = _paced(sampling, task)
    return _run_within_budget(task, sampling, plan)


def _paced(sampling: Sampling, task: Task) -> Sampling:
    """Small chunks, where a law may take long."""
    limit = _CHUNK_POINTS.get(task.mechanism.source)
    if limit is not None:
        return replace(sampling, chunk_points=limit)
    pieces = sampling.chunk_points // _PIECE
    return replace(sampling, pieces=min(pieces, sampling.chunk_draws))


def _run_within_budget(task: Task, sampling: Sampling, plan: PrivacyPlan) -> Outcome:
    if task.budget is not None and plan.laws > task.budget:
        # No more than the budget pays for, also within the first chunk.
        most = max(1, int(task.budget / plan.laws_per_draw))
        sampling = replace(sampling, draws=min(plan.draws, most))
    outcome = run(
        sampling,
        executor=task.executor,
        progress=task.progress,
        max_queries=task.budget,
        journal=journal_of(task.checkpoint, task.mechanism, plan.method, sampling.stage),
    )
    if sampling.draws < plan.draws and outcome.ended == "complete":
        return replace(outcome, ended="budget", planned=plan.draws)
    return outcome


def _meaning(task: Task, method: SamplingMethod, outcome: Outcome) -> tuple[Guarantee, str]:
    source = method.plan.source
    if outcome.total.violation is not None:
        return refuted(task, source), ""
    if outcome.total.doubt is not None:
        return undecided(source, outcome.total)
    if outcome.ended != "complete":
        return _partial(task, method, outcome)
    mass, failure = task.exception_mass, task.failure_probability
    sentence = wording.sampling_sentence(mass, failure, group=method.group_form, factor=1.0)
    return (
        Guarantee(
            sentence,
            "sampling",
            source,
            exception_mass=mass,
            failure_probability=failure,
            epsilon=float(task.claim.epsilon),
            delta=task.claim.delta,
            tolerance=task.claim.tolerance,
            form="group" if method.group_form else "neighbour",
            per_record=method.per_record,
            not_covered=method.not_covered,
        ),
        "",
    )


def _partial(task: Task, method: SamplingMethod, outcome: Outcome) -> tuple[Guarantee, str]:
    done, failure = outcome.total.draws, task.failure_probability
    why = "the budget ended" if outcome.ended == "budget" else outcome.ended
    reason = f"{why} after {done:,} of {method.plan.draws:,} draws, all clean"
    # 3.9b needs independent clean draws of the datasets themselves, not of edges.
    if not method.plan.method.endswith("neighbourhoods") or done == 0:
        return nothing("no promise.", method.plan.source), reason
    mass = certified_mass(done, failure)
    sentence = wording.sampling_sentence(rounded_up(mass), failure, group=False, factor=1.0)
    guarantee = Guarantee(
        wording.partial_sentence(sentence),
        "none",
        "theory 3.9b",
        exception_mass=mass,
        failure_probability=failure,
        epsilon=float(task.claim.epsilon),
        delta=task.claim.delta,
        tolerance=task.claim.tolerance,
    )
    return guarantee, reason


def refuted(task: Task, source: str) -> Guarantee:
    """The meaning of a NO."""
    return Guarantee(
        wording.refuted_sentence(task.claim),
        "refutation",
        source,
        epsilon=float(task.claim.epsilon),
        delta=task.claim.delta,
        tolerance=task.claim.tolerance,
    )


def undecided(source: str, total: Judgement) -> tuple[Guarantee, str]:
    """The meaning of a pair that straddles the line, or of laws that are known in part."""
    if isinstance(total.evidence, Unexplored):
        reason = (
            f"the budget for one law ended with up to {total.evidence.mass:.3g} of its probability "
            f"unexplored, which leaves a pair open"
        )
        return nothing(wording.open_law_sentence(total.evidence.mass), source), reason
    reason = "a pair lies so close to the line that the declared errors cannot decide it"
    return nothing("nothing is promised; tighten error=, or declare exact zeros.", source), reason


def nothing(sentence: str, source: str) -> Guarantee:
    """A guarantee that promises nothing and says why."""
    return Guarantee(sentence, "none", source)


def delta_error(who: str, claim: Claim) -> Exception:
    """Lipschitz testers know only delta = 0 (theory 3.3)."""
    return InputError(
        f"delta={claim.delta:g} with {who}: Lipschitz testing covers only delta=0; use "
        f"method='neighbourhoods'",
        name="delta",
        value=claim.delta,
    )


def with_paper_cost(task: Task, plan: PrivacyPlan) -> PrivacyPlan:
    """The plan with the paper's printed cost beside it."""
    outputs = task.mechanism.outputs
    count = None if outputs is None else finite_outputs(task.mechanism, "")
    cost = paper_laws(task.distribution, count, task.exception_mass, task.failure_probability)
    return replace(plan, paper_laws=cost)


def verdict_of(
    task: Task, plan: PrivacyPlan, outcome: Outcome, guarantee: Guarantee, reason: str
) -> PrivacyVerdict:
    """Assemble a verdict; MechanismError when nothing but exceptions came back."""
    total = outcome.total
    if total.queries and not total.answered:
        raise _only_raises(task.mechanism)
    decision = {
        "refutation": Decision.NO,
        "sampling": Decision.YES,
        "proof": Decision.YES,
        "none": Decision.INCONCLUSIVE,
    }[guarantee.kind]
    finding = total.violation if decision is Decision.NO else total.doubt
    witness: PrivacyWitness | None = None if finding is None else finding.evidence
    return PrivacyVerdict(
        decision=decision,
        mechanism=task.mechanism.name,
        claim=task.claim,
        method=plan.method,
        witness=witness,
        guarantee=guarantee,
        cost=Cost(
            laws=total.queries,
            draws=total.draws,
            pairs=total.pairs,
            repeats=total.repeats,
            seconds=outcome.seconds,
        ),
        plan=plan,
        seed=task.seed,
        largest_loss=total.largest,
        relation=task.distribution.domain.relation,
        distribution=task.distribution.source,
        law_source=getattr(task.mechanism, "law_source", task.mechanism.source),
        reason=reason,
        exception_mass_found=found_mass(task, plan, decision),
        settings=task.settings,
    )


def found_mass(task: Task, plan: PrivacyPlan, decision: Decision) -> float | None:
    """Exact exception mass of a refuted claim, where it is known at little cost."""
    if decision is not Decision.NO or not has_count_mass(task.mechanism, task.distribution):
        return None
    if getattr(task.mechanism, "reads_only", False) and plan.method != "exhaustive":
        return None  # it needs the laws at all counts, few of which are known
    lower, upper = count_exception_mass(task.mechanism, task.distribution, task.claim)  # type: ignore[arg-type]
    return upper if lower == upper else None


def _only_raises(mechanism: Mechanism) -> MechanismError:
    first = getattr(mechanism, "first_exception", None)
    said = f" (the first one: {first})" if first else ""
    return MechanismError(
        f"{mechanism.name}: it raised an exception on every dataset seen{said}; a mechanism that "
        f"never answers is broken, not private. Test it on one dataset with lt.output_law"
    )
