"""Loops that are left by ``return``: what they return is calculated behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.folded import folding
from liptest.enumerate.loops.spellings import with_returns_behind_loops
from liptest.enumerate.samplers.summed_up import draws_noise_again
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.enumerate.syntax.source import read_source
from liptest.enumerate.syntax.tree_pieces import nodes_in


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


@pytest.mark.slow
@pytest.mark.parametrize("program", [counted_by_numpy, counted_by_a_function, counted_by_a_loop])
def test_what_a_loop_returns_may_walk_over_records(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "method": "alignment"}
    for epsilon, decision in ((1.0, "YES"), (0.99, "INCONCLUSIVE")):
        claim = {"epsilon": epsilon, "delta": 1e-6}
        found = lt.check_privacy(lt.mechanism(program), lt.Hypercube(60), **claim, **options)
        assert found.decision == decision
        assert decision == "INCONCLUSIVE" or "for every number of records" in str(found)


def returning(change: ast.expr) -> Any:
    """What moves returns, and returns something else there."""

    class Changed(ast.NodeTransformer):
        def visit_Return(self, node: ast.Return) -> Any:
            assert node.value is not None
            node.value = ast.BinOp(node.value, ast.Add(), change)
            return ast.fix_missing_locations(ast.copy_location(node, node))

    def moved(source: Any) -> Any:
        made = with_returns_behind_loops(source)
        return made if made is source else replace(made, node=Changed().visit(made.node))

    return moved


@pytest.mark.parametrize("change", ["1", "z"])
def test_what_is_moved_wrongly_is_noticed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expression = ast.parse(change, mode="eval").body
    monkeypatch.setattr(folding, "with_returns_behind_loops", returning(expression))
    mechanism, domain = lt.mechanism(counted_by_numpy), lt.Hypercube(4)
    assert isinstance(mechanism.align_paths(domain, way="passes"), NoPaths)


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


def told_at_last(items: Iterator[int]) -> Any:
    told: list[Any] = []
    try:
        while True:
            item = next(items)
            told.append(item)
            if item % 4 == 3:
                told.append("left")
                return told
    finally:
        told.append("at last")


def told_instead(items: Iterator[int]) -> Any:
    while True:
        try:
            while True:
                item = next(items)
                if item % 4 == 3:
                    return item
        finally:
            if item == 3:
                continue  # noqa: B012


def caught_around(items: Iterator[int]) -> Any:
    try:
        while True:
            item = next(items)
            if item % 3 == 2:
                return 1 / (item - 2)
    except ZeroDivisionError:
        return "caught"


def caught_inside(items: Iterator[int]) -> Any:
    while True:
        try:
            item = next(items)
            if item % 3 == 2:
                return 1 / (item - 2)
        except ZeroDivisionError:
            continue


def with_else(items: Iterator[int]) -> Any:
    for _ in range(2):
        while True:
            item = next(items)
            if item % 5 == 4:
                return item
        else:
            return "never"
    else:
        return "nor this"


def inside_a_function(items: Iterator[int]) -> Any:
    def first_odd() -> int:
        while True:
            item = next(items)
            if item % 2:
                for k in range(5):
                    if k == item:
                        return -k
                return item

    while True:
        item = first_odd()
        if item > 2 or item < -2:
            return item, first_odd()


def told_by_lambdas(items: Iterator[int]) -> Any:
    asked = []
    while True:
        item = next(items)
        asked.append(lambda: item)  # noqa: B023
        if item > 4:
            item += 1
            return [ask() for ask in asked]


def of_a_later_pass(items: Iterator[int]) -> Any:
    before = last = 0
    while True:
        before, last = last, next(items)
        if last > 2 and before > 1:
            return before, last, (last := 5), last


def changed_behind(items: Iterator[int]) -> Any:
    seen: list[int] = []

    def kept() -> list[int]:
        try:
            while True:
                seen.append(next(items))
                if len(seen) > 3:
                    return seen
        finally:
            seen.reverse()

    return kept(), len(kept())


def matched(items: Iterator[int]) -> Any:
    while True:
        match next(items):
            case 0 | 1:
                continue
            case 5:
                break
            case item:
                while True:
                    item += next(items)
                    if item > 9:
                        return item
    return "five"


CHANGED = (
    *(two_loops, left_from_inside, told_at_last, told_instead, caught_around),
    *(inside_a_function, told_by_lambdas, of_a_later_pass, changed_behind, matched),
)
PROGRAMS = (
    *(*CHANGED, left_by_break_too, left_in_two_ways, goes_on_in_it, asks_a_test),
    *(caught_inside, with_else),
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
    assert (made is not source) == (program in CHANGED)


def test_what_is_returned_is_behind_the_loops() -> None:
    for program, left in ((two_loops, 0), (left_from_inside, 1)):
        source = read_source(program)
        assert source is not None
        loops = nodes_in(with_returns_behind_loops(source).body, ast.While)
        assert sum(len(list(nodes_in(loop.body, ast.Return))) for loop in loops) == left


def of_the_pass_before(data: Any, rng: Any) -> Any:
    before = 0.0
    while True:
        z = rng.laplace()
        if z > 0.5:
            return np.count_nonzero(data) + before
        before = z


def how_many_passes(data: Any, rng: Any) -> Any:
    passes = 0
    while True:
        passes = passes + 1
        z = rng.laplace()
        if abs(z) <= 1:
            return np.count_nonzero(data) + z, passes


def kept_in_a_list(data: Any, rng: Any) -> Any:
    seen = []
    while True:
        z = rng.laplace()
        seen.append(z)
        if abs(z) <= 1:
            return np.count_nonzero(data) + z, len(seen)


def asked_later(data: Any, rng: Any) -> Any:
    while True:
        z = rng.laplace()
        first = lambda: z  # noqa: B023, E731
        if abs(z) <= 1:
            return np.count_nonzero(data) + first()


def tried_and_left(data: Any, rng: Any) -> Any:
    told = []
    while True:
        try:
            while True:
                z = rng.laplace()
                if abs(z) <= 1:
                    return np.count_nonzero(data) + z, len(told)
        finally:
            told.append(1)


REFUSED = (of_the_pass_before, how_many_passes, kept_in_a_list, asked_later, tried_and_left)


@pytest.mark.parametrize("program", REFUSED)
def test_what_tells_of_passes_before_is_not_one_pass(program: Any) -> None:
    paths = lt.mechanism(program).align_paths(lt.Hypercube(20), way="passes")
    assert isinstance(paths, NoPaths)
    assert not draws_noise_again(lt.mechanism(program))
