"""Which pairs of laws neighbouring points of a domain have, where the laws are few.

On a product of finite sets the last coordinates make up a block. Blocks in which all points have
the same laws as in another one need not be looked at twice: neither the pairs inside, nor those
across two blocks. Of a mechanism that sees little, most blocks are equal.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain
from liptest.statistics.value_walks import suffix_start

Indices = NDArray[np.int64]
Rows = NDArray[np.int32]

_BLOCK = 1 << 12
# Pairs that are marked at once.
_SLICE = 1 << 20


def marked_pairs(domain: Domain, rows: Rows, laws: int) -> tuple[Indices, Indices, int]:
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
    start = suffix_start(domain, _BLOCK)
    blocks = rows.reshape(-1, int(domain.strides[start]) * domain.sizes[start])
    which, distinct = _distinct_blocks(blocks)
    for axis in range(start, domain.dimension):
        view = distinct.reshape(-1, domain.sizes[axis], int(domain.strides[axis]))
        for a, b in domain.value_pairs(axis):
            _mark(seen, laws, view[:, a].reshape(-1), view[:, b].reshape(-1))
    step = max(1, _SLICE // blocks.shape[1])
    for left, right in _block_pairs(domain, which, len(distinct), start):
        for first in range(0, len(left), step):
            ends = (distinct[side[first : first + step]].reshape(-1) for side in (left, right))
            _mark(seen, laws, *ends)


def _distinct_blocks(blocks: Rows) -> tuple[Indices, Rows]:
    """Which of the different blocks each block is, and these."""
    known: dict[int, int] = {}
    firsts: list[int] = []
    which = np.empty(len(blocks), dtype=np.int64)
    for k, block in enumerate(blocks):
        found = known.setdefault(hash(block.tobytes()), len(firsts))
        if found == len(firsts) or not np.array_equal(blocks[firsts[found]], block):
            # A hash that two different blocks share: the second one counts as new.
            found = len(firsts)
            firsts.append(k)
        which[k] = found
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
