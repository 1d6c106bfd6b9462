"""Neighbours between which functions of answers move much: where to look for a refutation.

``min(count, 100)`` moves only where the count is small. So records are chosen with which the sums
that a function is of are near the places where it moves most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np

from liptest.enumerate.data_protocol import Data
from liptest.enumerate.symbolic_paths import Pairs
from liptest.symbolic.answer_functions import AnswerFunction, AnswerSum, answer_value
from liptest.symbolic.answers import Answer, Move

# Pairs that are looked at, and that are told.
_MOST, _TOLD = 120, 6


def pairs_of_functions(
    data: Data,
    sizes: tuple[int, int, Sequence[int]],
    functions: tuple[Answer, ...],
    moves: tuple[Move, ...],
) -> Pairs:
    """Pairs that move the answers most as a move says, or at all.

    Parameters
    ----------
    sizes
        How many values each record takes, how many records there are, and the values that a record
        changes from.
    """
    values, records, lows = sizes
    wanted = dict(moves[0]) if moves else {}
    several = [function for function in functions if function.number in wanted] or list(functions)
    turns = [turn for function in several for turn in _turns(function)]
    crossing = [pair for form in turns for pair in data.pairs_at(_factors(form), _constant(form))]
    levels = {abs(int(form.constant)) for form in turns} | {1, records // 3}
    mixed = _mixed_pairs(values, records, lows, sorted(level for level in levels if level))

    def moved(pair: Any) -> Fraction:
        total = Fraction(0)
        for function in several:
            ends = [answer_value(function, lambda answer: data.value(answer, end)) for end in pair]  # noqa: B023
            step = ends[1] - ends[0]
            towards = wanted.get(function.number, step)
            total += abs(step) if step * towards >= 0 else -abs(step)
        return total

    pairs = [*crossing, *islice(mixed, _MOST - min(len(crossing), _MOST // 2))][:_MOST]
    both = [other for pair in pairs for other in (pair, pair[::-1])]
    return tuple(sorted(both, key=moved, reverse=True)[:_TOLD])


def _turns(answer: Answer) -> Iterable[AnswerSum]:
    """Of a function, and of those that it is of: sums of records, near 0 of which it moves most."""
    function: AnswerFunction = answer.function
    for turn in function.turns():
        inner = [nested for nested, _ in turn.terms if nested.function]
        if not inner:
            yield turn
        for nested in inner:
            yield from _turns(nested)


def _factors(one: AnswerSum) -> dict[int, Fraction]:
    return {answer.number: Fraction(factor) for answer, factor in one.terms}


def _constant(one: AnswerSum) -> Fraction:
    return Fraction(one.constant)


def _mixed_pairs(
    values: int, records: int, lows: Sequence[int], levels: list[int]
) -> Iterator[Any]:
    """A record of one value becomes one of another, of which there are some, among a third one."""
    for level in levels:
        for low, high in combinations(dict.fromkeys((0, values - 1, 1, values // 2)), 2):
            rest = next((v for v in range(values) if v not in (low, high)), None)
            if low not in lows or rest is None or not 0 < 2 * level < records or high >= values:
                continue
            left = np.repeat(np.int64(rest), records)
            left[:level], left[level : 2 * level] = low, high
            right = left.copy()
            right[0] = high
            yield left, right
