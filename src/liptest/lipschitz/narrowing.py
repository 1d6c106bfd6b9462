"""A violated pair at a distance contains a violated pair of neighbours (theory 1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain, Hypergrid, IntArray
from liptest.driver import Finding
from liptest.errors import FunctionError
from liptest.lipschitz.differences import ask_again, is_violated
from liptest.oracles import FunctionOracle
from liptest.points import from_array


@dataclass(frozen=True, eq=False)
class Geodesic:
    """A path between two points, coordinate by coordinate; both (d,).

    On the domains of liptest it is a shortest one, over neighbours. Another domain may have
    another distance: ``shows`` says whether two points of the path are neighbours for it.
    """

    domain: Domain
    start: IntArray
    end: IntArray

    @cached_property
    def _hops(self) -> NDArray[np.int64]:
        moves = self.end.astype(np.int64) - self.start
        return np.asarray(np.abs(moves) if isinstance(self.domain, Hypergrid) else moves != 0) * 1

    @cached_property
    def length(self) -> int:
        """Number of hops, the distance of the ends."""
        return int(self._hops.sum())

    def shows(self, low: int, high: int) -> bool:
        """Whether the domain, too, counts this many hops between two points of the path."""
        ends = self.point(low)[None, :], self.point(high)[None, :]
        return int(self.domain.distance(*ends)[0]) == high - low

    def point(self, hop: int) -> IntArray:
        """The point after some hops, 0 .. length; a fresh (d,) array."""
        before = np.cumsum(self._hops) - self._hops
        done = np.clip(hop - before, 0, self._hops)
        moves = self.end.astype(np.int64) - self.start
        per_hop = moves // np.maximum(self._hops, 1)
        return np.asarray(self.start + done * per_hop, dtype=self.start.dtype)


@dataclass(frozen=True)
class Narrowed:
    """A violated pair of neighbours, and the queries that it took to find and to confirm it."""

    finding: Finding
    queries: int
    repeats: int


def narrow(finding: Finding, oracle: FunctionOracle, limit: float) -> Narrowed:
    """Bisect the path between the ends of a violated pair, whose evidence are their values.

    Takes at most ceil(log2(distance)) queries: of two halves of a violated pair one is violated,
    because the limit is proportional to the distance. Then both ends are asked again. On a domain
    of another distance, where the path leads over no neighbours, the pair stays as it is.

    Raises
    ------
    FunctionError
        The function changes its answers.
    """
    path = Geodesic(oracle.domain, finding.point, finding.other)
    low, high, queries = 0, path.length, 0
    left, right = finding.evidence
    if not path.shows(low, high):
        return _confirmed(finding, oracle, limit, queries)
    while high - low > 1:
        middle = (low + high) // 2
        value = float(oracle.values(from_array(path.point(middle)[None, :]))[0])
        queries += 1
        if is_violated(left, value, middle - low, limit):
            high, right = middle, value
        else:
            low, left = middle, value
    if not path.shows(low, high):
        return _confirmed(finding, oracle, limit, queries)
    near = Finding(path.point(low), path.point(high), high - low, (left, right))
    return _confirmed(near, oracle, limit, queries)


def _confirmed(finding: Finding, oracle: FunctionOracle, limit: float, queries: int) -> Narrowed:
    ends = np.stack([finding.point, finding.other])
    left, right = ask_again(oracle, ends, list(finding.evidence), limit)
    if not is_violated(left, right, finding.distance, limit):
        raise FunctionError(
            f"{oracle.name}: whether |{left!r} - {right!r}| exceeds {limit!r} depends on how many "
            f"points are asked at once; make its rounding independent of that, or raise tolerance",
            point=ends[0],
        )
    confirmed = Finding(ends[0], ends[1], finding.distance, (left, right))
    return Narrowed(confirmed, queries, 2)
