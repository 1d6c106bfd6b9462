"""Every neighbouring pair: proofs of differential privacy, and exact epsilon (theory 3.7, 3.8).

Pairs come in blocks, either from the edges of a statistic or from all points of a domain.
Points with equal laws share one row of a pool, so that most pairs are repetitions of few.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain, IntArray
from liptest.errors import BudgetError, InputError
from liptest.mechanisms.base import ComparableLaws, Mechanism
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim
from liptest.privacy.domain_laws import DomainLaws, StatisticLaws
from liptest.privacy.edge_blocks import Locate, PairBlock, edge_blocks, edges_by_difference
from liptest.privacy.pair_marks import marked_pairs
from liptest.privacy.pools import LawPool
from liptest.statistics.difference_sets import DifferenceSets
from liptest.statistics.protocol import EDGE_BUDGET, check_statistic

Indices = NDArray[np.int64]

# Pairs whose visit takes an hour.
_MOST_PAIRS = 10**11

# So many datasets are visited themselves, where a statistic's values have too many edges.
_FEW_POINTS = 1 << 26
# Windows that are compared for each value of a statistic, about.
_VISITS = 32
# Pairs of distinct laws are marked in a table of u * u bytes while that is small.
_MARKED_LAWS = 4096


@dataclass(frozen=True)
class ExhaustiveSize:
    """What visiting everything costs; ``condition`` is what the proof then rests on.

    ``possible`` is False for unbounded outputs without known edges. ``differences`` are edges too
    many to be visited one by one, which a shift never needs, and others with ``windows`` do not
    need for delta = 0.
    """

    laws: int
    pairs: int
    through_statistic: bool
    condition: str = ""
    possible: bool = True
    differences: DifferenceSets | None = None
    windows: bool = False

    def visits(self, delta: float) -> int:
        """Pairs that are compared, about, for a claim with this delta."""
        if self.differences is None or (self.windows and delta > 0):
            return self.pairs
        return (_VISITS if self.windows else 1) * self.laws


def exhaustive_size(mechanism: Mechanism, domain: Domain) -> ExhaustiveSize:
    """Laws and pairs of an exhaustive pass."""
    statistic = mechanism.statistic
    unbounded = mechanism.outputs is None and mechanism.source == "declared"
    if statistic is not None:
        check_statistic(mechanism, domain)
        count = statistic.edge_count(domain)
        if count is not None:
            sets = edges_by_difference(mechanism, domain, count)
            if sets is not None and isinstance(mechanism, ShiftMechanism):
                return ExhaustiveSize(2 * len(sets.lower), sets.edges, True, differences=sets)
            if sets is not None:
                return ExhaustiveSize(sets.values, sets.edges, True, differences=sets, windows=True)
            if count <= EDGE_BUDGET or unbounded or domain.size > _FEW_POINTS:
                condition = "" if statistic.proved_edges else _declared(statistic.name)
                return ExhaustiveSize(count + 1, count, True, condition)
    return ExhaustiveSize(domain.size, domain.neighbouring_pairs, False, possible=not unbounded)


def _declared(name: str) -> str:
    return f"the neighbouring values of the statistic {name!r} are those declared"


def pair_blocks(
    mechanism: Mechanism,
    domain: Domain,
    claim: Claim | None = None,
    executor: Executor | None = None,
) -> Iterator[PairBlock]:
    """All neighbouring pairs of a domain as the mechanism sees them.

    Of very many edges of a statistic only those that matter: the worst one, and with a claim all
    that may break it. Laws of datasets are asked for by the executor's workers; they, and their
    order, do not depend on how many these are.
    """
    size = exhaustive_size(mechanism, domain)
    if size.through_statistic:
        return edge_blocks(mechanism, domain, size.differences, claim)
    return _domain_blocks(mechanism, domain, executor)


def _domain_blocks(
    mechanism: Mechanism, domain: Domain, executor: Executor | None
) -> Iterator[PairBlock]:
    pool, rows = _pooled(mechanism, domain, executor)
    laws, queries = pool.laws(), domain.size
    for block in _blocks_of_rows(domain, pool, rows):
        yield PairBlock(laws, *block, queries=queries, locate=block_locator(domain, rows, block))
        queries = 0


def law_rows(mechanism: Mechanism, domain: Domain) -> tuple[ComparableLaws, NDArray[np.int32]]:
    """All distinct laws on a domain, and which one each point has, by index; (size,)."""
    pool, rows = _pooled(mechanism, domain)
    return pool.laws(), rows


def neighbour_rows(domain: Domain) -> Indices:
    """All neighbouring pairs of a domain as indices of points; (pairs, 2)."""
    index = np.arange(domain.size, dtype=np.int32)
    pairs = [
        np.stack([first.reshape(-1), second.reshape(-1)], axis=1)
        for first, second in domain.pair_views(index)
    ]
    return np.concatenate(pairs).astype(np.int64) if pairs else np.zeros((0, 2), dtype=np.int64)


def _pooled(
    mechanism: Mechanism, domain: Domain, executor: Executor | None = None
) -> tuple[LawPool, NDArray[np.int32]]:
    if not exhaustive_size(mechanism, domain).possible:
        raise InputError(
            f"method='exhaustive': {mechanism.name} has unbounded outputs and its statistic "
            f"declares no edges; give the statistic its edges",
            name="method",
        )
    pool: LawPool | None = None
    rows = np.empty(domain.size, dtype=np.int32)
    if mechanism.statistic is not None:
        # Few laws, and a walk from value to value: nothing to share out.
        found = StatisticLaws(mechanism, domain).parts()
    else:
        found = DomainLaws(mechanism, domain).parts(executor)
    with closing(found) as parts:
        for part in parts:
            _check_worth(mechanism, part.laws)
            pool = getattr(part.laws, "new_pool", LawPool)() if pool is None else pool
            ids = pool.add(part.laws, part.queries)
            rows[part.places] = ids if part.rows is None else ids[part.rows]
    assert pool is not None
    return pool, rows


def _check_worth(mechanism: Mechanism, laws: ComparableLaws) -> None:
    unexplored = getattr(laws, "unexplored", None)
    if unexplored is not None and np.any(unexplored == 1.0):
        raise BudgetError(
            f"method='exhaustive': the budget of {mechanism.name} for the law on one dataset ends "
            f"on so many datasets that visiting all of them takes too long; raise that budget, or "
            f"use method='neighbourhoods'"
        )


def _blocks_of_rows(
    domain: Domain, pool: LawPool, rows: NDArray[np.int32]
) -> Iterator[tuple[Indices, Indices, int]]:
    step = pool.pairs_per_slice()
    if len(pool) <= _MARKED_LAWS:
        left, right, pairs = marked_pairs(domain, rows, len(pool))
        for start in range(0, len(left), step):
            yield left[start : start + step], right[start : start + step], pairs
            pairs = 0
        return
    for first, second in domain.pair_views(rows):
        a, b = first.reshape(-1), second.reshape(-1)
        for start in range(0, len(a), step):
            left = a[start : start + step].astype(np.int64)
            yield left, b[start : start + step].astype(np.int64), len(left)


def block_locator(
    domain: Domain, rows: NDArray[np.int32], block: tuple[Indices, Indices, int]
) -> Locate:
    """Finds the first neighbouring points that have the laws of pair k of a block."""
    left, right, _ = block

    def locate(k: int) -> tuple[IntArray, IntArray]:
        places = np.arange(domain.size, dtype=np.int32)
        views = zip(domain.pair_views(rows), domain.pair_views(places), strict=True)
        for (first, second), ends in views:
            hit = np.flatnonzero(((first == left[k]) & (second == right[k])).reshape(-1))
            if len(hit):
                points = domain.points([end.reshape(-1)[hit[0]] for end in ends])
                return points[0], points[1]
        raise AssertionError("a pair of laws without points")

    return locate


def check_affordable(size: ExhaustiveSize, budget: int | None, mechanism: Mechanism) -> None:
    """BudgetError when an exhaustive pass asks for more laws than the budget allows."""
    if budget is not None and size.laws > budget:
        raise BudgetError(
            f"method='exhaustive' on {mechanism.name} needs {size.laws:,} output laws and "
            f"{size.pairs:,} pairs, more than budget={budget:,}; raise the budget or use "
            f"method='neighbourhoods'",
            needed=size.laws,
            budget=budget,
        )
    if not size.through_statistic and size.laws > 2**31 - 1:
        raise InputError(
            f"method='exhaustive': {size.laws:.3g} datasets are too many to visit; use "
            f"method='neighbourhoods'"
            if size.laws < 10**300
            else "method='exhaustive': the domain is too large to visit; use "
            "method='neighbourhoods'",
            name="method",
        )
    if not size.through_statistic and size.pairs > _MOST_PAIRS:
        raise InputError(
            f"method='exhaustive': {size.pairs:.3g} neighbouring pairs are too many to visit; use "
            f"method='neighbourhoods', or exact_loss on the pairs that matter",
            name="method",
        )
