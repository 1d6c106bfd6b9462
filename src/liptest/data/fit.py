"""A product law from a public table or array; see ``ProductDistribution.fit``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.categories import Categories, coded, codes, coordinates
from liptest.data.fitted import (
    DATASETS,
    MAX_READ,
    RECORDS,
    Fitted,
    counts_hash,
    row_hashes,
    rows_hash,
)
from liptest.data.records import fit_arrivals, fit_records
from liptest.data.sources import TableSource, as_source, chosen, is_table, require_array
from liptest.data.values import Value, changed, empty
from liptest.data.wanted import Found, Wanted
from liptest.domains import Domain, check_domain
from liptest.errors import InputError
from liptest.fitting import fit_marginals, overall_law, shrunk


def fit(table: Any, wanted: Wanted) -> Found:
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


def _array(table: Any, domain: Domain, wanted: Wanted) -> Found:
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
    return Found(domain, cut, fitted, "a product law fitted on a table")


def _datasets(source: TableSource, wanted: Wanted) -> Found:
    columns = chosen(source, wanted.columns)
    found = source.marginals(columns, wanted.max_values)
    rows = _same_total(source, found)
    domain, known = coordinates(columns, found, wanted.categories, wanted.domain)
    counts = [coded(one, values) for one, values in zip(found, known, strict=True)]
    laws = [
        shrunk(one, prior, wanted.shrinkage)
        for one, prior in zip(counts, _priors(counts, known, wanted.smoothing), strict=True)
    ]
    cells = {(name, v): n for name, one in zip(columns, found, strict=True) for v, n in one.items()}
    fitted = Fitted(
        rows,
        DATASETS,
        tuple(columns),
        known,
        counts_hash(cells),
        notes=_zeros(columns, laws),
        row_hashes=_read_again(source, columns, known, rows),
    )
    return Found(
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
    totals = {sum(one.values()) for one in found}
    if len(totals) > 1:
        raise changed(source.words)
    rows = totals.pop()
    if rows == 0:
        raise empty(source.words)
    return rows


def _zeros(columns: Sequence[str], laws: Sequence[NDArray[np.float64]]) -> tuple[str, ...]:
    names = [name for name, law in zip(columns, laws, strict=True) if np.any(law == 0)]
    if not names:
        return ()
    return (f"some values of {', '.join(names[:5])} have probability 0: never drawn",)
