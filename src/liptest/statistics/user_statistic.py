"""A statistic of the user's own, with or without declared edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liptest.data.domains import Domain, IntArray
from liptest.errors import InputError, call_user_code, quote
from liptest.statistics.protocol import (
    EDGE_CHUNK,
    Statistic,
    Values,
    as_whole_numbers,
    check_edge_budget,
)


@dataclass(frozen=True)
class UserStatistic(Statistic):
    """Any function of the dataset with whole-number values, in one line.

    ``UserStatistic(lambda x: x.max(axis=1), name="maximum")``

    Parameters
    ----------
    compute
        (n, d) datasets -> (n,) or (n, k) whole numbers.
    edge_pairs
        Optional: ``domain -> pairs``, all pairs of values that neighbouring datasets can have,
        (m, 2) or (m, 2, k) whole numbers. It is believed, not proved: a YES that rests on it
        says "conditional on the declared edges", and a NO shows two datasets (theory 3.8).
    name
        Printed in verdicts.
    """

    compute: Callable[[IntArray], ArrayLike]
    edge_pairs: Callable[[Domain], ArrayLike] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for key, value in (("compute", self.compute), ("edge_pairs", self.edge_pairs)):
            if not callable(value) and not (key == "edge_pairs" and value is None):
                raise InputError(f"{key}={quote(value)} must be callable", name=key, value=value)
        words = self.name or getattr(self.compute, "__name__", "statistic")
        object.__setattr__(self, "name", words)

    def values(self, points: IntArray) -> Values:
        """Raises InputError when ``compute`` gives anything but whole numbers, one row each."""
        values = call_user_code(self.name, "compute", lambda: np.asarray(self.compute(points)))
        return as_whole_numbers(self.name, values, len(points))

    def edge_count(self, domain: Domain) -> int | None:
        return None if self.edge_pairs is None else len(self._pairs(domain))

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        """Raises InputError when no ``edge_pairs`` were given, BudgetError for too many."""
        if self.edge_pairs is None:
            return super().edges(domain)
        pairs = self._pairs(domain)
        check_edge_budget(self, domain, len(pairs))
        starts = range(0, len(pairs), EDGE_CHUNK)
        return ((pairs[i : i + EDGE_CHUNK, 0], pairs[i : i + EDGE_CHUNK, 1]) for i in starts)

    def _pairs(self, domain: Domain) -> Values:
        assert self.edge_pairs is not None
        declared = self.edge_pairs
        pairs = call_user_code(self.name, "edge_pairs", lambda: np.asarray(declared(domain)))
        if pairs.dtype.kind not in "iu" or pairs.ndim not in (2, 3) or pairs.shape[1] != 2:
            raise InputError(
                f"edge_pairs: shape={pairs.shape}, dtype={pairs.dtype}; return (m, 2) or "
                f"(m, 2, k) whole numbers, a row for each pair of values",
                name="edge_pairs",
            )
        return _each_once(pairs.astype(np.int64))


def _each_once(pairs: Values) -> Values:
    # A pair is unordered: its first differing entries are put in ascending order.
    gaps = (pairs[:, 1] - pairs[:, 0]).reshape(len(pairs), -1)
    first = gaps[np.arange(len(pairs)), np.argmax(gaps != 0, axis=1)]
    ordered = np.concatenate([pairs[first > 0], pairs[first < 0][:, ::-1]])
    return np.unique(ordered, axis=0)
