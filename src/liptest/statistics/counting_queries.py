"""Counting queries: several answers of which each record may move all, some or none, by 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liptest.data.domains import Domain, Hypercube
from liptest.errors import InputError, quote
from liptest.statistics.protocol import Values
from liptest.statistics.sums import Contributions


class CountingQueries(Contributions):
    """Answers ``base_j + sum over i of signs[j, i] * x_i`` of m queries on d bits.

    A query may count a record (1), count its absence (-1) or pass it over (0), so a flipped bit
    moves every answer by at most 1: the neighbouring values that Contributions proves are pairs
    of answers of ``AnswerGrid(.., relation="all")`` that occur. For one record all of them may be
    made: signs and base choose the pair.

    Parameters
    ----------
    signs
        (m, d) whole numbers -1, 0 or 1: a row per query, a column per record.
    base
        (m,) answers where all bits are 0; default 0.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        Another shape or other numbers; on use, a domain that is not ``Hypercube(d)``.
    """

    def __init__(
        self, signs: ArrayLike, *, base: ArrayLike | None = None, name: str = "counting queries"
    ) -> None:
        self._signs = _check_signs(signs)
        queries = len(self._signs)
        self._start = _check_base(base, queries)
        tables = []
        for r, column in enumerate(self._signs.T):
            start = self._start if r == 0 else np.zeros_like(self._start)
            tables.append(np.stack([start, start + column]))
        self._fill(tables, shared=False, name=name)

    def __repr__(self) -> str:
        queries, records = self._signs.shape
        return f"CountingQueries(<shape {queries} x {records}>)"

    def check(self, domain: Domain) -> None:
        if not isinstance(domain, Hypercube):
            raise InputError(
                f"statistic={self!r} needs a Hypercube, not {domain}; use Contributions for "
                f"records of more values, or test the answers themselves on an AnswerGrid",
                name="statistic",
            )
        super().check(domain)


def _check_signs(signs: Any) -> Values:
    try:
        array = np.asarray(signs)
    except ValueError:
        array = np.zeros(0)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "iu" or np.any(abs(array) > 1):
        raise InputError(
            f"signs={quote(signs)} must be -1, 0 or 1, a row for each query and a column for each "
            f"record: shape (m, d)",
            name="signs",
        )
    return array.astype(np.int64)


def _check_base(base: Any, queries: int) -> Values:
    if base is None:
        return np.zeros(queries, dtype=np.int64)
    array = np.asarray(base)
    if array.shape != (queries,) or array.dtype.kind not in "iu":
        raise InputError(
            f"base={quote(base)} must be {queries} whole numbers, one for each query", name="base"
        )
    return array.astype(np.int64)
