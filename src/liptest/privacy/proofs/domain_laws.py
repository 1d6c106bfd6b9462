"""The laws at all points of a domain, in parts that depend on the task alone.

Equal laws are kept once. Which pairs of them neighbouring points have is marked by blocks: on a
product of finite sets the last coordinates make up a block, and blocks in which all points have
the same laws as in another one need not be looked at twice, neither the pairs inside nor those
across two blocks. Of a mechanism that sees little, most blocks are equal.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Hashable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain
from liptest.data.points import PointBatch
from liptest.errors import BudgetError
from liptest.lipschitz.oracles import SLICE_BYTES
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import distinct_rows
from liptest.mechanisms.laws import ZERO_LOG, ComparableLaws, LawTable, Output
from liptest.mechanisms.neighbourhoods import covering_batches, uses_neighbours
from liptest.privacy.comparison import ask_laws, check_same_law
from liptest.runs.workers import has_processes, map_in_order

Indices = NDArray[np.int64]
Rows = NDArray[np.int32]

_MEMORY = 1 << 30
_ZERO_BITS = np.array([ZERO_LOG]).view(np.uint64)[0]

_BLOCK = 1 << 12
_EVERY = slice(None)
# Pairs that are marked at once.
_SLICE = 1 << 20


class DistinctLaws:
    """Distinct laws over a growing set of outputs; ``add`` says which law each query has."""

    def __init__(self) -> None:
        self._outputs: dict[Output, int] = {}
        self._listed: tuple[Output, ...] = ()
        self._factors = np.zeros(0, dtype=np.uint64)
        self._rows: list[NDArray[np.float64]] = []
        self._errors: list[float] = []
        self._unexplored: list[float] = []
        self._ids: dict[int, int] = {}
        self._exact_ids: dict[Hashable, int] = {}
        self._zeros_exact = True

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, laws: ComparableLaws, queries: int) -> NDArray[np.int64]:
        """Add the laws of ``queries`` points; returns the index of each, (queries,)."""
        if not isinstance(laws, LawTable):
            raise TypeError("only finite laws can be collected")
        columns = self._columns(laws.outputs)
        self._zeros_exact &= laws.zeros_exact
        positions = laws.distinct(np.arange(queries))
        if laws.exact is not None:
            # Logs in floats may be equal where the laws are not.
            exact_ids = [self._find(laws, i, key, columns) for i, key in enumerate(laws.exact)]
            return np.array(exact_ids, dtype=np.int64)[positions]
        keys = _keys(laws.logs, self._factors[columns])
        index, inverse = _distinct(keys, laws.logs)
        ids = [self._identify(laws, int(i), int(keys[i]), columns) for i in index]
        self._widen(laws, ids, inverse)
        return np.asarray(np.array(ids)[inverse][positions])

    def pairs_per_slice(self) -> int:
        """Pairs to compare at once, so that the two gathered tables stay near 2 MiB each."""
        return max(64, SLICE_BYTES // (8 * max(1, len(self._outputs))))

    def laws(self) -> LawTable:
        """All distinct laws as one table."""
        table = np.empty((len(self._rows), len(self._outputs)))
        for i, row in enumerate(self._rows):
            table[i, : len(row)] = row
            table[i, len(row) :] = ZERO_LOG
        return LawTable(
            tuple(self._outputs),
            table,
            None,
            np.array(self._errors),
            self._zeros_exact,
            unexplored=np.array(self._unexplored),
        )

    def _columns(self, outputs: tuple[Output, ...]) -> Any:
        """Where these outputs are among all."""
        if outputs == self._listed:
            return _EVERY
        for output in outputs:
            self._outputs.setdefault(output, len(self._outputs))
        self._listed = tuple(self._outputs)
        if len(self._factors) < len(self._outputs):
            self._factors = _factors(len(self._outputs))
        if outputs == self._listed:
            return _EVERY
        return [self._outputs[output] for output in outputs]

    def _find(self, laws: LawTable, i: int, key: Hashable, columns: Any) -> int:
        number = self._exact_ids.get(key)
        if number is None:
            number = self._exact_ids[key] = self._append(laws, i, self._row(laws, i, columns))
        return number

    def _row(self, laws: LawTable, i: int, columns: Any) -> NDArray[np.float64]:
        if columns == _EVERY:
            return np.array(laws.logs[i])
        row = np.full(len(self._outputs), ZERO_LOG)
        row[columns] = laws.logs[i]
        return row

    def _identify(self, laws: LawTable, i: int, key: int, columns: Any) -> int:
        row = self._row(laws, i, columns)
        number = self._ids.get(key)
        if number is not None and _same(self._rows[number], row):
            return number
        new = self._append(laws, i, row)
        self._ids.setdefault(key, new)
        return new

    def _widen(self, laws: LawTable, ids: list[int], inverse: Indices) -> None:
        """Of laws with equal logs the largest error holds, and the most that was not explored."""
        for kept, given in ((self._errors, laws.errors), (self._unexplored, laws.unexplored)):
            if given is not None:
                largest = np.zeros(len(ids))
                np.maximum.at(largest, inverse, given)
                for place, value in zip(ids, largest.tolist(), strict=True):
                    kept[place] = max(kept[place], value)

    def _append(self, laws: LawTable, i: int, row: NDArray[np.float64]) -> int:
        if (len(self._rows) + 1) * len(self._outputs) * 8 > _MEMORY:
            raise BudgetError(
                f"method='exhaustive': more than {len(self._rows):,} distinct laws over "
                f"{len(self._outputs):,} outputs exceed {_MEMORY >> 20} MiB; use "
                f"method='neighbourhoods'"
            )
        self._rows.append(row)
        self._errors.append(float(laws.errors[i]))
        self._unexplored.append(0.0 if laws.unexplored is None else float(laws.unexplored[i]))
        return len(self._rows) - 1


def drop_repeated_laws(laws: LawTable) -> LawTable:
    """The same laws, equal ones kept once: less to send to another process."""
    if laws.exact is not None or laws.unexplored is not None:
        return laws
    index, inverse = _distinct(_keys(laws.logs, _factors(len(laws.outputs))), laws.logs)
    errors = np.zeros(len(index))
    np.maximum.at(errors, inverse, laws.errors)
    return LawTable(
        laws.outputs,
        laws.logs[index],
        inverse if laws.rows is None else inverse[laws.rows],
        errors,
        laws.zeros_exact,
    )


def _distinct(keys: NDArray[np.uint64], logs: NDArray[np.float64]) -> tuple[Indices, Indices]:
    """Where each different row is first, and which of these each row is."""
    _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    again = np.flatnonzero(index[inverse] != np.arange(len(keys)))
    if not np.array_equal(logs[index[inverse[again]]], logs[again]):
        # A collision of hashes: keep every row rather than merge different laws.
        index = inverse = np.arange(len(keys))
    return index, inverse


def _factors(count: int) -> NDArray[np.uint64]:
    """Odd 64-bit factors, always the same."""
    return _draw_factors(max(1, count - 1).bit_length())[:count]


@cache
def _draw_factors(bits: int) -> NDArray[np.uint64]:
    # Their order decides which of equally good witnesses is shown.
    states = (np.random.SeedSequence(k).generate_state(1, np.uint64)[0] for k in range(1 << bits))
    return np.fromiter(states, dtype=np.uint64) | np.uint64(1)


def _keys(logs: NDArray[np.float64], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # Zero contributes nothing, so a column that comes later changes no earlier hash.
    bits = np.ascontiguousarray(logs).view(np.uint64) - _ZERO_BITS
    bits ^= bits >> np.uint64(29)
    bits *= factors
    bits ^= bits >> np.uint64(32)
    return np.asarray(bits.sum(axis=1, dtype=np.uint64))


def _same(known: NDArray[np.float64], row: NDArray[np.float64]) -> bool:
    n = len(known)
    return bool(np.array_equal(known, row[:n]) and np.all(row[n:] == ZERO_LOG))


def mark_pairs(domain: Domain, rows: Rows, laws: int) -> tuple[Indices, Indices, int]:
    """Distinct pairs of laws of neighbours, and how many neighbouring pairs there are.

    ``rows`` says which of the laws each point has, by index; (size,).
    """
    seen = np.zeros(laws * laws, dtype=bool)
    if domain.one_at_a_time:
        _mark_by_blocks(domain, rows, laws, seen)
    else:
        for first, second in domain.pair_views(rows):
            _mark(seen, laws, first.reshape(-1), second.reshape(-1))
    code = np.flatnonzero(seen)
    return code // laws, code % laws, domain.neighbouring_pairs


def _mark(seen: NDArray[np.bool_], laws: int, first: Rows, second: Rows) -> None:
    for start in range(0, len(first), _SLICE):
        stop = start + _SLICE
        seen[first[start:stop] * np.int32(laws) + second[start:stop]] = True


def _mark_by_blocks(domain: Domain, rows: Rows, laws: int, seen: NDArray[np.bool_]) -> None:
    from liptest.statistics.value_walks import suffix_start

    start = suffix_start(domain, _BLOCK)
    blocks = rows.reshape(-1, int(domain.strides[start]) * domain.sizes[start])
    which, distinct = _distinct_blocks(blocks)
    for axis in range(start, domain.dimension):
        view = distinct.reshape(-1, domain.sizes[axis], int(domain.strides[axis]))
        step = max(1, _SLICE // (view.size // view.shape[1]))
        pairs = domain.value_pairs(axis)
        for first in range(0, len(pairs), step):
            lower, upper = pairs[first : first + step].T
            _mark(seen, laws, view[:, lower].reshape(-1), view[:, upper].reshape(-1))
    step = max(1, _SLICE // blocks.shape[1])
    for left, right in _block_pairs(domain, which, len(distinct), start):
        for first in range(0, len(left), step):
            ends = (distinct[side[first : first + step]].reshape(-1) for side in (left, right))
            _mark(seen, laws, *ends)


def _distinct_blocks(blocks: Rows) -> tuple[Indices, Rows]:
    """Which of the different blocks each block is, and these."""
    by_hash: dict[int, int] = {}
    firsts: list[int] = []
    which = np.empty(len(blocks), dtype=np.int64)
    for k, block in enumerate(blocks):
        number = by_hash.setdefault(hash(block.tobytes()), len(firsts))
        if number == len(firsts) or not np.array_equal(blocks[firsts[number]], block):
            # A hash that two different blocks share: the second one counts as new.
            number = len(firsts)
            firsts.append(k)
        which[k] = number
    return which, blocks if len(firsts) == len(blocks) else blocks[firsts]


def _block_pairs(
    domain: Domain, which: Indices, blocks: int, stop: int
) -> Iterator[tuple[Indices, Indices]]:
    """Distinct pairs of different blocks between which a coordinate before ``stop`` moves."""
    inner = int(domain.strides[stop]) * domain.sizes[stop]
    for axis in range(stop):
        view = which.reshape(-1, domain.sizes[axis], int(domain.strides[axis]) // inner)
        for a, b in domain.value_pairs(axis):
            code = np.unique(view[:, a] * blocks + view[:, b])
            yield code // blocks, code % blocks


Places = slice | Indices

# Points of a chunk. Parts are smaller where the domain is, so that there is work for many.
_CHUNK = 1 << 16
_LEAST, _CHUNKS = 1 << 11, 32


@dataclass(frozen=True, eq=False)
class LawsAtPoints:
    """Laws of some points: query ``rows[i]`` of ``queries`` is that of the point ``places[i]``.

    ``rows`` None: each query is a point, in order.
    """

    places: Places
    laws: ComparableLaws
    queries: int
    rows: Indices | None = None


@dataclass(frozen=True, eq=False)
class DomainLaws:
    """Laws of a mechanism that sees the whole dataset, chunk by chunk, on any workers."""

    mechanism: Mechanism
    domain: Domain
    #: Whether laws are sent from another process.
    sends: bool = False

    def parts(self, executor: Executor | None) -> Generator[LawsAtPoints, None, None]:
        """Each point once; the same laws on any workers."""
        chunks = math.ceil(self.domain.size / self._chunk_points)
        asked = replace(self, sends=has_processes(executor))
        with closing(map_in_order(asked, chunks, executor)) as results:
            for chunk in results:
                yield from chunk

    def __call__(self, number: int) -> list[LawsAtPoints]:
        """The parts of one chunk; the first law of each is computed twice."""
        batches = self._batches(number)
        return [LawsAtPoints(places, self._laws(part), len(part)) for part, places in batches]

    def _laws(self, part: PointBatch) -> ComparableLaws:
        laws = ask_laws(self.mechanism, part, check=True)
        if not self.sends or not isinstance(laws, LawTable):
            return laws
        return drop_repeated_laws(laws)

    @property
    def _chunk_points(self) -> int:
        limit = 16 * self.mechanism.points_per_slice(self.domain)
        share = max(_LEAST, math.ceil(self.domain.size / _CHUNKS))
        return min(_CHUNK, limit, share)

    def _batches(self, number: int) -> Iterator[tuple[PointBatch, Places]]:
        limit, size = self.mechanism.points_per_slice(self.domain), self._chunk_points
        start = number * size
        if uses_neighbours(self.mechanism):
            yield from covering_batches(self.domain, limit, start, size)
            return
        points = self.domain.points(np.arange(start, min(start + size, self.domain.size)))
        for _, _, part in PointBatch(points).parts(limit):
            yield part, slice(start, start + len(part))
            start += len(part)


@dataclass(frozen=True, eq=False)
class StatisticLaws:
    """Laws of a mechanism that sees a statistic, at all points: a law for each distinct value."""

    mechanism: Any
    domain: Domain

    def parts(self) -> Generator[LawsAtPoints, None, None]:
        """Each point once, in index order."""
        from liptest.statistics.value_walks import values_by_block

        start = 0
        for points, values in values_by_block(self.mechanism.statistic, self.domain):
            distinct, rows = distinct_rows(values)
            laws = self.mechanism.laws_of(distinct)
            check_same_law(self.mechanism, laws, points[0], int(rows[0]))
            yield LawsAtPoints(slice(start, start + len(rows)), laws, len(distinct), rows)
            start += len(rows)
