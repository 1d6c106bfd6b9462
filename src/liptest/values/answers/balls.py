"""Answers that are the coordinates of one vector of each record, of which the norm is bounded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class BallOfAnswers:
    """Answers that add up the coordinates of a vector of each record, of a norm of at most radius.

    The 1-norm of such vectors is at most ``factor`` times the radius.
    """

    exponent: float
    radius: Fraction
    #: By place of the vector the answer.
    places: dict[Any, int]

    @property
    def factor(self) -> Fraction:
        """The square root of the number of coordinates, rounded up, for the Euclidean norm."""
        if self.exponent != 2:
            return Fraction(1)
        return Fraction(math.sqrt(len(self.places))) * (1 + Fraction(1, 1 << 50))

    def corners(self, those: set[int]) -> list[dict[int, Fraction]]:
        """Vectors of these answers of which all in the ball are mixtures; none for boxes.

        They say all of what such a vector is: its box is left out, in every cell.
        """
        if self.exponent == math.inf or len(self.places) < 2:
            return []
        size = self.factor * self.radius
        own = sorted(those & set(self.places.values()))
        return [{n: sign * size} for n in own for sign in (1, -1)]


def find_round(balls: Mapping[Any, BallOfAnswers]) -> tuple[tuple[frozenset[int], Fraction], ...]:
    """Of vectors in a Euclidean ball: by how much corners lie outside of it."""
    return tuple(
        (frozenset(ball.places.values()), ball.factor)
        for ball in balls.values()
        if ball.exponent == 2 and len(ball.places) > 1
    )
