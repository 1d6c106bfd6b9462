"""OpenDP's sums and counts before the noise: which datasets they take, and what they give."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liptest.adapters.opendp_laws import Offset
from liptest.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import InputError, LawError
from liptest.statistics.weighted_sum import WeightedSum

# Datasets on which the transformation is compared with the statistic.
_COMPARED = 32


@dataclass(frozen=True)
class Chained:
    """A deterministic step: its datasets, their distance, and the statistic that it computes."""

    name: str
    domain: Domain
    distance: int
    statistic: WeightedSum
    records: Callable[[Any], list[Any]]


def chained(
    record: Any, transformation: Any, inner: str, domain: Domain | None, *, clamped: bool = False
) -> Chained:
    """A sum of whole-number records, or a count of any; InputError for anything else.

    Where records may be added and removed, a dataset is the count of each value from the lower
    bound on, or of all records where a count knows no bounds. Where their number is fixed, OpenDP's
    distance is 2 for a record that is replaced. ``clamped``: values beyond the bounds of ``inner``
    count as the bounds.
    """
    bounds = re.search(r"bounds=\[(-?\d+), (-?\d+)\], T=[iu]\d+", inner)
    size = re.search(r"size=(\d+)\)$", inner)
    if record.function not in ("make_sum", "make_count"):
        raise InputError(
            f"measurement: a chain that begins with {record.function} is not known here; known "
            f"are make_count_by_categories, make_sum, make_count, and make_clamp before these two",
            name="measurement",
        )
    if bounds is None and size is None and record.function == "make_count":
        made = _any_count(inner, domain)
        _compare(transformation, made)
        return made
    if bounds is None:
        raise InputError(
            f"measurement: its records, {inner}, have no bounds; give them some, such as "
            f"atom_domain(bounds=(0, 1))",
            name="measurement",
        )
    low, high = (int(end) for end in bounds.groups())
    made = (
        _fixed(record, low, high, int(size.group(1)), domain)
        if size
        else _free(record, low, high, domain)
    )
    _compare(transformation, made)
    if clamped:
        beyond = replace(made, records=_Beyond(made.records, low, high))
        _compare(transformation, beyond)
    return made


@dataclass(frozen=True)
class _Beyond:
    """Records at the bounds moved beyond them."""

    records: Callable[[Any], list[Any]]
    low: int
    high: int

    def __call__(self, data: Any) -> list[Any]:
        moved = {self.low: self.low - 7, self.high: self.high + 7}
        return [moved.get(value, value) for value in self.records(data)]


def _any_count(inner: str, domain: Domain | None) -> Chained:
    chosen = domain or Hypergrid([2])
    if not isinstance(chosen, Hypergrid) or chosen.dimension != 1:
        raise InputError(
            f"domain={chosen} does not fit: a dataset is the number of its records; give a "
            f"Hypergrid of one size",
            name="domain",
        )
    kind = re.search(r"T=(\w+)", inner)
    record = {"bool": False, "String": "", "f64": 0.0, "f32": 0.0}.get(kind[1] if kind else "", 0)
    return Chained("make_count", chosen, 1, WeightedSum([1]), lambda data: [record] * int(data[0]))


def _free(record: Any, low: int, high: int, domain: Domain | None) -> Chained:
    cells = high - low + 1
    chosen = domain or Hypergrid([2] * cells)
    if not isinstance(chosen, Hypergrid) or chosen.dimension != cells:
        raise InputError(
            f"domain={chosen} does not fit: records may be added and removed, so a dataset is a "
            f"count for each of the values {low} .. {high}; give a Hypergrid of {cells} sizes",
            name="domain",
        )
    counting = record.function == "make_count"
    weights = [1] * cells if counting else list(range(low, high + 1))
    values = np.arange(low, high + 1)
    return Chained(
        record.function,
        chosen,
        1,
        WeightedSum(weights),
        lambda data: np.repeat(values, np.asarray(data)).tolist(),
    )


def _fixed(record: Any, low: int, high: int, size: int, domain: Domain | None) -> Chained:
    own: Domain = Hypercube(size) if high == low + 1 else RecordGrid([high - low + 1] * size)
    if domain is not None and domain != own:
        raise InputError(f"domain={domain} does not fit: the measurement's is {own}", name="domain")
    counting = record.function == "make_count"
    statistic = Offset([0 if counting else 1] * size, size if counting else size * low)
    return Chained(
        record.function, own, 2, statistic, lambda data: (np.asarray(data) + low).tolist()
    )


def _compare(transformation: Any, step: Chained) -> None:
    """The statistic is what the transformation computes, on datasets of all kinds."""
    rng = np.random.default_rng(0)
    sizes = step.domain.size_array
    tried = [sizes * 0, sizes - 1, *rng.integers(0, sizes, (_COMPARED, len(sizes)))]
    for dataset in tried:
        given, wanted = transformation(step.records(dataset)), step.statistic.values(dataset[None])
        if given != int(wanted[0]):
            raise LawError(
                f"{step.name}: gives {given} on {step.records(dataset)[:20]}, where "
                f"{int(wanted[0])} was expected; the object does not do what its record says"
            )
