"""The output laws of code given the value of a sum, kept sparsely: for noiseless privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain
from liptest.errors import BudgetError, InputError
from liptest.mechanisms.laws import LawTable, Output

FloatArray = NDArray[np.float64]

# Values that are asked for together; positive probabilities that are kept; products with them.
_TOGETHER = 256
_MOST_ENTRIES = 1 << 26
_MOST_PRODUCTS = 1 << 33
# Ways that the random choices of code fall out, over all values.
_MOST_LEAVES = 1 << 21


@dataclass(frozen=True, eq=False)
class ReleaseTable:
    """Positive probabilities of outputs given the value of a sum.

    Parameters
    ----------
    values, outputs, masses
        (k,) which value, which output, and its probability.
    size
        Number of different outputs.
    error
        Relative error of each probability at most.
    missing
        Probability that no output accounts for, at most.
    """

    values: NDArray[np.int64]
    outputs: NDArray[np.int64]
    masses: FloatArray
    size: int
    error: float
    missing: float

    def given(self, law: FloatArray) -> FloatArray:
        """The law of the output, (size,), where the sum has this law."""
        weights = law[self.values] * self.masses
        return np.asarray(np.bincount(self.outputs, weights, minlength=self.size), dtype=float)


def affordable(mechanism: Any, domain: Domain, spread: int) -> bool:
    """Whether code is enumerated for every value of the sum."""
    law = mechanism.law(np.zeros(domain.dimension, dtype=domain.dtype))
    # Code that was only seen to read a sum is run on whole datasets.
    size = domain.dimension // 64 if getattr(mechanism, "reads_only", False) else 0
    return int(spread * (law.leaves or len(law)) * (1 + size)) <= _MOST_LEAVES


def release_table(mechanism: Any, lowest: int, spread: int, parts: int) -> ReleaseTable:
    """The laws given ``lowest`` .. ``lowest + spread - 1``, for ``parts`` different records.

    Raises InputError for unbounded outputs, BudgetError for too many of them.
    """
    known: dict[Output, int] = {}
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]] = []
    error = missing = 0.0
    entries = 0
    for start in range(0, spread, _TOGETHER):
        asked = np.arange(start, min(spread, start + _TOGETHER))
        laws = mechanism.laws_of(lowest + asked)
        if not isinstance(laws, LawTable):
            raise InputError(
                "mechanism: its outputs are not finitely many; round them in the code",
                name="mechanism",
            )
        for output in laws.outputs:
            known.setdefault(output, len(known))
        columns = np.array([known[output] for output in laws.outputs], dtype=np.int64)
        masses = np.exp(laws.logs)[laws.distinct(np.arange(len(asked)))]
        rows, places = np.nonzero(masses)
        found.append((asked[rows], columns[places], masses[rows, places]))
        error = max(error, float(np.max(laws.errors, initial=0.0)))
        if laws.unexplored is not None:
            missing = max(missing, float(np.max(laws.unexplored, initial=0.0)))
        entries += len(rows)
        if entries > _MOST_ENTRIES or 2 * parts * entries > _MOST_PRODUCTS:
            raise BudgetError(
                f"mechanism: more than {entries:,} outputs with positive probability, over "
                f"{spread:,} values of the statistic and for {parts:,} different records, are too "
                f"many; use fewer outputs",
                needed=2 * parts * entries,
                budget=_MOST_PRODUCTS,
            )
    values, outputs, chances = map(np.concatenate, zip(*found, strict=True))
    relative = math.expm1(min(error + 2.0**-52 * spread, 700.0))
    return ReleaseTable(values, outputs, chances, len(known), relative, missing)
