"""A verdict as one page: no script, no network; light and dark, print, narrow screens.

Here is what is on a page; how it looks is in ``templates``, which escape whatever they are given.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from liptest import __version__
from liptest.blackbox.verdicts import BlackBoxVerdict, LossBound, bound_lines
from liptest.data.distributions import Distribution, check_distribution
from liptest.errors import InputError
from liptest.errors import quote as shown_value
from liptest.evidence.certificate import Certificate
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.notions import find_claimed_number
from liptest.privacy.verdicts import (
    NOT_COVERED,
    PrivacyVerdict,
    coordinate_noun,
    fine_print,
    headline,
    pair_text,
    remedy_lines,
    say_tested,
)
from liptest.privacy.witnesses import PrivacyWitness
from liptest.privacy.wording.profile_result import PrivacyProfile
from liptest.report.figures import (
    Cell,
    Code,
    Figure,
    Rows,
    bound_figure,
    density_figure,
    finding_figures,
    law_figure,
    loss_kind,
    row_loss_figure,
    share_figure,
)
from liptest.report.findings import (
    KINDS,
    Findings,
    Outcome,
    OutcomeKind,
    classify_verdict,
    exposure_rows,
    find_kind,
    findings,
)
from liptest.report.law_rows import CLOSE
from liptest.report.svg import Bar, Drawing, bars, number, profile_curve, visible
from liptest.runs.fingerprints import distribution_hash, fingerprint
from liptest.verdicts import Decision

if TYPE_CHECKING:
    from jinja2 import Environment


#: Letters of a sentence of ours that are shown.
OWN_WORDS = 4000
_CLASSES = {OutcomeKind.CONFIRMED: "yes", OutcomeKind.REFUTED: "no", OutcomeKind.UNDECIDED: "open"}
_NO_VERDICT = "There is no verdict: nothing is promised and nothing is refuted."
# Records shown of a dataset: all of a short one, else some around each of the first changes.
_WHOLE, _AROUND, _CHANGES = 9, 3, 3
_MOST_VALUES = 6
_LONG_NUMBER = 600


@dataclass(frozen=True)
class Article:
    """One check on a page; ``sections`` have a template, a title and what the template needs."""

    name: str
    asked: str
    style: str
    decision: str
    answer: str
    meaning: str
    claim: str = ""
    loss: str = ""
    note: str = ""
    remedies: Sequence[str] = ()
    is_qualified: bool = False
    sections: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class _Tested:
    """What was tested, as far as it is at hand."""

    verdict: PrivacyVerdict
    certificate: Certificate | None
    mechanism: Mechanism | None
    distribution: Distribution | None
    found: Findings | None = None


def page(outcomes: Sequence[Outcome]) -> str:
    """The page for some checks, in the order of the request.

    The same outcomes give the same bytes. Drawings for which the mechanism would have to be asked
    too often are replaced by a sentence.
    """
    articles = [_of(f"check-{place}", outcome) for place, outcome in enumerate(outcomes)]
    if len(outcomes) == 1:
        return _render(f"{find_kind(outcomes[0])}: {outcomes[0].asked}", articles)
    kinds = [find_kind(outcome) for outcome in outcomes]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in OutcomeKind if kind in kinds)
    return _render(f"{len(outcomes)} checks", articles, many=True, counts=counts)


def report_html(
    found: Certificate[Any] | PrivacyVerdict | BlackBoxVerdict,
    mechanism: Any = None,
    *,
    distribution: Distribution | None = None,
) -> str:
    """One verdict as a page that can be written to a file; the text of the whole document.

    Parameters
    ----------
    found
        A certificate, or a bare verdict, which has no hashes to show; also those of samples.
    mechanism, distribution
        What was tested. Without them the page has neither output distributions, nor profile, nor
        losses by record; a page about samples needs neither.

    Raises
    ------
    InputError
        Not a certificate or verdict, or its mechanism or distribution is another one.
    """
    certificate = found if isinstance(found, Certificate) else None
    verdict = found.verdict if isinstance(found, Certificate) else found
    if isinstance(verdict, BlackBoxVerdict):
        sampled = _write_sampled_article(verdict, certificate)
        return _render(f"{verdict.decision}: {verdict.mechanism}", [sampled])
    if not isinstance(verdict, PrivacyVerdict):
        raise InputError(
            f"found={shown_value(found)} is not a certificate or a verdict; pass what "
            f"lt.check_privacy returns, or gate.certificate",
            name="found",
        )
    checked = None if mechanism is None else check_mechanism(mechanism)
    law = None if distribution is None else check_distribution(distribution, together=True)
    if certificate is not None:
        _check_same(certificate, checked, law)
    given = _Tested(verdict, certificate, checked, law)
    article = _article("check-0", verdict.mechanism, classify_verdict(verdict), given)
    return _render(f"{classify_verdict(verdict)}: {verdict.mechanism}", [article])


def _check_same(
    certificate: Certificate, mechanism: Mechanism | None, law: Distribution | None
) -> None:
    if mechanism is not None and fingerprint(mechanism).code != certificate.code.code:
        raise InputError(
            f"mechanism={mechanism.name}: its code is not the code of the certificate; pass the "
            f"mechanism that was tested, or none",
            name="mechanism",
        )
    if law is not None and distribution_hash(law) != certificate.data_hash:
        raise InputError(
            f"distribution={law.source}: it is not that of the certificate; pass the distribution "
            f"of the test, or none",
            name="distribution",
        )


def _render(title: str, articles: Sequence[Article], **more: Any) -> str:
    template = templates().get_template("page.html")
    return template.render(title=title, articles=articles, version=__version__, **more)


@cache
def templates() -> Environment:
    """The templates beside this file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("liptest.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["shown"] = visible_text
    environment.filters["capitalised"] = lambda text: text[:1].upper() + text[1:]
    environment.globals |= {"OWN_WORDS": OWN_WORDS, "many": False}
    return environment


def visible_text(text: str, most: int = 300) -> str:
    """What can be seen; of a longer text the beginning, and how long it is."""
    if len(text) > most:
        return f"{visible(text[:most])}… ({len(text):,} characters)"
    return visible(text)


def _of(name: str, outcome: Outcome) -> Article:
    certificate, kind = outcome.certificate, find_kind(outcome)
    if certificate is None:
        told = "" if outcome.error is None else str(outcome.error)
        style = _CLASSES.get(kind, "plain")
        return Article(name, outcome.asked, style, str(kind), str(kind), _NO_VERDICT, note=told)
    given = _Tested(
        certificate.verdict,
        certificate,
        outcome.mechanism,
        outcome.distribution,
        outcome.findings,
    )
    return _article(name, outcome.asked, kind, given)


def _article(name: str, asked: str, kind: OutcomeKind, given: _Tested) -> Article:
    verdict = given.verdict
    facts = given.found or findings(verdict, given.mechanism, given.distribution)
    witness, pictures = verdict.witness, []
    if witness is not None and witness.event:
        pictures = [_picture(name, verdict, witness, facts)]
    sections = [
        *pictures,
        _finding(name, verdict, facts),
        _exposure(name, verdict, facts),
        _profile(name, verdict, facts),
    ]
    # What is not known is folded, and comes last of the pictures.
    sections.sort(key=_is_empty)
    if witness is not None:
        sections.insert(0, _witness(verdict, witness))
    sections += [_cost(verdict), _fine_print(verdict, given.certificate)]
    return Article(
        name=name,
        asked=asked,
        style=_CLASSES.get(kind, "plain"),
        decision=str(verdict.decision),
        answer=headline(verdict),
        meaning=f"Meaning: {verdict.guarantee.sentence}",
        claim=str(verdict.claim),
        loss=number(float(verdict.largest_loss)),
        note=headline(verdict).removeprefix(str(verdict.decision)).strip(),
        remedies=remedy_lines(verdict),
        is_qualified=verdict.guarantee.kind not in ("proof", "refutation"),
        sections=sections,
    )


def _is_empty(section: dict[str, Any]) -> bool:
    return section["template"] != "picture.html" and bool(section.get("absent"))


def _write_sampled_article(
    verdict: BlackBoxVerdict, certificate: Certificate[BlackBoxVerdict] | None
) -> Article:
    name = "check-0"
    sections = [_write_sampled_finding(name, verdict)]
    if verdict.shown_bound is not None:
        sections += _shares(name, verdict, verdict.shown_bound)
    sections += [_write_sampled_cost(verdict), _write_sampled_fine_print(verdict, certificate)]
    return Article(
        name=name,
        asked=verdict.mechanism,
        style=_CLASSES[KINDS[verdict.decision]],
        decision=str(verdict.decision),
        answer=f"{verdict.decision} {verdict.note}",
        meaning=f"Meaning: {verdict.guarantee.sentence}",
        claim=str(verdict.claim),
        note=verdict.note,
        is_qualified=True,
        sections=sections,
    )


def _section(template: str, title: str, **data: Any) -> dict[str, Any]:
    made = {"template": f"{template}.html", "title": title, **data}
    return made | {"is_folded": _is_empty(made)}


def _finding(name: str, verdict: PrivacyVerdict, found: Findings) -> dict[str, Any]:
    """What was compared, and the losses against the claim as bars."""
    return _section(
        "finding",
        "Claim against finding",
        tested=say_tested(verdict),
        beyond=_beyond(verdict, found),
        implemented="" if verdict.implemented is None else str(verdict.implemented),
        figures=finding_figures(name, verdict, found.exact_epsilon),
        resolution="",
    )


def _beyond(verdict: PrivacyVerdict, found: Findings) -> str:
    """The loss that a reader of a YES by sampling must not miss, where it is known."""
    loss, claim = found.exact_epsilon, verdict.claim
    if verdict.decision is Decision.NO or loss is None:
        return ""
    if not isinstance(claim, Claim) or claim.delta:
        return ""
    return number(loss) if loss > claim.threshold * (1 + CLOSE) else ""


def _profile(name: str, verdict: PrivacyVerdict, found: Findings) -> dict[str, Any]:
    """The exact exception mass, or why it is not drawn."""
    profile, claim = found.profile, find_claimed_number(verdict.claim)
    if isinstance(profile, str):
        mass = verdict.exception_mass_found
        words = "" if mass is None else f"{mass:.4g}"
        return _section("profile", "Privacy profile", figure=None, absent=profile, known=words)
    points = [(point.epsilon, point.upper) for point in profile.points]
    at_claim = profile.at(claim)
    picture = profile_curve(f"{name}-profile", points, claim, (at_claim.lower, at_claim.upper))
    return _section("profile", "Privacy profile", figure=_profile_figure(profile, picture))


def _profile_figure(profile: PrivacyProfile, picture: Drawing) -> Figure:
    points = profile.points
    is_exact = all(point.lower == point.upper for point in points)
    caption = (
        f"{'Exact' if is_exact else 'Upper bound of the'} total probability, under "
        f"{visible_text(profile.distribution)}, of the datasets that must be left out for a "
        f"smaller or larger epsilon to hold for all others."
    )
    if is_exact:
        exact: Rows = [[number(point.epsilon), number(point.upper)] for point in points]
        return Figure(picture, caption, ("epsilon", "exception mass"), exact)
    rows: Rows = [[number(v) for v in (p.epsilon, p.lower, p.upper)] for p in points]
    return Figure(picture, caption, ("epsilon", "exception mass from", "to"), rows)


def _exposure(name: str, verdict: PrivacyVerdict, found: Findings) -> dict[str, Any]:
    """Largest loss by record, or why it is not drawn."""
    title, losses, noun = "Who is exposed", found.exposure, coordinate_noun(verdict.relation)
    if isinstance(losses, str):
        return _section("exposure", title, figure=None, absent=losses, noun=noun)
    rows = exposure_rows(losses)
    if len(rows) == 1 and rows[0].count > 1:
        alike = {"count": len(losses), "noun": noun, "loss": number(rows[0].loss)}
        return _section("exposure", title, figure=None, absent="", **alike)
    claim = find_claimed_number(verdict.claim)
    drawn = [Bar(row.label(noun), row.loss, loss_kind(row.loss, verdict)) for row in rows]
    named, axis = f"Largest loss by {noun}", "loss (natural logarithm)"
    picture = bars(f"{name}-records", named, drawn, claimed=claim, height=12, axis=axis)
    numbers: Rows = [
        [
            row.label(noun) + (f" ({_list(row.records, row.count)})" if row.count > 1 else ""),
            number(row.loss),
        ]
        for row in rows
    ]
    caption = f"Largest loss over all neighbouring datasets that differ in this {noun}."
    figure = Figure(picture, caption, (noun, "largest loss"), numbers)
    return _section("exposure", title, figure=figure)


def _list(records: Sequence[int], count: int) -> str:
    return ", ".join(map(str, records)) + (", .." if count > len(records) else "")


def _noun(verdict: PrivacyVerdict, witness: PrivacyWitness) -> str:
    return "row" if witness.rows else coordinate_noun(verdict.relation)


def _witness(verdict: PrivacyVerdict, witness: PrivacyWitness) -> dict[str, Any]:
    """Both datasets and both probabilities."""
    noun = _noun(verdict, witness)
    return _section(
        "witness",
        "Witness" if verdict.decision is Decision.NO else "The pair left open",
        said=_pair_lines(pair_text(verdict, witness), witness.rows or ()),
        pair=None if witness.rows else _pair(witness, noun),  # rows are said as a difference
    )


def _picture(
    name: str, verdict: PrivacyVerdict, witness: PrivacyWitness, found: Findings
) -> dict[str, Any]:
    """Both output distributions, and the loss of each output."""
    noun, laws = _noun(verdict, witness), found.laws
    changed = noun if len(witness.changed) == 1 else f"{noun}s"
    return _section(
        "picture",
        "Both distributions",
        absent=laws if isinstance(laws, str) else "",
        figures=_pair_figures(name, found, witness, changed),
        folded=_exact_values(witness),
    )


def _pair_lines(text: str, rows: Sequence[str]) -> list[tuple[str, str]]:
    """Lines about a pair, each with its class of the page: rows stand below each other."""
    said = [line.strip() for line in text.splitlines()]
    kept = {row.strip(): row for row in rows}
    return [(kept.get(line, line), "row" if line in kept else "") for line in said]


def _pair_figures(
    name: str, found: Findings, witness: PrivacyWitness, changed: str
) -> list[Figure]:
    if isinstance(found.laws, str):
        return []
    losses = row_loss_figure(name, found.laws, witness)
    drawn = [law_figure(name, found.laws, changed), *([losses] if losses else [])]
    if found.densities is None:
        return drawn
    return [density_figure(name, found.densities, witness), *drawn]


def _exact_values(witness: PrivacyWitness) -> dict[str, Any]:
    masses = (witness.probability, witness.neighbour_probability)
    rows: Rows = [
        [f"{place} dataset", f"{mass:.12g}", Code(exact, _LONG_NUMBER)]
        for place, mass, exact in zip(("first", "second"), masses, witness.exact, strict=True)
    ]
    facts: Rows = [["decides", Code(repr(witness.output), _LONG_NUMBER)]]
    claim = witness.claim
    if not isinstance(claim, Claim):
        facts.append([claim.measure, _between(witness.measured, witness.measured)])
    elif not claim.delta:
        limit = claim.threshold * witness.distance
        facts.append(["loss", _between(witness.loss_lower, witness.loss_upper)])
        facts.append(["the claim allows", f"{limit:.12g}, tolerance included"])
    tables = ((("on the", "probability", "exactly"), rows), ((), facts))
    return {"summary": "Exact values", "tables": tables}


def _between(lower: float, upper: float) -> str:
    if math.isinf(lower):
        return "infinite"
    ends = [f"{end:.12g}" for end in (lower, upper)]
    return ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"


def _pair(pair: PrivacyWitness | LossBound, noun: str) -> dict[str, Any]:
    """Both datasets about what changed; of long ones, how often each value occurs."""
    places = _places(len(pair.dataset), pair.changed)
    sides = {"first": pair.dataset, "second": pair.neighbour}
    rows = [
        (name, [(None if p is None else side[p], p in pair.changed) for p in places])
        for name, side in ((noun, range(len(pair.dataset))), *sides.items())
    ]
    counted = [Counter(side) for side in sides.values()]
    values = sorted({*counted[0], *counted[1]})
    counts: Rows = [
        [f"{name} dataset", *(f"{count[value]:,}" for value in values)]
        for name, count in zip(sides, counted, strict=True)
    ]
    return {
        "rows": rows,
        "noun": noun,
        "changed": len(pair.changed),
        "is_cut": None in places,
        "total": len(pair.dataset),
        "heads": [f"how many {noun}s are", *map(str, values)],
        "counts": counts if len(values) <= _MOST_VALUES else [],
        "sums": [sum(side) for side in sides.values()],
    }


def _places(length: int, changed: Sequence[int]) -> list[int | None]:
    """Records to show, ascending; None for a gap."""
    if length <= _WHOLE:
        return list(range(length))
    near = {
        place
        for change in changed[:_CHANGES]
        for place in range(change - _AROUND, change + _AROUND + 1)
        if 0 <= place < length
    }
    if len(changed) > 1:  # room is for the changes then
        near = {place for place in near if min(abs(place - c) for c in changed[:_CHANGES]) <= 1}
    places: list[int | None] = []
    last = -1
    for place in sorted(near):
        if place > last + 1:
            places.append(None)
        places.append(place)
        last = place
    return places if last == length - 1 else [*places, None]


def _cost(verdict: PrivacyVerdict) -> dict[str, Any]:
    """The laws that were computed, and those of the paper's algorithm."""
    cost = verdict.cost
    rows = [
        ["method", visible_text(verdict.method)],
        ["output distributions", f"{cost.laws:,}"],
        ["pairs compared", f"{cost.pairs:,}"],
        ["datasets drawn", f"{cost.draws:,}"],
    ]
    if cost.search_laws:
        rows.append(["output distributions of the search", f"{cost.search_laws:,}"])
    if math.isfinite(verdict.plan.paper_laws):
        paper = "output distributions of the paper's algorithm"
        rows.append([paper, f"{verdict.plan.paper_laws:.2g}"])
    rows.append(["seconds", f"{cost.seconds:.3g}"])
    return _section("cost", "Cost", rows=rows)


def _fine_print(verdict: PrivacyVerdict, certificate: Certificate | None) -> dict[str, Any]:
    """What is not covered, and everything that identifies the test."""
    facts: dict[str, Cell] = {
        "data": visible_text(verdict.distribution),
        "neighbours": visible_text(verdict.relation),
        "tolerance": f"{verdict.claim.tolerance:g}",
        "seed": str(verdict.seed),
    }
    if certificate is not None:
        hashed = {"distribution, sha256": Code(certificate.data_hash)}
        promised = {"release": visible_text(certificate.release_guarantee, OWN_WORDS)}
        facts |= _list_certified_facts(certificate, hashed, promised)
    # Cost and seed have their places on the page.
    said = [line for line in fine_print(verdict) if not line.startswith(("Cost:", "Seed:"))]
    return _write_fine_print(said, facts, certificate)


def _write_fine_print(
    said: Sequence[str], facts: dict[str, Cell], certificate: Certificate[Any] | None
) -> dict[str, Any]:
    if certificate is None:
        facts = {**facts, "hashes": "none: this is a bare verdict, not a certificate"}
    return _section("fine_print", "Fine print", said=said, facts=facts)


def _list_certified_facts(
    certificate: Certificate[Any], hashed: dict[str, Code], promised: dict[str, str]
) -> dict[str, Cell]:
    """What a certificate holds beside its verdict: code, ``hashed`` data, ``promised`` releases."""
    files = ", ".join(sorted(certificate.code.files))
    versions = ", ".join(f"{k} {v}" for k, v in sorted(certificate.versions.items()))
    facts: dict[str, Cell] = {
        "seed": f"{certificate.verdict.seed} ({visible_text(certificate.seed_source)})",
        "code, sha256": Code(certificate.code.code),
        "files": visible_text(files, 600) if files else "none",
        **hashed,
        "versions": visible_text(versions, 600),
        **promised,
        "decided": visible_text(certificate.decided),
    }
    if certificate.attempts is not None:
        facts["attempts"] = f"{certificate.attempts:,} by this vendor, as the ledger counts"
    return facts


def _write_sampled_finding(name: str, verdict: BlackBoxVerdict) -> dict[str, Any]:
    is_refuted = verdict.decision is Decision.NO
    reached = verdict.resolution_reached
    words = f"{reached:.3g}" if math.isfinite(reached) else "none"
    return _section(
        "finding",
        "Claim against finding",
        tested=verdict.tested,
        beyond="",
        implemented="",
        figures=[bound_figure(name, verdict)],
        resolution="" if is_refuted else words,  # a NO does not need it
        resolution_asked=f"{verdict.resolution:g}",
    )


def _shares(name: str, verdict: BlackBoxVerdict, bound: LossBound) -> list[dict[str, Any]]:
    """The pair of datasets, and the event that was counted on both."""
    noun = coordinate_noun(verdict.relation)
    pair = _section(
        "witness",
        "Witness" if verdict.decision is Decision.NO else "The most suspicious pair",
        said=_pair_lines("\n".join(bound_lines(bound, noun)), ()),
        pair=_pair(bound, noun),
    )
    picture = _section(
        "picture",
        "Shares of the samples",
        absent="",
        figures=[share_figure(name, bound)],
        folded=_rounds(verdict) if len(verdict.bounds) > 1 else None,
    )
    return [pair, picture]


def _rounds(verdict: BlackBoxVerdict) -> dict[str, Any]:
    rows: Rows = [
        [
            f"{place}",
            number(max(0.0, bound.lower_bound)),
            f"{100 * bound.confidence:.8g} %",
            Code(str(bound.event)),
        ]
        for place, bound in enumerate(verdict.bounds, start=1)
    ]
    heads = ("round", "loss at least", "confidence", "event")
    return {"summary": "Every round", "tables": [(heads, rows)]}


def _write_sampled_cost(verdict: BlackBoxVerdict) -> dict[str, Any]:
    rows = [
        ["samples", f"{verdict.cost.draws:,} of {verdict.samples:,} at most"],
        ["pairs tried", f"{verdict.cost.pairs:,}"],
        ["seconds", f"{verdict.cost.seconds:.3g}"],
    ]
    return _section("cost", "Cost", rows=rows)


def _write_sampled_fine_print(
    verdict: BlackBoxVerdict, certificate: Certificate[BlackBoxVerdict] | None
) -> dict[str, Any]:
    said = [
        "Output probabilities: estimated from samples; the code was run and not examined.",
        "It does not justify a release.",
        NOT_COVERED,
    ]
    facts: dict[str, Cell] = {
        "neighbours": visible_text(verdict.relation),
        "tolerance": f"{verdict.claim.tolerance:g}",
        "failure probability": number(float(verdict.guarantee.failure_probability or 0.0)),
        "seed": str(verdict.seed),
    }
    if certificate is not None:
        facts["data"] = visible_text(certificate.data_source)
        facts |= _list_certified_facts(
            certificate, {"data, sha256": Code(certificate.data_hash)}, {}
        )
    return _write_fine_print(said, facts, certificate)
