"""Summaries of loops are compared with runs of the code as it is written, also by chance."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.samplers import summed_up
from liptest.enumerate.samplers.summed_up import ChanceTree
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.mechanisms.laws import OutputLaw
from liptest.values.branching import Branches

HERE = np.array([0])


def last_of_many(data: Any, rng: Any) -> Any:
    """The first runs all have k = 0: each k has runs without an end."""
    k = int(rng.integers(8))
    while True:
        j = int(rng.integers(3))
        if j > 0:
            return k, j


def exchanged(law: OutputLaw) -> OutputLaw:
    """Two outputs that no first run leads to have each other's probability."""
    masses = dict(zip(law.outputs, law.fractions or (), strict=True))
    masses[6, 1] += masses.pop((7, 1))
    return OutputLaw.from_fractions(masses)


def law_where(change: Any, monkeypatch: pytest.MonkeyPatch) -> OutputLaw:
    tell = summed_up._SummedUp._summed

    def told(*arguments: Any) -> Any:
        found = tell(*arguments)
        assert found is not None
        return replace(found, law=change(found.law))

    monkeypatch.setattr(summed_up._SummedUp, "_summed", told)
    monkeypatch.setattr(summed_up, "_SOME_RUNS", 20)
    return lt.mechanism(last_of_many).law(HERE)


def test_a_summary_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    law = law_where(lambda law: law, monkeypatch)
    assert law.unexplored == 0
    assert set(law.fractions or ()) == {Fraction(1, 16)}


def test_one_that_is_wrong_behind_the_first_runs_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    law = law_where(exchanged, monkeypatch)
    assert (7, 1) in law.outputs
    assert law.unexplored > 0


class Walked:
    """Three choices, of weights 1 : 2 : 5 and of equal ones; what was met."""

    def __init__(self, tree: ChoiceTree) -> None:
        self.tree = tree

    def __call__(self) -> tuple[int, ...]:
        ways: tuple[Branches, ...] = ((1, 0, 2, 5), 3, (1, 1))
        return tuple(self.tree.choose(way) for way in ways)


def test_runs_by_chance_are_counted_once_with_their_own_weights() -> None:
    tree = ChanceTree("walked")
    law = tree.law(Walked(tree))
    for (first, _, _), mass in law.items():
        assert mass == Fraction((1, 0, 2, 5)[first], 8 * 6)
    assert sum(law.values()) + tree.unexplored == 1
    # 64 runs meet nearly all of 18 ways, the likely ones above all.
    assert len(law) >= 15
    assert sum(first == 3 for first, _, _ in law) == 6
