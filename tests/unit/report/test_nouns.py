"""What a coordinate of a dataset is called, and laws without probabilities of single outputs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.verdicts import remedy_lines
from liptest.report.html import report_html
from liptest.report.law_rows import witness_rows
from liptest.report.plots import exposure_figure
from liptest.report.text import finding_lines


def place(data: Any, rng: Any) -> int:
    return int(np.argmax([float(x) + rng.exponential(0.5) for x in data]))


def noisy(data: Any, rng: Any) -> float:
    return data.sum() + rng.laplace(0, 0.5)  # type: ignore[no-any-return]


ANSWERS = lt.ProductDistribution.uniform(lt.AnswerGrid([3, 3], relation="all"))
ONE = lt.ProductDistribution.uniform(lt.AnswerGrid([3, 3], relation="one"))
COUNTS = lt.ProductDistribution.uniform(lt.Hypergrid([3, 3]))
RECORDS = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))


def words(law: Any) -> list[str]:
    """All texts of one NO."""
    mechanism = lt.mechanism(place)
    verdict = lt.check_privacy(mechanism, law, epsilon=0.5, seed=1)
    assert verdict.decision == "NO"
    whole = report_html(verdict, mechanism, distribution=law)
    page = re.sub(r"<(style|title).*?</\1>", "", whole, flags=re.DOTALL)
    return [str(verdict), "\n".join(finding_lines(verdict)), page]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "noun"), [(ANSWERS, "answer"), (ONE, "answer"), (COUNTS, "count"), (RECORDS, "record")]
)
def test_a_witness_names_what_moved(law: Any, noun: str) -> None:
    told = words(law)
    for text in told:
        assert re.search(rf"{noun}s? \d", text)
        for other in {"answer", "count", "record"} - {noun}:
            assert not re.search(rf"\b{other}s? \d", text)
    assert f'<th scope="row">{noun}</th>' in told[2]
    assert f"changed {noun}" in told[2]


def test_samples_name_it_too() -> None:
    sampler = lt.Sampler(lambda data, n, rng: np.full(n, data[0] * 10))
    for law, noun in ((ANSWERS, "answer"), (ONE, "answer"), (COUNTS, "count"), (RECORDS, "record")):
        text = str(lt.check_samples(sampler, law, epsilon=1.0, samples=40_000, seed=1))
        assert re.search(rf"differ only in {noun}s? ", text), text


@pytest.mark.slow
def test_a_plot_names_it_too() -> None:
    pytest.importorskip("matplotlib")
    axes = exposure_figure(lt.mechanism(place), ONE, claimed=0.5).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["answer 0", "answer 1"]


@pytest.mark.slow
def test_real_outputs_are_drawn_as_those_that_decide_and_the_others() -> None:
    mechanism = lt.mechanism(noisy)
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0, seed=1)
    witness = verdict.witness
    assert witness is not None
    rows = witness_rows(mechanism, witness)
    assert [row.decides for row in rows] == [True, False]
    assert rows[0].label == repr(witness.output)
    for side in ("probability", "neighbour_probability"):
        assert getattr(rows[0], side) == getattr(witness, side)
        assert sum(getattr(row, side) for row in rows) == pytest.approx(1.0)
    page = report_html(verdict, mechanism, distribution=law)
    assert "any other output" in page
    assert "not drawn" not in page


def two_sided(data: Any, rng: Any) -> int:
    """Whole noise that stops at 30, on both sides."""
    size, sign = 0, 1 if rng.random() < 0.5 else -1
    while size < 30 and rng.random() < 0.5:
        size += 1
    return int(data.sum()) + sign * size


@pytest.mark.slow
def test_both_tails_have_a_row_each_and_the_remedy_is_told() -> None:
    mechanism = lt.mechanism(two_sided)
    verdict = lt.check_privacy(mechanism, lt.Hypercube(4), epsilon=0.5, seed=1)
    witness = verdict.witness
    assert witness is not None
    rows = witness_rows(mechanism, witness)
    tails = [row for row in rows if row.outputs > 1]
    assert [row.label.split()[1] for row in tails][:2] == ["lower", "higher"]
    for row in tails[:2]:  # together they would have no loss
        first, second = row.probability, row.neighbour_probability
        assert abs(np.log(first / second)) > 0.5
    page = report_html(verdict, mechanism)
    told = remedy_lines(verdict)
    assert told
    assert all(line.replace(">=", "&gt;=") in page for line in told)
