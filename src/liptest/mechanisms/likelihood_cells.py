"""Two laws as cells of outputs: what each weighs under both, and how far their ratio moves in it.

Outputs that are real numbers, or all whole numbers, have no finite table. Cut into cells they are
known as well as one likes: taken as one output each, cells lose a little of what tells two laws
apart; with the mass of each moved to the two ends of its ratios, they gain a little (theory 6.17).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

# What the ratio moves by, as a share, in a cell that is not split.
_NARROW = arb(2) ** -30


@dataclass(frozen=True, eq=False)
class Cell:
    """A set of outputs with its masses ``p`` and ``q``, and bounds of the ratio p/q within it."""

    p: arb
    q: arb
    low: arb
    high: arb

    def halves(self) -> tuple[Cell, Cell] | None:
        """Two cells that make it up; None where its ratio is one number."""
        return None

    @property
    def is_narrow(self) -> bool:
        """Whether its ratio is one number, but for the last digits."""
        return not self.high > self.low * (1 + _NARROW)

    def power(self, order: arb) -> arb:
        """An enclosure of the integral of p^order q^(1 - order), for an order of 1 or more."""
        merged = self.p * (self.p / self.q) ** (order - 1)
        most = self.p * self.high.upper() ** (order - 1)
        if not self.is_narrow:
            most = most.upper().min(sum((p * r ** (order - 1) for r, p, _ in self.ends()), arb(0)))
        return merged.lower().union(most.upper())

    def log_moment(self, power: int) -> arb:
        """An enclosure of the integral of p ln(p/q)^power."""
        ends = self.low.log().union(self.high.log())
        return self.p * ends**power

    def ends(self) -> tuple[tuple[arb, arb, arb], tuple[arb, arb, arb]]:
        """Its masses moved to two ratios without an error: (ratio, p, q) of the lower, the upper.

        Both masses are kept, and all ratios of the cell lie between the two.
        """
        low, high = self.low.lower(), self.high.upper()
        far = ((self.p - low * self.q) / (high - low)).max(arb(0)).min(self.q)
        near = self.q - far
        return (low, near * low, near), (high, far * high, far)


@dataclass(frozen=True, eq=False)
class Factor:
    """The cells of one number of an output, and what only one of the laws has."""

    cells: tuple[Cell, ...]
    left_only: arb = field(default_factory=lambda: arb(0))
    right_only: arb = field(default_factory=lambda: arb(0))


@dataclass(frozen=True, eq=False)
class CellProduct:
    """Outputs of one description: ``p`` and ``q`` of it, and its independent numbers.

    ``squares`` is the sum of squared distances, in standard deviations, of numbers that are normal
    under both laws.
    """

    p: arb
    q: arb
    factors: tuple[Factor, ...] = ()
    squares: Fraction = Fraction(0)


@dataclass(frozen=True, eq=False)
class PairCells:
    """An ordered pair of laws: by description of the output, and what only one of them has."""

    products: tuple[CellProduct, ...]
    left_only: arb = field(default_factory=lambda: arb(0))
    right_only: arb = field(default_factory=lambda: arb(0))
