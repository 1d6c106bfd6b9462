"""A witness as lines: both datasets in full or around the change, expressions that evaluate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.claims import Claim
from liptest.privacy.witnesses import PrivacyWitness
from liptest.report.text import dataset_expression, finding_lines, law_expressions, witness_lines
from tests.unit.privacy.cases import closed


def witness(dataset, neighbour, **changes):
    made = PrivacyWitness(
        dataset=tuple(dataset),
        neighbour=tuple(neighbour),
        event=(0,),
        probability=0.75,
        neighbour_probability=0.25,
        loss_lower=1.0986122886681096,
        loss_upper=1.0986122886681098,
        claim=Claim(1.0),
        exact=("3/4", "1/4"),
    )
    return replace(made, **changes)


def test_a_short_witness_is_shown_whole():
    assert witness_lines(witness((0, 10, 2), (0, 9, 2))) == [
        "two datasets of 3 records, equal except for record 1 (counted from 0):",
        "-  0 10  2",
        "+  0  9  2",
        "?    ^^",
        "probability of output 0:",
        "- 0.75   exactly 3/4",
        "+ 0.25   exactly 1/4",
        "loss 1.09861228867, claim at most 1 (epsilon 1)",
        "Certain: certified arithmetic, not a statistical estimate.",
    ]


@pytest.mark.parametrize("place", [0, 3, 50, 97, 99])
def test_a_long_witness_is_shown_around_the_change(place):
    dataset = np.arange(100) % 2
    neighbour = dataset.copy()
    neighbour[place] ^= 1
    lines = witness_lines(witness(dataset.tolist(), neighbour.tolist()))
    first, second, marks = lines[1:4]
    where = marks.index("^")
    assert marks.count("^") == 1
    assert {first[where], second[where]} == {"0", "1"}
    assert first[1:where] == second[1:where]
    assert first[where + 1 :].split("(")[0] == second[where + 1 :].split("(")[0]
    assert f"(sum {dataset.sum()})" in first
    assert f"(sum {neighbour.sum()})" in second
    assert len(first) < 80
    assert ("(from record" in first) == (place > 8)


def test_pairs_of_the_group_form_name_some_of_the_records():
    changed = witness([0] * 9, [1] * 9, distance=9)
    assert "records 0, 1, 2, 3, .. (counted" in witness_lines(changed)[0]
    assert "claim at most 9 (epsilon 1)" in "\n".join(witness_lines(changed))


def test_an_infinite_loss_and_an_event_of_several_outputs():
    infinite = witness((0,), (1,), loss_lower=np.inf, loss_upper=np.inf)
    assert "loss infinite" in "\n".join(witness_lines(infinite))
    event = witness((0,), (1,), claim=Claim(1.0, 0.1), event=(0, 1), excess=0.25)
    text = "\n".join(witness_lines(event))
    assert "one of 2 outputs (0, 1)" in text
    assert "at least 0.25, claim 0.1" in text


def test_a_certified_ball_is_not_called_exact():
    ball = witness((0,), (1,), exact=("[0.75 +/- 1e-20]", "[0.25 +/- 1e-20]"))
    assert "exactly" not in "\n".join(witness_lines(ball))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=200))
def test_an_expression_is_the_dataset(dataset):
    text = dataset_expression(dataset)
    assert np.asarray(eval(text, {"np": np})).tolist() == dataset
    assert len(text) <= max(60, len(repr(dataset)))


def test_a_long_table_of_few_ones_is_a_short_expression():
    dataset = (np.arange(5000) % 500 == 7).astype(int).tolist()
    assert len(dataset_expression(dataset)) < 100
    assert dataset_expression([0] * 5000) == "0 * np.arange(5000)"


def test_the_expressions_give_the_probabilities_of_the_witness():
    mechanism = closed(lt.Hypercube(1), [[0.75, 0.25], [0.25, 0.75]])
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0)
    laws = [
        eval(text, {"lt": lt, "np": np, "m": mechanism})
        for text in law_expressions(verdict.witness, "m")
    ]
    output = verdict.witness.output
    assert laws[0][output] == pytest.approx(verdict.witness.probability)
    assert laws[1][output] == pytest.approx(verdict.witness.neighbour_probability)
    lines = finding_lines(verdict)
    assert lines[:2] == ["claim: epsilon 1", "NO refuted with a witness"]
    assert max(map(len, lines)) <= 92


@pytest.mark.slow
def test_the_loss_of_what_is_printed_is_told_where_it_is_not_the_largest() -> None:
    @lt.mechanism
    def twice(data, rng):
        return [int(data[0]) + rng.laplace(), int(data[0]) + rng.laplace()]

    found = lt.check_privacy(twice, lt.Hypercube(1), epsilon=0.5)
    shown = found.witness
    own = abs(np.log(shown.probability / shown.neighbour_probability))
    assert 0.5 < own < 1.99
    words = f"largest loss 2 (this output: {own:.6g}), more than 0.5 (claim epsilon 0.5)."
    assert words in str(found)
