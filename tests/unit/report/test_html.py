"""The page: right words, everything escaped, no loading, the same bytes for the same input."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.privacy.verdicts import fine_print, headline, pair_text
from liptest.privacy.verdicts import say_tested as what_was_compared
from liptest.report.findings import Outcome
from liptest.report.html import page, report_html
from tests.unit.report.pages import (
    BROKEN,
    DECISIONS,
    DELTA,
    EVERY,
    EVIL,
    LAW,
    NO,
    OPEN,
    SAMPLED,
    SHORT,
    TALKATIVE,
    VERDICTS,
    WIDE,
    YES,
)


class Page(HTMLParser):
    """Tags in order, balanced, with their attributes; the text between them."""

    void = ("meta", "rect", "path", "line", "circle", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("outcome", EVERY, ids=lambda one: ascii(one.asked))
def test_each_page_is_well_formed_and_loads_nothing(outcome: Outcome) -> None:
    text = page([outcome])
    parsed = Page(text)
    names = {tag for tag, _ in parsed.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "use", "image"}
    assert "@import" not in text
    assert all(inside.startswith("#") for inside in re.findall(r"url\((.)", text))
    for tag, attributes in parsed.tags:
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
        if tag == "svg" and attributes.get("aria-hidden") is None:
            assert attributes["role"] == "img"
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in parsed.tags:
        assert set((attributes.get("aria-labelledby") or "").split()) <= set(ids)
    headings = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[:2] == [1, 2]
    assert all(after <= before + 1 for before, after in pairwise(headings))


@pytest.mark.slow
def test_the_same_outcomes_give_the_same_bytes() -> None:
    assert page(EVERY).encode() == page(EVERY).encode()


@pytest.mark.parametrize("outcome", VERDICTS, ids=lambda one: one.asked)
def test_the_words_are_the_verdicts_and_none_is_missing(outcome: Outcome) -> None:
    assert outcome.certificate is not None
    verdict = outcome.certificate.verdict
    text = Page(page([outcome])).text
    assert verdict.guarantee.sentence[1:] in text  # a capital letter, below a heading
    assert headline(verdict).removeprefix(verdict.decision).strip() in text
    assert what_was_compared(verdict) in text
    for line in fine_print(verdict):
        assert line in text or line.startswith(("Cost:", "Seed:"))
    if verdict.witness is not None and outcome is not TALKATIVE:
        for line in pair_text(verdict, verdict.witness).splitlines():
            assert line.strip() in text
    for fact in (outcome.certificate.code.code, outcome.certificate.data_hash):
        assert fact in text
    assert f"{verdict.seed} ({outcome.certificate.seed_source})" in text
    assert outcome.certificate.release_guarantee in text


def test_a_long_promise_is_not_cut() -> None:
    assert NO.certificate is not None
    verdict = NO.certificate.verdict
    sentence = "either this " + "or that " * 300 + "holds."
    longer = replace(verdict, guarantee=replace(verdict.guarantee, sentence=sentence))
    assert sentence[1:] in Page(report_html(longer)).text


@pytest.mark.slow
def test_the_decisions_are_those_of_the_outcomes() -> None:
    assert [one.certificate.decision for one in VERDICTS] == DECISIONS
    found = re.findall(r'<p class="decision">([^<]*)</p>', page(EVERY))
    assert found == [*DECISIONS, "broken mechanism", "bad input", "INCONCLUSIVE", "not run"]
    assert "nothing is promised and nothing is refuted" in page([BROKEN])


@pytest.mark.slow
def test_only_a_proof_and_a_refutation_have_an_unbroken_edge() -> None:
    for outcome in VERDICTS:
        assert outcome.certificate is not None
        kind = outcome.certificate.verdict.guarantee.kind
        assert ('class="verdict qualified"' in page([outcome])) is (kind in ("sampling", "none"))


@pytest.mark.slow
def test_hostile_text_is_escaped_and_made_visible() -> None:
    text = page([replace(NO, asked=EVIL), BROKEN, TALKATIVE])
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 4
    assert "alert('x')" in Page(text).text
    for letter in "\u202e\ud800\x00":
        assert letter not in text
    assert "a\\u202eb\\ud800c\\u0000d" in text
    text.encode()


def test_long_outputs_are_shortened_and_say_so() -> None:
    text = page([TALKATIVE])
    assert len(text) < 60_000
    assert re.search(r"… \([\d,]+ characters\)", text)


@pytest.mark.slow
def test_the_witness_is_shown_with_its_numbers() -> None:
    text = page([NO])
    assert "1/2" in Page(text).text
    assert re.findall(r'<th scope="col" class="changed">(\d+)</th>', text) == ["2"]
    assert re.findall(r'<td class="changed">(\d+)</td>', text) == ["0", "1"]
    wide = page([WIDE])
    assert '<th scope="col" class="changed">3117</th>' in wide
    assert '<th scope="col">3114</th>' in wide
    assert '<th scope="col">3113</th>' not in wide
    assert "5,000 records in each; 4,999 of them are equal in both." in wide
    assert WIDE.certificate is not None
    witness = WIDE.certificate.verdict.witness
    assert witness is not None
    assert f"<td>{sum(witness.dataset):,}</td>" in wide


def test_an_open_pair_is_not_called_a_witness() -> None:
    text = Page(page([OPEN])).text
    assert "The pair left open" in text
    assert "Certain" not in text
    assert "Witness" not in text.split("</style>")[-1]


@pytest.mark.slow
def test_who_is_exposed_and_the_profile_are_exact() -> None:
    rows = re.findall(r'<th scope="row">record (\d)</th><td>([^<]*)</td>', page([NO]))
    assert rows == [("0", "0"), ("1", "0"), ("2", "infinite"), ("3", "0")]
    # Either value of record 2 must be left out: the rarer one has mass 0.3.
    assert ">mass 0.3<" in page([NO])
    assert ">mass 0<" in page([YES])
    assert "is not drawn" in page([WIDE])
    wide = re.findall(r'<th scope="row">([^<]*records?[^<]*)</th><td>([^<]*)</td>', page([WIDE]))
    assert wide == [("record 3117", "3"), ("4,999 records (0, 1, 2, 3, 4, 5, ..)", "1")]
    assert "All 5,000 records alike" in page([SAMPLED])


def test_delta_is_compared_with_the_excess() -> None:
    assert DELTA.certificate is not None
    witness = DELTA.certificate.verdict.witness
    assert witness is not None
    text = page([DELTA])
    assert "excess found" in text
    assert f"<td>{witness.excess:.6g}</td>" in text
    assert "excess found" not in page([NO])


@pytest.mark.slow
def test_several_outcomes_begin_with_a_table() -> None:
    parsed = Page(page(EVERY))
    links = [a["href"] for tag, a in parsed.tags if tag == "a"]
    assert links == [f"#check-{number}" for number in range(len(EVERY))]
    assert "12 checks: 2 YES, 4 NO, 3 INCONCLUSIVE, 1 broken mechanism" in parsed.text
    assert "by sampling - not a proof" in parsed.text.split("Claim against finding")[0]
    assert 'class="overview"' not in page([YES])
    assert "0 checks: none" in page([])


def test_a_certificate_from_python() -> None:
    assert NO.certificate is not None
    whole = report_html(NO.certificate, NO.mechanism, distribution=LAW)
    alone = report_html(NO.certificate)
    assert ">mass 0.3<" in whole
    assert "the mechanism is not at hand" in alone
    bare = report_html(NO.certificate.verdict, NO.mechanism, distribution=LAW)
    assert "a bare verdict" in bare
    assert NO.certificate.code.code not in bare
    with pytest.raises(InputError, match="is not a certificate or a verdict"):
        report_html("YES")  # type: ignore[arg-type]


def test_another_mechanism_or_distribution_is_not_drawn() -> None:
    assert NO.certificate is not None
    with pytest.raises(InputError, match="not the code of the certificate"):
        report_html(NO.certificate, YES.mechanism)
    other = lt.ProductDistribution.bernoulli([0.2] * 4)
    with pytest.raises(InputError, match="not that of the certificate"):
        report_html(NO.certificate, NO.mechanism, distribution=other)
    mixed = report_html(NO.certificate.verdict, YES.mechanism, distribution=LAW)
    assert "does not give the probabilities of the verdict" in mixed


def test_a_run_that_ended_early_says_what_is_certified() -> None:
    text = Page(page([SHORT])).text
    assert "the budget ended after" in text
    assert "less than was requested, but this much is certified" in text


def test_notebooks_show_the_same_words() -> None:
    assert NO.certificate is not None
    text = NO.certificate._repr_html_()
    assert "<script" not in text
    assert "NO refuted with a witness" in Page(text).text
    assert "nothing is released" in Page(text).text
    assert NO.certificate.verdict._repr_html_() in text


def test_the_order_of_a_report() -> None:
    """The answer, the witness, what it means, the picture, then the facts."""
    titles = re.findall(r"<h3>(.*?)</h3>", _page_of_a_no())
    assert titles[:4] == ["Witness", "Meaning", "Both distributions", "Claim against finding"]
    assert titles[-2:] == ["Cost", "Fine print"]


def _page_of_a_no() -> str:
    mechanism = lt.mechanism(lambda data, rng: int(data[0]))
    verdict = lt.check_privacy(mechanism, lt.Hypercube(3), epsilon=1.0, seed=1)
    return str(report_html(verdict, mechanism))
