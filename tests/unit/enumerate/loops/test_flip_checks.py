"""A rule for loops of tries that is misapplied is noticed: the unmodified program is run beside it.

Each test breaks what is read off the code in one way, so that another program than the one that is
written would be proved.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.folded import folding
from liptest.enumerate.loops import flip_loops
from liptest.enumerate.loops.flip_checks import _FewRuns
from liptest.enumerate.loops.flip_loops import FlipLoop
from liptest.enumerate.symbols.symbolic_paths import NoPaths

N = lt.RecordGrid([3] * 60)


def by_permutation(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    for k in rng.permutation(3):
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return int(k)
    return None


def by_trying_again(data: Any, rng: Any) -> Any:
    scores = np.bincount(data, minlength=3)
    while True:
        k = int(rng.integers(3))
        if rng.random() < math.exp(0.5 * (scores[k] - scores.max())):
            return k


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def other_kind(loop: FlipLoop) -> FlipLoop:
    return replace(loop, is_order=not loop.is_order)


def other_chances(loop: FlipLoop) -> FlipLoop:
    return replace(loop, weight=parsed("math.exp(0.499 * (scores[k] - scores.max()))"))


def other_places(loop: FlipLoop) -> FlipLoop:
    return replace(loop, weight=parsed("math.exp(0.5 * (scores[2 - k] - scores.max()))"))


def other_answer(loop: FlipLoop) -> FlipLoop:
    return replace(loop, leaf=[ast.Return(parsed("2 - int(k)"))])


@pytest.mark.parametrize("program", [by_permutation, by_trying_again])
@pytest.mark.parametrize("change", [other_kind, other_chances, other_places, other_answer])
def test_what_is_read_wrongly_is_not_proved(
    program: Any, change: Callable[[FlipLoop], FlipLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(*given: Any) -> FlipLoop | None:
        loop = flip_loops.read_flips(*given)
        return loop and change(loop)

    monkeypatch.setattr(folding, "read_flips", changed)
    paths = lt.mechanism(program).align_paths(N, way="branches")
    assert isinstance(paths, NoPaths)
    assert "draw" in paths.reason or "plain data" in paths.reason


def test_a_few_runs_of_a_draw_with_many_outcomes() -> None:
    tree = _FewRuns("it", 3, 10)
    assert tree.law(lambda: tree.choose(5)) == {k: Fraction(1, 5) for k in range(3)}
    assert tree.unexplored == Fraction(2, 5)


@pytest.mark.slow
@pytest.mark.parametrize("program", [by_permutation, by_trying_again])
def test_a_proof_names_the_rule_and_its_line(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "method": "alignment", "delta": 1e-11}
    found = lt.check_privacy(lt.mechanism(program), N, epsilon=1.0, **options)
    assert found.decision == "YES"
    first = program.__code__.co_firstlineno + 2
    assert f"(theory S10) at test_flip_checks.py:{first}" in str(found)
