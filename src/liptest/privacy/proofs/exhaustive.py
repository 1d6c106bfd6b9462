"""Every neighbouring pair: proofs of differential privacy, and exact epsilon (theory 3.7, 3.8).

Pairs come in blocks, either from the edges of a statistic or from all points of a domain.
Points with equal laws share one row of a table, so that most pairs are repetitions of few.

Very many edges of a whole-number statistic are not visited one by one. For a range of differences
the loss of (v, v + w) is at most what the largest and smallest log probabilities in the window
v + range allow. Ranges are halved only where that bound exceeds the largest loss found so far, or
the claim: branch and bound, whose answer is that of a plain loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.errors import BudgetError, InputError
from liptest.mechanisms.base import Mechanism, MechanismWrapper
from liptest.mechanisms.laws import ZERO_LOG, ComparableLaws, LawTable
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import AnyClaim, Claim
from liptest.privacy.comparison import check_same_law, find_rounding
from liptest.privacy.proofs.domain_laws import DistinctLaws, DomainLaws, StatisticLaws, mark_pairs
from liptest.statistics.code_sets import DifferenceSets, bit_bytes, bit_positions
from liptest.statistics.protocol import EDGE_BUDGET, Statistic, check_seen_statistic

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Locate = Callable[[int], tuple[IntArray, IntArray]]

#: So many edges are visited one by one without another thought.
FEW_EDGES = 1 << 20
#: Probabilities of all laws together that are held at once.
MOST_ENTRIES = 1 << 26
# Values whose laws are computed at once, rows of one block, and the widest window.
_SLICE = 1 << 15
_ROWS = 1 << 13
_WINDOW = 1 << 10
#: Pairs near the claim that are kept to be certified.
MOST_KEPT = 1 << 20
# Pairs whose visit takes an hour.
_MOST_PAIRS = 10**11
# So many datasets are visited themselves, where a statistic's values have too many edges.
_FEW_POINTS = 1 << 26
# Windows that are compared for each value of a statistic, about.
_VISITS = 32
# Pairs of distinct laws are marked in a table of u * u bytes while that is small.
_MARKED_LAWS = 4096
# Of a line of values so many edges are compared at a time.
_EDGES = 512


@dataclass(frozen=True)
class PairBlock:
    """Pairs of distinct laws; ``pairs`` is how many neighbouring pairs they stand for.

    ``locate(k)`` gives two neighbouring datasets with the laws of pair k. Blocks of one run with
    the same ``table`` have the same laws.
    """

    laws: ComparableLaws
    left: Indices
    right: Indices
    pairs: int
    queries: int
    locate: Locate
    table: int = 0


def edges_by_difference(mechanism: Mechanism, domain: Domain, edges: int) -> DifferenceSets | None:
    """The edges by difference, where there are too many to visit and this helps; else None."""
    statistic = mechanism.statistic
    if edges <= FEW_EDGES or mechanism.source != "declared":
        return None
    sets = _difference_sets(statistic, domain)
    if sets is None or isinstance(mechanism, ShiftMechanism):
        return sets
    small = mechanism.outputs is not None and (sets.top + 1) * len(mechanism.outputs)
    return sets if small and small <= MOST_ENTRIES else None


@lru_cache(maxsize=1)
def _difference_sets(statistic: Statistic, domain: Domain) -> DifferenceSets | None:
    return statistic.difference_sets(domain)


def edge_blocks(
    mechanism: Any, domain: Domain, sets: DifferenceSets | None, claim: AnyClaim | None
) -> Iterator[PairBlock]:
    """The edges of a mechanism's statistic; by difference, those that matter.

    With ``sets`` these are the worst edge and, with a claim, all that may break it.
    """
    if sets is not None and isinstance(mechanism, ShiftMechanism):
        return _shift_block(mechanism, domain, sets)
    by_loss = claim is None or (isinstance(claim, Claim) and claim.delta == 0)
    if sets is not None and by_loss:
        laws = laws_by_position(mechanism, sets)
        if laws is not None:
            assert claim is None or isinstance(claim, Claim)
            return _worst_blocks(mechanism, domain, sets, laws, claim)
    return _every_edge(mechanism, domain)


def _every_edge(mechanism: Any, domain: Domain) -> Iterator[PairBlock]:
    for edges in mechanism.statistic.edges(domain):
        parts = list(_in_parts(mechanism, *edges))
        known: set[bytes] = set()
        for number, (left, right) in enumerate(parts):
            both = np.concatenate([left, right])
            values, rows = np.unique(both, axis=0, return_inverse=True)
            rows = rows.reshape(-1)
            laws = mechanism.laws_of(values)
            if number == 0:
                _check_value(mechanism, domain, laws, (left[0], right[0]), int(rows[0]))
            keys = {value.tobytes() for value in values} if len(parts) > 1 else set()
            queries = len(keys - known) if keys else len(values)
            known |= keys
            first, second = laws.distinct(rows[: len(left)]), laws.distinct(rows[len(left) :])
            locate = _locator(mechanism, domain, left, right)
            yield PairBlock(laws, first, second, len(left), queries, locate)


def _in_parts(
    mechanism: Any, left: IntArray, right: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """Edges, those of many counts that code reads part by part: its laws may take long."""
    size = max(len(left), 1)
    if isinstance(mechanism, MechanismWrapper) and size > _EDGES:
        # Where edges are as many as values, or more, values are in edges that are far apart.
        values = np.unique(np.concatenate([left, right]), axis=0)
        size = _EDGES if len(values) > size else size
    for start in range(0, len(left), size):
        yield left[start : start + size], right[start : start + size]


def _shift_block(
    mechanism: ShiftMechanism, domain: Domain, sets: DifferenceSets
) -> Iterator[PairBlock]:
    # The laws of v and v + w differ as those of 0 and w do: one edge of each difference.
    lower = np.array([(bits & -bits).bit_length() - 1 for bits in sets.lower.values()])
    ends = [lower, lower + np.array(list(sets.lower), dtype=np.int64)]
    left, right = (sets.base + sets.unit * end for end in ends)
    laws, places = mechanism.laws_of(np.concatenate([left, right])), np.arange(len(left))
    locate = _locator(mechanism, domain, left, right)
    yield PairBlock(laws, places, places + len(left), sets.edges, 2 * len(left), locate)


def _worst_blocks(
    mechanism: Any,
    domain: Domain,
    sets: DifferenceSets,
    laws: ValueLaws,
    claim: Claim | None,
) -> Iterator[PairBlock]:
    slack = 2 * laws.error + (0.0 if claim is None else find_rounding(claim.threshold))
    watched = math.inf if claim is None else claim.threshold - slack
    certain = -math.inf if claim is None else claim.threshold + slack
    worst = WorstPairs(sets, laws, watched=watched, certain=certain)
    pairs, queries = sets.edges, sets.values
    uncertain = uncertain_pair(sets, laws)
    for low, high in chain([] if uncertain is None else [uncertain], worst.blocks()):
        positions, rows = np.unique(np.concatenate([low, high]), return_inverse=True)
        table = laws.table(positions)
        left, right = (sets.base + sets.unit * end for end in (low, high))
        _check_value(mechanism, domain, table, (left[0], right[0]), int(rows[0]))
        locate = _locator(mechanism, domain, left, right)
        yield PairBlock(table, rows[: len(low)], rows[len(low) :], pairs, queries, locate)
        pairs = queries = 0


def _locator(mechanism: Any, domain: Domain, left: Any, right: Any) -> Locate:
    def locate(k: int) -> tuple[IntArray, IntArray]:
        return mechanism.statistic.realise(domain, left[k], right[k])  # type: ignore[no-any-return]

    return locate


def _check_value(
    mechanism: Mechanism, domain: Domain, laws: ComparableLaws, pair: tuple[Any, Any], row: int
) -> None:
    try:
        dataset, _ = mechanism.statistic.realise(domain, *pair)
    except InputError:
        return  # declared edges may be realised by no dataset
    check_same_law(mechanism, laws, dataset, row)


@dataclass(frozen=True, eq=False)
class ValueLaws:
    """Laws at all values that datasets have, one column per position; others are unknown."""

    outputs: tuple[Any, ...]
    logs: Floats
    known: NDArray[np.bool_]
    error: float
    zeros_exact: bool

    def table(self, positions: Indices) -> LawTable:
        """The laws at some positions, each with the error of the worst law of all."""
        errors = np.full(len(positions), self.error)
        rows = np.ascontiguousarray(self.logs[:, positions].T)
        return LawTable(self.outputs, rows, None, errors, self.zeros_exact)

    def between(self, start: int, stop: int, unknown: float) -> Floats:
        """Columns start .. stop - 1, those without a law, also beyond the table, ``unknown``."""
        end = min(stop, self.logs.shape[1])
        window = np.full((len(self.logs), stop - start), unknown)
        window[:, : end - start] = np.where(self.known[start:end], self.logs[:, start:end], unknown)
        return window


def uncertain_pair(sets: DifferenceSets, laws: ValueLaws) -> tuple[Indices, Indices] | None:
    """An edge at which one output has, at both ends, a zero that may be an underflow; or None."""
    if laws.zeros_exact:
        return None
    for row in laws.logs:
        zeros = (row == ZERO_LOG) & laws.known
        bits = int.from_bytes(np.packbits(zeros, bitorder="little").tobytes(), "little")
        for difference, lower in sets.lower.items() if bits else ():
            both = bits & (bits >> difference) & lower
            if both:
                first = (both & -both).bit_length() - 1
                return np.array([first]), np.array([first + difference])
    return None


def laws_by_position(mechanism: Any, sets: DifferenceSets) -> ValueLaws | None:
    """All laws of a statistic mechanism; None where windows cannot bound them.

    That is so for unbounded or partial laws, and for tables that would be too large.
    """
    outputs = mechanism.outputs
    if outputs is None or (sets.top + 1) * len(outputs) > MOST_ENTRIES:
        return None
    logs = np.zeros((len(outputs), sets.top + 1))
    is_known = np.zeros(sets.top + 1, dtype=bool)
    error, zeros_exact = 0.0, True
    for positions in bit_positions(sets.reached):
        for start in range(0, len(positions), _SLICE):
            part = positions[start : start + _SLICE]
            laws = mechanism.laws_of(sets.base + sets.unit * part)
            if not isinstance(laws, LawTable) or laws.outputs != outputs:
                return None
            rows = laws.logs[laws.distinct(np.arange(len(part)))]
            if laws.unexplored is not None and np.any(laws.unexplored):
                return None
            logs[:, part], is_known[part] = rows.T, True
            error = max(error, float(laws.errors.max(initial=0.0)))
            zeros_exact &= laws.zeros_exact
    return ValueLaws(tuple(outputs), logs, is_known, error, zeros_exact)


class WorstPairs:
    """Finds, block by block, the largest loss, and all losses above ``watched``.

    Parameters
    ----------
    sets, laws
        The edges and the laws at their ends.
    watched
        Pairs of a larger loss are all wanted, ``inf``: none but the worst.
    certain
        From a loss of this size on only the worst pair matters.
    """

    def __init__(
        self, sets: DifferenceSets, laws: ValueLaws, *, watched: float, certain: float
    ) -> None:
        self.best = -1.0
        self._sets, self._laws = sets, laws
        self._watched, self._certain = watched, certain
        self._lower = {w: bit_bytes(bits) for w, bits in sets.lower.items()}
        self._differences = np.array(sorted(sets.lower), dtype=np.int64)
        self._kept = 0

    def blocks(self) -> Iterator[tuple[Indices, Indices]]:
        """Smaller and larger positions of the pairs that matter, the worst of all among them."""
        for start in range(0, self._sets.top, _ROWS):
            rows = start + np.flatnonzero(self._laws.known[start : start + _ROWS])
            segments = [self._segment(rows, first, last) for first, last in self._segments()]
            pairs = [pair for part in segments for pair in part]
            if pairs:
                left = np.concatenate([place for place, _, _ in pairs])
                right = np.concatenate([other for _, other, _ in pairs])
                losses = np.concatenate([loss for _, _, loss in pairs])
                wanted = losses > min(self._watched, self._cut)
                wanted[int(np.argmax(losses))] = True
                yield left[wanted], right[wanted]

    @property
    def _cut(self) -> float:
        """Only pairs with a larger loss are of interest."""
        return self.best if self.best > self._certain else min(self.best, self._watched)

    def _segments(self) -> Iterator[tuple[int, int]]:
        """Positions [first, last) of differences that lie within one window."""
        first, count = 0, len(self._differences)
        while first < count:
            end = int(self._differences[first]) + _WINDOW
            last = int(np.searchsorted(self._differences, end))
            yield first, last
            first = last

    def _segment(
        self, rows: Indices, first: int, last: int
    ) -> list[tuple[Indices, Indices, Floats]]:
        low, high = int(self._differences[first]), int(self._differences[last - 1])
        rows = rows[rows + low <= self._sets.top]
        if len(rows) == 0:
            return []
        start, stop = int(rows[0]) + low, int(rows[-1]) + high + 1
        windows = _Windows(
            self._laws.between(start, stop, -np.inf),
            self._laws.between(start, stop, np.inf),
            start,
            high - low + 1,
        )
        leaves: list[tuple[Indices, Indices, Floats]] = []
        open_nodes = [(first, last, rows)]
        while open_nodes:
            a, b, inside = open_nodes.pop()
            inside, bounds = self._bound(windows, inside, a, b)
            if len(inside) == 0:
                continue
            if b - a == 1:
                leaves += self._leaf(inside, bounds, int(self._differences[a]))
                continue
            middle = (a + b) // 2
            # The half that promises more is looked at first: its losses shut the other one.
            halves = [(a, middle, inside), (middle, b, inside)]
            open_nodes += sorted(halves, key=lambda node: self._promise(windows, node))
        return leaves

    def _promise(self, windows: _Windows, node: tuple[int, int, Indices]) -> float:
        a, b, inside = node
        few = inside[:: max(1, len(inside) // 16)]
        return float(self._bounds(windows, few, a, b).max(initial=-1.0))

    def _bound(self, windows: _Windows, rows: Indices, a: int, b: int) -> tuple[Indices, Floats]:
        bounds = self._bounds(windows, rows, a, b)
        kept = bounds > self._cut
        return rows[kept], bounds[kept]

    def _bounds(self, windows: _Windows, rows: Indices, a: int, b: int) -> Floats:
        low, high = int(self._differences[a]), int(self._differences[b - 1])
        own = self._laws.logs[:, rows]
        largest, smallest = windows.ends(rows + low, high - low + 1)
        return np.asarray(np.maximum(largest - own, own - smallest).max(axis=0))

    def _leaf(
        self, rows: Indices, losses: Floats, difference: int
    ) -> list[tuple[Indices, Indices, Floats]]:
        raw = self._lower[difference]
        inside = rows >> 3 < len(raw)
        inside[inside] = (raw[rows[inside] >> 3] >> (rows[inside] & 7).astype(np.uint8)) & 1
        rows, losses = rows[inside], losses[inside]
        if len(rows) == 0:
            return []
        self.best = max(self.best, float(losses.max()))
        wanted = losses > min(self._watched, self._cut)
        wanted[int(np.argmax(losses))] = True
        self._count(int(wanted.sum()))
        return [(rows[wanted], rows[wanted] + difference, losses[wanted])]

    def _count(self, more: int) -> None:
        self._kept += more
        if self._kept > MOST_KEPT and self.best <= self._certain:
            raise BudgetError(
                f"more than {MOST_KEPT:,} pairs of values lie so close to the claim that each must "
                f"be certified; declare a smaller error=, or raise tolerance",
                needed=self._kept,
                budget=MOST_KEPT,
            )


class _Windows:
    """Largest and smallest entries of all windows of columns, by doubling.

    Parameters
    ----------
    high, low
        (k, n) entries, ``start`` being the position of the first column.
    widest
        Most columns in a window.
    """

    def __init__(self, high: Floats, low: Floats, start: int, widest: int) -> None:
        self._start = start
        self._high, self._low = [high], [low]
        width = 1
        while 2 * width <= widest:
            for tables, pick in ((self._high, np.maximum), (self._low, np.minimum)):
                last = tables[-1]
                tables.append(pick(last[:, :-width], last[:, width:]))
            width *= 2

    def ends(self, positions: Indices, width: int) -> tuple[Floats, Floats]:
        """Largest and smallest entry of each window of ``width`` columns from a position on."""
        level = width.bit_length() - 1
        first = positions - self._start
        second = first + width - (1 << level)
        high, low = self._high[level], self._low[level]
        return (
            np.maximum(high[:, first], high[:, second]),
            np.minimum(low[:, first], low[:, second]),
        )


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

    def visits(self, claim: AnyClaim) -> int:
        """Pairs that are compared, about, for a claim."""
        pure = isinstance(claim, Claim) and claim.delta == 0
        if self.differences is None or (self.windows and not pure):
            return self.pairs
        return (_VISITS if self.windows else 1) * self.laws


def exhaustive_size(mechanism: Mechanism, domain: Domain) -> ExhaustiveSize:
    """Laws and pairs of an exhaustive pass."""
    from liptest.statistics.trusted import is_trusted

    statistic = mechanism.statistic
    unbounded = mechanism.outputs is None and mechanism.source == "declared"
    if statistic is not None:
        check_seen_statistic(mechanism, domain)
        count = statistic.edge_count(domain)
        if count is not None:
            sets = edges_by_difference(mechanism, domain, count)
            if sets is not None and isinstance(mechanism, ShiftMechanism):
                return ExhaustiveSize(2 * len(sets.lower), sets.edges, True, differences=sets)
            if sets is not None:
                return ExhaustiveSize(sets.values, sets.edges, True, differences=sets, windows=True)
            if count <= EDGE_BUDGET or unbounded or domain.size > _FEW_POINTS:
                proved = statistic.proved_edges and is_trusted(statistic)
                condition = "" if proved else _say_declared(statistic.name)
                return ExhaustiveSize(count + 1, count, True, condition)
    return ExhaustiveSize(domain.size, domain.neighbouring_pairs, False, possible=not unbounded)


def _say_declared(name: str) -> str:
    return f"the neighbouring values of the statistic {name!r} are those declared"


def pair_blocks(
    mechanism: Mechanism,
    domain: Domain,
    claim: AnyClaim | None = None,
    executor: Executor | None = None,
) -> Iterator[PairBlock]:
    """All neighbouring pairs of a domain as the mechanism sees them.

    Of very many edges of a statistic only those that matter: the worst one, and with a claim all
    that may break it. Laws of datasets are computed by the executor's workers; they, and their
    order, do not depend on how many these are.
    """
    size = exhaustive_size(mechanism, domain)
    if size.through_statistic:
        return _number(edge_blocks(mechanism, domain, size.differences, claim))
    return _domain_blocks(mechanism, domain, executor)


def _number(blocks: Iterator[PairBlock]) -> Iterator[PairBlock]:
    """Blocks of edges, each of which has laws of its own."""
    with closing(blocks) as listed:  # type: ignore[type-var]
        for number, block in enumerate(listed):
            yield replace(block, table=number)


def _domain_blocks(
    mechanism: Mechanism, domain: Domain, executor: Executor | None
) -> Iterator[PairBlock]:
    distinct, rows = _collect_laws(mechanism, domain, executor)
    laws, queries = distinct.laws(), domain.size
    for block in _iterate_pair_blocks(domain, distinct, rows):
        yield PairBlock(laws, *block, queries=queries, locate=block_locator(domain, rows, block))
        queries = 0


def law_rows(mechanism: Mechanism, domain: Domain) -> tuple[ComparableLaws, NDArray[np.int32]]:
    """All distinct laws on a domain, and which one each point has, by index; (size,)."""
    distinct, rows = _collect_laws(mechanism, domain)
    return distinct.laws(), rows


def neighbour_rows(domain: Domain) -> Indices:
    """All neighbouring pairs of a domain as indices of points; (pairs, 2)."""
    index = np.arange(domain.size, dtype=np.int32)
    pairs = [
        np.stack([first.reshape(-1), second.reshape(-1)], axis=1)
        for first, second in domain.pair_views(index)
    ]
    return np.concatenate(pairs).astype(np.int64) if pairs else np.zeros((0, 2), dtype=np.int64)


def _collect_laws(
    mechanism: Mechanism, domain: Domain, executor: Executor | None = None
) -> tuple[DistinctLaws, NDArray[np.int32]]:
    if not exhaustive_size(mechanism, domain).possible:
        raise InputError(
            f"method='exhaustive': {mechanism.name} has unbounded outputs and its statistic "
            f"declares no edges; give the statistic its edges",
            name="method",
        )
    distinct: DistinctLaws | None = None
    rows = np.empty(domain.size, dtype=np.int32)
    if mechanism.statistic is not None:
        # Few laws, and a walk from value to value: nothing to share out.
        generator = StatisticLaws(mechanism, domain).parts()
    else:
        generator = DomainLaws(mechanism, domain).parts(executor)
    with closing(generator) as parts:
        for part in parts:
            _check_worth(mechanism, part.laws)
            if distinct is None:
                own = part.laws.new_distinct()
                distinct = DistinctLaws() if own is None else own
            ids = distinct.add(part.laws, part.queries)
            rows[part.places] = ids if part.rows is None else ids[part.rows]
    assert distinct is not None
    return distinct, rows


def _check_worth(mechanism: Mechanism, laws: ComparableLaws) -> None:
    if laws.unexplored is not None and np.any(laws.unexplored == 1.0):
        raise BudgetError(
            f"method='exhaustive': the budget of {mechanism.name} for the law on one dataset ends "
            f"on so many datasets that visiting all of them takes too long; raise that budget, or "
            f"use method='neighbourhoods'"
        )


def _iterate_pair_blocks(
    domain: Domain, distinct: DistinctLaws, rows: NDArray[np.int32]
) -> Iterator[tuple[Indices, Indices, int]]:
    step = distinct.pairs_per_slice()
    if len(distinct) <= _MARKED_LAWS:
        left, right, pairs = mark_pairs(domain, rows, len(distinct))
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


class TooManyDatasets(InputError):
    """All datasets of a domain, or all pairs, are too many; ``many`` says how many."""

    def __init__(self, many: str) -> None:
        super().__init__(
            f"method='exhaustive': {many}; use method='neighbourhoods', or lt.exact_loss on the "
            f"pairs that matter",
            name="method",
        )
        self.many = many


def check_affordable(size: ExhaustiveSize, budget: int | None, mechanism: Mechanism) -> None:
    """BudgetError when a pass over all needs more laws than the budget allows; TooManyDatasets."""
    if budget is not None and size.laws > budget:
        raise BudgetError(
            f"method='exhaustive' on {mechanism.name} needs {size.laws:,} output distributions and "
            f"{size.pairs:,} pairs, more than budget={budget:,}; raise the budget or use "
            f"method='neighbourhoods'",
            needed=size.laws,
            budget=budget,
        )
    if not size.through_statistic and size.laws > 2**31 - 1:
        raise TooManyDatasets(
            f"{size.laws:.3g} datasets are too many to visit"
            if size.laws < 10**300
            else "the domain is too large to visit",
        )
    if not size.through_statistic and size.pairs > _MOST_PAIRS:
        raise TooManyDatasets(f"{size.pairs:.3g} neighbouring pairs are too many to visit")
