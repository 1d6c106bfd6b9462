"""Products with public weights that differ from record to record: ``weights @ data``.

Records of one weight are a part of the records (docs/theory/size.md, S9), and what they add to the
sum is an answer of its own. A record is in one part, so neighbours move one of these answers.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.reals.rounded_sums import is_exact, share_of_rounding
from liptest.values.records.record_parts import find_part

if TYPE_CHECKING:
    from liptest.values.records.column import Column

#: Different weights, each with an answer of its own.
MOST_WEIGHTS = 512


def sum_by_weights(column: Column, weights: NDArray[Any]) -> Any:
    """The sum of the entries of all records, each times its weight; None where not followed.

    ``weights`` are public, (n,).
    """
    answers = column.answers
    is_line = column.own.ndim == weights.ndim == 1 and not column.is_selection
    if not is_line or column.is_off or not answers.has_positions or answers.part is not None:
        return None
    if weights.dtype.kind not in "biuf" or weights.shape != (column.read_length(),):
        return None
    kind = np.dot(column.table[:1], weights[:1]).dtype
    different, of = np.unique(weights, return_inverse=True)
    if kind not in (np.int64, np.float64) or len(different) > MOST_WEIGHTS:
        return None
    tables = {
        number: np.multiply(column.table, weight, dtype=kind)
        for number, weight in enumerate(different)
        if weight != 0
    }
    if not tables or not all(np.all(np.isfinite(table)) for table in tables.values()):
        return None
    is_rounded = kind == np.float64 and not is_exact(
        np.concatenate(list(tables.values())), len(weights)
    )
    sums = []
    for number, table in tables.items():
        positions = np.flatnonzero(of == number)
        part = column.part_at(find_part(positions))
        share = share_of_rounding(table, len(positions), len(weights)) if is_rounded else None
        sums.append(part.sum_up(table, kind.type, "numpy.dot", share=share))
    return reduce(operator.add, sums)
