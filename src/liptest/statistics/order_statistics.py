"""Order statistics: the smallest, the median, the largest of bounded whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.errors import InputError, check_count, quote
from liptest.statistics.code_sets import sort_distinct
from liptest.statistics.protocol import (
    EDGE_BUDGET,
    EDGE_CHUNK,
    Statistic,
    Values,
    check_edge_budget,
)

_MOST_CODE = 1 << 62
_FRESH = 1 << 20


class OrderStatistic(Statistic):
    """The record of rank j among d records, 1 being the smallest; or those of several ranks.

    ``OrderStatistic((d + 1) // 2)`` is a median, ``OrderStatistic([1, d])`` the range.

    Edges. Let y_1 <= .. <= y_(d-1) be the records but one, z that one, y_0 = -inf, y_d = inf. The
    record of rank j is z put into the interval [y_(j-1), y_j]: clip(z, y_(j-1), y_j). So the values
    of neighbours are the pairs (clip(z, ..), clip(z', ..)) of each rank, over all ascending y and
    neighbouring z, z'.

    *One rank.* Let W be the j-th smallest of ``sizes - 1``, the largest value there is: it takes
    d - j + 1 records that can be W. If the value rises from v to w > v, then w <= W; if it is one
    coordinate by 1 that changes, w = v + 1, because clipping never enlarges a difference.
    Conversely for any v < w <= W: d - j + 1 records can be w; give all of them but one the value w,
    the j - 1 others 0, and the one z = v, then z' = w. So the edges are all pairs v < w <= W when
    records are replaced, and all pairs (v, v + 1), v < W, on a grid.

    *Several ranks, equal sizes m.* Only the entries of y beside the ranks matter, and any ascending
    choice of these entries in 0 .. m-1 extends to an ascending y. So the edges are the pairs that
    differ, over all ascending choices and neighbouring z < z' (theory 3.8).

    Parameters
    ----------
    ranks
        A whole number of at least 1, values then are (n,); or several in ascending order, (n, k).

    Raises
    ------
    InputError
        Ranks that do not ascend; on use, a rank above d, or several ranks with unequal sizes.
    """

    proved_edges = True

    def __init__(self, ranks: int | Sequence[int] | NDArray[np.integer[Any]]) -> None:
        array = np.asarray(ranks, dtype=object)
        self._flat = array.ndim == 0
        listed: list[Any] = array.reshape(-1).tolist() if array.ndim <= 1 else [ranks]
        self.ranks = tuple(check_count("ranks", rank) for rank in listed)
        if not self.ranks or list(self.ranks) != sorted(set(self.ranks)):
            raise InputError(f"ranks={quote(ranks)} must ascend", name="ranks", value=ranks)
        words = ", ".join(map(str, self.ranks))
        self.name = f"order statistic {words}"

    def __repr__(self) -> str:
        return f"OrderStatistic({self.ranks[0] if self._flat else list(self.ranks)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OrderStatistic) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def check(self, domain: Domain) -> None:
        if self.ranks[-1] > domain.dimension:
            raise InputError(
                f"statistic={self!r}: {domain} has {domain.dimension} records only",
                name="statistic",
            )
        if len(self.ranks) > 1 and len(set(domain.sizes)) > 1:
            raise InputError(
                f"statistic={self!r}: several ranks need coordinates of one size, not {domain}; "
                f"use one rank",
                name="statistic",
            )

    def values(self, points: IntArray) -> Values:
        places = np.array(self.ranks) - 1
        ranked = np.partition(points, places, axis=1)[:, places].astype(np.int64)
        return self._shape(ranked)

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        """Each changed value from at most three entries beside its rank, not from d of them."""
        ordered = np.sort(batch.centres, axis=1).astype(np.int64)
        old = batch.centres[batch.rows, batch.coordinates].astype(np.int64)
        changed = np.empty((len(batch.rows), len(self.ranks)), dtype=np.int64)
        for k, rank in enumerate(self.ranks):
            low = self._without(ordered, batch.rows, old, rank - 1)
            high = self._without(ordered, batch.rows, old, rank)
            clipped = batch.values if low is None else np.maximum(batch.values, low)
            changed[:, k] = clipped if high is None else np.minimum(clipped, high)
        return self._shape(changed)

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """Records of one size are of one kind."""
        return np.unique(domain.size_array, return_inverse=True)[1].reshape(-1)

    def edge_count(self, domain: Domain) -> int | None:
        self.check(domain)
        if len(self.ranks) == 1:
            top = self._top(domain)
            return top * (top + 1) // 2 if isinstance(domain, RecordGrid) else top
        work = self._choices(domain)
        if work > EDGE_BUDGET or domain.sizes[0] ** (2 * len(self.ranks)) >= _MOST_CODE:
            return max(work, EDGE_BUDGET + 1)
        return len(_pair_codes(self, domain))

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        check_edge_budget(self, domain, self.edge_count(domain) or 0)
        return self._single(domain) if len(self.ranks) == 1 else self._several(domain)

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        self.check(domain)
        ends = [np.asarray(end, dtype=np.int64).reshape(-1) for end in (left, right)]
        swapped = ends[0].tolist() > ends[1].tolist()
        pair = self._pair(domain, *(reversed(ends) if swapped else ends))
        if pair is None:
            raise InputError(
                f"no two neighbouring datasets of {domain} have the order statistics "
                f"{ends[0].tolist()} and {ends[1].tolist()}",
                name="statistic",
            )
        lower, upper = (row.astype(domain.dtype) for row in pair)
        return (upper, lower) if swapped else (lower, upper)

    def _shape(self, values: Values) -> Values:
        return values[:, 0] if self._flat else values

    def _top(self, domain: Domain) -> int:
        return int(np.sort(domain.size_array)[self.ranks[0] - 1]) - 1

    def _without(self, ordered: Values, rows: Values, old: Values, place: int) -> Values | None:
        """Entry ``place`` (from 1) of each centre's sorted records without ``old``; None off it."""
        if not 1 <= place < ordered.shape[1]:
            return None
        here = ordered[rows, place - 1]
        return np.asarray(np.where(here < old, here, ordered[rows, place]))

    def _single(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        top = self._top(domain)
        if not isinstance(domain, RecordGrid):
            for start in range(0, top, EDGE_CHUNK):
                lower = np.arange(start, min(start + EDGE_CHUNK, top))
                yield self._with_shape(lower), self._with_shape(lower + 1)
            return
        for low in range(top):
            upper = np.arange(low + 1, top + 1)
            yield self._with_shape(np.full(len(upper), low)), self._with_shape(upper)

    def _with_shape(self, values: NDArray[np.int64]) -> Values:
        return values if self._flat else values[:, None]

    def _several(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        codes, k, m = _pair_codes(self, domain), len(self.ranks), domain.sizes[0]
        for start in range(0, len(codes), EDGE_CHUNK):
            digits = codes[start : start + EDGE_CHUNK, None] // m ** np.arange(2 * k)[::-1] % m
            yield digits[:, :k], digits[:, k:]

    @property
    def _beside(self) -> list[int]:
        """Places of y beside the ranks that exist for every d, from 0 (-inf) on."""
        return sorted({place for rank in self.ranks for place in (rank - 1, rank)})

    def _choices(self, domain: Domain) -> int:
        inner = [place for place in self._beside if 1 <= place < domain.dimension]
        ways = math.comb(domain.sizes[0] + len(inner) - 1, len(inner))
        return ways * max(1, len(domain.value_pairs(0)))

    def _blocks(self, domain: Domain) -> Iterator[tuple[Values, Values, Values, Values]]:
        """Ascending choices (c, places) with the pairs z < z': (c, p, k) values of both ends."""
        inner = [place for place in self._beside if 1 <= place < domain.dimension]
        pairs, m = domain.value_pairs(0), domain.sizes[0]
        every = combinations_with_replacement(range(m), len(inner))
        step = max(1, EDGE_CHUNK // max(1, len(pairs)))
        while block := list(islice(every, step)):
            chosen = np.array(block, dtype=np.int64).reshape(len(block), len(inner))
            column = {place: chosen[:, j] for j, place in enumerate(inner)}
            none = np.zeros(len(block), dtype=np.int64)
            low = np.stack([column.get(j - 1, none) for j in self.ranks], axis=1)
            high = np.stack([column.get(j, none + m - 1) for j in self.ranks], axis=1)
            ends = [np.clip(pairs[:, e, None], low[:, None], high[:, None]) for e in (0, 1)]
            yield chosen, pairs, ends[0], ends[1]

    def _pair(self, domain: Domain, low: Values, high: Values) -> tuple[Values, Values] | None:
        if len(low) != len(self.ranks) or len(high) != len(self.ranks):
            return None
        if len(self.ranks) == 1:
            return self._find_pair_between(domain, int(low[0]), int(high[0]))
        if self._choices(domain) > EDGE_BUDGET:
            return None
        for chosen, pairs, left, right in self._blocks(domain):
            hits = np.argwhere((left == low).all(axis=2) & (right == high).all(axis=2))
            if len(hits):
                others = self._filled(domain, chosen[hits[0, 0]])
                return tuple(np.append(others, z) for z in pairs[hits[0, 1]])  # type: ignore[return-value]
        return None

    def _find_pair_between(self, domain: Domain, v: int, w: int) -> tuple[Values, Values] | None:
        step = w - v if isinstance(domain, RecordGrid) else 1
        if not 0 <= v < w <= self._top(domain) or w != v + step:
            return None
        large = np.flatnonzero(domain.size_array > w)[: domain.dimension - self.ranks[0] + 1]
        upper = np.zeros(domain.dimension, dtype=np.int64)
        upper[large] = w
        lower = upper.copy()
        lower[large[0]] = v
        return lower, upper

    def _filled(self, domain: Domain, chosen: Values) -> Values:
        """An ascending y with the chosen entries: each other one is as the one before it."""
        inner = [place for place in self._beside if 1 <= place < domain.dimension]
        others = np.zeros(domain.dimension - 1, dtype=np.int64)
        for place, value in zip(inner, chosen.tolist(), strict=True):
            others[place - 1 :] = value
        return others


@lru_cache(maxsize=4)
def _pair_codes(statistic: OrderStatistic, domain: Domain) -> NDArray[np.int64]:
    """Pairs that differ as numbers in base m, both ends one after the other; sorted, each once."""
    m, codes, fresh = domain.sizes[0], np.zeros(0, dtype=np.int64), []
    weights = m ** np.arange(2 * len(statistic.ranks))[::-1]
    for _, _, left, right in statistic._blocks(domain):
        both = np.concatenate([left, right], axis=2).reshape(-1, len(weights))
        kept = (left != right).any(axis=2).reshape(-1)
        fresh.append(both[kept] @ weights)
        # Now and then, so that each number is sorted a few times only.
        if sum(map(len, fresh)) > max(_FRESH, len(codes)):
            codes, fresh = sort_distinct(np.concatenate([codes, *fresh])), []
    return sort_distinct(np.concatenate([codes, *fresh]))
