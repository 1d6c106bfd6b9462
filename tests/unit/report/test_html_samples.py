"""The page about samples: the same words as the verdict, and that it is not a certain answer."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import liptest as lt
from liptest.cli import main
from liptest.evidence.certificate import certify_samples
from liptest.report.html import report_html
from tests.unit.report.pages import EVIL, sampled_verdicts
from tests.unit.report.test_html import Page

VERDICTS = sampled_verdicts()


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_verdicts_are_of_every_kind() -> None:
    assert [one.decision for one in VERDICTS] == ["NO", "NO", "YES", "INCONCLUSIVE"]


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda one: str(one.decision))
def test_the_page_says_what_the_verdict_says(verdict: Any) -> None:
    text = report_html(verdict)
    assert EVIL not in text
    told = flat(unescape(Page(text).text))
    for words in (verdict.note, verdict.tested, verdict.guarantee.sentence, str(verdict.claim)):
        assert flat(words) in told
    assert "It does not justify a release" in told
    bound = verdict.shown_bound
    if bound is not None:
        for draws, hits in zip(bound.draws, bound.hits, strict=True):
            assert f"{draws:,}" in told
            assert f"{hits:,}" in told
        assert f"{100 * bound.confidence:.8g} %" in told
    assert ("Resolution reached" in told) is (verdict.decision != "NO")
    assert text == report_html(verdict)


def test_a_certificate_shows_its_hashes() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    sampler = lt.Sampler(lambda x, n, rng: rng.integers(0, 2, n), name="fair")
    verdict = lt.check_samples(sampler, law, epsilon=1.0, samples=4_000, seed=1)
    certificate = certify_samples(verdict, sampler, law)
    text = report_html(certificate)
    assert certificate.code.code in text
    assert certificate.data_hash in text
    assert certificate.code.code not in report_html(verdict)
    assert certificate.code.code in certificate._repr_html_()


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda one: str(one.decision))
def test_notebooks_show_all_words(verdict: Any) -> None:
    text = re.sub("<[^>]+>", " ", verdict._repr_html_())
    assert flat(unescape(text)).startswith(flat(str(verdict)))
    assert EVIL not in verdict._repr_html_()


@pytest.mark.slow
def test_the_command_writes_it(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    source = "def even(x, n, rng):\n    return rng.integers(0, 2, n)\n"
    (tmp_path / "v.py").write_text(source)
    asked = ["samples", "v.py:even", "--epsilon", "1", "--samples", "4000", "--seed", "1"]
    asked += ["--dimension", "1", "--probabilities", "0.5"]
    assert main([*asked, "--html", "a.html", "--json", "a.json"]) == 3
    page = (tmp_path / "a.html").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["code"]["hash"] in page
    assert "v:even" in page
    assert main([*asked, "--html", "no/a.html", "--json", "b.json"]) == 2
    assert not (tmp_path / "b.json").exists()  # nothing is run
    assert "--html no/a.html" in capsys.readouterr().err
