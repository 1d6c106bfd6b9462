"""Functions that draw discrete Laplace noise by loops of their own, as the noise that they draw.

What was enumerated of such a function is compared with the law of the difference of two geometric
numbers. In symbolic runs a call is that difference, and the distance of the two laws in total
variation is paid for with a delta (docs/theory/loops.md, L7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from liptest.enumerate.folded.column_rows import find_length, find_record_rows
from liptest.enumerate.folded.folding import fold_loops
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.samplers.sub_samplers import Outcomes, SamplerLaws
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.values.draws.noise_run import NoiseRun

if TYPE_CHECKING:
    from liptest.enumerate.symbols.plain_points import Program

# Laws further apart than this are others.
_FARTHEST = Fraction(1, 1 << 40)
Function = Callable[[Any, Any], Any]


def drawing_noise(
    program: Program, function: Any, called: Callable[[Any], Function], conditions: set[str]
) -> Program:
    """A program whose samplers of discrete Laplace noise draw it at once.

    ``called`` makes of a function one of datasets and a generator. To be called in a session.
    """
    laws = NoiseSamplers(program.name, conditions)
    alone: Any = {"samplers": laws, "moves_returns": False}
    plain = called(fold_loops(function, Folds(lambda value: None, laws.summarised, **alone)))
    folds = Folds(find_record_rows, laws.summarised, find_length, samplers=laws)
    columns = called(fold_loops(function, folds))
    return replace(program, function=plain, rewritten=columns)


class NoiseSamplers(SamplerLaws):
    """Samplers whose calls are noise, where their law is one of noise."""

    def __init__(self, name: str, conditions: set[str]) -> None:
        super().__init__(name)
        self.conditions = conditions
        self._fits: dict[int, tuple[float, Fraction] | None] = {}

    def drawn(self, tree: ChoiceTree, outcomes: Outcomes) -> Any:
        """A value: the difference of two geometric numbers, or one that is chosen."""
        key = id(outcomes)  # it is kept
        if key not in self._fits:
            self._fits[key] = fit_geometric(outcomes)
        fit = self._fits[key]
        if fit is None:
            return super().drawn(tree, outcomes)
        p, distance = fit
        if isinstance(tree, RestartingTree) and tree.is_in_loop:
            tree.forbid(
                "noise of a function of its own that is drawn in a loop until it fits",
                "draw it once",
            )
        NoiseRun.of(tree).rounding += distance
        rng = ChoiceGenerator(tree)
        return rng.geometric(p) - rng.geometric(p)


def fit_geometric(outcomes: Outcomes) -> tuple[float, Fraction] | None:
    """The p of two geometric numbers whose difference has nearly this law, and a bound of the
    distance in total variation; None where none is so near.

    The true law is nowhere below what was enumerated, so the distance is at most the sum of what
    the other law has beyond that.
    """
    values, weights = outcomes
    total = sum(weights)
    masses = {value: Fraction(by, total) for value, by in zip(values, weights[:-1], strict=True)}
    if any(type(value) is not int for value in values) or not masses.get(0) or not masses.get(1):
        return None
    p = float(1 - masses[1] / masses[0])
    if not 0 < p < 1:
        return None
    ratio = 1 - Fraction(p)
    size = (1 - ratio) / (1 + ratio)
    law = {value: size * ratio ** abs(value) for value in masses}
    distance = 1 - sum(law.values(), Fraction(0))
    distance += sum(
        (max(law[value] - mass, Fraction(0)) for value, mass in masses.items()), Fraction(0)
    )
    return None if distance > _FARTHEST else (p, distance)
