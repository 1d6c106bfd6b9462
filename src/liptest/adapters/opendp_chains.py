"""OpenDP's sums and counts before the noise: which datasets they take, and what they give."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from liptest.adapters.opendp_laws import Offset
from liptest.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import InputError, LawError
from liptest.mechanisms.weighted_sum import WeightedSum

# Datasets on which the transformation is compared with the statistic.
_COMPARED = 32


@dataclass(frozen=True)
class Chained:
    """A deterministic step: its datasets, their distance, and the statistic that it computes."""

    name: str
    domain: Domain
    distance: int
    statistic: WeightedSum
    records: Callable[[Any], list[int]]


def chained(record: Any, transformation: Any, inner: str, domain: Domain | None) -> Chained:
    """A sum or a count of whole-number records; InputError for anything else.

    Where records may be added and removed, a dataset is the count of each value from the lower
    bound on. Where their number is fixed, OpenDP's distance is 2 for a record that is replaced.
    """
    bounds = re.search(r"bounds=\[(-?\d+), (-?\d+)\], T=[iu]\d+", inner)
    size = re.search(r"size=(\d+)\)$", inner)
    if record.function not in ("make_sum", "make_count"):
        raise InputError(
            f"measurement: a chain that begins with {record.function} is not known here; known "
            f"are make_sum and make_count",
            name="measurement",
        )
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
    return made


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
