"""The request to ``check_privacy``, and verdicts made of what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from liptest import __version__
from liptest.data.distributions import (
    Distribution,
    check_distribution,
    distribution_or_domain,
    require_tables,
)
from liptest.data.domains import Domain
from liptest.errors import InputError
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.privacy import verdicts as wording
from liptest.privacy.claims import AnyClaim, Claim
from liptest.privacy.judge import Unexplored
from liptest.privacy.methods import finite_outputs, paper_laws
from liptest.privacy.notions import StatedClaim
from liptest.privacy.proofs.unanswered import check_answered
from liptest.privacy.settings import BLACK_BOX, BOTH, CheckSettings, unknown_method
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict, Settings
from liptest.privacy.witnesses import PrivacyWitness
from liptest.privacy.wording.sentences import write_refuted_sentence
from liptest.runs.checkpoints import Checkpoint, StageJournal
from liptest.runs.driver import Judgement, RunOutcome
from liptest.statistics.protocol import check_seen_statistic
from liptest.verdicts import Cost, Decision, Guarantee, GuaranteeKind

#: A guarantee, and the reason where it promises nothing.
Meaning = tuple[Guarantee, str]


@dataclass(frozen=True)
class Task:
    """Everything ``check_privacy`` was asked, checked."""

    mechanism: Mechanism
    distribution: Distribution
    settings: CheckSettings
    seed: int
    parameters: dict[str, Any] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None

    @property
    def claim(self) -> StatedClaim:
        """The claim under test."""
        return self.settings.claim

    def alone(self) -> Task:
        """The same test without what belongs to this process: workers, progress, checkpoint."""
        settings = replace(self.settings, executor=None, progress=None, checkpoint=None)
        return replace(self, settings=settings, checkpoint=None)

    def identity(self) -> dict[str, Any]:
        """Everything that fixes verdict, witness and counts, as plain JSON values.

        A checkpoint is that of one identity. Workers are not in it: they change nothing.
        """
        from liptest.runs.fingerprints import distribution_hash, fingerprint

        settings, method = self.settings, self.settings.method
        return {
            "liptest": __version__,
            "numpy": np.__version__,
            "mechanism": self.mechanism.name,
            "code": fingerprint(self.mechanism).code,
            "distribution": distribution_hash(self.distribution),
            "method": method if isinstance(method, str) else repr(method),
            "claim": self.claim.to_dict(),
            "exception_mass": settings.exception_mass,
            "failure_probability": settings.failure_probability,
            "budget": settings.budget,
            "search_laws": settings.search_laws,
            "seed": str(self.seed),
        }

    def journal(self, method: str, stage: int) -> StageJournal | None:
        """What a checkpoint keeps of one stage; None without a checkpoint.

        A mechanism that is seen through what it reads has a journal of its own.
        """
        if self.checkpoint is None:
            return None
        seen = self.mechanism.statistic
        through = "the dataset" if seen is None else f"{type(seen).__name__} {seen.name}"
        name = f"{method}, stage {stage}, {type(self.mechanism).__name__} of {through}"
        return self.checkpoint.journal(name, lambda unexplored: unexplored.mass, Unexplored)

    def record_settings(self) -> Settings:
        """What a verdict keeps, so that the test can be repeated."""
        return Settings(
            self.settings.exception_mass,
            self.settings.failure_probability,
            self.settings.budget,
            dict(self.parameters),
            self.settings.search_laws,
            None if self.settings.floats == BOTH else self.settings.floats,
        )


def validate_request(
    mechanism: Any, distribution: Distribution | Domain, settings: CheckSettings
) -> Task:
    """The test that ``check_privacy`` would make, with seed 0: nothing is drawn or run.

    Who counts attempts validates first: what is refused here is not an attempt. Raises InputError.
    """
    law = check_distribution(distribution_or_domain(distribution), together=True)
    checked = check_mechanism(mechanism, law.domain)
    require_tables(law)
    check_seen_statistic(checked, law.domain)
    if settings.method == BLACK_BOX:
        raise unknown_method(settings.method)
    return Task(checked, law, settings, seed=0)


def promise(
    task: Task, sentence: str, kind: GuaranteeKind, source: str, **numbers: Any
) -> Guarantee:
    """A guarantee about the claim of a request; ``numbers`` are its other fields."""
    claim = task.claim
    about: dict[str, Any] = {"tolerance": claim.tolerance}
    if isinstance(claim, Claim):
        about |= {"epsilon": float(claim.epsilon), "delta": claim.delta}
    return Guarantee(sentence, kind, source, **(about | numbers))


def make_refuted(task: Task, source: str) -> Guarantee:
    """The meaning of a NO."""
    return promise(task, write_refuted_sentence(task.claim), "refutation", source)


def meaning_of_pair(task: Task, source: str, total: Judgement) -> Meaning | None:
    """The meaning of a run that found a violated or an open pair; None when it found neither."""
    if total.violation is not None:
        return make_refuted(task, source), ""
    return None if total.doubt is None else make_undecided(source, total)


def make_undecided(source: str, total: Judgement) -> Meaning:
    """The meaning of a pair that straddles the line, or of laws that are known in part."""
    if isinstance(total.evidence, Unexplored):
        reason = (
            f"the budget for one law ended with up to {total.evidence.mass:.3g} of its probability "
            f"unexplored, which leaves a pair open"
        )
        return nothing(wording.open_law_sentence(total.evidence.mass), source), reason
    reason = "a pair lies so close to the limit that the declared errors cannot decide it"
    return nothing("nothing is promised; tighten error=, or declare exact zeros.", source), reason


def nothing(sentence: str, source: str) -> Guarantee:
    """A guarantee that promises nothing and says why."""
    return Guarantee(sentence, "none", source)


def require_pure(who: str, claim: AnyClaim) -> Claim:
    """The claim, if Lipschitz testing covers it: epsilon and delta = 0 (theory 3.3)."""
    if not isinstance(claim, Claim):
        raise InputError(
            f"claim={claim} with {who}: Lipschitz testing covers only epsilon with delta=0; use "
            f"method='neighbourhoods'",
            name="method",
        )
    if claim.delta > 0:
        raise delta_error(who, claim)
    return claim


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
    cost = paper_laws(
        task.distribution, count, task.settings.exception_mass, task.settings.failure_probability
    )
    return replace(plan, paper_laws=cost)


def make_verdict(
    task: Task, plan: PrivacyPlan, outcome: RunOutcome, guarantee: Guarantee, reason: str
) -> PrivacyVerdict:
    """Assemble a verdict; MechanismError when nothing but exceptions came back."""
    total = outcome.total
    answered = total.answered or not total.queries
    check_answered(task.mechanism, is_answered=answered, domain=task.distribution.domain)
    decision = {
        "refutation": Decision.NO,
        "sampling": Decision.YES,
        "proof": Decision.YES,
        "none": Decision.INCONCLUSIVE,
    }[guarantee.kind]
    if decision is Decision.YES:
        task.mechanism.check_not_determined()
    finding = total.violation if decision is Decision.NO else total.doubt
    witness: PrivacyWitness | None = None if finding is None else finding.evidence
    if witness is not None:
        words = task.distribution.domain.pair_words(witness.dataset, witness.neighbour)
        witness = replace(witness, rows=words or None)
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
        law_source=task.mechanism.law_source,
        reason=reason,
        exception_mass_found=find_mass(task, plan, decision),
        settings=task.record_settings(),
    )


def find_mass(task: Task, plan: PrivacyPlan, decision: Decision) -> float | None:
    """Exact exception mass of a refuted claim, where it is known at little cost."""
    from liptest.privacy.exception_mass import count_exception_mass, has_count_mass

    if decision is not Decision.NO or not isinstance(task.claim, Claim):
        return None
    if not has_count_mass(task.mechanism, task.distribution):
        return None
    if task.mechanism.reads_only and plan.method != "exhaustive":
        return None  # it needs the laws at all counts, few of which are known
    lower, upper = count_exception_mass(task.mechanism, task.distribution, task.claim)  # type: ignore[arg-type]
    return upper if lower == upper else None


def vacuous_verdict(task: Task, plan: PrivacyPlan, sentence: str, reason: str) -> PrivacyVerdict:
    """The verdict of a test that every mechanism passes: nothing is run."""
    empty = RunOutcome(Judgement(answered=True), "vacuous", 0.0)
    return make_verdict(task, plan, empty, nothing(sentence, plan.source), reason)
