"""Which place weights choose, or tries hit: a contest with noise (docs/theory/size.md, S10).

A program that tries places one by one, or looks for a uniform number among totals of weights, is
followed so, too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.answers.decisions import Alternative, DecidingRun
from liptest.values.draws.grid import UNIT

# Twice what float weights, their sum and NumPy's grid of 2**-53 change a probability by.
_ROUNDING = Fraction(1, 1 << 50)
_MOST = 2048
# A probability that NumPy was given may be off by so much from what it is taken for.
_NEAR = 1e-9
# What one comparison of floats is off by, for each number that is added up for it.
_OFF = Fraction(1, 1 << 52)
# Roundings of one comparison beside those of sums.
_FEW = 16
_ONE = Fraction(1)


class Selection(Alternative):
    """Which place a choice with weights draws; plain data give it probabilities, not scores."""

    __slots__ = ("_scores", "_values", "is_by_uniform", "is_of_tries", "tries")

    def __init__(
        self,
        asked: Alternative,
        scores: tuple[Form, ...],
        run: DecidingRun,
        *,
        is_of_tries: bool = False,
    ) -> None:
        super().__init__(("selection", scores), len(asked), asked.at_point)
        self._scores = scores
        self._values = run
        #: Whether the program has no such choice, but tries the places one by one; at a point how.
        self.is_of_tries = is_of_tries
        self.tries: Any = None
        #: Whether a uniform number chooses, which the program draws by itself.
        self.is_by_uniform = False

    def __eq__(self, other: object) -> bool:
        return type(other) is Selection and self._scores == other._scores

    __hash__ = None

    def chances(self) -> NDArray[np.float64]:
        """At the point of the run; the largest is 1."""
        scores = np.array([float(self._values.at_point(score)) for score in self._scores])
        made: NDArray[np.float64] = np.exp(scores - scores.max())
        return made

    def with_plain_data(self) -> list[tuple[Any, int | None]]:
        """What the unmodified program should choose from at the point of the run.

        With what it takes; None where that is what was taken of this choice.
        """
        if self.tries is not None:
            return list(self.tries.choices)
        if self.is_by_uniform:
            return []
        weights = self.chances()
        return [(GivenWeights(weights / weights.sum()), None)]


class GivenWeights:
    """Equal to the weights of a choice that has these probabilities."""

    __slots__ = ("_masses",)

    def __init__(self, masses: NDArray[np.float64]) -> None:
        self._masses = masses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(other) != len(self._masses):
            return False
        total = sum(other)
        masses = np.array([float(Fraction(weight) / total) for weight in other])
        return bool(np.all(np.abs(masses - self._masses) < _NEAR))

    __hash__ = None  # type: ignore[assignment]


def select(
    run: DecidingRun, scores: tuple[Form, ...], *, is_by_uniform: bool = False
) -> tuple[int, Selection]:
    """The place of the largest score with Gumbel noise of its own, and what chose it."""
    run.rounding += (len(scores) + _MOST) * _ROUNDING
    place = choose_contest(run, scores, Noise("gumbel", _ONE))
    chosen = run.contests[-1][0].alternative
    assert type(chosen) is Selection
    chosen.is_by_uniform = is_by_uniform
    return place, chosen


def note_comparisons(run: DecidingRun, count: int) -> None:
    """Add what floats lose where a number is compared with sums of weights one after another."""
    run.rounding += count * (count + _FEW) * _OFF


def choose_contest(
    run: DecidingRun,
    scores: tuple[Form, ...],
    noise: Noise,
    tries: Callable[[NDArray[np.float64], int, np.random.Generator], Any] | None = None,
) -> int:
    """The place of the largest score with such noise of its own.

    ``tries``, where the program tries places one by one, gives at a point those that end there.
    """
    sums = [score + run.new(noise) for score in scores]
    contest = run.contest(sums)
    assert contest is not None  # each has noise of its own
    chosen = contest.alternative
    if type(chosen) is not Selection:
        chosen = Selection(chosen, scores, run, is_of_tries=tries is not None)
        contest.alternative = chosen
    place = run.tree.choose(chosen)
    run.contests.append((contest, place))
    log = run.tree.draw_log
    if tries is not None and run.point is not None and log is not None:
        chosen.tries = tries(chosen.chances(), place, run.rng)
        log.hand_out(chosen.tries, UNIT.law)
    return place
