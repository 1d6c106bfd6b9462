"""Random programs of symbolic 0/1 variables have the laws of plain enumeration, types included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.enumeration import repeat
from liptest.enumerate.trees.outputs import canonical_output as canonical
from liptest.enumerate.trees.outputs import make_raised
from liptest.values.draws.grid import GRID, UNIT

#: A step: what is done, with which of the values so far, and a constant.
Program = list[tuple[str, int, int, int]]

WEIGHTS = (1, -2, 3, 1, 2, -1)
FLOATS = (0.25, -1.5, 2.0, 0.1, 1.0, 3.0)
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "maximum": np.maximum,
    "logical_and": np.logical_and,
}
ALONE: dict[str, Callable[[Any, int], Any]] = {
    "invert": lambda a, k: ~a,
    "neg": lambda a, k: -a,
    "abs": lambda a, k: abs(a),
    "one minus": lambda a, k: 1 - a,
    "as bool": lambda a, k: a.astype(bool),
    "as int": lambda a, k: a.astype(np.int64),
    "as small": lambda a, k: a.astype(np.int8),
    "as float": lambda a, k: a.astype(float),
    "plus": lambda a, k: a + k,
    "times": lambda a, k: k * a,
    "over": lambda a, k: a / k,
    "at least": lambda a, k: a >= k,
    "equals": lambda a, k: a == k,
    "where": lambda a, k: np.where(a, 0.25, -1.5 * k),
    "where whole": lambda a, k: np.where(a, k, 1),
    "sqrt": lambda a, k: np.sqrt(a),
}
ARRAYS: dict[str, Callable[[Any, int], Any]] = {
    "reversed": lambda a, k: a[::-1],
    "shifted": lambda a, k: np.roll(a, k),
    "taken": lambda a, k: a[[0, -1] * (len(a) // 2) + [0] * (len(a) % 2)],
    "twice": lambda a, k: np.concatenate([a[:1], a])[: len(a)],
    "masked": lambda a, k: a[np.arange(len(a)) != 7],
    "copied": lambda a, k: a.copy(),
}
NUMBERS: dict[str, Callable[[Any, int], Any]] = {
    "sum": lambda a, k: a.sum(),
    "part": lambda a, k: a[: len(a) - 1].sum(),
    "other part": lambda a, k: np.sum(a[1:]),
    "mean": lambda a, k: a.mean(),
    "any": lambda a, k: a.any(),
    "all": lambda a, k: np.all(a),
    "count": lambda a, k: np.count_nonzero(a),
    "max": lambda a, k: a.max(),
    "min": lambda a, k: a.min(),
    "argmax": lambda a, k: a.argmax(),
    "argmin": lambda a, k: np.argmin(a),
    "entry": lambda a, k: a[k % len(a)],
    "dot": lambda a, k: a @ np.array(WEIGHTS[: len(a)]),
    "float dot": lambda a, k: np.dot(np.array(FLOATS[: len(a)]), a),
    "python sum": lambda a, k: sum(a),
    "as int": lambda a, k: int(a[0]),
    "few": lambda a, k: 1 if a.sum() < k else 0,
    "text": lambda a, k: f"{a[-1]}",
    "listed": lambda a, k: tuple(a.tolist()),
    "spread": lambda a, k: a.std(),
    "summed up": lambda a, k: a.cumsum()[-1],
}
OF_ARRAYS = {**ALONE, **ARRAYS, **NUMBERS}


def run(program: Program, arrays: list[Any], looked_at: list[int]) -> Any:
    """All steps; values that are not arrays of the first length are numbers."""
    length = len(arrays[0])
    numbers: list[Any] = [2]
    for name, one, other, constant in program:
        if name.startswith("number "):
            name = name.removeprefix("number ")
            first = numbers[one % len(numbers)]
            if name in BINARY:
                found = BINARY[name](first, numbers[other % len(numbers)])
            elif name == "branch":
                found = 5 if first else constant
            elif name == "with array":
                found = arrays[other % len(arrays)] * first
            else:
                found = ALONE[name](first, constant)
        elif name == "set":
            changed = arrays[one % len(arrays)].copy()
            changed[constant % length :] = arrays[other % len(arrays)][constant % length :]
            found = changed
        elif name == "set where":
            changed = arrays[one % len(arrays)].copy()
            changed[arrays[other % len(arrays)] == 1] = constant
            found = changed
        elif name == "add to":
            changed = arrays[one % len(arrays)].copy()
            changed += arrays[other % len(arrays)]
            found = changed
        elif name in BINARY:
            found = BINARY[name](arrays[one % len(arrays)], arrays[other % len(arrays)])
        elif name == "either":
            both = arrays[other % len(arrays)], arrays[constant % len(arrays)]
            found = np.where(arrays[one % len(arrays)], *both)
        else:
            found = OF_ARRAYS[name](arrays[one % len(arrays)], constant)
        is_array = isinstance(found, np.ndarray) and found.shape == (length,)
        (arrays if is_array else numbers).append(found)
    values = [*arrays, *numbers]
    return tuple(values[-1 - place % len(values)] for place in looked_at)


STEPS = st.tuples(
    st.one_of(
        st.sampled_from(sorted(BINARY)),
        st.sampled_from(sorted(OF_ARRAYS)),
        st.sampled_from(sorted(NUMBERS)),
        st.sampled_from(["either", "set", "set where", "add to"]),
        st.sampled_from(["number branch", "number with array"]),
        st.sampled_from([f"number {name}" for name in (*BINARY, "plus", "times", "at least")]),
    ),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(0, 3),
)
# Fewer kinds of steps: sums, parts of them, entries and branches, again and again.
OF_SUMS = st.tuples(
    st.one_of(
        st.sampled_from(["sum", "part", "other part", "mean", "any", "few", "count", "dot"]),
        st.sampled_from(["entry", "reversed", "taken", "plus", "where whole", "argmax", "max"]),
        st.sampled_from(["xor", "and", "or", "add", "sub", "either", "mul", "set"]),
        st.sampled_from([f"number {name}" for name in ("add", "sub", "lt", "eq", "mul")]),
        st.sampled_from(["number branch", "number with array", "number times", "python sum"]),
    ),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(0, 3),
)
POINTS = st.one_of(st.sampled_from([0, GRID // 4, GRID // 2, GRID]), st.integers(0, GRID))


def caught(program: Callable[[], Any]) -> Any:
    try:
        output = program()
    except Exception as error:
        return make_raised(error)
    return canonical(output, "program", typed=True)


def plain_law(
    program: Program, data: Any, points: list[list[int]], looked_at: list[int]
) -> dict[Any, Fraction]:
    law: Counter[Any] = Counter()
    sides = [[(True, p), (False, GRID - p)] for row in points for p in row]
    for bits in product(*sides):
        mass = Fraction(1)
        for _, weight in bits:
            mass *= Fraction(weight, GRID)
        if mass:
            flat = np.array([bit for bit, _ in bits])
            arrays = [np.array(row) for row in flat.reshape(len(points), -1)]
            law[caught(lambda arrays=arrays: run(program, [*arrays, data], looked_at))] += mass
    return dict(law)


def symbolic_law(
    program: Program, data: Any, points: list[list[int]], looked_at: list[int]
) -> dict[Any, Fraction]:
    tree = ChoiceTree("program")
    rng = ChoiceGenerator(tree)

    def once() -> Any:
        bounds = [np.array([UNIT.value(p) for p in row]) for row in points]
        arrays = [rng.random(len(row)) < bound for row, bound in zip(points, bounds, strict=True)]
        return run(program, [*arrays, data.copy()], looked_at)

    return tree.law(lambda: caught(once))


def check(data: st.DataObject, steps: st.SearchStrategy[Any]) -> None:
    length = data.draw(st.integers(2, 4))
    draws = data.draw(st.integers(1, 6 // length))
    dataset = np.array(data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length)))
    row = st.lists(POINTS, min_size=length, max_size=length)
    points = data.draw(st.lists(row, min_size=draws, max_size=draws))
    program = data.draw(st.lists(steps, min_size=1, max_size=9))
    looked_at = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    expected = plain_law(program, dataset, points, looked_at)
    assert symbolic_law(program, dataset, points, looked_at) == expected


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_laws_are_those_of_enumeration(data: st.DataObject) -> None:
    check(data, STEPS)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.data())
def test_sums_of_sums_and_entries_after_them(data: st.DataObject) -> None:
    check(data, OF_SUMS)


class Repeated:
    """A run of random steps that another tree can follow."""

    real_floats = staticmethod(nullcontext)

    def __init__(self, tree: ChoiceTree, steps: Program, length: int) -> None:
        self.rng = ChoiceGenerator(tree)
        self.steps, self.length = steps, length

    def follow(self, tree: ChoiceTree) -> None:
        self.rng._tree = tree

    def __call__(self) -> Any:
        floats, size = self.rng.random(self.length), self.length
        arrays = [floats < 0.3, self.rng.integers(0, 2, size=size), floats >= 0.6]
        arrays.append(self.rng.choice([-1, 2], size=size, p=[0.25, 0.75]))
        return caught(lambda: run(self.steps, arrays, [0, 1, 2]))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(OF_SUMS, min_size=1, max_size=6), st.integers(2, 8))
def test_leaves_answer_alike_with_real_numbers(steps: Program, length: int) -> None:
    """Bits that are chosen for a leaf lead to its output, whatever was asked of them."""
    tree = ChoiceTree("program", max_leaves=32)
    program: Any = Repeated(tree, steps, length)
    law = tree.law(program)
    assert sum(law.values()) + tree.unexplored == 1
    for path, output in tree.kept.leaves:
        repeat(tree, program, path, output)
