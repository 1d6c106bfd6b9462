"""What a check found, for reports that machines read: its kind, its numbers, its words."""

from __future__ import annotations

from enum import StrEnum

from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.certificates.outcomes import Outcome
from liptest.errors import BudgetError, MechanismError
from liptest.privacy.check import BLACK_BOX
from liptest.privacy.verdicts import PrivacyVerdict, headline
from liptest.report.witness_diff import finding_lines
from liptest.verdicts import Decision


class Kind(StrEnum):
    """What became of a check; only CONFIRMED may look green anywhere."""

    CONFIRMED = "YES"
    REFUTED = "NO"
    UNDECIDED = "INCONCLUSIVE"
    BROKEN = "broken mechanism"
    UNUSABLE = "bad input"
    NOT_RUN = "not run"


KINDS = {
    Decision.YES: Kind.CONFIRMED,
    Decision.NO: Kind.REFUTED,
    Decision.INCONCLUSIVE: Kind.UNDECIDED,
}


def kind_of(outcome: Outcome) -> Kind:
    """The kind of an outcome; one without certificate and error is a check that was not run."""
    if outcome.certificate is not None:
        return kind_of_verdict(outcome.certificate.verdict)
    if outcome.error is None:
        return Kind.NOT_RUN
    if isinstance(outcome.error, MechanismError):
        return Kind.BROKEN
    return Kind.UNDECIDED if isinstance(outcome.error, BudgetError) else Kind.UNUSABLE


def kind_of_verdict(verdict: PrivacyVerdict) -> Kind:
    """The kind of a check that came to a verdict."""
    return KINDS[verdict.decision]


def summary(outcome: Outcome) -> str:
    """One line."""
    if outcome.certificate is not None:
        return headline(outcome.certificate.verdict)
    if outcome.error is None:
        return "not run"
    return f"{kind_of(outcome)}: {' '.join(str(outcome.error).split())}"


def explanation(outcome: Outcome) -> list[str]:
    """All that a reader needs: the witness, the meaning, or the error."""
    if outcome.certificate is not None:
        return finding_lines(outcome.certificate.verdict)
    return [summary(outcome)]


def check_facts(outcome: Outcome) -> dict[str, str]:
    """Names and values about a check; more of them once there is a verdict."""
    facts = {"asked": outcome.asked, "outcome": str(kind_of(outcome)), "code": str(outcome.code)}
    if outcome.certificate is not None:
        certificate = outcome.certificate
        facts |= verdict_facts(certificate.verdict)
        facts["seed_source"] = certificate.seed_source
        facts["code_hash"] = certificate.code.code
        facts["distribution_hash"] = certificate.distribution_hash
    return facts


def verdict_facts(verdict: PrivacyVerdict | BlackBoxVerdict) -> dict[str, str]:
    """Names and values of a verdict; numbers as Python writes them."""
    guarantee, cost = verdict.guarantee, verdict.cost
    if isinstance(verdict, BlackBoxVerdict):
        method, laws_from = BLACK_BOX, "samples"
    else:
        method, laws_from = verdict.method, verdict.law_source
    facts = {
        "mechanism": verdict.mechanism,
        "claim": str(verdict.claim),
        "tolerance": repr(verdict.claim.tolerance),
        "decision": str(verdict.decision),
        "guarantee": guarantee.kind,
        "method": method,
        "relation": verdict.relation,
        "laws_from": laws_from,
        "largest_loss": repr(float(verdict.largest_loss)),
        "seed": str(verdict.seed),
        "laws": str(cost.laws),
        "pairs": str(cost.pairs),
        "draws": str(cost.draws),
    }
    for name in ("exception_mass", "failure_probability"):
        value = getattr(guarantee, name)
        if value is not None:
            facts[name] = repr(float(value))
    return facts
