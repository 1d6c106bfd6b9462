"""What a release of some numbers of a frame costs, with Laplace noise of scale 1 each.

And what the library of the frame itself says: the largest change over neighbouring small tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import Alignment, align
from tests.proved_prices import compare_with_change


def aligned(expression: Callable[[Any], Any], table: Any, library: str = "") -> Alignment:
    """What aligning says of the release of an expression, one number or a tuple of them."""

    def released(frame: Any, rng: Any) -> Any:
        value = expression(frame)
        return [one + rng.laplace() for one in (value if isinstance(value, tuple) else (value,))]

    return align(lt.mechanism(released, frame=library).on_domain(table), table)


def price_of(expression: Callable[[Any], Any], table: Any) -> float:
    """The price of what an expression gives: its proved sensitivity."""
    found = aligned(expression, table)
    assert found.price is not None, found.reason
    return found.epsilon


def change_of(expression: Callable[[Any], Any], table: lt.Table, library: str = "pandas") -> float:
    """The largest change over all neighbouring tables, by pandas or polars."""
    points = np.concatenate(list(table.all_points()))
    found = [float(expression(table.frame(point, library))) for point in points]
    return max(
        abs(found[i] - found[int(j)])
        for i, point in enumerate(points)
        for j in table.index(table.neighbours(point))
    )


def check_price(expression: Callable[[Any], Any], table: lt.Table) -> None:
    """The price is the largest change: above it by rounding alone, and never below."""
    proved, true = price_of(expression, table), change_of(expression, table)
    assert proved >= true - 1e-12
    assert math.isclose(proved, true, rel_tol=1e-9, abs_tol=1e-12)


def refusal_of(expression: Callable[[Any], Any], table: lt.Table) -> str:
    """Why the release of a number of a frame is not followed; fails where it is."""

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    return reason_of(lt.mechanism(released), table)


def reason_of(mechanism: Any, domain: Any) -> str:
    """Why a mechanism is not followed; fails where it is."""
    found = mechanism.on_domain(domain).align_paths(domain)
    assert isinstance(found, NoPaths)
    return found.reason


def compare(expression: Callable[[Any], Any], table: lt.Table, library: str = "pandas") -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change."""
    found = aligned(expression, table, library)
    return compare_with_change(found, lambda: change_of(expression, table, library))
