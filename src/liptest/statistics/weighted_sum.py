"""Weighted sums of the records, with exactly the pairs of values that neighbours can have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.errors import BudgetError, InputError, shown
from liptest.statistics.code_sets import MOST_BITS, are_members, bit_positions, spread_bits
from liptest.statistics.contributions import Contributions
from liptest.statistics.difference_sets import DifferenceSets, fits
from liptest.statistics.protocol import EDGE_BUDGET, Values, check_edge_budget

# An exact count of the pairs costs about as much as listing them; past this, a bound.
_COUNT_BUDGET = 4 * EDGE_BUDGET


# Sets of sums are bitsets: one bit for each number up to the largest sum.
_MAX_RANGE = 1 << 30


_MAX_SUM = (1 << 61) - 1


class WeightedSum:
    """``sum over r of weights[r] * x_r``, weights whole numbers, negative ones allowed.

    Edges. Replacing ``x_r`` by ``sizes[r] - 1 - x_r`` where the weight is negative maps each of
    the three domains onto itself, keeps neighbours and shifts the sum by a constant, so let
    all weights be w >= 0. Collect the coordinates of weight w > 0. Their values add up to any
    m in 0 .. M_w, where M_w is the sum of their ``sizes - 1``. A neighbour raises one of them by
    t (t = 1 on cube and grid, 1 <= t < sizes[r] when records are replaced), which raises the
    sum by w t. It can be raised by t from exactly those datasets where x_r = a <= sizes[r]-1-t
    and the others add up to at most M_w - (sizes[r]-1), that is from every m in 0 .. M_w - t,
    whatever r is. Hence the edges are the pairs (v, v + w t) with v = o + w m, o any sum of the
    coordinates of other weights, 0 <= m <= M_w - t (theory 3.8).

    Reachable values need not be neighbouring: with weights (1, 2) and bits the values are
    0, 1, 2, 3, and (1, 2) is no edge.

    Parameters
    ----------
    weights
        d whole numbers.

    Raises
    ------
    InputError
        Weights empty, not one-dimensional, or not whole numbers.
    """

    name = "weighted sum"
    proved_edges = True

    def __init__(self, weights: Sequence[int] | ArrayLike) -> None:
        try:
            array = np.asarray(weights)
        except ValueError:
            array = np.zeros(0)
        if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
            raise InputError(
                f"weights={shown(weights)} must be whole numbers, one for each coordinate; scale "
                f"fractions to whole numbers first",
                name="weights",
                value=weights,
            )
        if int(np.abs(array.astype(np.float64)).max()) >= _MAX_SUM:
            raise InputError(f"weights: {shown(weights)} do not fit in 61 bits", name="weights")
        self.weights: NDArray[np.int64] = array.astype(np.int64)
        self.weights.setflags(write=False)

    def __repr__(self) -> str:
        return f"WeightedSum({shown(self.weights[:40].tolist(), 60)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeightedSum) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash(("WeightedSum", self.weights.tobytes()))

    def check(self, domain: Domain) -> None:
        if domain.dimension != len(self.weights):
            raise InputError(
                f"statistic: {len(self.weights)} weights for the {domain.dimension} coordinates "
                f"of {domain}; give one weight per coordinate",
                name="statistic",
            )
        if np.abs(self.weights.astype(np.float64)) @ (domain.size_array - 1) >= _MAX_SUM:
            raise InputError("statistic: the weighted sum does not fit in 61 bits", name="weights")

    def values(self, points: IntArray) -> Values:
        return np.asarray(points.astype(np.int64) @ self.weights)

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        change = batch.values - batch.centres[batch.rows, batch.coordinates]
        return np.asarray(values[batch.rows] + self.weights[batch.coordinates] * change)

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """Records of one weight and size are of one kind."""
        both = np.stack([self.weights, domain.size_array])
        return np.unique(both, axis=1, return_inverse=True)[1].reshape(-1)

    def edge_count(self, domain: Domain) -> int | None:
        sums = self._sums(domain)
        bound = min(sums.edge_bound(), domain.neighbouring_pairs)
        if bound > _COUNT_BUDGET:
            return bound
        sparse = self._sparse(domain, sums)
        if sparse is not None:
            return sparse.edge_count(domain)
        return sum(lower.bit_count() for lower in sums.edge_sets().values())

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        sums = self._sums(domain)
        check_edge_budget(self, domain, self.edge_count(domain) or 0)
        sparse = self._sparse(domain, sums)
        return sums.edges() if sparse is None else sparse.edges(domain)

    def difference_sets(self, domain: Domain) -> DifferenceSets | None:
        """All edges by difference; None where the sets would not fit into memory."""
        sums = self._sums(domain)
        if not fits(len(sums.differences), sums.largest):
            return None
        sets = {k: lower for k, lower in sums.edge_sets().items() if lower}
        return DifferenceSets(sums.base, sums.unit, sums.largest, sums.reached, sets)

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        sums = self._sums(domain)
        sparse = self._sparse(domain, sums)
        if sparse is not None:
            return sparse.realise(domain, left, right)
        found = sums.neighbours(int(left), int(right))
        if found is None:
            raise InputError(
                f"no two neighbouring datasets of {domain} have the weighted sums {int(left)} "
                f"and {int(right)}",
                name="statistic",
            )
        lower, upper = (row.astype(domain.dtype) for row in found)
        return (lower, upper) if int(left) <= int(right) else (upper, lower)

    def _sums(self, domain: Domain) -> _Sums:
        self.check(domain)
        return _Sums.build(self.weights, domain)

    def _sparse(self, domain: Domain, sums: _Sums) -> Contributions | None:
        """The same sum for large weights of few records: its values are listed, not as bits."""
        if sums.largest < MOST_BITS or domain.neighbouring_pairs > _COUNT_BUDGET:
            return None
        tables = zip(self.weights, domain.sizes, strict=True)
        return Contributions.each([w * np.arange(n) for w, n in tables], name=self.name)


@dataclass(frozen=True)
class _Sums:
    """Sums after reflection and division by the greatest common divisor ``unit``.

    ``steps`` are the c distinct absolute weights, ``groups`` the coordinates of each,
    ``multiples`` their M_w, ``jumps`` the largest t of each; sums are ``base + unit * s``.
    """

    reflected: NDArray[np.bool_]
    tops: NDArray[np.int64]
    base: int
    unit: int
    steps: list[int]
    groups: list[NDArray[np.int64]]
    multiples: list[int]
    jumps: list[int]

    @classmethod
    def build(cls, weights: NDArray[np.int64], domain: Domain) -> _Sums:
        tops = domain.size_array - 1
        reflected = weights < 0
        unit = int(np.gcd.reduce(weights)) or 1
        steps, members = np.unique(np.abs(weights) // unit, return_inverse=True)
        cuts = np.cumsum(np.bincount(members.reshape(-1), minlength=len(steps)))[:-1]
        groups = np.split(np.argsort(members.reshape(-1), kind="stable"), cuts)
        replaced = isinstance(domain, RecordGrid)
        return cls(
            reflected,
            tops,
            int((weights * tops)[reflected].sum()),
            unit,
            [int(step) for step in steps],
            groups,
            [int(tops[group].sum()) for group in groups],
            [
                int(tops[group].max()) if replaced else min(1, int(tops[group].max()))
                for group in groups
            ],
        )

    @property
    def largest(self) -> int:
        return sum(w * m for w, m in zip(self.steps, self.multiples, strict=True))

    @property
    def reached(self) -> int:
        """The bitset of all sums."""
        return self._add(1, range(len(self.steps)))

    @property
    def differences(self) -> set[int]:
        """What a change of one coordinate can add."""
        return {
            w * t
            for w, jump in zip(self.steps, self.jumps, strict=True)
            if w
            for t in range(1, jump + 1)
        }

    def edge_bound(self) -> int:
        """Pairs (v, v + difference) with both ends in 0 .. largest."""
        differences = self.differences
        return (self.largest + 1) * len(differences) - sum(differences)

    def edge_sets(self) -> dict[int, int]:
        """For each difference the bitset of the lower values of the pairs."""
        found: dict[int, int] = {}
        for k, others in self._leave_one_out(0, len(self.steps), 1):
            w = self.steps[k]
            for t in range(1, self.jumps[k] + 1 if w else 0):
                lower = spread_bits(others, w, self.multiples[k] - t)
                found[w * t] = found.get(w * t, 0) | lower
        return found

    def edges(self) -> Iterator[tuple[Values, Values]]:
        for difference, lower in sorted(self.edge_sets().items()):
            for positions in bit_positions(lower):
                left = self.base + self.unit * positions
                yield left, left + self.unit * difference

    def neighbours(self, left: int, right: int) -> tuple[Values, Values] | None:
        """Two neighbouring datasets with these sums, the lower sum first, or None."""
        lower, rest = divmod(min(left, right) - self.base, self.unit)
        difference, odd = divmod(abs(right - left), self.unit)
        if rest or odd or not 0 <= lower <= self.largest:
            return None
        for k, w in enumerate(self.steps):
            t = 1 if w == difference == 0 else difference // max(w, 1)
            if w * t == difference and 1 <= t <= self.jumps[k]:
                taken = self._decompose(lower, k, t)
                if taken is not None:
                    return self._datasets(taken, k, t)
        return None

    def _leave_one_out(self, first: int, stop: int, bits: int) -> Iterator[tuple[int, int]]:
        # Halving adds each weight log2(c) times instead of c - 1 times.
        if stop - first == 1:
            yield first, bits
            return
        middle = (first + stop) // 2
        yield from self._leave_one_out(first, middle, self._add(bits, range(middle, stop)))
        yield from self._leave_one_out(middle, stop, self._add(bits, range(first, middle)))

    def _add(self, bits: int, weights: range) -> int:
        for k in weights:
            bits = spread_bits(bits, self.steps[k], self.multiples[k])
        return bits

    def _decompose(self, total: int, k: int, t: int) -> list[int] | None:
        """Multiples of each weight that add up to ``total``, at most M - t of weight k."""
        if self.largest > _MAX_RANGE:
            raise BudgetError(
                f"sums up to {self.largest:,} are too large to be searched for datasets",
                needed=self.largest,
                budget=_MAX_RANGE,
            )
        limits = [m - t if j == k else m for j, m in enumerate(self.multiples)]
        reached = [1]
        for w, limit in zip(self.steps, limits, strict=True):
            reached.append(spread_bits(reached[-1], w, limit))
        if not reached[-1] >> total & 1:
            return None
        taken = []
        for w, limit, before in reversed(list(zip(self.steps, limits, reached, strict=False))):
            choices = np.arange(min(limit, total // w if w else 0) + 1)
            count = int(choices[are_members(before, total - w * choices)][0])
            taken.append(count)
            total -= w * count
        return taken[::-1]

    def _datasets(self, taken: list[int], k: int, t: int) -> tuple[Values, Values]:
        lower = np.zeros(len(self.tops), dtype=np.int64)
        changed = self.groups[k][int(np.argmax(self.tops[self.groups[k]] >= t))]
        for j, group in enumerate(self.groups):
            room = self.tops[group].copy()
            room[group == changed] -= t
            before = np.cumsum(room) - room
            lower[group] = np.clip(taken[j] - before, 0, room)
        upper = lower.copy()
        upper[changed] += t
        flip = self.reflected
        return np.where(flip, self.tops - lower, lower), np.where(flip, self.tops - upper, upper)
