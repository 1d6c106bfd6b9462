"""The page: right words, everything escaped, no loading, the same bytes for the same input."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError, MechanismError
from liptest.outcomes import Outcome
from liptest.privacy.verdicts import headline
from liptest.report.html import page
from liptest.report.plots import exposure_figure, profile_figure, witness_figure

LAW = lt.ProductDistribution.bernoulli([0.3] * 4)
EVIL = "<script>alert('x')</script>&"


def respond(data: Any, rng: Any) -> Any:
    return tuple(int(bit) if rng.random() < 0.7310585786300049 else 1 - int(bit) for bit in data)


def leak(data: Any, rng: Any) -> Any:
    return EVIL if data[2] and rng.random() < 0.5 else 0


def late(data: Any, rng: Any) -> int:
    count = 0
    while rng.random() < 0.5:
        count += 1
    return 1 if data.tolist()[0] and count == 0 else 0


def checked(function: Any, epsilon: float, law: Any = LAW, **options: Any) -> Outcome:
    mechanism = lt.mechanism(max_choices=20)(function)
    gate = lt.PrivacyGate(mechanism, law, epsilon=epsilon, seed=7, **options)
    certificate = replace(
        gate.certificate,
        decided="2026-01-01T00:00:00Z",
        verdict=replace(
            gate.certificate.verdict, cost=replace(gate.certificate.verdict.cost, seconds=0.5)
        ),
    )
    code = {"YES": 0, "NO": 1, "INCONCLUSIVE": 3}[certificate.decision]
    return Outcome(f"vendor.py:{function.__name__}", code, certificate, None, mechanism, law)


def noisy(data: Any, rng: Any) -> int:
    return int(data.sum() + rng.integers(3))


YES = checked(respond, 1.0)
NO = checked(leak, 1.0)
OPEN = checked(late, 13.5, method="exhaustive")
WIDE = checked(
    noisy, 1.0, lt.ProductDistribution.bernoulli(np.full(5000, 0.01)), method="neighbourhoods"
)
BROKEN = Outcome("v.py:broken", 4, None, MechanismError(f"it raised {EVIL}"))
WRONG = Outcome("v.py:wrong", 2, None, InputError("epsilon=0"))
EVERY = [YES, NO, OPEN, WIDE, BROKEN, WRONG]


class Page(HTMLParser):
    """Tags in order, balanced, with their attributes; the text between them."""

    void = ("meta", "rect", "path", "br")

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


@pytest.mark.parametrize("outcome", EVERY, ids=lambda one: one.asked)
def test_each_page_is_well_formed_and_loads_nothing(outcome: Outcome) -> None:
    text = page([outcome])
    parsed = Page(text)
    names = {tag for tag, _ in parsed.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed"}
    assert "@import" not in text
    assert "url(" not in text
    for tag, attributes in parsed.tags:
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
        if tag == "svg":
            assert attributes["role"] == "img"
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in parsed.tags:
        assert set((attributes.get("aria-labelledby") or "").split()) <= set(ids)
    assert [tag for tag, _ in parsed.tags if re.fullmatch("h[1-6]", tag)][:2] == ["h1", "h2"]
    assert page([outcome]) == text


def test_the_words_are_the_verdicts() -> None:
    for outcome in (YES, NO, OPEN, WIDE):
        assert outcome.certificate is not None
        verdict = outcome.certificate.verdict
        text = Page(page([outcome])).text
        assert verdict.guarantee.sentence in text
        assert headline(verdict).removeprefix(verdict.decision).strip() in text
        assert outcome.certificate.code.code in text
        assert str(verdict.seed) in text
        assert "Not covered: timing, side effects, reuse." in text


def test_the_decisions_are_those_of_the_outcomes() -> None:
    assert [one.certificate.decision for one in EVERY[:4]] == ["YES", "NO", "INCONCLUSIVE", "NO"]
    found = re.findall(r'<p class="decision">([^<]*)</p>', page(EVERY))
    assert found == ["YES", "NO", "INCONCLUSIVE", "NO", "broken mechanism", "bad input"]
    assert "nothing is promised and nothing is refuted" in page([BROKEN])


def test_hostile_text_is_escaped_everywhere() -> None:
    hostile = replace(NO, asked=EVIL)
    text = page([hostile, BROKEN])
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 4
    assert "alert('x')" in Page(text).text


def test_the_witness_is_shown_with_its_numbers() -> None:
    text = Page(page([NO])).text
    assert "equal but for record 2" in text
    assert "1/2" in text
    assert "Loss at it: infinite; the claim allows" in text
    wide = Page(page([WIDE])).text
    assert "Two datasets of 5,000 records" in wide
    assert re.search(r"Shown are records \d+ to \d+\.", wide)


def test_who_is_exposed_and_the_profile_are_exact() -> None:
    rows = re.findall(r"<tr><td>record (\d)</td><td>([^<]*)</td></tr>", page([NO]))
    assert rows == [("0", "0"), ("1", "0"), ("2", "infinite"), ("3", "0")]
    # Either value of record 2 must be left out: the rarer one has mass 0.3.
    assert "At the claim: 0.3." in Page(page([NO])).text
    assert "At the claim: 0." in Page(page([YES])).text
    assert "Not drawn" in page([WIDE])


def test_several_outcomes_begin_with_a_table() -> None:
    parsed = Page(page(EVERY))
    links = [a["href"] for tag, a in parsed.tags if tag == "a"]
    assert links == [f"#check-{number}" for number in range(len(EVERY))]
    assert "All checks" not in page([YES])


def test_notebooks_show_the_same_words() -> None:
    assert NO.certificate is not None
    text = NO.certificate._repr_html_()
    assert "<script" not in text
    assert "NO refuted with a witness" in Page(text).text
    assert "nothing is released" in Page(text).text
    assert NO.certificate.verdict._repr_html_() in text


def test_the_drawings_as_figures() -> None:
    assert NO.mechanism is not None
    profile = lt.privacy_profile(NO.mechanism, LAW, epsilons=[0.5, 1.0])
    assert len(profile_figure(profile, claimed=1.0).axes[0].lines) == 2
    bars = exposure_figure(NO.mechanism, LAW, claimed=1.0).axes[0].patches
    assert [bar.get_height() > 0 for bar in bars] == [False, False, True, False]
    assert NO.certificate is not None
    drawn = witness_figure(NO.certificate.verdict, NO.mechanism).axes[0]
    assert sorted(bar.get_height() for bar in drawn.patches) == pytest.approx([0, 0.5, 0.5, 1])
    with pytest.raises(InputError, match="no witness"):
        witness_figure(YES.certificate.verdict, NO.mechanism)
    with pytest.raises(InputError, match="too many datasets"):
        exposure_figure(NO.mechanism, lt.ProductDistribution.uniform(lt.Hypercube(40)))
