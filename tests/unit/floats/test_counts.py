"""Exact laws of rounded outputs as they are implemented (docs/theory/floats.md, I5)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.floats.chains import FloatChain, FloatStep
from liptest.floats.counts import (
    Condition,
    CountedLaw,
    NotCounted,
    OutputPiece,
    bounds_of_exp,
    count_outputs,
    delta_between,
    find_output,
    loss_between,
)
from liptest.floats.grid import GENERATOR, GRID, GridSource
from liptest.floats.samplers import Draw


def cells(x: float, scale: float, step: float, bound: int | None, method: str = "laplace"):
    """``clip(round((x + noise) / step), -bound, bound)``, or without a bound."""
    steps = (FloatStep("add", x), FloatStep("divide", step), FloatStep("rint", to_whole=True))
    chain = FloatChain(Draw(GENERATOR, method, (0.0, scale)), steps)
    if bound is None:
        return [OutputPiece(chain, ())]
    low, high = Condition(chain, "<", -bound), Condition(chain, ">", bound)
    inside = (Condition(chain, ">=", -bound), Condition(chain, "<=", bound))
    return [
        OutputPiece(-bound, (low,)),
        OutputPiece(bound, (high,)),
        OutputPiece(chain, inside),
    ]


def laws(scale: float, step: float, bound: int | None) -> list[CountedLaw]:
    return [count_outputs(cells(x, scale, step, bound)) for x in (0.0, 1.0)]


@pytest.mark.parametrize(
    ("scale", "step", "bound", "low", "high"),
    [
        (1.0, 1.0, 8, 1.0, 1.000000001),
        (1.0, 1.0, 20, 1.0, 1.0000006),
        (1.0, 1.0, 34, 1.0, 1.95),
        (1.0, 1.0, 40, math.inf, math.inf),
        (2.0, 4.0, 10, 0.5, 0.5000002),
    ],
)
def test_losses_of_clipped_and_snapped_outputs(
    scale: float, step: float, bound: int, low: float, high: float
) -> None:
    """The enclosures of the theory hold the exact numbers."""
    loss, _ = loss_between(*laws(scale, step, bound))
    assert low <= float(loss.upper()) <= high or (math.isinf(high) and not loss.is_finite())


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "expected"), [(1.0, 3.6e-15), (10.0, 2.0e-14)])
def test_an_unclipped_rounded_sum_needs_a_tiny_delta(scale: float, expected: float) -> None:
    left, right = laws(scale, 1.0, None)
    factor = bounds_of_exp(arb(1) / arb(scale))[0]
    assert float(delta_between(left, right, factor)) == pytest.approx(expected, rel=0.05)
    assert not loss_between(left, right)[0].is_finite()


@pytest.mark.parametrize("method", ["laplace", "gumbel", "logistic"])
def test_counts_are_near_the_ideal_law(method: str) -> None:
    law = count_outputs(cells(0.25, 1.5, 1.0, 6, method))
    assert sum(law.counts.values()) == law.total
    distribution = {
        "laplace": lambda z: math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2,
        "gumbel": lambda z: math.exp(-math.exp(-z)),
        "logistic": lambda z: 1 / (1 + math.exp(-z)),
    }[method]
    for output, count in law.counts.items():
        ends = [(output + side - 0.25) / 1.5 for side in (-0.5, 0.5)]
        low, high = (distribution(end) for end in ends)
        low, high = (0.0 if output == -6 else low), (1.0 if output == 6 else high)
        assert count / law.total == pytest.approx(high - low, abs=1e-13)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.sampled_from(["laplace", "gumbel", "logistic"]),
    st.sampled_from([-1.0, 1.0]),
    st.integers(1, GRID - 1),
)
def test_every_grid_point_is_counted_on_its_side(method: str, sign: float, point: int) -> None:
    """By brute force near the point: an output that changes there has a count that says so."""
    steps = (FloatStep("multiply", sign * 3.0), FloatStep("floor", to_whole=True))
    chain = FloatChain(Draw(GENERATOR, method, (0.0, 1.0)), steps)
    pieces = [
        OutputPiece(0, (Condition(chain, "<", -2.0),)),
        OutputPiece(1, (Condition(chain, "==", -2.0),)),
        OutputPiece(chain, (Condition(chain, ">", -2.0), Condition(chain, "!=", 0.0))),
        OutputPiece(7, (Condition(chain, "==", 0.0),)),
    ]
    source = GridSource(GENERATOR)
    output = find_output(pieces, source.at(point))
    assert count_outputs(pieces).counts[output] > 0
    number = chain.run(source.at(point))
    assert output == (0 if number < -2 else 1 if number == -2 else 7 if number == 0 else number)


def test_a_small_grid_by_brute_force() -> None:
    """Counts of outputs far in the tail, where each is a few grid points, one by one."""
    law = count_outputs(cells(0.0, 1.0, 0.125, None))
    chain = cells(0.0, 1.0, 0.125, None)[0].output
    assert isinstance(chain, FloatChain)
    source = GridSource(GENERATOR)
    seen: dict[float, int] = {}
    for point in range(1, 200):
        output = chain.run(source.at(point))
        seen[output] = seen.get(output, 0) + 1
    whole = sorted(seen)[:-1]  # the last one goes on
    assert len(whole) > 10
    assert {output: law.counts[output] for output in whole} == {one: seen[one] for one in whole}


def test_what_is_not_counted() -> None:
    draw = Draw(GENERATOR, "laplace", (0.0, 1.0))
    with pytest.raises(NotCounted, match="not rounded"):
        count_outputs([OutputPiece(FloatChain(draw), ())])
    rounded = (FloatStep("rint", to_whole=True),)
    normal = FloatChain(Draw(GENERATOR, "normal", (0.0, 1.0)), rounded)
    with pytest.raises(NotCounted, match="not inverted"):
        count_outputs([OutputPiece(normal, ())])
    with pytest.raises(NotCounted, match="several draws"):
        count_outputs([OutputPiece(1, ())])
    with pytest.raises(NotCounted, match="different outputs"):
        count_outputs(cells(0.0, 1.0, 1e-3, None))
    with pytest.raises(NotCounted, match="do not add up"):
        count_outputs(cells(0.0, 1.0, 1.0, 5)[:2])


def test_delta_by_hand() -> None:
    left, right = CountedLaw({0: 3, 1: 1}, 4), CountedLaw({0: 1, 1: 3}, 4)
    assert delta_between(left, right, Fraction(2)) == Fraction(1, 4)
    loss, output = loss_between(left, right)
    assert float(loss.mid()) == pytest.approx(math.log(3))
    assert output == 0
