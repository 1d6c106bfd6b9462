"""Answers in their order, and given numbers that are compared or rounded: prices beside moves."""

from __future__ import annotations

import statistics
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.symbolic.answer_functions import (
    FIRST_FUNCTION,
    AnswerFunction,
    AnswerSum,
    IsAbove,
    Rounded,
    SumOfRank,
    with_functions,
)
from liptest.symbolic.answers import Answer, Differences
from tests.unit.written_programs import program

MANY = 5
#: Functions of answers, each of which may move by 1, and by how much the result moves at most.
TEXTS = {
    "np.median(data)": 1,
    "np.median(data[:4])": 1,
    "np.sort(data)[-2]": 1,
    "np.sort(data)[1:-1].mean()": 1,
    "np.sort(data)[-3:].sum()": 3,
    "sorted(data)[0] + sorted(data)[4]": 2,
    "sum(sorted(data, reverse=True)[:2])": 2,
    "sum(sorted([float(x) for x in data])[:2])": 2,
    "np.percentile(data, 30)": 1,
    "np.quantile(data, [0.25, 0.75])[1] - np.quantile(data, 0.25)": 2,
    "np.percentile(data, 100) - np.percentile(data, 0)": 2,
    "np.ptp(data)": 2,
    "statistics.median(data)": 1,
    "statistics.median(data.tolist()[:4])": 1,
    "np.sort(np.abs(data))[2]": 1,
    "np.sort(np.clip(data, 0, 3))[2]": 1,
    "np.sort(2 * data)[2]": 2,
    "np.floor(data).sum()": 5,
    "np.ceil(-data[0])": 1,
    "np.round(data[0])": 2,
    "np.trunc(data[0])": 1,
    "int(data[0]) + round(data[1])": 3,
    "(data > 2).sum()": 5,
    "(data >= 2.5).sum() / 5": 1,
    "np.count_nonzero(data < 1)": 5,
    "int(3 * data[0] - 1 > 5) + int(data[1] == 4)": 2,
    "np.convolve(data, [0.5, 0.5], mode='valid').sum()": 4,
    "np.dot(data, np.arange(5))": 10,
    "np.average(data, weights=[1, 0, 0, 2, 1])": 1,
    "np.einsum('i,i->', data, [1.0, 0, 2, 0, 0])": 3,
    "np.gradient(data)[0]": 2,
    "np.trace(np.outer(data, np.ones(5)))": 5,
}


@cache
def price_of(text: str) -> Fraction | None:
    function = program(f"return float({text}) + rng.laplace(0, 1)", statistics=statistics)
    price = align(lt.mechanism(function), lt.Answers(MANY)).price
    return None if price is None else price.epsilon


@pytest.mark.parametrize(("text", "most"), TEXTS.items())
def test_the_price_is_the_largest_move(text: str, most: int | None) -> None:
    assert price_of(text) == most


NUMBERS = st.one_of(st.integers(-6, 6).map(lambda k: k / 2), st.floats(-9, 9))
STEPS = st.one_of(st.sampled_from([-1.0, 1.0, 0.5, 0.0]), st.floats(-1, 1))


@given(
    st.sampled_from([text for text, most in TEXTS.items() if most]),
    st.lists(st.tuples(NUMBERS, STEPS), min_size=MANY, max_size=MANY),
)
def test_no_function_moves_further(text: str, drawn: list[tuple[float, float]]) -> None:
    left = np.array([number for number, _ in drawn])
    right = left + np.array([step for _, step in drawn])
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    if max(abs(Fraction(b) - Fraction(a)) for a, b in pairs) > 1:
        return  # rounded away
    space: dict[str, Any] = {"np": np, "statistics": statistics}
    values = [float(eval(text, {**space, "data": side})) for side in (left, right)]
    price = price_of(text)
    assert price is not None
    assert abs(values[0] - values[1]) <= price + 1e-9


@given(
    st.sampled_from(["floor", "ceil", "rint", "trunc"]),
    st.fractions(-3, 3, max_denominator=8),
    st.fractions(-3, 3, max_denominator=8),
)
def test_given_numbers_are_rounded_within_their_reach(
    how: str, number: Fraction, move: Fraction
) -> None:
    rounded = Rounded((AnswerSum(()),), how, is_exact=True)
    low, high = rounded.reach([move])
    assert low <= rounded.value([number + move]) - rounded.value([number]) <= high


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=5))
def test_ranks_move_between_the_least_and_the_largest_move(pairs: list[tuple[int, int]]) -> None:
    numbers, moves = ([Fraction(pair[side]) for pair in pairs] for side in (0, 1))
    for rank in range(len(pairs)):
        function = SumOfRank((AnswerSum(()),) * len(pairs), rank)
        moved = [number + move for number, move in zip(numbers, moves, strict=True)]
        low, high = function.reach(moves)
        assert low <= function.value(moved) - function.value(numbers) <= high


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        ("np.median(data)", 0.9),
        ("sum(sorted(data, reverse=True)[:2])", 1.9),
        ("(data > 5).sum()", 4.9),
        ("int(data[0] >= 7) + int(data[1] < -3)", 1.9),
        ("np.count_nonzero(data == 4)", 4.9),
    ],
)
@pytest.mark.parametrize("relation", ["all", "one"])
def test_what_is_claimed_too_small_is_refuted(text: str, epsilon: float, relation: str) -> None:
    if relation == "one":
        epsilon = 0.9
    function = program(f"return float({text}) + rng.laplace(0, 1)")
    verdict = lt.check_privacy(function, lt.Answers(MANY, relation=relation), epsilon=epsilon)
    assert verdict.decision == "NO"


def test_one_answer_that_moves_moves_each_rank() -> None:
    function = program("return float(np.sort(data)[2]) + rng.laplace(0, 1)")
    assert lt.check_privacy(function, lt.Answers(9, relation="one"), epsilon=1.0).decision == "YES"


def test_the_order_itself_is_not_told() -> None:
    function = program("return int(np.argsort(data)[0])")
    assert lt.check_privacy(function, lt.Answers(3), epsilon=9.0).decision == "NO"
    shared = program("m = np.median(data)\nreturn [float(x - m) + rng.laplace(0, 1) for x in data]")
    price = align(lt.mechanism(shared), lt.Answers(3)).price
    assert price is not None
    assert price.epsilon is not None
    assert (
        price.epsilon >= 4
    )  # m stays, two answers move; or m moves, and all of them the other way


#: Programs of answers of which one moves by 1, and their exact epsilon.
ONE_MOVES = {
    "float((data > 2).sum()) + rng.laplace(0, 1)": 1.0,
    "int((data > 2).sum()) + rng.geometric(0.5) - rng.geometric(0.5)": float(np.log(2)),
    "[int(x > 2) + rng.laplace(0, 1) for x in data]": 1.0,
    "(np.floor(data) + rng.laplace(0, 1, 5)).tolist()": 1.0,
    "(data + rng.laplace(0, 2, 5)).tolist(), (data > 2).sum() + rng.laplace(0, 4)": 0.75,
    "(np.round(data) - data + rng.laplace(0, 1, 5)).tolist()": 3.0,
    "(data > 1).sum() - (data > 3).sum() + rng.laplace(0, 1)": 2.0,
}


@pytest.mark.parametrize(("text", "epsilon"), ONE_MOVES.items())
def test_functions_of_the_one_answer_that_moves(text: str, epsilon: float) -> None:
    price = align(lt.mechanism(program(f"return {text}")), lt.Answers(MANY, relation="one")).price
    assert price is not None
    assert price.epsilon is not None
    assert float(price.epsilon) == pytest.approx(epsilon)


@given(
    st.sampled_from(["floor", "rint", "trunc"]),
    st.lists(st.tuples(NUMBERS, st.booleans()), min_size=3, max_size=3),
    st.integers(0, 2),
    STEPS,
    st.lists(st.integers(-2, 2), min_size=6, max_size=6),
)
def test_no_difference_is_left_out_where_one_moves(
    how: str, drawn: list[tuple[float, bool]], place: int, step: float, factors: list[int]
) -> None:
    answers = [Answer(k, is_given=True) for k in range(3)]
    functions = [
        Rounded((AnswerSum(((answer, 1),)),), how, is_exact=True)
        if is_rounded
        else IsAbove((AnswerSum(((answer, 1),), -2),))
        for answer, (_, is_rounded) in zip(answers, drawn, strict=True)
    ]
    own = [
        Answer(FIRST_FUNCTION + k, function.is_whole, function=function)
        for k, function in enumerate(functions)
    ]
    differences = with_functions(Differences.of_one([1] * 3), own)
    left = [Fraction(number) for number, _ in drawn]
    right = [*left]
    right[place] += Fraction(step)
    moves = {k: b - a for k, (a, b) in enumerate(zip(left, right, strict=True))}
    for k, (function, part) in enumerate(zip(functions, answers, strict=True)):
        values = [
            function.value([side[part.number] + part_offset(function)]) for side in (left, right)
        ]
        moves[FIRST_FUNCTION + k] = values[1] - values[0]
    asked = dict(zip([*range(3), *(answer.number for answer in own)], factors, strict=True))
    assert sum(factor * moves[number] for number, factor in asked.items()) <= differences.largest(
        {number: factor for number, factor in asked.items() if factor}
    )


def part_offset(function: AnswerFunction) -> int:
    """What the sum that a function is of has beside the answer."""
    return int(function.parts[0].constant)
