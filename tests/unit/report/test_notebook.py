"""What a notebook shows: the words of the verdict and the pictures, each with its own style."""

from __future__ import annotations

import gc
import re
import weakref
from xml.etree import ElementTree

import pytest

import liptest as lt
from liptest.privacy.verdicts import PrivacyVerdict, find_kept_mechanism

LAW = lt.ProductDistribution.uniform(lt.Hypercube(2))


def noisy(data, rng):
    return float(data.sum() + rng.laplace(0, 0.9))


def flip(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)


SAMPLER = lt.Sampler(lambda data, n, rng: data[0] ^ (rng.random(n) < 0.25), name="<script>")
VERDICTS = {
    "real NO": lambda: lt.check_privacy(noisy, LAW, epsilon=0.9),
    "NO with delta": lambda: lt.check_privacy(noisy, LAW, epsilon=0.9, delta=1e-6),
    "proof": lambda: lt.check_privacy(flip, LAW, epsilon=1.1, method="exhaustive"),
    "rho": lambda: lt.check_privacy(flip, LAW, rho=0.01, method="exhaustive"),
    "samples": lambda: lt.check_samples(SAMPLER, LAW, epsilon=0.5, samples=20_000, seed=1),
}


def parsed(text: str) -> ElementTree.Element:
    """The pieces as one document, so that nothing is left open."""
    whole = text.replace("<br>", "<br/>").replace('role="img"', 'role="img" xmlns=""')
    return ElementTree.fromstring(f"<div>{whole}</div>")


@pytest.mark.slow
@pytest.mark.parametrize("name", VERDICTS)
def test_words_and_pictures(name: str) -> None:
    verdict = VERDICTS[name]()
    text = verdict._repr_html_()
    assert "<script" not in text
    assert "<style" not in text
    page = parsed(text)
    said = " ".join(" ".join(page.itertext()).split())
    for line in str(verdict).splitlines():
        assert " ".join(line.split()) in said
    pictures = page.findall(".//svg[@role]")
    assert len(pictures) >= (2 if verdict.witness else 1)
    for shape in (one for picture in pictures for one in picture.iter()):
        assert "class" not in shape.attrib
        if shape.tag in ("rect", "text", "line"):
            assert "style" in shape.attrib
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_two_verdicts_have_no_id_in_common_and_one_the_same_bytes() -> None:
    one, other = VERDICTS["proof"](), VERDICTS["rho"]()
    ids = [set(re.findall(r' id="([^"]+)"', each._repr_html_())) for each in (one, other)]
    assert not ids[0] & ids[1]
    assert one._repr_html_() == one._repr_html_()


def test_a_verdict_that_was_read_looks_the_same() -> None:
    verdict = VERDICTS["rho"]()
    again = PrivacyVerdict.from_json(verdict.to_json())
    assert again._repr_html_() == verdict._repr_html_()


@pytest.mark.slow
def test_real_answers_have_both_densities_with_the_event_shaded() -> None:
    verdict = VERDICTS["real NO"]()
    page = parsed(verdict._repr_html_())
    lines = list(page.iter("polyline"))
    assert ["#4a86c8" in one.get("style", "") for one in lines] == [True, False]
    assert len([one for one in page.iter("polygon") if "opacity" in one.get("style", "")]) == 2
    described = " ".join(page.itertext())
    assert "below 0, have the probability 0.5 on the first dataset and 0.1646" in described
    # What was read from JSON has no mechanism to ask, and says the same in words.
    again = PrivacyVerdict.from_json(verdict.to_json())._repr_html_()
    assert "<polyline" not in again
    assert "0.164596" in again


@pytest.mark.slow
def test_a_mechanism_is_kept_as_long_as_its_verdict() -> None:
    verdict = VERDICTS["real NO"]()
    kept = weakref.ref(find_kept_mechanism(verdict))
    assert kept() is not None
    del verdict
    gc.collect()
    assert kept() is None
