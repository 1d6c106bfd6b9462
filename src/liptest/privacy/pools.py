"""Pools of distinct output laws: equal rows are kept once."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import BudgetError
from liptest.mechanisms.base import ComparableLaws
from liptest.mechanisms.laws import ZERO_LOG, LawTable, Output
from liptest.oracles import SLICE_BYTES

Indices = NDArray[np.int64]

_MEMORY = 1 << 30
_ZERO_BITS = np.array([ZERO_LOG]).view(np.uint64)[0]


class LawPool:
    """Distinct laws over a growing set of outputs; ``add`` says which law each query has."""

    def __init__(self) -> None:
        self._outputs: dict[Output, int] = {}
        self._factors = np.zeros(0, dtype=np.uint64)
        self._rows: list[NDArray[np.float64]] = []
        self._errors: list[float] = []
        self._unexplored: list[float] = []
        self._ids: dict[int, int] = {}
        self._exact_ids: dict[Hashable, int] = {}
        self._zeros_exact = True

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, laws: ComparableLaws, queries: int) -> NDArray[np.int64]:
        """Add the laws of ``queries`` points; returns the pool's index for each, (queries,)."""
        if not isinstance(laws, LawTable):
            raise TypeError("only finite laws can be pooled")
        columns = self._columns(laws.outputs)
        self._zeros_exact &= laws.zeros_exact
        positions = laws.distinct(np.arange(queries))
        if laws.exact is not None:
            # Logs in floats may be equal where the laws are not.
            known = [self._find(laws, i, key, columns) for i, key in enumerate(laws.exact)]
            return np.array(known, dtype=np.int64)[positions]
        keys = _keys(laws.logs, self._factors[columns])
        index, inverse = _distinct(keys, laws.logs)
        ids = np.array([self._identify(laws, int(i), int(keys[i]), columns) for i in index])
        return np.asarray(ids[inverse][positions])

    def pairs_per_slice(self) -> int:
        """Pairs to compare at once, so that the two gathered tables stay near 2 MiB each."""
        return max(64, SLICE_BYTES // (8 * max(1, len(self._outputs))))

    def laws(self) -> LawTable:
        """All distinct laws as one table."""
        table = np.full((len(self._rows), len(self._outputs)), ZERO_LOG)
        for i, row in enumerate(self._rows):
            table[i, : len(row)] = row
        return LawTable(
            tuple(self._outputs),
            table,
            None,
            np.array(self._errors),
            self._zeros_exact,
            unexplored=np.array(self._unexplored),
        )

    def _columns(self, outputs: tuple[Output, ...]) -> NDArray[np.int64]:
        for output in outputs:
            self._outputs.setdefault(output, len(self._outputs))
        if len(self._factors) < len(self._outputs):
            self._factors = _factors(len(self._outputs))
        return np.array([self._outputs[output] for output in outputs], dtype=np.int64)

    def _find(self, laws: LawTable, i: int, key: Hashable, columns: Any) -> int:
        found = self._exact_ids.get(key)
        if found is None:
            found = self._exact_ids[key] = self._append(laws, i, self._row(laws, i, columns))
        return found

    def _row(self, laws: LawTable, i: int, columns: Any) -> NDArray[np.float64]:
        row = np.full(len(self._outputs), ZERO_LOG)
        row[columns] = laws.logs[i]
        return row

    def _identify(self, laws: LawTable, i: int, key: int, columns: Any) -> int:
        row = self._row(laws, i, columns)
        found = self._ids.get(key)
        if found is not None and _same(self._rows[found], row):
            self._errors[found] = max(self._errors[found], float(laws.errors[i]))
            return found
        new = self._append(laws, i, row)
        self._ids.setdefault(key, new)
        return new

    def _append(self, laws: LawTable, i: int, row: NDArray[np.float64]) -> int:
        if (len(self._rows) + 1) * len(self._outputs) * 8 > _MEMORY:
            raise BudgetError(
                f"method='exhaustive': more than {len(self._rows):,} distinct laws over "
                f"{len(self._outputs):,} outputs exceed {_MEMORY >> 20} MiB; use "
                f"method='neighbourhoods'"
            )
        self._rows.append(row)
        self._errors.append(float(laws.errors[i]))
        self._unexplored.append(0.0 if laws.unexplored is None else float(laws.unexplored[i]))
        return len(self._rows) - 1


def compacted(laws: LawTable) -> LawTable:
    """The same laws, equal ones kept once: less to send to another process."""
    if laws.exact is not None or laws.unexplored is not None:
        return laws
    index, inverse = _distinct(_keys(laws.logs, _factors(len(laws.outputs))), laws.logs)
    errors = np.zeros(len(index))
    np.maximum.at(errors, inverse, laws.errors)
    return LawTable(
        laws.outputs,
        laws.logs[index],
        inverse if laws.rows is None else inverse[laws.rows],
        errors,
        laws.zeros_exact,
    )


def _distinct(keys: NDArray[np.uint64], logs: NDArray[np.float64]) -> tuple[Indices, Indices]:
    """Where each different row is first, and which of these each row is."""
    _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(logs[index][inverse], logs):
        # A collision of hashes: keep every row rather than merge different laws.
        index = inverse = np.arange(len(keys))
    return index, inverse


def _factors(count: int) -> NDArray[np.uint64]:
    """Odd 64-bit factors, always the same."""
    return _drawn_factors(max(1, count - 1).bit_length())[:count]


@cache
def _drawn_factors(bits: int) -> NDArray[np.uint64]:
    states = (np.random.SeedSequence(k).generate_state(1, np.uint64)[0] for k in range(1 << bits))
    return np.fromiter(states, dtype=np.uint64) | np.uint64(1)


def _keys(logs: NDArray[np.float64], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # Zero contributes nothing, so a column that comes later changes no earlier hash.
    bits = np.ascontiguousarray(logs).view(np.uint64) - _ZERO_BITS
    bits ^= bits >> np.uint64(29)
    bits *= factors
    bits ^= bits >> np.uint64(32)
    return np.asarray(bits.sum(axis=1, dtype=np.uint64))


def _same(known: NDArray[np.float64], row: NDArray[np.float64]) -> bool:
    n = len(known)
    return bool(np.array_equal(known, row[:n]) and np.all(row[n:] == ZERO_LOG))
