"""Counting outputs: all distinct ones while they are few, and cells of views."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.features import feature_names
from liptest.blackbox.outputs import Outputs
from liptest.blackbox.views import Values, View, fit_bins
from liptest.mechanisms.laws import Output

Counts = NDArray[np.int64]

#: More distinct outputs than this, or counters than that, are not kept apart.
MAX_DISTINCT = 1 << 14
MAX_COUNTERS = 1 << 23
# Few outputs that are no vectors need no other view.
_FEW = 64


@dataclass(eq=False)
class Census:
    """Counts of every distinct output on each of ``rows`` datasets, until they are too many."""

    rows: int
    known: dict[Output, int] = field(default_factory=dict)
    is_complete: bool = True
    _table: Counts = field(init=False)

    def __post_init__(self) -> None:
        self._table = np.zeros((self.rows, 0), dtype=np.int64)

    def add(self, row: int, outputs: Outputs) -> None:
        """Count outputs of one dataset."""
        if not self.is_complete:
            return
        keys, places = outputs.distinct()
        new = [key for key in keys if key not in self.known]
        total = len(self.known) + len(new)
        if total > min(MAX_DISTINCT, max(64, MAX_COUNTERS // self.rows)):
            self.is_complete = False
            return
        for key in new:
            self.known[key] = len(self.known)
        self._grow(total)
        codes = np.array([self.known[key] for key in keys], dtype=np.int64)
        self._table[row, codes] += np.bincount(places, minlength=len(keys))

    def _grow(self, total: int) -> None:
        if total > self._table.shape[1]:
            wider = np.zeros((self.rows, max(2 * self._table.shape[1], total, 16)), dtype=np.int64)
            wider[:, : self._table.shape[1]] = self._table
            self._table = wider

    @property
    def view(self) -> Values:
        """One cell for each output seen."""
        return Values(tuple(self.known))

    @property
    def counts(self) -> Counts:
        """(rows, cells of the view)."""
        self._grow(len(self.known) + 1)
        return self._table[:, : len(self.known) + 1]


def coarse_views(pilot: Outputs) -> list[View]:
    """Views for a first look, besides the census."""
    keys, _ = pilot.distinct()
    is_scalar = pilot.is_numeric and pilot.numbers.shape[1] == 1
    if len(keys) <= _FEW and (is_scalar or not np.any(~np.isnan(pilot.numbers))):
        return []
    views: list[View] = [fit_bins(pilot, name) for name in feature_names(pilot)]
    return [view for view in views if view.size > 2]


def frequent_values(outputs: Outputs, most: int = 256) -> Values:
    """The outputs that come back, most frequent first."""
    keys, places = outputs.distinct()
    counts = np.bincount(places, minlength=len(keys))
    order = np.argsort(-counts, kind="stable")[:most]
    return Values(tuple(keys[k] for k in order.tolist() if counts[k] > 1))


def count_cells(view: View, outputs: Outputs) -> Counts:
    """(cells,) how many outputs lie in each cell."""
    return np.bincount(view.codes(outputs), minlength=view.size)


def joined(parts: Iterable[Outputs]) -> Outputs:
    """Several batches as one."""
    listed = [part.array for part in parts]
    shapes = {(array.dtype.kind == "O", array.shape[1:]) for array in listed}
    if len(shapes) == 1:
        return Outputs(np.concatenate(listed))
    whole = np.empty(sum(map(len, listed)), dtype=object)
    place = 0
    for array in listed:
        for item in array.tolist() if array.ndim == 1 else map(tuple, array.tolist()):
            whole[place] = item
            place += 1
    return Outputs(whole)


def hockey_stick(left: Counts, right: Counts, epsilon: float) -> float:
    """Divergence of two empirical laws, the larger direction."""
    p, q = left / max(1, int(left.sum())), right / max(1, int(right.sum()))
    factor = math.exp(min(epsilon, 700.0))
    forth, back = (np.maximum(a - factor * b, 0.0).sum() for a, b in ((p, q), (q, p)))
    return float(max(forth, back))


def radius(draws_left: int, draws_right: int, epsilon: float, log_level: float) -> float:
    """What to add to ``hockey_stick`` so that it bounds the true one, one direction.

    The empirical divergence is convex in the empirical laws, so its mean is at least the true
    one (Jensen); one draw more or less moves it by 1/n or e^epsilon/m, so it falls below its mean
    by t with probability at most exp(-2 t^2 / (1/n + e^(2 epsilon)/m)) (McDiarmid). No bound on
    the number of outputs is needed.
    """
    spread = 1.0 / draws_left + math.exp(min(2.0 * epsilon, 700.0)) / draws_right
    return math.sqrt(spread * -log_level / 2.0)
