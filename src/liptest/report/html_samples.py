"""A verdict from samples on a page: the bound, the event that was counted, what it rests on."""

from __future__ import annotations

import math

from liptest.blackbox.verdicts import BlackBoxVerdict, LossBound, bound_lines
from liptest.evidence.certificate import Certificate
from liptest.privacy.verdicts import NOT_COVERED, coordinate_noun
from liptest.report.findings import LawRow
from liptest.report.html_parts import OWN_WORDS, certified_facts, fine_print_of
from liptest.report.html_tags import code, figure, figures, legend, section, shown, table
from liptest.report.html_witness import datasets
from liptest.report.svg import Bar, bars, law_bars, number
from liptest.verdicts import Decision


def samples_sections(
    name: str, verdict: BlackBoxVerdict, certificate: Certificate[BlackBoxVerdict] | None
) -> list[str]:
    """Everything below the decision and its meaning."""
    parts = [_finding(name, verdict)]
    if verdict.shown_bound is not None:
        parts.append(_evidence(name, verdict, verdict.shown_bound))
    parts += [_cost(verdict), _fine_print(verdict, certificate)]
    return parts


def _finding(name: str, verdict: BlackBoxVerdict) -> str:
    found = verdict.largest_loss
    kind = "over" if verdict.decision is Decision.NO else "within"
    rows = [
        Bar("claimed", float(verdict.claim.epsilon), "claim"),
        Bar("at least", found, kind),
    ]
    excess = f" beyond delta {verdict.claim.delta:g}" if verdict.claim.delta else ""
    caption = (
        f"Losses are logarithms of ratios of probabilities. The lower bar is a lower bound of the "
        f"loss{excess}, at the confidence stated below: the true loss may be larger."
    )
    picture = bars(f"{name}-losses", "Lower bound of the loss against the claim", rows)
    numbers = [[row.label, number(row.value, 12)] for row in rows]
    drawn = figure(picture, caption, ("loss", "natural logarithm"), numbers)
    said = f"<p>{shown(verdict.tested, OWN_WORDS)}</p>"
    return section("Claim against finding", said + drawn + _resolution(verdict))


def _resolution(verdict: BlackBoxVerdict) -> str:
    """How much a YES would add to delta; a NO does not need it."""
    if verdict.decision is Decision.NO:
        return ""
    reached = verdict.resolution_reached
    known = f"{reached:.3g}" if math.isfinite(reached) else "none"
    return (
        f"<p>Resolution reached: {known}; asked for: {verdict.resolution:g}. "
        f"So much may be missed, and is added to delta.</p>"
    )


def _evidence(name: str, verdict: BlackBoxVerdict, bound: LossBound) -> str:
    title = "Witness" if verdict.decision is Decision.NO else "The most suspicious pair"
    noun = coordinate_noun(verdict.relation)
    lines = [line.strip() for line in bound_lines(bound, noun)]
    said = "".join(f"<p>{shown(line, 700)}</p>" for line in lines)
    first, second = bound.shares
    rows = [
        LawRow(str(bound.event).removeprefix("output "), first, second, decides=True),
        LawRow("any other output", 1.0 - first, 1.0 - second),
    ]
    numbers = [
        [
            f"{place} dataset",
            f"{draws:,}",
            f"{hits:,}",
            *figures(hits / draws),
        ]
        for place, draws, hits in zip(("first", "second"), bound.draws, bound.hits, strict=True)
    ]
    caption = (
        "Shares of the samples, not probabilities. Pair and event were fixed before these samples "
        "were drawn."
    )
    drawing = law_bars(
        f"{name}-shares", rows, title="Shares of the samples of the first and second dataset"
    )
    heads = ("on the", "samples", "in the event", "share")
    parts = [f'<div class="said">{said}</div>', datasets(bound, noun), legend()]
    parts += [figure(drawing, caption, heads, numbers), _rounds(verdict)]
    return section(title, "".join(parts))


def _rounds(verdict: BlackBoxVerdict) -> str:
    if len(verdict.bounds) < 2:
        return ""
    rows = [
        [
            f"{place}",
            number(max(0.0, bound.lower_bound)),
            f"{100 * bound.confidence:.8g} %",
            code(str(bound.event)),
        ]
        for place, bound in enumerate(verdict.bounds, start=1)
    ]
    heads = ("round", "loss at least", "confidence", "event")
    return f"<details><summary>Every round</summary>{table(heads, rows)}</details>"


def _cost(verdict: BlackBoxVerdict) -> str:
    rows = [
        ["samples", f"{verdict.cost.draws:,} of {verdict.samples:,} at most"],
        ["pairs tried", f"{verdict.cost.pairs:,}"],
        ["seconds", f"{verdict.cost.seconds:.3g}"],
    ]
    return section("Cost", table((), rows, kind="numbers"))


def _fine_print(verdict: BlackBoxVerdict, certificate: Certificate[BlackBoxVerdict] | None) -> str:
    said = (
        f"<p>Output probabilities: estimated from samples; the code was run and not examined.</p>"
        f"<p>It is no ground for a release.</p><p>{NOT_COVERED}</p>"
    )
    facts = {
        "neighbours": shown(verdict.relation),
        "tolerance": f"{verdict.claim.tolerance:g}",
        "failure probability": number(float(verdict.guarantee.failure_probability or 0.0)),
        "seed": str(verdict.seed),
    }
    if certificate is not None:
        hashed = {"data, sha256": code(certificate.data_hash)}
        facts["data"] = shown(certificate.data_source)
        facts |= certified_facts(certificate, verdict.seed, hashed, {})
    return fine_print_of(said, facts, certificate)
