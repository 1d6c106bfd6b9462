"""The density of one variable together with constraints, as a function written in pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from liptest.errors import UnsupportedForm
from liptest.symbolic import functions, shapes
from liptest.symbolic.bounds import Ranges, gathered
from liptest.symbolic.evaluation import function_of, integral_of
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import EXPONENTIAL, Noise
from liptest.symbolic.plans import exact, plan
from liptest.symbolic.rates import Rates

_ZERO = fmpq(0)


@dataclass(frozen=True)
class Joint:
    """What is known of one variable: the constraints that it depends on, and other factors.

    ``others`` are integrals whose product is the probability of all that is independent of it.
    """

    noises: tuple[Noise, ...]
    root: int
    part: Ranges | None
    others: tuple[Ranges, ...]

    @property
    def is_free(self) -> bool:
        """Whether nothing that is known depends on the variable."""
        return self.part is None


def joint(noises: tuple[Noise, ...], constraints: Iterable[Constraint], root: int) -> Joint | None:
    """The parts of constraints, as seen from one variable; None where they are impossible."""
    parts = gathered(noises, constraints)
    if parts is None:
        return None
    own = next((part for part in parts if root in part.variables), None)
    return Joint(noises, root, own, tuple(part for part in parts if part is not own))


def density_of(known: Joint, rates: Rates) -> functions.Function:
    """t -> density of the variable at t, times the probability of its part given that.

    Raises UnsupportedForm where a family is involved whose densities are no exponentials.
    """
    noise = known.noises[known.root]
    if noise.family not in EXPONENTIAL:
        raise UnsupportedForm(f"{noise.family} noise that is both compared and answered")
    if known.part is None:
        return function_of(shapes.density(rates, noise))
    shape, shift = _product_at(known, rates)
    if shape.is_smooth:
        raise UnsupportedForm("noise that is compared with noise of another kind and answered")
    return functions.stretched(rates, function_of(shape), fmpq(1), shift)


def _product_at(known: Joint, rates: Rates) -> shapes.Moved:
    part = known.part
    assert part is not None
    steps = plan(frozenset(part.ranges), part.whole, known.root)
    if steps is None:
        raise UnsupportedForm("several sums of the same noise variables are compared")
    factors: dict[Any, list[shapes.Moved]] = {
        form: [shapes.interval(rates, *ends)] for form, ends in part.half_open()
    }
    for step in steps:
        own = [(shapes.density(rates, known.noises[step.variable]), _ZERO)]
        inner = shapes.product(own + factors.pop(step.alone, []))
        if step.outer is None:
            return inner
        left = shapes.convolution(inner, step.factor, shapes.product(factors.pop(step.outer)))
        factors.setdefault(step.after, []).append(shapes.stretched(left, step.scale))
    raise AssertionError("the root is eliminated last")


def in_terms_of(
    rates: Rates, function: functions.Function, factor: Fraction, constant: Fraction
) -> functions.Function:
    """The density of factor * t + constant where t has the density ``function``."""
    inverse = 1 / exact(factor)
    moved = functions.stretched(rates, function, inverse, inverse * exact(constant))
    return functions.enlarged(moved, arb(abs(inverse)))


__all__ = ["Joint", "density_of", "in_terms_of", "integral_of", "joint"]
