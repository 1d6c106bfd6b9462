"""A verdict as one page: no script, no network; light and dark, print, narrow screens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from liptest import __version__
from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.data.distributions import Distribution, check_distribution
from liptest.errors import InputError
from liptest.errors import shown as shown_value
from liptest.evidence.certificate import Certificate
from liptest.evidence.outcomes import Outcome
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.privacy.verdicts import PrivacyVerdict, headline
from liptest.report.findings import KINDS, Kind, findings, kind_of, kind_of_verdict
from liptest.report.html_parts import (
    OWN_WORDS,
    cost_section,
    exposure_section,
    finding_section,
    fine_print_section,
    profile_section,
)
from liptest.report.html_samples import samples_sections
from liptest.report.html_tags import shown
from liptest.report.html_witness import witness_section
from liptest.report.svg import number
from liptest.runs.fingerprints import distribution_hash, fingerprint

_CLASSES = {Kind.CONFIRMED: "yes", Kind.REFUTED: "no", Kind.UNDECIDED: "open"}


@dataclass(frozen=True)
class _Check:
    """One check, as far as it came."""

    asked: str
    kind: Kind
    verdict: PrivacyVerdict | None = None
    certificate: Certificate | None = None
    error: str = ""
    mechanism: Mechanism | None = None
    distribution: Distribution | None = None

    @property
    def answer(self) -> str:
        """The decision with the words that keep it from being misread, or what went wrong."""
        return str(self.kind) if self.verdict is None else headline(self.verdict)

    @property
    def style(self) -> str:
        """The class that gives it its colour; errors have none."""
        return _CLASSES.get(self.kind, "plain")


def page(outcomes: Sequence[Outcome]) -> str:
    """The page for some checks, in the order in which they were asked for.

    The same outcomes give the same bytes. Drawings for which the mechanism would have to be asked
    too often are replaced by a sentence.
    """
    return _page([_of(outcome) for outcome in outcomes])


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
        What was tested. Without them the page has neither output laws, nor profile, nor losses by
        record; a page about samples needs neither.

    Raises
    ------
    InputError
        Not a certificate or verdict, or its mechanism or distribution is another one.
    """
    certificate = found if isinstance(found, Certificate) else None
    verdict = found.verdict if isinstance(found, Certificate) else found
    if isinstance(verdict, BlackBoxVerdict):
        return _samples_page(verdict, certificate)
    if not isinstance(verdict, PrivacyVerdict):
        raise InputError(
            f"found={shown_value(found)} is no certificate and no verdict; pass what "
            f"lt.check_privacy returns, or gate.certificate",
            name="found",
        )
    checked = None if mechanism is None else check_mechanism(mechanism)
    law = None if distribution is None else check_distribution(distribution, together=True)
    if certificate is not None:
        _check_same(certificate, checked, law)
    return _page(
        [
            _Check(
                asked=verdict.mechanism,
                kind=kind_of_verdict(verdict),
                verdict=verdict,
                certificate=certificate,
                mechanism=checked,
                distribution=law,
            )
        ]
    )


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


def _of(outcome: Outcome) -> _Check:
    certificate = outcome.certificate
    return _Check(
        asked=outcome.asked,
        kind=kind_of(outcome),
        verdict=None if certificate is None else certificate.verdict,
        certificate=certificate,
        error="" if outcome.error is None else str(outcome.error),
        mechanism=outcome.mechanism,
        distribution=outcome.distribution,
    )


def _page(checks: Sequence[_Check]) -> str:
    one = len(checks) == 1
    title = f"{checks[0].kind}: {checks[0].asked}" if one else f"{len(checks)} checks"
    articles = [_article(f"check-{place}", check) for place, check in enumerate(checks)]
    return _sheet(title, articles if one else [_overview(checks), *articles], many=not one)


def _samples_page(
    verdict: BlackBoxVerdict, certificate: Certificate[BlackBoxVerdict] | None
) -> str:
    parts = [
        *_answer(verdict, f"claim: {shown(str(verdict.claim))}", verdict.note, " qualified"),
        *samples_sections("check-0", verdict, certificate),
    ]
    style = _CLASSES[KINDS[verdict.decision]]
    article = _framed("check-0", style, verdict.mechanism, "\n".join(parts))
    return _sheet(f"{verdict.decision}: {verdict.mechanism}", [article])


def _sheet(title: str, articles: Sequence[str], *, many: bool = False) -> str:
    style = files("liptest.report").joinpath("style.css").read_text(encoding="utf-8")
    claim = "Are these claims" if many else "Is this claim"
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{shown(title)} - liptest</title>\n<style>\n{style}</style>\n</head>\n<body>",
            f"<header><h1>{claim} of differential privacy true?</h1></header>\n<main>",
            *articles,
            f"</main>\n<footer><p>Written by liptest {escape(__version__)}. What each word "
            "promises, and what not, is on the page on verdicts of its documentation. Nothing on "
            "this page was loaded from elsewhere.</p></footer>\n</body>\n</html>\n",
        ]
    )


def _overview(checks: Sequence[_Check]) -> str:
    counts = {kind: sum(check.kind is kind for check in checks) for kind in Kind}
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    rows = "".join(
        f'<tr class="{check.style}"><th scope="row"><a href="#check-{place}">'
        f'{shown(check.asked, 120)}</a><span class="claim">{_claim(check)}</span></th>'
        f'<td class="answer">{shown(check.answer)}</td>'
        f'<td class="loss">{_loss(check)}</td></tr>'
        for place, check in enumerate(checks)
    )
    return (
        f'<section class="overview" aria-labelledby="overview"><h2 id="overview">{len(checks)} '
        f'checks: {told or "none"}</h2><table><thead><tr><th scope="col">mechanism</th>'
        f'<th scope="col">answer</th><th scope="col" class="loss">largest loss</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></section>"
    )


def _claim(check: _Check) -> str:
    return "" if check.verdict is None else shown(str(check.verdict.claim))


def _loss(check: _Check) -> str:
    return "" if check.verdict is None else number(float(check.verdict.largest_loss))


def _article(name: str, check: _Check) -> str:
    verdict = check.verdict
    body = _error(check) if verdict is None else _verdict(name, check, verdict)
    return _framed(name, check.style, check.asked, body)


def _framed(name: str, style: str, asked: str, body: str) -> str:
    return (
        f'<article class="{style}" id="{name}" aria-labelledby="{name}-name">'
        f'<h2 id="{name}-name">{shown(asked)}</h2>{body}</article>'
    )


def _answer(
    verdict: PrivacyVerdict | BlackBoxVerdict, claim: str, note: str, qualified: str
) -> list[str]:
    """The claim, the decision, and what it means."""
    return [
        f'<p class="claim">{claim}</p>',
        f'<div class="verdict{qualified}"><p class="decision">{escape(str(verdict.decision))}</p>',
        f'<p class="note">{shown(note, OWN_WORDS)}</p>' if note else "",
        f'<p class="meaning">Meaning: {shown(verdict.guarantee.sentence, OWN_WORDS)}</p></div>',
    ]


def _error(check: _Check) -> str:
    told = f'<p class="error">{shown(check.error, OWN_WORDS)}</p>' if check.error else ""
    return (
        f'<div class="verdict"><p class="decision">{escape(str(check.kind))}</p>{told}'
        f'<p class="meaning">There is no verdict: nothing is promised and nothing is refuted.</p>'
        f"</div>"
    )


def _verdict(name: str, check: _Check, verdict: PrivacyVerdict) -> str:
    found = findings(verdict, check.mechanism, check.distribution)
    note = headline(verdict).removeprefix(str(verdict.decision)).strip()
    qualified = "" if verdict.guarantee.kind in ("proof", "refutation") else " qualified"
    parts = [
        *_answer(verdict, f"claim: {_claim(check)}", note, qualified),
        finding_section(name, verdict, found),
        profile_section(name, verdict, found),
        exposure_section(name, verdict, found),
    ]
    if verdict.witness is not None:
        parts.append(witness_section(name, verdict, verdict.witness, found))
    parts += [cost_section(verdict), fine_print_section(verdict, check.certificate)]
    return "\n".join(parts)
