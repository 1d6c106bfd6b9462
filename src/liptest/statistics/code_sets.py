"""Sets of whole numbers that sums of many terms can reach: as bits, or as sorted arrays.

Bit c of a Python integer stands for the number c, so that adding a term to every member is one
shift. Where the numbers are large and few, a sorted array takes the place of the bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

#: Members per chunk of ``chunks``.
CHUNK = 1 << 16
#: Sets of numbers below this are bits, 8 MiB each at most; others are arrays.
MOST_BITS = 1 << 26
# Bytes that the sets of all differences may take together.
_MOST_BYTES = 1 << 29
# Ways to choose terms with repetition that are listed at once.
_MOST_WAYS = 1 << 23


class CodeSet(Protocol):
    """A finite set of whole numbers of 0 or more."""

    def __len__(self) -> int:
        """Number of members."""
        ...

    def __contains__(self, code: int) -> bool:
        """Whether a number is a member; numbers below 0 never are."""
        ...

    def plus(self, options: Sequence[int], times: int = 1) -> CodeSet:
        """All sums of a member and ``times`` of the options, which may repeat."""
        ...

    def shifted(self, by: int) -> CodeSet:
        """Each member plus a number of 0 or more."""
        ...

    def union(self, other: CodeSet) -> CodeSet:
        """Members of either; both sets are of one kind."""
        ...

    def chunks(self) -> Iterator[Codes]:
        """The members in ascending order, at most CHUNK at a time."""
        ...


def zero_set(top: int) -> CodeSet:
    """The set {0}, of the kind that suits sums up to ``top``."""
    return BitCodes(1) if top < MOST_BITS else ListedCodes(np.zeros(1, dtype=np.int64))


@dataclass(frozen=True)
class BitCodes:
    """A set as the ones of a number."""

    bits: int

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __contains__(self, code: int) -> bool:
        return code >= 0 and bool(self.bits >> code & 1)

    def plus(self, options: Sequence[int], times: int = 1) -> BitCodes:
        codes = sorted(set(options))
        step = progression(codes)
        if step is not None:
            spread = spread_bits(self.bits, step, (len(codes) - 1) * times)
            return BitCodes(spread << codes[0] * times)
        bits = self.bits
        for _ in range(times):
            bits = reduce(or_, (bits << code for code in codes))
        return BitCodes(bits)

    def shifted(self, by: int) -> BitCodes:
        return BitCodes(self.bits << by)

    def union(self, other: CodeSet) -> BitCodes:
        assert isinstance(other, BitCodes)
        return BitCodes(self.bits | other.bits)

    def chunks(self) -> Iterator[Codes]:
        return bit_positions(self.bits)


@dataclass(frozen=True, eq=False)
class ListedCodes:
    """A set as its members in ascending order."""

    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __contains__(self, code: int) -> bool:
        place = int(np.searchsorted(self.codes, code))
        return place < len(self.codes) and int(self.codes[place]) == code

    def plus(self, options: Sequence[int], times: int = 1) -> ListedCodes:
        codes, terms = self.codes, sorted(set(options))
        if few_ways(terms, times):
            return ListedCodes(_add(codes, find_sums(terms, times)))
        for _ in range(times):
            codes = _add(codes, np.array(terms, dtype=np.int64))
        return ListedCodes(codes)

    def plus_within(self, options: Sequence[int], times: int, most: int) -> ListedCodes | None:
        """As ``plus``; None where that would look at more than ``most`` numbers."""
        terms = sorted(set(options))
        if few_ways(terms, times):
            own = find_sums(terms, times)
            small = len(self) * len(own) <= most
            return ListedCodes(_add(self.codes, own)) if small else None
        reached, looked_at = self, 0
        for _ in range(times):
            looked_at += len(reached) * len(terms)
            if looked_at > most:
                return None
            reached = reached.plus(terms)
        return reached

    def shifted(self, by: int) -> ListedCodes:
        return ListedCodes(self.codes + by)

    def union(self, other: CodeSet) -> ListedCodes:
        assert isinstance(other, ListedCodes)
        return ListedCodes(sort_distinct(np.concatenate([self.codes, other.codes])))

    def chunks(self) -> Iterator[Codes]:
        for start in range(0, len(self.codes), CHUNK):
            yield self.codes[start : start + CHUNK]


def _add(codes: Codes, terms: Codes) -> Codes:
    return sort_distinct((codes[None, :] + terms[:, None]).reshape(-1))


def sort_distinct(codes: Codes) -> Codes:
    """The different ones, ascending; np.unique takes a hundred times as long on millions."""
    ordered = np.sort(codes)
    kept = np.ones(len(ordered), dtype=bool)
    kept[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[kept])


def few_ways(terms: Sequence[int], times: int) -> bool:
    """Whether ``find_sums`` the terms is affordable; otherwise they are added one by one."""
    return math.comb(times + len(terms) - 1, times) <= _MOST_WAYS


def find_sums(terms: Sequence[int], times: int) -> Codes:
    """All sums of ``times`` of the terms, ascending: for each term, how often it is taken."""
    *others, last = terms
    left, codes = np.array([times]), np.zeros(1, dtype=np.int64)
    for term in others:
        ways = left + 1
        before = np.repeat(np.cumsum(ways) - ways, ways)
        taken = np.arange(len(before)) - before
        left = np.repeat(left, ways) - taken
        codes = np.repeat(codes, ways) + term * taken
    return sort_distinct(codes + last * left)


def term_counts(total: int, terms: Sequence[int], times: int) -> list[int] | None:
    """How often each term is taken in a sum of ``times`` of them that is ``total``; or None."""
    first, *rest = terms
    if not rest:
        return [times] if total == first * times else None
    if len(rest) == 1:
        second, odd = divmod(total - first * times, rest[0] - first)
        return None if odd or not 0 <= second <= times else [times - second, second]
    for taken in range(times + 1):
        others = term_counts(total - first * taken, rest, times - taken)
        if others is not None:
            return [taken, *others]
    return None


def progression(codes: Sequence[int]) -> int | None:
    """The step of ascending numbers that are evenly spaced, 0 for a single one; else None."""
    steps = {b - a for a, b in pairwise(codes)}
    return None if len(steps) > 1 else next(iter(steps), 0)


def spread_bits(bits: int, step: int, times: int) -> int:
    """The sums of a member of ``bits`` and one of 0, step, .., times * step."""
    covered = 0
    while step and covered < times:
        jump = min(covered + 1, times - covered)
        bits |= bits << (jump * step)
        covered += jump
    return bits


def bit_bytes(bits: int) -> NDArray[np.uint8]:
    """The number as bytes, lowest first."""
    length = math.ceil(max(bits.bit_length(), 1) / 8)
    return np.frombuffer(bits.to_bytes(length, "little"), np.uint8)


def bit_positions(bits: int) -> Iterator[Codes]:
    """Positions of the ones, ascending, in chunks."""
    raw = bit_bytes(bits)
    for start in range(0, len(raw), CHUNK // 8):
        block = np.unpackbits(raw[start : start + CHUNK // 8], bitorder="little")
        yield np.flatnonzero(block) + 8 * start


def are_members(bits: int, numbers: Codes) -> NDArray[np.bool_]:
    """Which numbers of 0 or more are members of a set of bits; (n,)."""
    raw = bit_bytes(bits)
    inside = numbers < 8 * len(raw)
    members = np.zeros(len(numbers), dtype=bool)
    kept = numbers[inside]
    members[inside] = (raw[kept >> 3] >> (kept & 7).astype(np.uint8)) & 1
    return members


@dataclass(frozen=True)
class DifferenceSets:
    """All edges of a statistic whose values are ``base + unit * position``.

    Parameters
    ----------
    base, unit
        What turns a position, 0 .. top, into a value; unit is above 0.
    top
        No position is above it.
    reached
        Bit p is 1 when some dataset has the value at position p.
    lower
        For each difference of positions, above 0, the set of the smaller positions of its edges.
    """

    base: int
    unit: int
    top: int
    reached: int
    lower: dict[int, int]

    @property
    def edges(self) -> int:
        """Number of edges."""
        return sum(bits.bit_count() for bits in self.lower.values())

    @property
    def values(self) -> int:
        """Number of values that datasets have."""
        return self.reached.bit_count()


def fit_in_memory(differences: int, top: int) -> bool:
    """Whether sets of positions up to ``top`` for so many differences fit into memory."""
    return (differences + 2) * (top // 8 + 1) <= _MOST_BYTES
