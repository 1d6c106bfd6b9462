"""Checks of the laws of single coordinates, as a user gives them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain
from liptest.errors import InputError, shown

#: A law given in decimals may be off by rounding; more than this is a mistake.
SUM_SLACK = 1e-9


def check_marginals(
    marginals: Sequence[ArrayLike] | ArrayLike, domain: Domain
) -> list[NDArray[np.float64]]:
    """One normalised law per coordinate of the domain, or InputError."""
    rows = _rows(marginals)
    if len(rows) != domain.dimension:
        raise InputError(
            f"marginals: {len(rows)} laws for the {domain.dimension} coordinates of {domain}; "
            f"give one law per coordinate",
            name="marginals",
        )
    return [_law(row, r, domain.sizes[r]) for r, row in enumerate(rows)]


def check_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Numbers as a fresh array; InputError for text, complex numbers and ragged rows."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name}={shown(values)} must be numbers, in rows of equal lengths", name=name)


def _rows(marginals: Sequence[ArrayLike] | ArrayLike) -> list[ArrayLike]:
    try:
        return list(marginals)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(
            f"marginals={shown(marginals)} must hold one law per coordinate, for example "
            f"[[0.5, 0.5], [0.9, 0.1]]",
            name="marginals",
            value=marginals,
        ) from None


def _law(row: ArrayLike, coordinate: int, size: int) -> NDArray[np.float64]:
    mass = check_floats(f"marginals[{coordinate}]", row)
    if mass.shape != (size,):
        raise InputError(
            f"marginals[{coordinate}]: shape={mass.shape}, but the coordinate takes {size} "
            f"values; give {size} probabilities",
            name="marginals",
        )
    if not np.all((mass >= 0) & (mass <= 1 + SUM_SLACK)):
        raise InputError(
            f"marginals[{coordinate}]={shown(mass.tolist())} must lie between 0 and 1",
            name="marginals",
            value=mass,
        )
    total = float(mass.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise InputError(
            f"marginals[{coordinate}] sums to {total!r}, not 1; divide by the sum if these "
            f"are counts",
            name="marginals",
            value=total,
        )
    return mass / total
