"""Which values a coordinate takes, in which order, and how counts become arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.values import Cells, Value, in_order, plain
from liptest.domains import Domain, Hypercube, RecordGrid
from liptest.errors import InputError, shown

#: The values of one column; value ``categories[i]`` has the code i.
Categories = tuple[Value, ...]
BITS: Categories = (0, 1)


def categories_of(
    name: str, seen: Mapping[Value, int], declared: Mapping[str, Sequence[Any]], size: int | None
) -> Categories:
    """The values of one column: as declared, else ``0 .. size-1``, else as seen.

    Values 0 and 1 only (or only one of them) are bits.

    Raises
    ------
    InputError
        Missing values that were not declared, values outside of what was declared, numbers that
        are not whole, categories that repeat.
    """
    if name in declared:
        found = _listed(name, declared[name])
        if not found or len(set(found)) < len(found):
            raise InputError(
                f"categories[{name!r}]={shown(declared[name])} must hold every value once",
                name="categories",
            )
    else:
        _no_missing(name, seen)
        found = tuple(range(size)) if size is not None else _as_seen(name, seen)
    outside = [value for value in seen if value not in set(found)]
    if outside:
        raise InputError(
            f"column {name!r}: the value {shown(outside[0])} ({seen[outside[0]]:,} rows) is none "
            f"of {shown(list(found))}; name all values in categories={{{name!r}: [..]}}, or choose "
            f"a larger domain",
            name="table",
            value=outside[0],
        )
    return found


def _listed(name: str, values: Any) -> Categories:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(
            f"categories[{name!r}]={shown(values)} must be a list of all values of the column",
            name="categories",
        )
    return tuple(plain(value) for value in values)


def _as_seen(name: str, seen: Mapping[Value, int]) -> Categories:
    if set(seen) <= {0, 1}:
        return BITS
    broken = [value for value in seen if isinstance(value, float)]
    if broken:
        raise InputError(
            f"column {name!r}: the value {shown(broken[0])} is no whole number; round or group "
            f"the values first, or name them in categories={{{name!r}: [..]}}",
            name="table",
            value=broken[0],
        )
    return tuple(in_order(seen))


def _no_missing(name: str, seen: Mapping[Value, int]) -> None:
    if None in seen:
        raise InputError(
            f"column {name!r}: {seen[None]:,} values are missing; drop or fill these rows first, "
            f"or make a missing value a category with categories={{{name!r}: [None, ..]}}",
            name="table",
        )


def coded(counts: Mapping[Value, int], categories: Categories) -> NDArray[np.float64]:
    """(len(categories),) counts in the order of the categories."""
    return np.array([counts.get(value, 0) for value in categories], dtype=np.float64)


def codes(name: str, values: Sequence[Value], categories: Categories) -> NDArray[np.int64]:
    """The code of each value; InputError that quotes no value (they may be private)."""
    known = {value: code for code, value in enumerate(categories)}
    try:
        return np.array([known[value] for value in values], dtype=np.int64)
    except KeyError:
        raise InputError(
            f"column {name!r} holds something that is none of its {len(categories)} categories; "
            f"the domain is that of the fitted distribution, so fit it with categories= that "
            f"name all values",
            name="table",
        ) from None


def coordinates(
    columns: Sequence[str],
    found: Sequence[Mapping[Value, int]],
    declared: Mapping[str, Sequence[Any]],
    domain: Domain | None,
) -> tuple[Domain, tuple[Categories, ...]]:
    """The domain whose coordinates are columns, and the values of each.

    Raises InputError when a given domain has another dimension or other sizes, and as
    ``categories_of``.
    """
    if domain is not None and domain.dimension != len(columns):
        raise InputError(
            f"columns: {len(columns)} columns do not fit {domain}; each column is one of its "
            f"coordinates",
            name="columns",
        )
    only_known(columns, declared)
    sizes = [None] * len(columns) if domain is None else domain.sizes
    known = tuple(
        categories_of(name, seen, declared, size)
        for name, seen, size in zip(columns, found, sizes, strict=True)
    )
    if domain is None:
        bits = all(values == BITS for values in known)
        return Hypercube(len(known)) if bits else RecordGrid([len(v) for v in known]), known
    for name, values, size in zip(columns, known, domain.sizes, strict=True):
        if len(values) != size:
            raise InputError(
                f"categories[{name!r}] holds {len(values)} values, but its coordinate of {domain} "
                f"takes {size}",
                name="categories",
            )
    return domain, known


def only_known(columns: Sequence[str], declared: Mapping[str, Any]) -> None:
    """InputError when categories are declared for something that is no column."""
    if not isinstance(declared, Mapping):
        raise InputError(
            f"categories={shown(declared)} must be a dict, column -> list of its values",
            name="categories",
        )
    strange = set(declared) - set(columns)
    if strange:
        raise InputError(
            f"categories: {shown(min(strange))} is none of the columns {', '.join(columns)}",
            name="categories",
        )


def of_column(cells: Cells, place: int) -> dict[Value, int]:
    """How often each value of one column occurs, from joint counts."""
    found: dict[Value, int] = {}
    for key, count in cells.items():
        found[key[place]] = found.get(key[place], 0) + count
    return found
