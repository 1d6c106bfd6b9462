"""Outputs that occur on one dataset and on no draw under another (docs/theory/floats.md, I1)."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.floats import impossible
from liptest.floats.chains import FloatChain, FloatStep
from liptest.floats.grid import (
    GENERATOR,
    GRID,
    RANDOM_STATE,
    GridSource,
    fresh,
    generator_in,
    words_at,
)
from liptest.floats.impossible import GRANULARITY, INVERSION, ROUNDING, exclude
from liptest.floats.samplers import UNIFORM, Draw

FINE = (2**51 + 1) * 2.0**-54


def plus(constant: float, draw: Draw) -> FloatChain:
    return FloatChain(draw, (FloatStep("add", constant),))


def laplace(scale: float = 1.0, loc: float = 0.0, origin: str = GENERATOR) -> Draw:
    return Draw(origin, "laplace", (loc, scale))


@pytest.mark.slow
def test_three_of_four_draws_of_laplace_give_the_dataset_away() -> None:
    """At least 300 of 400; each is replayed by an unmodified generator of NumPy."""
    one, other, drawn = plus(0.0, laplace()), plus(1.0, laplace()), random.Random(5)
    hits = 0
    for _ in range(400):
        point = drawn.randrange(1, GRID)
        rng = np.random.default_rng()
        rng.bit_generator.state = generator_in(
            GENERATOR, words_at(GENERATOR, point)
        ).bit_generator.state
        output = 0.0 + rng.laplace(0.0, 1.0)
        assert one.run(GridSource(GENERATOR).at(point)) == output
        assert exclude(one, output) is None
        why = exclude(other, output)
        if why is not None:
            hits += 1
            assert why.way in (ROUNDING, INVERSION)
            assert all(
                1.0 + GridSource(GENERATOR).at(k).laplace(0.0, 1.0) != output
                for k in range(why.first, min(why.last + 1, why.first + 3))
            )
    assert hits >= 300


@pytest.mark.parametrize("origin", [GENERATOR, RANDOM_STATE])
def test_the_place_form_is_excluded_as_well(origin: str) -> None:
    one, drawn = FloatChain(laplace(origin=origin)), random.Random(6)
    source = GridSource(origin)
    outputs = [one.run(source.at(drawn.randrange(1, GRID))) for _ in range(40)]
    moved = [exclude(FloatChain(laplace(1.0, 1.0, origin)), output) is None for output in outputs]
    added = [exclude(plus(1.0, laplace(origin=origin)), output) is None for output in outputs]
    assert moved == added
    assert moved.count(False) >= 20


STEPS = st.lists(
    st.one_of(
        st.builds(FloatStep, st.sampled_from(["add", "subtract", "from"]), st.floats(-1e3, 1e3)),
        st.builds(
            FloatStep,
            st.sampled_from(["multiply", "divide"]),
            st.sampled_from([3.0, -0.1, 0.5, 7e3]),
        ),
        st.just(FloatStep("rint", to_whole=True)),
        st.just(FloatStep("floor")),
        st.just(FloatStep("ceil", to_whole=True)),
        st.just(FloatStep("trunc", to_whole=True)),
        st.builds(FloatStep, st.just("places"), st.integers(1, 4)),
    ),
    max_size=4,
)


def typed(steps: list[FloatStep]) -> tuple[FloatStep, ...]:
    """The steps, each told whether a whole number comes to it."""
    made, whole = [], False
    for step in steps:
        if step.is_rounding and whole:
            continue
        made.append(FloatStep(step.name, step.constant, whole, step.to_whole))
        whole = step.to_whole
    return tuple(made)


@pytest.mark.slow
@given(
    st.sampled_from(["laplace", "gumbel", "logistic"]),
    st.sampled_from([1.0, 0.01, 30.0]),
    STEPS,
    st.integers(1, GRID - 1),
)
def test_what_occurs_is_never_excluded(
    method: str, scale: float, steps: list[FloatStep], point: int
) -> None:
    chain = FloatChain(Draw(GENERATOR, method, (0.0, scale)), typed(steps))
    output = chain.run(GridSource(GENERATOR).at(point))
    assert exclude(chain, output) is None
    if chain.is_plain:
        assert point in chain.candidates(output)


@given(
    st.sampled_from(["math.log", "numpy.log", "math.log1p", "numpy.log1p"]),
    st.floats(-1e3, 1e3),
    st.integers(1, GRID - 1),
)
def test_logarithms_by_hand_are_never_excluded_where_they_occur(
    name: str, constant: float, point: int
) -> None:
    logarithm, added = FloatStep(name), FloatStep("add", constant)
    draw = Draw(GENERATOR, UNIFORM, ())
    half = (FloatStep("subtract", 0.5), FloatStep("multiply", -2.0), FloatStep("from", 1.0))
    for steps in ((logarithm, added), (*half, logarithm, FloatStep("multiply", 3.0), added)):
        chain = FloatChain(draw, steps)
        assert exclude(chain, chain.run(GridSource(GENERATOR).at(point))) is None


@given(st.integers(0, 2**40), st.floats(-1e6, 1e6))
def test_sums_of_ordinary_size_are_on_the_grid_of_granularity(seed: int, constant: float) -> None:
    """I4 by brute force: whatever float is added to the constant."""
    chain = plus(constant, Draw(GENERATOR, "normal", (0.0, 1.0)))
    rng = np.random.default_rng(seed)
    noise = -constant * (1 + rng.uniform(-0.6, 0.6, 50)) + rng.normal(0, 1e-9, 50)
    assert not any(impossible.is_too_fine(chain, constant + float(one)) for one in noise)


def test_granularity_of_the_theorem() -> None:
    """|o| < 1/2 and not a multiple of 2**-53: no float n has 1 + n = o."""
    chain = plus(1.0, Draw(GENERATOR, "normal", (0.0, 1.0)))
    assert impossible.is_too_fine(chain, FINE)
    assert not impossible.is_too_fine(chain, 5 * 2.0**-53)
    assert not impossible.is_too_fine(chain, 0.6)
    assert exclude(chain, FINE).way == ROUNDING
    assert exclude(FloatChain(Draw(GENERATOR, "normal", (1.0, 1.0))), FINE).way == GRANULARITY


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "least"),
    [
        (Draw(GENERATOR, "normal", (0.0, 1.0)), 60),
        (Draw(RANDOM_STATE, "normal", (0.0, 1.0)), 60),
        (Draw(GENERATOR, "exponential", (1.0,)), 60),
        (Draw(RANDOM_STATE, "exponential", (1.0,)), 150),
        (Draw(GENERATOR, "gumbel", (0.0, 1.0)), 200),
        (Draw(RANDOM_STATE, "logistic", (0.0, 1.0)), 200),
    ],
    ids=str,
)
def test_shares_of_other_samplers(draw: Draw, least: int) -> None:
    rng = fresh(draw.origin, 3)
    one, other = plus(0.0, draw), plus(1.0, draw)
    assert sum(exclude(other, one.run(rng)) is not None for _ in range(300)) >= least
    assert not any(exclude(other, other.run(rng)) for _ in range(300))


@pytest.mark.parametrize(("x", "y"), [(0.0, 1.0), (1e6, 1e6 + 1), (1e12, 1e12 + 1)])
def test_the_smallest_noise_is_never_purely_private(x: float, y: float) -> None:
    """I3: at the first grid point, however large the numbers are."""
    output = plus(x, laplace()).run(GridSource(GENERATOR).at(1))
    assert exclude(plus(y, laplace()), output) is not None


def test_rounded_to_tens_the_supports_agree() -> None:
    """A counterexample of the referee: I3 holds only where the ends of the answers differ."""

    def tens(x: float) -> FloatChain:
        steps = (FloatStep("add", x), FloatStep("divide", 10.0), FloatStep("rint", to_whole=True))
        return FloatChain(laplace(), steps)

    for one, other in ((0.0, 1.0), (1.0, 0.0)):
        for point in (1, 2, GRID - 2, GRID - 1):
            assert exclude(tens(other), tens(one).run(GridSource(GENERATOR).at(point))) is None


def test_the_first_grid_point_leads_to_an_output_as_well() -> None:
    chain = plus(3.0, Draw(RANDOM_STATE, "exponential", (1e-3,)))
    assert chain.run(GridSource(RANDOM_STATE).at(0)) == 3.0
    assert exclude(chain, 3.0) is None
    tiny = FloatChain(Draw(GENERATOR, UNIFORM, ()), (FloatStep("add", 2.0**-60),))
    assert exclude(tiny, 2.0**-60) is None


def test_what_is_not_understood_is_not_excluded() -> None:
    far = FloatChain(laplace(), (FloatStep("add", 1e300),))
    assert exclude(far, 1.0) is None
    assert exclude(plus(1.0, laplace()), math.nan) is None
    assert exclude(plus(1.0, laplace()), math.inf) is None
    assert exclude(math.nan, 1.0) is None
    assert exclude(plus(1.0, Draw(GENERATOR, "unknown", (0.0, 1.0))), 5.0) is None
    assert exclude(FloatChain(Draw(GENERATOR, "normal", (0.0, 1.0))), 0.3) is None


def test_a_build_that_adds_in_one_rounding_is_not_taken_for_one_that_adds_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I4 of ``normal(loc, scale)`` holds only where ``loc`` is added by itself: compared."""
    draw = Draw(GENERATOR, "normal", (1.0, 1.5))
    assert impossible.adds_its_place(draw)
    monkeypatch.setattr(impossible, "_COMPARED", {})
    monkeypatch.setattr(
        Draw, "run", lambda self, rng: math.nextafter(self.loc + 1.5 * rng.normal(), 9.0)
    )
    assert not impossible.adds_its_place(draw)
    assert exclude(FloatChain(draw), FINE) is None
