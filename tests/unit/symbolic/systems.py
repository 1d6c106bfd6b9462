"""Short ways to write systems of noise and constraints, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System

V = Form.variable
#: A probability is known to this relative precision.
PRECISE = 1e-13


def noise(family: str, parameter: Any = 1) -> Noise:
    return Noise(family, Fraction(parameter))


def total(*numbers: int) -> Form:
    """The sum of variables."""
    return sum((V(number) for number in numbers), Form.of(0))


def at_most(form: Form, high: Any = 0) -> Constraint:
    return form.between(None, Fraction(high), high_closed=True)


def at_least(form: Form, low: Any = 0) -> Constraint:
    return form.between(Fraction(low), None, low_closed=True)


def below(form: Form, high: Any = 0) -> Constraint:
    return form.between(None, Fraction(high))


def equal(form: Form, value: Any = 0) -> Constraint:
    at = Fraction(value)
    return form.between(at, at, low_closed=True, high_closed=True)


def probability(noises: Sequence[Noise], *constraints: Constraint) -> Any:
    """The ball; its relative radius is small, and nothing else says 0."""
    system = System(noises)
    found = system.probability(constraints)
    assert system.is_possible(constraints) is not found.is_zero()
    assert found.is_zero() or float(found.rad() / found.mid()) <= PRECISE
    return found


def sparse_vector(
    threshold: Noise, query: Noise, answers: Sequence[Any], output: Sequence[int]
) -> Any:
    """P(output): 1 where answer + noise is at least the noisy threshold 0."""
    made = []
    for place, (answer, bit) in enumerate(zip(answers, output, strict=False), start=1):
        gap = V(place) + Fraction(answer) - V(0)
        made.append(at_least(gap) if bit else below(gap))
    return probability([threshold, *[query] * len(output)], *made)


def argmax(noises: Sequence[Noise], answers: Sequence[Any], winner: int) -> Any:
    """P(the first largest of answer + noise is the winner's)."""
    made = []
    for other, answer in enumerate(answers):
        gap = V(winner) + Fraction(answers[winner]) - (V(other) + Fraction(answer))
        if other != winner:
            made.append(at_least(gap) if winner < other else gap.between(0, None))
    return probability(noises, *made)


def close(ball: Any, value: float, relative: float = 1e-13) -> bool:
    """Whether a ball is a float up to the float's rounding."""
    return abs(float(ball.mid()) - value) <= relative * abs(value)


def holds(ball: Any, value: Fraction | int) -> bool:
    """Whether a ball contains a rational number."""
    saved, ctx.prec = ctx.prec, 400
    try:
        exact = Fraction(value)
        return bool((ball - arb(fmpq(exact.numerator, exact.denominator))).contains(0))
    finally:
        ctx.prec = saved
