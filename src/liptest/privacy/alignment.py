"""Proofs for data of any size: data and noise as symbols, a price for shifting the noise.

The mechanism says what its paths are (``Mechanism.aligned_paths``), ``symbolic.alignment`` what it
costs to keep each path and its output when the answers move as those of neighbours do (docs/theory,
size). A price within the claim is a proof; a dearer one is only an upper bound of epsilon.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liptest.data.answers import Answers
from liptest.data.domains import AnswerGrid, Domain, Hypergrid
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.request import Task, nothing, promise, verdict_of
from liptest.privacy.verdicts import (
    BY_ALIGNMENT,
    PrivacyPlan,
    PrivacyVerdict,
    aligned_sentence,
    proof_sentence,
)
from liptest.runs.driver import Judgement, RunOutcome
from liptest.symbolic.alignment import Price, price_paths
from liptest.symbolic.direct_sums import price_direct_sums

SOURCE = "theory S1"
# First every released sum is paid for, then only what comparisons tell.
_WAYS = ("released", "branches")


@dataclass(frozen=True)
class Alignment:
    """What following the code came to: its price and its paths, or why there is none."""

    price: Price | None
    paths: int = 0
    reads_length: bool = False
    reason: str = ""
    seconds: float = 0.0
    #: How many values were enumerated of noise of the code's own making; 0 where none were.
    values: int = 0

    @property
    def epsilon(self) -> float:
        """The upper bound of epsilon, rounded up; inf where there is none."""
        exact = None if self.price is None else self.price.epsilon
        return math.inf if exact is None else _above(exact)


def align(
    mechanism: Mechanism,
    domain: Domain,
    wanted: Fraction | None = None,
    delta: Fraction = Fraction(0),
) -> Alignment:
    """The price of a mechanism at a delta, the lower one of both ways to follow it."""
    started = time.perf_counter()
    best = Alignment(None, reason="its code is not followed with data as symbols")
    for way in _WAYS:
        found = _aligned(mechanism, domain, way, wanted, delta)
        if found.epsilon < best.epsilon or best.price is None:
            better = found.price is not None or way == _WAYS[0]
            best = found if better else best
        if wanted is not None and found.epsilon <= wanted:
            break
    return replace(best, seconds=time.perf_counter() - started)


def _aligned(
    mechanism: Mechanism, domain: Domain, way: str, wanted: Fraction | None, delta: Fraction
) -> Alignment:
    try:
        followed = mechanism.aligned_paths(domain, way=way)
        if followed is None or not followed.paths:
            reason = "there is no code to follow" if followed is None else followed.reason
            return Alignment(None, reason=reason)
        price = price_paths(followed.paths, followed.differences, wanted=wanted)
        if delta and price.epsilon is None and way == _WAYS[0]:
            # All paths at once: which of them is taken may depend on what was released before.
            price = price_direct_sums(followed.paths, followed.differences, delta=delta)
    except LiptestError as error:
        return Alignment(None, reason=str(error))
    return Alignment(price, len(followed.paths), followed.reads_length, price.why)


def _above(exact: Fraction) -> float:
    """The float next to a number that is not below it."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def prove_by_alignment(task: Task) -> PrivacyVerdict | Alignment:
    """A YES for data of any size, or what following the code came to instead."""
    claim = task.claim
    if not isinstance(claim, Claim):
        return Alignment(None, reason=f"shifts of the noise prove epsilon and delta, not {claim}")
    wanted, delta = Fraction(claim.threshold), Fraction(claim.delta)
    found = align(task.mechanism, task.distribution.domain, wanted, delta)
    if found.epsilon > wanted:
        found = _with_added_law(task, claim, found)
    return aligned_verdict(task, found) if found.epsilon <= wanted else found


def _with_added_law(task: Task, claim: Claim, known: Alignment) -> Alignment:
    """The claim by the law of noise that the code makes itself, or what was known before.

    With the enumerated parts P' and Q' of two laws, P <= P' + tail <= e^epsilon Q' + excess + tail:
    so a delta is proved even where the claim is not (theory L4).
    """
    started = time.perf_counter()
    law = task.mechanism.added_law(task.distribution.domain)
    if isinstance(law, str):
        return known
    epsilon = Fraction(claim.threshold)
    proved = law.delta_at(epsilon)
    if proved > Fraction(claim.delta):
        reason = (
            f"with delta {_above(proved):.3g} it is proved for data of any size: of the noise that "
            f"its code makes all but {_above(law.unexplored):.3g} was enumerated"
        )
        return known if math.isfinite(known.epsilon) else replace(known, reason=reason)
    price = Price(epsilon, delta=proved)
    return Alignment(
        price,
        reads_length=law.reads_length,
        seconds=known.seconds + time.perf_counter() - started,
        values=len(law.masses),
    )


def aligned_verdict(task: Task, found: Alignment) -> PrivacyVerdict:
    """The YES of a price within the claim."""
    domain, price = task.distribution.domain, found.price
    assert price is not None
    proof: dict[str, Any] = {
        "price": found.epsilon,
        "paths": found.paths,
        "shifts": ", ".join(price.shifts),
        "delta": _above(price.delta),
        "holds": size_words(domain, reads_length=found.reads_length),
    }
    if found.values:
        proof["values"] = found.values
    sentence = proof_sentence(task.claim, domain, "") + aligned_sentence(proof)
    guarantee = promise(
        task,
        sentence,
        "proof",
        SOURCE,
        exception_mass=0.0,
        failure_probability=0.0,
        per_record=True,
    )
    task = replace(task, parameters={**task.parameters, **proof})
    return _verdict(task, found, guarantee, found.epsilon)


def run_alignment(task: Task) -> PrivacyVerdict:
    """``method="alignment"``: YES by proof, or INCONCLUSIVE with the reason."""
    found = prove_by_alignment(task)
    if isinstance(found, PrivacyVerdict):
        return found
    reason = dearer_words(found) if math.isfinite(found.epsilon) else found.reason
    guarantee = nothing("nothing is promised: no proof by alignment is no refutation.", SOURCE)
    return _verdict(task, found, guarantee, 0.0, reason)


def dearer_words(found: Alignment) -> str:
    """What a price beyond the claim says."""
    return f"proved at most {found.epsilon:.6g}, which is more than was claimed"


def _verdict(
    task: Task, found: Alignment, guarantee: Any, loss: float, reason: str = ""
) -> PrivacyVerdict:
    total = Judgement(largest=loss, answered=True)
    plan = PrivacyPlan(BY_ALIGNMENT, 0, 0.0, 0.0, SOURCE)
    verdict = verdict_of(
        task, plan, RunOutcome(total, "complete", found.seconds), guarantee, reason
    )
    source = task.mechanism.source.replace("enumerated", "aligned", 1)
    return replace(verdict, law_source=source)


def size_words(domain: Domain, *, reads_length: bool) -> str:
    """For which data a proof by alignment holds."""
    n = domain.dimension
    if isinstance(domain, Answers):
        return f"for any {n:,} real answers"
    if isinstance(domain, AnswerGrid):
        return f"for any {n:,} whole answers"
    if isinstance(domain, Hypergrid):
        return f"for any {n:,} counts"
    return f"for datasets of {n:,} records" if reads_length else "for every number of records"
