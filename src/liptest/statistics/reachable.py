"""Which sums of per-record vectors neighbouring datasets can have, without visiting datasets.

A vector of whole numbers within known bounds is one number in mixed radix, so that sums of
vectors are sums of numbers. The smallest entry of each record is taken out first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.statistics.code_sets import (
    MOST_BITS,
    BitCodes,
    CodeSet,
    DifferenceSets,
    ListedCodes,
    few_ways,
    find_sums,
    fit_in_memory,
    progression,
    term_counts,
    zero_set,
)
from liptest.statistics.edge_sets import EdgeSet
from liptest.statistics.protocol import EDGE_BUDGET, Values

# 64-bit words that may be shifted, bytes that sets may hold, and members of all listed sets.
_MOST_WORDS = 1 << 34
_MOST_BYTES = 1 << 29
_MOST_MEMBERS = 2 * EDGE_BUDGET
_MOST_CODE = 1 << 62


@dataclass(frozen=True)
class TableKind:
    """Coordinates with one and the same table.

    ``options`` are the codes of its values, ``pairs`` the (p, 2) neighbouring values.
    """

    options: tuple[int, ...]
    coordinates: NDArray[np.int64]
    pairs: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reach(EdgeSet):
    """Sums of per-record codes.

    Parameters
    ----------
    kinds
        Coordinates by their tables.
    base, strides, tops
        (k,) each: a vector is ``base`` plus the digits of its code; digit j is
        ``code // strides[j] % (tops[j] + 1)``.
    neighbouring_pairs
        How many the domain has; there are at most as many edges.
    """

    kinds: tuple[TableKind, ...]
    base: Values
    strides: list[int]
    tops: list[int]
    neighbouring_pairs: int

    @classmethod
    def of(cls, tables: list[Values], domain: Domain) -> Reach:
        """Of d tables of shape (sizes[r], k), equal ones being the same object."""
        lowest = {id(t): t.min(axis=0) for t in tables}
        highest = {id(t): t.max(axis=0) for t in tables}
        count = Counter(id(t) for t in tables)
        base = sum(lowest[key] * n for key, n in count.items())
        tops = [int(v) for v in sum((highest[k] - lowest[k]) * n for k, n in count.items())]
        strides = [math.prod(top + 1 for top in tops[j + 1 :]) for j in range(len(tops))]
        groups: dict[tuple[int, int], list[int]] = {}
        for r, table in enumerate(tables):
            groups.setdefault((id(table), domain.sizes[r]), []).append(r)
        kinds = tuple(
            TableKind(
                tuple(_codes(tables[members[0]] - lowest[key[0]], strides)),
                np.array(members),
                domain.value_pairs(members[0]),
            )
            for key, members in groups.items()
        )
        whole = np.asarray(base, dtype=np.int64)
        return cls(kinds, whole, strides, tops, domain.neighbouring_pairs)

    @property
    def volume(self) -> int:
        """Numbers that codes are below."""
        return math.prod(top + 1 for top in self.tops)

    @cached_property
    def differences(self) -> dict[int, list[tuple[int, int]]]:
        """Difference of codes -> (kind, smaller code) of the values that have it."""
        places: dict[int, list[tuple[int, int]]] = {}
        for t, kind in enumerate(self.kinds):
            for a, b in kind.pairs.tolist():
                low, high = sorted((kind.options[a], kind.options[b]))
                where = places.setdefault(high - low, []) if low != high else []
                if (t, low) not in where:
                    where.append((t, low))
        return places

    @cached_property
    def too_dear(self) -> bool:
        """Whether the sets cannot be computed within the budgets."""
        if self.volume >= _MOST_CODE:
            return True
        if self.volume >= MOST_BITS:
            return self._rest is None
        words = self.volume // 64 + 1
        each = [_shifts(kind) for kind in self.kinds]
        depth = 1 + math.ceil(math.log2(len(self.kinds)))
        most = math.isqrt(sum(len(kind.coordinates) for kind in self.kinds)) + len(self.kinds)
        return sum(each) * depth * words > _MOST_WORDS or 2 * most * words * 8 > _MOST_BYTES

    def count_edges(self) -> int:
        if self.too_dear:
            bound = min(self.neighbouring_pairs, self.volume * len(self.differences))
            return max(bound, EDGE_BUDGET + 1)
        return sum(len(lower) for _, lower in self.edge_sets())

    def edge_sets(self) -> Iterator[tuple[int, CodeSet]]:
        """Each difference with the set of the smaller codes of its pairs."""
        assert self._rest is not None
        for difference, places in sorted(self.differences.items()):
            sets = [self._rest[t].shifted(low) for t, low in places]
            lower = sets[0]
            for more in sets[1:]:
                lower = lower.union(more)
            yield difference, lower

    def difference_sets(self) -> DifferenceSets | None:
        top = self.volume - 1
        if len(self.tops) > 1 or self.volume >= MOST_BITS or self.too_dear:
            return None
        if not fit_in_memory(len(self.differences), top):
            return None
        every = self._add_all(zero_set(self.volume), range(len(self.kinds)))
        lower = {k: ends.bits for k, ends in self.edge_sets() if isinstance(ends, BitCodes)}
        assert isinstance(every, BitCodes)
        return DifferenceSets(int(self.base[0]), 1, top, every.bits, lower)

    def list_edges(self) -> Iterator[tuple[Values, Values]]:
        """Yield the edges as they were stated; the smaller code comes first."""
        for difference, lower in self.edge_sets():
            for codes in lower.chunks():
                yield self.vectors(codes), self.vectors(codes + difference)

    def vectors(self, codes: NDArray[np.int64]) -> Values:
        """(m,) codes -> (m, k) vectors."""
        digits = codes[:, None] // np.array(self.strides) % (np.array(self.tops) + 1)
        return np.asarray(self.base + digits)

    def code(self, vector: Values) -> int | None:
        """The code of a (k,) vector; None out of bounds."""
        digits = [int(v) for v in vector - self.base]
        if any(not 0 <= digit <= top for digit, top in zip(digits, self.tops, strict=True)):
            return None
        return sum(digit * stride for digit, stride in zip(digits, self.strides, strict=True))

    def find_neighbours(self, left: Values, right: Values) -> tuple[IntArray, IntArray] | None:
        """As stated; None too where the sets cannot be computed within the budgets."""
        start, end = self.code(left), self.code(right)
        if self.too_dear or start is None or end is None or self._rest is None:
            return None
        for t, kind in enumerate(self.kinds):
            for a, b in [*kind.pairs.tolist(), *kind.pairs[:, ::-1].tolist()]:
                others = start - kind.options[a]
                if end - kind.options[b] == others and others in self._rest[t]:
                    dataset = self._decompose(others, int(kind.coordinates[0]))
                    neighbour = dataset.copy()
                    dataset[kind.coordinates[0]], neighbour[kind.coordinates[0]] = a, b
                    return dataset, neighbour
        return None

    @cached_property
    def _rest(self) -> list[CodeSet] | None:
        """For each kind the sums of all coordinates but one of it; None when too many."""
        rest: list[CodeSet] = []
        members = 0
        # Kinds come in their order.
        for sums in self._leave_one_out(0, len(self.kinds), zero_set(self.volume)):
            members += self.volume >= MOST_BITS and sums is not None and len(sums)
            if sums is None or members > _MOST_MEMBERS:
                return None
            rest.append(sums)
        return rest

    def _leave_one_out(
        self, first: int, stop: int, sums: CodeSet | None
    ) -> Iterator[CodeSet | None]:
        # Halving adds each kind log2 times instead of once per other kind.
        if stop - first == 1:
            yield self._add(sums, self.kinds[first], 1)
            return
        middle = (first + stop) // 2
        yield from self._leave_one_out(first, middle, self._add_all(sums, range(middle, stop)))
        yield from self._leave_one_out(middle, stop, self._add_all(sums, range(first, middle)))

    def _add_all(self, sums: CodeSet | None, kinds: range) -> CodeSet | None:
        for t in kinds:
            sums = self._add(sums, self.kinds[t], 0)
        return sums

    def _add(self, sums: CodeSet | None, kind: TableKind, left_out: int) -> CodeSet | None:
        times = len(kind.coordinates) - left_out
        if self.volume < MOST_BITS:
            return None if sums is None else sums.plus(kind.options, times)
        assert isinstance(sums, ListedCodes | None)
        return None if sums is None else sums.plus_within(kind.options, times, EDGE_BUDGET)

    def _decompose(self, total: int, left_out: int) -> Values:
        """A dataset whose codes off one coordinate add up to a sum that can be reached."""
        dataset = np.zeros(sum(len(kind.coordinates) for kind in self.kinds), dtype=np.int64)
        steps = [step for kind in self.kinds for step in self._steps(kind, left_out)]
        for step, before in zip(reversed(steps), self._backwards(steps), strict=True):
            own, values = step.taken(total, before)
            dataset[step.coordinates], total = values, total - own
        return dataset

    def _steps(self, kind: TableKind, left_out: int) -> list[_Step]:
        """Coordinates of a kind: all at once where their sums are listed that way."""
        places = kind.coordinates[kind.coordinates != left_out]
        terms = sorted(set(kind.options))
        if self.volume >= MOST_BITS and len(places) and few_ways(terms, len(places)):
            return [_Step(kind, places)]
        return [_Step(kind, places[i : i + 1]) for i in range(len(places))]

    def _backwards(self, steps: list[_Step]) -> Iterator[CodeSet]:
        """Sums of the first n - 1, n - 2, .., 0 steps; about 2 sqrt(n) sets are held at once."""
        block = math.isqrt(len(steps)) + 1
        cuts = [*range(0, len(steps), block), len(steps)]
        kept = [zero_set(self.volume)]
        for start, stop in pairwise(cuts[:-1]):
            kept.append(self._after(kept[-1], steps[start:stop])[-1])
        for number in range(len(cuts) - 2, -1, -1):
            inside = steps[cuts[number] : cuts[number + 1] - 1]
            yield from reversed(self._after(kept[number], inside))

    def _after(self, sums: CodeSet, steps: list[_Step]) -> list[CodeSet]:
        partial_sums = [sums]
        for step in steps:
            partial_sums.append(partial_sums[-1].plus(step.kind.options, len(step.coordinates)))
        return partial_sums


@dataclass(frozen=True)
class _Step:
    """Coordinates of one kind whose values are chosen together."""

    kind: TableKind
    coordinates: NDArray[np.int64]

    def taken(self, total: int, before: CodeSet) -> tuple[int, Values]:
        """What they add to a member of ``before`` that makes ``total``, and with which values."""
        times = len(self.coordinates)
        first = {code: value for value, code in reversed(list(enumerate(self.kind.options)))}
        terms = sorted(first)
        own = total - _member_below(total, terms, times, before)
        counts = term_counts(own, terms, times)
        assert counts is not None
        return own, np.repeat([first[code] for code in terms], counts)


def _member_below(total: int, terms: list[int], times: int, before: CodeSet) -> int:
    """A member that ``times`` of the terms raise to the total; there is one."""
    if len(before) == 1:
        return int(next(before.chunks())[0])
    if times == 1:
        return next(total - code for code in terms if total - code in before)
    assert isinstance(before, ListedCodes)
    others = total - find_sums(terms, times)
    return int(others[np.isin(others, before.codes)][0])


def _codes(rows: Values, strides: list[int]) -> list[int]:
    return [sum(int(v) * s for v, s in zip(row, strides, strict=True)) for row in rows]


def _shifts(kind: TableKind) -> int:
    """About how often a set is shifted to add all coordinates of a kind."""
    codes = sorted(set(kind.options))
    if progression(codes) is not None:
        return max(1, len(codes) * len(kind.coordinates)).bit_length()
    return len(codes) * len(kind.coordinates)
