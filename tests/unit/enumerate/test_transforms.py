"""Functions of a random float: laws cut exactly where the floats of the real function do."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.errors import BudgetError, UnsupportedRandomnessError
from liptest.values.draws import images
from liptest.values.draws.grid import GRID, UNIT
from liptest.values.draws.images import Step, pieces, regions
from liptest.values.draws.transforms import MATH, binary
from tests.unit.enumerate.bits import law_of, on_grid

Function = Callable[[Any], Any]


def plain(value: Any) -> Any:
    """What leaves the program; a number that stands for many aborts."""
    settled = getattr(type(value), "settled", None)
    return value if settled is None else settled(value, "the output")


def check_cuts(function: Function, found: dict[Any, Fraction], rising: bool = True) -> None:
    """The law's masses end at grid points where the real function changes its value."""
    cut = 0
    for value in sorted(found, reverse=not rising):
        start, cut = cut, cut + int(found[value] * GRID)
        for point in (start, cut - 1):
            assert function(point * 2.0**-53) == value, (value, point)
    assert cut == GRID


RISING: dict[str, Function] = {
    "int(u * 3)": lambda u: int(u * 3),
    "math.floor(u * 10 - 5)": lambda u: math.floor(u * 10 - 5),
    "math.ceil(u * 7)": lambda u: math.ceil(u * 7),
    "math.trunc(u * 10 - 5)": lambda u: math.trunc(u * 10 - 5),
    "round(u * 5)": lambda u: round(u * 5),
    "round(u, 1)": lambda u: round(u, 1),
    "10 // (1 - u) up to 1000": lambda u: min(1000.0, 10 // (1.1 - u)),
    "numpy.floor(numpy.sqrt(u) * 4)": lambda u: float(np.floor(np.sqrt(u) * 4)),
    "u ** 2": lambda u: int(u**2 * 8),
    "2 ** u": lambda u: int(2 ** (u * 3)),
    "exp": lambda u: int(np.exp(u * 2)),
    "clip": lambda u: int(np.clip(u, 0.25, 0.75) * 8),
    "maximum": lambda u: int(np.maximum(u, 0.5) * 8),
    "rint": lambda u: float(np.rint(u * 5)),
    "numpy.round": lambda u: float(np.round(u, 1)),
    "as a float": lambda u: float(np.float64(2) * u // 0.25),
    "in a format": lambda u: f"{np.floor(u * 4):.0f}",
    "numpy.searchsorted": lambda u: int(np.searchsorted([0.1, 0.5, 0.5, 0.7], u)),
    "numpy.searchsorted to the right": lambda u: int(np.searchsorted([0.1, 0.5], u, side="right")),
    "numpy.digitize": lambda u: int(np.digitize(u, [0.1, 0.5])),
    "as an index": lambda u: "abcd"[int(u * 4)],
}


@pytest.mark.parametrize("name", RISING)
def test_a_rising_function_is_cut_where_its_floats_are(name: str) -> None:
    function = RISING[name]
    check_cuts(function, law_of(lambda rng: plain(function(rng.random()))))


FALLING: dict[str, Function] = {
    "int(-u * 3)": lambda u: int(-u * 3),
    "1 - u": lambda u: math.floor((1 - u) * 4),
    "1 / (1 + u)": lambda u: int(10 / (1 + u)),
    "0.5 ** u": lambda u: int(0.5**u * 10),
}


@pytest.mark.parametrize("name", FALLING)
def test_a_falling_function_is_cut_where_its_floats_are(name: str) -> None:
    function = FALLING[name]
    check_cuts(function, law_of(lambda rng: plain(function(rng.random()))), rising=False)


LIBRARY_SAMPLERS: dict[str, Function] = {
    "inverse of the geometric cdf": lambda u: int(-np.log1p(-u) / 0.7),
    "log of math": lambda u: math.floor(math.log(1 - u) / math.log(0.6)),
    "expovariate": lambda u: int(-math.log(1.0 - u) / 0.25),
    "log to a base": lambda u: int(-math.log(1.0 - u, 3) * 2),
    "log2": lambda u: int(-math.log2(1.0 - u)),
    "sqrt": lambda u: int(math.sqrt(u) * 5),
    "pow": lambda u: int(math.pow(u, 2.5) * 5),
    "copysign": lambda u: math.copysign(1, u - 0.3),
    "a laplace sampler": lambda u: round(
        -1.5 * math.copysign(1, u - 0.5) * math.log(max(1 - 2 * abs(u - 0.5), 1e-9))
    ),
    "expm1": lambda u: int(math.expm1(u) * 4),
}


@pytest.mark.parametrize("name", LIBRARY_SAMPLERS)
def test_the_module_math_is_followed(name: str) -> None:
    function = LIBRARY_SAMPLERS[name]
    check_cuts(function, on_grid(lambda data: function(random.random())))


@given(
    st.sampled_from(["add", "sub", "mul", "truediv", "rsub", "rtruediv", "pow", "rpow"]),
    st.floats(0.01, 100.0),
    st.floats(-50.0, 50.0),
    st.booleans(),
)
def test_a_threshold_counts_the_points_below_it(
    name: str, constant: float, bound: float, numpy: bool
) -> None:
    operation = getattr(operator, name.removeprefix("r") if name[0] == "r" else name)

    def below(u: Any) -> Any:
        value = operation(constant, u) if name[0] == "r" else operation(u, constant)
        return bool(value < bound)

    def program(rng: Any) -> Any:
        # 1 - u is never 0, which a quotient would trip over.
        u = rng.random(1)[0] if numpy else rng.random()
        return below(1 - u)

    found = law_of(program)
    assert sum(found.values()) == 1
    cut = int(found.get(True, Fraction(0)) * GRID)
    convert = np.float64 if numpy else float
    ends = {below(1 - convert(point * 2.0**-53)) for point in (0, GRID - 1)}
    assert ends == set(found) if len(found) == 1 else len(found) == 2
    if len(found) == 2:
        first = below(1 - convert(0.0))
        at = cut if first else GRID - cut
        assert below(1 - convert((at - 1) * 2.0**-53)) == first
        assert below(1 - convert(at * 2.0**-53)) != first


def test_sides_of_zero_are_kept_apart() -> None:
    half = Fraction(1, 2)
    found = law_of(lambda rng: 1 / (rng.random() - 0.5) > 0)
    assert found == {
        False: half,
        True: half - Fraction(1, GRID),
        ZeroDivisionError: Fraction(1, GRID),
    }
    assert law_of(lambda rng: abs(rng.random() - 0.5) < 0.25) == {
        True: half - Fraction(1, GRID),
        False: half + Fraction(1, GRID),
    }
    assert law_of(lambda rng: (rng.random() - 0.5) ** 2 > 1 / 16)[True] == half - Fraction(1, GRID)


def test_results_that_are_one_number_are_that_number() -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = law_of(lambda rng: str(np.floor(np.log(np.floor(rng.random() * 3) - 1))))
    third = Fraction(math.ceil(Fraction(GRID, 3)), GRID)
    assert found["nan"] == third
    assert set(found) == {"nan", "-inf", "0.0"}


@pytest.mark.parametrize(
    "program",
    [
        lambda u: u * 2,
        lambda u: 2 - u,
        lambda u: np.float64(2) * u,
        lambda u: np.log1p(u),
        lambda u: u // 0.3,
        lambda u: round(u, 2),
        lambda u: np.round(u, 2),
        lambda u: int(u * 3),
        lambda u: round(u),
        lambda u: u * np.arange(3),
        lambda u: (u * np.ones((2, 1)))[0],
        lambda u: np.maximum(u, [0.2, 0.3]),
        lambda u: u + 1j,
        lambda u: u + "a",
        lambda u: u * [1],
        lambda u: u + None,
        lambda u: u.shape,
        lambda u: [1] * u,
        lambda u: u + {},
        lambda u: u.nothing,
        lambda u: np.float32(2) * np.floor(u),
    ],
)
def test_types_and_errors_are_those_of_floats(program: Function) -> None:
    for draw in (lambda rng: rng.random(), lambda rng: rng.random(2)[0]):

        def described(rng: Any, draw: Any = draw) -> Any:
            value = program(draw(rng))
            return value.__class__.__name__, getattr(value, "shape", None)

        try:
            expected: Any = described(np.random.default_rng(0))
        except Exception as error:
            expected = type(error)
        try:
            assert set(law_of(described)) == {expected}
        except UnsupportedRandomnessError:
            assert expected[0] in ("complex", "float32", "complex128", "ndarray")


def test_arrays_calculate_entry_by_entry() -> None:
    def program(rng: Any) -> Any:
        u = rng.random((2, 1))
        u *= 2
        u -= np.array([0.0, 1.0])[:, None]
        return tuple(map(plain, np.floor(u * np.array([[1, 2]])).ravel()))

    assert law_of(program) == {
        (float(a // 2), float(a), float(b // 2), float(b)): Fraction(1, 16)
        for a in range(4)
        for b in range(-2, 2)
    }


def test_an_entry_is_settled_for_good() -> None:
    def program(rng: Any) -> Any:
        u = rng.random(2) * 2
        first = u.astype(int)
        return tuple((first == np.floor(u)).tolist()), first[0]

    half = Fraction(1, 2)
    assert law_of(program) == {((True, True), 0): half, ((True, True), 1): half}


def test_writing_into_an_array_changes_it() -> None:
    def program(rng: Any) -> Any:
        u = rng.random(3)
        u[0] = 0.5
        u[1:] = 2 * u[1:]
        return bool(u[0] == 0.5), bool(u[2] < 1)

    half = Fraction(1, 2)
    assert law_of(program) == {(True, True): half, (True, False): half}


def test_every_followed_number_is_finite() -> None:
    def program(data: Any, rng: Any) -> Any:
        u = rng.random(2) * 3
        return (
            math.isnan(u[0]),
            math.isfinite(u[0]),
            math.isinf(rng.random()),
            type(np.isnan(u[0])) is np.bool_,
            np.isfinite(u),
        )

    law = lt.output_law(lt.mechanism(program), np.array([0]))
    assert dict(law) == {(False, True, False, True, (True, True)): 1.0}


def test_two_rounded_numbers_add_up() -> None:
    found = law_of(lambda rng: float(np.floor(rng.random() * 2) + np.floor(rng.random() * 2)))
    assert found == {0.0: Fraction(1, 4), 1.0: Fraction(1, 2), 2.0: Fraction(1, 4)}


@pytest.mark.parametrize(
    "program",
    [
        lambda rng: np.copyto(np.zeros(2), np.floor(rng.random(2))),
        lambda rng: rng.random() % 0.5 < 0.1,
        lambda rng: math.sin(rng.random()),
        lambda rng: np.searchsorted([0.5, 0.1], rng.random()),
        lambda rng: np.searchsorted([0.5], rng.random(2)),
        lambda rng: (rng.random() - 0.7) ** 0.5,
    ],
)
def test_what_is_no_monotone_function_aborts(program: Function) -> None:
    with pytest.raises(UnsupportedRandomnessError, match="cannot be enumerated exactly"):
        law_of(lambda rng: str(program(rng)))


@pytest.mark.slow
def test_too_many_values_are_over_budget() -> None:
    with pytest.raises(BudgetError, match="too many values to be enumerated"):
        law_of(lambda rng: int(rng.random() * 2**40))


def test_a_long_tail_stays_unexplored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_PIECES", 64)
    monkeypatch.setattr(images, "_FIRST_PIECES", 16)
    law = lt.output_law(lt.mechanism(lambda data, rng: int(1 / (1 - rng.random()))), np.array([0]))
    assert len(law) == 64
    # No 64 values are more likely than 1 .. 64.
    assert 1 / 65 <= law.unexplored < 1 / 10
    assert sum(law.fractions) + law.unexplored == 1


def test_a_function_that_is_not_monotone_is_refused() -> None:
    wobbling = Step("wobble", lambda x: x + (int(x * GRID) % 2) * 1e-3, lambda x: 1)
    (region,) = regions(UNIT, wobbling)
    assert region.refused is not None
    assert "not monotone" in region.refused


def test_a_cut_in_a_wobble_is_uncertain() -> None:
    def apply(x: float) -> float:
        point = int(x * GRID)
        return x + (2.0**-50 if abs(point - GRID // 2) < 6 and point % 2 else 0.0)

    (region,) = regions(UNIT, Step("wobble", apply, lambda x: 1))
    assert region.image is not None
    assert region.image.at_least(0.25) == GRID // 4
    assert region.image.at_least(0.5) == -1
    assert pieces(region.image, 0, GRID, lambda x: x >= 0.5) is None


def test_equal_steps_are_one_object() -> None:
    assert binary(operator.mul, 2.0, swapped=False) is binary(operator.mul, 2.0, swapped=False)
    assert binary(operator.mul, 2.0, swapped=False) is not binary(operator.mul, 2, swapped=False)
    assert binary(operator.truediv, 0.0, swapped=True) is not binary(
        operator.truediv, -0.0, swapped=True
    )
    assert binary(operator.add, "a", swapped=False) is None
    assert math.log in MATH
