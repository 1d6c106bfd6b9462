"""Product laws from a public table or array; see ``ProductDistribution.fit``.

Records, records by group, and histograms that count them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.coding import (
    BITS,
    Categories,
    Cells,
    Value,
    codes,
    empty,
    find_categories,
    in_order,
    make_change_error,
    of_column,
    only_known,
    order_counts,
    plain,
)
from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid, check_domain
from liptest.data.fitted import (
    ARRIVALS,
    DATASETS,
    MAX_READ,
    RECORDS,
    FitRequest,
    FitResult,
    Fitted,
    coordinates,
    counts_hash,
    fit_marginals,
    histogram_cells,
    joint_codes,
    log_chance,
    overall_law,
    row_hashes,
    rows_hash,
    shrunk,
)
from liptest.data.sources import TableSource, as_source, choose_columns, is_table, require_array
from liptest.errors import InputError, check_count, check_positive, quote

# Probability that some count of a histogram lies above its grid, where the grid is chosen here.
CUT = 1e-9
_LARGEST = 10**6


def poisson_law(mean: float, size: int) -> tuple[NDArray[np.float64], float]:
    """The Poisson law on ``0 .. size-1``, renormalised, and an upper bound on what was cut off."""
    if mean == 0.0:
        law = np.zeros(size)
        law[0] = 1.0
        return law, 0.0
    k = np.arange(size)
    logs = k * math.log(mean) - mean - np.cumsum(np.log(np.maximum(k, 1)))
    law = np.exp(logs - logs.max())
    return law / math.fsum(law.tolist()), _tail_bound(mean, size)


def poisson_size(mean: float, cells: int) -> int:
    """The smallest grid off which a count lies with probability at most ``CUT / cells``."""
    if mean > _LARGEST:
        raise InputError(
            f"histogram_of: {mean:.3g} records are expected in one cell, too many for a grid; "
            f"histogram larger units or fewer records",
            name="histogram_of",
            value=mean,
        )
    limit = CUT / cells
    low, high = 1, max(2, math.ceil(mean) + 2)
    while _tail_bound(mean, high) > limit:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if _tail_bound(mean, middle) > limit:
            low = middle + 1
        else:
            high = middle
    return high


def _tail_bound(mean: float, size: int) -> float:
    """Pr[count >= size] is at most this: Chernoff, ``exp(-mean) (e mean / size)^size``."""
    if mean == 0.0:
        return 0.0
    if size <= mean:
        return 1.0
    return math.exp(size - mean + size * math.log(mean / size))


# Cells of groups times values that are worth keeping.
_MAX_CELLS = 4_000_000


def fit_records(source: TableSource, wanted: FitRequest) -> FitResult:
    """Each row is a record: a law per group, as many coordinates as records are modelled."""
    columns, group = _split_off_group(source, wanted)
    keys = [*columns, *([] if group is None else [group])]
    cells = source.cells(keys, _MAX_CELLS)
    if not cells:
        raise empty(source.words)
    only_known(columns, wanted.categories)
    categories = _find_record_categories(columns, cells, wanted)
    table, labels = _group(cells, columns, categories)
    targets = _targets(source, group, wanted, cells)
    domain = _domain_of_records(wanted.domain, categories, table.shape[1], len(targets))
    if not set(targets) & set(labels):
        raise InputError(
            f"record_groups: no modelled record is of a group of {source.words}, such as "
            f"{quote(labels[0])}; give labels as they stand there, numbers as numbers",
            name="record_groups",
        )
    overall = overall_law(table.sum(axis=0), wanted.smoothing)
    by_group = shrunk(table, overall, wanted.shrinkage)
    laws_of = np.concatenate([by_group, overall[None, :]])
    place = {label: i for i, label in enumerate(labels)}
    chosen_laws = laws_of[[place.get(label, len(labels)) for label in targets]]
    joint = {
        (label, c): int(n)
        for label, row in zip(labels, table, strict=True)
        for c, n in enumerate(row)
    }
    fitted = Fitted(
        rows=int(table.sum()),
        unit=RECORDS,
        columns=tuple(columns),
        categories=categories,
        counts_hash=counts_hash(joint),
        rows_hash=_rows_hash(source, columns, categories),
        notes=_record_notes(overall, labels, targets),
        labels=tuple(targets),
        counts_log_chance=log_chance(table, by_group),
    )
    how = "" if group is None else f", one law per {group}"
    words = f"the distribution fitted on the rows of {source.words}, each a record{how}"
    return FitResult(domain, chosen_laws, fitted, words)


def _split_off_group(source: TableSource, wanted: FitRequest) -> tuple[list[str], str | None]:
    """The columns of which a record is made, and the column of its group."""
    columns = choose_columns(source, wanted.columns)
    group = _group_column(source, wanted)
    # Without named columns a record is all that is not its group.
    columns = [name for name in columns if name != group] if wanted.columns is None else columns
    if group in columns:
        raise InputError(
            f"groups={group!r} is one of columns={quote(columns)}; a record is made of "
            f"the other columns",
            name="groups",
        )
    if not columns:
        raise InputError("columns: no column is left besides the group; name a value column")
    return columns, group


def _find_record_categories(
    columns: Sequence[str], cells: Cells, wanted: FitRequest
) -> tuple[Categories, ...]:
    """What each column of a record may hold; all records share it."""
    sizes = wanted.domain.sizes if wanted.domain is not None and len(columns) == 1 else None
    if sizes is not None and len(set(sizes)) != 1:
        raise InputError(
            f"groups: the coordinates of {wanted.domain} have different sizes, so records cannot "
            f"share a law",
            name="domain",
        )
    size = None if sizes is None else sizes[0]
    return tuple(
        find_categories(name, of_column(cells, i), wanted.categories, size)
        for i, name in enumerate(columns)
    )


def _domain_of_records(
    given: Domain | None, categories: Sequence[Categories], size: int, count: int
) -> Domain:
    """The given domain, checked against ``count`` records of ``size`` values, or one of them."""
    domain = given or _records_domain(categories, count)
    if domain.sizes[0] != size or domain.dimension != count:
        raise InputError(
            f"domain={domain}: {count} records of {size} values are modelled; leave domain "
            f"out, or give one with as many coordinates and values",
            name="domain",
        )
    return domain


def fit_arrivals(source: TableSource, wanted: FitRequest) -> FitResult:
    """Each row is a record, a dataset the histogram of a Poisson number of such records."""
    columns = choose_columns(source, wanted.columns)
    expected = check_positive("histogram_of", wanted.histogram_of or 0.0)
    cells = source.cells(columns, _MAX_CELLS)
    if not cells:
        raise empty(source.words)
    only_known(columns, wanted.categories)
    categories = tuple(
        find_categories(name, of_column(cells, i), wanted.categories, None)
        for i, name in enumerate(columns)
    )
    table, _ = _group(cells, columns, categories)
    counts = table[0]
    prior = np.full(len(counts), 1.0 / len(counts))
    # Shrunk towards equal shares: there is no other law of one table's categories.
    shares = shrunk(counts, prior, wanted.shrinkage)
    means = (expected * shares).tolist()
    sizes = _grid_sizes(wanted.domain, means)
    pairs = [poisson_law(mean, size) for mean, size in zip(means, sizes, strict=True)]
    cut = min(1.0, math.fsum(bound for _, bound in pairs))
    fitted = Fitted(
        int(counts.sum()),
        ARRIVALS,
        tuple(columns),
        categories,
        counts_hash(histogram_cells(counts)),
        notes=(f"left out are counts above the grid, of probability <= {cut:.2g}",),
    )
    words = (
        f"the distribution fitted on the rows of {source.words}: histograms of a Poisson number "
        f"of records, {expected:g} on average"
    )
    return FitResult(wanted.domain or Hypergrid(sizes), [law for law, _ in pairs], fitted, words)


def _grid_sizes(domain: Domain | None, means: list[float]) -> list[int]:
    if domain is None:
        return [poisson_size(mean, len(means)) for mean in means]
    if domain.dimension != len(means) or not isinstance(domain, Hypergrid):
        raise InputError(
            f"domain={domain}: a histogram of {len(means)} cells lives on a Hypergrid of as many "
            f"coordinates; leave domain out, or give one",
            name="domain",
        )
    for r, mean in enumerate(means):
        if domain.sizes[r] <= mean:
            raise InputError(
                f"domain={domain}: cell {r} expects {mean:.3g} records, more than its largest "
                f"count {domain.sizes[r] - 1}; give larger sizes",
                name="domain",
            )
    return list(domain.sizes)


def _records_domain(known: Sequence[Categories], count: int) -> Domain:
    size = math.prod(len(values) for values in known)
    bits = len(known) == 1 and known[0] == BITS
    return Hypercube(count) if bits else RecordGrid([size] * count)


def _group(
    cells: Cells, columns: Sequence[str], known: Sequence[Categories]
) -> tuple[NDArray[np.float64], list[Value]]:
    """(groups, values) counts and the labels; without a group column one group, None."""
    k = len(columns)
    keys = list(cells)
    sizes = [len(values) for values in known]
    parts = [codes(name, [key[i] for key in keys], known[i]) for i, name in enumerate(columns)]
    of = [key[k] if len(key) > k else None for key in keys]
    place = {label: i for i, label in enumerate(dict.fromkeys(of))}
    if len(place) * math.prod(sizes) > _MAX_CELLS:
        raise InputError(
            f"groups: {len(place):,} groups of {math.prod(sizes):,} values are too many to fit; "
            f"use coarser groups or values",
            name="groups",
        )
    table = np.zeros((len(place), math.prod(sizes)))
    rows = np.array([place[label] for label in of])
    np.add.at(table, (rows, joint_codes(parts, sizes)), [float(n) for n in cells.values()])
    return table, list(place)


def _group_column(source: TableSource, wanted: FitRequest) -> str | None:
    if wanted.groups is None:
        if wanted.record_groups is not None:
            raise InputError("record_groups is given without groups; give both or neither")
        return None
    if not isinstance(wanted.groups, str):
        raise InputError(
            f"groups={quote(wanted.groups)} must be the name of a column of the table",
            name="groups",
        )
    return choose_columns(source, wanted.groups)[0]


def _targets(
    source: TableSource, group: str | None, wanted: FitRequest, cells: Cells
) -> list[Value]:
    if group is None:
        return [None] * check_count("records", wanted.records or 0)
    if wanted.record_groups is None:
        return _labels(source, group, cells)
    if is_table(wanted.record_groups):
        other = as_source(wanted.record_groups)
        choose_columns(other, group)
        return _labels(other, group, {} if other.is_ordered else other.cells([group], _MAX_CELLS))
    return _find_given(wanted.record_groups)


def _find_given(labels: Any) -> list[Value]:
    # Arrays of NumPy, and of Arrow, have values of their own kinds.
    for name in ("tolist", "to_pylist"):
        labels = getattr(labels, name, lambda given=labels: given)()
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(
            f"record_groups={quote(labels)} must hold one label per modelled record",
            name="record_groups",
        )
    listed = [plain(label) for label in labels]
    if not listed:
        raise InputError(
            "record_groups: it is empty; give one label per modelled record", name="record_groups"
        )
    return listed


def _labels(source: TableSource, group: str, cells: Cells) -> list[Value]:
    """The group of each row; where rows have no order, group after group of the cells."""
    if source.is_ordered:
        return source.rows([group])[0]
    counts = of_column(cells, -1)
    return [label for label in in_order(counts) for _ in range(counts[label])]


def _rows_hash(source: TableSource, columns: Sequence[str], known: Sequence[Categories]) -> str:
    if not source.is_ordered:
        return ""
    values = source.rows(list(columns))
    parts = [codes(n, v, k) for n, v, k in zip(columns, values, known, strict=True)]
    return rows_hash(joint_codes(parts, [len(k) for k in known]))


def _record_notes(
    overall: NDArray[np.float64], labels: Sequence[Value], targets: Sequence[Value]
) -> tuple[str, ...]:
    notes = []
    zeros = int(np.sum(overall == 0))
    if zeros:
        what = "1 value of a record has" if zeros == 1 else f"{zeros} values of a record have"
        notes.append(f"{what} probability 0: never drawn")
    unseen = len(set(targets) - set(labels))
    if unseen:
        notes.append(f"groups without a row, which get the law of all rows: {unseen}")
    return tuple(notes)


def fit(table: Any, wanted: FitRequest) -> FitResult:
    """Count what is wanted and fit it; InputError as ``ProductDistribution.fit``."""
    wanted.check()
    if not is_table(table):
        require_array(table)
        return _array(table, check_domain(wanted.domain), wanted)
    if wanted.domain is not None:
        check_domain(wanted.domain)
    source = as_source(table)
    if wanted.histogram_of is not None:
        return fit_arrivals(source, wanted)
    if wanted.has_groups or wanted.records is not None:
        return fit_records(source, wanted)
    return _datasets(source, wanted)


def _array(table: Any, domain: Domain, wanted: FitRequest) -> FitResult:
    tables_only = ("columns", "records", "histogram_of")
    given = [name for name in tables_only if getattr(wanted, name) is not None]
    if given or wanted.categories:
        name = given[0] if given else "categories"
        raise InputError(
            f"{name}: an array has no columns; leave out columns, records, histogram_of and "
            f"categories, or give a frame",
            name=name,
        )
    groups, targets = wanted.groups, wanted.record_groups
    laws = fit_marginals(table, domain, groups, targets, wanted.shrinkage, wanted.smoothing)
    sizes = domain.sizes
    cut = laws if len(set(sizes)) == 1 else [laws[r, :n] for r, n in enumerate(sizes)]
    values = np.asarray(table).astype(np.int64)
    if groups is None:
        points = values.reshape(-1, domain.dimension)
        fitted = Fitted(len(points), DATASETS, row_hashes=row_hashes(points))
    else:
        fitted = Fitted(len(values), RECORDS, rows_hash=rows_hash(values))
    return FitResult(domain, cut, fitted, "a product law fitted on a table")


def _datasets(source: TableSource, wanted: FitRequest) -> FitResult:
    columns = choose_columns(source, wanted.columns)
    marginals = source.marginals(columns, wanted.max_values)
    rows = _same_total(source, marginals)
    domain, categories = coordinates(columns, marginals, wanted.categories, wanted.domain)
    counts = [
        order_counts(tally, values) for tally, values in zip(marginals, categories, strict=True)
    ]
    laws = [
        shrunk(tally, prior, wanted.shrinkage)
        for tally, prior in zip(counts, _priors(counts, categories, wanted.smoothing), strict=True)
    ]
    cells = {
        (name, v): n
        for name, tally in zip(columns, marginals, strict=True)
        for v, n in tally.items()
    }
    fitted = Fitted(
        rows,
        DATASETS,
        tuple(columns),
        categories,
        counts_hash(cells),
        notes=_zeros(columns, laws),
        row_hashes=_read_again(source, columns, categories, rows),
    )
    return FitResult(
        domain,
        laws,
        fitted,
        f"the distribution fitted on the rows of {source.words}, each a dataset",
    )


def _read_again(
    source: TableSource, columns: list[str], known: tuple[Categories, ...], rows: int
) -> frozenset[bytes]:
    if not source.is_ordered or rows * len(columns) > MAX_READ:
        return frozenset()
    values = source.rows(columns)
    parts = [codes(n, v, k) for n, v, k in zip(columns, values, known, strict=True)]
    return row_hashes(np.stack(parts, axis=1))


def _priors(
    counts: Sequence[NDArray[np.float64]], known: Sequence[Categories], smoothing: float
) -> list[NDArray[np.float64]]:
    """Columns of one kind share the law of all their data; others are shrunk to uniform laws."""
    if len(set(known)) == 1:
        return [overall_law(np.sum(counts, axis=0), smoothing)] * len(counts)
    return [np.full(len(values), 1.0 / len(values)) for values in known]


def _same_total(source: TableSource, found: Sequence[Mapping[Value, int]]) -> int:
    totals = {sum(counts.values()) for counts in found}
    if len(totals) > 1:
        raise make_change_error(source.words)
    rows = totals.pop()
    if rows == 0:
        raise empty(source.words)
    return rows


def _zeros(columns: Sequence[str], laws: Sequence[NDArray[np.float64]]) -> tuple[str, ...]:
    names = [name for name, law in zip(columns, laws, strict=True) if np.any(law == 0)]
    if not names:
        return ()
    return (f"some values of {', '.join(names[:5])} have probability 0: never drawn",)
