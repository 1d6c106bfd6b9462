"""The largest loss of laws that are functions of sums of the data, against grids."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from liptest.symbolic.answers import Answer
from liptest.symbolic.curved_losses import CurvedLaws, largest_loss
from liptest.symbolic.curved_masses import LAWS, CurvedCondition, CurvedPath, is_nothing
from liptest.symbolic.curves import NOWHERE, Applied, Curve, DataSum, PlainNumber, at_numbers
from liptest.symbolic.noise import Noise

SUM = Answer(0, real_ends=(Fraction(0), Fraction(20)))
S: Curve = DataSum(((SUM, 1),))
CDF: dict[str, Callable[[float], float]] = {
    "laplace": lambda x: math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2,
    "logistic": lambda x: 1 / (1 + math.exp(-x)),
    "normal": lambda x: math.erfc(-x / math.sqrt(2)) / 2,
    "gumbel": lambda x: math.exp(-math.exp(-x)),
    "exponential": lambda x: -math.expm1(-x) if x > 0 else 0.0,
    "uniform": lambda x: min(max(x, 0.0), 1.0),
}


def number(value: float) -> Curve:
    return PlainNumber(Fraction(value))


def made(name: str, *parts: Curve) -> Curve:
    return Applied(name, parts)


def outputs_of(
    family: str, base: Curve, scale: Curve, cuts: tuple[float, ...]
) -> tuple[object, ...]:
    """Which of the intervals between cuts base + scale * noise lies in."""
    noises = (Noise(family, Fraction(1)),)

    def asks(cut: float, *, is_above: bool) -> tuple[int, CurvedCondition]:
        return 0, CurvedCondition(made("sub", base, number(cut)), ((0, scale),), is_above)

    outputs = []
    for place in range(len(cuts) + 1):
        asked = [asks(cut, is_above=True) for cut in cuts[:place][-1:]]
        asked += [asks(cut, is_above=False) for cut in cuts[place:][:1]]
        outputs.append((CurvedPath(noises, tuple(asked)),))
    return tuple(outputs)


def largest_on_grid(
    family: str,
    base: Curve,
    scale: Curve,
    cuts: tuple[float, ...],
    ends: tuple[float, float],
    step: float,
) -> float:
    """The same by brute force in floats."""
    points, steps = np.linspace(*ends, 121), np.linspace(-step, step, 9)

    def masses(s: float) -> list[float]:
        values = [at_numbers(one, lambda answer: Fraction(s)) for one in (base, scale)]
        below = [CDF[family]((cut - values[0]) / values[1]) for cut in cuts]
        return [high - low for low, high in zip([0.0, *below], [*below, 1.0], strict=True)]

    worst = 0.0
    for s in points:
        own = masses(s)
        for by in steps:
            if ends[0] <= s + by <= ends[1]:
                pairs = zip(own, masses(s + by), strict=True)
                worst = max(worst, *(abs(math.log(p / q)) for p, q in pairs))
    return worst


def laws_of(outputs: object, ends: tuple[float, float], step: float) -> CurvedLaws:
    reach = Fraction(ends[0]), Fraction(ends[1])
    return CurvedLaws(outputs, {0: reach}, {0: Fraction(step)})  # type: ignore[arg-type]


ONE, GROWING = number(1), made("add", number(1), made("truediv", S, number(4)))
BOUNDED = made("maximum", number(2), made("minimum", number(5), made("truediv", S, number(2))))
CASES = [
    ("normal", S, ONE, (2.0,), (0, 4), 0.5),
    ("logistic", S, ONE, (2.0,), (0, 4), 0.5),
    ("laplace", S, ONE, (5.0,), (0, 20), 1.0),
    ("laplace", S, GROWING, (5.0,), (0, 20), 1.0),
    ("laplace", S, BOUNDED, (4.0, 8.0), (0, 20), 1.0),
    ("logistic", S, GROWING, (2.0, 5.0), (0, 4), 0.5),
    ("normal", made("tanh", S), GROWING, (0.5,), (0, 4), 0.5),
    ("gumbel", S, BOUNDED, (5.0,), (0, 20), 1.0),
    ("exponential", number(0), GROWING, (3.0,), (0, 20), 1.0),
    ("laplace", made("square", S), made("exp", made("truediv", S, number(5))), (4.0,), (0, 5), 0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[3]}")
def test_the_largest_loss_is_that_of_a_grid_and_what_is_proved_is_not_below(case) -> None:
    family, base, scale, cuts, ends, step = case
    found = largest_loss(laws_of(outputs_of(family, base, scale, cuts), ends, step))
    on_grid = largest_on_grid(*case)
    assert found.most is not None
    assert float(found.most) >= on_grid - 1e-12
    assert float(found.most) - found.least < 1e-9
    # The grid has the corners, where most of these are largest.
    assert found.least <= on_grid + 0.02


def test_a_threshold_that_is_calibrated_exactly_is_decided_in_few_boxes() -> None:
    """A tie on a whole piece: without exact slopes 20,000 boxes do not close it."""
    found = largest_loss(laws_of(outputs_of("laplace", S, ONE, (5.0,)), (0, 20), 1.0))
    assert found.boxes < 200
    assert found.most is not None
    assert 1 <= float(found.most) < 1 + 1e-9


@pytest.mark.slow
def test_probabilities_that_come_near_to_0_are_not_finite_and_never_a_bound() -> None:
    """Laws (.5, .5 - a/2, a/2) with a = s^2 - s + .26, whose enclosures on wide boxes are NaN."""
    noises = (Noise("uniform", Fraction(1)),)
    a = made("add", made("sub", made("square", S), S), number(0.26))
    half = made("truediv", made("sub", number(1), a), number(2))

    def asks(bound: Curve, *, is_above: bool) -> tuple[int, CurvedCondition]:
        return 0, CurvedCondition(made("mul", number(-1), bound), ((0, ONE),), is_above)

    outputs = (
        (CurvedPath(noises, (asks(number(0.5), is_above=False),)),),
        (
            CurvedPath(
                noises,
                (
                    asks(number(0.5), is_above=True),
                    asks(made("add", number(0.5), half), is_above=False),
                ),
            ),
        ),
        (CurvedPath(noises, (asks(made("add", number(0.5), half), is_above=True),)),),
    )
    found = largest_loss(laws_of(outputs, (0, 1), 1.0))
    assert found.most is not None
    assert float(found.most) == pytest.approx(math.log(26), abs=1e-9)


@pytest.mark.slow
def test_a_probability_that_vanishes_has_no_bound() -> None:
    bound = made("truediv", S, number(20))
    condition = CurvedCondition(made("mul", number(-1), bound), ((0, ONE),), True)
    paths = tuple(
        (CurvedPath((Noise("uniform", Fraction(1)),), ((0, one),)),)
        for one in (condition, CurvedCondition(condition.base, condition.noise, False))
    )
    found = largest_loss(laws_of(paths, (0, 20), 1.0))
    assert found.most is None
    assert "near to 0" in found.why


@pytest.mark.slow
def test_a_scale_that_may_vanish_has_no_bound() -> None:
    scale = made("sub", S, number(1))
    found = largest_loss(laws_of(outputs_of("laplace", S, scale, (5.0,)), (0, 20), 1.0))
    assert found.most is None


@pytest.mark.slow
def test_what_must_be_positive_is_looked_at_even_where_nothing_depends_on_it() -> None:
    laws = laws_of(outputs_of("laplace", S, ONE, (5.0,)), (0, 20), 1.0)
    kept = CurvedLaws(laws.outputs, laws.ends, laws.steps, positive=(made("add", S, ONE),))
    broken = CurvedLaws(laws.outputs, laws.ends, laws.steps, positive=(made("sub", S, ONE),))
    large = CurvedLaws(laws.outputs, laws.ends, laws.steps, finite=((S, Fraction(19)),))
    assert largest_loss(kept).most is not None
    assert largest_loss(broken).most is None
    assert largest_loss(large).most is None


def test_what_is_not_a_number_is_neither_nothing_nor_something() -> None:
    """flint says of NaN that it is not unequal to anything, so only == may be asked."""
    assert bool(arb("nan") != arb("-inf")) is False
    assert not is_nothing(NOWHERE)


@pytest.mark.parametrize("family", sorted(LAWS))
def test_logs_and_slopes_of_families_are_those_of_their_distribution_functions(family: str) -> None:
    law, cdf = LAWS[family], CDF[family]
    for x in (-2.5, -0.75, 0.25, 0.75, 2.5):
        for function, slope, sign in (
            (law.below, law.below_slope, 1),
            (law.above, law.above_slope, -1),
        ):
            mass = cdf(x) if sign == 1 else 1 - cdf(x)
            if not 0 < mass < 1:
                continue
            assert float(function(arb(x))) == pytest.approx(math.log(mass), abs=1e-9)
            by = (cdf(x + 1e-6) - cdf(x - 1e-6)) / 2e-6
            assert float(law.density(arb(x))) == pytest.approx(by, abs=1e-6)
            assert float(slope(arb(x))) == pytest.approx(sign * by / mass, abs=1e-5)


@pytest.mark.slow
def test_random_laws_are_never_proved_below_their_grid() -> None:
    rng = np.random.default_rng(7)
    families = ["laplace", "logistic", "normal", "gumbel"]
    for _ in range(16):
        family = str(rng.choice(families))
        base, scale = (
            _random_curve(rng, 2),
            made("add", ONE, made("absolute", _random_curve(rng, 2))),
        )
        cuts = tuple(sorted(float(cut) for cut in rng.uniform(-1, 3, int(rng.integers(1, 3)))))
        if len(cuts) == 2 and cuts[1] - cuts[0] < 0.2:
            cuts = cuts[:1]
        ends, step = (0, 2), float(rng.choice([0.25, 0.5, 1.0]))
        laws = laws_of(outputs_of(family, base, scale, cuts), ends, step)
        found = largest_loss(laws, most_boxes=150)
        if found.most is not None:
            worst = largest_on_grid(family, base, scale, cuts, ends, step)
            assert float(found.most) >= worst - 1e-9, (family, base, scale, cuts, step)
            assert found.least <= float(found.most)


def _random_curve(rng: np.random.Generator, depth: int) -> Curve:
    if not depth or rng.random() < 0.2:
        return S if rng.random() < 0.7 else number(float(np.round(rng.normal(), 2)))
    name = str(
        rng.choice(["add", "sub", "mul", "maximum", "minimum", "tanh", "square", "absolute"])
    )
    parts = 2 if name in ("add", "sub", "mul", "maximum", "minimum") else 1
    return made(name, *(_random_curve(rng, depth - 1) for _ in range(parts)))
