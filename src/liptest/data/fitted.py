"""Fits on public tables: the validated request, shrunk marginal laws, and what was fitted on.

What was fitted on is enough to code data alike and to recognise the table.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.coding import BITS, Categories, Value, codes, find_categories, only_known
from liptest.data.domains import Domain, Hypercube, RecordGrid, rectangular
from liptest.data.sources import as_source, choose_columns, is_table
from liptest.errors import InputError, check_count, check_non_negative, check_positive, quote


def fit_marginals(
    table: ArrayLike,
    domain: Domain,
    groups: Sequence[Any] | ArrayLike | None,
    record_groups: Sequence[Any] | ArrayLike | None,
    shrinkage: float,
    smoothing: float = 0.0,
) -> NDArray[np.float64]:
    """(d, max size) fitted laws; see ``ProductDistribution.fit``."""
    weight = check_positive("shrinkage", shrinkage)
    check_non_negative("smoothing", smoothing)
    values = rectangular(table)
    if values.size == 0:
        raise InputError("table: it is empty, there is nothing to fit; give public rows")
    if groups is None:
        if record_groups is not None:
            raise InputError("record_groups is given without groups; give both or neither")
        return _fit_columns(values, domain, weight, smoothing)
    return _fit_groups(values, domain, groups, record_groups, weight, smoothing)


def shrunk(counts: NDArray[Any], prior: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """``(count + weight * prior) / (n + weight)`` along the last axis, n the sum of the counts.

    The mean of the posterior law of multinomial probabilities under a Dirichlet law of ``weight``
    imagined records, spread as ``prior`` (I. J. Good, The Estimation of Probabilities, 1965).
    """
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray((counts + weight * prior) / (total + weight))


def overall_law(total: NDArray[Any], smoothing: float) -> NDArray[np.float64]:
    """The law of all data together, from counts of the values and ``smoothing`` uniform records."""
    return np.asarray((total + smoothing / len(total)) / (total.sum() + smoothing))


def _fit_columns(
    values: NDArray[Any], domain: Domain, weight: float, smoothing: float
) -> NDArray[np.float64]:
    rows = domain.check_points(values)
    most = max(domain.sizes)
    counts = np.stack([(rows == value).sum(axis=0) for value in range(most)], axis=1)
    if len(set(domain.sizes)) == 1:
        overall = overall_law(counts.sum(axis=0), smoothing)
        prior = np.broadcast_to(overall, counts.shape)
    else:
        # Coordinates of unequal sizes share no overall law: shrink towards the uniform one.
        inside = np.arange(most) < domain.size_array[:, None]
        prior = inside / domain.size_array[:, None]
    return shrunk(counts, prior, weight)


def _fit_groups(
    values: NDArray[Any],
    domain: Domain,
    groups: Sequence[Any] | ArrayLike,
    record_groups: Sequence[Any] | ArrayLike | None,
    weight: float,
    smoothing: float,
) -> NDArray[np.float64]:
    labels = _labels(groups)
    targets = labels if record_groups is None else _labels(record_groups)
    if len(set(domain.sizes)) != 1:
        raise InputError(
            f"groups: the coordinates of {domain} have different sizes, so records cannot share "
            f"a law; fit without groups"
        )
    if values.ndim != 1 or labels.shape != values.shape:
        raise InputError(
            f"groups: shape={labels.shape} for a table of shape={values.shape}; with groups the "
            f"table is one value per public record and groups one label each"
        )
    if targets.shape != (domain.dimension,):
        raise InputError(
            f"record_groups: shape={targets.shape}, but the domain has {domain.dimension} "
            f"records; give one label per modelled record"
        )
    codes = _codes(values, domain.sizes[0])
    # Groups are numbered as Python objects: 1, "1" and None are three labels. The last row is
    # the law of unseen groups.
    number = {label: i for i, label in enumerate(dict.fromkeys(labels.tolist()))}
    group = np.array([number[label] for label in labels.tolist()])
    counts = np.zeros((len(number) + 1, domain.sizes[0]))
    np.add.at(counts, (group, codes), 1)
    overall = overall_law(counts.sum(axis=0), smoothing)
    laws = shrunk(counts, overall, weight)
    laws[-1] = overall
    return np.asarray(laws[[number.get(label, -1) for label in targets.tolist()]])


def _labels(groups: Sequence[Any] | ArrayLike) -> NDArray[Any]:
    labels = np.asarray(groups, dtype=object)
    if not all(isinstance(label, Hashable) for label in labels.flat):
        raise InputError(
            f"groups={quote(groups)} must be one label (a number or a string) per record",
            name="groups",
        )
    return labels


def _codes(values: NDArray[Any], size: int) -> NDArray[np.int64]:
    if values.dtype.kind in "iubf":
        wrong = ~((values >= 0) & (values < size) & (values == np.floor(values)))
    else:
        wrong = np.array([value not in range(size) for value in values.tolist()])
    if np.any(wrong):
        example = values[wrong].tolist()[0]
        raise InputError(
            f"table: the value {quote(example)} is not one of 0 .. {size - 1}; declare a domain "
            f"that holds it (as an option --values), or code the records as whole numbers first",
            name="table",
            value=example,
        )
    return values.astype(np.int64)


@dataclass(frozen=True)
class FitRequest:
    """The arguments of ``ProductDistribution.fit``."""

    domain: Domain | None = None
    columns: str | Sequence[str] | None = None
    groups: Any = None
    record_groups: Any = None
    records: int | None = None
    histogram_of: float | None = None
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    shrinkage: float = 10.0
    smoothing: float = 0.0
    max_values: int = 1000

    def check(self) -> None:
        """InputError when a number is wrong, or what a row is was said twice."""
        check_positive("shrinkage", self.shrinkage)
        check_non_negative("smoothing", self.smoothing)
        check_count("max_values", self.max_values)
        if self.histogram_of is not None and (self.has_groups or self.records is not None):
            raise InputError(
                "histogram_of: a histogram counts its records whatever their group; leave out "
                "groups, record_groups and records",
                name="histogram_of",
            )
        if self.records is not None and self.has_groups:
            raise InputError(
                "records: with groups the modelled records are those of record_groups; leave out "
                "records",
                name="records",
            )

    @property
    def has_groups(self) -> bool:
        """Whether groups were named."""
        return self.groups is not None or self.record_groups is not None


@dataclass(frozen=True)
class FitResult:
    """A domain and the law of each coordinate, what was read, and where from in words.

    ``laws`` is an array (d, values) or a list of d laws.
    """

    domain: Domain
    laws: NDArray[np.float64] | list[NDArray[np.float64]]
    fitted: Fitted
    where: str

    def bits(self) -> NDArray[np.float64]:
        """(d,) chances of a 1."""
        if isinstance(self.laws, np.ndarray):
            return np.ascontiguousarray(self.laws[:, 1])
        return np.array([law[1] for law in self.laws])

    def words(self, source: str) -> str:
        """The sentence part for verdicts; of an array the user's own words alone."""
        if not self.fitted.columns:
            return source or self.where
        return f"{source or self.where} ({self.fitted.words})"


#: What a row of the table is; the first word of a unit.
DATASETS, RECORDS, ARRIVALS = "datasets", "records", "arrivals"
#: Values of a table whose rows are datasets that are read once more to recognise its rows.
MAX_READ = 500_000
# A row that a table has anyhow, with a greater probability than this, is not a sign of anything.
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
            codes(name, column, categories)
            for name, column, categories in zip(self.columns, values, self.categories, strict=True)
        ]
        if self.unit == DATASETS:
            return np.stack(parts, axis=1)
        joint = joint_codes(parts, [len(categories) for categories in self.categories])
        if self.unit == RECORDS:
            return joint
        cells = math.prod(len(categories) for categories in self.categories)
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
            is_row = (
                bool(self.row_hashes) and array.ndim == 1 and row_hash(array) in self.row_hashes
            )
            likely = chance > math.log(_MOST_CHANCE)
            return _recognise("with a row of", chance) if is_row and not likely else ""
        if array.ndim != 1:
            return ""
        if self.unit == ARRIVALS:
            same = counts_hash(histogram_cells(array)) == self.counts_hash
            return _recognise("in all counts with", log_mass) if same else ""
        if len(array) != self.rows:
            return ""
        if self.rows_hash and rows_hash(array) == self.rows_hash:
            return _recognise("in every row with", log_mass)
        if self.rows_hash and self.counts_log_chance > math.log(_MOST_CHANCE):
            return ""
        same = self._has_counts(array)
        return _recognise("in all counts with", self.counts_log_chance) if same else ""

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
            f"path of a CSV or Parquet file, or liptest.data.sources.SqlTable(..)",
            name="table",
        )
    source = as_source(table)
    choose_columns(source, columns)
    try:
        return source.rows(columns)
    except InputError:
        if not source.is_ordered:
            raise
        raise InputError(
            f"table: a column of {source.words} holds something that is not a category; choose "
            f"columns of numbers, texts or dates",
            name="table",
        ) from None


def recognise(law: Any, dataset: NDArray[Any]) -> str:
    """A sentence when one dataset is what the law was fitted on, else ""; see ``recognises``."""
    fitted: Fitted | None = law.fitted
    return "" if fitted is None else fitted.recognises(dataset, float(law.log_mass(dataset)[0]))


def _recognise(how: str, log_chance: float) -> str:
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


def histogram_cells(counts: NDArray[Any]) -> dict[tuple[int], int]:
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


def coordinates(
    columns: Sequence[str],
    found: Sequence[Mapping[Value, int]],
    declared: Mapping[str, Sequence[Any]],
    domain: Domain | None,
) -> tuple[Domain, tuple[Categories, ...]]:
    """The domain whose coordinates are columns, and the values of each.

    Raises InputError when a given domain has another dimension or other sizes, and as
    ``find_categories``.
    """
    if domain is not None and domain.dimension != len(columns):
        raise InputError(
            f"columns: {len(columns)} columns do not fit {domain}; each column is one of its "
            f"coordinates",
            name="columns",
        )
    only_known(columns, declared)
    sizes = [None] * len(columns) if domain is None else domain.sizes
    categories = tuple(
        find_categories(name, seen, declared, size)
        for name, seen, size in zip(columns, found, sizes, strict=True)
    )
    if domain is None:
        bits = all(values == BITS for values in categories)
        return Hypercube(len(categories)) if bits else RecordGrid(
            [len(v) for v in categories]
        ), categories
    for name, values, size in zip(columns, categories, domain.sizes, strict=True):
        if len(values) != size:
            raise InputError(
                f"categories[{name!r}] holds {len(values)} values, but its coordinate of {domain} "
                f"takes {size}",
                name="categories",
            )
    return domain, categories
