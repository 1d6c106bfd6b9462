"""What a report shows, computed once: outcome of each check, profile, exposure, both laws.

Nothing here changes or adds to a promise; what is too dear is left out with a reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.data.distributions import Distribution, DomainAlone
from liptest.data.domains import Domain
from liptest.data.product import ProductDistribution
from liptest.enumerate.numbers.density_curves import DensityCurves
from liptest.errors import BudgetError, LiptestError, MechanismError
from liptest.evidence.certificate import Certificate
from liptest.mechanisms.base import ClosedFormLosses, Mechanism, through_reads
from liptest.mechanisms.laws import INFINITE_LOSS, ComparableLaws
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import show_loss
from liptest.privacy.exception_mass import has_count_mass, is_partial, mass_source
from liptest.privacy.profile import privacy_profile
from liptest.privacy.proofs.exhaustive import law_rows
from liptest.privacy.settings import BLACK_BOX
from liptest.privacy.verdicts import PrivacyVerdict, headline
from liptest.privacy.wording.profile_result import PrivacyProfile
from liptest.report.law_rows import CLOSE, LawRow, Missing, witness_densities, witness_rows
from liptest.report.text import finding_lines
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.protocol import has_values_of
from liptest.statistics.sums import Count, WeightedSum
from liptest.verdicts import Decision, Number, Record, Text


@dataclass(frozen=True)
class Outcome:
    """One check: a certificate, or the error that prevented it.

    ``asked`` is the mechanism as it was named (``vendor.py:count``), ``code`` the exit code
    of this check alone, ``file`` and ``line`` where the mechanism is defined, if that is known.
    ``mechanism`` and ``distribution`` are None when loading them failed; ``findings`` what another
    process found, where only that one has the mechanism.
    """

    asked: str
    code: int
    certificate: Certificate | None = None
    error: LiptestError | None = None
    mechanism: Mechanism | None = None
    distribution: Distribution | None = None
    file: Path | None = None
    line: int | None = None
    seconds: float = 0.0
    findings: Findings | None = None


# Who is exposed: the largest loss over neighbouring datasets that differ in one record.


#: Datasets that are looked at for a picture: a second or two.
MOST_DATASETS = 1 << 12
# Records that get a row each; more are taken together where their losses are equal.
_MOST_ROWS = 20
# More records than this are not drawn one by one where all are alike.
_FEW = 5
_MOST_LEVELS = 1 << 15
_SLICE = 1 << 9
# Probabilities in one table of laws: 256 MiB.
_MOST_NUMBERS = 1 << 25
# Ways that the random choices of code fall out, over all counts.
_MOST_LEAVES = 1 << 18


@dataclass(frozen=True)
class ExposureRow:
    """Records of one largest loss; ``records`` are the first of them, ``count`` how many."""

    loss: float
    records: tuple[int, ...]
    count: int
    is_rest: bool = False

    def label(self, noun: str = "record") -> str:
        """``record 3``, or how many they are."""
        if self.is_rest:
            return f"{self.count:,} others, at most"
        return f"{noun} {self.records[0]}" if self.count == 1 else f"{self.count:,} {noun}s"


def losses_by_record(mechanism: Mechanism, domain: Domain) -> NDArray[np.float64]:
    """Largest loss over all neighbouring datasets that differ in each record; (d,), inf allowed.

    Exact up to errors of ``CLOSE`` at most (theory 3.7, 3.8). Raises Missing where
    that is too dear or not known, and what the mechanism raises.
    """
    return through_reads(mechanism, domain, lambda seen: _losses(seen, domain))


def exposure_rows(losses: Sequence[float]) -> list[ExposureRow]:
    """One row per record; of many records one per loss, largest first, equal ones together."""
    alike = len(losses) > _FEW and len({f"{loss:.6g}" for loss in losses}) == 1
    if len(losses) <= _MOST_ROWS and not alike:
        return [ExposureRow(loss, (record,), 1) for record, loss in enumerate(losses)]
    groups: dict[str, list[int]] = {}
    for record, loss in enumerate(losses):
        groups.setdefault(f"{loss:.6g}", []).append(record)
    ranked = sorted(groups.values(), key=lambda some: -losses[some[0]])
    rows = [ExposureRow(losses[some[0]], tuple(some[:6]), len(some)) for some in ranked]
    if len(rows) <= _MOST_ROWS:
        return rows
    rest = rows[_MOST_ROWS - 1 :]
    joined = ExposureRow(rest[0].loss, rest[0].records, sum(r.count for r in rest), is_rest=True)
    return [*rows[: _MOST_ROWS - 1], joined]


def can_visit_levels(mechanism: Mechanism, domain: Domain) -> bool:
    """Whether all counts of a mechanism that sees only a count are visited for a picture."""
    levels = domain.dimension + 1
    if isinstance(mechanism, ClosedFormLosses):
        return levels <= _MOST_LEVELS
    law = mechanism.law(np.zeros(domain.dimension, dtype=domain.dtype))
    if mechanism.source != "declared":
        # Code that was only seen to read a count is run on whole datasets.
        size = domain.dimension // 64 if mechanism.reads_only else 0
        if levels * (law.leaves or len(law)) * (1 + size) > _MOST_LEAVES:
            return False
    # Code may have as many further outputs as there are counts.
    outputs = len(law) if mechanism.outputs is not None else levels + len(law)
    return levels * outputs <= _MOST_NUMBERS


def _losses(mechanism: Mechanism, domain: Domain) -> NDArray[np.float64]:
    statistic = mechanism.statistic
    if has_values_of(statistic, Count):
        return _of_count(mechanism, domain)
    if has_values_of(statistic, Coordinates):
        return _of_coordinates(mechanism, statistic, domain)
    if isinstance(mechanism, ShiftMechanism) and has_values_of(statistic, WeightedSum):
        return _of_weights(mechanism, statistic, domain)
    if not domain.one_at_a_time:
        raise Missing("one record may move every answer, so that no answer is exposed alone")
    if isinstance(mechanism, ClosedFormLosses):
        raise Missing("its outputs are unbounded")
    if domain.size > MOST_DATASETS:
        size = f"{domain.size:,}" if domain.size < 10**12 else "too many"
        raise Missing(f"{size} datasets would have to be visited, at most {MOST_DATASETS:,} are")
    laws, rows = law_rows(mechanism, domain)
    return _by_axis(laws, rows.astype(np.int64), domain)


def _of_count(mechanism: Any, domain: Domain) -> NDArray[np.float64]:
    # Each record can be flipped at each count, so all are exposed alike.
    if not can_visit_levels(mechanism, domain):
        raise Missing(
            f"enumerating the code for {domain.dimension + 1:,} counts costs too much here"
        )
    levels = np.arange(domain.dimension + 1)
    laws = mechanism.laws_of(levels)
    rows = laws.distinct(levels)
    return np.full(domain.dimension, _largest(laws, rows[:-1], rows[1:]))


def _of_coordinates(mechanism: Any, statistic: Coordinates, domain: Domain) -> NDArray[np.float64]:
    # A record that is not read changes nothing.
    inner = statistic.inner(domain)
    if inner.size > MOST_DATASETS:
        raise Missing(f"the records that are read take {inner.size:,} values")
    values = inner.points(np.arange(inner.size)).astype(np.int64)
    laws = mechanism.laws_of(values + statistic.constant)
    losses = np.zeros(domain.dimension)
    losses[list(statistic.chosen)] = _by_axis(laws, laws.distinct(np.arange(inner.size)), inner)
    return losses


def _of_weights(
    mechanism: ShiftMechanism, statistic: WeightedSum, domain: Domain
) -> NDArray[np.float64]:
    # A change of record r by t moves the sum by t times its weight, whatever the others are.
    statistic.check(domain)
    gaps = {
        size: np.abs(np.diff(domain.value_pairs(domain.sizes.index(size)), axis=1)).ravel()
        for size in set(domain.sizes)
    }
    losses = np.zeros(domain.dimension)
    for record, size in enumerate(domain.sizes):
        steps = np.unique(gaps[size]) * abs(int(statistic.weights[record]))
        if len(steps):
            laws = mechanism.laws_of(np.concatenate([[0], steps]))
            at = np.arange(1, len(steps) + 1)
            losses[record] = _largest(laws, np.zeros_like(at), at)
    return losses


def _by_axis(laws: ComparableLaws, rows: NDArray[np.int64], domain: Domain) -> NDArray[np.float64]:
    losses = np.zeros(domain.dimension)
    for axis in range(domain.dimension):
        view = rows.reshape(-1, domain.sizes[axis], int(domain.strides[axis]))
        for a, b in domain.value_pairs(axis):
            left, right = (view[:, k, :].reshape(-1) for k in (a, b))
            losses[axis] = max(losses[axis], _largest(laws, left, right))
    return losses


def _largest(laws: ComparableLaws, left: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    if is_partial(laws):
        raise Missing("the budget for one law leaves some of its probability unexplored")
    largest, error, open_zeros = 0.0, 0.0, False
    for start in range(0, len(left), _SLICE):
        pairs = left[start : start + _SLICE], right[start : start + _SLICE]
        largest = max(largest, float(np.max(laws.losses(*pairs), initial=0.0)))
        error = max(error, float(np.max(laws.screen_error(*pairs), initial=0.0)))
        open_zeros = open_zeros or bool(np.any(laws.has_uncertain_zeros(*pairs)))
    if open_zeros or (largest >= INFINITE_LOSS and not laws.zeros_exact):
        raise Missing("probabilities of 0 were not declared exact")
    if error > CLOSE * max(1.0, largest):
        raise Missing(f"the probabilities are known only up to errors of {error:.2g} in their logs")
    return show_loss(largest)


# Neighbouring pairs that are looked at for a picture, and epsilons of a curve.
_MOST_PAIRS = 1 << 15
_GRID = 60
_NOT_AT_HAND = "the mechanism is not at hand"
_NO_DISTRIBUTION = "the distribution is not at hand"
T = TypeVar("T")


@dataclass(frozen=True)
class Findings(Record):
    """Each part, or the reason, a clause in words, why it is not there.

    Parameters
    ----------
    profile
        Exact exception mass; its grid has every step of the curve where they are at most 60.
    exposure
        Largest loss by record, (d,); inf where an output is possible on one side only.
    laws
        Rows of the output distributions of the verdict's pair.
    densities
        Of outputs that are real numbers; None where there are none, or where they are not drawn.
    exact_epsilon
        Largest loss over all neighbouring datasets of the domain; None where not known.
    """

    profile: PrivacyProfile | Text
    exposure: tuple[Number, ...] | Text
    laws: tuple[LawRow, ...] | Text
    exact_epsilon: Number | None
    densities: DensityCurves | None = None


def findings(
    verdict: PrivacyVerdict, mechanism: Mechanism | None, distribution: Distribution | None
) -> Findings:
    """What is known at little cost about a verdict's mechanism."""
    if mechanism is not None and distribution is not None:
        mechanism = mechanism.on_domain(distribution.domain)  # a table's gets data frames
    facts = _without_densities(verdict, mechanism, distribution)
    if mechanism is None or verdict.witness is None or isinstance(facts.laws, str):
        return facts
    densities = _or_reason(partial(witness_densities, mechanism, verdict.witness))
    return facts if isinstance(densities, str) else replace(facts, densities=densities)


def _without_densities(
    verdict: PrivacyVerdict, mechanism: Mechanism | None, distribution: Distribution | None
) -> Findings:
    if mechanism is None:
        return Findings(_NOT_AT_HAND, _NOT_AT_HAND, _NOT_AT_HAND, _find_proved(verdict))
    witness = verdict.witness
    laws: tuple[LawRow, ...] | str = "there is no pair to draw"
    if witness is not None:
        laws = _or_reason(lambda: witness_rows(mechanism, witness))
    if distribution is None or isinstance(distribution, DomainAlone):
        return Findings(_NO_DISTRIBUTION, _NO_DISTRIBUTION, laws, _find_proved(verdict))
    domain, claim = distribution.domain, verdict.claim
    if not isinstance(claim, Claim):
        told = f"the claim is about {claim.measure}, which is not drawn"
        return Findings(told, told, laws, None)
    exposure = _or_reason(lambda: tuple(losses_by_record(mechanism, domain).tolist()))
    profile = _or_reason(lambda: exact_profile(mechanism, distribution, claim))
    largest = _find_proved(verdict) if isinstance(exposure, str) else max(exposure)
    return Findings(profile, exposure, laws, largest)


def exact_profile(mechanism: Mechanism, distribution: Distribution, claim: Claim) -> PrivacyProfile:
    """The exact exception mass around a claim (theory 3.1, 3.8b).

    Raises Missing where it is too dear or not known, and what the mechanism raises.
    """
    return through_reads(mechanism, distribution.domain, lambda m: _profile(m, distribution, claim))


def _find_proved(verdict: PrivacyVerdict) -> float | None:
    """A proof of pure privacy that rests on no condition has seen every loss."""
    guarantee, claim = verdict.guarantee, verdict.claim
    is_pure = isinstance(claim, Claim) and not claim.delta
    pure = guarantee.kind == "proof" and is_pure and not guarantee.condition
    return float(verdict.largest_loss) if pure and verdict.method == "exhaustive" else None


def _or_reason(compute: Callable[[], T]) -> T | str:
    try:
        return compute()
    except Missing as missing:
        return str(missing)
    except LiptestError as error:
        return " ".join(str(error).split())


def _profile(mechanism: Mechanism, law: Distribution, claim: Claim) -> PrivacyProfile:
    _check_cost(mechanism, law)
    source = mass_source(mechanism, law)
    if source.partial:
        raise Missing("the budget for one law leaves some of its probability unexplored")
    return privacy_profile(
        mechanism,
        law,
        epsilons=_steps(source.losses, float(claim.epsilon)),
        delta=claim.delta,
        tolerance=claim.tolerance,
        method="exact",
    )


def _check_cost(mechanism: Mechanism, law: Distribution) -> None:
    if not isinstance(law, ProductDistribution):
        raise Missing(f"the probability of a dataset is not known for {law.source}")
    domain = law.domain
    if has_count_mass(mechanism, law):
        if not can_visit_levels(mechanism, domain):
            raise Missing(
                f"enumerating the code for {domain.dimension + 1:,} counts costs too much"
            )
        return
    if isinstance(mechanism, ClosedFormLosses):
        raise Missing("its outputs are unbounded")
    if domain.size > MOST_DATASETS or domain.neighbouring_pairs > _MOST_PAIRS:
        raise Missing(f"more than {MOST_DATASETS:,} datasets would have to be visited")


def _steps(losses: NDArray[np.float64], claimed: float) -> list[float]:
    """Epsilons at which the curve may fall, and one below; of many, evenly spread ones."""
    finite = losses[(losses < INFINITE_LOSS) & (losses > 0)]
    # Just above each loss, so that no rounding decides; equal losses differ by less.
    steps = np.unique(finite.round(10)) + 1e-9
    top = 1.3 * max(claimed, float(finite.max(initial=0.0)))
    if len(steps) > _GRID:
        steps = np.linspace(top / _GRID, top, _GRID)
    first = min([claimed, *steps[:1].tolist()]) / 2
    grid = [first, *steps.tolist(), claimed, top]
    return sorted({epsilon for epsilon in grid if math.isfinite(epsilon)})


class OutcomeKind(StrEnum):
    """What became of a check; only CONFIRMED may look green anywhere."""

    CONFIRMED = "YES"
    REFUTED = "NO"
    UNDECIDED = "INCONCLUSIVE"
    BROKEN = "broken mechanism"
    UNUSABLE = "bad input"
    NOT_RUN = "not run"


KINDS = {
    Decision.YES: OutcomeKind.CONFIRMED,
    Decision.NO: OutcomeKind.REFUTED,
    Decision.INCONCLUSIVE: OutcomeKind.UNDECIDED,
}


def find_kind(outcome: Outcome) -> OutcomeKind:
    """The kind of an outcome; one without certificate and error is a check that was not run."""
    if outcome.certificate is not None:
        return classify_verdict(outcome.certificate.verdict)
    if outcome.error is None:
        return OutcomeKind.NOT_RUN
    if isinstance(outcome.error, MechanismError):
        return OutcomeKind.BROKEN
    return OutcomeKind.UNDECIDED if isinstance(outcome.error, BudgetError) else OutcomeKind.UNUSABLE


def classify_verdict(verdict: PrivacyVerdict) -> OutcomeKind:
    """The kind of a check that came to a verdict."""
    return KINDS[verdict.decision]


def summary(outcome: Outcome) -> str:
    """One line."""
    if outcome.certificate is not None:
        return headline(outcome.certificate.verdict)
    if outcome.error is None:
        return "not run"
    return f"{find_kind(outcome)}: {' '.join(str(outcome.error).split())}"


def explanation(outcome: Outcome) -> list[str]:
    """All that a reader needs: the witness, the meaning, or the error."""
    if outcome.certificate is not None:
        return finding_lines(outcome.certificate.verdict)
    return [summary(outcome)]


def check_facts(outcome: Outcome) -> dict[str, str]:
    """Names and values about a check; more of them once there is a verdict."""
    facts = {"asked": outcome.asked, "outcome": str(find_kind(outcome)), "code": str(outcome.code)}
    if outcome.certificate is not None:
        certificate = outcome.certificate
        facts |= verdict_facts(certificate.verdict)
        facts["seed_source"] = certificate.seed_source
        facts["code_hash"] = certificate.code.code
        facts["distribution_hash"] = certificate.data_hash
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
