"""Sentences: what a verdict promises, and how it is printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from liptest.privacy.claims import Claim

if TYPE_CHECKING:
    from liptest.privacy.verdicts import PrivacyVerdict, PrivacyWitness

_SOURCES = {
    "declared": "declared by the vendor as a formula; its code was not examined, and a release "
    "draws from the formula",
    "enumerated": "enumerated from the code, every random choice followed",
}
NOT_COVERED = "Not covered: timing, side effects, reuse."


def claim_in_words(claim: Claim, change: str, *, distance: str = "") -> str:
    """One clause: what (epsilon, delta)-DP means for one change."""
    factor = math.exp(min(float(claim.epsilon), 700.0))
    plus = f", plus {claim.delta:g}," if claim.delta else ""
    return (
        f"{change} changes the probability of any output{'s set' if claim.delta else ''} by a "
        f"factor of at most e^{float(claim.epsilon):g} = {factor:.4g}{plus}{distance}"
    )


def proof_sentence(claim: Claim, change: str, condition: str) -> str:
    """The meaning of a YES by proof."""
    given = f" This rests on a condition: {condition}." if condition else ""
    return (
        f"{claim_in_words(claim, change)}, whatever the data. No sampling, no assumed data "
        f"distribution.{given}"
    )


def sampling_sentence(mass: float, failure: float, *, group: bool, factor: float) -> str:
    """The meaning of a YES by sampling."""
    pairs = "all pairs of datasets, each change counted," if group else "all neighbouring datasets"
    scale = f"at {factor:g} times epsilon " if factor != 1 else ""
    return (
        f"either the claim holds {scale}for {pairs} outside a set of untypical datasets of total "
        f"probability <= {mass:g}, or this test hit an event of probability <= "
        f"{in_words(failure)}. Inside that set, or for data that follow another distribution: "
        f"no promise."
    )


def in_words(probability: float) -> str:
    """1e-6 -> "1 in 1,000,000" where that is exact enough, else the number."""
    inverse = 1.0 / probability
    if inverse >= 2 and abs(inverse - round(inverse)) < 1e-6 * inverse:
        return f"1 in {round(inverse):,}"
    return f"{probability:g}"


def verdict_text(verdict: PrivacyVerdict) -> str:
    """A verdict as plain lines: decision, what was tested, meaning, fine print."""
    lines = [f"{verdict.mechanism}   claim: {verdict.claim}", headline(verdict), tested(verdict)]
    if verdict.witness is not None:
        lines.append(witness_text(verdict.witness))
    lines.append(f"Meaning: {verdict.guarantee.sentence}")
    lines.extend(fine_print(verdict))
    return "\n".join(lines)


def headline(verdict: PrivacyVerdict) -> str:
    """The decision with the few words that keep it from being misread."""
    kind = verdict.guarantee.kind
    notes = {
        "proof": "by proof - every case checked",
        "sampling": "by sampling - not a proof",
        "refutation": "refuted with a witness",
    }
    note = verdict.reason if kind == "none" else notes[kind]
    if kind == "proof" and verdict.guarantee.condition:
        note = "by proof - conditional on the declared edges"
    return f"{verdict.decision} {note}" if note else str(verdict.decision)


def tested(verdict: PrivacyVerdict) -> str:
    """What was compared with what, and the largest loss."""
    cost, loss = verdict.cost, verdict.largest_loss
    shown = "infinite" if math.isinf(loss) else f"{loss:.6f}"
    if verdict.method == "exhaustive":
        done = f"Compared all {cost.pairs:,} neighbouring pairs ({cost.laws:,} output laws)."
        if verdict.witness is not None or verdict.guarantee.kind == "none":
            done = f"Compared {cost.pairs:,} neighbouring pairs ({cost.laws:,} output laws)."
    else:
        done = (
            f"Tested {cost.draws:,} datasets drawn from {verdict.distribution}, method "
            f"{verdict.method}: {cost.pairs:,} pairs, {cost.laws:,} output laws asked for."
        )
    clean = "" if verdict.witness is not None else " No violation."
    if verdict.guarantee.kind == "none":
        clean = ""
    return f"{done} Largest loss {shown} (tolerance {verdict.claim.tolerance:g}).{clean}"


def witness_text(witness: PrivacyWitness) -> str:
    """The witness in the words of the design: which record, which output, both probabilities."""
    where = ", ".join(str(i) for i in witness.changed[:6])
    values = ", ".join(
        f"{witness.dataset[i]} / {witness.neighbour[i]}" for i in witness.changed[:6]
    )
    record = "record" if len(witness.changed) == 1 else "records"
    lines = [f"Two test datasets differ only in {record} {where} ({values}):"]
    if math.isnan(witness.probability):
        lines.append("  outputs are unbounded; the loss is known in closed form")
    else:
        event = f"output {witness.output!r}"
        if len(witness.event) > 1:
            event = f"one of {len(witness.event)} outputs"
        lines.append(
            f"  {event}: probability {witness.probability:.6g} against "
            f"{witness.neighbour_probability:.6g}"
        )
    lines.append(f"  {_loss_words(witness)}")
    lines.append("Certain: certified arithmetic, not a statistical estimate.")
    return "\n".join(lines)


def _loss_words(witness: PrivacyWitness) -> str:
    claim = witness.claim
    if claim.delta > 0:
        return (
            f"the first exceeds e^epsilon times the second by {witness.excess:.6g}, claim "
            f"{claim.delta:g}."
        )
    if math.isinf(witness.loss_lower):
        which = "second" if witness.neighbour_probability == 0 else "first"
        return f"Seeing it rules out the {which} dataset: loss infinite, claim {claim.epsilon}."
    limit = claim.threshold * witness.distance
    return f"loss {witness.loss_lower:.9g}, more than {limit:.9g} (claim {claim})."


def fine_print(verdict: PrivacyVerdict) -> list[str]:
    """Uncovered records, exception mass, source of the laws, cost, seed, limits."""
    lines = []
    missing = verdict.guarantee.not_covered
    if missing:
        shown = ", ".join(str(i) for i in missing[:10]) + (", .." if len(missing) > 10 else "")
        lines.append(
            f"Not covered: {len(missing):,} records whose rarer values weigh no more than the "
            f"exception mass ({shown}); use method='neighbourhoods' for them."
        )
    if verdict.exception_mass_found is not None:
        lines.append(
            f"Exact: the claim fails only on datasets of total probability "
            f"{verdict.exception_mass_found:.3g} under the fitted distribution."
        )
    source = _SOURCES.get(verdict.law_source, verdict.law_source)
    lines.append(f"Output probabilities: {source}.")
    if math.isfinite(verdict.plan.paper_laws):
        lines.append(
            f"Cost: {verdict.cost.laws:,} output laws; the paper's algorithm as printed would ask "
            f"for {verdict.plan.paper_laws:.2g}."
        )
    if verdict.method != "exhaustive":
        lines.append(f"Seed: {verdict.seed}.")
    lines.append(NOT_COVERED)
    return lines
