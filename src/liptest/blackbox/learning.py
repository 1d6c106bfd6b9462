"""Which event to test: cells in order of their likelihood ratio, cut where the test gains most.

Order and cut are estimates; they decide how strong the test is, never whether it is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.outputs import Outputs
from liptest.blackbox.views import View, view_from_dict

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Aim:
    """What an event should be good for.

    Parameters
    ----------
    delta
        Of the claim.
    epsilon
        Refute this epsilon; None: bound epsilon from below as high as possible.
    draws
        Draws on each side that the test will make.
    deviations
        Normal quantile of the test's level.
    """

    delta: float
    epsilon: float | None
    draws: float
    deviations: float

    def scores(self, left: Counts, right: Counts, draws: tuple[int, int], caution: float) -> Any:
        """How good events with these counts look; any shape.

        For a bound: the bound that the test would give, less ``caution`` standard errors of these
        counts. For a claim: how fast evidence would grow, on one scale for all events.
        """
        p, q = (left + 0.5) / draws[0], (right + 0.5) / draws[1]
        if self.epsilon is not None:
            factor = math.exp(min(self.epsilon, 50.0))
            return (p - factor * q - self.delta) / np.sqrt(p + factor * factor * q)
        low, high = _at_least(left, caution) / draws[0], _at_most(right, caution) / draws[1]
        excess = np.maximum(low - self.delta, 1e-12)
        likely = np.maximum(p - self.delta, excess)
        # Not both probabilities are at their worst at once.
        worse = np.hypot(np.log(likely / excess), np.log(high / q))
        spread = np.sqrt((low / excess**2 + 1 / high) / self.draws)
        return np.log(likely / q) - worse - self.deviations * spread


def _at_least(counts: Counts, caution: float) -> Any:
    """Lower end of the score interval of a Poisson mean."""
    return np.maximum((np.sqrt(counts + caution**2 / 4) - caution / 2) ** 2, 1e-12)


def _at_most(counts: Counts, caution: float) -> Any:
    return np.maximum((np.sqrt(counts + caution**2 / 4) + caution / 2) ** 2, counts + 0.5)


def normal_quantile(level: float) -> float:
    """A little more than the standard normal quantile of 1 - level: from the tail's bound."""
    return math.sqrt(max(0.0, -2.0 * math.log(2.0 * min(level, 0.5))))


@dataclass(frozen=True)
class Event:
    """The output lies in one of these cells of a view."""

    view: View
    cells: tuple[int, ...]

    def hits(self, outputs: Outputs) -> int:
        """How many of the outputs lie in the event."""
        return int(np.isin(self.view.codes(outputs), self.cells).sum())

    def __str__(self) -> str:
        return self.view.words(self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**self.view.to_dict(), "cells": list(self.cells)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Event:
        """Inverse of ``to_dict``."""
        return cls(view_from_dict(data), tuple(data["cells"]))


@dataclass(frozen=True)
class Choice:
    """An event with the score that it was chosen for; ``forward``: more likely on the left."""

    score: float
    cells: tuple[int, ...]
    forward: bool


def best_cells(
    order: tuple[Counts, Counts], judged: tuple[Counts, Counts], aim: Aim
) -> Choice | None:
    """The best event of both directions.

    ``order`` and ``judged`` are (cells,) counts of left and right: the first sorts the cells by
    ratio, the second (the same or other samples) says where to cut.
    """
    found = []
    for forward in (True, False):
        choice = _best_prefix(*((order, judged) if forward else (order[::-1], judged[::-1])), aim)
        if choice is not None:
            found.append(Choice(*choice, forward))
    return max(found, key=lambda choice: choice.score, default=None)


def _best_prefix(
    order: tuple[Counts, Counts], judged: tuple[Counts, Counts], aim: Aim
) -> tuple[float, tuple[int, ...]] | None:
    seen = np.flatnonzero(order[0] + order[1])
    draws = [max(1, int(counts.sum())) for counts in judged]
    if len(seen) < 1:
        return None
    ratio = ratios(order[0][seen], order[1][seen])
    ranked = seen[np.argsort(-ratio, kind="stable")]
    left, right = (np.cumsum(counts[ranked]) for counts in judged)
    # The luckiest of k events is about so many standard errors above what it deserves.
    caution = math.sqrt(2.0 * math.log(max(2, len(seen))))
    scores = aim.scores(left, right, (draws[0], draws[1]), caution)
    best = int(np.argmax(scores))
    return float(scores[best]), tuple(sorted(ranked[: best + 1].tolist()))


def ratios(left: Counts, right: Counts) -> NDArray[np.float64]:
    """Log ratios, drawn towards 0 where counts are small: no luck of few draws comes first."""
    p, q = (side / max(1, int(side.sum())) for side in (left, right))
    spread = 1.0 / np.sqrt(left + right + 1.0)
    raw = (np.sqrt(p) - np.sqrt(q)) / np.sqrt(p + q + 1e-300)
    return np.asarray(raw * np.maximum(0.0, 1.0 - spread) + 0.0)
