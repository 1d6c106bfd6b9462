"""A verdict as one page: no script, no network; light and dark, print, narrow screens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from liptest import __version__
from liptest.outcomes import Outcome
from liptest.privacy.verdicts import PrivacyVerdict, fine_print, headline, tested
from liptest.privacy.witnesses import PrivacyWitness
from liptest.report import svg
from liptest.report.exposure import exact_profile, losses_by_record, witness_laws
from liptest.report.facts import Kind, kind_of, summary

_CLASSES = {
    Kind.CONFIRMED: "yes",
    Kind.REFUTED: "no",
    Kind.UNDECIDED: "open",
    Kind.BROKEN: "no",
    Kind.UNUSABLE: "plain",
    Kind.NOT_RUN: "plain",
}
# Cells shown of a dataset: all of a short one, else those around the first change.
_WHOLE, _AROUND = 24, 7
_MOST_RECORDS = 30
_LONG = 300


def page(outcomes: Sequence[Outcome]) -> str:
    """The page for some checks, worst news first on none of them: in the order asked.

    The same outcomes give the same bytes. Everything that is not liptest's is escaped.
    """
    style = files("liptest.report").joinpath("style.css").read_text(encoding="utf-8")
    title = "liptest report" if len(outcomes) != 1 else f"liptest: {outcomes[0].asked}"
    return "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{style}</style></head><body>",
            "<header><h1>Is the claim of differential privacy true?</h1>",
            f"<p>Tested by liptest {escape(__version__)}</p></header><main>",
            *([_table_of(outcomes)] if len(outcomes) > 1 else []),
            *(_article(number, outcome) for number, outcome in enumerate(outcomes)),
            "</main><footer><p>What each word promises, and what not: the page on verdicts of "
            "liptest's documentation. Nothing on this page was loaded from elsewhere.</p></footer>",
            "</body></html>",
        ]
    )


def _table_of(outcomes: Sequence[Outcome]) -> str:
    rows = "".join(
        f'<tr class="{_CLASSES[kind_of(one)]}"><td><a href="#check-{number}">'
        f"{_shown(one.asked)}</a></td><td>{_shown(_claim(one))}</td>"
        f"<td>{escape(str(kind_of(one)))}</td></tr>"
        for number, one in enumerate(outcomes)
    )
    return (
        '<div class="scroll"><table><caption class="fine">All checks</caption><thead><tr>'
        '<th scope="col">mechanism</th><th scope="col">claim</th><th scope="col">answer</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _claim(outcome: Outcome) -> str:
    return "" if outcome.certificate is None else str(outcome.certificate.verdict.claim)


def _article(number: int, outcome: Outcome) -> str:
    kind = kind_of(outcome)
    body = _error(outcome, kind) if outcome.certificate is None else _verdict(number, outcome)
    return (
        f'<article class="{_CLASSES[kind]}" id="check-{number}" '
        f'aria-labelledby="name-{number}"><h2 id="name-{number}">{_shown(outcome.asked)}</h2>'
        f"{body}</article>"
    )


def _error(outcome: Outcome, kind: Kind) -> str:
    return (
        f'<div class="verdict"><p class="decision">{escape(str(kind))}</p>'
        f'<p class="meaning">{_shown(summary(outcome))}</p></div>'
        "<p>There is no verdict: nothing is promised and nothing is refuted.</p>"
    )


def _verdict(number: int, outcome: Outcome) -> str:
    assert outcome.certificate is not None
    verdict = outcome.certificate.verdict
    note = headline(verdict).removeprefix(str(verdict.decision)).strip()
    parts = [
        f'<p class="claim">Claim: {_shown(str(verdict.claim))}</p>',
        f'<div class="verdict"><p class="decision">{escape(str(verdict.decision))}</p>',
        f'<p class="note">{_shown(note)}</p>' if note else "",
        f'<p class="meaning">Meaning: {_shown(verdict.guarantee.sentence)}</p></div>',
        _finding(number, verdict),
    ]
    if verdict.witness is not None:
        parts.append(_witness(number, outcome, verdict.witness, verdict))
    parts += [_exposure(number, outcome, verdict), _profile(number, outcome, verdict)]
    parts += [_cost(outcome, verdict), _fine_print(outcome, verdict)]
    return "".join(parts)


def _finding(number: int, verdict: PrivacyVerdict) -> str:
    found = [("largest loss", float(verdict.largest_loss))]
    claim = float(verdict.claim.epsilon)
    picture = svg.scale_of_losses(f"finding-{number}", claim, found)
    note = ""
    if verdict.claim.delta:
        note = (
            f" With delta {verdict.claim.delta:g} a loss above epsilon may occur, as long as it is "
            f"rare enough."
        )
    return (
        f"<h3>The claim against what was found</h3><p>{_shown(tested(verdict))}{note}</p>"
        f"<figure>{picture}</figure>"
    )


def _witness(
    number: int, outcome: Outcome, witness: PrivacyWitness, verdict: PrivacyVerdict
) -> str:
    title = "The witness" if verdict.guarantee.kind == "refutation" else "The pair left open"
    laws = witness_laws(outcome.mechanism, witness)
    parts = [f"<h3>{title}</h3>", _strips(witness)]
    exact = "".join(
        f"<tr><th scope='row'>{name}</th><td class='number'>{value:.12g}</td>"
        f"<td><code>{_shown(text, 120)}</code></td></tr>"
        for name, value, text in (
            ("first dataset", witness.probability, witness.exact[0]),
            ("second dataset", witness.neighbour_probability, witness.exact[1]),
        )
    )
    event = repr(witness.output) if len(witness.event) == 1 else f"{len(witness.event)} outputs"
    loss = "infinite" if math.isinf(witness.loss_lower) else f"{witness.loss_lower:.9g}"
    says = f"Loss at it: {loss}; the claim allows {witness.claim.threshold:.9g}."
    if witness.claim.delta:
        says = (
            f"Excess over e^epsilon times the other: at least {witness.excess:.6g}; the claim "
            f"allows {witness.claim.delta:g}."
        )
    parts.append(
        f"<p>Probability of output <code>{_shown(event, 80)}</code>:</p>"
        f'<div class="scroll"><table><thead><tr><th scope="col">on the</th>'
        f'<th scope="col" class="number">probability</th><th scope="col">exactly</th></tr></thead>'
        f"<tbody>{exact}</tbody></table></div><p>{says}</p>"
    )
    if laws is not None and laws.rows:
        rows = [
            (repr(row.output), row.probability, row.neighbour_probability, row.decides)
            for row in laws.rows
        ]
        left_out = ""
        if laws.left_out:
            left_out = (
                f" {laws.left_out:,} outputs are not drawn, none likelier than "
                f"{laws.left_out_mass:.3g}."
            )
        parts.append(
            '<div class="legend"><span><span class="swatch" style="background:var(--first)">'
            '</span>first dataset</span><span><span class="swatch" '
            'style="background:var(--second)"></span>second dataset</span></div>'
            f"<figure>{svg.law_bars(f'laws-{number}', rows)}<figcaption>How the output law moves "
            f"with the changed record; the framed output decides.{left_out}</figcaption></figure>"
            + _data_table(("output", "first dataset", "second dataset"), [r[:3] for r in rows])
        )
    return "".join(parts)


def _strips(witness: PrivacyWitness) -> str:
    total = len(witness.dataset)
    start, stop = 0, total
    if total > _WHOLE:
        start = max(0, min(witness.changed[0] - _AROUND, total - 2 * _AROUND - 1))
        stop = min(total, start + 2 * _AROUND + 1)
    changed = ", ".join(map(str, witness.changed[:6])) + (", .." * (len(witness.changed) > 6))
    words = "record" if len(witness.changed) == 1 else "records"
    where = "" if (start, stop) == (0, total) else f" Shown are records {start} to {stop - 1}."
    rows = "".join(
        f'<div class="strip"><span class="name">{name}</span>'
        + "".join(
            f'<span class="cell{" changed" * (i in witness.changed)}">{side[i]}</span>'
            for i in range(start, stop)
        )
        + f'<span class="fine">{"" if total <= _WHOLE else f"sum {sum(side):,}"}</span></div>'
        for name, side in (("first", witness.dataset), ("second", witness.neighbour))
    )
    return (
        f"<p>Two datasets of {total:,} records, equal but for {words} {changed} (counted from 0, "
        f"framed).{where}</p><div class='strips'>{rows}</div>"
    )


def _exposure(number: int, outcome: Outcome, verdict: PrivacyVerdict) -> str:
    losses = losses_by_record(outcome.mechanism, outcome.distribution)
    if losses is None:
        return ""
    ranked = sorted(enumerate(losses), key=lambda item: -item[1])[:_MOST_RECORDS]
    rows = [(f"record {place}", loss) for place, loss in sorted(ranked)]
    cut = "" if len(rows) == len(losses) else f" The {len(rows)} most exposed of {len(losses):,}."
    picture = svg.exposure_bars(f"exposure-{number}", rows, float(verdict.claim.epsilon))
    return (
        f"<h3>Who is exposed</h3><figure>{picture}<figcaption>Largest loss over all neighbouring "
        f"datasets that differ in this record.{cut}</figcaption></figure>"
        + _data_table(("record", "largest loss"), rows)
    )


def _profile(number: int, outcome: Outcome, verdict: PrivacyVerdict) -> str:
    claimed, delta = float(verdict.claim.epsilon), verdict.claim.delta
    profile = exact_profile(outcome.mechanism, outcome.distribution, claimed, delta)
    if profile is None or not profile.points:
        return (
            "<h3>Privacy profile</h3><p>Not drawn: the exact exception mass is not known at little "
            "cost here; <code>liptest profile</code> gives it, or bands for it.</p>"
        )
    points = [(point.epsilon, point.upper) for point in profile.points]
    at = profile.at(claimed)
    picture = svg.profile_curve(f"profile-{number}", points, claimed, at.upper)
    assert outcome.distribution is not None
    return (
        f"<h3>Privacy profile</h3><figure>{picture}<figcaption>Exact total probability, under "
        f"{_shown(outcome.distribution.source)}, of the datasets that must be left out for a "
        f"smaller or larger epsilon to hold. At the claim: {at.upper:.4g}.</figcaption></figure>"
        + _data_table(("epsilon", "exception mass"), points)
    )


def _cost(outcome: Outcome, verdict: PrivacyVerdict) -> str:
    cost = verdict.cost
    rows = [
        ("method", verdict.method),
        ("output laws asked for", f"{cost.laws:,}"),
        ("pairs compared", f"{cost.pairs:,}"),
        ("datasets drawn", f"{cost.draws:,}"),
        ("seconds", f"{cost.seconds:.3g}"),
    ]
    if math.isfinite(verdict.plan.paper_laws):
        rows.append(("laws of the paper's algorithm as printed", f"{verdict.plan.paper_laws:.2g}"))
    body = "".join(
        f'<tr><th scope="row">{name}</th><td class="number">{_shown(value)}</td></tr>'
        for name, value in rows
    )
    return f'<h3>Cost</h3><div class="scroll"><table><tbody>{body}</tbody></table></div>'


def _fine_print(outcome: Outcome, verdict: PrivacyVerdict) -> str:
    assert outcome.certificate is not None
    given = outcome.certificate
    facts = {
        "data": f"{verdict.distribution}; neighbours: {verdict.relation}",
        "seed": f"{verdict.seed} ({given.seed_source})",
        "code": f"sha256 {given.code.code}",
        "files": ", ".join(sorted(given.code.files)),
        "distribution": f"sha256 {given.distribution_hash}",
        "versions": ", ".join(f"{name} {value}" for name, value in sorted(given.versions.items())),
        "release": given.release_guarantee,
    }
    listed = "".join(
        f"<dt>{name}</dt><dd>{_shown(text, 600)}</dd>" for name, text in facts.items() if text
    )
    lines = "".join(f"<p>{_shown(line, 600)}</p>" for line in fine_print(verdict))
    return f'<h3>Fine print</h3><div class="fine">{lines}<dl>{listed}</dl></div>'


def _data_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(_cell(value), 80)}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return (
        f'<details><summary>The same as a table</summary><div class="scroll"><table><thead><tr>'
        f"{heads}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "infinite" if math.isinf(value) else f"{value:.6g}"
    return str(value)


def _shown(text: str, most: int = _LONG) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")
