"""The statistics of this package, told by their exact type, written as plain values and read again.

A subclass is somebody's code: it may have values, edges and a ``proved_edges`` of its own. What is
trusted is therefore made anew from numbers, and nothing of the object that was given is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.data.domains import Domain
from liptest.errors import InputError, quote
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.counting_queries import CountingQueries
from liptest.statistics.order_statistics import OrderStatistic
from liptest.statistics.protocol import Statistic
from liptest.statistics.sums import (
    ContingencyTables,
    Contributions,
    Count,
    Histogram,
    WeightedSum,
)
from liptest.statistics.tabulated import Tabulated

_Spec = dict[str, Any]


def is_trusted(statistic: object) -> bool:
    """Whether a statistic is of a class of this package itself, whose edges are theorems.

    Not one whose methods were replaced on the object.
    """
    kind = type(statistic)
    return kind in _WRITERS and not any(
        key == "proved_edges" or callable(getattr(kind, key, None)) for key in vars(statistic)
    )


def statistic_spec(statistic: Any) -> _Spec | None:
    """Plain JSON values that say what a trusted statistic computes; None for any other."""
    if not is_trusted(statistic):
        return None
    return _WRITERS[type(statistic)](statistic) | {"name": _name(statistic)}


def read_statistic(spec: Any, domain: Domain) -> Statistic:
    """The statistic on a domain that plain values say; InputError for values that say none."""
    try:
        statistic: Any = _READERS[spec["kind"]](spec, domain)
        statistic.check(domain)
        if type(spec["name"]) is not str:
            raise TypeError
        if "name" in vars(statistic):
            object.__setattr__(statistic, "name", spec["name"])
        return statistic  # type: ignore[no-any-return]
    except (LookupError, TypeError, ValueError, OverflowError):
        raise InputError(f"statistic={quote(spec)} is not a statistic of this package") from None


def _name(statistic: Any) -> str:
    name = statistic.name
    return name if type(name) is str else "statistic"


def _write_contributions(statistic: Any) -> _Spec:
    distinct: list[Any] = []
    places: dict[int, int] = {}
    for table in statistic._tables:
        if id(table) not in places:
            places[id(table)] = len(distinct)
            distinct.append(table[:, 0].tolist() if statistic._flat else table.tolist())
    chosen = None if statistic._shared else [places[id(table)] for table in statistic._tables]
    return {"kind": "contributions", "tables": distinct, "chosen": chosen}


def _read_contributions(spec: _Spec, domain: Domain) -> Contributions:
    tables = [np.array(table, dtype=np.int64) for table in spec["tables"]]
    if spec["chosen"] is None:
        [table] = tables
        return Contributions(table)
    return Contributions.each([tables[k] for k in spec["chosen"]])


def _write_ranks(statistic: OrderStatistic) -> _Spec:
    ranks = list(statistic.ranks)
    return {"kind": "order statistic", "ranks": ranks[0] if statistic._flat else ranks}


def _write_coordinates(statistic: Coordinates) -> _Spec:
    return {
        "kind": "coordinates",
        "chosen": [int(place) for place in statistic.chosen],
        "sizes": [int(size) for size in statistic.sizes],
        "constant": int(statistic.constant),
    }


_WRITERS: dict[type, Callable[[Any], _Spec]] = {
    Count: lambda statistic: {"kind": "count"},
    WeightedSum: lambda statistic: {
        "kind": "weighted sum",
        "weights": statistic.weights.tolist(),
        "constant": int(statistic.constant),
    },
    Histogram: lambda statistic: {
        "kind": "histogram",
        "cells": int(statistic.cells),
        "given": str(statistic.given),
    },
    Contributions: _write_contributions,
    ContingencyTables: _write_contributions,
    CountingQueries: _write_contributions,
    OrderStatistic: _write_ranks,
    Coordinates: _write_coordinates,
    Tabulated: lambda statistic: {"kind": "tabulated", "values": statistic.table.tolist()},
}
_READERS: dict[str, Callable[[_Spec, Domain], Statistic]] = {
    "count": lambda spec, domain: Count(),
    "weighted sum": lambda spec, domain: WeightedSum(
        np.array(spec["weights"], dtype=np.int64), constant=spec["constant"]
    ),
    "histogram": lambda spec, domain: Histogram(spec["cells"], given=spec["given"]),
    "contributions": _read_contributions,
    "order statistic": lambda spec, domain: OrderStatistic(spec["ranks"]),
    "coordinates": lambda spec, domain: Coordinates(
        tuple(map(int, spec["chosen"])), tuple(map(int, spec["sizes"])), int(spec["constant"])
    ),
    "tabulated": lambda spec, domain: Tabulated(np.array(spec["values"], dtype=np.int64), domain),
}
