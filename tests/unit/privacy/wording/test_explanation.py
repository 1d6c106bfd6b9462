"""A verdict in three levels: one line, the text, the theorems."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.wording import explanation

THEORY = Path(__file__).parents[4] / "docs" / "theory"
BITS = lt.ProductDistribution.uniform(lt.Hypercube(4))


def count(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))


def flip(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)


def whole(data, rng):
    """No law of it is finite, and no shift is known."""
    return int(data.sum() ** 2) + int(rng.geometric(0.5))


CASES = {
    "alignment": (count, 1.0, {"method": "alignment"}),
    "exhaustive": (flip, "log(3)", {"method": "exhaustive"}),
    "NO": (flip, 0.5, {"method": "exhaustive"}),
    "neighbourhoods": (flip, 2.0, {"method": "neighbourhoods", "exception_mass": 0.1}),
    "light": (flip, 2.0, {"method": "light-neighbourhoods", "exception_mass": 0.1}),
    "edges": (flip, 2.0, {"method": "edges", "exception_mass": 0.1}),
    "group": (flip, 2.0, {"method": "group", "exception_mass": 0.1}),
    "tester": (flip, 2.0, {"method": lt.testers.VarianceEdges(), "exception_mass": 0.1}),
    "search": (flip, 2.0, {"method": "search"}),
    "auto": (flip, 2.0, {}),
}


@pytest.fixture(scope="module")
def verdicts():
    return {
        name: lt.check_privacy(
            lt.mechanism(outputs=[0, 1] if code is flip else None)(code),
            BITS,
            epsilon=lt.log(3) if eps == "log(3)" else eps,
            seed=1,
            **more,
        )
        for name, (code, eps, more) in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_one_line_says_the_decision_and_does_not_say_more(verdicts, name):
    verdict = verdicts[name]
    line = verdict.explain("line")
    assert "\n" not in line
    assert line.startswith(f"{verdict.mechanism}, {verdict.claim}: ")
    said = {
        "proof": "YES, proved.",
        "sampling": "YES by sampling, not a proof.",
        "refutation": "NO.",
        "none": "No answer.",
    }[verdict.guarantee.kind]
    assert said in line
    assert ("YES" in line) == (verdict.decision == "YES")
    if verdict.guarantee.kind == "sampling":
        assert "outside a set of untypical datasets" in line
    if verdict.implemented is not None:
        assert f"As implemented, with NumPy's floats: {verdict.implemented.decision}." in line


def test_the_text_is_what_print_shows(verdicts):
    assert all(one.explain() == one.explain("text") == str(one) for one in verdicts.values())


@pytest.mark.parametrize("name", CASES)
def test_the_theorems_end_in_what_is_promised(verdicts, name):
    verdict = verdicts[name]
    lines = verdict.explain("theorems").splitlines()
    numbered = [line for line in lines if re.match(r"\d+\. ", line)]
    assert [int(line.split(".")[0]) for line in numbered] == list(range(1, len(numbered) + 1))
    assert f"So, by {verdict.guarantee.source}: {verdict.guarantee.sentence}" in lines
    assert lines[-1].startswith("Not covered: ")


def test_every_number_is_a_heading_or_statement_of_its_page():
    marks = {mark for steps in explanation._STEPS.values() for mark, _ in steps}
    sampled = (*explanation._FIXED, *explanation._BETS)
    marks |= {mark for mark, _ in (*explanation._TESTER, *sampled)} | {"6.1", "1.5", "B5"}
    for mark in marks:
        page = re.search(r"docs/theory/(\w+)\.md", explanation._place(mark))[1]
        text = (THEORY / f"{page}.md").read_text(encoding="utf-8")
        pattern = rf"^(?:## {re.escape(mark)} |\*\*{re.escape(mark)}\. )"
        assert re.search(pattern, text, re.MULTILINE), mark


def test_another_level_is_refused(verdicts):
    with pytest.raises(lt.errors.InputError, match="line, text, theorems"):
        verdicts["NO"].explain("short")


def test_a_first_sentence_ends_where_it_does():
    assert explanation._first_sentence("a factor of e^1 = 2.718, for all. No more.") == (
        "A factor of e^1 = 2.718, for all."
    )


@pytest.mark.slow
def test_an_open_case_is_no_answer():
    verdict = lt.check_privacy(
        lt.mechanism(whole), BITS, epsilon=1.0, method="search", seed=1, budget=50
    )
    assert np.isin(verdict.decision, ["INCONCLUSIVE", "NO"])
    if verdict.decision == "INCONCLUSIVE":
        assert ": No answer. " in verdict.explain("line")


RESPONSE = lt.Sampler(lambda data, n, rng: data[0] ^ (rng.random(n) < 0.25), name="response")
SAMPLED = {
    "YES": {"epsilon": 1.2, "resolution": 0.1, "samples": 200_000},
    "NO": {"epsilon": 0.5, "samples": 20_000},
    "open": {"epsilon": 1.0986, "resolution": 0.01, "samples": 2_000},
    "NO by bets": {"epsilon": 0.5, "samples": 20_000, "sequential": True},
    "open by bets": {"epsilon": 1.2, "samples": 2_000, "sequential": True},
}


@pytest.mark.parametrize("name", SAMPLED)
def test_verdicts_of_samples_are_explained(name):
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_samples(RESPONSE, law, seed=1, **SAMPLED[name])
    line = verdict.explain("line")
    said = {
        "YES": "YES by samples, at a resolution, not a proof.",
        "NO": "NO by samples, with a stated chance of error.",
        "INCONCLUSIVE": "No answer.",
    }
    assert "\n" not in line
    assert line.startswith(f"response, {verdict.claim}: {said[verdict.decision]} ")
    assert (str(verdict.decision) == name.split()[0]) == (not name.startswith("open"))
    if verdict.decision != "INCONCLUSIVE":
        assert "this test hit an event of probability <= 1 in 1,000,000" in line
        assert "On a condition: the samples of one dataset are independent" in line
    assert verdict.explain() == str(verdict)
    chain = verdict.explain("theorems")
    assert ("theory B1, docs/theory/sequential.md" in chain) == name.endswith("bets")
    assert ("theory 3.14" in chain.split("So, by")[0]) == (
        not name.endswith("bets") or verdict.decision != "NO"
    )
    assert chain.splitlines()[-1].startswith("Not covered: ")
    assert f"So, by {verdict.guarantee.source}: {verdict.guarantee.sentence}" in chain
    with pytest.raises(lt.errors.InputError, match="line, text, theorems"):
        verdict.explain("short")
