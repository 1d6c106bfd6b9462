"""An ordered pair of laws by its likelihood ratio, which is all that a notion of privacy sees.

Every divergence, every test between two laws and every composition depends on the outputs only
through p/q: outputs of one ratio are one *atom*. Few atoms are left of many outputs, and unbounded
noise may have finitely many (theory 6.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from liptest.mechanisms.laws import OutputLaw, exact_ball
from liptest.privacy.comparison import ball_of

#: Probabilities of one atom under the first and the second law.
Masses = tuple[Fraction, Fraction]
Balls = tuple[arb, arb]


@dataclass(frozen=True, eq=False)
class LikelihoodPair:
    """Two laws P and Q as atoms (P, Q); both probabilities of an atom may be uncertain.

    Parameters
    ----------
    exact
        Atoms of different ratios, as fractions; None where only balls are known.
    in_balls
        The atoms as balls at the current precision of flint.
    left_only, right_only
        Probability, under P and under Q, of what is certainly impossible under the other law.
    open_left, open_right
        Probability that no output accounts for: it may lie anywhere.
    """

    exact: tuple[Masses, ...] | None
    in_balls: Callable[[], list[Balls]]
    left_only: Fraction | arb = Fraction(0)
    right_only: Fraction | arb = Fraction(0)
    open_left: Fraction = Fraction(0)
    open_right: Fraction = Fraction(0)

    @classmethod
    def of_masses(cls, masses: list[Masses]) -> LikelihoodPair:
        """From exact probabilities; each law sums to 1."""
        merged: dict[Fraction, list[Fraction]] = {}
        left_only = right_only = Fraction(0)
        for p, q in masses:
            if p == 0 or q == 0:
                left_only, right_only = left_only + p, right_only + q
                continue
            known = merged.setdefault(p / q, [Fraction(0), Fraction(0)])
            known[0] += p
            known[1] += q
        # By falling ratio, the order in which the best tests take them.
        atoms = tuple((merged[r][0], merged[r][1]) for r in sorted(merged, reverse=True))
        balls = _Rounded(atoms)
        return cls(atoms, balls, left_only, right_only)

    @classmethod
    def of_laws(cls, left: OutputLaw, right: OutputLaw) -> LikelihoodPair:
        """Of two output laws, exact where both are."""
        outputs = list(dict.fromkeys((*left.outputs, *right.outputs)))
        whole = not (left.unexplored or right.unexplored)
        if whole and left.fractions is not None and right.fractions is not None:
            return cls.of_masses([(_exact(left, o), _exact(right, o)) for o in outputs])
        left_only, right_only, both = arb(0), arb(0), []
        for output in outputs:
            if left.is_zero(output) and right.is_zero(output):
                continue
            if right.is_zero(output):
                left_only += ball_of(left, output)
            elif left.is_zero(output):
                right_only += ball_of(right, output)
            else:
                both.append(output)

        def balls() -> list[Balls]:
            return [
                (_widened(ball_of(left, o), left), _widened(ball_of(right, o), right)) for o in both
            ]

        return cls(None, balls, left_only, right_only, left.unexplored, right.unexplored)

    @property
    def is_whole(self) -> bool:
        """Whether outputs account for all of both laws."""
        return not (self.open_left or self.open_right)

    def reversed(self) -> LikelihoodPair:
        """The pair (Q, P)."""
        exact = None if self.exact is None else tuple((q, p) for p, q in reversed(self.exact))
        return LikelihoodPair(
            exact,
            lambda: [(q, p) for p, q in self.in_balls()],
            self.right_only,
            self.left_only,
            self.open_right,
            self.open_left,
        )

    @cached_property
    def key(self) -> tuple[Masses, ...] | None:
        """Equal for pairs that no notion can tell apart; None where only balls are known."""
        if self.exact is None:
            return None
        return (*self.exact, (Fraction(self.left_only), Fraction(self.right_only)))


@dataclass(frozen=True)
class _Rounded:
    atoms: tuple[Masses, ...]

    def __call__(self) -> list[Balls]:
        return [(exact_ball(p), exact_ball(q)) for p, q in self.atoms]


def _exact(law: OutputLaw, output: object) -> Fraction:
    value = law.exact(output)
    assert isinstance(value, Fraction)
    return value


def _widened(ball: arb, law: OutputLaw) -> arb:
    # A listed output may have the mass that was not explored on top of its own.
    if not law.unexplored:
        return ball
    return ball.union(ball + exact_ball(law.unexplored))
