"""Runs with real random numbers inside the intervals of a leaf must answer as the leaf did."""

from __future__ import annotations

import json
import math
import random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.intercept import generator
from liptest.enumerate.trees import enumeration
from liptest.enumerate.trees.repeated_leaves import SMALL
from liptest.mechanisms.laws import OutputLaw
from liptest.values.draws.grid import GRID, Line
from liptest.values.draws.questions import ListedBranches

DATA = np.array([1, 0, 1])


def law_of(function: Any) -> OutputLaw:
    return lt.mechanism(function).law(DATA)


def test_all_kinds_of_draws_together() -> None:
    def program(data: Any, rng: Any) -> Any:
        first = rng.random() < 0.3
        array = rng.random(2)
        order = rng.permutation(2)
        inside = 0.25 <= array[order[0]] < 0.5
        return first, inside, math.floor(3 * rng.random()), int(rng.integers(2))

    law = law_of(program)
    # Each of 2 * 2 * 2 * 3 * 2 ways, of which the interval is cut twice.
    assert law.leaves == 72
    assert law.repeated == SMALL
    assert sum(law.fractions) == 1


def test_a_leaf_that_no_noise_can_reach_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it would be if a question did not see that an answer contradicts an earlier one."""
    monkeypatch.setattr(ListedBranches, "is_possible", lambda question, way: True)

    def program(data: Any, rng: Any) -> Any:
        x, y = rng.laplace(size=2)
        return bool(x > y), bool(x < y - 1)

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"cannot all hold .*test_hon"):
        law_of(program)


def test_few_leaves_are_all_repeated() -> None:
    law = law_of(lambda data, rng: int(rng.integers(4)))
    assert (law.leaves, law.repeated) == (4, 4)


#: A class in a tuple, which cannot be changed, is seen by repetition only.
KIND = (type,)


def by_class(data: Any, rng: Any) -> Any:
    truth = (rng.random(2) < 0.5)[0]
    return truth if type(truth) is np.bool_ else 2


def by_name(data: Any, rng: Any) -> Any:
    return rng.random() < 0.5 if type(rng.laplace()).__name__ == "float" else 2


def by_one_of_two(data: Any, rng: Any) -> Any:
    return rng.laplace() > 0 if type(rng.random()) in (int, float) else 2


def in_one_leaf(data: Any, rng: Any) -> Any:
    coins = [int(rng.random() < 0.5) for _ in range(6)]
    first, number = coins[0], rng.random()
    return 1 if sum(coins[1:]) == 5 and type(number) is float else first


@pytest.mark.parametrize("program", [by_class, by_name, by_one_of_two])
def test_the_kind_of_a_number_is_that_of_real_ones(program: Any) -> None:
    """Each answered 2, which only repetition noticed."""
    assert dict(law_of(program)) == pytest.approx({False: 0.5, True: 0.5})


def test_the_kind_of_a_number_is_right_in_a_leaf_that_is_not_repeated() -> None:
    """One leaf of 64 asks: whether it was repeated was chance."""
    with mock.patch.object(enumeration, "repeat", return_value=0):
        found = law_of(in_one_leaf)
    assert dict(found) == pytest.approx({0: 31 / 64, 1: 33 / 64})


@pytest.mark.parametrize(
    "program",
    [
        lambda data, rng: KIND[0](rng.random()) is float,
        lambda data, rng: KIND[0](rng.random(2)).__name__,
        lambda data: KIND[0](random.random()) is float,
    ],
)
def test_looking_at_the_kind_of_a_number_is_noticed(program: Any) -> None:
    with pytest.raises(
        lt.errors.NonDeterministicError, match="with real random numbers it answers"
    ):
        law_of(program)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.slow] * (n not in (0, 5))) for n in range(8)]
)
@pytest.mark.parametrize("draw", ["random", "laplace"])
def test_an_exception_that_only_stand_ins_meet_is_noticed_at_any_leaf(
    draw: str, number: int
) -> None:
    """C code that takes real floats only raises TypeError."""

    def program(data: Any, rng: Any) -> Any:
        drawn = getattr(rng, draw)()
        found = int(rng.integers(8))
        return json.dumps(drawn) > "0.5" if found == number else found

    with pytest.raises(
        lt.errors.NonDeterministicError, match="with real random numbers it answers"
    ):
        law_of(program)


def test_a_wrong_cut_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check has power: an analysis that is off by one grid point fails it."""

    class Wrong(Line):
        def _at_least(self, bound: Any) -> int:
            return super()._at_least(bound) + 1

    monkeypatch.setattr(generator, "UNIT", Wrong(0.0, 1.0))
    found = 0
    for k in range(1, 12):
        try:
            law_of(lambda data, rng, p=k / 12: rng.random() < p)
        except lt.errors.NonDeterministicError:
            found += 1
    assert found >= 3


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["<", "<=", ">", ">=", "floor", "array", "integers", "log"]),
            st.integers(0, GRID),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_random_programs_pass(steps: list[tuple[str, int]]) -> None:
    def program(data: Any, rng: Any) -> Any:
        seen: list[Any] = []
        for kind, place in steps:
            bound = place / GRID
            number = rng.random()
            if kind == "<":
                seen.append(number < bound)
            elif kind == "<=":
                seen.append(number <= bound)
            elif kind == ">":
                seen.append(number > bound and number < 0.9)
            elif kind == ">=":
                seen.append(bool(1.0 - number >= bound))
            elif kind == "floor":
                seen.append(int(number * (1 + place % 3)))
            elif kind == "array":
                seen.append(tuple(bool(b) for b in rng.random(2) < bound))
            elif kind == "integers":
                seen.append(int(rng.integers(1 + place % 3)))
            else:
                seen.append(bool(np.log(number + 0.5) < bound - 0.5))
        return tuple(seen)

    law = law_of(program)
    assert sum(law.fractions) == 1
    assert law.repeated >= min(law.leaves, 4)


def test_nothing_real_is_left_behind() -> None:
    held: list[Any] = []

    def keeps(data: Any, rng: Any) -> bool:
        number = rng.random()
        held.append(number)
        return number < 0.5

    law_of(keeps)
    with pytest.raises(BaseException, match="drawn in an earlier run"):
        held[0] < 0.25  # noqa: B015


def test_names_of_the_check_are_not_names_of_numbers() -> None:
    def parts(data: Any, rng: Any) -> Any:
        number = rng.random()
        return number.real < 0.5, number.imag == 0.0

    try:
        found = law_of(parts)
    except lt.errors.UnsupportedRandomnessError:
        return  # refused by name, which is not a wrong law
    assert dict(zip(found.outputs, found.fractions, strict=True)) == {
        (True, True): 0.5,
        (False, True): 0.5,
    }


def scale_by_type(data: Any, rng: Any) -> Any:
    scale = 1.0 if KIND[0](rng.random()) is not float else 0.1
    return int(np.clip(np.round(data.sum() + rng.laplace(0, scale)), 0, 3))


def range_by_type(data: Any, rng: Any) -> Any:
    low = 0.0 if KIND[0](rng.random()) is not float else 0.5
    return bool(rng.uniform(low, 1.0) < 0.5)


def ranges_by_type(data: Any, rng: Any) -> Any:
    low = 0.0 if KIND[0](rng.random()) is not float else 0.5
    return bool((rng.uniform(low, 1.0, size=3) < 0.5).all())


def chances_by_type(data: Any, rng: Any) -> Any:
    chance = 0.5 if KIND[0](rng.random()) is not float else 0.9
    return int(rng.binomial(1, chance, size=5).sum())


def shape_by_type(data: Any, rng: Any) -> Any:
    size = 1 if KIND[0](rng.random()) is not float else 2
    return bool((rng.random(size) < 0.5).all())


def another_draw_by_type(data: Any, rng: Any) -> Any:
    if KIND[0](rng.random()) is float:
        return bool(rng.laplace() > 0)
    return bool(rng.random() > 0.5)


def one_more_by_type(data: Any, rng: Any) -> Any:
    if KIND[0](rng.random()) is float:
        rng.random()
    return bool(rng.random() > 0.5)


def one_less_by_type(data: Any, rng: Any) -> Any:
    if KIND[0](rng.random()) is not float:
        rng.random()
    return 1


DRAWS_BY_TYPE = [scale_by_type, range_by_type, ranges_by_type, chances_by_type, shape_by_type]
NUMBERS_BY_TYPE = [another_draw_by_type, one_more_by_type, one_less_by_type]


@pytest.mark.parametrize("program", [*DRAWS_BY_TYPE, *NUMBERS_BY_TYPE])
def test_drawing_otherwise_for_real_numbers_is_noticed(program: Any) -> None:
    with pytest.raises(lt.errors.NonDeterministicError, match="kind of object"):
        lt.output_law(lt.mechanism(program), np.array([0, 1, 1]))
