"""The fuzz of random programs with the repetition of leaves switched off: nothing is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from liptest.enumerate.intercept import generator
from tests.property import random_programs as fuzz


def test_the_fuzz_finds_a_wrong_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coin that the analysis takes for another one is found, by all outcomes and by runs."""
    monkeypatch.setattr(generator.ChoiceGenerator, "integers", lambda *arguments: np.int64(0))
    program = "def mech(data, rng):\n    return int(rng.integers(0, 2))\n"
    monkeypatch.setattr(fuzz, "random_program", lambda kind, seed: program)
    for name in ("coins", "bits"):
        assert fuzz.examined(fuzz.KINDS[name], 1).word == "wrong"


@pytest.mark.parametrize("name", list(fuzz.KINDS))
def test_programs_are_programs(name: str) -> None:
    """They run, and most of them answer."""
    answers: list[Any] = []
    for seed in range(20):
        function = fuzz.function_of(fuzz.random_program(fuzz.KINDS[name], seed), f"{name} {seed}")
        with np.errstate(all="ignore"):
            answers.append(fuzz.outcome(function, np.random.default_rng(seed)))
    assert len({repr(one) for one in answers}) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", list(fuzz.KINDS))
def test_no_law_is_wrong(name: str) -> None:
    words, wrong = fuzz.tally(name, range(10_000, 10_020))
    assert not wrong, wrong[0].text + wrong[0].detail
    assert words["agree"] > 4


@pytest.mark.parametrize(
    "body",
    [
        # To look at the comparison makes the numbers noise, of which their array knew nothing.
        "u = rng.random(2); v = rng.random(2); return tuple(((u > v) > u).tolist())",
        "u = rng.random(2); v = rng.random(2); return tuple((u < (u > v)).tolist())",
        "u = rng.random(2); v = rng.random(2); return tuple((u >= (u > v)).tolist())",
        "u = rng.random(1); v = rng.random(1); return bool((u + (u > v) > 1.5)[0])",
        # Plain numbers among those with noise: NumPy's words on objects are not output.
        "q = rng.laplace(); return tuple((np.round(np.array([q, 0.25])) > 0).tolist())",
        "q = rng.laplace(); return tuple(np.isnan(np.array([q, 0.25])).tolist())",
    ],
)
def test_what_the_fuzz_found(body: str) -> None:
    text = "def mech(data, rng):\n    " + body.replace("; ", "\n    ") + "\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fuzz, "random_program", lambda kind, seed: text)
        found = fuzz.examined(fuzz.KINDS["floats"], 1)
    assert found.word in ("agree", "refused"), found.detail
