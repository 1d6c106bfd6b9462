"""Random programs: enumerated laws sum to 1, equal laws computed by hand, survive replay."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.points import from_array
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.values.draws.grid import GRID, Line
from tests.unit.enumerate.bits import generator_at, law_of

PROBABILITIES = st.floats(0.0, 1.0)
BITS = st.lists(st.integers(0, 1), min_size=1, max_size=5)


@dataclass(frozen=True)
class Node:
    """A random program: choose a branch by weight, then go on there; a leaf is an output."""

    weights: tuple[int, ...]
    branches: tuple[Any, ...]


def programs() -> st.SearchStrategy[Any]:
    leaves = st.integers(0, 3)

    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        entry = st.tuples(st.integers(0, 5), inner)
        return st.lists(entry, min_size=1, max_size=4).map(
            lambda entries: Node(
                (entries[0][0] + 1, *(weight for weight, _ in entries[1:])),
                tuple(branch for _, branch in entries),
            )
        )

    return st.recursive(leaves, extend, max_leaves=25)


def run(program: Any, tree: ChoiceTree) -> int:
    while isinstance(program, Node):
        program = program.branches[tree.choose(program.weights)]
    return int(program)


def by_recursion(program: Any) -> dict[int, Fraction]:
    if not isinstance(program, Node):
        return {program: Fraction(1)}
    law: Counter[int] = Counter()
    for weight, branch in zip(program.weights, program.branches, strict=True):
        for output, mass in by_recursion(branch).items():
            law[output] += mass * Fraction(weight, sum(program.weights))
    return {output: mass for output, mass in law.items() if mass}


@pytest.mark.slow
@given(programs())
def test_replay_gives_the_law_of_the_tree(program: Any) -> None:
    tree = ChoiceTree("program")
    found = tree.law(lambda: run(program, tree))
    assert found == by_recursion(program)
    assert sum(found.values()) == 1


def draw(kind: str, argument: Any, rng: Any) -> Any:
    """One random number of a kind, as an output."""
    match kind:
        case "coin":
            return rng.random() < argument
        case "integers":
            return int(rng.integers(1 + round(2 * argument)))
        case "choice":
            return rng.choice(3, p=[argument / 2, 1 - argument, argument / 2])
        case "binomial":
            return rng.binomial(2, argument)
        case "permutation":
            return tuple(rng.permutation(2).tolist())
        case "array":
            return tuple((rng.random(2) < argument).tolist())
        case _:
            u = rng.uniform(0, 3)
            return (u < 3 * argument, u <= 1, u > argument)


KINDS = ["coin", "integers", "choice", "binomial", "permutation", "array", "uniform"]
DRAWS = st.lists(st.tuples(st.sampled_from(KINDS), PROBABILITIES), max_size=3)


@pytest.mark.slow
@given(DRAWS, BITS)
def test_random_choice_programs_sum_to_one_and_their_draws_are_independent(
    draws: list[tuple[str, float]], bits: list[int]
) -> None:
    def program(data: Any, rng: Any) -> Any:
        return tuple(draw(kind, argument, rng) for kind, argument in draws)

    law = lt.mechanism(program).law(np.array(bits))
    assert law.fractions is not None
    assert sum(law.fractions) == 1
    single = [law_of(lambda rng, d=one: draw(*d, rng)) for one in draws]
    for outputs in product(*single):
        expected = math.prod(mass[o] for mass, o in zip(single, outputs, strict=True))
        assert law.exact(outputs) == expected


@pytest.mark.slow
@given(st.integers(0, 8), PROBABILITIES)
def test_a_sum_of_coins_is_exactly_binomial(n: int, p: float) -> None:
    success = Fraction(math.ceil(Fraction(p) * GRID), GRID)
    expected = {k: math.comb(n, k) * success**k * (1 - success) ** (n - k) for k in range(n + 1)}
    found = law_of(lambda rng: sum(rng.random() < p for _ in range(n)))
    assert found == {k: mass for k, mass in expected.items() if mass}


@given(st.integers(0, 12), PROBABILITIES)
def test_the_ideal_binomial_sums_to_one_and_has_its_mean(n: int, p: float) -> None:
    law = law_of(lambda rng: rng.binomial(n, p))
    assert sum(law.values()) == 1
    assert sum(k * mass for k, mass in law.items()) == n * Fraction(p)


@pytest.mark.slow
@given(
    st.lists(st.integers(0, GRID - 1), min_size=4, max_size=4), st.lists(PROBABILITIES, max_size=3)
)
def test_numpy_given_the_same_grid_points_takes_a_possible_path(
    points: list[int], bounds: list[float]
) -> None:
    # Whatever floats NumPy draws, what the program does with them is an output of the law.
    def program(rng: Any) -> Any:
        u, v = rng.random(), rng.uniform(0, 7)
        compared = [(u < p, p >= v, u == p) for p in bounds]
        weights = [0.25, 0.0, 0.75]
        return (str(compared), rng.choice(3, p=weights), bool(rng.random(1)[0] > 0.5))

    assert program(generator_at(points)) in law_of(program)


@given(
    st.sampled_from([(0.0, 1.0), (0.0, 10.0), (-1.0, 2.0), (1.0, 0.5), (0.0, 0.0)]),
    st.floats(-2, 11),
    st.booleans(),
)
def test_lines_cut_exactly_at_their_floats(
    ends: tuple[float, float], bound: float, on_the_line: bool
) -> None:
    line = Line(*ends)
    if on_the_line:
        bound = line.value(int(abs(bound) / 11 * (GRID - 1)))
    first, after = line.at_least(bound), line.above(bound)
    assert 0 <= first <= after <= GRID
    assert first == 0 or line.value(first - 1) < bound
    assert first == GRID or line.value(first) >= bound
    assert after == 0 or line.value(after - 1) <= bound
    assert after == GRID or line.value(after) > bound


@pytest.mark.slow
@settings(max_examples=30)
@given(BITS, st.floats(0.01, 0.49))
def test_randomised_response_has_its_closed_law(bits: list[int], flip: float) -> None:
    @lt.mechanism
    def response(data: Any, rng: Any) -> Any:
        flips = rng.random(len(data)) < flip
        return tuple((data ^ flips).tolist())

    mass = Fraction(math.ceil(Fraction(flip) * GRID), GRID)
    law = response.law(np.array(bits))
    for answer in product(range(2), repeat=len(bits)):
        flipped = sum(a != b for a, b in zip(answer, bits, strict=True))
        assert law.exact(answer) == mass**flipped * (1 - mass) ** (len(bits) - flipped)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(BITS.filter(lambda bits: len(bits) == 3), min_size=1, max_size=6))
def test_tables_agree_with_single_laws(datasets: list[list[int]]) -> None:
    @lt.mechanism
    def noisy(data: Any, rng: Any) -> Any:
        return int(data.sum()) if rng.random() < 0.3 else int(rng.integers(0, 4))

    points = np.array(datasets, dtype=np.int8).reshape(len(datasets), 3)
    table = noisy.laws(from_array(points))
    rows = table.distinct(np.arange(len(points)))
    for row, point in zip(rows, points, strict=True):
        law = noisy.fresh_law(point)
        for column, output in enumerate(table.outputs):
            assert math.isclose(
                np.exp(table.logs[row, column]), law.get(output, 0.0), rel_tol=1e-12
            )
