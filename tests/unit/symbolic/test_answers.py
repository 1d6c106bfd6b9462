"""Differences of answers: the sets themselves, against double loops."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import liptest as lt
from liptest.symbolic.answers import Differences, Move


def dense(moves: list[Move], size: int) -> set[tuple[Fraction, ...]]:
    return {tuple(dict(move).get(i, Fraction(0)) for i in range(size)) for move in moves}


ROWS: list[list[Fraction | int]] = [[0, 0, 0], [1, 0, Fraction(1, 2)], [1, 2, 0], [1, 2, 0]]

FACTORS: list[Fraction | int] = [-1, 0, Fraction(3, 2)]


def test_replaced_and_added_records() -> None:
    replaced = Differences.of_tables(ROWS)
    assert not replaced.is_whole
    wanted = {tuple(y - x for x, y in zip(a, b, strict=True)) for a, b in product(ROWS, ROWS)}
    assert dense(list(replaced.moves()), 3) == wanted - {(0, 0, 0)}
    added = Differences.of_tables(ROWS, relation="added")
    wanted = {tuple(sign * x for x in row) for row in ROWS for sign in (1, -1)}
    assert dense(list(added.moves()), 3) == wanted - {(0, 0, 0)}
    steps = Differences.of_tables([[0], [1], [3]], pairs=[(0, 1), (1, 2)])
    assert dense(list(steps.moves()), 1) == {(Fraction(by),) for by in (1, -1, 2, -2)}
    assert steps.is_whole


@pytest.mark.slow
def test_moves_on_some_answers_are_there_once() -> None:
    cells = Differences.of_tables([{i: 1} for i in range(200)])
    assert cells.size == 200
    assert len(list(cells.moves([7]))) == 2
    assert len(list(cells.moves([7, 8]))) == 6
    assert len(list(cells.moves())) == 200 * 199


def test_largest_is_the_largest_over_all() -> None:
    for different in (
        Differences.of_tables(ROWS),
        Differences.of_tables(ROWS, relation="added"),
        Differences.listed([[1, 2, 3], [0, -1, 0]]),
        Differences.of_one([1, 2, Fraction(1, 3)]),
        Differences.of_one([1, 2, 1], is_whole=True),
    ):
        for factors in product(FACTORS, repeat=3):
            named = dict(enumerate(factors))
            values = [sum(named[i] * by for i, by in move) for move in different.moves()]
            assert different.largest(named) == max(values)
            move = different.find_largest(named)
            assert sum(named[i] * by for i, by in move) == max(values)


def test_boxes_and_margins() -> None:
    box = Differences.of_box([1, 0, Fraction(5, 2)])
    assert box.largest({0: -2, 1: 9, 2: 1}) == Fraction(9, 2)
    assert list(box.moves()) == []
    assert box.find_largest({0: -2, 2: 1}) == ((0, Fraction(-1)), (2, Fraction(5, 2)))
    assert Differences.of_box([Fraction(5, 2)], is_whole=True).largest({0: 1}) == 2
    wider = Differences.of_tables([[0], [1]]).widen_by({0: Fraction(1, 8)})
    assert not wider.is_whole
    assert wider.largest({0: 1}) == Fraction(9, 8)
    plain = Differences.of_tables([[0], [1]])
    assert plain.widen_by({0: 0}) is plain


def test_answers_that_move_to_one_side_together() -> None:
    """What is largest over both sides of the box, by all of its points."""
    bounds = [Fraction(2), Fraction(1), Fraction(1, 2), Fraction(3)]
    box = replace(Differences.of_box(bounds), together=(frozenset({0, 1, 2}),))
    points = [
        point
        for point in product(*([-by, 0, by] for by in bounds))
        if min(point[:3]) >= 0 or max(point[:3]) <= 0
    ]
    for factors in product(FACTORS, repeat=4):
        named = dict(enumerate(factors))
        wanted = max(sum(f * by for f, by in zip(factors, point, strict=True)) for point in points)
        assert box.largest(named) == wanted
        move = box.find_largest(named)
        assert sum(named[i] * by for i, by in move) == wanted
        assert box.is_one_sided(move)
        for most in (200, 20):  # all of these corners, and those of the whole box
            corners = box.find_corners(named, most)
            assert corners is not None
            reached = max(sum(named[i] * by for i, by in c) for c in corners)
            assert reached == wanted if most == 200 else reached >= wanted
    assert box.find_corners(range(4), 15) is None
    # What rounding may take to the other side is in no such group.
    wider = box.widen_by({0: Fraction(1, 9)})
    assert wider.largest({0: 1, 1: -1}) == Fraction(2) + Fraction(1, 9) + 1
    assert wider.largest({1: 1, 2: -1}) == 1
    assert not box.without_box().largest({0: 1, 1: -1})


def test_what_is_refused() -> None:
    with pytest.raises(lt.errors.InputError, match="1 numbers, not 2"):
        Differences.listed([[1, 2], [1]])
    with pytest.raises(lt.errors.InputError, match="answer 3 moves, but there are 2"):
        Differences.listed([{3: 1}], size=2)
    with pytest.raises(lt.errors.InputError, match="must be 0 or more"):
        Differences.of_box([1, -1])
    with pytest.raises(lt.errors.InputError, match="must be 0 or more"):
        Differences.of_box([1]).widen_by({0: -1})
