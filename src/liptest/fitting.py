"""Marginal laws from public tables, shrunk towards the law of all data together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain, rectangular
from liptest.errors import InputError, check_non_negative, check_positive, shown


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
            f"groups={shown(groups)} must be one label (a number or a string) per record",
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
            f"table: the value {shown(example)} is none of 0 .. {size - 1}; code the records as "
            f"whole numbers first",
            name="table",
            value=example,
        )
    return values.astype(np.int64)
