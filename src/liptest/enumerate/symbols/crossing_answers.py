"""Neighbouring answers at which functions of them move most: where they are compared, or bend.

``(answers > 5).sum()`` moves only where answers cross 5, so pairs of neighbours are told that do
so, all of them at once where all may move (docs/theory/size.md, S14).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice
from math import floor

import numpy as np

from liptest.data.answers import Answers
from liptest.data.domains import Domain, Hypergrid, IntArray
from liptest.enumerate.symbols.symbolic_paths import Pairs
from liptest.symbolic.answer_functions import AnswerSum, SumOfRank, list_turns
from liptest.symbolic.answers import Answer, Move

# Places where one answer is compared that are tried, and pairs that are told.
_MOST_PLACES, _MOST_PAIRS = 4, 12
# Steps between an answer and those of other ranks.
_FAR = 1 << 10
Pair = tuple[IntArray, IntArray]


def pairs_at_turns(domain: Domain, functions: Sequence[Answer], moves: Sequence[Move]) -> Pairs:
    """Neighbours on both sides of where functions turn, moved as the first of ``moves`` says."""
    step = int(domain.sensitivity) if isinstance(domain, Answers) else 1
    if step < 1 or (isinstance(domain, Answers) and domain.kind == "moves"):
        return ()
    found = chain(_crossing(domain, functions, moves, step), _of_ranks(domain, functions, step))
    return tuple(islice((pair for pair in found if _is_inside(domain, pair)), _MOST_PAIRS))


def _of_ranks(domain: Domain, functions: Sequence[Answer], step: int) -> Iterator[Pair]:
    """One answer of a rank moves, all others are far below and above it."""
    for function in (answer.function for answer in functions):
        alone = [part.terms[0][0].number for part in function.parts if _is_of_one(part)]
        if type(function) is not SumOfRank or len(set(alone)) < len(function.parts):
            continue
        size = int(domain.size_array.min())
        far = _FAR * step if isinstance(domain, Answers) else (size - 1 - step) // 2
        left = np.full(domain.dimension, 0 if isinstance(domain, Answers) else far, dtype=np.int64)
        middle = left[alone[0]]
        for place, number in enumerate(alone[1:]):
            left[number] = middle - far if place < function.rank else middle + far
        right = left.copy()
        right[alone[0]] += step
        yield left, right


def _crossing(
    domain: Domain, functions: Sequence[Answer], moves: Sequence[Move], step: int
) -> Iterator[Pair]:
    """Answers are on both sides of the numbers that they are compared with."""
    turns = _turns_by_answer(functions, dict(moves[0]) if moves else {})
    one_moves = domain.kind == "one" if isinstance(domain, Answers) else type(domain) is Hypergrid
    groups = [[number] for number in turns] if one_moves else [list(turns)]
    for place in range(max(map(len, turns.values()), default=0)):
        # A comparison may hold at its number, or only beyond it.
        for before in (0, 1):
            for group in groups:
                left = np.zeros(domain.dimension, dtype=np.int64)
                move = np.zeros(domain.dimension, dtype=np.int64)
                for number, places in turns.items():
                    at, sign = places[min(place, len(places) - 1)]
                    left[number] = floor(at) - before if sign > 0 else floor(at) + 1 - before
                    move[number] = sign * step if number in group else 0
                yield left, left + move


def _turns_by_answer(
    functions: Sequence[Answer], wanted: Mapping[int, Fraction]
) -> dict[int, list[tuple[Fraction, int]]]:
    """The numbers at which functions of one answer alone turn, and which way it is to move."""
    turns: dict[int, list[tuple[Fraction, int]]] = {}
    for function in functions:
        for turn in list_turns(function):
            if not _is_of_one(turn):
                continue
            (answer, factor), *_ = turn.terms
            at = -Fraction(turn.constant) / Fraction(factor)
            sign = 1 if factor * wanted.get(function.number, Fraction(1)) >= 0 else -1
            places = turns.setdefault(answer.number, [])
            if (at, sign) not in places and len(places) < _MOST_PLACES:
                places.append((at, sign))
    return turns


def _is_of_one(part: AnswerSum) -> bool:
    """Whether it is made of one answer, which is not a function itself."""
    return len(part.terms) == 1 and part.terms[0][0].function is None


def _is_inside(domain: Domain, pair: Pair) -> bool:
    least = 0 if not isinstance(domain, Answers) else 1 - int(domain.size_array.min())
    return all((side >= least).all() and (side < domain.size_array).all() for side in pair)
