"""Maximum flow in a bipartite network, in exact whole numbers (theory 1.1b).

The network is source -> left vertices -> right vertices -> sink; only the outer arcs have
capacities. Its minimum cut is a minimum-weight vertex cover of the bipartite graph in the
middle. E. A. Dinic, Soviet Math. Dokl. 11 (1970); capacities are Python ints, because library
routines round them or take them modulo 2**32.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.errors import LiptestError

_UNSEEN, _USELESS = -1, -2


@dataclass(frozen=True, eq=False)
class Arcs:
    """A bipartite graph: left vertex x is joined to ``targets[starts[x] : starts[x + 1]]``.

    ``starts`` has one entry more than there are left vertices; targets ascend within a row.
    """

    starts: NDArray[np.int64]
    targets: NDArray[np.signedinteger]

    @classmethod
    def of(cls, left: NDArray[np.int64], right: NDArray[np.int64], left_count: int) -> Arcs:
        """The graph with the given edges, which may come in any order."""
        order = np.lexsort((right, left))
        starts = np.searchsorted(left[order], np.arange(left_count + 1))
        return cls(np.asarray(starts, dtype=np.int64), right[order].astype(np.int32))

    def row(self, left: int) -> NDArray[np.signedinteger]:
        """Right vertices joined to one left vertex."""
        return self.targets[self.starts[left] : self.starts[left + 1]]

    def rows(self, left: NDArray[np.int64]) -> NDArray[np.signedinteger]:
        """Right vertices joined to any of the left vertices, with repetitions."""
        first = self.starts[left]
        counts = self.starts[left + 1] - first
        ends = np.cumsum(counts)
        shifts = np.repeat(first - ends + counts, counts)
        return self.targets[shifts + np.arange(len(shifts))]

    def contains(self, left: int, right: int) -> bool:
        """Whether an edge exists."""
        stop = int(self.starts[left + 1])
        place = bisect_left(self.targets, right, int(self.starts[left]), stop)
        return place < stop and int(self.targets[place]) == right


@dataclass(frozen=True, eq=False)
class MinimumCut:
    """``value`` of the maximum flow, and a vertex cover of that weight.

    ``left`` and ``right`` say for each vertex whether it is in the cover.
    """

    value: int
    left: NDArray[np.bool_]
    right: NDArray[np.bool_]


def minimum_cut(supply: Sequence[int], demand: Sequence[int], arcs: Arcs) -> MinimumCut:
    """Minimum-weight vertex cover of a bipartite graph, proved by a flow of the same value.

    Parameters
    ----------
    supply, demand
        Weights of the left and the right vertices: Python ints, 0 or more, of any length.
    arcs
        The edges.

    Raises
    ------
    LiptestError
        The flow breaks a capacity, or the cover misses an edge or weighs anything else than
        the flow. That would be a bug; no wrong answer is returned.
    """
    dinic = _Dinic(supply, demand, arcs)
    while dinic.find_layers():
        dinic.block()
    cut = MinimumCut(
        sum(sum(flow.values()) for flow in dinic.flows), dinic.left < 0, dinic.right >= 0
    )
    _certify(cut, dinic.flows, supply, demand, arcs)
    return cut


def _certify(
    cut: MinimumCut,
    flows: list[dict[int, int]],
    supply: Sequence[int],
    demand: Sequence[int],
    arcs: Arcs,
) -> None:
    sent = [0] * len(supply)
    for y, flow in enumerate(flows):
        for x, amount in flow.items():
            sent[x] += amount
            if amount <= 0 or not arcs.contains(x, y):
                raise LiptestError(f"flow={amount} from {x} to {y} is impossible; report this")
    within = all(s <= cap for s, cap in zip(sent, supply, strict=True)) and all(
        sum(flow.values()) <= cap for flow, cap in zip(flows, demand, strict=True)
    )
    weight = sum(supply[x] for x in np.flatnonzero(cut.left).tolist())
    weight += sum(demand[y] for y in np.flatnonzero(cut.right).tolist())
    uncovered = arcs.rows(np.flatnonzero(~cut.left))
    if not within or weight != cut.value or not np.all(cut.right[uncovered]):
        raise LiptestError(f"cover={weight} is not proved by flow={cut.value}; report this")


class _Dinic:
    """Phases of shortest augmenting paths; ``left`` and ``right`` hold the layers."""

    def __init__(self, supply: Sequence[int], demand: Sequence[int], arcs: Arcs) -> None:
        self.supply, self.demand, self.arcs = list(supply), list(demand), arcs
        #: flows[y][x] > 0 goes from x to y; these are the arcs that can be undone.
        self.flows: list[dict[int, int]] = [{} for _ in demand]
        self.left = np.zeros(0, dtype=np.int32)
        self.right = np.zeros(0, dtype=np.int32)

    def find_layers(self) -> bool:
        """Breadth first from left vertices with supply left; False when no demand is reached."""
        self.left = np.full(len(self.supply), _UNSEEN, dtype=np.int32)
        self.right = np.full(len(self.demand), _UNSEEN, dtype=np.int32)
        wanting = np.array([rest > 0 for rest in self.demand], dtype=bool)
        frontier = np.flatnonzero(np.array([rest > 0 for rest in self.supply], dtype=bool))
        depth = 0
        while len(frontier):
            self.left[frontier] = depth
            depth += 1
            reached = self.arcs.rows(frontier)
            self.right[reached[self.right[reached] == _UNSEEN]] = depth
            layer = np.flatnonzero(self.right == depth)
            if wanting[layer].any():
                self.right[layer[~wanting[layer]]] = _USELESS
                self._last = depth
                return True
            senders = [x for y in layer.tolist() for x in self.flows[y]]
            back = np.array(senders, dtype=np.int64)
            self.left[back[self.left[back] == _UNSEEN]] = depth
            frontier = np.flatnonzero(self.left == depth)
        return False

    def block(self) -> None:
        """Augment along the layers until no path is left in them."""
        self._rows: dict[int, list[int]] = {}
        self._backs: dict[int, list[int]] = {}
        self._left_depth, self._right_depth = self.left.tolist(), self.right.tolist()
        for source, depth in enumerate(self._left_depth):
            if depth == 0:
                while self.supply[source] and self._augment(source):
                    pass

    def _augment(self, source: int) -> bool:
        # Depth first; the last entry of a row or of a list of senders is the arc being tried,
        # and an arc that led nowhere is never tried again in this phase.
        lefts, rights = [source], list[int]()
        while True:
            row = self._row(lefts[-1])
            if not row:
                lefts.pop()
                if not lefts:
                    return False
                self._backs[rights.pop()].pop()
                continue
            y = row[-1]
            if self._right_depth[y] == self._last:
                if self.demand[y]:
                    self._push(lefts, [*rights, y])
                    return True
                row.pop()
                continue
            senders = self._senders(y)
            if senders:
                rights.append(y)
                lefts.append(senders[-1])
            else:
                row.pop()

    def _row(self, x: int) -> list[int]:
        row = self._rows.get(x)
        if row is None:
            joined = self.arcs.row(x)
            row = joined[self.right[joined] == self._left_depth[x] + 1].tolist()
            self._rows[x] = row
        return row

    def _senders(self, y: int) -> list[int]:
        flow, senders = self.flows[y], self._backs.get(y)
        if senders is None:
            depth = self._right_depth[y]
            senders = self._backs[y] = [x for x in flow if self._left_depth[x] == depth]
        while senders and senders[-1] not in flow:
            senders.pop()
        return senders

    def _push(self, lefts: list[int], rights: list[int]) -> None:
        # Flow rights[k] <- lefts[k] grows, rights[k] <- lefts[k + 1] is undone.
        undone = list(zip(rights, lefts[1:], strict=False))
        amount = min(
            self.supply[lefts[0]],
            self.demand[rights[-1]],
            *(self.flows[y][x] for y, x in undone),
        )
        for y, x in zip(rights, lefts, strict=True):
            self.flows[y][x] = self.flows[y].get(x, 0) + amount
        for y, x in undone:
            rest = self.flows[y].pop(x) - amount
            if rest:
                self.flows[y][x] = rest
        self.supply[lefts[0]] -= amount
        self.demand[rights[-1]] -= amount
