"""What a distribution was fitted on: enough to code data alike, and to recognise the table."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.categories import Categories, codes
from liptest.data.sources import as_source, chosen, is_table
from liptest.data.values import Value
from liptest.errors import InputError

#: What a row of the table is; the first word of a unit.
DATASETS, RECORDS, ARRIVALS = "datasets", "records", "arrivals"

#: Values of a table whose rows are datasets that are read once more to recognise its rows.
MAX_READ = 500_000
# A row that a table has anyhow, with a greater probability than this, is no sign of anything.
_MOST_CHANCE = 0.01


@dataclass(frozen=True)
class Fitted:
    """The table behind a fitted distribution.

    Parameters
    ----------
    rows
        How many rows it has.
    unit
        "datasets": each row is a dataset. "records": the rows are records, as those of a dataset
        are. "arrivals": the rows are records, a dataset counts such.
    columns, categories
        The columns, and the values of each in the order of their codes. Of an array: none.
    counts_hash
        sha256 of all counts that the fit used.
    rows_hash
        sha256 of the codes in the order of the rows, of records whose table has an order; "" else.
    row_hashes
        Of rows that are datasets, as far as they were read: short hashes of their codes.
    notes
        What a reader of a verdict must know: values of probability 0, counts that were cut off.
    """

    rows: int
    unit: str
    columns: tuple[str, ...] = ()
    categories: tuple[Categories, ...] = ()
    counts_hash: str = ""
    rows_hash: str = ""
    notes: tuple[str, ...] = ()
    labels: tuple[Any, ...] = field(default=(), repr=False)
    counts_log_chance: float = -math.inf
    row_hashes: frozenset[bytes] = field(default=frozenset(), repr=False)

    @property
    def words(self) -> str:
        """Rows, hash and notes, for a verdict."""
        notes = "".join(f"; {note}" for note in self.notes)
        return f"{self.rows:,} rows, counts sha256 {self.counts_hash[:16]}{notes}"

    def dataset(self, table: Any) -> NDArray[np.int64]:
        """Rows of another table in the codes of the fit, in their order.

        For "datasets" (n, d) points; for "records" one dataset of as many records as the table
        has rows, in the order of ``record_groups``; for "arrivals" the dataset of counts.

        Raises InputError when the table has no such column or order, or a value of no code; the
        message quotes no value, as this may be the private table.
        """
        if not self.columns:
            raise InputError(
                "table: the distribution was fitted on an array, which has no columns; code the "
                "data as it was coded",
                name="table",
            )
        values = _values(table, list(self.columns))
        parts = [
            codes(name, column, known)
            for name, column, known in zip(self.columns, values, self.categories, strict=True)
        ]
        if self.unit == DATASETS:
            return np.stack(parts, axis=1)
        joint = joint_codes(parts, [len(known) for known in self.categories])
        if self.unit == RECORDS:
            return joint
        cells = math.prod(len(known) for known in self.categories)
        return np.bincount(joint, minlength=cells).astype(np.int64)

    def recognises(self, dataset: ArrayLike, log_mass: float) -> str:
        """A sentence when a dataset is the fitted table itself, or a row of it, else "".

        A table of records can be recognised as a whole only; a row that is a dataset only in a
        table of at most ``MAX_READ`` values, and where chance would hardly show it. Records in
        another order are recognised by their counts in each group, and a histogram is one of the
        fitted records. ``log_mass`` is the dataset's under the fitted distribution. A sentence says
        how likely chance is: a table whose records are all alike is recognised without meaning.
        """
        array = np.asarray(dataset)
        if self.unit == DATASETS:
            chance = math.log(self.rows) + log_mass
            found = bool(self.row_hashes) and array.ndim == 1 and row_hash(array) in self.row_hashes
            likely = chance > math.log(_MOST_CHANCE)
            return _recognised("with a row of", chance) if found and not likely else ""
        if array.ndim != 1:
            return ""
        if self.unit == ARRIVALS:
            same = counts_hash(cells_of(array)) == self.counts_hash
            return _recognised("in all counts with", log_mass) if same else ""
        if len(array) != self.rows:
            return ""
        if self.rows_hash and rows_hash(array) == self.rows_hash:
            return _recognised("in every row with", log_mass)
        if self.rows_hash and self.counts_log_chance > math.log(_MOST_CHANCE):
            return ""
        same = self._has_counts(array)
        return _recognised("in all counts with", self.counts_log_chance) if same else ""

    def _has_counts(self, array: NDArray[Any]) -> bool:
        if len(self.labels) != len(array):
            return False
        cells: dict[tuple[Any, int], int] = {}
        for label, code in zip(self.labels, array.tolist(), strict=True):
            cells[label, code] = cells.get((label, code), 0) + 1
        return counts_hash(cells) == self.counts_hash


def _values(table: Any, columns: list[str]) -> list[list[Value]]:
    """The columns of a table that may be private: no message quotes what is in it."""
    if not is_table(table):
        raise InputError(
            f"table: an object of type {type(table).__name__} has no columns; give a frame, the "
            f"path of a CSV or Parquet file, or lt.SqlTable(..)",
            name="table",
        )
    source = as_source(table)
    chosen(source, columns)
    try:
        return source.rows(columns)
    except InputError:
        if not source.is_ordered:
            raise
        raise InputError(
            f"table: a column of {source.words} holds something that is no category; choose "
            f"columns of numbers, texts or dates",
            name="table",
        ) from None


def recognised(law: Any, dataset: NDArray[Any]) -> str:
    """A sentence when one dataset is what the law was fitted on, else ""; see ``recognises``."""
    fitted: Fitted | None = law.fitted
    return "" if fitted is None else fitted.recognises(dataset, float(law.log_mass(dataset)[0]))


def _recognised(how: str, log_chance: float) -> str:
    chance = math.exp(min(log_chance, 0.0))
    return (
        f"the private dataset agrees {how} the table that the distribution was fitted on (by "
        f"chance: with probability {chance:.2g}): a verdict that excepts "
        f"untypical datasets is then no promise for it. Fit on public or other data"
    )


def joint_codes(parts: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One code for the values of several columns, the last one varying fastest."""
    joint = np.zeros_like(parts[0])
    for part, size in zip(parts, sizes, strict=True):
        joint = joint * size + part
    return joint


def rows_hash(array: NDArray[Any]) -> str:
    """sha256 of codes in their order, whatever their integer type."""
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<i8").tobytes()).hexdigest()


def row_hashes(rows: NDArray[Any]) -> frozenset[bytes]:
    """Hashes of (n, d) codes; none where there are more than ``MAX_READ``."""
    return frozenset(map(row_hash, rows)) if rows.size <= MAX_READ else frozenset()


def row_hash(row: NDArray[Any]) -> bytes:
    """A short hash of one row of codes."""
    data = np.ascontiguousarray(row, dtype="<i8").tobytes()
    return hashlib.blake2b(data, digest_size=12).digest()


def cells_of(counts: NDArray[Any]) -> dict[tuple[int], int]:
    """The counts of a histogram by their place."""
    return {(place,): int(count) for place, count in enumerate(counts.tolist())}


def counts_hash(cells: Mapping[tuple[Any, ...], int]) -> str:
    """sha256 of counts by key, in whatever order they come; counts of 0 do not matter."""
    lines = sorted(f"{key!r}={int(count)}" for key, count in cells.items() if count)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def log_chance(counts: NDArray[np.float64], laws: NDArray[np.float64]) -> float:
    """Natural log of the probability that independent records have these (groups, values) counts.

    The multinomial probability under the laws of the groups.
    """
    total = 0.0
    for row, law in zip(counts, laws, strict=True):
        total += math.lgamma(row.sum() + 1)
        for count, mass in zip(row.tolist(), law.tolist(), strict=True):
            if count:
                total += count * math.log(mass) - math.lgamma(count + 1)
    return total
