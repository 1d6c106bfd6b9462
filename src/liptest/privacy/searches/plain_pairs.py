"""Neighbours that are easily said, at any size: what is compared first (theory 3.10).

Constant datasets and balanced ones with one record changed; answers that move all one way or
apart; small instances of a domain, and their pairs with further records or answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.answers import Answers
from liptest.data.domains import (
    AllAnswers,
    AnswerGrid,
    Domain,
    Hypercube,
    Hypergrid,
    OneAnswer,
    RecordGrid,
)
from liptest.data.real_tables import FEW_ROWS, RealRows, entries_and_steps, rows_of_one_other_entry
from liptest.data.tables import AddedRows, ReplacedRows, RowsOfUsers

Dataset = NDArray[np.int64]
Pair = tuple[Dataset, Dataset]

# So many datasets are visited before anything else.
_FEW_DATASETS = 1 << 12
#: Datasets of a small instance, all of which are compared.
DATASETS = 64
# Directions of one grid of answers, values of a record, and answers that move together.
_DIRECTIONS, _VALUES, _ANSWERS = 10, 5, 3
# Rows of tables that are small, of which there may be many.
_FEW_ROWS = 30
# Quantiles that code takes bounds from, in tables with rows on both sides of each.
_QUANTILES, _MANY_ROWS = (0.95, 0.99, 0.9, 0.75, 0.05, 0.1, 0.25), 20
_BEFORE_QUANTILES = 2


def is_large(domain: Domain) -> bool:
    """Whether it has so many datasets that other things are tried before they are visited."""
    return domain.size > _FEW_DATASETS


def plain_pairs(domain: Domain) -> Iterator[Pair]:
    """Neighbours that are easily said, those most likely to tell first."""
    if isinstance(domain, Answers):
        return _answer_pairs(domain)
    if isinstance(domain, AllAnswers):
        return _all_move_pairs(domain)
    if isinstance(domain, (OneAnswer, Hypergrid)):
        return _step_pairs(domain)
    if isinstance(domain, (Hypercube, RecordGrid, AddedRows)):
        return _record_pairs(domain)
    if isinstance(domain, RealRows):
        return domain.plain_pairs()
    if isinstance(domain, RowsOfUsers):
        return _user_pairs(domain)
    return iter(())


def _user_pairs(domain: RowsOfUsers) -> Iterator[Pair]:
    """The rows of one user, none, one or all: alone, and among users of one row each."""
    room, top = domain.dimension, domain.row_values - 1
    for few in dict.fromkeys((1, domain.most, max(1, domain.most // 2))):
        for row in dict.fromkeys((top, 1)):
            for other in dict.fromkeys((0, 1, top)):
                left = np.zeros(room, dtype=np.int64)
                if other:
                    left[few:] = domain.slot(1, other) + np.arange(room - few)
                right = left.copy()
                right[:few] = domain.slot(0, row)
                yield left, right
        # Rows of one user that are not alike.
        mixed = [domain.slot(0, 1 + place % top) for place in range(few)]
        none = np.zeros(room, dtype=np.int64)
        yield none, np.concatenate([mixed, none[few:]])


def _record_pairs(domain: Domain) -> Iterator[Pair]:
    """One record changed: among equal ones, and among balanced ones."""
    # Code may look at one value only: each two are changed into each other once before all else.
    values = list(_value_pairs(int(domain.size_array.max())))
    if isinstance(domain, AddedRows):  # a record comes or goes
        values = [pair for pair in values if pair[0] == 0]
        # What grows faster than the number of rows, as joins do, in tables that are small.
        some = np.arange(domain.dimension) < min(_FEW_ROWS, domain.dimension)
        yield from (_change(np.where(some, high, 0), 0, 0, high) for _, high in values[:2])
    every = [record_pairs(domain, 0, low, high) for low, high in values]
    firsts = chain.from_iterable(islice(pairs, 1) for pairs in every)
    # Code may fail on tables of no rows, which are among the first ones.
    yield from islice(firsts, _BEFORE_QUANTILES)
    yield from islice(_pairs_at_quantiles(domain), pairs_at_quantiles(domain))
    yield from firsts
    yield from chain.from_iterable(every)


def pairs_at_quantiles(domain: Domain) -> int:
    """How many pairs there are beside those of all domains."""
    has_rows = isinstance(domain, (ReplacedRows, AddedRows)) and domain.dimension >= _MANY_ROWS
    return len(_QUANTILES) + len(FEW_ROWS) + len(list(_middle_rows(domain))) if has_rows else 0


def _pairs_at_quantiles(domain: Domain) -> Iterator[Pair]:
    """Just as many rows of the largest value that a quantile, the bound of a clip, moves to it."""
    n, top = domain.dimension, int(domain.size_array[0]) - 1
    low, other = (1, 0) if isinstance(domain, AddedRows) else (0, 0)
    for quantile in _QUANTILES:
        base = np.where(np.arange(n) < n - math.ceil((n - 1) * quantile), top, low)
        yield _change(base, 0, other, top)
    # A row that makes a group as large as small groups have to be.
    for few in FEW_ROWS:
        base = np.where(np.arange(n) <= few, low, top)
        yield _change(base, 0, top if other == low else other, low)
    for row in _middle_rows(domain):
        yield _change(np.full(n, low), n // 2, low, row)


def _middle_rows(domain: Domain) -> Iterator[int]:
    """Rows that replace one in the middle of equal ones, and differ from them in one entry."""
    if isinstance(domain, ReplacedRows):
        yield from islice(rows_of_one_other_entry(domain), _DIRECTIONS)


def rare_pairs(domain: Domain) -> Iterator[Pair]:
    """Every value of each column occurs, one of them in a single row, which becomes another row.

    So code that expects of a group that it is there meets one that is not.
    """
    first = 0
    if isinstance(domain, (ReplacedRows, AddedRows)):
        columns, first = list(entries_and_steps(domain)), domain.first
    elif type(domain) is RecordGrid and len(set(domain.sizes)) == 1:
        columns = [(domain.sizes[0], 1)]
    else:
        return
    places = np.arange(domain.dimension)
    base = np.full(domain.dimension, first)
    for count, step in columns:
        base += np.where(places < count, places, 0) * step
    for count in sorted({count for count, _ in columns})[:_VALUES]:
        if 1 < count <= domain.dimension // 2:
            yield _change(base, count - 1, int(base[count - 1]), 0)


def record_pairs(domain: Domain, at: int, low: int, high: int) -> Iterator[Pair]:
    """One record changed from one value to another: the one at a position first."""
    sizes, n = domain.size_array, domain.dimension
    for place in dict.fromkeys((at, 0, n - 1, n // 2)):
        values = [min(value, int(sizes[place]) - 1) for value in (low, high)]
        if values[0] == values[1]:
            continue
        # Each is made only when it is needed: most callers take the first of a million records.
        yield _change(_all_of(low, domain), place, *values)
        yield _change(_all_of(high, domain), place, *values)
        yield _change(np.arange(n) % sizes, place, *values)
        halves = np.where(np.arange(n) < n // 2, low, high)
        yield _change(np.minimum(halves, sizes - 1), place, *values)


def _all_of(value: int, domain: Domain) -> NDArray[np.int64]:
    """A dataset of one value, of the largest one where a record does not take it."""
    if domain.are_alike:
        return np.repeat(np.int64(min(value, domain.sizes[0] - 1)), domain.dimension)
    return np.minimum(value, domain.size_array - 1)


def _value_pairs(size: int) -> Iterator[tuple[int, int]]:
    few = sorted(dict.fromkeys((0, size - 1, 1, size // 2, size - 2))) if size > 1 else []
    values = [value for value in few if 0 <= value < size][:_VALUES]
    yield from sorted(combinations(values, 2), key=lambda pair: pair[0] - pair[1])


def _change(base: Any, place: int, one: int, other: int) -> Pair:
    """A dataset, which is written to, and another one with another value at a place."""
    left = np.asarray(base, dtype=np.int64)
    right = left.copy()
    left[place], right[place] = one, other
    return left, right


def _step_pairs(domain: Domain) -> Iterator[Pair]:
    """One count or answer raised by 1, from low, high and balanced ones."""
    sizes, n = domain.size_array, domain.dimension
    for base in (np.zeros(n, dtype=np.int64), sizes - 1, sizes // 2, np.arange(n) % sizes):
        for place in dict.fromkeys((0, n - 1, n // 2)):
            value = min(int(base[place]), int(sizes[place]) - 2)
            if value >= 0:
                yield _change(base.copy(), place, value, value + 1)


def _answer_pairs(domain: Answers) -> Iterator[Pair]:
    m, step = domain.dimension, max(1, int(domain.sensitivity))
    moves = (
        _directions(m)
        if domain.kind == "all" and domain.sensitivity >= 1
        else (np.array(move) // step for move in domain.whole_moves())
        if domain.kind == "one"
        else (np.array(move) for move in domain.whole_moves())
    )
    scale = step if domain.kind != "moves" else 1
    for move in moves:
        reach = int(np.abs(move).max()) * scale
        yield np.full(m, reach), reach + scale * move
    for move in islice(_directions(m) if domain.kind == "all" else iter(()), _ANSWERS):
        if domain.sensitivity >= 1:
            # Answers far from each other.
            base = step * (1 + 8 * (np.arange(m) % 2))
            yield base, base + scale * move


def _all_move_pairs(domain: AllAnswers) -> Iterator[Pair]:
    sizes = domain.size_array
    for base in (np.minimum(1, sizes - 1), sizes // 2, np.zeros_like(sizes)):
        for move in islice(_directions(domain.dimension), _DIRECTIONS):
            right = np.clip(base + move, 0, sizes - 1)
            if (right != base).any():
                yield base.copy(), right


def _directions(m: int) -> Iterator[NDArray[np.int64]]:
    """Moves by -1, 0 or 1: apart from the last or first few answers, together, one alone."""
    seen: set[bytes] = set()
    for move in _every_direction(m):
        if move.tobytes() not in seen and move.any():
            seen |= {move.tobytes(), (-move).tobytes()}
            yield move


def _every_direction(m: int) -> Iterator[NDArray[np.int64]]:
    up = np.ones(m, dtype=np.int64)
    for few in range(1, _ANSWERS + 1):
        if few <= m:
            for part in (slice(m - few, None), slice(0, few)):
                move = up.copy()
                move[part] = -1
                yield move
    yield up
    for part in (slice(m // 2), slice(None, None, 2)):
        move = up.copy()
        move[part] = -1
        yield move
    for place in (0, m - 1):
        alone = np.zeros(m, dtype=np.int64)
        alone[place] = 1
        yield alone


def small_domains(domain: Domain) -> Iterator[Domain]:
    """Few records or answers of the same kind, all of whose datasets are compared."""
    m = domain.dimension
    if isinstance(domain, RowsOfUsers):
        return
    if isinstance(domain, Answers):
        relation = domain.kind if domain.kind in ("all", "one") else None
        if relation and domain.sensitivity >= 1:
            for few in (2, 3):
                if few < m:
                    yield AnswerGrid([3] * few, relation=relation)
        return
    sizes = domain.sizes
    if len(set(sizes)) > 1:
        return
    for few in (1, 2, 3):
        if few < m and sizes[0] ** few <= DATASETS:
            if isinstance(domain, Hypercube):
                yield Hypercube(few)
            elif isinstance(domain, (AllAnswers, OneAnswer)):
                relation = "all" if isinstance(domain, AllAnswers) else "one"
                yield AnswerGrid([min(3, sizes[0])] * few, relation=relation)
            elif type(domain) in (Hypergrid, RecordGrid):
                kind: Any = type(domain)
                yield kind([sizes[0]] * few)


def pad_pairs(
    domain: Domain, dataset: tuple[int, ...], neighbour: tuple[int, ...]
) -> Iterator[Pair]:
    """Both ends with the same further records or answers, so many that they fit the domain."""
    rest = domain.dimension - len(dataset)
    top = max(domain.sizes) - 1
    if isinstance(domain, (Answers, AnswerGrid)):
        values: list[Any] = sorted({0, min(1, top), min(2, top), min(1 << 20, top)})
    else:
        values = sorted({*dataset, *neighbour, 0, top, top // 2})
    pads = [np.full(rest, value, dtype=np.int64) for value in values]
    pads.append(np.arange(rest, dtype=np.int64) % (min(top, 1 << 20) + 1))
    for pad in pads:
        yield np.concatenate([dataset, pad]), np.concatenate([neighbour, pad])
        yield np.concatenate([pad, dataset]), np.concatenate([pad, neighbour])
