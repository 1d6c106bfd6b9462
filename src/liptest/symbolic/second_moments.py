"""Sums of products of the numbers of each record: what one changes, measured by normal noise.

A record adds x_i x_j to the answer of each pair of places, and |x|^2 is bounded. The squares of
what it adds are together at most |x|^4, and what two records add is never opposed, as
sum_ij x_i x_j y_i y_j = (x . y)^2 (docs/theory/tables.md, B19).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

_ZERO = Fraction(0)


@dataclass(frozen=True)
class SecondMoments:
    """Answers by pairs of places of a vector x of each record; one answer may have several pairs.

    ``size`` is what \\|x\\|^2 is at most, ``margins`` how far floats take sums of neighbours from
    each other, by answer.
    """

    places: tuple[tuple[tuple[int, int], int], ...]
    size: Fraction
    margins: tuple[tuple[int, Fraction], ...] = ()

    @property
    def answers(self) -> frozenset[int]:
        """All of them."""
        return frozenset(answer for _, answer in self.places)

    def square(self, weights: Mapping[int, Fraction], *, is_replaced: bool) -> Fraction | None:
        """What a record changes, squared, with a weight for each answer; None where not known."""
        pairs = Counter(answer for _, answer in self.places)
        shares = {pair: weights.get(answer, _ZERO) / pairs[answer] for pair, answer in self.places}
        if is_replaced and not is_semidefinite(shares):
            return None
        return (1 + is_replaced) * self.size**2 * max(shares.values(), default=_ZERO)

    def square_of_margins(self, weights: Mapping[int, Fraction]) -> Fraction:
        """What floats may add."""
        return sum((weights.get(i, _ZERO) * by**2 for i, by in self.margins), _ZERO)


def is_semidefinite(entries: Mapping[tuple[int, int], Fraction]) -> bool:
    """Whether z_i z_j times the entries add up to 0 or more, for all numbers z: by elimination."""
    numbers = sorted({number for pair in entries for number in pair})
    rows = {
        (i, j): (entries.get((i, j), _ZERO) + entries.get((j, i), _ZERO)) / 2
        for i in numbers
        for j in numbers
    }
    for step, k in enumerate(numbers):
        pivot, left = rows[k, k], numbers[step + 1 :]
        if pivot < 0 or (not pivot and any(rows[k, j] for j in left)):
            return False
        for i in left:
            if rows[i, k]:
                for j in left:
                    rows[i, j] -= rows[i, k] * rows[k, j] / pivot
    return True
