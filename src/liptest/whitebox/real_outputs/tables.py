"""Tables of laws with continuous outputs, compared in closed form."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, precision
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.mechanisms.laws import (
    ZERO_LOG,
    ComparableLaws,
    FloatArray,
    LawTable,
    OutputLaw,
    Raised,
)
from liptest.values.noise import ADVICE
from liptest.whitebox.real_outputs.densities import ContinuousLaw, Ratio, ratios
from liptest.whitebox.real_outputs.hockey_sticks import hockey_stick_of

Indices = NDArray[np.int64]


def loss_of(left: ContinuousLaw, right: ContinuousLaw) -> arb:
    """A ball that contains the largest log ratio of the two laws, in either direction."""
    found = arb(0)
    for one in ratios(left, right):
        ends = (one.largest(), one.smallest()) if isinstance(one, Ratio) else (None, None)
        for end in ends:
            if end is None:
                return arb("inf")
            if not end.is_finite():
                raise SymbolicError("the ratio of two densities is not known well enough")
            found = found.max(abs(end))
    return found


@contextmanager
def comparing() -> Iterator[None]:
    """Many digits; what cannot be compared is refused with what to do."""
    with precision(CERTIFIED_BITS):
        try:
            yield
        except UnsupportedForm as error:
            raise UnsupportedForm(f"{error}: such densities are not compared; {ADVICE}") from None


@dataclass(frozen=True, eq=False)
class DensityTable(ComparableLaws):
    """Laws of u distinct datasets or values, compared through their densities.

    Parameters
    ----------
    laws
        u laws.
    rows
        (q,) which law each query has; None means query i has law i.
    """

    laws: tuple[ContinuousLaw, ...]
    answered: bool
    rows: Indices | None = None
    _known: dict[tuple[int, int], arb] = field(default_factory=dict, repr=False)
    _sticks: dict[tuple[int, int, float], arb] = field(default_factory=dict, repr=False)

    def new_distinct(self) -> Any:
        """What collects distinct tables of this kind."""
        return DensityPool()

    def losses(self, left: Indices, right: Indices) -> FloatArray:
        """Loss of each pair; (p,)."""
        found = [self._loss(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]
        return np.array([float(ball.upper()) for ball in found], dtype=np.float64)

    def hockey_sticks(self, left: Indices, right: Indices, epsilon: float) -> FloatArray:
        """Hockey-stick divergence of each pair, rounded up; (p,). Raises InputError."""
        found = [
            self._stick(*pair, epsilon) for pair in zip(left.tolist(), right.tolist(), strict=True)
        ]
        return np.array([float(ball.upper()) for ball in found], dtype=np.float64)

    def screen_error(self, left: Indices, right: Indices) -> FloatArray:
        """Width of the ball of each loss, and rounding; (p,)."""
        found = [self._loss(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]
        widths = [2 * float(ball.rad()) if ball.is_finite() else 0.0 for ball in found]
        return np.array(widths, dtype=np.float64) + 1e-15

    def is_answered(self) -> bool:
        """False when every output is a raised exception."""
        return self.answered

    def _stick(self, left: int, right: int, epsilon: float) -> arb:
        key = (min(left, right), max(left, right), epsilon)
        if key not in self._sticks:
            with comparing():
                pair = self.laws[key[0]], self.laws[key[1]]
                self._sticks[key] = hockey_stick_of(*pair, arb(epsilon))
        return self._sticks[key]

    def _loss(self, left: int, right: int) -> arb:
        key = (left, right) if left <= right else (right, left)
        if key not in self._known:
            with comparing():
                self._known[key] = loss_of(self.laws[key[0]], self.laws[key[1]])
        return self._known[key]


class DensityPool:
    """Distinct laws of many tables, each of them once."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, int] = {}
        self._laws: list[ContinuousLaw] = []
        self._answered = False

    def __len__(self) -> int:
        return len(self._laws)

    def add(self, table: DensityTable, queries: int) -> Indices:
        """Add the laws of ``queries`` points; returns the pool's index for each, (queries,)."""
        self._answered |= table.answered
        ids = []
        for law in table.laws:
            if law.key not in self._ids:
                self._ids[law.key] = len(self._laws)
                self._laws.append(law)
            ids.append(self._ids[law.key])
        return np.array(ids, dtype=np.int64)[table.distinct(np.arange(queries))]

    def pairs_per_slice(self) -> int:
        """Pairs to compare at once: each takes a millisecond or more."""
        return 1024

    def laws(self) -> DensityTable:
        """All distinct laws as one table."""
        return DensityTable(tuple(self._laws), self._answered)


def density_table(table: LawTable) -> DensityTable:
    """The table of laws whose outputs are ``DensityLeaf`` objects, or plain ones."""
    laws = []
    missing = np.zeros(len(table.logs)) if table.unexplored is None else table.unexplored
    for logs, error, rest in zip(table.logs, table.errors, missing, strict=True):
        places = np.flatnonzero(logs > ZERO_LOG)
        outputs = tuple(table.outputs[place] for place in places)
        errors = np.full(len(places), error)
        law = OutputLaw(outputs, logs[places], errors, unexplored=Fraction(float(rest)))
        laws.append(ContinuousLaw(law))
    answered = not all(isinstance(output, Raised) for output in table.outputs)
    return DensityTable(tuple(laws), answered, table.rows)
