"""Random choices that lead to an output: found, and replayed to the same output."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.cli import main
from liptest.cli.loading import load_mechanism
from liptest.enumerate.trees.tracing import TracedChoice as Choice

DATA = np.array([1, 0, 1])


@lt.mechanism
def respond(data: Any, rng: Any) -> Any:
    if rng.random() < 0.25:  # asked here
        return "lie", int(rng.integers(3))
    return int(rng.choice([0, int(data[0])], p=[0.5, 0.5])) + int(data[1])


def test_a_trace_leads_to_its_output_and_says_where() -> None:
    choices = respond.trace(DATA, ("lie", 2))
    assert [choice.chosen for choice in choices] == [0, 2]
    assert [choice.probability for choice in choices] == [Fraction(1, 4), Fraction(1, 3)]
    assert choices[0].draw.startswith("test_tracing.py:")
    assert choices[0].draw.endswith("if rng.random() < 0.25:  # asked here")
    assert "rng.integers(3)" in choices[1].draw


def test_every_output_has_a_trace_that_replays() -> None:
    law = respond.law(DATA)
    for output in law.outputs:
        choices = respond.trace(DATA, output)
        again = [Choice.from_dict(json.loads(json.dumps(one.to_dict()))) for one in choices]
        assert respond.replay(DATA, again) == output
        assert math.prod(one.probability for one in choices) <= law.exact(output)


def test_outputs_by_type_have_traces_too() -> None:
    @lt.mechanism(typed_outputs=True)
    def kinds(data: Any, rng: Any) -> Any:
        return [1, True, 1.0, {"a": -0.0, "b": [data[0]]}][rng.integers(4)]

    law = kinds.law(DATA)
    assert len(law) == 4
    for place, output in enumerate(law.outputs):
        assert [choice.chosen for choice in kinds.trace(DATA, output)] == [place]
    assert [choice.chosen for choice in kinds.trace(DATA, True)] == [1]


def test_an_impossible_output_has_none() -> None:
    assert respond.trace(DATA, 17) is None


def test_choices_of_another_dataset_or_version_are_refused() -> None:
    choices = respond.trace(DATA, ("lie", 2))
    wrong = [
        choices[:1],
        [*choices, choices[0]],
        [Choice(3, 0), choices[1]],
        [],
    ]
    for one in wrong:
        with pytest.raises(lt.errors.InputError, match="choices are not those"):
            respond.replay(DATA, one)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.integers(1, 4), max_size=4), st.integers(0, 2))
def test_traces_of_random_programs(sizes: list[int], stop: int) -> None:
    def program(data: Any, rng: Any) -> Any:
        seen = []
        for size in sizes:
            seen.append(int(rng.integers(size)))
            if seen[-1] == stop:
                break
        return tuple(seen)

    mechanism = lt.mechanism(program)
    law = mechanism.law(DATA)
    for output in law.outputs:
        choices = mechanism.trace(DATA, output)
        # Every output has one path here.
        assert math.prod((c.probability for c in choices), start=Fraction(1)) == law.exact(output)
        assert mechanism.replay(DATA, choices) == output


def test_witnesses_carry_traces() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    witness = lt.check_privacy(respond, law, epsilon=0.1, seed=1).witness
    for side, points in [("dataset", witness.dataset), ("neighbour", witness.neighbour)]:
        choices = [Choice.from_dict(one) for one in witness.trace[side]]
        if witness.probability and witness.neighbour_probability:
            assert respond.replay(np.array(points), choices) == witness.output
    declared = lt.ClosedForm([0, 1], lambda x: np.log([[0.9, 0.1]]) * np.ones((len(x), 1)))
    assert declared.trace(np.zeros(3, dtype=np.int8), 0) is None


@pytest.mark.slow
def test_weights_of_many_digits_are_not_written_down(
    tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.py").write_text(
        "import numpy as np\n"
        "def f(data, rng):\n"
        "    return int(((rng.random(len(data)) < 0.7310585786300049) ^ (data == 1)).sum())\n"
    )
    mechanism, _ = load_mechanism("v.py:f")
    law = lt.ProductDistribution.uniform(lt.Hypercube(160))
    verdict = lt.check_privacy(mechanism, law, epsilon=0.1, method="edges", seed=1, budget=2)
    assert verdict.witness.trace is None
    assert '"NO"' in verdict.to_json()
    assert main(["law", "v.py:f", "--ones", "0", "--dimension", "300", "--trace", "200"]) == 0
    assert "probability about (" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_prints_a_trace(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.py").write_text(
        "import liptest as lt\n"
        "def f(data, rng):\n    return 'yes' if rng.random() < 0.75 else data.sum() % 2\n"
        "g = lt.ClosedForm([0], lambda x: 0 * x[:, :1])\n"
    )
    arguments = ["--dataset", "1,0,1", "--trace"]
    assert main(["law", "v.py:f", *arguments, "yes"]) == 0
    printed = capsys.readouterr().out
    assert "1. branch 0 of 2, probability 3/4 (0.75)   v.py:3: return 'yes'" in printed
    assert main(["law", "v.py:f", *arguments, "no"]) == 2
    assert "it has: 'yes', 0" in capsys.readouterr().err
    assert main(["law", "v.py:g", *arguments, "0"]) == 2
    assert "declared, not enumerated" in capsys.readouterr().err


def test_choices_about_noise_have_a_probability_together(
    tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.py").write_text(
        "import numpy as np\n"
        "def f(data, rng):\n"
        "    return int(np.clip(np.round(data.sum() + rng.laplace(0, 2)), 0, 3))\n"
    )
    assert main(["law", "v.py:f", "--dataset", "1", "--trace", "2"]) == 0
    expected = (math.exp(-0.25) - math.exp(-0.75)) / 2
    printed = capsys.readouterr().out
    assert f"together: probability {expected:.6g}, integrated." in printed
    assert printed.count("probability") == 1


@pytest.mark.slow
def test_a_loop_that_a_budget_ends_has_a_law_that_is_printed(
    tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.py").write_text(
        "def f(data, rng):\n    n = 0\n    while rng.random() < 0.9:\n        n += 1\n"
        "    return 'end' if n >= 0 else 'below'\n"
    )
    assert main(["law", "v.py:f", "--dataset", "1"]) == 0
    printed = capsys.readouterr().out
    assert "'end'\t1\n" in printed
    assert "unexplored probability: 4.9e-20" in printed


def test_what_is_no_dataset_is_named(tmp_path: Any, capsys: Any) -> None:
    for text in ("", "1,x", "1,,0"):
        assert main(["law", "v.py:f", "--dataset", text]) == 2
        assert f"dataset={text!r} must be numbers" in capsys.readouterr().err


def test_an_output_that_is_not_a_number_has_a_trace() -> None:
    weights = np.array([1.0, math.inf] * 5)

    @lt.mechanism
    def product(data: Any, rng: Any) -> Any:
        return weights @ data * rng.integers(1, 3)

    choices = product.trace(np.zeros(10, dtype=np.int64), math.nan)
    assert choices is not None
    assert math.isnan(product.replay(np.zeros(10, dtype=np.int64), choices))
    verdict = lt.check_privacy(product, lt.Hypercube(10), epsilon=1, seed=1)
    assert str(verdict.decision) == "NO"  # 0 times infinity; ones alone have an infinite sum
