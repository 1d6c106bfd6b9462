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
    return Bits(1) if top < MOST_BITS else Listed(np.zeros(1, dtype=np.int64))


@dataclass(frozen=True)
class Bits:
    """A set as the ones of a number."""

    bits: int

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __contains__(self, code: int) -> bool:
        return code >= 0 and bool(self.bits >> code & 1)

    def plus(self, options: Sequence[int], times: int = 1) -> Bits:
        codes = sorted(set(options))
        step = progression(codes)
        if step is not None:
            spread = spread_bits(self.bits, step, (len(codes) - 1) * times)
            return Bits(spread << codes[0] * times)
        bits = self.bits
        for _ in range(times):
            bits = reduce(or_, (bits << code for code in codes))
        return Bits(bits)

    def shifted(self, by: int) -> Bits:
        return Bits(self.bits << by)

    def union(self, other: CodeSet) -> Bits:
        assert isinstance(other, Bits)
        return Bits(self.bits | other.bits)

    def chunks(self) -> Iterator[Codes]:
        return bit_positions(self.bits)


@dataclass(frozen=True, eq=False)
class Listed:
    """A set as its members in ascending order."""

    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __contains__(self, code: int) -> bool:
        place = int(np.searchsorted(self.codes, code))
        return place < len(self.codes) and int(self.codes[place]) == code

    def plus(self, options: Sequence[int], times: int = 1) -> Listed:
        codes, terms = self.codes, np.array(sorted(set(options)), dtype=np.int64)
        for _ in range(times):
            codes = np.unique(codes[None, :] + terms[:, None])
        return Listed(codes)

    def shifted(self, by: int) -> Listed:
        return Listed(self.codes + by)

    def union(self, other: CodeSet) -> Listed:
        assert isinstance(other, Listed)
        return Listed(np.union1d(self.codes, other.codes))

    def chunks(self) -> Iterator[Codes]:
        for start in range(0, len(self.codes), CHUNK):
            yield self.codes[start : start + CHUNK]


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
    found = np.zeros(len(numbers), dtype=bool)
    kept = numbers[inside]
    found[inside] = (raw[kept >> 3] >> (kept & 7).astype(np.uint8)) & 1
    return found
