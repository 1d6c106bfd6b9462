"""The parts of a check on a page: claim against finding, profile, exposure, cost, fine print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from liptest.evidence.certificate import Certificate
from liptest.privacy.profile_result import PrivacyProfile
from liptest.privacy.verdicts import PrivacyVerdict, coordinate_noun, fine_print, tested
from liptest.report.findings import CLOSE, Findings, exposure_rows
from liptest.report.html_tags import code, figure, figures, section, shown, table
from liptest.report.svg import Bar, bars, number, profile_curve
from liptest.verdicts import Decision

#: Letters of a sentence of ours that are shown.
OWN_WORDS = 4000


def finding_section(name: str, verdict: PrivacyVerdict, found: Findings) -> str:
    """What was compared, and the losses against the claim as bars."""
    said = f"<p>{shown(tested(verdict), OWN_WORDS)}</p>{_beyond(verdict, found)}"
    rows = [
        Bar("claimed", float(verdict.claim.epsilon), "claim"),
        Bar("largest found", float(verdict.largest_loss), _kind(verdict.largest_loss, verdict)),
    ]
    caption = "Losses are logarithms of ratios of probabilities."
    if found.exact_epsilon is not None:
        rows.append(Bar("exact epsilon", found.exact_epsilon, _kind(found.exact_epsilon, verdict)))
        caption += " The exact epsilon is the largest loss over all neighbouring datasets."
    if verdict.claim.delta:
        caption += (
            f" With delta {verdict.claim.delta:g} a loss above epsilon may occur, as long as it "
            f"is rare enough."
        )
    picture = bars(f"{name}-losses", "Losses against the claim", rows)
    numbers = [[row.label, number(row.value, 12)] for row in rows]
    body = said + figure(picture, caption, ("loss", "natural logarithm"), numbers)
    return section("Claim against finding", body + _excess(name, verdict))


def _beyond(verdict: PrivacyVerdict, found: Findings) -> str:
    """What a reader of a YES by sampling must not miss where the exact epsilon is known."""
    loss = found.exact_epsilon
    if verdict.decision is Decision.NO or verdict.claim.delta or loss is None:
        return ""
    if loss <= verdict.claim.threshold * (1 + CLOSE):
        return ""
    return (
        f'<p class="beyond">Some neighbouring datasets do not keep the claim: over all of them the '
        f"largest loss is {number(loss)}. What is promised above leaves them out.</p>"
    )


def _excess(name: str, verdict: PrivacyVerdict) -> str:
    """With delta, what decides is the excess of one law over the other."""
    witness, delta = verdict.witness, verdict.claim.delta
    if not delta or witness is None or verdict.decision is not Decision.NO:
        return ""
    rows = [Bar("claimed delta", delta, "claim"), Bar("excess found", witness.excess, "over")]
    caption = "At least so much does one law exceed e^epsilon times the other at the witness."
    picture = bars(f"{name}-excess", "Excess against delta", rows)
    return figure(
        picture, caption, ("excess", "probability"), [[r.label, *figures(r.value)] for r in rows]
    )


def profile_section(name: str, verdict: PrivacyVerdict, found: Findings) -> str:
    """The exact exception mass, or why it is not drawn."""
    profile, claim = found.profile, float(verdict.claim.epsilon)
    if isinstance(profile, str):
        known = verdict.exception_mass_found
        at = "" if known is None else f" At the claim it is known exactly: {known:.4g}."
        return section(
            "Privacy profile",
            f'<p class="absent">The exception mass for other epsilons is not drawn: '
            f"{shown(profile)}.{at} More may be had from <code>liptest profile</code>.</p>",
        )
    points = [(point.epsilon, point.upper) for point in profile.points]
    at_claim = profile.at(claim)
    picture = profile_curve(f"{name}-profile", points, claim, (at_claim.lower, at_claim.upper))
    return section(
        "Privacy profile",
        figure(picture, _profile_words(profile, verdict), *_profile_table(profile)),
    )


def _profile_words(profile: PrivacyProfile, verdict: PrivacyVerdict) -> str:
    exact = all(point.lower == point.upper for point in profile.points)
    what = "Exact" if exact else "Upper bound of the"
    return (
        f"{what} total probability, under {shown(profile.distribution)}, of the datasets that "
        f"must be left out for a smaller or larger epsilon to hold for all others."
    )


def _profile_table(profile: PrivacyProfile) -> tuple[Sequence[str], list[list[str]]]:
    points = profile.points
    if all(point.lower == point.upper for point in points):
        rows = [figures(point.epsilon, point.upper) for point in points]
        return ("epsilon", "exception mass"), rows
    rows = [figures(point.epsilon, point.lower, point.upper) for point in points]
    return ("epsilon", "exception mass from", "to"), rows


def exposure_section(name: str, verdict: PrivacyVerdict, found: Findings) -> str:
    """Largest loss by record, or why it is not drawn."""
    title, losses, noun = "Who is exposed", found.exposure, coordinate_noun(verdict.relation)
    if isinstance(losses, str):
        return section(title, f'<p class="absent">Not known by {noun}: {shown(losses)}.</p>')
    rows = exposure_rows(losses)
    if len(rows) == 1 and rows[0].count > 1:
        return section(
            title,
            f"<p>All {len(losses):,} {noun}s alike: the largest loss over all neighbouring "
            f"datasets that differ in any one of them is {number(rows[0].loss)}.</p>",
        )
    claim = float(verdict.claim.epsilon)
    drawn = [Bar(row.label(noun), row.loss, _kind(row.loss, verdict)) for row in rows]
    picture = bars(f"{name}-records", f"Largest loss by {noun}", drawn, claimed=claim, height=12)
    numbers = [
        [
            row.label(noun) + (f" ({_listed(row.records, row.count)})" if row.count > 1 else ""),
            *figures(row.loss),
        ]
        for row in rows
    ]
    caption = f"Largest loss over all neighbouring datasets that differ in this {noun}."
    return section(title, figure(picture, caption, (noun, "largest loss"), numbers))


def _listed(records: Sequence[int], count: int) -> str:
    return ", ".join(map(str, records)) + (", .." if count > len(records) else "")


def cost_section(verdict: PrivacyVerdict) -> str:
    """What was asked for, and what the paper's algorithm would have asked for."""
    cost = verdict.cost
    rows = [
        ["method", shown(verdict.method)],
        ["output laws", f"{cost.laws:,}"],
        ["pairs compared", f"{cost.pairs:,}"],
        ["datasets drawn", f"{cost.draws:,}"],
    ]
    if cost.search_laws:
        rows.append(["output laws of the search", f"{cost.search_laws:,}"])
    if math.isfinite(verdict.plan.paper_laws):
        rows.append(["output laws of the paper's algorithm", f"{verdict.plan.paper_laws:.2g}"])
    rows.append(["seconds", f"{cost.seconds:.3g}"])
    return section("Cost", table((), rows, kind="numbers"))


def fine_print_section(verdict: PrivacyVerdict, certificate: Certificate | None) -> str:
    """What is not covered, and everything that identifies the test."""
    # Cost and seed have their places on the page.
    lines = [line for line in fine_print(verdict) if not line.startswith(("Cost:", "Seed:"))]
    said = "".join(f"<p>{shown(line, OWN_WORDS)}</p>" for line in lines)
    facts = {
        "data": shown(verdict.distribution),
        "neighbours": shown(verdict.relation),
        "tolerance": f"{verdict.claim.tolerance:g}",
        "seed": str(verdict.seed),
    }
    if certificate is not None:
        facts |= certified_facts(
            certificate,
            verdict.seed,
            {"distribution, sha256": code(certificate.data_hash)},
            {"release": shown(certificate.release_guarantee, OWN_WORDS)},
        )
    return fine_print_of(said, facts, certificate)


def fine_print_of(said: str, facts: dict[str, str], certificate: Certificate[Any] | None) -> str:
    """The section of what is said and of facts, which tells whether there is a certificate."""
    if certificate is None:
        facts = {**facts, "hashes": "none: this is a bare verdict, not a certificate"}
    listed = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in facts.items())
    return section("Fine print", f"{said}<dl>{listed}</dl>")


def certified_facts(
    certificate: Certificate[Any],
    seed: int | None,
    hashed: dict[str, str],
    promised: dict[str, str],
) -> dict[str, str]:
    """What a certificate holds beside its verdict: code, ``hashed`` data, ``promised`` releases."""
    files = ", ".join(sorted(certificate.code.files))
    versions = ", ".join(f"{k} {v}" for k, v in sorted(certificate.versions.items()))
    facts = {
        "seed": f"{seed} ({shown(certificate.seed_source)})",
        "code, sha256": code(certificate.code.code),
        "files": shown(files, 600) if files else "none",
        **hashed,
        "versions": shown(versions, 600),
        **promised,
        "decided": shown(certificate.decided),
    }
    if certificate.attempts is not None:
        facts["attempts"] = f"{certificate.attempts:,} by this vendor, as the ledger counts"
    return facts


def _kind(loss: float, verdict: PrivacyVerdict) -> str:
    """With delta, a loss above epsilon breaks nothing by itself."""
    claim = verdict.claim
    return "over" if loss > claim.threshold * (1 + CLOSE) and not claim.delta else "within"
