"""What a report shows beyond the verdict, computed once: profile, exposure, both output laws.

Nothing here changes or adds to a promise; what is too dear is left out with a reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism, through_reads
from liptest.mechanisms.laws import INFINITE_LOSS
from liptest.privacy.claims import Claim
from liptest.privacy.count_mass import has_count_mass
from liptest.privacy.exact_mass import mass_source
from liptest.privacy.pairs import ClosedFormLosses
from liptest.privacy.profile import privacy_profile
from liptest.privacy.profile_result import PrivacyProfile
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.exposure import MOST_DATASETS, can_visit_levels, losses_by_record
from liptest.report.law_rows import LawRow, witness_rows
from liptest.report.missing import Missing

# Neighbouring pairs that are looked at for a picture, and epsilons of a curve.
_MOST_PAIRS = 1 << 15
_GRID = 60
_NOT_AT_HAND = "the mechanism is not at hand"
_NO_DISTRIBUTION = "the distribution is not at hand"

T = TypeVar("T")


@dataclass(frozen=True)
class Findings:
    """Each part, or the reason, a clause in words, why it is not there.

    Parameters
    ----------
    profile
        Exact exception mass; its grid has every step of the curve where they are at most 60.
    exposure
        Largest loss by record, (d,); inf where an output is possible on one side only.
    laws
        Rows of the output laws of the verdict's pair.
    exact_epsilon
        Largest loss over all neighbouring datasets of the domain; None where not known.
    """

    profile: PrivacyProfile | str
    exposure: tuple[float, ...] | str
    laws: tuple[LawRow, ...] | str
    exact_epsilon: float | None


def findings(
    verdict: PrivacyVerdict, mechanism: Mechanism | None, distribution: Distribution | None
) -> Findings:
    """What is known at little cost about a verdict's mechanism."""
    if mechanism is None:
        return Findings(_NOT_AT_HAND, _NOT_AT_HAND, _NOT_AT_HAND, _proved(verdict))
    witness = verdict.witness
    laws: tuple[LawRow, ...] | str = "there is no pair to draw"
    if witness is not None:
        laws = _or_reason(lambda: witness_rows(mechanism, witness))
    if distribution is None:
        return Findings(_NO_DISTRIBUTION, _NO_DISTRIBUTION, laws, _proved(verdict))
    domain = distribution.domain
    exposure = _or_reason(lambda: tuple(losses_by_record(mechanism, domain).tolist()))
    profile = _or_reason(lambda: exact_profile(mechanism, distribution, verdict.claim))
    known = _proved(verdict) if isinstance(exposure, str) else max(exposure)
    return Findings(profile, exposure, laws, known)


def exact_profile(mechanism: Mechanism, distribution: Distribution, claim: Claim) -> PrivacyProfile:
    """The exact exception mass around a claim (theory 3.1, 3.8b).

    Raises Missing where it is too dear or not known, and what the mechanism raises.
    """
    return through_reads(mechanism, distribution.domain, lambda m: _profile(m, distribution, claim))


def _proved(verdict: PrivacyVerdict) -> float | None:
    """A proof of pure privacy that rests on no condition has seen every loss."""
    guarantee = verdict.guarantee
    pure = guarantee.kind == "proof" and not verdict.claim.delta and not guarantee.condition
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
            raise Missing(f"enumerating the code for {domain.dimension + 1:,} counts is too dear")
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
