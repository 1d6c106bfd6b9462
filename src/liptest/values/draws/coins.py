"""Random bits, one for each record, that are tossed without the data and choose records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.binary.bernoulli import BernoulliVariables, find_distinct
from liptest.values.binary.truth_tables import TruthTables


@dataclass(frozen=True)
class Coins:
    """See the module.

    Parameters
    ----------
    key
        The same for the same bits.
    draw
        Draws them, at a point.
    find_share
        What no bit is 1 with more than; None where they depend on each other.
    are_free
        Whether nothing was asked of them yet.
    variables
        Of what bits they are functions.
    """

    key: Any
    draw: Callable[[np.random.Generator], NDArray[Any]]
    find_share: Callable[[], Fraction | None]
    are_free: Callable[[], bool]
    variables: NDArray[np.int64]


def record_coins(variables: BernoulliVariables, tables: TruthTables) -> Coins | None:
    """Bits that are functions of variables; None where a sum of these is known."""
    own = tables.variables[tables.variables >= 0]
    if not variables.are_ungrouped(own):
        return None

    def draw(rng: np.random.Generator) -> NDArray[Any]:
        variables.draw(own, rng)
        return variables.current(tables).model().copy()

    def find_share() -> Fraction | None:
        is_each_one = tables.count == 1 and len(own) > 0 and tables.variables.min() >= 0
        if not is_each_one or len(find_distinct(own)) < len(own):
            return None
        return variables.largest_share(own, tables.table[..., 1].ravel())

    key = tables.shape, tables.variables.tobytes(), tables.table.tobytes()
    return Coins(key, draw, find_share, partial(variables.are_free, own), own)
