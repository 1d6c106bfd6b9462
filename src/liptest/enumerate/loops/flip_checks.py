"""Loops that try places: the program as it is written beside the one that chooses at once.

What ``flip_loops`` makes of a program is one choice with weights. Its law on plain data is compared
with runs of the unmodified program, whose orders and coins are enumerated: what they explore may
nowhere exceed the law, and the law may exceed it by what is left open only (theory T9). So a rule
that is misapplied there costs no more than that in total variation.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, precision
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.symbols.path_trees import MAX_CHOICES_OF_PATHS, PlainTree
from liptest.enumerate.trees.running import RandomFunction, Run
from liptest.errors import BudgetError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Output, exact_ball
from liptest.values.answers.weight_choices import Selection

if TYPE_CHECKING:
    from liptest.enumerate.symbols.plain_points import Program

_ONE_CHOICE = "a loop that tries places by chance counts as one choice with weights (theory S10)"
# Runs of the unmodified program; fewer where there are many records.
_RUNS, _FEWEST, _ENTRIES = 128, 16, 100_000
# In a run: what tries without an end is cut off where most of its law is seen.
_CHOICES = (4, 8, MAX_CHOICES_OF_PATHS)
# More than what floats change a probability by.
_NEAR = Fraction(1, 10**9)


class _FewRuns(PlainTree):
    """Ends after some runs, whatever a single draw may come to."""

    __slots__ = ("_runs",)

    def __init__(self, name: str, runs: int, choices: int) -> None:
        super().__init__(name, max_choices=choices)
        self._runs = runs

    def _advance(self) -> bool:
        if self.leaves >= self._runs:
            self.max_leaves = self._runs
        return super()._advance()


def is_of_tries(leaf: Any) -> bool:
    """Whether a choice of a path stands for tries one after another."""
    return any(isinstance(one, Selection) and one.is_of_tries for one, _ in leaf.choices)


def check_tries(program: Program, datasets: Iterable[NDArray[Any]]) -> tuple[str, ...]:
    """Compare both laws on some datasets; raises LiptestError where they differ.

    Gives what a proof rests on, with the lines of the loops.
    """
    assert program.at_once is not None
    at_once, lines = program.at_once()
    for dataset in datasets:
        most = max(_FEWEST, min(_RUNS, _ENTRIES // max(1, dataset.size)))
        chosen, left = _law(program, at_once, dataset, _RUNS)
        written, _ = _law(program, program.function, dataset, most)
        with precision(CERTIFIED_BITS):
            is_near = _excess(written, chosen) < exact_ball(left + _NEAR)
        if not written or not is_near:
            raise UnsupportedRandomnessError(
                f"{program.name}: a loop that tries places in random order has another law than "
                f"the choice with weights that it was taken for; draw the place by "
                f"rng.choice(k, p=weights / weights.sum())"
            )
    return tuple(f"{_ONE_CHOICE} at {line}" for line in sorted(lines))


def _law(
    program: Program, function: RandomFunction, dataset: NDArray[Any], most: int
) -> tuple[dict[Output, Any], Fraction]:
    """Outputs with what was explored of their probabilities, and what is left open."""
    best: tuple[dict[Output, Any], Fraction] = {}, Fraction(1)
    for choices in _CHOICES:
        with suppress(BudgetError):
            best = min(best, _partial(program, function, dataset, most, choices), key=_find_left)
        if not best[1]:
            break
    return best


def _find_left(law: tuple[dict[Output, Any], Fraction]) -> Fraction:
    return law[1]


def _partial(
    program: Program, function: RandomFunction, dataset: NDArray[Any], runs: int, choices: int
) -> tuple[dict[Output, Any], Fraction]:
    tree = _FewRuns(program.name, runs, choices)
    session = program.session
    session.follow(tree)
    rng = ChoiceGenerator(tree)
    try:
        run = Run(function, lambda: dataset, rng, program.name, program.canonical, session)
        return dict(tree.law(run)), tree.unexplored
    finally:
        tree.close()


def _excess(part: dict[Output, Any], law: dict[Output, Any]) -> arb:
    """By how much what was explored of a law exceeds another one, in all."""
    nothing = Fraction(0)
    gaps = (
        exact_ball(mass) - exact_ball(law.get(output, nothing)) for output, mass in part.items()
    )
    return sum((gap.max(arb(0)) for gap in gaps), arb(0))
