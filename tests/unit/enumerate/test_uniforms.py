"""Grid uniforms: exact splits, decided comparisons, NumPy's types, no escape."""

# ruff: noqa: SIM300, SIM201 - which side the random number is on is what is tested

from __future__ import annotations

import copy
import enum
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError, UnsupportedRandomnessError
from liptest.values.draws.grid import GRID, UNIT, FusedLine, Line, exact_line
from liptest.values.protocol import concretise_all
from tests.unit.enumerate.bits import generator_at, law_of

THIRD = Fraction(math.ceil(Fraction(0.3) * GRID), GRID)
STEP = Fraction(1, GRID)


def test_below_a_float_has_the_probability_of_the_grid() -> None:
    assert law_of(lambda rng: rng.random() < 0.3) == {True: THIRD, False: 1 - THIRD}


def test_the_probability_of_a_threshold_counts_what_numpy_can_draw() -> None:
    cut = THIRD.numerator * (GRID // THIRD.denominator)
    below, above = generator_at([cut - 1, cut]).random(2)
    assert below < 0.3 <= above


@pytest.mark.parametrize(
    ("program", "probability"),
    [
        (lambda rng: rng.random() < 0.25, Fraction(1, 4)),
        (lambda rng: rng.random() <= 0.25, Fraction(1, 4) + STEP),
        (lambda rng: rng.random() > 0.25, Fraction(3, 4) - STEP),
        (lambda rng: rng.random() >= 0.25, Fraction(3, 4)),
        (lambda rng: rng.random() == 0.25, STEP),
        (lambda rng: rng.random() != 0.25, 1 - STEP),
        (lambda rng: 0.25 > rng.random(), Fraction(1, 4)),
        (lambda rng: 0.25 >= rng.random(), Fraction(1, 4) + STEP),
        (lambda rng: 0.25 < rng.random(), Fraction(3, 4) - STEP),
        (lambda rng: 0.25 <= rng.random(), Fraction(3, 4)),
        (lambda rng: 0.25 == rng.random(), STEP),
        (lambda rng: 0.25 != rng.random(), 1 - STEP),
        (lambda rng: rng.random() < Fraction(1, 3), Fraction(math.ceil(Fraction(GRID, 3)), GRID)),
        (lambda rng: rng.random() <= Decimal("0.5"), Fraction(1, 2) + STEP),
        (lambda rng: rng.random() < np.float64(0.25), Fraction(1, 4)),
        (lambda rng: np.float64(0.25) > rng.random(), Fraction(1, 4)),
        (lambda rng: 0.25 < rng.random() < 0.75, Fraction(1, 2) - STEP),
        (lambda rng: rng.random() in (0.5, 0.75), 2 * STEP),
        (lambda rng: rng.uniform(0, 10) < 2.5, Fraction(1, 4)),
        (lambda rng: rng.uniform(-1, 1) >= 0, Fraction(1, 2)),
        # 1 + (1/2 - 2**-53) rounds to 1.5.
        (lambda rng: rng.uniform(1.0, 2.0) < 1.5, Fraction(1, 2) - STEP),
        (lambda rng: (rng.random(2) < 0.5).all(), Fraction(1, 4)),
        (lambda rng: bool((rng.random((2, 2))[0, 1:] < 0.25)[0]), Fraction(1, 4)),
    ],
)
def test_each_comparison(program: Callable[[Any], Any], probability: Fraction) -> None:
    assert law_of(program).get(True) == probability


@pytest.mark.parametrize(
    "program",
    [
        lambda rng: rng.random() < 1.0,
        lambda rng: rng.random() < 2,
        lambda rng: rng.random() >= 0,
        lambda rng: rng.random() > -math.inf,
        lambda rng: rng.random() <= math.inf,
        lambda rng: not rng.random() < 0.0,
        lambda rng: not rng.random() <= -0.1,
        lambda rng: rng.random() != 1.0,
        lambda rng: not rng.random() == 0.5 - 2.0**-54,
        lambda rng: rng.random() is not None and rng.random() != "a",
        lambda rng: rng.uniform(3, 3) == 3,
        lambda rng: rng.random() < 10**400,
    ],
)
def test_decided_comparisons_do_not_branch(program: Callable[[Any], Any]) -> None:
    assert law_of(program, max_leaves=1) == {True: 1}


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">=", "=="])
def test_nan_compares_false(comparison: str) -> None:
    program = eval(f"lambda rng: rng.random() {comparison} float('nan')")
    assert law_of(program, max_leaves=1) == {False: 1}


def test_a_number_remembers_what_it_was_compared_with() -> None:
    def program(rng: Any) -> str:
        u = rng.random()
        assert not (u < 0.5 and u > 0.5)
        return "low" if u < 0.25 else "middle" if u < 0.75 else "high"

    quarter = Fraction(1, 4)
    assert law_of(program) == {"low": quarter, "middle": 2 * quarter, "high": quarter}


def test_numbers_are_independent() -> None:
    found = law_of(lambda rng: (rng.random() < 0.3, rng.random() < 0.3))
    assert found[True, True] == THIRD**2


@pytest.mark.parametrize("low", [0.0, -1.0, 1.0])
def test_uniform_lines_are_the_floats_of_numpy(low: float) -> None:
    points = [0, 1, 2**26 + 1, 2**52 - 1, 2**53 - 1]
    line = exact_line(low, low + 2.0)
    assert line is not None
    assert [line.value(j) for j in points] == generator_at(points).uniform(low, low + 2, 5).tolist()


def test_a_rounded_line_cuts_where_its_floats_do() -> None:
    line = Line(0.0, 10.0)
    cut = line.at_least(3.0)
    assert line.value(cut - 1) < 3.0 <= line.value(cut)
    after = line.above(line.value(cut))
    assert line.value(after - 1) <= line.value(cut) < line.value(after)
    below, above = generator_at([cut - 1, cut]).uniform(0, 10, 2)
    assert below < 3.0 <= above


@pytest.mark.parametrize("ends", [(1.0, 4.0), (-0.3, 0.9), (1e-3, 7.0), (-5.0, -1.0)])
def test_lines_of_any_width_are_the_floats_of_numpy_here(ends: tuple[float, float]) -> None:
    points = [j * (GRID // 300) + j for j in range(300)]
    line = exact_line(*ends)
    assert line is not None
    assert [line.value(j) for j in points] == generator_at(points).uniform(*ends, 300).tolist()


def test_a_fused_line_rounds_once() -> None:
    low, width = 0.1, 0.7
    points = range(GRID // 3, GRID // 3 + 1000)
    fused, plain = FusedLine(low, width), Line(low, width)
    exact = [Fraction(low) + Fraction(width) * Fraction(j, GRID) for j in points]
    assert [fused.value(j) for j in points] == [float(value) for value in exact]
    assert [plain.value(j) for j in points] != [fused.value(j) for j in points]


def test_arrays_of_limits_give_each_entry_its_own() -> None:
    found = law_of(lambda rng: tuple((rng.uniform([0, 1], [[2], [4]]) < 1.5).ravel().tolist()))
    masses = [sum(p for seen, p in found.items() if seen[k]) for k in range(4)]
    assert [float(mass) for mass in masses] == pytest.approx([0.75, 0.5, 0.375, 1 / 6])


def test_cuts_of_the_unit_line_are_ceilings() -> None:
    for bound in (0.1, 2.0**-60, 1 - 2.0**-54, 5e-324):
        assert UNIT.at_least(bound) == min(math.ceil(Fraction(bound) * GRID), GRID)


def test_scalars_answer_bool_and_entries_numpy_bool() -> None:
    # ~True is -2 and ~numpy.True_ is False: the types are part of the law.
    real = np.random.default_rng(0)
    for program in (
        lambda rng: type(rng.random() < 0.5),
        lambda rng: type(rng.random() < np.float64(0.5)),
        lambda rng: type(rng.random(2)[0] < 0.5),
        lambda rng: isinstance(rng.random(2) < 0.5, np.ndarray),
        lambda rng: isinstance(rng.random(()) < 0.5, np.bool_),
        lambda rng: type(rng.random() < np.array(0.5)),
        lambda rng: type(next(iter(rng.random(2))) == 0.5),
        lambda rng: isinstance(rng.random(), float),
        lambda rng: isinstance(rng.random(2), np.ndarray),
        lambda rng: isinstance(rng.random(2)[1], np.float64),
    ):
        assert list(law_of(program)) == [program(real)]


def test_arrays_compare_entry_by_entry_with_arrays() -> None:
    bounds = np.array([0.25, 0.5])
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    expected = {
        (True, True): quarter * half,
        (True, False): quarter * half,
        (False, True): (1 - quarter) * half,
        (False, False): (1 - quarter) * half,
    }
    assert law_of(lambda rng: tuple((rng.random(2) < bounds).tolist())) == expected
    assert law_of(lambda rng: tuple((bounds > rng.random(2)).tolist())) == expected
    assert law_of(lambda rng: tuple(np.less(rng.random(2), bounds).tolist())) == expected


def test_one_number_against_many_bounds_is_one_number() -> None:
    found = law_of(lambda rng: int((rng.random() < np.array([0.25, 0.5, 0.75])).sum()))
    assert found == dict.fromkeys(range(4), Fraction(1, 4))


def test_shapes_broadcast_as_numpy_does() -> None:
    program = lambda rng: (rng.random((2, 1)) < np.array([0.5, 1.0, 0.0])).shape  # noqa: E731
    assert law_of(program) == {(2, 3): 1}
    shapes = lambda rng: (  # noqa: E731
        rng.random((2, 3)).ravel().shape,
        rng.random(6).reshape(2, 3).ndim,
        len(rng.random(6)),
        rng.random((2, 3)).size,
    )
    assert law_of(shapes) == {((6,), 2, 6, 6): 1}


class Level(enum.IntEnum):
    NONE = 0


def test_integer_subclasses_compare_by_value() -> None:
    assert law_of(lambda rng: rng.random() >= Level.NONE) == {True: 1}


@pytest.mark.parametrize(
    "escape",
    [
        lambda rng: float(rng.random()),
        lambda rng: math.log(rng.random()),
        lambda rng: f"{rng.random():.3f}",
        lambda rng: str(rng.random()),
        lambda rng: f"{rng.random()}",
        lambda rng: repr(rng.random(2)),
        lambda rng: {rng.random()},
        lambda rng: [1, 2][rng.random()],
        lambda rng: np.less(rng.random(2), 0.5, out=np.zeros(2, bool)),
        lambda rng: np.array([rng.random(), 2.0]),
        lambda rng: np.zeros(2).fill(rng.random()),
        lambda rng: np.full(3, rng.random()),
        lambda rng: rng.random().is_integer(),
        lambda rng: np.random.default_rng(0).binomial(1, rng.random()),
        lambda rng: pickle.dumps(rng.random()),
        lambda rng: rng.random() < np.float32(0.3),
        lambda rng: rng.random() < np.array([0.1], dtype=np.float32),
        lambda rng: rng.random() == 0.5 + 0j,
        lambda rng: rng.random() < np.longdouble(0.5),
    ],
)
def test_every_escape_aborts(escape: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"rng\.random\(\) .*cannot be enumerated"):
        law_of(lambda rng: concretise_all(escape(rng), "the output"))


@pytest.mark.parametrize(
    "line",
    [
        lambda rng: rng.random() + 1,
        lambda rng: 1 - rng.random(),
        lambda rng: np.float64(3) * rng.random(),
        lambda rng: np.arange(3) * rng.random(),
        lambda rng: -rng.random(),
        lambda rng: abs(rng.random()),
        lambda rng: copy.copy(rng.random()),
        lambda rng: copy.deepcopy(rng.random(2)),
    ],
)
def test_a_line_of_a_uniform_number_is_noise_where_it_is_told(line: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedRandomnessError, match="no single value has a probability"):
        lt.mechanism(lambda data, rng: line(rng)).law([0])


FOLLOWED = {
    "a product": (lambda rng: bool(np.arange(3) @ rng.random(3) < 3), {True: 1}),
    "a sum": (lambda rng: bool(rng.random(2).sum() < 1), {True: 0.5, False: 0.5}),
    "a largest": (lambda rng: int(np.argmax(rng.random(3))), dict.fromkeys(range(3), 1 / 3)),
    "an order": (lambda rng: bool(np.sort(rng.random(2))[0] < 0.5), {True: 0.75, False: 0.25}),
}


@pytest.mark.parametrize(("program", "expected"), FOLLOWED.values(), ids=FOLLOWED)
def test_uniform_numbers_that_meet_are_ideal_noise(program: Any, expected: Any) -> None:
    law = lt.output_law(lt.mechanism(lambda data, rng: program(rng)), np.array([0]))
    assert dict(law) == pytest.approx(expected, abs=1e-12)


def test_the_advice_is_to_compare() -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"rng\.random\(\) < p.*lt\.ClosedForm"):
        law_of(lambda rng: float(rng.random() * 2))


@pytest.mark.parametrize(
    "program",
    [
        lambda rng: rng.random() < "a",
        lambda rng: rng.random() < None,
        lambda rng: rng.random().shape,
        lambda rng: rng.random(2).nothing,
        lambda rng: rng.random(-1),
        lambda rng: rng.random("a"),
        lambda rng: rng.random(2)[5],
        lambda rng: rng.uniform(2, 1),
        lambda rng: rng.uniform(0, math.inf),
        lambda rng: rng.random(2) < np.zeros(3),
    ],
)
def test_what_fails_on_floats_fails_alike(program: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as caught:
        program(np.random.default_rng(0))
    assert law_of(program) == {type(caught.value): 1}


@pytest.mark.parametrize(
    "program",
    [
        lambda rng: rng.random(2, dtype=np.float32) < 0.5,
        lambda rng: rng.random(2, out=np.zeros(2)),
    ],
)
def test_inexact_or_unfollowed_uniforms_abort(program: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedRandomnessError):
        law_of(program)


def test_too_many_numbers_are_over_budget() -> None:
    with pytest.raises(BudgetError, match="random numbers drawn in one run"):
        law_of(lambda rng: rng.random(10**9))
