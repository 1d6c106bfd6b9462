"""Tables far from each other, and the step between them that reveals most (theory 1.2, 3.10).

Along a line of tables one row after the other is changed. The loss of two tables of it is at most
the sum of the losses of the steps between them. So a part of the line that reveals more than the
claim allows for all its steps contains a step that breaks the claim. Such steps are where code
looks at its data without noise: at a median, at the most frequent entry, at whether a row is far
from the mean. Parts are halved, steepest first.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liptest.data.domains import Domain, IntArray
from liptest.data.real_tables import RealRows
from liptest.data.tables import AddedRows, ReplacedRows, RowsOfUsers
from liptest.mechanisms.base import ClosedFormLosses, Mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, certify_comparison, enclose_loss, exact_law
from liptest.privacy.searches.plain_pairs import Pair

# Shares of a line at which it is cut first: between each two is one that people ask for.
_CUTS = (0.0, 0.004, 0.03, 0.07, 0.15, 0.4, 0.6, 0.85, 0.93, 0.97, 0.996, 1.0)
# Rows without which a table has no lines, and laws of the halves of one line.
_LEAST_ROWS, _HALVED = 100, 20


@dataclass(frozen=True)
class LineOfTables:
    """``length`` steps; ``at`` makes the table after some of them."""

    length: int
    at: Callable[[int], IntArray]


def list_lines(domain: Domain) -> Iterator[LineOfTables]:
    """Of tables of many rows: low rows that become high ones, or to which high ones are added."""
    if isinstance(domain, RealRows):
        yield from _lines_of_reals(domain)
    elif isinstance(domain, (ReplacedRows, AddedRows, RowsOfUsers)):
        n, top = domain.dimension, int(domain.size_array[0]) - 1
        is_full = isinstance(domain, ReplacedRows)
        low, high = np.zeros(n, dtype=np.int64), np.full(n, top, dtype=np.int64)
        if isinstance(domain, RowsOfUsers):
            low, high = (np.arange(n) + domain.slot(0, row) for row in (1, domain.row_values - 1))
        elif not is_full:
            low = np.ones(n, dtype=np.int64)
        few = 0 if is_full else n // 3
        if n >= _LEAST_ROWS and high[0] != low[0]:
            left = np.where(np.arange(n) < n - few, 0, low) if not is_full else low

            def at(steps: int) -> IntArray:
                return np.asarray(np.where(np.arange(n) < steps, high, left))

            yield LineOfTables(n - few, at)


def _lines_of_reals(domain: RealRows) -> Iterator[LineOfTables]:
    n, top = domain.rows, domain.row_values - 1
    few = 0 if domain.is_full else n // 3
    ends = [{name: side(kind) for name, kind in domain.reals.items()} for side in (_low, _high)]

    def at(steps: int) -> IntArray:
        is_high = np.arange(n) < steps
        rows = np.where(is_high, top, 1)
        slots = domain.slot(0, 1) + (np.arange(n) if domain.has_users else 0)
        slots = slots + (rows - 1) * (domain.slot(0, 2) - domain.slot(0, 1))
        there = is_high | (np.arange(n) >= n - few) if few else np.full(n, True)
        numbers = {name: np.where(is_high, ends[1][name], ends[0][name]) for name in domain.reals}
        return domain.made(np.where(there, slots, 0).tolist(), numbers)

    if n >= _LEAST_ROWS:
        yield LineOfTables(n - few, at)


def _low(kind: Any) -> float:
    return float(max(kind.lower, -1e6))


def _high(kind: Any) -> float:
    return float(min(kind.upper, 1e6))


@dataclass
class Descent:
    """The parts of a line, steepest first; ``laws`` counts what was computed."""

    mechanism: Mechanism
    line: LineOfTables
    claim: Claim
    _known: dict[int, IntArray] = field(default_factory=dict)

    @property
    def laws(self) -> int:
        """How many tables were looked at."""
        return len(self._known)

    def steepest(self) -> Iterator[Pair]:
        """Two tables, one step apart, that seem to break the claim; the steepest part first."""
        enough = self.claim.threshold if self.claim.delta == 0 else 0.0
        cuts = sorted({round(share * self.line.length) for share in _CUTS})
        parts = [self._part(low, high) for low, high in itertools.pairwise(cuts)]
        heapq.heapify(parts)
        most = len(self._known) + _HALVED
        while parts and len(self._known) < most:
            steepness, length, low = heapq.heappop(parts)
            if -steepness * length <= enough:
                continue  # the step that breaks the claim would have to be undone by others
            if length == 1:
                yield self._at(low), self._at(low + 1)
                continue
            middle = low + length // 2
            for ends in ((low, middle), (middle, low + length)):
                heapq.heappush(parts, self._part(*ends))

    def _part(self, low: int, high: int) -> tuple[float, int, int]:
        """(steepness below 0, steps, start): the steepest of the shortest parts first."""
        steps = high - low
        sides = self._at(low), self._at(high)
        if self.claim.delta == 0 and not isinstance(self.mechanism, ClosedFormLosses):
            left, right = (exact_law(self.mechanism, side) for side in sides)
            return -enclose_loss(left, right).lower / steps, steps, low
        scaled = Claim(epsilon=float(self.claim.epsilon) * steps, delta=self.claim.delta)
        comparison = certify_comparison(self.mechanism, sides[0], sides[1], scaled)
        if self.claim.delta == 0:
            return -comparison.lower / steps, steps, low
        return -comparison.excess if comparison.answer is Answer.VIOLATED else 0.0, steps, low

    def _at(self, step: int) -> IntArray:
        if step not in self._known:
            self._known[step] = self.line.at(step)
        return self._known[step]
