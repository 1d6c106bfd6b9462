"""An ordered pair of laws by its likelihood ratio, which is all that a notion of privacy sees.

Every divergence, every test between two laws and every composition depends on the outputs only
through p/q: outputs of one ratio are one *atom*. Few atoms are left of many outputs, and unbounded
noise may have finitely many (theory 6.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from liptest.mechanisms.laws import OutputLaw, exact_ball

#: Probabilities of one atom under the first and the second law.
Masses = tuple[Fraction, Fraction]
Balls = tuple[arb, arb]
# Ratios of rounded probabilities that differ by less are taken as one.
_SAME_RATIO = 1e-13
#: Few enough atoms to look for a lattice for all of them.
FEW_ATOMS = 64


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
            atom = merged.setdefault(p / q, [Fraction(0), Fraction(0)])
            atom[0] += p
            atom[1] += q
        # By falling ratio, the order in which the best tests take them.
        atoms = tuple((merged[r][0], merged[r][1]) for r in sorted(merged, reverse=True))
        balls = _Rounded(atoms)
        return cls(atoms, balls, left_only, right_only)

    @classmethod
    def of_laws(cls, left: OutputLaw, right: OutputLaw) -> LikelihoodPair:
        """Of two output distributions, exact where both are."""
        outputs = list(dict.fromkeys((*left.outputs, *right.outputs)))
        whole = not (left.unexplored or right.unexplored)
        if whole and left.fractions is not None and right.fractions is not None:
            return cls.of_masses([(_exact(left, o), _exact(right, o)) for o in outputs])
        left_only, right_only, both = arb(0), arb(0), []
        for output in outputs:
            if left.is_zero(output) and right.is_zero(output):
                continue
            if right.is_zero(output):
                left_only += enclose_probability(left, output)
            elif left.is_zero(output):
                right_only += enclose_probability(right, output)
            else:
                both.append(output)

        def balls() -> list[Balls]:
            pairs = [(_widen(left, o), _widen(right, o)) for o in both]
            return _merge(pairs) if whole else pairs

        return cls(None, balls, left_only, right_only, left.unexplored, right.unexplored)

    @property
    def is_whole(self) -> bool:
        """Whether outputs account for all of both laws."""
        return not (self.open_left or self.open_right)

    def has_few_atoms(self) -> bool:
        """Whether a lattice may be found that all its losses lie close to."""
        return len(self.in_balls()) <= FEW_ATOMS

    def looks_symmetric(self) -> bool:
        """Whether (Q, P) seems to be the same pair; nothing that has to be right rests on it."""
        ends = [sorted((float(p), float(q)) for p, q in side.in_balls()) for side in self._both()]
        if len(ends[0]) != len(ends[1]) or self.left_only != self.right_only:
            return False
        pairs = zip(*ends, strict=True)
        return all(
            math.isclose(a, c, rel_tol=1e-9) and math.isclose(b, d, rel_tol=1e-9)
            for (a, b), (c, d) in pairs
        )

    def _both(self) -> tuple[LikelihoodPair, LikelihoodPair]:
        return self, self.reversed()

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


@dataclass(frozen=True)
class _Rounded:
    atoms: tuple[Masses, ...]

    def __call__(self) -> list[Balls]:
        return [(exact_ball(p), exact_ball(q)) for p, q in self.atoms]


def _exact(law: OutputLaw, output: object) -> Fraction:
    value = law.exact(output)
    assert isinstance(value, Fraction)
    return value


def enclose_probability(law: OutputLaw, output: object) -> arb:
    """The probability of an output as a ball at the current precision."""
    value = law.exact(output)
    return exact_ball(value) if isinstance(value, Fraction) else value


def _widen(law: OutputLaw, output: object) -> arb:
    # A listed output may have the mass that was not explored on top of its own.
    ball = enclose_probability(law, output)
    return ball.union(ball + exact_ball(law.unexplored)) if law.unexplored else ball


def _merge(atoms: list[Balls]) -> list[Balls]:
    """Atoms whose ratios cannot be told apart as one, with a ratio that holds all of theirs.

    The sum of q f(p/q) over them is their q times f of a ratio between the least and the largest.
    """
    sure = [(p / q, q) for p, q in atoms if p > 0 and q > 0]
    merged = [(p, q) for p, q in atoms if not (p > 0 and q > 0)]
    sure.sort(key=lambda atom: float(atom[0].mid()), reverse=True)
    start = 0
    while start < len(sure):
        ratio, mass = sure[start]
        least = ratio.lower() * (1 - arb(_SAME_RATIO))
        stop = start + 1
        while stop < len(sure) and sure[stop][0].upper() >= least:
            ratio, mass = ratio.union(sure[stop][0]), mass + sure[stop][1]
            stop += 1
        merged.append((ratio * mass, mass))
        start = stop
    return merged
