"""Loops that are left by ``return``: what they return is calculated behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.returns_of_loops import with_returns_behind_loops
from liptest.enumerate.source import read_source
from liptest.enumerate.tree_pieces import nodes_in


def clipped(record: int) -> int:
    return min(max(record, 0), 1)


def counted_by_numpy(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 20:
            return float(np.count_nonzero(data)) + z


def counted_by_a_function(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 20:
            return sum(map(clipped, data)) + z


def counted_by_a_loop(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace()
        if abs(z) <= 20:
            total = 0
            for v in data:
                total += v
            return total + z


@pytest.mark.parametrize("program", [counted_by_numpy, counted_by_a_function, counted_by_a_loop])
def test_what_a_loop_returns_may_walk_over_records(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "method": "alignment"}
    domain = lt.Hypercube(5000)
    found = lt.check_privacy(lt.mechanism(program), domain, epsilon=1.0, delta=1e-6, **options)
    assert found.decision == "YES"
    found = lt.check_privacy(lt.mechanism(program), domain, epsilon=0.99, delta=1e-6, **options)
    assert found.decision == "INCONCLUSIVE"


def two_loops(items: Iterator[int]) -> Any:
    found = []
    for _ in range(3):
        while True:
            item = next(items)
            while True:
                item += 1
                if item % 3 == 0:
                    break
            if item % 5 == 0:
                for k in range(10):
                    if k == 2:
                        continue
                    if k > 3:
                        break
                    found.append(k)
                return item, found
            found.append(item)
    return None


def left_by_break_too(items: Iterator[int]) -> Any:
    while True:
        item = next(items)
        if item == 7:
            break
        if item == 4:
            return "four"
    return "seven"


def left_in_two_ways(items: Iterator[int]) -> Any:
    while True:
        item = next(items)
        if item == 4:
            return "four"
        if item == 7:
            return "seven"


def left_from_inside(items: Iterator[int]) -> Any:
    while True:
        item = next(items)
        for k in (1, 2):
            if item == k:
                return "inside"
        if item == 4:
            return "four"


def goes_on_in_it(items: Iterator[int]) -> Any:
    while True:
        item = next(items)
        if item > 2:
            if item == 4:
                continue
            return item


def asks_a_test(items: Iterator[int]) -> Any:
    item = 0
    while item < 3:
        item = next(items)
        if item == 2:
            return "two"
    return "more"


PROGRAMS = (
    *(two_loops, left_by_break_too, left_in_two_ways),
    *(left_from_inside, goes_on_in_it, asks_a_test),
)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("start", range(9))
def test_the_program_stays_what_it_is(program: Any, start: int) -> None:
    source = read_source(program)
    assert source is not None
    made = with_returns_behind_loops(source)
    again = made.compiled(made.node, {})
    assert again is not None

    def outcome(function: Any) -> Any:
        items = iter((*range(start, 9), 14))
        try:
            return function(items), list(items)
        except StopIteration:
            return "no more"

    assert outcome(again) == outcome(program)
    is_changed = program in (two_loops, left_from_inside)
    assert (made is not source) == is_changed
    loops = nodes_in(made.body, ast.While)
    returns = sum(len(list(nodes_in(loop.body, ast.Return))) for loop in loops)
    assert not is_changed or returns == (program is left_from_inside)
