"""Draws of whole tables: by a function that makes frames, or from the rows of a public table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.data.tables import Table
from liptest.errors import InputError, call_user_code, quote


@dataclass(frozen=True, eq=False)
class DrawnFrames:
    """Tables as a function draws them: ``draw(rng)`` gives a frame, or a dict of columns.

    ``modulus``: what is declared of mechanisms between probes (``of_tables``).
    """

    table: Table
    draw: Callable[[np.random.Generator], Any]
    modulus: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.modulus, (Mapping, type(None))):
            raise InputError(
                f'modulus={quote(self.modulus)} must map columns to numbers: {{"age": 0.1}}',
                name="modulus",
            )
        for name, rate in (self.modulus or {}).items():
            kind = self.table.columns.get(name)
            if kind is None or not kind.is_real:
                raise InputError(
                    f"modulus={quote(self.modulus)}: {name!r} is not a real column of the table",
                    name="modulus",
                )
            if not isinstance(rate, (int, float)) or not 0 <= rate < math.inf:
                raise InputError(
                    f"modulus={quote(self.modulus)}: {name!r} must have a number of 0 or more",
                    name="modulus",
                )

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) datasets."""
        name = getattr(self.draw, "__name__", "draw")
        frames = (call_user_code(name, "draw", self.draw, rng) for _ in range(n))
        return _stack(self.table, [self.table.encode(frame) for frame in frames])


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Tables of rows, or of users with all their rows, drawn with replacement.

    Parameters
    ----------
    table
        What is drawn.
    slots
        (m, width) rows of the public table, as in a dataset.
    counts
        How many rows, or users, a drawn table has: each as likely as any other.
    is_independent
        Whether each column is drawn by itself.
    """

    table: Table
    slots: NDArray[np.int64]
    counts: Sequence[int]
    is_independent: bool = False

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) datasets."""
        drawn = []
        for _ in range(n):
            count = int(self.counts[int(rng.integers(len(self.counts)))])
            if self.table.unit in self.table.columns:
                rows = self._of_users(count, rng)
            elif self.is_independent:
                rows = self._of_columns(count, rng)
            else:
                rows = self.slots[rng.integers(len(self.slots), size=count)]
            drawn.append(_pad(self.table, rows))
        return _stack(self.table, drawn)

    def _of_users(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        table: Any = self.table
        users = table.users_in(self.slots[:, 0])
        chosen = rng.integers(int(users.max()) + 1, size=count)
        parts = []
        for number, user in enumerate(chosen.tolist()):
            own = self.slots[users == user].copy()
            own[:, 0] += number - user
            parts.append(own)
        return np.concatenate(parts) if parts else self.slots[:0]

    def _of_columns(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        table = self.table
        drawn = np.empty((count, self.slots.shape[1]), dtype=np.int64)
        first = self.slots[:, 0]
        rows = table.rows_in(first) if table.is_free else first  # type: ignore[attr-defined]
        numbers, place = np.zeros(count, dtype=np.int64), 1
        for name, kind in table.columns.items():
            chosen = rng.integers(len(self.slots), size=count)
            numbers = numbers * len(kind.values) + table.places[name][rows[chosen]]
            if kind.is_real:
                drawn[:, place : place + 2] = self.slots[chosen, place : place + 2]
                place += 2
        free: Any = table
        drawn[:, 0] = free.slot(0, numbers + 1) if table.is_free else numbers + table.first
        return drawn


def make_drawn_rows(
    table: Table, public: Any, rows: int | Sequence[int] | None, *, is_independent: bool
) -> DrawnRows:
    """``DrawnRows`` of a public frame; InputError where counts or columns do not fit."""
    if not isinstance(table, Table):
        raise InputError(f"table={quote(table)} must be an lt.Table", name="table")
    has_users = table.unit in table.columns
    count = len(public[next(iter(table.columns))])
    if count == 0:
        raise InputError("public: it has no rows", name="public")
    kind = {"relation": table.kind, "unit": table.unit, "at_most": table.at_most}
    own = Table(table.columns, rows=count, **kind)  # type: ignore[arg-type]
    slots = np.asarray(own.encode(public)).astype(np.int64).reshape(count, -1)
    if has_users and is_independent:
        raise InputError(
            "independent=True: users are drawn with all their rows", name="independent"
        )
    if rows is None:
        rows = table.rows if table.is_full else count
        if has_users:
            rows = len(np.unique(own.users_in(slots[:, 0])))  # type: ignore[attr-defined]
    counts: Sequence[int] = [rows] if isinstance(rows, int) else rows
    if not len(counts) or min(counts) < 0 or max(counts) > table.rows:
        raise InputError(
            f"rows={quote(rows)} must be a number from 0 to {table.rows:,}, or a sequence of such "
            f"numbers, of which one is drawn",
            name="rows",
        )
    if table.is_full and set(counts) != {table.rows}:
        raise InputError(
            f"rows={quote(rows)}: all tables of this domain have {table.rows:,} rows", name="rows"
        )
    return DrawnRows(table, slots, counts, is_independent)


def _pad(table: Table, rows: NDArray[np.int64]) -> IntArray:
    """A dataset of these rows, and nothing in the other slots."""
    if len(rows) > table.rows:
        raise InputError(
            f"rows: a drawn table has {len(rows):,} rows, and at most {table.rows:,} are declared",
            name="rows",
        )
    dataset: IntArray = np.zeros(table.dimension, dtype=table.dtype)
    dataset[: rows.size] = rows.reshape(-1)
    return dataset


def _stack(table: Table, drawn: Sequence[IntArray]) -> IntArray:
    return np.stack(drawn) if drawn else np.zeros((0, table.dimension), dtype=table.dtype)
