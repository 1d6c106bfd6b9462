"""Marginal laws from public tables, shrunk towards the law of all data together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain
from liptest.errors import InputError, check_positive, shown


def fit_marginals(
    table: ArrayLike,
    domain: Domain,
    groups: Sequence[Any] | ArrayLike | None,
    record_groups: Sequence[Any] | ArrayLike | None,
    shrinkage: float,
) -> NDArray[np.float64]:
    """(d, max size) fitted laws; see ``ProductDistribution.fit``."""
    weight = check_positive("shrinkage", shrinkage)
    values = np.asarray(table)
    if values.size == 0:
        raise InputError("table: it is empty, there is nothing to fit; give public rows")
    if groups is None:
        if record_groups is not None:
            raise InputError("record_groups is given without groups; give both or neither")
        return _fit_columns(values, domain, weight)
    return _fit_groups(values, domain, groups, record_groups, weight)


def _fit_columns(values: NDArray[Any], domain: Domain, weight: float) -> NDArray[np.float64]:
    rows = domain.check_points(values)
    most = max(domain.sizes)
    counts = np.stack([(rows == value).sum(axis=0) for value in range(most)], axis=1)
    if len(set(domain.sizes)) == 1:
        overall = counts.sum(axis=0) / counts.sum()
        prior = np.broadcast_to(overall, counts.shape)
    else:
        # Coordinates of unequal sizes share no overall law: shrink towards the uniform one.
        inside = np.arange(most) < domain.size_array[:, None]
        prior = inside / domain.size_array[:, None]
    return np.asarray((counts + weight * prior) / (len(rows) + weight))


def _fit_groups(
    values: NDArray[Any],
    domain: Domain,
    groups: Sequence[Any] | ArrayLike,
    record_groups: Sequence[Any] | ArrayLike | None,
    weight: float,
) -> NDArray[np.float64]:
    labels = np.asarray(groups)
    targets = labels if record_groups is None else np.asarray(record_groups)
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
    names, group = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(names), domain.sizes[0]))
    np.add.at(counts, (group, codes), 1)
    overall = counts.sum(axis=0) / len(codes)
    laws = (counts + weight * overall) / (counts.sum(axis=1, keepdims=True) + weight)
    where = np.minimum(np.searchsorted(names, targets), len(names) - 1)
    known = names[where] == targets
    return np.asarray(np.where(known[:, None], laws[where], overall))


def _codes(values: NDArray[Any], size: int) -> NDArray[np.int64]:
    whole = values.dtype.kind in "iub" or (
        values.dtype.kind == "f" and bool(np.all(values == np.floor(values)))
    )
    if not whole or not np.all((values >= 0) & (values < size)):
        example = values[0] if not whole else values[(values < 0) | (values >= size)][0]
        raise InputError(
            f"table: the value {shown(example)} is none of 0 .. {size - 1}; code the records as "
            f"whole numbers first",
            name="table",
        )
    return values.astype(np.int64)
