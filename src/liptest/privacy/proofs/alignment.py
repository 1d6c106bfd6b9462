"""Proofs for data of any size: data and noise as symbols, a price for shifting the noise.

The mechanism says what its paths are (``Mechanism.align_paths``), ``symbolic.alignment`` what it
costs to keep each path and its output when the answers move as those of neighbours do (docs/theory,
size). A price within the claim is a proof; a dearer one is only an upper bound of epsilon.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from liptest.balls import float_above
from liptest.data.answers import Answers
from liptest.data.domains import AnswerGrid, Domain, Hypergrid
from liptest.data.tables import Table
from liptest.mechanisms.base import EQUAL_ARE_ONE
from liptest.privacy.claims import Claim, text_above
from liptest.privacy.notions import CurveClaim, MuClaim, RenyiClaim, RhoClaim
from liptest.privacy.proofs.moved_laws import prove_by_moving
from liptest.privacy.proofs.prices import Alignment, align
from liptest.privacy.request import Task, make_verdict, nothing, promise
from liptest.privacy.verdicts import (
    BY_ALIGNMENT,
    PrivacyPlan,
    PrivacyVerdict,
    proof_sentence,
)
from liptest.privacy.wording.sentences import write_aligned_sentence
from liptest.runs.driver import Judgement, RunOutcome
from liptest.symbolic.alignment import Price

SOURCE = "theory S1"


def prove_by_alignment(
    task: Task, is_refuted: Callable[[], bool] | None = None
) -> PrivacyVerdict | Alignment:
    """A YES for data of any size, or what following the code came to instead.

    ``is_refuted`` looks for a violation; it is asked where a proof would take long.
    """
    claim = task.claim
    if isinstance(claim, Claim):
        alignment = _align_point(task, claim, is_refuted)
        is_kept = alignment.epsilon <= Fraction(claim.threshold)
    else:
        alignment = (
            _align_curve(task, claim) if isinstance(claim, CurveClaim) else _shift(task, claim)
        )
        is_kept = alignment.is_kept
    return make_aligned_verdict(task, alignment) if is_kept else alignment


def _align_point(
    task: Task, claim: Claim, is_refuted: Callable[[], bool] | None = None
) -> Alignment:
    wanted, delta = Fraction(claim.threshold), Fraction(claim.delta)
    alignment = align(task.mechanism, task.distribution.domain, wanted, delta, is_refuted)
    if alignment.is_refuted:
        return alignment
    if alignment.epsilon > wanted:
        alignment = _with_added_law(task, claim, alignment)
    if alignment.epsilon > wanted:
        alignment = prove_by_moving(task, claim, alignment)
    if alignment.epsilon > wanted and not alignment.has_far_too_many:
        alignment = _price_by_curves(task, wanted, alignment)
    if alignment.epsilon > wanted and alignment.enough is None and not alignment.has_loops:
        alignment = _with_noise_of_samplers(task, claim, alignment)
    return alignment


def _price_by_curves(task: Task, wanted: Fraction, known: Alignment) -> Alignment:
    from liptest.privacy.proofs.curved_prices import price_by_curves

    return price_by_curves(task.mechanism, task.distribution.domain, wanted, known)


def _shift(task: Task, claim: RhoClaim | RenyiClaim | MuClaim) -> Alignment:
    from liptest.privacy.proofs.shift_notions import align_notion

    return align_notion(task.mechanism, task.distribution.domain, claim)


def _with_noise_of_samplers(task: Task, claim: Claim, known: Alignment) -> Alignment:
    """The claim where functions that draw discrete Laplace noise count as it, with a delta (L7)."""
    drawing = task.mechanism.drawing_noise()
    if drawing is None or math.isfinite(known.epsilon):
        return known
    epsilon = Fraction(claim.threshold)
    alignment = align(drawing, task.distribution.domain, epsilon, Fraction(claim.delta))
    if alignment.epsilon <= epsilon or alignment.enough is None:
        return alignment if alignment.has_price else known
    reason = (
        f"with delta {float_above(alignment.enough):.3g} it is proved for data of any size: its "
        f"functions draw discrete Laplace noise, which was enumerated but for a tail"
    )
    return replace(alignment, reason=reason)


def _align_curve(task: Task, claim: CurveClaim) -> Alignment:
    """Each of its points; the first that is not proved says why."""
    said = []
    alignment = Alignment(None)
    for point in claim.points:
        alignment = _align_point(task, point)
        if alignment.epsilon > Fraction(point.threshold):
            why = f"at delta {point.delta:g}: {say_unproved(alignment, point)}"
            return replace(alignment, reason=why, enough=None, price=None)
        said.append(f"{text_above(alignment.epsilon)} at delta {point.delta:g}")
    return replace(alignment, measured=alignment.epsilon, said=", ".join(said), is_kept=True)


def _with_added_law(task: Task, claim: Claim, known: Alignment) -> Alignment:
    """The claim by the law of noise that the code makes itself, or what was known before.

    With the enumerated parts P' and Q' of two laws, P <= P' + tail <= e^epsilon Q' + excess + tail:
    so a delta is proved even where the claim is not (theory L4).
    """
    started = time.perf_counter()
    law = task.mechanism.find_added_law(task.distribution.domain)
    if isinstance(law, str):
        return known
    epsilon = Fraction(claim.threshold)
    proved = law.delta_at(epsilon)
    if proved > Fraction(claim.delta):
        tail = float_above(law.unexplored)
        reason = (
            f"with delta {float_above(proved):.3g} it is proved for data of any size: of the "
            f"noise that its code makes all but {tail:.3g} was enumerated"
        )
        if math.isfinite(known.epsilon):
            return known
        return replace(known, reason=reason, enough=proved if proved < 1 else None)
    price = Price(epsilon, delta=proved)
    return Alignment(
        price,
        reads_length=law.reads_length,
        seconds=known.seconds + time.perf_counter() - started,
        values=len(law.masses),
        given=tuple(sorted(law.conditions)),
    )


def make_aligned_verdict(task: Task, found: Alignment) -> PrivacyVerdict:
    """The YES of a price within the claim."""
    domain, price = task.distribution.domain, found.price
    assert price is not None
    proof: dict[str, Any] = {
        "price": found.said or found.epsilon,
        "paths": found.paths,
        "shifts": ", ".join(price.shifts),
        "delta": float_above(price.delta),
        "holds": size_words(domain, reads_length=found.reads_length),
    }
    if found.moves:
        proof["moves"] = found.moves
    if found.values:
        proof["values"] = found.values
    if price.is_by_curves:
        proof |= {"curves": True, "least": found.least}
    if price.is_by_ends:
        # What a sum lies between depends on how many records there are.
        proof |= {"ends": True, "holds": size_words(domain, reads_length=True)}
    if found.given:
        proof["given"] = ", ".join(found.given)
    sentence = proof_sentence(task.claim, domain, "") + write_aligned_sentence(proof)
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
    return _verdict(task, found, guarantee, found.measured if found.said else found.epsilon)


def run_alignment(task: Task) -> PrivacyVerdict:
    """``method="alignment"``: YES by proof, or INCONCLUSIVE with the reason."""
    outcome = prove_by_alignment(task)
    if isinstance(outcome, PrivacyVerdict):
        return outcome
    reason = say_unproved(outcome, task.claim)
    guarantee = nothing(
        "nothing is promised: no proof by alignment was found, which refutes nothing.", SOURCE
    )
    return _verdict(task, outcome, guarantee, 0.0, reason)


def say_unproved(found: Alignment, claim: object) -> str:
    """Why a claim is not proved: nothing is, or more is than was claimed."""
    return dearer_words(found, claim) if found.has_price else found.reason


def dearer_words(found: Alignment, claim: object) -> str:
    """What a price beyond the claim says, in digits that show that it is beyond."""
    if found.said:
        return f"proved at most {found.said}, which is more than was claimed"
    why = f"; {found.reason}" if found.reason else ""
    claimed = claim.threshold if isinstance(claim, Claim) else 0.0
    texts = (f"{found.epsilon:.{digits}g}" for digits in range(6, 18))
    figure = next((text for text in texts if float(text) > claimed), repr(found.epsilon))
    why = _instead_of_exact(found, claim) or why
    return f"proved at most {figure}, which is more than was claimed{why}"


def _instead_of_exact(found: Alignment, claim: object) -> str:
    """What to write where a claim misses by little, and the rounding of float sums is priced."""
    beyond = found.rounding_beyond(claim)
    if beyond is None:
        return ""
    rounding, claimed, price = beyond
    allowed = float(least_decimal((price - claimed) / (1 + claimed)))
    return (
        f"; what is missing is {rounding}: claim epsilon={least_decimal(price)}, or allow for it "
        f"with tolerance={allowed:g}, or multiply the scale of the noise by "
        f"{least_decimal(price / claimed)}, or, of whole-number records, sum multiples of 2**-20 "
        f"(np.round(x * 2**20) / 2**20), which floats add exactly"
    )


def least_decimal(number: Fraction) -> str:
    """A short decimal that is at least a number: its rest in one digit, rounded up."""
    rest, digits = number - math.floor(number), 1
    while rest and rest * 10**digits < 1:
        digits += 1
    whole, rest_in_digits = divmod(math.ceil(number * 10**digits), 10**digits)
    return f"{whole}.{rest_in_digits:0{digits}d}"


def _verdict(
    task: Task, found: Alignment, guarantee: Any, loss: float, reason: str = ""
) -> PrivacyVerdict:
    total = Judgement(largest=loss, answered=True)
    plan = PrivacyPlan(BY_ALIGNMENT, 0, 0.0, 0.0, SOURCE)
    verdict = make_verdict(
        task, plan, RunOutcome(total, "complete", found.seconds), guarantee, reason
    )
    source, *conditions = task.mechanism.law_source.split("; ")
    if not found.values:  # else every random choice was followed as it is drawn
        source = source.replace("enumerated", "aligned", 1).replace("integrated", "aligned", 1)
    # What is calculated from proved numbers is private, whatever its type.
    left_out = {*found.given, EQUAL_ARE_ONE}
    told = [condition for condition in conditions if condition not in left_out]
    return replace(verdict, law_source="; ".join((source, *told)))


def size_words(domain: Domain, *, reads_length: bool) -> str:
    """For which data a proof by alignment holds."""
    n = domain.rows if isinstance(domain, Table) else domain.dimension
    if isinstance(domain, Answers):
        return f"for any {n:,} real answers"
    if isinstance(domain, AnswerGrid):
        return f"for any {n:,} whole answers"
    if isinstance(domain, Hypergrid):
        return f"for any {n:,} counts"
    return f"for datasets of {n:,} records" if reads_length else "for every number of records"
