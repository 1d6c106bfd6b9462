"""The diameter stage: rounding, steps, what it accepts and rejects."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.errors import InputError
from liptest.lipschitz.check import ValueExtremes as Extremes
from liptest.lipschitz.check import round_steps
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.base import admissible_step, steps_per_unit
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.jr11 import JR11

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(3))
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([4, 4]))
SKEWED = lt.ProductDistribution.bernoulli([0.4, 0.5, 1.0])
STAGED = [(JR11(range_step=0.25), CUBE), (AJMR12(range_step=0.25), GRID), (DJT12(), SKEWED)]
NUMBERS = {"proximity": 0.2, "failure_probability": 0.1}


def run(function, law, tester, seed=0, **more):
    return lt.check_lipschitz(function, law, tester=tester, seed=seed, **NUMBERS, **more)


@given(st.integers(1, 10**9))
def test_every_reciprocal_of_a_whole_number_is_a_step(steps):
    assert steps_per_unit(1.0 / steps) == steps
    assert steps_per_unit(Fraction(1, steps)) == steps


@pytest.mark.parametrize("tester", [JR11, AJMR12, DJT12])
@pytest.mark.parametrize(
    ("step", "near"),
    [(0.3, "1/3"), (0.4, "1/3"), (0.45, "1/2"), (0.7, "1/2"), (2.0, "1/1"), (1e-16, "1/10+")],
)
def test_other_steps_are_refused_with_the_nearest_admissible(tester, step, near):
    with pytest.raises(InputError, match=rf"range_step={step}.* nearest is {near} ") as caught:
        tester(range_step=step)
    assert (caught.value.name, caught.value.value) == ("range_step", step)


@pytest.mark.parametrize("step", [0.0, -0.5, math.nan, math.inf, "0.5", 1e-18, 5e-324])
def test_steps_are_positive_numbers(step):
    with pytest.raises(InputError, match="range_step"):
        JR11(range_step=step)


@given(st.floats(1e-6, 1.0))
def test_admissible_step_is_the_largest_below(bound):
    step = admissible_step(bound)
    assert step <= bound * (1 + 1e-15)
    assert steps_per_unit(step) == 1 or 1.0 / (steps_per_unit(step) - 1) > bound


def test_a_step_too_coarse_for_the_paper_names_the_numbers():
    law = lt.ProductDistribution.uniform(lt.Hypercube(5))
    tester = DJT12(range_step=0.01)
    with pytest.raises(InputError) as caught:
        tester.plan(law, **NUMBERS)
    text = str(caught.value)
    assert "proximity=0.2 - d^2 * range_step = 0.2 - 5^2 * 0.01 = -0.05" in text
    assert "use range_step <= 1/126 = 0.00793651" in text
    assert DJT12(range_step=1 / 126).plan(law, **NUMBERS).queries > 0
    with pytest.raises(InputError, match="1/126"):
        DJT12(range_step=1 / 125).plan(law, **NUMBERS)


@given(st.integers(1, 40), st.integers(1, 999))
def test_the_named_step_is_admissible_and_no_larger_one(d, thousandths):
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))
    numbers = {"proximity": thousandths / 1000, "failure_probability": 0.5}
    with pytest.raises(InputError) as caught:
        DJT12(range_step=1.0).plan(law, **numbers)
    steps = int(str(caught.value).split("<= 1/")[1].split(" ")[0])
    assert DJT12(range_step=1 / steps).plan(law, **numbers).draws > 0
    with pytest.raises(InputError):
        DJT12(range_step=1 / (steps - 1)).plan(law, **numbers)


@given(st.integers(1, 30), st.integers(1, 999))
def test_the_best_step_needs_fewest_queries(d, thousandths):
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))
    numbers = {"proximity": thousandths / 1000, "failure_probability": 0.5}
    best = DJT12(range_step=DJT12.best_step(law, numbers["proximity"]))
    steps = best.steps_per_unit
    for other in {steps + 1, 2 * steps, steps + steps // 10 + 1}:
        assert (
            best.plan(law, **numbers).draws
            <= DJT12(range_step=1 / other).plan(law, **numbers).draws
        )


def test_constant_coordinates_do_not_count():
    free = lt.ProductDistribution.bernoulli([0.1, 0.5])
    more = lt.ProductDistribution.bernoulli([0.1, 0.5, 1.0, 0.0])
    assert DJT12().plan(more, **NUMBERS) == DJT12().plan(free, **NUMBERS)
    assert DJT12().largest_diameter(more) == 2


@pytest.mark.slow
@given(
    st.fractions(-5, 5, max_denominator=10**6),
    st.fractions(-1, 1, max_denominator=10**6),
    st.integers(1, 50),
)
def test_rounding_is_safe(value, move, steps):
    high, low = round_steps(value + move, 1.0, steps), round_steps(value, 1.0, steps)
    assert abs(high - low) <= steps


def test_rounding_takes_ties_upwards():
    assert [round_steps(v, 1.0, 1) for v in (0.5, 1.5, -0.5, -1.5)] == [1, 2, 0, -1]
    assert round_steps(0.3, 0.1, 2) == 6
    assert round_steps(Fraction(1, 4), 1.0, 2) == 1


def test_a_violated_rounded_pair_is_a_violated_pair():
    for raw in np.linspace(0.9, 2.0, 111):
        if abs(round_steps(raw, 1.0, 4) - round_steps(0.0, 1.0, 4)) > 4:
            assert raw > 1


def extremes(low, high):
    point = np.zeros(2, dtype=np.int8)
    return Extremes(low, high, point, point + 1)


def test_diameters_of_logarithms():
    assert extremes(-math.inf, -math.inf).diameter(1.0, 4) == 0
    assert extremes(-math.inf, -3.0).diameter(1.0, 4) == math.inf
    assert extremes(-3.0, -1.4).diameter(1.0, 4) == Fraction(3, 2)
    assert extremes(-3.0, -1.4).diameter(0.5, 4) == Fraction(13, 4)


def test_extremes_add_up_and_keep_the_first():
    early, late = extremes(0.0, 1.0), extremes(0.0, 2.0)
    both = early + late
    assert (both.low, both.high) == (0.0, 2.0)
    assert both.low_point is early.low_point
    assert both.high_point is late.high_point


@pytest.mark.parametrize(("tester", "law"), STAGED)
def test_a_sample_diameter_of_zero_accepts_without_pairs(tester, law):
    wobble = tester.range_step / 8  # rounded away
    verdict = run(lambda points: wobble * points[:, 0], law, tester)
    points = tester.plan(law, **NUMBERS).diameter_draws
    assert verdict.decision == "ACCEPT"
    assert (verdict.cost.queries, verdict.cost.draws, verdict.cost.pairs) == (points, points, 0)


@pytest.mark.parametrize(("tester", "law"), STAGED)
def test_queries_follow_the_sample_diameter(tester, law):
    verdict = run(lambda points: 0.5 * points[:, 1], law, tester)
    points = tester.plan(law, **NUMBERS).diameter_draws
    top = (law.domain.sizes[1] - 1) / 2
    pairs = tester.pairs_needed(law, Fraction(top), 0.2, 0.1)
    assert verdict.decision == "ACCEPT"
    assert verdict.cost.queries == points + 2 * pairs
    assert verdict.cost.draws == points + pairs


@pytest.mark.parametrize(("tester", "law"), STAGED)
def test_a_diameter_beyond_the_domain_rejects_with_neighbours(tester, law):
    diameter = tester.largest_diameter(law)
    function = lambda points: (diameter + 1.0) * (points[:, 0] > 0)  # noqa: E731
    verdict = run(function, law, tester)
    plan = tester.plan(law, **NUMBERS)
    assert verdict.decision == "REJECT"
    assert verdict.cost.draws == plan.diameter_draws
    assert verdict.cost.pairs == 1
    more = verdict.cost.queries - plan.diameter_draws
    assert 0 <= more <= math.ceil(math.log2(diameter))
    assert verdict.witness.distance == 1
    assert verdict.witness.verify(function, law.domain)


@pytest.mark.parametrize(("tester", "law"), STAGED)
def test_the_diameter_of_the_domain_is_not_rejected(tester, law):
    verdict = run(lambda points: points.sum(axis=1), law, tester)
    assert verdict.decision == "ACCEPT"
    assert verdict.cost.queries == verdict.plan.queries


@pytest.mark.parametrize(("tester", "law"), STAGED)
@pytest.mark.parametrize("constant", [0.1, 3.0])
def test_a_constant_scales_everything(tester, law, constant):
    def scaled(points):
        return constant * points.sum(axis=1)

    verdict = run(scaled, law, tester, lipschitz_constant=constant)
    assert verdict.decision == "ACCEPT"
    # The diameter of f/c is the domain's; the tolerance pushes it just below that.
    assert verdict.cost.queries == verdict.plan.queries
    bound = constant * (1 + tester.range_step)
    assert f"{bound:g}-Lipschitz" in verdict.guarantee.sentence
    rejected = run(scaled, law, tester, lipschitz_constant=constant / 3)
    assert rejected.decision == "REJECT"
    assert rejected.witness.verify(scaled, law.domain)


def test_stages_draw_from_different_seeds():
    seen = []

    def spy(points):
        seen.append(np.array(points))
        return 0.5 * points[:, 0]

    run(spy, CUBE, JR11(range_step=0.25), seed=7)
    first, pairs = seen[0], seen[2]
    assert len(first) == 74
    assert not np.array_equal(first, pairs[:74])


def test_progress_counts_both_stages():
    seen = []
    tester = JR11(range_step=0.25)
    verdict = run(
        lambda points: 0.5 * points[:, 0], CUBE, tester, progress=lambda *args: seen.append(args)
    )
    assert seen[0] == (74, 74 + 1079)
    assert seen[-1] == (verdict.cost.draws, verdict.cost.draws)


@pytest.mark.parametrize(("calls", "draws"), [(0, 0), (2, 74)])
def test_an_interrupted_stage_promises_nothing(calls, draws):
    left = iter(range(calls))

    def interrupted(points):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return 0.5 * points[:, 0]

    verdict = run(interrupted, CUBE, JR11(range_step=0.25))
    assert (verdict.decision, verdict.reason) == ("INCONCLUSIVE", "interrupted")
    assert verdict.guarantee.kind == "none"
    assert f"{draws} of 1,153 draws" in verdict.guarantee.sentence


def test_a_function_that_draws_its_values_is_an_error_even_at_one_point():
    law = lt.ProductDistribution(lt.Hypergrid([1, 2]), [[1.0], [0.5, 0.5]])
    noise = np.random.default_rng(1)
    with pytest.raises(lt.errors.FunctionError, match="at the same point"):
        run(lambda points: noise.normal(size=len(points)) * 100, law, AJMR12OnLine())


class AJMR12OnLine(AJMR12):
    """Applies to a line, so that the widest pair may be one and the same point."""

    def not_applicable(self, distribution):
        return ""
