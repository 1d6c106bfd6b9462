"""Probabilities of conjunctions of linear constraints on independent noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from liptest.balls import precision
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic import plans, shapes
from liptest.symbolic.bounds import Cycle, Ranges, Tree, gathered
from liptest.symbolic.evaluation import integral_of
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from liptest.symbolic.points import point_of

__all__ = ["Constraint", "Noise", "System", "UnsupportedForm", "forget"]

_PRECISIONS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
#: Binary digits of each factor that are certain: a product of a thousand is known to 1e-13.
_ACCURACY = 56
#: Variables that are taken out of cycles one after the other.
_MOST_SPLITS = 4


class System:
    """Independent noise variables, by their numbers.

    Probabilities are those of the ideal laws: over the reals, not over floats.
    """

    __slots__ = ("noises",)

    def __init__(self, noises: Sequence[Noise]) -> None:
        self.noises = tuple(noises)

    def probability(self, constraints: Iterable[Constraint]) -> arb:
        """A ball that contains the probability that all constraints hold.

        Exactly 0 iff that is impossible (of measure 0 for continuous noise); else its relative
        radius is at most 1e-13. Raises UnsupportedForm and SymbolicError.
        """
        parts = self._parts(constraints)
        if parts is None:
            return arb(0)
        with precision(_PRECISIONS[0]):
            found = arb(1)
            for part in parts:
                mass = _mass(self.noises, part)
                if mass.is_zero():
                    return mass
                found *= mass
        return found

    def is_possible(self, constraints: Iterable[Constraint]) -> bool:
        """Whether the probability is above 0. Raises UnsupportedForm."""
        return self._parts(constraints) is not None

    def point_inside(
        self, constraints: Iterable[Constraint], rng: np.random.Generator
    ) -> tuple[Fraction, ...]:
        """Values of all variables, well inside all constraints; whole where noise is discrete.

        Raises SymbolicError where the constraints are impossible.
        """
        parts = self._parts(constraints)
        if parts is None:
            raise SymbolicError("constraints that cannot hold have no point inside")
        return point_of(self.noises, parts, rng)

    def _parts(self, constraints: Iterable[Constraint]) -> list[Ranges] | None:
        """Independent parts that are possible, each with its ranges; None if impossible."""
        return gathered(self.noises, constraints)


def forget() -> None:
    """Empty all caches."""
    with precision(_PRECISIONS[0]):
        shapes.forget()
        plans.forget()


#: A sum of products of integrals, with signs, each of which may be such a sum itself.
Sum = list[tuple[int, list["shapes.Shape | Sum"]]]


def _mass(noises: tuple[Noise, ...], part: Ranges) -> arb:
    if shapes.is_crowded():
        shapes.forget()
    parts = _sum_of(noises, part, 0)
    for bits in _PRECISIONS:
        with precision(bits):
            found = _evaluated(parts)
        if found.is_finite() and found.rel_accuracy_bits() >= _ACCURACY:
            return found
    raise SymbolicError(
        f"the probability of {len(part.ranges)} constraints is only known as {found}: their "
        f"numbers are too large or too close to each other; rescale the noise"
    )


def _evaluated(parts: Sum) -> arb:
    found = arb(0)
    for sign, factors in parts:
        product = arb(sign)
        for one in factors:
            product *= _evaluated(one) if isinstance(one, list) else integral_of(one)
        found += product
    return found


def _sum_of(noises: tuple[Noise, ...], part: Ranges, depth: int) -> Sum:
    if isinstance(part, Tree):
        return [(1, list(_totals(noises, part)))]
    if not isinstance(part, Cycle) or depth >= _MOST_SPLITS:
        raise UnsupportedForm("many sums of the same noise variables are compared in cycles")
    return [
        (sign, [_sum_of(noises, one, depth + 1) for one in parts])
        for sign, parts in part.split(noises)
    ]


def _totals(noises: tuple[Noise, ...], part: Tree) -> list[shapes.Shape]:
    """Shapes whose integrals multiply to the probability."""
    rates = shapes.rates_of(frozenset(noises[one] for one in part.variables))
    factors: dict[plans.Key, list[shapes.Moved]] = {
        form: [shapes.interval(rates, *ends)] for form, ends in part.half_open()
    }
    found = []
    for step in part.steps:
        own = [(shapes.density(rates, noises[step.variable]), _ZERO)]
        inner = shapes.product(own + factors.pop(step.alone, []))
        if step.outer is None:
            found.append(inner[0])
            continue
        left = shapes.convolution(inner, step.factor, shapes.product(factors.pop(step.outer)))
        factors.setdefault(step.after, []).append(shapes.stretched(left, step.scale))
    return found


_ZERO = plans.exact(Fraction(0))
